"""Kueue in the development cluster: its release's own manifests, with an image made of the program in the cache.

Invariant: what differs from a usual installation is listed in `_adapt`; `remove` leaves nothing of it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from devcluster import binaries, certificates, images
from devcluster.cluster import Cluster
from devcluster.errors import ClusterError
from devcluster.kube import Kube, KubeError, Manifest, has_condition
from devcluster.places import STATE
from devcluster.processes import until

API = "kueue.x-k8s.io/v1beta2"
NAMESPACE = "kueue-system"
MANAGER = "kueue-controller-manager"
IMAGE = f"localhost/kueue:{binaries.KUEUE.version}"
CONFIG = "controller_manager_config.yaml"
WEBHOOKS = "WebhookConfiguration"
PATIENCE = 120
"""Seconds that it may take to start."""


@contextmanager
def installed(cluster: Cluster, kube: Kube) -> Iterator[None]:
    """Kueue while the context is open. What its queues hold must be gone when the context ends.

    Raises:
        ClusterError: It cannot be built, or it does not start.
    """
    binaries.ensure([binaries.KUEUE])
    archive = STATE / "kueue.tar"
    images.write_image(archive, IMAGE, {"manager": binaries.program("kueue")})
    cluster.import_image(archive)
    objects = manifests(cluster)
    try:
        for manifest in objects:
            kube.apply(manifest)
        _await_manager(cluster, kube)
        yield
    finally:
        for manifest in reversed(objects):
            kube.delete(manifest["kind"], manifest["metadata"]["name"], manifest["metadata"].get("namespace"))


def _await_manager(cluster: Cluster, kube: Kube) -> None:
    try:
        kube.wait("Deployment", MANAGER, NAMESPACE, has_condition("Available"), seconds=PATIENCE)
    except TimeoutError as error:
        log = cluster.kubectl("-n", NAMESPACE, "logs", f"deployment/{MANAGER}", "--tail=5").stdout
        raise ClusterError(f"Kueue does not start: {error}\nThe end of its log:\n{log}") from None
    if not until(lambda: _webhooks_answer(kube), PATIENCE):
        raise ClusterError("the API server does not reach Kueue's webhooks")


def _webhooks_answer(kube: Kube) -> bool:
    """Whether the API server reaches them: that its Service has an endpoint reaches the node a little later."""
    flavor = {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "probe"}}
    try:
        kube.raw("POST", kube.path("ResourceFlavor"), flavor, params={"dryRun": "All"})
    except KubeError as error:
        if error.code < 500:
            raise
        return False
    return True


def manifests(cluster: Cluster) -> list[Manifest]:
    """Its objects, in the order in which they are created: definitions first, admission webhooks last.

    Raises:
        ClusterError: kubectl cannot render them.
    """
    rendered = cluster.kubectl("kustomize", str(binaries.KUEUE.folder / "config" / "default"))
    if rendered.returncode != 0:
        raise ClusterError(f"cannot render Kueue's manifests: {rendered.stderr.strip()}")
    certificate = _certificate()
    # The Service of the visibility API would need the aggregation layer, which the cluster does not have; its absence
    # would keep namespaces from being deleted.
    objects = [item for item in yaml.safe_load_all(rendered.stdout) if item["kind"] != "APIService"]
    for item in objects:
        _adapt(item, certificate)
    return sorted(objects, key=lambda item: item["kind"].endswith(WEBHOOKS))


def _adapt(manifest: Manifest, certificate: dict[str, str]) -> None:
    kind = manifest["kind"]
    if kind == "Deployment":
        (container,) = manifest["spec"]["template"]["spec"]["containers"]
        container |= {"image": IMAGE, "imagePullPolicy": "Never"}
        container["args"].append("--feature-gates=VisibilityOnDemand=false")
        container["volumeMounts"].append({"name": "cert", "mountPath": "/etc/kueue/metrics/certs", "readOnly": True})
        # The node is small, and tests wait for its start.
        container["resources"]["requests"] = {"cpu": "50m", "memory": "128Mi"}
        container["readinessProbe"] |= {"initialDelaySeconds": 0, "periodSeconds": 1}
    elif kind == "ConfigMap":
        # Its own certificate would reach it with the kubelet's next look at the Secret, a minute later.
        config = yaml.safe_load(manifest["data"][CONFIG])
        manifest["data"][CONFIG] = yaml.safe_dump({**config, "internalCertManagement": {"enable": False}})
    elif kind == "Secret":
        manifest["data"] = {name: certificate[name] for name in ("tls.crt", "tls.key")}
    elif kind == "CustomResourceDefinition" and "conversion" in manifest["spec"]:
        manifest["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = certificate["ca.crt"]
    elif kind.endswith(WEBHOOKS):
        for webhook in manifest["webhooks"]:
            webhook["clientConfig"]["caBundle"] = certificate["ca.crt"]


def _certificate() -> dict[str, str]:
    """An authority, and a certificate of it for the Service of Kueue's webhooks: encoded files by name."""
    folder, name = STATE / "kueue", f"kueue-webhook-service.{NAMESPACE}.svc"
    certificates.Authority(folder).issue_server("tls", name, dns=(name,), addresses=())
    return {file: base64.b64encode((folder / file).read_bytes()).decode() for file in ("ca.crt", "tls.crt", "tls.key")}
