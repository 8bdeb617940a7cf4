"""The acting user of a call.

Invariant: the token in the identity header is compared exactly; without a header the database's first user acts, which
access `strict` refuses. An account that is disabled or deleted is inactive.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import and_, case, false, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.identity import FIRST, identify_by
from opsgym_domains.teams.tables import User, UserRole
from opsgym_domains.teams.visibility import ADMINISTRATORS

HEADER = PUBLISHED_SERVERS["teams"].header
_NOBODY = "User"
"""Role of a user without a directory role, as published seeds name it."""
_active = and_(
    func.coalesce(User.account_enabled, true()).is_(True), func.coalesce(User.soft_deleted, false()).is_(False)
)
_by_token = identify_by(
    User.static_token,
    header=HEADER,
    org=User.org_id,
    active=_active,
    otherwise=FIRST,
    unknown="Access token is invalid: it does not match any user.",
)


async def identify(session: AsyncSession, value: str | None) -> Actor:
    """The acting user of a call, with the directory role that allows the most.

    Raises:
        Unidentified: No user has the token.
    """
    actor = await _by_token(session, value)
    first = case((UserRole.role_name.in_(ADMINISTRATORS), 0), else_=1)
    roles = select(UserRole.role_name).where(UserRole.user_id == actor.user_id).order_by(first, UserRole.role_name)
    return replace(actor, role=await session.scalar(roles.limit(1)) or _NOBODY)
