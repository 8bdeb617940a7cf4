"""One listing of a namespace, indexed once.

Invariant: a snapshot does not change. One reconcile takes one snapshot; every index in it is computed once, so that no
later step scans a list for each run or Job, and an EvalRun is parsed once for all reconciles until it changes.

An object belongs to a run by its controlling owner and by the form of its name, not by labels: a copy that a user makes
of a Job keeps the labels and belongs to no run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalmodel import EvalModel
from opsgym_api.kinds.evalrun import EvalRunSpec, EvalRunStatus
from opsgym_operator.observe.labels import LABEL_JOB_NAME, LABEL_RUN, LABEL_RUN_UID, PREFLIGHT, TASK, role_of
from opsgym_operator.observe.memo import Memo
from opsgym_operator.observe.parse import JobTrials, Manifest, ParsedRun, controller_of, label, read_model, read_run

JOB_TRIALS = "trials"
"""Key under which a cached ConfigMap holds the `JobTrials` that were parsed of it; None if it has none."""


@dataclass(frozen=True)
class RunSnapshot:
    """An EvalRun and the objects that belong to it."""

    manifest: Manifest
    id: str
    """Name of the run in its store."""
    spec: EvalRunSpec | None
    """None if it is invalid; `problems` then lists why."""
    problems: tuple[Problem, ...]
    status: EvalRunStatus
    """As last written; empty if it is invalid."""
    task_jobs: Sequence[Manifest]
    preflights: Sequence[Manifest]
    """Preflight Jobs."""
    task_pods: Sequence[Manifest]
    """Pods of task Jobs, ended ones included."""
    pending_pods: int
    """Pods of the run in phase Pending."""
    config_maps: frozenset[str]
    """Names of ConfigMaps, those of preflights included."""

    @property
    def name(self) -> str:
        """Name of the EvalRun."""
        return str(self.manifest["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Uid of the EvalRun."""
        return str(self.manifest["metadata"]["uid"])

    @property
    def deleting(self) -> bool:
        """Whether the EvalRun has a deletion timestamp."""
        return "deletionTimestamp" in self.manifest["metadata"]


@dataclass(frozen=True)
class NamespaceSnapshot:
    """The objects of a namespace."""

    runs: Mapping[str, RunSnapshot]
    """By uid."""
    task_jobs: Sequence[Manifest]
    """Those of deleted EvalRuns included."""
    pods: Sequence[Manifest]
    """Pods of task Jobs and preflight Jobs, ended ones included."""
    pods_by_job: Mapping[str, Sequence[Manifest]]
    trials_by_job: Mapping[str, JobTrials]
    """Trials of the task Jobs whose ConfigMap exists, by the name of the Job."""
    models: Mapping[str, EvalModel]
    broken_models: Mapping[str, str]
    """Problems of the EvalModels that are invalid, by name."""
    orphans: Sequence[tuple[Literal["Job", "ConfigMap"], Manifest]] = ()
    """Kind and manifest of Jobs and ConfigMaps that were left when their EvalRun was deleted (`--cascade=orphan`)."""


def take_snapshot(
    namespace: str,
    *,
    runs: Iterable[Manifest],
    jobs: Iterable[Manifest],
    pods: Sequence[Manifest],
    config_maps: Iterable[Manifest],
    models: Iterable[Manifest],
    parsed_runs: Memo[ParsedRun],
) -> NamespaceSnapshot:
    """Indexes the objects of a namespace; `parsed_runs` remembers what the last snapshot parsed."""
    runs, jobs, config_maps = list(runs), list(jobs), list(config_maps)
    jobs_of, config_maps_of = _index(jobs, _run_and_role), _index(config_maps, _run_and_role)
    uids = {job["metadata"]["name"]: job["metadata"]["uid"] for of_run in jobs_of.values() for job in of_run}
    pods_of = _index(pods, lambda pod: _run_and_role_of_pod(pod, uids))
    own_pods = [pod for of_run in pods_of.values() for pod in of_run]
    pods_by_job: defaultdict[str, list[Manifest]] = defaultdict(list)
    for pod in own_pods:
        pods_by_job[label(pod, LABEL_JOB_NAME)].append(pod)
    resolved = {model["metadata"]["name"]: read_model(model) for model in models}
    parsed = {run["metadata"]["uid"]: _parsed(run, parsed_runs) for run in runs}
    parsed_runs.forget_others()
    return NamespaceSnapshot(
        runs={
            (uid := run["metadata"]["uid"]): _run_snapshot(
                namespace, run, parsed[uid], jobs_of, pods_of, config_maps_of
            )
            for run in runs
        },
        task_jobs=[job for (_, role), of_run in jobs_of.items() if role == TASK for job in of_run],
        pods=own_pods,
        pods_by_job=pods_by_job,
        trials_by_job={
            config_map["metadata"]["name"]: config_map[JOB_TRIALS]
            for (_, role), of_run in config_maps_of.items()
            if role == TASK
            for config_map in of_run
            if config_map[JOB_TRIALS] is not None
        },
        models={name: model for name, model in resolved.items() if isinstance(model, EvalModel)},
        broken_models={
            name: "; ".join(map(str, problems))
            for name, problems in resolved.items()
            if not isinstance(problems, EvalModel)
        },
        orphans=_orphans({run["metadata"]["uid"] for run in runs}, {"Job": jobs, "ConfigMap": config_maps}),
    )


