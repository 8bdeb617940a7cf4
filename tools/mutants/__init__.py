"""Faults put into lines that judge, count and pay, which tests must notice."""
