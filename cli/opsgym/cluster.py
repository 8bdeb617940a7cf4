"""Finds where a cluster keeps the results of an EvalRun.

Invariant: one EvalRun is read and nothing else; results come from the store, with the user's own rights there. kubectl
asks, so that contexts, namespaces and ways to sign in mean here what they mean there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym_api.errors import InputError, Problem

SECONDS = 15
"""How long the API server may take to answer; ways to sign in that open a browser take longer, and are waited for."""


class ClusterError(Exception):
    """The cluster cannot be asked, or refuses."""


@dataclass(frozen=True)
class Cluster:
    """Which part of which cluster."""

    namespace: str | None = None
    """The context's own if None."""
    context: str | None = None
    """The current one if None."""

    @property
    def options(self) -> list[str]:
        """As kubectl takes it."""
        return [
            *(["--namespace", self.namespace] if self.namespace is not None else []),
            *(["--context", self.context] if self.context is not None else []),
        ]


@dataclass(frozen=True)
class Place:
    """Where a run's results are."""

    store: str
    """Location of the store."""
    run: str
    """Id of the run."""


def kubeconfig_there() -> bool:
    """Whether kubectl would find a cluster."""
    named = os.environ.get("KUBECONFIG")
    files = named.split(os.pathsep) if named else [str(Path.home() / ".kube" / "config")]
    return any(file and Path(file).is_file() for file in files)


def find_results(name: str, cluster: Cluster) -> Place:
    """Where the EvalRun of a name keeps its results.

    Raises:
        InputError: There is no such EvalRun, context or kind, or it has no results yet.
        ClusterError: The cluster cannot be asked, or refuses.
    """
    found = _asked(name, cluster)
    status = found.get("status", {})
    parts = re.fullmatch(r"(?P<store>.+?)/runs/(?P<run>[^/]+)/?", status.get("results") or "")
    if parts is None:
        raise InputError(_called(name, cluster), [Problem("", f"has no results yet{_standing(status)}")])
    return Place(parts["store"], parts["run"])


def _asked(name: str, cluster: Cluster) -> Mapping[str, Any]:
    command = ["kubectl", "get", "evalruns.opsgym.dev", *cluster.options, f"--request-timeout={SECONDS}s", "-o", "json"]
    try:
        done = subprocess.run([*command, "--", name], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ClusterError("kubectl is not installed; install it, or say with --store where the results are") from None
    if done.returncode != 0:
        raise _refusal(done.stderr, name, cluster)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("kind") != "EvalRun":
        raise ClusterError(f"{_called(name, cluster)}: kubectl's answer is no EvalRun")
    return found


def _refusal(said: str, name: str, cluster: Cluster) -> Exception:
    """The error for what kubectl said, in the order in which one meets them."""
    called = _called(name, cluster)
    for sign, advice in _INPUT.items():
        if sign in said:
            return InputError(called, [Problem("", advice)])
    for sign, advice in _CLUSTER.items():
        if sign in said:
            return ClusterError(f"{called}: {advice}")
    last = (said.strip().splitlines() or ["kubectl failed and did not say why"])[-1]
    return ClusterError(f"{called}: {last}")


_INPUT: Mapping[str, str] = {
    "(NotFound)": "there is none of that name; `kubectl get evalruns --all-namespaces` shows those there are",
    "the server doesn't have a resource type": "the cluster knows no EvalRuns; install the chart opsgym-crds",
    "context was not found": "there is no such context; `kubectl config get-contexts` shows those there are",
    "error loading config file": "the kubeconfig cannot be read; `kubectl config view` says why",
    "localhost:8080": "no kubeconfig is there; set KUBECONFIG, or say with --store where the results are",
}
"""What kubectl says of something that the user mends, and how."""

_UNREACHABLE = "the cluster cannot be reached; does `kubectl get evalruns` answer?"
_CLUSTER: Mapping[str, str] = {
    "(Forbidden)": "you may not read it; ask for the role `opsgym-viewer` in that namespace",
    "(Unauthorized)": "the cluster does not know you; sign in again",
    "must be logged in": "the cluster does not know you; sign in again",
    "Unable to connect": _UNREACHABLE,
    "was refused": _UNREACHABLE,
    "deadline exceeded": _UNREACHABLE,
    "Client.Timeout": _UNREACHABLE,
}
"""What kubectl says of a cluster that does not answer as it should, and what to do."""


def _standing(status: Mapping[str, Any]) -> str:
    """Why there are none, as far as the status tells."""
    troubles = [
        condition.get("message") or condition["reason"]
        for condition in status.get("conditions", [])
        if (condition["type"], condition["status"]) in {("Accepted", "False"), ("Stalled", "True")}
    ]
    told = [status.get("phase") or "the operator has not seen it; does it run, and serve this namespace?", *troubles]
    return f": {'; '.join(told)}"


def _called(name: str, cluster: Cluster) -> str:
    where = f" in namespace {cluster.namespace}" if cluster.namespace else ""
    return f"EvalRun {name}{where}" + (f" of context {cluster.context}" if cluster.context else "")
