"""Tool registry of the domain: tool modules declare their tools here, in the order in which `domain` imports them."""

from __future__ import annotations

from opsgym_domains.kit.shapes import read_shapes
from opsgym_domains.kit.tools import Toolbox

WORDS = {
    "created_after": "Created at or after this time (ISO 8601)",
    "created_before": "Created at or before this time (ISO 8601)",
    "change_request_values.caller_id": "Caller: the affected user (user id)",
    "change_request_values.short_description": "Short description, at most 120 characters",
    "change_request_values.channel": "Channel on which the incident is reported",
    "change_request_values.category": "Category",
    "change_request_values.impact": "Impact (how much of the business is affected)",
    "change_request_values.urgency": "Urgency (how soon the incident must be resolved)",
    "change_request_values.priority": "Priority",
    "change_request_values.configuration_item": "Affected configuration item (CI id)",
    "change_request_values.service": "Affected service (service id)",
    "change_request_values.service_offering": "Affected service offering (offering id); must belong to the service",
}
"""Descriptions of arguments that no column describes."""

TOOLBOX = Toolbox(read_shapes("opsgym_domains.itsm"), WORDS)
tool = TOOLBOX.tool
