"""What is known of calls after they ended."""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, context, filters, loaded, picked, reduced, shown_time
from opsgym_domains.teams.odata import Columns, JsonList, Related, parse_expand, parse_select
from opsgym_domains.teams.tables import CallRecord
from opsgym_domains.teams.toolbox import tool

_USER = ("identity/user", "user")
"""Where a participant's user is: a participant is an identity as it is, or holds one."""
_PARTICIPANTS = JsonList(
    CallRecord.participants,
    {
        "id": ("id", *(f"{user}/id" for user in _USER)),
        "identity/user/id": [f"{user}/id" for user in _USER],
        "identity/user/displayName": [f"{user}/displayName" for user in _USER],
    },
)
COLUMNS: Columns = {
    "id": CallRecord.id,
    "version": CallRecord.version,
    "type": CallRecord.type,
    "startDateTime": CallRecord.start_date_time,
    "endDateTime": CallRecord.end_date_time,
    "lastModifiedDateTime": CallRecord.last_modified_date_time,
    "joinWebUrl": CallRecord.join_web_url,
    "participants_v2": _PARTICIPANTS,
}
_SESSION = ("id", "modalities", "startDateTime", "endDateTime", "caller", "callee", "failureInfo", "isTest", "segments")
_IDENTITY = ("id", "identity", "user", "phone", "application")
_SEGMENTS = Related(("id", "startDateTime", "endDateTime", "caller", "callee", "failureInfo", "media"))
_EXPANDABLE = {
    "participants_v2": Related(_IDENTITY),
    "organizer_v2": Related(_IDENTITY, is_list=False),
    "sessions": Related(_SESSION, related={"segments": _SEGMENTS}),
}


def _shown(record: CallRecord) -> Shown:
    return {
        "id": record.id,
        "version": record.version,
        "type": record.type,
        "modalities": loaded(record.modalities, []),
        "lastModifiedDateTime": shown_time(record.last_modified_date_time),
        "startDateTime": shown_time(record.start_date_time),
        "endDateTime": shown_time(record.end_date_time),
        "organizer": loaded(record.organizer),
        "participants": loaded(record.participants, []),
        "joinWebUrl": record.join_web_url,
    }


PROPERTIES = (*_shown(CallRecord()), *_EXPANDABLE)


def _selected(record: CallRecord, names: Sequence[str] | None) -> Shown:
    """The selected properties of a record; participants and sessions that are related to it show only expanded."""
    shown = _shown(record)
    if names is None:
        return shown
    shown["organizer_v2"] = shown["organizer"]
    return picked(shown, [name for name in names if name in shown])


@tool(row=CallRecord)
async def list_call_records(
    gym: Gym,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
) -> Shown:
    """List what is known of the calls of your organisation, the newest first.

    Refused with INVALID_FILTER or UNKNOWN_PROPERTY where an option cannot be read.
    """
    names = parse_select(select, PROPERTIES)
    order = [CallRecord.start_date_time.desc().nulls_last()]
    records = await gym.all(CallRecord, *filters(filter, COLUMNS), order=order)
    return {
        "@odata.context": context("communications/callRecords"),
        "value": [_selected(record, names) for record in records],
    }


@tool(row=CallRecord)
async def get_call_record(
    gym: Gym,
    id: str,  # noqa: A002 - published name
    select: str | None = None,
    expand: str | None = None,
) -> Shown:
    """Read what is known of one call.

    _expand adds participants_v2 and organizer_v2; it accepts sessions and adds none, use list_call_sessions for them.
    Refused for an unknown call (CALL_RECORD_NOT_FOUND), and with UNKNOWN_PROPERTY or INVALID_EXPAND where an option
    cannot be read.
    """
    names = parse_select(select, PROPERTIES)
    expanded = parse_expand(expand, _EXPANDABLE)
    record = await gym.fetch(CallRecord, id, field="id")
    shown = {"@odata.context": context("communications/callRecords/$entity"), **_selected(record, names)}
    related = {"participants_v2": loaded(record.participants, []), "organizer_v2": loaded(record.organizer)}
    for name in (name for name in related if name in expanded):
        shown[f"{name}@odata.context"] = context(f"communications/callRecords('{id}')/{name}/$entity")
        shown[name] = reduced(related[name], expanded[name])
    return shown


@tool(row=CallRecord)
async def list_call_sessions(
    gym: Gym,
    id: str,  # noqa: A002 - published name
    select: str | None = None,
    expand: str | None = None,
) -> Shown:
    """List the sessions of a call: one between the organiser and each other participant.

    _expand=segments adds the one segment of each. Refused for an unknown call (CALL_RECORD_NOT_FOUND), and with
    UNKNOWN_PROPERTY or INVALID_EXPAND where an option cannot be read.
    """
    names, expanded = parse_select(select, _SESSION), parse_expand(expand, {"segments": _SEGMENTS})
    record = await gym.fetch(CallRecord, id, field="id")
    sessions = [_session(record, participant) for participant in _others(record)]
    return {
        "@odata.context": context(f"communications/callRecords('{id}')/sessions"),
        "value": [
            picked(session, names) | {name: reduced([_segment(session)], one) for name, one in expanded.items()}
            for session in sessions
        ],
    }


def _others(record: CallRecord) -> list[Shown]:
    """Participants of a call besides its organiser."""
    people = loaded(record.participants, [])
    organizer = _user_id(loaded(record.organizer))
    return [one for one in people if isinstance(one, dict) and _user_id(one) != organizer]


def _user_id(person: object) -> str | None:
    identity = person.get("identity", person) if isinstance(person, dict) else {}
    user = identity.get("user") if isinstance(identity, dict) else None
    return user.get("id") if isinstance(user, dict) else None


def _session(record: CallRecord, participant: Shown) -> Shown:
    shown = _shown(record)
    times = {name: shown[name] for name in ("startDateTime", "endDateTime")}
    endpoint = "#microsoft.graph.callRecords.participantEndpoint"
    ends = {
        "caller": {"@odata.type": endpoint, "identity": _identity(loaded(record.organizer))},
        "callee": {"@odata.type": endpoint, "identity": _identity(participant)},
    }
    key = participant.get("id") or f"{record.id}_{_user_id(participant)}"
    return {"id": key, "modalities": shown["modalities"], **times, **ends, "failureInfo": None, "isTest": False}


def _segment(session: Shown) -> Shown:
    """The one segment of a session, which is as long as the session."""
    return {**{name: session.get(name) for name in _SEGMENTS.properties}, "media": []}


def _identity(person: object) -> object:
    """The identity within a participant; an organiser is one as it is."""
    return person.get("identity", person) if isinstance(person, dict) else person
