"""The calendar list: how a user's calendars are shown.

Invariant: an entry is part of the calendar's row, so a calendar has one entry, its owner's, as in the published server.
In access `strict` the list shows also the calendars that rules share with the user; their entries are changed by the
owner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_domains.calendar.calendars import known_id, parsed, stamp
from opsgym_domains.calendar.colors import BACKGROUNDS, FOREGROUND
from opsgym_domains.calendar.pages import list_offset, list_synced_at
from opsgym_domains.calendar.permissions import OWNERS, READERS, ROLES, WRITERS, reached_ids, role_on
from opsgym_domains.calendar.requests import ColorFormat, EntryFields, ListQuery, NewEntry, WholeEntry
from opsgym_domains.calendar.tables import Calendar, Color
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.pages import encode

_HEX = re.compile(r"#[0-9a-fA-F]{6}")
_NEW: Mapping[str, Any] = {"hidden": False, "selected": True}
"""What a replaced entry has that is not given."""
_NO_ROLE = (
    "items.{}.accessRole\n  Input should be 'freeBusyReader', 'reader', 'writer' or 'owner' "
    "[type=enum, input_value='none', input_type=str]\n"
    "    For further information visit https://errors.pydantic.dev/2.13/v/enum"
)


@tool()
async def get_calendar_list(gym: Gym, query: ListQuery) -> dict[str, Any]:
    """List your calendars by id.

    Hidden and removed ones are listed on request. `nextSyncToken` lists what has changed since.
    """
    calendars = await _listed(gym, query)
    offset = list_offset(query.page_token)
    end = offset + query.max_results
    shown = [item for row in calendars[offset : end + 1] if _is_shown(item := await _entry(gym, row), query)]
    items = shown[: query.max_results]
    _refuse_roles(items)
    return {
        "kind": "calendar#calendarList",
        "etag": f"etag-list-{gym.database_id}",
        "nextPageToken": encode(str(end)) if len(shown) > query.max_results else None,
        "nextSyncToken": encode(gym.now().isoformat()) if items else None,
        "items": items,
    }


@tool()
async def get_calendar_from_list(gym: Gym, calendar_id: str) -> dict[str, Any]:
    """Read one of your calendars as your list shows it.

    `primary` is your primary calendar.
    """
    return await _entry(gym, await _listed_calendar(gym, await known_id(gym, calendar_id), READERS, shared=True))


@tool(changes=Calendar, words={"id": "Calendar (calendar id)"})
async def add_calendar_to_list(gym: Gym, entry: NewEntry, colors: ColorFormat) -> dict[str, Any]:
    """Put one of your calendars into your list again, or change how it is shown.

    Returns the entry.
    """
    calendar = await _listed_calendar(gym, entry.id, READERS, removed=True)
    given = {name: value for name, value in entry if name != "id" and value is not None}
    if not (entry.summary_override or "").strip():
        given.pop("summary_override", None)
    changes = await _entry_changes(gym, entry, given, colors)
    return await _updated(gym, calendar, {**changes, "deleted": False})


@tool(changes=Calendar)
async def update_calendar_in_list(
    gym: Gym, calendar_id: str, fields: EntryFields, colors: ColorFormat
) -> dict[str, Any]:
    """Change how a calendar is shown in your list. `primary` is your primary calendar.

    Give at least one field; null clears a field. A hidden calendar is not selected. Returns the entry.
    """
    calendar = await _listed_calendar(gym, await known_id(gym, calendar_id), WRITERS)
    given = fields.without_blanks("summary_override", "background_color", "foreground_color")
    for name in ("hidden", "selected"):
        if name in given and given[name] is None:
            raise ToolError("INVALID_VALUE", f"'{name}' cannot be null in PATCH", name)
    if not fields.given():
        raise ToolError("NO_FIELDS_TO_UPDATE", "No fields provided for update")
    changes = await _entry_changes(gym, fields, given, colors)
    return await _updated(gym, calendar, _with_selection(changes))


@tool(changes=Calendar)
async def replace_calendar_in_list(
    gym: Gym, calendar_id: str, entry: WholeEntry, colors: ColorFormat
) -> dict[str, Any]:
    """Replace how a calendar is shown in your list. `primary` is your primary calendar.

    What is not given is cleared; the calendar is then selected and not hidden. Returns the entry.
    """
    calendar = await _listed_calendar(gym, await known_id(gym, calendar_id), WRITERS)
    given = {name: value for name, value in entry.without_blanks("summary_override").items() if value is not None}
    conferences = given.pop("conference_properties", None)
    changes = await _entry_changes(gym, entry, given, colors)
    cleared = dict.fromkeys(name for name in WholeEntry.model_fields if name not in _NEW)
    if conferences is not None:
        changes["conference_properties"] = json.dumps(conferences.model_dump(by_alias=True, exclude_none=True))
    return await _updated(gym, calendar, {**cleared, **_NEW, **_with_selection(changes)})


@tool(changes=Calendar)
async def remove_calendar_from_list(gym: Gym, calendar_id: str) -> None:
    """Remove a calendar from your list.

    The calendar stays. Your primary calendar cannot be removed.
    """
    calendar = await _listed_calendar(gym, await known_id(gym, calendar_id), OWNERS)
    if calendar.is_primary:
        raise ToolError("PRIMARY_CALENDAR", "Cannot remove primary calendar from calendar list", "calendarId")
    await gym.update(calendar, {"deleted": True})


# --- reading ---------------------------------------------------------------------------------------------------------


async def _listed(gym: Gym, query: ListQuery) -> Sequence[Calendar]:
    """The calendars that pages are made of, by id."""
    reached = (
        Calendar.calendar_id.in_(await reached_ids(gym)) if gym.is_strict else Calendar.user_id == gym.actor.user_id
    )
    calendars = sorted(await gym.all(Calendar, reached), key=lambda row: row.calendar_id)
    if query.sync_token:
        if query.min_access_role is not None:
            message = "minAccessRole query parameter cannot be specified together with syncToken"
            raise ToolError("INVALID_QUERY", message, "minAccessRole")
        since = list_synced_at(query.sync_token)
        return [row for row in calendars if row.updated_at and row.updated_at >= since]
    return [row for row in calendars if query.show_deleted or not row.deleted]


def _is_shown(item: Mapping[str, Any], query: ListQuery) -> bool:
    if not query.sync_token and item["hidden"] and not query.show_hidden:
        return False
    return query.min_access_role is None or ROLES.index(item["accessRole"]) >= ROLES.index(query.min_access_role)


def _refuse_roles(items: Sequence[Mapping[str, Any]]) -> None:
    """Refuses a list with a calendar on which no rule gives its owner a role, as the published server does."""
    if wrong := [index for index, item in enumerate(items) if item["accessRole"] == "none"]:
        count = f"{len(wrong)} validation error{'s' if len(wrong) > 1 else ''} for CalendarListResponse"
        raise ToolError("ROLE_MISSING", "\n".join([count, *(_NO_ROLE.format(index) for index in wrong)]))


async def _listed_calendar(
    gym: Gym, calendar_id: str, roles: Sequence[str], *, shared: bool = False, removed: bool = False
) -> Calendar:
    """A calendar whose entry a tool reads or changes.

    Args:
        gym: The call.
        calendar_id: Its id.
        roles: Roles of which the acting user must have one.
        shared: Whether the calendar of another user suffices in access `strict`.
        removed: Whether the calendar may be removed from the list.
    """
    calendar = await gym.get(Calendar, calendar_id)
    if calendar is None:
        raise ToolError("NOT_FOUND", f"Calendar with id '{calendar_id}' does not exist", "calendarId")
    if await role_on(gym, calendar) not in roles:
        message = f"User '{gym.actor.user_id}' lacks permission on calendar '{calendar_id}'"
        raise ToolError("INSUFFICIENT_ROLE", message, "calendarId")
    reached = calendar.user_id == gym.actor.user_id or (shared and gym.is_strict)
    if not reached or (calendar.deleted and not removed):
        raise ToolError("NOT_FOUND", f"Calendar not found: {calendar_id}", "calendarId")
    return calendar


async def _entry(gym: Gym, calendar: Calendar) -> dict[str, Any]:
    conferences = parsed(calendar.conference_properties) or {}
    return {
        "kind": "calendar#calendarListEntry",
        "etag": f"etag-list-{calendar.calendar_id}-{stamp(calendar)}",
        "id": calendar.calendar_id,
        "summary": calendar.summary_override or calendar.summary,
        "description": calendar.description or None,
        "location": calendar.location or None,
        "timeZone": calendar.time_zone,
        "summaryOverride": calendar.summary_override or None,
        "colorId": calendar.color_id,
        "backgroundColor": calendar.background_color,
        "foregroundColor": calendar.foreground_color,
        "hidden": calendar.hidden,
        "selected": calendar.selected,
        "accessRole": await role_on(gym, calendar) or "none",
        "defaultReminders": parsed(calendar.default_reminders),
        "notificationSettings": _notifications(calendar),
        "primary": calendar.is_primary,
        "deleted": calendar.deleted,
        "conferenceProperties": {
            "allowedConferenceSolutionTypes": conferences.get("allowedConferenceSolutionTypes") or []
        },
    }


def _notifications(calendar: Calendar) -> Any:
    settings = parsed(calendar.notification_settings)
    return settings if isinstance(settings, dict) and settings.get("notifications") else None


# --- changing --------------------------------------------------------------------------------------------------------


async def _updated(gym: Gym, calendar: Calendar, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The entry after a change; the time of the last change stays if nothing differs."""
    if any(getattr(calendar, name) != value for name, value in changes.items()):
        await gym.update(calendar, changes)
    return await _entry(gym, calendar)


