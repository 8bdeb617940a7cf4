"""Patterns of texts in documents and rows, each with the words that a message uses for it."""

from __future__ import annotations

WORDS: dict[str, str] = {}
"""What a text must be, by pattern."""


def pattern(expression: str, words: str) -> str:
    """A pattern of a field; a text that does not match it "must be" what the words say."""
    WORDS[expression] = words
    return expression


NAME = pattern(
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "lower-case letters, digits, '-' and '.', a letter or digit first and last"
)
VARIABLE = pattern(
    r"^[A-Za-z_][A-Za-z0-9_]*$", "the name of an environment variable: letters, digits and '_', no digit first"
)
