"""What the suite of Drive holds beyond what every suite proves."""

from __future__ import annotations

import re

from tests.suites.proofs import Case, cases_of

from opsgym_api.kinds.evalrun import Access
from opsgym_domains import registry

ROLES = re.compile(r"permissions|drive_memberships|group_memberships|users|file_labels")
"""Tables that decide who may do what with a file."""
RULES_OF_ROLES = {"ID-2", *(f"PRC-{number}" for number in range(3, 11))}
"""Rules on who has or gets which role; PRC-1 and PRC-2 protect files from everyone."""


def _cases() -> list[Case]:
    return cases_of("drive-core")


def test_drive_core_is_large_and_plays_in_two_worlds() -> None:
    tasks = [case.task for case in _cases()]
    steps = [task.steps or 0 for task in tasks]
    assert len(tasks) >= 70
    assert sum(steps) / len(steps) >= 8
    assert max(steps) >= 25
    assert sum(not task.feasible for task in tasks) >= 8
    assert sum(task.access is Access.STRICT for task in tasks) >= len(tasks) / 3
    assert min(sum(case.part.seed == seed for case in _cases()) for seed in ("consultancy", "foundation")) >= 35


def test_every_tool_of_drive_is_needed_by_a_solution() -> None:
    called = {call.name for case in _cases() for call in case.draft.gold}
    assert called == registry.load("drive").toolbox.tools.keys()


def test_tasks_of_drive_use_time_days_and_changing_roles_and_rules() -> None:
    tasks = [case.task for case in _cases()]
    changing = [
        any(event.amend or ROLES.search(" ".join(event.sql)) for event in task.events) for task in tasks if task.events
    ]
    assert sum(bool(task.events or task.days) for task in tasks) >= 15
    assert sum(bool(task.days) for task in tasks) >= 8
    assert sum(changing) >= 8


def test_a_role_or_membership_decides_ten_drive_tasks() -> None:
    refused = [
        {*case.draft.refused.values(), *(path.rule for path in case.draft.negative_trajectories.values())}
        for case in _cases()
    ]
    assert sum(bool(rules & RULES_OF_ROLES) for rules in refused) >= 10
