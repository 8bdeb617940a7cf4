"""Tasks about the catalogue, groups and rules, and about permissions that change over night."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import NOT_DONE, all_of, only_for, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_domains.hr.tables import (
    Knowledge,
    Permission,
    Role,
    RolePermission,
    Skill,
    UserSkill,
)
from opsgym_suites.hr.calls import (
    find_article,
    find_case,
    find_criteria,
    find_skill,
    find_team,
    find_user,
    join_team,
    leave_team,
    link,
    members_of,
    only,
    read_user,
    skills_of,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, full_name, on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

# --- a service for the catalogue -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Offering:
    """A new service with its topic, template and criteria."""

    slug: str
    actor: str
    service: str
    topic: str
    category: str
    centre: str
    criteria: str
    type: str
    users: tuple[str, ...]
    team: str | None
    template: str
    preset: tuple[str, str]
    """Short description and category that the template presets."""
    prompt: str
    access: Access = Access.PUBLISHED


OFFERINGS: Mapping[str, Sequence[Offering]] = {
    "hospital": (
        Offering(
            "bicycles-for-the-night-shift", "Anil Deshpande", "Bicycle lease", "Bicycles", "Benefits", "Total Rewards",
            "Bicycle approvers", "approval", ("Anil Deshpande", "Rosalind Keane"), None,
            "Bicycle template", ("Lease a bicycle", "benefits"),
            "Please add the service \"Bicycle lease\" (manual, active) to the catalogue: a new active topic "
            "\"Bicycles\" "
            "in Benefits, an active template \"Bicycle template\" that presets the short description \"Lease a "
            "bicycle\" "
            "and the category benefits, and active criteria \"Bicycle approvers\" for approvals by Anil Deshpande and "
            "Rosalind Keane, in this order. Everything belongs to the centre of Benefits.",
        ),
        Offering(
            "addiction-counselling-stays-secret", "Yvette Marchand", "Counselling", "Counselling talks",
            "Workplace concerns", "Workforce Administration", "Counselling circle", "case_visibility",
            ("Bronwen Price",), "Employee Relations",
            "Counselling template", ("A talk", "concerns"),
            "We start a service \"Counselling\", manual and active. Topic \"Counselling talks\", active, among the "
            "Workplace concerns; template \"Counselling template\", active, presets short description \"A talk\" and "
            "category concerns, centre as in that category. Its cases are to be confidential: active criteria "
            "\"Counselling circle\" that name the group Employee Relations and, by name, Bronwen Price.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Offering(
            "childcare-at-gate-one", "Rajesh Menon", "Childcare place", "Childcare", "Shares and provision",
            "Total Rewards", "Childcare approvers", "approval", ("Henrike Vogel", "Rajesh Menon"), None,
            "Childcare template", ("Place at gate one", "provision"),
            "New in the catalogue, active and manual: \"Childcare place\". Topic \"Childcare\" (active) under Shares "
            "and "
            "provision; active template \"Childcare template\", short description \"Place at gate one\", category "
            "provision, same centre as that category; active criteria \"Childcare approvers\", approval, Henrike Vogel "
            "first and Rajesh Menon second.",
        ),
        Offering(
            "trusted-line-is-for-few", "Ophelia Grant", "Trusted line", "Calls in trust", "Fair work",
            "Workforce Administration", "Trusted circle", "case_visibility", ("Dermot Quigley",), "Fair Work Unit",
            "Trusted template", ("A call", "trust"),
            "Could you set up \"Trusted line\" as an active manual service? Topic \"Calls in trust\", active, category "
            "Fair work. Template \"Trusted template\", active, with short description \"A call\" and category trust; "
            "centre like the category's. Only the group Fair Work Unit and Dermot Quigley may see its cases, so it "
            "needs active criteria \"Trusted circle\".",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def offerings(world: World, seed: str) -> Iterator[Draft]:
    """A service with topic, template and criteria is added to the catalogue."""
    for scene in OFFERINGS[seed]:
        yield _offering(world, scene)


def _offering(world: World, scene: Offering) -> Draft:
    acting, users = world.user(scene.actor), [world.user(name) for name in scene.users]
    preset = dict(zip(("short_description", "category"), scene.preset, strict=True))
    group = {} if scene.team is None else {"user_group": str(world.team(scene.team).group_id)}
    criteria = call(
        "register_hr_criteria",
        name=scene.criteria,
        type=scene.type,
        active=True,
        users=",".join(str(user.user_id) for user in users),
        **group,
    )
    service = call(
        "create_new_hr_service",
        service_name=scene.service,
        fulfillment_type="manual",
        topic_detail=scene.topic,
        service_template=scene.template,
        hr_criteria=scene.criteria,
        active=True,
    )
    gold = (
        find_user(acting),
        call("get_topic_categories", name=scene.category),
        *(find_user(user) for user in users),
        *([] if scene.team is None else [find_team(world.team(scene.team))]),
        find_criteria(scene.criteria),
        call("add_new_topic_detail", name=scene.topic, active=True, topic_category=scene.category),
        call(
            "create_new_service_template",
            name=scene.template,
            change_request_values=preset,
            coe_type=scene.centre,
            active=True,
        ),
        criteria,
        service,
    )
    other = "approval" if scene.type == "case_visibility" else "case_visibility"
    wrong = criteria.model_copy(update={"arguments": {**criteria.arguments, "type": other}})
    answer = f"{scene.service} is in the catalogue, with its topic, its template and {scene.criteria}."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                "Look up the category with its centre, the people and the group that are named.",
                "Create topic, template and criteria, then the service that refers to all three.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_service", "The answer names the service [REF-3]", term(scene.service)),),
            tools=(
                "update_hr_service",
                "find_hr_services",
                "get_service_templates",
                "get_topic_details",
                "update_hr_criteria",
            ),
            access=scene.access,
            mistakes={"adds a skill": (call("add_new_skill", name=scene.service, active=True),)},
            negative_trajectories={
                "makes criteria of the other type": NegativeTrajectory(
                    tuple(wrong if made is criteria else made for made in gold), answer
                ),
                "forgets the criteria of the service": NegativeTrajectory(
                    (
                        *gold[:-1],
                        service.model_copy(
                            update={
                                "arguments": {
                                    name: value for name, value in service.arguments.items() if name != "hr_criteria"
                                }
                            }
                        ),
                    ),
                    answer,
                ),
            },
        ),
        expect={"create_new_service_template": {"change_request_values": _presets(preset)}},
    )


def _presets(preset: Mapping[str, str]) -> list[str]:
    """The forms in which the server may store preset values: keys in either order."""
    items = list(preset.items())
    return [json.dumps(dict(form)) for form in (items, items[::-1])]


# --- a group is closed -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Closing:
    """A group whose rules and members go to another one."""

    slug: str
    actor: str
    team: str
    heir: str
    skill: str
    """Skill that those who join are registered with, if they do not have it."""
    prompt: str
    access: Access = Access.PUBLISHED


CLOSINGS: Mapping[str, Sequence[Closing]] = {
    "hospital": (
        Closing(
            "leave-desk-prepares-its-end", "Desmond Achebe", "Leave Desk", "Benefits Desk", "Pensions",
            "The Leave Desk will be merged into the Benefits Desk. Today only the first step: all its members who are "
            "not in the Benefits Desk yet join it, the Leave Desk's escalation rule goes, and the Benefits Desk gets "
            "one more, to People Services. Who joins is registered with the skill Pensions, unless it is there. "
            "Leave the Leave Desk's own members, its cases and its status alone.",
            access=Access.STRICT,
        ),
        Closing(
            "benefits-move-in-with-payroll", "Ingrid Solheim", "Benefits Desk", "Payroll Office", "Payroll",
            "First step of another merger: those who are in the Benefits Desk and not in the Payroll Office join the "
            "Payroll Office. The Benefits Desk does not escalate any more, and the Payroll Office escalates to People "
            "Services as well. Those who join without the skill Payroll get it. Nothing else changes today.",
        ),
    ),
    "works": (
        Closing(
            "absence-desk-prepares-its-end", "Leopold Adeyemi", "Absence Desk", "Shares and Pensions", "Shares",
            "The Absence Desk and Shares and Pensions become one. Step one for today: members of the former who are "
            "not members of the latter become that; the escalation rule of the former is removed; the latter gets "
            "another one that leads to the Personnel Office; and those who join get the skill Shares if they lack "
            "it. Everything else stays.",
            access=Access.STRICT,
        ),
        Closing(
            "shares-move-in-with-wages", "Marisa Contreras", "Shares and Pensions", "Wages Bureau", "Wages",
            "Please prepare the joint bureau: members of Shares and Pensions who are not in the Wages Bureau go in "
            "there too, Shares and Pensions loses its escalation rule, the Wages Bureau gets a second one, to the "
            "Personnel Office. The skill Wages goes to those who join and do not have it. No more than that for now.",
        ),
    ),
}  # fmt: skip
THIRD = {"hospital": "People Services", "works": "Personnel Office"}


def closings(world: World, seed: str) -> Iterator[Draft]:
    """Memberships and escalation rules are prepared for a merger of groups."""
    for scene in CLOSINGS[seed]:
        acting, team, heir, third = world.user(scene.actor), *map(world.team, (scene.team, scene.heir, THIRD[seed]))
        inside = {user.user_id for user in world.members(heir)}
        joining = [user for user in world.members(team) if user.user_id not in inside]
        rule = world.escalation(team)
        removed = call("remove_escalation_rule", escalation_rule_id=str(rule.escalation_rule_id))
        added = call("add_new_escalation_rule", escalate_from=str(heir.group_id), escalate_to=str(third.group_id))
        joined = tuple(join_team(user, heir) for user in joining)
        looked = (
            find_user(acting),
            *map(find_team, (team, heir, third)),
            members_of(team),
            members_of(heir),
            *(read_user(user) for user in world.members(team)),
            *(call("list_escalation_rules", escalate_from=str(one.group_id)) for one in (team, heir)),
        )
        names, skill = [full_name(user) for user in joining], world.skill(scene.skill)
        looked = (*looked, find_skill(skill), *map(skills_of, joining))
        gives = tuple(
            call("add_new_skill_to_user", skill=str(skill.skill_id), user=str(user.user_id))
            for user in joining
            if not world.has_skill(user, skill)
        )
        gold, answer = (*looked, *joined, *gives, removed, added), f"{', '.join(names)} joined {scene.heir}."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt,
                plan=(
                    "Look up the three groups, the members of two of them, and their escalation rules.",
                    "Add the memberships that are missing, and only these.",
                    "Remove the one escalation rule and add the other (RUL-3).",
                ),
                gold=gold,
                answer=answer,
                verifiers=(
                    answer_says("names_who_joined", "The answer names who joined [REF-3]", all_of(map(term, names))),
                ),
                tools=("update_user_group", "remove_group_membership", "list_assignment_rules", "update_hr_case"),
                access=scene.access,
                mistakes={"takes the members out": (leave_team(joining[0], team),)},
                negative_trajectories={
                    "keeps the old rule": NegativeTrajectory(only(gold, removed), answer),
                    "turns the new rule round": NegativeTrajectory(
                        (*only(gold, added), added.model_copy(update={"arguments": {
                            "escalate_from": str(third.group_id), "escalate_to": str(heir.group_id)}})),
                        answer,
                    ),
                },
            ),
            rules={"add_new_group_member": "ID-3"},
        )  # fmt: skip


# --- permissions that change over night ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Granted:
    """An agent who may not write skills on the first day, and may on the second one."""

    slug: str
    actor: str
    skill: str
    users: tuple[str, str]
    """Who gets the skill."""
    loses: tuple[str, str]
    """Who loses a skill, and which one."""
    begins: str
    prompt: str
    then: str


GRANTED: Mapping[str, Sequence[Granted]] = {
    "hospital": (
        Granted(
            "agents-get-skills-over-night", "Marek Dvorak", "Sign language", ("Lydia Ferraro", "Bronwen Price"),
            ("Dunja Petrovic", "Pensions"), "2026-11-17 08:30",
            "Please register the skill \"Sign language\", active, and give it to Lydia Ferraro and Bronwen Price. "
            "Dunja "
            "Petrovic no longer has the skill Pensions, take it off her.",
            "I hear the rights of agents were widened. If that covers it, please do what I wanted yesterday.",
        ),
    ),
    "works": (
        Granted(
            "agents-may-keep-skills-from-friday", "Annika Falk", "Portuguese", ("Magnus Thorsen", "Pavla Horak"),
            ("Tamsin Boyd", "Shares"), "2027-02-19 07:10",
            "New skill, active: \"Portuguese\". Magnus Thorsen and Pavla Horak have it. And Tamsin Boyd gave up "
            "Shares, "
            "so remove that from her, please.",
            "Friday! Someone changed what agents are allowed to do. Try again if it is enough now.",
        ),
    ),
}  # fmt: skip
_MAY = (
    "Admins and managers may do everything that this policy describes. Agents may write cases, their tasks, checklists "
    "and survey instances, links between cases and articles, and notifications{}; they may only read other records. "
    "Employees may only read."
)


def _permission(world: World, resource: str, action: str) -> Permission:
    return world.one(Permission, resource=resource, action=action)


def _switched(world: World, end: str, resource: str, before: str, after: str) -> ScenarioEvent[World]:
    """Agents get one permission on a resource in place of another."""
    event = ScenarioEvent(world, at(end) - world.now)
    role = world.one(Role, name="agent")
    row = world.one(RolePermission, role_id=role.role_id, perm_id=_permission(world, resource, before).perm_id)
    return event.change(row, perm_id=_permission(world, resource, after).perm_id)


RESERVED = (
    rf"{only_for('manager', 'admin', 'administrator')}|\bID-2\b|\bread[ -]only\b|\bonly (?:have |be )?read\b"
    r"|\bagents?\b[^.]*\b(?:only|not|cannot|no longer|neither)\b"
)
"""Pattern for the reason that the role may not write."""


def granted(world: World, seed: str) -> Iterator[Draft]:
    """What the role may not do on the first day, it may on the second one [ID-2, ID-4]."""
    for scene in GRANTED[seed]:
        acting, users = world.user(scene.actor), [world.user(name) for name in scene.users]
        loser, lost = world.user(scene.loses[0]), world.skill(scene.loses[1])
        had = world.one(UserSkill, user=loser.user_id, skill=lost.skill_id)
        event = _switched(world, scene.begins, "skills", "read", "crud")
        made = call("add_new_skill", name=scene.skill, active=True)
        looked = (find_user(acting), call("list_skills", name=scene.skill), *(find_user(user) for user in users))
        gives = on_day(
            2,
            *(call("add_new_skill_to_user", skill=str(world.next_id(Skill)), user=str(user.user_id)) for user in users),
        )
        takes = on_day(2, call("remove_user_skills", user_skill_id=str(had.user_skill_id)))
        done = (
            *on_day(
                2, find_user(loser), find_skill(lost), skills_of(loser), *(skills_of(user) for user in users), made
            ),
            *gives,
            *takes,
        )
        answer = f"{scene.skill} is registered for {' and '.join(scene.users)}; {scene.loses[0]} lost {scene.loses[1]}."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt,
                plan=(
                    "Look up the acting user: an agent, who may only read skills (ID-2). Change nothing (REF-1).",
                    "Second day: ID-2 reads differently. Create the skill, and give it to both.",
                    "Remove the other skill from its user.",
                ),
                gold=(*looked, *done),
                day_answers=("Nothing was changed: you are an agent, and only managers and admins write skills.",),
                answer=answer,
                verifiers=(
                    _declined(),
                    answer_says("names_the_skill", "The answer names the skill [REF-3]", term(scene.skill)),
                ),
                tools=("update_skill", "list_users", "update_hr_case", "send_notification"),
                access=Access.STRICT,
                days=(Day(message=scene.then, begins_at=at(scene.begins).isoformat()),),
                events=(
                    event.happens_at(at(scene.begins)).model_copy(
                        update={"amend": Amendment(rule="ID-2", text=_MAY.format(", and skills and who has them"))}
                    ),
                ),
                mistakes={"gives it to the acting user": on_day(
                    2, call("add_new_skill_to_user", skill=str(world.next_id(Skill)), user=str(acting.user_id))
                )},
                negative_trajectories={
                    "tries on the first day": NegativeTrajectory((*looked, made), answer, "ID-2"),
                    "leaves the old skill": NegativeTrajectory(only((*looked, *done), *takes), answer),
                },
            ),
            event,
            rules={"add_new_skill": "ID-2", "add_new_skill_to_user": "ID-2", "remove_user_skills": "ID-2"},
        )  # fmt: skip


def _declined(day: int | None = 1) -> Verifier:
    """An answer says that something was not done, and why."""
    return answer_says(
        "declines_and_says_why",
        "The answer says that it was not done, and why [ID-2, REF-1]",
        all_of([NOT_DONE, RESERVED]),
        category=Category.PERMISSION_PROCESS,
        day=day,
    )


@dataclass(frozen=True)
class Taken:
    """An agent who may write articles on the first day, and only read them on the second one."""

    slug: str
    actor: str
    title: str
    body: str
    case: str
    article: str
    begins: str
    prompt: str
    then: str


TAKEN: Mapping[str, Sequence[Taken]] = {
    "hospital": (
        Taken(
            "articles-are-closed-to-agents", "Caleb Whitlock", "Bonus after a swap of nights",
            "Swap the shift in the roster first, then ask for the bonus.", "bonus", "Night shift bonus in the roster",
            "2026-11-17 09:15",
            "Two things. Draft an internal article \"Bonus after a swap of nights\", owner me, with the text \"Swap "
            "the "
            "shift in the roster first, then ask for the bonus.\" And link Night shift bonus in the roster to {case}, "
            "used as suggested.",
            "Make yesterday's draft external, please.",
        ),
    ),
    "works": (
        Taken(
            "articles-are-out-of-reach-on-friday", "Corentin Leroy", "Sundays in two months",
            "Split the night at midnight and press key 4 twice.", "bonus", "Sunday rate in the time clock",
            "2027-02-19 08:20",
            "Please write a draft, internal, mine: \"Sundays in two months\", text \"Split the night at midnight and "
            "press key 4 twice.\" Then link the article Sunday rate in the time clock to {case}, used as suggested.",
            "The draft of yesterday should be visible outside as well: set it to external.",
        ),
    ),
}  # fmt: skip


_NO_ARTICLES = "Agents read articles, and neither write nor link them."


def _external(made: ToolCall) -> ToolCall:
    return made.model_copy(update={"arguments": {**made.arguments, "visibility": "external"}})


def taken(world: World, seed: str) -> Iterator[Draft]:
    """What the role may do on the first day, it may not on the second one [ID-2, ID-4]."""
    for scene in TAKEN[seed]:
        acting, case, article = world.user(scene.actor), world.case(scene.case), world.article(scene.article)
        event = _switched(world, scene.begins, "knowledge", "crud", "read")
        made = call(
            "create_knowledge_article",
            title=scene.title,
            body=scene.body,
            state="draft",
            visibility="internal",
            owner_id=acting.user_id,
        )
        looked = (
            find_user(acting),
            find_case(case),
            find_article(article),
            call("retrieve_knowledge_articles", title=scene.title),
            call("find_hr_case_knowledge_links", hr_case_id=case.hr_case_id),
        )
        linked = link(case, article, "suggested")
        again = on_day(2, call("retrieve_knowledge_articles", title=scene.title))
        change = on_day(
            2, call("update_knowledge_article", knowledge_id=world.next_id(Knowledge), visibility="external")
        )
        gold = (*looked, made, linked, *again)
        answer = "The draft was not changed: articles are only written by managers and admins since this morning."
        yield with_verifiers(
            world,
            Draft(
                slug=scene.slug,
                actor=acting,
                prompt=scene.prompt.format(case=case.number),
                plan=(
                    "Look up the acting user, the case and the article; create the draft and the link (KB-1, KB-2).",
                    "Second day: agents only read articles now (ID-2). Change nothing, and say so (REF-1).",
                ),
                gold=gold,
                day_answers=(f"The draft is there, and the article is linked to {case.number}.",),
                answer=answer,
                verifiers=(
                    answer_says("names_the_case", "The first answer names the case [REF-3]", case.number, day=1),
                    _declined(None),
                ),
                tools=("update_knowledge_article", "remove_knowledge_link_to_hr_case", "update_hr_case"),
                access=Access.STRICT,
                days=(Day(message=scene.then, begins_at=at(scene.begins).isoformat()),),
                events=(
                    event.happens_at(at(scene.begins)).model_copy(
                        update={"amend": Amendment(rule="ID-2", text=f"{_MAY.format('')} {_NO_ARTICLES}")}
                    ),
                ),
                mistakes={},
                negative_trajectories={
                    "tries all the same": NegativeTrajectory((*gold, *change), "It is external.", "ID-2"),
                    "makes it external at once": NegativeTrajectory(
                        tuple(
                            _external(one) if one is made else one
                            for one in gold
                        ),
                        answer,
                    ),
                },
            ),
            event,
            rules={"create_knowledge_article": "KB-2, ID-2", "link_knowledge_to_hr_case": "KB-1"},
        )  # fmt: skip


FAMILIES = (offerings, closings, granted, taken)
