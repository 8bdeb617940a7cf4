"""A gym server for each domain that has suites, started when a test asks for it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.gym import Gym

Gyms = Callable[[str], Gym]
GROUPS = 4
"""Groups of tests of one domain: tests of a group run in one process and share its servers and drafts."""


@pytest.fixture(scope="session")
def gyms(gym_servers: Gyms) -> Gyms:
    """The gym server of a domain, by name."""
    return gym_servers


@pytest.fixture(scope="session")
def gym(gyms: Gyms) -> Gym:
    """The service desk's."""
    return gyms("itsm")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spreads the tests of a domain over a few processes, always the same test to the same group."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            domain = next((name for name in ("csm", "calendar") if name in item.name), "itsm")
            group = zlib.crc32(item.name.encode()) % GROUPS
            item.add_marker(pytest.mark.xdist_group(f"suites of {domain}-{group}"), append=False)
