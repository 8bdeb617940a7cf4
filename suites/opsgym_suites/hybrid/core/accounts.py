"""What a customer has bought, and what follows: cases that are covered or not, renewals, and who is a contact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import at_time, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import Contract, CustomerCase
from opsgym_suites.calendar.calls import LIST, create
from opsgym_suites.calendar.calls import on as on_wall
from opsgym_suites.csm import calls as service
from opsgym_suites.drive.calls import labels_of, named, read_text, set_labels
from opsgym_suites.email.calls import answer, read_thread, search, send
from opsgym_suites.hybrid.core.commitments import channel_of, with_contact
from opsgym_suites.hybrid.core.jobs import Job, in_calendar, in_csm, in_drive, in_mail, in_teams, written
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, TEAMS
from opsgym_suites.hybrid.systems import SYDNEY, Systems, in_utc, wall
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.suite import GymServer, Worlds
from opsgym_suites.teams.calls import post

CLERK, OFFICE = "Tamsin Yarwood", "Duncan Iredale"
"""Who answers the phone at the Contracts Office, and who leads it."""


def accounts(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about accounts."""
    systems = Systems(worlds)
    for scene in (_reports, _renewals, _silence):
        for job in scene(systems):
            yield written(systems, job)


# --- a customer rings ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """A fault that a customer reports by phone."""

    slug: str
    account: str
    caller: str
    product: str
    summary: str
    covered: bool
    document: str
    """Key of a file of the account; empty if none is read."""
    says: tuple[str, ...]
    """What the file says that a mail to the head of the office has to state."""
    room: str
    """Channel for a post; empty for a mail."""
    prompt: str


REPORTS = (
    Report(
        "cronulla-rings", "Cronulla Pools", "Keira Fogarty", "Lift Pump F20", "Pump in the plant room leaks", False,
        "cronulla", (r"\b(2|two)\b", r"\binvoices?\b"), "",
        "{caller} of {account} rang me a minute ago, and we've finished. Three people there can't work since a "
        "pump leaks, a {product}, they can't say which one. Please make a case of it, \"{summary}\", and log my "
        "call with it; what the case gets and who hears of it depends on what they have with us at present. On "
        "the document about their suspension comment 'Rang on 16 November.', and mail Duncan Iredale, subject "
        "'Cronulla Pools', how many invoices are open, as it says there. Which priority does the case have?",
    ),
    Report(
        "bendigo-rings", "Bendigo Mines", "Brendan Fogarty", "PumpWatch", "Overview of all stations is empty", True,
        "bendigo-contract", (), "Customer Desk:Bendigo Mines",
        "phone: {caller}, {account}. four of their people sit idle, {product} shows nothing: \"{summary}\". call "
        "is over. new case in those words + my call on record, and whatever the rules want, depending on the "
        "contract that they have. work starts tomorrow, so it stays without an assignee. then 'Rang on 16 "
        "November.' as a comment on their Contract 2026 in Drive (theirs!), and a post in our Bendigo channel of "
        "Customer Desk: who rang, about what. which priority is it?",
    ),
    Report(
        "catskill-rings", "Catskill Dairies", "Roxanne Callaway", "Flow Meter M5", "Meter of the plant counts "
        "double",
        False, "", (), "Customer Desk:General",
        "I've just been on the phone with {caller} from {account}, who reports that a {product} which they "
        "bought at an auction counts double, so that two people can't bill: \"{summary}\". Enter the case and my "
        "conversation. Mind whether what they have from us includes such a meter, and treat the case "
        "accordingly, also towards {caller}. Customer Desk, channel General, gets a post with the account, the "
        "caller and the priority. Which one is it?",
    ),
)  # fmt: skip


def _reports(systems: Systems) -> Iterator[Job]:
    return (_report(systems, one) for one in REPORTS)


