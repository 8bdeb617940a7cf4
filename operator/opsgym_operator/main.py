"""Starts the operator.

Invariant: nothing is watched or written before this process leads its release. If one of its parts ends, or it loses
the leadership, the process ends, and the kubelet restarts it.
"""

from __future__ import annotations

import asyncio
import http
import os
import signal
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import kopf
import structlog

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.logs import configure_logs
from opsgym_core.kube.client import EVALRUNS, ApiError, Client
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.mounted import MOUNTED, Stores
from opsgym_operator.config import CONFIG, OperatorConfig, parse_config
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.controller import Controller
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.kube.leadership import Leadership, LostLeaseError
from opsgym_operator.kube.settings import kopf_settings, register_login
from opsgym_operator.kube.watch_check import WatchCheck
from opsgym_operator.memory import share_arenas, shrink_tls_buffers
from opsgym_operator.observability import webhooks
from opsgym_operator.observability.health import Health, hung_reconciles
from opsgym_operator.observability.server import serving

log = structlog.get_logger(__name__)

PORT = 9100
STARTING_TRIES = 30
"""Times that the API server may ask for another try, a second or more apart, before the operator gives up."""


async def operate(config: OperatorConfig, port: int, stores_folder: Path, webhooks_folder: Path, identity: str) -> None:
    """Stands by until it leads, and then works until it receives a signal to stop.

    Args:
        config: The configuration.
        port: Port of `/metrics`, `/healthz` and `/readyz`.
        stores_folder: Folder of the stores' credentials.
        webhooks_folder: Folder of the webhooks' addresses.
        identity: Name of this process among the replicas of the release.

    Raises:
        ApiError: The API server does not answer, or the kinds of opsgym are not installed.
        LostLeaseError: Another process leads or serves the namespaces now.
        CancelledError: A signal stopped it while it stood by.
    """
    _stop_on_signals()
    controller, metrics, health = Controller(), Metrics(), Health()
    cache, indexed = ObjectCache(controller.enqueue), asyncio.Event()
    # Two clients: renewals must neither wait for a connection nor depend on the leadership.
    async with Client(login) as lease_client:
        leadership = Leadership(lease_client, config.lease, identity, metrics)

        def ready() -> bool:
            return leadership.standing_by or (indexed.is_set() and controller.ready(cache.namespaces()))

        health.add(hung_reconciles(controller.running))
        async with Client(login, leadership.writable_s) as client, serving(metrics, health, ready, port):
            # A replica that could not work must not become ready.
            await listable(client, config.watch_namespaces)
            async with _leading(leadership) as lost:
                stores = Stores(config.store_by_name, stores_folder)
                dispatcher = webhooks.WebhookDispatcher(config.notifications.by_name, webhooks_folder)
                context = ControllerContext(client, cache, stores, config, metrics, datetime.now(UTC))
                context.dispatcher = dispatcher
                context.claim, context.leave = leadership.claim, leadership.leave
                controller.context = context
                try:
                    await _watch(context, health, indexed, lost)
                finally:
                    await controller.close()
                    await dispatcher.close()
                    stores.close()


def _stop_on_signals() -> None:
    """Ends a standby on a signal; kopf replaces the handlers once it watches.

    Without a handler the first process of a container ignores SIGTERM.
    """
    task = asyncio.current_task()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, lambda: task and task.cancel())


@asynccontextmanager
async def _leading(leadership: Leadership) -> AsyncIterator[asyncio.Event]:
    """Keeps the leadership while the context is open; yields an event that is set when it is lost.

    Raises:
        ApiError: The API server refuses access to the Lease.
        LostLeaseError: The leadership was lost.
    """
    await leadership.elect()
    lost = asyncio.Event()
    keeping = asyncio.create_task(leadership.keep(), name="leases")
    keeping.add_done_callback(lambda _: lost.set())
    try:
        yield lost
    finally:
        stopped = keeping.cancel()
        [end] = await asyncio.gather(keeping, return_exceptions=True)
        if stopped:
            await leadership.release()
    if isinstance(end, Exception):
        raise end


async def _watch(context: ControllerContext, health: Health, indexed: asyncio.Event, stop: asyncio.Event) -> None:
    """Watches and reconciles until a signal or the event stops it; sets `indexed` once every kind was listed.

    Raises:
        ApiError: The API server does not answer.
    """
    settings, registry, namespaces = kopf_settings(), kopf.OperatorRegistry(), context.config.watch_namespaces
    register_login(registry)
    context.cache.register(registry)
    watched = await listable(context.client, namespaces)
    unwatched = [name for name in namespaces if name not in watched]
    show_skipped = partial(context.metrics.show_skipped_namespaces, "list")
    show_skipped(unwatched)
    watch_check = WatchCheck(context.client, context.cache, namespaces, unwatched, show_skipped)
    health.add(lambda: watch_check.problem)
    checking = asyncio.create_task(watch_check.run(), name="watch check")
    try:
        await kopf.operator(
            registry=registry,
            settings=settings,
            standalone=True,
            clusterwide=not namespaces,
            namespaces=watched,
            ready_flag=indexed,
            stop_flag=stop,
        )
    finally:
        checking.cancel()


async def listable(
    client: Client, namespaces: Sequence[str], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
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
    share_arenas()
    shrink_tls_buffers()
    path = Path(os.environ.get("OPSGYM_OPERATOR_CONFIG", CONFIG))
    stores_folder = Path(os.environ.get("OPSGYM_STORES", MOUNTED))
    webhooks_folder = Path(os.environ.get("OPSGYM_WEBHOOKS", webhooks.MOUNTED))
    try:
        config = parse_config(path.read_text(encoding="utf-8"), str(path))
        port = int(os.environ.get("OPSGYM_METRICS_PORT", PORT))
        identity = os.environ.get("OPSGYM_POD_NAME") or f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
        asyncio.run(operate(config, port, stores_folder, webhooks_folder, identity))
    except asyncio.CancelledError:
        return 0
    except (InputError, ApiError, LostLeaseError, OSError, kopf.LoginError) as error:
        log.error("cannot run", problem=str(error))  # noqa: TRY400 - a user's mistake needs no traceback
        return 1
    return 0
