"""Tasks about faults with several reports: which of them belong together, and what they wait for."""

from __future__ import annotations

from datetime import datetime

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import Change, ChildIncident, ConfigurationItem, Incident, Problem, Service, User
from opsgym_suites.itsm.calls import callers, find_incident, find_problem, find_user, notify, numbers, start_sla
from opsgym_suites.itsm.calls import update_incident as updated
from opsgym_suites.itsm.core.major_incidents import new_problem
from opsgym_suites.itsm.core.scenario_events import ScenarioEvent, next_number
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers, with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import Has, Matches, May, answer_says
from opsgym_suites.kit.world import at

LINES, CLINICS = "Rimutaka Lines", "Harakeke Clinics"


def listed(records: CompanyRecords, service: str) -> tuple[ToolCall, ToolCall]:
    """Calls that look up a service and list its incidents."""
    line = records.named(Service, service)
    return call("find_service_by_name", name=line.name), call("list_incidents", service=line.service_id)


def waits(incident: Incident, reason: str, **fields: str) -> ToolCall:
    """Call that puts an incident on hold."""
    return updated(incident, status="on_hold", on_hold_reason=f"Awaiting {reason}", **fields)


# --- one outage, reported in local time ----------------------------------------------------------------------------


def blank_map(world: World) -> Draft:
    """The oldest report of the fault is not the service's oldest incident, and the user states a local time."""
    records = CompanyRecords(world, LINES)
    actor, parent, *children = records.person("Hana Ruru"), *(records.incident(f"map-{n}") for n in (1, 2, 3, 4))
    start, manager = at("2027-03-09 19:15"), records.person("Graham Pirie")
    definitions = [records.sla_definition("critical", metric) for metric in ("response", "resolution")]
    moved = {"assignment_group": parent.assignment_group}

    def solution(begun: datetime) -> tuple[ToolCall, ...]:
        return (
            find_user(actor),
            *listed(records, "Outage Map"),
            call("find_sla_definitions", applies_to_priority="critical", active=True),
            call("list_user_groups", group_id=parent.assignment_group),
            call("get_user", user_id=manager.user_id),
            call("get_user", user_id=parent.caller_id),
            updated(parent, impact="high", urgency="high", priority="critical"),
            call(
                "add_child_incidents",
                parent_incident=parent.incident_id,
                child_incidents=[child.incident_id for child in children],
            ),
            *(
                updated(
                    child,
                    parent_incident=parent.incident_id,
                    **(moved if child.assignment_group != parent.assignment_group else {}),
                )
                for child in children
            ),
            *(start_sla(parent, definition, begun) for definition in definitions),
            notify(parent, manager, "alert", f"{parent.number} is critical", "The outage map is blank."),
            notify(parent, records.caller(parent), "update", f"{parent.number} is critical", "It is critical now."),
        )

    draft = Draft(
        slug="blank-outage-map",
        actor=actor,
        prompt=(
            "No one sees any streets on the outage map, and the phones here do not stand still: customers cannot find "
            "out where the power is off, and from 8:15 this morning our work on it has stopped altogether. Put the "
            "reports of it together under one, and give that one the levels it deserves. Its clocks run from 8:15."
        ),
        plan=(
            "Look up Hana Ruru, the service Outage Map and its incidents.",
            "The old colours of the legend are another fault; the oldest report of the blank map is the parent.",
            "Impact and urgency high, priority critical (INC-1, INC-2); 8:15 in Wellington is 19:15 UTC on 9 March.",
            "Link the others as children with the parent's group (INC-11); one of them is at the service desk.",
            "Link both critical SLAs, alert the group's manager and notify the caller (SLA-1, NTF-4).",
        ),
        gold=solution(start),
        answer=f"{parent.number} is critical with the children {numbers(children)}; its SLAs run since 19:15 UTC.",
        verifiers=(),
        tools=("list_child_incidents", "find_incident_by_number", "find_incident_slas"),
        mistakes={
            "takes the old colours along": (
                updated(records.incident("map-not-1"), parent_incident=parent.incident_id),
            ),
            "tracks a child as well": (start_sla(children[0], definitions[0], start),),
        },
        negative_trajectories={
            "takes 8:15 for UTC": NegativeTrajectory(
                solution(at("2027-03-09 08:15")), f"{parent.number} is critical; its SLAs run since 08:15."
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_child_incidents": "INC-11",
            "update_incident": "INC-1, INC-2, INC-11",
            "link_new_incident_sla": "SLA-1, SLA-2",
        },
        expect={"send_notification": {"message": May()}},
    )


# --- children of the wrong parent ----------------------------------------------------------------------------------


def wrong_parent(world: World) -> Draft:
    """Two of four children belong to another incident, as their notes say."""
    records = CompanyRecords(world, LINES)
    actor, old, new = records.person("Sam Ioane"), records.incident("offline"), records.incident("gateway-h3")
    device = records.named(ConfigurationItem, "Gateway H3")
    moved = [records.incident("offline-2"), records.incident("offline-4")]
    links = {link.child_incident: link for link in world.all(ChildIncident, parent_incident=old.incident_id)}
    text = "Your tablet is connected by gateway H3, which does not answer at present."
    draft = Draft(
        slug="children-of-the-gateway",
        actor=actor,
        prompt=(
            f"We threw everything that was offline into {old.number}. Callum's tests are in the notes of the reports "
            f"now. What sits behind the gateway H3 belongs to {new.number} instead: change the links that are there, "
            "do not make new ones, list that gateway as affected in each, and tell each caller by an update: "
            f'"{text}" The rest stays where it is.'
        ),
        plan=(
            "Look up Sam Ioane, both incidents, the children of the first one, and the gateway.",
            "Read the children: the notes of two name gateway H3. One that mentions H8 had another cause.",
            "Change their links, and in each the parent and the group (INC-11).",
            "Link the gateway as affected; look up the callers and send each an update.",
        ),
        gold=(
            find_user(actor),
            find_incident(old),
            find_incident(new),
            call("list_child_incidents", parent_incident=old.incident_id),
            *(call("find_incident_by_id", incident_id=key) for key in links),
            call("find_configuration_item_by_serial_number", serial_number=device.serial_number),
            *callers(moved),
            *(
                call(
                    "update_child_incident",
                    child_incident_mapping_id=links[child.incident_id].child_incident_mapping_id,
                    parent_incident=new.incident_id,
                    child_incident=child.incident_id,
                )
                for child in moved
            ),
            *(
                updated(child, parent_incident=new.incident_id, assignment_group=new.assignment_group)
                for child in moved
            ),
            *(
                call(
                    "link_affected_ci_to_incident",
                    configuration_item=device.configuration_item_id,
                    incident_id=child.incident_id,
                )
                for child in moved
            ),
            *(notify(child, records.caller(child), "update", f"{child.number}: gateway H3", text) for child in moved),
        ),
        answer=f"{numbers(moved)} belong to {new.number} now; their callers know. The others stay.",
        verifiers=(),
        tools=("add_child_incident", "remove_child_incident", "list_incident_affected_cis", "list_incidents"),
        mistakes={
            "moves one that the gateway has no part in": (
                updated(records.incident("offline-3"), parent_incident=new.incident_id),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_child_incident": "INC-11",
            "update_incident": "INC-11",
            "link_affected_ci_to_incident": "ID-4",
            "send_notification": "NTF-1, NTF-2, NTF-3",
        },
        expect={"send_notification": {"message": Has(text)}},
    )


# --- a cause that only the notes show ------------------------------------------------------------------------------


def meter_gaps(world: World) -> Draft:
    """Five reports look alike; the notes of three name one cause."""
    records = CompanyRecords(world, LINES)
    actor, reports = records.person("Mei Tan"), [records.incident(f"gap-{n}") for n in (1, 3, 5)]
    first = reports[0]
    opened, named = new_problem(records, reports, "Job 7 of the head-end stops without an alarm.")
    change, problem = world.next_id(Change), world.next_id(Problem)
    plan, test = "Restart the job when it has been silent for an hour", "Stop the job by hand and wait"
    draft = Draft(
        slug="gaps-in-the-readings",
        actor=actor,
        prompt=(
            "Five places have no readings, but only some of that is our own head-end; the technicians have written "
            "down what they found. For what the head-end is to blame I need a problem, statement 'Job 7 of the "
            "head-end stops without an alarm.', and a change that keeps the job alive: system software, low risk, "
            f"plan '{plan}', test '{test}'. Tie together what belongs together."
        ),
        plan=(
            "Look up Mei Tan, the service Smart Meters and its incidents.",
            "Read the notes: three reports are due to job 7; a fuse and a swapped meter are something else.",
            "Open the problem with their highest levels and the oldest as original task (PRB-1, PRB-2).",
            "Name it in each of the three.",
            "Request the change with the problem's impact and priority, without the board; map it (CHG-1 to CHG-3).",
        ),
        gold=(
            find_user(actor),
            *listed(records, "Smart Meters"),
            opened,
            *named,
            call(
                "create_change",
                short_description="Watch over job 7",
                status="new",
                category="system_software",
                risk="low",
                impact="medium",
                priority="moderate",
                cab_required=False,
                implementation_plan=plan,
                testing_plan=test,
                service=first.service,
                service_offering=first.service_offering,
                configuration_item=first.configuration_item,
                assignment_group=first.assignment_group,
            ),
            call("map_change_request", change_id=change, problem_id=problem),
        ),
        answer=f"A problem stands behind {numbers(reports)}, and a new change is mapped to it.",
        verifiers=(),
        tools=("list_problems", "list_changes", "find_incident_by_number", "find_configuration_items"),
        mistakes={
            "blames the head-end for a fuse": (updated(records.incident("gap-2"), problem=problem),),
            "maps the change to a report as well": (
                call("map_change_request", change_id=change, incident_id=first.incident_id),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_problem": "PRB-1, PRB-2, LKP-3",
            "update_incident": "PRB-1",
            "create_change": "CHG-1, CHG-2, CHG-3, LKP-3",
            "map_change_request": "CHG-3",
        },
        expect={"create_problem": {"short_description": May()}},
    )


# --- a measurement that arrives when the problem is opened -----------------------------------------------------------


def radio_noise(world: World) -> Draft:
    """Opening the problem makes the control system file its own report, which raises the problem's levels."""
    records = CompanyRecords(world, LINES)
    actor, reports = records.person("Tevita Moala"), [records.incident(f"noise-{n}") for n in (1, 2, 3)]
    first, keeper = reports[0], records.person("Kiri Walker")
    opened, _named = new_problem(records, reports, "Interference on the dispatch channel.")
    problem = world.next_id(Problem)
    measured = Incident(
        number=next_number(world),
        short_description="Dispatch channel: interference measured",
        description="Filed by the control system.",
        caller_id=keeper.user_id,
        service=first.service,
        service_offering=first.service_offering,
        assignment_group=first.assignment_group,
        org_id=records.org_id,
        channel="virtual-agent",
        status="new",
        category="network",
        impact="medium",
        urgency="medium",
        priority="moderate",
        created_at=world.now,
        updated_at=world.now,
    )
    event = ScenarioEvent(world).add(measured)
    cases = [*reports, measured]
    look = listed(records, "Crew Dispatch")
    opening = (find_user(actor), *look, opened)
    raised = call("update_problem", problem_id=problem, impact="medium", urgency="medium", priority="moderate")

    def waiting(*these: Incident) -> tuple[ToolCall, ...]:
        messages = (
            notify(
                case,
                world.one(User, user_id=case.caller_id),
                "update",
                f"{case.number}: interference",
                "Your incident waits for the problem of interference on the dispatch channel.",
            )
            for case in these
        )
        return (*callers(list(these)), *(waits(case, "Problem", problem=problem) for case in these), *messages)

    return with_scenario_verifiers(
        Draft(
            slug="interference-on-the-dispatch-channel",
            actor=actor,
            prompt=(
                "Crews complain about the dispatch radio since this morning, hum, crackling, cut voices. Open a "
                "problem for that, statement 'Interference on the dispatch channel.' As soon as a problem exists, the "
                "control system may file what it has measured as a report of its own; look again, that counts like "
                "the others. Then everything that belongs to the problem waits for it."
            ),
            plan=(
                "Look up Tevita Moala, the service Crew Dispatch and its incidents; the beeping base is another fault.",
                "Open the problem with the highest levels of the three reports (PRB-1, PRB-2).",
                "List the incidents again: the control system has filed one, with a higher impact.",
                "Raise the problem to impact and urgency medium, priority moderate (PRB-2).",
                "Put all four on hold for the problem and notify their callers (INC-6).",
            ),
            gold=(*opening, look[1], raised, *waiting(*cases)),
            answer=f"The problem is open, of moderate priority, and {numbers(cases)} wait for it.",
            verifiers=(
                answer_says(
                    "names_the_measurement", "The answer names the report that came in [REF-3]", measured.number
                ),
            ),
            tools=("find_problem_by_number", "list_problems", "find_incident_by_number", "list_child_incidents"),
            events=(event.happens_on("create_problem"),),
            mistakes={
                "lets the beeping base wait too": (waits(records.incident("noise-not-1"), "Problem", problem=problem),)
            },
            negative_trajectories={
                "does not look again": NegativeTrajectory(
                    (*opening, *waiting(*reports)), f"The problem is open, and {numbers(reports)} wait for it."
                ),
                "leaves the levels of the problem": NegativeTrajectory(
                    (*opening, look[1], *waiting(*cases)), f"The problem is open, and {numbers(cases)} wait for it."
                ),
            },
        ),
        event,
        world=world,
        rules={
            "create_problem": "PRB-1, PRB-2, LKP-3",
            "update_incident": "PRB-1, INC-6",
            "send_notification": "INC-6, NTF-2",
        },
        expect={"create_problem": {"short_description": May()}, "send_notification": {"message": May()}},
    )


# --- one of two changes of the same name ---------------------------------------------------------------------------


def frozen_console(world: World) -> Draft:
    """Two changes have the same title; the device of the incident says which one it waits for."""
    records = CompanyRecords(world, LINES)
    actor, incident = records.person("Callum Reid"), records.incident("console")
    change, other = world.fixture(Change, "console-2-memory"), world.fixture(Change, "console-1-memory")
    title = "More memory for a control console"
    draft = Draft(
        slug="console-waits-for-its-memory",
        actor=actor,
        prompt=(
            f"{incident.number} will be over when the console gets more memory, and that change is scheduled already. "
            "So let the incident wait for the change, everything as our rules want it, also for the change itself."
        ),
        plan=(
            "Look up Callum Reid, the incident with its device, and the changes for more memory.",
            "Two have the same title; take the one on the incident's device.",
            "Map it to the incident, and give it the incident's impact and priority (CHG-3). Its status stays.",
            "Put the incident on hold with the change, and tell the caller what it waits for (INC-6).",
        ),
        gold=(
            find_user(actor),
            find_incident(incident),
            call("list_changes", short_description=title),
            call("get_user", user_id=incident.caller_id),
            call("map_change_request", change_id=change.change_id, incident_id=incident.incident_id),
            call("update_change", change_id=change.change_id, impact="medium", priority="moderate"),
            waits(incident, "Change", change_request=change.change_id),
            notify(
                incident,
                records.caller(incident),
                "update",
                f"{incident.number} waits for {change.number}",
                f"Your incident waits for change {change.number}: {title}.",
            ),
        ),
        answer=f"{incident.number} waits for {change.number}, which has its impact and priority now.",
        verifiers=(answer_says("names_the_change", "The answer names the change [REF-3]", change.number),),
        tools=("list_change_request_mappings", "find_change_by_number", "find_configuration_items"),
        mistakes={
            "maps the change of the other console as well": (
                call("map_change_request", change_id=other.change_id, incident_id=incident.incident_id),
            ),
            "starts the change": (call("update_change", change_id=change.change_id, status="implement"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "map_change_request": "CHG-3, INC-6",
            "update_change": "CHG-3",
            "update_incident": "INC-6",
            "send_notification": "INC-6, NTF-3",
        },
        expect={"send_notification": {"message": Matches(rf"{change.number}|memory")}},
    )


# --- the end of a problem ------------------------------------------------------------------------------------------


def fridge_alarms(world: World) -> Draft:
    """One incident of the problem is not on hold for it, and one caller has left."""
    records = CompanyRecords(world, CLINICS)
    actor, problem = records.person("Fetu Lagi"), world.fixture(Problem, "fridge-alarms")
    cases, fix = [records.incident(f"fridge-{n}") for n in (1, 2, 3)], "Firmware 3.3 is on every logger."
    article = records.article("Fridge alarms after the logger update")
    present = [case for case in cases if records.caller(case).active]
    other = records.incident("fridge-4")

    def solved(case: Incident) -> ToolCall:
        return updated(
            case,
            status="resolved",
            resolution_code="Resolved By Problem",
            resolution_notes=fix,
            resolved_by=problem.assigned_to,
        )

    draft = Draft(
        slug="fridge-alarms-are-fixed",
        actor=actor,
        prompt=(
            f'Done at last: "{fix}" Finish {problem.number} with these words, and with the same words what has been '
            "waiting for it. In each of those record our article 'Fridge alarms after the logger update' as the "
            "resolution."
        ),
        plan=(
            "Look up Fetu Lagi, the problem and the incidents that name it, the article, and the callers.",
            "Resolve the problem with the fix notes.",
            "Resolve the three that are on hold for it, by its assignee (PRB-3); the other one has another fault.",
            "Link the article as resolution. It is internal, so no one is sent its text (KB-1).",
            "Send a solution_proposal to the callers whose account is active (INC-7, NTF-1).",
        ),
        gold=(
            find_user(actor),
            find_problem(problem),
            call("list_incidents", problem=problem.problem_id),
            call("retrieve_knowledge_articles", title=article.title),
            *callers(cases),
            call("update_problem", problem_id=problem.problem_id, status="resolved", fix_notes=fix),
            *map(solved, cases),
            *(
                call(
                    "link_knowledge_to_incident",
                    incident_id=case.incident_id,
                    knowledge_id=article.knowledge_id,
                    used_as="resolution",
                )
                for case in cases
            ),
            *(
                notify(case, records.caller(case), "solution_proposal", f"{case.number} is solved", fix)
                for case in present
            ),
        ),
        answer=f"{problem.number} and {numbers(cases)} are resolved; {other.number} is still in progress.",
        verifiers=(),
        tools=("find_incident_by_number", "find_incident_knowledge_links", "list_users", "update_change"),
        mistakes={
            "resolves the one with a dark lamp": (solved(other),),
            "writes to a user who has left": (
                notify(cases[2], records.caller(cases[2]), "solution_proposal", f"{cases[2].number} is solved", fix),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_problem": "PRB-3",
            "update_incident": "PRB-3, INC-7",
            "link_knowledge_to_incident": "KB-1",
            "send_notification": "INC-7, NTF-1, NTF-2",
        },
        expect={"send_notification": {"message": May()}},
    )


FAMILIES = (blank_map, wrong_parent, meter_gaps, radio_noise, frozen_console, fridge_alarms)
