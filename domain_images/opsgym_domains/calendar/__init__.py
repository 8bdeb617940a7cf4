"""Calendars, events and sharing, with the tools of the published calendar server."""
