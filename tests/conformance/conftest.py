"""One server of each domain for all of these tests; every recording gets a database of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.gym import Gym


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def csm(gym_servers: Callable[[str], Gym]) -> Gym:
    """Customer service."""
    return gym_servers("csm")


@pytest.fixture(scope="session")
def calendar(gym_servers: Callable[[str], Gym]) -> Gym:
    """Calendars."""
    return gym_servers("calendar")


@pytest.fixture(scope="session")
def itsm(gym_servers: Callable[[str], Gym]) -> Gym:
    """IT service management."""
    return gym_servers("itsm")
