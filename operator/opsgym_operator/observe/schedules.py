"""Observed EvalSchedules and the EvalRuns they own.

Invariant: an EvalRun belongs to a schedule by its owner reference, not by its name or labels, which any user may write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalrun import EvalRunStatus
from opsgym_api.kinds.evalschedule import EvalScheduleSpec, EvalScheduleStatus
from opsgym_operator.observe.labels import ANNOTATION_SCHEDULED_AT
from opsgym_operator.observe.parse import Manifest, annotation, condition_of, parse, time_of
from opsgym_operator.observe.snapshot import RunSnapshot


class ScheduleReason(StrEnum):
    """Reason of a condition of an EvalSchedule. What to do follows `Do:`."""

    VALID = "Valid"
    """The schedule is followed."""
    INVALID_SPEC = "InvalidSpec"
    """The spec cannot be read. Do: correct the field that the message names."""
    INVALID_SCHEDULE = "InvalidSchedule"
    """`schedule` is not five fields of cron, or never occurs. Do: correct it."""
    UNKNOWN_TIME_ZONE = "UnknownTimeZone"
    """`timeZone` names no zone. Do: name one such as `Europe/Berlin`."""
    OBJECT_REFUSED = "ObjectRefused"
    """The API server refuses to create or delete a run. Do: change what its words in the message name."""
    HISTORY_KEPT = "HistoryKept"
    """Stored runs were looked at, and the message says what was deleted and what stays."""
    DELETION_REFUSED = "DeletionRefused"
    """The store does not let the operator delete, or read. Do: allow `s3:DeleteObject`, it asks again a day later."""
    RECORDS_UNREADABLE = "RecordsUnreadable"
    """A record cannot be read, so nothing is deleted. Do: restore or remove the object that the message names."""
    STORE_UNREACHABLE = "StoreUnreachable"
    """The store does not answer. Do: check its address, its Secret and its health, it is tried again in an hour."""
    INTERNAL_ERROR = "InternalError"
    """The operator has failed while it pruned. Do: report the fault with its log, it tries again in an hour."""


@dataclass(frozen=True)
class OwnedRun:
    """An EvalRun that a schedule created."""

    name: str
    scheduled_at: datetime
    """From its annotation; its creation time if the annotation was removed."""
    finished_at: datetime | None = None
    """None if it has not finished."""
    uid: str = ""
    good: bool = False
    """Whether it succeeded and its gate, if it has one, passed."""
    deleting: bool = False
    notifying: bool = False
    """Whether some of its notifications are pending."""


@dataclass(frozen=True)
class ScheduleRefusals:
    """Why the API server refused what a schedule wants, in its words; empty if it did not, or once it may be tried."""

    create: str = ""
    """Of a new EvalRun."""
    delete: str = ""
    """Of a deletion of an EvalRun."""


@dataclass(frozen=True)
class Pruned:
    """What was deleted of the stored runs of a schedule."""

    reason: ScheduleReason
    message: str
    ok: bool = True
    """Whether nothing has failed."""


@dataclass(frozen=True)
class ObservedSchedule:
    """An EvalSchedule."""

    name: str
    uid: str
    namespace: str
    generation: int
    created_at: datetime
    spec: EvalScheduleSpec | None
    """None if it is invalid; `problems` then lists why."""
    problems: tuple[Problem, ...] = ()
    status: EvalScheduleStatus = field(default_factory=EvalScheduleStatus)
    """As last written; empty if it is invalid."""
    runs: tuple[OwnedRun, ...] = ()
    deleting: bool = False
    refusals: ScheduleRefusals = ScheduleRefusals()
    keeps_all: bool = True
    """Whether its stored runs stay for ever."""
    pruned: Pruned | None = None
    """What the last look at its stored runs has done; None if this process has not looked yet."""


def read_schedule(manifest: Manifest, runs: Iterable[RunSnapshot], now: datetime) -> ObservedSchedule:
    """A schedule with the EvalRuns that it owns.

    Args:
        manifest: The EvalSchedule.
        runs: All EvalRuns of its namespace.
        now: Stands in for creation times that are missing.
    """
    metadata = manifest["metadata"]
    spec = parse(EvalScheduleSpec, manifest.get("spec"), "spec")
    status = parse(EvalScheduleStatus, manifest.get("status") or {}, "status")
    return ObservedSchedule(
        name=metadata["name"],
        uid=metadata["uid"],
        namespace=metadata["namespace"],
        generation=metadata.get("generation", 0),
        created_at=time_of(metadata["creationTimestamp"]) or now,
        spec=spec if isinstance(spec, EvalScheduleSpec) else None,
        problems=() if isinstance(spec, EvalScheduleSpec) else spec,
        status=status if isinstance(status, EvalScheduleStatus) else EvalScheduleStatus(),
        runs=tuple(_owned(run, now) for run in runs if _owner(run.manifest).get("uid") == metadata["uid"]),
        deleting="deletionTimestamp" in metadata,
    )


def schedule_of(run: Manifest) -> str:
    """Name of the EvalSchedule that created an EvalRun; empty if none did."""
    owner = _owner(run)
    return str(owner["name"]) if owner.get("kind") == "EvalSchedule" else ""


def succeeded(status: EvalRunStatus) -> bool:
    """Whether a run has ended, has a score, and its gate, if it has one, passed."""
    succeeded, gate = condition_of(status, "Succeeded"), condition_of(status, "GatePassed")
    return succeeded is not None and succeeded.status == "True" and (gate is None or gate.status == "True")


def _owner(run: Manifest) -> Mapping[str, Any]:
    owners = run["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), {})


def _owned(run: RunSnapshot, now: datetime) -> OwnedRun:
    metadata, status = run.manifest["metadata"], run.status
    scheduled_at = _zoned_time(annotation(run.manifest, ANNOTATION_SCHEDULED_AT))
    return OwnedRun(
        name=run.name,
        uid=run.uid,
        scheduled_at=scheduled_at or time_of(metadata["creationTimestamp"]) or now,
        finished_at=status.finished_at,
        good=succeeded(status),
        deleting=run.deleting,
        notifying=any(notification.state == "pending" for notification in status.notifications),
    )


def _zoned_time(text: str) -> datetime | None:
    """A time with its zone; None if the text is not one."""
    try:
        time = time_of(text)
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
