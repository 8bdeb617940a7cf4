"""Channels: where changes of a file, or all changes, are sent.

Invariant: a channel's id is used once. Notifications are not delivered, because a server has no network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from opsgym_domains.drive.changes import checked_token
from opsgym_domains.drive.forms import milliseconds, present
from opsgym_domains.drive.reach import missing, reach, reach_drive
from opsgym_domains.drive.resources import Resource
from opsgym_domains.drive.tables import Channel
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import parse_time
from opsgym_domains.kit.gym import Gym

LIVES = timedelta(days=1)
"""How long a channel is open unless given."""
TYPES = ("web_hook", "webhook")
CHANGES = "changes"
_FILE_URI = "https://www.googleapis.com/drive/v3/files/{}?alt=json"
_CHANGES_URI = "https://www.googleapis.com/drive/v3/changes?pageToken={}&alt=json"
WORDS = {"id": "Id of your choice; must be unique among all channels"}


@tool(
    adds=Channel, words={**WORDS, "expiration": "When the channel ends: a time (RFC 3339), or milliseconds since 1970"}
)
async def watch_files(gym: Gym, file_id: str, expiration: str | None = None, **fields: Any) -> Resource:
    """Open a channel for the changes of a file.

    It is open for a day unless expiration is given. The id must be new (CHANNEL_ID_IN_USE). Returns the channel.
    """
    file = await reach(gym, file_id)
    ends = None
    if expiration:
        is_number = expiration.isascii() and expiration.isdecimal()
        ends = int(expiration[:16]) if is_number else milliseconds(parse_time(expiration, "expiration"))
    return await _open(gym, ends, fields, resource=file.id, uri=_FILE_URI.format(file.id))


@tool(
    adds=Channel,
    words={
        **WORDS,
        "pageToken": "Token after which changes are reported, of get_changes_start_page_token",
        "driveId": "Shared drive whose changes are reported (drive id)",
        "expiration": "When the channel ends, in milliseconds since 1970",
    },
)
async def watch_changes(
    gym: Gym, page_token: str, drive_id: str | None = None, expiration: int | None = None, **fields: Any
) -> Resource:
    """Open a channel for all changes, or for those of a shared drive.

    It is open for a day unless expiration is given. The id must be new (CHANNEL_ID_IN_USE). Returns the channel.
    """
    token = await checked_token(gym, page_token)
    if drive_id is not None:
        await reach_drive(gym, drive_id)
    uri = _CHANGES_URI.format(token)
    return await _open(gym, expiration, fields, resource=drive_id or CHANGES, uri=uri)


@tool(changes=Channel, words={"id": "Channel (channel id)", "token": "Text that was given with the channel"})
async def stop_channels(gym: Gym, id: str, resource_id: str, token: str | None = None) -> None:  # noqa: A002
    """Close a channel of yours.

    resourceId must be the one that the channel reports. Refused (CHANNEL_NOT_FOUND) otherwise, and if the channel is
    closed. Returns nothing.
    """
    channel = await gym.get(Channel, id)
    is_other = channel is None or channel.resource_id != resource_id or not channel.active
    is_foreign = channel is not None and gym.is_strict and channel.user_id != gym.actor.user_id
    if channel is None or is_other or is_foreign or (token is not None and token != channel.token):
        raise missing("Channel", "CHANNEL_NOT_FOUND", id, "id")
    await gym.update(channel, {"active": False})


async def _open(gym: Gym, ends: int | None, fields: Mapping[str, Any], *, resource: str, uri: str) -> Resource:
    """Opens a channel.

    Args:
        gym: The call.
        ends: When it ends, in milliseconds since 1970; None for the usual time.
        fields: What the call gives.
        resource: Id of what is watched, unless given.
        uri: Address of what is watched, unless given.

    Raises:
        ToolError: `CHANNEL_ID_IN_USE`, `INVALID_ADDRESS`, `INVALID_CHANNEL_TYPE`, `INVALID_EXPIRATION`.
    """
    kind = fields.get("type") or TYPES[0]
    if kind not in TYPES:
        raise ToolError("INVALID_CHANNEL_TYPE", f"type is {TYPES[0]}", "type")
    if not fields["address"].startswith("https://") or len(fields["address"]) <= len("https://"):
        raise ToolError("INVALID_ADDRESS", "address begins with https://", "address")
    if not fields["id"].strip():
        raise ToolError("CHANNEL_ID_REQUIRED", "a channel needs an id of your choice", "id")
    if await gym.get(Channel, fields["id"]) is not None:
        raise ToolError("CHANNEL_ID_IN_USE", "a channel with this id exists; choose another id", "id")
    if ends is not None and ends <= milliseconds(gym.now()):
        raise ToolError("INVALID_EXPIRATION", "expiration is in the past", "expiration")
    params = fields.get("params")
    channel = Channel(
        id=fields["id"],
        resource_id=fields.get("resource_id") or resource,
        resource_uri=fields.get("resource_uri") or uri,
        type=kind,
        address=fields["address"],
        token=fields.get("token"),
        payload=fields.get("payload"),
        params=json.dumps(params, ensure_ascii=False) if params else None,
        expiration=str(ends if ends is not None else milliseconds(gym.now() + LIVES)),
    )
    await gym.insert(channel)
    return present(
        {
            "kind": "api#channel",
            "id": channel.id,
            "resourceId": channel.resource_id,
            "resourceUri": channel.resource_uri,
            "type": channel.type,
            "address": channel.address,
            "token": channel.token,
            "expiration": channel.expiration,
            "payload": channel.payload,
            "params": params,
        }
    )
