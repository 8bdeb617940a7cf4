"""Sends notices to webhooks.

Invariant: an address is read from its mounted Secret for each attempt, and appears in no log line, event or message.
Redirects are not followed: they would carry what is signed to somebody else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import structlog

from opsgym_api.errors import InputError
from opsgym_api.notices import headers_of, require_safe
from opsgym_operator.config import WebhookConfig
from opsgym_operator.desired import Delivery, Letter

log = structlog.get_logger(__name__)

MOUNTED = Path("/etc/opsgym/webhooks")
"""Folder in which each webhook has one of its name, with its Secret."""
TIMEOUT_S = 10.0
"""For a whole request; who tells people may take a moment, but not hold up others."""


@dataclass(frozen=True)
class Address:
    """Where a webhook is, and what signs what is sent there."""

    url: str
    secret: bytes | None


def read_address(name: str, config: WebhookConfig, mounted: Path) -> Address:
    """The address of a webhook, as its Secret says now.

    Raises:
        InputError: The Secret is not mounted, or holds no address that may be used.
    """
    where = f"url of Secret {config.secret}"
    url = _text(mounted / name / "url") or ""
    require_safe(url, where)
    secret = _text(mounted / name / "signing-secret")
    return Address(url, secret.encode() if secret else None)


async def deliver(session: aiohttp.ClientSession, address: Address, letter: Letter, at: int) -> Delivery:
    """Tries once to send a notice.

    Args:
        session: Carries the request.
        address: Where to.
        letter: What.
        at: Seconds since 1970, for the signature.
    """
    headers = headers_of(letter.id, letter.event, letter.body, address.secret, at)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with session.post(
            address.url, data=letter.body, headers=headers, timeout=timeout, allow_redirects=False
        ) as answer:
            return _delivery(letter, answer.status, answer.headers.get("Retry-After", ""))
    except TimeoutError:
        return letter.ended("again", f"it does not answer within {TIMEOUT_S:g} s")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # Messages of these errors repeat the address.
        return letter.ended("again", f"it cannot be reached ({type(error).__name__})")


def _delivery(letter: Letter, status: int, retry_after: str) -> Delivery:
    if 200 <= status < 300:
        return letter.ended("sent")
    if 300 <= status < 400:
        return letter.ended("failed", f"it answers with a redirect (HTTP {status}), which is not followed")
    if status in (408, 429) or status >= 500:
        wait = float(retry_after) if retry_after.isdecimal() else 0.0
        return letter.ended("again", f"it answers HTTP {status}", wait)
    return letter.ended("failed", f"it refuses the notice (HTTP {status}); check the Secret's url and the format")


class Sender:
    """Sends notices in the background, each once at a time.

    Args:
        webhooks: Webhooks by name.
        mounted: Folder of their Secrets.
    """

    def __init__(self, webhooks: Mapping[str, WebhookConfig] | None = None, mounted: Path = MOUNTED) -> None:
        self._webhooks = webhooks or {}
        self._mounted = mounted
        self._session: aiohttp.ClientSession | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._deliveries: dict[str, dict[str, Delivery]] = {}
        """By run and notice: how the last attempt ended."""

    def deliveries(self, run: str) -> tuple[Delivery, ...]:
        """How attempts to send a run's notices ended, by its uid."""
        return tuple(self._deliveries.get(run, {}).values())

    def send(self, run: str, letter: Letter, wake: Callable[[], None]) -> None:
        """Begins to send a notice, unless that is under way or this attempt was made.

        Args:
            run: Uid of the run.
            letter: The notice.
            wake: Is called when it is known how the attempt ended.
        """
        last = self._deliveries.get(run, {}).get(letter.id)
        if letter.id in self._tasks or (last is not None and last.attempt >= letter.attempt):
            return
        task = asyncio.create_task(self._send(run, letter), name=f"notice {letter.id}")
        self._tasks[letter.id] = task

        def done(_: asyncio.Task[None]) -> None:
            del self._tasks[letter.id]
            wake()

        task.add_done_callback(done)

    async def _send(self, run: str, letter: Letter) -> None:
        try:
            address = read_address(letter.webhook, self._webhooks[letter.webhook], self._mounted)
        except (InputError, OSError) as error:
            found = letter.ended("again", str(error) if isinstance(error, InputError) else type(error).__name__)
        else:
            self._session = self._session or aiohttp.ClientSession()
            found = await deliver(self._session, address, letter, int(time.time()))
        level = log.info if found.outcome == "sent" else log.warning
        level("a notice", webhook=letter.webhook, event_told=letter.event, outcome=found.outcome, problem=found.problem)
        self._deliveries.setdefault(run, {})[letter.id] = found

    def forget(self, run: str) -> None:
        """Drops what is known of a run that is gone."""
        self._deliveries.pop(run, None)

    async def close(self) -> None:
        """Stops sending; what is not sent is in the runs' statuses."""
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
