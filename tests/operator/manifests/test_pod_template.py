"""What an installation adds to the pods of runs, and what it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tests.operator.fleet import CONFIG
from tests.operator.manifests.material import FULL, SPEC, TAPE, containers, preflight, task
from tests.support.pod_security import restricted

from opsgym_api.kinds.evalrun import Suite
from opsgym_operator.config import CaBundle, GymImage, OperatorConfig, PodsConfig, ProxyConfig, StoreGatewayConfig
from opsgym_operator.pod_template import DomainPods, PodProfile, PodTemplate

ADDED: dict[str, Any] = {
    "labels": {"cost": "evals"},
    "annotations": {"karpenter.sh/do-not-disrupt": "false", "example.com/team": "a"},
    "env": [
        {"name": "TZ", "value": "UTC"},
        {"name": "GATEWAY", "valueFrom": {"secretKeyRef": {"name": "g", "key": "k"}}},
    ],
    "envFrom": [{"secretRef": {"name": "gateway"}}],
    "volumes": [{"name": "cache", "csi": {"driver": "cache.example.com"}}],
    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
    "runtimeClassName": "gvisor",
    "schedulerName": "bin-packing",
    "securityContext": {"supplementalGroups": [4000], "seLinuxOptions": {"level": "s0:c1,c2"}},
}


def _config(pods: dict[str, Any], **others: Any) -> OperatorConfig:
    return CONFIG.model_copy(update={"pods": PodsConfig.model_validate(pods), **others})


def _template(job: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    template = job["spec"]["template"]
    return template["metadata"], template["spec"]


@pytest.mark.parametrize("kind", ["task", "preflight"])
def test_what_is_added_arrives_in_every_pod(kind: str) -> None:
    config = _config(ADDED)
    metadata, pod = _template(task(config) if kind == "task" else preflight(SPEC.suite, config))
    assert metadata["labels"]["cost"] == "evals"
    assert metadata["annotations"]["example.com/team"] == "a"
    assert metadata["annotations"]["karpenter.sh/do-not-disrupt"] == "false"
    assert {field: pod[field] for field in ("runtimeClassName", "schedulerName")} == {
        "runtimeClassName": "gvisor",
        "schedulerName": "bin-packing",
    }
    assert pod["affinity"] == ADDED["affinity"]
    assert pod["topologySpreadConstraints"] == ADDED["topologySpreadConstraints"]
    assert pod["securityContext"]["supplementalGroups"] == [4000]
    assert pod["volumes"][-1] == ADDED["volumes"][0]
    [main] = pod["containers"]
    assert main["env"][-2:] == ADDED["env"]
    assert main["envFrom"] == ADDED["envFrom"]
    assert main["volumeMounts"][-1] == {"name": "cache", "mountPath": "/cache", "readOnly": True}
    assert all("envFrom" not in sidecar for sidecar in pod["initContainers"])
    assert restricted(pod, metadata) == []


def test_a_domain_adds_to_its_pods_and_its_gym_server() -> None:
    domain = {
        "securityContext": {"fsGroup": 7, "seLinuxOptions": {"level": "s0"}},
        "labels": {"data": "hr"},
        "nodeSelector": {"pool": "large"},
        "env": [{"name": "LICENCE", "value": "x"}],
        "volumes": [{"name": "licence", "secret": {"secretName": "licence"}}],
        "volumeMounts": [{"name": "licence", "mountPath": "/licence"}],
        "resources": {
            "gym": {"requests": {"cpu": 1}},
            "agent": {"limits": {"memory": "2Gi"}},
            "postgres": {"limits": {"memory": "3Gi"}},
        },
    }
    config = _config({"labels": {"data": "any"}, "nodeSelector": {"zone": "a"}, "domains": {"csm": domain}})
    metadata, pod = _template(task(config))
    postgres, itsm, csm, agent = containers(pod)
    assert pod["securityContext"]["fsGroup"] == 7
    assert pod["securityContext"]["seLinuxOptions"] == {"level": "s0"}
    assert metadata["labels"]["data"] == "hr"
    assert pod["nodeSelector"] == {"zone": "a", "pool": "large"}
    assert csm["env"][-1] == {"name": "LICENCE", "value": "x"}
    assert csm["volumeMounts"][-1]["name"] == "licence"
    assert [mount["name"] for mount in agent["volumeMounts"] + itsm["volumeMounts"]].count("licence") == 0
    assert csm["resources"]["requests"] == {"cpu": "1", "memory": "128Mi"}
    assert itsm["resources"]["requests"]["cpu"] == "50m"
    assert agent["resources"]["limits"]["memory"] == "2Gi"
    assert postgres["resources"]["limits"]["memory"] == "3Gi"
    other, plain = _template(task(config, gyms=("itsm",)))
    assert other["labels"]["data"] == "any"
    assert plain["nodeSelector"] == {"zone": "a"}
    assert "licence" not in {volume["name"] for volume in plain["volumes"]}


def test_a_published_server_gets_the_variables_of_its_domain() -> None:
    pods = {"domains": {"csm": {"env": [{"name": "MODE", "value": "x"}]}}}
    config = _config(pods, gyms={"csm": GymImage(image="published/csm:2", port=8005)})
    _, pod = _template(task(config, gyms=("csm",)))
    assert pod["initContainers"][0]["env"] == [{"name": "MODE", "value": "x"}]


def test_cloud_identities_are_for_the_agent_only() -> None:
    skipped = "eks.amazonaws.com/skip-containers"
    metadata, pod = _template(task())
    assert {container["name"] for container in pod["initContainers"]} <= set(
        metadata["annotations"][skipped].split(",")
    )
    assert "agent" not in metadata["annotations"][skipped].split(",")
    metadata, pod = _template(preflight(SPEC.suite))
    assert pod["initContainers"][0]["name"] in metadata["annotations"][skipped].split(",")
    metadata, _ = _template(task(_config({"annotations": {skipped: ""}})))
    assert metadata["annotations"][skipped] == ""


def test_temporary_files_are_limited_unless_the_installation_says_otherwise() -> None:
    _, pod = _template(task(_config({"tmpSizeLimit": ""})))
    assert {"name": "tmp-agent", "emptyDir": {}} in pod["volumes"]
    _, pod = _template(task(_config({"tmpSizeLimit": "2Gi"})))
    assert {"name": "tmp-csm", "emptyDir": {"sizeLimit": "2Gi"}} in pod["volumes"]


@pytest.mark.parametrize(
    ("added", "named"),
    [
        ({"labels": {"opsgym.dev/run": "x"}}, "opsgym.dev/run is set by opsgym"),
        ({"labels": {"app.kubernetes.io/managed-by": "x"}}, "is set by opsgym"),
        ({"labels": {"job-name": "x"}}, "is set by opsgym or Kubernetes"),
        ({"annotations": {"sub.opsgym.dev/x": "x"}}, "is set by opsgym"),
        ({"labels": {"kueue.x-k8s.io/queue-name": "x"}}, "is set by opsgym"),
        ({"env": [{"name": "OPSGYM_STORE", "value": "s3://other"}]}, "OPSGYM_STORE is set by opsgym"),
        ({"env": [{"name": "AWS_ACCESS_KEY_ID", "value": "x"}]}, "AWS_ACCESS_KEY_ID is set by opsgym"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, "volume v: hostPath is not allowed"),
        ({"volumes": [{"name": "data", "emptyDir": {}}]}, "cannot be named 'data' here"),
        ({"volumes": [{"emptyDir": {}}]}, "cannot be named '' here"),
        ({"volumeMounts": [{"name": "v", "mountPath": "/etc/opsgym/job"}]}, "/etc/opsgym is a path of opsgym's own"),
        ({"volumeMounts": [{"name": "v", "mountPath": "/tmp/"}]}, "/tmp is a path of opsgym's own"),
        ({"volumeMounts": [{"name": "v", "mountPath": "//a/../socket"}]}, "/socket is a path of opsgym's own"),
        ({"volumeMounts": [{"name": "v", "mountPath": "/"}]}, "is a path of opsgym's own"),
        ({"volumeMounts": [{"name": "socket", "mountPath": "/pg"}]}, "socket is a volume of opsgym's own"),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]},
            "volume v: serviceAccountToken without audience is a token of the API server",
        ),
        ({"securityContext": {"runAsNonRoot": False}}, "runAsNonRoot"),
        ({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, "seccompProfile"),
        ({"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}, "seLinuxOptions.type"),
        ({"securityContext": {"seLinuxOptions": {"user": "root"}}}, "seLinuxOptions.user"),
    ],
)
def test_nothing_that_is_added_weakens_a_pod(added: dict[str, Any], named: str) -> None:
    for kind in (PodTemplate, PodsConfig, DomainPods, PodProfile):
        with pytest.raises(ValidationError, match=named):
            kind.model_validate(added)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("serviceAccountName", "admin"),
        ("automountServiceAccountToken", True),
        ("hostNetwork", True),
        ("hostPID", True),
        ("hostIPC", True),
        ("containers", []),
        *(
            ("securityContext", {name: value})
            for name, value in (
                ("runAsUser", 0),
                ("runAsGroup", 0),
                ("privileged", True),
                ("allowPrivilegeEscalation", True),
                ("capabilities", {"add": ["SYS_ADMIN"]}),
                ("appArmorProfile", {"type": "Unconfined"}),
                ("seccompProfile", {"type": "Unconfined"}),
                ("readOnlyRootFilesystem", False),
            )
        ),
    ],
)
def test_what_isolates_a_pod_is_not_among_the_fields(field: str, value: Any) -> None:
    named = next(iter(value)) if isinstance(value, dict) else field
    for kind in (PodTemplate, DomainPods, PodProfile):
        with pytest.raises(ValidationError, match=named) as refused:
            kind.model_validate({field: value})
        assert [error["type"] for error in refused.value.errors()] == ["extra_forbidden"]


def test_no_volume_and_no_path_of_opsgyms_own_can_be_added() -> None:
    config = FULL.model_copy(
        update={
            "ca_bundle": CaBundle(secret="trust"),
            "store_gateway": StoreGatewayConfig(url="http://gateway.evals.svc"),
        }
    )
    jobs = [task(config, models={"gpt": TAPE}), preflight(Suite(builtin="quickstart"), config, TAPE)]
    pods = [_template(job)[1] for job in jobs]
    volumes = {volume["name"] for pod in pods for volume in pod["volumes"]}
    paths = {mount["mountPath"] for pod in pods for part in containers(pod) for mount in part["volumeMounts"]}
    assert {"socket", "admin", "store-gateway"} <= volumes
    for name in volumes:
        with pytest.raises(ValidationError, match="cannot be named"):
            PodTemplate.model_validate({"volumes": [{"name": name, "emptyDir": {}}]})
        with pytest.raises(ValidationError, match="a volume of opsgym's own"):
            PodTemplate.model_validate({"volumeMounts": [{"name": name, "mountPath": "/v"}]})
    for path in paths:
        with pytest.raises(ValidationError, match="is a path of opsgym's own"):
            PodTemplate.model_validate({"volumeMounts": [{"name": "v", "mountPath": path}]})


def test_a_token_for_a_service_outside_the_cluster_can_be_added() -> None:
    token = {"audience": "api://AzureADTokenExchange", "path": "token"}
    volume = {"name": "identity", "projected": {"sources": [{"serviceAccountToken": token}]}}
    assert PodTemplate.model_validate({"volumes": [volume]}).volumes == [volume]


def _environment(container: dict[str, Any]) -> dict[str, str]:
    return {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}


def test_only_containers_that_leave_the_pod_know_proxies_and_certificates() -> None:
    config = FULL.model_copy(
        update={
            "proxy": ProxyConfig(http="http://proxy:3128", https="http://proxy:3129", no_proxy=[".corp"]),
            "ca_bundle": CaBundle(config_map="trust", key="bundle.pem"),
        }
    )
    for job in (task(config), preflight(Suite(builtin="quickstart"), config)):
        _, pod = _template(job)
        [main] = pod["containers"]
        environment = _environment(main)
        assert environment["HTTP_PROXY"] == environment["http_proxy"] == "http://proxy:3128"
        assert environment["HTTPS_PROXY"] == environment["https_proxy"] == "http://proxy:3129"
        direct = "localhost,127.0.0.1,::1,.svc,.cluster.local,.corp"
        assert environment["NO_PROXY"] == environment["no_proxy"] == direct
        for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
            assert environment[variable] == "/etc/opsgym/ca/bundle.crt"
        items = [{"key": "bundle.pem", "path": "bundle.crt"}]
        assert {"name": "ca-bundle", "configMap": {"name": "trust", "items": items}} in pod["volumes"]
        assert {"name": "ca-bundle", "mountPath": "/etc/opsgym/ca", "readOnly": True} in main["volumeMounts"]
        for sidecar in pod["initContainers"]:
            assert not {"HTTP_PROXY", "SSL_CERT_FILE"} & _environment(sidecar).keys()
            assert "ca-bundle" not in {mount["name"] for mount in sidecar["volumeMounts"]}


def test_a_proxy_with_credentials_comes_from_a_secret() -> None:
    secret = {"name": "HTTPS_PROXY", "valueFrom": {"secretKeyRef": {"name": "proxy", "key": "url"}}}
    config = _config({"env": [secret]}, proxy=ProxyConfig(https="http://proxy:3128"))
    env = _template(task(config))[1]["containers"][0]["env"]
    assert [variable for variable in env if variable["name"] == "HTTPS_PROXY"] == [secret]
    with pytest.raises(ValidationError, match="pattern"):
        ProxyConfig(https="http://user:password@proxy:3128")


@pytest.mark.parametrize("sources", [{}, {"configMap": "a", "secret": "b"}])
def test_certificates_have_one_source(sources: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="give one of configMap and secret"):
        CaBundle.model_validate(sources)
    secret = CONFIG.model_copy(update={"ca_bundle": CaBundle(secret="trust")})
    volume = {"secretName": "trust", "items": [{"key": "ca.crt", "path": "bundle.crt"}]}
    assert {"name": "ca-bundle", "secret": volume} in _template(task(secret))[1]["volumes"]
