"""Events of ITSM scenarios, and queries that trigger them."""

from __future__ import annotations

from typing import Self

from opsgym_domains.itsm.tables import (
    Change,
    ChildIncident,
    Incident,
    Permission,
    Role,
    RolePermission,
)
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit import scenarios
from opsgym_suites.kit.verifiers import count


class ScenarioEvent(scenarios.ScenarioEvent[World]):
    """Rows that change without the agent."""

    def revoke(self, role: str, resource: str) -> Self:
        """Reduces a role's permission for a resource to reading."""
        permissions = {row.action: row.perm_id for row in self.after.all(Permission, resource=resource)}
        role_id = self.after.one(Role, name=role).role_id
        granted = self.after.one(RolePermission, role_id=role_id, perm_id=permissions["crud"])
        return self.change(granted, perm_id=permissions["read"])


def change_is(change: Change, status: str) -> str:
    """Query for whether a change has this status."""
    return count(Change, change_id=change.change_id, status=status)


def is_child(parent: Incident, child: Incident) -> str:
    """Query for whether an incident is another one's child."""
    return count(ChildIncident, parent_incident=parent.incident_id, child_incident=child.incident_id)


def next_number(world: World) -> str:
    """Number of the next incident."""
    return f"INC-{world.next_number(Incident):06d}"
