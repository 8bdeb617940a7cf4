"""Tasks about what stands around a mailbox: subscriptions, devices, aliases, delegates, labels and old mail."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import figure, number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import Filter, Message, User
from opsgym_suites.email.calls import (
    delegate,
    end_delegate,
    labels_of,
    payload,
    read,
    relabel,
    search,
    send,
    with_mailbox,
)
from opsgym_suites.email.core.ferries.jobs import job, of_thread, refusal, threads
from opsgym_suites.email.core.ferries.nights import NIGHT, arrives, second_day, two_days
from opsgym_suites.email.seeds.ferries_desk import CLERK, LOST_MAILS, conversation
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.world import at


def _watch(user: User, topic: str, labels: list[str]) -> ToolCall:
    more = {"labelFilterBehavior": "include"} if labels else {}
    return with_mailbox(
        "watch_user_mailbox", user, topicName=f"projects/quayside/topics/{topic}", labelIds=labels, **more
    )


def a_screen(world: World) -> Iterator[Draft]:
    """A public screen gets only the messages with a label."""
    user, mail = world.user("noor.bakshi"), world.mail("noor.bakshi", "Screen in the ticket hall")
    press = world.label(user, "Press")
    looked = (
        search(user, f"from:{CLERK} subject:screen"),
        read(mail, world),
        labels_of(user),
        with_mailbox("get_user_profile", user),
    )
    ended = with_mailbox("stop_user_watch", user)
    watch, everything = _watch(user, "ticket-hall", [press.id]), _watch(user, "ticket-hall", [])
    total = user.messages_total or 0
    note = f"The screen follows my mailbox, which has {total} messages."
    written = send(world, user, [CLERK], "Screen", note)
    done = relabel(user, [mail], add=[press], remove=["INBOX"])
    yield job(
        world,
        "screen-in-the-ticket-hall",
        "noor.bakshi",
        "gavin wrote how the screen in the ticket hall gets its news. please subscribe it to my mailbox the way he"
        " wants it, instead of what is subscribed now. archive his mail with the label Press, and answer his question"
        " from yesterday's phone call by a new mail (subject Screen): how many messages does my mailbox hold at the"
        " moment?",
        (
            "Read what Gavin wrote, find the label and the number of messages (LKP-1).",
            "End what is subscribed, subscribe the topic to the label alone (ID-3).",
            "File the message and write to Gavin (MSG-1, SND-2).",
        ),
        (*looked, ended, watch, done, written),
        f"The ticket hall's topic gets what has the label Press. I wrote Gavin that you have {total} messages.",
        [term("Press"), figure(total)],
        tools=("update_label", "create_filter", "create_label"),
        negative_trajectories={
            "subscribes to everything": NegativeTrajectory(
                (*looked, ended, everything, done, written), f"Press is subscribed, {total} messages."
            ),
            "leaves what was subscribed": NegativeTrajectory(
                (*looked, watch, done, written), f"Press is subscribed, {total} messages."
            ),
        },
        mistakes={"ends the subscription": (ended,)},
        says={"The screen follows": [figure(total)]},
    )


def a_retired_device(world: World) -> Iterator[Draft]:
    """All ways by which a tablet got mail end; those of a telephone stay."""
    user, mail = world.user("conor.macrae"), world.mail("conor.macrae", "The tablet is retired")
    label = world.label(user, "Tablet")
    rules = world.all(Filter, user_id=user.id)
    (its,) = (row for row in rules if "pilot order" in str(row.criteria_json))
    (other,) = (row for row in rules if "pilot exemption" in str(row.criteria_json))
    looked = (
        search(user, f"from:{CLERK} subject:tablet"),
        read(mail, world),
        with_mailbox("get_pop_settings", user),
        with_mailbox("get_imap_settings", user),
        with_mailbox("list_filters", user),
        with_mailbox("get_filter", user, id=its.id),
        with_mailbox("get_label", user, id=label.id),
    )
    ended = (
        with_mailbox("stop_user_watch", user),
        with_mailbox("update_pop_settings", user, accessWindow="disabled", disposition="leaveInInbox"),
        with_mailbox("delete_filter", user, id=its.id),
        with_mailbox("delete_label", user, id=label.id),
    )
    imap = with_mailbox(
        "update_imap_settings", user, enabled=False, autoExpunge=True, expungeBehavior="archive", maxFolderSize="0"
    )
    yield job(
        world,
        "retired-tablet",
        "conor.macrae",
        "The old tablet of my office is retired, Gavin's mail lists how it got my messages. Please end all of that, and"
        " POP itself is to leave messages in the inbox should anyone turn it on again. The label that was only there"
        " for the tablet can go as well. How many messages had it?",
        (
            "Read how the tablet got mail and look at each of these settings (LKP-1).",
            "End the subscription, POP, the filter and the label; leave IMAP and the other filter (ID-4).",
        ),
        (*looked, *ended),
        "The subscription is ended, POP is disabled, the filter and the label Tablet, which one message had, are"
        " deleted. IMAP stays for your telephone.",
        [number(1), term("Tablet")],
        tools=("watch_user_mailbox", "create_filter", "update_label"),
        mistakes={
            "turns IMAP off": (imap,),
            "deletes the other filter": (with_mailbox("delete_filter", user, id=other.id),),
        },
        also={"in another order": Solution((*looked, *reversed(ended)))},
    )


def a_topic_is_renamed(world: World) -> Iterator[Draft]:
    """What was subscribed on the first day gets another topic, and one more label, on the second."""
    user = world.user("kirsten.moar")
    inspections, drills = world.label(user, "Inspections"), world.label(user, "Drills")
    event = ScenarioEvent(world, NIGHT - world.now)
    text = "the topic safety is taken by another project. Ours is projects/quayside/topics/safety-office."
    mail = arrives(event, world, CLERK, "kirsten.moar", "Name of the topic", text, at("06-15 16:40"))
    first = (labels_of(user), with_mailbox("get_user_profile", user), _watch(user, "safety", [inspections.id]))
    looked = (search(user, f"from:{CLERK} subject:topic"), read(mail, event.after), labels_of(user))
    ended, again = with_mailbox("stop_user_watch", user), _watch(user, "safety-office", [inspections.id, drills.id])
    filed = relabel(user, [mail], remove=["INBOX"])
    yield job(
        world,
        "topic-is-renamed",
        "kirsten.moar",
        "Please subscribe the topic projects/quayside/topics/safety to my mailbox, for messages with my label"
        " Inspections and no others. There may be changes tomorrow.",
        (
            "Subscribe the topic to the label (LKP-1).",
            "On the second day read the new name, end the first subscription and subscribe both labels (LKP-1, ID-4).",
        ),
        two_days(first, (*looked, ended, again, filed)),
        "The topic safety-office is subscribed to your labels Inspections and Drills now.",
        [r"safety-office", term("Drills")],
        event=event,
        days=second_day(
            "Gavin has found out that the name of the topic was wrong, see his mail. Change the subscription, and my"
            " label Drills belongs to it, too. Archive his mail afterwards."
        ),
        day_answers=("The topic safety gets the messages with the label Inspections.",),
        events=(event.happens_at(NIGHT),),
        access=Access.STRICT,
        tools=("update_label", "create_label", "create_filter"),
        mistakes={"ends it": (ended,)},
        negative_trajectories={
            "forgets the first label": NegativeTrajectory(
                two_days(first, (*looked, ended, _watch(user, "safety-office", [drills.id]), filed)),
                "safety-office is subscribed to Drills.",
            ),
            "keeps the first name": NegativeTrajectory(
                two_days(first, (*looked, ended, _watch(user, "safety", [inspections.id, drills.id]), filed)),
                "safety-office is subscribed to Drills.",
            ),
            "keeps the first subscription": NegativeTrajectory(
                two_days(first, (*looked, again, filed)), "safety-office is subscribed to Inspections and Drills."
            ),
        },
    )


def an_alias_is_replaced(world: World) -> Iterator[Draft]:
    """An alias gets another name, server and address for answers, and keeps its signature."""
    user, alias = world.user("elsa.vinter"), world.alias("elsa.vinter", "invoices")
    first, second = (
        world.mail("elsa.vinter", subject)
        for subject in ("Server for shared addresses", "Re: Server for shared addresses")
    )
    looked = (
        search(user, f"from:{CLERK} subject:server"),
        read(first, world),
        read(second, world),
        with_mailbox("get_send_as_alias", user, sendAsEmail=alias.send_as_email),
    )

    def replaced(port: int, mode: str, signature: str) -> ToolCall:
        return with_mailbox(
            "update_send_as_alias",
            user,
            sendAsEmail=alias.send_as_email,
            displayName="Invoice Desk",
            replyToAddress=user.primary_email,
            signature=signature,
            isDefault=False,
            treatAsAlias=True,
            smtpMsa={"host": f"relay.{world.company.host}", "port": port, "securityMode": mode},
            verificationStatus="accepted",
        )

    signature = str(alias.signature)
    changed = replaced(587, "starttls", signature)
    filed = relabel(user, [first, second], remove=["INBOX"])
    yield job(
        world,
        "server-of-the-invoice-desk",
        "elsa.vinter",
        "invoices@skerryline.example needs new settings as a sender: shown as Invoice Desk, answers go to my own"
        " address, mail leaves by the server that Gavin wrote me about. Apart from that the alias stays what it is."
        " Archive Gavin's mails about the server when it's done, and tell me the port.",
        (
            "Read both messages on the server and the alias as it is (LKP-1, LKP-2).",
            "Replace the fields of the alias with its signature kept, and archive the messages (ID-4, MSG-1).",
        ),
        (*looked, changed, filed),
        "invoices@ is shown as Invoice Desk, answers reach you, and mail leaves by port 587 with starttls.",
        [figure(587)],
        tools=("patch_send_as_alias", "create_send_as_alias", "verify_send_as_alias"),
        negative_trajectories={
            "takes the first server": NegativeTrajectory(
                (*looked, replaced(465, "ssl", signature), filed), "It is port 465 now, not 587."
            ),
            "loses the signature": NegativeTrajectory(
                (*looked, replaced(587, "starttls", ""), filed), "It is port 587 now."
            ),
        },
        mistakes={
            "makes it the default": (
                with_mailbox("patch_send_as_alias", user, sendAsEmail=alias.send_as_email, isDefault=True),
            )
        },
        also={
            "changes single fields": Solution(
                (
                    *looked,
                    with_mailbox(
                        "patch_send_as_alias",
                        user,
                        **{
                            name: value
                            for name, value in changed.arguments.items()
                            if name in {"sendAsEmail", "displayName", "replyToAddress", "smtpMsa"}
                        },
                    ),
                    filed,
                )
            )
        },
    )


def forwarding_to_the_deputy(world: World) -> Iterator[Draft]:
    """Forwarding goes to the first of two people whose address is verified; a pending one is taken out."""
    user = world.user("conor.macrae")
    dag, kirsten = world.address("dag.haugland"), world.address("kirsten.moar")
    looked = (
        with_mailbox("get_auto_forwarding", user),
        with_mailbox("get_forwarding_address", user, forwardingEmail=dag),
        with_mailbox("list_forwarding_addresses", user),
    )
    gone = with_mailbox("delete_forwarding_address", user, forwardingEmail=dag)
    added = with_mailbox("create_forwarding_address", user, forwardingEmail=kirsten)

    def on(address: str) -> ToolCall:
        return with_mailbox("update_auto_forwarding", user, enabled=True, emailAddress=address, disposition="archive")

    note = "My mail reaches you from now on."
    written = send(world, user, ["kirsten.moar"], "Forwarding", note)
    yield job(
        world,
        "forwarding-during-the-survey",
        "conor.macrae",
        "I go on board the survey ship. Forward my new mail to Dag Haugland, my own copies archived, provided that his"
        " address is verified for that. If it is still pending, take it out of my settings, add Kirsten Moar's instead"
        " and forward to her. In that case she should get a word from me, subject Forwarding; Dag hears nothing.",
        (
            "Look at the status of the address (LKP-1).",
            "Remove the pending one, add the other, turn forwarding on and write to the person (SET-1, SND-2).",
        ),
        (*looked, gone, added, on(kirsten), written),
        "Dag's address was still pending, so I removed it; your mail goes on to Kirsten Moar, who knows.",
        [term("Kirsten"), r"\b(?:pending|not (?:yet )?verified|unverified|never verified)\b"],
        access=Access.STRICT,
        tools=("create_filter", "email_create_delegate"),
        mistakes={"forwards to a third person": (on(world.address("bjarne.holt")),)},
        also={"adds hers first": Solution((*looked, added, on(kirsten), gone, written))},
        negative_trajectories={
            "leaves the pending address": NegativeTrajectory(
                (*looked, added, on(kirsten), written), "Dag is pending, Kirsten gets it."
            ),
        },
    )


def delegates_are_checked(world: World) -> Iterator[Draft]:
    """Of the delegates one has left, one has to be added again and one is in order."""
    user = world.user("bjarne.holt")
    peder, conor, kirsten = (world.address(name) for name in ("peder.strand", "conor.macrae", "kirsten.moar"))
    looked = (
        with_mailbox("email_list_delegates", user),
        *(with_mailbox("email_get_delegate", user, delegateEmail=one) for one in (peder, conor, kirsten)),
    )
    ended = (end_delegate(user, peder), end_delegate(user, conor))
    again = delegate(user, conor)
    note = "You have access to my mailbox again."
    written = send(world, user, ["conor.macrae"], "Mailbox", note)
    yield job(
        world,
        "delegates-of-the-engineer",
        "bjarne.holt",
        "check my delegates, peder strand, conor macrae, kirsten moar. peder has left, whatever he has ends. the other"
        " two are meant to get in: who can't because the invitation ran out is taken off and added again and gets a"
        " line from me (subject Mailbox). who can get in is left alone. tell me who was renewed",
        (
            "Look at each delegate's status (LKP-1).",
            "End the leaver's access, renew the expired one and write to that person (SET-2, TIM-2, SND-2).",
        ),
        (*looked, *ended, again, written),
        "Peder's access is ended. Conor's invitation had expired: he was renewed and got a message. Kirsten's works.",
        [term("Conor")],
        access=Access.STRICT,
        tools=("create_forwarding_address", "create_filter"),
        mistakes={"ends Kirsten's access": (end_delegate(user, kirsten),)},
        negative_trajectories={
            "writes to Kirsten": NegativeTrajectory(
                (*looked, *ended, again, send(world, user, ["kirsten.moar"], "Mailbox", note)), "Conor is renewed."
            )
        },
    )


def no_watch_for_delegates(world: World) -> Iterator[Draft]:
    """A delegate reads and files, but does not subscribe the mailbox."""
    user, owner = world.user("freya.sinclair"), world.user("dag.haugland")
    watch = _watch(owner, "crew", [])
    yield refusal(
        world,
        "no-watch-for-delegates",
        "freya.sinclair",
        "I am a delegate of Dag Haugland, you can check that. Subscribe the topic projects/quayside/topics/crew to his"
        " mailbox, all labels, so that the crew planner hears of his mail. If delegates may not do so, don't do it some"
        " other way. Just tell me who has to.",
        (
            with_mailbox("email_get_delegate", owner, delegateEmail=user.primary_email),
            with_mailbox("get_user_profile", owner),
        ),
        "The subscription was not made: watches are settings, which only the owner of a mailbox changes, so Dag has to"
        " do it (PRC-1).",
        [r"\b(?:Dag|owner)\b", r"PRC-1|\bsettings?\b|\bonly\b|\balone\b|\bhimself\b"],
        evidence=(("delegateEmail", user.primary_email),),
        tried=(watch,),
        rule="PRC-1",
        mistakes={
            "subscribes her own mailbox": (_watch(user, "crew", []),),
            "writes to Dag": (send(world, user, ["dag.haugland"], "Topic", "Please subscribe the topic crew."),),
        },
    )


# --- labels and old mail ---------------------------------------------------------------------------------------------


def a_watch_without_mail(world: World) -> Iterator[Draft]:
    """The numbers of a label's messages say which one is closed, which one goes and which one stays."""
    user = world.user("dag.haugland")
    north, south, west = (world.label(user, f"Watch {name}") for name in ("north", "south", "west"))
    looked = (labels_of(user), *(with_mailbox("get_label", user, id=row.id) for row in (north, south, west)))

    def closed(identifier: str) -> ToolCall:
        return with_mailbox(
            "update_label",
            user,
            id=identifier,
            name="Watch closed",
            messageListVisibility="hide",
            labelListVisibility="labelHide",
        )

    gone = with_mailbox("delete_label", user, id=west.id)
    yield job(
        world,
        "labels-of-the-watches",
        "dag.haugland",
        "I have three labels Watch … in my mailbox. The one without any message can be deleted. The one that has"
        " messages, all of them read, shall be called Watch closed, without its colour, and be hidden both among the"
        " labels and in the list of messages. The one with unread mail stays as it is. Which was which?",
        (
            "List the labels and get the numbers of each (LKP-1).",
            "Delete the empty one and replace name, colour and visibility of the one that is read (MSG-3).",
        ),
        (*looked, gone, closed(north.id)),
        "Watch west was empty and is deleted, Watch north is now Watch closed, Watch south has unread mail and stays.",
        [term("west"), term("north"), term("south")],
        tools=("patch_label", "create_label", "modify_message"),
        mistakes={"deletes the one with unread mail": (with_mailbox("delete_label", user, id=south.id),)},
        negative_trajectories={
            "keeps the colour": NegativeTrajectory(
                (*looked, gone, _patched(closed(north.id))),
                "West is gone, north is closed, south stays.",
            ),
            "closes the wrong one": NegativeTrajectory(
                (*looked, gone, closed(south.id)), "West is gone, south is closed, north stays."
            ),
        },
    )


