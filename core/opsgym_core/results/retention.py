"""What of the runs of a store may be deleted, given how long it is to stay.

Invariant: nothing goes whose time is not stated, and nothing of a run that may be going on, that is pinned or that a
gate compares with. Of a run that goes wholly, `run.json` goes first: no reader sees a run that has lost records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from opsgym_api.kinds.history import History, Keep
from opsgym_api.records.store_layout import RunKeys, is_state, is_transcript
from opsgym_core.store.base import StoredObject

QUIET = timedelta(days=1)
"""A run of which something was written since may be going on. A process that plays a run writes every few seconds."""


class Kind(StrEnum):
    """Kinds of what a run wrote, by the fields of `History`."""

    RECORDS = "records"
    TRANSCRIPTS = "transcripts"
    STATES = "states"


@dataclass(frozen=True)
class Series:
    """Runs that are counted together: those of a schedule or, without one, of a name."""

    namespace: str
    """Empty for runs on one machine."""
    name: str
    is_schedule: bool = False


@dataclass(frozen=True)
class StoredRun:
    """A run of a store, as far as its age is concerned."""

    run: str
    series: Series
    created_at: datetime
    rescored_from: str = ""
    """Run whose transcripts and states are those of this one; empty for none."""
    in_cluster: bool = False
    """Whether an operator ends it, which the run's figures then show."""


@dataclass(frozen=True)
class Deletion:
    """Objects of one run that may be deleted."""

    run: str
    kinds: tuple[Kind, ...]
    objects: Sequence[StoredObject]
    """In the order of their deletion."""
    left: int = 0
    """Number of objects after these, which another deletion is about."""

    def first(self, most: int) -> Deletion:
        """At most so many of the objects, one at least."""
        part = self.objects[: max(most, 1)]
        return replace(self, objects=part, left=self.left + len(self.objects) - len(part))

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(one.size for one in self.objects)


@dataclass(frozen=True)
class Stays:
    """Why nothing of a run is deleted although its time is over."""

    run: str
    reason: str


def kind_of(key: str) -> Kind:
    """The kind of an object of a run; records are whatever is of no other kind."""
    if is_state(key):
        return Kind.STATES
    return Kind.TRANSCRIPTS if is_transcript(key) else Kind.RECORDS


def due_kinds(runs: Iterable[StoredRun], history: History, now: datetime) -> dict[str, tuple[Kind, ...]]:
    """The kinds whose time is over, by run; runs without one are absent, and the oldest run is first.

    Args:
        runs: All runs of each series that is looked at.
        history: How long objects of each kind stay.
        now: The time.
    """
    by_series: defaultdict[Series, list[StoredRun]] = defaultdict(list)
    for run in sorted(runs, key=lambda one: (one.created_at, one.run), reverse=True):
        by_series[run.series].append(run)
    ranked = [(place, run) for of_series in by_series.values() for place, run in enumerate(of_series)]
    keeps = {kind: getattr(history, kind.value) for kind in Kind}
    due = {
        run.run: tuple(kind for kind, keep in keeps.items() if _is_over(keep, place, now - run.created_at))
        for place, run in sorted(ranked, key=lambda item: (item[1].created_at, item[1].run))
    }
    return {run: kinds for run, kinds in due.items() if kinds}


def _is_over(keep: Keep | None, place: int, age: timedelta) -> bool:
    """Whether objects of the run at that place of its series, the newest being 0, have been kept long enough."""
    if keep is None:
        return False
    young = keep.days is not None and age <= timedelta(days=keep.days)
    return not young and (keep.runs is None or place >= keep.runs)


def needed_runs(
    runs: Iterable[StoredRun], due: Mapping[str, Sequence[Kind]], compared: Mapping[str, str]
) -> dict[str, str]:
    """Why runs stay, by run.

    Args:
        runs: All runs of the store.
        due: The kinds whose time is over, by run.
        compared: By run with which a gate compares, the run or schedule whose gate does.
    """
    needed = {run: f"the gate of {by} compares with it" for run, by in compared.items()}
    for run in sorted(runs, key=lambda one: one.created_at, reverse=True):
        stays = run.run in needed or Kind.RECORDS not in due.get(run.run, ())
        if run.rescored_from and stays:
            needed.setdefault(run.rescored_from, f"{run.run} was rescored from it")
    return needed


def plan_deletion(
    run: StoredRun, kinds: Sequence[Kind], objects: Sequence[StoredObject], now: datetime
) -> Deletion | Stays | None:
    """What is deleted of a run whose time is over; None if nothing of those kinds is left.

    Args:
        run: The run.
        kinds: Kinds whose time is over.
        objects: Everything of the run, as just listed.
        now: The time, by the store's clock.
    """
    keys = RunKeys(run.run)
    names = {one.key for one in objects}
    if keys.pin_json in names:
        return Stays(run.run, f"it is pinned; `opsgym pin --remove {run.run}` lets it go")
    if run.in_cluster and keys.figures_json not in names:
        return Stays(run.run, "it has not ended, as far as its store shows")
    if any(one.written_at > now - QUIET for one in objects if one.key != keys.deletion_json):
        return Stays(run.run, "something of it was written less than a day ago, so it may be going on")
    return _deletion(run.run, kinds, objects)


def remainder(run: str, objects: Sequence[StoredObject]) -> Deletion:
    """What an interrupted deletion of a whole run has left."""
    deletion = _deletion(run, (Kind.RECORDS,), objects)
    assert deletion is not None  # the object that shows the interruption is there
    return deletion


def _deletion(run: str, kinds: Sequence[Kind], objects: Sequence[StoredObject]) -> Deletion | None:
    if Kind.RECORDS not in kinds:
        chosen = [one for one in objects if kind_of(one.key) in kinds]
        return Deletion(run, tuple(kinds), chosen) if chosen else None
    keys = RunKeys(run)
    order = {keys.run_json: -1, keys.deletion_json: 1}
    return Deletion(run, tuple(Kind), sorted(objects, key=lambda one: order.get(one.key, 0)))
