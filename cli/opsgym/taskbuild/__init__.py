"""Builds task rows from task files: plays their solutions on gym servers and derives the verifiers."""
