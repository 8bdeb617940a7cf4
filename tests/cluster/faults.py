"""Harm that production does to pods and nodes, done on purpose.

Invariant: each function does one thing and returns when it is done; what follows is for the test to wait for.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from devcluster.errors import ClusterError
from devcluster.kube import Kube, KubeError, Manifest
from devcluster.places import ADMIN, NODE
from devcluster.processes import Process

SAMPLES_PER_SECOND = 2.0
HOG = """
import os, sys
open(sys.argv[1], "w").write("0")
file = os.memfd_create("memory")
while True:
    os.write(file, bytes(2**20))
"""
"""Enters a control group, then fills its memory until something dies.

It uses a file in memory, which counts for the group but not for this process, so the kernel kills another process.
"""


def kill_in_container(
    kube: Kube, namespace: str, pod: str, container: str, program: str, number: signal.Signals = signal.SIGKILL
) -> int:
    """Sends a signal to the processes of a container whose command line has a word.

    Returns: Number of processes.

    Raises:
        ClusterError: There is none.
    """
    processes = [item for item in processes_of(kube, namespace, pod, container) if program in _command_line(item)]
    if not processes:
        raise ClusterError(f"no process of {namespace}/{pod}/{container} has {program!r} in its command line")
    for process in processes:
        process.send(number)
    return len(processes)


def oom_kill(kube: Kube, namespace: str, pod: str, container: str) -> None:
    """Has the kernel kill a container's first process because the container's memory is used up.

    Raises:
        ClusterError: The container does not run, or has no memory limit to reach.
    """
    running = processes_of(kube, namespace, pod, container)
    group = _memory_group(running[0])
    limit = (group / "memory.limit_in_bytes", group / "memory.max")
    text = next(path for path in limit if path.exists()).read_text().strip()
    if text == "max" or int(text) > 2**34:
        raise ClusterError(f"{namespace}/{pod}/{container} has no memory limit")
    # The first to be killed.
    Path(f"/proc/{running[0].pid}/oom_score_adj").write_text("1000")
    command = [sys.executable, "-I", "-c", HOG, str(group / "cgroup.procs")]
    with subprocess.Popen(command) as hog:
        try:
            deadline = time.monotonic() + 30
            while running[0].alive:
                if time.monotonic() > deadline:
                    raise ClusterError(f"the kernel did not kill {namespace}/{pod}/{container} within 30 s")
                time.sleep(0.02)
        finally:
            hog.kill()


def processes_of(kube: Kube, namespace: str, pod: str, container: str) -> list[Process]:
    """Processes of a running container, the first one first.

    Raises:
        ClusterError: It does not run.
    """
    status = kube.get("Pod", pod, namespace)["status"]
    states = [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]
    ids = [
        state["containerID"].rpartition("/")[2]
        for state in states
        if state["name"] == container and "running" in state["state"]
    ]
    if not ids:
        raise ClusterError(f"{namespace}/{pod} has no running container {container}")
    pids = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cgroup") if ids[0] in _read(path)]
    processes = [process for pid in pids if (process := Process.of(pid)) is not None]
    return sorted(processes, key=lambda process: process.started)


def evict(kube: Kube, namespace: str, pod: str) -> None:
    """Evicts a pod, as a drain does."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
    kube.raw("POST", f"{kube.path('Pod', namespace, pod)}/eviction", body)


@contextmanager
def drained(kube: Kube, namespace: str) -> Iterator[None]:
    """The node takes no pods meanwhile, and those of a namespace are evicted from it."""
    with cordoned(kube):
        for pod in kube.list("Pod", namespace):
            evict(kube, namespace, pod["metadata"]["name"])
        yield


@contextmanager
def cordoned(kube: Kube) -> Iterator[None]:
    """The node takes no pods meanwhile."""
    kube.patch("Node", NODE, None, {"spec": {"unschedulable": True}})
    try:
        yield
    finally:
        kube.patch("Node", NODE, None, {"spec": {"unschedulable": False}})


@dataclass
class Samples:
    """Pods of a namespace, over time."""

    pods: list[list[Manifest]] = field(default_factory=list)

    def running(self, labels: dict[str, str]) -> list[int]:
        """How many pods with some labels had neither ended nor were waiting, at each time."""
        return [sum(_runs(pod) and _has(pod, labels) for pod in moment) for moment in self.pods]


@contextmanager
def sampled(namespace: str) -> Iterator[Samples]:
    """Looks at the pods of a namespace twice a second meanwhile. An API server that is away is not an error."""
    samples, ended = Samples(), threading.Event()

    def look() -> None:
        with Kube(ADMIN) as kube:
            while not ended.wait(1 / SAMPLES_PER_SECOND):
                try:
                    samples.pods.append(kube.list("Pod", namespace))
                except (KubeError, httpx.TransportError):
                    continue

    thread = threading.Thread(target=look, name="samples")
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def _runs(pod: Manifest) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _has(pod: Manifest, labels: dict[str, str]) -> bool:
    return bool(labels.items() <= pod["metadata"].get("labels", {}).items())


def _memory_group(process: Process) -> Path:
    """Control group that bounds a process's memory."""
    lines = [line.split(":", 2) for line in _read(Path(f"/proc/{process.pid}/cgroup")).splitlines()]
    by_controller = {controllers: path.lstrip("/") for _, controllers, path in lines}
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for _, place, kind, options, *_ in mounts:
        if kind == "cgroup" and "memory" in options.split(","):
            return Path(place) / by_controller["memory"]
        if kind == "cgroup2" and "memory" not in by_controller:
            return Path(place) / by_controller[""]
    raise ClusterError("this machine has no control group that bounds memory")


def _command_line(process: Process) -> str:
    return _read(Path(f"/proc/{process.pid}/cmdline")).replace("\0", " ")


def _read(path: Path) -> str:
    """A file under /proc; empty if its process has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
