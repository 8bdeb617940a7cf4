"""Tasks about meetings of teams: one occurrence moves, a time suits three zones, holds become meetings or go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from opsgym_api.tasks.answer_patterns import all_of, at_time, on_date, term
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Event as Happening
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Event
from opsgym_suites.calendar.calls import (
    LIST,
    begins,
    cancel,
    create,
    delete,
    events_of,
    find_person,
    guest,
    is_free,
    length,
    on,
    on_day,
    patch,
    read_event,
    reschedule,
    set_role,
)
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, ScenarioEvent, answer_admits
from opsgym_suites.kit.verifiers import answer_says

# --- one occurrence moves --------------------------------------------------------------------------------------------


def occurrences_move(world: World) -> Iterator[Draft]:
    """One event of a series gets the first time of a day that several calendars leave free."""
    yield _moved(
        world,
        slug="equipment-check-moves-again",
        actor="rui.tavares",
        series=("Field operations", "Equipment check", "2026-11-03"),
        others=("Rui Tavares",),
        to="11-05",
        first=13,
        prompt=(
            "The Equipment check of Tuesday 3 November has to go to Thursday the 5th: first full hour from 13:00 on at "
            "which neither Field operations nor my own calendar has anything. Leave the other weeks as they are, the "
            "one we shifted at the end of October as well. Which time did it become?"
        ),
    )
    yield _moved(
        world,
        slug="release-train-of-next-week",
        actor="nathan.brooks",
        series=("Platform team", "Release train", "2026-11-04"),
        others=("Project Meridian", "Nathan Brooks"),
        to="11-05",
        first=9,
        prompt=(
            "Can you shift our next Release train that actually takes place after today's one? This week's successor "
            "is off already, I know. Put it on Thursday Nov 5, earliest full hour from 9 am that is clear in Platform "
            "team, in Project Meridian and in my calendar. One run only, and tell me day and time."
        ),
    )
    yield _moved(
        world,
        slug="customer-round-of-november",
        actor="liam.walsh",
        series=("Delivery", "Customer round", "2026-11-05"),
        others=("Terralens rollout", "Liam Walsh"),
        to="11-06",
        first=10,
        prompt=(
            "I am on a boat on Thursday 5 November, so that day's Customer round can't stay. Move it to the "
            "Friday: first hour on the hour, from ten, that's clear in Delivery, in the Terralens rollout "
            "calendar and in mine. The rest of the rounds aren't to be touched. What time should I tell people?"
        ),
    )
    yield _moved(
        world,
        slug="steering-makes-way-for-focus",
        actor="sofia.almeida",
        series=("Project Atlas", "Atlas steering", "2026-10-29"),
        others=("Product", "Sofia Almeida"),
        to="10-30",
        first=9,
        prompt=(
            "atlas steering on 29 oct sits right on my deep work. i'd rather have that one steering on friday 30 oct, "
            "at the first full hour >= 09:00 when project atlas, product and my own calendar are all free (a hold "
            "counts as free, it is not confirmed). keep the guests and their answers. when is it?"
        ),
    )
    yield _moved(
        world,
        slug="forecast-call-off-the-hour",
        actor="hannah.weiss",
        series=("Sales", "Forecast call", "2026-10-30"),
        others=("Hannah Weiss",),
        to="10-29",
        first=14,
        prompt=(
            "Vera travels on Friday, so please bring the Forecast call of October 30 forward to Thursday the 29th, at "
            "the first full hour from 2 pm at which Sales and my calendar have nothing that is confirmed. My deep work "
            "block is sacred, by the way. Only this one call moves; let me have the new time."
        ),
    )


def _moved(
    world: World,
    *,
    slug: str,
    actor: str,
    series: tuple[str, str, str],
    others: Sequence[str],
    to: str,
    first: int,
    prompt: str,
    correction: str | None = None,
    first_day: str | None = None,
) -> Draft:
    """`correction` is a message that comes after the first step; before it, the request names the day `first_day`."""
    acting, event = world.colleague(actor), world.event(*series)
    calendars = [world.calendar(series[0]), *map(world.calendar, others)]
    day = on(to)
    busy = [row for calendar in calendars for row in on_day(world, calendar, day.date())]
    minutes = int(length(event).total_seconds() // 60)
    hours = (day + timedelta(hours=hour) for hour in range(first, 18))
    start = next(hour for hour in hours if is_free(busy, hour, minutes))
    looked = (
        LIST,
        events_of(calendars[0], begins(event).date(), day.date())
        if begins(event) < day
        else events_of(calendars[0], day.date(), begins(event).date()),
    )
    later = next(row for row in world.series(*series[:2]) if begins(row) > begins(event) and row.status == "confirmed")
    moved = reschedule(event, start)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Find the occurrence of {series[1]} that is meant; some of the series were cancelled or moved before.",
            f"Read what {', '.join(calendar.summary for calendar in calendars)} have on the new day.",
            "Change the times of this occurrence only (EVT-4, EVT-6).",
        ),
        gold=(*looked, *(events_of(calendar, day.date()) for calendar in calendars[1:]), read_event(event), moved),
        answer=f"{series[1]} is now on {day.day} {day:%B} at {start:%H:%M}; the other weeks stay as they were.",
        verifiers=(
            answer_says(
                "names_the_time",
                "The answer names the new day and time [REF-3]",
                all_of([on_date(day), at_time(start)]),
            ),
        ),
        tools=("get_event_instances", "query_freebusy", "update_event", "delete_event", "create_event"),
        mistakes={
            "moves the next one too": (reschedule(later, begins(later) + timedelta(hours=1)),),
            "takes the next hour": (reschedule(event, start + timedelta(hours=1)),),
            "creates a copy": (create(calendars[0], series[1], start, minutes, str(event.start_timezone)),),
        },
        also={
            "reads no single event": Solution((*looked, *(events_of(one, day.date()) for one in calendars[1:]), moved))
        },
        **_corrected(
            correction, (*looked, reschedule(event, on(f"{first_day} {first:02d}:00")) if first_day else moved)
        ),
    )
    return with_verifiers(world, draft)


def _corrected(message: str | None, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """What a task has in which the user writes again, by the calls of who does not read that."""
    if message is None:
        return {}
    return {
        "events": (Happening(after_step=FIRST_LOOK, tell=message),),
        "negative_trajectories": {"does what was asked first": NegativeTrajectory(tuple(calls), "It is moved.")},
    }


def minds_change(world: World) -> Iterator[Draft]:
    """The user corrects the request while the agent is at work."""
    yield _moved(
        world,
        slug="field-stand-up-and-a-second-thought",
        actor="rui.tavares",
        series=("Field operations", "Field stand-up", "2026-10-28"),
        others=("Rui Tavares",),
        first_day="10-27",
        to="10-29",
        first=9,
        correction="Sorry, the 27th does not work for João after all. Make it Thursday the 29th, same idea.",
        prompt=(
            "Our Field stand-up of Wednesday 28 October collides with a delivery. Move that single one to Tuesday the "
            "27th, first full hour from 09:00 on that is clear in Field operations and in my calendar. What time is it?"
        ),
    )
    yield _moved(
        world,
        slug="cutover-check-and-a-second-thought",
        actor="nathan.brooks",
        series=("Project Meridian", "Meridian cutover check", "2026-10-30"),
        others=("Platform team", "Nathan Brooks"),
        first_day="10-29",
        to="10-28",
        first=11,
        correction="Scratch the 29th, half the team is out. Wednesday the 28th then, everything else as I said.",
        prompt=(
            "Friday Oct 30's Meridian cutover check needs to happen earlier: Thursday the 29th, earliest full "
            "hour from 11 that's clear of anything confirmed in Project Meridian, Platform team and my own "
            "calendar. Only that one. Report the time."
        ),
    )
    yield _moved(
        world,
        slug="delivery-planning-and-a-second-thought",
        actor="liam.walsh",
        series=("Delivery", "Delivery planning", "2026-11-02"),
        others=("Terralens rollout", "Liam Walsh"),
        first_day="11-03",
        to="11-04",
        first=10,
        correction="One more thing: Aisha is away on the 3rd. Take the 4th of November for it.",
        prompt=(
            "Could the Delivery planning on Monday 2 November be on Tuesday the 3rd for once? Any full hour "
            "from ten, the first at which Delivery, Terralens rollout and I are free of confirmed things. The "
            "other Mondays stay. I'd like to know the time."
        ),
    )
    yield _moved(
        world,
        slug="design-critique-and-a-second-thought",
        actor="sofia.almeida",
        series=("Product", "Design critique", "2026-10-27"),
        others=("Project Atlas", "Sofia Almeida"),
        first_day="10-29",
        to="10-28",
        first=9,
        correction="oh wait, thursday is full of steering. wednesday 28th pls instead of the 29th",
        prompt=(
            "design critique on tue 27 oct: push it to thu 29 oct, first full hour from 9 on which product, "
            "project atlas and i have free (tentative stuff counts as free). just this one, and tell me when "
            "it is"
        ),
    )


# --- a time for three zones ------------------------------------------------------------------------------------------


def times_across_zones(world: World) -> Iterator[Draft]:
    """Of several times the first one lies within everybody's working hours, in weeks in which clocks change."""
    yield _across(
        world,
        slug="atlas-review-before-toronto-changes",
        actor="sofia.almeida",
        calendar="Project Atlas",
        title="Atlas tile budget",
        options=("10-29 12:00", "10-29 13:00", "10-30 15:00"),
        people={"leila.haddad": (9, 17), "kofi.mensah@terralens.example": (8, 16)},
        prompt=(
            "I'd like an hour with Leila Haddad (she works nine to five in Toronto) and Kofi Mensah "
            "(kofi.mensah@terralens.example, London, eight to four). My choices, Lisbon time: 29 October 12:00, "
            "29 October 13:00, 30 October 15:00. Take the first at which both of them are at work for the whole hour; "
            "their clocks and ours do not change on the same day, so do reckon properly. It is called Atlas tile "
            "budget, belongs into Project Atlas, and needs a Meet link. What time is it in Toronto?"
        ),
        local_of="leila.haddad",
    )
    yield _across(
        world,
        slug="cutover-rehearsal-with-lisbon",
        actor="nathan.brooks",
        calendar="Project Meridian",
        title="Cutover rehearsal",
        options=("10-27 13:30", "10-28 12:30", "10-28 11:00"),
        people={"pedro.rocha": (9, 18), "beatriz.nunes": (9, 17)},
        prompt=(
            "Set up Cutover rehearsal, 60 min, in Project Meridian with Pedro Rocha and Beatriz Nunes plus a Meet "
            "link. Times that work for me in Toronto, in this order: Oct 27 1:30 pm, Oct 28 12:30 pm, Oct 28 11 am. "
            "Pedro is in from 9 to 18, Beatriz from 9 to 17, Lisbon. First slot that fits inside both days wins. And "
            "tell me what Lisbon's clocks say then, I keep getting it wrong around the change."
        ),
        local_of="pedro.rocha",
    )
    yield _across(
        world,
        slug="training-with-rome-and-toronto",
        actor="liam.walsh",
        calendar="Terralens rollout",
        title="Rollout lessons",
        options=("11-03 08:00", "11-04 07:00", "11-05 20:00"),
        people={"sam.okafor": (9, 18), "hannah.weiss": (10, 17)},
        prompt=(
            "Rollout lessons: one hour, in the Terralens rollout calendar, with Sam Okafor and Hannah Weiss, "
            "Meet link please. In Sydney I can do 3 November 8:00, 4 November 7:00 or 5 November 20:00. They "
            "are in Toronto; Sam is in from nine to six and Hannah from ten to five their time. Pick the "
            "earliest of the three at which both are in for the entire hour and tell me the hour it will be "
            "over there."
        ),
        local_of="hannah.weiss",
    )
    yield _across(
        world,
        slug="harborgrid-call-with-seoul",
        actor="hannah.weiss",
        calendar="Sales",
        title="Harborgrid figures",
        options=("10-28 17:00", "10-28 20:00", "10-29 21:00"),
        people={"yuna.park@harborgrid.example": (9, 18), "dale.hooper@harborgrid.example": (9, 18)},
        prompt=(
            "Harborgrid wants to see figures, one hour. yuna.park@harborgrid.example sits in Seoul, "
            "dale.hooper@harborgrid.example in Vancouver; both are at their desks 9 to 18 local. I offered, Toronto "
            "time, Wed Oct 28 17:00, Wed Oct 28 20:00 and Thu Oct 29 21:00. Please take whichever comes first and fits "
            'both, enter it in Sales as "Harborgrid figures" with a Meet link, and let me know the time in Seoul.'
        ),
        local_of="yuna.park@harborgrid.example",
    )
    yield _across(
        world,
        slug="contour-with-lisbon-in-november",
        actor="chloe.martin",
        calendar="Project Contour",
        title="Contour method talk",
        options=("11-03 18:00", "11-03 20:00", "11-04 21:00"),
        people={"joao.costa": (9, 17), "tiago.lopes": (8, 12)},
        prompt=(
            "hi! could you find an hour for the Contour method talk with João Costa (the surveyor, "
            "joao.costa@kestrelsurvey.example) and Tiago Lopes in Lisbon? sydney times i can offer: tue 3 nov 18:00, "
            "tue 3 nov 20:00, wed 4 nov 21:00. joão's hours are 9-17, tiago works mornings only, 8-12. earliest one "
            "that suits both. calendar: Project Contour. with meet link. what time will it be for them?"
        ),
        local_of="tiago.lopes",
    )


