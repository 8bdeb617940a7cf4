"""The chart's admission policies in a real API server; `tests/helm/test_admission.py` has the cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from devcluster.cluster import Cluster
from devcluster.kube import Kube, Manifest
from devcluster.processes import until
from tests.cluster.operator.world import evalrun, install_kinds
from tests.cluster.workloads import pod, shell
from tests.helm.charts import STORE, rendered

pytestmark = pytest.mark.timeout(300)

LABELS = {"app.kubernetes.io/managed-by": "opsgym-operator", "opsgym.dev/run-uid": "1"}
INLINE = [{"name": "m", "inline": {"model": "openai/x", "credentials": {"secret": "tls"}}}]


class Api:
    """Writes to the API server as another user, without effect."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.namespace = namespace
        self.operator = f"system:serviceaccount:{namespace}:opsgym-operator"
        self._cluster = cluster

    def refusal(self, manifest: Manifest, user: str = "admin") -> str:
        """What the API server says to the creation of an object; empty if it takes it."""
        # The group may do anything, so only admission refuses.
        who = ("--as", user, "--as-group", "system:masters")
        done = self._cluster.kubectl("create", "--dry-run=server", *who, "-f", "-", stdin=json.dumps(manifest))
        return done.stderr if done.returncode else ""


@pytest.fixture
def api(cluster: Cluster, kube: Kube, namespace: str) -> Iterator[Api]:
    """An API server with the policies of a release in the test's namespace."""
    install_kinds(kube)
    values = {"stores": [STORE], "admissionPolicy": {"enabled": True}, "credentials": {"secretNames": ["gpt"]}}
    policies = [item for item in rendered(values, namespace=namespace) if "ValidatingAdmission" in item["kind"]]
    applied = cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(item) for item in policies))
    assert applied.returncode == 0, applied.stderr
    api = Api(cluster, namespace)
    try:
        # An API server enforces a new policy after a moment.
        assert until(lambda: "may not name Secrets" in api.refusal(evalrun(namespace, "r", models=INLINE)), 30)
        assert until(lambda: "reserved for the operator" in api.refusal(config_map(namespace, LABELS)), 30)
        assert until(lambda: "only write objects" in api.refusal(config_map(namespace, {}), api.operator), 30)
        yield api
    finally:
        for item in policies:
            cluster.kubectl("delete", item["kind"], item["metadata"]["name"], "--ignore-not-found")


def config_map(namespace: str, labels: Mapping[str, str]) -> Manifest:
    metadata = {"name": "c", "namespace": namespace, "labels": dict(labels)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def job(namespace: str, **spec: Any) -> Manifest:
    """A Job with the operator's labels."""
    main = pod(namespace, "x", shell("main", "true"), **{"serviceAccountName": "opsgym-task", **spec})["spec"]
    metadata = {"name": "j", "namespace": namespace, "labels": LABELS}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": main}}}


def evalmodel(namespace: str, **spec: Any) -> Manifest:
    metadata = {"name": "m", "namespace": namespace}
    return {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalModel",
        "metadata": metadata,
        "spec": {"model": "openai/x", **spec},
    }


def test_the_api_server_enforces_the_policies_of_the_chart(api: Api) -> None:
    where = api.namespace
    assert api.refusal(evalrun(where, "r")) == ""
    listed, tls = {"secret": "gpt"}, {"secret": "tls"}
    header = {"name": "X-Key", "valueFrom": tls}
    assert api.refusal(evalmodel(where, credentials=listed, endpoints=[{"url": "https://a"}])) == ""
    for fields in (
        {"credentials": tls},
        {"credentials": {"secret": STORE["secret"]}},
        {"aws": tls},
        {"endpoints": [{"url": "https://a", "headers": [header]}]},
    ):
        assert "is not among those for models" in api.refusal(evalmodel(where, **fields)), fields
    headers = {"extra_headers": {"Authorization": "Bearer x"}}
    assert "contains a credential" in api.refusal(evalmodel(where, parameters=headers))
    assert api.refusal(evalmodel(where, parameters={"extra_headers": {"X-Title": "evals"}})) == ""


def test_the_api_server_binds_the_operator_and_reserves_its_labels(api: Api) -> None:
    where = api.namespace
    assert api.refusal(config_map(where, LABELS), api.operator) == ""
    assert api.refusal(job(where), api.operator) == ""
    assert "use the ServiceAccount opsgym-task" in api.refusal(job(where, serviceAccountName="x"), api.operator)
    assert "no part of their node" in api.refusal(job(where, hostNetwork=True), api.operator)
    for manifest in (job(where), pod(where, "p", shell("main", "true"), labels=LABELS)):
        assert "reserved for the operator" in api.refusal(manifest)
    plain = {"metadata": {"name": "j", "namespace": where}}
    assert api.refusal({**job(where), **plain}) == ""
    forged = {**job(where), **plain}
    forged["spec"] = {"template": {**forged["spec"]["template"], "metadata": {"labels": LABELS}}}
    assert "reserved for the operator" in api.refusal(forged)
    assert api.refusal(config_map(where, {}), "tenant") == ""
    controller = "system:serviceaccount:kube-system:job-controller"
    assert api.refusal(pod(where, "p", shell("main", "true"), labels=LABELS), controller) == ""
