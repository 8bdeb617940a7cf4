"""Service templates: values that a service presets in requests for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import func

from opsgym_domains.hr.filters import refuse_no_filters
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import ServiceTemplate
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym, not_found

WORDS = {"change_request_values": "Values that the template presets; keys of your own are kept too"}


@tool(words={"name": "Full name of the template, in any case"})
async def get_service_template_by_name(gym: Gym, name: str) -> Shown:
    """Look up one service template by its full name.

    Returns the template with the values that it presets. Refused (SERVICE_TEMPLATE_NOT_FOUND) if no template of your
    organisation has this name.
    """
    template = await gym.first(ServiceTemplate, func.lower(ServiceTemplate.name) == name.strip().lower())
    if template is None:
        raise not_found(ServiceTemplate, name, "name")
    return await shown(gym, template)


@tool(row=ServiceTemplate)
async def get_service_templates(gym: Gym, **filters: Any) -> list[Shown]:
    """List service templates that match all filters, lowest id first.

    Give at least one filter (MISSING_FILTER). Returns the templates with the values that they preset.
    """
    refuse_no_filters(filters)
    return await shown_all(gym, await gym.list(ServiceTemplate, filters))


@tool(adds=ServiceTemplate, words=WORDS)
async def create_new_service_template(gym: Gym, change_request_values: Mapping[str, Any], **fields: Any) -> Shown:
    """Create a service template in your organisation.

    The name must be unique (DUPLICATE_TEMPLATE_NAME). Returns the new template.
    """
    preset = json.dumps(change_request_values, ensure_ascii=False)
    return await shown(gym, await gym.insert(ServiceTemplate(**fields, change_request_values=preset)))


@tool(changes=ServiceTemplate, words=WORDS)
async def update_service_template(gym: Gym, service_template_id: str, **fields: Any) -> Shown:
    """Update a service template. Fields that are not given keep their value.

    change_request_values replaces all preset values. The name must be unique (DUPLICATE_TEMPLATE_NAME). Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the template, and in `changes` the fields
    that changed.
    """
    given = changes(fields)
    if "change_request_values" in given:
        given["change_request_values"] = json.dumps(given["change_request_values"], ensure_ascii=False)
    return await changed(gym, await gym.fetch(ServiceTemplate, service_template_id), given)
