"""Customers' cases that are escalated: the case, the incident behind it, and the calendars of those who call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, at_time, on_date, span, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import CaseSla, CustomerCase, Entitlement
from opsgym_suites.calendar.calls import LIST, cancel, create, reschedule
from opsgym_suites.csm.calls import (
    complete_sla,
    find_article,
    find_case,
    find_case_slas,
    find_contacts,
    find_entitlements,
    find_sla_definitions,
    find_user,
    link,
    names_all,
    notify,
    numbers,
    track,
    update_case,
)
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.csm.verification import CURRENT_TIMES
from opsgym_suites.hr.calls import list_cases
from opsgym_suites.hybrid.servers import CALENDAR, CSM, HR, ITSM, VERIFIERS
from opsgym_suites.hybrid.systems import MORNING, NEW_YORK, NOW, OVERNIGHT, Systems, utc, wall
from opsgym_suites.itsm.calls import find_incident, update_incident
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day, on_gym
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import Between, Has, Matches, answer_says
from opsgym_suites.kit.world import at

VISITS = "Customer visits"
ESCALATED = {"update_case": "ESC-1, ESC-2", "send_notification": "ESC-3"}


def escalations(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about escalations."""
    systems = Systems(worlds)
    yield _escalated_with_a_call(systems)
    yield _asked_for_by_the_contact(systems)
    yield _call_by_the_clock(systems)
    yield _cases_of_who_is_on_leave(systems)
    yield _solved_with_the_incident(systems)
    yield from _escalation_ends(systems)
    yield _breached_by_the_morning(systems)
    yield _comes_back(systems)
    yield _contact_changes(systems)


def _team(systems: Systems, case: CustomerCase) -> tuple[ToolCall, ...]:
    """Lists the members of a case's group."""
    members = systems.customers.members(systems.customers.group_of(case))
    return (
        call("list_group_members", group_id=case.assignment_group_id),
        *(call("list_users", user_id=user.user_id) for user in members),
    )


def _alerts(systems: Systems, case: CustomerCase) -> tuple[ToolCall, ...]:
    return tuple(notify(case, user, "alert") for user in systems.customers.managers(case))


def _entitlements(systems: Systems, case: CustomerCase) -> tuple[Entitlement, ...]:
    return tuple(systems.customers.world.all(Entitlement, account_id=case.account_id, active=True))


# --- one day ---------------------------------------------------------------------------------------------------------


def _escalated_with_a_call(systems: Systems) -> Draft:
    """The reason follows from the account's entitlements; the call from two calendars; the incident gets the case."""
    case, incident = systems.customers.world.case("kelder-charts"), systems.desk.incident("gateway")
    who, actor = "Elodie Marsh", "Ambrose Kettle"
    start = systems.first_free((actor, who), at("11-17 14:00"), 30, at("11-17 17:00"))
    read = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case), find_entitlements(case)),
        *on_gym(CSM.gym, find_case_slas(case), *_team(systems, case)),
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(CALENDAR.gym, LIST, systems.busy((actor, who), start.date())),
    )
    raised = update_case(case, escalation=True, escalation_reason="vip")
    noted = on_gym(ITSM.gym, update_incident(incident, worknotes=f"Customer's case: {case.number}."))

    def entered(time: datetime) -> tuple[ToolCall, ...]:
        title = f"Escalation {case.number}"
        visits = systems.calendars.calendar(VISITS)
        made = create(visits, title, wall(time, NEW_YORK), 30, NEW_YORK, attendees=systems.guests([who]))
        return on_gym(CALENDAR.gym, made)

    alerted = on_gym(CSM.gym, *_alerts(systems, case))
    draft = Draft(
        slug="escalation-with-a-call",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, ITSM, CALENDAR),
        prompt=(
            f"{case.number} has to be escalated, with all that our rules ask for. The fault behind it is "
            f"{incident.number}: "
            "write the number of the case into the notes there. And enter half an hour with the assignee of the "
            "case into "
            "Customer visits, tomorrow, 17 November: the first full or half hour from 14:00 London time at which "
            "the two of "
            f"us are free, over by 17:00. Title 'Escalation {case.number}'. Which reason does the escalation "
            f"have, and when "
            "is the call for me in New York?"
        ),
        plan=(
            "Read the case, its SLAs, the account's entitlements and the members of the group.",
            "Escalate with the first reason that applies (CSM-ESC-2); alert the group's active managers (CSM-ESC-3).",
            "Note the case in the incident, and enter the call at the first time at which both are free.",
        ),
        gold=(*read, *on_gym(CSM.gym, raised), *alerted, *noted, *entered(start)),
        answer=(
            f"{case.number} is escalated, reason vip; {incident.number} names it. The call is on 17 November at "
            f"{wall(start, NEW_YORK):%H:%M} in New York."
        ),
        verifiers=(
            answer_says("names_the_reason", "The answer names the reason [REF-3]", term("vip")),
            answer_says("says_when", "The answer has the time [REF-3]", at_time(wall(start, NEW_YORK))),
        ),
        tools=("update_case_sla_details", "patch_event", "list_events"),
        access=Access.STRICT,
        evidence=_entitlements(systems, case),
        mistakes={
            "makes it critical": on_gym(CSM.gym, update_case(case, priority="critical")),
            "writes to the contact too": on_gym(
                CSM.gym, notify(case, systems.customers.user_of(systems.customers.contact_of(case)), "update")
            ),
        },
        negative_trajectories={
            "gives another reason": NegativeTrajectory(
                (
                    *read,
                    *on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="urgency")),
                    *alerted,
                    *noted,
                    *entered(start),
                ),
                "It is escalated for urgency; the call is at 9:30.",
            ),
            "spares the manager who is on leave": NegativeTrajectory(
                (*read, *on_gym(CSM.gym, raised), *noted, *entered(start)), "It is escalated, vip."
            ),
            "takes London's hour for New York's": NegativeTrajectory(
                (*read, *on_gym(CSM.gym, raised), *alerted, *noted, *entered(at("11-17 19:00"))),
                "It is escalated, vip.",
            ),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        rules={CSM.gym: ESCALATED, ITSM.gym: {"update_incident": "LKP-1"}},
        expect={ITSM.gym: {"update_incident": {"worknotes": Has(case.number)}}},
    )


