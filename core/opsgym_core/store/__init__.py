"""Object stores: a local folder or S3, behind one interface."""
