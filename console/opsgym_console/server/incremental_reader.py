"""Reads a run's records, and later only those that are new.

Invariant: an object that never changes (a scored trial, an attempt that has ended, a chunk) is read once. Everything
here blocks; callers run it in threads, one at a time.
"""

from __future__ import annotations

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.compaction import gather_new
from opsgym_core.results.looks import with_looks
from opsgym_core.results.rows import RowCollection, RunRows
from opsgym_core.results.score import summarise
from opsgym_core.store.base import Store
from opsgym_core.store.objects import read_object


class IncrementalReader:
    """The records of a run that have been read.

    Args:
        record: The run's record; it is written once, and stands as its looks say.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.gate: GateRecord | None = None
        """Verdict of its gate at the last read; None if there is none yet."""
        self.rows = RunRows(record, [])
        """Trials and attempts, open attempts included."""
        self.summary = summarise(self.rows)
        """Scores of all rows."""
        self.version = 0
        """Increases with every change; 0 before the first read."""
        self._known = RowCollection()
        self._chunks: set[str] = set()

    def read_new(self, store: Store) -> bool:
        """Reads new records. Returns whether the run still exists.

        Raises:
            InputError: An object is not valid.
            StoreError: The store cannot be read.
        """
        if self.record.run not in store.folders("runs"):
            return False
        gate = (
            read_object(store, RunKeys(self.record.run).gate_json, GateRecord) if self.record.spec.get("gate") else None
        )
        self.record = with_looks(store, self.record)
        unsettled = gather_new(store, self.record, self._known, self._chunks)
        both = RowCollection()
        for part in (self._known, unsettled):
            for cell in part.rows():
                both.add(cell)
        rows = list(both.rows())
        if self.version == 0 or rows != self.rows.cells or gate != self.gate or self.record != self.rows.run:
            self.gate, self.rows = gate, RunRows(self.record, rows)
            self.summary = summarise(self.rows)
            self.version += 1
        return True

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(len(cell.trials) + len(cell.attempts) for cell in self.rows.cells)