def _report(systems: Systems, one: Report) -> Job:
    mail, desk, files = systems.mail, systems.customers, systems.files
    firm, product = desk.world.account(one.account), desk.world.product(one.product)
    caller = desk.world.contact(firm, one.caller)
    user, clerk = desk.user_of(caller), systems.at_customers(CLERK)
    made = desk.world.next_id(CustomerCase)
    priority = "high" if one.covered else "low"
    servers: tuple[GymServer, ...] = (CSM, *((DRIVE,) if one.document else ()), TEAMS if one.room else EMAIL)
    document = files.document(one.document) if one.document else None
    looked = (
        *in_csm(
            service.find_user(clerk),
            service.find_account(firm),
            service.find_contacts(firm),
            service.find_contact_user(caller),
            service.find_product(product),
            call("find_entitlements", account_id=firm.account_id, active=True),
            call("find_contracts", account_id=firm.account_id),
        ),
        *(in_drive(named(document.name.removesuffix(".pdf")), labels_of(document)) if document else ()),
        *(in_drive(read_text(document)) if one.says and document else ()),
        *(channel_of(systems, one.room) if one.room else ()),
    )

    def opened(level: str) -> tuple[ToolCall, ...]:
        return in_csm(
            call(
                "create_new_case",
                account_id=firm.account_id,
                contact_id=caller.contact_id,
                channel="phone",
                product_id=product.product_id,
                priority=level,
                state="new",
                short_description=one.summary,
            )
        )

    logged = in_csm(
        call(
            "register_new_interaction",
            channel="phone",
            account_id=firm.account_id,
            contact_id=caller.contact_id,
            case_id=made,
            interacted_user=clerk.user_id,
            status="handled",
        )
    )
    notified = in_csm(service.notify(made, user, "next_steps"))
    hears = () if one.covered else notified
    commented = (
        in_drive(call("create_comments", fileId=document.id, content="Rang on 16 November.")) if document else ()
    )
    text = f"{one.caller} of {one.account} rang: {one.summary}. The case has priority {priority}. Tamsin"
    if one.room:
        informed = in_teams(post(systems.teams.room(one.room), text))
    else:
        head = mail.mailbox(OFFICE).primary_email
        informed = in_mail(
            send(mail, mail.mailbox(CLERK), [head], one.account, "Two invoices are open, says the document.")
        )
    definitions = desk.sla_definitions(priority)
    wrong = "low" if one.covered else "high"
    return Job(
        one.slug,
        CLERK,
        servers,
        one.prompt.format(caller=one.caller, account=one.account, product=one.product, summary=one.summary),
        (
            "Look up account, caller, product, entitlements and contracts.",
            "Register the case with the priority of its fault if it is covered, else low with next steps (CSM-CAS-4).",
            "Log the call (CSM-INT-1), and write to those who have to know.",
        ),
        (*looked, *opened(priority), *logged, *hears, *commented, *informed),
        f"The case of {one.account} has priority {priority} and is new.",
        (term(priority),),
        ("link_new_case_sla", "update_case", "find_interactions", "assign_case_to_user"),
        {
            "starts an SLA": in_csm(
                call("link_new_case_sla", case_id=made, sla_def_id=definitions[0].sla_def_id, stage="in_progress")
            ),
            **({"sends next steps": notified} if one.covered else {}),
        },
        {
            "sees another cover": (
                (*looked, *opened(wrong), *logged, *hears, *commented, *informed),
                f"The priority is {wrong}, not {priority}.",
            ),
            "logs no call": (
                (*looked, *opened(priority), *hears, *commented, *informed),
                f"It has priority {priority}.",
            ),
            **(
                {}
                if one.covered
                else {
                    "leaves the caller without a word": (
                        (*looked, *opened(priority), *logged, *commented, *informed),
                        f"It has priority {priority}.",
                    )
                }
            ),
        },
        in_mails={"invoices": one.says} if one.says else {},
        in_posts={"rang": (term(one.caller.rpartition(" ")[2]),)} if one.room else {},
        access=Access.PUBLISHED if one.covered else Access.STRICT,
    )


# --- renewals --------------------------------------------------------------------------------------------------------


