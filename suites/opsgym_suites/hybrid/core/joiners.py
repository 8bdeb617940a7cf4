"""People who join, in HR, at the service desk and in the calendars; and people who change name, team or place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from opsgym_api.tasks.answer_patterns import all_of, at_time, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import HrCase, HrCaseTask
from opsgym_domains.hr.tables import User as Employee
from opsgym_domains.itsm.tables import Location
from opsgym_domains.itsm.tables import User as DeskUser
from opsgym_suites.calendar.calls import LIST, all_day, find_person, on, share
from opsgym_suites.hr import calls as hr
from opsgym_suites.hr.verification import NOT_STARTED
from opsgym_suites.hybrid.cast import DOMAIN
from opsgym_suites.hybrid.core.calendars import busy, first_with, hours_after, is_free, meet
from opsgym_suites.hybrid.servers import CALENDAR, HR, ITSM, VERIFIERS
from opsgym_suites.hybrid.systems import Systems
from opsgym_suites.itsm import calls as desk
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_gym
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import answer_says


def joiners(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about joiners."""
    systems = Systems(worlds)
    for joining in JOINING:
        yield _joining(systems, joining)
    yield _technician(systems)
    yield _new_name(systems)
    yield _promoted(systems)


@dataclass(frozen=True)
class Joining:
    """A person who joins HR, with a first day in the calendars."""

    slug: str
    actor: str
    name: str
    manager: str
    team: str
    role: str
    type: str
    position: str
    country: str
    first: str
    """First day, as month and day."""
    private: str
    digits: str
    priority: str
    source: str
    summary: str
    task: str
    helper: str
    helpers: str
    """Team of the helper."""
    items: tuple[str, ...]
    diary: str
    """Title of the calendar in which the first day is entered."""
    room: str
    zone: str
    hours: tuple[int, int]
    prompt: str


JOINING = (
    Joining(
        "agent-for-the-leave-office", "Aurelio Banks", "Isidora Venn", "Aurelio Banks", "Leave Office", "agent",
        "full-time", "HR", "GB", "12-01", "isidora.venn@homepost.example", "731", "moderate", "phone",
        "Isidora Venn joins", "Prepare Isidora", "Casper Onslow", "People Desk", ("Headset", "Rota of December"),
        "People diary", "Weir", "Europe/London", (9, 16),
        "Isidora Venn joins us on 1 December 2026 as an agent in the Leave Office: full-time, position HR, British, "
        "and I lead her. Private address isidora.venn@homepost.example, tax number ends in 731. Onboard her with all "
        "that belongs to it: the case is for Onboarding, reported by phone, 'Isidora Venn joins'; its only task is a "
        "checklist 'Prepare Isidora' for Casper Onslow of the People Desk, with 'Headset' and 'Rota of December'. Her "
        "first day goes into People diary as a whole day, 'Isidora Venn starts'. That day Perpetua Lyle and I welcome "
        "her in Room Weir for 30 minutes, the first full hour from 9:00 that suits us two and the room: 'Welcome', in "
        "my calendar. When is it?",
    ),
    Joining(
        "contractor-for-payroll", "Perpetua Lyle", "Teague Osborne", "Aurelio Banks", "Payroll Office", "agent",
        "contractor", "HR", "US", "11-18", "teague@homepost.example", "748", "high", "email",
        "Teague Osborne for the year end", "Before Wednesday", "Delia Fairbanks", "People Desk",
        ("Second screen", "Access to pay slips", "Key card"), "Perpetua Lyle", "Culvert", "America/New_York", (9, 16),
        "Payroll gets help for the year end, from the day after tomorrow (18 November 2026) on: Teague Osborne, "
        "contractor, American, position HR, role agent, managed by Aurelio Banks, member of the Payroll Office. Tax "
        "number ends in 748, teague@homepost.example. Do the whole onboarding, please. Case Onboarding, came by email, "
        "'Teague Osborne for the year end', with one checklist task 'Before Wednesday' for Delia Fairbanks, People "
        "Desk: 'Second screen', 'Access to pay slips', 'Key card'. Enter 'Teague Osborne starts' in my calendar, all "
        "day. And a 'Welcome' of 30 minutes on that day in New York: Delia Fairbanks with Room Culvert, first "
        "full hour from 9:00 there at which she and the room are free; I need not be free, but enter it in my "
        "calendar. What time is that in New York?",
    ),
)  # fmt: skip


