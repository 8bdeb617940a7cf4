"""The stored form of transcripts and of the reasoning beside them: JSON, compressed with Zstandard.

Invariant: `decode_record` reads what `encode_record` wrote, unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

import zstandard
from pydantic import ValidationError

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.transcript import Reasoning, StepReasoning, Transcript
from opsgym_api.records.version import unreadable_because
from opsgym_core.store.base import Store

R = TypeVar("R", Transcript, Reasoning)


class TranscriptError(ValueError):
    """A stored object is damaged, or not a record of this version.

    Attributes:
        damaged: Whether the object cannot be decompressed; otherwise its content cannot be read.
    """

    def __init__(self, problem: str, *, damaged: bool = False) -> None:
        self.damaged = damaged
        super().__init__(problem)


def encode_record(record: Transcript | Reasoning) -> bytes:
    """The stored form of a transcript or reasoning record."""
    return zstandard.compress(record.model_dump_json().encode())


def decode_record(content: bytes, kind: type[R]) -> R:
    """The record in a stored object.

    Raises:
        TranscriptError: The content is damaged, or not a record of this version.
    """
    try:
        return kind.model_validate_json(zstandard.decompress(content))
    except zstandard.ZstdError:
        raise TranscriptError("is damaged", damaged=True) from None
    except ValidationError as error:
        raise TranscriptError(unreadable_because(error, kind.__name__)) from None


def read_transcript(store: Store, key: str) -> Transcript | None:
    """The transcript of that key; None if the store has no such object.

    Raises:
        InputError: The object is not a transcript.
        StoreError: The store cannot be read.
    """
    return _read(store, key, Transcript)


def read_reasoning(store: Store, key: str) -> Mapping[int, StepReasoning]:
    """Reasoning of an attempt by position of the reply in its transcript; empty if none is stored.

    Args:
        store: The store.
        key: `TrialKeys.reasoning` or `TrialKeys.failed_reasoning`.

    Raises:
        InputError: The object is not a reasoning record.
        StoreError: The store cannot be read.
    """
    record = _read(store, key, Reasoning)
    return {} if record is None else {step.event: step for step in record.steps}


def _read(store: Store, key: str, kind: type[R]) -> R | None:
    content = store.get(key)
    if content is None:
        return None
    try:
        return decode_record(content, kind)
    except TranscriptError as error:
        raise InputError(f"{store.name}/{key}", [Problem("", str(error))]) from None


def result_text(rendered: str) -> str:
    """Text of a tool result without its JSON envelope; the input itself if it has none."""
    try:
        return "\n".join(part["text"] for part in json.loads(rendered)["content"])
    except (ValueError, KeyError, TypeError):
        return rendered
