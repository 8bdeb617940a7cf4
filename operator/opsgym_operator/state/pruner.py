"""Deletes in the background what the schedules of a namespace need not keep.

Invariant: no reconcile waits for it, and a pass is bounded in objects and time. What it remembers can be lost: the next
pass finds the same. A store that refuses a deletion is asked again a day later, or when a history changes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from opsgym_core.gates.pruning import erase, plan, survey
from opsgym_core.metrics.registry import Metrics
from opsgym_core.results.retention import Deletion, Kind, Series, Stays
from opsgym_core.store.base import ErasableStore, RefusedError, StoreError
from opsgym_core.store.mounted import Stores
from opsgym_operator.observe.schedules import Pruned, ScheduleReason
from opsgym_operator.plan.retention import StoreRetention

log = structlog.get_logger(__name__)

GRACE = timedelta(minutes=10)
"""Time until the first pass, in which a mistaken history can be corrected, and between the parts of a long one."""
EVERY = timedelta(days=1)
"""Time between passes."""
RETRY = timedelta(hours=1)
"""Time until the next pass after the store could not be reached."""
MOST_OBJECTS = 20_000
"""Objects that a pass deletes."""
MOST_S = 120.0
"""Seconds after which a pass begins no further deletion."""


@dataclass
class Pass:
    """What one look at a store has done."""

    series: Mapping[str, Series] = field(default_factory=dict)
    """By run."""
    deletions: list[Deletion] = field(default_factory=list)
    stays: list[Stays] = field(default_factory=list)
    due: Mapping[str, tuple[Kind, ...]] = field(default_factory=dict)
    complete: bool = False
    """Whether nothing is left to delete."""
    reason: ScheduleReason = ScheduleReason.HISTORY_KEPT
    problem: str = ""
    """Why it ended early; empty if it did not."""


@dataclass
class _Turn:
    """When a store is looked at next, and what the last looks have shown."""

    histories: Mapping[Series, object]
    due_at: datetime
    done: dict[str, tuple[Kind, ...]] = field(default_factory=dict)
    """Kinds of which nothing is left, by run."""
    shown: dict[str, Pruned] = field(default_factory=dict)
    """By schedule."""


class Pruner:
    """Prunes the stores of one namespace, one after the other.

    Args:
        stores: The installation's stores.
        metrics: Count what is deleted.
    """

    def __init__(self, stores: Stores, metrics: Metrics) -> None:
        self._stores = stores
        self._metrics = metrics
        self._turns: dict[str, _Turn] = {}
        """By store."""
        self._task: asyncio.Task[None] | None = None

    def begin(self, retentions: Sequence[StoreRetention], now: datetime) -> None:
        """Begins a pass over a store that is due, unless one goes on.

        Args:
            retentions: What is kept in each store; others are forgotten.
            now: The time.
        """
        turns = {one.store: self._turns.get(one.store) for one in retentions}
        self._turns = {
            one.store: turn if (turn := turns[one.store]) and turn.histories == one.histories else _first(one, now)
            for one in retentions
        }
        due = [one for one in retentions if self._turns[one.store].due_at <= now]
        if due and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._prune(due[0], self._turns[due[0].store], now), name="pruning")

    def shown(self, store: str, schedule: str) -> Pruned | None:
        """What the last pass over a store has done for a schedule; None before the first one."""
        return self._turns[store].shown.get(schedule) if store in self._turns else None

    def close(self) -> None:
        """Ends a pass after its current request, and forgets everything."""
        self._turns.clear()
        if self._task is not None:
            self._task.cancel()

    async def _prune(self, retention: StoreRetention, turn: _Turn, now: datetime) -> None:
        done = Pass()
        try:
            prune = partial(prune_store, retention=retention, known=turn.done, now=now, done=done)
            await self._stores.delete_while_answering(retention.store, prune)
        except StoreError as error:
            refused = isinstance(error, RefusedError)
            done.reason = ScheduleReason.DELETION_REFUSED if refused else ScheduleReason.STORE_UNREACHABLE
            done.problem = str(error)
        except Exception as error:  # outermost of a pass: the next one is in an hour
            log.exception("pruning failed", store=retention.store)
            done.reason = ScheduleReason.INTERNAL_ERROR
            done.problem = f"the operator failed: {type(error).__name__}"
        self._metrics.count_pruned(retention.store, sum(one.size for one in done.deletions))
        if done.problem:
            log.warning("pruning ended early", store=retention.store, problem=done.problem)
        turn.due_at = now + _pause(done)
        if done.complete:
            stays = {stay.run for stay in done.stays}
            turn.done |= {run: kinds for run, kinds in done.due.items() if run not in stays}
        turn.shown = {series.name: pruned(done, series, now) for series in retention.histories}


def _first(retention: StoreRetention, now: datetime) -> _Turn:
    return _Turn(retention.histories, now + GRACE)


def _pause(done: Pass) -> timedelta:
    if done.complete or done.reason in {ScheduleReason.DELETION_REFUSED, ScheduleReason.RECORDS_UNREADABLE}:
        return EVERY
    return RETRY if done.problem else GRACE


def prune_store(
    store: ErasableStore,
    retention: StoreRetention,
    known: Mapping[str, tuple[Kind, ...]],
    now: datetime,
    done: Pass,
) -> None:
    """Deletes what need not stay in a store.

    Args:
        store: The store.
        retention: What is kept in it.
        known: Kinds of which nothing is left, by run.
        now: The time.
        done: Gets what was done, also if this fails.

    Raises:
        StoreError: The store cannot be read, or refuses a deletion.
    """
    surveyed = survey(store, retention.prefix, retention.coming, readers=1)
    if surveyed.unreadable:
        # They may be of gates that compare with runs that would go.
        done.reason = ScheduleReason.RECORDS_UNREADABLE
        done.problem = f"nothing is deleted: {surveyed.unreadable[0]}"
        return
    done.series = {name: run.series for name, run in surveyed.runs.items()}
    due = retention.due(surveyed.runs.values(), now)
    done.due = {run: kinds for run, kinds in due.items() if known.get(run) != kinds}
    own = [run for run in surveyed.interrupted if run.startswith(f"{retention.namespace}.")]
    left, until = MOST_OBJECTS, time.monotonic() + MOST_S
    for step in plan(store, replace(surveyed, interrupted=own), done.due, now):
        if isinstance(step, Stays):
            done.stays.append(step)
            continue
        if left <= 0 or time.monotonic() > until:
            return
        part = step.first(left)
        erase(store, part)
        log.info("deleted what need not stay", stored_run=part.run, kinds=part.kinds, objects=len(part.objects))
        done.deletions.append(part)
        left -= len(part.objects)
        if part.left:
            return
    done.complete = True


def pruned(done: Pass, series: Series, now: datetime) -> Pruned:
    """What a pass has done for the runs of a schedule, for its condition."""
    own = [one for one in done.deletions if done.series.get(one.run) == series]
    objects, size = sum(len(one.objects) for one in own), sum(one.size for one in own)
    parts = [f"at {now:%Y-%m-%dT%H:%M:%SZ}: deleted {objects:,} objects of {len(own)} runs, {size:,} bytes"]
    if stays := [stay for stay in done.stays if done.series.get(stay.run) == series]:
        parts.append(f"{len(stays)} runs stay although their time is over, {stays[0].run} because {stays[0].reason}")
    if not done.complete:
        parts.append(done.problem or "more goes with the next pass")
    return Pruned(done.reason, "; ".join(parts), ok=not done.problem)
