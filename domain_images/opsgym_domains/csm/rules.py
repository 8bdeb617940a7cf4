"""Process rules of customer service that access `strict` enforces: those of all desks, and its own.

Invariant: every rule has a number in `policy.md` or `policy-strict.md`, and its refusal states what to do instead. A
rule checks only what a write changes, so that a record that already violates a rule can still be corrected.
"""

from __future__ import annotations

from datetime import timedelta

from opsgym_domains.csm.tables import (
    Account,
    CaseKnowledge,
    CaseSla,
    Contact,
    Contract,
    CustomerCase,
    Entitlement,
    InstalledProduct,
    Interaction,
    Knowledge,
    Notification,
    Product,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
)
from opsgym_domains.kit import desk
from opsgym_domains.kit.access import Rulebook, Transitions
from opsgym_domains.kit.desk import sets_any, sets_to
from opsgym_domains.kit.gym import Gym

RULEBOOK = Rulebook()
on_write, rule = RULEBOOK.on_write, RULEBOOK.declare

PRIVILEGED = frozenset({"admin", "manager"})
"""Roles that may publish articles, remove escalations, and set or lower priorities."""
WORKERS = frozenset({"agent", "manager"})
"""Roles that cases may be assigned to."""
OPEN = frozenset({"new", "in_progress", "pending"})
FINAL = frozenset({"closed", "canceled"})
QUIET_BEFORE_CLOSING = timedelta(days=5)
"""Time without changes after which a resolved case may be closed."""
PRIORITIES = ("low", "moderate", "high", "critical")
"""Priorities, the lowest first."""
STATE_TRANSITIONS: Transitions = {
    "new": ["in_progress", "canceled"],
    "in_progress": ["pending", "resolved", "canceled"],
    "pending": ["in_progress", "resolved", "canceled"],
    "resolved": ["in_progress", "closed"],
}
CUSTOMER_WRITABLE = frozenset({"short_description", "state", "sys_updated_on"})
"""Columns of a case that its customer may change."""


# --- people and accounts -------------------------------------------------------------------------------------------


rule("ACC-5", "ADMIN_DENIED", desk.only_roles_set({"admin"}, "role", {"admin"}, "give another role"), User)


@on_write(Contact, "ACC-2", "CONTACT_NOT_ELIGIBLE")
async def contacts_are_customers_of_the_account(gym: Gym, after: Contact, before: Contact | None) -> str | None:
    """The user has the role customer and an address at the email domain of the account."""
    if not sets_any(after, before, "account_id", "portal_user_id"):
        return None
    user, account = await gym.fetch(User, after.portal_user_id), await gym.fetch(Account, after.account_id)
    if user.role != "customer":
        return f"{user.email} has role {user.role}; choose a user with role customer"
    if account.email_domain and user.email.partition("@")[2] != account.email_domain:
        return f"{user.email} is not an address at {account.email_domain}; choose a user with an address at that domain"
    return None


@on_write(Contact, "ACC-1", "PRIMARY_CONTACT_EXISTS")
async def an_account_has_one_primary_contact(gym: Gym, after: Contact, before: Contact | None) -> str | None:
    """The previous primary contact must be set to not primary first."""
    if not after.is_primary or not sets_any(after, before, "is_primary", "account_id"):
        return None
    others = await gym.all(Contact, Contact.account_id == after.account_id, Contact.is_primary.is_(True))
    other = next((contact for contact in others if contact.contact_id != after.contact_id), None)
    return None if other is None else f"contact {other.contact_id} is the primary contact; set it to not primary first"


@on_write(Account, "ACC-4", "ACCOUNT_IN_USE")
async def accounts_in_use_stay_active(gym: Gym, after: Account, before: Account | None) -> str | None:
    """An account with open cases or an active contract cannot be deactivated."""
    if after.active or not sets_any(after, before, "active"):
        return None
    cases = await gym.all(CustomerCase, CustomerCase.account_id == after.account_id, CustomerCase.state.in_(OPEN))
    if cases:
        return f"{', '.join(sorted(case.number for case in cases))} are open; do not deactivate the account"
    if await gym.exists(Contract, account_id=after.account_id, status="active"):
        return "the account has an active contract; do not deactivate the account"
    return None


