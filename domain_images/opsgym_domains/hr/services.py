"""HR services: what employees can request, as the catalogue lists it."""

from __future__ import annotations

from typing import Any

from opsgym_domains.hr.filters import refuse_no_filters
from opsgym_domains.hr.references import CRITERIA, TEMPLATE, TOPIC, by_names, resolve
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import HrService
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym

NAMES = {"topic_detail": TOPIC, "service_template": TEMPLATE, "hr_criteria": CRITERIA}
FILTERS = {
    "topic_detail": (TOPIC, HrService.topic_detail),
    "service_template": (TEMPLATE, HrService.service_template),
    "hr_criteria": (CRITERIA, HrService.hr_criteria),
}
PARTS = {name: f"Name of the {name.replace('_', ' ')}; a part of it, in any case" for name in NAMES}
WORDS = {name: f"Full name of an existing {name.replace('_', ' ')}" for name in NAMES}


@tool(row=HrService, words={"service_name": "Full name of the service, case-sensitive"})
async def get_hr_service_by_name(gym: Gym, service_name: str) -> Shown:
    """Look up one HR service by its full name.

    Returns the service with its topic, template and criteria. Refused (HR_SERVICE_NOT_FOUND) if no service of your
    organisation has this name.
    """
    return await shown(gym, await gym.fetch_by(HrService, service_name=service_name))


@tool(row=HrService, words=PARTS)
async def find_hr_services(gym: Gym, **filters: Any) -> list[Shown]:
    """List HR services that match all filters, lowest id first.

    Give at least one filter (MISSING_FILTER). Each service is returned with its topic, template and criteria.
    """
    refuse_no_filters(filters)
    conditions = await by_names(gym, filters, FILTERS, partial=True)
    return await shown_all(gym, await gym.list(HrService, filters, *conditions))


@tool(adds=HrService, words=WORDS)
async def create_new_hr_service(gym: Gym, **fields: Any) -> Shown:
    """Add a service to the catalogue of your organisation.

    The name must be unique (DUPLICATE_SERVICE_NAME); topic, template and criteria must exist. Returns the new service.
    """
    return await shown(gym, await gym.insert(HrService(**await resolve(gym, fields, NAMES))))


@tool(changes=HrService, words=WORDS)
async def update_hr_service(gym: Gym, hr_service_id: str, **fields: Any) -> Shown:
    """Update an HR service. Fields that are not given keep their value.

    The name must be unique (DUPLICATE_SERVICE_NAME); topic, template and criteria must exist. Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the service, and in `changes` the fields that
    changed.
    """
    given = await resolve(gym, changes(fields), NAMES)
    return await changed(gym, await gym.fetch(HrService, hr_service_id), given)


@tool(
    changes=HrService,
    words={"hr_service_id": "Service to remove (HR service id)", "service_name": "Full name of that service"},
)
async def delete_hr_service(gym: Gym, hr_service_id: str, service_name: str) -> Shown:
    """Remove a service from the catalogue by deactivating it; the record stays.

    Id and name must be those of one service (SERVICE_MISMATCH), and it must be active (ALREADY_INACTIVE). Returns the
    deactivated service.
    """
    service = await gym.fetch(HrService, hr_service_id)
    if service.service_name != service_name:
        raise ToolError(
            "SERVICE_MISMATCH", f"HR service {hr_service_id} is named {service.service_name}", "service_name"
        )
    if not service.active:
        raise ToolError("ALREADY_INACTIVE", f"HR service {hr_service_id} is already inactive", "hr_service_id")
    return await shown(gym, await gym.update(service, {"active": False}))
