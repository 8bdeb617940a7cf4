"""Tasks about people: joining, leaving, handing work over, and changes of many profiles at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import number, on_date
from opsgym_api.tasks.days import Day
from opsgym_domains.hr.tables import HrCase, HrCaseTask, HrProfile, User
from opsgym_suites.hr.calls import (
    cases_of,
    deactivate,
    find_centre,
    find_service,
    find_skill,
    find_team,
    find_user,
    join_team,
    leave_team,
    members_of,
    names_all,
    numbers,
    only,
    read_profile,
    tasks_of_user,
    update_case,
    update_profile,
    update_task,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.hr.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import at

SOURCES = ("walk-in", "email", "phone", "chat")
"""Channels of cases, as prompts name them."""

# --- joining ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joining:
    """A person who joins."""

    slug: str
    actor: str
    name: str
    manager: str
    team: str
    service: str
    position: str
    type: str
    country: str
    begins: str
    """First day of employment."""
    private: str
    """Personal address."""
    digits: str
    """Last digits of the tax number."""
    summary: str
    task: str
    items: tuple[str, ...]
    prompt: str
    priority: str = "moderate"
    role: str = "employee"
    access: Access = Access.PUBLISHED


JOINING: Mapping[str, Sequence[Joining]] = {
    "hospital": (
        Joining(
            "starter-for-the-coast-clinic", "Ingrid Solheim", "Merete Vandal", "Honora Blackwood", "Ward Champions",
            "New employee setup", "Administration", "full-time", "GB", "2026-12-01", "merete.vandal@postbox.example",
            "712", "Set up Merete Vandal", "Prepare the first day",
            ("Print the badge", "Book the welcome talk"),
            "We hired Merete Vandal: Administration, full-time, British, first day 1 December 2026, Honora Blackwood "
            "leads her. Private mail merete.vandal@postbox.example, tax number ends in 712. Please onboard her "
            "completely as an employee in the Ward Champions, with a case for New employee setup that came by email, "
            "called \"Set up Merete Vandal\", and under it one checklist task \"Prepare the first day\" with "
            "\"Print the badge\" and \"Book the welcome talk\". The task is for Marek Dvorak of People Services.",
        ),
        Joining(
            "contractor-starts-tomorrow", "Desmond Achebe", "Yannick Poulsen", "Gustav Lindqvist", "HR Systems",
            "New employee setup", "IT Support", "contractor", "DE", "2026-11-17", "y.poulsen@postbox.example", "845",
            "Setup for Yannick Poulsen", "Before tomorrow",
            ("Account on two screens", "Tell the portal team", "Key for the server room"),
            "Urgent: Yannick Poulsen (contractor, IT Support, German) begins tomorrow, 17 November 2026, with Gustav "
            "Lindqvist as manager. He goes into HR Systems as an employee. y.poulsen@postbox.example, tax number "
            "...845. Everything onboarding takes, please; I called in person, so the source is walk-in; service New "
            "employee setup, \"Setup for Yannick Poulsen\". It needs a checklist task \"Before tomorrow\" for Sunniva "
            "Berg of People Services: \"Account on two screens\", \"Tell the portal team\", \"Key for the server "
            "room\".",
            priority="high", access=Access.STRICT,
        ),
    ),
    "works": (
        Joining(
            "fitter-for-the-test-bench", "Leopold Adeyemi", "Sverre Haugland", "Cordula Weiss", "Safety Delegates",
            "Joiner setup", "QA", "full-time", "DE", "2027-03-01", "sverre.h@briefkasten.example", "733",
            "Sverre Haugland joins QA", "Gate two",
            ("Shoes in size 46", "Locker with a key"),
            "New man for the test bench. Sverre Haugland, German, QA, full-time, Cordula Weiss is his boss, starts "
            "1 March 2027. sverre.h@briefkasten.example; tax number ends 733. Role employee, and he becomes one of the "
            "Safety Delegates. Case: Joiner setup, reported by phone, \"Sverre Haugland joins QA\". Checklist task "
            "\"Gate two\" for Annika Falk, Personnel Office: \"Shoes in size 46\" and \"Locker with a key\". All that "
            "our rules want for a start, please.",
        ),
        Joining(
            "agent-for-the-absence-desk", "Marisa Contreras", "Clothilde Benner", "Ophelia Grant", "Absence Desk",
            "Joiner setup", "HR", "part-time", "FR", "2027-02-19", "cbenner@briefkasten.example", "764",
            "Clothilde Benner for the desk", "Ready for the desk",
            ("Headset", "Chair by the window", "Rota of March"),
            "Hello, the Absence Desk gets help at last: Clothilde Benner, part-time, position HR, from France, begins "
            "tomorrow (19 February 2027) under Ophelia Grant. Give her the role agent, membership of the desk, her "
            "profile (cbenner@briefkasten.example, tax number with 764 at the end) and a case of Joiner setup "
            "\"Clothilde Benner for the desk\", source chat, with a checklist task \"Ready for the desk\" for Devika "
            "Rao in the Personnel Office: \"Headset\", \"Chair by the window\", \"Rota of March\".",
            priority="high", role="agent", access=Access.STRICT,
        ),
    ),
}  # fmt: skip
PREPARES = {
    "Marek Dvorak": "People Services",
    "Sunniva Berg": "People Services",
    "Annika Falk": "Personnel Office",
    "Devika Rao": "Personnel Office",
}
"""Team of those who prepare a first day."""


def joining(world: World, seed: str) -> Iterator[Draft]:
    """A person joins: account, profile, group, case and task [PRO-6]."""
    for scene in JOINING[seed]:
        yield _joining(world, scene)


def _joining(world: World, scene: Joining) -> Draft:
    acting, boss, service = world.user(scene.actor), world.user(scene.manager), world.service(scene.service)
    helper = next(name for name in PREPARES if name in scene.prompt)
    first, _, last = scene.name.partition(" ")
    domain = acting.email.partition("@")[2]
    user_id, case_id, task_id = (world.next_id(kind) for kind in (User, HrCase, HrCaseTask))
    account = call(
        "add_new_user",
        first_name=first,
        last_name=last,
        email=f"{first}.{last}@{domain}".lower(),
        role=scene.role,
    )
    profile = call(
        "onboard_new_hr_profile",
        user_id=str(user_id),
        personal_email=scene.private,
        national_tax_id=scene.digits,
        type=scene.type,
        nationality=scene.country,
        employment_start_date=scene.begins,
        manager=str(world.profile(boss).hr_profile_id),
        position=scene.position,
    )
    case = call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for=scene.name,
        priority=scene.priority,
        source=next(word for word in SOURCES if word in scene.prompt),
        short_description=scene.summary,
        coe_type=world.centre_of(service),
    )
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description=scene.task,
        assigned_to=helper,
        assignment_group=PREPARES[helper],
        task_type="checklist",
        parent_case=str(case_id),
    )
    items = tuple(
        call("create_checklist", checklist_item_description=item, case_task_id=task_id) for item in scene.items
    )
    looked = (
        find_user(acting),
        find_user(boss),
        read_profile(boss),
        find_team(world.team(scene.team)),
        find_service(service),
        find_centre(world, service),
        find_user(world.user(helper)),
    )
    gold = (*looked, account, profile, join_team(user_id, world.team(scene.team)), case, task, *items)
    answer = f"{scene.name} has an account and a profile from {scene.begins}; the case is a draft with one task."
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                f"Look up {scene.actor}, the manager and the manager's profile, the group, the service, its category.",
                "Create the account, with the address that the rule prescribes (USR-1), and the profile (PRO-6).",
                f"Add the membership, and the case with priority {scene.priority} (CAS-1, CAS-2).",
                "Create the task with its checklist.",
            ),
            gold=gold,
            answer=answer,
            verifiers=(
                answer_says(
                    "says_when", "The answer says when employment begins [REF-3]", on_date(at(scene.begins + " 00:00"))
                ),
            ),
            tools=("update_hr_profile", "list_user_groups", "update_user_details", "send_notification"),
            access=scene.access,
            mistakes={
                "assigns the case": (update_case(case_id, status="ready"),),
                "adds an item of their own": (
                    call("create_checklist", checklist_item_description="Welcome cake", case_task_id=task_id),
                ),
            },
            negative_trajectories={
                "leaves the group out": NegativeTrajectory(
                    tuple(made for made in gold if made.name != "add_new_group_member"), answer
                ),
            },
        ),
        rules={"create_new_hr_case": "CAS-1, CAS-2, PRO-6"},
    )


# --- an agent leaves the department ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandingOver:
    """An agent of HR who leaves, with open work."""

    slug: str
    actor: str
    leaver: str
    heirs: tuple[tuple[str, str], ...]
    """Who gets the cases that need a skill: skill and name."""
    prompt: str
    access: Access = Access.PUBLISHED


HANDING_OVER: Mapping[str, Sequence[HandingOver]] = {
    "hospital": (
        HandingOver(
            "farida-hands-over-both-trades", "Ingrid Solheim", "Farida Haddad",
            (("Pensions", "Joost Vermeer"), ("Leave", "Thandi Mokoena")),
            "Farida Haddad changes to another house. Switch her account off. Whatever needs Pensions goes to Joost "
            "Vermeer, whatever needs Leave to Thandi Mokoena, her tasks go with the cases. Her profile is done by "
            "someone else.",
        ),
        HandingOver(
            "silas-hands-over-two-desks", "Desmond Achebe", "Silas Thorne",
            (("Recruiting", "Priya Nambiar"), ("HR systems", "Zofia Kaminska")),
            "hi, silas thorne is gone as of today, please deactivate the account with everything our rules want "
            "first. Recruiting work to Priya Nambiar, HR systems work to Zofia Kaminska, tasks like their cases. "
            "Leave the profile as it is.",
            access=Access.STRICT,
        ),
        HandingOver(
            "dunja-leaves-two-offices", "Ingrid Solheim", "Dunja Petrovic",
            (("Payroll", "Nils Aaberg"), ("Pensions", "Joost Vermeer")),
            "Please deactivate Dunja Petrovic's account, she moved to Lisbon. Cases that require Payroll: Nils Aaberg. "
            "Cases that require Pensions: Joost Vermeer. Tasks follow their case. Employment data are not your job.",
        ),
    ),
    "works": (
        HandingOver(
            "nadia-hands-over-both-trades", "Leopold Adeyemi", "Nadia Rahimi",
            (("Shares", "Willem Brandt"), ("Absence", "Ayodele Bello")),
            "Nadia Rahimi has left the building for good: account off, please, by the book. Her Shares cases are for "
            "Willem Brandt, her Absence cases for Ayodele Bello, and the tasks belong to the one who gets the case. "
            "Do not "
            "touch the profile.",
        ),
        HandingOver(
            "pavla-and-the-clocks", "Marisa Contreras", "Pavla Horak", (("Time clock", "Esther Lindgren"),),
            "Pavla Horak's last hour was at noon. Esther Lindgren takes all that is open, cases and tasks. Then close "
            "the account the way the rules say; the profile follows on Monday.",
            access=Access.STRICT,
        ),
        HandingOver(
            "tamsin-leaves-two-offices", "Leopold Adeyemi", "Tamsin Boyd",
            (("Wages", "Igor Sokolov"), ("Shares", "Willem Brandt")),
            "Tamsin Boyd goes to the competition and must not get in any more. Wages cases to Igor Sokolov, Shares "
            "cases to Willem Brandt; each task to the one with its case. Only the account and what hangs on it, no "
            "employment data.",
        ),
    ),
}  # fmt: skip


def handing_over(world: World, seed: str) -> Iterator[Draft]:
    """The account of an agent is deactivated, after the work went to others by skill [USR-2]."""
    for scene in HANDING_OVER[seed]:
        yield _handing_over(world, scene)


def _heir(world: World, scene: HandingOver, case: HrCase) -> str:
    (name,) = [name for skill, name in scene.heirs if str([world.skill(skill).skill_id]) == case.skills]
    return name


def _case_of(world: World, task: HrCaseTask) -> HrCase:
    return world.one(HrCase, hr_case_id=task.parent_case)


def _handing_over(world: World, scene: HandingOver) -> Draft:
    acting, leaver = world.user(scene.actor), world.user(scene.leaver)
    cases, tasks, teams = world.open_cases(leaver), world.open_tasks(leaver), world.teams_of(leaver)
    moved = tuple(update_case(case, assigned_to=_heir(world, scene, case)) for case in cases)
    given = tuple(update_task(task, assigned_to=_heir(world, scene, _case_of(world, task))) for task in tasks)
    left = tuple(leave_team(leaver, team) for team in teams)
    looked = (
        find_user(acting),
        find_user(leaver),
        cases_of(leaver),
        tasks_of_user(leaver),
        *(find_user(world.user(name)) for _, name in scene.heirs),
        *(made for skill, _ in scene.heirs for made in (find_skill(world.skill(skill)),)),
        *(made for team in teams for made in (find_team(team), members_of(team))),
    )
    gold = (*looked, *moved, *given, *left, deactivate(leaver))
    answer = f"{scene.leaver} is deactivated. Handed over: {numbers(cases)}."
    finished = next(row for row in world.all(HrCase, assigned_to=leaver.user_id) if row not in cases)
    blocked = "USR-2" if scene.access is Access.STRICT else None
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                f"Look up {scene.leaver}: open cases, open tasks, memberships.",
                "Give each open case to the one whom the request names for its skill, and its tasks with it (CAS-6).",
                "Remove the memberships, and deactivate the account last (USR-2).",
            ),
            gold=gold,
            answer=answer,
            verifiers=(answer_says("names_the_cases", "The answer names the cases [REF-3]", names_all(cases)),),
            tools=("update_hr_profile", "offboard_hr_profile", "list_user_skills", "send_notification"),
            access=scene.access,
            mistakes={}
            if scene.access is Access.STRICT
            else {"moves a finished case too": (update_case(finished, assigned_to=scene.heirs[0][1]),)},
            negative_trajectories={
                "deactivates first": NegativeTrajectory((*looked, deactivate(leaver)), answer, blocked),
                "keeps the memberships": NegativeTrajectory(only(gold, *left), answer),
            },
        ),
        rules={"update_hr_case": "USR-2, CAS-6", "update_hr_case_task": "USR-2, CAS-4"},
    )


# --- a manager leaves ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Departure:
    """A manager of employees who leaves, and whose people get another manager."""

    slug: str
    actor: str
    leaver: str
    heir: str
    last: str
    """Last day of employment; the second day of the task."""
    service: str
    helper: str
    """Who does the task of the case."""
    summary: str
    task: str
    prompt: str
    then: str
    access: Access = Access.PUBLISHED


DEPARTURES: Mapping[str, Sequence[Departure]] = {
    "hospital": (
        Departure(
            "honora-retires-on-thursday", "Ingrid Solheim", "Honora Blackwood", "Paloma Reyes", "2026-11-19",
            "Leaver checklist", "Marek Dvorak", "Honora leaves", "Return keys and badge",
            "Honora Blackwood retires; her last day is Thursday, 19 November 2026. Paloma Reyes takes her people. "
            "Prepare what can be prepared today. She still works until Thursday, so she keeps her account and her "
            "group until then. Also open a case \"Honora leaves\" (Leaver checklist, came by email) with a task "
            "\"Return keys and badge\", mark when complete, for Marek Dvorak in People Services.",
            "It is Honora's last day, the cake was good. Do the rest now, please.",
        ),
        Departure(
            "gustav-goes-on-friday", "Desmond Achebe", "Gustav Lindqvist", "Edmund Farrow", "2026-11-20",
            "Leaver checklist", "Sunniva Berg", "End of Gustav Lindqvist", "Fetch the laptop",
            "Gustav Lindqvist ends on 20 November 2026, a Friday. Enter it. His people report to Edmund Farrow from "
            "today on. Reported by phone: a case of Leaver checklist, \"End of Gustav Lindqvist\"; its task, mark when "
            "complete, is \"Fetch the laptop\", done by Sunniva Berg, People Services.",
            "Friday. Gustav has handed in the keys; finish his departure.",
            access=Access.STRICT,
        ),
    ),
    "works": (
        Departure(
            "cordula-leaves-the-plant", "Marisa Contreras", "Cordula Weiss", "Philippa Strand", "2027-02-22",
            "Farewell", "Annika Falk", "Cordula says goodbye", "Collect the tools",
            "Cordula Weiss leaves us, last day 22 February 2027. Her team goes to Philippa Strand straight away. Put "
            "in what is due today and nothing that is due on the day itself; she needs her login and her group until "
            "the end. There has to be a case too, Farewell, by chat, \"Cordula says goodbye\", with the task \"Collect "
            "the tools\" (mark when complete) for Annika Falk of the Personnel Office.",
            "Cordula's day has come. Complete it.",
        ),
        Departure(
            "barnaby-ends-on-wednesday", "Leopold Adeyemi", "Barnaby Croft", "Laszlo Kertesz", "2027-02-24",
            "Farewell", "Devika Rao", "Barnaby ends", "Fetch the keys of the hall",
            "Last day of Barnaby Croft: Wednesday, 24 February 2027. Laszlo Kertesz inherits everyone. Please enter "
            "it. Plus a Farewell case \"Barnaby ends\", source email, and in it for Devika Rao (Personnel Office) the "
            "task \"Fetch the keys of the hall\", mark when complete.",
            "Barnaby said goodbye an hour ago. Now the remaining part of yesterday's week, thanks.",
            access=Access.STRICT,
        ),
    ),
}  # fmt: skip


def departures(world: World, seed: str) -> Iterator[Draft]:
    """A manager's people get another one today; the account ends on the last day [PRO-4, PRO-5]."""
    for scene in DEPARTURES[seed]:
        yield _departure(world, scene)


