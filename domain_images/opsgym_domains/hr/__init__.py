"""HR service delivery."""
