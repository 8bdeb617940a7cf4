"""Times of events in access `published`: wall clocks as text, whatever the offset."""

from __future__ import annotations

import pytest

from opsgym_domains.calendar.event_times import (
    is_after,
    is_zone,
    parse_event_time,
    parse_moment,
    resource_time,
    stored,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-04-07T09:00:00+02:00", "2026-04-07 09:00:00.000000"),
        ("2026-04-07T09:00:00Z", "2026-04-07 09:00:00.000000"),
        ("2026-04-07T09:00:00z", "2026-04-07 09:00:00.000000"),
        ("2026-04-07 09:00", "2026-04-07 09:00:00.000000"),
        ("2026-04-07", "2026-04-07 00:00:00.000000"),
        ("2026-04-07T24:00:00", "2026-04-08 00:00:00.000000"),
        ("2026-04-07T09:00:00.123456Z", "2026-04-07 09:00:00.123456"),
        ("20260407T090000Z", "2026-04-07 09:00:00.000000"),
    ],
)
def test_a_time_is_stored_as_its_wall_clock(text: str, expected: str) -> None:
    assert stored(parse_moment(text)) == expected


@pytest.mark.parametrize("text", ["", " ", "tomorrow", "2026-13-01T00:00:00Z", "5", "{'a': 1}"])
def test_another_form_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Invalid datetime format: "):
        parse_moment(text)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Europe/Berlin", True),
        ("EST", True),
        ("UTC", True),
        ("", True),
        ("utc", False),
        ("Mars/Olympus", False),
        ("+02:00", False),
        ("/etc/localtime", False),
        ("../../etc/passwd", False),
    ],
)
def test_zones_are_names_of_the_zone_database(name: str, known: bool) -> None:
    assert is_zone(name) is known


def test_the_zone_of_a_time_is_utc_unless_given() -> None:
    assert parse_event_time({"dateTime": "2026-04-07T09:00:00+02:00"}).zone == "UTC"
    assert parse_event_time({"date": "2026-04-07", "timeZone": "Asia/Tokyo"}).zone == "Asia/Tokyo"


def test_a_date_with_a_time_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^Invalid DateTime format: Invalid isoformat string: '2026-04-07T09:00:00Z'$"
    ):
        parse_event_time({"date": "2026-04-07T09:00:00Z"})


@pytest.mark.parametrize(
    ("start", "end", "after"),
    [
        ("2026-04-07T09:00:00+02:00", "2026-04-07T08:30:00+00:00", True),
        ("2026-04-07T09:00:00+02:00", "2026-04-07T07:00:00+00:00", False),
        ("2026-04-07T09:00:00", "2026-04-07T08:30:00+00:00", False),
        ("2026-04-07T09:00:00", "2026-04-07T09:00:00", False),
    ],
)
def test_offsets_count_only_where_both_times_have_one(start: str, end: str, after: bool) -> None:
    assert is_after(parse_moment(end), parse_moment(start)) is after


def test_a_time_at_midnight_is_shown_as_a_date() -> None:
    assert resource_time("2026-04-07 00:00:00.000000", "UTC") == {
        "dateTime": None,
        "date": "2026-04-07",
        "timeZone": "UTC",
    }


def test_texts_of_seeds_are_shown_with_their_offset() -> None:
    assert resource_time("2026-07-04 09:00:00-05:00", None)["dateTime"] == "2026-07-04T09:00:00-05:00"
    assert resource_time("2026-07-04T09:00:00", None)["dateTime"] == "2026-07-04T09:00:00"
