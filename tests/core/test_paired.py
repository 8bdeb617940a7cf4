"""Paired differences: intervals against published formulas, tests against enumeration and exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsgym_api.records.attempt import Cell
from opsgym_core.results.compare import TaskRates
from opsgym_core.results.paired import difference_interval, holm, paired_mean, sign_flip
from opsgym_core.results.score import Ratio

Z = NormalDist().inv_cdf(0.975)


def test_no_task_has_no_difference() -> None:
    assert (paired_mean([[], []], 0), difference_interval([], 0), sign_flip([])) == (None, None, 1.0)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_with_one_trial_a_task_a_difference_has_bonett_and_prices_interval(lost: int, won: int, same: int) -> None:
    tasks = lost + won + same
    interval = difference_interval([-1.0] * lost + [1.0] * won + [0.0] * same, tasks)
    if interval is None:
        assert not tasks
        return
    down, up = (lost + 1) / (tasks + 2), (won + 1) / (tasks + 2)
    half = Z * math.sqrt((down + up - (up - down) ** 2) / (tasks + 2))
    expected = max(-1, up - down - half), min(1, up - down + half)
    assert (interval.low, interval.high) == pytest.approx(expected)


def test_an_interval_narrows_with_trials() -> None:
    """20 unchanged tasks: with one trial ±12.6 points, with 20 trials a fraction of it."""
    halves = []
    for trials in (1, 4, 20):
        interval = difference_interval([0.0] * 20, 20 * trials)
        assert interval is not None
        halves.append(round((interval.high - interval.low) / 2, 3))
    assert halves == [0.126, 0.067, 0.03]


def test_differences_between_domains_do_not_widen_the_interval() -> None:
    up, down = [1.0, 0.0] * 20, [-1.0, 0.0] * 20
    together, apart = paired_mean([up + down], 80), paired_mean([up, down], 80)
    assert together is not None
    assert apart is not None
    assert apart.center == together.center == 0
    assert apart.error < 0.8 * together.error


def test_a_p_value_agrees_with_the_interval() -> None:
    for trials in (60, 300):
        estimate = paired_mean([[-0.2, -0.4, 0.0, 0.2] * 15], trials)
        assert estimate is not None
        assert estimate.p_below(estimate.interval(0.9).high) == pytest.approx(0.05)
        assert estimate.p_below(estimate.interval(0.9).low) == pytest.approx(0.95)


@given(st.lists(st.sampled_from([Fraction(n, d) for d in (1, 2, 3) for n in range(-d, d + 1)]), max_size=9))
def test_a_permutation_test_equals_enumeration_of_all_signs(differences: list[Fraction]) -> None:
    observed = abs(sum(differences, Fraction(0)))
    sums = [
        abs(sum((sign * value for sign, value in zip(signs, differences, strict=True)), Fraction(0)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    assert sign_flip(differences) == pytest.approx(sum(one >= observed for one in sums) / len(sums))


@given(st.integers(0, 40), st.integers(0, 40))
def test_with_one_trial_a_task_the_test_is_mcnemars(lost: int, won: int) -> None:
    pairs = lost + won
    chances = [Fraction(math.comb(pairs, count), 2**pairs) for count in range(pairs + 1)]
    as_rare = sum(chance for chance in chances if chance <= chances[lost])
    assert sign_flip([Fraction(-1)] * lost + [Fraction(1)] * won) == pytest.approx(float(as_rare))


def test_many_tasks_are_tested_without_overflow() -> None:
    exact = 2 * NormalDist().cdf((1000.5 - 1050) / math.sqrt(2100) * 2)
    assert sign_flip([Fraction(1)] * 1000 + [Fraction(-1)] * 1100) == pytest.approx(exact, rel=0.01)
    assert sign_flip([Fraction(-1)] * 3000) == 0


def test_above_the_limit_of_exact_work_the_p_value_is_close_to_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = [Fraction(value, 5) for value in (-4, -2, -1, 0, 1, 2, 3, 1, 1, 2) * 40]
    exact = sign_flip(differences)
    monkeypatch.setattr("opsgym_core.results.paired._EXACT_WORK", 0)
    assert sign_flip(differences) == pytest.approx(exact, rel=0.05)


def test_several_p_values_are_corrected_by_holms_method() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(("before", "after", "pairs"), [(4, 4, 4), (1, 3, 1.5), (3, 1, 1.5), (1, 100, 200 / 101)])
def test_unequal_trials_count_as_pairs_by_their_harmonic_mean(before: int, after: int, pairs: float) -> None:
    """The noise of a difference is that of both means: 1/before + 1/after, which is 2/pairs."""
    cell = Cell(model="m", agent="react", mode="oracle", domain="notes")
    rates = TaskRates(cell, "t", Ratio(0, before), Ratio(0, after))
    assert rates.pairs == pytest.approx(pairs)
    assert 2 / rates.pairs == pytest.approx(1 / before + 1 / after)
