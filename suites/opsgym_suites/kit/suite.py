"""Suites, and the rows that their drafts become.

Invariant: a row is derived from its draft and its seed alone, and its selected tools include every tool that its gold
actions call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_api.tasks.verifiers import Verifier
from opsgym_domains import registry
from opsgym_domains.includes import included
from opsgym_domains.kit.domain import Domain
from opsgym_suites.kit.behaviour import behaviour_verifiers, own_verifiers
from opsgym_suites.kit.drafts import Draft, Person, full_name
from opsgym_suites.kit.wordings import completed
from opsgym_suites.kit.world import World

POLICIES = {Access.PUBLISHED: ("policy.md",), Access.STRICT: ("policy.md", "policy-strict.md")}
"""Files of the policy in the system prompt, by how strictly the server enforces it."""


OF_GYM = {"database_state", "state_difference"}
"""Types of verifiers that judge the database of one gym."""
HYBRID = "hybrid"
"""Domain of tasks on several gym servers."""
Worlds = Mapping[str, World]
"""The seeds of one company, by gym server; all stand at the same time."""


@dataclass(frozen=True)
class GymServer:
    """The gym server that a domain's tasks name."""

    domain: str
    gym: str
    """Name of the gym server."""
    url: str
    identity: Callable[[Person], Mapping[str, str]]
    """Headers that name the acting user."""
    introduction: Callable[[Person, World], str]
    """First sentence of the system prompt, which says whose assistant the agent is."""
    times: str = "all times are UTC"
    """What the system prompt says of the times of records."""

    @property
    def system(self) -> str:
        """What the numbers of its rules begin with in tasks on several gym servers."""
        return self.domain.upper()


@dataclass(frozen=True)
class SeedTasks:
    """The tasks of a suite that start from one seed."""

    seed: str
    world: Callable[[], Any]
    """The seed's rows, `Worlds` of tasks on several gym servers; made once."""
    write: Callable[[Any], Sequence[Draft]]
    """Writes the tasks for the seed's rows."""


