"""What people who have left still hold in teams, files and mailboxes, and who gets it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.drive.calls import (
    find_drive,
    hand_over,
    inside,
    labels_of,
    named,
    permissions_of,
    set_role,
    share,
    unshare,
)
from opsgym_suites.email.calls import create_filter, end_delegate, read_thread, search, vacation, with_mailbox
from opsgym_suites.hr.calls import find_user as find_in_hr
from opsgym_suites.hr.calls import read_user
from opsgym_suites.hybrid.core.jobs import Job, in_drive, in_hr, in_itsm, in_mail, in_teams, written
from opsgym_suites.hybrid.core.people import employment, granted, handed_over, member, seat
from opsgym_suites.hybrid.seeds.drive_files import FITCH
from opsgym_suites.hybrid.servers import DRIVE, EMAIL, HR, ITSM, TEAMS
from opsgym_suites.hybrid.systems import ELSEWHERE_ALLOWED, Systems
from opsgym_suites.itsm.calls import find_incident, update_incident
from opsgym_suites.itsm.calls import find_team as find_at_desk
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.world import at
from opsgym_suites.teams.calls import channels_of, find_team, join, leave, members_of, posts_of
from opsgym_suites.teams.calls import set_role as set_team_role


def handing_on(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about what leavers leave behind."""
    systems = Systems(worlds)
    for job in (*_of_the_engineer(systems), *_of_the_technician(systems), *_of_the_clerks(systems)):
        yield written(systems, job)
    for job in _in_own_mailboxes(systems):
        yield written(systems, job)


# --- the engineer ----------------------------------------------------------------------------------------------------


def _of_the_engineer(systems: Systems) -> Iterator[Job]:
    """The successor is named in a channel; HR has another last day than the list of leavers on Drive."""
    leaver, heir = "Dorothea Blum", "Jocasta Finn"
    teams, files = systems.teams, systems.files
    team, drive = teams.team("PumpWatch"), files.drive("PumpWatch")
    new = files.account(heir)
    looked = (
        *employment(systems, leaver),
        *in_teams(find_team(team), channels_of(team), posts_of(teams.room("PumpWatch:General"), replies=True)),
        *in_teams(members_of(team)),
    )
    on_drive = in_drive(find_drive("PumpWatch"), permissions_of(drive))
    promoted = in_teams(set_team_role(team, seat(systems, team, heir), "owner"))
    gone = in_teams(leave(team, seat(systems, team, leaver)))
    organized = in_drive(
        share(files, drive, new.email, "organizer", useDomainAdminAccess=True),
        unshare(drive, member(systems, "PumpWatch", leaver)),
    )
    manager = teams.account("Wendell Achebe")
    yield Job(
        "pumpwatch-gets-another-owner",
        "Osric Bellamy",
        (HR, TEAMS, DRIVE),
        "No one can change anything in PumpWatch any more, neither in the team nor on the shared drive of that name. "
        "Dorothea Blum wrote in the team's General channel who is to have it. If HR confirms that her last day is "
        "over, that person becomes owner of the team and organizer of the drive, and Dorothea is taken off both. If "
        "HR has a later day, leave everything and tell me the date. Who is it now?",
        (
            "Read the last day in HR, and the message about the successor in the channel.",
            "Make the successor owner and organizer before the leaver goes (TEAMS-TEA-1, DRIVE-OWN-2).",
        ),
        (*looked, *on_drive, *promoted, *gone, *organized),
        "Jocasta Finn is now owner of the team PumpWatch and organizer of the drive; Dorothea Blum, whose last "
        "day was "
        "13 November, is off both.",
        (term("Finn"),),
        ("add_team_member", "list_files", "update_permission", "delete_team"),
        {
            "takes the manager instead": in_teams(join(team, manager, "owner")),
            "takes her file too": in_drive(hand_over(files, files.document("certificates"), new.email, admin=True)),
        },
        {
            "leaves her as a member": ((*looked, *on_drive, *promoted, *organized), "Jocasta Finn owns it."),
            "believes the list on Drive": ((*looked, *on_drive), "Nothing: the day is 20 November, says Jocasta Finn."),
        },
        evidence=(systems.hr.profile(leaver),),
    )
    folder = files.file("@dorothea.blum:Handover")
    three = [files.document(key) for key in ("certificates", "release-checklist", "station-keys")]
    open_ones, locked = three[:2], three[2]
    read = (
        *employment(systems, leaver),
        *in_hr(read_user(systems.in_hr("Wendell Achebe"))),
        *in_teams(find_team(team), channels_of(team), posts_of(teams.room("PumpWatch:General"), replies=True)),
        *in_drive(named("Handover"), inside(folder)),
        *in_drive(*(made for one in three for made in (labels_of(one), permissions_of(one)))),
    )
    handed = in_drive(
        *handed_over(systems, open_ones, leaver, heir), *handed_over(systems, [locked], leaver, "Wendell Achebe")
    )
    yield Job(
        "handover-by-sensitivity",
        "Osric Bellamy",
        (HR, TEAMS, DRIVE),
        "the three documents in dorothea blum's folder handover, she's gone (look into HR before you touch them). "
        "restricted ones go to her manager as HR has it, the others to the successor she named in pumpwatch / "
        "general. "
        "she keeps no role on any of the three; folder and the rest of her files stay. which went to whom?",
        (
            "Read her last day and her manager in HR, and her successor in the channel.",
            "Read labels and permissions of the three files.",
            "Transfer each by its label (DRIVE-OWN-1) and remove her permission (DRIVE-OWN-3).",
        ),
        (*read, *handed),
        "Wendell Achebe owns Keys of test stations, which is restricted; Jocasta Finn owns Certificates and Release "
        "checklist. Dorothea Blum has no role on them.",
        (term("Achebe"), term("Finn"), term("Keys of test stations")),
        ("update_permission", "update_files", "get_files"),
        {
            "takes the folder too": in_drive(hand_over(files, folder, new.email, admin=True)),
            "takes away a reader": in_drive(unshare(locked, granted(systems, locked, "Piotr Zielin"))),
        },
        {
            "gives all to the successor": (
                (*read, *in_drive(*handed_over(systems, three, leaver, heir))),
                "Jocasta Finn, not Wendell Achebe, owns all with Keys of test stations.",
            ),
            "leaves her a writer": (
                (*read, *(made for made in handed if made.name != "delete_permission")),
                "Wendell Achebe owns Keys of test stations, Jocasta Finn the rest.",
            ),
        },
        evidence=(systems.hr.profile(leaver), locked),
    )


