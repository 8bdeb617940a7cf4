"""What calls of the domain's tools do to rows, for those who judge an episode by its end.

Invariant: every tool that writes is here. So the end that a task's reference solution leads to can be worked out from
its calls and the seed, without a server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import DateTime

from opsgym_api.task import ToolCall
from opsgym_domains.itsm.seeds.world import World
from opsgym_domains.itsm.tables import (
    Change,
    ChangeRequestMapping,
    ChildIncident,
    ConfigurationItem,
    Incident,
    IncidentAffectedCi,
    IncidentKnowledge,
    IncidentSla,
    IncidentTemplate,
    ItsmRow,
    Knowledge,
    Location,
    Notification,
    Problem,
    Service,
    ServiceOffering,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
    UserRole,
)

Kind = type[ItsmRow]
Way = Literal["adds", "changes", "removes"]
RENAMED = {"parent": "business_service", "company_id": "org_id"}
"""Columns whose arguments have another name."""
NUMBERS = ("number", "kb_number")
"""What a row that is to be changed can be named by instead of its id."""
LINKS: frozenset[Kind] = frozenset(
    {ChildIncident, ChangeRequestMapping, IncidentAffectedCi, IncidentKnowledge, IncidentSla, UserGroupMember}
)
"""Rows that only tie others together."""


@dataclass(frozen=True)
class Effect:
    """What a tool does, and to which kind of row."""

    way: Way
    kind: Kind


_BY_KIND: Mapping[Kind, Mapping[str, Way]] = {
    User: {"add_new_user": "adds", "update_user_details": "changes"},
    UserGroup: {"add_new_user_group": "adds", "update_user_group": "changes"},
    UserGroupMember: {"add_new_group_member": "adds", "remove_group_membership": "removes"},
    Location: {"add_location": "adds", "update_location": "changes"},
    IncidentTemplate: {"create_new_incident_template": "adds", "update_incident_template": "changes"},
    ConfigurationItem: {"register_configuration_item": "adds", "update_configuration_item": "changes"},
    Service: {"add_new_service": "adds", "update_service": "changes"},
    ServiceOffering: {"register_new_service_offering": "adds", "update_service_offering": "changes"},
    Change: {"create_change": "adds", "update_change": "changes"},
    Problem: {"create_problem": "adds", "update_problem": "changes"},
    Incident: {"create_incident": "adds", "update_incident": "changes"},
    ChildIncident: {
        "add_child_incident": "adds",
        "add_child_incidents": "adds",
        "update_child_incident": "changes",
        "remove_child_incident": "removes",
    },
    Knowledge: {"create_knowledge_article": "adds", "update_knowledge_article": "changes"},
    IncidentKnowledge: {"link_knowledge_to_incident": "adds", "remove_knowledge_link_to_incident": "removes"},
    SlaDefinition: {"add_new_sla_definition": "adds", "update_sla_definition": "changes"},
    Notification: {
        "send_notification": "adds",
        "update_notification": "changes",
        "delete_notifications": "removes",
    },
    ChangeRequestMapping: {"map_change_request": "adds", "delete_change_request_mappings": "removes"},
    IncidentAffectedCi: {
        "link_affected_ci_to_incident": "adds",
        "remove_affected_ci_from_incident": "removes",
    },
    IncidentSla: {
        "link_new_incident_sla": "adds",
        "update_incident_sla_details": "changes",
        "delete_incident_slas": "removes",
    },
}
EFFECTS: Mapping[str, Effect] = {
    tool: Effect(way, kind) for kind, tools in _BY_KIND.items() for tool, way in tools.items()
}


@dataclass
class Row:
    """A row that calls have written, as they leave it."""

    tool: str
    """The first tool that wrote it."""
    kind: Kind
    way: Way
    key: str
    values: dict[str, Any] = field(default_factory=dict)
    """Columns that were given."""


def written(world: World, calls: Sequence[ToolCall]) -> list[Row]:
    """Rows that calls write on a seed, in the order in which they are first written.

    Raises:
        LookupError: A call names a row that is not there.
    """
    rows: dict[tuple[Kind, str], Row] = {}
    added: Counter[Kind] = Counter()
    for call in calls:
        if call.name not in EFFECTS:
            continue
        effect = EFFECTS[call.name]
        for values in _each(call):
            for key in _keys(world, effect, values, added[effect.kind]):
                row = rows.setdefault((effect.kind, key), Row(call.name, effect.kind, effect.way, key))
                row.values |= {name: value for name, value in values.items() if name != key_of(effect.kind)}
            added[effect.kind] += effect.way == "adds"
    return [*rows.values(), *_roles(rows.values())]


def key_of(kind: Kind) -> str:
    """Name of the column that rows of a table are told apart by here."""
    return str(next(iter(kind.__table__.primary_key)).name)


def _roles(rows: Iterable[Row]) -> list[Row]:
    """A user's role is kept in a table of its own as well."""
    users = [row for row in rows if row.kind is User and (row.way == "adds" or "role" in row.values)]
    return [Row(row.tool, UserRole, row.way, row.key) for row in users]


def _each(call: ToolCall) -> Iterator[dict[str, Any]]:
    """The columns that a call gives, once for each row it is about; an empty text empties a column."""
    arguments = dict(call.arguments)
    arguments |= arguments.pop("change_request_values", {})
    children = arguments.pop("child_incidents", None)
    kind = EFFECTS[call.name].kind
    for child in [None] if children is None else children:
        given = arguments if child is None else {**arguments, "child_incident": child}
        named = ((name if name in kind.__table__.columns else RENAMED[name], value) for name, value in given.items())
        yield {name: _stored(kind, name, value) for name, value in named}


def _stored(kind: Kind, column: str, value: Any) -> Any:
    if value == "":
        return None
    if isinstance(kind.__table__.columns[column].type, DateTime):
        return datetime.fromisoformat(value)
    return value


def _keys(world: World, effect: Effect, values: Mapping[str, Any], added: int) -> list[str]:
    """Keys of the rows that a call writes; `added` rows of the kind are there beside the seed's."""
    column = key_of(effect.kind)
    if effect.way == "adds":
        return [world.next_id(effect.kind, added)]
    if column in values:
        return [values[column]]
    given = values if effect.way == "removes" else {name: values[name] for name in NUMBERS if name in values}
    found = [str(getattr(row, column)) for row in world.all(effect.kind, **given)]
    if not found:
        raise LookupError(f"no row of {effect.kind.__tablename__} has {given}")
    return found
