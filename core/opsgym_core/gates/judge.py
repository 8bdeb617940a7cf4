"""Decides GO, NO-GO or INCONCLUSIVE. docs/gates.md defines how each condition is judged.

Invariant: an unknown value (an unknown cost, a cell without a score, an interval that contains the bound) is never a
GO. A success rate is an estimate, however many tasks the suite has, and is judged by its interval; cost and infra
errors are exact. Pure; `baseline` finds the run to compare with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import GateCheck, GateRecord, Verdict
from opsgym_api.records.job_spec import UNREAD_DOMAIN
from opsgym_api.records.outcomes import Outcome
from opsgym_core.common.numbers import cell_name, dollars, percent
from opsgym_core.results.compare import Scores, pair_tasks, scores_of
from opsgym_core.results.paired import difference_interval
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Summary
from opsgym_core.results.statistics import Interval, mean, mean_interval

TOLERANCE = 1e-9
"""Allowance for rounding errors of floats: a drop of exactly the allowed size passes."""

MAX_TASKS = 10_000
"""Upper bound of the search for the number of tasks that would decide a condition; no suite has more."""

_SEVERITY: dict[Verdict, int] = {"GO": 0, "INCONCLUSIVE": 1, "NO-GO": 2}


@dataclass(frozen=True)
class CellScores:
    """A cell and its scored trials."""

    cell: Cell
    scores: Scores


@dataclass(frozen=True)
class RunScores:
    """A run's scored trials."""

    run: str
    suite_digest: str
    cells: Sequence[CellScores]
    """Every planned cell, including those without a score."""


@dataclass(frozen=True)
class JudgedRun:
    """The values of a run that a gate judges."""

    scores: RunScores
    total: int
    """Number of planned trials."""
    infra_errors: int
    """Number of trials that ended in `infra_error`."""
    cost_usd: float | None
    """Spend of all attempts; None if the cost of any is unknown."""


@dataclass(frozen=True)
class Baseline:
    """Result of the search for a gate's baseline."""

    scores: RunScores | None
    """Scores of the baseline; None if no earlier run is good."""


@dataclass(frozen=True)
class Judgement:
    """The verdict of a gate on a run, with its conditions."""

    checks: tuple[GateCheck, ...]
    """Result of every condition of the gate."""
    baseline: str = ""
    """Id of the baseline; empty without one."""
    regression: float | None = None
    """Largest drop of a cell's success rate against the baseline, negative if none dropped; None without a baseline."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the conditions."""
        return max((check.verdict for check in self.checks), key=_SEVERITY.__getitem__, default="GO")

    def record(self, run: str, decided_at: str) -> GateRecord:
        """Content of `gate.json` of a run."""
        return GateRecord(
            run=run,
            verdict=self.verdict,
            checks=list(self.checks),
            baseline=self.baseline,
            regression=self.regression,
            decided_at=decided_at,
        )


@dataclass(frozen=True)
class _Sample:
    """Estimate of one cell against a bound."""

    verdict: Verdict
    badness: float
    """The worst cell has the highest value."""
    message: str
    """Estimate, cell and interval."""
    tasks_to_decide: Callable[[], int | None]
    """Computes the number of further tasks that would probably decide; None above `MAX_TASKS`. Costly, so it is called
    for the worst cell only."""

    @property
    def advice(self) -> str:
        """How many more tasks would decide; empty unless the verdict is INCONCLUSIVE."""
        if self.verdict != "INCONCLUSIVE":
            return ""
        tasks = self.tasks_to_decide()
        if tasks is None:
            return "; that is too near to be distinguished by more tasks"
        return f"; about {_count(tasks)} more in this cell would probably decide"


def judge(gate: Gate, run: JudgedRun, baseline: Baseline | Problem | None) -> Judgement:
    """Judges every condition of a gate.

    Args:
        gate: The gate.
        run: The run.
        baseline: The baseline, or why it cannot be used; None only if the gate has no baseline.
    """
    checks: list[GateCheck] = []
    if gate.min_success_rate is not None:
        checks.append(_success(gate.min_success_rate, gate.confidence, run.scores))
    if gate.max_cost_usd is not None:
        checks.append(_cost(gate.max_cost_usd, run))
    if gate.max_infra_error_rate is not None:
        checks.append(_infra(gate.max_infra_error_rate, run))
    if gate.max_regression is None or baseline is None:
        return Judgement(tuple(checks))
    if isinstance(baseline, Problem):
        checks.append(_check("maxRegression", "NO-GO", str(baseline)))
        return Judgement(tuple(checks))
    if baseline.scores is None:
        checks.append(_check("maxRegression", "GO", "no earlier run is good, so there is nothing to compare with yet"))
        return Judgement(tuple(checks))
    check, drop = _regression(gate.max_regression, gate.confidence, run.scores, baseline.scores)
    return Judgement((*checks, check), baseline.scores.run, drop)


