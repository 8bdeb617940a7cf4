"""What the suite of HR holds beyond what every suite proves."""

from __future__ import annotations

import re

from tests.suites.proofs import Case, cases_of

from opsgym_api.kinds.evalrun import Access
from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of


def _cases() -> list[Case]:
    return cases_of("hr-core")


def test_hr_core_is_large_and_plays_in_two_worlds() -> None:
    tasks = [case.task for case in _cases()]
    steps = [task.steps or 0 for task in tasks]
    assert len(tasks) >= 70
    assert sum(steps) / len(steps) >= 10
    assert max(steps) >= 25
    assert sum(not task.feasible for task in tasks) >= 8
    assert sum(task.access is Access.STRICT for task in tasks) >= len(tasks) / 3
    assert sum(task.needs_clock for task in tasks) >= 15
    assert min(sum(case.part.seed == seed for case in _cases()) for seed in ("hospital", "works")) >= 35


def test_a_third_of_hr_core_needs_four_writing_tools() -> None:
    tasks = [case.task for case in _cases()]
    estimates = [difficulty_of(task, registry.tools_of(task)) for task in tasks]
    many = [estimate for estimate in estimates if estimate is not None and estimate.writing_tools >= 4]
    assert len(many) * 3 >= len(tasks)


def test_every_tool_of_hr_is_called_by_a_reference_solution() -> None:
    tasks = [case.task for case in _cases()]
    called = {call.name for task in tasks for call in task.gold_actions or []}
    assert set(registry.tools_of(tasks[0])) - called == set()


def test_privacy_or_permissions_decide_many_tasks_of_hr() -> None:
    """Their verifiers cite a rule of confidentiality, or the rules about what roles may do."""
    deciding = re.compile(r"\b(?:CNF-[1-4]|ID-2|USR-1|APR-3|PRO-3|NTF-1)\b")
    cited = [" ".join(check.description for check in case.task.verifiers) for case in _cases()]
    refused = [" ".join(path.rule or "" for path in case.draft.negative_trajectories.values()) for case in _cases()]
    assert sum(bool(deciding.search(f"{one} {other}")) for one, other in zip(cited, refused, strict=True)) >= 20
