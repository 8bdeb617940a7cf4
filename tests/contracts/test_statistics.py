"""Estimators against brute force, exact fractions and simulation."""

from __future__ import annotations

import itertools
import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsgym_core.results.statistics import (
    Interval,
    mean,
    mean_interval,
    pass_all,
    pass_at,
    quantile,
    stratified_interval,
    student,
)


def rounded(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return round(interval.low, 4), round(interval.high, 4)


def test_an_empty_sample_has_no_mean_quantile_or_interval() -> None:
    assert (mean([]), quantile([], 0.5), mean_interval([], 0)) == (None, None, None)


def test_a_quantile_is_an_observed_value() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [quantile(values, share) for share in (0.0, 0.2, 0.5, 0.95, 1.0)] == [1, 1, 3, 5, 5]
    assert quantile([1.0, 2.0], 0.5) == 1


@given(st.integers(1, 7), st.data())
def test_pass_at_k_and_pass_all_k_equal_enumeration_of_all_draws(trials: int, data: st.DataObject) -> None:
    passed, k = data.draw(st.integers(0, trials)), data.draw(st.integers(1, trials))
    draws = list(combinations([True] * passed + [False] * (trials - passed), k))
    assert pass_at(k, passed, trials) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_all(k, passed, trials) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_pass_at_k_and_pass_all_k_are_unbiased() -> None:
    rate, trials, k = 0.3, 5, 2
    weights = [math.comb(trials, passed) * rate**passed * (1 - rate) ** (trials - passed) for passed in range(6)]
    expected = sum(weight * pass_at(k, passed, trials) for passed, weight in enumerate(weights))
    assert expected == pytest.approx(1 - (1 - rate) ** k)
    expected = sum(weight * pass_all(k, passed, trials) for passed, weight in enumerate(weights))
    assert expected == pytest.approx(rate**k)


def test_one_trial_a_task_has_wilsons_interval() -> None:
    # 81 of 263: the worked example of Newcombe 1998, method 3.
    assert rounded(mean_interval([1.0] * 81 + [0.0] * 182, 263)) == (0.2553, 0.3662)
    assert rounded(mean_interval([0.0] * 20, 20)) == (0.0, 0.1611)
    assert rounded(mean_interval([1.0] * 20, 20)) == (0.8389, 1.0)


def test_repeated_equal_outcomes_do_not_narrow_the_interval() -> None:
    once = mean_interval([1.0] * 12 + [0.0] * 28, 40)
    often = mean_interval([1.0] * 12 + [0.0] * 28, 400)
    assert once is not None
    assert often is not None
    assert often.low <= once.low
    assert often.high >= once.high


def test_trials_that_differ_within_tasks_narrow_the_interval() -> None:
    draw = random.Random(1)
    rates = [sum(draw.random() < 0.3 for _ in range(10)) / 10 for _ in range(40)]
    several, one = mean_interval(rates, 400), mean_interval([1.0] * 12 + [0.0] * 28, 40)
    assert several is not None
    assert one is not None
    assert several.high - several.low < (one.high - one.low) / 2


@given(st.lists(st.lists(st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0]), max_size=12), min_size=1, max_size=4))
def test_an_interval_is_within_0_and_1_and_contains_the_mean(strata: list[list[float]]) -> None:
    interval = stratified_interval(strata, 3 * sum(map(len, strata)))
    means = [sum(rates) / len(rates) for rates in strata if rates]
    if not means:
        assert interval is None
        return
    assert interval is not None
    assert 0 <= interval.low <= sum(means) / len(means) + 1e-9
    assert sum(means) / len(means) - 1e-9 <= interval.high <= 1


@pytest.mark.parametrize(
    ("freedom", "confidence", "quantile"),
    [
        (1, 0.95, 12.7062),
        (2, 0.95, 4.3027),
        (3, 0.8, 1.6377),
        (3, 0.999, 12.9240),
        (4, 0.9, 2.1318),
        (5, 0.99, 4.0321),
        (10, 0.95, 2.2281),
        (30, 0.999, 3.6460),
        (50, 0.99, 2.6778),
        (60, 0.99, 2.6603),
        (120, 0.999, 3.3735),
    ],
)
def teststudents_quantile_equals_published_tables(freedom: int, confidence: float, quantile: float) -> None:
    assert student(freedom, confidence) == pytest.approx(quantile, abs=6e-5)


def test_the_two_approximations_ofstudents_quantile_join_monotonically() -> None:
    for confidence in (0.5, 0.8, 0.95, 0.99, 0.999):
        values = [student(freedom, confidence) for freedom in range(40, 61)]
        steps = [before - after for before, after in itertools.pairwise(values)]
        assert all(step > 0 for step in steps)
        assert steps == sorted(steps, reverse=True)


def test_an_interval_widens_with_the_confidence() -> None:
    for trials in (20, 60):
        intervals = [mean_interval([1.0] * 12 + [0.0] * 8, trials, confidence) for confidence in (0.5, 0.9, 0.99)]
        widths = [interval.high - interval.low for interval in intervals if interval is not None]
        assert (len(widths), widths) == (3, sorted(widths))


def test_an_interval_at_99_percent_is_wilsons() -> None:
    # Wilson's at 99 % for 81 of 263, by hand from z = 2.5758.
    z, n, p = 2.5758293, 263, 81 / 263
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    interval = mean_interval([1.0] * 81 + [0.0] * 182, 263, 0.99)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((middle - half, middle + half), abs=1e-6)


@pytest.mark.parametrize(("passed", "end"), [(1, 0.05129 / 20), (2, 0.35536 / 20), (3, 0.81769 / 20)])
def test_an_end_near_zero_or_one_is_that_of_poissons_distribution(passed: int, end: float) -> None:
    # Table 1 of Brown, Cai & DasGupta 2001: half the 5 % quantile of chi-square with 2, 4 and 6 degrees of freedom.
    low = mean_interval([1.0] * passed + [0.0] * (20 - passed), 20)
    high = mean_interval([0.0] * passed + [1.0] * (20 - passed), 20)
    assert low is not None
    assert high is not None
    assert low.low == pytest.approx(end, abs=1e-6)
    assert high.high == pytest.approx(1 - end, abs=1e-6)


def test_four_of_twenty_and_three_of_four_have_wilsons_ends() -> None:
    four, three = mean_interval([1.0] * 4 + [0.0] * 16, 20), mean_interval([1.0, 1.0, 1.0, 0.0], 4)
    assert four is not None
    assert three is not None
    assert four.low == pytest.approx(0.0807, abs=1e-4)
    assert three.low == pytest.approx(0.3006, abs=1e-4)


@pytest.mark.parametrize("tasks", [10, 20, 60])
def test_the_interval_of_one_domain_holds_at_every_rate(tasks: int) -> None:
    ends = [mean_interval([1.0] * passed + [0.0] * (tasks - passed), tasks) for passed in range(tasks + 1)]

    def held(rate: float) -> float:
        return sum(
            math.comb(tasks, passed) * rate**passed * (1 - rate) ** (tasks - passed)
            for passed, end in enumerate(ends)
            if end is not None and end.low <= rate <= end.high
        )

    coverage = {rate / 200: held(rate / 200) for rate in range(1, 200)}
    assert {rate: round(held, 3) for rate, held in coverage.items() if held < 0.915} == {}
    assert sum(coverage.values()) / len(coverage) > 0.95
