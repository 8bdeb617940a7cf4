"""Progress of a frozen run: its Jobs, its pods, and the state of its trials.

Invariant: a trial is planned again only while it has no score, has retries left, and is in no Job.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from opsgym_api.records.attempt import TrialId
from opsgym_core.accounting.breaker import Breaker
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.accounting.tally import Tally, tally_of
from opsgym_core.gates.judge import CellScores, JudgedRun, RunScores
from opsgym_core.planning.accounts import sharing
from opsgym_core.planning.rounds import current_look
from opsgym_operator.observe.objects import ObservedJob, ObservedPod, ObservedRun, StoredState
from opsgym_operator.observe.pod_groups import PodGroup
from opsgym_operator.plan.desired import ResolvedSpec
from opsgym_operator.plan.status.status import StatusFigures


@dataclass(frozen=True)
class Reservation:
    """Trials that are in a Job and may still cost something."""

    trials: int
    spent: float
    """Dollars that these trials have cost so far; 0 for a run without a budget, where nothing depends on it."""


@dataclass(frozen=True)
class RunProgress:
    """A frozen run as observed. Everything derived is computed at most once per plan."""

    run: ObservedRun
    resolved: ResolvedSpec
    stored: StoredState
    jobs: tuple[ObservedJob, ...]
    """Its task Jobs."""
    pods: tuple[ObservedPod, ...]
    """Its task pods that have not ended."""

    @property
    def ledger(self) -> AttemptLedger:
        """Attempts of the run."""
        return self.stored.ledger

    def used_up_quotas(self, now: datetime) -> Mapping[str, Breaker]:
        """Open breakers of the models whose quota is used up, by model; models of one account share its quota."""
        sharing_with = sharing(self.resolved.models)
        breakers = self.ledger.used_up_quotas(now.timestamp())
        return {model: breaker for own, breaker in breakers.items() for model in sharing_with.get(own, {own})}

    @cached_property
    def live_jobs(self) -> tuple[ObservedJob, ...]:
        """Jobs that the Job controller still works on."""
        return tuple(job for job in self.jobs if not job.finished and not job.deleting)

    @cached_property
    def jobs_without_spec(self) -> tuple[ObservedJob, ...]:
        """Unfinished Jobs whose ConfigMap is gone, so that their trials are unknown."""
        return tuple(job for job in self.jobs if not job.trials and not job.finished)

    @cached_property
    def jobs_by_cell(self) -> Mapping[str, Sequence[ObservedJob]]:
        """Jobs by cell key."""
        jobs: defaultdict[str, list[ObservedJob]] = defaultdict(list)
        for job in self.jobs:
            jobs[job.cell].append(job)
        return jobs

    @cached_property
    def slots_by_job(self) -> Mapping[str, int]:
        """Slots that each Job holds, by its name."""
        pods = Counter(pod.job for pod in self.pods)
        return {job.name: job.slots(pods[job.name]) for job in self.jobs}

    @cached_property
    def assigned(self) -> frozenset[TrialId]:
        """Trials of Jobs that have not finished or whose pods are not all harvested: not to be planned again yet."""
        return frozenset().union(*(job.trial_ids for job in self.jobs if not (job.finished and job.harvested)))

    @cached_property
    def _open_trials(self) -> frozenset[TrialId]:
        """Assigned trials that need a further attempt."""
        return self.ledger.unsettled(self.assigned)

    @cached_property
    def reserved(self) -> Reservation:
        """Trials that are in a Job and may still cost something."""
        if self.resolved.spec.budget is None:
            return Reservation(len(self._open_trials), 0.0)
        state = self.ledger.state
        return Reservation(len(self._open_trials), sum(state(key).cost_usd for key in self._open_trials))

    @cached_property
    def _open_by_cell(self) -> Counter[str]:
        return Counter(key.cell for key in self._open_trials)

    @property
    def trials(self) -> int:
        """Trials of each task that are planned so far: those of the current round, of a run with rounds."""
        return self.stored.record.trials if self.stored.record else self.resolved.spec.trials

    def count_pending(self, group: PodGroup) -> int:
        """Number of a group's trials that are in no Job and need an attempt."""
        if not group.whole_cell:
            return sum(1 for _ in self.pending(group))
        cell = group.cell.key
        planned = len(group.task_ids) * self.trials
        return planned - self.ledger.settled_in(cell) - self._open_by_cell[cell]

    def pending(self, group: PodGroup) -> Iterator[TrialId]:
        """A group's trials that are in no Job and need an attempt, in the order in which they start."""
        for key in group.trials(self.trials):
            if key not in self.assigned and not self.ledger.is_settled(key):
                yield key

    @cached_property
    def tally(self) -> Tally:
        """Trials by outcome."""
        return tally_of(self.ledger, self.stored.cells)

    @property
    def figures(self) -> StatusFigures:
        """Figures for the status."""
        return StatusFigures(self.tally, self.ledger.success, self.ledger.cost_usd, self.ledger.started_at)

    @property
    def judged_run(self) -> JudgedRun:
        """Input of the gate."""
        record, index, scores = self.stored.record, self.stored.index, self.ledger.scores()
        cells = (
            [CellScores(cell.cell, scores.get(cell.cell.key, {}), cell.task_ids) for cell in record.cells]
            if record
            else []
        )
        return JudgedRun(
            scores=RunScores(
                self.run.id,
                record.suite_digest if record else "",
                cells,
                index.digests if index else {},
                self.trials,
            ),
            total=self.tally.total,
            lost=self.tally.lost,
            cost_usd=self.ledger.cost_usd,
            look=current_look(record) if record else None,
            stopped=record is not None and record.stopped is not None,
        )
