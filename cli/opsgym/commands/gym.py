"""`opsgym gym serve` and `opsgym gym explore`: gym servers on this machine."""

from __future__ import annotations

import asyncio
import webbrowser
from dataclasses import dataclass
from pathlib import Path

import click
import httpx

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Access
from opsgym_core.common.net import is_loopback
from opsgym_domains import registry
from opsgym_domains.explore.routes import DEFAULT_DATABASE, PATH
from opsgym_domains.kit.domain import Domain
from opsgym_domains.serve import ServerAccess, main, run

SEED_SECONDS = 300.0
"""Timeout for loading a seed. The largest published seed takes two seconds; a loaded machine may take much longer."""
_LOCAL_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound
"""Address under which this machine reaches a server that listens on all addresses."""


def serve(domain: str, port: int, host: str) -> int:
    """Serves a domain in this process until a signal stops it.

    Raises:
        InputError: The domain is not installed.
    """
    _require_installed(domain, "gym serve")
    return main([domain, "--port", str(port), "--host", host])


@dataclass(frozen=True)
class ExploreRequest:
    """Arguments of `opsgym gym explore`."""

    domain: str
    host: str
    port: int
    seed: str | None
    """Built-in seed; None for the first one of the domain. Not used with `seed_file`."""
    seed_file: Path | None
    """SQL file in the form of published seeds."""
    access: Access
    open_browser: bool


def explore(request: ExploreRequest) -> int:
    """Serves a domain with its explore page and one seeded database, until a signal stops it.

    Raises:
        InputError: The domain is not installed, or the seed does not exist or cannot be loaded.
    """
    _require_installed(request.domain, "gym explore")
    domain = registry.load(request.domain)
    origin = _seed(request, domain) | {"access": _access(request, domain)}

    async def ready(url: str) -> None:
        await _create_database(_local_url(url, request.host), origin, str(request.seed_file or origin["builtin"]))
        await _show_page(_local_url(url, request.host) + PATH, request)

    return run(domain, ServerAccess(request.host, request.port, explore=True), ready)


def _require_installed(domain: str, command: str) -> None:
    if domain not in registry.domains():
        installed = ", ".join(registry.domains())
        raise InputError(command, [Problem("DOMAIN", f"unknown domain {domain!r}; installed: {installed}")])


def _seed(request: ExploreRequest, domain: Domain) -> dict[str, str]:
    """The seed, as a field of the request that creates the database."""
    if request.seed_file is None:
        seed = request.seed or next(iter(domain.seeds), None)
        if seed is None or seed not in domain.seeds:
            known = ", ".join(domain.seeds) or "none"
            message = f"unknown seed {seed!r}; built-in seeds of {domain.name}: {known}; or give --seed-file"
            raise InputError("gym explore", [Problem("--seed", message)])
        return {"builtin": seed}
    try:
        return {"sql_content": request.seed_file.read_text(encoding="utf-8")}
    except OSError as error:
        raise InputError(str(request.seed_file), [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError:
        raise InputError(str(request.seed_file), [Problem("", "is not text in UTF-8")]) from None


def _access(request: ExploreRequest, domain: Domain) -> Access:
    if request.access is Access.STRICT and domain.access is None:
        message = f"{domain.name} does not support strict; use published"
        raise InputError("gym explore", [Problem("--access", message)])
    return request.access


def _local_url(url: str, host: str) -> str:
    return url.replace(host, _LOCAL_ADDRESS[host]) if host in _LOCAL_ADDRESS else url


async def _create_database(url: str, origin: dict[str, str], source: str) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=SEED_SECONDS, trust_env=False) as client:
        response = await client.post("/api/seed-database", json={"database_id": DEFAULT_DATABASE, **origin})
    if response.is_error:
        raise InputError(source, [Problem("", str(response.json()["detail"]))])


async def _show_page(page: str, request: ExploreRequest) -> None:
    if not is_loopback(request.host):
        click.echo(
            f"Warning: every client that can reach {request.host} can read and change the databases of this server.",
            err=True,
        )
    click.echo(f"Explore {request.domain} at {page} (Ctrl-C stops the server and discards all changes)")
    # In a thread: a browser that is not running yet may block until it is closed.
    if request.open_browser and not await asyncio.to_thread(webbrowser.open, page):
        click.echo("No browser could be opened; open the address yourself.", err=True)
