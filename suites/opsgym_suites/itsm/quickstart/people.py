"""Tasks about new employees and leavers."""

from __future__ import annotations

from opsgym_domains.itsm.tables import Incident, User, UserGroup
from opsgym_suites.itsm.calls import find_user, update_incident
from opsgym_suites.itsm.records import OPEN, CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call


def onboard_subscription_team(world: World) -> Draft:
    """Two accounts, a group, three memberships."""
    records = CompanyRecords(world, "Mirelle Botanics")
    camille, hugo, elise, marc = map(records.person, ("Camille Roche", "Hugo Lambert", "Elise Garnier", "Marc Duval"))
    name, domain = "Subscription Boxes", camille.email.partition("@")[2]
    hired = (
        ("Noemie", "Castel", f"noemie.castel@{domain}", "+33-047-555-0901", world.next_id(User)),
        ("Idris", "Benali", f"idris.benali@{domain}", "+33-047-555-0902", world.next_id(User, ahead=1)),
    )
    group = world.next_id(UserGroup)
    gold = (
        find_user(camille),
        call("list_user_groups", name="Subscription"),
        find_user(hugo),
        find_user(marc),
        find_user(elise),
        *(
            call(
                "add_new_user",
                first_name=first,
                last_name=last,
                email=email,
                phone=phone,
                role="agent",
                active=True,
                location_id=marc.location_id,
            )
            for first, last, email, phone, _key in hired
        ),
        call("add_new_user_group", name=name, type="IT Support", manager_id=hugo.user_id),
        *(call("add_new_group_member", group_id=group, user_id=key) for *_, key in hired),
        call("add_new_group_member", group_id=group, user_id=elise.user_id),
    )
    draft = Draft(
        slug="onboard-subscription-team",
        actor=camille,
        prompt=(
            f"On Monday our new team '{name}' starts, an IT support group that Hugo Lambert manages. Two colleagues "
            "join us for it, both as agents, and their accounts should work at once: Noemie Castel, phone "
            "+33-047-555-0901, and Idris Benali, phone +33-047-555-0902. Their desks are at the site where Marc "
            "Duval sits. Elise Garnier joins the team as well, Hugo only manages it. Please set all of this up."
        ),
        plan=(
            "Look up Camille Roche: an admin, so she may create users and groups.",
            "Check that no such group exists.",
            "Look up Hugo Lambert (manager, active), Marc Duval (for the location) and Elise Garnier.",
            "Create both users: agents, active, first.last at the company's domain, Marc's location.",
            "Create the group with Hugo as manager.",
            "Add the two new users and Elise as members; not Hugo.",
        ),
        gold=gold,
        answer=(
            f"Noemie Castel and Idris Benali have accounts, and the group {name} has them and Elise Garnier as "
            "members, with Hugo Lambert as its manager."
        ),
        verifiers=(),
        mistakes={
            "makes the manager a member": (call("add_new_group_member", group_id=group, user_id=hugo.user_id),),
            "adds Elise to another group too": (
                call(
                    "add_new_group_member",
                    group_id=records.team("Workshop Field Team").group_id,
                    user_id=elise.user_id,
                ),
            ),
            "creates a third account": (
                call(
                    "add_new_user",
                    first_name="Noemie",
                    last_name="Castel",
                    email=f"n.castel@{domain}",
                    phone="+33-047-555-0909",
                    role="reporter",
                    active=True,
                ),
            ),
        },
    )
    return with_verifiers(world, draft)


def hand_over_leavers_work(world: World) -> Draft:
    """Open incidents of a leaver go to the successor; finished ones stay."""
    records = CompanyRecords(world, "Halden Freight")
    oskar, dmitri, nadia = map(records.person, ("Oskar Lindqvist", "Dmitri Sokol", "Nadia Haddad"))
    assigned = world.all(Incident, assigned_to=dmitri.user_id)
    cases, over = (
        [incident for incident in assigned if incident.status in OPEN],
        [incident for incident in assigned if incident.status not in OPEN],
    )
    note = "Taken over from Dmitri Sokol."
    gold = (
        find_user(oskar),
        find_user(dmitri),
        find_user(nadia),
        call("get_incidents_assigned_to", assigned_to=dmitri.user_id),
        *(
            update_incident(
                incident,
                assigned_to=nadia.user_id,
                worknotes=f"{incident.worknotes} {note}" if incident.worknotes else note,
            )
            for incident in cases
        ),
    )
    draft = Draft(
        slug="hand-over-leavers-work",
        actor=oskar,
        prompt=(
            "Dmitri Sokol leaves us this week, and Nadia Haddad takes over from him. Please hand his work over to "
            f"her, with the work note '{note}'"
        ),
        plan=(
            "Look up Oskar Lindqvist, Dmitri Sokol and Nadia Haddad; Nadia is active and an agent.",
            "List the incidents assigned to Dmitri; keep those that are new, in progress or on hold (USR-3).",
            (
                "Assign each of them to Nadia and add the note to the notes already there. Leave the resolved and the "
                "closed one as they are."
            ),
        ),
        gold=gold,
        answer=(
            f"{', '.join(incident.number for incident in cases)} are Nadia Haddad's now. What Dmitri had finished "
            "stays as it is."
        ),
        verifiers=(),
        mistakes={
            "hands finished work over too": (update_incident(over[0], assigned_to=nadia.user_id),),
            "forgets the older note": (update_incident(_noted(cases), worknotes=note),),
            "moves one to another group": (
                update_incident(cases[0], assignment_group=records.team("Harbour Service Desk").group_id),
            ),
        },
    )
    return with_verifiers(world, draft)


def _noted(cases: list[Incident]) -> Incident:
    """The one of them that has work notes already."""
    (incident,) = (incident for incident in cases if incident.worknotes)
    return incident
