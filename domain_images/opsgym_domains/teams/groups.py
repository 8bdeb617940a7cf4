"""Groups of users and their owners."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_

from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, context, dumped, filters, loaded, picked, reduced, shown_time
from opsgym_domains.teams.memberships import members_of
from opsgym_domains.teams.odata import (
    MOST,
    Columns,
    Expansion,
    JsonList,
    Related,
    parse_expand,
    parse_order,
    parse_select,
)
from opsgym_domains.teams.people import bound_user
from opsgym_domains.teams.tables import Group, Team, User
from opsgym_domains.teams.toolbox import tool

_OF_PERSON = ("id", "displayName", "userPrincipalName", "mail")
"""What a group keeps of its members and owners."""
_BY_PERSON = {name: (name,) for name in _OF_PERSON}
_EXPANDABLE = {"members": Related(_OF_PERSON), "owners": Related(_OF_PERSON)}
COLUMNS: Columns = {
    "groupTypes": JsonList(Group.group_types),
    "members": JsonList(Group.members, _BY_PERSON),
    "owners": JsonList(Group.owners, _BY_PERSON),
    "id": Group.group_id,
    "displayName": Group.display_name,
    "description": Group.description,
    "mailNickname": Group.mail_nickname,
    "mail": Group.mail,
    "visibility": Group.visibility,
    "securityEnabled": Group.security_enabled,
    "mailEnabled": Group.mail_enabled,
    "classification": Group.classification,
    "createdDateTime": Group.created_date_time,
}
_NOT_KEPT = (
    "allowExternalSenders", "assignedLabels", "autoSubscribeNewMembers", "isAssignableToRole", "isManagementRestricted",
    "membershipRule", "membershipRuleProcessingState", "preferredDataLocation", "preferredLanguage",
    "resourceBehaviorOptions", "resourceProvisioningOptions", "theme", "uniqueName",
)  # fmt: skip
"""Properties of Graph that the published tables do not hold; they show as null."""
_KEPT = frozenset({
    "display_name", "description", "mail_nickname", "visibility", "group_types", "security_enabled", "mail_enabled",
    "classification",
})  # fmt: skip
_CLAUSE = re.compile(r'''
    \s*(?:"(?P<quoted>[^"]+)" | (?P<plain>[^"\s]++(?:\s++(?!(?:AND|OR)(?:\s|$))[^"\s]++)*+))
    \s*(?:(?P<word>AND|OR)\s | $)
''', re.VERBOSE)  # fmt: skip
_SEARCHED = ("displayName", "description", "mail", "mailNickname")
_NAMED = re.compile(r"(\w+):\s*(.+)", re.DOTALL)


def shown_group(group: Group) -> Shown:
    """A group."""
    return {
        "id": group.group_id,
        "displayName": group.display_name,
        "description": group.description,
        "mailNickname": group.mail_nickname,
        "mail": group.mail,
        "visibility": group.visibility,
        "groupTypes": loaded(group.group_types, []),
        "securityEnabled": group.security_enabled,
        "mailEnabled": group.mail_enabled,
        "classification": group.classification,
        "createdDateTime": shown_time(group.created_date_time),
    }


PROPERTIES = (*shown_group(Group()), *_NOT_KEPT, *_EXPANDABLE)


@tool(adds=Group)
async def create_group(
    gym: Gym,
    mail_nickname: str,
    owners_odata_bind: list[str] | None = None,
    members_odata_bind: list[str] | None = None,
    **fields: Any,
) -> Shown:
    """Create a group with its owners and members.

    Returns the new group. Refused if another group has the mail nickname (DUPLICATE_MAIL_NICKNAME) and for an unknown
    user (USER_NOT_FOUND).
    """
    await _refuse_taken_name(gym, mail_nickname)
    people = {
        "owners": dumped(await _users(gym, owners_odata_bind or (), "owners_odata_bind")),
        "members": dumped(await _users(gym, members_odata_bind or (), "members_odata_bind")),
    }
    stored_fields = {name: dumped(value) for name, value in fields.items() if name in _KEPT}
    group = await gym.insert(Group(mail_nickname=mail_nickname, soft_delete=False, **stored_fields, **people))
    return {"odata_context": context("groups/$entity"), **shown_group(group)}


async def add_group_of_team(gym: Gym, team: Team) -> None:
    """Adds the group of a new team with its people, as a public query finds it: a Microsoft 365 group, as in Graph."""
    members = members_of(team)
    users = {user.user_id: user for user in await gym.all(User)}
    people = {
        "owners": [one for one in members if "owner" in one["roles"]],
        "members": members,
    }
    group = Group(
        group_id=team.group_id,
        display_name=team.display_name,
        description=team.description,
        visibility=team.visibility,
        group_types=dumped(["Unified"]),
        security_enabled=False,
        mail_enabled=True,
        soft_delete=False,
        **{name: dumped([_as_member(users[one["userId"]]) for one in listed]) for name, listed in people.items()},
    )
    await gym.insert(group)


async def _refuse_taken_name(gym: Gym, nickname: str, but: Group | None = None) -> None:
    taken = await gym.first(Group, func.lower(Group.mail_nickname) == nickname.lower())
    if taken is not None and taken is not but:
        message = "Another object with the same value for property mailNickname already exists."
        raise ToolError("DUPLICATE_MAIL_NICKNAME", message, "mailNickname")


async def _users(gym: Gym, references: Sequence[str], field: str) -> list[Shown]:
    """Users that references name, each once."""
    users = [await bound_user(gym, reference, field) for reference in references]
    return list({user.user_id: _as_member(user) for user in users}.values())


def _as_member(user: User) -> Shown:
    return {
        "@odata.type": "#microsoft.graph.user",
        "id": user.user_id,
        "displayName": user.display_name,
        "userPrincipalName": user.user_principal_name,
        "mail": user.mail,
    }


@tool(row=Group)
async def list_groups(
    gym: Gym,
    top: int = 100,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
    orderby: str | None = None,
    search: str | None = None,
    count: bool = False,
    expand: str | None = None,
) -> Shown:
    """List the groups of your organisation.

    In the order of their creation unless _orderby says otherwise; deleted ones are left out. _search finds a part of
    name or description ("sales"), or of one property ("mail:sales"); clauses are joined by AND and OR. Refused with
    INVALID_FILTER, INVALID_SEARCH, INVALID_EXPAND or UNKNOWN_PROPERTY where an option cannot be read.
    """
    names, order = parse_select(select, PROPERTIES), parse_order(orderby, COLUMNS)
    expanded = parse_expand(expand, _EXPANDABLE)
    groups = await gym.all(Group, *filters(filter, COLUMNS), *_searched(search), order=order)
    listed: Shown = {"odata_context": context("groups")}
    if count:
        listed["odata_count"] = len(groups)
    return listed | {"value": [_listed(group, names, expanded) for group in groups[:top]]}


def _searched(text: str | None) -> list[ColumnElement[bool]]:
    """The condition of a `$search`; AND binds its clauses stronger than OR."""
    if not text or not text.strip():
        return []
    alternatives: list[list[ColumnElement[bool]]] = [[]]
    position, end, word = 0, len(text.rstrip()), ""
    for _ in range(MOST):
        clause = _CLAUSE.match(text, position, end)
        if clause is None:
            break
        if word == "OR":
            alternatives.append([])
        alternatives[-1].append(_contains(clause["quoted"] or clause["plain"], text))
        position, word = clause.end(), clause["word"]
        if not word:
            return [or_(*(and_(*clauses) for clauses in alternatives))]
    raise _invalid_search(text)


def _contains(clause: str, text: str) -> ColumnElement[bool]:
    """Whether the properties that a clause searches have its text."""
    named = _NAMED.fullmatch(clause.strip())
    if named and named[1] not in _SEARCHED:
        raise _invalid_search(text)
    names, part = ([named[1]], named[2]) if named else (["displayName", "description"], clause)
    return or_(*(func.lower(COLUMNS[name]).contains(part.strip().lower(), autoescape=True) for name in names))


def _invalid_search(text: str) -> ToolError:
    message = (
        f"Invalid search {short(text)}; write clauses in double quotes, at most {MOST}, joined by AND or OR: text, or"
        f" text behind one of {', '.join(_SEARCHED)} and a colon."
    )
    return ToolError("INVALID_SEARCH", message, "_search")


def _listed(group: Group, names: Sequence[str] | None, expanded: Mapping[str, Expansion]) -> Shown:
    people = {"members": loaded(group.members, []), "owners": loaded(group.owners, [])}
    return picked(shown_group(group), names) | {name: reduced(people[name], one) for name, one in expanded.items()}


@tool(changes=Group)
async def update_group(gym: Gym, group_id: str, **fields: Any) -> None:
    """Change properties of a group.

    Properties that are not given keep their value. Refused without a property to change (NO_FIELDS_TO_UPDATE), for an
    unknown group (GROUP_NOT_FOUND) and if another group has the mail nickname (DUPLICATE_MAIL_NICKNAME).
    """
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give at least one property to change besides groupId.")
    group = await gym.fetch(Group, group_id, field="groupId")
    if "mail_nickname" in fields:
        await _refuse_taken_name(gym, fields["mail_nickname"], group)
    await gym.update(group, {name: value for name, value in fields.items() if name in _KEPT})


@tool(changes=Group)
async def add_group_owner(gym: Gym, group_id: str, odata_id: str) -> None:
    """Make a user an owner of a group.

    Refused for an unknown group or user (GROUP_NOT_FOUND, USER_NOT_FOUND) and for a user who owns the group already
    (DUPLICATE_OWNER).
    """
    group = await gym.fetch(Group, group_id, field="groupId")
    user, owners = await bound_user(gym, odata_id, "_odata_id"), loaded(group.owners, [])
    if any(owner.get("id") == user.user_id for owner in owners):
        message = "One or more added object references already exist for property owners."
        raise ToolError("DUPLICATE_OWNER", message, "_odata_id")
    await gym.update(group, {"owners": dumped([*owners, _as_member(user)])})
