"""Bases of contract types: Kubernetes documents, stored objects, and slotted records.

Invariant: a Kubernetes document has camelCase names and rejects unknown fields; stored objects have snake_case names
and ignore the fields of newer versions.
"""

from __future__ import annotations

from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel


class Document(BaseModel):
    """Part of a Kubernetes document: camelCase names, nothing unknown, immutable once read."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="forbid",
        frozen=True,
    )


class Stored(BaseModel):
    """Something opsgym writes to the store: snake_case names; readers ignore fields of newer versions."""

    model_config = ConfigDict(extra="ignore", frozen=True)


T = TypeVar("T")


_ADAPTERS: dict[object, TypeAdapter[Any]] = {}


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """Validator and serializer of a type, made once."""
    known: TypeAdapter[T] | None = _ADAPTERS.get(kind)
    if known is None:
        known = _ADAPTERS[kind] = TypeAdapter(kind)
    return known


class Record:
    """Stored object as a slotted dataclass, for what a run has tens of thousands of: a pydantic model takes five times
    its memory. Validated when it is read, by type checkers when it is made.
    """

    __slots__ = ()

    @classmethod
    def from_json(cls, content: bytes | str) -> Self:
        """Reads JSON; unknown fields are ignored.

        Raises:
            pydantic.ValidationError: It is not a valid record of this type.
        """
        return adapter(cls).validate_json(content)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Validates plain values, as `from_json` does."""
        return adapter(cls).validate_python(values)

    def to_json(self, *, exclude_defaults: bool = False) -> bytes:
        """Writes JSON, with or without fields that have their default."""
        return adapter(type(self)).dump_json(self, exclude_defaults=exclude_defaults)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values of every field."""
        values: dict[str, Any] = adapter(type(self)).dump_python(self, mode="json")
        return values