def _asked_for_by_the_contact(systems: Systems) -> Draft:
    """A new case is assigned to who is in, according to HR; work and SLAs start, and its contact asked for more."""
    desk, actor = systems.customers, "Tobiah Mercer"
    case, taker = desk.world.case("ashdown-charts"), systems.at_customers("Elodie Marsh")
    contact = desk.contact_of(case)
    read = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case), find_entitlements(case)),
        *on_gym(CSM.gym, find_contacts(desk.account_of(case)), *_team(systems, case)),
        *on_gym(CSM.gym, find_sla_definitions("moderate"), find_case_slas(case)),
        *on_gym(HR.gym, call("list_hr_cases", opened_for="Gideon Rusk")),
    )

    def started(user: Any, reason: str) -> tuple[ToolCall, ...]:
        return (
            update_case(
                case,
                assigned_to=user.user_id,
                state="in_progress",
                escalation=True,
                escalation_reason=reason,
            ),
            *_alerts(systems, case),
            *(track(case, row, registered_at(case)) for row in desk.sla_definitions("moderate")),
        )

    logged = call(
        "register_new_interaction",
        channel="phone",
        account_id=case.account_id,
        contact_id=contact.contact_id,
        case_id=case.case_id,
        interacted_user=systems.at_customers(actor).user_id,
        status="handled",
    )
    right = on_gym(CSM.gym, *started(taker, "customer_request"), logged)
    draft = Draft(
        slug="escalation-asked-for-by-phone",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, HR),
        prompt=(
            f"The contact of {case.number} rang me and asked for an escalation; the call is over, please log it "
            f"with me as the "
            "one who took it. Escalate the case as the rules say. Gideon Rusk begins with it at once, unless HR "
            "has him on leave "
            "tomorrow: in that case Elodie Marsh does. Whatever follows from the start of work is to be done. "
            "Who has it, and "
            "which reason did you give?"
        ),
        plan=(
            "Read the case, its contact, the entitlements, the group, and in HR the leave of Gideon Rusk.",
            "Assign it to who is in, in progress, escalated with the first reason that applies; alert the managers.",
            "Start both SLAs of its priority from the creation of the case, and log the call.",
        ),
        gold=(*read, *right),
        answer=f"{case.number} is Elodie Marsh's, in progress and escalated: customer_request. The call is on record.",
        verifiers=(
            answer_says("names_the_assignee", "The answer names the assignee [REF-3]", r"\belodie\b"),
            answer_says("names_the_reason", "The answer names the reason [REF-3]", term("customer_request")),
        ),
        tools=("find_contracts", "assign_case_to_user", "find_hr_case_by_number", "find_interactions"),
        access=Access.STRICT,
        evidence=(systems.hr.case("unpaid-rusk"), *_entitlements(systems, case)),
        mistakes={
            "raises the priority": on_gym(CSM.gym, update_case(case, priority="high")),
            "logs it twice": on_gym(CSM.gym, logged),
        },
        negative_trajectories={
            "gives it to who is on leave": NegativeTrajectory(
                (*read, *on_gym(CSM.gym, *started(systems.at_customers("Gideon Rusk"), "customer_request"), logged)),
                "Gideon has it, not Elodie: customer request.",
            ),
            "takes it for urgent": NegativeTrajectory(
                (*read, *on_gym(CSM.gym, *started(taker, "urgency"), logged)), "Elodie has it; customer request."
            ),
            "starts no SLA": NegativeTrajectory(
                (*read, *on_gym(CSM.gym, *started(taker, "customer_request")[:-2], logged)),
                "Elodie has it; customer request.",
            ),
        },
    )
    rules = {**ESCALATED, "update_case": "CAS-5, ESC-1, ESC-2", "link_new_case_sla": "SLA-1"}
    return VERIFIERS.with_verifiers(
        systems.worlds, draft, rules={CSM.gym: rules}, expect={CSM.gym: CURRENT_TIMES}
    )  # fmt: skip


