"""Tasks about SLAs: started, added where they are missing, counted where they are breached."""

from __future__ import annotations

from opsgym_api.tasks.answer_patterns import all_of, apart, number
from opsgym_domains.itsm.tables import Incident, IncidentSla, SlaDefinition
from opsgym_suites.itsm.calls import find_incident, find_user, notify, start_sla, update_incident
from opsgym_suites.itsm.records import LATE_WORDS, OPEN, OPEN_WORDS, CompanyRecords
from opsgym_suites.itsm.seeds.world import World
from opsgym_suites.itsm.verification import with_verifiers
from opsgym_suites.kit.drafts import Draft, call
from opsgym_suites.kit.verifiers import (
    answer_says,
    figures_apart,
)
from opsgym_suites.kit.world import at


def escalate_tracking_outage(world: World) -> Draft:
    """Moderate becomes critical: priority, both SLAs, notifications to manager and caller."""
    records = CompanyRecords(world, "Halden Freight")
    ines, incident = records.person("Ines Carvalho"), records.incident("tracking-outage")
    caller, manager = records.caller(incident), records.person("Oskar Lindqvist")
    response, resolution = (
        records.sla_definition("critical", "response"),
        records.sla_definition("critical", "resolution"),
    )
    old, start = world.one(SlaDefinition, name="Critical response 2025", org_id=records.org_id), at("11-16 10:00")
    gold = (
        find_user(ines),
        find_incident(incident),
        call("find_sla_definitions", applies_to_priority="critical", active=True),
        call("find_incident_slas", incident_id=incident.incident_id),
        call("list_user_groups", group_id=incident.assignment_group),
        call("get_user", user_id=manager.user_id),
        call("get_user", user_id=caller.user_id),
        update_incident(incident, impact="high", urgency="high", priority="critical"),
        start_sla(incident, response, start),
        start_sla(incident, resolution, start),
        notify(
            incident,
            manager,
            "alert",
            f"{incident.number} is critical now",
            f"{incident.number}, '{incident.short_description}', has become critical: no customer sees positions any "
            "more.",
        ),
        notify(
            incident,
            caller,
            "update",
            f"{incident.number}: handled as critical",
            f"{incident.number}, '{incident.short_description}', is handled with priority critical now.",
        ),
    )
    draft = Draft(
        slug="escalate-tracking-outage",
        actor=ines,
        prompt=(
            f"{incident.number} has become much worse: since 10:00 no customer sees any position, and planning has "
            "come to a standstill at every site. Please raise it accordingly, with everything that goes with it. The "
            "clocks start at 10:00 today."
        ),
        plan=(
            "Look up Ines Carvalho.",
            "Find the incident: moderate, in progress, with the Freight Applications group.",
            "List the active SLA definitions for critical and keep Halden Freight's two.",
            "Check which SLAs run on the incident already.",
            "Get the group, its manager and the caller.",
            "Set impact high, urgency high and priority critical in one call.",
            "Link the response and the resolution SLA from 10:00, with their breach times.",
            "Send the manager an alert and the caller an update.",
        ),
        gold=gold,
        answer=(
            f"{incident.number} is critical now. Both critical SLAs run since 10:00 (response due 10:15, resolution "
            "due 14:00). Oskar Lindqvist got an alert and Grace Okafor an update."
        ),
        verifiers=(),
        mistakes={
            "links an SLA that is out of use": (start_sla(incident, old, start),),
            "takes the work away from the assignee": (update_incident(incident, assigned_to=ines.user_id),),
        },
    )
    return with_verifiers(world, draft)


