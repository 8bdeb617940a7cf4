"""Process rules of the service desk that access `strict` enforces: those of all desks, and its own.

Invariant: every rule has a number in `policy.md` or `policy-strict.md`, and its refusal states what to do instead. A
rule checks only what a write changes, so that a record that already violates a rule can still be corrected.
"""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

from opsgym_domains.itsm.enums import Level
from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import (
    Change,
    Incident,
    IncidentSla,
    Knowledge,
    Notification,
    Problem,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
)
from opsgym_domains.kit import desk
from opsgym_domains.kit.access import Rulebook, Transitions
from opsgym_domains.kit.desk import sets_any
from opsgym_domains.kit.gym import Gym

RULEBOOK = Rulebook()
on_write, rule = RULEBOOK.on_write, RULEBOOK.declare

PRIVILEGED = frozenset({"admin", "manager"})
"""Roles that may approve changes, publish articles and define SLAs."""
WORKERS = frozenset({"agent", "manager"})
"""Roles that records may be assigned to."""
FINAL = frozenset({"closed", "canceled"})
WAIT_BEFORE_CLOSING = timedelta(days=3)

INCIDENT_TRANSITIONS: Transitions = {
    "new": ["in_progress", "on_hold", "resolved", "canceled"],
    "in_progress": ["on_hold", "resolved", "canceled"],
    "on_hold": ["in_progress", "resolved", "canceled"],
    "resolved": ["in_progress", "closed"],
}
PROBLEM_TRANSITIONS: Transitions = {
    "new": ["assess", "root_cause", "fix_in_progress", "resolved"],
    "assess": ["root_cause", "fix_in_progress", "resolved"],
    "root_cause": ["fix_in_progress", "resolved"],
    "fix_in_progress": ["resolved"],
    "resolved": ["closed"],
}
CHANGE_TRANSITIONS: Transitions = {
    "new": ["assess", "canceled"],
    "assess": ["authorize", "canceled"],
    "authorize": ["scheduled", "canceled"],
    "scheduled": ["implement", "canceled"],
    "implement": ["review"],
    "review": ["closed"],
}
REQUIRED_BY_HOLD_REASON = {"Awaiting Change": "change_request", "Awaiting Problem": "problem"}
"""Field that an on hold reason requires."""


# --- assignment ----------------------------------------------------------------------------------------------------


_RECORDS = (Incident, Problem, Change)

rule(
    "INC-4", "GROUP_INACTIVE", desk.refers_to_active("assignment_group", UserGroup, "choose an active group"), *_RECORDS
)
rule(
    "INC-5",
    "NOT_ASSIGNABLE",
    desk.user_is_eligible("assigned_to", User, WORKERS, "assign an active agent or manager"),
    *_RECORDS,
)
rule(
    "PRC-2",
    "NOT_A_GROUP_MEMBER",
    desk.assignee_is_member("assigned_to", "assignment_group", UserGroupMember),
    *_RECORDS,
)


# --- incidents -----------------------------------------------------------------------------------------------------


rule(
    "INC-10",
    "RECORD_IS_FINAL",
    desk.is_final("status", FINAL, "create a new incident if the fault returns", named="number"),
    Incident,
)


@on_write(Incident, "INC-1", "PRIORITY_MISMATCH")
@on_write(Problem, "PRB-2", "PRIORITY_MISMATCH")
async def priority_follows_from_impact_and_urgency(
    _gym: Gym, after: Incident | Problem, before: Incident | Problem | None
) -> str | None:
    """The priority is the one of the matrix in INC-1."""
    levels = get_args(Level)
    if not sets_any(after, before, "impact", "urgency", "priority") or not {after.impact, after.urgency} <= {*levels}:
        return None
    expected = priority_of(after.impact, after.urgency)
    if after.priority == expected:
        return None
    problem = f"impact {after.impact} and urgency {after.urgency} require priority {expected}, not {after.priority}"
    return f"{problem}; set impact, urgency and priority in the same call"


rule("INC-5", "ASSIGNED_INCIDENT_IS_NEW", desk.begun_if_assigned("assigned_to", "status"), Incident)


@on_write(Incident, "INC-6", "ON_HOLD_INCOMPLETE")
async def incidents_on_hold_have_a_reason_and_the_awaited_record(
    _gym: Gym, after: Incident, before: Incident | None
) -> str | None:
    """The on hold reason is set, and the field that it requires."""
    if after.status != "on_hold" or not sets_any(
        after, before, "status", "on_hold_reason", *REQUIRED_BY_HOLD_REASON.values()
    ):
        return None
    if before is None or before.status not in {"new", "in_progress", "on_hold"}:
        return "only an incident in new or in_progress can be put on hold"
    missing = desk.missing(
        after, "on_hold_reason", REQUIRED_BY_HOLD_REASON.get(after.on_hold_reason or "", "on_hold_reason")
    )
    return f"status on_hold also needs {missing}; give it in the same call" if missing else None


