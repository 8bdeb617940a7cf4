"""References that agents give by name: people by full name, groups, services and other records by theirs.

Invariant: a name is looked up among the records that the acting user sees, and what is stored is the id. In a change an
unknown name is refused; in a filter it matches nothing. Only a person whom a case is about is found without access to
the HR profile, so that agents can open a case for everyone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.hr.tables import HrCriteria, HrProfile, HrService, TopicCategory, TopicDetail, User, UserGroup
from opsgym_domains.hr.tables import ServiceTemplate as Template
from opsgym_domains.kit.filters import contains
from opsgym_domains.kit.gym import Gym, not_found
from opsgym_domains.kit.schema import Row, key_column


@dataclass(frozen=True)
class Named:
    """How records of a kind are named."""

    kind: type[Row]
    name: Any
    """Column, or expression of columns, with the name."""


PERSON = Named(User, User.first_name + " " + User.last_name)
GROUP = Named(UserGroup, UserGroup.name)
SERVICE = Named(HrService, HrService.service_name)
CRITERIA = Named(HrCriteria, HrCriteria.name)
TEMPLATE = Named(Template, Template.name)
TOPIC = Named(TopicDetail, TopicDetail.name)
CATEGORY = Named(TopicCategory, TopicCategory.name)


async def resolve(gym: Gym, fields: Mapping[str, Any], names: Mapping[str, Named]) -> dict[str, Any]:
    """Fields with the ids of the records that some of them name; an empty name clears the reference.

    Args:
        gym: The call's view of the database.
        fields: Values by column, as the agent gave them.
        names: How a field names its record, by column.

    Raises:
        ToolError: `<TABLE>_NOT_FOUND`.
    """
    resolved = dict(fields)
    for column, named in names.items():
        if resolved.get(column):
            resolved[column] = await _id_of(gym, named, resolved[column], column)
    return resolved


async def profile_of(gym: Gym, name: str, field: str) -> int:
    """Id of the HR profile of the person with a full name, whether the acting user may read the profile or not.

    Raises:
        ToolError: `USER_NOT_FOUND`, or `HR_PROFILE_NOT_FOUND` if the user has no profile.
    """
    user = await _id_of(gym, PERSON, name, field)
    profile = await gym.published().find(HrProfile, user_id=user)
    if profile is None:
        raise not_found(HrProfile, name, field)
    return profile.hr_profile_id


async def _id_of(gym: Gym, named: Named, name: str, field: str) -> int:
    row = await gym.first(named.kind, named.name == " ".join(name.split()))
    if row is None:
        raise not_found(named.kind, name, field)
    return int(getattr(row, key_column(named.kind)))


async def by_names(
    gym: Gym, filters: dict[str, Any], names: Mapping[str, tuple[Named, InstrumentedAttribute[Any]]], *, partial: bool
) -> list[ColumnElement[bool]]:
    """Takes the filters that name other records out of `filters`, and returns their conditions.

    Args:
        gym: The call's view of the database.
        filters: Filters as the agent gave them.
        names: By filter, how it names a record, and the column that refers to the record.
        partial: Whether a part of the name matches, ignoring case; otherwise the whole name does.
    """
    conditions: list[ColumnElement[bool]] = []
    for filter_name in names.keys() & filters.keys():
        named, column = names[filter_name]
        conditions.append(column.in_(await _ids(gym, named, filters.pop(filter_name), partial=partial)))
    return conditions


async def _ids(gym: Gym, named: Named, name: str, *, partial: bool) -> Sequence[int]:
    matches = contains(named.name, name) if partial else func.trim(named.name) == name.strip()
    return [getattr(row, key_column(named.kind)) for row in await gym.all(named.kind, matches)]
