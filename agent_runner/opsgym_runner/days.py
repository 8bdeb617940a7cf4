"""The request of a task of several days, as a conversation that begins on a later day states it.

Invariant: a request names each day after the first by its number, so the number of days can be read from its text,
also where a prompt repeats the request.
"""

from __future__ import annotations

import re

_DAY = re.compile(r"\n\nDay (\d+):\n")


def with_next_day(request: str, answer: str, day: int, message: str) -> str:
    """A request with the answer that ended its last day and the message that begins the next one.

    Args:
        request: The request so far.
        answer: The agent's answer.
        day: Number of the day that begins, counted from 1.
        message: The user's message.
    """
    return f"{request}\n\nYour answer:\n{answer}\n\nDay {day}:\n{message}"


def ended_days(request: str) -> int:
    """Number of days that have ended before the day on which a request is made."""
    return max((int(day) for day in _DAY.findall(request)), default=1) - 1
