"""Builder of the verifiers of CSM tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import CaseSla, CustomerCase, Interaction, Knowledge, Notification
from opsgym_suites.csm.calls import timestamp
from opsgym_suites.csm.effects import EFFECTS
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.derived_verifiers import Expected, Harmless, VerifierBuilder, during_the_work
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.effects import WrittenRow
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Between, Present

ENDED = Harmless("ended_at", lambda world: timestamp(world.now), allowed=during_the_work, when={"status": "handled"})
VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        "add_new_user": "ACC-2",
        "update_user_details": "ACC-3, ACC-5",
        "add_new_user_group": "ID-4",
        "update_user_group": "ID-4",
        "add_new_group_member": "CAS-5",
        "remove_group_membership": "ACC-5",
        "add_location": "ID-4",
        "update_location": "ID-4",
        "create_new_account": "ACC-1",
        "update_account_details": "ACC-4",
        "create_contact": "ACC-1, ACC-2",
        "update_contact": "ACC-1, ACC-3",
        "add_new_product": "ID-4",
        "update_product": "PRD-2",
        "delete_products": "ID-4",
        "register_new_installed_product": "PRD-1",
        "update_installed_product_details": "PRD-2, PRD-3",
        "enlist_new_contract": "CON-1, CON-3",
        "update_contract": "CON-2",
        "add_new_entitlement": "CON-2",
        "update_entitlement": "CON-2, CON-3",
        "add_new_sla_definition": "SLA-1",
        "update_sla_definition": "SLA-1",
        "create_new_case": "CAS-1, CAS-2",
        "update_case": "CAS-5",
        "assign_case_to_user": "CAS-5",
        "set_case_assignment_group": "CAS-5",
        "link_new_case_sla": "SLA-1",
        "update_case_sla_details": "SLA-3, SLA-4, SLA-5",
        "delete_case_slas": "SLA-2",
        "register_new_interaction": "INT-1",
        "update_interaction": "INT-1",
        "create_knowledge": "KB-3",
        "update_knowledge": "KB-3",
        "link_case_knowledge": "KB-1, CAS-7",
        "updated_linked_case_knowledge": "KB-1",
        "delete_case_knowledge_linkages": "KB-4",
        "send_notification": "NTF-1, NTF-2, NTF-3",
        "update_notification": "NTF-2",
        "delete_notifications": "NTF-2",
    },
    free_text={"short_description", "body"},
    defaults={
        CustomerCase: {"number": Present(), "escalation": False, "reopen_count": 0},
        CaseSla: {"has_breached": False, "start_time": during_the_work},
        Interaction: {"started_at": during_the_work},
        Knowledge: {"kb_number": Present()},
        Notification: {"status": "success"},
    },
    harmless={
        "register_new_interaction": (ENDED,),
        "update_interaction": (ENDED,),
    },
)


def around(time: datetime) -> Between:
    """Condition: a time that a solution gives as the current one; an agent may round it, or count its own work in."""
    return Between(time - timedelta(minutes=1), time + timedelta(hours=1))


def _current_time(column: str) -> Callable[[WrittenRow], Mapping[str, Any]]:
    """Condition on a column that holds the current time, in rows that a solution gives it."""
    return lambda row: {column: around(row.values[column])} if row.values.get(column) else {}


CURRENT_TIMES: Expected = {
    "update_case": _current_time("closed_on"),
    "update_case_sla_details": _current_time("completed_time"),
}
"""Columns that the policy sets to the current time [CAS-8, SLA-5], by tool."""


def with_verifiers(
    world: World,
    draft: Draft,
    event: ScenarioEvent[World] | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    expect: Expected | None = None,
    optional: Sequence[ToolCall] = (),
) -> Draft:
    """A draft with derived verifiers in addition to its own; see `VerifierBuilder.with_verifiers`."""
    conditions = {**CURRENT_TIMES, **(expect or {})}
    return VERIFIERS.with_verifiers(world, draft, event, rules=rules, expect=conditions, optional=optional)


def with_scenario_verifiers(
    draft: Draft,
    event: ScenarioEvent[World] | None = None,
    *,
    world: World,
    rules: Mapping[str, str] | None = None,
    expect: Expected | None = None,
    optional: Sequence[ToolCall] = (),
) -> Draft:
    """`with_verifiers` for a scenario."""
    return with_verifiers(world, draft, event, rules=rules, expect=expect, optional=optional)
