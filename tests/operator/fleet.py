"""A simulated namespace: it applies plans, starts and ends pods, and is observed again.

It replaces API server, Job controller, harvest and store, as far as plans depend on them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from opsgym_api.jobs.job_spec import JobSpec, PreflightReport, TrialRef, pods_for, trials_at
from opsgym_api.kinds.evalmodel import EvalModel, ModelSpec
from opsgym_api.kinds.evalrun import EvalRunSpec, EvalRunStatus, NotificationStatus
from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, Timings, TrialId
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_api.records.run import Control, RunRecord
from opsgym_api.tasks.suite import SuiteEntry, SuiteIndex
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.gates.judge import Baseline
from opsgym_core.notifications.webhook import DeliveryResult, WebhookRequest
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.config import Images, OperatorConfig
from opsgym_operator.manifests.jobs import manifests_of
from opsgym_operator.observe.labels import LABEL_EVAL_MODEL, LABEL_RUN_UID, number_of, prefix_of
from opsgym_operator.observe.objects import (
    ChunkState,
    ObservedJob,
    ObservedNamespace,
    ObservedPod,
    ObservedPreflight,
    ObservedRun,
    StoredState,
)
from opsgym_operator.plan.desired import Desired, Event, Load
from opsgym_operator.plan.namespace import plan

START = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = OperatorConfig(
    stores=[
        StoreConfig(name="results", url="s3://bucket/prefix", endpoint_url="http://s3.test", secret="opsgym-results")
    ],
    default_store="results",
    images=Images(runner="runner:1", domains="domains:1"),
)

AttemptEnd = tuple[Outcome, float | None]
"""Outcome of an attempt, and its cost in dollars, None if it is unknown."""


def entry(task_id: str, *gyms: str) -> SuiteEntry:
    domains = list(gyms or ("itsm",))
    return SuiteEntry(
        task_id=task_id,
        domain=domains[0] if len(domains) == 1 else "hybrid",
        gyms=domains,
        digest=f"digest of {task_id}",
    )


def model(name: str, **fields: Any) -> EvalModel:
    return EvalModel.model_validate(
        {
            "apiVersion": "opsgym.dev/v1alpha1",
            "kind": "EvalModel",
            "metadata": {"name": name},
            "spec": ModelSpec(**{"model": "replay/gold"} | fields).model_dump(by_alias=True, exclude_none=True),
        }
    )


def always_passes(cell: str, task_id: str, trial: int, attempt: int) -> AttemptEnd:
    return Outcome.PASSED, 0.0


@dataclass
class SimJob:
    """A Job as its controller sees it."""

    manifest: Mapping[str, Any]
    order: JobSpec
    parallelism: int
    suspended: bool
    completed: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    tries: dict[int, int] = field(default_factory=dict)
    pods: set[int] = field(default_factory=set)
    terminating: set[int] = field(default_factory=set)
    ended_at: datetime | None = None
    """When its last pod ended."""

    @property
    def finished(self) -> bool:
        return len(self.completed) + len(self.failed) == self.completions

    @property
    def completions(self) -> int:
        return pods_for(len(self.order.trials), self.order.trials_per_pod)

    def trials(self, index: int) -> Sequence[TrialRef]:
        return trials_at(self.order.trials, self.order.trials_per_pod, index)

    @property
    def uid(self) -> str:
        return str(self.manifest["metadata"]["labels"][LABEL_RUN_UID])


@dataclass
class SimRun:
    """An EvalRun with its store."""

    name: str
    spec: EvalRunSpec
    entries: list[SuiteEntry]
    created_at: datetime
    generation: int = 1
    status: EvalRunStatus = field(default_factory=EvalRunStatus)
    record: RunRecord | None = None
    index: SuiteIndex | None = None
    control: Control | None = None
    ledger: AttemptLedger = field(default_factory=lambda: AttemptLedger(0))
    attempts: dict[TrialId, int] = field(default_factory=dict)
    preflights: dict[str, ObservedPreflight] = field(default_factory=dict)
    config_maps: set[str] = field(default_factory=set)
    next_numbers: dict[str, int] = field(default_factory=dict)
    under_way: dict[tuple[str, str, int, int], float] = field(default_factory=dict)
    """Cost so far of attempts that have not ended."""
    gate: GateRecord | None = None
    baseline: Baseline | None = None
    requests: dict[tuple[str, int], WebhookRequest] = field(default_factory=dict)
    """Notifications to send, by id and attempt."""
    deliveries: dict[str, DeliveryResult] = field(default_factory=dict)
    settled: list[NotificationStatus] = field(default_factory=list)
    gone: bool = False
    events: list[Event] = field(default_factory=list)
    started: int = 0
    """Pods that were started."""

    @property
    def uid(self) -> str:
        return f"uid-{self.name}"[:36]

    def condition(self, kind: str) -> str:
        current = next(condition for condition in self.status.conditions if condition.type == kind)
        return f"{current.status} {current.reason}"


class Fleet:
    """The namespace."""

    def __init__(
        self, seed: int = 0, config: OperatorConfig = CONFIG, ending: Callable[..., AttemptEnd] = always_passes
    ):
        self.chance = random.Random(seed)
        self.config = config
        self.ending = ending
        self.trial_s = 0.0
        """Seconds that a trial takes by its record."""
        self.now = START
        self.runs: dict[str, SimRun] = {}
        self.jobs: dict[str, SimJob] = {}
        self.models: dict[str, EvalModel] = {}
        self.report = PreflightReport()
        self.image_ids: dict[str, str] = {}
        """Ids of the images, as the node of each preflight reports them."""
        self.last: dict[str, Desired] = {}
        self.seen: Callable[[ObservedNamespace], ObservedNamespace] = lambda namespace: namespace
        """Changes the observation, for tests of unusual ones."""

    # User actions

    def apply(self, name: str, spec: EvalRunSpec, entries: list[SuiteEntry]) -> SimRun:
        run = SimRun(name, spec, entries, self.now, ledger=AttemptLedger(spec.limits.infra_retries))
        self.runs[run.uid] = run
        return run

    def edit(self, run: SimRun, **changes: object) -> None:
        run.spec = run.spec.model_copy(update=changes)
        run.generation += 1

    # Observation

    def observed(self) -> ObservedNamespace:
        jobs = tuple(self._job(name, job) for name, job in self.jobs.items())
        namespace = ObservedNamespace(
            runs=tuple(self._run(run) for run in self.runs.values() if not run.gone),
            jobs=jobs,
            pods=tuple(
                ObservedPod(
                    f"{name}-{index}",
                    name,
                    job.uid,
                    eval_model=job.manifest["metadata"]["labels"].get(LABEL_EVAL_MODEL, ""),
                    model=job.order.cell.model,
                    running=True,
                )
                for name, job in self.jobs.items()
                for index in sorted(job.pods | job.terminating)
            ),
            models=self.models,
        )
        return self.seen(namespace)

    def _run(self, run: SimRun) -> ObservedRun:
        return ObservedRun(
            name=run.name,
            uid=run.uid,
            namespace="team",
            generation=run.generation,
            created_at=run.created_at,
            spec=run.spec,
            status=run.status,
            stored=StoredState(run.record, run.index, run.control, run.gate, run.ledger),
            preflights=tuple(run.preflights.values()),
            config_maps=frozenset(run.config_maps),
            next_numbers=dict(run.next_numbers),
            baseline=run.baseline,
            deliveries=tuple(run.deliveries.values()),
        )

    def _job(self, name: str, job: SimJob) -> ObservedJob:
        return ObservedJob(
            name=name,
            run_uid=job.uid,
            cell=job.order.cell.key,
            eval_model=job.manifest["metadata"]["labels"].get(LABEL_EVAL_MODEL, ""),
            model=job.order.cell.model,
            trials=tuple(job.order.trials),
            parallelism=job.parallelism,
            completions=job.completions,
            per_pod=job.order.trials_per_pod,
            active=len(job.pods),
            terminating=len(job.terminating),
            completed=frozenset(job.completed),
            failed=frozenset(job.failed),
            suspended=job.suspended,
            finished=job.finished,
            finished_at=job.ended_at if job.finished else None,
            harvested=job.finished and not job.pods and not job.terminating,
            chunk=self._compact(name, job),
        )

    def _compact(self, name: str, job: SimJob) -> ChunkState:
        if not job.finished or job.pods or job.terminating:
            return ChunkState.DUE
        numbers = self.runs[job.uid].next_numbers
        numbers[prefix_of(name)] = max(numbers.get(prefix_of(name), 0), number_of(name) + 1)
        return ChunkState.WRITTEN

    # Applying plans

    def plan(self) -> dict[str, Desired]:
        """Plans and applies until a plan changes nothing."""
        for _ in range(200):
            self.last = plan(self.observed(), self.config, self.now, "1.0")
            changed = [self.carry_out(self.runs[uid], desired) for uid, desired in self.last.items()]
            if not any(changed):
                return self.last
        raise AssertionError(f"plans do not come to an end: {self.last}")

    def manifests(self, run: SimRun, desired: Desired) -> list[dict[str, Any]]:
        """Objects of the Jobs that a plan creates."""
        observed = self._run(run)
        return [manifest for job in desired.create for manifest in manifests_of(observed, job, self.config)]

    def carry_out(self, run: SimRun, desired: Desired) -> bool:
        if run.record is None and desired.freeze is not None:
            run.record = desired.freeze.with_looks(())
        run.control = desired.control or run.control
        run.gate = desired.gate or run.gate
        if desired.look is not None and run.record is not None:
            run.record = run.record.with_looks([*run.record.looks, desired.look])
        for record in desired.records:
            assert run.ledger.record(record), "recorded twice"
            key = record.trial_id
            run.attempts[key] = record.attempt + 1
        for manifest in self.manifests(run, desired):
            self._create(run, manifest)
        for patch in desired.patches:
            job = self.jobs[patch.name]
            if patch.parallelism is not None:
                assert job.suspended or patch.parallelism > job.parallelism, "a live Job was lowered"
                job.parallelism = patch.parallelism
            job.suspended = job.suspended if patch.suspend is None else patch.suspend
        for ref in desired.delete:
            self._delete(run, ref.kind, ref.name)
        if Load.SUITE_INDEX in desired.loads:
            run.index = SuiteIndex(entries=run.entries)
        run.status = desired.status or run.status
        run.events += desired.events
        run.settled += desired.settled_notifications
        run.requests |= {(request.id, request.attempt): request for request in desired.send}
        self._controllers()
        acts = (
            *(desired.freeze, desired.control, desired.records, desired.look, desired.gate),
            *(desired.create, desired.patches, desired.delete),
        )
        return any(acts) or (bool(desired.loads) and run.record is None)

    def _create(self, run: SimRun, manifest: Mapping[str, Any]) -> None:
        name = manifest["metadata"]["name"]
        if manifest["kind"] == "ConfigMap":
            assert name not in run.config_maps
            run.config_maps.add(name)
            self._content = json.loads(manifest["data"]["job.json"])
        elif "-preflight-" in name:
            report = self.report
            run.preflights[name] = ObservedPreflight(
                name, finished_at=self.now, report=report, image_ids=self.image_ids
            )
        else:
            assert name not in self.jobs
            order = JobSpec.model_validate(self._content)
            spec = manifest["spec"]
            self.jobs[name] = SimJob(manifest, order, spec["parallelism"], spec["suspend"])
            assert spec["completions"] == self.jobs[name].completions >= spec["parallelism"] > 0

    def _delete(self, run: SimRun, kind: str, name: str) -> None:
        if kind == "EvalRun":
            run.gone = True
        elif kind == "ConfigMap":
            run.config_maps.remove(name)
        elif name in run.preflights:
            del run.preflights[name]
        else:
            assert not self.jobs[name].pods, "a Job with pods was deleted"
            del self.jobs[name]

    def _controllers(self) -> None:
        for job in self.jobs.values():
            if job.suspended:
                job.terminating |= job.pods
                job.pods.clear()
                continue
            waiting = [
                index
                for index in range(job.completions)
                if index not in job.completed | job.failed | job.pods | job.terminating
            ]
            room = job.parallelism - len(job.pods) - len(job.terminating)
            started = waiting[: max(0, room)]
            job.pods.update(started)
            self.runs[job.uid].started += len(started)

    def busy(self, model: str) -> int:
        """Pods that use a model."""
        jobs = [job for job in self.jobs.values() if job.order.cell.model == model]
        return sum(len(job.pods) + len(job.terminating) for job in jobs)

    # Pods

    def spend_some(self) -> None:
        """Records what some running attempts have cost so far."""
        for job in self.jobs.values():
            for index in sorted(job.pods):
                ref, run = job.trials(index)[0], self.runs[job.uid]
                attempt = run.attempts.get(TrialId(job.order.cell.key, ref.task_id, ref.trial), 0)
                _, cost = self._outcome(job, run, index, ref, attempt)
                share = (cost or 0.0) * self.chance.random()
                noted = run.under_way.get((job.order.cell.key, ref.task_id, ref.trial, attempt), 0.0)
                share = max(noted, share)
                run.under_way[job.order.cell.key, ref.task_id, ref.trial, attempt] = share
                run.ledger.record(
                    AttemptRecord(
                        run="r",
                        cell=job.order.cell,
                        task_id=ref.task_id,
                        trial=ref.trial,
                        attempt=attempt,
                        cost_usd=share,
                        timings=Timings(started_at=self.now.isoformat()),
                    )
                )

    def end_one(self, *, seconds: float = 1.0) -> bool:
        """Ends a pod that is chosen at random; returns False if none runs."""
        pods = [(name, index) for name, job in self.jobs.items() for index in sorted(job.pods | job.terminating)]
        if not pods:
            return False
        self.now += timedelta(seconds=seconds)
        name, index = self.chance.choice(pods)
        self.end(name, index)
        return True

    def end(self, name: str, index: int) -> None:
        job = self.jobs[name]
        outcomes = [self._play(job, index, ref) for ref in job.trials(index)]
        job.ended_at = self.now
        was_terminating = index in job.terminating
        job.pods.discard(index)
        job.terminating.discard(index)
        if Outcome.INFRA_ERROR in outcomes or Outcome.CANCELLED in outcomes:
            if not was_terminating:
                job.tries[index] = job.tries.get(index, 0) + 1
            if job.tries.get(index, 0) > job.manifest["spec"]["backoffLimitPerIndex"]:
                job.failed.add(index)
        else:
            job.completed.add(index)
        self._controllers()

    def _play(self, job: SimJob, index: int, ref: TrialRef) -> Outcome | None:
        """Outcome of the pod's attempt at a trial; None if an earlier pod scored it."""
        run = self.runs[job.uid]
        key = TrialId(job.order.cell.key, ref.task_id, ref.trial)
        known = run.ledger.state(key).outcome
        if known is not None and known.scored:
            return None
        attempt = run.attempts.get(key, 0)
        run.attempts[key] = attempt + 1
        outcome, cost = self._outcome(job, run, index, ref, attempt)
        spent = run.under_way.pop((*key, attempt), 0.0)
        cost = None if cost is None else max(cost, spent)
        end = summary(job.order.cell, ref.task_id, ref.trial, attempt, outcome, cost, self.now)
        assert run.ledger.record(replace(end, timings=replace(end.timings, total_s=self.trial_s)))
        return outcome

    def _outcome(self, job: SimJob, run: SimRun, index: int, ref: TrialRef, attempt: int) -> AttemptEnd:
        if index in job.terminating:
            return Outcome.CANCELLED, 0.0
        control = run.control or Control()
        if not control.start and control.reason == "budget":
            return Outcome.BUDGET_SKIPPED, 0.0
        return self.ending(job.order.cell.key, ref.task_id, ref.trial, attempt)

    def run_out(self, *, most: int = 100_000, check: Callable[[], None] = lambda: None, spending: bool = False) -> None:
        """Plans and ends pods in turn until no pod is left.

        Args:
            most: Pods to end.
            check: Called after each plan.
            spending: Whether the spend of running attempts is recorded.
        """
        self.plan()
        check()
        for _ in range(most):
            if spending:
                self.spend_some()
                self.plan()
                check()
            if not self.end_one():
                break
            self.plan()
            check()
        else:
            raise AssertionError("the runs do not come to an end")


def summary(
    cell: Cell, task_id: str, trial: int, attempt: int, outcome: Outcome, cost: float | None, at: datetime
) -> Attempt:
    reason = {Outcome.INFRA_ERROR: InfraReason.GYM_LOST, Outcome.FAILED: "verifiers"}.get(outcome, "")
    return Attempt(
        cell=cell,
        task_id=task_id,
        trial=trial,
        attempt=attempt,
        outcome=outcome,
        reason=reason,
        message="the gym is gone" if outcome is Outcome.INFRA_ERROR else "",
        cost_usd=cost,
        timings=Timings(started_at=at.isoformat()),
    )
