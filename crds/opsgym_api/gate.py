"""Decides GO, NO-GO or INCONCLUSIVE. docs/gates.md tells how each condition is judged.

Invariant: what cannot be known (an unknown cost, a cell without a score, an interval that holds the bound) is never a
GO. A success rate is a sample, however many tasks the suite has, and is judged by its interval; cost and infra errors
are facts. Pure; `baseline` finds the run to compare with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from opsgym_api.compare import Scores, pair_tasks, scores_of
from opsgym_api.errors import Problem
from opsgym_api.evalrun import Gate
from opsgym_api.figures import cell_name, dollars, percent
from opsgym_api.orders import UNREAD_DOMAIN
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell, GateCheck, GateRecord, Verdict
from opsgym_api.rows import RunRows
from opsgym_api.scores import Summary
from opsgym_api.statistics import Interval, difference_interval, mean, mean_interval

TOLERANCE = 1e-9
"""Rates are means of floats: a drop of exactly the allowed size must not fail by a rounding error."""

MOST_TASKS = 10_000
"""Where not even so many tasks would decide, no suite does."""

_SEVERITY: dict[Verdict, int] = {"GO": 0, "INCONCLUSIVE": 1, "NO-GO": 2}


@dataclass(frozen=True)
class CellScores:
    """A cell that is judged, and its scored trials."""

    cell: Cell
    scores: Scores


@dataclass(frozen=True)
class RunScores:
    """A run's scored trials."""

    run: str
    suite_digest: str
    cells: Sequence[CellScores]
    """Every planned cell, those without a score included."""


@dataclass(frozen=True)
class Standing:
    """What a gate judges of a run."""

    scores: RunScores
    total: int
    """Trials planned."""
    infra_errors: int
    """Trials that ended in `infra_error`."""
    cost_usd: float | None
    """None when some of it is not known."""


@dataclass(frozen=True)
class Baseline:
    """What a gate compares with, once it was looked for."""

    scores: RunScores | None
    """None where no earlier run was good."""


@dataclass(frozen=True)
class Judgement:
    """What a gate says of a run, and why."""

    checks: tuple[GateCheck, ...]
    """Every condition that the gate sets."""
    baseline: str = ""
    """Run it was compared with, by id; empty for none."""
    regression: float | None = None
    """Largest drop of a cell's success rate against the baseline, negative if none dropped; None without one."""

    @property
    def verdict(self) -> Verdict:
        """The worst of the conditions'."""
        return max((check.verdict for check in self.checks), key=_SEVERITY.__getitem__, default="GO")

    def record(self, run: str, decided_at: str) -> GateRecord:
        """`gate.json` of a run."""
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
    """What the tasks of a cell say about a bound."""

    verdict: Verdict
    badness: float
    """By which the worst cell is found."""
    told: str
    """Number, cell and interval."""
    more: Callable[[], int | None]
    """Further tasks that would probably decide; None if no suite has as many. Asked of the worst cell only."""

    @property
    def advice(self) -> str:
        """What would help where it is not decided."""
        if self.verdict != "INCONCLUSIVE":
            return ""
        more = self.more()
        if more is None:
            return "; that is too near to be told apart by more tasks"
        return f"; about {_count(more)} more in this cell would probably decide"


def judge(gate: Gate, standing: Standing, baseline: Baseline | Problem | None) -> Judgement:
    """Judges every condition that a gate sets.

    Args:
        gate: The conditions.
        standing: The run.
        baseline: What the gate compares with, or why there is no such run; None only if it compares with nothing.
    """
    checks: list[GateCheck] = []
    if gate.min_success_rate is not None:
        checks.append(_success(gate.min_success_rate, gate.confidence, standing.scores))
    if gate.max_cost_usd is not None:
        checks.append(_cost(gate.max_cost_usd, standing))
    if gate.max_infra_error_rate is not None:
        checks.append(_infra(gate.max_infra_error_rate, standing))
    if gate.max_regression is None or baseline is None:
        return Judgement(tuple(checks))
    if isinstance(baseline, Problem):
        checks.append(_check("maxRegression", "NO-GO", str(baseline)))
        return Judgement(tuple(checks))
    if baseline.scores is None:
        checks.append(_check("maxRegression", "GO", "no earlier run is good, so there is nothing to compare with yet"))
        return Judgement(tuple(checks))
    check, drop = _regression(gate.max_regression, gate.confidence, standing.scores, baseline.scores)
    return Judgement((*checks, check), baseline.scores.run, drop)


def standing_of(rows: RunRows, summary: Summary) -> Standing:
    """What a gate judges of a run that is in a store.

    Args:
        rows: The run.
        summary: The same, summed up.
    """
    return Standing(
        scores=run_scores(rows),
        total=summary.total.total,
        infra_errors=summary.total.ended_as(Outcome.INFRA_ERROR),
        cost_usd=summary.total.cost_usd,
    )


def run_scores(rows: RunRows) -> RunScores:
    """A run's scored trials: rows that could not be read are no domain's, and have no rate."""
    scores: dict[Cell, Scores] = {plan.cell: {} for plan in rows.run.cells}
    scores |= {cell.cell: scores_of(cell) for cell in rows.cells}
    cells = [CellScores(cell, found) for cell, found in scores.items() if cell.domain != UNREAD_DOMAIN]
    return RunScores(rows.run.run, rows.run.suite_digest, cells)


def _check(condition: str, verdict: Verdict, told: str) -> GateCheck:
    return GateCheck(condition=condition, verdict=verdict, told=told)


