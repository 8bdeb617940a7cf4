"""Events of a row have one trigger and at least one effect; every mistake is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opsgym_api.tasks.reading import BadRow, parse_row, read_tasks
from opsgym_api.tasks.task import Task

ROW: dict[str, Any] = {
    "task_id": "t",
    "user_prompt": "Do it.",
    "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}, {"mcp_server_name": "gym-hr-mcp"}],
    "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["x"]}}],
}
SQL = {"sql": ["DELETE FROM role_permission"]}

TRIGGERS = "events[0]: exactly one of after_step, when, at, after_event, on_tool, when_read is required"
EFFECTS = "events[0]: at least one of sql, set_time, advance_seconds, tell, amend is required"


def parsed(*events: object) -> Task | BadRow:
    return parse_row(ROW | {"events": list(events)}, default_id="t", where="t.json")


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({}, TRIGGERS),
        (SQL, TRIGGERS),
        ({"after_step": 1, "when": "SELECT 1", **SQL}, TRIGGERS),
        ({"after_step": 1}, EFFECTS),
        ({"after_step": 1, "sql": []}, EFFECTS),
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
         "events[0].gym: unknown gym server 'gym-csm-mcp'; the task has gym-itsm-mcp, gym-hr-mcp"),
        ({"at": "noon", **SQL}, "events[0].at: 'noon' is not a time; use a form like 2026-01-31T09:00:00"),
        ({"after_step": 1, "delay_seconds": 5, **SQL},
         "events[0]: delay_seconds belongs to after_event, which is absent"),
        ({"after_step": 1, "when_gym": "gym-hr-mcp", **SQL},
         "events[0]: when_gym belongs to when, on_tool or when_read; all are absent"),
        ({"on_tool": "x", "when_gym": "gym-csm-mcp", **SQL}, "events[0].when_gym: unknown gym server 'gym-csm-mcp'"),
        ({"when_read": {"column": "incident_id"}, **SQL}, "events[0].when_read.value: is required"),
        ({"after_step": 1, "tell": ""}, "events[0].tell: string should have at least 1 character"),
        ({"after_step": 1, "amend": {"rule": "nine", "text": "x"}}, "events[0].amend.rule: "),
        ({"after_step": 1, "amend": {"rule": "INC-9"}}, "events[0].amend.text: is required"),
        ({"after_event": "b", **SQL}, "events[0].after_event: unknown event 'b'; named events: none"),
        ({"name": "a", "after_event": "a", **SQL}, "events[0].after_event: the event would follow itself"),
        ("later", "events[0]: must be a map of fields, found 'later'"),
    ],
)  # fmt: skip
def test_a_bad_event_is_named_with_the_allowed_values(event: object, problem: str) -> None:
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


def test_a_row_with_a_bad_event_is_named_with_file_and_event(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(ROW | {"task_id": "g", "events": [{"after_step": 1, **SQL}]}))
    (tmp_path / "odd.json").write_text(json.dumps(ROW | {"events": [{"after_step": 1, **SQL}, {"after_step": 2}]}))
    (task,), (bad,) = read_tasks(tmp_path)
    assert task.task_id == "g"
    assert bad.message == "odd.json: events[1]: at least one of sql, set_time, advance_seconds, tell, amend is required"


def test_events_that_share_a_name_or_wait_for_each_other_are_reported() -> None:
    row = parsed(
        {"name": "a", "after_event": "b", **SQL},
        {"name": "b", "after_event": "a", **SQL},
        {"name": "a", "after_step": 1, **SQL},
    )
    assert isinstance(row, BadRow)
    assert "events[0].after_event: the event would follow itself" in row.message
    assert "events[2].name: another event is named 'a'" in row.message


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"days": [{"message": "Go on.", "begins_at": "soon"}]}, "days[0].begins_at: 'soon' is not a time"),
        ({"days": [{"message": "", "begins_at": "2026-11-17"}]}, "days[0].message: string should have at least 1"),
        ({"days": [{"message": "a", "begins_at": "2026-11-17"}, {"message": "b", "begins_at": "2026-11-16T23:00:00"}]},
         "days[1].begins_at: 2026-11-16T23:00:00 is not after 2026-11-17, when days[0] begins"),
        ({"gold_answers": ["a", "b"]}, "gold_answers: has 2 answers for 1 days; give one for each"),
        ({"gold_actions": [{"name": "x", "day": 2}]}, "gold_actions[0].day: day 2 does not exist; the task has 1"),
        ({"verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["x"], "day": 3}}]},
         "verifiers[0].validation_config.day: day 3 does not exist"),
        ({"clock": {"seconds_per_step": -1}}, "clock.seconds_per_step: must be greater than or equal to 0, found -1"),
        ({"clock": {"speed": 2}}, "clock.speed: is not a field here"),
    ],
)  # fmt: skip
def test_days_and_clock_that_do_not_fit_are_reported_with_the_field(fields: dict[str, Any], problem: str) -> None:
    row = parse_row(ROW | fields, default_id="t", where="t.json")
    assert isinstance(row, BadRow)
    assert problem in row.message


@pytest.mark.parametrize(
    ("fields", "needed"),
    [
        ({}, False),
        ({"events": [{"after_step": 1, "tell": "Hurry."}]}, False),
        ({"events": [{"at": "2026-11-17", "tell": "Hurry."}]}, True),
        ({"events": [{"after_step": 1, "advance_seconds": 5}]}, True),
        ({"clock": {"seconds_per_step": 60}}, True),
        ({"days": [{"message": "Go on.", "begins_at": "2026-11-17"}]}, True),
    ],
)
def test_a_task_needs_clocks_for_days_steps_that_take_time_and_events_in_time(
    fields: dict[str, Any], needed: bool
) -> None:
    row = parse_row(ROW | fields, default_id="t", where="t.json")
    assert isinstance(row, Task)
    assert row.needs_clock is needed
