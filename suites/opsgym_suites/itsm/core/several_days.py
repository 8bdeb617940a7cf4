"""Work of several days: an answer ends a day, and what was decided on one day binds the next.

Invariant: what changes between two days is learnt from the records, from a refusal or from an amendment of the policy,
and from no message of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import number
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, ConfigurationItem, Incident, Location, Service, User
from opsgym_suites.itsm.calls import find_incident, find_user, notify, numbers, update_incident
from opsgym_suites.itsm.core.major_incidents import new_problem
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day
from opsgym_suites.kit.effects import WrittenRow
from opsgym_suites.kit.verifiers import Has, HasAll, May, answer_says
from opsgym_suites.kit.world import NOW, at

EVENING, SECOND_DAY = at("11-16 19:30"), at("11-17 09:00")
NEXT_EVENING, LAST_DAY = at("11-17 20:00"), at("11-19 14:00")


def _days(second: str, last: str) -> tuple[Day, Day]:
    return (
        Day(message=second, begins_at=SECOND_DAY.isoformat()),
        Day(message=last, begins_at=LAST_DAY.isoformat()),
    )


def _passing(world: World) -> ScenarioEvent:
    """What changes over the three days; what time does by itself is included."""
    return ScenarioEvent(world, LAST_DAY - NOW)


def _amendment(time: datetime, rule: str, text: str) -> Event:
    return Event(at=time.isoformat(), amend=Amendment(rule=rule, text=text))


def _three_days(*of_day: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(made for number_, calls in enumerate(of_day, start=1) for made in on_day(number_, *calls))


# --- a problem from its opening to its fix -------------------------------------------------------------------------


def problems(world: World) -> Iterable[Draft]:
    """A problem is opened, gets a workaround on the next day, and is solved two days later."""
    records = CompanyRecords(world, "Halden Freight")
    withdrawn = records.incident("crane-silence-4")
    canceled = {"status": "canceled", "close_notes": "Withdrawn by the caller."}
    event = _passing(world).change(withdrawn, **canceled)
    yield _problem_over_days(
        _Cast(
            records,
            [records.incident(f"crane-silence-{count}") for count in range(1, 6)],
            decoy=records.incident("crane-silence-not-1"),
            service="Crane Telemetry",
            actor="Ebba Nyholm",
            assignee="Ravi Menon",
        ),
        slug="crane-problem-with-a-withdrawn-report",
        statement="The gateway of the western quay is silent.",
        workaround="Read the values at the crane's own display.",
        fix="Power supply of the gateway replaced.",
        prompt=(
            "morning. the western cranes went silent over night, five people called. Ravi owns the analysis, so open "
            'the problem on his name, statement "The gateway of the western quay is silent.", and let the reports '
            "wait for it."
        ),
        second=(
            'There is a way to live with it: "Read the values at the crane\'s own display." Put it where it belongs '
            "and get it to those who need it. How many people was that?"
        ),
        last=(
            'Ravi is done, "Power supply of the gateway replaced." The cranes report again. Finish the problem and '
            "whatever still hangs on it, he is the one who solved it. And give me the number of incidents you resolved."
        ),
        event=event,
        events=(event.happens_at(EVENING),),
        gone=(withdrawn,),
        untold_second=(withdrawn,),
        final={withdrawn.incident_id: canceled},
        missed="takes the withdrawn report along",
    )
    yield from _amended_and_deactivated(world)


def _amended_and_deactivated(world: World) -> Iterable[Draft]:
    mirelle, halden = CompanyRecords(world, "Mirelle Botanics"), CompanyRecords(world, "Halden Freight")
    doubles = [mirelle.incident(f"loyalty-double-{count}") for count in range(1, 4)]
    yield _problem_over_days(
        _Cast(
            mirelle,
            doubles,
            decoy=mirelle.incident("loyalty-double-not-1"),
            service="Loyalty Cards",
            actor="Amara Diallo",
            assignee="Sana Qureshi",
        ),
        slug="loyalty-problem-with-fewer-messages",
        statement="Receipts are booked by two jobs.",
        workaround="Points are corrected by hand on request.",
        fix="Second booking job switched off.",
        prompt=(
            'Loyalty points are credited twice. Sana has traced it: "Receipts are booked by two jobs." Kindly open a '
            "problem with these words, assigned to her, for all incidents that report it, and place those on hold "
            "for it."
        ),
        second=(
            'Until this is repaired we apply the following workaround: "Points are corrected by hand on request." '
            "Kindly record it and inform the callers as our rules provide. State to how many callers you wrote."
        ),
        last=(
            '"Second booking job switched off." With that the problem is solved, by Sana. Kindly complete the problem '
            "and its incidents, and state how many incidents you resolved."
        ),
        event=_passing(world),
        events=(
            _amendment(
                EVENING,
                "PRB-4",
                "Record a workaround in the problem. Send it as an `update` notification only to the callers of those "
                "incidents on hold for the problem whose urgency is high, each on that caller's own incident.",
            ),
        ),
        untold_second=tuple(incident for incident in doubles if incident.urgency != "high"),
        missed="informs every caller",
    )
    freezes = [halden.incident(f"scanner-freeze-{count}") for count in range(1, 4)]
    left = halden.caller(freezes[1])
    event = _passing(world).change(left, active=False)
    yield _problem_over_days(
        _Cast(
            halden,
            freezes,
            decoy=halden.incident("scanner-strap"),
            service="Handheld Scanning",
            actor="Henrik Solberg",
            assignee="Nadia Haddad",
        ),
        slug="scanner-problem-with-a-caller-who-leaves",
        statement="The November update leaks memory.",
        workaround="Switch the scanner off and on before each shift.",
        fix="Update of 18 November installed on all scanners.",
        prompt=(
            'Freezing scanners since the update: make that one problem please (Nadia takes it), "The November update '
            "leaks memory.\" Reports on hold until it's solved. The usual."
        ),
        second=(
            'Nadia found this: "Switch the scanner off and on before each shift." Usual procedure for a workaround. '
            "How many callers got it?"
        ),
        last=(
            'Solved by Nadia: "Update of 18 November installed on all scanners." Usual procedure for the end of a '
            "problem; how many incidents did you resolve?"
        ),
        event=event,
        events=(event.happens_at(EVENING),),
        untold_second=(freezes[1],),
        untold_last=(freezes[1],),
        missed="writes to the account that is inactive",
    )


@dataclass(frozen=True)
class _Cast:
    """Who and what a problem is about."""

    records: CompanyRecords
    reports: Sequence[Incident]
    decoy: Incident
    service: str
    actor: str
    assignee: str


def _problem_over_days(
    cast: _Cast,
    *,
    slug: str,
    statement: str,
    workaround: str,
    fix: str,
    prompt: str,
    second: str,
    last: str,
    event: ScenarioEvent,
    events: tuple[Event, ...],
    missed: str,
    gone: Sequence[Incident] = (),
    untold_second: Sequence[Incident] = (),
    untold_last: Sequence[Incident] = (),
    final: Mapping[str, Mapping[str, Any]] | None = None,
) -> Draft:
    """Three days of a problem.

    Args:
        cast: Who and what it is about.
        slug: The draft's.
        statement: Problem statement.
        workaround: What is recorded on the second day.
        fix: Fix notes of the last day.
        prompt: Message of the first day.
        second: Message of the second day.
        last: Message of the last day.
        event: What changes over the days.
        events: What happens between the days.
        missed: What an agent does that notices none of it.
        gone: Reports that are not resolved on the last day.
        untold_second: Reports whose callers get no workaround.
        untold_last: Further reports whose callers get no solution.
        final: Values by incident, in place of those that the solution gives.
    """
    records, reports = cast.records, cast.reports
    actor, assignee = records.person(cast.actor), records.person(cast.assignee)
    service = records.named(Service, cast.service)
    opened, named = new_problem(records, reports, statement, assigned_to=assignee.user_id)
    key = named[0].arguments["problem"]
    held = [
        update_incident(incident, problem=key, status="on_hold", on_hold_reason="Awaiting Problem")
        for incident in reports
    ]

    def message(incident: Incident, kind: str, subject: str, text: str) -> ToolCall:
        return notify(incident, records.caller(incident), kind, f"{incident.number}: {subject}", text)

    def without(*left_out: Incident) -> list[Incident]:
        return [incident for incident in reports if incident not in left_out]

    def day_two(to: Sequence[Incident]) -> list[ToolCall]:
        recorded = call("update_problem", problem_id=key, workaround=workaround)
        return [recorded, *(message(incident, "update", "workaround", f"Until then: {workaround}") for incident in to)]

    def day_three(of: Sequence[Incident], to: Sequence[Incident]) -> list[ToolCall]:
        done = call("update_problem", problem_id=key, status="resolved", fix_notes=fix)
        code = {"resolution_code": "Resolved By Problem", "resolution_notes": fix, "resolved_by": assignee.user_id}
        return [
            done,
            *(update_incident(incident, status="resolved", **code) for incident in of),
            *(message(incident, "solution_proposal", "solved", f"Solved: {fix}") for incident in to),
        ]

    callers = [call("get_user", user_id=incident.caller_id) for incident in reports]
    first = [
        find_user(actor),
        find_user(assignee),
        call("find_service_by_name", name=service.name),
        call("list_incidents", service=service.service_id),
        *callers,
        opened,
        *held,
        *(
            message(incident, "update", "waits for a problem", "It waits for a problem's solution.")
            for incident in reports
        ),
    ]
    again = call("list_incidents", problem=key)
    informed, resolved = without(*untold_second), without(*gone)
    thanked = [incident for incident in resolved if incident not in untold_last]
    gold = _three_days(
        first,
        [again, *callers, *day_two(informed)],
        [again, *callers, *day_three(resolved, thanked)],
    )
    day_answers = (
        f"The problem is open and assigned to {cast.assignee}; {numbers(reports)} are on hold for it.",
        f"The workaround is recorded, and {len(informed)} of the callers got it.",
    )
    answer = f"The problem is resolved, and with it {len(resolved)} incidents: {numbers(resolved)}."
    careless = _three_days(first, day_two(reports), day_three(reports, reports))

    def as_it_ends(row: WrittenRow) -> Mapping[str, Any]:
        return (final or {}).get(row.key, {})

    return with_scenario_verifiers(
        Draft(
            slug=slug,
            actor=actor,
            prompt=prompt,
            plan=(
                "Look up the people, the service, its incidents and their callers.",
                "Open the problem for the reports of the fault (PRB-1, PRB-2).",
                "Put each of them on hold for it, and tell each caller (INC-6).",
                "Second day: read again what is on hold and who may be notified, and record the workaround.",
                "Send it as the policy of that day asks (PRB-4, NTF-1).",
                "Last day: read again, and resolve the problem with fix notes (PRB-3).",
                "Resolve the incidents on hold for it, and propose the solution to their callers (INC-7).",
            ),
            gold=gold,
            answer=answer,
            day_answers=day_answers,
            verifiers=(
                answer_says(
                    "says_how_many_callers", "The second answer states the number [REF-3]", number(len(informed)), day=2
                ),
                answer_says(
                    "says_how_many_incidents", "The last answer states the number [REF-3]", number(len(resolved))
                ),
            ),
            tools=("find_problem_by_number", "list_users", "create_change", "add_child_incidents"),
            days=_days(second, last),
            events=events,
            mistakes={
                "lets something else wait too": on_day(
                    1, update_incident(cast.decoy, status="on_hold", on_hold_reason="Awaiting Problem", problem=key)
                )
            },
            negative_trajectories={
                missed: NegativeTrajectory(careless, answer),
                "stops after the first day": NegativeTrajectory(on_day(1, *first), answer),
            },
        ),
        event,
        world=records.world,
        rules={
            "create_problem": "PRB-1, PRB-2, PRB-3",
            "update_incident": "INC-6, INC-7, PRB-3",
            "send_notification": "INC-6, INC-7, PRB-4",
        },
        expect={
            "create_problem": {"short_description": May()},
            "update_incident": as_it_ends,
            "send_notification": lambda row: _quoted(row, (workaround, fix)),
        },
    )


def _quoted(row: WrittenRow, texts: Iterable[str]) -> Mapping[str, Any]:
    """Messages that pass a recorded text on contain it."""
    text = next((text for text in texts if text in row.values["message"]), None)
    return {} if text is None else {"message": Has(text)}


# --- a change from its plan to its end -----------------------------------------------------------------------------


def changes(world: World) -> Iterable[Draft]:
    """A change is raised for an incident; over night its approval comes, or does not, or the rules change."""
    halden, mirelle = CompanyRecords(world, "Halden Freight"), CompanyRecords(world, "Mirelle Botanics")
    plan, test = "Import the price table of the supplier again.", "Print ten labels at the studio till."
    yield _change_over_days(
        _Work(mirelle, "queue-1", "Theo Marchand", "Import price table again", plan, test),
        slug="price-table-change-approved-over-night",
        prompt=(
            "The wrong price labels ({number}) need a change: application software, low risk, my group, short "
            f'description "Import price table again", plan "{plan}", test "{test}" Raise it, assess it, and let '
            "the incident wait for it. I have a dentist appointment, so no further today."
        ),
        second=(
            "Back again. Did Hugo look at our change? If yes, I do it tonight, so bring it as far as the work itself. "
            "If he called it off, I work on the incident without it and Chloe gets a message of type other."
        ),
        last=(
            "How did the change end up, is it in? The labels are right, I checked ten of them myself. Then close the "
            'change: successful, "Prices compared with the list." And the incident is solved by me in the same '
            "words, if the change went in."
        ),
        notes="Prices compared with the list.",
    )
    plan, test = "Put the October version on the scanners of the docks.", "Log in on five scanners."
    yield _change_over_days(
        _Work(halden, "scanner-freeze-1", "Nadia Haddad", "October version on dock scanners", plan, test),
        slug="scanner-change-called-off-over-night",
        prompt=(
            "Lucia's scanner, {number}: I want to go back a version. Change please, short description "
            f'"October version on dock scanners", application software, low risk, group as on the incident. '
            f'Implementation: "{plan}" Testing: "{test}" Send it through assessment and park the incident on it.'
        ),
        second=(
            "Approved? Then schedule it and start. Rejected? Then the incident is mine again, in progress, and Lucia "
            "should hear that (type other)."
        ),
        last=(
            'If we had a change to finish: successful, "Five scanners logged in.", incident solved by me with the '
            "same words. If there was none, leave all as it is and tell me the state of the incident."
        ),
        notes="Five scanners logged in.",
        called_off=True,
    )
    plan, test = "Fit a new antenna on the gateway south.", "Scan along docks 5 to 8."
    yield _change_over_days(
        _Work(halden, "gateway-south", "Ravi Menon", "New antenna for gateway south", plan, test, "hardware"),
        slug="antenna-change-when-agents-lose-the-right",
        prompt=(
            'For {number} a new antenna has to go up. Raise "New antenna for gateway south": hardware, risk low, the '
            f'incident\'s group. How: "{plan}" Test: "{test}" Assess it, and put the incident on hold for it.'
        ),
        second=(
            "If the antenna has its approval, take the change up to implement. If something stops you, tell me what, "
            "Beatriz can do her part then."
        ),
        last=(
            'Where is the change now? Should it be closed with success, resolve the incident for me: "Docks 5 to 8 '
            'scanned without a gap." If it still has to be closed, close it first, with the same words.'
        ),
        notes="Docks 5 to 8 scanned without a gap.",
        revoked=True,
    )
    plan, test = "Raise the time limit of the export job to an hour.", "Export the whole list once."
    yield _change_over_days(
        _Work(mirelle, "queue-2", "Theo Marchand", "Longer time limit of the export", plan, test),
        slug="export-change-with-a-longer-rule",
        prompt=(
            "Hello! Could you set up a change for {number}? It is application software and low risk, for the group of "
            f'the incident, and I would call it "Longer time limit of the export". The plan is "{plan}", and we '
            f'test it like this: "{test}" It should be assessed today, with the incident on hold for it. Thanks!'
        ),
        second=(
            "Good morning! Could you see whether Hugo has approved our change, and if so bring it to implement? In "
            "case he called it off, the incident goes back into my hands, and Marc should get a message of type other."
        ),
        last=(
            "The export ran through! Could you complete the change as successful and resolve the incident in my name? "
            'For both: "Whole list exported in nine minutes." Everybody who has to hear of it should, please.'
        ),
        notes="Whole list exported in nine minutes.",
        amended=True,
    )
    plan, test = "Load the tariff file of November.", "Send one declaration per new code."
    yield _change_over_days(
        _Work(halden, "leaver-1", "Dmitri Sokol", "Tariff file of November", plan, test),
        slug="tariff-change-with-a-longer-rule",
        prompt=(
            '{number}: customs wants the new codes. Please open a change titled "Tariff file of November" in my group, '
            f'application software, low risk. We do this: "{plan}" We check this: "{test}" Assessment today, and the '
            "incident has to show that it is on hold for it."
        ),
        second=(
            "Is there a decision on the tariff file? With a yes, take the change to implement. With a no, I pick the "
            "incident up again and Mette gets a message, type other."
        ),
        last=(
            'Codes are accepted. Change successful, incident solved by me, text for both: "Every new code accepted." '
            "Inform whom our rules name."
        ),
        notes="Every new code accepted.",
        amended=True,
    )
    plan, test = "Rebuild the position index.", "Open ten shipments on the map."
    yield _change_over_days(
        _Work(halden, "tracking-outage", "Nadia Haddad", "New position index for tracking", plan, test),
        slug="tracking-change-called-off-over-night",
        prompt=(
            'Empty map, {number}: the index is broken. Raise "New position index for tracking" for it (application '
            f'software, risk low, same group). Steps: "{plan}" Check: "{test}" Then assess it. The incident waits '
            "for the change from then on."
        ),
        second=(
            "Look what Oskar made of it. Green light: go up to implement. Red light: incident back in progress with "
            "me, Grace gets a line, type other."
        ),
        last=(
            "If the index was rebuilt under the change, finish both in my name, successful, with "
            '"Ten shipments shown." Otherwise touch nothing and tell me the state of the incident.'
        ),
        notes="Ten shipments shown.",
        called_off=True,
    )


@dataclass(frozen=True)
class _Work:
    """A change that is raised for an incident."""

    records: CompanyRecords
    key: str
    actor: str
    title: str
    plan: str
    test: str
    category: str = "application_software"

    @property
    def incident(self) -> Incident:
        """The incident."""
        return self.records.incident(self.key)

    @property
    def change_id(self) -> str:
        """Id of the change."""
        return str(self.records.world.next_id(Change))

    @property
    def created(self) -> ToolCall:
        """The call that creates the change [CHG-1, CHG-3]."""
        incident = self.incident
        linked = ("service", "service_offering", "configuration_item", "assignment_group")
        return call(
            "create_change",
            short_description=self.title,
            status="new",
            category=self.category,
            impact=incident.impact,
            risk="low",
            priority=incident.priority,
            implementation_plan=self.plan,
            testing_plan=self.test,
            **{name: getattr(incident, name) for name in linked if getattr(incident, name)},
        )

    def step(self, status: str, **fields: Any) -> ToolCall:
        """Taking the change a step further."""
        return call("update_change", change_id=self.change_id, status=status, **fields)

    def message(self, kind: str, text: str) -> ToolCall:
        """A message to the caller."""
        return notify(self.incident, self.records.caller(self.incident), kind, f"{self.incident.number}: news", text)


def _change_over_days(
    work: _Work,
    *,
    slug: str,
    prompt: str,
    second: str,
    last: str,
    notes: str,
    called_off: bool = False,
    revoked: bool = False,
    amended: bool = False,
) -> Draft:
    """Three days of a change.

    Args:
        work: The change and its incident.
        slug: The draft's.
        prompt: Message of the first day, with the place of the incident's number.
        second: Message of the second day.
        last: Message of the last day.
        notes: Close notes of the change and resolution notes of the incident.
        called_off: Whether the manager cancels the change instead of approving it.
        revoked: Whether agents lose the right to write changes over night, so that a manager closes the change.
        amended: Whether resolutions are also reported to the manager from the second evening on.
    """
    records, incident = work.records, work.incident
    actor, caller = records.person(work.actor), records.caller(incident)
    event = _passing(records.world)
    group = next(team for team in records.teams() if team.group_id == incident.assignment_group)
    manager = records.world.one(User, user_id=group.manager_id)
    decision = {"status": "canceled", "close_notes": "Not now."} if called_off else {"status": "authorize"}
    finished = {"status": "closed", "close_code": "successful", "close_notes": notes}
    events = [Event(at=EVENING.isoformat(), sql=[_on_new_change("assess", decision)])]
    if revoked:
        events.append(event.revoke("agent", "changes").happens_at(EVENING))
        events.append(Event(at=NEXT_EVENING.isoformat(), sql=[_on_new_change("authorize", finished)]))
    if amended:
        events.append(_amendment(NEXT_EVENING, "INC-7", _LONGER_RULE))
    looked = [find_user(actor), find_incident(incident), call("get_user", user_id=caller.user_id)]
    mapped = call("map_change_request", change_id=work.change_id, incident_id=incident.incident_id)
    held = update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change", change_request=work.change_id)
    first = [
        *looked, work.created, mapped, work.step("assess"), held, work.message("update", "It waits for a change.")
    ]  # fmt: skip
    again = call("list_changes", change_id=work.change_id)
    going = [work.step("scheduled"), work.step("implement")]
    back = [
        update_incident(incident, status="in_progress"),
        work.message("other", "It is worked on without the change."),
    ]
    resolved = update_incident(
        incident,
        status="resolved",
        resolution_code="Resolved By Change",
        resolution_notes=notes,
        resolved_by=actor.user_id,
    )
    closed = [work.step("review"), work.step("closed", close_code="successful", close_notes=notes)]
    thanked = [resolved, work.message("solution_proposal", f"Solved: {notes}")]
    reported = notify(incident, manager, "report", f"{incident.number}: resolved", f"Resolved: {notes}")
    extra = [call("list_user_groups", group_id=group.group_id), call("get_user", user_id=manager.user_id), reported]
    if called_off:
        days, answer = ([again, *back], [find_incident(incident)]), f"{incident.number} is in progress, with you."
    elif revoked:
        days, answer = ([again, going[0]], [again, *thanked]), f"The change is closed; {incident.number} is resolved."
    else:
        end = [again, *closed, *thanked, *(extra if amended else [])]
        days, answer = ([again, *going], end), f"The change is closed as successful; {incident.number} is resolved."
    gold = _three_days(first, *days)
    second_answer = _second_answer(called_off, revoked)
    missed, path = _careless(first, going, [*closed, *thanked], called_off, revoked)
    final = decision if called_off else finished if revoked else {}
    return with_scenario_verifiers(
        Draft(
            slug=slug,
            actor=actor,
            prompt=prompt.format(number=incident.number),
            plan=(
                "Look up the actor, the incident and its caller.",
                "Create the change with the incident's impact and priority (CHG-1 to CHG-3), map it and assess it.",
                "Put the incident on hold for it, with a message to the caller (INC-6).",
                "Second day: read what the manager decided, and act on that; report a refusal.",
                "Last day: read the change again, and finish what may be finished by the rules of that day.",
            ),
            gold=gold,
            answer=answer,
            day_answers=("The change is assessed, and the incident is on hold for it.", second_answer),
            verifiers=(
                answer_says(
                    "says_what_came_of_it",
                    "The second answer states the outcome [REF-3]",
                    *_OUTCOMES[called_off, revoked],
                    day=2,
                ),
                answer_says(
                    "says_where_it_stands",
                    "The last answer states the state of the incident [REF-3]",
                    r"\bin[\s_-]progress\b" if called_off else r"\b(re)?solved\b",
                ),
            ),
            tools=("find_change_by_number", "update_change", "list_incidents", "list_user_groups", "get_user"),
            access=Access.STRICT,
            days=_days(second, last),
            events=tuple(events),
            refused={len(first) + 1: "ID-3"} if revoked else {},
            mistakes={"sends a second message": (work.message("update", "It is being worked on."),)},
            negative_trajectories={
                missed: path,
                "stops after the first day": NegativeTrajectory(on_day(1, *first), answer),
            },
        ),
        event,
        world=records.world,
        rules={
            "create_change": "CHG-1, CHG-2, CHG-3, PRC-5",
            "update_incident": "INC-6, INC-7, INC-8",
            "map_change_request": "INC-6",
            "send_notification": "INC-6, INC-7",
        },
        expect={
            "create_change": {**final, "cab_required": May(False)},
            "update_incident": {} if called_off else {"resolution_code": ["Solution Provided", "Resolved By Change"]},
        },
    )


_LONGER_RULE = (
    "Resolve an incident in one call: set status, resolution code, resolution notes and resolver (`resolved_by`). Keep "
    "the on hold reason if there is one. Send the caller a `solution_proposal` notification, and the manager of the "
    "assignment group a `report` notification."
)
_OUTCOMES = {
    (False, False): (r"\b(approv\w*|authori[sz]\w*|implement\w*)\b",),
    (True, False): (r"\b(cancel\w*|called off|reject\w*)\b",),
    (False, True): (r"\b(permission|permitted|allowed|may not|may no longer|access|authori[sz]ation|rights?|ID-3)\b",),
}
"""Patterns of what the second answer reports: for changes called off, and for a revoked right."""


def _second_answer(called_off: bool, revoked: bool) -> str:
    if called_off:
        return "The change was canceled, so the incident is in progress again, and the caller knows."
    if revoked:
        return (
            "The change is approved, but I could not schedule it: agents have no permission to write changes any more."
        )
    return "The change was approved and is in implementation now."


def _careless(
    first: Sequence[ToolCall],
    going: Sequence[ToolCall],
    finishing: Sequence[ToolCall],
    called_off: bool,
    revoked: bool,
) -> tuple[str, NegativeTrajectory]:
    """What an agent does that does not notice what changed, with the rule that refuses it."""
    done = "The change is closed, and the incident is resolved."
    if called_off:
        return "takes it for approved", NegativeTrajectory(_three_days(first, going, finishing), done, "PRC-5")
    if revoked:
        return "says that it went on", NegativeTrajectory(
            _three_days(first, going, finishing), done, "ID-3", day_answers=("On hold.", "The change is implemented.")
        )
    return "forgets the work", NegativeTrajectory(_three_days(first, [], finishing), done, "PRC-5")


def _on_new_change(status: str, values: Mapping[str, str]) -> str:
    """Statement on changes that were created after the seed and have this status."""
    assignments = ", ".join(f"{name} = '{value}'" for name, value in values.items())
    return f"UPDATE change SET {assignments} WHERE status = '{status}' AND created_on >= '{NOW}'"  # noqa: S608


# --- cover for a colleague -----------------------------------------------------------------------------------------


def covers(world: World) -> Iterable[Draft]:
    """A colleague covers for another one; what is not done by then goes back."""
    yield _covered(
        CompanyRecords(world, "Halden Freight"),
        slug="cover-on-the-western-quay",
        actor="Maren Toft",
        away="Signe Aaberg",
        deputy="Joon Park",
        team="Quay Field Team",
        device="Weighbridge terminal 1",
        site="Inland Depot",
        prompt=(
            "Signe is on a course from noon on, Joon Park covers for her. Quay Field Team needs him as a member, he "
            "sits at the Inland Depot for the time, Weighbridge terminal 1 is his from now on, and her open incidents "
            'go to him, each with "Covered by Joon Park." added to the notes.'
        ),
        second="Still on the course. Just tell me how many open incidents Joon has in all, his own included.",
        last=(
            "She is back. What she handed over and is not finished returns to her, with "
            '"Back with Signe Aaberg." added. The rest can stay as it is, membership and desk too. How many came back?'
        ),
    )
    yield _covered(
        CompanyRecords(world, "Mirelle Botanics"),
        slug="cover-in-the-laboratory",
        actor="Ines Moreau",
        away="Lucas Maurel",
        deputy="Oumar Sarr",
        team="Laboratory Applications",
        device="Batch label printer",
        site="Garden Works",
        prompt=(
            "Dear desk, Lucas Maurel takes care of his children until Thursday. In his place, Oumar Sarr works for us: "
            "please add him to Laboratory Applications, set his site to Garden Works, give the Batch label printer "
            "into his hands and the open incidents of Lucas as well. The work notes of each one get the addition "
            '"Covered by Oumar Sarr." Many thanks.'
        ),
        second="Dear desk, may I know how many open incidents Oumar has at present, all counted? Many thanks.",
        last=(
            "Dear desk, Lucas has returned. Whatever was his on Monday and is still open, please give it back to him "
            'with the addition "Back with Lucas Maurel." Nothing else is to be undone. How many are they? Many thanks.'
        ),
    )
    yield _covered(
        CompanyRecords(world, "Halden Freight"),
        slug="cover-at-the-harbour-terminal",
        actor="Beatriz Fontes",
        away="Joon Park",
        deputy="Signe Aaberg",
        team="Terminal Field Team",
        device="Label printer dock 7",
        site="Harbour Terminal West",
        prompt=(
            "Joon starts parental leave. Until we have hired someone Signe Aaberg steps in: member of Terminal Field "
            "Team, seated at Harbour Terminal West, owner of Label printer dock 7, assignee of all he has open. Add "
            '"Covered by Signe Aaberg." to the notes of each incident you move.'
        ),
        second="Quick check before the stand-up: how many incidents does Signe have open right now?",
        last=(
            "Change of plan, Joon is here until Christmas. He takes his own incidents back, as far as Signe has not "
            'dealt with them; add "Back with Joon Park." Leave everything else with her. Number, please.'
        ),
    )
    yield _covered(
        CompanyRecords(world, "Mirelle Botanics"),
        slug="cover-in-the-boutique",
        actor="Hugo Lambert",
        away="Pauline Rey",
        deputy="Elise Garnier",
        team="Boutique Support",
        device="Boutique till 1",
        site="Boutique Lille",
        prompt=(
            "Pauline called in sick. Elise drives to Lille, so that is her site for this week; she needs to be in "
            "Boutique Support, Boutique till 1 runs under her name, and Pauline's open incidents are hers, noted as "
            '"Covered by Elise Garnier."'
        ),
        second="How is Elise holding up, how many open incidents is she at?",
        last=(
            "Pauline is well again!! Give her back what Elise took over and did not get done, note "
            '"Back with Pauline Rey." Elise stays in Lille a little longer, so no other changes. How many did you move?'
        ),
    )


def _covered(
    records: CompanyRecords,
    *,
    slug: str,
    actor: str,
    away: str,
    deputy: str,
    team: str,
    device: str,
    site: str,
    prompt: str,
    second: str,
    last: str,
) -> Draft:
    world, group = records.world, records.team(team)
    acting, absent, other = map(records.person, (actor, away, deputy))
    item, place = records.named(ConfigurationItem, device), records.named(Location, site)
    cases, own = (records.open_incidents(assigned_to=user.user_id) for user in (absent, other))
    finished = {
        "status": "resolved",
        "resolution_code": "Solution Provided",
        "resolution_notes": "Part replaced.",
        "resolved_by": other.user_id,
        "resolved": NEXT_EVENING,
    }
    event = _passing(world).change(cases[0], **finished)
    covered, returned = f"Covered by {deputy}.", f"Back with {away}."

    def noted(incident: Incident, *notes: str) -> str:
        return " ".join([*([incident.worknotes] if incident.worknotes else []), *notes])

    def back(incident: Incident) -> ToolCall:
        return update_incident(incident, assigned_to=absent.user_id, worknotes=noted(incident, covered, returned))

    of_deputy = call("get_incidents_assigned_to", assigned_to=other.user_id)
    first = [
        *map(find_user, (acting, absent, other)),
        call("find_group_by_name", name=team),
        call("find_locations", name=site),
        call("find_configuration_items", status="in_use"),
        call("get_incidents_assigned_to", assigned_to=absent.user_id),
        call("add_new_group_member", group_id=group.group_id, user_id=other.user_id),
        call("update_user_details", user_id=other.user_id, location_id=place.location_id),
        call(
            "update_configuration_item", configuration_item_id=item.configuration_item_id, owner_id=other.user_id
        ),
        *(
            update_incident(incident, assigned_to=other.user_id, worknotes=noted(incident, covered))
            for incident in cases
        ),
    ]  # fmt: skip
    open_then = len(cases) + len(own)
    answer = f"{len(cases) - 1} incidents are with {away} again: {numbers(cases[1:])}."

    def final_notes(row: WrittenRow) -> Mapping[str, Any]:
        incident = world.one(Incident, incident_id=row.key)
        before = (incident.worknotes,) if incident.worknotes else ()
        return {"worknotes": HasAll((*before, covered, *(() if incident is cases[0] else (returned,))))}

    return with_scenario_verifiers(
        Draft(
            slug=slug,
            actor=acting,
            prompt=prompt,
            plan=(
                f"Look up {actor}, {away}, {deputy}, the group, the site, the device and the incidents of {away}.",
                f"Add {deputy} to the group, move desk and device, and hand the open incidents over with their note.",
                f"Second day: count the open incidents of {deputy}.",
                "Last day: read them again. Those that were handed over on the first day and are still open go back.",
            ),
            gold=_three_days(first, [of_deputy], [of_deputy, *map(back, cases[1:])]),
            answer=answer,
            day_answers=(
                f"{deputy} has the {len(cases)} open incidents of {away}.",
                f"{deputy} has {open_then} open incidents.",
            ),
            verifiers=(
                answer_says(
                    "says_how_many_then", "The second answer states the number [REF-3]", number(open_then), day=2
                ),
                answer_says("says_how_many_came_back", "The last answer states it [REF-3]", number(len(cases) - 1)),
            ),
            tools=("list_incidents", "list_group_members", "remove_group_membership", "send_notification"),
            days=_days(second, last),
            events=(event.happens_at(NEXT_EVENING),),
            mistakes={"gives one away that was never handed over": (back(own[0]),)},
            negative_trajectories={
                "returns finished work too": NegativeTrajectory(
                    _three_days(first, [of_deputy], [*map(back, cases)]), answer
                ),
                "stops after the first day": NegativeTrajectory(on_day(1, *first), answer),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "ID-4, INC-5", "update_configuration_item": "ID-4"},
        expect={"update_incident": final_notes},
    )


FAMILIES = (problems, changes, covers)
