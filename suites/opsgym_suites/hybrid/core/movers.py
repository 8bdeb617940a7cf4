"""People who move within the company: what one system knows of the move and the others have not followed.

Invariant: HR decides where a person belongs; posts and mails only point at the person.
"""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Location
from opsgym_suites.drive.calls import find_drive, hand_over, labels_of, named, permissions_of, share, unshare
from opsgym_suites.email.calls import answer, create_filter, create_label, new_key, read_thread, search, with_mailbox
from opsgym_suites.email.calls import labels_of as mail_labels
from opsgym_suites.hr.calls import find_case, find_user, read_profile, read_user
from opsgym_suites.hybrid.cast import DOMAIN
from opsgym_suites.hybrid.core.jobs import Job, in_drive, in_hr, in_itsm, in_mail, in_teams, written
from opsgym_suites.hybrid.core.people import employment, employment_by_case, granted, member, people_of, seat
from opsgym_suites.hybrid.servers import DRIVE, EMAIL, HR, ITSM, TEAMS
from opsgym_suites.hybrid.systems import Systems
from opsgym_suites.itsm.calls import find_user as find_at_desk
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import Matches
from opsgym_suites.teams.calls import channels_of, give_tag, join, join_all, leave, post, posts_of, set_status, tags_of
from opsgym_suites.teams.calls import find_user as find_in_teams
from opsgym_suites.teams.calls import update_user as update_in_teams

COLLEAGUES = ("Jocasta Finn", "Anselm Pryor", "Emrys Vaughan")
_ONLY_A_LABEL = (
    r'(?s)^(?=.*"addLabelIds":\s*\["[0-9a-f-]{36}"\s*\])(?!.*"removeLabelIds":\s*\[\s*")'
    r'(?!.*"forward":\s*"[^"])\{'
)
"""Pattern for the action of a filter that adds one label and does nothing else."""
TESTERS = ("Beatrix Lowell", "Caspian Rowe", "Fenella Stark")