# --- products and contracts ---------------------------------------------------------------------------------------


@on_write(InstalledProduct, "PRD-1", "PRODUCT_RETIRED")
async def installed_products_belong_to_active_products(
    gym: Gym, after: InstalledProduct, before: InstalledProduct | None
) -> str | None:
    """No installed product is registered for a retired product."""
    if not sets_any(after, before, "product_id"):
        return None
    product = await gym.fetch(Product, after.product_id)
    return None if product.lifecycle_state == "active" else f"{product.name} is retired; choose an active product"


rule("CON-1", "CONTRACT_DATES", desk.in_order("start_date", "end_date", equal=False), Contract)


@on_write(Entitlement, "CON-2", "CONTRACT_NOT_APPLICABLE")
async def entitlements_need_a_valid_contract_of_the_account(
    gym: Gym, after: Entitlement, before: Entitlement | None
) -> str | None:
    """The contract belongs to the account; if it is suspended or expired, the entitlement is inactive."""
    if after.contract_id is None or not sets_any(after, before, "contract_id", "account_id", "active"):
        return None
    contract = await gym.fetch(Contract, after.contract_id)
    if contract.account_id != after.account_id:
        return f"contract {contract.contract_id} does not belong to account {after.account_id}; choose another contract"
    if after.active and contract.status in {"suspended", "expired"}:
        return f"contract {contract.contract_id} is {contract.status}; leave its entitlements inactive"
    return None


# --- cases ---------------------------------------------------------------------------------------------------------


rule(
    "CAS-9",
    "CASE_IS_FINAL",
    desk.is_final("state", FINAL, "create a new case if the issue returns", named="number"),
    CustomerCase,
)


@on_write(CustomerCase, "PRC-7", "CUSTOMER_DENIED")
async def customers_write_only_descriptions_and_cancellations(
    gym: Gym, after: CustomerCase, before: CustomerCase | None
) -> str | None:
    """State, assignment and escalation are set by staff."""
    if gym.actor.role != "customer":
        return None
    if before is None:
        set_by_staff = after.state != "new" or after.escalation or after.assigned_to or after.assignment_group_id
        return "a customer creates cases in state new, not escalated and not assigned" if set_by_staff else None
    columns = {column.name for column in after.__table__.columns}
    if any(getattr(after, name) != getattr(before, name) for name in columns - CUSTOMER_WRITABLE):
        return "a customer may change only short_description and state; leave other fields to the service desk"
    if after.state in {before.state, "canceled"} and before.state == "new":
        return None
    return None if after.state == before.state else "a customer may only set state canceled, and only for a case in new"


@on_write(CustomerCase, "CAS-1", "CONTACT_OF_ANOTHER_ACCOUNT")
async def contacts_belong_to_the_account_of_the_case(
    gym: Gym, after: CustomerCase, before: CustomerCase | None
) -> str | None:
    """The contact is an active contact of the account."""
    if not sets_any(after, before, "account_id", "contact_id"):
        return None
    contact = await gym.fetch(Contact, after.contact_id)
    if contact.account_id == after.account_id and contact.active:
        return None
    return (
        f"contact {contact.contact_id} is not an active contact of account {after.account_id}; choose another contact"
    )


@on_write(CustomerCase, "CAS-3", "INSTALLED_PRODUCT_MISMATCH")
async def installed_products_match_the_case(gym: Gym, after: CustomerCase, before: CustomerCase | None) -> str | None:
    """Account and product match, and the status is in_use."""
    if after.installed_product_id is None or not sets_any(
        after, before, "installed_product_id", "account_id", "product_id"
    ):
        return None
    installed = await gym.fetch(InstalledProduct, after.installed_product_id)
    if installed.account_id != after.account_id:
        return (
            f"{installed.serial_number} does not belong to account {after.account_id}; choose another installed product"
        )
    if installed.product_id != after.product_id:
        return f"{installed.serial_number} has product {installed.product_id}; set that product_id in the same call"
    if installed.status != "in_use":
        return f"{installed.serial_number} is {installed.status}, not in_use; omit installed_product_id"
    return None


