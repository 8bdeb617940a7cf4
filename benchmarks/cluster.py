"""The operator on a real Kubernetes: time to the first step, pods per second compared with plain Jobs, resource usage.

Needs root and the prerequisites of the cluster tests. Uses the cluster of `make cluster-up`, or starts one of its own.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import yaml
from devcluster import cluster as clusters
from devcluster import sandbox
from devcluster.cluster import Cluster
from devcluster.kube import Kube, Manifest, has_condition
from devcluster.places import ADMIN, S3_ACCESS_KEY, S3_BUCKET, S3_REGION, S3_SECRET_KEY, S3_URL
from pydantic import SecretStr

from opsgym_api.records.attempt import AttemptRecord
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access

ROOT = Path(__file__).parents[1]
TRIALS, CONCURRENCY = 100, 20
REAL_TRIALS, REAL_CONCURRENCY = 20, 4
STARTS, ROUNDS = 3, 2
POLL_S = 0.05
TIMEOUT_S = 900.0
MIB = 1024 * 1024


async def measure() -> list[str]:
    """Lines of the report."""
    return await asyncio.to_thread(_measure)


def _measure() -> list[str]:
    subprocess.run(["make", "images"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder, _cluster() as cluster:
        archives = [ROOT / ".images" / f"{name}.tar" for name in ("operator", "runner", "domains")]
        for archive in [*archives, *_trivial_images(Path(folder))]:
            cluster.import_image(archive)
        with sandbox.network(), Kube(ADMIN) as kube, _namespace(kube) as namespace:
            bench = Bench(cluster, kube, namespace, _store(namespace))
            return [*bench.first_step(), "", *bench.pods()]


@dataclass
class Bench:
    """A namespace with an installed operator."""

    cluster: Cluster
    kube: Kube
    namespace: str
    store: Store

    def first_step(self) -> list[str]:
        """Time from `kubectl apply` to the first agent step, with the stages in between."""
        self.install("dev")
        marks = [self._start() for _ in range(STARTS)]
        lines = [
            "From kubectl apply to the first agent step, images on the node:",
            "",
            "| until | seconds |",
            "| --- | --- |",
        ]
        lines += [f"| {name} | {median(times[name] for times in marks):.1f} |" for name in marks[0]]
        return [*lines, "", f"Median of {STARTS} runs of one task."]

    def pods(self) -> list[str]:
        """Pods per second, with a runner that does nothing and with the real runner."""
        self.install("trivial")
        operated: list[float] = []
        plain: list[float] = []
        with _sampled(_operator()) as usage:
            for _ in range(ROUNDS):
                rate, jobs = self._run_operated(TRIALS, CONCURRENCY)
                operated.append(rate)
                plain.append(self._run_plain(jobs))
        self.install("dev")
        real, jobs = self._run_operated(REAL_TRIALS, REAL_CONCURRENCY)
        scored = self._run_plain(jobs)
        ratio = median(operated) / median(plain)
        many = f"{TRIALS} pods, {CONCURRENCY} at a time"
        few = f"{REAL_TRIALS} pods, {REAL_CONCURRENCY} at a time"
        lines = ["| Indexed Jobs | pods per second |", "| --- | --- |"]
        lines.append(f"| {many}, a runner that does nothing, created by the operator | {median(operated):.2f} |")
        lines.append(f"| the same Jobs created directly | {median(plain):.2f} |")
        lines.append(f"| {few}, real images, created by the operator | {real:.2f} |")
        lines.append(f"| those Jobs created directly, already scored: no litellm import, no episode | {scored:.2f} |")
        operator = f"Operator: at most {usage.rss / MIB:.0f} MiB RSS, {usage.cpu:.2f} cores."
        return [*lines, "", f"Ratio of operator to direct: {ratio:.2f}. {operator}"]

    def install(self, tag: str) -> None:
        """Installs the operator, or changes the images of its task pods."""
        quarter = {"requests": {"cpu": "5m", "memory": "16Mi"}, "limits": {"memory": "1Gi"}}
        prefix = "localhost/opsgym-"
        values = {
            "images": {"tag": "dev", "runner": f"{prefix}runner:{tag}", "domains": f"{prefix}domains:{tag}"},
            "stores": [
                {
                    "name": "results",
                    "url": self.store.name,
                    "endpointUrl": S3_URL,
                    "region": S3_REGION,
                    "secret": "opsgym-results",
                }
            ],
            "pods": {"resources": dict.fromkeys(("agent", "gym", "postgres"), quarter)},
        }
        chart = str(ROOT / "helm" / "opsgym")
        command = ["upgrade", "--install", "bench", chart, "-n", self.namespace, "-f", "-", "--wait"]
        completed = self.cluster.helm(*command, stdin=yaml.safe_dump(values))
        if completed.returncode != 0:
            raise RuntimeError(completed.stderr)

    def _start(self) -> dict[str, float]:
        """Seconds until each stage before the first step was reached."""
        began = time.monotonic()
        name, uid = self._create(trials=1, concurrency=1)
        task = f"opsgym.dev/run={name},opsgym.dev/role=task"

        def pod_runs() -> bool:
            pods = self.kube.list("Pod", self.namespace, task)
            statuses = [status for pod in pods for status in pod["status"].get("containerStatuses", [])]
            return any("running" in status["state"] or "terminated" in status["state"] for status in statuses)

        stages: dict[str, Callable[[], bool]] = {
            "preflight passed, Job exists": lambda: bool(self.kube.list("Job", self.namespace, task)),
            "agent container running": pod_runs,
            "first step": lambda: self._stepped(f"runs/{self.namespace}.{name}.{uid}/cells/"),
        }
        marks = {}
        for stage, reached in stages.items():
            _until(reached)
            marks[stage] = time.monotonic() - began
        self._wait_finished(name)
        self._delete(name)
        return marks

    def _stepped(self, cells: str) -> bool:
        attempts = (
            self.store.get(key) for key in self.store.keys(cells) if "/attempts/" in key and key.endswith("0.json")
        )
        return any(record and AttemptRecord.from_json(record).steps for record in attempts)

    def _run_operated(self, trials: int, concurrency: int) -> tuple[float, list[Manifest]]:
        """Pods per second of a run, from its first pod to its last; its Jobs and their ConfigMaps."""
        name, _ = self._create(trials, concurrency)
        labels = f"opsgym.dev/run={name},opsgym.dev/role=task"
        _until(lambda: bool(self.kube.list("Job", self.namespace, labels)))
        began = time.monotonic()
        objects = [
            self.kube.get(kind, listed["metadata"]["name"], self.namespace)
            for kind in ("ConfigMap", "Job")
            for listed in self.kube.list(kind, self.namespace, labels)
        ]
        _until(lambda: self._succeeded(labels) == trials)
        rate = trials / (time.monotonic() - began)
        self._wait_finished(name)
        self._delete(name)
        return rate, objects

    def _run_plain(self, objects: Sequence[Manifest]) -> float:
        """Pods per second of the same Jobs without an operator."""
        copies = [_copy(manifest) for manifest in objects]
        trials: int = sum(copy["spec"]["completions"] for copy in copies if copy["kind"] == "Job")
        began = time.monotonic()
        for copy in copies:
            self.kube.create(copy)
        _until(lambda: self._succeeded("bench=plain") == trials)
        rate = trials / (time.monotonic() - began)
        for copy in copies:
            self.kube.delete(copy["kind"], copy["metadata"]["name"], self.namespace)
            self.kube.wait_gone(copy["kind"], copy["metadata"]["name"], self.namespace)
        _until(lambda: not self.kube.list("Pod", self.namespace, "bench=plain"))
        return rate

    def _succeeded(self, labels: str) -> int:
        jobs = self.kube.list("Job", self.namespace, labels)
        return sum(int(job["status"].get("succeeded", 0)) for job in jobs)

    def _create(self, trials: int, concurrency: int) -> tuple[str, str]:
        name = f"bench-{secrets.token_hex(3)}"
        spec: dict[str, Any] = {
            "suite": {"builtin": "quickstart", "limit": 1},
            "trials": trials,
            "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": concurrency}}],
        }
        metadata = {"name": name, "namespace": self.namespace}
        made = self.kube.create(
            {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": spec}
        )
        return name, made["metadata"]["uid"]

    def _wait_finished(self, name: str) -> None:
        def finished() -> bool:
            return has_condition("Succeeded")(self.kube.get("EvalRun", name, self.namespace))

        _until(finished)

    def _delete(self, name: str) -> None:
        self.kube.delete("EvalRun", name, self.namespace)
        _until(lambda: not self.kube.list("Pod", self.namespace, f"opsgym.dev/run={name}"))


@contextmanager
def _cluster() -> Iterator[Cluster]:
    running = clusters.running()
    cluster = running or clusters.up(owner=os.getpid())
    try:
        completed = cluster.helm("upgrade", "--install", "opsgym-crds", str(ROOT / "helm" / "opsgym-crds"))
        if completed.returncode != 0:
            raise RuntimeError(completed.stderr)
        yield cluster
    finally:
        if running is None:
            clusters.down()


@contextmanager
def _namespace(kube: Kube) -> Iterator[str]:
    name = f"bench-{secrets.token_hex(3)}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    data = {"access-key-id": S3_ACCESS_KEY, "secret-access-key": S3_SECRET_KEY}
    metadata = {"name": "opsgym-results", "namespace": name}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})
    try:
        yield name
    finally:
        for run in kube.list("EvalRun", name):
            kube.delete("EvalRun", run["metadata"]["name"], name)
        kube.delete("Namespace", name)


def _store(namespace: str) -> Store:
    access = S3Access(S3_URL, S3_REGION, S3_ACCESS_KEY, SecretStr(S3_SECRET_KEY))
    return open_store(f"s3://{S3_BUCKET}/{namespace}", access)


def _trivial_images(folder: Path) -> list[Path]:
    """Images of task pods whose programs are replaced by one that does nothing."""
    program = folder / "python"
    build = ["go", "build", "-o", str(program), "."]
    subprocess.run(build, cwd=Path(__file__).parent / "trivial", env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    archives = []
    for name in ("runner", "domains"):
        archive = folder / f"{name}.tar"
        made = _buildah("from", f"oci-archive:{ROOT / '.images' / f'{name}.tar'}")
        for called in ("python", "pg_isready"):
            _buildah("copy", "--chmod", "755", made, str(program), f"/trivial/{called}")
        _buildah("config", "--env", "PATH=/trivial:/usr/bin:/bin", made)
        target = f"localhost/opsgym-{name}:trivial"
        _buildah("commit", "--rm", made, f"oci-archive:{archive}:{target}")
        archives.append(archive)
    return archives


def _buildah(*arguments: str) -> str:
    completed = subprocess.run(["buildah", *arguments], capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        raise RuntimeError(f"buildah {arguments[0]}: {completed.stderr.strip()}")
    return completed.stdout.strip()


def _copy(manifest: Manifest) -> Manifest:
    """A copy of an object with another name, without labels and fields of the operator and the API server."""
    labels = {"bench": "plain"}
    name = f"{manifest['metadata']['name']}-plain"
    copy: Manifest = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}
    copy["metadata"] = {"name": name, "namespace": manifest["metadata"]["namespace"], "labels": labels}
    if manifest["kind"] == "ConfigMap":
        return copy | {"data": manifest["data"], "immutable": True}
    pod = manifest["spec"]["template"]["spec"]
    for volume in pod["volumes"]:
        if volume["name"] == "job-spec":
            volume["configMap"]["name"] += "-plain"
    spec = {name: manifest["spec"][name] for name in _JOB_FIELDS}
    return copy | {"spec": {**spec, "template": {"metadata": {"labels": labels}, "spec": pod}}}


_JOB_FIELDS = (
    "completionMode",
    "completions",
    "parallelism",
    "backoffLimitPerIndex",
    "podReplacementPolicy",
    "podFailurePolicy",
)
"""Fields of a Job's spec that its author sets; the API server sets the others."""


@dataclass
class Usage:
    """Resource usage of a process."""

    rss: int = 0
    """Largest resident set, in bytes."""
    cpu: float = 0.0
    """Mean number of cores."""


@contextmanager
def _sampled(process: psutil.Process) -> Iterator[Usage]:
    """Samples the usage of a process twice a second while the context is open."""
    usage, ended = Usage(), threading.Event()

    def sample() -> None:
        while not ended.wait(0.5):
            usage.rss = max(usage.rss, process.memory_info().rss)

    before, began = process.cpu_times(), time.monotonic()
    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield usage
    finally:
        ended.set()
        thread.join()
        after = process.cpu_times()
        cpu_seconds = after.user + after.system - before.user - before.system
        usage.cpu = cpu_seconds / (time.monotonic() - began)


def _operator() -> psutil.Process:
    """Process of the operator on this machine; the youngest one, since an older one may still be ending."""
    processes = [
        process for process in psutil.process_iter(["cmdline"]) if "opsgym_operator" in (process.info["cmdline"] or [])
    ]
    return max(processes, key=lambda process: process.create_time())


def _until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the benchmark timed out after {TIMEOUT_S:.0f} s")
        time.sleep(POLL_S)
