"""Recurrence rules: which are refused, with what words, and which dates the others yield."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from opsgym_domains.calendar.recurrence import MAX_OCCURRENCES, InvalidRule, occurrences

START = datetime(2026, 4, 7, 9, tzinfo=timezone(timedelta(hours=2)))
"""A Tuesday."""


def _days(*lines: str) -> list[str]:
    return [date.date().isoformat() for date in occurrences(lines, START)]


@pytest.mark.parametrize(
    ("rule", "days"),
    [
        ("FREQ=DAILY;COUNT=3", ["2026-04-07", "2026-04-08", "2026-04-09"]),
        ("FREQ=WEEKLY;BYDAY=MO,WE;COUNT=2", ["2026-04-08", "2026-04-13"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31;COUNT=2", ["2026-05-31", "2026-07-31"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=2", ["2028-02-29", "2032-02-29"]),
        ("FREQ=DAILY;UNTIL=20260408T235959Z", ["2026-04-07", "2026-04-08"]),
        ("FREQ=DAILY;UNTIL=20260301T000000Z", []),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", []),
    ],
)
def test_a_rule_yields_its_dates(rule: str, days: list[str]) -> None:
    assert _days(f"RRULE:{rule}") == days


def test_dates_are_added_and_left_out() -> None:
    lines = ("RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260408T070000Z", "RDATE:20260501T070000Z", "EXRULE:FREQ=DAILY")
    assert _days(*lines) == ["2026-04-07", "2026-04-09", "2026-05-01"]


def test_an_endless_rule_is_cut() -> None:
    assert len(_days("RRULE:FREQ=DAILY")) == MAX_OCCURRENCES


def test_a_rule_by_days_is_followed_for_forty_years() -> None:
    leap_days = _days("RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29")
    assert (leap_days[0], leap_days[-1]) == ("2028-02-29", "2064-02-29")


def test_occurrences_keep_the_offset_of_the_start() -> None:
    assert occurrences(["RRULE:FREQ=DAILY;COUNT=1"], START) == [START]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("COUNT=2", "FREQ parameter is required in RRULE"),
        ("FREQ=FORTNIGHTLY", "Invalid FREQ value: FORTNIGHTLY"),
        ("FREQ=DAILY;COUNT=0", "COUNT must be positive"),
        ("FREQ=DAILY;COUNT=x", "Invalid COUNT value: x"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL must be positive"),
        ("FREQ=DAILY;COUNT=2;UNTIL=20260410T000000Z", "COUNT and UNTIL cannot both be specified in RRULE"),
        ("FREQ=DAILY;BYDAY=XX", "Invalid weekday: XX"),
        ("FREQ=DAILY;BYDAY=54MO", "Invalid ordinal in BYDAY: 54"),
        ("FREQ=DAILY;BYDAY=MONDAY", "Invalid BYDAY value: MONDAY"),
        ("FREQ=DAILY;BYHOUR=24", r"Value 24 out of range \[0, 23\]"),
        ("FREQ=DAILY;BYMONTHDAY=0", "Zero not allowed in this context: 0"),
        ("FREQ=DAILY;BYMONTH=x", "Invalid integer value: x"),
        ("FREQ=DAILY;WKST=XX", "Invalid WKST value: XX"),
        ("FREQ=DAILY;UNTIL=soon", "Invalid UNTIL value: soon, error: Cannot parse datetime: soon, error: .*"),
    ],
)
def test_a_wrong_part_of_a_rule_is_named(rule: str, message: str) -> None:
    with pytest.raises(InvalidRule, match=f"^{message}$"):
        _days(f"RRULE:{rule}")


def test_there_is_exactly_one_rule() -> None:
    with pytest.raises(InvalidRule, match="only one is allowed"):
        _days("RRULE:FREQ=DAILY;COUNT=2", "RRULE:FREQ=WEEKLY;COUNT=2")
    for line in ("EXDATE:20260408T070000Z", "rrule:freq=daily", "FREQ=DAILY", ""):
        with pytest.raises(ValueError, match="RRULE is required for recurring events"):
            _days(line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("RRULE:FREQ=DAILY;UNTIL=20260410", "UNTIL values must be specified in UTC"),
        ("RRULE:FREQ=DAILY;COUNT=2;FOO=1", "unknown parameter 'FOO'"),
    ],
)
def test_rules_that_cannot_be_expanded_are_refused(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _days(line)


def test_an_exception_has_the_utc_form() -> None:
    with pytest.raises(ValueError, match="time data 'garbage' does not match format"):
        _days("RRULE:FREQ=DAILY;COUNT=3", "EXDATE:garbage")
