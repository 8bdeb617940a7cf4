"""Time until the page of a large run is painted in a headless Chromium."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from playwright.async_api import Browser, async_playwright
from tools.chromium import FLAGS, chromium

from benchmarks.large_run import put_large_chunks
from opsgym.main import invoke
from opsgym_core.store.local import LocalStore

ROUNDS = 5
CELLS, TASKS = 50, 1000
RUN, EARLIER = "large.1", "earlier.1"
SEARCH = "_00004"
"""Search text that the ids of ten tasks of each cell contain."""

PAINTED = """() => new Promise((resolve) => {
  const check = () => {
    const mark = performance.getEntriesByName("opsgym-painted")[0];
    if (mark) resolve(mark.startTime);
    else setTimeout(check, 10);
  };
  check();
})"""
"""Script that returns the milliseconds from navigation until the whole page is painted."""
SEARCHED = """words => new Promise((resolve) => {
  const search = document.getElementById("search");
  const began = performance.now();
  search.value = words;
  search.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
})"""
"""Script that searches for a text and returns the milliseconds until the matching rows are painted."""


async def measure() -> list[str]:
    """Lines of the report."""
    with tempfile.TemporaryDirectory() as folder:
        page = await asyncio.to_thread(_write_page, Path(folder))
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            rounds = [await _open(browser, page) for _ in range(ROUNDS)]
            await browser.close()
        size = page.stat().st_size / 1e6
    painted, searched = (sorted(times) for times in zip(*rounds, strict=True))
    return [
        f"A page of {CELLS * TASKS:,} trials, compared with as many; {size:.1f} MB, opened from disk {ROUNDS} times:",
        "",
        "| until | median | slowest |",
        "| --- | --- | --- |",
        f"| headline, tables and trials are painted | {statistics.median(painted):.2f} s | {painted[-1]:.2f} s |",
        f"| a search through all trials is painted | {statistics.median(searched):.2f} s | {searched[-1]:.2f} s |",
    ]


def _write_page(folder: Path) -> Path:
    store = LocalStore(folder / "store")
    put_large_chunks(store, CELLS, TASKS, RUN)
    put_large_chunks(store, CELLS, TASKS, EARLIER)
    command = ["report", RUN, "--baseline", EARLIER, "--failure-modes", "none"]
    if invoke([*command, "--out", str(folder), "--store", store.name]) != 0:
        raise SystemExit("the report could not be written")
    return folder / "index.html"


async def _open(browser: Browser, page: Path) -> tuple[float, float]:
    """Seconds until the page, and then a search, are painted in a new browser context."""
    context = await browser.new_context()
    tab = await context.new_page()
    await tab.goto(page.as_uri())
    painted = await tab.evaluate(PAINTED)
    searched = await tab.evaluate(SEARCHED, SEARCH)
    await context.close()
    return painted / 1000, searched / 1000
