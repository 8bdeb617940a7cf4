"""`make fleet`: the operator with a large run, many runs and many namespaces, on simulated nodes.

Everything but the pods is real: API server, etcd, scheduler, Job controller, operator, S3 server. `benchmarks.fleet`
measures, `FULL` and `SMALL` say how much; tests run `SMALL`. Needs root and the prerequisites of the cluster tests.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml
from devcluster import cluster as clusters
from devcluster import kwok, sandbox
from devcluster.kube import Kube, Manifest, has_condition
from devcluster.places import ADMIN, S3_ACCESS_KEY, S3_BUCKET, S3_DATA, S3_REGION, S3_SECRET_KEY, S3_URL
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from benchmarks.simulated_pods import Played, playing
from opsgym_api.kinds.evalrun import Mode
from opsgym_api.tasks.suite import SuiteEntry
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access

ROOT = Path(__file__).parents[1]
DOMAINS = ("calendar", "csm", "drive", "email", "hr", "itsm", "teams")
MIB = 1024 * 1024
POLL_S = 0.5


@dataclass(frozen=True)
class Size:
    """How large a fleet is.

    Attributes:
        nodes: Simulated nodes.
        models: Models of the large run, each with `concurrency` slots.
        agents: Its agents.
        modes: Its modes.
        tasks: Tasks of each domain.
        trials: Trials of each task.
        finished: Further finished runs of that size, beside which the operator is started again.
        runs: Runs at once in one namespace.
        namespaces: Namespaces with a run each.
        plain: Trials of the Jobs that are created without the operator.
        patience_s: Seconds that one scenario may take.
    """

    nodes: int
    models: int
    agents: int
    modes: int
    tasks: int
    trials: int
    finished: int
    runs: int
    namespaces: int
    plain: int
    concurrency: int = 50
    patience_s: float = 7200.0

    @property
    def cells(self) -> int:
        """Cells of the large run."""
        return self.models * self.agents * self.modes * len(DOMAINS)

    @property
    def total(self) -> int:
        """Trials of the large run."""
        return self.cells * self.tasks * self.trials


FULL = Size(
    nodes=200, models=10, agents=4, modes=3, tasks=6, trials=10, finished=5, runs=50, namespaces=100, plain=5000
)
SMALL = Size(
    nodes=10,
    models=2,
    agents=3,
    modes=1,
    tasks=2,
    trials=5,
    finished=5,
    runs=10,
    namespaces=10,
    plain=200,
    concurrency=20,
    patience_s=300.0,
)


@dataclass
class Usage:
    """An operator's resource usage since its last start."""

    rss: int = 0
    """Largest resident set, in bytes."""


