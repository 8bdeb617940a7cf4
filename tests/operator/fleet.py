"""A namespace that does what plans want: Jobs start pods, pods end, and everything is seen again.

It stands in for API server, Job controller, harvest and store, as far as plans depend on them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from opsgym_api.evalmodel import EvalModel, ModelSpec
from opsgym_api.evalrun import EvalRunSpec, EvalRunStatus, NoticeStatus
from opsgym_api.gate import Baseline
from opsgym_api.orders import AttemptSummary, JobOrder, PreflightReport, SuiteEntry, SuiteIndex
from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord, Cell, Control, GateRecord, RunRecord, Timings
from opsgym_operator.book import Book
from opsgym_operator.config import Images, OperatorConfig, StoreConfig
from opsgym_operator.decide import plan
from opsgym_operator.desired import Delivery, Desired, Event, Letter, Need
from opsgym_operator.names import LABEL_EVAL_MODEL, LABEL_RUN_UID
from opsgym_operator.observed import (
    ObservedJob,
    ObservedNamespace,
    ObservedPod,
    ObservedPreflight,
    ObservedRun,
    Stored,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = OperatorConfig(
    stores=[
        StoreConfig(name="results", url="s3://bucket/prefix", endpoint_url="http://s3.test", secret="opsgym-results")
    ],
    default_store="results",
    images=Images(runner="runner:1", domains="domains:1"),
)

Ending = tuple[Outcome, float]
"""How an attempt ends, and its dollars."""


def entry(task_id: str, *gyms: str) -> SuiteEntry:
    found = list(gyms or ("itsm",))
    return SuiteEntry(
        task_id=task_id, domain=found[0] if len(found) == 1 else "hybrid", gyms=found, digest=f"digest of {task_id}"
    )


def model(name: str, **fields: Any) -> EvalModel:
    return EvalModel.model_validate(
        {
            "apiVersion": "opsgym.dev/v1alpha1",
            "kind": "EvalModel",
            "metadata": {"name": name},
            "spec": ModelSpec(model="replay/gold", **fields).model_dump(by_alias=True, exclude_none=True),
        }
    )


def always_passes(cell: str, task_id: str, trial: int, attempt: int) -> Ending:
    return Outcome.PASSED, 0.0


@dataclass
class SimJob:
    """A Job as its controller sees it."""

    manifest: Mapping[str, Any]
    order: JobOrder
    parallelism: int
    suspended: bool
    completed: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    tries: dict[int, int] = field(default_factory=dict)
    pods: set[int] = field(default_factory=set)
    terminating: set[int] = field(default_factory=set)

    @property
    def finished(self) -> bool:
        return len(self.completed) + len(self.failed) == len(self.order.trials)

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
    book: Book = field(default_factory=lambda: Book(0))
    attempts: dict[tuple[str, str, int], int] = field(default_factory=dict)
    preflights: dict[str, ObservedPreflight] = field(default_factory=dict)
    orders: set[str] = field(default_factory=set)
    under_way: dict[tuple[str, str, int, int], float] = field(default_factory=dict)
    """What attempts have cost that have not ended."""
    gate: GateRecord | None = None
    baseline: Baseline | None = None
    letters: dict[tuple[str, int], Letter] = field(default_factory=dict)
    """Notices that were to be sent, by id and attempt."""
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    told: list[NoticeStatus] = field(default_factory=list)
    gone: bool = False
    events: list[Event] = field(default_factory=list)
    started: int = 0
    """Pods that were started."""

    @property
    def uid(self) -> str:
        return f"uid-{self.name}"[:36]

    def condition(self, kind: str) -> str:
        found = next(found for found in self.status.conditions if found.type == kind)
        return f"{found.status} {found.reason}"


class Fleet:
    """The namespace."""

    def __init__(self, seed: int = 0, config: OperatorConfig = CONFIG, ending: Callable[..., Ending] = always_passes):
        self.chance = random.Random(seed)
        self.config = config
        self.ending = ending
        self.now = START
        self.runs: dict[str, SimRun] = {}
        self.jobs: dict[str, SimJob] = {}
        self.models: dict[str, EvalModel] = {}
        self.report = PreflightReport()
        self.last: dict[str, Desired] = {}
        self.seen: Callable[[ObservedNamespace], ObservedNamespace] = lambda namespace: namespace
        """Changes what is seen."""

    # What a user does

    def apply(self, name: str, spec: EvalRunSpec, entries: list[SuiteEntry]) -> SimRun:
        run = SimRun(name, spec, entries, self.now, book=Book(spec.limits.infra_retries))
        self.runs[run.uid] = run
        return run

    def edit(self, run: SimRun, **changes: object) -> None:
        run.spec = run.spec.model_copy(update=changes)
        run.generation += 1

    # What is seen

    def observed(self) -> ObservedNamespace:
        namespace = ObservedNamespace(
            runs=tuple(self._run(run) for run in self.runs.values() if not run.gone),
            jobs=tuple(self._job(name, job) for name, job in self.jobs.items()),
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
            stored=Stored(run.record, run.index, run.control, run.gate, run.book),
            preflights=tuple(run.preflights.values()),
            orders=frozenset(run.orders),
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
            completions=len(job.order.trials),
            active=len(job.pods),
            terminating=len(job.terminating),
            completed=frozenset(job.completed),
            failed=frozenset(job.failed),
            suspended=job.suspended,
            finished=job.finished,
            harvested=job.finished and not job.pods and not job.terminating,
        )

    # What a plan leads to

    def plan(self) -> dict[str, Desired]:
        """Plans and applies, until nothing is left to do at this moment."""
        for _ in range(200):
            self.last = plan(self.observed(), self.config, self.now, "1.0")
            changed = [self.carry_out(self.runs[uid], desired) for uid, desired in self.last.items()]
            if not any(changed):
                return self.last
        raise AssertionError(f"plans do not come to an end: {self.last}")

    def carry_out(self, run: SimRun, desired: Desired) -> bool:
        run.record = run.record or desired.freeze
        run.control = desired.control or run.control
        run.gate = desired.gate or run.gate
        for record in desired.records:
            assert run.book.note(record), "written off twice"
            key = (record.cell.key, record.task_id, record.trial)
            run.attempts[key] = record.attempt + 1
        for manifest in desired.create:
            self._create(run, manifest)
        for patch in desired.patches:
            job = self.jobs[patch.name]
            if patch.parallelism is not None:
                assert job.suspended or patch.parallelism > job.parallelism, "a live Job was lowered"
                job.parallelism = patch.parallelism
            job.suspended = job.suspended if patch.suspend is None else patch.suspend
        for ref in desired.delete:
            self._delete(run, ref.kind, ref.name)
        if Need.SUITE in desired.needs:
            run.index = SuiteIndex(entries=run.entries)
        run.status = desired.status or run.status
        run.events += desired.events
        run.told += desired.told
        run.letters |= {(letter.id, letter.attempt): letter for letter in desired.send}
        self._controllers()
        acts = (
            *(desired.freeze, desired.control, desired.records, desired.gate),
            *(desired.create, desired.patches, desired.delete),
        )
        return any(acts) or (bool(desired.needs) and run.record is None)

    def _create(self, run: SimRun, manifest: Mapping[str, Any]) -> None:
        name = manifest["metadata"]["name"]
        if manifest["kind"] == "ConfigMap":
            assert name not in run.orders
            run.orders.add(name)
            self._content = json.loads(manifest["data"]["order.json"])
        elif "-preflight-" in name:
            report = self.report
            run.preflights[name] = ObservedPreflight(name, finished_at=self.now, report=report)
        else:
            assert name not in self.jobs
            order = JobOrder.model_validate(self._content)
            spec = manifest["spec"]
            assert spec["completions"] == len(order.trials) >= spec["parallelism"] > 0
            self.jobs[name] = SimJob(manifest, order, spec["parallelism"], spec["suspend"])

    def _delete(self, run: SimRun, kind: str, name: str) -> None:
        if kind == "EvalRun":
            run.gone = True
        elif kind == "ConfigMap":
            run.orders.remove(name)
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
                for index in range(len(job.order.trials))
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

    # What pods do

    def spend_some(self) -> None:
        """Notes what some attempts that are under way have cost so far."""
        for job in self.jobs.values():
            for index in sorted(job.pods):
                ref, run = job.order.trials[index], self.runs[job.uid]
                attempt = run.attempts.get((job.order.cell.key, ref.task_id, ref.trial), 0)
                _, cost = self._outcome(job, run, index, attempt)
                share = cost * self.chance.random()
                noted = run.under_way.get((job.order.cell.key, ref.task_id, ref.trial, attempt), 0.0)
                share = max(noted, share)
                run.under_way[job.order.cell.key, ref.task_id, ref.trial, attempt] = share
                run.book.note(
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
        """Ends a pod that is chosen at random; whether there was one."""
        found = [(name, index) for name, job in self.jobs.items() for index in sorted(job.pods | job.terminating)]
        if not found:
            return False
        self.now += timedelta(seconds=seconds)
        name, index = self.chance.choice(found)
        self.end(name, index)
        return True

    def end(self, name: str, index: int) -> None:
        job = self.jobs[name]
        run, ref = self.runs[job.uid], job.order.trials[index]
        key = (job.order.cell.key, ref.task_id, ref.trial)
        attempt = run.attempts.get(key, 0)
        run.attempts[key] = attempt + 1
        outcome, cost = self._outcome(job, run, index, attempt)
        cost = max(cost, run.under_way.pop((*key, attempt), 0.0))
        assert run.book.note(summary(job.order.cell, ref.task_id, ref.trial, attempt, outcome, cost, self.now))
        was_terminating = index in job.terminating
        job.pods.discard(index)
        job.terminating.discard(index)
        if outcome in (Outcome.INFRA_ERROR, Outcome.CANCELLED):
            if not was_terminating:
                job.tries[index] = job.tries.get(index, 0) + 1
            if job.tries.get(index, 0) > job.manifest["spec"]["backoffLimitPerIndex"]:
                job.failed.add(index)
        else:
            job.completed.add(index)
        self._controllers()

    def _outcome(self, job: SimJob, run: SimRun, index: int, attempt: int) -> Ending:
        ref = job.order.trials[index]
        if index in job.terminating:
            return Outcome.CANCELLED, 0.0
        control = run.control or Control()
        if not control.start and control.reason == "budget":
            return Outcome.BUDGET_SKIPPED, 0.0
        return self.ending(job.order.cell.key, ref.task_id, ref.trial, attempt)

    def run_out(self, *, most: int = 100_000, check: Callable[[], None] = lambda: None, spending: bool = False) -> None:
        """Plans and ends pods in turn until nothing happens any more.

        Args:
            most: Pods to end.
            check: Is called after each plan.
            spending: Whether spend is noted while attempts are under way.
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
) -> AttemptSummary:
    reason = {Outcome.INFRA_ERROR: InfraReason.GYM_LOST, Outcome.FAILED: "verifiers"}.get(outcome, "")
    return AttemptSummary(
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
