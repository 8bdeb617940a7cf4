"""Rows of fixture records."""

from __future__ import annotations

from datetime import timedelta

from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import Change, ConfigurationItem, Incident, Problem, Service, ServiceOffering
from opsgym_suites.itsm.seeds.fixtures import ChangeFixture, IncidentFixture, ProblemFixture
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.world import at

CONTACT = {
    "self-service": "portal",
    "phone": "phone",
    "email": "email",
    "chat": "chat",
    "walk-in": "walk_in",
    "virtual-agent": "chat",
}
"""Contact type by channel: the older of the two columns that say how something was reported."""


def change_row(world: World, fixture: ChangeFixture) -> Change:
    """A change, with the next number."""
    org_id = world.org(fixture.company).org_id
    return Change(
        number=f"CHG{world.draw_number(Change):07d}",
        short_description=fixture.summary,
        requested_by=world.user(fixture.requested_by, org_id).user_id,
        **affected_service(world, fixture.service, fixture.device, org_id),
        **_assignment(world, fixture.team, fixture.assignee, org_id),
        org_id=org_id,
        status=fixture.status,
        category=fixture.category,
        description=f"{fixture.summary}.",
        implementation_plan=fixture.plan,
        testing_plan=fixture.test,
        close_code=fixture.close_code,
        close_notes=fixture.close_notes,
        cab_required="high" in {fixture.risk, fixture.impact},
        impact=fixture.impact,
        priority=fixture.priority,
        risk=fixture.risk,
        created_on=at(fixture.created),
        updated_on=at(fixture.created) + timedelta(days=1),
    )


def problem_row(world: World, fixture: ProblemFixture) -> Problem:
    """A problem, with the next number and without its original incident."""
    org_id = world.org(fixture.company).org_id
    return Problem(
        number=f"PRB{world.draw_number(Problem):07d}",
        problem_statement=fixture.statement,
        short_description=fixture.summary,
        opened_by=world.user(fixture.opened_by, org_id).user_id,
        **affected_service(world, fixture.service, fixture.device, org_id),
        **_assignment(world, fixture.team, fixture.assignee, org_id),
        org_id=org_id,
        status=fixture.status,
        category=fixture.category,
        worknotes=fixture.worknotes,
        workaround=fixture.workaround,
        fix_notes=fixture.fix_notes,
        impact=fixture.impact,
        urgency=fixture.urgency,
        priority=priority_of(fixture.impact, fixture.urgency),
        created_on=at(fixture.created),
        updated_on=at(fixture.created) + timedelta(days=1),
    )


def incident_row(world: World, fixture: IncidentFixture) -> Incident:
    """An incident without a number, which depends on earlier incidents."""
    org_id = world.org(fixture.company).org_id
    created = at(fixture.created)
    resolved = at(fixture.resolved) if fixture.resolved else None
    return Incident(
        short_description=fixture.summary,
        caller_id=world.user(fixture.caller, org_id).user_id,
        **affected_service(world, fixture.service, fixture.device, org_id),
        **_assignment(world, fixture.team, fixture.assignee, org_id),
        resolved_by=world.user(fixture.resolved_by, org_id).user_id if fixture.resolved_by else None,
        problem=world.fixture(Problem, fixture.problem).problem_id if fixture.problem else None,
        change_request=world.fixture(Change, fixture.change).change_id if fixture.change else None,
        org_id=org_id,
        channel=fixture.channel,
        contact_type=CONTACT[fixture.channel],
        status=fixture.status,
        category=fixture.category,
        description=fixture.description,
        worknotes=fixture.worknotes,
        resolution_notes=fixture.notes,
        close_notes=fixture.close_notes,
        impact=fixture.impact,
        urgency=fixture.urgency,
        priority=fixture.priority or priority_of(fixture.impact, fixture.urgency),
        resolution_code=fixture.code,
        on_hold_reason=fixture.hold_reason,
        resolved=resolved,
        created_at=created,
        updated_at=resolved or created + timedelta(minutes=0 if fixture.status == "new" else 25),
    )


def affected_service(world: World, service: str | None, device: str | None, org_id: str) -> dict[str, str | None]:
    """Columns for the affected service, its first offering, and the device."""
    line = world.one(Service, name=service, org_id=org_id) if service else None
    offering = world.all(ServiceOffering, business_service=line.service_id)[0] if line else None
    item = world.one(ConfigurationItem, name=device, org_id=org_id) if device else None
    return {
        "service": line.service_id if line else None,
        "service_offering": offering.service_offering_id if offering else None,
        "configuration_item": item.configuration_item_id if item else None,
    }


def _assignment(world: World, team: str | None, assignee: str | None, org_id: str) -> dict[str, str | None]:
    return {
        "assignment_group": world.group(team).group_id if team else None,
        "assigned_to": world.user(assignee, org_id).user_id if assignee else None,
    }
