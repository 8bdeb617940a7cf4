"""A store that comes back within minutes costs nobody a result."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.runner.jobs import MemoryStore

from opsgym_api.store import Store, StoreError
from opsgym_runner.pod import patience
from opsgym_runner.pod.patience import PatientStore


class FlakyStore(MemoryStore):
    """Fails so many times."""

    def __init__(self, failures: int, failed: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.failures = failures
        self._failed = failed
        self.asked = 0

    def put(self, key: str, content: bytes) -> None:
        self.asked += 1
        if self.asked <= self.failures:
            self._failed()
            raise StoreError(self.name, key, f"refused {self.asked}")
        super().put(key, content)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(patience, "LONGEST_WAIT_S", 0.002)


def test_what_fails_for_a_while_is_written_in_the_end() -> None:
    flaky = FlakyStore(20)
    store: Store = PatientStore(flaky, threading.Event())

    assert store.put_once("k", b"1") is True
    assert (store.get("k"), list(store.keys("")), flaky.asked) == (b"1", ["k"], 21)
    assert store.put_once("k", b"2") is False


def test_patience_ends_with_the_last_error() -> None:
    flaky = FlakyStore(10**9)

    with pytest.raises(StoreError, match=r"refused \d+") as caught:
        PatientStore(flaky, threading.Event(), patience_s=0.05).put("k", b"")

    assert f"refused {flaky.asked}" in str(caught.value)
    assert flaky.asked > 2


def test_a_pod_that_is_told_to_stop_tries_once_more_and_then_no_longer_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 600.0)
    stop = threading.Event()
    flaky = FlakyStore(10**9, failed=lambda: threading.Timer(0.05, stop.set).start())
    store = PatientStore(flaky, stop, patience_s=10_000)

    with pytest.raises(StoreError, match="refused 2"):
        store.put("k", b"")
    with pytest.raises(StoreError, match="refused 3"):
        store.put("k", b"")
