"""What the customer desk has said to a customer and has to keep: calls, visits, repairs, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import at_time, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import CaseSla, CustomerCase, UserGroup
from opsgym_suites.calendar.calls import LIST, create
from opsgym_suites.calendar.calls import on as on_wall
from opsgym_suites.csm import calls as service
from opsgym_suites.email.calls import answer, read_thread, search
from opsgym_suites.hybrid.core.jobs import (
    Calls,
    Job,
    in_calendar,
    in_csm,
    in_itsm,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, CSM, EMAIL, ITSM, TEAMS
from opsgym_suites.hybrid.systems import LONDON, MORNING, NEW_YORK, NOW, OVERNIGHT, Systems, in_utc, wall
from opsgym_suites.itsm.calls import find_incident
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import (
    channels_of,
    find_team,
    post,
    posts_of,
)

VISITS = "Customer visits"
ZERO = "Flow Meter M5 shows zero"


def commitments(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about what customers wait for."""
    systems = Systems(worlds)
    for scene in (_before_eleven, _arrow, _meter_overnight):
        for job in scene(systems):
            yield written(systems, job)


def with_contact(systems: Systems, actor: str, case: CustomerCase) -> Calls:
    """Looks up the acting user at customer service, a case, its SLAs, and its contact."""
    desk = systems.customers
    contact = desk.contact_of(case)
    return in_csm(
        service.find_user(systems.at_customers(actor)),
        service.find_case(case),
        service.find_case_slas(case),
        service.find_contacts(desk.account_of(case)),
        service.find_contact_user(contact),
    )


def channel_of(systems: Systems, place: str) -> Calls:
    """Reads a channel, named as `Team:Channel`, with its replies."""
    room = systems.teams.room(place)
    team = systems.teams.team(place.partition(":")[0])
    return in_teams(find_team(team), channels_of(team), posts_of(room, replies=True))


def running(systems: Systems, case: CustomerCase) -> CaseSla:
    """The SLA of a case that runs or is paused."""
    (sla,) = systems.customers.running_slas(case)
    return sla


# --- a call before eleven --------------------------------------------------------------------------------------------


