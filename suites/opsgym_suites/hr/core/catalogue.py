"""Tasks that change the catalogue and the rules around it: categories, services, groups with their rules, criteria."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import (
    HrCase,
    HrService,
    ServiceTemplate,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
)
from opsgym_suites.hr.calls import (
    find_case,
    find_criteria,
    find_rule,
    find_service,
    find_skill,
    find_team,
    find_user,
    join_team,
    list_cases,
    members_of,
    names_all,
    notify,
    numbers,
    only,
    read_subject,
    read_user,
    skills_of,
    update_case,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_says

# --- a category is divided -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Division:
    """A category of which some topics move to a new one, with the centre of their services' templates."""

    slug: str
    actor: str
    category: str
    topics: tuple[str, ...]
    new: str
    centre: str
    renamed: str | None
    """What the category is called afterwards; None if it becomes inactive."""
    service: tuple[str, str]
    """A service, and what it is called afterwards."""
    prompt: str
    access: Access = Access.PUBLISHED


DIVISIONS: Mapping[str, Sequence[Division]] = {
    "hospital": (
        Division(
            "moves-and-leavers-get-a-category", "Ingrid Solheim", "Joining and leaving", ("Leavers", "Moves"),
            "Changes of place", "Talent Management", "Joining", ("Relocation", "Move to another house"),
            "Please divide the category Joining and leaving. The topics Leavers and Moves go to a new active category "
            "\"Changes of place\" of the centre Talent Management, and the templates of their active services get that "
            "centre as well. What is left is called \"Joining\" from now on, and the service Relocation \"Move to "
            "another house\".",
        ),
        Division(
            "platforms-become-a-digital-office", "Rosalind Keane", "HR platforms", ("Archive", "Portal"),
            "Digital office", "Workforce Administration", None, ("HR portal access", "Access to the portal"),
            "HR platforms comes to an end: all its topics belong to the new active category \"Digital office\", centre "
            "Workforce Administration, and HR platforms becomes inactive. Templates of active services under these "
            "topics take over the new centre, those of inactive ones stay. HR portal access is renamed "
            "\"Access to the portal\".",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Division(
            "farewells-and-postings-get-a-category", "Leopold Adeyemi", "Coming and going", ("Farewells", "Postings"),
            "Other places", "Talent Management", "Coming", ("Posting abroad", "Posting to a yard"),
            "Coming and going is too large. New active category \"Other places\", centre Talent Management; topics "
            "Farewells and Postings move into it, and so does the centre of the templates of their active services. "
            "The old category is called \"Coming\" afterwards. And please rename Posting abroad \"Posting to a yard\".",
        ),
        Division(
            "time-systems-become-hall-systems", "Henrike Vogel", "Time systems", ("Old cards", "Time clocks"),
            "Hall systems", "Workforce Administration", None, ("Time clock fault", "Fault of a clock"),
            "We replace the category Time systems by a new one, \"Hall systems\", active, centre Workforce "
            "Administration. Every topic of the old one changes over, then the old one is set inactive. Active "
            "services there have templates, which get the new centre; the template of an inactive service is left as "
            "it is. Time clock fault will be called \"Fault of a clock\".",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def divisions(world: World, seed: str) -> Iterator[Draft]:
    """Topics move to a new category, and templates of active services get its centre."""
    for scene in DIVISIONS[seed]:
        yield _division(world, scene)


def _division(world: World, scene: Division) -> Draft:
    acting, old = world.user(scene.actor), world.one(TopicCategory, name=scene.category)
    topics = [world.one(TopicDetail, name=name) for name in scene.topics]
    services = [one for topic in topics for one in world.all(HrService, topic_detail=topic.topic_detail_id)]
    templates = {
        one.service_name: world.one(ServiceTemplate, service_template_id=one.service_template) for one in services
    }
    renamed, title = world.service(scene.service[0]), scene.service[1]
    looked = (
        find_user(acting),
        call("get_topic_categories", name=scene.category),
        call("get_topic_details", topic_category=scene.category),
        *(call("find_hr_services", topic_detail=topic.name) for topic in topics),
        *(call("get_service_templates", name=template.name) for template in templates.values()),
    )
    created = call("add_new_topic_category", name=scene.new, coe_type=scene.centre, active=True)
    moved = tuple(
        call("update_topic_detail", topic_detail_id=str(one.topic_detail_id), name=one.name, topic_category=scene.new)
        for one in topics
    )
    given = tuple(_with_centre(templates[one.service_name], scene.centre) for one in services if one.active)
    change = {"name": scene.category, "active": False} if scene.renamed is None else {"name": scene.renamed}
    ended = call("update_topic_category", topic_category_id=str(old.topic_category_id), **change)
    name = call("update_hr_service", hr_service_id=str(renamed.hr_service_id), service_name=title)
    gold = (*looked, created, *moved, *given, ended, name)
    answer = f"{scene.new} exists with {len(topics)} topics; {renamed.service_name} is {title} now."
    others = [row for row in world.all(ServiceTemplate) if row.coe_type != scene.centre and not _is_of(row, given)]
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the category, its topics, the services of the topics, and their templates.",
                "Create the category and move the topics there.",
                "Give the centre to the templates of active services only, then change the old category.",
                "Rename the service.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_category", "The answer names the category [REF-3]", term(scene.new)),),
            tools=("add_new_topic_detail", "delete_hr_service", "get_hr_service_by_name", "update_hr_criteria"),
            access=scene.access,
            mistakes={"changes another template": (_with_centre(others[-1], scene.centre),)},
            negative_trajectories={
                "leaves the templates": NegativeTrajectory(only(gold, *given), answer),
                "leaves the old category": NegativeTrajectory(only(gold, ended), answer),
            },
        ),
    )


