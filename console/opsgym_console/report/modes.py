"""Failure modes of a run, for its page.

Invariant: which trials are analysed depends on the run alone, and their number is reported beside the counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, islice, zip_longest

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Cell, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.analysis.failures.counts import TRIAGE, WEAK, WEAK_NOTE, Detected, count_mode
from opsgym_console.analysis.failures.findings import Finding, Mode
from opsgym_console.analysis.failures.modes import definition
from opsgym_console.analysis.failures.stored import analyse_run
from opsgym_console.report.columns import TrialKey
from opsgym_console.report.model import Evidence, FailureModesView, FailureModeView, FindingView
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import RunResults
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object

SAMPLE = 2_000
"""Failed trials that are analysed at most: each takes reading a transcript and final databases."""

Findings = Mapping[TrialKey, Sequence[FindingView]]
"""Findings by failed trial, possibly empty; trials that were not analysed are absent."""


def analyse_sample(store: Store, rows: RunRows, most: int = SAMPLE) -> Findings:
    """Findings of a run's failed trials, or of a sample of them.

    Args:
        store: Store of the run.
        rows: The run.
        most: Largest number of trials to analyse.

    Raises:
        StoreError: The store cannot be read.
    """
    chosen = sample(rows, most)
    with ThreadPoolExecutor(READERS) as pool:
        records = list(pool.map(partial(_record, store, rows.run.run), chosen))
    results = RunResults(rows.run, [record for record in records if record is not None])
    return {
        (analysis.record.cell.key, analysis.record.task_id, analysis.record.trial): finding_views(analysis.findings)
        for analysis in analyse_run(store, results)
        if analysis.findings is not None
    }


def sample(rows: RunRows, most: int) -> list[tuple[Cell, str, int]]:
    """A sample of failed trials, spread evenly over cells; cell, task and number of each."""
    failed = [
        [(cell.cell, trial.task_id, trial.trial) for trial in cell.trials if trial.outcome is Outcome.FAILED]
        for cell in rows.cells
    ]
    # Neighbouring tasks of a suite are alike; in the order of digests every prefix is a reproducible random sample.
    shuffled = (sorted(trials, key=lambda trial: _digest(trial[1], trial[2])) for trials in failed)
    alternating = chain.from_iterable(zip_longest(*shuffled))
    return list(islice((trial for trial in alternating if trial is not None), most))


def _digest(task_id: str, trial: int) -> bytes:
    return hashlib.sha256(f"{task_id}/{trial}".encode()).digest()


def _record(store: Store, run: str, trial: tuple[Cell, str, int]) -> TrialRecord | None:
    try:
        return read_object(store, RunKeys(run).trial(*trial).record, TrialRecord)
    except InputError:
        return None


def finding_views(findings: Iterable[Finding]) -> list[FindingView]:
    """Findings of a trial, for its page."""
    return [
        FindingView(
            mode=finding.mode.value,
            primary=finding.primary,
            basis=finding.basis.value,
            evidence=[Evidence(**vars(evidence)) for evidence in finding.evidence],
        )
        for finding in findings
    ]


def modes_view(findings: Findings, failed: int, cells: Mapping[str, int]) -> FailureModesView:
    """Counts of modes, the most frequent first.

    Args:
        findings: Findings by trial.
        failed: Number of all failed trials.
        cells: Positions of cells by key.
    """
    by_cell: list[list[Detected]] = [[] for _ in cells]
    for (cell, task_id, _), of_trial in findings.items():
        by_cell[cells[cell]].append(Detected(task_id, [finding.mode for finding in of_trial]))
    everything = list(chain.from_iterable(by_cell))
    detected = {mode for trial in everything for mode in trial.modes}
    views = [_mode_view(mode, everything, by_cell) for mode in Mode if mode.value in detected]
    return FailureModesView(
        analysed=len(findings),
        failed=failed,
        note=f"{TRIAGE} {WEAK_NOTE}",
        modes=sorted(views, key=lambda view: -sum(view.trials)),
    )


def _mode_view(mode: Mode, everything: Sequence[Detected], by_cell: Sequence[Sequence[Detected]]) -> FailureModeView:
    total = count_mode(mode, everything)
    of_cells = [count_mode(mode, trials) for trials in by_cell]
    return FailureModeView(
        mode=mode.value,
        description=definition(mode),
        trials=[one.trials for one in of_cells],
        primary=[one.primary for one in of_cells],
        share=total.share,
        interval=total.interval,
        intervals=[one.interval for one in of_cells],
        weak=mode in WEAK,
    )


def mode_bits(findings: Findings, view: FailureModesView) -> dict[TrialKey, int]:
    """Modes of each trial, as bits by position in the view."""
    bits = {mode.mode: 1 << position for position, mode in enumerate(view.modes)}
    return {trial: sum(bits[finding.mode] for finding in of_trial) for trial, of_trial in findings.items()}
