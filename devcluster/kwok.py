"""Simulated nodes: kwok plays their kubelets, so that pods are scheduled, start and end without containers.

Invariant: a simulated pod runs until something puts the annotation `END` on it; its containers then end with exit code
0 and the annotation's value as termination message. Pods reach simulated nodes by `SELECTOR` and `TOLERATION` only.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import yaml

from devcluster import binaries, sandbox
from devcluster.errors import ClusterError
from devcluster.kube import Kube, Manifest, has_condition
from devcluster.places import ADMIN, CONF, LOG, RECORDS
from devcluster.processes import Process, until

END = "opsgym.dev/simulated-end"
SELECTOR = {"type": "simulated"}
TOLERATION = {"key": "simulated", "operator": "Exists", "effect": "NoSchedule"}
ANNOTATION = "opsgym.dev/simulated"
CAPACITY = {"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "500Gi"}
RECORD = RECORDS / "kwok.json"
LEASE_S = 120
"""Seconds of a node's lease, longer than usual, since each renewal is a request."""
PATIENCE = 60
"""Seconds until the nodes are ready."""

SETTINGS = {
    "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
    "kind": "KwokConfiguration",
    # Requests wait for the API server, which has other things to do; four at a time would be the bound of a fleet.
    "options": {"podPlayStageParallelism": 64, "nodePlayStageParallelism": 16},
}
NODE_READY = """
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
"""
POD_RUNNING = """
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
hostIP: 10.0.0.1
podIP: 10.0.0.2
conditions:
{{ range $type := list "Initialized" "ContainersReady" "Ready" }}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: {{ $type }}}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
"""
POD_ENDED = """
{{ $now := Now }}
{{ $began := .status.startTime }}
{{ $message := index .metadata.annotations "opsgym.dev/simulated-end" }}
phase: Succeeded
conditions:
- {lastTransitionTime: {{ $now | Quote }}, status: "False", type: Ready, reason: PodCompleted}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  imageID: ""
  name: {{ .name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $began | Quote }}
      finishedAt: {{ $now | Quote }}
      message: {{ $message | Quote }}
{{ end }}
"""


def stages() -> list[Manifest]:
    """What kwok does with nodes and pods, and when."""
    alive = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
    ended = f'.metadata.annotations["{END}"]'
    return [
        _stage("node-ready", "Node", [_is(".status.phase", "NotIn", "Running")], NODE_READY),
        _stage("pod-running", "Pod", [alive, _is(".status.phase", "In", "Pending")], POD_RUNNING),
        _stage(
            "pod-ended",
            "Pod",
            [alive, _is(".status.phase", "In", "Running"), {"key": ended, "operator": "Exists"}],
            POD_ENDED,
        ),
        {
            **_head("pod-deleted"),
            "spec": {
                "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
                "selector": {"matchExpressions": [{**alive, "operator": "Exists"}]},
                "next": {"delete": True},
            },
        },
    ]


@contextmanager
def nodes(kube: Kube, count: int) -> Iterator[None]:
    """Simulated nodes while the context is open.

    Raises:
        ClusterError: kwok cannot be built, or the nodes do not become ready.
    """
    binaries.ensure([binaries.KWOK])
    config = CONF / "kwok.yaml"
    config.write_text(yaml.safe_dump_all([SETTINGS, *stages()]))
    options = {
        "kubeconfig": ADMIN,
        "config": config,
        "manage-nodes-with-annotation-selector": f"{ANNOTATION}=true",
        "node-lease-duration-seconds": LEASE_S,
    }
    sandbox.start("kwok", [binaries.program("kwok"), *(f"--{name}={value}" for name, value in options.items())])
    names = [f"simulated-{number}" for number in range(count)]
    try:
        for name in names:
            kube.create(_node(name))
        if not until(lambda: _all_ready(kube, count), PATIENCE):
            raise ClusterError(f"the simulated nodes are not ready after {PATIENCE} s; see {LOG / 'kwok.log'}")
        yield
    finally:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: kube.delete("Node", name), names))
        process = Process.read(RECORD)
        if process is not None:
            process.end()


def _all_ready(kube: Kube, count: int) -> bool:
    simulated = ",".join(f"{name}={value}" for name, value in SELECTOR.items())
    return sum(has_condition("Ready")(node) for node in kube.list("Node", labels=simulated)) == count


def _node(name: str) -> Manifest:
    metadata = {
        "name": name,
        "labels": {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            **SELECTOR,
        },
        "annotations": {ANNOTATION: "true"},
    }
    taint = {"key": TOLERATION["key"], "effect": TOLERATION["effect"]}
    status = {"capacity": CAPACITY, "allocatable": CAPACITY}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": [taint]}, "status": status}


def _head(name: str) -> Manifest:
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}}


def _stage(name: str, kind: str, when: list[Manifest], status: str) -> Manifest:
    spec = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": when},
        "next": {"statusTemplate": status},
    }
    return {**_head(name), "spec": spec}


def _is(key: str, operator: str, value: str) -> Manifest:
    return {"key": key, "operator": operator, "values": [value]}
