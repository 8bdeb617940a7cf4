"""In-memory state of one EvalRun: the stored run, its harvester, and the reads and writes in progress.

Invariant: the state can be lost at any time, because it is read from the store again. No reconcile waits for the store:
whatever asks it runs in tasks of the run, so that a large run or a store that hangs delays no other run; after a
failure the store is left alone for a growing delay. No Lease fences the store: `control.json`, which alone of the
objects is overwritten while a run is at work, is compared with the memory every minute.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

import structlog

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import EvalRunSpec, Gate
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import Control, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.backoff import Backoff
from opsgym_core.gates.baseline import ScoresReader, baseline_of, find_baseline
from opsgym_core.gates.judge import Baseline
from opsgym_core.kube.client import Manifest
from opsgym_core.metrics.registry import Metrics, RunFigures, run_figures
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import BATCH, Stores
from opsgym_operator.observe.labels import number_of, prefix_of
from opsgym_operator.observe.objects import ChunkState, StoredState, planned_trials
from opsgym_operator.observe.parse import JobTrials
from opsgym_operator.plan.desired import Desired, Load
from opsgym_operator.state.baselines import Baselines
from opsgym_operator.state.final_figures import put_figures, read_figures
from opsgym_operator.state.harvest import PodHarvester
from opsgym_operator.state.stored_run import (
    StoredRun,
    compact_job,
    put_attempt,
    put_look,
    put_run,
    read_control,
    read_gate,
    read_index,
    read_stored_run,
)
from opsgym_operator.state.turns import Turns

log = structlog.get_logger(__name__)

A = TypeVar("A")
P = ParamSpec("P")

BACKOFF = Backoff(initial_s=2.0, factor=2.0, maximum_s=20.0)
"""Delay after failures of a run's store in a row."""

CHUNK_DELAY_S = 60.0
"""Seconds without a new chunk after the store refused one."""
CHUNK_TRIES = 3
"""Times that a chunk is tried; its Job goes without one then, and its single records are read instead."""
LATE_S = 15.0
"""Seconds after which a store that has not answered a small read delays the operator's readiness and metrics no more.
It does not count as failing yet: the first read of a process that has just started on a busy node is slow, too."""
TURN_S = 60.0
"""Seconds after which a run that still waits for its turn to be read delays readiness and metrics no more."""
SPEND_S = 5.0
"""Seconds between two reads of what the running attempts of a run with a budget have spent."""

