"""Recordings of our own servers, for tests of the harness: what really was there is known.

Invariant: a recording holds what an agent would have seen and nothing else of the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.gym import Gym
from tools.conformance.recordings import Call, Recording, data_of

START = datetime(2026, 3, 1, 12, tzinfo=UTC).replace(tzinfo=None)
"""Later than every row of the test seeds."""
_BETWEEN_CALLS = timedelta(seconds=7)


def record(
    gym: Gym, name: str, seed: str, headers: Mapping[str, str], calls: Iterable[tuple[str, Mapping[str, Any]]]
) -> Recording:
    """Records the answers of calls that are made one after the other on a seed.

    Args:
        gym: A server.
        name: The recording's name.
        seed: Script in SQLite's dialect.
        headers: The acting user's.
        calls: Tools and arguments.
    """
    desk = gym.database(seed, **headers)
    recorded: list[Call] = []
    for number, (tool, arguments) in enumerate(calls, start=1):
        desk.set_clock((START + number * _BETWEEN_CALLS).isoformat())
        outcome = desk.call_with(tool, arguments)
        recorded.append(Call(tool, arguments, data_of(outcome.text), outcome.is_error))
    gym.drop(desk)
    return Recording(name, "selfmade", tuple(recorded), START)
