"""Paired differences of two runs or two models: their mean with an interval, and exact tests. Pure.

Invariant: the sampled unit is the task. With more trials of each task, intervals become narrower down to the width that
the differences between tasks allow.

Sources:
    Interval: Bonett & Price 2012, generalised to several trials of a task.
    Test: sign-flip permutation test, Fisher 1935; with one trial per task it is McNemar's exact test (1947).
    Several tests: Holm 1979.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from opsgym_core.results.statistics import CONFIDENCE, Interval, normal, student, student_below

_EXACT_WORK = 4_000_000
"""Additions up to which a permutation test is computed exactly, about 0.2 s; above, by the normal distribution."""


@dataclass(frozen=True)
class PairedMean:
    """Estimate of a mean of paired differences."""

    center: float
    """Middle of the intervals; drawn slightly towards 0."""
    error: float
    """Standard error of `center`; above 0."""
    freedom: int | None
    """Degrees of freedom of Student's distribution; None for the normal distribution."""

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Two-sided interval of the mean."""
        used = normal(confidence) if self.freedom is None else student(self.freedom, confidence)
        return Interval(max(-1.0, self.center - used * self.error), min(1.0, self.center + used * self.error))

    @property
    def p_value(self) -> float:
        """Two-sided p-value of the test whether the mean is 0: below 1 - c exactly if 0 is outside `interval(c)`."""
        return min(1.0, 2 * student_below(-abs(self.center) / self.error, self.freedom))

    def p_below(self, bound: float) -> float:
        """One-sided p-value of the test whether the mean is below a bound; small if it is."""
        return student_below((self.center - bound) / self.error, self.freedom)


def paired_mean(strata: Sequence[Sequence[float]], trials: int) -> PairedMean | None:
    """Mean of the paired differences of tasks, each task with the same weight.

    Two tasks are added, one won and one lost by 1/√k, where k is the number of trials per task, so that an interval
    over few or no discordant tasks is not too narrow. Differences between groups do not add to the error. With one
    group and one trial per task this is the estimate of Bonett and Price.

    Args:
        strata: Difference of each task, from -1 to 1, by group; empty groups are ignored.
        trials: Number of pairs of trials of all tasks together.

    Returns:
        None without a task.
    """
    groups = [values for values in strata if values]
    tasks = sum(map(len, groups))
    if not tasks:
        return None
    count, added = tasks + 2, 2 * tasks / max(trials, tasks)
    center = math.fsum(value for values in groups for value in values) / count
    if len(groups) == 1:
        squares = math.fsum(value * value for value in groups[0]) - count * center * center
    else:
        squares = math.fsum(_squares(values, center) for values in groups)
    freedom = tasks - len(groups) if trials > tasks > len(groups) else None
    return PairedMean(center, math.sqrt(max(0.0, squares) + added) / count, freedom)


def _squares(values: Sequence[float], center: float) -> float:
    """Sum of squared deviations from the group's mean, without bias; of a single task, from the mean of all groups."""
    if len(values) == 1:
        return (values[0] - center) ** 2
    middle = math.fsum(values) / len(values)
    return math.fsum((value - middle) ** 2 for value in values) * len(values) / (len(values) - 1)


def difference_interval(differences: Sequence[float], trials: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of the mean of paired differences, one per task; arguments as for `paired_mean`, in one group."""
    estimate = paired_mean([differences], trials)
    return None if estimate is None else estimate.interval(confidence)


def sign_flip(differences: Sequence[Fraction]) -> float:
    """Two-sided p-value of the sum of paired differences if the sign of each were random; 1 if all are 0.

    Exact; above `_EXACT_WORK`, where it makes no visible difference, by the normal distribution.

    Args:
        differences: Difference of each task.
    """
    scale = math.lcm(*(value.denominator for value in differences))
    steps = [abs(int(value * scale)) for value in differences if value]
    observed = abs(int(sum(differences) * scale))
    if not observed:
        return 1.0
    # The signs give a sum as far from 0 as the observed one, on one side, if the negative ones sum to at most this.
    most = (sum(steps) - observed) // 2
    if len(steps) * (most + 1) > _EXACT_WORK:
        z = (observed - math.gcd(*steps)) / math.sqrt(sum(step * step for step in steps))
        return min(1.0, 2 * student_below(-z, None))
    chances = [1.0] + [0.0] * most
    for step in steps:
        shifted = [0.0] * min(step, most + 1) + chances
        chances = [(keep + flip) / 2 for keep, flip in zip(chances, shifted, strict=False)]
    return min(1.0, 2 * math.fsum(chances))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number by Holm's method, in the given order."""
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return adjusted
