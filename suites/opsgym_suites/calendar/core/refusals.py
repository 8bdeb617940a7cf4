"""Tasks that cannot be done: what stands in the way is in the records, and the answer names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar
from opsgym_suites.calendar.calls import (
    LIST,
    begins,
    cancel,
    create,
    delete,
    events_of,
    find_person,
    guest,
    on,
    on_day,
    read_event,
    rules_of,
    set_role,
    unshare,
)
from opsgym_suites.calendar.seeds.company import MANAGERS, ROOMS, ZONES
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_refuses

BOOKED = r"\b(?:book\w*|tak\w*|busy|occup\w*|not free|in use|reserved)\b"


def rooms_are_taken(world: World) -> Iterator[Draft]:
    """The only room that would do is booked at that time."""
    for slug, site, start, seats, equipment, prompt in (
        (
            "no-room-for-the-town-hall",
            "Lisbon",
            "10-29 15:00",
            12,
            "video",
            (
                "Twelve of us need a room with video on Thursday 29 October from 15:00 to 16:00, title Town hall, "
                "in the Lisbon office calendar. It has to be that hour. If there is no such room, don't put "
                "anything in, tell me which one would have done and what is in it."
            ),
        ),
        (
            "no-room-for-the-sales-school",
            "Toronto",
            "11-03 13:00",
            8,
            "whiteboard",
            (
                "sales school, nov 3, 1-2 pm, eight people, whiteboard, toronto office calendar, title Sales "
                "school. only that slot works. nothing free that fits -> no entry, and tell me the room and who "
                "has it"
            ),
        ),
        (
            "no-room-for-the-film-talk",
            "Sydney",
            "10-28 16:00",
            10,
            "video",
            (
                "I'd like to have Film talk in the Sydney office calendar, Wednesday 28 October, four to five, for "
                "ten people and with video. Should every room that is fit for it be gone, just let me know which "
                "and because of what; I'd then drop the idea rather than move it."
            ),
        ),
    ):
        acting, begin = world.colleague(MANAGERS[site]), on(start)
        (room,) = [one for one in ROOMS if one.site == site and one.seats >= seats and equipment in one.equipment]
        calendar, office = world.calendar(room.calendar), world.calendar(f"{site} office")
        booking = next(row for row in on_day(world, calendar, begin.date()) if row.status == "confirmed")
        for row in on_day(world, calendar, begin.date()):
            if row.start_datetime <= f"{begin}" <= row.end_datetime and row.status == "confirmed":
                booking = row
        title = {"Lisbon": "Town hall", "Toronto": "Sales school", "Sydney": "Film talk"}[site]
        yield _refused(
            world,
            slug=slug,
            actor=acting,
            prompt=prompt,
            gold=(LIST, events_of(calendar, begin.date())),
            evidence=(booking,),
            answer=(
                f"I did not enter {title}: {room.name} is the only room that fits, and it is booked for "
                f"{booking.summary}."
            ),
            why=[term(room.name), term(str(booking.summary)), BOOKED],
            mistakes={
                "books it all the same": (
                    create(office, title, begin, 60, ZONES[site], attendees=[guest(world.person(room.address))]),
                )
            },
        )


def events_cannot_move(world: World) -> Iterator[Draft]:
    """Events of special types belong to the calendar of their owner."""
    for slug, actor, target, prompt in (
        (
            "deep-work-to-product",
            "sofia.almeida",
            "Product",
            (
                "Can my Deep work block of 29 October be moved over to the Product calendar, the very event? No "
                "copy, please; if that sort of event can't move, leave it where it is and explain."
            ),
        ),
        (
            "deep-work-to-platform",
            "nathan.brooks",
            "Platform team",
            (
                "Move Deep work (Oct 29) from my calendar into Platform team so folks see it. Move, don't "
                "recreate. If it's the kind of event that stays put, leave it alone and tell me what kind it is."
            ),
        ),
    ):
        acting = world.colleague(actor)
        event, home = world.event(acting.name, "Deep work"), world.calendar(target)
        yield _refused(
            world,
            slug=slug,
            actor=acting,
            prompt=prompt,
            gold=(LIST, events_of(world.primary(acting.user), begins(event).date()), read_event(event)),
            evidence=(event,),
            answer="Deep work was not moved: it is focus time, and only ordinary events can go to another calendar.",
            why=[term("Deep work"), r"\bfocus[\s-]?time\b"],
            mistakes={
                "creates a copy": (create(home, "Deep work", begins(event), 120, str(event.start_timezone)),),
                "deletes it": (delete(event),),
            },
            tools=("move_event",),
        )


def titles_are_not_unique(world: World) -> Iterator[Draft]:
    """Several events fit the request, and it does not say which one is meant."""
    for slug, actor, calendar, first, second, prompt in (
        (
            "which-fire-drill",
            "ines.carvalho",
            "Lisbon office",
            ("Fire drill", "2026-10-30"),
            ("Fire drill", "2026-11-06"),
            (
                "The Fire drill in the Lisbon office calendar is off, the brigade has no time. Please cancel it. I "
                "am in meetings all day, so if anything about it is unclear, rather leave it and write to me what "
                "you have found."
            ),
        ),
        (
            "which-cutover-check",
            "nathan.brooks",
            "Project Meridian",
            ("Meridian cutover check", "2026-10-27"),
            ("Meridian cutover check", "2026-10-30"),
            (
                "Cancel the Meridian cutover check next week, would you. If you can't tell for sure which one, do "
                "nothing and give me the dates."
            ),
        ),
        (
            "which-stand-up",
            "rui.tavares",
            "Field operations",
            ("Field stand-up", "2026-10-26"),
            ("Field stand-up", "2026-10-30"),
            (
                "pls cancel the field stand-up next week, the one with the visitors. not sure it says so "
                "anywhere... if it's not clear which, cancel none and list the dates"
            ),
        ),
    ):
        acting, home = world.colleague(actor), world.calendar(calendar)
        events = [world.event(calendar, *first), world.event(calendar, *second)]
        days = [begins(event) for event in events]
        listed = events_of(home, on("10-26").date(), on("11-06").date())
        yield _refused(
            world,
            slug=slug,
            actor=acting,
            prompt=prompt,
            gold=(LIST, listed),
            evidence=events,
            answer=(
                f"I did not cancel anything: {first[0]} is there more than once, for instance on "
                f"{days[0].day} {days[0]:%B} and on "
                f"{days[1].day} {days[1]:%B}. Which one do you mean?"
            ),
            why=[*map(on_date, days), r"\b(?:which|more than (?:one|once)|several|two|three|both|ambiguous|unclear)\b"],
            mistakes={"cancels the first": (cancel(events[0]),), "cancels both": tuple(map(cancel, events))},
            in_any_order=[str(day.day) for day in days],
        )


def primaries_stay(world: World) -> Iterator[Draft]:
    """A primary calendar is neither deleted nor taken off the list."""
    for slug, actor, tool, prompt in (
        (
            "own-calendar-off-the-list",
            "hannah.weiss",
            "remove_calendar_from_list",
            (
                "I keep everything in Sales nowadays. Please take the calendar that bears my own name off my list, "
                "or tell me why it has to stay there."
            ),
        ),
        (
            "own-calendar-deleted",
            "marta.pinto",
            "delete_calendar",
            (
                "My personal calendar, the one called Marta Pinto, is full of old things. Delete the calendar, "
                "events and all. If the system does not allow that for this calendar, say what is special about it "
                "and leave its events in peace."
            ),
        ),
    ):
        acting = world.colleague(actor)
        own = world.primary(acting.user)
        day = next(row for row in on_day_any(world, own))
        yield _refused(
            world,
            slug=slug,
            actor=acting,
            prompt=prompt,
            gold=(LIST, call("get_calendar", calendarId=own.calendar_id)),
            evidence=(own,),
            answer=f"Nothing was changed: {own.summary} is your primary calendar, which cannot be removed.",
            why=[term(own.summary), r"\bprimary\b"],
            mistakes={
                "clears it instead": (call("clear_calendar", calendarId=own.calendar_id),),
                "deletes an event": (delete(day),),
                "hides it": (call("update_calendar_in_list", calendarId=own.calendar_id, hidden=True),),
            },
            tools=(tool,),
        )


def on_day_any(world: World, calendar: Calendar) -> Sequence[Any]:
    """Events of a calendar after the world's now."""
    rows = (row for day in range(26, 31) for row in on_day(world, calendar, on(f"10-{day}").date()))
    return list(rows)


