"""Seeds and tasks of Teams."""
