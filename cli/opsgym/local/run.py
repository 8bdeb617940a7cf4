"""Carries a run out on this machine: gym servers as child processes, episodes in this one.

Invariant: when it ends, by itself, by a signal or by a failure, no gym server is left and every trial that has no score
can be run by the same command.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from opsgym.local.agenda import Agenda, Before, Doomed
from opsgym.local.clock import utc_now
from opsgym.local.gyms import GymLostError, Gyms
from opsgym.local.inputs import Inputs
from opsgym.local.ledger import Ledger, LedgerGate
from opsgym.local.progress import Progress
from opsgym.local.scheduler import Rules, Scheduler
from opsgym.local.watch import WatchedGate, Watcher
from opsgym.tables import dollars
from opsgym_api.evalrun import Mode
from opsgym_api.layout import RunKeys
from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord, Control, Timings
from opsgym_api.store import Store, StoreError
from opsgym_operator.plan import PlannedTrial, TrialKey
from opsgym_runner.job import Job
from opsgym_runner.litellm_lib import load_litellm
from opsgym_runner.rows import domains_of
from opsgym_runner.runner import Runner, RunnerEvent
from opsgym_runner.tracing import start_tracing

MAX_CONCURRENCY = 8
"""Episodes at once unless the user says otherwise: about what one machine's gym servers keep up with."""


@dataclass(frozen=True)
class Ended:
    """How a run ended in this invocation."""

    records: dict[TrialKey, AttemptRecord]
    """Last attempt of every trial that ended, also where the store could not take it."""
    signal: int | None = None
    """The signal that ended it."""


