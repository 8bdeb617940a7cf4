"""The calendar server, once for all of these tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.gym import Gym


@pytest.fixture(scope="session")
def calendar(gym_servers: Callable[[str], Gym]) -> Gym:
    """A server of calendars."""
    return gym_servers("calendar")
