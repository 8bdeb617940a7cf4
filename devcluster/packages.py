"""Programs from Debian packages: located, or installed where permissions allow it.

Invariant: an installation starts no service. Without permission to install, the error names what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devcluster.errors import ClusterError

PACKAGES = {
    "etcd": "etcd-server",
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "host-local": "containernetworking-plugins",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "busybox": "busybox-static",
    "prometheus": "prometheus",
    "promtool": "prometheus",
}
"""Debian's package by program."""
FOLDERS = (
    *os.environ.get("PATH", "").split(":"),
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/usr/lib/cni",
    "/opt/cni/bin",
)
POLICY = Path("/usr/sbin/policy-rc.d")


def find(program: str) -> Path | None:
    """Path of a program; None if it is not installed."""
    path = shutil.which(program, path=":".join(FOLDERS))
    return None if path is None else Path(path)


def need(program: str) -> Path:
    """Path of a program.

    Raises:
        ClusterError: The program is not installed.
    """
    path = find(program)
    if path is None:
        raise ClusterError(
            f"{program} is missing; install Debian's package {PACKAGES[program]}, or its equivalent elsewhere"
        )
    return path


def ensure() -> None:
    """Installs what is missing.

    Raises:
        ClusterError: Something is missing and cannot be installed here.
    """
    missing = sorted({package for program, package in PACKAGES.items() if find(program) is None})
    if not missing:
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise ClusterError(
            f"the test cluster needs programs of these Debian packages: {' '.join(missing)}. "
            "Install them, or run this as root where apt-get may install them."
        )
    sys.stderr.write(f"Installing Debian's {' '.join(missing)} for the test cluster …\n")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with _no_services():
        for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *missing]):
            done = subprocess.run([apt, *command], check=False, env=environment, stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                raise ClusterError(f"apt-get {command[0]} failed with exit code {done.returncode}; its output is above")


@contextmanager
def _no_services() -> Iterator[None]:
    """Debian's packages start their services when installed; this file, where present, decides whether they may."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()
