"""The word list: a planted word of each kind is refused, with its place and what to write instead."""

from __future__ import annotations

import pytest
from tools.words import problems_of


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        ("docs/a.md", "fine\nIt was told twice.\n", "docs/a.md:2: 'told'"),
        ("docs/a.md", "Somebody runs it.", "'Somebody'"),
        ("helm/opsgym/values.yaml", "# Whoever is on call", "'Whoever'"),
        ("cli/opsgym/a.py", "x = 'it is no store'", "'is no'"),
        ("domain_images/a.md", "The promise was broken", "'promise'"),
        ("core/a.py", "found = 1", "identifier 'found'"),
        ("core/a.py", "def use(_told: int) -> None: ...", "identifier '_told'"),
        ("core/a.py", "class Shelf:\n    shelf: int = 0\n", "identifier 'shelf'"),
    ],
)
def test_a_planted_word_is_refused_with_its_place(path: str, text: str, problem: str) -> None:
    assert any(problem in refused for refused in problems_of(path, text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/a.md", "There is no record; it is no longer there, and nothing was found."),
        ("console/a.js", "return new Promise(resolve => resolve())"),
        ("core/a.py", "founded = rows.found"),
    ],
)
def test_plain_text_is_accepted(path: str, text: str) -> None:
    assert list(problems_of(path, text)) == []
