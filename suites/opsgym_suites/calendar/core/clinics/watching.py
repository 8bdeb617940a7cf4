"""Channels, entries of the calendar list, settings and single occurrences: what stands around the events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, number, on_date, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Color
from opsgym_suites.calendar.calls import (
    LIST,
    around,
    begins,
    create,
    find_person,
    moment,
    patch,
    rules_of,
    set_role,
    unshare,
)
from opsgym_suites.calendar.core.clinics.days import on, second_day, two_days
from opsgym_suites.calendar.seeds.clinics import PUNE
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.verifiers import answer_says


def _channel(tool: str, name: str, path: str, **more: Any) -> ToolCall:
    return call(tool, id=name, type="web_hook", address=f"https://hooks.bluegumcare.example/{path}", **more)


def sharing_is_watched(world: ClinicsWorld) -> Iterator[Draft]:
    """One of two colleagues reads events already; the other one's rule changes before the channels open."""
    acting, home = world.colleague("paula.soto"), world.calendar("Quality")
    camila, gwen = world.person("camila.rojas"), world.person("gwen.abbott")
    rule, other = world.rule("Quality", camila), world.rule("Quality", gwen)
    looked = (
        LIST,
        find_person(camila),
        find_person(gwen),
        rules_of(home),
        call("get_acl_rule", calendarId=home.calendar_id, ruleId=rule.id),
    )
    scope = {"type": "user", "value": camila.email}
    raised = call("update_acl_rule", calendarId=home.calendar_id, ruleId=rule.id, scope=scope, role="reader")
    channels = (
        _channel("watch_acl", "quality-sharing", "quality", calendarId=home.calendar_id),
        _channel("watch_events", "quality-events", "quality", calendarId=home.calendar_id),
    )
    draft = Draft(
        slug="quality-is-watched",
        actor=acting,
        prompt=(
            "My Quality calendar: Camila Rojas and Gwen Abbott are both supposed to read the events in it. If one of "
            "them sees only busy times, give her that right; if she has it, leave it as it is. Then open two channels "
            "on the calendar to https://hooks.bluegumcare.example/quality, one called quality-sharing for changes of "
            "who has access and one called quality-events for its events. Whose right did you change?"
        ),
        plan=(
            "Read the rules of the calendar: one of the two sees only busy times.",
            "Change the rule that exists (SHR-3), and open both channels.",
        ),
        gold=(*looked, raised, *channels),
        answer="Camila Rojas reads the events of Quality now, Gwen Abbott did already. Both channels are open.",
        verifiers=(answer_says("names_who_changed", "The answer says whose rule changed [REF-3]", term("Camila")),),
        tools=("insert_acl_rule", "watch_settings", "watch_calendar_list"),
        mistakes={"takes the other rule away": (unshare(other),), "makes her a writer": (set_role(rule, "writer"),)},
        also={"changes the role alone": Solution((*looked, set_role(rule, "reader"), *reversed(channels)))},
    )
    yield with_verifiers(world, draft)


def settings_are_watched(world: ClinicsWorld) -> Iterator[Draft]:
    """How long a meeting lasts is a setting of the person who asks."""
    acting, home = world.colleague("sneha.gokhale"), world.calendar("Training")
    name, start = "Planning of courses", on("04-06 11:30")
    looked = (
        call("list_settings"),
        call("get_settings", settingId="sneha.gokhale-defaultEventLength"),
        LIST,
        around(home, start.date()),
    )
    made = create(home, name, start, 30, PUNE)
    channels = (
        _channel("watch_settings", "training-settings", "training"),
        _channel("watch_calendar_list", "training-list", "training"),
    )
    draft = Draft(
        slug="settings-are-watched",
        actor=acting,
        prompt=(
            "enter 'Planning of courses' into the Training calendar, 6 april 11:30, as long as my settings say an "
            "event usually lasts. and two channels to https://hooks.bluegumcare.example/training please: "
            "training-settings for changes of my settings, training-list for my calendar list. how many minutes is it?"
        ),
        plan=(
            "Read the settings: one states the usual length of an event.",
            "Enter the event in one's own time zone (EVT-1), and open both channels.",
        ),
        gold=(*looked, made, *channels),
        answer="Planning of courses is in Training on 6 April from 11:30, 30 minutes. Both channels are open.",
        verifiers=(answer_says("states_the_length", "The answer states the minutes [REF-3]", number(30)),),
        tools=("watch_events", "watch_acl", "create_calendar"),
        mistakes={"enters it twice": (made,)},
        negative_trajectories={
            "takes an hour": NegativeTrajectory(
                (*looked, create(home, name, start, 60, PUNE), *channels), "It takes 30 minutes."
            )
        },
        also={"opens the channels first": Solution((*looked, *reversed(channels), made))},
    )
    yield with_verifiers(world, draft)


