"""Generates a world from its setting: the organisation, its people, its catalogue, and cases.

Invariant: the same setting gives the same world, and its rows keep the policy, except where a fixture says otherwise.
Everything random comes from one generator with a fixed number.
"""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta

from opsgym_domains.hr.tables import (
    AssignmentRule,
    EscalationRule,
    HrCriteria,
    HrProfile,
    HrService,
    Knowledge,
    Organization,
    Permission,
    Role,
    RolePermission,
    ServiceTemplate,
    Skill,
    Survey,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
    UserGroupMember,
    UserRole,
    UserSkill,
)
from opsgym_suites.hr.seeds.cases import add_cases
from opsgym_suites.hr.seeds.setting import Employee, Setting, Staff
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.world import at

ROLES = ("admin", "manager", "agent", "employee")
RESOURCES = (
    "users", "groups", "hr_services", "hr_cases", "hr_profiles", "topic_categories", "topic_details",
    "service_templates", "hr_criteria", "skills", "knowledge", "surveys", "assignment_rules", "escalation_rules",
    "notifications", "checklists", "survey_instances", "reports", "hr_case_tasks",
)  # fmt: skip
"""Resources in the order of their permissions."""
WRITTEN_BY_AGENTS = frozenset(
    {"hr_cases", "hr_case_tasks", "checklists", "survey_instances", "knowledge", "notifications"}
)
"""Resources that agents write [ID-2]; articles are among them because links to cases are."""
POSITIONS = ("Administration", "Administration", "IT Support", "QA", "Sales", "Software Engineer")
GENDERS = ("Female", "Male", "Female", "Male", "Other")


def generate(setting: Setting) -> World:
    """The world of a setting."""
    world = World(setting.now)
    rng = random.Random(setting.number)  # noqa: S311 - has to be the same every time; nothing here is secret
    world.add(Organization(name=setting.organisation, active=True, **_times(setting, 0)))
    _add_roles(world, setting)
    _add_people(world, setting, rng)
    _add_teams(world, setting)
    _add_catalogue(world, setting)
    _add_rules(world, setting)
    _add_texts(world, setting, rng)
    add_cases(world, setting, rng)
    return world


def _times(setting: Setting, days: float) -> dict[str, datetime]:
    when = setting.founded + timedelta(days=days)
    return {"created_at": when, "updated_at": when}


# --- roles and people ----------------------------------------------------------------------------------------------


def _add_roles(world: World, setting: Setting) -> None:
    times = _times(setting, 1)
    for name in ROLES:
        world.add(Role(name=name, **times))
    for resource in RESOURCES:
        read, write = (world.add(Permission(resource=resource, action=action, **times)) for action in ("read", "crud"))
        for role in world.all(Role):
            may = role.name in {"admin", "manager"} or (role.name == "agent" and resource in WRITTEN_BY_AGENTS)
            world.add(RolePermission(role_id=role.role_id, perm_id=(write if may else read).perm_id, **times))


def _add_people(world: World, setting: Setting, rng: random.Random) -> None:
    taken = {person.name for person in setting.staff} | {employee.name for employee in setting.employees}
    names = [f"{first} {last}" for first in setting.first_names for last in setting.last_names]
    drawn = rng.sample(names, setting.crowd + len(taken)) if setting.crowd else []
    crowd = [name for name in drawn if name not in taken][: setting.crowd]
    for number, person in enumerate(setting.staff):
        _add_user(world, setting, person.name, person.role, number, active=person.active)
    chosen = [*setting.employees, *(_one_of_the_crowd(setting, name, rng) for name in crowd)]
    for number, employee in enumerate(chosen, start=len(setting.staff)):
        _add_user(world, setting, employee.name, "employee", number, active=employee.active)
    for person in setting.staff:
        world.add(_profile(world, setting, _as_employee(setting, person), rng))
    for employee in chosen:
        world.add(_profile(world, setting, employee, rng))


def _one_of_the_crowd(setting: Setting, name: str, rng: random.Random) -> Employee:
    gone = rng.random() < 0.06
    return Employee(
        name,
        rng.choice(setting.managers),
        rng.choice(POSITIONS),
        rng.choice(setting.countries),
        rng.choice(("full-time", "full-time", "full-time", "part-time", "contractor")),
        active=not gone,
        last_day=f"{setting.now.year - 1}-{rng.randint(2, 11):02d}-28" if gone else None,
    )


def _as_employee(setting: Setting, person: Staff) -> Employee:
    position = "Manager" if person.role == "manager" else "HR"
    head = next(one.name for one in setting.staff if one.role == "manager")
    return Employee(
        person.name,
        head if person.name != head else "",
        position,
        setting.countries[0],
        active=person.active,
        last_day=None if person.active else f"{setting.now.year - 1}-11-30",
    )


def _add_user(world: World, setting: Setting, name: str, role: str, number: int, *, active: bool) -> None:
    first, _, last = name.partition(" ")
    address = f"{first}.{last}".lower().replace(" ", "")
    times = _times(setting, 3 + number)
    user = world.add(
        User(
            first_name=first,
            last_name=last,
            email=f"{address}@{setting.domain}",
            phone=f"{setting.phone} {1000 + 7 * number}",
            role=role,
            active=active,
            org_id=1,
            static_token=f"hr-{address.replace('.', '-')}",
            **times,
        )
    )
    role_id = world.one(Role, name=role).role_id
    world.add(UserRole(user_id=user.user_id, role_id=role_id, org_id=1, **times))


