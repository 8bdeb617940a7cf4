"""One listing of a namespace, indexed once.

Invariant: a snapshot does not change. One reconcile takes one snapshot; every index and every parsed spec in it is
computed once, so that no later step scans a list for each run or Job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalmodel import EvalModel
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_operator.observe.labels import LABEL_JOB_NAME, LABEL_ROLE, LABEL_RUN_UID, PREFLIGHT, TASK
from opsgym_operator.observe.parse import JobTrials, Manifest, label, read_model, read_spec

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


def take_snapshot(
    namespace: str,
    *,
    runs: Iterable[Manifest],
    jobs: Iterable[Manifest],
    pods: Sequence[Manifest],
    config_maps: Iterable[Manifest],
    models: Iterable[Manifest],
) -> NamespaceSnapshot:
    """Indexes the objects of a namespace."""
    jobs_of, pods_of, config_maps_of = _by_run_and_role(jobs), _by_run_and_role(pods), _by_run_and_role(config_maps)
    pods_by_job: defaultdict[str, list[Manifest]] = defaultdict(list)
    for pod in pods:
        pods_by_job[label(pod, LABEL_JOB_NAME)].append(pod)
    resolved = {model["metadata"]["name"]: read_model(model) for model in models}
    return NamespaceSnapshot(
        runs={run["metadata"]["uid"]: _run_snapshot(namespace, run, jobs_of, pods_of, config_maps_of) for run in runs},
        task_jobs=[job for (_, role), of_run in jobs_of.items() if role == TASK for job in of_run],
        pods=pods,
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
    )


_ByRunAndRole = Mapping[tuple[str, str], Sequence[Manifest]]


def _by_run_and_role(items: Iterable[Manifest]) -> defaultdict[tuple[str, str], list[Manifest]]:
    index: defaultdict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for item in items:
        index[label(item, LABEL_RUN_UID), label(item, LABEL_ROLE)].append(item)
    return index


def _run_snapshot(
    namespace: str, run: Manifest, jobs: _ByRunAndRole, pods: _ByRunAndRole, config_maps: _ByRunAndRole
) -> RunSnapshot:
    metadata, spec = run["metadata"], read_spec(run)
    uid = metadata["uid"]
    roles = (TASK, PREFLIGHT)
    return RunSnapshot(
        manifest=run,
        id=f"{namespace}.{metadata['name']}.{uid}",
        spec=spec if isinstance(spec, EvalRunSpec) else None,
        problems=() if isinstance(spec, EvalRunSpec) else spec,
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
