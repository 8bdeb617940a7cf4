"""Plans shown to agents: the task's human-written plan, or one that a planner model writes once for each task.

Invariant: all agents of a run with model-written plans see the same plan of a task, in the form of a human-written one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_api.records.run import PlanRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.version import unreadable_because
from opsgym_api.tasks.digest import digest_of
from opsgym_core.store.base import Store
from opsgym_runner.context import AttemptContext
from opsgym_runner.errors import AgentFailed, config_error, infra_error
from opsgym_runner.job import PLANNER, Job
from opsgym_runner.models.client import ModelClient
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.prompting import Prompts, list_tools, load_prompts, numbered
from opsgym_runner.support_models import ask_support_model

WRITE_PLAN = "plan"
"""Name of the prompt that asks a planner for a plan."""
SHOW_PLAN = "with_plan"
"""Name of the prompt that shows the request with its plan."""
_PROMPTS = load_prompts("opsgym_runner", WRITE_PLAN, SHOW_PLAN)


def plan_prompts(*names: str) -> dict[str, str]:
    """Default texts of the named plan prompts, by name."""
    return {name: _PROMPTS[name] for name in names}


def prompts_of_source(agent: Agent) -> dict[str, str]:
    """Default texts, by name, of the prompts that an agent's plan source uses."""
    names = {"none": (), "human": (SHOW_PLAN,), "model": (WRITE_PLAN, SHOW_PLAN)}
    return plan_prompts(*names[agent.plan])


def require_plan(job: Job) -> None:
    """Checks that the task has a plan if the agent needs a human-written one.

    Raises:
        NotScored: The task has no plan.
    """
    if job.agent.plan == "human" and not job.task.plan:
        advice = "give the row one, or leave the task out of runs with plan: human"
        message = f"agent {job.agent.name} has plan: human, and task {job.task.task_id} has no plan; {advice}"
        raise config_error(ConfigReason.NO_PLAN, message)


def request_with_plan(request: str, plan: str, prompts: Prompts) -> str:
    """The request as the agent sees it: followed by the plan, unless the plan is empty."""
    return prompts.render(SHOW_PLAN, request=request, plan=plan) if plan else request


def plan_request(policy: str, request: str, tools: Sequence[Mapping[str, Any]], prompts: Prompts) -> str:
    """The message that asks a planner for a plan.

    Args:
        policy: The task's system prompt.
        request: The task's user prompt.
        tools: Tools that the plan may use, in OpenAI's format.
        prompts: The agent's prompts.
    """
    return prompts.render(WRITE_PLAN, policy=policy, request=request, tools=list_tools(tools))


class PlanStore:
    """Plans of runs, stored once for each planner and task.

    Args:
        store: Store of the runs.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._locks: dict[str, asyncio.Lock] = {}
        """Lock of each plan that attempts of this process have requested, by store key."""

    async def plan_for(
        self,
        job: Job,
        planner: ModelClient,
        tools: Sequence[Mapping[str, Any]],
        prompts: Prompts,
        context: AttemptContext,
    ) -> str:
        """The plan shown to an attempt's agent; empty if it gets none.

        Args:
            job: The attempt.
            planner: Writes the plan if the store has none.
            tools: Tools that the plan may use; the same for every cell of the run.
            prompts: The agent's prompts.
            context: Records the planner's reply and cost.

        Raises:
            NotScored: The planner wrote no plan, or the stored plan cannot be read.
            StoreError: The store cannot be read or written.
        """
        if job.agent.plan != "model":
            return numbered(job.task.plan or []) if job.agent.plan == "human" else ""
        key = _key(job, prompts)
        # Attempts of one process wait for each other; between processes `put_once` decides.
        async with self._locks.setdefault(key, asyncio.Lock()):
            plan = await self._stored(key)
            if plan is None:
                written = await _write(job, planner, tools, prompts, context)
                content = written.model_dump_json().encode()
                stored = await asyncio.to_thread(self._store.put_once, key, content)
                plan = written if stored else await self._stored(key)
        if plan is None:
            raise infra_error(InfraReason.STORE_LOST, f"{self._store.name}: {key} exists and cannot be read")
        return plan.text

    async def _stored(self, key: str) -> PlanRecord | None:
        content = await asyncio.to_thread(self._store.get, key)
        if content is None:
            return None
        try:
            return PlanRecord.model_validate_json(content)
        except ValidationError as error:
            problem = unreadable_because(error, "PlanRecord")
            message = f"{self._store.name}: {key} {problem}; delete it to have it written again"
            raise infra_error(InfraReason.STORE_LOST, message) from None


async def _write(
    job: Job, planner: ModelClient, tools: Sequence[Mapping[str, Any]], prompts: Prompts, context: AttemptContext
) -> PlanRecord:
    task, name = job.task, job.agent.planner or ""
    content = plan_request(task.system_prompt, task.user_prompt, tools, prompts)
    try:
        with context.journal.phase("model_s"):
            reply = await ask_support_model(planner, [{"role": "user", "content": content}], context, PLANNER)
    except ModelFailure as failure:
        raise failure.final() from None
    except AgentFailed as failure:
        message = f"planner {name} cannot write a plan: {failure}"
        raise infra_error(InfraReason.PLAN_FAILED, message) from None
    if not reply.text.strip():
        raise infra_error(InfraReason.PLAN_FAILED, f"planner {name} wrote an empty plan")
    return PlanRecord(
        planner=name, task_id=task.task_id, text=reply.text.strip(), usage=reply.usage, cost_usd=reply.cost_usd
    )


def _key(job: Job, prompts: Prompts) -> str:
    """Store key of a plan. A replaced prompt has plans of its own."""
    planner = job.agent.planner or ""
    if WRITE_PLAN in prompts.replaced:
        planner += f".{digest_of(prompts.text(WRITE_PLAN))[:12]}"
    return RunKeys(job.run).plan(planner, job.task.task_id)