def _departure(world: World, scene: Departure) -> Draft:
    acting, leaver, heir = (world.user(name) for name in (scene.actor, scene.leaver, scene.heir))
    people, profile, teams = world.people_of(leaver), world.profile(leaver), world.teams_of(leaver)
    new_boss = str(world.profile(heir).hr_profile_id)
    moved = tuple(update_profile(one, manager=new_boss) for one in people)
    ended = update_profile(profile, employment_end_date=scene.last)
    begins, service = at(f"{scene.last} 16:00"), world.service(scene.service)
    looked = (
        find_user(acting),
        find_user(leaver),
        read_profile(leaver),
        find_user(heir),
        read_profile(heir),
        call("fetch_hr_profiles", manager=str(profile.hr_profile_id)),
        find_service(service),
        find_centre(world, service),
        find_user(world.user(scene.helper)),
    )
    case = call(
        "create_new_hr_case",
        hr_service=str(service.hr_service_id),
        opened_for=scene.leaver,
        priority="moderate",
        source=next(word for word in SOURCES if word in scene.prompt),
        short_description=scene.summary,
        coe_type=world.centre_of(service),
    )
    task = call(
        "create_hr_case_task",
        status="ready",
        short_description=scene.task,
        assigned_to=scene.helper,
        assignment_group=PREPARES[scene.helper],
        task_type="mark when complete",
        parent_case=str(world.next_id(HrCase)),
    )
    first = (*looked, *moved, ended, case, task)
    left = on_day(2, *(leave_team(leaver, team) for team in teams))
    off = on_day(2, deactivate(leaver))
    second = (
        *on_day(
            2,
            find_user(leaver),
            cases_of(leaver),
            tasks_of_user(leaver),
            *(made for team in teams for made in (find_team(team), members_of(team))),
        ),
        *left,
        *off,
    )
    gold = (*first, *second)
    answer = f"{scene.leaver}'s account is deactivated as of {scene.last}."
    blocked = "PRO-4" if scene.access is Access.STRICT else None
    return with_verifiers(
        world,
        Draft(
            slug=scene.slug,
            actor=acting,
            prompt=scene.prompt,
            plan=(
                f"Look up {scene.leaver}, {scene.heir} and the people of the one who leaves.",
                "Give each of these people the new manager, then enter the last day (PRO-4).",
                "Open the case with its task (CAS-1, CAS-2).",
                "On the last day: remove memberships, and deactivate the account (PRO-5, USR-2).",
            ),
            gold=gold,
            day_answers=(f"{len(people)} people report to {scene.heir} now; the last day is {scene.last}.",),
            answer=answer,
            verifiers=(
                answer_says("says_how_many", "The first answer says how many people moved [REF-3]",
                    number(len(people)), day=1),
            ),
            tools=("offboard_hr_profile", "offboard_hr_profiles", "update_hr_case", "send_notification"),
            access=scene.access,
            days=(Day(message=scene.then, begins_at=begins.isoformat()),),
            mistakes={"changes the heir's profile": (
                update_profile(world.profile(heir), location_type=_other_place(world.profile(heir))),
            )},
            negative_trajectories={
                "ends the employment first": NegativeTrajectory((*looked, ended), answer, blocked),
                "forgets the account": NegativeTrajectory(only(gold, *off), answer),
                "ends it today": NegativeTrajectory(
                    (
                        *only(first, ended),
                        call("offboard_hr_profile", hr_profile_id=str(profile.hr_profile_id)),
                        *second,
                    ),
                    answer,
                ),
            },
        ),
        ScenarioEvent(world, begins - world.now),
        rules={"update_hr_profile": "PRO-4", "update_user_details": "PRO-5"},
    )  # fmt: skip


def _other_place(profile: HrProfile) -> str:
    return "Remote" if profile.location_type != "Remote" else "Hotdesk"


FAMILIES = (joining, handing_over, departures)