def _call_by_the_clock(systems: Systems) -> Draft:
    """Of three colleagues the first one takes the call for whom it lies in the day, and the case with it."""
    case, event = systems.customers.world.case("hudson-start"), systems.meeting("visit-hudson")
    actor, taker = "Tobiah Mercer", "Cyril Nott"
    candidates = ("Odalys Pinto", "Bram Halloway", taker, "Fabian Trask")
    read = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case), *_team(systems, case)),
        *on_gym(CALENDAR.gym, LIST, systems.day_of(VISITS, "11-19")),
        *on_gym(CALENDAR.gym, systems.busy(candidates, at("11-19 00:00").date())),
    )

    def given(name: str) -> tuple[ToolCall, ...]:
        return (
            *on_gym(CALENDAR.gym, systems.with_guests(event, (name, actor))),
            *on_gym(CSM.gym, update_case(case, assigned_to=systems.at_customers(name).user_id)),
        )

    draft = Draft(
        slug="call-for-whom-it-is-day",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, CALENDAR),
        prompt=(
            "Check the call with Hudson Reservoirs of Thursday 19 November in Customer visits. If Odalys Pinto "
            "is taken for that "
            "whole day, another one of the Pump Desk calls in her place: Bram Halloway, Cyril Nott or Fabian "
            "Trask, the first "
            "in this order who is free for the whole hour and whose own clock shows a time between 8:00 and "
            "18:00 then. That "
            f"person replaces her as a guest and gets {case.number}; I stay on the call, and its time stays. Who "
            f"is it, and what "
            "does the clock there show at the start?"
        ),
        plan=(
            "Read the case, its group, the call and the busy times of the four.",
            "In Sydney it is night then; the next one in order is free and at work.",
            "Replace the guest, and assign the case to the same person.",
        ),
        gold=(*read, *given(taker)),
        answer=f"Cyril Nott takes the call, at 15:00 in London, and has {case.number}.",
        verifiers=(
            answer_says("names_the_person", "The answer names who calls [REF-3]", r"\bcyril\b"),
            answer_says("says_when", "The answer has the time there [REF-3]", at_time(at("11-19 15:00"))),
        ),
        tools=("get_event", "create_event", "delete_event", "assign_case_to_user"),
        access=Access.STRICT,
        mistakes={
            "moves the call": on_gym(CALENDAR.gym, reschedule(event, at("11-19 12:00"))),
            "escalates it": on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="impact")),
        },
        negative_trajectories={
            "takes the first name": NegativeTrajectory((*read, *given("Bram Halloway")), "Bram calls, at 2:00."),
            "leaves the case": NegativeTrajectory((*read, *given(taker)[:1]), "Cyril calls, at 15:00."),
            "takes the namesake": NegativeTrajectory(
                (*read, *on_gym(CALENDAR.gym, systems.with_guests(event, ("Bram Hallowell", actor)))),
                "Bram calls, at 15:00.",
            ),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft)


