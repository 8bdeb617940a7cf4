"""A gym server for each domain that has suites, started when a test asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.gym import Gym

from opsgym_domains import registry

Gyms = Callable[[str], Gym]


@pytest.fixture(scope="session")
def gyms(gym_servers: Gyms) -> Gyms:
    """The gym server of a domain, by name."""
    return gym_servers


@pytest.fixture(scope="session")
def gym(gyms: Gyms) -> Gym:
    """The service desk's."""
    return gyms("itsm")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups, also where this file is loaded before xdist
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of a domain into one process: building its drafts takes as long as playing many of its tasks."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(f"suites of {_domain_of(item)}"), append=False)


def _domain_of(item: pytest.Item) -> str:
    """The domain that a test's parameters, its name or its file names first; ITSM if they name none."""
    names = re.compile(rf"(?<![a-z])({'|'.join([*registry.domains(), 'hybrid'])})(?![a-z])")
    texts = (item.name.partition("[")[2], item.name, item.path.stem)
    return next((match[0] for text in texts if (match := names.search(text.replace("_", " ")))), "itsm")
