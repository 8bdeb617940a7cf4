"""A visitor of the explore page: a real browser tab, and the database that it shows.

Invariant: the page sends requests to its own server only, and logs no problem in its console, unless a test declares
that it expects a refused request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page
from tests.support.addresses import address_noticed
from tests.support.gym import Gym, GymDatabase

from opsgym_domains import registry

ROOT = Path(__file__).parents[2]
PATIENCE_MS = 30_000
REFUSED_REQUEST = "Failed to load resource"


@dataclass
class Visitor:
    """A tab on the page of one database."""

    page: Page
    gym: Gym
    database: GymDatabase
    expects_refusals: bool = False
    """Whether the server is going to refuse requests, which browsers log as errors."""
    complaints: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def visit(self, *path: str, **query: str) -> Locator:
        """Opens a place as a link from elsewhere would, and waits until it is shown; its main part."""
        self.page.goto("about:blank")
        search = f"?{urlencode(query)}" if query else ""
        self.page.goto(f"{self.gym.url}/explore/?database={self.database.id}#/{'/'.join(path)}{search}")
        return self.settled()

    def settled(self) -> Locator:
        """The main part, once it shows what the address names."""
        main = self.page.locator("main[aria-busy=false]")
        main.wait_for()
        return main

    def follow(self, name: str, *, within: Locator | None = None) -> Locator:
        """Follows the first link of exactly this name; the main part then."""
        before = self.page.url
        with address_noticed(self.page):
            (within or self.page.locator("main")).get_by_role("link", name=name, exact=True).first.click()
            self.page.wait_for_url(lambda url: url != before)
        return self.settled()

    def call(self) -> Locator:
        """Presses Call; the result."""
        self.page.get_by_role("button", name="Call", exact=True).click()
        result = self.page.get_by_role("region", name="Result")
        result.locator(".summary").wait_for()
        return result

    def open_tool(self, tool: str, arguments: str = "") -> Locator:
        """Opens a tool, with arguments from the link."""
        query = {"arguments": arguments} if arguments else {}
        return self.visit("tools", tool, **query)

    def copied(self) -> str:
        """What the clipboard holds."""
        return str(self.page.evaluate("navigator.clipboard.readText()"))

    def cells(self, column: str) -> list[str]:
        """Texts of a column of the rows shown."""
        heads = self.page.locator("table.rows thead th").all_inner_texts()
        return self.page.locator(f"table.rows tbody td:nth-child({heads.index(column) + 1})").all_inner_texts()

    def counted(self, rows: str) -> None:
        """Waits until the page says how many rows there are."""
        self.page.locator(".paging").get_by_text(rows, exact=True).wait_for()

    def on_console(self, message: ConsoleMessage) -> None:
        """Keeps an error or warning of the console."""
        refused = self.expects_refusals and message.text.startswith(REFUSED_REQUEST)
        if message.type in {"error", "warning"} and not refused:
            self.complaints.append(message.text)


@contextmanager
def visiting(
    browser: Browser,
    gym: Gym,
    *,
    access: str = "published",
    seed: str | None = "quickstart",
    sql: str | None = None,
    **options: Any,
) -> Iterator[Visitor]:
    """A visitor with a database of their own; fails at the end if the console complained or others were requested."""
    database = gym.database(sql, builtin=seed, access=access)
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
    try:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        visitor = Visitor(page, gym, database)
        page.on("console", visitor.on_console)
        page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        page.on("request", lambda request: visitor.requested.append(request.url))
        page.on("dialog", lambda dialog: visitor.complaints.append(f"a script opened a dialog: {dialog.message}"))
        yield visitor
        assert visitor.complaints == []
        assert [url for url in visitor.requested if not url.startswith((gym.url, "about:", "blob:"))] == []
    finally:
        context.close()
        gym.drop(database)


def require_shown(shown: Mapping[str, Any], domain: str) -> None:
    """Requires that what the server reports of a database of a domain has rows, actors and a policy."""
    assert shown["name"] == domain
    with_rows = [table["name"] for table in shown["tables"] if table["row_count"]]
    assert len(with_rows) > len(shown["tables"]) / 2, with_rows
    assert {"name", "note", "identity"} == set(shown["actors"][0])
    assert shown["policy"]


def require_first_seed_shown(gym: Gym, domain: str) -> None:
    """Requires it of the first of a domain's seeds."""
    database = gym.database(builtin=next(iter(registry.load(domain).seeds)))
    answer = gym.client.get("/explore/api/domain", headers={"x-database-id": database.id})
    gym.drop(database)
    require_shown(answer.raise_for_status().json(), domain)
