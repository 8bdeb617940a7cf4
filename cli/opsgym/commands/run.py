"""`opsgym run`."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from opsgym.exits import Exit
from opsgym.gates import judged, print_gate
from opsgym.local.agenda import Agenda, Before, plan_agenda
from opsgym.local.board import Board
from opsgym.local.clock import utc_now
from opsgym.local.inputs import Inputs, read_inputs
from opsgym.local.ledger import Ledger
from opsgym.local.logs import logging_to
from opsgym.local.metrics import Exposition, Meter, exposed
from opsgym.local.notify import Webhook, notice_of, tell, webhook_of
from opsgym.local.progress import Progress, progress_for
from opsgym.local.record import before_of, compact_if_large, frozen_suite, run_record, with_records
from opsgym.local.run import Ended, LocalRun
from opsgym.score_table import console, print_summary, summary_json
from opsgym_api.baseline import find_baseline
from opsgym_api.gate import Baseline
from opsgym_api.layout import RunKeys
from opsgym_api.notices import Notice
from opsgym_api.outcomes import Outcome
from opsgym_api.records import GateRecord
from opsgym_api.results import load_record, load_rows
from opsgym_api.rows import RunRows
from opsgym_api.scores import Summary, summarise
from opsgym_api.store import Store, StoreError, open_store
from opsgym_runner.models import missing_key
from opsgym_runner.prices import known_prices


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    file: Path
    """Document with the EvalRun."""
    store: str
    """Where results go."""
    concurrency: int | None
    """Episodes at once."""
    as_json: bool
    """Whether the result goes to stdout as one JSON line, and everything else to stderr."""
    metrics: Exposition
    """Where metrics go."""
    log_file: Path | None = None
    """Where log lines go besides the screen."""
    webhook: str | None = None
    """Environment variable that holds the address of whom to tell how the run ended."""


def run(request: Request) -> int:
    """Runs what is left of a run.

    Raises:
        InputError: The run cannot be started.
        StoreError: The store cannot be used.
    """
    store = open_store(request.store)
    inputs = read_inputs(request.file, os.environ, known_prices, missing_key)
    meter = Meter(inputs, store)
    with exposed(meter, request.metrics):
        return _run(inputs, store, meter, request)


def _run(inputs: Inputs, store: Store, meter: Meter, request: Request) -> int:
    webhook = None if request.webhook is None else webhook_of(request.webhook, os.environ)
    baseline = _baseline(inputs, store)
    for note in inputs.notes:
        click.echo(note, err=True)
    earlier = _opened(inputs, store)
    ended = _carried_out(inputs, earlier, store, meter, request)
    if ended.signal is None:
        _compact(inputs, store)
    rows = with_records(load_rows(store, inputs.run_id), ended.records.values())
    summary = summarise(rows)
    _tell(summary, ended, inputs, request)
    if ended.signal is not None:
        return Exit.INTERRUPTED if ended.signal == signal.SIGINT else Exit.TERMINATED
    gate = None if inputs.spec.suspend else _judged(inputs, rows, summary, store, baseline)
    if gate is not None:
        print_gate(gate, err=request.as_json)
        meter.judged(gate)
    if webhook is not None and not inputs.spec.suspend:
        _notify(webhook, notice_of(rows.run, summary, gate, store.name, utc_now()))
    if gate is not None and gate.verdict != "GO":
        return Exit.of_gate(gate.verdict)
    return Exit.OK if summary.total.scored == summary.total.total else Exit.NOT_SCORED


def _notify(webhook: Webhook, notice: Notice) -> None:
    """Tells a webhook; that it cannot be told is said, and changes nothing."""
    if problem := tell(webhook, notice):
        click.echo(f"the webhook was not told: {problem}", err=True)


def _baseline(inputs: Inputs, store: Store) -> Baseline | None:
    """The run that the gate names: looked up first, so that nothing is spent on a run that nothing can judge."""
    gate = inputs.spec.gate
    return find_baseline(store, gate.baseline, inputs.run_id) if gate and gate.baseline else None


def _opened(inputs: Inputs, store: Store) -> RunRows | None:
    """Puts the run's suite and record once; what earlier invocations left, if they were there already."""
    key = RunKeys(inputs.run_id).run_json
    if store.get(key) is None:
        frozen_suite(inputs).write(store, inputs.run_id)
        if store.put_once(key, run_record(inputs, plan_agenda(inputs, Before())).model_dump_json().encode()):
            return None
    return load_rows(store, inputs.run_id)


