"""Tasks about who may do what: new project calendars, handovers, leavers, and lists of roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, term
from opsgym_api.tasks.event import Amendment
from opsgym_api.tasks.event import Event as Happening
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import AclRule, Calendar, Event, User
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
    rules_of,
    set_role,
    share,
    unshare,
)
from opsgym_suites.calendar.effects import NEW_CALENDAR
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.calendar.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.scenarios import FIRST_LOOK
from opsgym_suites.kit.verifiers import answer_says

# --- a new project ---------------------------------------------------------------------------------------------------


def new_projects(world: World) -> Iterator[Draft]:
    """A calendar is created, shared with the lowest roles that do, shown, and opened with a first meeting."""
    yield _project(
        world,
        slug="calendar-for-the-drone-fleet",
        actor="rui.tavares",
        title="Drone fleet",
        zone="Europe/Lisbon",
        roles={"joao.costa": "writer", "joao.m.costa": "freeBusyReader", "tiago.lopes": "reader"},
        kickoff="10-27 11:00",
        prompt=(
            'We start a project "Drone fleet" and I want a calendar of that name, Lisbon time. João Costa the surveyor '
            "(joao.costa@kestrelsurvey.example) enters flights himself, Tiago Lopes has to read what they are, and the "
            "João Costa of finance (joao.m.costa@kestrelsurvey.example) just needs to see when the fleet is out. In my "
            "list the calendar should appear as DF. First event: Kick-off, 27 October 11:00, one hour, with the "
            "surveyor and Tiago, and a popup half an hour before."
        ),
        shown="DF",
        present=("joao.costa", "tiago.lopes"),
    )
    yield _project(
        world,
        slug="calendar-for-the-audit",
        actor="nathan.brooks",
        title="SOC audit",
        zone="America/Toronto",
        roles={"owen.clarke": "writer", "priya.raman": "reader", "tom.whitaker": "freeBusyReader"},
        kickoff="11-02 10:00",
        prompt=(
            "New calendar please: SOC audit, Toronto time zone. Owen Clarke will be adding and changing events, Priya "
            "Raman reads along, and Tom Whitaker in legal must be able to see busy times, nothing more. Shown as "
            "Audit in my calendar list. And create Kick-off in it, Nov 2 10:00-11:00, Owen and Priya invited, popup "
            "reminder 30 minutes ahead."
        ),
        shown="Audit",
        present=("owen.clarke", "priya.raman"),
    )
    yield _project(
        world,
        slug="calendar-for-harbour-maps",
        actor="liam.walsh",
        title="Harbour maps",
        zone="Australia/Sydney",
        roles={"chloe.a.martin": "writer", "chloe.martin": "reader", "yuna.park@harborgrid.example": "freeBusyReader"},
        kickoff="10-29 14:00",
        prompt=(
            'Could you set up a "Harbour maps" calendar on Sydney time? Two Chloe Martins, careful: the surveyor '
            "(chloe.a.martin@kestrelsurvey.example) puts her trips in, the project manager "
            "(chloe.martin@kestrelsurvey.example) only reads. Yuna Park at Harborgrid (yuna.park@harborgrid.example) "
            "gets no more than free and busy. I want to see it as Harbour. Then a Kick-off on 29 October at 14:00, one "
            "hour, with both Chloes and a popup 30 minutes before."
        ),
        shown="Harbour",
        present=("chloe.a.martin", "chloe.martin"),
    )
    yield _project(
        world,
        slug="calendar-for-the-campaign",
        actor="hannah.weiss",
        title="Autumn campaign",
        zone="America/Vancouver",
        roles={"marcus.bell": "writer", "dale.hooper@harborgrid.example": "reader", "vera.novak": "reader"},
        kickoff="10-28 09:30",
        prompt=(
            "i need a calendar Autumn campaign, but on vancouver time because dale hooper runs it from there. marcus "
            "bell books things in it, dale (dale.hooper@harborgrid.example) and vera novak read the events. summary in "
            "my list: Campaign. kick-off wed 28 oct 09:30 vancouver time, 1 h, title Kick-off, guests dale + marcus, "
            "popup 30 min before"
        ),
        shown="Campaign",
        present=("dale.hooper@harborgrid.example", "marcus.bell"),
    )
    yield _project(
        world,
        slug="calendar-for-the-trainees",
        actor="marta.pinto",
        title="Trainees 2027",
        zone="Europe/Lisbon",
        roles={"sofia.almeida": "reader", "ines.carvalho": "writer", "rui.tavares": "freeBusyReader"},
        kickoff="11-03 15:00",
        prompt=(
            "For next year's trainees I'd like a calendar called Trainees 2027 in our Lisbon time zone. Inês "
            "Carvalho will enter and move the dates, Sofia Almeida wants to read them, Rui Tavares needs only "
            "know when it is busy. Let it show up as Trainees with me. The first meeting is Kick-off on 3 "
            "November at 15:00 for an hour with Inês and Sofia; remind us by popup 30 minutes before."
        ),
        shown="Trainees",
        present=("ines.carvalho", "sofia.almeida"),
    )


def _project(
    world: World,
    *,
    slug: str,
    actor: str,
    title: str,
    zone: str,
    roles: Mapping[str, str],
    kickoff: str,
    prompt: str,
    shown: str,
    present: Sequence[str],
    amendment: Amendment | None = None,
    requested: Mapping[str, str] | None = None,
) -> Draft:
    """`requested` are roles that the request asks for and the amendment of the policy does not allow."""
    acting = world.colleague(actor)
    people = {name: world.person(name) for name in roles}
    rules = tuple(share(NEW_CALENDAR, people[name], role) for name, role in roles.items())
    meeting = create(
        NEW_CALENDAR,
        "Kick-off",
        on(kickoff),
        60,
        zone,
        attendees=[guest(people[name]) for name in present],
        reminders={"useDefault": False, "overrides": [{"method": "popup", "minutes": 30}]},
    )
    looked = (LIST, *map(find_person, people.values()))
    made = call("create_calendar", summary=title, timeZone=zone)
    named = call("update_calendar_in_list", calendarId=NEW_CALENDAR, summaryOverride=shown)
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Look up the people by address; two have the same name (LKP-1).",
            "Create the calendar with its time zone and share it with the lowest role that each one needs (SHR-1).",
            "Set the title in the list, and create the first meeting with its guests and its reminder (EVT-7).",
        ),
        gold=(*looked, made, *rules, named, meeting),
        answer=f"{title} exists and is shared with {len(roles)} people; the Kick-off is in it.",
        verifiers=(answer_says("names_the_calendar", "The answer names the calendar [REF-3]", term(title)),),
        tools=("patch_acl_rule", "delete_acl_rule", "patch_calendar", "list_acl_rules"),
        mistakes={
            "shares with a writer too many": (share(NEW_CALENDAR, world.person("pedro.rocha"), "writer"),),
            "enters a second meeting": (meeting,),
        },
        also={"shares last": Solution((*looked, made, named, meeting, *reversed(rules)))},
        **_amended(
            amendment,
            (
                *looked,
                made,
                *(share(NEW_CALENDAR, people[n], r) for n, r in {**roles, **(requested or {})}.items()),
                named,
                meeting,
            ),
        ),
    )
    return with_verifiers(world, draft, rules={"create_event": "EVT-1, EVT-7"})


def _amended(amendment: Amendment | None, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """What a task has in which the policy changes after the first step, by the calls of who does not notice."""
    if amendment is None:
        return {}
    return {
        "events": (Happening(after_step=FIRST_LOOK, amend=amendment),),
        "negative_trajectories": {
            "follows the old policy": NegativeTrajectory(tuple(calls), "All is set up as asked.")
        },
    }


# --- a handover ----------------------------------------------------------------------------------------


def handovers(world: World) -> Iterator[Draft]:
    """A calendar's work goes to another person: roles, a description, and a meeting that belongs elsewhere."""
    yield _handover(
        world,
        slug="contour-goes-to-aisha",
        actor="chloe.martin",
        calendar="Project Contour",
        to="aisha.rahman",
        lowered="chloe.a.martin",
        newcomer="tom.whitaker",
        meeting=("Project Contour", "Contour field brief", "2026-11-02"),
        notice="Survey of the northern beaches. Dates: Aisha Rahman.",
        prompt=(
            "From today Aisha Rahman keeps the dates of Project Contour: let her change events there. Chloe Martin the "
            "surveyor will only read from now on, and Tom Whitaker, who is new to it, should see when it is busy. The "
            "Contour field brief of Monday 2 November is really mine, put that one into my own calendar. And the "
            'description becomes "Survey of the northern beaches. Dates: Aisha Rahman."'
        ),
    )
    yield _handover(
        world,
        slug="atlas-goes-to-leila",
        actor="sofia.almeida",
        calendar="Project Atlas",
        to="leila.haddad",
        lowered="pedro.rocha",
        newcomer="beatriz.nunes",
        meeting=("Project Atlas", "Atlas tile review", "2026-11-09"),
        notice="New base map. Dates: Leila Haddad.",
        newcomer_role="reader",
        prompt=(
            "leila takes over the diary of Project Atlas, so she must be able to edit events; pedro rocha goes down to "
            "reading. beatriz nunes joins and reads the events too. the Atlas tile review of 9 november is a product "
            'thing: move it to the Product calendar. description of the atlas calendar: "New base map. Dates: Leila '
            'Haddad."'
        ),
        destination="Product",
    )
    yield _handover(
        world,
        slug="meridian-goes-to-ben",
        actor="nathan.brooks",
        calendar="Project Meridian",
        to="ben.fraser",
        lowered="owen.clarke",
        newcomer="pedro.rocha",
        meeting=("Project Meridian", "Meridian cutover check", "2026-11-06"),
        notice="Move of the tile servers. Dates: Ben Fraser.",
        prompt=(
            "Ben Fraser runs the Meridian diary now. Give him what he needs to change events in Project Meridian, take "
            "Owen Clarke down to reader, and let Pedro Rocha see busy times only. The cutover check of Friday November "
            '6 goes to the Platform team calendar. Change the description to "Move of the tile servers. Dates: Ben '
            'Fraser." - thanks!'
        ),
        destination="Platform team",
    )
    yield _handover(
        world,
        slug="rollout-goes-to-marcus",
        actor="liam.walsh",
        calendar="Terralens rollout",
        to="marcus.bell",
        lowered="aisha.rahman",
        newcomer="elena.rossi@terralens.example",
        newcomer_role="reader",
        meeting=("Terralens rollout", "Rollout sync", "2026-11-10"),
        notice="Training and go-live at Terralens. Dates: Marcus Bell.",
        prompt=(
            "Marcus Bell will look after the Terralens rollout calendar, which means he edits it; until now he "
            "saw no more than busy times. Aisha Rahman needs to read only. elena.rossi@terralens.example "
            "should be able to read it as well, the way Kofi does. The Rollout sync on 10 November belongs "
            'into Delivery, please move it. New description: "Training and go-live at Terralens. Dates: Marcus '
            'Bell."'
        ),
        destination="Delivery",
    )
    yield _handover(
        world,
        slug="sales-diary-goes-to-sam",
        actor="hannah.weiss",
        calendar="Sales",
        to="vera.novak",
        lowered="marcus.bell",
        newcomer="leila.haddad",
        meeting=("Sales", "Forecast call", "2026-11-06"),
        notice="Calls and visits of customers. Dates: Vera Novak.",
        prompt=(
            "I go on leave in November and Vera herself wants to keep the Sales calendar: she needs to be able "
            "to edit. Marcus Bell shall read only while I am away, and Leila Haddad gets to see when Sales is "
            "busy. The Forecast call of 6 November I still hold on my own, so it moves to my personal "
            "calendar. The calendar's description should say \"Calls and visits of customers. Dates: Vera "
            'Novak."'
        ),
    )


