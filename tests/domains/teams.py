"""What the Teams server declares to be tested. Its lists and writes have rules of their own (`tests/teams`)."""

from __future__ import annotations

from tests.domains.declaration import DomainDeclaration, StrictDeclaration
from tests.teams.examples import EXAMPLES
from tests.teams.process_rules import CASES
from tests.teams.seed import NOW, SEED, TOKEN

from opsgym_domains import registry
from opsgym_domains.teams.rules import EVENT_STATES

_DOMAIN = registry.load("teams")
_MEMBERS_READ = frozenset({"users", "files_folders", "apps", "call_records"})
_GUESTS_READ = frozenset({"users", "channels", "channel_messages"})


def may_read(role: str, resource: str) -> bool:
    return role in ("admin", "member") or (role == "guest" and resource in _GUESTS_READ)


def may_change(role: str, resource: str) -> bool:
    return role == "admin" or (role == "member" and resource not in _MEMBERS_READ)


DECLARATION = DomainDeclaration(
    domain=_DOMAIN,
    tool_count=70,
    seed=SEED,
    examples=EXAMPLES,
    identity=TOKEN,
    now=NOW,
    order="rowid",
    unknown_key="none",
    argument_codes={"INVALID_ENUM_VALUE": "invalid", "MISSING_FIELD": "missing", "INVALID_TYPE": "invalid"},
    lists={},
    creates={},
    updates={},
    deletes={},
    other_writes=frozenset(name for name, tool in _DOMAIN.toolbox.tools.items() if tool.writes),
    refuses_no_op=False,
    references={},
    strict=StrictDeclaration(
        seed=SEED,
        identities={"admin": TOKEN, "member": "token-ben", "guest": "token-dora", "nobody": "token-eve"},
        inactive="token-cleo",
        reads=may_read,
        changes=may_change,
        tools_of_resource={
            "users": ("get_user", "update_user"),
            "chats": ("list_chats", "create_chat"),
            "chat_messages": ("list_chat_messages", "pin_chat_message"),
            "channels": ("get_primary_channel", "add_channel_member"),
            "channel_messages": ("list_channel_messages", "send_channel_message"),
            "files_folders": ("get_files_folder", None),
            "tabs": ("list_tabs_in_channel", "add_tab_to_chat"),
            "teams": ("list_teams", "create_team"),
            "team_members": ("list_team_members", "add_team_members_in_bulk"),
            "apps": ("list_installed_apps", None),
            "tags": ("list_teamwork_tags", "create_teamwork_tag_member"),
            "groups": ("list_groups", "add_group_owner"),
            "call_records": ("list_call_sessions", None),
            "calls": (None, "create_audio_routing_group"),
            "presence": (None, "set_user_status_message"),
            "webinars": ("get_virtual_event_webinar", "publish_virtual_event_webinar"),
            "townhalls": ("list_virtual_event_townhalls", "create_virtual_event_townhall"),
        },
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-2"}),
        transitions={state: list(after) for state, after in EVENT_STATES.items()},
        denial=(
            "guest",
            "send_channel_message",
            ("rule ID-2", "dora (User)", "channel_messages", "send_channel_message"),
        ),
    ),
    dangling=(
        "'c-dev', 'acme', 't-main'",
        "'c-dev', 'acme', 't-none'",
        {"place": "channels.team_id", "value": "t-none"},
    ),
)
