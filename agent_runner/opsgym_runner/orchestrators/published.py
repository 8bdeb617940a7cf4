"""`planner_react` and `decomposing` as the published harness has them, with prompts of our own wording.

Invariant: an agent of a subtask sees the policy, its own subtask and the working memory, never the request, the other
subtasks or their conversations.

Source of the algorithms: orchestrators/planner_react.py and decomposing_planner.py of ServiceNow/EnterpriseOps-Gym.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from opsgym_api.records.outcomes import FailReason
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import PLANNER
from opsgym_runner.models.client import Message
from opsgym_runner.orchestrators.base import AgentResult, Session, initial_messages
from opsgym_runner.orchestrators.react import act_on_days
from opsgym_runner.prompting import load_prompts

MAX_PLANS = 3
"""Replies of the planner of `decomposing` until one is a valid plan."""
_ROOM = "opsgym_runner.orchestrators"
_EMPTY_MEMORY = "The working memory is empty: nothing has been discovered yet."
_FENCES = ("```json", "```")


class PublishedPlannerReact:
    """Has the planner write a strategy from policy, request and the whole tools, then follows it in a ReAct loop."""

    prompts = load_prompts(_ROOM, "strategy", "with_strategy")

    async def __call__(self, session: Session) -> AgentResult:
        """Plans once, then acts until the model answers without a tool call."""
        tools = json.dumps(list(session.tool_definitions), indent=2)
        prompt = session.prompt("strategy", policy=session.system_prompt, request=session.user_prompt, tools=tools)
        plan = await session.ask([{"role": "user", "content": prompt}], tools=(), by=PLANNER)
        request = session.prompt("with_strategy", request=session.user_prompt, plan=plan.text)
        return AgentResult(await act_on_days(session, initial_messages(session, request)))


class Subtask(BaseModel):
    """A subtask of a plan."""

    model_config = ConfigDict(frozen=True)

    id: int
    title: str
    description: str
    rationale: str = ""
    dependencies: list[int] = []
    expected_outcome: str = ""


class _Plan(BaseModel):
    strategic_plan: Any
    subtasks: list[Subtask]


@dataclass
class _Done:
    """What came of a subtask."""

    subtask: Subtask
    messages: list[Message]
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Tool and result of each call."""
    summary: str = ""
    error: str = ""
    """Why the subtask failed; empty if it did not."""


class PublishedDecomposing:
    """Works on the subtasks of a plan one after the other. Each has a conversation of its own and passes on what a
    model call extracts from it.
    """

    prompts = load_prompts(_ROOM, "subtasks", "subtask", "memory")

    async def __call__(self, session: Session) -> AgentResult:
        """Works on each day of the task; a subtask that fails does not stop the others."""
        while True:
            answer = await self._answer(session)
            if await session.end_day(answer) is None:
                return AgentResult(answer)

    async def _answer(self, session: Session) -> str:
        try:
            subtasks = await _plan(session)
        except (AgentFailed, ValueError) as problem:
            return f"No plan could be made: {problem}"
        memory: dict[str, Any] = {}
        done: list[_Done] = []
        for subtask in subtasks:
            done.append(await _work(session, subtask, memory))
            if not done[-1].error:
                memory.update(await _extracted(session, done[-1]))
        return _summary(done)


async def _plan(session: Session) -> Sequence[Subtask]:
    """The subtasks of the first valid plan.

    Raises:
        ValueError: No reply of the planner is a valid plan.
        AgentFailed: The planner cannot answer.
    """
    functions = [tool["function"] for tool in session.tools]
    tools = "\n".join(f"- {function['name']}: {function['description']}" for function in functions)
    prompt = session.prompt("subtasks", policy=session.system_prompt, request=session.user_prompt, tools=tools)
    problem = ""
    for _ in range(MAX_PLANS):
        reply = await session.ask([{"role": "user", "content": prompt}], tools=(), by=PLANNER)
        try:
            return subtasks_in(reply.text)
        except ValueError as error:
            problem = str(error)
    raise ValueError(f"{MAX_PLANS} replies of the planner are not valid plans: {problem}")


