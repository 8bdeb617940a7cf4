"""What a plan wants done for one EvalRun, as values; `controller` has manifests built of them and applies them.

Invariant: applying a `Desired` twice has the effect of applying it once. What it writes to the store comes first, then
patches and deletions, then new objects, then the status; whatever fails is left to the next plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from opsgym_api.jobs.job_spec import TrialRef, pods_for
from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, EvalRunStatus, NotificationStatus
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_api.records.gate import GateRecord, LookRecord
from opsgym_api.records.run import Control, RunRecord
from opsgym_core.notifications.webhook import WebhookRequest
from opsgym_core.store.mounted import StoreConfig


class Load(StrEnum):
    """Data that has to be read from the store before planning can continue."""

    STORED_RUN = "stored_run"
    """Everything of the run: `run.json`, suite index, `control.json`, all attempts."""
    SUITE_INDEX = "suite_index"
    """The suite index again, after a preflight has written it."""
    FIGURES = "figures"
    """Figures of a run that finished before the operator started; used for metrics only."""
    BASELINE = "baseline"
    """The run that the gate compares with; see `opsgym_core.gates.baseline`."""


@dataclass(frozen=True)
class ResolvedSpec:
    """The spec of an EvalRun with its references resolved."""

    spec: EvalRunSpec
    models: Mapping[str, ModelSpec]
    """Models by their name in the run; those of `run.json` once the run is frozen, none while that is not read."""
    store: StoreConfig


@dataclass(frozen=True)
class TaskJob:
    """A task Job to create: one chunk of a pod group's trials."""

    name: str
    cell: Cell
    gyms: tuple[str, ...]
    """Domains of the pod's gym servers, in the order in which they start."""
    trials: tuple[TrialRef, ...]
    """In the order of completion indexes."""
    parallelism: int
    retries: int
    """Further attempts of each index after the first."""
    eval_model: str
    """EvalModel whose slots the Job takes; empty for a model that is declared inline."""
    resolved: ResolvedSpec
    per_pod: int = 1
    """Trials of one completion index."""

    @property
    def completions(self) -> int:
        """Number of completion indexes."""
        return pods_for(len(self.trials), self.per_pod)


@dataclass(frozen=True)
class PreflightJob:
    """A preflight Job to create."""

    name: str
    resolved: ResolvedSpec
    with_config_map: bool = True
    """False if the ConfigMap of that name exists already."""


NewJob: TypeAlias = TaskJob | PreflightJob


@dataclass(frozen=True)
class JobPatch:
    """A change of a Job's spec; None leaves a field as it is."""

    name: str
    parallelism: int | None = None
    suspend: bool | None = None


@dataclass(frozen=True)
class ObjectRef:
    """An object of the run's namespace."""

    kind: Literal["Job", "ConfigMap", "EvalRun"]
    name: str
    uid: str = ""
    """Uid of the object that was planned with; empty for the one that was seen last."""
    version: str = ""
    """Resource version of a Job that is deleted only if nothing has changed it since; empty for any."""


@dataclass(frozen=True)
class Event:
    """A Kubernetes Event, recorded once when it happens."""

    kind: Literal["Normal", "Warning"]
    reason: str
    message: str
    series: bool = False
    """Whether all events of this reason about a run are one Event with the latest message, written now and then."""


@dataclass(frozen=True)
class Desired:
    """What should be done for an EvalRun now."""

    freeze: RunRecord | None = None
    """`run.json` to put once; the next plan counts on it."""
    control: Control | None = None
    """`control.json` to write."""
    records: tuple[AttemptRecord, ...] = ()
    """Attempt records that no pod will write, to be put into the store and noted in the ledger."""
    look: LookRecord | None = None
    """A look to put once; the next plan counts on the one in the store."""
    gate: GateRecord | None = None
    """`gate.json` to write; the next plan counts on it."""
    create: tuple[NewJob, ...] = ()
    """Jobs to create, each after its ConfigMap; an object that exists already is a success."""
    patches: tuple[JobPatch, ...] = ()
    delete: tuple[ObjectRef, ...] = ()
    """Objects to delete in the background, with their dependents; an object that is gone is a success."""
    withdrawn: bool = False
    """Whether Jobs among them leave their queue."""
    status: EvalRunStatus | None = None
    """Status to write; None if the current one is up to date."""
    events: tuple[Event, ...] = ()
    send: tuple[WebhookRequest, ...] = ()
    """Notifications to send, once the status that lists them is written."""
    settled_notifications: tuple[NotificationStatus, ...] = ()
    """Notifications that this status reports as sent or failed for the first time."""
    loads: frozenset[Load] = frozenset()
    """Data to read before the next plan."""
    requeue_after_s: float | None = None
    """Seconds until the next plan at the latest; None if only a change calls for one."""
    fault: Exception | None = None
    """Fault of the operator that kept it from planning this run; None if it was planned."""
