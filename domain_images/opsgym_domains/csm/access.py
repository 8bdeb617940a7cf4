"""Permissions of roles on tools, and visibility of rows, in access `strict`.

Invariant: staff see every row, customers only rows of their own account; a customer without an active contact sees no
row.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from sqlalchemy import FromClause, Select, false, select
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.csm.rules import RULEBOOK
from opsgym_domains.csm.tables import (
    Contact,
    CustomerCase,
    Knowledge,
    Location,
    Permission,
    Product,
    Role,
    RolePermission,
    User,
)
from opsgym_domains.kit.access import AccessRules
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.rbac import actions_by_role
from opsgym_domains.kit.tools import Tool


def access_rules(tools: Mapping[str, Tool]) -> AccessRules:
    """Access rules of customer service.

    Args:
        tools: All of its tools.
    """
    return AccessRules(
        resources={name: resource_of(tool) for name, tool in tools.items()},
        actions=actions_by_role(Role, Permission, RolePermission),
        rulebook=RULEBOOK,
        identity_rule="ID-1",
        permission_rule="ID-2",
        scope=_visible,
        policy=lambda: files("opsgym_domains.csm").joinpath("policy-strict.md").read_text(encoding="utf-8"),
    )


def resource_of(tool: Tool) -> str:
    """Resource of a tool: the name of the module that declares it."""
    return tool.run.__module__.rpartition(".")[2]


def _visible(table: FromClause, actor: Actor) -> list[ColumnElement[bool]]:
    if actor.role != "customer":
        return []
    columns = table.columns
    if table is User.__table__:
        return [columns["user_id"].in_(_portal_users(actor))]
    if table is Knowledge.__table__:
        return [columns["state"] == "published", columns["visibility"] == "external"]
    if "account_id" in columns:
        return [columns["account_id"].in_(_account(actor))]
    if "case_id" in columns:
        cases = select(CustomerCase.case_id).where(CustomerCase.account_id.in_(_account(actor)))
        return [columns["case_id"].in_(cases)]
    return [] if table in {Product.__table__, Location.__table__} else [false()]


def _account(actor: Actor) -> Select[int]:
    """Query for the account of a customer's active contact."""
    return select(Contact.account_id).where(Contact.portal_user_id == actor.user_id, Contact.active)


def _portal_users(actor: Actor) -> Select[int]:
    return select(Contact.portal_user_id).where(Contact.account_id.in_(_account(actor)))
