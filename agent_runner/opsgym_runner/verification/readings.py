"""Readings of a text: the same statement without what typography, contractions and number words make of it.

Invariant: a reading states what the text states. A pattern is found if it is found in any reading, so patterns need no
forms of their own for curly quotes, non-breaking hyphens, `wasn't` or `three`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\u0060"
_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_ASCII = str.maketrans(
    {**dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_QUOTES, '"')}
    | dict.fromkeys(_INVISIBLE, "")
)
_IRREGULAR = {"can't": "cannot", "won't": "will not", "shan't": "shall not", "ain't": "is not"}
_CONTRACTION = re.compile(r"\b(can't|won't|shan't|ain't|([a-z]+)n't)\b", re.IGNORECASE)
_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_UNITS += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TEN, _UNIT = "|".join(_TENS), "|".join(sorted(_UNITS[2:], key=len, reverse=True))
_NUMBER = re.compile(
    rf"\b(?:(?P<ten>{_TEN})(?:[ -](?P<more>one|{'|'.join(_UNITS[2:10])}))?|(?P<unit>zero|{_UNIT})"
    # As a pronoun ("the old one"), `one` states no number.
    r"|(?<=: )(?P<first>one)|(?<=, )(?P<next>one)|(?<=and )(?P<last>one))\b",
    re.IGNORECASE,
)


def matches(pattern: str, text: str, flags: int = 0) -> bool:
    """Whether a regular expression is found in a text, or in one of its readings."""
    return any(re.search(pattern, reading, flags) for reading in readings(text))


@lru_cache(maxsize=64)
def readings(text: str) -> Sequence[str]:
    """The text, and those of its readings that differ: plain characters, full forms, and figures."""
    plain = plain_characters(text)
    full = _CONTRACTION.sub(_full_form, plain)
    return list(dict.fromkeys([text, plain, full, _NUMBER.sub(_figure, plain), _NUMBER.sub(_figure, full)]))


def plain_characters(text: str) -> str:
    """A text in compatibility form (NFKC), with the dashes, quotes and blanks of ASCII."""
    return unicodedata.normalize("NFKC", text.translate(_ASCII)).translate(_ASCII)


def _full_form(match: re.Match[str]) -> str:
    word = match[1].lower()
    return _IRREGULAR.get(word, f"{match[2]} not")


def _figure(match: re.Match[str]) -> str:
    if match["ten"]:
        tens = 20 + 10 * _TENS.index(match["ten"].lower())
        return str(tens + (_UNITS.index(match["more"].lower()) if match["more"] else 0))
    return str(_UNITS.index(match[0].lower()))
