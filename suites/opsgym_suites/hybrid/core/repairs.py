"""Repairs that customers wait for: who goes there, what they must do first, and what ends an escalation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import at_time, on_date, term
from opsgym_api.tasks.event import Amendment
from opsgym_api.tasks.event import Event as Happening
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.calendar.calls import LIST, cancel, create
from opsgym_suites.calendar.calls import on as on_wall
from opsgym_suites.csm import calls as service
from opsgym_suites.drive.calls import named, read_text
from opsgym_suites.email.calls import answer, read_thread, search
from opsgym_suites.hybrid.core.commitments import VISITS, channel_of, field_visits, on, running, with_contact
from opsgym_suites.hybrid.core.jobs import (
    Job,
    in_calendar,
    in_csm,
    in_drive,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, TEAMS
from opsgym_suites.hybrid.systems import MORNING, NOW, OVERNIGHT, SYDNEY, Systems, in_utc, wall
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import (
    channels_of,
    chats,
    find_team,
    key_of_result,
    members_of,
    open_chat,
    post,
    say,
)


def repairs(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about pumps that stand still or run hot."""
    systems = Systems(worlds)
    for scene in (_dam, _second_pump):
        for job in scene(systems):
            yield written(systems, job)


# --- the pump at the dam ---------------------------------------------------------------------------------------------

_CAS_6 = (
    "Set a case to `pending` when the customer has to act. Send its contact `next_steps`, which say what the customer "
    "has to do, and every active manager of its group an `update`."
)


