"""Extracts JSON from a model's reply. Invariant: no text makes it fail; a text without JSON yields nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_OPENING = re.compile(r"[{\[]")
_MAX_CHARACTERS = 50_000
"""Characters read, from the end of the text: the answer comes last."""


def values_in(text: str) -> Iterator[Any]:
    """The JSON objects and lists in a text, in order, fenced or between words."""
    text = text[-_MAX_CHARACTERS:]
    decoder, position = json.JSONDecoder(), 0
    while (opening := _OPENING.search(text, position)) is not None:
        try:
            value, position = decoder.raw_decode(text, opening.start())
        except ValueError:
            position = opening.end()
        except RecursionError:
            return
        else:
            yield value
