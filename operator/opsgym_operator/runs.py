"""What the operator keeps in memory of one EvalRun: what its store holds, its harvest, and what is being read.

Invariant: everything here can be lost. It is read from the store again, in the background, so that a large run holds up
nobody else; a store that fails is asked again after a pause that grows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import structlog

from opsgym_api.baseline import find_baseline, find_last_good
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import EvalRunSpec, Gate
from opsgym_api.gate import Baseline
from opsgym_api.layout import RunKeys
from opsgym_api.records import AttemptRecord, Control, GateRecord, RunRecord
from opsgym_api.store import Store, StoreError
from opsgym_operator.book import Book
from opsgym_operator.client import Manifest
from opsgym_operator.desired import Desired, Need
from opsgym_operator.harvest import Harvest
from opsgym_operator.metrics import Metrics, RunFigures, run_figures
from opsgym_operator.observed import Stored, planned_trials
from opsgym_operator.read import Order
from opsgym_operator.shelf import Shelf, put_attempt, put_job, put_run, read_index, read_shelf
from opsgym_operator.stores import Stores

log = structlog.get_logger(__name__)

A = TypeVar("A")

PAUSES_S = (2.0, 5.0, 10.0, 20.0)
"""Pauses after failures of a store, one after the other; the last one from then on."""

CHUNK_PAUSE_S = 60.0
"""Pause after a chunk could not be written."""

FRESH_S = 15.0
"""Seconds for which what was read from the store is not read again; plans that ask again wait longer."""


@dataclass
class RunState:
    """One EvalRun."""

    id: str
    spec: EvalRunSpec
    store: str
    """Name of its store."""
    stores: Stores
    metrics: Metrics
    since: datetime
    """When this process started."""
    wake: Callable[[], None]
    """Asks for another pass: something was read."""
    stored: Stored | None = None
    baseline: Baseline | Problem | None = None
    gate: GateRecord | None = None
    """What its gate said when it last ended."""
    spend_at: float = float("-inf")
    """When it was last asked what the attempts under way have spent, by the monotonic clock."""
    trouble: str = ""
    """Why the store could not be read or written just now."""
    _ended: RunFigures | None = None
    """What it came to, if it had ended before this process started."""
    _failures: int = 0
    _not_before: float = 0.0
    _reading: dict[Need, asyncio.Task[None]] = field(default_factory=dict)
    _read_at: dict[Need, float] = field(default_factory=dict)
    _harvest: Harvest | None = None
    _chunked: set[str] = field(default_factory=set)
    """Jobs whose trials a chunk repeats, or is just being made to."""
    _writing: set[asyncio.Task[None]] = field(default_factory=set)
    _no_chunk_before: float = 0.0
    _one_chunk: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One chunk is made at a time: a Job's trials are read for it, a thousand at most."""

    @property
    def harvest(self) -> Harvest | None:
        """Its harvest; None until the store was read."""
        return self._harvest

    @property
    def figures(self) -> RunFigures | None:
        """Its numbers; None until the store was read, or before it is frozen."""
        if self.stored is None:
            return self._ended
        return _figures(self.stored.book, self.stored.record, self.spec)

    @property
    def paused(self) -> bool:
        """Whether the store has just failed, and is not asked for a moment."""
        return time.monotonic() < self._not_before

    @property
    def retry_in(self) -> float | None:
        """Seconds until the store may be asked again; None if it has not failed."""
        return max(0.0, self._not_before - time.monotonic()) + 0.05 if self.trouble else None

    async def attempt(self, work: Awaitable[A]) -> A | None:
        """Does something with the store; None, and trouble, if it fails."""
        try:
            result = await work
        except StoreError as error:
            self.fail(str(error))
            return None
        self.trouble, self._failures = "", 0
        return result

    def fail(self, problem: str) -> None:
        """The store has failed: leave it alone for a moment."""
        if not self.trouble:
            log.warning("the store fails", run=self.id, store=self.store, problem=problem)
        self.trouble = problem
        self._not_before = time.monotonic() + PAUSES_S[min(self._failures, len(PAUSES_S) - 1)]
        self._failures += 1

    async def probe(self) -> None:
        """Asks a store that has failed whether it answers again."""
        if self.trouble and not self.paused and not self._reading:
            await self.attempt(self.stores.ask(self.store, Store.get, RunKeys(self.id).control_json))

    def read(self, needs: Iterable[Need]) -> None:
        """Begins to read what a plan needs; wakes when it is there.

        What was read a moment ago is not read again: a plan that is not content with it asks until it is.
        """
        for need in needs:
            fresh = time.monotonic() - self._read_at.get(need, float("-inf")) < FRESH_S
            if need not in self._reading and not self.paused and not fresh:
                task = asyncio.create_task(self._read(need), name=f"{need} of {self.id}")
                self._reading[need] = task
                task.add_done_callback(partial(self._done, need))

    def _done(self, need: Need, task: asyncio.Task[None]) -> None:
        del self._reading[need]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("reading failed", run=self.id, need=str(need), exc_info=error)
            self.fail(f"{need} cannot be read: {error}")
        self.wake()

    async def _read(self, need: Need) -> None:
        readers = {
            Need.STORED: self._read_all,
            Need.SUITE: self._read_suite,
            Need.FIGURES: self._read_figures,
            Need.BASELINE: self._read_baseline,
        }
        await self.attempt(readers[need]())
        if not self.trouble:
            self._read_at[need] = time.monotonic()

    async def _read_all(self) -> None:
        shelf = await self.stores.ask(self.store, read_shelf, self.id)
        book = Book(self.spec.limits.infra_retries)
        harvest = Harvest(self.id, self.store, book, self.stores, self.metrics, self.since)
        # Booking 50,000 attempts takes seconds, in which watches and probes must be answered.
        await asyncio.to_thread(harvest.begin, shelf)
        self._harvest = harvest
        self._chunked |= shelf.chunks
        self.stored = Stored(shelf.record, shelf.index, shelf.control, shelf.gate, book)
        self.gate = shelf.gate

    async def _read_suite(self) -> None:
        index = await self.stores.ask(self.store, read_index, self.id)
        if self.stored is not None:
            self.stored = replace(self.stored, index=index)

    async def _read_figures(self) -> None:
        shelf = await self.stores.ask(self.store, read_shelf, self.id)
        # Nothing of it is kept but what metrics tell: there may be many runs that have ended.
        self.gate = shelf.gate
        self._ended = await asyncio.to_thread(_figures_of, shelf, self.spec)

    async def _read_baseline(self) -> None:
        if self.spec.gate is not None:
            record = self.stored.record if self.stored else None
            self.baseline = await self.stores.ask(self.store, _baseline, self.spec.gate, self.id, record)

    def compact(self, jobs: Iterable[Manifest], pods: Sequence[Manifest], orders: Mapping[str, Order]) -> None:
        """Begins to repeat in chunks what is stored of Jobs that are over.

        Args:
            jobs: The run's task Jobs.
            pods: All of their pods.
            orders: What Jobs do, by name.
        """
        for job in jobs:
            name = job["metadata"]["name"]
            if self._harvest is None or name in self._chunked or name not in orders:
                continue
            if time.monotonic() >= self._no_chunk_before and self._harvest.harvested(job, pods):
                self._chunked.add(name)
                task = asyncio.create_task(self._put_chunk(name, orders[name]), name=f"chunk {name} of {self.id}")
                self._writing.add(task)
                task.add_done_callback(self._writing.discard)

    async def _put_chunk(self, job: str, order: Order) -> None:
        """A chunk that cannot be written is no trouble of the run: its records are read as long as there is none."""
        async with self._one_chunk:
            try:
                await self.stores.ask(self.store, put_job, self.id, job, order)
            except (StoreError, InputError) as error:
                log.warning("a chunk is not written", run=self.id, job=job, problem=str(error))
                if isinstance(error, StoreError):
                    self._chunked.discard(job)
                    self._no_chunk_before = time.monotonic() + CHUNK_PAUSE_S

    async def write(self, desired: Desired) -> bool:
        """Writes what a plan wants in the store; says whether anything was asked for.

        Raises:
            StoreError: The store refuses; what follows was not tried.
        """
        if self.stored is None:
            return False
        if desired.freeze is not None:
            record: RunRecord = await self.stores.ask(self.store, put_run, desired.freeze)
            self.stored = replace(self.stored, record=record)
        if desired.control is not None:
            await self.stores.ask(self.store, _put_control, self.id, desired.control)
            self.stored = replace(self.stored, control=desired.control)
        await asyncio.gather(*(self._put(record) for record in desired.records))
        if desired.gate is not None:
            await self.stores.ask(self.store, _put_gate, desired.gate)
            self.stored, self.gate = replace(self.stored, gate=desired.gate), desired.gate
        return bool(desired.freeze or desired.control or desired.records or desired.gate)

    async def _put(self, record: AttemptRecord) -> None:
        await self.stores.ask(self.store, put_attempt, record)
        if self._harvest is not None:
            self._harvest.note(record)

    def close(self) -> None:
        """Stops reading, and making chunks."""
        for task in (*self._reading.values(), *self._writing):
            task.cancel()


def _figures(book: Book, record: RunRecord | None, spec: EvalRunSpec) -> RunFigures | None:
    if record is None:
        return None
    return run_figures(book, planned_trials(record), spec.budget.max_usd if spec.budget else None)


def _figures_of(shelf: Shelf, spec: EvalRunSpec) -> RunFigures | None:
    book = Book(spec.limits.infra_retries)
    for attempt in shelf.attempts:
        book.note(attempt)
    return _figures(book, shelf.record, spec)


def _put_control(store: Store, run: str, control: Control) -> None:
    store.put(RunKeys(run).control_json, control.model_dump_json().encode())


def _put_gate(store: Store, gate: GateRecord) -> None:
    store.put(RunKeys(gate.run).gate_json, gate.model_dump_json().encode())


def _baseline(store: Store, gate: Gate, own: str, record: RunRecord | None) -> Baseline | Problem | None:
    """What a gate compares with; the last good run is looked for once there is something to compare."""
    try:
        if gate.baseline is not None:
            return find_baseline(store, gate.baseline, own)
        return find_last_good(store, record) if gate.last_good and record is not None else None
    except InputError as error:
        return Problem("spec.gate", error.problems[0].message)
