"""A task pod's main container: one attempt at one trial.

Invariant: the exit code says what Kubernetes has to know (see `opsgym_api.orders.Exit`), the store says what happened.
A trial that is scored is not run again. Told to stop, the container has ended within `GRACE_S`, and what was spent is
in the attempt record, or in the termination message if the store does not take it.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
from collections.abc import Iterable, Mapping

import structlog

from opsgym_api.layout import RunKeys, TrialKeys
from opsgym_api.logs import configure_logs
from opsgym_api.orders import Exit, JobOrder, TrialRef
from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord, Timings, TrialRecord
from opsgym_api.store import StoreError
from opsgym_runner.clock import Clock, utc_text
from opsgym_runner.errors import NotScored
from opsgym_runner.gate import StoreGate
from opsgym_runner.litellm_lib import load_litellm
from opsgym_runner.pod.job import job_of
from opsgym_runner.pod.message import fitted_summary, leave, leave_words, room, summary_of
from opsgym_runner.pod.orders import UnusableOrder, read_order, result_store, trial_of
from opsgym_runner.pod.patience import PatientStore
from opsgym_runner.runner import Runner, RunnerEvent
from opsgym_runner.tracing import Tracing, start_tracing

GRACE_S = 18.0
"""Seconds from SIGTERM to the end, whatever hangs; Kubernetes kills after 30."""
BREAKER_POLL_S = 5.0
"""Seconds between two looks at a gate that the breaker closed."""
_BESIDE_GYMS = 2  # containers of the pod: Postgres and this one
log = structlog.get_logger()


def main(environment: Mapping[str, str]) -> int:
    """Runs the attempt; the exit code."""
    configure_logs(environment)
    try:
        order = read_order(environment, JobOrder)
        ref = trial_of(order, environment)
        stopping = threading.Event()
        store = PatientStore(result_store(environment), stopping)
    except UnusableOrder as error:
        log.critical("cannot begin", error=str(error))
        leave_words(environment, str(error))
        return Exit.NO_ORDER
    structlog.contextvars.bind_contextvars(run=order.run, cell=order.cell.key, task=ref.task_id, trial=ref.trial)
    log.info("task pod begins", model=order.model.model)
    # The slowest part of a start by far; gyms are seeded meanwhile.
    threading.Thread(target=load_litellm, daemon=True).start()
    with start_tracing(environment) as tracing:
        return asyncio.run(TaskPod(order, ref, store, stopping, environment, tracing).run())


def next_attempt(keys: Iterable[str]) -> int:
    """Number of a trial's next attempt.

    Args:
        keys: Keys of what earlier attempts wrote.
    """
    numbers = [int(found[1]) for key in keys if (found := re.search(r"/attempts/(\d+)\.", key))]
    return max(numbers, default=-1) + 1


def exit_of(record: AttemptRecord) -> Exit:
    """How the container ends after an attempt that ended by itself."""
    if record.outcome is Outcome.INFRA_ERROR:
        return Exit.STORE_LOST if record.reason == InfraReason.STORE_LOST else Exit.INFRA_ERROR
    if record.outcome is Outcome.CANCELLED and record.reason == "suspended":
        return Exit.TERMINATED  # the trial is to be run when the run goes on
    return Exit.DONE


class TaskPod:
    """One attempt in its pod."""

    def __init__(
        self,
        order: JobOrder,
        ref: TrialRef,
        store: PatientStore,
        stopping: threading.Event,
        environment: Mapping[str, str],
        tracing: Tracing,
    ) -> None:
        self._order = order
        self._ref = ref
        self._store = store
        self._stopping = stopping
        self._environment = environment
        self._tracing = tracing
        self._keys: TrialKeys = RunKeys(order.run).trial(order.cell, ref.task_id, ref.trial)
        self._latest: AttemptRecord | None = None
        """The attempt as it stands."""

    async def run(self) -> Exit:
        """Runs the attempt, and leaves its summary."""
        work = asyncio.ensure_future(self._work())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop, work)
        try:
            return await work
        except asyncio.CancelledError:
            return self._stopped()
        except StoreError as error:
            log.critical("store lost", error=str(error))
            if self._latest is None:
                leave_words(self._environment, str(error))
            else:
                self._leave(self._latest)
            return Exit.STORE_LOST

    async def _work(self) -> Exit:
        scored = await asyncio.to_thread(self._store.get, self._keys.record)
        if scored is not None:
            log.info("the trial is scored already")
            self._leave(TrialRecord.model_validate_json(scored))
            return Exit.DONE
        record = await self._attempt(next_attempt(await asyncio.to_thread(self._store.keys, self._keys.attempts)))
        self._leave(record)
        key = self._keys.attempt(record.attempt)  # where its message is, which may quote what was said
        log.info("task pod ends", outcome=record.outcome, reason=record.reason, record=key)
        return exit_of(record)

    async def _attempt(self, number: int) -> AttemptRecord:
        """Runs an attempt to its final record."""
        structlog.contextvars.bind_contextvars(attempt=number)
        try:
            job = await asyncio.to_thread(job_of, self._order, self._ref, number, self._store, self._environment)
        except NotScored as end:
            return await self._write_unrun(number, end)
        gate = StoreGate(self._store, self._order.run, Clock())
        await _wait_for_breaker(gate)
        async with Runner(self._store, gate=gate, on_event=self._heard, tracing=self._tracing) as runner:
            return await runner.run(job)

    async def _write_unrun(self, number: int, end: NotScored) -> AttemptRecord:
        """Records an attempt that did not get as far as the runner."""
        record = AttemptRecord(
            run=self._order.run,
            cell=self._order.cell,
            task_id=self._ref.task_id,
            trial=self._ref.trial,
            attempt=number,
            outcome=end.outcome,
            reason=end.reason,
            message=str(end),
            timings=Timings(started_at=utc_text(Clock().now())),
        )
        self._latest = record
        await asyncio.to_thread(self._store.put, self._keys.attempt(number), record.model_dump_json().encode())
        return record

    def _heard(self, event: RunnerEvent) -> None:
        self._latest = record = event.record
        if event.kind == "step":
            log.info("step", steps=record.steps, tool_calls=record.tool_calls, cost_usd=record.cost_usd)

    def _stop(self, work: asyncio.Future[Exit]) -> None:
        if self._stopping.is_set():
            return  # a second cancellation would interrupt what the first one has to write
        log.info("told to stop")
        self._stopping.set()
        work.cancel()
        # A thread, since the event loop may be what hangs, waiting for threads that wait for the store.
        watchdog = threading.Timer(GRACE_S, lambda: os._exit(self._stopped()))
        watchdog.daemon = True
        watchdog.start()

    def _stopped(self) -> Exit:
        """Leaves what there is to say of an attempt that was told to stop; the exit code."""
        record = self._latest
        if record is not None and record.outcome is None:
            record = record.model_copy(update={"outcome": Outcome.CANCELLED, "message": "cancelled while it ran"})
        if record is not None:
            self._leave(record)
        # Its result may have been on its way into the store already.
        return Exit.DONE if record is not None and record.outcome and record.outcome.scored else Exit.TERMINATED

    def _leave(self, record: AttemptRecord | TrialRecord) -> None:
        size = room(len(self._order.gyms) + _BESIDE_GYMS)
        leave(self._environment, fitted_summary(summary_of(record), size))


async def _wait_for_breaker(gate: StoreGate) -> None:
    """Waits as long as the breaker keeps the gate closed; what else the gate says is the runner's to heed."""
    while True:
        try:
            control = await gate.control()
        except NotScored:
            return  # which the runner will find too, and record
        if control.start or control.reason != "breaker":
            return
        log.info("waiting: too many infrastructure errors in the run")
        await asyncio.sleep(BREAKER_POLL_S)