class LocalRun:
    """One invocation of a run.

    Args:
        inputs: What to run.
        agenda: What is left of it.
        before: What the store holds of it.
        store: Where records go.
        ledger: What is spent.
        progress: Shows what happens.
        concurrency: Episodes at once; `MAX_CONCURRENCY` at most if None.
        watcher: Watches episodes step by step.
        on_record: Told of every attempt as it begins, goes on and ends; must not block.
    """

    def __init__(
        self,
        inputs: Inputs,
        agenda: Agenda,
        before: Before,
        store: Store,
        ledger: Ledger,
        progress: Progress,
        concurrency: int | None,
        watcher: Watcher | None = None,
        on_record: Callable[[AttemptRecord], None] | None = None,
    ) -> None:
        self._inputs = inputs
        self._agenda = agenda
        self._before = before
        self._store = store
        self._ledger = ledger
        self._progress = progress
        self._watcher = watcher
        self._on_record = on_record
        self._keys = RunKeys(inputs.run_id)
        self._records: dict[TrialKey, AttemptRecord] = {}
        ceilings = {entry.name: inputs.models[entry.name].max_concurrency for entry in inputs.spec.models}
        self._rules = Rules(
            ceilings=ceilings,
            total=concurrency or min(sum(ceilings.values()), MAX_CONCURRENCY),
            infra_retries=inputs.spec.limits.infra_retries,
            attempts_before=before.attempts,
        )

    async def carry_out(self) -> Ended:
        """Runs everything that is pending."""
        domains = sorted({domain for planned in self._agenda.pending for domain in domains_of(planned.task)})
        if domains:
            self._progress.note(f"starting gym servers: {', '.join(domains)}")
        async with Gyms(domains, self._progress.note) as gyms:
            work = asyncio.create_task(self._work(gyms))
            with _cancelled_by_signals(work, self._progress) as received:
                await asyncio.wait({work})
            try:
                work.result()
            except GymLostError as error:
                self._progress.note(str(error))
            except asyncio.CancelledError:
                pass  # by a signal, which the result names
        return Ended(self._records, received[0] if received else None)

    async def _work(self, gyms: Gyms) -> None:
        await self._write_off(self._agenda.doomed)
        if not self._agenda.pending:
            return
        # litellm takes seconds to import, a gym server seconds to start: neither waits for the other.
        await asyncio.gather(gyms.start(), asyncio.to_thread(load_litellm))
        ledger = LedgerGate(self._ledger)
        gate = ledger if self._watcher is None else WatchedGate(ledger, self._watcher)
        onlooker = None if self._watcher is None else self._watcher.heard
        with start_tracing() as tracing:
            async with Runner(
                self._store, gate=gate, on_event=self._heard, onlooker=onlooker, tracing=tracing
            ) as runner:
                self._progress.watch(lambda: runner.limits)

                async def attempt(planned: PlannedTrial, number: int) -> AttemptRecord:
                    try:
                        await gyms.ready(domains_of(planned.task))
                    except GymLostError as error:
                        return await self._write_unrun(_lost(planned, number, error))
                    return await runner.run(self._job(planned, number, gyms))

                scheduler = Scheduler(attempt, self._rules, self._ledger, self._progress, self._publish)
                left = await scheduler.run(self._agenda.pending)
        await self._write_off([self._skipped(planned, scheduler.next_attempt(planned)) for planned in left])

    def _heard(self, event: RunnerEvent) -> None:
        self._ledger.note(event.record)
        if event.kind == "finished":
            self._keep(event.record)
        elif self._on_record is not None:
            self._on_record(event.record)

    def _keep(self, record: AttemptRecord) -> None:
        self._records[record.cell.key, record.task_id, record.trial] = record
        if self._on_record is not None:
            self._on_record(record)

    def _job(self, planned: PlannedTrial, number: int, gyms: Gyms) -> Job:
        spec, cell, models = self._inputs.spec, planned.cell, self._inputs.models
        agent = next(agent for agent in spec.agents if agent.name == cell.agent)
        return Job(
            run=self._inputs.run_id,
            cell=cell,
            task=planned.task,
            trial=planned.trial,
            attempt=number,
            model=models[cell.model],
            planner=models[agent.planner] if agent.planner else None,
            judge=models[spec.judge] if spec.judge else None,
            agent=agent,
            mode=Mode(cell.mode),
            limits=spec.limits,
            access=spec.suite.access,
            gyms=gyms.urls,
            seeds=self._inputs.seeds[planned.task.task_id],
        )

    def _skipped(self, planned: PlannedTrial, number: int) -> Doomed:
        budget = self._inputs.spec.budget
        cap = dollars(budget.max_usd if budget else None)
        message = f"the run's budget of {cap} is spent or reserved; raise spec.budget.maxUsd and run it again"
        outcome = Outcome.BUDGET_SKIPPED
        return Doomed(planned.cell, planned.task.task_id, planned.trial, number, outcome, "budget", message)

    async def _write_off(self, trials: Sequence[Doomed]) -> None:
        """Records trials that will not run, unless the last attempt in the store already says the same."""

        async def write(trial: Doomed) -> None:
            latest = self._before.latest.get(trial.key)
            if latest is None or (latest.outcome, latest.message) != (trial.outcome, trial.message):
                await self._write_unrun(trial)
            else:
                self._keep(latest)

        await asyncio.gather(*(write(trial) for trial in trials))

    async def _write_unrun(self, trial: Doomed) -> AttemptRecord:
        """Records an attempt that did not get as far as the runner."""
        record = AttemptRecord(
            run=self._inputs.run_id,
            cell=trial.cell,
            task_id=trial.task_id,
            trial=trial.trial,
            attempt=trial.attempt,
            outcome=trial.outcome,
            reason=trial.reason,
            message=trial.message,
            timings=Timings(started_at=utc_now()),
        )
        self._keep(record)
        key = self._keys.trial(trial.cell, trial.task_id, trial.trial).attempt(trial.attempt)
        with self._store_trouble_noted():
            await asyncio.to_thread(self._store.put, key, record.model_dump_json().encode())
        return record

    async def _publish(self, control: Control) -> None:
        """Writes the gate; an open one only over a closed one that an earlier invocation left."""
        key = self._keys.control_json
        with self._store_trouble_noted():
            if control != Control() or await asyncio.to_thread(self._store.get, key) is not None:
                await asyncio.to_thread(self._store.put, key, control.model_dump_json().encode())

    @contextmanager
    def _store_trouble_noted(self) -> Iterator[None]:
        """Around what the run can go on without."""
        try:
            yield
        except StoreError as error:
            self._progress.note(str(error))


def _lost(planned: PlannedTrial, number: int, error: GymLostError) -> Doomed:
    reason = InfraReason.GYM_LOST.value
    return Doomed(planned.cell, planned.task.task_id, planned.trial, number, Outcome.INFRA_ERROR, reason, str(error))


@contextmanager
def _cancelled_by_signals(work: asyncio.Task[None], progress: Progress) -> Iterator[list[int]]:
    """Cancels `work` on the first SIGINT or SIGTERM; leaves at once on the second.

    Leaving at once is safe: the store's objects are written whole, and gym servers end when this process does.
    """
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def on_signal(number: int) -> None:
        received.append(number)
        if len(received) == 1:
            progress.note("stopping: running episodes are cancelled, gym servers stopped; once more leaves at once")
            work.cancel()
            return
        progress.close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield received
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
