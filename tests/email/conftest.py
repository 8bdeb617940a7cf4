"""The email server, once for all of these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.email.seed import HEADERS, NOW, SEED
from tests.support.gym import Gym, GymDatabase


@pytest.fixture(scope="session")
def email(gym_servers: Callable[[str], Gym]) -> Gym:
    """A server of mailboxes."""
    return gym_servers("email")


@pytest.fixture
def mail(email: Gym) -> Iterator[GymDatabase]:
    """The seed in access `published`, acting as Ann."""
    database = email.database(SEED, **HEADERS)
    database.set_clock(NOW)
    yield database
    email.drop(database)


@pytest.fixture
def office(email: Gym) -> Iterator[GymDatabase]:
    """The seed in access `strict`, acting as Ann."""
    database = email.database(SEED, access="strict", **HEADERS)
    database.set_clock(NOW)
    yield database
    email.drop(database)
