"""Tasks of office managers: rooms for meetings, and days on which a house is closed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from zoneinfo import ZoneInfo

from opsgym_api.tasks.answer_patterns import term
from opsgym_domains.calendar.tables import Event
from opsgym_suites.calendar.calls import (
    LIST,
    begins,
    blocks,
    cancel,
    create,
    delete,
    events_of,
    find_person,
    guest,
    is_free,
    on,
    on_day,
)
from opsgym_suites.calendar.seeds.company import MANAGERS, ROOMS, ZONES
from opsgym_suites.calendar.seeds.description import Room
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.verifiers import answer_says

# --- a room for a meeting --------------------------------------------------------------------------------------------


def rooms_for_meetings(world: World) -> Iterator[Draft]:
    """The smallest room that fits and is free is invited."""
    yield _room_for(
        world,
        slug="whiteboard-for-the-map-class",
        site="Lisbon",
        start="10-28 10:00",
        title="Map class for newcomers",
        people=("rui.tavares", "tiago.lopes"),
        seats=6,
        equipment="whiteboard",
        prompt=(
            "Rui holds his map class on Wednesday the 28th, ten to eleven, six people round a whiteboard. Could you "
            'put it into the Lisbon office calendar as "Map class for newcomers", with Rui Tavares, Tiago Lopes and a '
            "room? The smallest one that does the job, please, the big one is wanted by the whole house."
        ),
    )
    yield _room_for(
        world,
        slug="room-after-the-battery-supplier",
        site="Lisbon",
        start="10-29 15:00",
        title="Field kit handover",
        people=("joao.costa", "beatriz.nunes"),
        seats=4,
        equipment="screen",
        prompt=(
            "need a room thu 29 oct 15:00-16:00, four of us + a screen, smallest that is free. title: Field kit "
            "handover. invite beatriz nunes and joão costa - the surveyor, joao.costa@kestrelsurvey.example, not the "
            "one from finance! goes into the lisbon office calendar"
        ),
        namesake="joao.m.costa",
    )
    yield _room_for(
        world,
        slug="video-room-for-the-partner-call",
        site="Toronto",
        start="11-03 10:00",
        title="Partner call Harborgrid",
        people=("hannah.weiss", "yuna.park@harborgrid.example"),
        seats=5,
        equipment="video conference",
        prompt=(
            "Hannah Weiss needs somewhere to dial into Harborgrid with four colleagues next Tuesday week, 3 November, "
            "10 till 11 our time; it has to have video, and no bigger than necessary. Please book it through the "
            'Toronto office calendar as "Partner call Harborgrid" and have Hannah and yuna.park@harborgrid.example on '
            "the invitation."
        ),
    )
    yield _room_for(
        world,
        slug="room-right-after-the-demo",
        site="Sydney",
        start="10-28 14:00",
        title="Beach survey rehearsal",
        people=("chloe.a.martin", "liam.walsh"),
        seats=9,
        equipment="screen",
        prompt=(
            "Wednesday 28th at two, one hour: the surveyors rehearse their talk in front of nine people, screen "
            "needed. Liam Walsh and Chloe Martin (the surveyor, chloe.a.martin@kestrelsurvey.example) get the "
            "invitation. Call it Beach survey rehearsal, in the Sydney office calendar, in the smallest of our rooms "
            "that can take it. If Ben's demo is still running in there then, tell me instead of squeezing them in."
        ),
        namesake="chloe.martin",
    )
    yield _room_for(
        world,
        slug="room-at-a-time-of-lisbon",
        site="Toronto",
        start="11-05 14:00",
        zone="Lisbon",
        title="Budget with Lisbon",
        people=("joao.m.costa", "vera.novak"),
        seats=5,
        equipment="video conference",
        prompt=(
            "João Costa in finance (joao.m.costa@kestrelsurvey.example) wants Vera and three more of us on video on "
            "Thursday 5 November at 14:00 Lisbon time, for an hour. Enter it with the time as João gave it, as Budget "
            "with Lisbon, in the Toronto office calendar, invite João and Vera Novak, and give them the smallest room "
            "with video that is free then."
        ),
        namesake="joao.costa",
    )


def _room_for(
    world: World,
    *,
    slug: str,
    site: str,
    start: str,
    title: str,
    people: Sequence[str],
    seats: int,
    equipment: str,
    prompt: str,
    zone: str | None = None,
    namesake: str | None = None,
) -> Draft:
    """A room by seats, equipment and bookings, of which some are cancelled or do not block."""
    acting, office = world.colleague(MANAGERS[site]), world.calendar(f"{site} office")
    begin, zone_name = on(start), ZONES[zone or site]
    local = begin.replace(tzinfo=ZoneInfo(zone_name)).astimezone(ZoneInfo(ZONES[site])).replace(tzinfo=None)
    fitting = [room for room in ROOMS if room.site == site and room.seats >= seats and equipment in room.equipment]
    fitting.sort(key=lambda room: room.seats)
    rooms = {room.name: world.calendar(room.calendar) for room in fitting}
    free = [room for room in fitting if is_free(on_day(world, rooms[room.name], local.date()), local, 60)]
    chosen, invited = free[0], [world.person(person) for person in people]

    def booked(room: Room, *, wrong: bool = False) -> object:
        guests = [*invited, world.person(room.address)]
        if wrong and namesake:
            guests[[world.person(one).name for one in people].index(world.person(namesake).name)] = world.person(
                namesake
            )
        return create(office, title, begin, 60, zone_name, attendees=[guest(one) for one in guests])

    looked = (LIST, *(events_of(rooms[room.name], local.date()) for room in fitting), *map(find_person, invited))
    made = booked(chosen)
    another = next((room for room in ROOMS if room.site == site and room is not chosen), chosen)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"List the calendars: {', '.join(rooms)} have the seats and the equipment.",
            f"Read what is booked there on {local:%d %B}; cancelled bookings and notes do not block (EVT-3).",
            f"Look up the guests by address (LKP-1), and create the event with {chosen.name} as a guest.",
        ),
        gold=(*looked, made),  # type: ignore[arg-type]
        answer=f'"{title}" is in the calendar {office.summary}, in {chosen.name}; the guests are invited.',
        verifiers=(answer_says("names_the_room", "The answer names the room [REF-3]", term(chosen.name)),),
        tools=("query_freebusy", "get_calendar", "patch_event", "delete_event"),
        mistakes={
            "books a second room as well": (booked(another),),  # type: ignore[dict-item]
            **({"invites the namesake too": (booked(chosen, wrong=True),)} if namesake else {}),  # type: ignore[dict-item]
        },
        also={
            "asks for busy times": Solution(
                (
                    LIST,
                    call(
                        "query_freebusy",
                        timeMin=f"{local:%Y-%m-%dT%H:%M:%S}",
                        timeMax=f"{local + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}",
                        items=[{"id": calendar.calendar_id} for calendar in rooms.values()],
                    ),
                    *map(find_person, invited),
                    made,  # type: ignore[arg-type]
                )
            )
        },
    )
    return with_verifiers(world, draft)


# --- a house is closed -----------------------------------------------------------------------------------------------


def closed_days(world: World) -> Iterator[Draft]:
    """All that a house has on a day is called off, and the closure is entered and announced."""
    yield _closed(
        world,
        slug="power-cut-in-lisbon",
        site="Lisbon",
        day="10-30",
        title="House closed: power cut",
        notice="Closed on 30 October 2026.",
        prompt=(
            "The utility cuts our power on Friday 30 October, so no one gets into the house. Please call off whatever "
            "the Lisbon office calendar and our three rooms have on that day, by the book. Then put an event for the "
            'whole day there, "House closed: power cut", and let the description of the Lisbon office calendar read '
            '"Closed on 30 October 2026."'
        ),
    )
    yield _closed(
        world,
        slug="water-damage-in-lisbon",
        site="Lisbon",
        day="11-04",
        title="House closed: repairs",
        notice="Closed for repairs on 4 November 2026.",
        prompt=(
            "Bad news: plumbers all day on Wednesday 4 November, house shut. Off with everything in the Lisbon office "
            "calendar and in Sado, Tejo and Mondego that day (guests must see it as cancelled, you know the rule). "
            'Add "House closed: repairs" as an all-day entry to the office calendar and change its description to '
            '"Closed for repairs on 4 November 2026."'
        ),
    )
    yield _closed(
        world,
        slug="boiler-in-toronto",
        site="Toronto",
        day="11-04",
        title="Office closed: boiler",
        notice="Closed on 4 November 2026, boiler out.",
        prompt=(
            "The boiler is gone and we close Toronto on Wednesday, November 4th. Clear the day in the Toronto office "
            "calendar and in our room calendars. Afterwards the office calendar needs one all-day event "
            '"Office closed: boiler", and as description "Closed on 4 November 2026, boiler out."'
        ),
    )
    yield _closed(
        world,
        slug="election-day-in-toronto",
        site="Toronto",
        day="10-30",
        title="Closed: street festival",
        notice="Closed on 30 October 2026 for the street festival.",
        prompt=(
            "city just confirmed: street festival in front of our door on fri oct 30, toronto stays closed. what is "
            "in the office calendar and the rooms that day has to go, the way the policy says. all-day entry: Closed: "
            "street festival. description of the office calendar from now on: Closed on 30 October 2026 for the "
            "street festival."
        ),
    )
    yield _closed(
        world,
        slug="storm-in-sydney",
        site="Sydney",
        day="10-30",
        title="House closed: storm",
        notice="Closed on 30 October 2026 (storm).",
        prompt=(
            "They expect a storm on Friday the 30th and the landlord locks the building. Please see to it that "
            "nothing is left in Sydney office and in the calendars of Coogee, Bondi and Manly for that day, with the "
            'difference between meetings and mere entries that our rules make; then "House closed: storm" as an event '
            'of the whole day, and the description of Sydney office set to "Closed on 30 October 2026 (storm)."'
        ),
    )


def _closed(world: World, *, slug: str, site: str, day: str, title: str, notice: str, prompt: str) -> Draft:
    """Meetings with guests are cancelled, entries without are deleted, and what was cancelled before stays."""
    acting, office, date = world.colleague(MANAGERS[site]), world.calendar(f"{site} office"), on(day).date()
    calendars = [office, *(world.calendar(room.calendar) for room in ROOMS if room.site == site)]
    events = [event for calendar in calendars for event in on_day(world, calendar, date) if blocks(event)]
    meetings = [event for event in events if world.guests(event)]
    entries = [event for event in events if event not in meetings]
    span = {"start": {"date": str(date)}, "end": {"date": str(date + timedelta(days=1))}}
    zone = {"timeZone": ZONES[site]}
    entered = call(
        "create_event",
        calendarId=office.calendar_id,
        summary=title,
        start={**span["start"], **zone},
        end={**span["end"], **zone},
    )
    later = world.all(Event, calendar_id=calendars[-1].calendar_id, status="confirmed")
    nearby = next(event for event in later if begins(event).date() > date)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"List the calendars and read the events of {site}'s office and rooms on that day.",
            "Cancel the meetings that have guests and delete entries without (EVT-5); leave what is cancelled already.",
            "Enter the closure as an event of the whole day, and change the description of the office's calendar.",
        ),
        gold=(
            LIST,
            *(events_of(calendar, date) for calendar in calendars),
            *map(cancel, meetings),
            *map(delete, entries),
            entered,
            call("patch_calendar", calendarId=office.calendar_id, description=notice),
        ),
        answer=(
            f"{len(meetings)} meetings are cancelled and {len(entries)} entries deleted; {title!r} is entered and "
            "announced in the description."
        ),
        verifiers=(
            answer_says(
                "says_it_is_done", "The answer says what was called off [REF-3]", r"\bcancel\w*|\bcalled off\b"
            ),
        ),
        tools=("query_freebusy", "get_event", "update_calendar", "move_event"),
        mistakes={
            "cancels a booking of another day": (cancel(nearby),),
            "deletes a meeting that has guests": (delete(meetings[0]),),
        },
    )
    return with_verifiers(world, draft, rules={"create_event": "EVT-1"}, expect={})


FAMILIES = (rooms_for_meetings, closed_days)
