"""A fault is reported within a minute and names the object; once it is fixed, the run continues by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from devcluster.kube import Kube
from devcluster.places import NODE
from tests.cluster.conftest import S3
from tests.cluster.operator.world import Operator, condition_of, evalrun, operating

from opsgym_domains.suite_rows import load_suite

pytestmark = pytest.mark.timeout(600)


ONE_TASK = {"builtin": "quickstart", "limit": 1}


def test_a_model_a_store_and_a_secret_that_are_not_there_are_named_and_awaited(operator: Operator, kube: Kube) -> None:
    models = [{"name": "gold", "ref": "house-model"}]
    kube.create(evalrun(operator.namespace, "r", suite=ONE_TASK, models=models, resultStore="elsewhere"))
    message = operator.await_condition("r", "Accepted", "False", "StoreNotFound")
    assert "unknown store 'elsewhere'; stores of the namespace: results" in message
    assert "unknown EvalModel 'house-model'" in message
    metadata = {"name": "house-model", "namespace": operator.namespace}
    credentials = {"secret": "provider", "key": "token"}
    spec = {"model": "replay/gold", "maxConcurrency": 1, "credentials": credentials}
    kube.create({"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalModel", "metadata": metadata, "spec": spec})

    def still_misses_the_model() -> bool:
        return "house-model" in str(condition_of(operator.run("r"), "Accepted")["message"])

    operator.wait(lambda: not still_misses_the_model(), "has not noticed the model")
    operator.stop()
    operator.mount("elsewhere")
    operator.start()
    assert "provider" in operator.await_condition("r", "Stalled", "True", "SecretMissing")
    metadata = {"name": "provider", "namespace": operator.namespace}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": "t0k3n"}})
    operator.await_condition("r", "Succeeded", "True", seconds=300)


@pytest.mark.soak  # a preflight that fails, as the tests of a missing model and Secret have one
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


@pytest.mark.soak  # a preflight that fails, as the tests of a missing model and Secret have one
def test_an_invalid_row_is_named_and_once_mended_runs(operator: Operator, kube: Kube) -> None:
    metadata = {"name": "tasks", "namespace": operator.namespace}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    kube.create({**config_map, "data": {"tasks.json": '[{"task_id": "t1", "domain": "itsm"}]'}})
    kube.create(evalrun(operator.namespace, "r", suite={"configMap": {"name": "tasks"}}))
    message = operator.await_condition("r", "Stalled", "True")
    assert "ConfigMap tasks" in message
    assert "user_prompt" in message
    row = load_suite("quickstart")[0].model_dump_json()
    kube.patch("ConfigMap", "tasks", operator.namespace, {"data": {"tasks.json": f"[{row}]"}})
    operator.await_condition("r", "Succeeded", "True", seconds=300)


def test_pods_that_no_node_takes_and_an_image_that_nobody_has_are_named_and_once_mended_run(
    task_images: None, namespace: str, s3: S3, kube: Kube, tmp_path: Path
) -> None:
    label = f"opsgym.dev/{namespace}"
    bad = {"runner": "localhost/no-such-runner:1", "domains": "localhost/opsgym-domains:dev", "pullPolicy": "Never"}
    with operating(namespace, s3, tmp_path, kube, images=bad, pods={"nodeSelector": {label: "here"}}) as operator:
        limits = {"taskTimeoutSeconds": 300, "pendingSeconds": 8}
        kube.create(evalrun(namespace, "r", suite=ONE_TASK, limits=limits))
        operator.await_condition("r", "Progressing", "True", "WaitingForCapacity")
        operator.await_condition("r", "Stalled", "True", "Unschedulable")
        kube.patch("Node", NODE, None, {"metadata": {"labels": {label: "here"}}})
        try:
            message = operator.await_condition("r", "Stalled", "True", "ImageUnavailable")
            assert "localhost/no-such-runner:1" in message
            operator.stop()
            del operator.config["images"]
            operator.start()
            operator.await_condition("r", "Succeeded", "True", seconds=300)
        finally:
            kube.patch("Node", NODE, None, {"metadata": {"labels": {label: None}}})
