"""Conversions between a local run and its records in the store.

Invariant: records name the environment variables that hold keys, never a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from opsgym.local.inputs import RunInputs
from opsgym.local.plan import LocalPlan, PriorState
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import AttemptRecord, TrialId
from opsgym_api.records.outcomes import ConfigReason
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.planning.rounds import rounds_of
from opsgym_core.results.compaction import compact
from opsgym_core.results.frozen_suite import FrozenSuite
from opsgym_core.results.rows import RowCollection, RunRows, rows_of_records, without_score
from opsgym_core.results.score import last_attempts
from opsgym_core.store.base import Store
from opsgym_runner.job import ResolvedModel
from opsgym_runner.models.checks import recording_of

COMPACT_FROM = 1000
"""Trials from which on the records of a run are compacted; those of a smaller run are read in less than a second."""


def run_record(inputs: RunInputs, plan: LocalPlan, created_at: str) -> RunRecord:
    """The content of `run.json`."""
    return RunRecord(
        run=inputs.run_id,
        name=inputs.name,
        spec=inputs.spec.model_dump(mode="json", by_alias=True),
        task_ids=[*(task.task_id for task in inputs.tasks), *inputs.unreadable],
        cells=[PlannedCell(cell=cell, task_ids=list(task_ids)) for cell, task_ids in plan.cells],
        trials=inputs.spec.trials,
        rounds=rounds_of(inputs.spec),
        suite_digest=inputs.suite_digest,
        edition=inputs.edition,
        opsgym=version("opsgym"),
        versions=dict(inputs.versions),
        created_at=created_at,
    )


def frozen_suite(inputs: RunInputs) -> FrozenSuite:
    """The rows that can run with their seeds, as they are stored beside the results."""
    suite = FrozenSuite(edition=inputs.edition, recordings=_recordings(inputs.models.values()))
    for task in inputs.tasks:
        if task.task_id in inputs.unrunnable:
            suite.add_entry(task, inputs.unrunnable[task.task_id].message)
        else:
            suite.add(task, inputs.seeds[task.task_id])
    return suite


def _recordings(models: Iterable[ResolvedModel]) -> dict[str, bytes]:
    """Files that models replay, by the model's name: a trial can be repeated wherever its store can be read."""
    files = {model.name: recording_of(model.model) for model in models}
    return {name: file.read_bytes() for name, file in files.items() if file is not None}


def prior_state(rows: RunRows) -> PriorState:
    """Results of earlier invocations that decide which trials this one runs."""
    latest: dict[TrialId, AttemptRecord] = {}
    for cell in rows.cells:
        for (task_id, trial), attempt in last_attempts(cell).items():
            latest[TrialId(cell.cell.key, task_id, trial)] = AttemptRecord.of(rows.run.run, attempt)
    scored = {trial.trial_id for cell in rows.cells for trial in cell.trials}
    # A trial with an unreadable record cannot be stored again: its object must be deleted or restored first.
    unreadable = {key for key, last in latest.items() if last.reason == ConfigReason.UNREADABLE_RECORD}
    return PriorState(frozenset(scored | unreadable), {key: latest[key] for key in latest.keys() - unreadable})


def local_ledger(spec: EvalRunSpec) -> AttemptLedger:
    """An empty ledger. A lost store counts as any fault: the user repairs the store and resumes the run."""
    return AttemptLedger(spec.limits.infra_retries, store_losses=spec.limits.infra_retries)


def note_rows(ledger: AttemptLedger, rows: RunRows) -> None:
    """Adds the attempts of earlier invocations to a ledger."""
    for cell in rows.cells:
        for attempt in (*cell.trials, *map(without_score, cell.attempts)):
            ledger.record(attempt)


def with_records(rows: RunRows, records: Iterable[AttemptRecord]) -> RunRows:
    """Rows of the store, completed by attempts of this invocation that the store could not take."""
    gathered = RowCollection()
    for cell in (*rows_of_records((), records), *rows.cells):
        gathered.add(cell)
    return RunRows(rows.run, list(gathered.rows()))


def compact_if_large(store: Store, run: RunRecord) -> None:
    """Compacts the records of a run of at least `COMPACT_FROM` trials.

    Raises:
        StoreError: The store cannot be read or written.
        InputError: A record cannot be read.
    """
    if sum(len(cell.task_ids) for cell in run.cells) * run.trials >= COMPACT_FROM:
        compact(store, run)
