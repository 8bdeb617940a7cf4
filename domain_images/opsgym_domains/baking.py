"""Creates the data folder that a pod's Postgres starts from.

Invariant: templates are created by the code that later looks them up by name. The folder must be copied before a server
runs on it, because equal files are hard links to one file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.embedded import EmbeddedPostgres, PostgresError
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.postgres_data import OWNERS
from opsgym_domains.variants.companies import rewritings_of
from opsgym_domains.variants.worlds import SeedScripts

_NOT_KEPT = ("postmaster.opts",)
"""Files of the baking server that are not part of the data."""


def bake(folder: Path, domains: Iterable[Domain]) -> None:
    """Creates a data folder with, for each domain, the template of its tables and one for each built-in seed.

    A seed that reads the time has no template: it is executed for every database.

    Args:
        folder: Must not exist yet.
        domains: Domains whose templates are created.

    Raises:
        PostgresError: The folder exists, or Postgres does not start or shut down cleanly.
        DatabaseLost: Postgres ended before the templates were complete.
    """
    if folder.exists():
        raise PostgresError(f"{folder} exists; give a folder that does not exist")
    owners = asyncio.run(_bake(folder, domains))
    (folder / OWNERS).write_text(json.dumps(owners, indent=1))
    for name in _NOT_KEPT:
        (folder / name).unlink(missing_ok=True)
    _share_equal_files(folder)
    _let_everybody_read(folder)


async def _bake(folder: Path, domains: Iterable[Domain]) -> dict[str, list[str]]:
    """Creates the data folder; returns the folders of each domain's templates."""
    server = await EmbeddedPostgres.start()
    owners: dict[str, list[str]] = {}
    try:
        where = PostgresServer(str(server.socket_folder))
        known = await _database_folders(where)
        for domain in domains:
            await _make_templates(where, domain)
            owners[domain.name] = sorted(await _database_folders(where) - known)
            known.update(owners[domain.name])
    except BaseException:
        await server.stop()
        raise
    await server.stop(keep=folder)
    return owners


async def _database_folders(where: PostgresServer) -> set[str]:
    """Names of the databases' folders in `base`, which are their object identifiers."""
    connection = await where.connect("postgres")
    try:
        return {str(row["oid"]) for row in await connection.fetch("SELECT oid FROM pg_database")}
    finally:
        await connection.close()


async def _make_templates(where: PostgresServer, domain: Domain) -> None:
    scripts = SeedScripts(domain.metadata, domain.seeds, rewritings_of(domain))
    databases = Databases(where, domain.name, domain.metadata, scripts)
    await databases.start()
    try:
        for seed in domain.seeds:
            await databases.prepare(seed)
    finally:
        await databases.stop()


def _let_everybody_read(folder: Path) -> None:
    """Makes the data readable for every account: some platforms run containers under users that no image knows."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _share_equal_files(folder: Path) -> None:
    """Replaces equal files by hard links: databases are copies of each other, and half of their files never change.

    Postgres never runs on this folder; a pod copies it file by file, which makes equal files separate again.
    """
    known: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        if (first := known.setdefault(content, path)) != path:
            path.unlink()
            path.hardlink_to(first)
