"""docs/security.md claims nothing without a test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def claims() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each sentence of the tables `sentence | test`, with its tests by file and name."""
    in_table = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells == ["sentence", "test"]:
            in_table = True
        elif not line.startswith("|"):
            in_table = False
        elif in_table and not cells[0].startswith("---"):
            yield cells[0], TEST.findall(cells[-1])


def functions_of(file: str) -> set[str]:
    """Names of the test functions of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_sentence_of_the_security_page_has_a_test_that_exists() -> None:
    named = dict(claims())
    assert len(named) > 10
    assert [sentence for sentence, tests in named.items() if not tests] == []
    absent = [
        f"{file}::{name}"
        for tests in named.values()
        for file, name in tests
        if not (ROOT / file).exists() or name not in functions_of(file)
    ]
    assert absent == []
