"""Configurations of `state_difference` and `looked_up` verifiers: what is read, and which field an error names."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_api.tasks.expected_difference import Condition, ExpectedDifference, ExpectedRow
from opsgym_api.tasks.reading import BadRow, parse_row
from opsgym_api.tasks.task import Task

CHANGED: dict[str, Any] = {
    "table": "incident",
    "change": "changed",
    "keys": [{"incident_id": "INC_1"}],
    "values": {"status": "resolved"},
}
ADDED: dict[str, Any] = {"table": "case", "change": "added", "values": {"priority": "high"}}
REMOVED: dict[str, Any] = {"table": "case", "change": "removed", "keys": [{"case_id": 7}]}


def row(*verifiers: dict[str, Any]) -> Task | BadRow:
    fields = {
        "user_prompt": "Resolve it.",
        "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}, {"mcp_server_name": "sn-csm-server"}],
        "verifiers": list(verifiers),
    }
    return parse_row(fields, default_id="task", where="rows.json")


def difference(*rows: object, gym: str | None = None, **config: Any) -> dict[str, Any]:
    return {
        "verifier_type": "state_difference",
        "gym_name": gym,
        "validation_config": {"rows": list(rows), **config},
    }


def refused(*verifiers: dict[str, Any]) -> str:
    task_row = row(*verifiers)
    assert isinstance(task_row, BadRow)
    return task_row.message


def test_every_form_of_an_expectation_is_read() -> None:
    config = {
        "rows": [
            CHANGED | {"may": ["resolved"]},
            {"either": [[ADDED | {"as": "case"}], [REMOVED, ADDED | {"as": "case", "count": 1, "optional": True}]]},
            ADDED
            | {"values": {"case_id": {"key_of": "case"}}, "may": {"note": None, "rank": {"at_least": 1}}, "count": 2},
        ],
        "nothing_else": True,
        "ignored": {"incident": ["updated_at"]},
    }
    task_row = row({"verifier_type": "state_difference", "validation_config": config})
    assert isinstance(task_row, Task), task_row.message
    expected = task_row.verifiers[0].state_difference
    assert expected == ExpectedDifference.model_validate(config)
    [single], either, [third] = expected.alternatives
    assert single[0].may == {"resolved": None}
    assert [len(alternative) for alternative in either] == [1, 2]
    assert third[0].may == {"note": None, "rank": Condition.model_validate({"at_least": 1})}
    assert third[0].references == {"case"}
    assert len(list(expected.every_row())) == 5


@pytest.mark.parametrize("value", ["resolved", None, 3, 2.5, True, ["a"]])
def test_anything_but_an_object_stands_for_itself(value: object) -> None:
    task_row = ExpectedRow.model_validate(ADDED | {"values": {"status": value}}).values["status"]
    assert task_row == Condition.model_validate({"equals": value})
    assert task_row.model_fields_set == {"equals"}


def test_one_text_to_contain_may_stand_alone() -> None:
    assert Condition.model_validate({"has": "firmware"}).has == ["firmware"]


def test_a_name_may_stand_in_several_alternatives_and_serve_other_verifiers_of_the_gym() -> None:
    named = ADDED | {"as": "case"}
    refers = {"table": "notification", "change": "added", "values": {"case_id": {"key_of": "case"}}}
    either = {"either": [[named], [named, refers]]}
    assert isinstance(row(difference(either), difference(refers, gym="gym-itsm-mcp")), Task)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"values": {"status": {"hass": "x"}}},
            "rows[0].values.status: 'hass' is not a valid condition; allowed: equals, has",
        ),
        ({"values": {"status": {"has": "x", "text": "x"}}}, "rows[0].values.status: must have exactly one condition"),
        ({"values": {"status": {}}}, "rows[0].values.status: must have exactly one condition"),
        ({"values": {"status": {"text": None}}}, "rows[0].values.status: text: must not be null"),
        ({"values": {"status": {"has": []}}}, "rows[0].values.status.has: must have at least 1 items"),
        ({"values": {"status": {"any_of": []}}}, "rows[0].values.status.any_of: must have at least 1 items"),
        ({"values": {"status": {"not_null": False}}}, "rows[0].values.status.not_null: False is not allowed"),
        ({"values": {"status": {"matches": "("}}}, "rows[0].values.status.matches: '(' is not a regular expression"),
        ({"may": {"note": {"like": 1}}}, "rows[0].may.note: 'like' is not a valid condition"),
        ({"may": ["status"]}, "rows[0]: may: status has a condition in values already"),
        ({"keys": None}, "rows[0]: keys: is required for changed rows"),
        ({"keys": []}, "rows[0].keys: must have at least 1 items"),
        ({"keys": [{}]}, "rows[0].keys[0]"),
        ({"count": 2}, "rows[0]: count: is for added rows"),
        ({"as": "case"}, "rows[0]: as: is for added rows"),
        ({"values": {}}, "rows[0]: values, may: at least one is required for changed rows"),
        ({"change": "removed"}, "rows[0]: values, may: a removed row has no columns"),
        ({"change": "added"}, "rows[0]: keys: an added row has no key"),
        ({"change": "updated"}, "rows[0].change: 'updated' is not allowed; allowed: 'added', 'changed' or 'removed'"),
        ({"table": ""}, "rows[0].table"),
        ({"optinal": True}, "rows[0].optinal: is not a field here; did you mean optional?"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused_with_the_field(change: dict[str, Any], message: str) -> None:
    assert f"validation_config.{message}" in refused(difference(CHANGED | change))


@pytest.mark.parametrize(
    ("rows", "config", "message"),
    [
        ([{"either": [[ADDED]]}], {}, ".rows[0].either: must have at least 2 items"),
        ([{"either": [[ADDED], [ADDED]]}], {}, ".rows[0]: either: two alternatives are the same"),
        ([{"either": [[ADDED], []], "optional": True}], {}, ".rows[0].optional: is not a field here"),
        ([{"either": [[ADDED], [ADDED | {"count": 0}]]}], {}, ".rows[0].either[1][0].count"),
        ([ADDED | {"as": "case", "count": 2}], {}, ".rows[0]: as: must name one row"),
        ([], {}, ": rows: at least one is required, or nothing_else"),
        ([ADDED], {"nothing_els": True}, ".nothing_els: is not a field here; did you mean nothing_else?"),
        (["incident"], {}, ".rows[0]: must be a map of fields"),
    ],
)
def test_a_configuration_that_cannot_be_judged_is_refused_with_the_field(
    rows: list[Any], config: dict[str, Any], message: str
) -> None:
    assert f"validation_config{message}" in refused(difference(*rows, **config))


def test_a_name_belongs_to_one_row_of_a_gym() -> None:
    named, refers = ADDED | {"as": "case"}, ADDED | {"values": {"parent": {"key_of": "case"}}}
    assert "verifiers[1].validation_config.rows[0]: as: 'case' names several rows" in refused(
        difference(named), difference(named)
    )
    assert isinstance(row(difference(named), difference(named, gym="sn-csm-server")), Task)
    unknown = "key_of: no added row is named 'case' by as"
    assert f"verifiers[0].validation_config: {unknown}" in refused(difference(refers))
    assert f"verifiers[1].validation_config: {unknown}" in refused(
        difference(named), difference(refers, gym="sn-csm-server")
    )


def test_looked_up_names_rows_and_writing_tools() -> None:
    config: dict[str, Any] = {"rows": [{"column": "case_id", "value": 423}], "writing_tools": ["update_case"]}
    task_row = row({"verifier_type": "looked_up", "validation_config": config})
    assert isinstance(task_row, Task), task_row.message
    check = task_row.verifiers[0].looked_up
    assert [(row.column, row.value) for row in check.rows] == [("case_id", 423)]
    changes: list[tuple[dict[str, Any], str]] = [
        ({"rows": []}, "rows: must have at least 1 items"),
        ({"rows": [{"column": "case_id"}]}, "rows[0].value: is required"),
        ({"tools": []}, "tools: is not a field here"),
    ]
    for change, message in changes:
        assert f"validation_config.{message}" in refused(
            {"verifier_type": "looked_up", "validation_config": config | change}
        )
