"""Texts of quick_add_event in access `strict`: when and where an event is, and its title.

Invariant: what is understood is taken out of the text, the rest is the title; a text without a date and a time becomes
an event of one hour from now on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

HOUR = timedelta(hours=1)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_CLOCK = r"(?P<{0}hour>\d{{1,2}})(?::(?P<{0}minute>\d\d))?\s*(?P<{0}half>am|pm)?"
_DATES = tuple(
    re.compile(rf"\b(?:on\s+)?{form}\b", re.IGNORECASE)
    for form in (
        r"(?P<iso>\d{4}-\d\d-\d\d)",
        rf"{_MONTH}\s+{_DAY}{_YEAR}",
        rf"{_DAY}\s+{_MONTH}{_YEAR}",
        rf"(?P<word>today|tomorrow|{'|'.join(_WEEKDAYS)})",
    )
)
_FROM, _TO = _CLOCK.format(""), _CLOCK.format("to_")
_RANGE = re.compile(rf"\b(?:from\s+|at\s+)?{_FROM}\s*(?:-|–|to|until)\s*{_TO}\b", re.IGNORECASE)
_TIME = re.compile(rf"\b(?:at\s+)?(?:(?P<noon>noon|midnight)|{_FROM})\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:at|in)\s+(?P<place>[^,;]+)", re.IGNORECASE)


@dataclass(frozen=True)
class QuickEvent:
    """What a text says about an event; `start` and `end` are wall clocks."""

    summary: str
    location: str | None
    start: datetime
    end: datetime
    all_day: bool


def read(text: str, now: datetime) -> QuickEvent:
    """Reads a text such as `Lunch with Bo tomorrow 12:30-1:30pm at Rosa's`.

    Args:
        text: The text.
        now: Present wall clock in the calendar's zone.
    """
    rest, day = _date(text, now.date())
    rest, span = _span(rest)
    rest, place = _place(rest)
    summary = re.sub(r"\s+", " ", rest).strip(" ,;-") or text.strip()
    if span is None and day is not None:
        start = datetime.combine(day, time())
        return QuickEvent(summary, place, start, start + timedelta(days=1), all_day=True)
    if span is None:
        start = now.replace(second=0, microsecond=0)
        return QuickEvent(summary, place, start, start + HOUR, all_day=False)
    begin, finish = (None if clock is None else datetime.combine(day or now.date(), clock) for clock in span)
    assert begin is not None
    if day is None and begin < now:
        begin, finish = begin + timedelta(days=1), finish and finish + timedelta(days=1)
    if finish is not None and finish <= begin:
        finish += timedelta(days=1)
    return QuickEvent(summary, place, begin, finish or begin + HOUR, all_day=False)


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _date(text: str, today: date) -> tuple[str, date | None]:
    for form in _DATES:
        if (match := form.search(text)) and (day := _day(match.groupdict(), today)):
            return _without(text, match), day
    return text, None


def _day(parts: dict[str, str | None], today: date) -> date | None:
    try:
        if iso := parts.get("iso"):
            return date.fromisoformat(iso)
        if word := (parts.get("word") or "").lower():
            return _named_day(word, today)
        month = _MONTHS.index((parts.get("month") or "").lower()) + 1
        day = date(int(parts.get("year") or today.year), month, int(parts.get("day") or 0))
        return day if parts.get("year") or day >= today else day.replace(year=day.year + 1)
    except ValueError:
        return None


def _named_day(word: str, today: date) -> date:
    if word in _WEEKDAYS:
        return today + timedelta(days=(_WEEKDAYS.index(word) - today.weekday()) % 7)
    return today + timedelta(days=word == "tomorrow")


def _span(text: str) -> tuple[str, tuple[time, time | None] | None]:
    for match in _RANGE.finditer(text):
        parts = match.groupdict()
        half = parts["half"] or parts["to_half"]
        begin, end = _clock(parts, "", half), _clock(parts, "to_", parts["to_half"] or half)
        if begin and end and (half or parts["minute"] or parts["to_minute"]):
            return _without(text, match), (begin, end)
    for match in _TIME.finditer(text):
        parts = match.groupdict()
        if noon := (parts["noon"] or "").lower():
            return _without(text, match), (time(12 if noon == "noon" else 0), None)
        if (parts["half"] or parts["minute"]) and (begin := _clock(parts, "", parts["half"])):
            return _without(text, match), (begin, None)
    return text, None


def _clock(parts: dict[str, str | None], prefix: str, half: str | None) -> time | None:
    hour, minute = int(parts[f"{prefix}hour"] or 0), int(parts[f"{prefix}minute"] or 0)
    if half:
        hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _place(text: str) -> tuple[str, str | None]:
    match = _PLACE.search(text)
    if match is None:
        return text, None
    return _without(text, match), re.sub(r"\s+", " ", match["place"]).strip()
