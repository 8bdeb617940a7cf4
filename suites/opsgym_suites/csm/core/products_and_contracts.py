"""Assets, contracts and entitlements of customers; products and SLA definitions of the company."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from opsgym_api.tasks.answer_patterns import number, on_date
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import (
    Account,
    Contract,
    CustomerCase,
    InstalledProduct,
    Location,
    Product,
    SlaDefinition,
    User,
)
from opsgym_suites.csm.calls import find_account, find_contact_user, find_contacts, find_product, find_user, notify
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.company import COUNTRIES
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.verifiers import answer_says

# --- recalled and retired ------------------------------------------------------------------------------------------


def withdrawn(world: World) -> Iterator[Draft]:
    """Products are recalled or retired."""
    yield _recall(
        world,
        slug="recall-of-alarm-beacons",
        actor="Kenji Morita",
        product="Alarm Beacon B1",
        summary="Recall of the Alarm Beacon B1: battery may leak",
        prompt=(
            "The Alarm Beacon B1 has to come back, all of them that are in use: the battery may leak. Please carry out "
            'the recall as our policy describes it. The cases are called "{summary}". Nor will we sell it again: it '
            "is retired as of now, with what our rules attach to that."
        ),
        retired=True,
    )
    yield _recall(
        world,
        slug="recall-of-calibration-baths",
        actor="Helen Osei",
        product="Calibration Bath C9",
        summary="Recall of the Calibration Bath C9: lid may burst",
        prompt=(
            'We recall the Calibration Bath C9. Do what has to be done for a recall; "{summary}" is what each case '
            "says."
        ),
    )
    yield _retire(
        world,
        slug="retire-the-door-sensor",
        actor="Ines Calloway",
        product="Door Sensor D4",
        prompt=(
            "We do not sell the Door Sensor D4 any more. Please retire it with what our rules attach to that, and tell "
            "me how many devices went with it."
        ),
    )
    yield _retire(
        world,
        slug="retire-the-transport-logger",
        actor="Jonas Ekberg",
        product="Transport Logger T5",
        article="Transport Logger T5 stops on trips",
        prompt=(
            "The Transport Logger T5 leaves our catalogue today, with what belongs to that. Its successor works in "
            'another way, so retire the article "{article}" along with it, as the rules have it. And the contact of '
            "each case about that logger that is open is to get an update."
        ),
    )


def _recall(
    world: World, *, slug: str, actor: str, product: str, summary: str, prompt: str, retired: bool = False
) -> Draft:
    records, acting, item = DeskRecords(world), world.user(actor), world.product(product)
    devices = records.devices(item, status="in_use")
    stock = records.devices(item, status="in_stock") if retired else []
    accounts = [world.one(Account, account_id=key) for key in dict.fromkeys(row.account_id for row in devices)]
    contacts = [records.primary_contact(account) for account in accounts]
    first = world.next_id(CustomerCase)
    numbers = [rf"CS-{first + place:07d}" for place in range(len(accounts))]
    spared = [row for row in records.devices(item) if row.status not in {"in_use", "repair"}]
    cases = [
        call(
            "create_new_case",
            account_id=account.account_id,
            contact_id=contact.contact_id,
            channel="alert",
            product_id=item.product_id,
            priority="high",
            state="new",
            short_description=summary,
            escalation=True,
            escalation_reason="impact",
        )
        for account, contact in zip(accounts, contacts, strict=True)
    ]
    wrong: dict[str, tuple[ToolCall, ...]] = {
        "takes one up": (call("update_case", case_id=first, state="in_progress", assigned_to=acting.user_id),),
    }
    if spared:
        wrong["takes a device that is not in use"] = (_device(spared[0], status="repair"),)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(summary=summary),
        plan=(
            f"Look up {actor}, the product, its devices in use, and the primary contact of each account that has one.",
            "Set each of these devices to repair (PRD-3).",
            "Register one case an account: alert, high, escalated for impact, primary contact, product.",
            "Send each of these contacts an alert about their case.",
            *(["Retire the product, and its devices in stock with it (PRD-2)."] if retired else []),
        ),
        gold=(
            find_user(acting),
            find_product(item),
            call("retrieve_installed_products", product_id=item.product_id, status="in_use"),
            *([call("retrieve_installed_products", product_id=item.product_id, status="in_stock")] if stock else []),
            *(find_contacts(account) for account in accounts),
            *(find_contact_user(contact) for contact in contacts),
            *(_device(row, status="repair") for row in devices),
            *cases,
            *(notify(first + place, records.user_of(contact), "alert") for place, contact in enumerate(contacts)),
            *([call("update_product", product_id=item.product_id, lifecycle_state="retired")] if retired else []),
            *(_device(row, status="retired") for row in stock),
        ),
        answer=f"{len(devices)} devices are in repair; {len(cases)} cases are registered, from CS-{first:07d} on.",
        verifiers=(answer_says("names_a_case", "The answer names a case [REF-3]", *numbers),),
        tools=(
            "find_installed_product_by_serial",
            "delete_products" if retired else "update_product",
            "count_installed_product_by_status",
        ),
        mistakes=wrong,
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_installed_product_details": "PRD-3",
            "create_new_case": "PRD-3",
            "send_notification": "PRD-3",
        },
    )


def _device(row: InstalledProduct, **fields: Any) -> ToolCall:
    return call("update_installed_product_details", installed_product_id=row.installed_product_id, **fields)


def _retire(world: World, *, slug: str, actor: str, product: str, prompt: str, article: str | None = None) -> Draft:
    records, acting, item = DeskRecords(world), world.user(actor), world.product(product)
    stock = records.devices(item, status="in_stock")
    text = records.article(article) if article else None
    hints = [
        link
        for case in records.open_cases()
        for link in records.linked_articles(case)
        if text and link.knowledge_id == text.knowledge_id and link.used_as == "suggested"
    ]
    cases = records.open_cases(product_id=item.product_id) if text else []
    contacts = [records.contact_of(case) for case in cases]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt.format(article=article),
        plan=(
            f"Look up {actor}, the product, and its devices in stock.",
            "Retire the product, and the devices in stock with it; others stay as they are (PRD-2).",
            *(["Retire the article, and remove links that only suggest it from open cases (KB-4)."] if text else []),
            *(["Send the contact of each open case about the product an update (NTF-1)."] if text else []),
        ),
        gold=(
            find_user(acting),
            find_product(item),
            call("retrieve_installed_products", product_id=item.product_id),
            *(
                [
                    call("retrieve_knowledge", title=text.title),
                    call("find_case_knowledge_linkages", knowledge_id=text.knowledge_id),
                    call("search_cases", product_id=item.product_id),
                ]
                if text
                else []
            ),
            *map(find_contact_user, contacts),
            call("update_product", product_id=item.product_id, lifecycle_state="retired"),
            *(_device(row, status="retired") for row in stock),
            *([call("update_knowledge", knowledge_id=text.knowledge_id, state="retired")] if text else []),
            *(call("delete_case_knowledge_linkages", case_kb_id=link.case_kb_id) for link in hints),
            *(notify(case, records.user_of(contact), "update") for case, contact in zip(cases, contacts, strict=True)),
        ),
        answer=f"The {product} is retired, and with it {len(stock)} devices that were in stock.",
        verifiers=(answer_says("counts_devices", "The answer says how many devices [REF-3]", number(len(stock))),),
        tools=("delete_products", "count_installed_product_by_status", "find_installed_product_by_serial"),
        mistakes={
            "retires a device in use": (_device(records.devices(item, status="in_use")[0], status="retired"),),
            "lowers the price": (call("update_product", product_id=item.product_id, product_price=1),),
        },
    )
    return with_verifiers(world, draft, rules={"update_product": "PRD-2", "update_knowledge": "KB-4"})


# --- contracts -----------------------------------------------------------------------------------------------------


def agreements(world: World) -> Iterator[Draft]:
    """Contracts are renewed, suspended and resumed."""
    yield _renew(
        world,
        slug="renew-ferro-seafood",
        actor="Helen Osei",
        account="Ferro Seafood",
        price=6900,
        end="2027-11-30",
        status="active",
        prompt=(
            "Ferro Seafood has signed: their support contract goes on for a year, to 30 November 2027, at 6900. Please "
            "put the renewal in, as we always do it, with what they are entitled to."
        ),
    )
    yield _renew(
        world,
        slug="renew-deccan-biologics",
        actor="Priya Venkat",
        account="Deccan Biologics",
        price=9400,
        end="2028-11-30",
        status="draft",
        prompt=(
            "We are about to renew the support contract of Deccan Biologics: two years, until 30 November 2028, price "
            "9400. It is not signed yet. Prepare the new contract and let the entitlements that are active move to it "
            "already."
        ),
    )
    yield _suspend(world)
    yield _resume(world)


def _renew(
    world: World, *, slug: str, actor: str, account: str, price: int, end: str, status: str, prompt: str
) -> Draft:
    records, acting, firm = DeskRecords(world), world.user(actor), world.account(account)
    old = records.contract(firm)
    moving = records.entitlements(old, active=True)
    made, begins = world.next_id(Contract), old.end_date + timedelta(days=1)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, the account, its support contract and the entitlements that rest on it.",
            f"Enter the new contract: same type, from the day after the old one ends, {status} (CON-1, CON-3).",
            "Move the entitlements to it as they are; the old contract stays (CON-3).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            call("find_contracts", account_id=firm.account_id, contract_type="support"),
            call("find_entitlements", contract_id=old.contract_id),
            call(
                "enlist_new_contract",
                account_id=firm.account_id,
                contract_type="support",
                status=status,
                contract_price=price,
                start_date=str(begins),
                end_date=end,
            ),
            *(call("update_entitlement", entitlement_id=row.entitlement_id, contract_id=made) for row in moving),
        ),
        answer=f"The new contract of {account} runs from {begins} to {end}; {len(moving)} entitlements rest on it.",
        verifiers=(answer_says("names_the_start", "The answer says when it begins [REF-3]", on_date(begins)),),
        also={
            "writes the date as Americans do": Solution(
                answer=f"The new contract begins {begins:%B} {begins.day}, 2026."
            )
        },
        tools=("update_contract", "add_new_entitlement", "count_contract_by_status"),
        mistakes={
            "ends the old one": (call("update_contract", contract_id=old.contract_id, status="expired"),),
            "allows more cases a month": (
                call(
                    "update_entitlement",
                    entitlement_id=moving[0].entitlement_id,
                    max_cases_per_month=(moving[0].max_cases_per_month or 0) + 5,
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_entitlement": "CON-3"})


def _suspend(world: World) -> Draft:
    records, acting, firm = DeskRecords(world), world.user("Helen Osei"), world.account("Calder Pharmacies")
    contract = records.contract(firm)
    ending = records.entitlements(contract, active=True)
    other = records.contract(firm, "subscription")
    draft = Draft(
        slug="suspend-calder",
        actor=acting,
        prompt=(
            "Calder Pharmacies is three invoices behind. Please suspend their support contract from today, with what "
            "our rules say about entitlements. Their subscription is paid and stays."
        ),
        plan=(
            "Look up Helen, the account, its contracts, and the entitlements on the support contract.",
            "Suspend the contract, and deactivate its entitlements (CON-2).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            call("find_contracts", account_id=firm.account_id),
            call("find_entitlements", contract_id=contract.contract_id),
            call("update_contract", contract_id=contract.contract_id, status="suspended"),
            *(call("update_entitlement", entitlement_id=row.entitlement_id, active=False) for row in ending),
        ),
        answer=f"The support contract of Calder is suspended and {len(ending)} entitlements are inactive.",
        verifiers=(answer_says("counts_entitlements", "The answer says how many [REF-3]", rf"\b{len(ending)}\b"),),
        tools=("update_account_details", "count_contract_by_status", "find_installed_product_by_serial"),
        mistakes={
            "suspends the subscription": (call("update_contract", contract_id=other.contract_id, status="suspended"),),
            "deactivates the account": (call("update_account_details", account_id=firm.account_id, active=False),),
        },
    )
    return with_verifiers(world, draft, rules={"update_entitlement": "CON-2"})


def _resume(world: World) -> Draft:
    records, acting, firm = DeskRecords(world), world.user("Priya Venkat"), world.account("Monsoon Fresh")
    contract = records.contract(firm, "support", "suspended")
    rows = records.entitlements(contract)
    names = ("Frost Sensor F2", "Gateway G100")
    missing = [row for row in rows if row.product_id in {world.product(name).product_id for name in names}]
    rest = next(row for row in rows if row not in missing)
    draft = Draft(
        slug="monsoon-fresh-has-paid",
        actor=acting,
        prompt=(
            "Monsoon Fresh has paid, so their support contract is active again. From now on they only want cover for "
            "the Frost Sensor F2 and the Gateway G100; what they had for other products stays off."
        ),
        plan=(
            "Look up Priya, the account, its suspended contract, the entitlements, and the two products.",
            "Set the contract to active, then those two entitlements (CON-2).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            call("find_contracts", account_id=firm.account_id, status="suspended"),
            call("find_entitlements", contract_id=contract.contract_id),
            *(find_product(world.product(name)) for name in names),
            call("update_contract", contract_id=contract.contract_id, status="active"),
            *(call("update_entitlement", entitlement_id=row.entitlement_id, active=True) for row in missing),
        ),
        answer="The contract of Monsoon Fresh is active again, and so is the cover of F2 and G100.",
        verifiers=(answer_says("says_active", "The answer says what is active [REF-3]", r"\bactive\b"),),
        tools=("enlist_new_contract", "add_new_entitlement", "find_product_by_id"),
        mistakes={
            "brings back all": (call("update_entitlement", entitlement_id=rest.entitlement_id, active=True),),
        },
    )
    return with_verifiers(world, draft, rules={"update_entitlement": "CON-2"})


# --- customers and their devices -----------------------------------------------------------------------------------


def customers(world: World) -> Iterator[Draft]:
    """New customers, and new sites of customers."""
    yield _new_customer(world)
    yield _site_moves(world)


def _new_customer(world: World) -> Draft:
    """A new account with contact, devices, contract and entitlement."""
    acting, product = world.user("Marek Doyle"), world.product("Frost Sensor F1")
    account, site, user = world.next_id(Account), world.next_id(Location), world.next_id(User)
    contract, mail = world.next_id(Contract), "imogen.vale@pelicanoysters.example"
    serials = ("F1-26-90011", "F1-26-90012")
    made = (
        call(
            "create_new_account",
            name="Pelican Oysters",
            email_domain="pelicanoysters.example",
            account_type="customer",
            active=True,
        ),
        call(
            "add_location",
            name="Pelican Sheds",
            plot_no="4",
            street="Wharf Lane",
            city="sydney",
            country=COUNTRIES["sydney"],
            active=True,
        ),
        call(
            "add_new_user",
            first_name="Imogen",
            last_name="Vale",
            email=mail,
            phone="+61 2 5550 8800",
            role="customer",
            location_id=site,
            active=True,
        ),
        call("create_contact", account_id=account, portal_user_id=user, active=True, is_primary=True),
        *(
            call(
                "register_new_installed_product",
                account_id=account,
                product_id=product.product_id,
                location_id=site,
                serial_number=serial,
                status="in_use",
                warranty_end="2029-11-15",
            )
            for serial in serials
        ),
        call(
            "enlist_new_contract",
            account_id=account,
            contract_type="support",
            contract_price=3200,
            status="active",
            start_date="2026-11-16",
            end_date="2027-11-15",
        ),
        call(
            "add_new_entitlement",
            account_id=account,
            product_id=product.product_id,
            contract_id=contract,
            support_level="standard",
            coverage_hours="h8x5",
            max_cases_per_month=8,
            active=True,
        ),
    )
    draft = Draft(
        slug="pelican-oysters-become-a-customer",
        actor=acting,
        prompt=(
            "We have a new customer in Sydney: Pelican Oysters, domain pelicanoysters.example. Their site is called "
            "Pelican Sheds, 4 Wharf Lane. Imogen Vale, +61 2 5550 8800, works there and is their contact. They have "
            "two Frost Sensors F1 in use there, F1-26-90011 and F1-26-90012, with warranty to 15 November 2029. The "
            "support contract is signed: from today to 15 November 2027, 3200. It entitles them to standard support "
            "for that sensor, eight by five, at most 8 cases a month. Please set all of it up."
        ),
        plan=(
            "Look up Marek, and make sure that account, address and serial numbers are not there yet (ACC-2, PRD-1).",
            "Create account, site, user and primary contact (ACC-1, ACC-2).",
            "Register both devices on the site (PRD-1).",
            "Enter the contract, active since it is signed, and the entitlement on it (CON-1, CON-2).",
        ),
        gold=(
            find_user(acting),
            call("find_account", name="Pelican Oysters"),
            call("find_user_by_email", email=mail),
            find_product(product),
            *(call("find_installed_product_by_serial", serial_number=serial) for serial in serials),
            *made,
        ),
        answer="Pelican Oysters is set up: imogen.vale@pelicanoysters.example, two devices, contract and entitlement.",
        verifiers=(
            answer_says("names_the_address", "The answer names the new address [REF-3]", mail.replace(".", r"\.")),
        ),
        tools=("find_location", "get_accounts", "update_contact", "send_notification"),
        mistakes={
            "adds a subscription": (
                call(
                    "enlist_new_contract",
                    account_id=account,
                    contract_type="subscription",
                    status="draft",
                    start_date="2026-11-16",
                    end_date="2027-11-15",
                ),
            ),
            "makes the customer a partner": (
                call("update_account_details", account_id=account, account_type="partner"),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"create_new_account": "ACC-1", "enlist_new_contract": "CON-1"})


def _site_moves(world: World) -> Draft:
    """A customer opens a new site, and some devices move there."""
    records, acting, firm = DeskRecords(world), world.user("Ruth Abara"), world.account("Hudson Blood Services")
    product, old = world.product("Gateway G200"), world.one(Location, name="Hudson Donor Centre")
    moving = [row for row in records.devices(product, account_id=firm.account_id) if row.location_id == old.location_id]
    moving = [row for row in moving if row.status == "in_use"]
    site, contact = world.next_id(Location), records.primary_contact(firm)
    stays = next(
        row
        for row in world.all(InstalledProduct, account_id=firm.account_id, location_id=old.location_id)
        if row not in moving
    )
    draft = Draft(
        slug="hudson-moves-its-gateways",
        actor=acting,
        prompt=(
            "Hudson Blood Services opens Hudson Riverside in New York, 18 Pier Road. All Gateways G200 that they have "
            "in use at the Hudson Donor Centre move there; other devices stay. And the Donor Centre is called "
            '"Hudson Donor Centre East" from now on. Their primary contact has the office at Riverside now, the '
            "other contacts have not. Please bring our records up to date."
        ),
        plan=(
            "Look up Ruth, the account, the product, the old site, and the devices there.",
            "Add the new site; move the gateways in use to it.",
            "Rename the old site.",
            "Give the user who is the primary contact the new site.",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            find_product(product),
            call("find_location", name=old.name),
            find_contacts(firm),
            find_contact_user(contact),
            call("retrieve_installed_products", account_id=firm.account_id, location_id=old.location_id),
            call(
                "add_location",
                name="Hudson Riverside",
                plot_no="18",
                street="Pier Road",
                city="new_york",
                country=COUNTRIES["new_york"],
                active=True,
            ),
            *(_device(row, location_id=site) for row in moving),
            call("update_location", location_id=old.location_id, name="Hudson Donor Centre East"),
            call("update_user_details", user_id=contact.portal_user_id, location_id=site),
        ),
        answer=f"{', '.join(row.serial_number for row in moving)} are at Hudson Riverside; the old site is renamed.",
        verifiers=(answer_says("names_devices", "The answer names what moved [REF-3]", moving[0].serial_number),),
        tools=("find_locations", "find_installed_product_by_serial", "update_contact"),
        mistakes={
            "moves another contact": (
                call("update_user_details", user_id=records.contacts(firm)[1].portal_user_id, location_id=site),
            ),
            "moves another device": (_device(stays, location_id=site),),
            "closes the old site": (call("update_location", location_id=old.location_id, active=False),),
        },
    )
    return with_verifiers(
        world, draft, rules={"update_installed_product_details": "ID-4", "update_user_details": "ID-4"}
    )


# --- catalogue -----------------------------------------------------------------------------------------------------


def catalogue(world: World) -> Iterator[Draft]:
    """Products, prices and SLA definitions."""
    yield _new_prices(world)
    yield _new_sla_definition(world)


def _new_prices(world: World) -> Draft:
    acting = world.user("Helen Osei")
    items = [row for row in world.all(Product, category="service") if row.lifecycle_state == "active"]
    dearer = {row.name: int(row.product_price or 0) + 50 for row in items}
    draft = Draft(
        slug="services-get-dearer",
        actor=acting,
        prompt=(
            "From today each of our services costs 50 more than before. Please change the prices, and add a new "
            "service "
            'called "Remote Check" for 150, on sale at once. Hardware and software keep their prices.'
        ),
        plan=(
            "Look up Helen, and the active products of category service.",
            "Raise each price by 50.",
            "Add the new service.",
        ),
        gold=(
            find_user(acting),
            call("find_products", category="service", lifecycle_state="active"),
            call("find_product", name="Remote Check"),
            *(call("update_product", product_id=row.product_id, product_price=dearer[row.name]) for row in items),
            call(
                "add_new_product", name="Remote Check", category="service", product_price=150, lifecycle_state="active"
            ),
        ),
        answer=f"{', '.join(dearer)} cost 50 more; Remote Check is on sale for 150.",
        verifiers=(answer_says("names_services", "The answer names what changed [REF-3]", items[0].name),),
        tools=("find_product_by_id", "delete_products", "update_contract"),
        mistakes={
            "raises software too": (
                call("update_product", product_id=world.product("Report Builder").product_id, product_price=690),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_product": "ID-4", "add_new_product": "ID-4"})


def _new_sla_definition(world: World) -> Draft:
    records, acting = DeskRecords(world), world.user("Ruth Abara")
    old = next(row for row in records.sla_definitions("critical") if row.metric == "response")
    retired = world.all(SlaDefinition, active=False)
    draft = Draft(
        slug="critical-response-in-ten-minutes",
        actor=acting,
        prompt=(
            "We answer critical cases within ten minutes from now on. Take the definition for the response of "
            'critical cases out of use and make a new one, "Critical response 2027", 10 minutes, which does not pause '
            "on pending. Cases keep the SLAs that they have. How many target minutes were defined for critical so far, "
            "in all that is defined?"
        ),
        plan=(
            "Look up Ruth, the definitions for critical, and their sum.",
            "Deactivate the present response definition, not the resolution; add the new one.",
        ),
        gold=(
            find_user(acting),
            call("find_sla_definitions", applies_to_priority="critical"),
            call("total_sum_of_target_mins_per_priority", priority="critical"),
            call("update_sla_definition", sla_def_id=old.sla_def_id, active=False),
            call(
                "add_new_sla_definition",
                name="Critical response 2027",
                metric="response",
                target_mins=10,
                pause_on_pending=False,
                applies_to_priority="critical",
                active=True,
            ),
        ),
        answer=f"Done. So far {_minutes(world, 'critical')} target minutes were defined for critical in all.",
        verifiers=(
            answer_says("gives_the_sum", "The answer gives the sum [REF-3]", rf"\b{_minutes(world, 'critical')}\b"),
        ),
        tools=("average_target_mins_per_priority", "find_case_slas", "update_case_sla_details"),
        mistakes={
            "brings an old one back": (call("update_sla_definition", sla_def_id=retired[0].sla_def_id, active=True),),
        },
    )
    return with_verifiers(world, draft)


def _minutes(world: World, priority: str) -> int:
    return sum(row.target_mins for row in world.all(SlaDefinition, applies_to_priority=priority))


FAMILIES = (withdrawn, agreements, customers, catalogue)
