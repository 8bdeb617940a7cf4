"""`opsgym rescore`: verifies the final states of a run again."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import httpx

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.grid import Grid, grid
from opsgym.formats.numbers import cell_name, percent
from opsgym.formats.score_table import console, print_summary
from opsgym.local.gym_servers import GymLostError, GymServers
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord, Timings, TrialRecord
from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_api.records.run import RunRecord, is_held_out, variant_of
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.digest import digest_of
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task
from opsgym_core.common.clock import now_text
from opsgym_core.planning.held_out import held_out_variant
from opsgym_core.planning.run_id import suite_digest
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.results.frozen_suite import FrozenRows, FrozenSuite, FrozenSuiteError, Seed, for_each
from opsgym_core.results.load import load_run
from opsgym_core.results.score import RunResults, summarise
from opsgym_core.store.base import Store, StoreError
from opsgym_domains import registry
from opsgym_domains.editions import UnknownSuiteError, is_builtin, resolved
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.errors import NotScored, config_error, infra_error
from opsgym_runner.gyms.client import http_client
from opsgym_runner.rescoring import read_saved_trial, rescored

CONCURRENCY = 4
"""Trials verified at the same time; each of them loads a Postgres database."""


JUDGES_ONLY = frozenset(
    {"verifiers", "gold_actions", "gold_answer", "gold_answers", "feasible", "horizon", "tags", "user_prompts"}
)
"""Fields of a row that an episode does not depend on; after a change of another one its trials say nothing."""


@dataclass(frozen=True)
class RescoredTask:
    """A task of the run that is rescored."""

    original: Task
    """The row as it ran."""
    current: Task
    """The row whose verifiers judge now."""
    seeds: Mapping[str, Seed]
    """By name of the gym server."""

    @property
    def another(self) -> list[str]:
        """Fields in which the row that judges is another task than the one that ran."""
        before, after = (row.model_dump(mode="json", exclude=set(JUDGES_ONLY)) for row in (self.original, self.current))
        return [name for name in before | after if before.get(name) != after.get(name)]


@dataclass(frozen=True)
class Rescoring:
    """A run whose trials are verified again, and the run that holds the new results."""

    store: Store
    original: RunResults
    tasks: Mapping[str, RescoredTask]
    """By task id."""
    run: str
    """Id of the new run."""
    by_edition: bool = False
    """Whether an edition's rows judge; rows that a user gives may differ in any field."""


def rescore(run: str, tasks: str | None, edition: str | None, locator: RunLocator) -> int:
    """Verifies the final states of a run again, and stores the results as a run of their own.

    Args:
        run: The run.
        tasks: Rows whose verifiers judge: a built-in suite, a file or a folder; None for the run's own rows.
        edition: Edition of the run's suite whose rows judge, in place of `tasks`.
        locator: Location of the run.

    Raises:
        InputError: The run does not exist, or cannot be verified again.
        StoreError: The store cannot be used.
        ClusterError: The cluster cannot be queried.
    """
    store, original = locator.load(run)
    rescoring = _prepare(store, original, tasks, edition)
    asyncio.run(_verify_trials(rescoring))
    new_results = load_run(store, rescoring.run)
    print_summary(summarise(new_results), console())
    changes = _changed_outcomes(original.trials, new_results.trials)
    click.echo()
    _beside(rescoring.original, new_results).print(console())
    verified = f"{len(new_results.trials)} of {len(rescoring.original.trials)} trials verified again"
    click.echo(f"\n{verified}; {len(changes)} with a different outcome")
    for change in changes:
        click.echo(f"  {change}")
    option = f" --store {shlex.quote(locator.store)}" if locator.store else ""
    click.echo(f"run {rescoring.run}\n  opsgym compare {original.run.run} {rescoring.run}{option}")
    return Exit.OK if len(new_results.trials) == len(rescoring.original.trials) else Exit.NOT_SCORED


def _beside(before: RunResults, after: RunResults) -> Grid:
    """Success rates of the same trials before and after, by cell."""
    old = {trial.trial_id: trial.score for trial in before.trials}
    labels = [f"before ({before.run.suite})", f"after ({after.run.suite})"]
    table = grid("model", "agent", "mode", "domain", right=["trials", *labels])
    for cell in dict.fromkeys(trial.cell for trial in after.trials):
        trials = [trial for trial in after.trials if trial.cell == cell]
        rates = [fmean(old[trial.trial_id] for trial in trials), fmean(trial.score for trial in trials)]
        table.add_row(cell.model, cell.agent, cell.mode, cell.domain, str(len(trials)), *map(percent, rates))
    return table


