"""A headless Chromium for a module's tests, and an empty store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from playwright.sync_api import Browser, sync_playwright
from tools.chromium import FLAGS, chromium

from opsgym_core.store.local import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """An empty store in a folder."""
    return LocalStore(tmp_path / "results")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Undoes how a command called in this process has set its logs up."""
    yield
    structlog.reset_defaults()
