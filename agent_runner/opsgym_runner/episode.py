"""One episode: seed the gyms, connect, run the agent, verify, take snapshots.

Invariant: an episode ends with a result of all its verifiers or with `NotScored`. Its databases are deleted either way,
also when it is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import structlog

from opsgym_api.kinds.evalrun import Agent, Mode
from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.outcomes import ConfigReason, FailReason, InfraReason, Outcome, Verdict
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.task import Task
from opsgym_core.common.scrub import known_secrets, mask
from opsgym_runner.bridge.external import External
from opsgym_runner.clients import EpisodeModels
from opsgym_runner.context import AttemptContext
from opsgym_runner.errors import AgentFailed, NotScored, config_error, infra_error
from opsgym_runner.gyms.catalogue import Catalogue, ServerTools, build_catalogue, names_of
from opsgym_runner.gyms.client import GymClient, Snapshot
from opsgym_runner.job import Job
from opsgym_runner.models.checks import too_many_tools
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.orchestrators import AgentResult, Orchestrator, find_orchestrator, prompts_of
from opsgym_runner.plans import PlanStore, prompts_of_source, require_plan
from opsgym_runner.prompting import Prompts
from opsgym_runner.replay.scripts import GOLD
from opsgym_runner.scenario.events import ScenarioEvents
from opsgym_runner.session import EpisodeSession, EpisodeTools
from opsgym_runner.tracing.spans import EVALUATION, evaluation_attributes
from opsgym_runner.tracing.tracer import span
from opsgym_runner.verification.judge import Judge
from opsgym_runner.verification.verifiers import (
    Trajectory,
    published_score,
    require_judge,
    verify,
    whole_differences,
)

log = structlog.get_logger()


@dataclass(frozen=True)
class EpisodeResult:
    """Outcome of an episode: how the agent ended, the verifiers' results and the final databases."""

    agent: AgentResult
    verifiers: Sequence[VerifierResult]
    snapshots: Mapping[str, Snapshot]
    """Final database by gym server; servers without snapshots are left out."""
    catalogue_digest: str
    message: str = ""
    """Why the agent's loop was stopped; empty if it ended by itself."""
    day_answers: Sequence[str] = ()
    """The agent's answers on the days before the last one that it reached."""
    differences: Mapping[str, StateDifference] = field(default_factory=dict)
    """Difference of the final database from its seed by gym server; servers that cannot compute it are left out.
    Bounded in size."""
    whole_differences: Mapping[str, StateDifference] = field(default_factory=dict)
    """The whole difference, of gym servers with `state_difference` verifiers."""

    @property
    def passed(self) -> bool:
        """Whether every verifier passed and the agent ended in a way that is judged by state."""
        stopped_by = self.agent.stopped_by
        judged = stopped_by == "answer" or stopped_by.verdict is Verdict.STATE
        return judged and all(result.passed for result in self.verifiers)

    @property
    def outcome(self) -> Outcome:
        """`passed` or `failed`."""
        return Outcome.PASSED if self.passed else Outcome.FAILED

    @property
    def reason(self) -> str:
        """Why the trial failed; empty if it passed."""
        if self.passed:
            return ""
        return FailReason.VERIFIERS if self.agent.stopped_by == "answer" else self.agent.stopped_by

    @property
    def published_score(self) -> int | None:
        """Score by the published rules: the state is judged after a filtered or malformed reply too, which ends the
        published loop; an exception there, such as a context overflow, is 0. None for a task timeout, which has no
        counterpart.
        """
        stopped_by = self.agent.stopped_by
        verdict = Verdict.STATE if stopped_by == "answer" else stopped_by.verdict
        if verdict in (Verdict.STATE, Verdict.STATE_IF_PUBLISHED):
            return published_score(self.verifiers)
        return None if verdict is Verdict.NONE_IF_PUBLISHED else 0

    @property
    def ended_by_error(self) -> bool:
        """Whether what stopped the agent's loop is an exception in the published harness, too."""
        return self.agent.stopped_by != "answer" and self.agent.stopped_by.verdict is Verdict.FAILED


