"""A real Prometheus on this machine, for tests of metrics, rules and dashboards.

Invariant: it listens on the loopback only, keeps its data in the folder that the test gives, and ends with its context.
Where Debian's package `prometheus` is missing its tests are skipped, but never in CI.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from devcluster import packages
from devcluster.errors import ClusterError
from devcluster.processes import until

DEADLINE_S = 60.0
"""How long a start, or what a test waits for, may take on a loaded machine."""

Series = dict[str, Any]
"""`metric` has the labels; `value`, or `values` of a range, time and value."""


@dataclass(frozen=True)
class Prometheus:
    """A running server.

    Args:
        url: Its address.
    """

    url: str

    def query(self, expression: str, at: float | None = None) -> list[Series]:
        """Series that an expression gives, now or at a Unix time.

        Raises:
            ClusterError: Prometheus refuses the expression.
        """
        series: list[Series] = self._ask("query", query=expression, time=at)["result"]
        return series

    def query_range(self, expression: str, start: float, end: float, step: float) -> list[Series]:
        """Series that an expression gives from `start` to `end` (Unix times), every `step` seconds.

        Raises:
            ClusterError: Prometheus refuses the expression.
        """
        series: list[Series] = self._ask("query_range", query=expression, start=start, end=end, step=step)["result"]
        return series

    def value(self, expression: str, at: float | None = None) -> float | None:
        """Value of the only series that an expression gives; None if there is none."""
        series = self.query(expression, at)
        if len(series) > 1:
            raise ClusterError(f"{expression!r} gives {len(series)} series")
        return float(series[0]["value"][1]) if series else None

    def until(self, holds: Callable[[Prometheus], bool], what: str) -> None:
        """Asks again and again until something holds.

        Raises:
            ClusterError: It does not within a minute.
        """
        if not until(lambda: holds(self), DEADLINE_S):
            raise ClusterError(f"Prometheus does not show within {DEADLINE_S:.0f} s: {what}")

    def _ask(self, what: str, **parameters: Any) -> dict[str, Any]:
        given = {name: value for name, value in parameters.items() if value is not None}
        answer = httpx.get(f"{self.url}/api/v1/{what}", params=given, trust_env=False, timeout=30)
        content: dict[str, Any] = answer.json()
        if content["status"] != "success":
            raise ClusterError(f"Prometheus refuses {parameters['query']!r}: {content['error']}")
        data: dict[str, Any] = content["data"]
        return data


def free_port() -> int:
    """A free port of the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def program(name: str) -> Path:
    """Where `prometheus` or `promtool` is; skips the test where it is not, but never in CI."""
    try:
        return packages.need(name)
    except ClusterError as error:
        if "CI" in os.environ:
            raise
        pytest.skip(str(error))


@contextmanager
def prometheus(folder: Path, targets: Mapping[str, str], rules: Sequence[Path] = ()) -> Iterator[Prometheus]:
    """Prometheus, looking at `ADDRESS/metrics` of each target every two seconds.

    Args:
        folder: Where it writes. Blocks in its `data` are served, too.
        targets: Address (`HOST:PORT`) by job.
        rules: Rule files, evaluated as often.
    """
    port = free_port()
    config = {
        "global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"},
        "rule_files": [str(path) for path in rules],
        "scrape_configs": [
            {"job_name": job, "honor_labels": True, "static_configs": [{"targets": [address]}]}
            for job, address in targets.items()
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    options = {
        "config.file": folder / "config.yaml",
        "storage.tsdb.path": folder / "data",
        "web.listen-address": f"127.0.0.1:{port}",
    }
    command = [str(program("prometheus")), *(f"--{name}={value}" for name, value in options.items())]
    log = folder / "prometheus.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            server = Prometheus(f"http://127.0.0.1:{port}")
            until(lambda: process.poll() is not None or _ready(server.url), DEADLINE_S)
            if not _ready(server.url):
                raise ClusterError(f"Prometheus does not start: {log.read_text()[-2000:]}")
            yield server
        finally:
            process.terminate()


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/-/ready", trust_env=False, timeout=2).is_success
    except httpx.TransportError:
        return False
