"""`python -m benchmarks whole [SUITE]`: all tasks of a suite under `replay/gold` on this machine, twice.

Invariant: the runs are those of `opsgym run` with its defaults, each in a store of its own; their outcomes are compared
trial by trial.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opsgym.exits import Exit
from opsgym_api.records.attempt import TrialId
from opsgym_core.results.load import find_run, load_rows
from opsgym_core.store.location import open_store
from opsgym_domains import registry

RUNS = 2


@dataclass(frozen=True)
class Whole:
    """A run of all tasks."""

    outcomes: Mapping[TrialId, str]
    """How each trial ended: `passed`, or what else its attempt came to."""
    minutes: float
    cpu_s: float
    """Of the command and everything that it started."""

    @property
    def passed(self) -> int:
        """Trials that passed."""
        return Counter(self.outcomes.values())["passed"]


def measure_arguments(arguments: Sequence[str]) -> Sequence[str]:
    """A table of the runs, and the trials that did not pass or ended differently."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks whole", description="Plays a suite twice.")
    parser.add_argument("suite", nargs="?", default=registry.WHOLE)
    return report([play(parser.parse_args(arguments).suite) for _run in range(RUNS)])


def play(suite: str) -> Whole:
    """Runs a built-in suite under `replay/gold`.

    Raises:
        RuntimeError: The command failed.
    """
    spec = {"suite": {"builtin": suite}, "models": [{"name": "gold", "inline": {"model": "replay/gold"}}]}
    document = {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": {"name": "whole"}, "spec": spec}
    with tempfile.TemporaryDirectory(prefix="opsgym-") as name:
        folder = Path(name)
        (folder / "run.yaml").write_text(json.dumps(document))
        began = time.monotonic()
        with (folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "opsgym.main", "run", "run.yaml"]
            process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (Exit.OK, Exit.NOT_SCORED):  # the report says which trials have no score
            raise RuntimeError(f"exit code {process.returncode}:\n{(folder / 'log').read_text()[-3000:]}")
        return Whole(_outcomes(folder), (time.monotonic() - began) / 60, used.ru_utime + used.ru_stime)


def _outcomes(folder: Path) -> dict[TrialId, str]:
    store = open_store(str(folder / "results"))
    rows = load_rows(store, find_run(store, "whole"))
    attempts = [attempt for cell in rows.cells for attempt in cell.attempts]
    ended = {attempt.trial_id: f"{attempt.outcome} {attempt.reason}".strip() for attempt in attempts}
    return ended | {trial.trial_id: str(trial.outcome) for cell in rows.cells for trial in cell.trials}


def report(runs: Sequence[Whole]) -> list[str]:
    """Lines of the report."""
    first, *others = runs
    lines = [
        "| run | tasks | passed | minutes | CPU seconds | CPU seconds of a task |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {number} | {len(run.outcomes):,} | {run.passed:,} | {run.minutes:.1f} | {run.cpu_s:.0f} "
            f"| {run.cpu_s / len(run.outcomes):.2f} |"
            for number, run in enumerate(runs, start=1)
        ),
        "",
    ]
    different = {trial for run in others for trial, _ in run.outcomes.items() ^ first.outcomes.items()}
    if not different and first.passed == len(first.outcomes):
        return [*lines, "Every trial passed in every run."]
    shown = {trial for run in runs for trial, outcome in run.outcomes.items() if outcome != "passed"} | different
    listed = [
        f"- {trial.task_id}: {', '.join(run.outcomes.get(trial, '-') for run in runs)}" for trial in sorted(shown)
    ]
    return [*lines, f"{len(different)} trials ended differently; all that did not pass:", "", *listed]
