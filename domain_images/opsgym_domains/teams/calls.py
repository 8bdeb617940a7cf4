"""Calls that an application places, and who hears whom in them."""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, dumped
from opsgym_domains.teams.tables import AudioRoutingGroup, Call
from opsgym_domains.teams.toolbox import tool

_UNSET = (
    "resultInfo", "mediaState", "toneInfo", "transcription", "answeredBy", "ringingTimeoutInSeconds", "tenantId",
    "terminationReason", "meetingCapability",
)  # fmt: skip
"""Properties of a call that nothing has set yet."""


@tool(adds=Call)
async def create_call(
    gym: Gym,
    callback_uri: str,
    requested_modalities: list[str],
    media_config: Shown,
    source: Shown | None = None,
    targets: list[Shown] | None = None,
    call_options: Shown | None = None,
    chat_info: Shown | None = None,
    meeting_info: Shown | None = None,
    subject: str | None = None,
    tenant_id: str | None = None,
) -> Shown:
    """Place a call to users or to a phone number, or join a meeting.

    Returns the call, which is being established; it is never answered. Refused without a modality (MISSING_FIELD).
    """
    del tenant_id  # the call belongs to the acting user's organisation
    if not requested_modalities:
        raise ToolError("MISSING_FIELD", "requestedModalities must name at least one modality.", "requestedModalities")
    call = Call(
        callback_uri=callback_uri,
        call_chain_id=str(await gym.next_id(Call)),
        direction="outgoing",
        state="establishing",
        subject=subject,
        source=dumped(source),
        targets=dumped(targets or []),
        my_participant_id=str(await gym.next_id(Call)),
        requested_modalities=dumped(requested_modalities),
        call_options=dumped(call_options),
        media_config=dumped(media_config),
        soft_delete=False,
    )
    await gym.insert(call)
    return {
        "id": call.id,
        "state": call.state,
        "direction": call.direction,
        "callbackUri": call.callback_uri,
        "callChainId": call.call_chain_id,
        "source": source,
        "targets": [_target(target) for target in targets or ()],
        "requestedModalities": requested_modalities,
        "activeModalities": [],
        "mediaConfig": {**media_config, "@odata.type": media_config["_odata_type"]},
        "chatInfo": chat_info,
        "meetingInfo": meeting_info,
        "myParticipantId": call.my_participant_id,
        "subject": call.subject,
        "callOptions": call_options,
        "callRoutes": [],
        **dict.fromkeys(_UNSET),
        "routingPolicies": [],
    }


def _target(target: Shown) -> Shown:
    identity: dict[str, Any] = target.get("identity") or {}
    return {
        "@odata.type": "#microsoft.graph.invitationParticipantInfo",
        "identity": {
            "@odata.type": "#microsoft.graph.identitySet",
            "user": _identity(identity.get("user")),
            "phone": _identity(identity.get("phone")),
            "application": None,
        },
        "replacesCallId": None,
        "participantId": None,
        "hidden": None,
        "removeFromDefaultAudioRoutingGroup": None,
    }


def _identity(identity: Shown | None) -> Shown | None:
    if identity is None:
        return None
    return {
        "@odata.type": "#microsoft.graph.identity",
        "id": identity.get("id"),
        "displayName": identity.get("displayName"),
        "identityProvider": None,
        "tenantId": None,
    }


@tool(adds=AudioRoutingGroup)
async def create_audio_routing_group(
    gym: Gym, call_id: str, routing_mode: str, sources: list[str], receivers: list[str]
) -> Shown:
    """Decide in a call which participants hear which.

    A group oneToOne has one receiver. Returns the group. Refused otherwise (INVALID_ROUTING), and for an unknown call
    (CALL_NOT_FOUND).
    """
    await gym.fetch(Call, call_id, field="call_id")
    if routing_mode == "oneToOne" and len(receivers) != 1:
        raise ToolError("INVALID_ROUTING", "A group oneToOne has exactly one receiver.", "receivers")
    group = AudioRoutingGroup(
        call_id=call_id, routing_mode=routing_mode, sources=dumped(sources), receivers=dumped(receivers)
    )
    await gym.insert(group)
    return {
        "@odata.type": "#microsoft.graph.audioRoutingGroup",
        "id": group.id,
        "routingMode": routing_mode,
        "sources": sources,
        "receivers": receivers,
    }
