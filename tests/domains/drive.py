"""What Drive declares to be tested. Its lists and writes have rules of their own (`tests/drive`)."""

from __future__ import annotations

from tests.domains.declaration import DomainDeclaration, StrictDeclaration
from tests.drive.examples import EXAMPLES
from tests.drive.seed import NOW, SEED, TOKEN
from tests.drive.strict_cases import CASES, IDENTITIES

from opsgym_domains import registry

_PERMISSION = (
    "'p-plan-ben', 'commenter', 'user', 'drive#permission', false, false, '2026-01-05 08:00:00', '2026-01-05 08:00:00'"
)

DECLARATION = DomainDeclaration(
    domain=registry.load("drive"),
    tool_count=55,
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
    other_writes=frozenset(name for name, tool in registry.load("drive").toolbox.tools.items() if tool.writes),
    refuses_no_op=False,
    references={},
    strict=StrictDeclaration(
        seed=SEED,
        identities=IDENTITIES,
        inactive="token-cleo",
        reads=lambda _role, _resource: True,
        changes=lambda _role, _resource: True,
        tools_of_resource={
            "operations": ("get_operations", "export_files"),
            "drives": ("get_drive", "create_drive"),
            "comments": ("list_comments", "create_comments"),
            "permissions": ("list_permission", "create_permission"),
            "proposals": ("list_accessproposals", "resolve_accessproposals"),
            "team_drives": ("get_teamdrives", "update_teamdrive"),
            "revisions": ("list_revisions", "update_revisions"),
            "files": ("list_files", None),
            "file_creation": (None, "create_file"),
            "file_changes": (None, "update_files"),
            "file_labels": ("list_files_labels", "modify_files_labels"),
            "replies": ("list_replies", "create_replies"),
            "about": ("get_about", None),
            "changes": ("list_changes", None),
            "channels": (None, "watch_files"),
        },
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-2"}),
        transitions={},
        denial=None,
    ),
    dangling=(
        f"{_PERMISSION}, 'f-plan'",
        f"{_PERMISSION}, 'f-none'",
        {"place": "permissions.file_id", "value": "f-none"},
    ),
    column_of={
        "fileId": "file_id",
        "driveId": "drive_id",
        "teamDriveId": "drive_id",
        "team_drive_id": "drive_id",
        "commentId": "comment_id",
        "labelId": "label_id",
        "emailAddress": "email",
        "mimeType": "mime_type",
        "parents": "parent_id",
        "addParents": "parent_id",
        "removeParents": "parent_id",
    },
)
