"""Published tasks: all their queries run, and replayed runs get the verdicts that were recorded."""

from __future__ import annotations

import pytest
from tests.domains.declaration import SOAK
from tests.support.gym import Gym
from tests.support.upstream import upstream
from tools.conformance.corpus import headers_of, recordings_of, verdicts_of
from tools.conformance.published import Published, published_tasks

pytestmark = [pytest.mark.published, pytest.mark.anyio]

UPSTREAM = upstream()
TASKS = published_tasks(UPSTREAM / "tasks" / "csm")


def test_every_query_of_every_task_runs(csm: Gym) -> None:
    empty = csm.database()
    queries = [
        verifier.database_state.query
        for published in TASKS
        for verifier in published.task.verifiers
        if verifier.verifier_type == "database_state"
    ]
    assert len(queries) > 200
    for query in queries:
        empty.rows(query)
    csm.drop(empty)


async def test_replayed_runs_get_their_recorded_verdicts(csm: Gym) -> None:
    recordings, tasks = recordings_of(UPSTREAM, "csm"), recorded_runs()
    verdicts = await verdicts_of(csm, "csm", recordings, headers_of(UPSTREAM, "csm"), tasks)
    assert len(verdicts) == len(tasks)
    unexplained = [verdict for verdict in verdicts if not verdict.agrees and verdict.reason is None]
    assert unexplained == []
    assert sum(verdict.agrees for verdict in verdicts) >= (0.9 if SOAK else 0.85) * len(verdicts)
    passed = [verdict for verdict in verdicts if verdict.published.passed]
    assert len(passed) > (10 if SOAK else 1)
    for verdict in passed:  # every verifier passed then
        assert all(result.passed or verdict.unseen[result.index] for result in verdict.results)


def recorded_runs() -> list[Published]:
    """A third of the tasks with a recorded run, all when soaking: `test_recordings.py` makes the calls of all."""
    recordings = recordings_of(UPSTREAM, "csm")
    return [published for published in TASKS if any(map(published.is_run, recordings))][:: 1 if SOAK else 3]