def _handover(
    world: World,
    *,
    slug: str,
    actor: str,
    calendar: str,
    to: str,
    lowered: str,
    newcomer: str,
    meeting: tuple[str, str, str],
    notice: str,
    prompt: str,
    newcomer_role: str = "freeBusyReader",
    destination: str | None = None,
) -> Draft:
    acting, home, event = world.colleague(actor), world.calendar(calendar), world.event(*meeting)
    target = world.calendar(destination) if destination else world.primary(acting.user)
    people = [world.person(name) for name in (to, lowered, newcomer)]
    raised, lower = world.rule(calendar, people[0]), world.rule(calendar, people[1])
    another = next(row for row in world.series(*meeting[:2]) if begins(row) > begins(event))

    def moved(row: Event) -> object:
        return call("move_event", calendarId=home.calendar_id, eventId=row.event_id, destination=target.calendar_id)

    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Look up the people, and read the rules of the calendar: two of the three have one already (SHR-3).",
            "Change these two roles, add the third one, each as low as it can be (SHR-1).",
            "Move the one occurrence to the other calendar, and change the description.",
        ),
        gold=(
            LIST,
            *map(find_person, people),
            rules_of(home),
            events_of(home, begins(event).date()),
            set_role(raised, "writer"),
            set_role(lower, "reader"),
            share(home, people[2], newcomer_role),
            moved(event),  # type: ignore[arg-type]
            call("patch_calendar", calendarId=home.calendar_id, description=notice),
        ),
        answer=(
            f"{people[0].name} edits {calendar} now, {people[1].name} reads it, and {people[2].name} is added. "
            f"{event.summary} of {begins(event).day} {begins(event):%B} is in {target.summary}."
        ),
        verifiers=(
            answer_says(
                "names_the_people", "The answer names whose roles changed [REF-3]", all_of(term(p.name) for p in people)
            ),
        ),
        tools=("delete_acl_rule", "update_acl_rule", "update_calendar", "patch_event"),
        mistakes={
            "adds a second rule": (share(home, people[0], "writer"),),
            "gives the role owner": (set_role(raised, "owner"),),
            "moves the next occurrence too": (moved(another),),  # type: ignore[dict-item]
        },
    )
    return with_verifiers(world, draft)


