"""Effects of the ITSM tools, as far as their declarations do not state them: arguments, links, implicit rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.domain import DOMAIN
from opsgym_domains.itsm.tables import (
    ChangeRequestMapping,
    ChildIncident,
    IncidentAffectedCi,
    IncidentKnowledge,
    IncidentSla,
    Role,
    User,
    UserGroupMember,
    UserRole,
)
from opsgym_domains.kit.schema import as_dict
from opsgym_suites.kit.drafts import call
from opsgym_suites.kit.effects import ToolEffects, WrittenRow
from opsgym_suites.kit.world import World


def _arguments_by_row(call: ToolCall) -> Iterator[Mapping[str, Any]]:
    arguments = dict(call.arguments)
    arguments |= arguments.pop("change_request_values", {})
    children = arguments.pop("child_incidents", None)
    for child in [None] if children is None else children:
        yield arguments if child is None else {**arguments, "child_incident": child}


def _user_roles(world: World, rows: Iterable[WrittenRow]) -> list[WrittenRow]:
    """Rows of `user_role`, which repeats the role that a user row holds."""
    users = [row for row in rows if row.kind is User and "role" in row.values]
    return [link for row in users for link in _roles_of(world, row)]


def _roles_of(world: World, user: WrittenRow) -> Iterator[WrittenRow]:
    role_id = world.one(Role, name=user.values["role"]).role_id
    before = world.all(UserRole, user_id=user.key)
    if any(link.role_id == role_id for link in before):
        return
    yield WrittenRow(user.tool, UserRole, "adds", None, {"user_id": user.key, "role_id": role_id})
    for link in before:
        yield WrittenRow(user.tool, UserRole, "removes", as_dict(link))


def _equivalents(made: ToolCall) -> Iterator[ToolCall]:
    """The other one of the tools for one and for several child incidents."""
    arguments = dict(made.arguments)
    if made.name == "add_child_incident":
        yield call("add_child_incidents", child_incidents=[arguments.pop("child_incident")], **arguments)
    if made.name == "add_child_incidents":
        for child in arguments.pop("child_incidents"):
            yield call("add_child_incident", child_incident=child, **arguments)


EFFECTS = ToolEffects(
    DOMAIN.toolbox,
    link_types=frozenset(
        {ChildIncident, ChangeRequestMapping, IncidentAffectedCi, IncidentKnowledge, IncidentSla, UserGroupMember}
    ),
    columns={"company_id": "org_id"},
    alternate_keys=("number", "kb_number"),
    arguments_by_row=_arguments_by_row,
    implicit_rows=_user_roles,
    equivalents=_equivalents,
)
written_rows = EFFECTS.written
