"""Days and times of the clinics' tasks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.calendar import calls
from opsgym_suites.kit.drafts import on_day

NIGHT, SECOND_DAY = "2027-03-23T20:00:00", "2027-03-24T11:00:00"
"""When what changes over night changes, and when the second day begins."""


def on(text: str) -> datetime:
    """A time in 2027, for instance `03-30 09:00`, or the beginning of a day."""
    return calls.on(text, 2027)


def second_day(message: str, begins_at: str = SECOND_DAY) -> tuple[Day, ...]:
    """The second day of a task."""
    return (Day(message=message, begins_at=begins_at),)


def amended(rule: str, text: str) -> Event:
    """A rule of the policy that is new or reads differently from the second day on."""
    return Event(at=NIGHT, amend=Amendment(rule=rule, text=text))


def two_days(first: Sequence[ToolCall], second: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Calls of two days."""
    return (*on_day(1, *first), *on_day(2, *second))
