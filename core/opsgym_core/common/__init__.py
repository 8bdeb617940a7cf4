"""Logging, YAML, secrets and number formats."""
