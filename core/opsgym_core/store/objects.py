"""Reads an object of a store as a value of the given type."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from opsgym_api.base import adapter
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.version import unreadable_because
from opsgym_core.store.base import Store

T = TypeVar("T")

READERS = 16
"""Objects to fetch at the same time; an object store answers each in tens of milliseconds."""


def read_object(store: Store, key: str, kind: type[T]) -> T | None:
    """The object of that key, validated; None if the store has no such object.

    Raises:
        InputError: The content is not a valid `kind`, or of a newer version.
        StoreError: The store cannot be read.
    """
    content = store.get(key)
    if content is None:
        return None
    try:
        return adapter(kind).validate_json(content)
    except ValidationError as error:
        problem = unreadable_because(error, kind.__name__)
        raise InputError(f"{store.name}/{key}", [Problem("", problem)]) from None
