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
"""Addresses of nodes and pods: `ipv4`, `ipv6`, or `dual` for both. Loopback always has both."""
FAMILIES = {"ipv4": (4,), "ipv6": (6,), "dual": (4, 6)}[FAMILY]
"""Versions of IP, the primary one first: a Service has an address of that one unless it asks for more."""
STATE = CACHE / "-".join(
    filter(None, ("cluster", os.environ.get("PYTEST_XDIST_WORKER"), FAMILY if 6 in FAMILIES else None))
)
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
NODE_IPS = tuple({4: "10.213.0.2", 6: "fd13::2"}[version] for version in FAMILIES)
NODE_IP = NODE_IPS[0]
NODE_HOST = f"[{NODE_IP}]" if FAMILIES[0] == 6 else NODE_IP
"""The node's address as URLs have it."""
POD_NETS = tuple({4: "10.244.0.0/24", 6: "fd44::/64"}[version] for version in FAMILIES)
SERVICE_NETS = tuple({4: "10.96.0.0/16", 6: "fd96::/112"}[version] for version in FAMILIES)
API_SERVICE_IP = {4: "10.96.0.1", 6: "fd96::1"}[FAMILIES[0]]
DNS_IP = {4: "10.96.0.10", 6: "fd96::a"}[FAMILIES[0]]
EVERYWHERE = "::" if 6 in FAMILIES else "0.0.0.0"
"""Address of servers that listen on every interface, with IPv4 too where there are both."""
S3_PORT = 7070
S3_URL = f"http://{NODE_HOST}:{S3_PORT}"
S3_BUCKET = "opsgym"
S3_REGION = "us-east-1"
S3_ACCESS_KEY = "opsgym-test"
S3_SECRET_KEY = "only-for-tests"
PAUSE_IMAGE = "localhost/pause:1"
BUSYBOX_IMAGE = "localhost/busybox:1"
COREDNS_IMAGE = "localhost/coredns:1"
