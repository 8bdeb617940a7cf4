"""What a mail asks for and files, channels, calendars and the desks decide: outages, customers, contracts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from opsgym_api.tasks.answer_patterns import at_time, number, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.calendar.calls import LIST, create
from opsgym_suites.calendar.calls import on as on_wall
from opsgym_suites.csm import calls as service
from opsgym_suites.drive.calls import (
    comments_on,
    deny,
    labels_of,
    named,
    permissions_of,
    read_text,
    requests_for,
    set_labels,
    share,
    unshare,
)
from opsgym_suites.email.calls import answer, forward, read, read_thread, search
from opsgym_suites.hybrid.core.jobs import (
    Calls,
    Job,
    in_calendar,
    in_csm,
    in_drive,
    in_hr,
    in_itsm,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, CSM, DRIVE, EMAIL, HR, ITSM, TEAMS
from opsgym_suites.hybrid.systems import LONDON, SYDNEY, Systems, in_utc
from opsgym_suites.itsm.calls import find_incident, update_incident
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import channels_of, chats, find_team, lines_of, post, posts_of

BACK = date(2026, 11, 23)
"""The first working day after the week of the seed."""


def correspondence(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about mail that other systems answer."""
    systems = Systems(worlds)
    for scene in (_outages, _ashdown, _hudson, _visits, _mistaken):
        for job in scene(systems):
            yield written(systems, job)


def _channel(systems: Systems, place: str) -> Calls:
    """Reads a channel, named as `Team:Channel`, with its replies."""
    room = systems.teams.room(place)
    team = systems.teams.team(place.partition(":")[0])
    return in_teams(find_team(team), channels_of(team), posts_of(room, replies=True))


# --- outages ---------------------------------------------------------------------------------------------------------


