"""Runs the trials of an EvalRun on this machine: gym servers as child processes, episodes in this process.

Invariant: when it ends, by itself, by a signal or by an error, no gym server is left, and the same command runs every
trial that has no score.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from opsgym.formats.numbers import dollars
from opsgym.local.budget_gate import BudgetGate
from opsgym.local.display import TICK_S, Display
from opsgym.local.gym_servers import GymLostError, GymServers
from opsgym.local.inputs import RunInputs
from opsgym.local.lease import HeldGate, Lease
from opsgym.local.monitor import EpisodeMonitor, MonitoredGate
from opsgym.local.plan import LocalPlan, PriorState, UnrunnableTrial
from opsgym.local.rounds import Rounds
from opsgym.local.scheduler import SILENT_TRIALS, Concurrency, Scheduler
from opsgym_api.kinds.evalrun import Mode
from opsgym_api.records.attempt import AttemptRecord, Timings, TrialId
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.clock import now_text
from opsgym_core.planning.accounts import sharing
from opsgym_core.planning.budget import unknown_costs
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.planning.trials import PlannedTrial
from opsgym_core.store.base import Store, StoreError
from opsgym_runner.clients import is_called, uses_litellm
from opsgym_runner.job import Job
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.runner import Runner, RunnerEvent
from opsgym_runner.start_gate import StartGate
from opsgym_runner.tracing.tracer import start_tracing

FIRST_ANSWER_S = 20.0
"""Seconds for which a model is tried that has not answered yet: its address or its server is probably wrong."""
CHECKED_FROM = 20
"""Trials of a model from which on one tool turn is played with it first; in a smaller run a trial shows as much."""
MAX_CONCURRENCY = 8
"""Episodes at the same time by default: about what the gym servers of one machine sustain."""


@dataclass(frozen=True)
class LocalResult:
    """Result of one invocation of a run."""

    records: dict[TrialId, AttemptRecord]
    """Last attempt of every trial that ended, including those that the store could not take."""
    signal: int | None = None
    """Number of the signal that ended the invocation; None if it ended by itself."""
    used_up: Sequence[str] = ()
    """Models that stopped because the quota of their account is used up."""


@asynccontextmanager
async def ticking(display: Display) -> AsyncIterator[None]:
    """Lets a display say, every `TICK_S` inside the block, what requests wait for."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(TICK_S)
            display.tick()

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()


