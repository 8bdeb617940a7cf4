"""The version that every record carries, and the check that every reader makes.

Invariant: a record of a newer version than the reader's is never read as if it were of this version. The version is
raised when a field is removed, changes its meaning or becomes required, never for a new field with a default: readers
ignore unknown fields. Records of every earlier version stay readable; `tests/records` keeps one of each kind.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import core_schema

RECORD_VERSION = 1
"""Version of the records that this opsgym writes, and the newest that it reads."""
_NEWER = "newer_version"


class _Readable:
    """Accepts versions up to `RECORD_VERSION`, in the validator's own language: a run has tens of thousands."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        readable = core_schema.custom_error_schema(
            core_schema.int_schema(le=RECORD_VERSION),
            custom_error_type=_NEWER,
            custom_error_message=f"versions up to {RECORD_VERSION} are readable",
        )
        return core_schema.chain_schema([handler(source), readable])


RecordVersion = Annotated[int, _Readable()]
"""Version of a record."""


def unreadable_because(error: ValidationError, kind: str) -> str:
    """Why a stored object cannot be read, for people.

    Args:
        error: What validation raised.
        kind: What the object should be, for instance `TrialRecord`.
    """
    problems: list[Any] = list(error.errors(include_url=False))
    newer = next((problem for problem in problems if problem["type"] == _NEWER), None)
    if newer is not None:
        versions = f"record version {newer['input']}; this one reads up to {RECORD_VERSION}"
        return f"was written by a newer opsgym ({versions}); install that opsgym to read it"
    return f"is not a valid {kind} of this version: {problems[0]['msg']}"