def _outages(systems: Systems) -> Iterator[Job]:
    """What the board may know; when the one who swaps a card is back."""
    mail = systems.mail
    incident = systems.desk.incident("gateway")
    sunniva = mail.mailbox("Sunniva Hale")
    question = mail.message("gateway-board", "Sunniva Hale")
    read_all = (
        *in_mail(search(sunniva, "from:honora.quill"), read(question, mail)),
        *_channel(systems, "Major Incidents:Gateway 16 November"),
        *in_itsm(find_incident(incident)),
    )
    text = "The certificate of our gateway ended at 06:40; two customers have come to us so far. It is over by 11:00."
    noted = in_itsm(update_incident(incident, worknotes="Board informed."))
    replied = in_mail(answer(mail, sunniva, question, text))
    yield Job(
        "two-sentences-for-the-board",
        "Sunniva Hale",
        (ITSM, EMAIL, TEAMS),
        "Honora has written to me about this morning. Answer her in two sentences from what the channel Gateway "
        "16 November says: what ended, how many customers have come to us so far, and by when it is over. "
        f"No names in it, please. After that, {incident.number} gets the work note 'Board informed.'. What "
        "did you write?",
        (
            "Read her mail, the channel with its replies, and the incident.",
            "Answer her alone in the thread (EMAIL-SND-1, EMAIL-SND-2) without names, and add the note.",
        ),
        (*read_all, *replied, *noted),
        f"I answered Honora Quill: {text} {incident.number} has the note.",
        (r"\bcertificate\b", r"\b11([:.]00)?\b|\beleven\b"),
        ("send_channel_message", "create_draft", "list_chats"),
        {"posts it too": in_teams(post(systems.teams.room("Major Incidents:Gateway 16 November"), "Board informed."))},
        {
            "names who forgot it": (
                (
                    *read_all,
                    *in_mail(
                        answer(
                            mail,
                            sunniva,
                            question,
                            "The certificate of two customers ended, Dorothea Blum forgot it, over by 11:00.",
                        )
                    ),
                    *noted,
                ),
                "The certificate ended, over by 11:00.",
            ),
            "answers without the figures": (
                (
                    *read_all,
                    *in_mail(answer(mail, sunniva, question, "The certificate of the gateway ended; soon over.")),
                    *noted,
                ),
                "The certificate ended, over by 11:00.",
            ),
        },
        evidence=(question,),
        in_mails={
            "certificate": (
                r"\bcertificate\b",
                number(2),
                r"\b11([:.]00)?\b|\beleven\b",
                r"^(?!.*(dorothea|blum|ruben|castellan|nadia|okafor))",
            )
        },
    )
    nadia, kirra = mail.mailbox("Nadia Okafor"), "Kirra Dawe"
    thread = mail.message("quay-switch", "Nadia Okafor")
    plan = systems.files.document("quay-plan")
    room = systems.teams.room("Major Incidents:Quay switch")
    own = systems.own("Nadia Okafor")
    leave = systems.hr.case("extended-dawe")
    looked = (
        *in_hr(call("list_hr_cases", opened_for=kirra)),
        *in_mail(search(nadia, "subject:quay"), read_thread(thread, mail)),
        *in_drive(named("Plan of the swap"), read_text(plan), comments_on(plan)),
        *_channel(systems, "Major Incidents:Quay switch"),
    )

    def swap(day: str) -> tuple[ToolCall, ...]:
        start = on_wall(f"{day} 07:00")
        return in_calendar(create(own, "Swap of the line card", start, 60, SYDNEY, attendees=systems.guests([kirra])))

    def news(day: str) -> tuple[ToolCall, ...]:
        return (
            *in_mail(answer(mail, nadia, thread, f"Kirra swaps the line card on {day}, 07:00 in Sydney.")),
            *in_teams(post(room, f"Kirra swaps the line card of the quay on {day}, 07:00 in Sydney.")),
        )

    yield Job(
        "line-card-after-the-leave",
        "Nadia Okafor",
        (HR, EMAIL, DRIVE, CALENDAR, TEAMS),
        "Kirra can't swap the line card tomorrow, she is on leave, and everybody names another day. HR knows how "
        "long, also if it was extended. The swap is at 7:00 in Sydney on the first working day after that: an "
        "hour, 'Swap of the line card', in my own calendar, with Kirra as the guest. Write the day to Juno in the "
        "thread "
        "of her mail and post it in the channel Quay switch. Which day is it?",
        (
            "Read Kirra's cases in HR: the leave was extended; mail, plan and channel have other days.",
            "Enter the event for the Monday after it, answer Juno alone, and post the day.",
        ),
        (*looked, *swap("11-23"), *news("23 November")),
        "The swap is on Monday 23 November at 07:00 in Sydney; Juno Castle has a mail, and the channel Quay "
        "switch a post.",
        (on_date(BACK),),
        ("create_comments", "patch_event", "update_hr_case"),
        {
            "comments on the plan": in_drive(call("create_comments", fileId=plan.id, content="23 November.")),
            "enters tomorrow too": swap("11-17"),
        },
        {
            "believes the calendar": ((*looked, *swap("11-19"), *news("19 November")), "19 November, not 23 November."),
            "says nothing": ((*looked, *swap("11-23")), "It is on 23 November."),
        },
        evidence=(leave,),
        in_mails={"line card": (on_date(BACK),)},
        in_posts={"line card": (on_date(BACK),)},
    )


# --- Ashdown ---------------------------------------------------------------------------------------------------------