def _with_centre(template: ServiceTemplate, centre: str) -> ToolCall:
    return call("update_service_template", service_template_id=str(template.service_template_id), coe_type=centre)


def _is_of(template: ServiceTemplate, changed: Sequence[ToolCall]) -> bool:
    return any(made.arguments["service_template_id"] == str(template.service_template_id) for made in changed)


# --- a service ends --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndedService:
    """A service that leaves the catalogue, while cases of it are open."""

    slug: str
    actor: str
    service: str
    note: str
    prompt: str
    access: Access = Access.PUBLISHED


ENDED_SERVICES: Mapping[str, Sequence[EndedService]] = {
    "hospital": (
        EndedService(
            "parental-leave-goes-to-the-insurer", "Desmond Achebe", "Parental leave", "The insurer takes over",
            "The insurer does Parental leave from today. Please remove the service from the catalogue, and set its "
            "topic and its template to inactive. Cases of it that are ready and on which no one works yet are "
            "cancelled with the note \"The insurer takes over\", and the person of each gets an update. We finish the "
            "others ourselves.",
        ),
    ),
    "works": (
        EndedService(
            "long-absence-goes-to-the-fund", "Marisa Contreras", "Long absence", "The fund takes over",
            "Long absence is done by the health fund now. The service goes out of the catalogue, its topic and its "
            "template become inactive. Its cases that are only ready, not started, get cancelled, noting \"The fund "
            "takes over\", with an update to the person concerned. All other cases stay with us.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def ended_services(world: World, seed: str) -> Iterator[Draft]:
    """A service is removed with topic and template, and those of its cases are cancelled that have not started."""
    for scene in ENDED_SERVICES[seed]:
        yield _ended_service(world, scene)


def _ended_service(world: World, scene: EndedService) -> Draft:
    acting, service = world.user(scene.actor), world.service(scene.service)
    topic = world.one(TopicDetail, topic_detail_id=service.topic_detail)
    template = world.one(ServiceTemplate, service_template_id=service.service_template)
    waiting = world.all(HrCase, hr_service=service.hr_service_id, status="ready")
    started = world.all(HrCase, hr_service=service.hr_service_id, status="work_in_progress")
    looked = (
        find_user(acting),
        find_service(service),
        call("get_topic_details", name=topic.name),
        call("get_service_template_by_name", name=template.name),
        list_cases(hr_service=scene.service, status="ready"),
        *(made for case in waiting for made in (read_subject(case), read_user(world.person_of(case)))),
    )
    removed = call("delete_hr_service", hr_service_id=str(service.hr_service_id), service_name=service.service_name)
    template_off = call("update_service_template", service_template_id=str(template.service_template_id), active=False)
    topic_off = call("update_topic_detail", topic_detail_id=str(topic.topic_detail_id), name=topic.name, active=False)
    cancelled = tuple(update_case(case, status="cancelled", worknotes=scene.note) for case in waiting)
    updates = tuple(notify(case, world.person_of(case), "update") for case in waiting)
    gold = (*looked, removed, topic_off, template_off, *cancelled, *updates)
    answer = f"{scene.service} is out of the catalogue; cancelled: {numbers(waiting)}."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the service, its topic, its template, and its cases by status.",
                "Remove the service, and deactivate topic and template.",
                "Cancel the cases that are ready, with the note, and send each person an update (NTF-2).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(waiting)),),
            tools=("update_hr_service", "find_hr_services", "update_knowledge_article", "list_hr_case_tasks"),
            access=scene.access,
            mistakes={"cancels one that has started": (update_case(started[0], status="cancelled"),)},
            negative_trajectories={
                "leaves the cases": NegativeTrajectory(only(gold, *cancelled), answer),
                "tells no one": NegativeTrajectory(only(gold, *updates), answer),
            },
        ),
        rules={"update_hr_case": "CAS-8", "send_notification": "NTF-1, NTF-2"},
    )


# --- groups and their assignment rules -------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewGroup:
    """A group that gets rules of others, and one of its own."""

    slug: str
    actor: str
    name: str
    members: tuple[str, str]
    rules: tuple[str, ...]
    """Rules that lead to it from now on."""
    rule: str
    """Name of its own rule."""
    skill: tuple[str, str]
    """The skill of its rule, and what the skill is called afterwards."""
    prompt: str
    access: Access = Access.PUBLISHED


NEW_GROUPS: Mapping[str, Sequence[NewGroup]] = {
    "hospital": (
        NewGroup(
            "a-desk-for-those-who-move", "Ingrid Solheim", "Mobility Desk", ("Lydia Ferraro", "Sunniva Berg"),
            ("Visas", "Visas for India"), "Moves in a hurry", ("Visa support", "Mobility"),
            "Create the group \"Mobility Desk\" (service desk, active) with Lydia Ferraro and Sunniva Berg. The rules "
            "Visas and Visas for India assign to this group now, users as before. A further active rule \"Moves in a "
            "hurry\" sends cases of priority high that need the skill Visa support to the two, in this order, in the "
            "new group. At last the skill Visa support is renamed \"Mobility\". Who is in People Services stays there.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        NewGroup(
            "a-desk-for-the-yards", "Leopold Adeyemi", "Yard Desk", ("Magnus Thorsen", "Devika Rao"),
            ("Postings", "Postings of Brazilians"), "Yards this week", ("Postings", "Work in yards"),
            "We open a \"Yard Desk\": an active group of type service desk, members Magnus Thorsen and Devika Rao, who "
            "remain where they are as well. Postings and Postings of Brazilians are to assign to it, with their users. "
            "There is to be one more active rule, \"Yards this week\": priority high, skill Postings, this group, the "
            "users Magnus and Devika in this order. And the skill Postings is called \"Work in yards\" after that.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def new_groups(world: World, seed: str) -> Iterator[Draft]:
    """A group is created with members, and assignment rules lead to it [RUL-1, RUL-2]."""
    for scene in NEW_GROUPS[seed]:
        yield _new_group(world, scene)


def _new_group(world: World, scene: NewGroup) -> Draft:
    acting, users = world.user(scene.actor), [world.user(name) for name in scene.members]
    key, skill = world.next_id(UserGroup), world.skill(scene.skill[0])
    looked = (
        find_user(acting),
        call("list_user_groups", name=scene.name),
        *map(find_user, users),
        *map(find_rule, scene.rules),
        find_rule(scene.rule),
        find_skill(skill),
    )
    group = call("add_new_user_group", name=scene.name, type="Service Desk", active=True)
    joined = tuple(call("add_new_group_member", group_id=str(key), user_id=str(user.user_id)) for user in users)
    led = tuple(
        call("update_assignment_rules", assignment_rule_id=world.rule(name).assignment_rule_id, user_group=key)
        for name in scene.rules
    )
    own = call(
        "add_new_assignment_rule",
        name=scene.rule,
        based_on_skills=[skill.skill_id],
        based_on_priority="high",
        active=True,
        user_group=key,
        users=[user.user_id for user in users],
    )
    renamed = call("update_skill", skill_id=str(skill.skill_id), name=scene.skill[1])
    gold = (*looked, group, *joined, *led, own, renamed)
    answer = f"{scene.name} exists with {' and '.join(scene.members)}, and {len(led) + 1} rules assign to it."
    early = "RUL-2" if scene.access is Access.STRICT else None
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the people, the rules, and the skill; see that the group does not exist yet.",
                "Create the group and add the members, before rules assign to it (RUL-2).",
                "Change the rules, add the new one, and rename the skill.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_group", "The answer names the group [REF-3]", term(scene.name)),),
            tools=("update_user_group", "remove_group_membership", "list_group_members", "add_new_skill"),
            access=scene.access,
            mistakes={
                "switches the new skill off": (call("update_skill", skill_id=str(skill.skill_id), active=False),),
            },
            negative_trajectories={
                "adds no members": NegativeTrajectory(only(gold, *joined), answer, early),
                "leaves a rule where it was": NegativeTrajectory(only(gold, led[-1]), answer),
            },
        ),
        rules={"add_new_group_member": "RUL-2"},
    )


