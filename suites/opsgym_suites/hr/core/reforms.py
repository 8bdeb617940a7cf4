"""Changes of services, groups and surveys for one purpose that take several tables.

Invariant: who or what is concerned follows from reads: the load of users, the members of a group, the state of cases.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.hr.tables import (
    HrCase,
    HrCaseTask,
    ServiceTemplate,
    Survey,
    SurveyInstance,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
)
from opsgym_suites.hr.calls import (
    cases_of,
    find_article,
    find_case,
    find_criteria,
    find_service,
    find_skill,
    find_team,
    find_user,
    list_cases,
    members_of,
    numbers,
    read_profile,
    read_subject,
    read_user,
    tasks_of,
    update_case,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name


def archive_opens(world: World) -> Draft:
    """An inactive service returns with template and skill; who does its work depends on the load."""
    acting, team = world.user("Ingrid Solheim"), world.team("HR Systems")
    service, skill = world.service("Paper records"), world.skill("Microfilm archive")
    template = world.one(ServiceTemplate, service_template_id=service.service_template)
    free = [user for user in world.members(team) if len(world.open_cases(user)) < 10]
    busy = [user for user in world.members(team) if user not in free]
    back = call("update_hr_service", hr_service_id=str(service.hr_service_id), active=True)
    shown = call("update_service_template", service_template_id=str(template.service_template_id), active=True)
    known = call("update_skill", skill_id=str(skill.skill_id), active=True)
    gives = tuple(call("add_new_skill_to_user", skill=str(skill.skill_id), user=str(user.user_id)) for user in free)
    rule = call(
        "add_new_assignment_rule",
        name="Old files",
        based_on_skills=[skill.skill_id],
        based_on_priority="low",
        active=True,
        user_group=team.group_id,
        users=[user.user_id for user in free],
    )
    names = " and ".join(map(full_name, free))
    return carried_out(
        world,
        Asked(
            "the-archive-opens-again", "Ingrid Solheim",
            "We take Paper records back into the catalogue, with its template, and the skill Microfilm archive is "
            "in use "
            "again. Those of HR Systems who have fewer than ten open cases get the skill. One new active rule, \"Old "
            "files\": priority low, that skill, HR Systems, and as users those who got the skill.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the service with its template, the skill, the group, and how busy each member is.",
                "Activate service, template and skill.",
                "Give the skill to those with a small load, and create the rule for them (RUL-1, RUL-2).",
            ),
            (
                find_user(acting),
                find_service(service),
                call("get_service_template_by_name", name=template.name),
                find_skill(skill),
                find_team(team),
                members_of(team),
                *(made for user in world.members(team) for made in (read_user(user), cases_of(user))),
                call("list_assignment_rules", user_group=team.group_id),
            ),
            (back, shown, known, *gives, rule),
            f"Paper records is back; {names} has the skill and the rule Old files.",
            tuple(term(user.last_name) for user in free),
            left_out={"leaves the template": (shown,), "leaves the skill": (known,), "makes no rule": (rule,)},
            mistakes={
                "gives it to a busy one": (
                    call("add_new_skill_to_user", skill=str(skill.skill_id), user=str(busy[0].user_id)),
                )
            },
            tools=("create_new_hr_service", "add_new_skill", "update_assignment_rules"),
        ),
        rules={"add_new_assignment_rule": "RUL-1, RUL-2"},
    )  # fmt: skip


def absences_become_confidential(world: World) -> Draft:
    """A service becomes confidential: criteria for its members, another topic category, an article that is hidden."""
    acting, team, service = world.user("Ophelia Grant"), world.team("Absence Desk"), world.service("Long absence")
    topic = world.one(TopicDetail, topic_detail_id=service.topic_detail)
    template = world.one(ServiceTemplate, service_template_id=service.service_template)
    category, article = world.one(TopicCategory, name="Fair work"), world.article("Longer absences")
    members = world.members(team)
    circle = call(
        "register_hr_criteria",
        name="Absence circle",
        type="case_visibility",
        active=True,
        users=",".join(str(user.user_id) for user in members),
    )
    bound = call(
        "update_hr_service",
        hr_service_id=str(service.hr_service_id),
        service_name=service.service_name,
        hr_criteria="Absence circle",
    )
    moved = call(
        "update_topic_detail",
        topic_detail_id=str(topic.topic_detail_id),
        name=topic.name,
        topic_category=category.name,
    )
    centre = call(
        "update_service_template",
        service_template_id=str(template.service_template_id),
        coe_type=category.coe_type,
    )
    hidden = call("update_knowledge_article", knowledge_id=article.knowledge_id, visibility="internal")
    forms = [json.dumps(list(form)) for form in permutations(user.user_id for user in members)]
    group = circle.model_copy(update={"arguments": {**circle.arguments, "type": "approval"}})
    return carried_out(
        world,
        Asked(
            "absences-are-our-business", "Ophelia Grant",
            "Long absence shall be confidential from now on. New active criteria \"Absence circle\" name, one by "
            "one as "
            "users, all who are in the Absence Desk today, no group, so that later members do not slip in. Its "
            "topic moves "
            "to the category Fair work, its template takes over the centre of that category, and the article Longer "
            "absences is for our own eyes only, internal that is.",
        ),
        Work(
            (
                "Look up the service, its topic and template, the category, the members, and the article.",
                "Register the criteria (CNF-2) and name them in the service.",
                "Move the topic, give the template the centre, and make the article internal.",
            ),
            (
                find_user(acting),
                find_service(service),
                call("get_topic_details", name=topic.name),
                call("get_service_template_by_name", name=template.name),
                call("get_topic_categories", name=category.name),
                find_team(team),
                members_of(team),
                *map(read_user, members),
                find_criteria("Absence circle"),
                find_article(article),
            ),
            (circle, bound, moved, centre, hidden),
            "Long absence is confidential: the Absence circle names the three members of the desk.",
            (term("Absence circle"),),
            left_out={"leaves the article": (hidden,), "leaves the template": (centre,), "leaves the topic": (moved,)},
            instead={"makes criteria for approvals": (group, bound, moved, centre, hidden)},
            mistakes={"renames the category": (
                call("update_topic_category", topic_category_id=str(category.topic_category_id), name="Fair"),
            )},
            tools=("update_hr_criteria", "add_new_topic_category", "create_knowledge_article"),
        ),
        rules={"register_hr_criteria": "CNF-2", "update_hr_service": "CNF-2", "update_knowledge_article": "KB-2"},
        expect={"register_hr_criteria": {"users": forms}},
    )  # fmt: skip


def surveys_change_hands(world: World) -> Draft:
    """A survey goes to the person whom the case is about; a new one starts in another case [SUR-1]."""
    acting, case, other = world.user("Rosalind Keane"), world.case("starter"), world.case("leave")
    (task,), person, subject = world.tasks(case), world.person_of(case), world.person_of(other)
    (request,) = world.all(SurveyInstance, case_task_id=task.hr_case_task_id)
    handler = world.one(User, user_id=other.assigned_to)
    redirected = call(
        "update_survey_instance", survey_instance_id=request.survey_instance_id, assigned_to=person.user_id
    )
    renamed = update_task(task, short_description="Ask the person how it went")
    survey = call("create_survey", question_1="Were the dates clear?", question_2="Who could have warned you earlier?")
    made = call(
        "create_hr_case_task",
        status="ready",
        short_description="Ask about the dates",
        assigned_to=full_name(handler),
        assignment_group=world.team_of(other).name,
        task_type="survey",
        parent_case=str(other.hr_case_id),
    )
    instance = call(
        "create_survey_instance",
        survey_id=world.next_id(Survey),
        case_task_id=world.next_id(HrCaseTask),
        assigned_to=subject.user_id,
    )
    return carried_out(
        world,
        Asked(
            "we-asked-the-wrong-one", "Rosalind Keane",
            "In {starter} we asked one of our own how it went, instead of the person whom it is about. Let the same "
            "survey "
            "go to that person, and call its task \"Ask the person how it went\". And {leave}: a new survey, \"Were "
            "the "
            "dates clear?\" and \"Who could have warned you earlier?\", in a ready survey task \"Ask about the "
            "dates\" of "
            "the case's assignee and group, answered by the person of that case.",
        ),
        Work(
            (
                "Look up both cases with tasks, the survey that waits, and the people whom the cases are about.",
                "Redirect the survey without answering it (SUR-1), and rename its task.",
                "Create the new survey, the task and the instance.",
            ),
            (
                find_user(acting),
                find_case(case),
                tasks_of(case),
                call("list_survey_instances", case_task_id=task.hr_case_task_id),
                read_subject(case),
                find_case(other),
                read_subject(other),
                call("list_surveys"),
            ),
            (redirected, renamed, survey, made, instance),
            f"In {case.number} the survey asks {full_name(person)} now, in {other.number} it asks "
            f"{full_name(subject)}.",
            (case.number, other.number),
            left_out={"leaves the old survey": (redirected,), "leaves the name": (renamed,)},
            mistakes={"asks twice": (call("create_survey_instance", survey_id=request.survey_id,
                case_task_id=task.hr_case_task_id, assigned_to=person.user_id),)},
            tools=("update_survey", "update_hr_case", "send_notification"),
        ),
        numbers={"starter": case.number, "leave": other.number},
        rules={"update_survey_instance": "SUR-1", "create_survey_instance": "SUR-1"},
    )  # fmt: skip


def exam_desk(world: World) -> Draft:
    """A new group with members, rules and the cases that no one has begun."""
    acting, names = world.user("Leopold Adeyemi"), ("Vikram Sethi", "Esther Lindgren")
    users, above = [world.user(name) for name in names], world.team("Heads of HR")
    skill, service = world.skill("Apprentices"), world.service("Course booking")
    waiting = [one for one in world.all(HrCase, hr_service=service.hr_service_id) if one.status == "ready"]
    key = world.next_id(UserGroup)
    group = call("add_new_user_group", name="Exam Desk", type="Service Desk", active=True)
    joined = tuple(call("add_new_group_member", group_id=str(key), user_id=str(user.user_id)) for user in users)
    escalates = call("add_new_escalation_rule", escalate_from=str(key), escalate_to=str(above.group_id))
    rule = call(
        "add_new_assignment_rule",
        name="Exams in time",
        based_on_skills=[skill.skill_id],
        based_on_priority="high",
        active=True,
        user_group=key,
        users=[user.user_id for user in users],
    )
    moved = tuple(update_case(case, assignment_group="Exam Desk") for case in waiting)
    begun = next(one for one in world.all(HrCase, hr_service=service.hr_service_id) if one.status == "work_in_progress")
    return carried_out(
        world,
        Asked(
            "exams-get-a-desk", "Leopold Adeyemi",
            "Please open the \"Exam Desk\": active, service desk, Vikram Sethi and Esther Lindgren in it, "
            "escalating to the "
            "Heads of HR. An active rule \"Exams in time\" gives the desk what is high and needs Apprentices, with "
            "Vikram "
            "and Esther as users in that order. Course bookings that are ready go over to the desk, each keeps its "
            "assignee; what has begun or waits stays in the Training Yard. Its tasks are sorted out by the desk "
            "itself.",
        ),
        Work(
            (
                "Look up the people, the group above, the skill, and the cases of the service that are ready.",
                "Create the group, its members and its escalation rule (RUL-3), then the assignment rule (RUL-2).",
                "Move the cases that are ready (CAS-4).",
            ),
            (
                find_user(acting),
                *map(find_user, users),
                find_team(above),
                find_skill(skill),
                call("list_user_groups", name="Exam Desk"),
                list_cases(hr_service=service.service_name, status="ready"),
            ),
            (group, *joined, escalates, rule, *moved),
            f"The Exam Desk has two members, two rules and {numbers(waiting)}.",
            (term("Exam Desk"), *(case.number for case in waiting)),
            left_out={"leaves the cases": moved, "has no way up": (escalates,), "has one member": joined[1:]},
            mistakes={"moves one that has begun": (update_case(begun, assignment_group="Exam Desk"),)},
            tools=("update_user_group", "update_assignment_rules", "remove_group_membership", "update_hr_case_task"),
        ),
        rules={"update_hr_case": "CAS-4", "add_new_group_member": "CAS-4", "add_new_escalation_rule": "RUL-3"},
    )  # fmt: skip


def letters_get_a_topic(world: World) -> Draft:
    """A service without a topic gets one, a template of its centre, and a rule for a country."""
    acting, team, service = (
        world.user("Rosalind Keane"),
        world.team("People Services"),
        world.service("Employment letter"),
    )
    category = world.one(TopicCategory, name="HR platforms")
    template = world.one(ServiceTemplate, service_template_id=service.service_template)
    british = [
        user
        for user in world.members(team)
        if user.role == "agent" and world.profile(user).location_type == "Office Based"
    ]
    preset = {"short_description": "A letter", "category": "letters"}
    topic = call("add_new_topic_detail", name="Letters", active=True, topic_category=category.name)
    made = call(
        "create_new_service_template",
        name="Letter form",
        change_request_values=preset,
        coe_type=category.coe_type,
        active=True,
    )
    bound = call(
        "update_hr_service",
        hr_service_id=str(service.hr_service_id),
        service_name=service.service_name,
        topic_detail="Letters",
        service_template="Letter form",
    )
    ended = call("update_service_template", service_template_id=str(template.service_template_id), active=False)
    rule = call(
        "add_new_assignment_rule",
        name="Letters for India",
        based_on_country="IN",
        based_on_priority="moderate",
        active=True,
        user_group=team.group_id,
        users=[user.user_id for user in british],
    )
    forms = [json.dumps(list(form)) for form in permutations(user.user_id for user in british)]
    return carried_out(
        world,
        Asked(
            "letters-get-a-place", "Rosalind Keane",
            "Employment letter hangs in the air. It gets an active topic \"Letters\" under HR platforms and a new "
            "active "
            "template \"Letter form\", short description \"A letter\", category letters, centre like that of the "
            "category; "
            "the template it has today becomes inactive. And one more active rule, \"Letters for India\": moderate, "
            "country India, no skill, People Services, users are the agents in there who are Office Based.",
        ),
        Work(
            (
                "Look up the service with its template, the category with its centre, the group and its members.",
                "Look up the profiles of the agents among them: who is in the office?",
                "Create topic, template and rule, give the service both, and deactivate the old template.",
            ),
            (
                find_user(acting),
                find_service(service),
                call("get_topic_categories", name=category.name),
                call("get_service_templates", service_template_id=str(template.service_template_id)),
                find_team(team),
                members_of(team),
                *(made_ for user in world.members(team) for made_ in (read_user(user), read_profile(user))),
            ),
            (topic, made, bound, ended, rule),
            f"Employment letter has the topic Letters; the rule names {' and '.join(map(full_name, british))}.",
            (term("Letters"),),
            left_out={"leaves the old template": (ended,), "makes no rule": (rule,)},
            mistakes={"ends the service": (
                call("update_hr_service", hr_service_id=str(service.hr_service_id),
                    service_name=service.service_name, active=False),
            )},
            tools=("add_new_topic_category", "update_assignment_rules", "create_new_hr_service"),
        ),
        rules={"add_new_assignment_rule": "RUL-1, RUL-2"},
        expect={
            "create_new_service_template": {
                "change_request_values": [json.dumps(preset), json.dumps(dict(reversed(preset.items())))]
            },
            "add_new_assignment_rule": {"users": forms},
        },
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {
    "hospital": (archive_opens, surveys_change_hands, letters_get_a_topic),
    "works": (absences_become_confidential, exam_desk),
}


def reforms(world: World, seed: str) -> Iterator[Draft]:
    """Several tables change for one purpose."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES = (reforms,)
