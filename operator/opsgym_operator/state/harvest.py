"""Harvests the pods of one run: takes the results of pods that ended into the ledger, the store and the metrics.

Invariant: every pod is recorded once, from the store; it counts as harvested only after that. A termination message
only says which record to read, since users who may create pods can write any message and any label. A pod of several
trials says nothing about its attempts; the records of all of them are read.

`observe` takes note of pods in the reconcile that sees them. `settle` asks the store about those that have ended, in a
task of its own that a reconcile does not wait for.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TypeAlias, TypeVar

import structlog

from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, ScoredAttempt, TrialId, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.clock import utc_now
from opsgym_core.kube.client import Manifest
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.base import StoreError
from opsgym_core.store.mounted import BATCH, Stores
from opsgym_operator.observe.labels import LABEL_INDEX, LABEL_JOB_NAME
from opsgym_operator.observe.objects import parse_indexes
from opsgym_operator.observe.parse import (
    JobTrials,
    TerminationCause,
    job_finished,
    label,
    pod_ended,
    read_summary,
    termination_cause,
)
from opsgym_operator.state.stored_run import (
    EndedTrial,
    ReportedAttempt,
    StoredRun,
    close_attempts,
    ended_at,
    ended_attempts,
    read_begun,
    read_reported,
    read_running,
    read_scored,
)

log = structlog.get_logger(__name__)

CellTrial: TypeAlias = tuple[Cell, str, int]
"""Cell, task id and trial number."""

P = TypeVar("P")

MOST_ROWS = 2000
"""Rows that are kept of a run: a few megabytes."""
TOGETHER = 4
"""Trials of a pod that one call of the store reads: a call for each would take the event loop as long as the reading
takes the store's thread, and a call that reads many objects of a slow store is given up."""
SEVERAL_AT_ONCE = 4
"""Pods of several trials that are harvested at the same time: each has a few calls of the store."""
SPENDERS = 64
"""Running attempts whose spend one look reads: at five seconds between two looks, each of 500 every 40 s."""