def _across(
    world: World,
    *,
    slug: str,
    actor: str,
    calendar: str,
    title: str,
    options: Sequence[str],
    people: dict[str, tuple[int, int]],
    prompt: str,
    local_of: str,
) -> Draft:
    acting, home = world.colleague(actor), world.calendar(calendar)
    invited = {name: world.person(name) for name in people}
    zone = acting.user.timezone

    def local_time(option: str, name: str) -> datetime:
        return on(option).replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo(invited[name].timezone))

    def suits(option: str) -> bool:
        return all(
            low <= local_time(option, name).hour
            and (local_time(option, name) + timedelta(minutes=59)).hour < high
            and (local_time(option, name) + timedelta(minutes=59)).date() == local_time(option, name).date()
            for name, (low, high) in people.items()
        )

    chosen = next(option for option in options if suits(option))
    local = local_time(chosen, local_of)

    def made(option: str) -> ToolCall:
        return create(
            home,
            title,
            on(option),
            60,
            zone,
            attendees=[guest(user) for user in invited.values()],
            conferenceData={
                "createRequest": {"requestId": f"meet-{slug}", "conferenceSolutionKey": {"type": "hangoutsMeet"}}
            },
            conferenceDataVersion=1,
        )

    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Look up the guests with their time zones, and the calendar.",
            "Convert each time with the offset of that very day; zones change their clocks on different days (EVT-1).",
            "Create the event at the first time that suits all, in the acting user's time zone, with a conference.",
        ),
        gold=(LIST, *map(find_person, invited.values()), events_of(home, on(chosen).date()), made(chosen)),
        answer=(
            f'"{title}" is on {on(chosen).day} {on(chosen):%B} at {on(chosen):%H:%M}; over there it is {local:%H:%M}.'
        ),
        verifiers=(
            answer_says("names_the_time_there", "The answer names the guests' local time [REF-3]", at_time(local)),
        ),
        tools=("query_freebusy", "get_calendar", "patch_event", "delete_event"),
        mistakes={f"takes {option} as well": (made(option),) for option in options if option != chosen},
    )
    return with_verifiers(world, draft, rules={"create_event": "EVT-1, EVT-2"})