@dataclass(frozen=True)
class Reopening:
    """An inactive group that works again, with its rule."""

    slug: str
    actor: str
    team: str
    rule: str
    skill: str
    newcomer: str
    escalates_to: str
    prompt: str
    access: Access = Access.PUBLISHED


REOPENINGS: Mapping[str, Sequence[Reopening]] = {
    "hospital": (
        Reopening(
            "the-night-desk-opens-again", "Desmond Achebe", "Night Desk", "Payroll at night", "Payroll",
            "Caleb Whitlock", "Payroll Office",
            "The Night Desk opens again. It becomes active, Caleb Whitlock joins, and its cases escalate to the "
            "Payroll Office. Then the rule Payroll at night is in force again, for those of all its members who have "
            "the skill Payroll.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Reopening(
            "the-strike-desk-is-needed", "Marisa Contreras", "Strike Desk", "Wages in a strike", "Wages",
            "Corentin Leroy", "Wages Bureau",
            "There may be a strike: set the Strike Desk active, add Corentin Leroy, and have it escalate to the Wages "
            "Bureau. After that we need the rule Wages in a strike, active, and its users are all members of the desk "
            "who have the skill Wages.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def reopenings(world: World, seed: str) -> Iterator[Draft]:
    """An inactive group works again, and its rule assigns to the members with the skill [RUL-1, RUL-2]."""
    for scene in REOPENINGS[seed]:
        yield _reopening(world, scene)


def _reopening(world: World, scene: Reopening) -> Draft:
    acting, newcomer, team = world.user(scene.actor), world.user(scene.newcomer), world.team(scene.team)
    rule, skill, above = world.rule(scene.rule), world.skill(scene.skill), world.team(scene.escalates_to)
    members = [*world.members(team), newcomer]
    skilled = [user for user in members if world.has_skill(user, skill)]
    looked = (
        find_user(acting),
        find_team(team),
        members_of(team),
        find_user(newcomer),
        find_team(above),
        find_rule(rule.name),
        find_skill(skill),
        *map(skills_of, members),
        call("list_escalation_rules", escalate_from=str(team.group_id)),
    )
    opened = call("update_user_group", group_id=str(team.group_id), active=True)
    joined = join_team(newcomer, team)
    escalates = call("add_new_escalation_rule", escalate_from=str(team.group_id), escalate_to=str(above.group_id))
    in_force = _rule_for(rule.assignment_rule_id, skilled)
    gold = (*looked, opened, joined, escalates, in_force)
    names = [f"{user.first_name} {user.last_name}" for user in skilled]
    answer = f"{scene.team} is active; {scene.rule} assigns to {' and '.join(names)}."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the group with its members, the one who joins, the rule, and who has the skill.",
                "Activate the group, add the member and the escalation rule (RUL-3).",
                "Activate the rule for the members with the skill (RUL-1, RUL-2).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says("names_the_users", "The answer names the users of the rule [REF-3]",
                    all_of(term(user.last_name) for user in skilled)),
            ),
            tools=("add_new_assignment_rule", "list_user_groups", "remove_escalation_rule", "update_hr_case"),
            access=scene.access,
            mistakes={"removes a member": (
                call("remove_group_membership", group_id=str(team.group_id), user_id=str(members[0].user_id)),
            )},
            negative_trajectories={
                "leaves the group inactive": NegativeTrajectory(only(gold, opened), answer),
                "adds no member": NegativeTrajectory(
                    only(gold, joined), answer, "RUL-2" if scene.access is Access.STRICT else None
                ),
                "names every member": NegativeTrajectory(
                    (*only(gold, in_force), _rule_for(rule.assignment_rule_id, members)), answer
                ),
            },
        ),
        expect={"update_assignment_rules": {"users": _in_any_order(skilled)}},
    )  # fmt: skip