@dataclass
class PodHarvester:
    """Harvests the pods of one run."""

    run: str
    """Name of the run in its store."""
    store: str
    """Name of the store."""
    ledger: AttemptLedger
    stores: Stores
    metrics: Metrics
    since: datetime
    """When this process started. Metrics count attempts that ended later; an earlier process counted the others."""
    now: Callable[[], datetime] = utc_now
    _pending: dict[str, Manifest] = field(default_factory=dict)
    """Pods that are not harvested yet, as last observed, by uid."""
    _pending_by_job: Counter[str] = field(default_factory=Counter)
    """Number of pods in `_pending`, by the name of their Job."""
    _ended: dict[str, Manifest] = field(default_factory=dict)
    """Those of `_pending` that have ended or vanished, by uid."""
    _harvested_pods: set[str] = field(default_factory=set)
    """Uids of harvested pods that still exist."""
    _harvested_indexes: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By the name of the Job: completion index of every harvested pod, and ended indexes without an observed pod."""
    _unobserved: list[tuple[str, int]] = field(default_factory=list)
    """Name of the Job and index of what ended while no operator ran, so that none of its pods was ever observed."""
    _trials_by_job: Mapping[str, JobTrials] = field(default_factory=dict)
    """Trials of each Job as last observed."""
    _suspended: bool = False
    """Whether the run is being stopped; attempts that then end without a report are recorded as cancelled."""
    _going: frozenset[str] = frozenset()
    """Names of the Jobs that are neither suspended nor deleted. Deleted pods of other Jobs were stopped with these,
    by the operator or Kueue, and their attempts are recorded as cancelled, too."""
    _unverified: list[tuple[TrialKeys, Cell]] = field(default_factory=list)
    """Scored trials whose verifiers are not in the metrics yet."""
    _open_attempts: dict[TrialId, AttemptRecord] = field(default_factory=dict)
    """Attempts that were open when the store was read and that are not closed yet, by trial."""
    _rows: dict[TrialId, ScoredAttempt] = field(default_factory=dict)
    """Rows of trials that their first attempt has scored, until the chunk of their Job takes them, so that the store is
    asked once for each. If there are too many, the oldest go and are read again."""
    _next_spender: int = 0
    """Position of the running trial whose spend is read next."""

    def load(self, stored: StoredRun) -> None:
        """Records the attempts of the store; called once, before any other method."""
        for attempt in stored.attempts:
            if ended_at(attempt) >= self.since:
                self.record(attempt)
            else:
                self.ledger.record(attempt, self.now())
            if attempt.outcome is None and isinstance(attempt, AttemptRecord):
                self._open_attempts[attempt.trial_id] = attempt

    def record(self, attempt: Attempt) -> None:
        """Records an attempt in the ledger, and counts it in the metrics if it has just ended."""
        key = attempt.trial_id
        if isinstance(attempt, TrialRecord) and attempt.attempt == 0:
            self._rows[key] = attempt.without_texts()
            if len(self._rows) > MOST_ROWS:
                del self._rows[next(iter(self._rows))]
        settled = self.ledger.is_settled(key)
        if not self.ledger.record(attempt, self.now(), live=True) or attempt.outcome is None:
            return
        self.metrics.count_attempt(attempt)
        newly_settled = self.ledger.is_settled(key) and not settled
        if newly_settled or attempt.outcome is Outcome.BUDGET_SKIPPED:
            self.metrics.count_trial(attempt.cell, attempt.outcome, attempt.reason)
        if attempt.outcome.scored:
            keys = RunKeys(self.run).trial(attempt.cell, attempt.task_id, attempt.trial)
            if isinstance(attempt, TrialRecord):
                self.metrics.count_verifiers(attempt.cell, attempt.verifiers)
            else:
                self._unverified.append((keys, attempt.cell))
        else:
            fields = {"run": self.run, "cell": attempt.cell.key, "task": attempt.task_id, "trial": attempt.trial}
            outcome, reason = attempt.outcome.value, attempt.reason
            log.info("attempt not scored", **fields, attempt=attempt.attempt, outcome=outcome, reason=reason)

    def take_rows(self, job_trials: JobTrials) -> list[ScoredAttempt]:
        """Rows that are kept of the trials of a Job; they are not kept any longer."""
        keys = (TrialId(job_trials.cell.key, ref.task_id, ref.trial) for ref in job_trials.trials)
        return [row for key in keys if (row := self._rows.pop(key, None)) is not None]

    def is_harvested(self, job: Manifest, pods: Iterable[Manifest]) -> bool:
        """Whether a Job has finished and the ledger holds how each of its pods ended; see `is_accounted`."""
        return job_finished(job) and self.is_accounted(job, pods)

    def is_accounted(self, job: Manifest, pods: Iterable[Manifest]) -> bool:
        """Whether all pods of a Job have ended and the ledger holds how.

        Args:
            job: The Job.
            pods: Its pods.
        """
        name = job["metadata"]["name"]
        return (
            not self._pending_by_job[name]
            and all(pod["metadata"]["uid"] in self._harvested_pods for pod in pods)
            and _ended_indexes(job) <= self._harvested_indexes.get(name, frozenset())
        )

    def observe(
        self,
        pods: Sequence[Manifest],
        jobs: Sequence[Manifest],
        trials_by_job: Mapping[str, JobTrials],
        *,
        suspended: bool,
    ) -> bool:
        """Takes note of the run's pods and of Jobs that have ended.

        Args:
            pods: All pods of the run's task Jobs.
            jobs: Its task Jobs.
            trials_by_job: Trials of each Job, by its name.
            suspended: Whether the run is being stopped; attempts of its pods are then recorded as cancelled.

        Returns:
            Whether the store has to be asked how some of them ended, see `settle`.
        """
        self._trials_by_job, self._suspended = trials_by_job, suspended
        self._going = frozenset(job["metadata"]["name"] for job in jobs if _is_going(job))
        present = {pod["metadata"]["uid"]: pod for pod in pods}
        self._harvested_pods &= present.keys()
        for uid in self._pending.keys() - present.keys():
            self._ended[uid] = self._pending[uid]
        for uid, pod in present.items():
            if uid not in self._harvested_pods and self._pending.get(uid) is not pod:
                self._pending_by_job[label(pod, LABEL_JOB_NAME)] += uid not in self._pending
                self._pending[uid] = pod
                if pod_ended(pod):
                    self._ended[uid] = pod
        self._forget_jobs(jobs, present.values())
        self._unobserved = list(self._unobserved_indexes(jobs))
        return bool(self._ended or self._unobserved or self._unverified or self._unattended())

    async def settle(self) -> bool:
        """Records how pods ended, as the store has it, and closes the attempts of those that left no report.

        Returns:
            Whether there were any.

        Raises:
            StoreError: The store cannot be read or written. The next call settles what remains.
        """
        ended, unobserved, unattended = list(self._ended.items()), list(self._unobserved), self._unattended()
        harvest = partial(self._harvest_pod, self._busy_trials())
        await self._call_each(harvest, [item for item in ended if len(self._trials(item[1])) <= 1])
        several = [item for item in ended if len(self._trials(item[1])) > 1]
        await self._call_each(harvest, several, SEVERAL_AT_ONCE)
        await self._call_each(self._finalize_index, unobserved)
        await self._call_each(self._finalize_open, unattended)
        await self._count_verifiers()
        return bool(ended or unobserved or unattended)

    async def record_running(self) -> bool:
        """Records what the attempts of some running pods have spent so far, and the results of pods that go on with
        further trials: of as many pods as one batch, in turn.

        Returns:
            Whether any has spent or scored more than was known.

        Raises:
            StoreError: The store cannot be read.
        """
        running = (pod for pod in self._pending.values() if pod["status"].get("phase") == "Running")
        played = [trials for pod in running if (trials := self._trials(pod))]
        first = self._next_spender % len(played) if played else 0
        turn = (played[first:] + played[:first])[:SPENDERS]
        self._next_spender = first + len(turn)
        known = self.ledger.spent, self.ledger.scored
        alone = [trials[0] for trials in turn if len(trials) == 1]
        keys = [self._keys(*trial).attempt(self.ledger.current_attempt(_id_of(trial))) for trial in alone]
        for record in await self.stores.call_each(self.store, read_running, keys):
            if record is not None and record.outcome is None:
                self.ledger.record(record)
        await self._call_each(self._record_begun, [self._unsettled(trials) for trials in turn if len(trials) > 1])
        return (self.ledger.spent, self.ledger.scored) != known

    async def _record_begun(self, trials: Sequence[TrialKeys]) -> None:
        """Records the attempts at trials that a pod plays in turn, up to the one that it is at."""
        for start in range(0, len(trials), TOGETHER):
            part = trials[start : start + TOGETHER]
            begun = await self.stores.call_promptly(self.store, read_begun, part)
            for attempt in begun:
                self.record(attempt)
            if len(begun) < len(part) or begun[-1].outcome is None:
                return

    def _unsettled(self, trials: Iterable[CellTrial]) -> list[TrialKeys]:
        return [self._keys(*trial) for trial in trials if not self.ledger.is_settled(_id_of(trial))]

    async def _harvest_pod(self, busy: Container[CellTrial], ended: tuple[str, Manifest]) -> None:
        """Records how an ended or vanished pod ended."""
        uid, pod = ended
        try:
            await self._record_end(pod, busy)
        except StoreError:
            # The next call begins with the others: this pod's record alone may be the one that cannot be read.
            self._ended.pop(uid, None)
            self._ended[uid] = pod
            raise
        self._finish(uid, pod)

    async def _record_end(self, pod: Manifest, busy: Container[CellTrial]) -> None:
        """Records how a pod ended; without its Job's spec nothing relates the pod to a trial."""
        trials = self._trials(pod)
        reported = await self._reported(pod, trials[0]) if len(trials) == 1 else None
        if reported is not None:
            self.record(reported)
        else:
            deleted = "deletionTimestamp" in pod["metadata"]
            counted = pod["status"].get("phase") == "Failed" and not deleted
            stopped = self._suspended or (deleted and _job_index(pod)[0] not in self._going)
            await self._finalize(trials, termination_cause(pod), busy, counted=counted, stopped=stopped)

    async def _reported(self, pod: Manifest, trial: CellTrial) -> Attempt | None:
        """The attempt that an ended pod reports, as the store has it; None if the store does not confirm the report."""
        summary = read_summary(pod) if pod_ended(pod) else None
        if summary is None or (summary.cell, summary.task_id, summary.trial) != trial:
            return None
        reported = ReportedAttempt(self._keys(*trial), summary)
        return await self.stores.call_promptly(self.store, read_reported, reported)

    def _forget_jobs(self, jobs: Iterable[Manifest], pods: Iterable[Manifest]) -> None:
        """Drops the indexes of Jobs that are gone with all their pods."""
        if gone := self._harvested_indexes.keys() - {job["metadata"]["name"] for job in jobs}:
            for name in gone - {label(pod, LABEL_JOB_NAME) for pod in pods}:
                del self._harvested_indexes[name]

    def _unobserved_indexes(self, jobs: Iterable[Manifest]) -> Iterator[tuple[str, int]]:
        for job in jobs:
            name = job["metadata"]["name"]
            if job_finished(job) and not self._pending_by_job[name] and name in self._trials_by_job:
                for index in _ended_indexes(job) - self._harvested_indexes[name]:
                    yield name, index

    def _busy_trials(self) -> set[CellTrial]:
        """Trials that pods work on."""
        working = (pod for uid, pod in self._pending.items() if uid not in self._ended)
        return {trial for pod in working for trial in self._trials(pod)}

    def _unattended(self) -> list[AttemptRecord]:
        """Attempts that were open when the store was read and that no pod works on."""
        if not self._open_attempts:
            return []
        busy = self._busy_trials()
        return [
            record for record in self._open_attempts.values() if (record.cell, record.task_id, record.trial) not in busy
        ]

    async def _call_each(
        self, operation: Callable[[P], Awaitable[None]], items: Sequence[P], at_once: int = BATCH
    ) -> None:
        """Runs an operation for each item, a batch at a time; after the first failure the others are cancelled."""
        for start in range(0, len(items), at_once):
            try:
                async with asyncio.TaskGroup() as group:
                    for item in items[start : start + at_once]:
                        group.create_task(_awaited(operation(item)))
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None

    async def _finalize_index(self, unobserved: tuple[str, int]) -> None:
        name, index = unobserved
        job_trials = self._trials_by_job.get(name)
        trials = _trials_of(job_trials, index) if job_trials is not None else []
        await self._finalize(trials, termination_cause(None), (), counted=True, stopped=self._suspended)
        self._harvested_indexes[name].add(index)

    async def _finalize_open(self, record: AttemptRecord) -> None:
        trial = record.cell, record.task_id, record.trial
        await self._finalize([trial], termination_cause(None), (), counted=False, stopped=self._suspended)
        self._open_attempts.pop(record.trial_id, None)

    async def _finalize(
        self,
        trials: Sequence[CellTrial],
        cause: TerminationCause,
        busy: Container[CellTrial],
        *,
        counted: bool,
        stopped: bool,
    ) -> None:
        """Records how the trials of a pod ended.

        Args:
            trials: They, in the order in which it played them.
            cause: Why the pod ended.
            busy: Trials that other pods work on.
            counted: Whether the Job controller counts the pod as a failure.
            stopped: Whether the pod was stopped on purpose.
        """
        if not trials:
            return
        outcome = Outcome.CANCELLED if stopped else Outcome.INFRA_ERROR
        ended = [
            EndedTrial(self.run, *trial, cause, outcome, alone=trial not in busy, counted=counted) for trial in trials
        ]
        parts = [ended[start : start + TOGETHER] for start in range(0, len(ended), TOGETHER)]
        closed = list(chain.from_iterable(await self.stores.call_each(self.store, close_attempts, parts)))
        for trial in closed:
            if trial.scored is not None:
                self.record(trial.scored)
        unscored, began = [trial for trial in closed if trial.scored is None], any(trial.own for trial in closed)
        for attempts in await self.stores.call_each(self.store, partial(ended_attempts, began=began), unscored):
            for attempt in attempts:
                self.record(attempt)

    async def _count_verifiers(self) -> None:
        while self._unverified:
            batch = self._unverified[:BATCH]
            records = await self.stores.call_each(self.store, read_scored, [keys for keys, _ in batch])
            del self._unverified[: len(batch)]
            for (_, cell), record in zip(batch, records, strict=True):
                if record is not None:
                    self.metrics.count_verifiers(cell, record.verifiers)

    def _keys(self, cell: Cell, task_id: str, trial: int) -> TrialKeys:
        return RunKeys(self.run).trial(cell, task_id, trial)

    def _trials(self, pod: Manifest) -> list[CellTrial]:
        """The trials that a pod plays; empty if its Job's spec is gone."""
        job, index = _job_index(pod)
        return _trials_of(self._trials_by_job[job], index) if job in self._trials_by_job else []

    def _finish(self, uid: str, pod: Manifest) -> None:
        job, index = _job_index(pod)
        self._harvested_pods.add(uid)
        self._ended.pop(uid, None)
        if self._pending.pop(uid, None) is not None:
            self._pending_by_job[job] -= 1
            if not self._pending_by_job[job]:
                del self._pending_by_job[job]
        self._harvested_indexes[job].add(index)


async def _awaited(call: Awaitable[None]) -> None:
    await call


def _id_of(trial: CellTrial) -> TrialId:
    cell, task_id, number = trial
    return TrialId(cell.key, task_id, number)


def _job_index(pod: Manifest) -> tuple[str, int]:
    """Name of a pod's Job and its completion index; -1 if the pod has none."""
    index = label(pod, LABEL_INDEX)
    return label(pod, LABEL_JOB_NAME), int(index) if index.isdigit() else -1


def _trials_of(job_trials: JobTrials, index: int) -> list[CellTrial]:
    return [(job_trials.cell, ref.task_id, ref.trial) for ref in job_trials.at(index)]


def _is_going(job: Manifest) -> bool:
    """Whether a Job may have pods, as far as the operator and Kueue say."""
    return not job["spec"].get("suspend") and "deletionTimestamp" not in job["metadata"]


def _ended_indexes(job: Manifest) -> frozenset[int]:
    """Indexes of a Job that have succeeded or used up their retries."""
    status = job["status"]
    return parse_indexes(status.get("completedIndexes", "")) | parse_indexes(status.get("failedIndexes", ""))