# --- holds -----------------------------------------------------------------------------------------------------------


def holds_are_settled(world: World) -> Iterator[Draft]:
    """Tentative events are confirmed or cancelled by the answers of those who are required."""
    yield _settled(
        world,
        slug="holds-of-atlas",
        actor="sofia.almeida",
        calendar="Project Atlas",
        prompt=(
            "Please go through my holds in Project Atlas between 26 October and 6 November. Where everybody whose "
            'presence is required has accepted, confirm it and drop the "Hold: " from the title. Where one of them '
            "declined, cancel it. Those that still wait for an answer stay holds; name them for me."
        ),
    )
    yield _settled(
        world,
        slug="holds-of-meridian",
        actor="nathan.brooks",
        calendar="Project Meridian",
        prompt=(
            "Time to firm up Meridian. Every hold in that calendar from Oct 26 through Nov 6: all required folks said "
            'yes -> confirmed and title without "Hold: "; a required no -> cancelled; anything else, a maybe included, '
            "leave alone and list it in your reply. Optional people don't count either way."
        ),
    )
    yield _settled(
        world,
        slug="holds-of-the-rollout",
        actor="liam.walsh",
        calendar="Terralens rollout",
        prompt=(
            "The Terralens rollout calendar is full of holds (26 Oct to 6 Nov). If all required guests accepted, make "
            'it a real meeting: confirmed, and no "Hold: " in front. If any required guest turned it down, it is to be '
            "cancelled. Leave the undecided, and say which they are."
        ),
    )
    yield _settled(
        world,
        slug="holds-of-sales",
        actor="hannah.weiss",
        calendar="Sales",
        prompt=(
            'sales holds, oct 26 - nov 6, pls clean up: accepted by all required -> status confirmed + take "Hold: " '
            "off the title. declined by a required guest -> cancel. no answer yet -> don't touch, just tell me the "
            "names of those"
        ),
    )


