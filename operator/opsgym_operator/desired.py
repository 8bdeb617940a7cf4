"""What a plan wants done for one EvalRun. Carrying it out is someone else's part.

Invariant: doing it twice is doing it once. Fields are carried out in the order in which they stand here; if one fails,
what follows it is left for the next plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from opsgym_api.evalrun import EvalRunStatus, NoticeEvent, NoticeStatus
from opsgym_api.records import AttemptRecord, Control, GateRecord, RunRecord

Manifest: TypeAlias = Mapping[str, Any]
"""A whole Kubernetes object."""


class Need(StrEnum):
    """What has to be read from the store before more can be planned."""

    STORED = "stored"
    """Everything: `run.json`, the suite's index, `control.json`, all attempts."""
    SUITE = "suite"
    """The suite's index again: a preflight has just written it."""
    FIGURES = "figures"
    """What a run came to that had ended before the operator started: for its metrics alone."""
    BASELINE = "baseline"
    """What the run's gate compares with; see `opsgym_api.baseline`."""


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


@dataclass(frozen=True)
class Event:
    """Something to tell in `kubectl describe`; said once, when it happens."""

    kind: Literal["Normal", "Warning"]
    reason: str
    message: str


@dataclass(frozen=True)
class Delivery:
    """How an attempt to send a notice ended."""

    id: str
    """Of the notice."""
    attempt: int
    """Counts from 1."""
    outcome: Literal["sent", "again", "failed"]
    """`again`: another attempt may succeed."""
    problem: str = ""
    """Why it was not sent; names no address."""
    retry_after: float = 0.0
    """Seconds that the receiver asked to wait."""


@dataclass(frozen=True)
class Letter:
    """A notice that is to be sent now."""

    webhook: str
    """Name of the webhook."""
    id: str
    """Of the notice."""
    event: NoticeEvent
    attempt: int
    """Counts from 1."""
    body: bytes

    def ended(
        self, outcome: Literal["sent", "again", "failed"], problem: str = "", retry_after: float = 0.0
    ) -> Delivery:
        """How this attempt ended."""
        return Delivery(self.id, self.attempt, outcome, problem, retry_after)


@dataclass(frozen=True)
class Desired:
    """What should be done for an EvalRun now."""

    freeze: RunRecord | None = None
    """`run.json`, to be put once; it counts from the next plan on."""
    control: Control | None = None
    """`control.json` to write."""
    records: tuple[AttemptRecord, ...] = ()
    """Attempts that ended without a pod's word, to be put into the store and noted in the book."""
    gate: GateRecord | None = None
    """`gate.json` to write; it counts from the next plan on."""
    create: tuple[Manifest, ...] = ()
    """Objects, each after those it refers to. That one exists already is success."""
    patches: tuple[JobPatch, ...] = ()
    delete: tuple[ObjectRef, ...] = ()
    """With what they own, in the background; that one is gone is success."""
    status: EvalRunStatus | None = None
    """To write in place of the status there; None if that is as it should be."""
    events: tuple[Event, ...] = ()
    send: tuple[Letter, ...] = ()
    """Notices to send, once the status that holds them is written."""
    told: tuple[NoticeStatus, ...] = ()
    """Notices of which the status tells for the first time that they were sent or given up."""
    needs: frozenset[Need] = frozenset()
    """What to read before the next plan."""
    again_s: float | None = None
    """Plan again after so many seconds, whatever happens; None: when something has changed."""
