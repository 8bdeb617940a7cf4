"""The recording in README has the lines of the command and no part of a column."""

from __future__ import annotations

from tools.recording import COLUMNS, picture, without_later_tables

TEXTS = ("$ make run", "[1/2] passed  <a>", "", "first", "", "second", "", "end")
LINES = [(float(number), text) for number, text in enumerate(TEXTS)]


def test_lines_arrive_in_their_order_and_later_tables_are_left_out() -> None:
    texts = [text for _, text in without_later_tables(LINES)]
    assert texts == ["$ make run", "[1/2] passed  <a>", "", "first", "", "end"]
    drawn = picture(LINES)
    assert "&lt;a&gt;" in drawn
    assert drawn.index(">$ make run<") < drawn.index(">first<") < drawn.index(">end<")


def test_a_column_that_does_not_fit_is_left_out_as_a_whole() -> None:
    assert ">fits</text>" in picture([(0.0, "fits"), (1.0, "x" * (COLUMNS - 3) + "  $0.0031")])
    assert "$0" not in picture([(0.0, "fits"), (1.0, "x" * (COLUMNS - 3) + "  $0.0031")])
