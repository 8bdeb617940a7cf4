"""Keys, certificates, conversations and services of the ferry company on which tasks turn.

Look-ups: `KEY_FILES`, `CERTIFICATES`, `CONVERSATIONS`, `SICK_NOTES`, `LOST_MAILS` and `SERVICES` state who has what.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from opsgym_domains.email.mime import milliseconds
from opsgym_domains.email.tables import (
    CseIdentity,
    CseKeyPair,
    Message,
    MessageLabel,
    PopSettings,
    User,
    WatchSubscription,
)
from opsgym_suites.email.seeds.ferries import LIV, OWEN, TOVE
from opsgym_suites.email.seeds.letters import (
    Letter,
    add_alias,
    add_label,
    exchange,
    named,
    notice,
    put,
    record,
    stamped,
)
from opsgym_suites.email.seeds.press_stories import (
    add_certificate,
    add_delegate,
    add_filter,
    add_forwarding,
    add_key_pair,
    one,
)
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.world import at

CLERK = "gavin.tulloch"
"""Who looks after keys and devices."""


def add_desk_stories(world: World) -> None:
    """All stories."""
    for add in (_keys, _certificates, _conversations, _trash, _services):
        add(world)


def armoured(kind: str, line: str) -> str:
    """A text in PEM."""
    return f"-----BEGIN {kind}-----\n{line}\n-----END {kind}-----\n"


# --- keys and certificates -------------------------------------------------------------------------------------------

KEY_FILES = {
    "Public key for your new token": armoured("PKCS7", "MIIBqzCCAVGgAwIBAgIU0q3vT7"),
    "Public key for your new token, once more": armoured("PKCS7", "MIIBrTCCAVOgAwIBAgIUY81wLe"),
}
"""Key files that the purser got, by subject; only the last one is right."""
CERTIFICATES = {
    "own.pem": armoured("CERTIFICATE", "MIICpDCCAYwCCQDb27own4q"),
    "notices.pem": armoured("CERTIFICATE", "MIICqTCCAZECFGx90ntc1Zk"),
}
"""Certificates that the press officer got, by the name of the file."""


def _keys(world: World) -> None:
    first, second = KEY_FILES
    text = "your token is worn out. The public key of the new one is in the file, the private key is on token 9."
    one(world, CLERK, "elsa.vinter", first, text, "06-10 09:05", files={"public-key.p7b": KEY_FILES[first]})
    text = (
        "please do not use the file of Wednesday, that key was made on the test bench. The right one is attached here;"
        " its private key is on token 11 in the harbour safe."
    )
    one(world, CLERK, "elsa.vinter", second, text, "06-12 16:10", files={"public-key.p7b": KEY_FILES[second]})
    _identity(world, "elsa.vinter", "elsa.vinter", add_key_pair(world, "elsa.vinter", 2))
    add_key_pair(world, "elsa.vinter", 1, "disabled", "04-20 10:00")
    add_key_pair(world, "elsa.vinter", 3, "disabled", "06-01 10:00")

    _identity(world, "astrid.falk", "astrid.falk", add_key_pair(world, "astrid.falk", 2))
    for number in (4, 5):
        add_key_pair(world, "astrid.falk", number, "disabled", "06-08 10:00")
    add_key_pair(world, "astrid.falk", 6)
    text = (
        "for the operations address take token 4 to sign and token 5 to encrypt. Both are off while the reader is being"
        " repaired."
    )
    one(world, CLERK, "astrid.falk", "Tokens of the operations address", text, "06-08 10:15", ["INBOX"])
    text = (
        "the reader works again. Token 4 can be turned on, the card of token 5 is broken and has to stay off. Encrypt"
        " with token 6 instead, which is on already; token 4 signs as planned."
    )
    one(world, CLERK, "astrid.falk", "Reader repaired", text, "06-12 15:45", ["INBOX"])

    user = world.user("dag.haugland")
    for name in ("crewing", "relief"):
        add_alias(world, user, world.address(name), name.capitalize())
    shared, alone = (add_key_pair(world, "dag.haugland", number) for number in (2, 3))
    add_key_pair(world, "dag.haugland", 1, "disabled", "05-04 10:00")
    add_key_pair(world, "dag.haugland", 4, "disabled", "05-29 10:00")
    for name, pair in (("dag.haugland", shared), ("crewing", shared), ("relief", alone)):
        _identity(world, "dag.haugland", name, pair)

    _identity(world, "kirsten.moar", "kirsten.moar", add_key_pair(world, "kirsten.moar", 2))
    add_key_pair(world, "kirsten.moar", 3, "disabled", "06-02 10:00")


def _identity(world: World, owner: str, address: str, pair: CseKeyPair) -> None:
    row = CseIdentity(user_id=world.user(owner).id, email_address=world.address(address))
    row.primary_key_pair_id = pair.key_pair_id
    world.add(stamped(row, at("04-02 08:00")))


def _certificates(world: World) -> None:
    add_alias(world, world.user("noor.bakshi"), world.address("notices"), "Notices")
    add_certificate(world, "noor.bakshi", "notices", "Tessera Root 2025", "07-31 00:00", is_default=True)
    add_certificate(world, "noor.bakshi", "notices", "Tessera Root 2023", "05-31 00:00", is_default=False)
    add_certificate(world, "noor.bakshi", "noor.bakshi", "Tessera Root 2025", "09-30 00:00", is_default=True)
    text = (
        "two certificates, both issued by Tessera Root 2026: own.pem is for your own address and valid until 1 October"
        " 2026, 00:00 UTC, notices.pem is for the shared one and valid until 1 December 2026, 00:00 UTC. Your own one"
        " I shall add myself when the old one ends."
    )
    one(world, CLERK, "noor.bakshi", "Certificates for signing", text, "06-12 13:20", files=CERTIFICATES)
    for issuer, until, is_default in (
        ("Tessera Root 2024", "08-31 00:00", True),
        ("Tessera Root 2022", "04-30 00:00", False),
        ("Tessera Root 2023", "06-01 00:00", False),
    ):
        add_certificate(world, "isla.drever", "isla.drever", issuer, until, is_default=is_default)


# --- conversations ---------------------------------------------------------------------------------------------------

CONVERSATIONS: Mapping[str, Sequence[tuple[str, str, Sequence[tuple[str, str]], Sequence[str]]]] = {
    "bjarne.holt": (
        (
            LIV,
            "Crane on the slip",
            (
                (LIV, "we can lend you the crane in July, from the 6th on."),
                ("bjarne.holt", "Good, for three days. What may it lift?"),
                (LIV, "It depends on the jib. How heavy is your heaviest piece?"),
            ),
            ["TRASH"],
        ),
        (
            TOVE,
            "Crane on the slip",
            (
                (TOVE, "here is what the crane costs a day: 480."),
                ("bjarne.holt", "Too much for us."),
                (TOVE, "Understood, then we leave it at that. How is the weather?"),
            ),
            ["TRASH"],
        ),
    ),
    "noor.bakshi": (
        (
            OWEN,
            "Charter on 3 July",
            ((OWEN, "can we have a boat for forty guests?"), ("noor.bakshi", "Yes."), (OWEN, "No, we call it off.")),
            ["INBOX"],
        ),
        (
            TOVE,
            "Charter on 9 July",
            (
                (TOVE, "we would like to call off the trip of the yard."),
                ("noor.bakshi", "A pity. Shall I keep the day for you until Friday?"),
                (TOVE, "Please do, we may come after all. What would it cost for thirty?"),
            ),
            ["INBOX"],
        ),
        (
            LIV,
            "Charter on 17 July",
            (
                (LIV, "is the Gannet free in the evening?"),
                ("noor.bakshi", "It is, until ten."),
                (LIV, "We have decided otherwise and need no boat any more."),
            ),
            ["INBOX"],
        ),
        (
            OWEN,
            "Charter on 24 July",
            ((OWEN, "one more for the 24th, sixty guests?"), ("noor.bakshi", "Let me ask."), (OWEN, "Any news?")),
            ["INBOX"],
        ),
    ),
    "elsa.vinter": (
        (
            LIV,
            "Lease of the winch",
            (
                (LIV, "the lease of the winch ends in May, shall it go on?"),
                ("elsa.vinter", "No, we send it back."),
                (LIV, "Then please send it to our lower yard."),
            ),
            ["INBOX"],
        ),
    ),
    "gavin.tulloch": (
        (
            OWEN,
            "Camera on the pier",
            (
                (OWEN, "your camera looks straight into our cold store. Can it be turned?"),
                ("gavin.tulloch", "By how much?"),
                (OWEN, "Thirty degrees to the north. And when?"),
            ),
            ["INBOX"],
        ),
    ),
    "conor.macrae": (
        (
            "freya.sinclair",
            "Hands for the drill",
            (("freya.sinclair", "you need four hands for the drill?"), ("conor.macrae", "Five. Until when?")),
            [],
        ),
        (
            "kirsten.moar",
            "Hands for the drill",
            (("kirsten.moar", "who opens the gate during the drill?"), ("conor.macrae", "I do.")),
            [],
        ),
    ),
}
"""Conversations by mailbox: with whom, subject, turns, and labels of what others wrote."""


def _conversations(world: World) -> None:
    for owner, held in CONVERSATIONS.items():
        for number, (other, subject, turns, labels) in enumerate(held):
            written = [
                (who, text, at(f"05-{20 + number} {10 + 2 * turn}:40")) for turn, (who, text) in enumerate(turns)
            ]
            made = exchange(world, subject, written, between=[owner, other], labels={owner: labels}, only=[owner])
            if "TRASH" in labels:
                for message in made[owner]:
                    _has(world, message, "TRASH")
    spam = conversation(world, "gavin.tulloch", "Camera on the pier")[0]
    for link in world.links(spam):
        world.change(link, label_id=world.label(world.user("gavin.tulloch"), "SPAM").id)


def _has(world: World, message: Message, name: str) -> None:
    """Sees to it that a message has a label."""
    if name not in world.label_names(message):
        owner = world.one(User, id=message.user_id)
        world.add(MessageLabel(message_id=message.id, label_id=world.label(owner, name).id))


def conversation(world: World, owner: str, subject: str, other: str = "") -> list[Message]:
    """The messages of a mailbox' conversation with someone, oldest first."""
    return world.thread(world.mail(owner, subject, world.address(other) if other else ""))


