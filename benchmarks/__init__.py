"""Measurements behind docs/benchmarks.md.

Invariant: both sides of a ratio are measured in the same process run, in alternation.
"""
