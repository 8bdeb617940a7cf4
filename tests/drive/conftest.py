"""Databases of Drive for its tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.drive.seed import SEED, TOKEN
from tests.support.gym import Gym, GymDatabase

HEADER = "x-gdrive-user-token"


@contextmanager
def made(gym: Gym, access: str, given: str = "") -> Iterator[GymDatabase]:
    """A database that Ann uses; it is dropped afterwards."""
    database = gym.database(SEED + given, access=access, **{HEADER: TOKEN})
    yield database
    gym.drop(database)


def as_user(database: GymDatabase, name: str) -> GymDatabase:
    """The same database, used by another user."""
    return GymDatabase(database.client, database.id, {HEADER: f"token-{name}"})


@pytest.fixture
def drive(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """Ann's files in access published."""
    with made(gym_servers("drive"), "published") as database:
        yield database


@pytest.fixture
def strict(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """Ann's files in access strict."""
    with made(gym_servers("drive"), "strict") as database:
        yield database


@pytest.fixture(scope="module")
def unchanged(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """Ann's files in access published, for calls that change nothing."""
    with made(gym_servers("drive"), "published") as database:
        before = database.digest()
        yield database
        assert database.digest() == before, "a call that must be refused, or only reads, changed the database"
