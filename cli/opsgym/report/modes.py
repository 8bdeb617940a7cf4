"""Failure modes of a run, as a page has them.

Invariant: which trials are looked into depends on the run alone, and how many that are stands beside the counts.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, islice, zip_longest

from opsgym.failures.findings import Finding, Mode
from opsgym.failures.modes import MODULES
from opsgym.failures.stored import analyse_run
from opsgym.report.columns import TrialPlace
from opsgym.report.model import Evidence, FailureModesView, FailureModeView, FindingView
from opsgym_api.layout import RunKeys
from opsgym_api.objects import READERS, read_object
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell, TrialRecord
from opsgym_api.rows import RunRows
from opsgym_api.scores import RunResults
from opsgym_api.store import Store

SAMPLE = 2_000
"""Failed trials that are looked into; each is a transcript and final databases to read."""

Findings = Mapping[TrialPlace, Sequence[FindingView]]
"""What was found in failed trials, nothing included; those that nobody looked into are absent."""


def analyse_sample(store: Store, rows: RunRows, most: int = SAMPLE) -> Findings:
    """Findings of a run's failed trials, or of a sample of them.

    Args:
        store: Where the run is.
        rows: The run.
        most: Trials to look into at most.

    Raises:
        InputError: A record or transcript cannot be read as one.
        StoreError: The store cannot be read.
    """
    chosen = sample(rows, most)
    with ThreadPoolExecutor(READERS) as pool:
        records = list(pool.map(partial(_record, store, rows.run.run), chosen))
    results = RunResults(rows.run, [record for record in records if record is not None])
    return {
        (found.record.cell.key, found.record.task_id, found.record.trial): finding_views(found.findings)
        for found in analyse_run(store, results)
        if found.findings is not None
    }


def sample(rows: RunRows, most: int) -> list[tuple[Cell, str, int]]:
    """Failed trials: as many of each cell as of any other, as far as it has them; cell, task and number of each."""
    failed = [
        [(cell.cell, trial.task_id, trial.trial) for trial in cell.trials if trial.outcome is Outcome.FAILED]
        for cell in rows.cells
    ]
    # Neighbours in a suite are alike; by digest, any beginning is as good as a draw, and the same each time.
    shuffled = (sorted(found, key=lambda trial: _digest(trial[1], trial[2])) for found in failed)
    in_turn = chain.from_iterable(zip_longest(*shuffled))
    return list(islice((trial for trial in in_turn if trial is not None), most))


def _digest(task_id: str, trial: int) -> bytes:
    return hashlib.sha256(f"{task_id}/{trial}".encode()).digest()


def _record(store: Store, run: str, trial: tuple[Cell, str, int]) -> TrialRecord | None:
    return read_object(store, RunKeys(run).trial(*trial).record, TrialRecord)


def finding_views(findings: Iterable[Finding]) -> list[FindingView]:
    """Findings of a trial, as a page has them."""
    return [
        FindingView(
            mode=found.mode.value,
            primary=found.primary,
            basis=found.basis.value,
            evidence=[Evidence(**vars(evidence)) for evidence in found.evidence],
        )
        for found in findings
    ]


def modes_view(found: Findings, failed: int, cells: Mapping[str, int]) -> FailureModesView:
    """Counts of modes, the most frequent first.

    Args:
        found: Findings.
        failed: Failed trials in all.
        cells: Positions of cells by key.
    """
    trials: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(cells))
    primary: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(cells))
    for (cell, _, _), findings in found.items():
        for finding in findings:
            trials[finding.mode][cells[cell]] += 1
            primary[finding.mode][cells[cell]] += finding.primary
    ranked = sorted(trials, key=lambda mode: (-sum(trials[mode]), list(Mode).index(Mode(mode))))
    return FailureModesView(
        analysed=len(found),
        failed=failed,
        modes=[
            FailureModeView(mode=mode, description=_told(Mode(mode)), trials=trials[mode], primary=primary[mode])
            for mode in ranked
        ],
    )


def _told(mode: Mode) -> str:
    """What the mode is, in a sentence: how its rule's module begins."""
    return " ".join((MODULES[mode].__doc__ or "").partition("\n\n")[0].split())


def mode_bits(found: Findings, view: FailureModesView) -> dict[TrialPlace, int]:
    """Modes of each trial as bits, by their position in the view."""
    bits = {mode.mode: 1 << place for place, mode in enumerate(view.modes)}
    return {place: sum(bits[finding.mode] for finding in findings) for place, findings in found.items()}
