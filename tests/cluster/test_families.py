"""IPv6-only and dual-stack clusters: tests of this folder, run once more in each.

Invariant: in the first nothing but loopback has an IPv4 address. In the second, nodes and pods have addresses of both
versions, and a test that asks a server asks it at each of them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from devcluster.places import FAMILY, ROOT

TESTS = (
    "test_cluster.py::test_pods_find_services_by_name_and_reach_the_s3_server_through_one",
    "test_policies.py::test_policies_hold_between_real_pods_and_towards_the_node",
    "test_helm.py::test_nobody_reaches_pods_of_runs_and_they_reach_what_the_release_names",
    "test_helm.py::test_metrics_are_read_through_their_service_and_at_the_pod",
    "test_helm.py::test_the_console_shows_runs_to_who_has_the_token_and_may_only_list_them",
)
"""The last one installs the chart with a trial store and waits for a run's score."""


@pytest.mark.skipif(FAMILY != "ipv4", reason="this is the process that it starts")
@pytest.mark.timeout(900)
@pytest.mark.soak
@pytest.mark.parametrize("family", ["ipv6", "dual"])
def test_the_chart_works_with_other_addresses_than_ipv4_alone(family: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(f"tests/cluster/{name}" for name in TESTS)],
        cwd=ROOT,
        env={**os.environ, "OPSGYM_CLUSTER_FAMILY": family},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert f"{len(TESTS)} passed" in done.stdout
