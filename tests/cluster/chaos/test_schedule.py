"""Schedules of faults: repeatable, complete and within their duration."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from tests.cluster.chaos.faults import FAULTS
from tests.cluster.chaos.schedule import Kind, plan_faults

KINDS = [kind for kind, _ in FAULTS.values()]


def test_a_seed_gives_the_same_schedule_every_time_and_another_seed_another_one() -> None:
    assert plan_faults("a", 600, KINDS) == plan_faults("a", 600, KINDS)
    assert plan_faults("a", 600, KINDS) != plan_faults("b", 600, KINDS)


@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_faults_of_a_sequence_follow_one_another_and_end_in_time(seed: str) -> None:
    planned = plan_faults(seed, 600, KINDS)
    assert planned == sorted(planned, key=lambda fault: fault.at)
    for shared in (True, False):
        sequence = [fault for fault in planned if (not fault.tenants) is shared]
        gaps = [after.at - before.at - before.seconds - after.pause for before, after in pairwise(sequence)]
        assert max(gaps, key=abs) == pytest.approx(0, abs=0.2)
        assert sequence[-1].at + sequence[-1].seconds <= 600


def test_every_kind_comes_before_any_comes_again_within_its_limits() -> None:
    planned = plan_faults("a", 3600, KINDS)
    counts = Counter(fault.fault for fault in planned)
    assert set(counts) == set(FAULTS)
    for shared in (True, False):
        of_sequence = [counts[kind.name] for kind in KINDS if (not kind.groups) is shared]
        assert max(of_sequence) - min(of_sequence) <= 1
    for fault in planned:
        kind = FAULTS[fault.fault][0]
        assert kind.seconds[0] - 0.1 <= fault.seconds <= kind.seconds[1] + 0.1
        assert fault.tenants in (kind.groups or ((),))


def test_without_kinds_nothing_is_planned() -> None:
    assert plan_faults("a", 600, []) == []
    assert [fault.tenants for fault in plan_faults("a", 20, [Kind("only", (("x",),), (5, 5))])] == [("x",)]
