"""Remembers what was parsed of objects between two reconciles.

Invariant: a remembered value equals what parsing the object anew would give, as far as the given version tells; objects
that the latest reconcile did not ask for are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(Generic[T]):
    """Parsed objects by uid. Thousands of pods are parsed when they change, instead of in each reconcile."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[Hashable, T]] = {}
        self._now: dict[str, tuple[Hashable, T]] = {}

    def get(self, uid: str, version: Hashable, parse: Callable[[], T]) -> T:
        """The parsed object.

        Args:
            uid: Uid of the object.
            version: Everything that the parsed value depends on.
            parse: Parses it, if the version is not the remembered one.
        """
        known = self._before.get(uid)
        if known is None or known[0] != version:
            known = (version, parse())
        self._now[uid] = known
        return known[1]

    def forget_others(self) -> None:
        """Forgets what was not asked for since the last call."""
        self._before, self._now = self._now, {}
