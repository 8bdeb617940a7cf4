"""Looks at a run with rounds, in its store.

Invariant: a look is put once. A process that looks second gets the decision of the first, so that all processes
and every restart plan the same trials.
"""

from __future__ import annotations

from opsgym_api.records.gate import LookRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.base import Store
from opsgym_core.store.objects import read_object


def with_looks(store: Store, record: RunRecord) -> RunRecord:
    """The record of a run as it stands after its looks; a run with a fixed number of trials as it is.

    Raises:
        InputError: The record of a look is not valid.
        StoreError: The store cannot be read.
    """
    looks: list[LookRecord] = []
    while len(looks) < len(record.rounds) and not (looks and looks[-1].stops):
        look = read_object(store, RunKeys(record.run).look(len(looks) + 1), LookRecord)
        if look is None:
            break
        looks.append(look)
    return record.with_looks(looks or record.looks)


def put_look(store: Store, record: RunRecord, look: LookRecord) -> RunRecord:
    """Writes a look at a run unless another process did; the run's record as it stands after the look in the store.

    Raises:
        InputError: The record of a look is not valid.
        StoreError: The store cannot be read or written.
    """
    store.put_once(RunKeys(record.run).look(look.look.number), look.model_dump_json().encode())
    return with_looks(store, record)
