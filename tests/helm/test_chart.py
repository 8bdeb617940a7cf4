"""What the chart opsgym renders, object by object; that a cluster takes it is proved in `tests/cluster`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from tests.helm.charts import (
    CRDS,
    OLDEST,
    OPSGYM,
    ROOT,
    STORE,
    Manifest,
    helm,
    one,
    pods,
    refusal,
    rendered,
    rendered_crds,
    restricted,
)
from tools.charts import resolved

from opsgym_api.kinds.evalrun import EvalRun
from opsgym_operator.config import HeadersSecret, OperatorConfig, PodsConfig, TracingConfig, parse_config
from opsgym_operator.kube.leadership import NAMESPACE_LEASE

ADDITIONS: Mapping[str, Any] = {
    "labels": {"cost": "evals", "app.kubernetes.io/name": "opsgym"},
    "annotations": {"example.com/a": "b"},
    "env": [{"name": "TZ", "value": "UTC"}],
    "envFrom": [{"secretRef": {"name": "gateway"}}],
    "volumes": [{"name": "more", "configMap": {"name": "more"}}],
    "volumeMounts": [{"name": "more", "mountPath": "/more"}, {"name": "more", "mountPath": "/w", "readOnly": False}],
    "nodeSelector": {"kubernetes.io/arch": "arm64"},
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "z",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "opsgym"}},
        }
    ],
    "priorityClassName": "high",
    "runtimeClassName": "gvisor",
    "schedulerName": "other",
    "securityContext": {"supplementalGroups": [4000], "seLinuxOptions": {"level": "s0:c1"}},
}

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "least": {"stores": [STORE]},
    "cluster-wide": {"clusterWide": True, "stores": [STORE]},
    "two namespaces": {"namespaces": ["a", "b"], "stores": [STORE]},
    "trial store": {"trialStore": {"enabled": True}},
    "trial store with a volume": {"trialStore": {"enabled": True, "persistence": {"enabled": True}}},
    "no extras": {"stores": [STORE], "accessRoles": False, "networkPolicy": {"enabled": False}},
    "console": {"stores": [STORE], "console": {"enabled": True}},
    "cluster-wide without store gateway": {"clusterWide": True, "stores": [STORE], "storeGateway": {"enabled": False}},
    "console cluster-wide": {"clusterWide": True, "stores": [STORE], "console": {"enabled": True}},
    "additions to pods": {
        "trialStore": {"enabled": True, **ADDITIONS},
        "operator": ADDITIONS,
        "console": {"enabled": True, **ADDITIONS},
        "storeGateway": ADDITIONS,
        "pods": {**ADDITIONS, "domains": {"csm": {**ADDITIONS, "resources": {"gym": {"limits": {"cpu": 2}}}}}},
        "proxy": {"http": "http://proxy.net.svc:3128", "https": "http://proxy.net.svc:3129/", "noProxy": [".corp"]},
        "caBundle": {"configMap": "trust", "key": "bundle.pem"},
    },
    "everything": {
        "namespaces": ["evals", "b"],
        "stores": [STORE, {"name": "other", "url": "s3://other", "endpointUrl": "http://s3.b.svc:9000", "region": "x"}],
        "defaultStore": "other",
        "trialStore": {"enabled": True, "secret": "own-key"},
        "storeGateway": {"enabled": False},
        "models": [{"name": "gpt", "spec": {"model": "openai/gpt", "endpoints": [{"url": "http://m.b.svc:8000/v1"}]}}],
        "gyms": {"csm": {"image": "csm:1", "port": 8005}},
        "images": {"pullSecrets": ["registry"], "runner": "r@sha256:0"},
        "operator": {
            "replicas": 2,
            "nodeSelector": {"a": "b"},
            "tolerations": [{"operator": "Exists"}],
            "priorityClassName": "high",
            "serviceAccountAnnotations": {"role": "operator"},
        },
        "pods": {
            "nodeSelector": {"a": "b"},
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
            "priorityClassName": "low",
            "serviceAccountAnnotations": {"role": "task"},
            "resources": {"agent": {"limits": {"cpu": 2}}},
        },
        "metrics": {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
        "monitoring": {"rules": {"enabled": True}},
        "logLevel": "DEBUG",
        "notifications": {
            "webhooks": [
                {"name": "desk", "secret": "desk-hook"},
                {"name": "on.call", "secret": "pager", "events": ["stalled", "gate_failed"], "format": "json"},
            ],
            "default": ["on.call"],
        },
        "tracing": {
            "endpoint": "http://collector.o.svc:4318",
            "headersSecret": {"name": "collector"},
            "samplingRatio": 0.25,
            "captureContent": True,
        },
    },
}

DNS = {"ports": [{"protocol": name, "port": port} for port in (53, 5353) for name in ("UDP", "TCP")]}
ANYWHERE = [
    {"namespaceSelector": {}},
    {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]}},
    {"ipBlock": {"cidr": "::/0", "except": ["fe80::/10", "fd00:ec2::/32"]}},
]
"""Any address but those where clouds serve the credentials of nodes."""

NAMESPACED = {
    "ConfigMap", "Deployment", "EvalModel", "NetworkPolicy", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget",
    "Role", "RoleBinding", "Ingress", "Job", "PrometheusRule", "Service", "ServiceAccount", "ServiceMonitor",
}  # fmt: skip

every_setting = pytest.mark.parametrize("values", SETTINGS.values(), ids=SETTINGS.keys())


def _config(manifests: list[Manifest]) -> OperatorConfig:
    text = one(manifests, "ConfigMap", "opsgym-operator")["data"]["config.yaml"]
    return parse_config(text, "config.yaml")


def _in_namespace(name: str) -> Manifest:
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def _ports(spec: Manifest) -> list[list[int]]:
    """Ports of each egress rule; none for a rule that allows all."""
    return [[port["port"] for port in rule.get("ports", [])] for rule in spec["egress"]]


def _identity(manifest: Manifest) -> tuple[str, str | None, str]:
    return manifest["kind"], manifest["metadata"].get("namespace"), manifest["metadata"]["name"]


@every_setting
def test_helm_finds_no_fault(values: Mapping[str, Any]) -> None:
    done = helm("lint", "--strict", "--kube-version", OLDEST, str(OPSGYM), values=values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[WARNING]" not in done.stdout


@every_setting
def test_every_pod_meets_the_standard_restricted(values: Mapping[str, Any]) -> None:
    manifests = list(pods(rendered(values)))
    assert manifests
    assert [fault for pod in manifests for fault in restricted(pod)] == []


@every_setting
def test_only_pods_that_use_the_api_server_have_a_token(values: Mapping[str, Any]) -> None:
    tokens = {pod.owner: pod.spec["automountServiceAccountToken"] for pod in pods(rendered(values))}
    expected = {"Deployment opsgym-operator", "Pod opsgym-test"}
    expected |= {"Deployment opsgym-console"} if values.get("console") else set()
    expected |= {"Deployment opsgym-store-gateway"} & tokens.keys()
    expected |= {"Job opsgym-secrets"} & tokens.keys()
    assert {owner for owner, token in tokens.items() if token} == expected


@every_setting
def test_every_container_says_what_it_needs_and_what_it_may_use(values: Mapping[str, Any]) -> None:
    for pod in pods(rendered(values)):
        for container in pod.containers:
            assert {"cpu", "memory"} <= set(container["resources"]["requests"]), pod.owner
            assert "memory" in container["resources"]["limits"], pod.owner


@every_setting
def test_no_right_is_a_wildcard_or_reaches_secrets_or_running_containers(values: Mapping[str, Any]) -> None:
    roles = [manifest for manifest in rendered(values) if manifest["kind"] in {"Role", "ClusterRole"}]
    assert roles
    for role in roles:
        if role["metadata"]["name"] == "opsgym-secrets":  # of a Job that runs before the release is there
            continue
        for rule in role["rules"]:
            words = {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}
            assert "*" not in words
            assert not {"secrets", "pods/exec", "pods/attach", "serviceaccounts/token", "nodes"} & words
            assert not {"escalate", "bind", "impersonate"} & words


@pytest.mark.parametrize("name", [name for name in SETTINGS if "cluster-wide" not in name])
def test_a_namespaced_release_has_objects_in_its_namespaces_only(name: str) -> None:
    values = {**SETTINGS[name], "admissionPolicy": {"enabled": False}}
    values["storeGateway"] = {**values.get("storeGateway", {}), "enabled": False}
    for manifest in rendered(values):
        assert manifest["kind"] in NAMESPACED
        assert manifest["metadata"]["namespace"] in {"evals", *values.get("namespaces", [])}


def test_a_cluster_wide_release_has_these_objects_outside_its_namespace() -> None:
    outside = {_identity(manifest) for manifest in rendered(SETTINGS["cluster-wide"])} - {
        _identity(manifest) for manifest in rendered(SETTINGS["least"])
    }
    assert outside == {
        ("ClusterRole", None, "evals-opsgym-operator"),
        ("ClusterRoleBinding", None, "evals-opsgym-operator"),
        ("ClusterRole", None, "evals-opsgym-store-gateway"),
        ("ClusterRoleBinding", None, "evals-opsgym-store-gateway"),
        *(
            (kind, "evals", "opsgym-store-gateway")
            for kind in ("PodDisruptionBudget", "Deployment", "NetworkPolicy", "Service", "ServiceAccount")
        ),
        ("ClusterRole", None, "evals-opsgym-viewer"),
        ("ClusterRole", None, "evals-opsgym-user-editor"),
        ("ClusterRole", None, "evals-opsgym-platform-editor"),
        *(
            (kind, None, f"evals-opsgym-{policy}")
            for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
            for policy in ("credentials", "operator", "labels", "lease")
        ),
    }


@pytest.mark.parametrize("name", ["least", "cluster-wide", "trial store with a volume"])
def test_releases_in_two_namespaces_have_no_object_in_common(name: str) -> None:
    first, second = (
        {_identity(manifest) for manifest in rendered(SETTINGS[name], namespace=where)} for where in ("a", "b")
    )
    assert first & second == set()


def test_a_release_may_have_any_name() -> None:
    name = "a-release-whose-name-is-as-long-as-helm-allows-itself"
    for manifest in rendered(SETTINGS["everything"], release=name):
        assert len(manifest["metadata"]["name"]) <= 63


def _lease_rules(name: str) -> list[Manifest]:
    leases = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    return [{**leases, "verbs": ["create"]}, {**leases, "resourceNames": [name], "verbs": ["get", "patch"]}]


def test_replicas_elect_their_leader_in_the_namespace_of_the_release() -> None:
    manifests = rendered(SETTINGS["two namespaces"])
    lease = _config(manifests).lease
    assert (lease.namespace, lease.name) == ("evals", "opsgym-operator")
    assert one(manifests, "Role", "opsgym-operator-leader")["rules"] == _lease_rules(lease.name)
    assert one(manifests, "RoleBinding", "opsgym-operator-leader")["subjects"] == [
        {"kind": "ServiceAccount", "name": "opsgym-operator", "namespace": "evals"}
    ]


def test_a_replica_is_told_its_own_name() -> None:
    container = one(rendered(SETTINGS["least"]), "Deployment", "opsgym-operator")["spec"]["template"]["spec"][
        "containers"
    ][0]
    own = {"name": "OPSGYM_POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    assert own in container["env"]


@pytest.mark.parametrize("name", ["opsgym-operator", "opsgym-store-gateway"])
def test_several_replicas_are_spread_and_not_evicted_together(name: str) -> None:
    single = {**SETTINGS["least"], "storeGateway": {"enabled": True, "replicas": 1}}
    budgets = [item for item in rendered(single) if item["kind"] == "PodDisruptionBudget"]
    assert budgets == []
    manifests = rendered({**single, "operator": {"replicas": 2}, "storeGateway": {"enabled": True}})
    deployment, budget = (one(manifests, kind, name) for kind in ("Deployment", "PodDisruptionBudget"))
    assert deployment["spec"]["replicas"] == 2
    selector = deployment["spec"]["selector"]
    assert budget["spec"]["selector"] == selector
    assert budget["spec"]["maxUnavailable"] == 1
    [spread] = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert (spread["labelSelector"], spread["whenUnsatisfiable"]) == (selector, "ScheduleAnyway")


def test_the_operator_may_do_this_and_no_more() -> None:
    own = ["opsgym.dev"]
    expected = [
        {"apiGroups": own, "resources": ["evalruns"], "verbs": ["get", "list", "watch", "create", "delete"]},
        {"apiGroups": own, "resources": ["evalmodels", "evalschedules"], "verbs": ["list", "watch"]},
        {"apiGroups": own, "resources": ["evalruns/status", "evalschedules/status"], "verbs": ["patch"]},
        {"apiGroups": own, "resources": ["evalruns/finalizers", "evalschedules/finalizers"], "verbs": ["update"]},
        {
            "apiGroups": ["batch"],
            "resources": ["jobs"],
            "verbs": ["get", "list", "watch", "create", "patch", "delete"],
        },
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create", "delete"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["get", "list", "create", "patch"]},
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues"], "verbs": ["list"]},
        *_lease_rules(NAMESPACE_LEASE),
    ]
    role = one(rendered(SETTINGS["least"]), "Role", "opsgym-operator")
    assert role["rules"] == expected
    wide = one(rendered(SETTINGS["cluster-wide"]), "ClusterRole", "evals-opsgym-operator", None)
    classes = {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloadpriorityclasses"], "verbs": ["list"]}
    assert wide["rules"] == [*expected, classes], "kinds of the cluster cannot be granted in a namespace"


def test_the_operator_has_its_role_in_every_namespace_it_serves() -> None:
    manifests = rendered(SETTINGS["two namespaces"])
    subject = {"kind": "ServiceAccount", "name": "opsgym-operator", "namespace": "evals"}
    for namespace in ("a", "b"):
        binding = one(manifests, "RoleBinding", "opsgym-operator", namespace)
        assert binding["subjects"] == [subject]
        assert binding["roleRef"]["name"] == one(manifests, "Role", "opsgym-operator", namespace)["metadata"]["name"]
    assert _config(manifests).watch_namespaces == ["a", "b"]


def test_people_with_view_or_edit_see_runs_where_the_release_is_cluster_wide() -> None:
    manifests = rendered(SETTINGS["cluster-wide"])
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    for name, roles in (("viewer", {"view"}), ("user-editor", {"edit", "admin"}), ("platform-editor", set())):
        labels = one(manifests, "ClusterRole", f"evals-opsgym-{name}", None)["metadata"]["labels"]
        assert {label.removeprefix(prefix) for label in labels if label.startswith(prefix)} == roles


def test_users_change_runs_and_the_platform_changes_models() -> None:
    manifests = rendered(SETTINGS["least"])
    writable = {
        role: {
            kind
            for rule in one(manifests, "Role", f"opsgym-{role}")["rules"]
            if "create" in rule["verbs"]
            for kind in rule["resources"]
        }
        for role in ("user-editor", "platform-editor")
    }
    assert writable == {"user-editor": {"evalruns", "evalschedules"}, "platform-editor": {"evalmodels"}}


def test_inline_credentials_are_off_and_need_a_list_of_secrets() -> None:
    assert not _config(rendered(SETTINGS["least"])).credentials.allow_inline
    assert "credentials.allowInline: users could send any Secret away" in refusal(
        {**SETTINGS["least"], "credentials": {"allowInline": True}}
    )
    listed = {**SETTINGS["least"], "credentials": {"allowInline": True, "secretPrefixes": ["model-"]}}
    assert _config(rendered(listed)).credentials.allows("model-gpt")


def test_a_store_may_be_for_some_namespaces() -> None:
    store = {**STORE, "namespaces": ["a"], "sharedSuites": ["suites/common/"], "sharedBaselines": ["a"]}
    config = _config(rendered({"namespaces": ["a", "b"], "stores": [store]}))
    assert list(config.stores_of("a")) == ["results"]
    assert not config.stores_of("b")
    assert config.stores[0].shared_baselines == ["a"]


def test_viewers_change_nothing() -> None:
    for rule in one(rendered(SETTINGS["least"]), "Role", "opsgym-viewer")["rules"]:
        assert rule["verbs"] == ["get", "list", "watch"]


def test_pods_of_runs_have_an_account_without_token_and_right() -> None:
    manifests = rendered(SETTINGS["least"])
    assert one(manifests, "ServiceAccount", "opsgym-task")["automountServiceAccountToken"] is False
    bound = [
        subject["name"]
        for manifest in manifests
        if manifest["kind"] == "RoleBinding"
        for subject in manifest["subjects"]
    ]
    assert "opsgym-task" not in bound
    assert _config(manifests).pods.service_account_name == "opsgym-task"
    assert _config(rendered(SETTINGS["cluster-wide"])).pods.service_account_name == "default"


@every_setting
def test_the_operator_reads_the_configuration_that_the_chart_writes(values: Mapping[str, Any]) -> None:
    config = _config(rendered(values))
    assert config.default_store in config.store_by_name


def test_unless_told_otherwise_pods_are_as_the_operator_has_them_by_itself() -> None:
    pods_of = _config(rendered(SETTINGS["least"])).pods
    assert pods_of == PodsConfig()


def test_what_is_given_arrives_in_the_configuration() -> None:
    config = _config(rendered(SETTINGS["everything"]))
    assert config.watch_namespaces == ["evals", "b"]
    assert list(config.store_by_name) == ["results", "other", "trial"]
    assert config.default_store == "other"
    assert config.images.runner == "r@sha256:0"
    assert config.images.domains == "localhost/opsgym-domains:dev"
    assert config.images.pull_secrets == ["registry"]
    assert config.gyms["csm"].port == 8005
    assert config.pods.resources.agent.limits == {"cpu": "2", "memory": "1Gi"}
    assert config.pods.priority_class_name == "low"
    assert config.pods.tolerations[0].effect == "NoSchedule"


def test_a_new_configuration_restarts_the_operator() -> None:
    def annotations(values: Mapping[str, Any]) -> Any:
        return one(rendered(values), "Deployment", "opsgym-operator")["spec"]["template"]["metadata"]["annotations"]

    changed = {**SETTINGS["least"], "pods": {"databaseMegabytes": 512}}
    unrelated = {**SETTINGS["least"], "accessRoles": False}
    assert annotations(changed) != annotations(SETTINGS["least"])
    assert annotations(unrelated) == annotations(SETTINGS["least"])


def test_the_operator_finds_each_stores_key_as_files() -> None:
    spec = one(rendered(SETTINGS["everything"]), "Deployment", "opsgym-operator")["spec"]["template"]["spec"]
    mounts = {mount["mountPath"]: mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    mounts = {
        path: volumes[name]["secret"]["secretName"]
        for path, name in mounts.items()
        if path.startswith("/etc/opsgym/stores/")
    }
    assert mounts == {"/etc/opsgym/stores/results": "opsgym-results", "/etc/opsgym/stores/trial": "own-key"}
    assert volumes["store-results"]["secret"]["optional"] is True
    assert {item["path"] for item in volumes["store-results"]["secret"]["items"]} == {
        "access-key-id",
        "secret-access-key",
    }


def test_the_operator_finds_each_webhooks_address_as_files_and_starts_without() -> None:
    manifests = rendered(SETTINGS["everything"])
    spec = one(manifests, "Deployment", "opsgym-operator")["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    mounts = {
        mount["mountPath"]: volumes[mount["name"]]["secret"]
        for mount in spec["containers"][0]["volumeMounts"]
        if mount["mountPath"].startswith("/etc/opsgym/webhooks/")
    }
    assert mounts == {
        "/etc/opsgym/webhooks/desk": {"secretName": "desk-hook", "optional": True},
        "/etc/opsgym/webhooks/on.call": {"secretName": "pager", "optional": True},
    }
    notifications = _config(manifests).notifications
    assert notifications.default == ["on.call"]
    assert notifications.by_name["desk"].format == "slack"
    assert notifications.by_name["on.call"].events == ["stalled", "gate_failed"]


def test_the_platform_may_choose_the_user_of_every_container() -> None:
    values = {**SETTINGS["everything"], "console": {"enabled": True}, "runAsUser": None}
    manifests = rendered(values)
    given = [pod.spec["securityContext"] for pod in pods(manifests)]
    assert len(given) == 5
    assert all(context == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}} for context in given)
    assert _config(manifests).pods.run_as_user is None


def test_the_user_of_every_container_can_be_another_one() -> None:
    manifests = rendered({**SETTINGS["trial store"], "runAsUser": 1000660000})
    assert {pod.spec["securityContext"]["runAsUser"] for pod in pods(manifests)} == {1000660000}
    assert _config(manifests).pods.run_as_user == 1000660000


def test_requests_and_limits_are_set_apart() -> None:
    values = {**SETTINGS["least"], "operator": {"resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}}
    container = one(rendered(values), "Deployment", "opsgym-operator")["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"] == {"requests": {"cpu": "1", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}


def test_nobody_reaches_pods_of_runs_and_they_reach_name_servers_stores_and_models() -> None:
    values = {
        **SETTINGS["everything"],
        "networkPolicy": {"peers": {"models": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}},
    }
    manifests = rendered(values)
    store = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "evals"}},
        "podSelector": {
            "matchLabels": {
                "app.kubernetes.io/name": "opsgym",
                "app.kubernetes.io/instance": "opsgym",
                "app.kubernetes.io/component": "trial-store",
            }
        },
    }
    tcp = {"protocol": "TCP"}
    expected = {
        "podSelector": {
            "matchLabels": {
                "app.kubernetes.io/managed-by": "opsgym-operator",
                "app.kubernetes.io/part-of": "opsgym",
            }
        },
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [],
        "egress": [
            DNS,
            {"ports": [{**tcp, "port": 443}, {**tcp, "port": 9000}], "to": ANYWHERE},
            {"to": [_in_namespace("b")]},
            {"ports": [{**tcp, "port": 7070}], "to": [store]},
            {"ports": [{**tcp, "port": 443}, {**tcp, "port": 8000}], "to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]},
            {"ports": [{**tcp, "port": 4318}], "to": ANYWHERE},
            {"to": [_in_namespace("o")]},
        ],
    }
    for namespace in ("evals", "b"):
        assert one(manifests, "NetworkPolicy", "opsgym-task", namespace)["spec"] == expected


def test_the_operator_reaches_the_api_server_and_stores_but_no_model() -> None:
    spec = one(rendered(SETTINGS["everything"]), "NetworkPolicy", "opsgym-operator")["spec"]
    assert _ports(spec) == [[53, 53, 5353, 5353], [443, 9000], [], [7070], [443, 6443], [443]]
    least = one(rendered(SETTINGS["least"]), "NetworkPolicy", "opsgym-operator")["spec"]
    assert _ports(least) == [[53, 53, 5353, 5353], [443], [443, 6443]]
    assert spec["ingress"] == [{"ports": [{"protocol": "TCP", "port": 9100}]}]


def test_pods_reach_the_collector_where_it_is_said_to_be() -> None:
    peer = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "o"}}}
    values = {**SETTINGS["everything"], "networkPolicy": {"peers": {"tracing": [peer]}}}
    spec = one(rendered(values), "NetworkPolicy", "opsgym-task", "b")["spec"]
    assert spec["egress"][-1] == {"ports": [{"protocol": "TCP", "port": 4318}], "to": [peer]}


def test_what_is_logged_and_traced_reaches_the_operators_configuration() -> None:
    config = _config(rendered(SETTINGS["everything"]))
    assert config.log_level == "DEBUG"
    assert config.tracing == TracingConfig(
        endpoint="http://collector.o.svc:4318",
        headers_secret=HeadersSecret(name="collector"),
        sampling_ratio=0.25,
        capture_content=True,
    )
    assert _config(rendered(SETTINGS["least"])).tracing is None


def test_policies_can_be_left_out() -> None:
    assert not [manifest for manifest in rendered(SETTINGS["no extras"]) if manifest["kind"] == "NetworkPolicy"]


@pytest.mark.parametrize(
    ("url", "port"),
    [("http://a.svc", 80), ("https://a.svc", 443), ("http://a.svc:9000/x", 9000), ("http://[2001:db8::1]:81", 81)],
)
def test_ports_of_stores_are_read_from_their_addresses(url: str, port: int) -> None:
    values = {"stores": [{**STORE, "endpointUrl": url}], "networkPolicy": {"storePorts": [1]}}
    spec = one(rendered(values), "NetworkPolicy", "opsgym-task")["spec"]
    assert _ports(spec)[1] == [1, port]


@pytest.mark.parametrize(
    ("url", "namespace"),
    [
        ("http://vllm.models.svc/v1", "models"),
        ("http://vllm.models.svc:8000/v1", "models"),
        ("https://vllm.models.svc.cluster.local/v1", "models"),
        ("https://api.openai.com/v1", None),
        ("https://svc.example.com", None),
        ("http://192.0.2.1:8000/v1", None),
    ],
)
def test_a_services_pods_are_reached_whatever_their_port_is(url: str, namespace: str | None) -> None:
    """Policies are applied to the port of the pod, which may differ from that of its Service."""
    model = {"name": "m", "spec": {"model": "openai/m", "endpoints": [{"url": url}]}}
    spec = one(rendered({"stores": [STORE], "models": [model]}), "NetworkPolicy", "opsgym-task")["spec"]
    assert [rule["to"] for rule in spec["egress"] if "ports" not in rule] == (
        [[_in_namespace(namespace)]] if namespace else []
    )


@pytest.mark.parametrize(
    ("cloud", "addresses"),
    [
        ("", []),
        ("eks", ["169.254.170.23/32", "fd00:ec2::23/128"]),
        ("gke", ["169.254.169.252/32", "169.254.169.254/32"]),
    ],
)
def test_a_clouds_identities_are_reached_where_the_installation_names_the_cloud(
    cloud: str, addresses: list[str]
) -> None:
    values = {"stores": [STORE], "console": {"enabled": True}, "networkPolicy": {"workloadIdentity": cloud}}
    for name in ("opsgym-task", "opsgym-operator", "opsgym-console"):
        rules = one(rendered(values), "NetworkPolicy", name)["spec"]["egress"]
        blocks = [peer["ipBlock"] for rule in rules for peer in rule.get("to", []) if "ipBlock" in peer]
        assert [block["cidr"] for block in blocks if "except" not in block] == addresses


def test_a_given_key_of_the_trial_store_is_not_made() -> None:
    manifests = rendered(SETTINGS["everything"])
    assert not [manifest for manifest in manifests if manifest["kind"] == "Secret"]
    environment = one(manifests, "Deployment", "opsgym-s3")["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {item["valueFrom"]["secretKeyRef"]["name"] for item in environment if "valueFrom" in item} == {"own-key"}


def test_the_volume_of_the_trial_store_outlives_the_release() -> None:
    manifests = rendered(SETTINGS["trial store with a volume"])
    claim = one(manifests, "PersistentVolumeClaim", "opsgym-s3")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    volumes = one(manifests, "Deployment", "opsgym-s3")["spec"]["template"]["spec"]["volumes"]
    assert volumes[0] == {"name": "data", "persistentVolumeClaim": {"claimName": "opsgym-s3"}}


def test_models_are_made_in_every_namespace() -> None:
    manifests = rendered(SETTINGS["everything"])
    for namespace in ("evals", "b"):
        assert one(manifests, "EvalModel", "gpt", namespace)["spec"]["model"] == "openai/gpt"


def test_the_run_of_helm_test_is_one_that_opsgym_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(OPSGYM / "files")
    module = importlib.import_module("quickstart")
    run = EvalRun.model_validate_json(json.dumps(module.evalrun("helm-test")), strict=True)
    assert run.spec.suite.builtin == "quickstart"


def test_helm_test_may_only_make_read_and_delete_runs() -> None:
    manifests = rendered(SETTINGS["least"])
    role = one(manifests, "Role", "opsgym-test")
    assert role["rules"] == [
        {"apiGroups": ["opsgym.dev"], "resources": ["evalruns"], "verbs": ["create", "get", "delete"]}
    ]
    tests = [manifest for manifest in manifests if manifest["metadata"]["name"] == "opsgym-test"]
    assert {manifest["metadata"]["annotations"]["helm.sh/hook"] for manifest in tests} == {"test"}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"clusterWide": "yes"}, "/clusterWide"),
        ({"namespaces": ["Not A Name"]}, "/namespaces/0"),
        ({"stores": [{"name": "a"}]}, "missing property 'url'"),
        ({"stores": [{"name": "a", "url": "http://x"}]}, "/stores/0/url"),
        ({"stores": [{**STORE, "secretAccessKey": "x"}]}, "'secretAccessKey' not allowed"),
        ({"stores": [{**STORE, "endpointUrl": "http://user:password@host"}]}, "/stores/0/endpointUrl"),
        ({"images": {"pullPolicy": "Sometimes"}}, "/images/pullPolicy"),
        ({"images": {"tag": ""}}, "/images/tag"),
        ({"models": [{"name": "a", "spec": {}}]}, "/models/0/spec"),
        ({"models": [{"name": "a", "spec": {"model": "b/c", "maxConcurency": 2}}]}, "'maxConcurency' not allowed"),
        ({"models": [{"name": "a", "spec": {"model": "b/c", "endpoints": [{"adress": "x"}]}}]}, "'adress' not allowed"),
        ({"operator": {"replicas": 0}}, "/operator/replicas"),
        ({"operator": {"resources": {"limits": {"memory": "much"}}}}, "/operator/resources/limits/memory"),
        ({"pods": {"databaseMegabytes": 1}}, "/pods/databaseMegabytes"),
        ({"pods": {"tolerations": [{"effect": "Never"}]}}, "/pods/tolerations/0/effect"),
        ({"gyms": {"csm": {"image": "x", "port": 0}}}, "/gyms/csm/port"),
        ({"networkPolicy": {"storePorts": []}}, "/networkPolicy/storePorts"),
        ({"metrics": {"serviceMonitor": {"interval": "often"}}}, "/metrics/serviceMonitor/interval"),
        ({"logLevel": "LOUD"}, "/logLevel"),
        ({"runAsUser": 0}, "/runAsUser"),
        ({"networkPolicy": {"workloadIdentity": "aws"}}, "/networkPolicy/workloadIdentity"),
        ({"tracing": {"endpoint": "collector:4318"}}, "/tracing/endpoint"),
        ({"tracing": {"endpoint": "http://user:password@host"}}, "/tracing/endpoint"),
        ({"tracing": {"samplingRatio": 2}}, "/tracing/samplingRatio"),
        ({"notifications": {"webhooks": [{"name": "a"}]}}, "missing property 'secret'"),
        ({"notifications": {"webhooks": [{"name": "a", "secret": "s", "url": "https://x"}]}}, "'url' not allowed"),
        (
            {"notifications": {"webhooks": [{"name": "a", "secret": "s", "events": ["started"]}]}},
            "/notifications/webhooks/0/events/0",
        ),
        (
            {"notifications": {"webhooks": [{"name": "a", "secret": "s"}], "default": ["b"]}},
            'notifications.default: there is no webhook "b"; webhooks are: a',
        ),
        (
            {"notifications": {"webhooks": [{"name": "a", "secret": "s"}] * 2}},
            'notifications.webhooks: "a" is there twice',
        ),
        ({"typo": 1}, "'typo' not allowed"),
        ({"stores": []}, "stores: results need a place"),
        ({"stores": [STORE, STORE]}, 'stores: "results" is there twice'),
        ({"defaultStore": "gone"}, 'defaultStore: there is no store "gone"; stores are: results'),
        (
            {"stores": [{**STORE, "name": "trial"}], "trialStore": {"enabled": True}},
            'stores: "trial" is there twice',
        ),
    ],
)
def test_values_that_make_no_sense_are_refused_by_name(values: Mapping[str, Any], named: str) -> None:
    assert named in refusal({"stores": [STORE], **values})


def test_every_value_is_described() -> None:
    schema = json.loads((OPSGYM / "values.schema.json").read_text())
    values = yaml.safe_load((OPSGYM / "values.yaml").read_text())
    assert set(schema["properties"]) - {"global"} == set(values)
    undescribed = [path for path, part in _parts(schema, schema["definitions"]) if not part.get("description")]
    # Fields of an EvalModel are described where its kind is, which `kubectl explain` reads.
    assert [path for path in undescribed if not path.startswith(".models[].spec.")] == []


def _parts(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, unresolved in schema.get("properties", {}).items():
        part = resolved(unresolved, definitions)
        yield f"{path}.{name}", part
        yield from _parts(part, definitions, f"{path}.{name}")
        yield from _parts(part.get("items", {}), definitions, f"{path}.{name}[]")


def test_the_kinds_are_those_of_the_contracts() -> None:
    done = helm("lint", "--strict", "--kube-version", OLDEST, str(CRDS))
    assert done.returncode == 0, done.stdout
    sources = {
        definition["metadata"]["name"]: definition
        for definition in (yaml.safe_load(path.read_text()) for path in (ROOT / "crds").glob("*.yaml"))
    }
    manifests = rendered_crds({})
    assert {manifest["metadata"]["name"] for manifest in manifests} == set(sources)
    for manifest in manifests:
        assert manifest["spec"] == sources[manifest["metadata"]["name"]]["spec"]
        assert manifest["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


def test_the_kinds_can_be_let_go() -> None:
    assert not [manifest for manifest in rendered_crds({"keep": False}) if "annotations" in manifest["metadata"]]


def test_the_operator_learns_the_secret_of_held_out_suites() -> None:
    assert _config(rendered({"stores": [STORE], "heldOut": {"secret": "quiz"}})).held_out_secret == "quiz"
    assert _config(rendered({"stores": [STORE]})).held_out_secret is None
