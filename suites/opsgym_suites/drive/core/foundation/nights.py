"""Tasks of two days: what the first and the second day have in common."""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_api.tasks.days import Day
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.kit.drafts import on_day
from opsgym_suites.kit.world import at

NIGHT, MORNING = at("11-16 22:00"), at("11-17 09:00")
"""When things change over night, and when the second day begins."""
LATER = at("11-18 09:00")
"""When the second day begins if a day lies between."""


def two_days(first: Sequence[ToolCall], second: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls of the first and of the second day."""
    return (*on_day(1, *first), *on_day(2, *second))


def second_day(message: str, *, later: bool = False) -> tuple[Day, ...]:
    """The second day with the user's message."""
    return (Day(message=message, begins_at=(LATER if later else MORNING).isoformat()),)
