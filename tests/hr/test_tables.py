"""The tables are the published ones, and published queries run on them as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from tests.hr.seed import SEED, TOKEN
from tests.support.gym import Gym, GymDatabase
from tests.support.upstream import upstream

from opsgym_api.tasks.verifiers import Comparison
from opsgym_domains.hr.domain import DOMAIN
from opsgym_runner.verification.comparison import holds

TABLES = DOMAIN.metadata.tables
OF_VALUES = {
    "hr_case": {("opened_for", "hr_profile", "hr_profile_id"), ("approval_criteria", "hr_criteria", "hr_criteria_id")}
}
"""References that the names of published columns do not show, but their values."""
AT = "'2026-03-01 08:00:00', '2026-03-01 08:00:00'"
PRESENT = f"""
INSERT INTO user VALUES
 (15, 'Tom', 'Green', 'thomas.green@servicenow.com', NULL, 'manager', 1, 1, 'token-tom', {AT}),
 (101, 'Elena', 'Petrova', 'elena.petrova@servicenow.com', NULL, 'agent', 1, 1, 'token-elena', {AT});
INSERT INTO hr_profile VALUES
 (24, 'HRP00024', NULL, 15, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {AT}, 1),
 (87, 'HRP00087', NULL, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {AT}, 1),
 (100, 'HRP00100', NULL, 6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {AT}, 1);
INSERT INTO hr_service VALUES (14, 'Pay', 'manual', NULL, NULL, NULL, 1, 1, {AT});
INSERT INTO skill VALUES (20, 'Visas', 1, 1, {AT});
INSERT INTO user_skill VALUES (335, 1, 3, 1, {AT});
INSERT INTO topic_detail VALUES (8, 1, 'New Hire Onboarding', 1, 1, {AT});
UPDATE hr_profile SET number = 'HRP00013' WHERE number = 'HR-002';
INSERT INTO hr_case VALUES
 (60, 'HRC0000770', 'ready', NULL, 24, 1, 'low', 'email', NULL, NULL, 'Share plan', NULL, NULL, NULL, 'Total Rewards',
  NULL, NULL, NULL, NULL, {AT}, 1);
"""
"""Rows that the published queries name, besides those of the seed."""
CALLS: list[tuple[str, dict[str, Any]]] = [
    (
        "create_new_service_template",
        {
            "name": "New Hire Provisioning Template",
            "change_request_values": {
                "short_description": "Provision", "category": "onboarding", "journey_code": "new_hire_standard",
                "auto_generate_tasks": True,
            },
            "coe_type": "HRIT",
        },
    ),
    (
        "create_new_hr_service",
        {
            "service_name": "End-to-End New Hire Lifecycle", "fulfillment_type": "lifecycle event",
            "topic_detail": "New Hire Onboarding", "service_template": "New Hire Provisioning Template", "active": True,
        },
    ),
    ("register_hr_criteria", {"name": "New Hire", "type": "approval", "users": "15"}),
    ("add_new_skill_to_user", {"skill": "20", "user": "15"}),
    (
        "create_new_hr_case",
        {
            "hr_service": "14", "opened_for": "Eve Tan", "assigned_to": "Elena Petrova", "priority": "high",
            "source": "email", "coe_type": "Payroll", "short_description": "Pay is late",
        },
    ),
    (
        "create_hr_case_task",
        {
            "short_description": "Escalation of a case", "assignment_group": "Payroll Desk", "task_type": "checklist",
            "status": "ready", "parent_case": "2",
        },
    ),
    ("link_knowledge_to_hr_case", {"hr_case_id": 60, "knowledge_id": 1, "used_as": "resolution"}),
    (
        "onboard_new_hr_profile",
        {
            "user_id": "101", "personal_email": "elena.p.private@example.com", "position": "HR",
            "national_tax_id": "877",
        },
    ),
    ("add_new_escalation_rule", {"escalate_from": "2", "escalate_to": "4"}),
]  # fmt: skip
"""What an agent does to satisfy the published queries."""


@cache
def published() -> dict[str, dict[str, Any]]:
    listed: dict[str, dict[str, Any]] = json.loads((upstream() / "schema" / "hr.json").read_text(encoding="utf-8"))
    return listed["tables"]


@cache
def verifiers() -> list[dict[str, Any]]:
    path = upstream() / "tasks" / "hr" / "_verifier_samples.json"
    listed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["verifiers"]
    return listed


@pytest.mark.published
def test_the_tables_their_columns_and_keys_are_the_published_ones() -> None:
    assert len(published()) == len(TABLES) == 26
    for name, facts in published().items():
        table = TABLES[name]
        assert [column.name for column in table.columns] == list(facts["columns"]), name
        assert [column.name for column in table.primary_key] == facts["primary_key"], name
        references = {(key.parent.name, key.column.table.name, key.column.name) for key in table.foreign_keys}
        expected = {(key["column"], key["ref_table"], key["ref_column"]) for key in facts["foreign_keys"]}
        assert references == expected | OF_VALUES.get(name, set()), name


@pytest.fixture
def agency(gym: Gym) -> Iterator[GymDatabase]:
    """A database with the rows that the published queries name, at the real time."""
    made = gym.database(SEED + PRESENT, **{"x-hr-user-token": TOKEN})
    yield made
    gym.drop(made)


def passing(database: GymDatabase) -> list[str]:
    """Names of the published verifiers that pass."""
    return [
        one["name"]
        for one in verifiers()
        if holds(database.value(one["query"]), one["expected_value"], Comparison(one["comparison_type"]))
    ]


@pytest.mark.published
def test_published_queries_pass_once_their_work_is_done(agency: GymDatabase) -> None:
    names = [one["name"] for one in verifiers()]
    assert passing(agency) == ["empty count"]
    for tool, arguments in CALLS:
        assert not (outcome := agency.call_with(tool, arguments)).is_error, f"{tool}: {outcome.text}"
    assert passing(agency) == names
