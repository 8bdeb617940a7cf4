"""Teams."""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import (
    Shown,
    bound,
    context,
    dumped,
    filters,
    loaded,
    next_link,
    offset_of,
    picked,
    shown_time,
    skip_token,
    stored,
)
from opsgym_domains.teams.groups import add_group_of_team
from opsgym_domains.teams.memberships import new_hex, new_members
from opsgym_domains.teams.odata import Columns, parse_select
from opsgym_domains.teams.people import tenant_of
from opsgym_domains.teams.tables import Group, Team, Template
from opsgym_domains.teams.team_settings import SETTINGS
from opsgym_domains.teams.toolbox import tool

COLUMNS: Columns = {
    "id": Team.team_id,
    "displayName": Team.display_name,
    "description": Team.description,
    "visibility": Team.visibility,
    "specialization": Team.specialization,
    "classification": Team.classification,
    "isArchived": Team.is_archived,
    "createdDateTime": Team.created_date_time,
}


def shown_team(team: Team, tenant: str | None) -> Shown:
    """A team with its settings."""
    return {
        "id": team.team_id,
        "internalId": team.internal_id or team.team_id,
        "tenantId": tenant,
        "displayName": team.display_name,
        "description": team.description,
        "visibility": team.visibility,
        "specialization": team.specialization,
        "classification": team.classification,
        "memberSettings": loaded(team.member_settings),
        "guestSettings": loaded(team.guest_settings),
        "messagingSettings": loaded(team.messaging_settings),
        "funSettings": loaded(team.fun_settings),
        "classSettings": None,
        "isArchived": bool(team.is_archived),
        "createdDateTime": shown_time(team.created_date_time, ""),
        "summary": None,
        "webUrl": team.web_url,
        "members": None,
        "channels": None,
        "installedApps": None,
        "incomingChannels": None,
    }


_LISTED = (
    "id", "displayName", "description", "visibility", "specialization", "isArchived", "webUrl", "createdDateTime",
    "internalId", "classification", "tenantId", "memberSettings", "guestSettings", "messagingSettings", "funSettings",
)  # fmt: skip


def listed_team(team: Team, tenant: str | None) -> Shown:
    """A team in a list."""
    whole = shown_team(team, tenant)
    shown = {name: whole[name] for name in _LISTED}
    related = {
        "discoverySettings": loaded(team.discovery_settings),
        "incomingChannels": loaded(team.incoming_channels),
    }
    return shown | {name: value for name, value in related.items() if value is not None}


PROPERTIES = (*shown_team(Team(), None), "discoverySettings")
"""Properties of a team."""


@tool(adds=Team)
async def create_team(
    gym: Gym,
    template_odata_bind: str,
    display_name: str | None = None,
    group_odata_bind: str | None = None,
    members: list[Shown] | None = None,
    tenant_id: str | None = None,
    microsoft_graph_team_creation_mode: str | None = None,
    first_channel_name: str | None = None,
    channels: list[Shown] | None = None,
    installed_apps: list[Shown] | None = None,
    class_settings: Shown | None = None,
    **fields: Any,
) -> Shown:
    """Create a team from a template, with at least one owner among its members.

    Returns the finished operation, whose targetResourceId is the id of the team. A group with the same people is made
    too, unless the call names one. The team starts without channels and apps, also where the call names some: create
    them afterwards. Refused without a template (TEMPLATE_NOT_FOUND),
    without a name for a team that no group gives one, and without an owner.
    """
    del tenant_id, first_channel_name, channels, installed_apps, class_settings  # as in the published server
    template = await _template(gym, template_odata_bind)
    _require_owner(members)
    group = await _group(gym, group_odata_bind) if group_odata_bind else None
    name = display_name or (group.display_name if group else None)
    if not name:
        raise ToolError("MISSING_FIELD", "displayName is required to create a team without a group.", "displayName")
    key = await new_hex(gym)
    settings = {column: {**default, **(fields.pop(column, None) or {})} for column, default in SETTINGS.items()}
    team = Team(
        team_id=f"team_{key}",
        internal_id=f"team_{key}",
        group_id=group.group_id if group else key,
        template_id=template.template_id,
        display_name=name,
        members=dumped(await new_members(gym, members or ())),
        is_archived=False,
        migration_mode=microsoft_graph_team_creation_mode is not None,
        web_url=f"https://teams.microsoft.com/l/team/team_{key}",
        soft_delete=False,
        **stored({**settings, **fields}),
    )
    await gym.insert(team)
    if group is None:
        await add_group_of_team(gym, team)
    return _created(team, shown_time(gym.now(), "+00:00"))


