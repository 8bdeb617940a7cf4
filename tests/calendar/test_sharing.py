"""Who reaches which calendar: only the owner in access `published`, whom the rules name in access `strict`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.calendar.examples import EXAMPLES, between
from tests.calendar.seed import NOW, SEED, TOKEN
from tests.support.gym import Gym, GymDatabase

ANN, BEN = {"x-access-token": TOKEN}, {"x-access-token": "token-ben"}
BUSY = {"timeMin": "2026-03-09T00:00:00Z", "timeMax": "2026-03-10T00:00:00Z"}


@pytest.fixture(params=["published", "strict"])
def access(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def shared(calendar: Gym, access: str) -> Iterator[GymDatabase]:
    database = calendar.database(SEED, access=access, **BEN)
    database.set_clock(NOW)
    yield database
    calendar.drop(database)


def test_a_reader_reads_events_only_in_strict(shared: GymDatabase, access: str) -> None:
    outcome = shared.call("list_events", calendarId="c-team")
    assert outcome.is_error is (access == "published")
    if access == "strict":
        assert {event["id"] for event in outcome.data["items"]} >= {"e-1", "e-2"}


def test_a_reader_changes_nothing(shared: GymDatabase) -> None:
    before = shared.digest()
    for tool in ("create_event", "patch_event", "delete_event", "quick_add_event", "patch_calendar", "insert_acl_rule"):
        assert shared.call_with(tool, EXAMPLES[tool]).is_error, tool
    assert shared.digest() == before


def test_a_reader_with_the_role_writer_creates_events_in_strict(shared: GymDatabase, access: str) -> None:
    given = {"calendarId": "c-team", "ruleId": "r-team-ben", "role": "writer"}
    assert not shared.call_with("patch_acl_rule", given, **ANN).is_error
    created = shared.call("create_event", calendarId="c-team", summary="Lunch", **between("18", 12, 13))
    assert created.is_error is (access == "published")


def test_a_free_busy_reader_gets_busy_times_and_no_events(shared: GymDatabase, access: str) -> None:
    assert shared.call_with("list_events", {"calendarId": "c-ben"}, **ANN).is_error
    outcome = shared.call_with("query_freebusy", {**BUSY, "items": [{"id": "c-ben"}]}, **ANN)
    assert outcome.is_error is (access == "published")
    if access == "strict":
        (period,) = outcome.data["calendars"]["c-ben"]["busy"]
        assert period == {"start": "2026-03-09T14:00:00+00:00", "end": "2026-03-09T15:00:00+00:00"}


def test_busy_times_that_touch_or_overlap_are_one_period(shared: GymDatabase, access: str) -> None:
    for start, end in ((9, 10), (10, 11), (10, 12), (13, 14)):
        event = {"calendarId": "c-ann", "summary": "Work", **between("20", start, end)}
        assert not shared.call_with("create_event", event, **ANN).is_error
    zone = "Z" if access == "strict" else ""
    day = {"timeMin": f"2026-03-20T00:00:00{zone}", "timeMax": f"2026-03-21T00:00:00{zone}"}
    calendars = shared.call_with("query_freebusy", {**day, "items": [{"id": "c-ann"}]}, **ANN).data["calendars"]
    hours = [(period["start"][11:13], period["end"][11:13]) for period in calendars["c-ann"]["busy"]]
    assert hours == [("09", "12"), ("13", "14")]


def test_shared_calendars_are_listed_only_in_strict(shared: GymDatabase, access: str) -> None:
    items = shared.call("get_calendar_list").data["items"]
    roles = {item["id"]: item["accessRole"] for item in items}
    assert roles == {"c-ben": "owner"} | ({"c-team": "reader"} if access == "strict" else {})


def test_only_an_owner_sees_and_changes_rules(shared: GymDatabase) -> None:
    assert shared.call("list_acl_rules", calendarId="c-team").is_error
    assert not shared.call_with("list_acl_rules", {"calendarId": "c-team"}, **ANN).is_error


def test_the_scope_of_a_rule_is_shared_in_published_and_fixed_in_strict(shared: GymDatabase, access: str) -> None:
    given = {"calendarId": "c-team", "ruleId": "r-team-ben", "scope": {"type": "user", "value": "zoe@other.test"}}
    outcome = shared.call_with("patch_acl_rule", given, **ANN)
    assert outcome.is_error is (access == "strict")
    changed = shared.value("SELECT value FROM scopes WHERE id = 's-ben'") == "zoe@other.test"
    assert changed is (access == "published")


def test_only_strict_flags_refusals(shared: GymDatabase, access: str) -> None:
    message = {"name": "get_calendar", "arguments": {"calendarId": "none"}}
    answer = shared.client.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message},
        headers={"x-database-id": shared.id, **BEN},
    )
    result = answer.json()["result"]
    assert result["content"][0]["text"] == "Calendar with id 'none' does not exist"
    assert result["isError"] is (access == "strict")
