"""The chart opsgym-crds of the version before this one and of the next, made from this one's definitions.

The older kinds lack fields that are optional here, with the rules about them. The newer ones have another field, with a
default, in every object of spec and status: the API server shows it on every EvalRun, also on those from before.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from tests.helm.charts import CRDS

Schema = dict[str, Any]
Change = Callable[[Schema], Schema]
"""A change of a schema."""

NEW_FIELD = "fieldOfTheNextVersion"
LATEST_FIELDS = ("pods", "trialsPerPod", "minTrials", "queuePriorityClass", "variant")
"""Fields of an EvalRun's spec that the older kinds lack."""


def older(schema: Schema) -> Schema:
    """A schema without the latest fields."""
    return _changed(schema, _without_latest)


def newer(schema: Schema) -> Schema:
    """A schema with one more field in every object."""
    return _changed(schema, _with_new)


def crds_chart(folder: Path, change: Change) -> Path:
    """A copy of the chart opsgym-crds whose definitions have other schemas of spec and status."""
    shutil.copytree(CRDS, folder)
    for path in (folder / "definitions").glob("*.yaml"):
        definition = yaml.safe_load(path.read_text())
        for version in definition["spec"]["versions"]:
            properties = version["schema"]["openAPIV3Schema"]["properties"]
            properties |= {part: change(properties[part]) for part in ("spec", "status") if part in properties}
        path.write_text(yaml.safe_dump(definition, sort_keys=False))
    return folder


def _changed(schema: Schema, change: Change) -> Schema:
    """A schema with a change of every object in it that has fields."""
    inner = dict(schema)
    for keyword in ("items", "additionalProperties"):
        if isinstance(inner.get(keyword), dict):
            inner[keyword] = _changed(inner[keyword], change)
    if "properties" not in inner:
        return inner
    inner["properties"] = {name: _changed(field, change) for name, field in inner["properties"].items()}
    return change(inner)


def _without_latest(schema: Schema) -> Schema:
    properties = {name: field for name, field in schema["properties"].items() if name not in LATEST_FIELDS}
    rules = schema.get("x-kubernetes-validations", [])
    known = [rule for rule in rules if not any(f".{field}" in rule["rule"] for field in LATEST_FIELDS)]
    return {**schema, "properties": properties, **({"x-kubernetes-validations": known} if rules else {})}


def _with_new(schema: Schema) -> Schema:
    field = {"type": "string", "default": "a"}
    return {**schema, "properties": {**schema["properties"], NEW_FIELD: field}}