def _before_eleven(systems: Systems) -> Iterator[Job]:
    """A customer names an hour by which they want a call; the one who repairs has to be on it."""
    mail, desk = systems.mail, systems.customers
    elodie = mail.mailbox("Elodie Marsh")
    case, incident = desk.world.case("kelder-charts"), systems.desk.incident("gateway")
    last = mail.message("kelder-charts", "Elodie Marsh", 2)
    room = systems.teams.room("Customer Desk:Kelder Water")
    start = systems.first_free(("Elodie Marsh", "Ruben Castellan"), on_wall("11-16 10:30"), 30, on_wall("11-16 11:00"))
    looked = (
        *with_contact(systems, "Elodie Marsh", case),
        *in_itsm(find_incident(incident), call("get_user", user_id=incident.assigned_to)),
        *in_mail(search(elodie, "subject:Charts"), read_thread(last, mail)),
        *in_calendar(LIST, systems.busy(("Elodie Marsh", "Ruben Castellan", "Nadia Okafor"), start.date())),
        *channel_of(systems, "Customer Desk:Kelder Water"),
    )

    def entered(guest: str) -> tuple[ToolCall, ...]:
        made = create(
            systems.own("Elodie Marsh"), f"Call {case.number}", start, 30, LONDON, attendees=systems.guests([guest])
        )
        return in_calendar(made)

    logged = in_csm(
        call(
            "register_new_interaction",
            channel="email",
            account_id=case.account_id,
            contact_id=case.contact_id,
            case_id=case.case_id,
            interacted_user=systems.at_customers("Elodie Marsh").user_id,
            status="open",
        )
    )
    replied = in_mail(answer(mail, elodie, last, "We call you today at 10:30 London time, with our technician."))
    posted = in_teams(post(room, f"I, Elodie, call Kelder at 10:30 with Ruben Castellan, {case.number}."))
    yield Job(
        "call-before-the-inspectorate",
        "Elodie Marsh",
        (CSM, ITSM, EMAIL, CALENDAR, TEAMS),
        f"Kelder's contact has answered me once more about {case.number}. They get the call that they want, by when "
        "they want it, but not before half past ten: half an hour in my own calendar, 'Call' and the number of "
        f"the case, and the one who has {incident.number} at the desk comes along if free. Answer in their "
        "thread with the hour, and post in the Kelder channel of Customer Desk who calls and when. Their mail goes on "
        "record at the case as an interaction that still waits for our response. Who calls?",
        (
            "Read the thread: a call before eleven; and find the assignee of the incident, and who is free.",
            "Enter the call at 10:30 with Ruben Castellan; answer, post, and record the mail as open (CSM-INT-1).",
        ),
        (*looked, *entered("Ruben Castellan"), *logged, *replied, *posted),
        "Elodie Marsh and Ruben Castellan call at 10:30; the mail is on record as open.",
        (r"\bruben\b", at_time(start)),
        ("update_case", "patch_event", "create_draft", "send_chat_message"),
        {
            "updates the contact by the case too": in_csm(
                service.notify(case, desk.user_of(desk.contact_of(case)), "update")
            ),
            "escalates it": in_csm(service.update_case(case, escalation=True, escalation_reason="customer_request")),
        },
        {
            "asks the other technician": (
                (*looked, *entered("Nadia Okafor"), *logged, *replied, *posted),
                "Nadia, not Ruben, at 10:30.",
            ),
            "records it as over": (
                (
                    *looked,
                    *entered("Ruben Castellan"),
                    *in_csm(call(logged[0].name, **{**logged[0].arguments, "status": "handled"})),
                    *replied,
                    *posted,
                ),
                "Ruben Castellan, at 10:30.",
            ),
            "writes no answer": (
                (*looked, *entered("Ruben Castellan"), *logged, *posted),
                "Ruben Castellan, at 10:30.",
            ),
        },
        evidence=(incident,),
        in_mails={"We call": (at_time(start),)},
        in_posts={"Kelder": (r"\bruben\b", at_time(start))},
    )


# --- the meter of the cellar -----------------------------------------------------------------------------------------


def _waits(systems: Systems, case: CustomerCase) -> Calls:
    """The customer has to act: the case is pending, its SLA is paused, and its contact has a reminder."""
    contact = systems.customers.user_of(systems.customers.contact_of(case))
    return in_csm(
        service.update_case(case, state="pending"),
        service.stage(running(systems, case), "paused"),
        service.notify(case, contact, "reminder"),
    )