def _ashdown(systems: Systems) -> Iterator[Job]:
    """A discount that no one may confirm yet, and mails that must not go."""
    mail, files = systems.mail, systems.files
    fabian = mail.mailbox("Fabian Trask")
    wish = mail.message("ashdown-renewal", "Fabian Trask")
    discounts = files.document("discounts")
    week = systems.teams.chat("Croft's week")
    start = systems.first_free(("Fabian Trask", "Venetia Croft"), on_wall("11-23 09:00"), 30, on_wall("11-23 17:00"))
    own = systems.own("Fabian Trask")
    looked = (
        *in_mail(search(fabian, "subject:Ashdown"), read_thread(wish, mail)),
        *in_drive(named("Discounts agreed"), read_text(discounts)),
        *in_teams(chats(), lines_of(week)),
        *in_calendar(LIST, systems.busy(("Fabian Trask", "Venetia Croft"), BACK)),
    )
    talk = in_calendar(
        create(own, "Discount of Ashdown", start, 30, LONDON, attendees=systems.guests(["Venetia Croft"]))
    )
    put_off = in_mail(answer(mail, fabian, wish, "Venetia Croft decides on it; you hear from us on 23 November."))
    yield Job(
        "ten-percent-has-to-wait",
        "Fabian Trask",
        (EMAIL, DRIVE, CALENDAR, TEAMS),
        "Ashdown wants us to confirm what Lorne offered. His sheet Discounts agreed may have it, but see in the "
        "chat Croft's week whether it can be confirmed now, and by whom. If it can't, write to their contact in "
        "the thread that they hear from us on the first working day on which that person is back, naming the day, "
        "and put 'Discount of Ashdown' into my own calendar for that day with that person: 30 minutes, first full "
        "or half hour from 9:00 in London at which we're both free. When is our talk?",
        (
            "Read the thread, the sheet and the chat: Venetia Croft confirms it, and she is away until 20 November.",
            "Answer the contact with the day, and enter the talk at the first time that is free.",
        ),
        (*looked, *put_off, *talk),
        f"Nothing is confirmed: Venetia Croft decides when she is back. The talk is on 23 November at {start:%H:%M}.",
        (on_date(BACK), at_time(start)),
        ("send_chat_message", "update_files", "query_freebusy"),
        {
            "enters a second talk": in_calendar(
                create(
                    own,
                    "Discount of Ashdown",
                    start + timedelta(hours=1),
                    30,
                    LONDON,
                    attendees=systems.guests(["Venetia Croft"]),
                )
            )
        },
        {
            "confirms it": (
                (*looked, *in_mail(answer(mail, fabian, wish, "We confirm ten percent."))),
                f"Confirmed; 23 November, {start:%H:%M}.",
            ),
            "enters no talk": ((*looked, *put_off), f"On 23 November at {start:%H:%M}."),
        },
        evidence=(wish,),
        in_mails={"you hear": (on_date(BACK),)},
    )
    tidy, hold = mail.message("tidy-ashdown", "Fabian Trask"), mail.message("legal-ashdown", "Fabian Trask")
    claim = files.document("ashdown-claim")
    room = systems.teams.room("Customer Desk:Ashdown claim")
    seen = (
        *in_mail(search(fabian, "subject:Ashdown"), read(tidy, mail), read_thread(hold, mail)),
        *in_drive(named("Claim of the lock"), labels_of(claim)),
        *_channel(systems, "Customer Desk:Ashdown claim"),
    )
    posted = in_teams(
        post(room, "Cyril Nott asked to remove mails about Ashdown of 2025; I have asked him to keep them.")
    )
    yield Job(
        "mails-under-a-hold",
        "Fabian Trask",
        (EMAIL, DRIVE, TEAMS),
        "cyril nott wants to know something about old ashdown mails. answer him as duncan's mail of october has "
        "it, yes or no, in a line or two. he's not in our channel Ashdown claim so nothing from in there goes to "
        "him, no dates, no damages. in that channel post that he asked and what he got as an answer. is the file "
        "Claim of the lock under a hold?",
        (
            "Read Cyril's mail, Duncan's, the labels of the file and the private channel.",
            "Answer no without what the channel says (TEAMS-ID-3), and post it with his name (TEAMS-MSG-1).",
        ),
        (
            *seen,
            *in_mail(answer(mail, fabian, tidy, "No, please keep them all: nothing about Ashdown is deleted.")),
            *posted,
        ),
        "Yes, Claim of the lock is under legal hold. I answered Cyril Nott that he keeps the mails, and posted it.",
        (r"\bhold\b", term("Nott")),
        ("trash_message", "modify_files_labels", "update_files"),
        {"trashes one": in_mail(call("trash_message", userId=fabian.primary_email, id=hold.id))},
        {
            "says what the lawyers do": (
                (
                    *seen,
                    *in_mail(
                        answer(
                            mail, fabian, tidy, "No, keep them: our lawyers answer by 4 December, it is about damages."
                        )
                    ),
                    *posted,
                ),
                "It has a hold; Nott has his answer.",
            ),
            "lets him": (
                (*seen, *in_mail(answer(mail, fabian, tidy, "Yes, go on.")), *posted),
                "It has a hold; Nott may.",
            ),
        },
        evidence=(hold, claim),
        in_mails={"": (r"\b(no|not|keep)\b", r"^(?!.*(december|damages))")},
        in_posts={"Ashdown": (term("Nott"),)},
    )


