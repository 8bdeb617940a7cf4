"""Look-ups of the company's records by the terms of the policy and by the names that its people use."""

from __future__ import annotations

from typing import Any

from opsgym_domains.csm.rules import OPEN
from opsgym_domains.csm.tables import (
    Account,
    CaseKnowledge,
    CaseSla,
    Contact,
    Contract,
    CustomerCase,
    Entitlement,
    InstalledProduct,
    Knowledge,
    Product,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
)
from opsgym_suites.csm.seeds.cases import covered
from opsgym_suites.csm.seeds.world import World

RUNNING = ("in_progress", "paused")
"""Stages of SLAs that are not over."""


class DeskRecords:
    """Look-ups in the rows of a seed."""

    def __init__(self, world: World) -> None:
        self.world = world

    # --- people ----------------------------------------------------------------------------------------------------

    def user_of(self, contact: Contact) -> User:
        """The user who is a contact."""
        return self.world.one(User, user_id=contact.portal_user_id)

    def contact_of(self, case: CustomerCase) -> Contact:
        """A case's contact."""
        return self.world.one(Contact, contact_id=case.contact_id)

    def contacts(self, account: Account) -> list[Contact]:
        """An account's active contacts, the primary one first."""
        rows = self.world.all(Contact, account_id=account.account_id, active=True)
        return sorted(rows, key=lambda row: not row.is_primary)

    def primary_contact(self, account: Account) -> Contact:
        """An account's primary contact."""
        return self.world.one(Contact, account_id=account.account_id, is_primary=True, active=True)

    def members(self, group: UserGroup) -> list[User]:
        """A group's members, in the order in which they joined."""
        links = self.world.all(UserGroupMember, group_id=group.group_id)
        return [self.world.one(User, user_id=link.user_id) for link in links]

    def managers(self, case: CustomerCase) -> list[User]:
        """Users who get an alert when a case is escalated [ESC-3]."""
        group = self.world.one(UserGroup, group_id=case.assignment_group_id)
        return [user for user in self.members(group) if user.role == "manager" and user.active]

    # --- cases -----------------------------------------------------------------------------------------------------

    def account_of(self, case: CustomerCase) -> Account:
        """A case's account."""
        return self.world.one(Account, account_id=case.account_id)

    def group_of(self, case: CustomerCase) -> UserGroup:
        """A case's group."""
        return self.world.one(UserGroup, group_id=case.assignment_group_id)

    def open_cases(self, **values: Any) -> list[CustomerCase]:
        """Open cases with these values, oldest first."""
        return [case for case in self.world.all(CustomerCase, **values) if case.state in OPEN]

    def covered(self, case: CustomerCase) -> bool:
        """Whether a case is covered [CAS-4]."""
        return covered(self.world, case)

    def sla_definitions(self, priority: str) -> list[SlaDefinition]:
        """Active SLA definitions for a priority."""
        return self.world.all(SlaDefinition, applies_to_priority=priority, active=True)

    def running_slas(self, case: CustomerCase) -> list[CaseSla]:
        """SLAs that run or are paused on a case."""
        return [row for row in self.world.all(CaseSla, case_id=case.case_id) if row.stage in RUNNING]

    def pausable_slas(self, case: CustomerCase, stage: str) -> list[CaseSla]:
        """SLAs of a case in a stage whose definition pauses on pending."""
        rows = self.world.all(CaseSla, case_id=case.case_id, stage=stage)
        return [row for row in rows if self.world.one(SlaDefinition, sla_def_id=row.sla_def_id).pause_on_pending]

    def article(self, title: str) -> Knowledge:
        """An article by title."""
        return self.world.one(Knowledge, title=title)

    def linked_articles(self, case: CustomerCase) -> list[CaseKnowledge]:
        """Links between a case and articles."""
        return self.world.all(CaseKnowledge, case_id=case.case_id)

    # --- what customers have ---------------------------------------------------------------------------------------

    def devices(self, product: Product, **values: Any) -> list[InstalledProduct]:
        """Devices of a product that have these values."""
        return self.world.all(InstalledProduct, product_id=product.product_id, **values)

    def contract(self, account: Account, kind: str = "support", *statuses: str) -> Contract:
        """An account's contract of a kind, in one of these statuses; active if none is named."""
        accepted = statuses or ("active",)
        rows = self.world.all(Contract, account_id=account.account_id, contract_type=kind)
        (match,) = [row for row in rows if row.status in accepted]
        return match

    def entitlements(self, contract: Contract, **values: Any) -> list[Entitlement]:
        """Entitlements of a contract."""
        return self.world.all(Entitlement, contract_id=contract.contract_id, **values)
