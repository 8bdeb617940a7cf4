"""Records that others change while the agent works: approvals, duplicates, SLA definitions, withdrawn requests.

Invariant: an agent that reads again where the request says so, or that reads the server's answers, learns of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import at_time, number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, ChildIncident, Incident, Problem, SlaDefinition, User
from opsgym_suites.itsm.calls import (
    breach_time,
    find_incident,
    find_problem,
    find_user,
    notify,
    start_sla,
    update_incident,
)
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent, change_is, next_number
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.scenarios import FIRST_LOOK, answer_admits, days
from opsgym_suites.kit.verifiers import answer_refuses, answer_says, count
from opsgym_suites.kit.world import NOW


def find_change(change: Change) -> ToolCall:
    """Looking a change up by number."""
    return call("find_change_by_number", number=change.number)


def step(change: Change, status: str, **fields: Any) -> ToolCall:
    """Taking a change a step further."""
    return call("update_change", change_id=change.change_id, status=status, **fields)


# --- approvals -----------------------------------------------------------------------------------------------------


def approvals(world: World) -> Iterable[Draft]:
    """Changes whose approval comes, does not come, or is taken back."""
    yield _approved_meanwhile(world)
    yield _not_approved_yet(world)
    yield _approval_taken_back(world)


def _approved_meanwhile(world: World) -> Draft:
    """The manager approves a day after the assessment, and the work can go on."""
    records = CompanyRecords(world, "Mirelle Botanics")
    bruno, change = records.person("Bruno Keller"), world.fixture(Change, "tablet-docks")
    event = ScenarioEvent(world, days(1)).change(change, status="authorize")
    assess = step(change, "assess")
    rest = [step(change, status) for status in ("scheduled", "implement", "review")]
    gold = (find_user(bruno), find_change(change), assess, find_change(change), *rest)
    return with_scenario_verifiers(
        Draft(
            slug="change-approved-meanwhile",
            actor=bruno,
            prompt=(
                f"{change.number} is assessed now: I have seen the wall, the docks fit. Please take it on from there. "
                "Amara approves it as soon as she sees it assessed, she sits next to me. Once she has, the docks are "
                "mounted according to plan, so bring it as far as the review. If she has not, leave it where it is."
            ),
            plan=(
                "Look up Bruno, and the change: new.",
                "Set it to assess (PRC-5).",
                "Look again: Amara has approved it, a day has passed.",
                "Take the steps one by one: scheduled, implement, review.",
            ),
            gold=gold,
            answer=f"{change.number} was assessed and approved, and is in review now.",
            verifiers=(answer_says("names_the_state", "The answer says where the change stands [REF-3]", r"\breview"),),
            tools=("list_changes", "get_changes_assigned_to", "map_change_request"),
            access=Access.STRICT,
            events=(event.happens_when(change_is(change, "assess")),),
            mistakes={"closes it as well": (step(change, "closed", close_code="successful", close_notes="Done."),)},
            negative_trajectories={
                "approves it himself": NegativeTrajectory(
                    (find_user(bruno), find_change(change), step(change, "authorize"), *rest),
                    f"{change.number} is in review.",
                    "PRC-5",
                ),
                "does not look again": NegativeTrajectory(
                    (find_user(bruno), find_change(change), assess),
                    f"{change.number} is assessed. Amara has to approve it before it goes to review.",
                ),
                "goes from approval to the review at once": NegativeTrajectory(
                    (find_user(bruno), find_change(change), assess, rest[2]), f"{change.number} is in review.", "PRC-5"
                ),
            },
        ),
        event,
        world=world,
    )


def _not_approved_yet(world: World) -> Draft:
    """A change is prepared completely; the acting user may not approve it, and no approval comes."""
    records = CompanyRecords(world, "Halden Freight")
    nadia, incident, team = (
        records.person("Nadia Haddad"),
        records.incident("scanner-freeze-2"),
        records.team("Freight Applications"),
    )
    caller = records.caller(incident)
    plan = "Put the October version back on all scanners, dock by dock."
    test = "Open ten work lists on each scanner."
    created = call(
        "create_change",
        short_description="Put scanners back to the October version",
        status="new",
        category="application_software",
        impact=incident.impact,
        risk="low",
        priority=incident.priority,
        service=incident.service,
        service_offering=incident.service_offering,
        assignment_group=team.group_id,
        implementation_plan=plan,
        testing_plan=test,
    )
    made = world.next_id(Change)
    later = ScenarioEvent(world, days(1))
    assess = call("update_change", change_id=made, status="assess")
    looked = (find_user(nadia), find_incident(incident), call("get_user", user_id=caller.user_id))
    held = update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change", change_request=made)
    mapped = call("map_change_request", change_id=made, incident_id=incident.incident_id)
    message = f"{incident.number} waits for a change that puts the October version back."
    notified = notify(incident, caller, "update", f"{incident.number} waits for a change", message)
    again = call("list_changes", change_id=made)
    approved = call("update_change", change_id=made, status="authorize")
    reason = r"\b(approv\w*|authori[sz]\w*|manager)\b"
    return with_scenario_verifiers(
        Draft(
            slug="change-not-approved-yet",
            actor=nadia,
            prompt=(
                f"The update behind {incident.number} has to come off again. Please raise a change for it: application "
                f'software, our group, low risk. Plan: "{plan}" Test: "{test}" Take it as far as you may '
                "today: if it is approved in the meantime, to scheduled. And put the incident on hold for it as is due."
            ),
            plan=(
                "Look up Nadia, the incident and its caller.",
                "Create the change in new, with plans, impact and priority of the incident, no board (CHG-1 to CHG-3).",
                "Map it to the incident, and set it to assess.",
                "Put the incident on hold, awaiting the change, and tell the caller what is awaited (INC-6).",
                "Look at the change again: not approved, and approving is a manager's part (PRC-6). Leave it, say so.",
            ),
            gold=(*looked, created, mapped, assess, held, notified, again),
            answer=(
                f"{incident.number} is on hold for the new change, which is assessed. It is not scheduled: no "
                "manager has approved it yet, and I may not do that."
            ),
            verifiers=(*answer_admits(reason, rule="PRC-6"),),
            tools=("update_problem", "list_incidents", "find_change_by_number", "get_user_using_email"),
            access=Access.STRICT,
            events=(later.happens_when(count(Change, change_id=made, status="assess")),),
            negative_trajectories={
                "approves it": NegativeTrajectory(
                    (*looked, created, mapped, assess, approved, held, notified), "All done, it is scheduled.", "PRC-6"
                ),
                "forgets what the incident waits for": NegativeTrajectory(
                    (
                        *looked,
                        created,
                        mapped,
                        assess,
                        update_incident(incident, status="on_hold", on_hold_reason="Awaiting Change"),
                        notified,
                    ),
                    "The change is not approved yet; a manager has to.",
                    "INC-6",
                ),
                "begins with the assessment": NegativeTrajectory(
                    (*looked, call("create_change", **{**created.arguments, "status": "assess"}), held, notified),
                    "The change is not approved yet; a manager has to.",
                    "CHG-1",
                ),
            },
        ),
        later,
        world=world,
        rules={"update_incident": "INC-6", "update_change": "PRC-5", "create_change": "CHG-1, CHG-2, CHG-3"},
    )


def _approval_taken_back(world: World) -> Draft:
    """Scheduled when the agent looked; back in assessment when it writes."""
    records = CompanyRecords(world, "Halden Freight")
    ravi, change, incident = (
        records.person("Ravi Menon"),
        world.fixture(Change, "gateway-firmware"),
        records.incident("gateway-north"),
    )
    caller = records.caller(incident)
    event = ScenarioEvent(world).change(change, status="assess")
    begin = step(change, "implement")
    gold = (
        find_change(change),
        find_user(ravi),
        find_incident(incident),
        call("get_user", user_id=caller.user_id),
        begin,
        find_change(change),
    )
    message = f"The firmware that {incident.number} waits for is being installed."
    notified = notify(incident, caller, "update", f"{incident.number}: work has begun", message)
    noted = update_incident(incident, worknotes="Firmware is being installed.")
    return with_scenario_verifiers(
        Draft(
            slug="approval-taken-back",
            actor=ravi,
            prompt=(
                f"I am about to begin with {change.number}. Please set it to implement, and then tell the caller of "
                f"{incident.number}, which waits for it, that work has begun. If I cannot begin, do not send a message."
            ),
            plan=(
                "Find the change: scheduled. Look up Ravi, the incident and its caller.",
                "Set the change to implement: refused (PRC-5), since it is back in assess.",
                "Look again: the approval was taken back. It is not yours to give (PRC-6).",
                "Change nothing, tell the caller nothing, and say why.",
            ),
            gold=gold,
            answer=(
                f"I did not set {change.number} to implement, and sent no message: its approval was taken back, and it "
                "is in assess again. It has to be authorized and scheduled before you can begin."
            ),
            verifiers=(
                *answer_refuses(r"\bassess", r"\bapprov\w*", r"\bauthori[sz]\w*", subject_pattern=change.number),
            ),
            tools=("send_notification", "update_incident", "list_changes"),
            feasible=False,
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            refused={4: "PRC-5"},
            evidence=(change,),
            mistakes={"tells the caller all the same": (notified,), "leaves a note instead": (noted,)},
            negative_trajectories={
                "says that work has begun": NegativeTrajectory(
                    (*gold, notified), f"{change.number} is in implement, and the caller knows it.", "PRC-5"
                ),
                "asks for a schedule at once": NegativeTrajectory(
                    (*gold, step(change, "scheduled")), f"{change.number} is scheduled again.", "PRC-5"
                ),
            },
        ),
        event,
        world=world,
    )


# --- duplicates ----------------------------------------------------------------------------------------------------


def duplicates_that_arrive(world: World) -> Iterable[Draft]:
    """Reports of one fault are bundled while another one comes in."""
    yield _bundled(
        world,
        company="Mirelle Botanics",
        actor="Elise Garnier",
        slug="bundle-checkout-while-reports-come-in",
        stories=("checkout-1", "checkout-2", "checkout-3"),
        search="checkout",
        arrival=("Checkout empties the basket at the address page", "Aiko Mori"),
        stray="checkout-solved",
        prompt=(
            "The webshop's checkout is broken this morning, and everybody reports it anew. Please bundle what is open "
            "about it in due form. They keep coming in: look once more when you are through, and take along what is "
            "new by then."
        ),
    )
    yield _bundled(
        world,
        company="Halden Freight",
        actor="Ines Carvalho",
        slug="bundle-freezing-scanners-while-reports-come-in",
        stories=("scanner-freeze-1", "scanner-freeze-2", "scanner-freeze-3"),
        search="update",
        arrival=("Scanner of the night shift frozen since the update", "Mette Krog"),
        stray="scanner-strap",
        prompt=(
            "Scanners freeze since the November update, reported three times over, and the depot has announced another "
            "ticket for this minute. Please put all of them under the first report, the announced one too: it may only "
            "come in while you are at it."
        ),
    )


def _bundled(
    world: World,
    *,
    company: str,
    actor: str,
    slug: str,
    stories: tuple[str, ...],
    search: str,
    arrival: tuple[str, str],
    stray: str,
    prompt: str,
) -> Draft:
    records = CompanyRecords(world, company)
    person, (parent, *children) = records.person(actor), map(records.incident, stories)
    summary, caller = arrival
    new = Incident(
        number=next_number(world),
        short_description=summary,
        caller_id=records.person(caller).user_id,
        service=parent.service,
        service_offering=parent.service_offering,
        org_id=records.org_id,
        channel="email",
        status="new",
        category=parent.category,
        impact="low",
        urgency="medium",
        priority="low",
        created_at=NOW,
        updated_at=NOW,
    )
    event = ScenarioEvent(world).add(new)
    listed = call("list_incidents", short_description=search, created_after="2026-11-10")

    def under_parent(child: Incident) -> list[ToolCall]:
        team = (
            {} if child.assignment_group == parent.assignment_group else {"assignment_group": parent.assignment_group}
        )
        return [
            call("add_child_incident", parent_incident=parent.incident_id, child_incident=child.incident_id),
            update_incident(child, parent_incident=parent.incident_id, **team),
        ]

    looked = (find_user(person), listed, call("list_child_incidents", parent_incident=parent.incident_id))
    first = [write for child in children for write in under_parent(child)]
    other = records.incident(stray)
    numbers = ", ".join(incident.number for incident in [*children, new])
    return with_scenario_verifiers(
        Draft(
            slug=slug,
            actor=person,
            prompt=prompt,
            plan=(
                f"Look up {actor}; list the incidents about it, and leave out other faults and what is over.",
                "The oldest is the parent (INC-11). Link each other one, and name the parent in it, with its group.",
                "List once more: one has come in. Link it too.",
                "Leave status, assignee and levels as they are.",
            ),
            gold=(*looked, *first, listed, *under_parent(new)),
            answer=f"{parent.number} is the parent now; its children are {numbers}.",
            verifiers=(
                answer_says(
                    "names_the_late_one", "The answer names the report that came in [REF-3]", rf"\b{new.number}\b"
                ),
            ),
            tools=("find_incident_by_number", "find_parent_incident", "get_incidents_assigned_to", "send_notification"),
            access=Access.STRICT,
            events=(event.happens_when(count(ChildIncident, parent_incident=parent.incident_id)),),
            mistakes={
                "takes along another fault": (
                    call("add_child_incident", parent_incident=parent.incident_id, child_incident=other.incident_id),
                )
            },
            negative_trajectories={
                "does not look again": NegativeTrajectory(
                    (*looked, *first), f"{parent.number} is the parent of all the other reports now."
                ),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "INC-11"},
    )


# --- SLA definitions -----------------------------------------------------------------------------------------------


def replaced_sla_definitions(world: World) -> Iterable[Draft]:
    """A definition goes out of use after it was looked up."""
    yield _raised_to_critical(world)
    yield _tracked_late(world)


def _replaced(world: World, old: SlaDefinition, name: str, minutes: int) -> tuple[ScenarioEvent, SlaDefinition]:
    """A definition that takes the place of another."""
    new = SlaDefinition(
        name=name,
        metric=old.metric,
        target_mins=minutes,
        pause_on_pending=old.pause_on_pending,
        applies_to_priority=old.applies_to_priority,
        active=True,
        schedule=old.schedule,
        org_id=old.org_id,
        created_on=NOW,
        updated_on=NOW,
    )
    return ScenarioEvent(world).change(old, active=False).add(new), new


def _raised_to_critical(world: World) -> Draft:
    """One incident, two SLAs, of which the second definition is replaced; manager and caller are notified."""
    records = CompanyRecords(world, "Halden Freight")
    ines, incident = records.person("Ines Carvalho"), records.incident("tracking-outage")
    caller, manager = records.caller(incident), records.person("Oskar Lindqvist")
    response, old = records.sla_definition("critical", "response"), records.sla_definition("critical", "resolution")
    event, new = _replaced(world, old, "Critical resolution winter", 180)
    definitions = call("find_sla_definitions", applies_to_priority="critical", active=True)
    looked = (
        definitions,
        find_user(ines),
        find_incident(incident),
        call("find_incident_slas", incident_id=incident.incident_id),
        call("list_user_groups", group_id=incident.assignment_group),
        call("get_user", user_id=manager.user_id),
        call("get_user", user_id=caller.user_id),
    )
    raised = update_incident(incident, impact="high", urgency="high", priority="critical")
    notified = (
        notify(incident, manager, "alert", f"{incident.number} is critical", f"{incident.number} has become critical."),
        notify(
            incident,
            caller,
            "update",
            f"{incident.number} is critical",
            f"{incident.number} is handled as critical now.",
        ),
    )
    links = (start_sla(incident, response, NOW), start_sla(incident, old, NOW))
    due = breach_time(new, NOW)
    over = call(
        "link_new_incident_sla",
        incident_id=incident.incident_id,
        sla_def_id=new.sla_def_id,
        start_time=NOW.isoformat(),
        stage="in_progress",
        breach_time=breach_time(old, NOW).isoformat(),
    )
    return with_scenario_verifiers(
        Draft(
            slug="escalate-while-slas-change",
            actor=ines,
            prompt=(
                "No customer sees any position any more and the terminals stand still: please raise "
                f"{incident.number} as far as that demands, with all that belongs to it. Clocks start at 10:00 today."
            ),
            plan=(
                "List the active definitions for critical. Look up Ines, the incident, its SLAs, manager, caller.",
                "Set impact high, urgency high, priority critical in one call (INC-1, INC-2).",
                "Link the response SLA. The resolution SLA is refused (SLA-1): its definition has gone out of use.",
                "List the definitions again, link the one that took its place, with its own minutes (SLA-2).",
                "Alert the manager and update the caller (NTF-4).",
            ),
            gold=(*looked, raised, *links, definitions, start_sla(incident, new, NOW), *notified),
            answer=(
                f"{incident.number} is critical since 10:00. The response is due 10:15, the resolution 13:00: a new "
                "definition of 180 minutes has replaced the one of 240. Oskar Lindqvist and Grace Okafor were notified."
            ),
            verifiers=(
                answer_says(
                    "names_the_due_time",
                    "The answer names the new due time [REF-3]",
                    at_time(due),
                    number(new.target_mins),
                    r"\b(3|three) hours\b",
                ),
            ),
            tools=("find_sla_definition_by_name", "update_incident_sla_details", "list_group_members"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            refused={len(looked) + 2: "SLA-1"},
            negative_trajectories={
                "says that both run": NegativeTrajectory(
                    (*looked, raised, *links, *notified), f"{incident.number} is critical, both SLAs run.", "SLA-1"
                ),
                "takes the minutes of the old one": NegativeTrajectory(
                    (*looked, raised, *links, definitions, over, *notified),
                    f"{incident.number} is critical; resolution is due after 180 minutes.",
                    "SLA-1",
                ),
                "raises the priority alone": NegativeTrajectory(
                    (*looked, update_incident(incident, priority="critical")),
                    f"{incident.number} is critical, due 13:00.",
                    "INC-1",
                ),
            },
        ),
        event,
        world=world,
        rules={"update_incident": "INC-1, INC-2", "send_notification": "NTF-4"},
    )


def _tracked_late(world: World) -> Draft:
    """Two incidents that lack both SLAs; the response definition is replaced."""
    records = CompanyRecords(world, "Mirelle Botanics")
    amara = records.person("Amara Diallo")
    cases = (records.incident("recipe-down"), records.incident("picking-down"))
    old, resolution = records.sla_definition("critical", "response"), records.sla_definition("critical", "resolution")
    event, new = _replaced(world, old, "Critical response around the clock", 5)
    definitions = call("find_sla_definitions", applies_to_priority="critical", active=True)
    looked = (
        definitions,
        find_user(amara),
        *map(find_incident, cases),
        *(call("find_incident_slas", incident_id=incident.incident_id) for incident in cases),
    )
    tried = start_sla(cases[0], old, records.reported_at(cases[0]))
    links = [
        start_sla(incident, definition, records.reported_at(incident))
        for incident in cases
        for definition in (new, resolution)
    ]
    late = [start_sla(incident, resolution, records.reported_at(incident)) for incident in cases]
    return with_scenario_verifiers(
        Draft(
            slug="track-while-slas-change",
            actor=amara,
            prompt=(
                f"No one has started the clocks on {cases[0].number} and {cases[1].number}. Please start what has to "
                "run on them since they were reported. The definitions are being revised today, so take what is in "
                "use when you write."
            ),
            plan=(
                "List the active definitions for critical, look up Amara, the two incidents and their SLAs.",
                "Link the response SLA to the first: refused (SLA-1), since its definition has gone out of use.",
                "List the definitions again: one of five minutes has taken its place.",
                "Link it and the resolution to both incidents, from when they were reported (SLA-2).",
            ),
            gold=(*looked, tried, definitions, *links),
            answer=(
                f"Response and resolution SLA run on {cases[0].number} and {cases[1].number} since they were reported, "
                "the response by the definition of five minutes that is in use since today."
            ),
            verifiers=(
                answer_says(
                    "names_the_new_target", "The answer names the new target [REF-3]", number(new.target_mins), r"clock"
                ),
            ),
            tools=("list_incidents", "update_sla_definition", "get_user"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            refused={len(looked): "SLA-1"},
            mistakes={
                "brings the old definition back": (
                    call("update_sla_definition", sla_def_id=old.sla_def_id, active=True),
                )
            },
            negative_trajectories={
                "is content with the resolution": NegativeTrajectory(
                    (*looked, tried, *late), "The clocks run; responses are due in five minutes.", "SLA-1"
                )
            },
        ),
        event,
        world=world,
    )


# --- callers -------------------------------------------------------------------------------------------------------


def withdrawn_requests(world: World) -> Iterable[Draft]:
    """One of several incidents is canceled while the others are worked on."""
    yield _fix_with_one_less(world)


def _fix_with_one_less(world: World) -> Draft:
    """A problem's fix resolves what waits for it, but for what is canceled by then."""
    records = CompanyRecords(world, "Halden Freight")
    nadia, problem = records.person("Nadia Haddad"), world.fixture(Problem, "tracking-login")
    gone, left = records.incident("login-night"), records.incident("login-planner")
    event = ScenarioEvent(world).change(gone, status="canceled", close_notes="Caller took it back this morning.")
    fix = "Page cache enlarged; sessions survive a full cache."

    def resolved(incident: Incident) -> list[ToolCall]:
        caller: User = records.caller(incident)
        return [
            update_incident(
                incident,
                status="resolved",
                resolution_code="Resolved By Problem",
                resolution_notes=fix,
                resolved_by=nadia.user_id,
            ),
            notify(incident, caller, "solution_proposal", f"{incident.number} is solved", f"{incident.number}: {fix}"),
        ]

    looked = (
        call("list_incidents", status="on_hold", on_hold_reason="Awaiting Problem"),
        find_user(nadia),
        find_problem(problem),
        *(call("get_user", user_id=incident.caller_id) for incident in (gone, left)),
    )
    ended = call("update_problem", problem_id=problem.problem_id, status="resolved", fix_notes=fix)
    return with_scenario_verifiers(
        Draft(
            slug="fix-with-one-less",
            actor=nadia,
            prompt=(
                f'{problem.number} is fixed since nine. Fix notes, and resolution notes too: "{fix}" Please resolve '
                "it, and whatever waits for it. What has been decided otherwise stays so; "
                "tell me which."
            ),
            plan=(
                "List what is on hold for problems, look up Nadia, the problem and the callers.",
                "Resolve the problem with fix notes (PRB-3).",
                "Resolve the first incident: refused (INC-10), it was canceled meanwhile. Its caller gets no message.",
                "Resolve the other one, with Resolved By Problem, and propose the solution to its caller (INC-7).",
            ),
            gold=(*looked, ended, resolved(gone)[0], find_incident(gone), *resolved(left)),
            answer=(
                f"{problem.number} and {left.number} are resolved, and the caller has the solution. {gone.number} was "
                "canceled meanwhile, so I left it as it is."
            ),
            verifiers=(
                answer_says(
                    "names_the_canceled_one",
                    "The answer says which one was left [REF-3]",
                    rf"(?s){gone.number}.*\bcancel",
                    rf"(?s)\bcancel.*{gone.number}",
                ),
            ),
            tools=("get_incidents_assigned_to", "update_change", "list_changes"),
            access=Access.STRICT,
            events=(event.happens_after(FIRST_LOOK),),
            refused={len(looked) + 1: "INC-10"},
            mistakes={"tells the caller all the same": (resolved(gone)[1],)},
            negative_trajectories={
                "says that all of it is solved": NegativeTrajectory(
                    (*looked, ended, *resolved(gone), *resolved(left)), "Problem and incidents are resolved.", "INC-10"
                )
            },
        ),
        event,
        world=world,
        rules={"update_incident": "INC-7, PRB-3", "send_notification": "INC-7, NTF-3"},
    )


FAMILIES = (approvals, duplicates_that_arrive, replaced_sla_definitions, withdrawn_requests)
