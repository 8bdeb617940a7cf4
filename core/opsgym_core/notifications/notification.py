"""Notifications of a run's events: id, request body, signature and retry delays.

Invariant: a notification has the same id in every delivery attempt, so that a receiver detects repeats. Webhook URLs
are secrets: no notification, message or record contains one. Pure.

Sources:
    Slack's limits of text and blocks: https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from opsgym_api.base import Stored
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import EvalRunStatus, NotificationEvent
from opsgym_core.common.backoff import Backoff
from opsgym_core.common.net import is_loopback

NOTIFICATION_VERSION = 1

Format: TypeAlias = Literal["slack", "json"]
"""`slack`: text and blocks, for Slack's incoming webhooks. `json`: a `Notification`, for programs."""

HEADER_ID = "X-Opsgym-Notification-Id"
"""Id of the notification; the same in every delivery attempt."""
HEADER_EVENT = "X-Opsgym-Event"
HEADER_SIGNATURE = "X-Opsgym-Signature"
"""`t=<seconds since 1970>,v1=<hex HMAC-SHA256 of "t.body">`; absent without a signing secret."""

ATTEMPTS = 10
"""Attempts to deliver a notification, after which it has failed."""
BACKOFF = Backoff(initial_s=5.0, factor=3.0, maximum_s=800.0)
"""Delay between attempts: ten attempts take a little more than an hour."""
MAX_RETRY_AFTER_S = 900
"""Upper bound of the delay that a receiver requests, so that a notification ends within a few hours."""

_MESSAGE = 1000
"""Maximum characters of a message; Slack accepts 3,000 in a section."""


class Notification(Stored):
    """Request body in format `json`. Fields may be added; `version` changes if a field changes its meaning."""

    version: int = NOTIFICATION_VERSION
    id: str
    event: NotificationEvent
    at: str
    """Time of the event; UTC, RFC 3339."""
    text: str
    """Summary of the notification in one sentence."""
    run: str
    """Id of the run in its store."""
    name: str
    namespace: str = ""
    """Empty for a run of `opsgym run`."""
    schedule: str = ""
    """EvalSchedule that created the run; empty for a run that a user created."""
    reason: str = ""
    """Reason of the condition that reports the event."""
    message: str = ""
    progress: str = ""
    """Scored trials out of all trials, for instance `18/24`."""
    success: str = ""
    cost: str = ""
    gate: str = ""
    """`GO`, `NO-GO` or `INCONCLUSIVE`; empty without a gate and until the run has ended."""
    results: str = ""
    """Location of the run's results."""


@dataclass(frozen=True)
class RunEvent:
    """An event of a run that webhooks are notified of."""

    event: NotificationEvent
    at: datetime
    """When the condition began; distinguishes one stall from the next."""
    reason: str
    """Reason of the condition."""
    message: str
    """Message of the condition."""


def events_of(status: EvalRunStatus) -> list[RunEvent]:
    """The events that a status reports."""
    conditions = {condition.type: condition for condition in status.conditions}
    events: list[RunEvent] = []
    if (stalled := conditions.get("Stalled")) is not None and stalled.status == "True":
        events.append(RunEvent("stalled", stalled.last_transition_time, stalled.reason, stalled.message))
    ended, gate = conditions.get("Succeeded"), conditions.get("GatePassed")
    if ended is None or ended.status == "Unknown":
        return events
    events.append(RunEvent("finished", ended.last_transition_time, ended.reason, ended.message))
    if gate is not None and status.gate not in (None, "GO"):
        # The gate's condition may have stayed Unknown, so its transition time is not that of this event.
        events.append(RunEvent("gate_failed", ended.last_transition_time, gate.reason, gate.message))
    return events


def notification_id(run: str, webhook: str, event: NotificationEvent, at: datetime) -> str:
    """Id of a notification: a digest of run, webhook, event and time of the event."""
    return hashlib.sha256(f"{run} {webhook} {event} {at.isoformat()}".encode()).hexdigest()[:32]


