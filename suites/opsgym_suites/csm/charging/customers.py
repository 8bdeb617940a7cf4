"""Calls of customers, exchanged devices, and contracts that grow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.csm.tables import Contract, CustomerCase, InstalledProduct, Product
from opsgym_suites.csm.calls import (
    find_account,
    find_contact_user,
    find_contacts,
    find_product,
    find_sla_definitions,
    find_team,
    find_user,
    names_all,
    notify,
    numbers,
    track,
    update_case,
)
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call, full_name
from opsgym_suites.kit.verifiers import answer_says

# --- calls ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstCall:
    """A customer reports something; whether it is covered, and as what it is escalated, only the records say."""

    slug: str
    actor: str
    firm: str
    contact: int
    product: str
    team: str
    summary: str
    reason: str
    """Reason of the escalation [ESC-2]; empty if there is no cover, and so a case of low priority."""
    prompt: str
    """Names `{caller}`, `{firm}`, `{product}` and `{summary}`."""


FIRST_CALLS = (
    FirstCall(
        "solent-cannot-see-its-stations", "Salome Ferreira", "Solent Buses", 1, "ChargeHub", "Backend Desk",
        "No station of the garage in ChargeHub, dispatch is blind", "vip",
        '{caller} of {firm} has just hung up: "{summary}". That is about {product}; four dispatchers cannot do their '
        "work, the buses run. They insist on an escalation. Register it in these words for Backend Desk, I start on it "
        "now, so do all that a start and an escalation take, and put the call on record.",
    ),
    FirstCall(
        "quayside-readers-refuse-cards", "Wes Kincaid", "Quayside Marina", 2, "Card Reader R3", "Payments Desk",
        "Both readers refuse cards, guests queue at the office", "customer_request",
        '{caller} from {firm} phoned about the {product}, no serial number at hand: "{summary}". The office staff, '
        "five people, do nothing else. They ask us to escalate it. The call is over; enter it, and the case in these "
        "words for Payments Desk. I am on it as of now - everything that goes with that, please.",
    ),
    FirstCall(
        "taxis-cannot-charge-at-the-rank", "Teodor Banik", "Kobayashi Taxis", 0, "Fast Charger P150", "Charger Desk",
        "Fast charger gives half its power, drivers wait in line", "customer_request",
        'I had {caller} of {firm} on the phone, we are done: "{summary}", it is one {product} of several. Several '
        "drivers are held up, and the customer wants it escalated. In these words, please, with Charger Desk; I take "
        "it up this minute. Add what our rules attach, and my call.",
    ),
    FirstCall(
        "hollis-wallboxes-without-cover", "Greta Lundqvist", "Hollis Breweries", 1, "Wallbox W7", "Charger Desk",
        "Two wallboxes stop when it gets warm", "",
        '{caller} of {firm} phoned about the {product}: "{summary}". Several of their drivers are held up, so they '
        "call it high. The call is over. Register it in these words for Charger Desk, unassigned for now, as our rules "
        "want it, and put the call on record.",
    ),
)  # fmt: skip


def first_calls(world: World) -> Iterator[Draft]:
    """Calls become cases; cover, SLAs and the reason of an escalation follow from the records."""
    for scene in FIRST_CALLS:
        yield _first_call(world, scene)


def _first_call(world: World, scene: FirstCall) -> Draft:
    records, acting, firm = DeskRecords(world), world.user(scene.actor), world.account(scene.firm)
    caller, product, team = records.contacts(firm)[scene.contact], world.product(scene.product), world.group(scene.team)
    user, made, covered = records.user_of(caller), world.next_id(CustomerCase), bool(scene.reason)
    managers = [one for one in records.members(team) if one.role == "manager" and one.active] if covered else []
    definitions = records.sla_definitions("high") if covered else []
    started = {
        "state": "in_progress",
        "assigned_to": acting.user_id,
        "escalation": True,
        "escalation_reason": scene.reason,
    }
    written = call(
        "create_new_case",
        account_id=firm.account_id,
        contact_id=caller.contact_id,
        channel="phone",
        product_id=product.product_id,
        priority="high" if covered else "low",
        short_description=scene.summary,
        assignment_group_id=team.group_id,
        **(started if covered else {"state": "new"}),
    )
    spoken = call(
        "register_new_interaction",
        channel="phone",
        account_id=firm.account_id,
        contact_id=caller.contact_id,
        case_id=made,
        interacted_user=acting.user_id,
        status="handled",
    )
    messages = [notify(made, one, "alert") for one in managers] or [notify(made, user, "next_steps")]
    other = "customer_request" if scene.reason == "vip" else "vip"
    draft = Draft(
        slug=scene.slug,
        actor=acting,
        prompt=scene.prompt.format(caller=full_name(user), firm=firm.name, product=product.name, summary=scene.summary),
        plan=(
            f"Look up {scene.actor}, the account, its contacts, the product and the group.",
            "Read entitlements and contracts: cover and level are on record there (CAS-4, ESC-2).",
            "Register the case as CAS-2, CAS-4 and CAS-5 want it, and the call as handled (INT-1).",
            "Covered: both SLAs as of now, alerts to the group's managers (SLA-1, ESC-3). Else next_steps (CAS-4).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            find_contacts(firm),
            find_contact_user(caller),
            find_product(product),
            find_team(team),
            call("find_entitlements", account_id=firm.account_id),
            call("find_contracts", account_id=firm.account_id),
            *([find_sla_definitions("high"), call("list_group_members", group_id=team.group_id)] if covered else []),
            *(call("list_users", user_id=one.user_id) for one in managers),
            written,
            spoken,
            *(track(made, definition, world.now) for definition in definitions),
            *messages,
        ),
        answer=(
            f"CS-{made:07d} is yours, high, escalated for {scene.reason}; both SLAs run and the managers know."
            if covered
            else f"CS-{made:07d} is registered with priority low and without SLA: the contract is suspended, no cover."
        ),
        verifiers=(
            answer_says("names_the_case", "The answer names the new case [REF-3]", rf"CS-{made:07d}"),
            answer_says(
                "says_what_was_decided",
                "The answer gives the reason of the escalation, or says that there is no cover [CAS-4, ESC-2]",
                *([term(scene.reason)] if covered else [r"\bcover\w*", r"\bsuspended\b", r"\bentitle\w*"]),
            ),
        ),
        tools=("link_new_case_sla", "send_notification", "update_case", "update_entitlement", "check_user_membership"),
        mistakes={
            "escalates it for another reason": (
                call("update_case", case_id=made, escalation=True, escalation_reason=other),
            ),
            "raises it": (call("update_case", case_id=made, priority="critical"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_new_case": "CAS-1, CAS-2, CAS-4, CAS-5, ESC-1, ESC-2",
            "send_notification": "ESC-3" if covered else "CAS-4, NTF-3",
        },
    )


# --- exchanged devices ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exchange:
    """The device of a case is exchanged for a new one."""

    slug: str
    actor: str
    case: str
    serial: str
    """Of the new device."""
    warranty: str
    prompt: str
    """Names `{old}`, `{serial}`, `{firm}` and `{warranty}`."""


EXCHANGES = (
    Exchange(
        "terminus-gets-a-new-balancer", "Camila Duarte", "balancer-hum", "L8-26-70431", "2029-06-10",
        "Solent has got another load balancer: {serial}, warranty until 10 June 2029, in use as of today where {old} "
        "was. The old one is with our repair shop. Whatever of theirs is still open on the old device is about the new "
        "one now; the contact of each such case gets an update. Bring the records up to date, nothing else.",
    ),
    Exchange(
        "pontoon-gets-a-new-wallbox", "Adaeze Okoro", "pontoon-socket", "W2-26-70518", "2029-06-10",
        "We swapped the wallbox {old} of {firm}: {serial} hangs in its place and is in use, with a warranty to 10 June "
        "2029; the old one goes to repair. Please put that on record. Open cases move along to the new one, and their "
        "contacts are to have an update, one a case.",
    ),
    Exchange(
        "mall-gets-a-new-reader", "Mirela Petrov", "mall-reader", "R3-26-70604", "2028-12-31",
        "At {firm} the card reader {old} was exchanged for {serial}, same spot, warranty up to 31 December 2028. The "
        "new one works, the old one is in repair. See to our records, to the cases that are open on the old reader, "
        "and send an update on each to the one who reported it.",
    ),
)  # fmt: skip


def exchanges(world: World) -> Iterator[Draft]:
    """Devices are exchanged; open cases move to the new device and those that are over do not."""
    for scene in EXCHANGES:
        yield _exchange(world, scene)


def _exchange(world: World, scene: Exchange) -> Draft:
    records, acting, case = DeskRecords(world), world.user(scene.actor), world.case(scene.case)
    old = world.one(InstalledProduct, installed_product_id=case.installed_product_id)
    firm, product = records.account_of(case), world.one(Product, product_id=old.product_id)
    cases = records.open_cases(installed_product_id=old.installed_product_id)
    over = next(one for one in world.all(CustomerCase, account_id=firm.account_id) if one.state == "closed")
    made = world.next_id(InstalledProduct)
    contacts = [records.contact_of(one) for one in cases]
    draft = Draft(
        slug=scene.slug,
        actor=acting,
        prompt=scene.prompt.format(old=old.serial_number, serial=scene.serial, firm=firm.name),
        plan=(
            f"Look up {scene.actor}, the old device with its account, product and site, and its cases.",
            "Set the old device to repair, and register the new one at the same site (PRD-1).",
            "Give the open cases the new device, which is in_use (CAS-3); leave those that are over (CAS-9).",
            "Send the contact of each of them an update (NTF-1, NTF-2).",
        ),
        gold=(
            find_user(acting),
            call("find_installed_product_by_serial", serial_number=old.serial_number),
            call("find_installed_product_by_serial", serial_number=scene.serial),
            call("find_product_by_id", product_id=product.product_id),
            call("search_cases", installed_product_id=old.installed_product_id),
            *(call("find_contacts", contact_id=contact.contact_id) for contact in contacts),
            *map(find_contact_user, contacts),
            call("update_installed_product_details", installed_product_id=old.installed_product_id, status="repair"),
            call(
                "register_new_installed_product",
                account_id=firm.account_id,
                product_id=product.product_id,
                location_id=old.location_id,
                serial_number=scene.serial,
                status="in_use",
                warranty_end=scene.warranty,
            ),
            *(update_case(one, installed_product_id=made) for one in cases),
            *(notify(one, records.user_of(contact), "update") for one, contact in zip(cases, contacts, strict=True)),
        ),
        answer=f"{scene.serial} is registered, {old.serial_number} is in repair; moved along: {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases that moved [REF-3]", names_all(cases)),),
        tools=("retrieve_installed_products", "find_location", "update_product", "assign_case_to_user"),
        mistakes={
            "moves a closed case": (update_case(over, installed_product_id=made),),
            "retires the old device": (
                call(
                    "update_installed_product_details", installed_product_id=old.installed_product_id, status="retired"
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_case": "CAS-3, CAS-9",
            "update_installed_product_details": "CAS-3, ID-4",
            "register_new_installed_product": "PRD-1",
        },
    )


# --- contracts that grow -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """A support contract is renewed, and covers one more product from then on."""

    slug: str
    actor: str
    firm: str
    product: str
    price: int
    end: str
    prompt: str


GROWTHS = (
    Growth(
        "juniperus-renews-with-receipts", "Adaeze Okoro", "Juniperus Homes", "PaySuite", 7400, "2027-06-30",
        "Juniperus Homes has signed: their support goes on until 30 June 2027, for 7400, and from then on it covers "
        "PaySuite too, on the same terms as the rest. Enter the renewal as we always do. And tell the contact of each "
        "open PaySuite case of theirs with an update.",
    ),
    Growth(
        "tasman-renews-with-the-map", "Jasper Tolland", "Tasman Ferries", "ChargeHub", 8150, "2028-06-30",
        "Signed today: Tasman Ferries keeps its support to 30 June 2028 and pays 8150. New in it is ChargeHub, "
        "entitled like everything else they have. Please do the renewal by the book. Those whose ChargeHub cases are "
        "open at Tasman get an update on them.",
    ),
)  # fmt: skip


def growths(world: World) -> Iterator[Draft]:
    """Contracts are renewed and cover more; the terms are on record."""
    for scene in GROWTHS:
        yield _growth(world, scene)


def _growth(world: World, scene: Growth) -> Draft:
    records, acting, firm = DeskRecords(world), world.user(scene.actor), world.account(scene.firm)
    old, product = records.contract(firm), world.product(scene.product)
    moving = records.entitlements(old, active=True)
    like, made, begins = moving[0], world.next_id(Contract), old.end_date + timedelta(days=1)
    cases = records.open_cases(account_id=firm.account_id, product_id=product.product_id)
    contacts = [records.contact_of(case) for case in cases]
    draft = Draft(
        slug=scene.slug,
        actor=acting,
        prompt=scene.prompt,
        plan=(
            f"Look up {scene.actor}, the account, its support contract and entitlements, and the product.",
            "Enter the new contract, active, from the day after the old one ends (CON-1, CON-3).",
            "Move the active entitlements unchanged, and add one for the product on the terms of the others (CON-2).",
            "Send an update on each open case about the product; the cases stay as they are (ID-4, NTF-2).",
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            call("find_contracts", account_id=firm.account_id, contract_type="support"),
            call("find_entitlements", contract_id=old.contract_id),
            find_product(product),
            call("search_cases", account_id=firm.account_id, product_id=product.product_id),
            *(call("find_contacts", contact_id=contact.contact_id) for contact in contacts),
            *map(find_contact_user, contacts),
            call(
                "enlist_new_contract",
                account_id=firm.account_id,
                contract_type="support",
                status="active",
                contract_price=scene.price,
                start_date=str(begins),
                end_date=scene.end,
            ),
            *(call("update_entitlement", entitlement_id=row.entitlement_id, contract_id=made) for row in moving),
            call(
                "add_new_entitlement",
                account_id=firm.account_id,
                product_id=product.product_id,
                contract_id=made,
                support_level=like.support_level,
                coverage_hours=like.coverage_hours,
                max_cases_per_month=like.max_cases_per_month,
                active=True,
            ),
            *(notify(case, records.user_of(contact), "update") for case, contact in zip(cases, contacts, strict=True)),
        ),
        answer=(
            f"The new contract begins on {begins} with {len(moving) + 1} entitlements; updates went out on "
            f"{numbers(cases)}."
        ),
        verifiers=(),
        tools=("update_contract", "update_case", "count_contract_by_status", "link_new_case_sla"),
        mistakes={
            "ends the old one": (call("update_contract", contract_id=old.contract_id, status="expired"),),
            "raises a case that is covered soon": (update_case(cases[0], priority="moderate"),),
        },
    )
    return with_verifiers(world, draft, rules={"update_entitlement": "CON-3"})


FAMILIES = (first_calls, exchanges, growths)
