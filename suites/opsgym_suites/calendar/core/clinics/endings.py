"""Calendars that are given up: every event of a fortnight goes another way, by its guests and their answers."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_domains.calendar.tables import Event
from opsgym_suites.calendar.calls import (
    LIST,
    begins,
    cancel,
    delete,
    describe,
    events_of,
    move,
    read_event,
)
from opsgym_suites.calendar.core.clinics.days import on
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, Solution, call
from opsgym_suites.kit.verifiers import answer_says


def calendars_end(world: ClinicsWorld) -> Iterator[Draft]:
    """What all required guests accepted moves, what one of them declined is called off, notes go, the rest waits."""
    yield _ended(
        world,
        slug="basalt-comes-to-its-end",
        actor="gwen.abbott",
        calendar="Study Basalt",
        heir="Trial Amber",
        notice="Closed. What is left of it is in Trial Amber.",
        prompt=(
            "Study Basalt is over and its calendar has to be wound up. Look at what it holds from 5 to 9 April: a "
            "meeting that every required guest has accepted moves to Trial Amber as it is; one that a required guest "
            "declined is off; mere notes without guests can go. Whatever still waits for a required answer stays where "
            "it is, tell me what that is. Earlier weeks are history, leave them. Then the description becomes "
            '"Closed. What is left of it is in Trial Amber." and my list hides the calendar.'
        ),
    )
    yield _ended(
        world,
        slug="fern-comes-to-its-end",
        actor="paula.soto",
        calendar="Study Fern",
        heir="Quality",
        notice="Closed, see Quality.",
        prompt=(
            "study fern ends. events 5-9 april in its calendar: all required accepted -> over to Quality. a required "
            "one declined -> cancel the usual way. no guests -> remove. answer of a required guest still missing -> "
            "don't touch, tell me the title. what was before april stays too. new description: Closed, see Quality. "
            "finally hide Study Fern in my calendar list. (optional people never matter)"
        ),
    )
    yield _ended(
        world,
        slug="old-course-comes-to-its-end",
        actor="sneha.gokhale",
        calendar="Course of 2026",
        heir="Training",
        notice="Finished; dates are in Training.",
        prompt=(
            "The Course of 2026 is finished, so kindly clear its calendar for the days from 5 to 9 April. Meetings "
            "that all whose presence is required have accepted go on in Training, the event itself and no copy. If "
            "someone required has declined, the meeting is cancelled. An entry without guests is deleted. If "
            "someone required has yet to answer, do nothing and give me its name. March stays untouched. Set the "
            'description to "Finished; dates are in Training." and hide the calendar in my list.'
        ),
    )
    yield _ended(
        world,
        slug="migration-comes-to-its-end",
        actor="rohan.patil",
        calendar="Migration",
        heir="Software",
        notice="Done. Follow-ups are in Software.",
        prompt=(
            "Migration's done, time to fold the calendar. For April 5 through 9: accepted by everybody required = move "
            "it to Software. Declined by anyone required = call it off. Entry with no guests = delete. Still open "
            'with someone required = leave it and list it for me. Nothing from March. Description: "Done. Follow-ups '
            "are in Software.\" Last thing, hide Migration in my list, but don't delete or unshare it."
        ),
    )


def _ended(world: ClinicsWorld, *, slug: str, actor: str, calendar: str, heir: str, notice: str, prompt: str) -> Draft:
    acting, home, target = world.colleague(actor), world.calendar(calendar), world.calendar(heir)
    first, last = on("04-05").date(), on("04-09").date()
    rows = world.all(Event, calendar_id=home.calendar_id, status="confirmed")
    events = sorted((row for row in rows if first <= begins(row).date() <= last), key=lambda row: row.start_datetime)
    answers = {
        row.event_id: {guest.responseStatus for guest, _user in world.guests(row) if not guest.optional}
        for row in events
    }
    moving = [row for row in events if answers[row.event_id] == {"accepted"}]
    off = [row for row in events if "declined" in answers[row.event_id]]
    notes = [row for row in events if not answers[row.event_id]]
    waiting = [row for row in events if row not in [*moving, *off, *notes]]
    past = next(row for row in rows if begins(row).date() < first)
    listed = events_of(home, first, last)
    hidden = call("update_calendar_in_list", calendarId=home.calendar_id, hidden=True)
    writes = (
        *(move(row, target) for row in moving),
        *map(cancel, off),
        *map(delete, notes),
        describe(home, notice),
        hidden,
    )
    names = [str(row.summary) for row in waiting]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Read the events of {calendar} in that week with their guests; optional guests do not count.",
            f"Move what all required guests accepted to {heir} as it is (EVT-4).",
            "Cancel what a required guest declined, and delete the entries without guests (EVT-5).",
            "Change the description, hide the calendar, and name what still waits.",
        ),
        gold=(LIST, listed, *map(read_event, events), *writes),
        answer=f"{len(moving)} meetings are in {heir} now. {', '.join(names)} still waits for an answer.",
        verifiers=(answer_says("names_what_waits", "The answer names what is left [REF-3]", all_of(map(term, names))),),
        tools=("update_event", "remove_calendar_from_list", "delete_calendar", "query_freebusy"),
        mistakes={
            "moves what waits": (move(waiting[0], target),),
            "moves what is over": (move(past, target),),
            "deletes what was declined": (delete(off[0]),),
        },
        also={"reads the list only": Solution((LIST, listed, *reversed(writes)))},
    )
    return with_verifiers(world, draft, rules={"move_event": "EVT-4", "update_calendar_in_list": "ID-4"})
