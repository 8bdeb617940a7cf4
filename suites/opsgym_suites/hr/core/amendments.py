"""Work during which a rule, a right or the request itself changes.

Invariant: what an agent read first leads to other writes than what is in force when it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import NOT_DONE, all_of, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Category
from opsgym_domains.hr.tables import Checklist, HrProfile, User, UserSkill
from opsgym_suites.hr.calls import (
    cases_of,
    deactivate,
    escalations_from,
    find_article,
    find_case,
    find_centre,
    find_criteria,
    find_service,
    find_skill,
    find_team,
    find_user,
    items_of,
    join_team,
    leave_team,
    link,
    list_cases,
    members_of,
    notify,
    read_profile,
    read_subject,
    read_user,
    skills_of,
    tasks_of,
    tasks_of_user,
    update_case,
    update_profile,
    update_task,
)
from opsgym_suites.hr.scenes import Asked, Work, carried_out
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import Draft, Solution, call, full_name, on_day
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import Has, May, Present, answer_says
from opsgym_suites.kit.world import at


def _amends(rule: str, text: str) -> Event:
    """A rule that reads differently once the agent has looked."""
    return Event(after_step=FIRST_LOOK, amend=Amendment(rule=rule, text=text))


# --- rules that change in mid-task -----------------------------------------------------------------------------------


def one_more_item(world: World) -> Draft:
    """A checklist needs one more item before its task is closed [TSK-4]."""
    case, item = world.case("pension"), "Data protection checked"
    (task,), person = world.tasks(case), world.person_of(case)
    closed, over = update_task(task, status="closed_complete"), update_case(case, status="awaiting_acceptance")
    added = call("create_checklist", checklist_item_description=item, checked=True, case_task_id=task.hr_case_task_id)
    unticked = added.model_copy(update={"arguments": {**added.arguments, "checked": False}})
    message = notify(case, person, "solution_proposal")
    later = call("update_checklist", checklist_id=world.next_id(Checklist), checked=True)
    reads = (
        find_user(world.user("Joost Vermeer")),
        find_case(case),
        tasks_of(case),
        items_of(task),
        read_subject(case),
        read_user(person),
    )
    work = Work(
        (
            "Look up the case, its task with the checklist, and the person.",
            "TSK-4 reads differently now: add the item that it demands, as done, then close the task.",
            "Hand the case over and send the proposal (CAS-7, NTF-2).",
        ),
        reads,
        (added, closed, over, message),
        f"{case.number} awaits acceptance, {task.number} is closed with one more item.",
        (case.number,),
        left_out={"follows the old rule": (added,), "keeps the task open": (closed,)},
        instead={"leaves the item open": (unticked, closed, over, message)},
        mistakes={"links an article": (link(case, world.article("Joining the pension scheme"), "resolution"),)},
        tools=("update_checklist", "create_hr_case_task", "link_knowledge_to_hr_case"),
    )
    return carried_out(
        world,
        Asked(
            "one-item-more-than-yesterday", "Joost Vermeer",
            "Celeste has signed, {case} is finished on my side. Close the task and hand the case over for "
            "acceptance, no "
            "article needed. Data protection people are fiddling with our rules this morning, by the way; whatever "
            "they "
            "want has to be in there.",
        ),
        work,
        numbers={"case": case.number},
        rules={"create_checklist": "TSK-4", "update_hr_case": "CAS-7"},
        expect={"create_checklist": {"checklist_item_description": Has(item)}},
        events=(
            _amends(
                "TSK-4",
                f"A task of type `checklist` is closed as complete when every item is ticked and one of them is "
                f"`{item}`; "
                "if that one is missing, add it as ticked. A task of type `survey` is closed as complete when every "
                "survey "
                "is answered.",
            ),
        ),
        also={"ticks the item afterwards": Solution((*reads, unticked, later, closed, over, message))},
    )  # fmt: skip


def escalation_clears_the_table(world: World) -> Draft:
    """Escalating now also raises the priority and cancels open tasks [ESC-1]."""
    case, acting = world.case("bonus"), world.user("Stellan Ekdahl")
    team = world.team_of(case)
    above = world.one_team(world.escalation(team).escalate_to)
    alerted = [user for user in world.members(above) if user.active and user.role == "manager"]
    moved = update_case(case, assignment_group=above.name, assigned_to="", priority="critical")
    stale = update_case(case, assignment_group=above.name, assigned_to="")
    cancelled = tuple(update_task(task, status="cancelled") for task in world.tasks(case))
    alerts = tuple(notify(case, user, "alert") for user in alerted)
    return carried_out(
        world,
        Asked(
            "escalation-by-the-new-text", "Stellan Ekdahl",
            "Corentin is stuck with {case}. Escalate it, the whole procedure. Henrike is editing the procedure "
            "while I "
            "write this, so stick to her latest version.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the case, its tasks, the escalation rule of its group, and the members of the next group.",
                "ESC-1 reads differently now: move the case without assignee as critical, cancel its open tasks.",
                "Alert every active manager of the new group (NTF-2).",
            ),
            (
                find_user(acting),
                find_case(case),
                tasks_of(case),
                escalations_from(team),
                find_team(above),
                members_of(above),
                *map(read_user, world.members(above)),
            ),
            (*cancelled, moved, *alerts),
            f"{case.number} is with {above.name}, critical, without assignee; its two tasks are cancelled.",
            (case.number, term(above.name)),
            left_out={"leaves the tasks": cancelled, "alerts no one": alerts},
            instead={"follows the old rule": (stale, *alerts)},
            mistakes={"tells the person": (notify(case, world.person_of(case), "update"),)},
            tools=("add_new_escalation_rule", "list_user_groups"),
        ),
        numbers={"case": case.number},
        rules={"update_hr_case": "ESC-1", "update_hr_case_task": "ESC-1", "send_notification": "ESC-1, NTF-2"},
        expect={"update_hr_case_task": {"active": May(False)}},
        events=(
            _amends(
                "ESC-1",
                "Escalating a case means: its group becomes the one to which the escalation rule of its group "
                "leads, it "
                "has no assignee, its priority is `critical`, its open tasks are `cancelled`, and every active "
                "member of "
                "the new group who is a manager gets an `alert`. Without a rule the case cannot be escalated: say "
                "so.",
            ),
        ),
    )  # fmt: skip


def approval_with_a_task(world: World) -> Draft:
    """Asking for an approval now also means a task and an update [APR-2]."""
    case, approver, acting = world.case("move"), world.user("Yvette Marchand"), world.user("Lydia Ferraro")
    service, person, title = world.one_service(case), world.person_of(case), "Follow the approval"
    (criteria,) = world.criteria_of(service)
    team, leads = world.team_of(case), world.team("HR Leads")
    ask = update_case(
        case,
        status="awaiting_approval",
        request_status="requested",
        approval_criteria=str(criteria.hr_criteria_id),
        approver=full_name(approver),
    )
    alert, update = notify(case, approver, "alert"), notify(case, person, "update")
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description=title,
        assigned_to=full_name(acting),
        assignment_group=team.name,
        task_type="mark when complete",
        parent_case=str(case.hr_case_id),
    )
    return carried_out(
        world,
        Asked(
            "asking-takes-more-since-this-morning", "Lydia Ferraro",
            "Please ask Yvette Marchand whether Felix may move to the coast: approval for {case}, the lot. What "
            "belongs "
            "to a request for an approval is being discussed upstairs at this minute, so mind what they decide.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the case, its service with the criteria, and whether these name the approver.",
                "APR-2 reads differently now: ask in one call, alert the approver, update the person.",
                "Create the task that the new text demands, for the assignee of the case.",
            ),
            (
                find_user(acting),
                find_case(case),
                find_service(service),
                call("list_hr_criteria", hr_criteria_id=str(criteria.hr_criteria_id)),
                find_team(leads),
                members_of(leads),
                find_user(approver),
                read_subject(case),
                read_user(person),
            ),
            (ask, alert, update, task),
            f"{case.number} waits for the approval of {full_name(approver)}; there is a task to follow it.",
            (case.number, term("Marchand")),
            left_out={"follows the old rule": (update, task), "makes no task": (task,), "alerts no one": (alert,)},
            mistakes={"starts a survey": (notify(case, acting, "reminder"),)},
            tools=("update_hr_criteria", "find_my_cases_to_approve", "create_checklist"),
        ),
        numbers={"case": case.number},
        rules={"update_hr_case": "APR-1, APR-2", "send_notification": "APR-2", "create_hr_case_task": "APR-2"},
        expect={"create_hr_case_task": {"short_description": Has(title)}},
        events=(
            _amends(
                "APR-2",
                "To ask for an approval, set `awaiting_approval`, `requested`, the criteria and the approver in one "
                "call. "
                "The approver gets an `alert`, the person whom the case is about an `update`, and the case a task "
                "of type "
                f"`mark when complete`, status `ready`, `{title}`, for its assignee and its group.",
            ),
        ),
    )  # fmt: skip


def skills_go_as_well(world: World) -> Draft:
    """Before an account is deactivated, the skills are removed too [USR-2]."""
    acting, leaver, heir = (world.user(name) for name in ("Leopold Adeyemi", "Ayodele Bello", "Nadia Rahimi"))
    cases, tasks, teams = world.open_cases(leaver), world.open_tasks(leaver), world.teams_of(leaver)
    skills, skill = world.all(UserSkill, user=leaver.user_id), world.skill("Absence")
    moved = tuple(update_case(case, assigned_to=full_name(heir)) for case in cases)
    given = tuple(update_task(task, assigned_to=full_name(heir)) for task in tasks)
    left = tuple(leave_team(leaver, team) for team in teams)
    dropped = tuple(call("remove_user_skills", user_skill_id=str(row.user_skill_id)) for row in skills)
    return carried_out(
        world,
        Asked(
            "no-skills-behind-a-closed-door", "Leopold Adeyemi",
            "Ayodele Bello has signed with our competitor and must be locked out today: account off, and all that "
            "our "
            "rules want before that, which may be more by the time you get there, since I am revising them. Nadia "
            "Rahimi "
            "takes over whatever is open. No changes in the profile.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the leaver, the open cases and tasks, the groups, the heir and the heir's skills.",
                "Give the cases and tasks to the heir, remove the membership.",
                "USR-2 reads differently now: remove the skills as well, then deactivate the account.",
            ),
            (
                find_user(acting),
                find_user(leaver),
                cases_of(leaver),
                tasks_of_user(leaver),
                find_user(heir),
                find_skill(skill),
                skills_of(heir),
                skills_of(leaver),
                *(made for team in teams for made in (find_team(team), members_of(team))),
            ),
            (*moved, *given, *left, *dropped, deactivate(leaver)),
            f"The account of {full_name(leaver)} is off, without skills; {full_name(heir)} has {len(cases)} cases "
            f"more.",
            (term("Bello"),),
            left_out={"follows the old rule": dropped, "leaves the tasks": given, "leaves the group": left},
            refused={"leaves the tasks": "USR-2"},
            mistakes={"switches the skill off": (call("update_skill", skill_id=str(skill.skill_id), active=False),)},
            tools=("offboard_hr_profile", "update_hr_profile", "add_new_skill_to_user"),
        ),
        rules={"remove_user_skills": "USR-2", "update_hr_case": "USR-2, CAS-6", "update_hr_case_task": "USR-2"},
        events=(
            _amends(
                "USR-2",
                "Before you deactivate a user, assign their open cases and tasks to others, remove their group "
                "memberships, and remove the skills that they are registered with.",
            ),
        ),
    )  # fmt: skip


def contractors_come_first(world: World) -> Draft:
    """The priority of a new case depends on the type of employment since a moment ago [CAS-2]."""
    acting = world.user("Desmond Achebe")
    mails = (
        ("Bjarne Holt", "HR portal access", "Old name in my access", "critical"),
        ("Harvey Stubbs", "Payslip question", "What does the third line mean", "low"),
        ("Leonie Stubbs", "Pension enrolment", "Some time next year", "planning"),
    )
    opened, reads = [], [find_user(acting)]
    for name, title, summary, priority in mails:
        person, service = world.user(name), world.service(title)
        reads += [find_user(person), read_profile(person), find_service(service), find_centre(world, service)]
        opened.append(
            call(
                "create_new_hr_case",
                hr_service=str(service.hr_service_id),
                opened_for=name,
                priority=priority,
                source="email",
                short_description=summary,
                coe_type=world.centre_of(service),
            )
        )
    old = opened[0].model_copy(update={"arguments": {**opened[0].arguments, "priority": "moderate"}})
    return carried_out(
        world,
        Asked(
            "three-mails-and-a-new-order", "Desmond Achebe",
            "Three mails to put on file as draft cases, no one assigned. Bjarne Holt, HR portal access: \"Old name "
            "in my "
            "access\", he gets along with it until it is repaired. Harvey Stubbs, Payslip question: \"What does the "
            "third "
            "line mean\", just a question. Leonie Stubbs, Pension enrolment: \"Some time next year\", no date. "
            "Priorities "
            "by our rules, and those are being rewritten today.",
        ),
        Work(
            (
                "Look up the people with their profiles, the services and the categories of their topics.",
                "CAS-2 reads differently now: the first person is a contractor.",
                "Create the three cases in draft (CAS-1).",
            ),
            tuple(reads),
            tuple(opened),
            "Three drafts: Bjarne Holt critical, Harvey Stubbs low, Leonie Stubbs planning.",
            (term("Holt"), r"\bcritical\b"),
            instead={"follows the old rule": (old, *opened[1:])},
            left_out={"forgets the last mail": (opened[-1],)},
            mistakes={"opens one twice": (opened[1],)},
            tools=("update_hr_case", "list_assignment_rules", "send_notification"),
        ),
        rules={"create_new_hr_case": "CAS-1, CAS-2"},
        events=(
            _amends(
                "CAS-2",
                "Priority is `critical` if pay or access is missing today, or if the person is a contractor; `high` "
                "if a "
                "deadline lies within two days, `low` for questions, `planning` for matters without a date, and "
                "`moderate` otherwise.",
            ),
        ),
    )  # fmt: skip


# --- the request or a record changes in mid-task ---------------------------------------------------------------------


def not_those_from_india(world: World) -> Draft:
    """The user takes a part of the request back while the agent looks."""
    acting, boss = world.user("Ingrid Solheim"), world.user("Hugo Tremblay")
    profile = world.profile(boss)
    contractors = [one for one in world.people_of(boss) if (one.type, one.location_type) == ("contractor", "Hotdesk")]
    changing = [one for one in contractors if one.nationality != "IN"]
    changed = tuple(update_profile(one, location_type="Office Based") for one in changing)
    all_of_them = tuple(update_profile(one, location_type="Office Based") for one in contractors)
    names = [world.one(User, user_id=one.user_id) for one in changing]
    return carried_out(
        world,
        Asked(
            "desks-for-most-of-them", "Ingrid Solheim",
            "Hugo Tremblay's contractors who share desks get their own: set Office Based for every contractor of "
            "his who "
            "is on Hotdesk and still employed. Name them in your answer. Hugo may still have second thoughts.",
        ),
        Work(
            (
                "Look up the manager's profile, and the contractors of that manager on shared desks.",
                "The user leaves some out: change only the profiles of the others.",
                "Name the people.",
            ),
            (
                find_user(acting),
                find_user(boss),
                read_profile(boss),
                call(
                    "fetch_hr_profiles",
                    manager=str(profile.hr_profile_id),
                    type="contractor",
                    location_type="Hotdesk",
                ),
                *map(read_user, names),
            ),
            changed,
            f"Office Based from now on: {', '.join(map(full_name, names))}.",
            tuple(term(full_name(user)) for user in names),
            instead={"does not listen": all_of_them},
            left_out={"forgets one": changed[-1:]},
            mistakes={"changes the manager too": (update_profile(profile, location_type="Office Based"),)},
            tools=("offboard_hr_profiles", "list_users", "get_hr_profile_by_id"),
        ),
        events=(
            Event(
                after_step=FIRST_LOOK,
                tell="Hugo just called: those with Indian nationality go to another house, so leave them on Hotdesk.",
            ),
        ),
    )  # fmt: skip


def the_approver_is_gone(world: World) -> Draft:
    """The approver's account is closed while the agent looks [APR-1]."""
    case, first, second = world.case("move"), world.user("Ophelia Grant"), world.user("Rajesh Menon")
    service, heads, acting = world.one_service(case), world.team("Heads of HR"), world.user("Magnus Thorsen")
    (criteria,) = world.criteria_of(service)
    event = ScenarioEvent(world).change(first, active=False)

    def asks(name: str) -> tuple[ToolCall, ...]:
        fields = {"request_status": "requested", "approval_criteria": str(criteria.hr_criteria_id), "approver": name}
        return (update_case(case, status="awaiting_approval", **fields), notify(case, world.user(name), "alert"))

    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Papers to the approver",
        assigned_to=full_name(acting),
        assignment_group=world.team_of(case).name,
        task_type="mark when complete",
        parent_case=str(case.hr_case_id),
    )
    reads = (
        find_user(acting),
        find_case(case),
        find_service(service),
        find_criteria(criteria.name),
        find_team(heads),
        members_of(heads),
        find_user(first),
        find_user(second),
    )
    return carried_out(
        world,
        Asked(
            "ophelia-leaves-in-these-minutes", "Magnus Thorsen",
            "Approval for {case}: ask Ophelia Grant if her account still works when you ask, she is leaving us this "
            "very "
            "afternoon; otherwise Rajesh Menon. And make me a task \"Papers to the approver\" in the case, mark when "
            "complete, ready, Personnel Office.",
            Access.STRICT,
        ),
        Work(
            (
                "Look up the case, its service with the criteria, the group that these name, and both people.",
                "Look again right before asking: the first one is inactive now (APR-1).",
                "Ask the second one in one call, with an alert (APR-2), and create the task.",
            ),
            reads,
            (*asks(full_name(second)), task),
            f"{case.number} waits for {full_name(second)}; the task for the papers is ready.",
            (case.number, term("Menon")),
            instead={"asks the first one": (*asks(full_name(first)), task)},
            refused={"asks the first one": "APR-1"},
            left_out={"makes no task": (task,)},
            mistakes={"raises the priority": (update_case(case, priority="critical"),)},
            tools=("update_hr_criteria", "update_user_details"),
        ),
        event,
        numbers={"case": case.number},
        rules={"update_hr_case": "APR-1, APR-2", "send_notification": "APR-2"},
        events=(event.happens_after(FIRST_LOOK),),
    )  # fmt: skip