# --- a leaver -------------------------------------------------------------------------------------------------


def leavers(world: World) -> Iterator[Draft]:
    """A leaver's rules go, a successor gets the role, and what is left in the calendar is called off."""
    yield _leaver(
        world,
        slug="daniel-leaves-platform",
        actor="nathan.brooks",
        leaver="daniel.frost",
        calendars=("Platform team", "Project Meridian"),
        successor="beatriz.nunes",
        meeting=("Platform team", "Handing over of alerts"),
        entry=("Platform team", "On call: Daniel Frost"),
        prompt=(
            "Daniel Frost is gone. He must not have any role left on Platform team and Project Meridian. Beatriz Nunes "
            "steps in on Platform team only, with the role he had there. His entry On call: Daniel Frost (Oct 26) can "
            "go, and the meeting Handing over of alerts on Oct 27 won't happen."
        ),
    )
    yield _leaver(
        world,
        slug="daniel-leaves-the-field",
        actor="rui.tavares",
        leaver="daniel.frost",
        calendars=("Field operations",),
        successor="sofia.almeida",
        meeting=("Field operations", "Drone check"),
        entry=("Field operations", "Drone licence: Daniel Frost"),
        prompt=(
            "Daniel Frost has left the company, as you may have heard. Please take him off Field operations; Sofia "
            "Almeida will do there what he could do. The Drone check with him on 29 October falls through, and the "
            "entry about his drone licence on the 28th is of no use any more."
        ),
    )
    yield _leaver(
        world,
        slug="daniel-leaves-sales",
        actor="hannah.weiss",
        leaver="daniel.frost",
        calendars=("Sales",),
        successor="leila.haddad",
        meeting=("Sales", "Technical questions"),
        entry=("Sales", "Demo account: Daniel Frost"),
        prompt=(
            "clean-up after daniel frost in Sales: his access out, leila haddad in with the same (she had none "
            "so far). Technical questions on oct 30 was with him -> call it off. the note about his demo "
            "account on the 29th -> gone. nothing else, thx"
        ),
    )
    yield _leaver(
        world,
        slug="ben-leaves-delivery",
        actor="liam.walsh",
        leaver="ben.fraser",
        calendars=("Delivery",),
        successor="chloe.a.martin",
        meeting=("Delivery", "Review of the kit list"),
        entry=("Delivery", "Car pool: Ben Fraser"),
        prompt=(
            "Ben Fraser changes to another firm. In Delivery, his rule has to go; Chloe Martin, the surveyor, "
            "gets what he had (her rule says none at the moment, I believe). The Review of the kit list with "
            "Ben on 30 October is off, and his car pool entry of the 29th should disappear."
        ),
    )
    yield _leaver(
        world,
        slug="pedro-leaves-product",
        actor="sofia.almeida",
        leaver="pedro.rocha",
        calendars=("Product", "Project Atlas"),
        successor="hannah.weiss",
        meeting=("Product", "Numbers of use"),
        entry=("Product", "Licence of the plotter: Pedro Rocha"),
        prompt=(
            "As of today Pedro Rocha no longer works for us. Kindly remove him from the sharing of Product and of "
            "Project Atlas. In Product, Hannah Weiss follows him and may do as much as he could. Numbers of use on "
            "28 October was a talk with him: cancel it by the rules. His plotter licence of 27 October is a mere note "
            "and can go too."
        ),
    )


