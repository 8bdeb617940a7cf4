"""Rows for tests of Drive: colleagues, one who left, an outsider, their files, and shared drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOW = "2026-11-16T10:00:00"
TOKEN = "token-ann"
FOLDER, PDF, TEXT = "application/vnd.google-apps.folder", "application/pdf", "text/plain"
DOCUMENT, SHEET = "application/vnd.google-apps.document", "application/vnd.google-apps.spreadsheet"
SLIDES, SHORTCUT = "application/vnd.google-apps.presentation", "application/vnd.google-apps.shortcut"
_MADE = "2026-01-05 08:00:00"


def _value(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def insert(table: str, *rows: Mapping[str, Any]) -> str:
    """Statements that add rows."""
    return "".join(
        f'INSERT INTO "{table}" ({", ".join(row)}) VALUES ({", ".join(map(_value, row.values()))});\n' for row in rows
    )


def _user(name: str, *, domain: str = "acme.test", left: bool = False) -> dict[str, Any]:
    return {
        "id": f"u-{name}", "display_name": f"{name.title()} Berg", "email": f"{name}@{domain}",
        "auth_token": None if left else f"token-{name}", "created_time": _MADE, "kind": "drive#user",
        "permission_id": f"perm_u-{name}", "me": name == "ann",
    }  # fmt: skip


def _drive(key: str, name: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": key, "name": name, "color_rgb": "#0b8043", "hidden": False, "restricted_to_domain": False,
        "trashed": False, "created_time": _MADE, "modified_time": _MADE, "kind": "drive#drive", **fields,
    }  # fmt: skip


def file(
    key: str, name: str, kind: str, day: str, *, parent: str | None = None, owner: str = "ann", **fields: Any
) -> dict[str, Any]:
    """A row of a file, changed on a day of 2026 (`03-01`)."""
    return {
        "id": key, "name": name, "mime_type": kind, "parent_id": parent,
        "parent_ids": f'["{parent}"]' if parent else "[]",
        "size_bytes": 0 if kind.startswith("application/vnd.google-apps") else 1000, "starred": False, "trashed": False,
        "created_by": f"u-{owner}", "modified_by": f"u-{owner}", "created_time": f"2026-{day} 08:00:00",
        "modified_time": f"2026-{day} 09:00:00", "kind": "drive#file", "space": "drive", "version": 1, "shared": False,
        "explicitly_trashed": False, "is_shortcut": kind == SHORTCUT, "quota_bytes_used": 0, **fields,
    }  # fmt: skip


def permission(key: str, role: str, kind: str = "user", **fields: Any) -> dict[str, Any]:
    """A row of a permission."""
    return {
        "id": key, "role": role, "type": kind, "kind": "drive#permission", "deleted": False, "inherited": False,
        "created_time": _MADE, "updated_time": _MADE, **fields,
    }  # fmt: skip


def _owner(key: str, name: str) -> dict[str, Any]:
    return permission(f"o-{key}", "owner", file_id=key, user_id=f"u-{name}")


FILES = (
    file("f-plans", "Plans", FOLDER, "02-01"),
    file("f-plan", "Project Plan.docx", "application/msword", "03-01", parent="f-plans", head_revision_id="r-2",
         description="Milestones of the harbour project", properties='{"phase": "two", "team": "harbour"}'),
    file("f-budget", "Budget 2026", SHEET, "03-02", parent="f-plans", starred=True, head_revision_id="r-budget",
         viewed_by_me_time="2026-04-01 08:00:00"),
    file("f-notes", "Meeting_Notes.txt", TEXT, "03-03", parent="f-plans", head_revision_id="r-notes"),
    file("f-held", "Contract.pdf", PDF, "03-04", head_revision_id="r-held-2"),
    file("f-kept", "Invoice 2025.pdf", PDF, "03-05"),
    file("f-secret", "Salaries.xlsx", "application/vnd.ms-excel", "03-06"),
    file("f-open", "Brochure.pdf", PDF, "03-07", shared=True),
    file("f-trash", "Old notes.txt", TEXT, "03-08", trashed=True, explicitly_trashed=True,
         trashed_time="2026-10-01 08:00:00"),
    file("f-left", "Handover.docx", "application/msword", "03-09", owner="cleo", shared=True),
    file("f-ben", "Ben's diary.txt", TEXT, "03-10", owner="ben"),
    file("f-shared", "Roadmap", SLIDES, "03-11", owner="ben", shared=True, head_revision_id="r-shared"),
    file("f-out", "Partner exchange", FOLDER, "03-12", shared=True),
    file("f-link", "Plan (shortcut)", SHORTCUT, "03-13", shortcut_target_id="f-plan",
         shortcut_target_mime="application/msword"),
    file("f-doc", "Manual", DOCUMENT, "03-14", head_revision_id="r-doc", shared=True),
    file("f-deck", "Sales Deck", SLIDES, "04-01", drive_id="d-sales"),
    file("f-clients", "Clients", FOLDER, "04-02", drive_id="d-sales"),
    file("f-client", "Client list.csv", "text/csv", "04-03", parent="f-clients", drive_id="d-sales"),
    file("f-lab", "Measurements.csv", "text/csv", "04-04", drive_id="d-lab"),
    file("f-spare", "Spare", FOLDER, "04-05"),
    file("f-inner", "Inner", FOLDER, "04-06", parent="f-spare"),
    file("f-deep", "Deep.txt", TEXT, "04-07", parent="f-inner"),
)  # fmt: skip
OWNERS = {"f-left": "cleo", "f-ben": "ben", "f-shared": "ben"}
"""Owners of the files that are not Ann's."""
_CONTENT = "Alpha budget for the harbour; see milestone-list and User_Guide."


