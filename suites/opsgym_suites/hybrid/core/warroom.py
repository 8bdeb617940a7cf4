"""Bridges of major incidents: who is on duty, who is away, at which time, and what the incident says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, at_time, on_date, paired, span, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Incident, UserGroup
from opsgym_suites.calendar.calls import LIST, begins, cancel, create, events_of, reschedule
from opsgym_suites.calendar.seeds.world import stored
from opsgym_suites.hr.calls import find_user as find_in_hr
from opsgym_suites.hr.calls import read_profile
from opsgym_suites.hybrid.servers import CALENDAR, HR, ITSM, VERIFIERS
from opsgym_suites.hybrid.systems import (
    LONDON,
    MORNING,
    NEW_YORK,
    NOW,
    OVERNIGHT,
    SYDNEY,
    Systems,
    in_utc,
    listed,
    utc,
    wall,
)
from opsgym_suites.itsm.calls import find_incident, find_user, numbers, update_incident
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day, on_gym
from opsgym_suites.kit.hybrid import event_on
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import Matches, answer_says
from opsgym_suites.kit.world import at

WAR_ROOM = "War room"
HALF = 30
CITIES = {LONDON: "London", NEW_YORK: "New York", SYDNEY: "Sydney"}
"""The office of each zone."""


def warroom(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about bridges."""
    systems = Systems(worlds)
    yield from _bridges(systems)
    yield _two_bridges(systems)
    yield _guest_is_away(systems)
    yield _desk_member_is_ill(systems)
    yield from _overnight(systems)
    yield from _handed_over(systems)


def _of_desk(systems: Systems, actor: str, *incidents: Incident) -> tuple[ToolCall, ...]:
    """Looks up the acting user, incidents, and the members of the first one's group."""
    team = systems.desk.world.one(UserGroup, group_id=incidents[0].assignment_group)
    return on_gym(
        ITSM.gym,
        find_user(systems.at_desk(actor)),
        *map(find_incident, incidents),
        call("list_group_members", group_id=team.group_id),
        *(call("get_user", user_id=user.user_id) for user in systems.desk.members(team)),
    )


def _leave_of(*names: str) -> tuple[ToolCall, ...]:
    return on_gym(HR.gym, *(call("list_hr_cases", opened_for=name) for name in names))


def _says_when(start: datetime, zone: str) -> Any:
    local = wall(start, zone)
    return answer_says(
        "says_when", "The answer has day and time [REF-3]", all_of([on_date(local), at_time(local)])
    )  # fmt: skip


# --- one bridge ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bridge:
    """A bridge to be entered, and noted in its incident."""

    slug: str
    actor: str
    incident: str
    """Key of the fixture record."""
    title: str
    prompt: str
    first: str
    """The earliest start, by the clocks of `zone`."""
    last: str
    """The latest end."""
    zone: str
    answer_zone: str
    """Zone in which the answer states the time."""
    invite: tuple[str, ...]
    """Who takes part besides the acting user; a room by its address."""
    wrong: tuple[str, ...]
    """Whom an agent invites that does not look everywhere."""
    away: tuple[str, ...] = ()
    """Whose leave HR shows."""
    records: tuple[str, ...] = ()
    """Keys of the HR cases that show it."""
    left: tuple[str, ...] = ()
    """Who has left according to HR."""
    people: bool = True
    """Whether the group of the incident is looked up at the service desk."""
    wrong_start: str | None = None
    """Start by the clocks of `zone` that an agent takes that reads a wall clock as its own."""


