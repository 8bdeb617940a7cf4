"""Replay of calls that were recorded on published servers, against the domains of this project.

Invariant: no module names a domain's tables, tools or values, so a new domain is compared without a change here.
"""
