"""Status of an EvalRun.

Invariant: status is written for users and for `kubectl wait`: conditions describe the current state, the reason is one
of `Reason`, and the message names what to fix. The time of a condition changes only with its status, and conditions of
other controllers stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from opsgym_api.kinds.evalrun import Condition, EvalRunStatus
from opsgym_api.records.gate import Verdict
from opsgym_core.accounting.tally import Tally
from opsgym_core.common.numbers import dollars, percent
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.observe.parse import condition_of
from opsgym_operator.plan.desired import Event

LONGEST_MESSAGE = 2000
"""Characters of a condition's message; a status is read in a terminal."""


class Reason(StrEnum):
    """Reason of a condition."""

    VALID = "Valid"
    """The spec can run in this cluster."""
    INVALID_SPEC = "InvalidSpec"
    """The spec is invalid."""
    NOT_IN_CLUSTER = "NotInCluster"
    """The spec names a local file, command or environment variable, which only local mode supports."""
    MODEL_NOT_FOUND = "ModelNotFound"
    """A ref names an unknown EvalModel."""
    MODEL_INVALID = "ModelInvalid"
    """A ref names an invalid EvalModel."""
    STORE_NOT_FOUND = "StoreNotFound"
    """The spec names an unknown store."""
    SUITE_NOT_ALLOWED = "SuiteNotAllowed"
    """The suite lies in a part of a shared store that the namespace may not read."""
    POD_PROFILE_NOT_FOUND = "PodProfileNotFound"
    """The spec names a pod profile that the namespace does not have."""
    PODS_NOT_ALLOWED = "PodsNotAllowed"
    """The spec sets labels or annotations of pods that the installation does not allow."""
    CREDENTIALS_NOT_ALLOWED = "CredentialsNotAllowed"
    """A model's credentials are declared inline, in a Secret that is not for models, or contained in its parameters."""
    QUEUE_NOT_FOUND = "QueueNotFound"
    """The spec names an unknown Kueue LocalQueue, or Kueue is not installed."""
    PRIORITY_CLASS_NOT_FOUND = "PriorityClassNotFound"
    """The spec names an unknown WorkloadPriorityClass of Kueue."""
    WEBHOOK_NOT_FOUND = "WebhookNotFound"
    """The spec names an unknown webhook, which is not notified; the run goes on."""
    TOO_LARGE = "TooLarge"
    """The run has more cells or trials than the installation allows its namespace."""
    QUOTA_EXCEEDED = "QuotaExceeded"
    """Other runs of the namespace leave too little of its quota; the run goes on when they have finished."""
    STORE_UNREACHABLE = "StoreUnreachable"
    """The operator cannot read or write the run's store."""
    BASELINE_NOT_FOUND = "BaselineNotFound"
    """The gate's baseline is not in the store."""
    PREFLIGHT_RUNNING = "PreflightRunning"
    """A pod checks whether the run can start."""
    PREFLIGHT_FAILED = "PreflightFailed"
    """The preflight found problems that must be fixed before the run can start."""
    PREFLIGHT_ERROR = "PreflightError"
    """The preflight ended without a report."""
    SUITE_FILTER = "SuiteFilter"
    """The suite's filters select no task, or name unknown tasks or domains."""
    SECRET_MISSING = "SecretMissing"  # noqa: S105 - no password
    """A Secret with credentials of the pods, or a key of it, does not exist."""
    IMAGE_UNAVAILABLE = "ImageUnavailable"
    """A node cannot pull an image."""
    POD_NOT_STARTING = "PodNotStarting"
    """The kubelet cannot start a pod for another reason."""
    PODS_REFUSED = "PodsRefused"
    """A Job gets no pods: a quota, an admission rule or a missing service account prevents them."""
    OBJECT_REFUSED = "ObjectRefused"
    """The API server refuses to create or change an object of the run."""
    INTERNAL_ERROR = "InternalError"
    """The operator cannot plan the run, because of a fault of its own."""
    JOB_SPEC_MISSING = "JobSpecMissing"
    """The ConfigMap with the spec of a Job was deleted."""
    STARTING = "Starting"
    """The suite is frozen, and the first Jobs are being created."""
    RUNNING = "Running"
    """Pods are running."""
    WAITING_FOR_CAPACITY = "WaitingForCapacity"
    """No node has room for some pods."""
    UNSCHEDULABLE = "Unschedulable"
    """No node has had room for any pod, for longer than `limits.pendingSeconds`."""
    WAITING_FOR_PODS = "WaitingForPods"
    """Pods have a node and do not start: it pulls images, or sets up network and volumes."""
    POD_LOST = "PodLost"
    """A pod does not end although it should, or its node does not report."""
    WAITING_FOR_MODEL = "WaitingForModel"
    """Other runs use all slots of the run's models."""
    WAITING_FOR_QUEUE = "WaitingForQueue"
    """Kueue has not admitted the run's Jobs."""
    BREAKER_OPEN = "BreakerOpen"
    """Too many attempts ended in infrastructure errors; nothing starts for a while."""
    QUOTA_EXHAUSTED = "QuotaExhausted"
    """The quota of a model's account is used up; nothing starts with its models, others go on."""
    SUSPENDED = "Suspended"
    """`spec.suspend` is true."""
    COMPLETE = "Complete"
    """Every trial is scored or accounted for."""
    BUDGET_SPENT = "BudgetSpent"
    """All trials that the budget allows are scored; the rest is `budget_skipped`."""
    NOTHING_SCORED = "NothingScored"
    """No trial could be scored."""
    GATE_PASSED = "GatePassed"
    """Every condition of the gate holds."""
    GATE_FAILED = "GateFailed"
    """A condition of the gate does not hold."""
    GATE_INCONCLUSIVE = "GateInconclusive"
    """No condition of the gate fails, but there are too few trials to decide all of them."""
    IMAGE_CHANGED = "ImageChanged"
    """Pods of the run ran different builds of an image."""
    NOT_FINISHED = "NotFinished"
    """Known only once the run has finished."""


