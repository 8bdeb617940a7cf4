"""Writes a suite as the published data set is laid out: a folder for the mode, in it a file for each domain.

Invariant: a file has every row of its domain, whole: published columns first, then opsgym's, and `opsgym tasks import`
makes the same rows of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from opsgym.formats.parquet import parquet_bytes, pyarrow
from opsgym.taskexport.files import MODE, SEED_FOLDER, require_installed, seed_file, seed_text, write_file
from opsgym.taskexport.published import HARNESS
from opsgym.taskimport.seeds import Seeds
from opsgym_api.tasks.task import Task

DatasetFormat = Literal["jsonl", "parquet"]
PUBLISHED_COLUMNS = (
    "task_id",
    "domain",
    "system_prompt",
    "user_prompt",
    "selected_tools",
    "restricted_tools",
    "mcp_endpoint",
    "number_of_runs",
    "reset_database_between_runs",
    "gym_servers_config",
    "verifiers",
)
"""Columns of the published data set, in its order (card of ServiceNow-AI/EnterpriseOps-Gym on Hugging Face)."""


def write_dataset(
    tasks: Sequence[Task], out: Path, form: DatasetFormat, seeds: Seeds, done: Callable[[], None]
) -> list[Path]:
    """Writes rows and the seeds that they start from; the paths of the files with rows.

    Args:
        tasks: The suite.
        out: Folder to write to: rows to `oracle`, seeds to `seeds`.
        form: `jsonl`: a row on each line, lists and objects as JSON. `parquet`: a column for each field; lists of texts
            are lists, other lists and objects JSON text, as in the published data set.
        seeds: Seed files that rows name; built-in seeds need none.
        done: Called after each row.

    Raises:
        InputError: A seed is missing, a file cannot be written, or pyarrow is needed and not installed.
    """
    by_domain: dict[str, list[dict[str, Any]]] = {}
    written: set[str] = set()
    for task in tasks:
        for server in task.gym_servers_config:
            require_installed(task, server)
            name = seed_file(server)
            if name not in written:
                written.add(name)
                write_file(out, f"{SEED_FOLDER}/{name}", seed_text(task, server, seeds).encode())
        by_domain.setdefault(task.domain_name, []).append(_row(task))
        done()
    rows = [row for of_domain in by_domain.values() for row in of_domain]
    encode = _json_lines if form == "jsonl" else _parquet_with(rows)
    return [
        write_file(out, f"{MODE}/{domain}-00000-of-00001.{form}", encode(columns_of(rows), of_domain))
        for domain, of_domain in by_domain.items()
    ]


def _row(task: Task) -> dict[str, Any]:
    """The row of a task with all published columns, and of opsgym's those that it sets."""
    published = task.model_dump(mode="json", include=set(PUBLISHED_COLUMNS)) | {"domain": task.domain_name}
    return HARNESS | published | task.model_dump(mode="json", exclude_unset=True)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the rows' fields: the published columns that a row has, then those of opsgym, then others."""
    present = dict.fromkeys(name for row in rows for name in row)
    known = dict.fromkeys([*PUBLISHED_COLUMNS, *Task.model_fields, *present])
    return [name for name in known if name in present]


def _json_lines(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    ordered = ({name: row[name] for name in columns if name in row} for row in rows)
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in ordered).encode()


def _parquet_with(rows: Sequence[Mapping[str, Any]]) -> Callable[[Sequence[str], Sequence[Mapping[str, Any]]], bytes]:
    """Writes rows as Parquet; the files of a suite have one schema, which follows from all of its rows."""
    pa = pyarrow()
    schema = pa.schema([(name, _type(pa, [row[name] for row in rows if name in row])) for name in columns_of(rows)])

    def encode(columns: Sequence[str], of_domain: Sequence[Mapping[str, Any]]) -> bytes:
        values = [{name: _value(schema.field(name).type, row.get(name)) for name in columns} for row in of_domain]
        return parquet_bytes(pa.Table.from_pylist(values, schema))

    return encode


def _type(pa: Any, values: Sequence[Any]) -> Any:
    """Type of a column: numbers, lists of texts, or text, which is JSON for anything else."""
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if all(isinstance(value, int) for value in values):
        return pa.int64()
    if all(isinstance(value, list) and all(isinstance(text, str) for text in value) for value in values):
        return pa.list_(pa.string())
    return pa.string()


def _value(kind: Any, value: Any) -> Any:
    is_json = str(kind) == "string" and not isinstance(value, str | None)
    return json.dumps(value, ensure_ascii=False) if is_json else value
