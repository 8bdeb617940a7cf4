"""Interactions: conversations with customers on any channel.

Invariant: `started_at` defaults to the time of registration. Setting the status never sets `ended_at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import distinct, func

from opsgym_domains.csm.enums import InteractionStatus
from opsgym_domains.csm.tables import Interaction
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import tally

BOUNDS = {
    "started_at_before": "Started at or before this time",
    "started_at_after": "Started at or after this time",
    "ended_at_before": "Ended at or before this time",
    "ended_at_after": "Ended at or after this time",
}

StatusCount = TypedDict("StatusCount", {"status": InteractionStatus, "count": int})
StatusAverage = TypedDict("StatusAverage", {"status": InteractionStatus, "avg_interactions_per_case": float})


@tool(words=BOUNDS)
async def find_interactions(gym: Gym, **filters: Any) -> Sequence[Interaction]:
    """List interactions, lowest id first, optionally filtered.

    Filters are combined with AND; time ranges include both ends; all other filters match exactly. Without filters,
    every interaction is returned.
    """
    return await gym.list(Interaction, filters)


@tool(row=Interaction)
async def count_interaction_by_status(gym: Gym, **filters: Any) -> list[StatusCount]:
    """Count interactions by status, optionally filtered.

    Returns a count for each status that occurs.
    """
    return tally(StatusCount, await gym.count_by(Interaction.status, [], filters))


@tool(row=Interaction)
async def avg_interactions_per_case_by_status(gym: Gym, **filters: Any) -> list[StatusAverage]:
    """Calculate, for each status, the average number of interactions per case, optionally filtered.

    Only interactions with a case count, and for each status only cases that have at least one interaction with it.
    Returns an average for each status that occurs.
    """
    average = func.count() * 1.0 / func.count(distinct(Interaction.case_id))
    averages = await gym.grouped(Interaction.status, average, filters, Interaction.case_id.is_not(None))
    return tally(StatusAverage, averages)


@tool(adds=Interaction)
async def register_new_interaction(gym: Gym, **fields: Any) -> Interaction:
    """Record an interaction with a customer.

    started_at defaults to the current time. All referenced records (account, contact, case, user) must exist. Returns
    the new interaction.
    """
    return await gym.insert(Interaction(**{"started_at": gym.now(), **fields}))


@tool(changes=Interaction)
async def update_interaction(gym: Gym, interaction_id: int, **fields: Any) -> Interaction:
    """Update fields of an interaction. Fields that are not given keep their value.

    Setting the status does not set ended_at: give it as well when an interaction is over. An empty string clears a
    time. All referenced records must exist. Returns the updated interaction.
    """
    return await gym.change(Interaction, interaction_id, fields)