def _dam(systems: Systems) -> Iterator[Job]:
    """A pump that stays hot: the technician goes there, or the customer has to act first, by a rule that is new."""
    mail, desk = systems.mail, systems.customers
    bram, case = mail.mailbox("Bram Halloway"), desk.world.case("warragul-hot")
    last = mail.message("warragul-hot", "Bram Halloway", 2)
    contact, group = desk.user_of(desk.contact_of(case)), field_visits(systems)
    people = ("Bram Halloway", "Marnie Stroud")
    first, latest = (in_utc(on_wall(f"11-18 {hour}"), SYDNEY) for hour in ("09:00", "17:00"))
    start = systems.first_free(people, first, 120, latest)
    local = wall(start, SYDNEY)
    accounts = [systems.teams.account(name) for name in people]
    team = systems.teams.team("Customer Desk")
    looked = (
        *with_contact(systems, "Bram Halloway", case),
        *in_csm(
            service.find_team(group),
            call("list_group_members", group_id=group.group_id),
            service.find_user(systems.at_customers("Marnie Stroud")),
        ),
        *in_mail(search(bram, "subject:Pump"), read_thread(last, mail)),
        *in_calendar(LIST, systems.busy(people, first.date(), start.date())),
        *in_teams(find_team(team), members_of(team), chats()),
    )
    taker = systems.at_customers("Marnie Stroud").user_id
    given = in_csm(
        service.update_case(case, assignment_group_id=group.group_id, assigned_to=taker),
        service.notify(case, contact, "next_steps"),
    )

    def entered(hour: str) -> tuple[ToolCall, ...]:
        return in_calendar(
            create(
                systems.own("Bram Halloway"),
                "Pump at the dam",
                on_wall(f"11-18 {hour}"),
                120,
                SYDNEY,
                attendees=systems.guests(["Marnie Stroud"]),
            )
        )

    replied = in_mail(answer(mail, bram, last, f"Marnie Stroud comes on 18 November at {local:%H:%M} Sydney time."))
    chat = open_chat(accounts)
    line = in_teams(
        chat, say(key_of_result(chat, 0), f"{case.number} is yours; the dam on 18 November, {local:%H:%M}.")
    )
    yield Job(
        "technician-for-the-dam",
        "Bram Halloway",
        (CSM, EMAIL, CALENDAR, TEAMS),
        f"Lowering the speed didn't help in {case.number}, and the farm wants to know when their technician comes, see "
        "the thread. That person gets the case, and her group with it; the contact gets the next steps. I drive "
        "there with her on Wednesday 18 November: two hours, 'Pump at the dam', in my own calendar, first full or half "
        "hour from 9:00 in Sydney, over by 17:00, at which both of us are free. Answer the thread with day and hour. "
        "Her mailbox is closed, so write to her alone in a chat of Teams, with the number of the case, day and hour. "
        "When do we go?",
        (
            "Read case, contact, the thread (Marnie Stroud), the group that she is in, and both calendars.",
            "Move the case with its assignee in one call (CSM-PRC-2), and send the next steps.",
            "Enter the visit at the first free time, answer the thread, and write to her in a chat of two.",
        ),
        (*looked, *given, *entered(f"{local:%H:%M}"), *replied, *line),
        f"{case.number} is Marnie Stroud's in Field Visits; we go on 18 November at {local:%H:%M} in Sydney.",
        (at_time(local), on_date(local)),
        ("set_case_assignment_group", "assign_case_to_user", "send_channel_message", "query_freebusy"),
        {
            "pauses the SLA": in_csm(service.stage(running(systems, case), "paused")),
            "posts it for all": in_teams(post(systems.teams.room("Customer Desk:General"), "Marnie goes to the dam.")),
        },
        {
            "takes the first hour": (
                (*looked, *given, *entered("09:00"), *replied, *line),
                f"On 18 November at 9:00, not {local:%H:%M}.",
            ),
            "leaves the customer waiting": (
                (*looked, *given, *entered(f"{local:%H:%M}"), *line),
                f"18 November, {local:%H:%M}.",
            ),
        },
        access=Access.STRICT,
        in_mails={"Marnie": (at_time(local), on_date(local))},
        in_posts={"dam": (case.number, at_time(local))},
    )
    room = systems.teams.room("Customer Desk:General")
    boss = systems.at_customers("Tobiah Mercer")
    seen = (
        *with_contact(systems, "Bram Halloway", case),
        *in_csm(
            call("list_group_members", group_id=case.assignment_group_id),
            *(call("list_users", user_id=user.user_id) for user in desk.members(desk.group_of(case))),
        ),
        *in_mail(search(bram, "subject:Pump"), read_thread(last, mail)),
        *in_teams(find_team(team), channels_of(team)),
    )
    waits = in_csm(
        service.update_case(case, state="pending"),
        service.stage(running(systems, case), "paused"),
    )
    notified = in_csm(service.notify(case, contact, "next_steps"), service.notify(case, boss, "update"))
    words = in_mail(answer(mail, bram, last, "Please send us a photo of the inlet, then we come with the right part."))
    posted = in_teams(post(room, f"{case.number}: Bram has requested a photo of the inlet from Warragul Farms."))
    yield Job(
        "photo-of-the-inlet",
        "Bram Halloway",
        (CSM, EMAIL, TEAMS),
        f"before marnie drives out to the dam we need a photo of the inlet from the customer, case {case.number}. "
        "request it in their thread, and let the case wait for them by the rules as they are when you do it: state, "
        "SLA, whom to notify and with which type. then post in Customer Desk, channel General, that Bram has "
        "requested it, with the number. who got a notification?",
        (
            "Read case, SLAs, contact, the members of the group, and the thread.",
            "A rule changes meanwhile: next steps for the contact, an update for the manager (CSM-CAS-6).",
            "Set the case to pending, pause its SLA, write in the thread and post.",
        ),
        (*seen, *waits, *notified, *words, *posted),
        f"{case.number} is pending; the contact got the next steps, and Tobiah Mercer an update.",
        (r"\bmercer\b", term("pending")),
        ("link_new_case_sla", "create_draft", "send_chat_message", "assign_case_to_user"),
        {"reminds the contact too": in_csm(service.notify(case, contact, "reminder"))},
        {
            "follows the old rule": (
                (*seen, *waits, *in_csm(service.notify(case, contact, "reminder")), *words, *posted),
                "It is pending; the contact has a reminder, Mercer nothing.",
            ),
            "forgets the manager": (
                (*seen, *waits, *notified[:1], *words, *posted),
                "It is pending; Mercer got nothing.",
            ),
        },
        happenings=(Happening(after_step=FIRST_LOOK, amend=Amendment(rule="CSM-CAS-6", text=_CAS_6)),),
        in_mails={"photo": (r"\b(photo|picture)",)},
        in_posts={"photo": (case.number, r"\bbram\b")},
    )


# --- two pumps at the reservoir --------------------------------------------------------------------------------------


