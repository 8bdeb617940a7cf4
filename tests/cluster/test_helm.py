"""The charts in a real cluster: installed by a tenant who has rights in one namespace, twice side by side."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from devcluster.binaries import program
from devcluster.cluster import Cluster
from devcluster.images import ctr, write_image
from devcluster.kube import APPLY, Kube, KubeError, Manifest, has_condition
from devcluster.places import ADMIN, FAMILIES, NODE_IPS, ROOT, S3_REGION
from devcluster.processes import until
from pydantic import SecretStr
from tests.cluster import previous
from tests.cluster.conftest import S3, new_namespace, remove_namespace
from tests.cluster.kinds import NEW_FIELD, newer_kinds
from tests.cluster.operator.held_model import SECRET as HELD_SECRET
from tests.cluster.operator.held_model import HeldModel, held_model
from tests.cluster.workloads import pod, pod_addresses, shell, url_host
from tests.helm.charts import CRDS, OPSGYM, rendered
from tests.helm.test_chart import SETTINGS
from tests.tutorials.pages import DOCS, follow

from opsgym_api.kinds.evalrun import EvalRun
from opsgym_core.results.load import find_run, load_run
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access

pytestmark = pytest.mark.timeout(900)

TRIAL_IMAGE = "localhost/versitygw:test"
TRIAL = {"trialStore": {"enabled": True, "image": TRIAL_IMAGE}}
INSTALLED = {**TRIAL, "console": {"enabled": True}}
CLASSES: Sequence[Manifest] = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gvisor"}, "handler": "gvisor"},
]
"""Classes that the settings of the charts' tests name."""
RUN: Mapping[str, Any] = {
    "suite": {"builtin": "quickstart", "limit": 1},
    "models": [{"name": "gold", "inline": {"model": "replay/gold"}}],
}


