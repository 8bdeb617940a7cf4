"""Runs attempts, one or many at a time.

Invariant: `Runner.run` ends in an attempt record, whatever models, gyms, rows and stores do, and that record is in the
store unless the store itself is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

from pydantic import SecretStr

from opsgym_api.records import AttemptRecord
from opsgym_api.store import Store
from opsgym_runner.attempt import Attempt
from opsgym_runner.clock import Clock
from opsgym_runner.endpoints import EndpointPool
from opsgym_runner.episode import Finding, require_runnable, run_episode
from opsgym_runner.gate import Gate, StoreGate
from opsgym_runner.gym import http_client
from opsgym_runner.job import Job, ModelEndpoint
from opsgym_runner.journal import Journal, RunnerEvent
from opsgym_runner.litellm_lib import is_loaded, load_litellm
from opsgym_runner.model import ModelClient, Target
from opsgym_runner.prices import FREE, REPLAY
from opsgym_runner.replay.scripts import script_for
from opsgym_runner.replay.server import ReplayServer
from opsgym_runner.retry import RetryPolicy
from opsgym_runner.session import Desk
from opsgym_runner.transcript import Transcriber

__all__ = ["Gate", "Runner", "RunnerEvent"]

_REPLAY_KEY = SecretStr("replay")  # the endpoint asks for none, but OpenAI clients insist on having one


class Runner:
    """Runs attempts; holds what they share: connections to gyms, model endpoints and their pauses, the replay server.

    Args:
        store: Where records go.
        gate: Whether episodes may start or go on; the run's `control.json` in the store if None.
        clock: Where time comes from.
        retry: How long model calls are retried.
        on_event: Told of every attempt's start, steps and end, in the event loop; must not block.
    """

    def __init__(
        self,
        store: Store,
        *,
        gate: Gate | None = None,
        clock: Clock | None = None,
        retry: RetryPolicy | None = None,
        on_event: Callable[[RunnerEvent], None] | None = None,
    ) -> None:
        self._store = store
        self._gate = gate
        self._clock = clock or Clock()
        self._retry = retry or RetryPolicy()
        self._on_event = on_event
        self._http = http_client()
        self._replay = ReplayServer()
        self._gates: dict[str, Gate] = {}
        self._pools: dict[tuple[str, tuple[ModelEndpoint, ...]], EndpointPool] = {}
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
        if is_loaded():
            litellm = load_litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()  # it would hand out the closed clients again
        await self._replay.stop()

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
        desk = Desk(journal, Transcriber(job.task.task_id), self._gate_of(job.run), self._clock, self._cleanups)
        attempt = Attempt(self._store, job, desk)
        try:
            record = await attempt.run(lambda: self._episode(job, desk))
        except asyncio.CancelledError:
            journal.finished(await asyncio.shield(attempt.cancel()))
            raise
        journal.finished(record)
        return record

    async def _episode(self, job: Job, desk: Desk) -> Finding:
        orchestrator = require_runnable(job)
        async with self._model_of(job) as model:
            return await run_episode(job, orchestrator, model, self._http, desk)

    @asynccontextmanager
    async def _model_of(self, job: Job) -> AsyncIterator[ModelClient]:
        """A client of the job's model; for a replay model, of the replay server with its script."""
        model = job.model
        if not model.model.startswith(REPLAY):
            pool = self._pool_of(model.model, model.endpoints)
            yield ModelClient(Target(model, model.model), pool, self._retry, self._clock)
            return
        script = script_for(model.model, job.task)
        await self._replay.start()
        with self._replay.playing(script) as headers:
            target = Target(model, f"openai/{model.name}", headers)
            pool = self._pool_of(REPLAY, (ModelEndpoint(self._replay.url, _REPLAY_KEY),))
            yield ModelClient(target, pool, self._retry, self._clock)

    def _pool_of(self, model: str, endpoints: tuple[ModelEndpoint, ...]) -> EndpointPool:
        key = (model, endpoints)
        if key not in self._pools:
            self._pools[key] = EndpointPool(endpoints, self._clock)
        return self._pools[key]

    def _gate_of(self, run: str) -> Gate:
        if self._gate is not None:
            return self._gate
        return self._gates.setdefault(run, StoreGate(self._store, run, self._clock))


def _with_replay_prices(job: Job) -> Job:
    """The job, its replay model costing nothing unless the user gave it prices."""
    if not job.model.model.startswith(REPLAY) or job.model.prices is not None:
        return job
    return replace(job, model=replace(job.model, prices=FREE))
