"""Writes a suite in the published form: a file for each row, the seeds, and what was left out.

Invariant: a seed is loaded once, and every file that a row names is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from opsgym.taskexport.files import MODE, SEED_FOLDER, require_installed, seed_text, write_file
from opsgym.taskexport.published import Exported, GymSeed, exported, seed_rows
from opsgym.taskimport.seeds import Seeds
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.task import GymServer, Task
from opsgym_domains import registry

LEFT_OUT = "left_out.json"


@dataclass
class SuiteExporter:
    """Writes rows one by one.

    Raises:
        InputError: A seed is missing or invalid, a domain is not installed, or a file cannot be written.
    """

    out: Path
    """Folder to write to."""
    seeds: Seeds
    """Seed files of rows that name files."""
    now: datetime
    """Time that seed scripts read."""
    _loaded: dict[tuple[str, str], GymSeed] = field(default_factory=dict)

    def run(self, tasks: Sequence[Task], done: Callable[[], None]) -> dict[str, Exported]:
        """Writes all rows; the results by task id.

        Args:
            tasks: The suite.
            done: Called after each row.
        """
        results: dict[str, Exported] = {}
        for task in tasks:
            gyms = {server.mcp_server_name: self._seed(task, server) for server in task.gym_servers_config}
            results[task.task_id] = result = exported(task, gyms)
            if result.row is not None:
                self._write(f"{MODE}/{task.task_id}.json", json.dumps(result.row, ensure_ascii=False, indent=2))
            done()
        self._write(LEFT_OUT, json.dumps(_left_out(results), ensure_ascii=False, indent=2))
        return results

    def _seed(self, task: Task, server: GymServer) -> GymSeed:
        known = server.domain, server.seed_database_file
        if known not in self._loaded:
            self._loaded[known] = self._load(task, server)
        return self._loaded[known]

    def _load(self, task: Task, server: GymServer) -> GymSeed:
        from opsgym_domains.kit.errors import SeedError

        require_installed(task, server)
        domain = registry.load(server.domain)
        sql = seed_text(task, server, self.seeds)
        try:
            rows = seed_rows(domain, sql, self.now)
        except SeedError as error:
            problem = f"seed {server.seed_database_file!r} cannot be loaded: {error}"
            raise InputError(task.task_id, [Problem("gym_servers_config", problem)]) from None
        file = f"{server.domain}-{Path(server.seed_database_file.removeprefix('builtin:')).stem}.sql"
        self._write(f"{SEED_FOLDER}/{file}", sql)
        return GymSeed(domain, rows, file, self.now)

    def _write(self, name: str, text: str) -> None:
        write_file(self.out, name, (text + ("" if text.endswith("\n") else "\n")).encode())


def _left_out(results: Mapping[str, Exported]) -> dict[str, object]:
    return {
        task_id: {"exported": result.row is not None, "left_out": result.left_out}
        for task_id, result in results.items()
        if result.left_out
    }