def _arrow(systems: Systems) -> Iterator[Job]:
    """The customer turns the meter on a day of theirs; until then the desk waits, with all that goes with it."""
    mail, desk = systems.mail, systems.customers
    keziah, case = mail.mailbox("Keziah Monroe"), desk.world.case("pelham-zero")
    last, article = mail.message("pelham-zero", "Keziah Monroe", 2), desk.article(ZERO)
    start = systems.first_free(
        ("Keziah Monroe", "Bram Hallowell"), in_utc(on_wall("11-18 09:00"), NEW_YORK), 30, on_wall("11-18 20:00")
    )
    looked = (
        *with_contact(systems, "Keziah Monroe", case),
        *in_csm(service.find_article(article)),
        *in_mail(search(keziah, "subject:Meter"), read_thread(last, mail)),
        *in_calendar(LIST, systems.busy(("Keziah Monroe", "Bram Hallowell"), start.date())),
    )

    def entered(day: str) -> tuple[ToolCall, ...]:
        time = on_wall(f"{day} {wall(start, NEW_YORK):%H:%M}")
        own = systems.own("Keziah Monroe")
        return in_calendar(
            create(own, "Meter of Pelham", time, 30, NEW_YORK, attendees=systems.guests(["Bram Hallowell"]))
        )

    waits = _waits(systems, case)
    linked = in_csm(service.link(case, article, "suggested"))
    replied = in_mail(answer(mail, keziah, last, "Thank you. We look at the values on 18 November."))
    yield Job(
        "arrow-is-turned-on-tuesday",
        "Keziah Monroe",
        (CSM, EMAIL, CALENDAR),
        f"{case.number} now hangs on what Pelham wrote in their last mail to me: it's their turn. Treat the case the "
        "way our rules want it, its SLA and its contact included, and link our article on this fault as a "
        "suggestion. On the day after the one that they name Bram Hallowell and I look at the values: 'Meter of "
        "Pelham', half an hour, in my own calendar, first full or half hour from 9:00 in New York at which both of us "
        "are free. Answer in their thread which day that is. What is the state of the case, and when do we look?",
        (
            "Read case, SLAs, contact, the article on the fault, and the thread: they turn it on Tuesday.",
            "Set it to pending, its SLA paused, with a reminder (CSM-CAS-6, CSM-SLA-4); link the article, and answer.",
            "Enter the look for Wednesday, when both are free.",
        ),
        (*looked, *waits, *linked, *entered("11-18"), *replied),
        f"{case.number} is pending; we look at the values on 18 November at {wall(start, NEW_YORK):%H:%M} in New York.",
        (term("pending"), on_date(start.date())),
        ("link_new_case_sla", "assign_case_to_user", "query_freebusy", "create_draft"),
        {
            "sends the article as a solution": in_csm(
                service.notify(case, desk.user_of(desk.contact_of(case)), "solution_proposal", article)
            ),
            "invites the customer": in_mail(answer(mail, keziah, last, "See you on 18 November.")),
        },
        {
            "leaves the SLA running": (
                (*looked, waits[0], waits[2], *linked, *entered("11-18"), *replied),
                "It is pending; 18 November.",
            ),
            "takes their day": (
                (*looked, *waits, *linked, *entered("11-17"), *replied),
                "It is pending; 17 November, not 18 November.",
            ),
            "says it was the solution": (
                (
                    *looked,
                    *waits,
                    *in_csm(service.link(case, article, "resolution")),
                    *entered("11-18"),
                    *replied,
                ),
                "It is pending; 18 November.",
            ),
        },
        access=Access.STRICT,
        evidence=(article,),
        in_mails={"values": (on_date(start.date()),)},
    )


@dataclass(frozen=True)
class Overnight:
    """What a customer writes at the case over night, and what the second day makes of it."""

    slug: str
    summary: str
    prompt: str
    message: str
    says: tuple[str, ...]


OVERNIGHTS = (
    Overnight(
        "meter-counts-in-the-morning",
        "Meter of the cellar counts since the arrow points into the flow",
        "Pelham has to turn its meter, that's what their last mail says, so {case} waits for them. Please set it so, "
        "with everything that our rules attach to waiting, and write 'Pelham turns its meter.' into the channel "
        "General of "
        "Customer Desk, with the number of the case. Which state has it now?",
        "Morning! Customers may change the short description of their case, so look how it reads today. If it "
        "says that the meter counts, resolve the case as policy describes (our article on meters solved it), and "
        "thank them in their thread. If it says that it can't be turned, Field Visits takes over, with the member who "
        "sits in London, the SLA runs again, the contact gets the next steps, and a visit of an hour, 'Visit to "
        "Pelham', is entered in Customer visits for tomorrow, 18 November, at 11:00 in London with that member. "
        "How did it end?",
        says=(term("resolved"),),
    ),
)


def _meter_overnight(systems: Systems) -> Iterator[Job]:
    return (_meter(systems, one) for one in OVERNIGHTS)