def _cost(most: float, standing: Standing) -> GateCheck:
    cost = standing.cost_usd
    holds = cost is not None and cost <= most + TOLERANCE
    told = f"cost {dollars(cost)}; at most {dollars(most)} is allowed"
    return _check("maxCostUsd", "GO" if holds else "NO-GO", told)


def _infra(most: float, standing: Standing) -> GateCheck:
    rate = standing.infra_errors / standing.total if standing.total else 0.0
    told = (
        f"infra errors {standing.infra_errors} of {standing.total} trials, {percent(rate)}; "
        f"at most {percent(most)} is allowed"
    )
    return _check("maxInfraErrorRate", "GO" if rate <= most + TOLERANCE else "NO-GO", told)


# Success


def _success(least: float, confidence: float, scores: RunScores) -> GateCheck:
    without = [cell_name(found.cell) for found in scores.cells if not found.scores]
    samples = [_sample_of_success(found, least, confidence) for found in scores.cells if found.scores]
    worst = max(samples, key=_worst_first, default=None)
    if worst is not None and (worst.verdict == "NO-GO" or not without):
        told = f"success rate {worst.told}; at least {percent(least)} is required"
        return _check("minSuccessRate", worst.verdict, f"{told}{worst.advice}")
    told = f"success rate is not known: nothing is scored in {', '.join(without) or 'any cell'}"
    return _check("minSuccessRate", "INCONCLUSIVE", told)


def _sample_of_success(found: CellScores, least: float, confidence: float) -> _Sample:
    by_task: defaultdict[str, list[int]] = defaultdict(list)
    for (task_id, _), score in found.scores.items():
        by_task[task_id].append(score)
    rates = [sum(scores) / len(scores) for _, scores in sorted(by_task.items())]
    trials = len(found.scores)

    def interval(sample: Sequence[float]) -> Interval | None:
        return mean_interval(sample, trials * len(sample) // len(rates), confidence)

    rate, verdict = mean(rates) or 0.0, _side(interval(rates), least)
    return _Sample(
        verdict,
        badness=-rate,
        told=f"{percent(rate)} in {cell_name(found.cell)} ({_shares(interval(rates), confidence, len(rates))})",
        more=lambda: _more(rates, lambda sample: _side(interval(sample), least)),
    )


def _shares(interval: Interval | None, confidence: float, tasks: int) -> str:
    low, high = (percent(interval.low), percent(interval.high)) if interval else ("", "")
    return f"{100 * confidence:g}% interval {low} to {high}, {_count(tasks)}"


# Regression


def _regression(
    most: float, confidence: float, scores: RunScores, baseline: RunScores
) -> tuple[GateCheck, float | None]:
    """The check, and the largest drop."""
    before = {found.cell.key: found.scores for found in baseline.cells}
    compared = [found for found in scores.cells if found.cell.key in before]
    samples: list[_Sample] = []
    without: list[str] = []
    for found in compared:
        pairs = pair_tasks(found.cell, before[found.cell.key], found.scores)
        if pairs:
            samples.append(_sample_of_drop(found.cell, [pair.difference for pair in pairs], most, confidence))
        else:
            without.append(cell_name(found.cell))
    worst = max(samples, key=_worst_first, default=None)
    drop = max((sample.badness for sample in samples), default=None)
    notes = "".join(f"; {note}" for note in _notes(scores, baseline, before))
    if worst is not None and (worst.verdict == "NO-GO" or not without):
        told = f"success rate {worst.told} against {baseline.run}; a drop of {_points(most)} is allowed{notes}"
        return _check("maxRegression", worst.verdict, f"{told}{worst.advice}"), drop
    where = f"no task of {', '.join(without)}" if without else "no cell"
    told = f"regression is not known: {where} is scored here and in {baseline.run}{notes}"
    return _check("maxRegression", "INCONCLUSIVE", told), drop


def _sample_of_drop(cell: Cell, differences: Sequence[float], most: float, confidence: float) -> _Sample:
    def verdict(sample: Sequence[float]) -> Verdict:
        return _side(difference_interval(sample, confidence), -most)

    interval = difference_interval(differences, confidence)
    drop, said = -(mean(differences) or 0.0), verdict(differences)
    ends = f"{_change(-interval.low)} to {_change(-interval.high)}" if interval else ""
    return _Sample(
        said,
        badness=drop,
        told=f"{_change(drop)} in {cell_name(cell)} "
        f"({100 * confidence:g}% interval {ends}, {_count(len(differences))})",
        more=lambda: _more(differences, verdict),
    )


def _notes(scores: RunScores, baseline: RunScores, before: Container[str]) -> Iterator[str]:
    """What a reader has to know of a comparison."""
    if scores.suite_digest != baseline.suite_digest:
        yield "the runs' suites differ, and only tasks of both count"
    new = [cell_name(found.cell) for found in scores.cells if found.cell.key not in before]
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
    """GO if all of an interval reaches a bound, NO-GO if nothing of it does."""
    if interval is None or interval.low < bound - TOLERANCE <= interval.high:
        return "INCONCLUSIVE"
    return "GO" if interval.low >= bound - TOLERANCE else "NO-GO"


def _more(sample: Sequence[float], verdict: Callable[[Sequence[float]], Verdict]) -> int | None:
    """How many further tasks would decide, if they were like those there are; None beyond `MOST_TASKS`."""
    low, high = len(sample), MOST_TASKS
    if low >= high or verdict(_stretched(sample, high)) == "INCONCLUSIVE":
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if verdict(_stretched(sample, middle)) != "INCONCLUSIVE" else (middle, high)
    return high - len(sample)


def _stretched(sample: Sequence[float], count: int) -> list[float]:
    """A larger sample that is like one."""
    found = sorted(sample)
    return [found[place * len(found) // count] for place in range(count)]
