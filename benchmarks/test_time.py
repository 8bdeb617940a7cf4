"""What a test run costs: CPU seconds that every run needs, those of each domain, and those of tasks.

    OPSGYM_CPU_TIMES=times make test
    python -m benchmarks testtime times

Invariant: CPU seconds are compared, not elapsed ones, since those depend on what else the machine does.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opsgym_domains import registry
from opsgym_domains.suite_rows import suite_rows

CORES = 2
"""Of a small CI machine."""
TASK = "::test_a_task_accepts_what_is_right_and_nothing_else["
"""In the name of every test of a task."""
COLLECTION = "collection"
"""Name of what a process of pytest does before its first test."""
SLOWEST = 15


@dataclass(frozen=True)
class Timed:
    """What a test took.

    Args:
        test: pytest's name of the test, with `@GROUP` at its end if it is in a group; COLLECTION for the start.
        cpu_s: CPU seconds of the process and its descendants.
        elapsed_s: Seconds on the wall clock.
    """

    test: str
    cpu_s: float
    elapsed_s: float

    @property
    def folder(self) -> str:
        """First two parts of the path."""
        return "/".join(self.test.split("::")[0].split("/")[:2])

    @property
    def group(self) -> str:
        """Name of the test's group, whose tests one process runs; empty if it is in none."""
        end = self.test.rpartition("]")[2]
        return end.rpartition("@")[2] if "@" in end else ""


@dataclass(frozen=True)
class Parts:
    """CPU seconds of a run, by what they grow with.

    Args:
        shared: Of tests that no further domain makes longer, and of collecting all tests in every process.
        domains: Of the tests of each domain but its tasks.
        tasks: Of the tests of tasks.
        number_of_tasks: How many tests of tasks ran.
    """

    shared: float
    domains: dict[str, float]
    tasks: float
    number_of_tasks: int

    def projected(self, tasks: int) -> float:
        """CPU seconds of a run with so many tasks, each like the mean one."""
        each_task = self.tasks / self.number_of_tasks if self.number_of_tasks else 0.0
        return self.shared + sum(self.domains.values()) + tasks * each_task


def read(folder: Path) -> list[Timed]:
    """The lines that every process of a run wrote.

    Raises:
        FileNotFoundError: The folder has none.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise FileNotFoundError(f"{folder} has no *.jsonl; run `OPSGYM_CPU_TIMES={folder} make test` first")
    return [Timed(**json.loads(line)) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def parts(times: Iterable[Timed], domains: Collection[str]) -> Parts:
    """Divides the time of a run."""
    shared, tasks, number = 0.0, 0.0, 0
    by_domain = dict.fromkeys(domains, 0.0)
    for timed in times:
        domain = _domain_of(timed.test, domains)
        if TASK in timed.test:
            tasks, number = tasks + timed.cpu_s, number + 1
        elif domain is None:
            shared += timed.cpu_s
        else:
            by_domain[domain] += timed.cpu_s
    return Parts(shared, by_domain, tasks, number)


def _domain_of(test: str, domains: Collection[str]) -> str | None:
    """The domain that a test's path, name or parameters name; None if it is of none or several."""
    named = {name for name in domains if re.search(rf"(?<![a-z]){name}(?![a-z])", test)}
    return named.pop() if len(named) == 1 else None


def tables(times: Sequence[Timed], domains: Collection[str], tasks: int) -> list[str]:
    """The tables of docs/testing.md, and which groups and tests take longest.

    Args:
        times: What the tests took.
        domains: Names of the installed domains.
        tasks: How many tasks the built-in suites have. A run of a part of the tests has played fewer.
    """
    divided = parts(times, domains)
    measured, number = sum(timed.cpu_s for timed in times), len(divided.domains)
    rows = {
        "shared by all domains": divided.shared,
        **{f"domain {name}, without its tasks": seconds for name, seconds in divided.domains.items()},
        f"{divided.number_of_tasks} tasks of built-in suites": divided.tasks,
        f"sum, {number} domains": measured,
    }
    if tasks != divided.number_of_tasks:
        rows[f"projected: {number} domains, {tasks:,} tasks"] = divided.projected(tasks)
    return [
        f"| tests | CPU seconds | minutes on {CORES} cores |",
        "| --- | --- | --- |",
        *(f"| {name} | {seconds:.0f} | {seconds / CORES / 60:.1f} |" for name, seconds in rows.items()),
        *_ranking("folder", [(timed.folder, timed) for timed in times]),
        *_ranking("tests of one group, which one process runs", [(t.group, t) for t in times if t.group]),
        *_ranking("test", [(timed.test, timed) for timed in times if timed.test != COLLECTION]),
    ]


def _ranking(title: str, times: Iterable[tuple[str, Timed]]) -> list[str]:
    """The entries that used the most CPU, with the time that passed."""
    cpu_s: defaultdict[str, float] = defaultdict(float)
    elapsed_s: defaultdict[str, float] = defaultdict(float)
    for name, timed in times:
        cpu_s[name] += timed.cpu_s
        elapsed_s[name] += timed.elapsed_s
    longest = sorted(cpu_s, key=lambda name: cpu_s[name], reverse=True)[:SLOWEST]
    rows = [f"| {name} | {cpu_s[name]:.1f} | {elapsed_s[name]:.1f} |" for name in longest]
    return ["", f"| {title} | CPU seconds | elapsed seconds |", "| --- | --- | --- |", *rows]


def built_in_tasks() -> int:
    """How many tasks the installed suites have; collections repeat those of other suites."""
    return len({row["task_id"] for suite in registry.suites() for row in suite_rows(suite)})


def measure_arguments(arguments: Sequence[str]) -> list[str]:
    """The tables of a run, by the folder that it wrote."""
    if len(arguments) != 1:
        raise SystemExit("usage: python -m benchmarks testtime FOLDER, which OPSGYM_CPU_TIMES=FOLDER make test writes")
    try:
        return tables(read(Path(arguments[0])), registry.domains(), built_in_tasks())
    except FileNotFoundError as error:
        raise SystemExit(str(error)) from None
