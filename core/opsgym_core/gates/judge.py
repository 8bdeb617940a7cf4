"""Decides GO, NO-GO or INCONCLUSIVE. docs/gates.md defines how each condition is judged.

Invariant: an unknown value (an unknown cost, a cell without a score, a bound that the interval does not clear) is never
a GO, and neither is a rate over what a run happened to score: trials without a score are limited, and count as failed.
One mean over all tasks decides, since a verdict that needs every cell could hardly ever be a GO; cells are guarded by
tests that are corrected for their number. Pure; `baseline` finds the run to compare with.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from opsgym_api.errors import Problem
from opsgym_api.jobs.job_spec import UNREAD_DOMAIN
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import GateCheck, GateRecord, Look, Verdict
from opsgym_api.records.outcomes import Outcome
from opsgym_core.common.numbers import cell_name, dollars, percent
from opsgym_core.gates.spending import Confidences, confidences_at
from opsgym_core.planning.rounds import current_look, rounds_text
from opsgym_core.results.compare import Scores, TaskRates, by_domain, over_cells, ratios_of, scores_of, task_rates
from opsgym_core.results.coverage import count_lost, lost_text
from opsgym_core.results.differences import changed_tasks, changed_tasks_note
from opsgym_core.results.paired import holm, paired_mean
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Ratio, Summary
from opsgym_core.results.statistics import Interval, mean, mean_interval, p_mean_below

TOLERANCE = 1e-9
"""Allowance for rounding errors of floats: a drop of exactly the allowed size passes."""

MAX_TASKS = 10_000
"""Upper bound of the search for the number of tasks that would decide a condition; no suite has more."""

_NO_TRIALS = Ratio(0, 0)
_SEVERITY: dict[Verdict, int] = {"GO": 0, "INCONCLUSIVE": 1, "NO-GO": 2}


@dataclass(frozen=True)
class CellScores:
    """A cell and its scored trials."""

    cell: Cell
    scores: Scores
    task_ids: Sequence[str] = ()
    """Planned tasks."""


@dataclass(frozen=True)
class RunScores:
    """A run's scored trials."""

    run: str
    suite_digest: str
    cells: Sequence[CellScores]
    """Every planned cell, including those without a score."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Digest of each task's row, by id; a task that is missing counts as the same row in every run."""
    task_trials: int = 0
    """Planned trials of each planned task."""

    @cached_property
    def task_rates(self) -> list[float]:
        """Success of each task, as the mean over the cells that scored it."""
        return self._over_cells(lambda cell: _rates(cell.scores))

    @cached_property
    def worst_rates(self) -> list[float]:
        """Success of each planned task if every trial without a score failed, as the mean over its cells."""
        return self._over_cells(
            lambda cell: {task: ratio.passed / ratio.total for task, ratio in self._planned(cell).items()}
        )

    @property
    def planned(self) -> int:
        """Number of planned trials."""
        return sum(ratio.total for cell in self.cells for ratio in self._planned(cell).values())

    def _planned(self, cell: CellScores) -> dict[str, Ratio]:
        """Passed of planned trials of each task of a cell."""
        scored = ratios_of(cell.scores)
        planned = {
            task: Ratio(ratio.passed, max(ratio.total, self.task_trials))
            for task in cell.task_ids
            if (ratio := scored.get(task, _NO_TRIALS)) and max(ratio.total, self.task_trials)
        }
        return scored | planned

    def _over_cells(self, rates_of: Callable[[CellScores], Mapping[str, float]]) -> list[float]:
        shares: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for cell in self.cells:
            for task_id, rate in rates_of(cell).items():
                shares[cell.cell.domain, task_id].append(rate)
        return [sum(rates) / len(rates) for _, rates in sorted(shares.items())]

    @property
    def trials(self) -> int:
        """Number of scored trials."""
        return sum(len(cell_scores.scores) for cell_scores in self.cells)


@dataclass(frozen=True)
class JudgedRun:
    """The values of a run that a gate judges."""

    scores: RunScores
    total: int
    """Number of planned trials."""
    lost: Mapping[str, int]
    """Planned trials without a score by reason, see `Coverage.lost`."""
    cost_usd: float | None
    """Spend of all attempts; None if the cost of any is unknown."""
    look: Look | None = None
    """The look at a run with rounds; None for a run with a fixed number of trials."""
    stopped: bool = False
    """Whether the gate was decided at that look, so that no further round is played."""


