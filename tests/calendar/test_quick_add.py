"""Texts of quick_add_event in access `strict`."""

from __future__ import annotations

from datetime import datetime

import pytest

from opsgym_domains.calendar.quick_add import read

NOW = datetime.fromisoformat("2026-04-01T12:30")
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "summary", "place", "start", "end"),
    [
        ("Lunch with Bo tomorrow 12:30-1:30pm", "Lunch with Bo", None, "2026-04-02T12:30", "2026-04-02T13:30"),
        ("Review at Room 4 on June 3rd 10am-10:25am", "Review", "Room 4", "2026-06-03T10:00", "2026-06-03T10:25"),
        ("Dentist 2026-05-04 14:00", "Dentist", None, "2026-05-04T14:00", "2026-05-04T15:00"),
        ("Standup friday at 9am", "Standup", None, "2026-04-03T09:00", "2026-04-03T10:00"),
        ("Call from 3 to 4pm", "Call", None, "2026-04-01T15:00", "2026-04-01T16:00"),
        ("Breakfast at 8am", "Breakfast", None, "2026-04-02T08:00", "2026-04-02T09:00"),
        ("Party on 31 December 2026 10pm - 1am", "Party", None, "2026-12-31T22:00", "2027-01-01T01:00"),
        ("Walk at noon in the park", "Walk", "the park", "2026-04-02T12:00", "2026-04-02T13:00"),
        ("Buy 2 tickets", "Buy 2 tickets", None, "2026-04-01T12:30", "2026-04-01T13:30"),
        ("Version 3-4 talk", "Version 3-4 talk", None, "2026-04-01T12:30", "2026-04-01T13:30"),
        ("10:00", "10:00", None, "2026-04-02T10:00", "2026-04-02T11:00"),
    ],
)
def test_time_and_place_are_read(text: str, summary: str, place: str | None, start: str, end: str) -> None:
    event = read(text, NOW)
    assert (event.summary, event.location, event.all_day) == (summary, place, False)
    assert (event.start.isoformat(timespec="minutes"), event.end.isoformat(timespec="minutes")) == (start, end)


@pytest.mark.parametrize(
    ("text", "day"),
    [("Holiday March 30", "2027-03-30"), ("Fair on monday", "2026-04-06"), ("Rest today", "2026-04-01")],
)
def test_a_date_without_a_time_is_a_whole_day(text: str, day: str) -> None:
    event = read(text, NOW)
    assert (event.all_day, event.start.date().isoformat(), (event.end - event.start).days) == (True, day, 1)


@pytest.mark.parametrize("text", ["Talk on February 31", "Meet at 25:00", "Shift 99:99"])
def test_what_is_no_date_or_time_stays_in_the_title(text: str) -> None:
    event = read(text, NOW)
    assert event.start == NOW
    assert text.split(maxsplit=1)[0] in event.summary
