"""EvalRuns of schedules, as whole manifests."""

from __future__ import annotations

from tests.operator.plan.test_schedule import RUN, at, spec

from opsgym_operator.manifests.evalruns import scheduled_run
from opsgym_operator.plan.schedule import ScheduledRun


def test_a_scheduled_evalrun_whole() -> None:
    run = ScheduledRun("nightly-29541780", "team", "nightly", "u1", at("2026-03-03T03:00:00"), spec().run_template)
    assert scheduled_run(run) == {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {
            "name": "nightly-29541780",
            "namespace": "team",
            "labels": {
                "team": "desk",
                "app.kubernetes.io/managed-by": "opsgym-operator",
                "app.kubernetes.io/part-of": "opsgym",
                "opsgym.dev/schedule": "nightly",
            },
            "annotations": {"note": "x", "opsgym.dev/scheduled-at": "2026-03-03T03:00:00Z"},
            "ownerReferences": [
                {
                    "apiVersion": "opsgym.dev/v1alpha1",
                    "kind": "EvalSchedule",
                    "name": "nightly",
                    "uid": "u1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": RUN,
    }
