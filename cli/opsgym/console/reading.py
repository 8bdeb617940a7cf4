"""What has been read of a run, and what is new of it.

Invariant: an object that never changes (a scored trial, an attempt that has ended, a chunk) is read once. Everything
here blocks; it is run in threads, by one caller at a time.
"""

from __future__ import annotations

from opsgym_api.chunks import gather_new
from opsgym_api.layout import RunKeys
from opsgym_api.objects import read_object
from opsgym_api.records import GateRecord, RunRecord
from opsgym_api.rows import Gathered, RunRows
from opsgym_api.scores import summarise
from opsgym_api.store import Store


class Reading:
    """A run, as far as it has been read.

    Args:
        record: The run's record; it is written once.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.gate: GateRecord | None = None
        """What its gate said last."""
        self.rows = RunRows(record, [])
        """What scores go by, attempts that are not over included."""
        self.score = summarise(self.rows).total
        """What they come to."""
        self.version = 0
        """Counts what was new."""
        self._known = Gathered()
        self._chunks: set[str] = set()

    def read_new(self, store: Store) -> bool:
        """Reads what is new; says whether there still is such a run.

        Raises:
            InputError: An object cannot be read as what it should be.
            StoreError: The store cannot be reached.
        """
        if self.record.run not in store.folders("runs"):
            return False
        gate = (
            read_object(store, RunKeys(self.record.run).gate_json, GateRecord) if self.record.spec.get("gate") else None
        )
        unsettled = gather_new(store, self.record, self._known, self._chunks)
        both = Gathered()
        for part in (self._known, unsettled):
            for cell in part.rows():
                both.add(cell)
        rows = list(both.rows())
        if self.version == 0 or rows != self.rows.cells or gate != self.gate:
            self.gate, self.rows = gate, RunRows(self.record, rows)
            self.score = summarise(self.rows).total
            self.version += 1
        return True

    @property
    def size(self) -> int:
        """Number of rows."""
        return sum(len(cell.trials) + len(cell.attempts) for cell in self.rows.cells)