def _meter(systems: Systems, one: Overnight) -> Job:
    mail, desk = systems.mail, systems.customers
    keziah, case = mail.mailbox("Keziah Monroe"), desk.world.case("pelham-zero")
    last, article = mail.message("pelham-zero", "Keziah Monroe", 2), desk.article(ZERO)
    contact = desk.user_of(desk.contact_of(case))
    sla = running(systems, case)
    group = field_visits(systems)
    changes: ScenarioEvent[Any] = ScenarioEvent(desk.world, MORNING - NOW).change(case, short_description=one.summary)
    room = systems.teams.room("Customer Desk:General")
    team = systems.teams.team("Customer Desk")
    posted = in_teams(post(room, f"{case.number}: Pelham turns its meter. Keziah waits for them."))
    first = (
        *with_contact(systems, "Keziah Monroe", case),
        *in_mail(search(keziah, "subject:Meter"), read_thread(last, mail)),
        *in_teams(find_team(team), channels_of(team)),
        *_waits(systems, case),
        *posted,
    )
    again = in_csm(service.find_case(case), service.find_case_slas(case))
    resolved = (
        *in_csm(
            service.find_article(article),
            service.link(case, article, "resolution"),
            service.update_case(case, state="resolved"),
            service.complete_sla(sla, MORNING),
            service.notify(case, contact, "solution_proposal", article),
        ),
        *in_mail(answer(mail, keziah, last, "Thank you for turning it. The meter counts.")),
    )
    visits = systems.calendars.calendar(VISITS)

    def sent(name: str) -> tuple[ToolCall, ...]:
        start = on_wall("11-18 11:00")
        taker = systems.at_customers(name)
        return (
            *in_csm(
                service.find_team(group),
                call("list_group_members", group_id=group.group_id),
                *(call("list_users", user_id=user.user_id) for user in desk.members(group)),
                service.update_case(
                    case,
                    assignment_group_id=group.group_id,
                    assigned_to=taker.user_id,
                    state="in_progress",
                ),
                service.stage(sla, "in_progress"),
                service.notify(case, contact, "next_steps"),
            ),
            *in_calendar(LIST, create(visits, "Visit to Pelham", start, 60, LONDON, attendees=systems.guests([name]))),
        )

    day_one = tuple(made.model_copy(update={"day": 1}) for made in first)
    return Job(
        one.slug,
        "Keziah Monroe",
        (CSM, EMAIL, TEAMS, CALENDAR),
        one.prompt.format(case=case.number),
        (
            "Set the case to pending, pause its SLA, remind the contact (CSM-CAS-6, CSM-SLA-4), and post it.",
            "On the next day read the case again: its short description decides.",
            "Resolve it with the article (CSM-CAS-7, CSM-SLA-5): it says that the meter counts.",
        ),
        first,
        f"{case.number} is resolved, the meter counts.",
        one.says,
        ("assign_case_to_user", "link_new_case_sla", "create_draft", "patch_event"),
        {"escalates it": in_csm(service.update_case(case, escalation=True, escalation_reason="urgency"))},
        {
            "does the opposite": (
                (*day_one, *on(2, *again, *sent("Bram Hallowell"))),
                "It is resolved, Hallowell need not go.",
            ),
            "does not look again": (day_one, "It is pending, not resolved; Hallowell waits."),
            "leaves the SLA": ((*day_one, *on(2, *again, *resolved[:3], *resolved[4:])), "It is resolved."),
        },
        changes={CSM.gym: changes},
        happenings=(event_on(CSM.gym, changes.happens_at(OVERNIGHT)),),
        day_two=(one.message, (*again, *resolved)),
        first_answer=f"{case.number} is pending, and the channel knows.",
        first_says=(term("pending"),),
        in_posts={"Pelham": (case.number,)},
    )


def on(day: int, *calls: ToolCall) -> Calls:
    """Calls of a day."""
    return tuple(made.model_copy(update={"day": day}) for made in calls)


def field_visits(systems: Systems) -> UserGroup:
    """The group that visits customers."""
    return systems.customers.world.one(UserGroup, name="Field Visits")
