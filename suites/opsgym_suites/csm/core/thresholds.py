"""Tasks in which a figure reaches a limit of the request or does not, and the work depends on that.

Invariant: both outcomes are described in the request, and only the statistics tell which one holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import (
    CaseSla,
    Contract,
    CustomerCase,
    Entitlement,
    InstalledProduct,
    Interaction,
    Location,
    Notification,
    SlaDefinition,
    UserGroup,
)
from opsgym_suites.csm.calls import find_account, find_product
from opsgym_suites.csm.core.contact_work import suggested, talked
from opsgym_suites.csm.core.figures import new_members
from opsgym_suites.csm.core.procedures import Work, decided, escalated, joined, parked, reminded, reprioritised
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call

MOST_BREACHED = 50
MOST_MINUTES = 2450
"""Limit of a priority's average target."""


def limits(world: World) -> Iterator[Draft]:
    """A limit is reached or not."""
    yield _targets(world)
    yield _breaches(world)
    yield _bundles(world)
    yield _smaller_level(world)
    yield _conversations(world)
    yield _fewer_messages(world)
    yield _reminders_and_alerts(world)


def _definitions_shortened(world: World, priorities: Sequence[str]) -> Work:
    rows = [world.one(SlaDefinition, applies_to_priority=one, metric="resolution", active=True) for one in priorities]
    old = next(row for row in world.all(SlaDefinition, active=False) if row.applies_to_priority == "moderate")
    return Work(
        "Shorten the active resolution target of each such priority by a quarter; leave retired definitions and SLAs "
        "that run (ID-4).",
        (call("find_sla_definitions", metric="resolution"),),
        tuple(
            call("update_sla_definition", sla_def_id=row.sla_def_id, target_mins=row.target_mins * 3 // 4)
            for row in rows
        ),
        ", ".join(f"{row.name} now has {row.target_mins * 3 // 4} minutes" for row in rows) + ".",
        tuple(priorities),
        {"update_sla_definition": "ID-4"},
        {"shortens a retired one": (call("update_sla_definition", sla_def_id=old.sla_def_id, target_mins=3240),)},
    )


def _targets(world: World) -> Draft:
    priorities = ("critical", "high", "moderate", "low")
    targets = {
        one: [row.target_mins for row in world.all(SlaDefinition, applies_to_priority=one)] for one in priorities
    }
    long = [one for one in priorities if sum(targets[one]) / len(targets[one]) > MOST_MINUTES]
    active = {
        one: [row.target_mins for row in world.all(SlaDefinition, applies_to_priority=one, active=True)]
        for one in priorities
    }
    short = [one for one in priorities if sum(active[one]) / len(active[one]) > MOST_MINUTES]
    return decided(
        world,
        slug="targets-come-down-by-a-quarter",
        actor="Jonas Ekberg",
        prompt=(
            "Our auditors look at the average target per priority the way our statistics show it, old definitions and "
            "all. Nothing may be above 2,450 minutes there. For each priority that is, cut the resolution target that "
            "we work with today by a quarter. SLAs that run on cases keep what they have. Which priorities were they?"
        ),
        question="Read the average targets of all priorities.",
        reads=(call("average_target_mins_per_priority"),),
        work=_definitions_shortened(world, long),
        instead={"averages the active ones only": _definitions_shortened(world, short)},
        tools=("add_new_sla_definition", "total_sum_of_target_mins_per_priority"),
    )


def _breaches(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Northgate Clinics")
    case = world.all(CustomerCase, account_id=firm.account_id, state="in_progress", short_description=_FROZEN)[0]
    breached = len(world.all(CaseSla, stage="in_progress", has_breached=True))
    call_on_record = talked(records, case, world.user("Priya Venkat"))
    works = [
        joined(one, call_on_record)
        for one in (reprioritised(records, case, "high"), escalated(records, case, "urgency"))
    ]
    work, other = works if breached > MOST_BREACHED else works[::-1]
    return decided(
        world,
        slug="more-than-fifty-run-in-breach",
        actor="Priya Venkat",
        prompt=(
            "Northgate's probe cable that froze through takes too long. How many SLAs that are still in progress have "
            "been breached by now? With more than fifty of these I cannot escalate yet another one: then the case "
            "goes up to high priority, no escalation. With fifty or fewer escalate it and leave the priority; no "
            "customer asked for it, nothing stands still. Either way with everything that goes with it. The contact of "
            "the case rang me just now to hear how far we are, and got an answer: that call belongs on record too."
        ),
        question="Count the breached SLAs by stage, and find Northgate's case.",
        reads=(
            call("find_stage_wise_breached_case_sla_counts", stage="in_progress"),
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="in_progress"),
        ),
        work=work,
        instead={"takes the other way": other},
    )


_FROZEN = "Probe cable frozen through"


def _priced(world: World, contract: Contract, price: int) -> Work:
    draft = next(row for row in world.all(Contract, status="draft") if row is not contract)
    return Work(
        "Change the price of the draft, and nothing else of it.",
        (call("find_contracts", account_id=contract.account_id),),
        (call("update_contract", contract_id=contract.contract_id, contract_price=price),),
        f"The draft of Hudson Blood Services costs {price} now.",
        ("hudson",),
        {"update_contract": "CON-1"},
        {"changes another draft": (call("update_contract", contract_id=draft.contract_id, contract_price=price),)},
    )


def _bundles(world: World) -> Draft:
    firm = world.account("Hudson Blood Services")
    contract = world.one(Contract, account_id=firm.account_id, status="draft")
    active = world.all(Contract, status="active")
    mean = len(active) / len({row.account_id for row in active})
    work, other = _priced(world, contract, 700), _priced(world, contract, 1200)
    if mean <= 1.25:
        work, other = other, work
    return decided(
        world,
        slug="bundles-make-the-warranty-cheaper",
        actor="Ruth Abara",
        prompt=(
            "The warranty contract that we drafted for Hudson Blood Services costs too much if customers take several "
            "contracts anyhow. So: do those who have an active contract have more than 1.25 of them on average, "
            "whatever the type? Then the draft costs 700. Otherwise it costs 1200. It stays a draft."
        ),
        question="Read the average number of contracts per account by status.",
        reads=(call("avg_contracts_per_account_by_status"), find_account(firm)),
        work=work,
        instead={"takes the other price": other},
        tools=("enlist_new_contract", "count_contract_by_status"),
    )


def _offered(world: World, level: str) -> Work:
    firm, product = world.account("Mizu Repairs"), world.product("Alarm Beacon B1")
    like = world.all(Entitlement, support_level=level)[0]
    made = world.next_id(Contract)
    return Work(
        "Draft the contract (CON-1), and add an entitlement of the level to it, not active, with the hours and cases "
        "that all of that level have (CON-2).",
        (find_account(firm), find_product(product), call("find_entitlements", support_level=level)),
        (
            call(
                "enlist_new_contract",
                account_id=firm.account_id,
                contract_type="support",
                status="draft",
                start_date="2026-12-01",
                end_date="2027-11-30",
            ),
            call(
                "add_new_entitlement",
                account_id=firm.account_id,
                product_id=product.product_id,
                contract_id=made,
                support_level=level,
                coverage_hours=like.coverage_hours,
                max_cases_per_month=like.max_cases_per_month,
                active=False,
            ),
        ),
        f"Mizu Repairs has a draft with an entitlement of level {level}.",
        ("mizu", level),
        {"enlist_new_contract": "CON-1", "add_new_entitlement": "CON-2"},
        {"signs it": (call("update_contract", contract_id=made, status="active"),)},
    )


def _smaller_level(world: World) -> Draft:
    sums = {
        level: sum(row.max_cases_per_month or 0 for row in world.all(Entitlement, support_level=level))
        for level in ("standard", "premium")
    }
    low, high = sorted(sums, key=lambda level: sums[level])
    return decided(
        world,
        slug="mizu-gets-the-level-with-room",
        actor="Helen Osei",
        prompt=(
            "Mizu Repairs wants cover for the Alarm Beacon B1. Draft a support contract, 1 December 2026 to "
            "30 November 2027, no price yet, with one entitlement for that product that is not active for now. Its "
            "level: of "
            "standard and premium the one for which we have agreed to fewer cases a month in total, ended "
            "entitlements included. Hours and monthly cases are those that everybody has at that level."
        ),
        question="Sum the monthly cases of both levels, and look at an entitlement of the lower.",
        reads=tuple(call("total_sum_of_max_cases_per_support_level", support_level=level) for level in (low, high)),
        work=_offered(world, low),
        instead={"takes the other level": _offered(world, high)},
    )


def _conversations(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Coral Bay Fisheries")
    case = world.all(CustomerCase, account_id=firm.account_id, state="in_progress")[0]
    talks = world.all(Interaction, account_id=firm.account_id, status="handled")
    call_on_record = talked(records, case, world.user("Asha Nair"), status="open")
    works = [joined(one, call_on_record) for one in (escalated(records, case, "urgency"), parked(records, case))]
    work, other = works if len(talks) > len({row.case_id for row in talks}) else works[::-1]
    return decided(
        world,
        slug="talked-enough-with-coral-bay",
        actor="Asha Nair",
        prompt=(
            "Coral Bay Fisheries: do our handled conversations with them come to more than one per case on average? If "
            "so, we have talked enough, and their oldest case in progress is escalated; it is our own wish. If not, it "
            "is their turn: that case has to wait for them, as our rules describe waiting. When you have the figure "
            "and not before, also log for that case that its contact phoned me a moment ago; I still owe an answer."
        ),
        question="Read the average number of conversations per case by status.",
        reads=(
            find_account(firm),
            call("avg_interactions_per_case_by_status", account_id=firm.account_id),
            call("search_cases", account_id=firm.account_id, state="in_progress"),
        ),
        work=work,
        instead={"takes the other way": other},
        tools=("count_interaction_by_status", "find_interactions"),
    )


def _fewer_messages(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Malabar Spices")
    cases = records.open_cases(account_id=firm.account_id, state="pending")
    messages = world.all(Notification)
    mean = len(messages) / len({row.case_id for row in messages})
    few = [case for case in cases if len(world.all(Notification, case_id=case.case_id)) < mean]
    return decided(
        world,
        slug="remind-malabar-only-below-average",
        actor="Callum Reid",
        prompt=(
            "Before we nag Malabar Spices again about what waits for them: how many messages does a case of ours get "
            "on average? Remind the contacts of those of their waiting cases about which fewer went out than that, "
            "failed ones counted. The rest must not hear from us."
        ),
        question="Read the average number of messages per case, and count those about each pending case.",
        reads=(
            call("avg_notifications_by_case"),
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="pending"),
            *(call("count_notifications_by_case", case_id=case.case_id) for case in cases),
        ),
        work=reminded(records, few),
        instead={"reminds them all": reminded(records, cases)},
    )


def _reminders_and_alerts(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Sakura Logistics")
    case = world.all(CustomerCase, account_id=firm.account_id, state="pending", priority="high")[0]
    counts = {kind: len(world.all(Notification, type=kind)) for kind in ("reminder", "alert")}
    further = joined(
        talked(records, case, world.user("Jonas Ekberg"), "chat"),
        suggested(records, case, "Transport Logger T5 stops on trips"),
    )
    works = [joined(one, further) for one in (reminded(records, [case]), escalated(records, case, "urgency"))]
    work, other = works if counts["reminder"] > 3 * counts["alert"] else works[::-1]
    return decided(
        world,
        slug="three-reminders-to-an-alert",
        actor="Jonas Ekberg",
        prompt=(
            "Sakura's case with high priority that waits for them, the empty trip report. As long as we have sent more "
            "than three times as many reminders as alerts, all customers taken together, another reminder to its "
            "contact will do. If it is three times or less, escalate it instead, on our own account: no one there "
            "asked for that, and nothing stands still. It goes on waiting either way. Its contact has just thanked me "
            "in the chat, a conversation that is over and has to be on record for the case. And suggest for the case "
            "the published article that we have about its product."
        ),
        question="Count the messages of both types, and find Sakura's case.",
        reads=(
            call("count_notifications_by_type", type=["reminder", "alert"]),
            find_account(firm),
            call("search_cases", account_id=firm.account_id, state="pending"),
        ),
        work=work,
        instead={"takes the other way": other},
    )


# --- places and groups -----------------------------------------------------------------------------------------------


def places_and_groups(world: World) -> Iterator[Draft]:
    """Records that only a list of sites or groups shows."""
    yield _busier_field_group(world)
    yield _back_at_the_site(world)


def _busier_field_group(world: World) -> Draft:
    groups = world.all(UserGroup, type="field")
    records = DeskRecords(world)
    ranked = sorted(groups, key=lambda group: len(records.open_cases(assignment_group_id=group.group_id)))
    names = ("Simone Baptiste", "Liam Cattell")
    return decided(
        world,
        slug="field-group-with-more-to-do",
        actor="Ines Calloway",
        prompt=(
            "Whichever of our field groups has more open cases (new, in progress or pending, add them up) gets Simone "
            "Baptiste and Liam Cattell as members, unless they are there. Support groups do not count. Which one was "
            "it, and who is new?"
        ),
        question="List the field groups, and count the cases of each by state.",
        reads=(
            call("list_user_groups", type="field"),
            *(call("count_case_by_state", assignment_group_id=group.group_id) for group in groups),
        ),
        work=new_members(world, ranked[-1], names),
        instead={"takes the other group": new_members(world, ranked[0], names)},
    )


def _repaired(world: World, site: Location) -> Work:
    rows = world.all(InstalledProduct, location_id=site.location_id, status="repair")
    stock = world.all(InstalledProduct, account_id=rows[0].account_id, status="in_stock")
    return Work(
        "Set the devices at that site that are in repair to in use; leave the others.",
        (call("retrieve_installed_products", location_id=site.location_id, status="repair"),),
        tuple(
            call("update_installed_product_details", installed_product_id=row.installed_product_id, status="in_use")
            for row in rows
        ),
        f"{site.name}: {', '.join(row.serial_number for row in rows)} in use again.",
        tuple(row.serial_number for row in rows),
        {"update_installed_product_details": "ID-4"},
        {
            "takes one out of stock": (
                call(
                    "update_installed_product_details",
                    installed_product_id=stock[0].installed_product_id,
                    status="in_use",
                ),
            )
        },
    )


def _back_at_the_site(world: World) -> Draft:
    firm = world.account("Brightwater Foods")
    sites = [row for row in world.all(Location) if row.name.startswith("Brightwater")]
    ranked = sorted(
        sites, key=lambda site: len(world.all(InstalledProduct, location_id=site.location_id, status="repair"))
    )
    return decided(
        world,
        slug="repaired-devices-are-back-at-brightwater",
        actor="Priya Venkat",
        prompt=(
            "The workshop has returned what it had from one of the sites of Brightwater Foods, all of it repaired and "
            "mounted, so these devices are in use again. They forgot to note the site. It is the one from which they "
            "had more devices than from the other; what they have of the other is still there. Please enter it and "
            "give me the serial numbers."
        ),
        question="List Brightwater's sites, and count the devices at each by status.",
        reads=(
            find_account(firm),
            call("find_locations", name="Brightwater"),
            *(call("count_installed_product_by_status", location_id=site.location_id) for site in sites),
        ),
        work=_repaired(world, ranked[-1]),
        instead={"takes the other site": replace(_repaired(world, ranked[-1]), writes=_repaired_all(world, sites))},
        tools=("find_location", "find_installed_product_by_serial"),
    )


def _repaired_all(world: World, sites: Sequence[Location]) -> tuple[ToolCall, ...]:
    return tuple(made for site in sites for made in _repaired(world, site).writes)


FAMILIES = (limits, places_and_groups)
