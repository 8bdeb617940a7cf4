"""Fields of the kinds, from the CRDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from tools.reference.tables import cell, code, table, type_of


def kinds_page(root: Path) -> str:
    """A section for each kind."""
    files = sorted(root.glob("crds/*.opsgym.dev.yaml"))
    return "".join(_kind(yaml.safe_load(file.read_text(encoding="utf-8"))) for file in files)


def _kind(definition: Mapping[str, Any]) -> str:
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    rows = [row for part in ("spec", "status") if part in schema for row in _fields(schema[part], part)]
    return f"\n## {definition['spec']['names']['kind']}\n\n{table(('field', 'type', 'default', 'meaning'), rows)}"


def _fields(schema: Mapping[str, Any], above: str) -> Iterator[tuple[str, ...]]:
    """A row for each field below one, in the order of the declaration."""
    for name, field in schema.get("properties", {}).items():
        path = f"{above}.{name}"
        default = "required" if name in schema.get("required", ()) else code(field.get("default"))
        yield f"`{path}`", type_of(field), default, cell(field.get("description", ""))
        yield from _fields(field, path)
        yield from _fields(field.get("items", {}), f"{path}[]")