@dataclass(frozen=True)
class Baseline:
    """Result of the search for a gate's baseline."""

    scores: RunScores | None
    """Scores of the baseline; None if no earlier run is good."""
    anchor: RunScores | None = None
    """Scores of the good run from which drift is counted, if it is another run than the baseline."""
    note: str = ""
    """What limits the search, for messages; empty if nothing does."""


@dataclass(frozen=True)
class Judgement:
    """The verdict of a gate on a run, with its conditions."""

    checks: tuple[GateCheck, ...]
    """Result of every condition of the gate."""
    baseline: str = ""
    """Id of the baseline; empty without one."""
    anchor: str = ""
    """Id of the run from which drift is counted; empty without a baseline."""
    regression: float | None = None
    """Drop of the mean over tasks against the baseline, negative if it rose; None without a baseline."""
    success: float | None = None
    """Mean over tasks of the success rate; None without a score."""
    worst: float | None = None
    """That mean if every trial without a score failed."""
    look: Look | None = None
    """The look that the bounds are for; None for a run with a fixed number of trials."""

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
            anchor=self.anchor,
            regression=self.regression,
            success=self.success,
            worst=self.worst,
            look=self.look,
            decided_at=decided_at,
        )


def judge(gate: Gate, run: JudgedRun, baseline: Baseline | Problem | None) -> Judgement:
    """Judges every condition of a gate.

    Args:
        gate: The gate.
        run: The run.
        baseline: The baseline, or why it cannot be used; None only if the gate has no baseline.
    """
    confidences = confidences_at(run.look, gate.confidence)
    checks = [*_success_checks(gate, run.scores, confidences)]
    if gate.max_cost_usd is not None:
        checks.append(_cost(gate.max_cost_usd, run))
    checks += coverage_checks(gate, run)
    if run.look is not None:
        checks.append(_check("minTrials", "GO", rounds_text(run.look, stopped=run.stopped, total=run.total)))
    alone = Judgement((), success=mean(run.scores.task_rates), worst=mean(run.scores.worst_rates), look=run.look)
    if gate.max_regression is None or baseline is None:
        return replace(alone, checks=tuple(checks))
    if isinstance(baseline, Problem):
        checks.append(_check("maxRegression", "NO-GO", str(baseline)))
        return replace(alone, checks=tuple(checks))
    if baseline.scores is None:
        checks.append(_check("maxRegression", "GO", "no earlier run is good, so there is nothing to compare with yet"))
        return replace(alone, checks=tuple(checks))
    change = _Change.of(baseline.scores, run.scores)
    checks += _regression_checks(gate, gate.max_regression, confidences, change, baseline)
    anchor = (baseline.anchor or baseline.scores).run
    return replace(alone, checks=tuple(checks), baseline=baseline.scores.run, anchor=anchor, regression=change.drop)


def judged_run(rows: RunRows, summary: Summary, digests: Mapping[str, str]) -> JudgedRun:
    """The values of a stored run that a gate judges.

    Args:
        rows: Rows of the run.
        summary: Summary of the same rows.
        digests: See `RunScores.digests`.
    """
    return JudgedRun(
        scores=run_scores(rows, digests),
        total=summary.total.total,
        lost=summary.total.not_scored,
        cost_usd=summary.total.cost_usd,
        look=current_look(rows.run),
        stopped=rows.run.stopped is not None,
    )


def run_scores(rows: RunRows, digests: Mapping[str, str]) -> RunScores:
    """Scored trials of a run, without the cells of unreadable rows, which have no domain and no rate.

    Args:
        rows: Rows of the run.
        digests: See `RunScores.digests`.
    """
    planned = {plan.cell: plan.task_ids for plan in rows.run.cells}
    scores: dict[Cell, Scores] = {cell: {} for cell in planned}
    scores |= {cell.cell: scores_of(cell) for cell in rows.cells}
    cells = [
        CellScores(cell, cell_scores, planned.get(cell, ()))
        for cell, cell_scores in scores.items()
        if cell.domain != UNREAD_DOMAIN
    ]
    return RunScores(rows.run.run, rows.run.suite_digest, cells, digests, rows.run.trials)


def _rates(scores: Scores) -> dict[str, float]:
    """Share of passed trials of each task of a cell."""
    return {task_id: ratio.passed / ratio.total for task_id, ratio in ratios_of(scores).items()}


