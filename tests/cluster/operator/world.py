"""The operator as a process beside the cluster, looking after one namespace, and what a test wants to know of a run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml
from devcluster import binaries
from devcluster.kube import Kube, Manifest
from devcluster.places import ADMIN
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from tests.cluster.conftest import S3
from tests.cluster.operator.held_model import SECRET

from opsgym_core.results.load import find_run, load_run
from opsgym_core.results.score import RunResults
from opsgym_core.store.base import Store
from opsgym_core.store.location import open_store
from opsgym_core.store.s3 import S3Access

ROOT = Path(__file__).resolve().parents[3]
RUN_UID = "opsgym.dev/run-uid"
FINISHED = ("Complete", "NothingScored")
SMALL = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "1Gi"}}
"""What a container of a test's pods asks for: the node is small, and nothing is measured here."""


@dataclass
class Operator:
    """An operator that may be killed and started again.

    Attributes:
        namespace: The only one it looks after.
        folder: Where its configuration and its log are.
    """

    namespace: str
    s3: S3
    folder: Path
    kube: Kube
    config: dict[str, Any] = field(default_factory=dict)
    """Fields of the configuration that differ from the usual."""
    stores: list[str] = field(default_factory=list)
    """Names under which it knows the test's place in the S3 server."""
    name: str = "operator"
    """Its name among the replicas of its release."""
    environment: dict[str, str] = field(default_factory=dict)
    """Environment variables that differ from the usual."""
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def mount(self, store: str) -> None:
        """Gives it a store, from its next start on: the same bucket under one more name."""
        mounted = self.folder / "stores" / store
        mounted.mkdir(parents=True, exist_ok=True)
        (mounted / "access-key-id").write_text(self.s3.access_key_id)
        (mounted / "secret-access-key").write_text(self.s3.secret_access_key)
        self.stores.append(store)

    def start(self) -> None:
        """Starts it; returns when it has begun to watch, or stands by."""
        self.launch()
        self.wait(lambda: self.ask("/readyz") == 200, "is not ready")

    def launch(self) -> None:
        """Starts its process."""
        if not self.stores:
            self.mount("results")
        config = self.folder / f"{self.name}.yaml"
        config.write_text(yaml.safe_dump(self._config()))
        self.port = _free_port()
        environment = {
            **os.environ,
            "KUBECONFIG": str(ADMIN),
            "OPSGYM_OPERATOR_CONFIG": str(config),
            "OPSGYM_STORES": str(self.folder / "stores"),
            "OPSGYM_METRICS_PORT": str(self.port),
            "OPSGYM_POD_NAME": self.name,
            **self.environment,
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "opsgym_operator"], env=environment, stderr=log)

    def kill(self) -> None:
        """Ends it without warning."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Tells it to stop, as the kubelet does; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self.process is None:
            return 0
        self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        self.process = None
        return code

    @property
    def log(self) -> Path:
        """Its log, over all its lives."""
        return self.folder / f"{self.name}.log"

    def ask(self, path: str) -> int:
        """HTTP status of one of its pages; 0 if it does not answer."""
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=5, trust_env=False).status_code
        except httpx.TransportError:
            return 0

    def metrics(self) -> Mapping[str, float]:
        """Sums of its metrics by name, over all labels."""
        text = httpx.get(f"http://127.0.0.1:{self.port}/metrics", timeout=5, trust_env=False).text
        totals: dict[str, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                totals[sample.name] = totals.get(sample.name, 0.0) + sample.value
        return totals

    def wait(self, condition: Callable[[], bool], otherwise: str, seconds: float = 60) -> None:
        """Waits for something to come true.

        Raises:
            TimeoutError: It did not; with the end of the log.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            dead = self.process is not None and self.process.poll() is not None
            if dead or time.monotonic() > deadline:
                last = self.log.read_text()[-2000:]
                raise TimeoutError(f"after {seconds:.0f} s it {otherwise}; the operator's last words:\n{last}")
            time.sleep(0.2)

    def store(self) -> Store:
        """The run's store."""
        access = S3Access(self.s3.endpoint_url, self.s3.region, self.s3.access_key_id, _secret(self.s3))
        return open_store(self.s3.url, access)

    def results(self, name: str) -> RunResults:
        """What the store holds of the newest run of a name."""
        store = self.store()
        return load_run(store, find_run(store, name))

    def run(self, name: str) -> Manifest:
        """An EvalRun as it is."""
        return self.kube.get("EvalRun", name, self.namespace)

    def pods(self, name: str | None = None) -> list[Manifest]:
        """Task pods that have not ended, of one run or of all."""
        labels = "opsgym.dev/role=task" + (f",opsgym.dev/run={name}" if name else "")
        pods = self.kube.list("Pod", self.namespace, labels)
        return [pod for pod in pods if pod["status"].get("phase") not in ("Succeeded", "Failed")]

    def await_condition(self, name: str, kind: str, status: str, reason: str = "", seconds: float = 60) -> str:
        """Waits until a run has a condition; its message.

        Raises:
            TimeoutError: It has not; with the run's status.
        """

        def has_condition(run: Manifest) -> bool:
            condition = condition_of(run, kind)
            return condition.get("status") == status and (not reason or condition.get("reason") == reason)

        run = self.kube.wait("EvalRun", name, self.namespace, has_condition, seconds=seconds)
        return str(condition_of(run, kind)["message"])

    def await_end(self, name: str, seconds: float = 600) -> Manifest:
        """Waits until a run is over; the run."""
        return self.kube.wait(
            "EvalRun",
            name,
            self.namespace,
            lambda run: condition_of(run, "Succeeded").get("status") in ("True", "False"),
            seconds=seconds,
        )

    def console_config(self) -> Mapping[str, Any]:
        """Configuration of a console that shows the operator's namespace and stores."""
        return {**self._stores(), "namespaces": [self.namespace]}

    def _stores(self) -> Mapping[str, Any]:
        store = {
            "url": self.s3.url,
            "endpointUrl": self.s3.endpoint_url,
            "region": self.s3.region,
            "secret": self.s3.secret,
        }
        return {"stores": [{"name": name, **store} for name in self.stores], "defaultStore": "results"}

    def _config(self) -> dict[str, Any]:
        return {
            **self._stores(),
            "images": {"runner": "localhost/opsgym-runner:dev", "domains": "localhost/opsgym-domains:dev"},
            "pods": {"resources": {"agent": SMALL, "gym": SMALL, "postgres": SMALL}},
            "watchNamespaces": [self.namespace],
            "lease": {"namespace": self.namespace, "name": "opsgym-operator"},
            "credentials": {"allowInline": True, "secretNames": [SECRET, "provider"]},
            **self.config,
        }


