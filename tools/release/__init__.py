"""Builds what a release consists of, from a clean tag."""
