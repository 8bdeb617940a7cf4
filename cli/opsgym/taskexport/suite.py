"""Writes a suite in the published form: a file for each row, the seeds, and what was left out.

Invariant: a seed is loaded once, and every file that a row names is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from opsgym.taskexport.published import SEED_FOLDER, Exported, GymSeed, exported, seed_rows
from opsgym.taskimport.seeds import Seeds
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.task import GymServer, Task
from opsgym_domains import registry

MODE = "oracle"
"""Folder of the rows: they name the oracle tool set."""
LEFT_OUT = "left_out.json"
_BUILTIN = "builtin:"


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

        if server.domain not in registry.domains():
            raise _problem(task, f"domain {server.domain!r} is not installed; its tables are needed")
        domain = registry.load(server.domain)
        name = server.seed_database_file
        if name.startswith(_BUILTIN):
            reader = domain.seeds.get(name.removeprefix(_BUILTIN))
            sql = reader() if reader is not None else None
        else:
            path = self.seeds.find(name)
            sql = next((text.decode() for _, text in self.seeds.texts({path})), None) if path else None
        if sql is None:
            raise _problem(task, f"seed {name!r} is missing; name its folder or archive with --seeds")
        try:
            rows = seed_rows(domain, sql, self.now)
        except SeedError as error:
            raise _problem(task, f"seed {name!r} cannot be loaded: {error}") from None
        file = f"{server.domain}-{Path(name.removeprefix(_BUILTIN)).stem}.sql"
        self._write(f"{SEED_FOLDER}/{file}", sql)
        return GymSeed(domain, rows, file)

    def _write(self, name: str, text: str) -> None:
        path = self.out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + ("" if text.endswith("\n") else "\n"), encoding="utf-8")
        except OSError as error:
            raise InputError(str(path), [Problem("--out", f"cannot be written: {error.strerror}")]) from None


def _left_out(results: Mapping[str, Exported]) -> dict[str, object]:
    return {
        task_id: {"exported": result.row is not None, "left_out": result.left_out}
        for task_id, result in results.items()
        if result.left_out
    }


def _problem(task: Task, problem: str) -> InputError:
    return InputError(task.task_id, [Problem("gym_servers_config", problem)])
