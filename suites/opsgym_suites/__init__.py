"""Authoring of the built-in seeds and suites, which `opsgym_domains` ships as data.

Invariant: no image holds this package.
"""
