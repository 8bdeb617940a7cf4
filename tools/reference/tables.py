"""Tables and docstrings that several pages are made of."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; cells must have no line breaks, see `cell`."""
    lines = ["| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A text as the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code(value: object) -> str:
    """A JSON value as code; empty for none."""
    return "" if value is None else f"`{cell(json.dumps(value, ensure_ascii=False))}`"


def type_of(field: Mapping[str, Any]) -> str:
    """A field's type in words, by its schema; parts with a name of their own are links to their section."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in field or "const" in field:
        return ", ".join(code(value) for value in field.get("enum", [field.get("const")]))
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(type_of(part) for part in field["anyOf"]))
    if len(field.get("allOf", ())) == 1:
        return type_of(field["allOf"][0])
    name = "integer or string" if field.get("x-kubernetes-int-or-string") else str(field.get("type", "any"))
    parts = field.get("items") or (field.get("additionalProperties") if "properties" not in field else None)
    return f"{name} of {type_of(parts)}" if isinstance(parts, Mapping) and parts else name


def member_docs(kind: type[Enum]) -> dict[str, str]:
    """Docstrings of an enumeration's members, by value; empty for a member without one."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    texts = {
        target.id: inspect.cleandoc(text.value.value)
        for member, text in pairwise(definition.body)
        if isinstance(member, ast.Assign) and isinstance(text, ast.Expr)
        for target in member.targets
        if isinstance(target, ast.Name) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
    return {str(member.value): texts.get(member.name, "") for member in kind}
