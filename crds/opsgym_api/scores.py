"""What a run's records add up to. Pure: records in, a summary out.

Invariant: a rate is over scored trials only, and what was not scored stands beside it. An unknown cost makes a sum
unknown, never smaller; and every attempt that was paid for is in it, scored or not.

Definitions:
    success of a task: passed / scored over its trials.
    success rate over tasks: mean of the tasks' success. With one trial a task it is passed / scored.
    success rate over domains: mean of the domains' rates over tasks.
    verifier pass rate: passed / executed over all verifiers of scored trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, RunRecord, TrialRecord, Usage

R = TypeVar("R", TrialRecord, AttemptRecord)

PENDING = "pending"
"""Planned trials that no attempt was made at, or whose attempt has not ended."""


@dataclass(frozen=True)
class Ratio:
    """How many of how many."""

    passed: int
    total: int

    @property
    def rate(self) -> float | None:
        """Share; None of nothing."""
        return self.passed / self.total if self.total else None


@dataclass(frozen=True)
class Score:
    """One row of a score table: a cell, or several cells together."""

    total: int
    """Trials planned."""
    passed: int
    failed: int
    fail_reasons: Mapping[str, int]
    """Failed trials by reason."""
    not_scored: Mapping[str, int]
    """Trials without a score by `outcome` or `outcome/reason`, and `pending`."""
    success_rate: float | None
    """Mean over tasks; None when nothing is scored."""
    published_rate: float | None
    """The same under the published harness's rules."""
    verifiers: Ratio
    categories: Mapping[str, Ratio]
    """Verifiers by category, in the order they first appear."""
    usage: Usage
    """Tokens of every attempt."""
    cost_usd: float | None
    """Spend of every attempt; None when one of them has no known price."""
    mean_steps: float | None
    """Model calls a scored trial."""
    mean_seconds: float | None
    """Wall-clock seconds a scored trial."""

    @property
    def scored(self) -> int:
        """Trials that say something about the agent."""
        return self.passed + self.failed

    def ended_as(self, outcome: Outcome) -> int:
        """Trials without a score that ended in one outcome, for whatever reason."""
        return sum(count for ending, count in self.not_scored.items() if ending.partition("/")[0] == outcome.value)


@dataclass(frozen=True)
class CellScore:
    """A cell and its score."""

    cell: Cell
    score: Score


@dataclass(frozen=True)
class AgentScore:
    """A model and agent in one mode, over all domains."""

    model: str
    agent: str
    mode: str
    score: Score
    """Everything together; its success rate is the mean over tasks."""
    success_over_domains: float | None
    """Mean of the domains' success rates; None when no domain has a scored trial."""


@dataclass(frozen=True)
class Summary:
    """A run's scores."""

    run: str
    cells: Sequence[CellScore]
    agents: Sequence[AgentScore]
    total: Score


@dataclass(frozen=True)
class RunResults:
    """What the store holds of a run."""

    run: RunRecord
    trials: Sequence[TrialRecord]
    """Scored trials."""
    attempts: Sequence[AttemptRecord] = field(default_factory=tuple)
    """Every attempt, those of scored trials included, in no particular order."""


def summarise(results: RunResults) -> Summary:
    """A run's scores, cells in the order of the plan."""
    trials = _by_cell(results.trials)
    attempts = _by_cell(results.attempts)
    planned = {cell.cell.key: cell for cell in results.run.cells}
    cells = {key: cell.cell for key, cell in planned.items()}
    records: list[TrialRecord | AttemptRecord] = [*results.trials, *results.attempts]
    for record in records:
        cells.setdefault(record.cell.key, record.cell)
    totals = {key: len(planned[key].task_ids) * results.run.trials if key in planned else None for key in cells}
    scores = [
        CellScore(cell, _score(trials.get(key, []), attempts.get(key, []), totals[key])) for key, cell in cells.items()
    ]
    return Summary(
        run=results.run.run,
        cells=scores,
        agents=_agents(scores, trials, attempts),
        total=_score(results.trials, results.attempts, sum(cell.score.total for cell in scores)),
    )


