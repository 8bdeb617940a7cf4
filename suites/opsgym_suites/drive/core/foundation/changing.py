"""Tasks in which roles, holds, requests and rules change between two steps of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.event import Amendment, Event
from opsgym_domains.drive.tables import FileLabel
from opsgym_suites.drive.calls import (
    accept,
    change_file,
    each,
    find_drive,
    hand_over,
    inside,
    labels_of,
    move,
    named,
    permissions_of,
    requests_for,
    share,
    to_trash,
    unshare,
)
from opsgym_suites.drive.core.asking import request_of
from opsgym_suites.drive.core.writing import GONE, HOLD, done
from opsgym_suites.drive.seeds.foundation import CARLA, SABINE
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent

STRICT: dict[str, Any] = {"access": Access.STRICT}
READERS_ONLY = Amendment(
    rule="SHR-3",
    text=(
        "Other files may be shared outside with at most the role `reader`. A link for everybody is never found by"
        " searches."
    ),
)
"""The rule on roles outside, as it reads once the trustees have tightened it."""


def hold(world: World, path: str) -> FileLabel:
    """A new legal hold on a file."""
    label = world.label("legal_hold")
    return FileLabel(file_id=world.file(path).id, label_id=label.id, value_boolean=True, created_time=world.now)


def while_the_agent_works(world: World) -> Iterator[Draft]:
    """What was right at the first look is not right any more at the next call."""
    place = "Programmes:Escolaviva/For the partner"
    partner, timetable, permit = (
        world.file(path) for path in (place, f"{place}/Timetable", f"{place}/Building permit.pdf")
    )
    event = ScenarioEvent(world).add(hold(world, f"{place}/Building permit.pdf"))
    renames = [change_file(one, name=f"2026 {one.name}") for one in (timetable, permit)]
    yield done(
        world,
        "permit-is-held-meanwhile",
        "kofi.mensah",
        "Both files in For the partner (Escolaviva) get '2026 ' before their names! Legal is looking at the building"
        " case this morning, so it may be that one of them has to stay as it is: then do the other and tell me.",
        (
            "Find both files and read their labels (LKP-1).",
            "Rename the one without hold; the server refuses the other, which is held since (PRC-1, REF-2).",
        ),
        (
            named("For the partner"),
            inside(partner),
            labels_of(timetable),
            permissions_of(partner),
            *renames,
            labels_of(permit),
        ),
        "The timetable is renamed. The building permit was not: it is under legal hold since this morning.",
        ["timetable"],
        undone=[HOLD, "permit"],
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        refused={5: "PRC-1"},
        mistakes={"moves the timetable": (move(timetable, world.file("Programmes:Escolaviva/Internal")),)},
        negative_trajectories={
            "claims both": NegativeTrajectory(
                (named("For the partner"), inside(partner), *renames),
                "Both have their new names, timetable and permit.",
                "PRC-1",
            )
        },
        **STRICT,
    )
    guide = world.file("Grants:Handbook/Reader guide")
    leila, arjun = request_of(world, guide, "leila.haddad"), request_of(world, guide, "arjun.patel")
    event = ScenarioEvent(world).change(arjun, status="denied", resolved_by_email=world.address("lucia.marin"))
    yield done(
        world,
        "request-is-decided-meanwhile",
        "amina.diallo",
        "Reader guide in Handbook, two requests. Leila: what the message needs. Arjun: comments. Lucia decides"
        " requests too this morning. So look at the requests right before you decide. What Lucia has decided stays."
        " Report it.",
        (
            "Find the file, then read the requests right before deciding (LKP-1).",
            "Accept the open one; the other was decided by Lucia meanwhile (REQ-3).",
        ),
        (
            named("Reader guide"),
            labels_of(guide),
            permissions_of(guide),
            requests_for(guide),
            accept(leila, "reader"),
            requests_for(guide),
        ),
        "Leila Haddad reads the reader guide. Arjun Patel's request was not decided by me: Lucia Marin denied it"
        " before.",
        [term("Leila")],
        undone=[term("Arjun"), r"den|decid|resolv"],
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        mistakes={"shares it anyway": (share(world, guide, "arjun.patel", "commenter"),)},
        negative_trajectories={
            "decides from an old list": NegativeTrajectory(
                (
                    named("Reader guide"),
                    requests_for(guide),
                    accept(leila, "reader"),
                    share(world, guide, "arjun.patel", "commenter"),
                ),
                "Leila reads, Arjun comments.",
            )
        },
        **STRICT,
    )
    boat = world.file("Programmes:Riverschool/Shared/Boat timetable")
    yield done(
        world,
        "rule-is-tightened-meanwhile",
        "soledad.rivas",
        "Sabine Koch and Carla Moniz need the boat timetable of Riverschool. Please give each of them, on that file"
        " only, the highest role that our policy allows people outside at the moment you do it. Which one is it?",
        ("Find the file and read its roles (LKP-1).", "The rule changes meanwhile: share with both as reader (SHR-3)."),
        (
            named("Boat timetable"),
            labels_of(boat),
            permissions_of(boat),
            share(world, boat, SABINE, "reader"),
            share(world, boat, CARLA, "reader"),
            permissions_of(boat),
        ),
        "Sabine Koch and Carla Moniz are readers of the boat timetable: that is the highest role outside since the"
        " rule was tightened.",
        [term("Koch"), term("Moniz"), r"\breader"],
        events=(Event(after_step=FIRST_LOOK, amend=READERS_ONLY),),
        mistakes={"raises one": (share(world, boat, CARLA, "commenter"),)},
        negative_trajectories={
            "follows the old rule": NegativeTrajectory(
                (
                    named("Boat timetable"),
                    permissions_of(boat),
                    share(world, boat, SABINE, "commenter"),
                    share(world, boat, CARLA, "commenter"),
                ),
                "Sabine Koch and Carla Moniz comment; they were readers before.",
            )
        },
        **STRICT,
    )
    grants = world.drive("Grants")
    membership = world.member("Grants", "lucia.marin")
    scores = world.file("Grants:Handbook/Scores 2026")
    event = ScenarioEvent(world).change(membership, role="writer")
    yield done(
        world,
        "lucia-is-no-organizer-of-files",
        "lucia.marin",
        "My last morning as the one who files things in Grants! Describe Scores 2026 and the Reader guide as"
        " 'Checked, November', both, and after that put the reader guide into the trash, if I still may... Amina"
        " wanted to change my role some time today. So ask the file what I may do, right before, and don't try what I"
        " may not",
        (
            "Find both files, and describe them (LKP-1).",
            "The file's capabilities say that trashing is not allowed any more: leave it and say so (ID-2, REF-2).",
        ),
        (
            named("Reader guide"),
            named("Scores 2026"),
            labels_of(guide),
            labels_of(scores),
            change_file(scores, description="Checked, November"),
            change_file(guide, description="Checked, November"),
            call("get_files", fileId=guide.id),
            find_drive("Grants"),
            permissions_of(grants),
        ),
        "Both files are described. The reader guide was not put into the trash: you are a writer in Grants now, and"
        " that needs the role fileOrganizer.",
        [r"descri"],
        undone=[r"writer|role|fileOrganizer|organizer|allowed|permi", "guide"],
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        mistakes={"stars it": (change_file(guide, starred=True),)},
        negative_trajectories={
            "claims that it is in the trash": NegativeTrajectory(
                (
                    named("Reader guide"),
                    named("Scores 2026"),
                    change_file(scores, description="Checked, November"),
                    change_file(guide, description="Checked, November"),
                    to_trash(guide),
                ),
                "Both are described, and the guide is in the trash.",
            )
        },
        **STRICT,
    )
    diary, costs = world.file("@florian.weiss:Visits/Diary of visits"), world.file("@florian.weiss:Visits/Travel costs")
    dmitri = world.user("dmitri.orlov")
    event = ScenarioEvent(world).change(dmitri, auth_token=None)
    first = [
        hand_over(world, diary, "dmitri.orlov"),
        hand_over(world, diary, "lucia.marin"),
        hand_over(world, costs, "lucia.marin"),
    ]
    yield done(
        world,
        "dmitri-leaves-meanwhile",
        "florian.weiss",
        "diary of visits -> dmitri orlov becomes owner, travel costs too. if that doesn't work any more because"
        " dmitri's account is closed (he leaves today), lucia marin instead, for both. tell me who it was",
        (
            "Find both files and read their roles (LKP-1).",
            "The server refuses Dmitri, whose account is gone: transfer both to Lucia (PRC-7, OWN-2).",
        ),
        (named("Diary of visits"), named("Travel costs"), permissions_of(diary), permissions_of(costs), *first),
        "Lucia Marin owns the diary and the travel costs, because Dmitri Orlov's account is gone.",
        [term("Lucia"), GONE],
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        refused={4: "PRC-7"},
        mistakes={"shares with Noemi": (share(world, costs, "noemi.toth", "reader"),)},
        negative_trajectories={
            "gives up": NegativeTrajectory(
                (named("Diary of visits"), permissions_of(diary), hand_over(world, diary, "dmitri.orlov")),
                "Lucia would have to take them, Dmitri is gone.",
                "PRC-7",
            )
        },
        **STRICT,
    )
    top, outline, fees, evaluation = (
        world.file(f"@lucia.marin:Workshops{name}") for name in ("", "/Outline", "/Fees of trainers", "/Evaluation")
    )
    volunteers = world.permission(top, "volunteers")
    yield done(
        world,
        "volunteers-lose-the-workshops",
        "lucia.marin",
        "The volunteers shouldn't write in my folder Workshops, reading is enough... and Dmitri's role there goes"
        " altogether, he asked for it! Leave the rest as it is for now.",
        (
            "Read the roles on the folder and its files (LKP-1, SHR-5).",
            (
                "Remove Dmitri and the volunteers' role above; the message meanwhile says on which file they keep one"
                " (SHR-1)."
            ),
        ),
        each(
            [
                named("Workshops"),
                inside(top),
                permissions_of(top),
                *map(permissions_of, (outline, fees, evaluation)),
                labels_of(fees),
                unshare(top, world.permission(top, "dmitri.orlov")),
                unshare(top, volunteers),
                share(world, outline, "group:volunteers", "reader"),
            ]
        ),
        "Dmitri Orlov has no role on Workshops. The volunteers read the outline and nothing else of it any more; the"
        " fees and the evaluation are closed to them.",
        [term("Dmitri"), "outline"],
        events=(
            Event(
                after_step=FIRST_LOOK,
                tell="Wait, no: the fees in there are confidential! The volunteers get no role on"
                " the folder at all, they may only read the outline, as a group. Dmitri as I said.",
            ),
        ),
        mistakes={"shares the evaluation": (share(world, evaluation, "group:volunteers", "reader"),)},
        negative_trajectories={
            "does what was said first": NegativeTrajectory(
                (
                    named("Workshops"),
                    permissions_of(top),
                    unshare(top, world.permission(top, "dmitri.orlov")),
                    call("update_permission", fileId=top.id, permissionId=volunteers.id, role="reader"),
                ),
                "Dmitri has no role, the volunteers read everything, the outline too.",
            )
        },
        **STRICT,
    )


FAMILIES = (while_the_agent_works,)
