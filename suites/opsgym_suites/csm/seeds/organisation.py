"""Adds the rows that exist before any case: users, products, SLA definitions, articles, customers, their assets.

Invariant: the added rows keep what policy.md says about accounts, contacts, devices, contracts and entitlements.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from opsgym_domains.csm.tables import (
    Account,
    Contact,
    Contract,
    Entitlement,
    InstalledProduct,
    Knowledge,
    Location,
    Product,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
)
from opsgym_suites.csm.seeds.company import (
    COMPANY_NAME,
    COUNTRIES,
    DOMAIN,
    EMPLOYEES,
    KNOWN_ISSUES,
    MORE_ARTICLES,
    OFFICES,
    PRODUCTS,
    RETIRED_SLAS,
    SLA_TARGETS,
    TEAMS,
)
from opsgym_suites.csm.seeds.customers import FIRST_NAMES, LAST_NAMES, SHARED_NAME, SHARED_NAME_ACCOUNTS, Customer
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.world import at

FOUNDED = datetime(2025, 2, 3, 8, 0)  # noqa: DTZ001 - tables keep UTC without a zone
"""When the firm's first records were made."""
COVERAGE = {"standard": ("h8x5", 8), "premium": ("h12x6", 20), "enterprise": ("h24x7", 0)}
"""Hours and cases a month, by support level; 0 is without limit."""
DRAFTED = at("11-02 08:00")
"""When contracts that begin next year were drafted."""
LEAVERS_EVERY = 5
"""One contact in so many has left."""


def _timestamps(days: float) -> dict[str, datetime]:
    when = FOUNDED + timedelta(days=days)
    return {"sys_created_on": when, "sys_updated_on": when}


def add_company(world: World) -> None:
    """Adds the company itself."""
    for number, (name, city, plot, street) in enumerate(OFFICES):
        world.add(_location(name, city, number, plot, street))
    for number, employee in enumerate(EMPLOYEES):
        first, _, last = employee.name.partition(" ")
        office = next(name for name, city, *_ in OFFICES if city == employee.city)
        email = f"{first}.{last}@{DOMAIN}".lower()
        location = world.one(Location, name=office)
        world.add(
            _user(first, last, email, employee.role, location, f"+44 20 5550 {1000 + number}", employee.active, number)
        )
    for number, team in enumerate(TEAMS):
        group = world.add(UserGroup(name=team.name, type=team.type, active=team.active, **_timestamps(30 + number)))
        for name in team.members:
            when = _timestamps(32 + number)["sys_created_on"]
            world.add(UserGroupMember(group_id=group.group_id, user_id=world.user(name).user_id, sys_created_on=when))
    world.add(Account(name=COMPANY_NAME, account_type="internal", email_domain=DOMAIN, active=True, **_timestamps(1)))
    _add_products(world)


def _add_products(world: World) -> None:
    for number, item in enumerate(PRODUCTS):
        world.add(
            Product(
                name=item.name, category=item.category, product_price=item.price, lifecycle_state=item.state,
                **_timestamps(10 + number),
            )
        )  # fmt: skip
    for priority, response, resolution in SLA_TARGETS:
        for metric, target in (("response", response), ("resolution", resolution)):
            world.add(_sla_definition(f"{priority} {metric}".capitalize(), metric, priority, target, active=True))
    for name, metric, priority, target in RETIRED_SLAS:
        world.add(_sla_definition(name, metric, priority, target, active=False))
    articles = [
        *((t.title, t.body, t.state, t.visibility, t.product) for t in KNOWN_ISSUES),
        *MORE_ARTICLES,
    ]
    for number, (title, body, state, visibility, product) in enumerate(articles, start=1):
        owner = world.user(EMPLOYEES[8 + number % 14].name)
        world.add(
            Knowledge(
                kb_number=f"KB-{world.draw_number(Knowledge):07d}", title=title, body=body, state=state,
                visibility=visibility,
                product_id=None if product is None else world.product(product).product_id, owner_id=owner.user_id,
                **_timestamps(60 + 5 * number),
            )
        )  # fmt: skip


def _sla_definition(name: str, metric: str, priority: str, target: int, *, active: bool) -> SlaDefinition:
    return SlaDefinition(
        name=name, metric=metric, target_mins=target, pause_on_pending=metric == "resolution",
        applies_to_priority=priority, active=active, **_timestamps(40 if active else 5),
    )  # fmt: skip


def _location(name: str, city: str, number: int, plot: str, street: str) -> Location:
    return Location(
        name=name, plot_no=plot, street=street, city=city, country=COUNTRIES[city], active=True, **_timestamps(number)
    )


def _user(
    first: str, last: str, email: str, role: str, location: Location, phone: str, active: bool, number: int
) -> User:
    return User(
        first_name=first, last_name=last, email=email, phone=phone, role=role, location_id=location.location_id,
        active=active, **_timestamps(2 + number),
    )  # fmt: skip


# --- customers -----------------------------------------------------------------------------------------------------


