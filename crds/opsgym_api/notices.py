"""What webhooks are told of a run: what happened, the request's body and signature, and when it is sent again.

Invariant: a notice keeps its id through all attempts to send it, so that a receiver can tell a repetition. Addresses of
webhooks are secrets: no notice, message or record has one. Pure.

Sources:
    Slack's limits of text and blocks: https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from opsgym_api.base import Stored
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import EvalRunStatus, NoticeEvent

NOTICE_VERSION = 1

Format: TypeAlias = Literal["slack", "json"]
"""`slack`: text and blocks, for Slack's incoming webhooks. `json`: a `Notice`, for programs."""

HEADER_ID = "X-Opsgym-Notice-Id"
"""Id of the notice, the same in every attempt."""
HEADER_EVENT = "X-Opsgym-Event"
HEADER_SIGNATURE = "X-Opsgym-Signature"
"""`t=<seconds since 1970>,v1=<hex HMAC-SHA256 of "t.body">`; only if there is a signing secret."""

PAUSES_S = (5, 15, 60, 120, 300, 600, 900, 900, 900)
"""Seconds between attempts: ten of them in a little more than an hour."""
LONGEST_WAIT_S = 900
"""Of what a receiver asks to wait, so that a notice is sent or given up in a few hours."""

_MESSAGE = 1000
"""Characters of a message; Slack takes 3,000 in a section."""


class Notice(Stored):
    """The body in format `json`; fields may be added, and `version` changes if one changes its meaning."""

    version: int = NOTICE_VERSION
    id: str
    event: NoticeEvent
    at: str
    """When it happened; UTC, RFC 3339."""
    text: str
    """All of it in a sentence, for people."""
    run: str
    """Id of the run in its store."""
    name: str
    namespace: str = ""
    """Empty for a run of one machine."""
    schedule: str = ""
    """EvalSchedule that made it; empty for a run that somebody made."""
    reason: str = ""
    """Reason of the condition that tells it."""
    message: str = ""
    progress: str = ""
    """Scored trials of all trials, for instance `18/24`."""
    success: str = ""
    cost: str = ""
    gate: str = ""
    """`GO`, `NO-GO`, `INCONCLUSIVE`; empty without a gate, and before the run has ended."""
    results: str = ""
    """Where its results are."""


@dataclass(frozen=True)
class Happened:
    """Something that webhooks are told of."""

    event: NoticeEvent
    at: datetime
    """When it began to be so; tells one stall from the next."""
    reason: str
    message: str


def happened(status: EvalRunStatus) -> list[Happened]:
    """What a status tells that webhooks are told of."""
    found = {condition.type: condition for condition in status.conditions}
    told: list[Happened] = []
    if (stalled := found.get("Stalled")) is not None and stalled.status == "True":
        told.append(Happened("stalled", stalled.last_transition_time, stalled.reason, stalled.message))
    ended, gate = found.get("Succeeded"), found.get("GatePassed")
    if ended is None or ended.status == "Unknown":
        return told
    told.append(Happened("finished", ended.last_transition_time, ended.reason, ended.message))
    if gate is not None and status.gate not in (None, "GO"):
        # The gate's own condition may stay Unknown through it all, so it has no time of its own.
        told.append(Happened("gate_failed", ended.last_transition_time, gate.reason, gate.message))
    return told


def notice_id(run: str, webhook: str, event: NoticeEvent, at: datetime) -> str:
    """Identity of a notice: a function of what it tells and whom."""
    return hashlib.sha256(f"{run} {webhook} {event} {at.isoformat()}".encode()).hexdigest()[:32]


def text_of(name: str, event: NoticeEvent, message: str, gate: str) -> str:
    """A notice in a sentence.

    Args:
        name: The run, as people call it.
        event: What happened.
        message: What the run's condition says of it.
        gate: What its gate says; empty if nothing.
    """
    what = {"finished": "has ended", "stalled": "is stalled", "gate_failed": f"did not pass its gate ({gate})"}[event]
    said = f": {message[:_MESSAGE]}" if message else ""
    verdict = f" (gate: {gate})" if event == "finished" and gate else ""
    return f"EvalRun {name} {what}{said}{verdict}"


def body_of(notice: Notice, form: Format) -> bytes:
    """The request's body."""
    if form == "json":
        return notice.model_dump_json().encode()
    return json.dumps(_slack(notice), ensure_ascii=False).encode()


def _slack(notice: Notice) -> dict[str, Any]:
    """Text and blocks and nothing else: Slack does not promise to accept fields that it does not know."""
    name = f"{notice.namespace}/{notice.name}" if notice.namespace else notice.name
    title = {"finished": "has ended", "stalled": "is stalled", "gate_failed": f"gate says {notice.gate}"}[notice.event]
    figures = {"Scored": notice.progress, "Success": notice.success, "Cost": notice.cost, "Gate": notice.gate}
    fields = [_mrkdwn(f"*{label}*\n{_escaped(value)}") for label, value in figures.items() if value]
    place = "  ·  ".join(part for part in (notice.run, notice.results) if part)
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": f"{name}: {title}"[:150]}},
        *([{"type": "section", "text": _mrkdwn(_escaped(notice.message[:_MESSAGE]))}] if notice.message else []),
        *([{"type": "section", "fields": fields}] if fields else []),
        {"type": "context", "elements": [_mrkdwn(_escaped(place))]},
    ]
    return {"text": _escaped(notice.text), "blocks": blocks}


def _mrkdwn(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def _escaped(text: str) -> str:
    """Text in which Slack sees no mention and no link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def headers_of(notice: str, event: NoticeEvent, body: bytes, secret: bytes | None, at: int) -> dict[str, str]:
    """The request's headers.

    Args:
        notice: Id of the notice.
        event: What it tells of.
        body: What is sent.
        secret: Signs it; None for no signature.
        at: Seconds since 1970, of this attempt.
    """
    headers = {"Content-Type": "application/json", HEADER_ID: notice, HEADER_EVENT: event}
    if secret is not None:
        headers[HEADER_SIGNATURE] = signature(secret, body, at)
    return headers


def signature(secret: bytes, body: bytes, at: int) -> str:
    """Value of `HEADER_SIGNATURE`: who knows the secret can tell that a body is ours, and when it was sent."""
    digest = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def next_try(attempts: int, retry_after: float, now: datetime, pauses: Sequence[float] = PAUSES_S) -> datetime | None:
    """When a notice is sent again; None if it is given up.

    Args:
        attempts: Attempts made, one at least.
        retry_after: Seconds that the receiver asked to wait.
        now: When the last one failed.
        pauses: Seconds between attempts.
    """
    if attempts > len(pauses):
        return None
    return now + timedelta(seconds=max(pauses[attempts - 1], min(retry_after, LONGEST_WAIT_S)))


def require_safe(url: str, where: str) -> None:
    """Refuses an address that would carry a notice in the clear through the world.

    Args:
        url: The address; no message repeats it.
        where: What holds it, for messages.

    Raises:
        InputError: It is neither https, nor http to a Service of the cluster or to this machine.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise InputError(where, [Problem("", "is no address; expected https://…")]) from None
    if not host or parts.scheme not in ("https", "http"):
        raise InputError(where, [Problem("", "is no address; expected https://…")])
    if parts.scheme == "http" and not _is_near(host):
        problem = "is http; only a Service of the cluster (NAME.NAMESPACE.svc) or this machine is told without TLS"
        raise InputError(where, [Problem("", problem)])


def _is_near(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return "." not in host or host.endswith((".svc", ".svc.cluster.local"))
