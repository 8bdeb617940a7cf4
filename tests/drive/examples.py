"""A call of every tool of Drive that succeeds on the seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.drive.seed import FOLDER, TEXT

_PLAN = {"fileId": "f-plan"}
_HOOK = {"address": "https://hook.test/b"}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "get_operations": {"name": "operations/op-1"},
    "get_drive": {"driveId": "d-sales"},
    "hide_drives": {"driveId": "d-sales"},
    "unhide_drives": {"driveId": "d-empty"},
    "create_drive": {"requestId": "request-1", "name": "Support"},
    "delete_drive": {"driveId": "d-empty"},
    "list_drives": {"q": "name contains 'lab'"},
    "update_drives": {"driveId": "d-sales", "name": "Sales north", "restrictions": {"domainUsersOnly": True}},
    "get_comments": {**_PLAN, "commentId": "c-1"},
    "create_comments": {**_PLAN, "content": "Please review", "anchor": '{"line": 3}'},
    "delete_comments": {**_PLAN, "commentId": "c-1"},
    "list_comments": _PLAN,
    "copy_files": {**_PLAN, "name": "Plan B.docx"},
    "update_comments": {**_PLAN, "commentId": "c-1", "content": "Check all dates"},
    "create_permission": {**_PLAN, "role": "reader", "type": "user", "emailAddress": "lea@acme.test"},
    "delete_permission": {**_PLAN, "permissionId": "p-plan-ben"},
    "get_permission": {**_PLAN, "permissionId": "p-plan-ben"},
    "list_permission": _PLAN,
    "update_permission": {"fileId": "f-plans", "permissionId": "p-plans-ben", "role": "writer"},
    "get_accessproposals": {**_PLAN, "proposalId": "pr-1"},
    "resolve_accessproposals": {**_PLAN, "proposalId": "pr-1", "action": "ACCEPT", "role": ["reader"]},
    "list_accessproposals": _PLAN,
    "update_teamdrive": {"team_drive_id": "d-lab", "name": "Laboratory"},
    "list_revisions": _PLAN,
    "get_revisions": {**_PLAN, "revisionId": "r-1"},
    "delete_revisions": {**_PLAN, "revisionId": "r-1"},
    "create_teamdrives": {"requestId": "request-2", "name": "Warehouse"},
    "delete_teamdrives": {"teamDriveId": "d-none"},
    "get_teamdrives": {"teamDriveId": "d-sales"},
    "list_teamdrives": {},
    "stop_channels": {"id": "ch-1", "resourceId": "f-plan"},
    "get_files": _PLAN,
    "list_files": {"q": "name contains 'plan' and trashed = false"},
    "update_files": {"fileId": "f-notes", "name": "Minutes.txt"},
    "list_files_labels": _PLAN,
    "modify_files_labels": {
        **_PLAN,
        "labelModifications": [
            {"labelId": "l-prio", "fieldModifications": [{"fieldId": "priority", "setIntegerValues": ["3"]}]}
        ],
    },
    "create_file": {"name": "Ideas.txt", "mimeType": TEXT, "parents": ["f-plans"]},
    "delete_files": {"fileId": "f-deep"},
    "empty_files_trash": {},
    "export_files": {"fileId": "f-doc", "mimeType": "text/plain"},
    "generate_files_Ids": {"count": 3},
    "create_replies": {**_PLAN, "commentId": "c-1", "content": "Will do"},
    "delete_replies": {**_PLAN, "commentId": "c-1", "replyId": "rp-1"},
    "get_replies": {**_PLAN, "commentId": "c-1", "replyId": "rp-1"},
    "list_replies": {**_PLAN, "commentId": "c-1"},
    "update_replies": {**_PLAN, "commentId": "c-1", "replyId": "rp-1", "content": "Done today"},
    "watch_files": {**_PLAN, **_HOOK, "id": "ch-2", "resourceId": "f-plan", "resourceUri": "https://drive.test/f"},
    "download_files": _PLAN,
    "get_about": {"fields": "user,storageQuota(limit,usage)"},
    "get_app": {"appId": "a-docs"},
    "list_apps": {"appFilterExtensions": ".docx"},
    "get_changes_start_page_token": {},
    "list_changes": {"pageToken": "0", "includeItemsFromAllDrives": True},
    "update_revisions": {**_PLAN, "revisionId": "r-1", "keepForever": True},
    "watch_changes": {**_HOOK, "pageToken": "0", "id": "ch-3"},
}
NEW_FOLDER: Mapping[str, Any] = {"name": "Archive", "mimeType": FOLDER}
