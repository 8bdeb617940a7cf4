"""Tasks over several days: retentions end, holds come and go, roles and rules change over night."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number, on_date, term, without
from opsgym_api.tasks.event import Event
from opsgym_domains.drive.forms import stamp
from opsgym_domains.drive.tables import AccessProposal, DriveMembership
from opsgym_suites.drive.calls import (
    accept,
    change_file,
    comments_on,
    delete,
    delete_revision,
    deny,
    each,
    find_drive,
    hand_over,
    in_trash,
    inside,
    labels_of,
    move,
    named,
    new_key,
    permissions_of,
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
from opsgym_suites.drive.core.foundation.changing import READERS_ONLY, hold
from opsgym_suites.drive.core.foundation.nights import MORNING, NIGHT, second_day, two_days
from opsgym_suites.drive.core.writing import HOLD, RETENTION, SECRET, done
from opsgym_suites.drive.seeds.foundation import ANTON, CARLA, RAVI, SABINE
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

STRICT: dict[str, Any] = {"access": Access.STRICT}


def _first_day(*patterns: str) -> Any:
    """A verifier of the first day's answer."""
    return (
        answer_says(
            "says_it_on_the_first_day", "The first answer says what is in the way [REF-1]", all_of(patterns), day=1
        ),
    )


def retention_ends(world: World) -> Iterator[Draft]:
    """What must be kept on the first day may be deleted on the second."""
    ballot, later, seats, notes = (
        world.file(f"@olivia.hartmann:Staff council/{name}")
        for name in ("Ballot 2023", "Ballot 2024", "Seating 2023", "Notes 2023")
    )
    look = each([in_trash(), *map(labels_of, (ballot, later, seats, notes))])
    yield done(
        world,
        "ballots-of-the-council",
        "olivia.hartmann",
        "Would you please delete the ballots of the staff council that lie in my trash, for good? If one of them must"
        " still be kept, tell me until when, and leave it where it is. Everything else in the trash is not your"
        " concern.",
        (
            "On the first day read the labels: both ballots are retained (RET-2, REF-1).",
            "On the second day delete the one whose retention is over, and the two files that are asked for then.",
        ),
        two_days(look, (labels_of(ballot), labels_of(later), delete(ballot), delete(seats))),
        "Ballot 2023 and the seating are deleted. Ballot 2024 was not: it is retained until 17 November 2027.",
        [
            "2023",
            "seating",
            without(r"\b2024\b[^.;,]*\b(?:is|are|was|were) (?:now )?(?:deleted|gone|removed)\b"),
        ],
        undone=["2024", RETENTION],
        day_answers=(
            "I deleted nothing: Ballot 2023 is retained until 17 November 2026, Ballot 2024 until 17 November 2027.",
        ),
        days=second_day(
            "Good morning. Those whose time has passed by now may go. The seating plan of 2023 as well, please.",
            later=True,
        ),
        verifiers=_first_day(RETENTION, on_date(at("2026-11-17").date())),
        evidence=(ballot, later),
        mistakes={"deletes the notes": (delete(notes),)},
        negative_trajectories={
            "deletes it at once": NegativeTrajectory(
                two_days((*look, delete(ballot)), (delete(ballot), delete(seats))),
                "Ballot 2023 and the seating are gone, ballot 2024 could not be deleted, retention.",
                "PRC-2",
                ("Ballot 2023 is deleted.",),
            ),
            "forgets the second day": NegativeTrajectory(
                two_days(look, ()), "Ballot 2024 and the seating are not deleted, retained; 2023 too."
            ),
        },
        **STRICT,
    )
    plan = world.file("@patrick.doyle:Plans/Cash plan")
    old = world.revisions(plan)
    yield done(
        world,
        "cash-plan-loses-its-past",
        "patrick.doyle",
        "cash plan: delete all revisions but the head. if it's too early for that, say from which day on it works and"
        " do nothing",
        (
            "On the first day the label says that the file is retained until 17 November (RET-2).",
            "After that day delete the three old revisions.",
        ),
        two_days(
            (named("Cash plan"), labels_of(plan), revisions_of(plan)),
            (
                labels_of(plan),
                revisions_of(plan),
                *map(delete_revision, old[:3]),
                change_file(plan, description="Q4 only"),
            ),
        ),
        "3 revisions of the cash plan are deleted, the head stays; it is described as Q4 only.",
        [number(3)],
        day_answers=(
            "Nothing is deleted: the cash plan is retained until 17 November 2026, so it works from 18 November on.",
        ),
        days=second_day("morning. now please. and describe the file as 'Q4 only'", later=True),
        verifiers=_first_day(RETENTION, rf"{on_date(at('2026-11-18').date())}|{on_date(at('2026-11-17').date())}"),
        evidence=(plan,),
        mistakes={"trashes the file": (to_trash(plan),)},
        negative_trajectories={
            "deletes on the first day": NegativeTrajectory(
                two_days((named("Cash plan"), revisions_of(plan), delete_revision(old[0])), ()),
                "3 revisions are deleted.",
                "PRC-2",
            )
        },
        **STRICT,
    )
    ledger = world.drive("Ledger")
    boxes = [world.file(f"Ledger:Boxes/Voucher box {year}.pdf") for year in (2015, 2016, 2017, 2018)]
    cover = world.file("Ledger:Boxes/Cover sheet")
    yield done(
        world,
        "voucher-boxes",
        "celine.moreau",
        "The trash of the shared drive Ledger holds scanned voucher boxes. Could you delete for good those whose"
        " retention is over? The cover sheet stays until the last box is gone. Please tell me which one is next, and"
        " when.",
        (
            "On the first day delete the two boxes whose retention is over (RET-2, RET-3).",
            "On the second day delete the next one; the last box and the cover sheet stay.",
        ),
        two_days(
            each(
                [
                    find_drive("Ledger"),
                    in_trash(ledger),
                    *map(labels_of, (*boxes, cover)),
                    delete(boxes[0]),
                    delete(boxes[1]),
                ]
            ),
            (in_trash(ledger), labels_of(boxes[2]), delete(boxes[2])),
        ),
        "Voucher box 2017 is deleted. Box 2018 was not: it is retained until 31 December 2028, so the cover sheet"
        " stays too.",
        ["2017"],
        undone=["2018|cover", RETENTION],
        day_answers=("Boxes 2015 and 2016 are deleted. The next one is box 2017, after 17 November 2026.",),
        days=second_day("Would you look again, please, and delete whatever is due by now?", later=True),
        verifiers=_first_day("2017", on_date(at("2026-11-17").date())),
        mistakes={"deletes the cover sheet": (delete(cover),)},
        negative_trajectories={
            "empties the trash": NegativeTrajectory(
                two_days((find_drive("Ledger"), in_trash(ledger), call("empty_files_trash", driveId=ledger.id)), ()),
                "Box 2017 is gone; 2018 cannot, retention.",
                "PRC-2",
            )
        },
        **STRICT,
    )
    strategy = world.file("@daniela.costa:Strategy/Strategy 2030")
    yield done(
        world,
        "strategy-gets-a-retention",
        "daniela.costa",
        "Please have Strategy 2030 retained until 31 December 2036, and tell me who may comment on it at present."
        " Tomorrow I shall know whether the trustees want more.",
        (
            "On the first day set the retention and read the roles (LKP-1).",
            "On the second day extend it, raise one role and remove another (SHR-6).",
            "On the second day answer the remark that asks for two pages (ID-4).",
        ),
        two_days(
            (
                named("Strategy 2030"),
                labels_of(strategy),
                permissions_of(strategy),
                set_labels(world, strategy, retention_until="2036-12-31"),
            ),
            (
                labels_of(strategy),
                permissions_of(strategy),
                set_labels(world, strategy, retention_until="2040-12-31", sensitivity="confidential"),
                set_role(strategy, world.permission(strategy, "margaret.ainsley"), "writer"),
                unshare(strategy, world.permission(strategy, "soledad.rivas")),
                comments_on(strategy),
                reply(world.comment(strategy, "Two pages"), "Two pages by Friday."),
            ),
        ),
        "Strategy 2030 is retained until 31 December 2040 and confidential. Margaret Ainsley writes in it, and"
        " Soledad Rivas has no role any more.",
        [on_date(at("2040-12-31").date()), term("Ainsley"), term("Rivas")],
        day_answers=("It is retained until 31 December 2036. Margaret Ainsley and Jerome Fabre may comment.",),
        days=second_day(
            "They do: 31 December 2040 instead. It becomes confidential, Margaret writes in it from now on, and those"
            " who are only readers lose the role."
            " Answer Margaret's remark with 'Two pages by Friday.'"
        ),
        verifiers=(
            answer_says(
                "names_the_commenters",
                "The first answer names who comments [REF-3]",
                all_of([term("Ainsley"), term("Fabre")]),
                day=1,
            ),
        ),
        mistakes={"removes Jerome": (unshare(strategy, world.permission(strategy, "jerome.fabre")),)},
        negative_trajectories={
            "leaves the first date": NegativeTrajectory(
                two_days(
                    (
                        named("Strategy 2030"),
                        permissions_of(strategy),
                        set_labels(world, strategy, retention_until="2036-12-31"),
                    ),
                    (
                        set_role(strategy, world.permission(strategy, "margaret.ainsley"), "writer"),
                        unshare(strategy, world.permission(strategy, "soledad.rivas")),
                    ),
                ),
                "Retained until 31 December 2040; Margaret Ainsley writes, Soledad Rivas is out.",
            )
        },
        **STRICT,
    )


