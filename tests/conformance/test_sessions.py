"""Recorded sessions, replayed on our server: answers and final tables are the recorded ones.

Each session of the published facts has a turn when soaking; otherwise a sample that reaches every tool is replayed.
"""

from __future__ import annotations

from functools import cache

import pytest
from tests.domains.declaration import SOAK
from tests.support.gym import Gym
from tests.support.upstream import upstream
from tools.conformance.sessions import Session, SessionVerdict, is_same, read_sessions, render_sessions, replay_session

from opsgym_domains import registry

SAMPLE = (
    "acl-life", "calendar-life", "clear-cascade", "delete-cascade", "freebusy-made", "import-dup",
    "listentry-update_calendar_in_list", "move", "page-acl", "patch-one-side", "primary-keyword", "put-semantics",
    "quickadd", "rand-031", "recur-lifecycle", "remove-list", "settings-medium", "users-medium", "watch-notify",
    "watch-watch_events",
)  # fmt: skip


@cache
def sessions() -> list[Session]:
    recorded = read_sessions(upstream(), "calendar")
    return recorded if SOAK else [session for session in recorded if session.name in SAMPLE]


@pytest.fixture(scope="module")
def verdicts(calendar: Gym) -> list[SessionVerdict]:
    return [replay_session(calendar, registry.load("calendar"), session) for session in sessions()]


@pytest.mark.published
@pytest.mark.timeout(3600 if SOAK else 300)
def test_recorded_calls_have_equal_answers(verdicts: list[SessionVerdict]) -> None:
    calls = [call for verdict in verdicts for call in verdict.calls]
    assert len(calls) > 300
    assert sum(call.equal for call in calls) >= 0.985 * len(calls), render_sessions(verdicts)


@pytest.mark.published
def test_final_tables_are_equal(verdicts: list[SessionVerdict]) -> None:
    unequal = [verdict.name for verdict in verdicts if verdict.cells]
    assert len(unequal) <= 0.02 * len(verdicts), render_sessions(verdicts)


@pytest.mark.parametrize(
    ("recorded", "actual", "marked", "same"),
    [
        ('{"a": 1}', '{"a": 1}', [], True),
        ('{"a": 1}', '{"a": 2}', [], False),
        ('{"a": 1}', '{"a": 2}', ["result.content[0].text|$.a"], True),
        ('{"a": 1, "b": 1}', '{"b": 1, "a": 2}', ["result.content[0].text|$.a"], False),
        ('[{"id": 1, "b": 1}, {"id": 2, "b": 2}]', '[{"id": 3, "b": 2}, {"id": 4, "b": 1}]',
         ["result.content[0].text|$[0].id", "result.content[0].text|$[1].id"], True),
        ("no 17", "no 18", ["result.content[0].text"], True),
        ("no 17", '{"a": 1}', ["result.content[0].text"], False),
        ("no 17", "no 18", [], False),
    ],
)  # fmt: skip
def test_what_counts_as_the_same_answer(recorded: str, actual: str, marked: list[str], same: bool) -> None:
    assert is_same(recorded, actual, marked) is same
