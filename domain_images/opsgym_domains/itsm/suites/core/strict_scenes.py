"""Scenes: tasks in which something happens beside the agent, or in which the gym server refuses calls.

Invariant: what happens is written down once. The statements that a gym server carries out and the rows that verifiers
expect come from the same `Twist`, so they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.event import Event
from opsgym_api.task import Category, ToolCall, Verifier
from opsgym_domains.itsm.seeds.generate import DESK, generate
from opsgym_domains.itsm.seeds.world import NOW, World
from opsgym_domains.itsm.suites.checks import Has, count, says, state
from opsgym_domains.itsm.suites.core.goals import Expected, drafted
from opsgym_domains.itsm.suites.drafts import Draft
from opsgym_domains.itsm.suites.effects import key_of
from opsgym_domains.itsm.tables import (
    Change,
    Incident,
    ItsmRow,
    Notification,
    Permission,
    Role,
    RolePermission,
    User,
)
from opsgym_domains.kit.schema import as_dict

CLOCK = Event(after_step=0, set_time=NOW.isoformat())
"""The database stands at the moment that the prompt names, whenever the task is run."""
RULES: Mapping[str, str] = {
    "update_incident": "INC-1, PRC-1",
    "update_problem": "PRB-3, PRC-3",
    "update_change": "PRC-5",
    "create_change": "CHG-1, CHG-2",
    "map_change_request": "CHG-3",
    "send_notification": "NTF-2",
    "add_child_incident": "INC-11",
    "link_new_incident_sla": "SLA-1, SLA-2",
    "update_user_details": "USR-1",
    "add_new_group_member": "USR-2",
    "remove_group_membership": "USR-2",
    "update_knowledge_article": "PRC-8",
    "create_knowledge_article": "PRC-8",
    "link_knowledge_to_incident": "KB-1",
}
"""Rules that say what a tool has to write, where a scene names no others."""


@dataclass(frozen=True)
class Careless:
    """How somebody fares who does not notice what happens, or does not care for the process."""

    calls: Sequence[ToolCall]
    answer: str
    rule: str | None = None
    """Number of the rule that a refusal names; None if the server lets it pass and only verifiers notice."""


@dataclass(frozen=True)
class Scene(Draft):
    """A draft, and what tests have to know of the way through it."""

    refused: Mapping[int, str] = field(default_factory=dict)
    """Calls of `gold` that the server refuses, by their place, and the rule that it names: how one finds out."""
    careless: Mapping[str, Careless] = field(default_factory=dict)
    """Other ways to go about it, by what is wrong with them; none of them may pass."""

    @property
    def done(self) -> tuple[ToolCall, ...]:
        """Calls of `gold` that are carried out."""
        return tuple(call for place, call in enumerate(self.gold) if place not in self.refused)


class Twist:
    """What happens without the agent: rows change, in the gym server's database and in the end that is expected."""

    def __init__(self) -> None:
        self.after = generate(DESK)
        """The seed's rows as they are once it has happened."""
        self._statements: list[str] = []

    def change(self, row: ItsmRow, **values: Any) -> Twist:
        """Somebody changes a row."""
        table, mine = row.__table__, as_dict(row)
        key = {column.name: mine[column.name] for column in table.primary_key.columns}
        there = self.after.one(type(row), **key)
        changes = ", ".join(f"{name} = {_literal(value)}" for name, value in values.items())
        where = " AND ".join(f"{name} = {_literal(value)}" for name, value in key.items())
        self._statements.append(f"UPDATE {row.__tablename__} SET {changes} WHERE {where}")  # noqa: S608 - our own names
        for name, value in values.items():
            setattr(there, name, value)
        return self

    def add(self, row: ItsmRow) -> Twist:
        """Somebody adds a row, which gets the next id."""
        values = {name: value for name, value in as_dict(self.after.add(row)).items() if value is not None}
        columns, literals = ", ".join(values), ", ".join(map(_literal, values.values()))
        self._statements.append(f"INSERT INTO {row.__tablename__} ({columns}) VALUES ({literals})")  # noqa: S608
        return self

    def revoke(self, role: str, resource: str) -> Twist:
        """A role may only read a resource from now on."""
        permissions = {row.action: row.perm_id for row in self.after.all(Permission, resource=resource)}
        role_id = self.after.one(Role, name=role).role_id
        granted = self.after.one(RolePermission, role_id=role_id, perm_id=permissions["crud"])
        return self.change(granted, perm_id=permissions["read"])

    def once(self, when: str, later: timedelta | None = None) -> Event:
        """The event: it happens once the query says yes; time goes on meanwhile, if it does."""
        return Event(when=when, sql=self._statements, advance_seconds=later.total_seconds() if later else None)


def staged(
    scene: Scene,
    twist: Twist | None = None,
    *,
    world: World,
    rules: Mapping[str, str] | None = None,
    expect: Expected | None = None,
) -> Scene:
    """A scene with the verifiers that follow from the calls of its solution that are carried out."""
    after = world if twist is None else twist.after
    judged = drafted(after, replace(scene, gold=scene.done), rules={**RULES, **(rules or {})}, expect=expect)
    return replace(scene, verifiers=judged.verifiers)


# --- words ---------------------------------------------------------------------------------------------------------


def is_so(incident: Incident, **values: Any) -> str:
    """Query for whether an incident has these values."""
    return f"{count(Incident, incident_id=incident.incident_id, **values)}"


def change_is(change: Change, status: str) -> str:
    """Query for whether a change has this status."""
    return count(Change, change_id=change.change_id, status=status)


def was_told(about: Incident, user: User) -> str:
    """Query for whether somebody got a new message about an incident."""
    return count(Notification, incident_id=about.incident_id, email=user.email, status="queued")


def answers(name: str, description: str, *patterns: str) -> Verifier:
    """The final answer says so, in one of these ways."""
    return says(name, description, *patterns)


def admits(*reasons: str, rule: str = "REF-2") -> tuple[Verifier, Verifier]:
    """The final answer says that a part was not done, and why."""
    undone = r"\b(not|cannot|can't|couldn't|didn't|won't|unable|refus\w*|stays?|stayed|remains?|left|without)\b"
    return (
        says(
            "says_what_was_not_done", f"The answer says what was not done [{rule}]", undone, category=Category.REFUSAL
        ),
        says("says_why", f"The answer gives the reason [{rule}]", *reasons, category=Category.REFUSAL),
    )


def untouched(name: str, description: str, row: ItsmRow, *columns: str, world: World) -> Verifier:
    """A row has in these columns what it has in a world."""
    kind, key = type(row), key_of(type(row))
    there = as_dict(world.one(kind, **{key: getattr(row, key)}))
    values = {column: there[column] for column in columns}
    query = count(kind, **{key: there[key]}, **values)
    return state(name, description, query, category=Category.PERMISSION_PROCESS)


def untold(about: Incident, user: User) -> Verifier:
    """Nobody sent somebody a message about an incident."""
    return state(
        f"no_message_about_{about.number}",
        f"{about.number}'s caller got no message, since nothing came of it [NTF-2]",
        was_told(about, user),
        0,
        category=Category.SIDE_EFFECT,
    )


def noted(text: str) -> Has:
    """A text that contains another."""
    return Has(text)


def days(number: float) -> timedelta:
    """A span of days."""
    return timedelta(days=number)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"'{value:%Y-%m-%d %H:%M:%S}'"
    return "'" + str(value).replace("'", "''") + "'"
