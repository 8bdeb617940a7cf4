"""Tool calls of ITSM tasks.

Invariant: ids come from rows, so no task states an id.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.itsm.tables import (
    ConfigurationItem,
    Incident,
    IncidentKnowledge,
    Knowledge,
    Problem,
    SlaDefinition,
    User,
    UserGroup,
)
from opsgym_suites.kit.drafts import call


def find_user(user: User) -> ToolCall:
    """Looks up a user by name."""
    return call("get_user_using_name", first_name=user.first_name, last_name=user.last_name)


def find_incident(incident: Incident) -> ToolCall:
    """Looks up an incident by number."""
    return call("find_incident_by_number", number=incident.number)


def find_problem(problem: Problem) -> ToolCall:
    """Looks up a problem by number."""
    return call("find_problem_by_number", number=problem.number)


def find_team(team: UserGroup) -> ToolCall:
    """Looks up a group by name."""
    return call("find_group_by_name", name=team.name)


def numbers(incidents: Iterable[Incident]) -> str:
    """Numbers of incidents as a list in an answer."""
    return ", ".join(incident.number for incident in incidents)


def update_incident(incident: Incident, **fields: Any) -> ToolCall:
    """Updates an incident."""
    return call("update_incident", incident_id=incident.incident_id, **fields)


def callers(incidents: Iterable[Incident]) -> tuple[ToolCall, ...]:
    """Looks up the callers of incidents, each once."""
    return tuple(call("get_user", user_id=key) for key in dict.fromkeys(row.caller_id for row in incidents))


def notify(incident: Incident, user: User, kind: str, subject: str, message: str) -> ToolCall:
    """Sends a user a notification about an incident."""
    return call(
        "send_notification",
        incident_id=incident.incident_id,
        email=user.email,
        type=kind,
        subject=subject,
        message=message,
    )


def start_sla(incident: Incident, definition: SlaDefinition, start: datetime) -> ToolCall:
    """Starts an SLA on an incident, with the breach time that follows."""
    return call(
        "link_new_incident_sla",
        incident_id=incident.incident_id,
        sla_def_id=definition.sla_def_id,
        start_time=start.isoformat(),
        stage="in_progress",
        breach_time=breach_time(definition, start).isoformat(),
    )


def suggest(incident: Incident, article: Knowledge) -> ToolCall:
    """Links an article to an incident as suggested."""
    return call(
        "link_knowledge_to_incident",
        incident_id=incident.incident_id,
        knowledge_id=article.knowledge_id,
        used_as="suggested",
    )


def affects(incident: Incident, item: ConfigurationItem) -> ToolCall:
    """Adds a device to those that an incident affects."""
    return call(
        "link_affected_ci_to_incident",
        configuration_item=item.configuration_item_id,
        incident_id=incident.incident_id,
    )


def articles_of(incident: Incident) -> ToolCall:
    """Lists the articles linked to an incident."""
    return call("find_incident_knowledge_links", incident_id=incident.incident_id)


def unlink_article(link: IncidentKnowledge) -> ToolCall:
    """Removes an article from an incident."""
    return call("remove_knowledge_link_to_incident", incident_id=link.incident_id, knowledge_id=link.knowledge_id)


def breach_time(definition: SlaDefinition, start: datetime) -> datetime:
    """When an SLA breaches."""
    return start + timedelta(minutes=definition.target_mins)
