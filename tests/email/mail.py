"""Messages as tests write and read them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from tests.support.gym import GymDatabase


def raw(message: EmailMessage) -> str:
    """A message as the argument `raw`."""
    return base64.urlsafe_b64encode(message.as_bytes()).decode()


def note(to: str, subject: str = "Note", text: str = "Hello", **headers: str) -> dict[str, Any]:
    """Arguments that send a message; `_` in the name of a header stands for `-`."""
    pairs = {"To": to, "Subject": subject, **{name.replace("_", "-"): value for name, value in headers.items()}}
    listed = [{"name": name, "value": value} for name, value in pairs.items()]
    return {"userId": "me", "payload": {"headers": listed, "body": {"data": text, "size": len(text.encode())}}}


def read(database: GymDatabase, key: str) -> EmailMessage:
    """A message of the acting user's mailbox, parsed by a mail library."""
    data = database.call("get_message", userId="me", id=key, format="raw").data["raw"]
    return BytesParser(_class=EmailMessage, policy=policy.default).parsebytes(base64.urlsafe_b64decode(data))


def header(message: Mapping[str, Any], name: str) -> str:
    """A header of a message in the form `full`."""
    return next((one["value"] for one in message["payload"]["headers"] if one["name"] == name), "")


def labels(database: GymDatabase, key: str) -> set[str]:
    """Labels of a message: ids, names of system labels."""
    return set(database.call("get_message", userId="me", id=key, format="minimal").data["labelIds"])


def search(database: GymDatabase, q: str, **arguments: Any) -> list[str]:
    """Ids of the messages that a search shows."""
    listed = database.call("list_messages", **{"userId": "me", "q": q, **arguments}).data
    return [one["id"] for one in listed.get("messages", [])]
