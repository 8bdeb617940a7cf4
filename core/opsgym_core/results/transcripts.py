"""The stored form of transcripts: JSON, compressed with Zstandard.

Invariant: `decode_transcript` reads what `encode_transcript` wrote, unchanged.
"""

from __future__ import annotations

import json

import zstandard
from pydantic import ValidationError

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.transcript import Transcript
from opsgym_core.store.base import Store


class TranscriptError(ValueError):
    """A stored object is damaged, or not a transcript of this version.

    Attributes:
        damaged: Whether the object cannot be decompressed; otherwise its content is not a transcript.
    """

    def __init__(self, *, damaged: bool) -> None:
        self.damaged = damaged
        super().__init__("is damaged" if damaged else "is not a transcript of this version")


def encode_transcript(transcript: Transcript) -> bytes:
    """The stored form of a transcript."""
    return zstandard.compress(transcript.model_dump_json().encode())


def decode_transcript(content: bytes) -> Transcript:
    """The transcript in a stored object.

    Raises:
        TranscriptError: The content is damaged, or not a transcript of this version.
    """
    try:
        return Transcript.model_validate_json(zstandard.decompress(content))
    except zstandard.ZstdError:
        raise TranscriptError(damaged=True) from None
    except ValidationError:
        raise TranscriptError(damaged=False) from None


def read_transcript(store: Store, key: str) -> Transcript | None:
    """The transcript of that key; None if the store has no such object.

    Raises:
        InputError: The object is not a transcript.
        StoreError: The store cannot be read.
    """
    content = store.get(key)
    if content is None:
        return None
    try:
        return decode_transcript(content)
    except TranscriptError as error:
        raise InputError(f"{store.name}/{key}", [Problem("", str(error))]) from None


def result_text(rendered: str) -> str:
    """Text of a tool result without its JSON envelope; the input itself if it has none."""
    try:
        return "\n".join(part["text"] for part in json.loads(rendered)["content"])
    except (ValueError, KeyError, TypeError):
        return rendered
