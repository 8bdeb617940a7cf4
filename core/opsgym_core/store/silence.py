"""Tells a store that hangs from one that has much to read.

Invariant: what reads a large run may take minutes, but some object of it is answered every few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from opsgym_core.store.base import ErasableStore, Store, StoredObject, StoreError

DELETED_AT_ONCE = 250
"""Objects of which the deletion is one answer; a slow store needs seconds for them."""

T = TypeVar("T")


class Answers:
    """What a store owes to the threads of one read.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._owed = 0
        """Requests without an answer."""
        self._since = 0.0
        """When the last answer came or, after a time without requests, the first request was made."""
        self._given_up = False

    @property
    def silent_s(self) -> float:
        """Seconds for which the store has owed answers and given none; 0 while it owes none."""
        with self._lock:
            return self._clock() - self._since if self._owed else 0.0

    def give_up(self) -> None:
        """Lets every further request of the read fail, so that it ends once the last one has an answer or an error."""
        self._given_up = True

    @contextmanager
    def owed(self, store: str, key: str) -> Iterator[None]:
        """Makes a request within the context.

        Raises:
            StoreError: The read was given up.
        """
        if self._given_up:
            raise StoreError(store, key, "the read was given up")
        with self._lock:
            if not self._owed:
                self._since = self._clock()
            self._owed += 1
        try:
            yield
        finally:
            with self._lock:
                self._owed -= 1
                self._since = self._clock()


class FollowedStore:
    """A store whose answers are noted.

    Args:
        store: The store.
        answers: Where they are noted.
    """

    def __init__(self, store: Store, answers: Answers) -> None:
        self.name = store.name
        self._store = store
        self._answers = answers

    def get(self, key: str) -> bytes | None:
        """Content of the object; None if no object has that key."""
        with self._answers.owed(self.name, key):
            return self._store.get(key)

    def put(self, key: str, content: bytes) -> None:
        """Writes the object, replacing an older one."""
        with self._answers.owed(self.name, key):
            self._store.put(key, content)

    def put_once(self, key: str, content: bytes) -> bool:
        """Writes the object unless one has that key; returns whether it wrote."""
        with self._answers.owed(self.name, key):
            return self._store.put_once(key, content)

    def keys(self, prefix: str) -> Iterator[str]:
        """Keys that begin with a prefix, sorted."""
        return self._each(self._store.keys(prefix), prefix)

    def folders(self, folder: str) -> Iterator[str]:
        """Names of the folders directly below a folder, sorted; their contents are not listed."""
        return self._each(self._store.folders(folder), folder)

    def _each(self, items: Iterator[T], where: str) -> Iterator[T]:
        while True:
            with self._answers.owed(self.name, where):
                item = next(items, None)
            if item is None:
                return
            yield item


class FollowedErasableStore(FollowedStore):
    """A store whose answers are noted, of which it can delete.

    Args:
        store: The store.
        answers: Where they are noted.
    """

    def __init__(self, store: ErasableStore, answers: Answers) -> None:
        super().__init__(store, answers)
        self._erasable = store

    def objects(self, prefix: str) -> Iterator[StoredObject]:
        """Objects whose keys begin with a prefix, sorted by key."""
        return self._each(self._erasable.objects(prefix), prefix)

    def delete(self, keys: Sequence[str]) -> None:
        """Deletes objects; if it fails, some of them are deleted."""
        for start in range(0, len(keys), DELETED_AT_ONCE):
            with self._answers.owed(self.name, keys[start]):
                self._erasable.delete(keys[start : start + DELETED_AT_ONCE])
