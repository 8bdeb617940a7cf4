"""The fixtures that tests of one domain share: its server, and databases that are made from it as tests need them.

    gym, database, unchanged, scratch = database_fixtures("csm")  # in the folder's conftest.py

Invariant: a database that a test may change belongs to that test alone, unless the test asks for `scratch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.domains.declaration import declared_domains
from tests.support.gym import Gym, GymDatabase

Fixture = Any
"""The type of what `pytest.fixture` returns, which is private to pytest."""


def database_fixtures(domain: str) -> tuple[Fixture, Fixture, Fixture, Fixture]:
    """The fixtures `gym`, `database`, `unchanged` and `scratch`, to be assigned to these names.

    Args:
        domain: Name of the domain.
    """

    @pytest.fixture(scope="session")
    def gym(gym_servers: Callable[[str], Gym]) -> Gym:
        """The domain's server."""
        return gym_servers(domain)

    @pytest.fixture
    def database(gym: Gym) -> Iterator[GymDatabase]:
        """A database that the test may change."""
        with declared_domains()[domain].database(gym) as fresh:
            yield fresh

    @pytest.fixture(scope="module")
    def unchanged(gym: Gym) -> Iterator[GymDatabase]:
        """A database for calls that change nothing; the module fails if one changes it."""
        with declared_domains()[domain].database(gym) as shared:
            before = shared.digest()
            yield shared
            assert shared.digest() == before, "a call that must be refused, or only reads, changed the database"

    @pytest.fixture(scope="module")
    def scratch(gym: Gym) -> Iterator[GymDatabase]:
        """A database that all tests of a module change, for checks that do not depend on earlier changes."""
        with declared_domains()[domain].database(gym) as shared:
            yield shared

    return gym, database, unchanged, scratch
