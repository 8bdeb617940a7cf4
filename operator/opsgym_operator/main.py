"""Starts the operator and keeps its parts together. Invariant: if one part ends, all end; the kubelet starts anew."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import kopf
import structlog

from opsgym_api.errors import InputError, Problem
from opsgym_api.logs import configure_logs
from opsgym_operator import sending
from opsgym_operator.client import EVALRUNS, ApiError, Client
from opsgym_operator.config import OperatorConfig, parse_config
from opsgym_operator.liveness import Health, WatchCheck, longest_pass
from opsgym_operator.metrics import Metrics
from opsgym_operator.reconcile import Cluster, Namespace
from opsgym_operator.sending import Sender
from opsgym_operator.server import serving
from opsgym_operator.settings import kopf_settings, register_login
from opsgym_operator.stores import MOUNTED, Stores
from opsgym_operator.watch import Watched

log = structlog.get_logger(__name__)

CONFIG = "/etc/opsgym/config.yaml"
PORT = 9100


class Workers:
    """The namespaces' workers, each made when something of its namespace is first told.

    Args:
        cluster: What they share.
    """

    def __init__(self) -> None:
        self.cluster: Cluster | None = None
        self.namespaces: dict[str, Namespace] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ready = False

    def wake(self, name: str) -> None:
        """Something of a namespace has changed."""
        if self.cluster is None:
            return
        if name not in self.namespaces:
            self.namespaces[name] = Namespace(name, self.cluster)
            self._tasks[name] = asyncio.create_task(self.namespaces[name].run(), name=f"namespace {name}")
        self.namespaces[name].wake()

    def passes(self) -> list[tuple[str, float]]:
        """Passes that are under way."""
        return [(name, worker.began) for name, worker in self.namespaces.items() if worker.began is not None]

    def ready(self, namespaces: Iterable[str]) -> bool:
        """Whether each of these namespaces was looked at once; if so, for ever.

        Otherwise each new EvalRun would hide everybody's metrics until its store is read.
        """
        self._ready = self._ready or all(self._passed(name) for name in namespaces)
        return self._ready

    def _passed(self, name: str) -> bool:
        return name in self.namespaces and self.namespaces[name].passed

    async def close(self) -> None:
        """Ends them; what is under way is safe to repeat."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def operate(config: OperatorConfig, port: int, mounted: Path, webhooks: Path) -> None:
    """Runs until told to stop.

    Args:
        config: The installation.
        port: Port of `/metrics`, `/healthz` and `/readyz`.
        mounted: Folder of the stores' credentials.
        webhooks: Folder of the webhooks' addresses.

    Raises:
        ApiError: The API server does not answer, or the kinds of opsgym are not installed.
    """
    settings, registry = kopf_settings(), kopf.OperatorRegistry()
    workers, metrics, health = Workers(), Metrics(), Health()
    watched, stores, indexed = Watched(workers.wake), Stores(config.store_by_name, mounted), asyncio.Event()
    register_login(registry)
    watched.register(registry)
    namespaces = config.watch_namespaces
    async with Client(settings) as client:
        await _require_kinds(client, namespaces)
        sender = Sender(config.notifications.by_name, webhooks)
        workers.cluster = Cluster(client, watched, stores, config, metrics, datetime.now(UTC), sender=sender)
        check = WatchCheck(client, watched, namespaces)
        health.add(lambda: check.problem)
        health.add(longest_pass(workers.passes))
        checking = asyncio.create_task(check.run(), name="watch check")
        try:
            async with serving(metrics, health, lambda: indexed.is_set() and workers.ready(watched.namespaces()), port):
                await kopf.operator(
                    registry=registry,
                    settings=settings,
                    standalone=True,
                    clusterwide=not namespaces,
                    namespaces=namespaces,
                    ready_flag=indexed,
                )
        finally:
            checking.cancel()
            await workers.close()
            await sender.close()
            stores.close()


async def _require_kinds(client: Client, namespaces: list[str]) -> None:
    try:
        for namespace in namespaces or (None,):
            await client.list(EVALRUNS, namespace, metadata_only=True)
    except ApiError as error:
        if error.missing:
            raise InputError(
                "cluster", [Problem("", "has no EvalRun kind; install the chart opsgym-crds first")]
            ) from None
        raise


def main() -> int:
    """Runs the operator as the environment says; its exit code."""
    configure_logs(os.environ)
    path = Path(os.environ.get("OPSGYM_OPERATOR_CONFIG", CONFIG))
    try:
        config = parse_config(path.read_text(encoding="utf-8"), str(path))
        asyncio.run(operate(config, int(os.environ.get("OPSGYM_METRICS_PORT", PORT)), *_mounted()))
    except (InputError, ApiError, OSError, kopf.LoginError) as error:
        log.error("cannot run", problem=str(error))  # noqa: TRY400 - a user's mistake needs no traceback
        return 1
    return 0


def _mounted() -> tuple[Path, Path]:
    """Folders in which the kubelet mounts Secrets of stores and of webhooks."""
    return Path(os.environ.get("OPSGYM_STORES", MOUNTED)), Path(os.environ.get("OPSGYM_WEBHOOKS", sending.MOUNTED))
