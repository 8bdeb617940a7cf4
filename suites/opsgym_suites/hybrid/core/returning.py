"""People who are away for a while: what they leave to colleagues, and what ends when the absence is off or over.

Invariant: the absence that counts is the one in HR or in the calendar that the request names, as it is when it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import on_date, term
from opsgym_domains.calendar.tables import Event
from opsgym_domains.email.tables import VacationSettings
from opsgym_suites.calendar.calls import LIST, ends, events_of, find_person, moment, on, patch, rules_of
from opsgym_suites.calendar.calls import share as share_calendar
from opsgym_suites.drive.calls import hand_over, inside, named, permissions_of, set_role
from opsgym_suites.email.calls import (
    create_filter,
    delegate,
    end_delegate,
    read_thread,
    search,
    send,
    switched_off,
    vacation,
    with_mailbox,
)
from opsgym_suites.hr.calls import find_case, find_user
from opsgym_suites.hybrid.core.jobs import Calls, Job, in_calendar, in_drive, in_hr, in_itsm, in_mail, in_teams, written
from opsgym_suites.hybrid.core.people import granted, people_of
from opsgym_suites.hybrid.servers import CALENDAR, DRIVE, EMAIL, HR, ITSM, TEAMS
from opsgym_suites.hybrid.systems import MORNING, NOW, OVERNIGHT, Systems
from opsgym_suites.itsm.calls import find_incident, notify, update_incident
from opsgym_suites.itsm.calls import find_user as find_at_desk
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import count
from opsgym_suites.kit.world import at
from opsgym_suites.teams.calls import (
    at_webinar,
    channels_of,
    chats,
    find_team,
    lines_of,
    plan_event,
    post,
    posts_of,
    say,
    set_status,
    webinars,
)


def returning(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about people who go on leave or come back."""
    systems = Systems(worlds)
    for scene in (_parent, _unpaid_week, _conference, _training, _extension):
        for job in scene(systems):
            yield written(systems, job)


# --- parental leave --------------------------------------------------------------------------------------------------


def _parent(systems: Systems) -> Iterator[Job]:
    """Who gets the quotes was agreed by mail; until when is in the actor's calendar."""
    name, heir = "Giselle Amato", "Ingram Tully"
    mail, files = systems.mail, systems.files
    giselle, own = mail.mailbox(name), systems.own(name)
    mailed = mail.message("parental-amato", name, 1)
    folder = files.file("@giselle.amato:Quotes")
    quotes = [files.document(key) for key in ("seals", "open-quotes")]
    ingram = systems.in_calendars(heir)
    looked = (
        *in_mail(search(giselle, "from:marguerite.sloane leave"), read_thread(mailed, mail)),
        *in_mail(with_mailbox("get_vacation_settings", giselle), with_mailbox("email_list_delegates", giselle)),
        *in_drive(named("Quotes"), inside(folder), *map(permissions_of, quotes)),
        *in_calendar(LIST, events_of(own, on("11-16").date()), rules_of(own), find_person(ingram)),
    )
    handed = in_drive(
        *(
            made
            for file in quotes
            for made in (
                hand_over(files, file, files.account(heir).email),
                set_role(file, granted(systems, file, name), "reader"),
            )
        )
    )
    text = "I am on leave. Quotes: Ingram Tully. Everything else: Kester Dunne."

    def away(end: str, *, inside_only: bool = False) -> Calls:
        return in_mail(vacation(giselle, text, at("11-16 12:00"), at(end), subject="Away", inside=inside_only))

    shared = in_calendar(share_calendar(own, ingram, "reader"))
    shown = in_teams(set_status(systems.teams.account(name), "On parental leave"))
    end = "Ingram Tully owns both quotes and reads your calendar. The last day of your leave is 18 December."
    yield Job(
        "quotes-during-the-leave",
        name,
        (EMAIL, DRIVE, CALENDAR, TEAMS),
        "I went on leave in a hurry. When I left, Marguerite wrote who is to have my quotes from then on: both "
        "documents in my folder Quotes on Drive become that person's, and I only read them. My automatic reply ran out "
        "on Friday. It must run again from today, 16 November 2026, 12:00 UTC, to the end of the last day of my leave "
        "as it is in my calendar (midnight, UTC), for customers as well; it names the one with the quotes for quotes, "
        "and my delegate for everything else. The one with the quotes may see what is in my calendar in detail, and no "
        "more than see. My status in Teams: 'On parental leave'. Who has the quotes, and what is my last day of leave?",
        (
            "Read the thread, the reply, the delegates, the folder and the calendar.",
            "Transfer both documents and lower one's own role (DRIVE-SHR-1, DRIVE-OWN-2).",
            "Turn the reply on with both names (EMAIL-SET-4), share the calendar for reading, set the status.",
        ),
        (*looked, *handed, *away("12-19 00:00"), *shared, *shown),
        end,
        (term("Tully"), on_date(datetime(2026, 12, 18))),  # noqa: DTZ001
        ("update_files", "delete_permission", "update_auto_forwarding", "patch_acl_rule"),
        {
            "shares it with the delegate too": in_calendar(
                share_calendar(own, systems.in_calendars("Kester Dunne"), "reader")
            ),
        },
        {
            "stays a writer": ((*looked, *handed[::2], *away("12-19 00:00"), *shared, *shown), end),
            "answers the company only": (
                (*looked, *handed, *away("12-19 00:00", inside_only=True), *shared, *shown), end
            ),
        },
        evidence=(mailed,),
        in_mails={"Quotes": (r"\bingram\b", r"\bkester\b")},
        access=Access.STRICT,
    )  # fmt: skip


