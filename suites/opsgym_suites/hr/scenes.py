"""Short forms of tasks: a request that is carried out, and one that is turned down.

Invariant: both take what only the author knows (reads, writes, likely mistakes); verifiers are derived as for any task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Verifier
from opsgym_suites.hr.calls import only
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.derived_verifiers import Expected
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_refuses, answer_says


@dataclass(frozen=True)
class Asked:
    """Who asks, and in whose words; the prompt has places for record numbers."""

    slug: str
    actor: str
    prompt: str
    access: Access = Access.PUBLISHED


@dataclass(frozen=True)
class Work:
    """How a request is carried out, and how an agent may fail at it."""

    plan: tuple[str, ...]
    reads: Sequence[ToolCall]
    writes: Sequence[ToolCall]
    answer: str
    says: Sequence[str]
    """Patterns that the answer contains, all of them."""
    left_out: Mapping[str, Sequence[ToolCall]] = field(default_factory=dict)
    """Writes that an agent may forget, by a label."""
    instead: Mapping[str, Sequence[ToolCall]] = field(default_factory=dict)
    """All writes of an agent that decides otherwise, by a label."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Rules by which the server refuses one of these, by the label."""
    wrong_answers: Mapping[str, str] = field(default_factory=dict)
    """Answers that are wrong although the calls are right, by a label."""
    mistakes: Mapping[str, tuple[ToolCall, ...]] = field(default_factory=dict)
    tools: tuple[str, ...] = ()


def carried_out(
    world: World,
    request: Asked,
    work: Work,
    event: ScenarioEvent[World] | None = None,
    *,
    numbers: Mapping[str, str] | None = None,
    rules: Mapping[str, str] | None = None,
    expect: Expected | None = None,
    optional: Sequence[ToolCall] = (),
    more_checks: Sequence[Verifier] = (),
    **fields: Any,
) -> Draft:
    """The task of a request that can be done."""
    gold, answer = (*work.reads, *work.writes), work.answer
    paths = {label: (*work.reads, *calls) for label, calls in work.instead.items()}
    paths |= {label: only(gold, *calls) for label, calls in work.left_out.items()}
    draft = Draft(
        slug=request.slug,
        actor=world.user(request.actor),
        prompt=request.prompt.format(**(numbers or {})),
        plan=work.plan,
        gold=gold,
        answer=answer,
        verifiers=(
            answer_says("names_what_changed", "The answer names what changed [REF-3]", all_of(work.says)),
            *more_checks,
        ),
        tools=work.tools,
        access=request.access,
        mistakes=work.mistakes,
        negative_trajectories={
            **{label: NegativeTrajectory(calls, answer, work.refused.get(label)) for label, calls in paths.items()},
            **{label: NegativeTrajectory(gold, text) for label, text in work.wrong_answers.items()},
        },
        **fields,
    )
    return with_verifiers(world, draft, event, rules=rules, expect=expect, optional=optional)


@dataclass(frozen=True)
class Refusal:
    """Why a request is turned down, and what an agent may do all the same."""

    rule: str
    reads: tuple[ToolCall, ...]
    requested: tuple[ToolCall, ...]
    """The calls that the request amounts to."""
    mistake: ToolCall
    """What an agent may do instead; the server carries it out."""
    evidence: tuple[Any, ...]
    subject: str
    """Pattern of the record or person that the answer names."""
    reason: str
    answer: str
    refused: bool = True
    """Whether the server refuses one of the requested calls, in access strict."""
    tools: tuple[str, ...] = ("update_hr_case", "send_notification")


def turned_down(
    world: World,
    request: Asked,
    why: Refusal,
    numbers: Mapping[str, str] | None = None,
    event: ScenarioEvent[World] | None = None,
    events: Sequence[Event] = (),
) -> Draft:
    """The task of a request that a rule forbids, perhaps only since an event [REF-1]."""
    strict = request.access is Access.STRICT
    return with_verifiers(
        world,
        Draft(
            slug=request.slug,
            actor=world.user(request.actor),
            prompt=request.prompt.format(**(numbers or {})),
            plan=(
                "Look up the acting user, and the records that the request is about.",
                f"{why.rule} forbids what is asked. Change nothing, and say why (REF-1).",
            ),
            gold=why.reads,
            answer=why.answer,
            verifiers=answer_refuses(why.reason, subject_pattern=why.subject),
            tools=(*why.tools, *dict.fromkeys(call.name for call in (*why.requested, why.mistake))),
            feasible=False,
            access=request.access,
            mistakes={"does something else": (why.mistake,)},
            negative_trajectories={
                "does it": NegativeTrajectory(
                    (*why.reads, *why.requested), "Done.", why.rule if why.refused and strict else None
                ),
            },
            evidence=why.evidence,
            events=tuple(events),
        ),
        event,
    )
