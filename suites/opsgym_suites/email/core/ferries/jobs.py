"""What tasks about keys, conversations and services of the ferry company share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import Message, User
from opsgym_suites.email.calls import with_mailbox
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_refuses, answer_says

Calls = tuple[ToolCall, ...]


def job(
    world: World,
    slug: str,
    owner: str,
    prompt: str,
    plan: tuple[str, ...],
    gold: Calls,
    answer: str,
    reports: Sequence[str],
    *,
    event: ScenarioEvent[Any] | None = None,
    says: Mapping[str, Sequence[str]] | None = None,
    **more: Any,
) -> Draft:
    """A task whose answer states all of `reports`, which are patterns."""
    report = answer_says("reports_what_was_done", "The answer says what was done [REF-3]", all_of(reports))
    draft = Draft(
        slug=slug,
        actor=world.person(owner),
        prompt=prompt,
        plan=plan,
        gold=gold,
        answer=answer,
        verifiers=(*more.pop("verifiers", ()), report),
        **more,
    )
    return with_verifiers(world, draft, event, says=says)


def refusal(
    world: World,
    slug: str,
    owner: str,
    prompt: str,
    gold: Calls,
    answer: str,
    why: Sequence[str],
    *,
    evidence: Sequence[Any],
    tried: Calls,
    rule: str | None,
    mistakes: Mapping[str, Calls],
) -> Draft:
    """A task that cannot be done in access `strict`; `tried` is what an agent may try in vain, by which rule."""
    draft = Draft(
        slug=slug,
        actor=world.person(owner),
        prompt=prompt,
        plan=(
            "Look up what the request is about (LKP-1).",
            "See from it that the request cannot be carried out, change nothing and name the reason (REF-1).",
        ),
        gold=gold,
        answer=answer,
        verifiers=answer_refuses(all_of(why)),
        tools=tuple(dict.fromkeys(one.name for calls in (tried, *mistakes.values()) for one in calls)),
        feasible=False,
        access=Access.STRICT,
        mistakes=mistakes,
        negative_trajectories={
            "tries it and says it is done": NegativeTrajectory((*gold, *tried), "It is done.", rule)
        },
        evidence=tuple(evidence),
    )
    return with_verifiers(world, draft)


def attachment(world: World, message: Message, name: str = "") -> ToolCall:
    """Reads a file that is attached to a message: the only one, or that of a name."""
    (file,) = (row for row in world.files(message) if name in ("", row.filename))
    return with_mailbox("get_attachment", world.one(User, id=message.user_id), messageId=message.id, id=file.id)


def key_pair(tool: str, user: User, key: str) -> ToolCall:
    """A call about a key pair of client-side encryption."""
    return with_mailbox(tool, user, keyPairId=key)


def of_thread(tool: str, user: User, messages: Sequence[Message], **more: Any) -> ToolCall:
    """A call about the thread of some messages."""
    return with_mailbox(tool, user, id=messages[0].thread_id, **more)


def threads(user: User, query: str) -> ToolCall:
    """Searches the threads of a mailbox."""
    return with_mailbox("list_threads", user, q=query)
