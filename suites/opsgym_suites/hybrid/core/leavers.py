"""People who have left according to HR, and what other systems still have of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import cast

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, on_date, only_for, paired, term
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Event
from opsgym_domains.itsm.domain import DOMAIN as ITSM_DOMAIN
from opsgym_domains.itsm.tables import Incident
from opsgym_suites.calendar.calls import (
    LIST,
    begins,
    cancel,
    delete,
    events_of,
    find_person,
    on,
    read_event,
    rules_of,
    share,
    unshare,
    with_guests,
)
from opsgym_suites.calendar.seeds.world import World as CalendarWorld
from opsgym_suites.csm import calls as service
from opsgym_suites.hr import calls as hr_calls
from opsgym_suites.hr.calls import find_user, read_profile
from opsgym_suites.hr.seeds.world import World as HrWorld
from opsgym_suites.hybrid.cast import COMPANY, PEOPLE
from opsgym_suites.hybrid.servers import CALENDAR, CSM, HR, ITSM, VERIFIERS
from opsgym_suites.hybrid.systems import ELSEWHERE_ALLOWED, Systems
from opsgym_suites.itsm import calls as desk
from opsgym_suites.itsm.calls import find_incident, numbers, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World as ItsmWorld
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_gym
from opsgym_suites.kit.suite import Worlds
from opsgym_suites.kit.verifiers import answer_refuses, answer_says

NOTE = "Taken over from Sefton Grady."
LEAVERS = tuple(one.name for one in PEOPLE if one.left is not None)


def leavers(worlds: Worlds) -> Iterator[Draft]:
    """Tasks about leavers."""
    yield _technician(worlds)
    yield _by_a_reporter(worlds)
    systems = Systems(worlds)
    yield _checklist(systems)
    yield _place_on_a_calendar(systems)
    yield _contracts_clerk(systems)
    yield _rooms(systems)
    yield _private_meetings(systems)
    yield _ticked_by_others(systems)


def _technician(worlds: Worlds) -> Draft:
    """HR alone knows that the technician has left; his open incidents are found from one that the request names."""
    desk, hr = CompanyRecords(cast("ItsmWorld", worlds[ITSM.gym]), COMPANY), cast("HrWorld", worlds[HR.gym])
    named, quay = desk.incident("grady-printer"), desk.incident("quay-switch")
    leaver = desk.person("Sefton Grady")
    cases = desk.open_incidents(assigned_to=leaver.user_id)
    over = next(row for row in desk.world.all(Incident, assigned_to=leaver.user_id) if row not in cases)
    profile = hr.profile("Sefton Grady")
    handed = [
        update_incident(
            incident,
            assigned_to=quay.assigned_to,
            worknotes=f"{incident.worknotes} {NOTE}" if incident.worknotes else NOTE,
        )
        for incident in cases
    ]
    read = (
        *on_gym(HR.gym, find_user(hr.user("Sefton Grady")), read_profile(hr.user("Sefton Grady"))),
        *on_gym(ITSM.gym, find_incident(named), call("get_incidents_assigned_to", assigned_to=leaver.user_id)),
        *on_gym(ITSM.gym, find_incident(quay)),
    )
    draft = Draft(
        slug="leaver-technician",
        actor=hr.user("Sunniva Hale"),
        actors={HR.gym: hr.user("Sunniva Hale"), ITSM.gym: desk.person("Sunniva Hale")},
        prompt=(
            f"{named.number} does not move; it is with Sefton Grady, and I believe that he has left us. Check with HR. "
            f"If his last day is over, give all of his open incidents to the person who works on {quay.number}, each "
            f"with the work note '{NOTE}'. When was his last day, and which incidents were they?"
        ),
        plan=(
            "Look up Sefton Grady in HR, and the last day in his profile.",
            "Read the named incident; list what is assigned to the same person, and keep what is open (ITSM-USR-3).",
            "Assign each to the assignee of the other incident, with the note after the notes that are there.",
        ),
        gold=(*read, *on_gym(ITSM.gym, *handed)),
        answer=f"His last day was 30 October 2026. Nadia Okafor has his incidents now: {numbers(cases)}.",
        verifiers=(
            answer_says(
                "says_the_last_day", "The answer has the last day [REF-3]", on_date(date(2026, 10, 30))
            ),
            answer_says(
                "names_the_incidents", "The answer names each of them [REF-3]", all_of(row.number for row in cases)
            ),
        ),
        tools=("fetch_hr_profiles", "list_incidents", "get_user_using_name", "update_user_details"),
        evidence=(profile,),
        mistakes={
            "moves finished work too": on_gym(ITSM.gym, update_incident(over, assigned_to=quay.assigned_to)),
            "resolves the one that waits": on_gym(ITSM.gym, update_incident(named, status="in_progress")),
        },
        negative_trajectories={
            "trusts the request": NegativeTrajectory(
                (*read[2:], *on_gym(ITSM.gym, *handed)), f"He left on 30 October: {numbers(cases)}."
            )
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(worlds, draft, rules={ITSM.gym: {"update_incident": "USR-3"}})


def _by_a_reporter(worlds: Worlds) -> Draft:
    """The office manager owns the calendars of rooms, and only reports at the service desk."""
    desk = CompanyRecords(cast("ItsmWorld", worlds[ITSM.gym]), COMPANY)
    calendars = cast("CalendarWorld", worlds[CALENDAR.gym])
    dock, quay = desk.incident("grady-laptop"), desk.incident("quay-switch")
    reporter, owner = desk.person("Lavender Crewe"), calendars.colleague("lavender.crewe")
    read = (*on_gym(ITSM.gym, find_incident(dock), find_incident(quay)), *on_gym(CALENDAR.gym, LIST))
    take = on_gym(ITSM.gym, update_incident(dock, assigned_to=quay.assigned_to))
    describe = on_gym(
        CALENDAR.gym,
        call("patch_calendar", calendarId=calendars.calendar("Room Weir").calendar_id, description="No dock."),
    )
    draft = Draft(
        slug="reporter-hands-over",
        actor=reporter,
        actors={ITSM.gym: reporter, CALENDAR.gym: owner},
        prompt=(
            f"No one answers on {dock.number} since Sefton Grady is gone. Assign it to the person who works on "
            f"{quay.number}, and let the description of the calendar Room Weir read 'No dock.' until it is solved."
        ),
        plan=(
            "Read both incidents and the calendars.",
            "At the service desk the acting user is a reporter, who writes nothing: decline both parts.",
        ),
        gold=read,
        answer=(
            f"Nothing was changed. {dock.number} can only be assigned by agents, managers and admins of the service "
            "desk, and you are a reporter there; so Room Weir keeps its description, too."
        ),
        verifiers=answer_refuses(
            only_for("agent", "manager", "admin"), r"\breporters?\b", subject_pattern=term(dock.number)
        ),
        tools=("update_incident", "patch_calendar"),
        tags=(ELSEWHERE_ALLOWED,),
        feasible=False,
        access=Access.STRICT,
        evidence=(dock,),
        mistakes={"changes the calendar": describe},
        negative_trajectories={
            "assigns it all the same": NegativeTrajectory(
                (*read, *take), "It is assigned.", rule=f"ITSM-{_permission_rule()}"
            )
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(worlds, draft)


def _permission_rule() -> str:
    assert ITSM_DOMAIN.access is not None
    return ITSM_DOMAIN.access.permission_rule


# --- what is left to do ----------------------------------------------------------------------------------------------


def _checklist(systems: Systems) -> Draft:
    """HR's checklist names the part of the desk; the case has another owner and stays as it is."""
    case, leaver = systems.hr.case("leaver-blum"), "Dorothea Blum"
    (task,) = systems.hr.tasks(case)
    items = systems.hr.items(task)
    item = next(one for one in items if not one.checked)
    laptop, keeper = systems.laptop(leaver), systems.at_desk("Osric Bellamy")
    actors = systems.actors("Sunniva Hale", ITSM, HR)
    looked = (
        *on_gym(ITSM.gym, desk.find_user(systems.at_desk("Sunniva Hale")), desk.find_user(systems.at_desk(leaver))),
        *on_gym(HR.gym, call("list_hr_cases", opened_for=leaver), hr_calls.read_subject(case), hr_calls.tasks_of(case)),
        *on_gym(HR.gym, hr_calls.items_of(task)),
        *on_gym(
            ITSM.gym,
            call("get_incidents_assigned_to", assigned_to=systems.at_desk(leaver).user_id),
            call("find_configuration_items", owner_id=systems.at_desk(leaver).user_id),
            desk.find_user(keeper),
        ),
    )
    stocked = call(
        "update_configuration_item",
        configuration_item_id=laptop.configuration_item_id,
        owner_id=keeper.user_id,
        status="in_stock",
    )
    closed = call("update_user_details", user_id=systems.at_desk(leaver).user_id, active=False)
    ticked = on_gym(
        HR.gym, hr_calls.tick(item), hr_calls.update_task(task, status="closed_complete")
    )  # fmt: skip
    gold = (*looked, *on_gym(ITSM.gym, stocked, closed), *ticked)
    answer = (
        f"{laptop.name} ({laptop.serial_number}) is in stock with Osric Bellamy, Dorothea Blum's account at the desk "
        f"is inactive, and task {task.number} is complete; case {case.number} was left to Casper Onslow."
    )
    draft = Draft(
        slug="what-hr-waits-for",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "HR still waits for IT in the offboarding of Dorothea Blum. If her last day is over: see what is open on "
            "their list and do our part at the desk, put her laptop into stock under Osric Bellamy, then tick it off. "
            "If nothing else is open in that task of HR, it is complete. The case itself stays with Casper. Which "
            "laptop was it, by serial number?"
        ),
        plan=(
            "Find her case in HR, her last day, the task and its items; look up the account and devices at the desk.",
            "Put the laptop into stock, deactivate the account at the desk.",
            "Tick the item, and close the task as all items are ticked (HR-TSK-4); leave the case.",
        ),
        gold=gold,
        answer=answer,
        verifiers=(
            answer_says("names_the_laptop", "The answer names the laptop [REF-3]", term(str(laptop.serial_number))),
        ),
        tools=("update_hr_case", "update_incident", "list_users", "create_checklist"),
        mistakes={
            "moves the case on": on_gym(HR.gym, hr_calls.update_case(case, status="awaiting_acceptance")),
            "retires the laptop": on_gym(
                ITSM.gym,
                call(
                    "update_configuration_item",
                    configuration_item_id=laptop.configuration_item_id,
                    status="retired",
                ),
            ),
        },
        negative_trajectories={
            "ticks without doing it": NegativeTrajectory((*looked, *on_gym(ITSM.gym, stocked), *ticked), answer),
            "leaves the task open": NegativeTrajectory(gold[:-1], answer),
        },
    )
    rules = {ITSM.gym: {"update_user_details": "USR-3", "update_configuration_item": "ID-4"}}
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=rules)


