"""Relevance score of a knowledge article for a free-text search.

Invariant: a score depends only on the search text, the title, the body and the state. The weights were derived from
scores of the published server (see docs/fidelity-unknown.md). Two of them are assumptions, because the recorded scores
do not determine them: the split of the phrase score between title and body, and that the constant 0.5 is for state
`published`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PUBLISHED = 0.5
_WORDS = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class _Weights:
    """Points for matches in one field of an article."""

    word: int
    """For each occurrence of a word, also inside other words."""
    number: int
    """Once, if a number occurs as a word of its own."""
    pair: int
    """Once for each pair of consecutive words."""
    triple: int
    """Once for each three consecutive words."""
    phrase: int
    """Once, if the whole search text occurs."""


_TITLE = _Weights(word=5, number=6, pair=15, triple=20, phrase=80)
_BODY = _Weights(word=1, number=3, pair=4, triple=5, phrase=25)


def score(search: str, *, title: str, body: str, state: str) -> float:
    """Relevance score; higher is better.

    Case and punctuation are ignored. Words match also inside other words; numbers and word sequences match only as
    whole words.

    Args:
        search: Search text.
        title: Title of the article.
        body: Body of the article.
        state: State of the article.
    """
    words = _words(search)
    base = _PUBLISHED if state == "published" else 0.0
    return base + _field_score(words, title, _TITLE) + _field_score(words, body, _BODY)


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def _field_score(words: Sequence[str], text: str, weights: _Weights) -> int:
    field = f" {' '.join(_words(text))} "
    points = sum(_word_score(word, field, weights) for word in words)
    for length, weight in ((2, weights.pair), (3, weights.triple), (len(words), weights.phrase)):
        rows = (words[start : start + length] for start in range(len(words) - length + 1))
        points += weight * sum(f" {' '.join(row)} " in field for row in rows if row)
    return points


def _word_score(word: str, field: str, weights: _Weights) -> int:
    if word.isdigit():
        return weights.number if f" {word} " in field else 0
    return weights.word * field.count(word)
