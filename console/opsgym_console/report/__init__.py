"""The HTML page about a run."""
