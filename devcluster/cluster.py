"""The test cluster: a real Kubernetes of one node, on any Linux machine where its user is root.

Invariant: there is at most one, found by its files. It has an owner, after whose end it is removed, or none, and then
stays until `down`. What it has started is recorded, so any process can stop, restart or remove it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import httpx
import yaml
from botocore.config import Config

from devcluster import addons, binaries, certificates, components, images, packages, sandbox
from devcluster.errors import ClusterError
from devcluster.kube import Kube, KubeError, has_condition
from devcluster.places import (
    ADMIN,
    AUDIT,
    BUSYBOX_IMAGE,
    CACHE,
    CONF,
    CONTAINERD,
    COREDNS_IMAGE,
    DNS_IP,
    LOG,
    NODE,
    PAUSE_IMAGE,
    PKI,
    RECORDS,
    ROOT,
    S3_ACCESS_KEY,
    S3_BUCKET,
    S3_DATA,
    S3_REGION,
    S3_SECRET_KEY,
    S3_URL,
    STATE,
)
from devcluster.processes import Process, spawn, until

OWNER = RECORDS / "owner.json"
GUARD = RECORDS / "guard.json"
NAMES = ("etcd", "containerd", "apiserver", "controller-manager", "scheduler", "kubelet", "proxy", "policies", "s3")
PATIENCE = 60
"""Seconds a component may take until it answers. On an idle machine the slowest takes three."""
COMMAND_PATIENCE = 900
"""Seconds a call of kubectl or helm may take: those that wait for something have limits of their own."""


class Cluster:
    """The running cluster.

    Attributes:
        kubeconfig: Administrator's access, from inside the cluster's network.
        logs: Folder with the output of every component; it stays until the next cluster starts.
    """

    kubeconfig = ADMIN
    logs = LOG

    def start(self, name: str) -> None:
        """Starts a component that is stopped, and waits until it answers.

        Raises:
            ClusterError: It does not answer; the message ends with its last words.
        """
        if self.process(name) is None:
            _run_component(name)
        self.await_ready(name)

    def stop(self, name: str) -> None:
        """Kills a component. What it has written stays."""
        process = self.process(name)
        if process is not None:
            process.end()

    def restart(self, name: str) -> None:
        """Kills a component and starts it again."""
        self.stop(name)
        self.start(name)

    def process(self, name: str) -> Process | None:
        """The process of a component; None if it is stopped."""
        if name not in NAMES:
            raise ClusterError(f"unknown component {name}; known: {', '.join(NAMES)}")
        return Process.read(RECORDS / f"{name}.json")

    def await_ready(self, name: str) -> None:
        """Waits until a component answers."""
        ready = READY[name]
        if not until(lambda: self.process(name) is None or ready(), PATIENCE) or self.process(name) is None:
            state = "has died" if self.process(name) is None else f"does not answer within {PATIENCE} s"
            raise ClusterError(f"{name} {state}. The end of {LOG / f'{name}.log'}:\n{_last_words(name)}")

    def audited(self) -> list[dict[str, Any]]:
        """Every request that the API server answered, from its audit log.

        A request that was refused before its sender was known has no user name.
        """
        lines = AUDIT.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]  # the last line may be half written

    def kubectl(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Calls kubectl as an administrator."""
        return self._run("kubectl", arguments, stdin)

    def helm(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Calls helm as an administrator."""
        return self._run("helm", arguments, stdin)

    def import_image(self, archive: Path) -> None:
        """Hands the images of an OCI or Docker archive to the node."""
        images.import_image(archive)

    def _run(self, name: str, arguments: Sequence[str], stdin: str | None) -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [_enter_file(), binaries.program(name), *arguments]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, timeout=COMMAND_PATIENCE
        )


def up(archives: Sequence[Path] = (), owner: int | None = None) -> Cluster:
    """Starts the cluster.

    Args:
        archives: Images to hand to the node.
        owner: Process id; the cluster is removed when that process has ended, however it ends. None: it stays.

    Raises:
        ClusterError: It cannot be started here, or there is one.
    """
    check_machine()
    packages.ensure()
    binaries.ensure()
    with _lock():
        if sandbox.first() is not None:
            raise ClusterError("the test cluster runs already; `make cluster-down` removes it")
        _destroy()
        try:
            return _start(archives, owner)
        except BaseException:
            _destroy()
            raise


def down() -> None:
    """Removes the cluster, if there is one, or what is left of one."""
    with _lock():
        _destroy()


def sweep() -> None:
    """Removes files of clusters that were killed with their guards. It takes minutes, and a start waits for it."""
    with _lock():
        for state in CACHE.glob("cluster*/"):
            if Process.read(state / sandbox.INIT.relative_to(STATE)) is None:
                sandbox.empty(state)


def running() -> Cluster | None:
    """The cluster that runs now."""
    return None if sandbox.first() is None else Cluster()


def owner() -> Process | None:
    """The process that the running cluster belongs to; None if it stays until `down`."""
    return Process.read(OWNER)


def check_machine() -> None:
    """Says why no cluster can be started on this machine.

    Raises:
        ClusterError: None can.
    """
    if sys.platform != "linux":
        raise ClusterError("the test cluster needs Linux; `make kind-up` starts one where there is Docker")
    if os.geteuid() != 0:
        raise ClusterError("the test cluster needs root; `make kind-up` starts one where there is Docker")


def _start(archives: Sequence[Path], owner: int | None) -> Cluster:
    shutil.rmtree(LOG, ignore_errors=True)
    for folder in (LOG, CONF / "cni", RECORDS, S3_DATA):
        folder.mkdir(parents=True)
    _own(owner)
    certificates.make(PKI)
    _configure()
    sandbox.create()
    cluster = Cluster()
    _write_enter_script()
    for name in ("containerd", "etcd", "apiserver", "s3"):
        _run_component(name)
    with sandbox.network(), _images(cluster, archives):
        cluster.await_ready("apiserver")
        for name in ("controller-manager", "scheduler"):
            _run_component(name)
        with Kube(ADMIN) as kube:
            for manifest in addons.rights():
                kube.apply(manifest)
            cluster.await_ready("containerd")
            for name in ("kubelet", "proxy", "policies"):
                _run_component(name)
            for manifest in addons.manifests():
                kube.apply(manifest)
            for name in NAMES:
                cluster.await_ready(name)
            _make_bucket()
            kube.wait("Node", NODE, None, has_condition("Ready"), seconds=PATIENCE)
            kube.wait("ServiceAccount", "default", "default", lambda _: True, seconds=PATIENCE)
            # Names resolve from the first pod on.
            kube.wait("Deployment", "coredns", "kube-system", has_condition("Available"), seconds=PATIENCE)
            if not until(_answers_names, PATIENCE):
                raise ClusterError(f"kube-proxy leads no request to CoreDNS; see {LOG / 'proxy.log'}")
    return cluster


def _answers_names() -> bool:
    """Whether the Service of the name server leads to CoreDNS: kube-proxy follows some time after it is available."""
    try:
        with socket.create_connection((DNS_IP, 53), timeout=1):
            return True
    except OSError:
        return False


def _own(owner: int | None) -> None:
    """Starts the process that removes the cluster when its owner has ended."""
    if owner is None:
        return
    process = Process.of(owner)
    if process is None:
        raise ClusterError(f"process {owner}, to which the cluster should belong, has ended")
    process.write(OWNER)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    guard = spawn([sys.executable, "-m", "devcluster.guard"], LOG / "guard.log", environment)
    guard.write(GUARD)


def _destroy() -> None:
    STATE.mkdir(parents=True, exist_ok=True)
    guard = Process.read(GUARD)
    if guard is not None and guard.pid != os.getpid():
        guard.end()
    sandbox.destroy()


def _configure() -> None:
    runtime, plugins = packages.need("runc"), packages.need("host-local").parent
    contents = {
        "audit.yaml": yaml.safe_dump(components.AUDIT_POLICY),
        "kubelet.yaml": yaml.safe_dump(components.kubelet_config()),
        "proxy.yaml": yaml.safe_dump(components.proxy_config()),
        "containerd.toml": components.containerd_config(str(runtime), str(plugins)),
        "cni/10-bridge.conflist": json.dumps(components.NETWORK),
        "resolv.conf": "",
    }
    for name, content in contents.items():
        (CONF / name).write_text(content)
    program = binaries.program
    commands = {
        "etcd": components.etcd(),
        "containerd": components.containerd(),
        "apiserver": components.apiserver(program("kube-apiserver")),
        "controller-manager": components.controller_manager(program("kube-controller-manager")),
        "scheduler": components.scheduler(program("kube-scheduler")),
        "kubelet": components.kubelet(program("kubelet")),
        "proxy": components.proxy(program("kube-proxy")),
        "policies": components.policies(),
        "s3": components.s3(program("versitygw")),
    }
    for name, command in commands.items():
        # nsenter keeps the caller's PATH, which need not have the folders of system programs.
        installed = packages.find(command[0])
        path = ":".join(packages.FOLDERS)
        _command_file(name).write_text(json.dumps(["env", f"PATH={path}", str(installed or command[0]), *command[1:]]))


def _run_component(name: str) -> None:
    # The enforcer of network policies is a program of this checkout, which the cluster's mounts may hide.
    sandbox.start(name, json.loads(_command_file(name).read_text()), mounts=name != "policies")


def _command_file(name: str) -> Path:
    return CONF / f"{name}.command.json"


def _enter_file() -> Path:
    return STATE / "enter"


def _write_enter_script() -> None:
    init = sandbox.first()
    if init is None:
        raise ClusterError(f"the cluster's first process has ended; see {LOG / 'init.log'}")
    folders = {binaries.program(name).parent for name in ("kubectl", "helm")}
    _enter_file().write_text(components.enter_script(init.pid, ":".join(sorted(map(str, folders)))))
    _enter_file().chmod(0o755)


@contextmanager
def _images(cluster: Cluster, archives: Sequence[Path]) -> Iterator[None]:
    """Imports images while the control plane starts; both take a few seconds, on different resources."""
    failures: list[ClusterError] = []

    def load() -> None:
        try:
            cluster.await_ready("containerd")
            for archive in (*_own_images(), *archives):
                images.import_image(archive)
            images.pin(PAUSE_IMAGE)
        except ClusterError as error:
            failures.append(error)

    thread = threading.Thread(target=load, name="images")
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if failures:
        raise failures[0]


def _own_images() -> list[Path]:
    """Images that the cluster brings: what every pod starts with, CoreDNS, and a shell for tests."""
    busybox = packages.need("busybox")
    tools = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    links = {f"bin/{tool}": "busybox" for tool in tools if tool != "busybox"}
    pause, coredns, shell = (STATE / f"{name}.tar" for name in ("pause", "coredns", "busybox"))
    images.write_image(pause, PAUSE_IMAGE, {"busybox": busybox}, entrypoint=["/busybox", "sleep", "2000000000"])
    images.write_image(coredns, COREDNS_IMAGE, {"coredns": binaries.program("coredns")}, entrypoint=["/coredns"])
    images.write_image(shell, BUSYBOX_IMAGE, {"bin/busybox": busybox}, links=links)
    return [pause, coredns, shell]


def _make_bucket() -> None:
    client = boto3.client(
        "s3",
        endpoint_url=S3_URL,
        region_name=S3_REGION,
        aws_access_key_id=S3_ACCESS_KEY,
        aws_secret_access_key=S3_SECRET_KEY,
        config=Config(s3={"addressing_style": "path"}),
    )
    client.create_bucket(Bucket=S3_BUCKET)


def _answers(url: str) -> Callable[[], bool]:
    def check() -> bool:
        try:
            return httpx.get(url, timeout=2, trust_env=False).status_code < 500
        except httpx.TransportError:
            return False

    return check


def _api_ready() -> bool:
    try:
        with Kube(ADMIN) as kube:
            return kube.raw("GET", "/readyz", accept="*/*").text == "ok"
    except (KubeError, httpx.TransportError):
        return False


def _containerd_ready() -> bool:
    return CONTAINERD.exists() and images.ctr("version").returncode == 0


READY: dict[str, Callable[[], bool]] = {
    "etcd": _answers("http://127.0.0.1:2379/health"),
    "containerd": _containerd_ready,
    "apiserver": _api_ready,
    "controller-manager": lambda: True,
    "scheduler": lambda: True,
    "kubelet": _answers("http://127.0.0.1:10248/healthz"),
    "proxy": _answers("http://127.0.0.1:10249/healthz"),
    "policies": lambda: True,
    "s3": _answers(S3_URL),
}
"""Readiness check of each component; components without an interface are ready when they run."""


def _last_words(name: str) -> str:
    log = LOG / f"{name}.log"
    return "\n".join(log.read_text(errors="replace").splitlines()[-15:]) if log.exists() else ""


@contextmanager
def _lock() -> Iterator[None]:
    """One process at a time starts or removes the cluster."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "cluster.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
