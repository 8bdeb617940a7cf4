"""The 17 tables of customer service management, and three of roles and permissions.

Invariant: names, columns and their order are the published ones, so that published seeds and queries fit. References
are real foreign keys, and deleting a row that others refer to is refused. Keys are integers that are never reused, as
with SQLite's AUTOINCREMENT. The published server has no tables of roles; ours have the rows of `roles.PRESETS` in every
database whose seed writes none.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from sqlalchemy import ForeignKey, Integer, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.csm import enums
from opsgym_domains.csm.roles import add_presets
from opsgym_domains.kit.rbac import PermissionColumns, RoleColumns, RolePermissionColumns
from opsgym_domains.kit.schema import (
    Kind,
    Row,
    Str20,
    Str40,
    Str120,
    Str255,
    Str500,
    new_metadata,
    says,
    unique,
    varchar,
)


class CsmRow(Row):
    """Base class of the domain's rows."""

    __abstract__ = True
    metadata = new_metadata(complete_seed=add_presets)
    newest_first = no_op_is_refused = blank_is_null = False
    blank_is_missing = True


METADATA = CsmRow.metadata


class StampedRow(CsmRow):
    """A row with the times of its creation and its last update."""

    __abstract__ = True
    created, updated = "sys_created_on", "sys_updated_on"


def _ref(target: str) -> Any:
    return mapped_column(Integer, ForeignKey(target))


def _one_of(enumeration: Any, words: str) -> Any:
    """A text column whose values are those of an enumeration."""
    return says(words, varchar(20), choices=enumeration)


Key = Annotated[int, mapped_column(Integer, primary_key=True, autoincrement=False)]
UserRef = Annotated[int, _ref("user.user_id")]
GroupRef = Annotated[int, _ref("user_group.group_id")]
LocationRef = Annotated[int, _ref("location.location_id")]
AccountRef = Annotated[int, _ref("account.account_id")]
ContactRef = Annotated[int, _ref("contact.contact_id")]
ProductRef = Annotated[int, _ref("product.product_id")]
InstalledProductRef = Annotated[int, _ref("installed_product.installed_product_id")]
ContractRef = Annotated[int, _ref("contract.contract_id")]
SlaDefinitionRef = Annotated[int, _ref("sla_definition.sla_def_id")]
CaseRef = Annotated[int, _ref("customer_case.case_id")]
ArticleRef = Annotated[int, _ref("knowledge.knowledge_id")]


# --- users ---------------------------------------------------------------------------------------------------------


class Location(StampedRow):
    """A site of users and installed products."""

    __tablename__ = "location"
    kinds = {"name": Kind.PLACE, "street": Kind.STREET, "city": Kind.CITY}

    location_id: Mapped[Key]
    name: Mapped[Str255] = says("Name", searched=True)
    plot_no: Mapped[Str120 | None] = says("Plot or house number", searched=True)
    street: Mapped[Str255 | None] = says("Street", searched=True)
    city: Mapped[str] = _one_of(enums.City, "City of the location")
    country: Mapped[str] = _one_of(enums.Country, "Country; not checked against the city")
    active: Mapped[bool] = says("Whether the location is active")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class User(StampedRow):
    """A user account: staff, or a customer who uses the portal."""

    __tablename__ = "user"
    __table_args__ = (UniqueConstraint("email", info={"code": "DUPLICATE_EMAIL"}),)
    kinds = {"first_name": Kind.GIVEN_NAME, "last_name": Kind.FAMILY_NAME, "email": Kind.EMAIL}

    user_id: Mapped[Key]
    first_name: Mapped[Str255] = says("First name", searched=True)
    last_name: Mapped[Str255] = says("Last name", searched=True)
    email: Mapped[Str255] = says("Email address", searched=True)
    phone: Mapped[Str40 | None] = says("Phone number", searched=True)
    role: Mapped[str] = _one_of(enums.Role, "Role of the user; portal users have the role customer")
    location_id: Mapped[LocationRef | None] = says("Location")
    active: Mapped[bool] = says("Whether the account is active")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class UserGroup(StampedRow):
    """A team to which cases are assigned."""

    __tablename__ = "user_group"
    __table_args__ = (UniqueConstraint("name", info={"code": "DUPLICATE_GROUP_NAME"}),)

    group_id: Mapped[Key]
    name: Mapped[Str255] = says("Name", searched=True)
    type: Mapped[str] = _one_of(enums.GroupType, "Type of the group")
    active: Mapped[bool] = says("Whether the group is active; work is assigned only to active groups")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class UserGroupMember(CsmRow):
    """A user's membership of a group."""

    __tablename__ = "user_group_member"
    __table_args__ = (UniqueConstraint("group_id", "user_id", info={"code": "DUPLICATE_GROUP_MEMBER"}),)
    label, created = "group membership", "sys_created_on"

    member_id: Mapped[Key]
    group_id: Mapped[GroupRef]
    user_id: Mapped[UserRef]
    sys_created_on: Mapped[datetime | None]


