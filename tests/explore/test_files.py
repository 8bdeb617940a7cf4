"""Files in a file browser, in a real browser on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.drive.conftest import as_user
from tests.drive.seed import SEED, insert, permission
from tests.explore.test_page import CONTRAST
from tests.explore.visitor import Visitor, require_first_seed_shown, visiting
from tests.support.gym import Gym, GymDatabase, gym_server
from tools.chromium import FLAGS, chromium

from opsgym_domains.drive.browser import BROWSER
from opsgym_domains.drive.reach import ROLES


@pytest.fixture(scope="module")
def drive_gym() -> Iterator[Gym]:
    """A Drive server that has the page."""
    with gym_server("drive", "--explore") as running:
        yield running


@pytest.fixture(scope="module")
def tabs(drive_gym: Gym) -> Iterator[Browser]:
    """A headless Chromium, which starts after the server and ends before it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@contextmanager
def browsing(tabs: Browser, gym: Gym, more: str = "", **options: Any) -> Iterator[Visitor]:
    """A visitor of the files of Ann and others."""
    with visiting(tabs, gym, seed=None, sql=SEED + more, **options) as one:
        yield one


@pytest.fixture
def office(tabs: Browser, drive_gym: Gym) -> Iterator[Visitor]:
    with browsing(tabs, drive_gym) as one:
        yield one


def listed(visitor: Visitor) -> list[str]:
    """Names of the listed files, in order."""
    return visitor.page.locator(".list a").all_inner_texts()


def tree(visitor: Visitor) -> list[str]:
    """Names in the tree of folders, in order."""
    return visitor.page.locator(".files aside a").all_inner_texts()


def reached(visitor: Visitor) -> list[tuple[str, ...]]:
    """Who, role and why, of those who reach what is shown."""
    rows = visitor.page.locator(".files table tbody tr").all()
    return [tuple(row.locator("th, td").all_inner_texts()[:3]) for row in rows]


# --- places and folders ----------------------------------------------------------------------------------------------


def test_shared_drives_come_first_and_then_the_files_of_users(office: Visitor) -> None:
    office.visit("tables")
    office.follow("Files", within=office.page.locator("nav"))
    drives = ["Club", "Empty shelf", "Lab results", "No shelf", "Sales"]
    assert [name for name in tree(office) if name in drives] == drives
    assert tree(office)[-3:] == ["Ann Berg", "Ben Berg", "Cleo Berg"]
    office.follow("Sales")
    assert listed(office) == ["Clients", "Sales Deck"]
    assert reached(office) == [
        ("Ann Berg ann@acme.test", "organizer", "direct"),
        ("Ben Berg ben@acme.test", "writer", "direct"),
    ]


def test_a_folder_opens_in_the_tree_and_lists_what_it_holds(office: Visitor) -> None:
    office.visit("files", place="u-ann")
    assert listed(office)[:3] == ["Partner exchange", "Plans", "Spare"]
    office.follow("Spare", within=office.page.locator("aside"))
    office.follow("Inner", within=office.page.locator(".list"))
    assert listed(office) == ["Deep.txt"]
    expect(office.page.locator("aside [aria-current]")).to_have_text("Inner")
    assert office.page.locator("aside ul ul ul a").all_inner_texts() == ["Inner"]
    expect(office.page.locator("main")).to_contain_text("Ann Berg › Spare › Inner")


def test_the_trash_of_a_place_is_beside_its_folders(office: Visitor) -> None:
    office.visit("files", place="u-ann")
    assert "Old notes.txt" not in listed(office)
    office.follow("Trash")
    assert listed(office) == ["Old notes.txt"]
    expect(office.page.locator(".list li")).to_contain_text("in the trash")


# --- one file --------------------------------------------------------------------------------------------------------


