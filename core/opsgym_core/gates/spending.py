"""Confidence of each look at a run that may stop after any of its rounds.

Invariant: over all looks together, a bound misses the truth with a probability of at most 1 - `confidence`, whatever
the looks decide. The share of that probability that is spent grows with the square of the trials played (Kim and DeMets
1987, the power family of Lan and DeMets 1983), so that an early look stops on clear results only and the last one keeps
most of it.

Means: looks at the same tasks with more trials each have independent increments. The boundary is computed by recursive
integration (Armitage, McPherson and Rowe 1969) as if trials were all that varies; where tasks really changed, or the
baseline has fewer trials, looks are more alike than that, which makes the bounds safer. As repeated confidence
intervals (Jennison and Turnbull 1989) they hold at every look, also if a run goes on that could have stopped.

Guards: several tests at once, whose correlations are unknown. Each look tests them at what it spends itself, which is
valid whatever the correlations are (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import NormalDist

from opsgym_api.records.gate import Look

POWER = 2.0
"""Exponent of the spending function."""

_REACH = 7.0
"""Standard deviations after which the normal distribution is taken as 0."""

_POINTS = 8
"""Points of the integration for each standard deviation of its narrowest part."""


@dataclass(frozen=True)
class Confidences:
    """Confidences at one look."""

    means: float
    """Of each bound of a mean."""
    guards: float
    """Of the guards of cells."""
    spent: float = 1.0
    """Share of 1 - `confidence` that the looks up to this one have spent."""


def confidences_at(look: Look | None, confidence: float) -> Confidences:
    """Confidences of the bounds and guards of a gate at a look.

    Args:
        look: The look; None for a run with a fixed number of trials.
        confidence: Confidence of the gate.
    """
    if look is None:
        return Confidences(confidence, confidence)
    spent = _spent(look.rounds)
    before = spent[look.number - 2] if look.number > 1 else 0.0
    now, alpha = spent[look.number - 1], 1 - confidence
    return Confidences(1 - levels(look.rounds, alpha)[look.number - 1], 1 - alpha * (now - before), now)


def _spent(rounds: Sequence[int]) -> list[float]:
    """Share of the error probability that is spent after each look."""
    return [(trials / rounds[-1]) ** POWER for trials in rounds]


@lru_cache(maxsize=256)
def levels(rounds: tuple[int, ...], alpha: float) -> tuple[float, ...]:
    """One-sided level of each look, so that together they err with probability `alpha`.

    Args:
        rounds: Trials of each task at each look.
        alpha: Error probability of all looks together.
    """
    times = [trials / rounds[-1] for trials in rounds]
    spends = [alpha * (now - before) for before, now in zip([0.0, *_spent(rounds)], _spent(rounds), strict=False)]
    chosen: list[float] = []
    density = _Density([0.0], [1.0])
    for number, (time, spend) in enumerate(zip(times, spends, strict=True)):
        deviation, total = math.sqrt(time - (times[number - 1] if number else 0.0)), math.sqrt(time)
        bound = _quantile(partial(density.above, deviation=deviation), spend, total)
        chosen.append(NormalDist().cdf(-bound))
        if number + 1 < len(times):
            narrowest = min(deviation, math.sqrt(times[number + 1] - time))
            density = density.moved(deviation, total, bound, narrowest / _POINTS)
    return tuple(chosen)


@dataclass(frozen=True)
class _Density:
    """Density of the sum of a process that has not crossed its boundary yet, as weighted points."""

    points: Sequence[float]
    weights: Sequence[float]

    def above(self, bound: float, deviation: float) -> float:
        """Probability that a further normal step ends above a bound."""
        scale = deviation * math.sqrt(2)
        return math.fsum(
            weight * math.erfc((bound - point) / scale) / 2
            for point, weight in zip(self.points, self.weights, strict=True)
        )

    def moved(self, deviation: float, total: float, bound: float, step: float) -> _Density:
        """The density after a further normal step that stays below a boundary.

        Args:
            deviation: Standard deviation of the step.
            total: Standard deviation of the sum after the step.
            bound: The boundary, in units of `total`.
            step: Greatest distance of the new points.
        """
        low, high = -_REACH * total, bound * total
        parts = 2 * max(1, math.ceil((high - low) / (2 * step)))
        width = (high - low) / parts
        points = [low + number * width for number in range(parts + 1)]
        simpson = [width / 3 * (1 if number in {0, parts} else 4 if number % 2 else 2) for number in range(parts + 1)]
        scale = 1 / (deviation * math.sqrt(2 * math.pi))
        pairs = list(zip(self.points, self.weights, strict=True))
        weights = [
            factor
            * scale
            * math.fsum(weight * math.exp(-(((new - old) / deviation) ** 2) / 2) for old, weight in pairs)
            for new, factor in zip(points, simpson, strict=True)
        ]
        return _Density(points, weights)


def _quantile(above: Callable[[float], float], probability: float, total: float) -> float:
    """The bound, in units of `total`, that a sum exceeds with a probability."""
    low, high = -_REACH, _REACH
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle * total) > probability else (low, middle)
    return (low + high) / 2