# --- over night ------------------------------------------------------------------------------------------------------


def redrawn_circle(world: World) -> Draft:
    """Who was named on the first day is not named on the second one [CNF-2]."""
    acting, case, leads = world.user("Oskar Lehmann"), world.case("grievance"), world.team("HR Leads")
    service, handler, begins = world.one_service(case), world.user("Bronwen Price"), at("2026-11-17 08:45")
    (criteria,) = world.criteria_of(service)
    event = ScenarioEvent(world, begins - world.now).change(criteria, user_group=leads.group_id)
    old = world.one_team(criteria.user_group)
    reminded = notify(case, handler, "reminder")
    raised = update_case(case, priority="critical")
    then = on_day(2, find_service(service), find_criteria(criteria.name), find_team(leads), members_of(leads))
    return carried_out(
        world,
        Asked(
            "the-circle-is-smaller-today", "Oskar Lehmann",
            "Bronwen has to call the shift lead about {case} today, a reminder for her please. I may know of the "
            "case, as "
            "a member of Employee Relations, but check it.",
        ),
        Work(
            (
                "Look up the case, its service, the criteria, and the members of the group that they name.",
                "The acting user is among them: send the reminder (CNF-2, NTF-2).",
                "Second day: the criteria name another group. Change nothing, tell nothing (CNF-2, REF-1).",
            ),
            (
                find_user(acting),
                find_case(case),
                find_service(service),
                find_criteria(criteria.name),
                find_team(old),
                members_of(old),
                find_user(handler),
            ),
            (reminded, *then),
            "I did not change or tell anything: the criteria of such matters no longer name you or a group of yours.",
            (NOT_DONE, r"\bcriteria\b|\bnamed?\b|\bcircle\b|\bconfidential\w*|\bCNF-2\b"),
            left_out={"reminds no one": (reminded,)},
            instead={"does what it did yesterday": (reminded, *then, *on_day(2, raised))},
            wrong_answers={"tells it": f"{case.number} is not changed; the criteria say it is about Bjarne Holt."},
            mistakes={"reminds her again": on_day(2, reminded)},
            tools=("update_hr_case", "update_hr_criteria", "add_new_group_member"),
        ),
        event,
        numbers={"case": case.number},
        rules={"send_notification": "NTF-1, NTF-2, CNF-2"},
        more_checks=(
            answer_says(
                "discloses_nothing",
                "The answer of the second day tells nothing of the case [CNF-2]",
                rf"(?s)^(?!.*(?:\bHolt\b|\bdispute\b|\bhigh\b|{case.number}))",
                category=Category.PERMISSION_PROCESS,
            ),
        ),
        days=(
            Day(
                message="Good morning. Yvette has redrawn the circles for our kind of cases last night. Raise the "
                "one of "
                "yesterday to critical and tell me again whom it is about and how it stands, provided that is still "
                "mine to know.",
                begins_at=begins.isoformat(),
            ),
        ),
        day_answers=(f"Bronwen Price got a reminder about {case.number}.",),
        events=(event.happens_at(begins),),
    )  # fmt: skip


