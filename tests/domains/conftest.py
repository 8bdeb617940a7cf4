"""A gym server for each domain; databases are made from it as tests need them.

Invariant: servers and databases are cached by the domain's name, not as fixtures with parameters: pytest would start a
server again for every combination of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter

import pytest
from tests.domains.declaration import DomainDeclaration, declared_domains
from tests.support.gym import Gym, GymDatabase

DatabaseOf = Callable[[str], GymDatabase]
"""Returns a database by the name of its domain."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test for every domain that declares what the test's marks `declares` name; a test may choose itself."""
    names = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "declared" not in metafunc.fixturenames or any("declared" in chosen for chosen in names):
        return
    needed = [attrgetter(name) for mark in metafunc.definition.iter_markers("declares") for name in mark.args]
    domains = [name for name, declared in declared_domains().items() if all(has(declared) for has in needed)]
    assert domains, f"no domain declares what {metafunc.definition.nodeid} needs"
    metafunc.parametrize("declared", domains, indirect=True)


@pytest.fixture
def declared(request: pytest.FixtureRequest) -> DomainDeclaration:
    """The declaration of the domain under test."""
    return declared_domains()[request.param]


@pytest.fixture
def gym(declared: DomainDeclaration, gym_servers: Callable[[str], Gym]) -> Gym:
    """The domain's server."""
    return gym_servers(declared.domain.name)


@pytest.fixture
def database(gym: Gym, declared: DomainDeclaration) -> Iterator[GymDatabase]:
    """A database that the test may change."""
    with declared.database(gym) as fresh:
        yield fresh


@pytest.fixture(scope="module")
def unchanged_databases(gym_servers: Callable[[str], Gym]) -> Iterator[DatabaseOf]:
    """Databases for calls that change nothing; the module fails if one changes its database."""
    made: dict[str, tuple[GymDatabase, str]] = {}

    def database_of(domain: str) -> GymDatabase:
        if domain not in made:
            declared, gym = declared_domains()[domain], gym_servers(domain)
            fresh = gym.database(declared.seed, **declared.headers)
            fresh.set_clock(declared.now)
            made[domain] = fresh, fresh.digest()
        return made[domain][0]

    yield database_of
    for domain, (used, before) in made.items():
        assert used.digest() == before, "a call that must be refused, or only reads, changed the database"
        gym_servers(domain).drop(used)


@pytest.fixture
def unchanged(unchanged_databases: DatabaseOf, declared: DomainDeclaration) -> GymDatabase:
    """The domain's database for calls that change nothing."""
    return unchanged_databases(declared.domain.name)
