"""The test cluster is a real Kubernetes: it does what the operator's tests rely on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from devcluster.cluster import Cluster
from devcluster.errors import ClusterError
from devcluster.kube import Kube, KubeError, Manifest, has_condition
from devcluster.places import NODE, ROOT
from devcluster.processes import until
from pydantic import SecretStr
from tests.cluster import faults
from tests.cluster.conftest import S3, remove_namespace
from tests.cluster.prometheus import scraping
from tests.cluster.workloads import pod, pod_spec, shell

from opsgym_core.store.base import StoreError
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access


def ended(manifest: Manifest) -> bool:
    return manifest["status"].get("phase") in ("Succeeded", "Failed")


def running(manifest: Manifest) -> bool:
    return all("running" in state["state"] for state in manifest["status"].get("containerStatuses", [{"state": {}}]))


def start_sleeper(kube: Kube, namespace: str, **container: Any) -> None:
    """A pod `sleeper` that runs until something ends it."""
    kube.create(pod(namespace, "sleeper", shell("main", "sleep 1000", **container)))
    kube.wait("Pod", "sleeper", namespace, running)


def terminated(kube: Kube, namespace: str, name: str = "sleeper") -> Manifest:
    """How the only container of a pod ended."""
    status = kube.wait("Pod", name, namespace, ended)["status"]
    state: Manifest = status["containerStatuses"][0]["state"]["terminated"]
    return state


def has_logged(kube: Kube, namespace: str, name: str, text: str, container: str = "main") -> bool:
    """Whether a container has written something. What it wrote last may be a moment later in its log than its end."""
    return until(lambda: text in kube.logs(name, namespace, container), 10)


def store_of(s3: S3) -> Any:
    access = S3Access(
        endpoint_url=s3.endpoint_url,
        region=s3.region,
        access_key_id=s3.access_key_id,
        secret_access_key=SecretStr(s3.secret_access_key),
    )
    return open_store(s3.url, access)


def test_the_node_is_ready_and_of_the_version_that_production_has(kube: Kube) -> None:
    node = kube.get("Node", NODE)
    assert has_condition("Ready")(node)
    assert node["status"]["nodeInfo"]["kubeletVersion"].startswith("v1.36.")


def test_the_main_container_waits_for_a_native_sidecar_which_ends_after_it(kube: Kube, namespace: str) -> None:
    shared = {"volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}
    probe = {"exec": {"command": ["test", "-f", "/shared/ready"]}, "periodSeconds": 1}
    sidecar = shell(
        "sidecar", "sleep 2; touch /shared/ready; sleep 1000", restartPolicy="Always", startupProbe=probe, **shared
    )
    main = shell("main", "test -f /shared/ready && echo gated", **shared)
    volumes = [{"name": "shared", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}]
    kube.create(pod(namespace, "gate", main, initContainers=[sidecar], volumes=volumes))
    assert kube.wait("Pod", "gate", namespace, ended)["status"]["phase"] == "Succeeded"
    assert has_logged(kube, namespace, "gate", "gated", container="main")


def test_an_indexed_job_retries_each_index_by_itself(kube: Kube, namespace: str) -> None:
    script = 'test "$JOB_COMPLETION_INDEX" != 1 || exit 101'
    spec = {
        "completionMode": "Indexed",
        "completions": 3,
        "parallelism": 3,
        "backoffLimitPerIndex": 1,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
                {"action": "Count", "onExitCodes": {"containerName": "agent", "operator": "In", "values": [101]}},
            ]
        },
        "template": {"spec": pod_spec(shell("agent", script))},
    }
    metadata = {"name": "trials", "namespace": namespace}
    kube.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    status = kube.wait("Job", "trials", namespace, has_condition("Failed"), seconds=90)["status"]
    assert (status["completedIndexes"], status["failedIndexes"], status["failed"]) == ("0,2", "1", 2)


def test_pods_find_services_by_name_and_reach_the_s3_server_through_one(kube: Kube, namespace: str) -> None:
    script = "nslookup s3.storage.svc.cluster.local && wget -S -O- http://s3.storage:7070/ 2>&1 | grep HTTP/1.1"
    kube.create(pod(namespace, "lookup", shell("main", script)))
    assert kube.wait("Pod", "lookup", namespace, ended)["status"]["phase"] == "Succeeded"
    # The server answers, and rejects requests without a signature.
    assert has_logged(kube, namespace, "lookup", "403 Forbidden")


def test_pods_reach_no_network_but_the_cluster_s(kube: Kube, namespace: str) -> None:
    kube.create(pod(namespace, "outside", shell("main", "nc -w 5 192.0.2.1 80")))
    assert kube.wait("Pod", "outside", namespace, ended)["status"]["phase"] == "Failed"
    assert has_logged(kube, namespace, "outside", "No route to host")


def test_commands_run_in_containers_and_their_output_is_kept(cluster: Cluster, kube: Kube, namespace: str) -> None:
    kube.create(pod(namespace, "chatty", shell("main", "echo said; sleep 1000")))
    kube.wait("Pod", "chatty", namespace, running)
    done = cluster.kubectl("exec", "-n", namespace, "chatty", "--", "id", "-u")
    assert done.stdout == "65532\n", done.stderr
    assert has_logged(kube, namespace, "chatty", "said")


def test_pods_that_ask_for_more_than_restricted_are_refused(kube: Kube, namespace: str) -> None:
    root = shell("main", "id", securityContext={"privileged": True})
    with pytest.raises(KubeError, match=r"violates PodSecurity .*privileged"):
        kube.create(pod(namespace, "root", root))


@pytest.fixture
def definitions(kube: Kube) -> None:
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        definition = yaml.safe_load(path.read_text())
        kube.apply(definition)
        kube.wait("CustomResourceDefinition", definition["metadata"]["name"], None, has_condition("Established"))


def quickstart(namespace: str) -> Manifest:
    document: Manifest = yaml.safe_load((ROOT / "examples" / "quickstart.yaml").read_text())
    document["metadata"]["namespace"] = namespace
    return document


@pytest.mark.usefixtures("definitions")
def test_the_quickstart_is_accepted_as_it_is(kube: Kube, namespace: str) -> None:
    kube.create(quickstart(namespace))
    assert kube.get("EvalRun", "quickstart", namespace)["spec"]["suite"]["builtin"] == "quickstart"


@pytest.mark.usefixtures("definitions")
def test_a_run_whose_operator_is_gone_keeps_no_namespace(kube: Kube, namespace: str) -> None:
    document = quickstart(namespace)
    document["metadata"]["finalizers"] = ["opsgym.dev/watched"]
    kube.create(document)
    remove_namespace(kube, namespace)
    kube.wait_gone("Namespace", namespace)


@pytest.mark.usefixtures("definitions")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": 0}, r"spec\.trials"),
        ({"suite": {"builtin": "quickstart", "path": "tasks.jsonl"}}, r"spec\.suite"),
        ({"models": []}, r"spec\.models"),
    ],
)
def test_a_run_that_means_nothing_is_refused_by_field(
    kube: Kube, namespace: str, change: dict[str, Any], message: str
) -> None:
    document = quickstart(namespace)
    document["spec"] |= change
    with pytest.raises(KubeError, match=message) as refused:
        kube.create(document)
    assert refused.value.code == 422


def test_of_many_conditional_writers_exactly_one_wins(s3: S3) -> None:
    store = store_of(s3)
    for key in ("first", "second", "third"):
        with ThreadPoolExecutor(16) as pool:
            contents = [f"{key} {writer}".encode() for writer in range(16)]
            won = list(pool.map(lambda content, key=key: store.put_once(f"runs/{key}.json", content), contents))
        assert won.count(True) == 1
        assert store.get(f"runs/{key}.json") == contents[won.index(True)]


def test_a_refused_store_names_itself_and_has_everything_when_it_is_back(cluster: Cluster, s3: S3) -> None:
    store = store_of(s3)
    store.put("runs/kept.json", b"{}")
    cluster.stop("s3")
    try:
        with pytest.raises(StoreError, match="s3://opsgym/"):
            store.put("runs/lost.json", b"{}")
    finally:
        cluster.start("s3")
    assert list(store.keys("runs/")) == ["runs/kept.json"]
    assert store.get("runs/kept.json") == b"{}"


@pytest.mark.parametrize("component", ["apiserver", "etcd", "kubelet"])
def test_pods_outlive_the_restart_of_a_component(cluster: Cluster, kube: Kube, namespace: str, component: str) -> None:
    start_sleeper(kube, namespace)
    before = kube.get("Pod", "sleeper", namespace)["status"]["containerStatuses"][0]["containerID"]
    cluster.restart(component)
    after = kube.wait("Pod", "sleeper", namespace, running)["status"]["containerStatuses"][0]
    assert (after["containerID"], after["restartCount"]) == (before, 0)
    kube.create(pod(namespace, "later", shell("main", "true")))
    assert kube.wait("Pod", "later", namespace, ended)["status"]["phase"] == "Succeeded"


def test_a_process_is_killed_inside_its_container_and_no_other(kube: Kube, namespace: str) -> None:
    kube.create(pod(namespace, "sleeper", shell("main", "sleep 1000"), shell("other", "sleep 1000")))
    kube.wait("Pod", "sleeper", namespace, running)
    assert faults.kill_in_container(kube, namespace, "sleeper", "main", "sleep") == 1
    states = kube.wait("Pod", "sleeper", namespace, lambda seen: not running(seen))["status"]["containerStatuses"]
    by_name = {state["name"]: state["state"] for state in states}
    assert by_name["main"]["terminated"]["exitCode"] == 137
    assert "running" in by_name["other"]
    with pytest.raises(ClusterError, match="no running container main"):
        faults.kill_in_container(kube, namespace, "sleeper", "main", "sleep")


def test_the_kernel_kills_a_container_whose_memory_is_used_up(kube: Kube, namespace: str) -> None:
    start_sleeper(kube, namespace, resources={"limits": {"memory": "64Mi", "cpu": "1"}})
    faults.oom_kill(kube, namespace, "sleeper", "main")
    assert terminated(kube, namespace)["reason"] == "OOMKilled"


def test_a_container_without_a_limit_cannot_use_up_its_memory(kube: Kube, namespace: str) -> None:
    start_sleeper(kube, namespace)
    with pytest.raises(ClusterError, match="no memory limit"):
        faults.oom_kill(kube, namespace, "sleeper", "main")


def test_an_evicted_pod_is_a_disruption(kube: Kube, namespace: str) -> None:
    start_sleeper(kube, namespace)
    kube.patch("Pod", "sleeper", namespace, {"metadata": {"finalizers": ["opsgym.dev/watched"]}})
    faults.evict(kube, namespace, "sleeper")
    kube.wait("Pod", "sleeper", namespace, has_condition("DisruptionTarget"))
    kube.patch("Pod", "sleeper", namespace, {"metadata": {"finalizers": None}})
    kube.wait_gone("Pod", "sleeper", namespace)


def test_a_drained_node_takes_no_pod_until_it_is_back(kube: Kube, namespace: str) -> None:
    start_sleeper(kube, namespace)
    with faults.drained(kube, namespace):
        kube.wait_gone("Pod", "sleeper", namespace)
        kube.create(pod(namespace, "waiting", shell("main", "true")))
        kube.wait("Pod", "waiting", namespace, has_condition("PodScheduled", "False"))
    assert kube.wait("Pod", "waiting", namespace, ended)["status"]["phase"] == "Succeeded"


def test_pods_are_sampled_while_they_run(kube: Kube, namespace: str) -> None:
    with faults.sampled(namespace) as samples:
        kube.create(pod(namespace, "one", shell("main", "sleep 1000"), labels={"watched": "yes"}))
        assert until(lambda: samples.running({"watched": "yes"})[-1:] == [1], 30)
        assert samples.running({"watched": "no"})[-1] == 0
    assert len(samples.pods) >= 1


def test_every_request_is_in_the_audit_log(cluster: Cluster, kube: Kube, namespace: str) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "watched", "namespace": namespace}}
    kube.create(config)

    def logged() -> bool:
        objects = [(entry["verb"], entry.get("objectRef") or {}) for entry in cluster.audited()]
        return any(
            verb == "create" and (it.get("namespace"), it.get("name")) == (namespace, "watched") for verb, it in objects
        )

    assert until(logged, 10)


def test_helm_installs_and_removes_a_chart(cluster: Cluster, kube: Kube, namespace: str, tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text(
        yaml.safe_dump({"apiVersion": "v2", "name": "small", "version": "0.1.0", "kubeVersion": ">=1.33.0-0"})
    )
    (chart / "templates" / "map.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {version: '{{ .Capabilities.KubeVersion }}'}\n"
    )
    done = cluster.helm("install", "small", str(chart), "--namespace", namespace)
    assert done.returncode == 0, done.stderr
    assert kube.get("ConfigMap", "made", namespace)["data"]["version"].startswith("v1.36.")
    assert cluster.helm("uninstall", "small", "--namespace", namespace, "--wait").returncode == 0
    assert kube.find("ConfigMap", "made", namespace) is None


def test_a_real_prometheus_scrapes_what_a_test_names(cluster: Cluster) -> None:
    with scraping("127.0.0.1:10249", "127.0.0.1:1") as prometheus:
        assert until(lambda: prometheus.value('up{instance="127.0.0.1:10249"}') == 1, 20)
        assert until(lambda: prometheus.value('up{instance="127.0.0.1:1"}') == 0, 20)
        assert prometheus.value("sum(rest_client_requests_total) > 0") is not None
        with pytest.raises(ClusterError, match="parse error"):
            prometheus.query("sum(")
