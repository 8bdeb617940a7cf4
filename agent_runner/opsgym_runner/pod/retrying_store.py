"""A store that retries failed operations, so that an outage of minutes does not cost an attempt its results.

Invariant: an operation ends in success, or in the store's last error once the retry time is over or the pod has been
asked to stop; from then on every operation is tried once. An object that the held-out seed does not open is tried once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import structlog

from opsgym_core.common.backoff import Backoff
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.sealed import SealError

T = TypeVar("T")
RETRY_S = 300.0
"""Seconds for which an operation is retried; a server or its node is replaced in less."""
BACKOFF = Backoff(initial_s=1.0, maximum_s=10.0)
"""Waits between two tries of an operation."""

log = structlog.get_logger()


class RetryingStore:
    """A store whose operations are retried. Its methods block, so they are called from threads.

    Args:
        store: The store.
        stop: Set when the pod is asked to stop; ends every wait.
        retry_s: Seconds after an operation's first failure in which it is retried.
        backoff: Waits between two tries.
    """

    def __init__(
        self, store: Store, stop: threading.Event, retry_s: float = RETRY_S, backoff: Backoff = BACKOFF
    ) -> None:
        self.name = store.name
        self._store = store
        self._stop = stop
        self._retry_s = retry_s
        self._backoff = backoff

    def get(self, key: str) -> bytes | None:
        """Content of an object; None if the store has no such object."""
        return self._retried(lambda: self._store.get(key))

    def put(self, key: str, content: bytes) -> None:
        """Writes an object, replacing an existing one."""
        self._retried(lambda: self._store.put(key, content))

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes an object unless it exists.

        Returns:
            Whether it was written. False may also mean that an earlier try wrote it and its response was lost.
        """
        return self._retried(lambda: self._store.put_once(key, content))

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        return iter(self._retried(lambda: list(self._store.keys(prefix))))

    def folders(self, folder: str) -> Iterator[str]:
        """Names directly below a folder that have keys below them, sorted."""
        return iter(self._retried(lambda: list(self._store.folders(folder))))

    def _retried(self, operation: Callable[[], T]) -> T:
        attempt, until = 0, None
        while True:
            attempt += 1
            wait = self._backoff.delay(attempt)
            try:
                return operation()
            except SealError:
                raise  # no other try opens what the pod's seed does not
            except StoreError as error:
                now = time.monotonic()
                until = now + self._retry_s if until is None else until
                if self._stop.is_set() or now + wait > until:
                    raise
                log.warning("store unreachable, retrying", error=str(error), wait_s=wait)
            self._stop.wait(wait)
