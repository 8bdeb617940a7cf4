"""Changes: change requests, from creation to closure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.assignments import list_assigned
from opsgym_domains.itsm.tables import Change
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym


@tool(adds=Change)
async def create_change(gym: Gym, **fields: Any) -> Change:
    """Create a change request in your own organisation; requested_by is set to the acting user.

    Id and number are generated; the category is other unless you give one. Link the change to incidents or problems
    afterwards. All referenced records must exist. Returns the new change.
    """
    return await gym.insert(Change(**fields))


@tool(changes=Change)
async def update_change(gym: Gym, change_id: str, **fields: Any) -> Change:
    """Update fields of a change. Fields that are not given keep their value.

    An empty string clears a text or a reference. The number must be unique (DUPLICATE_NUMBER). Setting one field never
    changes another: set close code and close notes explicitly where the policy requires them. Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the updated change.
    """
    return await gym.change(Change, change_id, fields)


@tool(words={"number": "Full number, for instance CHG0000042"})
async def find_change_by_number(gym: Gym, number: str) -> Change:
    """Look up one change by its number.

    Returns every field of the change, including the id that other tools require. Refused (CHANGE_NOT_FOUND) if no
    change has this number.
    """
    return await gym.fetch_by(Change, number=number.strip())


@tool()
async def list_changes(gym: Gym, **filters: Any) -> Sequence[Change]:
    """List changes, newest first, optionally filtered.

    Filters are combined with AND; text filters match a part of the text, ignoring case; all other filters match
    exactly. Without filters, every change is returned.
    """
    return await gym.list(Change, filters)


@tool()
async def get_changes_assigned_to(gym: Gym, **assignment: Any) -> Sequence[Change]:
    """List the changes that are assigned to a group or a user, newest first.

    Give a group, a user, or both; with both, only changes assigned to the user and to the group are returned.
    """
    return await list_assigned(gym, Change, assignment)