def _leaver(
    world: World,
    *,
    slug: str,
    actor: str,
    leaver: str,
    calendars: Sequence[str],
    successor: str,
    meeting: tuple[str, str],
    entry: tuple[str, str],
    prompt: str,
) -> Draft:
    """The successor may have a rule already, which is changed instead of adding one."""
    acting, gone, next_one = world.colleague(actor), world.person(leaver), world.person(successor)
    homes = [world.calendar(name) for name in calendars]
    rules = [world.rule(name, gone) for name in calendars]
    own = world.all(AclRule, calendar_id=homes[0].calendar_id, scope_id=world.scope(next_one).id)
    role = rules[0].role
    stepped_in = set_role(own[0], role) if own else share(homes[0], next_one, role)
    off, note = world.event(*meeting), world.event(*entry)
    other_rule = next(
        row
        for row in world.all(AclRule, calendar_id=homes[0].calendar_id)
        if row not in [*rules, *own] and row.role != "owner"
    )
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {gone.name} and {next_one.name}, and read the rules of {', '.join(calendars)}.",
            (
                "Delete the leaver's rules (SHR-2); the successor gets the role, by the rule that exists if there "
                "is one (SHR-3)."
            ),
            "Cancel the meeting, which has a guest, and delete the entry, which has none (EVT-5).",
        ),
        gold=(
            LIST,
            find_person(gone),
            find_person(next_one),
            *map(rules_of, homes),
            events_of(homes[0], begins(min(off, note, key=begins)).date(), begins(max(off, note, key=begins)).date()),
            *map(unshare, rules),
            stepped_in,
            cancel(off),
            delete(note),
        ),
        answer=(
            f"{gone.name} has no role on {' and '.join(calendars)} any more; {next_one.name} has the role {role} on "
            f"{calendars[0]}. The meeting is cancelled, the entry deleted."
        ),
        verifiers=(answer_says("names_the_role", "The answer names the successor's role [REF-3]", term(role)),),
        tools=("update_acl_rule", "patch_calendar", "move_event", "get_event"),
        mistakes={
            "deletes another rule": (unshare(other_rule),),
            "deletes the meeting": (delete(off),),
        },
    )
    return with_verifiers(world, draft)


