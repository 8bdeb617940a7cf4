"""Runs parts of the tests beside each other, and what failed once more: `python -m tools.test_run PART…`.

Invariant: a test that failed counts as passed only if it passes when it is played again, alone and after all other
tests; its first error is printed as FLAKY and kept in the ledger. Every part runs to its end, whatever the others do.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tools.test_run.results import VARIABLE, Results, read_results

QUICK = ("tests/contracts", "tests/core", "tests/operator", "tests/records")
"""Folders of values and files: what breaks most is known within minutes."""
PARTS: Mapping[str, Sequence[str]] = {
    "quick": [*QUICK, "-n", "auto"],
    # Tests wait for processes and databases for half of their time, so there are more workers than cores.
    "unit": ["-n", str(1 + (os.cpu_count() or 1)), "--dist", "loadgroup", "--ignore", "tests/cluster"]
    + [word for folder in QUICK for word in ("--ignore", folder)],
    # Each process has a cluster of its own, and mostly waits for it.
    "cluster": ["tests/cluster", "-n", "2", "--dist", "loadfile"],
}
"""Arguments of pytest, by part."""
MOST_REPEATED = 30
"""Failures of a part above which none is played again: that many have one cause."""
PLUGIN = "tools.test_run.results"
STATE = Path(".tools") / "tests"
LEDGER = "flaky.jsonl"
FAILED, INTERRUPTED = 1, 130


@dataclass(frozen=True)
class Part:
    """A part that ran."""

    name: str
    exit_code: int
    """As pytest's: 1 if tests failed, above 1 if it could not run them all."""
    results: Results | None


@dataclass(frozen=True)
class Verdict:
    """A part, judged after what failed was played again."""

    part: Part
    still_failing: frozenset[str]

    @property
    def flaky(self) -> Mapping[str, str]:
        """First error of each test that failed and then passed."""
        failures = self.part.results.failures if self.part.results else {}
        return {test: error for test, error in failures.items() if test not in self.still_failing}

    @property
    def is_green(self) -> bool:
        """Whether every test passed, at once or when played again."""
        results = self.part.results
        could_run = results is not None and self.part.exit_code in (0, FAILED) and not results.unnamed
        return could_run and not self.still_failing and (self.part.exit_code == 0 or bool(self.flaky))


class PartRunner:
    """Runs pytest on parts of the tests."""

    def __init__(self, parts: Mapping[str, Sequence[str]], options: Sequence[str], state: Path) -> None:
        self._parts = parts
        self._options = options
        self._state = state
        """Folder of the logs and the ledger."""

    def run(self, names: Sequence[str]) -> list[Part]:
        """Runs parts at the same time; the first one prints, the others' output is printed when all have ended."""
        self._state.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: Path(folder) / f"{name}.json" for name in names}
            logs = {name: self._state / f"{name}.log" for name in names[1:]}
            for name, log in logs.items():
                _say(f"{name}: runs beside {names[0]}; its output goes to {log} and is printed at the end")
            started = time.monotonic()
            running = {
                name: self._start([*self._parts[name], *self._options], paths[name], logs.get(name)) for name in names
            }
            codes = _ended(running)
            for name, log in logs.items():
                _say(f"{name}: {(time.monotonic() - started) / 60:.0f} minutes after its start:")
                sys.stdout.write(log.read_text(encoding="utf-8", errors="replace"))
            return [Part(name, codes[name], read_results(paths[name])) for name in names]

    def judge(self, part: Part) -> Verdict:
        """Plays again what failed in a part, alone, if it is not too much."""
        failures = part.results.failures if part.results else {}
        if part.exit_code != FAILED or not failures or len(failures) > MOST_REPEATED:
            return Verdict(part, frozenset(failures))
        _say(f"{part.name}: {len(failures)} tests failed and are played again, alone")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "again.json"
            _ended({part.name: self._start(list(failures), path, None)})
            again = read_results(path)
        passed = set(again.passed) - again.failures.keys() if again else set()
        return Verdict(part, frozenset(failures.keys() - passed))

    def _start(self, arguments: Sequence[str], results: Path, log: Path | None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pytest", "-p", PLUGIN, *arguments]
        environment = {**os.environ, VARIABLE: str(results)}
        # A group of its own: Ctrl-C reaches this process alone, which hands it on once, so that fixtures clean up.
        with log.open("wb") if log else nullcontext() as file:
            return subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file, process_group=0
            )


def _ended(running: Mapping[str, subprocess.Popen[bytes]]) -> dict[str, int]:
    """Exit codes of processes, by name, when all have ended; an interrupt is handed on to them."""
    try:
        return {name: process.wait() for name, process in running.items()}
    except KeyboardInterrupt:
        for process in running.values():
            process.send_signal(signal.SIGINT)
        for process in running.values():
            process.wait()
        raise


def report(verdicts: Sequence[Verdict], ledger: Path, now: datetime) -> None:
    """Prints what failed and what was flaky, keeps the latter in the ledger, and ends with the line of counts."""
    with ledger.open("a", encoding="utf-8") as file:
        for verdict in verdicts:
            for test, error in verdict.flaky.items():
                file.write(json.dumps({"time": now.isoformat(timespec="seconds"), "test": test, "error": error}) + "\n")
    for verdict in verdicts:
        for test, error in verdict.flaky.items():
            _say(f"FLAKY {test}\n    first error: {error}\n    passed when it was played again")
        for test in sorted(verdict.still_failing):
            _say(f"FAILED {test}\n    again, alone: .venv/bin/pytest {shlex.quote(test)}")
        if not verdict.is_green and not verdict.still_failing:
            _say(f"{verdict.part.name}: pytest ended with exit code {verdict.part.exit_code}; its output says why")
    if flaky := sum(len(verdict.flaky) for verdict in verdicts):
        _say(f"flaky tests in this run: {flaky}; all of this checkout are in {ledger}")
    _say(counts(verdicts))


def counts(verdicts: Sequence[Verdict]) -> str:
    """The last line: tests that passed, those that passed when played again among them, failed and were skipped."""
    results = [verdict.part.results for verdict in verdicts if verdict.part.results]
    passed = sum(len(set(one.passed) - one.failures.keys()) for one in results)
    passed += sum(len(verdict.flaky) for verdict in verdicts)
    failed = sum(len(verdict.still_failing) or not verdict.is_green for verdict in verdicts)
    return f"tests: {passed} passed, {failed} failed, {sum(one.skipped for one in results)} skipped"


def main() -> int:
    """Entry point; the exit code is 0 if every test passed, at once or when it was played again."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = argparse.ArgumentParser(prog="python -m tools.test_run", description=__doc__)
    parser.add_argument("parts", nargs="+", choices=PARTS, help="parts to run at the same time")
    parser.add_argument("--options", default="", help="further options of pytest, as one text")
    arguments = parser.parse_args()
    runner = PartRunner(PARTS, shlex.split(arguments.options), STATE)
    try:
        verdicts = [runner.judge(part) for part in runner.run(arguments.parts)]
    except KeyboardInterrupt:
        return INTERRUPTED
    report(verdicts, STATE / LEDGER, datetime.now(UTC))
    return 0 if all(verdict.is_green for verdict in verdicts) else FAILED


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