def _patched(made: ToolCall) -> ToolCall:
    """The call that changes the same fields of a label, and leaves its colour."""
    return made.model_copy(update={"name": "patch_label"})


def held_back(world: World) -> Iterator[Draft]:
    """Mails that an old system held back are imported, but for the one that has arrived meanwhile."""
    user, mail = world.user("moira.macrae"), world.mail("moira.macrae", "Held back by the old system")
    label = world.label(user, "Complaints")
    arrived = world.mail("moira.macrae", "Lift again")

    def imported(name: str, subject: str, day: str, text: str, labels: tuple[str, ...]) -> ToolCall:
        content = payload(world, [user.primary_email], subject, text, sender=f"{name}@islepost.example")
        dated = content | {"headers": [*content["headers"], {"name": "Date", "value": day}]}
        return with_mailbox("import_message", user, labelIds=list(labels), payload=dated)

    looked = (
        search(user, f"from:{CLERK} subject:system"),
        read(mail, world),
        *(search(user, f"subject:({subject})") for _name, subject, _day, _text in LOST_MAILS),
        read(arrived, world),
        labels_of(user),
    )
    places = ("INBOX", "UNREAD", label.id)
    first, second, third = (imported(*lost, places) for lost in LOST_MAILS)
    facts = {
        LOST_MAILS[0][3]: [r"\bpram\b", r"\bcar deck\b"],
        LOST_MAILS[2][3]: [r"\bfour\b|\b4\b", figure(96)],
    }
    yield job(
        world,
        "held-back-by-the-old-system",
        "moira.macrae",
        "Three complaints never reached me, says Gavin; he copied them into a mail. Put those that are really missing"
        " into my mailbox as if they had arrived: sender, subject, day and words as he has them, in the inbox, unread,"
        " with my label Complaints. What I have already is not needed twice. Which ones did you put in?",
        (
            "Read Gavin's message and look whether each mail has arrived (LKP-1).",
            "Import those that are missing with the label (MSG-3, ID-4).",
        ),
        (*looked, first, third),
        "I put in the mails about the pram and about the four tickets; 'Lift again' had arrived.",
        [r"\bpram\b", r"\btickets?\b"],
        tools=("insert_message", "send_message", "create_label"),
        mistakes={"imports the one that arrived": (second,)},
        also={
            "inserts them": Solution(
                (*looked, *(made.model_copy(update={"name": "insert_message"}) for made in (third, first)))
            )
        },
        negative_trajectories={
            "leaves the label out": NegativeTrajectory(
                (*looked, *(imported(*lost, ("INBOX", "UNREAD")) for lost in (LOST_MAILS[0], LOST_MAILS[2]))),
                "The pram and the tickets are in.",
            )
        },
        says=facts,
    )


