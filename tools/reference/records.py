"""Fields of the records that a run keeps, and their JSON schema.

Invariant: parts that belong to a kind (`EvalRunSpec` and below) are in kinds.md only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from tools.reference.tables import cell, code, table, type_of

from opsgym_api.described import DescribedSchema
from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.failure_labels import JudgedTrial, PersonLabels
from opsgym_api.records.gate import GateRecord, LookRecord
from opsgym_api.records.run import Control, PinRecord, PlanRecord, RunRecord
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.records.transcript import CatalogueRecord, Reasoning, Transcript

SCHEMA = Path("crds/records.schema.json")
RECORDS: tuple[type[Any], ...] = (
    RunRecord, TrialRecord, AttemptRecord, Transcript, Reasoning, CatalogueRecord, StateDifference, GateRecord,
    LookRecord, PlanRecord, Control, PinRecord, JudgedTrial, PersonLabels,
)  # fmt: skip
"""What the store has objects of."""
_INTRO = (
    "\n[records.md](../records.md) says under which key each record is stored. "
    "[crds/records.schema.json](../../crds/records.schema.json) is the JSON schema of all of them, and\n"
    "[crds/task.schema.json](../../crds/task.schema.json) that of a task row. Parts of an EvalRun's spec are in "
    "[kinds.md](kinds.md).\n"
)


def _schema() -> dict[str, Any]:
    _, schema = TypeAdapter.json_schemas(
        [(kind.__name__, "serialization", TypeAdapter(kind)) for kind in RECORDS], schema_generator=DescribedSchema
    )
    return schema


def records_schema() -> str:
    """The schema of all records, as the file's text: one of them, by its fields."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Records of opsgym",
        "anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in RECORDS],
        "$defs": _schema()["$defs"],
    }
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":")) + "\n"


def records_page() -> str:
    """A section for each record, and then for each part of one."""
    definitions = _schema()["$defs"]
    names = [kind.__name__ for kind in RECORDS]
    return _INTRO + "".join(_section(name, definitions[name]) for name in [*names, *_parts(names, definitions)])


def _parts(names: list[str], definitions: Mapping[str, Any]) -> list[str]:
    """Names of what the records consist of, in the order of their first use; the kinds' own parts are left out."""
    reached = dict.fromkeys(names)
    waiting = list(names)
    while waiting:
        for name in _refs(definitions[waiting.pop(0)]):
            if name not in reached and name not in _OF_KINDS:
                reached[name] = None
                waiting.append(name)
    return [name for name in reached if name not in names]


_OF_KINDS = frozenset({"EvalRunSpec", "Gate", "Prices"})


def _refs(schema: object) -> list[str]:
    if isinstance(schema, Mapping):
        own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
        return own + [name for part in schema.values() for name in _refs(part)]
    return [name for part in schema for name in _refs(part)] if isinstance(schema, list) else []


def _section(name: str, schema: Mapping[str, Any]) -> str:
    text = f"\n## {name}\n\n{schema.get('description', '')}".rstrip() + "\n"
    if "properties" not in schema:
        return f"{text}\n{type_of(schema)}\n"
    rows = [
        (
            f"`{field}`",
            _linked(type_of(part)),
            "required" if field in schema.get("required", ()) else _default(part),
            cell(part.get("description", "")),
        )
        for field, part in schema["properties"].items()
    ]
    return f"{text}\n{table(('field', 'type', 'default', 'meaning'), rows)}"


def _default(part: Mapping[str, Any]) -> str:
    """A field's default; that of a part with fields of its own is the part's defaults."""
    value = part.get("default")
    return "" if isinstance(value, dict) and value else code(value)


def _linked(text: str) -> str:
    """A type, with parts of kinds as plain names."""
    for name in _OF_KINDS:
        text = text.replace(f"[{name}](#{name.lower()})", f"[{name}](kinds.md)")
    return text
