"""Tasks in which users, contracts, articles and cases change while the agent works, customers answer, or time passes.

Invariant: an agent that reads again where the request says so, or that reads the server's answers, learns of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import (
    CustomerCase,
    Interaction,
)
from opsgym_suites.csm.calls import (
    find_account,
    find_article,
    find_case,
    find_case_slas,
    find_contact_user,
    find_contacts,
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
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent, answer_admits, days
from opsgym_suites.kit.verifiers import answer_says, count

# --- people and teams ----------------------------------------------------------------------------------------------


def people_change(world: World) -> Iterator[Draft]:
    """A user who is named in the request is deactivated."""
    yield _assignee_is_gone(world)
    yield _contact_is_gone(world)


def _assignee_is_gone(world: World) -> Draft:
    """The user who was to take a case up has been deactivated; the request names a substitute."""
    acting, case = world.user("Jonas Ekberg"), world.case("dairy-charts")
    records, first, second = DeskRecords(world), world.user("Dwight Larson"), world.user("Emi Kondo")
    definitions = records.sla_definitions(case.priority)
    event = ScenarioEvent(world).change(first, active=False)
    looked = (
        find_user(acting),
        find_case(case),
        find_user(first),
        find_user(second),
        call("list_group_members", group_id=case.assignment_group_id),
        call("find_entitlements", account_id=case.account_id, active=True),
        find_sla_definitions(case.priority),
    )
    refused = update_case(case, state="in_progress", assigned_to=first.user_id)
    taken = update_case(case, state="in_progress", assigned_to=second.user_id)
    tracked = tuple(track(case, definition, registered_at(case)) for definition in definitions)
    return with_scenario_verifiers(
        Draft(
            slug="who-was-to-take-it-up-is-gone",
            actor=acting,
            prompt=(
                f"Dwight Larson takes {case.number} up. If for some reason he cannot have it, it is Emi Kondo's. "
                "Please assign it and start its SLAs. Tell me who has it in the end, and why."
            ),
            plan=(
                "Look up Jonas, the case, Dwight and Emi, the group's members, cover and SLA definitions.",
                "Assign it to Dwight: refused, his account is inactive by now (CAS-5). So it goes to Emi.",
                "Link both SLAs as of the registration (SLA-1).",
            ),
            gold=(*looked, refused, taken, *tracked),
            refused={len(looked): "CAS-5"},
            answer=f"{case.number} is Emi Kondo's: Dwight Larson's account is inactive.",
            verifiers=answer_admits(r"\binactive\b|\bdeactivated\b|\bnot active\b", rule="REF-3")[1:],
            tools=("assign_case_to_user", "update_user_details", "find_user_group", "send_notification"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            mistakes={"brings Dwight back": (call("update_user_details", user_id=first.user_id, active=True),)},
            negative_trajectories={
                "gives up": NegativeTrajectory(
                    (*looked, refused), f"Dwight's account is inactive, {case.number} stays.", "CAS-5"
                ),
                "does without an assignee": NegativeTrajectory(
                    (*looked, refused, update_case(case, state="in_progress"), *tracked), "Dwight is inactive.", "CAS-5"
                ),
            },
        ),
        event,
        world=world,
        rules={"update_case": "CAS-5"},
    )


def _contact_is_gone(world: World) -> Draft:
    """One of the contacts to notify has left in the meantime."""
    records, acting, product = DeskRecords(world), world.user("Priya Venkat"), world.product("Frost Sensor F2")
    cases = [
        case for case in records.open_cases(product_id=product.product_id) if case.state in {"in_progress", "pending"}
    ]
    gone = records.contact_of(cases[0])
    event = ScenarioEvent(world).change(gone, active=False)
    updated = [case for case in cases if case.contact_id != gone.contact_id]
    left = [case for case in cases if case.contact_id == gone.contact_id]
    people = list(dict.fromkeys(case.contact_id for case in cases))
    looked = (
        find_user(acting),
        find_product(product),
        call("search_cases", product_id=product.product_id, state="in_progress"),
        call("search_cases", product_id=product.product_id, state="pending"),
        *(call("find_contacts", contact_id=key) for key in people),
    )
    notifications = tuple(notify(case, records.user_of(records.contact_of(case)), "update") for case in updated)
    return with_scenario_verifiers(
        Draft(
            slug="update-on-all-frost-sensor-cases",
            actor=acting,
            prompt=(
                "There will be a new firmware for the Frost Sensor F2. Please send the contact of every case about it "
                "that is in progress or pending an update, one for each case. Leave out former contacts, "
                "and name the cases for which no update was sent."
            ),
            plan=(
                "Look up Priya, the product, and its cases in progress or pending.",
                "Look at each contact: one has been deactivated (NTF-1).",
                "Send the others an update for each case, and name what was left out.",
            ),
            gold=(*looked, *notifications),
            answer=f"Updates sent for {numbers(updated)}. No update for {numbers(left)}: the contact is inactive.",
            verifiers=(
                answer_says("names_the_rest", "The answer names who was left out [NTF-1, REF-3]", names_all(left)),
            ),
            tools=("get_accounts", "find_contact_by_portal_user", "update_contact"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            mistakes={"tells a manager of ours": (notify(left[0], world.user("Ruth Abara"), "update"),)},
            negative_trajectories={
                "does not look who is there": NegativeTrajectory(
                    (*looked[:4], notify(left[0], records.user_of(gone), "update"), *notifications),
                    "All updates are sent.",
                    "NTF-1",
                ),
            },
        ),
        event,
        world=world,
        rules={"send_notification": "NTF-1, NTF-2, NTF-3"},
    )


# --- what a case rests on ------------------------------------------------------------------------------------------


def grounds_change(world: World) -> Iterator[Draft]:
    """Contracts, articles and devices change after the agent has read them."""
    yield _contract_is_suspended(world)
    yield _article_is_retired(world)
    yield _device_is_in_repair(world)


def _contract_is_suspended(world: World) -> Draft:
    """The contract is suspended before the case is registered; a look at the entitlements shows it."""
    records, acting, firm = DeskRecords(world), world.user("Lena Fischer"), world.account("Deccan Biologics")
    contract, product = records.contract(firm), world.product("Frost Sensor F2")
    event = ScenarioEvent(world).change(contract, status="suspended")
    for row in records.entitlements(contract, active=True):
        event.change(row, active=False)
    caller, summary = records.primary_contact(firm), "Freezer six jumps by four degrees"
    made = world.next_id(CustomerCase)
    looked = (
        find_user(acting),
        find_account(firm),
        find_contacts(firm),
        find_contact_user(caller),
        find_product(product),
        call("find_entitlements", account_id=firm.account_id),
        call("find_contracts", account_id=firm.account_id),
    )
    written = {
        "account_id": firm.account_id,
        "contact_id": caller.contact_id,
        "channel": "phone",
        "product_id": product.product_id,
        "state": "new",
        "short_description": summary,
    }
    high = call("create_new_case", **written, priority="high")
    tracked = tuple(track(made, definition, world.now) for definition in records.sla_definitions("high"))
    return with_scenario_verifiers(
        Draft(
            slug="cover-ends-before-the-case-begins",
            actor=acting,
            prompt=(
                f"{records.user_of(caller).first_name} {records.user_of(caller).last_name} of Deccan Biologics is on "
                "the phone: "
                f'"{summary}", a Frost Sensor F2, and half of the lab cannot work. Register it in these words, new for '
                "now, as our rules want it. I heard rumours about their contract, so look at that before you write."
            ),
            plan=(
                "Look up Lena, the account, its contacts and the product.",
                "Check the cover: the contract is suspended and its entitlements are inactive (CAS-4).",
                "Register the case with low priority and without SLA, and send the contact next_steps (CAS-4).",
            ),
            gold=(
                *looked,
                call("create_new_case", **written, priority="low"),
                notify(made, records.user_of(caller), "next_steps"),
            ),
            answer=f"CS-{made:07d} is registered with low priority: the contract is suspended, so it is not covered.",
            verifiers=(
                answer_says("says_why", "The answer says that there is no cover [CAS-4]", r"\b(suspended|cover\w*)\b"),
            ),
            tools=("link_new_case_sla", "update_contract", "register_new_interaction"),
            events=(event.happens_after(FIRST_LOOK),),
            mistakes={"raises it all the same": (call("update_case", case_id=made, priority="high"),)},
            negative_trajectories={
                "takes the cover for granted": NegativeTrajectory((*looked[:5], high), f"CS-{made:07d} is registered."),
                "starts SLAs": NegativeTrajectory((*looked, high, *tracked), f"CS-{made:07d} is registered, covered."),
            },
        ),
        event,
        world=world,
        rules={"create_new_case": "CAS-1, CAS-4", "send_notification": "CAS-4, NTF-3"},
    )


def _article_is_retired(world: World) -> Draft:
    """The article that solved a case is retired; the request says what to do in that case."""
    records, acting, case = DeskRecords(world), world.user("Rohan Mehta"), world.case("clinic-door")
    article, contact = records.article("Door Sensor D4 reports open doors"), records.contact_of(case)
    event = ScenarioEvent(world).change(article, state="retired")
    looked = (
        find_user(acting),
        find_case(case),
        find_case_slas(case),
        find_article(article),
        find_contact_user(contact),
    )
    linked = link(case, article, "resolution")
    pending, paused = (
        update_case(case, state="pending"),
        tuple(stage(sla, "paused") for sla in records.pausable_slas(case, "in_progress")),
    )
    notifications = notify(case, records.user_of(contact), "reminder")
    return with_scenario_verifiers(
        Draft(
            slug="article-retired-before-it-helped",
            actor=acting,
            prompt=(
                f"The magnet of the fridge door is moved, so {case.number} can be resolved with the article on Door "
                "Sensors that report open doors, the usual way. Should that article not be usable, put the case on "
                "wait for the clinic instead, as our rules describe it, and tell me."
            ),
            plan=(
                "Look up Rohan, the case, its SLAs, the article and the contact.",
                "Link the article: refused, it is retired (KB-1); without one the case is not resolved (CAS-7).",
                "Set the case to pending, pause its SLA, and send the contact a reminder (CAS-6, SLA-4).",
            ),
            gold=(*looked, linked, pending, *paused, notifications),
            refused={len(looked): "KB-1"},
            answer=f"{case.number} is pending, not resolved: the article is retired.",
            verifiers=(
                answer_says("says_why", "The answer says what is wrong with the article [KB-1]", r"\bretired\b"),
            ),
            tools=("updated_linked_case_knowledge", "update_knowledge", "create_knowledge", "find_contacts"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            mistakes={"goes on at once": (update_case(case, state="in_progress"),)},
            negative_trajectories={
                "resolves it anyway": NegativeTrajectory(
                    (*looked, update_case(case, state="resolved")), "It is resolved.", "CAS-7"
                ),
                "does nothing else": NegativeTrajectory(
                    (*looked, linked), "The article is retired, nothing done.", "KB-1"
                ),
            },
        ),
        event,
        world=world,
        rules={"update_case": "CAS-6", "update_case_sla_details": "SLA-4", "send_notification": "CAS-6"},
    )


def _device_is_in_repair(world: World) -> Draft:
    """The device goes to repair before the case is registered; the case is registered without it."""
    records, acting, firm = DeskRecords(world), world.user("Maya Torres"), world.account("Sakura Logistics")
    product, caller = world.product("Transport Logger T5"), records.contacts(firm)[2]
    device = records.devices(product, account_id=firm.account_id, status="in_use")[0]
    event = ScenarioEvent(world).change(device, status="repair")
    summary, made = "Trip report of the Nagoya tour is empty", world.next_id(CustomerCase)
    looked = (
        find_user(acting),
        find_account(firm),
        find_contacts(firm),
        find_contact_user(caller),
        find_product(product),
        call("find_installed_product_by_serial", serial_number=device.serial_number),
        call("find_entitlements", account_id=firm.account_id, active=True),
    )
    fields = {
        "account_id": firm.account_id,
        "contact_id": caller.contact_id,
        "product_id": product.product_id,
        "channel": "email",
        "priority": "moderate",
        "state": "new",
        "short_description": summary,
    }
    whole = call("create_new_case", **fields, installed_product_id=device.installed_product_id)
    user = records.user_of(caller)
    return with_scenario_verifiers(
        Draft(
            slug="device-sent-in-meanwhile",
            actor=acting,
            prompt=(
                f"{user.first_name} {user.last_name} of Sakura Logistics wrote a mail about their logger "
                f'{device.serial_number}: "{summary}". Usual priority, new, in these words. They were about to send '
                "the "
                "device in; should it be here by now, register the case without it, but with the product. Send the "
                "contact an update once the case is there."
            ),
            plan=(
                "Look up Maya, the account, its contacts, the product and the device.",
                "The device is in repair, so the case is registered without it (CAS-3).",
                "Send the contact an update (NTF-2, NTF-3).",
            ),
            gold=(*looked, whole, call("create_new_case", **fields), notify(made, user, "update")),
            refused={len(looked): "CAS-3"},
            answer=f"CS-{made:07d} is registered without the device: {device.serial_number} is in repair.",
            verifiers=(answer_says("says_why", "The answer says where the device is [CAS-3]", r"\brepair\b"),),
            tools=("update_installed_product_details", "register_new_interaction", "find_contracts"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            mistakes={"raises it": (call("update_case", case_id=made, priority="high"),)},
            negative_trajectories={
                "leaves the product out too": NegativeTrajectory(
                    (
                        *looked,
                        whole,
                        call(
                            "create_new_case", **{name: value for name, value in fields.items() if name != "product_id"}
                        ),
                        notify(made, user, "update"),
                    ),
                    f"CS-{made:07d} is registered; the device is in repair.",
                    "CAS-3",
                ),
                "gives up": NegativeTrajectory((*looked, whole), "The device is in repair.", "CAS-3"),
            },
        ),
        event,
        world=world,
        rules={"create_new_case": "CAS-1, CAS-3", "send_notification": "NTF-2, NTF-3"},
    )


# --- answers and time ----------------------------------------------------------------------------------------------


def time_passes(world: World) -> Iterator[Draft]:
    """Customers or colleagues react to the agent's writes, and time passes."""
    yield _customer_answers(world)
    yield _quiet_days(world)
    yield _colleague_is_faster(world)


