"""Channels: subscriptions to changes of calendar lists, settings and rules of sharing.

Invariant: a channel's id is unique over all resources. Notifications are not delivered, because a server has no
network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from opsgym_domains.calendar.event_bodies import EventChannel
from opsgym_domains.calendar.requests import ListChannel
from opsgym_domains.calendar.tables import WatchChannel
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

LIVES = timedelta(hours=24)
"""How long a channel is open; in access `published` whatever its parameters ask for."""
MAX_SECONDS = 30 * 24 * 3600
"""Longest time that a channel may ask for in access `strict`."""


@tool(adds=WatchChannel)
async def watch_calendar_list(gym: Gym, channel: ListChannel) -> dict[str, Any]:
    """Open a channel for changes of your calendar list.

    Returns the channel. It expires after 24 hours.
    """
    return await open_channel(gym, channel, "calendar_list", "calendarList", "me/calendarList", prefix=INTERNAL)


@tool(adds=WatchChannel)
async def watch_settings(gym: Gym, channel: EventChannel) -> dict[str, Any]:
    """Open a channel for changes of your settings.

    Returns the channel. It expires after 24 hours.
    """
    if not channel.id:
        raise ToolError("MISSING_FIELD", "Channel ID is required", "id")
    return await open_channel(gym, channel, "settings", "settings", f"{gym.actor.user_id}/settings")


INTERNAL = "Internal server error: "


async def open_channel(
    gym: Gym,
    channel: EventChannel,
    kind: str,
    name: str,
    path: str,
    *,
    calendar_id: str = "",
    settings: Mapping[str, Any] | None = None,
    prefix: str = "",
) -> dict[str, Any]:
    """Opens a channel.

    Args:
        gym: The call.
        channel: What was asked for.
        kind: Kind of the resource, as the table names it.
        name: Name of the resource in ids.
        path: Path of the resource below `/calendars/`.
        calendar_id: Calendar of the resource; empty if it belongs to none.
        settings: What the channel asks for besides its parameters.
        prefix: Text in front of a refusal.

    Raises:
        ToolError: A channel with the id exists.
    """
    if await gym.get(WatchChannel, channel.id) is not None:
        raise ToolError("DUPLICATE_CHANNEL", f"{prefix}Channel with Id {channel.id} already exists", "id")
    parameters = {**(channel.params.model_dump() if channel.params else {}), **(settings or {})}
    row = WatchChannel(
        id=channel.id,
        resource_id=f"{name}-{calendar_id or gym.actor.user_id}-{str(await gym.next_id(WatchChannel))[:8]}",
        resource_uri=f"/calendars/{path}",
        resource_type=kind,
        calendar_id=calendar_id,
        user_id=gym.actor.user_id,
        webhook_address=channel.address,
        webhook_token=channel.token,
        webhook_type="web_hook",
        params=json.dumps(parameters) if parameters else None,
        created_at=gym.now(),
        expires_at=gym.now() + _life(gym, channel),
        is_active="true",
        notification_count=0,
    )
    await gym.insert(row)
    return {
        "kind": "api#channel",
        "id": row.id,
        "resourceId": row.resource_id,
        "resourceUri": row.resource_uri,
        "token": row.webhook_token,
        "expiration": f"{row.expires_at:%Y-%m-%dT%H:%M:%S.%f}Z",
    }


def _life(gym: Gym, channel: EventChannel) -> timedelta:
    seconds = channel.params.ttl if channel.params and gym.is_strict else None
    return timedelta(seconds=min(int(seconds), MAX_SECONDS)) if seconds else LIVES
