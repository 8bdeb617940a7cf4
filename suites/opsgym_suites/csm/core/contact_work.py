"""Pieces of a solution that go with other work on a case: a conversation on record, a message, an article.

Invariant: the contact of a case follows from the case, so which case is meant is decided before these.
"""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import Account, Contact, CustomerCase, Knowledge, User
from opsgym_suites.csm.calls import (
    find_account,
    find_article,
    find_case,
    find_contact_user,
    find_contacts,
    link,
    notify,
)
from opsgym_suites.csm.core.procedures import Work
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.kit.drafts import call, full_name


def talked(
    records: DeskRecords, case: CustomerCase, handler: User, channel: str = "phone", status: str = "handled"
) -> Work:
    """A conversation with the contact of a case."""
    contact = records.contact_of(case)
    return _on_record(
        records, contact, handler, channel, status, (find_case(case), find_contact_user(contact)), case=case
    )


def talked_with_firm(records: DeskRecords, firm: Account, handler: User, channel: str) -> Work:
    """A conversation with an account's primary contact, about no case."""
    contact = records.primary_contact(firm)
    reads = find_account(firm), find_contacts(firm), find_contact_user(contact)
    return _on_record(records, contact, handler, channel, "handled", reads)


def _on_record(
    records: DeskRecords,
    contact: Contact,
    handler: User,
    channel: str,
    status: str,
    reads: Sequence[ToolCall],
    *,
    case: CustomerCase | None = None,
) -> Work:
    other = next(row for row in records.world.all(Contact, account_id=contact.account_id, active=True)
                 if row is not contact)  # fmt: skip
    case_key = {} if case is None else {"case_id": case.case_id}

    def registered(speaker: Contact) -> ToolCall:
        return call(
            "register_new_interaction",
            channel=channel,
            account_id=contact.account_id,
            contact_id=speaker.contact_id,
            interacted_user=handler.user_id,
            status=status,
            **case_key,
        )

    return Work(
        f"Record the conversation with {full_name(records.user_of(contact))}: {status} (INT-1).",
        tuple(reads),
        (registered(contact),),
        "The conversation is on record.",
        (),
        {"register_new_interaction": "INT-1"},
        {"records it for another contact too": (registered(other),)},
    )


def messaged(records: DeskRecords, case: CustomerCase, kind: str) -> Work:
    """The contact of a case gets a message."""
    contact = records.contact_of(case)
    return Work(
        f"Send its contact a message of type {kind} (NTF-1, NTF-3).",
        (find_case(case), find_contact_user(contact)),
        (notify(case, records.user_of(contact), kind),),
        f"Its contact has a message ({kind}).",
        (),
        {"send_notification": "NTF-1, NTF-3"},
        {"reminds the contact too": (notify(case, records.user_of(contact), "reminder"),)},
    )


def suggested(records: DeskRecords, case: CustomerCase, title: str) -> Work:
    """A published article is linked to a case as a suggestion."""
    article = records.article(title)
    others = records.world.all(Knowledge, product_id=case.product_id, state="published")
    linked = {row.knowledge_id for row in records.linked_articles(case)}
    other = next((row for row in others if row is not article and row.knowledge_id not in linked), None)
    return Work(
        "Link the published article that fits, as suggested (KB-1).",
        (
            find_case(case),
            find_article(article),
            call("retrieve_knowledge", product_id=case.product_id),
            call("find_case_knowledge_linkages", case_id=case.case_id),
        ),
        (link(case, article, "suggested"),),
        f"{article.title} is suggested.",
        (),
        {"link_case_knowledge": "KB-1"},
        {} if other is None else {"suggests a second article": (link(case, other, "suggested"),)},
    )
