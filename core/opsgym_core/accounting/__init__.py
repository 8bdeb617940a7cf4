"""Spend and outcomes of a run's attempts."""