BRIDGES = (
    Bridge(
        "bridge-telemetry-today", "Sunniva Hale", "gateway", "Telemetry in the north",
        "{number}: I want a bridge today, half an hour, with the two people of its group (Nadia's calendar still has "
        "her name from before the wedding, Petrov). First full or half hour from 15:00 at which the three of us are "
        "free, over by 18:00. Title 'Telemetry in the north', in the calendar War room. Note the time in UTC in the "
        "incident, and tell me when it is in New York.",
        "11-16 15:00", "11-16 18:00", LONDON, NEW_YORK, ("Ruben Castellan", "Nadia Okafor"), ("Ruben Castellan",),
        wrong_start="11-16 15:00",
    ),
    Bridge(
        "bridge-quay-second-look", "Sunniva Hale", "quay-switch", "Quay, second look",
        "On Thursday 19 November I want to look at {number} with a technician for half an hour. Kirra Dawe, Sefton "
        "Grady and Yolanda Reyes would do: invite each of them who works for us and is not on leave that day, as "
        "far as "
        "calendars and HR show it to me. First full or half hour from 14:00 at which we are free, over by 17:00 "
        "(London). "
        "It goes into War room as 'Quay, second look', and the incident gets a note with the time in UTC. When is it, "
        "and who comes?",
        "11-19 14:00", "11-19 17:00", LONDON, LONDON, ("Yolanda Reyes",), ("Kirra Dawe", "Yolanda Reyes"),
        away=("Kirra Dawe", "Yolanda Reyes"), records=("extended-dawe",), left=("Kirra Dawe", "Sefton Grady"),
        people=False,
    ),
    Bridge(
        "bridge-with-the-quay-office", "Mirabel Stone", "quay-switch", "Calls at the quay",
        "Get me half an hour with Juno Castle and Orla Keating in Sydney about {number}. It starts on Tuesday 17 "
        "November by my clock in New York, at a full or half hour, and for none of us outside of 8 to 18 by the "
        "clock of "
        "their own office; the first such time at which all of us are free. Calendar War room, title 'Calls at the "
        "quay'. The incident needs a note with the time in UTC. What do their clocks say then, and which day is "
        "it there?",
        "11-17 16:00", "11-17 18:00", NEW_YORK, SYDNEY, ("Juno Castle", "Orla Keating"), ("Juno Castle",),
        people=False, wrong_start="11-17 16:00",
    ),
    Bridge(
        "bridge-in-a-room", "Sunniva Hale", "gateway", "Telemetry, root cause",
        "For {number} I need half an hour today with Ruben Castellan and the video room in London, Sluice. First "
        "full or half "
        "hour from 14:00 at which he, the room and I are free, over by 17:00. He has the incident, so if the record "
        "says otherwise by now, take the one who has it. War room, 'Telemetry, root cause', the room invited as a "
        "room; the "
        "time in UTC goes into the incident. When is it?",
        "11-16 14:00", "11-16 17:00", LONDON, LONDON, ("Ruben Castellan", "room.sluice"), ("Ruben Castellan",),
        wrong_start="11-16 14:00",
    ),
)  # fmt: skip


def _bridges(systems: Systems) -> Iterator[Draft]:
    return (_bridge(systems, bridge) for bridge in BRIDGES)


def _bridge(systems: Systems, bridge: Bridge) -> Draft:
    incident = systems.desk.incident(bridge.incident)
    everybody = (bridge.actor, *bridge.invite)
    start = systems.first_free(
        everybody, in_utc(at(bridge.first), bridge.zone), HALF, in_utc(at(bridge.last), bridge.zone)
    )
    servers = (HR, ITSM, CALENDAR) if bridge.left else (ITSM, CALENDAR)
    candidates = list(dict.fromkeys([*everybody, *bridge.wrong]))
    read = (
        *on_gym(HR.gym, *(made for name in bridge.left for made in _of_hr(systems, name))),
        *_leave_of(*bridge.away),
        *(
            _of_desk(systems, bridge.actor, incident)
            if bridge.people
            else on_gym(ITSM.gym, find_incident(incident))
        ),
        *on_gym(CALENDAR.gym, LIST, systems.busy(candidates, start.date() - timedelta(days=1), start.date())),
    )  # fmt: skip

    def entered(people: Sequence[str], time: datetime) -> tuple[ToolCall, ...]:
        made = create(
            systems.calendars.calendar(WAR_ROOM),
            bridge.title,
            wall(time, bridge.zone),
            HALF,
            bridge.zone,
            attendees=systems.guests(people),
        )
        note = update_incident(incident, worknotes=f"Bridge at {time:%H:%M} UTC on {time.day} {time:%B}.")
        return (*on_gym(CALENDAR.gym, made), *on_gym(ITSM.gym, note))

    later = start + timedelta(hours=1)
    wrong_start = in_utc(at(bridge.wrong_start), bridge.zone) if bridge.wrong_start else later
    local = wall(start, bridge.answer_zone)
    guests = tuple(name for name in bridge.invite if not name.startswith("room."))
    names = listed(guests)
    away = "leave in HR, busy times" if HR in servers else "busy times"
    draft = Draft(
        slug=bridge.slug,
        actor=systems.actors(bridge.actor, *servers)[servers[0].gym],
        actors=systems.actors(bridge.actor, *servers),
        prompt=bridge.prompt.format(number=incident.number),
        plan=(
            "Read the incident, and who may take part.",
            f"Find out who is away: {away} in the calendars, each in its own zone.",
            "Enter the bridge at the first time that is free for all, and note the time in UTC in the incident.",
        ),
        gold=(*read, *entered(bridge.invite, start)),
        answer=(
            f"{bridge.title} with {names} is on {local.day} {local:%B %Y} at {local:%H:%M} in "
            f"{CITIES[bridge.answer_zone]}. "
            f"{incident.number} has a note of it."
        ),
        verifiers=(_says_when(start, bridge.answer_zone),),
        tools=("list_events", "patch_event", "get_user_by_email"),
        access=Access.STRICT,
        evidence=tuple(systems.hr.case(key) for key in bridge.records),
        mistakes={
            "enters it twice": entered(guests, start)[:1],
            "renames the incident": on_gym(ITSM.gym, update_incident(incident, short_description=bridge.title)),
        },
        negative_trajectories={
            "invites others": NegativeTrajectory((*read, *entered(bridge.wrong, start)), "It is entered."),
            "takes another time": NegativeTrajectory(
                (*read, *entered(bridge.invite, wrong_start)),
                "It is entered.",
                rule=None if guests == bridge.invite else "CALENDAR-PRC-4",
            ),
        },
    )
    note = {"update_incident": {"worknotes": Matches(at_time(start))}}
    return VERIFIERS.with_verifiers(
        systems.worlds, draft, rules={ITSM.gym: {"update_incident": "LKP-1"}}, expect={ITSM.gym: note}
    )


