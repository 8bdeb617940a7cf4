"""Runs pending trials: starts those that may start, and retries infrastructure errors.

Invariant: `opsgym_core.planning` alone decides which trial may start; the number of running trials never exceeds the
ceilings. None starts past the budget, nor with a model after an error that every attempt with the model would end with.
A trial is settled once. Every attempt that was started has ended when `run` returns or raises.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from opsgym.local.budget_gate import BudgetGate
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import FailReason, InfraReason, Outcome
from opsgym_api.records.run import Control
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.backoff import Backoff
from opsgym_core.planning.trials import PlannedTrial, TrialQueue

RETRY = Backoff(initial_s=1.0, factor=2.0, maximum_s=30.0)
"""Delay before an infrastructure error is retried: a lost gym server or store needs time to come back."""

STOPS_MODEL = frozenset(
    {
        *(InfraReason.MODEL_QUOTA, InfraReason.MODEL_AUTH, InfraReason.MODEL_UNREACHABLE, InfraReason.MODEL_NOT_FOUND),
        *(InfraReason.MODEL_REFUSED_REQUEST, InfraReason.MODEL_CALLS_IN_TEXT),
    }
)
"""Errors that every attempt with the model would end with."""

SILENT_TRIALS = 5
"""Trials of a cell after which it stops if none of them asked anything of its model: its agent does not work."""

RunAttempt = Callable[[PlannedTrial, int], Coroutine[Any, Any, AttemptRecord]]
"""Runs one attempt, by its number, to its final record, and adds that to the ledger; raises only `CancelledError`."""


@dataclass(frozen=True)
class Concurrency:
    """How many trials may run at the same time."""

    ceilings: Mapping[str, int]
    """By model name."""
    total: int
    """Over all models."""


class TrialObserver(Protocol):
    """Observes trials; must not block."""

    def started(self, planned: PlannedTrial) -> None:
        """An attempt starts."""
        ...

    def retrying(self, planned: PlannedTrial, record: AttemptRecord, delay: float) -> None:
        """An attempt ended in an infrastructure error and is retried after a delay, in seconds."""
        ...

    def settled(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        """A trial ended, at least for this invocation."""
        ...


class Scheduler:
    """Runs trials.

    Args:
        attempt: Runs an attempt.
        concurrency: Bounds of concurrently running trials.
        ledger: Attempts of the run; numbers attempts and counts retries.
        gate: Says whether the budget allows another start.
        observer: Observes trials.
        publish: Publishes the gate when it changes.
        sleep: Waits before a retry.
        sharing: Names of the models that share the account of each, and with it a quota; a model that is missing shares
            none.
    """

    def __init__(
        self,
        attempt: RunAttempt,
        concurrency: Concurrency,
        ledger: AttemptLedger,
        gate: BudgetGate,
        observer: TrialObserver,
        publish: Callable[[Control], Awaitable[None]],
        sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep,
        sharing: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        self._attempt = attempt
        self._concurrency = concurrency
        self._ledger = ledger
        self._gate = gate
        self._observer = observer
        self._publish = publish
        self._sleep = sleep
        self._pending: TrialQueue = TrialQueue(())
        self._running: dict[asyncio.Task[AttemptRecord], PlannedTrial] = {}
        self._waiting: dict[asyncio.Task[None], PlannedTrial] = {}
        """Trials that wait for their retry."""
        self._published: Control | None = None
        self._closing = False
        self._sharing = sharing
        self.stopped: dict[str, AttemptRecord] = {}
        """By model: the attempt whose error no other attempt with the model can escape; none starts after it."""
        self._asking: set[str] = set()
        """Cells of which a trial asked something of its model."""
        self._mute: Counter[str] = Counter()
        """Scored trials of the other cells."""
        self.silent: dict[str, AttemptRecord] = {}
        """Last trial of each cell that stops, by the cell's key: its first trials asked nothing of their model."""
        self._dropped: list[PlannedTrial] = []

    async def run(self, trials: Sequence[PlannedTrial]) -> list[PlannedTrial]:
        """Runs trials, of one round, until each is settled, the budget is spent or an error stops the run.

        Returns:
            The trials that did not start: because of the budget, or since their model is in `stopped` or their cell in
            `silent`.

        Raises:
            asyncio.CancelledError: The scheduler was cancelled, and with it every running attempt.
        """
        self._pending, self._closing, self._dropped = TrialQueue(trials), False, []
        try:
            await self._start_trials()
            while self._running or self._waiting:
                await asyncio.wait({*self._running, *self._waiting}, return_when=asyncio.FIRST_COMPLETED)
                self._collect()
                await self._start_trials()
        finally:
            self._closing = True
            await self._end_all()
        return [*self._pending, *self._dropped]

    async def _start_trials(self) -> None:
        """Starts the trials that ceilings and budget allow."""
        running = list(self._running.values())
        total = self._concurrency.total
        ceilings = {name: 0 if name in self.stopped else most for name, most in self._concurrency.ceilings.items()}
        for planned in self._pending.startable(running, ceilings, total):
            control = self._gate.control_with(in_flight=len(self._running))
            if control != self._published:
                self._published = control
                await self._publish(control)
            if not control.start:
                break
            self._pending.take(planned)
            self._observer.started(planned)
            number = self._ledger.state(planned.key).attempts
            self._running[asyncio.create_task(self._attempt(planned, number))] = planned

    def _collect(self) -> None:
        for ready in [task for task in self._waiting if task.done()]:
            self._pending.put_back(self._waiting.pop(ready))
        for ended in [task for task in self._running if task.done()]:
            self._settle_or_retry(self._running.pop(ended), ended.result())

    def _settle_or_retry(self, planned: PlannedTrial, record: AttemptRecord) -> None:
        model = planned.cell.model
        if record.outcome is Outcome.INFRA_ERROR and record.reason in STOPS_MODEL:
            of_account = record.reason == InfraReason.MODEL_QUOTA
            for name in self._sharing.get(model, [model]) if of_account else [model]:
                self.stopped.setdefault(name, record)
        self._listen(planned.cell.key, record)
        ended = self._closing or model in self.stopped
        if record.outcome is not Outcome.INFRA_ERROR or self._ledger.is_settled(planned.key) or ended:
            self._observer.settled(planned, record)
            return
        state = self._ledger.state(planned.key)
        delay = RETRY.delay(state.infra_errors + state.store_losses)
        self._observer.retrying(planned, record, delay)
        self._waiting[asyncio.create_task(self._sleep(delay))] = planned

    def _listen(self, cell: str, record: AttemptRecord) -> None:
        """Stops a cell whose first trials asked nothing of their model."""
        if record.outcome is None or not record.outcome.scored:
            return
        if record.reason != FailReason.NO_MODEL_CALLS:
            self._asking.add(cell)
        self._mute[cell] += 1
        if cell not in self._asking and self._mute[cell] >= SILENT_TRIALS:
            self.silent[cell] = record
            self._dropped += self._pending.drop(cell)

    async def _end_all(self) -> None:
        """Cancels running attempts, and settles those that ended by themselves meanwhile."""
        tasks = [*self._running, *self._waiting]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for task, planned in self._running.items():
            if not task.cancelled() and task.exception() is None:
                self._settle_or_retry(planned, task.result())
