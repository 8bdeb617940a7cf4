"""One browser and one page for a module's tests: what a page shows follows from its address, so tests share a tab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.report.pages import PROMPTS, detail_of, page_of
from tests.report.reader import Reader, reading, written
from tools.chromium import FLAGS, chromium

from opsgym_console.report.model import PageData


# Not for the whole session: while Playwright runs, its event loop is this thread's, and other tests need their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def run() -> PageData:
    """What the page is about: 3 models, 3 modes, 2 domains, 12 tasks."""
    return page_of(texts=PROMPTS)


@pytest.fixture(scope="module")
def address(run: PageData, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page, with everything in it, on disk."""
    details = {row: detail_of(run, row) for row in range(len(run.trials.cell))}
    return written(tmp_path_factory.mktemp("report"), run, details)


@pytest.fixture(scope="module")
def tab(browser: Browser, address: str) -> Iterator[Reader]:
    """A tab that stays open."""
    with reading(browser, address) as one:
        yield one


@pytest.fixture
def reader(tab: Reader) -> Iterator[Reader]:
    """The tab, at the top of the page."""
    tab.open()
    tab.page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    yield tab
    tab.leave()
