"""Starts the store gateway.

Invariant: it changes nothing in the cluster and keeps no state that a restart would lose, so replicas need no leader.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import kopf
import structlog
from aiohttp import web

from opsgym_api.errors import InputError, Problem
from opsgym_core.common.logs import configure_logs
from opsgym_core.kube.client import Client
from opsgym_core.kube.login import login
from opsgym_core.store.mounted import MOUNTED, Stores
from opsgym_operator.config import CONFIG, OperatorConfig, parse_config
from opsgym_operator.gateway.server import Gateway
from opsgym_operator.gateway.sessions import Sessions
from opsgym_operator.sockets import listening_socket

log = structlog.get_logger(__name__)

PORT = 8080


@asynccontextmanager
async def serving(gateway: Gateway, port: int) -> AsyncIterator[int]:
    """Serves while the context is open, and then ends the requests that are under way.

    Args:
        gateway: Answers the requests.
        port: Port to listen on; a free one if 0.

    Yields:
        The port.
    """
    runner = web.AppRunner(gateway.app(), access_log=None, shutdown_timeout=20)
    await runner.setup()
    try:
        await web.SockSite(runner, listening_socket(port)).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def serve(config: OperatorConfig, audience: str, port: int, stores_folder: Path) -> None:
    """Serves until a signal stops it.

    Args:
        config: The installation's configuration.
        audience: Audience of the pods' tokens.
        port: Port to listen on.
        stores_folder: Folder of the stores' credentials.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stores = Stores(config.store_by_name, stores_folder)
    try:
        async with Client(login) as client:
            gateway = Gateway(Sessions(client, config, audience), stores)
            async with serving(gateway, port):
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
        port = int(os.environ.get("OPSGYM_GATEWAY_PORT", PORT))
        asyncio.run(serve(config, audience, port, stores_folder))
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
