"""Starts the console: `opsgym serve` on a workstation, `python -m opsgym_console` in its image.

Invariant: a console that other machines can reach requires signing in.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from opsgym_api.errors import InputError, Problem
from opsgym_console.server.access import Access, trusted_header, usable_token
from opsgym_console.server.app import Console
from opsgym_console.server.config import parse_config
from opsgym_console.server.evalruns import EvalRuns
from opsgym_console.server.labelling import Labelling, LabellingOptions
from opsgym_console.server.run_cache import RunCache
from opsgym_console.server.serving import serve as serve_console
from opsgym_console.server.sources import StoreSource, mounted_sources
from opsgym_core.common.logs import configure_logs
from opsgym_core.common.net import is_loopback
from opsgym_core.store.mounted import MOUNTED

TOKEN_VARIABLE = "OPSGYM_CONSOLE_TOKEN"  # noqa: S105 - the variable's name
_LOCAL_NAMES = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound
"""Addresses to open on this machine, for a console that listens on every address."""


@dataclass(frozen=True)
class ServeOptions:
    """Options of `opsgym serve`."""

    store: str
    """Location of a store; ignored with `config`."""
    config: Path | None
    """Configuration file of a console in a cluster; None for a single store."""
    host: str
    port: int
    token_file: Path | None
    trust_header: str | None
    trusted_proxies: Sequence[str]
    labelling: LabellingOptions | None = None
    """The run whose failed trials people label; None for a console that only shows runs."""


def serve(options: ServeOptions) -> None:
    """Serves the console until SIGINT or SIGTERM.

    Raises:
        InputError: An option is not valid, or other machines could use the console without signing in.
    """
    access = _access(options)
    configure_logs(os.environ)
    asyncio.run(_serve(options, access))
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        # A store is still being read. Nothing needs its answer, but Python would wait for the thread.
        sys.stdout.flush()
        os._exit(0)


async def _serve(options: ServeOptions, access: Access) -> None:
    if options.labelling is None:
        console = Console(_run_cache(options), access)
    else:
        source = StoreSource(options.store, options.labelling.opened)
        console = Console(RunCache([source]), access, labelling=Labelling(source, options.labelling))
    await serve_console(console, options.host, options.port, lambda port: _print_address(options, port))


def _run_cache(options: ServeOptions) -> RunCache:
    if options.config is None:
        return RunCache([StoreSource(options.store)])
    # Half a second to import: paid only in a cluster.
    from kopf import LoginError

    from opsgym_core.kube.client import Client
    from opsgym_core.kube.login import login

    config = parse_config(_read(options.config, str(options.config), "--config"), str(options.config))
    mounted = Path(os.environ.get("OPSGYM_STORES", MOUNTED))
    try:
        client = Client(login)
    except (LoginError, OSError) as error:
        message = f"works only in a cluster, or with a kubeconfig: {error}"
        raise InputError("opsgym serve", [Problem("--config", message)]) from None
    return RunCache(mounted_sources(config, mounted), EvalRuns(client, config.namespaces))


def _access(options: ServeOptions) -> Access:
    token = header = None
    if options.token_file is not None:
        source = str(options.token_file)
        token = usable_token(_read(options.token_file, source, "--token-file"), source)
    elif TOKEN_VARIABLE in os.environ:
        token = usable_token(os.environ[TOKEN_VARIABLE], TOKEN_VARIABLE)
    if options.trust_header is not None:
        header = trusted_header(options.trust_header, options.trusted_proxies)
    elif options.trusted_proxies:
        raise InputError("opsgym serve", [Problem("--trusted-proxies", "requires --trust-header")])
    if token is None and header is None and not is_loopback(options.host):
        message = (
            f"other machines can reach {options.host}, and nothing would require them to sign in; give --token-file (or"
            f" {TOKEN_VARIABLE}), or --trust-header with --trusted-proxies, or listen on 127.0.0.1"
        )
        raise InputError("opsgym serve", [Problem("--host", message)])
    return Access(token, header)


def _read(file: Path, source: str, option: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(source, [Problem(option, f"cannot be read: {error}")]) from None


def _print_address(options: ServeOptions, port: int) -> None:
    host = _LOCAL_NAMES.get(options.host, options.host)
    stores = "the configured stores" if options.config else options.store
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    if options.labelling is None:
        click.echo(f"Serving runs of {stores} at {address} (Ctrl-C to stop)")
        if options.config is None and "://" not in options.store and not Path(options.store).exists():
            click.echo(f"{options.store} does not exist yet: runs are shown when one is written there", err=True)
    else:
        click.echo(f"Label failed trials of {options.labelling.run} at {address}label/ (Ctrl-C to stop)")