# --- the technician --------------------------------------------------------------------------------------------------


def _of_the_technician(systems: Systems) -> Iterator[Job]:
    """Who leads the technicians is known at the service desk alone."""
    leaver, lead = "Sefton Grady", "Sunniva Hale"
    teams, files = systems.teams, systems.files
    team, drive = teams.team("Site Technicians"), files.drive("Site technicians")
    of_desk = systems.desk.team("Site Technicians")
    read = (
        *in_teams(find_team(team), members_of(team)),
        *in_drive(find_drive("Site technicians"), permissions_of(drive)),
        *in_itsm(find_at_desk(of_desk), call("get_user", user_id=of_desk.manager_id)),
        *in_teams(find_team(teams.team("Major Incidents")), members_of(teams.team("Major Incidents"))),
    )
    moved = (
        *in_teams(join(team, teams.account(lead), "owner"), leave(team, seat(systems, team, leaver))),
        *in_drive(
            share(files, drive, files.account(lead).email, "organizer", useDomainAdminAccess=True),
            unshare(drive, member(systems, "Site technicians", leaver)),
        ),
    )
    yield Job(
        "technicians-get-their-lead",
        "Osric Bellamy",
        (ITSM, TEAMS, DRIVE),
        "Yolanda cannot add the new fitter to the team Site Technicians: its only owner, Sefton Grady, is gone, "
        "and he "
        "is the only organizer of the shared drive Site technicians as well. Give both to the person who manages the "
        "group of that name at the service desk, whether or not that person is in the team, and take Sefton off "
        "both. "
        "Who was it?",
        (
            "Read the manager of the group at the service desk.",
            "Add that person as owner of the team and organizer of the drive, then remove the leaver.",
        ),
        (*read, *moved),
        "Sunniva Hale owns the team and is organizer of the drive; Sefton Grady is off both.",
        (term("Hale"),),
        ("update_team_member", "find_configuration_items", "update_permission"),
        {
            "makes a technician an owner": in_teams(set_team_role(team, seat(systems, team, "Yolanda Reyes"), "owner")),
        },
        {
            "takes the technician who asks": (
                (
                    *read,
                    *in_teams(set_team_role(team, seat(systems, team, "Yolanda Reyes"), "owner")),
                    *in_teams(leave(team, seat(systems, team, leaver))),
                ),
                "It is Yolanda now, not Sunniva Hale.",
            ),
        },
    )
    keys = files.document("keys")
    kirra, quay = files.account("Kirra Dawe"), systems.desk.incident("quay-switch")
    noted = in_itsm(update_incident(quay, worknotes="Kirra has the keys."))
    looked = (
        *employment(systems, leaver),
        *in_drive(named("Keys of cabinets"), labels_of(keys), permissions_of(keys)),
        *in_itsm(find_incident(quay)),
    )
    yield Job(
        "keys-for-an-old-address",
        "Osric Bellamy",
        (HR, ITSM, DRIVE),
        "The list Keys of cabinets still belongs to Sefton Grady, who HR will tell you has left. Kirra Dawe, one "
        "of the technicians, writes in it, so let her own it, under the address that Drive has for her. And "
        f"{quay.number} gets the work note 'Kirra has the keys.'. If one of the two is against our rules, do "
        "neither.",
        (
            "Read HR, the incident, and labels and permissions of the file.",
            "The file is restricted, and Drive has her with an address outside of the company: decline (DRIVE-SHR-2).",
        ),
        looked,
        "Nothing was changed. Keys of cabinets is restricted, and Drive has Kirra Dawe with an address outside our "
        f"domain, at ridgewater.example, so she cannot be given it; {quay.number} has no new note.",
        (r"\b(outside|external|domain|outsiders?|ridgewater)\b",),
        ("create_permission", "update_incident", "update_permission"),
        {
            "writes the note": noted,
            "gives it to her": in_drive(hand_over(files, keys, kirra.email, admin=True)),
        },
        {
            "does as asked": (
                (*looked, *in_drive(hand_over(files, keys, kirra.email, admin=True)), *noted),
                "Kirra has the keys.",
            ),
        },
        tags=(ELSEWHERE_ALLOWED,),
        evidence=(keys, quay),
        subject=r"\b(kirra|keys)\b",
    )


