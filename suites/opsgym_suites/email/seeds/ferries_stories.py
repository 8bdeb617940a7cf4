"""Messages and settings of the ferry company on which tasks turn."""

from __future__ import annotations

from opsgym_suites.email.seeds.ferries import HAMISH, LIV, OWEN, TOVE
from opsgym_suites.email.seeds.ferries_desk import add_desk_stories
from opsgym_suites.email.seeds.letters import add_alias, notice
from opsgym_suites.email.seeds.press_stories import add_delegate, add_filter, add_forwarding, one
from opsgym_suites.email.seeds.world import FerriesWorld, World
from opsgym_suites.kit.world import at


def add_ferries_stories(world: FerriesWorld) -> None:
    """All stories."""
    for add in (_partners, _access, _weeks, _refused, add_desk_stories):
        add(world)


PARTNERS = {
    "astrid.falk": (
        HAMISH,
        "Bunkering in July",
        "We can bunker the Eider on any Tuesday in July, tell me what you need.",
    ),
    "bjarne.holt": (
        LIV,
        "Slip in August",
        "The slip is free in the second half of August, for which ship shall I keep it?",
    ),
    "conor.macrae": (OWEN, "Pallets on the quay", "Our pallets stand on the quay too long. When can they go on board?"),
    "elsa.vinter": (TOVE, "Statement of May", "Our statement of May is ready, in which form do you want it?"),
    "kirsten.moar": (
        LIV,
        "Rafts for the Gannet",
        "The rafts of the Gannet are due for inspection, please propose something.",
    ),
}
"""A message of a partner by mailbox: sender, subject, text."""


def _partners(world: World) -> None:
    for owner, (partner, subject, text) in PARTNERS.items():
        one(world, partner, owner, subject, text, "06-12 15:20", ["INBOX"])
        other = TOVE if partner == LIV else LIV
        one(
            world,
            other,
            owner,
            f"{subject}?",
            "That is for other people at our yard, but I read it.",
            "06-13 09:10",
            ["INBOX"],
        )


DELEGATES = {
    "dag.haugland": "freya.sinclair",
    "peder.strand": "bjarne.holt",
    "elsa.vinter": "astrid.falk",
    "noor.bakshi": "moira.macrae",
}
"""Delegate by mailbox."""


def _access(world: World) -> None:
    for owner, name in DELEGATES.items():
        add_delegate(world, owner, name)
    for owner in ("conor.macrae", "kirsten.moar"):
        add_delegate(world, owner, "gavin.tulloch").verification_status = "pending"
    add_forwarding(world, "astrid.falk", "moira.macrae")
    add_filter(world, "astrid.falk", {"forward": world.address("moira.macrae")}, subject="lost property")
    add_alias(world, world.user("astrid.falk"), world.address("operations"), "Operations")
    for owner, mails in {
        "dag.haugland": (
            ("Rota of July", "freya.sinclair"),
            ("Medical of the mate", "isla.drever"),
            ("Rest hours", "kirsten.moar"),
        ),
        "peder.strand": (("Handover of the engine log", "bjarne.holt"), ("Keys of the workshop", "gavin.tulloch")),
        "elsa.vinter": (("Harbour dues of May", "conor.macrae"), ("Invoice of the yard", TOVE)),
        "noor.bakshi": (("Radio on Thursday", "astrid.falk"), ("Photo of the Kittiwake", "dag.haugland")),
        "conor.macrae": (("Berth for the survey ship", "kirsten.moar"), ("Lights on the pier", "bjarne.holt")),
        "kirsten.moar": (("Report of the drill", "dag.haugland"), ("Life jackets", "freya.sinclair")),
    }.items():
        for number, (subject, sender) in enumerate(mails):
            one(world, sender, owner, subject, f"{subject}: see what we spoke about.", f"06-1{number} 12:30")


