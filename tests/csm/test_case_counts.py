"""Counts and averages over cases, SLAs, interactions and notifications. SQLite returns what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.gym import GymDatabase

from opsgym_domains.csm.domain import DOMAIN

TOOLS = DOMAIN.toolbox.tools


@dataclass(frozen=True)
class Grouped:
    """A tool that gives a number for each group: what it groups by, and what it computes."""

    table: str
    by: str
    number: str = "count(*)"
    called: str = "count"
    where: str = "1"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that select rows."""

    def query(self, **given: Any) -> str:
        conditions = [self.where, *(f"{name} = {value!r}" for name, value in given.items())]
        return (
            f'SELECT {self.by}, {self.number} AS "{self.called}" FROM {self.table} '
            f"WHERE {' AND '.join(conditions)} GROUP BY 1 ORDER BY 1"
        )


ARRAYS = {
    "count_case_by_state": Grouped("customer_case", "state"),
    "get_count_of_cases_priority_wise": Grouped("customer_case", "priority"),
    "count_interaction_by_status": Grouped("interaction", "status"),
    "avg_interactions_per_case_by_status": Grouped(
        "interaction",
        "status",
        "count(*) * 1.0 / count(DISTINCT case_id)",
        "avg_interactions_per_case",
        "case_id IS NOT NULL",
    ),
    "count_notifications_by_status": Grouped("notification", "status"),
    "count_notifications_by_type": Grouped("notification", "type"),
}
OBJECTS = {
    "get_channel_wise_case_count": Grouped("customer_case", "channel"),
    "find_stage_wise_breached_case_sla_counts": Grouped("case_sla", "stage", where="has_breached"),
}
SINGLE = {
    "get_average_case_reopen_count",
    "avg_reopen_count_for_assignment_group",
    "count_case_for_assignment_group",
    "count_notifications_by_case",
    "avg_notifications_by_case",
}


def test_every_tool_that_computes_is_tested() -> None:
    modules = ("cases", "case_slas", "interactions", "notifications")
    in_modules = [name for name, tool in TOOLS.items() if tool.run.__module__.endswith(modules)]
    computing = {name for name in in_modules if "count" in name or "avg" in name or "average" in name}
    assert computing == {*ARRAYS, *OBJECTS, *SINGLE}


@pytest.mark.parametrize("tool", ARRAYS)
def test_each_group_that_occurs_is_counted(unchanged: GymDatabase, tool: str) -> None:
    expected = unchanged.rows(ARRAYS[tool].query())
    assert len(expected) >= 2
    assert unchanged.call(tool).data == expected


@pytest.mark.parametrize("tool", ARRAYS)
def test_filters_narrow_down_what_is_counted(unchanged: GymDatabase, tool: str) -> None:
    grouped = ARRAYS[tool]
    for name in set(TOOLS[tool].parameters) - {grouped.by}:
        values = [
            row[name] for row in unchanged.rows(f"SELECT DISTINCT {name} FROM {grouped.table} WHERE {name} NOTNULL")
        ]
        assert values
        for value in values:
            assert unchanged.call_with(tool, {name: value}).data == unchanged.rows(grouped.query(**{name: value}))


@pytest.mark.parametrize("tool", OBJECTS)
def test_groups_are_keys_of_one_object(unchanged: GymDatabase, tool: str) -> None:
    rows = unchanged.rows(OBJECTS[tool].query())
    assert unchanged.call(tool).data == {row[OBJECTS[tool].by]: row["count"] for row in rows}


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("get_count_of_cases_priority_wise", {"priority": "critical"}, [{"priority": "critical", "count": 2}]),
        ("get_count_of_cases_priority_wise", {"priority": "moderate"}, [{"priority": "moderate", "count": 0}]),
        ("get_channel_wise_case_count", {"channel": "phone"}, {"phone": 2}),
        ("get_channel_wise_case_count", {"channel": "social"}, {"social": 0}),
        ("find_stage_wise_breached_case_sla_counts", {"stage": "paused"}, {"paused": 1}),
        ("find_stage_wise_breached_case_sla_counts", {"stage": "completed"}, {"completed": 0}),
        ("count_notifications_by_status", {"status": "failed"}, [{"status": "failed", "count": 1}]),
        (
            "count_notifications_by_type",
            {"type": ["report", "other"]},
            [{"type": "report", "count": 1}, {"type": "other", "count": 0}],
        ),
        ("count_interaction_by_status", {"case_id": 404}, []),
        ("count_case_for_assignment_group", {"assignment_group_id": 1}, {"assignment_group_id": 1, "count": 2}),
        (
            "count_case_for_assignment_group",
            {"assignment_group_id": 1, "channel": "web"},
            {"assignment_group_id": 1, "count": 1},
        ),
        ("count_case_for_assignment_group", {"assignment_group_id": 404}, {"assignment_group_id": 404, "count": 0}),
        ("get_average_case_reopen_count", {}, {"avg_reopen_count": 1.0}),
        ("get_average_case_reopen_count", {"channel": "phone"}, {"avg_reopen_count": 1.5}),
        ("get_average_case_reopen_count", {"channel": "social"}, {"avg_reopen_count": 0.0}),
        (
            "avg_reopen_count_for_assignment_group",
            {"assignment_group_id": 4},
            {"assignment_group_id": 4, "avg_reopen_count": 1.0},
        ),
        (
            "avg_reopen_count_for_assignment_group",
            {"assignment_group_id": 4, "state": "new"},
            {"assignment_group_id": 4, "avg_reopen_count": 0.0},
        ),
        ("count_notifications_by_case", {}, {"count": 3}),
        ("count_notifications_by_case", {"case_id": 1}, {"count": 2}),
        ("count_notifications_by_case", {"case_id": 3}, {"count": 0}),
        ("avg_notifications_by_case", {}, {"avg_count": 1.5}),
        ("avg_notifications_by_case", {"case": 1}, {"avg_count": 2.0}),
        ("avg_notifications_by_case", {"case": 3}, {"avg_count": 0.0}),
    ],
)
def test_a_requested_group_is_counted_even_if_no_row_is_in_it(
    unchanged: GymDatabase, tool: str, given: dict[str, Any], expected: Any
) -> None:
    assert unchanged.call_with(tool, given).data == expected


def test_the_average_of_an_empty_table_is_zero(database: GymDatabase) -> None:
    assert database.call("delete_notifications", created_after="2000-01-01").data == {"deleted": 3}
    assert database.call("avg_notifications_by_case").data == {"avg_count": 0.0}
    assert database.call("count_notifications_by_case").data == {"count": 0}
    assert database.call("count_notifications_by_status").data == []
