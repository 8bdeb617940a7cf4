"""Runs attempts, one or many at a time.

Invariant: every attempt ends in an attempt record, whatever models, gyms, rows and stores do. The record is in the
store unless the store itself is lost. Once an episode has a result, a cancellation waits until the result is written,
so no attempt is recorded as cancelled whose trial is scored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import MappingProxyType, TracebackType
from typing import Self

import structlog

from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import ConfigReason, InfraReason, Outcome
from opsgym_core.common.scrub import scrub
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.sealed import SealError
from opsgym_runner.clients import ModelRegistry
from opsgym_runner.clock import Clock
from opsgym_runner.context import AttemptContext
from opsgym_runner.episode import require_runnable, run_sample
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.client import http_client
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.endpoints import Delay
from opsgym_runner.models.limiter import LimitState
from opsgym_runner.models.preflight import ModelPreflight
from opsgym_runner.models.prices import FREE, REPLAY
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.orchestrators import Orchestrator
from opsgym_runner.plans import PlanStore
from opsgym_runner.recording.journal import Journal, RunnerEvent
from opsgym_runner.recording.transcript import TranscriptListener, TranscriptRecorder
from opsgym_runner.results import write_scored, write_transcript
from opsgym_runner.start_gate import StartGate, StoreStartGate, require_open
from opsgym_runner.tracing.spans import episode_attributes, episode_name, outcome_attributes, shared_attributes
from opsgym_runner.tracing.tracer import Span, Tracing

__all__ = ["Runner", "RunnerEvent", "StartGate"]

log = structlog.get_logger()


class Runner:
    """Runs attempts and owns what they share: connections to gym servers, model clients, plans and the replay server.

    Args:
        store: Where records, transcripts and final databases are written.
        gate: Start gate of every attempt; None reads the `control.json` of each attempt's run from the store.
        clock: Source of time; the system's if None.
        retry: How long model calls are retried; the default policy if None.
        on_event: Called in the event loop at the start, each step and the end of every attempt; must not block.
        on_transcript: Called in the event loop with every transcript entry; must not block.
        tracing: Where spans are sent; nowhere if None.
        admin_tokens: Tokens of gym servers' admin endpoints by base URL; servers without one need none.
        checked_models: Names of the models with which one tool turn is played before their first attempt.
    """

    def __init__(
        self,
        store: Store,
        *,
        gate: StartGate | None = None,
        clock: Clock | None = None,
        retry: RetryPolicy | None = None,
        on_event: Callable[[RunnerEvent], None] | None = None,
        on_transcript: TranscriptListener | None = None,
        tracing: Tracing | None = None,
        admin_tokens: Mapping[str, str] = MappingProxyType({}),
        checked_models: Collection[str] = (),
    ) -> None:
        self._store = store
        self._gate = gate
        self._clock = clock or Clock()
        self._on_event = on_event
        self._on_transcript = on_transcript
        self._tracing = tracing or Tracing()
        self._http = http_client(admin_tokens=admin_tokens)
        self._models = ModelRegistry(retry or RetryPolicy(), self._clock)
        self._preflight = ModelPreflight(checked_models, self._clock)
        self._plans = PlanStore(store)
        self._gates: dict[str, StartGate] = {}
        """Start gates read from the store, by run."""
        self._cleanups: set[asyncio.Task[None]] = set()
        self._stored_catalogues: set[str] = set()

    async def __aenter__(self) -> Self:
        """Returns the runner; connections and the replay server open on first use."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for database deletions in progress, then closes every connection."""
        if self._cleanups:
            await asyncio.wait(self._cleanups)
        await self._http.aclose()
        await self._models.close()

    @property
    def limits(self) -> Mapping[str, LimitState]:
        """Concurrency limit of each model called so far, by the model's name."""
        return self._models.limits

    @property
    def delays(self) -> Mapping[str, Sequence[Delay]]:
        """What requests of each model called so far wait for, by the model's name."""
        return self._models.delays

    async def run(self, job: Job, orchestrator: Orchestrator | None = None) -> AttemptRecord:
        """Runs one attempt to its end.

        Args:
            job: The attempt.
            orchestrator: Runs the agent's loop instead of the one that the job's agent names.

        Returns:
            The final record. Record, transcript and, if the trial is scored, its trial record and final databases are
            in the store, unless the outcome is `infra_error` with reason `store_lost`.

        Raises:
            asyncio.CancelledError: The attempt was cancelled. Its record has the outcome `cancelled` and its cost so
                far, or the episode's result if there was one already.
        """
        job = _with_replay_prices(job)
        context = self._context_for(job)
        with _log_context(job), self._tracing.episode(episode_name(job), shared_attributes(job), job.secrets) as span:
            span.set(episode_attributes(job))
            log.info("attempt started", model=job.model.model)
            return await self._run_attempt(job, orchestrator, context, span)

    async def _run_attempt(
        self, job: Job, orchestrator: Orchestrator | None, context: AttemptContext, span: Span
    ) -> AttemptRecord:
        writing: asyncio.Task[AttemptRecord] | None = None
        try:
            try:
                require_open(await context.gate.control(), starting=True)
                await context.journal.start()
                agent = require_runnable(job, orchestrator)
                await self._preflight.check(job.model, context.journal.add_cost)
                async with self._models.clients_for(job) as models:
                    result = await run_sample(job, agent, models, self._http, self._plans, context)
                writing = asyncio.create_task(write_scored(job, result, context))
                record = await asyncio.shield(writing)
            except Exception as error:  # noqa: BLE001 the outermost layer: one attempt's bug must not end the run
                record = await _write_unscored(_failed_record(error, job, context), job, context)
        except asyncio.CancelledError:
            _report_end(await asyncio.shield(_cancelled_record(job, context, writing)), context, span)
            raise
        _report_end(record, context, span)
        return record

    def _context_for(self, job: Job) -> AttemptContext:
        gate = self._gate or self._gates.setdefault(job.run, StoreStartGate(self._store, job.run, self._clock))
        return AttemptContext(
            store=self._store,
            journal=Journal(self._store, job, self._clock, self._on_event),
            transcript=TranscriptRecorder(job.task.task_id, self._on_transcript),
            gate=gate,
            clock=self._clock,
            cleanups=self._cleanups,
            stored_catalogues=self._stored_catalogues,
        )


