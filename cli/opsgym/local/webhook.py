"""Notifies a webhook how a local run ended.

Invariant: a notification that cannot be delivered changes nothing about the run, and the URL is never printed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

import aiohttp

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import NotificationEvent
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_core.common.backoff import Backoff
from opsgym_core.common.numbers import dollars
from opsgym_core.notifications.delivery import deliver
from opsgym_core.notifications.notification import Format, Notification, body_of, notification_id, require_safe, text_of
from opsgym_core.notifications.webhook import DeliveryResult, WebhookAddress, WebhookRequest
from opsgym_core.results.coverage import rate_text
from opsgym_core.results.score import Summary

SECRET_VARIABLE = "OPSGYM_WEBHOOK_SECRET"  # noqa: S105 - the variable's name
"""Environment variable with the key that signs requests; they are unsigned if it is not set."""
SLACK_HOST = "hooks.slack.com"
ATTEMPTS = 4
RETRY = Backoff(initial_s=1.0, factor=4.0, maximum_s=16.0)
"""Delay between attempts; short, because the user waits for the command to end."""
RETRY_AFTER_MAX_S = 30.0
"""Longest delay that the receiver can ask for, for the same reason."""


@dataclass(frozen=True)
class Webhook:
    """Address of a webhook and the format it expects."""

    address: WebhookAddress
    format: Format


def webhook_of(variable: str, environment: Mapping[str, str]) -> Webhook:
    """The webhook whose URL an environment variable holds.

    Raises:
        InputError: The variable is not set, or its value is not an allowed URL.
    """
    url = environment.get(variable, "")
    if not url:
        problem = f"the environment variable {variable} is not set; set it to the webhook's URL"
        raise InputError("--webhook-env", [Problem("", problem)])
    require_safe(url, f"--webhook-env: the address in {variable}")
    secret = environment.get(SECRET_VARIABLE)
    webhook_format: Format = "slack" if urlsplit(url).hostname == SLACK_HOST else "json"
    return Webhook(WebhookAddress(url, secret.encode() if secret else None), webhook_format)


def notification_of(run: RunRecord, summary: Summary, gate: GateRecord | None, results: str, at: str) -> Notification:
    """The notification that a run has finished, or that its gate did not say GO.

    Args:
        run: The run.
        summary: Its scores.
        gate: Verdict of its gate; None if it has no gate.
        results: Location of its store.
        at: Time when it finished; UTC, RFC 3339.
    """
    event: NotificationEvent = "gate_failed" if gate is not None and gate.verdict != "GO" else "finished"
    total, verdict = summary.total, gate.verdict if gate else ""
    figures = {
        "progress": f"{total.scored}/{total.total}",
        "success": rate_text(total.success_rate, total.coverage),
        "cost": dollars(total.cost_usd),
    }
    message = "{progress} trials are scored, {success} success, spent {cost}".format(**figures)
    if gate is not None and gate.verdict != "GO":
        message = "; ".join(check.message for check in gate.checks if check.verdict == gate.verdict)
    return Notification(
        id=notification_id(run.run, "local", event, datetime.fromisoformat(at)),
        event=event,
        at=at,
        text=text_of(run.name, event, message, verdict),
        run=run.run,
        name=run.name,
        message=message,
        gate=verdict,
        results=results,
        **figures,
    )


def notify(webhook: Webhook, notification: Notification, retry: Backoff = RETRY) -> DeliveryResult:
    """Delivers a notification, in up to `ATTEMPTS` attempts; the result of the last one.

    Args:
        webhook: The receiver.
        notification: The notification.
        retry: Delay between attempts.
    """
    return asyncio.run(_notify(webhook, notification, retry))


async def _notify(webhook: Webhook, notification: Notification, retry: Backoff) -> DeliveryResult:
    body = body_of(notification, webhook.format)
    async with aiohttp.ClientSession(trust_env=True) as session:
        attempt = 1
        while True:
            request = WebhookRequest("local", notification.id, notification.event, attempt, body)
            result = await deliver(session, webhook.address, request, int(time.time()))
            if result.outcome != "again" or attempt == ATTEMPTS:
                return result
            await asyncio.sleep(max(retry.delay(attempt), min(result.retry_after, RETRY_AFTER_MAX_S)))
            attempt += 1