def _customer_answers(world: World) -> Draft:
    """The customer answers as soon as the case is pending."""
    records, acting, case = DeskRecords(world), world.user("Rohan Mehta"), world.case("butcher-battery")
    contact = records.contact_of(case)
    answer = Interaction(
        channel="email",
        account_id=case.account_id,
        contact_id=case.contact_id,
        case_id=case.case_id,
        interacted_user=acting.user_id,
        status="open",
        started_at=world.now + timedelta(hours=2),
        sys_created_on=world.now + timedelta(hours=2),
    )
    event = ScenarioEvent(world, timedelta(hours=2)).add(answer)
    came = world.next_id(Interaction)
    waits = count(CustomerCase, case_id=case.case_id, state="pending")
    before = (find_user(acting), find_case(case), find_case_slas(case), find_contact_user(contact))
    reminded = (update_case(case, state="pending"), notify(case, records.user_of(contact), "reminder"))
    look = call("find_interactions", case_id=case.case_id)
    after = (
        call("update_interaction", interaction_id=came, status="handled"),
        update_case(case, state="in_progress"),
    )
    return with_scenario_verifiers(
        Draft(
            slug="butchers-answer-at-once",
            actor=acting,
            prompt=(
                f"I need the age of the battery for {case.number}: have the case wait for the customer in the usual "
                "way. They are quick, so look at the conversations of the case once more after that. If they have "
                "answered, let the case go on and mark the answer as handled. If not, leave it waiting."
            ),
            plan=(
                "Look up Rohan, the case, its SLAs (there are none, it is not covered), and the contact.",
                "Set it to pending, and send the contact a reminder (CAS-6).",
                "Look at the conversations: the customer has written. Set the case in progress again.",
                "Mark the conversation as handled (INT-1).",
            ),
            gold=(*before, *reminded, look, *after),
            answer=f"{case.number} is in progress again: the customer has answered, and the answer is handled.",
            verifiers=(
                answer_says(
                    "says_they_answered", "The answer says that they answered [REF-3]", r"\banswer\w*|\brepl\w+"
                ),
            ),
            tools=("count_interaction_by_status", "register_new_interaction", "find_contacts"),
            events=(event.happens_when(waits),),
            mistakes={"resolves it": (update_case(case, state="resolved"),)},
            negative_trajectories={
                "does not look again": NegativeTrajectory(
                    (*before, *reminded), f"{case.number} waits for the customer."
                ),
                "goes on without asking": NegativeTrajectory((*before, look), f"{case.number}: no answer yet."),
            },
        ),
        event,
        world=world,
        rules={"update_case": "CAS-6"},
    )


