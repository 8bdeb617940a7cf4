"""A pytest plugin that writes the counts and failures of a run, as JSON, to the file that OPSGYM_TEST_RESULTS names."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

VARIABLE = "OPSGYM_TEST_RESULTS"


@dataclass(frozen=True)
class Results:
    """Tests of a run, as pytest's last line counts them."""

    passed: Sequence[str]
    """Node ids; the fixtures of a test among them may have failed after it."""
    skipped: int
    failures: Mapping[str, str]
    """First error of each test that failed, or whose fixtures did, by node id."""
    unnamed: int
    """Failures that are not those of one test, such as a module that cannot be imported."""


def read_results(path: Path) -> Results | None:
    """Results in a file; None if pytest ended before it wrote any."""
    return Results(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Prints a failure when it happens: the run goes on for many minutes."""
    if report.failed and os.environ.get(VARIABLE) and "PYTEST_XDIST_WORKER" not in os.environ:
        sys.stdout.write(f"\nFAILED {_test(report)} ({report.when}): {_error(report)}\n")
        sys.stdout.flush()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Writes the results; only the process that prints the summary has a reporter, so workers write nothing."""
    if not (path := os.environ.get(VARIABLE)):
        return
    stats = terminalreporter.stats
    bad = [*stats.get("failed", ()), *stats.get("error", ())]
    failures: dict[str, str] = {}
    for report in bad:
        if "::" in report.nodeid:
            failures.setdefault(_test(report), _error(report))
    results = Results(
        passed=[_test(report) for report in stats.get("passed", ())],
        skipped=len(stats.get("skipped", ())),
        failures=failures,
        unnamed=sum("::" not in report.nodeid for report in bad),
    )
    Path(path).write_text(json.dumps(asdict(results)), encoding="utf-8")


def _test(report: pytest.TestReport) -> str:
    """Node id without the group that pytest-xdist appends to it (`…::test_a[x]@browser`)."""
    test, bracket, rest = report.nodeid.rpartition("]")
    return f"{test}{bracket}" if bracket else rest.partition("@")[0]


def _error(report: pytest.TestReport) -> str:
    lines = [line for line in report.longreprtext.splitlines() if line.strip()]
    first = next(
        (line.removeprefix("E ") for line in lines if line.startswith("E ")), lines[-1] if lines else "no text"
    )
    return first.strip()
