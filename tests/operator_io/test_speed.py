"""A reconcile of a large run takes little of the event loop, and the operator fits into its memory."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from tests.operator_io.large_operator import large_operator

from opsgym_core.kube.client import JOBS, PODS

MOST_CPU_S = 0.2
"""For a reconcile of 50,400 trials in 840 cells with 1,340 Jobs and 5,360 pods of which nothing has changed."""
YARDSTICK_S = 0.05
"""CPU seconds of the yardstick on a core of its own."""
MOST_MB = 200
ROOT = Path(__file__).resolve().parents[2]


def test_a_reconcile_of_many_jobs_and_pods_is_quick() -> None:
    async def reconciles() -> tuple[float, dict[str, int]]:
        operator = large_operator(ended_jobs=500, pods=4)
        assert (len(operator.cache.objects(JOBS, "team")), len(operator.cache.objects(PODS, "team"))) == (1340, 5360)
        await operator.reconcile()
        operator.server.requests.clear()
        return min([await operator.reconcile() / yardstick_s() for _ in range(7)]), dict(operator.server.requests)

    ratio, requests = asyncio.run(reconciles())
    assert ratio * YARDSTICK_S < MOST_CPU_S
    assert not requests, "nothing has changed"


def yardstick_s() -> float:
    """CPU seconds of a fixed amount of work now: other processes on the cores slow it down as they do a reconcile."""
    began = time.process_time()
    texts = {str(number): number for number in range(100_000)}
    assert sum(texts[str(number)] for number in range(100_000)) > 0
    return time.process_time() - began


def test_an_operator_of_a_large_run_fits_into_its_memory() -> None:
    command = [sys.executable, "-m", "tests.operator_io.large_operator"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True, timeout=300).stdout
    assert int(printed.splitlines()[-1]) < MOST_MB
