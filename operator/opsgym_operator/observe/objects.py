"""What the operator has observed of one namespace: the input of a plan.

Invariant: everything is parsed; what could not be parsed is here as a problem, never left out. Objects that the
operator itself has created, changed or deleted are included as such even before the watch reports them: plans depend on
that when they number Jobs and allocate slots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from opsgym_api.errors import Problem
from opsgym_api.jobs.job_spec import PreflightReport, TrialRef
from opsgym_api.kinds.evalmodel import EvalModel, ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, EvalRunStatus
from opsgym_api.records.attempt import Cell, TrialId
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import Control, RunRecord
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.gates.judge import Baseline
from opsgym_core.notifications.webhook import DeliveryResult
from opsgym_operator.observe.pod_groups import PodGroup, pod_groups_of


@dataclass(frozen=True)
class ContainerError:
    """Why a container of a pod does not start; the kubelet keeps trying."""

    reason: str
    """Reason of the container's waiting state, for instance `ImagePullBackOff` or `CreateContainerConfigError`."""
    message: str
    """Message of the kubelet."""
    image: str = ""
    """Image of the container."""


@dataclass(frozen=True)
class ObservedPod:
    """A pod of a Job that the operator created, which has not ended."""

    name: str
    job: str
    """Name of its Job."""
    run_uid: str
    """Uid of its EvalRun, which may be deleted."""
    eval_model: str = ""
    """EvalModel whose slot it takes; empty for a model that is declared inline."""
    model: str = ""
    """Name of the model in its run; empty for a preflight."""
    running: bool = False
    """Whether its phase is Running."""
    container_error: ContainerError | None = None
    """None if all its containers start, or it is being deleted."""
    unschedulable_since: datetime | None = None
    """Time since which no node has room for it; None if one had, the scheduler has not tried yet, or it is being
    deleted."""
    unschedulable_message: str = ""
    """Message of the scheduler."""
    starting_since: datetime | None = None
    """When it got its node, or was created if no scheduler has looked at it; None once its containers run, or while it
    is deleted."""
    unscheduled: bool = False
    """Whether no scheduler has looked at it."""
    sandbox_missing: bool = False
    """Whether its node has not set up its network and volumes."""
    delete_by: datetime | None = None
    """When it should have been gone, grace period included; None if it is not being deleted."""
    node_lost_since: datetime | None = None
    """Since when its node has not reported to Kubernetes; None if it does."""
    containers_ended_at: datetime | None = None
    """When its containers besides sidecars had ended; None if one has not, or its phase says so already."""
    host: str = ""
    """Address of its node."""
    image_ids: tuple[tuple[str, str], ...] = ()
    """Name and id of each image that its node runs: `runner`, `domains`, or the container that has an own image."""


class ChunkState(StrEnum):
    """State of the chunk of a Job: the object that repeats the records of its trials."""

    DUE = "due"
    """It is written once the Job is harvested."""
    IN_PROGRESS = "in progress"
    WRITTEN = "written"
    """The store has it, so that the Job's number is known to every later operator."""
    GIVEN_UP = "given up"
    """It cannot be written; single records are read instead."""