# --- an unpaid week, which HR may call off ---------------------------------------------------------------------------


def _unpaid_week(systems: Systems) -> Iterator[Job]:
    """What was prepared on the first day is undone on the second if HR has called the leave off, and only then."""
    yield _unpaid(systems, slug="unpaid-days-are-called-off", off=True)
    yield _unpaid(systems, slug="unpaid-days-begin", off=False)


_FIRST_DAY = {
    True: "My unpaid days off: {case} in HR says when. As long as HR has not cancelled it, prepare it. Automatic "
    "reply, to the company only, from 17 November 2026, 00:00 UTC, to midnight UTC at the end of the last day that HR "
    "has; it names Keziah Monroe, who gets a mail from me, 'My week', that I am away and people will ask her. She does "
    "not get into my mailbox yet. My last day off?",
    False: "pls prepare my days off w/o pay, {case} in HR has the dates (if it isn't cancelled, else nothing): auto "
    "reply for the company only, starts 17 November 2026, 00:00 UTC, ends midnight UTC after the last of the days, "
    "naming Keziah Monroe. and send her a mail 'My week' so she knows I'm away and people ask her. access to my "
    "mailbox: not yet. what's the last day?",
}
_SECOND_DAY = {
    True: "Morning. They were short of people last night, so please look into HR again. If it is cancelled now, switch "
    "the reply off, send Keziah a mail 'I am here', and my status in Teams is 'Here all week'. If it stands, Keziah "
    "becomes a delegate of my mailbox, and the status is 'Off until Friday'. Which one was it?",
    False: "me again, from the train. someone said HR stopped all unpaid leave this week?? look at it again. stopped "
    "for me -> reply off, mail 'I am here' to keziah, status in teams 'Here all week'. not stopped -> the reply stays, "
    "keziah becomes delegate of my mailbox, status 'Off until Friday'. so?",
}


