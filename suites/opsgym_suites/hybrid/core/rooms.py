"""Meetings that a room, the zones of three cities or a leave decides; rows and papers as in `boards`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import at_time, on_date, span
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.calendar.calls import LIST, cancel, on, patch
from opsgym_suites.calendar.calls import reschedule as put_off
from opsgym_suites.calendar.seeds.world import stored
from opsgym_suites.csm import calls as service
from opsgym_suites.drive.calls import comments_on, find_drive, inside, named, permissions_of
from opsgym_suites.email.calls import read, search, send
from opsgym_suites.hybrid.core.boards import Board
from opsgym_suites.hybrid.core.calendars import busy
from opsgym_suites.hybrid.core.jobs import (
    Job,
    in_calendar,
    in_csm,
    in_drive,
    in_hr,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, HR, TEAMS
from opsgym_suites.hybrid.systems import LONDON, MORNING, NEW_YORK, NOW, OVERNIGHT, Systems, in_utc
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import (
    channels_of,
    find_team,
    post,
    tags_of,
)


def rooms(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about meetings whose room or hour another system decides."""
    systems = Systems(worlds)
    for scene in (_room_goes, _room_of_another, _three_cities, _leave_decides):
        for job in scene(systems):
            yield written(systems, job)


# --- rooms -----------------------------------------------------------------------------------------------------------


def _room_goes(systems: Systems) -> Iterator[Job]:
    """Another booking takes the room at the hour that was the first one."""
    mail, files, teams = systems.mail, systems.files, systems.teams
    actor, people = "Jocasta Finn", ("Anselm Pryor", "Wendell Achebe")
    plan = files.document("release-plan")
    folder = files.file("PumpWatch:Release December")
    board = Board(
        systems, actor, people, "Freeze of December", 30, ("11-17", "11-19"), (11, 17), LONDON, "Weir",
        "Open points of the freeze", folder, "Releases",
    )  # fmt: skip
    taken = systems.calendars.event("Room Weir", "Customer visit", "2026-11-20 10:00")
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.calendars)
    begins, ends = (in_utc(board.start.replace(minute=minute), LONDON) for minute in (0, 30))
    changes.change(taken, start_datetime=stored(begins), end_datetime=stored(ends))
    later = replace(board, systems=Systems({**systems.worlds, CALENDAR.gym: changes.after}))
    team = teams.team("PumpWatch")
    word = mail.message("blum-farewell", actor)
    channel = teams.room("PumpWatch:Release December")
    read_all = (
        *in_teams(find_team(team), tags_of(team), channels_of(team)),
        *in_drive(named("Plan"), permissions_of(plan), comments_on(plan), named("Release December"), inside(folder)),
        *in_mail(search(mail.mailbox(actor), "from:dorothea.blum"), read(word, mail)),
        *board.looks,
    )

    def announced(of: Board) -> tuple[ToolCall, ...]:
        return (*of.filed(), *in_teams(post(channel, f"Freeze of December: {of.in_words}, Room Weir.")), *of.mailed())

    booked = board.meeting(board.start)
    yield Job(
        "room-goes-while-you-look",
        actor,
        (TEAMS, DRIVE, CALENDAR, EMAIL),
        "meeting about the freeze: the tag Release crew in team PumpWatch says who, minus anyone who wrote to me "
        "that they have left, plus the one who commented on the release's Plan on drive. 'Freeze of December', "
        "half an hour, calendar Releases, Room Weir, first full hour from 11 to 17 london time, 17-19 november, "
        "everybody and the room free when you book it (rooms go fast here). empty document 'Open points of the "
        "freeze' next to the plan, roles as they are, they all open that folder anyway. post day + hour in Release "
        "December and mail it to the guests, subject as the title. when?",
        (
            "Read the tag, the comments on the plan and the farewell: two people are meant.",
            "The room is taken meanwhile, and refused (CALENDAR-PRC-4): look again, take the next hour.",
            "Make the document in the plan's folder, post, and write the mail.",
        ),
        (*read_all, busy(board.calendars, on("11-17").date(), on("11-19").date()), *later.meeting(later.start),
            *announced(later)),
        f"Freeze of December is on {later.in_words} in Room Weir with Anselm Pryor and Wendell Achebe.",
        later.when,
        ("create_permission", "patch_event", "list_chats"),
        {"shares the document": in_drive(board.opened("Wendell Achebe"))},
        {
            "invites who has left": (
                (*read_all, *later.meeting(later.start, (*people, "Dorothea Blum")), *announced(later)), later.in_words
            ),
            "books no room": ((*read_all, *later.meeting(later.start, room=""), *announced(later)), later.in_words),
        },
        {"books the room that has gone": ((*read_all, *booked), "CALENDAR-PRC-4")},
        in_mails={"": later.when},
        in_posts={"": later.when},
        access=Access.STRICT,
        happenings=(event_on(CALENDAR.gym, changes.happens_after(FIRST_LOOK)),),
        changes={CALENDAR.gym: changes},
        evidence=(word,),
    )  # fmt: skip


