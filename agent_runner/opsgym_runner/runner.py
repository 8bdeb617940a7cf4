"""Runs attempts, one or many at a time.

Invariant: `Runner.run` ends in an attempt record, whatever models, gyms, rows and stores do, and that record is in the
store unless the store itself is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

import structlog

from opsgym_api.records import AttemptRecord
from opsgym_api.store import Store
from opsgym_runner.asking import Desk, EpisodeModels
from opsgym_runner.attempt import Attempt
from opsgym_runner.clients import ModelClients
from opsgym_runner.clock import Clock
from opsgym_runner.episode import Finding, require_runnable, run_episode
from opsgym_runner.gate import Gate, StoreGate
from opsgym_runner.gym import http_client
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.journal import JUDGE, PLANNER, Journal, RunnerEvent
from opsgym_runner.limiter import LimitState
from opsgym_runner.plans import Plans
from opsgym_runner.prices import FREE, REPLAY
from opsgym_runner.retry import RetryPolicy
from opsgym_runner.spans import episode_attributes, episode_name, outcome_attributes, shared_attributes
from opsgym_runner.tracing import Span, Tracing
from opsgym_runner.transcript import Onlooker, Transcriber

__all__ = ["Gate", "Runner", "RunnerEvent"]

log = structlog.get_logger()


class Runner:
    """Runs attempts; holds what they share: connections to gyms, model endpoints and their pauses, the replay server.

    Args:
        store: Where records go.
        gate: Whether episodes may start or go on; the run's `control.json` in the store if None.
        clock: Where time comes from.
        retry: How long model calls are retried.
        on_event: Told of every attempt's start, steps and end, in the event loop; must not block.
        onlooker: Told of every transcript's entries as they happen.
        tracing: Where spans go; nowhere if None.
    """

    def __init__(
        self,
        store: Store,
        *,
        gate: Gate | None = None,
        clock: Clock | None = None,
        retry: RetryPolicy | None = None,
        on_event: Callable[[RunnerEvent], None] | None = None,
        onlooker: Onlooker | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._store = store
        self._gate = gate
        self._clock = clock or Clock()
        self._on_event = on_event
        self._onlooker = onlooker
        self._tracing = tracing or Tracing()
        self._http = http_client()
        self._models = ModelClients(retry or RetryPolicy(), self._clock)
        self._plans = Plans(store)
        self._gates: dict[str, Gate] = {}
        self._cleanups: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Opens the runner; what is shared opens when it is first needed."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for deletions under way, then closes every connection."""
        if self._cleanups:
            await asyncio.wait(self._cleanups)
        await self._http.aclose()
        await self._models.close()

    @property
    def limits(self) -> Mapping[str, LimitState]:
        """Requests in flight, and how many may be, of each model that was asked for, by its name."""
        return self._models.limits

    async def run(self, job: Job) -> AttemptRecord:
        """Runs one attempt to its end.

        Returns:
            The final record. Record, transcript and, if the trial is scored, its record and final databases are in
            the store, unless the outcome is `infra_error` for the reason `store_lost`.

        Raises:
            asyncio.CancelledError: The attempt was cancelled; its record says so and keeps what was spent.
        """
        job = _with_replay_prices(job)
        journal = Journal(self._store, job, self._clock, self._on_event)
        transcriber = Transcriber(job.task.task_id, self._onlooker)
        desk = Desk(journal, transcriber, self._gate_of(job.run), self._clock, self._cleanups)
        attempt = Attempt(self._store, job, desk)
        with _bound(job), self._tracing.episode(episode_name(job), shared_attributes(job), job.secrets) as traced:
            traced.set(episode_attributes(job))
            log.info("attempt begins", model=job.model.model)
            try:
                record = await attempt.run(lambda: self._episode(job, desk))
            except asyncio.CancelledError:
                record = await asyncio.shield(attempt.cancel())
                _tell_end(record, traced)
                journal.finished(record)
                raise
            _tell_end(record, traced)
            journal.finished(record)
        return record

    async def _episode(self, job: Job, desk: Desk) -> Finding:
        approach = require_runnable(job)
        async with self._models_of(job) as models:
            return await run_episode(job, approach, models, self._http, self._plans, desk)

    @asynccontextmanager
    async def _models_of(self, job: Job) -> AsyncIterator[EpisodeModels]:
        """Clients of the job's models; of a planner or judge of its own only where it may be asked."""
        plans = job.agent.plan == "model" or job.agent.orchestrator != "react"
        judged = any(verifier.verifier_type == "response_check" for verifier in job.task.verifiers)
        async with AsyncExitStack() as stack:
            planner = agent = await stack.enter_async_context(self._models.client_of(job.model, job))
            judge = None
            if plans:
                own = job.planner or job.model
                planner = await stack.enter_async_context(self._models.client_of(own, job, PLANNER))
            if job.judge is not None and judged:
                judge = await stack.enter_async_context(self._models.client_of(job.judge, job, JUDGE))
            yield EpisodeModels(agent, planner, judge)

    def _gate_of(self, run: str) -> Gate:
        if self._gate is not None:
            return self._gate
        return self._gates.setdefault(run, StoreGate(self._store, run, self._clock))


def _bound(job: Job) -> AbstractContextManager[None]:
    """Has log lines say whose they are, those of libraries too."""
    return structlog.contextvars.bound_contextvars(
        run=job.run, cell=job.cell.key, task=job.task.task_id, trial=job.trial, attempt=job.attempt
    )


def _tell_end(record: AttemptRecord, traced: Span) -> None:
    """Logs how an attempt ended, and has its span say so; its message may quote, and is in the record."""
    outcome = record.outcome
    log.info("attempt ends", outcome=outcome, reason=record.reason, steps=record.steps, tool_calls=record.tool_calls)
    traced.set(outcome_attributes(record))
    if outcome is not None and not outcome.scored:
        traced.fail(record.reason or outcome.value)


def _with_replay_prices(job: Job) -> Job:
    """The job, its replay models costing nothing unless the user gave them prices."""

    def priced(model: ResolvedModel) -> ResolvedModel:
        free = model.model.startswith(REPLAY) and model.prices is None
        return replace(model, prices=FREE) if free else model

    planner = None if job.planner is None else priced(job.planner)
    judge = None if job.judge is None else priced(job.judge)
    return replace(job, model=priced(job.model), planner=planner, judge=judge)
