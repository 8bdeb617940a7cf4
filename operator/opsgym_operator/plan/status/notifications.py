"""Webhook notifications of an EvalRun: which are created, due, or settled.

Invariant: the run's status lists a notification before it is sent and until it is sent or has failed for good. So none
is lost whenever the operator stops, and none that was recorded as sent is sent again; in between, a receiver may get
one twice, with the same id. An event is notified once, when the status first reports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from opsgym_api.kinds.evalrun import EvalRunStatus, NotificationStatus
from opsgym_core.common.clock import utc_text
from opsgym_core.notifications.notification import (
    Notification,
    RunEvent,
    body_of,
    events_of,
    next_attempt_at,
    notification_id,
    text_of,
)
from opsgym_core.notifications.webhook import DeliveryResult, WebhookRequest
from opsgym_operator.config import OperatorConfig, WebhookConfig
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.plan.desired import Desired, Event

LONGEST_MESSAGE = 500
"""Characters of a notification's message in a status, which repeats it for each webhook."""


@dataclass(frozen=True)
class _Updated:
    """A notification after the result of its last attempt is known."""

    before: NotificationStatus
    after: NotificationStatus
    problem: str = ""
    """Why the notification has failed for good; empty if it has not."""


def with_notifications(run: ObservedRun, desired: Desired, config: OperatorConfig, now: datetime) -> Desired:
    """Adds notifications to a run's plan.

    Args:
        run: The run, with the results of deliveries.
        desired: What else should be done.
        config: The operator's configuration.
        now: The time.
    """
    before, after = run.status, desired.status or run.status
    updates = [_update(notification, run.deliveries, config, now) for notification in before.notifications]
    notifications = [*_still_relevant(updates, after), *_new(run, before, after, config)]
    pending = [notification for notification in notifications if notification.state == "pending"]
    if not pending and notifications == before.notifications:
        return desired
    due = [notification for notification in pending if notification.retry_at is None or notification.retry_at <= now]
    delays = [
        (notification.retry_at - now).total_seconds()
        for notification in pending
        if notification.retry_at is not None and notification.retry_at > now
    ]
    if desired.requeue_after_s is not None:
        delays.append(desired.requeue_after_s)
    status = after.model_copy(update={"notifications": notifications})
    return replace(
        desired,
        status=desired.status if status == after else status,
        events=(*desired.events, *_failure_events(updates)),
        # An expired EvalRun is deleted only once its notifications are settled.
        delete=tuple(ref for ref in desired.delete if not (pending and ref.kind == "EvalRun")),
        send=tuple(_request(run, after, notification, config) for notification in due),
        settled_notifications=tuple(
            update.after for update in updates if update.before.state == "pending" != update.after.state
        ),
        requeue_after_s=min(delays, default=None),
    )


def _new(
    run: ObservedRun, before: EvalRunStatus, after: EvalRunStatus, config: OperatorConfig
) -> Iterator[NotificationStatus]:
    """Notifications of the events that the status reports for the first time."""
    known = {(event.event, event.at) for event in events_of(before)}
    for event in events_of(after):
        if (event.event, event.at) not in known:
            for webhook in _webhooks(run, config):
                if event.event in webhook.events:
                    yield _notification(run, webhook, event)


def _webhooks(run: ObservedRun, config: OperatorConfig) -> list[WebhookConfig]:
    """The installation's default webhooks, then those that the run names."""
    names = dict.fromkeys([*config.notifications.default, *(run.spec.notify if run.spec else ())])
    by_name = config.notifications.by_name
    return [by_name[name] for name in names if name in by_name]


def _notification(run: ObservedRun, webhook: WebhookConfig, event: RunEvent) -> NotificationStatus:
    return NotificationStatus(
        id=notification_id(run.id, webhook.name, event.event, event.at),
        webhook=webhook.name,
        event=event.event,
        at=event.at,
        reason=event.reason,
        message=event.message[:LONGEST_MESSAGE],
    )


def _update(
    notification: NotificationStatus, deliveries: Sequence[DeliveryResult], config: OperatorConfig, now: datetime
) -> _Updated:
    if notification.state != "pending":
        return _Updated(notification, notification)
    if notification.webhook not in config.notifications.by_name:
        return _Updated(notification, _settle(notification, "failed"), "the webhook was removed from the installation")
    results = (
        result for result in deliveries if result.id == notification.id and result.attempt > notification.attempts
    )
    result = next(results, None)
    if result is None:
        return _Updated(notification, notification)
    attempted = notification.model_copy(update={"attempts": result.attempt})
    if result.outcome == "sent":
        return _Updated(notification, _settle(attempted, "sent"))
    retry_at = next_attempt_at(result.attempt, result.retry_after, now) if result.outcome == "again" else None
    if retry_at is None:
        return _Updated(notification, _settle(attempted, "failed"), result.problem)
    return _Updated(notification, attempted.model_copy(update={"retry_at": retry_at}))


def _settle(notification: NotificationStatus, state: Literal["sent", "failed"]) -> NotificationStatus:
    return notification.model_copy(update={"state": state, "message": "", "retry_at": None})


def _still_relevant(updates: Sequence[_Updated], status: EvalRunStatus) -> list[NotificationStatus]:
    """Pending notifications, and settled ones of events that the status still reports, for users to see."""
    current = {(event.event, event.at) for event in events_of(status)}
    return [
        update.after
        for update in updates
        if update.after.state == "pending" or (update.after.event, update.after.at) in current
    ]


def _failure_events(updates: Sequence[_Updated]) -> Iterator[Event]:
    for update in updates:
        if update.problem:
            failed = update.after
            attempts = "1 attempt" if failed.attempts == 1 else f"{failed.attempts} attempts"
            message = f"webhook {failed.webhook} was not notified of {failed.event} after {attempts}: {update.problem}"
            yield Event("Warning", "NotificationFailed", message)


def _request(
    run: ObservedRun, status: EvalRunStatus, notification: NotificationStatus, config: OperatorConfig
) -> WebhookRequest:
    name = f"{run.namespace}/{run.name}"
    gate = status.gate or ""
    content = Notification(
        id=notification.id,
        event=notification.event,
        at=utc_text(notification.at),
        text=text_of(name, notification.event, notification.message, gate),
        run=run.id,
        name=run.name,
        namespace=run.namespace,
        schedule=run.schedule,
        reason=notification.reason,
        message=notification.message,
        progress=status.progress or "",
        success=status.success or "",
        cost=status.cost or "",
        gate=gate,
        results=status.results or "",
    )
    body = body_of(content, config.notifications.by_name[notification.webhook].format)
    return WebhookRequest(notification.webhook, notification.id, notification.event, notification.attempts + 1, body)
