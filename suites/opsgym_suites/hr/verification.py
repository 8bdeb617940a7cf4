"""Builder of the verifiers of HR tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import METADATA, HrCase, HrCaseTask, HrProfile, Knowledge, Notification, User
from opsgym_domains.kit.schema import Row
from opsgym_suites.hr.effects import EFFECTS
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.derived_verifiers import Expected, Harmless, OfActor, VerifierBuilder
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.effects import RowType
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Present

NOTES = Harmless("worknotes", "As the request says")
_OF_ROWS: Mapping[RowType, Mapping[str, object]] = {
    HrCase: {"number": Present(), "status": "draft", "priority": "planning", "opened_by": OfActor("user_id")},
    HrCaseTask: {"number": Present(), "active": True},
    HrProfile: {"number": Present()},
    Knowledge: {"kb_number": Present(), "state": "published", "visibility": "internal"},
    Notification: {"type": "other", "status": "draft"},
    User: {"static_token": Present(), "active": True},
}


def _defaults() -> dict[RowType, Mapping[str, object]]:
    """What the server gives new rows: what their types declare, and the organisation."""
    kinds = [mapper.class_ for mapper in Row.registry.mappers if mapper.class_.__table__.metadata is METADATA]
    return {
        kind: {**kind.defaults, **_OF_ROWS.get(kind, {}), **({"org_id": 1} if kind.owner else {})} for kind in kinds
    }


VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        "add_new_user": "USR-1, PRO-6",
        "update_user_details": "USR-2, PRO-5",
        "add_new_user_group": "ID-3",
        "update_user_group": "ID-3",
        "add_new_group_member": "PRO-6",
        "remove_group_membership": "USR-2",
        "onboard_new_hr_profile": "PRO-2, PRO-6",
        "update_hr_profile": "PRO-1, PRO-2, PRO-4",
        "offboard_hr_profile": "PRO-4, PRO-5",
        "offboard_hr_profiles": "PRO-4, PRO-5",
        "create_new_hr_service": "ID-3",
        "update_hr_service": "ID-3",
        "delete_hr_service": "ID-3",
        "add_new_topic_detail": "ID-3",
        "update_topic_detail": "ID-3",
        "add_new_topic_category": "ID-3",
        "update_topic_category": "ID-3",
        "create_new_service_template": "ID-3",
        "update_service_template": "ID-3",
        "register_hr_criteria": "CNF-2",
        "update_hr_criteria": "CNF-2, APR-1",
        "add_new_skill": "ID-3",
        "update_skill": "ID-3",
        "add_new_skill_to_user": "CAS-6",
        "remove_user_skills": "CAS-6",
        "create_new_hr_case": "CAS-1, CAS-2",
        "update_hr_case": "CAS-3, CAS-4",
        "create_hr_case_task": "TSK-2, TSK-3",
        "update_hr_case_task": "TSK-4, CAS-4",
        "create_checklist": "TSK-4",
        "update_checklist": "TSK-4",
        "create_survey": "ID-3",
        "update_survey": "ID-3",
        "create_survey_instance": "SUR-1",
        "update_survey_instance": "SUR-1",
        "add_new_assignment_rule": "RUL-1, RUL-2",
        "update_assignment_rules": "RUL-1, RUL-2",
        "add_new_escalation_rule": "RUL-3",
        "remove_escalation_rule": "RUL-3",
        "create_knowledge_article": "KB-2",
        "update_knowledge_article": "KB-2",
        "link_knowledge_to_hr_case": "KB-1",
        "remove_knowledge_link_to_hr_case": "KB-1",
        "send_notification": "NTF-1, NTF-2",
        "update_notification": "NTF-1, NTF-2",
        "delete_notifications": "NTF-1",
    },
    free_text={"short_description", "worknotes", "checklist_item_description"},
    defaults=_defaults(),
    harmless={
        "create_new_hr_case": (NOTES,),
        "update_hr_case": (NOTES,),
        "create_hr_case_task": (NOTES,),
        "update_hr_case_task": (NOTES, Harmless("active", False, when={"status": "closed_complete"})),
    },
)
NOT_STARTED: Expected = {"create_hr_case_task": {"status": ["draft", "ready"]}}
"""A new task may wait in either status."""


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
    conditions = {**NOT_STARTED, **(expect or {})}
    return VERIFIERS.with_verifiers(world, draft, event, rules=rules, expect=conditions, optional=optional)
