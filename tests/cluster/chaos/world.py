"""Three tenants of one installation: an operator of two replicas, and a store, a webhook and quotas that can fail.

Invariant: what a test asks for here is asked for again while the API server is away, since faults are the purpose. A
replica whose process ends is started again, as the kubelet does it.
"""

from __future__ import annotations

import http
import secrets
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import yaml
from devcluster.cluster import Cluster
from devcluster.kube import Kube, KubeError, Manifest
from devcluster.places import ADMIN, S3_ACCESS_KEY, S3_BUCKET, S3_REGION, S3_SECRET_KEY
from tests.cluster.chaos.servers import Relay, StoreProxy, WebhookReceiver
from tests.cluster.conftest import S3, remove_namespace, s3_client
from tests.cluster.operator.world import Operator, condition_of, evalrun, install_kinds

T = TypeVar("T")
LEASE = "opsgym-operator"
OK = 200
POLL_S = 0.25
PATIENCE_S = 600.0
"""Seconds within which anything comes true on a machine that does other things, too."""
QUOTA = {"pods": "20", "count/configmaps": "200"}
"""What each tenant's namespace may have while no fault concerns it."""
STORED, NOTIFIED, LIMITED = "stored", "notified", "limited"
"""The tenant with a store of its own, and two that share a store: one with a webhook, one without."""
TENANTS = (STORED, NOTIFIED, LIMITED)
TASKS = 3
TRIALS = 2
"""Trials of each task."""


class Stopped(Exception):
    """Another part of the test has failed."""


@dataclass
class Tenant:
    """A namespace whose user starts one run after the other.

    Attributes:
        name: Its name in the test.
        namespace: Its namespace.
        store: Name of its store in the operator's configuration.
        proxy: The way to its store.
        spec: Fields of its runs that differ from the usual.
        ceiling: Most simultaneous pods of its model.
        created: Number of runs so far.
    """

    name: str
    namespace: str
    store: str
    proxy: StoreProxy
    spec: Mapping[str, Any]
    ceiling: int
    created: int = 0

    def manifest(self, name: str) -> Manifest:
        """A run."""
        suite = {"builtin": "quickstart", "limit": TASKS}
        models = [{"name": "gold", "ref": "gold"}]
        limits = {"taskTimeoutSeconds": 300, "infraRetries": 10}
        usual = {"suite": suite, "models": models, "limits": limits, "trials": TRIALS, "resultStore": self.store}
        return evalrun(self.namespace, name, **{**usual, **self.spec})

    @property
    def scores(self) -> int:
        """Trials whose score its store has taken."""
        # A copy, since threads of the proxy append.
        return sum(put.written and put.run.startswith(f"{self.namespace}.") for put in list(self.proxy.scores))


