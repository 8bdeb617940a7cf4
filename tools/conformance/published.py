"""Published tasks: whether a recorded run, replayed, gets the verdicts that it got.

Invariant: the runner's own verifiers judge, on the database that the replay left behind. A verdict that differs has a
reason, or is a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.support.gym import Gym, GymDatabase
from tools.conformance.recordings import Recording
from tools.conformance.replay import Harness, Plan

from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.attempt import VerifierResult
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.client import GymClient
from opsgym_runner.verification.verifiers import Trajectory, verify

_NAMED = re.compile(r"(\w+)\s*=\s*'?(\w+)'?")
"""A column and the value that a query wants in it."""


@dataclass(frozen=True)
class Published:
    """A published task, and what is handed down of its recorded run."""

    task: Task
    run_of: str | None
    """How names of files with the recorded run begin; None if the task has no recorded verdict."""
    passed: bool | None
    """Whether every verifier of the recorded run passed."""
    lossy: bool
    """Whether verifiers may have been lost when the task was put together from its run."""

    @property
    def name(self) -> str:
        """Task that recordings name."""
        return self.task.task_id.split(".")[0]

    def is_run(self, recording: Recording) -> bool:
        """Whether a recording is the run that the verdict is of."""
        return self.name == recording.task_id and self.run_of is not None and recording.source.startswith(self.run_of)


@dataclass(frozen=True)
class Verdict:
    """What came of a task's verifiers after a replay."""

    published: Published
    results: Sequence[VerifierResult]
    unseen: Mapping[int, Sequence[str]]
    """Rows that a verifier's query names and no call shows, by the verifier's index."""
    refused: str | None = None
    """Why the world could not be made."""

    @property
    def passed(self) -> bool:
        """Whether every verifier passes."""
        return self.refused is None and all(result.passed for result in self.results)

    @property
    def agrees(self) -> bool:
        """Whether the recorded and the replayed run have the same verdict."""
        return self.passed == self.published.passed

    @property
    def reason(self) -> str | None:
        """Why the verdict cannot be had from the recording; None if it can."""
        if self.refused is not None:
            return f"its world is refused: {self.refused}"
        failed = [result.index for result in self.results if not result.passed]
        blind = [row for index in failed for row in self.unseen[index]]
        if failed and all(self.unseen[index] for index in failed):
            return f"verifiers ask for what no call shows: {', '.join(dict.fromkeys(blind))}"
        if not failed and self.published.lossy and self.published.passed is False:
            return "every verifier that is handed down passes; the one that failed is lost"
        return None


def published_tasks(folder: Path) -> list[Published]:
    """The tasks of a folder, in order."""
    tasks, bad = read_tasks(folder)
    if bad:
        raise ValueError(f"rows that cannot be read: {bad}")
    return [_published(task, folder / f"{task.task_id}.json") for task in tasks]


def _published(task: Task, path: Path) -> Published:
    origin: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")).get("_provenance", {})
    source = str(origin.get("source", "")).partition("/")[0] or None
    lossy = any("verifiers" in loss for loss in origin.get("lossy", []))
    return Published(task, source, origin.get("run_overall_success"), lossy)


@dataclass(frozen=True)
class Rerun:
    """A recorded run that can be made again."""

    seed: str
    """Script of the world that it starts from."""
    headers: Mapping[str, str]
    """Headers of its calls."""
    replay: Callable[[GymDatabase], object]
    """Makes its calls on a database with the world."""
    unseen: Callable[[str], Sequence[str]]
    """Rows that a query names and no call of the run shows."""


async def judge(gym: Gym, published: Published, rerun: Rerun) -> Verdict:
    """Replays a task's run and has its verifiers judge what is left.

    Args:
        gym: A server of the domain.
        published: The task.
        rerun: The recorded run of the task.
    """
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        client = GymClient(http, gym.url, published.task.gym_servers_config[0])
        try:
            await client.seed(Seed(sql=rerun.seed), Access.PUBLISHED)
        except NotScored as refused:
            return Verdict(published, [], {}, refused=str(refused))
        desk = GymDatabase(gym.client, client.database_id, rerun.headers)
        rerun.replay(desk)
        results = await verify(published.task, {client.name: client}, Trajectory([], ""))
        gym.drop(desk)
    return Verdict(published, results, {result.index: rerun.unseen(result.query or "") for result in results})


def rerun_of(harness: Harness, plan: Plan) -> Rerun:
    """The run of a plan, made again.

    Args:
        harness: Of the plan's domain.
        plan: Of a recording of a task.
    """
    return Rerun(
        plan.seed,
        harness.headers(plan),
        replay=lambda desk: harness.replay(plan, desk),
        unseen=lambda query: _unseen(harness, plan, query),
    )


def _unseen(harness: Harness, plan: Plan, query: str) -> list[str]:
    """Rows that a query names by their key, and that were neither there nor made."""
    rows_missing = []
    for column, text in _NAMED.findall(query):
        table = harness.tables.targets.get(column)
        key: Any = int(text) if text.isdigit() else text
        if table is not None and harness.tables.keys[table] == column and table in query:
            known = plan.findings.rows.get((table, key))
            if known is None:
                rows_missing.append(f"{table} {key}")
    return rows_missing


def render_verdicts(verdicts: Sequence[Verdict]) -> str:
    """The verdicts, as text."""
    agreeing = [verdict for verdict in verdicts if verdict.agrees]
    lines = [f"published tasks with a recorded verdict: {len(verdicts)}, the same here: {len(agreeing)}"]
    blind = [verdict for verdict in agreeing if verdict.reason is not None]
    lines.append(f"  of these failed in both, here only by rows that no call shows: {len(blind)}")
    for verdict in verdicts:
        if not verdict.agrees:
            recorded = "passed" if verdict.published.passed else "failed"
            lines.append(f"  {verdict.published.task.task_id} {recorded}: {verdict.reason or 'no reason found'}")
            lines += [f"    {result.query}: {result.actual}" for result in verdict.results if not result.passed]
    return "\n".join(lines)
