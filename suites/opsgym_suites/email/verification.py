"""Builders of the verifiers of email tasks, for servers that deliver messages and for those that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.answer_patterns import all_of
from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import (
    Draft,
    Filter,
    HistoryEvent,
    Label,
    Message,
    MessagePartBody,
    SmimeInfo,
    Thread,
    User,
    VacationSettings,
)
from opsgym_suites.email.effects import EFFECTS, STRICT_EFFECTS
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.derived_verifiers import Expected, VerifierBuilder
from opsgym_suites.kit.drafts import Draft as TaskDraft
from opsgym_suites.kit.effects import RowType, WrittenRow
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Matches

KEPT: Mapping[RowType, Sequence[str]] = {
    HistoryEvent: ("*",),
    Message: ("history_id_last",),
    Thread: ("history_id_last", "snippet"),
    User: ("history_id_current", "messages_total", "threads_total"),
}
"""What the server keeps up to date itself."""


def _unjudged() -> dict[RowType, list[str]]:
    kinds = (mapper.class_ for mapper in Message.registry.mappers if mapper.class_.metadata is Message.metadata)
    audited = {
        kind: [name for name in ("created_by", "updated_by") if name in kind.__table__.columns] for kind in kinds
    }
    return {kind: [*names, *KEPT.get(kind, ())] for kind, names in audited.items() if names or kind in KEPT}


VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        "send_message": "SND-1, SND-2",
        "import_message": "ID-4",
        "insert_message": "ID-4",
        "create_draft": "MSG-5",
        "update_draft": "MSG-5",
        "send_draft": "MSG-5, SND-2",
        "delete_draft": "MSG-5",
        "modify_message": "MSG-1, MSG-3",
        "batch_modify_messages": "MSG-1, MSG-3",
        "modify_thread": "MSG-4",
        "trash_message": "MSG-2",
        "untrash_message": "MSG-2",
        "trash_thread": "MSG-2, MSG-4",
        "untrash_thread": "MSG-2, MSG-4",
        "delete_thread": "MSG-2, MSG-4",
        "delete_message": "MSG-2",
        "batch_delete_messages": "MSG-2",
        "create_label": "MSG-3",
        "patch_label": "MSG-3",
        "update_label": "MSG-3",
        "delete_label": "MSG-3",
        "create_filter": "SET-3",
        "delete_filter": "SET-3",
        "update_vacation_settings": "SET-4",
        "update_auto_forwarding": "SET-1",
        "update_imap_settings": "ID-4",
        "update_pop_settings": "ID-4",
        "update_language_settings": "ID-4",
        "email_create_delegate": "SET-2",
        "email_delete_delegate": "SET-2",
        "create_forwarding_address": "SET-1",
        "delete_forwarding_address": "SET-1",
        "create_send_as_alias": "SND-3",
        "patch_send_as_alias": "SND-3",
        "update_send_as_alias": "SND-3",
        "verify_send_as_alias": "SND-3",
        "delete_send_as_alias": "SND-3",
        "insert_smime_config": "ID-4",
        "set_default_smime_config": "ID-4",
        "delete_smime_config": "ID-4",
        "email_create_cse_keypair": "SET-5",
        "email_disable_cse_keypair": "SET-5",
        "email_enable_cse_keypair": "SET-5",
        "email_obliterate_cse_keypair": "SET-5",
        "create_cse_identity": "SET-5",
        "patch_cse_identity": "SET-5",
        "delete_cse_identity": "SET-5",
        "watch_user_mailbox": "ID-4",
        "stop_user_watch": "ID-4",
    },
    free_text={"data", "response_body_plain_text", "signature"},
    unjudged=_unjudged(),
    shown_keys={Message: "id", Thread: "threadId", Draft: "id", Filter: "id", Label: "id", SmimeInfo: "id"},
)
STRICT = replace(VERIFIERS, effects=STRICT_EFFECTS)
"""For tasks with access `strict`, whose server delivers messages."""
TEXTS: Mapping[RowType, str] = {MessagePartBody: "data", VacationSettings: "response_body_plain_text"}
"""Columns with the texts that agents write."""
WRITING = (
    "send_message",
    "import_message",
    "insert_message",
    "create_draft",
    "update_draft",
    "send_draft",
    "update_vacation_settings",
)
"""Tools with which agents write texts."""


def of_draft(draft: TaskDraft) -> VerifierBuilder:
    """The builder for the server of a task."""
    return STRICT if draft.access is Access.STRICT else VERIFIERS


def stating(says: Mapping[str, Sequence[str]] | None) -> Expected:
    """Conditions on texts: patterns of what each must state, by a part of the reference solution's text."""

    def states(row: WrittenRow) -> dict[str, Any]:
        column = TEXTS.get(row.kind)
        text = str(row.values.get(column)) if column else ""
        patterns = [pattern for part, of in (says or {}).items() if column and part in text for pattern in of]
        return {column: Matches(f"(?i){all_of(patterns)}")} if column and patterns else {}

    return dict.fromkeys(WRITING, states) if says else {}


def with_verifiers(
    world: World,
    draft: TaskDraft,
    event: ScenarioEvent[Any] | None = None,
    *,
    says: Mapping[str, Sequence[str]] | None = None,
    optional: Sequence[ToolCall] = (),
    rules: Mapping[str, str] | None = None,
) -> TaskDraft:
    """A draft with derived verifiers.

    Args:
        world: The seed's rows.
        draft: The task.
        event: What changes rows without the agent.
        says: Patterns of what a text must state, by a part of the reference solution's text; empty for all texts.
        optional: Further calls that a correct solution may make.
        rules: Rules by tool, in place of the usual ones.
    """
    return of_draft(draft).with_verifiers(world, draft, event, rules=rules, expect=stating(says), optional=optional)