_VERDICTS: Mapping[Reason, Verdict] = {
    Reason.GATE_PASSED: "GO",
    Reason.GATE_FAILED: "NO-GO",
    Reason.BASELINE_NOT_FOUND: "NO-GO",
    Reason.GATE_INCONCLUSIVE: "INCONCLUSIVE",
}
"""Verdict of the gate by the reason of `GatePassed`."""


class Phase(StrEnum):
    """State of a run in one word, for printer columns."""

    PENDING = "Pending"
    PREFLIGHT = "Preflight"
    RUNNING = "Running"
    WAITING = "Waiting"
    STALLED = "Stalled"
    SUSPENDED = "Suspended"
    COMPLETE = "Complete"
    FAILED = "Failed"


REFUSED = frozenset({
    Reason.INVALID_SPEC, Reason.NOT_IN_CLUSTER, Reason.MODEL_NOT_FOUND, Reason.MODEL_INVALID, Reason.STORE_NOT_FOUND,
    Reason.QUEUE_NOT_FOUND, Reason.PRIORITY_CLASS_NOT_FOUND, Reason.SUITE_NOT_ALLOWED, Reason.CREDENTIALS_NOT_ALLOWED,
    Reason.POD_PROFILE_NOT_FOUND, Reason.PODS_NOT_ALLOWED, Reason.TOO_LARGE,
})  # fmt: skip
"""The spec cannot run in this cluster: not accepted, and stalled until it is fixed."""

STALLED = REFUSED | {
    Reason.STORE_UNREACHABLE, Reason.BASELINE_NOT_FOUND, Reason.PREFLIGHT_FAILED, Reason.PREFLIGHT_ERROR,
    Reason.SUITE_FILTER, Reason.SECRET_MISSING, Reason.IMAGE_UNAVAILABLE, Reason.POD_NOT_STARTING, Reason.PODS_REFUSED,
    Reason.JOB_SPEC_MISSING, Reason.UNSCHEDULABLE, Reason.POD_LOST, Reason.BREAKER_OPEN, Reason.QUOTA_EXHAUSTED,
    Reason.OBJECT_REFUSED, Reason.INTERNAL_ERROR, Reason.QUOTA_EXCEEDED,
}  # fmt: skip
"""The run, or one of its models, makes no progress until a user fixes the cause, or until the breaker closes."""

