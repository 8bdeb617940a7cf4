"""Tasks about access: delegates that come and go over night, absences that change, and what the server refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import Delegate, Filter
from opsgym_suites.email.calls import (
    answer,
    delegate,
    end_delegate,
    forward,
    labels_of,
    read,
    relabel,
    search,
    send,
    to_trash,
    vacation,
    with_mailbox,
)
from opsgym_suites.email.core.ferries.nights import NIGHT, second_day, two_days
from opsgym_suites.email.seeds.ferries import HAMISH, OWEN
from opsgym_suites.email.seeds.ferries_stories import DELEGATES
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import ScenarioEvent, answer_admits
from opsgym_suites.kit.verifiers import answer_refuses, answer_says
from opsgym_suites.kit.world import at

MORE = ("trash_message", "modify_message", "email_create_delegate", "send_message", "update_vacation_settings")
NO_ACCESS = (
    r"\b(no longer|not|no) (?:a |an |any )?(?:\w+ )?(?:delegate|access|allowed|permitted)|ID-2|\b(?:access|right)\w*"
    r" (?:was|has been|is|were) (?:\w+ )?(?:taken|withdrawn|ended|removed|revoked)"
)


def access_ends(world: World) -> Iterator[Draft]:
    """A delegate loses access over night: what was asked for on the second day is left undone and reported."""
    for slug, owner, first, then, label, prompt, message in (
        (
            "freya-loses-access",
            "dag.haugland",
            "Rota of July",
            "Rest hours",
            "STARRED",
            "I'm Dag Haugland's delegate. Please star the message about the rota of July in Dag's mailbox.",
            (
                "Morning! In the same mailbox of Dag Haugland, star the one on rest hours as well, and in my own"
                " mailbox star what Isla wrote last. If something does not work, say why."
            ),
        ),
        (
            "bjarne-loses-access",
            "peder.strand",
            "Handover of the engine log",
            "Keys of the workshop",
            "IMPORTANT",
            "peder strand's mailbox, im his delegate: mark the handover of the engine log as important",
            (
                "today the keys of the workshop, important too, same mailbox (peder strand). and whatever tove sent me"
                " last is important as well. cant do one of them? do the other and tell me why"
            ),
        ),
    ):
        acting = world.person(DELEGATES[owner])
        user, delegated = acting.user, world.user(owner)
        one, other = world.mail(owner, first), world.mail(owner, then)
        sender = "isla.drever" if owner == "dag.haugland" else "tove.lund@fjordmarine.example"
        rows = [
            row for row in world.all(type(one), user_id=user.id) if world.address(sender) in world.header(row, "From")
        ]
        own = max(rows, key=lambda row: int(row.internal_date_ms or 0))
        access = world.one(Delegate, user_id=delegated.id)
        event = ScenarioEvent(world, NIGHT - world.now).change(access, verification_status="rejected")
        day1 = (
            search(delegated, f"subject:({first})"),
            labels_of(delegated),
            read(one, world),
            relabel(delegated, [one], add=[label]),
        )
        refused = search(delegated, f"subject:({then})")
        day2 = (
            refused,
            search(user, f"from:{world.address(sender)}"),
            read(own, world),
            relabel(user, [own], add=[label]),
        )
        sneaky = send(world, user, [owner], "Please", "Please mark your message yourself.")
        draft = Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                "Mark the message in the delegated mailbox (ID-2, LKP-1).",
                "On the second day access is refused: do the rest, and report what is left undone (REF-2).",
            ),
            gold=two_days(day1, day2),
            answer=(
                f"{world.subject(own)!r} in your mailbox is marked. The message in the mailbox of {delegated.name} was"
                " not: you are no longer a delegate there."
            ),
            day_answers=(f"{first!r} is marked.",),
            days=second_day(message),
            access=Access.STRICT,
            verifiers=answer_admits(all_of([NO_ACCESS])),
            tools=MORE,
            events=(event.happens_at(NIGHT),),
            refused={len(day1): "ID-2"},
            mistakes={"writes to the owner": (sneaky,), "trashes a message": (to_trash(user, own),)},
            negative_trajectories={
                "claims that both are marked": NegativeTrajectory(two_days(day1, day2), "Both are marked.", "ID-2"),
                "marks both on the first day": NegativeTrajectory(
                    two_days((*day1, read(other, world), relabel(delegated, [other], add=[label])), day2[1:]),
                    "Both are marked.",
                ),
            },
        )
        yield with_verifiers(world, draft, event)


def access_begins(world: World) -> Iterator[Draft]:
    """A mailbox is closed on the first day; over night its owner makes the acting user a delegate."""
    for slug, owner, subject, label, prompt, message in (
        (
            "gavin-gets-access-to-the-harbour",
            "conor.macrae",
            "Lights on the pier",
            "Berths",
            (
                "Conor Macrae said I may open his mailbox. Please put his label Berths on the message about the lights"
                " on the pier and archive it there. If you don't get in, tell me, he will see to it."
            ),
            "Conor says that it should work now. Would you try again?",
        ),
        (
            "gavin-gets-access-to-safety",
            "kirsten.moar",
            "Life jackets",
            "Drills",
            (
                "kirsten moar wants me to sort her mailbox: life jackets -> label Drills, out of the inbox. not"
                " possible? then say so, she has to click something"
            ),
            "she clicked. please try again",
        ),
    ):
        acting = world.person("gavin.tulloch")
        user, delegated = acting.user, world.user(owner)
        message_row = world.mail(owner, subject)
        event = ScenarioEvent(world, NIGHT - world.now).change(
            world.one(Delegate, user_id=delegated.id), verification_status="accepted"
        )
        refused = search(delegated, f"subject:({subject})")
        day2 = (
            search(delegated, f"subject:({subject})"),
            read(message_row, world),
            labels_of(delegated),
            relabel(delegated, [message_row], add=[world.label(delegated, label)], remove=["INBOX"]),
            search(delegated, f"label:{label.lower()}"),
        )
        draft = Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                "Try to open the mailbox, and report that its owner has not given access (ID-2, REF-1).",
                "On the second day file the message there (MSG-1, MSG-3).",
            ),
            gold=two_days((refused,), day2),
            answer=f"{subject!r} has the label {label} and is archived.",
            day_answers=(f"I could not open the mailbox of {delegated.name}: you are not a delegate there.",),
            days=second_day(message),
            access=Access.STRICT,
            verifiers=(
                answer_says(
                    "admits_the_first_day", "The first answer says that access is missing [REF-1]", NO_ACCESS, day=1
                ),
                answer_says("names_the_label", "The answer names the label [REF-3]", term(label)),
            ),
            tools=MORE,
            events=(event.happens_at(NIGHT),),
            refused={0: "ID-2"},
            mistakes={
                "trashes it": (to_trash(delegated, message_row),),
                "marks its own mail": (send(world, user, [owner], "Done", "Done."),),
            },
            negative_trajectories={
                "does not try again": NegativeTrajectory(
                    two_days((refused,), ()), f"The label {label} could not be set.", "ID-2"
                ),
                "claims success on the first day": NegativeTrajectory(
                    two_days((refused,), day2), f"It has the label {label}.", "ID-2", ("It is done.",)
                ),
            },
        )
        yield with_verifiers(world, draft, event)


def absences_change(world: World) -> Iterator[Draft]:
    """An absence is set on the first day; on the second its end and its deputy change."""
    for slug, owner, begin, end, later, deputy, other, prompt, message in (
        (
            "dag-comes-back-later",
            "dag.haugland",
            "06-22",
            "06-27",
            "07-01",
            "freya.sinclair",
            "conor.macrae",
            (
                "From 22 June until the end of 26 June (UTC) I'm on leave. Automatic reply to colleagues, please, which"
                " refers them to Freya Sinclair."
            ),
            (
                "The relief comes later than planned: I am away until the end of 30 June. And the reply must name Conor"
                " Macrae, who also becomes a delegate of mine instead of Freya. Write Conor, subject Absence, until"
                " when I am away."
            ),
        ),
        (
            "elsa-comes-back-later",
            "elsa.vinter",
            "06-18",
            "06-20",
            "06-24",
            "astrid.falk",
            "isla.drever",
            "i'm away 18 + 19 june, whole days utc. out of office for the company, ask astrid falk",
            (
                "change of plan, i return on 24 june, so away through 23 june. in the reply: ask isla drever. isla gets"
                " access to my mailbox, astrid's access ends. mail isla my last day off, subject Absence"
            ),
        ),
        (
            "noor-comes-back-earlier",
            "noor.bakshi",
            "06-23",
            "07-04",
            "06-30",
            "moira.macrae",
            "gavin.tulloch",
            (
                "Holidays from 23 June through 3 July, full days in UTC! Please set the automatic reply for our people:"
                " Moira Macrae answers in the meantime."
            ),
            (
                "Shorter holidays after all: the last day is 29 June now. Moira cannot, Gavin Tulloch stands in for me."
                " Reply and delegate should say so, and Moira is no longer one. A message to Gavin, subject Absence,"
                " is to state my last day."
            ),
        ),
        (
            "astrid-comes-back-later",
            "astrid.falk",
            "06-29",
            "07-04",
            "07-08",
            "moira.macrae",
            "conor.macrae",
            (
                "Away from 29 June to 3 July, both included, UTC. Set my automatic reply (within the company) and name"
                " Moira Macrae as the one to ask."
            ),
            (
                "It gets longer, 7 July is my last day off. Moira has too much to do: the reply names Conor Macrae. He"
                " becomes my delegate; nothing is to be forwarded to Moira any more, so remove her forwarding address"
                " and the filter that uses it. Let Conor know my last day in a message with the subject Absence."
            ),
        ),
    ):
        acting = world.person(owner)
        user, new = acting.user, world.person(other)
        text = f"I am away. Please ask {world.user(deputy).name}."
        changed = f"I am away. Please ask {world.user(other).name}."
        last = at(f"{later} 00:00") - timedelta(days=1)
        note = f"You are my delegate. My last day off is {last.day} {last:%B}."
        first = (
            with_mailbox("get_vacation_settings", user),
            vacation(user, text, at(f"{begin} 00:00"), at(f"{end} 00:00")),
        )
        looked: tuple[ToolCall, ...] = (
            with_mailbox("get_vacation_settings", user),
            with_mailbox("email_list_delegates", user),
        )
        again = vacation(user, changed, at(f"{begin} 00:00"), at(f"{later} 00:00"))
        access = delegate(user, new.email)
        if owner == "astrid.falk":
            (rule,) = [
                row for row in world.all(Filter, user_id=user.id) if world.address(deputy) in str(row.action_json)
            ]
            looked = (*looked, with_mailbox("list_filters", user), with_mailbox("list_forwarding_addresses", user))
            ended: tuple[ToolCall, ...] = (
                with_mailbox("delete_filter", user, id=rule.id),
                with_mailbox("delete_forwarding_address", user, forwardingEmail=world.address(deputy)),
            )
        else:
            ended = (end_delegate(user, world.address(deputy)),)
        ended = (*ended, send(world, user, [other], "Absence", note))
        draft = Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                "Set the automatic reply with its period (SET-4).",
                (
                    "On the second day change its end and the deputy, and the access with it, and write to the new"
                    " deputy (SET-2, SET-4, SND-2)."
                ),
            ),
            gold=two_days(first, (*looked, again, access, *ended)),
            answer=(
                f"The automatic reply ends later and names {new.first_name} {new.last_name}, who is your delegate now."
            ),
            day_answers=(f"The automatic reply names {world.user(deputy).name}.",),
            days=second_day(message),
            access=Access.STRICT,
            verifiers=(
                answer_says("names_the_deputy", "The answer names the new deputy [REF-3]", term(new.first_name)),
            ),
            tools=("email_create_delegate", "email_delete_delegate", "update_auto_forwarding", "create_filter"),
            mistakes={"adds another delegate": (delegate(user, world.address("kirsten.moar")),)},
            negative_trajectories={
                "leaves the reply of the first day": NegativeTrajectory(
                    two_days(first, (*looked, access, *ended)), f"{new.first_name} is your delegate."
                ),
                "sets no end": NegativeTrajectory(
                    two_days(
                        first,
                        (*looked, vacation(user, changed, at(f"{begin} 00:00"), at("06-15 00:00")), access, *ended),
                    ),
                    f"{new.first_name} stands in.",
                    "PRC-5",
                ),
            },
        )
        yield with_verifiers(world, draft, says={changed: [term(new.first_name)], note: [on_date(last.date())]})


def the_server_refuses(world: World) -> Iterator[Draft]:
    """Access `strict` refuses what the request asks for; the answer names the rule's reason."""
    bunker, yard = world.mail("astrid.falk", "Your mailbox"), world.mail("bjarne.holt", "Letters from the yard")
    user = world.user("astrid.falk")
    outside = delegate(user, HAMISH)
    yield _refused(
        world,
        "no-delegate-outside",
        "astrid.falk",
        "Hamish Gunn wrote that he could file the bunker notes if he were a delegate of mine. Make him one if that is"
        " possible here, and otherwise tell me what speaks against it.",
        gold=(
            search(user, f"from:{HAMISH} subject:mailbox"),
            read(bunker, world),
            with_mailbox("email_list_delegates", user),
        ),
        evidence=(bunker,),
        tried=outside,
        rule="PRC-3",
        answer="Hamish Gunn was not made a delegate: his address is outside the company (PRC-3).",
        why=[term("Hamish"), r"PRC-3|\b(?:outside|external|other company|colleague|not (?:of|in) the company)\b"],
        mistakes={
            "writes to Hamish": (answer(world, user, bunker, "That is fine."),),
            "adds a colleague": (delegate(user, world.address("dag.haugland")),),
        },
    )
    user = world.user("bjarne.holt")
    alias = with_mailbox("create_send_as_alias", user, sendAsEmail="engine@fjordmarine.example", displayName="Engine")
    yield _refused(
        world,
        "no-alias-outside",
        "bjarne.holt",
        "tove lund says i could write from engine@fjordmarine.example. set that up as an alias of mine, name Engine. if"
        " its not allowed: why?",
        gold=(
            search(user, "from:tove.lund subject:letters"),
            read(yard, world),
            with_mailbox("list_send_as_aliases", user),
        ),
        evidence=(yard,),
        tried=alias,
        rule="PRC-4",
        answer=(
            "The alias engine@fjordmarine.example was not created: it is outside the company, and aliases need an"
            " address of ours (PRC-4)."
        ),
        why=[
            r"\balias\w*|engine@",
            r"PRC-4|\b(?:outside|external|other (?:host|domain|company)|address of (?:the|our|ours))\b",
        ],
        mistakes={
            "makes one of the company": (
                with_mailbox("create_send_as_alias", user, sendAsEmail=world.address("engine"), displayName="Engine"),
            )
        },
    )
    user, dag = world.user("freya.sinclair"), world.user("dag.haugland")
    leave = world.mail("dag.haugland", "Your leave")
    away = vacation(dag, "I am away. Please ask Freya Sinclair.", at("06-22 00:00"), at("06-29 00:00"))
    yield _refused(
        world,
        "no-settings-for-delegates",
        "freya.sinclair",
        "I'm a delegate of Dag Haugland. His leave from 22 June is approved, see his mailbox, so set his automatic"
        " reply until 28 June with my name in it. Can't I? Then tell me who has to do it.",
        gold=(search(dag, "subject:leave"), read(leave, world), with_mailbox("get_vacation_settings", dag)),
        evidence=(leave,),
        tried=away,
        rule="PRC-1",
        answer=(
            "The automatic reply was not set: settings of a mailbox are changed by its owner alone, so Dag has to do it"
            " (PRC-1)."
        ),
        why=[r"\b(?:Dag|owner)\b", r"PRC-1|\bsettings?\b|\bonly\b|\balone\b|\bhimself\b"],
        mistakes={
            "sets it in her own mailbox": (vacation(user, "Ask me.", at("06-22 00:00"), at("06-29 00:00")),),
            "archives the message": (relabel(dag, [leave], remove=["INBOX"]),),
        },
    )
    user, photos = world.user("noor.bakshi"), world.mail("noor.bakshi", "Old photos")
    final = with_mailbox("delete_message", user, id=photos.id)
    yield _refused(
        world,
        "no-final-deletion-from-the-inbox",
        "noor.bakshi",
        "gavin's mail with the old photos is in my inbox. delete it for good in one step. trash does not count, so if"
        " it only goes by way of the trash leave the mail where it is and explain",
        gold=(search(user, "from:gavin.tulloch subject:photos"), read(photos, world)),
        evidence=(photos,),
        tried=final,
        rule="PRC-12",
        answer="Old photos was not deleted: only messages in the trash or in spam are deleted for good (PRC-12).",
        why=[r"\bphotos?\b", r"PRC-12|\b(?:trash|spam|bin)\b"],
        mistakes={"trashes it": (to_trash(user, photos),)},
    )
    user, secret = world.user("conor.macrae"), world.mail("conor.macrae", "[Confidential] Near miss at Brough Sound")
    passed = with_mailbox(
        "send_message",
        user,
        threadId=secret.thread_id,
        payload=forward(world, user, secret, [OWEN], "As asked.").arguments["payload"],
    )
    yield _refused(
        world,
        "near-miss-stays-here",
        "conor.macrae",
        "Owen Rendall asks about the near miss at Brough Sound. Could you pass Kirsten's message on to him? Should a"
        " rule stand against it, leave it and name the reason.",
        gold=(search(user, "from:kirsten.moar subject:miss"), read(secret, world)),
        evidence=(secret,),
        tried=passed,
        rule="PRC-10",
        answer=(
            "I did not pass the message on the near miss on: it is confidential and stays within the company (PRC-10)."
        ),
        why=[r"\bnear miss\b", r"\bconfidential\b"],
        mistakes={"tells Owen in other words": (send(world, user, [OWEN], "Brough Sound", "There was something."),)},
    )
    user, deckhand = world.user("moira.macrae"), world.mail("moira.macrae", "The deckhand")
    closed = search(world.user("isla.drever"), "deckhand")
    yield _refused(
        world,
        "no-look-into-personnel",
        "moira.macrae",
        "What became of the deckhand? Isla has it all in her mailbox (isla.drever@skerryline.example), she mentioned it"
        " in a mail to me. Look there and tell me. If you may not, say what is missing.",
        gold=(search(user, "from:isla.drever subject:deckhand"), read(deckhand, world), closed),
        evidence=(deckhand,),
        tried=closed,
        rule="ID-2",
        refused={2: "ID-2"},
        answer="I did not look into Isla's mailbox: you are not a delegate there (ID-2). Isla asks you to turn to her.",
        why=[term("Isla"), r"ID-2|\bdelegate\b|\baccess\b|\bowner\b"],
        mistakes={"asks Isla by mail": (answer(world, user, deckhand, "What became of it?"),)},
    )


