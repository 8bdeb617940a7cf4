"""The history of a mailbox: what happened to its messages, in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from opsgym_domains.email.listing import offset, paged
from opsgym_domains.email.mailbox import CHANGE_LISTS, label_named, mailbox_of, not_found, shown_id
from opsgym_domains.email.resources import Resource
from opsgym_domains.email.tables import HistoryEvent, Label, MessageLabel, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.gym import Gym


@tool(
    row=HistoryEvent,
    words={
        "startHistoryId": "History id after which changes are returned; empty for all changes",
        "labelId": "Only changes of messages with this label: its id, or the name of a system label",
        "historyTypes": "Types of changes; all if empty",
    },
)
async def list_history(
    gym: Gym,
    user_id: str,
    start_history_id: str,
    label_id: str | None = None,
    history_types: Sequence[str] = (),
    **page: Any,
) -> Resource:
    """List the changes of a mailbox after a history id, the oldest first.

    Refused (NOT_FOUND) if the mailbox has no such history id. Returns `history`, and the mailbox' current history id.
    """
    mailbox = await mailbox_of(gym, user_id)
    label = None if label_id is None else (await label_named(gym, mailbox, label_id)).id
    has_label = await _labelled(gym, label)
    chosen = [
        event
        for event in await _events_after(gym, mailbox, start_history_id)
        if (not history_types or event.event_type in history_types) and has_label(event)
    ]
    start, size = offset(page.get("page_token")), page.get("max_results", 100)
    labels = {label.id: label for label in await gym.all(Label, Label.user_id == mailbox.id)}
    shown = [_resource(event, labels) for event in chosen[start : start + size]]
    listed = paged("history", shown, len(chosen), start, size)
    del listed["resultSizeEstimate"]
    return listed | {"historyId": mailbox.history_id_current}


async def _events_after(gym: Gym, mailbox: User, history_id: str) -> list[HistoryEvent]:
    """Events of a mailbox after a history id, in order; all of them without one."""
    conditions = [HistoryEvent.user_id == mailbox.id]
    if not history_id:
        return _ordered(await gym.all(HistoryEvent, *conditions))
    first = await gym.find(HistoryEvent, user_id=mailbox.id, history_id=history_id)
    if first is None:
        raise not_found()
    since = HistoryEvent.event_timestamp >= first.event_timestamp
    events = _ordered(await gym.all(HistoryEvent, *conditions, since))
    return events[events.index(first) + 1 :]


def _ordered(events: Sequence[HistoryEvent]) -> list[HistoryEvent]:
    return sorted(events, key=lambda event: event.event_timestamp or "")


async def _labelled(gym: Gym, label_id: str | None) -> Callable[[HistoryEvent], bool]:
    """Whether an event is about a label, or about a message that has it now."""
    if label_id is None:
        return lambda _event: True
    messages = {link.message_id for link in await gym.all(MessageLabel, MessageLabel.label_id == label_id)}

    def has_label(event: HistoryEvent) -> bool:
        return any(
            change.get("message", {}).get("id") in messages or label_id in _label_ids(change)
            for change in _changes(event)
        )

    return has_label


def _changes(event: HistoryEvent) -> list[dict[str, Any]]:
    """What an event stores: messages, with labels beside them or within."""
    data = json.loads(event.event_data or "{}")
    changes = data.get(CHANGE_LISTS[event.event_type]) if isinstance(data, dict) else None
    return list(changes or ())


def _label_ids(change: dict[str, Any]) -> list[str]:
    return change.get("labelIds") or change.get("message", {}).get("labelIds") or []


def _resource(event: HistoryEvent, labels: dict[str, Label]) -> Resource:
    changes = [_shown(change, labels) for change in _changes(event)]
    messages = [{name: change["message"].get(name) for name in ("id", "threadId")} for change in changes]
    return {"id": event.history_id, "messages": messages, CHANGE_LISTS[event.event_type]: changes}


def _shown(change: dict[str, Any], labels: dict[str, Label]) -> Resource:
    """A change with the ids of labels as the API shows them."""
    ids = [shown_id(labels[label]) if label in labels else label for label in _label_ids(change)]
    message = {name: value for name, value in change.get("message", {}).items() if name != "labelIds"}
    return {"message": message, "labelIds": ids} if "labelIds" in change else {"message": {**message, "labelIds": ids}}
