"""Filters of event lists: SQLite's comparisons of text, pages, and who may see what."""

from __future__ import annotations

import pytest

from opsgym_domains.calendar.event_queries import (
    LikePattern,
    ListQuery,
    in_time,
    may_be_listed,
    page,
    page_start,
    selected,
)
from opsgym_domains.calendar.tables import Event


def _event(start: str, end: str, **values: object) -> Event:
    return Event(event_id=start, start_datetime=start, end_datetime=end, **values)


EARLY = _event("2026-03-02 09:00:00", "2026-03-02 10:00:00", summary="Stand-up 100%", iCalUID="a@x.example")
LATE = _event("2026-03-03 09:00:00.000000", "2026-03-03 10:00:00.000000", summary="PLANNING", eventType="default")


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("stand", "Team STANDUP", True),
        ("100%", "100%", True),
        ("team%up", "Team STANDUP", True),
        ("up%team", "Team STANDUP", False),
        ("aa%aa", "aaa", False),
        ("a_c", "abc", True),
        ("a_c", "ac", False),
        ("a.c", "abc", False),
        ("é", "CAFÉ", False),
        ("%", "line\nbreak", True),
        ("e_b", "line\nbreak", True),
    ],
)
def test_patterns_match_as_in_sqlite(pattern: str, text: str, matches: bool) -> None:
    assert LikePattern(pattern).is_in(text) is matches


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("x" * 3_000_000, id="long text"),
        pytest.param("%" * 3_000_000 + "x", id="wildcards"),
        pytest.param("%a" * 30 + "%b", id="many parts"),
    ],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    events = [_event(str(number), "2", summary="a" * 4000) for number in range(50)]
    assert selected(events, ListQuery(q=pattern)) == []


def test_bounds_compare_text() -> None:
    assert in_time([EARLY, LATE], "2026-03-02T10:00:00Z", None) == [LATE], "a seeded time without fraction is less"
    assert in_time([EARLY, LATE], "2026-03-03T10:00:00+05:00", None) == [LATE], "the offset is dropped"
    assert in_time([EARLY, LATE], None, "2026-03-03T09:00:00Z") == [EARLY]


def test_a_text_is_looked_for_unless_an_identifier_is_given() -> None:
    assert selected([EARLY, LATE], ListQuery(q="plan")) == [LATE]
    assert selected([EARLY, LATE], ListQuery(q="plan", iCalUID="a@x.example")) == [EARLY]


def test_one_type_of_events_is_listed() -> None:
    assert selected([EARLY, LATE], ListQuery.model_validate({"eventTypes": "default"})) == [LATE]


def test_properties_cannot_be_filtered_by() -> None:
    with pytest.raises(ValueError, match="astext"):
        selected([EARLY], ListQuery.model_validate({"privateExtendedProperty": "k=v"}))
    assert selected([EARLY], ListQuery.model_validate({"privateExtendedProperty": "k"})) == [EARLY]


@pytest.mark.parametrize("token", ["x", "-1", "MQ==", "1.5"])
def test_a_page_token_is_a_whole_number(token: str) -> None:
    with pytest.raises(ValueError, match="Please enter a valid pageToken value"):
        page_start(token)


def test_pages_follow_each_other() -> None:
    assert (page_start(None), page_start(""), page_start("1")) == (0, 0, 1)
    assert page([EARLY, LATE], 1, 5) == [LATE]
    assert page([EARLY, LATE], 0, 1) == [EARLY]


@pytest.mark.parametrize(
    ("visibility", "owner", "role", "listed"),
    [
        ("confidential", "ana", "owner", True),
        ("default", "bo", "reader", True),
        ("private", "ana", "writer", True),
        ("private", "bo", "writer", False),
        ("confidential", "ana", "writer", False),
    ],
)
def test_private_events_are_listed_to_owners_and_their_authors(
    visibility: str, owner: str, role: str, listed: bool
) -> None:
    assert may_be_listed(_event("a", "b", visibility=visibility, user_id=owner), role, "ana") is listed
