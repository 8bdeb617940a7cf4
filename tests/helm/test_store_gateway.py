"""The store gateway: where it is created, what it may do, and that pods of runs hold no key and reach no store then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.helm.charts import STORE, Manifest, one, refusal, rendered
from tests.helm.test_additions import _environment
from tests.helm.test_chart import ADDITIONS, SETTINGS, _config

NAME = "opsgym-store-gateway"
WIDE: Mapping[str, Any] = {"clusterWide": True, "stores": [STORE]}
SEVERAL: Mapping[str, Any] = {"namespaces": ["a", "b"], "stores": [STORE]}
READS = [
    {"apiGroups": [""], "resources": ["pods", "configmaps"], "verbs": ["get"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
]
REVIEWS = {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]}


def _names(values: Mapping[str, Any]) -> set[str]:
    return {manifest["metadata"]["name"] for manifest in rendered(values)}


def _selects(component: str) -> Manifest:
    own = {"app.kubernetes.io/name": "opsgym", "app.kubernetes.io/instance": "opsgym"}
    return {"matchLabels": {**own, "app.kubernetes.io/component": component}}


@pytest.mark.parametrize("shared", [WIDE, SEVERAL])
def test_a_shared_release_has_it_and_one_for_a_single_namespace_if_its_values_ask_for_it(
    shared: Mapping[str, Any],
) -> None:
    assert NAME in _names(shared)
    assert _config(rendered(shared)).store_gateway is not None
    without = {**shared, "storeGateway": {"enabled": False}}
    assert NAME not in _names(without)
    assert _config(rendered(without)).store_gateway is None
    assert NAME not in _names(SETTINGS["least"])
    assert NAME not in _names({**SEVERAL, "namespaces": ["a"]})
    assert NAME in _names({**SEVERAL, "namespaces": ["a"], "storeGateway": {"enabled": True}})


def test_its_address_is_its_service() -> None:
    manifests = rendered(WIDE)
    port, metrics = one(manifests, "Service", NAME)["spec"]["ports"]
    gateway = _config(manifests).store_gateway
    assert gateway is not None
    assert gateway.url == f"http://{NAME}.evals.svc:{port['port']}"
    container = one(manifests, "Deployment", NAME)["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["python", "-m", "opsgym_operator.gateway"]
    ports = [{"name": item["targetPort"], "containerPort": item["port"]} for item in (port, metrics)]
    assert container["ports"] == ports
    assert metrics["name"] == "metrics"


def test_it_reviews_tokens_and_reads_the_objects_of_pods_and_no_more() -> None:
    assert one(rendered(WIDE), "ClusterRole", f"evals-{NAME}", None)["rules"] == [REVIEWS, *READS]
    manifests = rendered(SEVERAL)
    assert one(manifests, "ClusterRole", f"evals-{NAME}", None)["rules"] == [REVIEWS]
    for namespace in ("a", "b"):
        assert one(manifests, "Role", NAME, namespace)["rules"] == READS
        [subject] = one(manifests, "RoleBinding", NAME, namespace)["subjects"]
        assert subject == {"kind": "ServiceAccount", "name": NAME, "namespace": "evals"}


def test_it_finds_the_keys_and_the_configuration_of_the_operator() -> None:
    manifests = rendered(WIDE)
    spec = one(manifests, "Deployment", NAME)["spec"]["template"]["spec"]
    operator = one(manifests, "Deployment", "opsgym-operator")["spec"]["template"]["spec"]
    assert spec["volumes"] == operator["volumes"]
    assert spec["containers"][0]["volumeMounts"] == operator["containers"][0]["volumeMounts"]


def test_another_configuration_restarts_it() -> None:
    def annotations(values: Mapping[str, Any]) -> Any:
        return one(rendered(values), "Deployment", NAME)["spec"]["template"]["metadata"]["annotations"]

    assert annotations(WIDE) == annotations(WIDE)
    assert annotations(WIDE) != annotations({**WIDE, "stores": [{**STORE, "url": "s3://another"}]})


def test_pods_of_runs_reach_it_in_place_of_stores() -> None:
    values = {**WIDE, "trialStore": {"enabled": True}}
    manifests = rendered(values)
    egress = one(manifests, "NetworkPolicy", "opsgym-task")["spec"]["egress"]
    assert [[port["port"] for port in rule["ports"]] for rule in egress] == [[53, 53, 5353, 5353], [8080], [443]]
    [peer] = egress[1]["to"]
    assert peer["podSelector"] == _selects("store-gateway")
    [rule] = one(manifests, "NetworkPolicy", "opsgym-s3")["spec"]["ingress"]
    assert [peer["podSelector"] for peer in rule["from"]] == [_selects("operator"), _selects("store-gateway")]


def test_only_pods_of_runs_reach_it_and_it_reaches_stores_and_the_api_server() -> None:
    spec = one(rendered(WIDE), "NetworkPolicy", NAME)["spec"]
    rule, _ = spec["ingress"]
    [peer] = rule["from"]
    managed = {"app.kubernetes.io/managed-by": "opsgym-operator", "app.kubernetes.io/part-of": "opsgym"}
    assert (rule["ports"], peer["podSelector"]) == ([{"protocol": "TCP", "port": 8080}], {"matchLabels": managed})
    ports = [[port["port"] for port in rule["ports"]] for rule in spec["egress"]]
    assert ports == [[53, 53, 5353, 5353], [443], [443, 6443]]
    assert NAME in _names({**WIDE, "networkPolicy": {"enabled": False}})


def test_it_serves_https_with_the_certificate_of_a_secret() -> None:
    values = {**WIDE, "storeGateway": {"tls": {"secret": "gateway-tls"}}, "caBundle": {"configMap": "trust"}}
    manifests = rendered(values)
    gateway = _config(manifests).store_gateway
    assert gateway is not None
    assert gateway.url == f"https://{NAME}.evals.svc:8080"
    spec = one(manifests, "Deployment", NAME)["spec"]["template"]["spec"]
    container = spec["containers"][0]
    [mount] = [mount for mount in container["volumeMounts"] if mount["name"] == "tls"]
    assert (_environment(container)["OPSGYM_GATEWAY_TLS"], "subPath" in mount) == (mount["mountPath"], False)
    assert {"name": "tls", "secret": {"secretName": "gateway-tls"}} in spec["volumes"]
    probes = [container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")]
    assert probes == [{"path": "/healthz", "port": "http", "scheme": "HTTPS"}] * 3


def test_https_wants_the_ca_that_pods_trust() -> None:
    assert "give the CA that issued it in caBundle" in refusal({**WIDE, "storeGateway": {"tls": {"secret": "tls"}}})


def test_prometheus_reaches_its_metrics_and_a_value_says_which() -> None:
    monitoring = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    port = {"ports": [{"protocol": "TCP", "port": 9100}]}
    assert one(rendered(WIDE), "NetworkPolicy", NAME)["spec"]["ingress"][1] == port
    values = {**WIDE, "networkPolicy": {"peers": {"metrics": monitoring}}}
    assert one(rendered(values), "NetworkPolicy", NAME)["spec"]["ingress"][1] == {**port, "from": monitoring}


@pytest.mark.parametrize(("value", "kind"), [("serviceMonitor", "ServiceMonitor"), ("podMonitor", "PodMonitor")])
def test_a_monitor_selects_it_where_it_is(value: str, kind: str) -> None:
    metrics = {"metrics": {value: {"enabled": True}}}
    assert one(rendered({**WIDE, **metrics}), kind, NAME)["spec"]["selector"] == _selects("store-gateway")
    assert NAME not in _names({**SETTINGS["least"], **metrics})


def test_what_is_added_to_its_pods_arrives() -> None:
    values = {**SETTINGS["additions to pods"], "storeGateway": {"enabled": True, **ADDITIONS}}
    template = one(rendered(values), "Deployment", NAME)["spec"]["template"]
    container = template["spec"]["containers"][0]
    assert template["metadata"]["labels"]["cost"] == "evals"
    assert template["spec"]["volumes"][-1] == ADDITIONS["volumes"][0]
    assert container["envFrom"] == ADDITIONS["envFrom"]
    assert _environment(container)["HTTPS_PROXY"] == "http://proxy.net.svc:3129/"


@pytest.mark.parametrize("replicas", [0, 21])
def test_it_has_at_least_one_replica(replicas: int) -> None:
    assert "replicas" in refusal({**WIDE, "storeGateway": {"replicas": replicas}})
