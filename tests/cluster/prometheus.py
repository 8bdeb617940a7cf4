"""A real Prometheus that scrapes what a test names.

Invariant: it runs in the cluster's namespaces, so it ends with the cluster at the latest.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import yaml
from devcluster import packages, sandbox
from devcluster.errors import ClusterError
from devcluster.places import LOG, NODE_IP, RECORDS, STATE
from devcluster.processes import Process, until
from tests.support.prometheus import Prometheus

ADDRESS = f"{NODE_IP}:9090"
FOLDER = STATE / "prometheus"
RECORD = RECORDS / "prometheus.json"


@contextmanager
def scraping(*targets: str) -> Iterator[Prometheus]:
    """Prometheus, looking at `HOST:PORT/metrics` of each target every second."""
    _end()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [{"job_name": "tests", "static_configs": [{"targets": list(targets)}]}],
    }
    (FOLDER / "config.yaml").write_text(yaml.safe_dump(config))
    options = {
        "config.file": FOLDER / "config.yaml",
        "storage.tsdb.path": FOLDER / "data",
        "web.listen-address": ADDRESS,
    }
    arguments = [f"--{name}={value}" for name, value in options.items()]
    sandbox.start("prometheus", [packages.need("prometheus"), *arguments])
    try:
        if not until(_ready, 30):
            raise ClusterError(f"Prometheus does not answer; see {LOG / 'prometheus.log'}")
        yield Prometheus(f"http://{ADDRESS}")
    finally:
        _end()


def _end() -> None:
    process = Process.read(RECORD)
    if process is not None:
        process.end()


def _ready() -> bool:
    try:
        return httpx.get(f"http://{ADDRESS}/-/ready", trust_env=False, timeout=2).is_success
    except httpx.TransportError:
        return False