def _prepare(store: Store, original: RunResults, tasks: str | None, edition: str | None) -> Rescoring:
    """Reads the rows, and writes the suite and `run.json` of the new run.

    Raises:
        InputError: The run cannot be verified again.
        StoreError: The store cannot be used.
    """
    run = original.run.run
    if original.run.rescored_from:
        advice = f"is a rescored run itself; rescore {original.run.rescored_from}"
        raise InputError(run, [Problem("", advice)])
    if not original.trials:
        raise InputError(run, [Problem("", "has no scored trial to verify again")])
    if edition is not None:
        tasks = _suite_of(original.run, edition)
    replacements = {task.task_id: task for task in _read_tasks(tasks, original.run.spec)} if tasks is not None else {}
    if edition is not None:
        original = _only(original, replacements.keys())
    ids = list(dict.fromkeys(trial.task_id for trial in original.trials))
    frozen = FrozenRows(store, run)
    rows = {task_id: _task(frozen, run, task_id, replacements.get(task_id)) for task_id in ids}
    if replacements and not replacements.keys() & rows.keys():
        raise InputError(str(tasks), [Problem("task_id", f"none of the rows is a task of run {run}")])
    _require_servers(run, rows.values())
    digest = suite_digest(row.current for row in rows.values())
    name = digest_of([digest, version("opsgym")])[:8]
    rescoring = Rescoring(store, original, rows, f"{run}.rescored-{name}", edition is not None)
    _write_run(rescoring, digest, original.run.edition if tasks is None else edition or "")
    return rescoring


def _suite_of(run: RunRecord, edition: str) -> str:
    """The full name of an edition of a run's suite.

    Raises:
        InputError: The suite is not built in, or there is no such edition.
    """
    builtin = (run.spec.get("suite") or {}).get("builtin")
    if not builtin:
        raise InputError(run.run, [Problem("--edition", "its suite is not built in; --tasks names rows that judge")])
    try:
        return resolved(f"{builtin.partition('@')[0]}@{edition}")
    except UnknownSuiteError as error:
        raise InputError("--edition", [Problem("", str(error))]) from None


def _only(results: RunResults, ids: Collection[str]) -> RunResults:
    """The results of some of a run's tasks.

    Raises:
        InputError: None of them is a task of the run.
    """
    cells = [
        cell.model_copy(update={"task_ids": [task for task in cell.task_ids if task in ids]})
        for cell in results.run.cells
    ]
    task_ids = [task for task in results.run.task_ids if task in ids]
    if left := [task for task in results.run.task_ids if task not in ids]:
        click.echo(f"left out, because the edition does not have them: {', '.join(left)}", err=True)
    return replace(
        results,
        run=results.run.model_copy(update={"cells": [cell for cell in cells if cell.task_ids], "task_ids": task_ids}),
        trials=[trial for trial in results.trials if trial.task_id in ids],
        attempts=[attempt for attempt in results.attempts if attempt.task_id in ids],
    )


def _task(frozen: FrozenRows, run: str, task_id: str, replacement: Task | None) -> RescoredTask:
    try:
        original, seeds = frozen.read(task_id)
    except FrozenSuiteError as error:
        raise InputError(run, [Problem(task_id, str(error))]) from None
    return RescoredTask(original, replacement or original, seeds)


def _require_servers(run: str, tasks: Iterable[RescoredTask]) -> None:
    installed = registry.domains()
    missing = {domain for task in tasks for domain in domains_of(task.current)} - set(installed)
    if missing:
        problem = f"no gym server is installed for {', '.join(sorted(missing))}; installed: {', '.join(installed)}"
        raise InputError(run, [Problem("", problem)])


def _read_tasks(tasks: str, spec: Mapping[str, Any]) -> Sequence[Task]:
    """Rows of a file, or of a built-in suite in the run's variant."""
    if is_builtin(tasks):
        number = held_out_variant(os.environ, tasks) if is_held_out(spec) else variant_of(spec)
        try:
            return load_suite(tasks, number)
        except UnknownSuiteError as error:
            raise InputError("--tasks", [Problem("", str(error))]) from None
    rows, bad_rows = read_tasks(Path(tasks))
    if bad_rows:
        raise InputError(tasks, [Problem("", row.message) for row in bad_rows])
    return rows


