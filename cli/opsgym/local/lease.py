"""The lease of a run in its store: one process at a time plays a run.

Invariant: of all processes that are given a run, one holds it; the others end before they spend anything. A term of the
lease is an object that is put once by its holder and rewritten by it alone, so a store needs nothing but `put_once`.
Clocks of two hosts are never compared: whether a holder elsewhere is alive is seen by watching its object change.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opsgym_api.base import Stored
from opsgym_api.records.run import Control
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.version import RECORD_VERSION, RecordVersion
from opsgym_core.common.clock import now_text
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.objects import read_object
from opsgym_runner.start_gate import StartGate

RENEW_S = 5.0
"""Seconds between two renewals."""
LEASE_S = 45.0
"""Seconds without a renewal after which another host takes a run over."""
HELD_S = 30.0
"""Seconds after a renewal in which its holder may spend; less than `LEASE_S`, since a request goes on for a while."""
LOOK_S = 0.5
"""Seconds between two looks at the object of a holder elsewhere."""


class LeaseRecord(Stored):
    """One term of a run's lease: who holds the run."""

    version: RecordVersion = RECORD_VERSION
    token: str
    """Drawn by the holder; tells its own object from another's."""
    host: str
    pid: int
    machine: str
    """Boot and process namespace in which `pid` means a process."""
    started: str
    """When the process started, in the unit of its system; empty if the system does not say."""
    since: str
    """When the term began, by the holder's clock; for people."""
    renewals: int = 0
    released: bool = False

    @property
    def ended(self) -> bool:
        """Whether the holder gave the run back, or its process on this machine has ended."""
        if self.released or not self.on_this_machine:
            return self.released
        started = _start_of(self.pid)
        return started is None or (started != self.started and "" not in (started, self.started))

    @property
    def on_this_machine(self) -> bool:
        """Whether the holder's process can be seen from here."""
        return self.machine == _machine()


class RunHeldError(Exception):
    """Another process plays the run."""

    def __init__(self, run: str, holder: LeaseRecord) -> None:
        stop = f"end it with `kill {holder.pid}`" if holder.on_this_machine else "end it there"
        super().__init__(
            f"run {run} is played by process {holder.pid} on {holder.host} since {holder.since}: two would pay for the "
            f"same trials; wait until it ends, or {stop}, then run the same command again; --name NAME plays the same "
            "work as another run"
        )


class LeaseLostError(StoreError):
    """Another process has taken the run over, after the store had no renewal of this one for `LEASE_S`."""


class Lease:
    """A term of a run's lease that this process holds. Its methods may be called from any thread.

    Args:
        store: The store of the run.
        run: Id of the run.
        term: Number of the term, from 1.
        record: Its object as it is in the store.
        clock: Seconds that go on while the machine sleeps.
    """

    def __init__(self, store: Store, run: str, term: int, record: LeaseRecord, clock: Callable[[], float]) -> None:
        self._store = store
        self._key, self._next = RunKeys(run).lease(term), RunKeys(run).lease(term + 1)
        self._record = record
        self._clock = clock
        self._renewed_at = clock()
        self._lock = threading.Lock()
        self._on_loss: Callable[[], object] = lambda: None
        self.lost = False
        """Whether another process has the run now."""

    def renew(self) -> None:
        """Shows other hosts that this process is alive.

        Raises:
            LeaseLostError: Another process has the run.
            StoreError: The store cannot be read or written.
        """
        with self._lock:
            sent_at = self._clock()
            renewed = self._record.model_copy(update={"renewals": self._record.renewals + 1})
            if not self.lost:
                self._store.put(self._key, renewed.model_dump_json().encode())
            if not self.lost and self._store.get(self._next) is not None:
                self.lost = True
                self._on_loss()
            if self.lost:
                raise LeaseLostError(self._store.name, self._key, "another process plays the run now")
            self._record, self._renewed_at = renewed, sent_at

    def on_loss(self, call: Callable[[], object]) -> None:
        """Sets what is called, from any thread, once the run is lost."""
        self._on_loss = call

    async def confirm(self) -> None:
        """Checks that this process may spend; renews first where the last renewal is too long ago.

        Raises:
            LeaseLostError: Another process has the run.
            StoreError: The store cannot say.
        """
        if self.lost or self._clock() - self._renewed_at > HELD_S:
            await asyncio.to_thread(self.renew)

    def release(self) -> None:
        """Shows that this process spends no more, so that another one need not wait."""
        with self._lock, suppress(StoreError):
            released = self._record.model_copy(update={"released": True})
            self._store.put(self._key, released.model_dump_json().encode())


