"""In-memory state of one EvalRun: the stored run, its harvester, and the reads and writes in progress.

Invariant: the state can be lost at any time, because it is read from the store again. Reads run in the background, so
that a large run does not delay the others; after a failure the store is left alone for a growing delay.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import structlog

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import EvalRunSpec, Gate
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import Control, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.backoff import Backoff
from opsgym_core.gates.baseline import find_baseline, find_last_good
from opsgym_core.gates.judge import Baseline
from opsgym_core.kube.client import Manifest
from opsgym_core.metrics.registry import Metrics, RunFigures, run_figures
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import Stores
from opsgym_operator.observe.objects import StoredState, planned_trials
from opsgym_operator.observe.parse import JobTrials
from opsgym_operator.plan.desired import Desired, Load
from opsgym_operator.state.final_figures import put_figures, read_figures
from opsgym_operator.state.harvest import PodHarvester
from opsgym_operator.state.stored_run import (
    StoredRun,
    compact_job,
    put_attempt,
    put_run,
    read_gate,
    read_index,
    read_stored_run,
)

log = structlog.get_logger(__name__)

A = TypeVar("A")

BACKOFF = Backoff(initial_s=2.0, factor=2.0, maximum_s=20.0)
"""Delay after failures of a run's store in a row."""

CHUNK_DELAY_S = 60.0
"""Seconds without a new chunk after the store refused one."""

FRESH_S = 15.0
"""Seconds after a read in which the same load is not read again, however often plans request it."""


