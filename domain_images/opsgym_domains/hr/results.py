"""Results: records with the records that they refer to, and changed records with what changed.

Invariant: a record begins with its columns; a reference `topic_detail` is its id, and `topic_detail_details` the record
that has this id, with what an agent needs to name it: null if there is none, or if the acting user does not see it.
Confidential columns of a profile are never part of another record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from opsgym_domains.hr.tables import (
    HrCase,
    HrCaseTask,
    HrCriteria,
    HrProfile,
    HrService,
    ServiceTemplate,
    Skill,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
)
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row, as_dict, columns_but, key_column

Shown = dict[str, Any]
"""A record as a tool returns it."""

LISTS = frozenset({"users", "skills", "based_on_skills", "change_request_values"})
"""Columns with JSON text, which results show as lists and objects."""
BRIEF: Mapping[type[Row], Sequence[str]] = {
    User: ("user_id", "first_name", "last_name", "email"),
    UserGroup: ("group_id", "name"),
    HrProfile: ("hr_profile_id", "number", "user_id"),
    HrService: ("hr_service_id", "service_name"),
    HrCriteria: ("hr_criteria_id", "name", "type"),
    ServiceTemplate: ("service_template_id", "name", "change_request_values", "coe_type"),
    TopicDetail: ("topic_detail_id", "name", "topic_category"),
    TopicCategory: ("topic_category_id", "name", "coe_type"),
    HrCase: ("hr_case_id", "number", "status", "short_description"),
    Skill: ("skill_id", "name"),
}
"""Columns of a record that another one refers to."""
REFERENCES: Mapping[type[Row], Mapping[str, type[Row]]] = {
    HrService: {"topic_detail": TopicDetail, "service_template": ServiceTemplate, "hr_criteria": HrCriteria},
    TopicDetail: {"topic_category": TopicCategory},
    HrCase: {
        "hr_service": HrService,
        "opened_for": HrProfile,
        "opened_by": User,
        "assigned_to": User,
        "assignment_group": UserGroup,
        "approval_criteria": HrCriteria,
        "approver": User,
    },
    HrCaseTask: {
        "assigned_to": User,
        "assignment_group": UserGroup,
        "hr_service": HrService,
        "parent_case": HrCase,
    },
}
"""References that results show as objects."""
NO_REFERENCES: Mapping[str, type[Row]] = MappingProxyType({})
TOKEN = "static_token"  # noqa: S105 - the name of a column


async def shown(gym: Gym, row: Row) -> Shown:
    """A record with the records that it refers to."""
    return (await shown_all(gym, [row]))[0]


async def shown_all(gym: Gym, rows: Sequence[Row]) -> list[Shown]:
    """Records of one kind with the records that they refer to; one query for each kind of reference."""
    if not rows:
        return []
    kind = type(rows[0])
    targets = REFERENCES.get(kind, NO_REFERENCES)
    records = {name: await referred(gym, rows, name, target) for name, target in targets.items()}
    return [_with_references(_plain(row, columns_but(kind, TOKEN)), records) for row in rows]


async def changed(gym: Gym, row: Row, fields: Mapping[str, Any]) -> Shown:
    """Updates a record, as `Gym.update` does; returns it with `changes`, the names of the columns that changed."""
    before = as_dict(row)
    after = as_dict(await gym.update(row, fields))
    return {**await shown(gym, row), "changes": [name for name in fields if after[name] != before[name]]}


async def referred(gym: Gym, rows: Sequence[Row], name: str, target: type[Row]) -> Mapping[Any, Shown]:
    """Records that a column of the rows refers to, by id: those that the acting user sees, in brief."""
    key = key_column(target)
    ids = {getattr(row, name) for row in rows} - {None}
    visible = await gym.all(target, getattr(target, key).in_(ids)) if ids else ()
    nested = REFERENCES.get(target, NO_REFERENCES) if target is TopicDetail else NO_REFERENCES
    inner = {column: await referred(gym, visible, column, kind) for column, kind in nested.items()}
    return {getattr(row, key): _with_references(_plain(row, BRIEF[target]), inner) for row in visible}


def _with_references(record: Shown, referred: Mapping[str, Mapping[Any, Shown]]) -> Shown:
    return record | {f"{name}_details": records.get(record[name]) for name, records in referred.items()}


def _plain(row: Row, columns: Sequence[str]) -> Shown:
    values = as_dict(row)
    return {name: _parsed(values[name]) if name in LISTS else values[name] for name in columns}


def _parsed(text: str | None) -> Any:
    """A column's JSON; text that is none, as seeds may have it, is shown as it is."""
    try:
        return text if text is None else json.loads(text)
    except ValueError:
        return text