@dataclass(frozen=True)
class ResolvedAgent:
    """An agent's orchestrator and prompts."""

    orchestrator: Orchestrator
    prompts: Prompts


def require_runnable(job: Job, orchestrator: Orchestrator | None = None) -> ResolvedAgent:
    """Resolves the job's agent after checking that everything the job needs exists.

    Args:
        job: The attempt.
        orchestrator: Runs the agent's loop instead of the one that the agent names.

    Raises:
        NotScored: A judge, plan, gym server, seed, orchestrator or prompt is missing; nothing has been spent.
    """
    require_judge(job.task, named=job.judge is not None)
    require_plan(job)
    if job.task.only_mode not in (None, job.mode):
        message = (
            f"task {job.task.task_id}: its row is of mode {job.task.only_mode}, with distractors in its selected"
            f" tools; run it with modes: [{job.task.only_mode}], or take the rows of mode {job.mode}"
        )
        raise config_error(ConfigReason.UNSUPPORTED, message)
    if job.agent.command and not job.agent.days and _speaks_in_mid_task(job.task):
        message = (
            f"task {job.task.task_id} has days, or messages in mid-task; agent {job.agent.name} reads none. Let its "
            "command go on with the `next` that POST answer returns, then set days: true"
        )
        raise config_error(ConfigReason.UNSUPPORTED, message)
    for server in job.task.gym_servers_config:
        if server.domain not in job.gyms:
            known = ", ".join(sorted(job.gyms)) or "none"
            message = f"gym server {server.mcp_server_name}: no server for domain {server.domain!r}; known: {known}"
            raise config_error(ConfigReason.UNKNOWN_GYM, message)
        seed = job.seeds.get(server.mcp_server_name)
        if seed is None or (seed.sql is None and seed.builtin is None):
            message = f"gym server {server.mcp_server_name}: no seed for {server.seed_database_file or 'it'}"
            raise config_error(ConfigReason.SEED_NOT_FOUND, message)
    if orchestrator is not None:
        return ResolvedAgent(orchestrator, Prompts(job.agent.name, {}, {}))
    return resolve_agent(job.agent)


def _speaks_in_mid_task(task: Task) -> bool:
    """Whether an agent has to read something after its first prompt."""
    messages = any(event.tell is not None or event.amend is not None for event in task.events)
    return bool(task.days) or messages or (task.needs_clock and task.clock.shown)


def resolve_agent(agent: Agent) -> ResolvedAgent:
    """Finds an agent's orchestrator and fills in its prompts.

    Raises:
        NotScored: The orchestrator, or a prompt that the agent replaces, does not exist.
    """
    if agent.command:
        orchestrator: Orchestrator = External(agent)
    else:
        orchestrator = find_orchestrator(agent.orchestrator, agent.algorithm)
    defaults = {**prompts_of_source(agent), **prompts_of(orchestrator)}
    return ResolvedAgent(orchestrator, Prompts(agent.name, defaults, agent.prompts))


async def run_sample(
    job: Job,
    agent: ResolvedAgent,
    models: EpisodeModels,
    http: httpx.AsyncClient,
    plans: PlanStore,
    context: AttemptContext,
) -> EpisodeResult:
    """Runs the episode of a job, and again if an error ended it, as often as the agent's `sampleRetries` says.

    Args, result and errors: those of `run_episode`. The result stands if no episode may begin any more.
    """
    most = job.agent.sample_retries
    result = await run_episode(job, agent, models, http, plans, context)
    while result.ended_by_error and context.journal.sample_retries < most:
        control = await context.gate.control()
        if not (control.proceed and control.start):
            break
        context.journal.begin_again()
        number = context.journal.sample_retries
        context.transcript.begin_again(f"played again ({number} of at most {most}) after an error: {result.message}")
        result = await run_episode(job, agent, models, http, plans, context)
    return result


