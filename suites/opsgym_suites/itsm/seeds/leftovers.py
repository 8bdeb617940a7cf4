"""What earlier work left behind at the desks of the large seeds: messages that have not gone out, links of children.

Invariant: these rows come after all others of their tables, so what is drawn at random does not depend on them. They
are about drawn incidents; another draw has fewer of them. What is wrong with a message shows only beside its incident.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from opsgym_domains.itsm.tables import ChildIncident, Incident, Notification
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World

WRITTEN = timedelta(minutes=50)
"""How long ago the messages that wait were written."""
SLOW_REPORT = "The declaration report is being rebuilt; until then it is slow."
TARIFFS = "The tariff codes are being checked with the customs office."
GUARANTEE = "A new reader will be there by Friday."
CHARGER = "The charger of your van is on the list for this week's round."
CODE = "Your new code is on a slip at the front desk."


@dataclass(frozen=True)
class Message:
    """A message about a caller's oldest report of a fault that is not over."""

    company: str
    summary: str
    """Beginning of the incident's summary."""
    caller: str
    text: str
    to: str | None = None
    """Recipient; the caller if None."""
    kind: str = "update"
    status: str = "queued"
    subject: str = "{number}: {summary}"


R, H = "Rimutaka Lines", "Harakeke Clinics"
SLOW, READER, VAN = "Declaration report is slow", "Card reader of the till restarts", "Van charger gives no power"
BADGE = "Forgot the code of the badge"
DESK = (
    Message("Halden Freight", SLOW, "Sofie Friis", SLOW_REPORT, status="sent"),
    Message("Halden Freight", SLOW, "Sofie Friis", SLOW_REPORT),
    Message("Halden Freight", SLOW, "Carina Dahl", SLOW_REPORT, to="Carina Dahle"),
    Message("Halden Freight", SLOW, "Hanne Hedlund", SLOW_REPORT, kind="alert"),
    Message("Halden Freight", SLOW, "Aksel Dahl", SLOW_REPORT, subject="Your declaration report"),
    Message("Halden Freight", SLOW, "Sofie Strand", SLOW_REPORT),
    Message("Halden Freight", "Customs form rejects the new tariff codes", "Mette Krog", TARIFFS),
    Message("Mirelle Botanics", READER, "Denis Fabre", GUARANTEE, status="sent"),
    Message("Mirelle Botanics", READER, "Irene Hamon", GUARANTEE),
    Message("Mirelle Botanics", READER, "Remi Carre", "The reader has been ordered."),
    Message("Mirelle Botanics", READER, "Quentin Perrin", GUARANTEE),
)
GRID = (
    Message(R, VAN, "Zoe Sefo", CHARGER, to="Zoe Kemp"),
    Message(R, VAN, "Zoe Kemp", CHARGER, to="Zoe Sefo"),
    Message(R, VAN, "Tasi Kemp", CHARGER),
    Message(R, VAN, "Manu Quirk", CHARGER, kind="solution_proposal"),
    Message(H, BADGE, "Rangi Aitken", CODE),
    Message(H, BADGE, "Salote Beale", "Your new code is 4417."),
    Message(H, BADGE, "Ravinder Dunlop", "Your new code is 9062."),
    Message(H, BADGE, "Salote Crowe", "Your new code is 3358.", status="sent"),
)


def add_desk_leftovers(world: World) -> None:
    """Adds those of the seed `desk`."""
    _add_messages(world, DESK)
    halden, mirelle = CompanyRecords(world, "Halden Freight"), CompanyRecords(world, "Mirelle Botanics")
    lamps = halden.open_reports("Signal lamp of a dock stays red")[1:-1]
    _add_children(world, lamps[:1], lamps[1:])
    cards = [row for row in mirelle.open_reports("Card is not found at the till") if row.status != "on_hold"]
    _add_children(world, cards[:1], [row for row in cards[1:] if row.status == "in_progress"])


def add_grid_leftovers(world: World) -> None:
    """Adds those of the seed `grid`."""
    _add_messages(world, GRID)


def _add_messages(world: World, messages: tuple[Message, ...]) -> None:
    for message in messages:
        with suppress(LookupError):
            world.add(_row(world, message))


def _row(world: World, message: Message) -> Notification:
    records = CompanyRecords(world, message.company)
    incident = records.report(message.summary, message.caller)
    subject = message.subject.format(number=incident.number, summary=incident.short_description)
    return Notification(
        incident_id=incident.incident_id,
        org_id=records.org_id,
        email=records.person(message.to or message.caller).email,
        subject=subject,
        message=message.text,
        type=message.kind,
        status=message.status,
        created_on=world.now - WRITTEN,
        updated_on=world.now - WRITTEN,
    )


def _add_children(world: World, parents: list[Incident], children: list[Incident]) -> None:
    for parent in parents:
        for child in children:
            child.parent_incident = parent.incident_id
            link = ChildIncident(parent_incident=parent.incident_id, child_incident=child.incident_id)
            link.created_at = link.updated_at = world.now - WRITTEN
            world.add(link)
