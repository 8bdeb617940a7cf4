"""A meeting with a room falls through, and its time is over when the new one is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar, Event
from opsgym_suites.calendar.calls import (
    LIST,
    around,
    begins,
    cancel,
    create,
    find_person,
    guest,
    is_free,
    length,
    on_day,
    patch,
    reschedule,
    rules_of,
    share,
    unshare,
)
from opsgym_suites.calendar.core.clinics.days import on, second_day, two_days
from opsgym_suites.calendar.seeds.description import Room
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_says

THE_DAY_AFTER = "2027-03-26T12:00:00"


def drills_fall_through(world: ClinicsWorld) -> Iterator[Draft]:
    """A guest is replaced and a colleague may edit; on the later day the meeting is over without having been held."""
    yield _fallen_through(
        world,
        slug="device-check-falls-through",
        actor="ruth.calder",
        calendar="Adelaide clinic",
        site="Adelaide",
        title="Device check",
        out="noah.j.finch",
        goes_in="noah.finch",
        helper="dario.conti",
        again="03-30 10:00",
        seats=6,
        prompt=(
            "For the Device check on 25 March in the Adelaide clinic calendar: the wrong Noah Finch is invited. The "
            "trial nurse goes, not the technician; Tess and the room stay as they are. And Dario Conti enters "
            "deliveries in that calendar for a while, give him what he needs to do so. Hugo Marsh, who has left, still "
            "has a rule there, please see to that as our policy says."
        ),
        message=(
            "Not one of us turned up for yesterday's Device check. We hold it on Tuesday 30 March at 10:00 for an "
            "hour, with the same people as of Tuesday and a room with a screen for six at least, the smallest that is "
            "free; it stays in the Adelaide clinic calendar under its title. The old date must not look as if it had "
            "been held: cancel it. Which room is it?"
        ),
    )
    yield _fallen_through(
        world,
        slug="emergency-drill-falls-through",
        actor="camila.rojas",
        calendar="Santiago clinic",
        site="Santiago",
        title="Emergency drill",
        out="matias.vidal",
        goes_in="tomas.araya",
        helper="valentina.diaz",
        again="03-30 11:00",
        seats=5,
        prompt=(
            "santiago clinic calendar: Emergency drill, 25 march. matías vidal cannot come, tomás araya instead, the "
            "other guests as before. valentina díaz shall put in and change dates in this calendar from today. hugo "
            "marsh is a leaver, do with his rule what the rules say"
        ),
        message=(
            "the drill yesterday didn't happen, alarm was broken. new date tue 30 march 11:00, 1h, title and calendar "
            "as before, the same guests we agreed on, smallest free room with a screen for 5 or more. and mark the old "
            "one as cancelled pls. which room did you get?"
        ),
    )
    yield _fallen_through(
        world,
        slug="water-test-falls-through",
        actor="meera.kulkarni",
        calendar="Pune clinic",
        site="Pune",
        title="Water test",
        out="kiran.joshi",
        goes_in="kiran.s.joshi",
        helper="vikram.sathe",
        again="03-30 10:00",
        seats=3,
        prompt=(
            "Kindly correct the Water test of 25 March in our Pune clinic calendar. It was to be Kiran Joshi the "
            "trainer, and the engineer of the same name was invited; everyone else and the room remain. Vikram Sathe "
            "will keep this calendar with me and has to be able to change events. Since Hugo Marsh has left us, apply "
            "what our policy says about leavers to this calendar."
        ),
        message=(
            "Yesterday's Water test could not take place. Kindly arrange it anew for Tuesday, 30 March, 10:00 to "
            "11:00, same title, same calendar, the guests as corrected, and the smallest free room that has a screen "
            "and three seats or more. Yesterday's date is to be shown as cancelled. Please name the room."
        ),
    )
    yield _fallen_through(
        world,
        slug="handover-drill-falls-through",
        actor="tess.lindqvist",
        calendar="Nursing",
        site="Adelaide",
        title="Handover drill",
        out="owen.pryce",
        goes_in="gwen.abbott",
        helper="ruth.calder",
        again="03-31 13:00",
        seats=4,
        prompt=(
            "Three things in Nursing, please. Owen Pryce is on call on 25 March, so Gwen Abbott takes his place at the "
            "Handover drill (nothing else about it changes). Ruth Calder covers for me next week and needs to edit "
            "events there. And take out the rule of Hugo Marsh, he doesn't work here any more."
        ),
        message=(
            "We never got round to the Handover drill yesterday. Try again: 31 March, 13:00, an hour, same people as "
            "we agreed on, in Nursing, and in the smallest room with a screen that has at least four seats and is free "
            "then. Cancel the one of yesterday so that no one gets credit for it. Where do we meet?"
        ),
    )


def _fallen_through(
    world: ClinicsWorld,
    *,
    slug: str,
    actor: str,
    calendar: str,
    site: str,
    title: str,
    out: str,
    goes_in: str,
    helper: str,
    again: str,
    seats: int,
    prompt: str,
    message: str,
) -> Draft:
    acting, home, event = world.colleague(actor), world.calendar(calendar), world.event(calendar, title)
    leaving, coming, helping = map(world.person, (out, goes_in, helper))
    start, minutes = on(again), int(length(event).total_seconds() // 60)
    fitting = sorted(
        (room for room in world.company.rooms if room.site == site and room.seats >= seats), key=lambda room: room.seats
    )
    free = [
        room for room in fitting if is_free(on_day(world, world.calendar(room.calendar), start.date()), start, minutes)
    ]
    people = [(row, user) for row, user in world.guests(event) if user is not leaving and not row.resource]
    (old_room,) = (user for row, user in world.guests(event) if row.resource)
    gone = world.rule(calendar, world.person("hugo.marsh"))
    replaced = patch(
        event,
        attendees=[
            *(guest(user, responseStatus=row.responseStatus) for row, user in people),
            guest(coming),
            guest(old_room, responseStatus="accepted"),
        ],
    )

    def held(room: Room) -> ToolCall:
        guests = [*(user for _row, user in people), coming, world.person(room.address)]
        return create(home, title, start, minutes, home.time_zone, attendees=[guest(user) for user in guests])

    looked = (LIST, around(home, begins(event).date()), *map(find_person, (coming, helping)), rules_of(home))
    first = (*looked, replaced, share(home, helping, "writer"), unshare(gone))
    rooms = [world.calendar(room.calendar) for room in fitting]
    owns_rooms = rooms[0].user_id == acting.user_id
    occupied = tuple(around(room, start.date()) for room in rooms) if owns_rooms else (_busy(rooms, start, minutes),)
    read = (around(home, begins(event).date()), *occupied)
    chosen, taken = held(free[0]), held(fitting[0])
    name = free[0].name
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Look up who comes by address (LKP-1), and replace the guest; the others keep their answers.",
            "Share the calendar with the lowest role that lets a colleague change events (SHR-1).",
            "Delete the leaver's rule (SHR-2).",
            "On the later day the meeting is over, so its times cannot change (PRC-3): create a new one.",
            "Book the smallest room that is free (PRC-4, EVT-3), and cancel the old meeting (EVT-5).",
        ),
        gold=two_days(first, (*read, chosen, cancel(event))),
        answer=f"{title} is on {start.day} {start:%B} at {start:%H:%M} in {name}; the old one is cancelled.",
        day_answers=(f"{coming.name} is invited, {helping.name} may edit, and the rule of Hugo Marsh is gone.",),
        days=second_day(message, THE_DAY_AFTER),
        access=Access.STRICT,
        verifiers=(answer_says("names_the_room", "The answer names the room [REF-3]", all_of([term(name)])),),
        tools=("query_freebusy", "update_event", "patch_acl_rule", "delete_event", "get_event"),
        mistakes={"cancels another meeting too": (cancel(_next_meeting(world, home)),)},
        negative_trajectories={
            "moves the meeting that is over": NegativeTrajectory(
                two_days(first, (*read, reschedule(event, start))), f"It is in {name}.", "PRC-3"
            ),
            "takes the room that is booked": NegativeTrajectory(
                two_days(first, (*read, taken, cancel(event))),
                f"It is in {fitting[0].name}, not in {name}.",
                "PRC-4",
            ),
            "stops after the first day": NegativeTrajectory(two_days(first, ()), f"It is in {name}."),
        },
    )
    return with_verifiers(
        world, draft, rules={"create_event": "EVT-1, EVT-3, PRC-4", "patch_event": "EVT-5", "insert_acl_rule": "SHR-1"}
    )


def _busy(rooms: Sequence[Calendar], start: datetime, minutes: int) -> ToolCall:
    """Asks for the busy times of rooms; others than their manager see no more."""
    zone = ZoneInfo(rooms[0].time_zone)
    first = start.replace(tzinfo=zone)
    return call(
        "query_freebusy",
        timeMin=first.isoformat(),
        timeMax=(first + timedelta(minutes=minutes)).isoformat(),
        items=[{"id": room.calendar_id} for room in rooms],
    )


def _next_meeting(world: ClinicsWorld, home: Calendar) -> Event:
    """An event of the calendar after all that the task is about."""
    return next(row for row in world.all(Event, calendar_id=home.calendar_id) if begins(row) > on("04-05"))
