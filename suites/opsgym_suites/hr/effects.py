"""The rows that calls of HR's tools write.

Invariant: names of people, groups and services in a call become the ids that the server stores, also of records that
earlier calls of the same solution create.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Integer

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.domain import DOMAIN
from opsgym_domains.hr.tables import (
    HrCaseKnowledge,
    HrCriteria,
    HrProfile,
    HrService,
    Role,
    ServiceTemplate,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
    UserGroupMember,
    UserRole,
    UserSkill,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import call
from opsgym_suites.kit.effects import RowType, ToolEffects, WrittenRow
from opsgym_suites.kit.verifiers import Matches
from opsgym_suites.kit.world import key_of

LISTS = ("skills", "based_on_skills", "users")
"""Arguments with lists of ids, which are stored as JSON text."""
NAMED: Mapping[str, tuple[RowType, str]] = {
    "assignment_group": (UserGroup, "name"),
    "topic_category": (TopicCategory, "name"),
    "topic_detail": (TopicDetail, "name"),
    "service_template": (ServiceTemplate, "name"),
    "hr_criteria": (HrCriteria, "name"),
    "hr_service": (HrService, "service_name"),
}
"""What arguments name by a name, and the column of the name. Where a tool takes an id, it is left as it is."""
PEOPLE = ("assigned_to", "approver", "opened_for")


class _Names:
    """Ids by name: of the seed's records and of those that calls have added."""

    def __init__(self, world: World, by_tool: Mapping[str, Any]) -> None:
        self._world = world
        self._by_tool = by_tool
        self._added: dict[RowType, list[Mapping[str, Any]]] = {}

    def resolved(self, made: ToolCall) -> Iterator[ToolCall]:
        """A call with the values that the tables store; several for a tool that writes several rows."""
        if made.name not in self._by_tool:
            yield made
            return
        kind = self._by_tool[made.name].row
        values = {name: self._stored(kind, name, value) for name, value in made.arguments.items()}
        if made.name == "delete_hr_service":
            values["active"] = False
        if kind is HrProfile:
            yield from (made.model_copy(update={"arguments": one}) for one in self._profiles(made.name, values))
        else:
            yield made.model_copy(update={"arguments": values})
        if self._by_tool[made.name].operation == "adds":
            self._add(kind, values)

    def _add(self, kind: RowType, values: Mapping[str, Any]) -> None:
        rows = self._added.setdefault(kind, [])
        rows.append({**values, key_of(kind): self._world.next_id(kind, len(rows))})

    def _stored(self, kind: RowType, name: str, value: Any) -> Any:
        if name in LISTS:
            ids = value.split(",") if isinstance(value, str) else value
            return json.dumps([int(one) for one in ids])
        if isinstance(value, dict):
            return json.dumps(value)
        if not isinstance(value, str) or not value or value.isdigit():
            is_key = name in kind.__table__.columns and isinstance(kind.__table__.columns[name].type, Integer)
            return int(value) if is_key and isinstance(value, str) and value else value
        if name in PEOPLE:
            user = self._user(value)
            return self._id(HrProfile, user_id=user) if name == "opened_for" else user
        if name in NAMED and name in kind.__table__.columns:
            of, column = NAMED[name]
            return self._id(of, **{column: value})
        return value

    def _user(self, name: str) -> int:
        first, _, last = name.partition(" ")
        return self._id(User, first_name=first, last_name=last)

    def _id(self, kind: RowType, **values: Any) -> int:
        added = [row for row in self._added.get(kind, ()) if all(row.get(name) == of for name, of in values.items())]
        row = added[0] if added else vars(self._world.one(kind, **values))
        return int(row[key_of(kind)])

    def _profiles(self, tool: str, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Values of the profiles that a call writes."""
        if "manager" in values:
            values["manager"] = self._world.one(HrProfile, hr_profile_id=int(values["manager"])).user_id
        if "national_tax_id" in values:
            values["national_tax_id"] = Matches(rf"-{values['national_tax_id']}$")
        if tool == "onboard_new_hr_profile":
            yield values
        elif tool == "update_hr_profile":
            by = {name: values.pop(name) for name in ("hr_profile_id", "number", "user_id") if name in values}
            key = by["hr_profile_id"] if "hr_profile_id" in by else self._id(HrProfile, **by)
            yield {"hr_profile_id": key, **values}
        else:
            today = f"{self._world.now:%Y-%m-%d}"
            for row in self._world.all(HrProfile, **values):
                if row.employment_end_date is None:
                    yield {"hr_profile_id": row.hr_profile_id, "employment_end_date": today}


class HrEffects(ToolEffects):
    """Effects of HR's tools, which name people, groups and services."""

    def written(self, world: Any, calls: Sequence[ToolCall]) -> list[WrittenRow]:
        """Rows that calls write on a seed, in the order in which they are first written.

        Raises:
            LookupError: A call names a record that does not exist.
        """
        names = _Names(world, self.by_tool)
        return super().written(world, [resolved for made in calls for resolved in names.resolved(made)])


def _user_roles(world: World, rows: Iterable[WrittenRow]) -> list[WrittenRow]:
    """Rows of `user_role`, which repeats the role that a user row holds."""
    return [link for row in list(rows) if row.kind is User and "role" in row.values for link in _roles_of(world, row)]


def _roles_of(world: World, user: WrittenRow) -> Iterator[WrittenRow]:
    role_id = world.one(Role, name=user.values["role"]).role_id
    before = world.all(UserRole, user_id=user.key)
    if any(link.role_id == role_id for link in before):
        return
    yield WrittenRow(user.tool, UserRole, "adds", None, {"user_id": user.key, "role_id": role_id, "org_id": 1})
    for link in before:
        yield WrittenRow(user.tool, UserRole, "removes", {"user_id": link.user_id, "role_id": link.role_id})


def _equivalents(made: ToolCall) -> Iterator[ToolCall]:
    """The tool that ends the employment of all who match, for the one that ends one."""
    if made.name == "offboard_hr_profile":
        yield call("offboard_hr_profiles", **made.arguments)


EFFECTS = HrEffects(
    DOMAIN.toolbox,
    link_types=frozenset({UserGroupMember, UserSkill, HrCaseKnowledge, UserRole}),
    implicit_rows=_user_roles,
    equivalents=_equivalents,
)
"""What the tools write."""