def text_of(name: str, event: NotificationEvent, message: str, gate: str) -> str:
    """Summary of a notification in one sentence.

    Args:
        name: Name of the EvalRun.
        event: The event.
        message: Message of the run's condition; may be empty.
        gate: Verdict of the run's gate; empty without one.
    """
    change = {"finished": "has ended", "stalled": "is stalled", "gate_failed": f"did not pass its gate ({gate})"}[event]
    details = f": {message[:_MESSAGE]}" if message else ""
    verdict = f" (gate: {gate})" if event == "finished" and gate else ""
    return f"EvalRun {name} {change}{details}{verdict}"


def body_of(notification: Notification, form: Format) -> bytes:
    """Request body of a notification in a format."""
    if form == "json":
        return notification.model_dump_json().encode()
    return json.dumps(_slack(notification), ensure_ascii=False).encode()


def _slack(notification: Notification) -> dict[str, Any]:
    """Text and blocks only: Slack does not guarantee that it accepts other fields."""
    name = f"{notification.namespace}/{notification.name}" if notification.namespace else notification.name
    title = {"finished": "has ended", "stalled": "is stalled", "gate_failed": f"gate says {notification.gate}"}[
        notification.event
    ]
    figures = {
        "Scored": notification.progress,
        "Success": notification.success,
        "Cost": notification.cost,
        "Gate": notification.gate,
    }
    fields = [_mrkdwn(f"*{label}*\n{_escaped(value)}") for label, value in figures.items() if value]
    place = "  ·  ".join(part for part in (notification.run, notification.results) if part)
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": f"{name}: {title}"[:150]}},
        *(
            [{"type": "section", "text": _mrkdwn(_escaped(notification.message[:_MESSAGE]))}]
            if notification.message
            else []
        ),
        *([{"type": "section", "fields": fields}] if fields else []),
        {"type": "context", "elements": [_mrkdwn(_escaped(place))]},
    ]
    return {"text": _escaped(notification.text), "blocks": blocks}


def _mrkdwn(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def _escaped(text: str) -> str:
    """Text with Slack's control characters escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def headers_of(
    notification: str, event: NotificationEvent, body: bytes, secret: bytes | None, at: int
) -> dict[str, str]:
    """Headers of a delivery attempt.

    Args:
        notification: Id of the notification.
        event: The event that it reports.
        body: The request body.
        secret: Signing key; None for no signature.
        at: Time of the attempt, in seconds since 1970.
    """
    headers = {"Content-Type": "application/json", HEADER_ID: notification, HEADER_EVENT: event}
    if secret is not None:
        headers[HEADER_SIGNATURE] = signature(secret, body, at)
    return headers


def signature(secret: bytes, body: bytes, at: int) -> str:
    """Value of `HEADER_SIGNATURE`: lets a receiver that has the secret verify the sender and the time of a body."""
    digest = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def next_attempt_at(attempts: int, retry_after: float, now: datetime) -> datetime | None:
    """When the next delivery attempt is due; None after the last one.

    Args:
        attempts: Attempts made, at least one.
        retry_after: Delay that the receiver requested, in seconds; 0 if it requested none.
        now: When the last attempt failed.
    """
    if attempts >= ATTEMPTS:
        return None
    return now + timedelta(seconds=max(BACKOFF.delay(attempts), min(retry_after, MAX_RETRY_AFTER_S)))


def require_safe(url: str, where: str) -> None:
    """Rejects a URL that would send a notification unencrypted over a public network.

    Args:
        url: The URL; no message repeats it.
        where: Source of the URL, for messages.

    Raises:
        InputError: The URL is neither https, nor http to a Service of the cluster or to this machine.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise InputError(where, [Problem("", "is not a valid URL; expected https://…")]) from None
    if not host or parts.scheme not in ("https", "http"):
        raise InputError(where, [Problem("", "is not a valid URL; expected https://…")])
    if parts.scheme == "http" and not _is_near(host):
        problem = (
            "is http; only a Service of the cluster (NAME.NAMESPACE.svc) or this machine can be notified without TLS"
        )
        raise InputError(where, [Problem("", problem)])


def _is_near(host: str) -> bool:
    """Whether a host is this machine or a Service of the cluster; a name with a colon is an IPv6 address."""
    service = "." not in host and ":" not in host
    return is_loopback(host) or service or host.endswith((".svc", ".svc.cluster.local"))
