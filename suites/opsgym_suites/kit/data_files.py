"""Generated files: what each must hold, and how it is written and compared.

Invariant: files are compared by what they hold, not by their compressed bytes, so another release of the compressor
makes no file stale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.includes import complete
from opsgym_suites.kit.authoring_rules import AuthoredTask
from opsgym_suites.kit.suite import Suite

LEVEL = 19
"""Zstandard's highest level without its long-distance window; files are written seldom and read often."""


@dataclass(frozen=True)
class AuthoredDomain:
    """The seeds and suites of a domain."""

    domain: str
    seeds: Mapping[str, Callable[[], str]]
    """Makers of the seeds' SQL, by the seed's name."""
    suites: Sequence[Suite]

    def texts(self) -> dict[str, str]:
        """Texts of the domain's data files, by file name without `.zst`."""
        seeds = {f"{name}.sql": make() for name, make in self.seeds.items()}
        return seeds | {f"{suite.name}.jsonl": json_lines(suite.rows) for suite in self.suites}

    def tasks_by_suite(self) -> dict[str, list[AuthoredTask]]:
        """The tasks of each suite in order, by the suite's name."""
        return {suite.name: list(self.tasks_of(suite)) for suite in self.suites}

    def tasks(self) -> Iterator[AuthoredTask]:
        """The tasks of all suites, in order."""
        return (task for suite in self.suites for task in self.tasks_of(suite))

    def tasks_of(self, suite: Suite) -> Iterator[AuthoredTask]:
        """The tasks of one of the suites, in order."""
        domains = {gym: registry.load(server.domain) for gym, server in suite.servers.items()}
        for row, draft in zip(self.whole_rows(suite), suite.drafts, strict=True):
            task = Task.model_validate(row)
            own = {server.mcp_server_name: domains[server.mcp_server_name] for server in task.gym_servers_config}
            yield AuthoredTask(own, task, draft)

    def whole_rows(self, suite: Suite) -> Iterator[dict[str, Any]]:
        """The rows of one of the suites with their texts inserted, in order."""
        package = f"opsgym_domains.{self.domain}"
        return (row | {"system_prompt": complete(row["system_prompt"], package)} for row in suite.rows)


def json_lines(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as JSON Lines, without blanks between values."""
    return "".join(f"{json.dumps(row, ensure_ascii=False, separators=(',', ':'))}\n" for row in rows)


def stale(path: Path, text: str) -> bool:
    """Whether a generated file is missing or holds another text."""
    if not path.exists():
        return True
    content = path.read_bytes()
    return (zstandard.decompress(content) if path.suffix == ".zst" else content) != text.encode()


def write(path: Path, text: str) -> None:
    """Writes a generated file, compressed if it is named `.zst`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(zstandard.compress(content, LEVEL) if path.suffix == ".zst" else content)
