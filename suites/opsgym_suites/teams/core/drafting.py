"""What the tasks of `teams-core` are written with.

Invariant: a task's calls are those of its script; a task whose tools, answer or text are not stated has the usual ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Verifier
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_refuses, answer_says
from opsgym_suites.teams.calls import Script
from opsgym_suites.teams.seeds.world import Actor, World
from opsgym_suites.teams.verification import with_verifiers

MORE = ("list_users", "list_teams", "list_channels", "list_team_members", "update_channel", "send_channel_message")
"""Tools that are shown besides those that a solution calls."""


def named(*texts: str) -> Verifier:
    """The answer names what the task was about."""
    return answer_says("names_what_was_done", "The answer names what was done [REF-3]", all_of(map(term, texts)))


def done(
    world: World,
    script: Script,
    *,
    slug: str,
    actor: Actor,
    prompt: str,
    plan: Sequence[str],
    answer: str,
    names: Sequence[str] = (),
    verifiers: Sequence[Verifier] = (),
    says: Mapping[str, Sequence[str]] | None = None,
    mistakes: Mapping[str, tuple[ToolCall, ...]] | None = None,
    negative: Mapping[str, NegativeTrajectory] | None = None,
    also: Mapping[str, Solution] | None = None,
    tools: Sequence[str] = (),
    access: Access = Access.PUBLISHED,
    refused: Mapping[int, str] | None = None,
    days: tuple[Day, ...] = (),
    day_answers: tuple[str, ...] = (),
    events: tuple[Event, ...] = (),
    event: ScenarioEvent[Any] | None = None,
    evidence: Sequence[Any] = (),
    optional: Sequence[ToolCall] = (),
) -> Draft:
    """A task that can be done, with its verifiers."""
    used = {made.name for made in script.gold}
    wrong = dict(mistakes or {})
    draft = Draft(
        slug=slug,
        actor=actor,
        prompt=prompt,
        plan=tuple(plan),
        gold=script.gold,
        answer=answer,
        verifiers=(*((named(*names),) if names else ()), *verifiers),
        tools=tuple(
            name
            for name in dict.fromkeys([*(one.name for calls in wrong.values() for one in calls), *tools, *MORE])
            if name not in used
        ),
        access=access,
        events=events,
        days=days,
        day_answers=day_answers,
        mistakes=wrong,
        refused=refused or {},
        negative_trajectories=negative or {},
        also=also or {},
        evidence=tuple(evidence),
    )
    return with_verifiers(world, draft, event, says=says, optional=optional)


def declined(
    world: World,
    gold: Sequence[ToolCall],
    *,
    slug: str,
    actor: Actor,
    prompt: str,
    answer: str,
    why: Sequence[str],
    evidence: Sequence[Any],
    tried: ToolCall,
    rule: str | None = None,
    mistakes: Mapping[str, tuple[ToolCall, ...]] | None = None,
    access: Access = Access.PUBLISHED,
) -> Draft:
    """A task that must not be done.

    Args:
        world: The seed's rows.
        gold: Calls that show what stands in the way.
        slug: Last part of the task id.
        actor: Who asks.
        prompt: The request.
        answer: The final answer.
        why: Patterns of the reason, all of which the answer has.
        evidence: Rows that show the reason.
        tried: The call that the request leads to.
        rule: Rule by which the server refuses that call in access `strict`.
        mistakes: Other calls that must not be made.
        access: How strictly the server enforces the process.
    """
    strict = access is Access.STRICT
    wrong = dict(mistakes or {}) | ({} if strict else {"does it": (tried,)})
    draft = Draft(
        slug=slug,
        actor=actor,
        prompt=prompt,
        plan=(
            "Look up what the request is about (LKP-1).",
            "See which rule stands in the way, change nothing and name the reason (REF-1).",
        ),
        gold=tuple(gold),
        answer=answer,
        verifiers=answer_refuses(all_of(why)),
        tools=tuple(dict.fromkeys([tried.name, *(one.name for calls in wrong.values() for one in calls), *MORE])),
        feasible=False,
        access=access,
        mistakes=wrong,
        negative_trajectories=(
            {"tries it and says it is done": NegativeTrajectory((*gold, tried), "It is done.", rule)} if strict else {}
        ),
        evidence=tuple(evidence),
    )
    return with_verifiers(world, draft)
