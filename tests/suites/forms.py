"""Other forms of a call that say the same: defaults given explicitly, and texts in every documented format.

Invariant: a form changes nothing that a user of the system would notice, so verifiers must accept it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from html import escape
from typing import Any

from opsgym_api.tasks.task import ToolCall

_EVENT_DEFAULTS: Mapping[str, Any] = {
    "reminders": {"useDefault": True},
    "visibility": "default",
    "transparency": "opaque",
    "status": "confirmed",
}
_SENDING = ("send_message", "create_draft", "update_draft", "send_draft")


def _html(text: str) -> str:
    return f"<div>{escape(text, quote=False).replace(chr(10), '<br>')}</div>"


def with_defaults(call: ToolCall) -> ToolCall:
    """A new event with the defaults of its columns."""
    if call.name != "create_event":
        return call
    return call.model_copy(update={"arguments": {**_EVENT_DEFAULTS, **call.arguments}})


def without_zone(call: ToolCall) -> ToolCall:
    """A new event of whole days, whose dates name no zone."""
    times = {name: call.arguments.get(name) for name in ("start", "end")}
    if call.name != "create_event" or not all(time and "date" in time for time in times.values()):
        return call
    dates = {name: {"date": time["date"]} for name, time in times.items() if time}
    return call.model_copy(update={"arguments": {**call.arguments, **dates}})


def _rewritten(call: ToolCall, form: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> ToolCall:
    """A call whose message has another form; `form` gets the payload and returns `payload` or `raw`."""
    if call.name not in _SENDING:
        return call
    nested = "message" in call.arguments
    message = call.arguments["message"] if nested else call.arguments
    if "payload" not in message or "parts" in message["payload"]:
        return call
    rest = {name: value for name, value in message.items() if name != "payload"}
    made = {**rest, **form(message["payload"])}
    return call.model_copy(update={"arguments": {**call.arguments, "message": made} if nested else made})


def in_two_parts(call: ToolCall) -> ToolCall:
    """A message as `multipart/alternative`: plain text, and the same as HTML."""

    def form(payload: Mapping[str, Any]) -> Mapping[str, Any]:
        text = payload["body"]["data"]
        parts = [_part("text/plain", text), _part("text/html", _html(text))]
        return {"payload": {"mimeType": "multipart/alternative", "headers": payload["headers"], "parts": parts}}

    return _rewritten(call, form)


def _part(kind: str, text: str) -> Mapping[str, Any]:
    return {"mimeType": kind, "body": {"data": text, "size": len(text.encode())}}


def in_two_raw_parts(call: ToolCall) -> ToolCall:
    """The same as RFC 2822 text, as mail programs write it."""

    def form(payload: Mapping[str, Any]) -> Mapping[str, Any]:
        text, message = payload["body"]["data"], EmailMessage()
        for header in payload["headers"]:
            message[header["name"]] = header["value"]
        message.set_content(text)
        message.add_alternative(_html(text), subtype="html")
        return {"raw": base64.urlsafe_b64encode(message.as_bytes()).decode()}

    return _rewritten(call, form)


def as_html(call: ToolCall) -> ToolCall:
    """A message, or an automatic reply, that has its text as HTML only."""
    if call.name == "update_vacation_settings" and call.arguments.get("responseBodyPlainText"):
        html = _html(call.arguments["responseBodyPlainText"])
        return call.model_copy(
            update={"arguments": {**call.arguments, "responseBodyPlainText": "", "responseBodyHtml": html}}
        )
    return _rewritten(
        call,
        lambda payload: {
            "payload": {**_part("text/html", _html(payload["body"]["data"])), "headers": payload["headers"]}
        },
    )


FORMS: Mapping[str, Callable[[ToolCall], ToolCall]] = {
    "gives defaults explicitly": with_defaults,
    "names no zone for whole days": without_zone,
    "writes messages in two parts": in_two_parts,
    "writes raw messages in two parts": in_two_raw_parts,
    "writes HTML": as_html,
}
"""Forms of calls, by what an agent does that uses them."""
