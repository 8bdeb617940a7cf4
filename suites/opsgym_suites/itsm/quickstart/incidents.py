"""Tasks about one incident: reported, assigned, put on hold, resolved."""

from __future__ import annotations

from opsgym_domains.itsm.tables import Change, Incident, User
from opsgym_suites.itsm.calls import find_incident, find_user, notify, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call


def triage_dock_printer(world: World) -> Draft:
    """Category, levels, priority, group and assignee of a new incident."""
    records = CompanyRecords(world, "Halden Freight")
    ines, joon = records.person("Ines Carvalho"), records.person("Joon Park")
    team, incident = records.team("Terminal Field Team"), records.incident("dock-printer")
    gold = (
        find_user(ines),
        find_incident(incident),
        call("list_user_groups", type=team.type),
        find_user(joon),
        update_incident(
            incident,
            category="hardware",
            impact="medium",
            urgency="medium",
            priority="moderate",
            assignment_group=team.group_id,
            assigned_to=joon.user_id,
            status="in_progress",
        ),
    )
    draft = Draft(
        slug="triage-dock-printer",
        actor=ines,
        prompt=(
            f"{incident.number} came in this morning with nothing filled in. I called the dock: the print head of the "
            "label printer is broken. The whole loading team of dock 4 is affected. They get by with the printer "
            "of dock 7, but it is a long walk for every label. Please triage the incident and give it to Joon Park "
            "and the right team."
        ),
        plan=(
            "Look up Ines Carvalho to learn role and organisation.",
            "Find the incident by its number.",
            "List field support groups and take the active one of Halden Freight: hardware goes there (INC-4).",
            "Look up Joon Park; check that he is active and of the same organisation.",
            (
                "Update the incident in one call: category hardware, impact medium, urgency medium, priority moderate "
                "by the matrix, group, assignee, status in progress."
            ),
        ),
        gold=gold,
        answer=(
            f"{incident.number} is now in progress: hardware, impact medium, urgency medium, priority moderate, "
            f"assigned to Joon Park in the {team.name}."
        ),
        verifiers=(),
    )
    return with_verifiers(world, draft)


def hold_for_firmware_change(world: World) -> Draft:
    """On hold for the change that a similar incident is on hold for."""
    records = CompanyRecords(world, "Halden Freight")
    ravi, incident, sister = (
        records.person("Ravi Menon"),
        records.incident("gateway-south"),
        records.incident("gateway-north"),
    )
    change = world.fixture(Change, "gateway-firmware")
    caller = records.caller(incident)
    gold = (
        find_user(ravi),
        find_incident(incident),
        call("list_incidents", short_description="scanner gateway north"),
        call("get_user", user_id=caller.user_id),
        update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change", change_request=change.change_id),
        call("map_change_request", change_id=change.change_id, incident_id=incident.incident_id),
        notify(
            incident,
            caller,
            "update",
            f"{incident.number}: waiting for a change",
            f"Your incident {incident.number} is on hold: it waits for change {change.number}, new firmware on both "
            "scanner gateways.",
        ),
    )
    draft = Draft(
        slug="hold-for-firmware-change",
        actor=ravi,
        prompt=(
            f"{incident.number}, the southern scanner gateway, has the same cause as the northern one. There is an "
            "incident about that gateway restarting at night, and it waits for a change already. Please put mine "
            "on hold for the same change."
        ),
        plan=(
            "Look up Ravi Menon.",
            "Find the incident by number: in progress, so it may be put on hold.",
            "List incidents about the northern gateway and read which change it waits for.",
            "Get the caller's address.",
            "Put the incident on hold with reason Awaiting Change and the change in change_request (INC-6).",
            "Map the change to the incident.",
            "Send the caller an update that names what is awaited.",
        ),
        gold=gold,
        answer=(
            f"{incident.number} is on hold, awaiting change {change.number}. The change is mapped to it, and "
            f"{caller.first_name} {caller.last_name} has been notified."
        ),
        verifiers=(),
        mistakes={
            "raises the priority while at it": (update_incident(incident, priority="high"),),
            "assigns the sister incident anew": (update_incident(sister, assigned_to=caller.user_id),),
        },
    )
    return with_verifiers(world, draft)


