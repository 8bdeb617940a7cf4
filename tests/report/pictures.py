"""`python -m tests.report.pictures`: takes the pictures of docs/images that show the page about a run.

A trial is one of the quickstart, which is run for it. The overview is of a made-up run: the quickstart has one domain
and one mode, so half of the figures are not there.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from tests.explore.visitor import FLAGS, ROOT, chromium
from tests.report.pages import page_of
from tests.report.reader import Reader, reading, written

from opsgym.main import invoke

IMAGES = ROOT / "docs" / "images"
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


def main() -> None:
    """Takes them all."""
    with tempfile.TemporaryDirectory() as folder:
        made_up = written(Path(folder), page_of(tasks=60, details="none", suite="core", budget_usd=100))
        run = _quickstart(Path(folder))  # first: while Playwright runs, its event loop is this thread's
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            _take_all(browser, made_up, run)
            browser.close()


def _take_all(browser: Browser, made_up: str, run: str) -> None:
    _take(browser, made_up, "report", DESK)
    _take(browser, made_up, "report-dark", DESK, section="domains", color_scheme="dark")
    _take(browser, made_up, "report-phone", PHONE, device_scale_factor=2)
    with reading(browser, run, viewport=DESK) as reader:
        _open_failed(reader)
        _shoot(reader, "report-trial")


def _quickstart(folder: Path) -> str:
    """Runs it and writes its report; the report's address."""
    store = ["--store", str(folder / "store")]
    out = folder / "quickstart"
    for command in (["run", str(ROOT / "examples" / "quickstart.yaml")], ["report", "quickstart", "--out", str(out)]):
        if invoke([*command, *store]) != 0:
            raise SystemExit(f"opsgym {command[0]} did not end well")
    return (out / "index.html").as_uri()


def _take(browser: Browser, address: str, name: str, size: Any, *, section: str = "", **options: Any) -> None:
    with reading(browser, address, viewport=size, **options) as reader:
        reader.see_everything()
        reader.visit(f"#/{section}", anew=not section)
        _shoot(reader, name)


def _open_failed(reader: Reader) -> None:
    """Opens a failed trial that did something to the database."""
    reader.page.locator(".cards").get_by_role("link", name="failed").click()
    reader.page.locator("#filters").get_by_label("Failure mode", exact=True).select_option("state_corruption")
    reader.page.locator("#rows td.task a").first.click()
    reader.trial()
    reader.page.locator(":focus").blur()


def _shoot(reader: Reader, name: str) -> None:
    reader.page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
