"""The week of a calendar, in a real browser on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, expect, sync_playwright
from tests.explore.test_page import CONTRAST
from tests.explore.visitor import Visitor, require_first_seed_shown, visiting
from tests.support.gym import Gym, gym_server
from tools.chromium import FLAGS, chromium


@pytest.fixture(scope="module")
def calendar_gym() -> Iterator[Gym]:
    """A calendar server that has the page."""
    with gym_server("calendar", "--explore") as running:
        yield running


@pytest.fixture(scope="module")
def tabs(calendar_gym: Gym) -> Iterator[Browser]:
    """A headless Chromium, which starts after the server and ends before it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def offices(tabs: Browser, calendar_gym: Gym) -> Iterator[Visitor]:
    """A visitor of the seed `offices`."""
    with visiting(tabs, calendar_gym, seed="offices") as one:
        yield one


def _key(visitor: Visitor, summary: str) -> str:
    return str(visitor.database.value(f"SELECT calendar_id FROM calendars WHERE summary = '{summary}'"))


def _days(main: Locator) -> dict[str, list[str]]:
    """Texts of the entries by day."""
    return {
        day.locator("h2").inner_text().split()[0]: [entry.inner_text() for entry in day.locator("li").all()]
        for day in main.locator(".day").all()
    }


def _change(visitor: Visitor, statement: str) -> None:
    body = {"database_id": visitor.database.id, "sql": [statement]}
    httpx.post(f"{visitor.gym.url}/api/apply-event", json=body).raise_for_status()


def test_a_week_shows_every_entry_of_a_calendar_on_its_day_by_start(offices: Visitor) -> None:
    days = _days(offices.visit("week", list=_key(offices, "Lisbon office"), **{"from": "2026-11-04"}))
    assert list(days) == ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    assert [entry.partition(" Europe")[0] for entry in days["Wednesday"]] == [
        "09:30–09:45 Delivery of paper",
        "14:00–16:00 First aid course",
    ]
    assert days["Sunday"] == []


def test_the_week_of_the_clock_is_shown_first_and_others_follow_by_links(offices: Visitor) -> None:
    offices.visit("week")
    expect(offices.page.locator("h1")).to_contain_text("week of 2026-10-19")
    offices.follow("Week after")
    expect(offices.page.locator("h1")).to_contain_text("week of 2026-10-26")
    offices.follow("Week of the clock")
    expect(offices.page.locator("h1")).to_contain_text("week of 2026-10-19")


def test_another_calendar_is_chosen_by_name_and_has_an_address(offices: Visitor) -> None:
    offices.visit("week", **{"from": "2026-10-26"})
    key = _key(offices, "Project Atlas")
    offices.page.get_by_label("Calendar").select_option(key)
    expect(offices.page.locator("h1")).to_contain_text("Project Atlas")
    assert f"list={key}" in offices.page.url
    assert "from=2026-10-26" in offices.page.url


def test_an_entry_leads_to_its_row_and_a_cancelled_one_is_struck_through(offices: Visitor) -> None:
    main = offices.visit("week", list=_key(offices, "Sydney office"), **{"from": "2026-10-30"})
    expect(main.locator("li.off")).to_contain_text("Surf club breakfast")
    offices.follow("Ergonomics visit")
    expect(offices.page.locator("h1")).to_contain_text("events")


def test_whole_days_and_events_over_midnight_stand_on_each_of_their_days(offices: Visitor) -> None:
    key = _key(offices, "Product")
    _change(
        offices,
        f"UPDATE events SET start_datetime = '2026-10-26 22:00:00.000000', end_datetime = '2026-10-28 00:00:00.000000' "
        f"WHERE calendar_id = '{key}' AND summary = 'Atlas launch rehearsal'",
    )
    days = _days(offices.visit("week", list=key, **{"from": "2026-10-26"}))
    shown = {name: [entry for entry in entries if "Atlas launch" in entry] for name, entries in days.items()}
    assert [entry.split(" Atlas")[0] for entry in shown["Monday"]] == ["22:00–24:00"]
    assert [entry.split(" Atlas")[0] for entry in shown["Tuesday"]] == ["whole day"]
    assert shown["Wednesday"] == []


def test_titles_with_markup_are_shown_as_text(offices: Visitor) -> None:
    key = _key(offices, "Product")
    _change(
        offices,
        f"UPDATE events SET summary = '<b>x</b>' WHERE calendar_id = '{key}' AND summary = 'Atlas launch rehearsal'",
    )
    main = offices.visit("week", list=key, **{"from": "2026-10-26"})
    expect(main.get_by_text("<b>x</b>", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_week_fits_a_phone_and_can_be_read_on_it(tabs: Browser, calendar_gym: Gym, scheme: str) -> None:
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with visiting(tabs, calendar_gym, seed="offices", **options) as visitor:
        visitor.visit("week", list=_key(visitor, "Lisbon office"), **{"from": "2026-11-04"})
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360
        assert visitor.page.evaluate(CONTRAST) >= 4.5


def test_a_wide_window_shows_tools_beside_their_list(offices: Visitor) -> None:
    offices.open_tool("list_events")
    expect(offices.page.locator(".split aside")).to_be_visible()
    expect(offices.page.locator(".back")).to_be_hidden()


def test_the_first_seed_of_the_domain_can_be_explored(calendar_gym: Gym) -> None:
    require_first_seed_shown(calendar_gym, "calendar")
