"""Tasks about new cases: registration, assignment, duplicates and priorities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import CustomerCase, SlaDefinition, User
from opsgym_suites.csm.calls import (
    conversation,
    find_account,
    find_case,
    find_case_slas,
    find_contact_user,
    find_contacts,
    find_entitlements,
    find_product,
    find_sla_definitions,
    find_team,
    find_user,
    names_all,
    notify,
    numbers,
    stage,
    track,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call, full_name
from opsgym_suites.kit.verifiers import answer_says

# --- registered ----------------------------------------------------------------------------------------------------


def registrations(world: World) -> Iterator[Draft]:
    """A customer calls, writes or chats, and a case is registered."""
    yield _covered_call(world)
    yield _uncovered_chat(world)
    yield _taken_up_at_once(world)
    yield _trouble_returns(world)


def _covered_call(world: World) -> Draft:
    records, acting, firm = DeskRecords(world), world.user("Asha Nair"), world.account("Calder Pharmacies")
    caller, product = records.contacts(firm)[1], world.product("Humidity Probe H2")
    device = records.devices(product, account_id=firm.account_id, status="in_use")[0]
    summary = "Probe in the label store shows no humidity since Sunday"
    made = world.next_id(CustomerCase)
    contract = records.contract(firm)
    draft = Draft(
        slug="register-a-call-from-calder",
        actor=acting,
        prompt=(
            f"{full_name(records.user_of(caller))} of Calder Pharmacies has just phoned me; the call is over. The "
            "device "
            f'{device.serial_number} is in trouble, and three people there cannot print labels: "{summary}". Please '
            "register the case in these words, and put my call on record with it. A colleague will take it up later."
        ),
        plan=(
            "Look up Asha, the account, its contacts and the caller, and the device.",
            "Check the cover: an active entitlement for the product, on a contract that is active today (CAS-4).",
            "Register the case: phone, high (CAS-2), new, with device and product (CAS-1, CAS-3).",
            "Put the conversation on record with the case, handled (INT-1).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            find_contacts(firm),
            find_contact_user(caller),
            call("find_installed_product_by_serial", serial_number=device.serial_number),
            call("find_entitlements", account_id=firm.account_id, active=True),
            call("find_contracts", contract_id=contract.contract_id),
            call(
                "create_new_case",
                account_id=firm.account_id,
                contact_id=caller.contact_id,
                channel="phone",
                product_id=product.product_id,
                installed_product_id=device.installed_product_id,
                priority="high",
                state="new",
                short_description=summary,
            ),
            call(
                "register_new_interaction",
                channel="phone",
                account_id=firm.account_id,
                contact_id=caller.contact_id,
                case_id=made,
                interacted_user=acting.user_id,
                status="handled",
            ),
        ),
        answer=f"CS-{made:07d} is registered with priority high, and your call is on record.",
        verifiers=(answer_says("names_the_case", "The answer names the new case [REF-3]", rf"CS-{made:07d}"),),
        tools=("send_notification", "link_new_case_sla", "update_case", "find_product_by_id"),
        mistakes={
            "escalates it": (call("update_case", case_id=made, escalation=True, escalation_reason="urgency"),),
            "starts an SLA": (
                call(
                    "link_new_case_sla",
                    case_id=made,
                    sla_def_id=records.sla_definitions("high")[0].sla_def_id,
                    stage="in_progress",
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"create_new_case": "CAS-1, CAS-2, CAS-3"})


def _uncovered_chat(world: World) -> Draft:
    """The entitlements do not cover the product, although the customer thinks so."""
    records, acting, firm = DeskRecords(world), world.user("Grace Holloway"), world.account("Northgate Clinics")
    writer, product = world.contact(firm, "Alan Jessop"), world.product("Gateway G100")
    summary = "Gateway in the basement does not find the wireless network"
    made = world.next_id(CustomerCase)
    draft = Draft(
        slug="register-an-uncovered-chat",
        actor=acting,
        prompt=(
            "Alan Jessop of Northgate Clinics asks in the chat for help with a Gateway G100 (he has no serial number "
            "at "
            f'hand): "{summary}". He says it is high priority, since two teams wait. Please register it in his words, '
            "as "
            "our rules want it, with everything that follows from them."
        ),
        plan=(
            "Look up Grace, the account and the right Alan Jessop: another customer has one too (LKP-2).",
            "Check the cover: no entitlement of the account names this product (CAS-4).",
            "Register it with priority low and no SLA, and send the contact next_steps (CAS-4).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            find_contacts(firm),
            call("list_users", first_name="Alan", last_name="Jessop"),
            find_product(product),
            call("find_entitlements", account_id=firm.account_id, active=True),
            call(
                "create_new_case",
                account_id=firm.account_id,
                contact_id=writer.contact_id,
                channel="chat",
                product_id=product.product_id,
                priority="low",
                state="new",
                short_description=summary,
            ),
            notify(made, records.user_of(writer), "next_steps"),
        ),
        answer=(
            f"CS-{made:07d} is registered with priority low: no entitlement of Northgate Clinics covers the Gateway "
            "G100. Alan Jessop knows what happens next."
        ),
        verifiers=(
            answer_says(
                "says_why_low", "The answer says that the case is not covered [CAS-4]", r"\b(cover\w*|entitle\w*)\b"
            ),
        ),
        tools=("link_new_case_sla", "register_new_interaction", "find_contracts", "find_user"),
        mistakes={
            "raises it all the same": (call("update_case", case_id=made, priority="high"),),
            "starts an SLA": (
                call(
                    "link_new_case_sla",
                    case_id=made,
                    sla_def_id=records.sla_definitions("low")[0].sla_def_id,
                    stage="in_progress",
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"create_new_case": "CAS-1, CAS-4", "send_notification": "CAS-4, NTF-3"})


def _taken_up_at_once(world: World) -> Draft:
    records, acting, firm = DeskRecords(world), world.user("Maya Torres"), world.account("Liberty Labs")
    writer, product, team = records.primary_contact(firm), world.product("Gateway G200"), world.group("Gateway Support")
    summary = "Gateway of the cold room dark, no samples can be entered"
    made = world.next_id(CustomerCase)
    manager = next(user for user in records.members(team) if user.role == "manager")
    draft = Draft(
        slug="register-and-take-up-liberty",
        actor=acting,
        prompt=(
            f"{full_name(records.user_of(writer))} of Liberty Labs wrote a mail about a Gateway G200, serial number "
            "not "
            f'given: "{summary}". Several people are held up, and the customer asks that we escalate it. Please '
            "register it in these words for Gateway Support; I take it up right now. I have answered the mail; it "
            "goes on record with the case."
        ),
        plan=(
            "Look up Maya, the account, its contacts, the product and the group.",
            "Check the cover (CAS-4): an entitlement for the product, on an active contract.",
            "Register it in progress, assigned to Maya, escalated for customer_request (CAS-5, ESC-1, ESC-2).",
            "Link both SLAs for high, starting now (SLA-1), and alert the group's manager (ESC-3).",
            "Record the mail with the case, handled (INT-1).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            find_contacts(firm),
            find_contact_user(writer),
            find_product(product),
            find_team(team),
            call("find_entitlements", account_id=firm.account_id, active=True),
            call("find_contracts", account_id=firm.account_id, status="active"),
            find_sla_definitions("high"),
            call("list_group_members", group_id=team.group_id),
            find_user(manager),
            call(
                "create_new_case",
                account_id=firm.account_id,
                contact_id=writer.contact_id,
                channel="email",
                product_id=product.product_id,
                priority="high",
                state="in_progress",
                short_description=summary,
                assignment_group_id=team.group_id,
                assigned_to=acting.user_id,
                escalation=True,
                escalation_reason="customer_request",
            ),
            *(track(made, definition, world.now) for definition in records.sla_definitions("high")),
            notify(made, manager, "alert"),
            call(
                "register_new_interaction",
                channel="email",
                account_id=firm.account_id,
                contact_id=writer.contact_id,
                case_id=made,
                interacted_user=acting.user_id,
                status="handled",
            ),
        ),
        answer=f"CS-{made:07d} is yours and escalated; its SLAs run, and {full_name(manager)} has been alerted.",
        verifiers=(answer_says("names_the_case", "The answer names the new case [REF-3]", rf"CS-{made:07d}"),),
        tools=("update_interaction", "check_user_membership", "find_sla_definitions", "update_case"),
        mistakes={
            "makes it critical": (call("update_case", case_id=made, priority="critical"),),
            "alerts the contact too": (notify(made, records.user_of(writer), "alert"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"create_new_case": "CAS-1, CAS-5, ESC-1, ESC-2", "send_notification": "ESC-3"},
    )


def _trouble_returns(world: World) -> Draft:
    """A closed case is not reopened; the returning fault gets a new case."""
    records, acting, firm = DeskRecords(world), world.user("Yuki Tanabe"), world.account("Ginza Flowers")
    product = world.product("Humidity Probe H2")
    old = world.all(CustomerCase, account_id=firm.account_id, product_id=product.product_id, state="closed")[-1]
    caller, summary = records.primary_contact(firm), "Humidity stands at 99 again in the rose room"
    made = world.next_id(CustomerCase)
    draft = Draft(
        slug="trouble-of-a-closed-case-returns",
        actor=acting,
        prompt=(
            f"Ginza Flowers is back with the trouble of {old.number}: {full_name(records.user_of(caller))} phoned and "
            "says "
            f'"{summary}". It holds no one up. Please get the matter going again the way our rules want it, for '
            "Sensor Support, with product and, as before, without a device. And list my call, which is over, with it."
        ),
        plan=(
            "Look up Yuki, the old case, the account and its contacts.",
            "The case is closed and stays so: register a new one (CAS-9), moderate, after checking the cover (CAS-4).",
            "Put the conversation on record with the new case (INT-1).",
        ),
        gold=(
            find_user(acting),
            find_case(old),
            find_account(firm),
            find_contacts(firm),
            find_contact_user(caller),
            find_entitlements(old),
            call("find_contracts", account_id=firm.account_id, status="active"),
            find_team(world.group("Sensor Support")),
            call(
                "create_new_case",
                account_id=firm.account_id,
                contact_id=caller.contact_id,
                channel="phone",
                product_id=product.product_id,
                priority="moderate",
                state="new",
                short_description=summary,
                assignment_group_id=world.group("Sensor Support").group_id,
            ),
            call(
                "register_new_interaction",
                channel="phone",
                account_id=firm.account_id,
                contact_id=caller.contact_id,
                case_id=made,
                interacted_user=acting.user_id,
                status="handled",
            ),
        ),
        answer=f"{old.number} is closed and stays so. CS-{made:07d} is registered for Sensor Support, with your call.",
        verifiers=(answer_says("names_the_case", "The answer names the new case [REF-3]", rf"CS-{made:07d}"),),
        tools=("update_case", "link_new_case_sla", "send_notification", "retrieve_knowledge"),
        mistakes={
            "reopens the old one": (update_case(old, state="in_progress", reopen_count=old.reopen_count + 1),),
        },
    )
    return with_verifiers(world, draft, rules={"create_new_case": "CAS-1, CAS-9"})


# --- taken up ------------------------------------------------------------------------------------------------------


def takeovers(world: World) -> Iterator[Draft]:
    """Cases without an assignee are assigned, and their SLAs start."""
    yield _take_up(
        world,
        slug="take-up-gateway-queue",
        actor="Jonas Ekberg",
        hand="Maya Torres",
        team="Gateway Support",
        values={},
        prompt=(
            "Gateway Support has too many cases that no one has started on. Maya Torres takes up all of it, "
            "whatever product it is about. Please put that on record case by case, SLAs included. Mind that not "
            "all of these customers have cover, and tell me which cases got no SLAs for that reason."
        ),
    )
    yield _take_up(
        world,
        slug="take-up-coldview-cloud",
        actor="Owen Pryce",
        hand="Owen Pryce",
        team="Software Support",
        values={"product": "ColdView Cloud"},
        prompt=(
            "I take up everything new about ColdView Cloud in Software Support. Please assign it to me and start what "
            "has to run on each of the cases, as of the time when each was registered."
        ),
    )
    yield _take_up(
        world,
        slug="take-up-high-sensor-cases",
        actor="Priya Venkat",
        hand="Rohan Mehta",
        team="Sensor Support",
        values={"priority": "high"},
        prompt=(
            "The new cases of Sensor Support with high priority cannot wait any longer. Rohan Mehta takes them up, "
            "those with lower priority stay where they are. Do all that belongs to it, please."
        ),
    )


def _take_up(
    world: World, *, slug: str, actor: str, hand: str, team: str, values: dict[str, str], prompt: str
) -> Draft:
    records, acting, taking, group = DeskRecords(world), world.user(actor), world.user(hand), world.group(team)
    narrowed: dict[str, Any] = {"priority": values["priority"]} if "priority" in values else {}
    if "product" in values:
        narrowed["product_id"] = world.product(values["product"]).product_id
    cases = world.all(CustomerCase, assignment_group_id=group.group_id, state="new", **narrowed)
    bare = [case for case in cases if not records.covered(case)]
    priorities = list(dict.fromkeys(case.priority for case in cases if case not in bare))
    accounts = list(dict.fromkeys(case.account_id for case in cases))
    tracked = [
        track(case, definition, registered_at(case))
        for case in cases
        if case not in bare
        for definition in records.sla_definitions(case.priority)
    ]
    other = next(
        case for case in world.all(CustomerCase, state="new") if case not in cases and case.assignment_group_id
    )
    hints = tuple(notify(case, records.user_of(records.contact_of(case)), "next_steps") for case in bare)
    low = f" Without cover, and so without SLAs: {numbers(bare)}." if bare else ""
    gold = (
        find_user(acting),
        *([find_user(taking)] if taking is not acting else []),
        find_team(group),
        call("get_cases_assigned_to", assignment_group_id=group.group_id),
        *([find_product(world.product(values["product"]))] if "product" in values else []),
        call("check_user_membership", user_id=taking.user_id, group_id=group.group_id),
        *(call("find_entitlements", account_id=account, active=True) for account in accounts),
        *(find_sla_definitions(priority) for priority in priorities),
        *(update_case(case, state="in_progress", assigned_to=taking.user_id) for case in cases),
        *tracked,
    )
    looked = tuple(find_contact_user(records.contact_of(case)) for case in bare)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, {hand} and the group, and the group's new cases.",
            "See for each case's account whether the case is covered (CAS-4).",
            "Assign each case and set it in progress in the same call (CAS-5).",
            "On covered cases link both SLAs for the priority, starting at registration (SLA-1).",
        ),
        gold=gold,
        answer=f"{hand} has {numbers(cases)}.{low}",
        verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(bare or cases)),),
        tools=("search_cases", "assign_case_to_user", "find_contracts", "send_notification"),
        also={"tells the contacts without cover": Solution((*gold, *looked, *hints))} if bare else {},
        mistakes={
            "takes another one as well": (update_case(other, state="in_progress"),),
            "starts an SLA of an inactive definition": (
                call(
                    "link_new_case_sla",
                    case_id=cases[0].case_id,
                    stage="in_progress",
                    sla_def_id=world.all(SlaDefinition, active=False)[0].sla_def_id,
                ),
            ),
        },
    )
    return with_verifiers(world, draft, optional=hints)


# --- there already -------------------------------------------------------------------------------------------------


def duplicates(world: World) -> Iterator[Draft]:
    """Duplicate cases, and cases that the customer withdraws."""
    yield _twice(
        world,
        slug="cold-store-reported-twice",
        actor="Lena Fischer",
        keys=("cold-store", "cold-store-again", "cold-store-app"),
        prompt=(
            "I believe that the cold store two trouble of Brightwater Foods came in twice this morning, by phone and "
            "by mail. Please keep the one that our rules say and cancel the other, and send the contact of the "
            "canceled one an update about the one that stays. Careful: what they write about the dashboard is another "
            "matter."
        ),
        on_the_kept=True,
    )
    yield _twice(
        world,
        slug="clinic-door-reported-twice",
        actor="Rohan Mehta",
        keys=("clinic-door", "clinic-door-again", None),
        prompt=(
            "Northgate Clinics opened a second case on Saturday for the fridge door that I am working on. Please deal "
            "with the duplicate, and let its contact know with an update on the canceled case."
        ),
        on_the_kept=False,
    )
    yield _taken_back(world)


def _twice(
    world: World, *, slug: str, actor: str, keys: tuple[str, str, str | None], prompt: str, on_the_kept: bool
) -> Draft:
    records, acting = DeskRecords(world), world.user(actor)
    older, newer = world.case(keys[0]), world.case(keys[1])
    firm, contact = records.account_of(older), records.contact_of(newer)
    other = (
        world.case(keys[2])
        if keys[2]
        else next(case for case in records.open_cases(account_id=firm.account_id) if case not in (older, newer))
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, the account and its cases.",
            "Of the two about the same trouble the older one stays, the newer one is canceled (CAS-10).",
            "No SLA runs on the newer one. Send its contact an update.",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="new"),
            call("search_cases", account_id=firm.account_id, state="in_progress"),
            find_case_slas(newer),
            find_contacts(firm),
            find_contact_user(contact),
            update_case(newer, state="canceled"),
            notify(older if on_the_kept else newer, records.user_of(contact), "update"),
        ),
        answer=f"{newer.number} is canceled; {older.number} stays.",
        verifiers=(answer_says("names_both", "The answer names both cases [REF-3]", names_all([older, newer])),),
        tools=("update_case_sla_details", "find_interactions", "link_case_knowledge", "find_user"),
        mistakes={
            "cancels another one": (update_case(other, state="canceled"),),
            "cancels the older one": (update_case(older, state="canceled"),),
        },
    )
    return with_verifiers(world, draft, rules={"update_case": "CAS-10"})


def _taken_back(world: World) -> Draft:
    records, acting, case = DeskRecords(world), world.user("Grace Holloway"), world.case("dairy-gateway")
    contact, slas = records.contact_of(case), records.running_slas(case)
    others: list[ToolCall] = [
        update_case(other, state="canceled")
        for other in records.open_cases(account_id=case.account_id)
        if other is not case
    ]
    draft = Draft(
        slug="dairy-takes-its-case-back",
        actor=acting,
        prompt=(
            f"Anand Dairy has found a loose plug and takes {case.number} back. Please end it accordingly, with what "
            "runs on it, and confirm it to the contact with an update."
        ),
        plan=(
            "Look up Grace, the case, its SLAs and its contact.",
            "Cancel the case and the SLAs that run or are paused on it; completed ones stay (CAS-10).",
            "Send the contact an update.",
        ),
        gold=(
            find_user(acting),
            find_case(case),
            find_case_slas(case),
            call("find_contacts", contact_id=contact.contact_id),
            find_contact_user(contact),
            update_case(case, state="canceled"),
            *(stage(sla, "canceled") for sla in slas),
            notify(case, records.user_of(contact), "update"),
        ),
        answer=f"{case.number} is canceled, and so are its SLAs. The contact is notified.",
        verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
        tools=("delete_case_slas", "link_case_knowledge", "find_interactions", "find_account"),
        mistakes={"cancels another case of theirs": (others[0],)},
    )
    return with_verifiers(world, draft, rules={"update_case": "CAS-10", "update_case_sla_details": "CAS-10"})


# --- more or less urgent -------------------------------------------------------------------------------------------


def priorities(world: World) -> Iterator[Draft]:
    """A case gets another priority, and other SLAs with it."""
    yield reprioritise(
        world,
        slug="raise-the-archive-probe",
        actor="Priya Venkat",
        key="museum-probe",
        priority="high",
        prompt=(
            "{number}: the archive of the museum cannot be opened to its staff as long as the probe shows nonsense, so "
            "several people are hindered. Please raise it to what that means, and adjust the SLAs. The contact of the "
            "case said so to me in a call, which is over; file it with the case."
        ),
        phoned=True,
    )
    yield reprioritise(
        world,
        slug="loggers-become-critical",
        actor="Jonas Ekberg",
        key="toyosu-trips",
        priority="critical",
        reason="impact",
        prompt=(
            "{number} is worse than we thought: the hall in Toyosu stands still, tuna is getting warm. Make it "
            "critical and escalate it, with everything our rules attach to that. Yes, I know that I get an alert "
            "myself."
        ),
    )
    yield reprioritise(
        world,
        slug="lower-the-lab-sensor",
        actor="Priya Venkat",
        key="lab-sensor",
        priority="moderate",
        prompt=(
            "Liberty Labs has moved its samples elsewhere; {number} holds no one up any more. I want it at "
            "moderate from now on, with the SLAs that belong to that. Send an update on it to its assignee and "
            "one to the case's contact."
        ),
        informed=True,
    )


def reprioritise(
    world: World,
    *,
    slug: str,
    actor: str,
    key: str,
    priority: str,
    prompt: str,
    reason: str | None = None,
    phoned: bool = False,
    informed: bool = False,
) -> Draft:
    """A case gets another priority, with the SLAs that belong to it; escalated if there is a reason.

    Args:
        world: The seed's rows.
        slug: Last part of the task id.
        actor: Name of the acting user.
        key: Key of the fixture record.
        priority: The new one.
        prompt: What the user says.
        reason: Of an escalation.
        phoned: Whether the contact phoned, so that a call goes on record.
        informed: Whether assignee and contact get an update.
    """
    records, acting, case = DeskRecords(world), world.user(actor), world.case(key)
    old, new = records.running_slas(case), records.sla_definitions(priority)
    more = {} if reason is None else {"escalation": True, "escalation_reason": reason}
    notifications = records.managers(case) if reason else []
    contact, hand = records.contact_of(case), world.one(User, user_id=case.assigned_to)
    recipients = [hand, records.user_of(contact)] if informed else []
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(number=case.number),
        plan=(
            f"Look up {actor}: a manager. Look up the case, its cover, and its SLAs.",
            f"Set the priority to {priority}" + (", escalated for impact (ESC-1, ESC-2)." if reason else "."),
            "Cancel earlier SLAs that are not over; link both new ones from now on (SLA-1, SLA-3).",
            *(["Alert every active manager of the group (ESC-3)."] if reason else []),
            *(["Record the call of the case's contact, handled (INT-1)."] if phoned else []),
            *(["Send assignee and contact an update each (NTF-1, NTF-2)."] if informed else []),
        ),
        gold=(
            find_user(acting),
            find_case(case),
            find_case_slas(case),
            find_entitlements(case),
            call("find_contracts", account_id=case.account_id, status="active"),
            find_sla_definitions(priority),
            *([call("list_group_members", group_id=case.assignment_group_id)] if reason else []),
            *(call("list_users", user_id=user.user_id) for user in recipients),
            update_case(case, priority=priority, **more),
            *(stage(sla, "canceled") for sla in old),
            *(track(case, definition, world.now) for definition in new),
            *(notify(case, user, "alert") for user in notifications),
            *([conversation(case, acting, "phone")] if phoned else []),
            *(notify(case, user, "update") for user in recipients),
        ),
        answer=f"{case.number} is {priority} now; the earlier SLAs are canceled and the new ones run.",
        verifiers=(answer_says("names_the_priority", "The answer names the priority [REF-3]", rf"\b{priority}\b"),),
        tools=("delete_case_slas", "update_sla_definition", "get_cases_assigned_to", "find_account"),
        mistakes={
            "deletes an old SLA": (call("delete_case_slas", case_sla_id=old[0].case_sla_id),),
            "marks a breach": (
                call("update_case_sla_details", case_sla_id=old[0].case_sla_id, has_breached=not old[0].has_breached),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_case": "CAS-2, ESC-1, ESC-2" if reason else "CAS-2",
            "update_case_sla_details": "SLA-3",
            "send_notification": "ESC-3" if reason else "NTF-1, NTF-2, NTF-3",
        },
    )


FAMILIES = (registrations, takeovers, duplicates, priorities)
