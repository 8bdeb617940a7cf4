"""What three and more systems have otherwise of one matter, found and put right where each of them allows it."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.calendar.calls import LIST, create, find_person, on
from opsgym_suites.drive.calls import (
    deny,
    find_drive,
    labels_of,
    named,
    permissions_of,
    read_text,
    requests_for,
    set_labels,
    unshare,
)
from opsgym_suites.email.calls import answer, read, read_thread, search, send
from opsgym_suites.hybrid.core.calendars import busy, first_hour
from opsgym_suites.hybrid.core.jobs import (
    Job,
    in_calendar,
    in_drive,
    in_mail,
    in_teams,
    written,
)
from opsgym_suites.hybrid.servers import CALENDAR, DRIVE, EMAIL, TEAMS
from opsgym_suites.hybrid.systems import LONDON, Systems
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.teams.calls import (
    admit,
    channels_of,
    create_channel,
    find_team,
    in_channel,
    join,
    members_of,
    post,
    posts_of,
)


def reconciling(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about what several systems have otherwise."""
    systems = Systems(worlds)
    for scene in (_guest_reads, _causes, _drill):
        for job in scene(systems):
            yield written(systems, job)


def _guest_reads(systems: Systems) -> Iterator[Job]:
    """What mail keeps within the company is posted where a customer reads it, and its sheet has no label."""
    mail, files, teams = systems.mail, systems.files, systems.teams
    actor = "Horatio Beale"
    horatio, sheet = mail.mailbox(actor), files.document("hudson-prices")
    thread = mail.message("hudson-quote", actor, 1)
    (request,) = files.proposals(sheet)
    team, channel = teams.team("Hudson Project"), teams.room("Hudson Project:Prices")
    looked = (
        *in_mail(search(horatio, "subject:Price"), read_thread(thread, mail)),
        *in_teams(find_team(team), members_of(team), channels_of(team), posts_of(channel, replies=True)),
        *in_drive(named("Prices of six F40"), labels_of(sheet), permissions_of(sheet), requests_for(sheet)),
    )

    def circle(*names: str) -> tuple[ToolCall, ...]:
        seats = [(teams.account(name), "owner" if name == actor else "member") for name in names]
        return in_teams(create_channel(team, "Prices inside", kind="private", members=seats))

    made = circle(actor, "Marguerite Sloane")
    closed = in_teams(in_channel("archive_channel", channel))
    guarded = in_drive(set_labels(files, sheet, sensitivity="confidential"), deny(request))
    replied = in_mail(answer(mail, horatio, thread, "From now on we talk about it in the channel Prices inside."))
    yield Job(
        "prices-that-a-guest-could-read",
        actor,
        (EMAIL, DRIVE, TEAMS),
        "Marguerite and I have a thread by mail on the price for Hudson that must stay in the company. Is the same "
        "true of the channel Prices in Hudson Project, and of the sheet Prices of six F40 on Drive? Where it is "
        "not, close it: a channel with someone from outside in it is archived, and the talk goes on in a new "
        "private one, 'Prices inside', which I own and in which everyone else from the mail thread who is in the "
        "team is a member; a sheet without a label gets the one that the thread has; a request for it from outside "
        "is decided by our rules. Answer Marguerite in the thread where we go on. What was open to whom?",
        (
            "Read the thread, the channel with its replies, and label and requests of the sheet.",
            "A guest reads the channel: make a new one for two, and archive the old (TEAMS-TEA-4).",
            "Label the sheet, deny the request (DRIVE-REQ-2), and answer in the thread.",
        ),
        (*looked, *made, *closed, *guarded, *replied),
        "Hudson's contact Abner Esposito was in the channel Prices, which is archived; you and Marguerite Sloane "
        "have Prices inside. The sheet had no label and is confidential now, and the contact's request is denied.",
        (r"\b(contact|guest|outside|esposito|hudson's)\b", r"\bconfidential\b", r"\b(denied|declined)\b"),
        ("delete_team", "add_channel_member", "create_permission"),
        {"takes the contact off the team": in_teams(
            call("remove_team_member", teamId=team.team_id, membershipId=teams.membership(
                team, teams.account("Winona Tabor")))
        )},
        {
            "takes the whole team in": (
                (*looked, *circle(actor, "Marguerite Sloane", "Odalys Pinto"), *closed, *guarded, *replied),
                "The contact was in it. Confidential, denied.",
            ),
            "leaves the old one open": ((*looked, *made, *guarded, *replied), "The contact is. Confidential, denied."),
            "leaves the request": (
                (*looked, *made, *closed, guarded[0], *replied), "The contact was. Confidential; not denied."
            ),
        },
        evidence=(thread, request),
        in_mails={"channel": (r"\bprices inside\b",)},
    )  # fmt: skip