def _unpaid(systems: Systems, *, slug: str, off: bool) -> Job:
    name, stand_in = "Gideon Rusk", "Keziah Monroe"
    mail, case = systems.mail, systems.hr.case("unpaid-rusk")
    gideon, keziah = mail.mailbox(name), mail.mailbox(stand_in)
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.hr, MORNING - NOW)
    if off:
        changes.change(case, status="cancelled", worknotes="Called off: too few people in that week.")
    text = "I am away until 19 November. Please ask Keziah Monroe."

    def replying(last: str) -> Calls:
        return in_mail(vacation(gideon, text, at("11-17 00:00"), at(last)))

    looked = (
        *in_hr(find_case(case)),
        *in_mail(with_mailbox("get_vacation_settings", gideon), with_mailbox("email_list_delegates", gideon)),
    )
    opened = in_mail(send(mail, gideon, [keziah.primary_email], "My week", "I am away until 19 November."))
    me = systems.teams.account(name)
    ended = (
        *map(switched_off, replying("11-20 00:00")),
        *in_mail(
            send(mail, gideon, [keziah.primary_email], "I am here", "My days off are called off."),
        ),
        *in_teams(set_status(me, "Here all week")),
    )
    shown = (*in_mail(delegate(gideon, keziah.primary_email)), *in_teams(set_status(me, "Off until Friday")))
    again = in_hr(find_case(case))
    first = (*looked, *replying("11-20 00:00"), *opened)
    second, other = (ended, shown) if off else (shown, ended)
    end = f"{case.number} {'is cancelled: the reply is off' if off else 'stands, and Keziah is your delegate'}."
    state = r"\b(cancell?ed|called off|off)\b" if off else r"\b(stands|work in progress|not|delegate)\b"
    return Job(
        slug,
        name,
        (EMAIL, HR, TEAMS),
        _FIRST_DAY[off].format(case=case.number),
        (
            "Read the case; it is in work: set the reply until its last day, and write to her.",
            "On the next day read the case again.",
            "Switch the reply off only if the case is cancelled; else add the delegate (EMAIL-SET-2).",
        ),
        first,
        end,
        (case.number, state),
        ("update_auto_forwarding", "list_hr_cases", "update_hr_case"),
        {"does the other thing too": other},
        {
            "does not look again": (
                (
                    *(made.model_copy(update={"day": 1}) for made in first),
                    *(made.model_copy(update={"day": 2}) for made in other),
                ),
                f"{case.number}: done as you said.",
            ),
            "writes to no one on the first day": (
                (
                    *(made.model_copy(update={"day": 1}) for made in (*looked, *replying("11-20 00:00"))),
                    *(made.model_copy(update={"day": 2}) for made in (*again, *second)),
                ),
                end,
            ),
        },
        changes={HR.gym: changes} if off else {},
        happenings=(event_on(HR.gym, changes.happens_at(OVERNIGHT)),) if off else (),
        day_two=(_SECOND_DAY[off], (*again, *second)),
        first_answer="Your last day off is 19 November; Keziah Monroe knows.",
        first_says=(on_date(datetime(2026, 11, 19)),),  # noqa: DTZ001
        evidence=(case,),
        in_mails={"Please ask Keziah": (r"\b(keziah|monroe)\b",)},
        access=Access.STRICT,
    )


# --- a conference ----------------------------------------------------------------------------------------------------


def _conference(systems: Systems) -> Iterator[Job]:
    """A webinar falls into the speaker's absence, and the automatic reply names a person who has left."""
    name, helper = "Anselm Pryor", "Jocasta Finn"
    mail, teams = systems.mail, systems.teams
    anselm, webinar = mail.mailbox(name), teams.webinar("New charts in PumpWatch")
    chat, team = teams.chat_of(teams.account(name), teams.account(helper)), teams.team("PumpWatch")
    thread = mail.message("release", name, 2)
    start = next(
        time for days in range(4) if systems.is_free(name, time := at("12-01 10:00") + timedelta(days=days), 45)
    )
    looked = (
        *in_calendar(LIST, events_of(systems.own(name), on("11-24").date())),
        *in_teams(webinars(), at_webinar("get_virtual_event_webinar", webinar)),
        *in_mail(search(anselm, "subject:release"), read_thread(thread, mail)),
        *in_teams(chats(), lines_of(chat), *people_of(team)),
        *in_mail(with_mailbox("get_vacation_settings", anselm)),
        *in_hr(find_user(systems.in_hr("Dorothea Blum"))),
    )
    free = in_calendar(*(events_of(systems.own(name), on(f"12-0{day}").date()) for day in range(1, start.day + 1)))

    def planned(time: datetime, helpers: Sequence[str] = (helper,)) -> Calls:
        end = time + timedelta(minutes=45)
        people = [teams.account(one) for one in helpers]
        return in_teams(
            plan_event(
                "webinar", str(webinar.display_name), "For customers", time.isoformat(), end.isoformat(), people,
                audience="everyone",
            )
        )  # fmt: skip

    cancelled = in_teams(at_webinar("cancel_virtual_event_webinar", webinar))
    mailed = in_teams(say(chat, f"The webinar is on {start.day} December now, and you help me with it."))
    reply = in_mail(
        vacation(
            anselm, "I am at a conference. Please ask Jocasta Finn.", at("11-24 00:00"), at("11-27 00:00"),
            subject="Away",
        )
    )  # fmt: skip
    end = f"The webinar is cancelled and planned again for {start.day} December. The reply names Jocasta Finn."
    yield Job(
        "webinar-during-the-conference",
        name,
        (EMAIL, HR, TEAMS, CALENDAR),
        "By my calendar I am away when my webinar New charts in PumpWatch is to take place. If Jocasta Finn has "
        "written, by mail or in our chat, that Fenella has agreed to speak instead, leave the webinar. If she has not, "
        "cancel it and plan it anew with the same name, text and length, again for everyone, as a draft, Jocasta "
        "as co-organizer: 10:00 UTC on the first day from 1 to 4 December 2026 on which I am free at that hour;"
        " and tell her the day in our chat. And look at my automatic reply for the conference: should the "
        "colleague whom it names have no active account in HR any more, it names Jocasta instead, all else as it is. "
        "What became of the webinar?",
        (
            "Read calendar, webinar, thread, chat and reply, and the colleague in HR.",
            "Cancel the webinar for good (TEAMS-EVT-3); find the first day that suits.",
            "Plan the new one as a draft (TEAMS-EVT-2), write in the chat, and set the reply again (EMAIL-SET-4).",
        ),
        (*looked, *free, *cancelled, *planned(start), *mailed, *reply),
        end,
        (r"\bcancell?ed\b", on_date(start)),
        ("publish_virtual_event_webinar", "update_auto_forwarding", "create_chat"),
        {
            "cancels another one": in_teams(
                at_webinar("cancel_virtual_event_webinar", teams.webinar("Handing over well"))
            ),
        },
        {
            "plans it for the same day": (
                (*looked, *free, *cancelled, *planned(at("11-24 10:00")), *mailed, *reply), end
            ),
            "forgets the helper": ((*looked, *free, *cancelled, *planned(start, ()), *mailed, *reply), end),
            "leaves the reply": ((*looked, *free, *cancelled, *planned(start), *mailed), end),
        },
        evidence=(systems.in_hr("Dorothea Blum"),),
        in_mails={"conference": (r"\b(jocasta|finn)\b", r"^(?!.*(blum|dorothea))")},
        in_posts={"webinar": (on_date(start),)},
    )  # fmt: skip


