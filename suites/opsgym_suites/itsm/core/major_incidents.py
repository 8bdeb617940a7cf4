"""Tasks about faults with many reports: major incidents, and problems behind recurring incidents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from opsgym_api.tasks.answer_patterns import number
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.priority_matrix import priority_of
from opsgym_domains.itsm.tables import Change, Incident, Knowledge, Problem, Service, User
from opsgym_suites.itsm.calls import find_problem, find_user, notify, numbers, start_sla, update_incident
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import Present, answer_says
from opsgym_suites.kit.world import at

LEVELS = ("high", "medium", "low")


def _reports(records: CompanyRecords, key: str, number: int) -> list[Incident]:
    """The incidents that report a shared fault, oldest first."""
    return [records.incident(f"{key}-{count}") for count in range(1, number + 1)]


def _listed(records: CompanyRecords, service: str) -> tuple[ToolCall, ToolCall]:
    """Call that lists the incidents of a service."""
    row = records.named(Service, service)
    return call("find_service_by_name", name=row.name), call("list_incidents", service=row.service_id)


def _highest(reports: Sequence[Incident]) -> dict[str, str]:
    """Levels of a problem behind these reports, and the priority that follows [PRB-2]."""
    impact = min((incident.impact for incident in reports), key=LEVELS.index)
    urgency = min((incident.urgency for incident in reports), key=LEVELS.index)
    return {"impact": impact, "urgency": urgency, "priority": priority_of(impact, urgency)}


# --- a major incident ----------------------------------------------------------------------------------------------


def major_incidents(world: World) -> Iterator[Draft]:
    """Reports of one outage become children of the oldest, whose priority is raised."""
    yield _major(
        world,
        company="Halden Freight",
        key="crane-silence",
        reports=5,
        service="Crane Telemetry",
        actor="Ines Carvalho",
        slug="major-crane-silence",
        levels=("high", "high"),
        start=at("11-16 09:30"),
        prompt=(
            "The cranes on the western quay send nothing any more, and several people have reported it this morning. "
            "At "
            "09:30 the whole site stopped working because of it. Bundle what belongs together, and treat it as what "
            "it is: customers are affected and work stands still. The clocks run from 09:30 today."
        ),
    )
    yield _major(
        world,
        company="Mirelle Botanics",
        key="greenhouse-cold",
        reports=4,
        service="Greenhouse Control",
        actor="Yara Haidar",
        slug="major-greenhouse-cold",
        levels=("high", "high"),
        start=None,
        prompt=(
            "House 3 of the greenhouses has lost heating and values; I count several reports since five o'clock. All "
            "of Garden Works is affected, and work stands still. Put the reports about that under one incident and "
            "raise that one as the policy wants it, its clocks since it was reported. The door has nothing to do "
            "with it."
        ),
    )
    yield _major(
        world,
        company="Mirelle Botanics",
        key="loyalty-double",
        reports=3,
        service="Loyalty Cards",
        actor="Sana Qureshi",
        slug="bundle-double-points",
        levels=("medium", "high"),
        start=at("11-16 09:05"),
        prompt=(
            "Customers get their loyalty points twice, and we have it in the queue more than once. One incident should "
            "carry it, with the others as parts of it; set it to impact medium and urgency high, with what that brings "
            "with it. It got this bad at 09:05 today, so let the clocks start then."
        ),
    )


def _major(
    world: World,
    *,
    company: str,
    key: str,
    reports: int,
    service: str,
    actor: str,
    slug: str,
    levels: tuple[str, str],
    start: datetime | None,
    prompt: str,
) -> Draft:
    records = CompanyRecords(world, company)
    acting, (parent, *children), decoy = (
        records.person(actor),
        _reports(records, key, reports),
        records.incident(f"{key}-not-1"),
    )
    priority = priority_of(*levels)
    definitions = [records.sla_definition(priority, metric) for metric in ("response", "resolution")]
    begun = start or records.reported_at(parent)
    notified = _critical_notifications(records, parent) if priority == "critical" else []
    draft = Draft(
        slug=slug,
        actor=acting,
        prompt=prompt,
        plan=(
            f"Look up {actor}, the service and its incidents.",
            "Keep the open reports of this fault; one incident about the service is something else.",
            "The oldest is the parent (INC-11): link each other one as its child and name the parent in it.",
            f"Set the parent's impact and urgency, with priority {priority}, in one call (INC-1).",
            f"Link both active SLAs for {priority} to the parent, with their breach times (SLA-1, SLA-2).",
            *(["Alert the group's manager and notify the caller (NTF-4)."] if notified else []),
        ),
        gold=(
            find_user(acting),
            *_listed(records, service),
            call("find_sla_definitions", applies_to_priority=priority, active=True),
            call("find_incident_slas", incident_id=parent.incident_id),
            *(
                [
                    call("list_user_groups", group_id=parent.assignment_group),
                    *(call("get_user", user_id=user.user_id) for user, _call in notified),
                ]
                if notified
                else []
            ),
            update_incident(parent, impact=levels[0], urgency=levels[1], priority=priority),
            call(
                "add_child_incidents",
                parent_incident=parent.incident_id,
                child_incidents=[child.incident_id for child in children],
            ),
            *(update_incident(child, parent_incident=parent.incident_id) for child in children),
            *(start_sla(parent, definition, begun) for definition in definitions),
            *(message for _user, message in notified),
        ),
        answer=(
            f"{parent.number} is {priority} and has {numbers(children)} as children. Its SLAs run since {begun:%H:%M}."
        ),
        verifiers=(),
        tools=("add_child_incident", "list_child_incidents", "find_incident_by_number", "send_notification"),
        mistakes={
            "makes something else a part of it": (update_incident(decoy, parent_incident=parent.incident_id),),
            "raises a child too": (update_incident(children[0], impact="high", urgency="high", priority="critical"),),
            "tracks a child": (start_sla(children[0], definitions[0], begun),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "update_incident": "INC-1, INC-11",
            "add_child_incidents": "INC-11",
            "link_new_incident_sla": "SLA-1, SLA-2",
            "send_notification": "NTF-2, NTF-4",
        },
    )


def _critical_notifications(records: CompanyRecords, incident: Incident) -> list[tuple[User, ToolCall]]:
    """Users to notify of a critical incident, with the call for each."""
    world = records.world
    group = next(team for team in records.teams() if team.group_id == incident.assignment_group)
    manager, caller = world.one(User, user_id=group.manager_id), records.caller(incident)
    fact = f"{incident.number}, '{incident.short_description}', is critical since this morning."
    return [
        (manager, notify(incident, manager, "alert", f"{incident.number} is critical", fact)),
        (caller, notify(incident, caller, "update", f"{incident.number}: now critical", fact)),
    ]


# --- a problem behind it -------------------------------------------------------------------------------------------


def recurring_faults(world: World) -> Iterator[Draft]:
    """Incidents that share a cause get a problem, and what else the request asks for."""
    yield _problem_and_change(world)
    yield _problem_and_article(world)
    yield _problem_and_hold(world)


def new_problem(
    records: CompanyRecords, reports: Sequence[Incident], statement: str, **more: str
) -> tuple[ToolCall, tuple[ToolCall, ...]]:
    """The call that opens a problem behind reports, and those that name it in each."""
    first = reports[0]
    given: dict[str, str] = {
        "problem_statement": statement,
        "short_description": statement.rstrip("."),
        "status": "new",
        "category": first.category,
        **_highest(reports),
        "original_task": first.incident_id,
        "assignment_group": first.assignment_group or "",
    }
    given |= {
        name: getattr(first, name)
        for name in ("service", "service_offering", "configuration_item")
        if getattr(first, name)
    }
    key = records.world.next_id(Problem)
    return call("create_problem", **given, **more), tuple(
        update_incident(incident, problem=key) for incident in reports
    )


def _problem_and_change(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, reports = records.person("Viktor Ek"), _reports(records, "weighbridge-zero", 4)
    decoy, first = records.incident("weighbridge-zero-not-1"), reports[0]
    opened, named = new_problem(records, reports, "Weighbridge terminal 1 reports no weight.")
    levels = _highest(reports)
    draft = Draft(
        slug="problem-weighbridge-with-change",
        actor=actor,
        prompt=(
            "Four people by now have reported that a weighbridge shows nothing or zero for loaded trucks, and it is "
            "the same terminal every time. Open a problem for it. Then request the change: new load cells in that "
            "terminal, hardware, medium risk; implementation plan 'Replace all four load cells on Sunday', testing "
            "plan 'Weigh the reference truck three times'. The two have to be connected."
        ),
        plan=(
            "Look up Viktor Ek, the service Weighbridge and its incidents.",
            "Keep the open reports of zero weight; the wrong logo has another cause.",
            (
                "Open a problem with what the reports share, their highest levels, and the oldest as original task "
                "(PRB-1, PRB-2)."
            ),
            "Name the problem in each report.",
            "Request the change in status new: impact and priority of the problem, no board needed (CHG-1 to CHG-3).",
            "Map the change to the problem.",
        ),
        gold=(
            find_user(actor),
            *_listed(records, "Weighbridge"),
            opened,
            *named,
            call(
                "create_change",
                short_description="New load cells for weighbridge terminal 1",
                status="new",
                category="hardware",
                risk="medium",
                impact=levels["impact"],
                priority=levels["priority"],
                cab_required=False,
                implementation_plan="Replace all four load cells on Sunday",
                testing_plan="Weigh the reference truck three times",
                service=first.service,
                service_offering=first.service_offering,
                configuration_item=first.configuration_item,
                assignment_group=first.assignment_group,
            ),
            call("map_change_request", change_id=world.next_id(Change), problem_id=world.next_id(Problem)),
        ),
        answer=f"A problem stands behind {numbers(reports)}, and a new change for the load cells is mapped to it.",
        verifiers=(),
        tools=("list_problems", "list_changes", "find_configuration_items", "link_affected_ci_to_incident"),
        mistakes={
            "adds what has another cause": (update_incident(decoy, problem=world.next_id(Problem)),),
            "approves the change": (call("update_change", change_id=world.next_id(Change), status="authorize"),),
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
    )


def _problem_and_article(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, reports = records.person("Maren Toft"), _reports(records, "airway-stamp", 3)
    author, decoy = records.person("Karim Nasser"), records.incident("airway-stamp-not-1")
    workaround = "Print the bill twice; the second copy has the stamp."
    opened, named = new_problem(records, reports, "Airway bills are printed without a stamp.", workaround=workaround)
    article = world.next_id(Knowledge)
    draft = Draft(
        slug="problem-airway-stamp-with-article",
        actor=actor,
        prompt=(
            "Airway bills have come out without their stamp several times in a row, so I want a problem opened behind "
            f"those reports. There is a workaround, record it there: '{workaround}' Write it up as a knowledge article "
            "too, 'Airway bill without a stamp', internal, still a draft, owned by Karim Nasser, and suggest it on "
            "each of those incidents."
        ),
        plan=(
            "Look up Maren Toft (a manager) and Karim Nasser, the service and its incidents.",
            "Keep the open reports of missing stamps; the rubber stamp is an order and not about this service.",
            "Open the problem with the highest levels, the oldest report as original task, and the workaround.",
            "Name the problem in each report.",
            "Write the article as an internal draft of Karim's and link it to each report as suggested.",
        ),
        gold=(
            find_user(actor),
            find_user(author),
            *_listed(records, "Airway Bills"),
            opened,
            *named,
            call(
                "create_knowledge_article",
                title="Airway bill without a stamp",
                owner_id=author.user_id,
                body=workaround,
                state="draft",
                visibility="internal",
            ),
            *(
                call(
                    "link_knowledge_to_incident",
                    incident_id=incident.incident_id,
                    knowledge_id=article,
                    used_as="suggested",
                )
                for incident in reports
            ),
        ),
        answer=f"A problem with the workaround stands behind {numbers(reports)}; the draft article is suggested there.",
        verifiers=(),
        tools=("retrieve_knowledge_articles", "find_incident_knowledge_links", "send_notification", "list_problems"),
        mistakes={
            "sends the draft to a caller": (
                notify(
                    reports[0], records.caller(reports[0]), "update", f"{reports[0].number}: workaround", workaround
                ),
            ),
            "adds the order of a stamp": (update_incident(decoy, problem=world.next_id(Problem)),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_problem": "PRB-1, PRB-2, PRB-4",
            "update_incident": "PRB-1",
            "create_knowledge_article": "KB-1",
            "link_knowledge_to_incident": "KB-1",
        },
    )


def _problem_and_hold(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, reports = records.person("Oumar Sarr"), _reports(records, "label-shift", 4)
    decoy, key = records.incident("label-shift-not-1"), world.next_id(Problem)
    opened, _named = new_problem(records, reports, "The batch label printer shifts its labels.")
    callers = list({incident.caller_id: records.caller(incident) for incident in reports}.values())
    draft = Draft(
        slug="problem-label-shift-on-hold",
        actor=actor,
        prompt=(
            "The batch label printer has been printing too low for a week, four reports so far. Make a problem of it, "
            "and put the reports on hold until it is solved. Callers should learn that their incident waits for it."
        ),
        plan=(
            "Look up Oumar Sarr, the service Batch Labels and its incidents.",
            "Keep the open reports of shifted labels; the spelling mistake is not a fault of the printer.",
            "Open the problem with what the reports share (PRB-1, PRB-2).",
            "Put each on hold, awaiting the problem, and name the problem in it (INC-6).",
            "Look up the callers and send each an update on each incident of theirs.",
        ),
        gold=(
            find_user(actor),
            *_listed(records, "Batch Labels"),
            opened,
            *(
                update_incident(incident, status="on_hold", on_hold_reason="Awaiting Problem", problem=key)
                for incident in reports
            ),
            *(call("get_user", user_id=user.user_id) for user in callers),
            *(
                notify(
                    incident,
                    records.caller(incident),
                    "update",
                    f"{incident.number} is on hold",
                    f"{incident.number} waits until the problem with the batch label printer is solved.",
                )
                for incident in reports
            ),
        ),
        answer=f"{numbers(reports)} are on hold for the new problem, and their callers know.",
        verifiers=(),
        tools=("list_problems", "find_incident_by_number", "link_affected_ci_to_incident"),
        mistakes={
            "holds the spelling mistake too": (
                update_incident(decoy, status="on_hold", on_hold_reason="Awaiting Problem", problem=key),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_problem": "PRB-1, PRB-2, LKP-3",
            "update_incident": "INC-6, PRB-1",
            "send_notification": "INC-6, NTF-2",
        },
    )


# --- solved with it ------------------------------------------------------------------------------------------------


def known_problems(world: World) -> Iterator[Draft]:
    """A problem progresses, and with it the incidents that are on hold for it."""
    yield _fixed(world)
    yield _worked_around(world)
    yield _waits_for_change(world)


def _fixed(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, problem = records.person("Henrik Solberg"), world.fixture(Problem, "slot-freeze")
    reports = _reports(records, "slot-freeze", 3)
    fix = "Connections are given back after every request."
    draft = Draft(
        slug="problem-slot-freeze-fixed",
        actor=actor,
        prompt=(
            f"{problem.number} is fixed, no one has seen slot planning freeze since last night. Fix notes: '{fix}' "
            "Finish the problem and everything that was waiting for it; use the fix notes as resolution notes."
        ),
        plan=(
            "Look up Henrik Solberg, the problem, and the incidents that name it.",
            "Resolve the problem with the fix notes (PRB-3).",
            (
                "Resolve each incident that is on hold for it in one call: code Resolved By Problem, the notes, and "
                "the problem's assignee as resolver (INC-7)."
            ),
            "Look up the callers and send each a solution_proposal.",
        ),
        gold=(
            find_user(actor),
            find_problem(problem),
            call("list_incidents", problem=problem.problem_id),
            *(call("get_user", user_id=incident.caller_id) for incident in reports),
            call("update_problem", problem_id=problem.problem_id, status="resolved", fix_notes=fix),
            *(
                update_incident(
                    incident,
                    status="resolved",
                    resolution_code="Resolved By Problem",
                    resolution_notes=fix,
                    resolved_by=problem.assigned_to,
                )
                for incident in reports
            ),
            *(
                notify(incident, records.caller(incident), "solution_proposal", f"{incident.number} is resolved", fix)
                for incident in reports
            ),
        ),
        answer=f"{problem.number} is resolved, and with it {numbers(reports)}; the callers have a solution proposal.",
        verifiers=(),
        tools=("find_incident_slas", "update_incident_sla_details", "find_incident_by_number"),
        mistakes={
            "clears the hold reason": (update_incident(reports[0], problem=""),),
            "closes at once": (update_incident(reports[1], status="closed", close_notes="Fixed."),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={"update_problem": "PRB-3", "update_incident": "PRB-3, INC-7", "send_notification": "INC-7, NTF-3"},
        expect={"send_notification": {"message": Present()}},
    )


def _worked_around(world: World) -> Draft:
    records = CompanyRecords(world, "Mirelle Botanics")
    actor, problem = records.person("Theo Marchand"), world.fixture(Problem, "voucher-expiry")
    reports = _reports(records, "voucher-expiry", 4)
    workaround = "The desk extends the voucher by a day on request."
    draft = Draft(
        slug="problem-voucher-workaround",
        actor=actor,
        prompt=(
            f"For {problem.number} we can offer this until it is fixed: '{workaround}' Please record that, tell "
            "everybody who is waiting for the problem, word for word, and let me know how many people that were."
        ),
        plan=(
            "Look up Theo Marchand, the problem, and the incidents on hold for it.",
            "Record the workaround in the problem (PRB-4).",
            "Look up the callers and send each the workaround as an update on their own incident.",
            "Say how many people there were.",
        ),
        gold=(
            find_user(actor),
            find_problem(problem),
            call("list_incidents", problem=problem.problem_id, status="on_hold"),
            *(call("get_user", user_id=incident.caller_id) for incident in reports),
            call("update_problem", problem_id=problem.problem_id, workaround=workaround),
            *(
                notify(incident, records.caller(incident), "update", f"{incident.number}: workaround", workaround)
                for incident in reports
            ),
        ),
        answer=f"The workaround is recorded, and {len(reports)} people have it: {numbers(reports)} stay on hold.",
        verifiers=(answer_says("answer_has_the_number", "The answer says how many [REF-3]", number(len(reports))),),
        tools=("find_incident_by_number", "update_incident", "find_notifications_sent_for_incident"),
        mistakes={
            "resolves an incident with the workaround": (
                update_incident(
                    reports[0],
                    status="resolved",
                    resolution_code="Workaround Provided",
                    resolution_notes=workaround,
                    resolved_by=reports[0].assigned_to,
                ),
            ),
        },
    )
    return with_verifiers(world, draft, rules={"update_problem": "PRB-4", "send_notification": "PRB-4, NTF-2"})


def _waits_for_change(world: World) -> Draft:
    records = CompanyRecords(world, "Halden Freight")
    actor, problem, change = (
        records.person("Nadia Haddad"),
        world.fixture(Problem, "slot-freeze"),
        world.fixture(Change, "slot-pool"),
    )
    reports = _reports(records, "slot-freeze", 3)
    draft = Draft(
        slug="hold-for-slot-pool-change",
        actor=actor,
        prompt=(
            f"What stops slot planning from freezing is {change.number}, and it has not been connected with anything "
            f"yet. Please connect it with {problem.number} and with the incidents that wait for that problem: they "
            "now await the change. The callers should know that."
        ),
        plan=(
            "Look up Nadia Haddad, the change, the problem, its incidents, and the mappings of the change.",
            "Map the change to the problem and to each incident.",
            (
                "Set each incident's hold reason to Awaiting Change and its change to this one (INC-6); the problem "
                "stays named."
            ),
            "Look up the callers and send each an update that says what is awaited.",
        ),
        gold=(
            find_user(actor),
            call("find_change_by_number", number=change.number),
            find_problem(problem),
            call("list_incidents", problem=problem.problem_id),
            call("list_change_request_mappings", change_id=change.change_id),
            *(call("get_user", user_id=incident.caller_id) for incident in reports),
            call("map_change_request", change_id=change.change_id, problem_id=problem.problem_id),
            *(
                call("map_change_request", change_id=change.change_id, incident_id=incident.incident_id)
                for incident in reports
            ),
            *(
                update_incident(incident, on_hold_reason="Awaiting Change", change_request=change.change_id)
                for incident in reports
            ),
            *(
                notify(
                    incident,
                    records.caller(incident),
                    "update",
                    f"{incident.number} awaits a change",
                    f"{incident.number} is on hold until {change.number} is done.",
                )
                for incident in reports
            ),
        ),
        answer=f"{change.number} is mapped to {problem.number} and to {numbers(reports)}, which await it now.",
        verifiers=(),
        tools=("find_change_request_mappings_for_problem", "update_change", "update_problem"),
        mistakes={"moves the change on": (call("update_change", change_id=change.change_id, status="implement"),)},
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "map_change_request": "INC-6, CHG-3",
            "update_incident": "INC-6",
            "send_notification": "INC-6, NTF-2",
        },
    )
