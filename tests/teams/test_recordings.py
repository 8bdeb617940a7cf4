"""Recorded calls of the published server, replayed: their answers and verdicts are ours too; published queries run."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache

import pytest
from tests.support.gym import Gym
from tests.support.upstream import upstream
from tests.teams.recorded_world import world_of, world_of_others
from tools.conformance.corpus import document_verdicts_of, recordings_of, runs_of
from tools.conformance.documents import DocumentVerdict, render_documents, replay_documents
from tools.conformance.published import published_tasks

from opsgym_domains import registry

pytestmark = [pytest.mark.published, pytest.mark.xdist_group("teams recordings")]

EXPLAINED = {
    ("list_teams", "contains(displayName"): "the published server found nothing by `contains` and `or` in one filter",
    ("list_users", "startswith(displayName"): "the published server ignored a filter with brackets and functions",
    ("provision_channel_email", "team_"): "the address holds the beginning of a generated id",
}
"""Why an answer differs, by tool and a part of its arguments."""


@pytest.fixture(scope="module")
def verdicts(teams: Gym) -> list[DocumentVerdict]:
    return replay_documents(teams, registry.load("teams"), recordings_of(upstream(), "teams"), world_of)


@cache
def number_of_calls() -> int:
    return sum(len(recording.calls) for recording in recordings_of(upstream(), "teams"))


def test_every_recorded_call_is_replayed_and_almost_all_answers_are_equal(verdicts: list[DocumentVerdict]) -> None:
    assert len(verdicts) == number_of_calls() == 219
    judged = [verdict for verdict in verdicts if not verdict.fault]
    assert len(judged) >= 214
    assert sum(not verdict.problems for verdict in judged) >= 0.97 * len(judged)


def test_every_difference_is_explained(verdicts: list[DocumentVerdict]) -> None:
    different = [verdict for verdict in verdicts if verdict.problems and not verdict.fault]
    assert [str(verdict) for verdict in different if not is_explained(verdict)] == []


def is_explained(verdict: DocumentVerdict) -> bool:
    arguments = str(verdict.call.arguments)
    return any(verdict.call.tool == tool and part in arguments for tool, part in EXPLAINED)


def test_answers_are_equal_that_the_world_was_not_made_from(teams: Gym) -> None:
    """Every recording is kept aside in turn; what differs shows rows or values that no other recording shows."""
    verdicts = replay_documents(teams, registry.load("teams"), recordings_of(upstream(), "teams"), world_of_others)
    equal = Counter(verdict.call.tool for verdict in verdicts if not verdict.problems)
    assert equal.total() >= 165
    assert equal["list_users"] >= 20
    assert len(equal) >= 25


def test_only_the_published_town_hall_fails_where_ours_does_not(verdicts: list[DocumentVerdict]) -> None:
    faults = {verdict.call.tool for verdict in verdicts if verdict.fault}
    assert faults == {"create_virtual_event_townhall"}


def test_the_report_names_every_tool_and_every_difference(verdicts: list[DocumentVerdict]) -> None:
    text = render_documents(verdicts)
    assert all(f"{verdict.call.tool} " in text for verdict in verdicts if not verdict.fault)
    assert all(str(verdict) in text for verdict in verdicts if verdict.problems and not verdict.fault)


def test_replayed_runs_of_published_tasks_get_their_recorded_verdicts(teams: Gym) -> None:
    recordings, tasks = recordings_of(upstream(), "teams"), published_tasks(upstream() / "tasks" / "teams")
    verdicts = asyncio.run(document_verdicts_of(teams, registry.load("teams"), recordings, world_of, tasks))
    assert len(verdicts) == len(runs_of(tasks, recordings)) == 35
    assert [verdict for verdict in verdicts if not verdict.agrees] == []
    assert sum(verdict.passed for verdict in verdicts) >= 9


def test_every_query_of_every_published_task_runs(teams: Gym) -> None:
    empty = teams.database()
    queries = [
        verifier.database_state.query
        for published in published_tasks(upstream() / "tasks" / "teams")
        for verifier in published.task.verifiers
        if verifier.verifier_type == "database_state"
    ]
    assert len(queries) > 150
    for query in queries:
        empty.rows(query)
    teams.drop(empty)
