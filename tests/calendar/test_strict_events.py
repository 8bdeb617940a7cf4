"""Event tools on a real server, in access `strict`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.calendar.house import ANA, BO, HOUSE
from tests.support.gym import Gym, GymDatabase, Outcome

NEW = {
    "calendarId": "home",
    "summary": "Dentist",
    "start": {"dateTime": "2026-04-07T09:00:00Z"},
    "end": {"dateTime": "2026-04-07T10:00:00Z"},
}


@pytest.fixture
def house(gym_servers: Callable[[str], Gym]) -> Iterator[GymDatabase]:
    """A database that the test may change."""
    server = gym_servers("calendar")
    database = server.database(HOUSE, access="strict", **ANA)
    database.set_clock("2026-03-31T12:00:00")
    yield database
    server.drop(database)


def _items(house: GymDatabase, **filters: Any) -> list[Any]:
    items: list[Any] = house.call("list_events", **{"calendarId": "home", **filters}).data["items"]
    return items


def _ids(house: GymDatabase, **filters: Any) -> list[str]:
    return [item["id"] for item in _items(house, **filters)]


def _as_bo(house: GymDatabase, tool: str, **arguments: Any) -> Outcome:
    return house.call_with(tool, arguments, **BO)


def _series(house: GymDatabase, count: int = 3) -> str:
    event = house.call("create_event", **NEW, recurrence=[f"RRULE:FREQ=DAILY;COUNT={count}"]).data
    assert event["recurringEventId"] is None
    return str(event["id"])


# --- times -----------------------------------------------------------------------------------------------------------


def test_offsets_count(house: GymDatabase) -> None:
    event = house.call("create_event", **NEW).data
    assert event["start"] == {
        "dateTime": "2026-04-07T11:00:00+02:00",
        "date": None,
        "timeZone": "Europe/Berlin",
    }
    where = {"calendarId": "home", "eventId": event["id"]}
    assert house.call("get_event", **where, timeZone="UTC").data["start"]["dateTime"] == "2026-04-07T09:00:00+00:00"
    assert _ids(house, timeMin="2026-04-07T09:59:00Z", timeMax="2026-04-08T00:00:00Z") == [event["id"]]
    assert _ids(house, timeMin="2026-04-07T10:00:00Z") == []


def test_a_time_can_be_patched_alone(house: GymDatabase) -> None:
    where = {"calendarId": "home", "eventId": "rent"}
    end = {"dateTime": "2026-04-01T10:00:00"}
    assert house.call("patch_event", **where, end=end).data["end"]["dateTime"] == "2026-04-01T10:00:00+02:00"
    refused = house.call("patch_event", **where, end={"dateTime": "2026-04-01T06:00:00Z"})
    assert (refused.is_error, refused.text) == (True, "Event end time must be after start time")


def test_a_null_clears_and_an_update_replaces(house: GymDatabase) -> None:
    where = {"calendarId": "home", "eventId": "rent"}
    house.call("patch_event", **where, location="Bank", attendees=[{"email": "bo@house.test"}])
    assert house.call("patch_event", **where, location=None).data["location"] is None
    times = {name: {"dateTime": f"2026-04-02T{hour}:00:00Z"} for name, hour in (("start", "09"), ("end", "10"))}
    replaced = house.call("update_event", **where, **times).data
    assert (replaced["summary"], replaced["attendees"], replaced["visibility"]) == (None, [], "default")


# --- rights ----------------------------------------------------------------------------------------------------------


def test_readers_see_when_private_events_are_and_nothing_else(house: GymDatabase) -> None:
    (event,) = _as_bo(house, "list_events", calendarId="home").data["items"]
    assert (event["id"], event["summary"], event["organizer"]) == ("rent", None, None)
    assert event["start"]["dateTime"] == "2026-04-01T09:00:00+02:00"
    assert _as_bo(house, "list_events", calendarId="home", q="rent").data["items"] == []
    refused = _as_bo(house, "patch_event", calendarId="home", eventId="rent", summary="Mine")
    assert (refused.is_error, refused.text) == (True, "User 'bo' lacks required roles: ['writer', 'owner']")


def test_a_move_needs_rights_on_both_calendars(house: GymDatabase) -> None:
    where = {"calendarId": "home", "eventId": "rent"}
    assert house.call("move_event", **where, destination="tea").is_error
    assert house.call("move_event", **where, destination="club").data["id"] == "rent"


# --- lists -----------------------------------------------------------------------------------------------------------


def test_cancelled_events_join_the_others(house: GymDatabase) -> None:
    assert _ids(house) == ["rent"]
    assert _ids(house, showDeleted=True) == ["rent", "dusk"]


def test_properties_select_events(house: GymDatabase) -> None:
    event = house.call("create_event", **NEW, extendedProperties={"private": {"k": "v=1"}}).data
    assert _ids(house, privateExtendedProperty="k=v=1") == [event["id"]]
    assert _ids(house, sharedExtendedProperty="k=v=1") == []


def test_pages_end_with_a_token_for_what_changes(house: GymDatabase) -> None:
    house.call("create_event", **NEW)
    first = house.call("list_events", calendarId="home", maxResults=1).data
    assert (len(first["items"]), first["nextSyncToken"]) == (1, None)
    last = house.call("list_events", calendarId="home", maxResults=1, pageToken=first["nextPageToken"]).data
    assert last["nextPageToken"] is None
    house.set_clock("2026-03-31T13:00:00")
    token = house.call("list_events", calendarId="home").data["nextSyncToken"]
    house.call("patch_event", calendarId="home", eventId="rent", status="cancelled")
    assert _ids(house, syncToken=token) == ["rent"]
    assert house.call("list_events", calendarId="home", syncToken="old").is_error


# --- series ----------------------------------------------------------------------------------------------------------


def test_a_series_is_one_event_or_its_occurrences(house: GymDatabase) -> None:
    series = _series(house)
    assert _ids(house) == ["rent", series]
    single = _items(house, singleEvents=True, orderBy="startTime")
    assert [item["id"] for item in single[1:]] == [f"{series}_202604{day}T090000Z" for day in ("07", "08", "09")]
    assert {item["recurringEventId"] for item in single[1:]} == {series}
    assert house.call("list_events", calendarId="home", orderBy="startTime").is_error
    instances = house.call("get_event_instances", calendarId="home", eventId=series).data["items"]
    assert instances == single[1:]


def test_a_change_of_a_series_holds_for_its_occurrences(house: GymDatabase) -> None:
    series = _series(house)
    where = {"calendarId": "home", "eventId": series}
    house.call("patch_event", **where, summary="Checkup", attendees=[{"email": "bo@house.test"}])
    instances = house.call("get_event_instances", **where).data["items"]
    assert {item["summary"] for item in instances} == {"Checkup"}
    assert {item["attendees"][0]["email"] for item in instances} == {"bo@house.test"}
    house.call("patch_event", **where, recurrence=["RRULE:FREQ=DAILY;COUNT=1"])
    assert len(house.call("get_event_instances", **where).data["items"]) == 1


def test_a_series_books_its_room_without_a_clash_with_itself(house: GymDatabase) -> None:
    room = [{"email": "room@house.test", "resource": True}]
    series = house.call("create_event", **NEW, recurrence=["RRULE:FREQ=DAILY;COUNT=2"], attendees=room).data
    occurrences = house.call("get_event_instances", calendarId="home", eventId=series["id"]).data["items"]
    assert [item["attendees"][0]["resource"] for item in occurrences] == [True, True]
    assert house.call("create_event", **NEW, attendees=room).is_error


def test_one_occurrence_changes_alone(house: GymDatabase) -> None:
    series = _series(house)
    house.call("patch_event", calendarId="home", eventId=f"{series}_20260408T090000Z", summary="Late")
    instances = house.call("get_event_instances", calendarId="home", eventId=series).data["items"]
    assert [item["summary"] for item in instances] == ["Dentist", "Late", "Dentist"]


def test_a_deleted_series_takes_its_occurrences_with_it(house: GymDatabase) -> None:
    series = _series(house)
    house.call("delete_event", calendarId="home", eventId=f"{series}_20260408T090000Z")
    assert len(_ids(house, singleEvents=True)) == 3
    house.call("delete_event", calendarId="home", eventId=series)
    assert _ids(house, singleEvents=True) == ["rent"]
    assert len(_ids(house, singleEvents=True, showDeleted=True)) == 5


def test_a_deleted_event_stays_cancelled_and_is_deleted_once(house: GymDatabase) -> None:
    where = {"calendarId": "home", "eventId": "rent"}
    house.call("patch_event", **where, attendees=[{"email": "bo@house.test"}])
    token = house.call("list_events", calendarId="home").data["nextSyncToken"]
    assert house.call("delete_event", **where).text == "Operation completed successfully"
    assert _ids(house) == []
    assert "rent" in _ids(house, showDeleted=True)
    assert "rent" in _ids(house, syncToken=token)
    shown = house.call("get_event", **where).data
    assert (shown["status"], shown["attendees"][0]["email"]) == ("cancelled", "bo@house.test")
    again = house.call("delete_event", **where)
    assert (again.is_error, again.text) == (True, "Resource has been deleted")


def test_a_deleted_import_can_be_imported_again(house: GymDatabase) -> None:
    given = {**NEW, "iCalUID": "far@other.test"}
    first = house.call("import_event", **given).data
    house.call("delete_event", calendarId="home", eventId=first["id"])
    assert house.call("import_event", **given).data["id"] != first["id"]


def test_a_transparent_event_takes_no_room(house: GymDatabase) -> None:
    room = [{"email": "room@house.test", "resource": True}]
    house.call("create_event", **NEW, attendees=room, transparency="transparent")
    made = house.call("create_event", **NEW, attendees=room)
    assert not made.is_error
    assert house.call("create_event", **NEW, attendees=room).is_error


def test_overrides_replace_the_default_reminder(house: GymDatabase) -> None:
    overrides = [{"method": "email", "minutes": 60}]
    event = house.call("create_event", **NEW, reminders={"overrides": overrides}).data
    assert event["reminders"] == {"useDefault": False, "overrides": overrides}


# --- quick add, import, channels -------------------------------------------------------------------------------------


def test_a_text_says_when_and_where(house: GymDatabase) -> None:
    event = house.call("quick_add_event", calendarId="home", text="Lunch tomorrow 12:30-1:30pm at Rosa's").data
    assert (event["summary"], event["location"]) == ("Lunch", "Rosa's")
    assert event["start"]["dateTime"] == "2026-04-01T12:30:00+02:00"
    day = house.call("quick_add_event", calendarId="home", text="Holiday on Monday").data
    assert (day["start"]["date"], day["end"]["date"]) == ("2026-04-06", "2026-04-07")


def test_an_import_brings_an_event_once(house: GymDatabase) -> None:
    given = {**NEW, "iCalUID": "far@other.test", "transparency": "transparent", "colorId": "5"}
    event = house.call("import_event", **given).data
    assert (event["transparency"], event["colorId"], event["privateCopy"]) == ("transparent", "5", True)
    assert house.call("import_event", **given).is_error


def test_a_channel_lives_as_long_as_is_asked_for(house: GymDatabase) -> None:
    given = {"calendarId": "home", "id": "c1", "type": "web_hook", "address": "https://hooks.test/x"}
    channel = house.call("watch_events", **given, params={"ttl": "3600"}).data
    assert channel["expiration"].startswith("2026-03-31T13:00:00")
