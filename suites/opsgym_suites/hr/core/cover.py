"""Who may take work: cases about colleagues, and cases that wait in vain.

Invariant: the person whom a rule or a habit would name first is not the one who gets the work, and only reads show it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_domains.hr.tables import HrCase, HrCaseKnowledge, HrCaseTask, Skill, User
from opsgym_suites.hr.calls import (
    find_article,
    find_centre,
    find_service,
    find_skill,
    find_team,
    find_user,
    link,
    list_cases,
    loads,
    notify,
    numbers,
    read_subject,
    read_user,
    rules_for,
    tasks_of,
    update_case,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.answers import term
from opsgym_suites.kit.drafts import Draft, call, full_name
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


def waiting(world: World, seed: str) -> Iterator[Draft]:
    """Suspended cases of the seed `hospital`."""
    if seed == "hospital":
        yield pensions_that_wait(world)


FAMILIES = (colleagues, waiting)