def _quiet_days(world: World) -> Draft:
    """No objection comes for days, and the case may be closed."""
    records, acting, case = DeskRecords(world), world.user("Yuki Tanabe"), world.case("ice-cable")
    contact = records.contact_of(case)
    user = records.user_of(contact)
    sent = f"SELECT COUNT(*) FROM notification WHERE case_id = {case.case_id} AND type = 'next_steps'"  # noqa: S608
    before = (find_user(acting), find_case(case), find_case_slas(case), find_contact_user(contact))
    notifications = notify(case, user, "next_steps")
    closed = _closed(case, world.now + days(3))
    later = ScenarioEvent(world, days(3))
    return with_scenario_verifiers(
        Draft(
            slug="ice-cable-closed-after-quiet-days",
            actor=acting,
            prompt=(
                f"Tell the contact of {case.number} what happens now (next steps: we close it if nothing more is "
                "said). Some days go by after your message; look at the conversations and at the case again then. If "
                "all is quiet and our rules allow it by then, close the case."
            ),
            plan=(
                "Look up Yuki, the case and its contact: resolved, quiet for four days.",
                "Send next_steps. Days pass; look at the conversations and the case again.",
                "Nothing has changed for five full days: close it with closed_on (CAS-8).",
            ),
            gold=(*before, notifications, call("find_interactions", case_id=case.case_id), find_case(case), closed),
            answer=f"{case.number} is closed; the contact was informed before and has not answered.",
            verifiers=(answer_says("names_the_case", "The answer names the case [REF-3]", case.number),),
            tools=("find_notifications", "count_interaction_by_status", "find_contacts"),
            access=Access.STRICT,
            events=(later.happens_when(sent),),
            also={
                "counts its own work in": Solution(
                    (*before, notifications, find_case(case), _closed(case, world.now + days(3) + timedelta(minutes=5)))
                ),
            },
            mistakes={"tells them twice": (notify(case, user, "update"),)},
            negative_trajectories={
                "closes it at once": NegativeTrajectory(
                    (*before, _closed(case, world.now), notifications),
                    f"{case.number} is done.",
                    "CAS-8",
                ),
                "only sends the message": NegativeTrajectory(
                    (*before, notifications), f"{case.number}: the contact is informed."
                ),
                "closes it with the time of its message": NegativeTrajectory(
                    (*before, notifications, find_case(case), _closed(case, world.now)), f"{case.number} is closed."
                ),
                "closes it with any time": NegativeTrajectory(
                    (*before, notifications, find_case(case), _closed(case, datetime(1999, 1, 1))),  # noqa: DTZ001
                    f"{case.number} is closed.",
                ),
            },
        ),
        later,
        world=world,
        rules={"update_case": "CAS-8", "send_notification": "NTF-3"},
    )


