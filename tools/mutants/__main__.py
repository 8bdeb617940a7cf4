"""Puts faults into lines that judge, count and pay, and sees whether a test fails: `python -m tools.mutants`.

Invariant: the checkout is only read; each worker changes a copy of its own. A fault that no test notices is either
accepted in `accepted.json`, with the reason, or counts as a survivor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

from tools.mutants.mutations import Mutation, mutations_of

TESTS: Mapping[str, Sequence[str]] = {
    "core/opsgym_core/accounting": ["tests/core", "tests/contracts", "tests/operator"],
    "core/opsgym_core/gates": ["tests/core", "tests/contracts", "tests/operator"],
    "core/opsgym_core/planning": ["tests/core", "tests/operator"],
    "core/opsgym_core/results": ["tests/core", "tests/contracts", "tests/console"],
    "operator/opsgym_operator/plan": ["tests/operator"],
    "agent_runner/opsgym_runner/verification": ["tests/runner"],
    "agent_runner/opsgym_runner/recording": ["tests/runner"],
}
"""Folders whose lines are changed, and the tests nearest to them, cheapest first."""
LEDGER = Path(__file__).with_name("accepted.json")
MOST_SURVIVING = 0.10
"""Share of the mutants that may survive."""
LIMIT_S = 1800.0
"""A mutant whose tests take longer hangs, which a test run would show."""
COPIED = (
    "agent_runner",
    "cli",
    "console",
    "core",
    "crds",
    "devcluster",
    "domain_images",
    "operator",
    "report",
    "suites",
)
REST = (
    "benchmarks",
    "docs",
    "examples",
    "helm",
    "tests",
    "tools",
    "Dockerfile",
    "Makefile",
    "pyproject.toml",
    "uv.lock",
    "README.md",
    "CHANGELOG.md",
)


@dataclass(frozen=True)
class Mutant:
    """A mutation of a file of the checkout."""

    path: str
    mutation: Mutation
    code: str
    """The line as it is, without the blanks around it."""

    @property
    def name(self) -> str:
        """Path, line as it is and its change, whatever the line's number."""
        place = self.mutation
        return f"{self.path}: {self.code} [{place.new or 'without not'}, column {place.start}]"


def mutants_in(root: Path, folders: Iterable[str]) -> list[Mutant]:
    """All mutants of the Python files below folders."""
    return [
        Mutant(str(path.relative_to(root)), mutation, source.splitlines()[mutation.line - 1].strip())
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
        for source in [path.read_text()]
        for mutation in mutations_of(source)
    ]


def accepted(ledger: Path = LEDGER) -> Mapping[str, str]:
    """Reasons by the name of a mutant that may survive."""
    reasons: dict[str, str] = json.loads(ledger.read_text())
    return reasons


def copied(root: Path, to: Path) -> Path:
    """A copy of the checkout's sources and tests."""
    for name in (*COPIED, *REST):
        source = root / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, to / name)
    return to


def survives(root: Path, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Whether all tests pass although a copy of the checkout has the fault; the copy is as before afterwards."""
    file = root / mutant.path
    source = file.read_text()
    _write(file, mutant.mutation.on(source))
    try:
        return passes(root, tests)
    finally:
        _write(file, source)


def _write(file: Path, source: str) -> None:
    """Python compiles a file anew if its time or size differs, so each content has a time of its own."""
    file.write_text(source)
    stamp = zlib.crc32(source.encode())
    os.utime(file, (stamp, stamp))


def passes(root: Path, tests: Sequence[str]) -> bool:
    """Whether all tests of a copy pass; those that hang do not."""
    paths = os.pathsep.join(str(root / name) for name in ("", *COPIED))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": paths}
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Mutates a sample; returns 1 if more than `MOST_SURVIVING` of it survive."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="mutants that are tried (%(default)s)")
    parser.add_argument("--seed", default=datetime.now(UTC).date().isoformat(), help="chooses them (today's date)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at the same time (%(default)s)")
    parser.add_argument("folder", nargs="*", choices=[[], *TESTS], help="folders; all if none is given")
    given = parser.parse_args(arguments)
    folders = given.folder or list(TESTS)
    mutants = mutants_in(Path.cwd(), folders)
    chosen = random.Random(given.seed).sample(mutants, min(given.count, len(mutants)))  # noqa: S311 - a repeatable sample
    with tempfile.TemporaryDirectory(prefix="opsgym-mutants-") as place:
        copies = [copied(Path.cwd(), Path(place) / str(number)) for number in range(given.jobs)]
        for tests in {tuple(TESTS[folder]) for folder in folders}:
            if not passes(copies[0], tests):
                raise SystemExit(f"{' '.join(tests)}: fail without a fault; run `make test` first")
        survived = _survivors(chosen, copies)
    share = survived / len(chosen)
    print(
        f"mutants: {survived} of {len(chosen)} survived ({share:.1%}; at most {MOST_SURVIVING:.0%}), seed {given.seed}"
    )
    return int(share > MOST_SURVIVING)


def _survivors(mutants: Sequence[Mutant], copies: Iterable[Path]) -> int:
    """Number of mutants that survive and are not accepted; prints a line for each mutant."""
    reasons = accepted()
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def is_survivor(mutant: Mutant) -> bool:
        copy = free.get()
        try:
            lives = survives(copy, mutant, next(tests for path, tests in TESTS.items() if mutant.path.startswith(path)))
        finally:
            free.put(copy)
        word = ("accepted" if mutant.name in reasons else "SURVIVED") if lives else "killed"
        print(f"{word}: line {mutant.mutation.line} of {mutant.name}", flush=True)
        return lives and mutant.name not in reasons

    with ThreadPoolExecutor(free.qsize()) as pool:
        return sum(pool.map(is_survivor, mutants))


if __name__ == "__main__":
    sys.exit(main())
