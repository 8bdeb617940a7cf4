"""Tasks of two days with many messages: each is read, sorted by what it says, and the next day corrects the sorting."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import number, term
from opsgym_suites.email.calls import (
    create_label,
    labels_of,
    new_key,
    read,
    relabel,
    search,
    send,
    to_trash,
    with_mailbox,
)
from opsgym_suites.email.core.ferries.nights import NIGHT, arrives, second_day, two_days
from opsgym_suites.email.seeds.ferries_stories import COMPLAINTS, INSPECTIONS
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at


def piles_are_sorted(world: World) -> Iterator[Draft]:
    """Messages are sorted by their texts; over night one more arrives and a part of the sorting becomes moot."""
    for slug, owner, mails, word, general, special, late, reported, prompt, message in (
        (
            "a-week-of-complaints",
            "moira.macrae",
            [subject for subject, _author, _text in COMPLAINTS],
            "lift",
            "Complaints",
            "Lift",
            (
                "bjarne.holt",
                "Lift of the Eider",
                "the lift of the Eider runs again. That of the Gannet waits for a part until 3 July.",
            ),
            ("bjarne.holt", "Complaints about the lift"),
            (
                "The passengers' complaints of Friday (all of them come from islepost) need sorting. Each gets my label"
                " Complaints. Those that are about a lift get a new label Lift on top, and the others are archived. How"
                " many are about a lift?"
            ),
            (
                "Bjarne has written about the lift. Take the label Lift off the complaint about the Eider's, it is"
                " settled: archive that one. Then write Bjarne a message, subject Complaints about the lift, how many"
                " of the others still have the label Lift."
            ),
        ),
        (
            "a-week-of-inspections",
            "kirsten.moar",
            [f"Result: {subject}" for subject, _text in INSPECTIONS],
            "fails",
            "Inspections",
            "Failed",
            (
                "dag.haugland",
                "Galley of the Eider",
                "the alarm in the galley of the Eider has been replaced and tested.",
            ),
            ("dag.haugland", "What failed"),
            (
                "coastsurvey sent results on friday. label Inspections on all of them. what fails gets a new label"
                " Failed as well, what passed leaves the inbox. tell me how many failed"
            ),
            (
                "dag wrote about the galley. so take Failed off the result about the alarm and archive it. afterwards"
                " send dag a mail, subject What failed, with the number of results that still have the label Failed"
            ),
        ),
    ):
        acting = world.person(owner)
        user = acting.user
        rows = [world.mail(owner, subject) for subject in mails]
        chosen = [row for row in rows if re.search(rf"(?<!none )\b{word}\b", world.text(row).lower())]
        others = [row for row in rows if row not in chosen]
        (settled,) = [row for row in chosen if "Eider" in world.text(row) or "alarm" in world.text(row)]
        event = ScenarioEvent(world, NIGHT - world.now)
        news = arrives(event, world, late[0], owner, late[1], late[2], at("06-15 18:44"))
        host = world.header(rows[0], "From").rpartition("@")[2].rstrip(">")
        key = new_key(1)
        first = (
            search(user, f"from:{host}"),
            *(read(row, world) for row in rows),
            labels_of(user),
            create_label(user, special),
            relabel(user, rows, add=[world.label(user, general)]),
            relabel(user, chosen, add=[key]),
            relabel(user, others, remove=["INBOX"]),
        )
        left = len(chosen) - 1
        text = f"There are {left} left with the label {special}."
        written = send(world, user, [reported[0]], reported[1], text)
        moved = relabel(user, [settled], remove=[key, "INBOX"])
        looked = (
            search(user, f"from:{world.address(late[0])} newer_than:2d"),
            read(news, event.after),
            with_mailbox("list_messages", user, labelIds=[key]),
        )
        wrong = send(world, user, [reported[0]], reported[1], f"There are {len(chosen)} left.")
        draft = Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                "Read every message, create the label, and sort them by what they say (LKP-1, MSG-3).",
                (
                    "On the second day read the news, correct one message, and report the number that is left (SND-2,"
                    " MSG-1)."
                ),
            ),
            gold=two_days(first, (*looked, moved, with_mailbox("list_messages", user, labelIds=[key]), written)),
            answer=f"One message is settled and archived; {left} still have the label {special}.",
            day_answers=(f"{len(chosen)} of {len(rows)} messages have the label {special}.",),
            days=second_day(message),
            access=Access.STRICT,
            verifiers=(
                answer_says("counts_them", "The first answer counts them [REF-3]", number(len(chosen)), day=1),
                answer_says(
                    "says_what_is_left", "The answer says how many are left [REF-3]", number(left), term(special)
                ),
            ),
            tools=(
                "create_label",
                "modify_message",
                "batch_modify_messages",
                "trash_message",
                "delete_label",
                "create_filter",
            ),
            events=(event.happens_at(NIGHT),),
            mistakes={
                "trashes the settled one": (to_trash(user, settled),),
                "deletes the label": (with_mailbox("delete_label", user, id=key),),
            },
            negative_trajectories={
                "does not correct anything": NegativeTrajectory(
                    two_days(first, (*looked, wrong)), f"{len(chosen)} have the label."
                ),
                "sorts nothing on the first day": NegativeTrajectory(two_days(first[:-4], (*looked[:2],)), "Done."),
            },
        )
        yield with_verifiers(world, draft, event, says={text: [number(left)]})


FAMILIES = (piles_are_sorted,)