# --- the clerks ------------------------------------------------------------------------------------------------------


def _of_the_clerks(systems: Systems) -> Iterator[Job]:
    """A file has its heir in a channel, another one a hold; a private address still reads what is confidential."""
    teams, files = systems.teams, systems.files
    desk = teams.team("Customer Desk")
    leaver = "Philippa Gow"
    bendigo = [files.document(key) for key in ("bendigo-renewal", "bendigo-shaft")]
    calls = files.document("ashdown-calls")
    outside = next(row for row in files.permissions(bendigo[0]) if files.one(type(row), id=row.id).role == "writer")
    look = (
        *employment(systems, leaver),
        *in_teams(find_team(desk), channels_of(desk), members_of(desk)),
        *in_teams(posts_of(teams.room("Customer Desk:Bendigo Mines"), replies=True)),
        *in_drive(named("Bendigo"), inside(files.file("@philippa.gow:Bendigo")), named("Ashdown")),
        *in_drive(inside(files.file("@philippa.gow:Ashdown"))),
        *in_drive(*(made for one in (*bendigo, calls) for made in (labels_of(one), permissions_of(one)))),
    )
    given = in_drive(
        *handed_over(systems, bendigo, leaver, "Lachlan Ord"), *handed_over(systems, [calls], leaver, "Elodie Marsh")
    )
    cut = in_drive(unshare(bendigo[0], outside))
    off = in_teams(leave(desk, seat(systems, desk, leaver)))
    yield Job(
        "philippas-customers-on-drive",
        "Osric Bellamy",
        (HR, TEAMS, DRIVE),
        "Philippa Gow has left, HR has the day. Her documents about Bendigo go to the colleague who says in the "
        "Bendigo Mines channel of Customer Desk that the case is theirs, her document about Ashdown to the one who "
        "writes in it besides her; not the folders. She keeps nothing on them and leaves that team. Should an "
        "outsider have a "
        "role on one of these three that our rules forbid, end it. What did you find there?",
        (
            "Read HR, the channel, and labels and permissions of her three documents.",
            "Transfer them (DRIVE-OWN-1); a hold does not keep an owner.",
            "Remove her permissions and that of the contact on the confidential file (DRIVE-SHR-2), and her seat.",
        ),
        (*look, *given, *cut, *off),
        "Lachlan Ord owns the two Bendigo documents and Elodie Marsh the notes on Ashdown. A contact of Bendigo "
        "Mines "
        "was a writer of Renewal Bendigo 2027, which is confidential; that is over. Philippa Gow left Customer Desk.",
        (term("Ord"), term("Marsh"), r"\brenewal\b"),
        ("update_files", "modify_files_labels", "update_permission"),
        {
            "takes the folder": in_drive(
                hand_over(files, files.file("@philippa.gow:Bendigo"), files.account("Lachlan Ord").email, admin=True)
            ),
            "shares it with the desk": in_drive(share(files, bendigo[0], "group:customer-desk", "reader")),
        },
        {
            "leaves the contact": ((*look, *given, *off), "Ord has Bendigo, Marsh Ashdown; the renewal is fine."),
            "makes the contact a commenter": (
                (*look, *given, *off, *in_drive(set_role(bendigo[0], outside, "commenter"))),
                "Ord has Bendigo, Marsh Ashdown; the contact of the renewal comments.",
            ),
        },
        evidence=(systems.hr.profile(leaver), bendigo[0]),
    )
    leaver = "Lorne Fitch"
    discounts, prices = files.document("discounts"), files.document("price-list")
    contracts = files.drive("Contracts")
    heir = files.account("Fabian Trask")
    find = (
        *employment(systems, leaver),
        *in_drive(find_drive("Contracts"), permissions_of(contracts), named("Discounts agreed"), named("Price list")),
        *in_drive(*(made for one in (discounts, prices) for made in (labels_of(one), permissions_of(one)))),
        *in_teams(find_team(desk), members_of(desk)),
    )
    cleared = (
        *in_drive(*handed_over(systems, [discounts], leaver, "Fabian Trask")),
        *in_drive(unshare(discounts, files.permission(discounts, FITCH))),
        *in_drive(unshare(prices, files.permission(prices, FITCH))),
        *in_drive(unshare(contracts, member(systems, "Contracts", leaver))),
    )
    left = in_teams(leave(desk, seat(systems, desk, leaver)))
    yield Job(
        "two-addresses-of-one-leaver",
        "Osric Bellamy",
        (HR, TEAMS, DRIVE),
        "Lorne Fitch works for a customer of ours by now. Check his last day with HR; provided that it is over, "
        "he is "
        "to have nothing left, neither with his account nor with a private address: on the shared drive "
        "Contracts, on "
        "the price list of 2027 and on his own sheet Discounts agreed, which Fabian Trask shall own, and in the team "
        "Customer Desk. No one else loses anything. Name the files on which his private address was.",
        (
            "Read HR, the drive's members, and the permissions of both files.",
            "Transfer the sheet, end both addresses on each file and the membership, remove him from the team.",
        ),
        (*find, *cleared, *left),
        "His private address was on Discounts agreed and on Price list 2027. Fabian Trask owns Discounts agreed; "
        "Lorne "
        "Fitch is off both files, Contracts and Customer Desk.",
        (r"\bdiscounts\b", r"\bprice list\b"),
        ("update_permission", "list_files_labels", "delete_files"),
        {
            "takes a colleague off the price list": in_drive(unshare(prices, granted(systems, prices, "Kester Dunne"))),
            "gives the price list away": in_drive(share(files, prices, heir.email, "writer")),
        },
        {
            "forgets the private address": (
                (
                    *find,
                    *in_drive(*handed_over(systems, [discounts], leaver, "Fabian Trask")),
                    *in_drive(unshare(contracts, member(systems, "Contracts", leaver))),
                    *left,
                ),
                "Only Discounts agreed, not the price list.",
            ),
        },
        evidence=(systems.hr.profile(leaver),),
    )