def _renewed(contract: Contract, status: str, end: str) -> tuple[ToolCall, ...]:
    """The contract that follows another one [CON-3]."""
    return in_csm(
        call(
            "enlist_new_contract",
            account_id=contract.account_id,
            contract_type=contract.contract_type,
            status=status,
            contract_price=contract.contract_price,
            start_date="2027-01-01",
            end_date=end,
        )
    )


def _renewals(systems: Systems) -> Iterator[Job]:
    yield _two_years(systems)
    yield _one_more_year(systems)


def _two_years(systems: Systems) -> Job:
    """Of two contracts only one ends this year; a mail states the term, and nothing is signed."""
    mail, desk, files = systems.mail, systems.customers, systems.files
    duncan, firm = mail.mailbox(OFFICE), desk.world.account("Bendigo Mines")
    wish, last = (mail.message("bendigo-contract", OFFICE, turn) for turn in (0, 2))
    subscription, support = desk.contract(firm, "subscription"), desk.contract(firm)
    scan = files.document("bendigo-contract")
    room = systems.teams.room("Customer Desk:Bendigo Mines")
    looked = (
        *in_csm(
            service.find_user(systems.at_customers(OFFICE)),
            service.find_account(firm),
            call("find_contracts", account_id=firm.account_id),
            call("find_entitlements", account_id=firm.account_id),
        ),
        *in_mail(search(duncan, "subject:contract"), read_thread(wish, mail)),
        *in_drive(named("Contract 2026"), labels_of(scan)),
        *channel_of(systems, "Customer Desk:Bendigo Mines"),
    )
    entered = _renewed(subscription, "draft", "2028-12-31")
    replied = in_mail(
        answer(mail, duncan, last, "We have entered the renewal, 1 January 2027 to 31 December 2028; to be signed.")
    )
    commented = in_drive(call("create_comments", fileId=scan.id, content="Renewal is entered."))
    posted = in_teams(post(room, "I, Duncan, have entered the renewal of Bendigo's subscription as a draft."))
    return Job(
        "bendigo-renews-what-ends",
        OFFICE,
        (CSM, EMAIL, DRIVE, TEAMS),
        "Bendigo Mines wants to renew; what and for how long is in our mails, but not which contract they mean: "
        "it's the one that ends with this year. Nothing is signed so far. Enter it the way our rules want a "
        "renewal, price as it is now; answer their last mail in the thread with its first and last day; comment "
        "'Renewal is entered.' on their Contract 2026 on Drive; and post in our channel Bendigo Mines that I, "
        "Duncan, have entered the renewal, and of which type of contract. Which type is it?",
        (
            "Read contracts and entitlements, the thread (two years at this year's price), file and channel.",
            "Enter a draft of the same type from the day after the old one ends (CSM-CON-1, CSM-CON-3).",
            "Answer, comment and post.",
        ),
        (*looked, *entered, *replied, *commented, *posted),
        "It is the subscription: a draft from 1 January 2027 to 31 December 2028 at this year's price.",
        (term("subscription"),),
        ("update_contract", "update_entitlement", "update_files", "create_draft"),
        {
            "ends the old one": in_csm(
                call("update_contract", contract_id=subscription.contract_id, status="suspended")
            ),
            "moves an entitlement of the other contract": in_csm(
                call(
                    "update_entitlement",
                    entitlement_id=desk.entitlements(support, active=True)[0].entitlement_id,
                    contract_id=desk.world.next_id(Contract),
                )
            ),
        },
        {
            "renews the other one": (
                (*looked, *_renewed(support, "draft", "2028-12-31"), *replied, *commented, *posted),
                "The support, not the subscription.",
            ),
            "takes it for signed": (
                (*looked, *_renewed(subscription, "active", "2028-12-31"), *replied, *commented, *posted),
                "The subscription.",
            ),
            "renews for one year": (
                (*looked, *_renewed(subscription, "draft", "2027-12-31"), *replied, *commented, *posted),
                "The subscription.",
            ),
        },
        evidence=(wish,),
        in_mails={"renewal": (on_date(on_wall("01-01", 2027)), r"\b(31|2028)\b")},
        in_posts={"renewal": (r"\bsubscription\b", r"\b(duncan|i)\b")},
    )  # fmt: skip