def one_request_lapses(world: World) -> Draft:
    """Of two requests the system rejects one over night; it is asked again [APR-5, APR-2]."""
    acting, lapsed, waiting = world.user("Marisa Contreras"), world.case("course-late"), world.case("course")
    approver, begins = world.user("Rajesh Menon"), at("2027-02-19 10:00")
    handler = world.one(User, user_id=lapsed.assigned_to)
    event = ScenarioEvent(world, begins - world.now)
    reminders = tuple(notify(case, approver, "reminder") for case in (lapsed, waiting))
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description="Explain the cost",
        assigned_to=full_name(handler),
        assignment_group=world.team_of(lapsed).name,
        task_type="mark when complete",
        parent_case=str(lapsed.hr_case_id),
    )
    again = on_day(
        2,
        update_case(lapsed, status="awaiting_approval", request_status="requested", priority="high"),
        notify(lapsed, approver, "alert"),
        task,
    )
    other = on_day(2, update_case(waiting, priority="high"))
    then = on_day(2, find_case(lapsed), find_case(waiting), read_user(handler))
    return carried_out(
        world,
        Asked(
            "one-of-two-requests-lapses", "Marisa Contreras",
            "Which requests wait for Rajesh Menon? Remind him of each, once. Nothing else today, he reads his mail "
            "in the "
            "evening.",
        ),
        Work(
            (
                "Look up the requests that wait for the approver, and remind the approver of each.",
                "Second day: the system has rejected one of them (APR-5).",
                "Ask for that one again (APR-2) with the new priority, and create the task; leave the other one.",
            ),
            (find_user(acting), find_user(approver), list_cases(approver="Rajesh Menon", request_status="requested")),
            (*reminders, *then, *again),
            f"{lapsed.number} had lapsed and waits again, as high; {waiting.number} still waits.",
            (lapsed.number,),
            left_out={"reminds no one": reminders, "makes no task": on_day(2, task)},
            instead={"asks for neither": (*reminders, *then), "raises the other one too": (*reminders, *then, *again,
                *other)},
            mistakes={"tells the person": on_day(2, notify(lapsed, world.person_of(lapsed), "update"))},
            tools=("find_my_cases_to_approve", "update_hr_criteria", "find_notifications"),
        ),
        event,
        rules={"update_hr_case": "APR-2, APR-5", "send_notification": "NTF-1, NTF-2, APR-2"},
        expect={"update_hr_case": {"updated_at": Present()}},
        days=(
            Day(
                message="He did not answer. If one of them has lapsed meanwhile, ask Rajesh once more, with priority "
                "high and all that goes with asking, and put a task into that case, \"Explain the cost\", mark when "
                "complete, ready, for its own assignee and group. What has not lapsed simply goes on waiting.",
                begins_at=begins.isoformat(),
            ),
        ),
        day_answers=(f"Rajesh Menon got reminders about {lapsed.number} and {waiting.number}.",),
    )  # fmt: skip


