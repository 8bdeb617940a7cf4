"""What is wrong is said within a minute, naming the object; mended, the run goes on by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cluster.conftest import S3
from tests.cluster.kube import Kube
from tests.cluster.operator.world import Operator, evalrun, operating

pytestmark = pytest.mark.timeout(600)


def model(name: str, **spec: Any) -> dict[str, Any]:
    return {"name": name, "inline": {"model": "replay/gold", "maxConcurrency": 1, **spec}}


ONE_TASK = {"builtin": "quickstart", "limit": 1}


def test_a_model_that_is_not_there_is_named_and_awaited(operator: Operator, kube: Kube) -> None:
    models = [{"name": "gold", "ref": "house-model"}]
    kube.create(evalrun(operator.namespace, "r", suite=ONE_TASK, models=models))
    message = operator.await_condition("r", "Accepted", "False")
    assert "house-model" in message
    metadata = {"name": "house-model", "namespace": operator.namespace}
    spec = {"model": "replay/gold", "maxConcurrency": 1}
    kube.create({"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalModel", "metadata": metadata, "spec": spec})
    operator.await_condition("r", "Succeeded", "True", seconds=300)


def test_a_missing_secret_is_named_and_awaited(operator: Operator, kube: Kube) -> None:
    models = [model("gold", credentials={"secret": "provider", "key": "token"})]
    kube.create(evalrun(operator.namespace, "r", suite=ONE_TASK, models=models))
    message = operator.await_condition("r", "Stalled", "True")
    assert "provider" in message
    metadata = {"name": "provider", "namespace": operator.namespace}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": "t0k3n"}})
    operator.await_condition("r", "Succeeded", "True", seconds=300)


def test_an_unpriced_model_is_named_and_once_priced_runs(operator: Operator, kube: Kube) -> None:
    metadata = {"name": "house-model", "namespace": operator.namespace}
    spec = {"model": "openai/no-such-model", "endpoints": [{"url": "http://127.0.0.1:9/v1"}], "maxConcurrency": 1}
    kube.create({"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalModel", "metadata": metadata, "spec": spec})
    models = [{"name": "house", "ref": "house-model"}]
    kube.create(evalrun(operator.namespace, "r", suite=ONE_TASK, models=models))
    message = operator.await_condition("r", "Stalled", "True")
    assert "EvalModel house-model" in message
    assert "price" in message
    kube.patch("EvalModel", "house-model", operator.namespace, {"spec": {"model": "replay/gold", "endpoints": None}})
    operator.await_condition("r", "Succeeded", "True", seconds=300)


def test_an_invalid_row_is_named_and_once_mended_runs(operator: Operator, kube: Kube) -> None:
    metadata = {"name": "tasks", "namespace": operator.namespace}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    kube.create({**config_map, "data": {"tasks.json": '[{"task_id": "t1", "domain": "itsm"}]'}})
    kube.create(evalrun(operator.namespace, "r", suite={"configMap": {"name": "tasks"}}))
    message = operator.await_condition("r", "Stalled", "True")
    assert "ConfigMap tasks" in message
    assert "user_prompt" in message


def test_a_queue_that_is_not_there_is_named(operator: Operator, kube: Kube) -> None:
    kube.create(evalrun(operator.namespace, "r", suite=ONE_TASK, queueName="team-queue"))
    assert "team-queue" in operator.await_condition("r", "Accepted", "False")


def test_a_store_that_is_not_mounted_is_named(operator: Operator, kube: Kube) -> None:
    kube.create(evalrun(operator.namespace, "r", suite=ONE_TASK, resultStore="elsewhere"))
    message = operator.await_condition("r", "Accepted", "False")
    assert "elsewhere" in message
    assert "results" in message


def test_an_image_that_nobody_has_is_named(
    task_images: None, namespace: str, s3: S3, kube: Kube, tmp_path: Path
) -> None:
    bad = {"runner": "localhost/no-such-runner:1", "domains": "localhost/opsgym-domains:dev", "pullPolicy": "Never"}
    with operating(namespace, s3, tmp_path, kube, images=bad) as operator:
        kube.create(evalrun(namespace, "r", suite=ONE_TASK))
        assert "localhost/no-such-runner:1" in operator.await_condition("r", "Stalled", "True")


def test_pods_that_no_node_takes_wait_and_then_stall(
    task_images: None, namespace: str, s3: S3, kube: Kube, tmp_path: Path
) -> None:
    pods = {"nodeSelector": {"opsgym.dev/no-such": "node"}}
    with operating(namespace, s3, tmp_path, kube, pods=pods) as operator:
        limits = {"taskTimeoutSeconds": 300, "pendingSeconds": 8}
        kube.create(evalrun(namespace, "r", suite=ONE_TASK, limits=limits))
        operator.await_condition("r", "Progressing", "True", "WaitingForCapacity")
        operator.await_condition("r", "Stalled", "True", "Unschedulable")
