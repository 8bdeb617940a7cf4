"""Drive: files and folders, shared drives, and who may use them."""