def _profile(world: World, setting: Setting, person: Employee, rng: random.Random) -> HrProfile:
    user = world.user(person.name)
    first, last = user.first_name.lower(), user.last_name.lower().replace(" ", "")
    number = world.draw_number(HrProfile)
    begins = setting.founded.replace(hour=0, minute=0) - timedelta(days=rng.randint(30, 3000))
    return HrProfile(
        number=f"HR-{number}",
        gender=rng.choice(GENDERS),
        user_id=user.user_id,
        personal_email=f"{first}.{last}@{setting.private}",
        marital_status=rng.choice(("Single", "Married", "Divorced")),
        type=person.type,
        dob=datetime(rng.randint(1962, 2001), rng.randint(1, 12), rng.randint(1, 28)),  # noqa: DTZ001 - a day
        nationality=person.country,
        employment_start_date=begins,
        employment_end_date=None if person.last_day is None else at(f"{person.last_day} 00:00"),
        manager=world.user(person.manager).user_id if person.manager else None,
        location_type=rng.choice(("Hotdesk", "Office Based", "Office Based", "Remote")),
        national_tax_id=f"TAX-001-{100 + user.user_id * 3}",
        position=person.position,
        org_id=1,
        created_at=user.created_at,
        updated_at=user.updated_at,
    )


# --- teams, catalogue, rules ---------------------------------------------------------------------------------------


def _add_teams(world: World, setting: Setting) -> None:
    for number, team in enumerate(setting.teams):
        times = _times(setting, 210 + number)
        group = world.add(UserGroup(name=team.name, type="Service Desk", active=team.active, org_id=1, **times))
        for name in team.members:
            user = world.user(name)
            world.add(UserGroupMember(group_id=group.group_id, user_id=user.user_id, org_id=1, **times))
    for team in setting.teams:
        if team.escalates_to is not None:
            one, other = world.team(team.name).group_id, world.team(team.escalates_to).group_id
            world.add(EscalationRule(escalate_from=one, escalate_to=other, org_id=1, **_times(setting, 230)))
    for number, (name, active) in enumerate(setting.skills):
        world.add(Skill(name=name, active=active, org_id=1, **_times(setting, 231 + number)))
    for number, person in enumerate(setting.staff):
        for name in person.skills:
            skill, owner = world.skill(name).skill_id, world.user(person.name).user_id
            world.add(UserSkill(skill=skill, user=owner, org_id=1, **_times(setting, 245 + number)))


def _add_catalogue(world: World, setting: Setting) -> None:
    for number, (name, centre) in enumerate(setting.categories):
        times = _times(setting, 280 + number)
        world.add(TopicCategory(name=name, active=True, coe_type=centre, org_id=1, **times))
    for number, one in enumerate(setting.criteria):
        world.add(
            HrCriteria(
                name=one.name,
                type=one.type,
                active=one.active,
                user_group=None if one.team is None else world.team(one.team).group_id,
                users=_ids(world, one.users),
                org_id=1,
                **_times(setting, 290 + number),
            )
        )
    for number, service in enumerate(setting.services):
        times = _times(setting, 300 + number)
        category = world.one(TopicCategory, name=service.category)
        topic = None
        if service.topic is not None:
            topic = world.add(
                TopicDetail(
                    active=True,
                    name=service.topic,
                    topic_category=category.topic_category_id,
                    org_id=1,
                    **times,
                )
            )
        preset = {"short_description": service.name, "category": service.category.lower()}
        template = world.add(
            ServiceTemplate(
                name=f"{service.name} template",
                change_request_values=json.dumps(preset),
                active=service.active,
                coe_type=category.coe_type,
                org_id=1,
                **times,
            )
        )
        world.add(
            HrService(
                service_name=service.name,
                fulfillment_type="manual",
                topic_detail=None if topic is None else topic.topic_detail_id,
                service_template=template.service_template_id,
                hr_criteria=None if service.criteria is None else world.criteria(service.criteria).hr_criteria_id,
                active=service.active,
                org_id=1,
                **times,
            )
        )


def _add_rules(world: World, setting: Setting) -> None:
    for number, rule in enumerate(setting.rules):
        world.add(
            AssignmentRule(
                name=rule.name,
                based_on_skills=None if rule.skill is None else json.dumps([world.skill(rule.skill).skill_id]),
                based_on_country=rule.country,
                based_on_priority=rule.priority,
                active=rule.active,
                user_group=None if rule.team is None else world.team(rule.team).group_id,
                users=_ids(world, rule.users),
                org_id=1,
                **_times(setting, 330 + number),
            )
        )


def _ids(world: World, names: tuple[str, ...]) -> str | None:
    """A list of users as the tables hold it."""
    return json.dumps([world.user(name).user_id for name in names]) if names else None


def _add_texts(world: World, setting: Setting, rng: random.Random) -> None:
    writers = [one.name for one in setting.staff if one.role != "employee" and one.active]
    for number, article in enumerate(setting.articles):
        world.add(
            Knowledge(
                kb_number=f"KB-{world.draw_number(Knowledge)}",
                title=article.title,
                body=article.body,
                state=article.state,
                visibility=article.visibility,
                owner_id=world.user(rng.choice(writers)).user_id,
                org_id=1,
                **_times(setting, 350 + number),
            )
        )
    for number, questions in enumerate(setting.surveys):
        columns = {f"question_{place}": text for place, text in enumerate(questions, start=1)}
        world.add(Survey(**columns, org_id=1, **_times(setting, 370 + number)))
