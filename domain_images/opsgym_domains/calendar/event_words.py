"""Descriptions of the arguments of event tools, by the end of their path.

Invariant: one argument means the same in every event tool; a tool's own words say what differs.
"""

from __future__ import annotations

from collections.abc import Mapping

_TIMES: Mapping[str, str] = {
    "start": "Start: either `dateTime` or `date`, and a zone",
    "end": "End: either `dateTime` or `date`, and a zone. An all-day event ends on the day after its last one",
    "originalStartTime": "Start that the series planned for this event; must agree with `start`",
    "dateTime": "Date and time, for instance 2026-11-16T09:30:00+01:00",
    "date": "Date of an all-day event, for instance 2026-11-16",
    "timeZone": "Time zone (IANA name, for instance Europe/Berlin)",
    "timeMin": "Events that end at this time or later, for instance 2026-11-16T00:00:00Z",
    "timeMax": "Events that start before this time, for instance 2026-11-17T00:00:00Z",
    "updatedMin": "Events that were changed at this time or later",
    "originalStart": "Only the event whose series planned it for this time",
    "recurrence": (
        "Lines of RFC 5545: one RRULE, for instance RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=5, and any EXDATE and RDATE in UTC"
    ),
}

_PEOPLE: Mapping[str, str] = {
    "attendees": "Guests; a list replaces all that are stored",
    "attendees.email": "Mail address",
    "attendees.displayName": "Name that is shown",
    "attendees.optional": "Whether the guest may stay away",
    "attendees.resource": "Whether this is a room or a thing",
    "attendees.responseStatus": "Answer: needsAction, declined, tentative or accepted",
    "attendees.comment": "Comment of the guest",
    "attendees.additionalGuests": "Number of people whom the guest brings",
    "attendeesOmitted": "Whether the list of guests is incomplete",
    "organizer": "Organizer, to whom the copy will belong",
    "organizer.email": "Mail address of a user",
    "organizer.displayName": "The user's name",
    "guestsCanInviteOthers": "Whether guests may invite others",
    "guestsCanModify": "Whether guests may change the event",
    "guestsCanSeeOtherGuests": "Whether guests see each other",
    "maxAttendees": "Greatest number of guests shown for an event",
    "sendUpdates": "Who is notified: all, externalOnly or none",
    "showHiddenInvitations": "Whether to list hidden invitations; no event is hidden",
}

_CONTENT: Mapping[str, str] = {
    "summary": "Title, in a few words",
    "description": "Text of the event",
    "location": "Place, as text",
    "status": "State of the event",
    "visibility": "Who may see the event",
    "transparency": "Whether the event blocks time (opaque) or not",
    "colorId": "Colour of events (colour id)",
    "eventType": "Kind of the event; fixed once the event exists",
    "sequence": "Number of changes so far",
    "iCalUID": "Identifier in iCalendar's form, for instance abc@example.com",
    "hangoutLink": "Link to a video call",
    "locked": "Whether the event's main fields are fixed",
    "privateCopy": "Whether this is a copy that is not shared with its guests",
    "source": "Where the event comes from",
    "source.url": "Address (https)",
    "source.title": "Title, in a few words",
    "attachments": "Files; a list replaces all that are stored",
    "attachments.fileUrl": "Address of the file (https)",
    "supportsAttachments": "Must be true for attachments to be kept",
    "reminders": "Reminders",
    "reminders.useDefault": "Whether the default reminder is used instead of overrides; true unless given",
    "reminders.overrides": "Own reminders, at most 5",
    "reminders.overrides.method": "How to remind",
    "reminders.overrides.minutes": "Minutes before the start, from 1 to 40,319",
    "extendedProperties": "Properties for applications",
    "extendedProperties.private": "Texts by name, on this copy only",
    "extendedProperties.shared": "Texts by name, shared with guests' copies",
}