# --- a training ------------------------------------------------------------------------------------------------------


def _training(systems: Systems) -> Iterator[Job]:
    """The colleague who is to take over loses the account at the desk before anything is given to them."""
    name = "Piotr Zielin"
    mail, teams, incident = systems.mail, systems.teams, systems.desk.incident("order-prices")
    piotr, target = mail.mailbox(name), mail.mailbox("Ingram Tully").primary_email
    (old,) = mail.filters(name)
    ruben, caller = systems.at_desk("Ruben Castellan"), systems.at_desk("Giselle Amato")
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.desk.world).change(ruben, active=False)
    room = teams.room("Major Incidents:Order desk")
    looked = (
        *in_itsm(find_at_desk(systems.at_desk(name)), find_incident(incident), find_at_desk(caller)),
        *in_teams(find_team(teams.team("Major Incidents")), channels_of(teams.team("Major Incidents"))),
        *in_teams(posts_of(room, replies=True)),
        *in_mail(with_mailbox("list_filters", piotr)),
    )
    seen = in_itsm(find_at_desk(ruben))
    held = in_itsm(update_incident(incident, status="on_hold", on_hold_reason="Awaiting Caller"))
    replied = in_itsm(
        notify(
            incident, caller, "update", f"{incident.number} is on hold", "It waits for which list of seals is right."
        )
    )
    switched = in_mail(
        with_mailbox("create_forwarding_address", piotr, forwardingEmail=target),
        create_filter(piotr, {"forward": target}, subject="prices"),
        with_mailbox("delete_filter", piotr, id=old.id),
    )
    posted = in_teams(post(room, f"{incident.number} stays with Piotr Zielin and is on hold for its caller."))
    passed = in_itsm(update_incident(incident, assigned_to=ruben.user_id))
    end = f"{incident.number} stays yours, on hold for Giselle Amato: Ruben's account is not active. "
    end += "Mails on prices go to Ingram Tully now."
    yield Job(
        "before-piotrs-training",
        name,
        (EMAIL, ITSM, TEAMS),
        f"I'm at a training on 18 and 19 November 2026. {incident.number} should go to Ruben Castellan as its "
        "assignee, nothing else on it changed. But they are moving him these days: look at his account at the desk "
        "right before you hand over, and if it is not active at that moment, the incident stays mine and waits on hold "
        "for its caller, with everything that our rules want of that. My filter about prices forwards to Giselle "
        "Amato, who is on leave; Mirabel named someone else to ask in the channel Order desk of Major Incidents, that "
        "person gets these mails instead (still one filter, please). Then write in that channel who has the incident. "
        "Who is it?",
        (
            "Read the incident, the channel with the reply, and the filters.",
            "Read Ruben's account right before the handover: it is inactive by then.",
            "Put the incident on hold with a reason and notify the caller (ITSM-INC-6).",
            "Move the filter to the person who was named (EMAIL-SET-1), and post in the channel.",
        ),
        (*looked, *seen, *held, *replied, *switched, *posted),
        end,
        (incident.number, r"\bhold\b"),
        ("update_auto_forwarding", "list_forwarding_addresses", "find_group_by_name", "update_user_details"),
        {
            "forwards everything": in_mail(
                with_mailbox(
                    "update_auto_forwarding", piotr, enabled=True, emailAddress=target, disposition="leaveInInbox"
                )
            ),
        },
        {
            "tells no caller": ((*looked, *seen, *held, *switched, *posted), end),
            "keeps the old filter": ((*looked, *seen, *held, *replied, *switched[:2], *posted), end),
        },
        refused={"hands it over all the same": ((*looked, *passed), "ITSM-INC-5")},
        changes={ITSM.gym: changes},
        happenings=(event_on(ITSM.gym, changes.happens_after(FIRST_LOOK)),),
        evidence=(ruben,),
        in_posts={"stays": (incident.number, r"\b(piotr|zielin)\b")},
        access=Access.STRICT,
    )  # fmt: skip