def movers(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about people who move."""
    systems = Systems(worlds)
    for scene in (_to_sales, _to_new_york, _into_engineering, _to_a_new_name):
        for job in scene(systems):
            yield written(systems, job)


# --- from the customer desk to sales ---------------------------------------------------------------------------------


def _to_sales(systems: Systems) -> Iterator[Job]:
    """HR has her in sales since September; directory, teams, Drive and her own mailbox have not followed."""
    yield _arrives(systems)
    yield _clears_up(systems)


def _arrives(systems: Systems) -> Job:
    name, teams, files = "Juno Castle", systems.teams, systems.files
    juno, sales, desk = teams.account(name), teams.team("Sales"), teams.team("Customer Desk")
    contracts, rota = files.drive("Contracts"), files.document("rota")
    looked = (
        *employment(systems, name, "Marguerite Sloane"),
        *in_teams(find_in_teams(juno), *people_of(sales, desk), channels_of(sales)),
        *in_drive(find_drive("Contracts"), permissions_of(contracts)),
    )
    moved = in_teams(
        update_in_teams(juno, department="Sales"), join(sales, juno), leave(desk, seat(systems, desk, name))
    )
    cut = in_drive(unshare(contracts, member(systems, "Contracts", name)))
    posted = in_teams(post(teams.room("Sales:General"), "Juno Castle is in Sales now and has left Customer Desk."))
    end = "Until now the directory said Customer Service. Juno Castle is in Sales, and off Customer Desk and Contracts."
    return Job(
        "castle-arrives-in-sales",
        "Osric Bellamy",
        (TEAMS, HR, DRIVE),
        "Juno Castle is said to have gone over to Sales in September, and half of our systems did not notice. If HR "
        "agrees, that is, her position is Sales and Marguerite Sloane is her manager, finish it: the directory of "
        "Teams has the department of the other sales people, she is a member of the team Sales and no longer of "
        "Customer Desk, and the role that she has by her own name on the shared drive Contracts goes. One line in the "
        "General channel of Sales says who has come and which team that person has left. If HR has it otherwise, leave "
        "everything. Which department did the directory have until now?",
        (
            "Read position and manager in HR, and the department of the others in sales.",
            "Change the department, join one team as a member, leave the other (TEAMS-TEA-2).",
            "End her membership of the shared drive, and post in the channel (TEAMS-MSG-1).",
        ),
        (*looked, *moved, *cut, *posted),
        end,
        (term("Customer Service"),),
        ("update_team_member", "update_permission", "list_users"),
        {
            "takes her off the rota too": in_drive(unshare(rota, granted(systems, rota, name))),
            "takes her out of her house": in_teams(
                leave(teams.team("Sydney House"), seat(systems, teams.team("Sydney House"), name))
            ),
        },
        {
            "makes her an owner": (
                (
                    *looked, moved[0], *in_teams(join(sales, juno, "owner")), moved[2], *cut, *posted
                ), end,
            ),
            "forgets the drive": ((*looked, *moved, *posted), end),
            "says nothing": ((*looked, *moved, *cut), end),
        },
        evidence=(systems.hr.profile(name),),
        in_posts={"Juno": (r"\b(juno|castle)\b", r"\bcustomer desk\b")},
    )  # fmt: skip


def _clears_up(systems: Systems) -> Job:
    """What she holds herself: copies of contracts, a role on a rota, and a mailbox that forwards outside."""
    name, heir = "Juno Castle", "Bram Halloway"
    mail, files = systems.mail, systems.files
    juno, target = mail.mailbox(name), systems.mail.forwarding(name).email_address
    copies, rota = files.document("contract-copies"), files.document("rota")
    wish = mail.message("transfer-castle", name, 2)
    looked = (
        *employment(systems, name),
        *in_hr(find_user(systems.in_hr(heir))),
        *in_drive(named("Copies of contracts"), labels_of(copies), permissions_of(copies)),
        *in_drive(named("Rota"), permissions_of(rota)),
        *in_mail(with_mailbox("get_auto_forwarding", juno), with_mailbox("list_forwarding_addresses", juno)),
        *in_mail(search(juno, "subject:sales from:linnea.storrs"), read_thread(wish, mail)),
    )
    handed = in_drive(
        hand_over(files, copies, files.account(heir).email),
        unshare(copies, granted(systems, copies, name)),
        unshare(rota, granted(systems, rota, name)),
    )
    off = in_mail(
        with_mailbox("update_auto_forwarding", juno, enabled=False, emailAddress=target, disposition="leaveInInbox"),
        with_mailbox("delete_forwarding_address", juno, forwardingEmail=target),
    )
    replied = in_mail(
        answer(mail, juno, wish, "Bram Halloway owns the copies of contracts now, and I am off the rota.")
    )
    end = "Bram Halloway owns Copies of contracts; you are off the rota, your mailbox forwards nothing, Linnea knows."
    return Job(
        "juno-clears-her-corner",
        name,
        (EMAIL, DRIVE, HR),
        "I belong to sales since September, HR can confirm it, and still hold things of the customer desk in Sydney. "
        "My archive with copies of contracts goes to the colleague who reads it, if that account is active in HR; I "
        "keep no role on it. I want to be off Linnea's rota as well. And my mailbox must stop forwarding to the "
        "outside, with that address deleted from those I may forward to. Last, answer what Linnea Storrs wrote last "
        "about my move, to her alone, in its thread: who has the copies now, and that I am off the rota. Who is it?",
        (
            "Read HR, the archive with its permissions, the rota, the forwarding and the thread.",
            "Transfer the archive within the company, and end the actor's roles (DRIVE-OWN-2, DRIVE-SHR-2).",
            "Turn the forwarding off, delete the address (EMAIL-SET-1), and answer Linnea.",
        ),
        (*looked, *handed, *off, *replied),
        end,
        (term("Halloway"),),
        ("update_permission", "update_files", "email_list_delegates", "trash_message"),
        {
            "leaves the drive of contracts too": in_drive(
                unshare(files.drive("Contracts"), member(systems, "Contracts", name))
            ),
        },
        {
            "keeps a role on the archive": ((*looked, handed[0], handed[2], *off, *replied), end),
            "keeps the address": ((*looked, *handed, off[0], *replied), end),
            "tells everybody in the thread": (
                (
                    *looked, *handed, *off,
                    *in_mail(
                        answer(
                            mail, juno, wish, "Bram Halloway owns the copies of contracts now, and I am off the rota.",
                            to=[mail.mailbox(one).primary_email for one in ("Linnea Storrs", "Marguerite Sloane")],
                        )
                    ),
                ), end,
            ),
        },
        evidence=(copies,),
        in_mails={"Bram": (r"\b(bram|halloway)\b", r"\brota\b")},
        access=Access.STRICT,
    )  # fmt: skip


# --- from London to New York -----------------------------------------------------------------------------------------


def _to_new_york(systems: Systems) -> Iterator[Job]:
    """Two people are in the wrong house; each system has another part of it wrong."""
    movers = ("Ruben Castellan", "Horatio Beale")
    teams = systems.teams
    london, york = teams.team("London House"), teams.team("New York House")
    ruben = teams.account("Ruben Castellan")
    place = systems.desk.named(Location, "Fenmoor Americas")
    users = [systems.at_desk(name) for name in movers]
    rooms = (teams.room("New York House:General"), teams.room("London House:General"))
    looked = (
        *in_teams(*people_of(london, york)),
        *in_teams(*(made for room, team in zip(rooms, (york, london), strict=True)
                    for made in (channels_of(team), posts_of(room, replies=True)))),
        *(made for name in movers for made in employment_by_case(systems, name)),
        *in_teams(*(find_in_teams(teams.account(name)) for name in movers)),
        *in_itsm(*map(find_at_desk, users), call("find_location_by_given_name", name=place.name)),
    )  # fmt: skip

    def sits(index: int) -> tuple[ToolCall, ...]:
        return in_itsm(call("update_user_details", user_id=users[index].user_id, location_id=place.location_id))

    out = in_teams(*(leave(london, seat(systems, london, name)) for name in movers))
    come = in_teams(join(york, ruben))
    placed = in_teams(update_in_teams(ruben, country="United States", usageLocation="US"))
    text = "Horatio Beale works in New York and is not in this team any more: the third floor needs another leader."
    posted = in_teams(post(rooms[1], text))
    end = "Ruben Castellan and Horatio Beale left London House; both have the site Fenmoor Americas at the desk."
    yield Job(
        "two-who-left-london",
        "Osric Bellamy",
        (TEAMS, ITSM, HR),
        "Two people in the team London House do not work there: the one whom Mirabel Stone greeted in the General "
        "channel of New York House, and the one whom Lavender Crewe wants to lead the third floor out at the fire "
        "drill. Check both in HR, where the nationality in the profile is the country in which a person is employed. "
        "Those in the US leave London House and belong to New York House, where no one is entered twice; at the desk "
        "their site becomes Fenmoor Americas; country (United States) and usage location (US) in the directory of "
        "Teams are changed only where they are wrong. In London House, General, write one line for Lavender: who will "
        "not be there for the drill. Which two were they, and for whom was the directory wrong?",
        (
            "Read the two posts with their replies, and both profiles in HR.",
            "Read the members of both houses, both accounts in the directory, and both at the desk.",
            "Correct in each system what is wrong there, and post for Lavender.",
        ),
        (*looked, *out, *come, *placed, *sits(0), *sits(1), *posted),
        f"{end} The directory was wrong for Ruben Castellan only.",
        (term("Castellan"), term("Beale")),
        ("update_team_member", "find_locations", "update_configuration_item"),
        {
            "gives a colleague another site": in_itsm(
                call(
                    "update_user_details",
                    user_id=systems.at_desk("Kester Dunne").user_id,
                    location_id=place.location_id,
                )
            ),
        },
        {
            "moves the first one only": ((*looked, out[0], *come, *placed, *sits(0), *posted), end),
            "forgets the desk": ((*looked, *out, *come, *placed, *posted), end),
            "leaves him out of the other house": ((*looked, *out, *placed, *sits(0), *sits(1), *posted), end),
        },
        evidence=tuple(systems.hr.profile(name) for name in movers),
        in_posts={"Horatio": (r"\b(horatio|beale)\b",)},
    )


# --- into the team of their manager ----------------------------------------------------------------------------------


def _into_engineering(systems: Systems) -> Iterator[Job]:
    """The team of a product has others in it than the people who report to its manager."""
    teams, files = systems.teams, systems.files
    team, house, drive = teams.team("PumpWatch"), teams.team("Sydney House"), files.drive("PumpWatch")
    emrys, fenella = teams.account("Emrys Vaughan"), teams.account("Fenella Stark")
    boss = systems.in_hr("Wendell Achebe")
    manager = systems.hr.profile(boss).hr_profile_id
    looked = (
        *in_hr(find_user(boss), read_profile(boss)),
        *in_hr(
            *(
                call("fetch_hr_profiles", manager=str(manager), position=title)
                for title in ("Software Engineer", "QA")
            )
        ),
        *in_hr(*(read_user(systems.in_hr(name)) for name in (*COLLEAGUES, "Dorothea Blum", *TESTERS))),
        *in_teams(*people_of(team, house), tags_of(team), channels_of(team)),
        *in_drive(find_drive("PumpWatch"), permissions_of(drive)),
    )  # fmt: skip
    come = in_teams(join(team, emrys), join(team, fenella))
    gone = in_teams(leave(team, seat(systems, team, "Piotr Zielin")))
    may = in_drive(share(files, drive, files.account("Emrys Vaughan").email, "writer", useDomainAdminAccess=True))
    tagged = in_teams(give_tag(teams.tag(team, "Release crew"), fenella))
    posted = in_teams(
        post(teams.room("PumpWatch:General"), "New here: Emrys Vaughan and Fenella Stark. Piotr Zielin has left.")
    )
    end = "Emrys Vaughan and Fenella Stark came, Piotr Zielin went. Emrys writes on the drive, Fenella has the tag."
    yield Job(
        "achebes-people-in-pumpwatch",
        "Osric Bellamy",
        (HR, TEAMS, DRIVE),
        "Wendell Achebe wants the team PumpWatch in Teams to be his own people and no one else: those who report to "
        "him in HR as Software Engineer or QA and whose account there is active. Those of them who are missing become "
        "members, all others in it go. Dorothea Blum is the exception, she stays until the team has another "
        "owner. Of those who are new, engineers also become writers on the shared drive PumpWatch by name; testers "
        "need no role there and get the tag Release crew instead. In the team's General channel a line from you names "
        "everyone who came and who went. Who was it?",
        (
            "List the manager's people in HR by position, with their accounts.",
            "Compare them with the members of the team; find those who are missing in the team of their house.",
            "Add and remove members, give the drive and the tag, and name all in a post (TEAMS-MSG-1).",
        ),
        (*looked, *come, *gone, *may, *tagged, *posted),
        end,
        (term("Vaughan"), term("Stark"), term("Zielin")),
        ("update_team_member", "create_teamwork_tag", "update_permission"),
        {
            "takes the leaver out too": in_teams(leave(team, seat(systems, team, "Dorothea Blum"))),
            "adds his assistant": in_teams(join(team, teams.account("Nell Whitcombe"))),
        },
        {
            "only adds": ((*looked, *come, *may, *tagged, *posted), end),
            "tags the engineer": (
                (
                    *looked, *come, *gone, *may,
                    *in_teams(give_tag(teams.tag(team, "Release crew"), emrys)), *posted,
                ), end,
            ),
        },
        also={"adds both at once": Solution((
            *looked, *in_teams(join_all(team, [emrys, fenella])), *gone, *may, *tagged, *posted,
        ))},
        evidence=(systems.in_hr("Dorothea Blum"),),
        in_posts={"New here": (r"\b(emrys|vaughan)\b", r"\b(fenella|stark)\b", r"\b(piotr|zielin)\b")},
    )  # fmt: skip


# --- to a new name ---------------------------------------------------------------------------------------------------


def _to_a_new_name(systems: Systems) -> Iterator[Job]:
    """The owner of a mailbox stops writing as she was called before, once HR is through."""
    name = "Beatrix Lowell"
    mail, case = systems.mail, systems.hr.case("name-lowell")
    beatrix, mailed = mail.mailbox(name), mail.message("name-lowell", name, 1)
    old = f"beatrix.harrow@{DOMAIN}"
    looked = (
        *in_hr(find_case(case)),
        *in_mail(with_mailbox("list_send_as_aliases", beatrix), with_mailbox("list_filters", beatrix)),
        *in_mail(mail_labels(beatrix), search(beatrix, "subject:name"), read_thread(mailed, mail)),
    )
    primary = in_mail(
        with_mailbox("patch_send_as_alias", beatrix, sendAsEmail=beatrix.primary_email, isDefault=True)
    )  # fmt: skip
    filed = in_mail(
        create_label(beatrix, "Old name"), create_filter(beatrix, {"addLabelIds": [new_key(1)]}, to=old)
    )  # fmt: skip
    replied = in_mail(answer(mail, beatrix, mailed, "My mail goes out as Lowell now."))
    shown = in_teams(set_status(systems.teams.account(name), "Now Beatrix Lowell"))
    end = f"HR is through with {case.number}: you send as beatrix.lowell@{DOMAIN} by default, and Delia knows."
    yield Job(
        "beatrix-writes-as-lowell",
        name,
        (HR, EMAIL, TEAMS),
        f"everybody in the company calls me Lowell, only my own mail still goes out as harrow. look at {case.number} "
        "in HR first. if their work on it is done and it only waits for me, then: what i send goes out from my primary "
        "address unless i say otherwise. the old address stays mine, people still write to it, but whatever comes in "
        "for it from now on gets a label 'Old name' and stays in the inbox. delia wrote to me about the certificate - "
        "answer her in that thread, just her, that my mail goes out as Lowell now. and my status in teams: 'Now "
        "Beatrix Lowell'. if they still work on it, leave all of that alone. what did HR's status say?",
        (
            "Read the case: it awaits acceptance, so its work is done (HR-CAS-7).",
            "Make the primary address the default; create label and filter (EMAIL-MSG-3, EMAIL-SET-3).",
            "Answer Delia in her thread (EMAIL-SND-1), and set the status.",
        ),
        (*looked, *primary, *filed, *replied, *shown),
        f"{end} The status was awaiting acceptance.",
        (term("awaiting_acceptance"),),
        ("delete_send_as_alias", "modify_message", "update_hr_case"),
        {
            "deletes the old address": in_mail(with_mailbox("delete_send_as_alias", beatrix, sendAsEmail=old)),
        },
        {
            "archives as well": (
                (
                    *looked, *primary, filed[0],
                    *in_mail(
                        create_filter(
                            beatrix, {"addLabelIds": [new_key(1)], "removeLabelIds": ["INBOX"]}, to=old
                        )
                    ),
                    *replied, *shown,
                ), f"{end} awaiting acceptance",
            ),
            "waits for the case": (looked, "Nothing is done: the status is awaiting acceptance."),
        },
        evidence=(case,),
        in_mails={"Lowell": (r"\blowell\b",)},
        expect={EMAIL.gym: {"create_filter": {"action_json": Matches(_ONLY_A_LABEL)}}},
        access=Access.STRICT,
    )  # fmt: skip