def _check(condition: str, verdict: Verdict, message: str) -> GateCheck:
    return GateCheck(condition=condition, verdict=verdict, message=message)


def _cost(most: float, run: JudgedRun) -> GateCheck:
    cost = run.cost_usd
    holds = cost is not None and cost <= most + TOLERANCE
    message = f"cost {dollars(cost)}; at most {dollars(most)} is allowed"
    return _check("maxCostUsd", "GO" if holds else "NO-GO", message)


def coverage_checks(gate: Gate, run: JudgedRun) -> list[GateCheck]:
    """Whether a run has few enough trials without a score: lost to infrastructure errors, and lost for any reason."""
    infra = count_lost(run.lost, Outcome.INFRA_ERROR)
    reasons = f" ({lost_text(run.lost)})" if run.lost else ""
    return [
        _share("maxInfraErrorRate", "infra errors", infra, run.total, gate.max_infra_error_rate),
        _share("maxUnscoredRate", "not scored", sum(run.lost.values()), run.total, gate.max_unscored_rate, reasons),
    ]


def _share(condition: str, name: str, count: int, total: int, most: float, reasons: str = "") -> GateCheck:
    rate = count / total if total else 0.0
    message = f"{name} {count} of {total} trials, {percent(rate)}{reasons}; at most {percent(most)} is allowed"
    return _check(condition, "GO" if rate <= most + TOLERANCE else "NO-GO", message)


# Success


def _success_checks(gate: Gate, scores: RunScores, confidences: Confidences) -> Iterator[GateCheck]:
    if gate.min_success_rate is not None:
        yield _success(gate.min_success_rate, confidences.means, scores, ignores=gate.unscored == "ignored")
    if gate.min_cell_success_rate is not None:
        yield _success_guard(gate.min_cell_success_rate, confidences.guards, scores)


