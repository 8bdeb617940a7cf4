"""Work that takes days: the clock moves while the agent works, and with it what may be done.

Invariant: the clock moves once the agent has written what the time is needed for, and never before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import number, on_date
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, Incident, IncidentSla, User
from opsgym_suites.itsm.calls import find_incident, find_user, notify, update_incident
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.records import OPEN, CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, Solution, call
from opsgym_suites.kit.scenarios import answer_admits, days
from opsgym_suites.kit.verifiers import answer_says, count, figures
from opsgym_suites.kit.world import NOW

# --- closing -------------------------------------------------------------------------------------------------------


def closures(world: World) -> Iterable[Draft]:
    """Resolved and, if enough days have passed by then, closed."""
    yield _closed_after_three_days(world)
    yield _two_days_are_not_enough(world)


@dataclass(frozen=True)
class _Solved:
    """An incident that a user has solved, and the calls that record it."""

    records: CompanyRecords
    incident: Incident
    by: str
    code: str
    notes: str

    @property
    def looked(self) -> tuple[ToolCall, ...]:
        caller = call("get_user", user_id=self.incident.caller_id)
        return (find_user(self.records.person(self.by)), find_incident(self.incident), caller)

    @property
    def resolved(self) -> ToolCall:
        return update_incident(
            self.incident,
            status="resolved",
            resolution_code=self.code,
            resolution_notes=self.notes,
            resolved_by=self.records.person(self.by).user_id,
        )

    @property
    def notified(self) -> ToolCall:
        number, caller = self.incident.number, self.records.caller(self.incident)
        return notify(self.incident, caller, "solution_proposal", f"{number} is solved", f"{number}: {self.notes}")

    @property
    def closed(self) -> ToolCall:
        return update_incident(self.incident, status="closed", close_notes="No objection within three days.")

    @property
    def is_resolved(self) -> str:
        return count(Incident, incident_id=self.incident.incident_id, status="resolved")


def _closed_after_three_days(world: World) -> Draft:
    """Three days have passed when the agent looks again."""
    records = CompanyRecords(world, "Halden Freight")
    incident = records.incident("gateway-south")
    solved = _Solved(
        records, incident, "Ravi Menon", "Solution Provided", "Antenna of the gateway was loose; fastened."
    )
    later = ScenarioEvent(world, days(3.1))
    return with_scenario_verifiers(
        Draft(
            slug="close-after-three-days",
            actor=records.person(solved.by),
            prompt=(
                f'{incident.number} is solved, by me: "{solved.notes}" The fault is gone. Please resolve it, in due '
                "form. "
                "This conversation goes on for some days. When you have resolved it, see whether it can be closed by "
                "now, and close it if so."
            ),
            plan=(
                "Look up Ravi, the incident and its caller.",
                "Resolve it in one call, with code, notes and resolver; propose the solution to the caller (INC-7).",
                "Look again: more than three days have passed since it was resolved.",
                "Close it, with close notes (INC-9).",
            ),
            gold=(*solved.looked, solved.resolved, solved.notified, find_incident(incident), solved.closed),
            answer=f"{incident.number} was resolved, and after three days without an objection it is closed now.",
            verifiers=(
                answer_says("says_that_it_is_closed", "The answer says that it is closed [REF-3]", r"\bclosed\b"),
            ),
            tools=("list_incidents", "find_notifications_sent_for_incident", "get_user_using_email"),
            access=Access.STRICT,
            events=(later.happens_when(solved.is_resolved),),
            negative_trajectories={
                "does not look again": NegativeTrajectory(
                    (*solved.looked, solved.resolved, solved.notified),
                    f"{incident.number} is resolved. It can be closed in three days.",
                ),
                "closes it at once": NegativeTrajectory(
                    (*solved.looked, solved.closed, solved.notified), f"{incident.number} is closed.", "INC-9"
                ),
                "forgets who solved it": NegativeTrajectory(
                    (
                        *solved.looked,
                        update_incident(
                            incident, status="resolved", resolution_code=solved.code, resolution_notes=solved.notes
                        ),
                        solved.notified,
                    ),
                    f"{incident.number} is resolved.",
                    "INC-7",
                ),
            },
        ),
        later,
        world=world,
        rules={"update_incident": "INC-7, INC-9", "send_notification": "INC-7, NTF-3"},
    )


def _two_days_are_not_enough(world: World) -> Draft:
    """Two days have passed; the closure has to wait for the third."""
    records = CompanyRecords(world, "Mirelle Botanics")
    incident = records.incident("queue-2")
    solved = _Solved(
        records, incident, "Theo Marchand", "Workaround Provided", "Export goes through the night job for now."
    )
    later = ScenarioEvent(world, days(2))
    ready = NOW + timedelta(days=3)
    return with_scenario_verifiers(
        Draft(
            slug="close-after-two-days",
            actor=records.person(solved.by),
            prompt=(
                f"Please resolve {incident.number} for me. The export itself is still broken, so what I have is this: "
                f'"{solved.notes}" I leave the conversation open until the day after tomorrow. Close the incident '
                "before I end it, if that is possible then; otherwise tell me from when on it is."
            ),
            plan=(
                "Look up Theo, the incident and its caller.",
                "Resolve it with Workaround Provided, since the fault remains (INC-8); tell the caller (INC-7).",
                "Try to close it: refused (INC-9), since only two days have passed.",
                "Leave it resolved, and say from when on it can be closed.",
            ),
            gold=(*solved.looked, solved.resolved, solved.notified, solved.closed),
            answer=(
                f"{incident.number} is resolved. I could not close it yet: that is possible three full days after the "
                f"resolution, from {ready:%d %B, %H:%M} on."
            ),
            verifiers=(
                *answer_admits(r"\bthree\b", r"\b3 (full )?days\b", on_date(ready), r"thursday", rule="INC-9"),
                answer_says(
                    "says_from_when_on", "The answer says when it can be closed [INC-9]", on_date(ready), r"thursday"
                ),
            ),
            tools=("list_incidents", "find_notifications_sent_for_incident", "find_problem_by_number"),
            access=Access.STRICT,
            events=(later.happens_when(solved.is_resolved),),
            refused={5: "INC-9"},
            also={
                "reads the date and does not try": Solution((*solved.looked, solved.resolved, solved.notified)),
                "in the words of the server": Solution(
                    answer=f"{incident.number} is resolved, not closed: it can be closed from {ready.isoformat()} on."
                ),
            },
            mistakes={"takes it back into work": (update_incident(incident, status="in_progress"),)},
            negative_trajectories={
                "says that it is closed": NegativeTrajectory(
                    (*solved.looked, solved.resolved, solved.notified, solved.closed),
                    f"{incident.number} is closed.",
                    "INC-9",
                ),
                "says that the fault is gone": NegativeTrajectory(
                    (
                        *solved.looked,
                        replace_code(solved.resolved, "Solution Provided"),
                        solved.notified,
                        solved.closed,
                    ),
                    f"{incident.number} is resolved; it cannot be closed before three days are over, on the 19th.",
                    "INC-9",
                ),
            },
        ),
        later,
        world=world,
        rules={"update_incident": "INC-7, INC-8", "send_notification": "INC-7, NTF-3"},
    )


def replace_code(resolved: ToolCall, code: str) -> ToolCall:
    """The same resolution with another code."""
    return ToolCall(name=resolved.name, arguments={**resolved.arguments, "resolution_code": code})


# --- waiting for a change ------------------------------------------------------------------------------------------


def waits_for_changes(world: World) -> Iterable[Draft]:
    """On hold until a change is through; days later it is, or nothing comes of it."""
    yield _change_helped(world)
    yield _change_was_given_up(world)


def _held(
    records: CompanyRecords, incident: Incident, change: Change, actor: str
) -> tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]:
    """What is looked up, and what is written, to put an incident on hold for a change."""
    person, caller = records.person(actor), records.caller(incident)
    looked = (
        find_user(person),
        find_incident(incident),
        call("find_change_by_number", number=change.number),
        call("find_change_request_mappings_for_incident", incident_id=incident.incident_id),
        call("get_user", user_id=caller.user_id),
    )
    text = f"{incident.number} waits for {change.number}: {change.short_description}."
    written = (
        call("map_change_request", change_id=change.change_id, incident_id=incident.incident_id),
        update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change", change_request=change.change_id),
        notify(incident, caller, "update", f"{incident.number} waits for a change", text),
    )
    return looked, written


def _change_helped(world: World) -> Draft:
    """The change is closed as successful after five days; what waits for it is resolved."""
    records = CompanyRecords(world, "Halden Freight")
    ravi, change, incident = (
        records.person("Ravi Menon"),
        world.fixture(Change, "gateway-firmware"),
        records.incident("gateway-south"),
    )
    caller = records.caller(incident)
    event = ScenarioEvent(world, days(5)).change(
        change, status="closed", close_code="successful", close_notes="Both gateways on 7.2."
    )
    looked, held = _held(records, incident, change, "Ravi Menon")
    notes = "Firmware 7.2 is installed on the gateway."
    resolved = update_incident(
        incident,
        status="resolved",
        resolution_code="Solution Provided",
        resolution_notes=notes,
        resolved_by=ravi.user_id,
    )
    notified = notify(
        incident, caller, "solution_proposal", f"{incident.number} is solved", f"{incident.number}: {notes}"
    )
    again = call("find_change_by_number", number=change.number)
    by_change = replace_code(resolved, "Resolved By Change")
    return with_scenario_verifiers(
        Draft(
            slug="hold-until-the-change-is-through",
            actor=ravi,
            prompt=(
                f"{incident.number} will go away with {change.number}. Put it on hold for that, with all that belongs "
                "to it. Then look how the change has come along; it is a matter of days. If it was successful, resolve "
                f'the incident in my name, with "{notes}"; if it is not through yet, leave it on hold.'
            ),
            plan=(
                "Look up Ravi, the incident, the change, what is mapped already, and the caller.",
                "Map the change, put the incident on hold for it, and tell the caller what is awaited (INC-6).",
                "Look at the change again: closed as successful, five days later.",
                "Resolve the incident by the change, and propose the solution to the caller (INC-7).",
            ),
            gold=(*looked, *held, again, resolved, notified),
            answer=f"{change.number} was successful, so {incident.number} is resolved, and the caller knows.",
            verifiers=(
                answer_says("says_that_it_is_resolved", "The answer says where it stands [REF-3]", r"\b(re)?solved\b"),
            ),
            tools=("list_changes", "update_change", "list_incidents"),
            access=Access.STRICT,
            events=(event.happens_when(_is_held(incident)),),
            also={"names the change in the code": Solution((*looked, *held, again, by_change, notified))},
            negative_trajectories={
                "does not look again": NegativeTrajectory(
                    (*looked, *held), f"{incident.number} is on hold for {change.number}."
                ),
                "puts it on hold without saying for what": NegativeTrajectory(
                    (*looked, update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change"), held[2]),
                    f"{incident.number} is on hold.",
                    "INC-6",
                ),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "INC-6, INC-7, INC-8", "map_change_request": "INC-6"},
        expect={"update_incident": {"resolution_code": ["Solution Provided", "Resolved By Change"]}},
    )


def _change_was_given_up(world: World) -> Draft:
    """The change is canceled after two days; what waits for it goes back into work."""
    records = CompanyRecords(world, "Halden Freight")
    nadia, change, incident = (
        records.person("Nadia Haddad"),
        world.fixture(Change, "customs-router"),
        records.incident("leaver-1"),
    )
    caller = records.caller(incident)
    event = ScenarioEvent(world, days(2)).change(
        change, status="canceled", close_notes="Provider replaces its own side instead."
    )
    looked, held = _held(records, incident, change, "Nadia Haddad")
    again = call("find_change_by_number", number=change.number)
    back = update_incident(incident, status="in_progress", assigned_to=nadia.user_id)
    text = f"{incident.number} does not wait for {change.number} any more, and is worked on again."
    notified = notify(incident, caller, "other", f"{incident.number} is worked on again", text)
    return with_scenario_verifiers(
        Draft(
            slug="hold-for-a-change-that-is-given-up",
            actor=nadia,
            prompt=(
                f"The tariff codes of {incident.number} come over the customs link, so let it wait for "
                f"{change.number}, as "
                "is due. I want to know how that change fares: look again after that, days may have passed. Should it "
                "be called off, I take the incident into work myself, and its caller gets a second message, of type "
                "other, that says so."
            ),
            plan=(
                "Look up Nadia, the incident, the change, what is mapped already, and the caller.",
                "Map the change, put the incident on hold for it, and tell the caller what is awaited (INC-6).",
                "Look at the change again: canceled two days later.",
                "Assign the incident to Nadia, a member of its group (PRC-2), back in progress, and tell the caller.",
            ),
            gold=(*looked, *held, again, back, notified),
            answer=(
                f"{change.number} was canceled, so {incident.number} is in progress again, with you, and the caller "
                "got both messages."
            ),
            verifiers=(
                answer_says(
                    "says_that_it_was_called_off",
                    "The answer says what came of the change [REF-3]",
                    r"\bcancel\w*",
                    r"\bcalled off\b",
                ),
            ),
            tools=("list_changes", "update_change", "list_group_members"),
            access=Access.STRICT,
            events=(event.happens_when(_is_held(incident)),),
            mistakes={"sends a third message": (notified,)},
            negative_trajectories={
                "does not look again": NegativeTrajectory(
                    (*looked, *held), f"{incident.number} waits for {change.number}."
                ),
                "takes it for done": NegativeTrajectory(
                    (*looked, *held, again, update_incident(incident, status="closed", close_notes="Change is over.")),
                    f"{incident.number} is closed, the change was canceled.",
                    "INC-9",
                ),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "INC-5, INC-6", "map_change_request": "INC-6"},
    )


def _is_held(incident: Incident) -> str:
    return count(Incident, incident_id=incident.incident_id, status="on_hold")


# --- SLAs that breach ---------------------------------------------------------------------------------------------


def shifts(world: World) -> Iterable[Draft]:
    """Work is assigned, and SLAs breach meanwhile; the report states the figures at its end."""
    yield _shift(
        world,
        company="Mirelle Botanics",
        team="Platform and Data",
        actor="Sana Qureshi",
        since="2026-11-01",
        slug="report-at-the-end-of-the-shift-in-lyon",
        prompt=(
            "My shift: assign to me what is new in Platform and Data since the first of November and has no assignee "
            "yet. "
            "That takes you some hours. Once you are through, send the group's manager a report, on the oldest of the "
            "group's open incidents that has breached an SLA, with the number of those incidents at that moment, in "
            "digits, and tell me the number."
        ),
    )
    yield _shift(
        world,
        company="Halden Freight",
        team="Network and Databases",
        actor="Ravi Menon",
        since="2026-11-06",
        slug="report-at-the-end-of-the-shift-in-copenhagen",
        prompt=(
            "First give me all in Network and Databases that is new, unassigned, and came in since the 6th. Only "
            "when that is done, count how many open incidents of the group are late, that is, have a broken SLA: the "
            "figure has to be of the end of the work, not of its beginning. Beatriz expects it in digits as a report "
            "on the oldest late one, and I here."
        ),
    )


def _shift(world: World, *, company: str, team: str, actor: str, since: str, slug: str, prompt: str) -> Draft:
    records = CompanyRecords(world, company)
    person, group = records.person(actor), records.team(team)
    manager = world.one(User, user_id=group.manager_id)
    queue = [incident for incident in world.all(Incident, assignment_group=group.group_id) if incident.status in OPEN]
    fresh = [
        incident
        for incident in queue
        if incident.status == "new"
        and incident.assigned_to is None
        and f"{records.reported_at(incident):%Y-%m-%d}" >= since
    ]
    event = _breached_meanwhile(world, queue)
    before, late = (_late(which, queue) for which in (world, event.after))
    oldest = min(late, key=records.reported_at)

    def report_of(count_: int, begun: str = "") -> ToolCall:
        text = f"{begun}{count_} open incidents of {team} have breached an SLA."
        return notify(oldest, manager, "report", f"{oldest.number}: late incidents", text)

    counted = call("find_incident_slas", has_breached=True)
    looked = (
        find_user(person),
        call("list_user_groups", name=team),
        call("get_incidents_assigned_to", assignment_group=group.group_id),
    )
    taken = [update_incident(incident, assigned_to=person.user_id, status="in_progress") for incident in fresh]
    in_hand = call("get_user", user_id=manager.user_id)
    notified = f"{len(fresh)} incidents are yours. {{}} open incidents of {team} are late; the manager has the report."
    return with_scenario_verifiers(
        Draft(
            slug=slug,
            actor=person,
            prompt=prompt,
            plan=(
                f"Look up {actor} and the group, and list its incidents.",
                f"Assign the {len(fresh)} new ones without an assignee, each in progress (INC-5).",
                "Only then list broken SLAs: some have broken since. Count each open incident once (SLA-3).",
                "Send the manager the report on the oldest late incident, and give the figure in the answer.",
            ),
            gold=(*looked, *taken, counted, in_hand, report_of(len(late))),
            answer=notified.format(len(late)),
            verifiers=(
                answer_says("answer_has_the_figure", "The answer states the figure [REF-3]", number(len(late))),
            ),
            tools=("list_incidents", "update_incident_sla_details", "find_stage_wise_breached_incident_sla_counts"),
            access=Access.STRICT,
            events=(event.happens_when(_is_taken(fresh, person.user_id)),),
            also={
                "states the time of the report": Solution(
                    (*looked, *taken, counted, in_hand, report_of(len(late), f"As of {NOW:%d %B %Y, %H:%M}: "))
                )
            },
            mistakes={"sends a second report": (report_of(len(before)),)},
            negative_trajectories={
                "counts at the beginning": NegativeTrajectory(
                    (*looked, counted, in_hand, *taken, report_of(len(before))), notified.format(len(before))
                ),
                "leaves them in new": NegativeTrajectory(
                    (
                        *looked,
                        *(update_incident(incident, assigned_to=person.user_id) for incident in fresh),
                        counted,
                        in_hand,
                        report_of(len(late)),
                    ),
                    notified.format(len(late)),
                    "INC-5",
                ),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "INC-5", "send_notification": "NTF-2, NTF-3, SLA-3"},
        expect={"send_notification": {"message": figures(len(late))}},
    )


def _breached_meanwhile(world: World, queue: list[Incident]) -> ScenarioEvent:
    """Hours pass until the backlog has one more incident with a breached SLA."""
    for hours in (4, 8, 12, 24, 48):
        event = ScenarioEvent(world, timedelta(hours=hours))
        if len(_late(event.after, queue)) > len(_late(world, queue)):
            return event
    raise LookupError("no SLA of the backlog breaches within two days")


def _late(world: World, queue: list[Incident]) -> list[Incident]:
    broken = {definition.incident_id for definition in world.all(IncidentSla, has_breached=True)}
    return [incident for incident in queue if incident.incident_id in broken]


def _is_taken(fresh: list[Incident], user_id: str) -> str:
    """Query for whether the first of the new incidents has its assignee."""
    return count(Incident, incident_id=[incident.incident_id for incident in fresh], assigned_to=user_id)


FAMILIES = (closures, waits_for_changes, shifts)
