"""Look-ups of one company's records by the names that its people use."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from opsgym_domains.itsm.tables import (
    ChildIncident,
    ConfigurationItem,
    Incident,
    IncidentKnowledge,
    IncidentTemplate,
    Knowledge,
    Location,
    Notification,
    Service,
    ServiceOffering,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
)

if TYPE_CHECKING:  # seeds use these look-ups, too
    from opsgym_suites.itsm.seeds.world import World

Named = TypeVar("Named", ConfigurationItem, IncidentTemplate, Location, Service, ServiceOffering)

LATE_WORDS = r"late|broken|breached|overdue"
OPEN_WORDS = r"open|in all|in total|altogether"
OPEN = ("new", "in_progress", "on_hold")
"""Statuses of incidents that are not over."""


class CompanyRecords:
    """Look-ups in one company's rows of a seed."""

    def __init__(self, world: World, company: str) -> None:
        self.world = world
        self.company = company
        self.org_id = world.org(company).org_id

    def person(self, name: str) -> User:
        """A user by first and last name."""
        return self.world.user(name, self.org_id)

    def team(self, name: str) -> UserGroup:
        """A group by name."""
        return self.world.group(name)

    def teams(self) -> list[UserGroup]:
        """The company's groups."""
        return self.world.all(UserGroup, org_id=self.org_id)

    def members(self, team: UserGroup) -> list[User]:
        """A group's members, in the order in which they joined."""
        links = self.world.all(UserGroupMember, group_id=team.group_id)
        return [self.world.one(User, user_id=link.user_id) for link in links]

    def open_incidents(self, **values: Any) -> list[Incident]:
        """The company's open incidents with these values, oldest first."""
        return [
            incident for incident in self.world.all(Incident, org_id=self.org_id, **values) if incident.status in OPEN
        ]

    def named(self, kind: type[Named], name: str) -> Named:
        """A row of the company by name: a location, service, offering, device or template."""
        return self.world.one(kind, org_id=self.org_id, name=name)

    def article(self, title: str) -> Knowledge:
        """An article by title."""
        return self.world.one(Knowledge, org_id=self.org_id, title=title)

    def incident(self, key: str) -> Incident:
        """An incident by the key of its fixture record."""
        return self.world.fixture(Incident, key)

    def open_reports(self, summary: str) -> list[Incident]:
        """The company's open incidents whose summary begins so, oldest first."""
        return [incident for incident in self.open_incidents() if incident.short_description.startswith(summary)]

    def report(self, summary: str, caller: str) -> Incident:
        """A caller's oldest incident whose summary begins so and that is neither closed nor canceled."""
        key = self.person(caller).user_id
        for row in self.world.all(Incident, org_id=self.org_id, caller_id=key):
            if row.short_description.startswith(summary) and row.status not in {"closed", "canceled"}:
                return row
        raise LookupError(f"{caller} has no incident {summary!r} that is not over")

    def messages(self, *incidents: Incident, **values: Any) -> list[Notification]:
        """The notifications about incidents with these values, oldest first."""
        return [
            row for case in incidents for row in self.world.all(Notification, incident_id=case.incident_id, **values)
        ]

    def articles(self, *incidents: Incident) -> list[IncidentKnowledge]:
        """The links from incidents to articles."""
        return [row for case in incidents for row in self.world.all(IncidentKnowledge, incident_id=case.incident_id)]

    def link(self, child: Incident) -> ChildIncident:
        """The link from a child to its parent."""
        return self.world.one(ChildIncident, child_incident=child.incident_id)

    def offering(self, name: str) -> ServiceOffering:
        """A service offering by name."""
        return self.named(ServiceOffering, name)

    def caller(self, incident: Incident) -> User:
        """The person affected by an incident."""
        return self.world.one(User, user_id=incident.caller_id)

    def reported_at(self, incident: Incident) -> datetime:
        """When an incident was reported."""
        if incident.created_at is None:
            raise LookupError(f"{incident.number} has no time of report")
        return incident.created_at

    def sla_definition(self, priority: str, metric: str) -> SlaDefinition:
        """The active SLA definition of a priority and metric."""
        return self.world.one(
            SlaDefinition, org_id=self.org_id, applies_to_priority=priority, metric=metric, active=True
        )
