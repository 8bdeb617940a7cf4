"""What an EvalRun's status says.

Invariant: status is written for people and for `kubectl wait`: conditions tell what is so now, the reason is one of
`Reason`, and the message names what to mend. A condition's time changes with its status only, and conditions of other
controllers stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from opsgym_api import records
from opsgym_api.evalrun import Condition, EvalRunStatus
from opsgym_api.figures import dollars, percent
from opsgym_api.outcomes import Outcome
from opsgym_operator.book import Book
from opsgym_operator.desired import Event
from opsgym_operator.observed import ObservedRun

LONGEST_MESSAGE = 2000
"""Characters; a status is read in a terminal."""


class Reason(StrEnum):
    """Why a condition is as it is."""

    VALID = "Valid"
    """The spec can be run here."""
    INVALID_SPEC = "InvalidSpec"
    """The spec cannot be read."""
    NOT_IN_CLUSTER = "NotInCluster"
    """The spec names a file or an environment variable of one machine."""
    MODEL_NOT_FOUND = "ModelNotFound"
    """A ref names no EvalModel of the namespace."""
    MODEL_INVALID = "ModelInvalid"
    """A ref names an EvalModel that cannot be read."""
    STORE_NOT_FOUND = "StoreNotFound"
    """The installation has no store of that name."""
    QUEUE_NOT_FOUND = "QueueNotFound"
    """The namespace has no Kueue LocalQueue of that name, or the cluster has no Kueue."""
    WEBHOOK_NOT_FOUND = "WebhookNotFound"
    """The installation has no webhook of that name."""
    STORE_UNREACHABLE = "StoreUnreachable"
    """The operator cannot read or write the run's store."""
    BASELINE_NOT_FOUND = "BaselineNotFound"
    """The gate's baseline names no run of the store."""
    PREFLIGHT_RUNNING = "PreflightRunning"
    """A pod checks whether the run can start."""
    PREFLIGHT_FAILED = "PreflightFailed"
    """Something has to be mended before the run can start."""
    PREFLIGHT_BROKE = "PreflightBroke"
    """The preflight ended without an answer."""
    SUITE_FILTER = "SuiteFilter"
    """The suite's filters match nothing, or name what is not there."""
    SECRET_MISSING = "SecretMissing"  # noqa: S105 - no password
    """A Secret or a key of it that pods take credentials from is not there."""
    IMAGE_UNAVAILABLE = "ImageUnavailable"
    """A node cannot get an image."""
    POD_NOT_STARTING = "PodNotStarting"
    """The kubelet cannot start a pod for another reason."""
    PODS_REFUSED = "PodsRefused"
    """A Job gets no pods: a quota, an admission rule or its service account keeps them away."""
    ORDER_GONE = "OrderGone"
    """Somebody deleted the ConfigMap that says what a Job's pods do."""
    STARTING = "Starting"
    """Its suite is frozen, and its first Jobs are being made."""
    RUNNING = "Running"
    """Pods are at work."""
    WAITING_FOR_CAPACITY = "WaitingForCapacity"
    """No node has room for some pods."""
    UNSCHEDULABLE = "Unschedulable"
    """No node has had room for any pod, for longer than `limits.pendingSeconds`."""
    WAITING_FOR_MODEL = "WaitingForModel"
    """Other runs use all slots of its models."""
    WAITING_FOR_QUEUE = "WaitingForQueue"
    """Kueue has not admitted its Jobs."""
    BREAKER_OPEN = "BreakerOpen"
    """Too many attempts ended in infrastructure errors; nothing starts for a while."""
    SUSPENDED = "Suspended"
    """`spec.suspend` is true."""
    COMPLETE = "Complete"
    """Every trial is scored or accounted for."""
    BUDGET_SPENT = "BudgetSpent"
    """What the budget allows is scored; the rest is `budget_skipped`."""
    NOTHING_SCORED = "NothingScored"
    """No trial could be scored."""
    GATE_HOLDS = "GateHolds"
    """Every condition of the gate holds."""
    GATE_BROKEN = "GateBroken"
    """A condition of the gate does not hold."""
    GATE_INCONCLUSIVE = "GateInconclusive"
    """None is broken, but there are too few trials to tell whether all hold."""
    NOT_FINISHED = "NotFinished"
    """It can only be told at the end."""


_GATES: Mapping[Reason, records.Verdict] = {
    Reason.GATE_HOLDS: "GO",
    Reason.GATE_BROKEN: "NO-GO",
    Reason.BASELINE_NOT_FOUND: "NO-GO",
    Reason.GATE_INCONCLUSIVE: "INCONCLUSIVE",
}
"""What the gate says, by the reason of `GatePassed`."""