async def _entry_changes(gym: Gym, entry: EntryFields, given: Mapping[str, Any], colors: ColorFormat) -> dict[str, Any]:
    changes = dict(given)
    if "default_reminders" in changes:
        reminders = [reminder.model_dump() for reminder in entry.default_reminders or ()]
        changes["default_reminders"] = json.dumps(reminders) if reminders else None
    if changes.get("notification_settings") is not None and entry.notification_settings is not None:
        settings = entry.notification_settings
        stores = settings.notifications or (isinstance(entry, NewEntry) and settings.notifications is not None)
        changes["notification_settings"] = json.dumps(settings.model_dump()) if stores else None
    return changes | await _color_changes(gym, given, colors)


async def _color_changes(gym: Gym, given: Mapping[str, Any], colors: ColorFormat) -> dict[str, Any]:
    """Colours by id or by RGB: an id sets the pair, a known pair sets the id."""
    pairs = {row.color_id: row for row in await gym.all(Color, Color.color_type == "CALENDAR")}
    names = ("background_color", "foreground_color")
    pair = {name: given[name] or None for name in names if name in given}
    color_id = given.get("color_id")
    if color_id is not None and color_id not in pairs:
        message = f"Invalid calendar colorId: '{color_id}'. Check available colorId with GET /colors"
        raise ToolError("INVALID_COLOR", message, "colorId")
    if color_id is not None and not any(pair.values()):
        if gym.is_strict:
            return dict(zip(names, (pairs[color_id].background, pairs[color_id].foreground), strict=True))
        _require_rgb_format(colors)
        return {"background_color": BACKGROUNDS.get(color_id), "foreground_color": FOREGROUND}
    if not any(pair.values()):
        return pair
    _require_rgb_format(colors)
    no_id = {} if color_id is None or all(pair.get(name) for name in names) else {"color_id": None}
    return pair | no_id | _known_pair(pair, pairs)