def _causes(systems: Systems) -> Iterator[Job]:
    """A private channel exists; a role of one's own is not the only way into a file."""
    mail, files, teams = systems.mail, systems.files, systems.teams
    actor, file = "Sunniva Hale", files.document("gateway-causes")
    sunniva = mail.mailbox(actor)
    wish = mail.message("war-room", actor)
    team, channel = teams.team("Major Incidents"), teams.room("Major Incidents:Causes")
    drive = files.drive("Incidents")
    (own,) = [row for row in files.permissions(file) if row.role == "reader"]
    looked = (
        *in_mail(search(sunniva, "from:mirabel.stone subject:war"), read_thread(wish, mail)),
        *in_teams(find_team(team), members_of(team), channels_of(team), posts_of(channel, replies=True)),
        *in_drive(
            named("Causes"), labels_of(file), permissions_of(file), find_drive("Incidents"), permissions_of(drive)
        ),
    )
    mirabel, tobiah = teams.account("Mirabel Stone"), files.account("Tobiah Mercer")
    admitted = in_teams(admit(channel, mirabel))
    off = in_drive(unshare(file, own))
    noted = in_drive(call("create_comments", fileId=file.id, content="Tobiah Mercer has no role of his own here now."))
    replied = in_mail(answer(mail, sunniva, wish, "There is one, Causes, and you are in it from now on."))
    member = files.member(drive, tobiah.email)
    yield Job(
        "causes-have-two-doors",
        actor,
        (EMAIL, DRIVE, TEAMS),
        "mirabel wrote that she wants a private channel for causes in our incident team. there is one. put her "
        "into it and answer her in the thread with its name. same matter on drive: the file Causes of today's "
        "gateway. who has a role of their own on it but isn't in that channel's talk loses it; comment on the file "
        "who lost it. then see if that person still gets at the file some other way. if so leave it, there's more "
        "behind that one, and tell me which way and with what role",
        (
            "Read the thread, the channels, and permissions of the file and of its shared drive.",
            "Add her to the private channel, and answer with its name.",
            "End the role on the file alone, comment, and report the role on the shared drive (DRIVE-SHR-5).",
        ),
        (*looked, *admitted, *off, *noted, *replied),
        "Mirabel Stone is in Causes. Tobiah Mercer has no role of his own on the file any more, but he is still a "
        "reader of the shared drive Incidents, which holds for the file too.",
        (term("Mercer"), r"\breader?s?\b|\breading\b", r"\bdrive\b|\bincidents\b"),
        ("create_channel", "update_permission", "add_team_member"),
        {
            "takes him off the drive": in_drive(unshare(drive, member)),
            "takes her for a newcomer": in_teams(join(team, teams.account("Casper Onslow"))),
        },
        {
            "makes a second channel": (
                (*looked, *in_teams(create_channel(team, "Causes 2", kind="private", members=[(mirabel, "owner")])),
                    *off, *noted, *replied),
                "Mercer still is a reader of the drive Incidents.",
            ),
            "leaves his role": ((*looked, *admitted, *noted, *replied), "Mercer is a reader, by the drive Incidents."),
        },
        evidence=(wish,),
        in_mails={"Causes": (r"\bcauses\b",)},
        in_comments={"Tobiah": (r"\b(tobiah|mercer)\b",)},
        access=Access.STRICT,
    )  # fmt: skip


