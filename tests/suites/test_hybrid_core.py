"""What the suite across the company's systems holds beyond what every suite proves."""

from __future__ import annotations

from collections import Counter

from tests.suites.episodes import tool_of
from tests.suites.proofs import Case, cases_of

from opsgym_suites.hybrid.systems import ELSEWHERE_ALLOWED


def _cases() -> list[Case]:
    return cases_of("hybrid-core")


def test_hybrid_core_is_as_long_as_the_published_tasks_and_each_task_needs_several_systems() -> None:
    tasks = [case.task for case in _cases()]
    steps = [task.steps or 0 for task in tasks]
    assert len(tasks) >= 155
    assert sum(bool(task.days) for task in tasks) >= 20
    assert sum(not task.feasible and ELSEWHERE_ALLOWED in task.tags for task in tasks) >= 10
    assert sum(steps) / len(steps) >= 7.8
    assert max(steps) >= 19
    assert [task.task_id for task in tasks if len({call.gym for call in task.gold_actions or []}) < 2] == []


def test_every_system_of_the_company_is_read_and_written() -> None:
    read: Counter[str | None] = Counter()
    written: Counter[str | None] = Counter()
    for case in _cases():
        for call in case.task.gold_actions or []:
            (written if tool_of(case.task, call).writes else read)[call.gym] += 1
    servers = set(_cases()[0].suite.servers)
    assert set(read) == set(written) == servers


def test_solutions_name_the_gym_server_of_every_call() -> None:
    calls = [call for case in _cases() for call in case.task.gold_actions or []]
    assert all(call.gym for call in calls)
