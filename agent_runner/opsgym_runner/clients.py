"""The model clients of a runner, and what the clients of one model share.

Invariant: all episodes of a runner that use a model share its endpoints, their pauses and its concurrency limit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from opsgym_api.jobs.job_spec import JobModel
from opsgym_api.kinds.evalrun import EXTERNAL
from opsgym_api.kinds.profiles import OPSGYM, Switches
from opsgym_runner.clock import Clock
from opsgym_runner.job import JUDGE, PLANNER, Job, ModelEndpoint, ResolvedModel
from opsgym_runner.models.client import ModelClient, Target
from opsgym_runner.models.direct import is_direct
from opsgym_runner.models.endpoints import Delay, EndpointPool
from opsgym_runner.models.forwarder import Forwarder
from opsgym_runner.models.limiter import ConcurrencyLimiter, LimitLogger, LimitState
from opsgym_runner.models.litellm_lib import is_loaded, load_litellm
from opsgym_runner.models.prices import REPLAY
from opsgym_runner.models.published import litellm_id, reasons_on_openai, sampling_parameters
from opsgym_runner.models.retry import ModelFailure, Retrier, RetryPolicy
from opsgym_runner.models.seeds import request_seed
from opsgym_runner.models.sending import Connections
from opsgym_runner.models.streaming import is_streamed
from opsgym_runner.replay.client import ScriptedClient, ScriptedForwarder
from opsgym_runner.replay.scripts import FLAKY, script_for

if TYPE_CHECKING:
    from opsgym_runner.replay.server import ReplayServer

_REPLAY_KEY = SecretStr("replay")  # the replay server needs none, but OpenAI clients refuse to work without a key


def uses_litellm(model: ResolvedModel | JobModel) -> bool:
    """Whether calls of a model go through litellm.

    It says so for agents whose switches change nothing of how a model is called; another agent's client imports
    litellm with its first call.
    """
    return not model.model.startswith(REPLAY) and not is_direct(model.model, model.parameters)


def is_called(model: ResolvedModel | JobModel) -> bool:
    """Whether a model is called over HTTP; scripts without faults are played in this process."""
    return not model.model.startswith(REPLAY) or model.model == FLAKY


@dataclass(frozen=True)
class EpisodeModels:
    """Model clients of one episode, by role."""

    agent: ModelClient
    planner: ModelClient
    """The agent's own client unless the agent's plan source or orchestrator calls a planner."""
    judge: ModelClient | None = None
    """None unless the run names a judge and the task has a `response_check`."""

    forwarder: Callable[[], Forwarder] | None = None
    """Makes what sends one request of an agent with a command to the agent's model; None for other agents."""

    @property
    def pending_failure(self) -> ModelFailure | None:
        """Why the agent's call in progress has no answer yet; see `Retrier.pending_failure`."""
        return self.agent.pending_failure or self.planner.pending_failure


@dataclass(frozen=True)
class _Shared:
    """Endpoints and limit of one model, shared by its clients."""

    pool: EndpointPool
    limiter: ConcurrencyLimiter


def target_of(model: ResolvedModel, role: str, switches: Switches, seed: int | None = None) -> Target:
    """Target of a provider's model, as the switches ask for it: id, parameters, tools, repeated requests.

    Args:
        model: The model.
        role: `PLANNER`, `JUDGE`, or empty for the agent.
        switches: The agent's switches, or opsgym's for the judge.
        seed: Seed of its requests; None for none.
    """
    called = litellm_id(model.model, model.parameters, switches)
    added = sampling_parameters(model.model, model.parameters) if switches.sampling == "published" else {}
    disabled = switches.strict_tools == "disabled" and reasons_on_openai(called, model.parameters)
    own = None if "seed" in model.parameters else seed
    sent = replace(model, parameters={**added, **model.parameters})
    taken = switches.unusable_replies == "taken"
    streamed = switches.streaming == "model" and is_streamed(model.model, model.endpoints, model.stream)
    return Target(sent, called, role=role, strict_disabled=disabled, unusable_taken=taken, streamed=streamed, seed=own)


