"""Command that runs one domain's gym server.

Invariant: server and embedded Postgres end together. A server whose Postgres ended exits with `EXIT_POSTGRES_LOST`, so
that its parent process can start another one.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import structlog
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.middleware import Middleware

from opsgym_api.gym_http import ADMIN_TOKEN_HEADER, PROCESS_PATH
from opsgym_core.common.logs import configure_logs
from opsgym_domains import registry
from opsgym_domains.kit.admin_token import AdminToken, read_or_create_token
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.embedded import EmbeddedPostgres, PostgresError
from opsgym_domains.kit.errors import DatabaseLost
from opsgym_domains.kit.guard import Guard
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.server import GymServer
from opsgym_domains.postgres_restarts import PostgresRefusedError, request_generation
from opsgym_domains.serve_restarts import ServerProcess, run_generations
from opsgym_domains.variants.companies import rewritings_of
from opsgym_domains.variants.worlds import SeedScripts

EXIT_POSTGRES_LOST = 3
EXIT_CANNOT_START = 1
POSTGRES_SECONDS = 60.0
"""Seconds to wait for an external Postgres, which starts at the same time in a pod."""
KEEP_ALIVE_S = 75
"""Seconds until an idle connection is closed: above the 5 s after which httpx drops one, so that no client sends a
request into a connection that is just being closed."""

Ready = Callable[[str], Awaitable[None]]
"""Called with the server's URL when it accepts requests; an exception stops the server and is re-raised."""

log = structlog.get_logger()


@dataclass(frozen=True)
class ServerAccess:
    """Where a server listens, and what it accepts."""

    host: str
    """Address to listen on."""
    port: int
    """Port to listen on; 0 picks a free one."""
    explore: bool = False
    """Whether the explore page is served as well."""
    admin_token: str | None = field(default=None, repr=False)
    """Token that admin endpoints require; None for none."""
    process: ServerProcess | None = None
    """The generation that this process serves; None if it is not replaced."""


def main(arguments: Sequence[str] | None = None, admin_token: str | None = None) -> int:
    """Entry point of `python -m opsgym_domains.serve`; the process's exit code.

    Args:
        arguments: Arguments of the command line; the process's own if None.
        admin_token: Token that admin endpoints require; None for none, or the one in `--admin-token-file`.
    """
    parser = argparse.ArgumentParser(
        prog="opsgym_domains.serve",
        description="Serve one domain's tools over MCP. Prints one JSON line with its address when it is ready.",
    )
    parser.add_argument("domain", choices=registry.domains(), help="domain to serve")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 picks a free one (default)")
    parser.add_argument(
        "--descriptions",
        type=Path,
        metavar="FILE",
        help="JSON file with an object of descriptions by tool name, which replace the built-in descriptions",
    )
    parser.add_argument(
        "--ready-file", type=Path, metavar="FILE", help="file to create when the server accepts requests, for probes"
    )
    parser.add_argument(
        "--admin-token-file",
        type=Path,
        metavar="FILE",
        help=f"require the token in this file in the header {ADMIN_TOKEN_HEADER} of all requests but tool calls and "
        "health checks; without the file, a new token is written to it",
    )
    parser.add_argument(
        "--restartable",
        action="store_true",
        help=f"serve {PROCESS_PATH}, which replaces the server's process and the pod's Postgres, between trials",
    )
    parser.add_argument("--explore", action="store_true", help="also serve the explore page, at /explore/")
    options = parser.parse_args(arguments)
    if options.admin_token_file is not None:
        if options.explore:
            parser.error("--explore and --admin-token-file exclude each other: a browser has no token")
        try:
            admin_token = read_or_create_token(options.admin_token_file)
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else error
            parser.error(f"--admin-token-file {options.admin_token_file}: {problem}")
    domain = registry.load(options.domain)
    if options.descriptions is not None:
        try:
            domain.toolbox.describe(read_descriptions(options.descriptions))
        except ValueError as error:
            parser.error(f"{options.descriptions}: {error}")
    if options.ready_file is not None:
        options.ready_file.unlink(missing_ok=True)  # of a server before, in the same pod
    ready = partial(_announce_ready, domain.name, options.ready_file)
    access = ServerAccess(options.host, options.port, explore=options.explore, admin_token=admin_token)
    if options.restartable:
        return run_generations(lambda process: run(domain, replace(access, process=process), ready))
    return run(domain, access, ready)


def run(domain: Domain, access: ServerAccess, ready: Ready | None = None) -> int:
    """Runs `serve` in a new event loop and returns the exit code; a start-up error is written to stderr."""
    configure_logs(os.environ)  # on stderr: stdout carries the ready line
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(serve(domain, access, ready))
    except (PostgresError, PostgresRefusedError, DatabaseLost, OSError) as error:
        sys.stderr.write(f"cannot serve {domain.name}: {error}\n")
        return EXIT_CANNOT_START


