"""A user of the page about a run: a real browser tab.

Invariant: the page requests only files of its own folder or console, and its browser logs no error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Locator, Page
from tests.support.addresses import address_noticed

from opsgym_console.report.model import PageData, TrialDetail
from opsgym_console.report.shell import Embedded, page_html

PATIENCE_MS = 30_000


@dataclass
class Reader:
    """A tab on a page about a run."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, place: str = "#/", *, anew: bool = False) -> None:
        """Opens a view, after a reload if `anew`, and waits until it is shown."""
        if anew or not self.page.url.startswith(self.address + "#"):
            self.page.goto("about:blank")
            self.page.goto(self.address + place)
        else:
            with address_noticed(self.page):
                self.page.evaluate("place => { location.hash = place; }", place)
        self.settled()

    def settled(self) -> None:
        """Waits until the page shows what the address names."""
        self.page.locator("main[aria-busy=false]").wait_for()
        self.page.locator("#trial[aria-busy=true]").wait_for(state="detached")

    def tasks(self) -> list[str]:
        """Task ids of the rows shown."""
        return self.page.locator("#rows td.task a").all_inner_texts()

    def column(self, name: str) -> list[str]:
        """Texts of a column of the trials shown."""
        heads = self.page.locator("#rows thead th").all_inner_texts()
        return self.page.locator(f"#rows tbody td:nth-child({heads.index(name) + 1})").all_inner_texts()

    def counted(self) -> str:
        """What the page says of the number of rows."""
        return self.page.locator("#counted").inner_text()

    def trial(self) -> Locator:
        """The trial that is open, with everything about it."""
        self.page.locator("#trial[aria-busy=false]").wait_for()
        return self.page.locator("#trial")

    def see_everything(self) -> None:
        """Scrolls through the page, so that every chart is drawn."""
        for chart in self.page.locator(".chart:visible").all():
            chart.scroll_into_view_if_needed()
            chart.and_(self.page.locator("[data-drawn]")).wait_for()

    def unfold(self) -> None:
        """Opens whatever is folded."""
        self.page.locator("main details").evaluate_all("all => all.forEach(one => { one.open = true; })")

    def leave(self) -> None:
        """Fails if the browser logged an error, or other hosts were requested."""
        home = self.address.removesuffix("index.html").partition("/runs/")[0]  # of a console, its API too
        elsewhere = [
            url for url in self.requests if not url.startswith((home, "about:", "data:image/svg+xml,", "blob:"))
        ]
        assert (self.complaints, elsewhere) == ([], [])

    def faults(self, within: str = "body") -> list[str]:
        """Serious and critical problems, by axe-core."""
        violations = Axe().run(self.page, context=within).response["violations"]
        return [
            f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for one in violations
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"]
        ]


def place_of(page: PageData, row: int) -> str:
    """Address of a trial in its page."""
    trials = page.trials
    cell, task = page.cells[trials.cell[row]].cell.key, page.tasks[trials.task[row]].id
    return f"#/trial/{quote(cell, safe='')}/{quote(task, safe='')}/{trials.trial[row]}"


def written(folder: Path, page: PageData, details: Mapping[int, TrialDetail] | None = None) -> str:
    """Writes a page into a folder; its address."""
    file = folder / "index.html"
    file.write_bytes(page_html(Embedded(page, details or {})))
    return file.as_uri()


@contextmanager
def reading(browser: Browser, address: str, **options: Any) -> Iterator[Reader]:
    """A tab on a page; fails at the end if the browser logged an error or other hosts were requested."""
    context = browser.new_context(**{"permissions": ["clipboard-read", "clipboard-write"], **options})
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        reader = Reader(page, address)
        page.on("console", lambda message: reader.complaints.append(message.text))
        page.on("pageerror", lambda error: reader.complaints.append(str(error)))
        page.on("dialog", lambda dialog: reader.complaints.append(f"a script opened a dialog: {dialog.message}"))
        page.on("request", lambda request: reader.requests.append(request.url))
        reader.open()
        yield reader
        reader.leave()
    finally:
        context.close()
