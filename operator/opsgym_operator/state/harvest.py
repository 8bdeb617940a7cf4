"""Harvests the pods of one run: takes the results of pods that ended into the ledger, the store and the metrics.

Invariant: every pod is recorded once, from the store; it counts as harvested only after that. A termination message
only says which record to read, since users who may create pods can write any message and any label.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias, TypeVar

import structlog

from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, TrialId, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.common.clock import utc_now
from opsgym_core.kube.client import Manifest
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import Stores
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
    ReportedAttempt,
    StoredRun,
    TerminatedPod,
    ended_at,
    finalize,
    read_latest_attempt,
    read_reported,
    read_trial,
)

log = structlog.get_logger(__name__)

CellTrial: TypeAlias = tuple[Cell, str, int]
"""Cell, task id and trial number."""

P = TypeVar("P")
R = TypeVar("R")


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
    _harvested_pods: set[str] = field(default_factory=set)
    """Uids of harvested pods that still exist."""
    _harvested_indexes: set[tuple[str, int]] = field(default_factory=set)
    """Name of the Job and completion index of every harvested pod, and of ended indexes without an observed pod."""
    _unverified: list[tuple[TrialKeys, Cell]] = field(default_factory=list)
    """Scored trials whose verifiers are not in the metrics yet."""
    _open_attempts: dict[TrialId, AttemptRecord] = field(default_factory=dict)
    """Attempts that were open when the store was read and that are not closed yet, by trial."""

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
        settled = self.ledger.is_settled(key)
        if not self.ledger.record(attempt, self.now()) or attempt.outcome is None:
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

    def is_harvested(self, job: Manifest, pods: Iterable[Manifest]) -> bool:
        """Whether a Job has finished and the ledger holds how each of its pods ended.

        Args:
            job: The Job.
            pods: Its run's pods.
        """
        name = job["metadata"]["name"]
        uids = (pod["metadata"]["uid"] for pod in pods if label(pod, LABEL_JOB_NAME) == name)
        return (
            job_finished(job)
            and all(uid in self._harvested_pods for uid in uids)
            and not self._pending_by_job[name]
            and all((name, index) in self._harvested_indexes for index in _ended_indexes(job))
        )

    async def harvest(
        self,
        pods: Sequence[Manifest],
        jobs: Sequence[Manifest],
        trials_by_job: Mapping[str, JobTrials],
        *,
        suspended: bool,
    ) -> None:
        """Harvests every pod that has ended or vanished since the last call.

        Args:
            pods: All pods of the run's task Jobs.
            jobs: Its task Jobs.
            trials_by_job: Trials of each Job, by its name.
            suspended: Whether the run is being stopped; the attempts of its pods are then recorded as cancelled.

        Raises:
            StoreError: The store cannot be read or written. The next call harvests the remaining pods.
        """
        present = {pod["metadata"]["uid"]: pod for pod in pods}
        self._harvested_pods &= present.keys()
        for uid, pod in present.items():
            if uid not in self._harvested_pods:
                self._pending_by_job[label(pod, LABEL_JOB_NAME)] += uid not in self._pending
                self._pending[uid] = pod
        ended = {uid: pod for uid, pod in self._pending.items() if uid not in present or pod_ended(pod)}
        busy = {self._trial(pod, trials_by_job) for uid, pod in self._pending.items() if uid not in ended}
        await asyncio.gather(
            *(self._harvest_pod(uid, pod, trials_by_job, busy, suspended=suspended) for uid, pod in ended.items())
        )
        await self._finalize_unobserved(jobs, trials_by_job, suspended=suspended)
        await self._finalize_open(busy, suspended=suspended)
        await self._count_verifiers()

    async def record_spend(self, trials_by_job: Mapping[str, JobTrials]) -> None:
        """Records what the running attempts have spent so far.

        Raises:
            StoreError: The store cannot be read.
        """
        running = (pod for pod in self._pending.values() if pod["status"].get("phase") == "Running")
        trials = [trial for pod in running if (trial := self._trial(pod, trials_by_job)) is not None]
        for record in await asyncio.gather(*(self._call(read_latest_attempt, self._keys(*trial)) for trial in trials)):
            if record is not None and record.outcome is None:
                self.ledger.record(record)

    async def _harvest_pod(
        self,
        uid: str,
        pod: Manifest,
        trials_by_job: Mapping[str, JobTrials],
        busy: Container[CellTrial | None],
        *,
        suspended: bool,
    ) -> None:
        trial = self._trial(pod, trials_by_job)
        reported = await self._reported(pod, trial) if trial is not None else None
        if reported is not None:
            self.record(reported)
        elif trial is not None:
            counted = pod["status"].get("phase") == "Failed" and "deletionTimestamp" not in pod["metadata"]
            await self._finalize(
                trial, termination_cause(pod), alone=trial not in busy, counted=counted, suspended=suspended
            )
        # Without its Job's spec nothing relates the pod to a trial.
        self._finish(uid, pod)

    async def _reported(self, pod: Manifest, trial: CellTrial) -> Attempt | None:
        """The attempt that an ended pod reports, as the store has it; None if the store does not confirm the report."""
        summary = read_summary(pod) if pod_ended(pod) else None
        if summary is None or (summary.cell, summary.task_id, summary.trial) != trial:
            return None
        return await self._call(read_reported, ReportedAttempt(self._keys(*trial), summary))

    async def _finalize_unobserved(
        self, jobs: Iterable[Manifest], trials_by_job: Mapping[str, JobTrials], *, suspended: bool
    ) -> None:
        """Finalizes indexes that ended while no operator ran, so that none of their pods was ever observed."""
        observed = {_job_index(pod) for pod in self._pending.values()}
        for job in jobs:
            name = job["metadata"]["name"]
            if not job_finished(job) or name not in trials_by_job:
                continue
            for index in _ended_indexes(job):
                if (name, index) not in observed and (name, index) not in self._harvested_indexes:
                    trial = _trial_of(trials_by_job[name], index)
                    if trial is not None:
                        await self._finalize(
                            trial, termination_cause(None), alone=True, counted=True, suspended=suspended
                        )
                    self._harvested_indexes.add((name, index))

    async def _finalize_open(self, busy: Container[CellTrial | None], *, suspended: bool) -> None:
        """Closes attempts that were open when the store was read and that no pod works on."""
        for key, record in list(self._open_attempts.items()):
            trial = record.cell, record.task_id, record.trial
            if trial not in busy:
                await self._finalize(trial, termination_cause(None), alone=True, counted=False, suspended=suspended)
                del self._open_attempts[key]

    async def _finalize(
        self, trial: CellTrial, cause: TerminationCause, *, alone: bool, counted: bool, suspended: bool
    ) -> None:
        cell, task_id, number = trial
        outcome = Outcome.CANCELLED if suspended else Outcome.INFRA_ERROR
        pod = TerminatedPod(self.run, cell, task_id, number, cause, outcome, alone=alone, counted=counted)
        for record in await self._call(finalize, pod):
            self.record(record)

    async def _count_verifiers(self) -> None:
        unverified, self._unverified = self._unverified, []
        try:
            records = await asyncio.gather(*(self._call(read_trial, keys) for keys, _ in unverified))
        except StoreError:
            self._unverified += unverified
            raise
        for (_, cell), record in zip(unverified, records, strict=True):
            if record is not None:
                self.metrics.count_verifiers(cell, record.verifiers)

    async def _call(self, operation: Callable[[Store, P], R], argument: P) -> R:
        return await self.stores.call(self.store, operation, argument)

    def _keys(self, cell: Cell, task_id: str, trial: int) -> TrialKeys:
        return RunKeys(self.run).trial(cell, task_id, trial)

    def _trial(self, pod: Manifest, trials_by_job: Mapping[str, JobTrials]) -> CellTrial | None:
        """The trial that a pod runs; None if its Job's spec is gone."""
        job, index = _job_index(pod)
        return _trial_of(trials_by_job[job], index) if job in trials_by_job else None

    def _finish(self, uid: str, pod: Manifest) -> None:
        self._harvested_pods.add(uid)
        if self._pending.pop(uid, None) is not None:
            self._pending_by_job[label(pod, LABEL_JOB_NAME)] -= 1
        self._harvested_indexes.add(_job_index(pod))


def _job_index(pod: Manifest) -> tuple[str, int]:
    """Name of a pod's Job and its completion index; -1 if the pod has none."""
    index = label(pod, LABEL_INDEX)
    return label(pod, LABEL_JOB_NAME), int(index) if index.isdigit() else -1


def _trial_of(job_trials: JobTrials, index: int) -> CellTrial | None:
    if not 0 <= index < len(job_trials.trials):
        return None
    ref = job_trials.trials[index]
    return job_trials.cell, ref.task_id, ref.trial


def _ended_indexes(job: Manifest) -> frozenset[int]:
    """Indexes of a Job that have succeeded or used up their retries."""
    status = job["status"]
    return parse_indexes(status.get("completedIndexes", "")) | parse_indexes(status.get("failedIndexes", ""))
