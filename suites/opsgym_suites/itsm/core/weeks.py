"""Work of two days on messages, SLAs and children: the second day begins with what the night has changed.

Invariant: the message of the second day says what to look for and not what has happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of, figure, number
from opsgym_api.tasks.days import Day
from opsgym_api.tasks.event import Amendment, Event
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import ChildIncident, Incident, IncidentSla, Notification
from opsgym_suites.itsm.calls import find_incident, find_team, find_user, notify, numbers, start_sla, update_incident
from opsgym_suites.itsm.core.messages import GUARANTEED, READER, drop, messages_about, rewrite
from opsgym_suites.itsm.core.parents import children_of
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent
from opsgym_suites.itsm.core.targets import BREACHES, breaches_by_stage
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call, on_day
from opsgym_suites.kit.verifiers import Has, answer_says
from opsgym_suites.kit.world import NOW, at

NIGHT, MORNING = at("11-17 02:00"), at("11-17 09:00")


def two_days(
    world: World,
    event: ScenarioEvent,
    *,
    first: Sequence[ToolCall],
    second: Sequence[ToolCall],
    message: str,
    first_answer: str,
    careless: Sequence[ToolCall],
    events: tuple[Event, ...] = (),
    night: datetime | None = NIGHT,
    morning: datetime = MORNING,
    rules: dict[str, str] | None = None,
    expect: dict[str, Any] | None = None,
    **fields: Any,
) -> Draft:
    """A task of two days.

    Args:
        world: The seed's rows.
        event: What changes over the days; what time does by itself is included.
        first: Calls of the first day.
        second: Calls of the second day.
        message: Message of the second day.
        first_answer: Answer of the first day.
        careless: Calls of the second day of an agent that does not look again.
        events: Further events.
        night: When the rows of `event` change; None if only time passes.
        morning: When the second day begins.
        rules: As for `with_verifiers`.
        expect: As for `with_verifiers`.
        fields: The draft's.
    """
    answer = fields["answer"]
    happening = (*([event.happens_at(night)] if night else []), *events)
    draft = Draft(
        gold=(*on_day(1, *first), *on_day(2, *second)),
        day_answers=(first_answer,),
        days=(Day(message=message, begins_at=morning.isoformat()),),
        events=happening,
        negative_trajectories={
            "does not look again": NegativeTrajectory((*on_day(1, *first), *on_day(2, *careless)), answer),
            "stops after the first day": NegativeTrajectory(on_day(1, *first), answer),
        },
        **fields,
    )
    return with_verifiers(world, draft, event, rules=rules, expect=expect)


# --- messages that bounce --------------------------------------------------------------------------------------------


def bounced(world: World) -> Iterable[Draft]:
    """Messages are corrected and go out over night; of those that fail one has a new address, one no one to read it."""
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, words = records.person("Bruno Keller"), "The reader is to be exchanged; no date is set yet."
    cases = records.open_reports(READER)
    waiting = records.messages(*cases, status="queued", message=GUARANTEED)
    fine = next(row for row in records.messages(*cases, status="queued") if row not in waiting)
    moved, left = (world.one(Incident, incident_id=row.incident_id) for row in waiting)
    address, note = "irene.hamon-blanc@mirelle-botanics.example", "Caller has left, message was not read."
    event = ScenarioEvent(world, MORNING - NOW)
    event.change(records.caller(moved), email=address).change(records.caller(left), active=False)
    event.change(fine, status="delivered")
    for row in waiting:
        event.change(row, status="failed")
    callers = [call("get_user", user_id=case.caller_id) for case in (moved, left)]
    first = [
        find_user(actor),
        call("list_incidents", short_description=READER),
        *(messages_about(case) for case in cases),
        *(rewrite(row, message=words) for row in waiting),
    ]
    repaired = [
        rewrite(waiting[0], email=address),
        update_incident(left, worknotes=f"{left.worknotes} {note}" if left.worknotes else note),
    ]
    yield two_days(
        world,
        event,
        slug="reader-messages-bounce-over-night",
        actor=actor,
        prompt=(
            "Messages about restarting card readers that are still queued must not name a day, we have no right to "
            f"guarantee one. Where one does, its text becomes '{words}' They go out to night. How many did you change?"
        ),
        message=(
            "Morning! Which of yesterday's texts did not arrive? If the person is reachable at another address by now, "
            "correct the recipient. If no one is there to read it any more, leave the message alone and append "
            f"'{note}' to the work notes of the report. What arrived is done."
        ),
        plan=(
            "Look up Bruno Keller, the open reports, and the notifications about each.",
            "Change the text of the queued ones that guarantee a day (NTF-2).",
            "Second day: list the notifications that failed; two of them are those.",
            "Look up both callers: one has a new address, one account is inactive (NTF-1).",
            "Correct the recipient of the first; append the note to the report of the other.",
        ),
        first=first,
        second=[call("find_notifications", status="failed"), *callers, *repaired],
        careless=[rewrite(waiting[0], email=address)],
        first_answer="Two messages have the new text.",
        answer=f"One goes to the new address of {moved.number}'s caller; {left.number}'s caller has left.",
        verifiers=(
            answer_says("says_how_many", "The first answer says how many [REF-3]", number(len(waiting)), day=1),
            answer_says(
                "says_who_has_left", "The answer names the report or its caller [REF-3]", left.number, "Perrin"
            ),
        ),
        tools=("find_notifications_for_email", "send_notification", "list_users", "count_notifications_by_status"),
        mistakes={"deletes what arrived": on_day(2, drop(fine))},
        rules={"update_notification": "NTF-1, NTF-2", "update_incident": "ID-4"},
    )
    yield _queue_is_empty(world)


def _queue_is_empty(world: World) -> Draft:
    """Whether the mail server works shows in the number of queued messages on the next day."""
    records = CompanyRecords(world, "Halden Freight")
    actor, incident = records.person("Karim Nasser"), records.incident("airway-stamp-3")
    failed = len(world.all(Notification, org_id=records.org_id, status="failed"))
    queue = [row for row in world.all(Notification, org_id=records.org_id) if row.status == "queued"]
    event = ScenarioEvent(world, MORNING - NOW)
    for row in queue[:-1]:
        event.change(row, status="failed" if row is queue[1] else "sent")
    caller, text = records.caller(incident), "The stamp of airway bills is being put right."
    held = update_incident(incident, assigned_to=actor.user_id, status="in_progress")
    informed = notify(incident, caller, "update", f"{incident.number}: stamp", text)
    levels = update_incident(incident, impact="medium", urgency="medium", priority="moderate")
    return two_days(
        world,
        event,
        slug="mail-queue-after-the-night",
        actor=actor,
        prompt=(
            f"{incident.number} is mine now. But is our mail stuck? Count what we have queued and what failed, and "
            "give me both numbers. I write to no one today."
        ),
        message=(
            "Same two numbers again, please. If the queue has become shorter, mail works again: then the caller of "
            f"that incident gets an update, '{text}' If it has not, no one is written to, and the incident goes down "
            "to urgency medium instead. And the messages that have failed since yesterday: who were they for?"
        ),
        plan=(
            "Look up Karim Nasser, the incident, and the numbers of notifications by status.",
            "Assign the incident to him, in_progress (INC-5).",
            "Second day: count again; the queue is shorter, and one more has failed.",
            "Find out whom that one was for, and send the caller of the incident the update.",
        ),
        first=[
            find_user(actor),
            find_incident(incident),
            call("count_notifications_by_status", status=["queued", "failed"]),
            held,
        ],
        second=[
            call("count_notifications_by_status", status=["queued", "failed"]),
            call("find_notifications", status="failed"),
            call("get_user", user_id=caller.user_id),
            informed,
        ],
        careless=[levels],
        first_answer=f"{len(queue)} are queued and {failed} failed; the incident is yours.",
        answer=(
            f"1 is queued and {failed + 1} failed: the new one was for "
            f"{queue[1].email.partition('@')[0].replace('.', ' ').title()}. The caller of {incident.number} knows."
        ),
        verifiers=(
            answer_says("counts_the_queue", "The first answer counts the queue [REF-3]", number(len(queue)), day=1),
            answer_says("names_the_recipient", "The answer names who got no message [REF-3]", r"\bDahle\b"),
        ),
        tools=("find_notifications_for_email", "count_notifications_by_type", "delete_notifications"),
        access=Access.STRICT,
        mistakes={"takes down the urgency as well": on_day(2, levels)},
        rules={"update_incident": "INC-5, PRC-2", "send_notification": "NTF-2, NTF-3"},
        expect={"send_notification": {"message": Has(text)}},
    )


# --- SLAs that breach over night -------------------------------------------------------------------------------------


def breached(world: World) -> Iterable[Draft]:
    """What has breached since yesterday is taken over, if it is much; or the rules ask for more clocks."""
    yield _taken_in_the_morning(world)
    yield _more_clocks(world)


def _taken_in_the_morning(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, team = records.person("Ebba Nyholm"), records.team("Network and Databases")
    event = ScenarioEvent(world, MORNING - NOW)
    before, after = breaches_by_stage(world, records), breaches_by_stage(event.after, records)
    more = after["breached"] - before["breached"]
    fresh = records.open_incidents(assignment_group=team.group_id, status="new", assigned_to=None)
    due = [
        case
        for case in fresh
        if any(row.has_breached for row in _resolutions(event.after, records, case))
        and not any(row.has_breached for row in _resolutions(world, records, case))
    ]
    rest = next(case for case in fresh if case not in due)
    listed = (
        find_team(team),
        call("list_incidents", assignment_group=team.group_id, status="new"),
        *(call("find_incident_slas", incident_id=case.incident_id) for case in fresh),
    )

    def taken(cases: Sequence[Incident]) -> list[ToolCall]:
        return [update_incident(case, assigned_to=actor.user_id, status="in_progress") for case in cases]

    return two_days(
        world,
        event,
        slug="breaches-of-the-night",
        actor=actor,
        prompt=(
            "Before I go: how many breached SLAs do we have that still run, that is, in stage breached? Please also "
            f"note 'Night watch: Ebba Nyholm.' in the oldest incident of {team.name} that is new and has no one."
        ),
        message=(
            "I am back. What is that number now? If it rose by more than five, I take those of the new incidents "
            "without assignee in my group whose resolution clock has run out since yesterday; a missed response alone "
            "does not count. If it rose by five or less I leave them all. By how much did it rise?"
        ),
        plan=(
            "Look up Ebba Nyholm and the breached SLAs by stage; note it in the oldest new incident of the group.",
            "Second day: count again and compare.",
            "Look up the group's new incidents and the SLAs of each: which resolution has breached over night?",
            "Assign these to Ebba, in_progress (INC-5).",
        ),
        first=[
            find_user(actor),
            call(BREACHES),
            *listed[:2],
            update_incident(fresh[0], worknotes="Night watch: Ebba Nyholm."),
        ],
        second=[call(BREACHES, stages=["breached"]), *listed[1:], *taken(due)],
        careless=taken(fresh),
        night=None,
        first_answer=f"{before['breached']} breached SLAs still run.",
        answer=f"It is {after['breached']}, {more} more. You have {numbers(due)} now.",
        verifiers=(
            answer_says("first_number", "The first answer states it [REF-3]", figure(before["breached"]), day=1),
            answer_says("says_by_how_much", "The answer says by how much [REF-3]", number(more)),
        ),
        tools=("get_incidents_assigned_to", "update_incident_sla_details", "count_incident_for_assignment_group"),
        access=Access.STRICT,
        mistakes={"takes one that can wait": on_day(2, *taken([rest]))},
        rules={"update_incident": "INC-5, PRC-2"},
    )


def _resolutions(world: World, records: CompanyRecords, case: Incident) -> list[IncidentSla]:
    """The resolution SLA of an incident's priority."""
    definition = records.sla_definition(case.priority or "", "resolution") if case.priority != "planning" else None
    key = definition and definition.sla_def_id
    return world.all(IncidentSla, incident_id=case.incident_id, sla_def_id=key) if key else []


