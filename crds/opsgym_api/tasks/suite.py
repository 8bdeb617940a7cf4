"""A frozen suite: the rows of a run with their seeds found, as every attempt of the run reads them."""

from __future__ import annotations

from typing import Any

from opsgym_api.base import Stored
from opsgym_api.jobs.job_spec import JOB_SPEC_VERSION

EDITION_FILE = "edition"
"""File beside the exported rows of a built-in suite that names their edition."""


class SeedRef(Stored):
    """What a gym's database starts from: a seed that ships with the domain, or one frozen with the suite."""

    builtin: str | None = None
    sha256: str | None = None
    """Digest of the SQL text; see `RunKeys.suite_seed`."""


class FrozenTask(Stored):
    """A row with its seeds found, as the run will always see it."""

    version: int = JOB_SPEC_VERSION
    row: dict[str, Any]
    """The row, see `opsgym_api.tasks.task.Task`."""
    seeds: dict[str, SeedRef]
    """By `mcp_server_name`."""


class SuiteEntry(Stored):
    """One row of a frozen suite, as far as planning needs it."""

    task_id: str
    domain: str
    gyms: list[str]
    """Domains of its gym servers, each once, in the row's order."""
    digest: str
    """Of the row; see `digest.task_digest`."""
    problem: str = ""
    """Why the row cannot run; it may still be left out by the suite's filters."""

    @property
    def domain_name(self) -> str:
        """Its domain; see `task.Task.domain_name`."""
        return self.domain


class SuiteIndex(Stored):
    """A frozen suite: every row, before the run's filters."""

    version: int = JOB_SPEC_VERSION
    edition: str = ""
    """Edition of a built-in suite: `2026-12`, or `next`; empty for another suite."""
    entries: list[SuiteEntry]

    @property
    def digests(self) -> dict[str, str]:
        """Digest of each row, by task id."""
        return {entry.task_id: entry.digest for entry in self.entries}
