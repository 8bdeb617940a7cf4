"""One server with the page and one browser for a module's tests; every test has a database and a tab of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.explore.visitor import Visitor, visiting
from tests.support.gym import Gym, gym_server
from tools.chromium import FLAGS, chromium


@pytest.fixture(scope="session")
def gym() -> Iterator[Gym]:
    """A server that has the page."""
    with gym_server("itsm", "--explore") as running:
        yield running


# Not for the whole session: while Playwright runs, its event loop is this thread's, and other tests need their own. So
# the server starts before it and ends after it.
@pytest.fixture(scope="module")
def browser(gym: Gym) -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def visitor(browser: Browser, gym: Gym) -> Iterator[Visitor]:
    """A visitor with a database of their own."""
    with visiting(browser, gym) as one:
        yield one


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups, also where this file is loaded before xdist
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests of a module in one process, which has one browser; two processes take turns with the modules."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(f"explore {item.path.stem}"))
