"""Estimators and tests for scores and comparisons. Pure, and exact where that is cheap.

Invariant: the sampled unit is the task. Several trials of one task carry less information than as many tasks, and every
interval accounts for that.

Sources:
    pass@k: Chen et al. 2021, Evaluating Large Language Models Trained on Code, section 2.1.
    pass^k: Yao et al. 2024, tau-bench, section 4.
    Score interval: Wilson 1927. On an effective sample size: Korn & Graubard 1998; compared by Franco et al. 2019.
    Paired difference: Bonett & Price 2012. Exact paired test: McNemar 1947.
    Student's distribution: Abramowitz & Stegun 1964, 26.7.3, 26.7.4 and 26.7.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

CONFIDENCE = 0.95
"""Default confidence level of intervals."""
_LARGE_SAMPLE = 50
"""Degrees of freedom above which the series for Student's quantile is exact to six digits."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def mean(values: Iterable[float]) -> float | None:
    """Arithmetic mean, independent of the order; None without values."""
    sample = list(values)
    return math.fsum(sample) / len(sample) if sample else None


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of values does not exceed (nearest rank); None without values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def pass_at(k: int, passed: int, trials: int) -> float:
    """Unbiased estimate of the probability that at least one of k trials passes (pass@k).

    Args:
        k: Number of trials drawn; 1 to `trials`.
        passed: Number of passed trials.
        trials: Number of trials.
    """
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_all(k: int, passed: int, trials: int) -> float:
    """Unbiased estimate of the probability that all of k trials pass (pass^k); arguments as for `pass_at`."""
    return math.comb(passed, k) / math.comb(trials, k)


def mean_interval(rates: Sequence[float], trials: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of a mean over tasks.

    Args:
        rates: Success rate of each task, from 0 to 1.
        trials: Number of trials of all tasks together.
        confidence: Confidence level, between 0 and 1.

    Returns:
        None without a task.
    """
    return stratified_interval([rates], trials, confidence)


def stratified_interval(
    strata: Sequence[Sequence[float]], trials: int, confidence: float = CONFIDENCE
) -> Interval | None:
    """Interval of the mean of several groups' means over tasks, each group with the same weight.

    Wilson's interval, with the number of independent trials that would vary as much as the tasks' rates do. With one
    group and one trial per task that is the number of tasks, so the interval is the ordinary Wilson interval. If tasks
    have several trials, the variance is an estimate and Student's quantile replaces the normal one.

    Args:
        strata: Success rate of each task, by group; empty groups are ignored.
        trials: Number of trials of all tasks together.
        confidence: Confidence level, between 0 and 1.

    Returns:
        None without a task.
    """
    groups = [rates for rates in strata if rates]
    if not groups:
        return None
    means = [math.fsum(rates) / len(rates) for rates in groups]
    tasks = sum(map(len, groups))
    center = min(1.0, max(0.0, math.fsum(means) / len(groups)))
    variance = (
        math.fsum(
            math.fsum((rate - middle) ** 2 for rate in rates) / len(rates) ** 2
            for rates, middle in zip(groups, means, strict=True)
        )
        / len(groups) ** 2
    )
    freedom = tasks - len(groups)
    estimated = trials > tasks and freedom > 0
    quantile_used = _student(freedom, confidence) if estimated else _normal(confidence)
    return _wilson(center, _effective(center, variance, tasks, trials), quantile_used)


def difference_interval(differences: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of the mean of paired differences, one per task, each from -1 to 1.

    One won and one lost task are added, so that an interval over few or no discordant tasks is not too narrow. With one
    trial per task this is the interval of Bonett and Price.

    Args:
        differences: Success rate of each task in one run minus that in the other.
        confidence: Confidence level, between 0 and 1.

    Returns:
        None without a task.
    """
    if not differences:
        return None
    count = len(differences) + 2
    center = math.fsum(differences) / count
    variance = (math.fsum(value * value for value in differences) + 2) / count - center * center
    half = _normal(confidence) * math.sqrt(max(0.0, variance) / count)
    return Interval(max(-1.0, center - half), min(1.0, center + half))


def mcnemar(lost: int, won: int) -> float:
    """Two-sided exact p-value of discordant pairs, under equal odds of lost and won; 1 without such pairs."""
    pairs = lost + won
    # Integers throughout: floats would overflow from a thousand discordant pairs on.
    term = tail = 1
    for count in range(min(lost, won)):
        term = term * (pairs - count) // (count + 1)
        tail += term
    return 1.0 if 2 * tail >= 2**pairs else 2 * tail / 2**pairs


def _effective(center: float, variance: float, tasks: int, trials: int) -> float:
    """Number of independent trials whose mean would have the same variance.

    At most the number of trials. Without variance, the number of tasks: agreement of a few tasks proves little about
    others.
    """
    return min(trials, center * (1 - center) / variance) if variance > 0 else tasks


def _wilson(center: float, count: float, quantile_used: float) -> Interval:
    square = quantile_used * quantile_used
    middle = (center + square / (2 * count)) / (1 + square / count)
    half = quantile_used / (1 + square / count) * math.sqrt(center * (1 - center) / count + square / (4 * count**2))
    # At 0 and 1 the bound equals the rate; computed, it would differ by a rounding error.
    return Interval(max(0.0, middle - half) if center > 0 else 0.0, min(1.0, middle + half) if center < 1 else 1.0)


def _normal(confidence: float) -> float:
    """Two-sided quantile of the normal distribution."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@lru_cache(maxsize=1024)
def _student(freedom: int, confidence: float) -> float:
    """Two-sided quantile of Student's distribution; exact up to `_LARGE_SAMPLE` degrees of freedom."""
    if freedom > _LARGE_SAMPLE:
        return _student_series(freedom, _normal(confidence))
    low, high = 0.0, math.pi / 2
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _student_share(freedom, middle) < confidence else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def _student_share(freedom: int, angle: float) -> float:
    """Probability of a value between -t and t, for t = √freedom · tan(angle)."""
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (power - 1) / power
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


def _student_series(freedom: int, z: float) -> float:
    """Student's quantile from the normal one, by the Cornish-Fisher expansion."""
    n = freedom
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )
