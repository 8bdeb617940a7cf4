"""Numbers of variants."""

from __future__ import annotations

LAST_PUBLIC = 9999
"""Largest number of a variant that a spec can name; variants of held-out suites have larger ones."""
LAST = LAST_PUBLIC + 2**63
"""Largest number of a variant."""
