"""A task pod's main container: one attempt at each of its trials, one after the other.

Invariant: the exit code (`Exit`) decides whether Kubernetes tries again, the result is in the store. A scored trial is
not run again. A trial that is not scored stops no later one, unless the store or a gym server is lost. After SIGTERM
the container ends within `GRACE_S`; its cost is in the attempt record. The termination message helps people and, of a
pod with one trial, names the record to read; it decides nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import structlog
from pydantic import ValidationError

from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.jobs.job_spec import JobSpec, TrialRef
from opsgym_api.records.attempt import AttemptRecord, Timings, TrialRecord
from opsgym_api.records.outcomes import ConfigReason, InfraReason, Outcome
from opsgym_api.records.store_layout import RunKeys, TrialKeys, is_attempt_record
from opsgym_api.records.version import unreadable_because
from opsgym_core.common.clock import utc_text
from opsgym_core.common.logs import configure_logs
from opsgym_core.store.base import StoreError
from opsgym_core.store.sealed import SealError, clear_message
from opsgym_runner.clients import uses_litellm
from opsgym_runner.clock import Clock
from opsgym_runner.errors import NotScored, config_error, infra_error
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.pod.gym_processes import GymProcesses
from opsgym_runner.pod.heartbeat import Heartbeat
from opsgym_runner.pod.job_resolution import resolve_job
from opsgym_runner.pod.job_spec import (
    UnusableJobSpec,
    admin_tokens,
    read_job_spec,
    result_store,
    trials_of,
)
from opsgym_runner.pod.message import fitted_summary, message_limit, summary_of, write_message, write_text_message
from opsgym_runner.pod.retrying_store import RetryingStore
from opsgym_runner.runner import Runner, RunnerEvent
from opsgym_runner.start_gate import READ_EVERY_S, StoreStartGate
from opsgym_runner.tracing.tracer import Tracing, start_tracing

_WORST_FIRST = (Exit.TERMINATED, Exit.STORE_LOST, Exit.INFRA_ERROR)
GRACE_S = 18.0
"""Maximum seconds from SIGTERM to the end of the process; Kubernetes kills it after 30."""
BREAKER_POLL_S = 5.0
"""Seconds between two reads of a gate that the circuit breaker closed."""
MOST_CUT_OFF = 10
"""Attempts at a trial that may be cut off after they have spent something. Kubernetes counts no evictions: where nodes
are taken away again and again, a trial would be paid for without end."""
_OTHER_CONTAINERS = 2  # containers of the pod besides gym servers: Postgres and this one
log = structlog.get_logger()


def main(environment: Mapping[str, str]) -> int:
    """Runs the pod's attempts and returns the exit code."""
    configure_logs(environment)
    try:
        spec = read_job_spec(environment, JobSpec)
        refs = trials_of(spec, environment)
        stopping = threading.Event()
        store = RetryingStore(result_store(environment, held_out=spec.held_out), stopping)
        tokens = admin_tokens(spec)
    except UnusableJobSpec as error:
        log.critical("cannot start", error=str(error))
        write_text_message(environment, str(error))
        return Exit.NO_JOB_SPEC
    structlog.contextvars.bind_contextvars(run=spec.run, cell=spec.cell.key)
    log.info("task pod started", model=spec.model.model, trials=len(refs))
    if any(uses_litellm(model) for model in (spec.model, spec.planner, spec.judge) if model is not None):
        # The import of litellm is the slowest part of the start; gyms are seeded meanwhile.
        threading.Thread(target=load_litellm, daemon=True).start()
    with start_tracing(environment) as tracing:
        pod = TaskPod(spec, refs, store, stopping, environment, tracing, tokens)
        return asyncio.run(Heartbeat(environment).during(pod.run()))


def next_attempt(keys: Iterable[str]) -> int:
    """Number of a trial's next attempt.

    Args:
        keys: Store keys written by earlier attempts.
    """
    numbers = [int(match[1]) for key in keys if (match := re.search(r"/attempts/(\d+)\.", key))]
    return max(numbers, default=-1) + 1


def exit_of(record: AttemptRecord) -> Exit:
    """Exit code after an attempt that was not cancelled by a signal."""
    if record.outcome is Outcome.INFRA_ERROR:
        return Exit.STORE_LOST if record.reason == InfraReason.STORE_LOST else Exit.INFRA_ERROR
    if record.outcome is Outcome.CANCELLED and record.reason == "suspended":
        return Exit.TERMINATED  # the trial runs again when the run is resumed
    return Exit.DONE


class _GymsLostError(Exception):
    """The gym servers cannot be replaced, so the pod cannot play a further trial."""


