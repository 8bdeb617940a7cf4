"""The fixtures that tests of one domain share: its server, and databases that are made from it as tests need them.

    gym, desk, untouched, scratch = desk_fixtures("csm", new_desk)  # in the folder's conftest.py

Invariant: a database that a test may change is its own, unless the test asks for `scratch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.gym import Gym, GymDatabase

Fixture = Any
"""What `pytest.fixture` makes, whose type is pytest's own."""


def desk_fixtures(domain: str, new_desk: Callable[[Gym], GymDatabase]) -> tuple[Fixture, Fixture, Fixture, Fixture]:
    """The fixtures `gym`, `desk`, `untouched` and `scratch`, to be assigned to these names.

    Args:
        domain: Which server.
        new_desk: Makes a database on it.
    """

    @pytest.fixture(scope="session")
    def gym(gym_servers: Callable[[str], Gym]) -> Gym:
        """The server."""
        return gym_servers(domain)

    @pytest.fixture
    def desk(gym: Gym) -> Iterator[GymDatabase]:
        """A desk to change."""
        yield from lent(gym)

    @pytest.fixture(scope="module")
    def untouched(gym: Gym) -> Iterator[GymDatabase]:
        """A desk for calls that change nothing; whoever changes it after all fails the module."""
        yield from lent(gym, unchanged=True)

    @pytest.fixture(scope="module")
    def scratch(gym: Gym) -> Iterator[GymDatabase]:
        """A desk that all tests of a module change, for checks that do not depend on what others did to it."""
        yield from lent(gym)

    def lent(gym: Gym, *, unchanged: bool = False) -> Iterator[GymDatabase]:
        made = new_desk(gym)
        before = made.digest() if unchanged else ""
        yield made
        if unchanged:
            assert made.digest() == before, "a call that should have been refused, or only read, changed the database"
        gym.drop(made)

    return gym, desk, untouched, scratch
