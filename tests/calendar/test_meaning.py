"""A default reminder that was given explicitly is neutral; any other reminder is not."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_domains.calendar.meaning import meaning


@pytest.mark.parametrize(
    ("fields", "neutral"),
    [
        ({"change": "added", "after": {"use_default": 1, "minutes": 10}}, True),
        ({"change": "added", "after": {"use_default": 0, "minutes": 10}}, False),
        ({"change": "removed", "before": {"use_default": 1, "minutes": 10}}, False),
    ],
)
def test_only_an_added_default_is_neutral(fields: dict[str, Any], neutral: bool) -> None:
    row = RowDifference(key={"id": "r1"}, **fields)
    judged = meaning(StateDifference(tables=[TableDifference(table="reminders", rows=[row])]))
    assert judged.tables[0].rows[0].neutral is neutral
