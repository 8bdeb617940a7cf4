"""Meetings whose guests other systems name, at times that suit calendars, absences, rooms and zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, at_time, on_date, paired, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import ConfigurationItem
from opsgym_suites.calendar.calls import LIST, find_person, on
from opsgym_suites.csm import calls as service
from opsgym_suites.hr import calls as hr
from opsgym_suites.hybrid.core.calendars import busy, first_with, hours_after, in_hours, is_free, meet
from opsgym_suites.hybrid.servers import CALENDAR, CSM, HR, ITSM, VERIFIERS
from opsgym_suites.hybrid.systems import Systems, listed
from opsgym_suites.itsm import calls as desk
from opsgym_suites.itsm.records import OPEN
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_gym
from opsgym_suites.kit.suite import GymServer, Worlds
from opsgym_suites.kit.verifiers import answer_refuses, answer_says

RULES = {CALENDAR.gym: {"create_event": "EVT-1, EVT-2, EVT-3, EVT-7"}}


def meetings(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about meetings."""
    systems = Systems(worlds)
    for scene in (
        _those_who_repair(systems),
        _help_desk(systems),
        _critical_cases(systems),
        _pump_and_switch(systems),
        _grievance(systems),
        _testers(systems),
        _payroll(systems),
    ):
        yield _met(systems, scene)
    yield _one_by_one(systems)
    yield _caller_on_leave(systems)


@dataclass(frozen=True)
class Wanted:
    """A meeting at the first time that suits everybody."""

    slug: str
    actor: str
    servers: tuple[GymServer, ...]
    """Gym servers before that of the calendars."""
    prompt: str
    plan: tuple[str, ...]
    read: Sequence[ToolCall]
    """Calls that tell who is meant."""
    people: Sequence[str]
    other: str
    """Someone who is not meant, and whom a careless reader would invite."""
    title: str
    minutes: int
    days: tuple[str, str]
    hours: tuple[int, int]
    """When it may begin and must have ended, in the zone."""
    zone: str
    home: str
    """Title of the calendar that it goes into."""
    rooms: tuple[str, ...]
    elsewhere: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Hours in other zones within which it must lie."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the event."""
    tools: tuple[str, ...] = ()
    evidence: tuple[Any, ...] = ()
    access: Access = Access.PUBLISHED


def _times(scene: Wanted) -> Iterator[datetime]:
    """Full hours at which it may begin, earliest first."""
    first, last = map(on, scene.days)
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        yield from (day + timedelta(hours=hour) for hour in range(*scene.hours))


def _suits(systems: Systems, scene: Wanted, start: datetime) -> bool:
    names = [systems.own(name) for name in (scene.actor, *scene.people)]
    rooms = [systems.calendars.calendar(f"Room {name}") for name in scene.rooms]
    return (
        start + timedelta(minutes=scene.minutes) <= start.replace(hour=scene.hours[1])
        and all(is_free(systems, one, start, scene.minutes, scene.zone) for one in (*names, *rooms))
        and all(in_hours(start, scene.minutes, scene.zone, *limits) for limits in scene.elsewhere.items())
    )


