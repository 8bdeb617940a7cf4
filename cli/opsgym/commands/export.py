"""`opsgym export`: writes scored trials in the format of another program."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Literal

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_console.analysis.exports.eops import file_of, result_of
from opsgym_console.analysis.exports.inspect import write_logs
from opsgym_console.analysis.exports.trials import read_scored_trials
from opsgym_core.results.score import RunResults
from opsgym_core.store.base import Store

Format = Literal["eops", "inspect"]
_ERRORS = (Outcome.INFRA_ERROR, Outcome.CONFIG_ERROR)
"""Outcomes that Inspect's format has as errors."""


def export(run: str, kind: Format, out: Path, locator: RunLocator) -> int:
    """Writes the scored trials of a run in the format of another program.

    Raises:
        InputError: The run does not exist, one of its objects is missing, or the folder cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    store, results = locator.load(run)
    order = {cell.cell.key: number for number, cell in enumerate(results.run.cells)}
    trials = sorted(results.trials, key=lambda t: (order.get(t.cell.key, len(order)), t.task_id, t.trial))
    results = replace(results, trials=trials)
    if not trials:
        raise InputError(results.run.run, [Problem("", "has no scored trial to export")])
    try:
        out.mkdir(parents=True, exist_ok=True)
        count = _eops(store, results, out) if kind == "eops" else _inspect(store, results, out)
    except OSError as error:
        raise InputError(str(out), [Problem("--out", f"cannot be written: {error.strerror}")]) from None
    click.echo(
        f"{out}: {len(trials)} scored trials of run {results.run.run} in {count} files{_left_out(results, kind)}"
    )
    return Exit.OK


def _left_out(results: RunResults, kind: Format) -> str:
    """Which trials are not in the files; empty if all are."""
    unpublished = sum(trial.published_score is None for trial in results.trials) if kind == "eops" else 0
    unscored = sum(_missing(results).values()) - (sum(map(len, _errors(results).values())) if kind == "inspect" else 0)
    counts = {"a score": unscored, "a published score (task_timeout)": unpublished}
    parts = [f"{count} trials without {what}" for what, count in counts.items() if count]
    return f"; {' and '.join(parts)} are left out" if parts else ""


def _eops(store: Store, results: RunResults, out: Path) -> int:
    published = (trial for trial in read_scored_trials(store, results) if trial.record.published_score is not None)
    count = 0
    for (cell, task_id), trials in groupby(published, key=lambda trial: (trial.record.cell, trial.record.task_id)):
        file = out / file_of(cell, task_id)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result_of(list(trials)), indent=2, default=str), encoding="utf-8")
        count += 1
    return count


def _inspect(store: Store, results: RunResults, out: Path) -> int:
    trials = read_scored_trials(store, results, reasoning=True)
    return len(write_logs(trials, _errors(results), _missing(results), out))


def _errors(results: RunResults) -> dict[str, list[AttemptRecord]]:
    """Last attempts of trials that ended in an error, by the key of a cell with a score: other cells have no log."""
    scored = {trial.trial_id for trial in results.trials}
    last = {one.trial_id: one for one in sorted(results.attempts, key=lambda attempt: attempt.attempt)}
    cells = {trial.cell.key for trial in results.trials}
    return {
        cell: [
            attempt
            for trial, attempt in last.items()
            if trial.cell == cell and trial not in scored and attempt.outcome in _ERRORS
        ]
        for cell in cells
    }


def _missing(results: RunResults) -> dict[str, int]:
    """Planned trials without a score, by cell key."""
    missing = {cell.cell.key: len(cell.task_ids) * results.run.trials for cell in results.run.cells}
    for trial in results.trials:
        if trial.cell.key in missing:
            missing[trial.cell.key] -= 1
    return missing
