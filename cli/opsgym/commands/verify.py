"""`opsgym verify`: checks a stored run against itself, and plays its calls again."""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.numbers import cell_name
from opsgym.local.gym_servers import GymLostError, GymServers
from opsgym.local.repeat import spec_of
from opsgym.runcheck.records import StoredTrial, run_problems, trial_problems
from opsgym.runcheck.replay import (
    Replayed,
    needs_same_steps,
    recording_of,
    replay_problems,
    replayable,
    replaying,
    stands_still,
    verdict_problems,
)
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import EvalRunSpec, Mode
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_api.tasks.task import Task
from opsgym_core.common.foreign import visible
from opsgym_core.common.logs import send_logs
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.results.frozen_suite import FrozenRows, FrozenSuiteError, Seed
from opsgym_core.results.score import RunResults
from opsgym_core.results.transcripts import encode_record, read_transcript
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.local import LocalStore
from opsgym_core.store.objects import read_object
from opsgym_domains import registry
from opsgym_runner.errors import NotScored, config_error, infra_error
from opsgym_runner.gyms.client import http_client
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.prices import REPLAY
from opsgym_runner.rescoring import JUDGED, read_saved_trial, rescored
from opsgym_runner.runner import Runner

CONCURRENCY = 4
"""Trials played at the same time."""


FrozenRow = tuple[Task, Mapping[str, Seed]]


@dataclass(frozen=True)
class CheckedRun:
    """A run that is checked."""

    store: Store
    results: RunResults
    spec: EvalRunSpec
    index: SuiteIndex
    """Index of its suite."""
    rows: Mapping[str, FrozenRow | FrozenSuiteError]
    """Rows of its suite that can run, with their seeds, by task id; why not, where one cannot be read."""


def verify(run: str, locator: RunLocator) -> int:
    """Checks a run: its objects against each other, and its verdicts, results and final databases against its calls.

    Args:
        run: The run.
        locator: Location of the run.

    Raises:
        InputError: The run does not exist, or has nothing to check.
        StoreError: The store cannot be used.
        ClusterError: The cluster cannot be queried.
    """
    store, results = locator.load(run)
    checked = _prepare(store, results)
    unreadable = {f"suite: {error}" for error in checked.rows.values() if isinstance(error, FrozenSuiteError)}
    problems = [*run_problems(results.run, checked.index, _tasks(checked)), *sorted(unreadable)]
    send_logs([], logging.WARNING)  # of the calls that are played again; what is wrong is printed
    trials, left = asyncio.run(_check_trials(checked))
    for problem in [*problems, *trials]:
        click.echo(visible(problem))
    count = len(problems) + len(trials)
    total = len(results.trials)
    click.echo(f"{results.run.run}: {total - left} of {total} scored trials verified; {count} contradictions")
    return Exit.NOT_SCORED if count or left else Exit.OK


def _prepare(store: Store, results: RunResults) -> CheckedRun:
    run, keys = results.run, RunKeys(results.run.run)
    if run.rescored_from:
        raise InputError(run.run, [Problem("", f"is a rescored run; verify {run.rescored_from}")])
    if not results.trials:
        raise InputError(run.run, [Problem("", "has no scored trial to verify")])
    index = read_object(store, keys.suite_index, SuiteIndex)
    if index is None:
        raise InputError(run.run, [Problem("", f"{store.name} has no {keys.suite_index}: rows and seeds are missing")])
    ids = [entry.task_id for entry in index.entries if not entry.problem and entry.task_id in run.task_ids]
    frozen = FrozenRows(store, run.run)
    rows = {task_id: _row(frozen, task_id) for task_id in {*ids, *(trial.task_id for trial in results.trials)}}
    return CheckedRun(store, results, spec_of(run), index, rows)


def _row(frozen: FrozenRows, task_id: str) -> FrozenRow | FrozenSuiteError:
    try:
        return frozen.read(task_id)
    except FrozenSuiteError as error:
        return error


def _tasks(checked: CheckedRun) -> dict[str, Task]:
    return {task_id: row[0] for task_id, row in checked.rows.items() if not isinstance(row, FrozenSuiteError)}


async def _check_trials(checked: CheckedRun) -> tuple[list[str], int]:
    """Problems of all trials, and the number of trials that could not be checked."""
    installed = set(registry.domains())
    named = {gym for task in _tasks(checked).values() for gym in domains_of(task)}
    with tempfile.TemporaryDirectory(prefix="opsgym-verify-") as folder:
        async with GymServers(sorted(named & installed), partial(click.echo, err=True)) as gyms:
            await _started(gyms, checked)
            async with Runner(LocalStore(folder), admin_tokens=gyms.admin_tokens) as runner:
                by_trial = await _with_progress(TrialChecker(checked, gyms, runner, Path(folder)))
    problems = [problem for of_trial in by_trial for problem in of_trial or ()]
    return sorted(problems), sum(of_trial is None for of_trial in by_trial)


async def _with_progress(checker: TrialChecker) -> list[list[str] | None]:
    trials = checker.trials
    with click.progressbar(length=len(trials), label="verified", file=sys.stderr) as bar:

        async def check(trial: TrialRecord) -> list[str] | None:
            problems = await checker.check(trial)
            bar.update(1)
            return problems

        return await asyncio.gather(*map(check, trials))


