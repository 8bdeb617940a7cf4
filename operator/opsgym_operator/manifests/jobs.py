"""Jobs of a run: task Jobs, which run a chunk of trials, and preflight Jobs.

Invariant: no failure policy deletes running pods, whose model calls are paid for: infrastructure errors are counted per
index, and disruptions are not counted at all.
"""

from __future__ import annotations

from opsgym_operator.config import OperatorConfig
from opsgym_operator.manifests.configmaps import job_spec_config_map
from opsgym_operator.manifests.job_spec import job_spec, preflight_spec
from opsgym_operator.manifests.metadata import metadata, run_labels
from opsgym_operator.manifests.pods import AGENT, pod_metadata, preflight_pod, task_pod
from opsgym_operator.observe.labels import (
    ANNOTATION_CELL,
    ANNOTATION_MIN_PARALLELISM,
    LABEL_EVAL_MODEL,
    LABEL_MODEL,
    LABEL_QUEUE,
    LABEL_QUEUE_PRIORITY,
    LABEL_ROLE,
    PREFLIGHT,
    TASK,
)
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.observe.parse import Manifest
from opsgym_operator.plan.desired import NewJob, PreflightJob, TaskJob
from opsgym_operator.plan.run.frozen_pods import config_of
from opsgym_operator.plan.run.pod_options import config_for

PREFLIGHT_TTL_S = 3600
"""Seconds for which a preflight Job stays after its end, for a look at its logs."""
RETRIED_EXIT_CODES = list(range(100, 110))
"""Exit codes by which the runner reports that another attempt may succeed; see `opsgym_api.jobs.exit_codes.Exit`."""


def manifests_of(run: ObservedRun, job: NewJob, config: OperatorConfig) -> list[Manifest]:
    """The objects of a new Job, in the order in which they are created: its ConfigMap unless it exists, the Job."""
    config = config_for(job.resolved.spec.pods, config)
    if isinstance(job, TaskJob):
        config = config_of(run.stored.record if run.stored else None, config)
        spec = job_spec(run, job, config)
        return [job_spec_config_map(run, job.name, TASK, spec), task_job(run, job, config)]
    manifest = preflight_job(run, job, config)
    if not job.with_config_map:
        return [manifest]
    return [job_spec_config_map(run, job.name, PREFLIGHT, preflight_spec(run, job)), manifest]


def task_job(run: ObservedRun, job: TaskJob, config: OperatorConfig) -> Manifest:
    """An Indexed Job that runs a chunk of a pod group's trials."""
    labels = {LABEL_ROLE: TASK, LABEL_MODEL: job.cell.model}
    if job.eval_model:
        labels[LABEL_EVAL_MODEL] = job.eval_model
    spec = job.resolved.spec
    queueing = {LABEL_QUEUE: spec.queue_name, LABEL_QUEUE_PRIORITY: spec.queue_priority_class}
    annotations = {ANNOTATION_CELL: job.cell.key}
    own = metadata(run, job.name, labels | {name: value for name, value in queueing.items() if value is not None})
    # A queue with room for some of the pods admits the Job with fewer.
    partial = {ANNOTATION_MIN_PARALLELISM: "1"} if spec.queue_name and job.parallelism > 1 else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**own, "annotations": annotations | partial},
        "spec": {
            "completionMode": "Indexed",
            "completions": job.completions,
            "parallelism": job.parallelism,
            "suspend": spec.queue_name is not None,
            "backoffLimitPerIndex": job.retries,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                    {
                        "action": "Count",
                        "onExitCodes": {"containerName": AGENT, "operator": "In", "values": RETRIED_EXIT_CODES},
                    },
                ]
            },
            "template": {
                "metadata": pod_metadata(run_labels(run) | labels, annotations, job.gyms, config),
                "spec": task_pod(job, config),
            },
        },
    }


def preflight_job(run: ObservedRun, job: PreflightJob, config: OperatorConfig) -> Manifest:
    """A Job of one pod that checks whether the run can start, and freezes its suite."""
    labels = {LABEL_ROLE: PREFLIGHT}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(run, job.name, labels),
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": PREFLIGHT_TTL_S,
            "template": {
                "metadata": pod_metadata(run_labels(run) | labels, {}, (), config),
                "spec": preflight_pod(job, config),
            },
        },
    }
