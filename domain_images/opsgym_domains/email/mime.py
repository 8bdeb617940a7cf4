"""Messages as agents write and read them: RFC 2822 text, or the parts of the Gmail API.

Invariant: a `Content` says the same whichever form it came in, and no row is read or written here.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any

from opsgym_domains.kit.clock import as_utc
from opsgym_domains.kit.errors import ToolError

SHORTEST_ENCODED = 16
"""Characters from which on a text may be taken for base64url."""
RECIPIENTS = ("To", "Cc", "Bcc")
"""Headers with recipients."""


@dataclass(frozen=True)
class Part:
    """A part of a message.

    Attributes:
        mime_type: For instance `text/plain`.
        data: Its text as it is stored: what the agent gave, or decoded text.
        size: Size in bytes.
        filename: Name of an attached file; empty for text.
    """

    mime_type: str
    data: str
    size: int
    filename: str = ""


@dataclass(frozen=True)
class Content:
    """A message without its mailbox.

    Attributes:
        headers: Names and values, in order.
        body: Its text.
        others: Further parts: the text in another form, and attachments.
    """

    headers: Sequence[tuple[str, str]]
    body: Part
    others: Sequence[Part] = field(default_factory=tuple)

    def header(self, name: str) -> str:
        """Value of the first header of a name, in any case; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def recipients(self) -> list[str]:
        """Addresses of all recipients in lower case, each once."""
        values = [value for key, value in self.headers if key.title() in RECIPIENTS]
        return list(dict.fromkeys(address.lower() for _, address in getaddresses(values) if "@" in address))

    @property
    def sender(self) -> str:
        """Address of the From header in lower case; empty if there is none."""
        return next((address.lower() for _, address in getaddresses([self.header("From")]) if "@" in address), "")

    @property
    def size(self) -> int:
        """Size in bytes, of headers and parts."""
        headers = sum(len(f"{name}: {value}\r\n".encode()) for name, value in self.headers)
        return headers + self.body.size + sum(part.size for part in self.others)

    def with_headers(self, **values: str) -> Content:
        """The same message with further headers where it has none of the name; `_` stands for `-`."""
        added = [(name.replace("_", "-"), value) for name, value in values.items()]
        return Content(
            (*self.headers, *((name, value) for name, value in added if not self.header(name))), self.body, self.others
        )

    def without(self, name: str) -> Content:
        """The same message without the headers of a name."""
        others = [(key, value) for key, value in self.headers if key.lower() != name.lower()]
        return Content(others, self.body, self.others)


def content_of(source: Mapping[str, Any]) -> Content:
    """The message that a call gives as `raw` or as `payload`.

    Raises:
        ToolError: `INVALID_MESSAGE`: neither is given, or `raw` is not a message.
    """
    if source.get("raw"):
        return parse_raw(source["raw"])
    payload = source.get("payload") or {}
    headers = [(one.get("name", ""), one.get("value", "")) for one in payload.get("headers") or () if one.get("name")]
    if not headers:
        raise ToolError("INVALID_MESSAGE", "give the message as raw, or as a payload with headers", "payload")
    parts = list(_payload_parts(payload))
    texts = [part for part in parts if not part.filename and part.mime_type.startswith("text/")]
    body = texts[0] if texts else Part("text/plain", "", 0)
    return Content(headers, body, [part for part in parts if part is not body])


def _payload_parts(payload: Mapping[str, Any]) -> Iterator[Part]:
    """The parts of a payload that have a body, the outer one first."""
    body = payload.get("body") or {}
    if body.get("data") is not None:
        data = str(body["data"])
        kind = str(payload.get("mimeType") or "text/plain")
        filename = str(payload.get("filename") or "")
        if kind.startswith("text/") and not filename and (text := _decoded_text(data)) is not None:
            yield Part(kind, text, len(text.encode()))
        else:
            yield Part(kind, data, int(body.get("size") or len(data.encode())), filename)
    for inner in payload.get("parts") or ():
        if isinstance(inner, Mapping):
            yield from _payload_parts(inner)