def _one_more_year(systems: Systems) -> Job:
    """A support contract is renewed and signed: what hangs on the old one moves, and the scan is kept longer."""
    mail, desk, files = systems.mail, systems.customers, systems.files
    duncan, firm = mail.mailbox(OFFICE), desk.world.account("Kelder Water")
    old, scan = desk.contract(firm), files.document("kelder-contract")
    moving, before = desk.entitlements(old, active=True), desk.contract(firm, "support", "expired")
    made = desk.world.next_id(Contract)
    contact = desk.primary_contact(firm)
    user = desk.user_of(contact)
    room = systems.teams.room("Customer Desk:Kelder Water")
    looked = (
        *in_csm(
            service.find_user(systems.at_customers(OFFICE)),
            service.find_account(firm),
            call("find_contracts", account_id=firm.account_id),
            call("find_entitlements", account_id=firm.account_id),
            service.find_contacts(firm),
            service.find_contact_user(contact),
        ),
        *in_drive(named("Contract 2026"), labels_of(scan)),
        *channel_of(systems, "Customer Desk:Kelder Water"),
    )

    def moved(rows: list[Any]) -> tuple[ToolCall, ...]:
        return in_csm(
            *(call("update_entitlement", entitlement_id=row.entitlement_id, contract_id=made) for row in rows)
        )

    entered = _renewed(old, "active", "2027-12-31")
    lasting = in_drive(set_labels(files, scan, retention_until="2028-12-31"))
    sent = in_mail(send(mail, duncan, [user.email], "Your support", "It goes on until 31 December 2027. Thank you."))
    posted = in_teams(post(room, "Kelder Water has signed for support until 31 December 2027. Duncan"))
    return Job(
        "kelder-signs-for-a-year",
        OFFICE,
        (CSM, DRIVE, EMAIL, TEAMS),
        "Kelder Water signed this morning: one more year of support at the price of this one. Set the renewal up "
        "with all that our rules connect with it. Their Contract 2026 on Drive must be kept a year longer than "
        "it is now, to the day; its other label stays. Write to their primary contact, subject 'Your support', "
        "until when it goes on now, and post the same in the channel Kelder Water with my name, Duncan. How many "
        "entitlements moved?",
        (
            "Read contracts, entitlements and contacts, and the labels of the right file of that name.",
            "Enter the signed contract for 2027, and move the entitlements of the old one (CSM-CON-1, CSM-CON-3).",
            "Extend the retention by a year, write to the primary contact, and post.",
        ),
        (*looked, *entered, *moved(moving), *lasting, *sent, *posted),
        f"{len(moving)} entitlements moved to the new contract of Kelder Water, which ends on 31 December 2027.",
        (r"\b(2|two)\b",),
        ("update_contract", "add_new_entitlement", "update_files", "send_notification"),
        {
            "ends the old one": in_csm(call("update_contract", contract_id=old.contract_id, status="expired")),
            "takes the type away": in_drive(set_labels(files, scan, document_type="invoice")),
        },
        {
            "moves all that they ever had": (
                (
                    *looked,
                    *entered,
                    *moved([*moving, *desk.entitlements(before)]),
                    *lasting,
                    *sent,
                    *posted,
                ),
                "Two, no, all four moved.",
            ),
            "leaves them": ((*looked, *entered, *lasting, *sent, *posted), "None of the two moved."),
            "enters a draft": (
                (*looked, *_renewed(old, "draft", "2027-12-31"), *moved(moving), *lasting, *sent, *posted),
                "Two moved.",
            ),
        },
        in_mails={"goes on": (on_date(on_wall("12-31", 2027)),)},
        in_posts={"support": (on_date(on_wall("12-31", 2027)), r"\bduncan\b")},
    )


# --- three weeks of silence ------------------------------------------------------------------------------------------