def _cases_of_who_is_on_leave(systems: Systems) -> Draft:
    """HR has the leave, CSM the work: open cases of one agent go to the colleague with fewer of them."""
    desk, actor = systems.customers, "Tobiah Mercer"
    away, taker = systems.at_customers("Gideon Rusk"), systems.at_customers("Elodie Marsh")
    other = systems.at_customers("Lachlan Ord")
    cases = desk.open_cases(assigned_to=away.user_id)
    working = [case for case in cases if case.state == "in_progress"]
    waiting = next(case for case in cases if case.state == "pending")
    event = systems.meeting("visit-catskill")
    read = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_user(away), find_user(taker), find_user(other)),
        *on_gym(HR.gym, list_cases(opened_for="Gideon Rusk")),
        *on_gym(CSM.gym, *(call("search_cases", assigned_to=one.user_id) for one in (away, taker, other))),
        *on_gym(CALENDAR.gym, LIST, systems.day_of(VISITS, "11-18")),
    )

    def moved(user: Any, rows: Sequence[CustomerCase]) -> tuple[ToolCall, ...]:
        return on_gym(CSM.gym, *(update_case(case, assigned_to=user.user_id) for case in rows))

    alone = on_gym(CALENDAR.gym, systems.with_guests(event, ("Keziah Monroe",)))
    draft = Draft(
        slug="cases-of-who-is-on-leave",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, HR, CALENDAR),
        prompt=(
            "Gideon Rusk asked for unpaid leave. Look up in HR on which days. If Wednesday 18 November is one of "
            "them, he can't "
            "join that day's call with Catskill Dairies in Customer visits: take him off it, the other guest "
            "stays. And the "
            "cases of his that are in progress go to Elodie Marsh or to Lachlan Ord, all to the one who has fewer open "
            "cases now. What waits for a customer stays with him. Which days are they, and which cases went to whom?"
        ),
        plan=(
            "Find the leave of Gideon Rusk in HR.",
            "List his cases, and count the open ones of the two colleagues.",
            "Assign what is in progress to the one with fewer, and take him off the call.",
        ),
        gold=(*read, *moved(taker, working), *alone),
        answer=f"From 17 November to 19 November. Elodie Marsh has {numbers(working)}, and the call is without him.",
        verifiers=(
            answer_says(
                "says_the_days",
                "The answer has the first and the last day [REF-3]",
                all_of(span(r"(?:\b17(?:th)?\b|\b11/17\b|-17\b)", on_date(at("11-19 00:00")))),
            ),
            answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(working)),
            answer_says("names_the_assignee", "The answer names who has them [REF-3]", r"\belodie\b"),
        ),
        tools=("get_cases_assigned_to", "get_event", "delete_event", "find_hr_case_by_number"),
        access=Access.STRICT,
        evidence=(systems.hr.case("unpaid-rusk"),),
        mistakes={
            "moves what waits": moved(taker, [waiting]),
            "cancels the call": on_gym(CALENDAR.gym, cancel(event)),
        },
        negative_trajectories={
            "takes the one with more": NegativeTrajectory(
                (*read, *moved(other, working), *alone), f"17 to 19 November; not Elodie, Lachlan: {numbers(working)}."
            ),
            "believes the request": NegativeTrajectory(
                (*(made for made in read if made.gym != HR.gym), *moved(taker, working), *alone),
                f"17 to 19 November: Elodie has {numbers(working)}.",
            ),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft)


# --- several days ----------------------------------------------------------------------------------------------------


def _passed(systems: Systems, gym: str, until: datetime = MORNING) -> ScenarioEvent[Any]:
    return ScenarioEvent(systems.worlds[gym], until - NOW)


def _incident_is_over(systems: Systems, until: datetime = MORNING) -> ScenarioEvent[Any]:
    incident = systems.desk.incident("gateway")
    return _passed(systems, ITSM.gym, until).change(
        incident, status="resolved", resolution_code="Solution Provided", resolution_notes="Gateway restarted.",
        resolved_by=incident.assigned_to,
    )  # fmt: skip


def _solved_with_the_incident(systems: Systems) -> Draft:
    """The case waits for the incident; when that is resolved, the case is resolved as the rules of its desk ask."""
    desk, actor, noon = systems.customers, "Ambrose Kettle", at("11-16 14:00")
    case, incident = desk.world.case("kelder-charts"), systems.desk.incident("gateway")
    article = desk.article("Charts missing in PumpWatch")
    contact = desk.user_of(desk.contact_of(case))
    (running,) = [row for row in desk.world.all(CaseSla, case_id=case.case_id) if row.stage == "in_progress"]
    event = _incident_is_over(systems, noon)
    first = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case)),
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(ITSM.gym, update_incident(incident, worknotes=f"{case.number} waits for this.")),
        *on_gym(CSM.gym, notify(case, contact, "update")),
    )
    looks = (
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(CSM.gym, find_case(case), find_case_slas(case), find_article(article)),
        *on_gym(CSM.gym, find_contacts(desk.account_of(case))),
    )
    done = on_gym(
        CSM.gym,
        link(case, article, "resolution"),
        update_case(case, state="resolved"),
        complete_sla(running, noon),
        notify(case, contact, "solution_proposal"),
    )
    sent = on_gym(CSM.gym, notify(case, contact, "solution_proposal", article))
    draft = Draft(
        slug="case-solved-with-its-incident",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, ITSM),
        prompt=(
            f"{case.number} and {incident.number} are one and the same fault. Note in the incident that the case "
            f"waits for it, by "
            "its number, and let the contact of the case have an update. That is all for this morning; how does "
            "the incident "
            "stand?"
        ),
        plan=(
            "Read case and incident; note the case, and write to its contact.",
            "In the afternoon read the incident again; it is resolved.",
            "Link the article as resolution, resolve the case, complete its SLA, send no internal article (CSM-KB-2).",
        ),
        gold=(*on_day(1, *first), *on_day(2, *looks, *done)),
        answer=f"{case.number} is resolved with the article on missing charts; its SLA is completed.",
        verifiers=(
            answer_says(
                "first_says_how_it_stands",
                "The first answer says that the incident is in progress [REF-3]",
                term("in_progress"),
                day=1,
            ),
            answer_says("says_it_is_resolved", "The answer says that it is resolved [REF-3]", term("resolved")),
        ),
        tools=("list_users", "find_entitlements", "update_knowledge", "find_product"),
        access=Access.STRICT,
        days=(
            Day(
                message=(
                    f"Two in the afternoon. Is {incident.number} resolved by now? If it is, our case is solved "
                    f"with it, and the "
                    "article on missing charts says how: resolve the case, with everything that belongs to it. "
                    "If not, send "
                    "the contact another update and leave it at that."
                ),
                begins_at=noon.isoformat(),
            ),
        ),
        day_answers=(f"{incident.number} is in progress; it names {case.number}, and the contact has an update.",),
        events=(event_on(ITSM.gym, event.happens_at(at("11-16 12:30"))),),
        mistakes={
            "escalates it": on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="vip")),
            "updates the contact again": on_gym(CSM.gym, notify(case, contact, "update")),
        },
        negative_trajectories={
            "sends the internal article": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *done[:-1], *sent)), "It is resolved.", rule="CSM-KB-2"
            ),
            "leaves the SLA": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *done[:2], *done[3:])), "It is resolved."
            ),
            "does not look again": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *on_gym(CSM.gym, notify(case, contact, "update")))),
                "It is not resolved yet.",
            ),
        },
    )
    completed = {"completed_time": Between(noon - timedelta(minutes=1), noon + timedelta(hours=1))}
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        {ITSM.gym: event},
        advance=noon - NOW,
        rules={
            CSM.gym: {"update_case": "CAS-7", "send_notification": "CAS-7, NTF-3"},
            ITSM.gym: {"update_incident": "LKP-1"},
        },
        expect={
            CSM.gym: {"update_case_sla_details": completed},
            ITSM.gym: {"update_incident": {"worknotes": Has(case.number)}},
        },
    )


