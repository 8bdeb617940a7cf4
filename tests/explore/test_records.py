"""HR cases with their story, in a real browser on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.explore.test_page import CONTRAST
from tests.explore.visitor import Visitor, require_first_seed_shown, visiting
from tests.hr.seed import SEED
from tests.support.gym import Gym, gym_server
from tools.chromium import FLAGS, chromium


@pytest.fixture(scope="module")
def hr_gym() -> Iterator[Gym]:
    """An HR server that has the page."""
    with gym_server("hr", "--explore") as running:
        yield running


@pytest.fixture(scope="module")
def tabs(hr_gym: Gym) -> Iterator[Browser]:
    """A headless Chromium, which starts after the server and ends before it."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def office(tabs: Browser, hr_gym: Gym) -> Iterator[Visitor]:
    """A visitor of a small office."""
    with visiting(tabs, hr_gym, seed=None, sql=SEED) as one:
        yield one


def change(visitor: Visitor, *statements: str) -> None:
    body = {"database_id": visitor.database.id, "sql": list(statements)}
    httpx.post(f"{visitor.gym.url}/api/apply-event", json=body).raise_for_status()


def listed(visitor: Visitor) -> list[str]:
    """Numbers of the listed records."""
    links = visitor.page.locator("ul.records a").all_inner_texts()
    return [text.split()[0] for text in links]


def facts(visitor: Visitor) -> dict[str, str]:
    names = visitor.page.locator("dl dt").all_inner_texts()
    return dict(zip(names, visitor.page.locator("dl dd").all_inner_texts(), strict=True))


def story(visitor: Visitor) -> list[tuple[str, str, str]]:
    """Day, kind and title of every entry, in the order shown."""
    entries = visitor.page.evaluate(
        """() => [...document.querySelectorAll(".story h2")].flatMap((day) =>
            [...day.nextElementSibling.querySelectorAll("li")].map((entry) =>
                [day.innerText, entry.querySelector(".kind").innerText, entry.querySelector("a").innerText]))"""
    )
    return [tuple(entry) for entry in entries]


# --- the list --------------------------------------------------------------------------------------------------------


def test_open_cases_are_listed_newest_first_and_lead_to_their_story(office: Visitor) -> None:
    change(office, "UPDATE hr_case SET status = 'closed_complete' WHERE hr_case_id = 2")
    office.visit("tables")
    office.follow("Cases", within=office.page.locator("nav"))
    assert listed(office) == ["HRC0000708", "HRC0000705", "HRC0000701"]
    expect(office.page.locator("ul.records li").nth(2)).to_contain_text("high, for Dan Okoro, Bo Lund")
    office.follow("HRC0000701 Salary missed a bonus")
    expect(office.page.locator("h1")).to_contain_text("HRC0000701 Salary missed a bonus")


def test_closed_cases_are_shown_on_request_and_a_filter_has_an_address(office: Visitor) -> None:
    change(office, "UPDATE hr_case SET status = 'closed_complete' WHERE hr_case_id = 2")
    office.visit("records")
    office.page.get_by_label("closed ones too").check()
    expect(office.page.locator("ul.records li")).to_have_count(4)
    expect(office.page.locator("ul.records li.off")).to_contain_text("HRC0000702")
    office.page.get_by_label("Filter").fill("50%_W")
    office.page.get_by_label("Filter").press("Enter")
    expect(office.page.locator("ul.records li")).to_have_count(1)
    assert listed(office) == ["HRC0000702"]
    assert "filter=50%25_W" in office.page.url


def test_a_filter_without_a_match_says_so(office: Visitor) -> None:
    expect(office.visit("records", filter="o'x")).to_contain_text("None.")


def test_many_cases_are_paged(office: Visitor) -> None:
    columns = "hr_case_id, number, status, short_description, coe_type, created_at, org_id"
    change(office, f"INSERT INTO hr_case ({columns}) SELECT n, 'HRC' || n, 'ready', 'Case', 'HRIT', '2026-01-01', 1 "
           "FROM generate_series(1001, 1060) AS n")  # fmt: skip
    office.visit("records", filter="HRC10")
    expect(office.page.locator("ul.records li")).to_have_count(50)
    office.follow("Next")
    expect(office.page.locator("ul.records li")).to_have_count(10)
    expect(office.page.locator(".paging")).to_contain_text("60 match, page 2 of 2")
    office.follow("Previous")
    expect(office.page.locator("ul.records li")).to_have_count(50)


# --- a case ----------------------------------------------------------------------------------------------------------


