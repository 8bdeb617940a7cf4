"""The clock of a task's world, and the days over which the task extends.

Invariant: days are counted from 1, begin one after the other, and every part of a task that names a day names one that
the task has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from opsgym_api.tasks.event import Event, require_time


class WorldClock(BaseModel):
    """How the world's clock shows and moves."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shown: bool = True
    """Whether the agent is shown the date and time whenever the clock has moved."""
    seconds_per_step: Annotated[float, Field(ge=0, le=86_400)] = 0
    """How far the clock moves with each model call of the agent."""


class Day(BaseModel):
    """A day after the first one: the user's message with which it begins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: Annotated[str, Field(min_length=1)]
    """What the user asks on this day."""
    begins_at: str
    """Time to which the clock moves when the agent has answered on the day before (ISO 8601, UTC unless it names a
    zone)."""

    @field_validator("begins_at")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        return require_time(value)


def instant(text: str) -> datetime:
    """An ISO 8601 time in UTC without zone, as tables and clocks have it."""
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def day_problems(days: Sequence[Day], answers: Sequence[str] | None, named: Mapping[str, int | None]) -> Iterator[str]:
    """What is wrong with a task's days, as `field: problem`.

    Args:
        days: The days after the first one.
        answers: The reference solution's answers by day.
        named: Day by the field that names it.
    """
    for index, (before, after) in enumerate(pairwise(days), start=1):
        if instant(after.begins_at) <= instant(before.begins_at):
            earlier = f"{before.begins_at}, when days[{index - 1}] begins"
            yield f"days[{index}].begins_at: {after.begins_at} is not after {earlier}"
    last = len(days) + 1
    if answers is not None and len(answers) != last:
        yield f"gold_answers: has {len(answers)} answers for {last} days; give one for each"
    for field, day in named.items():
        if day is not None and not 1 <= day <= last:
            yield f"{field}: day {day} does not exist; the task has {last}, counted from 1"


def event_problems(events: Sequence[Event]) -> Iterator[str]:
    """What is wrong between a task's events, as `field: problem`."""
    names = [event.name for event in events]
    for index, event in enumerate(events):
        if event.name is not None and event.name in names[:index]:
            yield f"events[{index}].name: another event is named {event.name!r}"
        if event.after_event is None:
            continue
        if event.after_event not in names:
            known = ", ".join(repr(name) for name in names if name) or "none"
            yield f"events[{index}].after_event: unknown event {event.after_event!r}; named events: {known}"
        elif _follows_itself(event, events):
            yield f"events[{index}].after_event: the event would follow itself, so it never happens"


def _follows_itself(event: Event, events: Sequence[Event]) -> bool:
    cause: dict[str, str | None] = {}
    for other in events:
        if other.name is not None:
            cause.setdefault(other.name, other.after_event)
    seen, name = {event.name}, event.after_event
    while name is not None and name not in seen:
        seen.add(name)
        name = cause.get(name)
    return name is not None