class HeldGate:
    """A start gate that no episode passes whose run another process has taken over."""

    def __init__(self, gate: StartGate, lease: Lease) -> None:
        self._gate = gate
        self._lease = lease

    async def control(self) -> Control:
        """The gate.

        Raises:
            StoreError: The run is lost, or the store cannot say whether it is.
        """
        await self._lease.confirm()
        return await self._gate.control()


@contextmanager
def held(store: Store, run: str, note: Callable[[str], object]) -> Iterator[Lease]:
    """Holds a run while the context lasts.

    Args:
        store: The store of the run.
        run: Id of the run.
        note: Receives messages for the user.

    Raises:
        RunHeldError: Another process plays the run.
        InputError: An object of the lease cannot be read.
        StoreError: The store cannot be read or written.
    """
    lease, ending = acquire(store, run, note), threading.Event()

    def renew_until_the_end() -> None:
        while not ending.wait(RENEW_S) and not lease.lost:
            with suppress(StoreError):  # a store that is away for a while; `confirm` asks again before money is spent
                lease.renew()

    renewing = threading.Thread(target=renew_until_the_end, name="lease", daemon=True)
    renewing.start()
    try:
        yield lease
    finally:
        ending.set()
        renewing.join(RENEW_S)  # not for ever: it may wait for a store that does not answer
        lease.release()


def clock_s() -> float:
    """Monotonic seconds that go on while the machine sleeps, where the system counts them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def acquire(
    store: Store,
    run: str,
    note: Callable[[str], object],
    clock: Callable[[], float] = clock_s,
    sleep: Callable[[float], object] = time.sleep,
) -> Lease:
    """Begins the next term of a run's lease, once the holder of the last one has ended; see `held`."""
    keys = RunKeys(run)
    own = LeaseRecord(
        token=secrets.token_hex(8),
        host=platform.node(),
        pid=os.getpid(),
        machine=_machine(),
        started=_start_of(os.getpid()) or "",
        since=now_text(),
    )
    watch = _Watch(store, run, note, clock, sleep)
    while True:
        terms = [int(name) for key in store.keys(keys.leases) if (name := Path(key).stem).isdecimal()]
        term = max(terms, default=0)
        before = watch.end_of(term) if term else None
        claimed = store.put_once(keys.lease(term + 1), own.model_dump_json().encode())
        taken = None if claimed else read_object(store, keys.lease(term + 1), LeaseRecord)
        if claimed or (taken is not None and taken.token == own.token):  # the answer to the first try was lost
            break
    # A holder that woke up meanwhile finds the new term within a renewal and ends.
    while term and (now := watch.read(term)) != before:
        with suppress(RunHeldError):
            before = watch.end_of(term) if now is not None else None
    return Lease(store, run, term + 1, own, clock)


class _Watch:
    """Watches whether the holder of a term is alive."""

    def __init__(
        self,
        store: Store,
        run: str,
        note: Callable[[str], object],
        clock: Callable[[], float],
        sleep: Callable[[float], object],
    ) -> None:
        self._store = store
        self._run = run
        self._note = note
        self._clock = clock
        self._sleep = sleep

    def read(self, term: int) -> LeaseRecord | None:
        return read_object(self._store, RunKeys(self._run).lease(term), LeaseRecord)

    def end_of(self, term: int) -> LeaseRecord | None:
        """The last state of a term that is over.

        Raises:
            RunHeldError: Its holder is alive.
        """
        first = self.read(term)
        if first is None or first.ended:
            return first
        if first.on_this_machine:
            raise RunHeldError(self._run, first)
        self._note(f"run {self._run}: waiting up to {LEASE_S:g} s for a sign of process {first.pid} on {first.host}")
        until = self._clock() + LEASE_S
        while self._clock() < until:
            self._sleep(LOOK_S)
            now = self.read(term)
            if now is None or now.ended:
                return now
            if now != first:
                raise RunHeldError(self._run, now)
        return first


def _machine() -> str:
    """Where a process id means one process: host, boot and, in containers, the namespace of processes."""
    parts = [platform.node()]
    try:
        parts += [
            Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            str(Path("/proc/self/ns/pid").readlink()),
        ]
    except OSError:
        parts.append(str(uuid.getnode()))
    return " ".join(parts)


def _start_of(pid: int) -> str | None:
    """When a process of this machine started, in the unit of its system; empty if the system does not say, None if the
    process has ended.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # another user's
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # no /proc, or another user's processes are hidden
        return ""
    return None if state in _DEAD else fields[_START_TIME]


_DEAD = ("Z", "X")
"""States of a process that has ended and whose parent has not read its exit code."""
_START_TIME = 18
"""Position of the start time among the fields after the state; see proc_pid_stat(5)."""
