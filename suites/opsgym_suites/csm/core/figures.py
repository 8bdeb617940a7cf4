"""Tasks in which a figure of the desk's statistics decides which record the work is done to.

Invariant: the request states how the figure decides and never what it is; each figure is read with the tool that
counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_domains.csm.tables import (
    Account,
    Contact,
    CustomerCase,
    InstalledProduct,
    Interaction,
    User,
    UserGroup,
    UserGroupMember,
)
from opsgym_suites.csm.calls import find_account, find_contacts, find_product, find_team, find_user
from opsgym_suites.csm.core.contact_work import messaged, suggested, talked
from opsgym_suites.csm.core.procedures import (
    Comparison,
    Work,
    compared,
    escalated,
    joined,
    taken_up,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name

BEGUN = ("in_progress", "pending")


# --- what the figures are ------------------------------------------------------------------------------------------


def mean_reopen(cases: Sequence[CustomerCase]) -> float:
    """Average reopen count of cases."""
    return sum(case.reopen_count for case in cases) / len(cases) if cases else 0


def load(world: World, user: User) -> int:
    """Number of a colleague's cases in progress or pending."""
    return len([case for case in world.all(CustomerCase, assigned_to=user.user_id) if case.state in BEGUN])


def in_status(world: World, status: str, **values: int) -> int:
    """Number of devices in a status."""
    return len(world.all(InstalledProduct, status=status, **values))


def oldest_calm(world: World, channel: str) -> CustomerCase:
    """The oldest case of a channel that is in progress and not escalated."""
    return world.all(CustomerCase, channel=channel, state="in_progress", escalation=False)[0]


def oldest_new(world: World, **values: object) -> CustomerCase:
    """The oldest case that no one has begun."""
    return world.all(CustomerCase, state="new", **values)[0]


# --- work that only one scene needs --------------------------------------------------------------------------------


def new_members(world: World, group: UserGroup, names: Sequence[str]) -> Work:
    """People join a group in which they are not yet."""
    people = [world.user(name) for name in names]
    members = {row.user_id for row in world.all(UserGroupMember, group_id=group.group_id)}
    joining = [user for user in people if user.user_id not in members]
    others = [user for user in world.all(User, role="agent", active=True) if user.user_id not in members]
    another = next(user for user in others if user not in joining)
    return Work(
        "Add those who are not a member yet.",
        (*map(find_user, people), call("list_group_members", group_id=group.group_id)),
        tuple(call("add_new_group_member", group_id=group.group_id, user_id=user.user_id) for user in joining),
        f"{', '.join(full_name(user) for user in joining)} joined {group.name}.",
        (*(user.last_name for user in joining), group.name),
        {},
        {"adds one more": (call("add_new_group_member", group_id=group.group_id, user_id=another.user_id),)},
    )


def retired(world: World, name: str) -> Work:
    """A product is retired, with its devices in stock."""
    product, records = world.product(name), DeskRecords(world)
    stock, used = records.devices(product, status="in_stock"), records.devices(product, status="in_use")
    return Work(
        "Retire that product and its devices in stock; the others stay as they are (PRD-2).",
        (find_product(product), call("retrieve_installed_products", product_id=product.product_id)),
        (
            call("update_product", product_id=product.product_id, lifecycle_state="retired"),
            *(
                call(
                    "update_installed_product_details",
                    installed_product_id=row.installed_product_id,
                    status="retired",
                )
                for row in stock
            ),
        ),
        f"{name} is retired, with {len(stock)} devices that were in stock.",
        (name,),
        {"update_product": "PRD-2"},
        {
            "retires one in use": (
                call(
                    "update_installed_product_details",
                    installed_product_id=used[0].installed_product_id,
                    status="retired",
                ),
            )
        },
    )


def made_primary(records: DeskRecords, contact: Contact) -> Work:
    """Another contact becomes the primary one."""
    world = records.world
    before = world.one(Contact, account_id=contact.account_id, is_primary=True)
    user = records.user_of(contact)
    if contact is before:
        raise ValueError(f"{full_name(user)} is the primary contact already")
    return Work(
        "Set the previous primary contact to not primary first, then the other one to primary (ACC-1).",
        (call("find_contacts", account_id=contact.account_id),),
        (
            call("update_contact", contact_id=before.contact_id, is_primary=False),
            call("update_contact", contact_id=contact.contact_id, is_primary=True),
        ),
        f"{full_name(user)} is the primary contact now.",
        (user.last_name,),
        {"update_contact": "ACC-1"},
        {"deactivates the old one": (call("update_contact", contact_id=before.contact_id, active=False),)},
    )