def _write_run(rescoring: Rescoring, digest: str, edition: str) -> None:
    """Writes suite, attempts and `run.json` of the new run; does nothing if an earlier invocation has."""
    keys, record = RunKeys(rescoring.run), rescoring.original.run
    if rescoring.store.get(keys.run_json) is not None:
        return
    suite = FrozenSuite(edition=edition)
    for task in rescoring.tasks.values():
        suite.add(task.current, task.seeds)
    suite.write(rescoring.store, rescoring.run)
    attempts = {
        keys.trial(attempt.cell, attempt.task_id, attempt.trial).attempt(attempt.attempt): attempt
        for attempt in rescoring.original.attempts
    }

    def copy(key: str) -> None:
        rescoring.store.put(key, replace(attempts[key], run=rescoring.run).to_json())

    for_each(copy, list(attempts))
    rescored_record = record.model_copy(
        update={
            "run": rescoring.run,
            "name": f"{record.name}-rescored",
            "suite_digest": digest,
            "edition": edition,
            "opsgym": version("opsgym"),
            "created_at": now_text(),
            "rescored_from": record.run,
        }
    )
    rescoring.store.put_once(keys.run_json, rescored_record.model_dump_json().encode())


class Rescorer:
    """Verifies trials again and stores the results.

    Args:
        rescoring: The runs.
        gyms: Gym servers of the tasks' domains.
        http: HTTP client for the gym servers.
    """

    def __init__(self, rescoring: Rescoring, gyms: GymServers, http: httpx.AsyncClient) -> None:
        self._rescoring = rescoring
        self._gyms = gyms
        self._http = http
        self._keys = RunKeys(rescoring.run)
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def verify(self, trial: TrialRecord) -> bool:
        """Verifies one trial and stores its record, or the reason why it cannot be verified; whether it could be."""
        async with self._slots:
            try:
                record = await self._rescored(trial)
            except NotScored as error:
                await self._record_failure(trial, error)
                return False
        key = self._keys.trial(trial.cell, trial.task_id, trial.trial).record
        await asyncio.to_thread(self._rescoring.store.put_once, key, record.to_json())
        return True

    async def _rescored(self, trial: TrialRecord) -> TrialRecord:
        rescoring, task = self._rescoring, self._rescoring.tasks[trial.task_id]
        run = rescoring.original.run.run
        if rescoring.by_edition and task.another:
            problem = f"the edition changes its {', '.join(task.another)}, so it is another task: run it again"
            raise config_error(ConfigReason.UNSUPPORTED, problem)
        saved = await asyncio.to_thread(read_saved_trial, rescoring.store, run, trial, task.original)
        try:
            await self._gyms.ready(domains_of(task.current))
        except GymLostError as error:
            raise infra_error(InfraReason.GYM_LOST, str(error)) from None
        return await rescored(saved, task.current, rescoring.run, self._gyms.urls, self._http)

    async def _record_failure(self, trial: TrialRecord, error: NotScored) -> None:
        """Records why a trial is not verified, as an attempt without cost."""
        click.echo(f"not verified  {_label(trial)}: {error}", err=True)
        record = AttemptRecord(
            run=self._rescoring.run,
            cell=trial.cell,
            task_id=trial.task_id,
            trial=trial.trial,
            attempt=trial.attempt + 1,
            outcome=error.outcome,
            reason=error.reason,
            message=str(error),
            timings=Timings(started_at=now_text()),
        )
        key = self._keys.trial(trial.cell, trial.task_id, trial.trial).attempt(record.attempt)
        await asyncio.to_thread(self._rescoring.store.put, key, record.to_json())


async def _verify_trials(rescoring: Rescoring) -> None:
    """Verifies the trials that have no record in the new run yet."""
    verified = {trial.trial_id for trial in load_run(rescoring.store, rescoring.run).trials}
    pending = [trial for trial in rescoring.original.trials if trial.trial_id not in verified]
    if not pending:
        return
    domains = sorted({domain for trial in pending for domain in domains_of(rescoring.tasks[trial.task_id].current)})
    note = partial(click.echo, err=True)
    async with GymServers(domains, note) as gyms, http_client(admin_tokens=gyms.admin_tokens) as http:
        note(f"verifying {len(pending)} trials again; starting gym servers: {', '.join(domains)}")
        try:
            await gyms.start()
        except GymLostError as error:
            raise StoreError(rescoring.store.name, rescoring.run, str(error)) from None
        rescorer = Rescorer(rescoring, gyms, http)
        with click.progressbar(length=len(pending), label="verified", file=sys.stderr) as bar:
            for verification in asyncio.as_completed([rescorer.verify(trial) for trial in pending]):
                await verification
                bar.update(1)


def _changed_outcomes(before: Iterable[TrialRecord], after: Iterable[TrialRecord]) -> list[str]:
    """Trials whose outcome differs, one line each."""
    old = {trial.trial_id: trial for trial in before}
    pairs = ((old[trial.trial_id], trial) for trial in after)
    return [
        f"{previous.outcome} -> {trial.outcome}  {_label(trial)}"
        for previous, trial in pairs
        if previous.outcome != trial.outcome
    ]


def _label(trial: TrialRecord) -> str:
    return f"{cell_name(trial.cell)}  {trial.task_id}/{trial.trial}"