def _decoded_text(data: str) -> str | None:
    """The text that a call gives in base64url, as the API asks for; None if it gives the text as it is.

    What decodes to printable text is base64url: of a plain text without blanks, hardly any does.
    """
    if len(data) < SHORTEST_ENCODED or not re.fullmatch(r"[A-Za-z0-9_+/-]+={0,2}", data):
        return None
    try:
        bare = data.rstrip("=")
        text = base64.urlsafe_b64decode(bare.translate(str.maketrans("+/", "-_")) + "=" * (-len(bare) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if "".join(text.split()).isprintable() else None


def parse_raw(raw: str) -> Content:
    """A message in RFC 2822 form, encoded in base64url.

    Raises:
        ToolError: `INVALID_MESSAGE`.
    """
    try:
        data = base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4))
    except (binascii.Error, ValueError):
        raise ToolError("INVALID_MESSAGE", "raw must be an RFC 2822 message in base64url", "raw") from None
    message = BytesParser(policy=policy.default).parsebytes(data)
    if not message.keys():
        raise ToolError("INVALID_MESSAGE", "raw has no headers", "raw")
    headers = [(name, str(value)) for name, value in message.items() if not name.lower().startswith("content-")]
    parts = [_mime_part(part) for part in message.walk() if not part.is_multipart()]
    texts = [part for part in parts if not part.filename and part.mime_type.startswith("text/")]
    body = texts[0] if texts else Part("text/plain", "", 0)
    return Content(headers, body, [part for part in parts if part is not body])


def _mime_part(part: Any) -> Part:
    data: bytes = part.get_payload(decode=True) or b""
    filename = part.get_filename() or ""
    if filename or not part.get_content_type().startswith("text/"):
        return Part(
            part.get_content_type(), base64.urlsafe_b64encode(data).decode(), len(data), filename or "attachment"
        )
    text = data.decode(part.get_content_charset() or "utf-8", errors="replace")
    return Part(part.get_content_type(), text, len(text.encode()))


def compose(content: Content) -> str:
    """A message in RFC 2822 form, encoded in base64url."""
    message = EmailMessage(policy=policy.SMTP)
    for name, value in content.headers:
        if not name.lower().startswith(("content-", "mime-version")) and name not in message:
            message[name] = " ".join(value.split())
    message.set_content(readable(content.body), subtype=content.body.mime_type.partition("/")[2] or "plain")
    for part in content.others:
        main, _, sub = part.mime_type.partition("/")
        if part.filename:
            message.add_attachment(
                _bytes(part), maintype=main or "application", subtype=sub or "octet-stream", filename=part.filename
            )
        else:
            message.add_alternative(readable(part), subtype=sub or "plain")
    return base64.urlsafe_b64encode(message.as_bytes()).decode()


def readable(part: Part) -> str:
    """The text of a part, decoded if it is stored in base64url: if its size is not that of what is stored."""
    return _bytes(part).decode(errors="replace")


def _bytes(part: Part) -> bytes:
    stored = part.data.encode()
    if len(stored) == part.size and not part.filename:
        return stored
    try:
        return base64.b64decode(
            part.data.translate(str.maketrans("-_", "+/")) + "=" * (-len(part.data) % 4), validate=True
        )
    except (binascii.Error, ValueError):
        return stored


def encoded(part: Part) -> str:
    """The body of a part in base64url, as the Gmail API shows it."""
    return base64.urlsafe_b64encode(_bytes(part)).decode()


def milliseconds(time: datetime) -> str:
    """A time in UTC as milliseconds since 1970."""
    return str(int((time - datetime(1970, 1, 1)).total_seconds() * 1000))  # noqa: DTZ001 - tables keep UTC without zone


def time_of(milliseconds: str) -> datetime:
    """The time in UTC of milliseconds since 1970."""
    return datetime(1970, 1, 1) + timedelta(milliseconds=int(milliseconds))  # noqa: DTZ001 - as above


def date_header(time: datetime) -> str:
    """A time in UTC as the value of a Date header."""
    return f"{time:%a, %d %b %Y %H:%M:%S} GMT"


def date_of(content: Content) -> datetime | None:
    """Time of the Date header in UTC; None if there is none that can be read."""
    try:
        return as_utc(parsedate_to_datetime(content.header("Date")))
    except (ValueError, TypeError):
        return None