def _settled(world: World, *, slug: str, actor: str, calendar: str, prompt: str) -> Draft:
    acting, home = world.colleague(actor), world.calendar(calendar)
    rows = world.all(Event, calendar_id=home.calendar_id, status="tentative")
    holds = sorted(rows, key=lambda row: row.start_datetime)
    answers = {
        row.event_id: {guest.responseStatus for guest, _user in world.guests(row) if not guest.optional}
        for row in holds
    }
    declined = [row for row in holds if "declined" in answers[row.event_id]]
    confirmed = [row for row in holds if answers[row.event_id] == {"accepted"}]
    waiting = [row for row in holds if row not in declined and row not in confirmed]
    names = [_title(row) for row in waiting]
    wrong = waiting[0] if waiting else declined[0]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Read the events of {calendar} in these two weeks with their guests.",
            "Confirm the holds that every required guest accepted; optional guests do not count.",
            "Cancel those that a required guest declined (EVT-5), and name the rest.",
        ),
        gold=(
            LIST,
            events_of(home, on("10-26").date(), on("11-06").date()),
            *map(read_event, holds),
            *(patch(row, status="confirmed", summary=_title(row)) for row in confirmed),
            *map(cancel, declined),
        ),
        answer=(
            f"Confirmed: {', '.join(map(_title, confirmed))}. Cancelled: {', '.join(map(_title, declined))}. "
            f"Still waiting: {', '.join(names)}."
        ),
        verifiers=(
            answer_says("names_what_waits", "The answer names the open holds [REF-3]", all_of(map(term, names))),
        ),
        tools=("update_event", "delete_event", "query_freebusy", "get_user_by_email"),
        mistakes={
            "confirms one that waits": (patch(wrong, status="confirmed"),),
            "deletes what was declined": (delete(declined[0]),),
        },
        also={
            "reads the list only": Solution(
                (
                    LIST,
                    events_of(home, on("10-26").date(), on("11-06").date()),
                    *map(cancel, declined),
                    *(patch(row, status="confirmed", summary=_title(row)) for row in confirmed),
                )
            )
        },
    )
    return with_verifiers(world, draft)


