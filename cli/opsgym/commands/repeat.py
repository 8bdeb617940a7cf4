"""`opsgym run --from`: repeats one trial of a stored run on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from opsgym.commands.held_out import sealing_store
from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.verdict import verifier_lines
from opsgym.local.display import LineDisplay
from opsgym.local.inputs import RunInputs
from opsgym.local.logs import logging_to
from opsgym.local.monitor import TranscriptPrinter
from opsgym.local.output import write_line
from opsgym.local.plan import PriorState, plan_local
from opsgym.local.progress import Progress
from opsgym.local.record import frozen_suite, local_ledger, run_record
from opsgym.local.repeat import LocalEnvironment, TrialSelection, copy_recordings, repeat_inputs, select_trial
from opsgym.local.run import LocalResult, LocalRun
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.run import RunRecord, is_held_out
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.common.clock import now_text
from opsgym_core.common.foreign import visible
from opsgym_core.results.frozen_suite import read_frozen
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store
from opsgym_core.store.objects import read_object
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.prices import known_prices


@dataclass(frozen=True)
class RepeatRequest:
    """Arguments of `opsgym run --from RUN`."""

    run: str
    trial: str
    """`TASK` or `TASK/N`."""
    cell: str | None
    """Model/agent/mode/domain, or the first parts of it; None if only one cell runs the task."""
    step: bool
    """Whether to wait for the user before each step."""
    recorded: bool
    """Whether to replay the stored transcript instead of calling the model."""
    store: str
    """Location of the store that the result is written to."""
    log_file: Path | None
    """File that log lines are appended to."""


def repeat(request: RepeatRequest, locator: RunLocator) -> int:
    """Runs one trial of a run again and prints its transcript as it grows.

    Raises:
        InputError: There is no such trial, or it cannot run on this machine.
        StoreError: A store cannot be used.
        ClusterError: The cluster cannot be queried.
    """
    source, results = locator.load(request.run)
    trial = select_trial(results.run, request.trial, request.cell)
    target: Store = open_store(request.store)
    if is_held_out(results.run.spec):
        target = sealing_store(target, os.environ)
    local = LocalEnvironment(os.environ, known_prices, missing_key)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opsgym-")))
        recordings = copy_recordings(source, results.run, folder)
        if request.recorded:
            recordings[trial.cell.model] = _copy_transcript(source, results.run, trial, folder)
        inputs = repeat_inputs(source, results.run, trial, recordings, local)
        result = _run_trial(inputs, target, request)
    before = _trial_record(source, results.run.run, trial)
    after = _trial_record(target, inputs.run_id, TrialSelection(trial.cell, trial.task_id, 0))
    if after is not None:
        task, _seeds = read_frozen(target, inputs.run_id, trial.task_id)
        for line in verifier_lines(after, task):
            click.echo(visible(line))
    attempts = [f"{record.outcome} {record.reason} {record.message}".strip() for record in result.records.values()]
    now = _outcome_text(after) if after else "; ".join(attempts) or "not run"
    click.echo(f"\n{trial.label}: then {_outcome_text(before) if before else 'not scored'}, now {now}")
    click.echo(f"run {inputs.run_id}\n  opsgym report {inputs.run_id} --out report --store {request.store}")
    if result.signal is not None:
        return Exit.INTERRUPTED if result.signal == signal.SIGINT else Exit.TERMINATED
    return Exit.OK if after else Exit.NOT_SCORED


def _copy_transcript(store: Store, run: RunRecord, trial: TrialSelection, folder: Path) -> Path:
    """Copies the transcript of the scored attempt into a folder, for a replay model."""
    keys = RunKeys(run.rescored_from or run.run).trial(trial.cell, trial.task_id, trial.trial)
    content = store.get(keys.transcript)
    if content is None:
        problem = "has no transcript to replay; only scored trials have one; run it without --recorded"
        raise InputError(run.run, [Problem(trial.label, problem)])
    file = folder / "transcript.json.zst"
    file.write_bytes(content)
    return file


def _run_trial(inputs: RunInputs, store: Store, request: RepeatRequest) -> LocalResult:
    plan = plan_local(inputs, PriorState())
    frozen_suite(inputs).write(store, inputs.run_id)
    record = run_record(inputs, plan, now_text())
    store.put_once(RunKeys(inputs.run_id).run_json, record.model_dump_json().encode())
    ledger = local_ledger(inputs.spec)
    display = LineDisplay(Progress(plan.trials_by_cell, ledger, time.monotonic), sys.stderr)
    monitor = TranscriptPrinter(partial(write_line, sys.stdout), _prompt if request.step else None)
    local = LocalRun(inputs, plan, PriorState(), store, ledger, display, concurrency=1, monitor=monitor)
    with logging_to(display, request.log_file):
        return asyncio.run(local.run())


def _prompt() -> str:
    """Waits for the user; the end of input continues the episode."""
    try:
        return input("[Enter] next step, [q] stop: ")
    except EOFError:
        return ""


def _trial_record(store: Store, run: str, trial: TrialSelection) -> TrialRecord | None:
    return read_object(store, RunKeys(run).trial(trial.cell, trial.task_id, trial.trial).record, TrialRecord)


def _outcome_text(record: TrialRecord) -> str:
    return f"{record.outcome} ({record.reason})" if record.reason else str(record.outcome)