@dataclass
class Figures:
    """What a fleet measured."""

    size: Size
    rate: float = 0.0
    """Pods per second of the large run's first half."""
    plain_rate: float = 0.0
    """Pods per second of Jobs without the operator: one for each model, as many pods at once."""
    jobs: int = 0
    """Jobs of the large run."""
    passes_s: tuple[float, float] = (0.0, 0.0)
    """Mean duration of a pass during the large run, and the bound below which 99 of 100 are."""
    rss: int = 0
    """Largest resident set, in bytes, until the operator was killed in the middle."""
    rss_restarted: int = 0
    """Largest resident set of the operator that was started then."""
    rss_finished: int = 0
    """The same of one that was started beside all finished runs."""
    series: int = 0
    """Time series of the operator's metrics when the large run had ended."""
    scored: int = 0
    """Trials of the large run with a score, by its status."""
    runs_s: float = 0.0
    """Seconds until all runs at once had ended."""
    namespaces_s: float = 0.0
    """Seconds until the runs of all namespaces had ended."""
    problems: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Rate of the operator's Jobs relative to that of the plain ones."""
        return self.rate / self.plain_rate if self.plain_rate else math.nan

    def table(self) -> list[str]:
        """Lines of docs/scale.md."""
        size, mean, most = self.size, *self.passes_s
        rows = {
            f"trials scored, in {size.cells} cells on {size.nodes} nodes": f"{self.scored} of {size.total}",
            "Jobs": str(self.jobs),
            "pods per second": f"{self.rate:.1f}",
            "the same pods in Jobs without the operator": f"{self.plain_rate:.1f}; ratio {self.ratio:.2f}",
            "duration of a pass": f"{1000 * mean:.0f} ms; 99 % below {most:g} s",
            "memory of the operator": f"{self.rss / MIB:.0f} MiB",
            "after a restart in the middle": f"{self.rss_restarted / MIB:.0f} MiB",
            f"started beside {size.finished} finished runs of that size": f"{self.rss_finished / MIB:.0f} MiB",
            "metric series": str(self.series),
            f"{size.runs} runs at once, until the last ends": f"{self.runs_s:.0f} s",
            f"a run in each of {size.namespaces} namespaces": f"{self.namespaces_s:.0f} s",
        }
        return ["| measurement | value |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows.items())]


@dataclass
class Operator:
    """The operator as a process beside the cluster."""

    folder: Path
    store: str
    namespaces: list[str]
    usage: Usage = field(default_factory=Usage)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; returns when it is ready."""
        mounted = self.folder / "stores" / "results"
        mounted.mkdir(parents=True, exist_ok=True)
        (mounted / "access-key-id").write_text(S3_ACCESS_KEY)
        (mounted / "secret-access-key").write_text(S3_SECRET_KEY)
        (self.folder / "config.yaml").write_text(yaml.safe_dump(self._config()))
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = int(listener.getsockname()[1])
        environment = {
            **os.environ,
            "KUBECONFIG": str(ADMIN),
            "OPSGYM_OPERATOR_CONFIG": str(self.folder / "config.yaml"),
            "OPSGYM_STORES": str(self.folder / "stores"),
            "OPSGYM_METRICS_PORT": str(self.port),
        }
        self.usage = Usage()
        with (self.folder / "operator.log").open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "opsgym_operator"], env=environment, stderr=log)
        threading.Thread(target=self._sample, args=(self.process, self.usage), daemon=True).start()
        _until(self._ready, 120, "the operator is not ready")

    def kill(self) -> None:
        """Ends it without warning."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def metrics(self) -> str:
        """Its metrics."""
        return httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=30, trust_env=False).text

    def _ready(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/readyz", timeout=5, trust_env=False).is_success
        except httpx.TransportError:
            return False

    def _config(self) -> dict[str, Any]:
        store = {"name": "results", "url": self.store, "endpointUrl": S3_URL, "region": S3_REGION, "secret": "results"}
        return {
            "stores": [store],
            "defaultStore": "results",
            "images": {"runner": "simulated/runner:1", "domains": "simulated/domains:1"},
            "pods": {"nodeSelector": kwok.SELECTOR, "tolerations": [kwok.TOLERATION]},
            "watchNamespaces": self.namespaces,
        }

    def _sample(self, process: subprocess.Popen[bytes], usage: Usage) -> None:
        observed = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                usage.rss = max(usage.rss, observed.memory_info().rss)
            except psutil.NoSuchProcess:
                return
            time.sleep(0.2)


def measure(size: Size) -> Figures:
    """Runs a fleet on the running cluster, or on one of its own."""
    with ExitStack() as stack:
        stack.enter_context(_cluster())
        stack.enter_context(sandbox.network())
        kube = stack.enter_context(Kube(ADMIN))
        stack.enter_context(kwok.nodes(kube, size.nodes))
        return _Fleet(kube, size, stack).measure()


class _Fleet:
    """A fleet on simulated nodes."""

    def __init__(self, kube: Kube, size: Size, stack: ExitStack) -> None:
        self.kube, self.size, self.figures = kube, size, Figures(size)
        self.prefix = f"fleet-{secrets.token_hex(2)}"
        self.main = f"{self.prefix}-main"
        self.namespaces = [f"{self.prefix}-{number}" for number in range(size.namespaces)]
        url = f"s3://{S3_BUCKET}/{self.prefix}"
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(_namespaces(kube, [self.main, *self.namespaces]))
        access = S3Access(S3_URL, S3_REGION, S3_ACCESS_KEY, SecretStr(S3_SECRET_KEY))
        self.played: Played = stack.enter_context(playing(open_store(url, access), entries(size.tasks)))
        self.operator = Operator(folder, url, [self.main])
        self.template: tuple[Manifest, Manifest] = {}, {}
        stack.callback(self.operator.kill)

    def measure(self) -> Figures:
        """All scenarios, one after the other."""
        self.operator.start()
        self._many_runs()
        self._large_run()
        self._finished_runs()
        self._many_namespaces()
        self._plain_jobs()
        self.figures.problems = self.played.problems
        return self.figures

    def _large_run(self) -> None:
        """One large run; the operator is killed in the middle of it."""
        figures = self.figures
        before, half = self.played.pods + 1, self.size.total // 2  # the preflight's is the first
        jobs_before = set(self.played.jobs)
        self.kube.create(large_run(self.main, "large", self.size))
        figures.rate = self._rate(before, half)
        self.template = self._live_job()
        figures.rss = self.operator.usage.rss
        figures.passes_s = passes(self.operator.metrics())
        self.operator.kill()
        self.operator.start()
        self._await_pods(before + self.size.total)
        run = self._await_end(self.main, "large")
        figures.rss_restarted = self.operator.usage.rss
        figures.series = series(self.operator.metrics())
        figures.jobs = len(self.played.jobs - jobs_before) - 1
        figures.scored = int(run["status"]["progress"].partition("/")[0])

    def _live_job(self) -> tuple[Manifest, Manifest]:
        """A Job of the large run, and its ConfigMap; the operator deletes both when the Job has ended."""
        for job in self.kube.list("Job", self.main, "opsgym.dev/role=task,opsgym.dev/run=large"):
            config_map = self.kube.find("ConfigMap", job["metadata"]["name"], self.main)
            if config_map is not None:
                return job, config_map
        raise RuntimeError("the large run has no Job, although half of its trials are left")

    def _finished_runs(self) -> None:
        """The operator starts beside several finished runs of the large one's size."""
        run = self.kube.get("EvalRun", "large", self.main)
        for number in range(1, self.size.finished):
            copy = self.kube.create(large_run(self.main, f"large-{number}", self.size))
            self.kube.patch("EvalRun", f"large-{number}", self.main, {"status": run["status"]}, part="status")
            _copy_summary(self.prefix, f"{self.main}.large.{run['metadata']['uid']}", _run_id(copy))
        self.operator.kill()
        self.operator.start()
        time.sleep(10)  # what it reads at its start is read in the background
        self.figures.rss_finished = self.operator.usage.rss

    def _many_runs(self) -> None:
        """Many small runs at once in one namespace."""
        began = time.monotonic()
        names = [f"small-{number}" for number in range(self.size.runs)]
        for name in names:
            self.kube.create(small_run(self.main, name))
        for name in names:
            self._await_end(self.main, name)
        self.figures.runs_s = time.monotonic() - began
        for name in names:
            self.kube.delete("EvalRun", name, self.main)

    def _many_namespaces(self) -> None:
        """A run in each of many namespaces, all of which one operator serves."""
        self.operator.kill()
        self.operator.namespaces = [self.main, *self.namespaces]
        self.operator.start()
        began = time.monotonic()
        for namespace in self.namespaces:
            self.kube.create(small_run(namespace, "small"))
        for namespace in self.namespaces:
            self._await_end(namespace, "small")
        self.figures.namespaces_s = time.monotonic() - began

    def _plain_jobs(self) -> None:
        """Jobs with the same pods, one for each model and with as many pods at once, without the operator."""
        self.operator.kill()
        each = self.size.plain // self.size.models
        before = self.played.pods
        for number in range(self.size.models):
            for manifest in plain_job(*self.template, f"plain-{number}", each, self.size):
                self.kube.create(manifest)
        self.figures.plain_rate = self._rate(before, each * self.size.models)

    def _rate(self, before: int, count: int) -> float:
        """Pods per second from the first of some pods to the last, which it waits for."""
        self._await_pods(before + 1)
        began = time.monotonic()
        self._await_pods(before + count)
        return (count - 1) / (time.monotonic() - began)

    def _await_pods(self, count: int) -> None:
        _until(lambda: self.played.pods >= count, self.size.patience_s, f"{self.played.pods} pods instead of {count}")

    def _await_end(self, namespace: str, name: str) -> Manifest:
        return self.kube.wait("EvalRun", name, namespace, has_condition("Succeeded"), seconds=self.size.patience_s)


def entries(tasks: int) -> list[SuiteEntry]:
    """Rows of the suite: some tasks of each domain."""
    return [
        SuiteEntry(task_id=f"{domain}-{number:04}", domain=domain, gyms=[domain], digest=f"{domain} {number}")
        for domain in DOMAINS
        for number in range(tasks)
    ]


def large_run(namespace: str, name: str, size: Size) -> Manifest:
    """The large run."""
    models = [
        {"name": f"model-{number}", "inline": {"model": "replay/gold", "maxConcurrency": size.concurrency}}
        for number in range(size.models)
    ]
    spec = {
        "suite": {"builtin": "quickstart", "modes": [str(mode) for mode in list(Mode)[: size.modes]]},
        "models": models,
        "agents": [{"name": f"agent-{number}"} for number in range(size.agents)],
        "trials": size.trials,
    }
    return _evalrun(namespace, name, spec)


def small_run(namespace: str, name: str) -> Manifest:
    """A run of two trials."""
    spec = {
        "suite": {"builtin": "quickstart", "limit": 2},
        "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 2}}],
    }
    return _evalrun(namespace, name, spec)


def plain_job(job: Manifest, config_map: Manifest, name: str, trials: int, size: Size) -> list[Manifest]:
    """A Job of the same pods as one of the operator's, and its ConfigMap, without what belongs to the operator."""
    namespace, labels = job["metadata"]["namespace"], {"fleet": "plain"}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    content = json.loads(config_map["data"]["job.json"])
    refs = [{"task_id": f"{name}-{number}", "trial": 0} for number in range(trials)]
    text = json.dumps({**content, "run": f"{namespace}.{name}", "trials": refs})
    pod = job["spec"]["template"]["spec"]
    for volume in pod["volumes"]:
        if volume["name"] == "job-spec":
            volume["configMap"]["name"] = name
    spec = {
        **{field: job["spec"][field] for field in ("backoffLimitPerIndex", "podReplacementPolicy", "podFailurePolicy")},
        "completionMode": "Indexed",
        "completions": trials,
        "parallelism": min(size.concurrency, trials),
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"job.json": text}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec},
    ]


