"""The interface of object stores and their error.

Invariant: an object is complete or absent, and `put_once` never replaces one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

CONDITIONAL = "results could be overwritten: use a store that honours If-None-Match on PutObject"
"""Advice for a store that cannot write once."""
FREE_SPACE = "free space or name another store, then repeat: what is finished is not run again"
"""Advice for a store that is full."""


class StoreError(Exception):
    """The store cannot be read or written: it is full, refuses access or cannot be reached.

    Attributes:
        store: The store, as the user named it.
        key: The object concerned.
    """

    def __init__(self, store: str, key: str, problem: str) -> None:
        self.store = store
        self.key = key
        super().__init__(f"{store}: cannot access {key}: {problem}")


class RefusedError(StoreError):
    """The credentials may not do this: it is refused again until someone allows it."""


class UnreadableObjectError(StoreError):
    """An object has no valid content: the store itself works."""


class Store(Protocol):
    """Objects by key. Keys are relative paths; `opsgym_api.records.store_layout` defines them.

    Every method may raise `StoreError`.
    """

    name: str
    """The store as the user named it, for messages."""

    def get(self, key: str) -> bytes | None:
        """Content of the object; None if no object has that key."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Writes the object, replacing an older one."""
        ...

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the object unless one has that key; returns whether it wrote."""
        ...

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        ...

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted; their contents are not listed."""
        ...


@dataclass(frozen=True, slots=True)
class StoredObject:
    """What a listing says of an object."""

    key: str
    size: int
    """Bytes."""
    written_at: datetime
    """When it was last written, by the store's clock, UTC."""


class ErasableStore(Store, Protocol):
    """A store opened by who may delete; pods are given none."""

    def objects(self, prefix: str) -> Iterator[StoredObject]:
        """Objects whose keys begin with a prefix, sorted by key."""
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Deletes objects; one that does not exist is a success. If it fails, some of them are deleted."""
        ...


# No part begins with a dot: that keeps `..` out and reserves such names for files that are still being written.
_PART = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*")


def is_key(key: str) -> bool:
    """Whether a key is valid: a relative path whose parts are not empty and do not begin with a dot."""
    return all(_PART.fullmatch(part) for part in key.split("/"))


def require_key(store: str, key: str) -> str:
    """Returns the key; raises `StoreError` for the named store if it is not valid."""
    if not is_key(key):
        problem = "a key is a relative path whose parts are not empty and do not begin with a dot"
        raise StoreError(store, repr(key), problem)
    return key


def write_once_problem(store: Store, key: str) -> str:
    """Why a store does not write an object only once; empty if it does.

    Args:
        store: The store.
        key: Of an object that is written for this check.

    Raises:
        StoreError: The store cannot be written.
    """
    store.put(key, _PROBE)
    try:
        overwritten = store.put_once(key, _PROBE)
    except StoreError as error:
        return f"refuses conditional writes; {CONDITIONAL} ({error})"
    return f"ignores conditional writes; {CONDITIONAL}" if overwritten else ""


_PROBE = b"opsgym writes each result once\n"
