"""Rows that were entered by mistake, for the work of those who find and correct them; in worlds with stories only.

Invariant: they come last and draw nothing at random, so every other row is as it would be without them.
"""

from __future__ import annotations

from datetime import timedelta

from opsgym_domains.csm.tables import (
    Account,
    CaseSla,
    Contact,
    CustomerCase,
    Knowledge,
    Notification,
    Product,
    SlaDefinition,
    User,
)
from opsgym_suites.csm.seeds.cases import registered_at
from opsgym_suites.csm.seeds.setting import Item, MessageSlip, Setting, SlaSlip
from opsgym_suites.csm.seeds.world import World


def slipped_case(world: World, slip: SlaSlip | MessageSlip) -> CustomerCase:
    """The case that a slip is about: the account's newest one on the product in the state."""
    account, product = world.account(slip.account), world.product(slip.product)
    return world.all(
        CustomerCase, account_id=account.account_id, product_id=product.product_id, state=slip.state
    )[-1]  # fmt: skip


def add_slips(world: World, setting: Setting) -> None:
    """Adds products that were never sold, SLAs that should not run, and messages that should not have gone out."""
    for item, title in setting.unsold:
        _add_product(world, setting, item, title)
    for sla in setting.sla_slips:
        _add_sla(world, sla)
    for message in setting.message_slips:
        _add_message(world, message)


def _add_product(world: World, setting: Setting, item: Item, title: str | None) -> None:
    times = dict.fromkeys(("sys_created_on", "sys_updated_on"), setting.periods.drafted)
    product = world.add(
        Product(
            name=item.name,
            category=item.category,
            product_price=item.price,
            lifecycle_state=item.state,
            **times,
        )
    )
    if title is None:
        return
    manager = next(user for user in world.all(User, role="manager") if user.active)
    world.add(
        Knowledge(
            kb_number=f"KB-{world.draw_number(Knowledge):07d}",
            title=title,
            body="Draft: text follows.",
            state="draft",
            visibility="internal",
            product_id=product.product_id,
            owner_id=manager.user_id,
            **times,
        )
    )


def _add_sla(world: World, slip: SlaSlip) -> None:
    case, definition = slipped_case(world, slip), world.one(SlaDefinition, name=slip.definition)
    start = registered_at(case) + timedelta(minutes=slip.minutes)
    breach = start + timedelta(minutes=definition.target_mins)
    world.add(
        CaseSla(
            case_id=case.case_id,
            sla_def_id=definition.sla_def_id,
            stage="in_progress",
            start_time=start,
            breach_time=breach,
            has_breached=world.now > breach,
        )
    )


def _add_message(world: World, slip: MessageSlip) -> None:
    case = slipped_case(world, slip)
    sent = (case.sys_updated_on or world.now) + timedelta(minutes=2)
    world.add(
        Notification(
            case_id=case.case_id,
            email=_recipient(world, case, slip.to).email,
            type=slip.type,
            status="success",
            sys_created_on=sent,
        )
    )


def _recipient(world: World, case: CustomerCase, name: str | None) -> User:
    if name is None:
        contact = world.one(Contact, contact_id=case.contact_id)
    elif world.all(Account, name=name):
        contact = world.one(Contact, account_id=world.account(name).account_id, is_primary=True)
    else:
        return world.user(name)
    return world.one(User, user_id=contact.portal_user_id)
