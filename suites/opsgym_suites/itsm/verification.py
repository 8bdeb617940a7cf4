"""Builder of the verifiers of ITSM tasks."""

from __future__ import annotations

import re

from opsgym_domains.itsm.tables import (
    Change,
    ChangeRequestMapping,
    ConfigurationItem,
    Incident,
    IncidentAffectedCi,
    IncidentKnowledge,
    IncidentSla,
    IncidentTemplate,
    Knowledge,
    Location,
    Notification,
    Problem,
    Service,
    ServiceOffering,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
    UserRole,
)
from opsgym_suites.itsm.effects import EFFECTS
from opsgym_suites.kit.derived_verifiers import Harmless, OfActor, VerifierBuilder, during_the_work
from opsgym_suites.kit.verifiers import May, Present

FREE_TEXT = frozenset(
    {
        "short_description",
        "description",
        "worknotes",
        "resolution_notes",
        "close_notes",
        "problem_statement",
        "workaround",
        "fix_notes",
        "subject",
        "message",
        "body",
        "implementation_plan",
        "testing_plan",
    }
)
OWN = {"org_id": OfActor("org_id")}
NUMBERED = {**OWN, "number": Present()}
RATED = {"impact": "low", "urgency": "low", "priority": "planning"}
OPERATED = {
    "used_for": "production",
    "status": "operational",
    "service_classification": "business",
    "business_criticality": "not-critical",
}
TEXT = "Noted by the desk."
"""A text that says nothing that a record could contradict."""
VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        "update_incident": "INC-1, PRC-1",
        "create_incident": "INC-3",
        "update_problem": "PRB-3, PRC-3",
        "create_problem": "PRB-1, PRB-2",
        "update_change": "PRC-5",
        "create_change": "CHG-1, CHG-2",
        "map_change_request": "CHG-3",
        "delete_change_request_mappings": "CHG-3",
        "send_notification": "NTF-2",
        "delete_notifications": "NTF-2",
        "add_child_incident": "INC-11",
        "link_new_incident_sla": "SLA-1, SLA-2",
        "update_incident_sla_details": "SLA-2",
        "add_new_user": "USR-1",
        "update_user_details": "USR-1",
        "add_new_user_group": "USR-2",
        "add_new_group_member": "USR-2",
        "remove_group_membership": "USR-2",
        "update_knowledge_article": "PRC-8",
        "create_knowledge_article": "PRC-8",
        "link_knowledge_to_incident": "KB-1",
    },
    free_text=FREE_TEXT,
    numbers_in=("subject", re.compile(r"\bINC-?\d+")),
    defaults={
        User: {**OWN, "active": True, "user_name": Present(), "static_token": Present()},
        UserRole: OWN,
        UserGroup: {**OWN, "active": True, "manager_id": OfActor("user_id")},
        UserGroupMember: OWN,
        Location: {**OWN, "active": True},
        IncidentTemplate: {**OWN, **RATED, "active": True},
        ConfigurationItem: OWN,
        Service: {**OWN, **OPERATED},
        ServiceOffering: {**OWN, **OPERATED},
        Change: {**NUMBERED, "category": "other", "requested_by": OfActor("user_id")},
        ChangeRequestMapping: OWN,
        Problem: {**NUMBERED, "opened_by": OfActor("user_id")},
        Incident: {**NUMBERED, **RATED, "status": "new", "category": "inquiry-help"},
        Knowledge: {**OWN, "kb_number": Present(), "state": "published", "visibility": "internal"},
        IncidentKnowledge: {**OWN, "used_as": "suggested"},
        SlaDefinition: OWN,
        IncidentSla: {**OWN, "stage": "in_progress", "has_breached": False},
        IncidentAffectedCi: OWN,
        # Those of the seed were sent long ago. Nothing but the incident's number must be in the text.
        Notification: {**OWN, "status": "queued", "message": May()},
    },
    harmless={
        "update_incident": (
            Harmless("resolved", lambda world: world.now.isoformat(), during_the_work, when={"status": "resolved"}),
        ),
        "create_incident": (Harmless("description", TEXT),),
        "create_problem": (Harmless("short_description", TEXT), Harmless("worknotes", TEXT)),
        "create_change": (Harmless("description", TEXT),),
        "create_knowledge_article": (Harmless("short_description", TEXT),),
        "add_new_user_group": (Harmless("description", TEXT),),
    },
)
with_verifiers, with_scenario_verifiers = VERIFIERS.with_verifiers, VERIFIERS.with_scenario_verifiers