async def run_episode(
    job: Job,
    agent: ResolvedAgent,
    models: EpisodeModels,
    http: httpx.AsyncClient,
    plans: PlanStore,
    context: AttemptContext,
) -> EpisodeResult:
    """Runs the episode of a job that `require_runnable` accepted.

    Args:
        job: The attempt.
        agent: Its resolved agent.
        models: Clients of its models.
        http: Connections to gym servers.
        plans: Model-written plans of the run.
        context: Records the episode.

    Raises:
        NotScored: The episode cannot be scored.
        StoreError: The store cannot be read or written.
    """
    async with _databases(job, http, context) as gyms:
        with context.journal.phase("connect_s"), span("connect"):
            servers = [await _connect(gym) for gym in gyms.values()]
            events = ScenarioEvents(job.task, gyms, context.transcript)
            await events.check()
        await models.agent.ready()  # before the task's time begins
        catalogue = build_catalogue(servers, job.task, job.mode, job.agent.tool_names, job.agent.tool_schemas)
        _require_tools_fit(job, catalogue)
        _require_callable_solution(job, catalogue)
        plan = await plans.plan_for(job, models.planner, _plannable(servers, job), agent.prompts, context)
        tools = EpisodeTools(catalogue, gyms, job.agent)
        session = EpisodeSession(job, models, tools, events, context, agent.prompts, plan)
        result, message = await _run_agent(agent.orchestrator, session, job)
        _require_all_days(session, result, job)
        events.close()
        trajectory = Trajectory(session.calls, result.answer, session.day_answers, session.day_differences)
        if message:
            context.transcript.note(message)
        with context.journal.phase("verify_s"), span("verify") as verify_span:
            judge = Judge(job.judge, models.judge, context) if job.judge and models.judge else None
            whole = await whole_differences(job.task, gyms)
            verifiers = await verify(job.task, gyms, trajectory, judge, whole)
            for verifier in verifiers:
                verify_span.event(EVALUATION, evaluation_attributes(verifier))
            snapshots = {name: file for name, gym in gyms.items() if (file := await gym.snapshot()) is not None}
            differences = await _differences(gyms)
        return EpisodeResult(
            result, verifiers, snapshots, catalogue.digest, message, session.day_answers, differences, whole
        )


async def _run_agent(orchestrator: Orchestrator, session: EpisodeSession, job: Job) -> tuple[AgentResult, str]:
    """Runs the agent's loop to its end; the message says why it was stopped, and is empty if it ended by itself."""
    limit = job.limits.task_timeout_seconds
    try:
        async with session.clock.timeout:
            return await orchestrator(session), ""
    except TimeoutError:
        if not session.clock.timeout.expired():
            raise
        if session.is_silent:
            message = f"the agent asked nothing of its model within the task's time of {limit} s"
            return AgentResult("", FailReason.NO_MODEL_CALLS), message
        _require_responsive_model(session, limit)
        return AgentResult(session.last_reply, FailReason.TASK_TIMEOUT), f"the task's time of {limit} s was over"
    except ModelFailure as failure:
        raise failure.final() from None
    except AgentFailed as failure:
        message = mask(str(failure), known_secrets(job.secrets))  # it may quote what the agent's program wrote
        return AgentResult(session.last_reply, failure.reason), message


def _require_responsive_model(session: EpisodeSession, limit: int) -> None:
    """Checks that a task timeout is the agent's failure and not that of a model which does not answer.

    Raises:
        NotScored: A model request was failing, or the model never answered.
    """
    if session.pending_failure is not None:
        raise session.pending_failure.final()
    if not session.has_reply:
        message = f"the model answered nothing within the task's time of {limit} s"
        raise infra_error(InfraReason.MODEL_UNAVAILABLE, message)


