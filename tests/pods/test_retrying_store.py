"""A store that is unreachable for minutes costs no result."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.runner.jobs import MemoryStore

from opsgym_core.common.backoff import Backoff
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.sealed import SealedStore, SealError
from opsgym_runner.pod.retrying_store import RetryingStore
from opsgym_runner.recording.seal import AesSeal

QUICK = Backoff(initial_s=0.001, maximum_s=0.002)


class FlakyStore(MemoryStore):
    """Fails a number of writes.

    Args:
        failures: Writes that fail before the first one succeeds.
        on_failure: Called at each failure.
    """

    def __init__(self, failures: int, on_failure: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.failures = failures
        self._on_failure = on_failure
        self.tries = 0

    def put(self, key: str, content: bytes) -> None:
        self.tries += 1
        if self.tries <= self.failures:
            self._on_failure()
            raise StoreError(self.name, key, f"refused {self.tries}")
        super().put(key, content)


def test_a_write_that_fails_for_a_while_succeeds_in_the_end() -> None:
    flaky = FlakyStore(20)
    store: Store = RetryingStore(flaky, threading.Event(), backoff=QUICK)

    assert store.put_once("k", b"1") is True
    assert (store.get("k"), list(store.keys("")), flaky.tries) == (b"1", ["k"], 21)
    assert store.put_once("k", b"2") is False


def test_retrying_ends_with_the_last_error() -> None:
    flaky = FlakyStore(10**9)

    with pytest.raises(StoreError, match=r"refused \d+") as raised:
        RetryingStore(flaky, threading.Event(), retry_s=0.05, backoff=QUICK).put("k", b"")

    assert f"refused {flaky.tries}" in str(raised.value)
    assert flaky.tries > 2


def test_what_the_held_out_seed_does_not_open_is_tried_once() -> None:
    inner = MemoryStore()
    SealedStore(inner, AesSeal("a secret of thirty-two characters")).put("k", b"row")
    other = SealedStore(inner, AesSeal("another secret of thirty-two chars"))
    waits: list[float] = []
    stop = threading.Event()
    stop.wait = waits.append  # type: ignore[assignment,method-assign]
    with pytest.raises(SealError):
        RetryingStore(other, stop, backoff=QUICK).get("k")
    assert waits == []


def test_a_stopping_pod_tries_once_more_and_then_waits_no_longer() -> None:
    stop = threading.Event()
    flaky = FlakyStore(10**9, on_failure=lambda: threading.Timer(0.05, stop.set).start())
    store = RetryingStore(flaky, stop, retry_s=10_000, backoff=Backoff(initial_s=600))

    with pytest.raises(StoreError, match="refused 2"):
        store.put("k", b"")
    with pytest.raises(StoreError, match="refused 3"):
        store.put("k", b"")
