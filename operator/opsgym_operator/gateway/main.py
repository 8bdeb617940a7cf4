"""Starts the store gateway.

Invariant: it changes nothing in the cluster and keeps no state that a restart would lose, so replicas need no leader.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import kopf
import structlog

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.logs import configure_logs
from opsgym_core.kube.client import Client
from opsgym_core.kube.login import login
from opsgym_core.store.mounted import MOUNTED, Stores
from opsgym_operator.config import CONFIG, OperatorConfig, parse_config
from opsgym_operator.gateway.certificate import ServerCertificate
from opsgym_operator.gateway.metrics import GatewayMetrics, metrics_app
from opsgym_operator.gateway.server import Gateway
from opsgym_operator.gateway.sessions import Sessions
from opsgym_operator.sockets import serving_app

log = structlog.get_logger(__name__)

PORT = 8080
METRICS_PORT = 9100
SHUTDOWN_S = 20.0
"""Seconds that requests have to end when the gateway stops."""


@dataclass(frozen=True)
class Ports:
    """Ports to listen on."""

    pods: int
    """For requests of pods."""
    metrics: int
    """For Prometheus, so that a NetworkPolicy can keep pods of runs from it."""


async def serve(
    config: OperatorConfig,
    audience: str,
    ports: Ports,
    stores_folder: Path,
    certificate: ServerCertificate | None = None,
) -> None:
    """Serves until a signal stops it.

    Args:
        config: The installation's configuration.
        audience: Audience of the pods' tokens.
        ports: Ports to listen on.
        stores_folder: Folder of the stores' credentials.
        certificate: Certificate for the requests of pods; plain HTTP without one.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stores = Stores(config.store_by_name, stores_folder)
    try:
        async with Client(login) as client:
            metrics = GatewayMetrics()
            app = Gateway(Sessions(client, config, audience), stores, metrics).app()
            async with AsyncExitStack() as serving:
                await serving.enter_async_context(serving_app(metrics_app(metrics), ports.metrics))
                tls = None if certificate is None else certificate.context
                await serving.enter_async_context(serving_app(app, ports.pods, SHUTDOWN_S, tls))
                if certificate is not None:
                    serving.callback(asyncio.create_task(certificate.follow()).cancel)
                log.info("serving", audience=audience)
                await stop.wait()
    finally:
        stores.close()


def main() -> int:
    """Runs the gateway as its environment variables configure it; returns the exit code."""
    configure_logs(os.environ)
    stores_folder = Path(os.environ.get("OPSGYM_STORES", MOUNTED))
    try:
        config, audience = _configuration(Path(os.environ.get("OPSGYM_OPERATOR_CONFIG", CONFIG)))
        ports = Ports(
            int(os.environ.get("OPSGYM_GATEWAY_PORT", PORT)), int(os.environ.get("OPSGYM_METRICS_PORT", METRICS_PORT))
        )
        folder = os.environ.get("OPSGYM_GATEWAY_TLS")
        certificate = ServerCertificate(Path(folder)) if folder else None
        asyncio.run(serve(config, audience, ports, stores_folder, certificate))
    except (InputError, OSError, kopf.LoginError) as error:
        log.error("cannot run", problem=str(error))  # noqa: TRY400 - a user's mistake needs no traceback
        return 1
    return 0


def _configuration(path: Path) -> tuple[OperatorConfig, str]:
    """The installation's configuration, and the audience of the pods' tokens.

    Raises:
        InputError: The configuration is invalid, or has no gateway.
        OSError: It cannot be read.
    """
    config = parse_config(path.read_text(encoding="utf-8"), str(path))
    if config.store_gateway is None:
        raise InputError(str(path), [Problem("storeGateway", "is missing; give its url")])
    return config, config.store_gateway.url