# --- trash -----------------------------------------------------------------------------------------------------------

SICK_NOTES = (
    ("Sick note of Arne Dyb", "until 19 June", True),
    ("Sick note of Britt Olsen", "until 12 June", False),
    ("Sick note of Karl Sund", "until 26 June", True),
)
"""Sick notes in the trash: subject, period, and whether the person is still ill."""
APPLICANTS = (
    ("Application of Ivar Moe", "I take my application back, please delete all that you have of me.", True),
    ("Application of Tone Berg", "thank you for the talk. I can still start in August.", False),
    ("Application of Jon Eik", "another company has hired me, so you can forget me and my papers.", True),
)
"""Applications in the trash: subject, last words, and whether the person withdrew."""
LOST_MAILS = (
    ("eva.holm", "Pram left on board", "2 June 2026", "my pram stayed on the car deck of the Gannet."),
    ("marta.ruud", "Lift again", "12 June 2026", "The lift on the Eider stopped between two decks."),
    ("per.aas", "Four tickets too many", "4 June 2026", "the machine sold me four tickets too many, 96 in all."),
)
"""Mails that the old system held back: sender, subject, day, text. One has arrived meanwhile."""


def _trash(world: World) -> None:
    for number, (subject, period, _is_ill) in enumerate(SICK_NOTES):
        name = subject.partition(" of ")[2]
        sender = f"{name} <{name.lower().replace(' ', '.')}@islepost.example>"
        text = f"Hello,\n\nI am ill, the doctor says {period}.\n\n{name}\n"
        notice(world, "freya.sinclair", sender, subject, text, at(f"06-09 07:{10 + number}"), ["TRASH"])
    for number, (subject, last, _withdrew) in enumerate(APPLICANTS):
        name = subject.partition(" of ")[2]
        sender = f"{name} <{name.lower().replace(' ', '.')}@islepost.example>"
        first = notice(
            world,
            "isla.drever",
            sender,
            subject,
            f"Good day,\n\nplease find my papers in the file.\n\n{name}\n",
            at(f"05-2{number} 08:00"),
            ["TRASH", "Applications"],
            files=["papers.pdf"],
        )
        answer = Letter(
            sender=sender,
            to=[named(world, "isla.drever")],
            subject=f"Re: {subject}",
            text=f"{last}\n\n{name}\n",
            time=at(f"06-0{3 + number} 08:00"),
            answers=world.header(first, "Message-ID"),
        )
        put(world, world.user("isla.drever"), answer, ["TRASH"], world.conversation(first))
    mails = "\n".join(
        f"- from {name}@islepost.example on {day}, subject {subject}: {text}" for name, subject, day, text in LOST_MAILS
    )
    text = f"the old system still held three mails to you. One of them you may have by now:\n{mails}"
    one(world, CLERK, "moira.macrae", "Held back by the old system", text, "06-14 18:00", ["INBOX"])