def _rule_for(rule_id: int, users: Sequence[User]) -> ToolCall:
    """Activates an assignment rule for some users."""
    return call(
        "update_assignment_rules", assignment_rule_id=rule_id, active=True, users=[user.user_id for user in users]
    )


def _in_any_order(users: Sequence[User]) -> list[str]:
    """The forms in which the server may store a list of users."""
    return [json.dumps(list(form)) for form in permutations(user.user_id for user in users)]


# --- criteria change -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Substitution:
    """An approver who is away: criteria get another user, to whom the open requests go."""

    slug: str
    actor: str
    criteria: str
    absent: str
    inactive: str
    """User of the criteria whose account is inactive, and whose place is free."""
    substitute: str
    prompt: str
    access: Access = Access.STRICT


SUBSTITUTIONS: Mapping[str, Sequence[Substitution]] = {
    "hospital": (
        Substitution(
            "tobias-approves-for-anil", "Ingrid Solheim", "Training approvers", "Anil Deshpande", "Kasimir Novak",
            "Tobias Renner",
            "Anil Deshpande is in hospital himself. Please put Tobias Renner into the criteria Training approvers, in "
            "the place of the one whose account is switched off; Anil stays in there. All requests that wait for Anil "
            "by these criteria wait for Tobias instead, with all that our rules want when someone is asked.",
        ),
    ),
    "works": (
        Substitution(
            "stellan-approves-for-rajesh", "Marisa Contreras", "Course approvers", "Rajesh Menon", "Verena Huber",
            "Stellan Ekdahl",
            "Rajesh Menon is on a cruise. In the criteria Course approvers there is a user with an inactive account: "
            "replace that one, not Rajesh, by Stellan Ekdahl. Then move what waits for Rajesh under these criteria to "
            "Stellan, who has to learn of each request in the way our rules prescribe.",
        ),
    ),
}  # fmt: skip


