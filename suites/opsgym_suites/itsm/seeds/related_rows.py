"""Adds the related rows of incidents: SLAs, affected devices, articles, notifications to callers.

Invariant: an SLA's stage, breach and times follow from the incident's times and the definition's target minutes, as of
`World.now`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from opsgym_domains.itsm.tables import (
    Incident,
    IncidentAffectedCi,
    IncidentKnowledge,
    IncidentSla,
    Knowledge,
    Notification,
    SlaDefinition,
    User,
)
from opsgym_suites.itsm.seeds.fixtures import IncidentFixture
from opsgym_suites.itsm.seeds.world import World

RESPONSE_SHARE = 0.4
"""Share of the target minutes that a response takes, for SLAs of metric `response` that were met."""
OVER = frozenset({"resolved", "closed"})


def add_related_rows(world: World, stories: Sequence[IncidentFixture], rng: random.Random) -> None:
    """Adds the related rows of every incident."""
    untracked = {world.fixture(Incident, fixture.key).incident_id for fixture in stories if not fixture.tracked}
    for index, incident in enumerate(world.all(Incident)):
        if incident.incident_id not in untracked and incident.status != "canceled":
            _add_slas(world, incident)
        if incident.configuration_item is not None:
            world.add(_affected(incident))
        if index % 4 == 0:
            world.add(_article(world, incident, rng))
        if index % 2 == 0:
            world.add(_message(world, incident, rng))


def _add_slas(world: World, incident: Incident) -> None:
    priority = incident.priority
    for definition in world.all(SlaDefinition, org_id=incident.org_id, applies_to_priority=priority, active=True):
        world.add(_incident_sla(incident, definition, world.now))


def _incident_sla(incident: Incident, definition: SlaDefinition, now: datetime) -> IncidentSla:
    start = incident.created_at or now
    due = start + timedelta(minutes=definition.target_mins)
    done = _completed_at(incident, definition, start)
    late = (done or now) > due and not (done is None and _paused(incident, definition))
    return IncidentSla(
        incident_id=incident.incident_id,
        sla_def_id=definition.sla_def_id,
        org_id=incident.org_id,
        stage=_stage(incident, definition, done, late=late),
        has_breached=late,
        start_time=start,
        breach_time=due,
        completed_time=done,
        created_on=start,
        updated_on=done or start,
    )


def _completed_at(incident: Incident, definition: SlaDefinition, start: datetime) -> datetime | None:
    """When the SLA was met; None if it is still open."""
    if definition.metric == "resolution":
        return incident.resolved
    answered = start + timedelta(minutes=int(definition.target_mins * RESPONSE_SHARE))
    return answered if incident.assigned_to is not None else None


def _paused(incident: Incident, definition: SlaDefinition) -> bool:
    return incident.status == "on_hold" and definition.pause_on_pending


def _stage(incident: Incident, definition: SlaDefinition, done: datetime | None, *, late: bool) -> str:
    if done is not None:
        return "completed"
    if _paused(incident, definition):
        return "paused"
    return "breached" if late else "in_progress"


def _affected(incident: Incident) -> IncidentAffectedCi:
    return IncidentAffectedCi(
        configuration_item=incident.configuration_item,
        incident_id=incident.incident_id,
        org_id=incident.org_id,
        created_on=incident.created_at,
        updated_on=incident.created_at,
    )


def _article(world: World, incident: Incident, rng: random.Random) -> IncidentKnowledge:
    article = rng.choice(world.all(Knowledge, org_id=incident.org_id, state="published"))
    return IncidentKnowledge(
        incident_id=incident.incident_id,
        knowledge_id=article.knowledge_id,
        org_id=incident.org_id,
        used_as=rng.choice(("applied", "resolution")) if incident.status in OVER else "suggested",
        created_on=incident.updated_at,
        updated_on=incident.updated_at,
    )


def _message(world: World, incident: Incident, rng: random.Random) -> Notification:
    over = incident.status in OVER
    return Notification(
        incident_id=incident.incident_id,
        org_id=incident.org_id,
        email=world.one(User, user_id=incident.caller_id).email,
        subject=f"{incident.number}: {incident.short_description}",
        message="Your incident is solved." if over else "We have received your incident.",
        type="solution_proposal" if over else "update",
        status=rng.choice(("delivered", "opened")) if over else "sent",
        created_on=incident.updated_at,
        updated_on=incident.updated_at,
    )
