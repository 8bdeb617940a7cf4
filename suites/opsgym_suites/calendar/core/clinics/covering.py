"""An agent works in calendars of other people, and over night the owners change what they may do there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, at_time, term, without
from opsgym_api.tasks.event import Event as Happening
from opsgym_suites.calendar.calls import (
    LIST,
    all_day,
    around,
    begins,
    cancel,
    describe,
    is_free,
    length,
    move,
    on_day,
    reschedule,
)
from opsgym_suites.calendar.core.clinics.days import NIGHT, on, second_day, two_days
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import answer_says

NOTES = "Notes on the audit"
TOO_LOW = r"\b(?:reader|read|role|rights?|access|permission\w*|allowed|may not|cannot|can't|could not|couldn't)\b"


def _not_left(title: str) -> str:
    """Pattern for an answer that does not say of an event that it was left as it is."""
    left = r"(?:stays?|remains?|left|kept|too low|could(?:n't| not)|cannot|can't)"
    return without(rf"{term(title)}[^.;\n]*\b{left}\b")


def covers_change(world: ClinicsWorld) -> Iterator[Draft]:
    """A visit moves in one calendar of others; on the next day another one has opened, and the first may be closed."""
    yield _covered(
        world,
        slug="amber-visit-and-cobalt-later",
        actor="anjali.deshpande",
        calendars=("Trial Amber", "Trial Cobalt"),
        visit="Monitoring visit",
        first_hour=10,
        notice="Home dialysis at night. Monitor on site on 31 March.",
        title="Monitor of Amber on site",
        other="Poster for the congress",
        lowered=False,
        prompt=(
            "The Monitoring visit of 30 March in Trial Amber has to be on 31 March instead: the first full hour from "
            "10:00 Adelaide time on that Trial Amber leaves free for all of it. Let the description of that calendar "
            'end up as "Home dialysis at night. Monitor on site on 31 March." Trial Cobalt needs an all-day entry of '
            "that day too, Monitor of Amber on site, in Santiago's zone. Where my role is too low for something, skip "
            "it and tell me where. And the new time, please."
        ),
        message=(
            "Morning! I wrote to the owners yesterday, so have a fresh look at what I may do where. If Trial Cobalt is "
            "open to me now, enter Monitor of Amber on site there for 31 March as I asked, and shift my own Notes on "
            "the audit of 1 April into it. In Trial Amber, call off Poster for the congress (2 April). Again: what my "
            "role does not cover stays, and you report it."
        ),
    )
    yield _covered(
        world,
        slug="saffron-visit-before-it-closes",
        actor="gwen.abbott",
        calendars=("Trial Saffron", "Trial Cobalt"),
        visit="Diet counselling",
        first_hour=11,
        notice="Salt in the diet. Counselling on 31 March.",
        title="Saffron counselling day",
        other="Blood draws",
        lowered=True,
        prompt=(
            "please move Diet counselling (30 march, Trial Saffron) to 31 march, first full hour >= 11:00 adelaide "
            "that is really free in Trial Saffron. description of Trial Saffron: Salt in the diet. Counselling on 31 "
            "March. then an all-day entry Saffron counselling day, 31 march, santiago zone, in Trial Cobalt - only if "
            "i can write there, otherwise just say so. what time is it now?"
        ),
        message=(
            "hi again. sharing was reworked over night, check my roles before you touch anything. (1) Saffron "
            "counselling day into Trial Cobalt if that works by now, (2) my Notes on the audit, 1 april, from my own "
            "calendar over to Trial Cobalt, (3) cancel Blood draws of 2 april in Trial Saffron. what i'm not allowed "
            "to do, leave and name"
        ),
    )
    yield _covered(
        world,
        slug="nursing-audit-and-saffron-later",
        actor="noah.finch",
        calendars=("Nursing", "Trial Saffron"),
        visit="Hygiene audit",
        first_hour=10,
        notice="Shifts and drills of the nurses. Audit on 31 March.",
        title="Nurses at the audit",
        other="Vaccination",
        lowered=False,
        prompt=(
            "I look after the Nursing calendar for Tess. Could you put its Hygiene audit of 30 March on the 31st, at "
            "the first hour on the hour from 10:00 that is clear there for the whole length? Something that is marked "
            "as free does not count. The calendar's description becomes \"Shifts and drills of the nurses. Audit on "
            '31 March." Owen wants to see an all-day Nurses at the audit on 31 March in Trial Saffron as well, if I am '
            "able to enter it; if I am not, tell me so. Let me know the new time."
        ),
        message=(
            "Owen wanted to see to my rights yesterday evening, so please look them up once more. Then, as far as "
            "they go: Nurses at the audit on 31 March into Trial Saffron, my Notes on the audit of 1 April from my own "
            "calendar into Trial Saffron, and Vaccination of 2 April in Nursing cancelled. Tell me which of it you had "
            "to leave, if any."
        ),
    )
    yield _covered(
        world,
        slug="santiago-inspection-before-it-closes",
        actor="paula.soto",
        calendars=("Santiago clinic", "Trial Amber"),
        visit="Inspection of water",
        first_hour=9,
        notice="What concerns the clinic in Santiago. Inspection on 31 March.",
        title="Inspection in Santiago",
        other="Farewell of Elisa",
        lowered=True,
        prompt=(
            "Kindly postpone the Inspection of water from 30 to 31 March in the Santiago clinic calendar, to the first "
            "full hour from 9:00 on for which that calendar is free, and change the calendar's description to "
            '"What concerns the clinic in Santiago. Inspection on 31 March." The colleagues of Trial Amber should see '
            "Inspection in Santiago as an all-day entry on 31 March, in Adelaide's zone; should I lack the role for "
            "that, omit it and mention it. Which hour did you choose?"
        ),
        message=(
            "Good morning. Camila and Gwen have revised their rules of sharing since. Please read my roles anew and "
            "carry out what they permit: Inspection in Santiago, 31 March, into Trial Amber; my Notes on the audit of "
            "1 April out of my own calendar into Trial Amber; Farewell of Elisa, 2 April, in Santiago clinic to be "
            "cancelled. State what they do not permit."
        ),
    )


def _covered(
    world: ClinicsWorld,
    *,
    slug: str,
    actor: str,
    calendars: Sequence[str],
    visit: str,
    first_hour: int,
    notice: str,
    title: str,
    other: str,
    lowered: bool,
    prompt: str,
    message: str,
) -> Draft:
    """`lowered` says whether the rule on the first calendar is lowered when the one on the second is raised."""
    acting = world.colleague(actor)
    home, second = map(world.calendar, calendars)
    event, off = world.event(calendars[0], visit), world.event(calendars[0], other)
    day = on("03-31")
    busy, minutes = on_day(world, home, day.date()), int(length(event).total_seconds() // 60)
    hours = (day + timedelta(hours=hour) for hour in range(first_hour, 18))
    start = next(hour for hour in hours if is_free(busy, hour, minutes))
    own = next(row for row in on_day(world, world.primary(acting.user), on("04-01").date()) if row.summary == NOTES)
    changes = ScenarioEvent(world).change(world.rule(calendars[1], acting.user), role="writer")
    if lowered:
        changes.change(world.rule(calendars[0], acting.user), role="reader")
    entry = all_day(second, title, day.date(), second.time_zone)
    looked = (LIST, around(home, begins(event).date()), around(home, day.date()))
    first = (*looked, reschedule(event, start), describe(home, notice))
    again = (LIST, around(world.primary(acting.user), begins(own).date()), around(home, begins(off).date()))
    may_cancel = () if lowered else (cancel(off),)
    refused = " ".join(
        (
            f"{other} in {calendars[0]} is not cancelled: my role for you there is reader now."
            if lowered
            else f"{other} is cancelled.",
            "All else is done.",
        )
    )
    answer = f"{title} is in {calendars[1]}, and so are the {NOTES}. {refused}"
    first_answer = (
        f"{visit} is on 31 March at {start:%H:%M}, and the description is changed. {title} is not in {calendars[1]}: "
        "your role there is only reader."
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Read the list of calendars with the acting user's roles (ID-2), and the events of both days.",
            "Move the visit by its times (EVT-4), describe the calendar, and report the entry that cannot be made.",
            "On the second day read the roles again: the rules of sharing have changed.",
            "Enter and move what the new roles allow, and report what they do not (REF-2).",
        ),
        gold=two_days(first, (*again, entry, move(own, second), *may_cancel)),
        answer=answer,
        day_answers=(first_answer,),
        days=second_day(message),
        events=(Happening(at=NIGHT, sql=changes.statements),),
        access=Access.STRICT,
        verifiers=(
            answer_says("names_the_time", "The first answer names the new time [REF-3]", at_time(start), day=1),
            answer_says(
                "names_what_is_left",
                "The first answer says where the role is too low [REF-2]",
                all_of([term(calendars[1]), TOO_LOW]),
                day=1,
            ),
            answer_says(
                "names_what_is_done",
                "The last answer says what became of the entries [REF-3]",
                all_of([term(other), TOO_LOW] if lowered else [term(title), term(calendars[1]), _not_left(other)]),
            ),
        ),
        tools=("get_calendar_from_list", "query_freebusy", "update_event", "delete_event", "insert_acl_rule"),
        mistakes={
            "enters it twice": (entry,),
            "enters it in one's own calendar too": (
                all_day(world.primary(acting.user), title, day.date(), second.time_zone),
            ),
        },
        negative_trajectories={
            "trusts the roles of the first day": NegativeTrajectory(
                two_days(first, (*again, *(() if lowered else (cancel(off),)))),
                f"{title} cannot be entered in {calendars[1]}: your role is reader there. {other} is done.",
            ),
            "stops after the first day": NegativeTrajectory(two_days(first, ()), answer),
        },
    )
    return with_verifiers(
        world, draft, changes, rules={"create_event": "EVT-1", "move_event": "ID-2", "patch_event": "EVT-4, EVT-5"}
    )
