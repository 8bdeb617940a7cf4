"""Adds cases, by hand and at random, and their SLAs, interactions, articles and notifications.

Invariant: a case's state fits its age, and its related rows agree with the state as policy.md requires.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from opsgym_domains.csm.tables import (
    Account,
    CaseKnowledge,
    CaseSla,
    Contact,
    Contract,
    CustomerCase,
    Entitlement,
    InstalledProduct,
    Interaction,
    Knowledge,
    Notification,
    Product,
    SlaDefinition,
    User,
    UserGroupMember,
)
from opsgym_suites.csm.seeds.setting import CaseFixture, Customer, KnownIssue, Setting
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.world import at

SETTLED = timedelta(days=16)
"""Drawn cases older than this are over."""
UNTOUCHED = timedelta(days=5)
"""Time between the last change of a resolved case and its closure."""
STEPS = {
    "fresh": ("new", "new", "new", "in_progress", "in_progress"),
    "recent": (
        "new",
        "in_progress",
        "in_progress",
        "in_progress",
        "pending",
        "pending",
        "resolved",
        "resolved",
        "resolved",
    ),
    "old": ("closed",) * 12 + ("canceled", "resolved"),
}
"""States of drawn cases, by age."""
CHANNELS = ("web", "email", "phone", "phone", "chat", "community", "social")
FAILED_EVERY = 17
"""One message in so many did not arrive."""


@dataclass
class NewCase:
    """A case before it has a number."""

    case: CustomerCase
    article: Knowledge
    key: str = ""
    closing: dict[str, datetime] = field(default_factory=dict)

    @property
    def created(self) -> datetime:
        """When it was registered."""
        return registered_at(self.case)


def registered_at(case: CustomerCase) -> datetime:
    """When a case was registered."""
    if case.sys_created_on is None:
        raise LookupError(f"{case.number} has no time of registration")
    return case.sys_created_on


def covered(world: World, case: CustomerCase) -> bool:
    """Whether a case is covered as CAS-4 says."""
    for entitlement in world.all(Entitlement, account_id=case.account_id, active=True):
        if entitlement.product_id not in (None, case.product_id) or entitlement.contract_id is None:
            continue
        contract = world.one(Contract, contract_id=entitlement.contract_id)
        if contract.status == "active" and contract.start_date <= world.now.date() <= contract.end_date:
            return True
    return False


def random_cases(
    world: World, setting: Setting, customer: Customer, count: int, rng: random.Random
) -> Iterator[NewCase]:
    """Random cases of a customer."""
    account = world.account(customer.name)
    for index in range(count):
        issue = rng.choice([t for t in setting.known_issues if t.product in customer.products])
        first, last = (
            (world.now - SETTLED, world.now - timedelta(hours=5))
            if index % 3 == 0 and account.active
            else (setting.periods.first_case, world.now - SETTLED)
        )
        created = first + timedelta(minutes=rng.randrange(int((last - first).total_seconds() // 60)))
        fixture = CaseFixture(
            "",
            customer.name,
            issue.product,
            rng.choice(issue.summaries),
            "",
            rng.choice(issue.priorities),
            contact=rng.randrange(3),
            channel=rng.choice(CHANNELS),
        )
        new_case = _case(world, setting, account, fixture, created, issue, rng)
        _advance(world, new_case, rng)
        yield new_case


def case_of_fixture(world: World, setting: Setting, fixture: CaseFixture, rng: random.Random) -> NewCase:
    """The case of a fixture record."""
    issue = _matching_issue(setting, fixture)
    case = _case(world, setting, world.account(fixture.account), fixture, at(fixture.created), issue, rng)
    row = case.case
    row.state, row.reopen_count, case.key = fixture.state, fixture.reopened, fixture.key
    row.assigned_to = world.user(fixture.assignee).user_id if fixture.assignee else None
    changed = at(fixture.updated) if fixture.updated else case.created + timedelta(minutes=35)
    row.sys_updated_on = changed if row.state != "new" else row.sys_created_on
    return case


def _matching_issue(setting: Setting, fixture: CaseFixture) -> KnownIssue:
    """The known issue of the product that shares most words with the case's summary."""
    words = set(fixture.summary.lower().split())
    kinds = [issue for issue in setting.known_issues if issue.product == fixture.product]
    return max(kinds, key=lambda kind: len(words & set(" ".join((*kind.summaries, kind.title)).lower().split())))


def _case(
    world: World,
    setting: Setting,
    account: Account,
    fixture: CaseFixture,
    created: datetime,
    issue: KnownIssue,
    rng: random.Random,
) -> NewCase:
    product = world.product(fixture.product)
    contacts = [row for row in world.all(Contact, account_id=account.account_id) if row.active or not account.active]
    devices = world.all(InstalledProduct, account_id=account.account_id, product_id=product.product_id, status="in_use")
    team = next(item.team for item in setting.products if item.name == fixture.product)
    case = CustomerCase(
        account_id=account.account_id,
        contact_id=contacts[fixture.contact].contact_id,
        product_id=product.product_id,
        installed_product_id=rng.choice(devices).installed_product_id if devices else None,
        channel=fixture.channel,
        priority=fixture.priority,
        state="new",
        short_description=fixture.summary,
        assignment_group_id=world.group(team).group_id,
        escalation=fixture.escalation is not None,
        escalation_reason=fixture.escalation,
        reopen_count=0,
        sys_created_on=created,
        sys_updated_on=created,
    )
    if not covered(world, case):
        case.priority = "low"
    return NewCase(case, world.one(Knowledge, title=issue.title))


