"""What tests of all folders share.

Invariant: a process has at most one plain server of a domain, whichever folders its tests are of: starting one takes
longer than most tests. Tests that serve with options, or end their server, start their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from hypothesis import settings
from tests.support.gym import Gym, gym_server

# How long an example takes says more of the machine than of the code.
settings.register_profile("opsgym", deadline=None)
settings.load_profile("opsgym")


@pytest.fixture(scope="session")
def gym_servers() -> Iterator[Callable[[str], Gym]]:
    """Servers by the name of their domain, started when they are asked for."""
    with ExitStack() as running:
        yield cache(lambda domain: running.enter_context(gym_server(domain)))
