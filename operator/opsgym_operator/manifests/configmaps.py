"""ConfigMaps with the specs of Jobs. Invariant: they are immutable; another spec is another Job."""

from __future__ import annotations

from opsgym_api.jobs.job_spec import JobSpec, PreflightSpec
from opsgym_operator.manifests.metadata import metadata
from opsgym_operator.observe.labels import JOB_SPEC_KEY, LABEL_ROLE
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.observe.parse import Manifest


def job_spec_config_map(run: ObservedRun, name: str, role: str, spec: JobSpec | PreflightSpec) -> Manifest:
    """The ConfigMap that the pods of a Job read their spec from.

    Args:
        run: Run of the Job.
        name: Name of the Job.
        role: Role of the Job: `task` or `preflight`.
        spec: What its pods run.
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(run, name, {LABEL_ROLE: role}),
        "immutable": True,
        "data": {JOB_SPEC_KEY: spec.model_dump_json()},
    }