@dataclass(frozen=True)
class Suite:
    """A built-in suite: its name, and its tasks by seed."""

    server: GymServer
    name: str
    parts: tuple[SeedTasks, ...]
    """The suite's tasks are those of each part in turn; each seed occurs once."""
    numbered: str = ""
    """Prefix of task ids that contain the task's position; if empty, ids do not depend on the position."""
    wordings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further wordings of prompts by slug, which variants of the suite use in turn; see `kit.wordings`."""

    others: tuple[GymServer, ...] = ()
    """Further gym servers, of a suite whose tasks are on several; their seeds have the name of the part's seed."""

    @property
    def domain(self) -> str:
        """Domain of its tasks, and name of the package that ships them."""
        return HYBRID if self.others else self.server.domain

    @property
    def servers(self) -> Mapping[str, GymServer]:
        """Its gym servers by name."""
        return {server.gym: server for server in (self.server, *self.others)}

    def _placed(self, draft: Draft) -> Sequence[tuple[GymServer, Person]]:
        """A task's gym servers with their acting users."""
        return [(self.servers[gym], actor) for gym, actor in draft.actors.items()] or [(self.server, draft.actor)]

    def _domains(self, draft: Draft) -> Mapping[str, Domain]:
        """Domains of a task's gym servers, by server."""
        return {server.gym: registry.load(server.domain) for server, _actor in self._placed(draft)}

    def worlds(self, part: SeedTasks) -> Worlds:
        """The rows of a part's seed, by gym server."""
        world = part.world()
        return {self.server.gym: world} if isinstance(world, World) else world

    def task_id(self, number: int, draft: Draft) -> str:
        """Id of a task by its position in the suite, counted from 1."""
        return f"{self.numbered}-{number:03d}-{draft.slug}" if self.numbered else f"{self.name}-{draft.slug}"

    @cached_property
    def written(self) -> Sequence[tuple[SeedTasks, Draft]]:
        """The tasks as their authors write them, in order, each with the part that it belongs to."""
        return [(part, draft) for part in self.parts for draft in part.write(part.world())]

    @property
    def drafts(self) -> Sequence[Draft]:
        """The tasks as their authors write them, in order."""
        return [draft for _part, draft in self.written]

    @cached_property
    def rows(self) -> Sequence[dict[str, Any]]:
        """The rows, in order.

        Raises:
            ValidationError: A row is not a valid task.
            LookupError: There are wordings for a task that the suite does not have.
        """
        if unknown := self.wordings.keys() - {draft.slug for draft in self.drafts}:
            raise LookupError(f"{self.name}: wordings for tasks that do not exist: {', '.join(sorted(unknown))}")
        return [
            self._row(self.task_id(number, draft), draft, part)
            for number, (part, draft) in enumerate(self.written, start=1)
        ]

    def _row(self, name: str, draft: Draft, part: SeedTasks) -> dict[str, Any]:
        tools = dict.fromkeys([*(action.name for action in draft.gold), *draft.tools])
        fields: dict[str, Any] = {
            "task_id": name,
            "domain": self.domain,
            "system_prompt": self.system_prompt(draft, part),
            "user_prompt": draft.prompt,
            "selected_tools": list(tools),
            "restricted_tools": [],
            "gym_servers_config": [self._gym(server, actor, part.seed) for server, actor in self._placed(draft)],
            "verifiers": [
                self._verifier(verifier)
                for verifier in (*own_verifiers(draft), *behaviour_verifiers(draft, self._domains(draft)))
            ],
            "number_of_runs": 1,
            "reset_database_between_runs": True,
            "plan": list(draft.plan),
            "gold_actions": [_played(action) for action in draft.gold],
            "gold_answer": draft.answer,
            "feasible": draft.feasible,
            "horizon": len(draft.gold),
        }
        if draft.tags:
            fields["tags"] = list(draft.tags)
        if draft.access is not Access.PUBLISHED:
            fields["access"] = draft.access.value
        more = [*draft.wordings, *(completed(one, draft.prompt) for one in self.wordings.get(draft.slug, ()))]
        if more:
            fields["user_prompts"] = more
        if draft.events:
            fields["events"] = [
                event.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for event in draft.events
            ]
        if draft.days:
            fields["days"] = [day.model_dump(mode="json") for day in draft.days]
            fields["gold_answers"] = [*draft.day_answers, draft.answer]
        Task.model_validate(fields)
        return fields

    def system_prompt(self, draft: Draft, part: SeedTasks) -> str:
        """The instructions of the agent, with marks in place of the policies."""
        return "\n\n".join([self._preamble(draft, self.worlds(part)), *self._policies(draft)])

    def _preamble(self, draft: Draft, worlds: Worlds) -> str:
        if self.others:
            return self._preamble_of_several(draft, worlds)
        actor, world = draft.actor, worlds[self.server.gym]
        return (
            f"{self.server.introduction(actor, world)} The acting user is {full_name(actor)} <{actor.email}>.\n"
            f"It is {_spoken(world.now)}; {self.server.times}.\n"
            "The following policy applies to everything you do."
        )

    def _preamble_of_several(self, draft: Draft, worlds: Worlds) -> str:
        systems = (
            f"- {server.system}: {server.introduction(actor, worlds[server.gym])} The acting user is "
            f"{full_name(actor)} <{actor.email}>; {server.times}."
            for server, actor in self._placed(draft)
        )
        return "\n".join(
            [
                f"It is {_spoken(worlds[self.server.gym].now)}. You work with several systems for one user:",
                *systems,
                "The following policies apply to everything you do: general rules first, then those of each system.",
            ]
        )

    def _policies(self, draft: Draft) -> Iterator[str]:
        """Marks of the policies; of several systems after the general rules, each with its numbers prefixed."""
        if not self.others:
            yield from map(included, POLICIES[draft.access])
            return
        yield included(POLICIES[Access.PUBLISHED][0])
        for server, _actor in self._placed(draft):
            package = f"opsgym_domains.{server.domain}"
            yield from (included(file, package, server.system) for file in POLICIES[draft.access])

    def _gym(self, server: GymServer, actor: Person, seed: str) -> Mapping[str, Any]:
        return {
            "mcp_server_name": server.gym,
            "mcp_server_url": server.url,
            "seed_database_file": f"builtin:{seed}",
            "context": dict(server.identity(actor)),
            "user_info": {"user_id": actor.user_id, "name": full_name(actor), "email": actor.email},
        }

    def _verifier(self, verifier: Verifier) -> Mapping[str, Any]:
        own = self.server.gym if verifier.verifier_type in OF_GYM else None
        placed = verifier.model_copy(update={"gym_name": verifier.gym_name or own})
        return placed.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def _spoken(time: datetime) -> str:
    return f"{time:%A}, {time.day} {time:%B %Y}, {time:%H:%M}"


def _played(action: ToolCall) -> dict[str, Any]:
    """A gold action; tasks of one day name no day, those of one gym server no server."""
    return action.model_dump(mode="json", exclude={name for name in ("day", "gym") if getattr(action, name) is None})