def _success(least: float, confidence: float, scores: RunScores, *, ignores: bool) -> GateCheck:
    lost = scores.planned - scores.trials
    rates = scores.task_rates if ignores else scores.worst_rates
    trials = scores.trials if ignores else scores.planned
    without = [cell_name(cell_scores.cell) for cell_scores in scores.cells if not cell_scores.scores]

    def verdict(sample: Sequence[float]) -> Verdict:
        return _side(mean_interval(sample, trials * len(sample) // len(rates), _two_sided(confidence)), least)

    decided = verdict(rates) if scores.trials else "INCONCLUSIVE"
    if not scores.trials or (without and decided != "NO-GO"):
        message = f"success rate is not known: nothing is scored in {', '.join(without) or 'any cell'}"
        return _check("minSuccessRate", "INCONCLUSIVE", message)
    interval = mean_interval(rates, trials, _two_sided(confidence))
    low, high = (percent(interval.low), percent(interval.high)) if interval else ("", "")
    ends = f"{_bounds(confidence)} {low} and {high}, {_count(len(rates))}"
    message = f"success rate {percent(mean(rates))} ({ends}); at least {percent(least)} is required"
    if lost and ignores:
        message += f"; {lost} trials without a score are ignored, as the gate says"
    elif lost:
        message += f"; {lost} trials without a score count as failed, {percent(mean(scores.task_rates))} of the scored"
    if decided == "INCONCLUSIVE":
        message += _advice(_tasks_to_decide(rates, verdict))
    return _check("minSuccessRate", decided, message)


def _success_guard(least: float, confidence: float, scores: RunScores) -> GateCheck:
    """NO-GO if the rate of a cell is shown to be below the bound."""
    cells = {one.cell: _rates(one.scores) for one in scores.cells if one.scores}
    p_values = [
        p_mean_below(list(rates.values()), sum(len(one.scores) for one in scores.cells if one.cell == cell), least)
        for cell, rates in cells.items()
    ]
    lowest = {cell: mean(rates.values()) or 0.0 for cell, rates in cells.items()}
    message = f"at least {percent(least)} is required of each cell"
    texts = {cell: f"{percent(rate)} in {cell_name(cell)}" for cell, rate in lowest.items()}
    ranked = sorted(texts, key=lowest.__getitem__)
    return _guard("minCellSuccessRate", dict(zip(cells, p_values, strict=True)), ranked, texts, confidence, message)


def _guard(
    condition: str,
    p_values: Mapping[Cell, float],
    ranked: Sequence[Cell],
    texts: Mapping[Cell, str],
    confidence: float,
    requirement: str,
) -> GateCheck:
    """NO-GO if the tests of cells, corrected for their number, reject for any.

    Args:
        condition: Name of the condition.
        p_values: One-sided p-value of each cell.
        ranked: The same cells, the worst first.
        texts: Estimate of each cell.
        confidence: Confidence of the gate.
        requirement: What is required or allowed.
    """
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    shown = [cell for cell in ranked if adjusted[cell] <= 1 - confidence + TOLERANCE]
    if shown:
        cells = ", ".join(f"{texts[cell]} (p = {adjusted[cell]:.2g})" for cell in shown)
        return _check(condition, "NO-GO", f"success rate {cells}; {requirement}, p-values corrected for their number")
    worst = f"lowest: {texts[ranked[0]]}" if ranked else "no cell is scored"
    return _check(condition, "GO", f"no cell is shown to miss it: {worst}; {requirement}")


# Regression


@dataclass(frozen=True)
class _Change:
    """Paired differences of a run against an earlier one."""

    before: RunScores
    after: RunScores
    pairs: Mapping[Cell, Sequence[TaskRates]]
    """Common tasks of each cell that both runs have."""
    changed: frozenset[str]
    """Tasks that both runs scored and that are not compared, because their rows differ."""

    @classmethod
    def of(cls, before: RunScores, after: RunScores) -> _Change:
        earlier = {one.cell.key: one.scores for one in before.cells}
        common = [one for one in after.cells if one.cell.key in earlier]
        pairs = {one.cell: task_rates(one.cell, earlier[one.cell.key], one.scores) for one in common}
        changed = changed_tasks(before.digests, after.digests)
        return cls(
            before,
            after,
            {cell: [pair for pair in of_cell if pair.task_id not in changed] for cell, of_cell in pairs.items()},
            changed.intersection(pair.task_id for of_cell in pairs.values() for pair in of_cell),
        )

    @cached_property
    def strata(self) -> list[list[float]]:
        """Difference of each task, as the mean over cells, by domain."""
        return by_domain(over_cells([pair for pairs in self.pairs.values() for pair in pairs]))

    @cached_property
    def trials(self) -> int:
        """Number of pairs of trials; see `TaskRates.pairs`."""
        return round(sum(pair.pairs for pairs in self.pairs.values() for pair in pairs))

    @property
    def drop(self) -> float | None:
        """Drop of the mean over tasks; None without a common task."""
        change = mean(value for values in self.strata for value in values)
        return None if change is None else -change


def regression_interval(before: RunScores, after: RunScores, confidence: float) -> Interval | None:
    """Bounds of the change of the mean over tasks, as `maxRegression` judges it; None without a common task.

    Args:
        before: Scores of the baseline.
        after: Scores of the run.
        confidence: Confidence of each bound.
    """
    change = _Change.of(before, after)
    return _paired_interval(change.strata, change.trials, confidence)


def _regression_checks(
    gate: Gate, most: float, confidences: Confidences, change: _Change, baseline: Baseline
) -> Iterator[GateCheck]:
    yield _regression(most, confidences.means, change, baseline.note)
    compared = {cell: pairs for cell, pairs in change.pairs.items() if pairs}
    if len(compared) > 1 or gate.max_cell_regression is not None:
        bound = most if gate.max_cell_regression is None else gate.max_cell_regression
        yield _regression_guard(bound, confidences.guards, compared, change.before.run)
    if baseline.anchor is not None:
        yield _drift(most, confidences.means, _Change.of(baseline.anchor, change.after))


def _regression(most: float, confidence: float, change: _Change, note: str) -> GateCheck:
    strata, trials, earlier = change.strata, change.trials, change.before.run
    without = [cell_name(cell) for cell, pairs in change.pairs.items() if not pairs]
    notes = "".join(f"; {text}" for text in _notes(change, note))
    interval = _paired_interval(strata, trials, confidence)
    decided = _side(interval, -most)
    if interval is None or (without and decided != "NO-GO"):
        where = f"no task of {', '.join(without)}" if without else "no cell"
        message = f"regression is not known: {where} is scored here and in {earlier}{notes}"
        return _check("maxRegression", "INCONCLUSIVE", message)
    tasks, drop = sum(map(len, strata)), change.drop or 0.0
    message = (
        f"success rate {_down(drop)} "
        f"({_bounds(confidence)} {_down(-interval.low)} and {_down(-interval.high)}, {_count(tasks)}) "
        f"against {earlier}; a drop of {_points(most)} is allowed{notes}"
    )
    if decided == "INCONCLUSIVE":
        message += _advice(_tasks_to_narrow(tasks, (interval.high - interval.low) / 2, abs(drop - most)))
    return _check("maxRegression", decided, message)


def _paired_interval(strata: Sequence[Sequence[float]], trials: int, confidence: float) -> Interval | None:
    estimate = paired_mean(strata, trials)
    return None if estimate is None else estimate.interval(_two_sided(confidence))


def _regression_guard(
    most: float, confidence: float, compared: Mapping[Cell, Sequence[TaskRates]], earlier: str
) -> GateCheck:
    """NO-GO if the rate of a cell is shown to have fallen by more than the bound."""
    p_values, drops = {}, {}
    for cell, pairs in compared.items():
        estimate = paired_mean([[pair.difference for pair in pairs]], round(sum(pair.pairs for pair in pairs)))
        p_values[cell] = 1.0 if estimate is None else estimate.p_below(-most)
        drops[cell] = -(mean(pair.difference for pair in pairs) or 0.0)
    texts = {cell: f"{_down(drop)} in {cell_name(cell)}" for cell, drop in drops.items()}
    ranked = sorted(drops, key=lambda cell: -drops[cell])
    requirement = f"a drop of {_points(most)} of each cell against {earlier} is allowed"
    return _guard("maxCellRegression", p_values, ranked, texts, confidence, requirement)


def _drift(most: float, confidence: float, change: _Change) -> GateCheck:
    """NO-GO if the rate is shown to have fallen by more than the bound since the run that the series started from."""
    estimate, first = paired_mean(change.strata, change.trials), change.before.run
    if estimate is None or change.drop is None:
        return _check("drift", "GO", f"no task is scored here and in {first}, the first good run of the series")
    fell = estimate.p_below(-most) <= 1 - confidence + TOLERANCE
    message = (
        f"success rate {_down(change.drop)} since {first}, the first good run of the series; "
        f"a drop of {_points(most)} is allowed"
    )
    return _check("drift", "NO-GO" if fell else "GO", message)


def _notes(change: _Change, note: str) -> Iterator[str]:
    """Limits of a comparison, for its message."""
    if note:
        yield note
    if change.after.suite_digest != change.before.suite_digest:
        yield "the runs' suites differ, and only tasks of both count"
    if change.changed:
        yield changed_tasks_note(change.changed)
    new = _new_cells(change.after, {one.cell.key for one in change.before.cells})
    if new:
        yield f"not compared, since that run does not have it: {', '.join(new)}"


def _new_cells(scores: RunScores, before: Container[str]) -> list[str]:
    return [cell_name(one.cell) for one in scores.cells if one.cell.key not in before]


def _points(share: float) -> str:
    return f"{100 * share:.1f} points"


def _down(drop: float) -> str:
    return f"{'down' if drop > 0 else 'up'} {_points(abs(drop))}"


# Samples


def _two_sided(confidence: float) -> float:
    """Confidence of the interval whose either end is a bound with the given confidence."""
    return 2 * confidence - 1


def _bounds(confidence: float) -> str:
    return f"one-sided {100 * confidence:.4g}% bounds"


def _count(tasks: int) -> str:
    return "1 task" if tasks == 1 else f"{tasks} tasks"


def _side(interval: Interval | None, bound: float) -> Verdict:
    """GO if the whole interval reaches the bound, NO-GO if no part of it does, else INCONCLUSIVE."""
    if interval is None or interval.low < bound - TOLERANCE <= interval.high:
        return "INCONCLUSIVE"
    return "GO" if interval.low >= bound - TOLERANCE else "NO-GO"


def _advice(tasks: int | None) -> str:
    """What would decide a condition: the number of further tasks, None if they are too many."""
    if tasks is None:
        return "; that is too near to be distinguished by more tasks"
    return f"; about {_count(tasks)} more would probably decide"


def _tasks_to_narrow(tasks: int, half_width: float, distance: float) -> int | None:
    """Number of further tasks that would narrow an interval to its distance from a bound; None above `MAX_TASKS`."""
    if distance * math.sqrt(MAX_TASKS) <= half_width * math.sqrt(tasks):
        return None
    return max(1, math.ceil(tasks * (half_width / distance) ** 2) - tasks)


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
