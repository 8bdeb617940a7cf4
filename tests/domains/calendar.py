"""What the calendar server declares to be tested. Its lists and writes have rules of their own (`tests/calendar`)."""

from __future__ import annotations

from tests.calendar.examples import EXAMPLES, between
from tests.calendar.seed import NOW, SEED, TOKEN
from tests.domains.declaration import DomainDeclaration, StrictCase, StrictDeclaration

from opsgym_domains import registry

_TEAM = {"calendarId": "c-team"}
_ROOM = {"attendees": [{"email": "room@acme.test", "resource": True}]}

CASES = (
    StrictCase(
        "PRC-1", "OUTSIDE_DOMAIN", "insert_acl_rule",
        {**_TEAM, "scope": {"type": "user", "value": "zoe@other.test"}, "role": "writer"}, {"role": "reader"},
        says="zoe@other.test",
    ),
    StrictCase(
        "PRC-2", "LAST_OWNER", "delete_acl_rule", {**_TEAM, "ruleId": "r-team"}, {"ruleId": "r-team-ben"},
        says="r-team",
    ),
    StrictCase(
        "PRC-2", "LAST_OWNER", "patch_acl_rule", {**_TEAM, "ruleId": "r-team", "role": "writer"}, {"role": "owner"},
    ),
    StrictCase(
        "PRC-3", "EVENT_OVER", "patch_event", {**_TEAM, "eventId": "e-past", **between("20", 9, 10)},
        {"eventId": "e-2"}, says="e-past",
    ),
    StrictCase(
        "PRC-4", "ROOM_TAKEN", "create_event", {**_TEAM, "summary": "Clash", **between("09", 9, 11), **_ROOM},
        between("09", 10, 11), says="e-1",
    ),
    StrictCase(
        "PRC-4", "ROOM_TAKEN", "patch_event", {**_TEAM, "eventId": "e-1", **between("10", 9, 10)}, between("11", 9, 10),
        given='INSERT INTO attendees (attendees_id, event_id, user_id, optional, resource, "responseStatus") '
        "VALUES ('a-9', 'e-2', 'u-room', 0, 1, 'accepted');",
    ),
)  # fmt: skip

DECLARATION = DomainDeclaration(
    domain=registry.load("calendar"),
    tool_count=37,
    seed=SEED,
    examples=EXAMPLES,
    identity=TOKEN,
    now=NOW,
    order="rowid",
    unknown_key="none",
    lists={},
    creates={},
    updates={},
    deletes={},
    other_writes=frozenset(name for name, tool in registry.load("calendar").toolbox.tools.items() if tool.writes),
    refuses_no_op=False,
    references={},
    strict=StrictDeclaration(
        seed=SEED,
        identities={"admin": TOKEN, "reader": "token-ben"},
        inactive="token-cleo",
        reads=lambda _role, _resource: True,
        changes=lambda _role, _resource: True,
        tools_of_resource={
            "calendars": ("get_calendar", "create_calendar"),
            "calendar_list": ("get_calendar_list", "add_calendar_to_list"),
            "events": ("list_events", "delete_event"),
            "event_creation": (None, "create_event"),
            "event_changes": (None, "patch_event"),
            "event_import": (None, "import_event"),
            "colors": ("get_colors", None),
            "users": ("get_user_by_email", None),
            "acl": ("list_acl_rules", "insert_acl_rule"),
            "channels": (None, "watch_settings"),
            "freebusy": ("query_freebusy", None),
        },
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-2"}),
        transitions={},
        denial=None,
    ),
    dangling=("('r-team-ben', 'c-team'", "('r-team-ben', 'c-none'", {"place": "acls.calendar_id", "value": "c-none"}),
    unnamed_arguments=frozenset({("insert_acl_rule", "role")}),
    argument_codes={"INVALID_ENUM_VALUE": "invalid", "MISSING_FIELD": "missing", "INVALID_TYPE": "invalid"},
)
