"""Judges a run from its rows and the earlier runs of its store."""

from __future__ import annotations

from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.gate import GateRecord, Look, LookRecord
from opsgym_core.common.clock import now_text
from opsgym_core.gates.baseline import find_last_good
from opsgym_core.gates.judge import Baseline, judge, judged_run
from opsgym_core.gates.looks import take_look
from opsgym_core.results.frozen_suite import task_digests
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Summary
from opsgym_core.store.base import Store


def judge_stored_run(
    gate: Gate, rows: RunRows, summary: Summary, store: Store, baseline: Baseline | None
) -> GateRecord:
    """Judges a run by a gate.

    Args:
        gate: The gate.
        rows: Rows of the run.
        summary: Scores of the same rows.
        store: Store in which the last good run is looked up if the gate compares with it.
        baseline: The run to compare with; None if the gate names none.

    Raises:
        InputError: A record of an earlier run, or the index of the run's suite, cannot be read.
        StoreError: The store cannot be read.
    """
    if gate.last_good and baseline is None:
        baseline = find_last_good(store, rows.run, gate.best_of)
    run = judged_run(rows, summary, task_digests(store, rows.run.run))
    return judge(gate, run, baseline).record(rows.run.run, now_text())


def look_at_stored_run(
    gate: Gate, rows: RunRows, summary: Summary, store: Store, baseline: Baseline | None, look: Look
) -> LookRecord | None:
    """A look at a run by its gate; arguments, result and errors as of `judge_stored_run` and `take_look`."""
    if gate.last_good and baseline is None:
        baseline = find_last_good(store, rows.run, gate.best_of)
    run = judged_run(rows, summary, task_digests(store, rows.run.run))
    return take_look(gate, run, baseline, look, now_text())
