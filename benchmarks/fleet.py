"""`make fleet`: the operator with a large run, many runs and many namespaces, on simulated nodes.

Everything but the pods is real: API server, etcd, scheduler, Job controller, operator, S3 server. `benchmarks.fleet`
measures, `FULL` and `TENTH` say how much; tests run `TENTH`. Needs root and the prerequisites of the cluster tests.

    python -m benchmarks.fleet [full | quarter | tenth] [--trials-per-pod N]
"""

from __future__ import annotations

import argparse
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml
from devcluster import cluster as clusters
from devcluster import kwok, sandbox
from devcluster.kube import Kube, Manifest, has_condition
from devcluster.places import ADMIN, RECORDS, S3_ACCESS_KEY, S3_BUCKET, S3_DATA, S3_REGION, S3_SECRET_KEY, S3_URL
from devcluster.processes import Process
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.jobs_by_hand import Template, run_jobs
from benchmarks.simulated_pods import Played, playing
from opsgym_api.jobs.job_spec import pods_for
from opsgym_api.kinds.evalrun import Mode
from opsgym_api.tasks.suite import SuiteEntry
from opsgym_core.store.location import open_store

ROOT = Path(__file__).parents[1]
DOMAINS = ("calendar", "csm", "drive", "email", "hr", "itsm", "teams")
MIB = 1024 * 1024
POLL_S = 0.5
LEAST_RATIO = 0.9
"""Pods per second with the operator, relative to the same Jobs by hand: how much of the slots it keeps in use. Holds
where the control plane gets the cores that it needs."""
MOST_PASS_CPU_S = 0.2
MOST_MIB = 200
MOST_SERIES = 5000
MOST_JOBS = 1500


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
        per_pod: Trials that a pod plays in turn.
        finished: Further finished runs of that size, beside which the operator is started again.
        runs: Runs at once in one namespace.
        namespaces: Namespaces with a run each.
        trial_s: Seconds that a trial lasts.
        concurrency: Slots of each model.
        patience_s: Seconds that one scenario may take.
    """

    nodes: int
    models: int
    agents: int
    modes: int
    tasks: int
    trials: int
    per_pod: int
    finished: int
    runs: int
    namespaces: int
    trial_s: float = 5.0
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

    @property
    def pods(self) -> int:
        """Pods of the large run: a Job is a whole cell."""
        return self.cells * pods_for(self.tasks * self.trials, self.per_pod)

    @property
    def slots(self) -> int:
        """Pods of the large run at once."""
        return self.models * self.concurrency

    @property
    def pod_s(self) -> float:
        """Seconds that a pod of the large run lasts at least."""
        return self.per_pod * self.trial_s

    @property
    def paced(self) -> int:
        """Pods whose pace is compared: as often as possible every slot once, within the first half of the large run.

        Pods that start together end together, so a part of the slots would be more or less than its share of the time.
        """
        half = self.pods // 2
        return (half - 1) // self.slots * self.slots or half - 1


FULL = Size(
    nodes=200,
    models=10,
    agents=4,
    modes=3,
    tasks=6,
    trials=10,
    per_pod=20,
    finished=5,
    runs=50,
    namespaces=100,
)
QUARTER = Size(
    nodes=50,
    models=5,
    agents=3,
    modes=2,
    tasks=6,
    trials=10,
    per_pod=20,
    finished=5,
    runs=20,
    namespaces=20,
    patience_s=1800.0,
)
TENTH = Size(
    nodes=20,
    models=2,
    agents=3,
    modes=2,
    tasks=6,
    trials=10,
    per_pod=20,
    finished=5,
    runs=10,
    namespaces=10,
    trial_s=0.5,
    concurrency=24,
    patience_s=600.0,
)


SIZES = {"full": FULL, "quarter": QUARTER, "tenth": TENTH}


@dataclass
class Usage:
    """An operator's resource usage since its last start."""

    rss: int = 0
    """Largest resident set, in bytes."""


