"""Rows that cannot be read are reported under ids that a store can hold."""

from __future__ import annotations

from opsgym_api.tasks.reading import BadRow
from opsgym_core.planning.suite_rows import problems_by_id


def bad(task_id: str, source: str) -> BadRow:
    return BadRow(task_id=task_id, source=source, message=f"{source}: broken")


def test_an_unreadable_row_keeps_its_id_unless_the_id_is_taken_or_invalid() -> None:
    rows = [bad("a", "1"), bad("a", "2"), bad("../b", "3"), bad("good", "4")]

    problems = problems_by_id(rows, {"good"})

    assert problems["a"] == "1: broken"
    others = [task_id for task_id in problems if task_id != "a"]
    assert len(others) == 3
    assert all(task_id.startswith("row-") for task_id in others)


def test_rows_that_the_suite_does_not_name_are_left_out_where_their_id_is_known() -> None:
    problems = problems_by_id([bad("a", "1"), bad("b", "2"), bad("../c", "3")], set(), ids=["b"])

    assert list(problems.values()) == ["2: broken", "3: broken"]
