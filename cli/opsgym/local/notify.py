"""Tells a webhook how a run of this machine ended.

Invariant: whatever becomes of a notice changes nothing of the run, and the webhook's address is printed nowhere.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

import aiohttp

from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import NoticeEvent
from opsgym_api.figures import dollars, percent
from opsgym_api.notices import Format, Notice, body_of, notice_id, require_safe, text_of
from opsgym_api.records import GateRecord, RunRecord
from opsgym_api.scores import Summary
from opsgym_operator.desired import Delivery, Letter
from opsgym_operator.sending import Address, deliver

SECRET = "OPSGYM_WEBHOOK_SECRET"  # noqa: S105 - the variable's name
"""Environment variable whose value signs what is sent."""
SLACK = "hooks.slack.com"
PAUSES_S = (1.0, 5.0, 15.0)
"""Seconds between attempts: somebody waits for the command to end."""
LONGEST_S = 30.0
"""Of what the receiver asks to wait, for the same reason."""


@dataclass(frozen=True)
class Webhook:
    """Whom to tell, and how."""

    address: Address
    form: Format


def webhook_of(variable: str, environment: Mapping[str, str]) -> Webhook:
    """The webhook whose address an environment variable holds.

    Raises:
        InputError: The variable is not set, or holds no address that may be used.
    """
    url = environment.get(variable, "")
    if not url:
        raise InputError("--webhook-env", [Problem("", f"the variable {variable} is not set; it holds the address")])
    require_safe(url, f"--webhook-env: the address in {variable}")
    secret = environment.get(SECRET)
    form: Format = "slack" if urlsplit(url).hostname == SLACK else "json"
    return Webhook(Address(url, secret.encode() if secret else None), form)


def notice_of(run: RunRecord, summary: Summary, gate: GateRecord | None, results: str, at: str) -> Notice:
    """What is told of a run that has ended: that it has, or that its gate did not say GO.

    Args:
        run: The run.
        summary: Its scores.
        gate: What its gate says; None without one.
        results: Its store.
        at: When it ended; UTC, RFC 3339.
    """
    event: NoticeEvent = "gate_failed" if gate is not None and gate.verdict != "GO" else "finished"
    total, verdict = summary.total, gate.verdict if gate else ""
    figures = {
        "progress": f"{total.scored}/{total.total}",
        "success": percent(total.success_rate),
        "cost": dollars(total.cost_usd),
    }
    message = "{progress} trials are scored, {success} success, spent {cost}".format(**figures)
    if gate is not None and gate.verdict != "GO":
        message = "; ".join(check.told for check in gate.checks if check.verdict == gate.verdict)
    return Notice(
        id=notice_id(run.run, "local", event, datetime.fromisoformat(at)),
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


def tell(webhook: Webhook, notice: Notice, pauses: Sequence[float] = PAUSES_S) -> str:
    """Sends a notice; why it could not be sent, or nothing.

    Args:
        webhook: Whom to tell.
        notice: What.
        pauses: Seconds between attempts.
    """
    last = asyncio.run(_tell(webhook, notice, pauses))
    return last.problem


async def _tell(webhook: Webhook, notice: Notice, pauses: Sequence[float]) -> Delivery:
    body = body_of(notice, webhook.form)
    async with aiohttp.ClientSession() as session:
        for attempt, pause in enumerate((*pauses, None), start=1):
            letter = Letter("local", notice.id, notice.event, attempt, body)
            found = await deliver(session, webhook.address, letter, int(time.time()))
            if found.outcome != "again" or pause is None:
                break
            await asyncio.sleep(max(pause, min(found.retry_after, LONGEST_S)))
    return found
