"""Events of a row: one trigger, one effect at least, and every mistake named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opsgym.commands.tasks import validate
from opsgym.exits import Exit
from opsgym_api.task import BadRow, Task, parse_row

ROW: dict[str, Any] = {
    "task_id": "t",
    "user_prompt": "Do it.",
    "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}, {"mcp_server_name": "gym-hr-mcp"}],
    "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["x"]}}],
}
SQL = {"sql": ["DELETE FROM role_permission"]}


def parsed(*events: object) -> Task | BadRow:
    return parse_row(ROW | {"events": list(events)}, default_id="t", where="t.json")


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({}, "events[0]: exactly one of after_step, when is required"),
        (SQL, "events[0]: exactly one of after_step, when is required"),
        ({"after_step": 1, "when": "SELECT 1", **SQL}, "events[0]: exactly one of after_step, when is required"),
        ({"after_step": 1}, "events[0]: at least one of sql, set_time, advance_seconds is required"),
        ({"after_step": 1, "sql": []}, "events[0]: at least one of sql, set_time, advance_seconds is required"),
        ({"after_step": 1, "set_time": "2026-01-01", "advance_seconds": 1},
         "events[0]: set_time and advance_seconds exclude each other"),
        ({"after_step": -1, **SQL}, "events[0].after_step: must be greater than or equal to 0, found -1"),
        ({"when": "", **SQL}, "events[0].when: string should have at least 1 character, found ''"),
        ({"after_step": 1, "sql": "DELETE FROM x"}, "events[0].sql: must be a valid list, found 'DELETE FROM x'"),
        ({"after_step": 1, "sql": ["DELETE FROM x", ""]},
         "events[0].sql[1]: string should have at least 1 character, found ''"),
        ({"after_step": 1, "set_time": "noon"},
         "events[0].set_time: 'noon' is not a time; use a form like 2026-01-31T09:00:00"),
        ({"after_step": 1, "advance_seconds": 0}, "events[0].advance_seconds: must be greater than 0, found 0"),
        ({"after_step": 1, "advance_seconds": 1e10}, "events[0].advance_seconds: must be less than 10000000000"),
        ({"after_steps": 1, **SQL}, "events[0].after_steps: is not a field here; did you mean after_step?"),
        ({"after_step": 1, "gym": "gym-csm-mcp", **SQL},
         "events[0].gym: 'gym-csm-mcp' is no gym server here: gym-itsm-mcp, gym-hr-mcp"),
        ("later", "events[0]: must be a map of fields, found 'later'"),
    ],
)  # fmt: skip
def test_a_bad_event_is_named_with_what_is_allowed(event: object, problem: str) -> None:
    row = parsed(event)
    assert isinstance(row, BadRow)
    assert f"t.json: {problem}" in row.message


def test_events_are_read_in_order_and_null_is_absent() -> None:
    row = parsed(
        {"after_step": 2, "when": None, "gym": "gym-hr-mcp", "sql": None, "set_time": "2026-01-31T09:00:00Z"},
        {"when": "SELECT true", "advance_seconds": 3600, **SQL},
    )
    assert isinstance(row, Task)
    later, once = row.events
    assert (later.after_step, later.when, later.gym, later.sql, later.set_time) == (
        *(2, None, "gym-hr-mcp", [], "2026-01-31T09:00:00Z"),
    )
    assert (once.after_step, once.when, once.gym, once.sql, once.advance_seconds) == (
        *(None, "SELECT true", None, SQL["sql"], 3600),
    )


def test_events_may_be_json_in_a_string() -> None:
    row = parse_row(ROW | {"events": json.dumps([{"after_step": 1, **SQL}])}, default_id="t", where="t.json")
    assert isinstance(row, Task)
    assert [event.after_step for event in row.events] == [1]


def test_validation_names_file_and_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.json").write_text(json.dumps(ROW | {"task_id": "g", "events": [{"after_step": 1, **SQL}]}))
    (tmp_path / "odd.json").write_text(json.dumps(ROW | {"events": [{"after_step": 1, **SQL}, {"after_step": 2}]}))
    assert validate(tmp_path) == Exit.BAD_INPUT
    assert capsys.readouterr().err.splitlines() == [
        "odd.json: events[1]: at least one of sql, set_time, advance_seconds is required",
        f"{tmp_path}: 1 of 2 rows are not valid",
    ]
