"""Teams with their channels and chats, in a real browser on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect, sync_playwright
from tests.explore.test_page import CONTRAST
from tests.explore.visitor import Visitor, require_first_seed_shown, visiting
from tests.support.gym import Gym, gym_server
from tests.teams.seed import SEED, channel_message, chat, chat_message
from tools.chromium import FLAGS, chromium

_GENERAL = ("conversations", "channels", "c-general")
_MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def teams_gym() -> Iterator[Gym]:
    """A Teams server that has the page."""
    with gym_server("teams", "--explore") as running:
        yield running


@pytest.fixture(scope="module")
def tabs(teams_gym: Gym) -> Iterator[Browser]:
    """A headless Chromium, which starts after the server and ends before it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@contextmanager
def reading(tabs: Browser, gym: Gym, more: str = "", **options: Any) -> Iterator[Visitor]:
    """A visitor of the teams of Ann and others."""
    with visiting(tabs, gym, seed=None, sql=SEED + more, **options) as one:
        yield one


@pytest.fixture
def office(tabs: Browser, teams_gym: Gym) -> Iterator[Visitor]:
    with reading(tabs, teams_gym) as one:
        yield one


def places(visitor: Visitor) -> list[str]:
    """Names of the places that the list shows, in order, with their badges."""
    return [text for text in visitor.page.locator(".conversations aside a:visible").all_inner_texts() if text]


def posts(visitor: Visitor) -> list[str]:
    """Texts of the posts, in order, without replies."""
    return visitor.page.locator("section > article > pre").all_inner_texts()


def post(visitor: Visitor, text: str) -> Locator:
    """The post that has a text."""
    return visitor.page.locator("section > article", has=visitor.page.locator("> pre", has_text=text))


def facts(visitor: Visitor) -> dict[str, str]:
    """What is known of the place that is shown."""
    names, values = visitor.page.locator("dl dt"), visitor.page.locator("dl dd")
    return dict(zip(names.all_text_contents(), values.all_text_contents(), strict=True))


# --- places ----------------------------------------------------------------------------------------------------------


def test_teams_are_listed_with_their_channels_and_chats_below(office: Visitor) -> None:
    office.visit("tables")
    office.follow("Channels", within=office.page.locator("nav"))
    listed = places(office)
    assert listed[listed.index("Main") :][:6] == [
        "Main", "General", "Archivearchived", "Boardprivate", "Development", "Partnersshared",
    ]  # fmt: skip
    assert "Gonedeleted" in listed
    assert listed[-3:] == ["Ann Reed, Ben Reed", "Launch", "Without Ann"]
    expect(office.page.locator("aside h2")).to_have_text(["Teams", "Chats"])


def test_a_channel_is_opened_from_the_list_and_leads_to_its_team_and_row(office: Visitor) -> None:
    office.visit("conversations")
    office.follow("Board private")
    expect(office.page.locator("h1")).to_have_text("Boardprivate")
    expect(office.page.locator("aside [aria-current]")).to_have_text("Boardprivate")
    assert facts(office)["Members"] == "Ann Reed (owner)\nBen Reed (member)"
    office.follow("Main", within=office.page.locator("main > div > div"))
    expect(office.page.locator("h1")).to_contain_text("Main")
    assert facts(office)["Members"].startswith("Ann Reed (owner)\nBen Reed (member)\nDora Reed (guest)")
    assert facts(office)["Tags"] == "Leads: Ann Reed"
    assert facts(office)["Apps"] == "Notes"
    office.follow("Row")
    expect(office.page.locator("table.record")).to_contain_text("t-main")


def test_the_members_of_a_standard_channel_are_those_of_the_team(office: Visitor) -> None:
    office.visit(*_GENERAL)
    assert facts(office)["Members"] == "everybody in the team"
    assert facts(office)["Tabs"] == "Notes\nPlan"


def test_the_list_can_be_narrowed_to_what_a_person_is_in(office: Visitor) -> None:
    office.visit(*_GENERAL)
    box = office.page.get_by_label("Name or person")
    box.fill("eve reed")
    assert places(office) == ["Eve only", "General", "Main", "Partnersshared", "Launch", "Without Ann"]
    box.fill("launch")
    assert places(office) == ["Launch"]
    office.follow("Launch")
    expect(office.page.get_by_label("Name or person")).to_have_value("launch")


def test_a_place_that_is_not_there_is_named(office: Visitor) -> None:
    main = office.visit("conversations", "channels", "c-none")
    expect(main.get_by_role("alert")).to_have_text("channels has no row c-none.")


# --- messages --------------------------------------------------------------------------------------------------------


