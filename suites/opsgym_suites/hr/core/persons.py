"""Changes of a person that reach into other tables: a new name, a promotion, one trade less, a last day.

Invariant: which records follow is not in the request; group, rule, skill, contract or place of work tell it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import AssignmentRule, HrCase, HrCaseTask, Notification, UserSkill
from opsgym_suites.hr.calls import (
    cases_of,
    deactivate,
    find_case,
    find_centre,
    find_criteria,
    find_service,
    find_skill,
    find_team,
    find_user,
    join_team,
    leave_team,
    list_cases,
    members_of,
    notify,
    numbers,
    read_profile,
    read_user,
    skills_of,
    tasks_of,
    tasks_of_user,
    update_case,
    update_profile,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import OPEN_TASKS, World
from opsgym_suites.kit.drafts import Draft, call, full_name
from opsgym_suites.kit.verifiers import Has, May

# --- a new name, a new role ------------------------------------------------------------------------------------------


def new_name(world: World) -> Draft:
    """A name changes, and with it the work address and a message that waits [USR-1]."""
    acting, person, case = world.user("Ingrid Solheim"), world.user("Arjun Pillai"), world.case("letter")
    profile, handler = world.profile(person), world.user("Marek Dvorak")
    (waiting,) = world.all(Notification, hr_case_id=case.hr_case_id, email=person.email)
    address = "arjun.nambudiri@" + person.email.partition("@")[2]
    account = call("update_user_details", user_id=str(person.user_id), last_name="Nambudiri", email=address)
    married = update_profile(profile, marital_status="Married")
    message = call("update_notification", notification_id=waiting.notification_id, email=address)
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Print the new name",
        assigned_to=full_name(handler),
        assignment_group=world.team_of(case).name,
        task_type="mark when complete",
        parent_case=str(case.hr_case_id),
    )
    half = account.model_copy(update={"arguments": {"user_id": str(person.user_id), "last_name": "Nambudiri"}})
    return carried_out(
        world,
        Asked(
            "arjun-has-married", "Ingrid Solheim",
            "Arjun Pillai has married and is called Arjun Nambudiri now. Change what we hold about the person and "
            "the "
            "account, and see that a message on {case} that has not left the house yet does not go to a dead "
            "address. In "
            "{case} we also need a task \"Print the new name\", mark when complete, ready, for the one who has the "
            "case, in "
            "the group of the case.",
        ),
        Work(
            (
                "Look up the person, the profile, the case, and the notifications to the old address.",
                "Change name and address (USR-1) and the marital status.",
                "Correct the draft of a notification, and create the task; what was sent stays.",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                find_case(case),
                call("find_notifications_for_email", email=person.email),
                tasks_of(case),
            ),
            (account, married, message, task),
            f"Arjun Nambudiri has the address {address}; profile, one draft and a task in {case.number} follow.",
            (term("Nambudiri"), case.number),
            left_out={"leaves the message": (message,), "leaves the profile": (married,), "makes no task": (task,)},
            instead={"keeps the address": (half, married, message, task)},
            mistakes={"sends it": (call("update_notification", notification_id=waiting.notification_id,
                status="ready"),)},
            tools=("send_notification", "delete_notifications", "update_hr_case"),
        ),
        numbers={"case": case.number},
        rules={"update_notification": "NTF-1", "update_user_details": "USR-1"},
    )  # fmt: skip


def promotion(world: World) -> Draft:
    """An agent becomes a manager, gets people and a place among approvers [PRO-2, APR-1]."""
    acting, person = world.user("Marisa Contreras"), world.user("Magnus Thorsen")
    before, stays = world.user("Cordula Weiss"), world.user("Konrad Halloran")
    team, criteria = world.team("Heads of HR"), world.criteria("Course approvers")
    gone = next(user for user in world.users_of(criteria) if not user.active)
    users = [person if user.user_id == gone.user_id else user for user in world.users_of(criteria)]
    people = [one for one in world.people_of(before) if one.user_id != stays.user_id]
    profile = world.profile(person)
    role = call("update_user_details", user_id=str(person.user_id), role="manager")
    position = update_profile(profile, position="Manager")
    moved = tuple(update_profile(one, manager=str(profile.hr_profile_id)) for one in people)
    named = call(
        "update_hr_criteria",
        hr_criteria_id=str(criteria.hr_criteria_id),
        users=",".join(str(user.user_id) for user in users),
    )
    forms = [json.dumps(list(form)) for form in permutations(user.user_id for user in users)]
    return carried_out(
        world,
        Asked(
            "magnus-becomes-a-head", "Marisa Contreras",
            "Magnus Thorsen is promoted to manager today: role, position, a seat in the Heads of HR. Everyone whom "
            "Cordula "
            "Weiss leads at present reports to Magnus instead, with the exception of Konrad Halloran. Among the "
            "Course "
            "approvers there is someone who cannot log in any more; Magnus takes that place.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up Magnus, the people of the other manager, the group, and the criteria with their users.",
                "Give the role first (PRO-2), then position, membership and the people.",
                "Put Magnus in the place of the inactive approver.",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                find_user(before),
                read_profile(before),
                call("fetch_hr_profiles", manager=str(world.profile(before).hr_profile_id)),
                find_user(stays),
                find_team(team),
                members_of(team),
                find_criteria(criteria.name),
                *map(read_user, world.users_of(criteria)),
            ),
            (role, position, join_team(person, team), *moved, named),
            f"Magnus Thorsen is a manager with {len(people)} people, in the Heads of HR and among the Course "
            f"approvers.",
            (term("Thorsen"),),
            left_out={"leaves the people": moved, "leaves the position": (position,), "leaves the criteria": (named,)},
            mistakes={"moves all people": (update_profile(world.profile(stays), manager=str(profile.hr_profile_id)),)},
            tools=("remove_group_membership", "register_hr_criteria", "list_users"),
        ),
        rules={"update_user_details": "PRO-2, USR-1", "update_hr_profile": "PRO-2", "update_hr_criteria": "APR-1"},
        expect={"update_hr_criteria": {"users": forms}},
    )  # fmt: skip


# --- one trade less --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trade:
    """A person who gives up one of two trades: its group, its skill, its work, its place in rules."""

    request: Asked
    person: str
    team: str
    skill: str
    heir: str


TRADES: Mapping[str, Sequence[Trade]] = {
    "hospital": (
        Trade(
            Asked(
                "silas-is-a-recruiter-only", "Desmond Achebe",
                "From today Silas Thorne does Recruiting and nothing but. He is out of HR Systems and no longer "
                "registered "
                "with the skill HR systems; his cases that need it, whatever their state, are Zofia Kaminska's, "
                "open tasks "
                "in them too. See to it that nothing assigns such work to him again.",
                Access.STRICT,
            ),
            "Silas Thorne", "HR Systems", "HR systems", "Zofia Kaminska",
        ),
    ),
    "works": (
        Trade(
            Asked(
                "tamsin-does-wages-only", "Leopold Adeyemi",
                "Tamsin Boyd concentrates on wages. So: not a member of Shares and Pensions any more, skill Shares "
                "off, and "
                "Willem Brandt inherits the cases of hers that are open and need that skill, together with the open "
                "tasks "
                "in them. Should a rule still send her such cases, it has to forget her.",
                Access.STRICT,
            ),
            "Tamsin Boyd", "Shares and Pensions", "Shares", "Willem Brandt",
        ),
    ),
}  # fmt: skip


def trades(world: World, seed: str) -> Iterator[Draft]:
    """A person gives up a trade; rules that name the person for it change too [RUL-2]."""
    for scene in TRADES[seed]:
        yield _trade(world, scene)


def _trade(world: World, scene: Trade) -> Draft:
    acting, person, heir = (world.user(name) for name in (scene.request.actor, scene.person, scene.heir))
    team, skill = world.team(scene.team), world.skill(scene.skill)
    had = world.one(UserSkill, user=person.user_id, skill=skill.skill_id)
    cases = [case for case in world.open_cases(person) if case.skills == json.dumps([skill.skill_id])]
    keys = {case.hr_case_id for case in cases}
    tasks = [task for task in world.open_tasks(person) if task.parent_case in keys]
    naming = [rule for rule in world.all(AssignmentRule, user_group=team.group_id) if person in world.users_of(rule)]
    moved = tuple(update_case(case, assigned_to=scene.heir) for case in cases)
    given = tuple(update_task(task, assigned_to=scene.heir) for task in tasks)
    left = leave_team(person, team)
    dropped = call("remove_user_skills", user_skill_id=str(had.user_skill_id))
    forgotten = tuple(
        call(
            "update_assignment_rules",
            assignment_rule_id=rule.assignment_rule_id,
            users=[user.user_id for user in world.users_of(rule) if user.user_id != person.user_id],
        )
        for rule in naming
    )
    other = next(case for case in world.open_cases(person) if case not in cases)
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up the person with the open cases and tasks, the group, the skill, the heir, and the rules.",
                "Give the cases that need the skill and their open tasks to the heir (CAS-4, CAS-6).",
                "Take the person out of rules for the group (RUL-2), out of the group, and off the skill.",
            ),
            (
                find_user(acting),
                find_user(person),
                cases_of(person),
                tasks_of_user(person),
                find_team(team),
                members_of(team),
                find_skill(skill),
                skills_of(person),
                find_user(heir),
                skills_of(heir),
                call("list_assignment_rules", user_group=team.group_id),
            ),
            (*moved, *given, *forgotten, left, dropped),
            f"{scene.person} is out of {scene.team}; {scene.heir} has {numbers(cases)}.",
            tuple(case.number for case in cases),
            left_out={
                "leaves the tasks": given,
                "leaves the skill": (dropped,),
                "leaves the group": (left,),
                **({"leaves the rule": forgotten} if forgotten else {}),
            },
            mistakes={"moves other cases too": (update_case(other, priority="low"),)},
            tools=("update_user_details", "update_skill", "add_new_assignment_rule"),
        ),
        rules={"update_hr_case": "CAS-4, CAS-6", "remove_group_membership": "RUL-2", "remove_user_skills": "ID-3"},
    )


# --- what a person takes back, and when a person goes ----------------------------------------------------------------


def taken_back(world: World) -> Draft:
    """A person takes requests back: what has started ends otherwise than what has not [CAS-3, CAS-8]."""
    acting, person, note = world.user("Tobias Renner"), world.user("Wilma Okonjo"), "Taken back by the person"
    service, profile = world.service("Payslip question"), world.profile("Wilma Okonjo")
    every = world.all(HrCase, opened_for=profile.hr_profile_id, hr_service=service.hr_service_id)
    cases = [case for case in every if case.status in ("ready", "work_in_progress")]
    ends = {"ready": "cancelled", "work_in_progress": "closed_incomplete"}
    over = tuple(update_case(case, status=ends[case.status], worknotes=note) for case in cases)
    tasks = [task for case in cases for task in world.tasks(case) if task.status in OPEN_TASKS]
    dropped = tuple(update_task(task, status="cancelled") for task in tasks)
    drafts = [
        one for case in cases for one in world.all(Notification, hr_case_id=case.hr_case_id) if one.status == "draft"
    ]
    deleted = tuple(call("delete_notifications", notification_id=one.notification_id) for one in drafts)
    message = tuple(notify(case, person, "update") for case in cases)
    started = next(case for case in cases if case.status == "work_in_progress")
    return carried_out(
        world,
        Asked(
            "wilma-wants-no-more-of-it", "Tobias Renner",
            "Wilma Okonjo takes her open Payslip questions back, her ward has paid her. Close them from our side: "
            "those "
            "that someone works on as incomplete, those that no one has begun as cancelled, open tasks cancelled in "
            "both. "
            "Note each time: \"Taken back by the person\". Messages about them that are still drafts are to be "
            "deleted, "
            "and Wilma gets one update per case.",
        ),
        Work(
            (
                "Look up the person, the open cases of the service about her, their tasks and notifications.",
                "Cancel the open tasks, and end each case by its status with the note (CAS-3).",
                "Delete the drafts, and send one update per case (NTF-2).",
            ),
            (
                find_user(acting),
                find_user(person),
                list_cases(opened_for=full_name(person), hr_service=service.service_name),
                *map(tasks_of, cases),
                *(call("find_notifications_sent_for_incident", hr_case_id=case.hr_case_id) for case in cases),
            ),
            (*dropped, *over, *deleted, *message),
            f"Closed: {numbers(cases)}; tasks cancelled, drafts deleted, updates sent.",
            tuple(case.number for case in cases),
            left_out={"leaves the tasks": dropped, "leaves the drafts": deleted, "tells no one": message},
            instead={
                "cancels all": (
                    *dropped,
                    *(update_case(case, status="cancelled", worknotes=note) for case in cases),
                    *deleted,
                    *message,
                )
            },
            mistakes={"tells the assignee": (notify(started, world.user("Caleb Whitlock"), "update"),)},
            tools=("update_notification", "create_new_hr_case", "update_checklist"),
        ),
        rules={"update_hr_case": "CAS-3, CAS-8", "delete_notifications": "NTF-1", "send_notification": "NTF-1, NTF-2"},
        expect={
            "update_hr_case_task": {"active": May(False)},
            "update_hr_case": {"worknotes": Has(note)},
        },
    )  # fmt: skip


@dataclass(frozen=True)
class LastDay:
    """A person who leaves today or later, with a case whose checklist depends on the profile."""

    request: Asked
    person: str
    service: str
    helper: str
    team: str
    summary: str
    last: str | None
    """Last day if it lies ahead; None for today."""


LAST_DAYS: Mapping[str, Sequence[LastDay]] = {
    "hospital": (
        LastDay(
            Asked(
                "bjarne-goes-tonight", "Desmond Achebe",
                "Bjarne Holt's last day is today, end the employment and do what goes with that on a last day. Then "
                "a case "
                "of Leaver checklist, priority moderate, source email, \"Papers of Bjarne Holt\", and in it a ready "
                "checklist task \"Leaving\" for Marek Dvorak, People Services: \"Badge\" is on everyone's list, "
                "\"Last "
                "payslip\" on that of employees, contractors get none, and \"Courier\" only if they work remote.",
            ),
            "Bjarne Holt", "Leaver checklist", "Marek Dvorak", "People Services", "Papers of Bjarne Holt", None,
        ),
    ),
    "works": (
        LastDay(
            Asked(
                "petra-goes-at-the-end-of-march", "Leopold Adeyemi",
                "Petra Steinmetz resigned, her last day is 31 March 2027; record the end of her employment. We need "
                "a case, "
                "service Farewell, source phone, moderate, \"Papers of Petra Steinmetz\". Checklist task "
                "\"Leaving\" in it "
                "for Annika Falk of the Personnel Office, ready: \"Badge\" for everybody, \"Last payslip\" unless "
                "the "
                "person is a contractor, \"Courier\" for those who work remote. What our rules say of her account, "
                "and "
                "when, please observe.",
            ),
            "Petra Steinmetz", "Farewell", "Annika Falk", "Personnel Office", "Papers of Petra Steinmetz",
            "2027-03-31",
        ),
    ),
}  # fmt: skip


def last_days(world: World, seed: str) -> Iterator[Draft]:
    """Employment ends today, with the account, or later, without it [PRO-5]; the list depends on the profile."""
    for scene in LAST_DAYS[seed]:
        yield _last_day(world, scene)


def _last_day(world: World, scene: LastDay) -> Draft:
    acting, person, service = world.user(scene.request.actor), world.user(scene.person), world.service(scene.service)
    profile, helper = world.profile(person), world.user(scene.helper)
    fitting = {
        "Badge": True,
        "Last payslip": profile.type != "contractor",
        "Courier": profile.location_type == "Remote",
    }
    task_id = world.next_id(HrCaseTask)
    ended: tuple[ToolCall, ...]
    if scene.last is None:
        ended = (call("offboard_hr_profile", hr_profile_id=str(profile.hr_profile_id)), deactivate(person))
    else:
        ended = (update_profile(profile, employment_end_date=scene.last),)
    case = call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for=scene.person,
        priority="moderate",
        source="email" if "email" in scene.request.prompt else "phone",
        short_description=scene.summary,
        coe_type=world.centre_of(service),
    )
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Leaving",
        assigned_to=scene.helper,
        assignment_group=scene.team,
        task_type="checklist",
        parent_case=str(world.next_id(HrCase)),
    )
    items = {text: call("create_checklist", checklist_item_description=text, case_task_id=task_id) for text in fitting}
    right = tuple(items[text] for text, fits in fitting.items() if fits)
    unfit = tuple(items[text] for text, fits in fitting.items() if not fits)
    mistake: tuple[ToolCall, ...] = unfit or (deactivate(person),)
    return carried_out(
        world,
        scene.request,
        Work(
            (
                "Look up the person with profile and open work, the service with its centre, and the helper.",
                "End the employment; the account is deactivated on the last day, not before (PRO-5).",
                "Create case, task, and the items that fit the contract and the place of work.",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                cases_of(person),
                tasks_of_user(person),
                find_service(service),
                find_centre(world, service),
                find_user(helper),
                find_team(world.team(scene.team)),
                members_of(world.team(scene.team)),
            ),
            (*ended, case, task, *right),
            f"The employment of {scene.person} ends{f' on {scene.last}' if scene.last else ' today'}; the case is a "
            f"draft.",
            (term(person.last_name),),
            left_out={"makes no list": right, "leaves the employment": ended[:1],
                **({"leaves the account": ended[1:]} if ended[1:] else {})},
            mistakes={"does too much": mistake},
            tools=("update_user_details", "offboard_hr_profile", "add_new_user", "send_notification"),
        ),
        rules={"create_new_hr_case": "CAS-1", "update_hr_profile": "PRO-5"},
    )  # fmt: skip


def single(world: World, seed: str) -> Iterator[Draft]:
    """A new name and requests taken back, or a promotion."""
    scenes = (new_name, taken_back) if seed == "hospital" else (promotion,)
    yield from (scene(world) for scene in scenes)


FAMILIES = (single, trades, last_days)
