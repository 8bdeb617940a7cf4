"""Starts the operator. Invariant: if one of its parts ends, the process ends, and the kubelet restarts it."""

from __future__ import annotations

import asyncio
import http
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import kopf
import structlog

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.logs import configure_logs
from opsgym_core.kube.client import EVALRUNS, ApiError, Client
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.mounted import MOUNTED, Stores
from opsgym_operator.config import OperatorConfig, parse_config
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.controller import Controller
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.kube.settings import kopf_settings, register_login
from opsgym_operator.kube.watch_check import WatchCheck
from opsgym_operator.observability import webhooks
from opsgym_operator.observability.health import Health, hung_reconciles
from opsgym_operator.observability.server import serving

log = structlog.get_logger(__name__)

CONFIG = "/etc/opsgym/config.yaml"
PORT = 9100
STARTING_TRIES = 30
"""Times that the API server may ask for another try, a second or more apart, before the operator gives up."""


async def operate(config: OperatorConfig, port: int, stores_folder: Path, webhooks_folder: Path) -> None:
    """Runs until it receives a signal to stop.

    Args:
        config: The configuration.
        port: Port of `/metrics`, `/healthz` and `/readyz`.
        stores_folder: Folder of the stores' credentials.
        webhooks_folder: Folder of the webhooks' addresses.

    Raises:
        ApiError: The API server does not answer, or the kinds of opsgym are not installed.
    """
    settings, registry = kopf_settings(), kopf.OperatorRegistry()
    controller, metrics, health = Controller(), Metrics(), Health()
    cache, stores = ObjectCache(controller.enqueue), Stores(config.store_by_name, stores_folder)
    indexed = asyncio.Event()
    register_login(registry)
    cache.register(registry)
    namespaces = config.watch_namespaces
    async with Client(login) as client:
        watched = await listable(client, namespaces)
        unwatched = [name for name in namespaces if name not in watched]
        dispatcher = webhooks.WebhookDispatcher(config.notifications.by_name, webhooks_folder)
        controller.context = ControllerContext(
            client, cache, stores, config, metrics, datetime.now(UTC), dispatcher=dispatcher
        )
        metrics.show_skipped_namespaces(len(unwatched))
        watch_check = WatchCheck(client, cache, namespaces, unwatched, metrics.show_skipped_namespaces)
        health.add(lambda: watch_check.problem)
        health.add(hung_reconciles(controller.running))
        checking = asyncio.create_task(watch_check.run(), name="watch check")

        def ready() -> bool:
            return indexed.is_set() and controller.ready(cache.namespaces())

        try:
            async with serving(metrics, health, ready, port):
                await kopf.operator(
                    registry=registry,
                    settings=settings,
                    standalone=True,
                    clusterwide=not namespaces,
                    namespaces=watched,
                    ready_flag=indexed,
                )
        finally:
            checking.cancel()
            await controller.close()
            await dispatcher.close()
            stores.close()


async def listable(
    client: Client, namespaces: list[str], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> list[str]:
    """The namespaces whose EvalRuns the API server lists; a deleted one, whose Role is gone too, is left out.

    Args:
        client: The API server.
        namespaces: Namespaces to watch; the whole cluster if empty.
        sleep: Waits for a number of seconds.

    Raises:
        InputError: The kinds of opsgym are not installed.
        ApiError: The API server is unavailable, or refuses all namespaces.
    """
    watched: list[str] = []
    refusal: ApiError | None = None
    for namespace in namespaces or (None,):
        try:
            await _list_once_served(client, namespace, sleep)
        except ApiError as error:
            if error.missing:
                problem = Problem("", "the kind EvalRun is not installed; install the chart opsgym-crds first")
                raise InputError("cluster", [problem]) from None
            if namespace is None or not error.refused:
                raise
            refusal = error
            log.warning("a namespace is skipped", namespace=namespace, problem=str(error))
        else:
            watched += [namespace] if namespace else []
    if refusal is not None and not watched:
        raise refusal
    return watched


async def _list_once_served(client: Client, namespace: str | None, sleep: Callable[[float], Awaitable[None]]) -> None:
    """Lists EvalRuns; waits while the API server, which has just got the kind, asks for another try."""
    for further in reversed(range(STARTING_TRIES)):
        try:
            await client.list(EVALRUNS, namespace, metadata_only=True)
        except ApiError as error:
            if error.status != http.HTTPStatus.TOO_MANY_REQUESTS or not further:
                raise
            await sleep(max(error.retry_after, 1.0))
        else:
            return


def main() -> int:
    """Runs the operator as its environment variables configure it; returns the exit code."""
    configure_logs(os.environ)
    path = Path(os.environ.get("OPSGYM_OPERATOR_CONFIG", CONFIG))
    stores_folder = Path(os.environ.get("OPSGYM_STORES", MOUNTED))
    webhooks_folder = Path(os.environ.get("OPSGYM_WEBHOOKS", webhooks.MOUNTED))
    try:
        config = parse_config(path.read_text(encoding="utf-8"), str(path))
        port = int(os.environ.get("OPSGYM_METRICS_PORT", PORT))
        asyncio.run(operate(config, port, stores_folder, webhooks_folder))
    except (InputError, ApiError, OSError, kopf.LoginError) as error:
        log.error("cannot run", problem=str(error))  # noqa: TRY400 - a user's mistake needs no traceback
        return 1
    return 0
