"""The operator on simulated nodes: bounds of docs/scale.md that hold on any machine, with a tenth of a fleet."""

from __future__ import annotations

import pytest
from benchmarks import fleet
from devcluster.cluster import Cluster

pytestmark = [pytest.mark.timeout(1800), pytest.mark.soak]


@pytest.fixture(scope="module")
def figures(cluster: Cluster) -> fleet.Figures:
    measured = fleet.measure(fleet.TENTH)
    print("\n".join(measured.table()))
    return measured


def test_every_trial_is_scored_although_the_operator_is_killed_in_between(figures: fleet.Figures) -> None:
    assert figures.problems == []
    assert figures.scored == figures.size.total


def test_a_pod_costs_little_more_than_in_the_same_jobs_by_hand(figures: fleet.Figures) -> None:
    # CPU time, since the pods per second of two moments compare what else the machine does. With the operator it
    # contains the harvest of all trials, which nothing does by hand.
    assert figures.cost_ratio >= 0.4, figures.table()


def test_a_pass_leaves_the_event_loop_to_others(figures: fleet.Figures) -> None:
    assert figures.passes_cpu_s[0] <= fleet.MOST_PASS_CPU_S, figures.table()


def test_memory_is_bounded_also_after_a_restart_and_beside_finished_runs(figures: fleet.Figures) -> None:
    assert figures.most_mib <= fleet.MOST_MIB, figures.table()


def test_a_cell_takes_few_jobs(figures: fleet.Figures) -> None:
    assert figures.jobs <= 2 * figures.size.cells, figures.table()


def test_metrics_stay_within_their_bound(figures: fleet.Figures) -> None:
    assert figures.series <= fleet.MOST_SERIES, figures.table()
