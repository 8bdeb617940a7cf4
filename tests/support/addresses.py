"""Changes of a page's address: a test goes on once the page knows of them.

Invariant: browsers change the address first and send the page an event later. Until then it looks settled, with the
view of the address before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

_NOTICE = """() => { window.noticed = new Promise(done => addEventListener("hashchange", function notice(event) {
    if (event.newURL !== location.href) return; // it is of an earlier change
    removeEventListener("hashchange", notice);
    done();
})); }"""


@contextmanager
def address_noticed(page: Page) -> Iterator[None]:
    """Waits until the page knows of the address that the body goes to, if it is another one."""
    before = page.evaluate("location.href")
    page.evaluate(_NOTICE)
    yield
    if page.evaluate("location.href") != before:
        page.evaluate("window.noticed")
