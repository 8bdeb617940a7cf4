"""`opsgym run`: runs an EvalRun on this machine."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import click

from opsgym.commands.dry_run import dry_run
from opsgym.commands.held_out import sealing_store
from opsgym.exits import Exit
from opsgym.formats.gate_text import gate_text
from opsgym.formats.score_table import console, print_summary, summary_json
from opsgym.local.display import Display, display_for
from opsgym.local.inputs import RunInputs, read_inputs
from opsgym.local.lease import Lease, RunHeldError, held
from opsgym.local.logs import logging_to
from opsgym.local.metrics import MetricsOptions, RunMetrics, exposed
from opsgym.local.plan import LocalPlan, PriorState, plan_local
from opsgym.local.progress import Progress
from opsgym.local.record import (
    compact_if_large,
    frozen_suite,
    local_ledger,
    note_rows,
    prior_state,
    run_record,
    with_records,
)
from opsgym.local.rounds import Rounds
from opsgym.local.run import LocalResult, LocalRun
from opsgym.local.webhook import notification_of, notify, webhook_of
from opsgym.program import program
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.clock import now_text, utc_now, utc_text
from opsgym_core.common.foreign import one_line
from opsgym_core.gates.baseline import baseline_of, find_baseline
from opsgym_core.gates.judge import Baseline
from opsgym_core.gates.stored_run import judge_stored_run
from opsgym_core.planning.rounds import due_look
from opsgym_core.planning.run_id import numbered_run_id
from opsgym_core.results.load import creation_time, load_record, load_rows
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Summary, summarise
from opsgym_core.store.base import Store, StoreError, write_once_problem
from opsgym_core.store.location import open_store
from opsgym_core.store.sealed import without_seal
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.prices import known_prices

AHEAD = timedelta(minutes=5)
"""Difference of two machines' clocks that is worth a message."""


@dataclass(frozen=True)
class RunRequest:
    """Arguments of `opsgym run FILE`."""

    file: Path
    """Document with the EvalRun."""
    store: str
    """Location of the store that results are written to."""
    concurrency: int | None
    """Episodes at the same time; None for the default of `LocalRun`."""
    as_json: bool
    """Whether to print the result as one JSON line on stdout, and all other output on stderr."""
    metrics: MetricsOptions
    log_file: Path | None = None
    """File that log lines are appended to."""
    name: str | None = None
    """Name of the run instead of the EvalRun's."""
    fresh: bool = False
    """Whether to start another run of the same work instead of resuming the last one."""
    webhook: str | None = None
    """Name of the environment variable that holds the URL of the webhook to notify."""
    dry_run: bool = False
    """Whether to print what would run instead of running it."""
    check_models: bool = True
    """Whether to play one tool turn with each model of many trials before its first one."""

    @property
    def store_option(self) -> str:
        """The `--store` option of a command that reads the results; empty for the default store."""
        return "" if self.store == "./results" else f" --store {shlex.quote(self.store)}"

    @property
    def command(self) -> str:
        """The command that continues the run."""
        name = "" if self.name is None else f" --name {shlex.quote(self.name)}"
        return f"{program()} run {shlex.quote(str(self.file))}{name}{self.store_option}"


def run(request: RunRequest) -> int:
    """Runs the trials of an EvalRun that have no score, and prints the scores of all of its trials.

    Raises:
        InputError: The run cannot start.
        StoreError: The store cannot be used.
    """
    store: Store = open_store(request.store)
    inputs = read_inputs(request.file, os.environ, known_prices, missing_key, request.name)
    if inputs.spec.suite.held_out:
        store = sealing_store(store, os.environ)
    run_id = numbered_run_id(
        inputs.run_id, lambda run: store.get(RunKeys(run).run_json) is not None, fresh=request.fresh
    )
    inputs = replace(inputs, run_id=run_id)
    if request.dry_run:
        return dry_run(inputs, store, as_json=request.as_json)
    if "://" in request.store and (problem := write_once_problem(store, RunKeys(run_id).probe)):
        raise InputError(store.name, [Problem("store", problem)])
    ledger = local_ledger(inputs.spec)
    metrics = RunMetrics(inputs, store, ledger)
    try:
        with exposed(metrics, request.metrics), held(store, run_id, partial(click.echo, err=True)) as lease:
            return _Invocation(request, inputs, store, ledger, metrics, lease).run()
    except RunHeldError as error:
        click.echo(str(error), err=True)
        return Exit.HELD


