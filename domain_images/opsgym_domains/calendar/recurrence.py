"""Recurrence rules of events (RFC 5545): validation and expansion.

Invariant: a rule that is accepted yields at most 365 occurrences, those of a rule that steps by days or less within 40
years. A rule for days that its months never have yields none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, takewhile

from dateutil import parser, tz
from dateutil.rrule import rruleset, rrulestr

MAX_OCCURRENCES = 365
"""Number of occurrences that become events, as on the published server."""
_DAILY_HORIZON = timedelta(days=14_610)
"""40 years: how far rules are followed that step by days or less, because each step takes time."""
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Greatest number of days of each month."""
_FREQUENCIES = frozenset(("SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"))
_WEEKDAYS = frozenset(("MO", "TU", "WE", "TH", "FR", "SA", "SU"))
_BY_DAY = re.compile(r"([+-]?\d*)([A-Z]{2})")
_UTC_FORM = "%Y%m%dT%H%M%SZ"
_NUMBERS: Mapping[str, tuple[int, int, bool]] = {
    "BYSECOND": (0, 60, True),
    "BYMINUTE": (0, 59, True),
    "BYHOUR": (0, 23, True),
    "BYMONTHDAY": (-31, 31, False),
    "BYYEARDAY": (-366, 366, False),
    "BYWEEKNO": (-53, 53, False),
    "BYMONTH": (1, 12, True),
    "BYSETPOS": (-366, 366, False),
}
"""Lowest and highest number of a part, and whether zero is allowed."""


class InvalidRule(ValueError):
    """A rule whose parts are wrong or contradict each other."""


def occurrences(lines: Sequence[str], start: datetime) -> list[datetime]:
    """Starts of a series, in order, with the offset of the first one. Lines of other kinds are ignored.

    Args:
        lines: One RRULE, and any number of RDATE and EXDATE in UTC, each with its name in upper case.
        start: Start of the first occurrence; UTC if it has no offset.

    Raises:
        InvalidRule: A part of the rule is wrong, or there are several rules.
        ValueError: There is no rule, or a date has another form.
    """
    if start.tzinfo is None:
        start = start.replace(tzinfo=UTC)
    dates, rules, last = rruleset(), 0, datetime.max.replace(tzinfo=UTC)
    for line in map(str.strip, lines):
        name, _, value = line.partition(":")
        if name == "RRULE":
            if rules:
                raise InvalidRule("Multiple RRULE entries found - only one is allowed")
            rules += 1
            _check(value)
            last = _add_rule(dates, value, start)
        elif name == "RDATE":
            _each_date(value, dates.rdate)
        elif name == "EXDATE":
            _each_date(value, dates.exdate)
    if not rules:
        raise ValueError("RRULE is required for recurring events")
    return list(islice(takewhile(lambda date: date <= last, dates), MAX_OCCURRENCES))


def in_utc(lines: Sequence[str], start: datetime) -> list[str]:
    """Lines in which dates alone and times of a zone are times in UTC, as `occurrences` reads them.

    Args:
        lines: Lines of RFC 5545.
        start: Start of the first occurrence, with offset. A date means the same time of day, as UNTIL the end of
            the day.

    Raises:
        ValueError: A date has another form.
    """
    return [_line_in_utc(line.strip(), start) for line in lines]


def _line_in_utc(line: str, start: datetime) -> str:
    name, _, value = line.partition(":")
    kind, _, settings = name.partition(";")
    if kind == "RRULE":
        return re.sub(r"UNTIL=(\d{8})(?=;|$)", r"UNTIL=\1T235959Z", line)
    if kind not in ("RDATE", "EXDATE") or not value:
        return line
    zone = tz.gettz(settings.partition("TZID=")[2]) if "TZID=" in settings else start.tzinfo
    return f"{kind}:{','.join(_in_utc(text.strip(), start, zone) for text in value.split(','))}"


def _in_utc(text: str, start: datetime, zone: tzinfo | None) -> str:
    if text.endswith("Z"):
        return text
    wall = datetime.strptime(text if "T" in text else f"{text}{start:T%H%M%S}", "%Y%m%dT%H%M%S")  # noqa: DTZ007
    return wall.replace(tzinfo=zone).astimezone(UTC).strftime(_UTC_FORM)


