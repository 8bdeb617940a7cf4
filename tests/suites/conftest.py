"""A gym server for each domain that has suites, started when a test asks for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.gym import Gym

Gyms = Callable[[str], Gym]


@pytest.fixture(scope="session")
def gyms(gym_servers: Gyms) -> Gyms:
    """The gym server of a domain, by name."""
    return gym_servers


@pytest.fixture(scope="session")
def gym(gyms: Gyms) -> Gym:
    """The service desk's."""
    return gyms("itsm")