def _met(systems: Systems, scene: Wanted) -> Draft:
    start = next(time for time in _times(scene) if _suits(systems, scene, time))
    halls = [systems.calendars.calendar(f"Room {name}") for name in scene.rooms]
    others = (time for time in _times(scene) if time != start)
    early, later = (
        first_with(systems, halls, times, scene.minutes, scene.zone) for times in (others, hours_after(start))
    )
    guests = [systems.colleague(name) for name in scene.people]
    rooms = [systems.booked_as(name) for name in scene.rooms]
    home = systems.calendars.calendar(scene.home)
    free = busy(
        [
            *(systems.own(name) for name in (scene.actor, *scene.people)),
            *halls,
        ],
        *(on(day).date() for day in scene.days),
    )

    def entered(time: datetime, *without: str, more: Sequence[str] = ()) -> ToolCall:
        invited = [one for one in guests if one.name not in without] + [systems.colleague(name) for name in more]
        return meet(home, scene.title, time, scene.minutes, scene.zone, [*invited, *rooms], **scene.more)

    looked = (*scene.read, *on_gym(CALENDAR.gym, LIST, *(find_person(one.user) for one in guests)), free)
    answer = f"{scene.title} is on {start.day} {start:%B} at {start:%H:%M} with {listed(scene.people)}."
    actors = systems.actors(scene.actor, *scene.servers, CALENDAR)
    draft = Draft(
        slug=scene.slug,
        actor=next(iter(actors.values())),
        actors=actors,
        prompt=scene.prompt,
        plan=(*scene.plan, "Look up everybody in the calendars, ask for busy times, and take the first that suits."),
        gold=(*looked, entered(start)),
        answer=answer,
        access=scene.access,
        verifiers=(
            answer_says("says_when", "The answer says when it is [REF-3]", all_of([on_date(start), at_time(start)])),
        ),
        tools=("list_events", "get_calendar", "patch_event", "delete_event", *scene.tools),
        evidence=scene.evidence,
        mistakes={"enters it again later": (entered(later),)},
        negative_trajectories={
            "takes a time that does not suit": NegativeTrajectory((*looked, entered(early)), answer),
            "invites another person": NegativeTrajectory(
                (*looked, entered(start, guests[0].name, more=[scene.other])), answer
            ),
            "books no room": NegativeTrajectory(
                (
                    *looked,
                    meet(home, scene.title, start, scene.minutes, scene.zone, guests, **scene.more),
                ),
                answer,
            ),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=RULES)


# --- guests whom records name ----------------------------------------------------------------------------------------


def _those_who_repair(systems: Systems) -> Wanted:
    """One of the assignees is at a training for two days, another five hours behind."""
    gateway, prices = systems.desk.incident("gateway"), systems.desk.incident("order-prices")
    team = systems.desk.team("Business Applications")
    keys = [gateway.assigned_to, prices.assigned_to, team.manager_id]
    return Wanted(
        slug="who-repairs-meets",
        actor="Sunniva Hale",
        servers=(ITSM,),
        prompt=(
            f"I want 45 minutes with the people who work on {gateway.number} and {prices.number}, and with the "
            "manager of Business Applications. Between Wednesday 18 and Friday 20 November, first full hour from 13:00 "
            "at which all of us and Room Sluice are free, over by 17:00. Call it 'Two faults', put it into War room "
            "and book the room. When is it?"
        ),
        plan=("Read both incidents and the group; read who the assignees and the manager are.",),
        read=on_gym(
            ITSM.gym,
            desk.find_incident(gateway),
            desk.find_incident(prices),
            desk.find_team(team),
            *(call("get_user", user_id=key) for key in keys),
        ),
        people=("Ruben Castellan", "Piotr Zielin", "Mirabel Stone"),
        other="Nadia Okafor",
        title="Two faults",
        minutes=45,
        days=("11-18", "11-20"),
        hours=(13, 17),
        zone="Europe/London",
        home="War room",
        rooms=("Sluice",),
        tools=("list_group_members", "get_incidents_assigned_to"),
        evidence=(gateway, prices),
    )


def _help_desk(systems: Systems) -> Wanted:
    """The members of a group, one of whom has her former name in the calendars."""
    team = systems.desk.team("Fenmoor Help Desk")
    members = systems.desk.members(team)
    return Wanted(
        slug="help-desk-in-two-cities",
        actor="Sunniva Hale",
        servers=(ITSM,),
        prompt=(
            "half an hour with everyone who is in fenmoor help desk, plus their manager if that isn't me. 'Passwords "
            "in December', my own calendar, Room Weir and Room Culvert both booked. tue 17 to thu 19 november, first "
            "full hour that works for all of us and for the rooms: not before 9 in new york, over by 17:00 in london. "
            "nadia is still Nadia Petrov in the calendar. tell me the slot"
        ),
        plan=("Read the group and its members; one of them has another name in the calendars.",),
        read=on_gym(
            ITSM.gym,
            desk.find_team(team),
            call("list_group_members", group_id=team.group_id),
            *(call("get_user", user_id=member.user_id) for member in members),
        ),
        people=("Nadia Okafor", "Yolanda Reyes"),
        other="Piotr Zielin",
        title="Passwords in December",
        minutes=30,
        days=("11-17", "11-19"),
        hours=(14, 17),
        zone="Europe/London",
        home="Sunniva Hale",
        rooms=("Weir", "Culvert"),
        tools=("get_user_using_name", "list_user_groups"),
        evidence=(team,),
    )


def _critical_cases(systems: Systems) -> Wanted:
    """Who works on the critical cases of an account; one of them is at court for a day."""
    account = systems.customers.world.account("Hudson Reservoirs")
    cases = systems.customers.open_cases(account_id=account.account_id, priority="critical")
    return Wanted(
        slug="critical-at-the-reservoir",
        actor="Tobiah Mercer",
        servers=(CSM,),
        prompt=(
            "Hudson Reservoirs has open cases at critical. Everybody who works on one of those meets me for an hour: "
            "'Reservoir standstill', in Customer visits, with Room Culvert. Thursday 19 or Friday 20 November, the "
            "first full hour from 8:00 my time that all of us and the room have free, and done by 12:00 since London "
            "goes home. Who comes, and when is it?"
        ),
        plan=("Find the account and its open cases of this priority; read who their assignees are.",),
        read=on_gym(
            CSM.gym,
            service.find_account(account),
            call("search_cases", account_id=account.account_id, priority="critical"),
            *(call("list_users", user_id=case.assigned_to) for case in cases),
        ),
        people=("Fabian Trask", "Odalys Pinto"),
        other="Gideon Rusk",
        title="Reservoir standstill",
        minutes=60,
        days=("11-19", "11-20"),
        hours=(8, 12),
        zone="America/New_York",
        home="Customer visits",
        rooms=("Culvert",),
        tools=("get_cases_assigned_to", "find_user"),
        evidence=tuple(cases),
    )


def _pump_and_switch(systems: Systems) -> Wanted:
    """The assignee of a case has a near namesake; the owner of a device is on leave for half of the week."""
    case = systems.customers.world.case("warragul-hot")
    incident = systems.desk.incident("quay-switch")
    switch = systems.desk.world.one(ConfigurationItem, configuration_item_id=incident.configuration_item)
    return Wanted(
        slug="pump-and-switch",
        actor="Linnea Storrs",
        servers=(CSM, ITSM),
        prompt=(
            f"The customer of {case.number} cannot be heard on the phone, which is {incident.number} of IT. Could you "
            "bring together the person who has the case, the person who owns the device of the incident, and me? One "
            "hour in Room Jetty, this week from Tuesday 17 to Friday 20 November, first full hour from 9:00 to 17:00 "
            "our time. Title 'Warragul by phone', my own calendar. Please tell me the day and the hour."
        ),
        plan=("Read the case and its assignee, the incident, its device and who owns that.",),
        read=(
            *on_gym(CSM.gym, service.find_case(case), call("list_users", user_id=case.assigned_to)),
            *on_gym(
                ITSM.gym,
                desk.find_incident(incident),
                call("find_configuration_items", configuration_item_id=switch.configuration_item_id),
                call("get_user", user_id=switch.owner_id),
            ),
        ),
        people=("Bram Halloway", "Kirra Dawe"),
        other="Bram Hallowell",
        title="Warragul by phone",
        minutes=60,
        days=("11-17", "11-20"),
        hours=(9, 17),
        zone="Australia/Sydney",
        home="Linnea Storrs",
        rooms=("Jetty",),
        tools=("find_user", "get_user_using_name"),
        evidence=(case, incident, switch),
    )


def _grievance(systems: Systems) -> Wanted:
    """Only some people may know of the case; its manager may not, and the title may not say what it is about."""
    case = systems.hr.case("grievance-rowe")
    service_of = systems.hr.one_service(case)
    (circle,) = systems.hr.criteria_of(service_of)
    subject = systems.hr.profile("Caspian Rowe")
    insiders = systems.hr.users_of(circle)
    return Wanted(
        slug="private-talk",
        actor="Hamish Corrie",
        servers=(HR,),
        prompt=(
            f"I have to talk about {case.number} with the person whom it concerns and with the other one who may see "
            "the case by its criteria. 30 minutes, Room Weir, London time: between 8:00 and 10:00 on the mornings of "
            "18 to 20 November, first full hour that suits them, me and the room; evenings are fine for me. Title "
            "'Talk', my own calendar, and make the entry private. At what time do I have to be there, London time?"
        ),
        plan=("Read the case, its service and criteria, the person's profile, and the users whom the criteria name.",),
        read=on_gym(
            HR.gym,
            hr.find_case(case),
            hr.read_subject(case),
            call("get_user", user_id=str(subject.user_id)),
            hr.find_service(service_of),
            hr.find_criteria(circle.name),
            *(hr.read_user(user) for user in insiders),
        ),
        people=("Caspian Rowe", "Aurelio Banks"),
        other="Wendell Achebe",
        title="Talk",
        minutes=30,
        days=("11-18", "11-20"),
        hours=(8, 10),
        zone="Europe/London",
        home="Hamish Corrie",
        rooms=("Weir",),
        more={"visibility": "private"},
        tools=("get_users_hr_profile", "list_hr_cases"),
        evidence=(case, circle),
    )


def _testers(systems: Systems) -> Wanted:
    """Reports of a manager with a position, on two continents."""
    boss = systems.hr.profile("Wendell Achebe")
    people = ("Beatrix Lowell", "Caspian Rowe", "Fenella Stark")
    return Wanted(
        slug="testers-on-two-continents",
        actor="Wendell Achebe",
        servers=(HR,),
        prompt=(
            "My testers, that is everyone HR has as QA under me, ought to see the plan for December. Please enter "
            "'Test plan December' into Releases, 60 minutes, one of the days from Tuesday 17 to Friday 20 November. It "
            "has to lie between 8:00 and 12:00 here, and no one in Sydney should sit there after 21:00. First full "
            "hour when they, I and Room Weir have nothing else. Let me know the date and the time in London."
        ),
        plan=("Find the acting user's people with the position in HR, and read who they are.",),
        read=on_gym(
            HR.gym,
            hr.find_user(systems.in_hr("Wendell Achebe")),
            hr.read_profile(systems.in_hr("Wendell Achebe")),
            call("fetch_hr_profiles", manager=str(boss.hr_profile_id), position="QA"),
            *(hr.read_user(systems.in_hr(name)) for name in people),
        ),
        people=people,
        other="Jocasta Finn",
        title="Test plan December",
        minutes=60,
        days=("11-17", "11-20"),
        hours=(8, 12),
        zone="Europe/London",
        home="Releases",
        rooms=("Weir",),
        elsewhere={"Australia/Sydney": (7, 21)},
        tools=("list_users", "get_user_using_name"),
        evidence=(boss,),
    )


def _payroll(systems: Systems) -> Wanted:
    """The agents who can take a case by its rule, in two cities, each with a room."""
    rule = systems.hr.rule("Pay")
    people = systems.hr.users_of(rule)
    team = systems.hr.one_team(rule.user_group)
    return Wanted(
        slug="those-whom-the-rule-names",
        actor="Aurelio Banks",
        servers=(HR,),
        prompt=(
            "We shall change the assignment rule Pay. Before that I wish to hear the people whom it names: 45 minutes, "
            "'Rule for pay', entered in People diary, with Room Weir for London and Room Culvert for New York. "
            "Any day between Monday 23 and Thursday 26 November, first full hour at which everyone and both rooms are "
            "free; from 13:00 here, and no later than 17:00 at the end. Which one did you take?"
        ),
        plan=("Read the rule and the users whom it names.",),
        read=on_gym(
            HR.gym,
            hr.find_user(systems.in_hr("Aurelio Banks")),
            hr.find_rule("Pay"),
            hr.find_team(team),
            *map(hr.read_user, people),
        ),
        people=tuple(f"{user.first_name} {user.last_name}" for user in people),
        other="Casper Onslow",
        title="Rule for pay",
        minutes=45,
        days=("11-23", "11-26"),
        hours=(13, 17),
        zone="Europe/London",
        home="People diary",
        rooms=("Weir", "Culvert"),
        tools=("list_group_members", "list_assignment_rules"),
        evidence=(rule,),
    )


# --- several meetings, and none --------------------------------------------------------------------------------------


def _one_by_one(systems: Systems) -> Draft:
    """A manager's people get a meeting each; how long they have been employed decides the order."""
    actor, days, zone = "Mirabel Stone", (on("11-17"), on("11-18")), "America/New_York"
    profiles = sorted(systems.hr.people_of(systems.in_hr(actor)), key=lambda row: str(row.employment_start_date))
    people = [f"{user.first_name} {user.last_name}" for user in (_user(systems, row) for row in profiles)]
    room = systems.calendars.calendar("Room Culvert")
    calendars = [systems.own(actor), room, *map(systems.own, people)]

    def slot(day: datetime, name: str) -> datetime:
        hours = (day + timedelta(hours=hour) for hour in range(9, 17))
        needed = (systems.own(actor), room, systems.own(name))
        return next(hour for hour in hours if all(is_free(systems, one, hour, 30, zone) for one in needed))

    def entered(day: datetime, name: str) -> ToolCall:
        guests = [systems.colleague(name), systems.booked_as("Culvert")]
        return meet(systems.own(actor), "Year in review", slot(day, name), 30, zone, guests)

    looked = (
        *on_gym(
            HR.gym,
            hr.find_user(systems.in_hr(actor)),
            hr.read_profile(systems.in_hr(actor)),
            call("fetch_hr_profiles", manager=str(systems.hr.profile(actor).hr_profile_id)),
            *(hr.read_user(systems.in_hr(name)) for name in people),
        ),
        *on_gym(CALENDAR.gym, LIST, *(find_person(systems.colleague(name).user) for name in people)),
        busy(calendars, days[0].date(), days[1].date()),
    )
    made = tuple(entered(day, name) for day, name in zip(days, people, strict=True))
    swapped = tuple(entered(day, name) for day, name in zip(days, reversed(people), strict=True))
    times = [slot(day, name) for day, name in zip(days, people, strict=True)]
    answer = listed(
        [f"{name} on {time.day} November at {time:%H:%M}" for name, time in zip(people, times, strict=True)]
    ) + "."  # fmt: skip
    actors = systems.actors(actor, HR, CALENDAR)
    draft = Draft(
        slug="longest-employed-first",
        actor=actors[HR.gym],
        actors=actors,
        prompt=(
            "Year in review with each of the people who report to me in HR, half an hour apiece and Room Culvert for "
            "both. The one who has been with the company longer comes on Tuesday 17 November, the other one on "
            "Wednesday 18 November. On each day the first full hour from 9 that the three of us (the room counts) have "
            "free. Put 'Year in review' into my calendar. Who is when?"
        ),
        plan=(
            "Find the acting user's people in HR, and when their employment began.",
            "Look both up in the calendars; ask for the busy times of all and of the room.",
            "Enter a meeting for each, the longer employed first.",
        ),
        gold=(*looked, *made),
        answer=answer,
        verifiers=(
            answer_says(
                "says_who_is_when", "The answer has each person with the time [REF-3]",
                paired(*((term(name), at_time(time)) for name, time in zip(people, times, strict=True))),
            ),
        ),
        tools=("list_users", "list_events", "patch_event", "get_user_using_name"),
        mistakes={"enters one for both": (
            meet(systems.own(actor), "Year in review", times[1] + timedelta(hours=2), 30, zone,
                [systems.colleague(name) for name in people]),
        )},
        negative_trajectories={"takes them the other way round": NegativeTrajectory((*looked, *swapped), answer)},
    )  # fmt: skip
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=RULES)


