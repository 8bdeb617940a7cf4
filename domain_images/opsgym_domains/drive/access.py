"""Access `strict`: who may act, and what enforces the roles on files and shared drives.

Invariant: every active user may use every tool; which files and drives a call reaches, and what it may do there, is
decided by the permissions at that moment (`reach`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files

from sqlalchemy.ext.asyncio import AsyncSession

from opsgym_domains.drive.rules import RULEBOOK
from opsgym_domains.kit.access import READ, WRITE, AccessRules
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.tools import Tool


def access_rules(tools: Mapping[str, Tool]) -> AccessRules:
    """Access rules of Drive.

    Args:
        tools: All of its tools.
    """
    return AccessRules(
        resources={name: tool.run.__module__.rpartition(".")[2] for name, tool in tools.items()},
        actions=_actions,
        rulebook=RULEBOOK,
        identity_rule="ID-1",
        permission_rule="ID-2",
        policy=lambda: files("opsgym_domains.drive").joinpath("policy-strict.md").read_text(encoding="utf-8"),
    )


async def _actions(_session: AsyncSession, _actor: Actor, _resource: str) -> Collection[str]:
    return READ, WRITE