CONTROL_S = 45.0
"""Seconds between two reads of `control.json`, which an earlier leader that was stopped in the middle of a request may
overwrite when it goes on; less than the time between two reconciles without a change."""
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
    turns: Turns = field(default_factory=Turns)
    """Turns to read a whole run from a store; all runs share them."""
    baselines: Baselines = field(default_factory=Baselines)
    """Scores of the runs that gates compare with; all runs share them."""
    finished_at: datetime | None = None
    """When the run ended, by its status; None while it has not."""
    stored: StoredState | None = None
    """The run as stored; None until it was read."""
    withdrawn_at: datetime | None = None
    """When Jobs of it last left their queue; None if none has since this process started."""
    baseline: Baseline | Problem | None = None
    """Baseline of the gate, or why it cannot be used; None until it was read, or without a baseline."""
    gate: GateRecord | None = None
    """The gate's verdict when the run last ended."""
    next_numbers: dict[str, int] = field(default_factory=dict)
    """By the prefix of the names of a cell's Jobs: the number that follows those of which the store has a chunk."""
    error: str = ""
    """Why the last call of the store failed; empty if it succeeded."""
    late: bool = False
    """Whether the read of the run is late, until it ends: the store has owed a small answer for `LATE_S`, or other runs
    have had their turn for `TURN_S`."""
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
    """Jobs whose chunk is written."""
    _chunking: set[str] = field(default_factory=set)
    """Jobs whose chunk is being written."""
    _chunk_failures: Counter[str] = field(default_factory=Counter)
    """Failed tries to write the chunk of a Job."""
    _background: set[asyncio.Task[None]] = field(default_factory=set)
    """Chunks and final figures in progress."""
    _settling: asyncio.Task[None] | None = None
    """What asks the store about pods that ended and about running attempts; None between two looks."""
    _writing: asyncio.Task[bool] | None = None
    """What writes the part of a plan that belongs in the store; None if nothing is being written."""
    _spend_at: float = float("-inf")
    """When the spend of running attempts was last read, by the monotonic clock."""
    _control_at: float = float("-inf")
    """When `control.json` was last read, by the monotonic clock."""
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
    def unread(self) -> bool:
        """Whether neither the run nor the figures of its end were read."""
        return self.stored is None and self._ended_figures is None

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
        """Seconds until the store may be called again; None if its last call succeeded, or it is being called."""
        called = self._settling is not None or bool(self._reading)
        return None if called or not self.error else max(0.0, self._not_before - time.monotonic()) + 0.05

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

    def settle(self, *, unsettled: bool) -> None:
        """Begins to ask the store about pods that ended, about running attempts, and whether it answers again.

        Enqueues a reconcile at the end if there is news.

        Args:
            unsettled: Whether the harvester has pods to ask about.
        """
        if self._settling is not None or self.backing_off or self.stored is None:
            return
        watched = self.spec.budget is not None or self.spec.trials_per_pod != 1
        spending = watched and time.monotonic() - self._spend_at > SPEND_S
        comparing = not self.writing and time.monotonic() - self._control_at > CONTROL_S
        if self.error or comparing or (self.harvester is not None and (unsettled or spending)):
            self._settling = asyncio.create_task(
                self._settle(unsettled=unsettled, spending=spending, comparing=comparing), name=f"settling {self.id}"
            )
            self._settling.add_done_callback(self._end_settling)

    async def _settle(self, *, unsettled: bool, spending: bool, comparing: bool) -> None:
        error, news = self.error, False
        if error:
            await self.attempt(self._call(_probe, self.id))
        if self.harvester is not None and unsettled and not self.error:
            news = bool(await self.attempt(self.harvester.settle()))
        if self.harvester is not None and spending and not self.error:
            news = bool(await self.attempt(self.harvester.record_running())) or news
            self._spend_at = time.monotonic()
        if comparing and not self.error:
            news = bool(await self.attempt(self._compare_control())) or news
        if news or self.error != error:
            self.enqueue()

    async def _compare_control(self) -> bool:
        """Reads the start gate again; whether it is another one than in memory, which the next plan puts right."""
        control = await self._call(read_control, self.id)
        self._control_at = time.monotonic()
        if self.stored is None or control == self.stored.control:
            return False
        log.warning("the start gate in the store is another one than this operator wrote", run=self.id)
        self._change(control=control)
        return True

    def _end_settling(self, task: asyncio.Task[None]) -> None:
        self._settling = None
        self._report(task, "harvesting failed")
        if self.error:
            self.enqueue()

    def _report(self, task: asyncio.Task[Any], problem: str) -> None:
        """Records a fault of the operator that ended a task."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error(problem, run=self.id, exc_info=error)
            self.record_failure(f"{problem}: {type(error).__name__}")

    async def _call(self, operation: Callable[Concatenate[Store, P], A], *args: P.args, **kwargs: P.kwargs) -> A:
        return await self.stores.call_promptly(self.store, operation, *args, **kwargs)

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
        self.late = False
        self._report(task, f"{load} cannot be read")
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
        # Most stores that hang are known before they have a turn.
        with self._noting_late(LATE_S):
            await self._call(_probe, self.id)
        async with self._turn():
            stored = await self.stores.call_while_answering(self.store, read_stored_run, self.id, self.since)
            if stored.record is not None:
                self.metrics.add_cells(planned_trials(stored.record))
            # Recording 50,000 attempts takes seconds, in which watches and probes must be answered.
            await asyncio.to_thread(harvester.load, stored)
        self.harvester = harvester
        for name in stored.chunks:
            self._keep_number(name)
        self.stored = StoredState(stored.record, stored.index, stored.control, stored.gate, ledger)
        self._control_at = time.monotonic()
        self.gate = stored.gate

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Waits for the run's turn to be read and holds it within the context.

        Raises:
            StoreError: The store has just not answered another read.
        """
        async with AsyncExitStack() as held:
            with self._noting_late(TURN_S):
                await held.enter_async_context(self.turns.turn(self.store))
            yield

    @contextmanager
    def _noting_late(self, seconds: float) -> Iterator[None]:
        """Counts the run as late, and enqueues a reconcile, if the context lasts for longer than that."""
        noting = asyncio.get_running_loop().call_later(seconds, self._note_late)
        try:
            yield
        finally:
            noting.cancel()

    def _note_late(self) -> None:
        self.late = True
        self.enqueue()

    async def _read_suite(self) -> None:
        index = await self._call(read_index, self.id)
        if self.stored is not None:
            self.stored = replace(self.stored, index=index)

    async def _read_figures(self) -> None:
        self.gate = await self._call(read_gate, self.id)
        if self.finished_at is not None:
            self._ended_figures = await self._call(read_figures, self.id, self.finished_at)
        if self._ended_figures is None:
            async with self._turn():
                stored = await self.stores.call_while_answering(self.store, read_stored_run, self.id, self.since)
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
        if self._settling is not None:
            self._settling.cancel()
        self._read_at.clear()
        self._chunked.clear()
        self._keep_figures()

    def _keep_figures(self) -> None:
        """Begins to write the figures of the end."""
        task = asyncio.create_task(self._put_figures(), name=f"figures of {self.id}")
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _put_figures(self) -> None:
        """Writes the figures; without them the next operator reads the whole run."""
        if self._ended_figures is None or self.finished_at is None:
            return
        try:
            await self._call(put_figures, self.id, self._ended_figures, self.finished_at)
        except StoreError as error:
            log.warning("final figures are not written", run=self.id, problem=str(error))

    async def _read_baseline(self) -> None:
        if self.spec.gate is not None:
            record = self.stored.record if self.stored else None
            async with self._turn():
                read = partial(self.baselines.read, self.store)
                self.baseline = await self.stores.call_while_answering(
                    self.store,
                    _baseline,
                    self.spec.gate,
                    self.id,
                    record,
                    self.baseline_namespaces,
                    read,
                )

    def compact(
        self,
        jobs: Iterable[Manifest],
        pods_by_job: Mapping[str, Sequence[Manifest]],
        trials_by_job: Mapping[str, JobTrials],
    ) -> None:
        """Begins to write the chunks of harvested Jobs.

        Args:
            jobs: The run's task Jobs.
            pods_by_job: Pods of each Job, by its name.
            trials_by_job: Trials of each Job, by its name.
        """
        if self.harvester is None or self.backing_off or time.monotonic() < self._no_chunk_before:
            return
        for job in jobs:
            name = job["metadata"]["name"]
            due = name in trials_by_job and self.chunk_state(name) is ChunkState.DUE
            if due and self.harvester.is_harvested(job, pods_by_job.get(name, ())):
                self._chunking.add(name)
                task = asyncio.create_task(
                    self._put_chunk(name, trials_by_job[name]), name=f"chunk {name} of {self.id}"
                )
                self._background.add(task)
                task.add_done_callback(self._background.discard)

    def chunk_state(self, job: str) -> ChunkState:
        """Whether the store has the chunk of a Job."""
        if job in self._chunking:
            return ChunkState.IN_PROGRESS
        if job in self._chunked:
            return ChunkState.WRITTEN
        return ChunkState.GIVEN_UP if self._chunk_failures[job] >= CHUNK_TRIES else ChunkState.DUE

    async def _put_chunk(self, job: str, job_trials: JobTrials) -> None:
        """Writes a chunk; a failure is logged and does not affect the run, whose single records are read instead."""
        try:
            async with self._chunk_lock:
                known = self.harvester.take_rows(job_trials) if self.harvester is not None else []
                await self.stores.call(self.store, compact_job, self.id, job, job_trials, known)
            self._keep_number(job)
        except (StoreError, InputError) as error:
            log.warning("a chunk is not written", run=self.id, job=job, problem=str(error))
            self._chunk_failures[job] += 1 if isinstance(error, StoreError) else CHUNK_TRIES
            self._no_chunk_before = time.monotonic() + CHUNK_DELAY_S
        finally:
            self._chunking.discard(job)
            self.enqueue()

    def _keep_number(self, job: str) -> None:
        """Notes that the store has a chunk of a Job, so that no later Job gets its number."""
        self._chunked.add(job)
        prefix = prefix_of(job)
        self.next_numbers[prefix] = max(self.next_numbers.get(prefix, 0), number_of(job) + 1)

    @property
    def writing(self) -> bool:
        """Whether the part of an earlier plan that belongs in the store is still being written."""
        return self._writing is not None

    def write(self, desired: Desired) -> asyncio.Task[bool] | None:
        """Begins to write the part of a plan that belongs in the store; None if there is none, or it must wait.

        Returns:
            Whether that succeeded. A reconcile is enqueued at the end.
        """
        writes = desired.freeze or desired.control or desired.records or desired.look or desired.gate
        if not writes or self.stored is None or self.backing_off or self.writing:
            return None
        self._writing = asyncio.create_task(self._write(desired), name=f"writing {self.id}")
        self._writing.add_done_callback(self._end_writing)
        return self._writing

    def _end_writing(self, task: asyncio.Task[bool]) -> None:
        self._writing = None
        self._report(task, "writing failed")
        self.enqueue()

    async def _write(self, desired: Desired) -> bool:
        try:
            await self._put_all(desired)
        except StoreError as error:
            self.record_failure(str(error))
            return False
        return True

    async def _put_all(self, desired: Desired) -> None:
        """Writes the part of a plan that belongs in the store.

        Raises:
            StoreError: The store refused a write; those after it were not tried.
        """
        if desired.freeze is not None:
            self._change(record=await self._call(put_run, desired.freeze))
        if desired.control is not None:
            await self._call(_put_control, self.id, desired.control)
            self._change(control=desired.control)
        for start in range(0, len(desired.records), BATCH):
            records = desired.records[start : start + BATCH]
            await self.stores.call_each(self.store, put_attempt, records)
            if self.harvester is not None:
                for record in records:
                    self.harvester.record(record)
        if desired.look is not None and self.stored is not None and self.stored.record is not None:
            self._change(record=await self._call(put_look, self.stored.record, desired.look))
        if desired.gate is not None:
            await self._call(_put_gate, desired.gate)
            self._change(gate=desired.gate)
            self.gate = desired.gate

    def _change(self, **changes: Any) -> None:
        if self.stored is not None:
            self.stored = replace(self.stored, **changes)

    def close(self) -> None:
        """Cancels what is in progress."""
        for task in (*self._reading.values(), *self._background, self._settling, self._writing):
            if task is not None:
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


def _probe(store: Store, run: str) -> None:
    """Reads a small object, to learn whether the store answers."""
    store.get(RunKeys(run).control_json)


def _put_control(store: Store, run: str, control: Control) -> None:
    store.put(RunKeys(run).control_json, control.model_dump_json().encode())


def _put_gate(store: Store, gate: GateRecord) -> None:
    store.put(RunKeys(gate.run).gate_json, gate.model_dump_json().encode())


def _baseline(
    store: Store,
    gate: Gate,
    own: str,
    record: RunRecord | None,
    namespaces: Collection[str],
    read: ScoresReader,
) -> Baseline | Problem | None:
    """Baseline of a gate; the last good run is searched only after this run is frozen."""
    try:
        if record is not None:
            return baseline_of(store, gate, record, namespaces, read)
        return find_baseline(store, gate.baseline, own, namespaces, read) if gate.baseline is not None else None
    except InputError as error:
        return Problem("spec.gate", error.problems[0].message)
