"""A call of every calendar tool that succeeds on the seed, acting as Ann."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def between(day: str, start: int, end: int) -> dict[str, Any]:
    """Start and end of an event on a day of March 2026."""
    return {
        name: {"dateTime": f"2026-03-{day}T{hour:02}:00:00", "timeZone": "UTC"}
        for name, hour in (("start", start), ("end", end))
    }


_HOOK = {"type": "web_hook", "address": "https://hooks.acme.test/calendar"}
_TEAM = {"calendarId": "c-team"}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "create_calendar": {"summary": "Launch", "timeZone": "Europe/Berlin"},
    "get_calendar": {"calendarId": "primary"},
    "patch_calendar": {**_TEAM, "description": "What the team does"},
    "update_calendar": {**_TEAM, "location": "Lyon"},
    "delete_calendar": {"calendarId": "c-spare"},
    "clear_calendar": {"calendarId": "c-ann"},
    "get_calendar_list": {},
    "get_calendar_from_list": _TEAM,
    "add_calendar_to_list": {"id": "c-team", "summaryOverride": "Crew"},
    "update_calendar_in_list": {**_TEAM, "hidden": True},
    "replace_calendar_in_list": {**_TEAM, "summaryOverride": "Group"},
    "remove_calendar_from_list": {"calendarId": "c-side"},
    "watch_calendar_list": {"id": "w-list", **_HOOK},
    "list_events": _TEAM,
    "create_event": {**_TEAM, "summary": "Review", **between("18", 9, 10)},
    "get_event": {**_TEAM, "eventId": "e-1"},
    "patch_event": {**_TEAM, "eventId": "e-1", "summary": "Planning"},
    "update_event": {**_TEAM, "eventId": "e-2", **between("10", 11, 12)},
    "delete_event": {**_TEAM, "eventId": "e-past"},
    "move_event": {**_TEAM, "eventId": "e-2", "destination": "c-ann"},
    "quick_add_event": {**_TEAM, "text": "Coffee"},
    "import_event": {**_TEAM, "iCalUID": "e-1@acme.test", "summary": "Copy", **between("19", 9, 10)},
    "get_event_instances": {**_TEAM, "eventId": "series"},
    "watch_events": {**_TEAM, "id": "w-events", **_HOOK},
    "get_colors": {},
    "get_user_by_email": {"email": "ben@acme.test"},
    "get_settings": {"settingId": "locale"},
    "list_settings": {},
    "watch_settings": {"id": "w-settings", **_HOOK},
    "get_acl_rule": {**_TEAM, "ruleId": "r-team-ben"},
    "list_acl_rules": _TEAM,
    "insert_acl_rule": {**_TEAM, "scope": {"type": "user", "value": "zoe@other.test"}, "role": "reader"},
    "update_acl_rule": {
        **_TEAM, "ruleId": "r-team-ben", "scope": {"type": "user", "value": "ben@acme.test"}, "role": "writer",
    },
    "patch_acl_rule": {**_TEAM, "ruleId": "r-team-ben", "role": "freeBusyReader"},
    "delete_acl_rule": {**_TEAM, "ruleId": "r-team-ben"},
    "watch_acl": {**_TEAM, "id": "w-acl", **_HOOK},
    "query_freebusy": {
        "timeMin": "2026-03-09T00:00:00", "timeMax": "2026-03-12T00:00:00",
        "items": [{"id": "c-team"}, {"id": "c-ann"}],
    },
}  # fmt: skip