def _title(hold: Event) -> str:
    return str(hold.summary).removeprefix("Hold: ")


# --- answers that come by a day --------------------------------------------------------------------------------------


def answers_come(world: World) -> Iterator[Draft]:
    """On the first day open holds get a reminder; by the next one answers have come, and what they say counts."""
    plain = (
        "Good morning. Answers should be in by now: please look at the same holds again. The ones that all "
        'required guests have accepted become meetings (confirmed, without "Hold: "), the others are '
        "cancelled."
    )
    brisk = (
        "ok, time is up for the holds from before. check who said what NOW, not what you saw last time. "
        'all required in -> confirmed, title without "Hold: ". otherwise cancelled.'
    )
    for slug, actor, calendar, begins_at, message, changes, prompt in (
        (
            "atlas-holds-until-friday",
            "sofia.almeida",
            "Project Atlas",
            "2026-10-23T08:00:00",
            plain,
            {("Labels", "leila.haddad"): "accepted"},
            (
                "Who has not answered my holds in Project Atlas (26 October to 6 November)? Put a popup 60 minutes "
                "ahead on each hold for which a required guest still owes an answer, in place of any reminder "
                "there is, and leave all holds as they are until I write again."
            ),
        ),
        (
            "atlas-holds-and-a-late-no",
            "sofia.almeida",
            "Project Atlas",
            "2026-10-26T08:30:00",
            brisk,
            {("Labels", "leila.haddad"): "accepted", ("Relief", "tiago.lopes"): "declined"},
            (
                "for the holds in project atlas, 26 oct - 6 nov: where someone required has not replied yet, set "
                "one popup 60 min before. nothing else for now. i come back to it on monday."
            ),
        ),
        (
            "meridian-holds-until-thursday",
            "nathan.brooks",
            "Project Meridian",
            "2026-10-22T13:00:00",
            plain,
            {("Freeze", "priya.raman"): "accepted"},
            (
                "Meridian holds between Oct 26 and Nov 6: if a required person is at maybe or has not answered, "
                "add a 60 minute popup to the hold. Don't settle anything today, I'll tell you tomorrow."
            ),
        ),
        (
            "meridian-holds-and-a-change-of-heart",
            "nathan.brooks",
            "Project Meridian",
            "2026-10-23T13:00:00",
            brisk,
            {("Freeze", "priya.raman"): "declined", ("Cold standby", "owen.clarke"): "declined"},
            (
                "Give me a popup, 60 minutes before, on any hold in Project Meridian (Oct 26 through Nov 6) that "
                "some required guest has neither accepted nor declined. That's it for today; the rest on Friday."
            ),
        ),
        (
            "rollout-holds-until-friday",
            "liam.walsh",
            "Terralens rollout",
            "2026-10-23T00:00:00",
            plain,
            {
                ("Data check", "ben.fraser"): "declined",
                ("Training for London", "kofi.mensah@terralens.example"): "accepted",
            },
            (
                "I'd like to be reminded of the holds in Terralens rollout, 26 October to 6 November, for which we "
                "still lack an answer from a required guest: a popup 60 minutes before, please. Decide nothing "
                "yet."
            ),
        ),
        (
            "rollout-holds-and-no-answer",
            "liam.walsh",
            "Terralens rollout",
            "2026-10-26T00:00:00",
            brisk,
            {("Go or no-go", "kofi.mensah@terralens.example"): "declined"},
            (
                "Terralens rollout, holds from the 26th of October to the 6th of November. Any with a required "
                "guest who has not replied gets a single popup an hour (60 minutes) ahead. Wait for me with "
                "everything else."
            ),
        ),
        (
            "sales-holds-until-monday",
            "hannah.weiss",
            "Sales",
            "2026-10-26T12:00:00",
            plain,
            {("Reference visit", "sam.okafor"): "accepted", ("Price list", "vera.novak"): "declined"},
            (
                "Please set a popup, 60 minutes ahead, for each hold in Sales (October 26 to November 6) that "
                "waits for an answer of a required guest. I will settle them all with you on Monday, so leave them "
                "be until then."
            ),
        ),
        (
            "sales-holds-and-a-new-yes",
            "hannah.weiss",
            "Sales",
            "2026-10-23T12:00:00",
            brisk,
            {("Harborgrid terms", "dale.hooper@harborgrid.example"): "accepted"},
            (
                "sales holds oct 26-nov 6: popup 60 min before on those still missing a required reply, pls. no "
                "confirming, no cancelling today"
            ),
        ),
    ):
        yield _awaited(
            world,
            slug=slug,
            actor=actor,
            calendar=calendar,
            begins_at=begins_at,
            message=message,
            changes=changes,
            prompt=prompt,
        )


