"""Private mount, network and process namespaces that the whole cluster runs in.

Invariant: ending the first process of the namespaces ends the cluster, whatever state it is in: the kernel kills every
process in them and drops their mounts and network devices. Only control groups are shared with the machine; `destroy`
removes those.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from devcluster.errors import ClusterError
from devcluster.places import CACHE, CONTAINERD, COVERED, FAMILIES, GROUP, LOG, NODE_IPS, RECORDS, SERVICE_NETS, STATE
from devcluster.processes import Process, spawn, until

INIT = RECORDS / "init.json"
KEEPER = RECORDS / "keeper.json"
CLONE_NEWNET = 0x40000000
SOCKET_PATH = 100
"""Characters that the path of containerd's socket may have: the kernel takes 107, and containerd adds to some."""


def create() -> None:
    """Makes the namespaces and their network.

    Raises:
        ClusterError: The kernel or the user's rights do not allow it.
    """
    if len(str(CONTAINERD)) > SOCKET_PATH:
        raise ClusterError(f"{CACHE} is too long a path for sockets; set OPSGYM_CACHE to a shorter one")
    hidden = [folder for folder in COVERED if STATE.is_relative_to(folder)]
    if hidden:
        raise ClusterError(f"the cluster cannot keep its files below {hidden[0]}; set OPSGYM_CACHE to another folder")
    ready = STATE / "ready"
    ready.unlink(missing_ok=True)
    command = [
        "unshare",
        "--mount",
        "--propagation",
        "slave",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    keeper = spawn(
        [*command, sys.executable, "-I", Path(__file__).with_name("init.py"), STATE, *COVERED], LOG / "init.log"
    )
    keeper.write(KEEPER)
    if not until(lambda: ready.exists() or not keeper.alive, 20) or not keeper.alive:
        raise ClusterError(f"cannot make the cluster's namespaces; root is needed. {LOG / 'init.log'} says why")
    keeper.children()[0].write(INIT)
    for root in _hierarchies():
        (root / GROUP).mkdir(exist_ok=True)
    _network()


def first() -> Process | None:
    """The first process of the namespaces; None if there are none."""
    return Process.read(INIT)


def inside(*command: str | Path, mounts: bool = True) -> list[str]:
    """A command line that runs another one in the namespaces.

    Args:
        command: What to run.
        mounts: Whether it sees the cluster's mounts; they hide folders in which a checkout may lie.
    """
    namespaces = ["--net", "--pid", *(["--mount"] if mounts else [])]
    return ["nsenter", "--target", str(_held().pid), *namespaces, "--", *map(str, command)]


def start(name: str, command: Sequence[str | Path], *, mounts: bool = True) -> Process:
    """Starts a process in the namespaces and records it by name.

    Args:
        name: What it is recorded as.
        command: What to run.
        mounts: See `inside`.

    Returns: The process itself, not the helper that entered the namespaces for it.
    """
    helper = spawn(inside(*command, mounts=mounts), LOG / f"{name}.log")
    until(lambda: bool(helper.children()) or not helper.alive, 10)
    children = helper.children()
    if not children:
        raise ClusterError(f"{name} did not start; see {LOG / f'{name}.log'}")
    children[0].write(RECORDS / f"{name}.json")
    return children[0]


@contextmanager
def network() -> Iterator[None]:
    """Has this thread, and threads and processes it starts, see the cluster's network and no other."""
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        cluster = os.open(f"/proc/{_held().pid}/ns/net", os.O_RDONLY)
        try:
            _set_network(cluster)
        finally:
            os.close(cluster)
        try:
            yield
        finally:
            _set_network(own)
    finally:
        os.close(own)


def destroy() -> None:
    """Ends every process in the namespaces and removes their control groups and files, but not the logs."""
    for record in (INIT, KEEPER):
        process = Process.read(record)
        if process is not None:
            process.end()
        record.unlink(missing_ok=True)
    if not until(_remove_groups, 20):
        raise ClusterError(f"control groups are left: {', '.join(map(str, left_groups()))}")
    empty(STATE)


def empty(state: Path) -> None:
    """Removes the files of a cluster that has ended, but not its logs."""
    for path in state.glob("*"):
        if path.name != LOG.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def left_groups() -> list[Path]:
    """Control groups of the cluster that are there."""
    return [group for root in _hierarchies() if (group := root / GROUP).is_dir()]


def _hierarchies() -> list[Path]:
    """Where the kernel's control groups are: one place, or with version 1 one for each controller."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(place) for _, place, kind, *_ in mounts if kind in ("cgroup", "cgroup2")]


def _held() -> Process:
    process = first()
    if process is None:
        raise ClusterError("the cluster is not running; `make cluster-up` starts it")
    return process


def _network() -> None:
    """A node without a way out: no packet of the cluster can reach any network.

    Not every kernel has dummy devices, so one end of a veth pair is the node's interface. What no rule rewrites is
    dropped at the other end; what has no route is refused at once.
    """
    length = {4: "32", 6: "128 nodad"}
    routes = "".join(
        f"""
    ip -{version} addr add {address}/{length[version]} dev node0
    ip -{version} route add {services} dev node0 src {address}"""
        for version, address, services in zip(FAMILIES, NODE_IPS, SERVICE_NETS, strict=True)
    )
    script = f"""
    ip link set lo up
    ip link add node0 type veth peer name sink0
    ip link set node0 arp off up
    ip link set sink0 arp off up{routes}
    ip route add unreachable default
    ip -6 route add unreachable default
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
    echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet
    echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables
    echo 1 > /proc/sys/net/bridge/bridge-nf-call-ip6tables
    """
    done = subprocess.run(inside("sh", "-ec", script), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"cannot set up the cluster's network: {done.stderr.strip()}")


def _set_network(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise ClusterError(f"cannot enter the cluster's network: {os.strerror(ctypes.get_errno())}")


def _remove_groups() -> bool:
    for group in left_groups():
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                Path(folder).rmdir()
            except OSError:  # a process in it is still ending
                return False
    return True