# --- a list of roles -------------------------------------------------------------------------------------------------


def role_lists(world: World) -> Iterator[Draft]:
    """Rules become what a list says: some change, some go, some are new, and some are right already."""
    yield _list(
        world,
        slug="roles-of-field-operations",
        actor="rui.tavares",
        calendar="Field operations",
        target={
            "joao.costa": "writer",
            "chloe.a.martin": "reader",
            "tiago.lopes": "writer",
            "joao.m.costa": "freeBusyReader",
            "sofia.almeida": "reader",
            "aisha.rahman": "freeBusyReader",
        },
        prompt=(
            "These are the people who shall have something in Field operations, besides me: João Costa "
            "(surveyor) and Tiago Lopes edit; Chloe Martin, the surveyor, and Sofia Almeida read; João Costa "
            "of finance and Aisha Rahman see busy times. All other people in there go. How many rules did you "
            "touch?"
        ),
    )
    yield _list(
        world,
        slug="roles-of-meridian",
        actor="nathan.brooks",
        calendar="Project Meridian",
        target={
            "priya.raman": "writer",
            "owen.clarke": "reader",
            "ben.fraser": "reader",
            "tom.whitaker": "freeBusyReader",
        },
        prompt=(
            "Project Meridian sharing should be: Priya Raman edit, Owen Clarke and Ben Fraser read, Tom "
            "Whitaker free/busy. No one else but me. Bring it in line and tell me the number of rules you "
            "changed, added or removed."
        ),
    )
    yield _list(
        world,
        slug="roles-of-product",
        actor="sofia.almeida",
        calendar="Product",
        target={
            "leila.haddad": "writer",
            "pedro.rocha": "writer",
            "nathan.brooks": "freeBusyReader",
            "joao.costa": "reader",
        },
        prompt=(
            "who may do what in Product, new list: leila haddad + pedro rocha edit, joão costa (the surveyor) "
            "reads, nathan brooks just busy times. everyone not on the list is out, me excepted. pls report "
            "how many rules you touched in all"
        ),
    )
    yield _list(
        world,
        slug="roles-of-delivery",
        actor="liam.walsh",
        calendar="Delivery",
        target={"chloe.martin": "reader", "chloe.a.martin": "writer", "ben.fraser": "reader", "aisha.rahman": "writer"},
        prompt=(
            "I have revised who is who on the Delivery calendar. Editing: Aisha Rahman and the Chloe Martin "
            "who surveys. Reading: Ben Fraser and the Chloe Martin who manages projects. I remain the owner "
            "and no one else stays. Would you adjust the rules, and count for me those that you had to change, "
            "add or delete?"
        ),
    )
    yield _list(
        world,
        slug="roles-of-contour",
        actor="chloe.martin",
        calendar="Project Contour",
        target={
            "chloe.a.martin": "writer",
            "ben.fraser": "writer",
            "aisha.rahman": "reader",
            "yuna.park@harborgrid.example": "freeBusyReader",
            "dale.hooper@harborgrid.example": "freeBusyReader",
        },
        prompt=(
            "Could you make Project Contour match this: my namesake the surveyor and Ben Fraser can edit, "
            "Aisha Rahman can read, and at Harborgrid yuna.park@harborgrid.example and "
            "dale.hooper@harborgrid.example see only when we're busy. Anyone who's not named loses access, "
            "except me of course. And how many rules was that?"
        ),
    )