def test_a_case_shows_who_it_concerns_its_approval_and_account(office: Visitor) -> None:
    office.visit("records", "1")
    assert facts(office) == {
        "For": "Dan Okoro, QA",
        "Service": "Change bank details",
        "Centre of excellence": "Payroll",
        "Priority": "high",
        "Group": "Payroll Desk",
        "Assignee": "Bo Lund",
        "Approval": "requested, by Cleo Marsh, Payroll approvers",
        "Skills required": "Payroll",
        "Bank account": "12345678, checking",
        "Work notes": "Asked payroll",
        "Last change": "2025-02-09 08:00:00",
    }


def test_a_confidential_case_says_for_whom_it_is(office: Visitor) -> None:
    change(office, "UPDATE hr_criteria SET active = TRUE WHERE hr_criteria_id = 2")
    office.visit("records", "5")
    assert facts(office)["Confidential"] == "only for those whom “Partners only” names"


def test_a_story_has_everything_that_belongs_to_a_case_in_order_of_time(office: Visitor) -> None:
    office.visit("records", "1")
    assert story(office) == [
        ("2025-02-09", "Opened", "by Bo Lund"),
        ("2025-02-13", "Article", "KB0040001 Change your bank"),
        ("2025-02-14", "Task", "HRT0001000 Check the payslip"),
        ("2025-02-14", "Article", "KB0040003 Old form"),
        ("2025-02-15", "Task", "TASK-20260302-0007 Read the guide"),
        ("2025-02-16", "Notification", "to dan@norfield.test"),
        ("2025-02-16", "Notification", "to bo@norfield.test"),
        ("2025-02-17", "Checklist", "Compare with contract"),
        ("2025-02-18", "Checklist", "Tell the employee"),
    ]
    office.visit("records", "5")
    assert [entry[1:] for entry in story(office)] == [
        ("Opened", "by Bo Lund"),
        ("Changed", "Last change of the case"),
        ("Article", "KB0040001 Change your bank"),
        ("Task", "HRT0001005 Ask how it went"),
        ("Notification", "to dan@norfield.test"),
        ("Checklist", "Send the survey"),
        ("Survey", "How was it?"),
    ]


def test_an_entry_leads_to_its_row(office: Visitor) -> None:
    office.visit("records", "1")
    main = office.follow("Tell the employee")
    expect(main.locator("h1")).to_contain_text("checklist")
    expect(main.locator("table.record")).to_contain_text("Tell the employee")


def test_a_call_by_an_agent_appears_in_the_story(office: Visitor) -> None:
    as_bo = {"x-hr-user-token": "token-bo"}
    office.database.call_with("update_hr_case_task", {"hr_case_task_id": "1", "worknotes": "Two days more"}, **as_bo)
    main = office.visit("records", "1")
    expect(main.locator(".story")).to_contain_text("HRT0001000: last change")
    expect(main.locator(".story")).to_contain_text("Two days more")


def test_texts_with_markup_are_shown_as_text(office: Visitor) -> None:
    change(office, "UPDATE hr_case SET short_description = '<b>x</b>', worknotes = '<i>y</i>' WHERE hr_case_id = 1")
    main = office.visit("records", "1")
    expect(main.locator("h1")).to_contain_text("<b>x</b>")
    expect(main.get_by_text("<i>y</i>", exact=True)).to_be_visible()


def test_a_case_that_does_not_exist_is_named(office: Visitor) -> None:
    expect(office.visit("records", "404")).to_contain_text("Cases: there is no 404")


# --- keyboards and phones --------------------------------------------------------------------------------------------


def test_a_case_is_found_and_opened_by_keyboard(office: Visitor) -> None:
    office.visit("records")
    for key in ("Tab", "Enter", "Tab"):  # past the links of the header
        office.page.keyboard.press(key)
    office.page.keyboard.type("laptop")
    office.page.keyboard.press("Enter")
    expect(office.page.locator("ul.records li")).to_have_count(1)
    for _ in range(3):
        office.page.keyboard.press("Tab")
    office.page.keyboard.press("Enter")
    expect(office.page.locator("h1")).to_contain_text("HRC0000705")
    expect(office.page.locator("h1")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_and_a_case_fit_a_phone_and_can_be_read_on_it(tabs: Browser, hr_gym: Gym, scheme: str) -> None:
    options: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
    with visiting(tabs, hr_gym, seed=None, sql=SEED, **options) as visitor:
        for path in (("records",), ("records", "1")):
            visitor.visit(*path)
            assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 360, path
            assert visitor.page.evaluate(CONTRAST) >= 4.5, path


def test_the_first_seed_of_the_domain_can_be_explored(hr_gym: Gym) -> None:
    require_first_seed_shown(hr_gym, "hr")
