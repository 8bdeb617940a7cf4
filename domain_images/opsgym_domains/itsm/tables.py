"""The 24 tables of IT service management.

Invariant: names, columns and their order are the published ones, so that published seeds and queries fit. References
are real foreign keys. Deleting a row that other rows refer to is refused, except that the links of an incident are
deleted with it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ForeignKey, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.itsm import enums
from opsgym_domains.kit.rbac import PermissionColumns, RoleColumns, RolePermissionColumns
from opsgym_domains.kit.schema import (
    Kind,
    Money,
    Row,
    Str20,
    Str30,
    Str32,
    Str40,
    Str50,
    Str60,
    Str80,
    Str100,
    Str120,
    Str255,
    Str500,
    Str2000,
    new_metadata,
    says,
    unique,
    varchar,
)


class ItsmRow(Row):
    """Base class of the domain's rows. `uniques` are what only tools keep, as published seeds repeat some values."""

    __abstract__ = True
    metadata = new_metadata()


class OwnedRow(ItsmRow):
    """A row that belongs to the organisation of the user who adds it."""

    __abstract__ = True
    owner = "org_id"


def _ref(target: str, *, late: bool = False, cascade: bool = False) -> Any:
    """A foreign key. `late` adds it after both tables exist, because incidents, problems and changes refer to each
    other.
    """
    return ForeignKey(target, use_alter=late, ondelete="CASCADE" if cascade else None)


Key = Annotated[str, mapped_column(varchar(32), primary_key=True)]
OrgId = Annotated[str, mapped_column(varchar(32), _ref("organization.org_id"))]
UserRef = Annotated[str, mapped_column(varchar(32), _ref("users.user_id"))]
GroupRef = Annotated[str, mapped_column(varchar(32), _ref("user_group.group_id"))]
ServiceRef = Annotated[str, mapped_column(varchar(32), _ref("service.service_id"))]
OfferingRef = Annotated[str, mapped_column(varchar(32), _ref("service_offering.service_offering_id"))]
CiRef = Annotated[
    str,
    mapped_column(varchar(32), _ref("configuration_item.configuration_item_id")),
]
IncidentRef = Annotated[str, mapped_column(varchar(32), _ref("incident.incident_id", cascade=True))]


# --- organisations, users, roles -----------------------------------------------------------------------------------


class Organization(ItsmRow):
    """An organisation that the service desk serves; every record belongs to one."""

    __tablename__ = "organization"
    __table_args__ = (UniqueConstraint("name", info={"code": "DUPLICATE_ORGANIZATION_NAME"}),)
    id_prefix, created, updated = "ORG_", "created_at", "updated_at"
    kinds = {"name": Kind.COMPANY}

    org_id: Mapped[Key]
    name: Mapped[Str120]
    active: Mapped[bool]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Role(RoleColumns, ItsmRow):
    """A role of users: admin, manager, agent or reporter."""

    __tablename__ = "role"
    __table_args__ = (UniqueConstraint("name"),)


class Permission(PermissionColumns, ItsmRow):
    """A permission on a kind of record: read, or all operations (crud)."""

    __tablename__ = "permission"
    __table_args__ = (UniqueConstraint("resource", "action", name="uq_perm_resource_action"),)


