"""Decompose, then act: a planner splits the request into sub-goals, each is worked on in a conversation of its own, and
the answer is composed of their reports.

Invariant: a sub-goal's conversation contains the whole request and the reports of earlier sub-goals, and nothing else
of their conversations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_runner.job import PLANNER
from opsgym_runner.json_text import values_in
from opsgym_runner.models.client import Message
from opsgym_runner.orchestrators.base import AgentResult, Session, initial_messages
from opsgym_runner.orchestrators.react import act
from opsgym_runner.prompting import list_tools, load_prompts, numbered

MAX_REPLIES = 2
"""Replies of the planner until one contains sub-goals; after that the whole request is the only sub-goal."""
_NO_REPORTS = "Nothing has been done yet."
_LIST_KEYS = ("sub_goals", "subgoals", "subtasks")
"""Keys of the list in planners' replies; the prompt asks for the first."""
_GOAL_KEYS = ("goal", "description", "title")
"""Keys of a sub-goal's text where planners reply with objects."""


class Decomposing:
    """Works on sub-goals one after the other; they share the agent's steps."""

    prompts = load_prompts("opsgym_runner.orchestrators", "sub_goals", "sub_goals_again", "sub_goal", "answer")

    async def __call__(self, session: Session) -> AgentResult:
        """Works on each day of the task: splits the request, works on each sub-goal, composes the answer."""
        while True:
            answer = await self._answer(session)
            if await session.end_day(answer) is None:
                return AgentResult(answer)

    async def _answer(self, session: Session) -> str:
        goals = await split(session)
        reports: list[str] = []
        for number, goal in enumerate(goals, start=1):
            request = session.prompt(
                "sub_goal",
                request=session.user_prompt,
                sub_goals=numbered(goals),
                number=str(number),
                sub_goal=goal,
                reports=_rendered_reports(goals, reports),
            )
            reports.append(await act(session, initial_messages(session, request), by=f"sub-goal {number}"))
        request = session.prompt("answer", request=session.user_prompt, reports=_rendered_reports(goals, reports))
        answer = await session.ask(initial_messages(session, request), tools=())
        return answer.text


async def split(session: Session) -> Sequence[str]:
    """Sub-goals of the session's request, in order; the request itself if the planner names none."""
    prompt = session.prompt(
        "sub_goals", policy=session.system_prompt, request=session.user_prompt, tools=list_tools(session.tools)
    )
    messages: list[Message] = [{"role": "user", "content": prompt}]
    for _ in range(MAX_REPLIES):
        reply = await session.ask(messages, tools=(), by=PLANNER)
        goals = sub_goals_in(reply.text)
        if goals:
            return goals
        messages += [reply.message, {"role": "user", "content": session.prompt("sub_goals_again")}]
    return [session.user_prompt]


def sub_goals_in(text: str) -> list[str]:
    """Sub-goals in a planner's reply: of its last JSON object with sub-goals, otherwise of its last such list."""
    values = sorted(values_in(text), key=lambda value: isinstance(value, Mapping))
    lists = [goals for value in values if (goals := _goals(value))]
    return lists[-1] if lists else []


def _goals(value: Any) -> list[str]:
    items = next((value[key] for key in _LIST_KEYS if key in value), None) if isinstance(value, Mapping) else value
    if not isinstance(items, list):
        return []
    goals = [_goal(item).strip() for item in items]
    return goals if all(goals) else []


def _goal(item: Any) -> str:
    """Text of a sub-goal; empty if the item has none."""
    if isinstance(item, Mapping):
        item = ": ".join(str(item[key]) for key in reversed(_GOAL_KEYS) if item.get(key))
    return item if isinstance(item, str) else ""


def _rendered_reports(goals: Sequence[str], reports: Sequence[str]) -> str:
    """The finished sub-goals with their reports, as prompts show them."""
    entries = [
        f"Sub-goal {number}: {goal}\n{report.strip() or '(no report)'}"
        for number, (goal, report) in enumerate(zip(goals, reports, strict=False), start=1)
    ]
    return "\n\n".join(entries) or _NO_REPORTS