def read_descriptions(path: Path) -> dict[str, str]:
    """Descriptions by tool name.

    Raises:
        ValueError: The file cannot be read or is not a JSON object of strings.
    """
    try:
        descriptions = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"is not valid JSON: {error}") from None
    if not isinstance(descriptions, dict) or not all(isinstance(text, str) for text in descriptions.values()):
        raise ValueError("must be a JSON object of tool name to description")
    return descriptions


async def serve(domain: Domain, access: ServerAccess, ready: Ready | None = None) -> int:
    """Serves until a signal stops the server or its Postgres ends; returns the exit code.

    Uses the Postgres at `OPSGYM_POSTGRES_HOST` (and `_PORT`, `_USER`, `_PASSWORD`) if set, otherwise an embedded one.

    Args:
        domain: Domain to serve.
        access: Where and to whom.
        ready: Called when the server accepts requests; None prints a JSON line on stdout.

    Raises:
        PostgresError: The embedded Postgres does not start.
        DatabaseLost: The external Postgres does not answer.
        PostgresRefusedError: The external Postgres is not replaced for this generation.
        OSError: The address cannot be used.
    """
    host, port = access.host, access.port
    _require_free(host, port)
    given = os.environ.get("OPSGYM_POSTGRES_HOST", "")
    if given and access.process is not None and access.process.generation > 0:
        await asyncio.to_thread(request_generation, Path(given), access.process.generation)
    postgres = None if given else await EmbeddedPostgres.start()
    where = _given_postgres(given) if postgres is None else PostgresServer(str(postgres.socket_folder))
    try:
        await where.wait(POSTGRES_SECONDS)
        app = _app(domain, where, access)
        config = uvicorn.Config(
            app, host=host, port=port, log_config=None, access_log=False, lifespan="on", timeout_keep_alive=KEEP_ALIVE_S
        )
        server = _Server(config)
        if access.process is not None:
            app.router.routes.append(access.process.route(server.stop))
        return await _listen(server, host, port, ready or partial(_announce_ready, domain.name, None), postgres)
    finally:
        if postgres is not None:
            await postgres.stop()


def _require_free(host: str, port: int) -> None:
    """Checks an address before Postgres starts, which takes seconds.

    Raises:
        OSError: The address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            problem = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
            raise OSError(f"the address {host}:{port} {problem}; choose another --port or --host") from None


def _app(domain: Domain, where: PostgresServer, access: ServerAccess) -> Starlette:
    scripts = SeedScripts(domain.metadata, domain.seeds, rewritings_of(domain))
    databases = Databases(where, domain.name, domain.metadata, scripts)
    middleware = [Middleware(Guard, host=access.host, page=access.explore)]
    if access.admin_token is not None:
        middleware.append(Middleware(AdminToken, token=access.admin_token))
    server = GymServer(domain, databases)
    if not access.explore:
        return server.app((), middleware)
    # The server of a pod has no page.
    from opsgym_domains.explore.routes import explore_middleware, explore_routes

    return server.app(explore_routes(domain, databases), [*middleware, *explore_middleware()])


async def _listen(server: _Server, host: str, port: int, ready: Ready, postgres: EmbeddedPostgres | None) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)
    announce = asyncio.create_task(_announce(server, host, ready))
    watch = asyncio.create_task(_watch(server, postgres))
    try:
        await server.serve()
    except SystemExit:  # uvicorn cannot start; it has logged the reason
        raise OSError(f"cannot start the server at {host}:{port}; see the log above") from None
    finally:
        announce.cancel()
        watch.cancel()
    if announce.done() and not announce.cancelled():
        announce.result()
    if not server.started:
        return EXIT_CANNOT_START
    return EXIT_POSTGRES_LOST if watch.done() and not watch.cancelled() else 0


def _given_postgres(host: str) -> PostgresServer:
    return PostgresServer(
        host,
        int(os.environ.get("OPSGYM_POSTGRES_PORT", "5432")),
        os.environ.get("OPSGYM_POSTGRES_USER", "postgres"),
        os.environ.get("OPSGYM_POSTGRES_PASSWORD"),
    )


class _Server(uvicorn.Server):
    """A server without signal handlers: uvicorn re-raises signals after shutdown, which would skip our clean-up."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


async def _announce(server: _Server, host: str, ready: Ready) -> None:
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event for it
        await asyncio.sleep(0.005)
    try:
        name = f"[{host}]" if ":" in host else host
        await ready(f"http://{name}:{server.servers[0].sockets[0].getsockname()[1]}")
    except BaseException:
        server.stop()
        raise


async def _announce_ready(domain: str, file: Path | None, url: str) -> None:
    if file is not None:
        await asyncio.to_thread(file.touch)
    sys.stdout.write(json.dumps({"ready": True, "domain": domain, "url": url}) + "\n")
    sys.stdout.flush()


async def _watch(server: uvicorn.Server, postgres: EmbeddedPostgres | None) -> None:
    if postgres is None:
        await asyncio.Event().wait()
        return
    code = await postgres.wait()
    log.error("postgres_ended", exit_code=code)
    server.should_exit = True


if __name__ == "__main__":
    sys.exit(main())
