"""Runs the queries of verifiers on seeds, in memory, as a gym server does at the start of an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from opsgym.taskimport.faults import QueryFailedError, RunQuery
from opsgym_api.tasks.task import Task
from opsgym_domains import registry

if TYPE_CHECKING:
    from opsgym_domains.kit.sqlite import Seeded

_CACHED_SEEDS = 4
"""Seeds in memory; most rows of a file share a seed with the row before."""


class SeedDatabases:
    """In-memory databases with the seeds of installed domains.

    Args:
        read: Returns the SQL of a seed file by its name in the archive; None if there is no such file.
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
            seeds: Names of the row's seeds in the archive, by gym server.
        """
        domains = {server.mcp_server_name: server.domain for server in task.gym_servers_config}
        if not set(domains.values()) <= set(registry.domains()) or seeds.keys() != domains.keys():
            return None

        def run(gym: str, sql: str) -> list[Mapping[str, Any]]:
            from opsgym_domains.kit.errors import QueryError
            from opsgym_domains.kit.sqlite import query

            try:
                result = query(self._loaded(domains[gym], seeds[gym]).db, sql, self._now)
            except QueryError as error:
                raise QueryFailedError(str(error)) from None
            return [dict(zip(result.columns, row, strict=True)) for row in result.rows]

        return run

    def _load(self, domain: str, name: str) -> Seeded:
        from opsgym_domains.kit.errors import SeedError
        from opsgym_domains.kit.sqlite import run_seed

        try:
            return run_seed(registry.load(domain).metadata, self._read(name) or "", self._now)
        except SeedError as error:
            raise QueryFailedError(f"the seed {name} cannot be loaded: {error}") from None