def add_customer(world: World, customer: Customer, number: int, devices: int, rng: random.Random) -> None:
    """A customer with sites, contacts, devices, contracts and entitlements.

    Args:
        world: Receives the rows.
        customer: The customer.
        number: Its index in the list of customers.
        devices: Most devices of a product.
        rng: Source of random choices.
    """
    account = world.add(
        Account(
            name=customer.name, account_type=customer.type, email_domain=customer.domain, active=customer.active,
            **_timestamps(70 + 3 * number),
        )
    )  # fmt: skip
    sites = [
        world.add(_location(name, customer.city, 70 + number, str(rng.randrange(1, 200)), f"{name.split()[0]} Way"))
        for name in customer.sites
    ]
    _add_contacts(world, customer, account, sites[0], number, rng)
    _add_devices(world, customer, account, sites, min(devices, customer.devices), rng)
    _add_contracts(world, customer, account, number)


def _add_contacts(
    world: World, customer: Customer, account: Account, site: Location, number: int, rng: random.Random
) -> None:
    names = [f"{first} {last}" for first in FIRST_NAMES[customer.city] for last in LAST_NAMES[customer.city]]
    taken = {f"{user.first_name} {user.last_name}" for user in world.all(User)} | {SHARED_NAME}
    chosen = rng.sample([name for name in names if name not in taken], 4 + number % 2)
    if customer.name in SHARED_NAME_ACCOUNTS:
        chosen[2] = SHARED_NAME
    for place, name in enumerate(chosen):
        first, _, last = name.partition(" ")
        active = customer.active and (place < 3 or (number + place) % LEAVERS_EVERY != 0)
        email, phone = f"{first}.{last}@{customer.domain}".lower(), f"+1 555 {number:03d} {100 + place}"
        user = world.add(_user(first, last, email, "customer", site, phone, active, 80 + 3 * number + place))
        world.add(
            Contact(
                account_id=account.account_id, portal_user_id=user.user_id, active=active, is_primary=place == 0,
                **_timestamps(84 + 3 * number + place),
            )
        )  # fmt: skip


def _add_devices(
    world: World, customer: Customer, account: Account, sites: list[Location], most: int, rng: random.Random
) -> None:
    codes = {item.name: item.code for item in PRODUCTS if item.code}
    for product in (name for name in customer.products if name in codes):
        for place in range(most):
            status = (
                "in_use" if place < 2 else rng.choice(("in_use", "in_use", "in_use", "in_stock", "repair", "retired"))
            )
            bought = date(2024, 1, 15) + timedelta(days=rng.randrange(760))
            serial = f"{codes[product]}-{bought:%y}-{10000 + 137 * len(world.all(InstalledProduct)):05d}"
            world.add(
                InstalledProduct(
                    account_id=account.account_id, product_id=world.product(product).product_id,
                    location_id=sites[place % len(sites)].location_id, serial_number=serial, status=status,
                    warranty_end=bought + timedelta(days=1095), **_timestamps(200 + place),
                )
            )  # fmt: skip


def _add_contracts(world: World, customer: Customer, account: Account, number: int) -> None:
    if customer.level is None:
        return
    price = 4000 + 750 * len(customer.products) + 100 * number
    old = _contract(account, "support", "expired", price - 400, date(2024, 12, 1), date(2025, 11, 30))
    _add_entitlements(world, customer, account, world.add(old), active=False)
    if customer.contract == "expired":
        return
    end = date(2026, 11, 30) if number % 3 == 0 else date(2027, 2 + number % 9, 28)
    current = world.add(_contract(account, "support", customer.contract, price, date(2025, 12, 1), end))
    _add_entitlements(world, customer, account, current, active=customer.contract == "active")
    if "ColdView Cloud" in customer.products:
        world.add(_contract(account, "subscription", "active", 1800, date(2026, 1, 1), date(2026, 12, 31)))
    if number % 7 == 2:
        world.add(_contract(account, "warranty", "draft", 950, date(2027, 1, 1), date(2027, 12, 31)))


def _contract(account: Account, kind: str, status: str, price: int, start: date, end: date) -> Contract:
    made = min(datetime.combine(start, FOUNDED.time()) - timedelta(days=20), DRAFTED)
    return Contract(
        account_id=account.account_id, contract_type=kind, status=status, contract_price=price, start_date=start,
        end_date=end, sys_created_on=made, sys_updated_on=made,
    )  # fmt: skip


def _add_entitlements(world: World, customer: Customer, account: Account, contract: Contract, *, active: bool) -> None:
    hours, most = COVERAGE[customer.level or "standard"]
    for product in _covered_products(customer):
        world.add(
            Entitlement(
                account_id=account.account_id,
                    product_id=None if product is None else world.product(product).product_id,
                contract_id=contract.contract_id, support_level=customer.level, coverage_hours=hours,
                max_cases_per_month=most, active=active, sys_created_on=contract.sys_created_on,
                sys_updated_on=contract.sys_updated_on,
            )
        )  # fmt: skip


def _covered_products(customer: Customer) -> Iterator[str | None]:
    """Products that entitlements name; the last product of some customers is left out."""
    if customer.wide:
        yield None
        yield customer.products[0]
        return
    left_out = customer.products[-1] if len(customer.products) > 2 and customer.level == "standard" else None
    yield from (product for product in customer.products if product != left_out)
