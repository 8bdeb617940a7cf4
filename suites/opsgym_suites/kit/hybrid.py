"""Verifiers and events of tasks on several gym servers.

Invariant: such a task is one task on each of its gym servers. What it writes, reads and leaves alone is derived for
each server from the calls and rows of that server, with the rules of that server's policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Verifier
from opsgym_domains.includes import of_system
from opsgym_suites.kit.derived_verifiers import Derived, Expected, VerifierBuilder
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import GymServer, Worlds
from opsgym_suites.kit.world import World

_CITED = re.compile(r"\[[^\]]+\]$")


@dataclass(frozen=True)
class HybridVerifiers:
    """Builds verifiers of tasks on several gym servers."""

    builders: Mapping[GymServer, VerifierBuilder | Callable[[Draft], VerifierBuilder]]
    """Builders of the domains, by gym server; functions of the task as the server sees it, where it depends on that."""
    shared: Collection[str] = ()
    """Tools that show what others share. Only `strict` knows shares, so tasks whose solution calls one have it."""

    def with_verifiers(
        self,
        worlds: Worlds,
        draft: Draft,
        events: Mapping[str, ScenarioEvent[Any]] | None = None,
        *,
        advance: timedelta = timedelta(),
        rules: Mapping[str, Mapping[str, str]] | None = None,
        expect: Mapping[str, Expected] | None = None,
        optional: Sequence[ToolCall] = (),
    ) -> Draft:
        """A draft with derived verifiers in addition to its own; see `VerifierBuilder.with_verifiers`.

        Args:
            worlds: The seeds' rows, by gym server.
            draft: The task; `actors` names its gym servers.
            events: What changes rows without the agent, by gym server.
            advance: Time that passes in all of them; `events` of a server pass it themselves.
            rules: Rules by tool, by gym server.
            expect: Conditions on columns by tool, by gym server.
            optional: Further calls that a correct solution may make.

        Raises:
            LookupError: A call or a row of the evidence belongs to none of the task's gym servers.
        """
        if any(call.name in self.shared for call in draft.gold):
            draft = replace(draft, access=Access.STRICT)
        lost = {call.gym for call in [*draft.gold, *optional]} - draft.actors.keys()
        read = [row for gym in draft.actors for row in _evidence(draft, worlds[gym])]
        if lost or len(read) != len(draft.evidence):
            raise LookupError(f"{draft.slug}: calls or evidence of gym servers that it does not have: {lost}")
        seen = {gym: on_one(draft, gym, worlds[gym]) for gym in draft.actors}
        parts = [
            _placed(
                server,
                (builder if isinstance(builder, VerifierBuilder) else builder(seen[server.gym])).derived(
                    worlds[server.gym],
                    seen[server.gym],
                    _event(worlds[server.gym], (events or {}).get(server.gym), advance),
                    rules=(rules or {}).get(server.gym),
                    expect=(expect or {}).get(server.gym),
                    optional=[call for call in optional if call.gym == server.gym],
                ),
            )
            for server, builder in self.builders.items()
            if server.gym in draft.actors
        ]
        return replace(
            draft,
            verifiers=(
                *(verifier for part in parts for verifier in part.rows),
                *draft.verifiers,
                *(verifier for part in parts for verifier in part.looked_up),
                *(part.nothing_else for part in parts),
            ),
        )


def on_one(draft: Draft, gym: str, world: World) -> Draft:
    """A task as one of its gym servers sees it: the acting user there, the calls that it gets, the rows that it has."""
    calls = tuple(call for call in draft.accepted_calls if call.gym == gym)
    return replace(
        draft, actor=draft.actors[gym], gold=calls, refused={}, evidence=tuple(_evidence(draft, world))
    )  # fmt: skip


def _evidence(draft: Draft, world: World) -> Iterator[Any]:
    return (row for row in draft.evidence if getattr(type(row), "metadata", None) is world.metadata)


def _event(world: World, event: ScenarioEvent[Any] | None, advance: timedelta) -> ScenarioEvent[Any] | None:
    return ScenarioEvent(world, advance) if event is None and advance else event


def _placed(server: GymServer, derived: Derived) -> Derived:
    def on(verifier: Verifier) -> Verifier:
        description = _CITED.sub(lambda cited: of_system(server.system, cited[0]), verifier.description)
        name = f"{server.domain}_{verifier.name}"
        return verifier.model_copy(update={"name": name, "description": description, "gym_name": server.gym})

    return Derived([*map(on, derived.rows)], [*map(on, derived.looked_up)], on(derived.nothing_else))


def event_on(gym: str, event: Event, *, when: str | None = None) -> Event:
    """An event whose rows are those of a gym server.

    Args:
        gym: The gym server.
        event: The event.
        when: Gym server of its condition or tool; that of its rows, or any, if None.
    """
    return event.model_copy(update={"gym": gym, "when_gym": when})