class Phase(StrEnum):
    """One word for people."""

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
    Reason.QUEUE_NOT_FOUND, Reason.WEBHOOK_NOT_FOUND,
})  # fmt: skip
"""The spec cannot be run here: not accepted, and stalled until something is mended."""

STALLED = REFUSED | {
    Reason.STORE_UNREACHABLE, Reason.BASELINE_NOT_FOUND, Reason.PREFLIGHT_FAILED, Reason.PREFLIGHT_BROKE,
    Reason.SUITE_FILTER, Reason.SECRET_MISSING, Reason.IMAGE_UNAVAILABLE, Reason.POD_NOT_STARTING, Reason.PODS_REFUSED,
    Reason.ORDER_GONE, Reason.UNSCHEDULABLE, Reason.BREAKER_OPEN,
}  # fmt: skip
"""Somebody has to mend something, or to wait."""

WAITING = frozenset({Reason.WAITING_FOR_CAPACITY, Reason.WAITING_FOR_MODEL, Reason.WAITING_FOR_QUEUE})

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
class Verdict:
    """A condition, before it has a time."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str = ""


@dataclass(frozen=True)
class Situation:
    """What is so of a run, in one reason; conditions and phase follow from it."""

    reason: Reason
    message: str = ""
    progressing: bool = False
    """Whether pods are at work although the reason says that something is to be mended."""

    @property
    def phase(self) -> Phase:
        """One word for people."""
        return _PHASES.get(self.reason, Phase.RUNNING)

    @property
    def ended(self) -> bool:
        """Whether nothing is left to do."""
        return self.reason in ENDED

    def verdicts(self) -> Iterator[Verdict]:
        """Conditions that follow from it."""
        reason, message = self.reason, self.message
        refused = reason in REFUSED
        yield Verdict("Accepted", "False" if refused else "True", *((reason, message) if refused else (Reason.VALID,)))
        idle = reason in STALLED or reason is Reason.SUSPENDED or self.ended
        yield Verdict("Progressing", "True" if self.progressing or not idle else "False", reason, message)
        stalled = reason in STALLED
        yield Verdict("Stalled", "True" if stalled else "False", reason, message if stalled else "")
        yield self._succeeded()

    def _succeeded(self) -> Verdict:
        if not self.ended:
            return Verdict("Succeeded", "Unknown", Reason.NOT_FINISHED)
        return Verdict(
            "Succeeded", "False" if self.reason is Reason.NOTHING_SCORED else "True", self.reason, self.message
        )


@dataclass(frozen=True)
class Tally:
    """Trials of a run by how they ended."""

    total: int
    passed: int
    failed: int
    infra_error: int
    config_error: int
    budget_skipped: int

    @property
    def scored(self) -> int:
        """Trials that have a score."""
        return self.passed + self.failed

    @property
    def not_scored(self) -> int:
        """Trials that ended without a score."""
        return self.infra_error + self.config_error + self.budget_skipped

    @property
    def pending(self) -> int:
        """Trials that have not ended."""
        return self.total - self.scored - self.not_scored

    @property
    def counters(self) -> dict[str, int]:
        """Every number by name; all of them, so that what reads them needs no defaults."""
        return {
            "total": self.total,
            Outcome.PASSED.value: self.passed,
            Outcome.FAILED.value: self.failed,
            Outcome.INFRA_ERROR.value: self.infra_error,
            Outcome.CONFIG_ERROR.value: self.config_error,
            Outcome.BUDGET_SKIPPED.value: self.budget_skipped,
            "pending": self.pending,
        }


def tally_of(book: Book, cells: Mapping[str, int]) -> Tally:
    """Trials by how they ended.

    Args:
        book: The run's attempts.
        cells: Trials by cell key; only these are counted.
    """
    ends = (Outcome.PASSED, Outcome.FAILED, Outcome.CONFIG_ERROR, Outcome.BUDGET_SKIPPED)
    passed, failed, config, skipped = (sum(book.count_in(cell, end) for cell in cells) for end in ends)
    settled = sum(book.settled_in(cell) for cell in cells)
    return Tally(
        total=sum(cells.values()),
        passed=passed,
        failed=failed,
        infra_error=settled - passed - failed - config,
        config_error=config,
        budget_skipped=skipped,
    )


@dataclass(frozen=True)
class Figures:
    """Numbers for a status; None before the run is frozen."""

    tally: Tally
    success: float | None
    cost_usd: float | None
    started_at: datetime | None


def status_of(
    run: ObservedRun,
    situation: Situation,
    figures: Figures | None,
    gate: Verdict | None,
    results: str | None,
    now: datetime,
) -> EvalRunStatus:
    """The status that a run should have.

    Args:
        run: The run, with the status it has.
        situation: What is so of it.
        figures: Its numbers.
        gate: What its gate says; None if it has none.
        results: Where its results are, once it is frozen.
        now: For what happens now.
    """
    before = run.status
    verdicts = [*situation.verdicts(), *([gate] if gate else [])]
    said: dict[str, object] = {
        "observed_generation": run.generation,
        "phase": situation.phase.value,
        "conditions": _conditions(before.conditions, verdicts, run.generation, now),
        "finished_at": (before.finished_at or now) if situation.ended else None,
        "gate": _GATES.get(gate.reason) if gate else None,
    }
    if run.spec is not None:
        said["models"] = ",".join(model.name for model in run.spec.models)
    if figures is not None:
        said |= _said(figures)
    if results is not None:
        said["results"] = results
    return before.model_copy(update=said)


def _said(figures: Figures) -> dict[str, object]:
    tally = figures.tally
    return {
        "progress": f"{tally.scored}/{tally.total}",
        "success": percent(figures.success),
        "not_scored": tally.not_scored,
        "cost": dollars(figures.cost_usd),
        "started_at": figures.started_at,
        "counters": tally.counters,
    }


def _conditions(
    before: Sequence[Condition], verdicts: Sequence[Verdict], generation: int, now: datetime
) -> list[Condition]:
    old = {condition.type: condition for condition in before}
    ours = [_condition(verdict, old.get(verdict.type), generation, now) for verdict in verdicts]
    types = {condition.type for condition in ours}
    return [*ours, *(condition for condition in before if condition.type not in types)]


def _condition(verdict: Verdict, old: Condition | None, generation: int, now: datetime) -> Condition:
    same = old is not None and old.status == verdict.status
    message = verdict.message
    return Condition(
        type=verdict.type,
        status=verdict.status,
        reason=verdict.reason.value,
        message=message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…",
        last_transition_time=old.last_transition_time if old is not None and same else now,
        observed_generation=generation,
    )


def condition_of(status: EvalRunStatus, kind: str) -> Condition | None:
    """A condition by its type."""
    return next((condition for condition in status.conditions if condition.type == kind), None)


def is_finished(run: ObservedRun) -> bool:
    """Whether the status says that the run, as its spec stands, has ended."""
    found = condition_of(run.status, "Succeeded")
    return found is not None and found.status != "Unknown" and found.observed_generation == run.generation


def went_well(status: EvalRunStatus) -> bool:
    """Whether a run has ended, something is scored, and its gate, if it has one, holds."""
    succeeded, gate = condition_of(status, "Succeeded"), condition_of(status, "GatePassed")
    return succeeded is not None and succeeded.status == "True" and (gate is None or gate.status == "True")


def told(before: EvalRunStatus, after: EvalRunStatus) -> list[Event]:
    """What has happened between two statuses, for `kubectl describe`."""
    old = {condition.type: condition for condition in before.conditions}
    events: list[Event] = []
    for condition in after.conditions:
        event = _event(old.get(condition.type), condition)
        if event is not None:
            events.append(event)
    return events


def _event(old: Condition | None, new: Condition) -> Event | None:
    was = (old.status, old.reason) if old else ("Unknown", "")
    if (new.status, new.reason) == was:
        return None
    match new.type, new.status:
        case "Accepted", "True":
            return Event("Normal", "Accepted", "the spec can be run here")
        case "Stalled", "True":
            return Event("Warning", new.reason, new.message)
        case "Stalled", "False" if was[0] == "True":
            return Event("Normal", "Resumed", "what kept the run from going on is mended")
        case "Progressing", _ if new.reason in _STEPS and was[1] not in WAITING:
            return Event("Normal", new.reason, new.message)
        case "Succeeded", "True":
            return Event("Normal", new.reason, new.message)
        case "Succeeded", "False":
            return Event("Warning", new.reason, new.message)
        case "GatePassed", _ if new.reason != Reason.NOT_FINISHED:
            return Event("Normal" if new.status == "True" else "Warning", new.reason, new.message)
    return None


_STEPS = frozenset({
    Reason.PREFLIGHT_RUNNING, Reason.RUNNING, Reason.SUSPENDED, Reason.WAITING_FOR_CAPACITY, Reason.WAITING_FOR_QUEUE,
})  # fmt: skip
"""Reasons of `Progressing` that are a step in a run's story, the first time; other conditions tell the others."""