def _joining(systems: Systems, scene: Joining) -> Draft:
    """Onboarding by the rule of HR, and a first day at an hour that suits those who welcome."""
    world, service = systems.hr, systems.hr.service("Onboarding")
    boss, helper, acting = world.user(scene.manager), world.user(scene.helper), world.user(scene.actor)
    first, _, last = scene.name.partition(" ")
    user_id, case_id, task_id = (world.next_id(kind) for kind in (Employee, HrCase, HrCaseTask))
    team = world.team(scene.team)
    made = on_gym(
        HR.gym,
        call(
            "add_new_user",
            first_name=first,
            last_name=last,
            email=f"{first}.{last}@{DOMAIN}".lower(),
            role=scene.role,
        ),
        call(
            "onboard_new_hr_profile",
            user_id=str(user_id),
            personal_email=scene.private,
            national_tax_id=scene.digits,
            type=scene.type,
            nationality=scene.country,
            employment_start_date=f"2026-{scene.first}",
            manager=str(world.profile(boss).hr_profile_id),
            position=scene.position,
        ),
        hr.join_team(user_id, team),
        call(
            "create_new_hr_case",
            hr_service=str(service.hr_service_id),
            opened_for=scene.name,
            priority=scene.priority,
            source=scene.source,
            short_description=scene.summary,
            coe_type=world.centre_of(service),
        ),
        call(
            "create_hr_case_task",
            status="ready",
            short_description=scene.task,
            assigned_to=scene.helper,
            assignment_group=scene.helpers,
            task_type="checklist",
            parent_case=str(case_id),
        ),
        *(call("create_checklist", checklist_item_description=item, case_task_id=task_id) for item in scene.items),
    )
    welcomed_by = "Perpetua Lyle" if scene.actor == "Aurelio Banks" else scene.helper
    present = [systems.own(welcomed_by), systems.calendars.calendar(f"Room {scene.room}")]
    if scene.actor == "Aurelio Banks":
        present.append(systems.own(scene.actor))
    day = on(scene.first)
    hours = [day + timedelta(hours=hour) for hour in range(*scene.hours)]
    start = next(time for time in hours if all(is_free(systems, one, time, 30, scene.zone) for one in present))
    own = systems.own(scene.actor)
    diary = systems.calendars.calendar(scene.diary)

    def welcome(time: object = start) -> ToolCall:
        guests = [systems.colleague(welcomed_by), systems.booked_as(scene.room)]
        return meet(own, "Welcome", time, 30, scene.zone, guests)  # type: ignore[arg-type]

    looked = (
        *on_gym(
            HR.gym,
            hr.find_user(acting),
            *([hr.find_user(boss)] if boss is not acting else []),
            hr.read_profile(boss),
            hr.find_team(team),
            hr.find_service(service),
            hr.find_centre(world, service),
            hr.find_user(helper),
        ),
        *on_gym(CALENDAR.gym, LIST, find_person(systems.colleague(welcomed_by).user)),
        busy(present, day.date(), day.date()),
    )
    entered = on_gym(CALENDAR.gym, all_day(diary, f"{scene.name} starts", day.date(), "Europe/London"))
    gold = (*looked, *made, *entered, welcome())
    answer = f"{scene.name} starts on {day.day} {day:%B}; the welcome is at {start:%H:%M}."
    actors = systems.actors(scene.actor, HR, CALENDAR)
    later = first_with(systems, present[1:2], hours_after(start), 30, scene.zone)
    draft = Draft(
        slug=scene.slug,
        actor=actors[HR.gym],
        actors=actors,
        prompt=scene.prompt,
        plan=(
            "Look up manager, group, service with its category, and the helper in HR.",
            f"Create account, profile, membership, case with priority {scene.priority} and task (HR-PRO-6, HR-CAS-2).",
            "Enter the first day, and the welcome at the first hour that suits those who must be there.",
        ),
        gold=gold,
        answer=answer,
        verifiers=(answer_says("says_when", "The answer says the time [REF-3]", at_time(start)),),
        tools=("update_hr_profile", "list_user_groups", "list_events", "patch_event"),
        mistakes={
            "starts the case": on_gym(HR.gym, hr.update_case(case_id, status="ready")),
            "books an hour more": (welcome(later),),
        },
        negative_trajectories={
            "leaves the group out": NegativeTrajectory(
                tuple(one for one in gold if one.name != "add_new_group_member"), answer
            ),
            "forgets the diary": NegativeTrajectory(tuple(one for one in gold if one not in entered), answer),
            "takes another hour": NegativeTrajectory((*gold[:-1], welcome(later)), answer),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        rules={
            HR.gym: {"create_new_hr_case": "CAS-1, CAS-2, PRO-6"},
            CALENDAR.gym: {"create_event": "EVT-1, EVT-2, EVT-3"},
        },
        expect={HR.gym: NOT_STARTED},
    )


# --- at the service desk ---------------------------------------------------------------------------------------------


def _technician(systems: Systems) -> Draft:
    """A technician gets the device of who left; HR says who that is, and the team's calendar opens."""
    actors = systems.actors("Sunniva Hale", ITSM, HR, CALENDAR)
    leaver, world = "Sefton Grady", systems.desk.world
    team, place = systems.desk.team("Site Technicians"), systems.desk.named(Location, "Fenmoor House")
    laptop = systems.laptop(leaver)
    user_id = world.next_id(DeskUser)
    war_room = systems.calendars.calendar("War room")
    heir = systems.colleague("Yolanda Reyes").user
    case = systems.hr.all(HrCase, opened_for=systems.hr.profile(leaver).hr_profile_id)[0]
    members = systems.desk.members(team)
    looked = (
        *on_gym(
            ITSM.gym,
            desk.find_user(systems.at_desk("Sunniva Hale")),
            desk.find_team(team),
            call("list_group_members", group_id=team.group_id),
            *(call("get_user", user_id=member.user_id) for member in members),
            call("list_users", email=f"orson.tyrell@{DOMAIN}"),
            call("find_location_by_given_name", name=place.name),
        ),
        *on_gym(HR.gym, call("list_hr_cases", opened_for=leaver), hr.read_subject(case)),
        *on_gym(ITSM.gym, call("find_configuration_items", owner_id=systems.at_desk(leaver).user_id)),
        *on_gym(CALENDAR.gym, LIST, find_person(heir)),
    )
    account = call(
        "add_new_user",
        first_name="Orson",
        last_name="Tyrell",
        email=f"orson.tyrell@{DOMAIN}",
        phone="+44-020-555-7711",
        role="agent",
        active=True,
        location_id=place.location_id,
    )
    joined = call("add_new_group_member", group_id=team.group_id, user_id=user_id)
    handed = call(
        "update_configuration_item", configuration_item_id=laptop.configuration_item_id, owner_id=user_id
    )  # fmt: skip
    shared = on_gym(CALENDAR.gym, share(war_room, heir, "reader"))
    other = systems.laptop("Yolanda Reyes")
    gold = (*looked, *on_gym(ITSM.gym, account, joined, handed), *shared)
    answer = f"Orson Tyrell is one of the Site Technicians and has {laptop.serial_number}; Yolanda reads War room."
    draft = Draft(
        slug="laptop-changes-hands",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "Orson Tyrell replaces the one of our Site Technicians whose employment is over according to HR. Give him "
            "an account at the desk: agent, Fenmoor House, phone +44-020-555-7711, and of course he becomes a Site "
            "Technician. The laptop of the one whom he replaces is his from now on. The technician who sits in New "
            "York shall be able to read what is in War room. Leave the old account and its incidents, I do those "
            "later. Serial number of the laptop, please."
        ),
        plan=(
            "List the technicians, and find out in HR whose employment has ended.",
            "Check the address, create the account with its site, add him to the group (ITSM-USR-1, ITSM-USR-2).",
            "Give him the laptop; share War room with the lowest role that allows to read (CALENDAR-SHR-1).",
        ),
        gold=gold,
        answer=answer,
        verifiers=(
            answer_says("names_the_laptop", "The answer names the laptop [REF-3]", term(str(laptop.serial_number))),
        ),
        tools=("update_user_details", "update_incident", "get_incidents_assigned_to", "find_locations"),
        evidence=(systems.hr.profile(leaver),),
        mistakes={
            "closes the old account": on_gym(
                ITSM.gym, call("update_user_details", user_id=systems.at_desk(leaver).user_id, active=False)
            ),
            "hands over another laptop": on_gym(
                ITSM.gym,
                call("update_configuration_item", configuration_item_id=other.configuration_item_id, owner_id=user_id),
            ),
        },
        negative_trajectories={
            "lets her write": NegativeTrajectory(
                (*gold[:-1], *on_gym(CALENDAR.gym, share(war_room, heir, "writer"))), answer
            ),
            "forgets the group": NegativeTrajectory(tuple(one for one in gold if one.name != joined.name), answer),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds, draft, rules={ITSM.gym: {"update_configuration_item": "ID-4", "add_new_user": "USR-1"}}
    )


def _new_name(systems: Systems) -> Draft:
    """HR knows the new name, the desk has the old one; the case in HR gets a note, and is left as it is."""
    case = systems.hr.case("name-lowell")
    account = systems.at_desk("Beatrix Lowell")
    actors = systems.actors("Sunniva Hale", ITSM, HR, CALENDAR)
    open_ones = systems.desk.world.all(type(systems.desk.incident("gateway")), caller_id=account.user_id)
    note = "Renamed at the desk."
    looked = (
        *on_gym(ITSM.gym, desk.find_user(systems.at_desk("Sunniva Hale"))),
        *on_gym(
            HR.gym,
            call("list_hr_cases", hr_service="Change of name", status="awaiting_acceptance"),
            hr.read_subject(case),
        ),
        *on_gym(
            ITSM.gym,
            call("list_users", first_name="Beatrix"),
            call("list_users", email=f"beatrix.lowell@{DOMAIN}"),
        ),
        *on_gym(CALENDAR.gym, find_person(systems.colleague("Beatrix Lowell").user)),
    )
    renamed = on_gym(
        ITSM.gym,
        call(
            "update_user_details",
            user_id=account.user_id,
            last_name="Lowell",
            email=f"beatrix.lowell@{DOMAIN}",
        ),
    )
    noted = on_gym(HR.gym, hr.update_case(case, worknotes=note))
    assert open_ones
    answer = f"The account of Beatrix Harrow is Beatrix Lowell now (beatrix.lowell@{DOMAIN}); {case.number} is noted."
    draft = Draft(
        slug="married-and-renamed",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "Among HR's cases for a Change of name one waits for its acceptance, so the name is settled there. Ours is "
            "still the old one: bring that person's account at the desk into line, name and address by our rule for "
            f"addresses, unless it is in use. Then write '{note}' into the work notes of HR's case and "
            "leave the case otherwise alone. Tell me the old name and the new address."
        ),
        plan=(
            "Find the case in HR and whom it is about; find the account at the desk by the given name.",
            "Check that the new address is not in use, and that it is hers in the calendars.",
            "Change name and address; add the note to the case.",
        ),
        gold=(*looked, *renamed, *noted),
        answer=answer,
        verifiers=(
            answer_says(
                "names_both",
                "The answer has the old name and the new address [REF-3]",
                all_of([term("Harrow"), rf"beatrix\.lowell@{DOMAIN}"]),
            ),
        ),
        tools=("update_incident", "update_hr_profile", "get_user_using_email", "send_notification"),
        evidence=(case,),
        mistakes={
            "closes HR's case": on_gym(HR.gym, hr.update_case(case, status="closed_complete")),
        },
        negative_trajectories={
            "changes the name only": NegativeTrajectory(
                (
                    *looked,
                    *on_gym(ITSM.gym, call("update_user_details", user_id=account.user_id, last_name="Lowell")),
                    *noted,
                ),
                answer,
            ),
            "forgets the note": NegativeTrajectory((*looked, *renamed), answer),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds, draft, rules={ITSM.gym: {"update_user_details": "USR-1"}, HR.gym: {"update_hr_case": "ID-3"}}
    )


def _promoted(systems: Systems) -> Draft:
    """A technician leads a group from now on: role and manager at the desk, dates in the calendars, nothing in HR."""
    name, hands = "Nadia Okafor", "Ruben Castellan"
    actors = systems.actors("Osric Bellamy", ITSM, HR, CALENDAR)
    team = systems.desk.team("Core Systems")
    members = systems.desk.members(team)
    case = systems.desk.incident("quay-switch")
    other = systems.desk.incident("gateway")
    day, zone = on("11-19"), "Europe/London"
    own, room = systems.own("Osric Bellamy"), systems.calendars.calendar("Room Sluice")
    needed = [own, room, systems.own(hands), systems.own(name)]
    hours = [day + timedelta(hours=hour) for hour in range(14, 18)]
    start = next(time for time in hours if all(is_free(systems, one, time, 30, zone) for one in needed))

    later = first_with(systems, [room], hours_after(start), 30, zone)

    def entered(time: object) -> ToolCall:
        guests = [systems.colleague(hands), systems.colleague(name), systems.booked_as("Sluice")]
        return meet(own, "Handover Core Systems", time, 30, zone, guests)  # type: ignore[arg-type]

    notes = "Handed over."
    looked = (
        *on_gym(
            ITSM.gym,
            desk.find_user(systems.at_desk("Osric Bellamy")),
            desk.find_team(team),
            call("list_group_members", group_id=team.group_id),
            *(call("get_user", user_id=member.user_id) for member in members),
            *(desk.find_incident(row) for row in (case, other)),
        ),
        *on_gym(CALENDAR.gym, LIST, *(find_person(systems.colleague(one).user) for one in (hands, name))),
        busy(needed, day.date(), day.date()),
        *on_gym(HR.gym, call("list_hr_cases", opened_for=name)),
    )
    given = on_gym(
        ITSM.gym, desk.update_incident(case, assigned_to=systems.at_desk(hands).user_id, worknotes=notes)
    )  # fmt: skip
    gold = (*looked, *given, entered(start))
    answer = f"{case.number} is with Ruben Castellan, and the handover is on {start.day} November at {start:%H:%M}."
    draft = Draft(
        slug="the-other-one-in-core-systems",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            f"Core Systems has two people. The one who works on {case.number} goes to a course next month, so the "
            f"other one gets that incident today, with the work note '{notes}'. Have the two and me meet on Thursday "
            "19 November in Room Sluice, 30 minutes, first full hour from 14:00 on at which we and the room are free, "
            "London time: 'Handover Core Systems', my calendar. In the calendars Nadia is listed as Nadia Petrov. "
            "Check in HR that no case of hers about leaving us is open; if one is, stop and tell me. When do we meet?"
        ),
        plan=(
            "Read the group, its members and the incident; look for cases of the assignee in HR.",
            "Assign the incident to the other member, who stays in the group (ITSM-INC-5), with the note.",
            "Ask for the busy times of all, and enter the meeting.",
        ),
        gold=gold,
        answer=answer,
        verifiers=(
            answer_says(
                "says_who_and_when",
                "The answer says who has the incident, and when they meet [REF-3]",
                all_of([term("Castellan"), on_date(start), at_time(start)]),
            ),
        ),
        tools=("get_incidents_assigned_to", "list_events", "update_user_details", "patch_event"),
        mistakes={
            "moves the other incident too": on_gym(
                ITSM.gym, desk.update_incident(other, assigned_to=systems.at_desk(name).user_id)
            ),
            "books a second hour": (entered(later),),
        },
        negative_trajectories={
            "meets without looking": NegativeTrajectory((*gold[:-1], entered(later)), answer),
            "writes no note": NegativeTrajectory(
                (
                    *looked,
                    *on_gym(ITSM.gym, desk.update_incident(case, assigned_to=systems.at_desk(hands).user_id)),
                    entered(start),
                ),
                answer,
            ),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        rules={ITSM.gym: {"update_incident": "INC-5"}, CALENDAR.gym: {"create_event": "EVT-1, EVT-2, EVT-3"}},
    )