@dataclass(frozen=True)
class _Invocation:
    """One invocation of the command."""

    request: RunRequest
    inputs: RunInputs
    store: Store
    ledger: AttemptLedger
    metrics: RunMetrics
    lease: Lease

    @property
    def clear(self) -> Store:
        """The store for what concerns other runs: the seed of this one does not open them."""
        return without_seal(self.store)

    def run(self) -> int:
        """Runs, summarises, judges and notifies; returns the exit code."""
        webhook = None if self.request.webhook is None else webhook_of(self.request.webhook, os.environ)
        baseline = self._find_baseline()
        for note in self.inputs.notes:
            click.echo(note, err=True)
        result = self._run_trials(self._open_run(), baseline)
        if self.lease.lost:
            click.echo(f"stopped: another process took over run {self.inputs.run_id} and goes on with it", err=True)
            return Exit.HELD
        if result.signal is None:
            self._compact()
        rows = with_records(load_rows(self.store, self.inputs.run_id), result.records.values())
        summary = summarise(rows)
        self._print(summary, result)
        if result.signal is not None:
            return Exit.INTERRUPTED if result.signal == signal.SIGINT else Exit.TERMINATED
        suspended = self.inputs.spec.suspend
        gate = None if suspended else self._judge(rows, summary, baseline)
        if webhook is not None and not suspended:
            delivery = notify(webhook, notification_of(rows.run, summary, gate, self.store.name, now_text()))
            if delivery.outcome != "sent":
                click.echo(f"the webhook was not notified: {delivery.problem}", err=True)
        if result.used_up:
            models = ", ".join(sorted(result.used_up))
            click.echo(
                f"stopped: the quota of {models} is used up; raise it, then run the same command again", err=True
            )
            return Exit.QUOTA
        if gate is not None and gate.verdict != "GO":
            return Exit.of_gate(gate.verdict)
        return Exit.OK if summary.total.scored == summary.total.total else Exit.NOT_SCORED

    def _find_baseline(self) -> Baseline | None:
        """The baseline that the gate names. It is read first, so that a run that cannot be judged costs nothing."""
        gate = self.inputs.spec.gate
        return find_baseline(self.clear, gate.baseline, self.inputs.run_id) if gate and gate.baseline else None

    def _open_run(self) -> RunRows | None:
        """Writes the run's suite and record once; rows of earlier invocations, None in the first one."""
        inputs, store = self.inputs, self.store
        key = RunKeys(inputs.run_id).run_json
        if store.get(key) is None:
            frozen_suite(inputs).write(store, inputs.run_id)
            now = utc_now()
            created_at = creation_time(self.clear, inputs.name, now)
            if created_at - now > AHEAD:
                moment = utc_text(created_at, "seconds")
                click.echo(
                    f"this run is dated {moment}, just after the newest run of {inputs.name}, which is ahead of this "
                    "machine's clock: one of the two clocks is wrong",
                    err=True,
                )
            record = run_record(inputs, plan_local(inputs, PriorState()), utc_text(created_at, "milliseconds"))
            if store.put_once(key, record.model_dump_json().encode()):
                return None
        return load_rows(store, inputs.run_id)

    def _run_trials(self, earlier: RunRows | None, baseline: Baseline | None) -> LocalResult:
        inputs, request = self.inputs, self.request
        prior = PriorState() if earlier is None else prior_state(earlier)
        record = load_record(self.store, inputs.run_id)
        plan = plan_local(inputs, prior, record.trials)
        if earlier is not None:
            note_rows(self.ledger, earlier)
        if not inputs.spec.suspend:
            self.ledger.reopen(planned.key for planned in plan.pending)
        self.metrics.begin(plan.trials_by_cell)
        if inputs.spec.suspend:
            click.echo(f"{inputs.name} is suspended, nothing starts; set spec.suspend to false to run it", err=True)
            return LocalResult({})
        progress = Progress(plan.trials_by_cell, self.ledger, time.monotonic, inputs.spec.trials)
        display = display_for(progress, as_json=request.as_json)

        def grow(cells: Mapping[Cell, int]) -> None:
            progress.cells = cells
            self.metrics.begin(cells)

        rounds = Rounds(inputs, self.store, baseline, grow) if due_look(record) else None
        note = self.metrics.note if request.metrics.enabled else None
        local = LocalRun(
            inputs,
            plan,
            prior,
            self.store,
            self.ledger,
            display,
            request.concurrency,
            note=note,
            rounds=rounds,
            lease=self.lease,
            check_models=request.check_models,
        )
        display.open()
        try:
            _announce(inputs, plan, display)
            with logging_to(display, request.log_file):
                result = asyncio.run(local.run())
            if result.signal is None:
                self.metrics.finish(datetime.now(UTC))
            return result
        finally:
            display.close()

    def _compact(self) -> None:
        try:
            compact_if_large(self.store, load_record(self.store, self.inputs.run_id))
        except StoreError as error:  # the run can be read without chunks, only slower
            click.echo(f"the run is complete, but its records could not be compacted: {error}", err=True)

    def _print(self, summary: Summary, result: LocalResult) -> None:
        """Prints the scores, where they are stored, and the commands that read them."""
        request, name = self.request, self.inputs.name
        if result.signal is not None:
            click.echo(f"stopped; continue with: {request.command}", err=True)
        if request.as_json:
            click.echo(summary_json(summary))
            return
        if summary.total.scored or not summary.total.total:
            out = console()
            out.print()
            print_summary(summary, out)
            out.print()
        else:
            click.echo(f"\n{_nothing_scored(summary, result.records.values())}")
        click.echo(f"results in {request.store}, run {summary.run}")
        click.echo(f"  {program()} results {name}{request.store_option}")
        click.echo(f"  {program()} report {name} --out report{request.store_option}")
        if result.signal is None and summary.total.scored < summary.total.total:
            click.echo(f"  {request.command}   (runs only trials without a score)")

    def _judge(self, rows: RunRows, summary: Summary, baseline: Baseline | None) -> GateRecord | None:
        """Judges the run by its gate and stores the verdict for later runs to compare with; None without a gate."""
        if self.inputs.spec.gate is None:
            return None
        if rows.run.looks:
            baseline = baseline_of(self.clear, self.inputs.spec.gate, rows.run)
        record = judge_stored_run(self.inputs.spec.gate, rows, summary, self.clear, baseline)
        self.store.put(RunKeys(self.inputs.run_id).gate_json, record.model_dump_json().encode())
        click.echo(gate_text(record), err=self.request.as_json)
        self.metrics.show_gate(record)
        return record


def _announce(inputs: RunInputs, plan: LocalPlan, display: Display) -> None:
    """Shows how many trials run, and which rows cannot."""
    for row in dict.fromkeys((trial.task_id, trial.reason, trial.message) for trial in plan.unrunnable):
        display.note("{}  {}  {}: {}".format(Outcome.CONFIG_ERROR.value, *row))
    if plan.scored == plan.total:
        message = f"nothing to run, all {plan.total} trials have a score; --fresh runs them again"
        display.note(f"run {inputs.run_id}: {message}")
        return
    scored = f", {plan.scored} already have a score" if plan.scored else ""
    display.note(f"run {inputs.run_id}: {len(plan.pending)} of {plan.total} trials to run{scored}")


def _nothing_scored(summary: Summary, records: Iterable[AttemptRecord]) -> str:
    """Why no trial has a score, in one sentence: the reasons, and the first message."""
    reasons = ", ".join(f"{n} {reason.rpartition('/')[2]}" for reason, n in sorted(summary.total.not_scored.items()))
    messages = list(dict.fromkeys(one_line(record.message) for record in records if record.message))
    first = f": {messages[0]}" if messages else ""
    return f"no trial has a score: {reasons}{first}"