def _room_of_another(systems: Systems) -> Iterator[Job]:
    """Who manages the room frees it on a mail, or does not."""
    yield _asked_for(
        systems,
        "weir-freed-on-request",
        freed=True,
        prompt="Wendell here. Demo of the charts for Jocasta Finn and Caspian Rowe on Wednesday 18 November, 13:00 "
        "to 13:30 in London; I want Room Weir. If it is taken at that time, send Lavender Crewe, who keeps "
        "it, a mail 'Weir on Wednesday' asking to have it. It is read "
        "at once; a booking that can go is gone right after. So look again when the mail is out: Weir if it is "
        "free then, otherwise Room Culvert's screen will do, without a room of ours. Enter it as 'Demo of the "
        "charts' into Releases, make an empty document 'Order of the demo' among my files in which both may write, "
        "and post day, hour and room (or 'no room') in London House, channel General. Which is it?",
    )
    yield _asked_for(
        systems,
        "weir-kept-by-its-owner",
        freed=False,
        prompt="For a demo with Jocasta Finn and Caspian Rowe (Wednesday 18 November, 13:00 London, 30 minutes) I "
        "would prefer Room Weir. Should someone have it, write to Lavender Crewe, who keeps it, subject 'Weir on "
        "Wednesday', and ask for it; bookings that can move vanish as soon as that mail is read, which takes no "
        "time. Check once more afterwards. Not free then? We do it at our desks, with no room in the entry. 'Demo "
        "of the charts' goes into the calendar Releases in either case. I also need an empty document 'Order of "
        "the demo', my own, both of them writers, and a post in the General channel of London House that has day, "
        "hour and the room, or the words 'no room'. What came of it?",
    )


def _asked_for(systems: Systems, slug: str, prompt: str, *, freed: bool) -> Job:
    mail, teams = systems.mail, systems.teams
    actor, people = "Wendell Achebe", ("Jocasta Finn", "Caspian Rowe")
    start = on("11-18 13:00")
    board = Board(
        systems, actor, people, "Demo of the charts", 30, ("11-18", "11-18"), (13, 14), LONDON, "Weir",
        "Order of the demo", home="Releases", role="writer", readers=people,
    )  # fmt: skip
    booking = systems.calendars.event("Room Weir", "Contract talk", "2026-11-18 13:00")
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.calendars)
    changes.change(booking, status="cancelled")
    house = teams.team("London House")
    channel = teams.room("London House:General")
    room = systems.room("room.weir")
    again = busy([room], start.date(), start.date())
    lavender = mail.mailbox("Lavender Crewe").primary_email
    wish = in_mail(
        send(mail, mail.mailbox(actor), [lavender], "Weir on Wednesday", "May I have Weir on 18 November at 13:00?")
    )
    looked = (
        *board.looks,
        *wish,
        again,
        *in_teams(find_team(house), channels_of(house)),
    )

    def entered(with_room: bool) -> tuple[ToolCall, ...]:
        where = "Room Weir" if with_room else "no room"
        return (
            *board.meeting(start, room="Weir" if with_room else ""),
            *board.filed(),
            *in_teams(post(channel, f"Demo of the charts: 18 November, 13:00, {where}.")),
        )

    unasked = [made for made in looked if made not in wish]
    words = r"\bweir\b" if freed else r"\bno room\b"
    result = "Weir is yours" if freed else "Weir stayed taken, so the demo has no room"
    return Job(
        slug,
        actor,
        (CALENDAR, EMAIL, DRIVE, TEAMS),
        prompt,
        (
            "The room is taken: write to its keeper.",
            "Look at the room again, and enter the meeting with it or without any.",
            "Make the document with two writers, and post it.",
        ),
        (*looked, *entered(freed)),
        f"{result}: Demo of the charts is on 18 November at 13:00, Order of the demo is there, and Lavender Crewe "
        "was asked.",
        (r"\bweir\b", r"\b(yours|free|freed|booked|gave|got)\b" if freed else r"\b(not|no|taken|without|kept)\b"),
        ("get_calendar", "patch_event", "delete_event"),
        {"takes another room": board.meeting(start, room="Jetty")},
        {"does not look again": ((*looked, *entered(with_room=False)), result)} if freed else {},
        {"asks no one": ((*unasked, *entered(with_room=True)), "CALENDAR-PRC-4")}
        if freed
        else {"does not look again": ((*looked, *entered(with_room=True)), "CALENDAR-PRC-4")},
        in_posts={"Demo": (on_date(start), at_time(start), words)},
        happenings=(event_on(CALENDAR.gym, changes.happens_on("send_message"), when=EMAIL.gym),) if freed else (),
        changes={CALENDAR.gym: changes} if freed else {},
    )


