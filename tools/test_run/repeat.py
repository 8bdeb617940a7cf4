"""Runs tests again and again on a busy machine, to find flaky ones: `python -m tools.test_run.repeat [TEST…]`.

Invariant: the tests run as in `make test`, one process of pytest a round; only the machine is busier.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.test_run.__main__ import LEDGER, PLUGIN, STATE
from tools.test_run.results import VARIABLE, read_results

SUSPICIOUS = ("tests/cli", "tests/console", "tests/explore", "tests/pods", "tests/report", "tests/soak")
"""Folders of tests with browsers, signals, deadlines and processes."""


def ledgered(ledger: Path) -> list[str]:
    """Tests that were flaky in a run of this checkout, each once."""
    lines = ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []
    return list(dict.fromkeys(json.loads(line)["test"] for line in lines))


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keeps that many processes computing."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def failures_of(tests: Sequence[str], times: int, workers: int) -> Counter[str]:
    """Failures by test over a number of rounds; prints each one with its error.

    Raises:
        SystemExit: pytest could not run the tests.
    """
    failures: Counter[str] = Counter()
    for number in range(1, times + 1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            command = [sys.executable, "-m", "pytest", "-q", "-p", PLUGIN, "-n", str(workers), "--dist", "loadgroup"]
            environment = {**os.environ, VARIABLE: str(path)}
            done = subprocess.run([*command, *tests], env=environment, capture_output=True, text=True, check=False)
            results = read_results(path)
        if results is None or results.unnamed or not (results.passed or results.failures):
            raise SystemExit(f"pytest cannot run {' '.join(tests)}:\n{done.stdout}{done.stderr}")
        failures.update(results.failures.keys())
        _say(f"round {number} of {times}: {len(results.passed)} passed, {len(results.failures)} failed")
        for test, error in results.failures.items():
            _say(f"  {test}\n    {error}")
    return failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Repeats tests; returns 1 if one failed in any round."""
    parser = argparse.ArgumentParser(prog="python -m tools.test_run.repeat", description=__doc__)
    parser.add_argument("tests", nargs="*", help="tests; if none, those in the ledger and the suspicious folders")
    parser.add_argument("--times", type=int, default=100, help="rounds (%(default)s)")
    parser.add_argument("--load", type=int, default=8, help="processes that compute beside the tests (%(default)s)")
    given = parser.parse_args(arguments)
    tests = given.tests or [*ledgered(STATE / LEDGER), *SUSPICIOUS]
    with busy(given.load):
        failures = failures_of(tests, given.times, 1 + (os.cpu_count() or 1))
    for test, count in failures.most_common():
        _say(f"FAILED {count} of {given.times} times: {test}")
    _say(f"flaky: {len(failures)} tests in {given.times} rounds beside a load of {given.load}")
    return int(bool(failures))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
