"""People of the HR department who come back, leave for good, step down, or take a long leave.

Invariant: what a person may keep or needs anew is not in the request; skills, groups, criteria and rules tell it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import term
from opsgym_api.tasks.days import Day
from opsgym_domains.hr.tables import HrCase, HrCaseTask, HrProfile, Notification, UserSkill
from opsgym_suites.hr.calls import (
    cases_of,
    deactivate,
    find_centre,
    find_criteria,
    find_rule,
    find_service,
    find_skill,
    find_team,
    find_user,
    join_team,
    leave_team,
    list_cases,
    members_of,
    notify,
    read_profile,
    read_user,
    skills_of,
    tasks_of_user,
    update_case,
    update_profile,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, call, full_name, on_day
from opsgym_suites.kit.effects import WrittenRow
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.world import at


def _any_order(keys: Sequence[int]) -> list[str]:
    """A list of users as the tables hold it, in any order."""
    return [json.dumps(list(form)) for form in permutations(keys)]


# --- back at work ----------------------------------------------------------------------------------------------------


def back_for_half_a_year(world: World) -> Draft:
    """An agent returns with a limited contract: the skill has stayed, the place in a rule has not [RUL-2]."""
    acting, person, helper = (world.user(name) for name in ("Desmond Achebe", "Orla Fitzgerald", "Marek Dvorak"))
    team, other, rule = world.team("Payroll Office"), world.team("People Services"), world.rule("Payroll high")
    service, profile, skill = world.service("New employee setup"), world.profile(person), world.skill("Payroll")
    users = [*(user.user_id for user in world.users_of(rule)), person.user_id]
    account = call("update_user_details", user_id=str(person.user_id), active=True)
    contract = update_profile(
        profile, employment_start_date="2026-11-16", employment_end_date="2027-05-31", type="part-time"
    )
    named = call("update_assignment_rules", assignment_rule_id=rule.assignment_rule_id, users=users)
    case = call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for=full_name(person),
        priority="moderate",
        source="email",
        short_description="Orla is back",
        coe_type=world.centre_of(service),
    )
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Portal for Orla",
        assigned_to=full_name(helper),
        assignment_group=other.name,
        task_type="hr service",
        hr_service="HR portal access",
        parent_case=str(world.next_id(HrCase)),
    )
    (waiting,) = world.all(Notification, email=person.email)
    return carried_out(
        world,
        Asked(
            "orla-is-back-till-may", "Desmond Achebe",
            "Orla Fitzgerald works for the Payroll Office again as of today, 16 November 2026, part-time, and with a "
            "contract until 31 May 2027. She has an account and a profile from before; put them in order, first and "
            "last day included, and let her into her group. Payroll high names her as its third user, as it once did. "
            "Should she lack the skill Payroll, register it. Then a case New employee setup, by email, moderate, "
            "\"Orla is back\", and in it a ready task of type hr service, \"Portal for Orla\", service HR portal "
            "access, for Marek Dvorak of People Services.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the person with profile and skills, the group, the rule, the service, and the helper.",
                "Activate the account, change contract and dates in one call (PRO-1), and add the membership.",
                "The skill is there already. Name the person in the rule once she is a member (RUL-2).",
                "Create the case in draft and its task (CAS-1, TSK-3).",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                find_skill(skill),
                skills_of(person),
                find_team(team),
                members_of(team),
                find_rule(rule.name),
                find_service(service),
                find_centre(world, service),
                find_user(helper),
                find_team(other),
                members_of(other),
            ),
            (account, contract, join_team(person, team), named, case, task),
            "Orla Fitzgerald is active again, part-time until 31 May 2027, in the Payroll Office and in Payroll high; "
            "the case is a draft with one task. She had the skill already.",
            (term("Fitzgerald"),),
            left_out={"leaves the account": (account,), "leaves the rule": (named,), "makes no task": (task,)},
            mistakes={"sends an old draft": (
                call("update_notification", notification_id=waiting.notification_id, status="ready"),
            )},
            tools=("add_new_user", "onboard_new_hr_profile", "add_new_skill_to_user"),
        ),
        rules={
            "update_user_details": "ID-3",
            "update_hr_profile": "PRO-1",
            "update_assignment_rules": "RUL-2",
            "create_new_hr_case": "CAS-1",
            "create_hr_case_task": "TSK-3",
        },
    )  # fmt: skip


def back_in_another_trade(world: World) -> Draft:
    """An agent returns to another group: one skill is replaced, and a message in draft is deleted [NTF-1]."""
    acting, person, team = world.user("Marisa Contreras"), world.user("Gordon Mayhew"), world.team("Training Yard")
    profile, old, new = world.profile(person), world.skill("Wages"), world.skill("Apprentices")
    had = world.one(UserSkill, user=person.user_id, skill=old.skill_id)
    (waiting,) = world.all(Notification, email=person.email)
    account = call("update_user_details", user_id=str(person.user_id), active=True)
    contract = update_profile(profile, employment_start_date="2027-02-18", employment_end_date="2027-09-30")
    dropped = call("remove_user_skills", user_skill_id=str(had.user_skill_id))
    gained = call("add_new_skill_to_user", skill=str(new.skill_id), user=str(person.user_id))
    deleted = call("delete_notifications", notification_id=waiting.notification_id)
    return carried_out(
        world,
        Asked(
            "gordon-is-back-for-the-apprentices", "Marisa Contreras",
            "Gordon Mayhew, who left us in November, is with us again from today (18 February 2027) to 30 September "
            "2027. This time he belongs to the Training Yard. Account, dates, membership, please. As for skills, he "
            "shall be registered with the one that course bookings there require and with nothing else. And while he "
            "was away someone wrote a message to his address about a case in which he has no part, it never left the "
            "house: remove it.",
        ),
        Work(
            (
                "Look up the person with profile, skills and notifications, the group, and cases of its service.",
                "Activate the account, change the dates in one call (PRO-1), and add the membership.",
                "Remove the old skill, add the one of the group's cases, and delete the draft (NTF-1).",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                skills_of(person),
                find_team(team),
                members_of(team),
                list_cases(hr_service="Course booking", status="ready"),
                find_skill(new),
                find_skill(old),
                call("find_notifications_for_email", email=person.email),
            ),
            (account, contract, join_team(person, team), dropped, gained, deleted),
            "Gordon Mayhew is active until 30 September 2027, in the Training Yard with the skill Apprentices only; "
            "the old draft is deleted.",
            (term("Mayhew"), term("Apprentices")),
            left_out={"leaves the old skill": (dropped,), "leaves the message": (deleted,), "has no group": (
                join_team(person, team),)},
            instead={"readdresses the message": (account, contract, join_team(person, team), dropped, gained,
                call("update_notification", notification_id=waiting.notification_id, email=acting.email))},
            mistakes={"changes the contract": (update_profile(profile, type="part-time"),)},
            tools=("update_assignment_rules", "onboard_new_hr_profile", "update_notification"),
        ),
        rules={"update_user_details": "ID-3", "update_hr_profile": "PRO-1", "remove_user_skills": "ID-3"},
    )  # fmt: skip


# --- out of office ---------------------------------------------------------------------------------------------------


def approver_leaves(world: World) -> Draft:
    """A manager without people leaves; what waits for an approval gets another approver first [APR-1, PRO-5]."""
    acting, person, heir = (world.user(name) for name in ("Ingrid Solheim", "Anil Deshpande", "Paloma Reyes"))
    profile, criteria = world.profile(person), world.criteria("Training approvers")
    users = [heir.user_id if user is person else user.user_id for user in world.users_of(criteria)]
    cases = world.all(HrCase, approver=person.user_id, request_status="requested")
    teams = world.teams_of(person)
    named = call("update_hr_criteria", hr_criteria_id=str(criteria.hr_criteria_id), users=",".join(map(str, users)))
    moved = tuple(update_case(case, approver=full_name(heir)) for case in cases)
    alerts = tuple(notify(case, heir, "alert") for case in cases)
    left = tuple(leave_team(person, team) for team in teams)
    ended = call("offboard_hr_profile", hr_profile_id=str(profile.hr_profile_id))
    return carried_out(
        world,
        Asked(
            "anil-has-cleared-his-desk", "Ingrid Solheim",
            "It is Anil Deshpande's last day with us. Please do all of it, employment and account, in the way our "
            "rules lay down. Paloma Reyes inherits his say on courses: his place among the Training approvers, and "
            "each request that waits for his word. She does not know of them yet. Kasimir's entry is left as it is.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the person with profile, people, cases, tasks and groups, and what waits for his approval.",
                "Name the heir in the criteria (APR-1), then in the requests, with an alert for each (APR-2).",
                "Remove the memberships (USR-2), end the employment (PRO-4, PRO-5), deactivate the account.",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                call("fetch_hr_profiles", manager=str(profile.hr_profile_id)),
                cases_of(person),
                tasks_of_user(person),
                list_cases(approver=full_name(person), request_status="requested"),
                find_criteria(criteria.name),
                *map(read_user, world.users_of(criteria)),
                find_user(heir),
                call("list_user_groups"),
                *map(members_of, teams),
            ),
            (named, *moved, *alerts, *left, ended, deactivate(person)),
            f"Anil Deshpande has left: no groups, account off. {full_name(heir)} approves {cases[0].number} and "
            f"{cases[1].number}.",
            (term("Deshpande"), *(case.number for case in cases)),
            left_out={"alerts no one": alerts, "leaves the groups": left, "leaves the account": (deactivate(person),)},
            instead={"forgets the criteria": (*moved, *alerts, *left, ended, deactivate(person))},
            refused={"forgets the criteria": "APR-1"},
            mistakes={"decides for her": (update_case(cases[0], priority="high"),)},
            tools=("register_hr_criteria", "update_hr_profile", "offboard_hr_profiles"),
        ),
        rules={"update_hr_case": "APR-1", "send_notification": "APR-2", "offboard_hr_profile": "PRO-4, PRO-5"},
        expect={"update_hr_criteria": {"users": _any_order(users)}},
    )  # fmt: skip


def back_to_casework(world: World) -> Draft:
    """A manager becomes an agent again: seats that go with the role go, the desk stays and gets a manager [PRO-2]."""
    acting, person, heir = (world.user(name) for name in ("Marisa Contreras", "Ophelia Grant", "Rajesh Menon"))
    profile, heads, unit = world.profile(person), world.team("Heads of HR"), world.team("Fair Work Unit")
    circle = world.criteria("Medical circle")
    users = [heir.user_id if user is person else user.user_id for user in world.users_of(circle)]
    role = call("update_user_details", user_id=str(person.user_id), role="agent")
    position = update_profile(profile, position="HR")
    left, joined = leave_team(person, heads), join_team(heir, unit)
    named = call("update_hr_criteria", hr_criteria_id=str(circle.hr_criteria_id), users=",".join(map(str, users)))
    return carried_out(
        world,
        Asked(
            "ophelia-wants-cases-not-people", "Marisa Contreras",
            "By her own wish Ophelia Grant is an agent from today, not a manager; position HR. Her cases and the Fair "
            "Work Unit she keeps; among the Heads of HR she has no seat as an agent. Rajesh Menon becomes a member of "
            "the unit so that it has a manager. In lists that name her one by one, be it for visibility or for "
            "approvals, Rajesh stands instead of her. If she has people or requests that need a manager, they are his "
            "as well.",
        ),
        Work(
            (
                "Look up both, her people, requests that wait for her, the groups, and all criteria.",
                "She has neither people nor requests, so the role may go (PRO-2).",
                "Change role and position, membership of both, and the criteria that list her.",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                call("fetch_hr_profiles", manager=str(profile.hr_profile_id)),
                list_cases(approver=full_name(person)),
                find_user(heir),
                find_team(heads),
                members_of(heads),
                find_team(unit),
                members_of(unit),
                call("list_hr_criteria", type="case_visibility"),
                call("list_hr_criteria", type="approval"),
            ),
            (role, position, left, joined, named),
            "Ophelia Grant is an agent in the Fair Work Unit; Rajesh Menon is in the unit and in the Medical circle.",
            (term("Grant"), term("Medical circle")),
            left_out={"leaves the position": (position,), "leaves the seat": (left,), "leaves the circle": (named,)},
            instead={"takes her out of the unit": (role, position, left, leave_team(person, unit), joined, named)},
            mistakes={"names him for courses again": (
                call("update_hr_criteria", hr_criteria_id=str(world.criteria("Course approvers").hr_criteria_id),
                    users=str(heir.user_id)),
            )},
            tools=("remove_user_skills", "register_hr_criteria", "update_hr_case"),
        ),
        rules={
            "update_user_details": "PRO-2, USR-1",
            "update_hr_profile": "ID-3",
            "remove_group_membership": "ID-3",
            "add_new_group_member": "ID-3",
            "update_hr_criteria": "CNF-2",
        },
        expect={"update_hr_criteria": {"users": _any_order(users)}},
    )  # fmt: skip


# --- a long leave ----------------------------------------------------------------------------------------------------


def three_months_away(world: World) -> Draft:
    """Her people get a manager for the time, over the weekend another one gets one of them [ID-3, PRC-1]."""
    acting, person = world.user("Leopold Adeyemi"), world.user("Cordula Weiss")
    first, second, third = (world.user(name) for name in ("Jolanta Wozniak", "Philippa Strand", "Emeka Nwosu"))
    handler, helper, team = world.user("Ayodele Bello"), world.user("Hilde Sorensen"), world.team("Absence Desk")
    service, people, begins = world.service("Long absence"), world.people_of(person), at("2027-02-22 08:40")
    moved_on = world.profile("Cillian Daly")
    staying = [one for one in people if one is not moved_on]
    event = ScenarioEvent(world, begins - world.now).change(moved_on, manager=third.user_id)
    case_id, task_id = world.next_id(HrCase), world.next_id(HrCaseTask)

    def led_by(profiles: Sequence[HrProfile], boss: Any) -> tuple[Any, ...]:
        return tuple(update_profile(one, manager=str(world.profile(boss).hr_profile_id)) for one in profiles)

    case = call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for=full_name(person),
        priority="moderate",
        source="phone",
        short_description="Cordula rests till May",
        coe_type=world.centre_of(service),
        assignment_group=team.name,
        assigned_to=full_name(handler),
    )
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Plan the cover",
        assigned_to=full_name(helper),
        assignment_group=team.name,
        task_type="mark when complete",
        parent_case=str(case_id),
    )
    again = on_day(2, *led_by(staying, second))
    steps = on_day(2, update_case(case_id, status="ready"), update_case(case_id, status="work_in_progress"))
    handed = on_day(2, call("update_hr_case_task", hr_case_task_id=str(task_id), assigned_to=full_name(handler)))
    news = on_day(2, notify(case_id, person, "update"))
    then = on_day(
        2,
        *(call("get_hr_profile_by_id", hr_profile_id=str(one.hr_profile_id)) for one in people),
        find_user(second),
        read_profile(second),
    )
    today = (*led_by(people, first), case, task)

    def judged(row: WrittenRow) -> Mapping[str, Any]:
        return {"manager": third.user_id} if row.key == moved_on.hr_profile_id else {}

    return carried_out(
        world,
        Asked(
            "cordula-rests-till-may", "Leopold Adeyemi",
            "Cordula Weiss takes three months off from Monday. Her people report to Jolanta Wozniak for that time, "
            "starting now. Please also open a case of Long absence for her, by phone, moderate, \"Cordula rests till "
            "May\", already with Ayodele Bello of the Absence Desk but still a draft; in it a ready task \"Plan the "
            "cover\", mark when complete, for Hilde Sorensen, same group.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the manager's people, the one who covers, the service with its centre, and the group.",
                "Change the manager of each, create the case in draft with its assignee, and the task.",
                "Second day: read the profiles again; one person has got another manager meanwhile and stays there.",
                "Move the others, hand the task on, start the case step by step (PRC-1), and send the update.",
            ),
            (
                find_user(acting),
                find_user(person),
                read_profile(person),
                call("fetch_hr_profiles", manager=str(world.profile(person).hr_profile_id)),
                find_user(first),
                read_profile(first),
                find_service(service),
                find_centre(world, service),
                find_team(team),
                members_of(team),
                find_user(handler),
                find_user(helper),
            ),
            (*today, *then, *again, *steps, *handed, *news),
            "Konrad Halloran and Milena Dragan report to Philippa Strand; Cillian Daly had been given to Emeka Nwosu "
            "and stays there. The case is in progress and Cordula Weiss has an update.",
            (term("Strand"), term("Daly")),
            left_out={"leaves the task": handed, "leaves the case": steps, "sends no update": news},
            instead={"moves all of them": (*today, *then, *again, *steps, *handed, *news,
                *on_day(2, *led_by((moved_on,), second)))},
            mistakes={"changes her own manager": (update_profile(world.profile(person), position="Manager",
                location_type="Remote"),)},
            tools=("offboard_hr_profile", "update_user_details", "list_hr_cases"),
        ),
        event,
        rules={
            "update_hr_profile": "PRO-2",
            "create_new_hr_case": "CAS-1",
            "create_hr_case_task": "CAS-4",
            "update_hr_case": "CAS-3, PRC-1",
        },
        expect={"update_hr_profile": judged},
        days=(
            Day(
                message="Good morning. Jolanta has had second thoughts: those we gave her on Thursday go to Philippa "
                "Strand, as far as they still report to Jolanta; other changes of the weekend stand. Ayodele does the "
                "cover as well, so the task is his too. And the case is in progress from today, Cordula gets an "
                "update.",
                begins_at=begins.isoformat(),
            ),
        ),
        day_answers=("Three people report to Jolanta Wozniak; Cordula Weiss has a draft case with one task.",),
        events=(event.happens_at(begins),),
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {
    "hospital": (back_for_half_a_year, approver_leaves),
    "works": (back_in_another_trade, back_to_casework, three_months_away),
}


def returns(world: World, seed: str) -> Iterator[Draft]:
    """A person returns, leaves, steps down or is away for months."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES = (returns,)
