"""Analyses of finished runs: failure modes, and exports to other formats."""
