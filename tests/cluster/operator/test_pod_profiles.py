"""Pod profiles that runs choose, on real pods: placement, volumes, annotations, and a class that the cluster lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from devcluster.kube import Kube
from devcluster.places import NODE
from tests.cluster.conftest import S3
from tests.cluster.operator.world import condition_of, evalrun, operating

pytestmark = pytest.mark.timeout(600)

ONE_TASK = {"builtin": "quickstart", "limit": 1}


def profiles(label: str) -> dict[str, Any]:
    """One profile for nodes with a label, with a volume and an annotation; one with a class that does not exist."""
    terms = [{"matchExpressions": [{"key": label, "operator": "Exists"}]}]
    return {
        "pinned": {
            "annotations": {"example.com/profile": "pinned"},
            "affinity": {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
            },
            "volumes": [{"name": "notes", "configMap": {"name": "notes"}}],
            "volumeMounts": [{"name": "notes", "mountPath": "/notes"}],
        },
        "sandbox": {"runtimeClassName": "no-such-sandbox"},
    }


def test_pods_get_the_profile_of_their_run_and_a_class_that_does_not_exist_is_named(
    task_images: None, namespace: str, s3: S3, kube: Kube, tmp_path: Path
) -> None:
    label = f"opsgym.dev/{namespace}"
    notes = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notes", "namespace": namespace}}
    kube.create({**notes, "data": {"note.txt": "hello"}})
    pods = {"allowedLabels": ["team"]}
    with operating(namespace, s3, tmp_path, kube, podProfiles=profiles(label), pods=pods) as operator:
        chosen = {"profile": "pinned", "labels": {"team": "a"}}
        kube.create(evalrun(namespace, "pinned", suite=ONE_TASK, pods=chosen))
        kube.create(evalrun(namespace, "sandbox", suite=ONE_TASK, pods={"profile": "sandbox"}))
        kube.create(evalrun(namespace, "unknown", suite=ONE_TASK, pods={"profile": "gpu"}))
        assert operator.await_condition("unknown", "Stalled", "True", "PodProfileNotFound").endswith(
            "unknown pod profile 'gpu'; profiles of the namespace: pinned, sandbox"
        )
        operator.await_condition("pinned", "Progressing", "True", "WaitingForCapacity")
        [pod] = kube.list("Pod", namespace, "opsgym.dev/run=pinned")
        assert pod["metadata"]["annotations"]["example.com/profile"] == "pinned"
        assert pod["metadata"]["labels"]["team"] == "a"
        [main] = pod["spec"]["containers"]
        assert {"name": "notes", "mountPath": "/notes", "readOnly": True} in main["volumeMounts"]
        kube.patch("Node", NODE, None, {"metadata": {"labels": {label: "here"}}})
        try:
            operator.await_condition("sandbox", "Stalled", "True", "PodsRefused")
            named = 'RuntimeClass "no-such-sandbox" not found'
            operator.wait(
                lambda: named in condition_of(operator.run("sandbox"), "Stalled")["message"], "names no class"
            )
            assert condition_of(operator.await_end("pinned", 300), "Succeeded")["status"] == "True"
        finally:
            kube.patch("Node", NODE, None, {"metadata": {"labels": {label: None}}})
