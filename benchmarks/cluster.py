"""The operator on a real Kubernetes: time to the first step, pods a second against the same Jobs by hand, its own cost.

Needs root, and what the cluster tests need. Uses the cluster that `make cluster-up` started, or starts one for itself.
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
from pydantic import SecretStr
from tests.cluster import cluster as clusters
from tests.cluster import sandbox
from tests.cluster.cluster import Cluster
from tests.cluster.kube import Kube, Manifest, has_condition
from tests.cluster.places import ADMIN, S3_ACCESS_KEY, S3_BUCKET, S3_REGION, S3_SECRET_KEY, S3_URL

from opsgym_api.records import AttemptRecord
from opsgym_api.store import S3Access, Store, open_store

ROOT = Path(__file__).parents[1]
TRIALS, AT_ONCE = 100, 20
REAL_TRIALS, REAL_AT_ONCE = 20, 4
STARTS, ROUNDS = 3, 2
POLL_S = 0.05
PATIENCE_S = 900.0
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
        """How long an agent's first step takes from `kubectl apply`, by what happens on the way."""
        self.install("dev")
        marks = [self._start() for _ in range(STARTS)]
        lines = [
            "From kubectl apply to the first agent step, images on the node:",
            "",
            "| until | seconds |",
            "| --- | --- |",
        ]
        lines += [f"| {name} | {median(found[name] for found in marks):.1f} |" for name in marks[0]]
        return [*lines, "", f"Median of {STARTS} runs of one task."]

    def pods(self) -> list[str]:
        """Pods a second, with a runner that does nothing and with the real one."""
        self.install("trivial")
        mine: list[float] = []
        by_hand: list[float] = []
        with _watched(_operator()) as cost:
            for _ in range(ROUNDS):
                rate, jobs = self._operated(TRIALS, AT_ONCE)
                mine.append(rate)
                by_hand.append(self._by_hand(jobs))
        self.install("dev")
        real, jobs = self._operated(REAL_TRIALS, REAL_AT_ONCE)
        scored = self._by_hand(jobs)
        ratio = median(mine) / median(by_hand)
        some, few = f"{TRIALS} pods, {AT_ONCE} at once", f"{REAL_TRIALS} pods, {REAL_AT_ONCE} at once"
        lines = ["| Indexed Jobs | pods a second |", "| --- | --- |"]
        lines.append(f"| {some}, a runner that does nothing, by the operator | {median(mine):.2f} |")
        lines.append(f"| the same Jobs by hand | {median(by_hand):.2f} |")
        lines.append(f"| {few}, real images, by the operator | {real:.2f} |")
        lines.append(f"| those Jobs by hand, scored already: no litellm is imported, no episode runs | {scored:.2f} |")
        spent = f"Operator meanwhile: {cost.rss / MIB:.0f} MiB RSS at most, {cost.cpu:.2f} cores."
        return [*lines, "", f"Operator against by hand: {ratio:.2f}. {spent}"]

    def install(self, tag: str) -> None:
        """Installs the operator, or points it to other images for task pods."""
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
        done = self.cluster.helm(*command, stdin=yaml.safe_dump(values))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def _start(self) -> dict[str, float]:
        """Seconds until each thing on the way to the first step had happened."""
        began = time.monotonic()
        name, uid = self._create(trials=1, at_once=1)
        task = f"opsgym.dev/run={name},opsgym.dev/role=task"

        def pod_runs() -> bool:
            pods = self.kube.list("Pod", self.namespace, task)
            statuses = [status for pod in pods for status in pod["status"].get("containerStatuses", [])]
            return any("running" in status["state"] or "terminated" in status["state"] for status in statuses)

        happens: dict[str, Callable[[], bool]] = {
            "preflight passed, Job there": lambda: bool(self.kube.list("Job", self.namespace, task)),
            "agent container starts": pod_runs,
            "first step": lambda: self._stepped(f"runs/{self.namespace}.{name}.{uid}/cells/"),
        }
        marks = {}
        for mark, happened in happens.items():
            _until(happened)
            marks[mark] = time.monotonic() - began
        self._wait_finished(name)
        self._delete(name)
        return marks

    def _stepped(self, cells: str) -> bool:
        attempts = (
            self.store.get(key) for key in self.store.keys(cells) if "/attempts/" in key and key.endswith("0.json")
        )
        return any(found and AttemptRecord.model_validate_json(found).steps for found in attempts)

    def _operated(self, trials: int, at_once: int) -> tuple[float, list[Manifest]]:
        """Pods a second of a run, from its first pod to its last, and its Jobs with their orders."""
        name, _ = self._create(trials, at_once)
        labels = f"opsgym.dev/run={name},opsgym.dev/role=task"
        _until(lambda: bool(self.kube.list("Job", self.namespace, labels)))
        began = time.monotonic()
        objects = [
            self.kube.get(kind, found["metadata"]["name"], self.namespace)
            for kind in ("ConfigMap", "Job")
            for found in self.kube.list(kind, self.namespace, labels)
        ]
        _until(lambda: self._succeeded(labels) == trials)
        rate = trials / (time.monotonic() - began)
        self._wait_finished(name)
        self._delete(name)
        return rate, objects

    def _by_hand(self, objects: Sequence[Manifest]) -> float:
        """Pods a second of the same Jobs, nobody watching over them."""
        copies = [_copied(found) for found in objects]
        trials: int = sum(copy["spec"]["completions"] for copy in copies if copy["kind"] == "Job")
        began = time.monotonic()
        for copy in copies:
            self.kube.create(copy)
        _until(lambda: self._succeeded("bench=by-hand") == trials)
        rate = trials / (time.monotonic() - began)
        for copy in copies:
            self.kube.delete(copy["kind"], copy["metadata"]["name"], self.namespace)
            self.kube.wait_gone(copy["kind"], copy["metadata"]["name"], self.namespace)
        _until(lambda: not self.kube.list("Pod", self.namespace, "bench=by-hand"))
        return rate

    def _succeeded(self, labels: str) -> int:
        jobs = self.kube.list("Job", self.namespace, labels)
        return sum(int(job["status"].get("succeeded", 0)) for job in jobs)

    def _create(self, trials: int, at_once: int) -> tuple[str, str]:
        name = f"bench-{secrets.token_hex(3)}"
        spec: dict[str, Any] = {
            "suite": {"builtin": "quickstart", "limit": 1},
            "trials": trials,
            "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": at_once}}],
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
    found = clusters.running()
    used = found or clusters.up(owner=os.getpid())
    try:
        done = used.helm("upgrade", "--install", "opsgym-crds", str(ROOT / "helm" / "opsgym-crds"))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        yield used
    finally:
        if found is None:
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
    """The images of task pods, their programs replaced by one that does nothing."""
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
    done = subprocess.run(["buildah", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"buildah {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def _copied(found: Manifest) -> Manifest:
    """An object as a person would write it, under another name and unknown to the operator."""
    labels = {"bench": "by-hand"}
    name = f"{found['metadata']['name']}-by-hand"
    copy: Manifest = {"apiVersion": found["apiVersion"], "kind": found["kind"]}
    copy["metadata"] = {"name": name, "namespace": found["metadata"]["namespace"], "labels": labels}
    if found["kind"] == "ConfigMap":
        return copy | {"data": found["data"], "immutable": True}
    pod = found["spec"]["template"]["spec"]
    for volume in pod["volumes"]:
        if volume["name"] == "order":
            volume["configMap"]["name"] += "-by-hand"
    kept = (
        "completionMode",
        "completions",
        "parallelism",
        "backoffLimitPerIndex",
        "podReplacementPolicy",
        "podFailurePolicy",
    )
    spec = {name: found["spec"][name] for name in kept}
    return copy | {"spec": {**spec, "template": {"metadata": {"labels": labels}, "spec": pod}}}


_OF_A_JOB = (
    "completionMode",
    "completions",
    "parallelism",
    "backoffLimitPerIndex",
    "podReplacementPolicy",
    "podFailurePolicy",
)
"""What a person would write of a Job's spec; the rest is the API server's."""


@dataclass
class Cost:
    """What a process took."""

    rss: int = 0
    """Bytes at most."""
    cpu: float = 0.0
    """Cores, on average."""


@contextmanager
def _watched(process: psutil.Process) -> Iterator[Cost]:
    """Looks at a process twice a second."""
    cost, ended = Cost(), threading.Event()

    def look() -> None:
        while not ended.wait(0.5):
            cost.rss = max(cost.rss, process.memory_info().rss)

    before, began = process.cpu_times(), time.monotonic()
    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield cost
    finally:
        ended.set()
        thread.join()
        after = process.cpu_times()
        used = after.user + after.system - before.user - before.system
        cost.cpu = used / (time.monotonic() - began)


def _operator() -> psutil.Process:
    """The operator's process, as this machine sees it; the youngest, if an older one is just ending."""
    found = [
        process for process in psutil.process_iter(["cmdline"]) if "opsgym_operator" in (process.info["cmdline"] or [])
    ]
    return max(found, key=lambda process: process.create_time())


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the benchmark waited {PATIENCE_S:.0f} s in vain")
        time.sleep(POLL_S)
