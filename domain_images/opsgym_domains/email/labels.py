"""Labels of a mailbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import distinct, func

from opsgym_domains.email.mailbox import label_named, mailbox_of, not_found
from opsgym_domains.email.resources import Resource, label_resource
from opsgym_domains.email.search import has_label, has_label_id
from opsgym_domains.email.tables import Label, Message, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ID = {"id": "Label: its id, or the name of a system label"}


@tool(row=Label)
async def list_labels(gym: Gym, user_id: str) -> Resource:
    """List the labels of a mailbox: the system labels and the user's own.

    Returns `labels` without the numbers of messages; get_label returns these.
    """
    mailbox = await mailbox_of(gym, user_id)
    return {"labels": [label_resource(label) for label in await gym.all(Label, Label.user_id == mailbox.id)]}


@tool(row=Label, words=ID)
async def get_label(gym: Gym, user_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Get a label with the numbers of its messages and threads, in all and unread.

    Refused (NOT_FOUND) if the mailbox has no such label.
    """
    mailbox = await mailbox_of(gym, user_id)
    return await _with_counts(gym, await _owned_label(gym, mailbox, id))


@tool(adds=Label)
async def create_label(gym: Gym, user_id: str, color: Mapping[str, str] | None = None, **fields: Any) -> Resource:
    """Create a label in a mailbox.

    The name must be new in the mailbox, in any case (LABEL_EXISTS), and not that of a system label. Returns the label.
    """
    mailbox = await mailbox_of(gym, user_id)
    await _refuse_taken(gym, mailbox, fields["name"])
    stored = json.dumps(dict(color)) if color else None
    return label_resource(await gym.insert(Label(**fields, user_id=mailbox.id, color_json=stored)))


@tool(changes=Label, words=ID)
async def patch_label(gym: Gym, user_id: str, id: str, **fields: Any) -> Resource:  # noqa: A002 - the published name
    """Change fields of a label of the user's own. Fields that are not given keep their value.

    System labels cannot be changed (SYSTEM_LABEL); the name must be new in the mailbox (LABEL_EXISTS). Returns the
    label.
    """
    return await _change(gym, user_id, id, fields)


@tool(changes=Label, words=ID)
async def update_label(gym: Gym, user_id: str, id: str, **fields: Any) -> Resource:  # noqa: A002 - the published name
    """Replace name and visibility of a label of the user's own; its colour goes unless it is given.

    System labels cannot be changed (SYSTEM_LABEL); the name must be new in the mailbox (LABEL_EXISTS). Returns the
    label.
    """
    return await _change(gym, user_id, id, {"color": None, **fields})


@tool(removes=Label, words=ID)
async def delete_label(gym: Gym, user_id: str, id: str) -> None:  # noqa: A002 - the published name
    """Delete a label of the user's own, and take it off all messages.

    The messages stay. System labels cannot be deleted (SYSTEM_LABEL). Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    label = await _owned_label(gym, mailbox, id)
    _refuse_system(label)
    await gym.delete([label])


async def _change(gym: Gym, user_id: str, name: str, fields: dict[str, Any]) -> Resource:
    mailbox = await mailbox_of(gym, user_id)
    label = await _owned_label(gym, mailbox, name)
    _refuse_system(label)
    if "color" in fields:
        color = fields.pop("color")
        fields["color_json"] = json.dumps(dict(color)) if color else None
    if "name" in fields and fields["name"].lower() != label.name.lower():
        await _refuse_taken(gym, mailbox, fields["name"])
    return label_resource(await gym.update(label, fields))


async def _owned_label(gym: Gym, mailbox: User, name: str) -> Label:
    try:
        return await label_named(gym, mailbox, name)
    except ToolError:
        raise not_found() from None


def _refuse_system(label: Label) -> None:
    if label.type == "system":
        raise ToolError("SYSTEM_LABEL", f"Invalid delete or update of the system label {label.name}", "id")


async def _refuse_taken(gym: Gym, mailbox: User, name: str) -> None:
    if await gym.first(Label, Label.user_id == mailbox.id, func.lower(Label.name) == name.strip().lower()) is not None:
        raise ToolError("LABEL_EXISTS", "Label name exists or conflicts", "name")


async def _with_counts(gym: Gym, label: Label) -> Resource:
    conditions = (Message.user_id == label.user_id, has_label_id(label.id))
    unread = (*conditions, has_label("UNREAD"))
    threads = func.count(distinct(Message.thread_id))
    return label_resource(label) | {
        "messagesTotal": await gym.count(Message, {}, *conditions),
        "messagesUnread": await gym.count(Message, {}, *unread),
        "threadsTotal": await gym.measure(Message, threads, {}, *conditions),
        "threadsUnread": await gym.measure(Message, threads, {}, *unread),
    }