def _escalation_ends(systems: Systems) -> Iterator[Draft]:
    yield _watched(
        systems,
        slug="escalation-ends-with-the-incident",
        event=_incident_is_over(systems),
        prompt=(
            "Escalate {case} by the rules; its cause is {incident}. For tomorrow there is a Call with Kelder "
            "Water in Customer "
            "visits. Venetia Croft can't be there, as her calendar should tell you; if so, take her off it, "
            "Elodie Marsh calls "
            "alone. Which reason did you enter?"
        ),
        message=(
            "Good morning. Should {incident} be resolved, we need neither the escalation nor the call of today: "
            "withdraw the "
            "one and cancel the other, each as the rules have it. Otherwise both stay. What did you do?"
        ),
        over=True,
    )
    yield _watched(
        systems,
        slug="escalation-outlives-the-night",
        event=_passed(systems, ITSM.gym).change(
            systems.desk.incident("gateway"),
            status="on_hold",
            on_hold_reason="Awaiting Vendor",
            worknotes="Resolved for the sites, customers still without charts. Vendor sends a part.",
        ),
        prompt=(
            "Please escalate {case}, cause {incident}, as our policy wants it, and tell me the reason. Then see "
            "who of the guests of "
            "the Call with Kelder Water in Customer visits tomorrow is away all day, and take that person off the list."
        ),
        message=(
            "How far is {incident}? Only with its status at resolved do I want the escalation of {case} "
            "withdrawn and today's call "
            "with Kelder Water cancelled. In every other status the call is moved one hour later, since I join "
            "it, and the "
            "escalation remains. Tell me what it came to."
        ),
        over=False,
    )


