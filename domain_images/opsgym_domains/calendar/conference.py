"""Conferences of events.

Invariant: only a request for a conference is stored. A conference that is given as a whole is checked and dropped, as
on the published server.
"""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.calendar.event_bodies import Conference, CreateRequest, ImportedConference, ImportedRequest
from opsgym_domains.calendar.tables import ConferenceData
from opsgym_domains.kit.gym import Gym

_KINDS = ("hangoutsMeet", "addOn")


def check_solution(conference: Conference | ImportedConference | None) -> None:
    """Refuses a conference whose kind and id do not fit.

    Raises:
        ValueError: The kind is unknown, or the id must be given or left out for this kind.
    """
    solution = conference.conference_solution if conference else None
    kind = solution.key.type if solution and solution.key else None
    if conference is None or not kind:
        return
    if kind not in _KINDS:
        raise ValueError(
            "Value for type under key field in the conferenceSolution is not valid value. "
            "Please provide either 'hangoutsMeet' or 'addOn'"
        )
    if kind == "hangoutsMeet" and conference.conference_id:
        raise ValueError("ConferenceId will be set internally. Please remove this field")
    if kind == "addOn" and conference.conference_id is None:
        raise ValueError(
            "Please provide valid value of conferenceId key for conferenceData "
            "or add conferenceId key with valid value if not present"
        )


def check_request(conference: Conference | None) -> None:
    """Refuses a request for an unknown kind of conference.

    Raises:
        ValueError: The kind is unknown.
    """
    request = conference.create_request if conference else None
    if request and request.conference_solution_key and request.conference_solution_key.type not in _KINDS:
        raise ValueError(
            "Value for type under conferenceSolutionKey  inside the createRequest field is not valid value. "
            "Please provide either 'hangoutsMeet' or 'addOn'"
        )


async def knows_conference(gym: Gym, conference_id: str | None) -> bool:
    """Whether a conference has an id."""
    return conference_id is not None and await gym.get(ConferenceData, conference_id) is not None


async def add_conference(
    gym: Gym, event_id: str, conference: Conference | ImportedConference, *, empty_request: bool = True
) -> None:
    """Adds the conference that an event requests. A request id that was used before gives one with status `failure`.

    Args:
        gym: The call.
        event_id: The event.
        conference: The conference.
        empty_request: Whether a request without any value counts.
    """
    request = conference.create_request
    if request is None or not (empty_request or any(request.as_json().values())):
        return
    row = ConferenceData(
        id=conference.conference_id or None,
        event_id=event_id,
        notes=conference.notes,
        signature=conference.signature,
        **await _outcome(gym, request),
    )
    await gym.insert(row)


async def _outcome(gym: Gym, request: CreateRequest | ImportedRequest) -> dict[str, Any]:
    if await gym.first(ConferenceData, ConferenceData.request_id == request.request_id) is not None:
        return {"status_code": "failure"}
    key = request.conference_solution_key
    return {
        "status_code": "success",
        "request_id": request.request_id,
        "create_solution_type": (key.type or None) if key else None,
        "entry_points": json.dumps(None),
    }


async def remove_conference(gym: Gym, event_id: str) -> None:
    """Removes the conference of an event."""
    await gym.delete(await gym.all(ConferenceData, ConferenceData.event_id == event_id))
