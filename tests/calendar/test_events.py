"""Event tools on a real server, in access `published`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.calendar.house import ANA, BO, HOUSE, NOON
from tests.support.gym import Gym, GymDatabase

TIMES = {
    "start": {"dateTime": "2026-04-07T09:00:00+02:00", "timeZone": "Europe/Berlin"},
    "end": {"dateTime": "2026-04-07T10:00:00+02:00", "timeZone": "Europe/Berlin"},
}
NEW = {"calendarId": "home", **TIMES}


@pytest.fixture
def house(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """A database that the test may change."""
    server = gym_servers("calendar")
    database = server.database(HOUSE, **ANA)
    database.set_clock(NOON)
    yield database
    server.drop(database)


def _created(house: GymDatabase, **arguments: Any) -> Any:
    return house.call("create_event", **{**NEW, **arguments}).data


def _count(house: GymDatabase, table: str) -> int:
    return int(house.value(f"SELECT count(*) AS n FROM {table}"))


# --- creating --------------------------------------------------------------------------------------------------------


def test_a_new_event_has_every_field(house: GymDatabase) -> None:
    event = _created(house, summary="Dentist")
    assert event["summary"] == "Dentist"
    assert event["start"] == {"dateTime": "2026-04-07T09:00:00", "date": None, "timeZone": "Europe/Berlin"}
    assert event["iCalUID"] == f"{event['id']}@calendar.google.com"
    assert event["created"] == NOON
    assert event["organizer"] == {"id": "ana", "email": "ana@house.test", "displayName": "Ana Berg", "self": True}
    assert (event["attendees"], event["conferenceData"], event["sequence"]) == ([], None, 0)
    assert house.call("get_event", calendarId="home", eventId=event["id"]).data == event


def test_a_guest_without_an_account_gets_one(house: GymDatabase) -> None:
    event = _created(house, attendees=[{"email": "cy@other.test"}, {"email": "bo@house.test", "optional": True}])
    assert [(guest["email"], guest["optional"]) for guest in event["attendees"]] == [
        ("cy@other.test", False),
        ("bo@house.test", True),
    ]
    assert house.rows("SELECT name, timezone FROM users WHERE email = 'cy@other.test'") == [
        {"name": "cy", "timezone": "UTC"}
    ]


def test_a_refused_event_leaves_nothing(house: GymDatabase) -> None:
    before = house.digest()
    for arguments, text in (
        ({"attendees": [{"email": "cy@other.test"}, {"email": "nobody"}]}, "Invalid email format: nobody"),
        ({"colorId": "77"}, "Invalid event colorId: '77'. Check available colors with GET /colors"),
        ({"end": TIMES["start"]}, "Event end time must be after start time"),
        ({"calendarId": "tea"}, "Calendar with id 'tea' does not exist for user ana"),
        ({"recurrence": ["RRULE:COUNT=1"]}, "Invalid recurrence pattern: FREQ parameter is required in RRULE"),
        (
            {"attachments": [{"fileUrl": "http://x.test/a"}], "supportsAttachments": True},
            "Invalid 'fileUrl': must be an https URL http://x.test/a",
        ),
    ):
        assert house.call("create_event", **{**NEW, **arguments}).text == text
    assert house.digest() == before


def test_every_violation_of_the_body_is_named(house: GymDatabase) -> None:
    outcome = house.call("create_event", calendarId="home", start={}, status="done", conferenceDataVersion=2)
    assert outcome.text.splitlines() == [
        "Validation errors:",
        "- conferenceDataVersion: Input should be less than or equal to 1",
        "- end: is required",
        "- start: Must specify either dateTime or date - dateTime for timed events, date for all-day events",
        "- status: Input should be 'confirmed', 'tentative' or 'cancelled'",
    ]


def test_a_series_is_a_row_of_its_own_and_one_for_each_occurrence(house: GymDatabase) -> None:
    event = _created(house, recurrence=["RRULE:FREQ=DAILY;COUNT=2"], reminders={"useDefault": False})
    series = house.call("get_event_instances", calendarId="home", eventId=event["recurringEventId"]).data
    assert [item["start"]["dateTime"] for item in series["items"]] == [
        "2026-04-07T09:00:00",
        "2026-04-07T09:00:00",
        "2026-04-08T09:00:00",
    ]
    assert {item["iCalUID"] for item in series["items"]} == {event["iCalUID"]}
    missed = house.call("get_event_instances", calendarId="home", eventId=event["id"])
    assert missed.text == f"Recurring Event not found: {event['id']}"


def test_the_default_reminder_replaces_overrides_unless_it_is_turned_off(house: GymDatabase) -> None:
    overrides = [{"method": "email", "minutes": 60}]
    assert _created(house, reminders={"overrides": overrides})["reminders"]["overrides"] == [
        {"method": "popup", "minutes": 10}
    ]
    given = _created(house, reminders={"useDefault": False, "overrides": overrides})["reminders"]
    assert given == {"useDefault": False, "overrides": overrides}


def test_a_conference_is_requested_once_by_an_id(house: GymDatabase) -> None:
    request = {"createRequest": {"requestId": "r1", "conferenceSolutionKey": {"type": "hangoutsMeet"}}}
    assert _created(house, conferenceData=request)["conferenceData"] is None, "the version is not given"
    states = [
        _created(house, conferenceData=request, conferenceDataVersion=1)["conferenceData"]["createRequest"]["status"]
        for _ in range(2)
    ]
    assert states == [{"statusCode": "success"}, {"statusCode": "failure"}]


def test_a_quick_event_fills_the_hour(house: GymDatabase) -> None:
    event = house.call("quick_add_event", calendarId="home", text="Tea at five").data
    assert (event["summary"], event["start"]["dateTime"]) == ("Tea at five", "2026-04-01T12:00:00")
    house.set_clock("2026-04-01T23:40:00")
    assert house.call("quick_add_event", calendarId="home", text="Late").data["end"]["date"] == "2026-04-02"


def test_an_import_needs_the_original(house: GymDatabase) -> None:
    known = {**NEW, "iCalUID": "rent@house.test", "summary": "Copy"}
    assert house.call("import_event", **known).data["iCalUID"] == "rent@house.test"
    refused = house.call("import_event", **{**known, "iCalUID": "new@house.test"})
    assert refused.text == "Event does not exist with this calendar_id and iCalUID"


# --- changing --------------------------------------------------------------------------------------------------------


def test_a_patch_changes_what_is_given(house: GymDatabase) -> None:
    changed = house.call("patch_event", calendarId="home", eventId="rent", summary="", location="Bank").data
    assert (changed["summary"], changed["location"], changed["sequence"]) == ("", "Bank", 1)
    assert changed["updated"] == NOON
    nothing = house.call("patch_event", calendarId="home", eventId="rent", summary=None)
    assert nothing.text == "No fields provided for update"


def test_a_patched_time_needs_its_zone(house: GymDatabase) -> None:
    time = {"dateTime": "2026-04-01T10:00:00"}
    refused = house.call("patch_event", calendarId="home", eventId="rent", end=time)
    assert refused.text == "Invalid DateTime format: 'timeZone'"
    accepted = house.call("patch_event", calendarId="home", eventId="rent", end={**time, "timeZone": "UTC"}).data
    assert accepted["end"] == {"dateTime": "2026-04-01T10:00:00", "date": None, "timeZone": "UTC"}


def test_lists_replace_what_is_stored(house: GymDatabase) -> None:
    where = {"calendarId": "home", "eventId": "rent"}
    house.call("patch_event", **where, attendees=[{"email": "bo@house.test"}, {"email": "ana@house.test"}])
    changed = house.call("patch_event", **where, attendees=[{"email": "bo@house.test", "comment": "late"}]).data
    assert [(guest["email"], guest["comment"]) for guest in changed["attendees"]] == [("bo@house.test", "late")]
    assert house.call("patch_event", **where, attendees=[]).data["attendees"] == []
    assert _count(house, "attendees") == 0


def test_an_update_revives_and_keeps_the_rest(house: GymDatabase) -> None:
    event = house.call("update_event", calendarId="home", eventId="dusk", **TIMES).data
    assert (event["status"], event["summary"], event["iCalUID"]) == ("confirmed", "Walk", "dusk@house.test")


def test_the_type_of_an_event_is_fixed(house: GymDatabase) -> None:
    outcome = house.call("patch_event", calendarId="home", eventId="rent", eventType="focusTime")
    assert outcome.text == "EventType once set can not be modified. Expecting value: default. Got focusTime"


def test_an_empty_recurrence_is_refused_without_a_trace(house: GymDatabase) -> None:
    before = house.digest()
    outcome = house.call("patch_event", calendarId="home", eventId="rent", recurrence=[], summary="No more")
    assert "recurrence must not be empty" in outcome.text
    assert house.digest() == before


def test_a_move_needs_an_own_calendar(house: GymDatabase) -> None:
    where = {"calendarId": "home", "eventId": "rent"}
    assert (
        house.call("move_event", **where, destination="tea").text == "Destination calendar tea not found for user ana"
    )
    house.call("move_event", **where, destination="club")
    assert house.value("SELECT calendar_id FROM events WHERE event_id = 'rent'") == "club"


def test_a_deleted_event_takes_its_rows_with_it(house: GymDatabase) -> None:
    event = _created(
        house,
        attendees=[{"email": "bo@house.test"}],
        reminders={},
        extendedProperties={"private": {"a": "1"}},
        attachments=[{"fileUrl": "https://files.test/a.pdf"}],
        supportsAttachments=True,
    )
    where = {"calendarId": "home", "eventId": event["id"]}
    assert house.call("delete_event", **where).text == "Operation completed successfully"
    assert [_count(house, name) for name in ("attendees", "reminders", "extended_properties", "attachments")] == [0] * 4
    assert house.call("delete_event", **where).text == f"Event not found: {event['id']}"


# --- reading ---------------------------------------------------------------------------------------------------------


def test_cancelled_events_are_listed_alone(house: GymDatabase) -> None:
    def names(**filters: Any) -> list[str]:
        return [item["id"] for item in house.call("list_events", calendarId="home", **filters).data["items"]]

    assert names() == ["rent"]
    assert names(showDeleted=True) == ["dusk"]
    assert names(q="RENT", timeMin="2026-04-01T00:00:00Z", timeMax="2026-04-02T00:00:00Z") == ["rent"]


def test_a_list_names_its_calendar(house: GymDatabase) -> None:
    page = house.call("list_events", calendarId="home").data
    assert (page["kind"], page["summary"], page["timeZone"]) == ("calendar#events", "Home", "Europe/Berlin")
    assert (page["accessRole"], page["updated"]) == ("owner", f"{NOON}+00:00")


def test_sharing_gives_no_access(house: GymDatabase) -> None:
    outcome = house.call_with("list_events", {"calendarId": "home"}, **BO)
    assert outcome.text == "Calendar with id 'home' does not exist for user bo"


def test_a_zone_selects_the_calendar(house: GymDatabase) -> None:
    outcome = house.call("list_events", calendarId="home", timeZone="UTC")
    assert outcome.text == "Calendar home not found with timezone UTC"


# --- channels --------------------------------------------------------------------------------------------------------


def test_a_channel_lives_for_a_day(house: GymDatabase) -> None:
    given = {"calendarId": "home", "id": "c1", "type": "webhook", "address": "https://hooks.test/x"}
    channel = house.call("watch_events", **given, eventTypes="default").data
    assert channel["resourceUri"] == "/calendars/home/events?eventTypes=default"
    assert channel["expiration"].startswith("2026-04-02T12:30:00")
    assert house.call("watch_events", **given).text == "Channel with Id c1 already exists"
    plain = house.call("watch_events", **{**given, "id": "c2", "address": "http://hooks.test/x"})
    assert plain.text == "Validation errors:\n- address: Invalid 'address': must be an https URL"
