"""EvalRuns of schedules. Invariant: the name follows from the schedule and the time, so a time makes one EvalRun."""

from __future__ import annotations

from opsgym_api.kinds.evalmodel import API_VERSION
from opsgym_core.common.clock import utc_text
from opsgym_operator.manifests.metadata import owner_reference
from opsgym_operator.observe.labels import (
    ANNOTATION_SCHEDULED_AT,
    LABEL_MANAGED_BY,
    LABEL_PART_OF,
    LABEL_SCHEDULE,
    MANAGER,
    PART_OF,
)
from opsgym_operator.observe.parse import Manifest
from opsgym_operator.plan.schedule import ScheduledRun


def scheduled_run(run: ScheduledRun) -> Manifest:
    """The EvalRun for a time of a schedule."""
    template = run.template
    labels = {LABEL_MANAGED_BY: MANAGER, LABEL_PART_OF: PART_OF, LABEL_SCHEDULE: run.schedule}
    return {
        "apiVersion": API_VERSION,
        "kind": "EvalRun",
        "metadata": {
            "name": run.name,
            "namespace": run.namespace,
            "labels": dict(template.metadata.labels) | labels,
            "annotations": dict(template.metadata.annotations) | {ANNOTATION_SCHEDULED_AT: utc_text(run.at)},
            "ownerReferences": [owner_reference("EvalSchedule", run.schedule, run.schedule_uid)],
        },
        "spec": template.spec.model_dump(mode="json", by_alias=True, exclude_unset=True),
    }