def condition_of(run: Manifest, kind: str) -> Mapping[str, Any]:
    """A condition of a run; empty if it has none of the kind."""
    conditions = run.get("status", {}).get("conditions") or []
    return next((condition for condition in conditions if condition["type"] == kind), {})


def evalrun(namespace: str, name: str, **spec: Any) -> Manifest:
    """An EvalRun of two quickstart tasks with a model that solves them, unless the spec says otherwise."""
    usual = {
        "suite": {"builtin": "quickstart", "limit": 2},
        "models": [{"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 2}}],
        "limits": {"taskTimeoutSeconds": 300},
    }
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": {**usual, **spec}}


def opsgym(operator: Operator, folder: Path, *arguments: str) -> str:
    """What opsgym prints where the current context is the test's namespace."""
    config = yaml.safe_load(ADMIN.read_text())
    config["contexts"][0]["context"]["namespace"] = operator.namespace
    config["current-context"] = config["contexts"][0]["name"]
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))
    environment = {
        **os.environ,
        "PATH": f"{binaries.program('kubectl').parent}:{os.environ['PATH']}",
        "KUBECONFIG": str(folder / "kubeconfig"),
        "AWS_ENDPOINT_URL_S3": operator.s3.endpoint_url,
        "AWS_REGION": operator.s3.region,
        "AWS_ACCESS_KEY_ID": operator.s3.access_key_id,
        "AWS_SECRET_ACCESS_KEY": operator.s3.secret_access_key,
    }
    command = [str(Path(sys.executable).with_name("opsgym")), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def install_kinds(kube: Kube) -> None:
    """Brings opsgym's kinds up to date."""
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        kube.apply(yaml.safe_load(path.read_text()))
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        name = yaml.safe_load(path.read_text())["metadata"]["name"]
        kube.wait("CustomResourceDefinition", name, None, _established)


def _established(crd: Manifest) -> bool:
    conditions: Sequence[Mapping[str, str]] = crd.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


@contextmanager
def operating(namespace: str, s3: S3, folder: Path, kube: Kube, **config: Any) -> Iterator[Operator]:
    """An operator for one namespace while the context is open; afterwards nothing of its runs is left."""
    install_kinds(kube)
    metadata = {"name": "opsgym-task", "namespace": namespace}
    kube.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    operator = Operator(namespace, s3, folder, kube, config)
    operator.start()
    try:
        yield operator
    finally:
        operator.kill()
        for run in kube.list("EvalRun", namespace):
            kube.delete("EvalRun", run["metadata"]["name"], namespace)


def _secret(s3: S3) -> SecretStr:
    return SecretStr(s3.secret_access_key)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
