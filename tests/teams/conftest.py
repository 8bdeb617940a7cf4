"""The Teams server, once for all of these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.support.gym import Gym, GymDatabase
from tests.teams.seed import NOW, SEED, TOKEN

from opsgym_domains.teams.identity import HEADER


@pytest.fixture(scope="session")
def teams(gym_servers: Callable[[str], Gym]) -> Gym:
    """A server of teams."""
    return gym_servers("teams")


@pytest.fixture
def ann(teams: Gym) -> Iterator[GymDatabase]:
    """A database in access `published` that Ann uses."""
    made = teams.database(SEED, **{HEADER: TOKEN})
    made.set_clock(NOW)
    yield made
    teams.drop(made)


@pytest.fixture
def strict(teams: Gym) -> Iterator[GymDatabase]:
    """A database in access `strict` that Ann uses."""
    made = teams.database(SEED, access="strict", **{HEADER: TOKEN})
    made.set_clock(NOW)
    yield made
    teams.drop(made)
