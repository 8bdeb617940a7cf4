"""CPU and elapsed seconds of every test, for `python -m benchmarks testtime`.

    OPSGYM_CPU_TIMES=times pytest tests/runner

Invariant: what a process that a test started uses while another test runs counts for that other test, so the sum over
all tests is what the run took; a process that is left over and not waited for is missed after its parent has ended.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from benchmarks.test_time import COLLECTION
from tests.support.processes import descendants

TICKS_S = 1 / os.sysconf("SC_CLK_TCK")
VARIABLE = "OPSGYM_CPU_TIMES"


def cpu_seconds() -> float:
    """CPU seconds of this process and all below it, those that have ended included."""
    own = os.times()
    running = sum(map(_of_process, descendants(os.getpid())))
    return own.user + own.system + own.children_user + own.children_system + running


def _of_process(pid: int) -> float:
    """CPU seconds of a process and its children that have ended; 0 if it has ended itself."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    # After the name in parentheses, fields 12 to 15 are utime, stime, cutime and cstime (proc_pid_stat(5)).
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) * TICKS_S


class CpuTimes:
    """Plugin that writes a line for every test into a file of its process.

    Args:
        folder: Where the file is written; made if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"{os.getpid()}.jsonl"
        self._file.write_text("")
        self._cpu_s, self._began = 0.0, time.monotonic()

    def pytest_collection_finish(self) -> None:
        """Counts everything since the process began."""
        self._write(COLLECTION)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Counts set-up, call and the end of a test."""
        try:
            return (yield)
        finally:
            self._write(item.nodeid)

    def _write(self, test: str) -> None:
        cpu_s, now = cpu_seconds(), time.monotonic()
        used = {"test": test, "cpu_s": round(cpu_s - self._cpu_s, 3), "elapsed_s": round(now - self._began, 3)}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(used)}\n")
        self._cpu_s, self._began = cpu_s, now
