"""A gym server for each domain; databases are made from it as tests need them.

Invariant: servers and databases are kept by name, not as fixtures with parameters: pytest would start a server again
for every combination of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.domains.worlds import EVERY_WORLD, World, worlds
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.kit.tools import Tool

Desks = Callable[[str], GymDatabase]
"""A database by the name of its domain."""


@pytest.fixture(params=EVERY_WORLD)
def world(request: pytest.FixtureRequest) -> World:
    """The domain that a test is about: every one, one after the other."""
    return worlds()[request.param]


@pytest.fixture
def gym(world: World, gym_servers: Callable[[str], Gym]) -> Gym:
    """The domain's server."""
    return gym_servers(world.domain.name)


@pytest.fixture
def desk(gym: Gym, world: World) -> Iterator[GymDatabase]:
    """A desk to change."""
    made = world.new_desk(gym)
    yield made
    gym.drop(made)


def _module_desks(gym_servers: Callable[[str], Gym], *, unchanged: bool) -> Iterator[Desks]:
    made: dict[str, tuple[GymDatabase, str]] = {}

    def desk(domain: str) -> GymDatabase:
        if domain not in made:
            new = worlds()[domain].new_desk(gym_servers(domain))
            made[domain] = new, new.digest()
        return made[domain][0]

    yield desk
    for domain, (used, before) in made.items():
        if unchanged:
            assert used.digest() == before, "a call that should have been refused, or only read, changed the database"
        gym_servers(domain).drop(used)


@pytest.fixture(scope="module")
def untouched_desks(gym_servers: Callable[[str], Gym]) -> Iterator[Desks]:
    """Desks for calls that change nothing; whoever changes one after all fails the module."""
    yield from _module_desks(gym_servers, unchanged=True)


@pytest.fixture(scope="module")
def scratch_desks(gym_servers: Callable[[str], Gym]) -> Iterator[Desks]:
    """Desks that all tests of a module change, for checks that do not depend on what others did to them."""
    yield from _module_desks(gym_servers, unchanged=False)


@pytest.fixture
def untouched(untouched_desks: Desks, world: World) -> GymDatabase:
    """The domain's desk for calls that change nothing."""
    return untouched_desks(world.domain.name)


@pytest.fixture
def scratch(scratch_desks: Desks, world: World) -> GymDatabase:
    """The domain's desk that all tests of a module change."""
    return scratch_desks(world.domain.name)


@pytest.fixture
def tool(request: pytest.FixtureRequest, world: World) -> Tool:
    """A tool of the domain, by its name."""
    return world.tools[request.param]
