"""What differences of calendars mean.

Invariant: an event that names the default reminder is the same event as one without reminders.
"""

from __future__ import annotations

from opsgym_api.records.state_difference import RowDifference, StateDifference
from opsgym_domains.calendar.tables import Reminder
from opsgym_domains.kit.state_difference import marked


def meaning(difference: StateDifference) -> StateDifference:
    """A difference with added default reminders marked as neutral."""
    return marked(difference, {Reminder.__tablename__: _is_default})


def _is_default(row: RowDifference) -> bool:
    return row.change == "added" and bool(row.after.get("use_default"))