def _orphans(
    runs: Container[str], objects: Mapping[Literal["Job", "ConfigMap"], Iterable[Manifest]]
) -> list[tuple[Literal["Job", "ConfigMap"], Manifest]]:
    """The operator's own objects that no object owns any more and whose run is gone."""
    return [
        (kind, item)
        for kind, items in objects.items()
        for item in items
        if not item["metadata"].get("ownerReferences")
        and "deletionTimestamp" not in item["metadata"]
        and label(item, LABEL_RUN_UID) not in runs
        and role_of(item["metadata"]["name"], label(item, LABEL_RUN))
    ]


_RunAndRole: TypeAlias = tuple[str, str]
"""Uid of a run and the role of an object in it; the role is empty for an object that the operator did not create."""
_ByRunAndRole = Mapping[_RunAndRole, Sequence[Manifest]]


def _index(items: Iterable[Manifest], key_of: Callable[[Manifest], _RunAndRole]) -> dict[_RunAndRole, list[Manifest]]:
    """The operator's own objects by run and role."""
    index: defaultdict[_RunAndRole, list[Manifest]] = defaultdict(list)
    for item in items:
        key = key_of(item)
        if key[1]:
            index[key].append(item)
    return dict(index)


def _run_and_role(item: Manifest) -> _RunAndRole:
    owner = controller_of(item, "EvalRun")
    return str(owner.get("uid", "")), role_of(item["metadata"]["name"], str(owner["name"])) if owner else ""


def _run_and_role_of_pod(pod: Manifest, uids: Mapping[str, str]) -> _RunAndRole:
    """Run and role of the Job that controls a pod; the Job may be gone, but none else has its name (`uids`)."""
    owner = controller_of(pod, "Job")
    name, uid = owner.get("name", ""), owner.get("uid")
    labels = pod["metadata"].get("labels") or {}
    if not name or name != labels.get(LABEL_JOB_NAME) or uids.get(name, uid) != uid:
        return "", ""
    return labels.get(LABEL_RUN_UID, ""), role_of(name, labels.get(LABEL_RUN, ""))


def _parsed(run: Manifest, memo: Memo[ParsedRun]) -> ParsedRun:
    metadata = run["metadata"]
    return memo.get(metadata["uid"], metadata.get("resourceVersion"), lambda: read_run(run))


def _run_snapshot(
    namespace: str,
    run: Manifest,
    parsed: ParsedRun,
    jobs: _ByRunAndRole,
    pods: _ByRunAndRole,
    config_maps: _ByRunAndRole,
) -> RunSnapshot:
    metadata = run["metadata"]
    uid = metadata["uid"]
    roles = (TASK, PREFLIGHT)
    return RunSnapshot(
        manifest=run,
        id=f"{namespace}.{metadata['name']}.{uid}",
        spec=parsed.spec,
        problems=parsed.problems,
        status=parsed.status,
        task_jobs=jobs.get((uid, TASK), ()),
        preflights=jobs.get((uid, PREFLIGHT), ()),
        task_pods=pods.get((uid, TASK), ()),
        pending_pods=sum(
            pod["status"].get("phase") == "Pending" for role in roles for pod in pods.get((uid, role), ())
        ),
        config_maps=frozenset(
            config_map["metadata"]["name"] for role in roles for config_map in config_maps.get((uid, role), ())
        ),
    )
