"""Converts suites to the published interchange form."""
