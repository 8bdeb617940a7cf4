"""Tables in a terminal: every value that is shown is whole, and columns go by importance."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from opsgym.formats.grid import KEPT, Grid, grid

MODELS = ("anthropic-claude-opus-4-5", "openai-gpt-5.2-high", "qwen3")
NUMBERS = ("success", "95 % interval", "passed", "failed", "not scored", "verifiers", "steps", "p95", "cost")
VALUES = ("100.0%", "81.6–100.0%", "1,017", "6", "2 gym_lost", "126/136 92.6%", "7.6", "12 min 04 s", "$0.0823")
WIDTHS = range(60, 201, 5)


def scores() -> Grid:
    table = grid("model", "agent", "mode", right=NUMBERS)
    for model in MODELS:
        table.add_row(model, "react", "oracle", *VALUES)
    table.total = ["total", "", "", "", "", *VALUES[2:]]
    return table


def printed(table: Grid, width: int) -> list[str]:
    out = io.StringIO()
    table.print(Console(file=out, width=width, highlight=False))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_each_row_is_one_line_that_fits_and_holds_its_shown_values_whole(width: int) -> None:
    table = scores()
    shown = [table.columns[index].name for index in table.fit(width).shown]
    lines = printed(table, width)
    assert all(len(line.rstrip()) <= width for line in lines)
    for model in MODELS:
        (line,) = [line for line in lines if model in line]
        assert all(value in line for name, value in zip(NUMBERS, VALUES, strict=True) if name in shown)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_rate_keeps_its_interval_and_what_was_not_scored(width: int) -> None:
    table = scores()
    assert {"success", "95 % interval", "not scored"} <= {table.columns[i].name for i in table.fit(width).shown}
    assert {"success", "95 % interval", "not scored"} <= KEPT


def test_names_that_all_rows_share_go_first_and_are_noted() -> None:
    *_, note = printed(scores(), 120)
    assert note == "all rows: agent react, mode oracle"


def test_columns_that_are_left_out_are_named() -> None:
    *_, last = printed(scores(), 100)
    assert last == "not shown at 100 columns: steps, p95"


def test_a_wide_terminal_shows_every_column_with_headers_of_one_line() -> None:
    header, *rows = printed(scores(), 200)
    assert all(name in header for name in ("model", "agent", "mode", *NUMBERS))
    assert len(rows) == len(MODELS) + 1


def test_an_id_wider_than_the_terminal_is_not_folded() -> None:
    table = grid("task", right=("steps",))
    table.add_row("itsm-qs-001-triage-dock-printer-of-the-third-floor-and-more", "7")
    (line,) = printed(table, 40)[1:2]
    assert line.strip() == "itsm-qs-001-triage-dock-printer-of-the-third-floor-and-more"


def test_a_sentence_is_folded_between_words() -> None:
    table = grid("trial", prose=("evidence",))
    table.add_row("t/0", "step 4, update_incident: the incident that was changed is not the one of the request")
    lines = printed(table, 60)
    assert len(lines) > 2
    assert "update_incident:" in " ".join(lines)
    assert all(len(line) <= 60 for line in lines)


def test_a_grid_without_rows_prints_its_header() -> None:
    assert [line.split() for line in printed(grid("model", right=("success",)), 80)] == [["model", "success"]]