_CONFERENCE: Mapping[str, str] = {
    "conferenceData": "A request for a conference, or a conference with its entry points",
    "conferenceDataVersion": "Must be 1 for conference data to be used",
    "conferenceData.conferenceId": "Id of the conference, for kind addOn",
    "conferenceSolution": "Conference system",
    "conferenceSolution.iconUri": "Address of an icon",
    "conferenceSolution.key": "Kind of system",
    "conferenceSolution.key.type": "hangoutsMeet or addOn",
    "conferenceSolution.name": "Name of the system",
    "createRequest": "Request for a new conference",
    "createRequest.conferenceSolutionKey": "Kind of conference wanted",
    "createRequest.conferenceSolutionKey.type": "hangoutsMeet or addOn",
    "createRequest.requestId": "Id that you choose; each makes one conference",
    "entryPoints": "Ways to join: at most one video, sip and more each",
    "entryPoints.accessCode": "Access code",
    "entryPoints.entryPointType": "video, phone, sip or more",
    "entryPoints.label": "Text shown for the address",
    "entryPoints.meetingCode": "Meeting code",
    "entryPoints.passcode": "Passcode",
    "entryPoints.password": "Password",
    "entryPoints.pin": "PIN of the conference",
    "entryPoints.uri": "Address: http(s) for video and more, tel for phone, sip for sip",
    "conferenceData.notes": "Notes for those who join",
    "conferenceData.signature": "Signature of the conference data",
}

_KINDS: Mapping[str, str] = {
    "birthdayProperties": "For events of the type birthday",
    "birthdayProperties.type": "Kind of birthday",
    "focusTimeProperties": "For events of the type focusTime",
    "outOfOfficeProperties": "For events of the type outOfOffice",
    "autoDeclineMode": "Which overlapping invitations are declined",
    "chatStatus": "State shown in chats",
    "declineMessage": "Message of a declined invitation",
    "workingLocationProperties": "For events of the type workingLocation",
    "workingLocationProperties.type": "Kind of place",
    "customLocation": "A place of any name",
    "customLocation.label": "Name of the place",
    "homeOffice": "Working at home, with the address or any other values",
    "homeOffice.address_1": "First line of the address",
    "homeOffice.address_2": "Second line of the address",
    "homeOffice.city": "City or town",
    "homeOffice.state": "State or region",
    "homeOffice.postal_code": "Postal code",
    "officeLocation": "A place in an office",
    "officeLocation.buildingId": "Building",
    "officeLocation.deskId": "Desk id",
    "officeLocation.floorId": "Floor id",
    "officeLocation.floorSectionId": "Part of the floor",
    "officeLocation.label": "Name of the office",
}

_LISTS: Mapping[str, str] = {
    "eventId": "Event (event id)",
    "eventTypes": "Only events of this type",
    "maxResults": "Greatest number of events on a page; 250 unless given",
    "pageToken": "Number of events to skip, as text",
    "orderBy": "startTime (earliest first, unless given) or updated (last changed first)",
    "q": "Text in summary, description or location, in any case",
    "showDeleted": "Whether cancelled events are asked for",
    "singleEvents": "Whether a series is listed as its single events",
    "syncToken": "Token of an earlier list, for what changed since",
    "privateExtendedProperty": "Only events with this private property, as name=value",
    "sharedExtendedProperty": "Only events with this shared property, as name=value",
    "destination": "Calendar that receives the event (calendar id)",
    "text": "Summary of the event",
}

_CHANNELS: Mapping[str, str] = {
    "id": "Id of the channel, which you choose",
    "type": "web_hook",
    "address": "Address (https) that receives notifications",
    "token": "Text that is sent with every notification",
    "params": "Settings of the channel",
    "params.ttl": "Seconds that the channel should live, as text",
}

EVENT_WORDS: Mapping[str, str] = {
    **_TIMES,
    **_PEOPLE,
    **_CONTENT,
    **_CONFERENCE,
    **_KINDS,
    **_LISTS,
    **_CHANNELS,
}
"""Descriptions by the end of an argument's path."""
SERIES_WORDS: Mapping[str, str] = {**EVENT_WORDS, "eventId": "Series (`recurringEventId` of its events)"}
"""Descriptions for the tool that lists a series."""
