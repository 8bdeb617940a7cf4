"""What the chart opsgym renders for the console."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.helm.charts import STORE, Manifest, one, refusal, rendered

from opsgym_console.server.config import parse_config

LEAST: Mapping[str, Any] = {"stores": [STORE], "console": {"enabled": True}}
PROXY = {"enabled": True, "proxy": {"header": "X-Forwarded-User", "addresses": ["10.0.0.0/8", "fd00::/8"]}}


def _console(**console: Any) -> Mapping[str, Any]:
    return {"stores": [STORE], "console": {"enabled": True, **console}}


def _pod(values: Mapping[str, Any]) -> Manifest:
    pod: Manifest = one(rendered(values), "Deployment", "opsgym-console")["spec"]["template"]["spec"]
    return pod


def _named(values: Mapping[str, Any]) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in rendered(values)]


def test_there_is_no_console_unless_it_is_asked_for() -> None:
    assert "opsgym-console" not in _named({"stores": [STORE]})
    assert "opsgym-console" in _named(LEAST)


def test_people_sign_in_with_a_token_that_is_made() -> None:
    (container,) = _pod(LEAST)["containers"]
    assert container["command"] == ["python", "-m", "opsgym_console"]
    assert container["args"] == [
        "--config=/etc/opsgym/config.yaml",
        "--host=::",
        "--port=8080",
        "--token-file=/etc/opsgym/console/token",
    ]
    assert "env" not in container
    (job,) = [manifest for manifest in rendered(LEAST) if manifest["kind"] == "Job"]
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    (secret,) = json.loads(command[-1])
    assert (secret["name"], secret["namespaces"]) == ("opsgym-console", ["evals"])
    assert secret["lengths"] == {"token": 40}


def test_a_token_that_is_there_is_not_made() -> None:
    values = _console(tokenSecret="own")
    assert not [manifest for manifest in rendered(values) if manifest["kind"] in {"Secret", "Job"}]
    volumes = {volume["name"]: volume for volume in _pod(values)["volumes"]}
    assert volumes["token"]["secret"] == {"secretName": "own", "items": [{"key": "token", "path": "token"}]}


def test_behind_a_proxy_there_is_no_token_unless_one_is_named() -> None:
    (container,) = _pod({"stores": [STORE], "console": PROXY})["containers"]
    assert container["args"][3:] == [
        "--trust-header=X-Forwarded-User",
        "--trusted-proxies=10.0.0.0/8",
        "--trusted-proxies=fd00::/8",
    ]
    (both,) = _pod({"stores": [STORE], "console": {**PROXY, "tokenSecret": "own"}})["containers"]
    assert "--token-file=/etc/opsgym/console/token" in both["args"]


def test_it_may_list_evalruns_and_no_more() -> None:
    expected = [{"apiGroups": ["opsgym.dev"], "resources": ["evalruns"], "verbs": ["list"]}]
    manifests = rendered({**LEAST, "namespaces": ["a", "b"]})
    for namespace in ("a", "b"):
        assert one(manifests, "Role", "opsgym-console", namespace)["rules"] == expected
        binding = one(manifests, "RoleBinding", "opsgym-console", namespace)
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "opsgym-console", "namespace": "evals"}]
    wide = rendered({**LEAST, "clusterWide": True})
    assert one(wide, "ClusterRole", "evals-opsgym-console", None)["rules"] == expected
    assert not [
        manifest for manifest in wide if (manifest["kind"], manifest["metadata"]["name"]) == ("Role", "opsgym-console")
    ]


def test_it_reaches_the_stores_of_the_operator() -> None:
    manifests = rendered({**LEAST, "trialStore": {"enabled": True}})

    def stores(deployment: str) -> dict[str, str]:
        pod = one(manifests, "Deployment", deployment)["spec"]["template"]["spec"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        mounts = pod["containers"][0]["volumeMounts"]
        folder = "/etc/opsgym/stores/"
        return {m["mountPath"]: str(volumes[m["name"]]) for m in mounts if m["mountPath"].startswith(folder)}

    assert set(stores("opsgym-console")) == {"/etc/opsgym/stores/results", "/etc/opsgym/stores/trial"}
    assert stores("opsgym-console") == stores("opsgym-operator")


@pytest.mark.parametrize(
    ("scope", "namespaces"), [({"namespaces": ["a", "b"]}, ["a", "b"]), ({"clusterWide": True}, [])]
)
def test_its_configuration_has_the_stores_and_namespaces_and_nothing_else(
    scope: Mapping[str, Any], namespaces: list[str]
) -> None:
    manifests = rendered({**LEAST, **scope})
    text = one(manifests, "ConfigMap", "opsgym-console")["data"]["config.yaml"]
    config = parse_config(text, "config.yaml")
    assert [store.name for store in config.stores] == ["results"]
    assert (config.default_store, config.namespaces) == ("results", namespaces)
    (volume,) = [volume for volume in _pod({**LEAST, **scope})["volumes"] if volume["name"] == "config"]
    assert volume["configMap"] == {"name": "opsgym-console"}


def test_another_configuration_restarts_it() -> None:
    def annotation(values: Mapping[str, Any]) -> str:
        template = one(rendered(values), "Deployment", "opsgym-console")["spec"]["template"]
        return str(template["metadata"]["annotations"]["opsgym.dev/config"])

    assert annotation(LEAST) == annotation({**LEAST, "logLevel": "DEBUG"})
    assert annotation(LEAST) != annotation({**LEAST, "namespaces": ["a"]})


def test_who_reaches_it_and_whom_it_reaches() -> None:
    peers = [{"podSelector": {"matchLabels": {"app": "oauth2-proxy"}}}]
    values = {**LEAST, "trialStore": {"enabled": True}, "networkPolicy": {"peers": {"console": peers}}}
    manifests = rendered(values)
    spec = one(manifests, "NetworkPolicy", "opsgym-console")["spec"]
    assert spec["ingress"] == [{"ports": [{"protocol": "TCP", "port": 8080}], "from": peers}]
    ports = [[port["port"] for port in rule["ports"]] for rule in spec["egress"]]
    assert ports == [[53, 53, 5353, 5353], [443], [7070], [443, 6443]]
    admitted = one(manifests, "NetworkPolicy", "opsgym-s3")["spec"]["ingress"][0]["from"]
    components = [peer["podSelector"]["matchLabels"].get("app.kubernetes.io/component") for peer in admitted]
    assert components[:2] == ["operator", "console"]


def test_an_ingress_leads_to_it() -> None:
    ingress = {
        "enabled": True,
        "className": "nginx",
        "host": "evals.example",
        "tlsSecret": "tls",
        "annotations": {"a": "b"},
    }
    manifest = one(rendered(_console(ingress=ingress)), "Ingress", "opsgym-console")
    assert manifest["metadata"]["annotations"] == {"a": "b"}
    backend = {"service": {"name": "opsgym-console", "port": {"name": "http"}}}
    assert manifest["spec"] == {
        "ingressClassName": "nginx",
        "rules": [
            {"host": "evals.example", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
        ],
        "tls": [{"hosts": ["evals.example"], "secretName": "tls"}],
    }


def test_pods_of_it_are_placed_as_told() -> None:
    placed = {"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}], "priorityClassName": "high"}
    pod = _pod({**_console(**placed), "images": {"console": "c@sha256:0", "pullSecrets": ["registry"]}})
    assert {key: pod[key] for key in placed} == placed
    assert pod["containers"][0]["image"] == "c@sha256:0"
    assert pod["imagePullSecrets"] == [{"name": "registry"}]


@pytest.mark.parametrize(
    ("console", "named"),
    [
        ({"proxy": {"header": "X-User"}}, "console.proxy.addresses: say where the sign-in proxy is"),
        ({"proxy": {"header": "X User"}}, "/console/proxy/header"),
        ({"proxy": {"header": "X-User", "addresses": ["everywhere"]}}, "/console/proxy/addresses/0"),
        ({"ingress": {"enabled": True}}, "console.ingress.host: name the host"),
        ({"ingress": {"path": "console"}}, "/console/ingress/path"),
        ({"token": "in the clear"}, "'token' not allowed"),
        ({"enabled": "yes"}, "/console/enabled"),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(console: Mapping[str, Any], named: str) -> None:
    assert named in refusal(_console(**console))