def checked(records: DeskRecords, firm: Account, product_name: str, summary: str) -> Work:
    """A case is registered for an account's primary contact."""
    world = records.world
    product, contact, made = world.product(product_name), records.primary_contact(firm), world.next_id(CustomerCase)
    return Work(
        "Register the case for its primary contact: new, not assigned, low as no trouble is reported (CAS-1, CAS-2).",
        (find_product(product), find_account(firm), find_contacts(firm)),
        (
            call(
                "create_new_case",
                account_id=firm.account_id,
                contact_id=contact.contact_id,
                channel="email",
                product_id=product.product_id,
                priority="low",
                state="new",
                short_description=summary,
            ),
        ),
        f"CS-{made:07d} is registered for {firm.name}.",
        (firm.name,),
        {"create_new_case": "CAS-1, CAS-2"},
        {"takes it up": (call("update_case", case_id=made, state="in_progress"),)},
    )


def warranty_drafted(records: DeskRecords, firm: Account, start: str, end: str) -> Work:
    """A draft of a warranty contract."""
    made = call(
        "enlist_new_contract",
        account_id=firm.account_id,
        contract_type="warranty",
        status="draft",
        start_date=start,
        end_date=end,
    )
    contract = records.contract(firm)
    return Work(
        "Draft a warranty contract for it (CON-1).",
        (find_account(firm), call("find_contracts", account_id=firm.account_id)),
        (made,),
        f"{firm.name} has a draft of a warranty contract.",
        (firm.name,),
        {"enlist_new_contract": "CON-1"},
        {"makes the support contract longer": (
            call("update_contract", contract_id=contract.contract_id, end_date=end),)},
    )  # fmt: skip


_SENSOR_LIMIT = "Sensor limit of Gateway G200"


def _with_a_hint(records: DeskRecords, case: CustomerCase) -> Work:
    hint = suggested(records, case, _SENSOR_LIMIT)
    return joined(taken_up(records, case), messaged(records, case, "next_steps"), hint)


def _after_a_call(records: DeskRecords, case: CustomerCase, hand: User) -> Work:
    called = talked(records, case, records.world.user("Jonas Ekberg"))
    return joined(taken_up(records, case, hand), called, suggested(records, case, _SENSOR_LIMIT))


def _read_accounts(world: World, names: Sequence[str]) -> list[Account]:
    return [world.account(name) for name in names]


# --- the tasks -----------------------------------------------------------------------------------------------------

