"""Which calendars a tool reaches, and with which role.

Invariant: in access `published` a tool reaches the calendars that the acting user owns, and only rules for exactly
this user count, as in the published server. In access `strict` it reaches every calendar that a rule shares with the
user, and the highest role of all rules that apply counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, or_

from opsgym_domains.calendar.tables import AclRule, Calendar, Scope, User
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ROLES = ("none", "freeBusyReader", "reader", "writer", "owner")
"""Roles, the lowest first."""
READERS, WRITERS, OWNERS = ("reader", "writer", "owner"), ("writer", "owner"), ("owner",)
BUSY_READERS = ("freeBusyReader", *READERS)


@dataclass(frozen=True)
class Reached:
    """A calendar that the acting user reaches, with the user's role; None if no rule applies."""

    calendar: Calendar
    role: str | None

    @property
    def rank(self) -> int:
        """Position of the role in `ROLES`; -1 if no rule applies."""
        return ROLES.index(self.role) if self.role in ROLES else -1


async def reach(gym: Gym, calendar_id: str, roles: Sequence[str] = (), *, prefix: str = "") -> Reached:
    """A calendar that the acting user may use.

    Args:
        gym: The call.
        calendar_id: Its id.
        roles: Roles of which the user must have one; empty if owning the calendar suffices.
        prefix: Text in front of the refusal of a role that is too low.

    Raises:
        ToolError: The calendar does not exist, is not shared with the user, or the role is too low.
    """
    calendar = await gym.get(Calendar, calendar_id)
    if calendar is None:
        raise ToolError("NOT_FOUND", f"Calendar with id '{calendar_id}' does not exist", "calendarId")
    reached = Reached(calendar, await role_on(gym, calendar))
    if not (reached.rank > 0 if gym.is_strict else calendar.user_id == gym.actor.user_id):
        message = f"Calendar with id '{calendar_id}' does not exist for user {gym.actor.user_id}"
        raise ToolError("NOT_FOUND", message, "calendarId")
    if roles and reached.role not in roles:
        message = f"{prefix}User '{gym.actor.user_id}' lacks required roles: {list(roles)}"
        raise ToolError("INSUFFICIENT_ROLE", message, "calendarId")
    return reached


async def role_on(gym: Gym, calendar: Calendar) -> str | None:
    """The highest role that rules give the acting user on a calendar; None if no rule applies."""
    scopes = [scope.id for scope in await gym.all(Scope, await _applies(gym))]
    rules = await gym.all(AclRule, AclRule.calendar_id == calendar.calendar_id, AclRule.scope_id.in_(scopes))
    return max((rule.role for rule in rules), key=ROLES.index, default=None)


async def reached_ids(gym: Gym) -> set[str]:
    """Ids of all calendars that rules share with the acting user with a role above none."""
    scopes = [scope.id for scope in await gym.all(Scope, await _applies(gym))]
    rules = await gym.all(AclRule, AclRule.scope_id.in_(scopes), AclRule.role != "none")
    return {rule.calendar_id for rule in rules}


async def actor_of(gym: Gym) -> User:
    """The acting user's row."""
    return await gym.fetch(User, gym.actor.user_id)


async def _applies(gym: Gym) -> ColumnElement[bool]:
    """Condition of the scopes that the acting user is in."""
    email = (await actor_of(gym)).email
    exactly = and_(Scope.type == "user", Scope.value == email)
    if not gym.is_strict:
        return exactly
    domain = and_(Scope.type == "domain", Scope.value == email.partition("@")[2])
    return or_(exactly, domain, Scope.type == "default")
