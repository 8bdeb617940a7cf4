"""Tasks about one folder of a claim, in which holds, remarks, requests and roles outside decide together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.tables import File
from opsgym_suites.drive.calls import (
    accept,
    change_file,
    change_revision,
    comments_on,
    delete_revision,
    deny,
    each,
    inside,
    labels_of,
    make_folder,
    make_shortcut,
    move,
    named,
    new_key,
    permissions_of,
    remark_on,
    reply,
    requests_for,
    revisions_of,
    set_labels,
    set_role,
    share,
    to_trash,
    unshare,
)
from opsgym_suites.drive.core.asking import request_of
from opsgym_suites.drive.core.foundation.changing import hold
from opsgym_suites.drive.core.foundation.nights import MORNING, NIGHT, second_day, two_days
from opsgym_suites.drive.core.writing import HOLD, SECRET, done
from opsgym_suites.drive.seeds.consultancy import JUN, MONA, PETER
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says

STRICT: dict[str, Any] = {"access": Access.STRICT}
CLAIM = "Tunnels:Project Bourdon/Settlement claim"


def _files(world: World) -> tuple[File, File, File, File, File]:
    """Readings, opinion, letters, pump log and photos of the claim."""
    readings, opinion, letters, pumps, photos = (
        world.file(f"{CLAIM}/{name}")
        for name in (
            "Settlement readings.csv",
            "Expert opinion",
            "Neighbour letters.pdf",
            "Pump log",
            "Photo sheet.png",
        )
    )
    return readings, opinion, letters, pumps, photos


def _look(world: World, *more: ToolCall) -> tuple[ToolCall, ...]:
    """Finds the folder and reads the labels of what it holds."""
    return each([named("Settlement claim"), inside(world.file(CLAIM)), *map(labels_of, _files(world)), *more])


def what_legal_is_asked(world: World) -> Iterator[Draft]:
    """Remarks that ask Legal for something, and roles and requests that hang on levels and holds."""
    readings, opinion, letters, pumps, photos = _files(world)
    signed, first = world.revisions(readings)[2], world.revisions(readings)[0]
    hold_it, typo = world.comment(readings, "neighbour sues"), world.comment(readings, "typo")
    lift_it, mona_left = world.comment(opinion, "withdrawn"), world.comment(letters, "Mona Abbas")
    may_go = world.comment(pumps, "can this go")
    yield done(
        world,
        "legal-answers-the-claim",
        "ingrid.solberg",
        "Would you work through the remarks that call on Legal in the folder Settlement claim (Bourdon)? What Henrik"
        " Dahl wants there is agreed: do it, and answer each of those remarks with 'Done by Legal.' What others want"
        " waits, so nothing is done about it; answer these with 'After the hearing.' People outside must not have a"
        " role on any file that is under legal hold when you have finished. Which files are those, and whose roles"
        " went?",
        (
            "Read the remarks, labels, roles and revisions of the files (LKP-1).",
            "Hold the readings, keep the revision that Henrik made, end the hold on the opinion (RET-4).",
            "Remove the outsider's role on what is held in the end, and answer every remark (ID-4).",
        ),
        each(
            [
                _look(world, *map(comments_on, (readings, opinion, letters, pumps, photos))),
                *map(permissions_of, (readings, opinion)),
                revisions_of(readings),
                set_labels(world, readings, legal_hold="true"),
                change_revision(signed, keepForever=True),
                set_labels(world, opinion, legal_hold="false"),
                unshare(readings, world.permission(readings, JUN)),
                *[reply(one, "Done by Legal.") for one in (hold_it, lift_it)],
                *[reply(one, "After the hearing.") for one in (typo, mona_left, may_go)],
            ]
        ),
        "Settlement readings is under legal hold now, and the revision that Henrik Dahl signed is kept. The hold on"
        " the expert opinion has ended. Jun Ito lost the role on the readings. The other three remarks wait.",
        ["readings", term("Ito")],
        mistakes={
            "takes Mona off": (unshare(letters, world.permission(letters, MONA)),),
            "keeps the first state": (change_revision(first, keepForever=True),),
            "trashes the pump log": (to_trash(pumps),),
            "answers Zofia with another remark": (reply(typo, "Done by Legal."),),
        },
        evidence=(readings, opinion),
    )
    viktor, mona = request_of(world, opinion, "viktor.novak"), request_of(world, opinion, MONA)
    jun, kenji = request_of(world, letters, JUN), request_of(world, pumps, "kenji.mori")
    yield done(
        world,
        "roles-and-requests-of-the-claim",
        "henrik.dahl",
        "folder settlement claim, project bourdon. the neighbour letters have no level, they get confidential. after"
        " that decide the open requests in the folder: what the message needs, by our rules. and no one outside may"
        " have more on any file there than our policy allows for that file, so lower what's too high, take away what"
        " isn't allowed at all, leave what's fine. tell me who was denied",
        (
            "Read labels, roles and requests of all files in the folder (LKP-1).",
            "Label the letters first, which decides a request and a role (SHR-2, REQ-2).",
            "Decide the four requests (REQ-1), lower one role, and remove a role and a link (SHR-3).",
        ),
        each(
            [
                _look(world, *map(permissions_of, _files(world)), *map(requests_for, _files(world))),
                set_labels(world, letters, sensitivity="confidential"),
                accept(viktor, "reader"),
                deny(mona),
                deny(jun),
                accept(kenji, "writer"),
                unshare(letters, world.permission(letters, MONA)),
                set_role(pumps, world.permission(pumps, PETER), "commenter"),
                unshare(photos, world.permission(photos, "anyone")),
            ]
        ),
        "The neighbour letters are confidential. Viktor Novak reads the opinion, Kenji Mori writes in the pump log."
        " Mona Abbas and Jun Ito were denied, because both files are confidential. Mona lost the role on the letters,"
        " Peter Lowell comments on the pump log now, and the photo sheet has no link any more.",
        [term("Abbas"), term("Ito"), SECRET],
        evidence=(opinion, letters),
        also={
            "removes the role first": each(
                [
                    _look(world, *map(requests_for, _files(world)), *map(permissions_of, _files(world))),
                    unshare(photos, world.permission(photos, "anyone")),
                    set_role(pumps, world.permission(pumps, PETER), "commenter"),
                    unshare(letters, world.permission(letters, MONA)),
                    set_labels(world, letters, sensitivity="confidential"),
                    deny(jun),
                    deny(mona),
                    accept(kenji, "writer"),
                    accept(viktor, "reader"),
                ]
            )
        },
        mistakes={
            "closes the readings to Jun": (unshare(readings, world.permission(readings, JUN)),),
            "gives Viktor more": (share(world, opinion, "viktor.novak", "writer"),),
            "labels the photos": (set_labels(world, photos, sensitivity="internal"),),
        },
    )


def what_moves_and_what_stays(world: World) -> Iterator[Draft]:
    """The same folder when it is closed, when a hold comes, and when one ends."""
    readings, opinion, letters, pumps, photos = _files(world)
    bourdon = world.file("Tunnels:Project Bourdon")
    settled = new_key(1)
    yield done(
        world,
        "claim-is-filed",
        "chiara.conti",
        "Per favore: a folder 'Settled' in Project Bourdon, and whatever may leave Settlement claim moves into it. For"
        " a file that has to stay, put a shortcut with the file's own name into Settled, write the remark 'Stays until"
        " Legal lifts the hold.' on the file, and set its review to 1 March 2027. In Settled no one outside should"
        " find a file by a link that searches see, so such a link goes... What stayed?",
        (
            "Read the labels and roles of everything in the folder (LKP-1, RET-1).",
            "Make the folder and move the four files without hold; link, label and comment on the held one.",
            "Remove the link that searches find (SHR-3), and report what stayed (REF-2).",
        ),
        each(
            [
                _look(world, *map(permissions_of, _files(world)), named("Project Bourdon"), inside(bourdon)),
                make_folder("Settled", bourdon),
                *[move(one, settled) for one in (readings, letters, pumps, photos)],
                make_shortcut("Expert opinion", opinion, settled),
                set_labels(world, opinion, review_due="2027-03-01"),
                remark_on(opinion, "Stays until Legal lifts the hold."),
                unshare(photos, world.permission(photos, "anyone")),
            ]
        ),
        "Four files are in Settled, and the photo sheet has no link any more. The expert opinion was not moved: it is"
        " under legal hold. It has a shortcut, a remark and a review on 1 March 2027.",
        ["opinion", "settled"],
        undone=[HOLD, "opinion"],
        evidence=(opinion,),
        mistakes={
            "moves the opinion": (move(opinion, settled),),
            "moves the folder": (move(world.file(CLAIM), settled),),
            "links the letters too": (make_shortcut("Neighbour letters.pdf", letters, settled),),
        },
    )
    event = ScenarioEvent(world).add(hold(world, f"{CLAIM}/Settlement readings.csv"))
    first, second, _signed, head = world.revisions(readings)
    rename, rename_log = (
        change_file(readings, name="Bourdon - Settlement readings.csv"),
        change_file(pumps, name="Bourdon - Pump log"),
    )
    opening = _look(world, *map(revisions_of, (readings, pumps)))
    yield done(
        world,
        "readings-are-held-meanwhile",
        "henrik.dahl",
        "Settlement claim. The readings and the pump log get 'Bourdon - ' before their names, and the review of both"
        " is due on 15 January 2027. The readings lose all states but the newest and the one I signed; the newest one"
        " of each of the two is kept forever. Legal may step in while you work. Then do with the file what still goes,"
        " put the remark 'Name and states stay for now.' on it, and tell me.",
        (
            "Read the labels and revisions of both files (LKP-1).",
            "Rename, label and keep as asked; the server refuses to rename the readings, which are held since (PRC-1).",
            "Delete none of their revisions, comment on the file, and report (RET-1, REF-2).",
        ),
        (
            *opening,
            rename_log,
            rename,
            labels_of(readings),
            *[set_labels(world, one, review_due="2027-01-15") for one in (pumps, readings)],
            change_revision(head, keepForever=True),
            change_revision(world.revisions(pumps)[-1], keepForever=True),
            remark_on(readings, "Name and states stay for now."),
        ),
        "The pump log is renamed, both reviews are due on 15 January 2027, and both newest states are kept. The"
        " readings were not renamed and lost no state: they are under legal hold now.",
        ["pump"],
        undone=[HOLD, "readings"],
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        refused={len(opening) + 1: "PRC-1"},
        mistakes={
            "comments on the other file": (remark_on(pumps, "Name and states stay for now."),),
            "keeps the first state": (change_revision(first, keepForever=True),),
        },
        negative_trajectories={
            "deletes states and claims success": NegativeTrajectory(
                (*opening, rename_log, delete_revision(first), delete_revision(second)),
                "Pump log and readings are renamed; only two states of the readings are left.",
                "PRC-1",
            ),
            "ends the hold": NegativeTrajectory(
                (*opening, rename_log, set_labels(world, readings, legal_hold="false"), rename),
                "The readings were under hold and are not any more; both have new names, pump log too.",
                "PRC-9",
            ),
        },
        **STRICT,
    )
    remark = world.comment(opinion, "withdrawn")
    viktor, mona = request_of(world, opinion, "viktor.novak"), request_of(world, opinion, MONA)
    event = ScenarioEvent(world, MORNING - world.now).change(
        world.label_row(opinion, "legal_hold"), value_boolean=False
    )
    title = change_file(opinion, name="Expert opinion (withdrawn)")
    today = _look(world, comments_on(opinion), permissions_of(opinion), requests_for(opinion))
    yield done(
        world,
        "opinion-after-the-hold",
        "henrik.dahl",
        "Settlement claim, Bourdon. Rename the expert opinion to 'Expert opinion (withdrawn)'. If a hold is in the way,"
        " write 'Ingrid, please decide today.' under my remark there instead. The pump log goes into the trash if its"
        " retention is over and nothing else is against it. Report.",
        (
            "On the first day the opinion is under hold: answer the remark and trash the pump log (RET-1, RET-2).",
            "On the second day the hold is lifted: rename the file and lower its level as organizer (PRC-10).",
            "Then decide both requests by the new level, and remove Zofia's role (REQ-1, SHR-3).",
        ),
        two_days(
            (*today, reply(remark, "Ingrid, please decide today."), to_trash(pumps)),
            (
                labels_of(opinion),
                title,
                set_labels(world, opinion, sensitivity="internal"),
                requests_for(opinion),
                accept(viktor, "reader"),
                accept(mona, "commenter"),
                permissions_of(opinion),
                unshare(opinion, world.permission(opinion, "zofia.baran")),
            ),
        ),
        "Expert opinion (withdrawn) has its new name and is internal. Viktor Novak reads it, Mona Abbas comments on"
        " it, and Zofia Baran has no role on it any more.",
        [term("Viktor"), term("Abbas"), term("Zofia")],
        day_answers=("The expert opinion was not renamed: it is under legal hold. The pump log is in the trash.",),
        days=second_day(
            "Ingrid has decided. If it is free now: rename it, level internal, and only then decide the two requests"
            " for it, each as the message needs it. Zofia Baran's role on it goes."
        ),
        verifiers=(
            answer_says(
                "says_it_on_the_first_day",
                "The first answer says what is in the way [REF-1]",
                all_of([HOLD, "opinion"]),
                day=1,
            ),
        ),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={
            "gives Viktor comments": (share(world, opinion, "viktor.novak", "commenter"),),
            "restores the log": (change_file(pumps, trashed=False),),
        },
        negative_trajectories={
            "tries at once and denies Mona": NegativeTrajectory(
                two_days(
                    (*today, title, to_trash(pumps)),
                    (accept(viktor, "reader"), deny(mona), unshare(opinion, world.permission(opinion, "zofia.baran"))),
                ),
                "Viktor reads it, Mona Abbas was denied, Zofia is out.",
                "PRC-1",
                ("The opinion is under hold.",),
            ),
        },
        **STRICT,
    )


FAMILIES = (what_legal_is_asked, what_moves_and_what_stays)
