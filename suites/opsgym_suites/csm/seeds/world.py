"""The rows of a CSM seed, with look-ups by name."""

from __future__ import annotations

from typing import TypeVar

from opsgym_domains.csm.deadlines import DEADLINES
from opsgym_domains.csm.tables import METADATA, Account, Contact, CustomerCase, Product, User, UserGroup
from opsgym_domains.kit.schema import Row
from opsgym_suites.kit import world

R = TypeVar("R", bound=Row)


class World(world.World):
    """All rows of a seed."""

    metadata = METADATA
    deadlines = DEADLINES

    def user(self, name: str) -> User:
        """An employee by first and last name, which is unique among employees."""
        first, _, last = name.partition(" ")
        (user,) = [row for row in self.all(User, first_name=first, last_name=last) if row.role != "customer"]
        return user

    def account(self, name: str) -> Account:
        """A customer by name."""
        return self.one(Account, name=name)

    def group(self, name: str) -> UserGroup:
        """A group by name."""
        return self.one(UserGroup, name=name)

    def product(self, name: str) -> Product:
        """A product by name."""
        return self.one(Product, name=name)

    def contact(self, account: Account, name: str) -> Contact:
        """A customer's contact by first and last name."""
        users = {user.user_id: f"{user.first_name} {user.last_name}" for user in self.all(User, role="customer")}
        (match,) = [
            contact for contact in self.all(Contact, account_id=account.account_id)
            if users[contact.portal_user_id] == name
        ]  # fmt: skip
        return match

    def case(self, key: str) -> CustomerCase:
        """A case by the key of its fixture record."""
        return self.fixture(CustomerCase, key)
