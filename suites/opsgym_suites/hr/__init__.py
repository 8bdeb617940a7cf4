"""The seeds of HR service delivery."""
