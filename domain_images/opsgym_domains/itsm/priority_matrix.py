"""Priority by impact and urgency, as rule INC-1 of `policy.md` defines it."""

from __future__ import annotations

_LEVELS = ("high", "medium", "low")
_PRIORITIES = ("critical", "high", "moderate", "low", "planning")


def priority_of(impact: str, urgency: str) -> str:
    """Priority for an impact and an urgency: each level below high, of either, lowers the priority by one step."""
    return _PRIORITIES[_LEVELS.index(impact) + _LEVELS.index(urgency)]