# --- in the mailboxes of those who stay ------------------------------------------------------------------------------


def _in_own_mailboxes(systems: Systems) -> Iterator[Job]:
    """Only owners change their settings: a delegate, a filter, an automatic reply that names who has left."""
    mail = systems.mail
    kirra = mail.mailbox("Kirra Dawe")
    grady, reyes = (mail.mailbox(name).primary_email for name in ("Sefton Grady", "Yolanda Reyes"))
    leave_case, ill = systems.hr.case("extended-dawe"), systems.hr.case("ill-reyes")
    read = (
        *in_mail(with_mailbox("email_list_delegates", kirra), with_mailbox("get_vacation_settings", kirra)),
        *in_hr(*(find_in_hr(systems.in_hr(name)) for name in ("Sefton Grady", "Yolanda Reyes"))),
        *in_hr(call("list_hr_cases", opened_for="Yolanda Reyes"), call("list_hr_cases", opened_for="Kirra Dawe")),
    )

    def away(name: str, end: str) -> tuple[ToolCall, ...]:
        return in_mail(vacation(kirra, f"I am on leave. Please ask {name}.", at("11-16 12:00"), at(end)))

    ended = in_mail(end_delegate(kirra, grady))
    yield Job(
        "away-longer-than-planned",
        "Kirra Dawe",
        (EMAIL, HR),
        "I'm on leave and forgot the mailbox! A delegate of mine whom HR doesn't employ any more has to go. And turn "
        "the automatic reply on from today, 16 November, 12:00 UTC, until the end of the last day of my leave as "
        "it is "
        "extended in HR, UTC too. It names the delegate that is left, unless HR says that one is away today, then "
        "Nadia Okafor. Whom did you name, and until when?",
        (
            "Read delegates and reply, the accounts in HR, and the leave cases of both.",
            "End the delegate who has left; the other one is ill, so the reply names Nadia (EMAIL-SET-4).",
        ),
        (*read, *ended, *away("Nadia Okafor", "11-21 00:00")),
        "Sefton Grady is not a delegate any more. The reply runs until the end of 20 November and names Nadia "
        "Okafor, "
        "since Yolanda Reyes is ill.",
        (term("Okafor"), r"\b20\b|\b21\b"),
        ("email_create_delegate", "get_users_hr_profile", "update_auto_forwarding"),
        {"ends both delegates": in_mail(end_delegate(kirra, reyes))},
        {
            "ends with the first plan": (
                (*read, *ended, *away("Nadia Okafor", "11-19 00:00")),
                "Nadia Okafor, until 18 November and not the 20th.",
            ),
            "names the one who is ill": (
                (*read, *ended, *away("Yolanda Reyes", "11-21 00:00")),
                "Yolanda until 20 November, then Nadia Okafor.",
            ),
        },
        evidence=(leave_case, ill),
        in_mails={"I am on leave": (term("Okafor"), r"^(?!.*(reyes|grady))")},
    )
    sunniva = mail.mailbox("Sunniva Hale")
    (old,) = mail.filters("Sunniva Hale")
    looked = (
        *in_mail(with_mailbox("list_filters", sunniva)),
        *in_hr(find_in_hr(systems.in_hr("Sefton Grady"))),
        *in_hr(*(call("list_hr_cases", opened_for=name) for name in ("Yolanda Reyes", "Nadia Okafor"))),
    )

    def forwards(name: str) -> tuple[ToolCall, ...]:
        target = mail.mailbox(name).primary_email
        return in_mail(
            with_mailbox("create_forwarding_address", sunniva, forwardingEmail=target),
            create_filter(sunniva, {"forward": target}, subject="leaver"),
        )

    removed = in_mail(with_mailbox("delete_filter", sunniva, id=old.id))
    yield Job(
        "filter-for-who-is-there",
        "Sunniva Hale",
        (HR, EMAIL),
        "A filter of mine still forwards mails about leavers to a person whom HR has as gone. The same mails should "
        "reach Yolanda Reyes or Nadia Okafor instead, whichever of them HR does not have as away at the moment. A "
        "request that was withdrawn does not count. One filter, not two, please. Who gets them?",
        (
            "Read the filters, who has left, and the leave cases of both.",
            "Add the address, create the filter with the same word, delete the old one (EMAIL-SET-1, EMAIL-SET-3).",
        ),
        (*looked, *forwards("Nadia Okafor"), *removed),
        "Mails with leaver in the subject go to Nadia Okafor; the filter to Sefton Grady is deleted.",
        (term("Okafor"),),
        ("update_auto_forwarding", "list_forwarding_addresses", "get_filter"),
        {
            "forwards everything": in_mail(
                with_mailbox(
                    "update_auto_forwarding",
                    sunniva,
                    enabled=True,
                    emailAddress=mail.mailbox("Nadia Okafor").primary_email,
                    disposition="leaveInInbox",
                )
            ),
        },
        {
            "keeps the old one": ((*looked, *forwards("Nadia Okafor")), "Nadia Okafor gets them."),
            "takes the one who is ill": (
                (*looked, *forwards("Yolanda Reyes"), *removed), "Yolanda Reyes, not Nadia Okafor."
            ),
        },
        evidence=(systems.hr.case("ill-reyes"),),
    )  # fmt: skip
    yield from _replies(systems)