@dataclass(frozen=True)
class Pace:
    """How quickly pods ended."""

    rate: float = 0.0
    """Pods per second."""
    cpu_by_process: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds for each pod of the operator and of each of the cluster's processes. What plays the pods is not
    counted."""

    @property
    def cpu_s(self) -> float:
        """CPU seconds for each pod of all these processes."""
        return sum(self.cpu_by_process.values())


@dataclass
class Figures:
    """What a fleet measured."""

    size: Size
    operated: Pace = Pace()
    """Pace of the large run, see `Size.paced`."""
    by_hand: Pace = Pace()
    """Pace of the same Jobs without the operator, as many pods at once."""
    jobs: int = 0
    """Jobs of the large run."""
    passes_cpu_s: tuple[float, float] = (0.0, 0.0)
    """Mean CPU seconds of a reconcile during the first half, and the bound below which 99 of 100 are."""
    passes_s: tuple[float, float] = (0.0, 0.0)
    """The same of its duration, requests included."""
    rss: int = 0
    """Largest resident set, in bytes, until the operator was killed in the middle."""
    rss_restarted: int = 0
    """Largest resident set of the operator that was started then."""
    rss_finished: int = 0
    """The same of one that was started beside all finished runs, when it had read their figures."""
    rss_many: int = 0
    """The same of one that then served all namespaces, and all runs at once."""
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
    def most_mib(self) -> float:
        """The largest resident set of the operators of the large run and of the finished ones, in MiB."""
        return max(self.rss, self.rss_restarted, self.rss_finished) / MIB

    @property
    def ratio(self) -> float:
        """Pods per second with the operator relative to those without it."""
        return self.operated.rate / self.by_hand.rate if self.by_hand.rate else math.nan

    @property
    def cost_ratio(self) -> float:
        """CPU time of a pod without the operator relative to that with it; other work on the machine changes it
        little.
        """
        return self.by_hand.cpu_s / self.operated.cpu_s if self.operated.cpu_s else math.nan

    def beyond_bounds(self) -> list[str]:
        """The bounds of docs/scale.md that do not hold, each with what was measured."""
        bounds = {
            f"{self.size.total} trials are scored; {self.scored} are": self.scored == self.size.total,
            f"at least {LEAST_RATIO} of the pods per second by hand; {self.ratio:.2f}": self.ratio >= LEAST_RATIO,
            f"at most {MOST_PASS_CPU_S} s CPU for a pass; {self.passes_cpu_s[0]:.3f} s": self.passes_cpu_s[0]
            <= MOST_PASS_CPU_S,
            f"at most {MOST_MIB} MiB; {self.most_mib:.0f} MiB": self.most_mib <= MOST_MIB,
            f"at most {MOST_SERIES} metric series; {self.series}": self.series <= MOST_SERIES,
            f"at most {MOST_JOBS} Jobs; {self.jobs}": self.jobs <= MOST_JOBS,
        }
        return [text for text, holds in bounds.items() if not holds]

    def table(self) -> list[str]:
        """Lines of docs/scale.md."""
        size = self.size
        rows = {
            f"trials scored, in {size.cells} cells on {size.nodes} nodes": f"{self.scored} of {size.total}",
            "pods, each of so many trials": f"{size.pods}, {size.per_pod}",
            "Jobs": str(self.jobs),
            f"pods per second, each of {size.pod_s:g} s in one of {size.slots} slots": _rate(self.operated, size),
            "the same Jobs by hand": f"{_rate(self.by_hand, size)}; ratio {self.ratio:.2f}",
            "CPU time of a pod: control plane, kwok, S3 server, operator": f"{self.operated.cpu_s:.2f} s",
            "of it the operator": f"{self.operated.cpu_by_process.get('operator', 0.0):.2f} s",
            "of a pod of the same Jobs by hand": f"{self.by_hand.cpu_s:.2f} s; ratio {self.cost_ratio:.2f}",
            "CPU time of a pass": _mean_and_most(self.passes_cpu_s),
            "duration of a pass, requests included": _mean_and_most(self.passes_s),
            "memory of the operator": f"{self.rss / MIB:.0f} MiB",
            "after a restart in the middle": f"{self.rss_restarted / MIB:.0f} MiB",
            f"started beside {size.finished} finished runs of that size": f"{self.rss_finished / MIB:.0f} MiB",
            f"in {size.namespaces} more namespaces and with {size.runs} runs at once": f"{self.rss_many / MIB:.0f} MiB",
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
        # The pods put their records into the folder of the S3 server: a hundred thousand requests of the process that
        # plays them all would be most of the work of the machine.
        folder_of_run = open_store(str(S3_DATA / S3_BUCKET / self.prefix))
        self.played: Played = stack.enter_context(playing(folder_of_run, entries(size.tasks), size.trial_s))
        self.operator = Operator(folder, url, [self.main])
        self.template: Template | None = None
        stack.callback(self.operator.kill)

    def measure(self) -> Figures:
        """All scenarios, one after the other."""
        self.operator.start()
        began = time.monotonic()
        for part in (
            self._large_run,
            self._finished_runs,
            self._jobs_by_hand,
            self._many_namespaces,
            self._many_runs,
        ):
            part()
            # A full fleet takes most of an hour; whatever ends it early, some figures are known.
            sys.stderr.write(f"after {time.monotonic() - began:.0f} s: {self.figures}\n")
        self.figures.problems = self.played.problems
        return self.figures

    def _large_run(self) -> None:
        """One large run; the operator is killed in the middle of it."""
        figures = self.figures
        before, jobs_before = self.played.pods + 1, set(self.played.jobs)  # the preflight's is the first
        self.kube.create(large_run(self.main, "large", self.size))
        figures.operated = self._pace(before, lambda: None)
        self._await_pods(before + self.size.pods // 2)
        self.template = self._live_job()
        figures.rss = self.operator.usage.rss
        metrics = self.operator.metrics()
        figures.passes_s = passes(metrics, "opsgym_reconcile_duration_seconds")
        figures.passes_cpu_s = passes(metrics, "opsgym_reconcile_cpu_seconds")
        self.operator.kill()
        self.operator.start()
        run = self._await_end(self.main, "large")
        figures.rss_restarted = self.operator.usage.rss
        figures.series = series(self.operator.metrics())
        figures.jobs = len(self.played.jobs - jobs_before) - 1
        figures.scored = int(run["status"]["progress"].partition("/")[0])

    def _live_job(self) -> Template:
        """The widest Job of the large run, and its ConfigMap; the operator deletes both when the Job has ended."""
        jobs = self.kube.list("Job", self.main, "opsgym.dev/role=task,opsgym.dev/run=large")
        for job in sorted(jobs, key=lambda job: -int(job["spec"]["parallelism"])):
            config_map = self.kube.find("ConfigMap", job["metadata"]["name"], self.main)
            if config_map is not None:
                return Template(job, config_map)
        raise RuntimeError("the large run has no Job, although half of its trials are left")

    def _finished_runs(self) -> None:
        """The operator starts beside several finished runs of the large one's size."""
        run = self.kube.get("EvalRun", "large", self.main)
        source = _folder(self.prefix, run)
        # Written after the status says that the run has ended; an operator that finds it reads nothing else.
        _until((source / "figures.json").exists, self.size.patience_s, "the figures of the run's end are not written")
        self.operator.kill()
        names = [f"large-{number}" for number in range(1, self.size.finished)]
        for name in names:
            copy = self.kube.create(large_run(self.main, name, self.size))
            self.kube.patch("EvalRun", name, self.main, {"status": run["status"]}, part="status")
            # All that a finished run has in the store besides single records.
            shutil.copytree(source, _folder(self.prefix, copy), ignore=shutil.ignore_patterns("cells"))
        self.operator.start()
        _until(lambda: self._shown(["large", *names]), self.size.patience_s, "the finished runs are not in the metrics")
        self.figures.rss_finished = self.operator.usage.rss

    def _shown(self, names: Sequence[str]) -> bool:
        """Whether the operator has read these runs. One that has just started waits for the Lease of the last one."""
        lines = self.operator.metrics().splitlines()
        shown = [line for line in lines if line.startswith("opsgym_run_progress_ratio{")]
        return all(any(f'run="{name}"' in line for line in shown) for name in names)

    def _many_runs(self) -> None:
        """Many small runs at once in one namespace."""
        began = time.monotonic()
        names = [f"small-{number}" for number in range(self.size.runs)]
        for name in names:
            self.kube.create(small_run(self.main, name))
        for name in names:
            self._await_end(self.main, name)
        self.figures.runs_s = time.monotonic() - began
        self.figures.rss_many = self.operator.usage.rss
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

    def _jobs_by_hand(self) -> None:
        """The same Jobs without the operator, with as many pods at once."""
        template, size = self.template, self.size
        if template is None:
            raise RuntimeError("the Jobs by hand are copies of a Job of the large run, which is missing")
        self.operator.kill()
        before = self.played.pods
        at_once = max(1, size.slots // template.parallelism)

        def run() -> None:
            run_jobs(self.kube, template, at_once, lambda: self.played.pods > before + size.paced, size.patience_s)

        self.figures.by_hand = self._pace(before, run)

    def _pace(self, before: int, run: Callable[[], None]) -> Pace:
        """The pace of pods that follow the first one.

        Args:
            before: Pods that had ended before.
            run: Has them run, unless they do anyway.
        """
        count = self.size.paced
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run)
            self._await_pods(before + 1)
            began, cpu_s = time.monotonic(), self._cpu_s()
            self._await_pods(before + 1 + count)
            seconds, cpu_after_s = time.monotonic() - began, self._cpu_s()
            running.result()
        each = {name: (after - cpu_s[name]) / count for name, after in cpu_after_s.items() if name in cpu_s}
        return Pace(count / seconds, each)

    def _cpu_s(self) -> dict[str, float]:
        """CPU seconds so far of the operator, if it runs, and of each of the cluster's processes."""
        records = {name: Process.read(RECORDS / f"{name}.json") for name in (*clusters.NAMES, "kwok")}
        pids = {name: process.pid for name, process in records.items() if process is not None}
        operator = self.operator.process
        if operator is not None and operator.poll() is None:
            pids["operator"] = operator.pid
        return {name: sum(psutil.Process(pid).cpu_times()[:2]) for name, pid in pids.items()}

    def _await_pods(self, count: int) -> None:
        _until(lambda: self.played.pods >= count, self.size.patience_s, f"{self.played.pods} pods instead of {count}")

    def _await_end(self, namespace: str, name: str) -> Manifest:
        ended = has_condition("Succeeded")
        # Asked seldom, since each request takes from what is measured.
        _until(
            lambda: ended(self.kube.get("EvalRun", name, namespace)),
            self.size.patience_s,
            f"EvalRun {name} in namespace {namespace} has not ended",
        )
        return self.kube.get("EvalRun", name, namespace)


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
        "trialsPerPod": size.per_pod,
    }
    return _evalrun(namespace, name, spec)