def track_critical_incidents(world: World) -> Draft:
    """Adds the SLAs that critical incidents must have and lack."""
    records = CompanyRecords(world, "Mirelle Botanics")
    amara = records.person("Amara Diallo")
    cases = (records.incident("recipe-down"), records.incident("picking-down"))
    over = records.incident("old-critical")
    response, resolution = (
        records.sla_definition("critical", "response"),
        records.sla_definition("critical", "resolution"),
    )
    gold = (
        find_user(amara),
        call("list_incidents", priority="critical"),
        call("find_sla_definitions", applies_to_priority="critical", active=True),
        *(call("find_incident_slas", incident_id=incident.incident_id) for incident in cases),
        *(
            start_sla(incident, definition, records.reported_at(incident))
            for incident in cases
            for definition in (response, resolution)
        ),
    )
    draft = Draft(
        slug="track-critical-incidents",
        actor=amara,
        prompt=(
            "We had a lively morning, and I fear that no one started the clocks. Please make sure that every critical "
            "incident of ours that is still open has the SLAs it must have, running since it was reported."
        ),
        plan=(
            "Look up Amara Diallo.",
            "List critical incidents; keep those of Mirelle Botanics that are not over.",
            "List the active definitions for critical; keep Mirelle's response and resolution.",
            "See which SLAs run on each of the incidents.",
            "Link what is missing, starting when the incident was reported, with the breach time (SLA-2).",
        ),
        gold=gold,
        answer=(
            f"{cases[0].number} and {cases[1].number} had no SLA. Both have the critical response and resolution "
            "SLA now, running since they were reported."
        ),
        verifiers=(),
        mistakes={"tracks the closed one too": (start_sla(over, response, records.reported_at(over)),)},
    )
    return with_verifiers(world, draft)


def report_sla_breaches(world: World) -> Draft:
    """A figure from two lists, sent to a team's manager."""
    records = CompanyRecords(world, "Mirelle Botanics")
    camille, hugo, team = (
        records.person("Camille Roche"),
        records.person("Hugo Lambert"),
        records.team("Shop Applications"),
    )
    broken = {sla.incident_id for sla in world.all(IncidentSla, has_breached=True)}
    queue = [incident for incident in world.all(Incident, assignment_group=team.group_id) if incident.status in OPEN]
    late = [incident for incident in queue if incident.incident_id in broken]
    oldest = late[0]
    gold = (
        find_user(camille),
        call("list_user_groups", name=team.name),
        call("get_incidents_assigned_to", assignment_group=team.group_id),
        call("find_incident_slas", has_breached=True),
        call("get_user", user_id=hugo.user_id),
        notify(
            oldest,
            hugo,
            "report",
            f"{oldest.number}: broken SLAs in {team.name}",
            f"Of {len(queue)} open incidents of {team.name}, {len(late)} have broken an SLA. The oldest is "
            f"{oldest.number}.",
        ),
    )
    draft = Draft(
        slug="report-sla-breaches",
        actor=camille,
        prompt=(
            "How many of the incidents that the Shop Applications group has open have broken an SLA, and how many "
            "does it have open in all? Send both figures to the group's manager as a report, written as digits, on "
            "the oldest of the incidents that are late. And tell me the figures too."
        ),
        plan=(
            "Look up Camille Roche.",
            "Find the group and its manager.",
            "List the group's incidents; keep those that are new, in progress or on hold.",
            "List breached SLAs; count each incident once (SLA-3).",
            "Get the manager's address.",
            "Send the report on the oldest late incident, and repeat the figures in the answer.",
        ),
        gold=gold,
        answer=(
            f"{len(late)} of the {len(queue)} open incidents of {team.name} have broken an SLA. Hugo Lambert has "
            f"the report on {oldest.number}."
        ),
        verifiers=(
            answer_says(
                "answer_has_both_figures",
                "The answer states both figures [REF-3]",
                all_of(apart((number(len(late)), LATE_WORDS), (number(len(queue)), OPEN_WORDS))),
            ),
        ),
    )
    return with_verifiers(
        world,
        draft,
        expect={"send_notification": {"message": figures_apart((len(late), LATE_WORDS), (len(queue), OPEN_WORDS))}},
    )
