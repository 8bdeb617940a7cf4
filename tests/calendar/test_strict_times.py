"""Times and series in access `strict`: instants, kept as wall clocks of a zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from opsgym_domains.calendar.event_bodies import Moment
from opsgym_domains.calendar.recurrence import in_utc
from opsgym_domains.calendar.strict_series import planned
from opsgym_domains.calendar.strict_times import bound, is_all_day, resource_moment, strict_event_time, zone_of
from opsgym_domains.calendar.tables import Event

BERLIN = zone_of("Europe/Berlin", "UTC")


@pytest.mark.parametrize(
    ("given", "stored", "zone"),
    [
        ({"dateTime": "2026-04-07T09:00:00Z"}, "2026-04-07 11:00:00.000000", "Europe/Berlin"),
        ({"dateTime": "2026-04-07T09:00:00Z", "timeZone": "Asia/Tokyo"}, "2026-04-07 18:00:00.000000", "Asia/Tokyo"),
        ({"dateTime": "2026-04-07T09:00:00"}, "2026-04-07 09:00:00.000000", "Europe/Berlin"),
        ({"date": "2026-04-07"}, "2026-04-07 00:00:00.000000", "Europe/Berlin"),
    ],
)
def test_a_time_is_stored_in_its_zone_or_the_calendars(given: dict[str, str], stored: str, zone: str) -> None:
    time = strict_event_time(Moment.model_validate(given), "Europe/Berlin")
    assert (time.stored, time.zone) == (stored, zone)


def test_a_bound_without_offset_is_in_the_zone() -> None:
    assert bound("2026-04-07T09:00:00", BERLIN).astimezone(UTC) == datetime(2026, 4, 7, 7, tzinfo=UTC)
    assert bound("2026-04-07T09:00:00Z", BERLIN) == datetime(2026, 4, 7, 9, tzinfo=UTC)


def test_a_planned_midnight_is_no_whole_day() -> None:
    times = {"start_datetime": "2026-04-07 00:00:00.000000", "end_datetime": "2026-04-08 00:00:00.000000"}
    assert is_all_day(Event(**times))
    assert not is_all_day(Event(**times, originalStartTime_dateTime=times["start_datetime"]))


def test_a_time_is_shown_with_its_offset() -> None:
    moment = datetime(2026, 7, 7, 7, tzinfo=UTC).astimezone(BERLIN)
    own = resource_moment(moment, "Europe/Berlin", all_day=False, zone=None)
    assert own["dateTime"] == "2026-07-07T09:00:00+02:00"
    tokyo = zone_of("Asia/Tokyo", "UTC")
    assert resource_moment(moment, "", all_day=False, zone=tokyo)["dateTime"] == "2026-07-07T16:00:00+09:00"


def test_a_series_keeps_its_time_of_day_when_clocks_change() -> None:
    start = datetime(2026, 3, 28, 9, tzinfo=BERLIN)
    dates = planned(["RRULE:FREQ=DAILY;COUNT=3"], start)
    assert [date.astimezone(UTC).hour for date in dates] == [8, 7, 7]


def test_lines_of_other_forms_become_utc() -> None:
    start = datetime(2026, 4, 7, 9, tzinfo=BERLIN)
    assert in_utc(
        [
            "RRULE:FREQ=DAILY;UNTIL=20260410;INTERVAL=2",
            "EXDATE;TZID=Asia/Tokyo:20260408T090000",
            "EXDATE;VALUE=DATE:20260408,20260409",
            "RDATE:20260501T070000Z",
        ],
        start,
    ) == [
        "RRULE:FREQ=DAILY;UNTIL=20260410T235959Z;INTERVAL=2",
        "EXDATE:20260408T000000Z",
        "EXDATE:20260408T070000Z,20260409T070000Z",
        "RDATE:20260501T070000Z",
    ]


def test_a_wrong_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid recurrence: Invalid FREQ value: OFTEN"):
        planned(["RRULE:FREQ=OFTEN"], datetime(2026, 4, 7, 9, tzinfo=BERLIN))
