"""Tool calls of CSM tasks, and texts that name cases.

Invariant: ids come from rows, so no task states an id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import (
    Account,
    CaseSla,
    Contact,
    CustomerCase,
    Knowledge,
    Product,
    SlaDefinition,
    User,
    UserGroup,
)
from opsgym_suites.kit.drafts import call, full_name


def timestamp(time: datetime) -> str:
    """A time in the form that the tools accept."""
    return f"{time:%Y-%m-%d %H:%M:%S}"


# --- looking up ---------------------------------------------------------------------------------------------------


def find_user(user: User) -> ToolCall:
    """Looks up one of the company's users by name."""
    return call("find_user", name=full_name(user))


def find_case(case: CustomerCase) -> ToolCall:
    """Looks up a case by number."""
    return call("search_cases", number=case.number)


def find_account(account: Account) -> ToolCall:
    """Looks up an account by name."""
    return call("find_account", name=account.name)


def find_team(group: UserGroup) -> ToolCall:
    """Looks up a group by name."""
    return call("find_user_group", name=group.name)


def find_product(product: Product) -> ToolCall:
    """Looks up a product by name."""
    return call("find_product", name=product.name)


def find_contacts(account: Account) -> ToolCall:
    """Lists an account's contacts."""
    return call("find_contacts", account_id=account.account_id)


def find_contact_user(contact: Contact) -> ToolCall:
    """Reads the user row of a contact."""
    return call("list_users", user_id=contact.portal_user_id)


def find_case_slas(case: CustomerCase) -> ToolCall:
    """Lists the SLAs of a case."""
    return call("find_case_slas", case_id=case.case_id)


def find_sla_definitions(priority: str) -> ToolCall:
    """Lists the active SLA definitions of a priority."""
    return call("find_sla_definitions", applies_to_priority=priority, active=True)


def find_entitlements(case: CustomerCase) -> ToolCall:
    """Lists the active entitlements of a case's account."""
    return call("find_entitlements", account_id=case.account_id, active=True)


def find_article(article: Knowledge) -> ToolCall:
    """Looks up an article by title."""
    return call("retrieve_knowledge", title=article.title)


# --- writing -------------------------------------------------------------------------------------------------------


def update_case(case: CustomerCase, **fields: Any) -> ToolCall:
    """Updates a case."""
    return call("update_case", case_id=case.case_id, **fields)


def notify(case: CustomerCase | int, user: User, kind: str, article: Knowledge | None = None) -> ToolCall:
    """Sends a user a notification about a case."""
    more = {} if article is None else {"knowledge_id": article.knowledge_id}
    return call("send_notification", case_id=_id(case), email=user.email, type=kind, **more)


def track(case: CustomerCase | int, definition: SlaDefinition, start: datetime) -> ToolCall:
    """Starts an SLA on a case, with the breach time that follows."""
    return call(
        "link_new_case_sla",
        case_id=_id(case),
        sla_def_id=definition.sla_def_id,
        stage="in_progress",
        start_time=timestamp(start),
        breach_time=timestamp(start + timedelta(minutes=definition.target_mins)),
    )


def stage(sla: CaseSla, stage: str, **fields: Any) -> ToolCall:
    """Sets the stage of an SLA."""
    return call("update_case_sla_details", case_sla_id=sla.case_sla_id, stage=stage, **fields)


def complete_sla(sla: CaseSla, time: datetime) -> ToolCall:
    """Completes an SLA at a time."""
    return stage(sla, "completed", completed_time=timestamp(time))


def link(case: CustomerCase | int, article: Knowledge, use: str) -> ToolCall:
    """Links an article to a case."""
    return call("link_case_knowledge", case_id=_id(case), knowledge_id=article.knowledge_id, used_as=use)


def conversation(case: CustomerCase, user: User, channel: str, *, made: int | None = None) -> ToolCall:
    """Records a conversation with a case's contact that is over; for this case, or the one that was made from it."""
    return call(
        "register_new_interaction",
        channel=channel,
        account_id=case.account_id,
        contact_id=case.contact_id,
        case_id=made or case.case_id,
        interacted_user=user.user_id,
        status="handled",
    )


def _id(case: CustomerCase | int) -> int:
    return case if isinstance(case, int) else case.case_id


def numbers(cases: Iterable[CustomerCase]) -> str:
    """Numbers of cases as a list in an answer."""
    return ", ".join(case.number for case in cases)


def names_all(cases: Sequence[CustomerCase]) -> str:
    """Pattern for an answer that names every one of these cases."""
    return all_of(case.number for case in cases)
