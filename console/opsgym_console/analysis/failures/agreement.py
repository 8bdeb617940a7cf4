"""Agreement on failure modes, mode by mode: people among themselves, rules and judges against people.

Invariant: an agreement is measured on trials that people labelled, with an interval, or it is None. A mode on which
people do not agree is not to be published, from any source.

Sources. Kappa: Cohen 1960; its standard error: Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969. Corrected
prevalence: prediction-powered inference of a mean (Angelopoulos et al., Science 382, 2023), with the project's interval
of paired differences (Bonett and Price 2012) for the error of the labels.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from opsgym_console.analysis.failures.findings import Mode
from opsgym_core.results.paired import difference_interval
from opsgym_core.results.statistics import CONFIDENCE, Interval, mean, normal

Trial: TypeAlias = tuple[str, str, int]
"""Key of the cell, task id and number of a trial."""
Labels: TypeAlias = Mapping[Trial, Collection[str]]
"""Modes of each labelled trial, possibly none."""

LEAST_KAPPA = 0.6
"""Kappa below which a mode is not to be published: the lower end of substantial agreement (Landis and Koch 1977)."""
_EMPTY_CELL = 0.5
"""Added to every cell of a table with an empty one, for the interval: few trials that agree do not prove agreement."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of two raters on one mode."""

    trials: int
    """Trials that both labelled."""
    kappa: float | None
    """None if no trial was labelled by both, or if both gave the same label to all of them."""
    interval: Interval | None
    """None without `kappa`."""

    @property
    def publishable(self) -> bool:
        """Whether a share of the mode may be published."""
        return self.kappa is not None and self.kappa >= LEAST_KAPPA


@dataclass(frozen=True)
class Prevalence:
    """Share of a run's failed trials that have a mode, corrected for the error of the labels of a rater."""

    raw: float
    """Share by the rater's labels."""
    corrected: float
    interval: Interval | None


@dataclass(frozen=True)
class RaterAgreement:
    """Rules or a judge against people, on one mode."""

    agreement: Agreement
    prevalence: Prevalence | None
    """None if no person labelled a trial of the rater."""


@dataclass(frozen=True)
class ModeAgreement:
    """Everything measured about one mode."""

    people: Agreement
    """People among themselves, each two who labelled the same trial."""
    raters: Mapping[str, RaterAgreement]
    """Rules and judges against people, by name."""


def kappa(table: Sequence[float], trials: int, confidence: float = CONFIDENCE) -> Agreement:
    """Cohen's kappa of two raters with its interval.

    Args:
        table: Number of trials in which both give the mode, only the first does, only the second does, neither does.
        trials: Number of trials, for the result.
        confidence: Confidence level of the interval.
    """
    estimate = _kappa(table)
    if estimate is None:
        return Agreement(trials, None, None)
    smoothed = [cell + _EMPTY_CELL for cell in table] if 0 in table else table
    center = _kappa(smoothed)
    if center is None:
        return Agreement(trials, estimate, None)
    half = normal(confidence) * _standard_error(smoothed, center)
    low, high = min(estimate, center - half), max(estimate, center + half)
    return Agreement(trials, estimate, Interval(max(-1.0, low), min(1.0, high)))


def _shares(table: Sequence[float]) -> tuple[list[float], float, float]:
    """Shares of the cells, and how often each rater gives the mode."""
    total = math.fsum(table)
    both, first, second, neither = (cell / total for cell in table)
    return [both, first, second, neither], both + first, both + second


def _kappa(table: Sequence[float]) -> float | None:
    if not math.fsum(table):
        return None
    (both, _, _, neither), first, second = _shares(table)
    expected = first * second + (1 - first) * (1 - second)
    return None if math.isclose(expected, 1) else (both + neither - expected) / (1 - expected)


def _standard_error(table: Sequence[float], estimate: float) -> float:
    (both, only_first, only_second, neither), first, second = _shares(table)
    expected = first * second + (1 - first) * (1 - second)
    rest = 1 - estimate
    same = both * (1 - (first + second) * rest) ** 2 + neither * (1 - (2 - first - second) * rest) ** 2
    # An off-diagonal cell is weighted by the other rater's margin of its column and the first one's of its row.
    crossed = only_first * (second + 1 - first) ** 2 + only_second * (1 - second + first) ** 2
    variance = same + rest**2 * crossed - (estimate - expected * rest) ** 2
    return math.sqrt(max(0.0, variance) / math.fsum(table)) / (1 - expected)


def measure(people: Mapping[str, Labels], raters: Mapping[str, Labels]) -> dict[str, ModeAgreement]:
    """Agreement on every mode.

    Args:
        people: Labels of each person.
        raters: Labels of the rules and of each judge, over all trials that they labelled.
    """
    return {
        mode.value: ModeAgreement(
            _among(people.values(), mode),
            {name: _against(labels, people.values(), mode) for name, labels in raters.items()},
        )
        for mode in Mode
    }


def _among(people: Iterable[Labels], mode: str) -> Agreement:
    """Every two people who labelled the same trial; a trial counts once, however many people labelled it."""
    by_trial: Mapping[Trial, list[bool]] = defaultdict(list)
    for labels in people:
        for trial, modes in labels.items():
            by_trial[trial].append(mode in modes)
    # Who of two people is the first has no meaning, so each pair counts half in either order.
    votes = {trial: given for trial, given in by_trial.items() if len(given) > 1}
    pairs = {
        trial: [order for pair in combinations(given, 2) for order in (pair, pair[::-1])]
        for trial, given in votes.items()
    }
    return _pooled(pairs)


def _against(rater: Labels, people: Iterable[Labels], mode: str) -> RaterAgreement:
    by_trial: Mapping[Trial, list[bool]] = defaultdict(list)
    for labels in people:
        for trial, modes in labels.items():
            if trial in rater:
                by_trial[trial].append(mode in modes)
    pairs = {trial: [(mode in rater[trial], given) for given in votes] for trial, votes in by_trial.items()}
    return RaterAgreement(_pooled(pairs), corrected_prevalence(rater, by_trial, mode))


def _pooled(pairs: Mapping[Trial, Sequence[tuple[bool, bool]]]) -> Agreement:
    cells = dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 0.0)
    for of_trial in pairs.values():
        for pair in of_trial:
            cells[pair] += 1 / len(of_trial)
    return kappa(list(cells.values()), len(pairs))


def corrected_prevalence(rater: Labels, people: Mapping[Trial, Sequence[bool]], mode: str) -> Prevalence | None:
    """The rater's share over all its trials, plus its mean error on those that people labelled.

    Args:
        rater: Labels of the rater.
        people: For each trial that people labelled too, whether each of them gave the mode.
        mode: The mode.
    """
    if not people:
        return None
    raw = sum(mode in modes for modes in rater.values()) / len(rater)
    by_task: Mapping[str, list[float]] = defaultdict(list)
    for trial, votes in people.items():
        by_task[trial[1]].append(sum(votes) / len(votes) - (mode in rater[trial]))
    errors = [math.fsum(of_task) / len(of_task) for of_task in by_task.values()]
    interval = difference_interval(errors, len(people))
    limits = None if interval is None else Interval(_share(raw + interval.low), _share(raw + interval.high))
    return Prevalence(raw, _share(raw + (mean(errors) or 0.0)), limits)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
