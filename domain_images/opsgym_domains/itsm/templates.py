"""Incident templates: preset field values for recurring kinds of incidents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_domains.itsm.tables import IncidentTemplate, ServiceOffering
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym


@tool(adds=IncidentTemplate, words={"change_request_values": "Values that the template presets in incidents"})
async def create_new_incident_template(
    gym: Gym, change_request_values: Mapping[str, Any], **fields: Any
) -> IncidentTemplate:
    """Create an incident template in your own organisation.

    Give the preset values in change_request_values; impact and urgency default to low, priority to planning. Caller,
    item, service and offering must exist, and the offering must belong to the service (SERVICE_OFFERING_MISMATCH). The
    name must be unique (DUPLICATE_TEMPLATE_NAME). Returns the new template; give its id in incident_template when you
    create an incident.
    """
    template = IncidentTemplate(**fields, **change_request_values)
    await _refuse_foreign_offering(gym, template.service, template.service_offering)
    return await gym.insert(template)


@tool(changes=IncidentTemplate, words={"change_request_values": "Preset values; give only those that change"})
async def update_incident_template(
    gym: Gym, incident_template_id: str, change_request_values: Mapping[str, Any] | None = None, **fields: Any
) -> IncidentTemplate:
    """Update an incident template. Fields that are not given keep their value.

    Inside change_request_values an empty string leaves a value unchanged, and null clears channel, category,
    configuration_item, service or service_offering. The name must be unique (DUPLICATE_TEMPLATE_NAME), and the offering
    must belong to the service (SERVICE_OFFERING_MISMATCH). Refused (NO_CHANGES_DETECTED) if no value differs from the
    stored one. Returns the updated template.
    """
    given = changes(fields | dict(change_request_values or {}))
    template = await gym.fetch(IncidentTemplate, incident_template_id)
    service, offering = (given.get(name, getattr(template, name)) for name in ("service", "service_offering"))
    await _refuse_foreign_offering(gym, service, offering)
    return await gym.update(template, given)


@tool()
async def get_incident_template_by_name(gym: Gym, name: str) -> IncidentTemplate:
    """Look up one incident template by its full name, case-sensitive.

    Returns the values that the template presets. Refused (INCIDENT_TEMPLATE_NOT_FOUND) if no template has this name.
    """
    return await gym.fetch_by(IncidentTemplate, name=name)


@tool()
async def get_incident_templates(gym: Gym, **filters: Any) -> Sequence[IncidentTemplate]:
    """List incident templates, newest first, optionally filtered.

    Filters are combined with AND; the name must match in full. Without filters, every template is returned.
    """
    return await gym.list(IncidentTemplate, filters)


async def _refuse_foreign_offering(gym: Gym, service: str | None, offering: str | None) -> None:
    if not service or not offering:
        return
    stored = await gym.fetch(ServiceOffering, offering, field="service_offering")
    if stored.business_service != service:
        raise ToolError(
            "SERVICE_OFFERING_MISMATCH",
            f"offering {offering} belongs to service {stored.business_service}, not to {service}",
            "service_offering",
        )
