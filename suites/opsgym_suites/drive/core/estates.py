"""Tasks about what leavers leave: heirs that remarks name, a drive with members who are gone, and pages on the web."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.drive.tables import File
from opsgym_suites.drive.calls import (
    change_file,
    change_revision,
    comments_on,
    copy,
    each,
    find_drive,
    hand_over,
    inside,
    labels_of,
    make_folder,
    make_shortcut,
    named,
    new_key,
    permissions_of,
    remark_on,
    reply,
    revisions_of,
    set_labels,
    set_role,
    share,
    unshare,
)
from opsgym_suites.drive.core.foundation.nights import MORNING, NIGHT, second_day, two_days
from opsgym_suites.drive.core.writing import GONE, done
from opsgym_suites.drive.seeds.consultancy import PETER, SYLVIE
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import ScenarioEvent

ESTATE = "@gregor.haas:Lintel estate"


def _files(world: World) -> tuple[File, File, File, File]:
    """Plan, catalogue, notes and survey of the estate."""
    plan, joints, wind, cracks = (
        world.file(f"{ESTATE}/{name}")
        for name in ("Bearing inspection plan", "Joint catalogue", "Wind notes", "Crack survey")
    )
    return plan, joints, wind, cracks


def heirs_in_remarks(world: World) -> Iterator[Draft]:
    """Files of a leaver whose heirs were agreed in remarks, not all of them as they were proposed."""
    top = world.file(ESTATE)
    plan, joints, wind, cracks = _files(world)
    heirs = ((plan, "lukas.brandt"), (joints, "marta.kowal"), (wind, "tomasz.wilk"), (cracks, "yusuf.demir"))
    remarks = [
        world.comment(one, words) for one, words in ((plan, "carry on"), (joints, "take this over"), (wind, "Evidence"))
    ]
    look = each(
        [
            named("Lintel estate"),
            inside(top),
            *[(labels_of(one), comments_on(one), permissions_of(one)) for one, _ in heirs],
        ]
    )
    yield done(
        world,
        "heirs-of-the-lintel-estate",
        "oskar.lindqvist",
        "gregor haas has left. his folder lintel estate: four files, each gets a new owner, the folder stays. under the"
        " files it was discussed who carries on. what counts there is the word of yusuf demir, or of legal where the"
        " file is held. a file without any discussion goes to yusuf himself. gregor keeps no role on the files. under"
        " each discussion write 'Handed over.' every file needs an owning team in its label: 'Legal' if the new owner"
        " is of legal, else 'Bridge engineers', but only where none is set. who got what?",
        (
            "Read labels, remarks and roles of the four files (LKP-1).",
            "Transfer each as administrator to the heir whom the last word names (OWN-1), then remove Gregor (OWN-3).",
            "Answer the three remarks and label the three files without a team (ID-4).",
        ),
        each(
            [
                look,
                *[(hand_over(world, one, who, admin=True), unshare(one, world.owner(one))) for one, who in heirs],
                *[reply(one, "Handed over.") for one in remarks],
                *[set_labels(world, one, owner_team="Bridge engineers") for one in (plan, joints)],
                set_labels(world, wind, owner_team="Legal"),
            ]
        ),
        "Lukas Brandt owns the bearing inspection plan, Marta Kowal the joint catalogue, Tomasz Wilk the wind notes"
        " and Yusuf Demir the crack survey. Gregor has no role on them.",
        [term("Brandt"), term("Kowal"), term("Wilk"), term("Demir")],
        evidence=(wind, cracks),
        mistakes={
            "takes the folder too": (hand_over(world, top, "yusuf.demir", admin=True),),
            "takes Peter's role": (unshare(cracks, world.permission(cracks, PETER)),),
            "keeps Priya's wish": (share(world, joints, "priya.raman", "writer"),),
            "labels the survey anew": (set_labels(world, cracks, owner_team="Legal"),),
        },
    )
    lukas = world.user("lukas.brandt")
    event = ScenarioEvent(world, MORNING - world.now).change(lukas, auth_token=None)
    given = [hand_over(world, plan, "lukas.brandt", admin=True), hand_over(world, joints, "marta.kowal", admin=True)]
    first = each(
        [
            named("Lintel estate"),
            inside(top),
            permissions_of(top),
            *[(labels_of(one), comments_on(one), permissions_of(one)) for one in (plan, joints, wind, cracks)],
            *given,
            unshare(top, world.permission(top, SYLVIE)),
            set_role(cracks, world.permission(cracks, PETER), "commenter"),
        ]
    )
    second = (
        permissions_of(plan),
        hand_over(world, plan, "priya.raman", admin=True),
        unshare(plan, world.permission(plan, "lukas.brandt")),
        unshare(plan, world.owner(plan)),
        unshare(joints, world.owner(joints)),
        reply(remarks[0], "Priya Raman carries on."),
        set_labels(world, plan, owner_team="Bridge engineers", review_due="2027-02-26"),
    )
    yield done(
        world,
        "heir-leaves-over-night",
        "nadia.rahimi",
        "Gregor Haas left, and Lintel estate is the folder to look at. Today only two of its files: the bearing"
        " inspection plan goes to the person whom Yusuf Demir agreed to under it, the joint catalogue to the one"
        " whom Yusuf named there. Calderrail gets out of the folder, because something in it is confidential, and"
        " Northgate's role on the crack survey comes down to the highest that our policy allows. Who owns the two now?",
        (
            "On the first day read the remarks, transfer two files (OWN-1), and correct two roles (SHR-2, SHR-3).",
            "On the second day the heir's account is gone: transfer the plan again (OWN-2).",
            "Then remove the roles of both leavers (OWN-3), answer the remark and set the labels.",
        ),
        two_days(first, second),
        "Priya Raman owns the bearing inspection plan, because Lukas Brandt is gone. Neither Lukas nor Gregor has a"
        " role on the plan or the catalogue, which Marta Kowal keeps.",
        [term("Priya"), GONE],
        day_answers=("Lukas Brandt owns the bearing inspection plan and Marta Kowal the joint catalogue.",),
        days=second_day(
            "One of the two new owners left us over night, see whose permission is marked. That file goes to Priya"
            " Raman; under the discussion on it write 'Priya Raman carries on.' Its owning team is 'Bridge engineers'"
            " and its review due on 26 February 2027. On both files no one who has left keeps a role, Gregor included."
        ),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={
            "takes the wind notes": (hand_over(world, wind, "tomasz.wilk", admin=True),),
            "takes Priya off the catalogue": (unshare(joints, world.permission(joints, "priya.raman")),),
        },
        negative_trajectories={
            "leaves the catalogue with Gregor": NegativeTrajectory(
                two_days(first, (*second[:4], *second[5:])),
                "Priya Raman owns the plan; Lukas has left.",
                None,
                ("Lukas Brandt and Marta Kowal own them.",),
            ),
        },
    )


def reviews_of_places(world: World) -> Iterator[Draft]:
    """A shared drive and a public folder that are brought in order, with a page on it."""
    bridges = world.drive("Bridges")
    register = world.file("Bridges:Project Lintel/Register")
    files = world.inside(register)
    costs = world.file("Bridges:Project Lintel/Register/Cost plan")
    address = "https://hooks.brannock.example/reviews"
    note = new_key(1)
    yield done(
        world,
        "quarterly-review-of-bridges",
        "yusuf.demir",
        "Quarterly review, shared drive Bridges. Members: those who have left go. So does a membership of one's own"
        " where the group gives the same role. Readers do not download. A folder 'Reviews' at the top, for Priya Raman"
        " and no one else a role of its own, commenter. The confidential file in Register (Lintel) is due for review"
        f" on 31 January 2027. All changes in the drive from now on to {address}, channel 'bridges-review'. Which"
        " memberships ended?",
        (
            "Read the members of the drive and the labels in the folder (LKP-1).",
            "End two memberships (OWN-3), restrict downloads, make the folder and share it (SHR-1).",
            "Label the one confidential file and open the channel with the newest token (ID-4).",
        ),
        each(
            [
                find_drive("Bridges"),
                permissions_of(bridges),
                named("Register"),
                inside(register),
                *map(labels_of, files),
                unshare(bridges, world.member(bridges, "gregor.haas")),
                unshare(bridges, world.member(bridges, "lukas.brandt")),
                call("update_drives", driveId=bridges.id, downloadRestrictedForReaders=True),
                make_folder("Reviews", bridges),
                share(world, note, "priya.raman", "commenter"),
                set_labels(world, costs, review_due="2027-01-31"),
                call("get_changes_start_page_token", driveId=bridges.id),
                call(
                    "watch_changes",
                    pageToken=world.newest_change(),
                    driveId=bridges.id,
                    id="bridges-review",
                    address=address,
                ),
            ]
        ),
        "The memberships of Gregor Haas and Lukas Brandt ended. Readers cannot download, the folder Reviews is there"
        " with Priya Raman as commenter, the cost plan is due on 31 January 2027, and the channel is open.",
        [term("Haas"), term("Lukas")],
        evidence=(costs,),
        mistakes={
            "ends Henrik's": (unshare(bridges, world.member(bridges, "henrik.dahl")),),
            "labels another file": (set_labels(world, files[0], review_due="2027-01-31"),),
        },
    )
    public = world.file("Handbook:Public")
    guide, pay = world.file("Handbook:Public/Visitor guide"), world.file("Handbook:Public/Pay bands")
    of_guide, of_pay = world.revisions(guide), world.revisions(pay)
    edition = new_key(1)
    yield done(
        world,
        "next-edition-of-the-guide",
        "kenji.mori",
        "Folder Public of the handbook, next edition. Copy the visitor guide to 'Visitor guide 2027' beside it, with"
        " the level that belongs on a copy. Miriam Adler writes in the copy. The old guide: its first state leaves the"
        " web and the newest is kept forever. Remark on it: 'Replaced by the edition of 2027.' If the pay bands in that"
        " folder are internal, nothing of them stays on the web, and their review is due on 1 December 2026. At the"
        " top of the drive a shortcut 'Guide' to the old one, until January. Report.",
        (
            "Read labels and revisions of both files (LKP-1).",
            "Copy the guide and label the copy (SHR-7); Miriam writes in the whole drive. Link the old one.",
            "Withdraw the old states, keep the head, comment, and label the internal file (ID-3).",
        ),
        (
            named("Public"),
            inside(public),
            find_drive("Handbook"),
            *map(labels_of, (guide, pay)),
            *map(revisions_of, (guide, pay)),
            copy(guide, "Visitor guide 2027", public),
            set_labels(world, edition, sensitivity="public"),
            change_revision(of_guide[0], published=False),
            change_revision(of_guide[2], keepForever=True),
            remark_on(guide, "Replaced by the edition of 2027."),
            change_revision(of_pay[0], published=False),
            set_labels(world, pay, review_due="2026-12-01"),
            make_shortcut("Guide", guide, world.drive("Handbook")),
        ),
        "Visitor guide 2027 is there, public, and Miriam Adler writes in it. The old guide's first state is off the"
        " web, its newest is kept, and it has a remark and a shortcut. Pay bands are internal and off the web.",
        ["guide", "pay", term("Adler")],
        # As writer of the shared drive she writes in the copy already.
        optional=(share(world, edition, "miriam.adler", "writer"),),
        evidence=(guide, pay),
        mistakes={
            "publishes the second": (change_revision(of_guide[1], published=True),),
            "renames the old one": (change_file(guide, name="Visitor guide 2026"),),
        },
    )


FAMILIES = (heirs_in_remarks, reviews_of_places)