def an_entry_is_replaced(world: ClinicsWorld) -> Iterator[Draft]:
    """A replaced entry loses what is not given, so the kinds of conferences are given again."""
    acting, home = world.colleague("rohan.patil"), world.calendar("Migration")
    color = world.one(Color, color_type="CALENDAR", color_id="7")
    looked = (LIST, call("get_calendar", calendarId=home.calendar_id), call("get_colors"))
    conferences = {"allowedConferenceSolutionTypes": ["hangoutsMeet"]}

    def entry(number_of_color: str, **more: Any) -> ToolCall:
        values = {"summaryOverride": "Old records", "colorId": number_of_color, "hidden": False, "selected": False}
        return call("replace_calendar_in_list", calendarId=home.calendar_id, **values, **more)

    draft = Draft(
        slug="entry-in-another-colour",
        actor=acting,
        prompt=(
            "In my list the Migration calendar should be called Old records, have the colour whose background is "
            f"{color.background} and not be ticked, though it must not be hidden. Reset everything else that is set "
            "for its entry, but conferences in the calendar must work as they do now. Which number has that colour?"
        ),
        plan=(
            "Read the calendar with its kinds of conferences, and find the colour in the list of colours.",
            "Replace the entry, with the kinds of conferences that it has (ID-4).",
        ),
        gold=(*looked, entry("7", conferenceProperties=conferences)),
        answer="Migration is shown as Old records in colour 7, not ticked.",
        access=Access.STRICT,
        verifiers=(answer_says("names_the_colour", "The answer names the colour [REF-3]", number(7)),),
        tools=("update_calendar_in_list", "remove_calendar_from_list", "patch_calendar"),
        negative_trajectories={
            "loses the conferences": NegativeTrajectory((*looked, entry("7")), "It has colour 7."),
            "takes another colour": NegativeTrajectory(
                (*looked, entry("8", conferenceProperties=conferences)), "It has colour 7."
            ),
        },
        mistakes={
            "hides it": (call("update_calendar_in_list", calendarId=home.calendar_id, hidden=True),),
        },
    )
    yield with_verifiers(world, draft)


def a_calendar_returns(world: ClinicsWorld) -> Iterator[Draft]:
    """A calendar leaves the list on the first day and comes back under another name on the second."""
    acting, home = world.colleague("paula.soto"), world.calendar("Study Fern")
    removed = call("remove_calendar_from_list", calendarId=home.calendar_id)
    back = call("add_calendar_to_list", id=home.calendar_id, summaryOverride="Fern, closed")
    everything = call("get_calendar_list", showDeleted=True)
    renamed = call("patch_calendar", calendarId=home.calendar_id, summary="Fern, closed")
    draft = Draft(
        slug="fern-returns-to-the-list",
        actor=acting,
        prompt="Study Fern is done. Take the calendar off my list, please, but do not delete the calendar itself.",
        plan=(
            "Remove the calendar from the list; the calendar stays.",
            "On the second day find it among the removed ones and put it back under the other name.",
        ),
        gold=two_days((LIST, removed), (everything, back)),
        answer="Study Fern is in your list again, shown as 'Fern, closed'.",
        day_answers=("Study Fern is off your list; the calendar exists.",),
        days=second_day(
            "The auditors still ask for it. Put Study Fern back into my list, where it should be shown as 'Fern, "
            "closed'. The others who use the calendar keep seeing its own name."
        ),
        verifiers=(answer_says("names_the_calendar", "The answer names the calendar [REF-3]", all_of([term("Fern")])),),
        tools=("delete_calendar", "create_calendar", "update_calendar_in_list"),
        mistakes={"renames the calendar": (renamed,), "removes it again": (removed,)},
        negative_trajectories={
            "leaves it off": NegativeTrajectory(two_days((LIST, removed), (everything,)), "Fern is back."),
            "renames it for all": NegativeTrajectory(
                two_days((LIST, removed), (everything, call("add_calendar_to_list", id=home.calendar_id), renamed)),
                "Fern is back.",
            ),
        },
    )
    yield with_verifiers(world, draft)


