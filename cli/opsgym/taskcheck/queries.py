"""Runs the queries of verifiers on seeds, in memory, as a gym server does at the start of an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_runner.gyms.seeds import BUILTIN

if TYPE_CHECKING:
    from opsgym_domains.kit.sqlite import Seeded

_CACHED_SEEDS = 4
"""Seeds in memory; most rows of a file share a seed with the row before."""

RunQuery = Callable[[str, str], Sequence[Mapping[str, Any]]]
"""Runs a query (second argument) on the seed of a gym server (first argument); raises `QueryFailedError`."""


class QueryFailedError(Exception):
    """A query failed; the message is the database's."""


class SeedDatabases:
    """In-memory databases with the seeds of installed domains.

    Args:
        read: Returns the SQL of a seed file by its name; None if the file does not exist. Not called for built-in
            seeds.
        now: Current time of the databases.
    """

    def __init__(self, read: Callable[[str], str | None], now: datetime) -> None:
        self._read = read
        self._now = now
        self._loaded = lru_cache(maxsize=_CACHED_SEEDS)(self._load)

    def queries_of(self, task: Task, seeds: Mapping[str, str]) -> RunQuery | None:
        """A function that runs the queries of a row; None if a domain is not installed or a seed is missing.

        Args:
            task: The row.
            seeds: Names of the row's seeds by gym server: those that `read` receives, or `builtin:NAME`.
        """
        domains = {server.mcp_server_name: server.domain for server in task.gym_servers_config}
        if not set(domains.values()) <= set(registry.domains()) or seeds.keys() != domains.keys():
            return None

        def run(gym: str, sql: str) -> Sequence[Mapping[str, Any]]:
            return self.rows(domains[gym], seeds[gym], sql)

        return run

    def rows(self, domain: str, seed: str, sql: str) -> list[dict[str, Any]]:
        """Result of a query on a seed.

        Raises:
            QueryFailedError: The query fails, or the seed cannot be loaded.
        """
        return read_rows(self._loaded(domain, seed), sql, self._now)

    def fresh(self, domain: str, seed: str) -> Seeded:
        """A new database of a seed, which callers may change.

        Raises:
            QueryFailedError: The seed cannot be loaded.
        """
        return self._load(domain, seed)

    def _load(self, domain: str, name: str) -> Seeded:
        from opsgym_domains.kit.errors import SeedError
        from opsgym_domains.kit.sqlite import run_seed

        try:
            return run_seed(registry.load(domain).metadata, self.text(domain, name), self._now)
        except SeedError as error:
            raise QueryFailedError(f"the seed {name} cannot be loaded: {error}") from None

    def text(self, domain: str, name: str) -> str:
        """SQL of a seed; empty if its file does not exist."""
        if not name.startswith(BUILTIN):
            return self._read(name) or ""
        return registry.load(domain).seeds[name.removeprefix(BUILTIN)]()


def read_rows(seeded: Seeded, sql: str, now: datetime) -> list[dict[str, Any]]:
    """Result of a query.

    Raises:
        QueryFailedError: The query fails.
    """
    from opsgym_domains.kit.errors import QueryError
    from opsgym_domains.kit.sqlite import query

    try:
        result = query(seeded.db, sql, now)
    except QueryError as error:
        raise QueryFailedError(str(error)) from None
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def is_builtin_seed(domain: str, name: str) -> bool:
    """Whether a name like `builtin:quickstart` is that of a seed of an installed domain."""
    installed = domain in registry.domains()
    return installed and name.startswith(BUILTIN) and name.removeprefix(BUILTIN) in registry.load(domain).seeds
