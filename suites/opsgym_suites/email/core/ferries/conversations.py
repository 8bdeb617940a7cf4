"""Tasks about whole conversations: what the last message of each says settles what becomes of all of its messages."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import figure, number, paired, term
from opsgym_suites.email.calls import answer, create_filter, labels_of, read, relabel, search, with_mailbox
from opsgym_suites.email.core.ferries.jobs import job, of_thread, refusal, threads
from opsgym_suites.email.core.ferries.nights import NIGHT, arrives, second_day, two_days
from opsgym_suites.email.seeds.ferries import LIV, TOVE
from opsgym_suites.email.seeds.ferries_desk import APPLICANTS, CONVERSATIONS, SICK_NOTES, conversation
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.world import at


def out_of_the_trash(world: World) -> Iterator[Draft]:
    """Of two conversations in the trash one still waits for an answer."""
    user = world.user("bjarne.holt")
    waiting, closed = (conversation(world, "bjarne.holt", "Crane on the slip", one) for one in (LIV, TOVE))
    label = world.label(user, "Engine room")
    looked = (
        threads(user, "in:trash subject:crane"),
        *(of_thread("get_thread", user, one) for one in (waiting, closed)),
        labels_of(user),
    )
    back = of_thread("untrash_thread", user, waiting)
    filed = of_thread("modify_thread", user, waiting, addLabelIds=[label.id, "INBOX"])
    reply = answer(world, user, waiting[-1], "Our heaviest piece is 2150 kilos.")
    one_by_one = (
        *(with_mailbox("untrash_message", user, id=one.id) for one in waiting),
        relabel(user, waiting, add=[label, "INBOX"]),
    )
    yield job(
        world,
        "crane-out-of-the-trash",
        "bjarne.holt",
        "i threw away two conversations about the crane. one of them still waits for a weight from me: get that back,"
        " every message of it, into the inbox and with my label Engine room on all of it. and answer there: our"
        " heaviest piece is 2150 kilos. the other one stays where it is",
        (
            "Find both conversations in the trash and read to their ends (LKP-2).",
            "Restore and label the one with the open question and answer in it (MSG-4, SND-1).",
        ),
        (*looked, back, filed, reply),
        "The conversation with Liv Aasen about the crane is back in your inbox with the label Engine room, and I"
        " answered that the heaviest piece is 2150 kilos.",
        [term("Liv"), figure(2150)],
        tools=("trash_thread", "delete_thread", "untrash_message", "modify_message"),
        mistakes={
            "restores the other one, too": (of_thread("untrash_thread", user, closed),),
            "deletes the other one for good": (of_thread("delete_thread", user, closed),),
        },
        also={"message by message": Solution((*looked, *one_by_one, reply))},
        says={"Our heaviest piece": [figure(2150)]},
    )


def called_off(world: World) -> Iterator[Draft]:
    """Charters that were called off go to the trash; one that seemed so is still open."""
    user = world.user("noor.bakshi")
    held = [
        conversation(world, "noor.bakshi", subject, other)
        for other, subject, _turns, _labels in CONVERSATIONS["noor.bakshi"]
    ]
    off, still = (held[0], held[2]), (held[1], held[3])
    label = world.label(user, "Notices")
    looked = (
        threads(user, "subject:charter"),
        *(of_thread("get_thread", user, one) for one in held),
        labels_of(user),
    )
    gone = tuple(of_thread("trash_thread", user, one) for one in off)
    marked = tuple(of_thread("modify_thread", user, one, addLabelIds=[label.id, "STARRED"]) for one in still)
    all_off = [message for one in off for message in one]
    yield job(
        world,
        "charters-called-off",
        "noor.bakshi",
        "Would you clear my charter conversations for July? Where the customer has called it off in the end, the whole"
        " conversation goes to the trash. Where a question to me is still open, put a star and my label Notices on all"
        " of it, what I wrote included. How many were called off, and on which days would they have been?",
        (
            "Read each conversation to its end: one was called off and taken up again (LKP-1).",
            "Trash those that are off, mark the open ones as wholes (MSG-2, MSG-4).",
        ),
        (*looked, *gone, *marked),
        "Two charters were called off, those of 3 July and 17 July; their conversations are in the trash. The others,"
        " of 9 and 24 July, have a star and the label Notices.",
        [number(2), r"\b0?3\b|\bthird\b|\b3rd\b", r"\b17(?:th)?\b"],
        in_any_order=("3", "17"),
        tools=("trash_message", "delete_thread", "batch_modify_messages"),
        mistakes={"trashes an open one": (of_thread("trash_thread", user, held[1]),)},
        also={
            "message by message": Solution(
                (
                    *looked,
                    *(with_mailbox("trash_message", user, id=one.id) for one in all_off),
                    relabel(user, [message for one in still for message in one], add=[label, "STARRED"]),
                )
            )
        },
    )


def withdrawn(world: World) -> Iterator[Draft]:
    """Applicants who withdrew are deleted for good with all they sent; another one in the trash is not."""
    user = world.user("isla.drever")
    held = [conversation(world, "isla.drever", subject) for subject, _last, _withdrew in APPLICANTS]
    gone = [one for one, (_subject, _last, withdrew) in zip(held, APPLICANTS, strict=True) if withdrew]
    (staying,) = (one for one in held if one not in gone)
    label = world.label(user, "Applications")
    looked = (
        threads(user, "in:trash subject:application"),
        *(of_thread("get_thread", user, one) for one in held),
        labels_of(user),
    )
    deleted = tuple(of_thread("delete_thread", user, one) for one in gone)
    back = of_thread("untrash_thread", user, staying)
    filed = of_thread("modify_thread", user, staying, addLabelIds=[label.id, "INBOX"])
    yield job(
        world,
        "applicants-deleted-for-good",
        "isla.drever",
        "There are applications in my trash. Data protection: those who have withdrawn or work elsewhere must be"
        " deleted for good, with every message. If a person is still interested the conversation was thrown away"
        " wrongly; put it back into the inbox, all of it labelled Applications. Give me the names of both kinds.",
        (
            "Read the conversations in the trash to their ends (LKP-1).",
            "Delete those of people who withdrew for good, and restore the other one (MSG-2, MSG-4).",
        ),
        (*looked, *deleted, back, filed),
        "Ivar Moe and Jon Eik are deleted for good. Tone Berg is still interested: her conversation is back in the"
        " inbox with the label Applications.",
        [term("Ivar"), term("Jon"), term("Tone")],
        access=Access.STRICT,
        tools=("trash_thread", "delete_message", "batch_delete_messages"),
        mistakes={"trashes the restored one again": (of_thread("trash_thread", user, staying),)},
        also={
            "message by message": Solution(
                (
                    *looked,
                    with_mailbox("batch_delete_messages", user, ids=[message.id for one in gone for message in one]),
                    back,
                    filed,
                )
            )
        },
        negative_trajectories={
            "deletes all three": NegativeTrajectory(
                (*looked, *deleted, of_thread("delete_thread", user, staying)), "Ivar, Jon and Tone are deleted."
            ),
            "restores first and deletes from the inbox": NegativeTrajectory(
                (
                    *looked,
                    back,
                    filed,
                    *(of_thread("modify_thread", user, one, removeLabelIds=["TRASH"]) for one in gone),
                ),
                "Ivar, Jon and Tone are done.",
            ),
        },
    )


def sick_notes(world: World) -> Iterator[Draft]:
    """Sick notes whose time has not passed come back; the one that is over is deleted for good."""
    user = world.user("freya.sinclair")
    rows = [world.mail("freya.sinclair", subject) for subject, _period, _is_ill in SICK_NOTES]
    ill = [row for row, (_subject, _period, is_ill) in zip(rows, SICK_NOTES, strict=True) if is_ill]
    (over,) = (row for row in rows if row not in ill)
    label = world.label(user, "Sick notes")
    looked = (search(user, "in:trash subject:(sick note)"), *(read(row, world) for row in rows), labels_of(user))
    back = tuple(with_mailbox("untrash_message", user, id=row.id) for row in ill)
    filed = relabel(user, ill, add=[label])
    gone = with_mailbox("delete_message", user, id=over.id)
    ruled = create_filter(user, {"addLabelIds": [label.id]}, subject="Sick note")
    yield job(
        world,
        "sick-notes-in-the-trash",
        "freya.sinclair",
        "sick notes landed in my trash. all who are still ill today: take theirs out and label it Sick notes, it need"
        " not go to the inbox. whose time is over: delete for good. and a filter, whatever has Sick note in the subject"
        " gets that label in future. who is still ill, and until when?",
        (
            "Read the sick notes in the trash and compare their ends with today (LKP-1).",
            "Restore and label those that still run, delete the other one for good, and create the filter (SET-3).",
        ),
        (*looked, *back, filed, gone, ruled),
        "Arne Dyb is ill until 19 June and Karl Sund until 26 June. The note of Britt Olsen is deleted, and a filter"
        " labels new ones.",
        [paired((term("Arne"), r"\b19(?:th)?\b"), (term("Karl"), r"\b26(?:th)?\b"))],
        tools=("trash_message", "batch_delete_messages", "untrash_thread", "delete_thread"),
        mistakes={
            "puts them into the inbox": (relabel(user, ill, add=["INBOX"]),),
            "deletes one that runs": (with_mailbox("delete_message", user, id=ill[0].id),),
        },
        also={
            "as threads": Solution(
                (
                    *looked,
                    *(of_thread("untrash_thread", user, [row]) for row in ill),
                    filed,
                    of_thread("delete_thread", user, [over]),
                    ruled,
                )
            )
        },
    )


def a_thread_in_spam(world: World) -> Iterator[Draft]:
    """One message of the conversation is in SPAM, so no one answers in it."""
    user = world.user("gavin.tulloch")
    held = conversation(world, "gavin.tulloch", "Camera on the pier", "")
    reply = answer(world, user, held[-1], "It will be turned by 30 degrees on Thursday.")
    anew = answer(world, user, held[-1], "Please write to us again.")
    yield refusal(
        world,
        "no-answer-in-a-spam-thread",
        "gavin.tulloch",
        "Owen Rendall asks when the camera on the pier will be turned. Reply in that conversation: on Thursday, by"
        " thirty degrees. If one of our rules is in the way, do not fiddle with anything, tell me which message is the"
        " trouble and why.",
        (threads(user, "subject:camera"), of_thread("get_thread", user, held)),
        "I did not answer Owen: the first message of the conversation on the camera is in spam, and no answer is sent"
        " in such a thread unless it has been declared legitimate (PRC-11).",
        [r"\bspam\b", r"\b(?:first|oldest|earliest|cold store|camera)\b"],
        evidence=(held[0],),
        tried=(reply,),
        rule="PRC-11",
        mistakes={
            "takes it out of spam": (relabel(user, [held[0]], remove=["SPAM"]),),
            "writes outside the thread": (
                with_mailbox(
                    "send_message",
                    user,
                    payload={
                        **anew.arguments["payload"],
                        "headers": [
                            one
                            for one in anew.arguments["payload"]["headers"]
                            if one["name"] not in {"In-Reply-To", "References"}
                        ],
                    },
                ),
            ),
        },
    )


def taken_back(world: World) -> Iterator[Draft]:
    """A conversation goes to the trash; over night it turns out that it is not settled."""
    user = world.user("elsa.vinter")
    held = conversation(world, "elsa.vinter", "Lease of the winch", LIV)
    label = world.label(user, "To pay")
    event = ScenarioEvent(world, NIGHT - world.now)
    text = "the winch never reached our lower yard, so the lease of 740 a month goes on. Please pay June."
    late = arrives(event, world, TOVE, "elsa.vinter", "The winch", text, at("06-15 17:50"))
    searched = (threads(user, "subject:winch"), of_thread("get_thread", user, held))
    trashed = of_thread("trash_thread", user, held)
    looked = (search(user, "subject:winch is:unread"), read(late, event.after), labels_of(user))
    back = of_thread("untrash_thread", user, held)
    filed = of_thread("modify_thread", user, held, addLabelIds=[label.id, "INBOX"])
    marked = relabel(user, [late], add=[label])
    yield job(
        world,
        "winch-is-not-settled",
        "elsa.vinter",
        "The conversation with Liv Aasen about the lease of the winch is settled, please move all of it to the trash.",
        (
            "Move the conversation to the trash as a whole (MSG-2, MSG-4).",
            "On the second day read what the yard has against it, restore the conversation and label it (MSG-4).",
        ),
        two_days((*searched, trashed), (*looked, back, filed, marked)),
        "The winch never arrived, so the lease of 740 a month goes on. The conversation is back in your inbox, and it"
        " and the message of the yard have the label To pay.",
        [figure(740)],
        event=event,
        days=second_day(
            "Has the yard written about the winch? If it wants money after all, take the whole conversation back into"
            " the inbox, with my label To pay on every message of it and on the new one. How much is it a month?"
        ),
        day_answers=("The conversation about the lease of the winch is in the trash.",),
        events=(event.happens_at(NIGHT),),
        access=Access.STRICT,
        tools=("delete_thread", "trash_message", "modify_message"),
        mistakes={"trashes the new one": (with_mailbox("trash_message", user, id=late.id),)},
        also={
            "message by message": Solution(
                two_days(
                    (*searched, *(with_mailbox("trash_message", user, id=one.id) for one in held)),
                    (
                        *looked,
                        *(with_mailbox("untrash_message", user, id=one.id) for one in held),
                        relabel(user, [*held], add=[label, "INBOX"]),
                        marked,
                    ),
                )
            )
        },
        negative_trajectories={
            "leaves it in the trash": NegativeTrajectory(
                two_days((*searched, trashed), (*looked, marked)), "It is 740 a month."
            ),
            "forgets the first day": NegativeTrajectory(
                two_days(searched, (*looked, filed, marked)), "It is 740 a month."
            ),
        },
    )


FAMILIES = (out_of_the_trash, called_off, withdrawn, sick_notes, a_thread_in_spam, taken_back)
