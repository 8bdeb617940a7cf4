"""Tasks about the states of cases: pending, resolved, closed, reopened, escalated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.rules import QUIET_BEFORE_CLOSING
from opsgym_domains.csm.tables import CustomerCase, Knowledge, User
from opsgym_suites.csm.calls import (
    complete_sla,
    conversation,
    find_article,
    find_case,
    find_case_slas,
    find_contact_user,
    find_entitlements,
    find_product,
    find_team,
    find_user,
    link,
    names_all,
    notify,
    numbers,
    stage,
    timestamp,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call, full_name
from opsgym_suites.kit.verifiers import answer_says

THIRD_TIME = 3
"""Reopening that leads to an escalation [ESC-4]."""

PHOTOGRAPHED = ("Frost Sensor F2", "Humidity Probe H2")

# --- waiting -------------------------------------------------------------------------------------------------------


def waiting(world: World) -> Iterator[Draft]:
    """Cases are set to pending, and back to in progress when the customers have answered."""
    yield _wait(
        world,
        slug="lena-waits-for-photos",
        actor="Lena Fischer",
        cases=lambda records, acting: [
            case
            for case in records.world.all(CustomerCase, assigned_to=acting.user_id, state="in_progress")
            if case.product_id in {records.world.product(name).product_id for name in PHOTOGRAPHED}
        ],
        prompt=(
            "For everything that I have in progress about the Frost Sensor F2 and the Humidity Probe H2, I have asked "
            "the customers for photos and cannot go on without them. Please have all of these cases wait, with all "
            "that it brings along. I asked by phone, the contact of each case in a call of its own. These calls are "
            "over, so enter them for me as well. What I have about other products goes on."
        ),
    )
    yield _go_on(
        world,
        slug="gateway-cases-go-on",
        actor="Maya Torres",
        prompt=(
            "All the customers whose cases I had put on wait have answered over the weekend. Please let everything of "
            "mine that is pending go on, and nothing else."
        ),
    )


def _wait(
    world: World, *, slug: str, actor: str, cases: Callable[[DeskRecords, User], Sequence[CustomerCase]], prompt: str
) -> Draft:
    records, acting = DeskRecords(world), world.user(actor)
    chosen = cases(records, acting)
    contacts = {case.contact_id: records.contact_of(case) for case in chosen}
    slas = [sla for case in chosen for sla in records.pausable_slas(case, "in_progress")]
    other = next(
        case for case in world.all(CustomerCase, assigned_to=acting.user_id, state="in_progress") if case not in chosen
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(numbers=numbers(chosen)),
        plan=(
            f"Look up {actor} and the cases, their SLAs and contacts.",
            "Set each case to pending (CAS-6).",
            "Pause the SLAs in progress whose definition pauses on pending, no others (SLA-4).",
            "Send the contact of each case a reminder (CAS-6, NTF-2).",
            "Record a call with the contact of each case, handled (INT-1).",
        ),
        gold=(
            find_user(acting),
            call("get_cases_assigned_to", assigned_to=acting.user_id),
            *(find_case_slas(case) for case in chosen),
            call("find_sla_definitions", active=True),
            *(find_contact_user(contact) for contact in contacts.values()),
            *(update_case(case, state="pending") for case in chosen),
            *(stage(sla, "paused") for sla in slas),
            *(notify(case, records.user_of(records.contact_of(case)), "reminder") for case in chosen),
            *(conversation(case, acting, "phone") for case in chosen),
        ),
        answer=f"Pending, with a reminder to each contact: {numbers(chosen)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(chosen)),),
        tools=("search_cases", "find_products", "find_contacts", "find_notifications"),
        mistakes={
            "has another one wait": (update_case(other, state="pending"),),
            "records a call about another one": (conversation(other, acting, "phone"),),
            "resolves one": (update_case(chosen[0], state="resolved"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_case": "CAS-6", "update_case_sla_details": "SLA-4", "send_notification": "CAS-6, NTF-3"},
    )


def _go_on(world: World, *, slug: str, actor: str, prompt: str) -> Draft:
    records, acting = DeskRecords(world), world.user(actor)
    cases = world.all(CustomerCase, assigned_to=acting.user_id, state="pending")
    slas = [sla for case in cases for sla in records.pausable_slas(case, "paused")]
    colleague = next(
        case for case in world.all(CustomerCase, state="pending") if case.assigned_to not in {None, acting.user_id}
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, and which of the cases are pending.",
            "Look at the SLAs that are paused on them.",
            "Set each case in progress, and its paused SLAs too (SLA-4).",
        ),
        gold=(
            find_user(acting),
            call("get_cases_assigned_to", assigned_to=acting.user_id),
            *(find_case_slas(case) for case in cases),
            *(update_case(case, state="in_progress") for case in cases),
            *(stage(sla, "in_progress") for sla in slas),
        ),
        answer=f"These go on: {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
        tools=("search_cases", "send_notification", "find_interactions", "find_sla_definitions"),
        mistakes={"lets a colleague's go on": (update_case(colleague, state="in_progress"),)},
    )
    return with_verifiers(world, draft, rules={"update_case": "SLA-4", "update_case_sla_details": "SLA-4"})


# --- solved --------------------------------------------------------------------------------------------------------


def solved(world: World) -> Iterator[Draft]:
    """Cases are resolved, and the article that helped is linked."""
    yield resolve(
        world,
        slug="night-loggers-solved",
        actor="Grace Holloway",
        keys=("yard-loggers",),
        title="Transport Logger T5 stops on trips",
        prompt=(
            "Kestrel's drivers now press start long enough, as our article on loggers that stop on trips says, and "
            "{numbers} is solved. Please bring it to resolved with everything that goes with it."
        ),
    )
    yield resolve(
        world,
        slug="blood-alarms-solved",
        actor="Simone Baptiste",
        keys=("blood-alarm",),
        title="Shift plans in Alarm Router",
        prompt=(
            "{numbers}: I have published Hudson's shift plan again, just as our article about shift plans in the Alarm "
            "Router describes, and the alarms arrive. Please resolve the case in the way our rules want."
        ),
    )
    yield resolve(
        world,
        slug="humidity-probes-solved",
        actor="Priya Venkat",
        keys=("museum-probe", "vaccine-probe"),
        title="Humidity Probe H2 stuck at a value",
        prompt=(
            "Drying the filter cap has helped both at the Tamesis archive and at the Pacific Vaccine Store, as the "
            "article about stuck probes says: {numbers}. Please resolve both for Lena and Asha, who keep them, with "
            "what belongs to it."
        ),
    )
    yield resolve(
        world,
        slug="dairy-drift-solved",
        actor="Asha Nair",
        keys=("dairy-drift",),
        title="Frost Sensor F1 drifts after defrost",
        prompt=(
            "The milk tank of Anand Dairy ({numbers}) reads right since I have set the defrost filter, see our article "
            "on drift after defrost. That case can go to resolved; you know what else has to happen."
        ),
    )


def resolve(world: World, *, slug: str, actor: str, keys: Sequence[str], title: str, prompt: str) -> Draft:
    """Cases are resolved with the article of this title."""
    records, acting, article = DeskRecords(world), world.user(actor), world.one(Knowledge, title=title)
    cases = [world.case(key) for key in keys]
    shown = article if article.visibility == "external" else None
    contacts = [records.contact_of(case) for case in cases]
    other = next(
        row for row in world.all(Knowledge, state="published") if row.product_id not in (None, article.product_id)
    )
    inside: dict[str, tuple[ToolCall, ...]] = (
        {}
        if shown
        else {"sends the internal article": (notify(cases[0], records.user_of(contacts[0]), "update", article),)}
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(numbers=numbers(cases)),
        plan=(
            f"Look up {actor}, the case, its SLAs, its contact, and the article: published, about this product.",
            "Link the article as resolution, then set the case to resolved (CAS-7).",
            "Complete the SLAs that are not over, with the time (SLA-5).",
            "Send the contact a solution_proposal, with the article if it is external (CAS-7, KB-2).",
        ),
        gold=(
            find_user(acting),
            *(find_case(case) for case in cases),
            find_article(article),
            *(find_case_slas(case) for case in cases),
            *(call("find_case_knowledge_linkages", case_id=case.case_id) for case in cases),
            *(find_contact_user(contact) for contact in contacts),
            *(link(case, article, "resolution") for case in cases),
            *(update_case(case, state="resolved") for case in cases),
            *(complete_sla(sla, world.now) for case in cases for sla in records.running_slas(case)),
            *(
                notify(case, records.user_of(contact), "solution_proposal", shown)
                for case, contact in zip(cases, contacts, strict=True)
            ),
        ),
        answer=f"Resolved with {article.kb_number}: {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
        tools=("updated_linked_case_knowledge", "find_contacts", "find_interactions", "create_knowledge"),
        mistakes={
            "closes it at once": (update_case(cases[0], state="closed", closed_on=timestamp(world.now)),),
            "links another product's article too": (link(cases[0], other, "applied"),),
            **inside,
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_case": "CAS-7",
            "update_case_sla_details": "SLA-5",
            "send_notification": "CAS-7, KB-2",
        },
    )


# --- closed --------------------------------------------------------------------------------------------------------


def settled(world: World) -> Iterator[Draft]:
    """Resolved cases are closed after the required days without a change."""
    yield _close(
        world,
        slug="close-door-sensors",
        actor="Priya Venkat",
        team="Sensor Support",
        product="Door Sensor D4",
        prompt=(
            "We stop chasing door sensors: every resolved case of Sensor Support about the Door Sensor D4 that may be "
            "closed according to our rules is to be closed. Other products are not my concern today."
        ),
    )


def _close(world: World, *, slug: str, actor: str, team: str, prompt: str, product: str | None = None) -> Draft:
    acting, group = world.user(actor), world.group(team)
    item = world.product(product) if product else None
    resolved = world.all(CustomerCase, assignment_group_id=group.group_id, state="resolved")
    resolved_cases = [case for case in resolved if item is None or case.product_id == item.product_id]
    ready = [case for case in resolved_cases if world.now - (case.sys_updated_on or world.now) >= QUIET_BEFORE_CLOSING]
    fresh = [case for case in resolved if case not in ready]
    staying = [case for case in resolved_cases if case not in ready]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor} and the group; list the resolved cases" + (" and the product." if item else "."),
            "Keep those of the group in which nothing has changed for five full days (CAS-8).",
            "Close each with closed_on now; leave the others.",
        ),
        gold=(
            find_user(acting),
            find_team(group),
            *([find_product(item)] if item else []),
            call("search_cases", state="resolved"),
            call("get_cases_assigned_to", assignment_group_id=group.group_id),
            *(update_case(case, state="closed", closed_on=timestamp(world.now)) for case in ready),
        ),
        answer=f"Closed: {numbers(ready)}." + (f" Too fresh: {numbers(staying)}." if staying else ""),
        verifiers=(answer_says("names_cases", "The answer names the cases [REF-3]", names_all(staying or ready)),),
        tools=("list_user_groups", "count_case_by_state", "find_case_slas", "send_notification"),
        mistakes={"closes a fresh one": (update_case(fresh[-1], state="closed", closed_on=timestamp(world.now)),)},
    )
    return with_verifiers(world, draft, rules={"update_case": "CAS-8"})


# --- reopened ------------------------------------------------------------------------------------------------------


def reopened(world: World) -> Iterator[Draft]:
    """Customers report that resolved cases are not fixed."""
    yield _reopen(
        world,
        slug="hub-delay-for-the-third-time",
        actor="Maya Torres",
        key="ota-delay",
        prompt=(
            "The Ota hub of Sakura Logistics writes that its readings are late again, so {number} was not solved. "
            "Please take it up again the way our rules have it. Look how often that has happened before."
        ),
    )
    yield _reopen(
        world,
        slug="godown-probe-jumps-again",
        actor="Yuki Tanabe",
        key="spice-probe",
        prompt=(
            "Malabar Spices has phoned: their probe jumps as it did before, {number}. We thought that it was solved. "
            "Let it go on, please, and keep count as our rules say."
        ),
    )


def _reopen(world: World, *, slug: str, actor: str, key: str, prompt: str) -> Draft:
    records, acting, case = DeskRecords(world), world.user(actor), world.case(key)
    third = case.reopen_count + 1 >= THIRD_TIME
    notifications = records.managers(case) if third else []
    more = {"escalation": True, "escalation_reason": "customer_request"} if third else {}
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(number=case.number),
        plan=(
            f"Look up {actor} and the case: resolved, reopened {case.reopen_count} times, not escalated.",
            "Set it in progress with one more in reopen_count (CAS-9).",
            "Escalate it for customer_request and alert the group's managers (ESC-3, ESC-4)."
            if third
            else "It was not reopened often enough to be escalated (ESC-4).",
        ),
        gold=(
            find_user(acting),
            find_case(case),
            find_case_slas(case),
            call("find_interactions", case_id=case.case_id),
            call("list_group_members", group_id=case.assignment_group_id),
            *(call("list_users", user_id=user.user_id) for user in notifications),
            update_case(case, state="in_progress", reopen_count=case.reopen_count + 1, **more),
            *(notify(case, user, "alert") for user in notifications),
        ),
        answer=f"{case.number} is in progress again, reopened {case.reopen_count + 1} times"
        + (", escalated; the manager has been alerted." if third else "."),
        verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
        tools=("create_new_case", "update_case_sla_details", "link_new_case_sla", "find_contacts"),
        mistakes={
            "raises it": (update_case(case, priority="critical"),),
            "alerts another user": (notify(case, world.user("Ruth Abara"), "alert"),),
        },
    )
    return with_verifiers(world, draft, rules={"update_case": "CAS-9, ESC-4", "send_notification": "ESC-3"})


# --- escalated -----------------------------------------------------------------------------------------------------


def escalated(world: World) -> Iterator[Draft]:
    """Cases are escalated for the first reason that applies; escalations are withdrawn."""
    yield _escalate(
        world,
        slug="escalate-last-weeks-shift",
        actor="Noor Siddiqui",
        key="vaccine-shift",
        reason="vip",
        prompt=(
            "The Pacific Vaccine Store complains bitterly about {number} and wants it escalated. Please do so, with "
            "the reason that our rules put first, and notify everyone who has to know."
        ),
    )
    yield _escalate(
        world,
        slug="escalate-before-the-sla-breach",
        actor="Asha Nair",
        key="dairy-drift",
        reason="breach_risk",
        prompt=(
            "I will not make it in time with {number}, look at its SLAs. Escalate it for me, please, as "
            "the rules say, also if it is one of our big customers."
        ),
    )
    yield _escalate(
        world,
        slug="escalate-for-the-lab",
        actor="Lena Fischer",
        key="lab-sensor",
        reason="customer_request",
        prompt=(
            "Liberty Labs asks us by phone to escalate {number}. They are right. Choose the reason by our rules and "
            "see to it that our managers know."
        ),
    )
    yield _calm_down(world)


def _escalate(world: World, *, slug: str, actor: str, key: str, reason: str, prompt: str) -> Draft:
    records, acting, case = DeskRecords(world), world.user(actor), world.case(key)
    notifications = records.managers(case)
    stranger = next(user for user in world.all(User, role="manager", active=True) if user not in notifications)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(number=case.number),
        plan=(
            f"Look up {actor}, the case, its SLAs, the account's entitlements, and the group's members.",
            f"The first reason that fits is {reason} (ESC-2); set both, the priority stays (ESC-1, ESC-3).",
            "Alert every active manager of the group (ESC-3).",
        ),
        gold=(
            find_user(acting),
            find_case(case),
            find_case_slas(case),
            find_entitlements(case),
            call("list_group_members", group_id=case.assignment_group_id),
            *(call("list_users", user_id=user.user_id) for user in notifications),
            update_case(case, escalation=True, escalation_reason=reason),
            *(notify(case, user, "alert") for user in notifications),
        ),
        answer=f"{case.number} is escalated for {reason}; {', '.join(map(full_name, notifications))} knows.",
        verifiers=(answer_says("names_the_reason", "The answer names the reason [REF-3]", term(reason)),),
        also={
            "says it in words": Solution(answer=f"{case.number} is escalated because of {reason.replace('_', ' ')}.")
        },
        tools=("find_contracts", "find_user_group", "link_new_case_sla", "find_notifications"),
        mistakes={
            "raises it as well": (update_case(case, priority="critical"),),
            "alerts a manager of another group": (notify(case, stranger, "alert"),),
        },
    )
    return with_verifiers(world, draft, rules={"update_case": "ESC-1, ESC-2", "send_notification": "ESC-3"})


def _calm_down(world: World) -> Draft:
    """A manager withdraws the escalations that a team has dealt with."""
    records, acting, group = DeskRecords(world), world.user("Priya Venkat"), world.group("Sensor Support")
    cases = [case for case in records.open_cases(assignment_group_id=group.group_id) if case.escalation]
    elsewhere = next(case for case in world.all(CustomerCase, escalation=True) if case not in cases)
    contacts = [records.contact_of(case) for case in cases]
    draft = Draft(
        slug="take-back-sensor-escalations",
        actor=acting,
        prompt=(
            "Sensor Support has everything under control. Take back the escalation of every case that is open with us, "
            "whatever was its reason, and send each contact an update. Escalations of other groups are not mine."
        ),
        plan=(
            "Look up Priya: a manager. Look up the group, and its open cases that are escalated.",
            "Take each escalation back; the reason stays on record (ESC-1).",
            "Look up the contacts, and send each an update (NTF-2, NTF-3).",
        ),
        gold=(
            find_user(acting),
            find_team(group),
            call("search_cases", escalation=True),
            call("get_cases_assigned_to", assignment_group_id=group.group_id),
            *(find_contact_user(contact) for contact in contacts),
            *(update_case(case, escalation=False) for case in cases),
            *(notify(case, records.user_of(contact), "update") for case, contact in zip(cases, contacts, strict=True)),
        ),
        answer=f"Not escalated any more: {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
        tools=("count_case_by_state", "find_contacts", "update_case_sla_details", "find_case_slas"),
        mistakes={
            "takes back another group's": (update_case(elsewhere, escalation=False),),
            "changes a reason": (update_case(cases[0], escalation_reason="urgency"),),
        },
    )
    return with_verifiers(world, draft, rules={"update_case": "ESC-1"})


FAMILIES = (waiting, solved, settled, reopened, escalated)
