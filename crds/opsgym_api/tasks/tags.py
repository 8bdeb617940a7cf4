"""Tags of tasks that the built-in suites and their authoring give a meaning."""

HOSTILE = "hostile"
"""A text that the agent reads tries to give it orders, or claims to be from someone else."""
