"""Writes docs/reference: fields of the kinds and commands, as their declarations describe them.

Invariant: a page says nothing that the CRDs or the command's help do not say.

    python -m tools.reference           writes the pages
    python -m tools.reference --check   exits 1 and names the pages that are not current
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import yaml
from tools.generated import sync

import opsgym.main  # noqa: F401 - it adds the commands
from opsgym.command_line.group import cli

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("docs/reference")
_MADE = "`python -m tools.reference` writes this page.\n"


def expected(root: Path) -> dict[Path, str]:
    """Expected text of each page, by path relative to the root."""
    kinds = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(root.glob("crds/*.opsgym.dev.yaml"))]
    fields = f"# Fields of the kinds\n\n{_MADE}" + "".join(_kind(kind) for kind in kinds)
    commands = f"# Commands\n\n{_MADE}" + _command(cli, ("opsgym",))
    return {FOLDER / "kinds.md": fields, FOLDER / "commands.md": commands}


def _kind(definition: Mapping[str, Any]) -> str:
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    rows = "\n".join(row for part in ("spec", "status") if part in schema for row in _fields(schema[part], part))
    return (
        f"\n## {definition['spec']['names']['kind']}\n\n| field | type | default | meaning |\n"
        f"| --- | --- | --- | --- |\n{rows}\n"
    )


def _fields(schema: Mapping[str, Any], above: str) -> Iterator[str]:
    """A row for each field below one, in the order of the declaration."""
    for name, field in schema.get("properties", {}).items():
        path = f"{above}.{name}"
        default = "required" if name in schema.get("required", ()) else _code(field.get("default"))
        yield f"| `{path}` | {_type(field)} | {default} | {_cell(field.get('description', ''))} |"
        yield from _fields(field, path)
        yield from _fields(field.get("items", {}), f"{path}[]")


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(_code(value) for value in field["enum"])
    name = "integer or string" if field.get("x-kubernetes-int-or-string") else str(field.get("type", "any"))
    return f"{name} of {_type(field['items'])}" if "items" in field else name


def _code(value: object) -> str:
    return "" if value is None else f"`{_cell(json.dumps(value, ensure_ascii=False))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _command(one: click.Command, path: tuple[str, ...]) -> str:
    """Sections of a command and of those below it, with the help that `--help` prints at 100 columns."""
    context = click.Context(one, info_name=" ".join(path), terminal_width=100, help_option_names=["-h", "--help"])
    text = f"\n## {' '.join(path)}\n\n```text\n{one.get_help(context).rstrip()}\n```\n"
    below = one.commands if isinstance(one, click.Group) else {}
    return text + "".join(_command(part, (*path, name)) for name, part in sorted(below.items()) if not part.hidden)


def main(root: Path, *, check: bool) -> int:
    """Writes the pages, or reports those that are not current; returns the exit code."""
    (root / FOLDER).mkdir(exist_ok=True)
    return sync(root, expected(root), (root / FOLDER).glob("*.md"), check=check)


if __name__ == "__main__":
    sys.exit(main(ROOT, check="--check" in sys.argv[1:]))