@dataclass(frozen=True)
class ObservedJob:
    """A task Job."""

    name: str
    run_uid: str
    """Uid of its EvalRun, which may be deleted."""
    cell: str
    """Key of its cell."""
    eval_model: str
    """EvalModel whose slots it takes; empty for a model that is declared inline."""
    model: str
    """Name of the model in its run."""
    trials: tuple[TrialRef, ...]
    """In the order of completion indexes, from its ConfigMap; empty if that is gone."""
    parallelism: int
    completions: int
    per_pod: int = 1
    """Trials of one completion index."""
    active: int = 0
    """Pods that are pending or running."""
    terminating: int = 0
    """Pods that are being deleted."""
    completed: frozenset[int] = frozenset()
    """Indexes that have succeeded."""
    failed: frozenset[int] = frozenset()
    """Indexes that have used up their retries."""
    suspended: bool = False
    """`spec.suspend`."""
    queued: bool = False
    """Whether Kueue decides when it runs."""
    started_at: datetime | None = None
    """`status.startTime`: time since which it may have pods."""
    last_pod_at: datetime | None = None
    """When the last of its observed pods ended; None if none has."""
    pods_failed: bool = False
    """Whether a pod of it failed, after which the Job controller waits before it makes another."""
    finished: bool = False
    """Whether it has condition Complete or Failed."""
    deleting: bool = False
    """Whether it has a deletion timestamp."""
    finished_at: datetime | None = None
    """When it finished; None if it has not."""
    harvested: bool = False
    """Whether it has finished and the ledger holds how each of its pods ended."""
    chunk: ChunkState = ChunkState.DUE
    """Whether the records of its trials are in a chunk."""
    waiting_since: datetime | None = None
    """Time since which it has no pod and Kueue has not admitted it; None if it is admitted, or not Kueue's."""
    version: str = ""
    """Resource version."""

    @cached_property
    def trial_ids(self) -> frozenset[TrialId]:
        """Its trials."""
        return frozenset(TrialId(self.cell, ref.task_id, ref.trial) for ref in self.trials)

    @property
    def remaining(self) -> int:
        """Indexes that may still start pods, or have one."""
        return 0 if self.finished else self.completions - len(self.completed) - len(self.failed)

    def slots(self, pods: int) -> int:
        """Pods that the Job may have at any moment until it is changed.

        Args:
            pods: Its observed pods that have not ended.
        """
        if self.finished:
            return pods
        existing = max(self.active + self.terminating, pods)
        if self.deleting or (self.suspended and not self.queued):
            return existing
        # A Job that was just resumed may have more pods that still end than it may start.
        return max(min(self.parallelism, self.remaining), existing)


@dataclass(frozen=True)
class ObservedPreflight:
    """A preflight Job."""

    name: str
    started_at: datetime | None = None
    """`status.startTime`."""
    finished_at: datetime | None = None
    """When its pod ended; None if it has not."""
    report: PreflightReport | None = None
    """Report of its pod; None if the pod has not ended, or ended without one."""
    failure: str = ""
    """What is known of a pod that ended without a report: exit code, reason, message."""
    evicted: bool = False
    """Whether its pod was evicted or deleted, or its node was lost, before it ended by itself."""
    image_ids: Mapping[str, str] = field(default_factory=dict)
    """Ids of the images that its pod ran, `runner` and `domains`, as its node reported them."""
    deleting: bool = False


@dataclass(frozen=True)
class StoredState:
    """What the store holds of a run. Derived values are cached in it: reuse the object while it is valid."""

    record: RunRecord | None = None
    """`run.json`; the run is frozen once it exists."""
    index: SuiteIndex | None = None
    """Index of the suite as the last preflight froze it."""
    control: Control | None = None
    """`control.json`, the start gate; None if it does not exist."""
    gate: GateRecord | None = None
    """`gate.json`, the verdict when the run last ended; None if it does not exist."""
    ledger: AttemptLedger = field(default_factory=lambda: AttemptLedger(0))
    """Attempts, with the retries that `limits.infraRetries` of the spec allows."""

    @cached_property
    def pod_groups(self) -> tuple[PodGroup, ...]:
        """The run's trials by pod template; empty before it is frozen."""
        return pod_groups_of(self.record, self.index) if self.record and self.index else ()

    @cached_property
    def cells(self) -> Mapping[str, int]:
        """Trials by cell key; empty before it is frozen."""
        return {cell.key: trials for cell, trials in planned_trials(self.record).items()}

    @cached_property
    def models(self) -> Mapping[str, ModelSpec]:
        """The run's frozen models, by their names in the run.

        Raises:
            pydantic.ValidationError: The frozen spec is of a version that this one cannot read.
        """
        if self.record is None:
            return {}
        spec = EvalRunSpec.model_validate(self.record.spec, extra="ignore")
        return {entry.name: entry.inline for entry in spec.all_models if entry.inline is not None}