def test_posts_come_in_order_of_time_with_replies_and_reactions(office: Visitor) -> None:
    office.visit(*_GENERAL)
    assert posts(office) == ["Hello", "Lunch", "Oops"]
    reply = post(office, "Hello").locator("article")
    expect(reply).to_contain_text("Good morning")
    expect(reply.locator("h3")).to_have_text("Ben Reed 2026-02-10 09:02")
    expect(post(office, "Lunch").get_by_role("list", name="Reactions")).to_have_text("like: Ann Reed")
    expect(post(office, "Oops").locator("h2")).to_contain_text("deleted 2026-02-10 09:05")


def test_a_chat_shows_its_pins_first_and_a_message_leads_to_its_row(office: Visitor) -> None:
    office.database.call("pin_chat_message", chatId="ann_ben", messageId="1770714060000").data  # noqa: B018
    office.visit("conversations", "chats", "ann_ben")
    assert posts(office) == ["Hi Ben", "Hi Ann"]
    expect(office.page.get_by_role("region", name="Pinned")).to_contain_text("Hi Ann Ben Reed")
    expect(post(office, "Hi Ann").locator("h2")).to_contain_text("pinned")
    post(office, "Hi Ann").get_by_role("link", name="Row of the message").click()
    expect(office.page.locator("table.record")).to_contain_text("1770714060000")


def test_what_an_agent_sends_is_shown_under_the_name_of_the_sender(office: Visitor) -> None:
    body = {"contentType": "text", "content": "From the agent"}
    office.database.call("send_channel_message", teamId="t-main", channelId="c-dev", body=body).data  # noqa: B018
    office.visit("conversations", "channels", "c-dev")
    expect(post(office, "From the agent").locator("h2")).to_contain_text("Ann Reed")


def test_long_conversations_begin_with_the_newest_posts_and_have_pages(tabs: Browser, teams_gym: Gym) -> None:
    many = "".join(
        channel_message(
            f"many-{n:03}", "c-dev", "ann", f"Post {n}", 0, created_datetime=f"2026-02-11 10:00:{n % 60:02}"
        )
        for n in range(51)
    )
    with reading(tabs, teams_gym, many) as office:
        office.visit("conversations", "channels", "c-dev")
        assert (posts(office)[0], posts(office)[-1], len(posts(office))) == ("Post 1", "Post 50", 50)
        office.follow("Older")
        assert posts(office) == ["Post 0"]
        office.follow("Newer")
        assert len(posts(office)) == 50


def test_texts_with_markup_are_shown_as_text(tabs: Browser, teams_gym: Gym) -> None:
    more = chat(_MARKUP, "group", {"ann": "owner"}, _MARKUP) + chat_message("1", _MARKUP, "ann", _MARKUP, 1)
    with reading(tabs, teams_gym, more) as office:
        office.visit(*_GENERAL)
        office.follow(_MARKUP)
        assert posts(office) == [_MARKUP]
        expect(office.page.locator("h1")).to_contain_text(_MARKUP)


def test_rows_whose_text_is_not_json_are_shown_without_it(tabs: Browser, teams_gym: Gym) -> None:
    broken = """
        UPDATE teams SET members = '{';
        UPDATE channel_messages SET body_json = 'x', from_json = '[', reactions_json = '{';
    """
    with reading(tabs, teams_gym, broken) as office:
        office.visit(*_GENERAL)
        assert posts(office) == ["", "", ""]
        expect(office.page.locator("article h2").first).to_contain_text("(no sender)")


def test_a_database_without_channels_says_so(tabs: Browser, teams_gym: Gym) -> None:
    with visiting(tabs, teams_gym, seed=None) as office:
        expect(office.visit("conversations")).to_contain_text("There are no channels and no chats.")


# --- everybody -------------------------------------------------------------------------------------------------------


def test_a_channel_is_reached_by_the_keyboard_alone(office: Visitor) -> None:
    office.visit("conversations")
    office.page.get_by_label("Name or person").focus()
    office.page.keyboard.type("board")
    link = office.page.get_by_role("link", name="Board private", exact=True)
    for _ in range(20):
        office.page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    office.page.keyboard.press("Enter")
    expect(office.page.locator("h1")).to_contain_text("Board")
    assert posts(office) == ["Secret"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_channel_fits_a_phone_and_can_be_read_on_it(tabs: Browser, teams_gym: Gym, scheme: str) -> None:
    long = channel_message("long", "c-general", "ann", "x" * 200, 20)
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with reading(tabs, teams_gym, long, **options) as visitor:
        visitor.visit(*_GENERAL)
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360
        assert visitor.page.evaluate(CONTRAST) >= 4.5


def test_the_first_seed_of_the_domain_can_be_explored(teams_gym: Gym) -> None:
    require_first_seed_shown(teams_gym, "teams")
