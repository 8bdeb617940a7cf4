"""Checks task rows against installed domains, and proves on gym servers that verifiers tell right from wrong."""