@dataclass(frozen=True)
class ObservedRun:
    """An EvalRun."""

    name: str
    uid: str
    namespace: str
    generation: int
    created_at: datetime
    spec: EvalRunSpec | None
    """None if it is invalid; `problems` then lists why."""
    problems: tuple[Problem, ...] = ()
    invalid_suspend: bool = False
    """`spec.suspend` of an invalid spec."""
    status: EvalRunStatus = field(default_factory=EvalRunStatus)
    """As last written; empty if it is invalid."""
    deleting: bool = False
    stored: StoredState | None = None
    """None until it is read; see `Load.STORED_RUN`."""
    store_error: str = ""
    """Why the last access to the store failed; empty if it succeeded."""
    store_error_s: float = 0.0
    """Seconds for which every access to the store has failed."""
    withdrawn_at: datetime | None = None
    """When Jobs of it last left their queue to free slots; None if none has since the operator started."""
    refusal: str = ""
    """Why the API server refused to create or change an object of the run; empty if it did not."""
    pod_refusals: Mapping[str, str] = field(default_factory=dict)
    """Why the Job controller could not create a pod, in the API server's words, by Job, and why a node could not set up
    a pod, in the kubelet's words, by pod; read once a Job lacks pods, or a pod network or volumes."""
    preflights: tuple[ObservedPreflight, ...] = ()
    config_maps: frozenset[str] = frozenset()
    """Names of its ConfigMaps, those of preflights included."""
    next_numbers: Mapping[str, int] = field(default_factory=dict)
    """By the prefix of the names of a cell's Jobs: the number that follows those that were used, also by Jobs that are
    gone."""
    baseline: Baseline | Problem | None = None
    """The run that the gate compares with, or why there is none; None until it is read, see `Load.BASELINE`."""
    schedule: str = ""
    """EvalSchedule that created it; empty if none did."""
    deliveries: tuple[DeliveryResult, ...] = ()
    """Result of the last attempt to send each of its notifications."""

    @property
    def id(self) -> str:
        """Name of the run in its store."""
        return f"{self.namespace}.{self.name}.{self.uid}"

    @property
    def suspend(self) -> bool:
        """`spec.suspend`, also of a spec that is otherwise invalid."""
        return self.spec.suspend if self.spec is not None else self.invalid_suspend


@dataclass(frozen=True)
class ObservedNamespace:
    """Everything of one namespace that plans depend on."""

    runs: tuple[ObservedRun, ...] = ()
    jobs: tuple[ObservedJob, ...] = ()
    """Task Jobs, those of deleted EvalRuns included, because they hold slots."""
    pods: tuple[ObservedPod, ...] = ()
    """Pods of task Jobs and preflight Jobs that have not ended."""
    models: Mapping[str, EvalModel] = field(default_factory=dict)
    broken_models: Mapping[str, str] = field(default_factory=dict)
    """Problems of the EvalModels that are invalid, by name."""
    queues: frozenset[str] | None = None
    """Kueue LocalQueues; None if Kueue is not installed, or they cannot be listed."""
    priority_classes: frozenset[str] | None = None
    """Kueue's WorkloadPriorityClasses; None if no run names one, or they cannot be listed."""
    queue_problem: str = ""
    """Why the API server refuses to list LocalQueues; empty if it does not."""

    @cached_property
    def runs_by_uid(self) -> Mapping[str, ObservedRun]:
        """EvalRuns by uid."""
        return {run.uid: run for run in self.runs}

    @cached_property
    def jobs_by_run(self) -> Mapping[str, Sequence[ObservedJob]]:
        """Task Jobs by the uid of their run."""
        return _by_run(self.jobs)

    @cached_property
    def pods_by_run(self) -> Mapping[str, Sequence[ObservedPod]]:
        """Pods by the uid of their run."""
        return _by_run(self.pods)


_Item = TypeVar("_Item", ObservedJob, ObservedPod)


def _by_run(items: Iterable[_Item]) -> dict[str, list[_Item]]:
    by_run: defaultdict[str, list[_Item]] = defaultdict(list)
    for item in items:
        by_run[item.run_uid].append(item)
    return dict(by_run)


def planned_trials(record: RunRecord | None) -> dict[Cell, int]:
    """Number of trials of each cell; empty before a run is frozen."""
    if record is None:
        return {}
    return {planned.cell: len(planned.task_ids) * record.trials for planned in record.cells}


def parse_indexes(text: str) -> frozenset[int]:
    """Indexes in the form of a Job's status: `0,2-5,9`."""
    indexes: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        indexes.update(range(int(first), int(last or first) + 1))
    return frozenset(indexes)
