"""Tasks about copies of an event that must stay the same event: its identifier and its organizer go with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, at_time, on_date
from opsgym_api.tasks.event import Event as Happening
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar, Event, User
from opsgym_suites.calendar.calls import (
    LIST,
    around,
    begins,
    cancel,
    create,
    describe,
    ends,
    find_person,
    length,
    moment,
    move,
    share,
)
from opsgym_suites.calendar.seeds.world import World, stored
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says


@dataclass(frozen=True)
class _Copy:
    """An event is copied from a calendar that the actor only reads into one in which the actor writes."""

    slug: str
    actor: str
    source: tuple[str, str, str]
    """Calendar, title and day of the event."""
    other: tuple[str, str, str]
    """An event of that calendar or of the target that must not be taken for it."""
    target: str
    minutes: int
    """How long before its start the copy reminds."""
    notice: str
    prompt: str


def copies(world: World) -> Iterator[Draft]:
    """Guests or the organizer's word settle which event is meant; a new event instead of a copy is wrong."""
    yield _drill(
        world,
        _Copy(
            slug="copy-of-the-drill-with-its-identifier",
            actor="rui.tavares",
            source=("Lisbon office", "Fire drill", "2026-10-30"),
            other=("Lisbon office", "Fire drill", "2026-11-06"),
            target="Field operations",
            minutes=15,
            notice="Surveys in the field and who is on them. Evacuation: see the Fire drill.",
            prompt=(
                "Inês has a Fire drill in the Lisbon office calendar to which I am invited. My field people do not "
                "look there, so put a copy into Field operations. Our phones merge entries by their iCal identifier "
                "(iCalUID): the copy has to carry hers, with her as the organizer, otherwise everybody sees it twice. "
                "No guests on the copy and no mail to anyone; popup 15 minutes ahead. Beatriz Nunes wants to read "
                'Field operations from now on. Its description becomes "Surveys in the field and who is on them. '
                'Evacuation: see the Fire drill." On which day is it?'
            ),
        ),
        newcomer="beatriz.nunes",
    )
    yield _rehearsal(
        world,
        _Copy(
            slug="copy-of-the-rehearsal-that-moves",
            actor="pedro.rocha",
            source=("Product", "Atlas launch rehearsal", "2026-10-27"),
            other=("Project Atlas", "Hold: Contours", "2026-10-28"),
            target="Project Atlas",
            minutes=45,
            notice="New base map. Rehearsal before the steering.",
            prompt=(
                "sofia keeps the Atlas launch rehearsal in Product, and people outside can't open that. pls get it "
                "into Project Atlas as a copy of the very same event: same iCalUID, sofia still the organizer, same "
                "time zone as there, no guests, popup 45 min before. then call off that Hold in Project Atlas which i "
                'have declined, and set the description of Project Atlas to "New base map. Rehearsal before the '
                'steering." when does the rehearsal begin?'
            ),
        ),
    )


# --- what both share -------------------------------------------------------------------------------------------------


def _imported(event: Event, owner: User, target: Calendar, minutes: int) -> ToolCall:
    zone = str(event.start_timezone)
    return call(
        "import_event",
        calendarId=target.calendar_id,
        iCalUID=event.iCalUID,
        summary=event.summary,
        start=moment(begins(event), zone),
        end=moment(ends(event), zone),
        organizer={"email": owner.email, "displayName": owner.name},
        reminders=_popup(minutes),
    )


def _popup(minutes: int) -> dict[str, object]:
    return {"useDefault": False, "overrides": [{"method": "popup", "minutes": minutes}]}


