"""What tests of all folders share.

Invariant: a process has at most one plain server of a domain, whichever folders its tests are of: starting one takes
longer than most tests. Tests that serve with options, or end their server, start their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from tests.support.cpu_times import VARIABLE, CpuTimes
from tests.support.gym import Gym, gym_server

from opsgym_domains import registry

# How long an example takes says more of the machine than of the code.
settings.register_profile("opsgym", deadline=None)
settings.load_profile("opsgym")


def pytest_configure(config: pytest.Config) -> None:
    """Writes the CPU seconds of every test into the folder that OPSGYM_CPU_TIMES names."""
    if folder := os.environ.get(VARIABLE):
        config.pluginmanager.register(CpuTimes(Path(folder)))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups, also where this file is loaded before xdist
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves what takes very long to `make soak`, and puts the tests of a domain into one process.

    Starting a domain's server, and building the drafts of its tasks, take as long as many of the tests.
    """
    for item in items:
        if domain := _domain_of(item):
            item.add_marker(pytest.mark.xdist_group(f"suites of {domain}"), append=False)
    if "OPSGYM_SOAK" in os.environ:
        return
    left_out = [item for item in items if item.get_closest_marker("soak")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def _domain_of(item: pytest.Item) -> str | None:
    """The domain that a test is of, None if it is of none or of all: what its folder, its parameters, its name, its
    file or a fixture names first. Tests of suites that name none are ITSM's.
    """
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    if folder in registry.domains():
        return folder
    if folder not in ("suites", "domains", "conformance"):
        return None
    texts = [item.name.partition("[")[2], item.name, item.path.stem]
    if isinstance(item, pytest.Function) and folder == "conformance":
        texts += item.fixturenames
    names = re.compile(rf"(?<![a-z])({'|'.join([*registry.domains(), 'hybrid'])})(?![a-z])")
    named = (match[0] for text in texts if (match := names.search(text.replace("_", " "))))
    return next(named, "itsm" if folder == "suites" else None)


@pytest.fixture(scope="session")
def gym_servers() -> Iterator[Callable[[str], Gym]]:
    """Servers by the name of their domain, started when they are asked for."""
    with ExitStack() as running:
        yield cache(lambda domain: running.enter_context(gym_server(domain)))


@pytest.fixture(scope="session")
def desk_url(gym_servers: Callable[[str], Gym]) -> dict[str, str]:
    """Base URL of the service desk's server, by its domain: what `tests.cli.world.World` takes."""
    return {"itsm": gym_servers("itsm").url}