class Location(OwnedRow):
    """An office or site."""

    __tablename__ = "location"
    id_prefix, created, updated = "LOC_", "created_on", "updated_on"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_LOCATION_NAME", "name"),)
    kinds = {"name": Kind.PLACE, "street": Kind.STREET, "city": Kind.CITY}

    location_id: Mapped[Key]
    name: Mapped[Str120] = says("Name", searched=True)
    org_id: Mapped[OrgId]
    plot_no: Mapped[Str60 | None] = says("Plot or building number")
    street: Mapped[Str60 | None] = says("Street")
    city: Mapped[Str100] = says("City", searched=True)
    state: Mapped[Str100 | None] = says("State, province or region")
    country: Mapped[Str100] = says("Country", searched=True)
    active: Mapped[bool] = says("Whether the location is active")
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class User(OwnedRow):
    """A person who opens, handles or manages records."""

    __tablename__ = "users"
    label = "user"
    __table_args__ = (
        UniqueConstraint("phone", info={"code": "DUPLICATE_PHONE"}),
        CheckConstraint(
            "email LIKE '%@%'",
            name="user_email_format",
            info={"code": "INVALID_EMAIL_FORMAT", "rule": "email must be an email address"},
        ),
    )
    id_prefix, created, updated = "USER_", "created_on", "updated_on"
    uniques = (unique("DUPLICATE_EMAIL", "email"), unique("DUPLICATE_PHONE", "phone"))
    kinds = {"first_name": Kind.GIVEN_NAME, "last_name": Kind.FAMILY_NAME, "email": Kind.EMAIL}

    user_id: Mapped[Key]
    user_name: Mapped[Str100] = says("User name")
    first_name: Mapped[Str60] = says("First name", searched=True)
    last_name: Mapped[Str60] = says("Last name", searched=True)
    email: Mapped[Str120] = says("Email address")
    phone: Mapped[Str30] = says(
        "Phone number in the form +1-415-555-0101", searched=True, form_code="INVALID_PHONE_FORMAT"
    )
    role: Mapped[str] = says("Role, which determines permissions", varchar(50), _ref("role.name"), choices=enums.Role)
    active: Mapped[bool] = says("Whether the account is active")
    static_token: Mapped[Str255]
    org_id: Mapped[OrgId]
    location_id: Mapped[Str32 | None] = says("Location of your own organisation", _ref("location.location_id"))
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class RolePermission(RolePermissionColumns, ItsmRow):
    """A permission that a role has."""

    __tablename__ = "role_permission"


class UserRole(ItsmRow):
    """A role that a user has in an organisation."""

    __tablename__ = "user_role"
    __table_args__ = (
        PrimaryKeyConstraint("user_id", "role_id", "org_id"),
        UniqueConstraint("user_id", "role_id", "org_id", name="uq_user_role_org"),
    )

    user_id: Mapped[UserRef]
    role_id: Mapped[Str32] = mapped_column(_ref("role.role_id"))
    org_id: Mapped[OrgId]


class UserGroup(OwnedRow):
    """A team to which records are assigned."""

    __tablename__ = "user_group"
    label = "group"
    id_prefix, created, updated = "GROUP_", "created_on", "updated_on"
    actor = "manager_id"
    defaults = {"active": True}
    uniques = (unique("DUPLICATE_GROUP_NAME", "name"), unique("DUPLICATE_GROUP_EMAIL", "email"))

    group_id: Mapped[Key]
    name: Mapped[Str80] = says("Name", searched=True)
    type: Mapped[str] = says("Type of the group", varchar(27))
    active: Mapped[bool] = says("Whether the group is active; work is assigned only to active groups")
    email: Mapped[Str120 | None] = says("Email address")
    description: Mapped[Str255 | None] = says("Description")
    manager_id: Mapped[UserRef] = says("Manager of the group")
    org_id: Mapped[OrgId]
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class UserGroupMember(OwnedRow):
    """A user's membership of a group."""

    __tablename__ = "user_group_member"
    label = "group member"
    __table_args__ = (
        UniqueConstraint(
            "org_id", "group_id", "user_id", name="uq_group_member_org", info={"code": "DUPLICATE_GROUP_MEMBER"}
        ),
    )
    id_prefix, created, updated = "MEMBER_", "created_on", "updated_on"
    uniques = (unique("DUPLICATE_GROUP_MEMBER", "group_id", "user_id"),)

    member_id: Mapped[Key]
    group_id: Mapped[GroupRef]
    user_id: Mapped[UserRef]
    org_id: Mapped[OrgId]
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


IN_PRODUCTION = {
    "used_for": "production",
    "status": "operational",
    "service_classification": "business",
    "business_criticality": "not-critical",
}
"""Values of a new service or offering for columns that are not given."""


# --- services and configuration ------------------------------------------------------------------------------------