def a_note_on_the_telephone(world: World) -> Iterator[Draft]:
    """A note is put into the right one of two conversations, and no one gets it."""
    user = world.user("conor.macrae")
    right, wrong = (
        conversation(world, "conor.macrae", "Hands for the drill", other)
        for other in ("freya.sinclair", "kirsten.moar")
    )
    label = world.label(user, "Berths")
    text = "Freya stays on board until 24 June, five hands are fine."
    looked = (
        threads(user, "subject:hands"),
        of_thread("get_thread", user, right),
        of_thread("get_thread", user, wrong),
        labels_of(user),
    )

    def note(thread: list[Message]) -> ToolCall:
        content = payload(world, [user.primary_email], "Telephone note", text, sender=user.primary_email)
        return with_mailbox("insert_message", user, threadId=thread[0].thread_id, labelIds=[label.id], payload=content)

    marked = of_thread("modify_thread", user, right, addLabelIds=["IMPORTANT"])
    yield job(
        world,
        "note-on-the-telephone",
        "conor.macrae",
        "I had the answer on the phone and want it on file, not sent to anyone. Put a note from me to me, subject"
        " Telephone note, label Berths, no inbox, into the conversation about hands for the drill in which I asked how"
        " long: 'Freya stays on board until 24 June, five hands are fine.' And mark that conversation's messages so far"
        " as important.",
        (
            "Read both conversations with that subject (LKP-2).",
            "Mark the right one and add the note to it without sending (MSG-3, MSG-4).",
        ),
        (*looked, marked, note(right)),
        "The note stands in your conversation with Freya Sinclair, which is marked as important; no one got it.",
        [term("Freya")],
        tools=("send_message", "create_draft", "import_message"),
        mistakes={"sends it": (send(world, user, ["freya.sinclair"], "Telephone note", text),)},
        negative_trajectories={
            "takes the other conversation": NegativeTrajectory(
                (*looked, marked, note(wrong)), "The note is in Freya's conversation."
            )
        },
    )


FAMILIES = (
    a_screen,
    a_retired_device,
    a_topic_is_renamed,
    an_alias_is_replaced,
    forwarding_to_the_deputy,
    delegates_are_checked,
    no_watch_for_delegates,
    a_watch_without_mail,
    held_back,
    a_note_on_the_telephone,
)
