"""Users, locations, devices, services and SLA definitions: created, replaced, moved and retired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from opsgym_api.tasks.answer_patterns import all_of, apart, number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import (
    ConfigurationItem,
    IncidentSla,
    Location,
    Service,
    ServiceOffering,
    User,
    UserGroup,
)
from opsgym_suites.itsm.calls import find_team, find_user, numbers, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import answer_says


def _change_item(item: ConfigurationItem, **fields: Any) -> ToolCall:
    return call("update_configuration_item", configuration_item_id=item.configuration_item_id, **fields)


def _find_place(place: Location) -> ToolCall:
    return call("find_location_by_given_name", name=place.name)


# --- people --------------------------------------------------------------------------------------------------------


def newcomers(world: World) -> Iterator[Draft]:
    """An employee starts or comes back, and needs more than an account."""
    yield _new_team(world)
    yield _new_boutique(world)
    yield _comes_back(world)


def _account(first: str, last: str, domain: str, phone: str, role: str, place: str) -> ToolCall:
    return call(
        "add_new_user",
        first_name=first,
        last_name=last,
        email=f"{first}.{last}@{domain}".lower(),
        phone=phone,
        role=role,
        active=True,
        location_id=place,
    )


def _new_team(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, manager, old_hand = map(records.person, ("Sigrid Aune", "Maren Toft", "Karim Nasser"))
    place, domain = records.named(Location, "Airfreight Office"), actor.email.partition("@")[2]
    hired = (("Elin", "Varg", "+46-031-555-0901"), ("Noor", "Rahimi", "+46-031-555-0902"))
    keys, group = [world.next_id(User, ahead) for ahead in range(2)], world.next_id(UserGroup)
    draft = Draft(
        slug="onboard-cold-chain-team",
        actor=actor,
        prompt=(
            "Please set up the team Cold Chain Support, an IT support group that Maren Toft manages. Elin Varg "
            "(phone +46-031-555-0901) and Noor Rahimi (+46-031-555-0902) start for it today as agents at the "
            "Airfreight Office, and Karim Nasser joins them besides what he does already. The two new ones get a "
            "laptop each, cost 1240, in use: Laptop EV with serial number NB-19001 for Elin, Laptop NR with NB-19002 "
            "for Noor."
        ),
        plan=(
            "Look up Sigrid Aune (an admin), Maren Toft, Karim Nasser and the Airfreight Office.",
            "Make sure that the group and the addresses are not taken.",
            "Create both users, the group, and three memberships; Maren only manages (USR-1, USR-2).",
            "Register a laptop for each of the two, at their site.",
        ),
        gold=(
            find_user(actor),
            find_user(manager),
            find_user(old_hand),
            _find_place(place),
            call("list_user_groups", name="Cold Chain"),
            *(call("list_users", email=f"{first}.{last}@{domain}".lower()) for first, last, _phone in hired),
            *(_account(first, last, domain, phone, "agent", place.location_id) for first, last, phone in hired),
            call("add_new_user_group", name="Cold Chain Support", type="IT Support", manager_id=manager.user_id),
            *(call("add_new_group_member", group_id=group, user_id=key) for key in (*keys, old_hand.user_id)),
            *(
                call(
                    "register_configuration_item",
                    name=name,
                    serial_number=serial,
                    owner_id=key,
                    location_id=place.location_id,
                    status="in_use",
                    cost=1240,
                )
                for name, serial, key in zip(("Laptop EV", "Laptop NR"), ("NB-19001", "NB-19002"), keys, strict=True)
            ),
        ),
        answer="Cold Chain Support has Elin Varg, Noor Rahimi and Karim Nasser; both new colleagues have a laptop.",
        verifiers=(),
        tools=("find_group_by_name", "find_configuration_items", "update_user_group", "add_location"),
        mistakes={
            "makes the manager a member": (call("add_new_group_member", group_id=group, user_id=manager.user_id),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_user": "USR-1",
            "add_new_user_group": "USR-2",
            "add_new_group_member": "USR-2",
            "register_configuration_item": "ID-3",
        },
    )


def _new_boutique(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, team, domain = records.person("Camille Roche"), records.team("Boutique Support"), "mirelle-botanics.example"
    place, lead = world.next_id(Location), world.next_id(User)
    draft = Draft(
        slug="open-boutique-nantes",
        actor=actor,
        prompt=(
            "We open a shop: Boutique Nantes, plot number 4, street Quai des Herbes, Nantes, France. It has two "
            "people, both starting "
            "today: Maelle Brun, phone +33-047-555-0911, as agent and member of Boutique Support, and Yann Le-Goff, "
            "phone +33-047-555-0912, who only reports incidents. Its tills, Boutique till 21 (serial number MB-TIL-21, "
            "cost 1490) and Boutique till 22 (MB-TIL-22, 1490), are in stock there until the opening, in Maelle's name."
        ),
        plan=(
            "Look up Camille Roche (an admin) and Boutique Support; make sure that there is no such site yet.",
            "Add the location.",
            "Create both users at the new location: first.last at the company's domain (USR-1).",
            "Add Maelle to the group.",
            "Register both tills: in stock, at the new location, owned by Maelle.",
        ),
        gold=(
            find_user(actor),
            find_team(team),
            call("find_locations", city="Nantes"),
            call("list_users", email=f"maelle.brun@{domain}"),
            call("list_users", email=f"yann.le-goff@{domain}"),
            call(
                "add_location",
                name="Boutique Nantes",
                plot_no="4",
                street="Quai des Herbes",
                city="Nantes",
                country="France",
                active=True,
            ),
            _account("Maelle", "Brun", domain, "+33-047-555-0911", "agent", place),
            _account("Yann", "Le-Goff", domain, "+33-047-555-0912", "reporter", place),
            call("add_new_group_member", group_id=team.group_id, user_id=lead),
            *(
                call(
                    "register_configuration_item",
                    name=f"Boutique till {number}",
                    serial_number=f"MB-TIL-{number}",
                    owner_id=lead,
                    location_id=place,
                    status="in_stock",
                    cost=1490,
                )
                for number in (21, 22)
            ),
        ),
        answer="Boutique Nantes is there, with Maelle Brun (also in Boutique Support), Yann Le-Goff and two tills.",
        verifiers=(),
        tools=("find_location_by_given_name", "list_user_groups", "list_group_members", "find_configuration_items"),
        mistakes={
            "adds the reporter to the group as well": (
                call("add_new_group_member", group_id=team.group_id, user_id=world.next_id(User, ahead=1)),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_location": "ID-3",
            "add_new_user": "USR-1",
            "add_new_group_member": "USR-2",
            "register_configuration_item": "ID-3",
        },
    )


def _comes_back(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, back, team = records.person("Maren Toft"), records.person("Rune Falk"), records.team("Quay Field Team")
    place, phone = records.named(Location, "Harbour Terminal West"), "+46-031-555-0933"
    (laptop,) = world.all(ConfigurationItem, owner_id=back.user_id)
    old = world.all(ConfigurationItem, org_id=records.org_id, name="Weighbridge terminal 2")[0]
    draft = Draft(
        slug="colleague-comes-back",
        actor=actor,
        prompt=(
            "Rune Falk is back from his year abroad. His old account should work again, with the new phone number "
            f"{phone}, and he belongs to the Quay Field Team now. His laptop was never collected: it goes into "
            "maintenance for a check. Weighbridge terminal 2 is his from now on, and he has taken it along to where he "
            "works."
        ),
        plan=(
            "Look up Maren Toft and Rune Falk; his account exists and is inactive.",
            "Activate it with the new phone number; do not create another one.",
            "Add him to the Quay Field Team.",
            "Set his laptop to maintenance.",
            "Make him the owner of weighbridge terminal 2 and move it to his location; its status stays.",
        ),
        gold=(
            find_user(actor),
            find_user(back),
            find_team(team),
            call("list_group_members", group_id=team.group_id),
            call("find_configuration_items", owner_id=back.user_id),
            call("find_configuration_item_by_serial_number", serial_number=old.serial_number),
            call("get_location_by_id", location_id=place.location_id),
            call("update_user_details", user_id=back.user_id, active=True, phone=phone),
            call("add_new_group_member", group_id=team.group_id, user_id=back.user_id),
            _change_item(laptop, status="maintenance"),
            _change_item(old, owner_id=back.user_id, location_id=place.location_id),
        ),
        answer="Rune Falk's account works again, he is in the Quay Field Team and has weighbridge terminal 2.",
        verifiers=(),
        tools=("add_new_user", "find_location_by_given_name", "register_configuration_item"),
        mistakes={
            "creates a second account": (
                call(
                    "add_new_user",
                    first_name="Rune",
                    last_name="Falk",
                    email="rune.falk2@halden-freight.example",
                    user_name="rune.falk2",
                    phone="+46-031-555-0934",
                    role="agent",
                    active=True,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_user_details": "USR-1",
            "add_new_group_member": "USR-2",
            "update_configuration_item": "ID-4",
        },
    )


# --- devices and sites ---------------------------------------------------------------------------------------------


def replaced_devices(world: World) -> Iterator[Draft]:
    """A device is replaced, and open reports about the old one follow."""
    yield _replaced(
        world,
        company="Halden Freight",
        key="weighbridge-zero",
        reports=4,
        actor="Beatriz Fontes",
        old="Weighbridge terminal 1",
        new=("Weighbridge terminal 3", "WB-2003", 3350),
        slug="replace-weighbridge-terminal",
        prompt=(
            "Weighbridge terminal 1 was replaced this morning. The new one is called Weighbridge terminal 3, serial "
            "number WB-2003, cost 3350; owner and place are those of the old one, which is disposed of. The "
            "incidents about the old terminal that are still open will be checked on the new one: they should be "
            "about it, and name it as affected in place of the old one."
        ),
    )
    yield _replaced(
        world,
        company="Mirelle Botanics",
        key="label-shift",
        reports=4,
        actor="Ines Moreau",
        old="Batch label printer",
        new=("Batch label printer 2", "MB-LAB-03", 1260),
        slug="replace-label-printer",
        retired=True,
        prompt=(
            "The supplier has sent us another label printer: 'Batch label printer 2', MB-LAB-03, 1260 euros. "
            "Register it in use, with the owner and at the site of the Batch label printer, and retire that one. "
            "Please also switch our open incidents from the old printer to the new, both what they are about and "
            "what they list as affected."
        ),
    )


def _replaced(
    world: World,
    *,
    company: str,
    key: str,
    reports: int,
    actor: str,
    old: str,
    new: tuple[str, str, int],
    slug: str,
    prompt: str,
    retired: bool = False,
) -> Draft:
    records, device = CompanyRecords(world, company), world.one(ConfigurationItem, name=old)
    acting, key_of_new = records.person(actor), world.next_id(ConfigurationItem)
    cases = records.open_incidents(configuration_item=device.configuration_item_id)
    if len(cases) != reports:
        raise LookupError(f"{len(cases)} open incidents are about {old}; {key} has {reports} reports")
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor} and the device {old}.",
            "Register the new device with the old one's owner and location.",
            f"Set the old one to {'retired' if retired else 'disposed'}.",
            "List the incidents about the old one; keep the open ones.",
            "In each, name the new device, link it as affected, and remove the link to the old one.",
        ),
        gold=(
            find_user(acting),
            call("find_configuration_item_by_serial_number", serial_number=device.serial_number),
            call("list_incidents", configuration_item=device.configuration_item_id),
            call("list_incident_affected_cis", configuration_item=device.configuration_item_id),
            call(
                "register_configuration_item",
                name=new[0],
                serial_number=new[1],
                owner_id=device.owner_id,
                location_id=device.location_id,
                status="in_use",
                cost=new[2],
            ),
            _change_item(device, status="retired" if retired else "disposed"),
            *(update_incident(incident, configuration_item=key_of_new) for incident in cases),
            *(
                call("link_affected_ci_to_incident", configuration_item=key_of_new, incident_id=incident.incident_id)
                for incident in cases
            ),
            *(
                call(
                    "remove_affected_ci_from_incident",
                    configuration_item=device.configuration_item_id,
                    incident_id=incident.incident_id,
                )
                for incident in cases
            ),
        ),
        answer=f"{new[0]} is registered; {numbers(cases)} are about it now.",
        verifiers=(),
        tools=("find_configuration_items", "find_incident_by_number", "get_location_by_id"),
        mistakes={
            "gives the old device back": (_change_item(device, owner_id=acting.user_id),),
            "lists another device as well": (
                call(
                    "link_affected_ci_to_incident",
                    configuration_item=world.all(ConfigurationItem, org_id=records.org_id)[0].configuration_item_id,
                    incident_id=cases[0].incident_id,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "register_configuration_item": "ID-3",
            "update_configuration_item": "ID-3",
            "update_incident": "INC-10, ID-4",
            "link_affected_ci_to_incident": "INC-10",
            "remove_affected_ci_from_incident": "INC-10",
        },
    )


def moves(world: World) -> Iterator[Draft]:
    """A group or its devices move to another location."""
    yield _team_moves(world)
    yield _controllers_move(world)


def _team_moves(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, team, place = records.person("Maren Toft"), records.team("Quay Field Team"), world.next_id(Location)
    people = records.members(team)
    laptops = [
        item
        for user in people
        for item in world.all(ConfigurationItem, owner_id=user.user_id)
        if item.name.startswith("Laptop")
    ]
    draft = Draft(
        slug="field-team-moves",
        actor=actor,
        prompt=(
            "The Quay Field Team gets a workshop of its own: Quay Workshop, plot number 2, street Lotsgatan, "
            "Gothenburg, Sweden. Add the "
            "site and move everybody in the team there, with the laptops in their names. Their other devices stay "
            "where they stand."
        ),
        plan=(
            "Look up Maren Toft, the team, its members, and make sure that there is no such site.",
            "Add the location.",
            "Look up each member's devices; keep the laptops.",
            "Set the location of each member and of each laptop.",
        ),
        gold=(
            find_user(actor),
            find_team(team),
            call("list_group_members", group_id=team.group_id),
            call("find_locations", name="Quay Workshop"),
            *(call("find_configuration_items", owner_id=user.user_id) for user in people),
            call(
                "add_location",
                name="Quay Workshop",
                plot_no="2",
                street="Lotsgatan",
                city="Gothenburg",
                country="Sweden",
                active=True,
            ),
            *(call("update_user_details", user_id=user.user_id, location_id=place) for user in people),
            *(_change_item(item, location_id=place) for item in laptops),
        ),
        answer=f"Quay Workshop is there, with {len(people)} people and {len(laptops)} laptops.",
        verifiers=(),
        tools=("get_user", "find_location_by_given_name", "update_location", "update_user_group"),
        mistakes={
            "moves another device": (
                _change_item(world.one(ConfigurationItem, name="Crane gateway west"), location_id=place),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"add_location": "ID-3", "update_user_details": "ID-4", "update_configuration_item": "ID-4"},
    )


def _controllers_move(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, old = records.person("Ines Moreau"), records.named(Location, "Garden Works South")
    keeper, place = records.person("Jana Novak"), world.next_id(Location)
    devices = [records.named(ConfigurationItem, f"Greenhouse controller {number}") for number in (3, 4)]
    draft = Draft(
        slug="greenhouse-controllers-move",
        actor=actor,
        prompt=(
            "Both greenhouse controllers have moved to the Seedling House, plot number 9, street Rue des Serres, "
            "Lyon, France, which is "
            "a site of its own now. Jana Novak looks after them there instead of Oumar Sarr, and both are in use. "
            "Garden Works South should be called Garden Works Storage from today; it stays open."
        ),
        plan=(
            "Look up Ines Moreau, Jana Novak, Oumar Sarr, Garden Works South and the devices in Oumar's name.",
            "Add the location Seedling House.",
            "Move both controllers there, with Jana as owner and in use.",
            "Rename Garden Works South; nothing else about it changes.",
        ),
        gold=(
            find_user(actor),
            find_user(keeper),
            find_user(records.person("Oumar Sarr")),
            _find_place(old),
            call("find_configuration_items", owner_id=records.person("Oumar Sarr").user_id),
            call(
                "add_location",
                name="Seedling House",
                plot_no="9",
                street="Rue des Serres",
                city="Lyon",
                country="France",
                active=True,
            ),
            _change_item(devices[0], location_id=place, owner_id=keeper.user_id),
            _change_item(devices[1], location_id=place, owner_id=keeper.user_id, status="in_use"),
            call("update_location", location_id=old.location_id, name="Garden Works Storage"),
        ),
        answer="Both controllers are Jana Novak's, at the Seedling House; Garden Works South is Garden Works Storage.",
        verifiers=(),
        tools=("find_locations", "get_location_by_id", "register_configuration_item", "update_user_details"),
        mistakes={"closes the old site": (call("update_location", location_id=old.location_id, active=False),)},
    )
    return with_verifiers(
        world,
        draft,
        rules={"add_location": "ID-3", "update_configuration_item": "ID-4", "update_location": "ID-4"},
    )


# --- services ------------------------------------------------------------------------------------------------------


def catalogue(world: World) -> Iterator[Draft]:
    """Services are added, retired and get new owners, with their offerings."""
    yield _retired_service(world)
    yield _new_service(world)
    yield _new_owner(world)


def _retired_service(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, heir = records.person("Hugo Lambert"), records.person("Elise Garnier")
    line, group = records.named(Service, "Loyalty Cards"), records.team("Platform and Data")
    offerings = world.all(ServiceOffering, business_service=line.service_id)
    cases = records.open_incidents(service=line.service_id)
    note = "Loyalty Cards ends, handled as a goodwill case."
    draft = Draft(
        slug="retire-loyalty-cards",
        actor=actor,
        prompt=(
            "We give up our loyalty cards. Retire the service Loyalty Cards and all of its offerings. What customers "
            "have open about it becomes a goodwill matter: assign every open incident about that service to Elise "
            f"Garnier, with the note '{note}' after whatever is noted. Resolve nothing yet."
        ),
        plan=(
            "Look up Hugo Lambert, Elise Garnier, the service and its offerings.",
            "Retire the service and each offering.",
            "List the incidents about the service; keep the open ones.",
            "Assign each to Elise with the note; new ones become in_progress (INC-5), others keep their status.",
        ),
        gold=(
            find_user(actor),
            find_user(heir),
            call("find_service_by_name", name=line.name),
            call("find_service_offerings", parent=line.service_id),
            call("list_incidents", service=line.service_id),
            call("update_service", service_id=line.service_id, status="retired"),
            *(
                call("update_service_offering", service_offering_id=offering.service_offering_id, status="retired")
                for offering in offerings
            ),
            *(
                update_incident(
                    incident,
                    assigned_to=heir.user_id,
                    worknotes=f"{incident.worknotes} {note}" if incident.worknotes else note,
                    **({"status": "in_progress"} if incident.status == "new" else {}),
                )
                for incident in cases
            ),
        ),
        answer=f"Loyalty Cards and its {len(offerings)} offerings are retired; Elise Garnier has {numbers(cases)}.",
        verifiers=(),
        tools=("find_services", "find_service_offering_by_name", "get_incident_templates", "list_users"),
        mistakes={
            "moves one to another group": (
                update_incident(cases[0], assignment_group=records.team("Shop Applications").group_id),
            )
            if cases[0].assignment_group == group.group_id
            else (update_incident(cases[0], assignment_group=group.group_id),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_service": "ID-3", "update_service_offering": "ID-3", "update_incident": "INC-5"},
    )


def _new_service(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, owner, caller = map(records.person, ("Sigrid Aune", "Maren Toft", "Liv Bakke"))
    service, offering = world.next_id(Service), world.next_id(ServiceOffering)
    draft = Draft(
        slug="introduce-cold-chain-monitoring",
        actor=actor,
        prompt=(
            "From today we offer Cold Chain Monitoring, a business service for production that is critical to us and "
            "operational; Maren Toft owns it. It has two offerings with the same traits and owner: 'Cold Chain "
            "Monitoring - Air' (temperatures in airfreight) and 'Cold Chain Monitoring - Quay' (temperatures on the "
            "quay). For incidents add the template 'Cold alarm': hardware, by phone, Liv Bakke as caller, summary "
            "'Temperature out of range', impact medium, urgency high, for the air offering."
        ),
        plan=(
            "Look up Sigrid Aune (an admin), Maren Toft and Liv Bakke; make sure that the service does not exist.",
            "Add the service with its traits, and both offerings.",
            "Make the template with service, offering and the priority that follows from the matrix (INC-1).",
        ),
        gold=(
            find_user(actor),
            find_user(owner),
            find_user(caller),
            call("find_services", name="Cold Chain"),
            call(
                "add_new_service",
                name="Cold Chain Monitoring",
                owned_by=owner.user_id,
                used_for="production",
                status="operational",
                service_classification="business",
                business_criticality="critical",
            ),
            *(
                call(
                    "register_new_service_offering",
                    name=f"Cold Chain Monitoring - {name}",
                    owned_by=owner.user_id,
                    short_description=short,
                    parent=service,
                    used_for="production",
                    status="operational",
                    service_classification="business",
                    business_criticality="critical",
                )
                for name, short in (("Air", "Temperatures in airfreight"), ("Quay", "Temperatures on the quay"))
            ),
            call(
                "create_new_incident_template",
                name="Cold alarm",
                change_request_values={
                    "caller_id": caller.user_id,
                    "short_description": "Temperature out of range",
                    "channel": "phone",
                    "category": "hardware",
                    "impact": "medium",
                    "urgency": "high",
                    "priority": "high",
                    "service": service,
                    "service_offering": offering,
                },
            ),
        ),
        answer="Cold Chain Monitoring has two offerings and the template Cold alarm, whose priority is high.",
        verifiers=(),
        tools=("find_service_by_name", "find_service_offerings", "get_incident_template_by_name", "update_service"),
        mistakes={
            "owns a third offering": (
                call(
                    "register_new_service_offering",
                    name="Cold Chain Monitoring - Rail",
                    owned_by=owner.user_id,
                    short_description="Temperatures on rails",
                    parent=service,
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_service": "ID-3",
            "register_new_service_offering": "ID-3",
            "create_new_incident_template": "INC-1",
        },
    )


def _new_owner(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, owner, heir = map(records.person, ("Camille Roche", "Hugo Lambert", "Ines Moreau"))
    services = world.all(Service, owned_by=owner.user_id, service_classification="application")
    offerings = [row for line in services for row in world.all(ServiceOffering, business_service=line.service_id)]
    draft = Draft(
        slug="applications-change-hands",
        actor=actor,
        prompt=(
            "Ines Moreau becomes responsible for applications. Every service of Hugo Lambert's that is classified as "
            "an application goes to her, and the offerings of those services with it. His business services stay "
            "his, and so does everything else. Which services were they?"
        ),
        plan=(
            "Look up Camille Roche (an admin), Hugo Lambert and Ines Moreau.",
            "List Hugo's services; keep those classified as application.",
            "List the offerings of each.",
            "Make Ines the owner of each service and of each offering; name the services.",
        ),
        gold=(
            find_user(actor),
            find_user(owner),
            find_user(heir),
            call("find_services", owned_by=owner.user_id, service_classification="application"),
            *(call("find_service_offerings", parent=line.service_id) for line in services),
            *(call("update_service", service_id=line.service_id, owned_by=heir.user_id) for line in services),
            *(
                call("update_service_offering", service_offering_id=row.service_offering_id, owned_by=heir.user_id)
                for row in offerings
            ),
        ),
        answer=f"Ines Moreau owns {', '.join(line.name for line in services)} and their offerings now.",
        verifiers=(
            answer_says(
                "answer_names_the_services",
                "The answer names each service [REF-3]",
                all_of(line.name for line in services),
            ),
        ),
        tools=("find_service_by_name", "find_service_offering_by_name", "update_user_details"),
        mistakes={
            "hands the webshop over as well": (
                call("update_service", service_id=records.named(Service, "Webshop").service_id, owned_by=heir.user_id),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_service": "ID-3, ID-4", "update_service_offering": "ID-3, ID-4"})


# --- SLA definitions -----------------------------------------------------------------------------------------------


def sla_definitions(world: World) -> Iterator[Draft]:
    """SLA definitions change, and running SLAs with them."""
    yield _longer_sla(world)
    yield _new_contract(world)


def _longer_sla(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, definition, minutes = records.person("Oskar Lindqvist"), records.sla_definition("low", "resolution"), 5760
    running = world.all(IncidentSla, sla_def_id=definition.sla_def_id, stage="in_progress", has_breached=False)
    everything = world.all(IncidentSla, sla_def_id=definition.sla_def_id, stage="breached")
    draft = Draft(
        slug="longer-low-resolution",
        actor=actor,
        prompt=(
            "The new contract gives us 5760 minutes to resolve low-priority incidents. Change our definition "
            "accordingly, and adjust the clocks that are still running under it and are not broken: they break 5760 "
            "minutes after they started. Clocks that are paused, finished or broken keep what they have. How many "
            "did you adjust?"
        ),
        plan=(
            "Look up Oskar Lindqvist and the active resolution SLA for low of Halden Freight.",
            "Set its target to 5760 minutes.",
            "List the incident SLAs of this definition; keep those in progress that are not broken.",
            "Give each the breach time 5760 minutes after its start; stage and breach stay (SLA-2).",
        ),
        gold=(
            find_user(actor),
            call("find_sla_definitions", applies_to_priority="low", metric="resolution", active=True),
            call("find_incident_slas", sla_def_id=definition.sla_def_id, stage="in_progress"),
            call("update_sla_definition", sla_def_id=definition.sla_def_id, target_mins=minutes),
            *(
                call(
                    "update_incident_sla_details",
                    incident_sla_id=sla.incident_sla_id,
                    breach_time=(sla.start_time + timedelta(minutes=minutes)).isoformat(),
                )
                for sla in running
            ),
        ),
        answer=f"The target is 5760 minutes now, and {len(running)} running clocks are adjusted.",
        verifiers=(
            answer_says(
                "answer_has_the_number", "The answer says how many [REF-3]", number(len(running)) + r"(?! ?min)"
            ),
        ),
        tools=("find_sla_definition_by_name", "list_incidents", "add_new_sla_definition", "link_new_incident_sla"),
        mistakes={
            "moves a broken clock": (
                call(
                    "update_incident_sla_details",
                    incident_sla_id=everything[0].incident_sla_id,
                    breach_time=(everything[0].start_time + timedelta(minutes=minutes)).isoformat(),
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_sla_definition": "ID-3", "update_incident_sla_details": "SLA-2"})


def _new_contract(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor = records.person("Camille Roche")
    old = [records.sla_definition("critical", metric) for metric in ("response", "resolution")]
    targets = (("response", 8), ("resolution", 150))
    draft = Draft(
        slug="contract-for-critical-2027",
        actor=actor,
        prompt=(
            "From January critical incidents have other SLAs. Prepare them, not active yet: 'Critical response "
            "2027', 8 minutes, and 'Critical resolution 2027', 150 minutes, both 24x7 for priority critical; the "
            "clock of the resolution pauses while we wait, the other one does not. The definitions in force today "
            "stay as they are. What are they, in minutes?"
        ),
        plan=(
            "Look up Camille Roche (an admin) and the definitions for critical; keep Mirelle's.",
            "Add both definitions, inactive.",
            "Name the minutes of the two active ones.",
        ),
        gold=(
            find_user(actor),
            call("find_sla_definitions", applies_to_priority="critical"),
            *(
                call(
                    "add_new_sla_definition",
                    name=f"Critical {metric} 2027",
                    metric=metric,
                    target_mins=minutes,
                    pause_on_pending=metric == "resolution",
                    active=False,
                    applies_to_priority="critical",
                    schedule="24x7",
                )
                for metric, minutes in targets
            ),
        ),
        answer=f"Both are prepared. Today: response {old[0].target_mins}, resolution {old[1].target_mins} minutes.",
        verifiers=(
            answer_says(
                "answer_has_todays_minutes",
                "The answer has the minutes of the company's own active definitions [ID-2, SLA-1]",
                all_of(apart((number(old[0].target_mins), "response"), (number(old[1].target_mins), "resolution"))),
            ),
        ),
        tools=("find_sla_definition_by_name", "update_sla_definition", "total_sum_of_target_mins_per_priority"),
        mistakes={
            "switches today's off": (call("update_sla_definition", sla_def_id=old[0].sla_def_id, active=False),),
        },
    )
    return with_verifiers(world, draft, rules={"add_new_sla_definition": "ID-3"})
