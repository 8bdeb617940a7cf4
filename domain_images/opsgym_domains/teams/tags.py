"""Tags of teams, by which several members are mentioned at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, context, filters
from opsgym_domains.teams.odata import Columns
from opsgym_domains.teams.people import tenant_of, user_of
from opsgym_domains.teams.tables import Tag, TagMember, Team, User
from opsgym_domains.teams.toolbox import tool

COLUMNS: Columns = {
    "id": Tag.id,
    "displayName": Tag.display_name,
    "description": Tag.description,
    "tagType": Tag.tag_type,
    "teamId": Tag.team_id,
}


@tool(adds=Tag)
async def create_teamwork_tag(
    gym: Gym, team_id: str, display_name: str, members: Sequence[Shown] = (), description: str | None = None
) -> Shown:
    """Create a tag in a team and give it to members.

    Returns the tag. Refused if a tag of the team has the name (DUPLICATE_TAG_NAME), without members (MISSING_FIELD) and
    for an unknown team or user (TEAM_NOT_FOUND, USER_NOT_FOUND).
    """
    await gym.fetch(Team, team_id, field="team_id")
    if not members:
        raise ToolError("MISSING_FIELD", "A tag needs at least one member.", "members")
    await _refuse_taken_name(gym, team_id, display_name)
    users = await _users(gym, members)
    tag = Tag(team_id=team_id, display_name=display_name, description=description, tag_type="standard")
    await gym.insert(tag)
    await gym.insert_all(await _members(gym, tag, users))
    return await _shown(gym, tag, with_members=True)


async def _refuse_taken_name(gym: Gym, team_id: str, name: str, but: Tag | None = None) -> None:
    taken = await gym.first(Tag, Tag.team_id == team_id, func.lower(Tag.display_name) == name.lower())
    if taken is not None and taken is not but:
        raise ToolError("DUPLICATE_TAG_NAME", f"The team already has a tag '{name}'.", "displayName")


async def _users(gym: Gym, given: Sequence[Shown]) -> list[User]:
    """Users that a call names, each once."""
    named = [one["userId"] for one in given if one.get("userId")]
    users = [await user_of(gym, key, "members") for key in named]
    return list({user.user_id: user for user in users}.values())


async def _members(gym: Gym, tag: Tag, users: Sequence[User]) -> list[TagMember]:
    tenant = await tenant_of(gym)
    return [
        TagMember(tagId=tag.id, teamId=tag.team_id, userId=user.user_id, displayName=user.display_name, tenantId=tenant)
        for user in users
    ]


async def _shown(gym: Gym, tag: Tag, *, with_members: bool = False) -> Shown:
    members = await gym.all(TagMember, TagMember.tagId == tag.id)
    shown: Shown = {
        "displayName": tag.display_name,
        "description": tag.description,
        "tagType": tag.tag_type,
        "teamId": tag.team_id,
        "id": tag.id,
        "memberCount": len(members),
    }
    people = [{"userId": member.userId, "displayName": member.displayName} for member in members]
    return shown | ({"members": people} if with_members else {})


@tool(row=Tag)
async def list_teamwork_tags(
    gym: Gym,
    team_id: str,
    filter: str | None = None,  # noqa: A002 - published name
    top: int | None = None,
) -> Shown:
    """List the tags of a team with the number of their members.

    In the order of their creation. Refused with INVALID_FILTER or UNKNOWN_PROPERTY where the filter cannot be read, and
    for an unknown team (TEAM_NOT_FOUND).
    """
    conditions = filters(filter, COLUMNS)
    await gym.fetch(Team, team_id, field="team_id")
    tags = await gym.all(Tag, Tag.team_id == team_id, *conditions)
    return {
        "@odata.context": context(f"teams('{team_id}')/tags"),
        "@odata.count": len(tags),
        "value": [await _shown(gym, tag) for tag in tags[:top]],
    }


@tool(changes=Tag)
async def update_teamwork_tag(
    gym: Gym, team_id: str, tag_id: str, members: list[Shown] | None = None, **fields: Any
) -> Shown:
    """Rename or describe a tag, or replace its members.

    Properties that are not given keep their value. Returns the tag. Refused without a property to change
    (NO_FIELDS_TO_UPDATE), for an unknown tag (TAG_NOT_FOUND) and if another tag of the team has the name
    (DUPLICATE_TAG_NAME).
    """
    if not fields and not members:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give displayName, description or members.")
    tag = await _tag(gym, team_id, tag_id)
    if "display_name" in fields:
        await _refuse_taken_name(gym, team_id, fields["display_name"], tag)
    if members:
        users = await _users(gym, members)
        await gym.delete(await gym.all(TagMember, TagMember.tagId == tag_id))
        await gym.insert_all(await _members(gym, tag, users))
    return await _shown(gym, await gym.update(tag, fields), with_members=True)


async def _tag(gym: Gym, team_id: str, tag_id: str) -> Tag:
    await gym.fetch(Team, team_id, field="team_id")
    tag = await gym.find(Tag, id=tag_id, team_id=team_id)
    if tag is None:
        raise ToolError("TAG_NOT_FOUND", f"The team has no tag '{tag_id}'.", "tag_id")
    return tag


@tool(adds=TagMember)
async def create_teamwork_tag_member(gym: Gym, team_id: str, tag_id: str, user_id: str) -> Shown:
    """Give a tag to one more user.

    Returns the user with the id of the membership. Refused for an unknown tag or user (TAG_NOT_FOUND, USER_NOT_FOUND)
    and for a user who has the tag already (DUPLICATE_MEMBER).
    """
    tag, user = await _tag(gym, team_id, tag_id), await user_of(gym, user_id, "userId")
    if await gym.exists(TagMember, tagId=tag_id, userId=user.user_id):
        raise ToolError("DUPLICATE_MEMBER", f"User {user.user_id} has the tag already.", "userId")
    (member,) = await _members(gym, tag, [user])
    await gym.insert(member)
    return {
        "@odata.context": context(f"teams('{team_id}')/tags('{tag_id}')/members/$entity"),
        "id": member.id,
        "displayName": member.displayName,
        "tenantId": member.tenantId,
        "userId": member.userId,
    }
