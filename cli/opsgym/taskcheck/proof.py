"""Proves on gym servers that the reference solution of a task passes, that doing nothing fails, and that each verifier
can fail.

Invariant: a row is played by the runner as in any run, with its gold actions replaced, in a store that is deleted.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from opsgym.local.display import LineDisplay
from opsgym.local.inputs import RunInputs
from opsgym.local.logs import logging_to
from opsgym.local.plan import PriorState, plan_local
from opsgym.local.progress import Progress
from opsgym.local.record import local_ledger
from opsgym.local.run import LocalResult, LocalRun
from opsgym.taskcheck.checks import servers_of
from opsgym.taskcheck.falsify import can_fail
from opsgym.taskcheck.findings import Finding
from opsgym.taskcheck.queries import SeedDatabases
from opsgym_api.kinds.evalrun import Agent, EvalRunSpec
from opsgym_api.records.attempt import AttemptRecord, TrialRecord, VerifierResult
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_api.tasks.verifiers import Verifier
from opsgym_core.results.explanation import shortfalls
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.store.local import LocalStore
from opsgym_core.store.objects import read_object
from opsgym_domains import registry
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.prices import FREE
from opsgym_runner.replay.scripts import GOLD
from opsgym_runner.verification.comparison import holds
from opsgym_runner.verification.verifiers import value_of

_RUN = "proof"
_JUDGE = "judge"


class Solution(StrEnum):
    """What is played."""

    GOLD = "gold"
    """The gold actions and answers."""
    IDLE = "idle"
    """No call, and empty answers."""
    UNREAD = "unread"
    """The gold actions without those that only read; for tasks with `looked_up` verifiers."""


@dataclass(frozen=True)
class Played:
    """How a solution of a task ended."""

    attempt: AttemptRecord
    record: TrialRecord | None
    """None without a score."""

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.record is not None and self.record.score == 1

    @property
    def verifiers(self) -> Sequence[VerifierResult]:
        """Results of the verifiers; empty without a score."""
        return self.record.verifiers if self.record else ()


def prove(
    tasks: Sequence[Task], seeds: Mapping[str, Mapping[str, Seed]], databases: SeedDatabases, now: datetime
) -> dict[str, list[Finding]]:
    """Plays the solutions of tasks and returns what they disprove, by task id.

    Args:
        tasks: Tasks of which `checks.Checker` reports no problem.
        seeds: Seeds by task id and gym server.
        databases: Databases of these seeds.
        now: Time that queries on them read.
    """
    played = _play({task.task_id: task for task in tasks if task.gold_actions is not None}, seeds)
    return {
        task.task_id: list(_findings(task, played[task.task_id], databases, now))
        if task.task_id in played
        else [Finding("gold_actions", "is required for a proof: give the tool calls that solve the task")]
        for task in tasks
    }


def solutions(task: Task) -> dict[Solution, Task]:
    """The task with the gold actions of each solution that is played."""
    silent = [""] * (len(task.days) + 1)
    made = {Solution.GOLD: task, Solution.IDLE: task.model_copy(update={"gold_actions": [], "gold_answers": silent})}
    if any(verifier.verifier_type == "looked_up" for verifier in task.verifiers):
        writing = [call for call in task.gold_actions or [] if _writes(task, call)]
        made[Solution.UNREAD] = task.model_copy(update={"gold_actions": writing})
    return made


def _writes(task: Task, call: ToolCall) -> bool:
    toolboxes = [registry.load(server.domain).toolbox.tools for server in servers_of(task, call)]
    return any(call.name in tools and tools[call.name].writes for tools in toolboxes)


def _play(tasks: Mapping[str, Task], seeds: Mapping[str, Mapping[str, Seed]]) -> dict[str, dict[Solution, Played]]:
    """Plays every solution of every task, and returns how each ended."""
    rows = {
        (task_id, solution): row.model_copy(update={"task_id": f"{number}.{solution}"})
        for number, (task_id, task) in enumerate(tasks.items())
        for solution, row in solutions(task).items()
    }
    if not rows:
        return {}
    inputs = _inputs(list(rows.values()), {row.task_id: seeds[task_id] for (task_id, _), row in rows.items()})
    with tempfile.TemporaryDirectory(prefix="opsgym-") as folder:
        store = LocalStore(folder)
        result = _run(inputs, store)
        ended = {record.task_id: record for record in result.records.values()}
        played: dict[str, dict[Solution, Played]] = {}
        for (task_id, solution), row in rows.items():
            attempt = ended[row.task_id]
            keys = RunKeys(_RUN).trial(attempt.cell, row.task_id, 0)
            record = read_object(store, keys.record, TrialRecord)
            played.setdefault(task_id, {})[solution] = Played(attempt, record)
    return played


def _inputs(rows: Sequence[Task], seeds: Mapping[str, Mapping[str, Seed]]) -> RunInputs:
    models = {name: ResolvedModel(name=name, model=GOLD, prices=FREE) for name in (GOLD, _JUDGE)}
    names = [{"name": "gold", "inline": {"model": GOLD}}]
    spec = EvalRunSpec.model_validate(
        {
            "suite": {"path": "."},
            "models": names,
            "supportingModels": [{"name": _JUDGE, "inline": {"model": GOLD}}],
            "judge": _JUDGE,
            "agents": [Agent(name="react", max_steps=1000, tool_names="qualified")],
        }
    )
    return RunInputs(
        name=_RUN,
        spec=spec,
        tasks=rows,
        unreadable={},
        unrunnable={},
        models={"gold": models[GOLD], _JUDGE: models[_JUDGE]},
        agents={agent.name: agent for agent in spec.agents},
        seeds=seeds,
        suite_digest="",
        edition="",
        versions={},
        run_id=_RUN,
        notes=[],
    )


def _run(inputs: RunInputs, store: LocalStore) -> LocalResult:
    plan = plan_local(inputs, PriorState())
    ledger = local_ledger(inputs.spec)
    display = _Notes(Progress(plan.trials_by_cell, ledger, time.monotonic), sys.stderr)
    with logging_to(display, None):
        result = asyncio.run(LocalRun(inputs, plan, PriorState(), store, ledger, display, concurrency=None).run())
    if result.signal is not None:
        raise KeyboardInterrupt
    return result


class _Notes(LineDisplay):
    """Shows messages only: the trials of a proof have names that the user did not give."""

    def settled(self, *_: object) -> None:
        """Shows nothing."""


def _findings(
    task: Task, played: Mapping[Solution, Played], databases: SeedDatabases, now: datetime
) -> Iterator[Finding]:
    gold, idle = played[Solution.GOLD], played[Solution.IDLE]
    unscored = next((one for one in played.values() if one.record is None), None)
    if unscored is not None:
        yield Finding("gold_actions", f"cannot be played: {unscored.attempt.reason}: {unscored.attempt.message}")
        return
    if not gold.passed:
        yield from _failures(task, gold)
        return
    judged = any(verifier.verifier_type == "response_check" for verifier in task.verifiers)
    if idle.passed:
        message = "an agent that does nothing and answers nothing passes"
        advice = " as far as verifiers other than response_check decide" if judged else ""
        yield Finding("verifiers", message + advice, is_problem=not judged)
    failed = {result.index for one in played.values() for result in one.verifiers if not result.passed}
    for index, verifier in enumerate(task.verifiers):
        if index not in failed and not _can_fail(task, verifier, databases, now):
            advice = "passes with the gold actions, without any, and in every state tried"
            yield Finding(f"verifiers[{index}] ({verifier.name or 'unnamed'})", advice, is_problem=False)


def _failures(task: Task, gold: Played) -> Iterator[Finding]:
    """Why the gold actions do not pass."""
    for result in gold.verifiers:
        if not result.passed:
            where = f"verifiers[{result.index}] ({result.name or 'unnamed'})"
            yield Finding(where, f"fails after the gold actions: {'; '.join(shortfalls(result))}")
    if all(result.passed for result in gold.verifiers):
        yield Finding("gold_actions", f"all verifiers pass, but the trial failed: {gold.attempt.reason}")
    if gold.record is not None and gold.record.tool_errors:
        yield Finding("gold_actions", f"{gold.record.tool_errors} of {len(task.gold_actions or [])} calls were refused")


def _can_fail(task: Task, verifier: Verifier, databases: SeedDatabases, now: datetime) -> bool:
    """Whether a verifier that no played solution failed can fail."""
    if verifier.verifier_type == "response_check":
        return True  # a judge decides
    if verifier.verifier_type == "state_difference":
        return verifier.state_difference.nothing_else
    if verifier.verifier_type != "database_state" or verifier.dialect != "sqlite":
        return False
    name = verifier.gym_name or task.gym_servers_config[0].mcp_server_name
    server = next(server for server in task.gym_servers_config if server.mcp_server_name == name)
    check = verifier.database_state
    return can_fail(
        databases.fresh(server.domain, server.seed_database_file),
        registry.load(server.domain).metadata,
        check.query,
        lambda rows: holds(value_of(rows), check.expected_value, check.comparison_type),
        now,
    )