# --- Hudson ----------------------------------------------------------------------------------------------------------


def _hudson(systems: Systems) -> Iterator[Job]:
    """A sheet that Drive would let out, and a visit on a day of jury duty."""
    mail, files = systems.mail, systems.files
    horatio = mail.mailbox("Horatio Beale")
    wish, quote = mail.message("hudson-wants-sheet", "Horatio Beale"), mail.message("hudson-quote", "Horatio Beale")
    sheet = files.document("hudson-prices")
    (request,) = files.proposals(sheet)
    looked = (
        *in_mail(
            search(horatio, "subject:prices"),
            read(wish, mail),
            search(horatio, "subject:Hudson"),
            read_thread(quote, mail),
        ),
        *in_drive(named("Prices of six F40"), labels_of(sheet), permissions_of(sheet), requests_for(sheet)),
        *_channel(systems, "Hudson Project:Prices"),
    )
    guarded = in_drive(set_labels(files, sheet, sensitivity="confidential"), deny(request))
    waits = in_mail(answer(mail, horatio, wish, "You get our offer as soon as the board has agreed to it."))
    address = mail.header(wish, "From").rpartition("<")[2].rstrip(">")
    yield Job(
        "sheet-before-the-board",
        "Horatio Beale",
        (EMAIL, DRIVE, TEAMS),
        "Hudson's contact asks for the sheet with the prices, by mail and on Drive. See what Marguerite and I "
        "wrote in mail about it. If it must not leave the company yet, give the sheet the label that fits, decide "
        "the request, and write to the contact in that thread what they're waiting for, without a figure. And is "
        "there still a place in our Teams where they can read the price?",
        (
            "Read both threads, the sheet with labels, roles and requests, and the channel.",
            "Label the sheet confidential, deny the request (DRIVE-REQ-2), and answer without figures (EMAIL-SND-5).",
        ),
        (*looked, *guarded, *waits),
        "The sheet is labelled confidential and the request denied; the contact waits for the board. In Teams "
        "they can still read the price: they are a member of the private channel Prices of Hudson Project.",
        (r"\bprices\b", r"\bconfidential\b"),
        ("create_permission", "update_permission", "soft_delete_channel_message"),
        {"lets them comment": in_drive(share(files, sheet, address, "commenter"))},
        {
            "names the price": (
                (*looked, *guarded, *in_mail(answer(mail, horatio, wish, "7,100 each, once the board agrees."))),
                "It is confidential; in Prices they read it.",
            ),
            "labels nothing": ((*looked, *guarded[1:], *waits), "It is confidential; in Prices they read it."),
        },
        evidence=(quote, sheet),
        in_mails={"": (r"\bboard\b", r"^(?!.*7[.,]?[19]\d\d)")},
    )
    odalys = mail.mailbox("Odalys Pinto")
    last = mail.message("hudson-start", "Odalys Pinto", 2)
    visit = files.document("hudson-visit")
    room = systems.teams.room("Customer Desk:Hudson Reservoirs")
    case = systems.hr.case("unpaid-rusk")
    read_all = (
        *in_hr(call("list_hr_cases", opened_for="Gideon Rusk"), call("list_hr_cases", opened_for="Keziah Monroe")),
        *in_calendar(LIST),
        *in_mail(search(odalys, "subject:pumps"), read_thread(last, mail)),
        *in_drive(named("Visit on 19 November"), read_text(visit)),
        *_channel(systems, "Customer Desk:Hudson Reservoirs"),
    )

    def replaced(name: str) -> tuple[ToolCall, ...]:
        return (
            *in_mail(answer(mail, odalys, last, f"On Thursday {name} comes with Winona Tabor, not I.")),
            *in_drive(call("create_comments", fileId=visit.id, content=f"{name} goes instead of Odalys.")),
            *in_teams(post(room, f"On 19 November {name} visits Hudson with Winona Tabor instead of me, Odalys.")),
        )

    yield Job(
        "visit-on-the-day-of-the-jury",
        "Odalys Pinto",
        (HR, EMAIL, CALENDAR, DRIVE, TEAMS),
        "OK, Tobiah is right, Thursday is my jury duty. Either Gideon Rusk or Keziah Monroe goes to Hudson with "
        "Winona instead, the one who isn't away on the 19th - look at leave in HR, not only at calendars. Tell "
        "the contact in our thread who comes, comment 'NAME goes instead of Odalys.' on the document about the "
        "visit (whole name), and post it in the Hudson channel of Customer Desk. Who goes?",
        (
            "Read the leave cases of both in HR, the calendars, the thread, the document and the channel.",
            "Gideon is on unpaid leave: write to the contact, comment and post with Keziah's name.",
        ),
        (*read_all, *replaced("Keziah Monroe")),
        "Keziah Monroe goes with Winona Tabor: Gideon Rusk is on unpaid leave.",
        (term("Monroe"),),
        ("create_event", "update_files", "update_hr_case"),
        {"comments twice": in_drive(call("create_comments", fileId=visit.id, content="Tobiah was right."))},
        {
            "sends the absent one": ((*read_all, *replaced("Gideon Rusk")), "Gideon Rusk, not Keziah Monroe."),
            "forgets the customer": ((*read_all, *replaced("Keziah Monroe")[1:]), "Keziah Monroe goes."),
        },
        evidence=(case,),
        in_mails={"Thursday": (r"\bkeziah\b",)},
        in_posts={"19 November": (r"\bkeziah\b",)},
    )