def small_run(namespace: str, name: str) -> Manifest:
    """A run of two trials."""
    spec = {
        "suite": {"builtin": "quickstart", "limit": 2},
        "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 2}}],
    }
    return _evalrun(namespace, name, spec)


def series(text: str) -> int:
    """Number of time series in the text format of Prometheus."""
    return sum(1 for line in text.splitlines() if line and not line.startswith("#"))


def passes(text: str, metric: str) -> tuple[float, float]:
    """Mean of a histogram, and the bound of its bucket with the 99th percentile."""
    values: dict[str, float] = {}
    buckets: list[tuple[float, float]] = []
    for family in text_string_to_metric_families(text):
        if family.name == metric:
            for sample in family.samples:
                if sample.name.endswith("_bucket"):
                    buckets.append((float(sample.labels["le"]), sample.value))
                else:
                    values[sample.name.rpartition("_")[2]] = sample.value
    count = values.get("count", 0.0)
    if not count:
        return math.nan, math.nan
    return values["sum"] / count, min(bound for bound, below in buckets if below >= 0.99 * count)


def _rate(pace: Pace, size: Size) -> str:
    """Pods per second, and the share of the slots' time in which their pods were needed."""
    return f"{pace.rate:.1f}, {100 * pace.rate * size.pod_s / size.slots:.0f} % of the slots"


