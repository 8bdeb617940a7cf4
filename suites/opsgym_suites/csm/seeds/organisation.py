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
from opsgym_suites.csm.seeds.setting import Article, Customer, KnownIssue, Periods, Setting
from opsgym_suites.csm.seeds.world import World

COVERAGE = {"standard": ("h8x5", 8), "premium": ("h12x6", 20), "enterprise": ("h24x7", 0)}
"""Hours and cases a month, by support level; 0 is without limit."""
FIRST_AUTHOR, AUTHORS = 8, 14
"""Place of the first employee who writes articles, and how many do."""
LEAVERS_EVERY = 5
"""One contact in so many has left."""


def _timestamps(setting: Setting, days: float) -> dict[str, datetime]:
    when = setting.periods.founded + timedelta(days=days)
    return {"sys_created_on": when, "sys_updated_on": when}


def add_company(world: World, setting: Setting) -> None:
    """Adds the company itself."""
    for number, office in enumerate(setting.offices):
        world.add(_location(setting, office.name, office.city, number, office.plot, office.street))
    for number, employee in enumerate(setting.employees):
        first, _, last = employee.name.partition(" ")
        site = next(office.name for office in setting.offices if office.city == employee.city)
        email = f"{first}.{last}@{setting.domain}".lower()
        location = world.one(Location, name=site)
        world.add(
            _user(
                setting,
                first,
                last,
                email,
                employee.role,
                location,
                f"{setting.phone} {1000 + number}",
                employee.active,
                number,
            )
        )
    for number, team in enumerate(setting.teams):
        group = world.add(
            UserGroup(name=team.name, type=team.type, active=team.active, **_timestamps(setting, 30 + number))
        )
        for name in team.members:
            when = _timestamps(setting, 32 + number)["sys_created_on"]
            world.add(UserGroupMember(group_id=group.group_id, user_id=world.user(name).user_id, sys_created_on=when))
    world.add(
        Account(
            name=setting.company,
            account_type="internal",
            email_domain=setting.domain,
            active=True,
            **_timestamps(setting, 1),
        )
    )
    _add_products(world, setting)


def _add_products(world: World, setting: Setting) -> None:
    for number, item in enumerate(setting.products):
        world.add(
            Product(
                name=item.name,
                category=item.category,
                product_price=item.price,
                lifecycle_state=item.state,
                **_timestamps(setting, 10 + number),
            )
        )
    for priority, response, resolution in setting.sla_targets:
        for metric, target in (("response", response), ("resolution", resolution)):
            world.add(
                _sla_definition(setting, f"{priority} {metric}".capitalize(), metric, priority, target, active=True)
            )
    for name, metric, priority, target in setting.retired_slas:
        world.add(_sla_definition(setting, name, metric, priority, target, active=False))
    articles: list[KnownIssue | Article] = [*setting.known_issues, *setting.articles]
    for number, article in enumerate(articles, start=1):
        owner = world.user(setting.employees[FIRST_AUTHOR + number % AUTHORS].name)
        world.add(
            Knowledge(
                kb_number=f"KB-{world.draw_number(Knowledge):07d}",
                title=article.title,
                body=article.body,
                state=article.state,
                visibility=article.visibility,
                product_id=None if article.product is None else world.product(article.product).product_id,
                owner_id=owner.user_id,
                **_timestamps(setting, 60 + 5 * number),
            )
        )


def _sla_definition(
    setting: Setting, name: str, metric: str, priority: str, target: int, *, active: bool
) -> SlaDefinition:
    return SlaDefinition(
        name=name,
        metric=metric,
        target_mins=target,
        pause_on_pending=metric == "resolution",
        applies_to_priority=priority,
        active=active,
        **_timestamps(setting, 40 if active else 5),
    )


def _location(setting: Setting, name: str, city: str, number: int, plot: str, street: str) -> Location:
    return Location(
        name=name,
        plot_no=plot,
        street=street,
        city=city,
        country=setting.countries[city],
        active=True,
        **_timestamps(setting, number),
    )


def _user(
    setting: Setting,
    first: str,
    last: str,
    email: str,
    role: str,
    location: Location,
    phone: str,
    active: bool,
    number: int,
) -> User:
    return User(
        first_name=first,
        last_name=last,
        email=email,
        phone=phone,
        role=role,
        location_id=location.location_id,
        active=active,
        **_timestamps(setting, 2 + number),
    )


# --- customers -----------------------------------------------------------------------------------------------------


def add_customer(
    world: World, setting: Setting, customer: Customer, number: int, devices: int, rng: random.Random
) -> None:
    """A customer with sites, contacts, devices, contracts and entitlements.

    Args:
        world: Receives the rows.
        setting: Names, dates and products.
        customer: The customer.
        number: Its index in the list of customers.
        devices: Most devices of a product.
        rng: Source of random choices.
    """
    account = world.add(
        Account(
            name=customer.name,
            account_type=customer.type,
            email_domain=customer.domain,
            active=customer.active,
            **_timestamps(setting, 70 + 3 * number),
        )
    )
    sites = [
        world.add(
            _location(setting, name, customer.city, 70 + number, str(rng.randrange(1, 200)), f"{name.split()[0]} Way")
        )
        for name in customer.sites
    ]
    _add_contacts(world, setting, customer, account, sites[0], number, rng)
    _add_devices(world, setting, customer, account, sites, min(devices, customer.devices), rng)
    _add_contracts(world, setting, customer, account, number)