# --- customers and what they bought ----------------------------------------------------------------------------------


class Account(StampedRow):
    """An organisation that is a customer or a partner."""

    __tablename__ = "account"
    __table_args__ = (UniqueConstraint("name", info={"code": "DUPLICATE_ACCOUNT_NAME"}),)
    kinds = {"name": Kind.COMPANY, "email_domain": Kind.DOMAIN}

    account_id: Mapped[Key]
    name: Mapped[Str255] = says("Account name", searched=True)
    account_type: Mapped[str] = _one_of(enums.AccountType, "Account type")
    email_domain: Mapped[Str255 | None] = says("Email domain", searched=True)
    active: Mapped[bool] = says("Whether the account is active")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class Contact(StampedRow):
    """A portal user who represents an account."""

    __tablename__ = "contact"

    contact_id: Mapped[Key]
    account_id: Mapped[AccountRef]
    portal_user_id: Mapped[UserRef] = says("Portal user of the contact")
    active: Mapped[bool] = says("Whether the contact is active")
    is_primary: Mapped[bool] = says("Whether the contact is the primary contact")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class Product(StampedRow):
    """A product that is or was sold."""

    __tablename__ = "product"
    kinds = {"name": Kind.PRODUCT, "product_price": Kind.AMOUNT}

    product_id: Mapped[Key]
    name: Mapped[Str255] = says("Product name", searched=True)
    category: Mapped[str] = _one_of(enums.ProductCategory, "Product category")
    product_price: Mapped[int | None] = says("Price in the smallest currency unit, for instance cents")
    lifecycle_state: Mapped[str] = _one_of(enums.LifecycleState, "Lifecycle state")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class InstalledProduct(StampedRow):
    """An installed product: one unit of a product that an account owns."""

    __tablename__ = "installed_product"
    __table_args__ = (
        UniqueConstraint(
            "account_id",
            "product_id",
            "serial_number",
            name="uq_installed_product_serial",
            info={"code": "DUPLICATE_INSTALLED_PRODUCT"},
        ),
    )

    installed_product_id: Mapped[Key]
    account_id: Mapped[AccountRef]
    product_id: Mapped[ProductRef]
    location_id: Mapped[LocationRef | None]
    serial_number: Mapped[Str255] = says("Serial number", searched=True)
    status: Mapped[str] = _one_of(enums.InstalledStatus, "Status")
    warranty_end: Mapped[date | None] = says("Warranty end date: YYYY-MM-DD")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class Contract(StampedRow):
    """A contract with an account, with its type, status and dates."""

    __tablename__ = "contract"
    kinds = {"contract_price": Kind.AMOUNT}

    contract_id: Mapped[Key]
    account_id: Mapped[AccountRef]
    contract_type: Mapped[str] = _one_of(enums.ContractType, "Contract type")
    status: Mapped[str] = _one_of(enums.ContractStatus, "Status of the contract")
    contract_price: Mapped[int | None] = says("Contract price")
    start_date: Mapped[date] = says("Start date: YYYY-MM-DD")
    end_date: Mapped[date] = says("End date: YYYY-MM-DD; not checked against the start date")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class Entitlement(StampedRow):
    """Support that an account is entitled to."""

    __tablename__ = "entitlement"

    entitlement_id: Mapped[Key]
    account_id: Mapped[AccountRef]
    product_id: Mapped[ProductRef | None]
    contract_id: Mapped[ContractRef | None]
    support_level: Mapped[str] = _one_of(enums.SupportLevel, "Support level")
    coverage_hours: Mapped[str | None] = _one_of(enums.CoverageHours, "Coverage hours: hours per day and days per week")
    max_cases_per_month: Mapped[int | None] = says("Maximum number of cases per month; not enforced by the tools")
    active: Mapped[bool] = says("Whether the entitlement is active")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class SlaDefinition(StampedRow):
    """The target for response or resolution of cases with a priority, in minutes."""

    __tablename__ = "sla_definition"
    label = "SLA definition"

    sla_def_id: Mapped[Key]
    name: Mapped[Str255] = says("Name", searched=True)
    metric: Mapped[str] = _one_of(
        enums.SlaMetric, "What the SLA measures: the time to the first response or to the resolution"
    )
    target_mins: Mapped[int] = says("Target in minutes")
    pause_on_pending: Mapped[bool] = says("Whether the SLA pauses while the case is pending")
    applies_to_priority: Mapped[str | None] = _one_of(enums.Priority, "Priority of the cases that it applies to")
    active: Mapped[bool] = says("Whether the definition is active")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


