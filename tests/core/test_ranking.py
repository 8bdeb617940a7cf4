"""Rank intervals of agents."""

from __future__ import annotations

import random
from fractions import Fraction

from opsgym_core.results.ranking import PairTest, RankInterval, pair_tests, rank_intervals


def test_agents_that_no_test_tells_apart_share_all_ranks() -> None:
    tests = [PairTest(0, 1, 9, 0.1, 0.4), PairTest(0, 2, 9, 0.5, 0.01), PairTest(1, 2, 9, 0.4, 0.05)]
    ranks = rank_intervals(3, tests)
    assert ranks == [RankInterval(1, 2), RankInterval(1, 2), RankInterval(3, 3)]
    assert list(map(str, ranks)) == ["1–2", "1–2", "3"]
    assert rank_intervals(1, []) == [RankInterval(1, 1)]


def test_agents_without_a_common_task_are_not_told_apart() -> None:
    tests = pair_tests([{("itsm", "a", "d1"): Fraction(1)}, {("itsm", "a", "d2"): Fraction(0)}])
    assert tests == [PairTest(0, 1, 0, 0.0, 1.0)]


def test_of_equal_agents_all_ranks_are_held_with_the_confidence() -> None:
    draw, wrong = random.Random(3), 0
    for _ in range(200):
        rates = [draw.random() for _ in range(40)]
        agents = [
            {("itsm", str(task), ""): Fraction(int(draw.random() < rate)) for task, rate in enumerate(rates)}
            for _ in range(6)
        ]
        wrong += any(rank != RankInterval(1, 6) for rank in rank_intervals(6, pair_tests(agents)))
    assert wrong / 200 <= 0.08
