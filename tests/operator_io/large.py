"""A namespace with a run of 50,000 trials in 840 cells, and an API server in memory that accepts everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from itertools import count, product
from typing import Any

from opsgym_api.jobs.job_spec import JobModel, JobSpec, TrialRef
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import Attempt, Cell, Timings
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.tasks.suite import SuiteEntry, SuiteIndex
from opsgym_core.kube.client import CONFIGMAPS, EVALRUNS, JOBS, PODS, ApiError, Kind, Manifest
from opsgym_core.planning.cells import plan_cells
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.observe.labels import (
    ANNOTATION_CELL,
    JOB_SPEC_KEY,
    LABEL_INDEX,
    LABEL_JOB_NAME,
    LABEL_MANAGED_BY,
    LABEL_MODEL,
    LABEL_PART_OF,
    LABEL_ROLE,
    LABEL_RUN,
    LABEL_RUN_UID,
    job_prefix,
)
from opsgym_operator.observe.objects import ObservedRun

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
DOMAINS = ("calendar", "csm", "drive", "email", "hr", "itsm", "teams")
ENTRIES = [
    SuiteEntry(task_id=f"{domain}-{number:03}", domain=domain, gyms=[domain], digest=f"{domain}{number}")
    for domain, number in product(DOMAINS, range(30))
]
SPEC: dict[str, Any] = {
    "suite": {"builtin": "quickstart"},
    "models": [
        {"name": f"model-{number}", "inline": {"model": "replay/gold", "maxConcurrency": 40}} for number in range(12)
    ],
    "agents": [{"name": f"agent-{number}"} for number in range(10)],
    "trials": 2,
}
_SPEC = EvalRunSpec.model_validate(SPEC)
UID = "0b5e7f1c-6a1d-4c7e-9a55-5c0a4f3d2e10"


def run_record(name: str = "large", uid: str = UID) -> RunRecord:
    """`run.json` of 50,400 trials in 840 cells."""
    cells = plan_cells(_SPEC, [_Row(entry) for entry in ENTRIES])
    return RunRecord(
        run=f"team.{name}.{uid}", name=name, spec=SPEC, task_ids=[entry.task_id for entry in ENTRIES], trials=2,
        cells=[PlannedCell(cell=plan.cell, task_ids=[row.task_id for row in plan.tasks]) for plan in cells],
        suite_digest="d", opsgym="1", created_at="2026-11-22T11:00:00Z",
    )  # fmt: skip


class _Row:
    def __init__(self, entry: SuiteEntry) -> None:
        self.task_id, self.domain_name = entry.task_id, entry.domain


def suite_index() -> SuiteIndex:
    return SuiteIndex(entries=ENTRIES)


def attempt(cell: Cell, ref: TrialRef, began: datetime = NOW - timedelta(minutes=30)) -> Attempt:
    return Attempt(
        cell=cell, task_id=ref.task_id, trial=ref.trial, attempt=0, outcome=Outcome.PASSED, cost_usd=0.01, steps=5,
        timings=Timings(started_at=began.isoformat(), total_s=60.0),
    )  # fmt: skip


def trials_of(record: RunRecord) -> dict[Cell, list[TrialRef]]:
    """Trials of each cell, in the order in which they start."""
    return {
        planned.cell: [
            TrialRef(task_id=task_id, trial=trial)
            for trial, task_id in product(range(record.trials), planned.task_ids)
        ]
        for planned in record.cells
    }  # fmt: skip


def evalrun(name: str = "large", uid: str = UID, **status: Any) -> Manifest:
    metadata = {"name": name, "namespace": "team", "uid": uid, "resourceVersion": "1", "generation": 1}
    return {
        "apiVersion": EVALRUNS.api_version,
        "kind": EVALRUNS.name,
        "metadata": {**metadata, "creationTimestamp": "2026-11-22T11:00:00Z"},
        "spec": deepcopy(SPEC),
        "status": status,
    }


def job_of(record: RunRecord, cell: Cell, number: int, trials: Sequence[TrialRef]) -> tuple[Manifest, Manifest]:
    """A Job as the API server has it when it is created, and its ConfigMap."""
    uid = record.run.rpartition(".")[2]
    run = ObservedRun(record.name, uid, "team", generation=1, created_at=NOW, spec=_SPEC)
    name = f"{job_prefix(run, cell.key)}{number}"
    labels = {
        LABEL_MANAGED_BY: "opsgym-operator", LABEL_PART_OF: "opsgym", LABEL_RUN: record.name, LABEL_RUN_UID: uid,
        LABEL_ROLE: "task", LABEL_MODEL: cell.model,
    }  # fmt: skip
    owner = {
        "apiVersion": EVALRUNS.api_version, "kind": "EvalRun", "name": record.name, "uid": uid, "controller": True,
    }  # fmt: skip
    own = {
        "namespace": "team", "resourceVersion": "1", "labels": labels, "ownerReferences": [owner], "name": name,
        "creationTimestamp": "2026-11-22T11:00:00Z",
    }  # fmt: skip
    model = JobModel(name=cell.model, model="replay/gold", origin="o", endpoints=[], max_concurrency=40)
    spec = JobSpec(
        run=record.run, cell=cell, model=model, agent=_SPEC.agents[0], limits=_SPEC.limits, access=_SPEC.suite.access,
        gyms={}, trials=list(trials),
    )  # fmt: skip
    job = {
        "apiVersion": JOBS.api_version,
        "kind": JOBS.name,
        "metadata": {**own, "uid": f"job-{name}", "annotations": {ANNOTATION_CELL: cell.key}},
        "spec": {"completions": len(trials), "parallelism": 1, "suspend": False},
        "status": {"startTime": "2026-11-22T11:30:00Z"},
    }
    config_map = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {**own, "uid": f"cm-{name}"},
        "data": {JOB_SPEC_KEY: spec.model_dump_json()},
    }  # fmt: skip
    return job, config_map


def pod_of(job: Manifest, index: int, *, report: Attempt | None) -> Manifest:
    """A pod of a Job as the kubelet reports it; ended if it has a report."""
    name, labels = job["metadata"]["name"], job["metadata"]["labels"]
    at = "2026-11-22T11:31:00Z"
    kinds = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    running = {"running": {"startedAt": at}}
    ended = {
        "terminated": {
            "exitCode": 0, "reason": "Completed", "startedAt": at, "finishedAt": "2026-11-22T11:40:00Z",
            "containerID": f"containerd://{'0' * 64}", "message": report.to_json().decode() if report else "",
        }
    }  # fmt: skip
    status = {
        "containerID": f"containerd://{'0' * 64}", "image": "registry.test/opsgym-domains:1.0.0",
        "imageID": f"registry.test/opsgym-domains@sha256:{'0' * 64}", "lastState": {}, "ready": True, "restartCount": 0,
        "started": True, "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "allocatedResources": {"cpu": "100m", "memory": "256Mi"},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, {"name": "spec", "mountPath": "/etc/opsgym"}],
    }  # fmt: skip
    state = ended if report else running
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"job-{name}", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-{index}-abcde", "generateName": f"{name}-{index}-", "namespace": "team",
            "uid": f"pod-{name}-{index}", "resourceVersion": "1", "creationTimestamp": at,
            "labels": {
                **labels, LABEL_JOB_NAME: name, LABEL_INDEX: str(index), "job-name": name,
                "controller-uid": f"job-{name}", "batch.kubernetes.io/controller-uid": f"job-{name}",
            },
            "annotations": {LABEL_INDEX: str(index), ANNOTATION_CELL: job["metadata"]["annotations"][ANNOTATION_CELL]},
            "ownerReferences": [owner], "finalizers": ["batch.kubernetes.io/job-tracking"],
            "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {"f:phase": {}}}}],
        },
        "status": {
            "phase": "Succeeded" if report else "Running", "qosClass": "Burstable", "hostIP": "10.0.0.1",
            "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}], "startTime": at,
            "conditions": [
                {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": at} for kind in kinds
            ],
            "initContainerStatuses": [{**deepcopy(status), "name": name, "state": state} for name in ("pg", "gym")],
            "containerStatuses": [{**deepcopy(status), "name": "agent", "state": state}],
        },
    }  # fmt: skip


def end_job(job: Manifest) -> None:
    """Completes a Job."""
    job["status"] |= {
        "completedIndexes": f"0-{job['spec']['completions'] - 1}", "succeeded": job["spec"]["completions"],
        "conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-11-22T11:45:00Z"}],
    }  # fmt: skip


class MemoryServer:
    """An API server that accepts everything at once; what it is asked to write is in the cache at once."""

    def __init__(self, cache: ObjectCache) -> None:
        self.cache = cache
        self.requests: Counter[str] = Counter()
        """Requests by verb and kind."""
        self._versions = count(10)

    async def create(self, manifest: Manifest) -> Manifest:
        self.requests[f"create {manifest['kind']}"] += 1
        metadata = {
            "uid": f"uid-{manifest['kind']}-{manifest['metadata']['name']}",
            "resourceVersion": str(next(self._versions)),
            "creationTimestamp": "2026-11-22T12:00:00Z",
            **manifest["metadata"],
        }
        return {"status": {}, **manifest, "metadata": metadata}

    async def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        self.requests[f"get {kind.name}"] += 1
        return None

    async def list(self, kind: Kind, *_: Any, **__: Any) -> list[Manifest]:
        self.requests[f"list {kind.name}"] += 1
        return []

    async def delete(self, kind: Kind, namespace: str, name: str, uid: str | None = None) -> None:
        self.requests[f"delete {kind.name}"] += 1
        if kind is JOBS:
            for pod in self.cache.objects(PODS, namespace):
                if pod["metadata"]["labels"][LABEL_JOB_NAME] == name:
                    self.cache.record_deletion(pod["metadata"]["uid"])

    async def patch(
        self, kind: Kind, namespace: str, name: str, change: Mapping[str, Any], subresource: str = ""
    ) -> Manifest:
        self.requests[f"patch {kind.name}"] += 1
        for item in self.cache.objects(kind, namespace):
            if item["metadata"]["name"] == name:
                patched = merged(item, change)
                patched["metadata"]["resourceVersion"] = str(next(self._versions))
                return patched
        raise ApiError(f"patch {name}", 404, "not found")


def merged(old: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """What the API server makes of a merge patch."""
    new = {name: value for name, value in old.items() if change.get(name, value) is not None}
    for name, value in change.items():
        if isinstance(value, Mapping):
            before = new.get(name)
            new[name] = merged(before if isinstance(before, dict) else {}, value)
        elif value is not None:
            new[name] = value
    return new


def fill(cache: ObjectCache, record: RunRecord, *, ended: int, pods: int) -> list[Attempt]:
    """Puts the run's Jobs into the cache: `ended` of them have ended, and then each cell has one that runs.

    Args:
        cache: The cache.
        record: The run.
        ended: Jobs that have ended.
        pods: Pods of each Job.

    Returns:
        The attempts that ended.
    """
    attempts: list[Attempt] = []
    for number, (cell, trials) in enumerate(trials_of(record).items()):
        half = len(trials) // 2 if number < ended else 0
        for chunk, refs in enumerate(filter(None, (trials[:half], trials[half:]))):
            job, config_map = job_of(record, cell, chunk, refs)
            over = bool(half) and chunk == 0
            if over:
                end_job(job)
                attempts += (attempt(cell, ref) for ref in refs)
            cache.record_write(CONFIGMAPS, config_map)
            cache.record_write(JOBS, job)
            for index in range(pods):
                report = attempt(cell, refs[index]) if over else None
                cache.record_write(PODS, pod_of(job, index, report=report))
    return attempts