def _silence(systems: Systems) -> Iterator[Job]:
    """A customer waits since October for who has left; the case is escalated, and the right one writes."""
    mail, desk, actor = systems.mail, systems.customers, "Lachlan Ord"
    lachlan, case = mail.mailbox(actor), desk.world.case("gow-bendigo")
    contact = desk.contact_of(case)
    user, group = desk.user_of(contact), desk.group_of(case)
    people = (actor, "Linnea Storrs")
    first, latest = (in_utc(on_wall(f"11-18 {hour}"), SYDNEY) for hour in ("10:30", "17:00"))
    start = systems.first_free(people, first, 30, latest)
    local = wall(start, SYDNEY)
    room = systems.teams.room("Customer Desk:Bendigo Mines")
    looked = (
        *with_contact(systems, actor, case),
        *in_csm(
            service.find_entitlements(case),
            call("list_group_members", group_id=group.group_id),
            *(call("list_users", user_id=one.user_id) for one in desk.members(group)),
        ),
        *channel_of(systems, "Customer Desk:Bendigo Mines"),
        *in_calendar(LIST, systems.busy(people, first.date(), start.date())),
    )

    def raised(reason: str) -> tuple[ToolCall, ...]:
        return in_csm(
            service.update_case(case, escalation=True, escalation_reason=reason),
            *(service.notify(case, one, "alert") for one in desk.managers(case)),
        )

    wrote = in_mail(
        send(mail, lachlan, [user.email], "Shaft in the overview", "Philippa Gow has left us. I have your case now.")
    )

    def entered(time: Any) -> tuple[ToolCall, ...]:
        own = systems.own(actor)
        return in_calendar(
            create(own, "Shaft of Bendigo", time, 30, SYDNEY, attendees=systems.guests(["Linnea Storrs"]))
        )

    posted = in_teams(post(room, f"{case.number} is escalated; I, Lachlan, have written to the contact."))
    yield Job(
        "three-weeks-of-silence",
        actor,
        (CSM, EMAIL, CALENDAR, TEAMS),
        f"{case.number}: they've been writing to Philippa Gow for weeks, who has left. So: escalate it properly, "
        "reason and alerts as per policy (no matter who's on holiday). Write to its contact, subject "
        "'Shaft in the overview', that Philippa Gow has left and that I have the case now. Half an hour with Linnea "
        "Storrs in my own calendar, 'Shaft of Bendigo', wednesday 18 November, first full or half hour from 10:30 in "
        "Sydney when we're both free, done by 17:00. And post in our channel Bendigo Mines that it's escalated "
        "and that I've written to the contact, with number and my name. Reason, and time with Linnea?",
        (
            "Read case, SLAs, contact, entitlements, the group's members, channel and calendars.",
            "The account has an enterprise entitlement: vip (CSM-ESC-2); alert the active manager (CSM-ESC-3).",
            "Write a new mail to the contact, enter the talk, and post.",
        ),
        (*looked, *raised("vip"), *wrote, *entered(local), *posted),
        f"{case.number} is escalated, reason vip; the talk with Linnea Storrs is on 18 November at {local:%H:%M}.",
        (term("vip"), at_time(local)),
        ("register_new_interaction", "assign_case_to_user", "update_case_sla_details", "send_chat_message"),
        {
            "informs the contact twice": in_csm(service.notify(case, user, "update")),
            "starts the SLA again": in_csm(service.update_case(case, priority="high")),
        },
        {
            "calls it a risk of breach": (
                (*looked, *raised("breach_risk"), *wrote, *entered(local), *posted),
                f"Breach risk, not vip; {local:%H:%M}.",
            ),
            "spares who is on leave": (
                (*looked, *raised("vip")[:1], *wrote, *entered(local), *posted),
                f"Reason vip, {local:%H:%M}.",
            ),
            "sends no mail": ((*looked, *raised("vip"), *entered(local), *posted), f"Reason vip, {local:%H:%M}."),
        },
        access=Access.STRICT,
        in_mails={"Philippa": (r"\bgow\b|\bphilippa\b", r"\b(left|gone|no longer)\b")},
        in_posts={"escalated": (case.number, r"\b(lachlan|i)\b")},
    )