async def _template(gym: Gym, reference: str) -> Template:
    key = bound(reference, ("teamsTemplates",), "template_odata_bind")
    template = await gym.find(Template, template_id=key)
    if template is None:
        raise ToolError("TEMPLATE_NOT_FOUND", f"Team template '{key}' does not exist.", "template_odata_bind")
    return template


async def _group(gym: Gym, reference: str) -> Group:
    return await gym.fetch(Group, bound(reference, ("groups",), "group_odata_bind"), field="group_odata_bind")


def _require_owner(members: list[Shown] | None) -> None:
    if not members:
        message = (
            "members collection is required when using Application permissions. "
            "At least one member with 'owner' role must be specified."
        )
        raise ToolError("OWNER_REQUIRED", message, "members")
    if not any("owner" in (member.get("roles") or ()) for member in members):
        raise ToolError("OWNER_REQUIRED", "At least one member must have the 'owner' role", "members")


def _created(team: Team, finished: str | None) -> Shown:
    key = team.team_id
    return {
        "@odata.context": context(f"teams('{key}')/operations/$entity"),
        "id": key,
        "operationType": "createTeam",
        "createdDateTime": shown_time(team.created_date_time, ""),
        "status": "succeeded",
        "lastActionDateTime": finished,
        "attemptsCount": 1,
        "targetResourceId": key,
        "targetResourceLocation": f"/teams('{key}')",
        "values": json.dumps({"TeamId": key, "Messages": ["Team created"]}, separators=(",", ":")),
    }


@tool(row=Team)
async def list_teams(
    gym: Gym,
    top: int = 50,
    skiptoken: str | None = None,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
    count: bool = False,
) -> Shown:
    """List the teams of your organisation.

    In the order of their creation, deleted ones left out. Further pages are at @odata.nextLink: pass its $skiptoken.
    Refused with INVALID_FILTER, UNKNOWN_PROPERTY or INVALID_SKIP_TOKEN where an option cannot be read.
    """
    names, start = parse_select(select, PROPERTIES), offset_of(skiptoken)
    teams, total = await gym.page(Team, filters(filter, COLUMNS), (), start, top, newest_first=False)
    tenant = await tenant_of(gym)
    shown = [picked(listed_team(team, tenant), names) for team in teams]
    listed: Shown = {"@odata.context": context("teams")}
    if count:
        listed["@odata.count"] = total
    if start + top < total:
        given = {"filter": filter, "select": select, "count": count}
        listed["@odata.nextLink"] = next_link("teams", {"top": top, **given, "skiptoken": skip_token(start + top)})
    return listed | {"value": shown}


@tool(changes=Team)
async def update_team(gym: Gym, team_id: str, **fields: Any) -> Shown:
    """Change the name, description, visibility or settings of a team.

    Properties that are not given keep their value, also within a group of settings. Returns the whole team. Refused
    without a property to change (NO_FIELDS_TO_UPDATE) and for an unknown team (TEAM_NOT_FOUND).
    """
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give at least one property to change besides teamId.")
    team = await gym.fetch(Team, team_id, field="teamId")
    merged = {
        name: {**loaded(getattr(team, name), {}), **value} if name in SETTINGS else value
        for name, value in fields.items()
    }
    return shown_team(await gym.update(team, stored(merged)), await tenant_of(gym))


@tool(changes=Team)
async def delete_team(gym: Gym, team_id: str) -> None:
    """Delete a team, with its group.

    Team and group no longer show, nor do the team's channels. Refused for an unknown team (TEAM_NOT_FOUND).
    """
    team = await gym.fetch(Team, team_id, field="teamId")
    group = await gym.find(Group, group_id=team.group_id)
    await gym.update(team, {"soft_delete": True})
    if group is not None:
        await gym.update(group, {"soft_delete": True})
