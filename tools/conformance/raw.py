"""Raw results: the result object of a recorded call and its text, to the byte.

Invariant: this compares what data does not show: the keys of the result object, the order of keys, and how the text is
written (indentation, escapes). Values are compared elsewhere.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_INDENTS = (None, 2, 4)


@dataclass(frozen=True)
class RawResult:
    """Form of a recorded result."""

    envelope: tuple[str, ...]
    """Keys of the result object, in order."""
    content: tuple[tuple[str, ...], ...]
    """Keys of each content item, in order."""
    text: str


def read_raw_results(upstream: Path, domain: str) -> dict[tuple[str, int], RawResult]:
    """Raw results of a domain by task or session, and step; none if the facts have none."""
    path = upstream / "trajectories" / "raw-envelopes.jsonl.gz"
    if not path.exists():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {
        (line.get("task_id") or line["session"], line["step"]): RawResult(
            tuple(line["envelope"]), tuple(map(tuple, line["content"])), line["text"]
        )
        for line in lines
        if line["domain"] == domain
    }


def raw_problems(recorded: RawResult | None, actual: Mapping[str, Any]) -> Iterator[str]:
    """How the form of our result differs; nothing if the recorded form is not known.

    Args:
        recorded: Form of the recorded result.
        actual: Our result object.
    """
    if recorded is None:
        return
    keys = tuple(actual), tuple(tuple(item) for item in actual["content"])
    if keys != (recorded.envelope, recorded.content):
        yield f"keys of the result: recorded {recorded.envelope} {recorded.content}, actual {keys[0]} {keys[1]}"
    text = actual["content"][0]["text"]
    left, right = _data(recorded.text), _data(text)
    if left is None or right is None:
        return
    if _form(recorded.text, left) != _form(text, right):
        yield f"form of the text: recorded {_form(recorded.text, left)}, actual {_form(text, right)}"
    elif (difference := _other_order(left, right)) is not None:
        yield f"order of keys: {difference}"


def _data(text: str) -> Any:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return data if isinstance(data, dict | list) else None


def _form(text: str, data: Any) -> str:
    """How a text writes its data: indentation, and whether letters beyond ASCII are escaped."""
    for indent in _INDENTS:
        for escaped in (True, False):
            if text == json.dumps(data, indent=indent, ensure_ascii=escaped):
                return f"indent {indent}{'' if escaped else ', not escaped'}"
    return "another"


def _other_order(left: Any, right: Any, path: str = "") -> str | None:
    """The first object whose keys are the same in another order."""
    if isinstance(left, dict) and isinstance(right, dict):
        if set(left) == set(right) and list(left) != list(right):
            return f"{path or 'answer'}: recorded {', '.join(left)}, actual {', '.join(right)}"
        parts = [(left[name], right[name], f"{path}.{name}") for name in left if name in right]
    elif isinstance(left, list) and isinstance(right, list):
        parts = [(one, other, f"{path}[{place}]") for place, (one, other) in enumerate(zip(left, right, strict=False))]
    else:
        return None
    return next((difference for part in parts if (difference := _other_order(*part)) is not None), None)