def substitutions(world: World, seed: str) -> Iterator[Draft]:
    """Criteria name another approver, and open requests go to that one [APR-1, APR-2]."""
    for scene in SUBSTITUTIONS[seed]:
        yield _substitution(world, scene)


def _substitution(world: World, scene: Substitution) -> Draft:
    acting, substitute, absent = (world.user(name) for name in (scene.actor, scene.substitute, scene.absent))
    criteria, gone = world.criteria(scene.criteria), world.user(scene.inactive)
    users = [user if user.user_id != gone.user_id else substitute for user in world.users_of(criteria)]
    cases = world.all(
        HrCase, approver=absent.user_id, request_status="requested", approval_criteria=criteria.hr_criteria_id
    )
    named = _criteria_for(criteria.hr_criteria_id, users)
    looked = (
        find_user(acting),
        find_user(substitute),
        find_criteria(scene.criteria),
        *map(read_user, world.users_of(criteria)),
        list_cases(approver=scene.absent, status="awaiting_approval"),
    )
    moved = tuple(update_case(case, approver=scene.substitute) for case in cases)
    alerts = tuple(notify(case, substitute, "alert") for case in cases)
    gold = (*looked, named, *moved, *alerts)
    answer = f"{scene.criteria} name {scene.substitute} now, who has {numbers(cases)} to approve."
    alone = _criteria_for(criteria.hr_criteria_id, [user for user in users if user is not absent])
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the criteria with their users, and the requests that wait for the one who is away.",
                "Put the substitute in the place of the inactive user.",
                "Change the approver of each of these cases (APR-1), and send the substitute an alert for each.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
            tools=("register_hr_criteria", "find_my_cases_to_approve", "update_user_details", "find_notifications"),
            access=scene.access,
            mistakes={"tells the absent one": (notify(cases[0], world.person_of(cases[0]), "update"),)},
            negative_trajectories={
                "leaves the criteria": NegativeTrajectory(only(gold, named), answer, "APR-1"),
                "takes the absent one out": NegativeTrajectory((*looked, alone, *moved, *alerts), answer),
                "alerts no one": NegativeTrajectory(only(gold, *alerts), answer),
            },
        ),
        rules={"update_hr_criteria": "APR-1", "update_hr_case": "APR-1", "send_notification": "APR-2, NTF-2"},
        expect={"update_hr_criteria": {"users": _in_any_order(users)}},
    )