def _revision(key: str, file_id: str, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": key, "file_id": file_id, "revision_number": number, "mime_type": DOCUMENT, "size_bytes": 0,
        "keep_forever": False, "published": False, "created_time": f"2026-03-0{number} 09:00:00",
        "kind": "drive#revision",
        "modified_time": f"2026-03-0{number} 09:00:00", "last_modifying_user_id": "u-ann", **fields,
    }  # fmt: skip


def _remark(key: str, author: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": key, "author_id": f"u-{author}", "content": content, "html_content": f"<p>{content}</p>",
        "created_time": "2026-05-01 08:00:00", "modified_time": "2026-05-01 08:00:00", "deleted": False, **fields,
    }  # fmt: skip


def _proposal(key: str, email: str, roles: str, status: str = "pending") -> dict[str, Any]:
    return {
        "id": key, "file_id": "f-plan", "requester_email": email, "recipient_email": "ann@acme.test",
        "proposed_roles": roles, "request_message": "Please", "status": status,
        "created_at": "2026-11-01T08:00:00.000Z",
    }  # fmt: skip


def _app(key: str, name: str, kinds: str, extensions: str, *, installed: bool = True) -> dict[str, Any]:
    return {
        "id": key, "name": name, "object_type": "editor", "installed": installed, "authorized": installed,
        "use_by_default": key == "a-docs", "primary_mime_types": kinds, "primary_file_extensions": extensions,
        "installed_by": "u-ann", "created_at": _MADE, "updated_at": _MADE,
    }  # fmt: skip