def _user(systems: Systems, profile: Any) -> Any:
    return systems.hr.one(type(systems.in_hr("Honora Quill")), user_id=profile.user_id)


def _caller_on_leave(systems: Systems) -> Draft:
    """The person who must come is on parental leave, so that both parts are declined."""
    prices = systems.desk.incident("order-prices")
    caller = systems.desk.caller(prices)
    leave = systems.hr.case("parental-amato")
    actors = systems.actors("Sunniva Hale", ITSM, HR, CALENDAR)
    people = ("Piotr Zielin", "Giselle Amato")
    looked = (
        *on_gym(
            ITSM.gym,
            desk.find_incident(prices),
            call("get_user", user_id=prices.assigned_to),
            call("get_user", user_id=caller.user_id),
        ),
        *on_gym(HR.gym, call("list_hr_cases", opened_for="Giselle Amato")),
        *on_gym(CALENDAR.gym, LIST, *(find_person(systems.colleague(name).user) for name in people)),
    )
    hold = on_gym(
        ITSM.gym, desk.update_incident(prices, status="on_hold", on_hold_reason="Awaiting Caller"),
        desk.notify(prices, caller, "update", f"{prices.number} waits", "It waits for a talk with you."),
    )  # fmt: skip
    talk = meet(
        systems.calendars.calendar("War room"), "Prices of seals", on("11-20 14:00"), 30, "Europe/London",
        [systems.colleague(name) for name in people],
    )  # fmt: skip
    assert prices.status in OPEN
    draft = Draft(
        slug="caller-is-on-leave",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            f"{prices.number} hangs. Put it on hold until we have spoken with its caller, and enter that talk into War "
            "room: the caller, its assignee and me, half an hour called 'Prices of seals', this week or next, "
            "at a time that all three of us have free. The one makes no sense without the other."
        ),
        plan=(
            "Read the incident, its assignee and its caller; see what HR has about the caller.",
            "The caller is on parental leave over both weeks.",
            "Decline both parts, as one cannot be done.",
        ),
        gold=looked,
        answer=(
            f"Nothing was changed. Giselle Amato, who reported {prices.number}, is on parental leave until December, "
            "so there is no time for the talk in these two weeks, and the incident was not put on hold."
        ),
        verifiers=answer_refuses(r"\b(parental|on leave|absent|absence|away)\b", subject_pattern=term("Giselle Amato")),
        tools=("update_incident", "create_event", "send_notification", "list_events"),
        feasible=False,
        evidence=(prices, leave),
        mistakes={"puts it on hold": hold, "enters the talk": (talk,)},
        negative_trajectories={
            "does as requested": NegativeTrajectory(
                (*looked, *hold, talk), f"{prices.number} is on hold, and the talk is on 20 November at 14:00."
            )
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft)