def _place_on_a_calendar(systems: Systems) -> Draft:
    """Who writes in a calendar is in its rules, who is employed in HR, and who gets the place follows from both."""
    leaver, heir = "Dorothea Blum", "Fenella Stark"
    calendar = systems.calendars.calendar("Releases")
    boss = systems.in_hr("Wendell Achebe")
    gone = systems.calendars.rule("Releases", systems.colleague(leaver).user)
    busy_writer = systems.calendars.rule("Releases", systems.colleague("Anselm Pryor").user)
    testers = ("Beatrix Lowell", "Caspian Rowe", heir)
    actors = systems.actors("Wendell Achebe", HR, CALENDAR)
    looked = (
        *on_gym(
            HR.gym,
            hr_calls.find_user(boss),
            hr_calls.read_profile(boss),
            call("fetch_hr_profiles", manager=str(systems.hr.profile(boss).hr_profile_id)),
            *(hr_calls.read_user(systems.in_hr(name)) for name in (leaver, *testers)),
        ),
        *on_gym(CALENDAR.gym, LIST, rules_of(calendar), find_person(systems.colleague(heir).user)),
    )
    removed = on_gym(CALENDAR.gym, unshare(gone))
    given = on_gym(CALENDAR.gym, share(calendar, systems.colleague(heir).user, "writer"))
    answer = "Dorothea Blum has left and writes in Releases no more; Fenella Stark does now."
    draft = Draft(
        slug="a-place-on-releases",
        actor=actors[HR.gym],
        actors=actors,
        prompt=(
            "One of my people who may write in Releases is no longer employed, HR tells you which one. That person is "
            "to lose the calendar, and my tester in Sydney gets the same right instead. The others keep what they "
            "have. Whom did you take off, and whom did you add?"
        ),
        plan=(
            "Find the acting user's people in HR, with their last days, positions and countries.",
            "Read the rules of sharing of Releases.",
            "Delete the rule of who has left (CALENDAR-SHR-2), and share with the tester from Australia.",
        ),
        gold=(*looked, *removed, *given),
        answer=answer,
        verifiers=(answer_says("names_both", "The answer names both [REF-3]", all_of([term("Blum"), term("Stark")])),),
        tools=("patch_acl_rule", "list_users", "list_events", "delete_calendar"),
        evidence=(systems.hr.profile(leaver), systems.hr.profile(heir)),
        mistakes={
            "takes off who is at a conference": on_gym(CALENDAR.gym, unshare(busy_writer)),
            "adds another tester": on_gym(
                CALENDAR.gym, share(calendar, systems.colleague("Caspian Rowe").user, "writer")
            ),
        },
        negative_trajectories={
            "gives a lower role": NegativeTrajectory(
                (*looked, *removed, *on_gym(CALENDAR.gym, share(calendar, systems.colleague(heir).user, "reader"))),
                answer,
            ),
            "only removes": NegativeTrajectory((*looked, *removed), answer),
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft)


def _contracts_clerk(systems: Systems) -> Draft:
    """The account in customer service outlived the employment, and nothing is left to hand over."""
    leaver = systems.at_customers("Philippa Gow")
    world = systems.customers.world
    team = world.group("Contracts Office")
    calendar = systems.calendars.calendar("Customer visits")
    rule = systems.calendars.rule("Customer visits", systems.colleague("Philippa Gow").user)
    other = systems.calendars.rule("Customer visits", systems.colleague("Marguerite Sloane").user)
    actors = systems.actors("Tobiah Mercer", CSM, HR, CALENDAR)
    looked = (
        *on_gym(CSM.gym, service.find_user(systems.at_customers("Tobiah Mercer"))),
        *on_gym(HR.gym, hr_calls.find_user(systems.in_hr("Philippa Gow"))),
        *on_gym(
            CSM.gym,
            service.find_user(leaver),
            call("get_cases_assigned_to", assigned_to=leaver.user_id),
            call("list_user_groups"),
            call("list_group_members", group_id=team.group_id),
        ),
        *on_gym(CALENDAR.gym, LIST, rules_of(calendar)),
    )
    left = on_gym(CSM.gym, call("remove_group_membership", group_id=team.group_id, user_id=leaver.user_id))
    closed = on_gym(CSM.gym, call("update_user_details", user_id=leaver.user_id, active=False))
    unshared = on_gym(CALENDAR.gym, unshare(rule))
    answer = (
        "Philippa Gow is no longer active in HR. She had no open cases; she is out of Contracts Office, her account in "
        "customer service is inactive, and she is off Customer visits."
    )
    draft = Draft(
        slug="contracts-clerk-has-left",
        actor=actors[CSM.gym],
        actors=actors,
        prompt=(
            "I hear that Philippa Gow does not work with us any more. Look into HR. If her account is closed "
            "there, do in customer service all that our rules want when a member of staff leaves, with Tamsin Yarwood "
            "for whatever she had open, and see that she cannot write in Customer visits. If HR still has her as "
            "active, leave everything. How many cases went to Tamsin?"
        ),
        plan=(
            "Look her up in HR and in customer service, with her cases and groups; read the rules of the calendar.",
            "Nothing is open: remove the membership and deactivate the account (CSM-ACC-5).",
            "Delete the rule of sharing (CALENDAR-SHR-2).",
        ),
        gold=(*looked, *left, *closed, *unshared),
        answer=answer.replace("She had no open cases;", "No cases went to Tamsin;"),
        verifiers=(
            answer_says(
                "says_that_there_were_none", "The answer says that no case moved [REF-3]",
                r"\b(?:no|none|zero|0|without|nothing)\b[^.]*\b(?:case|cases|open|moved|Tamsin)\b|\b(?:case|cases)\b[^.]*"
                r"\b(?:none|zero|0|nothing)\b",
            ),
        ),
        tools=("update_case", "assign_case_to_user", "delete_acl_rule", "patch_acl_rule"),
        evidence=(systems.in_hr("Philippa Gow"),),
        mistakes={
            "takes off a reader": on_gym(CALENDAR.gym, unshare(other)),
            "takes the heir out too": on_gym(
                CSM.gym,
                call(
                    "remove_group_membership",
                    group_id=team.group_id,
                    user_id=systems.at_customers("Tamsin Yarwood").user_id,
                ),
            ),
        },
        negative_trajectories={
            "closes the account only": NegativeTrajectory((*looked, *closed, *unshared), answer),
            "does not look into HR": NegativeTrajectory(
                (looked[0], *looked[2:], *left, *closed, *unshared), answer
            ),
        },
    )  # fmt: skip
    rules = {CSM.gym: {"update_user_details": "ACC-5", "remove_group_membership": "ACC-5"}}
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules=rules)