def authors_may_publish(world: World) -> Draft:
    """What agents could not do on the first day, they may on the second one [KB-2]."""
    acting, case = world.user("Dunja Petrovic"), world.case("bonus")
    article, begins = world.article("Night shift bonus after the merger"), at("2026-11-18 09:10")
    publish = call("update_knowledge_article", knowledge_id=article.knowledge_id, state="published")
    linked = link(case, article, "applied")
    reads = (find_user(acting), find_case(case), find_article(article))
    then = on_day(2, find_article(article), call("find_hr_case_knowledge_links", hr_case_id=case.hr_case_id))
    return carried_out(
        world,
        Asked(
            "authors-publish-since-wednesday", "Dunja Petrovic",
            "Please publish my article Night shift bonus after the merger and link it to {case} as applied.",
        ),
        Work(
            (
                "Look up the acting user, the case and the article: agents do not publish (KB-2). Change nothing.",
                "Second day: KB-2 reads differently. The article is the acting user's own: publish it.",
                "Link it to the case (KB-1).",
            ),
            (*reads, *then),
            on_day(2, publish, linked),
            f"{article.kb_number} is published and linked to {case.number} as applied.",
            (article.kb_number, case.number),
            left_out={"links nothing": on_day(2, linked), "links the draft": on_day(2, publish)},
            instead={"makes it external too": on_day(2, publish, linked, call("update_knowledge_article",
                knowledge_id=article.knowledge_id, visibility="external"))},
            mistakes={"updates the person": on_day(2, notify(case, world.person_of(case), "update"))},
            tools=("create_knowledge_article", "retrieve_knowledge_articles", "update_hr_case"),
        ),
        ScenarioEvent(world, begins - world.now),
        numbers={"case": case.number},
        rules={"update_knowledge_article": "KB-2", "link_knowledge_to_hr_case": "KB-1"},
        more_checks=(
            answer_says(
                "declines_on_the_first_day",
                "The answer of the first day says that it was not done, and why [KB-2, REF-1]",
                all_of([NOT_DONE, r"\bmanagers?\b|\badmins?\b|\bagents?\b|\bKB-2\b"]),
                category=Category.PERMISSION_PROCESS,
                day=1,
            ),
        ),
        days=(
            Day(
                message="They say the authors have got more rights. If that is so for mine, do what I asked on "
                "Monday.",
                begins_at=begins.isoformat(),
            ),
        ),
        day_answers=("Nothing was published or linked: you are an agent, and only managers and admins publish.",),
        events=(
            Event(
                at=begins.isoformat(),
                amend=Amendment(
                    rule="KB-2",
                    text="Managers and admins publish and retire articles. Agents write drafts and publish those "
                    "that "
                    "they own themselves; they retire nothing.",
                ),
            ),
        ),
    )  # fmt: skip