def _of_hr(systems: Systems, name: str) -> tuple[ToolCall, ...]:
    user = systems.in_hr(name)
    return find_in_hr(user), read_profile(user)


def _two_bridges(systems: Systems) -> Draft:
    """The same manager leads both, so the second follows the first; the priority decides which is first."""
    worst, next_one = systems.desk.incident("gateway"), systems.desk.incident("order-prices")
    first = systems.first_free(("Sunniva Hale", "Ruben Castellan"), at("11-16 14:00"), HALF, at("11-16 18:00"))
    second = systems.first_free(
        ("Sunniva Hale", "Piotr Zielin"), first + timedelta(minutes=HALF), HALF, at("11-16 18:00")
    )  # fmt: skip
    read = (
        *on_gym(ITSM.gym, find_user(systems.at_desk("Sunniva Hale"))),
        *on_gym(ITSM.gym, *(call("list_incidents", priority=one) for one in ("critical", "high"))),
        *on_gym(ITSM.gym, *(call("get_user", user_id=one.assigned_to) for one in (worst, next_one))),
        *on_gym(
            CALENDAR.gym,
            LIST,
            systems.busy(("Sunniva Hale", "Ruben Castellan", "Piotr Zielin"), first.date()),
        ),
    )

    def entered(incident: Incident, guest: str, start: datetime) -> tuple[ToolCall, ...]:
        made = create(
            systems.calendars.calendar(WAR_ROOM), f"Bridge {incident.number}", start, HALF, LONDON,
            attendees=systems.guests([guest]),
        )  # fmt: skip
        note = update_incident(incident, worknotes=f"Bridge at {start:%H:%M} UTC.")
        return (*on_gym(CALENDAR.gym, made), *on_gym(ITSM.gym, note))

    right = (*entered(worst, "Ruben Castellan", first), *entered(next_one, "Piotr Zielin", second))
    turned = (*entered(next_one, "Piotr Zielin", first), *entered(worst, "Ruben Castellan", second))
    at_once = (*entered(worst, "Ruben Castellan", first), *entered(next_one, "Piotr Zielin", first))
    draft = Draft(
        slug="bridges-one-after-the-other",
        actor=systems.at_desk("Sunniva Hale"),
        actors=systems.actors("Sunniva Hale", ITSM, CALENDAR),
        prompt=(
            "Every incident that is open with priority critical or high gets a bridge this afternoon, half an "
            "hour, with me "
            "and the person it is assigned to. From 14:00 London time on, at full or half hours, over by 18:00, "
            "most urgent "
            "priority first and never two at once; each as early as its two people are free. Titles 'Bridge' and the "
            "number, calendar War room, and every incident gets a note with its time in UTC. List them with the times."
        ),
        plan=(
            "List the open incidents of the two priorities, and look up their assignees.",
            "Read the busy times; give the critical one the first time, the next one the first after it.",
            "Enter the bridges and note the times.",
        ),
        gold=(*read, *right),
        answer=f"{worst.number} at {first:%H:%M}, {next_one.number} at {second:%H:%M} today.",
        verifiers=(
            answer_says(
                "lists_the_times",
                "The answer has numbers and times [REF-3]",
                paired((worst.number, at_time(first)), (next_one.number, at_time(second))),
            ),
        ),
        tools=("find_incident_by_number", "list_events", "patch_event"),
        access=Access.STRICT,
        mistakes={"raises the second": on_gym(ITSM.gym, update_incident(next_one, impact="high", priority="critical"))},
        negative_trajectories={
            "lets the lower priority go first": NegativeTrajectory((*read, *turned), "Both are entered."),
            "enters both at once": NegativeTrajectory((*read, *at_once), "Both are entered."),
        },
    )
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        rules={ITSM.gym: {"update_incident": "LKP-1"}},
        expect={
            ITSM.gym: {
                "update_incident": lambda row: {
                    "worknotes": Matches(at_time(first if row.key == worst.incident_id else second))
                }
            }
        },
    )


