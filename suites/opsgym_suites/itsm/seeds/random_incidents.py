"""Random incidents of the seed `quickstart`."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import Incident, User
from opsgym_suites.itsm.seeds.companies import Company, Person
from opsgym_suites.itsm.seeds.fixture_rows import CONTACT, affected_service
from opsgym_suites.itsm.seeds.organisations import FOUNDED
from opsgym_suites.itsm.seeds.routine_records import IncidentKind
from opsgym_suites.itsm.seeds.world import World

SETTLED = timedelta(days=21)
"""Drawn incidents older than this are over."""
CURRENT = 4
"""One drawn incident in so many is younger than that."""
CONFIRMED = timedelta(days=3, hours=1)
"""Time between resolution and closure."""


def colleagues(company: Company, count: int, rng: random.Random) -> Iterator[Person]:
    """Random reporters with distinct names."""
    names = [(first, last) for first in company.first_names for last in company.last_names]
    for first, last in rng.sample(names, count):
        yield Person(first, last, "reporter", rng.choice(company.sites).name)


def incidents(
    world: World, company: Company, kinds: Sequence[IncidentKind], count: int, rng: random.Random
) -> Iterator[Incident]:
    """Random incidents of a company, every kind in turn, without numbers."""
    for index in range(count):
        kind = kinds[index % len(kinds)]
        created = _random_time(world.now, index, rng)
        org_id = world.org(company.name).org_id
        incident = random_incident(world, kind, org_id, _callers(world, company, org_id), created, rng)
        _advance(world, company, kind, incident, rng)
        yield incident


def _random_time(now: datetime, index: int, rng: random.Random) -> datetime:
    first, last = (now - SETTLED, now - timedelta(days=1)) if index % CURRENT == 0 else (FOUNDED, now - SETTLED)
    return first + timedelta(minutes=rng.randrange(int((last - first).total_seconds() // 60)))


def random_incident(
    world: World, kind: IncidentKind, org_id: str, callers: Sequence[User], created: datetime, rng: random.Random
) -> Incident:
    """An incident of a kind, reported by one of the callers."""
    impact, urgency = rng.choice(kind.levels)
    channel = rng.choice(tuple(CONTACT))
    return Incident(
        short_description=kind.summary,
        caller_id=rng.choice(callers).user_id,
        **affected_service(world, kind.service, None, org_id),
        org_id=org_id,
        category=kind.category,
        description=kind.description,
        impact=impact,
        urgency=urgency,
        priority=priority_of(impact, urgency),
        channel=channel,
        contact_type=CONTACT[channel],
        status="new",
        created_at=created,
        updated_at=created,
    )


def _advance(world: World, company: Company, kind: IncidentKind, incident: Incident, rng: random.Random) -> None:
    """Sets the status of a random incident, and what follows from it, by its age; a few are canceled."""
    created = incident.created_at or world.now
    team = next(team for team in company.teams if team.type == kind.team_type and team.active)
    incident.assignment_group = world.group(team.name).group_id
    over = world.now - created > SETTLED
    incident.status = rng.choice(("closed",) * 5 + ("canceled",) if over else ("new", "in_progress"))
    if incident.status == "canceled":
        incident.close_notes = "Caller took it back."
    if incident.status in {"closed", "in_progress"}:
        incident.assigned_to = world.user(rng.choice(_assignees(company, team.members)), incident.org_id).user_id
        incident.updated_at = created + timedelta(minutes=rng.randrange(20, 1400))
    if incident.status == "closed":
        incident.resolution_code, incident.resolution_notes = kind.code, kind.notes
        incident.resolved, incident.resolved_by = incident.updated_at, incident.assigned_to
        incident.close_notes = "No objection within three days."
        incident.updated_at = (incident.resolved or created) + CONFIRMED


def _callers(world: World, company: Company, org_id: str) -> list[User]:
    excluded = {person.name for person in company.people if person.reserved or not person.active}
    reporters = world.all(User, org_id=org_id, role="reporter")
    return [user for user in reporters if f"{user.first_name} {user.last_name}" not in excluded]


def _assignees(company: Company, members: tuple[str, ...]) -> list[str]:
    excluded = {person.name for person in company.people if person.reserved or not person.active}
    return [member for member in members if member not in excluded]
