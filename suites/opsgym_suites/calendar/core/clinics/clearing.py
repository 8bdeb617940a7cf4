"""Calendars that are emptied or deleted: what has to stay is moved before, since nothing brings it back."""

from __future__ import annotations

from collections.abc import Iterator

from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_domains.calendar.tables import Event
from opsgym_suites.calendar.calls import LIST, begins, delete, describe, events_of, move, read_event
from opsgym_suites.calendar.core.clinics.days import on
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.verifiers import answer_says

CLEARED = "Cleared at the end of March."


def a_calendar_is_deleted(world: ClinicsWorld) -> Iterator[Draft]:
    """What all required guests accepted goes to another calendar, and the calendar is deleted with the rest."""
    acting, home, heir = world.colleague("rohan.patil"), world.calendar("Migration"), world.calendar("Software")
    first, last = on("04-05").date(), on("04-09").date()
    rows = world.all(Event, calendar_id=home.calendar_id, status="confirmed")
    events = sorted((row for row in rows if first <= begins(row).date() <= last), key=lambda row: row.start_datetime)
    with_guests = [row for row in events if world.guests(row)]
    staying = [
        row
        for row in with_guests
        if {guest.responseStatus for guest, _user in world.guests(row) if not guest.optional} == {"accepted"}
    ]
    (waiting,) = (
        row for row in with_guests if "needsAction" in {guest.responseStatus for guest, _user in world.guests(row)}
    )
    looked = (LIST, events_of(home, first, last), *map(read_event, with_guests))
    moved = tuple(move(row, heir) for row in staying)
    gone = call("delete_calendar", calendarId=home.calendar_id)
    names = [str(row.summary) for row in staying]
    draft = Draft(
        slug="migration-is-deleted",
        actor=acting,
        prompt=(
            "The Migration calendar shall be deleted, with what is in it. Before that, save from the week of 5 to 9 "
            "April what really takes place: meetings that everyone who is required has accepted go over to Software, "
            "the events themselves. Optional guests don't count, and a meeting that lacks an answer is lost. Which "
            "ones did you save?"
        ),
        plan=(
            "Read the events of that week with the answers of their guests; optional guests do not count.",
            "Move what all required guests accepted (EVT-4), and delete the calendar then.",
        ),
        gold=(*looked, *moved, gone),
        answer=f"I moved {' and '.join(names)} to Software and deleted Migration.",
        verifiers=(answer_says("names_what_was_saved", "The answer names them [REF-3]", all_of(map(term, names))),),
        tools=("clear_calendar", "remove_calendar_from_list", "delete_event", "create_event"),
        mistakes={"empties another calendar": (delete(world.series("Software", "Release")[-1]),)},
        negative_trajectories={
            "deletes it at once": NegativeTrajectory((*looked, gone), f"I saved {' and '.join(names)}."),
            "saves what waits": NegativeTrajectory(
                (*looked, *moved, move(waiting, heir), gone), f"I saved {' and '.join(names)}."
            ),
            "takes it off the list only": NegativeTrajectory(
                (*looked, *moved, call("remove_calendar_from_list", calendarId=home.calendar_id)),
                f"I saved {' and '.join(names)}.",
            ),
        },
        also={"reads the list only": Solution((LIST, events_of(home, first, last), *reversed(moved), gone))},
    )
    yield with_verifiers(world, draft, rules={"move_event": "EVT-4"})


def a_calendar_is_cleared(world: ClinicsWorld) -> Iterator[Draft]:
    """Two entries go to another calendar before one's own calendar is emptied."""
    acting, heir = world.colleague("paula.soto"), world.calendar("Quality")
    home = world.primary(acting.user)
    notes, booking = (world.event(str(home.summary), title) for title in ("Notes on the audit", "Travel booking"))
    looked = (LIST, events_of(home, on("03-15").date(), on("04-30").date()))
    moved = (move(notes, heir), move(booking, heir))
    cleared = call("clear_calendar", calendarId=home.calendar_id)
    described = call("update_calendar", calendarId=home.calendar_id, description=CLEARED)
    draft = Draft(
        slug="own-calendar-is-cleared",
        actor=acting,
        prompt=(
            "i start over with my own calendar: everything in it goes, past and future, with guests or without, in one "
            "sweep. two things are to survive in the Quality calendar, as the events they are: Notes on the audit and "
            f"Travel booking. then set the description of my calendar to '{CLEARED}' what survived, and where?"
        ),
        plan=(
            "Find the two entries in one's own calendar and move them (EVT-4).",
            "Clear one's own calendar, and change its description.",
        ),
        gold=(*looked, *moved, cleared, described),
        answer="Notes on the audit and Travel booking are in Quality now; your own calendar is empty.",
        verifiers=(
            answer_says(
                "names_what_survived",
                "The answer names both [REF-3]",
                all_of([term("Notes on the audit"), term("Travel booking")]),
            ),
        ),
        tools=("delete_calendar", "delete_event", "patch_calendar"),
        mistakes={"describes the other calendar": (describe(heir, CLEARED),)},
        negative_trajectories={
            "clears it at once": NegativeTrajectory(
                (*looked, cleared, described), "Notes on the audit and Travel booking are in Quality."
            ),
            "leaves one behind": NegativeTrajectory(
                (*looked, moved[0], cleared, described), "Notes on the audit and Travel booking are in Quality."
            ),
        },
        also={"describes it first": Solution((*looked, described, *reversed(moved), cleared))},
    )
    yield with_verifiers(world, draft, rules={"move_event": "EVT-4"})


FAMILIES = (a_calendar_is_deleted, a_calendar_is_cleared)