def a_start_that_moves(world: World) -> Draft:
    """Onboarding begins on one day, and continues with other facts on the next one [PRO-6]."""
    acting, boss, team = world.user("Leopold Adeyemi"), world.user("Emeka Nwosu"), world.team("Time Clock Crew")
    service, begins = world.service("Joiner setup"), at("2027-02-22 09:00")
    user_id, profile_id = world.next_id(User), world.next_id(HrProfile)
    skill = world.skill("Time clock")
    account = call(
        "add_new_user",
        first_name="Ottar",
        last_name="Fjeldstad",
        email="ottar.fjeldstad@" + acting.email.partition("@")[2],
        role="agent",
    )
    profile = call(
        "onboard_new_hr_profile",
        user_id=str(user_id),
        personal_email="ottar.f@briefkasten.example",
        national_tax_id="758",
        type="full-time",
        nationality="DE",
        employment_start_date="2027-03-01",
        manager=str(world.profile(boss).hr_profile_id),
        position="IT Support",
    )
    case = call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for="Ottar Fjeldstad",
        priority="moderate",
        source="phone",
        short_description="Ottar starts in April",
        coe_type=world.centre_of(service),
    )
    moved = call(
        "update_hr_profile",
        hr_profile_id=str(profile_id),
        employment_start_date="2027-04-01",
        type="part-time",
    )
    skilled = call("add_new_skill_to_user", skill=str(skill.skill_id), user=str(user_id))
    then = on_day(2, find_service(service), find_centre(world, service), find_team(team), find_skill(skill))
    rest = on_day(2, moved, join_team(user_id, team), skilled, case)
    return carried_out(
        world,
        Asked(
            "ottar-starts-a-month-later", "Leopold Adeyemi",
            "Ottar Fjeldstad, German, IT Support, full-time, starts on 1 March 2027 with Emeka Nwosu as manager. "
            "Private "
            "address ottar.f@briefkasten.example, tax number ends in 758. Create account (role agent) and HR profile "
            "today; group and case we do when I am back.",
        ),
        Work(
            (
                "Look up the manager and the manager's profile; create account (USR-1) and profile.",
                "Second day: the start moves and the type changes; change the profile.",
                "Add the membership and the skill, and create the case in draft (CAS-1, CAS-2, PRO-6).",
            ),
            (find_user(acting), find_user(boss), read_profile(boss)),
            (account, profile, *then, *rest),
            "Ottar Fjeldstad starts on 1 April 2027, part-time; membership, skill and the case in draft are there.",
            (term("Fjeldstad"),),
            left_out={
                "leaves the profile": rest[:1], "forgets the group": rest[1:2], "gives no skill": rest[2:3]
            },
            mistakes={"starts the case": on_day(2, call("send_notification", hr_case_id=1, email=boss.email,
                type="update", status="ready"))},
            tools=("update_user_details", "create_hr_case_task", "offboard_hr_profile"),
        ),
        ScenarioEvent(world, begins - world.now),
        rules={"create_new_hr_case": "CAS-1, CAS-2, PRO-6", "add_new_skill_to_user": "ID-3"},
        days=(
            Day(
                message="Back again. Ottar comes a month later, on 1 April 2027, and only part-time: correct that. "
                "Then "
                "the Time Clock Crew as his group, the skill Time clock, and the case: Joiner setup, by phone, "
                "\"Ottar "
                "starts in April\". No tasks yet.",
                begins_at=begins.isoformat(),
            ),
        ),
        day_answers=("Ottar Fjeldstad has an account and a profile from 1 March 2027.",),
    )  # fmt: skip


SCENES: Mapping[str, Sequence[Callable[[World], Draft]]] = {
    "hospital": (
        one_more_item,
        approval_with_a_task,
        contractors_come_first,
        not_those_from_india,
        redrawn_circle,
        authors_may_publish,
    ),
    "works": (
        escalation_clears_the_table,
        skills_go_as_well,
        the_approver_is_gone,
        one_request_lapses,
        a_start_that_moves,
    ),
}


def amendments(world: World, seed: str) -> Iterator[Draft]:
    """A rule, a right, a record or the request changes before the agent writes [ID-4]."""
    yield from (scene(world) for scene in SCENES[seed])


FAMILIES = (amendments,)