async def _started(gyms: GymServers, checked: CheckedRun) -> None:
    try:
        await gyms.start()
    except GymLostError as error:
        raise StoreError(checked.store.name, checked.results.run.run, str(error)) from None


class TrialChecker:
    """Checks trials of a run, some at a time.

    Args:
        checked: The run.
        gyms: Gym servers of its tasks.
        runner: Plays calls; writes into a folder of its own.
        folder: That folder.
    """

    def __init__(self, checked: CheckedRun, gyms: GymServers, runner: Runner, folder: Path) -> None:
        self._checked = checked
        self._gyms = gyms
        self._runner = runner
        self._folder = folder
        self._slots = asyncio.Semaphore(CONCURRENCY)

    @property
    def trials(self) -> Sequence[TrialRecord]:
        """The trials to check."""
        return self._checked.results.trials

    async def check(self, record: TrialRecord) -> list[str] | None:
        """The problems of a trial; None if it could not be checked, which is printed."""
        label = f"{cell_name(record.cell)}  {record.task_id}/{record.trial}"
        async with self._slots:
            try:
                return [f"{label}: {problem}" for problem in await self._problems(record)]
            except (NotScored, FrozenSuiteError, GymLostError) as error:
                click.echo(visible(f"not verified  {label}: {error}"), err=True)
                return None

    async def _problems(self, record: TrialRecord) -> list[str]:
        store, run = self._checked.store, self._checked.results.run.run
        task, seeds = self._row(record)
        saved = await asyncio.to_thread(read_saved_trial, store, run, record, task)
        trial = StoredTrial(record, saved.transcript, task, *self._model(record.cell.model))
        problems = list(trial_problems(trial))
        await self._gyms.ready(domains_of(task))
        if needs_same_steps(trial):
            async with http_client(admin_tokens=self._gyms.admin_tokens) as http:
                again = await rescored(saved, task, run, self._gyms.urls, http)
            kinds = [verifier.verifier_type for verifier in task.verifiers]
            executed = [now for kind, now in zip(kinds, again.verifiers, strict=True) if kind != JUDGED]
            return [*problems, *verdict_problems(trial, executed)]
        played = await self._played(trial, seeds)
        return [*problems, *replay_problems(trial, saved.states, played, timed=stands_still(seeds.values()))]

    def _row(self, record: TrialRecord) -> FrozenRow:
        """The row of a trial that can be played here.

        Raises:
            FrozenSuiteError: The row or one of its seeds cannot be read.
            NotScored: The run's spec has no such cell, or a gym server is not installed.
        """
        row, spec, cell = self._checked.rows[record.task_id], self._checked.spec, record.cell
        if isinstance(row, FrozenSuiteError):
            raise row
        names = {(model.name, agent.name) for model in spec.models for agent in spec.agents}
        if (cell.model, cell.agent) not in names or cell.mode not in spec.suite.modes:
            raise config_error(ConfigReason.UNSUPPORTED, "the run's spec has no such model, agent or mode")
        if missing := set(domains_of(row[0])) - set(self._gyms.urls):
            problem = f"no gym server is installed for {', '.join(sorted(missing))}"
            raise config_error(ConfigReason.UNKNOWN_GYM, problem)
        return row

    def _model(self, name: str) -> tuple[str, Prices | None]:
        entry = next(entry for entry in self._checked.spec.models if entry.name == name)
        return ("", None) if entry.inline is None else (entry.inline.model, entry.inline.prices)

    async def _played(self, trial: StoredTrial, seeds: Mapping[str, Seed]) -> Replayed:
        """Plays the trial's calls.

        Raises:
            NotScored: They could not be played to the end.
        """
        record, spec = trial.record, self._checked.spec
        file = self._folder / "recordings" / record.cell.key / f"{record.task_id}-{record.trial}.json.zst"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_record(recording_of(trial)))
        job = Job(
            run=self._checked.results.run.run,
            cell=record.cell,
            task=replayable(trial.task),
            trial=record.trial,
            attempt=0,
            model=ResolvedModel(record.cell.model, f"{REPLAY}{file}"),
            agent=replaying(next(agent for agent in spec.agents if agent.name == record.cell.agent)),
            mode=Mode(record.cell.mode),
            limits=spec.limits,
            access=spec.suite.access,
            gyms=self._gyms.urls,
            seeds=seeds,
        )
        for attempt in range(1 + spec.limits.infra_retries):
            await self._gyms.ready(domains_of(trial.task))
            ended = await self._runner.run(replace(job, attempt=attempt, gyms=self._gyms.urls))
            if ended.outcome is not None and ended.outcome.scored:
                return await asyncio.to_thread(self._read_played, trial)
        raise infra_error(InfraReason.RUNNER_ERROR, f"its calls could not be played again: {ended.message}")

    def _read_played(self, trial: StoredTrial) -> Replayed:
        store, run = LocalStore(self._folder), self._checked.results.run.run
        keys = _keys(run, trial.record)
        record, transcript = read_object(store, keys.record, TrialRecord), read_transcript(store, keys.transcript)
        if record is None or transcript is None:
            raise infra_error(InfraReason.STORE_LOST, f"{self._folder} has lost what came of the calls")
        return Replayed(record, transcript, read_saved_trial(store, run, record, trial.task).states)


def _keys(run: str, record: TrialRecord) -> TrialKeys:
    return RunKeys(run).trial(record.cell, record.task_id, record.trial)
