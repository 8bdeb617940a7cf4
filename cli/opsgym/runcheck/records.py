"""What the objects of a stored run say of each other.

Invariant: pure. Names each place where two objects of a run disagree; a run that opsgym wrote has none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import NO_USAGE, USAGE_FIELDS, TrialRecord, Usage
from opsgym_api.records.run import RunRecord
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_api.tasks.digest import task_digest
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_api.tasks.task import Task
from opsgym_core.planning.run_id import digest_of_rows, run_id
from opsgym_runner.job import JUDGE, PLANNER
from opsgym_runner.models.prices import cost_of, reports_cost


@dataclass(frozen=True)
class StoredTrial:
    """A scored trial as it lies in the store."""

    record: TrialRecord
    transcript: Transcript
    task: Task
    """Row of the run's suite."""
    model: str
    """litellm id of the agent's model."""
    prices: Prices | None
    """Prices that the run's spec gives the model; None if it gives none."""


def run_problems(run: RunRecord, index: SuiteIndex, rows: Mapping[str, Task]) -> Iterator[str]:
    """Where `run.json` and the rows of the suite disagree.

    Args:
        run: The run.
        index: Index of its suite.
        rows: Rows of the suite that can be read, by task id.
    """
    digests = index.digests
    for task_id, row in rows.items():
        if task_digest(row) != digests.get(task_id):
            yield f"suite: the row of {task_id} has another digest than the suite's index names"
    selected = {task_id: digests[task_id] for task_id in run.task_ids if task_id in digests}
    if digest_of_rows(selected.items()) != run.suite_digest:
        yield f"suite: its rows do not have the digest that run.json names, {run.suite_digest[:12]}"
    if run.pods is None and not run.rescored_from and not run.run.startswith(expected_id(run)):
        yield f"run.json: spec, suite and versions make the id {expected_id(run)}, not {run.run}"


def expected_id(run: RunRecord) -> str:
    """The id of a run on one machine as its spec, suite and versions make it, without the number of a repetition."""
    return run_id(run.name, EvalRunSpec.model_validate(run.spec), run.suite_digest, run.versions)


def trial_problems(trial: StoredTrial) -> Iterator[str]:
    """Where the record of a trial, its transcript, its row and its prices disagree."""
    record, transcript = trial.record, trial.transcript
    if task_digest(trial.task) != record.versions.task_digest:
        yield "the row of the suite is not the one that the record names"
    if transcript.catalogue_digest != record.versions.catalogue_digest:
        yield "record and transcript name different tools"
    results = [event for event in transcript.events if event.kind == "tool"]
    yield from _differs("tool calls", record.tool_calls, len(results))
    yield from _differs("tool errors", record.tool_errors, sum(event.is_error for event in results))
    replies = [event for event in transcript.events if event.kind == "assistant"]
    if record.stopped_by == "answer" and record.answer not in [event.content for event in transcript.events]:
        yield "the transcript does not have the recorded answer"
    yield from _spending(trial, replies)


def _differs(name: str, recorded: int, counted: int) -> Iterator[str]:
    if recorded != counted:
        yield f"{name}: the record counts {recorded}, the transcript {counted}"


def _spending(trial: StoredTrial, replies: Iterable[TranscriptEvent]) -> Iterator[str]:
    """Tokens and dollars. A record may have more than its transcript: replies that were lost are paid as well."""
    record = trial.record
    calls = [(event.by, event.call) for event in replies if event.call is not None]
    usage = sum((call.usage for by, call in calls if by != JUDGE), NO_USAGE)
    if less := [name for name in USAGE_FIELDS if getattr(record.usage, name) < getattr(usage, name)]:
        yield f"{', '.join(less)}: the record has less than the replies of the transcript"
    costs = [call.cost_usd for _, call in calls]
    known = math.fsum(cost for cost in costs if cost is not None)
    if record.cost_usd is not None and record.cost_usd < known - 1e-9:
        yield f"cost: the record has ${record.cost_usd:.6f}, the replies of the transcript ${known:.6f}"
    if trial.prices is not None and record.prices != trial.prices:
        yield "prices: the record was priced by others than the run's spec gives"
    prices = trial.prices or record.prices
    if prices is None or reports_cost(trial.model):
        return
    for by, call in calls:
        if by in (JUDGE, PLANNER) or call.cost_usd is None or _lost_a_reply(call.usage):
            continue
        price = cost_of(call.usage, prices)
        if price is not None and not math.isclose(price, call.cost_usd, rel_tol=1e-6, abs_tol=1e-9):
            yield f"cost of a reply: ${call.cost_usd:.6f} is not what its tokens cost, ${price:.6f}"


def _lost_a_reply(usage: Usage) -> bool:
    """Whether a reply's tokens include those of one that it replaces: tiers of prices hold for each alone."""
    return usage.model_calls > 1