def offers_out_of_hours(world: World) -> Iterator[Draft]:
    """None of the offered times lies within the working hours of all."""
    for slug, actor, calendar, title, options, people, invited, prompt in (
        (
            "no-hour-for-sydney-and-lisbon",
            "liam.walsh",
            "Delivery",
            "Base map talk",
            ("10-28 09:00", "10-28 12:00", "10-29 15:00"),
            {"sofia.almeida": (9, 17)},
            "sofia.almeida",
            (
                "I need an hour with Sofia Almeida in Lisbon, Base map talk, in Delivery. I offer, Sydney time: 28 "
                "October 9:00, 28 October 12:00, 29 October 15:00. She is in from nine to five. If all of them are "
                "outside her hours, enter nothing and say what her clock shows then."
            ),
        ),
        (
            "no-hour-for-sydney",
            "nathan.brooks",
            "Platform team",
            "Tile storage",
            ("10-27 14:00", "10-28 13:00", "10-29 16:00"),
            {"ben.fraser": (9, 17)},
            "ben.fraser",
            (
                "Tile storage, an hour with Ben Fraser in Sydney, into Platform team. My slots (Toronto): Oct 27 2 "
                "pm, Oct 28 1 pm, Oct 29 4 pm. Ben works 9 to 5. No match means no event; then I want to see the "
                "Sydney times."
            ),
        ),
    ):
        acting, home, person = world.colleague(actor), world.calendar(calendar), world.person(invited)
        zone = acting.user.timezone
        local_times = [
            on(text).replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo(person.timezone)) for text in options
        ]
        low, high = people[invited]
        assert not any(low <= time.hour and time.hour < high for time in local_times)
        yield _refused(
            world,
            slug=slug,
            actor=acting,
            prompt=prompt,
            gold=(LIST, find_person(person), events_of(home, on(options[0]).date())),
            evidence=(person,),
            answer=(
                f"I did not enter {title}. For {person.name} these times are "
                f"{', '.join(f'{time:%H:%M}' for time in local_times)}, all "
                "outside the working hours."
            ),
            why=[term(str(person.given_name)), *map(_time, local_times)],
            in_any_order=[f"{time:%H:%M}" for time in local_times],
            mistakes={
                "enters the first": (create(home, title, on(options[0]), 60, zone, attendees=[guest(person)]),),
            },
        )