def _criteria_for(criteria_id: int, users: Sequence[User]) -> ToolCall:
    """Gives criteria a list of users."""
    listed = ",".join(str(user.user_id) for user in users)
    return call("update_hr_criteria", hr_criteria_id=str(criteria_id), users=listed)


@dataclass(frozen=True)
class Circle:
    """A person who joins those who see confidential cases, and gets some of the cases."""

    slug: str
    actor: str
    service: str
    criteria: str
    handler: str
    joins: str
    skill: str
    prompt: str


CIRCLES: Mapping[str, Sequence[Circle]] = {
    "hospital": (
        Circle(
            "bronwen-helps-with-health-matters", "Yvette Marchand", "Health matter", "Health circle",
            "Ruben Castillo", "Bronwen Price", "Employment law",
            "Ruben Castillo has too many of the Health matters. Bronwen Price helps him: let her into the Health "
            "circle, in addition to those who are named there, and into his group, if she has what the cases require. "
            "She gets those of his Health matters that are suspended; nothing else about them changes, and no one "
            "needs a message about it.",
        ),
    ),
    "works": (
        Circle(
            "dermot-helps-with-medical-cases", "Ophelia Grant", "Medical case", "Medical circle",
            "Hilde Sorensen", "Dermot Quigley", "Labour law",
            "Dermot Quigley is to take the Medical cases off Hilde Sorensen that are suspended at the moment, only the "
            "assignee changes. For that, provided he has the skill, he becomes a member of her group and is named in "
            "the Medical circle besides those who are in it. No messages, please.",
        ),
    ),
}  # fmt: skip


def circles(world: World, seed: str) -> Iterator[Draft]:
    """A person is named by the criteria of confidential cases, and handles some of them [CNF-2, CAS-4, CAS-6]."""
    for scene in CIRCLES[seed]:
        yield _circle(world, scene)


def _circle(world: World, scene: Circle) -> Draft:
    acting, handler, joins = (world.user(name) for name in (scene.actor, scene.handler, scene.joins))
    criteria, service, skill = world.criteria(scene.criteria), world.service(scene.service), world.skill(scene.skill)
    of_handler = world.all(HrCase, hr_service=service.hr_service_id, assigned_to=handler.user_id)
    waiting = [case for case in of_handler if case.status == "suspended"]
    working = next(case for case in of_handler if case.status == "work_in_progress")
    team, users = world.team_of(waiting[0]), [*world.users_of(criteria), joins]
    looked = (
        find_user(acting),
        find_user(handler),
        find_user(joins),
        find_criteria(scene.criteria),
        list_cases(hr_service=scene.service, assigned_to=scene.handler, status="suspended"),
        find_case(waiting[0]),
        find_skill(skill),
        skills_of(joins),
        find_team(team),
        members_of(team),
    )
    named, joined = _criteria_for(criteria.hr_criteria_id, users), join_team(joins, team)
    moved = tuple(update_case(case, assigned_to=scene.joins) for case in waiting)
    gold = (*looked, named, joined, *moved)
    answer = f"{scene.joins} is named in the {scene.criteria} and has {numbers(waiting)}."
    instead = _criteria_for(criteria.hr_criteria_id, [user for user in users if user is not handler])
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the people, the criteria, the suspended cases, their skill and group.",
                "Name the person in the criteria besides the others (CNF-2), and add the membership (CAS-4).",
                "Assign the suspended cases (CAS-6).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(waiting)),),
            tools=("register_hr_criteria", "get_cases_assigned_to", "send_notification", "add_new_skill_to_user"),
            access=Access.STRICT,
            mistakes={"moves one that is in progress": (update_case(working, assigned_to=scene.joins),)},
            negative_trajectories={
                "adds no membership": NegativeTrajectory(only(gold, joined), answer, "CAS-4"),
                "takes the other one out": NegativeTrajectory((*looked, instead, joined, *moved), answer),
            },
        ),
        rules={"update_hr_criteria": "CNF-2", "add_new_group_member": "CAS-4", "update_hr_case": "CAS-4, CAS-6"},
        expect={"update_hr_criteria": {"users": _in_any_order(users)}},
    )


FAMILIES = (divisions, ended_services, new_groups, reopenings, substitutions, circles)
