"""Reads an object of a store as a value of the given type."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from opsgym_api.base import adapter
from opsgym_api.errors import InputError, Problem
from opsgym_core.store.base import Store

T = TypeVar("T")

READERS = 16
"""Objects to fetch at the same time; an object store answers each in tens of milliseconds."""


def read_object(store: Store, key: str, kind: type[T]) -> T | None:
    """The object of that key, validated; None if the store has no such object.

    Raises:
        InputError: The content is not a valid `kind`.
        StoreError: The store cannot be read.
    """
    content = store.get(key)
    if content is None:
        return None
    try:
        return adapter(kind).validate_json(content)
    except ValidationError as error:
        problem = f"is not a valid {kind.__name__} of this version: {error.errors(include_url=False)[0]['msg']}"
        raise InputError(f"{store.name}/{key}", [Problem("", problem)]) from None