def _time(time: datetime) -> str:
    """Pattern for a time of day, of 24 or of 12 hours, with or without minutes."""
    return rf"(?<!\d)0?(?:{time.hour}|{time.hour % 12 or 12})(?:[:.]{time:%M})?(?!\d)"


def roles_are_enforced(world: World) -> Iterator[Draft]:
    """Access `strict` refuses a role for a person outside, and a calendar without an owner."""
    for slug, actor, calendar, person, prompt in (
        (
            "yuna-may-not-edit",
            "chloe.martin",
            "Project Contour",
            "yuna.park@harborgrid.example",
            (
                "yuna.park@harborgrid.example reads Project Contour today. I would like Yuna to edit it. Is "
                "that in line with our rules? If it is, change the role, and if not, leave it as it is and tell me "
                "what is in the way."
            ),
        ),
        (
            "kofi-may-not-edit",
            "liam.walsh",
            "Terralens rollout",
            "kofi.mensah@terralens.example",
            (
                "Kofi Mensah (kofi.mensah@terralens.example) asks for writing rights on Terralens rollout. Raise "
                "the role if the policy lets you; otherwise keep the reader role and give me the reason for Kofi."
            ),
        ),
    ):
        acting, home, user = world.colleague(actor), world.calendar(calendar), world.person(person)
        rule = world.rule(calendar, user)
        looked = (LIST, find_person(user), rules_of(home))
        yield _refused(
            world,
            slug=slug,
            actor=acting,
            prompt=prompt,
            gold=looked,
            evidence=(rule,),
            answer=(
                f"{user.name} still has the role reader on {calendar}, nothing was changed: people outside our "
                "mail domain get "
                "at most reader (PRC-1)."
            ),
            why=[
                term(str(user.given_name)),
                r"PRC-1|\b(?:outside|external|other (?:company|domain)|mail domain|same domain)\b",
            ],
            mistakes={"takes the rule away": (unshare(rule),)},
            access=Access.STRICT,
            negative_trajectories={
                "tries it and says it is done": NegativeTrajectory(
                    (*looked, set_role(rule, "writer")), "It is done.", "PRC-1"
                )
            },
        )


def _refused(
    world: World,
    *,
    slug: str,
    actor: Any,
    prompt: str,
    gold: tuple[ToolCall, ...],
    evidence: Sequence[Any],
    answer: str,
    why: Sequence[str],
    mistakes: Mapping[str, tuple[ToolCall, ...]],
    tools: tuple[str, ...] = (),
    access: Access = Access.PUBLISHED,
    negative_trajectories: Mapping[str, NegativeTrajectory] | None = None,
    in_any_order: Sequence[str] = (),
) -> Draft:
    draft = Draft(
        in_any_order=(*in_any_order,),
        slug=slug,
        actor=actor,
        prompt=prompt,
        plan=(
            "Look up what the request is about (LKP-1).",
            "See from the records that it cannot be done, change nothing and name the reason (REF-1).",
        ),
        gold=gold,
        answer=answer,
        verifiers=answer_refuses(all_of(why)),
        tools=tuple(
            dict.fromkeys([*tools, *(one.name for calls in mistakes.values() for one in calls), "patch_event"])
        ),
        feasible=False,
        access=access,
        mistakes=mistakes,
        negative_trajectories=negative_trajectories or {},
        evidence=tuple(evidence),
    )
    return with_verifiers(world, draft)


FAMILIES = (
    rooms_are_taken,
    events_cannot_move,
    titles_are_not_unique,
    primaries_stay,
    offers_out_of_hours,
    roles_are_enforced,
)
