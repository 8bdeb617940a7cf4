"""Coverage of the intervals and power of the gates, by simulation.

Invariant: every table is a function of its scenarios, the number of rounds and a fixed seed. A task is drawn with a
rate of its own, then its trials; the truth is the mean of the distribution that rates are drawn from.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import Verdict
from opsgym_core.gates.judge import regression_interval
from opsgym_core.gates.power import Assumptions, Design, SimulatedRun, power_of, simulated_runs
from opsgym_core.gates.spending import confidences_at
from opsgym_core.planning.rounds import rounds_between
from opsgym_core.results.paired import paired_mean
from opsgym_core.results.statistics import Interval, mean_interval, stratified_interval

ROUNDS = 4000
NIGHTS = 500
"""Simulated nights of each gate."""
PUBLISHED_SIZES = (61, 103, 67, 103, 61, 102, 64, 88)
"""Tasks of the domains of the published public split."""


@dataclass(frozen=True)
class Strata:
    """Domains of a run."""

    groups: Sequence[tuple[int, float]]
    """Number of tasks and mean success rate of each domain."""
    trials: int = 1
    certainty: float = 1.0
    """Sum of the parameters of the beta distribution of tasks' rates: near 0, a task always passes or always fails."""


STRATA: Mapping[str, Strata] = {
    "1 × 20, rate 0.05": Strata([(20, 0.05)]),
    "1 × 20, 3 trials": Strata([(20, 0.3)], 3),
    "1 × 60, 8 trials": Strata([(60, 0.3)], 8),
    "published sizes": Strata([(tasks, 0.35) for tasks in PUBLISHED_SIZES]),
    "published sizes, 3 trials": Strata([(tasks, 0.35) for tasks in PUBLISHED_SIZES], 3),
    "8 × 10": Strata([(10, 0.3)] * 8),
    "8 × 10, rate 0.1": Strata([(10, 0.1)] * 8),
    "8 × 10, rates 0.1 to 0.9": Strata([(10, rate) for rate in (0.1, 0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 0.9)]),
    "8 × 10, 4 trials": Strata([(10, 0.3)] * 8, 4, 0.7),
    "8 × 5": Strata([(5, 0.5)] * 8),
    "8 × 5, 3 trials": Strata([(5, 0.3)] * 8, 3),
    "8 × 1": Strata([(1, 0.3)] * 8),
    "100 and 2": Strata([(100, 0.5), (2, 0.6)]),
    "60 and 4": Strata([(60, 0.3), (4, 0.3)]),
    "60 and 4, 8 trials": Strata([(60, 0.3), (4, 0.6)], 8),
    "7 and 1": Strata([(7, 0.3), (1, 0.3)]),
    "100 and 10, 3 trials": Strata([(100, 0.5), (10, 0.2)], 3),
    "40, 20, 10, 5, 3": Strata([(40, 0.3), (20, 0.2), (10, 0.5), (5, 0.4), (3, 0.6)]),
    "7 × 12 and 2": Strata([*[(12, 0.3)] * 7, (2, 0.3)]),
    "20 and 5, 20 trials": Strata([(20, 0.5), (5, 0.5)], 20),
}
"""Domains of unequal sizes; several of them are what `suite.limit` or lost trials leave."""


@dataclass(frozen=True)
class Pairs:
    """Two runs of the same tasks."""

    tasks: int
    trials: int
    change: Callable[[random.Random], tuple[float, float]]
    """Draws the rates of a task in the two runs."""
    truth: float
    """Mean difference."""
    cells: int = 1
    """Cells that have the same tasks and the same change of each task."""


def _unchanged(draw: random.Random) -> tuple[float, float]:
    rate = draw.betavariate(1 / 3, 1 / 3)
    return rate, rate


def _improved(draw: random.Random) -> tuple[float, float]:
    return draw.betavariate(1, 1), draw.betavariate(2, 1)


def _worse(draw: random.Random) -> tuple[float, float]:
    rate = draw.betavariate(1, 1)
    return rate, 0.8 * rate


def _swapped(draw: random.Random) -> tuple[float, float]:
    """One task in ten is lost for good, as many are won."""
    chance = draw.random()
    return (1.0, 0.0) if chance < 0.1 else (0.0, 1.0) if chance < 0.2 else (1.0, 1.0)


