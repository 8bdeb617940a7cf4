"""Shapes of a domain's published tools, from the published benchmark's facts to the domain's `shapes.json`.

Invariant: a shape holds names, types, enumerations, bounds, defaults and required arguments; no description of the
published tools gets into the file.

    OPSGYM_UPSTREAM=… python -m tools.shapes DOMAIN [DOMAIN …]
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DOMAINS = Path(__file__).resolve().parents[1] / "domain_images" / "opsgym_domains"
_NAMED = frozenset({"properties", "patternProperties"})
"""Keywords whose value holds a schema by name; a name may be `description`."""


def main(domains: Sequence[str]) -> int:
    """Writes the shapes of the domains; returns 2 where the facts are missing."""
    facts = os.environ.get("OPSGYM_UPSTREAM")
    if not facts or not domains:
        sys.stderr.write("usage: OPSGYM_UPSTREAM=FOLDER python -m tools.shapes DOMAIN [DOMAIN …]\n")
        return 2
    for domain in domains:
        path = DOMAINS / domain / "shapes.json"
        path.write_text(shapes_file(published_shapes(Path(facts), domain)), encoding="utf-8")
        sys.stdout.write(f"{path}\n")
    return 0


def published_shapes(facts: Path, domain: str) -> dict[str, Any]:
    """Shape of every published tool of a domain, by name."""
    tools = json.loads((facts / "tools" / f"{domain}.json").read_text(encoding="utf-8"))["tools"]
    return {tool["name"]: without_descriptions(tool["input_schema"]) for tool in tools}


def without_descriptions(schema: Any) -> Any:
    """A schema, and the schemas within it, without descriptions."""
    if isinstance(schema, list):
        return [without_descriptions(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {keyword: _part(keyword, part) for keyword, part in schema.items() if keyword != "description"}


def _part(keyword: str, part: Any) -> Any:
    if keyword in _NAMED:
        return {name: without_descriptions(inner) for name, inner in part.items()}
    return part if keyword == "default" else without_descriptions(part)


def shapes_file(shapes: Mapping[str, Any]) -> str:
    """The text of `shapes.json`: one line a tool."""
    lines = (f"{json.dumps(name)}:{_compact(shape)}" for name, shape in shapes.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(shape: Any) -> str:
    return json.dumps(shape, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
