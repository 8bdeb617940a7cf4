"""Tasks about writing: answers whose facts stand elsewhere, drafts that are out of date, messages that go on."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import all_of, apart, figure, on_date, term
from opsgym_suites.email.calls import (
    answer,
    change_draft,
    forward,
    payload,
    read,
    relabel,
    search,
    send,
    to_trash,
    with_mailbox,
)
from opsgym_suites.email.seeds.press import CELESTE, THEO
from opsgym_suites.email.seeds.press_stories import ASKED, DRAFTED, VERSIONS
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

MORE = ("send_message", "create_draft", "modify_message", "modify_thread", "get_thread", "trash_message")


def answers_with_facts(world: World) -> Iterator[Draft]:
    """A question is answered with what a newer message states; an older one states something else."""
    for slug, reply, facts, prompt in (
        (
            "stock-for-the-chain",
            "Half a Kingdom arrives on 24 November, and you can have 1460 copies.",
            (on_date(at("11-24").date()), figure(1460)),
            (
                "Wendell Pryor asks about Half a Kingdom. Samuel must have written when the lorry comes and how many"
                " copies the chain can have; please answer Wendell with both, him alone. Afterwards star his question"
                " so that I find it."
            ),
        ),
        (
            "turin-offer-for-the-agent",
            "Turin pays 5350 on signature and signs on 30 November.",
            (figure(5350), on_date(at("11-30").date())),
            (
                "Celeste Okoye has a question about The Ninth Violin in Turin. Amira reported what was agreed there."
                " Would you reply to Celeste, and to no one else, with the amount and the day? Then archive her"
                " message."
            ),
        ),
        (
            "measure-for-the-bindery",
            "The trimmed block is 198 mm high and 126 mm wide.",
            apart((figure(198), "high|height"), (figure(126), "wide|width")),
            (
                "maren dahl waits for the measures of Winter Orchards. greta sent the final ones. answer maren, height"
                " and width, leave samuel out of it. mark her mail as important when done"
            ),
        ),
        (
            "payment-of-an-invoice",
            "We paid invoice 47950 on 6 November, reference 77314.",
            (on_date(at("11-06").date()), figure(77314)),
            (
                "Paula Ferreira cannot find our payment of invoice 47950. It was in one of the bank batches, a person"
                " wrote me about each. Tell Paula in reply the day and the reference (only Paula), and put the label"
                " Paid on her message."
            ),
        ),
        (
            "deadline-for-the-author",
            "The corrections must be here by 4 December, and the index may have 16 pages.",
            (on_date(at("12-04").date()), figure(16)),
            (
                "ruben castillo wants to know the deadline for The Understudy plus the pages of the index, priyanka has"
                " the current schedule. reply just to ruben pls, then file his mail under Manuscripts"
            ),
        ),
    ):
        owner, asker, subject, _text, old, new = ASKED[slug]
        acting = world.person(owner)
        user, question = acting.user, world.mail(owner, subject)
        first, last = (world.mail(owner, fact[1], world.address(fact[0])) for fact in (old, new))
        looked = (
            search(user, f"from:{world.address(asker)} in:inbox newer_than:7d"),
            read(question, world),
            search(user, f"from:{world.address(new[0])} newer_than:30d"),
            read(first, world),
            read(last, world),
            with_mailbox("list_labels", user),
        )
        mark = {
            "harriet.vance": "STARRED",
            "jonas.berglund": "IMPORTANT",
            "lucie.moreau": "Paid",
            "oscar.delgado": "Manuscripts",
        }
        mark_name = mark.get(owner)
        marked = (
            relabel(user, [question], add=[mark_name if mark_name.isupper() else world.label(user, mark_name)])
            if mark_name
            else relabel(user, [question], remove=["INBOX"])
        )
        text = f"Hello,\n\n{reply}\n\nRegards"
        sent = answer(world, user, question, text)
        copies = [
            name for name in ("lucas.moreau", "samuel.osei") if world.address(name) in world.header(question, "Cc")
        ]
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Read the question, and find the newest message that states the facts (LKP-1, LKP-2).",
                    "Answer the sender alone in the thread, and mark the question (SND-1, SND-2).",
                ),
                gold=(*looked, sent, marked),
                answer=f"I answered {subject!r}: {reply}",
                verifiers=(
                    answer_says(
                        "repeats_the_facts",
                        "The answer says what was written [REF-3]",
                        all_of(facts),
                    ),
                ),
                tools=MORE,
                mistakes={
                    "answers all": (answer(world, user, question, text, [asker, *copies]),),
                    "writes to the source too": (answer(world, user, last, text),),
                    "trashes the question": (to_trash(user, question),),
                },
                also={"marks first": Solution((*looked, marked, sent))},
            ),
            says={reply: facts},
        )


def drafts_are_corrected(world: World) -> Iterator[Draft]:
    """A draft is wrong since a message came; its copy goes, and it is sent only if the request says so."""
    for slug, text, facts, prompt in (
        (
            "print-run-sent",
            "please print 4500 copies of Cold Kitchen and deliver them to the warehouse in week 50.",
            apart((figure(4500), "copies"), (term("50"), "weeks?")),
            (
                "My draft to Theo about the print run of Cold Kitchen has an old number in it, Lucas has sent me the"
                " right one. Put it in, leave the rest as it is and send the draft. And there is a copy of the draft,"
                " delete that."
            ),
        ),
        (
            "meeting-redrafted",
            "we meet on Wednesday 9 December at 10:00 in the attic. Please bring your figures.",
            (on_date(at("12-09").date()), "attic"),
            (
                "The invitation to the editorial meeting in December that I drafted is no longer true, see Nadia's"
                " message about the library. Please correct day and place in the draft, but do not send it yet, I want"
                " to read it once more. The copy of this draft is superfluous."
            ),
        ),
        (
            "delivery-sent",
            "we deliver 11 pallets of Bread and Weather to your depot on Monday 23 November.",
            (*apart((figure(11), "pallets?"), (term("23"), "november")), on_date(at("11-23").date())),
            (
                "draft to wendell about Bread and Weather: jonas says day and number of pallets changed. fix both, send"
                " it. theres a second draft called copy of... throw that away"
            ),
        ),
        (
            "cover-note-redrafted",
            "we take the blue cloth for The Salt Road, 2850 covers, foil in copper.",
            (figure(2850), "copper"),
            (
                "Felix wrote about The Salt Road, so my draft to Maren on the cloth needs the other foil and the new"
                " number of covers; the cloth stays. Update the draft for me (no sending, please) and delete its copy."
            ),
        ),
    ):
        owner, to, subject, _old, (sender, about_it, _fact, _when) = DRAFTED[slug]
        acting = world.person(owner)
        user, draft, copy = acting.user, world.draft(owner, subject), world.draft(owner, f"Copy of {subject}")
        fact = world.mail(owner, about_it, world.address(sender))
        looked = (
            with_mailbox("list_drafts", user),
            with_mailbox("get_draft", user, id=draft.id),
            with_mailbox("get_draft", user, id=copy.id),
            search(user, f"from:{world.address(sender)} newer_than:7d"),
            read(fact, world),
        )
        whole = f"Hello,\n\n{text}\n\nRegards"
        gone = with_mailbox("delete_draft", user, id=copy.id)
        change = change_draft(world, user, draft, [to], subject, whole)
        final = {"payload": payload(world, [to], subject, whole)}
        is_sent = slug.endswith("sent")
        made = call("send_draft", userId=user.primary_email, id=draft.id, message=final) if is_sent else change
        also = (
            {
                "updates it first": Solution(
                    (*looked, gone, change, call("send_draft", userId=user.primary_email, id=draft.id, message=final))
                )
            }
            if is_sent
            else {}
        )
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Find the draft, its copy, and the message with the facts (LKP-1).",
                    "Correct the draft, send it if the request says so, and delete the copy (MSG-5).",
                ),
                gold=(*looked, made, gone),
                answer=(
                    f"The draft {subject!r} now says: {text} {'It is sent' if is_sent else 'It is not sent'}, its copy"
                    " is deleted."
                ),
                verifiers=(
                    answer_says(
                        "repeats_the_facts",
                        "The answer says what was corrected [REF-3]",
                        all_of(facts),
                    ),
                ),
                tools=("update_draft", "send_draft", "delete_draft", "send_message", "create_draft"),
                mistakes={
                    "sends a second message": (send(world, user, [to], subject, whole),),
                    "tells the source": (answer(world, user, fact, "Done."),),
                    **(
                        {}
                        if is_sent
                        else {"sends it": (call("send_draft", userId=user.primary_email, id=draft.id, message=final),)}
                    ),
                },
                also={"deletes the copy first": Solution((*looked, gone, made)), **also},
            ),
            says={text: facts},
        )


def versions_go_on(world: World) -> Iterator[Draft]:
    """The newest of several versions is forwarded; it is not the one with the latest dates in it."""
    for slug, readers, note, prompt in (
        (
            "schedule-forwarded",
            ["jonas.berglund", "greta.lindholm"],
            "For your planning.",
            (
                "Theo sent several versions of the press schedule for Rivers Without Names. Forward the one he wrote"
                " last to Jonas Berglund and Greta Lindholm, in one message, and archive his older ones."
            ),
        ),
        (
            "clause-forwarded",
            ["mei.tanaka"],
            "The newest wording.",
            (
                "Please forward to Mei Tanaka the most recent wording of clause 14 that Celeste Okoye has given me"
                " (there are three messages of the same subject), and take the two outdated ones out of the inbox."
            ),
        ),
        (
            "programme-forwarded",
            [THEO, CELESTE],
            "With our invitation.",
            (
                "programme of the winter evening: lucas sent 3. forward the newest mail to theo marchetti"
                " (theo.marchetti@vellumprint.example) and celeste okoye (celeste.okoye@harrowlit.example), both in"
                " one go, and archive the two others"
            ),
        ),
        (
            "rates-forwarded",
            ["lucie.moreau"],
            "As agreed.",
            (
                "Jonas keeps changing the pallet rates of 2027... forward his last mail on it to Lucie, that is Lucie"
                " Moreau in finance. the earlier two can leave the inbox"
            ),
        ),
    ):
        owner, sender, subject, _texts = VERSIONS[slug]
        acting = world.person(owner)
        user = acting.user
        rows = sorted(
            world.mails(owner, subject, world.address(sender)), key=lambda row: int(row.internal_date_ms or 0)
        )
        *older, newest = rows
        looked = (
            search(user, f"from:{world.address(sender)} subject:({subject.split(':')[0].split()[0].lower()})"),
            *(read(row, world) for row in rows),
        )
        stated = world.text(newest).partition("stands: ")[2].partition(".")[0]
        facts = [
            figure(int(word))
            for word in stated.replace(",", " ").replace(":", " ").split()
            if word.isdigit() and word != "00"
        ]
        sent = forward(world, user, newest, readers, note)
        filed = relabel(user, older, remove=["INBOX"])
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Find all versions and see from their times which is the newest (LKP-1, LKP-2).",
                    "Forward it with `Fwd:` to the named people alone, and archive the others (SND-1, SND-2, MSG-1).",
                ),
                gold=(*looked, sent, filed),
                answer=f"I forwarded the version of 13 November: {stated}. The older ones are archived.",
                verifiers=(
                    answer_says(
                        "says_which",
                        "The answer says which version it is [REF-3]",
                        on_date(at("11-13").date()),
                        *facts[:1],
                    ),
                ),
                tools=MORE,
                mistakes={
                    "forwards an older one too": (forward(world, user, older[0], readers, note),),
                    "archives the newest": (relabel(user, [newest], remove=["INBOX"]),),
                },
                also={"archives first": Solution((*looked, filed, sent))},
            ),
            says={note: [r"[:.,\s]+".join(part for part in stated.replace(",", " ").replace(":", " ").split())]},
        )


FAMILIES = (answers_with_facts, drafts_are_corrected, versions_go_on)
