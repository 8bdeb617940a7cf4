"""Adds the cases of a world, those of its stories and everyday ones, with what belongs to them.

Invariant: cases are numbered in the order of their creation. An everyday case keeps the policy: its assignee belongs to
its group and has its skill, and tasks of closed cases are closed.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from opsgym_domains.hr.tables import (
    Checklist,
    HrCase,
    HrCaseKnowledge,
    HrCaseTask,
    HrProfile,
    Notification,
    Survey,
    SurveyInstance,
    User,
)
from opsgym_domains.hr.visibility import OPEN
from opsgym_suites.hr.seeds.setting import CaseFixture, Service, Setting, TaskFixture
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.world import at

STATUSES = ("closed_complete",) * 7 + (
    "work_in_progress",
    "work_in_progress",
    "ready",
    "suspended",
    "closed_incomplete",
)
"""Statuses of everyday cases, as often as they occur."""
PRIORITIES = ("moderate", "moderate", "low", "high", "planning")
SOURCES = ("self-service", "phone", "email", "chat", "walk-in", "virtual-agent")
ANSWERS = ("It went well.", "Quick enough.", "Could be clearer.", "Nothing to add.", "I had to ask twice.")
WAITING = "Waits for papers from outside HR"
UNFINISHED = "The person took the request back"


@dataclass
class NewCase:
    """A case with what belongs to it, before it is numbered."""

    row: HrCase
    service: Service
    fixture: CaseFixture | None = None
    tasks: list[TaskFixture] = field(default_factory=list)


def add_cases(world: World, setting: Setting, rng: random.Random) -> None:
    """All cases, the oldest first."""
    cases = [_of_fixture(world, setting, fixture) for fixture in setting.cases]
    cases += [_everyday(world, setting, rng) for _ in range(setting.everyday)]
    cases.sort(key=lambda one: (one.row.created_at, one.row.short_description))
    for one in cases:
        one.row.number = f"HRC{world.draw_number(HrCase):07d}"
        world.add(one.row)
        if one.fixture:
            world.register(one.fixture.key, one.row)
    for one in cases:
        _add_parts(world, setting, one, rng)


def _of_fixture(world: World, setting: Setting, fixture: CaseFixture) -> NewCase:
    service = next(one for one in setting.services if one.name == fixture.service)
    centre = dict(setting.categories)[service.category]
    row = HrCase(
        status=fixture.status,
        hr_service=world.service(fixture.service).hr_service_id,
        opened_for=world.profile(fixture.person).hr_profile_id,
        opened_by=world.user(fixture.opened_by or fixture.person).user_id,
        priority=fixture.priority,
        source=fixture.source,
        assigned_to=world.user(fixture.assignee).user_id if fixture.assignee else None,
        assignment_group=world.team(fixture.team).group_id if fixture.team else None,
        short_description=fixture.summary,
        worknotes=fixture.notes,
        skills=json.dumps([world.skill(name).skill_id for name in fixture.skills]) if fixture.skills else None,
        approval_criteria=world.criteria(fixture.criteria).hr_criteria_id if fixture.criteria else None,
        coe_type=centre,
        approver=world.user(fixture.approver).user_id if fixture.approver else None,
        request_status=fixture.approval,
        account_number=fixture.account,
        account_type="checking" if fixture.account else None,
        created_at=_moment(setting, fixture.created),
        updated_at=_moment(setting, fixture.updated or fixture.created),
        org_id=1,
    )
    return NewCase(row, service, fixture, list(fixture.tasks))


def _moment(setting: Setting, text: str) -> datetime:
    return at(text if len(text) > len("11-16 08:00") else f"{setting.now.year}-{text}")


def _everyday(world: World, setting: Setting, rng: random.Random) -> NewCase:
    service = rng.choice([one for one in setting.services if one.active and one.summaries])
    workers = _workers(world, service)
    assignee = rng.choice(workers)
    status, minutes = rng.choice(STATUSES), rng.randint(2 * 24 * 60, 300 * 24 * 60)
    people = [row for row in world.all(HrProfile) if row.user_id != assignee.user_id]
    person = rng.choice([row for row in people if status not in OPEN or row.employment_end_date is None])
    if status in OPEN:
        minutes = rng.randint(24 * 60, 20 * 24 * 60)
    created = setting.now - timedelta(minutes=minutes)
    updated = created + timedelta(minutes=rng.randint(60, max(61, min(minutes - 60, 9000))))
    notes = {"suspended": WAITING, "closed_incomplete": UNFINISHED}.get(status)
    skill = None if service.skill is None else json.dumps([world.skill(service.skill).skill_id])
    row = HrCase(
        status=status,
        hr_service=world.service(service.name).hr_service_id,
        opened_for=person.hr_profile_id,
        opened_by=person.user_id,
        priority=rng.choice(PRIORITIES),
        source=rng.choice(SOURCES),
        assigned_to=assignee.user_id,
        assignment_group=world.team(service.team).group_id,
        short_description=rng.choice(service.summaries),
        worknotes=notes,
        skills=skill,
        coe_type=dict(setting.categories)[service.category],
        created_at=created,
        updated_at=min(updated, setting.now - timedelta(minutes=5)),
        org_id=1,
    )
    return NewCase(row, service, None, _everyday_tasks(service, status, assignee, rng))


def _workers(world: World, service: Service) -> list[User]:
    """Whom cases of a service may be assigned to [CAS-4, CAS-6]."""
    members = [user for user in world.members(world.team(service.team)) if user.active and user.role == "agent"]
    return [user for user in members if service.skill is None or world.has_skill(user, world.skill(service.skill))]


def _everyday_tasks(service: Service, status: str, assignee: User, rng: random.Random) -> list[TaskFixture]:
    tasks, done = [], status not in OPEN
    name = f"{assignee.first_name} {assignee.last_name}"
    for number in range(rng.randint(0, 2)):
        state = "closed_complete" if done else rng.choice(("ready", "work_in_progress", "closed_complete"))
        if number == 0 and service.steps:
            items = tuple((item, state == "closed_complete" or rng.random() < 0.4) for item in service.steps)
            if state != "closed_complete" and all(checked for _, checked in items):
                items = ((items[0][0], False), *items[1:])
            tasks.append(TaskFixture(f"Steps of {service.name.lower()}", state, name, items=items))
        else:
            tasks.append(TaskFixture("Tell the person how it went", state, name, "mark when complete"))
    if done and rng.random() < 0.25:
        tasks.append(TaskFixture("Ask how it went", "closed_complete", name, "survey", survey=""))
    return tasks


# --- what belongs to a case ----------------------------------------------------------------------------------------


def _add_parts(world: World, setting: Setting, one: NewCase, rng: random.Random) -> None:
    case, fixed = one.row, one.fixture is not None
    times = _soon_after(case)
    for task in one.tasks:
        _add_task(world, case, task, times, rng)
    for name, kind, status in one.fixture.notices if one.fixture else ():
        notice = {"email": world.user(name).email, "type": kind, "status": status}
        world.add(Notification(hr_case_id=case.hr_case_id, org_id=1, **notice, **times))
    if fixed:
        return
    person = world.person_of(case)
    kinds = ["update"] if case.status in OPEN else ["update", "solution_proposal"]
    for kind in kinds if person.active else []:
        world.add(
            Notification(hr_case_id=case.hr_case_id, email=person.email, type=kind, status="ready", org_id=1, **times)
        )
    titles = [row.title for row in setting.articles if row.service == one.service.name and row.state == "published"]
    if titles and rng.random() < 0.6:
        article = world.article(rng.choice(titles)).knowledge_id
        use = "resolution" if case.status == "closed_complete" else "suggested"
        world.add(HrCaseKnowledge(hr_case_id=case.hr_case_id, knowledge_id=article, used_as=use, org_id=1, **times))


def _soon_after(case: HrCase) -> dict[str, datetime]:
    """When what belongs to a case was added: half an hour after it, but not after its last change."""
    assert case.created_at is not None
    assert case.updated_at is not None
    when = min(case.created_at + timedelta(minutes=30), case.updated_at)
    return {"created_at": when, "updated_at": when}


def _add_task(world: World, case: HrCase, task: TaskFixture, times: dict[str, datetime], rng: random.Random) -> None:
    row = world.add(
        HrCaseTask(
            number=f"HRT{world.draw_number(HrCaseTask):07d}",
            status=task.status,
            assigned_to=world.user(task.assignee).user_id if task.assignee else None,
            assignment_group=case.assignment_group,
            short_description=task.summary,
            task_type=task.type,
            active=task.status not in {"closed_complete", "cancelled"},
            parent_case=case.hr_case_id,
            org_id=1,
            **times,
        )
    )
    for text, checked in task.items:
        world.add(
            Checklist(
                checklist_item_description=text,
                checked=checked,
                case_task_id=row.hr_case_task_id,
                org_id=1,
                **times,
            )
        )
    if task.survey is not None:
        _add_survey(world, case, row, task, times, rng)


def _add_survey(
    world: World,
    case: HrCase,
    row: HrCaseTask,
    task: TaskFixture,
    times: dict[str, datetime],
    rng: random.Random,
) -> None:
    """A survey of a task: one that is answered, unless the task names who still has to answer."""
    survey = world.all(Survey)[1 if task.survey else rng.randrange(len(world.all(Survey)))]
    respondent = world.user(task.survey) if task.survey else world.person_of(case)
    answers = {} if task.survey else {"answer_1": rng.choice(ANSWERS), "answer_2": rng.choice(ANSWERS)}
    world.add(
        SurveyInstance(
            survey_id=survey.survey_id,
            case_task_id=row.hr_case_task_id,
            assigned_to=respondent.user_id,
            org_id=1,
            **answers,
            **times,
        )
    )