# --- cases -----------------------------------------------------------------------------------------------------------


class CustomerCase(StampedRow):
    """An issue that a customer reported."""

    __tablename__ = "customer_case"
    __table_args__ = (UniqueConstraint("number", info={"code": "DUPLICATE_CASE_NUMBER"}),)
    label = "case"
    numbers = {"number": "CS-{key:07d}"}
    defaults = {"escalation": False, "reopen_count": 0}
    kinds = {"number": Kind.NUMBER}

    case_id: Mapped[Key]
    number: Mapped[Str20] = says("Full case number, for instance CS-0000042")
    account_id: Mapped[AccountRef]
    contact_id: Mapped[ContactRef] = says("Contact who reported the case")
    product_id: Mapped[ProductRef | None] = says("Affected product")
    installed_product_id: Mapped[InstalledProductRef | None] = says("Affected installed product")
    channel: Mapped[str] = _one_of(enums.Channel, "Channel on which the case was reported")
    priority: Mapped[str] = _one_of(enums.Priority, "Priority")
    state: Mapped[str] = _one_of(enums.CaseState, "State of the case")
    short_description: Mapped[Str500] = says("Short description of the issue", searched=True)
    assignment_group_id: Mapped[GroupRef | None] = says("Assignment group")
    assigned_to: Mapped[UserRef | None] = says("Assignee")
    escalation: Mapped[bool] = says("Whether the case is escalated")
    escalation_reason: Mapped[str | None] = _one_of(enums.EscalationReason, "Escalation reason")
    reopen_count: Mapped[int] = says("Number of times the case was reopened. Never counted automatically")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]
    closed_on: Mapped[datetime | None] = says("Time of closure: YYYY-MM-DD HH:MM:SS, UTC. Never set automatically")


class CaseSla(CsmRow):
    """An SLA that runs on a case."""

    __tablename__ = "case_sla"
    label = "case SLA"
    defaults = {"has_breached": False}

    case_sla_id: Mapped[Key]
    case_id: Mapped[CaseRef]
    sla_def_id: Mapped[SlaDefinitionRef]
    stage: Mapped[str] = _one_of(enums.SlaStage, "Stage of the SLA")
    start_time: Mapped[datetime | None] = says("Time when the SLA started: YYYY-MM-DD HH:MM:SS, UTC")
    breach_time: Mapped[datetime | None] = says("Time when the SLA breaches or breached: YYYY-MM-DD HH:MM:SS, UTC")
    has_breached: Mapped[bool] = says("Whether the SLA is breached")
    completed_time: Mapped[datetime | None] = says("Time when the SLA was completed: YYYY-MM-DD HH:MM:SS, UTC")