def judged_run(rows: RunRows, summary: Summary) -> JudgedRun:
    """The values of a stored run that a gate judges.

    Args:
        rows: Rows of the run.
        summary: Summary of the same rows.
    """
    return JudgedRun(
        scores=run_scores(rows),
        total=summary.total.total,
        infra_errors=summary.total.count_not_scored(Outcome.INFRA_ERROR),
        cost_usd=summary.total.cost_usd,
    )


def run_scores(rows: RunRows) -> RunScores:
    """Scored trials of a run, without the cells of unreadable rows, which have no domain and no rate."""
    scores: dict[Cell, Scores] = {plan.cell: {} for plan in rows.run.cells}
    scores |= {cell.cell: scores_of(cell) for cell in rows.cells}
    cells = [CellScores(cell, cell_scores) for cell, cell_scores in scores.items() if cell.domain != UNREAD_DOMAIN]
    return RunScores(rows.run.run, rows.run.suite_digest, cells)


def _check(condition: str, verdict: Verdict, message: str) -> GateCheck:
    return GateCheck(condition=condition, verdict=verdict, message=message)


def _cost(most: float, run: JudgedRun) -> GateCheck:
    cost = run.cost_usd
    holds = cost is not None and cost <= most + TOLERANCE
    message = f"cost {dollars(cost)}; at most {dollars(most)} is allowed"
    return _check("maxCostUsd", "GO" if holds else "NO-GO", message)


def _infra(most: float, run: JudgedRun) -> GateCheck:
    rate = run.infra_errors / run.total if run.total else 0.0
    message = (
        f"infra errors {run.infra_errors} of {run.total} trials, {percent(rate)}; at most {percent(most)} is allowed"
    )
    return _check("maxInfraErrorRate", "GO" if rate <= most + TOLERANCE else "NO-GO", message)


# Success


def _success(least: float, confidence: float, scores: RunScores) -> GateCheck:
    without = [cell_name(cell_scores.cell) for cell_scores in scores.cells if not cell_scores.scores]
    samples = [_sample_of_success(cell_scores, least, confidence) for cell_scores in scores.cells if cell_scores.scores]
    worst = max(samples, key=_worst_first, default=None)
    if worst is not None and (worst.verdict == "NO-GO" or not without):
        message = f"success rate {worst.message}; at least {percent(least)} is required"
        return _check("minSuccessRate", worst.verdict, f"{message}{worst.advice}")
    message = f"success rate is not known: nothing is scored in {', '.join(without) or 'any cell'}"
    return _check("minSuccessRate", "INCONCLUSIVE", message)


