"""Builder of the verifiers of Drive tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.tables import (
    AccessProposal,
    Blob,
    Change,
    ChangeToken,
    Channel,
    Comment,
    DriveMembership,
    File,
    Operation,
    PathClosure,
    Permission,
    PooledId,
    Reply,
    Revision,
    SharedDrive,
)
from opsgym_suites.drive.effects import EFFECTS
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.derived_verifiers import Expected, OfActor, VerifierBuilder
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.effects import RowType, WrittenRow
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Matches

_FOLLOWS = (
    "parent_ids",
    "modified_by",
    "modified_time",
    "modified_by_me",
    "trashed_time",
    "viewed_by_me_time",
    "shared",
    "owned_by_me",
    "viewed_by_me",
    "version",
    "head_revision_id",
    "size_bytes",
    "quota_bytes_used",
    "md5_checksum",
    "sha1_checksum",
    "file_extension",
    "full_file_extension",
    "original_filename",
    "web_view_link",
    "web_content_link",
    "thumbnail_link",
    "icon_link",
)
"""Columns of a file that follow from others, or from when and by whom it was written."""
_UNJUDGED: Mapping[RowType, Sequence[str]] = {
    Change: ("*",),
    ChangeToken: ("*",),
    PathClosure: ("*",),
    Operation: ("*",),
    File: _FOLLOWS,
    Revision: ("modified_time", "md5_checksum", "size_bytes", "original_filename"),
    Blob: ("digest", "size_bytes"),
    Comment: ("html_content", "modified_time"),
    Reply: ("html_content", "modified_time"),
    AccessProposal: ("resolved_at",),
    PooledId: ("reserved_time",),
}
"""What the server keeps up to date itself, and what only logs: reading a document leaves an operation."""
VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        "create_permission": "SHR-1, SHR-3",
        "update_permission": "SHR-1, SHR-6",
        "delete_permission": "SHR-5",
        "resolve_accessproposals": "REQ-1, REQ-2",
        "create_file": "ID-4",
        "copy_files": "SHR-7",
        "update_files": "RET-1, SHR-4",
        "delete_files": "RET-1, RET-2",
        "empty_files_trash": "RET-3",
        "modify_files_labels": "RET-4, PRC-10",
        "generate_files_Ids": "ID-4",
        "create_comments": "ID-4",
        "update_comments": "ID-4",
        "delete_comments": "ID-4",
        "create_replies": "ID-4",
        "update_replies": "ID-4",
        "delete_replies": "ID-4",
        "update_revisions": "ID-4",
        "delete_revisions": "RET-1",
        "create_drive": "OWN-2",
        "create_teamdrives": "OWN-2",
        "update_drives": "ID-4, PRC-5",
        "update_teamdrive": "ID-4",
        "hide_drives": "ID-4",
        "unhide_drives": "ID-4",
        "delete_drive": "RET-2",
        "delete_teamdrives": "RET-2",
        "watch_files": "ID-4",
        "watch_changes": "ID-4",
        "stop_channels": "ID-4",
    },
    free_text={"content"},
    defaults={
        File: {
            **{name: value for name, value in File.defaults.items() if name not in _FOLLOWS},
            "created_by": OfActor("user_id"),
        },
        Permission: Permission.defaults,
        Revision: {**Revision.defaults, "last_modifying_user_id": OfActor("user_id")},
        Comment: {**Comment.defaults, "author_id": OfActor("user_id")},
        Reply: {**Reply.defaults, "author_id": OfActor("user_id")},
        SharedDrive: SharedDrive.defaults,
        Channel: {"active": True, "user_id": OfActor("user_id")},
    },
    unjudged=_UNJUDGED,
    shown_keys={
        File: "id",
        Permission: "id",
        DriveMembership: "id",
        SharedDrive: "id",
        Comment: "id",
        Reply: "id",
        Revision: "id",
        AccessProposal: "proposalId",
    },
)


WRITING = ("create_comments", "update_comments", "create_replies", "update_replies")
"""Tools with which agents write texts."""


def stating(says: Mapping[str, Sequence[str]] | None) -> Expected:
    """Conditions on comments and replies: patterns of what each must state, by a part of the solution's text."""

    def states(row: WrittenRow) -> dict[str, Any]:
        text = str(row.values.get("content"))
        patterns = [pattern for part, of in (says or {}).items() if part in text for pattern in of]
        return {"content": Matches(f"(?i){all_of(patterns)}")} if row.kind in (Comment, Reply) and patterns else {}

    return dict.fromkeys(WRITING, states) if says else {}


def of_draft(draft: Draft) -> VerifierBuilder:
    """The builder for the acting user of a task."""
    return replace(VERIFIERS, effects=replace(EFFECTS, actor=draft.actor.user_id))


def with_verifiers(
    world: World,
    draft: Draft,
    event: ScenarioEvent[Any] | None = None,
    *,
    expect: Expected | None = None,
    optional: Sequence[ToolCall] = (),
    rules: Mapping[str, str] | None = None,
) -> Draft:
    """A draft with derived verifiers; arguments as for `VerifierBuilder.with_verifiers`."""
    return of_draft(draft).with_verifiers(world, draft, event, expect=expect, optional=optional, rules=rules)