def _second_pump(systems: Systems) -> Iterator[Job]:
    """A standstill is escalated, and is over by the morning."""
    desk, files = systems.customers, systems.files
    case, article = desk.world.case("hudson-start"), desk.article("Lift Pump F40 after a power cut")
    contact, boss = desk.user_of(desk.contact_of(case)), systems.at_customers("Tobiah Mercer")
    visit, meeting = files.document("hudson-visit"), systems.meeting("visit-hudson")
    room = systems.teams.room("Customer Desk:Hudson Reservoirs")
    sla = running(systems, case)
    changes: ScenarioEvent[Any] = ScenarioEvent(desk.world, MORNING - NOW)
    changes.change(case, short_description="Both pumps run since the evening")
    first = (
        *with_contact(systems, "Tobiah Mercer", case),
        *in_csm(
            service.find_entitlements(case),
            call("list_group_members", group_id=case.assignment_group_id),
        ),
        *in_drive(named("Visit on 19 November"), read_text(visit)),
        *channel_of(systems, "Customer Desk:Hudson Reservoirs"),
    )

    def raised(reason: str) -> tuple[ToolCall, ...]:
        return in_csm(
            service.update_case(case, escalation=True, escalation_reason=reason), service.notify(case, boss, "alert")
        )

    noted = in_drive(call("create_comments", fileId=visit.id, content="The case is escalated."))
    again = (
        *in_csm(service.find_case(case), service.find_case_slas(case), service.find_article(article)),
        *in_calendar(LIST, systems.day_of(VISITS, "11-19")),
    )
    solved = in_csm(
        service.link(case, article, "resolution"),
        service.update_case(case, state="resolved", escalation=False),
        service.complete_sla(sla, MORNING),
        service.notify(case, contact, "solution_proposal", article),
    )
    called_off = in_calendar(cancel(meeting))
    posted = in_teams(post(room, f"{case.number} is resolved, both pumps run; Tobiah has called the visit off."))
    day_one = (*first, *raised("impact"), *noted)
    yield Job(
        "both-pumps-run",
        "Tobiah Mercer",
        (CSM, DRIVE, TEAMS, CALENDAR),
        f"{case.number} must be escalated according to our rules; mind which of the reasons comes first, and everyone "
        "who has to be alerted. Add the comment 'The case is escalated.' to the document about our visit there of 19 "
        "November. Which reason is it?",
        (
            "Read case, SLAs, entitlements, group, document and channel; escalate for impact (CSM-ESC-2), and alert.",
            "On the next day read the case again: both pumps run.",
            "Resolve it with its article (CSM-CAS-7, CSM-SLA-5), end the escalation, cancel the call, and post it.",
        ),
        day_one,
        f"{case.number} is resolved and no longer escalated, the call of 19 November is cancelled.",
        (term("resolved"),),
        ("link_new_case_sla", "delete_event", "update_files", "assign_case_to_user"),
        {
            "comments once more": in_drive(call("create_comments", fileId=visit.id, content="Over.")),
            "lowers the priority": in_csm(service.update_case(case, priority="high")),
        },
        {
            "takes another reason": (
                (*on(1, *first, *raised("vip"), *noted), *on(2, *again, *solved, *called_off, *posted)),
                "It is resolved.",
            ),
            "lets the call stand": ((*on(1, *day_one), *on(2, *again, *solved, *posted)), "It is resolved."),
            "does not look again": (on(1, *day_one), "It stays escalated, nothing is resolved."),
        },
        access=Access.STRICT,
        changes={CSM.gym: changes},
        happenings=(event_on(CSM.gym, changes.happens_at(OVERNIGHT)),),
        day_two=(
            (
                "Good morning. See how the case reads now. If both pumps run, it's resolved, and our article on this "
                "pump after a power cut was the solution: do all that a resolution needs, end the escalation, cancel "
                "the call with Hudson Reservoirs of Thursday in Customer visits, and post in the Hudson channel of "
                "Customer Desk what has become of the case and the visit, with my name. If one still stands, change "
                "nothing. How is it?"
            ),
            (*again, *solved, *called_off, *posted),
        ),
        first_answer=f"{case.number} is escalated, reason impact.",
        first_says=(term("impact"),),
        in_posts={"resolved": (r"\btobiah\b", term("resolved"))},
    )
