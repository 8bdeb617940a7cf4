"""Time as the runner sees it, in one place so that tests can own it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """Where the runner takes time from."""

    now: Callable[[], datetime] = _utc_now
    """Time of day, UTC; goes into records."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds that only grow; durations and deadlines are differences of these."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits this many seconds."""


def utc_text(moment: datetime) -> str:
    """A time as records have it: RFC 3339, UTC."""
    return moment.isoformat().replace("+00:00", "Z")