SEED = "".join(
    [
        f"-- now: {NOW}\n",
        insert("users", _user("ann"), _user("ben"), _user("lea"), _user("dana"), _user("cleo", left=True),
               _user("zoe", domain="other.test")),
        insert("groups", *({"id": f"g-{key}", "name": name, "email": f"{name}@acme.test", "created_time": _MADE}
               for key, name in (("legal", "legal"), ("admins", "drive-admins"), ("team", "team")))),
        insert("group_memberships", *(
            {"id": f"m-{group}-{user}", "group_id": f"g-{group}", "user_id": f"u-{user}", "role": "member",
             "created_time": _MADE}
            for group, user in (("legal", "lea"), ("admins", "dana"), ("team", "ann"), ("team", "ben")))),
        insert("drives", _drive("d-sales", "Sales"), _drive("d-lab", "Lab results", domain_users_only=True),
               _drive("d-club", "Club", drive_members_only=True), _drive("d-empty", "Empty shelf", hidden=True),
               _drive("d-none", "No shelf")),
        insert("drive_memberships", *(
            {"id": f"dm-{drive}-{user}", "drive_id": f"d-{drive}", "type": "user", "user_id": f"u-{user}", "role": role,
             "created_time": _MADE}
            for drive, user, role in (
                ("sales", "ann", "organizer"), ("sales", "ben", "writer"), ("lab", "ann", "organizer"),
                ("lab", "dana", "organizer"), ("club", "ann", "organizer"), ("empty", "ann", "organizer"),
                ("none", "ann", "organizer")))),
        insert("blobs", {"id": "b-1", "digest": "sha256:01", "size_bytes": 9, "storage": "DB", "key": "First try"},
               {"id": "b-2", "digest": "sha256:02", "size_bytes": 64, "storage": "DB", "key": _CONTENT},
               {"id": "b-3", "digest": "sha256:03", "size_bytes": 5, "storage": "S3", "key": "blobs/2026/notes"}),
        insert("files", *FILES, file("f-rule", "Rules.txt", TEXT, "04-08", drive_id="d-club")),
        insert("revisions", _revision("r-1", "f-plan", 1, blob_id="b-1"), _revision("r-2", "f-plan", 2, blob_id="b-2"),
               _revision("r-budget", "f-budget", 1), _revision("r-notes", "f-notes", 1, blob_id="b-3"),
               _revision("r-doc", "f-doc", 1, blob_id="b-1"), _revision("r-shared", "f-shared", 1),
               _revision("r-held", "f-held", 1), _revision("r-held-2", "f-held", 2)),
        insert("permissions", *(_owner(str(one["id"]), OWNERS.get(str(one["id"]), "ann")) for one in FILES
               if "drive_id" not in one and one["id"] != "f-left"),
               permission("o-f-left", "owner", file_id="f-left", user_id="u-cleo"),
               permission("p-left-ann", "writer", file_id="f-left", user_id="u-ann"),
               permission("p-plans-ben", "reader", file_id="f-plans", user_id="u-ben"),
               permission("p-plan-ben", "commenter", file_id="f-plan", user_id="u-ben"),
               permission("p-shared-ann", "writer", file_id="f-shared", user_id="u-ann"),
               permission("p-out-zoe", "reader", file_id="f-out", user_id="u-zoe", email_address="zoe@other.test"),
               permission("p-doc-team", "writer", "group", file_id="f-doc", group_id="g-team"),
               permission("p-open-all", "reader", "anyone", file_id="f-open", allow_file_discovery=True),
               permission("p-spare-acme", "reader", "domain", file_id="f-spare", domain="acme.test"),
               permission("p-lab-acme", "reader", "domain", drive_id="d-lab", domain="acme.test")),
        insert("comments", _remark("c-1", "ann", "Check the dates", file_id="f-plan", kind="drive#comment"),
               _remark("c-2", "ben", "Who pays?", file_id="f-plan", kind="drive#comment"),
               _remark("c-3", "ann", "Gone", file_id="f-plan", kind="drive#comment", deleted=True)
               | {"deleted": True}),
        insert("replies", _remark("rp-1", "ann", "Done", comment_id="c-1", kind="drive#reply"),
               _remark("rp-2", "ben", "Thanks", comment_id="c-1", kind="drive#reply")),
        insert("changes", {"token": "01JBQM3K8TGHZX9RNVQM5Y2P0A", "change_time": _MADE, "file_id": "f-plan",
                           "change_type": "file_created", "payload": '{"action": "create"}', "kind": "drive#change",
                           "removed": False},
               {"token": "01JBQM3K8TGHZX9RNVQM5Y2P0B", "change_time": _MADE, "drive_id": "d-sales",
                "change_type": "drive_created", "payload": '{"drive_name": "Sales"}', "kind": "drive#change",
                "removed": False}),
        insert("change_tokens", {"scope": "global", "last_token": "01JBQM3K8TGHZX9RNVQM5Y2P0B"}),
        insert("labels", *(
            {"id": f"l-{key}", "key": name, "name": name.replace("_", " ").title(), "type": kind, "options": options,
             "required": False, "created_time": _MADE}
            for key, name, kind, options in (
                ("hold", "legal_hold", "boolean", None), ("keep", "retention_until", "date", None),
                ("sens", "sensitivity", "enum", '["public", "internal", "confidential", "restricted"]'),
                ("prio", "priority", "number", None), ("note", "note", "string", None)))),
        insert("file_labels", {"id": "fl-1", "file_id": "f-held", "label_id": "l-hold", "value_boolean": True},
               {"id": "fl-2", "file_id": "f-kept", "label_id": "l-keep", "value_date": "2030-01-01"},
               {"id": "fl-3", "file_id": "f-secret", "label_id": "l-sens", "value_enum": "confidential"},
               {"id": "fl-4", "file_id": "f-plan", "label_id": "l-sens", "value_enum": "internal"},
               {"id": "fl-5", "file_id": "f-doc", "label_id": "l-sens", "value_enum": "internal"}),
        insert("id_pool", {"id": "01JBQM3K8TGHZX9RNVQM5Y2P1A", "reserved": False},
               {"id": "01JBQM3K8TGHZX9RNVQM5Y2P1B", "reserved": True, "reserved_time": _MADE}),
        insert("access_proposals", _proposal("pr-1", "dana@acme.test", '["reader"]'),
               _proposal("pr-2", "zoe@other.test", '["writer"]'),
               _proposal("pr-3", "lea@acme.test", '["writer"]', "denied")),
        insert("operations", {"id": "op-1", "name": "export_plan", "operation_type": "export", "status": "running",
                              "operation_metadata": '{"file_id": "f-plan"}', "created_at": _MADE},
               {"id": "op-2", "name": "download_plan", "operation_type": "download", "status": "error",
                "error_data": '{"error_code": "INSUFFICIENT_PERMISSIONS", "message": "no"}', "created_at": _MADE}),
        insert("apps", _app("a-docs", "Writer", '["application/msword"]', '["docx"]'),
               _app("a-view", "Viewer", '["application/pdf"]', '["pdf"]'),
               _app("a-none", "Painter", '["image/png"]', '["png"]', installed=False)),
        insert("channels", {"id": "ch-1", "resource_id": "f-plan", "resource_uri": "https://drive.test/f-plan",
                            "type": "web_hook", "address": "https://hook.test/a", "payload": False,
                            "expiration": "1800000000000", "active": True, "user_id": "u-ann", "created_time": _MADE}),
    ]
)  # fmt: skip
