"""How a draft becomes a row of the suite.

Invariant: a row is derived from its draft and the seed alone, and the tools that its gold actions call are among those
it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.evalrun import Access
from opsgym_api.task import Task
from opsgym_domains.includes import included
from opsgym_domains.itsm.identity import HEADER
from opsgym_domains.itsm.seeds.world import NOW, World
from opsgym_domains.itsm.suites.checks import GYM
from opsgym_domains.itsm.suites.drafts import Draft
from opsgym_domains.itsm.tables import Organization, User

POLICIES = {Access.PUBLISHED: ("policy.md",), Access.STRICT: ("policy.md", "policy-strict.md")}
"""What an agent must obey, by how strictly it is judged."""


@dataclass(frozen=True)
class Suite:
    """A built-in suite's name, seed, and form."""

    name: str
    seed: str
    world: Callable[[], World]
    """The seed's rows."""
    drafts: Callable[[World], Sequence[Draft]]
    numbered: bool = False
    """Whether ids of tasks count them; otherwise a task keeps its id wherever it stands in the suite."""

    def task_id(self, number: int, draft: Draft) -> str:
        """Id of a task, by its place in the suite, counted from 1."""
        return f"itsm-qs-{number:03d}-{draft.slug}" if self.numbered else f"{self.name}-{draft.slug}"

    def rows(self, drafts: Sequence[Draft]) -> list[dict[str, Any]]:
        """The rows, in order.

        Raises:
            ValidationError: A row would not be a task.
        """
        world = self.world()
        return [self._row(self.task_id(number, draft), draft, world) for number, draft in enumerate(drafts, start=1)]

    def _row(self, name: str, draft: Draft, world: World) -> dict[str, Any]:
        tools = dict.fromkeys([*(action.name for action in draft.gold), *draft.tools])
        fields: dict[str, Any] = {
            "task_id": name,
            "domain": "itsm",
            "system_prompt": "\n\n".join([_preamble(draft, world), *map(included, POLICIES[draft.access])]),
            "user_prompt": draft.prompt,
            "selected_tools": list(tools),
            "restricted_tools": [],
            "gym_servers_config": [_gym(draft.actor, self.seed)],
            "verifiers": [verifier.model_dump(mode="json", exclude_none=True) for verifier in draft.verifiers],
            "number_of_runs": 1,
            "reset_database_between_runs": True,
            "plan": list(draft.plan),
            "gold_actions": [action.model_dump(mode="json") for action in draft.gold],
            "gold_answer": draft.answer,
            "feasible": draft.feasible,
            "horizon": len(draft.gold),
        }
        if draft.access is not Access.PUBLISHED:
            fields["access"] = draft.access.value
        if draft.events:
            fields["events"] = [
                event.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for event in draft.events
            ]
        Task.model_validate(fields)
        return fields


def _preamble(draft: Draft, world: World) -> str:
    actor = draft.actor
    company = world.one(Organization, org_id=actor.org_id).name
    return (
        f"You are the service desk assistant of {company}. The acting user is {_name(actor)} <{actor.email}>.\n"
        f"It is {NOW:%A}, {NOW.day} {NOW:%B %Y}, {NOW:%H:%M}; all times are UTC.\n"
        "The following policy applies to everything you do."
    )


def _gym(actor: User, seed: str) -> Mapping[str, Any]:
    return {
        "mcp_server_name": GYM,
        "mcp_server_url": "http://localhost:8006",
        "seed_database_file": f"builtin:{seed}",
        "context": {HEADER: actor.static_token},
        "user_info": {"user_id": actor.user_id, "name": _name(actor), "email": actor.email},
    }


def _name(user: User) -> str:
    return f"{user.first_name} {user.last_name}"
