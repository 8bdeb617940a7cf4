"""What the published server does with every call and every seed: identity, arguments, results, completion of seeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.calendar.seed import NOW, SEED, TOKEN
from tests.support.gym import Gym, GymDatabase

from opsgym_api.gym_http import COMPLETE_SEED

UNKNOWN_TOKEN = "Tool execution failed: User not found for given access token"
TEAM = {"calendarId": "c-team"}
HOOK = {"id": "w", "type": "web_hook", "address": "https://hooks.acme.test/x"}


@pytest.fixture
def ann(calendar: Gym) -> Iterator[GymDatabase]:
    database = calendar.database(SEED, **{"x-access-token": TOKEN})
    database.set_clock(NOW)
    yield database
    calendar.drop(database)


@pytest.mark.parametrize("headers", [{"x-other": "1"}, {"x-access-token": ""}, {"x-access-token": TOKEN}])
def test_a_call_without_a_token_acts_as_the_first_user(ann: GymDatabase, headers: dict[str, str]) -> None:
    assert ann.call_with("get_calendar", {"calendarId": "primary"}, **headers).data["id"] == "c-ann"


@pytest.mark.parametrize(
    ("tool", "headers", "text"),
    [
        ("get_calendar", {"x-access-token": "TOKEN-ANN"}, UNKNOWN_TOKEN),
        ("no_tool", {"x-access-token": "stolen"}, UNKNOWN_TOKEN),
        ("no_tool", {"x-access-token": TOKEN}, "Unknown tool: no_tool"),
        ("no_tool", {"x-database-id": ""}, "Tool execution failed: database_id is required"),
        ("get_calendar", {"x-access-token": TOKEN}, "The parameter 'calendarId' is required and cannot be empty."),
    ],
)  # fmt: skip
def test_database_and_identity_are_checked_before_tool_and_arguments(
    ann: GymDatabase, tool: str, headers: dict[str, str], text: str
) -> None:
    assert ann.call_with(tool, {}, **headers).text == text


@pytest.mark.parametrize(
    ("tool", "arguments", "problems"),
    [
        ("create_calendar", {}, ["summary: is required"]),
        ("create_calendar", {"summary": " "}, ["summary: summary must not be blank"]),
        ("create_calendar", {"summary": "x" * 256}, ["summary: String should have at most 255 characters"]),
        ("create_calendar", {"summary": "a\x00b"}, ["summary: the text contains a NUL character"]),
        ("create_calendar", {"summary": "a", "timeZone": "Mars/X"}, ["timeZone: Invalid timeZone; validation failed"]),
        ("watch_settings", {**HOOK, "address": "http://a.test"}, ["address: Invalid 'address': must be an https URL"]),
        ("watch_settings", {**HOOK, "params": {"x": "y"}}, ["params.x: Extra inputs are not permitted"]),
        ("watch_settings", {**HOOK, "params": {"ttl": "0"}}, ["params.ttl: params.ttl must be greater than 0"]),
        ("watch_acl", {**HOOK, **TEAM, "params": {"x": 1}}, ["params.x: Extra inputs are not permitted"]),
        ("watch_calendar_list", {**HOOK, "id": ""}, ["id: must have at least 1 character"]),
        ("patch_calendar", {**TEAM, "summary": None}, ["summary: Input should be a valid string"]),
        (
            "update_calendar", {**TEAM, "summary": " "},
            ["summary: summary must not be blank when provided"],
        ),
        (
            "insert_acl_rule", {**TEAM, "scope": {"type": "domain", "value": "-a.test"}},
            ["scope: scope.value must be a valid domain name for type 'domain'"],
        ),
        (
            "update_calendar_in_list", {**TEAM, "defaultReminders": [{"method": "email", "minutes": -1}]},
            ["defaultReminders[0].minutes: defaultReminders[].minutes must be >= 0"],
        ),
        ("get_calendar_list", {"maxResults": 0}, ["maxResults: Input should be greater than 0"]),
        ("query_freebusy", {}, ["timeMin: is required", "timeMax: is required", "items: is required"]),
    ],
)  # fmt: skip
def test_every_invalid_argument_has_a_line(
    ann: GymDatabase, tool: str, arguments: dict[str, Any], problems: list[str]
) -> None:
    expected = "\n".join(["Validation errors:", *(f"- {problem}" for problem in problems)])
    assert ann.call_with(tool, arguments).text == expected


@pytest.mark.parametrize("tool", ["watch_acl", "watch_calendar_list", "watch_events", "watch_settings"])
def test_type_address_and_life_of_a_channel_may_have_blanks_around_them(ann: GymDatabase, tool: str) -> None:
    loose = {"type": " WEB_HOOK ", "address": f" {HOOK['address']} ", "params": {"ttl": " 60 "}}
    calendar = {"calendarId": "c-team"} if tool in ("watch_acl", "watch_events") else {}
    assert ann.call_with(tool, {**HOOK, **loose, **calendar}).data["id"] == "w"
    assert ann.value("SELECT webhook_address FROM watch_channels") == HOOK["address"]


def test_a_channel_of_rules_needs_no_type(ann: GymDatabase) -> None:
    given = {name: value for name, value in HOOK.items() if name != "type"}
    assert ann.call("watch_acl", calendarId="c-team", **given).data["id"] == "w"
    assert "type: is required" in ann.call_with("watch_calendar_list", {**given, "id": "other"}).text


def test_blank_texts_of_a_list_entry_change_nothing_and_null_clears(ann: GymDatabase) -> None:
    def summary(**fields: Any) -> Any:
        return ann.call("update_calendar_in_list", calendarId="c-team", **fields).data["summaryOverride"]

    assert summary(summaryOverride="Mine") == "Mine"
    assert summary(summaryOverride=" ", backgroundColor="") == "Mine"
    assert summary(summaryOverride=None) is None


def test_incomplete_reminders_of_a_whole_list_entry_are_dropped(ann: GymDatabase) -> None:
    reminders = [{"minutes": 5}, {"method": "", "minutes": 5}, {"method": "popup", "minutes": 5}]
    settings = {"notifications": [{"method": "", "type": ""}, {"method": "email", "type": "agenda"}]}
    entry = ann.call(
        "replace_calendar_in_list", calendarId="c-team", defaultReminders=reminders, notificationSettings=settings
    ).data
    assert entry["defaultReminders"] == reminders[2:]
    assert entry["notificationSettings"] == {"notifications": settings["notifications"][1:]}


def test_a_calendar_without_kinds_of_conferences_has_none(ann: GymDatabase) -> None:
    changed = ann.call("update_calendar", calendarId="c-team", conferenceProperties={}).data
    assert changed["conferenceProperties"] is None
    assert ann.value("SELECT conference_properties FROM calendars WHERE calendar_id = 'c-team'") is None


def test_an_empty_time_zone_of_a_new_calendar_is_kept(ann: GymDatabase) -> None:
    assert ann.call("create_calendar", summary="New", timeZone="").data["timeZone"] == ""


def test_query_values_are_read_from_texts(ann: GymDatabase) -> None:
    page = ann.call("get_calendar_list", maxResults="1", showHidden="yes", unknown=1).data
    assert (len(page["items"]), page["nextPageToken"]) == (1, "MQ==")
    rest = ann.call("get_calendar_list", pageToken=page["nextPageToken"]).data["items"]
    assert [item["id"] for item in rest] == ["c-side", "c-spare", "c-team"]


def test_results_are_indented_and_escaped(ann: GymDatabase) -> None:
    text = ann.call("create_calendar", summary="Zürich").text
    assert text.startswith('{\n  "kind": "calendar#calendar",\n')
    assert r"Z\u00fcrich" in text
    assert (
        ann.call("delete_acl_rule", calendarId="c-team", ruleId="r-team-ben").text == "Operation completed successfully"
    )


def test_a_long_argument_is_not_repeated_in_full(ann: GymDatabase) -> None:
    assert len(ann.call("get_calendar", calendarId="x" * 100_000).text) < 10_000


def test_a_channel_id_that_no_index_holds_is_refused(ann: GymDatabase) -> None:
    outcome = ann.call_with("watch_settings", {**HOOK, "id": "x" * 3_000_000})
    assert "too long" in outcome.text


def test_ids_are_uuids_that_repeat_in_another_database(calendar: Gym, ann: GymDatabase) -> None:
    other = calendar.database(SEED, **{"x-access-token": TOKEN})
    ids = [database.call("create_calendar", summary="New").data["id"] for database in (ann, other)]
    assert ids[0] == ids[1]
    assert ann.call("create_calendar", summary="New").data["id"] != ids[0]
    calendar.drop(other)


def test_a_seed_gets_primary_calendars_and_rules_for_owners(calendar: Gym) -> None:
    stamps = "'2026-01-05 08:00:00', '2026-01-05 08:00:00'"
    seed = (
        "INSERT INTO users (user_id, email, name, static_token, timezone, is_active, is_verified) "
        "VALUES ('u', 'u@acme.test', 'U', 't', 'UTC', 1, 1);"
        "INSERT INTO calendars (calendar_id, user_id, summary, time_zone, is_primary, hidden, selected, deleted, "
        f"created_at, updated_at) VALUES ('late', 'u', 'L', 'UTC', 0, 0, 1, 0, '2026-02-01 00:00:00', NULL), "
        f"('early', 'u', 'E', 'UTC', 0, 0, 1, 0, {stamps});"
    )
    database = calendar.database(seed)
    assert database.rows("SELECT calendar_id FROM calendars WHERE is_primary") == [{"calendar_id": "early"}]
    rules = database.rows("SELECT id, role, scope_id FROM acls WHERE calendar_id = 'late'")
    assert [tuple(rule.values()) for rule in rules] == [
        ("acl-late-owner", "owner", "scope-u"), ("acl-late-writer", "writer", "scope-u"),
    ]  # fmt: skip
    calendar.drop(database)


def test_a_saved_state_is_completed_by_nothing(calendar: Gym) -> None:
    saved = calendar.database(COMPLETE_SEED + SEED.replace("'owner'", "'reader'"))
    assert saved.value("SELECT count(*) FROM acls WHERE role = 'owner'") == 0
    calendar.drop(saved)


def test_a_seed_with_two_primary_calendars_of_a_user_is_refused(calendar: Gym) -> None:
    seed = SEED.replace("('c-team', 'u-ann', 'Team', 'UTC', 0,", "('c-team', 'u-ann', 'Team', 'UTC', 1,")
    body = {"database_id": "two-primaries", "sql_content": seed}
    answer = calendar.client.post("/api/seed-database", json=body)
    assert (answer.status_code, "u-ann" in answer.text) == (500, True)


def test_a_deleted_calendar_takes_events_and_rules_along(ann: GymDatabase) -> None:
    assert ann.call("delete_calendar", calendarId="c-team").data == {"message": "Calendar deleted successfully"}
    for table in ("events", "acls", "calendars"):
        assert ann.value(f"SELECT count(*) FROM {table} WHERE calendar_id = 'c-team'") == 0
    assert ann.value("SELECT count(*) FROM attendees") == 0


@pytest.mark.parametrize("blank", ["", None])
def test_a_blank_sync_token_is_none(ann: GymDatabase, blank: str | None) -> None:
    whole = {"get_calendar_list": {}, "list_acl_rules": {"calendarId": "c-ann"}}
    for tool, arguments in whole.items():
        expected = ann.call_with(tool, arguments).data["items"]
        assert ann.call_with(tool, {**arguments, "syncToken": blank}).data["items"] == expected