def resolve_label_driver(world: World) -> Draft:
    """Resolved by a workaround, out of being on hold."""
    records = CompanyRecords(world, "Halden Freight")
    nadia, incident = records.person("Nadia Haddad"), records.incident("label-driver")
    caller = records.caller(incident)
    note = "Label driver installed by hand from the terminal share."
    gold = (
        find_user(nadia),
        find_incident(incident),
        call("get_user", user_id=caller.user_id),
        update_incident(
            incident,
            status="resolved",
            resolution_code="Workaround Provided",
            resolution_notes=note,
            resolved_by=nadia.user_id,
        ),
        notify(
            incident,
            caller,
            "solution_proposal",
            f"{incident.number}: your laptop prints labels again",
            f"{incident.number} is resolved. {note}",
        ),
    )
    draft = Draft(
        slug="resolve-label-driver",
        actor=nadia,
        prompt=(
            f"I have just put the label driver on Mette's new laptop by hand, so {incident.number} can be resolved. "
            "The "
            "automatic installation still leaves the driver out, that fault remains. Use this as the resolution note: "
            f"'{note}'"
        ),
        plan=(
            "Look up Nadia Haddad.",
            "Find the incident: it is on hold for its caller.",
            "Get the caller's address.",
            (
                "Resolve it in one call: code Workaround Provided because the fault remains (INC-8), the note, "
                "Nadia as resolver."
            ),
            "Send the caller a solution proposal (INC-7).",
        ),
        gold=gold,
        answer=f"{incident.number} is resolved as Workaround Provided, and {caller.first_name} has been notified.",
        verifiers=(),
    )
    return with_verifiers(world, draft)


def report_by_phone(world: World) -> Draft:
    """A new incident for a caller whose name exists twice."""
    records = CompanyRecords(world, "Halden Freight")
    ines, tomas = records.person("Ines Carvalho"), records.person("Tomas Berg")
    team, key = records.team("Terminal Field Team"), world.next_id(Incident)
    number = f"INC-{world.next_number(Incident):06d}"
    namesake = world.one(
        User, first_name="Tomas", last_name="Berg", org_id=CompanyRecords(world, "Mirelle Botanics").org_id
    )
    summary = "Gate tablet does not react to touch"
    gold = (
        find_user(ines),
        call("list_users", first_name="Tomas", last_name="Berg"),
        call("list_user_groups", type=team.type),
        call(
            "create_incident",
            caller_id=tomas.user_id,
            short_description=summary,
            description="Touch screen is dead since the rain; caller borrows a colleague's tablet.",
            channel="phone",
            category="hardware",
            impact="low",
            urgency="medium",
            priority="low",
            assignment_group=team.group_id,
        ),
        call(
            "send_notification",
            incident_id=key,
            email=tomas.email,
            type="update",
            subject=f"{number}: {summary}",
            message=f"We have reported your incident under the number {number}. The {team.name} will look at it.",
        ),
    )
    draft = Draft(
        slug="report-by-phone",
        actor=ines,
        prompt=(
            "Tomas Berg from our Harbour Terminal is on the phone: the touch screen of his gate tablet is dead "
            "since the rain. It is only his; he goes on with a borrowed one, which is awkward. Please report it "
            f"for him under the title '{summary}', hand it to the right team without picking a person, and send him "
            "an update with the number."
        ),
        plan=(
            "Look up Ines Carvalho.",
            "List everybody called Tomas Berg: there are two, take the one of Halden Freight (LKP-2).",
            "List field support groups; hardware goes to the active one.",
            (
                "Create the incident: caller Tomas, channel phone, hardware, impact low, urgency medium, priority low, "
                "group, no assignee, status new."
            ),
            "Send Tomas an update with the new number.",
        ),
        gold=gold,
        answer=f"I reported {number} for Tomas Berg: hardware, priority low, with the {team.name}; he is notified.",
        verifiers=(),
        mistakes={
            "reports it for the namesake as well": (
                call("create_incident", caller_id=namesake.user_id, short_description=summary),
            ),
        },
    )
    return with_verifiers(world, draft)
