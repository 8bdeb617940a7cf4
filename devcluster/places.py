"""Where the test cluster keeps its files, and the addresses it uses.

Invariant: there is one cluster for each cache folder and address family, and for each process of a test run that has
several. Everything it writes lies in `STATE`, and everything it runs lies in namespaces of its own, so clusters do not
meet.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("OPSGYM_CACHE") or Path.home() / ".cache" / "opsgym").absolute()
PROGRAMS = CACHE / "bin"
FAMILY = os.environ.get("OPSGYM_CLUSTER_FAMILY") or "ipv4"
"""Address family of nodes, pods and Services: `ipv4` or `ipv6`. Only loopback has addresses of both."""
IPV6 = {"ipv4": False, "ipv6": True}[FAMILY]
STATE = CACHE / "-".join(filter(None, ("cluster", os.environ.get("PYTEST_XDIST_WORKER"), "ipv6" if IPV6 else None)))
PKI = STATE / "pki"
CONF = STATE / "conf"
LOG = STATE / "log"
RECORDS = STATE / "processes"
ADMIN = PKI / "admin.kubeconfig"
AUDIT = LOG / "audit.jsonl"
CONTAINERD = STATE / "containerd.sock"
GROUP = f"opsgym-{hashlib.sha256(str(STATE).encode()).hexdigest()[:8]}"
"""Control group that holds everything of the cluster's pods."""
S3_DATA = STATE / "s3"

COVERED = ("/run", "/var/lib", "/var/log")
"""Folders of the machine that the cluster sees empty, since Kubernetes writes there under fixed names."""

NODE = "node1"
NODE_IP = "fd13::2" if IPV6 else "10.213.0.2"
NODE_HOST = f"[{NODE_IP}]" if IPV6 else NODE_IP
"""The node's address as URLs have it."""
POD_NET = "fd44::/64" if IPV6 else "10.244.0.0/24"
SERVICE_NET = "fd96::/112" if IPV6 else "10.96.0.0/16"
API_SERVICE_IP = "fd96::1" if IPV6 else "10.96.0.1"
DNS_IP = "fd96::a" if IPV6 else "10.96.0.10"
EVERYWHERE = "::" if IPV6 else "0.0.0.0"
"""Address of servers that listen on every interface."""
S3_PORT = 7070
S3_URL = f"http://{NODE_HOST}:{S3_PORT}"
S3_BUCKET = "opsgym"
S3_REGION = "us-east-1"
S3_ACCESS_KEY = "opsgym-test"
S3_SECRET_KEY = "only-for-tests"
PAUSE_IMAGE = "localhost/pause:1"
BUSYBOX_IMAGE = "localhost/busybox:1"
COREDNS_IMAGE = "localhost/coredns:1"
