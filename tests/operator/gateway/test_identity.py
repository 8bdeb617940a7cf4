"""Who a pod is: from the objects of the operator, never from what the pod says."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import RUN, new_job
from tests.support.store_gateway import AUDIENCE, review

from opsgym_api.jobs.job_spec import PreflightSpec, TrialRef
from opsgym_core.store.mounted import StoreConfig
from opsgym_operator.config import OperatorConfig
from opsgym_operator.gateway.access import Denied, PodAccess, SuiteAccess
from opsgym_operator.gateway.identity import TokenPod, Unauthenticated, access_of, job_of, token_pod
from opsgym_operator.manifests.jobs import manifests_of

STARTED = "2026-01-01T00:00:00Z"


def objects(index: str = "1", per_pod: int = 1) -> tuple[Any, Any, Any]:
    """A pod as the Job controller makes it, with the Job and the ConfigMap that the operator creates."""
    config_map, job = copy.deepcopy(manifests_of(RUN, new_job(per_pod=per_pod), CONFIG))
    job["metadata"]["uid"] = "job-uid"
    template = job["spec"]["template"]["metadata"]
    pod = {
        "metadata": {
            "name": "pod",
            "namespace": "team",
            "uid": "pod-uid",
            "labels": {**template["labels"], "batch.kubernetes.io/job-completion-index": index},
            "ownerReferences": [{"kind": "Job", "name": job["metadata"]["name"], "uid": "job-uid", "controller": True}],
        },
        "status": {"phase": "Running", "startTime": STARTED},
    }
    return pod, job, config_map


def test_the_trials_of_a_task_pod_are_those_at_its_completion_index() -> None:
    cell = new_job().cell
    expected = PodAccess("team.nightly.1234", "results", STARTED, cell, (TrialRef(task_id="b", trial=0),))
    assert access_of(*objects(), "team", CONFIG) == expected
    both = (TrialRef(task_id="a", trial=0), TrialRef(task_id="b", trial=0))
    assert access_of(*objects("0", per_pod=2), "team", CONFIG).trials == both
    assert job_of(objects()[0]) == new_job().name


def _changed(part: int, **metadata: Any) -> tuple[Any, Any, Any]:
    parts = objects()
    parts[part]["metadata"] |= metadata
    return parts


FORGED = {
    "a Job of another uid": _changed(1, uid="another"),
    "a Job without labels": _changed(1, labels={}),
    "a Job without owner": _changed(1, ownerReferences=[]),
    "a Job of another name": _changed(1, name="mine"),
    "a ConfigMap of another run": _changed(2, ownerReferences=[{"kind": "EvalRun", "uid": "9", "controller": True}]),
    "a ConfigMap without labels": _changed(2, labels={}),
    "an index beyond the last": objects("3"),
    "no index": objects(""),
    "no Job": (objects()[0], None, objects()[2]),
    "no ConfigMap": (*objects()[:2], None),
    "a spec that is none": (*objects()[:2], {**objects()[2], "data": {"job.json": "{}"}}),
    "no spec": (*objects()[:2], {**objects()[2], "data": None}),
}


@pytest.mark.parametrize("parts", FORGED.values(), ids=FORGED.keys())
def test_a_pod_whose_objects_are_not_the_operators_is_denied(parts: tuple[Any, Any, Any]) -> None:
    with pytest.raises(Denied):
        access_of(*parts, "team", CONFIG)


def test_a_pod_of_another_namespace_cannot_name_the_run() -> None:
    with pytest.raises(Denied, match="is not one of run other"):
        access_of(*objects(), "other", CONFIG)


def test_a_store_of_other_namespaces_is_denied() -> None:
    [store] = CONFIG.stores
    config = CONFIG.model_copy(update={"stores": [store.model_copy(update={"namespaces": ["other"]})]})
    with pytest.raises(Denied, match="its store is not for the namespace"):
        access_of(*objects(), "team", config)


@pytest.mark.parametrize(("owners", "labels"), [([], None), (None, {})])
def test_a_pod_without_job_or_labels_belongs_to_no_run(owners: Any, labels: Any) -> None:
    pod = objects()[0]
    pod["metadata"] |= {} if owners is None else {"ownerReferences": owners}
    pod["metadata"] |= {} if labels is None else {"labels": labels}
    with pytest.raises(Denied, match="belongs to no EvalRun"):
        job_of(pod)


@pytest.mark.parametrize(
    ("key", "shared", "expected"),
    [
        ("suites/team/office/tasks.json", [], SuiteAccess("results", "suites/team/office/", "suites/team/office/")),
        ("suites/team/office/", [], SuiteAccess("results", "suites/team/office/", "suites/team/office/")),
        ("runs/team.old.1/suite/", [], SuiteAccess("results", "runs/team.old.1/suite/", "runs/team.old.1/suite/")),
        ("shared/a.json", ["shared/a"], SuiteAccess("results", "shared/", "shared/a.json")),
        ("suites/other/office/tasks.json", [], None),
        ("tasks.json", [], None),
    ],
)
def test_a_preflight_pod_reads_the_suite_that_its_namespace_may_read(
    key: str, shared: list[str], expected: SuiteAccess | None
) -> None:
    config = _with_shared(shared)
    spec = PreflightSpec.model_validate({
        "run": RUN.id,
        "store": "results",
        "suite": {"objectStore": {"store": "results", "key": key}},
        "models": [],
    })  # fmt: skip
    pod, job, config_map = objects()
    name = "nightly-preflight-0123abcd"
    job["metadata"]["name"] = name
    config_map["data"]["job.json"] = spec.model_dump_json()
    assert access_of(pod, job, config_map, "team", config) == PodAccess(RUN.id, "results", STARTED, suite=expected)


def _with_shared(shared: list[str]) -> OperatorConfig:
    [store] = CONFIG.stores
    changed: StoreConfig = store.model_copy(update={"shared_suites": shared})
    return CONFIG.model_copy(update={"stores": [changed]})


def test_the_pod_of_a_token_is_the_one_it_is_bound_to() -> None:
    assert token_pod(review("pod"), AUDIENCE, "opsgym-task") == TokenPod("team", "pod", "uid-pod")
    with pytest.raises(Unauthenticated):
        token_pod({**review("pod"), "audiences": []}, AUDIENCE, "opsgym-task")