WAITING = frozenset(
    {Reason.WAITING_FOR_CAPACITY, Reason.WAITING_FOR_PODS, Reason.WAITING_FOR_MODEL, Reason.WAITING_FOR_QUEUE}
)

ENDED = frozenset({Reason.COMPLETE, Reason.BUDGET_SPENT, Reason.NOTHING_SCORED})

_PHASES: Mapping[Reason, Phase] = {
    Reason.PREFLIGHT_RUNNING: Phase.PREFLIGHT,
    Reason.STARTING: Phase.PENDING,
    Reason.SUSPENDED: Phase.SUSPENDED,
    Reason.COMPLETE: Phase.COMPLETE,
    Reason.BUDGET_SPENT: Phase.COMPLETE,
    Reason.NOTHING_SCORED: Phase.FAILED,
    **dict.fromkeys(STALLED, Phase.STALLED),
    **dict.fromkeys(WAITING, Phase.WAITING),
}


@dataclass(frozen=True)
class ConditionUpdate:
    """A condition without a time."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str = ""


@dataclass(frozen=True)
class RunSummary:
    """Summary state of a run; its conditions and phase are derived from the reason."""

    reason: Reason
    message: str = ""
    progressing: bool = False
    """Whether pods are running although the reason is one that stalls a run."""
    warning: str = ""
    """What is wrong with an accepted spec without stopping the run; empty if nothing is."""

    @property
    def phase(self) -> Phase:
        """State of the run in one word."""
        return _PHASES.get(self.reason, Phase.RUNNING)

    @property
    def ended(self) -> bool:
        """Whether nothing is left to do."""
        return self.reason in ENDED

    def conditions(self) -> Iterator[ConditionUpdate]:
        """The run's conditions, except that of its gate."""
        reason, message = self.reason, self.message
        if reason in REFUSED:
            yield ConditionUpdate("Accepted", "False", reason, message)
        else:
            accepted = Reason.WEBHOOK_NOT_FOUND if self.warning else Reason.VALID
            yield ConditionUpdate("Accepted", "True", accepted, self.warning)
        stalled = reason in STALLED
        idle = stalled or reason is Reason.SUSPENDED or self.ended
        succeeded = self.ended and reason is not Reason.NOTHING_SCORED
        yield ConditionUpdate("Progressing", "True" if self.progressing or not idle else "False", reason, message)
        yield ConditionUpdate("Stalled", "True" if stalled else "False", reason, message if stalled else "")
        if self.ended:
            yield ConditionUpdate("Succeeded", "True" if succeeded else "False", reason, message)
        else:
            yield ConditionUpdate("Succeeded", "Unknown", Reason.NOT_FINISHED)
        # Both are read by kstatus, by which Flux, kpt and others tell whether an object is in progress.
        yield ConditionUpdate("Reconciling", "False" if idle else "True", reason, "" if idle else message)
        yield ConditionUpdate("Ready", "True" if succeeded else "False", reason)


@dataclass(frozen=True)
class StatusFigures:
    """Figures of a frozen run for its status."""

    tally: Tally
    success: float | None
    """Success rate; None while nothing is scored."""
    cost_usd: float | None
    """Dollars; None if the cost of an attempt is unknown."""
    started_at: datetime | None
    """Start of the first attempt; None before it."""


