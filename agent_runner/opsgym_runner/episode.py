"""One episode: seed, connect, orchestrate, verify, snapshot.

Invariant: an episode ends with a finding over all its verifiers or with `NotScored`, and its databases are deleted
either way, also when it is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import structlog

from opsgym_api.evalrun import Agent, Mode
from opsgym_api.outcomes import ConfigReason, FailReason, InfraReason, Outcome
from opsgym_api.records import StateDifference, VerifierResult
from opsgym_runner.asking import Desk, EpisodeModels
from opsgym_runner.catalogue import Offer, build_catalogue
from opsgym_runner.errors import AgentFailed, NotScored, config_error, infra_error
from opsgym_runner.events import Events
from opsgym_runner.gym import GymClient, Snapshot
from opsgym_runner.job import Job
from opsgym_runner.judge import Judge
from opsgym_runner.orchestrators import Ending, Orchestrator, find_orchestrator, prompts_of
from opsgym_runner.plans import Plans, prompts_of_source, require_plan
from opsgym_runner.prompting import Prompts
from opsgym_runner.retry import ModelFailure
from opsgym_runner.session import EpisodeSession, Toolbox
from opsgym_runner.spans import EVALUATION, evaluation_attributes
from opsgym_runner.tracing import span
from opsgym_runner.verifiers import Conduct, published_score, require_judge, verify

log = structlog.get_logger()

_JUDGED_BY_STATE = ("answer", FailReason.STEP_LIMIT)
"""Endings after which the final state alone decides, as in the published harness."""


@dataclass(frozen=True)
class Finding:
    """What an episode came to."""

    ending: Ending
    verifiers: Sequence[VerifierResult]
    snapshots: Mapping[str, Snapshot]
    """Final databases by gym server, of those that hand them out."""
    catalogue_digest: str
    message: str = ""
    """Why the agent's loop could not go on."""
    differences: Mapping[str, StateDifference] = field(default_factory=dict)
    """How final databases differ from their seeds, by gym server, of those that tell it."""

    @property
    def passed(self) -> bool:
        """Whether the trial is passed."""
        return self.ending.stopped_by in _JUDGED_BY_STATE and all(result.passed for result in self.verifiers)

    @property
    def outcome(self) -> Outcome:
        """The scored outcome."""
        return Outcome.PASSED if self.passed else Outcome.FAILED

    @property
    def reason(self) -> str:
        """Why the trial failed; empty if it did not."""
        if self.passed:
            return ""
        return FailReason.VERIFIERS if self.ending.stopped_by == "answer" else self.ending.stopped_by

    @property
    def published_score(self) -> int:
        """Score under the published rules, which know no verdict on an agent that was stopped."""
        return published_score(self.verifiers) if self.ending.stopped_by in _JUDGED_BY_STATE else 0


@dataclass(frozen=True)
class Approach:
    """How an agent acts."""

    orchestrator: Orchestrator
    prompts: Prompts


def require_runnable(job: Job) -> Approach:
    """How the job's agent acts, if everything that the job asks for exists.

    Raises:
        NotScored: Something does not; nothing has been spent on it.
    """
    require_judge(job.task, named=job.judge is not None)
    require_plan(job)
    _require_gyms(job)
    return approach_of(job.agent)


def approach_of(agent: Agent) -> Approach:
    """How an agent acts.

    Raises:
        NotScored: Its orchestrator, or a prompt that it replaces, does not exist.
    """
    orchestrator = find_orchestrator(agent.orchestrator)
    known = {**prompts_of_source(agent), **prompts_of(orchestrator)}
    return Approach(orchestrator, Prompts(agent.name, known, agent.prompts))


def _require_gyms(job: Job) -> None:
    for server in job.task.gym_servers_config:
        if server.domain not in job.gyms:
            known = ", ".join(sorted(job.gyms)) or "none"
            message = (
                f"gym server {server.mcp_server_name} is of domain {server.domain!r}; there are servers for: {known}"
            )
            raise config_error(ConfigReason.UNKNOWN_GYM, message)
        seed = job.seeds.get(server.mcp_server_name)
        if seed is None or (seed.sql is None and seed.builtin is None):
            message = f"gym server {server.mcp_server_name}: no seed for {server.seed_database_file or 'it'}"
            raise config_error(ConfigReason.SEED_NOT_FOUND, message)


