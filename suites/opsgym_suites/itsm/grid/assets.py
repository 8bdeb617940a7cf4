"""Tasks about devices, sites and services: what is swapped, moved, added or given up, and the records that follow."""

from __future__ import annotations

from typing import Any

from opsgym_api.tasks.answer_patterns import number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import (
    ConfigurationItem,
    Incident,
    IncidentTemplate,
    Location,
    Service,
    ServiceOffering,
    User,
)
from opsgym_suites.itsm.calls import find_incident, find_team, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.grid.outages import CLINICS, LINES, listed
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import May, Present, answer_says

RUN_BY = ("owned_by", "used_for", "status", "service_classification", "business_criticality")
"""Columns that an offering repeats from its service."""


def change_item(item: ConfigurationItem, **fields: Any) -> ToolCall:
    """Call that updates a device."""
    return call("update_configuration_item", configuration_item_id=item.configuration_item_id, **fields)


def spare_terminal(world: World) -> Draft:
    """Of three spare devices one is in stock at the right site."""
    records = CompanyRecords(world, CLINICS)
    actor, incident, technician = records.person("Vikram Shah"), records.incident("frozen"), records.person("Isla Ford")
    old, new, far = (
        records.named(ConfigurationItem, name)
        for name in ("Reception terminal 1", "Spare terminal C", "Spare terminal A")
    )
    notes, caller = "A spare terminal stands in its place.", records.caller(incident)
    affected = {"incident_id": incident.incident_id}
    draft = Draft(
        slug="spare-terminal-at-the-reception",
        actor=actor,
        prompt=(
            f"Isla has carried the frozen terminal of {incident.number} into the workshop and set up the spare one "
            "that we keep at the clinic. Please put our records right: the spare is in use now and is hers like the "
            "old one, the old one is in maintenance, and the incident is about the device that stands there, also in "
            f"its list of affected devices. With that the desk can work again: resolve it as hers, '{notes}'"
        ),
        plan=(
            "Look up Vikram Shah, Isla Ford, the incident, its device and the spare terminals.",
            "Spare A is in Suva and spare B in maintenance: the one at the clinic in stock is spare C.",
            "Spare C is in use with Isla as owner; the old one is in maintenance.",
            "Name spare C in the incident, link it as affected and remove the link to the old one.",
            "The fault remains in the old terminal: Workaround Provided. Notify the caller (INC-7, INC-8).",
        ),
        gold=(
            find_user(actor),
            find_user(technician),
            find_incident(incident),
            call("find_configuration_items", location_id=old.location_id),
            call("list_incident_affected_cis", **affected),
            call("get_user", user_id=caller.user_id),
            change_item(new, status="in_use", owner_id=technician.user_id),
            change_item(old, status="maintenance"),
            call("link_affected_ci_to_incident", configuration_item=new.configuration_item_id, **affected),
            call("remove_affected_ci_from_incident", configuration_item=old.configuration_item_id, **affected),
            update_incident(
                incident,
                configuration_item=new.configuration_item_id,
                status="resolved",
                resolution_code="Workaround Provided",
                resolution_notes=notes,
                resolved_by=technician.user_id,
            ),
            notify(incident, caller, "solution_proposal", f"{incident.number} is solved", notes),
        ),
        answer=f"{new.name} is in use, {old.name} is in maintenance, and {incident.number} is resolved.",
        verifiers=(),
        tools=("find_configuration_item_by_serial_number", "list_users", "find_location_by_given_name"),
        mistakes={
            "takes the spare of another clinic too": (change_item(far, status="in_use"),),
            "moves the old terminal": (change_item(old, location_id=far.location_id),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_configuration_item": "ID-4",
            "link_affected_ci_to_incident": "ID-4",
            "remove_affected_ci_from_incident": "ID-4",
            "update_incident": "INC-7, INC-8",
            "send_notification": "INC-7, NTF-2",
        },
        expect={"send_notification": {"message": May()}},
    )


def lost_tablet(world: World) -> Draft:
    """Two tablets, three articles of nearly the same name, two field teams of which one is closed."""
    records = CompanyRecords(world, LINES)
    actor, caller, keeper = map(records.person, ("Leilani Fonoti", "Ana Vea", "Callum Reade"))
    item, other = (records.named(ConfigurationItem, f"Crew tablet {n}") for n in (71, 17))
    team, article = records.team("Yard Technicians"), records.article("When a crew tablet is lost")
    draft_article = records.article("When a tablet is lost (2027)")
    made = world.next_id(Incident)
    draft = Draft(
        slug="crew-tablet-is-lost",
        actor=actor,
        prompt=(
            "Ana Vea rang me from the hill: she has lost the crew tablet that is in the books as Callum Reade's, and "
            "cannot go on with her job without one. Open the incident for her, 'Crew tablet lost', about that tablet, "
            "which you can retire; it is the affected device as well. Suggest to her the article that our callers get "
            "in such a case."
        ),
        plan=(
            "Look up Leilani Fonoti (a manager), Ana Vea, Callum Reade (not Reid), his devices and the articles.",
            "Ana is affected, alone, and cannot work: impact low, urgency high, priority moderate (INC-2, INC-3).",
            "Hardware goes to the active field group, Yard Technicians (INC-4); channel phone, status new.",
            "Retire the tablet and link it as affected.",
            "Link the published external article; one is internal, one a draft (KB-1).",
        ),
        gold=(
            find_user(actor),
            find_user(caller),
            call("list_users", first_name="Callum", last_name="Reade"),
            call("find_configuration_items", owner_id=keeper.user_id),
            call("list_user_groups", type="Field Support Technicians", active=True),
            call("retrieve_knowledge_articles", title="tablet is lost"),
            call(
                "create_incident",
                caller_id=caller.user_id,
                short_description="Crew tablet lost",
                channel="phone",
                status="new",
                category="hardware",
                impact="low",
                urgency="high",
                priority="moderate",
                configuration_item=item.configuration_item_id,
                assignment_group=team.group_id,
            ),
            change_item(item, status="retired"),
            call("link_affected_ci_to_incident", configuration_item=item.configuration_item_id, incident_id=made),
            call(
                "link_knowledge_to_incident",
                incident_id=made,
                knowledge_id=article.knowledge_id,
                used_as="suggested",
            ),
        ),
        answer=f"The incident is open, {item.name} is retired, and the article {article.kb_number} is suggested.",
        verifiers=(),
        tools=("get_user_using_email", "find_service_by_name", "list_incidents", "send_notification"),
        mistakes={
            "retires the namesake's tablet too": (change_item(other, status="retired"),),
            "suggests a draft": (
                call("link_knowledge_to_incident", incident_id=made, knowledge_id=draft_article.knowledge_id),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_incident": "INC-2, INC-3, INC-4",
            "update_configuration_item": "ID-4",
            "link_affected_ci_to_incident": "ID-4",
            "link_knowledge_to_incident": "KB-1",
        },
    )


def new_substation(world: World) -> Draft:
    """A site, a gateway like the other ones there are, an offering like its service, and a template like another."""
    records = CompanyRecords(world, LINES)
    actor, line = records.person("Leilani Fonoti"), records.named(Service, "Smart Meters")
    like = [records.named(ConfigurationItem, f"Gateway {name}") for name in ("H3", "H8")]
    template = records.named(IncidentTemplate, "No readings from a street")
    place, offering = world.next_id(Location), world.next_id(ServiceOffering)
    copied = ("caller_id", "channel", "category", "impact", "urgency", "priority")
    draft = Draft(
        slug="substation-in-carterton",
        actor=actor,
        prompt=(
            "Carterton Substation goes live: plot number 5, street Insulator Way, Carterton, New Zealand. It has a "
            "gateway in use, 'Gateway H12', serial number SG-H12-01, with owner and cost as of the two H gateways that "
            "we have. Smart Meters gets an offering 'Smart Meters - Carterton' (short description 'Meters behind "
            "Carterton Substation') which is run like the service itself, and the desk a template 'No readings from "
            "Carterton' with that short description: the same as for a street, but for the new offering."
        ),
        plan=(
            "Look up Leilani Fonoti, the gateways H3 and H8, the service, its offerings and the template.",
            "Add the site, then the gateway there: owner and cost of the other two.",
            "Register the offering under Smart Meters with the service's owner, use, status, class and criticality.",
            "Create the template with the values of the other one and the new offering.",
        ),
        gold=(
            find_user(actor),
            call("find_locations", name="Carterton"),
            *(call("find_configuration_item_by_serial_number", serial_number=item.serial_number) for item in like),
            call("find_service_by_name", name=line.name),
            call("get_incident_template_by_name", name=template.name),
            call(
                "add_location",
                name="Carterton Substation",
                plot_no="5",
                street="Insulator Way",
                city="Carterton",
                country="New Zealand",
                active=True,
            ),
            call(
                "register_configuration_item",
                name="Gateway H12",
                serial_number="SG-H12-01",
                owner_id=like[0].owner_id,
                location_id=place,
                status="in_use",
                cost=like[0].cost,
            ),
            call(
                "register_new_service_offering",
                name="Smart Meters - Carterton",
                short_description="Meters behind Carterton Substation",
                parent=line.service_id,
                **{column: getattr(line, column) for column in RUN_BY},
            ),
            call(
                "create_new_incident_template",
                name="No readings from Carterton",
                active=True,
                change_request_values={
                    **{column: getattr(template, column) for column in copied},
                    "short_description": "No readings from Carterton",
                    "service": line.service_id,
                    "service_offering": offering,
                },
            ),
        ),
        answer="Carterton Substation is there, with Gateway H12, an offering and a template.",
        verifiers=(),
        tools=("find_configuration_items", "find_service_offerings", "update_location", "list_users"),
        mistakes={"moves another gateway there": (change_item(like[0], location_id=place),)},
    )
    return with_verifiers(
        world,
        draft,
        rules=dict.fromkeys(
            (
                "add_location",
                "register_configuration_item",
                "register_new_service_offering",
                "create_new_incident_template",
            ),
            "ID-3, LKP-1",
        ),
    )


def office_closes(world: World) -> Draft:
    """Where the people of a closed office go follows from the managers of their groups."""
    records = CompanyRecords(world, LINES)
    actor, office = records.person("Aroha Tamihana"), records.named(Location, "Nelson Office")
    homes = {
        person: world.one(User, user_id=team.manager_id).location_id
        for person, team in (
            (records.person("Tevita Moala"), records.team("Grid Platform")),
            (records.person("Josh Abbott"), records.team("Lines Service Desk")),
        )
    }
    printer, incident = records.named(ConfigurationItem, "Nelson printer"), records.incident("nelson-print")
    items = [
        (item, home)
        for person, home in homes.items()
        for item in world.all(ConfigurationItem, owner_id=person.user_id)
        if item is not printer
    ]
    note, caller = "The printer is gone with the office.", records.caller(incident)
    draft = Draft(
        slug="nelson-office-closes",
        actor=actor,
        prompt=(
            "We are giving up the Nelson Office; set it inactive. The two agents who sit there move to the site of the "
            "manager of the group that they are in, and the devices in their names with them, all but the printer, "
            f"which is disposed of where it is. What is still open about the printer you cancel, '{note}', and the "
            "caller should know by an update. The reporters there are looked after by another manager."
        ),
        plan=(
            "Look up Aroha Tamihana, the office, its agents, their groups, the managers and their sites, and devices.",
            "Tevita Moala's group is led from Masterton, Josh Abbott's from Wellington.",
            "Move both and their devices; dispose of the printer; set the office inactive.",
            "Cancel the open incident about the printer; the closed one is final (INC-10). Notify its caller.",
        ),
        gold=(
            find_user(actor),
            call("find_location_by_given_name", name=office.name),
            call("list_users", role="agent", active="true"),
            *(call("list_group_members", user_id=person.user_id) for person in homes),
            *(find_team(records.team(name)) for name in ("Grid Platform", "Lines Service Desk")),
            *(find_user(records.person(name)) for name in ("Leilani Fonoti", "Graham Pirie")),
            *(call("find_configuration_items", owner_id=person.user_id) for person in homes),
            call("list_incidents", configuration_item=printer.configuration_item_id),
            call("get_user", user_id=caller.user_id),
            *(call("update_user_details", user_id=person.user_id, location_id=home) for person, home in homes.items()),
            *(change_item(item, location_id=home) for item, home in items),
            change_item(printer, status="disposed"),
            update_incident(incident, status="canceled", close_notes=note),
            notify(incident, caller, "update", f"{incident.number} is canceled", note),
            call("update_location", location_id=office.location_id, active=False),
        ),
        answer=f"Tevita is at the Masterton Yard, Josh at the Control Centre, and {incident.number} is canceled.",
        verifiers=(),
        tools=("get_location_by_id", "list_user_groups", "find_incident_by_number", "find_locations"),
        mistakes={
            "moves the printer": (change_item(printer, location_id=items[0][1]),),
            "changes what is closed": (update_incident(records.incident("nelson-over"), status="canceled"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_user_details": "ID-4",
            "update_configuration_item": "ID-4",
            "update_location": "ID-4",
            "update_incident": "INC-10",
            "send_notification": "NTF-1, NTF-3",
        },
        expect={"send_notification": {"message": May()}},
    )


def booking_replaced(world: World) -> Draft:
    """A service is replaced: offerings, templates and open incidents follow it."""
    records = CompanyRecords(world, CLINICS)
    actor, old = records.person("Mere Kingi"), records.named(Service, "Old Booking")
    gone = world.all(ServiceOffering, business_service=old.service_id)
    templates = world.all(IncidentTemplate, service=old.service_id)
    cases = records.open_incidents(service=old.service_id)
    service, offering = world.next_id(Service), world.next_id(ServiceOffering)
    like_old = {column: getattr(old, column) for column in RUN_BY} | {"status": "operational"}
    place = {"service": service, "service_offering": offering}
    draft = Draft(
        slug="old-booking-is-replaced",
        actor=actor,
        prompt=(
            "Since midnight the clinics book with 'Clinic Booking'. Please add it as a service, with one offering, "
            "'Clinic Booking - All' (short description 'Appointments of all clinics'); both are owned, used, "
            "classified and rated like Old Booking, which you retire together with its offerings. Our templates for it "
            "are needed for the new one from now on, and what is open about it too. How many incidents was that?"
        ),
        plan=(
            "Look up Mere Kingi, the service, its offerings, the templates and the incidents.",
            "Add the service and its offering with the old one's owner, use, class and criticality.",
            "Retire the old service and both of its offerings.",
            "Let templates and open incidents name the new service and offering; closed ones are final (INC-10).",
        ),
        gold=(
            find_user(actor),
            *listed(records, old.name),
            call("find_service_offerings", parent=old.service_id),
            call("get_incident_templates"),
            call("add_new_service", name="Clinic Booking", **like_old),
            call(
                "register_new_service_offering",
                name="Clinic Booking - All",
                short_description="Appointments of all clinics",
                parent=service,
                **like_old,
            ),
            call("update_service", service_id=old.service_id, status="retired"),
            *(
                call("update_service_offering", service_offering_id=row.service_offering_id, status="retired")
                for row in gone
            ),
            *(
                call(
                    "update_incident_template",
                    incident_template_id=row.incident_template_id,
                    change_request_values=place,
                )
                for row in templates
            ),
            *(update_incident(case, **place) for case in cases),
        ),
        answer=f"Clinic Booking is there; {len(cases)} incidents name it: {numbers(cases)}.",
        verifiers=(answer_says("answer_has_the_number", "The answer says how many [REF-3]", number(len(cases))),),
        tools=(
            "find_services",
            "find_incident_by_number",
            "get_incident_template_by_name",
            "find_service_offering_by_name",
        ),
        mistakes={
            "changes what is closed": (update_incident(records.incident("booking-over"), **place),),
            "switches a template off": (
                call(
                    "update_incident_template",
                    incident_template_id=templates[0].incident_template_id,
                    active=False,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_service": "ID-4",
            "register_new_service_offering": "ID-4",
            "update_service": "ID-4",
            "update_service_offering": "ID-4",
            "update_incident_template": "ID-4",
            "update_incident": "INC-10",
        },
        expect={"add_new_service": {"description": May(Present())}},
    )


FAMILIES = (spare_terminal, lost_tablet, new_substation, office_closes, booking_replaced)
