"""The chart opsgym-crds of the version after this one, made from this one's definitions.

The kinds have another field, with a default, in every object of spec and status: the API server shows it on every
EvalRun, also on those from before.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml
from tests.helm.charts import CRDS

Schema = dict[str, Any]

NEW_FIELD = "fieldOfTheNextVersion"


def newer_kinds(folder: Path) -> Path:
    """A copy of the chart opsgym-crds whose definitions have one more field in every object of spec and status."""
    shutil.copytree(CRDS, folder)
    for path in (folder / "definitions").glob("*.yaml"):
        definition = yaml.safe_load(path.read_text())
        for version in definition["spec"]["versions"]:
            properties = version["schema"]["openAPIV3Schema"]["properties"]
            properties |= {part: newer(properties[part]) for part in ("spec", "status") if part in properties}
        path.write_text(yaml.safe_dump(definition, sort_keys=False))
    return folder


def newer(schema: Schema) -> Schema:
    """A schema with one more field in every object that has fields."""
    inner = dict(schema)
    for keyword in ("items", "additionalProperties"):
        if isinstance(inner.get(keyword), dict):
            inner[keyword] = newer(inner[keyword])
    if "properties" not in inner:
        return inner
    fields = {name: newer(field) for name, field in inner["properties"].items()}
    return {**inner, "properties": {**fields, NEW_FIELD: {"type": "string", "default": "a"}}}