def _list(
    world: World,
    *,
    slug: str,
    actor: str,
    calendar: str,
    target: Mapping[str, str],
    prompt: str,
    amendment: Amendment | None = None,
    requested: Mapping[str, str] | None = None,
    access: Access = Access.PUBLISHED,
    refused: Mapping[str, str] | None = None,
) -> Draft:
    """`requested` are roles that the request asks for and the amendment of the policy does not allow; `refused` is a
    role that access `strict` refuses.
    """
    acting, home = world.colleague(actor), world.calendar(calendar)
    people = {name: world.person(name) for name in target}
    scopes = {world.scope(user).id: target[name] for name, user in people.items()}
    rules = [row for row in world.all(AclRule, calendar_id=home.calendar_id) if row.role != "owner"]
    known = {row.scope_id for row in rules}
    changed = [row for row in rules if scopes.get(row.scope_id, row.role) != row.role]
    removed = [row for row in rules if row.scope_id not in scopes]
    added = [name for name in target if world.scope(people[name]).id not in known]
    right = next(row for row in rules if scopes.get(row.scope_id) == row.role)
    colleagues = {world.scope(user).id for user in people.values() if user.email.endswith(world.company.domain)}
    other_rule = next(row for row in rules if row.scope_id in colleagues)
    number = len(changed) + len(removed) + len(added)
    looked = (LIST, *map(find_person, people.values()), rules_of(home))
    more = _amended(
        amendment, (*looked, *(_given(world, home, world.person(n), r) for n, r in (requested or {}).items()))
    )
    for name, role in (refused or {}).items():
        path = (*looked, _given(world, home, world.person(name), role))
        more = {"negative_trajectories": {"gives a role too high": NegativeTrajectory(path, "Done.", "PRC-1")}}
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            "Look up everybody on the list by address, and read the rules of the calendar.",
            "Change the roles that differ, add those that are missing (SHR-3), delete the rules of all others.",
            "Leave the rules that are right already, and count the rest.",
        ),
        gold=(
            LIST,
            *map(find_person, people.values()),
            rules_of(home),
            *(set_role(row, scopes[row.scope_id]) for row in changed),
            *map(unshare, removed),
            *(share(home, people[name], target[name]) for name in added),
        ),
        answer=(
            f"{calendar} is as you want it. I touched {number} rules: {len(changed)} changed, {len(removed)} deleted, "
            f"{len(added)} new."
        ),
        verifiers=(answer_says("counts_the_rules", "The answer counts the rules [REF-3]", rf"\b{number}\b"),),
        tools=("update_acl_rule", "get_acl_rule", "patch_calendar", "get_calendar"),
        mistakes={
            "deletes one that is right": (unshare(right),),
            "makes a colleague an owner": (set_role(other_rule, "owner"),),
        },
        access=access,
        **more,
    )
    return with_verifiers(world, draft, rules={"delete_acl_rule": "SHR-1"})


