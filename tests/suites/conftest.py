"""A gym server for each domain that has suites, started when a test asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of a domain into one process: building its drafts takes as long as playing many of its tasks."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            domain = next(
                (name for name in ("csm", "calendar", "email", "hr-core", "teams", "drive") if name in item.name),
                "itsm",
            )
            item.add_marker(pytest.mark.xdist_group(f"suites of {domain}"), append=False)
