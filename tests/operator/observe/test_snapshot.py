"""Which objects of a namespace belong to a run."""

from __future__ import annotations

from typing import Any

import pytest
from tests.operator.manifests.material import task

from opsgym_operator.observe.memo import Memo
from opsgym_operator.observe.snapshot import NamespaceSnapshot, take_snapshot

JOB = {**task(), "status": {}}
JOB["metadata"] |= {"uid": "job-uid"}
RUN = {
    "apiVersion": "opsgym.dev/v1alpha1",
    "kind": "EvalRun",
    "metadata": {"name": "nightly", "uid": "1234", "namespace": "team"},
}


def owned(pod_labels: dict[str, str], **owner: Any) -> dict[str, Any]:
    """A pod with an owner, if one is given."""
    references = [{"kind": "Job", "controller": True, **owner}] if owner else []
    return {
        "metadata": {"name": "p", "uid": "p", "labels": pod_labels, "ownerReferences": references},
        "status": {"phase": "Succeeded"},
    }


LABELS = {**JOB["spec"]["template"]["metadata"]["labels"], "batch.kubernetes.io/job-name": JOB["metadata"]["name"]}


def snapshot(pod: dict[str, Any], jobs: list[dict[str, Any]]) -> NamespaceSnapshot:
    return take_snapshot("team", runs=[RUN], jobs=jobs, pods=[pod], config_maps=[], models=[], parsed_runs=Memo())


def test_a_pod_of_a_runs_job_belongs_to_the_run() -> None:
    own = owned(LABELS, name=JOB["metadata"]["name"], uid="job-uid")
    assert snapshot(own, [JOB]).runs["1234"].task_pods == [own]
    assert snapshot(own, []).runs["1234"].task_pods == [own], "its Job may be gone"


@pytest.mark.parametrize(
    "owner", [{}, {"name": JOB["metadata"]["name"], "uid": "made up"}, {"name": "other", "uid": "job-uid"}]
)
def test_a_pod_with_copied_labels_belongs_to_no_run(owner: dict[str, str]) -> None:
    seen = snapshot(owned(LABELS, **owner), [JOB])
    assert (seen.pods, seen.runs["1234"].task_pods) == ([], ())


@pytest.mark.parametrize("changes", [{"ownerReferences": []}, {"name": "nightly-copy"}])
def test_a_job_with_copied_labels_belongs_to_no_run(changes: dict[str, Any]) -> None:
    forged = {**JOB, "metadata": {**JOB["metadata"], **changes}}
    assert snapshot(owned(LABELS), [forged]).task_jobs == []
