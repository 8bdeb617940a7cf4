"""Escalation rules: to which group a group escalates its cases. Agents apply them; no tool escalates by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.filters import refuse_no_filters
from opsgym_domains.hr.results import Shown, referred
from opsgym_domains.hr.tables import EscalationRule, UserGroup
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import as_dict


@tool(row=EscalationRule)
async def list_escalation_rules(gym: Gym, **filters: Any) -> list[Shown]:
    """List escalation rules that match all filters, lowest id first, with the names of both groups.

    Give at least one filter (MISSING_FILTER).
    """
    refuse_no_filters(filters)
    return await _named(gym, await gym.list(EscalationRule, filters))


@tool(adds=EscalationRule)
async def add_new_escalation_rule(gym: Gym, escalate_from: str, escalate_to: str) -> Shown:
    """Create an escalation rule from one group to another.

    Both groups must exist in your organisation and differ (SELF_REFERENCE); the rule must not exist yet
    (DUPLICATE_ESCALATION_RULE). Returns the new rule with the names of both groups.
    """
    source = await gym.fetch(UserGroup, escalate_from, field="escalate_from")
    target = await gym.fetch(UserGroup, escalate_to, field="escalate_to")
    if source is target:
        raise ToolError("SELF_REFERENCE", "a group cannot escalate to itself", "escalate_to")
    rule = EscalationRule(escalate_from=source.group_id, escalate_to=target.group_id)
    (added,) = await _named(gym, [await gym.insert(rule)])
    return added


@tool(removes=EscalationRule)
async def remove_escalation_rule(gym: Gym, escalation_rule_id: str) -> Shown:
    """Remove an escalation rule. Groups and cases do not change.

    Returns the removed rule with the names of both groups.
    """
    rule = await gym.fetch(EscalationRule, escalation_rule_id)
    (removed,) = await _named(gym, [rule])
    await gym.delete([rule])
    return removed


async def _named(gym: Gym, rules: Sequence[EscalationRule]) -> list[Shown]:
    """Rules with the names of their groups; null for a group that the acting user does not see."""
    groups = {name: await referred(gym, rules, name, UserGroup) for name in ("escalate_from", "escalate_to")}
    unseen: Shown = {"name": None}
    return [
        as_dict(rule)
        | {f"{name}_group_name": known.get(getattr(rule, name), unseen)["name"] for name, known in groups.items()}
        for rule in rules
    ]
