"""docs/security.md guarantees nothing without a test.

What is guaranteed stands in tables, whose last column has the tests. Every sentence outside of them is one of
`security_explanations.txt`, which has only sentences that guarantee nothing: so no guarantee is added in passing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
EXPLANATIONS = Path(__file__).with_name("security_explanations.txt")
"""Sentences of the page that explain, advise or say what is not guaranteed, one a line."""
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.?!])\s+")


def blocks(page: str) -> Iterator[list[str]]:
    """Paragraphs and tables of a page as their lines, without headings and code."""
    for block in re.split(r"\n\s*\n", FENCE.sub("\n", page)):
        if lines := [line for line in block.splitlines() if line.strip() and not line.startswith("#")]:
            yield lines


def claims(page: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each row of a page's tables, with its tests by file and name; none if the last column is not of tests."""
    for header, *rows in blocks(page):
        if header.startswith("|"):
            has_tests = header.rstrip("| ").endswith(" test")
            for row in rows[1:]:
                *cells, last = (cell.strip() for cell in row.strip().strip("|").split("|"))
                yield " | ".join(cells), TEST.findall(last) if has_tests else []


def prose(page: str) -> list[str]:
    """The sentences of a page outside of its tables."""
    paragraphs = [" ".join(line.strip() for line in lines) for lines in blocks(page) if not lines[0].startswith("|")]
    return [sentence for paragraph in paragraphs for sentence in SENTENCE_END.split(paragraph)]


def functions_of(file: str) -> set[str]:
    """Names of the test functions of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def unproved(page: str) -> list[str]:
    """What a page guarantees, or may guarantee, without a test that exists."""
    explained = EXPLANATIONS.read_text(encoding="utf-8").splitlines()
    rows = list(claims(page))
    absent = [
        f"{file}::{name}"
        for _, tests in rows
        for file, name in tests
        if not (ROOT / file).exists() or name not in functions_of(file)
    ]
    return [
        *(row for row, tests in rows if not tests),
        *absent,
        *(sentence for sentence in prose(page) if sentence not in explained),
    ]


def test_every_guarantee_of_the_security_page_has_a_test_that_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(list(claims(page))) > 50
    assert unproved(page) == []


def test_every_explanation_is_on_the_security_page() -> None:
    page = prose(PAGE.read_text(encoding="utf-8"))
    assert [line for line in EXPLANATIONS.read_text(encoding="utf-8").splitlines() if line not in page] == []


@pytest.mark.parametrize(
    ("text", "unproved_part"),
    [
        ("Requests are not limited by rate. Pods\nfly.", "Pods fly."),
        ("- Pods fly.", "- Pods fly."),
        ("| pods | test |\n| --- | --- |\n| fly | |", "fly"),
        ("| pods | how |\n| --- | --- |\n| fly | `tests/lint/test_words.py::test_plain_text_is_accepted` |", "fly"),
        ("| pods | test |\n| --- | --- |\n| fly | `tests/lint/test_words.py::no` |", "tests/lint/test_words.py::no"),
    ],
    ids=["paragraph", "list", "no test", "no column of tests", "unknown test"],
)
def test_a_guarantee_without_a_test_is_found_wherever_it_stands(text: str, unproved_part: str) -> None:
    assert unproved(f"# Security\n\n{text}\n\n```json\nnothing\n```\n") == [unproved_part]
