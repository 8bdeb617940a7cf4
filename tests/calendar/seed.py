"""Rows for tests of the calendar server: two people with calendars, a room, and events before and after `NOW`."""

from __future__ import annotations

NOW = "2026-03-02T12:00:00"
TOKEN = "token-ann"

_STAMPS = "'2026-01-05 08:00:00', '2026-01-05 08:00:00'"
_EVENT_COLUMNS = (
    "event_id, calendar_id, user_id, organizer_id, organizer_email, organizer_display_name, organizer_self, "
    "recurring_event_id, summary, description, location, start_datetime, end_datetime, start_timezone, end_timezone, "
    'recurrence, status, visibility, "eventType", "guestsCanInviteOthers", "guestsCanModify", '
    '"guestsCanSeeOtherGuests", sequence, transparency, "iCalUID", created_at, updated_at'
)


def _event(key: str, calendar: str, user: str, day: str, hours: tuple[int, int], series: str = "NULL") -> str:
    rule = "NULL" if series == "NULL" else "'[\"RRULE:FREQ=WEEKLY;COUNT=2\"]'"
    name = user.removeprefix("u-")
    start, end = (f"'2026-03-{day} {hour:02}:00:00'" for hour in hours)
    return (
        f"('{key}', '{calendar}', '{user}', '{user}', '{name}@acme.test', '{name.title()}', 1, {series}, "
        f"'Event {key}', NULL, NULL, {start}, {end}, 'UTC', 'UTC', {rule}, 'confirmed', 'default', 'default', "
        f"1, 0, 1, 0, 'opaque', '{key}@acme.test', {_STAMPS})"
    )


def _calendar(key: str, user: str, summary: str, *, primary: int = 0) -> str:
    return f"('{key}', '{user}', '{summary}', 'UTC', {primary}, 0, 1, 0, {_STAMPS})"


def _rule(key: str, calendar: str, owner: str, role: str, scope: str) -> str:
    return f"('{key}', '{calendar}', '{owner}', '{role}', '{scope}', '\"e-{key}\"', {_STAMPS})"


def _user(name: str, *, domain: str = "acme.test", active: int = 1) -> str:
    return f"('u-{name}', '{name}@{domain}', '{name.title()}', 'token-{name}', 'UTC', {active}, 1, {_STAMPS})"


def _insert(table: str, columns: str, *rows: str) -> str:
    return f"INSERT INTO {table} ({columns}) VALUES\n" + ",\n".join(rows) + ";\n"


SEED = "".join(
    [
        _insert(
            "users",
            "user_id, email, name, static_token, timezone, is_active, is_verified, created_at, updated_at",
            _user("ann"), _user("ben"), _user("room"), _user("cleo", active=0), _user("zoe", domain="other.test"),
        ),
        _insert(
            "calendars",
            "calendar_id, user_id, summary, time_zone, is_primary, hidden, selected, deleted, created_at, updated_at",
            _calendar("c-ann", "u-ann", "Ann", primary=1), _calendar("c-team", "u-ann", "Team"),
            _calendar("c-spare", "u-ann", "Spare"), _calendar("c-side", "u-ann", "Side"),
            _calendar("c-ben", "u-ben", "Ben", primary=1),
        ),
        _insert("scopes", "id, type, value",
            "('s-ann', 'user', 'ann@acme.test')", "('s-ben', 'user', 'ben@acme.test')",
            "('s-zoe', 'user', 'zoe@other.test')", "('s-all', 'default', NULL)"),
        _insert(
            "acls",
            "id, calendar_id, user_id, role, scope_id, etag, created_at, updated_at",
            _rule("r-ann", "c-ann", "u-ann", "owner", "s-ann"), _rule("r-team", "c-team", "u-ann", "owner", "s-ann"),
            _rule("r-spare", "c-spare", "u-ann", "owner", "s-ann"), _rule("r-ben", "c-ben", "u-ben", "owner", "s-ben"),
            _rule("r-side", "c-side", "u-ann", "owner", "s-ann"),
            _rule("r-team-ben", "c-team", "u-ann", "reader", "s-ben"),
            _rule("r-ben-ann", "c-ben", "u-ben", "freeBusyReader", "s-ann"),
        ),
        _insert("recurring_events", "recurring_event_id, original_recurrence",
            "('series', '[\"RRULE:FREQ=WEEKLY;COUNT=2\"]')"),
        _insert(
            "events",
            _EVENT_COLUMNS,
            _event("e-past", "c-team", "u-ann", "02", (8, 9)), _event("e-1", "c-team", "u-ann", "09", (9, 10)),
            _event("e-2", "c-team", "u-ann", "10", (9, 10)), _event("e-3", "c-ann", "u-ann", "11", (9, 10)),
            _event("e-4", "c-ann", "u-ann", "12", (9, 10)), _event("e-ben", "c-ben", "u-ben", "09", (14, 15)),
            _event("e-s1", "c-team", "u-ann", "16", (9, 10), "'series'"),
            _event("e-s2", "c-team", "u-ann", "23", (9, 10), "'series'"),
        ),
        _insert("attendees", 'attendees_id, event_id, user_id, "displayName", optional, resource, "responseStatus"',
            "('a-1', 'e-1', 'u-room', 'Room', 0, 1, 'accepted')",
            "('a-2', 'e-1', 'u-ben', 'Ben', 0, 0, 'needsAction')"),
        _insert("colors", "color_id, color_type, background, foreground, created_at, updated_at",
            f"('1', 'CALENDAR', '#ac725e', '#1d1d1d', {_STAMPS})", f"('1', 'EVENT', '#a4bdfc', '#1d1d1d', {_STAMPS})"),
        _insert("settings", "id, value, etag, user_id", "('locale', 'en', '\"s1\"', 'u-ann')"),
    ]
)  # fmt: skip
"""Ann owns all calendars but c-ben; Ben reads c-team and shows Ann when he is busy. Cleo is inactive."""