class LocalRun:
    """One invocation of a run.

    Args:
        inputs: The run.
        plan: Its trials.
        prior: Results of earlier invocations.
        store: Store that records are written to.
        ledger: Attempts of the run, those of earlier invocations included.
        display: Shows progress.
        concurrency: Episodes at the same time; None for what the models allow together, `MAX_CONCURRENCY` at most.
        monitor: Observes episodes step by step; None runs them unobserved.
        rounds: The rounds of the run; None if no further round can follow.
        lease: The term in which this process holds the run; None if no other process can play it.
        check_models: Whether one tool turn is played with each model that has at least `CHECKED_FROM` trials to run.
        note: Adds a record to the ledger as an attempt starts, continues and ends; must not block. None for
            `ledger.record`.
    """

    def __init__(
        self,
        inputs: RunInputs,
        plan: LocalPlan,
        prior: PriorState,
        store: Store,
        ledger: AttemptLedger,
        display: Display,
        concurrency: int | None,
        monitor: EpisodeMonitor | None = None,
        note: Callable[[AttemptRecord], object] | None = None,
        rounds: Rounds | None = None,
        lease: Lease | None = None,
        check_models: bool = False,
    ) -> None:
        self._inputs = inputs
        self._plan = plan
        self._prior = prior
        self._store = store
        self._ledger = ledger
        self._display = display
        self._monitor = monitor
        self._note = note or ledger.record
        self._rounds = rounds
        self._lease = lease
        trials = Counter(planned.cell.model for planned in plan.pending if check_models)
        self._checked = frozenset(
            name for name, count in trials.items() if count >= CHECKED_FROM and is_called(inputs.models[name])
        )
        self._keys = RunKeys(inputs.run_id)
        self._records: dict[TrialId, AttemptRecord] = {}
        self._used_up: list[str] = []
        ceilings = {entry.name: inputs.models[entry.name].max_concurrency for entry in inputs.spec.models}
        self._concurrency = Concurrency(ceilings, concurrency or min(sum(ceilings.values()), MAX_CONCURRENCY))

    async def run(self) -> LocalResult:
        """Runs every pending trial, and those of the rounds that follow."""
        tasks = [planned.task for planned in self._plan.pending]
        if self._rounds is not None:
            tasks = [task for task in self._inputs.tasks if task.task_id not in self._inputs.unrunnable]
        domains = sorted({domain for task in tasks for domain in domains_of(task)})
        if domains:
            self._display.note(f"starting gym servers: {', '.join(domains)}")
        async with GymServers(domains, self._display.note) as gyms:
            work = asyncio.create_task(self._run_trials(gyms))
            if self._lease is not None:
                self._lease.on_loss(partial(asyncio.get_running_loop().call_soon_threadsafe, work.cancel))
            with _cancelled_by_signals(work, self._display) as received:
                await asyncio.wait({work})
            try:
                work.result()
            except GymLostError as error:
                self._display.note(str(error))
            except asyncio.CancelledError:
                pass  # by a signal, which the result names, or since the lease is lost
        return LocalResult(self._records, received[0] if received else None, self._used_up)

    async def _run_trials(self, gyms: GymServers) -> None:
        plan = await self._playable(self._plan)
        if plan is None:
            return
        starting = [gyms.start()]
        if any(map(uses_litellm, self._inputs.models.values())):
            starting.append(asyncio.to_thread(load_litellm))  # takes seconds, as the start of a gym server does
        await asyncio.gather(*starting)
        budget_gate = BudgetGate(self._ledger, self._inputs.spec.budget)
        monitor, lease = self._monitor, self._lease
        gate: StartGate = budget_gate if lease is None else HeldGate(budget_gate, lease)
        with start_tracing() as tracing:
            async with Runner(
                self._store,
                gate=gate if monitor is None else MonitoredGate(gate, monitor),
                on_event=self._on_event,
                on_transcript=None if monitor is None else monitor.on_transcript,
                tracing=tracing,
                retry=RetryPolicy(first_answer_s=FIRST_ANSWER_S),
                admin_tokens=gyms.admin_tokens,
                checked_models=self._checked,
            ) as runner:
                self._display.show_limits(lambda: runner.limits, lambda: runner.delays)

                async def attempt(planned: PlannedTrial, number: int) -> AttemptRecord:
                    try:
                        await gyms.ready(domains_of(planned.task))
                    except GymLostError as error:
                        return await self._write_unrun(_gym_lost(planned, error))
                    return await runner.run(self._job(planned, await self._begin(planned, number), gyms))

                scheduler = Scheduler(
                    attempt,
                    self._concurrency,
                    self._ledger,
                    budget_gate,
                    self._display,
                    self._publish,
                    sharing=sharing({entry.name: entry.inline for entry in self._inputs.spec.models if entry.inline}),
                )
                unstarted: list[PlannedTrial] = []
                async with ticking(self._display):
                    while plan is not None:
                        unstarted = await scheduler.run(plan.pending)
                        stopped = unstarted or scheduler.stopped
                        plan = None if stopped else await self._playable(await self._next_round())
        for model, cause in scheduler.stopped.items():
            if cause.reason == InfraReason.MODEL_QUOTA:
                self._used_up.append(model)
            waiting = sum(planned.cell.model == model for planned in unstarted)
            self._display.note(f"model {model} stops, {waiting} of its trials have not started: {cause.message}")
        for cell, last in scheduler.silent.items():
            waiting = sum(planned.cell.key == cell for planned in unstarted)
            self._display.note(
                f"AgentSilent: cell {cell} stops, {waiting} of its trials have not started: none of its first "
                f"{SILENT_TRIALS} trials asked anything of its model; {last.message}"
            )
        skipped = [
            planned
            for planned in unstarted
            if planned.cell.model not in scheduler.stopped and planned.cell.key not in scheduler.silent
        ]
        await self._record_unrunnable([self._budget_skipped(planned) for planned in skipped])

    async def _playable(self, plan: LocalPlan | None) -> LocalPlan | None:
        """A plan with trials to run: the given one, or that of a later round; None if there is none."""
        while plan is not None:
            await self._record_unrunnable(plan.unrunnable)
            if plan.pending:
                return plan
            plan = await self._next_round()
        return None

    async def _next_round(self) -> LocalPlan | None:
        """Looks at the run; the plan of the next round, None if there is none."""
        end = None if self._rounds is None else await asyncio.to_thread(self._rounds.end, list(self._records.values()))
        if end is None:
            return None
        self._display.note(end.message)
        return end.plan

    def _on_event(self, event: RunnerEvent) -> None:
        self._note(event.record)
        if event.kind == "finished":
            self._add_result(event.record)

    def _add_result(self, record: AttemptRecord) -> None:
        self._records[record.trial_id] = record

    def _job(self, planned: PlannedTrial, number: int, gyms: GymServers) -> Job:
        spec, cell, models = self._inputs.spec, planned.cell, self._inputs.models
        agent = self._inputs.agents[cell.agent]
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

    def _budget_skipped(self, planned: PlannedTrial) -> UnrunnableTrial:
        budget = self._inputs.spec.budget
        cap = dollars(budget.max_usd if budget else None)
        message = f"the run's budget of {cap} is spent or reserved; raise spec.budget.maxUsd and run it again"
        message += unknown_costs(self._ledger.unknown)
        return UnrunnableTrial(
            planned.cell, planned.task.task_id, planned.trial, Outcome.BUDGET_SKIPPED, "budget", message
        )

    async def _record_unrunnable(self, trials: Sequence[UnrunnableTrial]) -> None:
        """Records trials that will not run, unless the last attempt in the store has the same outcome and message."""

        async def record(trial: UnrunnableTrial) -> None:
            latest = self._prior.latest.get(trial.key)
            if latest is None or (latest.outcome, latest.message) != (trial.outcome, trial.message):
                await self._write_unrun(trial)
            else:
                self._note(latest)
                self._add_result(latest)

        await asyncio.gather(*(record(trial) for trial in trials))

    async def _begin(self, planned: PlannedTrial, number: int) -> int:
        """Puts the first record of an attempt; its number, which may be higher than the given one."""
        record = AttemptRecord(
            run=self._inputs.run_id,
            cell=planned.cell,
            task_id=planned.task.task_id,
            trial=planned.trial,
            attempt=number,
            timings=Timings(started_at=now_text()),
        )
        with suppress(StoreError):  # the runner's own write meets it next, and ends the attempt
            record = await self._put_new(record)
        return record.attempt

    async def _put_new(self, record: AttemptRecord) -> AttemptRecord:
        """Puts a record of an attempt under its number, or the next that no process has used.

        Raises:
            StoreError: The store cannot be written.
        """
        keys = self._keys.trial(record.cell, record.task_id, record.trial)
        while not await asyncio.to_thread(self._store.put_once, keys.attempt(record.attempt), record.to_json()):
            record = replace(record, attempt=record.attempt + 1)
        return record

    async def _write_unrun(self, trial: UnrunnableTrial) -> AttemptRecord:
        """Records an attempt that did not reach the runner."""
        record = AttemptRecord(
            run=self._inputs.run_id,
            cell=trial.cell,
            task_id=trial.task_id,
            trial=trial.trial,
            attempt=self._ledger.state(trial.key).attempts,
            outcome=trial.outcome,
            reason=trial.reason,
            message=trial.message,
            timings=Timings(started_at=now_text()),
        )
        with self._store_errors_shown():
            record = await self._put_new(record)
        self._note(record)
        self._add_result(record)
        return record

    async def _publish(self, control: Control) -> None:
        """Writes `control.json`; an open gate only replaces a closed one that an earlier invocation left."""
        key = self._keys.control_json
        with self._store_errors_shown():
            if control != Control() or await asyncio.to_thread(self._store.get, key) is not None:
                await asyncio.to_thread(self._store.put, key, control.model_dump_json().encode())

    @contextmanager
    def _store_errors_shown(self) -> Iterator[None]:
        """Shows store errors and continues: the run does not depend on what is written in this context."""
        try:
            yield
        except StoreError as error:
            self._display.note(str(error))


def _gym_lost(planned: PlannedTrial, error: GymLostError) -> UnrunnableTrial:
    reason = InfraReason.GYM_LOST.value
    return UnrunnableTrial(planned.cell, planned.task.task_id, planned.trial, Outcome.INFRA_ERROR, reason, str(error))


@contextmanager
def _cancelled_by_signals(work: asyncio.Task[None], display: Display) -> Iterator[list[int]]:
    """Cancels `work` on the first SIGINT or SIGTERM; exits the process on the second.

    Exiting at once is safe: objects in the store are written atomically, and gym servers end with this process.
    """
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def on_signal(number: int) -> None:
        received.append(number)
        if len(received) == 1:
            display.note("stopping: cancelling running episodes and stopping gym servers; press Ctrl-C again to exit")
            work.cancel()
            return
        display.close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield received
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
