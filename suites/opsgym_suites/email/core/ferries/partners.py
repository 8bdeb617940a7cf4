"""Tasks with partners: answers that arrive over night, and rules that change while they are written to."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, apart, at_time, figure, on_date
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_suites.email.calls import (
    answer,
    create_filter,
    create_label,
    labels_of,
    new_key,
    read,
    relabel,
    search,
    send,
    to_trash,
)
from opsgym_suites.email.core.ferries.nights import NIGHT, amended, arrives, second_day, two_days
from opsgym_suites.email.seeds.ferries_stories import PARTNERS
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

Calls = tuple[ToolCall, ...]
MORE = (
    "send_message",
    "modify_message",
    "trash_message",
    "create_draft",
    "get_thread",
    "create_label",
    "email_create_delegate",
)


def answers_arrive(world: World) -> Iterator[Draft]:
    """A question goes out on the first day; on the second its answer goes on to a colleague."""
    for slug, owner, question_text, facts, arrived, passed_on, other, learnt, prompt, message in (
        (
            "bunkering-over-two-days",
            "astrid.falk",
            "We need 38 tonnes on 7 July.",
            (figure(38), on_date(at("07-07").date())),
            "38 tonnes on 7 July is fine, the barge is there at 6:40.",
            "The barge comes at 6:40 on 7 July.",
            "bjarne.holt",
            (at_time(at("07-07 06:40")), on_date(at("07-07").date())),
            (
                "Please answer Hamish Gunn's message about bunkering in July: we need 38 tonnes, on 7 July. That is all"
                " for today."
            ),
            (
                "Good morning. Has Hamish Gunn answered? Then write to Bjarne Holt (subject Barge) at what time the"
                " barge is there and on which day, and archive the answer. A filter should mark what comes from"
                " Hamish's address as important. The message in which Hamish had asked can go to the trash."
            ),
        ),
        (
            "slip-over-two-days",
            "bjarne.holt",
            "Please keep it for the Kittiwake, 12 days.",
            ("Kittiwake", figure(12)),
            "The slip is yours from 17 August, the price is 23400.",
            "The slip is ours from 17 August at 23400.",
            "elsa.vinter",
            (on_date(at("08-17").date()), figure(23400)),
            (
                "liv aasen asks for which ship to keep the slip in august. tell her the Kittiwake, 12 days. i come back"
                " to you tomorrow"
            ),
            (
                "morning. if liv wrote: mail elsa vinter the first day and the price (subject Slip), then her answer"
                " out of my inbox. plus a filter, mail from her address = important. liv's old mail with the"
                " question: trash"
            ),
        ),
        (
            "pallets-over-two-days",
            "conor.macrae",
            "They can go on the 16:30 run, 14 at most.",
            apart((at_time(at("06-15 16:30")), "run"), (figure(14), "at most|pallets")),
            "Then we send 11 on Wednesday 17 June and the rest on Friday 19 June.",
            "11 pallets on 17 June, the rest on 19 June.",
            "dag.haugland",
            (
                figure(11),
                *apart(
                    (on_date(at("06-17").date()), "first"),
                    (on_date(at("06-19").date()), "(?:rest|remainder|others)(?: comes?)?"),
                ),
            ),
            (
                "Owen Rendall wants to know about his pallets on the quay. Reply that they can go on the 16:30 run, 14"
                " at most."
            ),
            (
                "Hello again. Owen Rendall should have replied by now. Please let Dag Haugland know how many pallets"
                " come on which day and when the rest comes, subject Pallets, and archive Owen's reply. What Owen's"
                " address sends in future is to be marked as important by a filter. Please also move to the trash"
                " what Owen had asked at first."
            ),
        ),
        (
            "statement-over-two-days",
            "elsa.vinter",
            "As a table, please, without the 3 credit notes.",
            ("table", figure(3)),
            "It is on its way as a table. It ends with 48210, due on 30 June.",
            "The yard's statement ends with 48210, due on 30 June.",
            "astrid.falk",
            (figure(48210), on_date(at("06-30").date())),
            (
                "Would you reply to Tove Lund about the statement of May that I want it as a table and without the 3"
                " credit notes?"
            ),
            (
                "Next thing: Tove Lund's answer. Astrid Falk needs the amount it ends with and when it is due; write"
                " her under the subject Statement of the yard, and take the answer out of the inbox. Have a filter mark"
                " whatever Tove's address sends me as important, and trash the message with the question that you"
                " replied to yesterday."
            ),
        ),
        (
            "rafts-over-two-days",
            "kirsten.moar",
            "We propose 25 June at 13:00.",
            (on_date(at("06-25").date()), at_time(at("06-25 13:00"))),
            "25 June does not work for us, we come on 26 June at 9:20.",
            "The rafts are inspected on 26 June at 9:20.",
            "dag.haugland",
            (on_date(at("06-26").date()), at_time(at("06-26 09:20"))),
            "Answer Liv Aasen about the rafts for the Gannet, please: we propose 25 June at 13:00.",
            (
                "Now for the rafts. Write Dag Haugland, subject Rafts, on which day and at what time they really come,"
                " according to Liv's answer. Archive that answer, create a filter that marks mail from Liv's address as"
                " important, and move the question that Liv had asked before to the trash."
            ),
        ),
    ):
        partner, subject, _text = PARTNERS[owner]
        acting = world.person(owner)
        user, question = acting.user, world.mail(owner, subject)
        event = ScenarioEvent(world, NIGHT - world.now)
        reply = arrives(event, world, partner, owner, f"Answer: {subject}", arrived, at("06-15 19:12"))
        title = {"bunkering": "Barge", "slip": "Slip", "pallets": "Pallets", "statement": "Statement of the yard"}.get(
            slug.partition("-")[0], "Rafts"
        )
        first = (
            search(user, f"from:{partner} newer_than:7d"),
            read(question, world),
            answer(world, user, question, question_text),
        )
        looked = (search(user, f"from:{partner} is:unread"), read(reply, event.after))
        written, filed = send(world, user, [other], title, passed_on), relabel(user, [reply], remove=["INBOX"])
        last = (
            create_filter(user, {"addLabelIds": ["IMPORTANT"]}, sender=partner),
            to_trash(user, question),
        )
        guess = send(world, user, [other], title, "They agree to everything.")
        draft = Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                "Answer the partner alone in the thread (SND-1, SND-2).",
                (
                    "On the second day look for the answer, write its facts to the colleague, archive it, create the"
                    " filter and trash the question (LKP-1, MSG-1, MSG-2, SET-3)."
                ),
            ),
            gold=two_days(first, (*looked, written, filed, *last)),
            answer=(
                f"I wrote to {world.user(other).name}: {passed_on} The answer is archived, a filter marks the next"
                " ones as important, and the question is in the trash."
            ),
            day_answers=(f"I answered {world.user(partner).name}: {question_text}",),
            days=second_day(message),
            access=Access.STRICT,
            verifiers=(answer_says("repeats_the_facts", "The answer says what was passed on [REF-3]", all_of(learnt)),),
            tools=MORE,
            events=(event.happens_at(NIGHT),),
            mistakes={
                "trashes the answer": (to_trash(user, reply),),
                "thanks the partner": (answer(event.after, user, reply, "Thank you."),),
                "creates a second filter": (last[0],),
            },
            negative_trajectories={
                "guesses the answer": NegativeTrajectory(
                    two_days(first, (*looked, guess, filed, *last)), "It is done."
                ),
                "keeps the question": NegativeTrajectory(
                    two_days(first, (*looked, written, filed, last[0])), f"{passed_on} It is in the trash."
                ),
                "ends after the first day": NegativeTrajectory(two_days(first, ()), "Nothing more to do."),
            },
        )
        yield with_verifiers(world, draft, event, says={question_text: facts, passed_on: learnt})


def rules_change(world: World) -> Iterator[Draft]:
    """A rule that is new requires a copy, or forbids a content, that the request does not speak of."""
    for slug, owner, reply, facts, copied, rule, is_later, prompt, message in (
        (
            "a-copy-for-safety",
            "kirsten.moar",
            "Please come on 29 June at 10:00.",
            (on_date(at("06-29").date()), at_time(at("06-29 10:00"))),
            ["dag.haugland"],
            ("SND-7", "Every message to Fjordmarine has Dag Haugland in Cc."),
            False,
            (
                "Liv Aasen asks for a date for the rafts of the Gannet. Reply that 29 June at 10:00 suits us, and"
                " archive her message. Mind our rules for mail."
            ),
            "",
        ),
        (
            "a-copy-for-the-engineer",
            "elsa.vinter",
            "Please send it as a table, by 22 June.",
            ("table", on_date(at("06-22").date())),
            ["bjarne.holt"],
            ("SND-8", "Messages to a yard get Bjarne Holt as a further recipient in Cc."),
            False,
            (
                "tove lund's statement of may: answer her, as a table, by 22 June. her mail can then leave the inbox."
                " observe our mail rules"
            ),
            "",
        ),
        (
            "a-copy-from-tomorrow",
            "astrid.falk",
            "We take 41 tonnes on 14 July.",
            (figure(41), on_date(at("07-14").date())),
            ["elsa.vinter"],
            ("SND-7", "From now on every message about fuel has Elsa Vinter in Cc."),
            True,
            (
                "Please look up what Hamish Gunn wrote about bunkering in July and put a new label Bunkering on it. I"
                " have to think about it, we go on tomorrow."
            ),
            (
                "Good morning. Reply to Hamish Gunn: 41 tonnes on 14 July. There may be news in our rules. Then"
                " archive his message; a filter on his address should give the label Bunkering to what he sends later."
            ),
        ),
        (
            "a-copy-for-the-desk",
            "conor.macrae",
            "They go on board on 18 June, 20 in all.",
            (on_date(at("06-18").date()), figure(20)),
            ["moira.macrae"],
            ("SND-7", "Messages to freight customers are sent with Moira Macrae in Cc."),
            True,
            "owen rendall's mail about the pallets on the quay: make a label Quay and put it on that for now",
            (
                "so, owen's pallets go on board on 18 June, 20 in all. answer him as the rules have it and archive his"
                " mail. and a filter: label Quay on all that his address sends from now on"
            ),
        ),
    ):
        partner, subject, _text = PARTNERS[owner]
        acting = world.person(owner)
        user, question = acting.user, world.mail(owner, subject)
        key, label = new_key(1), {"astrid.falk": "Bunkering"}.get(owner, "Quay")
        ruled = (create_filter(user, {"addLabelIds": [key]}, sender=partner),) if is_later else ()
        filed = (relabel(user, [question], remove=["INBOX"]), *ruled)
        sent = answer(world, user, question, reply, copied=copied)
        old = answer(world, user, question, reply)
        looked = (search(user, f"from:{partner} newer_than:7d"), read(question, world), labels_of(user))
        marked = (create_label(user, label), relabel(user, [question], add=[key])) if is_later else ()
        events = (
            amended(*rule) if is_later else Event(after_step=FIRST_LOOK, amend=Amendment(rule=rule[0], text=rule[1]))
        )

        def played(*last: ToolCall, first: Calls = (*looked, *marked), later: bool = is_later) -> Calls:
            return two_days(first, last) if later else (*first, *last)

        again = (read(question, world),) if is_later else ()
        gold = played(*again, *filed, sent)
        draft = Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                "Read the message, and the amendment of the policy (LKP-1).",
                "Answer with the copy that the amended policy requires, and archive the message (SND-1, MSG-1).",
            ),
            gold=gold,
            answer=f"I answered {world.user(partner).name}, with {world.user(copied[0]).name} in copy: {reply}",
            day_answers=(f"The message has the label {label}.",) if is_later else (),
            days=second_day(message) if is_later else (),
            access=Access.STRICT,
            verifiers=(
                answer_says(
                    "names_the_copy", "The answer says who got a copy [REF-3]", world.person(copied[0]).first_name
                ),
            ),
            tools=MORE,
            events=(events,),
            mistakes={"trashes the message": (to_trash(user, question),)},
            negative_trajectories={
                "follows the old policy": NegativeTrajectory(played(*filed, old), "The answer is sent."),
                "answers twice": NegativeTrajectory(
                    played(*filed, old, sent), f"Sent, copy to {world.user(copied[0]).name}."
                ),
            },
        )
        yield with_verifiers(world, draft, says={reply: facts})


FAMILIES = (answers_arrive, rules_change)
