"""Clients of models for episodes, and what clients of one model share.

Invariant: all episodes of a runner that use a model share its endpoints, with their pauses, and its limit of requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from pydantic import SecretStr

from opsgym_runner.clock import Clock
from opsgym_runner.endpoints import EndpointPool
from opsgym_runner.job import Job, ModelEndpoint, ResolvedModel
from opsgym_runner.limiter import Announcer, ConcurrencyLimiter, LimitState
from opsgym_runner.litellm_lib import is_loaded, load_litellm
from opsgym_runner.model import ModelClient, Target
from opsgym_runner.prices import REPLAY
from opsgym_runner.replay.flaky import FLAKY, faults_of
from opsgym_runner.replay.scripts import script_for
from opsgym_runner.replay.server import ReplayServer
from opsgym_runner.retry import Retrier, RetryPolicy

_REPLAY_KEY = SecretStr("replay")  # the endpoint asks for none, but OpenAI clients insist on having one


@dataclass(frozen=True)
class _Shared:
    pool: EndpointPool
    limiter: ConcurrencyLimiter


class ModelClients:
    """Makes clients of models; closes what they share.

    Args:
        policy: How long calls are retried.
        clock: Where time comes from.
    """

    def __init__(self, policy: RetryPolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._replay = ReplayServer()
        self._shared: dict[tuple[str, str, tuple[ModelEndpoint, ...]], _Shared] = {}

    @asynccontextmanager
    async def client_of(self, model: ResolvedModel, job: Job, by: str = "") -> AsyncIterator[ModelClient]:
        """A client of a model for as long as a job's episode lasts; a replay model plays its part in that job.

        Args:
            model: The job's model, planner or judge.
            job: Whose episode it is.
            by: Whose part it plays: `PLANNER`, `JUDGE`, or the agent's.

        Raises:
            NotScored: The replay model has nothing to play.
        """
        if not model.model.startswith(REPLAY):
            target = Target(model, model.model, part=by)
            yield ModelClient(target, self._retrier_of(model, model.endpoints), self._clock)
            return
        faults = faults_of(model, job, by) if model.model == FLAKY else None
        script = script_for(f"{REPLAY}{faults.parameters.of}" if faults else model.model, job.task, by)
        await self._replay.start()
        with self._replay.playing(script, faults) as headers:
            called = replace(model, parameters={"timeout": faults.parameters.timeout}) if faults else model
            retrier = self._retrier_of(model, (ModelEndpoint(self._replay.url, _REPLAY_KEY),))
            yield ModelClient(Target(called, f"openai/{model.name}", headers, by), retrier, self._clock)

    @property
    def limits(self) -> Mapping[str, LimitState]:
        """Where the requests of each model stand that has been asked for, by its name."""
        return {name: shared.limiter.state for (name, _, _), shared in self._shared.items()}

    def _retrier_of(self, model: ResolvedModel, endpoints: tuple[ModelEndpoint, ...]) -> Retrier:
        key = (model.name, model.model, endpoints)
        if key not in self._shared:
            announcer = Announcer(model.name, self._clock)
            limiter = ConcurrencyLimiter(model.max_concurrency, len(endpoints) or 1, announcer.changed)
            self._shared[key] = _Shared(EndpointPool(endpoints, self._clock), limiter)
        shared = self._shared[key]
        return Retrier(shared.pool, shared.limiter, self._policy, self._clock)

    async def close(self) -> None:
        """Closes every connection and the replay server."""
        if is_loaded():
            litellm = load_litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()  # it would hand out the closed clients again
        await self._replay.stop()
