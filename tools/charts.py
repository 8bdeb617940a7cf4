"""Keeps what the Helm charts repeat in step with its source.

Invariant: the CRDs in `helm/opsgym-crds` are those of `crds/`, and the table of values in `helm/opsgym/README.md` says
what `values.schema.json` and `values.yaml` say.

    python tools/charts.py           writes the files
    python tools/charts.py --check   exits 1 and names the files that are not current
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
DEFINITIONS = Path("helm/opsgym-crds/definitions")
README = Path("helm/opsgym/README.md")
TABLE = re.compile(r"(?<=<!-- values -->\n).*(?=<!-- /values -->)", re.DOTALL)


def wanted(root: Path) -> dict[Path, str]:
    """The text of each file, by its path below the root."""
    files = {DEFINITIONS / source.name: source.read_text(encoding="utf-8") for source in root.glob("crds/*.yaml")}
    chart = root / README.parent
    schema = json.loads((chart / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    table = "\n".join(["| value | default | meaning |", "| --- | --- | --- |", *rows(schema, values)])
    files[README] = TABLE.sub(lambda _: f"{table}\n", (root / README).read_text(encoding="utf-8"))
    return files


def rows(schema: Mapping[str, Any], values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """A row for every value that is set as a whole."""
    for name, part in schema["properties"].items():
        if name not in values:
            continue
        if "properties" in part:
            yield from rows(part, values[name], f"{above}{name}.")
        else:
            default = json.dumps(values[name], ensure_ascii=False)
            yield f"| `{above}{name}` | `{default}` | {part['description']} |"
            yield from _item_rows(part.get("items", {}), f"{above}{name}[]")


def _item_rows(item: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, part in item.get("properties", {}).items():
        required = "required" if name in item.get("required", ()) else ""
        yield f"| `{above}.{name}` | {required} | {part['description']} |"


def main(root: Path, *, check: bool) -> int:
    """Writes the files, or says which are not current; the exit code."""
    files = wanted(root)
    stray = [path for path in (root / DEFINITIONS).glob("*.yaml") if path.relative_to(root) not in files]
    stale = {path: text for path, text in files.items() if not _holds(root / path, text)}
    if check:
        for path in (*stale, *(path.relative_to(root) for path in stray)):
            sys.stderr.write(f"{path} is not current; run `make generate`\n")
        return 1 if stale or stray else 0
    for path, text in stale.items():
        (root / path).write_text(text, encoding="utf-8")
    for path in stray:
        path.unlink()
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(ROOT, check="--check" in sys.argv[1:]))