PAIRS: Mapping[str, Pairs] = {
    "60 tasks, unchanged": Pairs(60, 1, _unchanged, 0.0),
    "60 tasks, a fifth worse": Pairs(60, 1, _worse, -0.1),
    "160 tasks, a fifth worse": Pairs(160, 1, _worse, -0.1),
    "20 tasks × 3, a fifth worse": Pairs(20, 3, _worse, -0.1),
    "20 tasks × 20, a fifth worse": Pairs(20, 20, _worse, -0.1),
    "40 tasks × 3, other rates": Pairs(40, 3, _improved, 2 / 3 - 1 / 2),
    "60 tasks × 8, unchanged": Pairs(60, 8, _unchanged, 0.0),
    "100 tasks × 20, unchanged": Pairs(100, 20, _unchanged, 0.0),
    "50 tasks in 4 cells, swapped": Pairs(50, 1, _swapped, 0.0, 4),
    "50 tasks in 8 cells, swapped": Pairs(50, 1, _swapped, 0.0, 8),
}


@dataclass(frozen=True)
class Coverage:
    """Result of a simulation."""

    covered: float
    """Share of rounds in which the interval holds the truth."""
    width: float
    """Mean width of the interval."""
    rejected: float | None = None
    """Share of rounds in which the test rejects equality at 5 %; None without a test."""


def coverage_of_means(strata: Strata, rounds: int) -> Coverage:
    """Coverage of the interval of the mean over domains."""
    truth = sum(rate for _, rate in strata.groups) / len(strata.groups)
    draw = random.Random(5)
    return _covered([_interval_of_mean(strata, draw) for _ in range(rounds)], truth)


def coverage_of_differences(pairs: Pairs, rounds: int) -> Coverage:
    """Coverage of the paired interval, and rejections of the test that belongs to it."""
    draw = random.Random(6)
    samples = [[_difference(pairs, draw) for _ in range(pairs.tasks)] for _ in range(rounds)]
    trials = pairs.tasks * pairs.trials * pairs.cells
    estimates = [paired_mean([list(map(float, sample))], trials) for sample in samples]
    covered = _covered([estimate.interval() for estimate in estimates if estimate], pairs.truth)
    rejected = sum(estimate.p_value <= 0.05 for estimate in estimates if estimate) / rounds
    return Coverage(covered.covered, covered.width, rejected)


def _interval_of_mean(strata: Strata, draw: random.Random) -> Interval:
    shares = [[_share(draw, rate, strata) for _ in range(tasks)] for tasks, rate in strata.groups]
    trials = strata.trials * sum(map(len, shares))
    result = mean_interval(shares[0], trials) if len(shares) == 1 else stratified_interval(shares, trials)
    assert result is not None
    return result


def _share(draw: random.Random, rate: float, strata: Strata) -> float:
    own = draw.betavariate(rate * strata.certainty, (1 - rate) * strata.certainty)
    return _passed(draw, own, strata.trials) / strata.trials


def _difference(pairs: Pairs, draw: random.Random) -> Fraction:
    before, after = pairs.change(draw)
    trials = pairs.trials * pairs.cells
    return Fraction(_passed(draw, after, trials) - _passed(draw, before, trials), trials)


def _passed(draw: random.Random, rate: float, trials: int) -> int:
    return sum(draw.random() < rate for _ in range(trials))


def _covered(intervals: Sequence[Interval], truth: float) -> Coverage:
    # Bounds at the truth itself differ from it by rounding.
    held = sum(one.low - 1e-9 <= truth <= one.high + 1e-9 for one in intervals)
    width = sum(one.high - one.low for one in intervals)
    return Coverage(held / len(intervals), width / len(intervals))


async def measure() -> list[str]:
    """Lines of the report."""
    return [*_means(), "", *_differences(), "", *_powers(), "", *_adaptive()]


def _means() -> Iterator[str]:
    yield f"Mean over domains, 95 % interval, {ROUNDS:,} rounds each:"
    yield ""
    yield "| tasks of the domains | holds | mean width |"
    yield "| --- | --- | --- |"
    for name, strata in STRATA.items():
        result = coverage_of_means(strata, ROUNDS)
        yield f"| {name} | {result.covered:.1%} | {result.width:.3f} |"


def _differences() -> Iterator[str]:
    yield f"Difference of two runs, 95 % interval and its test at 5 %, {ROUNDS:,} rounds each:"
    yield ""
    yield "| runs | holds | mean width | rejects equality |"
    yield "| --- | --- | --- | --- |"
    for name, pairs in PAIRS.items():
        result = coverage_of_differences(pairs, ROUNDS)
        yield f"| {name} | {result.covered:.1%} | {result.width:.3f} | {result.rejected or 0:.1%} |"


