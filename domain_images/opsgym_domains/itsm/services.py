"""Services, and the service offerings that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import Service, ServiceOffering
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym

PARENT = {"parent": "business_service"}
"""Column by the published argument's name."""


# --- services ------------------------------------------------------------------------------------------------------


@tool()
async def find_services(gym: Gym, **filters: Any) -> Sequence[Service]:
    """List services, newest first, optionally filtered.

    Filters are combined with AND; the name matches a part, ignoring case; all other filters match exactly. Without
    filters every service is returned.
    """
    return await gym.list(Service, filters)


@tool()
async def find_service_by_name(gym: Gym, name: str) -> Service:
    """Look up one service by its full name, case-sensitive.

    Returns its id, owner, status and criticality. Refused (SERVICE_NOT_FOUND) if no service has this name: use
    find_services with a part of the name if in doubt.
    """
    return await gym.fetch_by(Service, name=name)


@tool(adds=Service)
async def add_new_service(gym: Gym, **fields: Any) -> Service:
    """Add a service to your own organisation.

    The name must be unique (DUPLICATE_SERVICE_NAME), and the owner must exist. Returns the new service, including the
    id that offerings and records refer to.
    """
    return await gym.insert(Service(**fields))


@tool(changes=Service)
async def update_service(gym: Gym, service_id: str, **fields: Any) -> Service:
    """Update fields of a service. Fields that are not given keep their value.

    The name must be unique (DUPLICATE_SERVICE_NAME). An empty description clears it. Refused with NO_CHANGES_DETECTED
    if every value is already stored. Returns the updated service.
    """
    return await gym.change(Service, service_id, fields)


# --- offerings -----------------------------------------------------------------------------------------------------


@tool(columns=PARENT)
async def find_service_offerings(gym: Gym, **filters: Any) -> Sequence[ServiceOffering]:
    """List service offerings, newest first, optionally filtered.

    Give parent to list the offerings of a service; results contain that service as business_service. Filters are
    combined with AND; name and short description match a part, ignoring case; all other filters match exactly.
    """
    return await gym.list(ServiceOffering, filters)


@tool()
async def find_service_offering_by_name(gym: Gym, name: str) -> ServiceOffering:
    """Look up one service offering by its full name, case-sensitive.

    Returns its id, owner, status and the service it belongs to. Refused (SERVICE_OFFERING_NOT_FOUND) if no offering has
    this name.
    """
    return await gym.fetch_by(ServiceOffering, name=name)


@tool(adds=ServiceOffering, columns=PARENT)
async def register_new_service_offering(gym: Gym, business_service: str, **fields: Any) -> ServiceOffering:
    """Add an offering to a service, in your own organisation.

    The name must be unique (DUPLICATE_SERVICE_OFFERING_NAME); owner and service must exist. Returns the new offering,
    including the id that records refer to.
    """
    service = await gym.fetch(Service, business_service, field="parent")
    return await gym.insert(ServiceOffering(**fields, business_service=service.service_id))


@tool(changes=ServiceOffering, columns=PARENT)
async def update_service_offering(gym: Gym, service_offering_id: str, **fields: Any) -> ServiceOffering:
    """Update fields of a service offering. Fields that are not given keep their value.

    Give parent to move the offering to another service. The name must be unique (DUPLICATE_SERVICE_OFFERING_NAME).
    Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the offering as it is now.
    """
    return await gym.change(ServiceOffering, service_offering_id, fields)