def _agents(
    cells: Sequence[CellScore],
    trials: Mapping[str, list[TrialRecord]],
    attempts: Mapping[str, list[AttemptRecord]],
) -> list[AgentScore]:
    groups: dict[tuple[str, str, str], list[CellScore]] = {}
    for cell in cells:
        groups.setdefault((cell.cell.model, cell.cell.agent, cell.cell.mode), []).append(cell)
    return [
        AgentScore(
            model,
            agent,
            mode,
            _score(
                [trial for cell in group for trial in trials.get(cell.cell.key, [])],
                [attempt for cell in group for attempt in attempts.get(cell.cell.key, [])],
                sum(cell.score.total for cell in group),
            ),
            _mean(cell.score.success_rate for cell in group if cell.score.success_rate is not None),
        )
        for (model, agent, mode), group in groups.items()
    ]


def _score(trials: Sequence[TrialRecord], attempts: Sequence[AttemptRecord], total: int | None) -> Score:
    passed = sum(trial.outcome is Outcome.PASSED for trial in trials)
    unscored = _unscored(trials, attempts)
    known = len(trials) + sum(unscored.values())
    waiting = max(0, (total or known) - known) + unscored.pop(PENDING, 0)
    executed = [result for trial in trials for result in trial.verifiers if result.executed]
    spend = _spend(trials, attempts)
    return Score(
        total=max(known, total or 0),
        passed=passed,
        failed=len(trials) - passed,
        fail_reasons=Counter(trial.reason for trial in trials if trial.outcome is Outcome.FAILED),
        not_scored={**unscored, **({PENDING: waiting} if waiting else {})},
        success_rate=_mean_over_tasks(trials, lambda trial: trial.score),
        published_rate=_mean_over_tasks(trials, lambda trial: trial.published_score),
        verifiers=Ratio(sum(result.passed for result in executed), len(executed)),
        categories={
            category: Ratio(
                sum(result.passed for result in executed if result.category == category),
                sum(result.category == category for result in executed),
            )
            for category in dict.fromkeys(result.category for result in executed)
        },
        usage=sum((item.usage for item in spend), Usage()),
        cost_usd=_sum_known(item.cost_usd for item in spend),
        mean_steps=_mean(trial.steps for trial in trials),
        mean_seconds=_mean(trial.timings.total_s for trial in trials),
    )


def _unscored(trials: Sequence[TrialRecord], attempts: Sequence[AttemptRecord]) -> Counter[str]:
    """Trials without a score by how their last attempt ended."""
    scored = {_key(trial) for trial in trials}
    last: dict[tuple[str, str, int], AttemptRecord] = {}
    for attempt in attempts:
        key = _key(attempt)
        if key not in scored and (key not in last or attempt.attempt > last[key].attempt):
            last[key] = attempt
    return Counter(_ending(attempt) for attempt in last.values())


def _ending(attempt: AttemptRecord) -> str:
    if attempt.outcome is None or attempt.outcome.scored:
        # Still running, killed, or a record that the store took only half of: the trial is to be run again.
        return PENDING
    return f"{attempt.outcome}/{attempt.reason}" if attempt.reason else str(attempt.outcome)


def _spend(trials: Sequence[TrialRecord], attempts: Sequence[AttemptRecord]) -> list[TrialRecord | AttemptRecord]:
    """One entry for each attempt: its own record, or the trial's where only that was written."""
    seen = {(*_key(attempt), attempt.attempt) for attempt in attempts}
    alone = [trial for trial in trials if (*_key(trial), trial.attempt) not in seen]
    return [*attempts, *alone]


def _key(record: TrialRecord | AttemptRecord) -> tuple[str, str, int]:
    return record.cell.key, record.task_id, record.trial


def _mean_over_tasks(trials: Sequence[TrialRecord], score: Callable[[TrialRecord], int]) -> float | None:
    by_task: dict[tuple[str, str], list[int]] = {}
    for trial in trials:
        by_task.setdefault((trial.cell.key, trial.task_id), []).append(score(trial))
    return _mean(sum(scores) / len(scores) for scores in by_task.values())


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def _sum_known(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _by_cell(records: Iterable[R]) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {}
    for record in records:
        grouped.setdefault(record.cell.key, []).append(record)
    return grouped