def an_occurrence_is_updated(world: ClinicsWorld) -> Iterator[Draft]:
    """One occurrence of a series moves to a free hour; the series stays."""
    acting, home = world.colleague("paula.soto"), world.calendar("Quality")
    series = world.series("Quality", "Quality circle")
    (event,) = (row for row in series if begins(row).date() == on("04-07").date())
    after = series[series.index(event) + 1]
    zone, start = str(event.start_timezone), begins(event) - timedelta(hours=2)
    looked = (
        LIST,
        around(home, begins(event).date()),
        call("get_event_instances", calendarId=home.calendar_id, eventId=str(event.recurring_event_id)),
    )
    times = {"start": moment(start, zone), "end": moment(start + timedelta(minutes=60), zone)}
    changed = call("update_event", calendarId=home.calendar_id, eventId=event.event_id, **times, location="Room Maipo")
    draft = Draft(
        slug="one-quality-circle-moves",
        actor=acting,
        prompt=(
            "The Quality circle takes place every Wednesday. The one in the week after Easter Monday, 7 April, begins "
            "two hours earlier than usual and lasts as long as ever; put 'Room Maipo' as its location. All the others "
            "stay. At what time does it start then, and how many occurrences has the series in all?"
        ),
        plan=(
            "Find the occurrence of that day and the occurrences of its series.",
            "Change times and place of the one occurrence (EVT-4, EVT-6).",
        ),
        gold=(*looked, changed),
        answer=f"The Quality circle of 7 April starts at {start:%H:%M} now; the series has {len(series)} occurrences.",
        verifiers=(
            answer_says(
                "states_the_number", "The answer states the occurrences [REF-3]", all_of([number(len(series))])
            ),
        ),
        tools=("delete_event", "create_event", "move_event"),
        mistakes={"moves the next one, too": (patch(after, location="Room Maipo"),)},
        also={
            "changes single fields": Solution((*looked, patch(event, **times, location="Room Maipo"))),
        },
    )
    yield with_verifiers(world, draft)


def an_entry_in_a_hurry(world: ClinicsWorld) -> Iterator[Draft]:
    """The day of a quick entry follows from another event."""
    acting, home = world.colleague("tess.lindqvist"), world.calendar("Nursing")
    event = world.event("Nursing", "Vaccination")
    start = begins(event) - timedelta(days=1, hours=1)
    zone, title = str(home.time_zone), "Prepare syringes"
    looked = (LIST, around(home, begins(event).date()))
    placed = patch(event, location="Room Onka")

    def entry(day: str) -> ToolCall:
        text = f"{title} {day} 9:00-10:00"
        return call("quick_add_event", calendarId=home.calendar_id, text=text)

    draft = Draft(
        slug="syringes-in-a-hurry",
        actor=acting,
        prompt=(
            "Quickly: an entry 'Prepare syringes' in the Nursing calendar, from 9 to 10 on the day before the "
            "Vaccination that is in there. And the Vaccination itself takes place in 'Room Onka', write that as its "
            "location; don't book anything. Which day is my entry on?"
        ),
        plan=(
            "Find the vaccination in the calendar.",
            "Enter the preparation on the day before (EVT-1), and change the location of the vaccination.",
        ),
        gold=(*looked, entry(f"{start:%B} {start.day}"), placed),
        answer=f"Prepare syringes is on {start.day} {start:%B %Y} from 9:00; the Vaccination is in Room Onka.",
        access=Access.STRICT,
        verifiers=(answer_says("states_the_day", "The answer states the day [REF-3]", on_date(start.date())),),
        tools=("create_event", "update_event", "delete_event"),
        negative_trajectories={
            "takes the day itself": NegativeTrajectory(
                (*looked, entry(f"{start:%B} {start.day + 1}"), placed), f"It is on {start.day} {start:%B}."
            )
        },
        mistakes={"enters it twice": (entry(f"{start:%B} {start.day}"),)},
        also={"in the usual way": Solution((*looked, placed, create(home, title, start, 60, zone)))},
    )
    yield with_verifiers(world, draft)


FAMILIES = (
    an_entry_in_a_hurry,
    sharing_is_watched,
    settings_are_watched,
    an_entry_is_replaced,
    a_calendar_returns,
    an_occurrence_is_updated,
)
