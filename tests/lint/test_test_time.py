"""`python -m benchmarks testtime`: what a test run costs, by domain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.test_time import COLLECTION, Parts, Timed, built_in_tasks, parts, read, tables
from tests.support import cpu_times
from tests.support.cpu_times import CpuTimes, cpu_seconds

from opsgym_domains import registry
from opsgym_domains.suite_rows import suite_rows

DOMAINS = ("csm", "itsm")
TASK = "tests/suites/test_tasks.py::test_a_task_accepts_what_is_right_and_nothing_else"
TIMES = [
    Timed(COLLECTION, 4.0, 4.0),
    Timed("tests/runner/test_days.py::test_a_day_ends", 6.0, 9.0),
    Timed("tests/csm/test_lists.py::test_a_list", 2.0, 2.0),
    Timed("tests/domains/test_writes.py::test_a_write[itsm]", 4.0, 4.0),
    Timed("tests/domains/test_writes.py::test_both[itsm-csm]", 1.0, 1.0),
    Timed(f"{TASK}[itsm-core-one]@suites of itsm", 1.0, 1.0),
    Timed(f"{TASK}[csm-core-two]@suites of csm", 3.0, 3.0),
]


def test_the_time_of_a_run_is_divided_by_what_it_grows_with() -> None:
    assert parts(TIMES, DOMAINS) == Parts(11.0, {"csm": 2.0, "itsm": 4.0}, 4.0, 2)


def test_more_tasks_cost_what_the_mean_one_does() -> None:
    assert parts(TIMES, DOMAINS).projected(tasks=100) == 11 + 2 + 4 + 100 * 2


def test_the_tables_name_sum_projections_folders_and_groups() -> None:
    text = "\n".join(tables(TIMES, DOMAINS, tasks=50))
    assert "| 2 tasks of built-in suites | 4 | 0.0 |" in text
    assert "| sum, 2 domains | 21 | 0.2 |" in text
    assert "| projected: 2 domains, 50 tasks | 117 | 1.0 |" in text
    assert "| tests/runner | 6.0 | 9.0 |" in text
    assert "| suites of csm | 3.0 | 3.0 |" in text


def test_a_run_of_all_tasks_is_not_projected_to_as_many() -> None:
    assert [line for line in tables(TIMES, DOMAINS, tasks=2) if "projected" in line] == []


def test_the_tasks_of_the_installed_suites_are_counted_once() -> None:
    suites = [suite for suite in registry.suites() if not suite.startswith(registry.WHOLE)]
    assert built_in_tasks() == sum(len(suite_rows(suite)) for suite in suites)


def test_a_folder_without_times_is_refused_with_the_command_that_writes_them(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"OPSGYM_CPU_TIMES={tmp_path} make test"):
        read(tmp_path)


def test_the_lines_of_all_processes_are_read(tmp_path: Path) -> None:
    for number, timed in enumerate(TIMES):
        (tmp_path / f"gw{number}.jsonl").write_text(json.dumps(vars(timed)) + "\n")
    assert read(tmp_path) == TIMES


def test_each_test_gets_a_line_with_what_was_used_since_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What an earlier test left behind may end now, and its seconds with it.
    monkeypatch.setattr(cpu_times, "descendants", lambda _: [])
    times = CpuTimes(tmp_path)
    times.pytest_collection_finish()
    (timed,) = read(tmp_path)
    assert timed.test == COLLECTION
    assert 0 < timed.cpu_s <= round(cpu_seconds(), 3)
