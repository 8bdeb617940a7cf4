"""Small pods for tests of the cluster itself, allowed by the strictest Pod Security Standard."""

from __future__ import annotations

from typing import Any

from devcluster.kube import Manifest
from devcluster.places import BUSYBOX_IMAGE

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def shell(name: str, script: str, **more: Any) -> Manifest:
    """A container that runs a shell script; further fields by name."""
    container = {"name": name, "image": BUSYBOX_IMAGE, "imagePullPolicy": "Never", "securityContext": RESTRICTED}
    return {**container, "command": ["sh", "-c", script], **more}


def pod_spec(*containers: Manifest, **more: Any) -> Manifest:
    """A pod that ends when its containers do."""
    common = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False}
    return {**common, "containers": list(containers), **more}


def pod(
    namespace: str, name: str, *containers: Manifest, labels: dict[str, str] | None = None, **more: Any
) -> Manifest:
    """A pod."""
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(*containers, **more)}


def pod_addresses(manifest: Manifest) -> list[str]:
    """Addresses of a pod that has them, one of each version of IP that its cluster has."""
    return [entry["ip"] for entry in manifest["status"]["podIPs"]]


def url_host(address: str) -> str:
    """An address as a URL has it."""
    return f"[{address}]" if ":" in address else address
