"""The Jobs of a frozen run, its start gate, and its end.

Invariant: a trial is planned again only while it has no score, has retries left, and is in no Job. Trials that will not
run are written off in the store before the run ends, so every planned trial is accounted for there.

Money: what may still be spent is reserved before a trial is planned, not when its pod starts, since pods start without
asking the operator. With `n` trials planned, `seen` the largest cost known when the last of them was, and `largest` the
largest any trial came to in the end: final spend <= cap + largest + n * (largest - seen). See `plan.budget_gate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice

from opsgym_api.evalrun import ModelEntry
from opsgym_api.gate import CellScores, RunScores, Standing
from opsgym_api.orders import TrialRef
from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord, Cell, Control, Timings
from opsgym_operator.accept import Accepted
from opsgym_operator.book import Book
from opsgym_operator.chunks import Claim, Grant, LaneWork, Pending, held_trials, refs, share, used_slots
from opsgym_operator.config import OperatorConfig
from opsgym_operator.desired import JobPatch, Manifest, ObjectRef
from opsgym_operator.lanes import Lane
from opsgym_operator.manifests import TaskJob, order_map, task_job
from opsgym_operator.names import TASK, job_prefix, number_of
from opsgym_operator.observed import ObservedJob, ObservedPod, ObservedRun, Stored
from opsgym_operator.ordering import cast_of, job_order, key_envs, ordered_model, origins, recordings
from opsgym_operator.plan import TrialKey, budget_gate
from opsgym_operator.status import Figures, Tally, tally_of

MOST_RECORDS = 500
"""Written in one go; the rest follows at once, and status moves meanwhile."""


@dataclass(frozen=True)
class _Reservation:
    """Trials that have been planned and may still cost something."""

    trials: int
    spent: float
    """Dollars that they have cost so far."""


@dataclass(frozen=True)
class Work:
    """A frozen run, as far as its trials go."""

    run: ObservedRun
    accepted: Accepted
    stored: Stored
    jobs: tuple[ObservedJob, ...]
    """Its task Jobs."""
    pods: tuple[ObservedPod, ...]
    """Its task pods that have not ended."""
    now: datetime

    @property
    def book(self) -> Book:
        """Its attempts."""
        return self.stored.book

    @cached_property
    def live(self) -> tuple[ObservedJob, ...]:
        """Jobs that go on by themselves."""
        return tuple(job for job in self.jobs if not job.finished and not job.deleting)

    @cached_property
    def slots(self) -> dict[str, int]:
        """Pods that each Job may have at any moment, by its name."""
        pods: dict[str, int] = {}
        for pod in self.pods:
            pods[pod.job] = pods.get(pod.job, 0) + 1
        return {job.name: used_slots(job, pods.get(job.name, 0)) for job in self.jobs}

    @cached_property
    def held(self) -> set[TrialKey]:
        """Trials that a Job has."""
        return held_trials(self.jobs)

    @property
    def lost(self) -> list[ObservedJob]:
        """Jobs of which nobody can tell what their pods do: their orders are gone."""
        return [job for job in self.jobs if not job.trials and not job.finished]

    @cached_property
    def reserved(self) -> _Reservation:
        """Trials that Jobs have and that may still cost something."""
        going = [key for key in self.held if not self.book.settled(key)]
        return _Reservation(len(going), sum(self.book.state(key).cost_usd for key in going))

    @cached_property
    def control(self) -> Control:
        """The start gate as it should stand."""
        if self.accepted.spec.suspend:
            return Control(start=False, proceed=False, reason="suspended")
        gate = self._budget_gate()
        if gate.start and self.book.breaker.open(self.now.timestamp()):
            return Control(start=False, reason="breaker")
        return gate

    def _budget_gate(self) -> Control:
        """What the budget says: whether running trials may go on, and whether the last one planned might still start.

        Those planned before that one may start too, and nobody planned more. What a trial in flight has spent is part
        of what is reserved for it.
        """
        budget, book, going = self.accepted.spec.budget, self.book, self.reserved
        gate = budget_gate(budget, book.spent, 0, 0.0)
        last = budget_gate(budget, book.spent - going.spent, max(0, going.trials - 1), book.largest)
        return last if gate.proceed and not last.start else gate

    @property
    def budget_closed(self) -> bool:
        """Whether the budget lets nothing start."""
        return self.control.reason == "budget"

    @cached_property
    def pending(self) -> Pending:
        """Finds trials that no Job has."""
        return Pending(self.book, self.accepted.spec.trials, self.held)

    @cached_property
    def tally(self) -> Tally:
        """Trials by how they ended."""
        return tally_of(self.book, self.stored.cells)

    @property
    def figures(self) -> Figures:
        """Numbers for the status."""
        return Figures(self.tally, self.book.success, self.book.cost_usd, self.book.started_at)

    @property
    def standing(self) -> Standing:
        """What the gate judges."""
        record, scores = self.stored.record, self.book.scores()
        cells = (
            [CellScores(planned.cell, scores.get(planned.cell.key, {})) for planned in record.cells] if record else []
        )
        return Standing(
            scores=RunScores(self.run.id, record.suite_digest if record else "", cells),
            total=self.tally.total,
            infra_errors=self.tally.infra_error,
            cost_usd=self.book.cost_usd,
        )

    @property
    def done(self) -> bool:
        """Whether every trial is accounted for and no Job is left that might say otherwise."""
        waits_for_money = self.tally.budget_skipped > 0 and not self.budget_closed
        return self.tally.pending == 0 and not waits_for_money and not self.held

    # Slots

    @cached_property
    def lanes(self) -> tuple[tuple[int, LaneWork], ...]:
        """Lanes with the slots they have, and what could be done in them now; none that neither has nor wants any."""
        found = [self._lane(lane) for lane in self.stored.lanes]
        counts = self._allowed([work.pending for _, work in found])
        works = ((used, replace(work, pending=count)) for (used, work), count in zip(found, counts, strict=True))
        return tuple((used, work) for used, work in works if used or work.wants)

    def _lane(self, lane: Lane) -> tuple[int, LaneWork]:
        jobs = self._jobs_of(lane)
        used = sum(self.slots[job.name] for job in jobs)
        waits = any(job.cell == lane.cell.key for job in self.lost)
        if not self.control.start or self.run.store_trouble or waits:
            return used, LaneWork(lane)
        spec = self.accepted.spec
        return used, LaneWork(
            lane,
            tuple(job for job in jobs if not job.finished and not job.deleting),
            pending=self.pending.count(lane, alone=self._alone(lane)),
            one_round=spec.budget is not None and not self.book.any_ended,
            queued=spec.queue_name is not None,
        )

    def _alone(self, lane: Lane) -> bool:
        return len(lane.task_ids) * self.accepted.spec.trials == self.stored.cells[lane.cell.key]

    def _jobs_of(self, lane: Lane) -> list[ObservedJob]:
        own = [job for job in self.jobs if job.cell == lane.cell.key]
        if self._alone(lane):
            return own
        tasks = set(lane.task_ids)
        return [job for job in own if job.trials and job.trials[0].task_id in tasks]

    def _allowed(self, pending: Sequence[int]) -> Sequence[int]:
        """How many trials of each lane the budget lets be planned, shared evenly."""
        budget, book = self.accepted.spec.budget, self.book
        if budget is None or book.largest == 0:
            return pending
        planned, spent = self.reserved.trials, book.spent - self.reserved.spent
        affordable = min((budget.max_usd - spent) / book.largest, sum(pending) + planned)
        allowed = math.ceil(affordable) - planned
        return share(max(0, allowed), [Claim(number, 0, count) for number, count in enumerate(pending)])

    # Objects

    def created(self, granted: Sequence[tuple[LaneWork, Grant]], config: OperatorConfig) -> list[Manifest]:
        """New Jobs, each after its order."""
        numbers: dict[str, int] = {}
        found: list[Manifest] = []
        for work, grant in granted:
            if grant.completions:
                prefix = job_prefix(self.run, work.lane.cell.key)
                number = numbers.get(prefix, self._next_number(prefix))
                numbers[prefix] = number + 1
                found += self._job(f"{prefix}{number}", work, grant, config)
        return found

    def _next_number(self, prefix: str) -> int:
        """Never one that was used: what is left of an earlier Job must not be taken for the new one's."""
        names = {job.name for job in self.jobs} | self.run.orders
        return max((number_of(name) + 1 for name in names if name.startswith(prefix)), default=0)

    def _job(self, name: str, work: LaneWork, grant: Grant, config: OperatorConfig) -> tuple[Manifest, Manifest]:
        spec, cell = self.accepted.spec, work.lane.cell
        trials = refs(self.pending.find(work.lane), grant.completions)
        names, models = cast_of(spec, cell), self.accepted.models
        specs = [models[name] for name in names.players]
        envs = key_envs(specs)
        origin = origins(self.run.name, spec)
        ordered = names.each(lambda name: ordered_model(name, models[name], origin[name], envs))
        order = job_order(self.run.id, spec, cell, work.lane.gyms, trials, ordered, config)
        job = TaskJob(
            name=name,
            order=order,
            envs=envs,
            recordings=recordings(specs),
            eval_model=self._entry(cell.model).ref or "",
            parallelism=grant.parallelism,
            retries=self._retries(cell, trials),
            queue=spec.queue_name,
        )
        return order_map(self.run, name, TASK, order), task_job(self.run, job, self.accepted.store, config)

    def _entry(self, model: str) -> ModelEntry:
        return next(entry for entry in self.accepted.spec.models if entry.name == model)

    def _retries(self, cell: Cell, trials: Sequence[TrialRef]) -> int:
        """Tries that are left to the trial that has most."""
        fewest = min(self.book.state((cell.key, ref.task_id, ref.trial)).infra_errors for ref in trials)
        return max(0, self.accepted.spec.limits.infra_retries - fewest)

    def suspended(self) -> list[JobPatch]:
        """Live Jobs stop; those of Kueue are deleted instead, since Kueue decides when a Job of its own runs."""
        return [JobPatch(job.name, suspend=True) for job in self.live if not job.suspended and not job.queued]

    def discarded(self) -> list[ObjectRef]:
        """Jobs that nobody needs any more, and orders without a Job."""
        gone = {job.name for job in self.jobs if self._useless(job)}
        named = {job.name for job in self.jobs} - gone
        named |= {found.name for found in self.run.preflights}
        orders = sorted(order for order in self.run.orders if order not in named)
        return [ObjectRef("Job", name) for name in sorted(gone)] + [ObjectRef("ConfigMap", name) for name in orders]

    def _useless(self, job: ObservedJob) -> bool:
        if job.deleting:
            return False
        if job.finished:
            # The newest of a cell stays, so that its pods' logs can be read and its number is not used again.
            newest = max(number_of(other.name) for other in self.jobs if _prefix(other) == _prefix(job))
            return job.harvested and number_of(job.name) < newest
        if self.accepted.spec.suspend:
            return job.queued
        return self.budget_closed and job.suspended and not job.queued and self.slots[job.name] == 0

    # Trials that will not run

    def written_off(self) -> tuple[list[AttemptRecord], bool]:
        """Records of trials that end without a pod's word, and whether there are more than these."""
        found = list(islice(self._write_off(), MOST_RECORDS + 1))
        return found[:MOST_RECORDS], len(found) > MOST_RECORDS

    def _write_off(self) -> Iterator[AttemptRecord]:
        for job in self.jobs:
            if job.finished and job.harvested and not job.deleting:
                yield from self._silent(job)
        if self.budget_closed and self.reserved.trials == 0 and self.accepted.spec.budget is not None:
            cap = f"${self.accepted.spec.budget.max_usd:g}"
            message = f"the run's budget of {cap} is spent; raise spec.budget.maxUsd and the run goes on"
            for lane in self.stored.lanes:
                yield from self._skipped(lane, message)

    def _silent(self, job: ObservedJob) -> Iterator[AttemptRecord]:
        """Indexes that ended although no attempt of theirs was ever heard of."""
        for index in sorted(job.completed | job.failed):
            ref = job.trials[index] if index < len(job.trials) else None
            if ref is not None and self.book.state((job.cell, ref.task_id, ref.trial)).outcome is None:
                message = f"index {index} of Job {job.name} ended, and its pod left neither a message nor a record"
                cell = self._cell(job.cell)
                yield self._record(cell, ref.task_id, ref.trial, Outcome.INFRA_ERROR, InfraReason.RUNNER_ERROR, message)

    def _skipped(self, lane: Lane, message: str) -> Iterator[AttemptRecord]:
        for key in self.pending.find(lane):
            if self.book.state(key).outcome is not Outcome.BUDGET_SKIPPED:
                yield self._record(lane.cell, key[1], key[2], Outcome.BUDGET_SKIPPED, "budget", message)

    def _record(
        self, cell: Cell, task_id: str, trial: int, outcome: Outcome, reason: str, message: str
    ) -> AttemptRecord:
        return AttemptRecord(
            run=self.run.id,
            cell=cell,
            task_id=task_id,
            trial=trial,
            attempt=self.book.state((cell.key, task_id, trial)).attempts,
            outcome=outcome,
            reason=reason,
            message=message,
            timings=Timings(started_at=self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")),
        )

    def _cell(self, key: str) -> Cell:
        return next(lane.cell for lane in self.stored.lanes if lane.cell.key == key)


def _prefix(job: ObservedJob) -> str:
    return job.name.rpartition("-")[0]
