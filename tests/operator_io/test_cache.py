"""What the object cache keeps of an object, and what remains of the one that the watch holds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, cast

import kopf
import pytest
from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import RUN, new_job, task
from tests.operator_io.material import ended, pod

from opsgym_core.kube.client import CONFIGMAPS, EVALRUNS, JOBS, PODS, Kind
from opsgym_operator.kube.cache import slim, take_slim
from opsgym_operator.manifests.configmaps import job_spec_config_map
from opsgym_operator.manifests.job_spec import job_spec
from opsgym_operator.observe.labels import TASK
from opsgym_operator.observe.snapshot import JOB_TRIALS

MANAGED: Mapping[Kind, Callable[[], dict[str, Any]]] = {
    JOBS: task,
    PODS: lambda: {**pod(agent=ended()), "spec": task()["spec"]["template"]["spec"]},
    CONFIGMAPS: lambda: job_spec_config_map(RUN, "nightly-abcdef-0", TASK, job_spec(RUN, new_job(), CONFIG)),
}


def body_of(reported: dict[str, Any]) -> kopf.Body:
    return kopf.Body(cast("kopf.RawBody", reported))


@pytest.mark.parametrize("kind", MANAGED, ids=lambda kind: kind.name)
def test_the_object_of_a_watch_loses_what_the_cache_does_not_keep(kind: Kind) -> None:
    reported: dict[str, Any] = copy.deepcopy(MANAGED[kind]())
    reported["metadata"]["managedFields"] = [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]
    slimmed = slim(kind, copy.deepcopy(reported))
    assert take_slim(kind, body_of(reported)) == slimmed
    assert not reported.get("spec")
    assert not reported.get("data")
    assert reported["metadata"]["managedFields"] == []


def test_the_cache_keeps_the_trials_of_a_config_map() -> None:
    slimmed = take_slim(CONFIGMAPS, body_of(MANAGED[CONFIGMAPS]()))
    assert [trial.task_id for trial in slimmed[JOB_TRIALS].trials] == ["a", "b", "a"]


def test_an_object_of_a_user_keeps_its_spec() -> None:
    run: dict[str, Any] = {"metadata": {"name": "nightly", "uid": "1"}, "spec": {"suite": {"builtin": "quickstart"}}}
    assert take_slim(EVALRUNS, body_of(run))["spec"] == {"suite": {"builtin": "quickstart"}}
    assert run["spec"] == {"suite": {"builtin": "quickstart"}}
