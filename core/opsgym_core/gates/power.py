"""Power of a gate: how often it says GO, INCONCLUSIVE and NO-GO, before anything is run.

Invariant: the verdicts are those of `judge.judge` on simulated runs, so every condition on scores counts; cost and
coverage are assumed to hold. The result depends on the arguments and a fixed seed alone.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import Look, Verdict
from opsgym_core.gates.judge import Baseline, CellScores, JudgedRun, RunScores, judge
from opsgym_core.gates.looks import is_decided
from opsgym_core.results.statistics import normal

VERDICTS: tuple[Verdict, ...] = ("GO", "INCONCLUSIVE", "NO-GO")

MAX_TASKS = 100_000
"""Upper bound of the search for a number of tasks."""


@dataclass(frozen=True)
class Variance:
    """Variance of the result of one trial of a random task."""

    tasks: float
    """Part between tasks: some are harder than others. More tasks reduce it, more trials do not."""
    trials: float
    """Part between the trials of a task, on average. Tasks and trials reduce it alike."""

    def narrowing(self, trials: int) -> float:
        """Share by which twice the trials per task narrow the bounds of a success rate; twice the tasks, by 1 - 1/√2.

        Args:
            trials: Trials per task now; at least 1.
        """
        now, then = (self.tasks + self.trials / count for count in (trials, 2 * trials))
        return 1 - math.sqrt(then / now) if now else 0.0


@dataclass(frozen=True)
class Assumptions:
    """What is assumed of tasks and agents."""

    rate: float = 0.5
    """Success rate of the baseline."""
    flips: float = 0.2
    """Share of tasks with another result in a second, unchanged run of one trial per task."""

    @property
    def variance(self) -> Variance:
        """Variance of the result of one trial, by where it comes from."""
        total = self.rate * (1 - self.rate)
        trials = min(total, self.flips / 2)
        return Variance(total - trials, trials)


@dataclass(frozen=True)
class Design:
    """What a gate judges."""

    cells: Mapping[Cell, Sequence[str]]
    """Ids of the tasks of each cell."""
    trials: int
    """Trials of each task in each cell; the most, if the design has rounds."""
    rounds: tuple[int, ...] = ()
    """Trials of each task at the end of each round; empty for a fixed number."""

    @property
    def looks(self) -> Sequence[Look]:
        """The looks at a run, in order; empty for a fixed number of trials."""
        return [Look(rounds=self.rounds, number=number + 1) for number in range(len(self.rounds))]

    @property
    def tasks(self) -> int:
        """Number of different tasks."""
        return len({(cell.domain, task_id) for cell, task_ids in self.cells.items() for task_id in task_ids})


@dataclass(frozen=True)
class SimulatedRun:
    """A simulated run that has ended, and the run it is compared with."""

    before: RunScores
    after: RunScores
    trials: int
    """Trials of each task that were played."""
    look: Look | None
    """The look at which it ended; None with a fixed number of trials."""
    verdict: Verdict


def simulated_runs(
    gate: Gate, design: Design, change: float, assumptions: Assumptions, runs: int
) -> Iterator[SimulatedRun]:
    """Pairs of runs as a gate ends and judges the second of each.

    Args:
        gate: The gate.
        design: Cells and trials; the earlier run of a pair has all trials.
        change: True change of the success rate of every cell.
        assumptions: Success rate and noise.
        runs: Number of pairs.
    """
    draw = random.Random(7)  # noqa: S311 - a simulation
    # Never decided by what a run costs or loses.
    on_scores = gate.model_copy(update={"max_cost_usd": None, "max_infra_error_rate": 1.0})
    for _ in range(runs):
        before, after = _runs(design, change, assumptions, draw)
        yield _played(on_scores, design, before, after)


def _played(gate: Gate, design: Design, before: RunScores, after: RunScores) -> SimulatedRun:
    """A pair of which the second run plays as many rounds as its gate wants."""
    baseline, looks = Baseline(before), iter(design.looks)
    while True:
        look = next(looks, None)
        trials = look.trials if look else design.trials
        run = JudgedRun(_first_trials(after, trials), total=trials, lost={}, cost_usd=0.0, look=look)
        judgement = judge(gate, run, baseline)
        if look is None or look.last or is_decided(judgement, baseline):
            return SimulatedRun(before, run.scores, trials, look, judgement.verdict)


def _first_trials(scores: RunScores, trials: int) -> RunScores:
    cells = [
        CellScores(one.cell, {key: score for key, score in one.scores.items() if key[1] < trials})
        for one in scores.cells
    ]
    return RunScores(scores.run, scores.suite_digest, cells)


@dataclass(frozen=True)
class Power:
    """How often a gate gives each verdict, and what that takes."""

    shares: Mapping[Verdict, float]
    trials: float
    """Mean number of trials of each task."""


def power_of(gate: Gate, design: Design, change: float, assumptions: Assumptions, runs: int) -> Power:
    """Shares of the verdicts of a gate over simulated pairs of runs; arguments as for `simulated_runs`."""
    ended = list(simulated_runs(gate, design, change, assumptions, runs))
    verdicts = Counter(run.verdict for run in ended)
    shares: dict[Verdict, float] = {verdict: verdicts[verdict] / runs for verdict in VERDICTS}
    return Power(shares, sum(run.trials for run in ended) / runs)


def tasks_needed(most: float, power: float, flips: float, confidence: float, trials: int = 1) -> int | None:
    """Number of common tasks with which `maxRegression` says GO with a given power if nothing changed.

    Args:
        most: The allowed drop.
        power: Probability of GO, for example 0.8.
        flips: As in `Assumptions`.
        confidence: Confidence of the gate.
        trials: Trials per task.

    Returns:
        None above `MAX_TASKS`.
    """
    low, high = 0, MAX_TASKS
    if _power(high, most, flips, confidence, trials) < power:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(middle, most, flips, confidence, trials) >= power else (middle, high)
    return high


def _power(tasks: int, most: float, flips: float, confidence: float, trials: int) -> float:
    """Probability that the lower bound of the paired mean clears the allowed drop, by the normal distribution."""
    deviation = math.sqrt(tasks * flips / trials) / (tasks + 2)
    error = math.sqrt((tasks * flips + 2) / trials) / (tasks + 2)
    return NormalDist().cdf((most - normal(2 * confidence - 1) * error) / deviation)


def _runs(design: Design, change: float, assumptions: Assumptions, draw: random.Random) -> tuple[RunScores, RunScores]:
    before, after = [], []
    for cell, task_ids in design.cells.items():
        first: dict[tuple[str, int], int] = {}
        second: dict[tuple[str, int], int] = {}
        for task_id in task_ids:
            rate = task_rate(assumptions, draw)
            changed = _changed(rate, change, assumptions.rate)
            for trial in range(design.trials):
                first[task_id, trial] = int(draw.random() < rate)
                second[task_id, trial] = int(draw.random() < changed)
        before.append(CellScores(cell, first))
        after.append(CellScores(cell, second))
    return RunScores("before", "", before), RunScores("after", "", after)


def task_rate(assumptions: Assumptions, draw: random.Random) -> float:
    """Success rate of a task: beta distributed with the assumed mean, and flips of 2·E[p(1-p)]."""
    rate = assumptions.rate
    share = assumptions.flips / (2 * rate * (1 - rate)) if 0 < rate < 1 else 1.0
    if share >= 1:
        return rate
    if share <= 0:
        return float(draw.random() < rate)
    size = share / (1 - share)
    return draw.betavariate(rate * size, (1 - rate) * size)


def _changed(rate: float, change: float, mean: float) -> float:
    """Rate of a task after a change of the mean: every passed or failed trial is turned with the same probability."""
    if change < 0:
        return rate * max(0.0, 1 + change / mean)
    return rate + (1 - rate) * min(1.0, change / (1 - mean)) if change else rate
