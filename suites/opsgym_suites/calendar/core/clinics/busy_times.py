"""An hour for people in several zones, found in busy times; which calendar gets it is a matter of the role there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, at_time, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar, Event
from opsgym_suites.calendar.calls import LIST, begins, blocks, create, ends, find_person, guest
from opsgym_suites.calendar.core.clinics.days import on
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_says


def hours_are_sought(world: ClinicsWorld) -> Iterator[Draft]:
    """The first hour that several people's calendars leave free; the preferred calendar is read-only for some."""
    yield _sought(
        world,
        slug="hour-for-three-zones",
        actor="anjali.deshpande",
        preferred="Trial Cobalt",
        day="04-08",
        hours=(9, 18),
        people=("tess.lindqvist", "rohan.patil", "sneha.gokhale"),
        title="Home visits",
        prompt=(
            "Please find the first full hour, Pune time, from 9:00 on 8 April at which Tess Lindqvist, Rohan Patil, "
            "Sneha Gokhale and I are all free (over by 18:00), and invite the three to Home visits. It should be in "
            "Trial Cobalt if I can write there; if not, in my own calendar. Where is it, and when?"
        ),
    )
    yield _sought(
        world,
        slug="hour-for-the-statistics",
        actor="valentina.diaz",
        preferred="Quality",
        day="04-05",
        hours=(9, 18),
        people=("paula.soto", "ignacio.fuentes", "tomas.araya"),
        title="Dropouts",
        prompt=(
            "need 1h with paula soto, ignacio fuentes and tomás araya on 5 april, title Dropouts. first full hour "
            "between 9 and 18 santiago time when the four of us are free by our own calendars. put it in Quality if my "
            "role there is enough, else in my own calendar. tell me hour + calendar"
        ),
    )
    yield _sought(
        world,
        slug="hour-for-the-diet",
        actor="matias.vidal",
        preferred="Trial Cobalt",
        day="04-05",
        hours=(8, 17),
        people=("camila.rojas", "valentina.diaz", "owen.pryce"),
        title="Potassium",
        prompt=(
            "I should like to talk to Camila Rojas, Valentina Díaz and Owen Pryce about Potassium for an hour on 5 "
            "April: the first full hour from 8:00 in Santiago, ending at 17:00 at the latest, at which none of us four "
            "has anything. Trial Cobalt would be its place, unless I am not able to write there, in which case my own "
            "calendar must do. Owen sits in Adelaide, mind. Kindly tell me place and time."
        ),
    )
    yield _sought(
        world,
        slug="hour-for-the-pumps",
        actor="noah.finch",
        preferred="Nursing",
        day="03-29",
        hours=(8, 17),
        people=("ruth.calder", "dario.conti", "owen.pryce"),
        title="Pumps on loan",
        prompt=(
            "An hour for Pumps on loan with Ruth Calder, Dario Conti and Owen Pryce, on Monday 29 March. Earliest full "
            "hour from 8 that all of us have free, done by 17:00, Adelaide time. Put it into Nursing if I may, "
            "otherwise just into my own calendar. Which hour is it and where did you put it?"
        ),
    )


def _sought(
    world: ClinicsWorld,
    *,
    slug: str,
    actor: str,
    preferred: str,
    day: str,
    hours: tuple[int, int],
    people: Sequence[str],
    title: str,
    prompt: str,
) -> Draft:
    acting, home = world.colleague(actor), world.calendar(preferred)
    own, invited = world.primary(acting.user), [world.person(name) for name in people]
    calendars = [own, *map(world.primary, invited)]
    zone = acting.user.timezone
    starts = [on(day) + timedelta(hours=hour) for hour in range(hours[0], hours[1])]
    start = next(hour for hour in starts if all(_is_free(world, calendar, hour, zone) for calendar in calendars))
    may_write = _role(world, home, actor) in ("writer", "owner")
    place = home if may_write else own
    busy_times = call(
        "query_freebusy",
        timeMin=_instant(starts[0], zone),
        timeMax=_instant(starts[-1] + timedelta(hours=1), zone),
        items=[{"id": calendar.calendar_id} for calendar in calendars],
    )

    def entered(calendar: Calendar, time: datetime) -> ToolCall:
        return create(calendar, title, time, 60, zone, attendees=[guest(user) for user in invited])

    looked = (LIST, *map(find_person, invited), busy_times)
    answer = f"{title} is in {place.summary} on {start.day} {start:%B} at {start:%H:%M}."
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Find the calendars of the people in the list; others show busy times only (ID-2).",
            "Ask for the busy times of all, and convert them to the acting user's zone.",
            "Enter the meeting at the first free hour where the role suffices.",
        ),
        gold=(*looked, entered(place, start)),
        answer=answer,
        access=Access.STRICT,
        verifiers=(
            answer_says("names_hour_and_place", "The answer names the time [REF-3]", all_of([at_time(start)])),
            answer_says("names_the_place", "The answer names the calendar [REF-3]", term(place.summary)),
        ),
        tools=("list_events", "get_calendar_from_list", "patch_event", "delete_event"),
        mistakes={"enters the next hour as well": (entered(place, start + timedelta(hours=1)),)},
        negative_trajectories={
            "enters it elsewhere": NegativeTrajectory((*looked, entered(own if may_write else home, start)), answer),
            "takes the first hour": NegativeTrajectory(
                (*looked, entered(place, starts[0] if starts[0] != start else start - timedelta(hours=1))), answer
            ),
        },
    )
    return with_verifiers(world, draft, rules={"create_event": "EVT-1, EVT-2, EVT-7"})


def _role(world: ClinicsWorld, calendar: Calendar, actor: str) -> str | None:
    try:
        return world.rule(calendar.summary, world.person(actor)).role
    except LookupError:
        return None


def _instant(time: datetime, zone: str) -> str:
    return time.replace(tzinfo=ZoneInfo(zone)).isoformat()


def _is_free(world: ClinicsWorld, calendar: Calendar, start: datetime, zone: str) -> bool:
    """Whether no event that blocks overlaps an hour; every event counts in its own zone."""
    begin = start.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    events = [row for row in world.all(Event, calendar_id=calendar.calendar_id) if blocks(row)]
    return not any(
        _utc(begins(row), row.start_timezone) < begin + timedelta(hours=1) and _utc(ends(row), row.end_timezone) > begin
        for row in events
    )


def _utc(time: datetime, zone: str | None) -> datetime:
    return time.replace(tzinfo=ZoneInfo(str(zone))).astimezone(UTC)