def _sample_of_success(cell_scores: CellScores, least: float, confidence: float) -> _Sample:
    by_task: defaultdict[str, list[int]] = defaultdict(list)
    for (task_id, _), score in cell_scores.scores.items():
        by_task[task_id].append(score)
    rates = [sum(scores) / len(scores) for _, scores in sorted(by_task.items())]
    trials = len(cell_scores.scores)

    def interval(sample: Sequence[float]) -> Interval | None:
        return mean_interval(sample, trials * len(sample) // len(rates), confidence)

    rate, verdict = mean(rates) or 0.0, _side(interval(rates), least)
    return _Sample(
        verdict,
        badness=-rate,
        message=f"{percent(rate)} in {cell_name(cell_scores.cell)} "
        f"({_shares(interval(rates), confidence, len(rates))})",
        tasks_to_decide=lambda: _tasks_to_decide(rates, lambda sample: _side(interval(sample), least)),
    )


def _shares(interval: Interval | None, confidence: float, tasks: int) -> str:
    low, high = (percent(interval.low), percent(interval.high)) if interval else ("", "")
    return f"{100 * confidence:g}% interval {low} to {high}, {_count(tasks)}"


# Regression


def _regression(
    most: float, confidence: float, scores: RunScores, baseline: RunScores
) -> tuple[GateCheck, float | None]:
    """The check, and the largest drop; None without a common task."""
    before = {cell_scores.cell.key: cell_scores.scores for cell_scores in baseline.cells}
    compared = [cell_scores for cell_scores in scores.cells if cell_scores.cell.key in before]
    samples: list[_Sample] = []
    without: list[str] = []
    for cell_scores in compared:
        pairs = pair_tasks(cell_scores.cell, before[cell_scores.cell.key], cell_scores.scores)
        if pairs:
            differences = [pair.difference for pair in pairs]
            trials = sum(pair.before.total for pair in pairs)
            samples.append(_sample_of_drop(cell_scores.cell, differences, trials, most, confidence))
        else:
            without.append(cell_name(cell_scores.cell))
    worst = max(samples, key=_worst_first, default=None)
    drop = max((sample.badness for sample in samples), default=None)
    notes = "".join(f"; {note}" for note in _notes(scores, baseline, before))
    if worst is not None and (worst.verdict == "NO-GO" or not without):
        message = f"success rate {worst.message} against {baseline.run}; a drop of {_points(most)} is allowed{notes}"
        return _check("maxRegression", worst.verdict, f"{message}{worst.advice}"), drop
    where = f"no task of {', '.join(without)}" if without else "no cell"
    message = f"regression is not known: {where} is scored here and in {baseline.run}{notes}"
    return _check("maxRegression", "INCONCLUSIVE", message), drop


def _sample_of_drop(cell: Cell, differences: Sequence[float], trials: int, most: float, confidence: float) -> _Sample:
    def verdict(sample: Sequence[float]) -> Verdict:
        return _side(difference_interval(sample, trials * len(sample) // len(differences), confidence), -most)

    interval = difference_interval(differences, trials, confidence)
    drop, decision = -(mean(differences) or 0.0), verdict(differences)
    ends = f"{_change(-interval.low)} to {_change(-interval.high)}" if interval else ""
    return _Sample(
        decision,
        badness=drop,
        message=f"{_change(drop)} in {cell_name(cell)} "
        f"({100 * confidence:g}% interval {ends}, {_count(len(differences))})",
        tasks_to_decide=lambda: _tasks_to_decide(differences, verdict),
    )


def _notes(scores: RunScores, baseline: RunScores, before: Container[str]) -> Iterator[str]:
    """Limits of a comparison, for its message."""
    if scores.suite_digest != baseline.suite_digest:
        yield "the runs' suites differ, and only tasks of both count"
    new = [cell_name(cell_scores.cell) for cell_scores in scores.cells if cell_scores.cell.key not in before]
    if new:
        yield f"not compared, since that run does not have it: {', '.join(new)}"


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _change(drop: float) -> str:
    return f"{'down' if drop > 0 else 'up'} {_points(abs(drop))}"


# Samples


def _worst_first(sample: _Sample) -> tuple[int, float]:
    return _SEVERITY[sample.verdict], sample.badness


def _count(tasks: int) -> str:
    return "1 task" if tasks == 1 else f"{tasks} tasks"


def _side(interval: Interval | None, bound: float) -> Verdict:
    """GO if the whole interval reaches the bound, NO-GO if no part of it does, else INCONCLUSIVE."""
    if interval is None or interval.low < bound - TOLERANCE <= interval.high:
        return "INCONCLUSIVE"
    return "GO" if interval.low >= bound - TOLERANCE else "NO-GO"


def _tasks_to_decide(sample: Sequence[float], verdict: Callable[[Sequence[float]], Verdict]) -> int | None:
    """Number of further tasks that would decide if they resembled those of the sample; None above `MAX_TASKS`."""
    low, high = len(sample), MAX_TASKS
    if low >= high or verdict(_stretched(sample, high)) == "INCONCLUSIVE":
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if verdict(_stretched(sample, middle)) != "INCONCLUSIVE" else (middle, high)
    return high - len(sample)


def _stretched(sample: Sequence[float], count: int) -> list[float]:
    """A sample of `count` values with the distribution of the given one."""
    ordered = sorted(sample)
    return [ordered[position * len(ordered) // count] for position in range(count)]
