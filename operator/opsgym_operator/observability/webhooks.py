"""Sends notifications to webhooks in the background.

Invariant: an address is read from its mounted Secret for each attempt, and appears in no log line, event or message.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import aiohttp
import structlog

from opsgym_api.errors import InputError
from opsgym_core.notifications.delivery import deliver
from opsgym_core.notifications.notification import require_safe
from opsgym_core.notifications.webhook import DeliveryResult, WebhookAddress, WebhookRequest
from opsgym_operator.config import WebhookConfig

log = structlog.get_logger(__name__)

MOUNTED = Path("/etc/opsgym/webhooks")
"""Folder with a folder for each webhook, named like it, in which its Secret is mounted."""


def read_address(name: str, config: WebhookConfig, mounted: Path) -> WebhookAddress:
    """The address of a webhook, from the current content of its Secret.

    Raises:
        InputError: The Secret is not mounted, or its address is not allowed.
    """
    where = f"url of Secret {config.secret}"
    url = _text(mounted / name / "url") or ""
    require_safe(url, where)
    secret = _text(mounted / name / "signing-secret")
    return WebhookAddress(url, secret.encode() if secret else None)


class WebhookDispatcher:
    """Sends notifications in the background; of each notification at most one attempt runs at a time.

    Args:
        webhooks: Webhooks by name.
        mounted: Folder of their Secrets.
    """

    def __init__(self, webhooks: Mapping[str, WebhookConfig] | None = None, mounted: Path = MOUNTED) -> None:
        self._webhooks = webhooks or {}
        self._mounted = mounted
        self._session: aiohttp.ClientSession | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._deliveries: dict[str, dict[str, DeliveryResult]] = {}
        """Result of the last attempt: by uid of the run, then by id of the notification."""

    def deliveries(self, run: str) -> tuple[DeliveryResult, ...]:
        """Results of the last attempt to send each notification of a run.

        Args:
            run: Uid of the run.
        """
        return tuple(self._deliveries.get(run, {}).values())

    def send(self, run: str, request: WebhookRequest, enqueue: Callable[[], None]) -> None:
        """Starts an attempt to send a notification, unless one is running or this attempt was made.

        Args:
            run: Uid of the run.
            request: The attempt.
            enqueue: Called when the attempt has ended.
        """
        last = self._deliveries.get(run, {}).get(request.id)
        if request.id in self._tasks or (last is not None and last.attempt >= request.attempt):
            return
        task = asyncio.create_task(self._send(run, request), name=f"notification {request.id}")
        self._tasks[request.id] = task

        def done(_: asyncio.Task[None]) -> None:
            del self._tasks[request.id]
            enqueue()

        task.add_done_callback(done)

    async def _send(self, run: str, request: WebhookRequest) -> None:
        try:
            address = read_address(request.webhook, self._webhooks[request.webhook], self._mounted)
        except (InputError, OSError) as error:
            result = request.result("again", str(error) if isinstance(error, InputError) else type(error).__name__)
        else:
            self._session = self._session or aiohttp.ClientSession(trust_env=True)
            result = await deliver(self._session, address, request, int(time.time()))
        level = log.info if result.outcome == "sent" else log.warning
        level(
            "notification attempt",
            webhook=request.webhook,
            notification_event=request.event,
            outcome=result.outcome,
            problem=result.problem,
        )
        self._deliveries.setdefault(run, {})[request.id] = result

    def forget(self, run: str) -> None:
        """Drops the results of a deleted run."""
        self._deliveries.pop(run, None)

    async def close(self) -> None:
        """Cancels running attempts; pending notifications stay in the statuses of their runs."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self._session is not None:
            await self._session.close()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