class TaskPod:
    """Runs one attempt at each trial of a pod and writes the termination message.

    Args:
        spec: The pod's job spec.
        refs: The pod's trials.
        store: The result store.
        stopping: Set when the pod is asked to stop.
        environment: Environment variables of the container.
        tracing: Where spans are sent.
        admin_tokens: Tokens of gym servers' admin endpoints by base URL.
        gate_read_every_s: Minimum seconds between two reads of the run's gate.
        breaker_poll_s: Seconds between two reads of a gate that the circuit breaker closed.
    """

    def __init__(
        self,
        spec: JobSpec,
        refs: Sequence[TrialRef],
        store: RetryingStore,
        stopping: threading.Event,
        environment: Mapping[str, str],
        tracing: Tracing,
        admin_tokens: Mapping[str, str] = MappingProxyType({}),
        gate_read_every_s: float = READ_EVERY_S,
        breaker_poll_s: float = BREAKER_POLL_S,
    ) -> None:
        self._spec = spec
        self._refs = refs
        self._store = store
        self._stopping = stopping
        self._environment = environment
        self._tracing = tracing
        self._admin_tokens = admin_tokens
        self._gate_read_every_s = gate_read_every_s
        self._breaker_poll_s = breaker_poll_s
        self._ref = refs[0]
        """The trial that the pod is at."""
        self._gyms_used = False
        """Whether an attempt has begun on the current processes of the gym servers."""
        self._latest: AttemptRecord | None = None
        """The attempt's latest record; None before the attempt starts."""

    @property
    def _keys(self) -> TrialKeys:
        return RunKeys(self._spec.run).trial(self._spec.cell, self._ref.task_id, self._ref.trial)

    async def run(self) -> Exit:
        """Runs the attempts, writes the termination message and returns the exit code."""
        work = asyncio.ensure_future(self._work())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal, work)
        try:
            return await work
        except asyncio.CancelledError:
            return self._end_cancelled()
        except StoreError as error:
            log.critical("store lost", error=str(error))
            if self._latest is None:
                write_text_message(self._environment, str(error))
            else:
                self._write_message(self._latest)
            return Exit.STORE_LOST

    async def _work(self) -> Exit:
        gate = StoreStartGate(self._store, self._spec.run, Clock(), self._gate_read_every_s)
        codes: list[Exit] = []
        async with (
            GymProcesses(self._admin_tokens, Clock()) as gyms,
            Runner(
                self._store,
                gate=gate,
                on_event=self._on_event,
                tracing=self._tracing,
                admin_tokens=self._admin_tokens,
            ) as runner,
        ):
            for ref in self._refs:
                self._ref, self._latest = ref, None
                structlog.contextvars.bind_contextvars(task=ref.task_id, trial=ref.trial)
                try:
                    codes.append(await self._play(runner, gate, gyms))
                except _GymsLostError:
                    codes.append(Exit.INFRA_ERROR)
                    break
                if codes[-1] in (Exit.TERMINATED, Exit.STORE_LOST):
                    break
        if len(self._refs) > 1:
            done = codes.count(Exit.DONE)
            write_text_message(self._environment, f"{done} of {len(self._refs)} trials are done; see their records")
        return next((code for code in _WORST_FIRST if code in codes), Exit.DONE)

    async def _play(self, runner: Runner, gate: StoreStartGate, gyms: GymProcesses) -> Exit:
        """Plays the trial that the pod is at, unless it is scored or cannot run.

        Raises:
            StoreError: The store is lost.
            _GymsLostError: The gym servers cannot be replaced; the attempt is recorded.
        """
        try:
            return await self._play_opened(runner, gate, gyms)
        except SealError as error:
            number = next_attempt(await asyncio.to_thread(self._store.keys, self._keys.attempts))
            record = await self._write_unstarted(number, config_error(ConfigReason.HELD_OUT_SEED, str(error)))
            self._write_message(record)
            log.warning("the held-out seed is not the run's", problem=str(error))
            return exit_of(record)

    async def _play_opened(self, runner: Runner, gate: StoreStartGate, gyms: GymProcesses) -> Exit:
        """As `_play`.

        Raises:
            SealError: The held-out seed is not the one that the run's objects are sealed with.
        """
        scored = await asyncio.to_thread(self._store.get, self._keys.record)
        if scored is not None:
            log.info("trial already scored")
            return await self._report_scored(scored)
        number = next_attempt(await asyncio.to_thread(self._store.keys, self._keys.attempts))
        if len(self._refs) > 1 and number > 0 and await asyncio.to_thread(self._cannot_run, number - 1):
            log.info("trial cannot run, as an earlier pod has found")
            return Exit.DONE
        record = await self._attempt(number, runner, gate, gyms)
        self._write_message(record)
        key = self._keys.attempt(record.attempt)  # the record has the message, which may quote the conversation
        log.info("attempt recorded", outcome=record.outcome, reason=record.reason, record=key)
        return exit_of(record)

    def _cannot_run(self, number: int) -> bool:
        """Whether an attempt ended as a `config_error`; the pod may run again for the sake of another trial."""
        content = self._store.get(self._keys.attempt(number))
        return content is not None and AttemptRecord.from_json(content).outcome is Outcome.CONFIG_ERROR

    async def _report_scored(self, content: bytes) -> Exit:
        """Reports the trial's record; one that this version cannot read ends the trial as a `config_error`."""
        record: AttemptRecord | TrialRecord
        try:
            record = TrialRecord.from_json(content)
        except ValidationError as error:
            message = f"{self._store.name}: {self._keys.record} {unreadable_because(error, 'TrialRecord')}"
            number = next_attempt(await asyncio.to_thread(self._store.keys, self._keys.attempts))
            record = await self._write_unstarted(number, config_error(ConfigReason.UNREADABLE_RECORD, message))
            log.warning("the trial's record is unreadable", problem=message)
        self._write_message(record)
        return Exit.DONE

    async def _attempt(self, number: int, runner: Runner, gate: StoreStartGate, gyms: GymProcesses) -> AttemptRecord:
        """Runs an attempt to its final record."""
        structlog.contextvars.bind_contextvars(attempt=number)
        try:
            await asyncio.to_thread(self._require_few_cut_off, number)
            job = await asyncio.to_thread(resolve_job, self._spec, self._ref, number, self._store, self._environment)
        except NotScored as end:
            return await self._write_unstarted(number, end)
        await self._wait_for_breaker(gate)
        if self._gyms_used:
            try:
                await gyms.replace()
            except NotScored as end:
                await self._write_unstarted(number, end)
                raise _GymsLostError from end
        self._gyms_used = True
        return await runner.run(job)

    def _require_few_cut_off(self, number: int) -> None:
        """Checks that not too many of the earlier attempts were cut off after they had spent something.

        Raises:
            NotScored: Too many were.
        """
        if number < MOST_CUT_OFF:
            return
        keys = filter(is_attempt_record, self._store.keys(self._keys.attempts))
        records = map(self._readable_attempt, keys)
        cut_off = [one for one in records if one and one.outcome is Outcome.CANCELLED and one.cost_usd != 0]
        if len(cut_off) >= MOST_CUT_OFF:
            message = f"{len(cut_off)} attempts were cut off after they had spent something; use nodes that stay"
            raise infra_error(InfraReason.RUNNER_ERROR, message)

    def _readable_attempt(self, key: str) -> AttemptRecord | None:
        """The attempt at a key; None for one that cannot be read, which costs no other attempt."""
        content = self._store.get(key)
        try:
            return None if content is None else AttemptRecord.from_json(content)
        except ValidationError:
            return None

    async def _write_unstarted(self, number: int, end: NotScored) -> AttemptRecord:
        """Writes the record of an attempt that ended before the runner started it."""
        record = AttemptRecord(
            run=self._spec.run,
            cell=self._spec.cell,
            task_id=self._ref.task_id,
            trial=self._ref.trial,
            attempt=number,
            outcome=end.outcome,
            reason=end.reason,
            message=str(end),
            timings=Timings(started_at=utc_text(Clock().now())),
        )
        self._latest = record
        await asyncio.to_thread(self._store.put, self._keys.attempt(number), record.to_json())
        return record

    def _on_event(self, event: RunnerEvent) -> None:
        self._latest = record = event.record
        if event.kind == "step":
            log.info("step", steps=record.steps, tool_calls=record.tool_calls, cost_usd=record.cost_usd)

    def _on_signal(self, work: asyncio.Future[Exit]) -> None:
        if self._stopping.is_set():
            return  # a second cancellation would interrupt the writes of the first one
        log.info("stopping on a signal")
        self._stopping.set()
        work.cancel()
        # A thread, because the event loop itself may hang, waiting for threads that wait for the store.
        watchdog = threading.Timer(GRACE_S, lambda: os._exit(self._end_cancelled()))
        watchdog.daemon = True
        watchdog.start()

    def _end_cancelled(self) -> Exit:
        """Writes the termination message of an attempt that a signal cancelled; returns the exit code."""
        record = self._latest
        if record is not None and record.outcome is None:
            record = replace(record, outcome=Outcome.CANCELLED, message="cancelled while it ran")
        if record is not None:
            self._write_message(record)
        # A scored result may already have been on its way into the store.
        last = self._ref is self._refs[-1]
        scored = record is not None and record.outcome is not None and record.outcome.scored
        return Exit.DONE if last and scored else Exit.TERMINATED

    def _write_message(self, record: AttemptRecord | TrialRecord) -> None:
        """Reports the attempt of a pod's only trial; those of several do not fit into a message."""
        if len(self._refs) > 1:
            return
        size = message_limit(len(self._spec.gyms) + _OTHER_CONTAINERS)
        summary = summary_of(record)
        if summary.message and self._spec.held_out:
            summary = replace(summary, message=clear_message(summary.reason, summary.message))
        write_message(self._environment, fitted_summary(summary, size))

    async def _wait_for_breaker(self, gate: StoreStartGate) -> None:
        """Waits while a circuit breaker keeps the gate closed; the runner handles every other state of the gate."""
        while True:
            try:
                control = await gate.control()
            except NotScored:
                return  # the runner meets the same error and records it
            if not control.is_waited_for(self._spec.cell.model):
                return
            log.info("waiting: too many infrastructure errors in the run, or the model's quota is used up")
            await asyncio.sleep(self._breaker_poll_s)