def _newly_created(event: Event, target: Calendar, minutes: int) -> ToolCall:
    """A new event with the identifier of the other one, which the actor would organize."""
    return create(
        target,
        event.summary or "",
        begins(event),
        int(length(event).total_seconds() // 60),
        str(event.start_timezone),
        iCalUID=event.iCalUID,
        reminders=_popup(minutes),
    )


def _wrong_copies(
    before: Sequence[ToolCall], event: Event, of: _Copy, target: Calendar, after: Sequence[ToolCall], answer: str
) -> dict[str, NegativeTrajectory]:
    """Ways to have something in the target that is not a copy."""
    own = call(
        "import_event",
        calendarId=target.calendar_id,
        iCalUID=event.iCalUID,
        summary=event.summary,
        start=moment(begins(event), str(event.start_timezone)),
        end=moment(ends(event), str(event.start_timezone)),
        reminders=_popup(of.minutes),
    )
    created = _newly_created(event, target, of.minutes)
    return {
        "creates an event": NegativeTrajectory((*before, created, *after), answer),
        "makes the actor the organizer": NegativeTrajectory((*before, own, *after), answer),
        "moves the original": NegativeTrajectory((*before, move(event, target), *after), answer),
    }


def _drill(world: World, of: _Copy, newcomer: str) -> Draft:
    event, other = world.event(*of.source), world.event(*of.other)
    home, target = world.calendar(of.source[0]), world.calendar(of.target)
    owner, new = world.one(User, user_id=home.user_id), world.person(newcomer)
    looked = (LIST, around(home, begins(event).date()), around(home, begins(other).date()), find_person(new))
    copied = _imported(event, owner, target, of.minutes)
    more = (share(target, new, "reader"), describe(target, of.notice))
    answer = f"The drill is on {begins(event):%d %B}; its copy is in {of.target}, which {new.name} reads now."
    draft = Draft(
        slug=of.slug,
        actor=world.colleague(of.actor),
        prompt=of.prompt,
        plan=(
            "Read both drills with their guests: the acting user is a guest of one of them (LKP-2).",
            "Import it with its identifier and its organizer; a new event would have another organizer (ID-4).",
            "Share the calendar with the lowest role (SHR-1), and change its description.",
        ),
        gold=(*looked, copied, *more),
        answer=answer,
        access=Access.STRICT,
        evidence=(event,),
        verifiers=(answer_says("names_the_day", "The answer names the day [REF-3]", on_date(begins(event).date())),),
        tools=("create_event", "move_event", "get_event", "patch_acl_rule"),
        mistakes={
            "copies the other drill too": (_imported(other, owner, target, of.minutes),),
            "enters it in one's own calendar too": (
                _imported(event, owner, world.primary(world.person(of.actor)), of.minutes),
            ),
        },
        also={"imports last": Solution((*looked, *more, copied))},
        negative_trajectories={
            **_wrong_copies(looked, event, of, target, more, answer),
            "copies the drill of others": NegativeTrajectory(
                (*looked, _imported(other, owner, target, of.minutes), *more),
                f"It is on {begins(other):%d %B}.",
            ),
        },
    )
    return with_verifiers(world, draft)


def _rehearsal(world: World, of: _Copy) -> Draft:
    event, hold = world.event(*of.source), world.event(*of.other)
    home, target = world.calendar(of.source[0]), world.calendar(of.target)
    owner = world.one(User, user_id=home.user_id)
    later = begins(event) + timedelta(days=1, hours=1)
    moved = ScenarioEvent(world).change(
        event,
        start_datetime=stored(later),
        end_datetime=stored(later + length(event)),
        originalStartTime_dateTime=stored(later),
        sequence=1,
    )
    new = moved.after.one(Event, event_id=event.event_id)
    looked = (LIST, around(home, begins(event).date()), around(target, begins(hold).date()))
    copied, more = _imported(new, owner, target, of.minutes), (cancel(hold), describe(target, of.notice))
    answer = f"The rehearsal begins on {later:%d %B} at {later:%H:%M} Toronto time; {hold.summary} is cancelled."
    message = (
        "One thing I hear just now: Sofia has put the rehearsal to another time. Have another look before you copy."
    )
    again = around(home, later.date())
    draft = Draft(
        slug=of.slug,
        actor=world.colleague(of.actor),
        prompt=of.prompt,
        plan=(
            "Read the event with its identifier, organizer and zone, and the holds with their answers.",
            "Read it again after the message: it has been moved.",
            "Import it at its new time, cancel the declined hold (EVT-5), and describe the calendar.",
        ),
        gold=(*looked, again, copied, *more),
        answer=answer,
        access=Access.STRICT,
        evidence=(event, hold),
        events=(Happening(after_step=FIRST_LOOK, sql=moved.statements, tell=message),),
        verifiers=(
            answer_says(
                "names_the_start",
                "The answer names day and time [REF-3]",
                all_of([on_date(later.date()), at_time(later)]),
            ),
        ),
        tools=("create_event", "move_event", "get_event", "delete_event"),
        mistakes={
            "cancels a hold that the actor accepted": (cancel(world.event(of.target, "Hold: Labels", "2026-10-30")),),
            "copies the hold too": (_newly_created(hold, target, of.minutes),),
        },
        also={"copies last": Solution((*looked, again, *more, copied))},
        negative_trajectories={
            **_wrong_copies((*looked, again), new, of, target, more, answer),
            "copies the time that it read first": NegativeTrajectory(
                (*looked, _imported(event, owner, target, of.minutes), *more), answer
            ),
        },
    )
    return with_verifiers(world, draft, moved)


FAMILIES = (copies,)
