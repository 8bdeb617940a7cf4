"""Hands the slots of models to runs, and cuts cells into Indexed Jobs.

Invariant: what the Jobs of a model may run at once never sums above its ceiling, whatever happens between two plans,
and no Job that may have pods is ever lowered: that would kill pods whose model calls are paid for.

A Job counts min(parallelism, remaining): the Job controller refills its slots by itself until fewer indexes remain.
What it then gives back goes to whoever has least, first among runs and then among the lanes of a run. Since a chunk is
at most a few rounds long, a run that comes later waits a few episodes, not a whole evaluation.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from opsgym_api.orders import TrialRef
from opsgym_operator.book import Book
from opsgym_operator.desired import JobPatch
from opsgym_operator.lanes import Lane
from opsgym_operator.observed import ObservedJob
from opsgym_operator.plan import TrialKey

ROUNDS = 5
"""A chunk is at most so many times its parallelism: short enough to share a model soon, long enough to keep it busy."""
MOST_COMPLETIONS = 1000
"""Of one Job: its order must fit into a ConfigMap, and its status into an object."""


@dataclass(frozen=True)
class LaneWork:
    """A lane and what could be done in it now."""

    lane: Lane
    jobs: tuple[ObservedJob, ...] = ()
    """Its Jobs that have not finished."""
    pending: int = 0
    """Trials that could go into new Jobs; those that the budget does not allow are not counted."""
    one_round: bool = False
    """A chunk holds no more trials than can run at once: nobody knows yet what a trial costs."""
    queued: bool = False
    """Kueue decides when its Jobs run; their parallelism is fixed."""

    @property
    def raisable(self) -> int:
        """Slots that its Jobs could use besides those they have."""
        if self.queued:
            return 0
        return sum(job.remaining if job.suspended else max(0, job.remaining - job.parallelism) for job in self.jobs)

    @property
    def wants(self) -> int:
        """Slots that it could use besides those it has."""
        return self.raisable + self.pending


@dataclass(frozen=True)
class Grant:
    """What a lane does with its slots."""

    patches: tuple[JobPatch, ...] = ()
    parallelism: int = 0
    """Of a new Job; 0 for none."""
    completions: int = 0
    """Of a new Job."""


@dataclass(frozen=True)
class Claim:
    """Who asks for slots."""

    run: int
    """Claims of one run share; a lower number comes first where runs have as many."""
    used: int
    wants: int


def used_slots(job: ObservedJob, pods: int) -> int:
    """Pods that a Job may have at any moment until it is changed.

    Args:
        job: The Job.
        pods: Pods seen of it that have not ended.
    """
    if job.finished:
        return pods
    if job.deleting or (job.suspended and not job.queued):
        return max(job.active + job.terminating, pods)
    return min(job.parallelism, job.remaining)


def share(free: int, claims: Sequence[Claim]) -> list[int]:
    """Slots for each claim: one at a time to the run that has least, in it to the claim that has least."""
    granted = [0] * len(claims)
    by_run: dict[int, list[tuple[int, int]]] = defaultdict(list)
    used: dict[int, int] = defaultdict(int)
    for number, claim in enumerate(claims):
        used[claim.run] += claim.used
        if claim.wants > 0:
            by_run[claim.run].append((claim.used, number))
    for waiting in by_run.values():
        heapq.heapify(waiting)
    runs = [(used[run], run) for run in by_run]
    heapq.heapify(runs)
    while free > 0 and runs:
        run_used, run = heapq.heappop(runs)
        has, number = heapq.heappop(by_run[run])
        granted[number] += 1
        free -= 1
        if granted[number] < claims[number].wants:
            heapq.heappush(by_run[run], (has + 1, number))
        if by_run[run]:
            heapq.heappush(runs, (run_used + 1, run))
    return granted


def grant_slots(ceiling: int, taken: int, works: Sequence[tuple[int, int, LaneWork]]) -> list[Grant]:
    """What each lane of a model does now.

    Args:
        ceiling: Pods that may use the model at once.
        taken: Pods that use it, or may, of whichever run.
        works: Number of the run, slots that the lane has, and the lane, for each lane of the model.
    """
    claims = [Claim(run, used, work.wants) for run, used, work in works]
    granted = share(max(0, ceiling - taken), claims)
    fair = share(ceiling, [Claim(claim.run, 0, claim.used + claim.wants) for claim in claims])
    return [_spend(work, slots, target) for (_, _, work), slots, target in zip(works, granted, fair, strict=True)]


def _spend(work: LaneWork, slots: int, target: int) -> Grant:
    """Slots go to Jobs that are there first; what is left makes a new one."""
    patches: list[JobPatch] = []
    for job in () if work.queued else work.jobs:
        used = 0 if job.suspended else min(job.parallelism, job.remaining)
        more = min(slots, job.remaining - used)
        if more > 0:
            patches.append(JobPatch(job.name, parallelism=used + more, suspend=False if job.suspended else None))
            slots -= more
    completions = _chunk(work, slots, target)
    return Grant(tuple(patches), min(slots, completions), completions)


def _chunk(work: LaneWork, slots: int, target: int) -> int:
    """Completions of a new Job; 0 for none."""
    if slots == 0 or work.pending == 0:
        return 0
    if work.queued and work.jobs and 2 * slots < min(target, work.pending):
        # Its parallelism is for good: better one Job with half of the slots a little later than many with one each.
        return 0
    if work.one_round:
        return min(work.pending, slots, MOST_COMPLETIONS)
    return min(work.pending, ROUNDS * max(slots, target), MOST_COMPLETIONS)


def held_trials(cell_jobs: Sequence[ObservedJob]) -> set[TrialKey]:
    """Trials of Jobs that have not finished, or whose pods are not all booked: none of them is planned again yet."""
    return {
        (job.cell, ref.task_id, ref.trial)
        for job in cell_jobs
        if not (job.finished and job.harvested)
        for ref in job.trials
    }


class Pending:
    """Finds the trials that no Job has and that need an attempt.

    Args:
        book: The run's attempts.
        trials: Trials of each task.
        held: Trials that a Job has.
    """

    def __init__(self, book: Book, trials: int, held: AbstractSet[TrialKey]) -> None:
        self._book = book
        self._trials = trials
        self._held = held
        self._held_in = Counter(key[0] for key in held if not book.settled(key))

    def count(self, lane: Lane, *, alone: bool) -> int:
        """How many trials of a lane are pending.

        Args:
            lane: The lane.
            alone: Whether it is all of its cell; counting is quick then.
        """
        if not alone:
            return sum(1 for _ in self.find(lane))
        cell = lane.cell.key
        return len(lane.task_ids) * self._trials - self._book.settled_in(cell) - self._held_in[cell]

    def find(self, lane: Lane) -> Iterator[TrialKey]:
        """The pending trials of a lane, in the order in which they should start."""
        return (key for key in lane.keys(self._trials) if key not in self._held and not self._book.settled(key))


def refs(keys: Iterator[TrialKey], most: int) -> list[TrialRef]:
    """The first trials, as an order names them."""
    return [TrialRef(task_id=task_id, trial=trial) for (_, task_id, trial), _ in zip(keys, range(most), strict=False)]
