"""Other wordings of an answer that say the same: dates and times in other usual forms, names in words.

Invariant: a wording states what the original states; verifiers of answers must accept all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATES = re.compile(rf"\b(\d{{1,2}}) ({_MONTHS})(?: (\d{{4}}))?\b|\b(\d{{4}})-(\d\d)-(\d\d)\b(?!T)")
_TIMES = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b(?!:)")
YEAR = 2026
"""Year of dates that state none: that of the worlds."""


def _day(match: re.Match[str]) -> datetime:
    if match[4]:
        return datetime(int(match[4]), int(match[5]), int(match[6]))  # noqa: DTZ001 - a date
    return datetime.strptime(f"{match[1]} {match[2]} {match[3] or YEAR}", "%d %B %Y")  # noqa: DTZ007 - a date


def _with_dates(form: Callable[[datetime], str]) -> Callable[[str], str]:
    return lambda answer: _DATES.sub(lambda match: form(_day(match)), answer)


def _of_twelve_hours(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), match[2]
    half = "AM" if hour < 12 else "PM"
    return f"{hour % 12 or 12}{'' if minute == '00' else f':{minute}'} {half}"


def _of_europe(day: datetime) -> str:
    return f"{day.day} {day:%B %Y}"


def _of_america(day: datetime) -> str:
    return f"{day:%B} {day.day}, {day.year}"


WORDINGS: Mapping[str, Callable[[str], str]] = {
    "dates as 16 November 2026": _with_dates(_of_europe),
    "dates as November 16, 2026": _with_dates(_of_america),
    "dates as 2026-11-16": _with_dates(lambda day: f"{day:%Y-%m-%d}"),
    "times of twelve hours": lambda answer: _TIMES.sub(_of_twelve_hours, answer),
    "blanks for underscores": lambda answer: answer.replace("_", " "),
    "in capitals": str.upper,
    "as a list": lambda answer: answer.replace(". ", ".\n- ").replace("; ", "\n- "),
}
"""Other forms of an answer, by what they do."""


def reworded(answer: str) -> Mapping[str, str]:
    """Other wordings of an answer that differ from it, by what was done."""
    return {label: form(answer) for label, form in WORDINGS.items() if form(answer) != answer}
