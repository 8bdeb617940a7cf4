"""Records without their texts: what scores, comparisons and restarts go by.

Invariant: a row holds everything of a record that any number is made of, and no word of a query, an answer or a prompt.
An attempt stands in one row: in its trial's if it was scored, in its own otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields

from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, RunRecord, Timings, TrialRecord, Usage


@dataclass(frozen=True, slots=True)
class Tokens:
    """A `Usage` in a fifth of its memory: there are as many as attempts."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """`Timings`, likewise."""

    started_at: str
    seed_s: float = 0.0
    connect_s: float = 0.0
    model_s: float = 0.0
    wait_s: float = 0.0
    tools_s: float = 0.0
    verify_s: float = 0.0
    total_s: float = 0.0


NO_TOKENS = Tokens()
"""Shared by all rows that have none."""


@dataclass(frozen=True, slots=True)
class VerifierRow:
    """What one verifier found; see `VerifierResult`."""

    index: int
    name: str
    verifier_type: str
    category: str
    executed: bool
    passed: bool
    published_passed: bool


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A scored trial; see `TrialRecord`."""

    task_id: str
    trial: int
    attempt: int
    outcome: Outcome
    reason: str
    score: int
    published_score: int
    feasible: bool
    horizon: int | None
    verifiers: tuple[VerifierRow, ...]
    cost_usd: float | None
    steps: int
    tool_calls: int
    tool_errors: int
    model_retries: int
    timings: Times
    usage: Tokens
    planner_usage: Tokens = NO_TOKENS
    judge_usage: Tokens = NO_TOKENS
    judge_cost_usd: float | None = 0.0
    rate_limits: int = 0


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt that was not scored; see `AttemptRecord`."""

    task_id: str
    trial: int
    attempt: int
    outcome: Outcome | None
    reason: str
    message: str
    cost_usd: float | None
    steps: int
    tool_calls: int
    model_retries: int
    timings: Times
    usage: Tokens = NO_TOKENS
    planner_usage: Tokens = NO_TOKENS
    judge_usage: Tokens = NO_TOKENS
    judge_cost_usd: float | None = 0.0
    rate_limits: int = 0


@dataclass(frozen=True, slots=True)
class CellRows:
    """Rows of one cell."""

    cell: Cell
    trials: tuple[TrialRow, ...]
    """Scored trials, each once."""
    attempts: tuple[AttemptRow, ...]
    """Attempts that are in no trial's row, each once."""

    @property
    def all(self) -> list[TrialRow | AttemptRow]:
        """Every attempt, scored or not."""
        return [*self.trials, *self.attempts]


@dataclass(frozen=True)
class RunRows:
    """What the store holds of a run, in rows."""

    run: RunRecord
    cells: Sequence[CellRows]
    """Cells of which there is anything."""


def trial_row(record: TrialRecord) -> TrialRow:
    """The row of a scored trial."""
    return TrialRow(
        task_id=record.task_id,
        trial=record.trial,
        attempt=record.attempt,
        outcome=record.outcome,
        reason=record.reason,
        score=record.score,
        published_score=record.published_score,
        feasible=record.feasible,
        horizon=record.horizon,
        verifiers=tuple(
            VerifierRow(
                index=found.index,
                name=found.name,
                verifier_type=found.verifier_type,
                category=found.category,
                executed=found.executed,
                passed=found.passed,
                published_passed=found.published_passed,
            )
            for found in record.verifiers
        ),
        cost_usd=record.cost_usd,
        steps=record.steps,
        tool_calls=record.tool_calls,
        tool_errors=record.tool_errors,
        model_retries=record.model_retries,
        timings=_times(record.timings),
        usage=_tokens(record.usage),
        planner_usage=_tokens(record.planner_usage),
        judge_usage=_tokens(record.judge_usage),
        judge_cost_usd=record.judge_cost_usd,
        rate_limits=record.rate_limits,
    )


def attempt_row(record: AttemptRecord) -> AttemptRow:
    """The row of an attempt."""
    return AttemptRow(
        task_id=record.task_id,
        trial=record.trial,
        attempt=record.attempt,
        outcome=record.outcome,
        reason=record.reason,
        message=record.message,
        cost_usd=record.cost_usd,
        steps=record.steps,
        tool_calls=record.tool_calls,
        model_retries=record.model_retries,
        timings=_times(record.timings),
        usage=_tokens(record.usage),
        planner_usage=_tokens(record.planner_usage),
        judge_usage=_tokens(record.judge_usage),
        judge_cost_usd=record.judge_cost_usd,
        rate_limits=record.rate_limits,
    )


def attempt_record(run: str, cell: Cell, row: AttemptRow) -> AttemptRecord:
    """The record that a row is of."""
    return AttemptRecord.model_validate({"run": run, "cell": cell, **asdict(row)})


def _tokens(usage: Usage) -> Tokens:
    found = Tokens(**{part.name: getattr(usage, part.name) for part in fields(Tokens)})
    return NO_TOKENS if found == NO_TOKENS else found


def _times(timings: Timings) -> Times:
    return Times(**{part.name: getattr(timings, part.name) for part in fields(Times)})


class Gathered:
    """Rows from several places, each attempt once: what is given first stays, since all say the same.

    A trial's row takes the place of the row of the attempt that was scored: of the two, it was written last.
    """

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}
        self._trials: dict[str, dict[tuple[str, int], TrialRow]] = {}
        self._attempts: dict[str, dict[tuple[str, int, int], AttemptRow]] = {}

    def add(self, found: CellRows) -> None:
        """Takes rows of one cell."""
        key = found.cell.key
        self._cells.setdefault(key, found.cell)
        trials, attempts = self._trials.setdefault(key, {}), self._attempts.setdefault(key, {})
        for trial in found.trials:
            trials.setdefault((trial.task_id, trial.trial), trial)
        for attempt in found.attempts:
            attempts.setdefault((attempt.task_id, attempt.trial, attempt.attempt), attempt)

    def scored(self, cell: str) -> Iterable[tuple[str, int]]:
        """Task and number of every scored trial of a cell, by its key."""
        return self._trials.get(cell, {}).keys()

    def rows(self) -> Iterator[CellRows]:
        """Everything, by cell, task, trial and attempt, in order, whatever came first."""
        for key, cell in sorted(self._cells.items()):
            trials, attempts = self._trials[key], self._attempts[key]
            scored = {(*place, row.attempt) for place, row in trials.items()}
            yield CellRows(
                cell,
                tuple(trials[place] for place in sorted(trials)),
                tuple(attempts[place] for place in sorted(attempts) if place not in scored),
            )


def gathered_rows(trials: Iterable[TrialRecord], attempts: Iterable[AttemptRecord]) -> list[CellRows]:
    """Rows of records, by cell."""
    gathered = Gathered()
    for trial in trials:
        gathered.add(CellRows(trial.cell, (trial_row(trial),), ()))
    for attempt in attempts:
        gathered.add(CellRows(attempt.cell, (), (attempt_row(attempt),)))
    return list(gathered.rows())
