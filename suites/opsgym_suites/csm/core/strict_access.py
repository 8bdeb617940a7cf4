"""Tasks with access `strict`: the server enforces each step of the process, their order and the required role.

Invariant: every task is feasible, and the server refuses no call of the way that the policy describes.
"""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_domains.csm.rules import QUIET_BEFORE_CLOSING
from opsgym_domains.csm.tables import CaseSla, CustomerCase
from opsgym_suites.csm.calls import (
    find_account,
    find_article,
    find_case,
    find_case_slas,
    find_contact_user,
    find_contacts,
    find_entitlements,
    find_product,
    find_sla_definitions,
    find_team,
    find_user,
    link,
    names_all,
    notify,
    numbers,
    stage,
    timestamp,
    track,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_says


def everyday(world: World) -> Iterator[Draft]:
    """Usual work, of which the server checks each step."""
    yield _from_new_to_resolved(world)
    yield _to_another_group(world)
    yield _week_of_closing(world)
    yield _a_customer_writes(world)
    yield _primary_contact_goes(world)
    yield _priority_and_escalation(world)


def _from_new_to_resolved(world: World) -> Draft:
    """A case goes from new to resolved."""
    records, acting, case = DeskRecords(world), world.user("Grace Holloway"), world.case("blood-beacon")
    article, contact = records.article("Alarm Beacon B1 stays silent"), records.contact_of(case)
    first = world.next_id(CaseSla)
    definitions = records.sla_definitions(case.priority)
    looked = (
        find_user(acting),
        find_case(case),
        find_entitlements(case),
        call("find_contracts", account_id=case.account_id, status="active"),
        find_sla_definitions(case.priority),
        find_article(article),
        find_contact_user(contact),
    )
    taken = update_case(case, state="in_progress", assigned_to=acting.user_id)
    tracked = tuple(track(case, definition, registered_at(case)) for definition in definitions)
    done = tuple(
        call(
            "update_case_sla_details", case_sla_id=first + place, stage="completed", completed_time=timestamp(world.now)
        )
        for place in range(len(definitions))
    )
    linked, resolved = link(case, article, "resolution"), update_case(case, state="resolved")
    notifications = notify(case, records.user_of(contact), "solution_proposal", article)
    return with_scenario_verifiers(
        Draft(
            slug="beacon-from-new-to-resolved",
            actor=acting,
            prompt=(
                f"I have just been on the phone with Hudson about {case.number}, which had no assignee: jumper J2 "
                "was wrong, as in our article about silent beacons. So I take it up and resolve it in one go. Please "
                "do all of it properly, with SLAs as of the registration; the response SLA is met as of now, too."
            ),
            plan=(
                "Look up Grace, the case, its cover, the SLA definitions of its priority, the article, the contact.",
                "Take the case up, assigned, and link both SLAs as of registration (CAS-5, SLA-1).",
                "Link the article as resolution first, then resolve the case (PRC-1, CAS-7).",
                "Complete both SLAs (SLA-5), and send the contact the solution_proposal with the article.",
            ),
            gold=(*looked, taken, *tracked, linked, resolved, *done, notifications),
            answer=f"{case.number} is resolved, its SLAs are completed, and the contact has the article.",
            verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
            tools=("assign_case_to_user", "find_case_slas", "find_user_group", "create_new_case"),
            access=Access.STRICT,
            mistakes={"escalates it": (update_case(case, escalation=True, escalation_reason="vip"),)},
            negative_trajectories={
                "resolves it from new": NegativeTrajectory(
                    (*looked, linked, resolved), f"{case.number} is resolved.", "CAS-7"
                ),
                "resolves it without the article": NegativeTrajectory(
                    (*looked, taken, *tracked, resolved, *done, notifications), f"{case.number} is resolved.", "CAS-7"
                ),
                "assigns it and leaves it new": NegativeTrajectory(
                    (*looked, update_case(case, assigned_to=acting.user_id)), f"{case.number} is done.", "CAS-5"
                ),
            },
        ),
        world=world,
        rules={"update_case": "CAS-5, CAS-7, PRC-1", "send_notification": "CAS-7, NTF-2"},
    )


def _to_another_group(world: World) -> Draft:
    """Cases move to a group with other members."""
    acting, group = world.user("Ruth Abara"), world.group("Enterprise Desk")
    case, second = world.case("dairy-drift"), world.case("vaccine-probe")
    noor, bronte = world.user("Noor Siddiqui"), world.user("Bronte Walsh")
    looked = (
        find_user(acting),
        find_case(case),
        find_case(second),
        find_team(group),
        call("list_group_members", group_id=group.group_id),
        find_user(noor),
        find_user(bronte),
        call("find_entitlements", support_level="enterprise", active=True),
    )

    steps = tuple(
        update_case(one, assignment_group_id=group.group_id, assigned_to=user.user_id)
        for one, user in ((case, noor), (second, bronte))
    )
    notifications = tuple(notify(one, user, "update") for one, user in ((case, noor), (second, bronte)))
    return with_scenario_verifiers(
        Draft(
            slug="enterprise-desk-takes-two-over",
            actor=acting,
            prompt=(
                f"The Enterprise Desk takes {case.number} and {second.number} over from Sensor Support, since both are "
                "customers of ours with that level. Noor Siddiqui continues with the first, Bronte Walsh with the "
                "second. Send each of the two an update on the case that is theirs now."
            ),
            plan=(
                "Look up Ruth, both cases, the group, its members, Noor and Bronte.",
                "Move each case with its new assignee in one call: assignees are members of the group (PRC-2).",
                "Send each of the two an update (NTF-1).",
            ),
            gold=(*looked, *steps, *notifications),
            answer=f"{case.number} is with Noor Siddiqui and {second.number} with Bronte Walsh, both Enterprise Desk.",
            verifiers=(answer_says("names_both", "The answer names both cases [REF-3]", names_all([case, second])),),
            tools=("set_case_assignment_group", "assign_case_to_user", "check_user_membership", "list_users"),
            access=Access.STRICT,
            mistakes={"has one wait": (update_case(case, state="pending"),)},
            negative_trajectories={
                "moves the group first": NegativeTrajectory(
                    (
                        *looked,
                        call("set_case_assignment_group", case_id=case.case_id, assignment_group_id=group.group_id),
                    ),
                    f"{case.number} and {second.number} are moved.",
                    "PRC-2",
                ),
                "assigns first": NegativeTrajectory(
                    (*looked, call("assign_case_to_user", case_id=case.case_id, assigned_to_user_id=noor.user_id)),
                    f"{case.number} and {second.number} are moved.",
                    "PRC-2",
                ),
            },
        ),
        world=world,
        rules={"update_case": "PRC-2, CAS-5"},
    )


def _week_of_closing(world: World) -> Draft:
    acting, group = world.user("Priya Venkat"), world.group("Sensor Support")
    product = world.product("Frost Sensor F2")
    resolved = [
        case
        for case in world.all(CustomerCase, product_id=product.product_id, state="resolved")
        if case.assignment_group_id == group.group_id
    ]
    ready = [case for case in resolved if world.now - (case.sys_updated_on or world.now) >= QUIET_BEFORE_CLOSING]
    fresh = [case for case in resolved if case not in ready]
    looked = (
        find_user(acting),
        find_team(group),
        find_product(product),
        call("search_cases", product_id=product.product_id, state="resolved"),
    )
    closings = tuple(update_case(case, state="closed", closed_on=timestamp(world.now)) for case in ready)
    return with_scenario_verifiers(
        Draft(
            slug="close-frost-sensor-cases",
            actor=acting,
            prompt=(
                "Please close what is resolved about the Frost Sensor F2 and has been quiet for long enough; I want to "
                "know which cases stay resolved for now."
            ),
            plan=(
                "Look up Priya and the product, and list its resolved cases.",
                "Close those in which nothing has changed for five full days, with closed_on now (CAS-8).",
                "Leave the others, and name them.",
            ),
            gold=(*looked, *closings),
            answer=f"Closed: {numbers(ready)}. Too fresh: {numbers(fresh)}.",
            verifiers=(
                answer_says("names_the_fresh", "The answer names those that stay [CAS-8, REF-3]", names_all(fresh)),
            ),
            tools=("count_case_by_state", "find_case_slas", "get_cases_assigned_to", "send_notification"),
            access=Access.STRICT,
            mistakes={
                "opens a fresh one": (
                    update_case(fresh[0], state="in_progress", reopen_count=fresh[0].reopen_count + 1),
                ),
            },
            negative_trajectories={
                "closes a fresh one too": NegativeTrajectory(
                    (*looked, *closings, update_case(fresh[0], state="closed", closed_on=timestamp(world.now))),
                    "All closed.",
                    "CAS-8",
                ),
                "forgets the time": NegativeTrajectory(
                    (*looked, update_case(ready[0], state="closed")), "All closed.", "CAS-8"
                ),
            },
        ),
        world=world,
        rules={"update_case": "CAS-8, PRC-1"},
    )


def _a_customer_writes(world: World) -> Draft:
    """A customer registers a case in the portal and withdraws another one."""
    records, firm = DeskRecords(world), world.account("Anand Dairy")
    old = world.case("dairy-charts")
    contact = records.contact_of(old)
    acting, product = records.user_of(contact), world.product("Transport Logger T5")
    device = records.devices(product, account_id=firm.account_id, status="in_use")[0]
    summary = "Logger of the morning tour stops after one hour"
    looked = (
        call("find_user_by_email", email=acting.email),
        call("find_contact_by_portal_user", portal_user_id=acting.user_id),
        find_case(old),
        call("find_installed_product_by_serial", serial_number=device.serial_number),
        find_product(product),
    )
    written = call(
        "create_new_case",
        account_id=firm.account_id,
        contact_id=contact.contact_id,
        channel="web",
        product_id=product.product_id,
        installed_product_id=device.installed_product_id,
        priority="moderate",
        state="new",
        short_description=summary,
    )
    made, back = world.next_id(CustomerCase), update_case(old, state="canceled")
    return with_scenario_verifiers(
        Draft(
            slug="dairy-writes-in-the-portal",
            actor=acting,
            prompt=(
                f"Two things. The charts of the bottling plant are fine again, so I take {old.number} back. But our "
                "logger "
                f'{device.serial_number} is in trouble: "{summary}". Please report that for me over the web, in these '
                "words; nothing spoils because of it, and only our driver is annoyed."
            ),
            plan=(
                "Look up the acting user: a customer, contact of Anand Dairy. Look up the old case, and the device.",
                "Cancel the case, which is still new (CAS-10, PRC-7).",
                "Register the new one: web, moderate (CAS-2), new, with product and device (CAS-1, CAS-3).",
            ),
            gold=(*looked, back, written),
            answer=f"{old.number} is canceled, and CS-{made:07d} is registered with priority moderate.",
            verifiers=(
                answer_says(
                    "names_both",
                    "The answer names both cases [REF-3]",
                    rf"(?s)(?=.*{old.number})(?=.*CS-{made:07d})",
                ),
            ),
            tools=("register_new_interaction", "find_entitlements", "retrieve_knowledge", "search_cases"),
            access=Access.STRICT,
            mistakes={"changes its words later": (call("update_case", case_id=made, short_description="Logger bad"),)},
            negative_trajectories={
                "escalates it at once": NegativeTrajectory(
                    (
                        *looked,
                        back,
                        call(
                            "create_new_case",
                            **{**written.arguments, "escalation": True, "escalation_reason": "customer_request"},
                        ),
                    ),
                    "Done.",
                    "PRC-7",
                ),
                "names the device without its product": NegativeTrajectory(
                    (
                        *looked,
                        back,
                        call(
                            "create_new_case",
                            **{name: value for name, value in written.arguments.items() if name != "product_id"},
                        ),
                    ),
                    "Done.",
                    "CAS-3",
                ),
            },
        ),
        world=world,
        rules={"update_case": "CAS-10, PRC-7", "create_new_case": "CAS-1, CAS-2, CAS-3"},
    )


def _primary_contact_goes(world: World) -> Draft:
    """The primary contact changes, which requires a certain order of calls."""
    records, acting, firm = DeskRecords(world), world.user("Ines Calloway"), world.account("Empire Produce")
    going, heir = records.primary_contact(firm), records.contacts(firm)[1]
    cases = records.open_cases(contact_id=going.contact_id)
    looked = (
        find_user(acting),
        find_account(firm),
        find_contacts(firm),
        find_contact_user(going),
        find_contact_user(heir),
        call("search_cases", contact_id=going.contact_id),
    )
    back = call("update_contact", contact_id=going.contact_id, is_primary=False, active=False)
    up = call("update_contact", contact_id=heir.contact_id, is_primary=True)
    off = call("update_user_details", user_id=going.portal_user_id, active=False)
    moved = tuple(update_case(case, contact_id=heir.contact_id) for case in cases)
    user, leaver = records.user_of(heir), records.user_of(going)
    notifications = tuple(notify(case, user, "update") for case in cases)
    over = world.all(CustomerCase, account_id=firm.account_id, state="closed")[0]
    return with_scenario_verifiers(
        Draft(
            slug="empire-gets-another-primary-contact",
            actor=acting,
            prompt=(
                f"Empire Produce has let {leaver.first_name} {leaver.last_name} go, their primary contact. "
                f"{user.first_name} {user.last_name} is it from now on. Please do the whole of it, cases that are open "
                "included, and send the new one an update on each of these cases."
            ),
            plan=(
                "Look up Ines, the account, its contacts, who they are, and the cases of the one who goes.",
                "The former contact steps back, inactive with the user; then the new one is primary (ACC-1, ACC-3).",
                "Give the open cases the new contact, and send an update on each; closed ones stay (CAS-9).",
            ),
            gold=(*looked, back, up, off, *moved, *notifications),
            answer=f"{user.first_name} {user.last_name} is primary and has {numbers(cases)}.",
            verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
            tools=("update_account_details", "create_contact", "list_users", "find_contact_by_portal_user"),
            access=Access.STRICT,
            mistakes={
                "switches another contact off": (
                    call("update_contact", contact_id=records.contacts(firm)[2].contact_id, active=False),
                )
            },
            negative_trajectories={
                "begins with the new one": NegativeTrajectory(
                    (*looked, up, back, off, *moved, *notifications), "Done.", "ACC-1"
                ),
                "moves a closed case": NegativeTrajectory(
                    (*looked, back, up, off, update_case(over, contact_id=heir.contact_id)), "Done.", "CAS-9"
                ),
            },
        ),
        world=world,
        rules={"update_case": "ACC-3"},
    )


def _priority_and_escalation(world: World) -> Draft:
    """A manager makes a case critical, which requires other SLAs."""
    records, acting, case = DeskRecords(world), world.user("Jonas Ekberg"), world.case("food-bank")
    old, new = records.running_slas(case), records.sla_definitions("critical")
    looked = (
        find_user(acting),
        find_case(case),
        find_case_slas(case),
        find_entitlements(case),
        find_sla_definitions("critical"),
        call("list_group_members", group_id=case.assignment_group_id),
    )
    goes_on = update_case(case, state="in_progress", priority="critical", escalation=True, escalation_reason="impact")
    ended = tuple(stage(sla, "canceled") for sla in old)
    begun = tuple(track(case, definition, world.now) for definition in new)
    notifications = tuple(notify(case, user, "alert") for user in records.managers(case))
    return with_scenario_verifiers(
        Draft(
            slug="food-bank-stands-still",
            actor=acting,
            prompt=(
                f"The food bank called me: {case.number} cannot wait any longer, the whole site stands still since the "
                "gateway is dead for good. It goes on now, critical and escalated, with the right SLAs. Mind the "
                "old ones."
            ),
            plan=(
                "Look up Jonas: a manager. Look up the case, its cover and SLAs, and the group's members.",
                "Set it in progress, critical, escalated for impact (PRC-1, PRC-3, ESC-1, ESC-2).",
                "Cancel the old SLA, which is paused, and link both new ones from now on (SLA-1, SLA-3).",
                "Alert every active manager of the group (ESC-3).",
            ),
            gold=(*looked, goes_on, *ended, *begun, *notifications),
            answer=f"{case.number} is in progress, critical and escalated for impact; the new SLAs run.",
            verifiers=(answer_says("names_the_reason", "The answer names the reason [REF-3]", r"\bimpact\b"),),
            tools=("delete_case_slas", "find_sla_definitions", "find_contracts", "assign_case_to_user"),
            access=Access.STRICT,
            mistakes={
                "hands it to another colleague": (
                    call(
                        "assign_case_to_user",
                        case_id=case.case_id,
                        assigned_to_user_id=world.user("Callum Reid").user_id,
                    ),
                )
            },
            negative_trajectories={
                "links them before the priority changes": NegativeTrajectory(
                    (*looked, *begun), "Done: impact.", "SLA-1"
                ),
                "escalates without a reason": NegativeTrajectory(
                    (*looked, update_case(case, escalation=True)), "Done.", "ESC-1"
                ),
            },
        ),
        world=world,
        rules={"update_case": "PRC-3, ESC-1, ESC-2", "update_case_sla_details": "SLA-3", "send_notification": "ESC-3"},
    )


FAMILIES = (everyday,)