def _replies(systems: Systems) -> Iterator[Job]:
    mail = systems.mail
    croft = mail.mailbox("Venetia Croft")
    sent = mail.message("leave-croft", "Venetia Croft")

    def reply(text: str, *, inside: bool, last: datetime) -> tuple[ToolCall, ...]:
        return in_mail(vacation(croft, text, at("11-16 00:00"), last, subject="Away", inside=inside))

    good = "I am away until 20 November. Notices: Keziah Monroe. Refunds: Fabian Trask."
    read = (
        *in_mail(with_mailbox("get_vacation_settings", croft), search(croft, "in:sent subject:week")),
        *in_mail(read_thread(sent, mail)),
        *employment(systems, "Lorne Fitch", "Keziah Monroe", "Fabian Trask"),
    )
    yield Job(
        "reply-names-who-has-left",
        "Venetia Croft",
        (EMAIL, HR),
        "My automatic reply sends people to someone who, I believe, has left; ask HR. If so, it shall instead name "
        "those whom I named in my mail of 13 November about this week, each for what I wrote, if HR still employs "
        "them. The dates stay, and customers get it as before. Who is named now?",
        (
            "Read the reply, the mail, and the people in HR.",
            "Set the reply again with both names, and with the same dates and audience (EMAIL-SET-4).",
        ),
        (*read, *reply(good, inside=False, last=at("11-21 00:00"))),
        "The reply names Keziah Monroe for notices and Fabian Trask for refunds; Lorne Fitch left on 18 September.",
        (term("Monroe"), term("Trask")),
        ("email_list_delegates", "update_auto_forwarding", "list_users"),
        {"ends a delegate": in_mail(end_delegate(croft, mail.mailbox("Philippa Gow").primary_email))},
        {
            "keeps it in the company": (
                (*read, *reply(good, inside=True, last=at("11-21 00:00"))), "Keziah Monroe and Fabian Trask."
            ),
            "names only one": (
                (*read, *reply("I am away. Please ask Fabian Trask.", inside=False, last=at("11-21 00:00"))),
                "Fabian Trask, and Keziah Monroe not.",
            ),
        },
        also={
            "on one line": Solution(
                (*read, *reply("Fabian Trask (refunds), Keziah Monroe (notices)", inside=False, last=at("11-21 00:00")))
            ),
        },
        evidence=(systems.hr.profile("Lorne Fitch"), sent),
        in_mails={"I am away": (r"\bkeziah\b", r"\bfabian\b", r"^(?!.*fitch)")},
    )  # fmt: skip
    trask = mail.mailbox("Fabian Trask")
    (old,) = mail.filters("Fabian Trask")
    drive = systems.files.drive("Contracts")
    target = mail.mailbox("Duncan Iredale").primary_email
    look = (
        *in_mail(with_mailbox("list_filters", trask)),
        *employment(systems, "Lorne Fitch"),
        *in_drive(find_drive("Contracts"), permissions_of(drive)),
    )
    switched = in_mail(
        with_mailbox("create_forwarding_address", trask, forwardingEmail=target),
        create_filter(trask, {"forward": target}, subject="renewal"),
        with_mailbox("delete_filter", trask, id=old.id),
    )
    address = in_mail(with_mailbox("delete_forwarding_address", trask, forwardingEmail=_fitch(systems)))
    yield Job(
        "renewals-go-to-the-organizer",
        "Fabian Trask",
        (EMAIL, DRIVE, HR),
        "what my filter about renewals forwards goes to lorne fitch. he's gone i think?? HR knows. if yes it "
        "should go "
        "to the organizer of the shared drive contracts, same condition, and lorne goes from the filters and from "
        "the "
        "addresses i may forward to. if no don't touch it. who's the organizer",
        (
            "Read filters, HR and the members of the drive.",
            "Add the organizer's address, create the filter anew, delete the old one and the address (EMAIL-SET-1).",
        ),
        (*look, *switched, *address),
        "It is Duncan Iredale: mails with renewal in the subject are forwarded to him, and Lorne Fitch is gone from "
        "filters and addresses.",
        (term("Iredale"),),
        ("list_forwarding_addresses", "update_permission", "get_auto_forwarding"),
        {
            "takes him off the drive": in_drive(unshare(drive, member(systems, "Contracts", "Lorne Fitch"))),
        },
        {
            "leaves the address": ((*look, *switched), "Duncan Iredale gets them."),
            "only deletes": ((*look, *switched[2:], *address), "It is Duncan Iredale."),
        },
        evidence=(systems.hr.profile("Lorne Fitch"),),
    )


def _fitch(systems: Systems) -> str:
    return str(systems.mail.mailbox("Lorne Fitch").primary_email)
