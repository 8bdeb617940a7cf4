"""Tasks about the bursaries of a bank: roles from above, levels that change, retentions, requests and heirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.forms import stamp
from opsgym_domains.drive.tables import AccessProposal, File
from opsgym_suites.drive.calls import (
    accept,
    change_revision,
    comments_on,
    delete,
    deny,
    each,
    hand_over,
    inside,
    labels_of,
    named,
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
from opsgym_suites.drive.core.foundation.nights import MORNING, NIGHT, second_day, two_days
from opsgym_suites.drive.core.writing import HOLD, RETENTION, SECRET, done
from opsgym_suites.drive.seeds.foundation import ANTON, RAVI, SABINE
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

STRICT: dict[str, Any] = {"access": Access.STRICT}
PLACE = "Programmes:Lindenbank/Bursaries"


def _files(world: World) -> tuple[File, File, File, File, File]:
    """Rules, applicants, payments, notes and the list of 2024."""
    rules, applicants, payments, notes, listed = (
        world.file(f"{PLACE}/{name}")
        for name in ("Bursary rules", "Applicants 2026", "Payment dates.csv", "Committee notes", "List of 2024")
    )
    return rules, applicants, payments, notes, listed


def _look(world: World, *more: ToolCall) -> tuple[ToolCall, ...]:
    """Finds the folder and reads the labels of what it holds."""
    return each([named("Bursaries"), inside(world.file(PLACE)), *map(labels_of, _files(world)), *more])


def who_sees_the_bursaries(world: World) -> Iterator[Draft]:
    """Roles of people outside and requests, by levels and remarks, on one day."""
    top = world.file(PLACE)
    rules, applicants, payments, notes, listed = _files(world)
    take_off = world.comment(notes, "another committee")
    anton, patrick = request_of(world, applicants, ANTON), request_of(world, applicants, "patrick.doyle")
    celine = request_of(world, payments, "celine.moreau")
    look = _look(
        world,
        *map(permissions_of, (top, notes)),
        *map(comments_on, (rules, payments, notes)),
        *map(requests_for, _files(world)),
    )
    yield done(
        world,
        "bank-sees-file-by-file",
        "soledad.rivas",
        "Anton Berger of Lindenbank reads the whole folder Bursaries, although a file in it is confidential. Please end"
        " Anton's role on the folder and let Anton go on reading the other files one by one, unless a remark of Birgit"
        " Lund's asks for something else on one of them: then do what it asks, and answer it with 'Done, thank you.'"
        " Decide the open requests for files in the folder as well. Which one was denied, and on what ground?",
        (
            "Read labels, roles, remarks and requests of the folder and its files (LKP-1, SHR-4).",
            "End the role above and the one that Birgit names, and share three files as reader (SHR-1, SHR-5).",
            "Answer the remark, and decide the three requests (REQ-1, REQ-2).",
        ),
        each(
            [
                look,
                unshare(top, world.permission(top, ANTON)),
                unshare(notes, world.permission(notes, ANTON)),
                *[share(world, one, ANTON, "reader") for one in (rules, payments, listed)],
                reply(take_off, "Done, thank you."),
                deny(anton),
                accept(patrick, "reader"),
                accept(celine, "writer"),
            ]
        ),
        "Anton Berger has no role on Bursaries and the committee notes any more and reads the rules, the payment dates"
        " and the list of 2024. Patrick Doyle reads the applicants and Celine Moreau writes in the payment dates."
        " Anton's request was denied: the applicants are confidential.",
        [term("Berger"), SECRET],
        evidence=(applicants,),
        mistakes={
            "lets Anton see the notes": (share(world, notes, ANTON, "reader"),),
            "gives Patrick more": (share(world, applicants, "patrick.doyle", "writer"),),
            "removes the list": (to_trash(listed),),
        },
        negative_trajectories={
            "shares the applicants and claims success": NegativeTrajectory(
                (*look, unshare(top, world.permission(top, ANTON)), accept(anton, "reader")),
                "Anton Berger reads the confidential file, nothing was denied.",
                "PRC-3",
            )
        },
        **STRICT,
    )
    event = ScenarioEvent(world).change(world.label_row(payments, "sensitivity"), value_enum="confidential")
    opening = _look(world, permissions_of(top), revisions_of(rules))
    text = "Audit until 31 March 2027."
    yield done(
        world,
        "audit-of-the-bursaries",
        "soledad.rivas",
        "Our auditor Sabine Koch is to read three files in the folder Bursaries: the rules, the payment dates and the"
        " list of 2024, file by file. Each that Sabine gets to read has the remark 'Audit until 31 March 2027.' and is"
        " due for review on that day. Birgit goes over the levels this morning. A file that may not go outside gets"
        " the remark 'Not for the audit.' and no other change, and I'd like its name. In any case keep the newest state"
        " of the rules forever.",
        (
            "Read labels and roles of the three files (LKP-1).",
            "Share two; the server refuses the third, which is confidential since (PRC-3, SHR-2).",
            "Comment on all three, label the two, keep the head, and report (REF-2).",
        ),
        each(
            [
                opening,
                share(world, rules, SABINE, "reader"),
                share(world, listed, SABINE, "reader"),
                share(world, payments, SABINE, "reader"),
                labels_of(payments),
                *[remark_on(one, text) for one in (rules, listed)],
                remark_on(payments, "Not for the audit."),
                *[set_labels(world, one, review_due="2027-03-31") for one in (rules, listed)],
                change_revision(world.revisions(rules)[-1], keepForever=True),
            ]
        ),
        "Sabine Koch reads the rules and the list of 2024, which are due on 31 March 2027. The payment dates were not"
        " shared: they are confidential now. The newest state of the rules is kept.",
        [term("Koch"), "list"],
        undone=[SECRET, "payment"],
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        refused={len(opening) + 2: "PRC-3"},
        mistakes={
            "labels the payments": (set_labels(world, payments, review_due="2027-03-31"),),
            "lets Sabine comment": (share(world, rules, SABINE, "commenter"),),
        },
        negative_trajectories={
            "lowers the level": NegativeTrajectory(
                (
                    *opening,
                    set_labels(world, payments, sensitivity="internal"),
                    *[share(world, one, SABINE, "reader") for one in (rules, listed, payments)],
                    *[remark_on(one, text) for one in (rules, listed, payments)],
                ),
                "Sabine Koch reads all three, list and payment dates too; not one was left confidential.",
            ),
            "shares the folder": NegativeTrajectory(
                (*opening, share(world, top, SABINE, "reader")),
                "Sabine Koch reads the folder with the list; payment dates are not confidential.",
                "PRC-3",
            ),
        },
        **STRICT,
    )
    heads = [world.revisions(one)[-1] for one in (applicants, notes)]
    search = (
        named("Applicants 2026"),
        named("Committee notes"),
        named("Payment dates"),
        *map(labels_of, (applicants, notes)),
        *map(comments_on, (applicants, notes)),
        *map(permissions_of, (applicants, notes)),
        *map(revisions_of, (applicants, notes)),
    )
    holds = [set_labels(world, one, legal_hold="true") for one in (applicants, notes)]
    yield done(
        world,
        "hold-on-the-bursaries",
        "esther.okafor",
        "The bursaries of Lindenbank end up before a court. Applicants 2026 and the committee notes of that folder go"
        " under legal hold, the newest state of each is kept forever, and each gets the remark 'Held for the bursary"
        " case.' Under one of them Birgit Lund wishes something that a hold does not forbid. Do it, and answer 'Seen by"
        " Legal.' there. The payment dates: the same. I may have no role on those; if so, no detours, just say so.",
        (
            "Find the two files that are shared with you; the third is not (LKP-1, ID-2).",
            "Hold both, keep both heads, and comment on both (RET-4).",
            "Remove the role that Birgit names, answer the remark, and report what could not be done (REF-2).",
        ),
        (
            *search,
            *holds,
            *[change_revision(one, keepForever=True) for one in heads],
            *[remark_on(one, "Held for the bursary case.") for one in (applicants, notes)],
            unshare(notes, world.permission(notes, ANTON)),
            reply(take_off, "Seen by Legal."),
        ),
        "Applicants 2026 and the committee notes are under legal hold, and Anton Berger has no role on the notes any"
        " more. The payment dates could not be held: you have no role on that file.",
        [HOLD, "notes", r"\bAnton\b|\bBerger\b"],
        undone=["payment", r"role|access|find|found|reach|see|permission|shared"],
        evidence=(take_off,),
        mistakes={
            "gives the notes to Anton again": (share(world, notes, ANTON, "reader"),),
            "raises a level": (set_labels(world, notes, sensitivity="confidential"),),
        },
        negative_trajectories={
            "claims the third": NegativeTrajectory(
                (*search, *holds, reply(take_off, "Seen by Legal.")),
                "All three are under hold, notes and payment too; Anton is out.",
            )
        },
        **STRICT,
    )


def bursaries_over_days(world: World) -> Iterator[Draft]:
    """Retentions that end and requests that come between two days."""
    rules, applicants, payments, notes, listed = _files(world)
    states = world.revisions(rules)
    question = world.comment(rules, "Which state")
    first = _look(
        world,
        comments_on(rules),
        revisions_of(rules),
        *[call("download_files", fileId=rules.id, mimeType="text/plain", revisionId=one.id) for one in states],
        delete(listed),
        change_revision(states[1], keepForever=True, published=True),
        reply(question, "The state of 15 June."),
    )
    yield done(
        world,
        "bursary-papers-come-due",
        "soledad.rivas",
        "Some papers in the folder Bursaries have a retention. Would you delete for good those whose time is over, and"
        " tell me from which day on the other one may go? Then the rules: the state to which the trustees agreed is"
        " kept forever and published on the web, and Arjun's question under the file is answered with 'The state of 15"
        " June.' if it is that one, otherwise let me know.",
        (
            "On the first day read labels, remarks and the states of the rules (LKP-1).",
            "Delete the list whose retention is over (RET-2); keep and publish the agreed state; answer the question.",
            "On the second day delete the payment dates, and set level and retention as asked.",
        ),
        two_days(
            first,
            (
                labels_of(payments),
                delete(payments),
                set_labels(world, applicants, retention_until="2033-12-31"),
                set_labels(world, notes, sensitivity="confidential"),
                permissions_of(notes),
                unshare(notes, world.permission(notes, ANTON)),
            ),
        ),
        "The payment dates are deleted. The applicants are retained until 31 December 2033. The committee notes are"
        " confidential, and Anton Berger has no role on that file any more.",
        [r"payment", on_date(at("2033-12-31").date()), term("Berger")],
        day_answers=(
            (
                "The list of 2024 is deleted. The payment dates are retained until 16 November 2026, so they may go"
                " from 17 November on. The state of 15 June is kept and published."
            ),
        ),
        days=second_day(
            "Good morning. What may go by today goes. The applicants are retained until 31 December 2033. The committee"
            " notes become confidential, so the role of a person outside that was given on that file itself has to go;"
            " roles on the folder are for another day."
        ),
        verifiers=(
            answer_says(
                "says_it_on_the_first_day",
                "The first answer says until when a file is kept [RET-2]",
                all_of([RETENTION, rf"{on_date(at('2026-11-16').date())}|{on_date(at('2026-11-17').date())}"]),
                day=1,
            ),
        ),
        evidence=(payments, listed),
        mistakes={
            "publishes the draft": (change_revision(states[2], published=True),),
            "trashes the rules": (to_trash(rules),),
        },
        negative_trajectories={
            "deletes both at once": NegativeTrajectory(
                two_days((*first, delete(payments)), (set_labels(world, applicants, retention_until="2033-12-31"),)),
                "Payment dates deleted; applicants until 31 December 2033; Anton Berger is out.",
                "PRC-2",
                ("Both are deleted, retention until 16 November.",),
            )
        },
        **STRICT,
    )
    anton, patrick = request_of(world, applicants, ANTON), request_of(world, applicants, "patrick.doyle")
    celine = request_of(world, payments, "celine.moreau")
    event = ScenarioEvent(world, MORNING - world.now)
    for who, message in (
        (RAVI, "We'd put remarks on the amount, our school pays the same."),
        (world.address("leila.haddad"), "I translate the rules, page by page, into the file."),
    ):
        event.add(
            AccessProposal(
                file_id=rules.id,
                requester_email=who,
                recipient_email=world.address("soledad.rivas"),
                proposed_roles='["writer"]',
                request_message=message,
                status="pending",
                created_at=stamp(NIGHT),
            )
        )
    ravi, leila = (request_of(event.after, rules, who) for who in (RAVI, "leila.haddad"))
    today = _look(
        world,
        *map(requests_for, _files(world)),
        deny(anton),
        accept(patrick, "reader"),
        set_labels(world, listed, sensitivity="internal"),
    )
    yield done(
        world,
        "bursary-requests-over-night",
        "soledad.rivas",
        "Please decide the requests for the applicants in the folder Bursaries, by what their messages need and by our"
        " rules. Those for the payment dates can wait until tomorrow, when Celine is back. The list of 2024 has no"
        " level, please make it internal. Whom did you deny?",
        (
            "On the first day decide the two requests for the confidential file (REQ-1, REQ-2), and set a level.",
            "On the second day read the requests again and decide the new ones with Celine's (SHR-3).",
            "Lower Anton's role on the notes, and comment on the rules (SHR-6).",
        ),
        two_days(
            today,
            (
                *map(requests_for, (rules, payments)),
                accept(ravi, "commenter"),
                accept(leila, "writer"),
                accept(celine, "writer"),
                permissions_of(notes),
                set_role(notes, world.permission(notes, ANTON), "reader"),
                remark_on(rules, "Requests decided until 17 November."),
            ),
        ),
        "Ravi Nair comments on the rules, Leila Haddad writes in them, and Celine Moreau writes in the payment dates."
        " Anton Berger reads the committee notes.",
        [term("Nair"), term("Haddad"), term("Moreau")],
        day_answers=("Anton Berger was denied, because the applicants are confidential. Patrick Doyle reads them.",),
        days=second_day(
            "Now whatever is open in that folder, please, Celine's request included. Anton Berger only reads the"
            " committee notes from now on. And under the rules a remark of mine: 'Requests decided until 17 November.'"
        ),
        verifiers=(
            answer_says("names_the_denied_one", "The first answer names who was denied [REF-3]", term("Berger"), day=1),
        ),
        evidence=(applicants,),
        event=event,
        events=(event.happens_at(NIGHT),),
        mistakes={
            "raises Patrick": (share(world, applicants, "patrick.doyle", "writer"),),
            "labels the notes": (set_labels(world, notes, sensitivity="internal"),),
        },
        negative_trajectories={
            "gives Ravi what was wished": NegativeTrajectory(
                two_days(today, (requests_for(rules), accept(ravi, "writer"), accept(leila, "writer"))),
                "Nair, Haddad and Moreau write.",
                "PRC-4",
                ("Anton Berger was denied.",),
            )
        },
        **STRICT,
    )


def visits_to_the_bank(world: World) -> Iterator[Draft]:
    """A leaver's files whose heirs are named in remarks, one of whom leaves as well."""
    top = world.file("@matteo.galli:Bank visits")
    branch, wishes, minutes = (
        world.file(f"@matteo.galli:Bank visits/{name}")
        for name in ("Branch list", "Wishes of the bank", "Minutes of June")
    )
    files = (branch, wishes, minutes)
    remarks = [
        world.comment(one, words)
        for one, words in ((branch, "for me"), (wishes, "carries this on"), (minutes, "keeps these"))
    ]
    event = ScenarioEvent(world).change(world.user("dmitri.orlov"), auth_token=None)
    look = each(
        [
            named("Bank visits"),
            inside(top),
            *[(labels_of(one), comments_on(one), permissions_of(one)) for one in files],
        ]
    )
    yield done(
        world,
        "bank-visits-change-hands",
        "hanne.moller",
        "Matteo Galli has left. The folder Bank visits has three files, for each of which Soledad Rivas says in the"
        " remarks who gets it. Make that person the owner, with my rights as administrator. If an account is closed by"
        " now, it is the person whom Soledad names instead. Matteo keeps no role on the files, the folder is left"
        " alone. Write 'Handed over in November.' under each of the discussions, and label each file with the owning"
        " team: 'Grants' for the confidential one, 'Programmes' for the rest. Which file did not go to the first"
        " choice?",
        (
            "Read labels, remarks and roles of the three files (LKP-1).",
            "Transfer each as administrator; the server refuses the one whose account is gone (PRC-7, OWN-2).",
            "Remove Matteo's permissions (OWN-3), answer the remarks and label the files.",
        ),
        each(
            [
                look,
                hand_over(world, branch, "kofi.mensah", admin=True),
                hand_over(world, wishes, "dmitri.orlov", admin=True),
                hand_over(world, wishes, "lucia.marin", admin=True),
                hand_over(world, minutes, "birgit.lund", admin=True),
                *[unshare(one, world.owner(one)) for one in files],
                *[reply(one, "Handed over in November.") for one in remarks],
                set_labels(world, wishes, owner_team="Grants"),
                *[set_labels(world, one, owner_team="Programmes") for one in (branch, minutes)],
            ]
        ),
        "Kofi Mensah owns the branch list, Birgit Lund the minutes, and Lucia Marin the wishes of the bank, because"
        " the account of Dmitri Orlov is closed. Matteo Galli has no role on them.",
        [term("Marin"), "wishes"],
        evidence=(wishes,),
        event=event,
        events=(event.happens_after(FIRST_LOOK),),
        refused={len(look) + 1: "PRC-7"},
        mistakes={
            "takes the folder too": (hand_over(world, top, "kofi.mensah", admin=True),),
            "gives Arjun a role": (share(world, branch, "arjun.patel", "writer"),),
            "takes Dmitri's role": (unshare(wishes, world.permission(wishes, "dmitri.orlov")),),
        },
        negative_trajectories={
            "leaves the wishes with Matteo": NegativeTrajectory(
                (
                    *look,
                    hand_over(world, branch, "kofi.mensah", admin=True),
                    hand_over(world, wishes, "dmitri.orlov", admin=True),
                    hand_over(world, minutes, "birgit.lund", admin=True),
                ),
                "The wishes would go to Lucia Marin.",
                "PRC-7",
            )
        },
        **STRICT,
    )


FAMILIES = (who_sees_the_bursaries, bursaries_over_days, visits_to_the_bank)
