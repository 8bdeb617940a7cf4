"""Ranks of several agents from their success on common tasks. Pure.

Invariant: two agents have disjoint rank intervals only if a paired test of their common tasks, corrected for the number
of pairs, tells them apart. All true ranks are within their intervals with the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

from opsgym_api.records.run import PlannedCell
from opsgym_core.results.paired import holm, sign_flip
from opsgym_core.results.rows import CellRows
from opsgym_core.results.statistics import CONFIDENCE

TaskKey: TypeAlias = tuple[str, str, str]
"""Domain, id and digest of a task; the digest is empty if it is not known."""
TaskShares: TypeAlias = Mapping[TaskKey, Fraction]
"""Share of passed trials of each scored task."""


@dataclass(frozen=True)
class PairTest:
    """Paired test of two agents over their common tasks."""

    first: int
    """Position of an agent."""
    second: int
    tasks: int
    """Number of common tasks."""
    difference: float
    """Mean of the first's success minus that of the second; 0 without a common task."""
    p_value: float
    """Two-sided, corrected for the number of pairs."""


@dataclass(frozen=True)
class RankInterval:
    """Ranks that an agent may have; 1 is the best."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


def task_shares(
    cells: Sequence[CellRows], digests: Mapping[str, str], planned: Sequence[PlannedCell] = (), trials: int = 0
) -> TaskShares:
    """Success of an agent on each task.

    Args:
        cells: Rows of its cells.
        digests: Digests of tasks, by id.
        planned: Its planned cells, of whose tasks trials without a score count as failed; empty leaves them out.
        trials: Planned trials of each task.
    """
    scores: dict[TaskKey, list[int]] = {
        (plan.cell.domain, task_id, digests.get(task_id, "")): [] for plan in planned for task_id in plan.task_ids
    }
    for cell in cells:
        for trial in cell.trials:
            key = cell.cell.domain, trial.task_id, digests.get(trial.task_id, "")
            scores.setdefault(key, []).append(trial.score)
    least = trials if planned else 0
    return {key: Fraction(sum(passed), max(len(passed), least)) for key, passed in scores.items()}


def pair_tests(agents: Sequence[TaskShares]) -> list[PairTest]:
    """Tests of every pair, corrected by Holm's method."""
    tests = [_test(first, second, agents) for first, second in combinations(range(len(agents)), 2)]
    adjusted = holm([test.p_value for test in tests])
    return [
        PairTest(test.first, test.second, test.tasks, test.difference, p_value)
        for test, p_value in zip(tests, adjusted, strict=True)
    ]


def _test(first: int, second: int, agents: Sequence[TaskShares]) -> PairTest:
    common = sorted(agents[first].keys() & agents[second].keys())
    differences = [agents[first][key] - agents[second][key] for key in common]
    mean = float(sum(differences, Fraction(0)) / len(differences)) if differences else 0.0
    return PairTest(first, second, len(common), mean, sign_flip(differences))


def rank_intervals(count: int, tests: Sequence[PairTest], confidence: float = CONFIDENCE) -> list[RankInterval]:
    """Rank interval of each agent.

    Args:
        count: Number of agents.
        tests: Tests of every pair.
        confidence: Confidence that all true ranks are within the intervals.
    """
    better, worse = [0] * count, [0] * count
    for test in tests:
        if test.p_value > 1 - confidence:
            continue
        winner, loser = (test.first, test.second) if test.difference > 0 else (test.second, test.first)
        better[loser] += 1
        worse[winner] += 1
    return [RankInterval(1 + above, count - below) for above, below in zip(better, worse, strict=True)]