# --- services --------------------------------------------------------------------------------------------------------


def _services(world: World) -> None:
    for owner, topic, until in (("noor.bakshi", "news", "06-19 08:00"), ("conor.macrae", "tablet", "06-20 08:00")):
        watch = WatchSubscription(user_id=world.user(owner).id, topic_name=f"projects/quayside/topics/{topic}")
        watch.is_active, watch.expiration = True, milliseconds(at(until))
        world.add(stamped(watch, at("06-12 08:00")))
    text = (
        "from today the screen in the ticket hall listens to projects/quayside/topics/ticket-hall. Take only what has"
        " your label Press, otherwise everyone reads your mail."
    )
    screen = one(world, CLERK, "noor.bakshi", "Screen in the ticket hall", text, "06-12 12:15", ["INBOX"])
    record(world, screen, "labelAdded", at("06-12 12:16"), ["Press"])

    text = (
        "the tablet of the harbour office is retired. It got the mail by POP, by the subscription to the topic tablet"
        " and by the filter that puts a label on pilot orders. Your telephone reads by IMAP and goes on doing so."
    )
    one(world, CLERK, "conor.macrae", "The tablet is retired", text, "06-12 11:30", ["INBOX"])
    pop = world.one(PopSettings, user_id=world.user("conor.macrae").id)
    world.change(pop, access_window="allMail", disposition="trash")
    tablet = add_label(world, world.user("conor.macrae"), "Tablet")
    add_filter(world, "conor.macrae", {"addLabelIds": [tablet.id]}, subject="pilot order")
    add_filter(world, "conor.macrae", {"addLabelIds": ["IMPORTANT"]}, subject="pilot exemption")
    one(
        world,
        "kirsten.moar",
        "conor.macrae",
        "Pilot order 512",
        "Pilot order 512: see below.",
        "06-08 10:00",
        ["Tablet"],
    )

    text = "the new mail server for shared addresses: host relay.skerryline.example, port 465, ssl."
    one(world, CLERK, "elsa.vinter", "Server for shared addresses", text, "06-09 08:10", ["INBOX"])
    text = (
        "correction on the server for shared addresses: the host stays, but it is port 587 with starttls. Nothing gets"
        " through on 465."
    )
    one(world, CLERK, "elsa.vinter", "Re: Server for shared addresses", text, "06-12 08:40", ["INBOX"])
    signature = "<p>Purser's office, berth two. Payments on Thursdays.</p>"
    add_alias(world, world.user("elsa.vinter"), world.address("invoices"), "Invoices", signature=signature)

    add_forwarding(world, "conor.macrae", "dag.haugland", "pending")
    add_forwarding(world, "conor.macrae", "bjarne.holt")
    add_delegate(world, "bjarne.holt", "conor.macrae").verification_status = "expired"
    add_delegate(world, "bjarne.holt", "peder.strand")
    add_delegate(world, "bjarne.holt", "kirsten.moar")

    user = world.user("dag.haugland")
    for name in ("Watch north", "Watch south", "Watch west"):
        add_label(world, user, name).color_json = json.dumps({"textColor": "#ffffff", "backgroundColor": "#cc3a21"})
    for subject, label, is_unread in (
        ("Radio of the north watch", "Watch north", False),
        ("Boots of the north watch", "Watch north", False),
        ("Bunks of the south watch", "Watch south", True),
        ("Lamps of the south watch", "Watch south", False),
    ):
        more = ["UNREAD"] if is_unread else []
        one(
            world,
            "peder.strand",
            "dag.haugland",
            subject,
            f"{subject}: settled on board.",
            "06-04 12:00",
            [label, *more],
        )
