"""Which record speaks for which trial."""

from __future__ import annotations

from opsgym_api.records import AttemptRecord, TrialRecord
from opsgym_operator.plan import TrialKey


def key_of(record: TrialRecord | AttemptRecord) -> TrialKey:
    """The trial that a record is of."""
    return record.cell.key, record.task_id, record.trial
