"""The runner's source of time, in one place so that tests can replace it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from opsgym_core.common.clock import utc_now


@dataclass(frozen=True)
class Clock:
    """Functions that the runner reads time from and waits with."""

    now: Callable[[], datetime] = utc_now
    """Time of day in UTC, for records."""
    monotonic: Callable[[], float] = time.monotonic
    """Monotonic seconds; durations and deadlines are differences of these."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits a number of seconds."""
