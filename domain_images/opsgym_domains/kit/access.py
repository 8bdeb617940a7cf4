"""Access `strict`: permissions, row visibility and process rules for every tool of every domain.

Invariant: in `strict` every call has an identified, active user whose role permits the tool at that moment; rows
outside the user's scope are invisible to it; and a write that a process rule refuses changes nothing. Access
`published` runs none of these checks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import ForeignKey, FromClause, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.schema import Row

if TYPE_CHECKING:
    from opsgym_domains.kit.gym import Actor, Gym
    from opsgym_domains.kit.tools import Tool

ORGANISATION = "org_id"
"""Column with the organisation of a row."""
READ, WRITE = "read", "crud"
"""Actions of a permission: `crud` includes reading."""

R = TypeVar("R", bound=Row)
WriteRule = Callable[["Gym", R, R | None], Awaitable[str | None]]
"""Checks a write: gets the row after and before the write (None for a new row). Returns why the write is refused and
what to do instead, or None if it is allowed. It checks only what the write changes, so that a row that already violates
a rule can still be updated."""
DeleteRule = Callable[["Gym", R], Awaitable[str | None]]
"""Checks a deletion. Returns why the row cannot be deleted, or None if it can."""
AnyWriteRule = Callable[["Gym", Any, Any], Awaitable[str | None]]
"""A declared write rule, typed so that one function can be declared for several row classes."""
Scope = Callable[[FromClause, "Actor"], list[ColumnElement[bool]]]
"""Conditions that select the rows of a table that an acting user may see; empty if all are visible."""
Actions = Callable[[AsyncSession, "Actor", str], Awaitable[Collection[str]]]
"""Actions (`READ`, `WRITE`) that the domain's tables currently permit an acting user on a resource."""


Transitions = Mapping[str, Collection[str]]
"""Allowed next states by state; a state without an entry is final."""


@dataclass(frozen=True)
class _Rule:
    number: str
    code: str
    check: Callable[..., Awaitable[str | None]]

    async def enforce(self, *arguments: Any) -> None:
        refusal = await self.check(*arguments)
        if refusal is not None:
            raise ToolError(self.code, f"rule {self.number}: {refusal}")


class Rulebook:
    """Process rules of a domain by row class, in the order of declaration."""

    def __init__(self) -> None:
        self._writes: dict[type[Row], list[_Rule]] = {}
        self._deletes: dict[type[Row], list[_Rule]] = {}

    def on_write(self, kind: type[R], number: str, code: str) -> Callable[[WriteRule[R]], AnyWriteRule]:
        """Declares a function as a rule for every new and every changed row.

        Args:
            kind: Row class.
            number: Number of the rule in the domain's policy.
            code: Error code of a refusal.
        """

        def declare(check: WriteRule[R]) -> AnyWriteRule:
            self._writes.setdefault(kind, []).append(_Rule(number, code, check))
            return check

        return declare

    def on_delete(self, kind: type[R], number: str, code: str) -> Callable[[DeleteRule[R]], DeleteRule[R]]:
        """Declares a function as a rule for every deleted row; arguments as for `on_write`."""

        def declare(check: DeleteRule[R]) -> DeleteRule[R]:
            self._deletes.setdefault(kind, []).append(_Rule(number, code, check))
            return check

        return declare

    def declare(self, number: str, code: str, check: AnyWriteRule, *kinds: type[Row]) -> None:
        """Declares a check (see `desk`) as a rule for every new and every changed row of several row classes."""
        for kind in kinds:
            self.on_write(kind, number, code)(check)

    @property
    def numbers(self) -> frozenset[str]:
        """Numbers of all rules."""
        return frozenset(
            rule.number for by_kind in (self._writes, self._deletes) for rules in by_kind.values() for rule in rules
        )

    async def check_write(self, gym: Gym, after: R, before: R | None) -> None:
        """Checks a write against all rules of its row class.

        Raises:
            ToolError: A rule refuses it.
        """
        for rule in self._writes.get(type(after), ()):
            await rule.enforce(gym, after, before)

    async def check_delete(self, gym: Gym, row: Row) -> None:
        """Checks a deletion against all rules of its row class.

        Raises:
            ToolError: A rule refuses it.
        """
        for rule in self._deletes.get(type(row), ()):
            await rule.enforce(gym, row)


@dataclass(frozen=True)
class AccessRules:
    """Access rules that a domain enforces in `strict`."""

    resources: Mapping[str, str]
    """Resource of each tool, as the permissions name it."""
    actions: Actions
    rulebook: Rulebook
    identity_rule: str
    """Number of the policy rule that requires an acting user."""
    permission_rule: str
    """Number of the policy rule that defines the permissions of roles."""
    scope: Scope = lambda table, actor: own_rows(table, actor.org_id)
    """Rows that an acting user may see; by default those of the user's organisation."""
    unseen: Collection[str] = frozenset()
    """Columns, as `table.column`, that may refer to rows that the acting user does not see. Rows outside the domain's
    own scope stay out of reach."""
    policy: Callable[[], str] | None = None
    """Reads the policy that applies in addition to the domain's policy (Markdown); None if there is none."""

    async def admit(self, session: AsyncSession, actor: Actor, tool: Tool) -> None:
        """Checks that an acting user may use a tool.

        Raises:
            ToolError: `ACTING_USER_REQUIRED`, `USER_INACTIVE`, `PERMISSION_DENIED`.
        """
        if actor.anonymous:
            raise ToolError(
                "ACTING_USER_REQUIRED",
                f"rule {self.identity_rule}: the call has no acting user; send the identity header",
            )
        if not actor.active:
            message = f"rule {self.identity_rule}: the account {actor.user_id} is inactive and has no permissions"
            raise ToolError("USER_INACTIVE", message)
        resource = self.resources[tool.name]
        actions = await self.actions(session, actor, resource)
        if WRITE in actions or (READ in actions and not tool.writes):
            return
        raise ToolError(
            "PERMISSION_DENIED",
            f"rule {self.permission_rule}: {actor.user_id} ({actor.role}) may not {'change' if tool.writes else 'read'}"
            f" {resource}, so {tool.name} is refused; report that a user with this permission is required",
        )


def own_rows(table: FromClause, org_id: str | None) -> list[ColumnElement[bool]]:
    """Conditions that select an organisation's rows of a table.

    A row without an organisation column belongs to the organisation of the rows that it refers to; a table without such
    references is visible to all organisations.
    """
    if ORGANISATION in table.columns:
        return [table.columns[ORGANISATION] == org_id]
    return [
        or_(
            key.parent.is_(None),
            key.parent.in_(select(key.column).where(key.column.table.columns[ORGANISATION] == org_id)),
        )
        for key in references(table)
        if ORGANISATION in key.column.table.columns
    ]


def references(table: FromClause) -> list[ForeignKey]:
    """Foreign keys of a table, sorted by column."""
    return sorted(table.foreign_keys, key=lambda key: str(key.parent.name))