def _failed_record(error: Exception, job: Job, context: AttemptContext) -> AttemptRecord:
    """Final record of an attempt that an exception ended without a score."""
    journal = context.journal
    if isinstance(error, NotScored):
        return journal.record(error.outcome, error.reason, str(error))
    if isinstance(error, SealError):
        return journal.record(Outcome.CONFIG_ERROR, ConfigReason.HELD_OUT_SEED, str(error))
    if isinstance(error, StoreError):
        return journal.record(Outcome.INFRA_ERROR, InfraReason.STORE_LOST, str(error))
    log.error("attempt failed unexpectedly", exc_info=error)
    message = scrub(f"unexpected {type(error).__name__}: {error}", job.secrets)
    return journal.record(Outcome.INFRA_ERROR, InfraReason.RUNNER_ERROR, message)


async def _cancelled_record(
    job: Job, context: AttemptContext, writing: asyncio.Task[AttemptRecord] | None
) -> AttemptRecord:
    """Final record of a cancelled attempt: that of its episode if the result is being written already."""
    if writing is None:
        record = context.journal.record(Outcome.CANCELLED, message="cancelled while it ran")
        return await _write_unscored(record, job, context)
    try:
        return await writing
    except StoreError as error:
        return await _write_unscored(_failed_record(error, job, context), job, context)


async def _write_unscored(record: AttemptRecord, job: Job, context: AttemptContext) -> AttemptRecord:
    """Writes the transcript and record of an attempt without a score; returns the record that holds afterwards."""
    try:
        await write_transcript(job, context)
        await context.journal.save(record)
    except StoreError as error:
        if record.reason == InfraReason.STORE_LOST:
            return record
        # Not the earlier message, which may quote the task: this one stays in clear.
        ended = " ".join(filter(None, (record.outcome, record.reason)))
        message = f"{error} (the attempt had ended as {ended})"
        return context.journal.record(Outcome.INFRA_ERROR, InfraReason.STORE_LOST, message)
    except Exception as error:  # noqa: BLE001 an attempt that cannot be written down must not end the run
        return _failed_record(error, job, context)
    return record


def _report_end(record: AttemptRecord, context: AttemptContext, span: Span) -> None:
    """Reports a final record to the log, the span and the observer.

    Log and span leave out the record's message, which may quote the conversation.
    """
    outcome = record.outcome
    log.info("attempt ended", outcome=outcome, reason=record.reason, steps=record.steps, tool_calls=record.tool_calls)
    span.set(outcome_attributes(record))
    if outcome is not None and not outcome.scored:
        span.fail(record.reason or outcome.value)
    context.journal.finished(record)


def _log_context(job: Job) -> AbstractContextManager[None]:
    """Adds the attempt's identity to every log line inside, those of libraries included."""
    return structlog.contextvars.bound_contextvars(
        run=job.run, cell=job.cell.key, task=job.task.task_id, trial=job.trial, attempt=job.attempt
    )


def _with_replay_prices(job: Job) -> Job:
    """The job with price 0 for every replay model that the user gave no prices."""

    def priced(model: ResolvedModel | None) -> ResolvedModel | None:
        unpriced_replay = model is not None and model.model.startswith(REPLAY) and model.prices is None
        return replace(model, prices=FREE) if model is not None and unpriced_replay else model

    return replace(job, model=priced(job.model) or job.model, planner=priced(job.planner), judge=priced(job.judge))
