"""Tasks about SLAs, articles and the enforced process of changes and problems."""

from __future__ import annotations

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import (
    Change,
    IncidentKnowledge,
    IncidentSla,
    Knowledge,
    Problem,
    Service,
    SlaDefinition,
)
from opsgym_suites.itsm.calls import (
    callers,
    find_incident,
    find_problem,
    find_user,
    notify,
    numbers,
    start_sla,
    update_incident,
)
from opsgym_suites.itsm.core.events_records import find_change, step
from opsgym_suites.itsm.grid.outages import CLINICS, LINES, listed, waits
from opsgym_suites.itsm.records import CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_scenario_verifiers, with_verifiers
from opsgym_suites.kit.drafts import Draft, NegativeTrajectory, call
from opsgym_suites.kit.verifiers import Has, Matches, May


def unused_sla(world: World) -> Draft:
    """An SLA of a definition out of use is taken off before the incident is raised; another definition stays."""
    records = CompanyRecords(world, LINES)
    actor, incident = records.person("Sam Ioane"), records.incident("export")
    unused = world.one(SlaDefinition, org_id=records.org_id, name="Critical resolution 2025")
    (wrong,) = world.all(IncidentSla, incident_id=incident.incident_id, sla_def_id=unused.sla_def_id)
    valid = next(row for row in world.all(IncidentSla, incident_id=incident.incident_id) if row is not wrong)
    definitions = [records.sla_definition("high", metric) for metric in ("response", "resolution")]
    draft = Draft(
        slug="sla-of-a-definition-out-of-use",
        actor=actor,
        prompt=(
            f"An agent gave {incident.number} an SLA by a definition that is not in use any more. Take that off. All "
            "of billing stands still by now, only billing, so set the incident to the levels that this means, with all "
            "that follows from the new priority, and let the caller know by an update that it is being handled with "
            "that priority."
        ),
        plan=(
            "Look up Sam Ioane, the incident, its SLAs and their definitions: one is inactive. Delete that SLA.",
            "A team is affected and cannot work: impact medium, urgency high, priority high (INC-1, INC-2).",
            "Link both active SLAs for high from the time of the report (SLA-1, SLA-2); those for low stay.",
            "Send the caller an update.",
        ),
        gold=(
            find_user(actor),
            find_incident(incident),
            call("find_incident_slas", incident_id=incident.incident_id),
            call("find_sla_definitions"),
            call("get_user", user_id=incident.caller_id),
            call("delete_incident_slas", incident_sla_id=wrong.incident_sla_id),
            update_incident(incident, impact="medium", urgency="high", priority="high"),
            *(start_sla(incident, definition, records.reported_at(incident)) for definition in definitions),
            notify(
                incident,
                records.caller(incident),
                "update",
                f"{incident.number} has priority high",
                "Your incident is being handled with priority high.",
            ),
        ),
        answer=f"{incident.number} has priority high and its two SLAs; the one of a definition out of use is gone.",
        verifiers=(),
        tools=("update_incident_sla_details", "find_sla_definition_by_name", "list_incidents"),
        mistakes={
            "deletes a valid one": (call("delete_incident_slas", incident_sla_id=valid.incident_sla_id),),
            "raises it to critical": (update_incident(incident, impact="high", priority="critical"),),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "delete_incident_slas": "SLA-1",
            "update_incident": "INC-1, INC-2",
            "link_new_incident_sla": "SLA-1, SLA-2",
            "send_notification": "NTF-2, NTF-3",
        },
        expect={"send_notification": {"message": May()}},
    )