rule(
    "CAS-5",
    "GROUP_INACTIVE",
    desk.refers_to_active("assignment_group_id", UserGroup, "choose an active group", named="name"),
    CustomerCase,
)
rule(
    "CAS-5",
    "NOT_ASSIGNABLE",
    desk.user_is_eligible("assigned_to", User, WORKERS, "assign an active agent or manager", named="email"),
    CustomerCase,
)
rule(
    "PRC-2",
    "NOT_A_GROUP_MEMBER",
    desk.assignee_is_member("assigned_to", "assignment_group_id", UserGroupMember, group_needed=True),
    CustomerCase,
)
rule("CAS-5", "ASSIGNED_CASE_IS_NEW", desk.begun_if_assigned("assigned_to", "state"), CustomerCase)


@on_write(CustomerCase, "ESC-1", "ESCALATION_INCOMPLETE")
async def escalations_have_a_reason(_gym: Gym, after: CustomerCase, before: CustomerCase | None) -> str | None:
    """Escalation and escalation reason are set together."""
    if not sets_any(after, before, "escalation", "escalation_reason"):
        return None
    if after.escalation and after.escalation_reason is None:
        return "an escalated case also needs escalation_reason; give it in the same call"
    if not after.escalation and sets_any(after, before, "escalation_reason") and after.escalation_reason is not None:
        return "escalation_reason requires escalation; set escalation in the same call, or omit the reason"
    return None


@on_write(CustomerCase, "PRC-4", "ESCALATION_REMOVAL_DENIED")
async def only_managers_and_admins_remove_escalations(
    gym: Gym, after: CustomerCase, before: CustomerCase | None
) -> str | None:
    """Other roles leave escalations in place."""
    if before is None or not before.escalation or after.escalation or gym.actor.role in PRIVILEGED:
        return None
    return "only a manager or an admin may remove an escalation; leave it in place"


@on_write(CustomerCase, "PRC-3", "PRIORITY_DENIED")
async def only_managers_and_admins_set_critical_or_lower_a_priority(
    gym: Gym, after: CustomerCase, before: CustomerCase | None
) -> str | None:
    """Other roles may raise a priority up to high."""
    if gym.actor.role in PRIVILEGED or not sets_any(after, before, "priority"):
        return None
    if after.priority == "critical":
        return "only a manager or an admin may set priority critical; leave the priority unchanged and report it"
    if before is not None and PRIORITIES.index(after.priority) < PRIORITIES.index(before.priority):
        return "only a manager or an admin may lower a priority; leave it unchanged and report it"
    return None


@on_write(CustomerCase, "CAS-7", "RESOLUTION_INCOMPLETE")
async def resolved_cases_have_an_assignee_and_a_resolution_article(
    gym: Gym, after: CustomerCase, before: CustomerCase | None
) -> str | None:
    """A resolved case has an assignee and a linked article with use resolution."""
    if not sets_to(after, before, "state", "resolved"):
        return None
    if after.assigned_to is None:
        return "a resolved case needs an assignee; assign it first"
    if await gym.exists(CaseKnowledge, case_id=after.case_id, used_as="resolution"):
        return None
    return "link the article that solved the case, with used_as resolution, before you resolve it"


rule(
    "CAS-8",
    "NOT_READY_TO_CLOSE",
    desk.closes_after("state", ("sys_updated_on",), QUIET_BEFORE_CLOSING, ("closed_on",)),
    CustomerCase,
)
rule(
    "PRC-1",
    "INVALID_STATE_TRANSITION",
    desk.follows("state", STATE_TRANSITIONS, first=("new", "in_progress")),
    CustomerCase,
)


# --- SLAs, articles, interactions, notifications ---------------------------------------------------------------------


rule(
    "SLA-1",
    "SLA_NOT_APPLICABLE",
    desk.refers_to_active("sla_def_id", SlaDefinition, "link an active SLA definition", named="name"),
    CaseSla,
)