@dataclass
class RunState:
    """In-memory state of one EvalRun."""

    id: str
    """Name of the run in its store."""
    spec: EvalRunSpec
    store: str
    """Name of the store."""
    baseline_namespaces: frozenset[str]
    """Namespaces whose runs may be the gate's baseline."""
    stores: Stores
    metrics: Metrics
    since: datetime
    """When this process started, or finished the run; metrics count attempts that ended later."""
    enqueue: Callable[[], None]
    """Requests a reconcile, because a load has ended."""
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a whole run is read from the store; all runs of a store share it."""
    finished_at: datetime | None = None
    """When the run ended, by its status; None while it has not."""
    stored: StoredState | None = None
    """The run as stored; None until it was read."""
    baseline: Baseline | Problem | None = None
    """Baseline of the gate, or why it cannot be used; None until it was read, or without a baseline."""
    gate: GateRecord | None = None
    """The gate's verdict when the run last ended."""
    spend_at: float = float("-inf")
    """When the spend of running attempts was last read, by the monotonic clock."""
    error: str = ""
    """Why the last call of the store failed; empty if it succeeded."""
    harvester: PodHarvester | None = None
    """None until the store was read."""
    _ended_figures: RunFigures | None = None
    """Figures of a run that has ended."""
    _failures: int = 0
    """Failed calls of the store in a row."""
    _failing_since: float = 0.0
    """When the first of these failures was, by the monotonic clock."""
    _not_before: float = 0.0
    """When the store may be called again, by the monotonic clock."""
    _reading: dict[Load, asyncio.Task[None]] = field(default_factory=dict)
    """Loads in progress."""
    _read_at: dict[Load, float] = field(default_factory=dict)
    """When each load last succeeded, by the monotonic clock."""
    _chunked: set[str] = field(default_factory=set)
    """Jobs whose chunk is written or being written."""
    _writing: set[asyncio.Task[None]] = field(default_factory=set)
    """Chunks in progress."""
    _no_chunk_before: float = 0.0
    """When the next chunk may be written, by the monotonic clock."""
    _chunk_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Chunks are written one at a time, since each holds all records of a Job, up to 1,000 trials, in memory."""

    @property
    def figures(self) -> RunFigures | None:
        """Figures for the metrics; None until the store was read, and before the run is frozen."""
        if self.stored is None:
            return self._ended_figures
        return _figures(self.stored.ledger, self.stored.record, self.spec)

    @property
    def backing_off(self) -> bool:
        """Whether the delay after a failure of the store is not over."""
        return time.monotonic() < self._not_before

    @property
    def error_s(self) -> float:
        """Seconds for which every call of the store has failed; 0 if the last one succeeded."""
        return time.monotonic() - self._failing_since if self.error else 0.0

    @property
    def retry_after_s(self) -> float | None:
        """Seconds until the store may be called again; None if its last call succeeded."""
        return max(0.0, self._not_before - time.monotonic()) + 0.05 if self.error else None

    async def attempt(self, call: Awaitable[A]) -> A | None:
        """Awaits a call of the store and returns its result; if it fails, records the failure and returns None."""
        try:
            result = await call
        except StoreError as error:
            self.record_failure(str(error))
            return None
        self.error, self._failures = "", 0
        return result

    def record_failure(self, problem: str) -> None:
        """Records a failure of the store and begins the delay before the next call."""
        if not self.error:
            log.warning("the store fails", run=self.id, store=self.store, problem=problem)
            self._failing_since = time.monotonic()
        self.error = problem
        self._failures += 1
        self._not_before = time.monotonic() + BACKOFF.delay(self._failures)

    async def probe(self) -> None:
        """Calls a store that has failed, once its delay is over, to learn whether it answers again."""
        if self.error and not self.backing_off and not self._reading:
            await self.attempt(self.stores.call(self.store, Store.get, RunKeys(self.id).control_json))

    def read(self, loads: Iterable[Load]) -> None:
        """Begins to read what a plan needs, and enqueues a reconcile at the end of each load.

        A load that succeeded within `FRESH_S` is not repeated; a plan that needs a newer state requests it again.
        """
        for load in loads:
            fresh = time.monotonic() - self._read_at.get(load, float("-inf")) < FRESH_S
            if load not in self._reading and not self.backing_off and not fresh:
                task = asyncio.create_task(self._read(load), name=f"{load} of {self.id}")
                self._reading[load] = task
                task.add_done_callback(partial(self._end_load, load))

    def _end_load(self, load: Load, task: asyncio.Task[None]) -> None:
        del self._reading[load]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("reading failed", run=self.id, load=str(load), exc_info=error)
            self.record_failure(f"{load} cannot be read: {error}")
        self.enqueue()

    async def _read(self, load: Load) -> None:
        readers = {
            Load.STORED_RUN: self._read_all,
            Load.SUITE_INDEX: self._read_suite,
            Load.FIGURES: self._read_figures,
            Load.BASELINE: self._read_baseline,
        }
        await self.attempt(readers[load]())
        if not self.error:
            self._read_at[load] = time.monotonic()

    async def _read_all(self) -> None:
        ledger = AttemptLedger(self.spec.limits.infra_retries)
        harvester = PodHarvester(self.id, self.store, ledger, self.stores, self.metrics, self.since)
        async with self.reading:
            stored = await self.stores.call(self.store, read_stored_run, self.id)
            # Recording 50,000 attempts takes seconds, in which watches and probes must be answered.
            await asyncio.to_thread(harvester.load, stored)
        self.harvester = harvester
        self._chunked |= stored.chunks
        self.stored = StoredState(stored.record, stored.index, stored.control, stored.gate, ledger)
        self.gate = stored.gate

    async def _read_suite(self) -> None:
        index = await self.stores.call(self.store, read_index, self.id)
        if self.stored is not None:
            self.stored = replace(self.stored, index=index)

    async def _read_figures(self) -> None:
        self.gate = await self.stores.call(self.store, read_gate, self.id)
        if self.finished_at is not None:
            self._ended_figures = await self.stores.call(self.store, read_figures, self.id, self.finished_at)
        if self._ended_figures is None:
            async with self.reading:
                stored = await self.stores.call(self.store, read_stored_run, self.id)
                # Only the figures stay in memory, because there may be many runs that have ended.
                self._ended_figures = await asyncio.to_thread(_figures_of, stored, self.spec)
            self._keep_figures()

    def finish(self, now: datetime) -> None:
        """Drops everything of a run that has ended but its figures; a run that is resumed is read again.

        Args:
            now: The time, from which on the metrics count attempts of the run that end.
        """
        if self.stored is None:
            return
        self._ended_figures, self.since = self.figures, now
        self.stored = self.harvester = self.baseline = None
        self._read_at.clear()
        self._keep_figures()

    def _keep_figures(self) -> None:
        """Begins to write the figures of the end."""
        task = asyncio.create_task(self._put_figures(), name=f"figures of {self.id}")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _put_figures(self) -> None:
        """Writes the figures; without them the next operator reads the whole run."""
        if self._ended_figures is None or self.finished_at is None:
            return
        try:
            await self.stores.call(self.store, put_figures, self.id, self._ended_figures, self.finished_at)
        except StoreError as error:
            log.warning("final figures are not written", run=self.id, problem=str(error))

    async def _read_baseline(self) -> None:
        if self.spec.gate is not None:
            record = self.stored.record if self.stored else None
            self.baseline = await self.stores.call(
                self.store, _baseline, self.spec.gate, self.id, record, self.baseline_namespaces
            )

    def compact(
        self, jobs: Iterable[Manifest], pods: Sequence[Manifest], trials_by_job: Mapping[str, JobTrials]
    ) -> None:
        """Begins to write the chunks of harvested Jobs.

        Args:
            jobs: The run's task Jobs.
            pods: All of their pods.
            trials_by_job: Trials of each Job, by its name.
        """
        for job in jobs:
            name = job["metadata"]["name"]
            if self.harvester is None or name in self._chunked or name not in trials_by_job:
                continue
            if time.monotonic() >= self._no_chunk_before and self.harvester.is_harvested(job, pods):
                self._chunked.add(name)
                task = asyncio.create_task(
                    self._put_chunk(name, trials_by_job[name]), name=f"chunk {name} of {self.id}"
                )
                self._writing.add(task)
                task.add_done_callback(self._writing.discard)

    async def _put_chunk(self, job: str, job_trials: JobTrials) -> None:
        """Writes a chunk; a failure is logged and does not affect the run, whose single records are read instead."""
        async with self._chunk_lock:
            try:
                await self.stores.call(self.store, compact_job, self.id, job, job_trials)
            except (StoreError, InputError) as error:
                log.warning("a chunk is not written", run=self.id, job=job, problem=str(error))
                if isinstance(error, StoreError):
                    self._chunked.discard(job)
                    self._no_chunk_before = time.monotonic() + CHUNK_DELAY_S

    async def write(self, desired: Desired) -> bool:
        """Writes the part of a plan that belongs in the store; returns whether there was any.

        Raises:
            StoreError: The store refused a write; those after it were not tried.
        """
        if self.stored is None:
            return False
        if desired.freeze is not None:
            record: RunRecord = await self.stores.call(self.store, put_run, desired.freeze)
            self.stored = replace(self.stored, record=record)
        if desired.control is not None:
            await self.stores.call(self.store, _put_control, self.id, desired.control)
            self.stored = replace(self.stored, control=desired.control)
        await asyncio.gather(*(self._put(record) for record in desired.records))
        if desired.gate is not None:
            await self.stores.call(self.store, _put_gate, desired.gate)
            self.stored, self.gate = replace(self.stored, gate=desired.gate), desired.gate
        return bool(desired.freeze or desired.control or desired.records or desired.gate)

    async def _put(self, record: AttemptRecord) -> None:
        await self.stores.call(self.store, put_attempt, record)
        if self.harvester is not None:
            self.harvester.record(record)

    def close(self) -> None:
        """Cancels the loads and chunks in progress."""
        for task in (*self._reading.values(), *self._writing):
            task.cancel()


def _figures(ledger: AttemptLedger, record: RunRecord | None, spec: EvalRunSpec) -> RunFigures | None:
    if record is None:
        return None
    return run_figures(ledger, planned_trials(record), spec.budget.max_usd if spec.budget else None)


def _figures_of(stored: StoredRun, spec: EvalRunSpec) -> RunFigures | None:
    ledger = AttemptLedger(spec.limits.infra_retries)
    for attempt in stored.attempts:
        ledger.record(attempt)
    return _figures(ledger, stored.record, spec)


def _put_control(store: Store, run: str, control: Control) -> None:
    store.put(RunKeys(run).control_json, control.model_dump_json().encode())


def _put_gate(store: Store, gate: GateRecord) -> None:
    store.put(RunKeys(gate.run).gate_json, gate.model_dump_json().encode())


def _baseline(
    store: Store, gate: Gate, own: str, record: RunRecord | None, namespaces: Collection[str]
) -> Baseline | Problem | None:
    """Baseline of a gate; the last good run is searched only after this run is frozen."""
    try:
        if gate.baseline is not None:
            return find_baseline(store, gate.baseline, own, namespaces)
        return find_last_good(store, record, gate.best_of) if gate.last_good and record is not None else None
    except InputError as error:
        return Problem("spec.gate", error.problems[0].message)
