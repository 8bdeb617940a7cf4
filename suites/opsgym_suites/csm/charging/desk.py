"""Cases at the desk: they wait, are taken up, solved, raised, and reported again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of
from opsgym_domains.csm.tables import CustomerCase, Product
from opsgym_suites.csm.calls import (
    complete_sla,
    conversation,
    find_article,
    find_case,
    find_case_slas,
    find_contact_user,
    find_entitlements,
    find_user,
    link,
    notify,
    numbers,
    update_case,
)
from opsgym_suites.csm.core.case_intake import reprioritise
from opsgym_suites.csm.core.case_lifecycle import resolve
from opsgym_suites.csm.core.several_days import THIRD_TIME, Overnight, TakenUp, case_over_days, waiting_case
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import answer_says

OVERNIGHT = (
    Overnight(
        "depot-has-to-restart-its-modem", "Greta Lundqvist", "depot-offline", "Depot Charger P60 goes offline",
        "06-15 08:00", "phone",
        "The three chargers at Corvid's depot: they have to restart the modem themselves, at the weekend. Nothing for "
        "us to do before that. Please set my case accordingly, with all that belongs to it.",
        "{contact} phoned me at half past seven: power saving is off, as our article on the P60 going offline says, "
        "and all three are back. We have hung up. Log the call, and the case is through.",
    ),
    Overnight(
        "reader-waits-for-its-certificate", "Renata Kolar", "reader-refuses", "Card Reader R3 refuses cards",
        "06-15 09:30", "email",
        "Lumiere Parking must first send me the serial of the certificate for the exit reader. I asked for it. Until "
        "then that case is theirs to move.",
        "Serial came by mail from {contact}, I answered, certificate is loaded, cards work - the article on refused "
        "cards to the letter. Put the mail on file and bring the case to resolved.",
        access=Access.STRICT,
    ),
)  # fmt: skip
TAKEN_UP = (
    TakenUp(
        "night-buses-in-two-days", "Ewan Strachan", "plan-midnight", "Pavel Novotny", "FleetPlan across midnight",
        ("06-12 15:00",),
        (
            "Solent's night buses are Pavel's from now on. Start the case for him, complete with whatever has to run.",
            ("Pavel split the shift at midnight as our article on FleetPlan across midnight says; the plan is whole. "
            "Finish the case, and tell me which of its SLAs was breached, response or resolution."),
        ),
        Access.STRICT,
    ),
    TakenUp(
        "mall-map-in-three-days", "Ewan Strachan", "hub-blank", "Salome Ferreira", "Stations missing in ChargeHub",
        ("06-12 08:30", "06-15 11:00"),
        (
            "Marlowe's blank map goes to Salome Ferreira. Take care of the start, please, as the rules describe it.",
            "Salome cannot go on before Marlowe has named the operator's area. Park yesterday's case properly.",
            ("The area is named and the stations are assigned to it, just as in the article on stations missing in "
            "ChargeHub. The map is full. Wrap it up."),
        ),
    ),
)  # fmt: skip


def over_days(world: World) -> Iterator[Draft]:
    """Cases wait for their customers or are taken up, and are solved on a later day."""
    for waiting in OVERNIGHT:
        yield waiting_case(world, waiting)
    for taken in TAKEN_UP:
        yield case_over_days(world, taken)


def solved_and_raised(world: World) -> Iterator[Draft]:
    """Cases are resolved, also with an article that has to be published first, or become critical."""
    yield resolve(
        world,
        slug="double-bookings-reconciled",
        actor="Mirela Petrov",
        keys=("double-booking",),
        title="Double bookings in PaySuite",
        prompt=(
            "Wes has run the reconciliation for Ravello, exactly our article on double bookings in PaySuite, and the "
            "guests have their money back: {numbers}. Please take that case to resolved for Wes, complete."
        ),
    )
    yield reprioritise(
        world,
        slug="pinnacle-north-stands-still",
        actor="Camila Duarte",
        key="north-dark",
        priority="critical",
        reason="impact",
        prompt=(
            "{number}: now every charger at Pinnacle North is dead, the site has come to a standstill. Critical and "
            "escalated, please, with all that our rules attach to either."
        ),
    )
    yield _published_and_solved(world)


def _published_and_solved(world: World) -> Draft:
    """A manager approves the draft that solved a case; only then can it be linked."""
    records, acting, case = DeskRecords(world), world.user("Camila Duarte"), world.case("south-half")
    article, contact = records.article("Fast Charger P150 and cold nights"), records.contact_of(case)
    older = records.article("Fast Charger P150 with a dark screen")
    user = records.user_of(contact)
    draft = Draft(
        slug="cold-nights-published-and-solved",
        actor=acting,
        prompt=(
            f"Heating the cabinet did it at Pinnacle South, {case.number} is solved. Greta wrote that up as "
            f'"{article.title}"; I have read the text and approve it as it is. Resolve the case with it the way our '
            "rules want."
        ),
        plan=(
            "Look up Camila: a manager. Look up the case, its SLA and contact, and the article: a draft.",
            "Publish the article (KB-3), since only published ones are linked (KB-1); link it as resolution.",
            "Resolve the case (CAS-7), complete its SLA (SLA-5), send the solution_proposal with the article.",
        ),
        gold=(
            find_user(acting),
            find_case(case),
            find_case_slas(case),
            find_article(article),
            find_contact_user(contact),
            call("update_knowledge", knowledge_id=article.knowledge_id, state="published"),
            link(case, article, "resolution"),
            update_case(case, state="resolved"),
            *(complete_sla(sla, world.now) for sla in records.running_slas(case)),
            notify(case, user, "solution_proposal", article),
        ),
        answer=f"{article.kb_number} is published, and {case.number} is resolved with it.",
        verifiers=(
            answer_says(
                "names_both",
                "The answer names the case and the article [REF-3]",
                all_of([case.number, article.kb_number]),
            ),
        ),
        tools=("create_knowledge", "updated_linked_case_knowledge", "find_contacts", "delete_case_slas"),
        mistakes={
            "links the older article too": (link(case, older, "resolution"),),
            "makes it internal": (call("update_knowledge", knowledge_id=article.knowledge_id, visibility="internal"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_case": "CAS-7", "update_case_sla_details": "SLA-5", "send_notification": "CAS-7, KB-2"},
    )


# --- reported again ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportedAgain:
    """Customers report cases again, of which one is resolved for the third time and one is closed."""

    slug: str
    actor: str
    resolved: tuple[str, ...]
    """Keys of the resolved cases."""
    firm: str
    """Customer whose newest closed case comes back."""
    summary: str
    priority: str
    channel: str
    prompt: str
    """Names `{cases}`; `{old}` is the closed one."""


REPORTED_AGAIN = (
    ReportedAgain(
        "three-customers-call-again", "Greta Lundqvist", ("breaker-trips", "garage-heat"), "Oakridge College",
        "The wallbox at the gym is dead again", "moderate", "phone",
        "Three calls after lunch, all over by now, each from the contact of the case and each with the old trouble: "
        '{cases} and {old}. Oakridge\'s words were "{summary}"; it is a nuisance and no more. Everything gets going '
        "again the way our rules have it - look how each one stands. A new one is for the same product, without "
        "device, group or assignee. My calls go on record with the case that goes on.",
    ),
    ReportedAgain(
        "taxis-and-buses-write-again", "Salome Ferreira", ("taxi-plan",), "Solent Buses",
        "Same trouble as before since Tuesday night", "moderate", "email",
        "Kobayashi and Solent both mailed that we were wrong: {cases} and {old} are back. I have answered both mails. "
        'Solent writes "{summary}" and is not held up by it. Put each matter back to work as its record allows, file '
        "the mails with what goes on, and mind how often it was. A new case has the product of the old one and no "
        "device, group or assignee.",
    ),
    ReportedAgain(
        "deck-and-mall-chat-again", "Renata Kolar", ("deck-reader", "breaker-trips"), "Quayside Marina",
        "It does it again on the pontoon", "moderate", "chat",
        "In the chat today, closed conversations all of them: the contacts of {cases} and of {old}, and each says that "
        'nothing is better. From Quayside I have "{summary}", one berth is concerned. Let everything continue as our '
        "rules say, whatever that means for each, and enter the chats. If it takes a new case: same product, no "
        "device, no group.",
    ),
)  # fmt: skip


def reported_again(world: World) -> Iterator[Draft]:
    """Resolved cases go on, closed ones get a successor, and the third return is escalated."""
    for scene in REPORTED_AGAIN:
        yield _reported_again(world, scene)


def _newest_closed(world: World, firm: str) -> CustomerCase:
    """A customer's newest closed case that is covered and whose contact is active."""
    records = DeskRecords(world)
    account = world.account(firm)
    active = {contact.contact_id for contact in records.contacts(account)}
    cases = world.all(CustomerCase, account_id=account.account_id, state="closed")
    return [case for case in cases if case.contact_id in active and records.covered(case)][-1]