@on_write(CaseSla, "SLA-1", "SLA_NOT_APPLICABLE")
async def slas_match_the_case(gym: Gym, after: CaseSla, before: CaseSla | None) -> str | None:
    """The definition applies to the priority of the case and runs on it only once."""
    if not sets_any(after, before, "sla_def_id", "case_id"):
        return None
    definition, case = await gym.fetch(SlaDefinition, after.sla_def_id), await gym.fetch(CustomerCase, after.case_id)
    if definition.applies_to_priority not in {None, case.priority}:
        return (
            f"{definition.name} is for priority {definition.applies_to_priority}, but {case.number} has {case.priority}"
        )
    running = await gym.all(CaseSla, CaseSla.case_id == after.case_id, CaseSla.sla_def_id == after.sla_def_id)
    duplicates = [
        row for row in running if row.case_sla_id != after.case_sla_id and row.stage in {"in_progress", "paused"}
    ]
    return f"{definition.name} already runs on {case.number}" if duplicates else None


rule("PRC-5", "BREACH_ON_RECORD", desk.flag_stays("has_breached", "SLA is breached"), CaseSla)
RULEBOOK.on_delete(CaseSla, "PRC-5", "BREACH_ON_RECORD")(desk.flagged_rows_stay("has_breached", "SLA is breached"))


@on_write(CaseSla, "PRC-6", "SLA_ENDED")
async def ended_slas_do_not_restart(_gym: Gym, after: CaseSla, before: CaseSla | None) -> str | None:
    """`completed` and `canceled` are final stages."""
    if before is None or before.stage not in {"completed", "canceled"} or after.stage == before.stage:
        return None
    return f"the SLA is {before.stage} and cannot be restarted; link a new SLA if the case needs one"


@on_write(CaseKnowledge, "KB-1", "ARTICLE_MISMATCH")
async def linked_articles_match_the_case(gym: Gym, after: CaseKnowledge, before: CaseKnowledge | None) -> str | None:
    """The article is published, and about the product of the case or no specific product."""
    if not sets_any(after, before, "knowledge_id", "case_id"):
        return None
    article, case = await gym.fetch(Knowledge, after.knowledge_id), await gym.fetch(CustomerCase, after.case_id)
    if article.state != "published":
        return f"{article.kb_number} is {article.state}; link a published article"
    if article.product_id in {None, case.product_id}:
        return None
    return f"{article.kb_number} is about product {article.product_id}, but {case.number} about {case.product_id}"


rule(
    "KB-3",
    "PUBLISHING_DENIED",
    desk.only_roles_set(PRIVILEGED, "state", {"published", "retired"}, "leave the article in its state, or in draft"),
    Knowledge,
)


@on_write(Interaction, "INT-1", "INTERACTION_ACCOUNT_MISMATCH")
async def interactions_have_the_account_of_their_case(
    gym: Gym, after: Interaction, before: Interaction | None
) -> str | None:
    """Interaction and case have the same account."""
    if after.case_id is None or not sets_any(after, before, "case_id", "account_id"):
        return None
    case = await gym.fetch(CustomerCase, after.case_id)
    if case.account_id == after.account_id:
        return None
    return f"{case.number} belongs to account {case.account_id}; give that account_id"


rule("NTF-1", "RECIPIENT_NOT_ELIGIBLE", desk.recipient_is_active("email", User), Notification)


@on_write(Notification, "NTF-1", "RECIPIENT_NOT_ELIGIBLE")
async def recipients_are_contacts_of_the_account_or_staff(
    gym: Gym, after: Notification, before: Notification | None
) -> str | None:
    """A customer who gets a notification is an active contact of the account of the case."""
    user = await gym.find(User, email=after.email, active=True) if sets_any(after, before, "email", "case_id") else None
    if user is None:
        return None
    case = await gym.fetch(CustomerCase, after.case_id)
    is_staff = user.role != "customer"
    if is_staff or await gym.exists(Contact, portal_user_id=user.user_id, account_id=case.account_id, active=True):
        return None
    return f"{after.email} is not an active contact of the account of {case.number}; do not send the notification"


@on_write(Notification, "KB-2", "ARTICLE_INTERNAL")
async def internal_articles_go_to_staff_only(gym: Gym, after: Notification, before: Notification | None) -> str | None:
    """Only external articles are sent to customers."""
    if after.knowledge_id is None or not sets_any(after, before, "knowledge_id", "email"):
        return None
    article = await gym.fetch(Knowledge, after.knowledge_id)
    recipient = await gym.find(User, email=after.email)
    if article.visibility == "external" or (recipient is not None and recipient.role != "customer"):
        return None
    return f"{article.kb_number} is internal; send the notification without it"