async def run_episode(
    job: Job, approach: Approach, models: EpisodeModels, http: httpx.AsyncClient, plans: Plans, desk: Desk
) -> Finding:
    """Runs an episode of a job that is runnable.

    Args:
        job: The attempt.
        approach: How its agent acts.
        models: Its models.
        http: Connections to gym servers.
        plans: Where plans that models wrote are kept.
        desk: Where everything is written.

    Raises:
        NotScored: It says nothing about the agent.
        StoreError: The store cannot be read or written.
    """
    async with _databases(job, http, desk) as gyms:
        with desk.journal.phase("connect_s"), span("connect"):
            offers = [await _connect(gym) for gym in gyms.values()]
            events = Events(job.task, gyms, desk.transcriber)
            await events.check()
        await models.agent.ready()  # before the task's time begins
        catalogue = build_catalogue(offers, job.task, job.mode, job.agent.tool_names)
        plan = await plans.plan_for(job, models.planner, _plannable(offers, job), approach.prompts, desk)
        session = EpisodeSession(job, models, Toolbox(catalogue, gyms), events, desk, approach.prompts, plan)
        ending, message = await _act(approach.orchestrator, session, models, job)
        events.close()
        if message:
            desk.transcriber.note(message)
        with desk.journal.phase("verify_s"), span("verify") as traced:
            judge = Judge(job.judge, models.judge, desk) if job.judge and models.judge else None
            verifiers = await verify(job.task, gyms, Conduct(session.tools_called, ending.answer), judge)
            for result in verifiers:
                traced.event(EVALUATION, evaluation_attributes(result))
            snapshots = {name: found for name, gym in gyms.items() if (found := await gym.snapshot()) is not None}
            differences = await _differences(gyms)
        return Finding(ending, verifiers, snapshots, catalogue.digest, message, differences)


async def _differences(gyms: Mapping[str, GymClient]) -> dict[str, StateDifference]:
    """What the episode did to each database. It is for people: one that cannot be had spoils no score."""
    found: dict[str, StateDifference] = {}
    for name, gym in gyms.items():
        try:
            difference = await gym.state_difference()
        except NotScored as error:
            log.warning("state difference left out", gym=name, reason=error.reason)
            continue
        if difference is not None:
            found[name] = difference
    return found


def _plannable(offers: Sequence[Offer], job: Job) -> Sequence[Mapping[str, Any]]:
    """Tools that a model writes plans with: one plan serves all cells, so they are those that all cells show."""
    return build_catalogue(offers, job.task, Mode.ORACLE).tools if job.agent.plan == "model" else ()


@asynccontextmanager
async def _databases(job: Job, http: httpx.AsyncClient, desk: Desk) -> AsyncIterator[dict[str, GymClient]]:
    """Seeded databases of the task's gym servers, by server name, for as long as the episode lasts."""
    gyms = {s.mcp_server_name: GymClient(http, job.gyms[s.domain], s) for s in job.task.gym_servers_config}
    touched: list[GymClient] = []
    try:
        with desk.journal.phase("seed_s"), span("seed"):
            for name, gym in gyms.items():
                touched.append(gym)  # before seeding: a server may leave a database behind that it failed to fill
                await gym.seed(job.seeds[name], job.task.access_in(job.access))
        yield gyms
    finally:
        cleanup = asyncio.create_task(_delete(touched))
        desk.cleanups.add(cleanup)
        cleanup.add_done_callback(desk.cleanups.discard)
        await asyncio.shield(cleanup)


async def _delete(gyms: Sequence[GymClient]) -> None:
    for gym in gyms:
        try:
            await gym.delete()
        except NotScored as error:
            log.warning("database left behind", gym=gym.name, database_id=gym.database_id, reason=error.reason)


async def _connect(gym: GymClient) -> Offer:
    await gym.initialize()
    return Offer(gym.name, await gym.list_tools(), gym.domain)


async def _act(
    orchestrator: Orchestrator, session: EpisodeSession, models: EpisodeModels, job: Job
) -> tuple[Ending, str]:
    """Runs the agent's loop to its end; also says why, if it could not go on."""
    limit = job.limits.task_timeout_seconds
    try:
        async with session.time:
            return await orchestrator(session), ""
    except TimeoutError:
        if not session.time.expired():
            raise
        _require_answering_model(models, session, limit)
        message = f"the task's time of {limit} s was over"
        return Ending(session.last_words, FailReason.TASK_TIMEOUT), message
    except ModelFailure as failure:
        raise failure.final() from None
    except AgentFailed as failure:
        return Ending(session.last_words, failure.reason), str(failure)


def _require_answering_model(models: EpisodeModels, session: EpisodeSession, limit: int) -> None:
    """A task's time that ran out on a model that does not answer is not the agent's failure."""
    if models.trouble is not None:
        raise models.trouble.final()
    if session.silent:
        message = f"the model answered nothing within the task's time of {limit} s"
        raise infra_error(InfraReason.MODEL_UNAVAILABLE, message)