def _watched(systems: Systems, *, slug: str, event: ScenarioEvent[Any], prompt: str, message: str, over: bool) -> Draft:
    """An escalation is entered, and ends only if the incident behind it is resolved by the next day."""
    case, incident = systems.customers.world.case("kelder-charts"), systems.desk.incident("gateway")
    meeting, actor = systems.meeting("visit-kelder"), "Ambrose Kettle"
    start = utc(meeting.start_datetime, meeting.start_timezone)
    people = ("Elodie Marsh", "Venetia Croft")
    first = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case), find_entitlements(case)),
        *on_gym(CSM.gym, find_case_slas(case), *_team(systems, case)),
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(CALENDAR.gym, LIST, systems.day_of(VISITS, "11-17"), systems.busy(people, start.date())),
        *on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="vip"), *_alerts(systems, case)),
        *on_gym(CALENDAR.gym, systems.with_guests(meeting, ("Elodie Marsh",))),
    )
    looks = (*on_gym(ITSM.gym, find_incident(incident)), *on_gym(CSM.gym, find_case(case)))
    ended = (
        *on_gym(CSM.gym, update_case(case, escalation=False)),
        *on_gym(CALENDAR.gym, cancel(meeting)),
    )
    later = on_gym(CALENDAR.gym, reschedule(meeting, wall(start, NEW_YORK) + timedelta(hours=1)))
    cleared = (*on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="urgency")), *ended[1:])
    draft = Draft(
        slug=slug,
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, ITSM, CALENDAR),
        prompt=prompt.format(case=case.number, incident=incident.number),
        plan=(
            "Escalate with the reason that follows from the entitlements; alert the managers of the group.",
            "Take the guest who is away all day off the call.",
            "On the next day read the incident: its status alone decides whether escalation and call stay.",
        ),
        gold=(*on_day(1, *first), *on_day(2, *looks, *(ended if over else later))),
        answer=(
            f"{incident.number} is resolved: {case.number} is no longer escalated, and the call is cancelled."
            if over
            else f"{incident.number} is on hold, so {case.number} stays escalated; the call is at 11:00 in New York."
        ),
        verifiers=(
            answer_says("names_the_reason", "The answer names the reason [REF-3]", term("vip"), day=1),
            answer_says(
                "says_what_it_came_to",
                "The answer says how the incident stands [REF-3]",
                term("resolved") if over else term("on_hold"),
            ),
        ),
        tools=("delete_event", "create_event", "update_case_sla_details"),
        access=Access.STRICT,
        days=(
            Day(
                message=message.format(case=case.number, incident=incident.number), begins_at=MORNING.isoformat()
            ),
        ),
        day_answers=(f"{case.number} is escalated, reason vip; Venetia Croft is off the call.",),
        events=(event_on(ITSM.gym, event.happens_at(OVERNIGHT)),),
        evidence=_entitlements(systems, case),
        mistakes={
            "resolves the case": on_gym(CSM.gym, update_case(case, priority="critical")),
            "calls the other guest back": on_gym(CALENDAR.gym, systems.with_guests(meeting, people)),
        },
        negative_trajectories={
            "does the opposite": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *(later if over else ended))), "It is resolved, not on hold."
            ),
            "replaces the reason": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *cleared)), "It is resolved, not on hold."
            ),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        {ITSM.gym: event},
        advance=MORNING - NOW,
        rules={CSM.gym: {**ESCALATED, "update_case": "ESC-1, ESC-2"}},
    )


def _breached_by_the_morning(systems: Systems) -> Draft:
    """Time alone decides: the resolution SLA of one case breaches over night, that of the other one is paused."""
    desk, actor = systems.customers, "Ambrose Kettle"
    case, paused = desk.world.case("kelder-charts"), desk.world.case("catskill-alarm")
    incident = systems.desk.incident("gateway")
    first = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case), find_case(paused)),
        *on_gym(CSM.gym, find_case_slas(case), find_case_slas(paused)),
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(ITSM.gym, update_incident(incident, worknotes=f"Waiting customers: {case.number}, {paused.number}.")),
    )
    looks = (
        *on_gym(CSM.gym, find_case_slas(case), find_case_slas(paused)),
        *on_gym(CSM.gym, find_entitlements(case), find_entitlements(paused), *_team(systems, case)),
    )
    raised = on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="vip"), *_alerts(systems, case))
    both = on_gym(
        CSM.gym, update_case(paused, escalation=True, escalation_reason="urgency"), *_alerts(systems, paused)
    )  # fmt: skip
    draft = Draft(
        slug="breached-by-the-morning",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, ITSM),
        prompt=(
            f"Two customers hang on {incident.number}: {case.number} and {paused.number}. Put both numbers into "
            f"the incident's "
            "notes, and tell me which of the two cases has a resolution SLA that is running, and when it "
            "breaches (UTC)."
        ),
        plan=(
            "Read both cases and their SLAs; note the numbers in the incident.",
            "On the next day read the SLAs again: what ran has breached, what was paused has not.",
            "Escalate the breached one with the reason that applies now, and alert the managers of its group.",
        ),
        gold=(*on_day(1, *first), *on_day(2, *looks, *raised)),
        answer=f"The SLA of {case.number} has breached: it is escalated, reason vip. {paused.number} is untouched.",
        verifiers=(
            answer_says(
                "says_when_it_breaches",
                "The answer has the time of the breach [REF-3]",
                all_of([case.number, at_time(at("11-16 15:20"))]),
                day=1,
            ),
            answer_says("names_the_case", "The answer names the case [REF-3]", case.number),
        ),
        tools=("update_case_sla_details", "find_contacts", "find_sla_definitions"),
        access=Access.STRICT,
        days=(
            Day(
                message=(
                    "It's the next morning. Which of the two has breached its resolution SLA since we spoke? "
                    "Escalate that one "
                    "the way the policy describes, its reason included; leave the other as it is."
                ),
                begins_at=MORNING.isoformat(),
            ),
        ),
        day_answers=(f"That of {case.number} runs and breaches at 15:20 UTC; that of {paused.number} is paused.",),
        mistakes={
            "escalates the other too": both,
            "lowers the priority": on_gym(CSM.gym, update_case(case, priority="moderate")),
        },
        negative_trajectories={
            "calls it a risk of breach": NegativeTrajectory(
                (
                    *on_day(1, *first),
                    *on_day(
                        2,
                        *looks,
                        *on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="breach_risk")),
                        *raised[1:],
                    ),
                ),
                f"{case.number} is escalated.",
            ),
            "escalates both": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *raised, *both)), f"{case.number} and {paused.number} are."
            ),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        advance=MORNING - NOW,
        rules={CSM.gym: ESCALATED, ITSM.gym: {"update_incident": "LKP-1"}},
        expect={ITSM.gym: {"update_incident": {"worknotes": Matches(all_of([case.number, paused.number]))}}},
    )