@dataclass
class World:
    """The installation and its tenants.

    Attributes:
        over: Set when no further run is to be started, or a part of the test has failed.
        failed: Set when a part of the test has failed.
        log: What happened when.
    """

    cluster: Cluster
    kube: Kube
    folder: Path
    release: str
    tenants: Mapping[str, Tenant]
    replicas: Sequence[Replica]
    proxies: Mapping[str, StoreProxy]
    receiver: WebhookReceiver
    over: threading.Event = field(default_factory=threading.Event)
    failed: threading.Event = field(default_factory=threading.Event)
    log: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the tenants began."""
        return time.monotonic() - self.began

    def note(self, text: str) -> None:
        """Adds a line to the log of the test."""
        self.log.append(f"{self.seconds:6.1f} s  {text}")
        print(self.log[-1], flush=True)

    def insist(self, request: Callable[[], T], seconds: float = PATIENCE_S) -> T:
        """Repeats a request while the API server is away.

        Raises:
            KubeError: It was refused.
            TimeoutError: The API server did not come back.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                return request()
            except (KubeError, httpx.TransportError) as error:
                if isinstance(error, KubeError) and not _is_passing(error):
                    raise
                if time.monotonic() > deadline:
                    raise TimeoutError(f"the API server is away for {seconds:.0f} s: {error}") from error
            self.pause(POLL_S)

    def wait(
        self, condition: Callable[[], bool], otherwise: str | Callable[[], str], seconds: float = PATIENCE_S
    ) -> None:
        """Waits for something to come true.

        Raises:
            TimeoutError: It did not.
            Stopped: Another part of the test has failed.
        """
        deadline = time.monotonic() + seconds
        while not self.insist(condition, max(1.0, deadline - time.monotonic())):
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {seconds:.0f} s {otherwise() if callable(otherwise) else otherwise}")
            self.pause(POLL_S)

    def pause(self, seconds: float) -> None:
        """Lets time pass.

        Raises:
            Stopped: Another part of the test has failed.
        """
        if self.failed.wait(max(0.0, seconds)):
            raise Stopped

    # The operator

    def leads(self, replica: Replica) -> bool:
        """Whether a replica holds the Lease, dead or alive."""
        lease = self.kube.find("Lease", LEASE, self.release)
        return lease is not None and lease["spec"].get("holderIdentity") == replica.operator.name

    def await_replicas(self) -> tuple[Replica, Replica]:
        """Waits until one replica leads and the other stands by; returns both in this order."""
        replicas: list[Replica] = []

        def settled() -> bool:
            replicas[:] = sorted(self.replicas, key=lambda replica: not self.leads(replica))
            leader, standby = replicas
            # A leader whose metrics wait for a store that fails is at work, but not ready.
            return self.leads(leader) and leader.operator.ask("/healthz") == standby.operator.ask("/readyz") == OK

        self.wait(settled, "the operator has not a healthy leader and a standby that is ready")
        return replicas[0], replicas[1]

    # Runs

    def create(self, manifest: Manifest) -> None:
        """Makes an object, once its predecessor of the same name is gone."""
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        namespace = manifest["metadata"]["namespace"]

        def created() -> bool:
            try:
                self.kube.create(manifest)
            except KubeError as error:
                if error.code != http.HTTPStatus.CONFLICT:
                    raise
                existing = self.kube.find(kind, name, namespace)
                # The answer to an earlier request may have been lost.
                return existing is not None and "deletionTimestamp" not in existing["metadata"]
            return True

        self.wait(created, f"{kind} {namespace}/{name} cannot be created")

    def runs(self, tenant: Tenant) -> list[Manifest]:
        """The tenant's runs."""
        return self.insist(lambda: self.kube.list("EvalRun", tenant.namespace))

    def reported(self, tenant: Tenant) -> int:
        """Scored trials that the statuses of the tenant's runs report."""
        progress = [str(run.get("status", {}).get("progress", "")) for run in self.runs(tenant)]
        return sum(int(text.partition("/")[0]) for text in progress if text)

    def keep_running(self, tenant: Tenant) -> None:
        """Starts one run after the other until the end of the faults."""
        while not self.over.is_set():
            name = f"r{tenant.created}"
            tenant.created += 1
            self.create(tenant.manifest(name))
            self.await_end(tenant, name)

    def await_end(self, tenant: Tenant, name: str) -> None:
        """Waits until a run is over."""
        seen: list[Any] = []

        def ended() -> bool:
            run = self.kube.find("EvalRun", name, tenant.namespace)
            seen[:] = [run and run.get("status")]
            return run is not None and condition_of(run, "Succeeded").get("status") in ("True", "False")

        self.wait(ended, lambda: f"run {tenant.namespace}/{name} has not ended: {seen}", 2 * PATIENCE_S)


@dataclass
class Replica:
    """A replica of the operator with its own way to the API server, started again whenever it ends.

    Attributes:
        operator: Its process.
        relay: Its way to the API server.
        ends: Exit code of each of its lives.
    """

    operator: Operator
    relay: Relay
    ends: list[int] = field(default_factory=list)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to its process."""
        if self.operator.process is not None:
            self.operator.process.send_signal(number)

    def supervise(self) -> None:
        """Starts it again if its process has ended."""
        process = self.operator.process
        code = None if process is None else process.poll()
        if code is not None:
            self.ends.append(code)
            self.operator.launch()


def _is_passing(error: KubeError) -> bool:
    """Whether the same request may succeed later."""
    return error.code >= http.HTTPStatus.INTERNAL_SERVER_ERROR or error.code == http.HTTPStatus.TOO_MANY_REQUESTS


@contextmanager
def chaos_world(cluster: Cluster, kube: Kube, folder: Path) -> Iterator[World]:
    """Three tenants without runs and an operator that serves them, while the context is open."""
    with ExitStack() as stack:
        suffix = secrets.token_hex(3)
        install_kinds(kube)
        proxies = {name: StoreProxy() for name in ("own", "results")}
        receiver = WebhookReceiver()
        for server in (*proxies.values(), receiver):
            stack.callback(server.close)
        release = f"release-{suffix}"
        _make_namespace(stack, kube, release)
        specs: Mapping[str, Mapping[str, Any]] = {
            STORED: {},
            NOTIFIED: {"trialsPerPod": 3, "notify": ["hook"]},
            LIMITED: {"trialsPerPod": 2},
        }
        tenants = {}
        for name, spec in specs.items():
            store = "own" if name == STORED else "results"
            # A run of two pods at a time, and runs of one that plays several trials: the node has few cores.
            ceiling = 1 if "trialsPerPod" in spec else 2
            tenants[name] = Tenant(name, f"{name}-{suffix}", store, proxies[store], spec, ceiling)
            _make_tenant(stack, kube, tenants[name])
        replicas = [
            _make_replica(stack, kube, folder, name, release, tenants, receiver) for name in ("first", "second")
        ]
        world = World(cluster, kube, folder, release, tenants, replicas, proxies, receiver)
        stack.enter_context(_supervised(world))
        world.await_replicas()
        world.began = time.monotonic()
        yield world


@contextmanager
def _supervised(world: World) -> Iterator[None]:
    """Starts replicas that end again, while the context is open."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(1.0):
            for replica in world.replicas:
                replica.supervise()

    for replica in world.replicas:
        replica.operator.launch()
    thread = threading.Thread(target=work, name="supervisor")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        for replica in world.replicas:
            replica.operator.kill()