# --- visits ----------------------------------------------------------------------------------------------------------


def _visits(systems: Systems) -> Iterator[Job]:
    mail = systems.mail
    keziah = mail.mailbox("Keziah Monroe")
    last = mail.message("kelder-visit", "Keziah Monroe", 2)
    room = systems.teams.room("Customer Desk:Kelder Water")
    own = systems.own("Keziah Monroe")
    start = on_wall("11-25 13:00")
    fit = next(
        name for name in ("Sluice",) if systems.calendar_is_free(systems.room("room.sluice"), in_utc(start, LONDON), 45)
    )
    looked = (
        *in_mail(search(keziah, "subject:Kelder"), read_thread(last, mail)),
        *in_calendar(LIST, systems.busy(("room.weir", "room.sluice", "Kester Dunne"), start.date())),
        *_channel(systems, "Customer Desk:Kelder Water"),
    )

    def booked(name: str) -> tuple[ToolCall, ...]:
        guests = systems.guests(["Kester Dunne", f"room.{name.lower()}"])
        return in_calendar(create(own, "Kelder Water in the house", start, 45, LONDON, attendees=guests))

    news = (
        *in_mail(answer(mail, keziah, last, f"We meet at 13:00 in Room {fit}, Tanner Row.")),
        *in_teams(post(room, f"On 25 November at 13:00 Kester Dunne and I, Keziah, meet Kelder Water in Room {fit}.")),
    )
    yield Job(
        "room-for-the-guests-of-kelder",
        "Keziah Monroe",
        (EMAIL, CALENDAR, TEAMS),
        "Book the room for Kelder's visit that Tobiah offered in the thread, please. Day, hour and house are as "
        "Ottoline Brand wrote last, the size as he wrote: 'Kelder Water in the house', 45 minutes, in my "
        "calendar, with the room and the colleague from sales whom the thread names. Then tell Ottoline, only her, "
        "which room it is, and post day, hour and room in the Kelder channel of Customer Desk. Which room?",
        (
            "Read the thread: four of them, 25 November, 13:00 in London, a room for twelve.",
            "Book Sluice, the room of that size, with Kester Dunne; answer Ottoline alone and post it.",
        ),
        (*looked, *booked(fit), *news),
        f"Room {fit}, on 25 November at 13:00.",
        (term(fit),),
        ("query_freebusy", "patch_event", "send_chat_message"),
        {"books the small one too": booked("Weir")},
        {
            "takes the small one": ((*looked, *booked("Weir"), *news), f"Weir, not {fit}."),
            "writes to no one": ((*looked, *booked(fit)), f"Room {fit}."),
        },
        evidence=(last,),
        in_mails={"We meet": (term(fit),)},
        in_posts={"Kelder": (term(fit), on_date(start.date()))},
    )


# --- what went to the wrong place ------------------------------------------------------------------------------------