def _closed(case: CustomerCase, time: datetime) -> ToolCall:
    return update_case(case, state="closed", closed_on=timestamp(time))


def _colleague_is_faster(world: World) -> Draft:
    """A colleague takes one of the cases after the agent's first step; the request says when to look again.

    An agent that lists the cases in its first step sees it new, one that lists them later does not: only a look
    directly before the assignment settles it in both plays.
    """
    records, acting, group = DeskRecords(world), world.user("Asha Nair"), world.group("Sensor Support")
    product = world.product("Frost Sensor F1")
    cases = world.all(CustomerCase, assignment_group_id=group.group_id, product_id=product.product_id, state="new")
    taken, colleague = cases[-1], world.user("Yuki Tanabe")
    event = ScenarioEvent(world).change(taken, state="in_progress", assigned_to=colleague.user_id)
    own = [case for case in cases if case is not taken]
    covered = [case for case in own if records.covered(case)]
    accounts = list(dict.fromkeys(case.account_id for case in own))
    priorities = list(dict.fromkeys(case.priority for case in covered))
    queue = call("search_cases", product_id=product.product_id, state="new")
    looked = (
        find_team(group),
        find_user(acting),
        find_product(product),
        *(call("find_entitlements", account_id=key, active=True) for key in accounts),
        *(find_sla_definitions(priority) for priority in priorities),
    )
    again = tuple(map(find_case, cases))
    steps = tuple(update_case(case, state="in_progress", assigned_to=acting.user_id) for case in own)
    tracked = tuple(
        track(case, definition, registered_at(case))
        for case in covered
        for definition in records.sla_definitions(case.priority)
    )
    bare = [case for case in own if case not in covered]
    hints = tuple(notify(case, records.user_of(records.contact_of(case)), "next_steps") for case in bare)
    contacts = tuple(find_contact_user(records.contact_of(case)) for case in bare)
    stolen = update_case(taken, state="in_progress", assigned_to=acting.user_id)
    answer = f"Yours are {numbers(own)}. {taken.number} was taken up by Yuki Tanabe before."
    return with_scenario_verifiers(
        Draft(
            slug="colleague-was-faster",
            actor=acting,
            prompt=(
                f"I saw {numbers(cases)} in the queue this morning, all new and about the Frost Sensor F1. I take "
                "them up, SLAs included where there is cover. My colleagues are in the same queue, so open each case "
                "once more right before you give it to me: what a colleague has by then is theirs and stays as it is. "
                "Tell me which ones are mine."
            ),
            plan=(
                "Look up Asha, the group, the product, the cover and the SLA definitions.",
                "Directly before the assignment read each case: Yuki has taken one up.",
                "Take up the others, assigned in the same call (CAS-5).",
                "Link both SLAs on covered cases as of registration (CAS-4, SLA-1).",
            ),
            gold=(*looked, *again, *steps, *tracked),
            answer=answer,
            verifiers=(
                answer_says("names_the_rest", "The answer names the case that is not Asha's [REF-3]", taken.number),
            ),
            tools=(
                "search_cases",
                "get_cases_assigned_to",
                "assign_case_to_user",
                "find_contracts",
                "list_group_members",
                *(["find_contacts", "send_notification"] if bare else []),
            ),
            events=(event.happens_after(FIRST_LOOK),),
            also={
                "lists them in the first step and looks again": Solution((queue, *looked, *again, *steps, *tracked)),
                "lists them directly before": Solution((*looked, queue, *steps, *tracked)),
                **(
                    {
                        "tells the contacts without cover": Solution(
                            (*looked, *again, *contacts, *steps, *tracked, *hints)
                        )
                    }
                    if bare
                    else {}
                ),
            },
            mistakes={"takes the colleague's too": (stolen,)},
            negative_trajectories={
                "relies on the list of the first step": NegativeTrajectory(
                    (queue, *looked, *steps, stolen, *tracked), f"{numbers(cases)} are yours."
                ),
                "starts the SLAs of the colleague's case": NegativeTrajectory(
                    (
                        *looked,
                        *again,
                        *steps,
                        *tracked,
                        *(
                            track(taken, definition, registered_at(taken))
                            for definition in records.sla_definitions(taken.priority)
                        ),
                    ),
                    answer,
                ),
                "leaves them all": NegativeTrajectory((*looked, *again), answer),
            },
        ),
        event,
        world=world,
        optional=hints,
    )


FAMILIES = (people_change, grounds_change, time_passes)