def _make_namespace(stack: ExitStack, kube: Kube, name: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    stack.callback(remove_namespace, kube, name)
    kube.wait("ServiceAccount", "default", name, lambda _: True)


def _make_tenant(stack: ExitStack, kube: Kube, tenant: Tenant) -> None:
    _make_namespace(stack, kube, tenant.namespace)

    def create(kind: str, name: str, version: str = "v1", **fields: Any) -> None:
        metadata = {"name": name, "namespace": tenant.namespace}
        kube.create({"apiVersion": version, "kind": kind, "metadata": metadata, **fields})

    create("ServiceAccount", "opsgym-task")
    create("Secret", tenant.store, stringData={"access-key-id": S3_ACCESS_KEY, "secret-access-key": S3_SECRET_KEY})
    create("ResourceQuota", "quota", spec={"hard": QUOTA})
    gold = {"model": "replay/gold", "maxConcurrency": tenant.ceiling}
    create("EvalModel", "gold", "opsgym.dev/v1alpha1", spec=gold)


def _make_replica(
    stack: ExitStack,
    kube: Kube,
    folder: Path,
    name: str,
    release: str,
    tenants: Mapping[str, Tenant],
    receiver: WebhookReceiver,
) -> Replica:
    document = yaml.safe_load(ADMIN.read_text())
    server = urlsplit(document["clusters"][0]["cluster"]["server"])
    relay = Relay((server.hostname or "", server.port or 443))
    stack.callback(relay.close)
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{relay.port}"
    kubeconfig = folder / f"{name}.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document))
    hook = folder / "webhooks" / "hook"
    hook.mkdir(parents=True, exist_ok=True)
    (hook / "url").write_text(receiver.url)
    environment = {"KUBECONFIG": str(kubeconfig), "OPSGYM_WEBHOOKS": str(folder / "webhooks")}
    any_tenant = next(iter(tenants.values()))
    s3 = S3(f"s3://{S3_BUCKET}/{release}", any_tenant.store, s3_client(), any_tenant.proxy.url)
    operator = Operator(release, s3, folder, kube, _config(release, tenants), name=name, environment=environment)
    for store in {tenant.store for tenant in tenants.values()}:
        operator.mount(store)
    return Replica(operator, relay)


def _config(release: str, tenants: Mapping[str, Tenant]) -> dict[str, Any]:
    """Fields of the operator's configuration that differ from those of other tests."""
    users: defaultdict[str, list[Tenant]] = defaultdict(list)
    for tenant in tenants.values():
        users[tenant.store].append(tenant)
    stores = [
        {
            "name": name,
            "url": f"s3://{S3_BUCKET}/{release}/{name}",
            "endpointUrl": served[0].proxy.url,
            "region": S3_REGION,
            "secret": name,
            "namespaces": [tenant.namespace for tenant in served],
        }
        for name, served in users.items()
    ]
    hook = {"name": "hook", "secret": "hook", "events": ["finished", "stalled"], "format": "json"}
    return {
        "stores": stores,
        "defaultStore": "results",
        "watchNamespaces": [tenant.namespace for tenant in tenants.values()],
        "lease": {"namespace": release, "name": LEASE},
        "credentials": {"allowInline": False},
        "notifications": {"webhooks": [hook]},
    }