def _more_clocks(world: World) -> Draft:
    """The same work on two days, under a rule that asks for more on the second one."""
    records = CompanyRecords(world, "Mirelle Botanics")
    actor = records.person("Pauline Rey")
    cases = [row for row in records.open_incidents(assigned_to=actor.user_id) if row.priority == "planning"]
    today, tomorrow = cases[0], cases[1]
    raised = {"impact": "medium", "urgency": "medium", "priority": "moderate"}
    clocks = [
        start_sla(tomorrow, records.sla_definition("moderate", metric), records.reported_at(tomorrow))
        for metric in ("response", "resolution")
    ]
    event = ScenarioEvent(world, MORNING - NOW)
    looked = [find_user(actor), find_incident(today)]
    return two_days(
        world,
        event,
        slug="clocks-for-moderate-from-the-second-day",
        actor=actor,
        prompt=(
            f"{today.number}: the whole boutique needs these old orders now and only gets on with difficulty. Levels "
            "to match, please, and clocks if they are due by that."
        ),
        message=(
            f"The same has happened with {tomorrow.number}, a whole team that works with difficulty. Levels to match, "
            "and clocks if they are due by that."
        ),
        plan=(
            "Look up Pauline Rey and the incident: a team that works with difficulty is moderate (INC-1, INC-2).",
            "SLAs are due for critical and high only (SLA-1).",
            "Second day: the rule has changed and asks for SLAs for moderate, too.",
            "Set the levels of the second incident and start both SLAs from its report (SLA-2).",
        ),
        first=[*looked, update_incident(today, **raised)],
        second=[
            find_incident(tomorrow),
            call("find_sla_definitions", applies_to_priority="moderate", active=True),
            update_incident(tomorrow, **raised),
            *clocks,
        ],
        careless=[update_incident(tomorrow, **raised)],
        night=None,
        events=(
            Event(
                at=NIGHT.isoformat(),
                amend=Amendment(
                    rule="SLA-1",
                    text=(
                        "As soon as an incident gets priority `critical`, `high` or, from 17 November 2026 on, "
                        "`moderate`, both SLAs for that priority must run on it: response and resolution. Link only "
                        "active SLA definitions of your own organisation, each of them once. Leave SLAs of an earlier "
                        "priority in place, and leave alone what got `moderate` before that day."
                    ),
                ),
            ),
        ),
        first_answer=f"{today.number} is moderate; no SLA is due for that.",
        answer=f"{tomorrow.number} is moderate and has both SLAs, as the rules ask since today.",
        verifiers=(answer_says("speaks_of_the_clocks", "The answer states the SLAs [REF-3]", r"\b(SLAs?|clocks?)\b"),),
        tools=("find_incident_slas", "get_incidents_assigned_to", "find_sla_definition_by_name"),
        mistakes={
            "starts one for the first as well": on_day(
                2, start_sla(today, records.sla_definition("moderate", "response"), records.reported_at(today))
            ),
        },
        rules={"update_incident": "INC-1, INC-2", "link_new_incident_sla": "SLA-1, SLA-2"},
    )


