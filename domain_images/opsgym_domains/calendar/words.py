"""Descriptions of the tools' arguments, by name or by the end of the path.

Invariant: every argument of every tool is described, here, at its tool or in `event_words`.
"""

from __future__ import annotations

from collections.abc import Mapping

_CALENDARS: Mapping[str, str] = {
    "calendarId": "Calendar (calendar id)",
    "summary": "Title of the calendar",
    "description": "Text that describes the calendar",
    "location": "Place, for instance a city",
    "timeZone": "Time zone (IANA name, for instance Europe/Berlin)",
    "conferenceProperties": "Conferences that events of the calendar may have",
    "allowedConferenceSolutionTypes": "Allowed kinds of conferences",
}

_ENTRIES: Mapping[str, str] = {
    "minAccessRole": "Only calendars on which you have at least this role",
    "showDeleted": "Whether removed entries, or rules with the role none, are listed too",
    "showHidden": "Whether hidden calendars are listed too",
    "colorRgbFormat": "Must be true to set backgroundColor, foregroundColor or colorId",
    "summaryOverride": "Title that you see instead of the calendar's",
    "colorId": "Colour of the calendar (an id of get_colors)",
    "backgroundColor": "Background, for instance #0088aa; together with foregroundColor a pair of get_colors",
    "foregroundColor": "Foreground, for instance #ffffff; together with backgroundColor a pair of get_colors",
    "hidden": "Whether the list hides the calendar",
    "selected": "Whether the events of the calendar are shown",
    "defaultReminders": "Reminders that events of the calendar have by default",
    "defaultReminders.method": "How you are reminded",
    "defaultReminders.minutes": "Minutes before the start",
    "notificationSettings": "Notifications that you get about the calendar",
    "notifications": "List of notifications",
    "notifications.method": "How you are notified",
    "notifications.type": "What you are notified of",
}

_PAGES: Mapping[str, str] = {
    "maxResults": "Number of rows of a page",
    "pageToken": "`nextPageToken` of the page before",
    "syncToken": "`nextSyncToken` of an earlier answer, to list what has changed since",
}

_SHARING: Mapping[str, str] = {
    "ruleId": "Rule of sharing (rule id)",
    "scope": "Whom the rule applies to",
    "scope.type": "Kind of scope; default is everybody",
    "scope.value": "Mail address of the user or group, or the domain; omitted for everybody",
    "role": "Role that the rule gives: none, freeBusyReader, reader, writer or owner",
    "sendNotifications": "Whether the people concerned are notified",
}

_CHANNELS: Mapping[str, str] = {
    "id": "Id of your choice; must be unique among all channels",
    "type": "How notifications are sent: web_hook",
    "address": "HTTPS address that receives the notifications",
    "token": "Text that is sent with each notification",
    "params": "Further parameters of the channel",
    "params.ttl": "Seconds for which the channel shall be open, as a text of digits",
}

_OTHERS: Mapping[str, str] = {
    "email": "Exact mail address",
    "settingId": "Setting (setting id)",
    "timeMin": "Begin of the range, for instance 2026-11-16T00:00:00",
    "timeMax": "End of the range, at most 366 days later",
    "groupExpansionMax": "Limit for groups; groups are not expanded",
    "calendarExpansionMax": "Limit for calendars",
    "items": "Calendars to look at, at most 50",
    "items.id": "Calendar (calendar id)",
}

WORDS: Mapping[str, str] = {**_CALENDARS, **_ENTRIES, **_PAGES, **_SHARING, **_CHANNELS, **_OTHERS}
