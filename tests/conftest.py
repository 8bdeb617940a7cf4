"""What tests of all folders share.

Invariant: a process has at most one plain server of a domain, whichever folders its tests are of: starting one takes
longer than most tests. Tests that serve with options, or end their server, start their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from tests.support.cpu_times import VARIABLE, CpuTimes
from tests.support.gym import Gym, gym_server

# How long an example takes says more of the machine than of the code.
settings.register_profile("opsgym", deadline=None)
settings.load_profile("opsgym")


def pytest_configure(config: pytest.Config) -> None:
    """Writes the CPU seconds of every test into the folder that OPSGYM_CPU_TIMES names."""
    if folder := os.environ.get(VARIABLE):
        config.pluginmanager.register(CpuTimes(Path(folder)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves what takes very long to `make soak`."""
    if "OPSGYM_SOAK" in os.environ:
        return
    left_out = [item for item in items if item.get_closest_marker("soak")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(scope="session")
def gym_servers() -> Iterator[Callable[[str], Gym]]:
    """Servers by the name of their domain, started when they are asked for."""
    with ExitStack() as running:
        yield cache(lambda domain: running.enter_context(gym_server(domain)))


@pytest.fixture(scope="session")
def desk_url(gym_servers: Callable[[str], Gym]) -> dict[str, str]:
    """Base URL of the service desk's server, by its domain: what `tests.cli.world.World` takes."""
    return {"itsm": gym_servers("itsm").url}