class Interaction(CsmRow):
    """A conversation with a customer."""

    __tablename__ = "interaction"
    created = "sys_created_on"

    interaction_id: Mapped[Key]
    channel: Mapped[str] = _one_of(enums.Channel, "Channel of the interaction")
    account_id: Mapped[AccountRef | None]
    contact_id: Mapped[ContactRef | None]
    case_id: Mapped[CaseRef | None] = says("Related case")
    interacted_user: Mapped[UserRef | None] = says("Staff member who handled the interaction")
    status: Mapped[str] = _one_of(enums.InteractionStatus, "Status")
    started_at: Mapped[datetime | None] = says("Start time: YYYY-MM-DD HH:MM:SS, UTC")
    ended_at: Mapped[datetime | None] = says("End time: YYYY-MM-DD HH:MM:SS, UTC. Never set automatically")
    sys_created_on: Mapped[datetime | None]


# --- knowledge and notifications -------------------------------------------------------------------------------------


class Knowledge(StampedRow):
    """An article of the knowledge base."""

    __tablename__ = "knowledge"
    __table_args__ = (UniqueConstraint("kb_number", info={"code": "DUPLICATE_KB_NUMBER"}),)
    label = "knowledge article"
    numbers = {"kb_number": "KB{key:06d}"}
    kinds = {"kb_number": Kind.NUMBER}

    knowledge_id: Mapped[Key]
    kb_number: Mapped[Str20] = says("Full article number, for instance KB-0000042")
    title: Mapped[Str255] = says("Title", searched=True)
    body: Mapped[Str120] = says("Body")
    state: Mapped[str] = _one_of(enums.ArticleState, "State of the article")
    visibility: Mapped[str] = _one_of(
        enums.Visibility, "Visibility: internal is for staff, external also for customers"
    )
    product_id: Mapped[ProductRef | None] = says("Related product")
    owner_id: Mapped[UserRef] = says("Owner")
    sys_created_on: Mapped[datetime | None]
    sys_updated_on: Mapped[datetime | None]


class CaseKnowledge(CsmRow):
    """A link between a case and a knowledge article, with its use."""

    __tablename__ = "case_knowledge"
    label = "case knowledge link"
    uniques = (unique("DUPLICATE_CASE_KNOWLEDGE", "case_id", "knowledge_id", "used_as"),)

    case_kb_id: Mapped[Key]
    case_id: Mapped[CaseRef]
    knowledge_id: Mapped[ArticleRef]
    used_as: Mapped[str] = _one_of(enums.UsedAs, "Use of the article: suggested, applied or resolution")


class Notification(CsmRow):
    """A notification about a case."""

    __tablename__ = "notification"
    created = "sys_created_on"
    defaults = {"status": "success"}

    notification_id: Mapped[Key]
    case_id: Mapped[CaseRef]
    knowledge_id: Mapped[ArticleRef | None] = says("Attached article")
    email: Mapped[Str255] = says("Email address of the recipient", searched=True)
    type: Mapped[str] = _one_of(enums.NotificationType, "Type of the notification")
    status: Mapped[str] = _one_of(enums.NotificationStatus, "Delivery status")
    sys_created_on: Mapped[datetime | None] = says("Time when the notification was sent: YYYY-MM-DD HH:MM:SS, UTC")


# --- roles ---------------------------------------------------------------------------------------------------------


class Role(RoleColumns, CsmRow):
    """A role of users: admin, manager, agent or customer."""

    __tablename__ = "role"
    has_presets = True
    __table_args__ = (UniqueConstraint("name"),)


class Permission(PermissionColumns, CsmRow):
    """A permission on a kind of record: read, or all operations (crud)."""

    __tablename__ = "permission"
    has_presets = True
    __table_args__ = (UniqueConstraint("resource", "action"),)


class RolePermission(RolePermissionColumns, CsmRow):
    """A permission that a role has."""

    __tablename__ = "role_permission"
    has_presets = True