# --- a leave that is extended ----------------------------------------------------------------------------------------


def _extension(systems: Systems) -> Iterator[Job]:
    """HR extends the leave once the automatic reply is on."""
    name = "Kirra Dawe"
    mail, case = systems.mail, systems.hr.case("extended-dawe")
    kirra, own = mail.mailbox(name), systems.own(name)
    hamish = mail.mailbox("Hamish Corrie").primary_email
    away = systems.calendars.one(Event, calendar_id=own.calendar_id, summary="Annual leave")
    changes: ScenarioEvent[Any] = ScenarioEvent(systems.hr).change(
        case, short_description="Annual leave extended to 27 November"
    )
    replies = f"SELECT ({count(VacationSettings, user_id=kirra.id, enable_auto_reply=True)}) = 1"
    looked = (
        *in_hr(find_case(case)),
        *in_mail(with_mailbox("get_vacation_settings", kirra)),
        *in_calendar(LIST, events_of(own, on("11-17").date())),
    )

    def reply(end: str) -> tuple[Any, ...]:
        return in_mail(vacation(kirra, "I am on leave. Please ask Nadia Okafor.", at("11-16 12:00"), at(end)))

    def entered(days: int) -> tuple[Any, ...]:
        return in_calendar(patch(away, end=moment(ends(away) + timedelta(days=days), str(away.end_timezone))))

    again = in_hr(find_case(case))
    thanked = in_mail(send(mail, kirra, [hamish], "Leave", "Thank you: my last day of leave is 27 November."))
    shown = in_teams(set_status(systems.teams.account(name), "On leave, please ask Nadia"))
    end = "Your last day of leave is 27 November; reply and calendar say so, and Hamish knows."
    yield Job(
        "reply-before-the-extension",
        name,
        (EMAIL, HR, CALENDAR, TEAMS),
        f"hello from the beach. {case.number} in HR is my leave. turn my automatic reply on from today, 16 November "
        "2026, 12:00 UTC, to the end of the last day that HR has there (midnight UTC), company only, naming Nadia "
        "Okafor. Hamish enters more days only once that reply is on, don't ask me why. so after that look again "
        "whether the last day is still the same, and set it right if not. my leave in my calendar has to end on the "
        "same day as in HR. then a mail to Hamish Corrie, subject 'Leave', with my last day, and in teams my status: "
        "'On leave, please ask Nadia'. what's the last day now?",
        (
            "Read the case, the reply and the calendar; turn the reply on.",
            "Read the case again: HR has extended the leave.",
            "Set the reply again, extend the entry in the calendar (CALENDAR-EVT-4), write to HR, set the status.",
        ),
        (*looked, *reply("11-21 00:00"), *again, *reply("11-28 00:00"), *entered(9), *thanked, *shown),
        end,
        (r"\b27\b",),
        ("update_auto_forwarding", "create_event", "delete_event", "email_create_delegate"),
        {"ends a delegate": in_mail(end_delegate(kirra, mail.mailbox("Yolanda Reyes").primary_email))},
        {
            "does not look again": (
                (
                    *looked, *reply("11-21 00:00"), *entered(2),
                    *in_mail(send(mail, kirra, [hamish], "Leave", "My last day of leave is 20 November.")), *shown,
                ), "It is 20 November, not 27.",
            ),
            "leaves the calendar": (
                (*looked, *reply("11-21 00:00"), *again, *reply("11-28 00:00"), *thanked, *shown), end
            ),
        },
        changes={HR.gym: changes},
        happenings=(event_on(HR.gym, changes.happens_when(replies), when=EMAIL.gym),),
        evidence=(case,),
        in_mails={"on leave": (r"\b(nadia|okafor)\b",), "last day": (r"\b27\b",)},
        access=Access.STRICT,
    )  # fmt: skip
