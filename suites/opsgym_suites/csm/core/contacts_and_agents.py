"""Tasks about contacts of customers, agents and groups."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_domains.csm.tables import (
    Contact,
    CustomerCase,
    Location,
    User,
    UserGroup,
    UserGroupMember,
)
from opsgym_suites.csm.calls import (
    find_account,
    find_contact_user,
    find_contacts,
    find_team,
    find_user,
    names_all,
    notify,
    numbers,
    update_case,
)
from opsgym_suites.csm.effects import EFFECTS
from opsgym_suites.csm.records import DeskRecords
from opsgym_suites.csm.seeds.world import World
from opsgym_suites.csm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call, full_name
from opsgym_suites.kit.verifiers import answer_says

# --- contacts leave ------------------------------------------------------------------------------------------------


def leaving_contacts(world: World) -> Iterator[Draft]:
    """A contact leaves the customer, and the cases go to another contact."""
    yield _contact_leaves(
        world,
        slug="contact-leaves-brightwater",
        actor="Ines Calloway",
        account="Brightwater Foods",
        leaver="Isla Denham",
        prompt=(
            "Isla Denham has left Brightwater Foods on Friday. Please do all that has to be done with us when a "
            "contact leaves, and tell me which cases have moved to whom. I have it from their primary contact, by "
            "phone; that call is over and about no single case. Put it on record for me."
        ),
        heard_by="phone",
    )
    yield _contact_leaves(
        world,
        slug="primary-contact-leaves-anand-dairy",
        actor="Priya Venkat",
        account="Anand Dairy",
        leaver="Anil Menon",
        successor="Farhan Menon",
        informed=True,
        prompt=(
            "Anil Menon of Anand Dairy retires today. Farhan Menon is the primary contact there from now on. Please "
            "put that on record and take Anil out of everything that is still open. An update for Farhan on each case "
            "that he did not have before, so that he finds them."
        ),
    )
    yield _contact_leaves(
        world,
        slug="namesake-leaves-tamesis",
        actor="Helen Osei",
        account="Tamesis Museum",
        leaver="Alan Jessop",
        informed=True,
        prompt=(
            "The museum wrote: Alan Jessop does not work for Tamesis any more. Do what we do in such a case, and let "
            "the primary contact there know of each case that comes over, with an update."
        ),
    )


def _contact_leaves(
    world: World,
    *,
    slug: str,
    actor: str,
    account: str,
    leaver: str,
    prompt: str,
    successor: str | None = None,
    informed: bool = False,
    heard_by: str = "",
) -> Draft:
    records, acting, firm = DeskRecords(world), world.user(actor), world.account(account)
    going = world.contact(firm, leaver)
    heir = world.contact(firm, successor) if successor else records.primary_contact(firm)
    cases = records.open_cases(contact_id=going.contact_id)
    over = [case for case in world.all(CustomerCase, contact_id=going.contact_id) if case not in cases]
    stands_back = {"is_primary": False} if successor else {}
    conversation = call(
        "register_new_interaction",
        channel=heard_by,
        account_id=firm.account_id,
        contact_id=heir.contact_id,
        interacted_user=acting.user_id,
        status="handled",
    )
    gold = (
        find_user(acting),
        find_account(firm),
        find_contacts(firm),
        find_contact_user(going),
        find_contact_user(heir),
        *(
            call("search_cases", contact_id=going.contact_id, state=state)
            for state in ("new", "in_progress", "pending")
        ),
        call("update_contact", contact_id=going.contact_id, active=False, **stands_back),
        *([call("update_contact", contact_id=heir.contact_id, is_primary=True)] if successor else []),
        call("update_user_details", user_id=going.portal_user_id, active=False),
        *(update_case(case, contact_id=heir.contact_id) for case in cases),
        *(notify(case, records.user_of(heir), "update") for case in cases if informed),
        *([conversation] if heard_by else []),
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, the account, its contacts, and who they are: more people bear the name (LKP-2).",
            "List the contact's cases that are open.",
            "Deactivate contact and user, with a new primary contact in the same work (ACC-1, ACC-3).",
            "Give each open case the account's primary contact; leave the others.",
            *(["Record the call of the primary contact, handled and without a case (INT-1)."] if heard_by else []),
            *(["Send the new contact of each of these cases an update (NTF-1, NTF-2)."] if informed else []),
        ),
        gold=gold,
        answer=f"{leaver} is deactivated; {numbers(cases)} went to {full_name(records.user_of(heir))}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases that moved [REF-3]", names_all(cases)),),
        tools=("find_user_by_email", "get_accounts", "update_account_details", "find_contact_by_portal_user"),
        mistakes={
            "moves a case that is over": (update_case(over[-1], contact_id=heir.contact_id),),
            "closes the account": (call("update_account_details", account_id=firm.account_id, active=False),),
        },
    )
    return with_verifiers(world, draft, rules={"update_case": "ACC-3"})


# --- contacts come -------------------------------------------------------------------------------------------------


def new_contacts(world: World) -> Iterator[Draft]:
    """A customer gets new contacts."""
    yield _contacts_join(
        world,
        slug="two-contacts-join-liberty",
        actor="Ruth Abara",
        account="Liberty Labs",
        names=(("Nora", "Whitfield", "+1 555 900 1001"), ("Owen", "Sallow", "+1 555 900 1002")),
        primary=None,
        prompt=(
            "Liberty Labs has hired two people who will write to us: Nora Whitfield, phone +1 555 900 1001, and Owen "
            "Sallow, +1 555 900 1002. Both sit in the Liberty Cold Room. Please set them up so that they can use the "
            "portal and be contacts; Sam Alvarez stays the primary one."
        ),
    )
    yield _contacts_join(
        world,
        slug="new-primary-contact-harbour",
        actor="Marek Doyle",
        account="Harbour Ice Cream",
        names=(("Saskia", "Boyd", "+61 2 5550 7701"),),
        primary="Saskia Boyd",
        prompt=(
            "Harbour Ice Cream has a new head of quality: Saskia Boyd, at the Harbour Factory, +61 2 5550 7701. She is "
            "to be their primary contact from today; the present one remains an ordinary contact, but all that he "
            "has open with us is hers as of now."
        ),
    )


def _contacts_join(
    world: World,
    *,
    slug: str,
    actor: str,
    account: str,
    names: tuple[tuple[str, str, str], ...],
    primary: str | None,
    prompt: str,
) -> Draft:
    records, acting, firm = DeskRecords(world), world.user(actor), world.account(account)
    before = records.primary_contact(firm)
    site = world.one(Location, location_id=records.user_of(before).location_id)
    mails = [f"{first}.{last}@{firm.email_domain}".lower() for first, last, _ in names]
    first_id = world.next_id(User)
    users = [
        call(
            "add_new_user",
            first_name=first,
            last_name=last,
            email=mail,
            phone=phone,
            role="customer",
            location_id=site.location_id,
            active=True,
        )
        for (first, last, phone), mail in zip(names, mails, strict=True)
    ]
    contacts = [
        call(
            "create_contact",
            account_id=firm.account_id,
            portal_user_id=first_id + place,
            active=True,
            is_primary=f"{first} {last}" == primary,
        )
        for place, (first, last, _) in enumerate(names)
    ]
    stands_back = [call("update_contact", contact_id=before.contact_id, is_primary=False)] if primary else []
    coming = records.open_cases(contact_id=before.contact_id) if primary else []
    over = [case for case in world.all(CustomerCase, contact_id=before.contact_id) if case not in coming]
    heir = world.next_id(Contact)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, the account with its email domain, its contacts, and the site.",
            "Make sure that the addresses are not in use, which are first.last at the domain (ACC-2).",
            "Create the users with the role customer, then the contacts; one contact is primary (ACC-1).",
            *(["Give her the open cases of the one before; those that are over stay as they are."] if primary else []),
        ),
        gold=(
            find_user(acting),
            find_account(firm),
            find_contacts(firm),
            call("find_location", name=site.name),
            *(call("find_user_by_email", email=mail) for mail in mails),
            *([call("search_cases", contact_id=before.contact_id)] if primary else []),
            *users,
            *stands_back,
            *contacts,
            *(update_case(case, contact_id=heir) for case in coming),
        ),
        answer=f"{', '.join(mails)} can use the portal and are contacts of {firm.name}."
        + (f" Moved: {numbers(coming)}." if coming else ""),
        verifiers=(answer_says("names_addresses", "The answer names the new addresses [REF-3]", *mails[:1]),),
        tools=("list_users", "find_locations", "update_account_details", "send_notification"),
        mistakes={
            "makes one of them an agent": (call("update_user_details", user_id=first_id, role="agent"),),
            "switches a contact off": (
                call("update_contact", contact_id=records.contacts(firm)[-1].contact_id, active=False),
            ),
            **({"moves a case that is over": (update_case(over[-1], contact_id=heir),)} if primary else {}),
        },
    )
    return with_verifiers(world, draft)


# --- our own people leave ------------------------------------------------------------------------------------------


def leaving_agents(world: World) -> Iterator[Draft]:
    """An agent leaves, and a colleague takes over the work."""
    yield _agent_leaves(
        world,
        slug="agent-leaves-software-support",
        actor="Jonas Ekberg",
        leaver="Owen Pryce",
        heir="Emi Kondo",
        prompt=(
            "Owen Pryce stops working for us today. Emi Kondo takes over what he has open, and gets an update on each "
            "of these from us. Please do the rest that is due when one of our people leaves, and list what she has got."
        ),
    )
    yield _agent_leaves(
        world,
        slug="agent-leaves-gateway-support",
        actor="Ines Calloway",
        leaver="Callum Reid",
        heir="Grace Holloway",
        prompt=(
            "Callum Reid's last day was Friday. His open cases are Grace Holloway's from now on; she is in Gateway "
            "Support as he was. Take him out of his groups and switch his account off. The customers should hear of "
            "it: for every one of those cases, an update to its contact. I need the numbers of the cases."
        ),
        customers=True,
    )


def _agent_leaves(
    world: World, *, slug: str, actor: str, leaver: str, heir: str, prompt: str, customers: bool = False
) -> Draft:
    records, acting, going, taking = DeskRecords(world), world.user(actor), world.user(leaver), world.user(heir)
    cases = records.open_cases(assigned_to=going.user_id)
    settled = next(case for case in world.all(CustomerCase, assigned_to=going.user_id) if case.state == "resolved")
    links = world.all(UserGroupMember, user_id=going.user_id)
    groups = sorted({case.assignment_group_id or 0 for case in cases})
    contacts = [records.contact_of(case) for case in cases]
    recipients = [records.user_of(contact) for contact in contacts] if customers else [taking for _ in cases]
    gold = (
        find_user(acting),
        find_user(going),
        find_user(taking),
        call("get_cases_assigned_to", assigned_to=going.user_id),
        call("list_group_members", user_id=going.user_id),
        *(call("check_user_membership", user_id=taking.user_id, group_id=group) for group in groups),
        *(find_contact_user(contact) for contact in contacts if customers),
        *(call("assign_case_to_user", case_id=case.case_id, assigned_to_user_id=taking.user_id) for case in cases),
        *(call("remove_group_membership", member_id=row.member_id) for row in links),
        call("update_user_details", user_id=going.user_id, active=False),
        *(notify(case, user, "update") for case, user in zip(cases, recipients, strict=True)),
    )
    by_update = tuple(one for made in gold for one in [*EFFECTS.equivalents(made), made][:1])
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, {leaver} and {heir}, and what {leaver} works on.",
            "See that the successor is a member of each case's group (ACC-5, CAS-5).",
            "Hand over the cases that are open, not those that are resolved or over.",
            "Remove the memberships and deactivate the account.",
            f"Send {'the contact of each case' if customers else heir} an update on it (NTF-1, NTF-2).",
        ),
        gold=gold,
        answer=f"{heir} has {numbers(cases)} now. {leaver} is in no group any more, and the account is inactive.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases that moved [REF-3]", names_all(cases)),),
        tools=("list_users", "search_cases", "find_user_group", "update_case"),
        also={"assigns by the tool for any field": Solution(by_update)},
        mistakes={
            "moves a resolved case as well": (
                call("assign_case_to_user", case_id=settled.case_id, assigned_to_user_id=taking.user_id),
            ),
            "adds the successor to a group": (
                call("add_new_group_member", group_id=world.group("Sensor Support").group_id, user_id=taking.user_id),
            ),
            "informs the leaver": (notify(cases[0], going, "update"),),
        },
    )
    return with_verifiers(world, draft, rules={"assign_case_to_user": "ACC-5, CAS-5", "update_user_details": "ACC-5"})


# --- teams ---------------------------------------------------------------------------------------------------------


def teams(world: World) -> Iterator[Draft]:
    """Groups are created and merged."""
    yield _new_team(world)
    yield _brought_together(world)


def _new_team(world: World) -> Draft:
    """A new group for one product takes over its new cases."""
    records, acting = DeskRecords(world), world.user("Jonas Ekberg")
    names = ("Owen Pryce", "Emi Kondo", "Jonas Ekberg")
    product = world.product("ColdView Cloud")
    cases = world.all(CustomerCase, product_id=product.product_id, state="new")
    other = next(case for case in records.open_cases(product_id=product.product_id) if case.state != "new")
    made = world.next_id(UserGroup)
    contacts = [records.contact_of(case) for case in cases]
    draft = Draft(
        slug="new-team-for-coldview-cloud",
        actor=acting,
        prompt=(
            'ColdView Cloud gets a team of its own: a support group called "ColdView Cloud Support", with Owen Pryce, '
            "Emi Kondo and me. Please set it up and give it all cases about that product that no one has started on. "
            "Cases that are being worked on stay with Software Support. The contact of each case that moves gets a "
            "message about the next steps with it."
        ),
        plan=(
            "Look up Jonas, Owen and Emi, the product, and its new cases.",
            "Create the group, active, of type support; add the three members.",
            "Move the new cases to the group, nothing else about them.",
            "Send the contact of each of them next_steps (NTF-1, NTF-3).",
        ),
        gold=(
            find_user(acting),
            *(find_user(world.user(name)) for name in names[:2]),
            call("find_product", name=product.name),
            call("find_user_group", name="Software Support"),
            call("search_cases", product_id=product.product_id, state="new"),
            *map(find_contact_user, contacts),
            call("add_new_user_group", name="ColdView Cloud Support", type="support", active=True),
            *(call("add_new_group_member", group_id=made, user_id=world.user(name).user_id) for name in names),
            *(call("set_case_assignment_group", case_id=case.case_id, assignment_group_id=made) for case in cases),
            *(
                notify(case, records.user_of(contact), "next_steps")
                for case, contact in zip(cases, contacts, strict=True)
            ),
        ),
        answer=f"ColdView Cloud Support has three members and {numbers(cases)}.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases that moved [REF-3]", names_all(cases)),),
        tools=("list_user_groups", "list_group_members", "update_user_group", "update_case"),
        mistakes={
            "moves one that is worked on": (
                call("set_case_assignment_group", case_id=other.case_id, assignment_group_id=made),
            ),
            "closes the old group": (
                call("update_user_group", group_id=world.group("Software Support").group_id, active=False),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"set_case_assignment_group": "ID-4, CAS-5"})


def _brought_together(world: World) -> Draft:
    """The repair and the returns group are merged."""
    acting, old, new = (
        world.user("Kenji Morita"),
        world.group("Field Service Asia Pacific"),
        world.group("Returns Office"),
    )
    records = DeskRecords(world)
    cases = records.open_cases(assignment_group_id=old.group_id)
    coming = [user for user in records.members(old) if user.active and user not in records.members(new)]
    links = world.all(UserGroupMember, group_id=old.group_id)
    draft = Draft(
        slug="field-service-joins-returns",
        actor=acting,
        prompt=(
            "We bring Field Service Asia Pacific and the Returns Office together: the Returns Office goes on under the "
            'new name "Returns and Repair" and takes the open cases of Field Service, assignees as they are. '
            "Everyone who "
            "is active there and not yet a member comes along; then empty the old group and take it out of use."
        ),
        plan=(
            "Look up Kenji, both groups, their members, and the open cases of Field Service.",
            "Rename the Returns Office; add the active members that it lacks (CAS-5).",
            "Move the open cases, then remove all memberships of the old group and deactivate it.",
        ),
        gold=(
            find_user(acting),
            find_team(old),
            find_team(new),
            call("list_group_members", group_id=old.group_id),
            call("list_group_members", group_id=new.group_id),
            *(call("list_users", user_id=link.user_id) for link in links),
            call("get_cases_assigned_to", assignment_group_id=old.group_id),
            call("update_user_group", group_id=new.group_id, name="Returns and Repair"),
            *(call("add_new_group_member", group_id=new.group_id, user_id=user.user_id) for user in coming),
            *(
                call("set_case_assignment_group", case_id=case.case_id, assignment_group_id=new.group_id)
                for case in cases
            ),
            *(call("remove_group_membership", member_id=link.member_id) for link in links),
            call("update_user_group", group_id=old.group_id, active=False),
        ),
        answer=f"Returns and Repair has {numbers(cases)} now; the old group is empty and out of use.",
        verifiers=(answer_says("names_the_cases", "The answer names the cases that moved [REF-3]", names_all(cases)),),
        tools=("list_user_groups", "check_user_membership", "search_cases", "assign_case_to_user"),
        mistakes={
            "brings an inactive user along": (
                call("add_new_group_member", group_id=new.group_id, user_id=world.user("Tom Barrow").user_id),
            ),
            "takes an assignee along": (update_case(cases[0], assigned_to=world.user("Bronte Walsh").user_id),),
        },
    )
    return with_verifiers(world, draft, rules={"remove_group_membership": "ID-4"})


FAMILIES = (leaving_contacts, new_contacts, leaving_agents, teams)
