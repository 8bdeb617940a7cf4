"""Random rows of the seed `desk`: laptops, articles and incidents.

Invariant: random rows follow the policy, so every violation in the seed is there for a task. Work is distributed
unevenly: the first members of a group get most of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from opsgym_domains.itsm.tables import (
    ConfigurationItem,
    Incident,
    Knowledge,
    Location,
    Notification,
    User,
)
from opsgym_suites.itsm.seeds.companies import Company
from opsgym_suites.itsm.seeds.fixture_rows import affected_service
from opsgym_suites.itsm.seeds.organisations import FOUNDED
from opsgym_suites.itsm.seeds.random_incidents import CONFIRMED, random_incident
from opsgym_suites.itsm.seeds.routine_records import APPLICATIONS, DESK, FIELD, PLATFORM, IncidentKind
from opsgym_suites.itsm.seeds.world import World

RECENT = timedelta(days=24)
"""Drawn incidents older than this are over."""
RECENT_SHARE = 0.4
PLACED_SHARE = 0.5
"""Of incidents whose summary names the place."""
INACTIVE_EVERY = 15
"""One colleague in so many has left."""
FAILED_EVERY = 11
"""One sent message in so many did not arrive."""
STEPS = {
    "fresh": ("new",) * 5 + ("in_progress",) * 3 + ("resolved",) * 2,
    "recent": ("new", *("in_progress",) * 5, *("on_hold",) * 3, *("resolved",) * 5, *("closed",) * 3, "canceled"),
    "old": (*("closed",) * 12, "canceled"),
}
"""How far incidents have come, by age."""

MORE_KINDS = (
    IncidentKind(
        "Halden Freight", "Airway bill number is used twice", "Found at the counter.", "database", "Airway Bills",
        APPLICATIONS, (("low", "medium"), ("medium", "medium")), "Known Error", "Number range extended.",
    ),
    IncidentKind(
        "Halden Freight", "Weighbridge barrier does not open", "Truck is waiting.", "hardware", "Weighbridge", FIELD,
        (("low", "high"), ("medium", "high")), "Solution Provided", "Sensor realigned.",
    ),
    IncidentKind(
        "Halden Freight", "Crane values arrive late", "Two minutes behind.", "network", "Crane Telemetry", PLATFORM,
        (("low", "low"), ("medium", "low")), "Workaround Provided", "Polling interval shortened.",
    ),
    IncidentKind(
        "Halden Freight", "Access to the tracking archive", "New planner.", "inquiry-help", "Tracking Archive", DESK,
        (("low", "low"), ("low", "medium")), "Solution Provided", "Access given.",
    ),
    IncidentKind(
        "Halden Freight", "Handheld loses its profile", "After the battery change.", "software", "Handheld Scanning",
        APPLICATIONS, (("low", "medium"), ("low", "high")), "Solution Provided", "Profile loaded again.",
    ),
    IncidentKind(
        "Mirelle Botanics", "Climate curve cannot be exported", "Button is grey.", "software", "Greenhouse Control",
        APPLICATIONS, (("low", "low"), ("low", "medium")), "User error", "Export needs a date range.",
    ),
    IncidentKind(
        "Mirelle Botanics", "Moisture sensor sends nothing", "One bed only.", "hardware", "Greenhouse Control", FIELD,
        (("low", "medium"), ("medium", "medium")), "Solution Provided", "Sensor replaced.",
    ),
    IncidentKind(
        "Mirelle Botanics", "Label roll runs out too early", "Counter is wrong.", "hardware", "Batch Labels", FIELD,
        (("low", "medium"),), "Solution Provided", "Counter reset.",
    ),
    IncidentKind(
        "Mirelle Botanics", "Card is not found at the till", "Customer has the number.", "database", "Loyalty Cards",
        PLATFORM, (("low", "medium"), ("low", "high")), "Known Error", "Card entered again.",
    ),
    IncidentKind(
        "Mirelle Botanics", "How to read an old order", "For the auditors.", "inquiry-help", "Webshop Archive", DESK,
        (("low", "low"),), "Solution Provided", "Sent the steps.",
    ),
)  # fmt: skip
GUIDES = (
    "Resetting a forgotten PIN", "Resetting a forgotten password", "Connecting from home", "Connecting a second screen",
    "Ordering a laptop", "Ordering a laptop bag", "Reading the status page", "Reading the status lamps",
    "Before you call the desk", "When the printer is offline", "When the printer prints blank pages",
    "Sharing a calendar", "Sharing a folder", "Leaving the company: devices", "Leaving the company: accounts",
    "Travelling with a company phone", "Scanning to mail", "Printing from a phone", "Moving to another desk",
    "Freeing space on a laptop",
)  # fmt: skip
"""Titles of the articles that each company has."""


def add_random_records(world: World, company: Company, rng: random.Random) -> None:
    """Adds laptops and articles of a company, and deactivates some of its users."""
    org_id = world.org(company.name).org_id
    cast = {person.name for person in company.people}
    people = world.all(User, org_id=org_id)
    drawn = [user for user in people if f"{user.first_name} {user.last_name}" not in cast]
    for user in drawn[::INACTIVE_EVERY]:
        user.active = False
        user.updated_on = world.now - timedelta(days=rng.randrange(8, 120))
    for number, user in enumerate(people, start=1):
        world.add(_laptop(user, number, rng))
    writers = [user for user in people if user.role == "agent"]
    for title in GUIDES:
        world.add(_guide(world, title, rng.choice(writers), rng))


def _laptop(user: User, number: int, rng: random.Random) -> ConfigurationItem:
    bought = FOUNDED + timedelta(days=rng.randrange(250))
    return ConfigurationItem(
        name=f"Laptop {number:03d}",
        serial_number=f"NB-{user.org_id[-1]}{number:04d}",
        owner_id=user.user_id,
        location_id=user.location_id,
        org_id=user.org_id,
        status="in_use",
        cost=rng.choice((980, 1240, 1240, 1690)),
        created_on=bought,
        updated_on=bought,
    )


def _guide(world: World, title: str, writer: User, rng: random.Random) -> Knowledge:
    written = FOUNDED + timedelta(days=rng.randrange(290))
    return Knowledge(
        kb_number=f"KB{world.draw_number(Knowledge):07d}",
        title=title,
        short_description=f"{title}, step by step",
        body=f"{title}: open the desk's page, choose the topic and follow the steps.",
        state=rng.choice(("published",) * 6 + ("draft", "draft", "review", "retired")),
        visibility=rng.choice(("internal", "external")),
        owner_id=writer.user_id,
        org_id=writer.org_id,
        created_on=written,
        updated_on=written,
    )


def incidents(
    world: World, company: Company, kinds: Sequence[IncidentKind], count: int, rng: random.Random
) -> Iterator[Incident]:
    """Random incidents of a company, without numbers."""
    for _ in range(count):
        kind = rng.choice(kinds)
        incident = _reported(world, company, kind, _random_time(world.now, rng), rng)
        _advance(world, company, kind, incident, rng)
        yield incident


def _random_time(now: datetime, rng: random.Random) -> datetime:
    recent = rng.random() < RECENT_SHARE
    first, last = (now - RECENT, now - timedelta(hours=1)) if recent else (FOUNDED, now - RECENT)
    return first + timedelta(minutes=rng.randrange(int((last - first).total_seconds() // 60)))


def _reported(world: World, company: Company, kind: IncidentKind, created: datetime, rng: random.Random) -> Incident:
    org_id = world.org(company.name).org_id
    incident = random_incident(world, kind, org_id, _callers(world, company, org_id), created, rng)
    caller = world.one(User, user_id=incident.caller_id)
    if rng.random() < PLACED_SHARE:
        incident.short_description += f" ({world.one(Location, location_id=caller.location_id).name})"
    if kind.service in {"Workplace", "Office Tools"} and kind.category == "hardware":
        laptop = world.one(ConfigurationItem, owner_id=caller.user_id)
        for field, value in affected_service(world, kind.service, laptop.name, org_id).items():
            setattr(incident, field, value)
    return incident


def _advance(world: World, company: Company, kind: IncidentKind, incident: Incident, rng: random.Random) -> None:
    """Sets the status of a random incident, and what follows from it, by its age."""
    created = incident.created_at or world.now
    age = world.now - created
    team = rng.choice([team for team in company.teams if team.type == kind.team_type and team.active])
    incident.assignment_group = world.group(team.name).group_id
    incident.status = rng.choice(STEPS["old" if age > RECENT else "fresh" if age < timedelta(days=2) else "recent"])
    if incident.status == "canceled":
        incident.close_notes = "Caller took it back."
    if incident.status in {"new", "canceled"}:
        return
    incident.assigned_to = _assignee(world, company, team.members, incident.org_id, rng)
    incident.updated_at = created + min(age / 2, timedelta(minutes=rng.randrange(20, 2800)))
    if incident.status == "on_hold":
        incident.on_hold_reason = "Awaiting Caller"
        incident.worknotes = "Asked the caller for details."
    if incident.status in {"resolved", "closed"}:
        _solve(kind, incident, world.now)


def _solve(kind: IncidentKind, incident: Incident, now: datetime) -> None:
    incident.resolution_code, incident.resolution_notes = kind.code, kind.notes
    incident.resolved, incident.resolved_by = incident.updated_at, incident.assigned_to
    if incident.status == "closed" and now - (incident.resolved or now) < CONFIRMED:
        incident.status = "resolved"
    if incident.status == "closed":
        incident.close_notes = "No objection within three days."
        incident.updated_at = (incident.resolved or now) + CONFIRMED


def _callers(world: World, company: Company, org_id: str) -> list[User]:
    excluded = {person.name for person in company.people if person.reserved}
    reporters = world.all(User, org_id=org_id, role="reporter", active=True)
    return [user for user in reporters if f"{user.first_name} {user.last_name}" not in excluded]


def _assignee(world: World, company: Company, members: Sequence[str], org_id: str, rng: random.Random) -> str:
    excluded = {person.name for person in company.people if person.reserved or not person.active}
    able = [member for member in members if member not in excluded]
    weights = [1 / rank for rank in range(1, len(able) + 1)]
    return world.user(rng.choices(able, weights)[0], org_id).user_id


def fail_some_messages(world: World) -> None:
    """Sets some notifications to failed."""
    for message in world.all(Notification, status="sent")[::FAILED_EVERY]:
        message.status = "failed"