def _awaited(
    world: World,
    *,
    slug: str,
    actor: str,
    calendar: str,
    begins_at: str,
    message: str,
    changes: Mapping[tuple[str, str], str],
    prompt: str,
) -> Draft:
    acting, home = world.colleague(actor), world.calendar(calendar)
    rows = world.all(Event, calendar_id=home.calendar_id, status="tentative")
    holds = sorted(rows, key=lambda row: row.start_datetime)
    night = (datetime.fromisoformat(begins_at) - timedelta(hours=2)).isoformat()
    event = ScenarioEvent(world)
    for (title, person), answer in changes.items():
        hold = next(row for row in holds if row.summary == f"Hold: {title}")
        guest_row = next(row for row, user in world.guests(hold) if user is world.person(person))
        event.change(guest_row, responseStatus=answer)
    before = {row.event_id: _answers(world, row) for row in holds}
    after = {row.event_id: _answers(event.after, row) for row in holds}
    open_ = [row for row in holds if before[row.event_id] & {"needsAction", "tentative"}]
    reminder = {"useDefault": False, "overrides": [{"method": "popup", "minutes": 60}]}

    def settled(answers: Mapping[str, set[str]]) -> list[ToolCall]:
        return [
            patch(row, status="confirmed", summary=_title(row))
            if answers[row.event_id] == {"accepted"}
            else cancel(row)
            for row in holds
        ]

    listed = events_of(home, on("10-26").date(), on("11-06").date())
    first = (LIST, listed, *(patch(row, reminders=reminder) for row in open_))
    second = _on_day(2, (listed, *settled(after)))
    meetings = [_title(row) for row in holds if after[row.event_id] == {"accepted"}]
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Read the holds with their guests, and set the reminder on those that wait for a required guest.",
            "On the second day read them again: answers have changed meanwhile.",
            "Confirm those that every required guest accepted, and cancel the others (EVT-5).",
        ),
        gold=(*first, *second),
        answer=f"Confirmed: {', '.join(meetings)}. All others are cancelled.",
        day_answers=(f"The reminder is on {', '.join(map(_title, open_))}.",),
        days=(Day(message=message, begins_at=begins_at),),
        events=(Happening(at=night, sql=event.statements),),
        verifiers=(
            answer_says("names_the_meetings", "The answer names what is on [REF-3]", all_of(map(term, meetings))),
        ),
        tools=("get_event", "update_event", "delete_event", "query_freebusy"),
        mistakes={
            "deletes what was declined": _on_day(2, (delete(next(r for r in holds if _title(r) not in meetings)),))
        },
        negative_trajectories={
            "settles by the answers of the first day": NegativeTrajectory(
                (*first, *_on_day(2, settled(before))), "All holds are settled."
            ),
            "stops after the first day": NegativeTrajectory(first, "The reminders are set."),
        },
    )
    return with_verifiers(world, draft, event)


