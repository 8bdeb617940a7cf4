"""Tasks about shared drives, kits of files, revisions, and what the service itself offers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.tables import App, Channel, Comment, File, Operation, Permission, SharedDrive
from opsgym_suites.drive.calls import (
    change_file,
    change_revision,
    copy,
    delete_revision,
    each,
    find_drive,
    in_trash,
    inside,
    labels_of,
    make_folder,
    make_shortcut,
    move,
    named,
    new_key,
    permissions_of,
    remark_on,
    revisions_of,
    set_labels,
    set_role,
    share,
    to_trash,
    unshare,
)
from opsgym_suites.drive.core.writing import HOLD, declined, done
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import Matches


def drive_call(tool: str, drive: SharedDrive | str, **more: object) -> ToolCall:
    """A call of a tool for shared drives."""
    return call(tool, driveId=drive if isinstance(drive, str) else drive.id, **more)


def shared_drives(world: World) -> Iterator[Draft]:
    """Shared drives that are made, closed, hidden and restricted."""
    made = new_key(1)
    yield done(
        world,
        "drive-for-the-weir",
        "oskar.lindqvist",
        "We need a shared drive 'Northgate weir'. Viktor Novak becomes its organizer beside me, the bridge engineers"
        " (group) write, Annika Falk reads. Only people of our domain may get in. Put three folders at its top:"
        " Contract, Design, Minutes. If there is such a drive already, use that one.",
        (
            "See that the drive does not exist (LKP-2), and create it.",
            "Add the members with these roles, restrict it to the domain, and make the folders (SHR-1).",
        ),
        (
            find_drive("Northgate weir"),
            call("create_drive", requestId="northgate-weir", name="Northgate weir"),
            call(
                "create_permission",
                fileId=made,
                role="organizer",
                type="user",
                emailAddress=world.address("viktor.novak"),
            ),
            call("create_permission", fileId=made, role="writer", type="group", emailAddress=world.address("bridges")),
            call(
                "create_permission", fileId=made, role="reader", type="user", emailAddress=world.address("annika.falk")
            ),
            drive_call("update_drives", made, restrictions={"domainUsersOnly": True}),
            make_folder("Contract", made),
            make_folder("Design", made),
            make_folder("Minutes", made),
        ),
        "The shared drive Northgate weir is there, for our domain only: Viktor Novak is organizer, the bridge"
        " engineers write, Annika Falk reads. It has the folders Contract, Design and Minutes.",
        [term("Novak"), term("weir")],
        mistakes={"opens another drive": (share(world, world.drive("Bridges"), "annika.falk", "reader"),)},
        tools=("create_teamdrives", "list_teamdrives"),
    )
    guide = world.file("Handbook:Public/Visitor guide")
    yield done(
        world,
        "team-drive-for-scans",
        "nadia.rahimi",
        "new team drive 'Scans' for the office please, colour #0b8043, if there isn't one called that. kenji mori"
        " organizer like me, the graduates (group) upload so they write. at its top a shortcut 'House rules' to the"
        " visitor guide of the handbook"
        ". only people of our domain get in",
        (
            "See that the team drive does not exist (LKP-2), and find the guide.",
            "Create it, add both members, and make the shortcut (SHR-1).",
            "Restrict the drive to the domain (ID-4).",
        ),
        (
            call("list_teamdrives", q="name = 'Scans'"),
            named("Visitor guide"),
            call("create_teamdrives", requestId="scans", name="Scans", colorRgb="#0b8043"),
            call(
                "create_permission",
                fileId=made,
                role="organizer",
                type="user",
                emailAddress=world.address("kenji.mori"),
            ),
            call(
                "create_permission", fileId=made, role="writer", type="group", emailAddress=world.address("graduates")
            ),
            make_shortcut("House rules", guide, made),
            drive_call("update_drives", made, restrictions={"domainUsersOnly": True}),
        ),
        "The team drive Scans is there: Kenji Mori is organizer, the graduates write. A shortcut to the visitor guide"
        " is at its top.",
        [term("Kenji"), term("scans")],
        mistakes={"shares the guide": (share(world, guide, "group:graduates", "writer"),)},
        tools=("create_drive",),
    )
    intranet, archive = world.drive("Old intranet"), world.drive("Survey archive")
    canteen, menus = (
        world.file("Old intranet:Canteen"),
        [world.file(f"Old intranet:Canteen/Menu week {n}") for n in (12, 13)],
    )
    year, run = world.file("Survey archive:2018"), world.file("Survey archive:2018/Level run.csv")
    yield done(
        world,
        "old-intranet-goes",
        "oskar.lindqvist",
        "the old intranet drive can be deleted. should be only rubbish in it, but check the labels of every file"
        " first, in the trash too. if anything is held or retained, stop and tell me",
        (
            "Look at everything in the drive and its trash, with labels (RET-3).",
            "Put what is left into the trash and delete the drive.",
        ),
        (
            call("list_teamdrives", q="name = 'Old intranet'"),
            call("get_teamdrives", teamDriveId=intranet.id),
            inside(intranet),
            in_trash(intranet),
            labels_of(canteen),
            *map(labels_of, menus),
            to_trash(canteen),
            drive_call("delete_drive", intranet),
        ),
        "Old intranet is deleted. It held the folder Canteen with two menus in the trash; none of them had a hold or"
        " a retention.",
        [term("intranet"), r"delet"],
        mistakes={"hides another drive": (drive_call("hide_drives", archive),)},
        tools=("delete_teamdrives",),
    )
    yield done(
        world,
        "survey-archive-becomes-quiet",
        "oskar.lindqvist",
        "Survey archive is empty apart from its trash, I think. If that is so, delete the drive (after a look at the"
        " labels); if there's still a folder, that may go into the trash before. And Old intranet, which is hidden,"
        " is shown again and renamed 'Intranet until 2024'.",
        (
            "Look at the archive, its trash and the labels (RET-3), then delete it.",
            "Unhide and rename the other drive.",
        ),
        (
            call("list_teamdrives", pageSize=50),
            inside(archive),
            in_trash(archive),
            labels_of(run),
            labels_of(year),
            to_trash(year),
            call("delete_teamdrives", teamDriveId=archive.id),
            drive_call("get_drive", intranet),
            drive_call("unhide_drives", intranet),
            call("update_teamdrive", team_drive_id=intranet.id, name="Intranet until 2024"),
        ),
        "Survey archive is deleted. Old intranet is visible again and called Intranet until 2024.",
        [term("archive"), "2024"],
        mistakes={"deletes the intranet": (to_trash(canteen), drive_call("delete_drive", intranet))},
        tools=("delete_drive", "update_drives"),
    )
    bridges, scheme = world.drive("Bridges"), world.drive("Graduate scheme")
    yield done(
        world,
        "bridges-without-leavers",
        "yusuf.demir",
        "Shared drive Bridges. Gregor's membership ends. Lukas has one of his own besides the group's, same role:"
        " away with it. Priya becomes organizer, I leave nothing to chance. Readers must not download any more, and"
        " folders are shared by organizers only."
        " And a folder 'Handover' at the top, for what Gregor left.",
        (
            "Find the drive and read its members (LKP-1).",
            "Remove two memberships, raise one, and set both restrictions (OWN-3, SHR-1).",
            "Make the folder at the top of the drive (ID-4).",
        ),
        (
            find_drive("Bridges"),
            permissions_of(bridges),
            drive_call("get_drive", bridges),
            unshare(bridges, world.member(bridges, "gregor.haas")),
            unshare(bridges, world.member(bridges, "lukas.brandt")),
            set_role(bridges, world.member(bridges, "priya.raman"), "organizer"),
            drive_call(
                "update_drives",
                bridges,
                downloadRestrictedForReaders=True,
                sharingFoldersRequiresOrganizerPermission=True,
            ),
            inside(bridges),
            make_folder("Handover", bridges),
        ),
        "Gregor Haas and Lukas Brandt have no membership of their own in Bridges any more, Priya Raman is organizer."
        " Readers cannot download, and only organizers share folders.",
        [term("Haas"), term("Lukas"), term("Priya")],
        mistakes={"removes Henrik": (unshare(bridges, world.member(bridges, "henrik.dahl")),)},
    )
    yield done(
        world,
        "graduate-scheme-is-hidden",
        "miriam.adler",
        "The graduate scheme pauses. Please hide its shared drive, turn the graduates' role there into reader, and"
        " make Kenji organizer so that someone looks after it while I am away. For the drive Studio nothing changes,"
        " I only need to know whether it is restricted to our domain.",
        (
            "Find the drive and its members; look at Studio's restrictions (LKP-1).",
            "Hide the drive and change the two roles (SHR-6).",
        ),
        (
            find_drive("Graduate scheme"),
            permissions_of(scheme),
            find_drive("Studio"),
            drive_call("get_drive", world.drive("Studio")),
            drive_call("hide_drives", scheme),
            set_role(scheme, world.member(scheme, "graduates"), "reader"),
            set_role(scheme, world.member(scheme, "kenji.mori"), "organizer"),
        ),
        "Graduate scheme is hidden, the graduates are readers, and Kenji Mori is organizer. Studio is not restricted"
        " to our domain.",
        [term("Kenji"), r"not\s+restricted|no\s+restriction|isn.t\s+restricted|unrestricted"],
        mistakes={
            "restricts Studio": (
                drive_call("update_drives", world.drive("Studio"), restrictions={"domainUsersOnly": True}),
            )
        },
    )


def kits(world: World) -> Iterator[Draft]:
    """Files that are copied, linked, filed and moved."""
    templates, live = world.file("Tenders:Templates"), world.file("Tenders:Live")
    cover, method, team, fee = (
        world.file(f"Tenders:Templates/{name}")
        for name in ("Cover letter", "Method statement", "Team page", "Fee sheet")
    )
    depot, weir = (
        world.file(f"Tenders:Briefs/{name}") for name in ("Calderrail depot brief.pdf", "Northgate weir brief.pdf")
    )
    folder = new_key(1)
    yield done(
        world,
        "kit-for-the-depot",
        "joanna.prentice",
        "A new bid: please make a folder 'Calderrail depot' in Live and put copies of the four current templates into"
        " it, under their names with ' - Calderrail depot' behind. A shortcut 'Brief' to the depot brief goes there"
        " as well. The retired cover letter is not meant."
        " The depot brief itself gets the remark 'The bid is in Live.' and a review on 20 November 2026.",
        (
            "Find the templates, the folder Live and the brief (LKP-2).",
            "Make the folder, copy the four templates, and add the shortcut (ID-4).",
            "Comment on the brief and label it (ID-4).",
        ),
        each(
            [
                named("Templates"),
                inside(templates),
                named("Live"),
                named("Calderrail depot"),
                make_folder("Calderrail depot", live),
                *[copy(one, f"{one.name} - Calderrail depot", folder) for one in (cover, method, team, fee)],
                make_shortcut("Brief", depot, folder),
                labels_of(depot),
                remark_on(depot, "The bid is in Live."),
                set_labels(world, depot, review_due="2026-11-20"),
            ]
        ),
        "The folder Calderrail depot in Live has copies of the cover letter, the method statement, the team page and"
        " the fee sheet, and a shortcut to the brief.",
        [term("depot"), "shortcut"],
        mistakes={
            "copies the retired letter": (
                copy(world.file("Tenders:Templates/Retired/Cover letter"), "Cover letter", live),
            )
        },
    )
    yield done(
        world,
        "kit-for-the-weir",
        "viktor.novak",
        "Bid for the Northgate weir. Folder 'Northgate weir' in Live. Move the weir brief into it. Copy method"
        " statement and fee sheet there, same names. Marta Kowal writes in both copies, nowhere else.",
        (
            "Find templates, Live and the brief (LKP-2).",
            "Make the folder, move the brief, copy two templates, and share the copies one by one (SHR-1).",
        ),
        (
            named("Templates"),
            inside(templates),
            named("Live"),
            named("weir brief"),
            make_folder("Northgate weir", live),
            move(weir, folder),
            copy(method, "Method statement", folder),
            copy(fee, "Fee sheet", folder),
            call(
                "create_permission",
                fileId=new_key(2),
                role="writer",
                type="user",
                emailAddress=world.address("marta.kowal"),
            ),
            call(
                "create_permission",
                fileId=new_key(4),
                role="writer",
                type="user",
                emailAddress=world.address("marta.kowal"),
            ),
        ),
        "The folder Northgate weir has the brief and copies of the method statement and the fee sheet, in which Marta"
        " Kowal writes.",
        [term("weir"), term("Kowal")],
        mistakes={"shares the folder": (share(world, live, "marta.kowal", "writer"),)},
    )
    inbox = world.file("Graduate scheme:Inbox")
    baran, aziz, quist = (
        world.file(f"Graduate scheme:Inbox/Rotation report {name}") for name in ("Baran", "Aziz", "Quist")
    )
    yield done(
        world,
        "reports-by-year",
        "miriam.adler",
        "The reports in the inbox of the graduate scheme belong into the folders of their years, by the year in which"
        " they were created. Put the description 'Filed by HR' on each. How many went where?",
        (
            "List the inbox with the dates, and find the folders of the years (LKP-1).",
            "Move each to its year and describe it (ID-4).",
        ),
        each(
            [
                find_drive("Graduate scheme"),
                named("Inbox"),
                inside(inbox),
                named("Reports"),
                *[
                    call(
                        "update_files",
                        fileId=one.id,
                        description="Filed by HR",
                        addParents=world.file(f"Graduate scheme:Reports {year}").id,
                    )
                    for one, year in ((baran, 2026), (aziz, 2026), (quist, 2025))
                ],
            ]
        ),
        "Two reports went to Reports 2026 and one to Reports 2025.",
        [number(2), number(1), "2025"],
        mistakes={"trashes the inbox": (to_trash(inbox),)},
    )
    fact, logo = world.file("Studio:Press/Fact sheet footbridge.pdf"), world.file("Studio:Press/Logo pack.zip")
    opening, notes, programme = (
        world.file(f"Studio:Press/{name}")
        for name in ("Opening of the footbridge.png", "Interview notes", "Programme of the opening")
    )
    press = (opening, fact, notes, programme, logo)
    yield done(
        world,
        "press-links",
        "dario.greco",
        "press folder in studio, links for everybody: what a search finds loses its link altogether, that's policy."
        " interview notes: no link either, they are internal. fact sheet is fine. logo pack gets a link to read that"
        " searches don't find, and joanna prentice, who made it, stays out of this. which ones have a link in the"
        " end?"
        " the notes also get the remark 'Off the record, no links.', and the logo pack, which has no level, "
        "becomes public",
        (
            "Read the roles on every file of the folder (LKP-1).",
            "Remove two links that searches find and that of the internal notes (SHR-3), and add one (SHR-1).",
            "Comment on the notes and label the pack (ID-4).",
        ),
        each(
            [
                named("Press"),
                inside(world.file("Studio:Press")),
                *map(permissions_of, press),
                *[unshare(one, world.permission(one, "anyone")) for one in (opening, programme, notes)],
                share(world, logo, "anyone", "reader"),
                remark_on(notes, "Off the record, no links."),
                set_labels(world, logo, sensitivity="public"),
            ]
        ),
        "The fact sheet and the logo pack have a link to read that searches do not find. The picture of the opening,"
        " the programme and the interview notes have none any more.",
        ["fact", "logo"],
        also={
            "says that searches do not find it": each(
                [
                    named("Press"),
                    inside(world.file("Studio:Press")),
                    *map(permissions_of, press),
                    share(world, logo, "anyone", "reader", allowFileDiscovery=False),
                    *[unshare(one, world.permission(one, "anyone")) for one in (notes, opening, programme)],
                    remark_on(notes, "Off the record, no links."),
                    set_labels(world, logo, sensitivity="public"),
                ]
            )
        },
        mistakes={
            "removes the link of the fact sheet": (unshare(fact, world.permission(fact, "anyone")),),
            "gives a role": (share(world, logo, "viktor.novak", "reader"),),
        },
    )


def revisions(world: World) -> Iterator[Draft]:
    """Old states of files: kept, published, deleted."""
    report = world.file("Bridges:Project Halyard/Issued/Load assessment")
    first, checked, draft, second, issued = world.revisions(report)
    yield done(
        world,
        "ratings-that-were-checked",
        "marta.kowal",
        "The load assessment of Halyard (folder Issued) has five revisions. Those that say they were checked, and the"
        " one issued to Northgate, are kept forever; the draft is deleted. The very first one stays as it is. You'll"
        " have to read them..."
        " Then a remark on the file: 'Valid:' and the rating that was issued.",
        (
            "List the revisions and read the content of each (LKP-1).",
            "Keep the second checked one and the issued one, and delete the draft (ID-4).",
            "Comment on the file with the rating of the issued revision (ID-4).",
        ),
        (
            named("Load assessment"),
            labels_of(report),
            revisions_of(report),
            *[
                call("download_files", fileId=report.id, mimeType="text/plain", revisionId=one.id)
                for one in (first, checked, draft, second, issued)
            ],
            change_revision(second, keepForever=True),
            change_revision(issued, keepForever=True),
            delete_revision(draft),
            remark_on(report, "Valid: 36 t"),
        ),
        "The revisions with 32 t (kept before), 36 t checked and 36 t issued are kept forever, and the draft with 38"
        " t is deleted. The first one is as it was.",
        [r"\b38\b|\bdraft\b", r"\b36\b|\bissued\b"],
        mistakes={
            "keeps the first": (change_revision(first, keepForever=True),),
            "notes the draft": (remark_on(report, "Valid: 38 t"),),
            "releases the other": (change_revision(checked, keepForever=False),),
        },
        expect={
            "create_comments": lambda row: {"content": Matches(r"(?i)valid\W+36\b")} if row.kind is Comment else {}
        },
    )
    guide, pay = world.file("Handbook:Public/Visitor guide"), world.file("Handbook:Public/Pay bands")
    of_guide, of_pay = world.revisions(guide), world.revisions(pay)
    yield done(
        world,
        "published-pages",
        "kenji.mori",
        "Folder Public of the handbook. The web shows old pages. Visitor guide: newest revision published, the first"
        " one not any more. Pay bands are labelled internal. Check. If so, nothing of them is on the web.",
        (
            "List the revisions and labels of both files (LKP-1).",
            "Publish the head of the guide, withdraw the old page, and withdraw the internal file's (ID-3).",
        ),
        (
            named("Public"),
            inside(world.file("Handbook:Public")),
            labels_of(guide),
            labels_of(pay),
            revisions_of(guide),
            revisions_of(pay),
            change_revision(of_guide[2], published=True),
            change_revision(of_guide[0], published=False),
            change_revision(of_pay[0], published=False),
        ),
        "The newest visitor guide is published and the old one withdrawn. Pay bands are internal and not on the web"
        " any more.",
        ["guide", "pay"],
        evidence=(pay,),
        mistakes={
            "publishes the second": (change_revision(of_guide[1], published=True),),
            "publishes the pay bands": (change_revision(of_pay[1], published=True),),
        },
    )
    stock, log = world.file("@elif.kaya:Stock/Resin stock.csv"), world.file("@elif.kaya:Stock/Blast log.csv")
    old = world.revisions(stock)
    yield done(
        world,
        "old-stock-lists",
        "elif.kaya",
        "in my folder stock: of the resin stock keep only the head and the one before it, delete the rest. the blast"
        " log: same, only the head stays, except if something is against it, then tell me what",
        (
            "List labels and revisions of both files (LKP-1).",
            "Delete three revisions of the stock; those of the held log stay (RET-1, REF-2).",
        ),
        (
            named("Stock"),
            inside(world.file("@elif.kaya:Stock")),
            labels_of(stock),
            labels_of(log),
            revisions_of(stock),
            revisions_of(log),
            *map(delete_revision, old[:3]),
        ),
        "3 revisions of the resin stock are deleted. Those of the blast log were not: it is under legal hold.",
        [number(3)],
        undone=[HOLD, "blast"],
        evidence=(log,),
        mistakes={
            "deletes one of the log": (delete_revision(world.revisions(log)[0]),),
            "deletes one more": (delete_revision(old[3]),),
        },
    )
    yield declined(
        world,
        "blast-log-keeps-its-past",
        "elif.kaya",
        "delete the first revision of my blast log, there's a typo in it. if that can't be done leave it and tell me"
        " why",
        (named("Blast log"), labels_of(log), revisions_of(log)),
        "I did not delete the revision: the blast log is under legal hold, and its revisions stay (RET-1).",
        [HOLD, "blast"],
        evidence=(log,),
        mistakes={"deletes it": (delete_revision(world.revisions(log)[0]),)},
    )


def services(world: World) -> Iterator[Draft]:
    """What the service offers besides files: channels, the log of changes, apps, ids, operations."""
    brief = world.file("Tenders:Briefs/Northgate weir brief.pdf")
    bridges = world.drive("Bridges")
    address = "https://hooks.brannock.example/drive"
    yield done(
        world,
        "watch-the-brief",
        "nadia.rahimi",
        f"Please have changes of the Northgate weir brief sent to {address}, by a channel called 'weir-brief', and"
        f" all changes in"
        " the shared drive Bridges from now on by a channel called 'bridges-all', to the same address."
        " On the brief also leave the remark 'Changes are watched.', and set its review to 27 November 2026.",
        (
            "Find the file, the drive and the newest token of the log (LKP-1).",
            "Open one channel for the file and one for the changes (ID-4).",
            "Comment on the brief and label it (ID-4).",
        ),
        (
            named("weir brief"),
            find_drive("Bridges"),
            call("get_files", fileId=brief.id),
            drive_call("get_changes_start_page_token", bridges),
            call(
                "watch_files",
                fileId=brief.id,
                id="weir-brief",
                address=address,
                resourceId=brief.id,
                resourceUri=f"https://www.googleapis.com/drive/v3/files/{brief.id}?alt=json",
            ),
            call(
                "watch_changes", pageToken=world.newest_change(), driveId=bridges.id, id="bridges-all", address=address
            ),
            labels_of(brief),
            remark_on(brief, "Changes are watched."),
            set_labels(world, brief, review_due="2026-11-27"),
        ),
        "Two channels are open to the address: weir-brief for the brief, and bridges-all for the changes in Bridges.",
        ["weir-brief", "bridges-all"],
        mistakes={
            "opens a third": (
                call(
                    "watch_files",
                    fileId=brief.id,
                    id="weir-more",
                    address=address,
                    resourceId=brief.id,
                    resourceUri="https://www.googleapis.com/drive/v3/files",
                ),
            )
        },
    )
    usage = _usage(world, "nadia.rahimi")
    yield done(
        world,
        "ids-for-the-scanner",
        "nadia.rahimi",
        "For the scanner I need four reserved ids for files. While you are at it: which of our apps opens dwg"
        " drawings, is it the one that opens them unless another is chosen, and how many bytes do my own files use?"
        " One line each, please.",
        ("Look up apps and storage (LKP-1).", "Reserve four ids and report (REF-3)."),
        (
            call("list_apps", appFilterExtensions="dwg"),
            call("get_about", fields="storageQuota(usage),user"),
            call("get_app", appId=world.one(App, name="Draftplan").id),
            call("generate_files_Ids", count=4),
        ),
        f"Four ids are reserved. Draftplan opens dwg drawings, but not by default. Your files use {usage} bytes.",
        [term("Draftplan"), r"\bnot\b|\bno\b", number(usage)],
        mistakes={"reserves one more": (call("generate_files_Ids", count=1),)},
    )
    channel = world.one(Channel, id="watch-brannock-1")
    (watched,) = world.owned(File, "id", channel.resource_id)
    weir = world.file("Tenders:Briefs")
    yield done(
        world,
        "end-of-a-channel",
        "nadia.rahimi",
        f"Please stop the channel 'watch-brannock-1', it watches {watched.name}. Then move both briefs of the tender"
        f" office to the"
        " folder Live, and tell me what the log of changes says about Tenders since before you began.",
        (
            "Find the watched file, the briefs, and the newest token of the log (LKP-1).",
            "Stop the channel, move both files, and read the log from that token on.",
        ),
        (
            named(watched.name),
            call("get_changes_start_page_token"),
            named("Briefs"),
            inside(weir),
            named("Live"),
            call("stop_channels", id=channel.id, resourceId=watched.id),
            move(brief, world.file("Tenders:Live")),
            move(world.file("Tenders:Briefs/Calderrail depot brief.pdf"), world.file("Tenders:Live")),
            call("list_changes", pageToken=world.newest_change(), driveId=world.drive("Tenders").id),
        ),
        "The channel is stopped. Since then the log has two changes in Tenders: the briefs of the weir and the depot"
        " were updated.",
        [number(2), "weir", "depot"],
        mistakes={"moves the folder": (move(weir, world.file("Tenders:Live")),)},
    )
    operation = world.one(Operation, name="download_03")
    (loaded_file,) = world.owned(File, "id", json.loads(str(operation.operation_metadata))["file_id"])
    yield done(
        world,
        "a-download-that-ended",
        "oskar.lindqvist",
        "Is the operation download_03 done, and which file was it? If it is done, describe the file as 'Downloaded"
        " for the audit' and set its label for the team that owns it to Legal. The same for the fact sheet in the"
        " press folder of Studio after you have downloaded that one yourself."
        " Under each of the two, once it is downloaded, the remark 'Audited in November.'",
        (
            "Look up the operation and its file; download the fact sheet (LKP-1).",
            "Describe and label both files (ID-4).",
            "Comment on both files (ID-4).",
        ),
        (
            call("get_operations", name="operations/download_03"),
            call("get_files", fileId=loaded_file.id),
            named("Fact sheet"),
            call("download_files", fileId=fact_sheet(world).id),
            labels_of(loaded_file),
            labels_of(fact_sheet(world)),
            change_file(loaded_file, description="Downloaded for the audit"),
            set_labels(world, loaded_file, owner_team="Legal"),
            change_file(fact_sheet(world), description="Downloaded for the audit"),
            set_labels(world, fact_sheet(world), owner_team="Legal"),
            remark_on(loaded_file, "Audited in November."),
            remark_on(fact_sheet(world), "Audited in November."),
        ),
        f"The download is done; it was {loaded_file.name}. Both files are described and labelled.",
        [r"\bdone\b|\bcomplete\w*|\bfinished\b", first_words(loaded_file)],
        mistakes={"keeps a star": (change_file(loaded_file, starred=True),)},
    )


def fact_sheet(world: World) -> File:
    """The fact sheet that the press gets."""
    return world.file("Studio:Press/Fact sheet footbridge.pdf")


def first_words(file: File) -> str:
    """Pattern of a file's name without its ending."""
    return r"\s+".join(map(re.escape, file.name.rpartition(".")[0].split() if "." in file.name else file.name.split()))


def _usage(world: World, who: str) -> int:
    """Bytes that a user's own files take."""
    owned = {row.file_id for row in world.all(Permission, role="owner", user_id=world.user(who).id)}
    return sum(row.quota_bytes_used or 0 for row in world.all(File) if row.id in owned)


FAMILIES = (shared_drives, kits, revisions, services)