def _drill(systems: Systems) -> Iterator[Job]:
    """Who leads the third floor out sits in another city, says the clock of the calendar."""
    mail, files, teams = systems.mail, systems.files, systems.teams
    actor, leader, moved = "Lavender Crewe", "Kester Dunne", ("Ruben Castellan", "Horatio Beale")
    plan, team = files.document("seating"), teams.team("London House")
    channel = teams.room("London House:General")
    start = on("11-18 14:00")
    calendars = [systems.own(name) for name in (actor, leader)]
    assert first_hour(systems, calendars, (start.date(), start.date()), (14, 15), 30, LONDON) == start
    lavender = mail.mailbox(actor)
    looked = (
        *in_teams(find_team(team), channels_of(team), posts_of(channel, replies=True)),
        *in_drive(named("Seating plan"), read_text(plan), permissions_of(plan)),
        *in_calendar(LIST, *(find_person(systems.colleague(name).user) for name in (*moved, leader))),
        *in_mail(search(lavender, "subject:Ruben"), read(mail.message("moved-castellan", actor), mail)),
        busy(calendars, start.date(), start.date()),
    )

    def led_by(name: str) -> tuple[ToolCall, ...]:
        guests = systems.guests([name])
        return (
            *in_calendar(create(systems.own(actor), "Fire drill", start, 30, LONDON, attendees=guests)),
            *in_teams(post(channel, f"Fire drill on 18 November: {name} leads the third floor out.")),
            *in_mail(
                send(mail, lavender, [mail.mailbox(name).primary_email], "Fire drill", "You lead the third floor.")
            ),
        )

    comment = in_drive(
        call("create_comments", fileId=plan.id, content="Ruben Castellan and Horatio Beale sit in New York.")
    )
    yield Job(
        "third-floor-without-its-leader",
        actor,
        (CALENDAR, DRIVE, EMAIL, TEAMS),
        "The fire drill! In London House, General, I named a leader for the third floor who, I now hear, does not "
        "sit here any more. Take the seating plan on Drive: of the people whom it puts on the third floor, who "
        "really is in London by the clock that their calendar runs on? One of them leads; if several are here, the "
        "first one whom it names and who is free at that time. Enter 'Fire drill' with that person into my own "
        "calendar, at the time that I posted, half an hour; post the new leader in the same channel; send that "
        "person a mail 'Fire drill' about it; and comment on the plan who is on it but not here. Who leads?",
        (
            "Read the post, the plan, and the zones of the three in the calendars.",
            "Two sit in New York: the third one leads, and is free.",
            "Enter the drill, post it, write the mail, and comment on the plan.",
        ),
        (*looked, *led_by(leader), *comment),
        "Kester Dunne leads the third floor on 18 November at 14:00; Ruben Castellan and Horatio Beale sit in New "
        "York.",
        (r"\bkester\b", term("Castellan"), term("Beale")),
        ("remove_team_member", "update_files", "patch_event"),
        {"posts it twice": in_teams(post(channel, "See you at the fire drill."))},
        {
            "takes the first of the plan": ((*looked, *led_by(moved[0]), *comment), "Castellan, not Kester; Beale."),
            "leaves the plan": ((*looked, *led_by(leader)), "Kester, as Castellan and Beale are away."),
        },
        evidence=(plan,),
        in_posts={"leads": (r"\bkester\b",)},
        in_mails={"third": (r"\b(third|3rd)\b",)},
        in_comments={"sit": (term("Castellan"), term("Beale"), r"^(?!.*kester)")},
    )  # fmt: skip
