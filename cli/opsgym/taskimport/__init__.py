"""Imports published task rows and seeds into a suite folder and reports their faults."""
