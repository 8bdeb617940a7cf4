"""Messages, threads, drafts and labels as the Gmail API shows them.

Invariant: the forms `full`, `metadata`, `minimal` and `raw` of a message have the fields that the API documents, in one
order. Source: developers.google.com/gmail/api/reference/rest/v1/users.messages.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Literal

from opsgym_domains.email.mailbox import labels_of, shown_id
from opsgym_domains.email.mime import compose, encoded
from opsgym_domains.email.storage import StoredContent, StoredPart, contents_of
from opsgym_domains.email.tables import Label, Message
from opsgym_domains.kit.gym import Gym

Form = Literal["minimal", "full", "raw", "metadata"]
Resource = dict[str, Any]


async def message_resource(gym: Gym, message: Message, form: str = "full", headers: Collection[str] = ()) -> Resource:
    """A message in one of the API's forms; `headers` are the only ones that `metadata` shows, all if there are none."""
    return (await message_resources(gym, [message], form, headers))[0]


async def message_resources(
    gym: Gym, messages: Sequence[Message], form: str = "full", headers: Collection[str] = ()
) -> list[Resource]:
    """Messages in one of the API's forms."""
    ids = [message.id for message in messages]
    labels = await labels_of(gym, ids)
    contents = {} if form == "minimal" else await contents_of(gym, ids, with_files=form == "raw")
    return [_resource(message, labels[message.id], contents.get(message.id), form, headers) for message in messages]


def _resource(
    message: Message, labels: Sequence[Label], content: StoredContent | None, form: str, headers: Collection[str]
) -> Resource:
    resource: Resource = {
        "id": message.id,
        "threadId": message.thread_id,
        "labelIds": [shown_id(label) for label in labels],
        "snippet": message.snippet or "",
        "historyId": message.history_id_last,
        "internalDate": message.internal_date_ms,
        "sizeEstimate": message.size_estimate or 0,
    }
    if content is None:
        return resource
    if form == "raw":
        return resource | {"raw": compose(content.content)}
    if form == "metadata":
        names = {name.lower() for name in headers}
        shown = [pair for pair in content.headers if not names or pair[0].lower() in names]
        kind = content.parts[0].content.mime_type if content.parts else "text/plain"
        return resource | {"payload": {"mimeType": kind, "headers": _headers(shown)}}
    return resource | {"payload": _payload(content)}


def _payload(content: StoredContent) -> Resource:
    if not content.parts:
        return {"partId": "", "mimeType": "text/plain", "filename": "", "headers": [], "body": {"size": 0}}
    root, *others = content.parts
    payload = _part(root) | {"headers": _headers(content.headers)}
    return payload | ({"parts": [_part(part) | {"headers": []} for part in others]} if others else {})


def _part(part: StoredPart) -> Resource:
    body: Resource = {"size": part.content.size}
    if part.attachment_id is not None:
        body["attachmentId"] = part.attachment_id
    else:
        body["data"] = encoded(part.content)
    return {
        "partId": part.part_id,
        "mimeType": part.content.mime_type,
        "filename": part.content.filename,
        "body": body,
    }


def _headers(pairs: Sequence[tuple[str, str]]) -> list[Resource]:
    return [{"name": name, "value": value} for name, value in pairs]


def label_resource(label: Label) -> Resource:
    """A label without its counts, as lists show it."""
    resource: Resource = {
        "id": shown_id(label),
        "name": label.name,
        "messageListVisibility": label.message_list_visibility,
        "labelListVisibility": label.label_list_visibility,
        "type": label.type,
    }
    return resource | ({"color": json.loads(label.color_json)} if label.color_json else {})
