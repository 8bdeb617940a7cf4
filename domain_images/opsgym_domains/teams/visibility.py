"""Which rows a tool reaches.

Invariant: in every access a tool reaches only rows of the acting user's organisation that are not deleted, and rows of
tables without an organisation through the team, channel or chat that they belong to. In access `strict` it reaches, of
these, the teams that the user is in or that are public, the standard channels of the user's teams, the private and
shared channels that the user is a direct member of, and the chats that the user is in. Administrators reach every team
and every channel, and no other chats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, FromClause, cast, false, func, literal, or_, select
from sqlalchemy.dialects.postgresql import JSONB

from opsgym_domains.kit.gym import Actor
from opsgym_domains.teams.tables import (
    CallRecord,
    Channel,
    ChannelMember,
    Chat,
    ChatMember,
    Invited,
    SharedTeam,
    Team,
    Template,
    TownHall,
    TownHallCoOrganizer,
    UserRole,
)

ADMINISTRATORS = ("Global Administrator", "Teams Administrator")
"""Directory roles that reach every team and channel."""
SERVICE = "default"
"""Organisation of the templates that every organisation has."""
Conditions = list[ColumnElement[bool]]
_DELETED = ("soft_delete", "soft_deleted")


def of_organisation(table: FromClause, actor: Actor) -> Conditions:
    """Conditions of the rows that an acting user reaches in access `published`."""
    conditions: Conditions = [
        func.coalesce(table.columns[name], false()).is_(False) for name in _DELETED if name in table.columns
    ]
    if table is Template.__table__:
        return [*conditions, table.columns.org_id.in_([actor.org_id, SERVICE])]
    if "org_id" in table.columns:
        return [*conditions, table.columns.org_id == actor.org_id]
    return conditions


def of_member(table: FromClause, actor: Actor) -> Conditions:
    """Conditions of the rows that an acting user reaches in access `strict`, besides those of `of_organisation`."""
    if table.description in _OF:
        return [_OF[table.description](table.columns, actor)]
    columns = table.columns
    if "channel_id" in columns:
        return [columns.channel_id.in_(_channels(actor))]
    if "chat_id" in columns:
        return [columns.chat_id.in_(_chats(actor))]
    parents = ("team_id", "teamId")
    return [columns[name].in_(_teams(actor)) for name in parents if name in columns]


def _is_administrator(actor: Actor) -> ColumnElement[bool]:
    holds = select(literal(1)).where(UserRole.user_id == actor.user_id, UserRole.role_name.in_(ADMINISTRATORS))
    return holds.exists()


def _lists_member(members: Any, actor: Actor) -> ColumnElement[bool]:
    """Whether a JSON list of members has the acting user."""
    return cast(func.coalesce(members, "[]"), JSONB).contains([{"userId": actor.user_id}])


def _own_teams(actor: Actor) -> Any:
    return select(Team.team_id).where(_lists_member(Team.members, actor))


def _team(columns: Any, actor: Actor) -> ColumnElement[bool]:
    return or_(columns.visibility == "public", _lists_member(columns.members, actor), _is_administrator(actor))


def _teams(actor: Actor) -> Any:
    return select(Team.team_id).where(_team(Team.__table__.columns, actor))


def _channel(columns: Any, actor: Actor) -> ColumnElement[bool]:
    own = _own_teams(actor)
    direct = select(ChannelMember.channel_id).where(ChannelMember.user_id == actor.user_id)
    shared = select(SharedTeam.channel_id).where(SharedTeam.team_id.in_(own))
    return or_(
        (columns.membership_type == "standard") & columns.team_id.in_(own),
        columns.channel_id.in_(direct),
        columns.channel_id.in_(shared),
        _is_administrator(actor),
    )


def _channels(actor: Actor) -> Any:
    return select(Channel.channel_id).where(_channel(Channel.__table__.columns, actor))


def _chat(columns: Any, actor: Actor) -> ColumnElement[bool]:
    return columns.chat_id.in_(_chats(actor))  # type: ignore[no-any-return]


def _chats(actor: Actor) -> Any:
    return select(ChatMember.chat_id).where(ChatMember.user_id == actor.user_id)


def _town_hall(columns: Any, actor: Actor) -> ColumnElement[bool]:
    co_organised = select(TownHallCoOrganizer.townhall_id).where(TownHallCoOrganizer.user_id == actor.user_id)
    invited = select(Invited.townhall_id).where(Invited.identity_id == actor.user_id)
    return or_(
        func.coalesce(columns.is_invite_only, false()).is_(False),
        columns.created_by_user_id == actor.user_id,
        columns.id.in_(co_organised),
        columns.id.in_(invited),
        _is_administrator(actor),
    )


def _call_record(columns: Any, actor: Actor) -> ColumnElement[bool]:
    quoted = f'"{actor.user_id}"'
    return or_(
        columns.organizer.contains(quoted, autoescape=True),
        columns.participants.contains(quoted, autoescape=True),
        _is_administrator(actor),
    )


_OF: dict[str, Callable[[Any, Actor], ColumnElement[bool]]] = {
    Team.__tablename__: _team,
    Channel.__tablename__: _channel,
    Chat.__tablename__: _chat,
    ChatMember.__tablename__: _chat,
    TownHall.__tablename__: _town_hall,
    CallRecord.__tablename__: _call_record,
}
"""Condition of the rows of a table, where a column with a team, channel or chat does not decide alone."""
