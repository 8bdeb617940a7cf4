"""Rows that cannot be read are reported under ids that a store can hold."""

from __future__ import annotations

from opsgym_api.task import BadRow
from opsgym_runner.rows import reported


def bad(task_id: str, source: str) -> BadRow:
    return BadRow(task_id=task_id, source=source, message=f"{source}: broken")


def test_a_row_keeps_its_id_unless_it_is_taken_or_no_key_can_hold_it() -> None:
    rows = [bad("a", "1"), bad("a", "2"), bad("../b", "3"), bad("good", "4")]

    found = reported(rows, {"good"})

    assert found["a"] == "1: broken"
    others = [task_id for task_id in found if task_id != "a"]
    assert len(others) == 3
    assert all(task_id.startswith("row-") for task_id in others)


def test_rows_that_the_suite_does_not_name_are_left_out_where_their_id_is_known() -> None:
    found = reported([bad("a", "1"), bad("b", "2"), bad("../c", "3")], set(), ids=["b"])

    assert list(found.values()) == ["2: broken", "3: broken"]