def _answers(world: World, hold: Event) -> set[str]:
    return {row.responseStatus for row, _user in world.guests(hold) if not row.optional}


def _on_day(number: int, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(one.model_copy(update={"day": number}) for one in calls)


# --- a role is lost --------------------------------------------------------------------------------------------------


def roles_are_lost(world: World) -> Iterator[Draft]:
    """While the agent works, the acting user's rule on one of two calendars becomes a lower one."""
    for slug, actor, reachable, lost, prompt in (
        (
            "platform-turns-read-only",
            "nathan.brooks",
            ("Platform team", "Platform stand-up", "2026-10-28"),
            ("Project Meridian", "Meridian cutover check", "2026-10-27"),
            (
                "Cancel two single dates for me, please: the Platform stand-up of October 28 in Platform team and "
                "the Meridian cutover check of October 27 in Project Meridian. An admin is reworking the sharing "
                "of our calendars right now, so look up my role on each right before; where I may no longer change "
                "events, leave it and tell me."
            ),
        ),
        (
            "product-turns-read-only",
            "sofia.almeida",
            ("Project Atlas", "Atlas steering", "2026-11-05"),
            ("Product", "Roadmap sync", "2026-11-05"),
            (
                "the 5th of november is a trade fair: cancel that day's Atlas steering (project atlas) and Roadmap "
                "sync (product). careful, it is working on our permissions today. check which role i have on both "
                "before you write, and if i can't edit one any more, do the other and say so"
            ),
        ),
        (
            "delivery-turns-read-only",
            "liam.walsh",
            ("Terralens rollout", "Rollout sync", "2026-11-03"),
            ("Delivery", "Delivery planning", "2026-11-09"),
            (
                "Would you cancel the Rollout sync of 3 November (Terralens rollout) and the Delivery planning of "
                "9 November (Delivery)? Roles are being tidied by an administrator as we speak. Have a look at "
                "mine on both calendars just before, and where it is below writer, do nothing there and report it."
            ),
        ),
        (
            "field-turns-read-only",
            "rui.tavares",
            ("Rui Tavares", "Coaching", "2026-10-30"),
            ("Field operations", "Equipment check", "2026-11-10"),
            (
                "Please cancel my Coaching of 30 October, in my own calendar, and the Equipment check of 10 "
                "November in Field operations. They are changing our roles today. Read what mine is on each "
                "calendar before you change anything; if one is no longer enough for it, leave that date alone and "
                "let me know which role I am down to."
            ),
        ),
    ):
        yield _lost(world, slug=slug, actor=actor, reachable=reachable, lost=lost, prompt=prompt)


def _lost(
    world: World, *, slug: str, actor: str, reachable: tuple[str, str, str], lost: tuple[str, str, str], prompt: str
) -> Draft:
    acting, done, left = world.colleague(actor), world.event(*reachable), world.event(*lost)
    event = ScenarioEvent(world).change(world.rule(lost[0], acting.user), role="reader")
    entries = tuple(call("get_calendar_from_list", calendarId=row.calendar_id) for row in (done, left))
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "List the calendars, and find the two events.",
            "Read the role on each calendar: one has become reader meanwhile (ID-2).",
            "Cancel the event where the role suffices, and report the other one (REF-2).",
        ),
        gold=(
            LIST,
            events_of(world.calendar(reachable[0]), begins(done).date()),
            events_of(world.calendar(lost[0]), begins(left).date()),
            *entries,
            cancel(done),
        ),
        answer=(
            f"{done.summary} is cancelled. {left.summary} is not: on {lost[0]} you only have the role reader now, so I "
            "could not change it."
        ),
        verifiers=answer_admits(all_of([term(lost[0]), r"\breader?\b|\brole\b|\bread\b"])),
        tools=("get_calendar", "delete_event", "list_acl_rules", "patch_acl_rule"),
        events=(event.happens_after(FIRST_LOOK),),
        mistakes={"takes its role back": (set_role(world.rule(lost[0], acting.user), "owner"),)},
        negative_trajectories={
            "says that both are cancelled": NegativeTrajectory(
                (LIST, events_of(world.calendar(reachable[0]), begins(done).date()), cancel(done), cancel(left)),
                "Both are cancelled.",
            )
        },
    )
    return with_verifiers(world, draft, event)


FAMILIES = (occurrences_move, times_across_zones, holds_are_settled, minds_change, answers_come, roles_are_lost)
