"""What webhooks should be told of an EvalRun, and what became of it.

Invariant: a notice is in the run's status before it is sent, and stays until it is sent or given up. So none is lost,
whenever the operator dies, and what was noted as sent is not sent again; in between a receiver may see one twice, with
the same id. Something that happened is noted once, when the status begins to tell it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from opsgym_api.evalrun import EvalRunStatus, NoticeStatus
from opsgym_api.notices import Happened, Notice, body_of, happened, next_try, notice_id, text_of
from opsgym_operator.config import OperatorConfig, WebhookConfig
from opsgym_operator.desired import Delivery, Desired, Event, Letter
from opsgym_operator.observed import ObservedRun

_SHORT = 500
"""Characters of a message in a status, which holds one for each webhook."""


@dataclass(frozen=True)
class _Settled:
    """A notice after what is known of its last attempt."""

    notice: NoticeStatus
    problem: str = ""
    """Why it was given up."""


def with_notices(run: ObservedRun, desired: Desired, config: OperatorConfig, now: datetime) -> Desired:
    """A run's plan, with what webhooks should be told.

    Args:
        run: The run, with what became of the notices that were sent.
        desired: What else should be done.
        config: The operator's configuration.
        now: The time.
    """
    before, after = run.status, desired.status or run.status
    settled = [_settled(notice, run.deliveries, config, now) for notice in before.notices]
    notices = [*_kept(settled, after), *_new(run, before, after, config)]
    both = zip(before.notices, settled, strict=True)
    ended = tuple(found.notice for old, found in both if old.state == "pending" != found.notice.state)
    pending = [notice for notice in notices if notice.state == "pending"]
    if not pending and notices == before.notices:
        return desired
    due = [notice for notice in pending if notice.retry_at is None or notice.retry_at <= now]
    waits = [(notice.retry_at - now).total_seconds() for notice in pending if notice.retry_at and notice.retry_at > now]
    changed = after.model_copy(update={"notices": notices})
    return replace(
        desired,
        status=desired.status if changed == after else changed,
        events=(*desired.events, *_failures(settled)),
        # An EvalRun that is to go stays until it has been told of.
        delete=tuple(ref for ref in desired.delete if not (pending and ref.kind == "EvalRun")),
        send=tuple(_letter(run, after, notice, config) for notice in due),
        told=ended,
        again_s=min([*waits, *([] if desired.again_s is None else [desired.again_s])], default=None),
    )


def _new(
    run: ObservedRun, before: EvalRunStatus, after: EvalRunStatus, config: OperatorConfig
) -> Iterable[NoticeStatus]:
    known = {(found.event, found.at) for found in happened(before)}
    fresh = [found for found in happened(after) if (found.event, found.at) not in known]
    for found in fresh:
        for webhook in _webhooks(run, config):
            if found.event in webhook.events:
                yield _notice(run, webhook, found)


def _webhooks(run: ObservedRun, config: OperatorConfig) -> list[WebhookConfig]:
    """Those of every run, then those that this one names and that there are."""
    named = [*config.notifications.default, *(run.spec.notify if run.spec else ())]
    there = config.notifications.by_name
    return [there[name] for name in dict.fromkeys(named) if name in there]


def _notice(run: ObservedRun, webhook: WebhookConfig, found: Happened) -> NoticeStatus:
    return NoticeStatus(
        id=notice_id(run.id, webhook.name, found.event, found.at),
        webhook=webhook.name,
        event=found.event,
        at=found.at,
        reason=found.reason,
        message=found.message[:_SHORT],
    )


def _settled(notice: NoticeStatus, deliveries: Sequence[Delivery], config: OperatorConfig, now: datetime) -> _Settled:
    if notice.state != "pending":
        return _Settled(notice)
    if notice.webhook not in config.notifications.by_name:
        return _Settled(_ended(notice, "failed"), "the installation has no such webhook any more")
    mine = next((found for found in deliveries if found.id == notice.id and found.attempt > notice.attempts), None)
    if mine is None:
        return _Settled(notice)
    tried = notice.model_copy(update={"attempts": mine.attempt})
    if mine.outcome == "sent":
        return _Settled(_ended(tried, "sent"))
    again = next_try(mine.attempt, mine.retry_after, now) if mine.outcome == "again" else None
    if again is None:
        return _Settled(_ended(tried, "failed"), mine.problem)
    return _Settled(tried.model_copy(update={"retry_at": again}))


def _ended(notice: NoticeStatus, state: Literal["sent", "failed"]) -> NoticeStatus:
    return notice.model_copy(update={"state": state, "message": "", "retry_at": None})


def _kept(settled: Sequence[_Settled], after: EvalRunStatus) -> list[NoticeStatus]:
    """Notices that are to be sent, and those of what is still so, for people to see."""
    current = {(found.event, found.at) for found in happened(after)}
    notices = [found.notice for found in settled]
    return [notice for notice in notices if notice.state == "pending" or (notice.event, notice.at) in current]


def _failures(settled: Iterable[_Settled]) -> Iterable[Event]:
    for found in settled:
        if found.problem:
            notice = found.notice
            tries = "1 attempt" if notice.attempts == 1 else f"{notice.attempts} attempts"
            told = f"webhook {notice.webhook} was not told of {notice.event} in {tries}: {found.problem}"
            yield Event("Warning", "NoticeFailed", told)


def _letter(run: ObservedRun, status: EvalRunStatus, notice: NoticeStatus, config: OperatorConfig) -> Letter:
    name = f"{run.namespace}/{run.name}"
    gate = status.gate or ""
    content = Notice(
        id=notice.id,
        event=notice.event,
        at=notice.at.isoformat().replace("+00:00", "Z"),
        text=text_of(name, notice.event, notice.message, gate),
        run=run.id,
        name=run.name,
        namespace=run.namespace,
        schedule=run.schedule,
        reason=notice.reason,
        message=notice.message,
        progress=status.progress or "",
        success=status.success or "",
        cost=status.cost or "",
        gate=gate,
        results=status.results or "",
    )
    body = body_of(content, config.notifications.by_name[notice.webhook].format)
    return Letter(notice.webhook, notice.id, notice.event, notice.attempts + 1, body)