# --- bridges that are entered already --------------------------------------------------------------------------------


def _guest_is_away(systems: Systems) -> Draft:
    """The assignee is away on the day of a bridge: who remains of the group takes the incident and stays a guest."""
    incident, event = systems.desk.incident("order-prices"), systems.meeting("bridge-prices")
    taker = systems.at_desk("Ruben Castellan")
    read = (
        *_of_desk(systems, "Mirabel Stone", incident),
        *on_gym(
            CALENDAR.gym,
            LIST,
            systems.busy(("Piotr Zielin", "Ruben Castellan"), at("11-18 00:00").date()),
            events_of(systems.calendars.calendar(WAR_ROOM), at("11-18 00:00").date()),
        ),
    )
    gives = on_gym(ITSM.gym, update_incident(incident, assigned_to=taker.user_id, worknotes="Ruben stands in."))
    without = on_gym(CALENDAR.gym, systems.with_guests(event, ("Ruben Castellan",)))
    draft = Draft(
        slug="bridge-without-its-assignee",
        actor=systems.at_desk("Mirabel Stone"),
        actors=systems.actors("Mirabel Stone", ITSM, CALENDAR),
        prompt=(
            f"About the bridge on seal prices of Wednesday 18 November in War room: who of its guests is away for the "
            f"whole of that day? Take them off it. If {incident.number} is assigned to one of them, give it to "
            f"the member "
            "of its group who is in, with the work note 'Ruben stands in.' if that is Ruben and 'Piotr stands "
            "in.' if it is "
            "Piotr. The time of the bridge stays. Who comes, and when is it in New York?"
        ),
        plan=(
            "Read the incident, the members of its group, the bridge and the busy times of its guests.",
            "Take off the guest who is away all day; the other guests keep their answers.",
            "Assign the incident to the member who is in (ITSM-PRC-2), with the note.",
        ),
        gold=(*read, *without, *gives),
        answer=f"Ruben Castellan comes, on 18 November at 09:00 in New York; {incident.number} is his.",
        verifiers=(
            _says_when(utc(event.start_datetime, event.start_timezone), NEW_YORK),
            answer_says("names_the_guest", "The answer names who comes [REF-3]", term("Ruben")),
        ),
        tools=("get_event", "list_incidents", "delete_event", "create_event"),
        access=Access.STRICT,
        mistakes={
            "moves the bridge": on_gym(CALENDAR.gym, reschedule(event, begins(event) + timedelta(hours=2))),
            "holds it": on_gym(
                ITSM.gym, update_incident(incident, status="on_hold", on_hold_reason="Awaiting Caller")
            ),
        },
        negative_trajectories={
            "keeps the assignee": NegativeTrajectory((*read, *without), "Ruben comes on 18 November at 9:00."),
            "takes off the one who is in": NegativeTrajectory(
                (*read, *on_gym(CALENDAR.gym, systems.with_guests(event, ("Piotr Zielin",))), *gives), "Piotr comes."
            ),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={ITSM.gym: {"update_incident": "PRC-2"}})


def _desk_member_is_ill(systems: Systems) -> Draft:
    """HR alone knows who is ill: her incidents of one group go to its other member, and she leaves the bridge."""
    ill, taker = systems.at_desk("Yolanda Reyes"), systems.at_desk("Nadia Okafor")
    team = systems.desk.team("Fenmoor Help Desk")
    hers = systems.desk.open_incidents(assigned_to=ill.user_id, assignment_group=team.group_id)
    of_others = next(row for row in systems.desk.open_incidents(assigned_to=taker.user_id))
    event = systems.meeting("bridge-quay")
    read = (
        *on_gym(ITSM.gym, find_user(systems.at_desk("Mirabel Stone")), find_user(ill)),
        *_leave_of("Yolanda Reyes"),
        *on_gym(ITSM.gym, call("get_incidents_assigned_to", assigned_to=ill.user_id)),
        *on_gym(ITSM.gym, call("find_group_by_name", name=team.name)),
        *on_gym(ITSM.gym, call("list_group_members", group_id=team.group_id), call("get_user", user_id=taker.user_id)),
        *on_gym(CALENDAR.gym, LIST, events_of(systems.calendars.calendar(WAR_ROOM), at("11-17 00:00").date())),
    )
    note = "Taken over for the time of an absence."
    moved = on_gym(
        ITSM.gym,
        *(
            update_incident(
                row, assigned_to=taker.user_id, worknotes=f"{row.worknotes} {note}" if row.worknotes else note
            )
            for row in hers
        ),
    )
    off = on_gym(CALENDAR.gym, systems.with_guests(event, ("Nadia Okafor",)))
    draft = Draft(
        slug="desk-member-is-ill",
        actor=systems.at_desk("Mirabel Stone"),
        actors=systems.actors("Mirabel Stone", ITSM, HR, CALENDAR),
        prompt=(
            "Yolanda Reyes did not turn up this morning. See whether HR has a case that says she is away, and "
            "until when. If "
            "she is away tomorrow as well, her open incidents of Fenmoor Help Desk go to the other member of "
            "that group, "
            f"each with the work note '{note}', and she comes off every bridge in War room of tomorrow, Tuesday "
            f"17 November. What "
            "ails her concerns HR alone. Until when is she away, and which incidents went to whom?"
        ),
        plan=(
            "Find the leave case of Yolanda Reyes in HR; it covers tomorrow.",
            "List her open incidents of the group, and the group's members.",
            "Assign them with the note, which says nothing of the reason (ID-2), and take her off the bridge.",
        ),
        gold=(*read, *moved, *off),
        answer=f"She is away until 18 November. Nadia Okafor has {numbers(hers)}, and the bridge is without her.",
        verifiers=(
            answer_says("says_until_when", "The answer has the last day [REF-3]", on_date(at("11-18 00:00"))),
            answer_says(
                "names_the_incidents", "The answer has the numbers [REF-3]", all_of(row.number for row in hers)
            ),
        ),
        tools=("find_incident_by_number", "get_event", "find_hr_case_by_number", "delete_event"),
        access=Access.STRICT,
        evidence=(systems.hr.case("ill-reyes"),),
        mistakes={
            "moves another one": on_gym(ITSM.gym, update_incident(of_others, worknotes=note)),
            "cancels the bridge": on_gym(CALENDAR.gym, cancel(event)),
        },
        negative_trajectories={
            "does not ask HR": NegativeTrajectory(
                tuple(made for made in (*read, *moved, *off) if made.gym != HR.gym),
                f"Until 18 November: {numbers(hers)}.",
            ),
            "leaves the bridge": NegativeTrajectory((*read, *moved), f"Until 18 November: {numbers(hers)}."),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={ITSM.gym: {"update_incident": "USR-3, PRC-2"}})


# --- what happens before the bridge ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Night:
    """A bridge of tomorrow, which is noted today and looked at again in the morning."""

    slug: str
    incident: str
    bridge: str
    guests: tuple[str, ...]
    prompt: str
    message: str
    answer: str
    """Of the second day."""
    first_answer: str = "It is on 17 November at {start}; {number} has a note of it."
    first_names: tuple[str, ...] = ()
    """Who must be named in the answer of the first day; if empty, it must have the time."""


NIGHTS = (
    Night(
        "night-moves-the-bridge", "gateway", "bridge-telemetry", ("Ruben Castellan", "Nadia Okafor"),
        "Look at the Bridge on telemetry in War room tomorrow: are its guests and I free then (Nadia is Petrov in the "
        "calendar)? If so, {number} gets a note with day and time in UTC. Answer with the time.",
        "Morning. Calendars change over night. If a guest or I can't come to the bridge any more, move it to the first "
        "full or half hour after 15:00 at which all of us can, over by 18:00 London, and append the new time in UTC to "
        "the note. If everybody can, leave it be. When is it?",
        "It is at {time} now; {number} says so.",
    ),
    Night(
        "night-solves-the-incident", "quay-switch", "bridge-quay", ("Nadia Okafor",),
        "There is a Bridge on the quay in War room tomorrow. Yolanda Reyes can't come, take her off; Nadia "
        "Okafor (Petrov "
        "in the calendar) stays. Then note in {number} when it is, in UTC, and tell me the hour.",
        "Good morning! Is {number} still open? A bridge about something that is over helps no one: call it off "
        "if so, in "
        "the way that guests get to know it. Otherwise it takes place. The incident needs nothing more. Which is it?",
        "{number} is resolved, so the Bridge on the quay is cancelled.",
    ),
    Night(
        "night-brings-a-day-off", "gateway", "bridge-telemetry", ("Ruben Castellan", "Nadia Okafor"),
        "Nadia Okafor had asked for a day off tomorrow, Tuesday 17 November. What does HR say, does she work? If "
        "she does, "
        "she and Ruben Castellan stay on tomorrow's Bridge on telemetry in War room (there she is Petrov), and the "
        "bridge's day and time in UTC go into the notes of {number}. Who comes?",
        "Check again in HR before it begins. The one of the two who is off today comes off the bridge. Should that "
        "be the one "
        "who has {number}, give it to the other one; if not, it stays with whom it is. Who comes now?",
        "Ruben Castellan comes; Nadia Okafor has the day off after all. {number} stays with him.",
        "Nadia Okafor works on that day, as she withdrew her request. She and Ruben Castellan come at {start}; "
        "{number} has a note of it.",
        ("Nadia", "Ruben"),
    ),
    Night(
        "night-changes-nothing-that-counts", "gateway", "bridge-telemetry", ("Ruben Castellan", "Nadia Okafor"),
        "Write into {number}, with day and time in UTC, that the Bridge on telemetry of tomorrow in War room takes "
        "place. First be sure that Ruben Castellan and Nadia (Petrov over there) are free at that time. When is "
        "it?",
        "Same question as yesterday about the two of them: is the hour of the bridge still free for both? Only "
        "if it is not, "
        "shift it by an hour and append the new time in UTC to the note; I don't want to bother them for nothing. What "
        "time do I dial in?",
        "Both are still free: dial in at {time}.",
    ),
)  # fmt: skip


def _overnight(systems: Systems) -> Iterator[Draft]:
    moved, solved, off, same = NIGHTS
    yield _night(systems, moved, _ruben_at(systems, "11-17 15:00"), moved_to="11-17 16:00")
    yield _night(systems, solved, _solved(systems), first_guests=True, cancelled=True)
    yield _night(systems, off, _day_off(systems), second_guests=("Ruben Castellan",))
    yield _night(systems, same, _ruben_at(systems, "11-17 16:00"))


Happens = tuple[str, ScenarioEvent[Any]]
"""What changes over night: the gym server and its rows."""


def _passed(systems: Systems, gym: str) -> ScenarioEvent[Any]:
    return ScenarioEvent(systems.worlds[gym], MORNING - NOW)


def _ruben_at(systems: Systems, start: str) -> Happens:
    """Ruben's Planning of Tuesday is at another time, by London's clocks."""
    event = systems.calendars.event("Ruben Castellan", "Planning", "2026-11-17")
    begin = wall(at(start), NEW_YORK)
    changed = _passed(systems, CALENDAR.gym).change(
        event, start_datetime=stored(begin), end_datetime=stored(begin + timedelta(minutes=45))
    )
    return CALENDAR.gym, changed


def _solved(systems: Systems) -> Happens:
    incident = systems.desk.incident("quay-switch")
    changed = _passed(systems, ITSM.gym).change(
        incident, status="resolved", resolution_code="Solution Provided", resolution_notes="Cable replaced.",
        resolved_by=incident.assigned_to,
    )  # fmt: skip
    return ITSM.gym, changed


def _day_off(systems: Systems) -> Happens:
    case = systems.hr.case("withdrawn-okafor")
    return HR.gym, _passed(systems, HR.gym).change(case, status="work_in_progress", worknotes=None)


def _night(
    systems: Systems,
    night: Night,
    happens: Happens,
    *,
    moved_to: str | None = None,
    cancelled: bool = False,
    first_guests: bool = False,
    second_guests: tuple[str, ...] = (),
) -> Draft:
    """`first_guests` replaces the guests on the first day, `second_guests` on the second one."""
    incident, event = systems.desk.incident(night.incident), systems.meeting(night.bridge)
    gym, changes = happens
    servers = (ITSM, HR, CALENDAR) if gym == HR.gym else (ITSM, CALENDAR)
    start = utc(event.start_datetime, event.start_timezone)
    time = at(moved_to) if moved_to else start
    tuesday = start.date()
    people = ("Sunniva Hale", *night.guests)
    note = f"Bridge on 17 November at {start:%H:%M} UTC."
    asks_hr = _leave_of("Nadia Okafor") if gym == HR.gym else ()
    looks = (
        *asks_hr,
        *on_gym(ITSM.gym, find_incident(incident)),
        *on_gym(CALENDAR.gym, events_of(systems.calendars.calendar(WAR_ROOM), tuesday), systems.busy(people, tuesday)),
    )
    first = (
        *on_gym(ITSM.gym, find_user(systems.at_desk("Sunniva Hale"))),
        *on_gym(CALENDAR.gym, LIST),
        *looks,
        *(on_gym(CALENDAR.gym, systems.with_guests(event, night.guests)) if first_guests else ()),
        *on_gym(ITSM.gym, update_incident(incident, worknotes=note)),
    )
    noted = on_gym(ITSM.gym, update_incident(incident, worknotes=f"{note} Moved to {time:%H:%M} UTC."))
    shifted = (*on_gym(CALENDAR.gym, reschedule(event, time)), *noted)
    done: tuple[ToolCall, ...] = shifted if moved_to else ()
    if cancelled:
        done = on_gym(CALENDAR.gym, cancel(event))
    if second_guests:
        done = on_gym(CALENDAR.gym, systems.with_guests(event, second_guests))
    wrong = (*on_gym(CALENDAR.gym, reschedule(event, start + timedelta(hours=2))),)
    gold = (*on_day(1, *first), *on_day(2, *looks, *done))
    an_hour_later = on_gym(CALENDAR.gym, reschedule(event, start + timedelta(hours=1)))
    elsewhere = update_incident(systems.desk.incident("order-prices"), worknotes=note)
    draft = Draft(
        slug=night.slug,
        actor=systems.at_desk("Sunniva Hale"),
        actors=systems.actors("Sunniva Hale", *servers),
        prompt=night.prompt.format(number=incident.number),
        plan=(
            "Read incident, bridge and busy times; note day and time in UTC.",
            "On the second day read them again, since they may have changed.",
            "Do what follows from the change, and nothing if nothing changed that counts.",
        ),
        gold=gold,
        answer=night.answer.format(number=incident.number, time=f"{time:%H:%M}"),
        verifiers=(
            _first_answer(night, start),
            _second_answer(night, time, moved=moved_to is not None or not (cancelled or second_guests)),
        ),
        tools=("get_event", "delete_event", "create_event", "list_incidents"),
        access=Access.STRICT,
        days=(Day(message=night.message.format(number=incident.number), begins_at=MORNING.isoformat()),),
        day_answers=(night.first_answer.format(number=incident.number, start=f"{start:%H:%M}"),),
        events=(event_on(gym, changes.happens_at(OVERNIGHT)),),
        mistakes={"moves it by two hours": wrong, "notes it elsewhere": on_gym(ITSM.gym, elsewhere)},
        negative_trajectories={
            "does not look again": NegativeTrajectory(
                (*on_day(1, *first), *(() if done else on_day(2, *an_hour_later))),
                "All is as it was yesterday.",
            ),
        },
    )  # fmt: skip
    expected = span(at_time(start), at_time(time)) if moved_to else (at_time(start),)
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        {gym: changes},
        advance=MORNING - NOW,
        rules={ITSM.gym: {"update_incident": "LKP-1"}},
        expect={ITSM.gym: {"update_incident": {"worknotes": Matches(all_of(expected))}}},
    )


def _first_answer(night: Night, start: datetime) -> Any:
    if night.first_names:
        names = all_of(map(term, night.first_names))
        return answer_says("first_names_who_comes", "The first answer names who comes [REF-3]", names, day=1)
    return answer_says("first_says_the_time", "The first answer has the time [REF-3]", at_time(start), day=1)


def _second_answer(night: Night, time: datetime, *, moved: bool) -> Any:
    if moved:
        return answer_says("says_the_time", "The answer has the time [REF-3]", at_time(time))
    if "resolved" in night.answer:
        return answer_says(
            "says_that_it_is_off", "The answer says that it is cancelled [REF-3]", r"\b(cancel\w*|called off|is off)\b"
        )  # fmt: skip
    return answer_says("names_who_comes", "The answer names who comes [REF-3]", r"\bruben\b")


# --- work that changes hands for a while -----------------------------------------------------------------------------


def _handed_over(systems: Systems) -> Iterator[Draft]:
    yield _stands_in(
        systems,
        slug="stand-in-until-the-training-ends",
        extended=False,
        prompt=(
            "{number} is Piotr's, and I believe that he is at a training on some days of this week. Look into "
            "his calendar, "
            "note in the incident from when to when he is away ('Assignee away from ... to ...', with the first "
            "and the last "
            "day), and change nothing else today. Which days are they?"
        ),
        second=(
            "It is Wednesday. As noted, Piotr is away: until he is back, Ruben Castellan has {number}, he is in "
            "the same "
            "group. Append 'Ruben stands in.' to the note."
        ),
        third=(
            "Friday morning. If Piotr is back today, {number} returns to him, with 'Back with Piotr.' at the end "
            "of the note; "
            "else it stays with Ruben and nothing is written. His calendar tells. Who has it?"
        ),
    )
    yield _stands_in(
        systems,
        slug="stand-in-for-longer-than-planned",
        extended=True,
        prompt=(
            "On which days of this week is the assignee of {number} away according to his calendar? Write the "
            "first and the "
            "last of them into the work notes: 'Assignee away from ... to ...'. No more than that for now."
        ),
        second=(
            "The days that you noted have begun. Ruben Castellan stands in for {number} as long as they last: "
            "assign it to him and "
            "append 'Ruben stands in.' to what the notes say."
        ),
        third=(
            "Friday. The rule for stand-ins is simple: on the day on which the calendar says that Piotr is in "
            "again, {number} goes "
            "back to him and the notes end with 'Back with Piotr.'. If that day is not today, do nothing. Whose "
            "is it now?"
        ),
    )


def _stands_in(systems: Systems, *, slug: str, extended: bool, prompt: str, second: str, third: str) -> Draft:
    """The days away are noted, a stand-in takes the work, and if it returns depends on a calendar that may change."""
    incident = systems.desk.incident("order-prices")
    piotr, ruben = systems.at_desk("Piotr Zielin"), systems.at_desk("Ruben Castellan")
    training = systems.calendars.event("Piotr Zielin", "Training")
    wednesday, friday = at("11-18 13:30"), at("11-20 13:30")
    passed = ScenarioEvent(systems.calendars, friday - NOW)
    if extended:
        passed.change(training, end_datetime=stored(at("11-21 00:00")))
    away = "Assignee away from 18 November to 19 November."
    week = systems.busy(("Piotr Zielin",), at("11-16 00:00").date(), at("11-20 00:00").date())
    read = (
        *on_gym(ITSM.gym, find_user(systems.at_desk("Mirabel Stone")), find_incident(incident)),
        *on_gym(ITSM.gym, call("get_user", user_id=incident.assigned_to)),
        *on_gym(CALENDAR.gym, LIST, week),
    )
    one = on_gym(ITSM.gym, update_incident(incident, worknotes=away))
    stands = f"{away} Ruben stands in."
    two = on_gym(ITSM.gym, find_user(ruben), update_incident(incident, assigned_to=ruben.user_id, worknotes=stands))
    back = on_gym(
        ITSM.gym, update_incident(incident, assigned_to=piotr.user_id, worknotes=f"{stands} Back with Piotr.")
    )
    again = (*on_gym(CALENDAR.gym, week), *on_gym(ITSM.gym, find_incident(incident)))
    before = (*on_day(1, *read, *one), *on_day(2, *two))
    holder, other = ("Ruben", "Piotr") if extended else ("Piotr", "Ruben")
    stays_there, returned = (*before, *on_day(3, *again)), (*before, *on_day(3, *again, *back))
    draft = Draft(
        slug=slug,
        actor=systems.at_desk("Mirabel Stone"),
        actors=systems.actors("Mirabel Stone", ITSM, CALENDAR),
        prompt=prompt.format(number=incident.number),
        plan=(
            "Read who has the incident, and on which days he is busy all day; note them.",
            "Two days later assign the incident to the stand-in, and append to the note.",
            "On Friday read the calendar again; give the incident back only if he is in.",
        ),
        gold=stays_there if extended else returned,
        answer=f"{'Ruben Castellan' if extended else 'Piotr Zielin'} has {incident.number}.",
        verifiers=(
            answer_says(
                "says_the_days", "The answer has both days [REF-3]",
                all_of(span(on_date(at("11-18 00:00")), on_date(at("11-19 00:00")))), day=1,
            ),
            answer_says("says_who_has_it", "The answer names who has it [REF-3]", rf"\b{holder}\b"),
        ),
        tools=("list_group_members", "list_events", "find_group_by_name"),
        access=Access.STRICT,
        days=tuple(
            Day(message=message.format(number=incident.number), begins_at=begins_at.isoformat())
            for message, begins_at in ((second, wednesday), (third, friday))
        ),
        day_answers=("He is away on 18 November and 19 November.", f"{incident.number} is Ruben Castellan's now."),
        events=(event_on(CALENDAR.gym, passed.happens_at(at("11-19 16:00"))),) if extended else (),
        mistakes={"lowers it": on_gym(ITSM.gym, update_incident(incident, urgency="low", priority="low"))},
        negative_trajectories={
            "decides from memory": NegativeTrajectory(returned if extended else before, f"{other} has it."),
            "forgets the note": NegativeTrajectory(
                (*on_day(1, *read), *on_day(2, *two), *on_day(3, *again)), "Ruben has it, Piotr not."
            ) if not extended else NegativeTrajectory(on_day(1, *read, *one), "Piotr has it."),
        },
    )  # fmt: skip
    days = span(on_date(at("11-18 00:00")), on_date(at("11-19 00:00")))
    last = [*days, "Ruben stands in", *([] if extended else ["Back with Piotr"])]
    events: Mapping[str, ScenarioEvent[Any]] = {CALENDAR.gym: passed} if extended else {}
    return VERIFIERS.with_verifiers(
        systems.worlds,
        draft,
        events,
        advance=friday - NOW,
        rules={ITSM.gym: {"update_incident": "PRC-2"}},
        expect={ITSM.gym: {"update_incident": {"worknotes": Matches(all_of(last))}}},
    )