# --- no hour ---------------------------------------------------------------------------------------------------------


def _three_cities(systems: Systems) -> Iterator[Job]:
    """Office hours of three cities have no hour in common."""
    files, teams = systems.files, systems.teams
    actor, people = "Duncan Iredale", ("Tamsin Yarwood", "Ezra Colby")
    office = systems.customers.world.group("Contracts Office")
    members = systems.customers.members(office)
    board = Board(
        systems, actor, people, "Contracts of 2027", 30, ("11-17", "11-20"), (8, 19), "Australia/Sydney", "Jetty",
        "Agenda of the contracts", files.drive("Contracts"),
    )  # fmt: skip
    drive = files.drive("Contracts")
    channel = teams.room("Customer Desk:General")
    looked = (
        *in_csm(service.find_team(office), call("list_group_members", group_id=office.group_id)),
        *in_csm(*(call("list_users", user_id=one.user_id) for one in members)),
        *in_drive(find_drive("Contracts"), permissions_of(drive)),
        *board.looks,
    )
    posted = in_teams(post(channel, "Contracts of 2027: 17 November, 09:00 in Sydney."))
    yield Job(
        "no-hour-in-three-cities",
        actor,
        (CSM, CALENDAR, DRIVE, TEAMS),
        "Half an hour with everyone else who is active in customer service's Contracts Office: 'Contracts of 2027' "
        "in my calendar, Room Jetty, Tuesday 17 to Friday 20 November, first full hour. No one should have to sit "
        "there before 8:00 or after 19:00 by the clock of their own city. Then an empty document 'Agenda of the "
        "contracts' at the top of the shared drive Contracts, and a post with the hour in Customer Desk, General. "
        "If there is no such hour, leave all of it and say why.",
        (
            "Read the members of the group and their zones in the calendars.",
            "Office hours in Sydney, London and New York have none in common: decline all of it.",
        ),
        looked,
        "Nothing was entered, filed or posted: Tamsin Yarwood is in London, Ezra Colby in New York and you are in "
        "Sydney, and these time zones have no hour between 8:00 and 19:00 in common.",
        (r"\b(time zones?|zones?|clocks?|new york)\b",),
        ("create_event", "create_file", "send_channel_message", "query_freebusy"),
        {"enters it in the evening": board.meeting(on("11-17 18:00")), "posts it": posted},
        {
            "makes the document all the same": (
                (*looked, *board.filed()), "I did not enter the meeting, as the time zones leave no hour; New York."
            )
        },
        evidence=(office,),
        subject=r"\b(hour|time|contracts|meeting)\b",
    )  # fmt: skip


# --- a leave that is decided over night ------------------------------------------------------------------------------


def _leave_decides(systems: Systems) -> Iterator[Job]:
    """A call takes place or is put off, as HR decides over night."""
    yield _call_with_catskill(
        systems,
        "call-put-off-for-a-leave",
        withdrawn=False,
        prompt="Gideon Rusk asked HR for leave in the middle of this week, I hear, and on Wednesday he has our "
        "'Call with Catskill Dairies' (calendar Customer visits). Today only two things: is his request of this "
        "week still open, and put an empty document 'Questions for Catskill' at the top of the shared drive "
        "Customers. Send Gideon a mail 'Catskill' that the call stands until HR has decided. Which days did he ask "
        "for?",
        message="Please look at HR again. If the request still isn't withdrawn or cancelled, I plan without him "
        "until it is over: move the call, same length, to the first full hour from 9:00 to 17:00 New York time on "
        "Friday 20 November that Gideon, Keziah Monroe and I have free. If it is off the table, the call stays. "
        "Either way post day and hour in Customer Desk, General. So?",
    )
    yield _call_with_catskill(
        systems,
        "call-stays-as-the-leave-is-off",
        withdrawn=True,
        prompt="does gideon rusk have an open request for leave in HR that touches wednesday? he's in 'Call with "
        "Catskill Dairies' (Customer visits) that day. give me the days he asked for. also: empty document "
        "'Questions for Catskill', top level of the shared drive Customers. and a mail 'Catskill' to him: call "
        "stands until HR decides. nothing else today",
        message="morning. check the request in HR once more. gone (cancelled)? then the call stays where it is. "
        "still open? then it moves, same length, to friday 20 november, first full hour between 9 and 17 in new "
        "york when gideon, keziah monroe and me are all free. in both cases day + hour into Customer Desk / "
        "General. what now?",
    )


