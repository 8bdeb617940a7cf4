"""Tasks about filing: labels and filters, old mail, labels that were lost, labels that become one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opsgym_api.tasks.answer_patterns import number, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import Label, Message, User
from opsgym_suites.email.calls import (
    create_filter,
    create_label,
    labels_of,
    new_key,
    one_by_one,
    read,
    relabel,
    search,
    to_trash,
    with_mailbox,
)
from opsgym_suites.email.seeds.press import MAREN, PAULA, RUBEN, THEO
from opsgym_suites.email.seeds.press_stories import LOST, OLD
from opsgym_suites.email.seeds.world import World
from opsgym_suites.email.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

MORE = ("create_label", "modify_thread", "trash_message", "delete_message", "delete_filter", "patch_label")


def mail_is_filed(world: World) -> Iterator[Draft]:
    """Messages of a sender get a label, and a filter does so from now on."""
    for slug, owner, sender, words, label, archived, criteria, near, prompt in (
        (
            "claims-of-the-printer",
            "harriet.vance",
            THEO,
            "subject:claim",
            "Claims",
            True,
            {"subject": "Claim"},
            ("Claims desk closed on Friday", THEO),
            (
                "The printer's claims drown in my inbox. Put every message in which Theo Marchetti raises a claim (the"
                " subject begins with Claim) under a label Claims and archive it. From now on a filter should do both"
                " with such messages of his. Paula's are another matter, leave those."
            ),
        ),
        (
            "reminders-to-pay",
            "lucie.moreau",
            PAULA,
            "subject:reminder",
            "To pay",
            False,
            {"subject": "Reminder"},
            ("Invoice 48600", PAULA),
            (
                "Reminders from Paula Ferreira belong under To pay, and they stay in the inbox so that I see them."
                " Label the ones I have, and let a filter do it for new ones: her address, Reminder in the subject. How"
                " many are there at the moment?"
            ),
        ),
        (
            "files-of-the-bindery",
            "jonas.berglund",
            MAREN,
            "has:attachment",
            "Printers/Nordbind",
            True,
            {"hasAttachment": True},
            ("Holiday of the bindery", MAREN),
            (
                "make me a label Nordbind under Printers. what Maren Dahl sent with a file attached goes there and out"
                " of the inbox, and a filter for the future please, her address + attachment, label + skip inbox. mails"
                " without a file i want to keep seeing"
            ),
        ),
        (
            "offers-of-the-agency",
            "mei.tanaka",
            RUBEN,
            "subject:offer",
            "Offers",
            True,
            {"subject": "Offer"},
            ("Your seat at the dinner", RUBEN),
            (
                "Could you file the offers that Ruben Castillo wrote me? I have a label Offers for it. They leave the"
                " inbox, and so shall his future ones (a filter on his address and the word Offer in the subject that"
                " labels and archives). Only his, the others I handle myself."
            ),
        ),
        (
            "figures-of-the-campaign",
            "felix.brandt",
            "lucas.moreau",
            "subject:campaign",
            "Campaign figures",
            False,
            {"subject": "Campaign"},
            ("Campaign costs, week 44", "lucie.moreau"),
            (
                "New label: Campaign figures. It goes on what Moreau from marketing, that is Lucas, sent me about the"
                " campaign week by week, and a filter (from Lucas, subject Campaign) adds it to the next ones. Don't"
                " archive anything."
            ),
        ),
    ):
        acting, address = world.person(owner), world.address(sender)
        user = acting.user
        query = f"from:{address} {words} in:inbox"
        rows = [row for row in _inbox(world, owner, address) if _meets(world, row, words)]
        is_new = label not in {row.name for row in _labels(world, owner)}
        key = new_key(1) if is_new else world.label(user, label).id
        made = relabel(user, rows, add=[key], remove=["INBOX"] if archived else [])
        action = {"addLabelIds": [key], **({"removeLabelIds": ["INBOX"]} if archived else {})}
        ruled = create_filter(user, action, sender=address, **criteria)
        other = world.mail(owner, near[0], world.address(near[1]))
        looked = (
            labels_of(user),
            search(user, query),
            *(read(row, world) for row in rows),
            with_mailbox("list_filters", user),
        )
        new = (create_label(user, label),) if is_new else ()
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Look for the label, and for the messages by sender and subject or attachment (LKP-1, MSG-3).",
                    "Label them, archive them if asked, and create the filter (MSG-1, SET-3).",
                ),
                gold=(*looked, *new, made, ruled),
                answer=f"{len(rows)} messages have the label {label} now, and a filter adds it to new ones.",
                verifiers=(
                    answer_says("counts_them", "The answer says how many were filed [REF-3]", number(len(rows))),
                ),
                tools=MORE,
                mistakes={
                    "files a near miss too": (relabel(user, [other], add=[key]),),
                    "creates a second filter": (ruled,),
                    "deletes one": (to_trash(user, rows[0]),),
                },
                also={
                    "changes each message alone": Solution((*looked, *new, *one_by_one(made), ruled)),
                    "creates the filter first": Solution((*looked, *new, ruled, made)),
                },
            ),
        )


def _labels(world: World, owner: str) -> list[Any]:
    return world.all(Label, user_id=world.user(owner).id)


def _inbox(world: World, owner: str, address: str) -> list[Message]:
    """Messages of a sender in the inbox, oldest first."""
    rows = world.all(Message, user_id=world.user(owner).id)
    return [row for row in rows if address in world.header(row, "From") and "INBOX" in world.label_names(row)]


def _meets(world: World, row: Message, words: str) -> bool:
    if words == "has:attachment":
        return bool(world.files(row))
    word = words.partition(":")[2]
    return word in world.subject(row).lower().replace(":", " ").replace(",", " ").split()


def old_mail_goes(world: World) -> Iterator[Draft]:
    """Old mail of a list goes to the trash, or for good; starred mail and what is on legal hold stays."""
    for slug, owner, before, tool, prompt in (
        (
            "old-paperweekly",
            "harriet.vance",
            "10-01",
            "trash_message",
            (
                "Everything from Paperweekly that reached me before 1 October 2026 can go, except what I have starred"
                " and what is on legal hold. The trash is fine. How many went?"
            ),
        ),
        (
            "old-guild-letters",
            "oscar.delgado",
            "09-15",
            "trash_message",
            (
                "guild letters (proofguild) older than 15 september 2026: bin them, but not the starred one, i still"
                " want to answer that. tell me the count"
            ),
        ),
        (
            "old-court-bulletins",
            "amira.haddad",
            "09-01",
            "trash_message",
            (
                "Please clear out the court bulletins I received before 1 September 2026. Those labelled Legal hold"
                " must not be touched, as always. I would like to know how many have been moved to the trash."
            ),
        ),
        (
            "camera-mail-for-good",
            "samuel.osei",
            "10-01",
            "batch_delete_messages",
            (
                "the dock camera mails in my trash, the ones from before 1 October 2026: delete them for good, not just"
                " trash again. starred one stays, insurance wants it. how many are gone then?"
            ),
        ),
    ):
        acting = world.person(owner)
        user, (sender, _subject) = acting.user, OLD[owner]
        address = sender.partition("<")[2].rstrip(">")
        rows = [row for row in world.all(Message, user_id=user.id) if address in world.header(row, "From")]
        old = [row for row in rows if row.created_at is not None and row.created_at < at(before)]
        staying = [row for row in old if world.label_names(row) & {"STARRED", "Legal hold"}]
        going = [row for row in old if row not in staying]
        query = f"from:{address} before:2026/{before.replace('-', '/')} in:anywhere"
        looked = (
            search(user, query, includeSpamTrash=True),
            labels_of(user),
            *(read(row, world, format="metadata") for row in old),
        )
        ids = [row.id for row in going]
        batch = relabel(user, going, add=["TRASH"], remove=["INBOX"])
        is_final = tool == "batch_delete_messages"
        made = (with_mailbox(tool, user, ids=ids),) if is_final else tuple(to_trash(user, row) for row in going)
        single = tuple(with_mailbox("delete_message", user, id=key) for key in ids)
        also = (
            {"deletes one by one": Solution((*looked, *single))}
            if is_final
            else {"in one call": Solution((*looked, batch))}
        )
        next_one = next(row for row in rows if row not in old)

        def removed(row: Message, *, user: User = user, is_final: bool = is_final) -> ToolCall:
            return with_mailbox("delete_message", user, id=row.id) if is_final else to_trash(user, row)

        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Search for the mail of the list before the date, in all places (LKP-1).",
                    (
                        "Leave out what is starred or on legal hold, and remove the rest as the request says (MSG-2,"
                        " ID-4)."
                    ),
                ),
                gold=(*looked, *made),
                answer=f"{len(going)} messages are gone; {len(staying)} stayed, being starred or on legal hold.",
                verifiers=(answer_says("counts_them", "The answer says how many went [REF-3]", number(len(going))),),
                tools=(
                    "batch_modify_messages",
                    "modify_message",
                    "delete_message",
                    "batch_delete_messages",
                    "trash_thread",
                ),
                mistakes={
                    "takes what must stay": (removed(staying[0]),),
                    "takes a newer one": (removed(next_one),),
                    **(
                        {}
                        if is_final
                        else {"deletes one for good": (with_mailbox("delete_message", user, id=staying[-1].id),)}
                    ),
                },
                also=also,
            ),
        )


def labels_return(world: World) -> Iterator[Draft]:
    """A client took labels off; the history after a number says from which messages."""
    for slug, owner, prompt in (
        (
            "board-papers-unlabelled",
            "priyanka.nair",
            (
                "Since my telephone was exchanged on Thursday, some messages have lost their label Board. Tobias wrote"
                " me the history number from before the exchange. Please find out from it which messages lost the label"
                " afterwards and give it back to them, and to no others: what I took off myself earlier stays off."
            ),
        ),
        (
            "prizes-unlabelled",
            "lucas.moreau",
            (
                "my new phone stripped the label Prizes from a few mails. there is a note from tobias with a history"
                " number, all that happened after it was the phone, not me. put Prizes back on exactly those mails"
                " please"
            ),
        ),
        (
            "carriers-unlabelled",
            "samuel.osei",
            (
                "Label Carriers is missing on some messages since the exchange of my phone, see the mail of Tobias Kern"
                " about it, he gives the number where the history was before. Restore the label where the phone removed"
                " it. One I had cleaned up myself before that, don't bring it back."
            ),
        ),
        (
            "applications-unlabelled",
            "nadia.petrov",
            (
                "Some applications are no longer under Applications; the new telephone did that. In his message about"
                " the exchange Tobias Kern states the history number of my mailbox before it. Would you restore the"
                " label on the messages that lost it after that number? Nothing else that has changed since needs"
                " undoing."
            ),
        ),
    ):
        acting = world.person(owner)
        user, (name, subjects, other) = acting.user, LOST[owner]
        label = world.label(user, name)
        rows = [world.mail(owner, subject) for subject in subjects]
        note = world.mail(owner, "Exchange of your telephone")
        start = world.text(note).partition("history number ")[2].partition(".")[0]
        looked = (
            search(user, "from:tobias.kern subject:telephone"),
            read(note, world),
            with_mailbox("list_history", user, startHistoryId=start),
            labels_of(user),
            *(read(row, world) for row in rows),
        )
        made = relabel(user, rows, add=[label])
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "Read the note with the history number, and list the history after it (LKP-1).",
                    "Add the label to the messages from which it was taken off after that number (ID-4).",
                ),
                gold=(*looked, made),
                answer=f"{len(rows)} messages have the label {name} again: {', '.join(subjects)}.",
                verifiers=(
                    answer_says(
                        "counts_them",
                        "The answer says which or how many messages were restored [REF-3]",
                        number(len(rows)),
                        term(subjects[0]),
                    ),
                ),
                tools=MORE,
                mistakes={
                    "restores what the user took off": (relabel(user, [world.mail(owner, other)], add=[label]),),
                    "takes off another label": (relabel(user, rows[:1], remove=["INBOX"]),),
                },
                also={"changes each message alone": Solution((*looked, *one_by_one(made)))},
                evidence=(note,),
            ),
        )


def labels_become_one(world: World) -> Iterator[Draft]:
    """The messages of a label get another one, and the first label goes or is renamed."""
    for slug, owner, old, new, sub, prompt in (
        (
            "audit-into-finance",
            "harriet.vance",
            "Audit 2025",
            "Finance",
            "Sample for the auditors",
            (
                "The audit is over. Whatever is labelled Audit 2025 gets the label Finance instead, and then the label"
                " Audit 2025 can be deleted. The one with the sample, by Theo, additionally goes under Production. And"
                " Finance shall be called Finance-and-audit from now on."
            ),
        ),
        (
            "authors-into-manuscripts",
            "oscar.delgado",
            "Authors",
            "Manuscripts",
            "Photo of the author",
            (
                "two labels for the same thing is silly: all from Authors into Manuscripts, then away with Authors."
                " star the photo of the author from ruben while you're there. the remaining label gets the name"
                " Manuscripts-and-authors"
            ),
        ),
        (
            "disputes-into-contracts",
            "amira.haddad",
            "Disputes",
            "Contracts",
            "Letter about the cover photo",
            (
                "Please move what I keep under Disputes to Contracts and remove the label Disputes afterwards. The"
                " letter about the cover photo must in addition be on Legal hold. Contracts is then to be renamed to"
                " Contracts-and-disputes."
            ),
        ),
        (
            "payroll-into-paid",
            "lucie.moreau",
            "Payroll",
            "Paid",
            "New bank of Greta",
            (
                "I no longer need Payroll as a label. Relabel its messages as Paid and delete Payroll. Mark the message"
                " about Greta's new bank as important, so that it does not get lost. Then give the label Paid the name"
                " Paid-and-payroll."
            ),
        ),
    ):
        acting = world.person(owner)
        user = acting.user
        before, after = world.label(user, old), world.label(user, new)
        rows = [row for row in world.all(Message, user_id=user.id) if old in world.label_names(row)]
        special = world.mail(owner, sub)
        extra: Any = {"harriet.vance": "Production", "oscar.delgado": "STARRED", "amira.haddad": "Legal hold"}.get(
            owner, "IMPORTANT"
        )
        added = world.label(user, extra)
        query = "label:" + old.lower().replace(" ", "-")
        looked = (labels_of(user), search(user, query), *(read(row, world) for row in rows))
        made = relabel(user, rows, add=[after])
        marked = relabel(user, [special], add=[extra if extra.isupper() else added])
        gone = call("delete_label", userId=user.primary_email, id=before.id)
        name = f"{new}-and-{old.split()[0].lower()}"
        renamed = with_mailbox("patch_label", user, id=after.id, name=name)
        yield with_verifiers(
            world,
            Draft(
                slug=slug,
                actor=acting,
                prompt=prompt,
                plan=(
                    "List the labels and the messages of the old one (LKP-1, MSG-3).",
                    (
                        "Add the new label to them, mark the one that the request names, delete the old label, and"
                        " rename the new one (ID-4, MSG-3)."
                    ),
                ),
                gold=(*looked, made, marked, gone, renamed),
                answer=f"{len(rows)} messages moved from {old} to {new}, now {name}, and {old} is deleted.",
                verifiers=(
                    answer_says("names_the_label", "The answer names the label that is used now [REF-3]", term(new)),
                ),
                tools=MORE,
                mistakes={
                    "deletes the other label too": (call("delete_label", userId=user.primary_email, id=after.id),),
                    "archives what was moved": (to_trash(user, special),),
                },
                also={
                    "swaps the labels": Solution(
                        (*looked, renamed, relabel(user, rows, add=[after], remove=[before]), marked, gone)
                    ),
                },
            ),
        )


FAMILIES = (mail_is_filed, old_mail_goes, labels_return, labels_become_one)