DESIGNS: Mapping[str, tuple[Sequence[int], int, float]] = {
    "8 × 10": ((10,) * 8, 1, 0.1),
    "8 × 20": ((20,) * 8, 1, 0.1),
    "8 × 60": ((60,) * 8, 1, 0.06),
    "published sizes": (PUBLISHED_SIZES, 1, 0.05),
    "8 × 10, 3 trials": ((10,) * 8, 3, 0.1),
    "1 × 127": ((127,), 1, 0.1),
}
"""Tasks of the domains, trials and `maxRegression` of nightly runs of one model."""


def _powers() -> Iterator[str]:
    yield f"Verdicts of gates with 20 % flips, {NIGHTS:,} nights each, by true change:"
    yield ""
    yield "| tasks of the domains | maxRegression | none: GO | none: NO-GO | the allowed drop: GO | twice that: NO-GO |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, (sizes, trials, most) in DESIGNS.items():
        gate, design = Gate(last_good=True, max_regression=most), Design(_cells(sizes), trials)
        same, limit, worse = (
            power_of(gate, design, change, Assumptions(), NIGHTS).shares for change in (0.0, -most, -2 * most)
        )
        shares = (same["GO"], same["NO-GO"], limit["GO"], worse["NO-GO"])
        yield f"| {name} | {most} | {' | '.join(f'{share:.0%}' for share in shares)} |"


def _cells(sizes: Sequence[int]) -> dict[Cell, list[str]]:
    return {
        Cell(model="m", agent="react", mode="oracle", domain=f"d{number}"): [f"t{n}" for n in range(size)]
        for number, size in enumerate(sizes)
    }


ADAPTIVE: Mapping[str, tuple[Sequence[int], int, int, float]] = {
    "8 × 10": ((10,) * 8, 1, 4, 0.1),
    "8 × 20": ((20,) * 8, 1, 3, 0.1),
    "8 × 5": ((5,) * 8, 2, 8, 0.1),
    "1 × 127": ((127,), 1, 2, 0.1),
}
"""Tasks of the domains, `minTrials`, `trials` and `maxRegression` of nightly runs of one model that may stop early."""


@dataclass(frozen=True)
class AdaptiveRuns:
    """Simulated runs with rounds, under one true change."""

    runs: Sequence[SimulatedRun]
    most: int
    """Trials of each task without an early stop."""
    change: float
    """True change of the mean."""

    def share(self, verdict: Verdict) -> float:
        """Share of runs with a verdict."""
        return sum(run.verdict == verdict for run in self.runs) / len(self.runs)

    @property
    def played(self) -> float:
        """Share of the trials that were played."""
        return sum(run.trials for run in self.runs) / len(self.runs) / self.most

    def held(self, confidence: float, *, corrected: bool) -> float:
        """Share of runs whose bounds hold the true change where they ended.

        Args:
            confidence: Confidence of each bound.
            corrected: Whether the bounds are those of the look at which a run ended, or as if it had been the only one.
        """
        intervals = [
            regression_interval(
                run.before, run.after, confidences_at(run.look if corrected else None, confidence).means
            )
            for run in self.runs
        ]
        return _covered([interval for interval in intervals if interval is not None], self.change).covered


def adaptive_runs(sizes: Sequence[int], rounds: tuple[int, ...], most: float, change: float, runs: int) -> AdaptiveRuns:
    """Simulates runs with rounds against an earlier run with all trials.

    Args:
        sizes: Tasks of the domains.
        rounds: Trials of each task at the end of each round.
        most: `maxRegression`.
        change: True change of the success rate.
        runs: Number of runs.
    """
    gate, design = Gate(last_good=True, max_regression=most), Design(_cells(sizes), rounds[-1], rounds)
    return AdaptiveRuns(list(simulated_runs(gate, design, change, Assumptions(), runs)), rounds[-1], change)


def _adaptive() -> Iterator[str]:
    yield f"Gates with `minTrials` and 20 % flips, {NIGHTS:,} nights each, by true change; bounds at 95 % each:"
    yield ""
    yield (
        "| tasks of the domains | looks after | maxRegression | none: GO | none: played | the allowed drop: GO "
        "| the allowed drop: NO-GO | twice that: NO-GO | twice that: played | bounds hold | uncorrected |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, (sizes, first, trials, most) in ADAPTIVE.items():
        rounds = rounds_between(first, trials)
        same, limit, worse = (adaptive_runs(sizes, rounds, most, change, NIGHTS) for change in (0.0, -most, -2 * most))
        shares = [same.share("GO"), same.played, limit.share("GO"), limit.share("NO-GO"), worse.share("NO-GO")]
        held = [min(one.held(0.95, corrected=way) for one in (same, limit, worse)) for way in (True, False)]
        figures = " | ".join(f"{share:.0%}" for share in (*shares, worse.played, *held))
        yield f"| {name} | {', '.join(map(str, rounds))} | {most} | {figures} |"