def _advance(world: World, new_case: NewCase, rng: random.Random) -> None:
    """Sets the state of a random case, and what follows from it, by its age."""
    case, age = new_case.case, world.now - new_case.created
    case.state = rng.choice(STEPS["old" if age > SETTLED else "fresh" if age < timedelta(days=2) else "recent"])
    if case.state == "new":
        return
    case.sys_updated_on = new_case.created + min(age * 0.6, timedelta(minutes=rng.randrange(30, 7000)))
    if case.state == "canceled":
        return
    case.assigned_to = rng.choice(_assignees(world, case.assignment_group_id)).user_id
    case.reopen_count = rng.choice((0, 0, 0, 0, 0, 0, 0, 1, 1, 2)) if age > timedelta(days=4) else 0
    if case.state == "closed":
        if world.now - (case.sys_updated_on or world.now) < UNTOUCHED:
            case.state = "resolved"
        else:
            new_case.closing = {"resolved": case.sys_updated_on or world.now}
            case.closed_on = case.sys_updated_on = new_case.closing["resolved"] + UNTOUCHED
    elif case.priority in {"critical", "high"} and rng.random() < 0.3:
        level = world.all(Entitlement, account_id=case.account_id, active=True)
        vip = any(row.support_level == "enterprise" for row in level)
        case.escalation, case.escalation_reason = True, "vip" if vip else "customer_request"


def _assignees(world: World, group_id: int | None) -> list[User]:
    """Active agents of a group, or its active managers if it has none."""
    links = world.all(UserGroupMember, group_id=group_id)
    people = [user for user in (world.one(User, user_id=link.user_id) for link in links) if user.active]
    return [user for user in people if user.role == "agent"] or people


# --- what goes with a case -----------------------------------------------------------------------------------------


def add_related_rows(world: World, new_case: NewCase, rng: random.Random) -> None:
    """Adds the SLAs, interactions, article links and notifications of a case."""
    case = new_case.case
    if case.state not in {"new", "canceled"}:
        _add_case_slas(world, new_case)
    _add_conversation(world, case, rng)
    solved = case.state in {"resolved", "closed"}
    if solved or (case.state in {"in_progress", "pending"} and rng.random() < 0.4):
        use = "resolution" if solved else rng.choice(("suggested", "applied"))
        world.add(CaseKnowledge(case_id=case.case_id, knowledge_id=new_case.article.knowledge_id, used_as=use))
    if solved:
        shown = new_case.article.knowledge_id if new_case.article.visibility == "external" else None
        _add_notification(world, case, _contact_address(world, case), "solution_proposal", shown)
    if case.state == "pending":
        _add_notification(world, case, _contact_address(world, case), "reminder")
    if case.escalation:
        for link in world.all(UserGroupMember, group_id=case.assignment_group_id):
            user = world.one(User, user_id=link.user_id)
            if user.role == "manager" and user.active:
                _add_notification(world, case, user.email, "alert")


def _add_case_slas(world: World, new_case: NewCase) -> None:
    case = new_case.case
    if not covered(world, case):
        return
    start = new_case.created
    for definition in world.all(SlaDefinition, applies_to_priority=case.priority, active=True):
        breach = start + timedelta(minutes=definition.target_mins)
        stage, done = _stage(world, new_case, definition)
        world.add(
            CaseSla(
                case_id=case.case_id,
                sla_def_id=definition.sla_def_id,
                stage=stage,
                start_time=start,
                breach_time=breach,
                has_breached=(done or world.now) > breach and stage != "paused",
                completed_time=done,
            )
        )


def _stage(world: World, new_case: NewCase, definition: SlaDefinition) -> tuple[str, datetime | None]:
    case, begun = new_case.case, new_case.created + timedelta(minutes=definition.target_mins * 0.7)
    if definition.metric == "response":
        return "completed", min(begun, case.sys_updated_on or world.now)
    if case.state in {"resolved", "closed"}:
        return "completed", new_case.closing.get("resolved", case.sys_updated_on)
    return ("paused" if case.state == "pending" else "in_progress"), None


def _add_conversation(world: World, case: CustomerCase, rng: random.Random) -> None:
    started = case.sys_created_on or world.now
    hand = case.assigned_to or rng.choice(_assignees(world, case.assignment_group_id)).user_id
    if case.channel in {"community", "alert"}:
        return
    ended = started + timedelta(minutes=rng.randrange(3, 25))
    world.add(
        Interaction(
            channel=case.channel,
            account_id=case.account_id,
            contact_id=case.contact_id,
            case_id=case.case_id,
            interacted_user=hand,
            status="closed" if case.state == "closed" else "handled",
            started_at=started,
            ended_at=ended,
            sys_created_on=started,
        )
    )


def _contact_address(world: World, case: CustomerCase) -> str:
    contact = world.one(Contact, contact_id=case.contact_id)
    return world.one(User, user_id=contact.portal_user_id).email


def _add_notification(world: World, case: CustomerCase, email: str, kind: str, article: int | None = None) -> None:
    failed = (len(world.all(Notification)) + 1) % FAILED_EVERY == 0
    world.add(
        Notification(
            case_id=case.case_id,
            knowledge_id=article,
            email=email,
            type=kind,
            status="failed" if failed else "success",
            sys_created_on=case.sys_updated_on,
        )
    )


def product_of(world: World, case: CustomerCase) -> Product:
    """The product of a case."""
    return world.one(Product, product_id=case.product_id)
