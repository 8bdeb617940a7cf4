"""Makes the data that a pod's Postgres starts from.

Invariant: what is baked was made by the code that will look for it, so a gym server finds every template by name.
It is to be copied before a server runs on it: equal files are one file, by hard links.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from pathlib import Path

from opsgym_domains.kit.databases import Databases, PostgresServer
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.embedded import EmbeddedPostgres, PostgresError

_NOT_KEPT = ("postmaster.opts",)
"""Files of the server that baked, which say nothing about the data."""


def bake(folder: Path, domains: Iterable[Domain]) -> None:
    """Makes a data folder that holds, for each domain, the template of its tables and one for each built-in seed.

    A seed that reads the time has no template: it is executed whenever it is used.

    Args:
        folder: Must not exist yet.
        domains: Whose templates are made.

    Raises:
        PostgresError: The folder exists, or Postgres does not start or end well.
        DatabaseLost: Postgres ended on the way.
    """
    if folder.exists():
        raise PostgresError(f"{folder} exists; name a folder that is to be made")
    asyncio.run(_bake(folder, domains))
    for name in _NOT_KEPT:
        (folder / name).unlink(missing_ok=True)
    _share_equal_files(folder)


async def _bake(folder: Path, domains: Iterable[Domain]) -> None:
    server = await EmbeddedPostgres.start()
    try:
        for domain in domains:
            await _make_templates(PostgresServer(str(server.socket_folder)), domain)
    except BaseException:
        await server.stop()
        raise
    await server.stop(keep=folder)


async def _make_templates(where: PostgresServer, domain: Domain) -> None:
    databases = Databases(where, domain.name, domain.metadata, dict(domain.seeds))
    await databases.start()
    try:
        for seed in domain.seeds:
            await databases.prepare(seed)
    finally:
        await databases.stop()


def _share_equal_files(folder: Path) -> None:
    """Makes one file of equal ones: databases are copies of each other, and half of their files never change.

    Postgres never runs on this folder, and a pod copies it file by file: there, equal files are separate again.
    """
    known: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        if (first := known.setdefault(content, path)) != path:
            path.unlink()
            path.hardlink_to(first)