@pytest.fixture(scope="session")
def images(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> None:
    """opsgym's images, as `make images` has built them, and the trial store's, on the node."""
    for name in ("operator", "runner", "domains", "console"):
        archive = ROOT / ".images" / f"{name}.tar"
        if not archive.exists():
            pytest.fail(f"{archive} is missing; `make images` builds it")
        cluster.import_image(archive)
    cluster.import_image(server_image(tmp_path_factory.mktemp("image") / "s3.tar", TRIAL_IMAGE))


def server_image(archive: Path, name: str) -> Path:
    """An archive with an image of the trial store's server."""
    server = "/usr/local/bin/versitygw"
    write_image(archive, name, {server: program("versitygw")}, entrypoint=[server])
    return archive


@pytest.fixture(scope="module")
def kinds(cluster: Cluster) -> None:
    """The chart opsgym-crds, which takes over kinds that were applied by hand."""
    output_of(cluster.helm("upgrade", "--install", "opsgym-crds", str(CRDS), "-n", "default", "--take-ownership"))


@dataclass(frozen=True)
class Tenant:
    """A user with every permission in one namespace and none elsewhere."""

    cluster: Cluster
    namespace: str

    @property
    def user(self) -> str:
        return f"tenant-{self.namespace}"

    @property
    def operator(self) -> str:
        return f"system:serviceaccount:{self.namespace}:opsgym-operator"

    def helm(self, *arguments: str, values: Mapping[str, Any] | None = None) -> str:
        """Runs helm as the tenant; returns its output."""
        who = ("--kube-as-user", self.user, "-n", self.namespace)
        given = () if values is None else ("--values", "-")
        return output_of(self.cluster.helm(*arguments, *who, *given, stdin=yaml.safe_dump(dict(values or {}))))

    def install(self, values: Mapping[str, Any], chart: Path = OPSGYM) -> None:
        """Installs or upgrades opsgym, until everything is ready."""
        self.helm("upgrade", "--install", "opsgym", str(chart), "--wait", "--timeout", "120s", values=values)

    def requests(self, user: str) -> list[Manifest]:
        """Requests of a user to the API server, from the audit log."""
        return [entry for entry in self.cluster.audited() if user in _users(entry)]


def _users(entry: Manifest) -> set[str]:
    """Sender of a request and whom it impersonated; none if it was refused before its sender was known."""
    named = (entry.get(field, {}).get("username") for field in ("user", "impersonatedUser"))
    return {name for name in named if name}


def output_of(done: subprocess.CompletedProcess[str]) -> str:
    """Output of a command that must succeed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make_tenant(cluster: Cluster, kube: Kube, namespace: str) -> Tenant:
    """A tenant of an existing namespace."""
    tenant = Tenant(cluster, namespace)
    kube.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "tenant", "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": tenant.user}],
        }
    )
    return tenant


@pytest.fixture
def tenant(cluster: Cluster, kube: Kube, namespace: str, kinds: None) -> Tenant:
    return make_tenant(cluster, kube, namespace)


@pytest.fixture
def neighbour(cluster: Cluster, kube: Kube, kinds: None) -> Iterator[Tenant]:
    """A second tenant, with a namespace that is as strict."""
    with new_namespace(kube) as name:
        yield make_tenant(cluster, kube, name)


@pytest.fixture(scope="module")
def release(cluster: Cluster, kinds: None, images: None) -> Iterator[Tenant]:
    """A tenant who has installed opsgym with trial store and console, and whose run `one` is over.

    Tests of what a release does share it: to install one and to have a run scored takes longer than most of them.
    """
    with Kube(ADMIN) as kube, new_namespace(kube) as name:
        tenant = make_tenant(cluster, kube, name)
        tenant.install(INSTALLED)
        start(kube, name, "one")
        kube.wait("EvalRun", "one", name, has_condition("Succeeded"), seconds=300)
        yield tenant


def start(kube: Kube, namespace: str, name: str) -> None:
    """Creates a run of one task."""
    metadata = {"name": name, "namespace": namespace}
    kube.create({"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": dict(RUN)})


def elsewhere(requests: list[Manifest], namespace: str) -> list[str]:
    """Requests for objects outside a namespace; discovery is allowed to every user."""
    return [
        f"{entry['verb']} {entry['requestURI']}"
        for entry in requests
        if "objectRef" in entry and entry["objectRef"].get("namespace") != namespace
    ]


def refused(requests: list[Manifest]) -> list[str]:
    """Requests that were denied."""
    return [
        f"{entry['verb']} {entry['requestURI']}"
        for entry in requests
        if entry.get("responseStatus", {}).get("code") == 403
    ]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_api_server_takes_every_object(kube: Kube, namespace: str, kinds: None, name: str) -> None:
    """All but those of the Prometheus operator, whose kinds come with it."""
    values = {**SETTINGS[name], "namespaces": []}
    monitoring = "monitoring.coreos.com/"
    manifests = [
        item for item in rendered(values, namespace=namespace) if not item["apiVersion"].startswith(monitoring)
    ]
    # A dry run of a pod needs its ServiceAccount and classes, too.
    for item in (*CLASSES, *(item for item in manifests if item["kind"] == "ServiceAccount")):
        kube.apply(item)
    for item in manifests:
        metadata = item["metadata"]
        path = kube.path(item["kind"], metadata.get("namespace", "default"), metadata["name"])
        dry = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "tests", "force": "true"}
        assert "warning" not in kube.raw("PATCH", path, item, params=dry, media=APPLY).headers


def test_the_kinds_stay_when_their_release_is_uninstalled(cluster: Cluster, kube: Kube, kinds: None) -> None:
    output_of(cluster.helm("uninstall", "opsgym-crds", "-n", "default"))
    definition = kube.get("CustomResourceDefinition", "evalruns.opsgym.dev")
    assert "deletionTimestamp" not in definition["metadata"]
    output_of(cluster.helm("upgrade", "--install", "opsgym-crds", str(CRDS), "-n", "default"))


def test_viewers_and_editors_may_what_their_names_say(kube: Kube, release: Tenant) -> None:
    rights = "rbac.authorization.k8s.io"
    for role in ("viewer", "user-editor", "platform-editor"):
        kube.apply(
            {
                "apiVersion": f"{rights}/v1",
                "kind": "RoleBinding",
                "metadata": {"name": role, "namespace": release.namespace},
                "roleRef": {"apiGroup": rights, "kind": "Role", "name": f"opsgym-{role}"},
                "subjects": [{"apiGroup": rights, "kind": "User", "name": role}],
            }
        )

    def may(user: str, verb: str, what: str, part: str = "") -> bool:
        resource, _, group = what.partition(".")
        attributes = {"verb": verb, "resource": resource, "group": group, "subresource": part}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {}}
        who = {"user": user, "groups": ["system:authenticated"]}
        spec = {**who, "resourceAttributes": {"namespace": release.namespace, **attributes}}
        return bool(kube.create({**review, "spec": spec})["status"]["allowed"])

    assert may("viewer", "list", "evalruns.opsgym.dev")
    assert not may("viewer", "create", "evalruns.opsgym.dev")
    assert may("user-editor", "create", "evalruns.opsgym.dev")
    assert may("user-editor", "list", "evalmodels.opsgym.dev")
    assert not may("user-editor", "create", "evalmodels.opsgym.dev")
    assert not may("user-editor", "patch", "evalruns.opsgym.dev", "status")
    assert may("platform-editor", "create", "evalmodels.opsgym.dev")
    assert not may("platform-editor", "create", "evalruns.opsgym.dev")
    for editor in ("user-editor", "platform-editor"):
        assert not may(editor, "get", "secrets")
    assert not may(release.operator, "get", "secrets")
    assert not may(release.operator, "create", "pods", "exec")
    assert may(release.operator, "create", "jobs.batch")
    assert may(release.operator, "patch", "evalruns.opsgym.dev", "status")


def test_nobody_reaches_pods_of_runs_and_they_reach_what_the_release_names(
    cluster: Cluster, kube: Kube, tenant: Tenant, s3: S3
) -> None:
    store = {"name": "results", "url": s3.url, "endpointUrl": s3.endpoint_url}
    managed = {"app.kubernetes.io/managed-by": "opsgym-operator", "app.kubernetes.io/part-of": "opsgym"}
    for name, labels in (("gym", managed), ("agent", managed), ("plain", {}), ("visitor", {})):
        kube.create(pod(tenant.namespace, name, shell("main", "httpd -f -p 8080 -h /"), labels=labels))
    addresses = {
        name: pod_addresses(kube.wait("Pod", name, tenant.namespace, has_condition("Ready")))
        for name in ("gym", "agent", "plain", "visitor")
    }

    def reached(client: str, hosts: Sequence[str], port: int = 8080) -> int:
        """How many of a server's addresses answer."""
        enter = ("exec", "-n", tenant.namespace, client, "--", "sh", "-c")
        return sum(cluster.kubectl(*enter, f"nc -w 2 {host} {port} </dev/null").returncode == 0 for host in hosts)

    every = len(FAMILIES)
    assert reached("visitor", addresses["gym"]) == every
    assert reached("agent", addresses["plain"]) == every
    tenant.helm("install", "opsgym", str(OPSGYM), values={"stores": [store]})
    assert until(lambda: not reached("visitor", addresses["gym"]), 20)
    assert until(lambda: not reached("agent", addresses["plain"]), 20)
    assert not reached("agent", addresses["gym"])
    assert reached("visitor", addresses["plain"]) == every
    assert reached("agent", NODE_IPS, int(urlsplit(s3.endpoint_url).port or 0)) == every
    lookup = cluster.kubectl("exec", "-n", tenant.namespace, "agent", "--", "nslookup", "s3.storage.svc.cluster.local")
    assert lookup.returncode == 0, lookup.stdout


def test_two_releases_live_side_by_side_and_touch_nothing_outside_their_namespaces(
    kube: Kube, release: Tenant, neighbour: Tenant
) -> None:
    neighbour.install(TRIAL)
    start(kube, neighbour.namespace, "one")
    kube.wait("EvalRun", "one", neighbour.namespace, has_condition("Succeeded"), seconds=300)
    for each in (release, neighbour):
        requests = each.requests(each.operator)
        assert {"create", "watch", "patch"} <= {entry["verb"] for entry in requests}
        assert elsewhere(requests, each.namespace) == []
        assert refused(requests) == []
        installed = each.requests(each.user)
        assert "create" in {entry["verb"] for entry in installed}
        assert elsewhere(installed, each.namespace) == []
        assert refused(installed) == []


@contextmanager
def shared_release(cluster: Cluster, namespace: str, s3: S3, values: Mapping[str, Any]) -> Iterator[None]:
    """A release that an administrator of the cluster installs, whose results go to a bucket."""
    store = {"name": "results", "url": s3.url, "endpointUrl": s3.endpoint_url, "region": s3.region, "secret": s3.secret}
    text, where = yaml.safe_dump({**values, "stores": [store]}), ("-n", namespace)
    output_of(
        cluster.helm("install", "opsgym", str(OPSGYM), *where, "--wait", "--timeout", "120s", "-f", "-", stdin=text)
    )
    try:
        yield
    finally:
        output_of(cluster.helm("uninstall", "opsgym", *where, "--wait"))


@pytest.mark.soak
def test_a_cluster_wide_release_serves_namespaces_that_it_has_no_role_in(
    cluster: Cluster, kube: Kube, namespace: str, neighbour: Tenant, s3: S3, images: None
) -> None:
    output_of(cluster.kubectl("label", "namespace", neighbour.namespace, "opsgym.dev/evalruns=allowed"))
    with shared_release(cluster, namespace, s3, {"clusterWide": True}):
        assert kube.list("Role", neighbour.namespace) == []
        # Pods reach the store through the gateway, so their namespace has no key.
        assert kube.find("Secret", s3.secret, neighbour.namespace) is None
        with pytest.raises(KubeError, match="may not have EvalRuns"):
            start(kube, namespace, "one")
        start(kube, neighbour.namespace, "one")
        kube.wait("EvalRun", "one", neighbour.namespace, has_condition("Succeeded"), seconds=300)
        assert until(lambda: "evalruns" in json.dumps(kube.get("ClusterRole", "view")["rules"]), 10)
    assert [item for item in kube.list("ClusterRole") if item["metadata"]["name"].startswith(namespace)] == []


@pytest.mark.soak  # as that of a cluster-wide release, whose pods take the same way
def test_pods_of_a_release_for_several_namespaces_hold_no_key_of_the_store(
    cluster: Cluster, kube: Kube, namespace: str, neighbour: Tenant, s3: S3, images: None
) -> None:
    with shared_release(cluster, namespace, s3, {"namespaces": [namespace, neighbour.namespace]}):
        assert kube.find("Secret", s3.secret, neighbour.namespace) is None
        start(kube, neighbour.namespace, "one")
        kube.wait("EvalRun", "one", neighbour.namespace, has_condition("Succeeded"), seconds=300)
    assert [item for item in kube.list("ClusterRole") if item["metadata"]["name"].startswith(namespace)] == []


def test_helm_test_runs_the_quickstart(kube: Kube, release: Tenant) -> None:
    log = release.helm("test", "opsgym", "--timeout", "600s", "--logs")
    assert "Phase:          Succeeded" in log
    assert "GatePassed=True" in log
    names = [run["metadata"]["name"] for run in kube.list("EvalRun", release.namespace)]
    assert not [name for name in names if name.startswith("helm-test")]
    assert kube.find("Role", "opsgym-test", release.namespace) is None


def test_the_console_shows_runs_to_who_has_the_token_and_may_only_list_them(
    cluster: Cluster, kube: Kube, release: Tenant
) -> None:
    python = {"image": "localhost/opsgym-console:dev", "command": ["python", "-c", "import time; time.sleep(3600)"]}
    kube.create(pod(release.namespace, "visitor", shell("main", "", **python)))
    kube.wait("Pod", "visitor", release.namespace, has_condition("Ready"))
    token = base64.b64decode(kube.get("Secret", "opsgym-console", release.namespace)["data"]["token"]).decode()

    def ask(path: str, given: str, server: str = "opsgym-console") -> subprocess.CompletedProcess[str]:
        script = (
            "import sys; from urllib.request import Request, urlopen; "
            "print(urlopen(Request(sys.argv[1], headers={'Authorization': sys.argv[2]}), timeout=10).read().decode())"
        )
        command = ("python", "-c", script, f"http://{server}/{path}", f"Bearer {given}")
        return cluster.kubectl("exec", "-n", release.namespace, "visitor", "--", *command)

    def fetched(path: str) -> Any:
        return json.loads(output_of(ask(path, token)))

    [console] = kube.list("Pod", release.namespace, "app.kubernetes.io/component=console")
    for server in ("opsgym-console", *(f"{url_host(address)}:8080" for address in pod_addresses(console))):
        assert "HTTP Error 401" in ask("api/runs", "not-the-token-at-all", server).stderr

    def shown() -> Any:
        return next((run for run in fetched("api/runs")["runs"] if run["name"] == "one"), {})

    assert until(lambda: shown().get("phase") == "Complete", 60)
    run = shown()
    page = fetched(f"api/runs/{run['run']}/page")
    assert page["total"]["passed"] == page["total"]["total"] == 1
    requests = release.requests(f"system:serviceaccount:{release.namespace}:opsgym-console")
    assert {entry["verb"] for entry in requests if "objectRef" in entry} == {"list"}
    assert elsewhere(requests, release.namespace) == refused(requests) == []


def test_metrics_are_read_through_their_service_and_at_the_pod(cluster: Cluster, kube: Kube, release: Tenant) -> None:
    kube.create(pod(release.namespace, "scraper", shell("main", "sleep 1000")))
    kube.wait("Pod", "scraper", release.namespace, has_condition("Ready"))
    [operator] = kube.list("Pod", release.namespace, "app.kubernetes.io/component=operator")
    for host in ("opsgym-operator", *map(url_host, pod_addresses(operator))):
        fetch = ("wget", "-q", "-O-", f"http://{host}:9100/metrics")
        exposed = output_of(cluster.kubectl("exec", "-n", release.namespace, "scraper", "--", *fetch))
        assert "# TYPE opsgym_" in exposed


def test_an_upgrade_keeps_runs_and_the_trial_stores_key(kube: Kube, release: Tenant) -> None:
    key = kube.get("Secret", "opsgym-s3", release.namespace)["data"]
    before = kube.get("EvalRun", "one", release.namespace)
    release.install({**INSTALLED, "pods": {"databaseMegabytes": 300}})
    assert kube.get("Secret", "opsgym-s3", release.namespace)["data"] == key
    start(kube, release.namespace, "after")
    kube.wait("EvalRun", "after", release.namespace, has_condition("Succeeded"), seconds=300)
    assert kube.get("EvalRun", "one", release.namespace)["status"] == before["status"]


@pytest.fixture
def version_before(cluster: Cluster) -> Iterator[None]:
    """The images of the version before this one, on the node."""
    if not previous.is_known():
        pytest.skip(previous.UNKNOWN)
    if not previous.is_built():
        pytest.fail(f"{previous.TREE} is missing; `python -m tests.cluster.previous` builds it")
    for image in previous.IMAGES:
        cluster.import_image(previous.archive(image))
    yield
    output_of(ctr("images", "rm", *(f"localhost/opsgym-{image}:{previous.TAG}" for image in previous.IMAGES)))


@pytest.fixture
def releases(images: None, version_before: None) -> Iterator[str]:
    """Images of a release one, which the node knows by digest too, as from a registry, and of a release two.

    Release one is of the version before this one. Yields its runner, by digest.
    """
    names = ("operator", "runner", "domains")
    two = {name: f"localhost/opsgym-{name}:dev" for name in names}
    one = two | {name: f"localhost/opsgym-{name}:{previous.TAG}" for name in previous.IMAGES}
    tags = {
        f"localhost/{release}/{name}:{release}": of[name] for release, of in (("one", one), ("two", two)) for name in of
    }
    tags |= {f"localhost/one/{name}@{_target_of(one[name])}": one[name] for name in names}
    for tag, image in tags.items():
        output_of(ctr("images", "tag", "--force", image, tag))
    yield f"localhost/one/runner@{_target_of(one['runner'])}"
    output_of(ctr("images", "rm", *tags))


def _target_of(image: str) -> str:
    """Digest of an image that the node has."""
    lines = output_of(ctr("images", "ls", f"name=={image}")).splitlines()
    return next(word for word in lines[1].split() if word.startswith("sha256:"))


def _release(name: str, s3: S3) -> Mapping[str, Any]:
    """Values of a release."""
    store = {"name": "results", "url": s3.url, "endpointUrl": s3.endpoint_url, "region": s3.region, "secret": s3.secret}
    return {
        "stores": [store],
        "images": {"prefix": f"localhost/{name}/", "tag": name},
        "credentials": {"allowInline": True, "secretNames": [HELD_SECRET]},
        "networkPolicy": {"enabled": False},
    }


def _held_run(model: HeldModel, namespace: str) -> Manifest:
    """An EvalRun of two tasks. Since it has a budget, its first Job is of one round: of one trial."""
    models = [{"name": "held", "inline": model.inline(maxConcurrency=1)}]
    spec = {"suite": {"builtin": "quickstart", "limit": 2}, "models": models, "budget": {"maxUsd": 50}}
    metadata = {"name": "long", "namespace": namespace}
    return {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": spec}


def _running(kube: Kube, namespace: str, but: Iterable[str] = ()) -> dict[str, list[str]]:
    """Images of the main container of each running task pod, by the pod's uid."""
    pods = kube.list("Pod", namespace, "opsgym.dev/role=task")
    images = {each["metadata"]["uid"]: [part["image"] for part in each["spec"]["containers"]] for each in pods}
    running = {each["metadata"]["uid"] for each in pods if each["status"].get("phase") == "Running"}
    return {uid: images[uid] for uid in running - {*but}}


@pytest.fixture
def upgrade_kinds(cluster: Cluster, kinds: None) -> Iterator[Callable[[Path], None]]:
    """Upgrades the chart opsgym-crds to another version; afterwards to this one."""

    def upgrade(chart: Path) -> None:
        output_of(cluster.helm("upgrade", "opsgym-crds", str(chart), "-n", "default"))

    yield upgrade
    upgrade(CRDS)


@pytest.mark.soak
def test_a_run_goes_on_through_upgrades_of_kinds_and_release_and_through_a_rollback(
    kube: Kube,
    tenant: Tenant,
    s3: S3,
    releases: str,
    upgrade_kinds: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    where = tenant.namespace
    with held_model(kube, where) as model:
        upgrade_kinds(previous.KINDS)
        tenant.install(_release("one", s3), previous.CHART)
        model.hold()
        created = kube.create(_held_run(model, where))
        assert NEW_FIELD not in created["spec"]["limits"]
        assert until(lambda: model.requests >= 1 and len(_running(kube, where)) == 1, 300)
        begun = _running(kube, where)

        # This operator first meets the older kinds, then newer ones.
        tenant.install(_release("two", s3))
        upgrade_kinds(newer_kinds(tmp_path / "newer"))
        assert until(lambda: NEW_FIELD in kube.get("EvalRun", "long", where)["spec"]["limits"], 60)
        assert _running(kube, where) == begun
        kube.patch("EvalRun", "long", where, {"spec": {"budget": {"maxUsd": 60}}})
        model.hold(after=1)
        # The second Job is of the upgraded operator.
        assert until(lambda: model.requests >= 2 and len(_running(kube, where, but=begun)) == 1, 300)
        later = _running(kube, where, but=begun)

        kube.patch("EvalRun", "long", where, {"status": {NEW_FIELD: "b"}}, part="status")
        tenant.helm("rollback", "opsgym", "--wait", "--timeout", "120s")
        assert _running(kube, where, but=begun) == later
        model.release()
        kube.wait("EvalRun", "long", where, has_condition("Succeeded"), seconds=300)
    assert [*begun.values(), *later.values()] == [[releases]] * 2
    store = open_store(s3.url, S3Access(s3.endpoint_url, s3.region, s3.access_key_id, SecretStr(s3.secret_access_key)))
    results = load_run(store, find_run(store, "long"))
    assert (len(results.trials), len(results.attempts)) == (2, 2), "a trial was lost, or run twice"


def test_a_missing_key_is_named_and_what_a_release_leaves_is_runs_and_results_with_which_a_new_one_goes_on(
    kube: Kube, tenant: Tenant, s3: S3, images: None, tmp_path: Path
) -> None:
    store = {"name": "results", "url": s3.url, "endpointUrl": s3.endpoint_url, "region": s3.region, "secret": "absent"}
    tenant.install({"stores": [store]})
    start(kube, tenant.namespace, "kept")
    stalled = kube.wait("EvalRun", "kept", tenant.namespace, has_condition("Stalled"), seconds=60)
    assert "absent" in next(c["message"] for c in stalled["status"]["conditions"] if c["type"] == "Stalled")
    data = {"access-key-id": s3.access_key_id, "secret-access-key": s3.secret_access_key}
    metadata = {"name": "absent", "namespace": tenant.namespace}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})
    # The kubelet looks at optional Secrets of a running pod about once a minute.
    kube.wait("EvalRun", "kept", tenant.namespace, has_condition("Succeeded"), seconds=240)
    tenant.helm("uninstall", "opsgym", "--wait")
    left = kube.get("EvalRun", "kept", tenant.namespace)
    assert EvalRun.model_validate_json(json.dumps(left)).status is not None
    assert until(lambda: kube.list("Pod", tenant.namespace, "app.kubernetes.io/component=operator") == [], 60)

    done = results("kept", tenant, s3, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gold" in done.stdout
    assert "100.0%" in done.stdout

    start(kube, tenant.namespace, "waits")
    done = results("waits", tenant, s3, tmp_path)
    assert done.returncode == 2
    assert "has no results yet: the operator has not seen it" in done.stderr
    tenant.install({"stores": [store]})
    kube.wait("EvalRun", "waits", tenant.namespace, has_condition("Succeeded"), seconds=300)


def results(name: str, tenant: Tenant, s3: S3, folder: Path) -> subprocess.CompletedProcess[str]:
    """`kubectl opsgym results`, as a user whose environment knows the store."""
    programs = (str(Path(sys.executable).parent), str(program("kubectl").parent), os.environ["PATH"])
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(programs),
        "KUBECONFIG": str(tenant.cluster.kubeconfig),
        "AWS_ENDPOINT_URL_S3": s3.endpoint_url,
        "AWS_REGION": S3_REGION,
        "AWS_ACCESS_KEY_ID": s3.access_key_id,
        "AWS_SECRET_ACCESS_KEY": s3.secret_access_key,
    }
    command = ["kubectl", "opsgym", "results", name, "-n", tenant.namespace]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_the_tutorial_of_a_first_nightly_run_happens_as_it_says(
    cluster: Cluster, kube: Kube, images: None, kinds: None, tmp_path: Path
) -> None:
    for chart in (CRDS, OPSGYM):
        (tmp_path / "helm").mkdir(exist_ok=True)
        (tmp_path / "helm" / chart.name).symlink_to(chart)
    store = yaml.safe_load((OPSGYM / "values.yaml").read_text())["trialStore"]["image"]
    cluster.import_image(server_image(tmp_path / "s3.tar", store))
    programs = {str(program(name).parent) for name in ("kubectl", "helm")}
    path = os.pathsep.join([str(Path(sys.executable).parent), *programs, os.environ["PATH"]])
    try:
        follow(
            DOCS / "tutorials" / "nightly.md",
            tmp_path,
            {**os.environ, "PATH": path, "KUBECONFIG": str(cluster.kubeconfig), "HOME": str(tmp_path)},
        )
    finally:
        remove_namespace(kube, "evals")