def _given(world: World, home: Calendar, user: User, role: str) -> ToolCall:
    """The call that gives a role, by the rule that exists if there is one."""
    rules = world.all(AclRule, calendar_id=home.calendar_id, scope_id=world.scope(user).id)
    return set_role(rules[0], role) if rules else share(home, user, role)


def policy_changes(world: World) -> Iterator[Draft]:
    """While the agent works, the policy gets a rule that forbids a part of what was asked as it was asked."""
    outside = Amendment(rule="SHR-4", text="People outside the company get the role freeBusyReader and no higher one.")
    few = Amendment(
        rule="SHR-5", text="A calendar has at most one writer besides its owner: the first one that is named."
    )
    yield _project(
        world,
        slug="campaign-under-a-new-rule",
        actor="hannah.weiss",
        title="Winter campaign",
        zone="America/Toronto",
        roles={"sam.okafor": "writer", "yuna.park@harborgrid.example": "freeBusyReader", "leila.haddad": "reader"},
        requested={"yuna.park@harborgrid.example": "reader"},
        amendment=outside,
        kickoff="10-29 11:00",
        prompt=(
            "Let's have a Winter campaign calendar, Toronto zone, shown as Winter in my list. Sam Okafor edits, Leila "
            "Haddad reads, yuna.park@harborgrid.example reads as well unless our policy is against it; then as much as "
            "it allows. Kick-off there on October 29, 11:00, an hour, Sam and Leila invited, popup 30 minutes before."
        ),
        shown="Winter",
        present=("sam.okafor", "leila.haddad"),
    )
    yield _project(
        world,
        slug="coast-maps-with-one-writer",
        actor="sofia.almeida",
        title="Coast maps",
        zone="Europe/Lisbon",
        roles={"beatriz.nunes": "writer", "tiago.lopes": "reader", "pedro.rocha": "freeBusyReader"},
        requested={"tiago.lopes": "writer"},
        amendment=few,
        kickoff="10-30 14:00",
        prompt=(
            "pls create a calendar Coast maps (lisbon time, shown as Coast in my list). beatriz nunes and "
            "tiago lopes edit if the rules let both of them, the one who may not edit reads. pedro rocha only busy "
            "times. and a Kick-off fri 30 oct 14:00, 1h, with beatriz + tiago, popup 30 min before"
        ),
        shown="Coast",
        present=("beatriz.nunes", "tiago.lopes"),
    )
    yield _list(
        world,
        slug="rollout-roles-under-a-new-rule",
        actor="liam.walsh",
        calendar="Terralens rollout",
        target={
            "aisha.rahman": "writer",
            "kofi.mensah@terralens.example": "freeBusyReader",
            "elena.rossi@terralens.example": "freeBusyReader",
        },
        requested={"elena.rossi@terralens.example": "reader"},
        amendment=outside,
        prompt=(
            "On Terralens rollout I want Aisha Rahman to edit. Kofi Mensah and Elena Rossi, both first.last@terralens."
            "example, may read, or whatever is the most that our policy gives people outside. Take the others off, me "
            "excepted, and tell me how many rules that took."
        ),
    )
    yield _list(
        world,
        slug="sales-roles-with-one-writer",
        actor="hannah.weiss",
        calendar="Sales",
        target={
            "sam.okafor": "writer",
            "marcus.bell": "reader",
            "vera.novak": "reader",
            "leila.haddad": "freeBusyReader",
        },
        requested={"leila.haddad": "freeBusyReader"},
        amendment=few,
        prompt=(
            "Please bring the sharing of Sales to this: Sam Okafor and Marcus Bell as editors, in this order, "
            "in case the policy caps their number (then the other one reads). Vera Novak reads, Leila Haddad "
            "gets busy times only. No one else but me stays. Say how many rules you had to change, add or "
            "delete."
        ),
    )


