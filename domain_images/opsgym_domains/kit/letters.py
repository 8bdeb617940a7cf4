"""Characters as searches compare them: without case and accents.

Invariant: `FOLDS` maps a character to one other character, so that a text keeps its length and Postgres' `translate`
does the same. ASCII letters are not among them: Postgres' `lower` folds these, whose locale is C.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_RANGES = ((0xA0, 0x250), (0x370, 0x530), (0x2000, 0x2070), (0x3000, 0x3040), (0xFF01, 0xFF5F))
"""Latin, Greek and Cyrillic letters, punctuation, and the full-width forms of ASCII."""


def _folds() -> Iterator[tuple[str, str]]:
    for first, end in _RANGES:
        for character in map(chr, range(first, end)):
            decomposed = unicodedata.normalize("NFKD", character.lower())
            plain = "".join(one for one in decomposed if not unicodedata.combining(one))
            if unicodedata.category(character)[0] in "PSZ" or not plain.isprintable():
                yield character, " "
            elif len(plain) == 1 and plain != character:
                yield character, plain


FOLDS = dict(_folds())
"""Letters by the character that they are compared as; a space for punctuation, signs and spaces."""


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
