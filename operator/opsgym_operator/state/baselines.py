"""Scores of the runs that gates compare with, shared by the runs that name them.

Invariant: only scores that do not change any more are shared, those of a run that has ended.
"""

from __future__ import annotations

import hashlib
from weakref import WeakValueDictionary

from opsgym_api.records.store_layout import RunKeys
from opsgym_core.gates.baseline import read_scores
from opsgym_core.gates.judge import RunScores
from opsgym_core.store.base import Store


class Baselines:
    """Scores of baselines; they go with the last run that needs them."""

    def __init__(self) -> None:
        self._scores: WeakValueDictionary[tuple[str, str, str], RunScores] = WeakValueDictionary()
        """By store, run and the digest of its final figures, since a run that is resumed ends again."""

    def __len__(self) -> int:
        """Number of scores that are in memory."""
        return len(self._scores)

    def read(self, name: str, store: Store, run: str) -> RunScores:
        """Scored trials of a run.

        Args:
            name: Name of the store.
            store: The store.
            run: Id of the run.

        Raises:
            InputError: The store has no such run, or a record of it is not valid.
            StoreError: The store cannot be read.
        """
        end = store.get(RunKeys(run).figures_json)
        if end is None:
            return read_scores(store, run)
        key = (name, run, hashlib.sha256(end).hexdigest())
        known = self._scores.get(key)
        if known is None:
            known = self._scores[key] = read_scores(store, run)
        return known