def enforced_lists(world: World) -> Iterator[Draft]:
    """Lists of roles in access `strict`, where a role for a person outside is refused if it is too high."""
    yield _list(
        world,
        slug="contour-readers-enforced",
        actor="chloe.martin",
        calendar="Project Contour",
        target={"chloe.a.martin": "writer", "ben.fraser": "writer", "yuna.park@harborgrid.example": "freeBusyReader"},
        refused={"yuna.park@harborgrid.example": "writer"},
        access=Access.STRICT,
        prompt=(
            "For Project Contour: Ben Fraser edits from now on, Chloe Martin (the surveyor, not me) goes on editing, "
            "yuna.park@harborgrid.example sees busy times. Remove the rest, but leave me in. How many rules "
            "did you change or delete?"
        ),
    )
    yield _list(
        world,
        slug="atlas-readers-enforced",
        actor="sofia.almeida",
        calendar="Project Atlas",
        target={"tiago.lopes": "writer", "pedro.rocha": "reader", "elena.rossi@terralens.example": "freeBusyReader"},
        refused={"elena.rossi@terralens.example": "owner"},
        access=Access.STRICT,
        prompt=(
            "Project Atlas gets a smaller circle. Tiago Lopes keeps editing, Pedro Rocha just reads, and "
            "elena.rossi@terralens.example of Terralens has no more than busy times. All others out (I stay, "
            "of course). Count the rules for me, changed and deleted ones."
        ),
    )
    yield _list(
        world,
        slug="rollout-readers-enforced",
        actor="liam.walsh",
        calendar="Terralens rollout",
        target={"aisha.rahman": "reader", "kofi.mensah@terralens.example": "reader", "ben.fraser": "writer"},
        refused={"kofi.mensah@terralens.example": "writer"},
        access=Access.STRICT,
        prompt=(
            "terralens rollout calendar: ben fraser edits, aisha rahman reads only, "
            "kofi.mensah@terralens.example reads as he does now, everyone else except me gone. number of rules "
            "touched pls"
        ),
    )
    yield _list(
        world,
        slug="sales-readers-enforced",
        actor="hannah.weiss",
        calendar="Sales",
        target={"marcus.bell": "writer", "sam.okafor": "reader", "dale.hooper@harborgrid.example": "reader"},
        refused={"dale.hooper@harborgrid.example": "writer"},
        access=Access.STRICT,
        prompt=(
            "I would like the Sales calendar to be edited by Marcus Bell only, and read by Sam Okafor as well as by "
            "dale.hooper@harborgrid.example. All others on it, apart from myself, are to be removed. Let me know the "
            "count of rules that were changed, added or deleted."
        ),
    )


FAMILIES = (policy_changes, enforced_lists, new_projects, handovers, leavers, role_lists)