class Service(OwnedRow):
    """A service that the organisation uses."""

    __tablename__ = "service"
    id_prefix, created, updated = "SVC_", "created_on", "updated_on"
    defaults = IN_PRODUCTION
    uniques = (unique("DUPLICATE_SERVICE_NAME", "name"),)

    service_id: Mapped[Key]
    name: Mapped[Str120] = says("Name", searched=True)
    owned_by: Mapped[UserRef] = says("Owner")
    org_id: Mapped[OrgId]
    used_for: Mapped[str] = says("Used for", varchar(11))
    status: Mapped[str] = says("Operational status", varchar(18))
    service_classification: Mapped[str] = says("Service classification", varchar(21))
    business_criticality: Mapped[str] = says("Business criticality", varchar(17))
    description: Mapped[Str500 | None] = says("Description")
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class ServiceOffering(OwnedRow):
    """An offering of a service."""

    __tablename__ = "service_offering"
    id_prefix, created, updated = "SVCOFF_", "created_on", "updated_on"
    defaults = IN_PRODUCTION
    uniques = (unique("DUPLICATE_SERVICE_OFFERING_NAME", "name"),)

    service_offering_id: Mapped[Key]
    name: Mapped[Str120] = says("Name", searched=True)
    short_description: Mapped[Str120] = says("Short description", searched=True)
    owned_by: Mapped[UserRef] = says("Owner")
    business_service: Mapped[ServiceRef] = says("Service that the offering belongs to")
    org_id: Mapped[OrgId]
    used_for: Mapped[str] = says("Used for", varchar(11))
    status: Mapped[str] = says("Operational status", varchar(18))
    service_classification: Mapped[str] = says("Service classification", varchar(21))
    business_criticality: Mapped[str] = says("Business criticality", varchar(17))
    description: Mapped[Str500 | None] = says("Description")
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class ConfigurationItem(OwnedRow):
    """Hardware or software that the service desk manages."""

    __tablename__ = "configuration_item"
    kinds = {"cost": Kind.AMOUNT}
    __table_args__ = (
        CheckConstraint(
            "cost IS NULL OR cost >= 0",
            name="ci_cost_positive",
            info={"code": "NEGATIVE_COST", "rule": "cost must not be below 0"},
        ),
    )
    id_prefix, created, updated = "CI_", "created_on", "updated_on"
    uniques = (unique("DUPLICATE_CI_NAME", "name"), unique("DUPLICATE_SERIAL_NUMBER", "serial_number"))

    configuration_item_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the item")
    serial_number: Mapped[Str60] = says("Serial number")
    owner_id: Mapped[UserRef] = says("Owner")
    location_id: Mapped[Str32 | None] = says("Location", _ref("location.location_id"))
    org_id: Mapped[OrgId]
    status: Mapped[str] = says("Status", varchar(11))
    cost: Mapped[Money | None] = says("Cost, with at most two decimals")
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


# --- records -------------------------------------------------------------------------------------------------------


