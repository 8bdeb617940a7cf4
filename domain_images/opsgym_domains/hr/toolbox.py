"""Tool registry of the domain: tool modules declare their tools here, in the order in which `domain` imports them."""

from __future__ import annotations

from opsgym_domains.kit.shapes import read_shapes
from opsgym_domains.kit.tools import Toolbox

WORDS = {
    "created_after": "Created at or after this time (ISO 8601)",
    "created_before": "Created at or before this time (ISO 8601)",
    "limit": "Maximum number of records to return",
    "short_description": "Short description that the template presets",
    "category": "Category that the template presets, for instance onboarding",
    "statuses": "Statuses to count; all if omitted or empty",
    "priority_list": "Priorities to count; all if omitted or empty",
    "case_ids": "Cases to count (HR case ids); all if omitted or empty",
}
"""Descriptions of arguments that no column describes."""

TOOLBOX = Toolbox(read_shapes("opsgym_domains.hr"), WORDS)
tool = TOOLBOX.tool