def over_night(world: World) -> Iterator[Draft]:
    """Holds, roles, requests and rules that are others on the second day."""
    pledge = world.file("@celine.moreau:Donors/Hall/Pledge of Lindenbank")
    event = ScenarioEvent(world, MORNING - world.now).change(world.label_row(pledge, "legal_hold"), value_boolean=False)
    rename = change_file(pledge, name="Pledge of Lindenbank 2025")
    yield done(
        world,
        "pledge-after-the-hold",
        "celine.moreau",
        "Please rename the pledge of Lindenbank in my folder Hall to 'Pledge of Lindenbank 2025', and move it to my"
        " folder Garden afterwards. Should it be impossible today, tell me why, and I'll speak to Esther.",
        (
            "On the first day the file is under legal hold (RET-1, REF-1).",
            "On the second day the hold is lifted: rename and move the file.",
        ),
        two_days(
            (named("Pledge of Lindenbank"), labels_of(pledge), named("Garden")),
            (labels_of(pledge), rename, move(pledge, world.file("@celine.moreau:Donors/Garden"))),
        ),
        "The pledge is called Pledge of Lindenbank 2025 and is in Garden; the hold was lifted.",
        ["2025", "garden"],
        day_answers=("I could not rename it: the pledge is under legal hold.",),
        days=second_day("Esther says that she has seen to it. Would you try again?"),
        verifiers=_first_day(HOLD),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={"shares it": (share(world, pledge, "esther.okafor", "reader"),)},
        negative_trajectories={
            "tries at once and gives up": NegativeTrajectory(
                two_days((named("Pledge of Lindenbank"), labels_of(pledge), rename), ()),
                "It stays, in Garden 2025 perhaps.",
                "PRC-1",
            )
        },
        **STRICT,
    )
    winter = world.file("@noemi.toth:Winter")
    pictures, order, quotes = (
        world.file(f"@noemi.toth:Winter/{name}") for name in ("Picture list", "Print order", "Donor quotes")
    )
    event = ScenarioEvent(world, MORNING - world.now).add(hold(world, "@noemi.toth:Winter/Print order"))
    yield done(
        world,
        "print-order-is-held",
        "noemi.toth",
        "Winter is over for us! In my folder Winter, please put the picture list into the trash today, and take Emil"
        " off the print order. The rest tomorrow...",
        (
            "On the first day trash one file and remove one role (LKP-1).",
            "On the second day the print order is under legal hold: trash the other one only (PRC-1, REF-2).",
        ),
        two_days(
            (
                named("Winter"),
                inside(winter),
                labels_of(pictures),
                permissions_of(order),
                to_trash(pictures),
                unshare(order, world.permission(order, "emil.svensson")),
            ),
            (labels_of(order), labels_of(quotes), permissions_of(quotes), to_trash(quotes)),
        ),
        "The donor quotes are in the trash. The print order was not put there: it is under legal hold now.",
        ["quotes"],
        undone=[HOLD, "print"],
        day_answers=("The picture list is in the trash, and Emil Svensson has no role on the print order.",),
        days=second_day(
            "Now the print order and the donor quotes, into the trash with both! If one can't go, which one and why?"
        ),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={"restores the pictures": (change_file(pictures, trashed=False),)},
        negative_trajectories={
            "trashes both on the first day": NegativeTrajectory(
                two_days(
                    (
                        named("Winter"),
                        inside(winter),
                        permissions_of(order),
                        to_trash(pictures),
                        to_trash(order),
                        to_trash(quotes),
                    ),
                    (),
                ),
                "The quotes are in the trash, the print order not, legal hold.",
            ),
            "claims both": NegativeTrajectory(
                two_days(
                    (
                        named("Winter"),
                        inside(winter),
                        permissions_of(order),
                        to_trash(pictures),
                        unshare(order, world.permission(order, "emil.svensson")),
                    ),
                    (to_trash(order), to_trash(quotes)),
                ),
                "Both are in the trash, print order and quotes.",
                "PRC-1",
            ),
        },
        **STRICT,
    )
    well = world.file("@stefan.kruger:Pitches/Story of the well")
    event = ScenarioEvent(world, MORNING - world.now).change(world.permission(well, "leila.haddad"), role="reader")
    yield done(
        world,
        "leila-reads-tomorrow",
        "leila.haddad",
        "Could you describe Stefan's Story of the well as 'Read by the volunteers' in my name? I may write in it..."
        " today at least!",
        (
            "On the first day describe the file (LKP-1).",
            (
                "On the second day its capabilities say that the role is lower: star it, which a reader may, and"
                " report (ID-2)."
            ),
        ),
        two_days(
            (
                named("Story of the well"),
                call("get_files", fileId=well.id),
                change_file(well, description="Read by the volunteers"),
            ),
            (call("get_files", fileId=well.id), permissions_of(well), change_file(well, starred=True)),
        ),
        "The story has a star. It was not renamed: you are only a reader of it now, and renaming needs a writer.",
        ["star"],
        undone=[r"reader|role|permi|allowed", r"renam|name"],
        day_answers=("Story of the well is described as Read by the volunteers.",),
        days=second_day(
            "And now rename it to 'Story of a well', and put a star on it. First ask the file what I may still do,"
            " Stefan is changing roles. What I may not, leave and tell me."
        ),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={
            "copies it under the name": (call("copy_files", fileId=well.id, name="Story of a well", parents=["root"]),)
        },
        negative_trajectories={
            "renames it a day early": NegativeTrajectory(
                two_days(
                    (
                        named("Story of the well"),
                        change_file(well, description="Read by the volunteers", name="Story of a well"),
                    ),
                    (change_file(well, starred=True),),
                ),
                "It has a star, and its name could not be changed by a reader.",
            )
        },
        **STRICT,
    )
    permit, partner = (
        world.file(f"Programmes:Escolaviva/{name}")
        for name in ("For the partner/Building permit.pdf", "For the partner")
    )
    internal, kitchen = (
        world.file("Programmes:Escolaviva/Internal"),
        world.file("Programmes:Escolaviva/Internal/Kitchen rota"),
    )
    programmes = world.drive("Programmes")
    row = DriveMembership(
        drive_id=programmes.id,
        type="user",
        user_id=world.user("arjun.patel").id,
        role="fileOrganizer",
        created_time=world.now,
    )
    event = ScenarioEvent(world, MORNING - world.now).add(row)
    yield done(
        world,
        "arjun-may-move-tomorrow",
        "arjun.patel",
        "move the building permit (escolaviva, for the partner) to internal in my name, and the kitchen rota to the"
        " trash. not allowed to? then ask the file what i'm missing and tell me, i'll ask soledad",
        (
            "On the first day the role is too low to move and to trash: report it (ID-2, REF-1).",
            "On the second day the role is there: move one file and trash the other.",
        ),
        two_days(
            (
                named("Building permit"),
                named("Kitchen rota"),
                call("get_files", fileId=permit.id),
                call("get_files", fileId=kitchen.id),
                find_drive("Programmes"),
                permissions_of(programmes),
            ),
            (
                call("get_files", fileId=permit.id),
                labels_of(permit),
                labels_of(kitchen),
                named("Internal"),
                move(permit, internal),
                to_trash(kitchen),
            ),
        ),
        "The building permit is in Internal and the kitchen rota in the trash.",
        ["permit", "kitchen"],
        day_answers=(
            "I moved nothing: you are a writer in Programmes, and moving and trashing need the role fileOrganizer.",
        ),
        days=second_day("soledad says it's done. again please"),
        verifiers=_first_day(r"writer|fileOrganizer|role|organizer"),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={"trashes the permit too": (to_trash(permit),)},
        negative_trajectories={
            "tries at once": NegativeTrajectory(
                two_days((named("Building permit"), named("Kitchen rota"), move(permit, internal)), ()),
                "The permit and the kitchen rota are where you want them.",
            ),
            "does not try again": NegativeTrajectory(
                two_days((named("Building permit"), call("get_files", fileId=permit.id)), ()),
                "The permit and the kitchen rota stay.",
            ),
        },
        **STRICT,
    )
    river, agreement, boat = (
        world.file(f"Programmes:Riverschool/Shared{name}") for name in ("", "/Agreement 2026.pdf", "/Boat timetable")
    )
    timetable = world.file("Programmes:Escolaviva/For the partner/Timetable")
    event = ScenarioEvent(world, MORNING - world.now)
    yield done(
        world,
        "commenters-outside-become-readers",
        "soledad.rivas",
        "Please raise Sabine Koch's role on the agreement with Riverschool (in Shared) to commenter. And list for me"
        " who outside has which role in Shared and in For the partner of Escolaviva, folders and files: I am to"
        " report on it tomorrow.",
        (
            "On the first day raise the role and read all roles (LKP-1, SHR-3).",
            (
                "On the second day the rule allows readers only: lower every commenter outside in both folders"
                " (SHR-3, SHR-5)."
            ),
        ),
        two_days(
            each(
                [
                    named("Shared"),
                    inside(river),
                    named("For the partner"),
                    inside(partner),
                    named("Agreement 2026"),
                    *map(permissions_of, (river, agreement, boat, partner, timetable, permit)),
                    set_role(agreement, world.permission(agreement, SABINE), "commenter"),
                ]
            ),
            each(
                [
                    *map(permissions_of, (river, agreement, boat, partner, timetable, permit)),
                    set_role(agreement, world.permission(agreement, SABINE), "reader"),
                    set_role(partner, world.permission(partner, CARLA), "reader"),
                ]
            ),
        ),
        "Two roles were too high by the new rule and are reader now: Sabine Koch on the agreement, and Carla Moniz on"
        " For the partner.",
        [term("Koch"), term("Moniz")],
        day_answers=(
            (
                "Sabine Koch comments on the agreement. Ravi Nair reads Shared and the building permit; Carla Moniz"
                " comments in For the partner and has the role reader on the timetable."
            ),
        ),
        days=second_day(
            "Good morning. The rules were tightened over night. Would you bring the roles of people outside in both"
            " places into line with them, please, and tell me whose those were?"
        ),
        verifiers=(
            answer_says(
                "names_the_outsiders",
                "The first answer names the people outside [REF-3]",
                all_of([term("Nair"), term("Moniz"), term("Koch")]),
                day=1,
            ),
        ),
        event=event,
        events=(Event(at=NIGHT.isoformat(), amend=READERS_ONLY),),
        mistakes={"removes Ravi": (unshare(permit, world.permission(permit, RAVI)),)},
        negative_trajectories={
            "lowers only the last one": NegativeTrajectory(
                two_days(
                    (
                        named("Shared"),
                        named("For the partner"),
                        inside(river),
                        inside(partner),
                        permissions_of(agreement),
                    ),
                    (),
                ),
                "Sabine Koch stays a reader, Carla Moniz does too.",
            )
        },
        **STRICT,
    )


