"""Checks a stored run against itself, without asking any model: `opsgym verify`."""
