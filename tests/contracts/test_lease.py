"""A run's lease, over every kind of store: one holder, seen without a common clock."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from opsgym.local import lease as module
from opsgym.local.lease import HELD_S, LEASE_S, RENEW_S, Lease, LeaseLostError, LeaseRecord, RunHeldError, acquire, held
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.local import LocalStore

KEYS = RunKeys("demo.1")


@dataclass
class Host:
    """A host with a clock of its own, on which a process acquires the run."""

    store: Store
    now: float
    others: Callable[[float], object] = lambda now: None
    """Called with the time while the process waits: what happens elsewhere."""
    notes: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.others(self.now)

    def acquire(self) -> Lease:
        return acquire(self.store, "demo.1", self.notes.append, lambda: self.now, self.sleep)


def put_elsewhere(store: Store, **fields: object) -> LeaseRecord:
    """A holder on another host."""
    values = {
        "token": "t",
        "host": "elsewhere",
        "pid": os.getpid(),
        "machine": "other boot",
        "started": "1",
        "since": "x",
    }
    record = LeaseRecord.model_validate({**values, **fields})
    store.put(KEYS.lease(1), record.model_dump_json().encode())
    return record


def test_the_second_process_is_refused_by_name_of_the_first(store: Store) -> None:
    Host(store, 0).acquire()
    second = Host(store, 0)
    with pytest.raises(RunHeldError, match=rf"process {os.getpid()} on .*`kill {os.getpid()}`.*--name"):
        second.acquire()
    assert second.now == 0  # at once


def test_a_released_run_is_taken_at_once(store: Store) -> None:
    with held(store, "demo.1", print):
        pass
    with held(store, "demo.1", print) as lease:
        assert not lease.lost
    assert list(store.keys(KEYS.leases)) == [KEYS.lease(1), KEYS.lease(2)]


def test_a_dead_process_of_this_machine_is_replaced_at_once(store: Store) -> None:
    script = "import os; from opsgym.local.lease import _start_of; print(_start_of(os.getpid()))"
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        started = child.stdout.read().strip()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie from now on
    put_elsewhere(store, machine=module._machine(), pid=child.pid, started=started)
    host = Host(store, 0)
    host.acquire()
    child.wait(60)
    assert host.now == 0


def test_a_process_that_got_the_id_of_a_dead_one_is_not_the_holder(tmp_path: Path) -> None:
    put_elsewhere(LocalStore(tmp_path), machine=module._machine(), started="before this process")
    host = Host(LocalStore(tmp_path), 0)
    host.acquire()
    assert host.now == 0


def test_a_holder_elsewhere_is_alive_if_it_renews_whatever_the_clocks_say(store: Store) -> None:
    first = Host(store, 9e9).acquire()
    first._record = first._record.model_copy(update={"machine": "other boot", "host": "elsewhere"})
    first.renew()
    second = Host(store, -3e6, others=lambda now: first.renew() if now >= RENEW_S - 3e6 else None)
    with pytest.raises(RunHeldError, match=r"on elsewhere .*end it there"):
        second.acquire()
    assert second.now + 3e6 == pytest.approx(RENEW_S, abs=1)
    assert "waiting up to 45 s for a sign of process" in second.notes[0]


def test_a_holder_elsewhere_that_is_silent_is_replaced_when_its_lease_has_expired(store: Store) -> None:
    put_elsewhere(store)
    host = Host(store, 100)
    host.acquire()
    assert host.now - 100 == pytest.approx(LEASE_S, abs=1)


def test_of_two_processes_that_wait_one_takes_over(store: Store) -> None:
    put_elsewhere(store)
    leases: list[Lease] = []

    def other_takes(now: float) -> None:
        if now >= LEASE_S - 1 and not leases:
            leases.append(Host(store, 0).acquire())

    with pytest.raises(RunHeldError):
        Host(store, 0, others=other_takes).acquire()
    assert len(leases) == 1


def test_a_holder_that_wakes_up_too_late_spends_nothing_more(store: Store) -> None:
    asleep = Host(store, 0)
    lease = asleep.acquire()
    lease._record = lease._record.model_copy(update={"machine": "other boot"})
    lease.renew()
    Host(store, 0).acquire()
    lost: list[str] = []
    lease.on_loss(lambda: lost.append("lost"))
    asleep.now = HELD_S - 1
    asyncio.run(lease.confirm())  # its requests are within the time that others leave to it
    asleep.now = LEASE_S + 1
    with pytest.raises(LeaseLostError, match="another process plays the run now"):
        asyncio.run(lease.confirm())
    assert lost == ["lost"]
    assert lease.lost


def test_who_takes_over_waits_for_a_holder_that_wakes_up_in_that_moment(store: Store) -> None:
    sleeper = Host(store, 0).acquire()
    sleeper._record = sleeper._record.model_copy(update={"machine": "other boot"})
    sleeper.renew()

    class WakesUp(LocalStore):
        """The holder renews between the last look at its term and the claim of the next."""

        name = store.name

        def __getattribute__(self, name: str) -> object:
            return super().__getattribute__(name) if name in ("put_once", "__class__") else getattr(store, name)

        def put_once(self, key: str, content: bytes) -> bool:
            sleeper.renew()
            return store.put_once(key, content)

    def ends_at_its_next_renewal(now: float) -> None:
        if now > LEASE_S + RENEW_S and not sleeper.lost:
            with pytest.raises(LeaseLostError):
                sleeper.renew()
            sleeper.release()

    host = Host(WakesUp("unused"), 0, others=ends_at_its_next_renewal)
    host.acquire()
    assert sleeper.lost
    assert host.now > LEASE_S + RENEW_S


def test_a_renewal_that_the_store_does_not_take_stops_spending_until_it_does(tmp_path: Path) -> None:
    class Away(LocalStore):
        away = False

        def put(self, key: str, content: bytes) -> None:
            if self.away:
                raise StoreError(self.name, key, "away")
            super().put(key, content)

    store = Away(tmp_path)
    host = Host(store, 0)
    lease = host.acquire()
    store.away = True
    asyncio.run(lease.confirm())
    host.now = HELD_S + 1
    with pytest.raises(StoreError, match="away"):
        asyncio.run(lease.confirm())
    store.away = False
    asyncio.run(lease.confirm())
    assert not lease.lost


def test_a_holder_renews_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed = threading.Event()

    class Seen(LocalStore):
        def put(self, key: str, content: bytes) -> None:
            super().put(key, content)
            renewed.set()

    monkeypatch.setattr(module, "RENEW_S", 0.01)
    with held(Seen(tmp_path), "demo.1", print):
        assert renewed.wait(60)


def test_an_answer_that_was_lost_is_no_other_holder(tmp_path: Path) -> None:
    class Forgetful(LocalStore):
        def put_once(self, key: str, content: bytes) -> bool:
            super().put_once(key, content)
            return False

    Host(Forgetful(tmp_path), 0).acquire()
    assert list(LocalStore(tmp_path).keys(KEYS.leases)) == [KEYS.lease(1)]
