"""JSON schema of a task row, for editors and for programs that write rows.

Invariant: every row that `task.Task` accepts as written by hand meets the schema. Rows of the data set whose fields are
JSON in strings do not.

    python -m opsgym_api.tasks.json_schema           writes crds/task.schema.json
    python -m opsgym_api.tasks.json_schema --check   exits 1 if it is not current
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from opsgym_api.described import DescribedSchema
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.verifiers import CONFIG_OF

FILE = Path(__file__).resolve().parents[2] / "task.schema.json"
"""The generated file, in `crds/` of the source tree."""
_REF = "#/$defs/{model}"


def task_schema() -> dict[str, Any]:
    """The schema of one row; a file may also have a list of rows."""
    models: Sequence[type[BaseModel]] = [Task, *CONFIG_OF.values()]
    _, schema = models_json_schema(
        [(model, "validation") for model in models], ref_template=_REF, schema_generator=DescribedSchema
    )
    definitions = schema["$defs"]
    definitions["Verifier"]["allOf"] = [
        {
            "if": {"properties": {"verifier_type": {"const": kind}}},
            "then": {"properties": {"validation_config": {"$ref": _REF.format(model=config.__name__)}}},
        }
        for kind, config in CONFIG_OF.items()
    ]
    _add_short_forms(definitions)
    row = {"$ref": _REF.format(model="Task")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Task rows of opsgym",
        "anyOf": [row, {"type": "array", "items": row}],
        "$defs": definitions,
    }


def _add_short_forms(definitions: dict[str, Any]) -> None:
    """Adds what validators accept besides the declared types: a value for a condition, a text or list of columns."""
    condition = definitions["Condition"]
    has = condition["properties"]["has"]
    condition["properties"]["has"] = {"anyOf": [{"type": "string"}, has]}
    plain = {"type": ["string", "number", "boolean", "null", "array"]}
    definitions["Condition"] = {"anyOf": [plain, condition]}
    may = definitions["ExpectedRow"]["properties"]["may"]
    definitions["ExpectedRow"]["properties"]["may"] = {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, may],
        "description": may.get("description", ""),
    }
    # A null of an optional field counts as absent: a table has every column in every row.
    for definition in definitions.values():
        required = definition.get("required", ())
        for name, field in definition.get("properties", {}).items():
            if name not in required and definition.get("additionalProperties") is True:
                definition["properties"][name] = {"anyOf": [field, {"type": "null"}]}


def main(arguments: list[str]) -> int:
    """Writes the file, or checks it with `--check`; returns the exit code."""
    text = json.dumps(task_schema(), indent=1, ensure_ascii=False) + "\n"
    if "--check" not in arguments:
        FILE.write_text(text, encoding="utf-8")
        return 0
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{FILE.name} is not current; run `make generate`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