_FIRST_HALF: tuple[Comparison[Any], ...] = (
    Comparison(
        "quieter-channel-gets-a-manager", "Ines Calloway",
        "Web or chat: over which of the two have fewer cases reached us, counting everything we ever had? There the "
        "oldest one that no one has begun goes to the manager of its group, who takes it up today. SLAs and all. "
        "Tell its contact what happens next, and suggest for the case the published article about that product that "
        "fits the trouble.",
        "Count the cases of both channels, and list the new ones of the lower.",
        lambda _world: ("web", "chat"),
        lambda world, channel: len(world.all(CustomerCase, channel=channel)),
        lambda _world, channels: (
            *(call("get_channel_wise_case_count", channel=channel) for channel in channels),
            call("search_cases", state="new"),
        ),
        lambda records, channel: _with_a_hint(records, oldest_new(records.world, channel=channel)),
        lowest=True,
    ),
    Comparison(
        "channel-whose-cases-come-back", "Helen Osei",
        "I had a look at the cases that come back to us. Compare mail, phone and web by how often a case gets reopened "
        "on average; whichever is worst, I want the oldest case of that channel escalated that is in progress and has "
        "no escalation yet. No customer asked for it, and nothing stands still.",
        "Compare the average reopen counts of the three channels, and list the worst one's cases in progress.",
        lambda _world: ("email", "phone", "web"),
        lambda world, channel: mean_reopen(world.all(CustomerCase, channel=channel)),
        lambda _world, channels: (
            *(call("get_average_case_reopen_count", channel=channel) for channel in channels),
            call("search_cases", state="in_progress", escalation=False),
        ),
        lambda records, channel: escalated(records, oldest_calm(records.world, channel), "urgency"),
    ),
    Comparison(
        "group-that-reopens-most-gets-help", "Jonas Ekberg",
        "Sensor, Gateway and Software Support: the one whose cases are reopened most often on average gets help. Owen "
        "Pryce and Noor Siddiqui belong to it from today, as far as they do not already. No one leaves any group.",
        "Compare the groups by average reopen count, and see who is a member of the worst.",
        lambda world: tuple(world.group(f"{name} Support") for name in ("Sensor", "Gateway", "Software")),
        lambda world, group: mean_reopen(world.all(CustomerCase, assignment_group_id=group.group_id)),
        lambda _world, groups: (
            *map(find_team, groups),
            *(
                call("avg_reopen_count_for_assignment_group", assignment_group_id=group.group_id)
                for group in groups
            ),
        ),
        lambda records, group: new_members(records.world, group, ("Owen Pryce", "Noor Siddiqui")),
    ),
    Comparison(
        "lightest-hand-takes-the-hub", "Jonas Ekberg",
        "Sakura has a new case, half of the sensors missing on their gateway. Callum, Grace or Maya: the one with the "
        "fewest cases on their hands, in progress and pending together, takes it up now. In full, please. The contact "
        "of the case has described the trouble to me on the phone just now, no question is left: record the call as "
        "mine. Link our article on how many sensors that gateway can bear, for the colleague to try.",
        "Count the cases of the three by state.",
        lambda world: tuple(map(world.user, ("Callum Reid", "Grace Holloway", "Maya Torres"))),
        load,
        lambda world, people: (
            find_account(world.account("Sakura Logistics")),
            call("search_cases", account_id=world.account("Sakura Logistics").account_id, state="new"),
            *map(find_user, people),
            *(call("count_case_by_state", assigned_to=user.user_id) for user in people),
        ),
        lambda records, user: _after_a_call(
            records,
            oldest_new(records.world, account_id=records.world.account("Sakura Logistics").account_id),
            user,
        ),
        lowest=True,
        access=Access.STRICT,
    ),
)  # fmt: skip
_SECOND_HALF: tuple[Comparison[Any], ...] = (
    Comparison(
        "gateway-with-more-in-repair-goes", "Priya Venkat",
        "We keep one gateway, the G100 or the G200. The one of which more devices are in repair at the moment leaves "
        "the catalogue, with what our rules attach to that. Which one was it, and how many devices went with it?",
        "Count the devices of both products by status.",
        lambda _world: ("Gateway G100", "Gateway G200"),
        lambda world, name: in_status(world, "repair", product_id=world.product(name).product_id),
        lambda world, names: (
            *(find_product(world.product(name)) for name in names),
            *(
                call("count_installed_product_by_status", product_id=world.product(name).product_id)
                for name in names
            ),
        ),
        lambda records, name: retired(records.world, name),
    ),
    Comparison(
        "who-talks-to-us-most-becomes-primary", "Marek Doyle",
        "Calder asks us to name as their primary contact the one of their active contacts who has had the most "
        "conversations with us, over all channels and whatever came of them. Please enter that person.",
        "Count the conversations of each active contact.",
        lambda world: DeskRecords(world).contacts(world.account("Calder Pharmacies")),
        lambda world, contact: len(world.all(Interaction, contact_id=contact.contact_id)),
        lambda world, contacts: (
            find_account(world.account("Calder Pharmacies")),
            find_contacts(world.account("Calder Pharmacies")),
            *(call("list_users", user_id=contact.portal_user_id) for contact in contacts),
            *(call("count_interaction_by_status", contact_id=contact.contact_id) for contact in contacts),
        ),
        made_primary,
    ),
    Comparison(
        "most-first-sensors-get-a-check", "Ruth Abara",
        "Who has the most Frost Sensors F1 in use? That customer gets a case from us, by mail, for its primary "
        'contact: "Yearly check of all your Frost Sensors F1". It is an offer, no trouble, and no one starts on it.',
        "Count the product's devices by account and status.",
        lambda world: [
            account for account in world.all(Account)
            if in_status(
                world, "in_use", account_id=account.account_id, product_id=world.product("Frost Sensor F1").product_id
            )
        ],
        lambda world, account: in_status(
            world, "in_use", account_id=account.account_id, product_id=world.product("Frost Sensor F1").product_id
        ),
        lambda world, _accounts: (
            find_product(world.product("Frost Sensor F1")),
            call("avg_installed_per_account_by_status", product_id=world.product("Frost Sensor F1").product_id),
            call("get_accounts", active=True),
        ),
        lambda records, firm: checked(
            records, firm, "Frost Sensor F1", "Yearly check of all your Frost Sensors F1"
        ),
    ),
    Comparison(
        "most-devices-out-of-warranty", "Helen Osei",
        "Harbour Ice Cream, Sakura Logistics or Ferro Seafood - one of them gets our warranty offer first: the one "
        "that "
        "has the most devices whose warranty will be over by 31 December 2027, whatever state these are in. Enter a "
        "warranty contract for them, not signed, 1 January 2028 to 31 December 2028; the price follows.",
        "Count each account's devices whose warranty has ended by then.",
        lambda world: _read_accounts(world, ("Harbour Ice Cream", "Sakura Logistics", "Ferro Seafood")),
        lambda world, account: len([
            row for row in world.all(InstalledProduct, account_id=account.account_id)
            if row.warranty_end is not None and f"{row.warranty_end}" <= f"{world.now.year + 1}-12-31"
        ]),
        lambda world, accounts: (
            *map(find_account, accounts),
            *(
                call(
                    "installed_product_warranties_ended_count",
                    account_id=account.account_id,
                    on_date=f"{world.now.year + 1}-12-31",
                )
                for account in accounts
            ),
        ),
        lambda records, firm: warranty_drafted(records, firm, "2028-01-01", "2028-12-31"),
    ),
)  # fmt: skip


def highest_and_lowest(world: World) -> Iterator[Draft]:
    """The highest or the lowest of several figures decides whom or what the work is about."""
    for scene in (*_FIRST_HALF, *_SECOND_HALF):
        yield compared(world, scene)


FAMILIES = (highest_and_lowest,)