class ModelRegistry:
    """Makes model clients and closes what they share.

    Args:
        policy: How long calls are retried.
        clock: Source of time.
    """

    def __init__(self, policy: RetryPolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._replay: ReplayServer | None = None
        self._connections = Connections()
        self._shared: dict[tuple[str, str, tuple[ModelEndpoint, ...]], _Shared] = {}

    @asynccontextmanager
    async def clients_for(self, job: Job) -> AsyncIterator[EpisodeModels]:
        """Clients of a job's models for the duration of its episode.

        Raises:
            NotScored: A replay model has no script for the task.
        """
        plans = job.agent.plan == "model" or job.agent.orchestrator not in ("react", EXTERNAL)
        judged = any(verifier.verifier_type == "response_check" for verifier in job.task.verifiers)
        async with AsyncExitStack() as stack:
            planner = agent = await stack.enter_async_context(self.client_of(job.model, job))
            judge = None
            if plans:
                planner = await stack.enter_async_context(self.client_of(job.planner or job.model, job, PLANNER))
            if job.judge is not None and judged:
                judge = await stack.enter_async_context(self.client_of(job.judge, job, JUDGE))
            forwarder = partial(self._forwarder_of, agent) if job.agent.command else None
            yield EpisodeModels(agent, planner, judge, forwarder)

    def _forwarder_of(self, client: ModelClient) -> Forwarder:
        if isinstance(client, ScriptedClient):
            return ScriptedForwarder(client, self._connections, self._clock)
        return Forwarder(client, self._connections, self._clock)

    @asynccontextmanager
    async def client_of(self, model: ResolvedModel, job: Job, role: str = "") -> AsyncIterator[ModelClient]:
        """A client of one model for the duration of a job's episode.

        Args:
            model: The job's model, planner or judge.
            job: The attempt; a replay model plays the script of its task.
            role: `PLANNER`, `JUDGE`, or empty for the agent.

        Raises:
            NotScored: The replay model has no script for the task.
        """
        if not model.model.startswith(REPLAY):
            switches = OPSGYM if role == JUDGE else job.agent
            target = target_of(model, role, switches, request_seed(job, model, role))
            yield ModelClient(target, self._retrier_of(model, model.endpoints), self._clock, self._connections)
        elif model.model == FLAKY:
            async with self._flaky_client(model, job, role) as client:
                yield client
        else:
            target = Target(model, f"openai/{model.name}", role=role)
            script = script_for(model.model, job.task, role)
            retrier = self._retrier_of(model, (ModelEndpoint(),))
            yield ScriptedClient(target, script, retrier, self._clock, self._connections)

    @asynccontextmanager
    async def _flaky_client(self, model: ResolvedModel, job: Job, role: str) -> AsyncIterator[ModelClient]:
        """A client of `replay/flaky`, which is reached over HTTP like a provider's model."""
        from opsgym_runner.replay.flaky import faults_of
        from opsgym_runner.replay.server import ReplayServer

        faults = faults_of(model, job, role)
        script = script_for(f"{REPLAY}{faults.parameters.of}", job.task, role)
        server = self._replay = self._replay or ReplayServer()
        await server.start()
        with server.playing(script, faults) as headers:
            called = replace(model, parameters={"timeout": faults.parameters.timeout})
            retrier = self._retrier_of(model, (ModelEndpoint(server.url, _REPLAY_KEY),))
            target = Target(called, f"openai/{model.name}", headers, role)
            yield ModelClient(target, retrier, self._clock, self._connections)

    @property
    def limits(self) -> Mapping[str, LimitState]:
        """Concurrency limit of each model that has had a client, by the model's name."""
        return {name: shared.limiter.state for (name, _, _), shared in self._shared.items()}

    @property
    def delays(self) -> Mapping[str, Sequence[Delay]]:
        """What requests of each model wait for, by the model's name."""
        return {name: shared.pool.delays for (name, _, _), shared in self._shared.items()}

    def _retrier_of(self, model: ResolvedModel, endpoints: tuple[ModelEndpoint, ...]) -> Retrier:
        key = (model.name, model.model, endpoints)
        if key not in self._shared:
            on_change = LimitLogger(model.name, self._clock).changed
            limiter = ConcurrencyLimiter(model.max_concurrency, len(endpoints) or 1, on_change)
            self._shared[key] = _Shared(EndpointPool(endpoints, self._clock), limiter)
        shared = self._shared[key]
        return Retrier(shared.pool, shared.limiter, self._policy, self._clock)

    async def close(self) -> None:
        """Closes every connection and stops the replay server."""
        if is_loaded():
            litellm = load_litellm()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()  # it would hand out the closed clients again
        await self._connections.close()
        if self._replay is not None:
            await self._replay.stop()