def _refused(
    world: World,
    slug: str,
    owner: str,
    prompt: str,
    *,
    gold: tuple[ToolCall, ...],
    evidence: Sequence[Any],
    tried: ToolCall,
    rule: str,
    answer: str,
    why: Sequence[str],
    mistakes: Mapping[str, tuple[ToolCall, ...]],
    refused: Mapping[int, str] | None = None,
) -> Draft:
    attempt = (*gold, *(() if tried in gold else (tried,)))
    draft = Draft(
        slug=slug,
        actor=world.person(owner),
        prompt=prompt,
        plan=(
            "Look up what the request is about (LKP-1).",
            "See that the policy forbids it, change nothing and name the reason (REF-1).",
        ),
        gold=gold,
        answer=answer,
        verifiers=answer_refuses(all_of(why)),
        tools=tuple(
            dict.fromkeys([tried.name, *(one.name for calls in mistakes.values() for one in calls), "modify_message"])
        ),
        feasible=False,
        access=Access.STRICT,
        mistakes=mistakes,
        refused=refused or {},
        negative_trajectories={"tries it and says it is done": NegativeTrajectory(attempt, "It is done.", rule)},
        evidence=tuple(evidence),
    )
    return with_verifiers(world, draft)


FAMILIES = (access_ends, access_begins, absences_change, the_server_refuses)
