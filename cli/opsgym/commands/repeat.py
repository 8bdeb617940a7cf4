"""`opsgym run --from`."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.local.agenda import Before, plan_agenda
from opsgym.local.board import Board
from opsgym.local.inputs import Inputs
from opsgym.local.ledger import Ledger
from opsgym.local.logs import logging_to
from opsgym.local.progress import Lines
from opsgym.local.record import frozen_suite, run_record
from opsgym.local.repeat import Chosen, Surroundings, choose, repeat_inputs
from opsgym.local.run import Ended, LocalRun
from opsgym.local.watch import Screen
from opsgym_api.errors import InputError, Problem
from opsgym_api.layout import RunKeys
from opsgym_api.objects import read_object
from opsgym_api.records import RunRecord, TrialRecord, VerifierResult
from opsgym_api.store import Store, open_store
from opsgym_runner.models import missing_key
from opsgym_runner.prices import known_prices


@dataclass(frozen=True)
class Repeat:
    """What the user asked for."""

    run: str
    trial: str
    """`TASK` or `TASK/N`."""
    cell: str | None
    """Model/agent/mode/domain, or the first of these."""
    step: bool
    """Whether to wait for the user before each step."""
    recorded: bool
    """Whether to play what the agent did, instead of asking its model."""
    store: str
    """Where the result goes."""
    log_file: Path | None
    """Where log lines go besides the screen."""


def repeat(request: Repeat, where: Where) -> int:
    """Runs one trial of a run again, showing what is said as it is said.

    Raises:
        InputError: There is no such trial, or it cannot be run here.
        StoreError: A store cannot be used.
        ClusterError: The cluster cannot be asked.
    """
    source, results = where.load(request.run)
    chosen = choose(results.run, request.trial, request.cell)
    target = open_store(request.store)
    surroundings = Surroundings(os.environ, known_prices, missing_key)
    with ExitStack() as stack:
        recording = None
        if request.recorded:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="opsgym-"))
            recording = _recording(source, results.run, chosen, Path(folder))
        inputs = repeat_inputs(source, results.run, chosen, recording, surroundings)
        ended = _carried_out(inputs, target, request)
    before = _record(source, results.run.run, chosen)
    after = _record(target, inputs.run_id, Chosen(chosen.cell, chosen.task_id, 0))
    return _tell(chosen, before, after, ended, inputs, request)


def _recording(store: Store, run: RunRecord, chosen: Chosen, folder: Path) -> Path:
    """What the agent did in the scored attempt, as a replay model plays it."""
    keys = RunKeys(run.rescored_from or run.run).trial(chosen.cell, chosen.task_id, chosen.trial)
    content = store.get(keys.transcript)
    if content is None:
        advice = "only a scored trial has one; run it without --recorded"
        raise InputError(run.run, [Problem(chosen.named, f"holds no transcript to play; {advice}")])
    file = folder / "transcript.json.zst"
    file.write_bytes(content)
    return file


def _carried_out(inputs: Inputs, store: Store, request: Repeat) -> Ended:
    agenda = plan_agenda(inputs, Before())
    frozen_suite(inputs).write(store, inputs.run_id)
    store.put_once(RunKeys(inputs.run_id).run_json, run_record(inputs, agenda).model_dump_json().encode())
    board = Board(((cell, len(task_ids)) for cell, task_ids in agenda.cells), time.monotonic)
    progress = Lines(board, sys.stderr)
    screen = Screen(click.echo, _asked if request.step else None)
    ledger = Ledger(None, {})
    local = LocalRun(inputs, agenda, Before(), store, ledger, progress, concurrency=1, watcher=screen)
    with logging_to(progress, request.log_file):
        return asyncio.run(local.carry_out())


def _asked() -> str:
    """Waits for the user; the end of input lets the episode go on."""
    try:
        return input("[Enter] next step, [q] stop: ")
    except EOFError:
        return ""


def _record(store: Store, run: str, chosen: Chosen) -> TrialRecord | None:
    return read_object(store, RunKeys(run).trial(chosen.cell, chosen.task_id, chosen.trial).record, TrialRecord)


def _tell(
    chosen: Chosen,
    before: TrialRecord | None,
    after: TrialRecord | None,
    ended: Ended,
    inputs: Inputs,
    request: Repeat,
) -> int:
    for result in after.verifiers if after else []:
        click.echo(_verdict(result))
    attempts = [f"{record.outcome} {record.reason} {record.message}".strip() for record in ended.records.values()]
    now = _outcome(after) if after else "; ".join(attempts) or "not run"
    click.echo(f"\n{chosen.named}: then {_outcome(before) if before else 'not scored'}, now {now}")
    click.echo(f"run {inputs.run_id}\n  opsgym report {inputs.run_id} --out report --store {request.store}")
    if ended.signal is not None:
        return Exit.INTERRUPTED
    return Exit.OK if after else Exit.NOT_SCORED


def _outcome(record: TrialRecord) -> str:
    return f"{record.outcome} ({record.reason})" if record.reason else str(record.outcome)


def _verdict(result: VerifierResult) -> str:
    """A verifier's finding in a line; one that failed with what it wanted."""
    name = result.name or f"verifier {result.index}"
    if result.passed:
        return f"  passed  {result.category}  {name}"
    query = f"\n          {result.query}" if result.query else ""
    return f"  FAILED  {result.category}  {name}\n          expected {result.expected!r}, is {result.actual!r}{query}"
