"""What values add to the pods of operator, console and trial store: fields, proxies and CA certificates."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.helm.charts import OPSGYM, STORE, Manifest, one, refusal, rendered
from tests.helm.test_chart import ADDITIONS, SETTINGS

from opsgym_api.kinds.history import History
from opsgym_operator.config import parse_config
from opsgym_operator.pod_template import DomainPods, PodProfile

ADDED = SETTINGS["additions to pods"]
OWNERS = ("opsgym-operator", "opsgym-console", "opsgym-s3")


def _template(name: str, values: Any = ADDED) -> Manifest:
    template: Manifest = one(rendered(values), "Deployment", name)["spec"]["template"]
    return template


def _environment(container: Manifest) -> dict[str, str]:
    return {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}


@pytest.mark.parametrize("name", OWNERS)
def test_what_is_added_arrives(name: str) -> None:
    template = _template(name)
    spec, container = template["spec"], template["spec"]["containers"][0]
    assert template["metadata"]["labels"]["cost"] == "evals"
    assert template["metadata"]["annotations"]["example.com/a"] == "b"
    fields = {"nodeSelector", "tolerations", "affinity", "topologySpreadConstraints"}
    fields |= {"priorityClassName", "runtimeClassName", "schedulerName"}
    assert {field: spec[field] for field in fields} == {field: ADDITIONS[field] for field in fields}
    assert spec["securityContext"]["supplementalGroups"] == [4000]
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["volumes"][-1] == ADDITIONS["volumes"][0]
    assert container["env"][-1] == {"name": "TZ", "value": "UTC"}
    assert container["envFrom"] == ADDITIONS["envFrom"]
    assert container["volumeMounts"][-2:] == [
        {"name": "more", "mountPath": "/more", "readOnly": True},
        {"name": "more", "mountPath": "/w", "readOnly": False},
    ]


def test_labels_that_select_pods_cannot_be_replaced() -> None:
    values = {"stores": [STORE], "operator": {"labels": {"app.kubernetes.io/component": "other"}}}
    assert _template("opsgym-operator", values)["metadata"]["labels"]["app.kubernetes.io/component"] == "operator"


def test_pods_of_runs_get_their_additions_through_the_operator() -> None:
    text = one(rendered(ADDED), "ConfigMap", "opsgym-operator")["data"]["config.yaml"]
    pods = parse_config(text, "config.yaml").pods
    assert pods.labels == {"sidecar.istio.io/inject": "false", **ADDITIONS["labels"]}
    assert pods.runtime_class_name == "gvisor"
    assert pods.domains["csm"].resources.gym.limits == {"cpu": "2"}
    assert pods.domains["csm"].affinity == ADDITIONS["affinity"]


def test_profiles_and_allowed_keys_reach_the_operator() -> None:
    profile = {"namespaces": ["team"], **ADDITIONS, "resources": {"gym": {"limits": {"cpu": 2}}}}
    values = {"stores": [STORE], "podProfiles": {"large": profile}, "pods": {"allowedLabels": ["team", "cost/"]}}
    config = parse_config(one(rendered(values), "ConfigMap", "opsgym-operator")["data"]["config.yaml"], "config.yaml")
    large = config.pod_profiles["large"]
    assert (large.namespaces, large.labels, large.affinity) == (["team"], ADDITIONS["labels"], ADDITIONS["affinity"])
    assert large.resources.gym.limits == {"cpu": "2"}
    assert (config.pods.allowed_labels, config.pods.allowed_annotations) == (["team", "cost/"], [])


def test_the_schema_takes_what_the_operator_takes_for_domains_and_profiles() -> None:
    properties = json.loads((OPSGYM / "values.schema.json").read_text())["properties"]
    domain = properties["pods"]["properties"]["domains"]["additionalProperties"]["properties"]
    profile = properties["podProfiles"]["additionalProperties"]["properties"]
    assert set(domain) == {field.alias for field in DomainPods.model_fields.values()}
    assert set(profile) == {field.alias for field in PodProfile.model_fields.values()}


def test_the_history_of_schedules_without_one_reaches_the_operator() -> None:
    history = {"states": {"days": 14}, "records": {"days": 365, "runs": 20}}
    text = one(rendered({"stores": [STORE], "history": history}), "ConfigMap", "opsgym-operator")["data"]["config.yaml"]
    assert parse_config(text, "config.yaml").history == History.model_validate(history)
    assert "states" in refusal({"stores": [STORE], "history": {"states": {}}})


def test_a_default_annotation_is_removed_by_null() -> None:
    values = {"stores": [STORE], "pods": {"annotations": {"karpenter.sh/do-not-disrupt": None}}}
    text = one(rendered(values), "ConfigMap", "opsgym-operator")["data"]["config.yaml"]
    annotations = parse_config(text, "config.yaml").pods.annotations
    assert "karpenter.sh/do-not-disrupt" not in annotations
    assert annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"


@pytest.mark.parametrize("name", OWNERS[:2])
def test_operator_and_console_know_proxies_and_certificates(name: str) -> None:
    spec = _template(name)["spec"]
    environment = _environment(spec["containers"][0])
    assert environment["HTTP_PROXY"] == environment["http_proxy"] == "http://proxy.net.svc:3128"
    assert environment["HTTPS_PROXY"] == environment["https_proxy"] == "http://proxy.net.svc:3129/"
    assert environment["no_proxy"] == environment["NO_PROXY"] == "localhost,127.0.0.1,::1,.svc,.cluster.local,.corp"
    for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
        assert environment[variable] == "/etc/opsgym/ca/bundle.crt"
    items = [{"key": "bundle.pem", "path": "bundle.crt"}]
    assert {"name": "ca-bundle", "configMap": {"name": "trust", "items": items}} in spec["volumes"]
    mount = {"name": "ca-bundle", "mountPath": "/etc/opsgym/ca", "readOnly": True}
    assert mount in spec["containers"][0]["volumeMounts"]


def test_pods_may_connect_to_the_proxies() -> None:
    for name in ("opsgym-operator", "opsgym-console", "opsgym-task"):
        egress = one(rendered(ADDED), "NetworkPolicy", name)["spec"]["egress"]
        assert [{"protocol": "TCP", "port": 3128}, {"protocol": "TCP", "port": 3129}] in [
            rule.get("ports") for rule in egress
        ]
        peer = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "net"}}}
        assert {"to": [peer]} in egress


def test_a_variable_of_the_values_takes_the_place_of_a_proxy() -> None:
    own = {"name": "HTTPS_PROXY", "valueFrom": {"secretKeyRef": {"name": "proxy", "key": "url"}}}
    values = {"stores": [STORE], "proxy": {"https": "http://proxy:3128"}, "operator": {"env": [own]}}
    env = _template("opsgym-operator", values)["spec"]["containers"][0]["env"]
    assert [variable for variable in env if variable["name"] == "HTTPS_PROXY"] == [own]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"operator": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}}, "hostPath"),
        ({"pods": {"domains": {"csm": {"volumes": [{"name": "v", "nfs": {}}]}}}}, "nfs"),
        ({"console": {"securityContext": {"runAsNonRoot": False}}}, "runAsNonRoot"),
        ({"pods": {"domains": {"csm": {"resources": {"egym": {}}}}}}, "egym"),
        ({"podProfiles": {"p": {"serviceAccountName": "admin"}}}, "serviceAccountName"),
        ({"podProfiles": {"p": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}}}, "hostPath"),
        ({"podProfiles": {"p": {"securityContext": {"runAsUser": 0}}}}, "runAsUser"),
        ({"proxy": {"https": "http://user:secret@proxy:3128"}}, "pattern"),
        ({"caBundle": {"configMap": "a", "secret": "b"}}, "caBundle: give configMap or secret, not both"),
    ],
)
def test_what_weakens_a_pod_or_makes_no_sense_is_refused(values: dict[str, Any], named: str) -> None:
    assert named in refusal({"stores": [STORE], **values})
