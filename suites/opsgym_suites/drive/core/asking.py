"""Tasks about requests for access and about comments: who asks for what, and what was answered."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.tables import AccessProposal, File
from opsgym_suites.drive.calls import (
    accept,
    change_comment,
    change_file,
    change_reply,
    comments_on,
    delete_comment,
    delete_reply,
    deny,
    each,
    inside,
    labels_of,
    named,
    permissions_of,
    read_text,
    remark_on,
    reply,
    requests_for,
    set_labels,
    set_role,
    share,
)
from opsgym_suites.drive.core.writing import SECRET, declined, done
from opsgym_suites.drive.seeds.consultancy import JUN, PETER
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call


def request_of(world: World, file: File, who: str) -> AccessProposal:
    """The request of a person for a role on a file."""
    (row,) = (one for one in world.proposals(file) if one.requester_email == world.address(who))
    return row


def get_request(row: AccessProposal) -> ToolCall:
    """Gets a request for access."""
    return call("get_accessproposals", fileId=row.file_id, proposalId=row.id)


def requests_for_roles(world: World) -> Iterator[Draft]:
    """Requests that are decided by what their message needs, by the label of the file, and by who asks."""
    top = world.file("Bridges:Project Lintel/Register")
    register, costs, photos = (
        world.file(f"Bridges:Project Lintel/Register/{name}") for name in ("Risk register", "Cost plan", "Photo log")
    )
    files = (register, costs, photos)
    zofia, samuel = request_of(world, register, "zofia.baran"), request_of(world, register, "samuel.osei")
    peter, viktor = request_of(world, costs, PETER), request_of(world, costs, "viktor.novak")
    mona = request_of(world, photos, "mona.abbas@ostrasurvey.example")
    look = each([named("Register"), inside(top), *map(labels_of, files), *map(requests_for, files)])
    yield done(
        world,
        "requests-of-lintel",
        "priya.raman",
        "Please decide all open requests for the three files in Register (Lintel). Everybody gets what their message"
        " needs and no more, within our rules; those who may not have access are turned down. Tell me whom you turned"
        " down.",
        (
            "Read the labels of the files and all requests with their messages (LKP-1).",
            (
                "Accept with the lowest role that the message justifies (REQ-1), deny the client's for the"
                " confidential file (REQ-2), and leave decided ones alone (REQ-3)."
            ),
        ),
        each(
            [
                look,
                accept(zofia, "reader"),
                accept(samuel, "writer"),
                deny(peter),
                accept(viktor, "commenter"),
                accept(mona, "commenter"),
            ]
        ),
        "Zofia Baran reads and Samuel Osei writes in the risk register, Viktor Novak comments on the cost plan, Mona"
        " Abbas on the photo log. Peter Lowell was denied: the cost plan is confidential.",
        [term("Lowell"), SECRET],
        evidence=(costs,),
        mistakes={
            "gives Zofia more": (share(world, register, "zofia.baran", "writer"),),
            "lets Peter in": (share(world, costs, PETER, "reader"),),
        },
    )
    yield done(
        world,
        "no-further-writers-of-risks",
        "priya.raman",
        "Risk register of Lintel: Zofia Baran and Samuel Osei have asked for access. I want no further writers there,"
        " so no one gets more than comments. Within that give them what their messages need, and leave the requests"
        " for other files to me.",
        (
            "Read the requests with their messages (LKP-1).",
            "Accept the one as reader and the other as commenter, the most that the request allows (REQ-1).",
        ),
        (
            named("Risk register"),
            labels_of(register),
            requests_for(register),
            get_request(zofia),
            get_request(samuel),
            permissions_of(register),
            accept(zofia, "reader"),
            accept(samuel, "commenter"),
        ),
        "Zofia Baran is reader and Samuel Osei commenter of the risk register.",
        [term("Baran"), term("reader"), term("commenter")],
        mistakes={
            "decides another one": (deny(viktor),),
            "gives Zofia comments": (share(world, register, "zofia.baran", "commenter"),),
        },
    )
    models = world.file("@samuel.osei:Models")
    shaft, drainage = world.file("@samuel.osei:Models/Shaft model"), world.file("@samuel.osei:Models/Drainage model")
    chiara, elif_kaya = request_of(world, shaft, "chiara.conti"), request_of(world, shaft, "elif.kaya")
    jun, henrik = request_of(world, drainage, JUN), request_of(world, drainage, "henrik.dahl")
    tariq = request_of(world, drainage, "tariq.aziz")
    yield done(
        world,
        "requests-for-samuels-models",
        "samuel.osei",
        "Could you go through the requests for the files in my folder Models? Those who only want to look get to"
        " look, those who change something may write, and what our rules do not allow is denied. Thanks, and let me"
        " know about the denied one.",
        (
            "Read labels and requests of both files (LKP-1).",
            "Accept with what the messages need (REQ-1) and deny the outsider's for the restricted file (REQ-2).",
        ),
        each(
            [
                named("Models"),
                inside(models),
                labels_of(shaft),
                labels_of(drainage),
                requests_for(shaft),
                requests_for(drainage),
                accept(chiara, "writer"),
                accept(elif_kaya, "reader"),
                deny(jun),
                accept(henrik, "writer"),
            ]
        ),
        "Chiara Conti writes and Elif Kaya reads in the shaft model, Henrik Dahl writes in the drainage model. Jun"
        " Ito was denied, since the drainage model is restricted.",
        [term("Ito"), SECRET],
        evidence=(drainage,),
        mistakes={
            "lets Elif comment": (share(world, shaft, "elif.kaya", "commenter"),),
            "lets Tariq in": (share(world, drainage, "tariq.aziz", "reader"),),
        },
    )
    yield declined(
        world,
        "tariq-was-turned-down",
        "samuel.osei",
        "Tariq Aziz has asked to read my drainage model. Please accept that request. If it cannot be accepted any"
        " more, leave it all as it is and tell me what became of it.",
        (named("Drainage model"), requests_for(drainage), get_request(tariq)),
        "I changed nothing: the request of Tariq Aziz was denied before, and a request is not decided again (REQ-3).",
        [term("Aziz"), r"\b(?:denied|decided|resolved|turned down|declined)\b"],
        evidence=(tariq,),
        mistakes={
            "shares the file instead": (share(world, drainage, "tariq.aziz", "reader"),),
            "decides another one": (accept(henrik, "writer"),),
        },
    )


def remarks_on_the_bid(world: World) -> Iterator[Draft]:
    """Comments on a bid, some of them the acting user's own."""
    top = world.file("Tenders:Live/Northgate footbridge")
    method, team = (
        world.file(f"Tenders:Live/Northgate footbridge/{name}") for name in ("Method statement", "Team page")
    )
    river, lifting, fee, note, swans = (
        world.comment(method, words) for words in ("river", "supervisor", "18,000", "Note to self", "swans")
    )
    gregor, cv = world.comment(team, "Gregor"), world.comment(team, "CV")
    plan_to_ask = world.replies(lifting)[0]
    asked_cv = world.replies(cv)[0]
    yield done(
        world,
        "method-statement-remarks",
        "joanna.prentice",
        "My remarks on the method statement of the Northgate footbridge need tidying. My note to self goes. Where I"
        " wrote that I'll ask Lukas, it should read 'Lukas Brandt agreed on 27 October.' And answer Viktor's remark"
        " on the night lift: 'The fee sheet has it now, line 14.'"
        " If the file has no owning team yet, that is 'Tender office' from now on.",
        (
            "Find the file and read its comments with the replies (LKP-1).",
            "Delete one's own comment, change one's own reply, and reply to Viktor's comment (ID-4).",
            "The file has no label of its team: set it (ID-4).",
        ),
        (
            named("Method statement"),
            inside(top),
            comments_on(method),
            call("list_replies", fileId=method.id, commentId=lifting.id),
            call("get_comments", fileId=method.id, commentId=fee.id),
            delete_comment(note),
            change_reply(lifting, plan_to_ask, "Lukas Brandt agreed on 27 October."),
            reply(fee, "The fee sheet has it now, line 14."),
            labels_of(method),
            set_labels(world, method, owner_team="Tender office"),
        ),
        "Your note to self is deleted, the reply about the lifting supervisor is changed, and Viktor has an answer on"
        " the night lift.",
        [term("Viktor"), "note", r"repl|answer"],
        mistakes={"deletes the swans": (delete_comment(swans),), "answers Yusuf": (reply(river, "Done."),)},
    )
    yield done(
        world,
        "team-page-remarks",
        "joanna.prentice",
        "On the team page of the Northgate footbridge: delete my reply that the CV was asked for. My remark about the"
        " CV should say 'Chiara Conti's CV is linked now.' instead. And tell Viktor, under his remark on Gregor:"
        " 'Gregor Haas was never on this page.', provided that is true; otherwise tell me.",
        (
            "Read the page and its comments (LKP-1).",
            "See that Gregor is not on the page; delete the reply, change the comment, and answer Viktor (ID-4).",
        ),
        (
            named("Team page"),
            inside(top),
            read_text(team),
            comments_on(team),
            call("get_replies", fileId=team.id, commentId=cv.id, replyId=asked_cv.id),
            delete_reply(cv, asked_cv),
            change_comment(cv, "Chiara Conti's CV is linked now."),
            reply(gregor, "Gregor Haas was never on this page."),
        ),
        "Your reply is deleted, your remark is about Chiara Conti's CV now, and Viktor knows that Gregor Haas was"
        " never on the page.",
        [term("Viktor"), term("Conti")],
        mistakes={"deletes Viktor's": (delete_comment(gregor),)},
    )
    yield done(
        world,
        "swans-become-a-section",
        "aoife.brennan",
        "Joanna liked my swans! So please replace my remark on the method statement (Northgate footbridge) by"
        " 'Section 3 should mention the nesting season, March to June.', add a new comment on the team page that says"
        " 'Planning: Aoife Brennan, until December only.', and whatever Lukas said about the lifting, answer it with"
        " 'Thank you, Lukas!'"
        " A star goes on the file under which Lukas answered.",
        (
            "Read the comments on both files (LKP-1).",
            "Change one's own comment, add one on the team page, and reply in the thread on the lifting (ID-4).",
            "Put a star on that file (ID-4).",
        ),
        (
            named("Method statement"),
            inside(top),
            comments_on(method),
            comments_on(team),
            call("get_comments", fileId=method.id, commentId=swans.id),
            change_comment(swans, "Section 3 should mention the nesting season, March to June."),
            call("create_comments", fileId=team.id, content="Planning: Aoife Brennan, until December only."),
            reply(lifting, "Thank you, Lukas!"),
            change_file(method, starred=True),
        ),
        "Your remark is about the nesting season now, the team page has a comment on the planning, and Lukas has your"
        " thanks under the lifting supervisor.",
        [term("Lukas"), r"nesting|section 3", "planning|team page"],
        mistakes={"answers the fee": (reply(fee, "Thank you!"),), "stars the page": (change_file(team, starred=True),)},
    )
    yield done(
        world,
        "method-statement-for-the-checker",
        "viktor.novak",
        "The method statement of the Northgate footbridge. If it states a licence for the river now, answer Yusuf's"
        " remark with 'Stated.', otherwise with 'Not stated yet.' In the second case Yusuf gets the role writer on"
        " that file and on the programme beside it, so that he can state it himself."
        " Either way the statement is due for review on 4 December 2026.",
        (
            "Read the text of the file and the remark (LKP-1).",
            "The text has no licence: answer so, and share both files as writer, directly (SHR-1).",
            "Set the date of the review (ID-4).",
        ),
        (
            named("Method statement"),
            inside(top),
            read_text(method),
            comments_on(method),
            permissions_of(method),
            permissions_of(world.file("Tenders:Live/Northgate footbridge/Programme.xlsx")),
            reply(river, "Not stated yet."),
            share(world, method, "yusuf.demir", "writer"),
            share(world, world.file("Tenders:Live/Northgate footbridge/Programme.xlsx"), "yusuf.demir", "writer"),
            labels_of(method),
            set_labels(world, method, review_due="2026-12-04"),
        ),
        "The licence is not stated yet, and the answer to Yusuf's remark says so. Yusuf Demir is writer of the method"
        " statement and the programme.",
        [term("Yusuf"), term("writer")],
        mistakes={"shares the folder": (share(world, top, "yusuf.demir", "writer"),)},
    )