class IncidentTemplate(OwnedRow):
    """Preset field values for a recurring kind of incident."""

    __tablename__ = "incident_template"
    id_prefix, created, updated = "TMPL_", "created_at", "updated_at"
    defaults = {"active": True, "impact": "low", "urgency": "low", "priority": "planning"}
    uniques = (unique("DUPLICATE_TEMPLATE_NAME", "name"),)

    incident_template_id: Mapped[Key]
    name: Mapped[Str120] = says("Name of the template")
    active: Mapped[bool | None] = says("Whether the template can be used")
    caller_id: Mapped[UserRef]
    channel: Mapped[str | None] = mapped_column(varchar(13))
    short_description: Mapped[Str120]
    category: Mapped[str | None] = mapped_column(varchar(14))
    impact: Mapped[str] = mapped_column(varchar(6))
    urgency: Mapped[str] = mapped_column(varchar(6))
    priority: Mapped[str] = mapped_column(varchar(8))
    configuration_item: Mapped[CiRef | None]
    service: Mapped[ServiceRef | None]
    service_offering: Mapped[OfferingRef | None]
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Change(OwnedRow):
    """A planned change to a service or configuration item."""

    __tablename__ = "change"
    id_prefix, created, updated = "CHG_", "created_on", "updated_on"
    actor = "requested_by"
    numbers = {"number": "CHG{:07d}"}
    defaults = {"category": "other"}
    uniques = (unique("DUPLICATE_NUMBER", "number"),)
    kinds = {"number": Kind.NUMBER}

    change_id: Mapped[Key]
    number: Mapped[Str120] = says("Number")
    short_description: Mapped[Str120] = says("Short description", searched=True)
    requested_by: Mapped[UserRef] = says("User who requested the change")
    service: Mapped[ServiceRef | None] = says("Affected service")
    service_offering: Mapped[OfferingRef | None] = says("Affected service offering")
    configuration_item: Mapped[CiRef | None] = says("Affected configuration item")
    assigned_to: Mapped[UserRef | None] = says("Assignee")
    assignment_group: Mapped[GroupRef | None] = says("Assignment group")
    org_id: Mapped[OrgId]
    status: Mapped[Str30] = says("Status", choices=enums.ChangeStatus)
    category: Mapped[Str50] = says("Category", choices=enums.ChangeCategory)
    description: Mapped[Str120 | None] = says("Description", searched=True)
    implementation_plan: Mapped[Str120 | None] = says("Implementation plan", searched=True)
    testing_plan: Mapped[Str120 | None] = says("Testing plan", searched=True)
    close_notes: Mapped[Str120 | None] = says("Close notes", searched=True)
    cab_required: Mapped[bool | None] = says("Whether the change advisory board (CAB) must approve the change")
    impact: Mapped[Str20] = says("Impact (how much of the business is affected)", choices=enums.Level)
    priority: Mapped[Str20] = says("Priority", choices=enums.ChangePriority)
    risk: Mapped[Str20] = says("Risk (how likely the change is to fail)", choices=enums.Level)
    close_code: Mapped[Str50 | None] = says("Close code", choices=enums.CloseCode)
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class Problem(OwnedRow):
    """The underlying cause of incidents."""

    __tablename__ = "problem"
    id_prefix, created, updated = "PRB_", "created_on", "updated_on"
    actor = "opened_by"
    numbers = {"number": "PRB{:07d}"}
    kinds = {"number": Kind.NUMBER}

    problem_id: Mapped[Key]
    number: Mapped[Str120] = says("Number")
    problem_statement: Mapped[str] = says("Problem statement", searched=True)
    short_description: Mapped[Str255 | None] = says("Short description", searched=True)
    opened_by: Mapped[UserRef] = says("User who opened the problem")
    service: Mapped[ServiceRef | None] = says("Affected service")
    service_offering: Mapped[OfferingRef | None] = says("Affected service offering")
    configuration_item: Mapped[CiRef | None] = says("Affected configuration item")
    assigned_to: Mapped[UserRef | None] = says("Assignee")
    assignment_group: Mapped[GroupRef | None] = says("Assignment group")
    original_task: Mapped[Str32 | None] = says(
        "Incident from which the problem was opened", _ref("incident.incident_id", late=True)
    )
    org_id: Mapped[OrgId]
    status: Mapped[str] = says("Status", varchar(15), choices=enums.ProblemStatus)
    category: Mapped[str | None] = says("Category", varchar(8), choices=enums.ProblemCategory)
    worknotes: Mapped[str | None] = says("Work notes for other agents", searched=True)
    workaround: Mapped[str | None] = says("Workaround until the problem is resolved", searched=True)
    fix_notes: Mapped[str | None] = says("Fix notes: how the problem was resolved", searched=True)
    impact: Mapped[str] = says("Impact (how much of the business is affected)", varchar(6), choices=enums.Level)
    urgency: Mapped[str] = says("Urgency (how soon it must be resolved)", varchar(6), choices=enums.Level)
    priority: Mapped[str] = says("Priority", varchar(8), choices=enums.Priority)
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class Incident(OwnedRow):
    """An interruption of a service, as a user reported it."""

    __tablename__ = "incident"
    id_prefix, created, updated = "INC_", "created_at", "updated_at"
    numbers = {"number": "INC-{:06d}"}
    # The priority is never derived from impact and urgency: applying the policy's matrix is part of the agent's task.
    defaults = {"status": "new", "category": "inquiry-help", "impact": "low", "urgency": "low", "priority": "planning"}
    uniques = (unique("DUPLICATE_NUMBER", "number"),)
    kinds = {"number": Kind.NUMBER}

    incident_id: Mapped[Key]
    number: Mapped[Str120] = says("Number")
    short_description: Mapped[Str120] = says("Short description", searched=True)
    caller_id: Mapped[UserRef] = says("Caller: the affected user")
    service: Mapped[ServiceRef | None] = says("Affected service")
    service_offering: Mapped[OfferingRef | None] = says("Affected service offering")
    configuration_item: Mapped[CiRef | None] = says("Affected configuration item")
    assigned_to: Mapped[UserRef | None] = says("Assignee")
    assignment_group: Mapped[GroupRef | None] = says("Assignment group")
    resolved_by: Mapped[UserRef | None] = says("User who resolved the incident")
    problem: Mapped[Str32 | None] = says("Problem that causes the incident", _ref("problem.problem_id"))
    change_request: Mapped[Str32 | None] = says("Change that will resolve the incident", _ref("change.change_id"))
    caused_by_change: Mapped[Str32 | None] = says("Change that caused the incident", _ref("change.change_id"))
    incident_template: Mapped[Str32 | None] = says(
        "Template that it was created from", _ref("incident_template.incident_template_id")
    )
    parent_incident: Mapped[Str32 | None] = says("Parent incident", _ref("incident.incident_id"))
    org_id: Mapped[OrgId]
    channel: Mapped[str | None] = says("Channel on which the incident was reported", varchar(13))
    contact_type: Mapped[str | None] = mapped_column(varchar(7))
    status: Mapped[str] = says("Status", varchar(11))
    category: Mapped[str] = says("Category", varchar(14))
    description: Mapped[Str120 | None] = says("Description", searched=True)
    worknotes: Mapped[Str120 | None] = says("Work notes for other agents", searched=True)
    resolution_notes: Mapped[Str120 | None] = says("Resolution notes: how it was resolved", searched=True)
    close_notes: Mapped[Str120 | None] = says("Close notes", searched=True)
    impact: Mapped[str] = says("Impact (how much of the business is affected)", varchar(6))
    urgency: Mapped[str] = says("Urgency (how soon it must be resolved)", varchar(6))
    priority: Mapped[str] = says("Priority, never calculated from impact and urgency", varchar(8))
    resolution_code: Mapped[str | None] = says("Resolution code", varchar(22))
    on_hold_reason: Mapped[str | None] = says("On hold reason", varchar(16))
    resolved: Mapped[datetime | None] = says("Time of resolution")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    service_display: Mapped[Str255 | None]
    service_offering_display: Mapped[Str255 | None]
    configuration_item_display: Mapped[Str255 | None]
    assigned_to_display: Mapped[Str255 | None]
    assignment_group_display: Mapped[Str255 | None]
    parent_incident_display: Mapped[Str255 | None]
    problem_display: Mapped[Str255 | None]
    change_request_display: Mapped[Str255 | None]
    incident_template_display: Mapped[Str255 | None]


