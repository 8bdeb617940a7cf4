"""Books how the pods of one run end.

Invariant: every pod is booked once, by what it said or, if it said nothing, by what the store holds; a pod counts as
harvested only when that is done. Simulated fleets are scored through the same seam: whatever looks like a finished pod
with a termination message is booked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias, TypeVar

import structlog

from opsgym_api.layout import RunKeys, TrialKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell
from opsgym_api.store import Store, StoreError
from opsgym_operator.book import Attempted, Book
from opsgym_operator.client import Manifest
from opsgym_operator.metrics import Metrics
from opsgym_operator.observed import parse_indexes
from opsgym_operator.read import INDEX, JOB_NAME, Ending, Order, ending_of, job_finished, label, pod_ended, read_summary
from opsgym_operator.shelf import Died, Shelf, ended_at, read_open, read_trial, settle
from opsgym_operator.stores import Stores

log = structlog.get_logger(__name__)

Trial: TypeAlias = tuple[Cell, str, int]
"""Cell, task and number."""

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass
class Harvest:
    """Pods of one run.

    Attributes:
        run: Name of the run in its store.
        store: Name of its store.
        book: Where attempts are booked.
    """

    run: str
    store: str
    book: Book
    stores: Stores
    metrics: Metrics
    since: datetime
    """When this process started; what ended before was counted by an earlier one."""
    _waiting: dict[str, Manifest] = field(default_factory=dict)
    """Pods, as last seen, that are not harvested yet, by uid."""
    _done: set[str] = field(default_factory=set)
    _accounted: set[tuple[str, int]] = field(default_factory=set)
    """Jobs and indexes of which a pod was harvested."""
    _unread: list[tuple[TrialKeys, Cell]] = field(default_factory=list)
    """Scored trials whose verifiers are not counted yet."""
    _open: dict[tuple[str, str, int], AttemptRecord] = field(default_factory=dict)
    """Attempts that were open when the store was read."""

    def begin(self, shelf: Shelf) -> None:
        """Books what the store holds, before anything else is booked."""
        for attempt in shelf.attempts:
            if ended_at(attempt) >= self.since:
                self.note(attempt)
            else:
                self.book.note(attempt)
            if attempt.outcome is None and isinstance(attempt, AttemptRecord):
                self._open[attempt.cell.key, attempt.task_id, attempt.trial] = attempt

    def note(self, attempt: Attempted) -> None:
        """Books an attempt, and counts it if it has just ended."""
        key = (attempt.cell.key, attempt.task_id, attempt.trial)
        settled = self.book.settled(key)
        if not self.book.note(attempt) or attempt.outcome is None:
            return
        self.metrics.count_attempt(attempt)
        over = self.book.settled(key) and not settled
        if over or attempt.outcome is Outcome.BUDGET_SKIPPED:
            self.metrics.count_trial(attempt.cell, attempt.outcome, attempt.reason)
        if attempt.outcome.scored:
            keys = RunKeys(self.run).trial(attempt.cell, attempt.task_id, attempt.trial)
            self._unread.append((keys, attempt.cell))
        else:
            about = {"run": self.run, "cell": attempt.cell.key, "task": attempt.task_id, "trial": attempt.trial}
            outcome, reason = attempt.outcome.value, attempt.reason
            log.info("attempt not scored", **about, attempt=attempt.attempt, outcome=outcome, reason=reason)

    def harvested(self, job: Manifest, pods: Iterable[Manifest]) -> bool:
        """Whether a Job has finished and the book holds how each of its pods ended.

        Args:
            job: The Job.
            pods: Its run's pods.
        """
        name = job["metadata"]["name"]
        mine = (pod["metadata"]["uid"] for pod in pods if label(pod, JOB_NAME) == name)
        return (
            job_finished(job)
            and all(uid in self._done for uid in mine)
            and not any(label(pod, JOB_NAME) == name for pod in self._waiting.values())
            and all((name, index) in self._accounted for index in _over(job))
        )

    async def take(
        self, pods: Sequence[Manifest], jobs: Sequence[Manifest], orders: Mapping[str, Order], *, suspended: bool
    ) -> None:
        """Books what ended since the last look.

        Args:
            pods: All pods of the run's task Jobs.
            jobs: Its task Jobs.
            orders: What Jobs do, by name.
            suspended: Whether the run is being stopped, so that pods end on purpose.

        Raises:
            StoreError: The store is needed and cannot be asked; what was not booked is booked next time.
        """
        present = {pod["metadata"]["uid"]: pod for pod in pods}
        self._done &= present.keys()
        self._waiting |= {uid: pod for uid, pod in present.items() if uid not in self._done}
        over = {uid: pod for uid, pod in self._waiting.items() if uid not in present or pod_ended(pod)}
        silent = {uid: pod for uid, pod in over.items() if not self._take_word(uid, pod, orders)}
        busy = {self._trial(pod, orders) for uid, pod in self._waiting.items() if uid not in over}
        await asyncio.gather(
            *(self._settle_pod(uid, pod, orders, busy, suspended=suspended) for uid, pod in silent.items())
        )
        await self._settle_unseen(jobs, orders, suspended=suspended)
        await self._settle_open(busy, suspended=suspended)
        await self._count_verifiers()

    async def look_at_spend(self, orders: Mapping[str, Order]) -> None:
        """Books what the attempts that are under way have spent so far.

        Raises:
            StoreError: The store cannot be asked.
        """
        running = (pod for pod in self._waiting.values() if pod["status"].get("phase") == "Running")
        trials = [trial for pod in running if (trial := self._trial(pod, orders)) is not None]
        for record in await asyncio.gather(*(self._ask(read_open, self._keys(*trial)) for trial in trials)):
            if record is not None and record.outcome is None:
                self.book.note(record)

    def _take_word(self, uid: str, pod: Manifest, orders: Mapping[str, Order]) -> bool:
        """Books what a pod said of its attempt; False if it said nothing."""
        trial = self._trial(pod, orders)
        if trial is None:
            # Its order is gone, and so is whatever could tell which trial it worked on.
            self._finish(uid, pod)
            return True
        summary = read_summary(pod) if pod_ended(pod) else None
        if summary is None or (summary.cell, summary.task_id, summary.trial) != trial:
            return False
        self.note(summary)
        self._finish(uid, pod)
        return True

    async def _settle_pod(
        self, uid: str, pod: Manifest, orders: Mapping[str, Order], busy: Container[Trial | None], *, suspended: bool
    ) -> None:
        trial = self._trial(pod, orders)
        if trial is not None:
            counted = pod["status"].get("phase") == "Failed" and "deletionTimestamp" not in pod["metadata"]
            await self._settle(trial, ending_of(pod), alone=trial not in busy, counted=counted, suspended=suspended)
        self._finish(uid, pod)

    async def _settle_unseen(self, jobs: Iterable[Manifest], orders: Mapping[str, Order], *, suspended: bool) -> None:
        """Looks in the store for indexes that ended while nobody watched: no pod of theirs was ever seen."""
        waited = {_place(pod) for pod in self._waiting.values()}
        for job in jobs:
            name = job["metadata"]["name"]
            if not job_finished(job) or name not in orders:
                continue
            for index in _over(job) - {index for done, index in self._accounted if done == name}:
                if (name, index) not in waited:
                    trial = _trial_of(orders[name], index)
                    if trial is not None:
                        await self._settle(trial, ending_of(None), alone=True, counted=True, suspended=suspended)
                    self._accounted.add((name, index))

    async def _settle_open(self, busy: Container[Trial | None], *, suspended: bool) -> None:
        """Closes attempts that were open when the store was read, and that no pod works on."""
        for key, record in list(self._open.items()):
            trial = record.cell, record.task_id, record.trial
            if trial not in busy:
                await self._settle(trial, ending_of(None), alone=True, counted=False, suspended=suspended)
                del self._open[key]

    async def _settle(self, trial: Trial, ending: Ending, *, alone: bool, counted: bool, suspended: bool) -> None:
        cell, task_id, number = trial
        outcome = Outcome.CANCELLED if suspended else Outcome.INFRA_ERROR
        died = Died(self.run, cell, task_id, number, ending, outcome, alone=alone, counted=counted)
        for record in await self._ask(settle, died):
            self.note(record)

    async def _count_verifiers(self) -> None:
        unread, self._unread = self._unread, []
        try:
            found = await asyncio.gather(*(self._ask(read_trial, keys) for keys, _ in unread))
        except StoreError:
            self._unread += unread
            raise
        for (_, cell), record in zip(unread, found, strict=True):
            if record is not None:
                self.metrics.count_verifiers(cell, record.verifiers)

    async def _ask(self, question: Callable[[Store, Q], A], about: Q) -> A:
        return await self.stores.ask(self.store, question, about)

    def _keys(self, cell: Cell, task_id: str, trial: int) -> TrialKeys:
        return RunKeys(self.run).trial(cell, task_id, trial)

    def _trial(self, pod: Manifest, orders: Mapping[str, Order]) -> Trial | None:
        """The trial that a pod works on; None if its Job's order is gone."""
        job, index = _place(pod)
        return _trial_of(orders[job], index) if job in orders else None

    def _finish(self, uid: str, pod: Manifest) -> None:
        self._done.add(uid)
        self._waiting.pop(uid, None)
        self._accounted.add(_place(pod))


def _place(pod: Manifest) -> tuple[str, int]:
    """A pod's Job and completion index."""
    index = label(pod, INDEX)
    return label(pod, JOB_NAME), int(index) if index.isdigit() else -1


def _trial_of(order: Order, index: int) -> Trial | None:
    if not 0 <= index < len(order.trials):
        return None
    ref = order.trials[index]
    return order.cell, ref.task_id, ref.trial


def _over(job: Manifest) -> frozenset[int]:
    """Indexes of a Job that have succeeded or used up their retries."""
    status = job["status"]
    return parse_indexes(status.get("completedIndexes", "")) | parse_indexes(status.get("failedIndexes", ""))
