"""Scenes: tasks in which something happens beside the agent, or in which the gym server refuses calls.

Invariant: what happens is written down once. The statements that a gym server carries out and the rows that verifiers
expect come from the same `Twist`, so they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.event import Event
from opsgym_api.task import Category, Verifier
from opsgym_domains.itsm.seeds.world import NOW, World
from opsgym_domains.itsm.suites.checks import count, says
from opsgym_domains.itsm.suites.core.goals import Expected, drafted
from opsgym_domains.itsm.suites.drafts import Draft
from opsgym_domains.itsm.tables import (
    Change,
    ChildIncident,
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


class Twist:
    """What happens without the agent: rows change, in the gym server's database and in the end that is expected."""

    def __init__(self, world: World) -> None:
        self.after = _copied(world)
        """The seed's rows as they are once it has happened."""
        self.statements: list[str] = []
        """What a gym server does to make it happen, in Postgres' dialect."""

    def change(self, row: ItsmRow, **values: Any) -> Twist:
        """Somebody changes a row."""
        table, mine = row.__table__, as_dict(row)
        key = {column.name: mine[column.name] for column in table.primary_key}
        there = self.after.one(type(row), **key)
        changes = ", ".join(f"{name} = {_literal(value)}" for name, value in values.items())
        where = " AND ".join(f"{name} = {_literal(value)}" for name, value in key.items())
        self.statements.append(f"UPDATE {row.__tablename__} SET {changes} WHERE {where}")  # noqa: S608 - our own names
        for name, value in values.items():
            setattr(there, name, value)
        return self

    def add(self, row: ItsmRow) -> Twist:
        """Somebody adds a row, which gets the next id."""
        values = {name: value for name, value in as_dict(self.after.add(row)).items() if value is not None}
        columns, literals = ", ".join(values), ", ".join(map(_literal, values.values()))
        self.statements.append(f"INSERT INTO {row.__tablename__} ({columns}) VALUES ({literals})")  # noqa: S608
        return self

    def revoke(self, role: str, resource: str) -> Twist:
        """A role may only read a resource from now on."""
        permissions = {row.action: row.perm_id for row in self.after.all(Permission, resource=resource)}
        role_id = self.after.one(Role, name=role).role_id
        granted = self.after.one(RolePermission, role_id=role_id, perm_id=permissions["crud"])
        return self.change(granted, perm_id=permissions["read"])

    def once(self, when: str, later: timedelta | None = None) -> Event:
        """The event: it happens once the query says yes; time goes on meanwhile, if it does."""
        return Event(when=when, sql=self.statements, advance_seconds=later.total_seconds() if later else None)


def staged(
    scene: Draft,
    twist: Twist | None = None,
    *,
    world: World,
    rules: Mapping[str, str] | None = None,
    expect: Expected | None = None,
) -> Draft:
    """A scene with the verifiers that follow from the calls of its solution that are carried out."""
    after = world if twist is None else twist.after
    conditions = {"send_notification": {"status": "queued"}, **(expect or {})}  # those of the seed were sent long ago
    judged = drafted(after, replace(scene, gold=scene.done), rules={**RULES, **(rules or {})}, expect=conditions)
    return replace(scene, verifiers=judged.verifiers)


# --- words ---------------------------------------------------------------------------------------------------------


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
    process = Category.PERMISSION_PROCESS
    undone = r"\b(not|cannot|can't|couldn't|didn't|won't|unable|refus\w*|stays?|stayed|remains?|left|without)\b"
    return (
        says("says_what_was_not_done", f"The answer says what was not done [{rule}]", undone, category=process),
        says("says_why", f"The answer gives the reason [{rule}]", *reasons, category=process),
    )


def linked(parent: Incident, child: Incident) -> str:
    """Query for whether an incident is another one's child."""
    return count(ChildIncident, parent_incident=parent.incident_id, child_incident=child.incident_id)


def next_number(world: World) -> str:
    """Number that the next incident gets."""
    last = max(case.number for case in world.all(Incident) if case.number.startswith("INC-"))
    return f"INC-{int(last.removeprefix('INC-')) + 1:06d}"


def days(number: float) -> timedelta:
    """A span of days."""
    return timedelta(days=number)


def _copied(world: World) -> World:
    copy = World()
    for _name, rows in world.tables():
        for row in rows:
            copy.add(type(row)(**as_dict(row)))
    return copy


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"'{value:%Y-%m-%d %H:%M:%S}'"
    return "'" + str(value).replace("'", "''") + "'"
