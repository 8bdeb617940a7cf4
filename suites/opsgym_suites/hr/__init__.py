"""The seeds and tasks of HR service delivery."""
