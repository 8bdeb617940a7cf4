"""Writes a suite folder from published rows and seeds.

Invariant: a valid row is written with all of its fields; an invalid row is reported and left out. The tools of a row
apply to the mode of its file only (`mode_tools`).

    OUT/<mode>/<domain>.jsonl     a suite for each mode: `suite: {path: OUT/oracle, modes: [oracle]}`
    OUT/seeds/<file>.sql          the seeds of these suites
    OUT/faults.json               faults of the rows
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from opsgym.taskcheck.doubts import start_of
from opsgym.taskcheck.findings import unknown_server
from opsgym.taskcheck.queries import SeedDatabases, is_builtin_seed
from opsgym.taskimport.faults import Fault, FaultKind, faults_of
from opsgym.taskimport.seeds import Seeds
from opsgym.taskimport.sources import SourceRow
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Mode
from opsgym_api.tasks.reading import BadRow, parse_row
from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_runner.gyms.seeds import BUILTIN


@dataclass
class ImportResult:
    """Result of an import."""

    rows: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of written rows by mode and domain."""
    faults: list[Fault] = field(default_factory=list)
    seeds: set[str] = field(default_factory=set)
    """Names of the written seeds."""
    unchecked: Counter[str] = field(default_factory=Counter)
    """Number of rows by domain whose queries were not run, because a domain is not installed or a seed is missing."""

    @property
    def invalid(self) -> int:
        """Number of rows that were left out."""
        return sum(fault.kind is FaultKind.INVALID_ROW for fault in self.faults)


class Importer:
    """Imports rows into a folder.

    Args:
        out: Folder to write; created if it does not exist.
        seeds: Seed files.
        catalogues: Tool names by domain.
        now: Current time of the databases that queries run on.
        on_row: Called after each row.
    """

    def __init__(
        self,
        out: Path,
        seeds: Seeds,
        catalogues: Mapping[str, Collection[str]],
        now: datetime,
        on_row: Callable[[], None],
    ) -> None:
        self._out = out
        self._seeds = seeds
        self._catalogues = catalogues
        self._on_row = on_row
        self._databases = SeedDatabases(self._seed_text, now)
        self._installed = frozenset(registry.domains())
        self._written: dict[tuple[str, str], list[str]] = {}
        self._ids: set[tuple[str, str]] = set()
        self._result = ImportResult()

    def run(self, rows: Iterable[SourceRow]) -> ImportResult:
        """Imports all rows.

        Raises:
            InputError: A source or seed cannot be read, or the folder cannot be written.
        """
        for row in rows:
            self._add(row)
            self._on_row()
        try:
            self._write()
        except OSError as error:
            raise InputError(str(self._out), [Problem("--out", f"cannot be written: {error.strerror}")]) from None
        return self._result

    def _add(self, source_row: SourceRow) -> None:
        mode = source_row.mode.value
        task = _parse(source_row)
        if isinstance(task, BadRow):
            self._add_fault(FaultKind.INVALID_ROW, mode, task.task_id, source_row.source, task.message)
            return
        if strangers := self._unknown_servers(task):
            detail = "; ".join(strangers)
            self._add_fault(FaultKind.INVALID_ROW, mode, task.task_id, source_row.source, detail)
            return
        if (mode, task.task_id) in self._ids:
            detail = "another row of this mode has the same task_id; it is left out"
            self._add_fault(FaultKind.INVALID_ROW, mode, task.task_id, source_row.source, detail)
            return
        self._ids.add((mode, task.task_id))
        suite_file = mode, task.domain_name
        defaults: dict[str, Any] = {"task_id": task.task_id, "domain": task.domain_name}
        if source_row.mode is not Mode.ORACLE and task.selected_tools:
            defaults["mode_tools"] = {mode: task.selected_tools}
        content = source_row.row
        row: Mapping[str, Any] = content | {name: value for name, value in defaults.items() if not content.get(name)}
        self._written.setdefault(suite_file, []).append(json.dumps(row, ensure_ascii=False))
        self._result.rows[suite_file] += 1
        self._check(task, mode)

    def _unknown_servers(self, task: Task) -> list[str]:
        """Messages about gym servers of domains that are neither installed nor known by a tool list."""
        servers = [server for server in task.gym_servers_config if server.domain not in self._catalogues]
        return [unknown_server(server, self._catalogues) for server in servers]

    def _add_fault(self, kind: FaultKind, mode: str, task_id: str, where: str, detail: str) -> None:
        self._result.faults.append(Fault(kind, mode, task_id, where, detail))

    def _check(self, task: Task, mode: str) -> None:
        seeds: dict[str, str] = {}
        for server in task.gym_servers_config:
            path = server.seed_database_file
            name = path if is_builtin_seed(server.domain, path) else self._seeds.find(path)
            if name is not None:
                seeds[server.mcp_server_name] = name
            elif not path.startswith(BUILTIN) or server.domain in self._installed:
                where = f"gym_servers_config ({server.mcp_server_name})"
                self._add_fault(FaultKind.MISSING_SEED, mode, task.task_id, where, path or "has no seed")
        self._result.seeds.update(name for name in seeds.values() if not name.startswith(BUILTIN))
        run = self._databases.queries_of(task, seeds)
        if run is None:
            self._result.unchecked[task.domain_name] += 1
        self._result.faults += faults_of(task, mode, self._catalogues, run, start_of(task, self._databases, seeds))

    def _seed_text(self, name: str) -> str | None:
        seed = next(iter(self._seeds.texts({name})), None)
        return None if seed is None else seed[1].decode("utf-8", errors="replace")

    def _write(self) -> None:
        for (mode, domain), lines in self._written.items():
            file = self._out / mode / f"{domain}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for name, content in self._seeds.texts(self._result.seeds):
            file = self._out / "seeds" / PurePosixPath(name).name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        self._out.mkdir(parents=True, exist_ok=True)
        faults = json.dumps([asdict(fault) for fault in self._result.faults], indent=1, ensure_ascii=False)
        (self._out / "faults.json").write_text(faults + "\n", encoding="utf-8")


def _parse(source_row: SourceRow) -> Task | BadRow:
    if isinstance(source_row.row, str):
        message = f"{source_row.source}: {source_row.row}"
        return BadRow(task_id=source_row.default_id, source=source_row.source, message=message)
    return parse_row(source_row.row, default_id=source_row.default_id, where=source_row.source)