def stricter_sla(world: World) -> Draft:
    """A new definition replaces one on running incidents, but not where the old SLA is breached or paused."""
    records = CompanyRecords(world, CLINICS)
    actor, line = records.person("Mere Kingi"), records.named(Service, "Patient Records")
    old, key = records.sla_definition("low", "resolution"), world.next_id(SlaDefinition)
    rows = [
        (incident, sla)
        for incident in records.open_incidents(service=line.service_id, priority="low")
        for sla in world.all(IncidentSla, incident_id=incident.incident_id, sla_def_id=old.sla_def_id)
    ]
    running = [(incident, sla) for incident, sla in rows if sla.stage == "in_progress"]
    staying = [sla for _incident, sla in rows if sla.stage != "in_progress"]
    if not running or not staying:
        raise LookupError("no SLA of Patient Records runs, or none has another stage")
    new = SlaDefinition(sla_def_id=key, target_mins=3000)
    draft = Draft(
        slug="stricter-resolution-of-patient-records",
        actor=actor,
        prompt=(
            "Incidents with priority low have to be resolved within 3000 minutes from now on. Add 'Low resolution "
            "2027' for that, otherwise like Low resolution, which goes out of use. It applies at once to the open "
            "incidents about Patient Records whose old SLA is still in progress: set the old one to cancelled and "
            "start the new one from the report of the incident. What is breached or paused stays as it is."
        ),
        plan=(
            "Look up Mere Kingi (an admin), the definition, the service and its open incidents with priority low.",
            "Add the definition with the old one's metric, pause and schedule; set the old one inactive.",
            "Look at the SLAs of these incidents under the old definition; keep those in stage in_progress.",
            "Set each of them to cancelled and link the new definition from the time of the report (SLA-2).",
        ),
        gold=(
            find_user(actor),
            call("find_sla_definitions", applies_to_priority="low"),
            *listed(records, line.name),
            call("find_incident_slas", sla_def_id=old.sla_def_id),
            call(
                "add_new_sla_definition",
                name="Low resolution 2027",
                metric="resolution",
                target_mins=3000,
                pause_on_pending=old.pause_on_pending,
                active=True,
                applies_to_priority="low",
                schedule=old.schedule,
            ),
            call("update_sla_definition", sla_def_id=old.sla_def_id, active=False),
            *(
                call("update_incident_sla_details", incident_sla_id=sla.incident_sla_id, stage="cancelled")
                for _incident, sla in running
            ),
            *(start_sla(incident, new, records.reported_at(incident)) for incident, _sla in running),
        ),
        answer=f"The new definition runs on {numbers(incident for incident, _sla in running)}.",
        verifiers=(),
        tools=("delete_incident_slas", "find_sla_definition_by_name", "find_incident_by_number"),
        mistakes={
            "cancels one that is not running": (
                call("update_incident_sla_details", incident_sla_id=staying[0].incident_sla_id, stage="cancelled"),
            ),
            "deletes one that it replaces": (
                call("delete_incident_slas", incident_sla_id=running[0][1].incident_sla_id),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "add_new_sla_definition": "ID-3",
            "update_sla_definition": "ID-3",
            "update_incident_sla_details": "SLA-1, SLA-2",
            "link_new_incident_sla": "SLA-1, SLA-2",
        },
    )


def article_from_a_problem(world: World) -> Draft:
    """The text of an article is a problem's workaround; who hears of it is on hold for the problem."""
    records = CompanyRecords(world, CLINICS)
    actor, problem, old = (
        records.person("Vikram Shah"),
        world.fixture(Problem, "records-timeouts"),
        records.article("Patient file does not open"),
    )
    cases = [records.incident(f"timeout-{n}") for n in (1, 2)]
    key, text = world.next_id(Knowledge), problem.workaround or ""
    active = {case.incident_id for case in records.open_incidents()}
    links = [link for link in world.all(IncidentKnowledge, knowledge_id=old.knowledge_id) if link.incident_id in active]
    draft = Draft(
        slug="article-on-patient-files",
        actor=actor,
        prompt=(
            f"The workaround of {problem.number} should be an article: 'Patient file times out', published, external, "
            "owned by the assignee of the problem, with the workaround word for word. 'Patient file does not open' is "
            "out of date, so retire it and take it off each incident that is still open. The new article is applied in "
            "what waits for the problem, and the callers of that get the workaround from us."
        ),
        plan=(
            "Look up Vikram Shah (a manager), the problem with workaround and assignee, the old article and its links.",
            "Look up the linked incidents, and those that name the problem; keep those on hold for it.",
            "Create the article with the workaround as body and the assignee as owner; retire the old one.",
            "Remove the old article's links to open incidents; link the new one as applied.",
            "Send the workaround to the two callers (PRB-4).",
        ),
        gold=(
            find_user(actor),
            find_problem(problem),
            call("list_incidents", problem=problem.problem_id),
            call("retrieve_knowledge_articles", title="Patient file"),
            call("find_incident_knowledge_links", knowledge_id=old.knowledge_id),
            call("list_incidents", created_after="2027-01-01"),
            *callers(cases),
            call(
                "create_knowledge_article",
                title="Patient file times out",
                body=text,
                state="published",
                visibility="external",
                owner_id=problem.assigned_to,
            ),
            call("update_knowledge_article", knowledge_id=old.knowledge_id, state="retired"),
            *(
                call("remove_knowledge_link_to_incident", incident_id=link.incident_id, knowledge_id=old.knowledge_id)
                for link in links
            ),
            *(
                call("link_knowledge_to_incident", incident_id=case.incident_id, knowledge_id=key, used_as="applied")
                for case in cases
            ),
            *(notify(case, records.caller(case), "update", f"{case.number}: workaround", text) for case in cases),
        ),
        answer=f"The article is published, and {numbers(cases)} have it; the old one is retired.",
        verifiers=(),
        tools=("find_incident_by_id", "update_problem", "list_problems", "find_notifications_sent_for_incident"),
        mistakes={
            "applies it to one that is not on hold": (
                call(
                    "link_knowledge_to_incident",
                    incident_id=records.incident("timeout-3").incident_id,
                    knowledge_id=key,
                    used_as="applied",
                ),
            ),
        },
    )
    return with_verifiers(
        world,
        draft,
        rules={
            "create_knowledge_article": "KB-1",
            "update_knowledge_article": "ID-3",
            "remove_knowledge_link_to_incident": "INC-10",
            "link_knowledge_to_incident": "KB-1",
            "send_notification": "PRB-4, KB-1",
        },
        expect={"create_knowledge_article": {"body": Has(text)}, "send_notification": {"message": Has(text)}},
    )


def patch_begins(world: World) -> Draft:
    """A change is taken to its work step by step, and the incident that it cures waits for it."""
    records = CompanyRecords(world, LINES)
    actor, change, incident = (
        records.person("Leilani Fonoti"),
        world.fixture(Change, "head-end-patch"),
        records.incident("reading-stop"),
    )
    looked = (
        find_user(actor),
        find_change(change),
        *listed(records, "Smart Meters"),
        call("get_user", user_id=incident.caller_id),
    )
    rest = (
        call("map_change_request", change_id=change.change_id, incident_id=incident.incident_id),
        waits(incident, "Change", change_request=change.change_id),
        notify(
            incident,
            records.caller(incident),
            "update",
            f"{incident.number} waits for {change.number}",
            f"Your incident waits for {change.number}, which is being carried out.",
        ),
    )
    levels = {"impact": "medium", "priority": "low"}
    steps = (step(change, "scheduled", **levels), step(change, "implement"))
    return with_scenario_verifiers(
        Draft(
            slug="patch-of-the-head-end-begins",
            actor=actor,
            prompt=(
                f"Mei starts with {change.number} now, so take it to implement. One of our open incidents is the fault "
                "that this patch removes, its notes say so: connect the two as the rules want it, levels included, let "
                "the incident wait for the change, and tell its caller."
            ),
            plan=(
                "Look up Leilani Fonoti (a manager), the change (approved), and the open incidents of its service.",
                "The notes of one name Patch 12. Take its impact and priority into the change (CHG-3).",
                "Take the steps scheduled and implement one at a time (PRC-5).",
                "Map the change to the incident, put the incident on hold for it, and notify the caller (INC-6).",
            ),
            gold=(*looked, *steps, *rest),
            answer=f"{change.number} is in implement, and {incident.number} waits for it.",
            verifiers=(),
            tools=("list_changes", "find_incident_by_number", "list_change_request_mappings", "list_users"),
            access=Access.STRICT,
            mistakes={"goes on to the review": (step(change, "review"),)},
            negative_trajectories={
                "skips a step": NegativeTrajectory(
                    (*looked, step(change, "implement", **levels), *rest), f"{change.number} is in implement.", "PRC-5"
                ),
                "leaves the levels of the change": NegativeTrajectory(
                    (*looked, step(change, "scheduled"), step(change, "implement"), *rest),
                    f"{change.number} is in implement, and {incident.number} waits for it.",
                ),
            },
        ),
        world=world,
        rules={
            "update_change": "PRC-5, CHG-3",
            "map_change_request": "CHG-3",
            "update_incident": "INC-6",
            "send_notification": "INC-6, NTF-3",
        },
        expect={"send_notification": {"message": Matches(rf"{change.number}|[Pp]atch")}},
    )


def queue_gets_a_fix(world: World) -> Draft:
    """A problem goes into its fix with a workaround; only callers of incidents on hold get it; a change is raised."""
    records = CompanyRecords(world, LINES)
    actor, problem = records.person("Priya Raman"), world.fixture(Problem, "dispatch-queue")
    cases, third = [records.incident(f"queue-{n}") for n in (1, 2)], records.incident("queue-3")
    workaround, plan = "Call the crew by radio before sending a job.", "Ask the duty list before a job is sent"
    test = "Send ten jobs to vans that are off duty"
    looked = (
        find_user(actor),
        find_problem(problem),
        call("list_incidents", problem=problem.problem_id),
        *callers(cases),
    )

    def fixing(**fields: str) -> tuple[ToolCall, ...]:
        return (call("update_problem", problem_id=problem.problem_id, status="fix_in_progress", **fields),)

    messages = tuple(
        notify(case, records.caller(case), "update", f"{case.number}: workaround", workaround) for case in cases
    )
    raised = (
        call(
            "create_change",
            short_description="Duty list before dispatch",
            status="new",
            category="application_software",
            risk="high",
            impact=problem.impact,
            priority=problem.priority,
            cab_required=True,
            implementation_plan=plan,
            testing_plan=test,
            service=problem.service,
            service_offering=problem.service_offering,
            assignment_group=problem.assignment_group,
        ),
        call("map_change_request", change_id=world.next_id(Change), problem_id=problem.problem_id),
    )
    gold = (*looked, *fixing(workaround=workaround), *messages, *raised)
    return with_scenario_verifiers(
        Draft(
            slug="dispatch-queue-gets-a-fix",
            actor=actor,
            prompt=(
                f"I know what to do about {problem.number}. Set it to fix in progress. Until the fix is there: "
                f"'{workaround}' Tell those who wait for it. And raise the change for it, 'Duty list before dispatch', "
                f"application software, high risk, plan '{plan}', test '{test}'."
            ),
            plan=(
                "Look up Priya Raman, the problem and the incidents that name it; two are on hold for it.",
                "Record the workaround and set fix_in_progress in one call (PRC-4).",
                "Send the workaround to the callers of the two (PRB-4); the third is being worked on.",
                "Raise the change: levels, service and group of the problem; the board has to approve it (CHG-2).",
                "Map it to the problem (CHG-3).",
            ),
            gold=gold,
            answer=f"{problem.number} is in fix_in_progress; two callers know the workaround, and a change is mapped.",
            verifiers=(),
            tools=("list_changes", "list_problems", "find_incident_by_number", "create_knowledge_article"),
            access=Access.STRICT,
            mistakes={
                "tells the caller of the third": (
                    notify(third, records.caller(third), "update", f"{third.number}: workaround", workaround),
                ),
            },
            negative_trajectories={
                "begins the fix without the workaround": NegativeTrajectory(
                    (*looked, *fixing(), *messages, *raised), f"{problem.number} is in fix_in_progress.", "PRC-4"
                ),
            },
        ),
        world=world,
        rules={
            "update_problem": "PRC-3, PRC-4, PRB-4",
            "send_notification": "PRB-4, KB-1",
            "create_change": "CHG-1, CHG-2, CHG-3, LKP-3",
            "map_change_request": "CHG-3",
        },
        expect={"send_notification": {"message": Has(workaround)}},
    )


FAMILIES = (unused_sla, stricter_sla, article_from_a_problem, patch_begins, queue_gets_a_fix)