def _compact(inputs: Inputs, store: Store) -> None:
    """A large run's chunks; it can be read without them, only slower."""
    try:
        compact_if_large(store, load_record(store, inputs.run_id))
    except StoreError as error:
        click.echo(f"the run is complete, but its chunks are not: {error}", err=True)


def _carried_out(inputs: Inputs, earlier: RunRows | None, store: Store, meter: Meter, request: Request) -> Ended:
    before = Before() if earlier is None else before_of(earlier)
    agenda = plan_agenda(inputs, before)
    if request.metrics.wanted:
        trials = {cell: len(task_ids) * agenda.trials for cell, task_ids in agenda.cells}
        meter.begin(trials, () if earlier is None else earlier.cells)
    if inputs.spec.suspend:
        click.echo(f"{inputs.name} is suspended: nothing is started; set spec.suspend to false to run it", err=True)
        return Ended({})
    ledger = Ledger(inputs.spec.budget, before.spent)
    progress = progress_for(_board(agenda), ledger, as_json=request.as_json)
    heard = meter.heard if request.metrics.wanted else None
    local = LocalRun(inputs, agenda, before, store, ledger, progress, request.concurrency, on_record=heard)
    progress.open()
    try:
        _announce(inputs, agenda, progress)
        with logging_to(progress, request.log_file):
            ended = asyncio.run(local.carry_out())
        if ended.signal is None:
            meter.finish(datetime.now(UTC))
        return ended
    finally:
        progress.close()


def _board(agenda: Agenda) -> Board:
    board = Board(((cell, len(task_ids) * agenda.trials) for cell, task_ids in agenda.cells), time.monotonic)
    for cell, outcome in agenda.scored:
        board.counted_before(cell, outcome)
    for trial in agenda.doomed:
        board.counted_before(trial.cell, trial.outcome, trial.reason)
    return board


def _announce(inputs: Inputs, agenda: Agenda, progress: Progress) -> None:
    """Says what will run, and which rows cannot."""
    for row in dict.fromkeys((trial.task_id, trial.reason, trial.message) for trial in agenda.doomed):
        progress.note("{}  {}  {}: {}".format(Outcome.CONFIG_ERROR.value, *row))
    already = f", {len(agenda.scored)} have a score already" if agenda.scored else ""
    progress.note(f"run {inputs.run_id}: {len(agenda.pending)} of {agenda.total} trials to run{already}")


def _tell(summary: Summary, ended: Ended, inputs: Inputs, request: Request) -> None:
    """Prints the scores, where they are, and what to type next."""
    again = f"opsgym run {shlex.quote(str(request.file))} {_store_option(request)}".rstrip()
    if ended.signal is not None:
        click.echo(f"stopped; go on with: {again}", err=True)
    if request.as_json:
        click.echo(summary_json(summary))
        return
    out = console()
    out.print()
    print_summary(summary, out)
    out.print()
    option = _store_option(request)
    click.echo(f"results in {request.store}, run {summary.run}")
    click.echo(f"  opsgym results {inputs.name} {option}".rstrip())
    click.echo(f"  opsgym report {inputs.name} --out report {option}".rstrip())
    if ended.signal is None and summary.total.scored < summary.total.total:
        click.echo(f"  {again}   (runs only what is not scored)")


def _store_option(request: Request) -> str:
    return "" if request.store == "./results" else f"--store {shlex.quote(request.store)}"


def _judged(
    inputs: Inputs, rows: RunRows, summary: Summary, store: Store, baseline: Baseline | None
) -> GateRecord | None:
    """What the run's gate says, kept in the store for later runs to compare with; None if it has none."""
    if inputs.spec.gate is None:
        return None
    record = judged(inputs.spec.gate, rows, summary, store, baseline)
    store.put(RunKeys(inputs.run_id).gate_json, record.model_dump_json().encode())
    return record
