"""The clock of a database.

Invariant: tools, column defaults and snapshot queries of one database read the same clock. It stands at the time that
the seed states and runs with real time if the seed states none; once set, it stays at that time until it is set again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from opsgym_domains.kit.errors import SeedError

_NOW_LINE = re.compile(r"--\s*now:\s*(.*?)\s*(?:\n|$)")
"""First line of a seed script that states the time at which its world stands."""


def utc_now() -> datetime:
    """Real time in UTC without time zone, as every table stores it."""
    return datetime.now(UTC).replace(tzinfo=None)


def as_utc(time: datetime) -> datetime:
    """A time in UTC without time zone, as every table stores it; a time without zone is UTC already."""
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def seed_time(script: str) -> datetime | None:
    """The time that a seed script states in its first line, as `-- now: 2026-11-16T10:00:00`; None if it states none.

    Raises:
        SeedError: The line is there, but holds no time.
    """
    line = _NOW_LINE.match(script)
    if line is None:
        return None
    try:
        return as_utc(datetime.fromisoformat(line[1]))
    except (ValueError, OverflowError):
        problem = f"line 1: {line[1][:60]!r} is not a time; write it as `-- now: 2026-11-16T10:00:00`"
        raise SeedError(problem) from None


class Clock:
    """A clock that follows real time until it is set.

    Args:
        real: Source of real time, UTC without time zone.
        start: Time at which the clock stands from the start; None lets it follow real time.
    """

    def __init__(self, real: Callable[[], datetime] = utc_now, start: datetime | None = None) -> None:
        self._real = real
        self._set = start

    @property
    def is_set(self) -> bool:
        """Whether the clock is set to a fixed time."""
        return self._set is not None

    @property
    def fixed_time(self) -> datetime | None:
        """The fixed time, None while the clock follows real time."""
        return self._set

    def now(self) -> datetime:
        """Current time in UTC, in whole seconds like the times of published seeds."""
        return (self._set or self._real()).replace(microsecond=0)

    def set(self, time: datetime | None) -> None:
        """Sets the clock to a fixed time; None lets it follow real time."""
        self._set = None if time is None else as_utc(time)
