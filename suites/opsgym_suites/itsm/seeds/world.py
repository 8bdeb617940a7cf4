"""The rows of an ITSM seed, with look-ups by name."""

from __future__ import annotations

from opsgym_domains.itsm.deadlines import DEADLINES
from opsgym_domains.itsm.tables import METADATA, Organization, User, UserGroup
from opsgym_suites.kit import world


class World(world.World):
    """All rows of a seed."""

    metadata = METADATA
    deadlines = DEADLINES

    def org(self, name: str) -> Organization:
        """An organisation by name."""
        return self.one(Organization, name=name)

    def user(self, name: str, org_id: str) -> User:
        """A user by first and last name."""
        first, _, last = name.partition(" ")
        return self.one(User, first_name=first, last_name=last, org_id=org_id)

    def group(self, name: str) -> UserGroup:
        """A group by its name, which is unique."""
        return self.one(UserGroup, name=name)