def series(text: str) -> int:
    """Number of time series in the text format of Prometheus."""
    return sum(1 for line in text.splitlines() if line and not line.startswith("#"))


def passes(text: str) -> tuple[float, float]:
    """Mean duration of a pass in seconds, and the bound of the histogram's bucket with the 99th percentile."""
    values: dict[str, float] = {}
    buckets: list[tuple[float, float]] = []
    for family in text_string_to_metric_families(text):
        if family.name == "opsgym_reconcile_duration_seconds":
            for sample in family.samples:
                if sample.name.endswith("_bucket"):
                    buckets.append((float(sample.labels["le"]), sample.value))
                else:
                    values[sample.name.rpartition("_")[2]] = sample.value
    count = values.get("count", 0.0)
    if not count:
        return math.nan, math.nan
    return values["sum"] / count, min(bound for bound, below in buckets if below >= 0.99 * count)


def _evalrun(namespace: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": spec}


def _run_id(run: Manifest) -> str:
    metadata = run["metadata"]
    return f"{metadata['namespace']}.{metadata['name']}.{metadata['uid']}"


def _copy_summary(prefix: str, source: str, target: str) -> None:
    """Copies what a finished run has in the store besides single records."""
    runs = S3_DATA / S3_BUCKET / prefix / "runs"
    skipped = shutil.ignore_patterns("cells")
    shutil.copytree(runs / source, runs / target, ignore=skipped)


@contextmanager
def _cluster() -> Iterator[None]:
    running = clusters.running()
    if running is None:
        clusters.up(owner=os.getpid())
    try:
        with sandbox.network(), Kube(ADMIN) as kube:
            for path in sorted((ROOT / "crds").glob("*.yaml")):
                definition = yaml.safe_load(path.read_text())
                kube.apply(definition)
                kube.wait(
                    "CustomResourceDefinition", definition["metadata"]["name"], None, has_condition("Established")
                )
        yield
    finally:
        if running is None:
            clusters.down()


@contextmanager
def _namespaces(kube: Kube, names: Sequence[str]) -> Iterator[None]:
    for name in names:
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "opsgym-task", "namespace": name}}
        kube.create(account)
    try:
        yield
    finally:
        for name in names:
            kube.delete("Namespace", name)


def _until(reached: Callable[[], bool], seconds: float, otherwise: str) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:.0f} s: {otherwise}")
        time.sleep(POLL_S)


def main() -> None:
    """Runs the full fleet, or a small one with the argument `small`, and prints its figures."""
    figures = measure(SMALL if sys.argv[1:] == ["small"] else FULL)
    print("\n".join(figures.table()))
    for problem in figures.problems[:10]:
        print(f"problem: {problem}", file=sys.stderr)


if __name__ == "__main__":
    main()
