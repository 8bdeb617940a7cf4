"""Builder of the verifiers of Teams tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opsgym_api.tasks.answer_patterns import all_of
from opsgym_domains.teams.tables import (
    Channel,
    ChannelMessage,
    ChannelTab,
    ChatMessage,
    Group,
    Tag,
    Team,
    TownHall,
    User,
    Webinar,
)
from opsgym_suites.kit.derived_verifiers import Expected, VerifierBuilder
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.effects import WrittenRow
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Matches
from opsgym_suites.teams.effects import EFFECTS
from opsgym_suites.teams.seeds.world import World

VERIFIERS = VerifierBuilder(
    EFFECTS,
    rules={
        **dict.fromkeys(("create_user", "update_user", "delete_user"), "ID-2, ID-4"),
        **dict.fromkeys(("create_group", "update_group", "add_group_owner"), "ID-4, PRC-13"),
        **dict.fromkeys(("create_team", "update_team", "delete_team"), "TEA-1, TEA-2, PRC-2"),
        **dict.fromkeys(("add_team_member", "add_team_members_in_bulk", "update_team_member"), "TEA-1, TEA-2, PRC-3"),
        "remove_team_member": "TEA-1, PRC-1",
        **dict.fromkeys(("create_channel", "add_channel_member"), "TEA-3, PRC-9"),
        **dict.fromkeys(("update_channel", "archive_channel", "provision_channel_email"), "TEA-4, PRC-6"),
        **dict.fromkeys(("send_channel_message", "send_chat_message"), "MSG-1, PRC-7"),
        **dict.fromkeys(("update_channel_message", "update_chat_message"), "MSG-2, PRC-11"),
        **dict.fromkeys(
            (
                "soft_delete_channel_message",
                "soft_delete_chat_message",
                "undo_soft_delete_channel_message",
                "undo_soft_delete_chat_message",
            ),
            "MSG-2, PRC-11",
        ),
        **dict.fromkeys(
            (
                "set_channel_message_reaction",
                "unset_channel_message_reaction",
                "set_chat_message_reaction",
                "unset_chat_message_reaction",
                "pin_chat_message",
            ),
            "ID-4",
        ),
        **dict.fromkeys(("create_chat", "update_chat"), "MSG-3, PRC-17"),
        **dict.fromkeys(("add_tabs_to_channels", "add_tab_to_chat"), "LKP-3"),
        **dict.fromkeys(("update_channel_tab", "delete_channel_tab"), "ID-4"),
        **dict.fromkeys(("create_teamwork_tag", "update_teamwork_tag", "create_teamwork_tag_member"), "ID-4"),
        **dict.fromkeys(("create_call", "create_audio_routing_group"), "EVT-4"),
        "set_user_status_message": "ID-4",
        **dict.fromkeys(("create_virtual_event_webinar", "create_virtual_event_townhall"), "EVT-1, EVT-2, PRC-15"),
        "publish_virtual_event_webinar": "EVT-2, PRC-16",
        **dict.fromkeys(("cancel_virtual_event_webinar", "cancel_virtual_event_townhall"), "EVT-3, PRC-14"),
    },
    free_text={"description", "body_json"},
    unjudged={Tag: ["updated_at"], Team: ["updated_date_time"]},
    shown_keys=dict.fromkeys(
        (User, Group, Team, Channel, ChannelMessage, ChatMessage, ChannelTab, Webinar, TownHall), "id"
    ),
)
SENDING = ("send_channel_message", "send_chat_message", "update_channel_message", "update_chat_message")


def of_draft(draft: Draft) -> VerifierBuilder:
    """The builder for the acting user of a task."""
    return replace(VERIFIERS, effects=replace(EFFECTS, actor=str(draft.actor.user_id)))


def stating(says: Mapping[str, Sequence[str]] | None) -> Expected:
    """Conditions on messages: patterns of what each must state, by a part of the reference solution's text."""

    def states(row: WrittenRow) -> dict[str, Any]:
        text = str(row.values.get("body_json"))
        patterns = [pattern for part, of in (says or {}).items() if part in text for pattern in of]
        if isinstance(row.values.get("body_json"), str) and patterns:
            return {"body_json": Matches(f"(?i){all_of(patterns)}")}
        return {}

    return dict.fromkeys(SENDING, states) if says else {}


def with_verifiers(world: World, draft: Draft, event: ScenarioEvent[Any] | None = None, **more: Any) -> Draft:
    """A draft with derived verifiers; further arguments as for `VerifierBuilder.with_verifiers`."""
    return of_draft(draft).with_verifiers(world, draft, event, **more)
