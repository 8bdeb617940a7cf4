"""A study gets a calendar; over night the policy changes, and within the fortnight the clocks do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from opsgym_api.tasks.answer_patterns import all_of, at_time, term
from opsgym_api.tasks.event import Event as Happening
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import User
from opsgym_suites.calendar.calls import LIST, create, find_person, guest, share
from opsgym_suites.calendar.core.clinics.days import amended, on, second_day, two_days
from opsgym_suites.calendar.effects import NEW_CALENDAR
from opsgym_suites.calendar.seeds.world import ClinicsWorld
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import answer_says

OUTSIDE = amended(
    "SHR-4",
    "People outside the company get the role freeBusyReader and no higher one, whatever a request says.",
)
FEW = amended("SHR-5", "A calendar has at most one writer besides its owner. A second one gets the role reader.")
POPUPS = amended(
    "EVT-8", "A new meeting with guests from outside the company has one popup reminder, 60 minutes before the start."
)


def studies_begin(world: ClinicsWorld) -> Iterator[Draft]:
    """The first day makes calendar and first meeting, the second one adds people and a meeting after the change."""
    yield _study(
        world,
        slug="heron-study-with-oslo",
        actor="gwen.abbott",
        title="Study Heron",
        shown="Heron",
        roles={"noah.finch": "writer", "valentina.diaz": "reader"},
        hours={"valentina.diaz": (9, 18)},
        first_options=("03-25 20:00", "03-25 23:00", "03-26 21:00"),
        added="sigrid.moen@dovremed.example",
        added_role="freeBusyReader",
        asked_role="reader",
        later_hours={"sigrid.moen@dovremed.example": (8, 16), "noah.finch": (8, 18)},
        later_options=("04-01 16:00", "04-06 15:00", "04-07 15:30"),
        amendment=OUTSIDE,
        popup=None,
        prompt=(
            "A new study begins, and I would like a calendar Study Heron on Adelaide time for it, shown as Heron in my "
            "list. Noah Finch, the nurse, enters dates; Valentina Díaz reads them. Then enter Kick-off, an hour with "
            "Valentina, who is at work from 9 to 18 in Santiago. I can do, our time, 25 March 20:00, 25 March 23:00 or "
            "26 March 21:00; take the first at which she is at work for all of it, and tell me which."
        ),
        message=(
            "Next: sigrid.moen@dovremed.example joins Study Heron and would like to read the calendar, or whatever the "
            "rules leave. She and Noah Finch, the nurse, get an hour called Protocol there, too. I offer 1 April "
            "16:00, 6 April 15:00 and 7 April 15:30 in Adelaide; Sigrid works from 8 to 16 in Oslo, Noah from 8 to 18 "
            "here. Take the first that suits both all the way; clocks change in between, as you know. What time is it "
            "in Oslo then?"
        ),
        local_of="sigrid.moen@dovremed.example",
    )
    yield _study(
        world,
        slug="tern-study-with-auckland",
        actor="paula.soto",
        title="Study Tern",
        shown="Tern",
        roles={"ignacio.fuentes": "writer", "camila.rojas": "freeBusyReader"},
        hours={"ignacio.fuentes": (8, 16)},
        first_options=("03-26 15:30", "03-29 07:30", "03-29 15:00"),
        added="mere.tamihana@kaurilab.example",
        added_role="reader",
        asked_role="reader",
        later_hours={"mere.tamihana@kaurilab.example": (8, 16)},
        later_options=("04-02 15:30", "04-05 15:30", "04-06 16:30"),
        amendment=POPUPS,
        popup=60,
        prompt=(
            "please set up a calendar Study Tern (santiago time zone, i want to see it as Tern). ignacio fuentes "
            "changes events, camila rojas sees busy times only. first meeting: Kick-off, 1h, with ignacio, he is there "
            "from 8 to 16. i could do 26 march 15:30, 29 march 7:30, 29 march 15:00 -> first one that fits into his "
            "day completely. which one was it?"
        ),
        message=(
            "good morning! mere.tamihana@kaurilab.example shall read Study Tern from now on. and an hour with her, "
            "title Membranes, in that calendar: 2 april 15:30, 5 april 15:30 or 6 april 16:30 santiago time, whichever "
            "is first to lie between 8 and 16 in auckland from start to end. mind what the clocks do in both places, "
            "and what the policy wants for such a meeting. auckland time?"
        ),
        local_of="mere.tamihana@kaurilab.example",
        second_title="Membranes",
    )
    yield _study(
        world,
        slug="spring-course-with-one-writer",
        actor="sneha.gokhale",
        title="Course of spring",
        shown="Spring",
        roles={"kiran.s.joshi": "writer", "tess.lindqvist": "reader"},
        hours={"tess.lindqvist": (8, 16)},
        first_options=("03-25 12:00", "03-26 03:00", "03-26 09:30"),
        added="anjali.deshpande",
        added_role="reader",
        asked_role="writer",
        later_hours={"anjali.deshpande": (10, 18), "tess.lindqvist": (8, 16)},
        later_options=("04-02 10:30", "04-06 11:30", "04-07 10:30"),
        amendment=FEW,
        popup=None,
        prompt=(
            "I need a calendar for the Course of spring, Pune time, listed as Spring. Kiran Joshi (the trainer, not "
            "the engineer) will edit it and Tess Lindqvist in Adelaide will read it. Kick-off is an hour with Tess, "
            "whose day is 8 to 16 there. My times in Pune: 25 March 12:00, 26 March 3:00, 26 March 9:30. The first at "
            "which Tess is in for the full hour is the one. Let me know which you took."
        ),
        message=(
            "Could Anjali Deshpande edit the Course of spring calendar as well? If a rule is against it, she gets what "
            "the rule gives. With her and Tess I want an hour on the Programme in that calendar: 2 April 10:30, 6 "
            "April 11:30 or 7 April 10:30 in Pune, the first at which Anjali (10 to 18 here) and Tess (8 to 16 in "
            "Adelaide, where clocks go back meanwhile) are both there throughout. And what is it on Tess's clock?"
        ),
        local_of="tess.lindqvist",
        second_title="Programme",
    )
    yield _study(
        world,
        slug="interfaces-with-lars",
        actor="rohan.patil",
        title="Interfaces",
        shown="IF",
        roles={"kiran.joshi": "writer", "tomas.araya": "freeBusyReader"},
        hours={"kiran.joshi": (10, 18)},
        first_options=("03-25 09:30", "03-25 17:30", "03-26 17:00"),
        added="lars.haugen@dovremed.example",
        added_role="freeBusyReader",
        asked_role="reader",
        later_hours={"lars.haugen@dovremed.example": (8, 16), "kiran.joshi": (10, 18)},
        later_options=("03-26 12:00", "03-29 12:00", "03-30 11:00"),
        amendment=OUTSIDE,
        popup=None,
        prompt=(
            "New calendar: Interfaces, Pune time, call it IF in my list. Kiran Joshi, our engineer, edits; Tomás Araya "
            "just has to see when it is busy. Enter Kick-off with Kiran for one hour. Possible: March 25 9:30, March "
            "25 17:30, March 26 17:00, Pune. Kiran's hours are 10 to 18, the meeting has to fit in. Take the first "
            "that does; which one?"
        ),
        message=(
            "Lars Haugen, lars.haugen@dovremed.example, needs access to Interfaces: reading it, if that is allowed, "
            "else the next best thing. Plus one hour Formats in there with Lars and Kiran the engineer. Slots in Pune "
            "time: March 26 12:00, March 29 12:00, March 30 11:00. Lars is in the office 8 to 16 in Oslo (they change "
            "clocks this weekend), Kiran 10 to 18. First slot that both are in for all of it. What's the Oslo time?"
        ),
        local_of="lars.haugen@dovremed.example",
        second_title="Formats",
    )


def _study(
    world: ClinicsWorld,
    *,
    slug: str,
    actor: str,
    title: str,
    shown: str,
    roles: Mapping[str, str],
    hours: Mapping[str, tuple[int, int]],
    first_options: Sequence[str],
    added: str,
    added_role: str,
    asked_role: str,
    later_hours: Mapping[str, tuple[int, int]],
    later_options: Sequence[str],
    amendment: Happening,
    popup: int | None,
    prompt: str,
    message: str,
    local_of: str,
    second_title: str = "Protocol",
) -> Draft:
    """`asked_role` is what the second day asks for, `added_role` what the amended policy leaves of it."""
    acting = world.colleague(actor)
    zone = acting.user.timezone
    people = {name: world.person(name) for name in (*roles, added)}
    kickoff, later = _first(world, zone, hours, first_options), _first(world, zone, later_hours, later_options)
    local = _local(zone, later, people.get(local_of) or world.person(local_of))

    def meeting(name: str, start: datetime, guests: Mapping[str, Any], minutes: int | None = None) -> ToolCall:
        more: dict[str, Any] = {"attendees": [guest(world.person(one)) for one in guests]}
        if minutes is not None:
            more["reminders"] = {"useDefault": False, "overrides": [{"method": "popup", "minutes": minutes}]}
        return create(NEW_CALENDAR, name, start, 60, zone, **more)

    first = (
        LIST,
        *map(find_person, (people[name] for name in roles)),
        call("create_calendar", summary=title, timeZone=zone),
        *(share(NEW_CALENDAR, people[name], role) for name, role in roles.items()),
        call("update_calendar_in_list", calendarId=NEW_CALENDAR, summaryOverride=shown),
        meeting("Kick-off", kickoff, hours),
    )
    looked = (find_person(people[added]), call("list_acl_rules", calendarId=NEW_CALENDAR))
    shared, second = share(NEW_CALENDAR, people[added], added_role), meeting(second_title, later, later_hours, popup)
    wrong_time = next(on(option) for option in later_options if on(option) != later)
    old_rules = (share(NEW_CALENDAR, people[added], asked_role), meeting(second_title, later, later_hours))
    answer = f"{second_title} is on {later.day} {later:%B}; it is {local:%H:%M} for {people[local_of].name} then."
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Look up the people, create the calendar in its zone, share it, and set the title in the list (SHR-1).",
            "Enter the first meeting at the first offered time that lies in the guest's working hours.",
            f"On the second day apply the new rule {_rule(amendment)} to what is asked.",
            "Convert the offered times with the offsets of those very days: clocks change in between (EVT-1).",
        ),
        gold=two_days(first, (*looked, shared, second)),
        answer=answer,
        day_answers=(f"{title} exists; Kick-off is on {kickoff.day} {kickoff:%B} at {kickoff:%H:%M}.",),
        days=second_day(message),
        events=(amendment,),
        verifiers=(
            answer_says("names_the_first_time", "The first answer names the time [REF-3]", at_time(kickoff), day=1),
            answer_says(
                "names_the_local_time",
                "The last answer names the guest's local time [REF-3]",
                all_of([at_time(local), term(second_title)]),
            ),
        ),
        tools=("patch_acl_rule", "delete_acl_rule", "patch_event", "query_freebusy", "patch_calendar"),
        mistakes={"takes a second time as well": (meeting(second_title, wrong_time, later_hours, popup),)},
        negative_trajectories={
            "follows the old policy": NegativeTrajectory(two_days(first, (*looked, *old_rules)), answer),
            "reckons without the change of clocks": NegativeTrajectory(
                two_days(first, (*looked, shared, meeting(second_title, wrong_time, later_hours, popup))), answer
            ),
        },
    )
    return with_verifiers(world, draft, rules={"create_event": f"EVT-1, {_cited(amendment)}"})


def _rule(amendment: Happening) -> str:
    assert amendment.amend is not None
    return amendment.amend.rule


def _cited(amendment: Happening) -> str:
    return "EVT-7" if amendment is POPUPS else "EVT-2"


def _local(zone: str, start: datetime, user: User) -> datetime:
    return start.replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo(user.timezone))


def _first(world: ClinicsWorld, zone: str, hours: Mapping[str, tuple[int, int]], options: Sequence[str]) -> datetime:
    """The first time that lies within the working hours of all for an hour."""

    def suits(name: str, start: datetime) -> bool:
        low, high = hours[name]
        begin = _local(zone, start, world.person(name))
        end = begin + timedelta(hours=1)
        opens = begin.replace(hour=low, minute=0)
        return opens <= begin and end <= opens + timedelta(hours=high - low)

    return next(start for start in map(on, options) if all(suits(name, start) for name in hours))