def _call_with_catskill(systems: Systems, slug: str, prompt: str, message: str, *, withdrawn: bool) -> Job:
    mail, files, teams = systems.mail, systems.files, systems.teams
    actor, gideon = "Tobiah Mercer", "Gideon Rusk"
    visit, case = systems.meeting("visit-catskill"), systems.hr.case("unpaid-rusk")
    drive, team = files.drive("Customers"), teams.team("Customer Desk")
    channel = teams.room("Customer Desk:General")
    board = Board(
        systems, actor, (gideon, "Keziah Monroe"), "Catskill", 60, ("11-20", "11-20"), (9, 17), NEW_YORK, "",
        "Questions for Catskill", drive,
    )  # fmt: skip
    asks = in_hr(call("list_hr_cases", opened_for=gideon))
    calendar = systems.calendars.calendar("Customer visits")
    reads = in_calendar(LIST, call("get_event", calendarId=calendar.calendar_id, eventId=visit.event_id))
    listed = in_calendar(systems.day_of("Customer visits", "11-18"))
    letter_out = in_mail(
        send(mail, mail.mailbox(actor), [mail.mailbox(gideon).primary_email], "Catskill", "It stands until HR decides.")
    )
    first = (*asks, *in_drive(find_drive("Customers")), *in_calendar(LIST), *listed, *board.filed(), *letter_out)
    time = on("11-18 10:00") if withdrawn else board.start
    in_words = f"{time.day} November at {time:%H:%M}"
    posted = in_teams(post(channel, f"Call with Catskill Dairies: {in_words} in New York."))
    moved = in_calendar(put_off(visit, in_utc(board.start, NEW_YORK) if visit.start_timezone == "UTC" else board.start))
    looks = (*asks, *reads, busy(board.calendars, on("11-20").date(), on("11-20").date()))
    place = in_teams(find_team(team), channels_of(team))
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.hr, MORNING - NOW)
    if withdrawn:
        changes.change(case, status="cancelled")
    second = (*looks, *place, *(() if withdrawn else moved), *posted)
    wrong_time = board.start if withdrawn else on("11-18 10:00")
    return Job(
        slug,
        actor,
        (HR, CALENDAR, DRIVE, TEAMS, EMAIL),
        prompt,
        (
            "Read his requests for leave: one is open for these days. Make the document, write the mail, and wait.",
            "On the next day read the request again; move the call only if it stands, and post when it is.",
        ),
        first,
        f"Call with Catskill Dairies: {in_words}, as the request is {'cancelled' if withdrawn else 'still open'}.",
        (on_date(time), at_time(time)),
        ("create_event", "update_hr_case", "delete_event"),
        {"cancels the call": in_calendar(cancel(visit)), "takes him off": in_calendar(patch(visit, summary="Call"))},
        {
            "decides the other way": (
                (
                    *(made.model_copy(update={"day": 1}) for made in first),
                    *(made.model_copy(update={"day": 2}) for made in (*looks, *place)),
                    *(
                        made.model_copy(update={"day": 2})
                        for made in (
                            *(moved if withdrawn else ()),
                            *in_teams(post(channel, f"It is on {wrong_time.day} November at {wrong_time:%H:%M}.")),
                        )
                    ),
                ),
                f"It is on {wrong_time.day} November at {wrong_time:%H:%M}.",
            ),
        },
        in_posts={"Catskill": (on_date(time), at_time(time))},
        happenings=(event_on(HR.gym, changes.happens_at(OVERNIGHT)),) if withdrawn else (),
        changes={HR.gym: changes} if withdrawn else {},
        day_two=(message, second),
        first_answer="His request is open, for unpaid leave from 17 to 19 November. The document is there.",
        first_says=span(r"\b17", r"\b19"),
        evidence=(case,),
    )
