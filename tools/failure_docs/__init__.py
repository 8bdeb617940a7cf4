"""Measures failure analysis and writes the tables of docs/failures.md."""