def _comes_back(systems: Systems) -> Draft:
    """A leave is cancelled in HR: what was given away on the first day returns, and nothing that was not."""
    desk, actor = systems.customers, "Tobiah Mercer"
    away, taker = systems.at_customers("Gideon Rusk"), systems.at_customers("Keziah Monroe")
    case, event = desk.world.case("catskill-alarm"), systems.meeting("visit-catskill")
    other = next(row for row in desk.open_cases(assigned_to=taker.user_id) if row.account_id == case.account_id)
    leave = systems.hr.case("unpaid-rusk")
    changes = _passed(systems, HR.gym).change(leave, status="cancelled")
    asks = on_gym(HR.gym, list_cases(opened_for="Gideon Rusk"))
    first = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_user(taker), find_case(case)),
        *asks,
        *on_gym(CALENDAR.gym, LIST, systems.day_of(VISITS, "11-18")),
        *on_gym(CSM.gym, update_case(case, assigned_to=taker.user_id)),
        *on_gym(CALENDAR.gym, systems.with_guests(event, ("Keziah Monroe",))),
    )
    back = on_gym(CSM.gym, update_case(case, assigned_to=away.user_id))
    invited = on_gym(CALENDAR.gym, systems.with_guests(event, ("Gideon Rusk", "Keziah Monroe")))
    again = (*asks, *on_gym(CSM.gym, find_case(case)))
    draft = Draft(
        slug="leave-is-called-off",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, HR, CALENDAR),
        prompt=(
            f"Is Gideon Rusk, who has {case.number}, on leave on Wednesday 18 November, as HR sees it? If yes, "
            f"the case goes to "
            "Keziah (Lund at the customer desk, Monroe elsewhere), and he comes off the Call with Catskill "
            "Dairies of that "
            "day in Customer visits, on which she stays. Tell me who has the case."
        ),
        plan=(
            "Find the leave in HR; give the case to the colleague, and take him off the call.",
            "On the next day read the leave again: it was cancelled.",
            "Give the case back and invite him again; cases that she had before stay with her.",
        ),
        gold=(*on_day(1, *first), *on_day(2, *again, *back, *invited)),
        answer=f"His leave is cancelled: {case.number} is Gideon Rusk's again, and both are guests of the call.",
        verifiers=(
            answer_says("names_who_has_it", "The answer names who has it [REF-3]", r"\bkeziah\b", day=1),
            answer_says("names_who_has_it_now", "The answer names who has it [REF-3]", r"\bgideon\b"),
        ),
        tools=("get_cases_assigned_to", "find_hr_case_by_number", "delete_event", "create_event"),
        access=Access.STRICT,
        days=(
            Day(
                message=(
                    "People say that Gideon works tomorrow after all. If HR agrees, undo what you did yesterday "
                    "because of him, on "
                    "both sides; he has to be asked for the call anew. If HR does not, leave everything. Who has "
                    "the case now?"
                ),
                begins_at=MORNING.isoformat(),
            ),
        ),
        day_answers=(f"Keziah has {case.number}, and Gideon is off the call.",),
        events=(event_on(HR.gym, changes.happens_at(OVERNIGHT)),),
        evidence=(leave,),
        mistakes={
            "gives him another case": on_gym(CSM.gym, update_case(other, assigned_to=away.user_id)),
            "takes her off": on_gym(CALENDAR.gym, systems.with_guests(event, ("Gideon Rusk",))),
        },
        negative_trajectories={
            "forgets the call": NegativeTrajectory((*on_day(1, *first), *on_day(2, *again, *back)), "Gideon has it."),
            "stays with yesterday": NegativeTrajectory((*on_day(1, *first),), "Keziah has it, Gideon is away."),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds, draft, {HR.gym: changes}, advance=MORNING - NOW, rules={CSM.gym: {"update_case": "CAS-5"}}
    )