def _rooms(systems: Systems) -> Draft:
    """Rooms are still booked for people whose accounts HR has closed."""
    actors = systems.actors("Lavender Crewe", HR, CALENDAR)
    rooms = [systems.calendars.calendar(f"Room {name}") for name in ("Weir", "Sluice")]
    gone = {systems.colleague(name).user_id for name in LEAVERS}
    days = on("11-17").date(), on("11-27").date()
    events = [row for room in rooms for row in systems.calendars.all(Event, calendar_id=room.calendar_id)]
    coming = [row for row in events if str(days[0]) <= row.start_datetime < "2026-11-28"]
    affected = [row for row in coming if any(user.user_id in gone for _, user in systems.calendars.guests(row))]
    untouched = next(row for row in coming if row not in affected)
    looked = (
        *on_gym(HR.gym, hr_calls.find_user(systems.in_hr("Lavender Crewe")), call("list_users", active=False)),
        *on_gym(CALENDAR.gym, LIST, *(events_of(room, *days) for room in rooms), *map(read_event, affected)),
    )
    cancelled = on_gym(CALENDAR.gym, *map(cancel, affected))
    answer = "Cancelled: " + ", ".join(f"{row.summary} on {begins(row).day} November" for row in affected) + "."
    draft = Draft(
        slug="rooms-of-those-who-left",
        actor=actors[HR.gym],
        actors=actors,
        prompt=(
            "rooms are short in london! weir and sluice still have bookings of people whose account hr has switched "
            "off. for tomorrow (17 november) up to and including the 27th, call those off, the usual way for something "
            "that has guests, so that the rooms get free. which ones were they and on what days?"
        ),
        plan=(
            "List the users whose accounts are inactive in HR.",
            "List what the two rooms have in these days, and find the bookings of those people.",
            "Cancel them (CALENDAR-EVT-5); do not delete.",
        ),
        gold=(*looked, *cancelled),
        answer=answer,
        verifiers=(
            answer_says(
                "names_the_days", "The answer has title and day of each [REF-3]",
                paired(*((term(str(row.summary)), on_date(begins(row))) for row in affected)),
            ),
        ),
        tools=("delete_event", "get_user_by_email", "get_user_using_email", "query_freebusy"),
        evidence=(systems.in_hr("Dorothea Blum"),),
        mistakes={
            "cancels another booking": on_gym(CALENDAR.gym, cancel(untouched)),
        },
        negative_trajectories={
            "deletes them": NegativeTrajectory((*looked, *on_gym(CALENDAR.gym, *map(delete, affected))), answer),
            "misses one": NegativeTrajectory((*looked, *cancelled[1:]), answer),
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={CALENDAR.gym: {"patch_event": "EVT-5"}})


def _private_meetings(systems: Systems) -> Draft:
    """A person's own meetings have guests who left; some have no one else, and one is with the leaver's successor."""
    name = "Jocasta Finn"
    actors = systems.actors(name, HR, CALENDAR)
    own = systems.own(name)
    gone = {systems.colleague(one).user_id for one in LEAVERS}
    events = [
        row for row in systems.calendars.all(Event, calendar_id=own.calendar_id) if row.start_datetime > "2026-11-17"
    ]
    affected = [row for row in events if any(user.user_id in gone for _, user in systems.calendars.guests(row))]
    alone = [row for row in affected if all(user.user_id in gone for _, user in systems.calendars.guests(row))]
    shared = [row for row in affected if row not in alone]
    untouched = next(row for row in events if systems.calendars.guests(row) and row not in affected)
    looked = (
        *on_gym(HR.gym, hr_calls.find_user(systems.in_hr(name)), call("list_users", active=False)),
        *on_gym(CALENDAR.gym, LIST, events_of(own, on("11-17").date(), on("12-31").date()), *map(read_event, affected)),
    )

    def staying(row: Event) -> ToolCall:
        leaver = next(user for _, user in systems.calendars.guests(row) if user.user_id in gone)
        return with_guests(systems.calendars, row, without=leaver)

    writes = on_gym(CALENDAR.gym, *map(cancel, alone), *map(staying, shared))
    answer = (
        f"{len(affected)} meetings had guests who have left: "
        + "; ".join(
            f"{row.summary} on {begins(row).day} {begins(row):%B} {'is cancelled' if row in alone else 'goes on'}"
            for row in affected
        )
        + "."
    )
    draft = Draft(
        slug="my-guests-have-left",
        actor=actors[HR.gym],
        actors=actors,
        prompt=(
            "From tomorrow to the end of the year some of my own meetings have guests who, by HR, have no active "
            "account any more. Call those off in which no one else would come. In the others take these people off the "
            "list of guests and leave everybody else with the answer that they gave. Which meetings did you call off?"
        ),
        plan=(
            "List the users whose accounts are inactive in HR, and the meetings with their guests.",
            "Cancel meetings without any other guest (CALENDAR-EVT-5), and take them off the others.",
        ),
        gold=(*looked, *writes),
        answer=answer,
        verifiers=(
            answer_says(
                "names_what_was_called_off", "The answer names what was called off [REF-3]",
                all_of([one for row in alone for one in (term(str(row.summary)), on_date(begins(row)))]),
            ),
        ),
        tools=("delete_event", "update_event", "get_user_using_name"),
        evidence=(systems.in_hr("Sefton Grady"),),
        mistakes={"calls off another meeting": on_gym(CALENDAR.gym, cancel(untouched))},
        negative_trajectories={
            "calls off all": NegativeTrajectory((*looked, *on_gym(CALENDAR.gym, *map(cancel, affected))), answer)
        } if shared else {
            "misses one": NegativeTrajectory((*looked, *writes[1:]), answer)
        },
    )  # fmt: skip
    return VERIFIERS.with_verifiers(systems.worlds, draft, rules={CALENDAR.gym: {"patch_event": "EVT-5"}})


def _ticked_by_others(systems: Systems) -> Draft:
    """The desk's admin may close the account, and only read in HR; both belong together."""
    case, leaver = systems.hr.case("leaver-blum"), systems.at_desk("Dorothea Blum")
    (task,) = systems.hr.tasks(case)
    item = next(one for one in systems.hr.items(task) if not one.checked)
    actors = systems.actors("Osric Bellamy", ITSM, HR)
    looked = (
        *on_gym(ITSM.gym, desk.find_user(systems.at_desk("Osric Bellamy")), desk.find_user(leaver)),
        *on_gym(
            HR.gym,
            call("list_hr_cases", opened_for="Dorothea Blum"),
            hr_calls.tasks_of(case),
            hr_calls.items_of(task),
            call("list_hr_cases", opened_by="Osric Bellamy"),
        ),
    )
    closed = on_gym(ITSM.gym, call("update_user_details", user_id=leaver.user_id, active=False))
    ticked = on_gym(HR.gym, hr_calls.tick(item))
    draft = Draft(
        slug="not-his-list-to-tick",
        actor=actors[ITSM.gym],
        actors=actors,
        prompt=(
            "Casper from HR nags me about Dorothea Blum. Close her account at the desk and tick the matching item in "
            "the checklist of her offboarding, so that I am rid of it. Tell me the number of the task when it is done."
        ),
        plan=(
            "Look up her account, her case in HR, its task and items.",
            "In HR the acting user is an employee, who only reads (HR-ID-2): decline both parts.",
        ),
        gold=looked,
        answer=(
            f"Nothing was changed. The item belongs to task {task.number} in HR, where only agents, managers and "
            "admins write and you are an employee; so the account at the desk stays open as well."
        ),
        verifiers=answer_refuses(
            only_for("agent", "manager", "admin"), r"\bemployees?\b", subject_pattern=term(task.number)
        ),
        tools=("update_user_details", "update_checklist", "update_hr_case_task"),
        tags=(ELSEWHERE_ALLOWED,),
        feasible=False,
        evidence=(case, task),
        mistakes={"closes the account": closed, "ticks the item": ticked},
        negative_trajectories={
            "does as asked": NegativeTrajectory((*looked, *closed, *ticked), f"Done, it is task {task.number}.")
        },
    )
    return VERIFIERS.with_verifiers(systems.worlds, draft)