rule(
    "INC-7",
    "RESOLUTION_INCOMPLETE",
    desk.needs("status", "resolved", "resolution_code", "resolution_notes", "resolved_by"),
    Incident,
)
rule(
    "INC-9",
    "NOT_READY_TO_CLOSE",
    desk.closes_after(
        "status",
        ("resolved", "updated_at"),
        WAIT_BEFORE_CLOSING,
        ("resolution_code", "resolution_notes", "close_notes"),
    ),
    Incident,
)
rule(
    "PRC-1",
    "INVALID_STATUS_TRANSITION",
    desk.follows("status", INCIDENT_TRANSITIONS, first=("new", "in_progress")),
    Incident,
)


# --- problems ------------------------------------------------------------------------------------------------------

rule("PRB-3", "FIX_NOTES_REQUIRED", desk.needs("status", "resolved", "fix_notes"), Problem)
rule("PRC-4", "WORKAROUND_REQUIRED", desk.needs("status", "fix_in_progress", "workaround"), Problem)
rule("PRC-3", "INVALID_STATUS_TRANSITION", desk.follows("status", PROBLEM_TRANSITIONS, first=("new",)), Problem)


# --- changes -------------------------------------------------------------------------------------------------------


@on_write(Change, "CHG-1", "PLAN_REQUIRED")
async def new_changes_have_plans(_gym: Gym, after: Change, before: Change | None) -> str | None:
    """A new change has status new, an implementation plan and a testing plan."""
    if before is not None:
        return None
    if after.status != "new":
        return "a new change must have status new"
    missing = desk.missing(after, "implementation_plan", "testing_plan")
    return f"a new change also needs {missing}" if missing else None


@on_write(Change, "CHG-2", "CAB_MISMATCH")
async def cab_approval_is_required_for_high_impact_or_risk(
    _gym: Gym, after: Change, before: Change | None
) -> str | None:
    """`cab_required` is set exactly if impact or risk is high."""
    if not sets_any(after, before, "impact", "risk", "cab_required"):
        return None
    needed = "high" in {after.impact, after.risk}
    if bool(after.cab_required) == needed:
        return None
    return f"with impact {after.impact} and risk {after.risk}, set cab_required to {str(needed).lower()}"


rule(
    "PRC-6",
    "APPROVAL_DENIED",
    desk.only_roles_set(PRIVILEGED, "status", {"authorize"}, "leave the change in assess and report it"),
    Change,
)
rule("PRC-7", "CLOSURE_INCOMPLETE", desk.needs("status", "closed", "close_code", "close_notes"), Change)
# One step at a time, so that only an approved change is implemented.
rule("PRC-5", "INVALID_STATUS_TRANSITION", desk.follows("status", CHANGE_TRANSITIONS, first=("new",)), Change)


# --- SLAs, articles, notifications --------------------------------------------------------------------------------

rule("PRC-9", "SLA_DEFINITION_DENIED", desk.only_roles_write(PRIVILEGED), SlaDefinition)
rule(
    "SLA-1",
    "SLA_DEFINITION_INACTIVE",
    desk.refers_to_active("sla_def_id", SlaDefinition, "link an active SLA definition"),
    IncidentSla,
)
rule("PRC-10", "BREACH_ON_RECORD", desk.flag_stays("has_breached", "SLA is breached"), IncidentSla)
RULEBOOK.on_delete(IncidentSla, "PRC-10", "BREACH_ON_RECORD")(desk.flagged_rows_stay("has_breached", "SLA is breached"))
rule(
    "PRC-8",
    "PUBLISHING_DENIED",
    desk.only_roles_set(PRIVILEGED, "state", {"published"}, "give state draft or review"),
    Knowledge,
)
rule("NTF-1", "RECIPIENT_INACTIVE", desk.recipient_is_active("email", User), Notification)


# --- users ---------------------------------------------------------------------------------------------------------

rule("USR-1", "ADMIN_DENIED", desk.only_roles_set({"admin"}, "role", {"admin"}, "give another role"), User)
rule(
    "USR-2",
    "MANAGER_NOT_ELIGIBLE",
    desk.user_is_eligible("manager_id", User, PRIVILEGED, "give an active manager or admin in manager_id"),
    UserGroup,
)
rule("USR-2", "MEMBER_INACTIVE", desk.refers_to_active("user_id", User, "add active users only"), UserGroupMember)
