"""Reads an EvalRun, its pods and their logs from a cluster.

Invariant: nothing is written. Results are read from the run's store with the user's own credentials. kubectl does each
request, so that contexts, namespaces and authentication work as they do for kubectl.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym_api.errors import InputError, Problem

_VIEW = "`view`"
"""The role of Kubernetes that reads pods, ConfigMaps and logs."""
TIMEOUT_S = 15
"""Timeout of the request to the API server. It does not limit authentication, which may open a browser."""


class ClusterError(Exception):
    """The cluster cannot be reached, or refuses the request."""


@dataclass(frozen=True)
class Cluster:
    """A namespace of a cluster."""

    namespace: str | None = None
    """None for the default namespace of the context."""
    context: str | None = None
    """Context of the kubeconfig; None for the current one."""

    @property
    def options(self) -> list[str]:
        """Options for kubectl."""
        return [
            *(["--namespace", self.namespace] if self.namespace is not None else []),
            *(["--context", self.context] if self.context is not None else []),
        ]


@dataclass(frozen=True)
class StoredResults:
    """Location of the results of a run."""

    store: str
    """Location of the store."""
    run: str
    """Id of the run."""


def has_kubeconfig() -> bool:
    """Whether kubectl has a kubeconfig."""
    variable = os.environ.get("KUBECONFIG")
    files = variable.split(os.pathsep) if variable else [str(Path.home() / ".kube" / "config")]
    return any(file and Path(file).is_file() for file in files)


def find_results(name: str, cluster: Cluster) -> StoredResults:
    """Finds the results of an EvalRun.

    Args:
        name: Name of the EvalRun.
        cluster: The cluster and namespace that it is in.

    Raises:
        InputError: The EvalRun, its kind or the context does not exist, or the run has no results yet.
        ClusterError: The cluster cannot be reached, or refuses the request.
    """
    status = get_evalrun(name, cluster).get("status", {})
    parts = re.fullmatch(r"(?P<store>.+?)/runs/(?P<run>[^/]+)/?", status.get("results") or "")
    if parts is None:
        raise InputError(_label(name, cluster), [Problem("", f"has no results yet{_state_text(status)}")])
    return StoredResults(parts["store"], parts["run"])


def get_evalrun(name: str, cluster: Cluster) -> Mapping[str, Any]:
    """An EvalRun as the API server writes it.

    Args:
        name: Its name.
        cluster: The cluster and namespace that it is in.

    Raises:
        InputError: The name is not valid, or the EvalRun, its kind or the context does not exist.
        ClusterError: The cluster cannot be reached, or refuses the request.
    """
    require_name(name)
    label = _label(name, cluster)
    evalrun = _get_json(["evalruns.opsgym.dev", *cluster.options, "--", name], label)
    if evalrun.get("kind") != "EvalRun":
        raise ClusterError(f"{label}: the output of kubectl is not an EvalRun")
    return evalrun


def require_name(run: str) -> None:
    """Refuses what no EvalRun can be named.

    Raises:
        InputError: It is not a valid name.
    """
    if re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", run) is None:
        raise InputError(run, [Problem("", "is not a valid name of an EvalRun; to read a run of a store give --store")])


def get_objects(selector: str, cluster: Cluster) -> Sequence[Mapping[str, Any]]:
    """Pods and ConfigMaps of a namespace with a label.

    Args:
        selector: The label, `KEY=VALUE`.
        cluster: The cluster and namespace that they are in.

    Raises:
        ClusterError: The cluster cannot be reached, or refuses the request.
    """
    label = f"pods and ConfigMaps of namespace {cluster.namespace}"
    objects = _get_json(["pods,configmaps", *cluster.options, "--selector", selector], label, _VIEW)
    return list(objects.get("items", ()))


def read_log(pod: str, container: str, cluster: Cluster, options: Sequence[str]) -> Iterator[str]:
    """Lines of the log of a container, as they come.

    Args:
        pod: Name of the pod.
        container: Name of the container.
        cluster: The cluster and namespace of the pod.
        options: Further options of `kubectl logs`.

    Raises:
        ClusterError: The cluster cannot be reached, or refuses the request.
    """
    command = ["kubectl", "logs", *cluster.options, "--container", container, *options, "--", pod]
    # A pipe that is not read meanwhile would stop kubectl once it is full.
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace") as log,
    ):
        assert log.stdout is not None
        yield from log.stdout
        log.wait()
        errors.seek(0)
        error = errors.read()
    if log.returncode != 0:
        raise _kubectl_error(error, f"log of {container} of pod {pod}", _VIEW)


def _get_json(arguments: Sequence[str], label: str, role: str = "`opsgym-viewer`") -> Mapping[str, Any]:
    command = ["kubectl", "get", f"--request-timeout={TIMEOUT_S}s", "-o", "json", *arguments]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ClusterError("kubectl is not installed; install it, or name the store with --store") from None
    if completed.returncode != 0:
        raise _kubectl_error(completed.stderr, label, role)
    try:
        content = json.loads(completed.stdout)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ClusterError(f"{label}: the output of kubectl is not an object")
    return content


def _kubectl_error(stderr: str, label: str, role: str) -> Exception:
    """The error for what kubectl printed on stderr, and the role that a user without rights needs."""
    for text, advice in _INPUT_ERRORS.items():
        if text in stderr:
            return InputError(label, [Problem("", advice)])
    for text, advice in _CLUSTER_ERRORS.items():
        if text in stderr:
            return ClusterError(f"{label}: {advice.format(role=role)}")
    last_line = (stderr.strip().splitlines() or ["kubectl failed without an error message"])[-1]
    return ClusterError(f"{label}: {last_line}")


_INPUT_ERRORS: Mapping[str, str] = {
    "(NotFound)": "does not exist; `kubectl get evalruns --all-namespaces` lists all EvalRuns",
    "the server doesn't have a resource type": "the cluster has no kind EvalRun; install the chart opsgym-crds",
    "context was not found": "the context does not exist; `kubectl config get-contexts` lists all contexts",
    "error loading config file": "the kubeconfig cannot be read; `kubectl config view` shows the error",
    "localhost:8080": "kubeconfig not found; set KUBECONFIG, or name the store with --store",
}
"""Advice by text of kubectl's error, for errors of the input. Tried in this order, before the cluster's."""

_UNREACHABLE = "the cluster cannot be reached; check that `kubectl get evalruns` works"
_CLUSTER_ERRORS: Mapping[str, str] = {
    "(Forbidden)": "you are not allowed to read it; ask for the role {role} in that namespace",
    "(Unauthorized)": "the cluster rejects your credentials; sign in again",
    "must be logged in": "the cluster rejects your credentials; sign in again",
    "Unable to connect": _UNREACHABLE,
    "was refused": _UNREACHABLE,
    "deadline exceeded": _UNREACHABLE,
    "Client.Timeout": _UNREACHABLE,
}
"""Advice by text of kubectl's error, for errors of the cluster."""


def _state_text(status: Mapping[str, Any]) -> str:
    """Phase of the run, and the messages of conditions that keep it from running."""
    messages = [
        condition.get("message") or condition["reason"]
        for condition in status.get("conditions", [])
        if (condition["type"], condition["status"]) in {("Accepted", "False"), ("Stalled", "True")}
    ]
    phase = status.get("phase") or "the operator has not seen it; check that it runs and watches this namespace"
    return f": {'; '.join([phase, *messages])}"


def _label(name: str, cluster: Cluster) -> str:
    namespace = f" in namespace {cluster.namespace}" if cluster.namespace else ""
    context = f" of context {cluster.context}" if cluster.context else ""
    return f"EvalRun {name}{namespace}{context}"
