"""Series in access `strict`: one event holds the rule, its occurrences are rows of their own.

Invariant: an occurrence's id is the series' id and its planned start in UTC, so that a date keeps its id when the
series is expanded anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.event_times import stored
from opsgym_domains.calendar.recurrence import in_utc
from opsgym_domains.calendar.recurrence import occurrences as dates_of
from opsgym_domains.calendar.strict_times import begins, ends, is_all_day, zone_of
from opsgym_domains.calendar.tables import Event, RecurringEvent
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import columns_but

_OF_ONE_OCCURRENCE = (
    "event_id",
    "recurring_event_id",
    "recurrence",
    "start_datetime",
    "end_datetime",
    "originalStartTime_date",
    "originalStartTime_dateTime",
    "originalStartTime_timeZone",
    "created_at",
    "updated_at",
)


def holds_rule(event: Event) -> bool:
    """Whether an event is a series, not one of its occurrences."""
    return bool(event.recurrence) and event.recurring_event_id is None


def planned(lines: Sequence[str], start: datetime) -> list[datetime]:
    """Starts of a series' occurrences.

    Raises:
        ValueError: The lines are not one rule and dates.
    """
    try:
        return dates_of(in_utc(lines, start), start)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"Invalid recurrence: {error}") from None


async def occurrences_of(gym: Gym, event: Event) -> Sequence[Event]:
    """The occurrences of a series; none for any other event."""
    if not holds_rule(event):
        return ()
    return await gym.all(Event, Event.recurring_event_id == event.event_id)


async def cancel(gym: Gym, events: Sequence[Event]) -> int:
    """Deletes events as Google does: they stay, with status cancelled. Returns how many were not cancelled before."""
    deleted = [event for event in events if event.status != "cancelled"]
    for event in deleted:
        await gym.update(event, {"status": "cancelled", "sequence": (event.sequence or 0) + 1})
    return len(deleted)


async def expand(gym: Gym, series: Event, calendar_zone: str) -> None:
    """Adds the occurrences of a series, each with the rows that belong to the series, in place of those there are."""
    await parts.delete_with_parts(gym, await occurrences_of(gym, series))
    if not await gym.exists(RecurringEvent, recurring_event_id=series.event_id):
        await gym.insert(RecurringEvent(recurring_event_id=series.event_id, original_recurrence=series.recurrence))
    start = begins(series, calendar_zone)
    length = ends(series, calendar_zone) - start
    shared = {name: getattr(series, name) for name in columns_but(Event, *_OF_ONE_OCCURRENCE)}
    zone = zone_of(series.end_timezone, calendar_zone)
    occurrences = [
        Event(**shared, **_own(series, begin), end_datetime=stored((begin + length).astimezone(zone)))
        for begin in planned(json.loads(series.recurrence or "[]"), start)
    ]
    await gym.insert_all(occurrences)
    await parts.copy_parts(gym, series.event_id, [occurrence.event_id for occurrence in occurrences])


def _own(series: Event, begin: datetime) -> Mapping[str, Any]:
    all_day = is_all_day(series)
    stamp = f"{begin:%Y%m%d}" if all_day else f"{begin.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return {
        "event_id": f"{series.event_id}_{stamp}",
        "recurring_event_id": series.event_id,
        "start_datetime": stored(begin),
        "originalStartTime_date": begin.date() if all_day else None,
        "originalStartTime_dateTime": None if all_day else stored(begin),
        "originalStartTime_timeZone": series.start_timezone,
    }