def _mean_and_most(seconds: tuple[float, float]) -> str:
    return f"{1000 * seconds[0]:.0f} ms; 99 % below {seconds[1]:g} s"


def _evalrun(namespace: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": spec}


def _folder(prefix: str, run: Manifest) -> Path:
    """Folder of a run below that of the S3 server."""
    metadata = run["metadata"]
    return S3_DATA / S3_BUCKET / prefix / "runs" / f"{metadata['namespace']}.{metadata['name']}.{metadata['uid']}"


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
    """Runs a fleet and prints its figures."""
    parser = argparse.ArgumentParser(description="Measures the operator on simulated nodes.")
    parser.add_argument("size", nargs="?", choices=SIZES, default="full")
    parser.add_argument("--trials-per-pod", type=int, metavar="N", help="trials that a pod plays in turn")
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    if arguments.trials_per_pod is not None:
        size = replace(size, per_pod=arguments.trials_per_pod)
    # Without it the process would end at once, and leave operator and nodes behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    figures = measure(size)
    print("\n".join(figures.table()))
    for problem in figures.problems[:10]:
        print(f"problem: {problem}", file=sys.stderr)
    if beyond := figures.beyond_bounds():
        sys.exit("".join(f"bound does not hold: {bound}\n" for bound in beyond))


if __name__ == "__main__":
    main()
