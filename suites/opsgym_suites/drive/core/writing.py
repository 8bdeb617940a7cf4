"""What tasks of Drive are written with: a draft from its calls and what the answer must say.

Invariant: a task that changes something is judged by the rows and by an answer that names what it was about; one that
must be declined by what was read, and by the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.drive.seeds.world import Person, World
from opsgym_suites.drive.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution
from opsgym_suites.kit.scenarios import ScenarioEvent, answer_admits
from opsgym_suites.kit.verifiers import answer_refuses, answer_says

HOLD = r"\blegal\W?hold|\bheld\b|\bhold\b"
"""What answers say of a legal hold."""
RETENTION = r"\bret(?:ention|ained)|\bkept\b|\bkeep\b"
"""What answers say of a retention."""
SECRET = r"\bconfidential|\brestricted"  # noqa: S105 - a pattern
"""What answers say of a sensitivity."""
GONE = r"\b(?:gone|left|deleted|no longer|former|does not exist)\b"
"""What answers say of an account that does not exist any more."""
MORE = (
    "update_files",
    "delete_files",
    "create_permission",
    "delete_permission",
    "modify_files_labels",
    "list_permission",
    "list_files_labels",
)
"""Tools that a task shows although its solution may not need them."""


def done(
    world: World,
    slug: str,
    actor: str,
    prompt: str,
    plan: tuple[str, ...],
    gold: Sequence[ToolCall],
    answer: str,
    says: Sequence[str],
    *,
    mistakes: Mapping[str, tuple[ToolCall, ...]],
    undone: Sequence[str] = (),
    also: Mapping[str, Sequence[ToolCall]] | None = None,
    optional: Sequence[ToolCall] = (),
    evidence: Sequence[Any] = (),
    event: ScenarioEvent[Any] | None = None,
    expect: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Draft:
    """A task that can be done, at least in part.

    Args:
        world: The seed's rows.
        slug: Last part of the task's id.
        actor: Address of who asks.
        prompt: The request.
        plan: Steps of an expert.
        gold: Calls of the reference solution.
        answer: Its answer.
        says: Patterns that the answer must match, all of them.
        mistakes: Calls that must not be made in addition.
        undone: Patterns of the reason why a part was left out; empty if nothing was.
        also: Other correct solutions.
        optional: Calls that a correct solution may make in addition.
        evidence: Rows that decide and must have been read.
        event: What changes rows without the agent.
        expect: Conditions on columns, by tool.
        fields: Further fields of the draft.
    """
    named = answer_says("names_the_outcome", "The answer says what was done [REF-3]", all_of(says))
    admitted = answer_admits(all_of(undone)) if undone else ()
    draft = Draft(
        slug=slug,
        actor=person(world, actor),
        prompt=prompt,
        plan=plan,
        gold=tuple(gold),
        answer=answer,
        verifiers=(named, *admitted, *fields.pop("verifiers", ())),
        tools=tuple(dict.fromkeys([*fields.pop("tools", ()), *MORE])),
        mistakes=mistakes,
        also={label: Solution(tuple(calls)) for label, calls in (also or {}).items()},
        evidence=tuple(evidence),
        **fields,
    )
    return with_verifiers(world, draft, event, expect=expect, optional=optional)


def declined(
    world: World,
    slug: str,
    actor: str,
    prompt: str,
    gold: Sequence[ToolCall],
    answer: str,
    why: Sequence[str],
    *,
    evidence: Sequence[Any],
    mistakes: Mapping[str, tuple[ToolCall, ...]],
    event: ScenarioEvent[Any] | None = None,
    **fields: Any,
) -> Draft:
    """A task that must not be done; arguments as for `done`."""
    plan = (
        "Look up what the request is about, with its labels, roles and history (LKP-1).",
        "See from it that the request must not be carried out, change nothing and name the reason (REF-1).",
    )
    draft = Draft(
        slug=slug,
        actor=person(world, actor),
        prompt=prompt,
        plan=plan,
        gold=tuple(gold),
        answer=answer,
        verifiers=answer_refuses(all_of(why)),
        tools=tuple(dict.fromkeys([*(one.name for calls in mistakes.values() for one in calls), *MORE])),
        feasible=False,
        mistakes=mistakes,
        evidence=tuple(evidence),
        **fields,
    )
    return with_verifiers(world, draft, event)


def person(world: World, address: str) -> Person:
    """Who asks, by address."""
    return world.person(address)
