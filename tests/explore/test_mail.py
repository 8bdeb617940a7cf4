"""A mailbox as an inbox, in a real browser on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.email.search_mailbox import SEARCH_SEED
from tests.email.seed import NOW
from tests.explore.test_page import CONTRAST
from tests.explore.visitor import Visitor, require_first_seed_shown, visiting
from tests.support.gym import Gym, gym_server
from tools.chromium import FLAGS, chromium


@pytest.fixture(scope="module")
def email_gym() -> Iterator[Gym]:
    """An email server that has the page."""
    with gym_server("email", "--explore") as running:
        yield running


@pytest.fixture(scope="module")
def tabs(email_gym: Gym) -> Iterator[Browser]:
    """A headless Chromium, which starts after the server and ends before it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@contextmanager
def reading(tabs: Browser, gym: Gym, **options: Any) -> Iterator[Visitor]:
    """A visitor of Ann's mailbox."""
    with visiting(tabs, gym, seed=None, sql=SEARCH_SEED, **options) as one:
        one.database.set_clock(NOW)
        yield one


@pytest.fixture
def mailbox(tabs: Browser, email_gym: Gym) -> Iterator[Visitor]:
    with reading(tabs, email_gym) as one:
        yield one


def subjects(visitor: Visitor) -> list[str]:
    """Subjects of the threads shown, in order."""
    return visitor.page.locator(".threads a").all_inner_texts()


def test_the_inbox_is_shown_first_with_the_newest_thread_on_top(mailbox: Visitor) -> None:
    main = mailbox.visit("mail")
    expect(main.locator("h1")).to_contain_text("INBOX")
    assert subjects(mailbox)[:3] == ["50% off today", "Dinner", "Weekly news"]
    assert len(subjects(mailbox)) == 10
    expect(main.locator(".threads li").first).to_contain_text("unread")
    expect(main.get_by_role("link", name="INBOX 3 of 10 unread")).to_have_attribute("aria-current", "true")


def test_a_label_shows_its_threads_also_those_in_spam(mailbox: Visitor) -> None:
    mailbox.visit("mail")
    mailbox.follow("Work/Plans 1 of 1 unread")
    assert subjects(mailbox) == ["Budget 2026"]
    mailbox.follow("SPAM 1")
    assert subjects(mailbox) == ["Offer"]


def test_the_search_box_finds_what_the_agents_tool_finds(mailbox: Visitor) -> None:
    mailbox.visit("mail")
    box = mailbox.page.get_by_label("Search mail")
    box.fill("from:ben -label:home")
    box.press("Enter")
    expect(mailbox.page.locator("h1")).to_contain_text("Search for from:ben -label:home")
    assert subjects(mailbox) == ["Budget 2026"]
    assert "q=from" in mailbox.page.url


def test_a_search_that_the_server_refuses_says_why(mailbox: Visitor) -> None:
    main = mailbox.visit("mail", q="x" * 2001)
    expect(main.get_by_role("alert")).to_contain_text("the maximum is 2000")


def test_a_thread_shows_its_messages_as_text_and_leads_back(mailbox: Visitor) -> None:
    mailbox.visit("mail", q="menu")
    mailbox.follow("Lunch")
    article = mailbox.page.get_by_role("article")
    expect(article).to_contain_text("Shall we have lunch at noon?")
    expect(article).to_contain_text("to ann@north.test, ben@north.test, dan@else.test")
    expect(article).to_contain_text("Files: menu.pdf")
    mailbox.follow("Back to the list")
    assert subjects(mailbox) == ["Lunch"]


def test_another_mailbox_is_chosen_by_its_owner(mailbox: Visitor) -> None:
    mailbox.visit("mail")
    mailbox.page.get_by_label("Mailbox").select_option("ben@north.test")
    expect(mailbox.page.locator("h1")).to_contain_text("ben@north.test")
    mailbox.follow("SENT 1")
    assert subjects(mailbox) == ["Budget 2026"]


def test_texts_with_markup_are_shown_as_text(mailbox: Visitor) -> None:
    raw = "VG86IGFubkBub3J0aC50ZXN0DQpTdWJqZWN0OiA8Yj54PC9iPg0KDQo8aW1nIHNyYz14IG9uZXJyb3I9YWxlcnQoMSk-"
    mailbox.database.call("insert_message", userId="ann@north.test", raw=raw, labelIds=["INBOX"]).data  # noqa: B018
    mailbox.visit("mail")
    mailbox.follow("<b>x</b>")
    expect(mailbox.page.get_by_role("article")).to_contain_text("<img src=x onerror=alert(1)>")


def test_a_thread_is_reached_by_the_keyboard_alone(mailbox: Visitor) -> None:
    mailbox.visit("mail")
    mailbox.page.get_by_label("Search mail").focus()
    mailbox.page.keyboard.type("subject:lunch")
    mailbox.page.keyboard.press("Enter")
    expect(mailbox.page.locator("h1")).to_contain_text("subject:lunch")
    link = mailbox.page.get_by_role("link", name="Lunch", exact=True)
    for _ in range(60):
        mailbox.page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    mailbox.page.keyboard.press("Enter")
    expect(mailbox.page.get_by_role("article")).to_contain_text("noon")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_inbox_fits_a_phone_and_can_be_read_on_it(tabs: Browser, email_gym: Gym, scheme: str) -> None:
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with reading(tabs, email_gym, **options) as visitor:
        visitor.visit("mail")
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360
        assert visitor.page.evaluate(CONTRAST) >= 4.5
        visitor.follow("Dinner")
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_first_seed_of_the_domain_can_be_explored(email_gym: Gym) -> None:
    require_first_seed_shown(email_gym, "email")
