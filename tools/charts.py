"""Generates the parts of the Helm charts that repeat other sources.

Invariant: the CRDs in `helm/opsgym-crds` are those of `crds/`, the schema of the values takes an EvalModel's spec as
its CRD does, and the table of values in `helm/opsgym/README.md` says what `values.schema.json` and `values.yaml` say.

    python -m tools.charts           writes the files
    python -m tools.charts --check   exits 1 and names the files that are not current
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from tools.generated import sync

ROOT = Path(__file__).resolve().parents[1]
DEFINITIONS = Path("helm/opsgym-crds/definitions")
README = Path("helm/opsgym/README.md")
SCHEMA = Path("helm/opsgym/values.schema.json")
MODEL = re.compile(r'(?<=    "evalModelSpec": ).*?(?=,\n    "quota": )', re.DOTALL)
TABLE = re.compile(r"(?<=<!-- values -->\n).*(?=<!-- /values -->)", re.DOTALL)
_LEFT_OUT = ("description", "default")


def expected(root: Path) -> dict[Path, str]:
    """Expected text of each file, by path relative to the root."""
    files = {DEFINITIONS / source.name: source.read_text(encoding="utf-8") for source in root.glob("crds/*.yaml")}
    spec = json.dumps(closed(_model_spec(root)), indent=2).replace("\n", "\n    ")
    files[SCHEMA] = MODEL.sub(lambda _: spec, (root / SCHEMA).read_text(encoding="utf-8"))
    schema = json.loads(files[SCHEMA])
    values = yaml.safe_load((root / README.parent / "values.yaml").read_text(encoding="utf-8"))
    table = "\n".join(
        ["| value | default | meaning |", "| --- | --- | --- |", *rows(schema, values, schema["definitions"])]
    )
    files[README] = TABLE.sub(lambda _: f"{table}\n", (root / README).read_text(encoding="utf-8"))
    return files


def _model_spec(root: Path) -> Mapping[str, Any]:
    kind = yaml.safe_load((root / "crds" / "evalmodels.opsgym.dev.yaml").read_text(encoding="utf-8"))
    spec: Mapping[str, Any] = kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of a CRD as a JSON schema that refuses fields which the API server would drop, without their texts."""
    made = {key: value for key, value in schema.items() if key not in _LEFT_OUT and not key.startswith("x-")}
    if "properties" in schema:
        made["properties"] = {name: closed(part) for name, part in schema["properties"].items()}
        made["additionalProperties"] = False
    if "items" in schema:
        made["items"] = closed(schema["items"])
    return made


def rows(
    schema: Mapping[str, Any], values: Mapping[str, Any], definitions: Mapping[str, Any], above: str = ""
) -> Iterator[str]:
    """Table rows, one for each value that has no properties of its own.

    Args:
        schema: Schema of the values.
        values: Their defaults.
        definitions: Schemas that others refer to.
        above: Path of the values, with a dot at its end.
    """
    for name, unresolved in schema["properties"].items():
        if name not in values:
            continue
        part = resolved(unresolved, definitions)
        if part.get("properties") and values[name]:
            yield from rows(part, values[name], definitions, f"{above}{name}.")
        else:
            default = json.dumps(values[name], ensure_ascii=False)
            yield f"| `{above}{name}` | `{default}` | {part['description']} |"
            yield from _item_rows(part.get("items", {}), f"{above}{name}[]")


def resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with the definition that it refers to, if it does; its own keywords come first."""
    return {**definitions[part["$ref"].rpartition("/")[2]], **part} if "$ref" in part else part


def _item_rows(item: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, part in item.get("properties", {}).items():
        required = "required" if name in item.get("required", ()) else ""
        yield f"| `{above}.{name}` | {required} | {part['description']} |"


def main(root: Path, *, check: bool) -> int:
    """Writes the files, or reports those that are not current; returns the exit code."""
    return sync(root, expected(root), (root / DEFINITIONS).glob("*.yaml"), check=check)


if __name__ == "__main__":
    sys.exit(main(ROOT, check="--check" in sys.argv[1:]))