def _reported_again(world: World, scene: ReportedAgain) -> Draft:
    records, acting = DeskRecords(world), world.user(scene.actor)
    cases, old, made = (
        [*map(world.case, scene.resolved)],
        _newest_closed(world, scene.firm),
        world.next_id(CustomerCase),
    )
    third = [case for case in cases if case.reopen_count + 1 >= THIRD_TIME]
    product = world.one(Product, product_id=old.product_id)
    new = call(
        "create_new_case",
        account_id=old.account_id,
        contact_id=old.contact_id,
        channel=scene.channel,
        product_id=old.product_id,
        priority=scene.priority,
        state="new",
        short_description=scene.summary,
    )
    again = [
        update_case(
            case,
            state="in_progress",
            reopen_count=case.reopen_count + 1,
            **({"escalation": True, "escalation_reason": "customer_request"} if case in third else {}),
        )
        for case in cases
    ]
    alerts = [notify(case, user, "alert") for case in third for user in records.managers(case)]
    draft = Draft(
        slug=scene.slug,
        actor=acting,
        prompt=scene.prompt.format(cases=numbers(cases), old=old.number, summary=scene.summary),
        plan=(
            f"Look up {scene.actor} and each case: {old.number} is closed, the others are resolved.",
            "Set the resolved ones in progress, one more in reopen_count (CAS-9); do not start SLAs again.",
            "Escalate what returns for the third time, and alert the managers of its group (ESC-3, ESC-4).",
            "Register a new case for the closed one after a look at its cover (CAS-4, CAS-9), and all conversations.",
        ),
        gold=(
            find_user(acting),
            *map(find_case, [*cases, old]),
            *(call("list_group_members", group_id=case.assignment_group_id) for case in third),
            *(call("list_users", user_id=user.user_id) for case in third for user in records.managers(case)),
            find_entitlements(old),
            call("find_contracts", account_id=old.account_id, status="active"),
            *again,
            *alerts,
            new,
            *(conversation(case, acting, scene.channel) for case in cases),
            conversation(old, acting, scene.channel, made=made),
        ),
        answer=(
            f"In progress again: {numbers(cases)}; escalated: {numbers(third)}. {old.number} is closed, so the trouble "
            f"with the {product.name} is CS-{made:07d} now."
        ),
        verifiers=(
            answer_says(
                "names_the_cases",
                "The answer names the cases that go on [REF-3]",
                all_of([*(case.number for case in cases), f"CS-{made:07d}"]),
            ),
        ),
        tools=("link_new_case_sla", "update_case_sla_details", "find_contacts", "search_cases"),
        mistakes={
            "reopens the closed one": (update_case(old, state="in_progress"),),
            "raises what came back": (update_case(third[0], priority="high"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_case": "CAS-9, ESC-4", "send_notification": "ESC-3", "create_new_case": "CAS-1, CAS-9"},
    )


FAMILIES = (over_days, solved_and_raised, reported_again)
