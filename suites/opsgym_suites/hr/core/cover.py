"""Who may take work: cases about colleagues, people who lose a skill for a time, cases that wait in vain.

Invariant: the person whom a rule or a habit would name first is not the one who gets the work, and only reads show it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import AssignmentRule, HrCase, HrCaseKnowledge, HrCaseTask, Skill, User, UserSkill
from opsgym_domains.hr.visibility import OPEN
from opsgym_suites.hr.calls import (
    cases_of,
    find_article,
    find_centre,
    find_rule,
    find_service,
    find_skill,
    find_team,
    find_user,
    link,
    list_cases,
    loads,
    members_of,
    notify,
    numbers,
    read_profile,
    read_subject,
    read_user,
    rules_for,
    tasks_of,
    update_case,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import OPEN_TASKS, World
from opsgym_suites.kit.drafts import Draft, call, full_name, on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import May
from opsgym_suites.kit.world import at

# --- a case about a colleague ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfColleague:
    """A case about an agent whom the rule itself would choose; the next one of the rule gets it."""

    request: Asked
    person: str
    service: str
    rule: str
    summary: str
    source: str
    task: str
    items: tuple[str, ...] = ()
    """Items of the checklist of the task; without any, it is marked when complete."""
    article: str | None = None


COLLEAGUES: Mapping[str, OfColleague] = {
    "hospital": OfColleague(
        Asked(
            "caleb-has-a-case-himself", "Ingrid Solheim",
            "Our own Caleb Whitlock rang: \"My own nights are wrong\". A Payslip question, it requires Payroll, and "
            "the pay run closes tomorrow evening. Put it on file, ready, and assign it as our rules say. The one who "
            "gets it also gets a ready task in it, \"Look at the run\", mark when complete, in the same group. "
            "Suggest How to read your payslip in the case, and let Caleb have an update.",
            Access.STRICT,
        ),
        "Caleb Whitlock", "Payslip question", "Payroll high", "My own nights are wrong", "phone", "Look at the run",
        article="How to read your payslip",
    ),
    "works": OfColleague(
        Asked(
            "dermot-complains-himself", "Ophelia Grant",
            "Dermot Quigley came to my desk with a Fair work complaint of his own: \"Rated without a talk\". The "
            "hearing is tomorrow at ten, and it takes Conflict talks. Please open the case (source walk-in, status "
            "ready), assign it by our rules, and give its owner a ready checklist task, \"Before the hearing\", same "
            "group, with \"Ask for the rating\" and \"Find a room\" on it. Dermot gets an update.",
            Access.STRICT,
        ),
        "Dermot Quigley", "Fair work complaint", "Conflict talks", "Rated without a talk", "walk-in",
        "Before the hearing", ("Ask for the rating", "Find a room"),
    ),
}  # fmt: skip


def colleagues(world: World, seed: str) -> Iterator[Draft]:
    """The user with the fewest cases is the person whom the case is about [ASG-2, CAS-5]."""
    yield _of_colleague(world, COLLEAGUES[seed])


def _of_colleague(world: World, scene: OfColleague) -> Draft:
    acting, person = world.user(scene.request.actor), world.user(scene.person)
    service, rule = world.service(scene.service), world.rule(scene.rule)
    team = world.one_team(rule.user_group)
    owner = world.least_busy([user for user in world.users_of(rule) if user is not person])
    (skill_id,) = json.loads(rule.based_on_skills or "[]")
    case_id, task_id = world.next_id(HrCase), world.next_id(HrCaseTask)
    fields = {
        "hr_service": str(service.hr_service_id),
        "opened_for": scene.person,
        "priority": rule.based_on_priority,
        "source": scene.source,
        "short_description": scene.summary,
        "coe_type": world.centre_of(service),
        "skills": [skill_id],
        "status": "ready",
        "assignment_group": team.name,
    }
    case = call("create_new_hr_case", **fields, assigned_to=full_name(owner))
    own = call("create_new_hr_case", **fields, assigned_to=scene.person)
    group_only = call("create_new_hr_case", **fields)
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description=scene.task,
        assigned_to=full_name(owner),
        assignment_group=team.name,
        task_type="checklist" if scene.items else "mark when complete",
        parent_case=str(case_id),
    )
    items = tuple(
        call("create_checklist", checklist_item_description=text, case_task_id=task_id) for text in scene.items
    )
    articles = [] if scene.article is None else [world.article(scene.article)]
    linked = tuple(
        call("link_knowledge_to_hr_case", hr_case_id=case_id, knowledge_id=one.knowledge_id, used_as="suggested")
        for one in articles
    )
    news = notify(case_id, person, "update")
    rest = (task, *items, *linked, news)
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up the person, the service with its centre, and the active rules with the priority (CAS-2).",
                "The rule names two users: the one with fewer cases is the person of the case (CAS-5).",
                "Create the case for the other one, with all that the request adds to it.",
            ),
            (
                find_user(acting),
                find_user(person),
                find_service(service),
                find_centre(world, service),
                find_skill(world.one(Skill, skill_id=skill_id)),
                rules_for(rule.based_on_priority or ""),
                *loads(world, rule),
                find_team(team),
                *map(find_article, articles),
            ),
            (case, *rest),
            f"The new case of {scene.person} is ready and with {full_name(owner)}, who has a task in it.",
            (term(owner.last_name),),
            left_out={"makes no task": (task,), "sends no update": (news,)},
            instead={"takes the least busy one": (own, *rest), "assigns to the group only": (group_only, *rest)},
            refused={"takes the least busy one": "CAS-5"},
            mistakes={"tells the owner too": (notify(case_id, owner, "reminder"),)},
            tools=("update_hr_case", "update_assignment_rules", "list_user_skills"),
        ),
        rules={"create_new_hr_case": "ASG-2, CAS-1, CAS-2, CAS-5", "create_hr_case_task": "CAS-4"},
    )  # fmt: skip


# --- a skill that has to be renewed ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Renewal:
    """People who lose a skill by their first day of employment; their cases go to the one who keeps it."""

    request: Asked
    skill: str
    since: datetime
    """Who joined on the other side of this day keeps the skill."""
    later_ones: bool
    """Whether those lose it who joined later."""
    course: str | None = None
    """Service of the case that is opened for each of them."""


RENEWALS: Mapping[str, Renewal] = {
    "hospital": Renewal(
        Asked(
            "visa-papers-need-a-course", "Rosalind Keane",
            "Visa papers: who joined us on 1 January 2020 or later has to do the embassy's course first. Those people "
            "are not registered with Visa support any more until then. Their open cases that require it, in whatever "
            "state, belong to those who keep the skill, with the open tasks in them. Rules that count on the skill "
            "forget them; a rule in which no user would be left is switched off rather than emptied.",
            Access.STRICT,
        ),
        "Visa support", datetime(2020, 1, 1), later_ones=True,  # noqa: DTZ001 - tables keep UTC without a zone
    ),
    "works": Renewal(
        Asked(
            "old-hands-need-a-course", "Henrike Vogel",
            "The consulate wants fresh courses from the old hands among our people for Postings, that is those who "
            "joined before 1 January 2020. Take the skill off them until they have been there. The others with the "
            "skill get their open cases that require it, along with what is open in these as tasks, and rules for the "
            "skill must not name them meanwhile, or be inactive if there is only one name in them. For each of them a "
            "case Course booking, source email, moderate, \"Course of the consulate\", draft and unassigned.",
        ),
        "Postings", datetime(2020, 1, 1), later_ones=False, course="Course booking",  # noqa: DTZ001 - as above
    ),
}  # fmt: skip


def renewals(world: World, seed: str) -> Iterator[Draft]:
    """Profiles show who loses a skill; cases, tasks and rules follow [CAS-6, RUL-2]."""
    yield _renewal(world, RENEWALS[seed])


def _without(rule: AssignmentRule, users: Sequence[User], losing: Sequence[User]) -> ToolCall | None:
    """The change of a rule that must not name people; None if it does not name them."""
    staying = [user.user_id for user in users if user not in losing]
    if len(staying) == len(users):
        return None
    values = {"users": staying} if staying else {"active": False}
    return call("update_assignment_rules", assignment_rule_id=rule.assignment_rule_id, **values)


def _renewal(world: World, scene: Renewal) -> Draft:
    acting, skill = world.user(scene.request.actor), world.skill(scene.skill)
    registered = world.all(UserSkill, skill=skill.skill_id)
    holders = [world.one(User, user_id=row.user) for row in registered]
    started = {user.user_id: world.profile(user).employment_start_date or world.now for user in holders}
    losing = [user for user in holders if (started[user.user_id] >= scene.since) == scene.later_ones]
    (heir,) = (user for user in holders if user not in losing)
    cases = [case for user in losing for case in world.open_cases(user) if case.skills == json.dumps([skill.skill_id])]
    tasks = [task for case in cases for task in world.tasks(case) if task.status in OPEN_TASKS]
    moved = tuple(update_case(case, assigned_to=full_name(heir)) for case in cases)
    given = tuple(update_task(task, assigned_to=full_name(heir)) for task in tasks)
    lost = {user.user_id for user in losing}
    dropped = tuple(
        call("remove_user_skills", user_skill_id=str(row.user_skill_id)) for row in registered if row.user in lost
    )
    rules = world.all(AssignmentRule, based_on_skills=json.dumps([skill.skill_id]), active=True)
    changed = tuple(made for rule in rules if (made := _without(rule, world.users_of(rule), losing)))
    courses = [] if scene.course is None else [world.service(scene.course)]
    opened = tuple(
        call(
            "create_new_hr_case",
            hr_service=str(service.hr_service_id),
            opened_for=full_name(user),
            priority="moderate",
            source="email",
            short_description="Course of the consulate",
            coe_type=world.centre_of(service),
        )
        for service in courses
        for user in losing
    )
    keeps = next(row for row in registered if row.user == heir.user_id)
    group = cases[0].assignment_group
    other = next(one for one in world.open_cases(losing[0]) if one not in cases and one.assignment_group == group)
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up who has the skill, and the first day of each in the profile.",
                "Give the cases that require the skill and their open tasks to the one who keeps it (CAS-4, CAS-6).",
                "Remove the skill, and change the rules that require it (RUL-2).",
            ),
            (
                find_user(acting),
                find_skill(skill),
                call("list_user_skills", skill=str(skill.skill_id)),
                *map(read_profile, holders),
                *map(read_user, holders),
                *(list_cases(assigned_to=full_name(user), skills=[skill.skill_id]) for user in losing),
                *(call("list_hr_case_tasks", assigned_to=full_name(user)) for user in losing),
                call("list_assignment_rules", active=True),
                *(made for service in courses for made in (find_service(service), find_centre(world, service))),
            ),
            (*moved, *given, *changed, *dropped, *opened),
            f"{full_name(heir)} has {numbers(cases)}; {full_name(losing[0])} is without {skill.name} for now.",
            tuple(case.number for case in cases),
            left_out={"leaves the tasks": given, "leaves the rules": changed, "leaves the skill": dropped},
            instead={
                "takes it from the other one": (
                    *changed,
                    call("remove_user_skills", user_skill_id=str(keeps.user_skill_id)),
                )
            },
            mistakes={"moves another case": (update_case(other, priority="planning"),)},
            tools=("update_skill", "add_new_skill_to_user", "remove_group_membership"),
        ),
        rules={
            "update_hr_case": "CAS-4, CAS-6",
            "update_hr_case_task": "CAS-4",
            "remove_user_skills": "CAS-6",
            "create_new_hr_case": "CAS-1",
        },
    )  # fmt: skip


# --- cases that wait in vain -----------------------------------------------------------------------------------------


def pensions_that_wait(world: World) -> Draft:
    """Suspended cases end by their last change and by what an article says of contractors [CAS-3, PRC-1]."""
    acting, service = world.user("Farida Haddad"), world.service("Pension enrolment")
    article, note, team = world.article("Joining the pension scheme"), "No papers came", world.team("Benefits Desk")
    cases = [case for case in world.all(HrCase, hr_service=service.hr_service_id) if case.status == "suspended"]
    old = [case for case in cases if (case.updated_at or world.now) < at("2026-11-05 00:00")]
    barred = [case for case in cases if case not in old and world.profile(world.person_of(case)).type == "contractor"]
    waiting = [case for case in cases if case not in old and case not in barred]
    resumed = tuple(update_case(case, status="work_in_progress") for case in old)
    ended = tuple(update_case(case, status="closed_incomplete", worknotes=note) for case in old)
    cancelled = tuple(update_case(case, status="cancelled") for case in barred)
    suggested = [
        row
        for case in barred
        for row in world.all(HrCaseKnowledge, hr_case_id=case.hr_case_id, knowledge_id=article.knowledge_id)
    ]
    dropped = tuple(call("remove_knowledge_link_to_hr_case", hr_case_kb_id=row.hr_case_kb_id) for row in suggested)
    links = (*dropped, *(link(case, article, "resolution") for case in barred))
    messages = tuple(notify(case, world.person_of(case), "update") for case in (*old, *barred))
    reminders = tuple(notify(case, world.person_of(case), "reminder") for case in waiting)
    tasks = tuple(
        call(
            "create_hr_case_task",
            status="ready",
            short_description="Ring the person",
            assigned_to=full_name(world.one(User, user_id=case.assigned_to)),
            assignment_group=team.name,
            task_type="mark when complete",
            parent_case=str(case.hr_case_id),
        )
        for case in waiting
    )
    return carried_out(
        world,
        Asked(
            "pensions-that-wait-in-vain", "Farida Haddad",
            "Let us go through the Pension enrolment cases that are suspended. Those in which nothing has changed "
            "since before 5 November 2026 cannot be finished: close them as such, work note \"No papers came\". Of "
            "the rest, people who cannot join by what Joining the pension scheme says are cancelled, with that article "
            "as the resolution. All these people get an update. What still stays suspended afterwards: a reminder to "
            "the person and a ready task \"Ring the person\", mark when complete, for the assignee, Benefits Desk.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the suspended cases of the service with their people, and the text of the article.",
                "Close the oldest ones by way of work_in_progress, with the note (CAS-3, PRC-1).",
                "Cancel those of contractors; the article is linked as a suggestion there, so replace the link.",
                "Send updates (NTF-2).",
                "Remind the person of the remaining case, and create the task for its assignee.",
            ),
            (
                find_user(acting),
                find_service(service),
                list_cases(hr_service=service.service_name, status="suspended"),
                find_article(article),
                find_team(team),
                *map(read_subject, cases),
                *(read_user(world.person_of(case)) for case in cases),
                *map(tasks_of, cases),
                call("find_hr_case_knowledge_links", knowledge_id=article.knowledge_id),
            ),
            (*resumed, *ended, *cancelled, *links, *messages, *reminders, *tasks),
            f"Closed as incomplete: {numbers(old)}; cancelled: {numbers(barred)}; {numbers(waiting)} still waits.",
            tuple(case.number for case in cases),
            left_out={"links nothing": links, "makes no task": tasks, "sends no updates": messages},
            instead={
                "closes at once": (*ended, *cancelled, *links, *messages, *reminders, *tasks),
                "cancels none": (*resumed, *ended, *messages[: len(old)], *reminders, *tasks),
            },
            refused={"closes at once": "PRC-1"},
            mistakes={"cancels the last one too": (update_case(waiting[0], status="cancelled"),)},
            tools=("update_hr_case_task", "update_knowledge_article", "delete_notifications"),
        ),
        rules={
            "update_hr_case": "CAS-3, PRC-1",
            "link_knowledge_to_hr_case": "KB-1",
            "remove_knowledge_link_to_hr_case": "KB-1",
            "create_hr_case_task": "CAS-4, TSK-2",
        },
    )  # fmt: skip


# --- a week without a colleague --------------------------------------------------------------------------------------


def ill_for_longer(world: World) -> Draft:
    """What one colleague has not finished passes on to another after some days; closed cases stay [CAS-8]."""
    acting, ill = world.user("Stellan Ekdahl"), world.user("Corentin Leroy")
    first, second = world.user("Igor Sokolov"), world.user("Tamsin Boyd")
    rule, begins = world.rule("Wages urgent"), at("2027-02-24 09:05")
    cases = [case for case in world.open_cases(ill) if case.priority == "high"]
    (done,) = (case for case in cases if case.status == "ready")
    staying = [case for case in cases if case is not done]
    event = ScenarioEvent(world, begins - world.now).change(done, status="closed_complete")

    def given(cases_: Sequence[HrCase], user: User) -> tuple[ToolCall, ...]:
        tasks = [task for case in cases_ for task in world.tasks(case) if task.status in OPEN_TASKS]
        return (
            *(update_case(case, assigned_to=full_name(user)) for case in cases_),
            *(update_task(task, assigned_to=full_name(user)) for task in tasks),
        )

    def named(*users: User) -> ToolCall:
        keys = [user.user_id for user in users]
        return call("update_assignment_rules", assignment_rule_id=rule.assignment_rule_id, users=keys)

    monday = (*given(cases, first), named(first))
    then = on_day(2, *(call("find_hr_case_by_number", number=case.number) for case in cases), find_user(second))
    again, rules = on_day(2, *given(staying, second)), on_day(2, named(second, first))
    reminders = on_day(2, *(notify(case, second, "reminder") for case in staying))
    open_ones = [case for case in world.open_cases(ill) if case.priority != "high" and case.status in OPEN]
    return carried_out(
        world,
        Asked(
            "corentin-is-ill", "Stellan Ekdahl",
            "Corentin Leroy is ill. Those of his open cases that are high go to Igor Sokolov, open tasks in them too; "
            "all others wait for Corentin. And as long as he is away, Wages urgent must not name him.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the open cases that are high with their tasks, the colleague with skills, and the rule.",
                "Give these cases and tasks to the colleague (CAS-6), and take the person out of the rule.",
                "Second day: read the cases again; one is closed and stays as it is (CAS-8).",
                "Give the other one on, with its task and one reminder, and name both in the rule.",
            ),
            (
                find_user(acting),
                find_user(ill),
                cases_of(ill),
                call("list_hr_case_tasks", assigned_to=full_name(ill)),
                find_user(first),
                call("list_user_skills", user=str(first.user_id)),
                find_rule(rule.name),
                members_of(world.one_team(rule.user_group)),
            ),
            (*monday, *then, *again, *rules, *reminders),
            f"{numbers(staying)} is with Tamsin Boyd now; {done.number} is closed and stays with Igor Sokolov.",
            tuple(case.number for case in cases),
            left_out={"reminds no one": reminders, "leaves the rule": rules, "leaves the task": again[1:]},
            instead={"leaves it with the first colleague": (*monday, *then, *rules, *reminders)},
            mistakes={"moves what is not high": on_day(2, update_case(open_ones[0], assigned_to=full_name(second)))},
            tools=("add_new_assignment_rule", "remove_group_membership"),
        ),
        event,
        rules={"update_hr_case": "CAS-6, CAS-8", "update_assignment_rules": "RUL-2", "send_notification": "NTF-2"},
        expect={"update_hr_case": {"worknotes": May()}},
        days=(
            Day(
                message="Corentin will be away for another two weeks, and Igor's hands are full. What of Thursday's "
                "cases Igor has not finished goes on to Tamsin Boyd, tasks as well, with one reminder to her per case. "
                "Wages urgent names Tamsin first and Igor second from now on.",
                begins_at=begins.isoformat(),
            ),
        ),
        day_answers=(f"Igor Sokolov has {numbers(cases)}, and is the only user of Wages urgent.",),
        events=(event.happens_at(begins),),
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {
    "hospital": (pensions_that_wait,),
    "works": (ill_for_longer,),
}


def single(world: World, seed: str) -> Iterator[Draft]:
    """Cases that wait in vain, or a colleague who is ill."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES = (colleagues, renewals, single)