class Knowledge(OwnedRow):
    """An article of the knowledge base."""

    __tablename__ = "knowledge"
    label = "knowledge article"
    id_prefix, created, updated = "KB_", "created_on", "updated_on"
    numbers = {"kb_number": "KB{:07d}"}
    defaults = {"state": "published", "visibility": "internal"}
    uniques = (unique("DUPLICATE_ARTICLE", "owner_id", "title"),)
    kinds = {"kb_number": Kind.NUMBER}

    knowledge_id: Mapped[Key]
    kb_number: Mapped[Str40] = says("Number")
    title: Mapped[Str120] = says("Title of the article", searched=True)
    short_description: Mapped[Str255 | None]
    body: Mapped[str | None] = says("Body: symptom, cause and resolution", searched=True)
    state: Mapped[str] = says("State of the article", varchar(9))
    visibility: Mapped[str] = says("Visibility", varchar(8))
    owner_id: Mapped[UserRef | None] = says("Owner")
    org_id: Mapped[OrgId]
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class SlaDefinition(OwnedRow):
    """The target for response or resolution of incidents with a priority, in minutes."""

    __tablename__ = "sla_definition"
    label = "SLA definition"
    __table_args__ = (
        UniqueConstraint(
            "org_id", "name", name="uq_sla_definition_org_name", info={"code": "DUPLICATE_SLA_DEFINITION_NAME"}
        ),
    )
    id_prefix, created, updated = "SLA_", "created_on", "updated_on"

    sla_def_id: Mapped[Key]
    name: Mapped[Str120] = says("Name", searched=True)
    metric: Mapped[str] = says("What the SLA measures: time to the first response, or to the resolution", varchar(10))
    target_mins: Mapped[int] = says("Target in minutes")
    pause_on_pending: Mapped[bool] = says("Whether the SLA pauses while the incident is on hold")
    applies_to_priority: Mapped[str | None] = says(
        "Priority of the incidents that it applies to; without one, any", varchar(8)
    )
    active: Mapped[bool] = says("Whether the definition is active")
    schedule: Mapped[Str32 | None] = says("Schedule whose working hours count (schedule id)")
    org_id: Mapped[OrgId]
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


