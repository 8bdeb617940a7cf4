"""Tasks about the files and roles of colleagues who left."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import term
from opsgym_suites.drive.calls import (
    change_file,
    each,
    hand_over,
    inside,
    labels_of,
    named,
    permissions_of,
    remark_on,
    set_labels,
    share,
    to_trash,
    unshare,
)
from opsgym_suites.drive.core.writing import GONE, HOLD, declined, done
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft


def orphaned_files(world: World) -> Iterator[Draft]:
    """Files of people who left get a new owner; what they keep and what goes differs."""
    top = world.file("@gregor.haas:Handover")
    names = ("Bearing schedule.xlsx", "Pier settlement log.csv", "Load test plan")
    files = [world.file(f"@gregor.haas:Handover/{name}") for name in names]
    private = world.file("@gregor.haas:Private/Running plan")
    yield done(
        world,
        "gregors-handover",
        "oskar.lindqvist",
        "Gregor Haas is no longer with us. Marta Kowal becomes the owner of the three files in Gregor's folder"
        " Handover, and Gregor keeps no role on them. Leave the folder itself and Gregor's other files alone for now."
        " The bridge engineers may comment on one of the three: remark on that one 'Please comment by 30 "
        "November.', and label all three with the owning team 'Bridge engineers'.",
        (
            "Find the folder and its files, and read who has a role on them (LKP-1).",
            "Transfer each as administrator (OWN-1), then remove Gregor's permission (OWN-3).",
            "Comment on the file of the group, and label the three (ID-4).",
        ),
        each(
            [
                named("Handover"),
                inside(top),
                *[
                    (
                        permissions_of(one),
                        hand_over(world, one, "marta.kowal", admin=True),
                        unshare(one, world.owner(one)),
                    )
                    for one in files
                ],
                *map(labels_of, files),
                remark_on(files[2], "Please comment by 30 November."),
                *[set_labels(world, one, owner_team="Bridge engineers") for one in files],
            ]
        ),
        "Marta Kowal now owns Bearing schedule, Pier settlement log and Load test plan; Gregor Haas has no role on"
        " them.",
        [term("Kowal"), "Bearing", "settlement", "Load"],
        mistakes={
            "takes the folder too": (hand_over(world, top, "marta.kowal", admin=True),),
            "takes a private file": (hand_over(world, private, "marta.kowal", admin=True),),
            "comments on another file": (remark_on(files[0], "Please comment by 30 November."),),
        },
    )
    fans, fire, smoke = (
        world.file(f"@lidia.petrova:Ventilation/{name}")
        for name in ("Fan curves.xlsx", "Fire strategy draft", "Smoke test notes")
    )
    yield done(
        world,
        "lidias-ventilation",
        "nadia.rahimi",
        "Lidia Petrova has left. Please make Chiara Conti the owner of the three files in the folder Ventilation, and"
        " put 'Bourdon - ' before the name of each, so that people find them. If something must keep its name, tell"
        " me which and why."
        " One that keeps its name gets the remark 'Keeps its name for now.' and a review on 1 March 2027."
        " Lidia may keep what the transfer leaves.",
        (
            "Read labels and roles of the files in the folder (LKP-1).",
            (
                "Transfer all three (OWN-1), rename those that are not under legal hold (RET-1), and report the other"
                " (REF-2)."
            ),
            "Comment on the held file and label it (ID-4).",
        ),
        each(
            [
                named("Ventilation"),
                inside(world.file("@lidia.petrova:Ventilation")),
                *[(labels_of(one), permissions_of(one)) for one in (fans, fire, smoke)],
                *[hand_over(world, one, "chiara.conti", admin=True) for one in (fans, fire, smoke)],
                *[change_file(one, name=f"Bourdon - {one.name}") for one in (fans, smoke)],
                remark_on(fire, "Keeps its name for now."),
                set_labels(world, fire, review_due="2027-03-01"),
            ]
        ),
        "Chiara Conti owns all three. Fan curves and Smoke test notes are renamed. Fire strategy draft was not: it is"
        " under legal hold and keeps its name.",
        [term("Conti"), "Fan"],
        undone=[HOLD, "Fire"],
        evidence=(fire,),
        mistakes={
            "renames the held one": (change_file(fire, name="Bourdon - Fire strategy draft"),),
            "trashes one": (to_trash(smoke),),
            "comments on the fans": (remark_on(fans, "Keeps its name for now."),),
        },
    )
    answers, halyard, rates, corbel = (
        world.file(f"@edwin.tuller:Bid library/{name}")
        for name in (
            "Answers to standard questions",
            "Reference sheet Halyard.pdf",
            "Rates 2026",
            "Reference sheet Corbel.pdf",
        )
    )
    shares = (
        (answers, "joanna.prentice"),
        (halyard, "joanna.prentice"),
        (corbel, "joanna.prentice"),
        (rates, "viktor.novak"),
    )
    yield done(
        world,
        "edwins-bid-library",
        "oskar.lindqvist",
        "edwin tuller is gone. bid library: joanna prentice takes over everything except the confidential file, that"
        " one goes to viktor novak. after that edwin has no role on any of the four. no one else's role changes"
        ". last thing: the confidential one is due for review on 29 January 2027 and gets the remark 'Viktor "
        "Novak decides who sees this.'",
        (
            "Read labels and roles of the four files (LKP-1).",
            "Transfer each to the person whom its label decides (OWN-1), then remove Edwin's permissions (OWN-3).",
            "Label the confidential file with the date and comment on it (ID-4).",
        ),
        each(
            [
                named("Bid library"),
                inside(world.file("@edwin.tuller:Bid library")),
                *[labels_of(one) for one, _who in shares],
                *[
                    (permissions_of(one), hand_over(world, one, who, admin=True), unshare(one, world.owner(one)))
                    for one, who in shares
                ],
                set_labels(world, rates, review_due="2027-01-29"),
                remark_on(rates, "Viktor Novak decides who sees this."),
            ]
        ),
        "Joanna Prentice owns the answers and both reference sheets, Viktor Novak owns Rates 2026. Edwin Tuller has"
        " no role any more.",
        [term("Prentice"), term("Novak"), "rates"],
        evidence=(rates,),
        mistakes={
            "takes the client's role": (unshare(corbel, world.permission(corbel, "peter.lowell@northgate.example")),),
            "gives the board a role": (share(world, rates, "group:board", "reader"),),
            "comments on the answers": (remark_on(answers, "Viktor Novak decides who sees this."),),
        },
    )
    abutments, joints = (
        world.file(f"@aoife.brennan:Checklists/Checklist for {name}") for name in ("abutments", "expansion joints")
    )
    yield done(
        world,
        "gregors-roles-for-lukas",
        "aoife.brennan",
        "In my folder Checklists Gregor Haas still has roles, although he left. Lukas Brandt takes his place: on each"
        " file the role that Gregor had, and Gregor has none any more. Priya's stay as they are."
        " On the one that Lukas may write in, put the remark 'Lukas Brandt looks after this list.', and let "
        "its review be due on 15 February 2027.",
        (
            "List the files of the folder and who has which role (LKP-1).",
            "Give Lukas the role that Gregor has on each file, and remove Gregor's permission (OWN-3, SHR-1).",
            "Comment on the list that Lukas writes, and label it (ID-4).",
        ),
        each(
            [
                named("Checklists"),
                inside(world.file("@aoife.brennan:Checklists")),
                *[
                    (permissions_of(one), unshare(one, world.permission(one, "gregor.haas")))
                    for one in (abutments, joints)
                ],
                share(world, abutments, "lukas.brandt", "writer"),
                share(world, joints, "lukas.brandt", "commenter"),
                labels_of(abutments),
                remark_on(abutments, "Lukas Brandt looks after this list."),
                set_labels(world, abutments, review_due="2027-02-15"),
            ]
        ),
        "Lukas Brandt is writer of the checklist for abutments and commenter of the one for expansion joints; Gregor"
        " has no role on them.",
        [term("Lukas"), term("writer"), term("commenter")],
        mistakes={
            "removes Priya": (unshare(joints, world.permission(joints, "priya.raman")),),
            "dates the other": (set_labels(world, joints, review_due="2027-02-15"),),
        },
    )
    yield declined(
        world,
        "no-owner-who-left",
        "aoife.brennan",
        "Gregor Haas wrote most of my Checklist for abutments. Make Gregor its owner, please. Should that not be"
        " possible, leave everything as it is and tell me what is in the way.",
        (named("Checklist for abutments"), permissions_of(abutments)),
        "I did not transfer the checklist: the account of Gregor Haas is gone (the permission is marked as deleted),"
        " and ownership goes only to a colleague whose account exists.",
        [term("Haas"), GONE],
        evidence=(world.permission(abutments, "gregor.haas"),),
        mistakes={
            "transfers it": (hand_over(world, abutments, "gregor.haas"),),
            "transfers it to Lukas": (hand_over(world, abutments, "lukas.brandt"),),
        },
    )


FAMILIES = (orphaned_files,)