def people_come_and_go(world: World) -> Iterator[Draft]:
    """Requests that arrive over night, and colleagues who are gone in the morning."""
    guide, scores = world.file("Grants:Handbook/Reader guide"), world.file("Grants:Handbook/Scores 2026")
    leila, arjun = request_of(world, guide, "leila.haddad"), request_of(world, guide, "arjun.patel")
    patrick = request_of(world, scores, "patrick.doyle")
    sabine = request_of(world, scores, SABINE)
    event = ScenarioEvent(world, MORNING - world.now)
    night = stamp(NIGHT)
    for who, roles, message in (
        (CARLA, '["reader"]', "For our own readers, please."),
        (world.address("birgit.lund"), '["writer"]', "I translate page 4, so I need to write."),
    ):
        event.add(
            AccessProposal(
                file_id=guide.id,
                requester_email=who,
                recipient_email=world.address("amina.diallo"),
                proposed_roles=roles,
                request_message=message,
                status="pending",
                created_at=night,
            )
        )
    carla, birgit = (request_of(event.after, guide, who) for who in (CARLA, "birgit.lund"))
    yield done(
        world,
        "requests-that-come-over-night",
        "amina.diallo",
        "Reader guide in Handbook. Decide its two requests, by what the messages need. Nothing on the scores. More"
        " may come.",
        (
            "On the first day decide the two requests for the guide (REQ-1).",
            (
                "On the second day decide the new ones and those for the scores; the drive is for our domain only"
                " (REQ-2, PRC-5)."
            ),
        ),
        two_days(
            (
                named("Reader guide"),
                labels_of(guide),
                requests_for(guide),
                accept(leila, "reader"),
                accept(arjun, "commenter"),
            ),
            (
                requests_for(guide),
                named("Scores 2026"),
                labels_of(scores),
                requests_for(scores),
                find_drive("Grants"),
                deny(carla),
                accept(birgit, "writer"),
                deny(sabine),
                accept(patrick, "reader"),
            ),
        ),
        "Birgit Lund writes in the guide and Patrick Doyle reads the scores. Carla Moniz was denied because Grants is"
        " for our domain only, Sabine Koch because the scores are confidential.",
        [term("Lund"), term("Moniz"), term("Koch")],
        day_answers=("Leila Haddad reads the guide, Arjun Patel comments.",),
        days=second_day(
            "Again. What came over night, and now the scores too. Outsiders cannot get into Grants, the drive is"
            " restricted. Deny those."
        ),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={"raises Arjun": (share(world, guide, "arjun.patel", "writer"),)},
        negative_trajectories={
            "decides only the old ones": NegativeTrajectory(
                two_days(
                    (named("Reader guide"), requests_for(guide), accept(leila, "reader"), accept(arjun, "commenter")),
                    (named("Scores 2026"), requests_for(scores), deny(sabine), accept(patrick, "reader")),
                ),
                "Lund, Moniz and Koch are decided.",
            ),
            "lets Carla in": NegativeTrajectory(
                two_days(
                    (named("Reader guide"), requests_for(guide), accept(leila, "reader"), accept(arjun, "commenter")),
                    (requests_for(guide), accept(carla, "reader")),
                ),
                "Lund, Moniz and Koch have access.",
                "PRC-5",
            ),
        },
        **STRICT,
    )
    top, outline, evaluation = (world.file(f"@lucia.marin:Workshops{name}") for name in ("", "/Outline", "/Evaluation"))
    dmitri = world.user("dmitri.orlov")
    of_dmitri = world.permission(top, "dmitri.orlov")
    event = ScenarioEvent(world, MORNING - world.now).change(dmitri, auth_token=None)
    yield done(
        world,
        "dmitri-left-over-night",
        "lucia.marin",
        "Dmitri helps me with the workshops! He becomes commenter on the evaluation... no, writer, and Emil may"
        " comment on the outline instead of reading it. My folder Workshops, you know",
        (
            "On the first day change both roles (LKP-1, SHR-6).",
            (
                "On the second day remove the roles of Dmitri, whose permission is marked as deleted, and hand the"
                " file over (OWN-3)."
            ),
            "On the second day label the team of the evaluation (ID-4).",
        ),
        two_days(
            (
                named("Workshops"),
                inside(top),
                permissions_of(outline),
                permissions_of(evaluation),
                share(world, evaluation, "dmitri.orlov", "writer"),
                set_role(outline, world.permission(outline, "emil.svensson"), "commenter"),
            ),
            (
                permissions_of(top),
                permissions_of(evaluation),
                permissions_of(outline),
                unshare(top, of_dmitri),
                call("delete_permission", fileId=evaluation.id, permissionId=new_key(1)),
                hand_over(world, evaluation, "florian.weiss"),
                labels_of(evaluation),
                set_labels(world, evaluation, owner_team="Grants"),
            ),
        ),
        "Dmitri Orlov has no role on Workshops and the evaluation any more. Florian Weiss owns the evaluation.",
        [term("Dmitri"), term("Weiss")],
        day_answers=("Dmitri Orlov writes in the evaluation, Emil Svensson comments on the outline.",),
        days=second_day(
            "Dmitri has left, just like that... Take all his roles in Workshops and its files away, and Florian Weiss"
            " becomes the owner of the evaluation"
            ". Its owning team is 'Grants' then, it has none"
        ),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={"removes Emil": (unshare(outline, world.permission(outline, "emil.svensson")),)},
        negative_trajectories={
            "forgets the file": NegativeTrajectory(
                two_days(
                    (
                        named("Workshops"),
                        inside(top),
                        permissions_of(outline),
                        permissions_of(evaluation),
                        share(world, evaluation, "dmitri.orlov", "writer"),
                        set_role(outline, world.permission(outline, "emil.svensson"), "commenter"),
                    ),
                    (permissions_of(top), unshare(top, of_dmitri), hand_over(world, evaluation, "florian.weiss")),
                ),
                "Dmitri has no role any more, Florian Weiss is the owner.",
            )
        },
        **STRICT,
    )
    summary, contact, fees = (
        world.file(f"@dmitri.orlov:Bank/{name}") for name in ("Statement summary", "Contact sheet", "Fee comparison")
    )
    bank = world.file("@dmitri.orlov:Bank")
    event = ScenarioEvent(world, MORNING - world.now).change(
        world.label_row(summary, "sensitivity"), value_enum="internal"
    )
    yield done(
        world,
        "summary-for-the-bank",
        "dmitri.orlov",
        "Statement summary in Bank. Anton Berger reads it. Not allowed today, I think. Then say so. Celine decides on"
        " its level tonight.",
        (
            "On the first day the file is confidential (SHR-2, REF-1).",
            "On the second day it is internal: share it, and do what is asked about the others (SHR-1).",
        ),
        two_days(
            (named("Statement summary"), labels_of(summary), permissions_of(summary)),
            (
                labels_of(summary),
                inside(bank),
                permissions_of(contact),
                permissions_of(fees),
                share(world, summary, ANTON, "reader"),
                unshare(contact, world.permission(contact, ANTON)),
            ),
        ),
        "Anton Berger reads the statement summary, which is internal now, and has no role on the contact sheet any"
        " more.",
        [term("Berger"), "contact"],
        day_answers=("I did not share it: the statement summary is confidential.",),
        days=second_day("Again. If its level allows it now. And Anton leaves the contact sheet. The fees stay."),
        verifiers=_first_day(SECRET),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={"raises the fees": (set_role(fees, world.permission(fees, ANTON), "commenter"),)},
        negative_trajectories={
            "shares at once": NegativeTrajectory(
                two_days((named("Statement summary"), share(world, summary, ANTON, "reader")), ()),
                "Anton Berger reads it; contact too.",
                "PRC-3",
            )
        },
        **STRICT,
    )
    desk = world.file("Press room:Live/Landing page")
    states = world.revisions(desk)
    yield done(
        world,
        "landing-page-goes-live",
        "stefan.kruger",
        "Landing page, folder Live. Publish the head. Keep the first forever. What are the others. Tomorrow more.",
        (
            "On the first day publish the head and keep the first revision (LKP-1).",
            "On the second day publish the one before, withdraw the head, and delete nothing.",
        ),
        two_days(
            (
                named("Landing page"),
                labels_of(desk),
                revisions_of(desk),
                call("update_revisions", fileId=desk.id, revisionId=states[2].id, published=True),
                call("update_revisions", fileId=desk.id, revisionId=states[0].id, keepForever=True),
            ),
            (
                revisions_of(desk),
                call("get_revisions", fileId=desk.id, revisionId=states[1].id),
                call("update_revisions", fileId=desk.id, revisionId=states[2].id, published=False),
                call("update_revisions", fileId=desk.id, revisionId=states[1].id, published=True, keepForever=True),
            ),
        ),
        "The second revision is published and kept, and the head is withdrawn.",
        [r"second|two|2", r"withdrawn|unpublish\w*|not published|no longer|off"],
        day_answers=("The head is published and the first revision is kept. There is one more between them.",),
        days=second_day("Noemi hates it. Head off the web. The second one instead, kept forever too."),
        mistakes={
            "publishes the first": (call("update_revisions", fileId=desk.id, revisionId=states[0].id, published=True),)
        },
        negative_trajectories={
            "leaves the head": NegativeTrajectory(
                two_days(
                    (
                        named("Landing page"),
                        revisions_of(desk),
                        call("update_revisions", fileId=desk.id, revisionId=states[2].id, published=True),
                        call("update_revisions", fileId=desk.id, revisionId=states[0].id, keepForever=True),
                    ),
                    (
                        call(
                            "update_revisions",
                            fileId=desk.id,
                            revisionId=states[1].id,
                            published=True,
                            keepForever=True,
                        ),
                    ),
                ),
                "The second is published, the head withdrawn.",
            )
        },
        **STRICT,
    )


FAMILIES = (retention_ends, over_night, people_come_and_go)