# --- links ---------------------------------------------------------------------------------------------------------


class ChangeRequestMapping(OwnedRow):
    """A link from a change to the incident or problem that it addresses."""

    __tablename__ = "change_request_mapping"
    label = "change request mapping"
    __table_args__ = (
        UniqueConstraint(
            "org_id", "change_id", "incident_id", name="uq_crm_change_incident", info={"code": "DUPLICATE_MAPPING"}
        ),
        UniqueConstraint(
            "org_id", "change_id", "problem_id", name="uq_crm_change_problem", info={"code": "DUPLICATE_MAPPING"}
        ),
        CheckConstraint(
            "incident_id IS NOT NULL OR problem_id IS NOT NULL",
            name="crm_incident_or_problem",
            info={"code": "INCIDENT_OR_PROBLEM_REQUIRED", "rule": "a mapping requires incident_id or problem_id"},
        ),
    )
    id_prefix, created, updated = "CRM_", "created_at", "updated_at"
    uniques = (  # across organisations, as on the published server
        unique("DUPLICATE_MAPPING", "change_id", "incident_id"),
        unique("DUPLICATE_MAPPING", "change_id", "problem_id"),
    )

    change_request_mapping_id: Mapped[Key]
    change_id: Mapped[Str32] = mapped_column(_ref("change.change_id", cascade=True))
    incident_id: Mapped[IncidentRef | None]
    problem_id: Mapped[Str32 | None] = mapped_column(_ref("problem.problem_id", cascade=True))
    org_id: Mapped[OrgId]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class ChildIncident(ItsmRow):
    """A link from a parent incident to a child incident."""

    __tablename__ = "child_incident"
    __table_args__ = (
        UniqueConstraint(
            "parent_incident",
            "child_incident",
            name="uq_parent_child_incident",
            info={"code": "DUPLICATE_CHILD_INCIDENT"},
        ),
        CheckConstraint(
            "parent_incident <> child_incident",
            name="child_inc_not_self",
            info={"code": "SELF_REFERENCE", "rule": "an incident cannot be its own parent"},
        ),
    )
    id_prefix, created, updated = "CINC_", "created_at", "updated_at"

    child_incident_mapping_id: Mapped[Key]
    parent_incident: Mapped[IncidentRef] = says("Parent incident")
    child_incident: Mapped[IncidentRef] = says("Child incident")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class IncidentAffectedCi(OwnedRow):
    """A link from an incident to a configuration item that it affects."""

    __tablename__ = "incident_affected_cis"
    label = "affected configuration item"
    __table_args__ = (
        UniqueConstraint(
            "org_id",
            "incident_id",
            "configuration_item",
            name="uq_org_incident_ci",
            info={"code": "DUPLICATE_AFFECTED_CI"},
        ),
    )
    id_prefix, created, updated = "TASKCI_", "created_on", "updated_on"
    uniques = (unique("DUPLICATE_AFFECTED_CI", "incident_id", "configuration_item"),)

    incident_affected_cis_id: Mapped[Key]
    configuration_item: Mapped[CiRef] = says("Affected configuration item")
    incident_id: Mapped[IncidentRef]
    org_id: Mapped[OrgId]
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class IncidentKnowledge(OwnedRow):
    """A link between an incident and a knowledge article, with its use."""

    __tablename__ = "incident_knowledge"
    label = "incident knowledge link"
    __table_args__ = (
        UniqueConstraint(
            "org_id",
            "incident_id",
            "knowledge_id",
            name="uq_incident_knowledge_org",
            info={"code": "DUPLICATE_INCIDENT_KNOWLEDGE"},
        ),
    )
    id_prefix, created, updated = "IKB_", "created_on", "updated_on"
    defaults = {"used_as": "suggested"}
    uniques = (unique("DUPLICATE_INCIDENT_KNOWLEDGE", "incident_id", "knowledge_id"),)

    incident_kb_id: Mapped[Key]
    incident_id: Mapped[IncidentRef]
    knowledge_id: Mapped[Str32] = mapped_column(_ref("knowledge.knowledge_id"))
    org_id: Mapped[OrgId]
    used_as: Mapped[str] = says("Use of the article", varchar(10))
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class IncidentSla(OwnedRow):
    """An SLA that runs on an incident."""

    __tablename__ = "incident_sla"
    label = "incident SLA"
    __table_args__ = (
        UniqueConstraint(
            "org_id",
            "incident_id",
            "sla_def_id",
            name="uq_org_incident_sla_def",
            info={"code": "DUPLICATE_INCIDENT_SLA"},
        ),
        CheckConstraint(
            "breach_time IS NULL OR start_time IS NULL OR breach_time >= start_time",
            name="sla_breach_time",
            info={"code": "BREACH_BEFORE_START", "rule": "breach_time must not be before start_time"},
        ),
    )
    id_prefix, created, updated = "TSLA_", "created_on", "updated_on"
    defaults = {"stage": "in_progress", "has_breached": False}
    uniques = (unique("DUPLICATE_INCIDENT_SLA", "incident_id", "sla_def_id"),)

    incident_sla_id: Mapped[Key]
    incident_id: Mapped[IncidentRef]
    sla_def_id: Mapped[Str32] = mapped_column(_ref("sla_definition.sla_def_id"))
    org_id: Mapped[OrgId]
    stage: Mapped[str] = says("Stage: in_progress, paused, completed, cancelled or breached, in any case", varchar(11))
    has_breached: Mapped[bool] = says("Whether the SLA is breached")
    start_time: Mapped[datetime] = says("Time when the SLA starts")
    breach_time: Mapped[datetime | None] = says("Time when the SLA breaches or breached, not before start_time")
    completed_time: Mapped[datetime | None] = says("Time when the SLA was completed")
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


class Notification(OwnedRow):
    """A notification about an incident."""

    __tablename__ = "notification"
    __table_args__ = (
        CheckConstraint(
            "email LIKE '%@%'",
            name="notification_email_format",
            info={"code": "INVALID_EMAIL_FORMAT", "rule": "email must be an email address"},
        ),
    )
    id_prefix, created, updated = "NOTIF_", "created_on", "updated_on"
    defaults = {"status": "queued"}

    notification_id: Mapped[Key]
    incident_id: Mapped[IncidentRef]
    org_id: Mapped[OrgId]
    email: Mapped[Str120] = says("Email address of the recipient")
    subject: Mapped[Str255 | None] = says("Subject line")
    message: Mapped[Str2000 | None] = says("Message text")
    type: Mapped[str | None] = says("Type of the notification", varchar(17))
    status: Mapped[str | None] = says("Delivery status", varchar(9))
    created_on: Mapped[datetime | None]
    updated_on: Mapped[datetime | None]


METADATA = ItsmRow.metadata
