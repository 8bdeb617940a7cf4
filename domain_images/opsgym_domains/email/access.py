"""Access `strict`: who may act, and which mailboxes a user reaches.

Invariant: every active user may use every tool, on rows of the user's own mailbox and of those whose owner made the
user a delegate. What a delegate may do there is a process rule (`rules`). A user whose default profile is inactive
may not act.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files

from sqlalchemy import ColumnElement, FromClause, Select, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from opsgym_domains.email.rules import RULEBOOK
from opsgym_domains.email.tables import Delegate, Profile, User
from opsgym_domains.kit.access import READ, WRITE, AccessRules
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.tools import Tool

IS_ACTIVE: ColumnElement[bool] = ~exists().where(
    Profile.user_id == User.id, Profile.is_default.is_(True), Profile.active.is_(False)
)
"""Whether a user may act in `strict`."""


def access_rules(tools: Mapping[str, Tool]) -> AccessRules:
    """Access rules of the email server.

    Args:
        tools: All of its tools.
    """
    return AccessRules(
        resources={name: tool.run.__module__.rpartition(".")[2] for name, tool in tools.items()},
        actions=_actions,
        rulebook=RULEBOOK,
        identity_rule="ID-1",
        permission_rule="ID-2",
        scope=own_mailboxes,
        policy=lambda: files("opsgym_domains.email").joinpath("policy-strict.md").read_text(encoding="utf-8"),
    )


async def _actions(_session: AsyncSession, _actor: Actor, _resource: str) -> Collection[str]:
    return READ, WRITE


def own_mailboxes(table: FromClause, actor: Actor) -> list[ColumnElement[bool]]:
    """Conditions of the rows of a table that belong to mailboxes which a user may open.

    A table without `user_id` has none: its rows are reached through a message, an alias or a key pair, which have it.
    """
    if "user_id" not in table.columns:
        return []
    owner = table.columns["user_id"]
    return [or_(owner == actor.user_id, owner.in_(_delegated(actor)))]


def _delegated(actor: Actor) -> Select[str]:
    """Owners of the mailboxes in which a user is a delegate."""
    delegate, user = aliased(Delegate), aliased(User)
    is_user = func.lower(user.primary_email) == func.lower(delegate.delegate_email)
    accepted = delegate.verification_status == "accepted"
    return select(delegate.user_id).join(user, is_user).where(user.id == actor.user_id, accepted)
