"""Renders the charts with the real helm."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from devcluster.binaries import HELM, bring, build, download
from devcluster.errors import ClusterError
from tests.support import pod_security

Manifest = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
OPSGYM = ROOT / "helm" / "opsgym"
CRDS = ROOT / "helm" / "opsgym-crds"
OLDEST = "1.33.0"
"""The oldest Kubernetes that the charts are for."""

STORE: Mapping[str, Any] = {"name": "results", "url": "s3://bucket/prefix", "secret": "opsgym-results"}
"""What an installation has at least."""


@cache
def helm_program() -> Path:
    """Where helm is: in the cache, on the machine, or brought. Without it tests are skipped, but never in CI."""
    installed = shutil.which("helm")
    if not HELM.folder.exists() and installed is not None:
        return Path(installed)
    try:
        if not HELM.folder.exists():
            bring(HELM, (download, build))
    except ClusterError as error:
        if "CI" in os.environ:
            raise
        pytest.skip(str(error))
    return HELM.folder / "helm"


def helm(*arguments: str, values: Mapping[str, Any] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs helm, with values on its standard input."""
    given = [] if values is None else ["--values", "-"]
    return subprocess.run(
        [helm_program(), *arguments, *given],
        input=yaml.safe_dump(dict(values or {})),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def rendered(values: Mapping[str, Any], release: str = "opsgym", namespace: str = "evals") -> list[Manifest]:
    """The objects of a release of opsgym, its test's included."""
    return _rendered(OPSGYM, values, release, namespace)


def rendered_crds(values: Mapping[str, Any]) -> list[Manifest]:
    """The objects of a release of opsgym-crds."""
    return _rendered(CRDS, values, "opsgym-crds", "default")


def _rendered(chart: Path, values: Mapping[str, Any], release: str, namespace: str) -> list[Manifest]:
    done = helm("template", release, str(chart), "-n", namespace, "--kube-version", OLDEST, values=values)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def refusal(values: Mapping[str, Any]) -> str:
    """What helm says about values that it does not take."""
    done = helm("template", "opsgym", str(OPSGYM), "--kube-version", OLDEST, values=values)
    assert done.returncode != 0, "helm took them"
    return done.stderr


def one(manifests: list[Manifest], kind: str, name: str, namespace: str | None = "evals") -> Manifest:
    """The object of that kind and name."""
    matches = [
        manifest
        for manifest in manifests
        if (manifest["kind"], manifest["metadata"]["name"]) == (kind, name)
        and manifest["metadata"].get("namespace") == namespace
    ]
    assert len(matches) == 1, [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    return matches[0]


@dataclass(frozen=True)
class PodOf:
    """A pod that some object makes."""

    owner: str
    spec: Manifest
    metadata: Manifest

    @property
    def containers(self) -> list[Manifest]:
        """Every container, those that run first included."""
        return [*self.spec.get("initContainers", []), *self.spec["containers"]]


def pods(manifests: list[Manifest]) -> Iterator[PodOf]:
    """Every pod that the objects are or make."""
    for manifest in manifests:
        owner = f"{manifest['kind']} {manifest['metadata']['name']}"
        if manifest["kind"] == "Pod":
            yield PodOf(owner, manifest["spec"], manifest["metadata"])
        elif "template" in manifest.get("spec", {}):
            template = manifest["spec"]["template"]
            yield PodOf(owner, template["spec"], template["metadata"])


def restricted(pod: PodOf) -> list[str]:
    """What a pod lacks of the Pod Security Standard `restricted` and of a read-only root file system."""
    faults = pod_security.restricted(pod.spec, pod.metadata)
    for container in pod.containers:
        if container["securityContext"].get("readOnlyRootFilesystem") is not True:
            faults.append(f"{container['name']}: readOnlyRootFilesystem")
    return [f"{pod.owner}: {fault}" for fault in faults]
