"""The operator on simulated nodes: bounds of docs/scale.md that do not depend on the machine, with a small fleet."""

from __future__ import annotations

import pytest
from benchmarks import fleet
from devcluster.cluster import Cluster

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def figures(cluster: Cluster) -> fleet.Figures:
    measured = fleet.measure(fleet.SMALL)
    print("\n".join(measured.table()))
    return measured


def test_every_trial_is_scored_although_the_operator_is_killed_in_between(figures: fleet.Figures) -> None:
    assert figures.problems == []
    assert figures.scored == figures.size.total


def test_the_operator_does_not_leave_slots_idle(figures: fleet.Figures) -> None:
    # Small chunks are handed over often here, on a machine that also runs the control plane.
    assert figures.ratio >= 0.25, figures.table()


def test_memory_is_bounded_also_after_a_restart_and_beside_finished_runs(figures: fleet.Figures) -> None:
    most = max(figures.rss, figures.rss_restarted, figures.rss_finished) / fleet.MIB
    assert most <= 200, figures.table()


def test_a_cell_takes_few_jobs(figures: fleet.Figures) -> None:
    assert figures.jobs <= 2 * figures.size.cells, figures.table()


def test_metrics_stay_within_their_bound(figures: fleet.Figures) -> None:
    assert figures.series <= 5000, figures.table()