# --- children that follow their parent -------------------------------------------------------------------------------


def followed(world: World) -> Iterable[Draft]:
    """A child is added; over night the parent is resolved and a child withdrawn."""
    records = CompanyRecords(world, "Halden Freight")
    actor, solver = records.person("Signe Aaberg"), records.person("Henrike Solberg")
    reports = records.open_reports("Signal lamp of a dock stays red")
    parent = next(row for row in reports if world.all(ChildIncident, parent_incident=row.incident_id))
    family = [row for row in reports if row.parent_incident == parent.incident_id]
    new, gone = reports[-1], family[1]
    notes = "Relay of the lamp row replaced."
    event = ScenarioEvent(world, MORNING - NOW)
    code = {"resolution_code": "Solution Provided", "resolution_notes": notes, "resolved_by": solver.user_id}
    event.change(parent, status="resolved", resolved=NIGHT, **code)
    canceled = {"status": "canceled", "close_notes": "Withdrawn by the caller."}
    event.change(gone, **canceled)
    over = [case for case in (*family, new) if case is not gone]
    callers = [call("get_user", user_id=case.caller_id) for case in over]
    first = [
        find_user(actor),
        find_incident(parent),
        find_incident(new),
        children_of(parent),
        call("add_child_incident", parent_incident=parent.incident_id, child_incident=new.incident_id),
        update_incident(new, parent_incident=parent.incident_id),
    ]

    def solved(cases: Sequence[Incident]) -> list[ToolCall]:
        return [
            *(update_incident(case, status="resolved", **code) for case in cases),
            *(
                notify(case, records.caller(case), "solution_proposal", f"{case.number} is solved", notes)
                for case in cases
            ),
        ]

    yield two_days(
        world,
        event,
        slug="lamps-follow-their-parent",
        actor=actor,
        prompt=(
            f"{new.number} is one more of the red lamps. It belongs under {parent.number} like the others, as our "
            "rules want it. Henrike goes there to night."
        ),
        message=(
            f"How does {parent.number} stand? If Henrike has solved it, whatever hangs under it and is still open is "
            "solved just like it, the same code, the same words, the same person, and the callers get the usual. If "
            "she has not, leave everything. How many did you resolve?"
        ),
        plan=(
            "Look up Signe Aaberg, the parent, its children and the new report.",
            "Link it as a child, and name the parent in it (INC-11).",
            "Second day: look up the parent, its links and the children; one was canceled over night (INC-10).",
            "Resolve the open ones with code, notes and resolver of the parent (INC-7).",
            "Send their callers a solution proposal each.",
        ),
        first=first,
        second=[
            find_incident(parent),
            children_of(parent),
            *(call("find_incident_by_id", incident_id=case.incident_id) for case in (*family, new)),
            *callers,
            *solved(over),
        ],
        careless=solved([*family, new]),
        first_answer=f"{new.number} is a child of {parent.number}.",
        answer=f"{parent.number} is resolved, and with it {len(over)} children: {numbers(over)}.",
        verifiers=(
            answer_says("says_how_many", "The answer says how many [REF-3]", number(len(over))),
            answer_says("names_them", "The answer names them [REF-3]", all_of(case.number for case in over), number(3)),
        ),
        tools=("find_parent_incident", "add_child_incidents", "remove_child_incident", "list_incidents"),
        mistakes={"closes the parent": on_day(2, update_incident(parent, status="closed", close_notes="Done."))},
        rules={
            "add_child_incident": "INC-11",
            "update_incident": "INC-7, INC-8, INC-10, INC-11",
            "send_notification": "INC-7, NTF-3",
        },
        expect={
            "update_incident": lambda row: canceled if row.key == gone.incident_id else {},
            "send_notification": {"message": Has(notes)},
        },
    )


FAMILIES = (bounced, breached, followed)