def status_of(
    run: ObservedRun,
    summary: RunSummary,
    figures: StatusFigures | None,
    gate: ConditionUpdate | None,
    results: str | None,
    now: datetime,
    mixed: ConditionUpdate | None = None,
) -> EvalRunStatus:
    """The status that a run should have.

    Args:
        run: The run, with its current status.
        summary: Its summary state.
        figures: Its figures; None before it is frozen.
        gate: Condition of its gate; None if it has none.
        results: Address of its results; None before it is frozen.
        now: Time of what changes now.
        mixed: Condition `MixedImages`, which stays once it is set; None leaves it as it is.
    """
    before = run.status
    updates = [*summary.conditions(), *filter(None, [gate, mixed])]
    fields: dict[str, object] = {
        "observed_generation": run.generation,
        "phase": summary.phase.value,
        "conditions": _conditions(before.conditions, updates, run.generation, now),
        "finished_at": (before.finished_at or now) if summary.ended else None,
        "gate": _VERDICTS.get(gate.reason) if gate else None,
    }
    if run.spec is not None:
        fields["models"] = ",".join(model.name for model in run.spec.models)
    if figures is not None:
        tally = figures.tally
        fields |= {
            "progress": f"{tally.scored}/{tally.total}",
            "success": percent(figures.success),
            "not_scored": tally.not_scored,
            "cost": dollars(figures.cost_usd),
            "started_at": figures.started_at,
            "counters": tally.counters,
        }
    if results is not None:
        fields["results"] = results
    return before.model_copy(update=fields)


def _conditions(
    before: Sequence[Condition], updates: Sequence[ConditionUpdate], generation: int, now: datetime
) -> list[Condition]:
    old = {condition.type: condition for condition in before}
    own = [_condition(update, old.get(update.type), generation, now) for update in updates]
    types = {condition.type for condition in own}
    return [*own, *(condition for condition in before if condition.type not in types)]


def _condition(update: ConditionUpdate, old: Condition | None, generation: int, now: datetime) -> Condition:
    unchanged = old is not None and old.status == update.status
    return Condition(
        type=update.type,
        status=update.status,
        reason=update.reason.value,
        message=shortened(update.message),
        last_transition_time=old.last_transition_time if old is not None and unchanged else now,
        observed_generation=generation,
    )


def shortened(message: str) -> str:
    """A condition's message of at most `LONGEST_MESSAGE` characters."""
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"


def is_finished(run: ObservedRun) -> bool:
    """Whether the status reports that the run, with its current spec, has ended."""
    succeeded = condition_of(run.status, "Succeeded")
    return succeeded is not None and succeeded.status != "Unknown" and succeeded.observed_generation == run.generation


def condition_events(before: EvalRunStatus, after: EvalRunStatus) -> list[Event]:
    """Events for the changes of conditions between two statuses."""
    old = {condition.type: condition for condition in before.conditions}
    events = (_event(old.get(condition.type), condition) for condition in after.conditions)
    return [event for event in events if event is not None]


def _event(old: Condition | None, new: Condition) -> Event | None:
    before = (old.status, old.reason) if old else ("Unknown", "")
    if (new.status, new.reason) == before:
        return None
    match new.type, new.status:
        case "Accepted", "True" if new.message:
            return Event("Warning", new.reason, new.message)
        case "Accepted", "True":
            return Event("Normal", "Accepted", "the spec can run in this cluster")
        case "Stalled" | "MixedImages", "True":
            return Event("Warning", new.reason, new.message)
        case "Stalled", "False" if before[0] == "True":
            return Event("Normal", "Resumed", "the problem that stalled the run is resolved")
        case "Progressing", _ if new.reason in _STEPS and before[1] not in WAITING:
            return Event("Normal", new.reason, new.message)
        case "Succeeded", "True":
            return Event("Normal", new.reason, new.message)
        case "Succeeded", "False":
            return Event("Warning", new.reason, new.message)
        case "GatePassed", _ if new.reason != Reason.NOT_FINISHED:
            return Event("Normal" if new.status == "True" else "Warning", new.reason, new.message)
    return None


_STEPS = frozenset({
    Reason.PREFLIGHT_RUNNING, Reason.RUNNING, Reason.SUSPENDED, Reason.WAITING_FOR_CAPACITY, Reason.WAITING_FOR_PODS,
    Reason.WAITING_FOR_QUEUE,
})  # fmt: skip
"""Reasons of `Progressing` that are recorded as an Event; other conditions record the others."""
