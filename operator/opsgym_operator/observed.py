"""What the operator has seen of one namespace, in the words of the plan.

Invariant: whoever fills this in has parsed everything; what could not be read is here as a problem, never left out.
Objects that the operator itself has created, changed or deleted are seen as such from then on, also while the watch has
not told of them yet: the plan counts on that when it numbers Jobs and hands out slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from opsgym_api.errors import Problem
from opsgym_api.evalmodel import EvalModel, ModelSpec
from opsgym_api.evalrun import EvalRunSpec, EvalRunStatus
from opsgym_api.gate import Baseline
from opsgym_api.orders import PreflightReport, SuiteIndex, TrialRef
from opsgym_api.records import Cell, Control, GateRecord, RunRecord
from opsgym_operator.book import Book
from opsgym_operator.desired import Delivery
from opsgym_operator.lanes import Lane, lanes_of


@dataclass(frozen=True)
class PodTrouble:
    """Why a container of a pod does not start; kubelet goes on trying."""

    reason: str
    """Of the container's waiting state, for instance `ImagePullBackOff` or `CreateContainerConfigError`."""
    message: str
    """What the kubelet says."""
    image: str = ""
    """Image of the container."""


@dataclass(frozen=True)
class ObservedPod:
    """A pod of a Job of ours that has not ended."""

    name: str
    job: str
    """Name of its Job, from the label `batch.kubernetes.io/job-name`."""
    run_uid: str
    """Of its EvalRun, which may be gone."""
    eval_model: str = ""
    """EvalModel whose slot it takes; empty for a model that its run writes out."""
    model: str = ""
    """Name of the model in its run; empty for a preflight."""
    running: bool = False
    """Phase Running."""
    trouble: PodTrouble | None = None
    unschedulable_since: datetime | None = None
    """Since when no node has room for it; None if one had, or nobody has looked yet."""
    unschedulable_message: str = ""
    """What the scheduler says."""


@dataclass(frozen=True)
class ObservedJob:
    """A task Job of ours."""

    name: str
    run_uid: str
    """Of its EvalRun, which may be gone."""
    cell: str
    """Key of its cell."""
    eval_model: str
    """EvalModel whose slots it takes; empty for a model that its run writes out."""
    model: str
    """Name of the model in its run."""
    trials: tuple[TrialRef, ...]
    """By completion index, from its order; empty if the order is gone."""
    parallelism: int
    completions: int
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
    """`status.startTime`: since when it may have pods."""
    finished: bool = False
    """Condition Complete or Failed."""
    deleting: bool = False
    """Has a deletion timestamp."""
    harvested: bool = False
    """It has finished, and the book holds how each of its pods ended."""

    @property
    def remaining(self) -> int:
        """Indexes that may still start pods, or have one."""
        return 0 if self.finished else self.completions - len(self.completed) - len(self.failed)


@dataclass(frozen=True)
class ObservedPreflight:
    """A preflight Job of ours."""

    name: str
    started_at: datetime | None = None
    """`status.startTime`."""
    finished_at: datetime | None = None
    """When its pod ended; None while it has not."""
    report: PreflightReport | None = None
    """What its pod found; None if it has not ended, or ended without saying."""
    failure: str = ""
    """What is known of a pod that ended without a report: exit code, reason, message."""
    deleting: bool = False


@dataclass(frozen=True)
class Stored:
    """What the run's store holds of it. What is worked out from that is kept here too: reuse it while it holds."""

    record: RunRecord | None = None
    """`run.json`; from then on the run is frozen."""
    index: SuiteIndex | None = None
    """Of the suite, as the last preflight froze it."""
    control: Control | None = None
    """The gate as it stands; None if there is no such file."""
    gate: GateRecord | None = None
    """What the gate said when the run last ended; None if there is no such file."""
    book: Book = field(default_factory=lambda: Book(0))
    """Attempts; made with the spec's `limits.infraRetries`."""

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """The run's trials; empty before it is frozen."""
        return lanes_of(self.record, self.index) if self.record and self.index else ()

    @cached_property
    def cells(self) -> Mapping[str, int]:
        """Trials by cell key; empty before it is frozen."""
        return {cell.key: trials for cell, trials in planned_trials(self.record).items()}

    @cached_property
    def models(self) -> Mapping[str, ModelSpec]:
        """The run's models as they were frozen, by their names in the run."""
        if self.record is None:
            return {}
        spec = EvalRunSpec.model_validate(self.record.spec)
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
    """None if it cannot be read; `problems` then says why."""
    problems: tuple[Problem, ...] = ()
    status: EvalRunStatus = field(default_factory=EvalRunStatus)
    """As last written; empty if it cannot be read."""
    deleting: bool = False
    stored: Stored | None = None
    """None until it was read; see `Need.STORED`."""
    store_trouble: str = ""
    """Why the store could not be read or written just now; empty if it could."""
    preflights: tuple[ObservedPreflight, ...] = ()
    orders: frozenset[str] = frozenset()
    """Names of its ConfigMaps, those of preflights included."""
    baseline: Baseline | Problem | None = None
    """What the gate compares with, or why there is no such run; None until it was read, see `Need.BASELINE`."""
    schedule: str = ""
    """EvalSchedule that made it; empty for a run that somebody made."""
    deliveries: tuple[Delivery, ...] = ()
    """How attempts to send its notices ended, the last one of each."""

    @property
    def id(self) -> str:
        """Name of the run in its store."""
        return f"{self.namespace}.{self.name}.{self.uid}"


@dataclass(frozen=True)
class ObservedNamespace:
    """Everything of one namespace that plans depend on."""

    runs: tuple[ObservedRun, ...] = ()
    jobs: tuple[ObservedJob, ...] = ()
    """Task Jobs, those of EvalRuns that are gone included: they still take slots."""
    pods: tuple[ObservedPod, ...] = ()
    """Pods that have not ended, of task Jobs and preflight Jobs."""
    models: Mapping[str, EvalModel] = field(default_factory=dict)
    broken_models: Mapping[str, str] = field(default_factory=dict)
    """EvalModels that cannot be read, with what is wrong."""
    queues: frozenset[str] | None = None
    """Kueue LocalQueues; None if Kueue is not installed."""


def planned_trials(record: RunRecord | None) -> dict[Cell, int]:
    """Trials of each cell; none before a run is frozen."""
    if record is None:
        return {}
    return {planned.cell: len(planned.task_ids) * record.trials for planned in record.cells}


def parse_indexes(text: str) -> frozenset[int]:
    """Indexes as a Job's status writes them: `0,2-5,9`."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