def _contact_changes(systems: Systems) -> Draft:
    """The contact leaves the customer between two messages: the second one goes to the contact who is primary then."""
    desk, actor = systems.customers, "Ambrose Kettle"
    case, incident = desk.world.case("ashdown-charts"), systems.desk.incident("gateway")
    account = desk.account_of(case)
    before, after = desk.contact_of(case), desk.world.contact(account, "Harriet Egerton")
    namesake = desk.world.contact(desk.world.account("Pelham Breweries"), "Harriet Egerton")
    taker = systems.at_customers("Elodie Marsh")
    changes = _passed(systems, CSM.gym)
    changes.change(before, active=False, is_primary=False).change(after, is_primary=True)
    changes.change(desk.user_of(before), active=False)
    changes.change(case, contact_id=after.contact_id)
    first = (
        *on_gym(CSM.gym, find_user(systems.at_customers(actor)), find_case(case), find_contacts(account)),
        *on_gym(CSM.gym, call("list_users", user_id=before.portal_user_id), find_entitlements(case)),
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(ITSM.gym, update_incident(incident, worknotes=f"Also affected: {case.number}.")),
        *on_gym(CSM.gym, notify(case, desk.user_of(before), "update")),
    )
    looks = (
        *on_gym(CSM.gym, find_case(case), find_contacts(account)),
        *on_gym(CSM.gym, call("list_users", user_id=after.portal_user_id), find_user(taker)),
        *on_gym(CSM.gym, *_team(systems, case)[:1], find_sla_definitions("moderate")),
    )
    begun = (
        update_case(case, assigned_to=taker.user_id, state="in_progress"),
        *(track(case, row, registered_at(case)) for row in desk.sla_definitions("moderate")),
    )

    def sent_to(user: Any) -> tuple[ToolCall, ...]:
        return on_gym(CSM.gym, *begun, notify(case, user, "next_steps"))

    wrong = desk.user_of(before)
    draft = Draft(
        slug="contact-changes-over-night",
        actor=systems.at_customers(actor),
        actors=systems.actors(actor, CSM, ITSM),
        prompt=(
            f"{case.number} belongs to {incident.number} as well. Note its number there, and send the contact of "
            f"the case an update. "
            "Don't start work on it yet. To whom did you write?"
        ),
        plan=(
            "Read case, contacts and incident; note the case, and write to its contact.",
            "On the next day read the contacts again: the first one has left, another one is primary.",
            "Assign the case, start its SLAs from its creation (CSM-SLA-1), and write to the contact that it has now.",
        ),
        gold=(*on_day(1, *first), *on_day(2, *looks, *sent_to(desk.user_of(after)))),
        answer=f"{case.number} is in progress with Elodie Marsh, its SLAs run, and Harriet Egerton has the next steps.",
        verifiers=(
            answer_says("names_the_contact", "The answer names the contact [REF-3]", r"\bchalloner\b", day=1),
            answer_says("names_the_new_contact", "The answer names the contact [REF-3]", r"\begerton\b"),
        ),
        tools=("assign_case_to_user", "update_contact", "find_case_slas"),
        access=Access.STRICT,
        days=(
            Day(
                message=(
                    f"Elodie Marsh starts on {case.number} this morning: set that up with all that goes with it, "
                    f"and let the "
                    "contact know what happens next with the message type for that. Look up who the contact is; "
                    "people come "
                    "and go at Ashdown. Whom did you write to today?"
                ),
                begins_at=MORNING.isoformat(),
            ),
        ),
        day_answers=("I wrote to Harriet Challoner.",),
        events=(event_on(CSM.gym, changes.happens_at(OVERNIGHT)),),
        mistakes={
            "writes to a further contact": on_gym(
                CSM.gym,
                notify(case, desk.user_of(desk.contacts(account)[1]), "next_steps"),
            ),
            "escalates it": on_gym(CSM.gym, update_case(case, escalation=True, escalation_reason="urgency")),
        },
        negative_trajectories={
            "writes to who has left": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *sent_to(wrong))), "To Harriet Challoner.", rule="CSM-NTF-1"
            ),
            "writes to the namesake": NegativeTrajectory(
                (*on_day(1, *first), *on_day(2, *looks, *sent_to(desk.user_of(namesake)))),
                "I wrote to Harriet Egerton.",
                rule="CSM-NTF-1",
            ),
            "starts no SLA": NegativeTrajectory(
                (
                    *on_day(1, *first),
                    *on_day(2, *looks, *sent_to(desk.user_of(after))[:1], *sent_to(desk.user_of(after))[-1:]),
                ),
                "I wrote to Harriet Egerton.",
            ),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        {CSM.gym: changes},
        advance=MORNING - NOW,
        rules={
            CSM.gym: {"update_case": "CAS-5", "link_new_case_sla": "SLA-1", "send_notification": "NTF-1, NTF-3"},
            ITSM.gym: {"update_incident": "LKP-1"},
        },
        expect={ITSM.gym: {"update_incident": {"worknotes": Has(case.number)}}},
    )
