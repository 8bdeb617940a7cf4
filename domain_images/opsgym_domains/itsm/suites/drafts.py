"""What a task of ours is made of, and the words to write one down.

Invariant: no task writes an id by hand. Whoever and whatever it is about is found in the seed's world by name, so a
task and its seed cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.evalrun import Access
from opsgym_api.event import Event
from opsgym_api.task import ToolCall, Verifier
from opsgym_domains.itsm.seeds.world import World
from opsgym_domains.itsm.tables import Incident, Problem, SlaDefinition, User, UserGroup

OPEN = ("new", "in_progress", "on_hold")
"""Statuses of incidents that are not over."""


@dataclass(frozen=True)
class Draft:
    """A task before it is a row."""

    slug: str
    """Last part of the task id."""
    actor: User
    """Who asks, and in whose name every call is made."""
    prompt: str
    plan: tuple[str, ...]
    """Steps as a person would write them down."""
    gold: tuple[ToolCall, ...]
    answer: str
    verifiers: tuple[Verifier, ...]
    tools: tuple[str, ...] = ()
    """Tools of the oracle set that `gold` does not call."""
    feasible: bool = True
    access: Access = Access.PUBLISHED
    """How strictly the gym server judges calls."""
    events: tuple[Event, ...] = ()
    """What happens without the agent."""
    mistakes: Mapping[str, tuple[ToolCall, ...]] = field(default_factory=dict)
    """What somebody might do on top, and must not: calls after the gold ones, by what is wrong with them. Tests prove
    with them that verifiers notice."""


class Desk:
    """One company's part of the world, by the names people use."""

    def __init__(self, world: World, company: str) -> None:
        self.world = world
        self.company = company
        self.org_id = world.org(company).org_id

    def person(self, name: str) -> User:
        """A user by first and last name."""
        return self.world.user(name, self.org_id)

    def team(self, name: str) -> UserGroup:
        """A group by name."""
        return self.world.group(name)

    def case(self, key: str) -> Incident:
        """An incident by its story's key."""
        return self.world.story(Incident, key)

    def caller(self, incident: Incident) -> User:
        """The person affected by an incident."""
        return self.world.one(User, user_id=incident.caller_id)

    def reported(self, incident: Incident) -> datetime:
        """When an incident was reported."""
        if incident.created_at is None:
            raise LookupError(f"{incident.number} has no time of report")
        return incident.created_at

    def promise(self, priority: str, metric: str) -> SlaDefinition:
        """The active SLA definition of a priority and metric."""
        return self.world.one(
            SlaDefinition, org_id=self.org_id, applies_to_priority=priority, metric=metric, active=True
        )


# --- calls ---------------------------------------------------------------------------------------------------------


def call(tool: str, /, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(name=tool, arguments=arguments)


def look_up(user: User) -> ToolCall:
    """Looking somebody up by name."""
    return call("get_user_using_name", first_name=user.first_name, last_name=user.last_name)


def find(incident: Incident) -> ToolCall:
    """Looking an incident up by number."""
    return call("find_incident_by_number", number=incident.number)


def find_problem(problem: Problem) -> ToolCall:
    """Looking a problem up by number."""
    return call("find_problem_by_number", number=problem.number)


def update(incident: Incident, **fields: Any) -> ToolCall:
    """Changing an incident."""
    return call("update_incident", incident_id=incident.incident_id, **fields)


def notify(incident: Incident, user: User, kind: str, subject: str, message: str) -> ToolCall:
    """A message to somebody about an incident."""
    return call(
        "send_notification",
        incident_id=incident.incident_id,
        email=user.email,
        type=kind,
        subject=subject,
        message=message,
    )


def track(incident: Incident, promise: SlaDefinition, start: datetime) -> ToolCall:
    """Starting an SLA on an incident, its breach time worked out."""
    return call(
        "link_new_incident_sla",
        incident_id=incident.incident_id,
        sla_def_id=promise.sla_def_id,
        start_time=start.isoformat(),
        stage="in_progress",
        breach_time=due(promise, start).isoformat(),
    )


def due(promise: SlaDefinition, start: datetime) -> datetime:
    """When a promise is broken."""
    return start + timedelta(minutes=promise.target_mins)
