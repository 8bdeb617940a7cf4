"""Acting user of a call: the user whose row has the value of the identity header.

Invariant: the value is compared exactly. A call without a header is anonymous or refused, as the domain declares;
access `strict` refuses anonymous calls. The value of a new user follows from the user's row.
"""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import Any

from sqlalchemy import ColumnElement, bindparam, literal, literal_column, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from opsgym_domains.kit.domain import Identify
from opsgym_domains.kit.errors import Unidentified
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.schema import ROW_ORDER, key_column


class Otherwise(Enum):
    """What happens to a call without an identity header."""

    FIRST = "first"
    """The database's first user acts, since published tasks call some tools without a header."""
    REFUSE = "refuse"


FIRST, REFUSE = Otherwise.FIRST, Otherwise.REFUSE


def identify_by(
    column: InstrumentedAttribute[Any],
    *,
    header: str,
    org: InstrumentedAttribute[Any] | None = None,
    role: InstrumentedAttribute[Any] | None = None,
    active: InstrumentedAttribute[Any] | ColumnElement[bool] | None = None,
    otherwise: Otherwise = REFUSE,
    unknown: str | None = None,
) -> Identify:
    """A function that finds the acting user of a call.

    Args:
        column: Column of the users' table with the value that the header contains.
        header: Name of the header, for refusals.
        org: Column with the user's organisation; None if the domain has none.
        role: Column with the user's role; None if the domain has none.
        active: Column or condition that says whether the account is active; None if all are.
        otherwise: What happens without a header.
        unknown: Message for a value that no user has; None for a general one.
    """
    user = column.parent.class_
    absent = literal(None)
    statement = select(
        getattr(user, key_column(user)),
        absent if org is None else org,
        absent if role is None else role,
        literal(True) if active is None else active,
    )
    known = statement.where(column == bindparam("identity"))
    first = statement.select_from(user).order_by(literal_column(ROW_ORDER)).limit(1)

    async def identify(session: AsyncSession, value: str | None) -> Actor:
        if not value and otherwise is REFUSE:
            raise Unidentified("IDENTITY_REQUIRED", f"the {header} header is required; it identifies the acting user")
        row = (await session.execute(known, {"identity": value}) if value else await session.execute(first)).first()
        if row is not None:
            user_id, org_id, role_name, is_active = row
            return Actor(user_id, org_id, role_name, is_active, anonymous=not value)
        if not value:
            raise Unidentified("UNAUTHORIZED", "the database has no users, so no user can act")
        raise Unidentified("UNAUTHORIZED", unknown or f"the {header} header does not match any user")

    return identify


def token_of(role: str, user_id: str | int, email: str) -> str:
    """Access token of a new user. Derived instead of random, so that the same calls produce the same database."""
    return f"{role}_token_{hashlib.sha256(f'{user_id}:{email}'.encode()).hexdigest()[:24]}"