def _add_rule(dates: rruleset, value: str, start: datetime) -> datetime:
    """Adds a rule to the dates; returns the time up to which it is followed."""
    rule = rrulestr(value, dtstart=start)
    if isinstance(rule, rruleset):
        raise InvalidRule("give each line of a recurrence as an item of its own")
    if not _names_no_day(value):
        dates.rrule(rule)
    by_days = re.search("FREQ=(DAILY|HOURLY|MINUTELY|SECONDLY)", value.upper())
    return _later(start, _DAILY_HORIZON) if by_days else datetime.max.replace(tzinfo=UTC)


def _names_no_day(rule: str) -> bool:
    """Whether a rule names only days that its months never have, which would be searched for until the year 9999."""
    parts = dict(part.upper().split("=", 1) for part in rule.split(";") if "=" in part)
    months, days = (
        [int(text) for text in parts.get(name, "").split(",") if text] for name in ("BYMONTH", "BYMONTHDAY")
    )
    return bool(months and days) and all(abs(day) > _LONGEST[month - 1] for month in months for day in days)


def _later(start: datetime, time: timedelta) -> datetime:
    """A time after the start, or the last one that there is."""
    last = datetime.max.replace(microsecond=0, tzinfo=start.tzinfo) - timedelta(days=2)
    return last if start > last - time else start + time


def _each_date(value: str, add: Callable[[datetime], None]) -> None:
    for text in value.split(","):
        add(datetime.strptime(text.strip(), _UTC_FORM).replace(tzinfo=UTC))


def _check(rule: str) -> None:
    parts = [(name.upper(), value) for name, mark, value in (part.partition("=") for part in rule.split(";")) if mark]
    for name, value in parts:
        _check_part(name, value)
    names = {name for name, _ in parts}
    if "FREQ" not in names:
        raise InvalidRule("FREQ parameter is required in RRULE")
    if {"COUNT", "UNTIL"} <= names:
        raise InvalidRule("COUNT and UNTIL cannot both be specified in RRULE")


def _check_part(name: str, value: str) -> None:
    if name == "FREQ" and value.upper() not in _FREQUENCIES:
        raise InvalidRule(f"Invalid FREQ value: {value}")
    if name in ("COUNT", "INTERVAL"):
        _check_positive(name, value)
    if name == "UNTIL":
        _check_until(value)
    if name == "BYDAY":
        _check_weekdays(value)
    if name == "WKST" and value.upper() not in _WEEKDAYS:
        raise InvalidRule(f"Invalid WKST value: {value}")
    if name in _NUMBERS:
        _check_numbers(value, *_NUMBERS[name])


def _check_positive(name: str, value: str) -> None:
    try:
        number = int(value)
    except ValueError:
        raise InvalidRule(f"Invalid {name} value: {value}") from None
    if number <= 0:
        raise InvalidRule(f"{name} must be positive")


def _check_until(value: str) -> None:
    text = f"{value[:-1]}+00:00" if value.endswith("Z") else value
    try:
        parser.isoparse(text)
    except ValueError:
        _check_compact(value, text)


def _check_compact(value: str, text: str) -> None:
    """Accepts a date, or a time whose offset is ignored, in the compact form of RFC 5545."""
    form, wall = ("%Y%m%dT%H%M%S", re.split("[+-]", text)[0]) if "T" in text else ("%Y%m%d", text)
    try:
        datetime.strptime(wall, form)  # noqa: DTZ007 - only the form is checked
    except ValueError as error:
        message = f"Invalid UNTIL value: {value}, error: Cannot parse datetime: {text}, error: {error}"
        raise InvalidRule(message) from None


def _check_numbers(value: str, lowest: int, highest: int, zero: bool) -> None:
    for part in filter(None, map(str.strip, value.split(","))):
        try:
            number = int(part)
        except ValueError:
            raise InvalidRule(f"Invalid integer value: {part}") from None
        if number == 0 and not zero:
            raise InvalidRule(f"Zero not allowed in this context: {part}")
        if not lowest <= number <= highest:
            raise InvalidRule(f"Value {number} out of range [{lowest}, {highest}]")


def _check_weekdays(value: str) -> None:
    for part in filter(None, map(str.strip, value.upper().split(","))):
        match = _BY_DAY.fullmatch(part)
        if match is None:
            raise InvalidRule(f"Invalid BYDAY value: {part}")
        ordinal, weekday = match.groups()
        if weekday not in _WEEKDAYS:
            raise InvalidRule(f"Invalid weekday: {weekday}")
        if ordinal and not 1 <= abs(int(ordinal) if ordinal.strip("+-") else 0) <= 53:
            raise InvalidRule(f"Invalid ordinal in BYDAY: {ordinal}")
