"""Suites that ship with the domain, as JSON that `python -m opsgym_domains.itsm.suites` writes."""
