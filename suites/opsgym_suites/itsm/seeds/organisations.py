"""Adds a company: users, groups, services, devices, SLA definitions, articles; and the roles of all companies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import (
    ConfigurationItem,
    IncidentTemplate,
    Knowledge,
    Location,
    Organization,
    Permission,
    Role,
    RolePermission,
    Service,
    ServiceOffering,
    SlaDefinition,
    User,
    UserGroup,
    UserGroupMember,
    UserRole,
)
from opsgym_suites.itsm.seeds.companies import Company, Device, Person, ServiceLine, Site, Team
from opsgym_suites.itsm.seeds.routine_records import Article, Routine, Template
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.kit.world import at

FOUNDED = at("01-05 09:00")
"""When the service desk opened: rows other than records of work date from then."""
ROLES = ("admin", "manager", "agent", "reporter")
RESOURCES = (
    "users", "groups", "services", "service_offerings", "configuration_items", "incident_templates", "problems",
    "changes", "notifications", "notification_analysis", "sla_definitions", "sla_metrics", "incidents", "knowledge",
    "locations", "change_mappings", "incident_affected_cis", "incident_slas",
)  # fmt: skip
AGENT_WRITES = frozenset(
    {
        "incidents", "problems", "changes", "knowledge", "notifications", "change_mappings", "incident_affected_cis",
        "incident_slas",
    }
)  # fmt: skip
"""What agents may write, as `policy.md` says in ID-3."""


def add_roles(world: World) -> None:
    """Adds the four roles with their permissions: to read, or to read and write, each kind of record."""
    for number, name in enumerate(ROLES, start=1):
        world.add(Role(role_id=f"ROLE_{number:03d}", name=name))
    kinds = [(resource, action) for resource in RESOURCES for action in ("read", "crud")]
    for number, (resource, action) in enumerate(kinds, start=1):
        world.add(Permission(perm_id=f"PERM_{number:03d}", resource=resource, action=action))
    for role in world.all(Role):
        for permission in world.all(Permission):
            if permission.action == _granted(role.name, permission.resource):
                world.add(RolePermission(role_id=role.role_id, perm_id=permission.perm_id))


def _granted(role: str, resource: str) -> str:
    everything = role in {"admin", "manager"} or (role == "agent" and resource in AGENT_WRITES)
    return "crud" if everything else "read"


def add_company(world: World, company: Company, colleagues: Sequence[Person], routine: Routine) -> None:
    """Adds a company with its employees and further colleagues, its articles and its templates."""
    org_id = world.next_id(Organization)
    world.add(Organization(org_id=org_id, name=company.name, active=True, created_at=FOUNDED, updated_at=FOUNDED))
    for site in company.sites:
        world.add(_location(site, org_id))
    for person in [*company.people, *colleagues]:
        _add_person(world, person, company, org_id)
    for team in company.teams:
        _add_team(world, team, company, org_id)
    for line in company.services:
        _add_service(world, line, org_id)
    for device in company.devices:
        world.add(_item(world, device, org_id))
    _add_sla_definitions(world, company, org_id)
    for article in (article for article in routine.articles if article.company == company.name):
        world.add(_knowledge(world, article, org_id))
    for template in (template for template in routine.templates if template.company == company.name):
        world.add(_template(world, template, org_id))


def _location(site: Site, org_id: str) -> Location:
    return Location(
        name=site.name,
        org_id=org_id,
        plot_no=site.plot_no,
        street=site.street,
        city=site.city,
        country=site.country,
        active=True,
        created_on=FOUNDED,
        updated_on=FOUNDED,
    )


def _add_person(world: World, person: Person, company: Company, org_id: str) -> None:
    number = len(world.all(User)) + 1
    joined = FOUNDED + timedelta(days=number, hours=number % 7)
    login = f"{person.first_name}.{person.last_name}".lower()
    user = world.add(
        User(
            user_name=login,
            first_name=person.first_name,
            last_name=person.last_name,
            email=f"{login}@{company.domain}",
            phone=f"{company.phone}-555-{100 + number:04d}",
            role=person.role,
            active=person.active,
            static_token=f"{person.role}_token_{login.replace('.', '_')}_{org_id[-3:]}",
            org_id=org_id,
            location_id=world.one(Location, name=person.site, org_id=org_id).location_id,
            created_on=joined,
            updated_on=joined if person.active else at("07-31 17:00"),
        )
    )
    world.add(UserRole(user_id=user.user_id, role_id=world.one(Role, name=person.role).role_id, org_id=org_id))


def _add_team(world: World, team: Team, company: Company, org_id: str) -> None:
    group = world.add(
        UserGroup(
            name=team.name,
            type=team.type,
            active=team.active,
            email=f"{team.name.lower().replace(' ', '-')}@{company.domain}",
            description=team.description,
            manager_id=world.user(team.manager, org_id).user_id,
            org_id=org_id,
            created_on=FOUNDED,
            updated_on=FOUNDED if team.active else at("04-01 08:00"),
        )
    )
    for member in team.members:
        user = world.user(member, org_id)
        world.add(
            UserGroupMember(
                group_id=group.group_id,
                user_id=user.user_id,
                org_id=org_id,
                created_on=user.created_on,
                updated_on=user.created_on,
            )
        )


def _add_service(world: World, line: ServiceLine, org_id: str) -> None:
    common = {
        "owned_by": world.user(line.owner, org_id).user_id,
        "org_id": org_id,
        "used_for": "production",
        "status": line.status,
        "service_classification": line.classification,
        "business_criticality": line.criticality,
        "description": line.description,
        "created_on": FOUNDED,
        "updated_on": FOUNDED,
    }
    service = world.add(Service(name=line.name, **common))
    for name in line.offerings:
        short = f"{line.name} for {name.partition(' - ')[2]}"
        world.add(ServiceOffering(name=name, short_description=short, business_service=service.service_id, **common))


def _item(world: World, device: Device, org_id: str) -> ConfigurationItem:
    return ConfigurationItem(
        name=device.name,
        serial_number=device.serial_number,
        owner_id=world.user(device.owner, org_id).user_id,
        location_id=world.one(Location, name=device.site, org_id=org_id).location_id,
        org_id=org_id,
        status=device.status,
        cost=device.cost,
        created_on=FOUNDED,
        updated_on=FOUNDED,
    )


def _add_sla_definitions(world: World, company: Company, org_id: str) -> None:
    for priority, response, resolution in company.targets:
        world.add(_sla_definition(f"{priority.capitalize()} response", "response", response, priority, org_id))
        world.add(_sla_definition(f"{priority.capitalize()} resolution", "resolution", resolution, priority, org_id))
    # Inactive since spring: an agent that selects definitions by priority alone picks these up too.
    for metric, minutes in (("response", 30), ("resolution", 480)):
        world.add(_sla_definition(f"Critical {metric} 2025", metric, minutes, "critical", org_id, active=False))


def _sla_definition(
    name: str, metric: str, minutes: int, priority: str, org_id: str, *, active: bool = True
) -> SlaDefinition:
    return SlaDefinition(
        name=name,
        metric=metric,
        target_mins=minutes,
        pause_on_pending=metric == "resolution",
        applies_to_priority=priority,
        active=active,
        schedule="24x7" if priority == "critical" else "Weekdays 8-18",
        org_id=org_id,
        created_on=FOUNDED,
        updated_on=FOUNDED if active else at("04-01 08:00"),
    )


def _knowledge(world: World, article: Article, org_id: str) -> Knowledge:
    written = FOUNDED + timedelta(days=29 + 9 * len(world.all(Knowledge)))
    return Knowledge(
        kb_number=f"KB{world.draw_number(Knowledge):07d}",
        title=article.title,
        short_description=article.summary,
        body=article.body,
        state=article.state,
        visibility=article.visibility,
        owner_id=world.user(article.owner, org_id).user_id,
        org_id=org_id,
        created_on=written,
        updated_on=written,
    )


def _template(world: World, template: Template, org_id: str) -> IncidentTemplate:
    service = world.one(Service, name=template.service, org_id=org_id)
    offering = world.all(ServiceOffering, business_service=service.service_id)[0]
    return IncidentTemplate(
        name=template.name,
        active=template.active,
        caller_id=world.user(template.caller, org_id).user_id,
        channel=template.channel,
        short_description=template.summary,
        category=template.category,
        impact=template.impact,
        urgency=template.urgency,
        priority=priority_of(template.impact, template.urgency),
        service=service.service_id,
        service_offering=offering.service_offering_id,
        org_id=org_id,
        created_at=FOUNDED,
        updated_at=FOUNDED,
    )