def _mistaken(systems: Systems) -> Iterator[Job]:
    """A mail for a namesake, and an article that one system keeps inside and another one shows to everybody."""
    mail, files = systems.mail, systems.files
    desk = systems.customers
    case = desk.world.case("warragul-hot")
    bram = mail.mailbox("Bram Hallowell")
    got = mail.message("warragul-twin", "Bram Hallowell")
    overhaul = files.document("warragul")
    assignee = systems.at_customers("Bram Halloway")
    looked = (
        *in_csm(service.find_case(case), call("list_users", user_id=assignee.user_id)),
        *in_mail(search(bram, "subject:invoice"), read(got, mail)),
        *in_drive(named("Overhaul 2026"), read_text(overhaul), permissions_of(overhaul)),
    )
    right, wrong = (mail.mailbox(name).primary_email for name in ("Bram Halloway", "Marnie Stroud"))

    def passed(to: str) -> tuple[ToolCall, ...]:
        return in_mail(forward(mail, bram, got, [to], "This is for you."))

    commented = in_drive(call("create_comments", fileId=overhaul.id, content="Customer: one day."))
    yield Job(
        "mail-for-the-other-bram",
        "Bram Hallowell",
        (CSM, EMAIL, DRIVE),
        f"I got a mail about an invoice of Warragul that is not for me. The assignee of {case.number} is meant: "
        "pass it on to that person, to the address in the mail system. What the customer says contradicts our "
        "document Overhaul 2026; comment there 'Customer: one day.' if that is what they say and we charge more. "
        "Who had to get it?",
        (
            "Read the case and its assignee, the mail, and the document.",
            "Forward the mail with Fwd (EMAIL-SND-1) to the namesake, and comment on the document.",
        ),
        (*looked, *passed(right), *commented),
        "The mail was for Bram Halloway, who has the case; it is forwarded, and the document has the comment.",
        (term("Halloway"),),
        ("update_case", "create_permission", "assign_case_to_user"),
        {"answers the customer too": in_mail(answer(mail, bram, got, "It was forwarded."))},
        {
            "sends it to the technician": ((*looked, *passed(wrong), *commented), "Marnie, not Bram Halloway."),
            "only comments": ((*looked, *commented), "Bram Halloway had to get it."),
        },
        evidence=(case,),
    )
    jocasta = mail.mailbox("Jocasta Finn")
    article = files.document("charts-article")
    note = mail.message("knowledge-charts", "Jocasta Finn")
    room = systems.teams.room("PumpWatch:Charts")
    anyone = files.permission(article, "anyone")
    read_all = (
        *in_mail(search(jocasta, "subject:article"), read_thread(note, mail)),
        *_channel(systems, "PumpWatch:Charts"),
        *in_drive(named("Charts missing"), labels_of(article), permissions_of(article)),
    )
    closed = in_drive(unshare(article, anyone))
    posted = in_teams(
        post(room, "Caspian, customers had the article from an open link on Drive; I, Jocasta, closed it.")
    )
    yield Job(
        "article-with-an-open-link",
        "Jocasta Finn",
        (EMAIL, DRIVE, TEAMS),
        "Caspian asks in our channel Charts where customers have an article of ours from. My mail has a thread in "
        "which the customer desk says whether that article is for customers; make Drive agree with what they "
        "decided, with nothing else on the file changed. Then post an answer for Caspian in Charts that says "
        "where it came from and what was done. What was open?",
        (
            "Read the thread, the channel, and labels and permissions of the article.",
            "The article is internal: remove the link for everybody, and post it with names (TEAMS-MSG-1).",
        ),
        (*read_all, *closed, *posted),
        "The article Charts missing in PumpWatch could be read by everybody with the link; the link is closed.",
        (r"\blink\b",),
        ("modify_files_labels", "update_permission", "update_files"),
        {"changes the label": in_drive(set_labels(files, article, sensitivity="confidential"))},
        {
            "only posts": ((*read_all, *posted), "The link was open."),
            "does not answer him": ((*read_all, *closed), "The link was open."),
        },
        evidence=(note,),
        in_posts={"Caspian": (r"\bcaspian\b", r"\b(link|drive)\b")},
    )
