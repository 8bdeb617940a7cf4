"""`opsgym serve`."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from opsgym.console.access import Access, TrustedHeader, trusted_header, usable_token
from opsgym.console.app import Console
from opsgym.console.evalruns import EvalRuns
from opsgym.console.library import Library
from opsgym.console.serving import serve as serve_console
from opsgym.console.sources import Source, StoreSource, mounted_sources
from opsgym.exits import Exit
from opsgym_api.errors import InputError, Problem
from opsgym_api.logs import configure_logs
from opsgym_domains.explore.guard import is_loopback
from opsgym_operator.config import parse_config
from opsgym_operator.stores import MOUNTED

TOKEN_VARIABLE = "OPSGYM_CONSOLE_TOKEN"  # noqa: S105 - the variable's name
_REACHED = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound
"""Where a console that listens on every address is reached from this machine."""


@dataclass(frozen=True)
class Request:
    """What `opsgym serve` was asked."""

    store: str
    """Location of a store; not used with `config`."""
    config: Path | None
    """The operator's configuration: the stores and namespaces of an installation."""
    host: str
    port: int
    token_file: Path | None
    trust_header: str | None
    trusted_proxies: Sequence[str]


def serve(asked: Request) -> int:
    """Shows runs in a browser until it is stopped.

    Raises:
        InputError: The address cannot be used, or nobody would have to sign in who should.
    """
    access = _access(asked)
    configure_logs(os.environ)
    asyncio.run(_serve(asked, access))
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        # A store is still being asked; nobody waits for its answer, and Python would.
        sys.stdout.flush()
        os._exit(Exit.OK)
    return Exit.OK


async def _serve(asked: Request, access: Access) -> None:
    console = Console(_library(asked), access)
    await serve_console(console, asked.host, asked.port, lambda port: _tell(asked, port))


def _library(asked: Request) -> Library:
    if asked.config is None:
        sources: Sequence[Source] = [StoreSource(asked.store)]
        return Library(sources)
    # Half a second to import: paid only in a cluster.
    from kopf import LoginError

    from opsgym_operator.client import Client
    from opsgym_operator.settings import kopf_settings

    try:
        text = asked.config.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(asked.config), [Problem("--config", f"cannot be read: {error}")]) from None
    config = parse_config(text, str(asked.config))
    mounted = Path(os.environ.get("OPSGYM_STORES", MOUNTED))
    try:
        api = Client(kopf_settings())
    except (LoginError, OSError) as error:
        raise InputError("opsgym serve", [Problem("--config", f"is for a console in a cluster: {error}")]) from None
    return Library(mounted_sources(config, mounted), EvalRuns(api, config.watch_namespaces))


def _access(asked: Request) -> Access:
    token = _token(asked.token_file)
    header = _header(asked)
    if token is None and header is None and not is_loopback(asked.host):
        told = (
            f"{asked.host} is reached by others, and nobody would have to sign in; give --token-file (or"
            f" {TOKEN_VARIABLE}), or --trust-header with --trusted-proxies, or listen on 127.0.0.1"
        )
        raise InputError("opsgym serve", [Problem("--host", told)])
    return Access(None if token is None else usable_token(*token), header)


def _token(file: Path | None) -> tuple[str, str] | None:
    """The token that is given, and where."""
    if file is None:
        given = os.environ.get(TOKEN_VARIABLE)
        return None if given is None else (given, TOKEN_VARIABLE)
    try:
        return file.read_text(encoding="utf-8"), str(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(file), [Problem("--token-file", f"cannot be read: {error}")]) from None


def _header(asked: Request) -> TrustedHeader | None:
    if asked.trust_header is None:
        if asked.trusted_proxies:
            raise InputError("opsgym serve", [Problem("--trusted-proxies", "goes with --trust-header")])
        return None
    return trusted_header(asked.trust_header, asked.trusted_proxies)


def _tell(asked: Request, port: int) -> None:
    host = _REACHED.get(asked.host, asked.host)
    where = "an installation" if asked.config else asked.store
    click.echo(f"Runs of {where} at http://{f'[{host}]' if ':' in host else host}:{port}/ (Ctrl-C ends it)")