def _add_contacts(
    world: World,
    setting: Setting,
    customer: Customer,
    account: Account,
    site: Location,
    number: int,
    rng: random.Random,
) -> None:
    names = [
        f"{first} {last}" for first in setting.first_names[customer.city] for last in setting.last_names[customer.city]
    ]
    taken = {f"{user.first_name} {user.last_name}" for user in world.all(User)} | {setting.shared_name}
    chosen = rng.sample([name for name in names if name not in taken], 4 + number % 2)
    if customer.name in setting.shared_by:
        chosen[2] = setting.shared_name
    for place, name in enumerate(chosen):
        first, _, last = name.partition(" ")
        active = customer.active and (place < 3 or (number + place) % LEAVERS_EVERY != 0)
        email, phone = f"{first}.{last}@{customer.domain}".lower(), f"+1 555 {number:03d} {100 + place}"
        user = world.add(_user(setting, first, last, email, "customer", site, phone, active, 80 + 3 * number + place))
        world.add(
            Contact(
                account_id=account.account_id,
                portal_user_id=user.user_id,
                active=active,
                is_primary=place == 0,
                **_timestamps(setting, 84 + 3 * number + place),
            )
        )


def _add_devices(
    world: World,
    setting: Setting,
    customer: Customer,
    account: Account,
    sites: list[Location],
    most: int,
    rng: random.Random,
) -> None:
    codes = {item.name: item.code for item in setting.products if item.code}
    for product in (name for name in customer.products if name in codes):
        for place in range(most):
            status = (
                "in_use" if place < 2 else rng.choice(("in_use", "in_use", "in_use", "in_stock", "repair", "retired"))
            )
            bought = setting.periods.bought + timedelta(days=rng.randrange(760))
            serial = f"{codes[product]}-{bought:%y}-{10000 + 137 * len(world.all(InstalledProduct)):05d}"
            world.add(
                InstalledProduct(
                    account_id=account.account_id,
                    product_id=world.product(product).product_id,
                    location_id=sites[place % len(sites)].location_id,
                    serial_number=serial,
                    status=status,
                    warranty_end=bought + timedelta(days=1095),
                    **_timestamps(setting, 200 + place),
                )
            )


def _add_contracts(world: World, setting: Setting, customer: Customer, account: Account, number: int) -> None:
    if customer.level is None:
        return
    periods = setting.periods
    price = 4000 + 750 * len(customer.products) + 100 * number
    old = _contract(periods, account, "support", "expired", price - 400, *periods.previous)
    _add_entitlements(world, customer, account, world.add(old), active=False)
    if customer.contract == "expired":
        return
    end = periods.renewals if number % 3 == 0 else periods.later[number % len(periods.later)]
    current = world.add(_contract(periods, account, "support", customer.contract, price, periods.begins, end))
    _add_entitlements(world, customer, account, current, active=customer.contract == "active")
    if setting.subscribed in customer.products:
        world.add(_contract(periods, account, "subscription", "active", 1800, *periods.subscription))
    if number % 7 == 2:
        world.add(_contract(periods, account, "warranty", "draft", 950, *periods.warranty))


def _contract(
    periods: Periods, account: Account, kind: str, status: str, price: int, start: date, end: date
) -> Contract:
    made = min(datetime.combine(start, periods.founded.time()) - timedelta(days=20), periods.drafted)
    return Contract(
        account_id=account.account_id,
        contract_type=kind,
        status=status,
        contract_price=price,
        start_date=start,
        end_date=end,
        sys_created_on=made,
        sys_updated_on=made,
    )


def _add_entitlements(world: World, customer: Customer, account: Account, contract: Contract, *, active: bool) -> None:
    hours, most = COVERAGE[customer.level or "standard"]
    for product in _covered_products(customer):
        world.add(
            Entitlement(
                account_id=account.account_id,
                product_id=None if product is None else world.product(product).product_id,
                contract_id=contract.contract_id,
                support_level=customer.level,
                coverage_hours=hours,
                max_cases_per_month=most,
                active=active,
                sys_created_on=contract.sys_created_on,
                sys_updated_on=contract.sys_updated_on,
            )
        )


def _covered_products(customer: Customer) -> Iterator[str | None]:
    """Products that entitlements name; the last product of some customers is left out."""
    if customer.wide:
        yield None
        yield customer.products[0]
        return
    left_out = customer.products[-1] if len(customer.products) > 2 and customer.level == "standard" else None
    yield from (product for product in customer.products if product != left_out)
