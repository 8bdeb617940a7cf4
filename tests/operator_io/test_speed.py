"""A reconcile of a large run takes little of the event loop, and the operator fits into its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MOST_CPU_S = 0.2
"""For a reconcile of 50,400 trials in 840 cells with 1,340 Jobs and 5,360 pods of which nothing has changed."""
YARDSTICK_S = 0.043
"""CPU seconds of the yardstick on a core of its own; other processes on the cores slow it down as they do a
reconcile."""
MOST_MB = 200
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.xdist_group("large operator")  # it is measured once


@pytest.fixture(scope="module")
def measured() -> dict[str, float]:
    command = [sys.executable, "-m", "tests.operator_io.large_operator"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True, timeout=300).stdout
    figures: dict[str, float] = json.loads(printed.splitlines()[-1])
    return figures


def test_a_reconcile_of_many_jobs_and_pods_is_quick(measured: dict[str, float]) -> None:
    assert (measured["jobs"], measured["pods"]) == (1340, 5360)
    assert measured["reconcile_s"] / measured["yardstick_s"] * YARDSTICK_S < MOST_CPU_S
    assert measured["requests"] == 0, "nothing has changed"


def test_an_operator_of_a_large_run_fits_into_its_memory(measured: dict[str, float]) -> None:
    assert measured["megabytes"] < MOST_MB
