"""Runs the experiments of the paper from `examples/paper` and writes their tables and figures.

    python -m tools.paper [--out FOLDER]

Invariant: an experiment that was interrupted goes on where it was, and pages are written from stored records only. The
exit code of an experiment that does not end well is passed on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.paper.conditions import by_category, by_horizon, conditions
from tools.paper.pages import EXPERIMENTS, HORIZON, VERIFIERS, Experiment, index, page, verifiers_page

FILES = Path(__file__).resolve().parents[2] / "examples" / "paper"


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; the process's exit code."""
    parser = argparse.ArgumentParser(prog="tools.paper", description="Runs the experiments of the paper.")
    parser.add_argument("--out", type=Path, default=Path("paper"), help="folder of pages and records (default: paper)")
    out: Path = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    scored: dict[Experiment, int] = {}
    for number, experiment in enumerate(EXPERIMENTS, start=1):
        sys.stdout.write(f"\n{number} of {len(EXPERIMENTS)}: {experiment.title}\n")
        sys.stdout.flush()
        if failed := _opsgym(out, "run", str(FILES / f"{experiment.name}.yaml")).returncode:
            return failed
        scored[experiment] = _write(out, experiment)
    (out / "index.html").write_text(index(scored), encoding="utf-8")
    sys.stdout.write(f"\ntables and figures: {out / 'index.html'}\n")
    return 0


def _write(out: Path, experiment: Experiment) -> int:
    """Writes page and CSV of an experiment; the number of its trials with a score."""
    leaderboard = _opsgym(out, "leaderboard", experiment.name, "--format", "csv", piped=True).stdout
    cells = _opsgym(out, "results", experiment.name, "--by", "cell", "--format", "csv", piped=True).stdout
    shown = conditions(leaderboard, cells)
    published = ""
    if experiment is EXPERIMENTS[0]:
        published = _beside(out, experiment)
        records = json.loads(_opsgym(out, "results", experiment.name, "--format", "json", piped=True).stdout)
        (out / f"{HORIZON.name}.html").write_text(page(HORIZON, by_horizon(records)), encoding="utf-8")
        verifiers = _opsgym(out, "results", experiment.name, "--by", "category", "--format", "csv", piped=True).stdout
        (out / f"{VERIFIERS}.html").write_text(verifiers_page(by_category(verifiers)), encoding="utf-8")
    (out / f"{experiment.name}.html").write_text(page(experiment, shown, published), encoding="utf-8")
    (out / f"{experiment.name}.csv").write_text(leaderboard, encoding="utf-8")
    return sum(one.scored for one in shown)


def _beside(out: Path, experiment: Experiment) -> str:
    """The conditions among the published rows, or why they cannot stand there."""
    done = _opsgym(out, "leaderboard", experiment.name, "--beside", "public-split", piped=True, check=False)
    return done.stdout or done.stderr.strip()


def _opsgym(
    out: Path, *arguments: str, piped: bool = False, check: bool | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command on the records below the output folder."""
    command = [str(Path(sys.executable).with_name("opsgym")), *arguments, "--store", str(out / "results")]
    stderr = subprocess.PIPE if check is False else None
    return subprocess.run(
        command,
        stdout=subprocess.PIPE if piped else None,
        stderr=stderr,
        text=True,
        check=piped if check is None else check,
    )


if __name__ == "__main__":
    sys.exit(main())
