"""The frozen suite of a run: its rows and their seeds, in the run's store.

Invariant: the index is written last, so a suite with an index is complete; a seed is stored once, however many rows use
it and read under its digest alone. The store alone is enough to repeat a trial or to verify it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pydantic import ValidationError

from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.digest import task_digest
from opsgym_api.tasks.reading import BadRow, parse_row
from opsgym_api.tasks.suite import FrozenTask, SeedRef, SuiteEntry, SuiteIndex
from opsgym_api.tasks.task import Task
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.store.base import Store
from opsgym_core.store.objects import read_object

_THREADS = 16
"""Objects to write at the same time."""


class FrozenSuiteError(Exception):
    """A row of a frozen suite, or one of its seeds, is missing or cannot be used.

    Attributes:
        reason: `STORE_LOST` if an object is missing that the store had, else why the row cannot run.
    """

    def __init__(self, reason: InfraReason | ConfigReason, message: str) -> None:
        self.reason = reason
        super().__init__(message)


@dataclass(frozen=True)
class Seed:
    """Initial content of a gym's database: SQL text, or the name of a seed that ships with the domain."""

    sql: str | None = None
    builtin: str | None = None


@dataclass
class FrozenSuite:
    """A suite to be written to a store."""

    tasks: dict[str, FrozenTask] = field(default_factory=dict)
    """Rows that can run, by id."""
    seeds: dict[str, str] = field(default_factory=dict)
    """SQL text of seeds, by SHA-256."""
    entries: list[SuiteEntry] = field(default_factory=list)
    recordings: Mapping[str, bytes] = field(default_factory=dict)
    """Files that models replay, by the model's name."""
    edition: str = ""
    """See `SuiteIndex.edition`."""

    def add(self, task: Task, seeds: Mapping[str, Seed]) -> None:
        """Adds a row that can run.

        Args:
            task: The row.
            seeds: Initial content of its databases, by `mcp_server_name`.
        """
        refs = {gym: self._ref(seed) for gym, seed in seeds.items()}
        self.tasks[task.task_id] = FrozenTask(row=task.model_dump(mode="json"), seeds=refs)
        self.add_entry(task)

    def add_entry(self, task: Task, problem: str = "") -> None:
        """Adds a row to the index; `problem` says why it cannot run and is empty if it can."""
        entry = SuiteEntry(
            task_id=task.task_id,
            domain=task.domain_name,
            gyms=domains_of(task),
            digest=task_digest(task),
            problem=problem,
        )
        self.entries.append(entry)

    def _ref(self, seed: Seed) -> SeedRef:
        if seed.sql is None:
            return SeedRef(builtin=seed.builtin)
        digest = hashlib.sha256(seed.sql.encode()).hexdigest()
        self.seeds[digest] = seed.sql
        return SeedRef(sha256=digest)

    def write(self, store: Store, run: str) -> None:
        """Writes the suite into a run's store, the index last.

        Raises:
            StoreError: The store cannot be written.
        """
        keys = RunKeys(run)
        objects: Mapping[str, bytes] = {
            **{keys.suite_seed(digest): sql.encode() for digest, sql in self.seeds.items()},
            **{keys.recording(model): content for model, content in self.recordings.items()},
            **{keys.suite_task(task_id): task.model_dump_json().encode() for task_id, task in self.tasks.items()},
        }
        for_each(lambda key: store.put(key, objects[key]), list(objects))
        store.put(keys.suite_index, SuiteIndex(entries=self.entries, edition=self.edition).model_dump_json().encode())


def read_frozen(store: Store, run: str, task_id: str) -> tuple[Task, dict[str, Seed]]:
    """A row of a run's suite, with its seeds; see `FrozenRows.read`."""
    return FrozenRows(store, run).read(task_id)


class FrozenRows:
    """The rows of a run's suite, of which many may share a seed: it is read once.

    Args:
        store: Store of the run.
        run: Id of the run.
    """

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._keys = RunKeys(run)
        self._seeds: dict[str, Seed] = {}

    def read(self, task_id: str) -> tuple[Task, dict[str, Seed]]:
        """A row, with the seeds of its databases by `mcp_server_name`.

        Raises:
            FrozenSuiteError: The row or a seed is missing or cannot be used.
            StoreError: The store cannot be read.
        """
        store, key = self._store, self._keys.suite_task(task_id)
        content = store.get(key)
        if content is None:
            message = f"{store.name}: object {key} is missing; it was deleted after the run began: start the run again"
            raise FrozenSuiteError(InfraReason.STORE_LOST, message)
        try:
            frozen = FrozenTask.model_validate_json(content)
        except ValidationError:
            message = f"{store.name}: {key} is not a row that opsgym wrote; start the run again"
            raise FrozenSuiteError(ConfigReason.INVALID_ROW, message) from None
        row = parse_row(frozen.row, default_id=task_id, where=key)
        if isinstance(row, BadRow):
            raise FrozenSuiteError(ConfigReason.INVALID_ROW, row.message)
        return row, {gym: self._seed(gym, seed) for gym, seed in frozen.seeds.items()}

    def _seed(self, gym: str, ref: SeedRef) -> Seed:
        if ref.sha256 is None:
            return Seed(builtin=ref.builtin)
        if ref.sha256 not in self._seeds:
            self._seeds[ref.sha256] = self._read_seed(gym, ref.sha256)
        return self._seeds[ref.sha256]

    def _read_seed(self, gym: str, sha256: str) -> Seed:
        key = self._keys.suite_seed(sha256)
        content = self._store.get(key)
        if content is None:
            problem = "is missing"
        elif hashlib.sha256(content).hexdigest() != sha256:
            problem = "has another digest than its name: it was changed after the run began"
        else:
            return Seed(sql=content.decode())
        message = f"gym server {gym}: {self._store.name}: object {key} {problem}; start the run again"
        raise FrozenSuiteError(ConfigReason.SEED_NOT_FOUND, message)


def task_digests(store: Store, run: str) -> dict[str, str]:
    """Digest of each task of a run's suite, by id; empty if the store does not have its index.

    Raises:
        InputError: The index is not valid.
        StoreError: The store cannot be read.
    """
    index = read_object(store, RunKeys(run).suite_index, SuiteIndex)
    return {} if index is None else index.digests


def for_each(action: Callable[[str], None], keys: Sequence[str]) -> None:
    """Calls an action with each key, several at the same time.

    Raises:
        StoreError: A call failed.
    """
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(action, keys):
            pass
