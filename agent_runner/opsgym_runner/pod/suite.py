"""Reads a run's suite from its source in a preflight pod, so that it can be frozen in the result store.

Invariant: every row of the source is in the index under a unique id, unreadable rows included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from opsgym_api.errors import InputError
from opsgym_api.jobs.job_spec import UNREAD_DOMAIN, Finding
from opsgym_api.kinds.evalrun import Suite
from opsgym_api.tasks.digest import digest_of
from opsgym_api.tasks.reading import BadRow, read_tasks
from opsgym_api.tasks.suite import EDITION_FILE, SuiteEntry
from opsgym_api.tasks.task import Task
from opsgym_core.planning.suite_rows import problems_by_id
from opsgym_core.results.frozen_suite import FrozenSuite, for_each
from opsgym_core.store.base import Store
from opsgym_runner.gyms.seeds import BUILTIN, SeedFinder, SeedNotFoundError

BUILTIN_FILE = "tasks.jsonl"
"""File to which the domains image writes the rows of a built-in suite."""
_ROW_FILES = (".json", ".jsonl")
_TEXT_FILES = (".md", ".txt")
"""Files beside the rows that rows may include."""


@dataclass(frozen=True)
class Source:
    """Location of a suite's rows."""

    label: str
    """Name of the source in messages: `ConfigMap tasks`, `store results`."""
    name: str
    """Name of the rows in the source: a file or key."""
    rows: Path
    """File or folder of rows."""
    tree: Path
    """Folder of the rows and their seeds; no file outside it is read."""
    unread: tuple[str, ...] = ()
    """Keys of its objects that are sealed, or were deleted while the suite was read."""


@dataclass
class Frozen(FrozenSuite):
    """A suite read from its source, with the problems of its rows."""

    findings: list[Finding] = field(default_factory=list)
    """Problems of the rows that the suite's filters by id and domain select."""


def mounted(suite: Suite, folder: Path) -> Source:
    """The source of a suite mounted into the pod."""
    if suite.config_map is not None:
        return Source(f"ConfigMap {suite.config_map.name}", suite.config_map.key, folder / suite.config_map.key, folder)
    return Source(f"suite {suite.builtin}", BUILTIN_FILE, folder / BUILTIN_FILE, folder)


def fetched(suite: Suite, store: Store, folder: Path) -> Source:
    """Copies the rows of a suite in an object store, and the seeds that they name, into a folder.

    Raises:
        StoreError: The store cannot be read.
    """
    assert suite.object_store is not None
    label, key = f"store {suite.object_store.store}", suite.object_store.key
    prefix = suite.object_store.folder
    # Where a user created a folder, S3 consoles leave an empty object whose key ends in a slash.
    keys = [name for name in store.keys(prefix) if all(part and part[0] != "." for part in name.split("/"))]
    rows = [name for name in keys if name == key or (name.rpartition("/")[0] + "/" == key and _holds_rows(name))]
    texts = [name for name in keys if name.endswith(_TEXT_FILES) and "/" not in name.removeprefix(prefix)]
    unread = _copy(store, [*rows, *texts], prefix, folder)
    source = Source(label, key, folder if key.endswith("/") else folder / key.removeprefix(prefix), folder)
    seeds = _named_seeds(source)
    unread += _copy(store, [name for name in keys if name.rpartition("/")[2] in seeds], prefix, folder)
    return replace(source, unread=tuple(unread))


def _holds_rows(name: str) -> bool:
    return name.endswith(_ROW_FILES) and not name.rpartition("/")[2].startswith("_")


def _named_seeds(source: Source) -> set[str]:
    """File names of the seeds that the rows name; unreadable rows are reported when the suite is read."""
    try:
        tasks, _ = read_tasks(source.rows)
    except InputError:
        return set()
    names = {server.seed_database_file for task in tasks for server in task.gym_servers_config}
    return {PurePosixPath(name).name for name in names if not name.startswith(BUILTIN)}


def _copy(store: Store, keys: Sequence[str], prefix: str, folder: Path) -> list[str]:
    """Copies objects into a folder; returns the keys of those that cannot be read."""
    unread: list[str] = []

    def copy(key: str) -> None:
        content = store.get(key)
        if content is None:
            unread.append(key)
            return
        file = folder / key.removeprefix(prefix)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    for_each(copy, keys)
    return sorted(unread)


def read_suite(suite: Suite, source: Source) -> Frozen:
    """Reads the rows and seeds of a suite, and collects their problems."""
    edition_file = source.tree / EDITION_FILE
    edition = edition_file.read_text(encoding="utf-8") if suite.builtin and edition_file.is_file() else ""
    frozen = Frozen(edition=edition)
    if source.unread:
        problem = "is sealed with a held-out seed, or was deleted meanwhile; name a suite that is in clear"
        frozen.findings += [Finding(where=f"{source.label}: {key}", problem=problem) for key in source.unread]
        return frozen
    if not source.rows.exists():
        where = f"{source.label}: {source.name}"
        frozen.findings.append(Finding(where=where, problem="does not exist; create it with the suite's rows"))
        return frozen
    try:
        tasks, bad = read_tasks(source.rows)
    except InputError as error:
        frozen.findings += [
            Finding(where=source.label, problem=_without(source.tree, f"{error.source}: {problem}"))
            for problem in error.problems
        ]
        return frozen
    finder = SeedFinder(None, source.tree)
    for task in tasks:
        _add_task(frozen, suite, source, task, finder)
    _add_unread(frozen, suite, source, bad, {task.task_id for task in tasks})
    if not frozen.tasks and not frozen.findings:
        frozen.findings.append(Finding(where=source.label, problem="has no row that can run"))
    return frozen


def _add_task(frozen: Frozen, suite: Suite, source: Source, task: Task, finder: SeedFinder) -> None:
    try:
        frozen.add(task, {server.mcp_server_name: finder.seed_for(server) for server in task.gym_servers_config})
    except SeedNotFoundError as error:
        problem = _without(source.tree, str(error))
        frozen.add_entry(task, problem)
        if _selected(suite, task.task_id, task.domain_name):
            where = f"{source.label}: task {task.task_id}: seed_database_file"
            frozen.findings.append(Finding(where=where, problem=problem))


def _add_unread(frozen: Frozen, suite: Suite, source: Source, bad: Sequence[BadRow], taken: set[str]) -> None:
    places = {row.message: row.source for row in bad}
    named = problems_by_id(bad, taken, suite.ids)
    for task_id, message in problems_by_id(bad, taken).items():
        entry = SuiteEntry(task_id=task_id, domain=UNREAD_DOMAIN, gyms=[], digest=digest_of(message), problem=message)
        frozen.entries.append(entry)
        if task_id in named:
            place = places[message]
            problems = (line.removeprefix(f"{place}: ") for line in message.splitlines())
            frozen.findings.append(Finding(where=f"{source.label}: {place}", problem="; ".join(problems)))


def _selected(suite: Suite, task_id: str, domain: str) -> bool:
    return (not suite.ids or task_id in suite.ids) and (not suite.domains or domain in suite.domains)


def _without(folder: Path, text: str) -> str:
    """A message without the pod's own path, which the suite's author does not know."""
    return text.replace(f"{folder}/", "").replace(str(folder), "the suite")