def _require_tools_fit(job: Job, catalogue: Catalogue) -> None:
    """Checks that the model's provider takes as many tools as the task shows.

    Raises:
        NotScored: It takes fewer; nothing has been spent.
    """
    problem = too_many_tools(job.model.model, job.model.endpoints, len(catalogue.tools))
    if problem is not None:
        raise config_error(ConfigReason.TOO_MANY_TOOLS, problem)


def _require_callable_solution(job: Job, catalogue: Catalogue) -> None:
    """Checks that the model that plays the reference solution can call the gym servers that the solution names.

    With published tool names, of several gym servers with a tool of one name the first one gets all calls. Playing the
    call there would score the wrong solution.

    Raises:
        NotScored: Another gym server than the named one would get a call.
    """
    if job.model.model != GOLD:
        return
    getting = {shown: ref.gym for shown, ref in catalogue.refs.items()}
    for number, call in enumerate(job.task.gold_actions or []):
        shown = next((name for name in names_of(call, ()) if name in getting), None)
        if call.gym is not None and shown is not None and getting[shown] != call.gym:
            message = (
                f"gold_actions[{number}] calls {call.name} of gym {call.gym}, but gym {getting[shown]} gets calls of "
                "that name; run the task with toolNames: qualified"
            )
            raise config_error(ConfigReason.UNSUPPORTED, message)


def _require_all_days(session: EpisodeSession, result: AgentResult, job: Job) -> None:
    """Checks that an agent that answered has worked on every day.

    Raises:
        NotScored: The orchestrator ended before the last day; it does not call `Session.end_day`.
    """
    if result.stopped_by == "answer" and session.days_left:
        message = (
            f"orchestrator {job.agent.orchestrator!r} ended on day {len(session.day_answers) + 1} of "
            f"{len(job.task.days) + 1}; it does not support tasks of several days (Session.end_day)"
        )
        raise config_error(ConfigReason.UNSUPPORTED, message)


@asynccontextmanager
async def _databases(job: Job, http: httpx.AsyncClient, context: AttemptContext) -> AsyncIterator[dict[str, GymClient]]:
    """Seeded databases of the task by gym server name, in the row's order; deleted on exit."""
    gyms = {s.mcp_server_name: GymClient(http, job.gyms[s.domain], s) for s in job.task.gym_servers_config}
    to_delete: list[GymClient] = []
    try:
        with context.journal.phase("seed_s"), span("seed"):
            for name, gym in gyms.items():
                to_delete.append(gym)  # before seeding: a server may leave a database behind that it failed to fill
                await gym.seed(job.seeds[name], job.task.access_in(job.access))
        yield gyms
    finally:
        cleanup = asyncio.create_task(_delete(to_delete))
        context.cleanups.add(cleanup)
        cleanup.add_done_callback(context.cleanups.discard)
        await asyncio.shield(cleanup)


async def _delete(gyms: Sequence[GymClient]) -> None:
    for gym in gyms:
        try:
            await gym.delete()
        except NotScored as error:
            log.warning("database not deleted", gym=gym.name, database_id=gym.database_id, reason=error.reason)


async def _connect(gym: GymClient) -> ServerTools:
    await gym.initialize()
    return ServerTools(gym.name, await gym.list_tools(), gym.domain)


def _plannable(servers: Sequence[ServerTools], job: Job) -> Sequence[Mapping[str, Any]]:
    """Tools for a model-written plan: those of oracle mode, since one plan serves the cells of every mode."""
    return build_catalogue(servers, job.task, Mode.ORACLE).tools if job.agent.plan == "model" else ()


async def _differences(gyms: Mapping[str, GymClient]) -> dict[str, StateDifference]:
    """State differences by gym server. They only inform people, so one that fails is left out and costs no score."""
    differences: dict[str, StateDifference] = {}
    for name, gym in gyms.items():
        try:
            difference = await gym.state_difference()
        except NotScored as error:
            log.warning("state difference left out", gym=name, reason=error.reason)
            continue
        if difference is not None:
            differences[name] = difference
    return differences