def _require_rgb_format(colors: ColorFormat) -> None:
    if not colors.color_rgb_format:
        message = "To set backgroundColor/foregroundColor you must set colorRgbFormat=true"
        raise ToolError("RGB_FORMAT_REQUIRED", message, "colorRgbFormat")


def _known_pair(pair: Mapping[str, str | None], pairs: Mapping[str, Color]) -> dict[str, str]:
    for name, published in (("background_color", "backgroundColor"), ("foreground_color", "foregroundColor")):
        if (color := pair.get(name)) and not _HEX.fullmatch(color):
            raise ToolError("INVALID_COLOR", f"Invalid {published}: must be a hex color like #AABBCC", published)
    background, foreground = pair.get("background_color"), pair.get("foreground_color")
    if not background or not foreground:
        return {}
    rgb = background.lower(), foreground.lower()
    for color_id, known in pairs.items():
        if (known.background.lower(), known.foreground.lower()) == rgb:
            return {"color_id": color_id}
    raise ToolError(
        "INVALID_COLOR",
        f"Invalid color combination: backgroundColor='{background}' and foregroundColor='{foreground}' "
        "is not a valid calendar color combination",
        "backgroundColor",
    )


def _with_selection(changes: dict[str, Any]) -> dict[str, Any]:
    """Changes in which a hidden calendar is not selected, and a shown one is unless the call says otherwise."""
    if changes.get("hidden") is True:
        return changes | {"selected": False}
    return {"selected": True} | changes if changes.get("hidden") is False else changes