def subtasks_in(text: str) -> Sequence[Subtask]:
    """The subtasks of a plan.

    Raises:
        ValueError: The text is not a plan, or a subtask depends on one that is unknown or not before it.
    """
    try:
        subtasks = _Plan.model_validate(_json_in(text)).subtasks
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'the reply'}: {first['msg']}") from None
    if not subtasks:
        raise ValueError("the plan has no subtasks")
    known = {subtask.id for subtask in subtasks}
    for subtask in subtasks:
        for dependency in subtask.dependencies:
            if dependency not in known or dependency >= subtask.id:
                raise ValueError(f"subtask {subtask.id} cannot depend on {dependency}")
    return subtasks


def _json_in(text: str) -> Any:
    """JSON in a reply: in the first fence, otherwise from the first brace to the last.

    Raises:
        ValueError: None is there, or it is not valid.
    """
    text = text.strip()
    for fence in _FENCES:
        _, opened, rest = text.partition(fence)
        content, closed, _ = rest.partition("```")
        if opened and closed:
            return json.loads(content.strip())
    return json.loads(text[max(text.find("{"), 0) : text.rfind("}") + 1])


async def _work(session: Session, subtask: Subtask, memory: Mapping[str, Any]) -> _Done:
    """Runs the ReAct loop of a subtask until its model answers without a call, or has no step left."""
    by = f"subtask {subtask.id}"
    request = session.prompt(
        "subtask",
        title=subtask.title,
        description=subtask.description,
        rationale=subtask.rationale,
        outcome=subtask.expected_outcome,
        memory=_shown_memory(memory),
    )
    done = _Done(subtask, initial_messages(session, request))
    try:
        while await _step(session, done, by):
            pass
    except AgentFailed as failure:
        if failure.reason not in (FailReason.STEP_LIMIT, FailReason.CONTENT_FILTER):
            done.error = str(failure)
            done.summary = f"The subtask failed: {failure}"
            return done
    done.summary = done.summary or f"Executed {len(done.calls)} tool calls"
    return done


async def _step(session: Session, done: _Done, by: str) -> bool:
    """One model call and the tool calls that it requests; whether there were any."""
    reply = await session.ask(done.messages, by=by)
    done.messages.append(reply.message)
    done.summary = reply.text
    for request in reply.requests:
        result = await session.call(request, by=by)
        done.messages.append({"role": "tool", "tool_call_id": request.id, "content": result})
        done.calls.append((request.name, result))
        done.summary = result
    return bool(reply.requests)


async def _extracted(session: Session, done: _Done) -> dict[str, Any]:
    """What the subtask adds to the working memory; nothing if the reply is not a JSON object."""
    subtask = done.subtask
    prompt = session.prompt(
        "memory",
        title=subtask.title,
        description=subtask.description,
        outcome=subtask.expected_outcome,
        actions="\n".join(map(_shown_call, done.calls)) or "No tool was called.",
    )
    messages = [*done.messages, {"role": "user", "content": prompt}]
    try:
        reply = await session.ask(messages, tools=(), by=f"memory {subtask.id}")
        extracted = _json_in(reply.text)
    except (AgentFailed, ValueError):
        return {}
    return extracted if isinstance(extracted, dict) else {}


def _shown_memory(memory: Mapping[str, Any]) -> str:
    if not memory:
        return _EMPTY_MEMORY
    return f"# Working memory\n\nDiscovered by earlier subtasks:\n\n```json\n{json.dumps(memory, indent=2)}\n```"


def _shown_call(call: tuple[str, str]) -> str:
    tool, result = call
    content = json.loads(result)
    shown = json.dumps(content, indent=2) if content else "none"
    return f"- Called {tool}: {'failed' if content == {} else 'succeeded'}\n  Result: {shown}"


def _summary(done: Sequence[_Done]) -> str:
    """The answer: every subtask with its summary, and the last summary again."""
    parts = ["# Results of the subtasks"]
    for one in done:
        parts.append(f"## {'✗' if one.error else '✓'} Subtask {one.subtask.id}: {one.subtask.title}\n\n{one.summary}")
        parts += [f"**Error**: {one.error}"] if one.error else []
    return "\n\n".join([*parts, f"## Final result\n\n{done[-1].summary}"])