def test_a_file_shows_its_labels_what_is_known_of_it_and_its_content(office: Visitor) -> None:
    main = office.visit("files", "f-plan")
    expect(main.locator("h1")).to_contain_text("sensitivity: internal")
    names = office.page.locator("dl dt").all_inner_texts()
    facts = dict(zip(names, office.page.locator("dl dd").all_inner_texts(), strict=True))
    assert facts["Owner"] == "Ann Berg"
    assert (facts["Revisions"], facts["Comments"], facts["Requests for access"]) == ("2", "2", "2")
    assert facts["Content"].startswith("Alpha budget for the harbour")


def test_a_file_shows_who_reaches_it_and_why(office: Visitor) -> None:
    office.visit("files", "f-plan")
    assert reached(office) == [
        ("Ann Berg ann@acme.test", "owner", "direct"),
        ("Ben Berg ben@acme.test", "commenter", "direct"),
        ("Ann Berg ann@acme.test", "writer", "inherited from Plans"),
        ("Ben Berg ben@acme.test", "reader", "inherited from Plans"),
    ]
    office.follow("Plans", within=office.page.locator("table"))
    expect(office.page.locator("h1")).to_contain_text("Plans")
    office.visit("files", "f-client")
    assert reached(office)[0] == ("Ann Berg ann@acme.test", "organizer", "member of Sales")


def test_groups_links_strangers_and_accounts_that_are_gone_are_named(tabs: Browser, drive_gym: Gym) -> None:
    more = insert("permissions", permission("p-far", "reader", file_id="f-doc", email_address="far@off.test"))
    with browsing(tabs, drive_gym, more) as office:
        office.visit("files", "f-doc")
        assert reached(office)[1:] == [
            ("far@off.test no account here", "reader", "direct"),
            ("team team@acme.test: Ann Berg, Ben Berg", "writer", "direct"),
        ]
        office.visit("files", "f-open")
        assert reached(office)[1] == ("everyone", "reader", "direct")
        office.visit("files", "f-deep")
        assert ("everyone at acme.test", "reader", "inherited from Spare") in reached(office)
        office.visit("files", "f-left")
        assert reached(office)[0] == ("Cleo Bergaccount gone cleo@acme.test", "owner", "direct")


def test_a_permission_leads_to_its_row(office: Visitor) -> None:
    office.visit("files", "f-plan")
    office.page.locator(".files table tbody tr").nth(1).get_by_role("link", name="Row").click()
    expect(office.page.locator("table.record")).to_contain_text("p-plan-ben")


def test_the_roles_shown_are_those_that_access_strict_counts(drive_gym: Gym) -> None:
    database = drive_gym.database(SEED, access="strict", **{"x-gdrive-user-token": "token-ann"})
    users = database.rows("SELECT * FROM users WHERE auth_token IS NOT NULL")
    members = {(one["user_id"], one["group_id"]) for one in database.rows("SELECT * FROM group_memberships")}
    files = [one["id"] for one in database.rows("SELECT id FROM files")]
    lines, problems = access_of(database), []
    for user in users:
        shown: dict[str, str] = {}
        for line in lines:
            if applies(line, user, members):
                shown[line["file"]] = max(shown.get(line["file"], ROLES[0]), line["role"], key=ROLES.index)
        own = as_user(database, user["id"].removeprefix("u-"))
        problems += [
            (user["id"], key, shown.get(key), counted)
            for key in files
            if (counted := role_of(own, key)) != least(shown.get(key))
        ]
    drive_gym.drop(database)
    assert len(users) == 5
    assert problems == []


def access_of(database: GymDatabase) -> list[dict[str, Any]]:
    """Lines of who reaches what, with the user, group and domain of their rows."""
    body = {"query": BROWSER.access, "dialect": "postgres"}
    answer = database.client.post("/api/sql-runner", json=body, headers={"x-database-id": database.id})
    lines = answer.raise_for_status().json()["data"]
    rows = {
        (table, one["id"]): one
        for table in ("permissions", "drive_memberships")
        for one in database.rows(f"SELECT * FROM {table}")
    }
    return [line | {"row": rows[line["table"], line["key"]]} for line in lines if not line["gone"]]