COMPLAINTS = (
    ("The lift on the Gannet", "Sunniva Krag", "The lift was out of order, I carried my mother."),
    ("No coffee on the morning run", "Ole Tveit", "The kiosk was closed all the way."),
    ("Lift again", "Marta Ruud", "The lift on the Eider stopped between two decks."),
    ("Late by an hour", "Jens Aune", "We left Hallay an hour late and no one said why."),
    ("Wheelchair and lift", "Tora Sande", "Without the lift I could not leave the car deck of the Gannet."),
    ("Dog not allowed?", "Kari Moe", "Your crew sent us out into the rain with our dog."),
    ("Missed my train", "Nils Bakke", "The noon run was late by forty minutes, my train was gone."),
    ("Lift key", "Stein Lie", "The lift needs a key now? No one had it."),
    ("Queue at Stromvik", "Berit Hovde", "The queue at Stromvik was not managed at all."),
    ("Cold lounge", "Geir Solli", "The lounge was so cold that we sat in the car."),
    ("Crates", "Randi Myhre", "The lift was full of crates, so we took the stairs with a pram."),
    ("Ticket machine", "Odd Vik", "The ticket machine took my note and gave nothing."),
    ("Uplifting, not", "Unni Dahle", "An uplifting trip it was not: three children and no play corner."),
    ("Noise at night", "Trond Eide", "The vents on the night run hum so that no one sleeps."),
    ("Door of the lift", "Siri Fjeld", "The door of the lift closed on my arm."),
)
"""Complaints: subject, author, text."""
INSPECTIONS = (
    ("Raft 4, Gannet", "Raft 4 passes."),
    ("Raft 7, Eider", "Raft 7 fails: valve."),
    ("Extinguishers, Kittiwake", "All extinguishers pass."),
    ("Ladder, Storm Petrel", "The pilot ladder fails: two rungs."),
    ("Beacon, Gannet", "The beacon passes."),
    ("Life jackets, Eider", "Sixty pass, none fails."),
    ("Sprinklers, Kittiwake", "Deck three fails: pressure."),
    ("Doors, Storm Petrel", "All watertight doors pass."),
    ("Alarm, Eider", "The alarm fails in the galley."),
    ("Hull, Kittiwake", "The hull passes, no remark."),
    ("Lights, Gannet", "The stern light fails at times."),
    ("Radio, Eider", "The radio passes."),
    ("Boat davit, Storm Petrel", "The davit passes, the last time it had failed."),
    ("Bilge pump, Gannet", "Both pumps pass."),
    ("Fire doors, Eider", "Door 12 fails to close."),
)
"""Results of inspections: subject and text."""


def _weeks(world: World) -> None:
    for number, (subject, author, text) in enumerate(COMPLAINTS):
        address = f"{author.lower().replace(' ', '.')}@islepost.example"
        when = at(f"06-12 09:{10 + number}")
        notice(world, "moira.macrae", f"{author} <{address}>", subject, f"Hello,\n\n{text}\n\n{author}\n", when)
    for number, (subject, text) in enumerate(INSPECTIONS):
        notice(
            world,
            "kirsten.moar",
            "Safety Survey <results@coastsurvey.example>",
            f"Result: {subject}",
            f"{text}\n",
            at(f"06-12 11:{10 + number}"),
        )


def _refused(world: World) -> None:
    """What the server refuses in access `strict`."""
    one(
        world,
        HAMISH,
        "astrid.falk",
        "Your mailbox",
        "if you made me a delegate i could file the bunker notes myself. ok?",
        "06-12 10:00",
    )
    one(
        world,
        TOVE,
        "bjarne.holt",
        "Letters from the yard",
        "You could write from engine@fjordmarine.example, we would set it up.",
        "06-12 10:10",
    )
    one(
        world,
        "isla.drever",
        "moira.macrae",
        "The deckhand",
        "Everything about the deckhand is in my mailbox only, ask me if you need it.",
        "06-12 10:20",
    )
    one(
        world,
        "kirsten.moar",
        "conor.macrae",
        "[Confidential] Near miss at Brough Sound",
        "The report is for the company alone, the inquiry goes on.",
        "06-12 10:30",
    )
    one(
        world,
        "gavin.tulloch",
        "noor.bakshi",
        "Old photos",
        "These photos may go, they are on the share as well.",
        "06-12 10:40",
    )
    one(
        world,
        "isla.drever",
        "freya.sinclair",
        "Course for deckhands",
        "The course for deckhands is full, I put you on the list.",
        "06-13 11:00",
    )
    one(world, "freya.sinclair", "dag.haugland", "Your leave", "Your leave from 22 June is approved.", "06-12 10:50")
