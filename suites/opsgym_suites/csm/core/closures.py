"""Accounts end, get another name, or become something else.

Invariant: what hangs on an account (cases, SLAs, contacts, entitlements, addresses) follows by the policy's rules, and
not by the request's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.csm.tables import Account, Contract, CustomerCase, Entitlement, User
from opsgym_suites.csm.calls import (
    find_account,
    find_case_slas,
    find_contact_user,
    find_contacts,
    notify,
    numbers,
    stage,
    update_case,
)
from opsgym_suites.csm.core.contact_work import talked_with_firm
from opsgym_suites.csm.core.procedures import Work, decided, joined
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call


@dataclass(frozen=True)
class Closure:
    """A customer whose account ends."""

    slug: str
    actor: str
    firm: str
    prompt: str
    access: Access = Access.PUBLISHED
    channel: str = ""
    """Channel on which its primary contact has talked to the acting user just now, if it has to be recorded."""


CLOSURES = (
    Closure(
        "wharf-butchers-shut-the-shop", "Helen Osei", "Wharf Butchers",
        "Wharf Butchers have shut their shop for good, and they take back whatever we have not finished for them. "
        "Close everything down on our side the way our rules describe the end of an account. What is resolved or over "
        "stays "
        "as it is. Their primary contact said so on the phone just now, and that is settled: log my call, about no "
        "case in particular, while that is still a contact. Give me the numbers of the cases that ended with it.",
        channel="phone",
    ),
    Closure(
        "mizu-ends-the-partnership", "Kenji Morita", "Mizu Repairs",
        "Mizu Repairs and we part as friends. They withdraw all that they have open with us, in writing, and after "
        "that their account can go out of use, with what goes along. The mail came from their primary contact this "
        "minute, and I have answered it; record that as a conversation with me, it belongs to no single case. I need "
        "the withdrawn case numbers for my letter.",
        Access.STRICT, "email",
    ),
    Closure(
        "monsoon-will-not-come-back", "Priya Venkat", "Monsoon Fresh",
        "We suspended Monsoon Fresh, and they will not come back: bankrupt, says the receiver, who withdraws what is "
        "still open. Contracts remain as they are, he needs these. See whether our rules let us deactivate the "
        "account in this situation, and if so do all of it. Their primary contact has just said good-bye to me in the "
        "chat; nothing is left to answer there, but I want it among our conversations, without a case. Which cases did "
        "the end concern?",
        channel="chat",
    ),
)  # fmt: skip


def ended(world: World) -> Iterator[Draft]:
    """A customer ends, and withdraws what is open."""
    for scene in CLOSURES:
        yield closure(world, scene)


def closure(world: World, scene: Closure) -> Draft:
    """A task in which an account ends."""
    records, firm = DeskRecords(world), world.account(scene.firm)
    cases = records.open_cases(account_id=firm.account_id)
    resolved = world.all(CustomerCase, account_id=firm.account_id, state="resolved")
    slas = [sla for case in cases for sla in records.running_slas(case)]
    contacts = records.contacts(firm)
    active = world.all(Entitlement, account_id=firm.account_id, active=True)
    off = call("update_account_details", account_id=firm.account_id, active=False)
    user = call("update_user_details", user_id=contacts[0].portal_user_id, active=False)
    work = Work(
        "Cancel the open cases, and the SLAs that run on them (CAS-10); then deactivate the account, its contacts and "
        "its entitlements, and leave users, contracts and devices (ACC-4).",
        (
            *(call("search_cases", account_id=firm.account_id, state=state) for state in _open_states(cases)),
            find_contacts(firm),
            call("find_entitlements", account_id=firm.account_id, active=True),
            *map(find_case_slas, cases),
        ),
        (
            *(update_case(case, state="canceled") for case in cases),
            *(stage(sla, "canceled") for sla in slas),
            off,
            *(call("update_contact", contact_id=contact.contact_id, active=False) for contact in contacts),
            *(call("update_entitlement", entitlement_id=row.entitlement_id, active=False) for row in active),
        ),
        f"{scene.firm} is deactivated with its contacts; canceled: {numbers(cases)}.",
        tuple(case.number for case in cases),
        {"update_case": "CAS-10", "update_account_details": "ACC-4", "update_contact": "ACC-4"},
        {"deactivates a user": (user,)},
    )
    only_account = Work("", work.reads, (*(update_case(case, state="canceled") for case in cases), off), work.says, ())
    acting = world.user(scene.actor)
    whole = joined(talked_with_firm(records, firm, acting, scene.channel), work) if scene.channel else work
    too_much = Work(
        "", whole.reads, (*whole.writes, *(update_case(case, state="closed") for case in resolved[:1])), work.says, ()
    )
    return decided(
        world,
        slug=scene.slug,
        actor=scene.actor,
        prompt=scene.prompt,
        question="Look up the account, count its contracts and cases by state: none of the contracts is active.",
        reads=(
            find_account(firm),
            call("count_contract_by_status", account_id=firm.account_id),
            call("count_case_by_state", account_id=firm.account_id),
        ),
        work=whole,
        instead={"forgets the contacts": only_account}
        | ({"closes what is resolved": too_much} if resolved and scene.access is Access.PUBLISHED else {}),
        access=scene.access,
        tools=("update_user_details", "update_contract"),
    )


def _open_states(cases: list[CustomerCase]) -> list[str]:
    return list(dict.fromkeys(case.state for case in cases))


# --- another name, another kind --------------------------------------------------------------------------------------


def become_others(world: World) -> Iterator[Draft]:
    """Accounts get another name or kind."""
    yield _another_name(world)
    yield _partners_with_a_contract(world)


def _another_name(world: World) -> Draft:
    records, firm = DeskRecords(world), world.account("Ginza Flowers")
    domain = "bloomhouse.example"
    contacts = records.contacts(firm)
    users = [records.user_of(contact) for contact in contacts]
    gone = [user for user in _portal_users(world, firm) if user not in users]

    def readdressed(user: User) -> ToolCall:
        return call("update_user_details", user_id=user.user_id, email=f"{user.email.partition('@')[0]}@{domain}")

    renamed = call("update_account_details", account_id=firm.account_id, name="Bloomhouse Tokyo", email_domain=domain)
    work = Work(
        "Change name and domain of the account, and the addresses of its active contacts to the domain (ACC-2).",
        (find_account(firm), find_contacts(firm), *map(find_contact_user, contacts)),
        (renamed, *map(readdressed, users)),
        f"The account is called Bloomhouse Tokyo, and {len(users)} contacts have addresses at {domain}.",
        ("bloomhouse", f"{len(users)}|all"),
        {"update_account_details": "ACC-2", "update_user_details": "ACC-2"},
        {"readdresses who has left": (readdressed(gone[0]),)}
        if gone
        else {"deactivates a contact": (call("update_contact", contact_id=contacts[0].contact_id, active=False),)},
    )
    return decided(
        world,
        slug="ginza-flowers-is-bloomhouse-now",
        actor="Marek Doyle",
        prompt=(
            "As of today Ginza Flowers trades as Bloomhouse Tokyo, with bloomhouse.example as its mail domain. Change "
            "the account, and the addresses of those who still work with us there: what stands before the @ remains. "
            "People who have left keep the old address. A name must be free, so look first. How many contacts "
            "were there?"
        ),
        question="See whether an account has the new name or domain already.",
        reads=(
            call("get_accounts", name="Bloomhouse"),
            call("get_accounts", email_domain="bloomhouse"),
        ),
        work=work,
        instead={"changes the account only": Work("", work.reads, (renamed,), work.says, ())},
    )


def _portal_users(world: World, firm: Account) -> list[User]:
    return [user for user in world.all(User, role="customer") if user.email.endswith(f"@{firm.email_domain}")]


def _partners_with_a_contract(world: World) -> Draft:
    records = DeskRecords(world)
    partners = world.all(Account, account_type="partner")
    (firm,) = [row for row in partners if world.all(Contract, account_id=row.account_id, status="active")]
    others = [row for row in partners if row is not firm]
    case = records.open_cases(account_id=firm.account_id, state="pending")[0]
    contact = records.primary_contact(firm)
    update = notify(case, records.user_of(contact), "update")
    all_changed = [
        call("update_account_details", account_id=row.account_id, account_type="customer") for row in partners
    ]
    changed = call("update_account_details", account_id=firm.account_id, account_type="customer")
    work = Work(
        "Make the partner with an active contract a customer; tell its primary contact (NTF-1, NTF-3).",
        (
            call("search_cases", account_id=firm.account_id, state="pending"),
            find_contacts(firm),
            find_contact_user(contact),
        ),
        (changed, update),
        f"{firm.name} is a customer now; its primary contact has an update on {case.number}.",
        (firm.name, case.number),
        {"update_account_details": "ID-4", "send_notification": "NTF-1, NTF-3"},
        {
            "takes another one too": (
                call("update_account_details", account_id=others[0].account_id, account_type="customer"),
            )
        },
    )
    return decided(
        world,
        slug="partners-who-pay-are-customers",
        actor="Helen Osei",
        prompt=(
            "A partner that has an active contract with us is a customer, says finance. Go through our partners, "
            "change those of whom that is true, and send the primary contact of each an update, on their oldest case "
            "that waits for them. The other partners stay partners."
        ),
        question="List the partners, and count the contracts of each by status.",
        reads=(
            call("get_accounts", account_types=["partner"]),
            *(call("count_contract_by_status", account_id=row.account_id) for row in partners),
        ),
        work=work,
        instead={"changes all partners": Work("", work.reads, (*all_changed, update), work.says, ())},
    )


FAMILIES = (ended, become_others)