def applies(line: dict[str, Any], user: dict[str, Any], members: set[tuple[str, str]]) -> bool:
    row = line["row"]
    return (
        row["user_id"] == user["id"]
        or (user["id"], row["group_id"]) in members
        or (row["type"] == "domain" and user["email"].endswith(f"@{row['domain']}"))
        or row["type"] == "anyone"
    )


def least(role: str | None) -> str | None:
    """The role as far as a tool tells: nothing, reading, commenting or editing."""
    return role if role is None else min(role, "writer", key=ROLES.index)


def role_of(user: GymDatabase, file_id: str) -> str | None:
    answer = user.call("get_files", fileId=file_id)
    if answer.is_error:
        return None
    can = answer.data["capabilities"]
    return "writer" if can["canEdit"] else "commenter" if can["canComment"] else "reader"


# --- the search ------------------------------------------------------------------------------------------------------


def test_a_search_finds_what_the_agents_tool_finds_for_a_user(office: Visitor) -> None:
    office.visit("files")
    box = office.page.get_by_label("Search files")
    box.fill("'me' in owners and mimeType contains 'text'")
    office.page.get_by_label("as", exact=True).select_option("Ben Berg")
    box.press("Enter")
    expect(office.page.locator("h1")).to_contain_text("Search for 'me' in owners")
    assert listed(office) == ["Ben's diary.txt"]
    expect(office.page.get_by_label("as", exact=True)).to_have_value("ben@acme.test")
    office.page.get_by_label("Search files").fill("name contains 'nothing like it'")
    office.page.get_by_role("button", name="Search").click()
    expect(office.page.locator("main")).to_contain_text("Nothing is here.")


def test_a_search_that_the_server_refuses_says_why(office: Visitor) -> None:
    main = office.visit("files", q="title = 'x'")
    expect(main.get_by_role("alert")).to_contain_text("is not a term")


# --- hostile rows, missing rows --------------------------------------------------------------------------------------


def test_texts_with_markup_are_shown_as_text(office: Visitor) -> None:
    body = {"database_id": office.database.id, "sql": ["UPDATE files SET name = '<b>x</b>' WHERE id = 'f-plans'"]}
    httpx.post(f"{office.gym.url}/api/apply-event", json=body).raise_for_status()
    main = office.visit("files", "f-plans")
    expect(main.locator("h1")).to_contain_text("<b>x</b>")
    office.visit("files", "f-plan")
    assert ("Ben Berg ben@acme.test", "reader", "inherited from <b>x</b>") in reached(office)


def test_a_file_that_does_not_exist_is_named(office: Visitor) -> None:
    expect(office.visit("files", "o'none")).to_contain_text("File o'none is not in the database.")


def test_an_empty_database_has_no_files(tabs: Browser, drive_gym: Gym) -> None:
    with visiting(tabs, drive_gym, seed=None, sql="-- now: 2026-11-16T10:00:00\n") as visitor:
        expect(visitor.visit("files")).to_contain_text("There are no files.")


# --- keyboards and phones --------------------------------------------------------------------------------------------


def test_a_file_is_reached_by_the_keyboard_alone(office: Visitor) -> None:
    office.visit("files", place="d-sales")
    for name in ("Clients", "Client list.csv"):
        link = office.page.locator(".list").get_by_role("link", name=name, exact=True)
        for _ in range(60):
            office.page.keyboard.press("Tab")
            if link.evaluate("one => one === document.activeElement"):
                break
        office.page.keyboard.press("Enter")
        expect(office.page.locator("h1")).to_contain_text(name)
        expect(office.page.locator("h1")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_folders_and_files_fit_a_phone_and_can_be_read_on_it(tabs: Browser, drive_gym: Gym, scheme: str) -> None:
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with browsing(tabs, drive_gym, **options) as visitor:
        for path in (("files",), ("files", "f-plan"), ("files", "f-spare")):
            visitor.visit(*path)
            assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360, path
            assert visitor.page.evaluate(CONTRAST) >= 4.5, path


def test_the_first_seed_of_the_domain_can_be_explored(drive_gym: Gym) -> None:
    require_first_seed_shown(drive_gym, "drive")