def roles_that_surprise(world: World) -> Iterator[Draft]:
    """Personal folders whose roles hold below them, and files with too many roles."""
    lessons = world.file("@henrik.dahl:Lessons")
    tunnels = world.file("@henrik.dahl:Lessons/Tunnels")
    collapse, near = (
        world.file(f"@henrik.dahl:Lessons/Tunnels/{name}") for name in ("Face collapse 2012", "Near miss shaft two")
    )
    talk = world.file("@henrik.dahl:Lessons/Slides/Talk for graduates")
    mona = world.permission(lessons, "mona.abbas@ostrasurvey.example")
    yield declined(
        world,
        "role-holds-from-above",
        "henrik.dahl",
        "Mona Abbas sees my file Near miss shaft two. Take her role on that file away, on the file only, the other"
        " lessons stay open to her. If that is not possible as I want it, change nothing and explain where the role"
        " comes from.",
        (
            named("Near miss"),
            permissions_of(near),
            call("get_permission", fileId=near.id, permissionId=mona.id),
            named("Lessons"),
            permissions_of(lessons),
        ),
        "I changed nothing: Mona Abbas has no role on the file itself. Hers holds from the folder Lessons above it,"
        " and taking it away there would close all the other lessons too.",
        [term("Abbas"), term("Lessons"), r"\babove\b|\binherit|\bfolder\b"],
        evidence=(mona,),
        mistakes={"removes it above": (call("delete_permission", fileId=lessons.id, permissionId=mona.id),)},
    )
    yield done(
        world,
        "near-miss-is-closed",
        "henrik.dahl",
        "Near miss shaft two is confidential, yet Mona Abbas and the graduates read it through the folder Lessons. No"
        " one but me may. Move it to my folder Appraisals, if no one else has a role there, and tell me who else"
        " loses sight of what.",
        (
            "Read the label of the file and the roles on it, on Lessons and on Appraisals (SHR-4).",
            "Move the file (LKP-1) and say whose access ends (SHR-5).",
        ),
        (
            named("Near miss"),
            labels_of(near),
            permissions_of(near),
            named("Lessons"),
            permissions_of(lessons),
            named("Appraisals"),
            permissions_of(world.file("@henrik.dahl:Appraisals")),
            inside(tunnels),
            call("update_files", fileId=near.id, addParents=world.file("@henrik.dahl:Appraisals").id),
        ),
        "Near miss shaft two is in Appraisals. Mona Abbas and the graduates do not see it any more; nothing else"
        " changes for them.",
        [term("Abbas"), "graduates", "appraisals"],
        evidence=(near,),
        mistakes={"shares it": (share(world, near, "elif.kaya", "reader"),)},
    )
    yield done(
        world,
        "lessons-without-ostrasurvey",
        "henrik.dahl",
        "Ostrasurvey is to read only one of my lessons from now on: Face collapse 2012. So Mona Abbas's role on the"
        " folder Lessons goes, and she gets the lowest role on that file. The graduates keep theirs; Zofia may"
        " comment on the talk for graduates as well, as she may on the collapse."
        " The file that Ostrasurvey keeps has no level, so make it internal, and remark on it 'The only "
        "lesson for Ostrasurvey.'",
        (
            "Read the roles on the folder and the files (LKP-1, SHR-5).",
            "Remove Mona's above, share the one file as reader, and give Zofia commenter on the talk (SHR-1).",
            "Label and comment on the file (ID-4).",
        ),
        (
            named("Lessons"),
            permissions_of(lessons),
            inside(lessons),
            inside(tunnels),
            permissions_of(collapse),
            named("Talk for graduates"),
            permissions_of(talk),
            labels_of(collapse),
            call("delete_permission", fileId=lessons.id, permissionId=mona.id),
            share(world, collapse, "mona.abbas@ostrasurvey.example", "reader"),
            share(world, talk, "zofia.baran", "commenter"),
            set_labels(world, collapse, sensitivity="internal"),
            remark_on(collapse, "The only lesson for Ostrasurvey."),
        ),
        "Mona Abbas has no role on Lessons any more and reads Face collapse 2012 only. Zofia Baran comments on the"
        " talk.",
        [term("Abbas"), term("Zofia"), "collapse"],
        mistakes={
            "closes it to the graduates": (
                call("delete_permission", fileId=lessons.id, permissionId=world.permission(lessons, "graduates").id),
            ),
            "shares the near miss": (share(world, near, "mona.abbas@ostrasurvey.example", "reader"),),
        },
    )
    grouting, lining = (world.file(f"@chiara.conti:Handouts/{name}") for name in ("Grouting basics", "Segment lining"))
    yield done(
        world,
        "handouts-with-one-role-each",
        "chiara.conti",
        "Sort out my folder Handouts, per favore. The graduates as a group comment on both files, and no single"
        " graduate needs a role of their own, unless it is a higher one: that becomes the only exception, and it"
        " stays."
        " Neither file has a level, or has it? Without one it becomes internal. And under the file on which "
        "Zofia keeps the higher role write 'Zofia Baran writes here until spring.'",
        (
            "Read the roles on both files (LKP-1).",
            "Give the group commenter where it is missing, and remove single roles that are not higher (SHR-1, SHR-6).",
            "Label both files, which have no level, and comment on the one that Zofia writes (ID-4).",
        ),
        (
            named("Handouts"),
            inside(world.file("@chiara.conti:Handouts")),
            permissions_of(grouting),
            permissions_of(lining),
            named("Grouting basics"),
            call("delete_permission", fileId=grouting.id, permissionId=world.permission(grouting, "tariq.aziz").id),
            share(world, lining, "group:graduates", "commenter"),
            permissions_of(lining),
            labels_of(grouting),
            labels_of(lining),
            *[set_labels(world, one, sensitivity="internal") for one in (grouting, lining)],
            remark_on(grouting, "Zofia Baran writes here until spring."),
        ),
        "The graduates comment on both files. Tariq Aziz's role on Grouting basics is removed; Zofia Baran stays"
        " writer there, and Tariq stays writer of Segment lining.",
        [term("Tariq"), "grouting"],
        mistakes={
            "removes Zofia": (
                call(
                    "delete_permission", fileId=grouting.id, permissionId=world.permission(grouting, "zofia.baran").id
                ),
            ),
            "lowers Tariq": (set_role(lining, world.permission(lining, "tariq.aziz"), "commenter"),),
            "comments on both": (remark_on(lining, "Zofia Baran writes here until spring."),),
        },
    )


FAMILIES = (requests_for_roles, remarks_on_the_bid, roles_that_surprise)
