"""Every task of the built-in suites, proved against a real gym server.

The reference solution passes, and so do the draft's other solutions and those that are made by machine: another
order of writes, other tools with the same effect, harmless columns, other wordings of the answer. No call at all, a
mistake in addition, negative trajectories, and an end state that differs in one row or column do not; and every
verifier is able to fail. A run plays a part of the tasks (`tests.suites.rotation`), `make soak` all. The rules that
need no server are in `opsgym_suites.kit.authoring_rules`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from tests.suites.conftest import Gyms
from tests.suites.proofs import case_of, cases_of, tasks, unproved, unsolved
from tests.suites.rotation import MOST_CHANGED, PARTS, PARTS_IN_FULL, changed, in_full, is_turn, played

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.verifiers import Category
from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of

SUITES = (
    "quickstart",
    "itsm-core",
    "csm-core",
    "calendar-core",
    "hr-core",
    "email-core",
    "drive-core",
    "teams-core",
    "hybrid-core",
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("task_id", played())
def test_a_task_accepts_what_is_right_and_nothing_else(gyms: Gyms, task_id: str) -> None:
    case = case_of(task_id)
    prove = unproved if in_full(case) else unsolved
    problems = list(prove(case, gyms))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("parts", [PARTS, PARTS_IN_FULL])
def test_each_task_has_one_turn_of_the_rotation(parts: int) -> None:
    turns = [{task_id for task_id in tasks() if is_turn(task_id, number, parts)} for number in range(70, 70 + parts)]
    assert sum(map(len, turns)) == len(set().union(*turns)) == len(tasks())
    assert max(map(len, turns)) < 2.5 * len(tasks()) / parts


def test_a_task_that_is_proved_in_full_is_played() -> None:
    assert PARTS_IN_FULL % PARTS == 0
    assert {name for name in tasks() if is_turn(name, 7, PARTS_IN_FULL)} < {n for n in tasks() if is_turn(n, 7)}


@pytest.mark.parametrize(("rows", "proved"), [(1, 1), (MOST_CHANGED, MOST_CHANGED), (MOST_CHANGED + 1, 0)])
def test_changed_rows_are_proved_in_full_unless_they_are_most_of_a_suite(
    tmp_path: Path, rows: int, proved: int
) -> None:
    lines = "\n".join(json.dumps({"task_id": str(number)}) for number in range(rows))
    (tmp_path / "new.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    assert len(changed(str(tmp_path / "new.jsonl.zst"))) == proved


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_has_feasible_and_infeasible_tasks_and_verifiers_of_every_kind(suite: str) -> None:
    of_suite = [task for name, _number, task in tasks().values() if name == suite]
    verifiers = [verifier for task in of_suite for verifier in task.verifiers]
    assert {task.feasible for task in of_suite} == {True, False}
    assert {verifier.category for verifier in verifiers} == set(Category)
    kinds = {verifier.verifier_type for verifier in verifiers}
    assert kinds - {"never_called"} == {"state_difference", "looked_up", "answer_match"}


@pytest.mark.parametrize(("suite", "tools"), [("itsm-core", 70), ("csm-core", 60)])
def test_a_large_suite_is_long_and_hard_enough(suite: str, tools: int) -> None:
    rows = [case.task for case in cases_of(suite)]
    steps = [task.steps or 0 for task in rows]
    used = {action.name for task in rows for action in task.gold_actions or []}
    infeasible = [task.access for task in rows if not task.feasible]
    strict = [case for case in cases_of(suite) if case.task.access is Access.STRICT]
    assert len(rows) >= 60
    assert sum(steps) / len(steps) >= 9
    assert max(steps) >= 30
    assert len(infeasible) >= 6
    assert set(infeasible) == set(Access)
    assert len(strict) >= 10
    assert max(len(case.draft.accepted_calls) for case in strict) >= 12
    assert len(used) >= tools, f"no solution uses {sorted(set(registry.tools_of(rows[0])) - used)}"


CHANGED_BY_EVENTS = {
    "itsm-core": {"role_permission", "users", "change", "incident", "sla_definition"},
    "csm-core": {"user", "customer_case", "contract", "knowledge"},
}
"""Tables that events change."""


@pytest.mark.parametrize("suite", CHANGED_BY_EVENTS)
def test_events_of_every_kind_occur_in_a_large_suite(suite: str) -> None:
    by_task = [case.task.events for case in cases_of(suite)]
    events = [event for happening in by_task for event in happening]
    statements = " ".join(statement for event in events for statement in event.sql)
    assert sum(map(bool, by_task)) >= 6
    assert set(re.findall(r'(?:UPDATE|INTO) "?(\w+)', statements)) >= CHANGED_BY_EVENTS[suite]
    assert any(event.advance_seconds for event in events)
    assert {bool(event.when) for event in events} == {True, False}


TIMED = {"itsm-core": (15, 8, 4), "csm-core": (15, 8, 4), "hr-core": (15, 8, 4)}
"""Least numbers of tasks that use time, of those over several days, and of those whose policy or permissions change."""


@pytest.mark.parametrize(("suite", "least"), TIMED.items())
def test_a_large_suite_has_tasks_in_time_over_days_and_under_changing_rules(
    suite: str, least: tuple[int, int, int]
) -> None:
    rows = [case.task for case in cases_of(suite)]
    rules = [any(event.amend or "role_permission" in " ".join(event.sql) for event in task.events) for task in rows]
    counts = sum(task.needs_clock for task in rows), sum(bool(task.days) for task in rows), sum(rules)
    assert all(count >= number for count, number in zip(counts, least, strict=True)), counts


@pytest.mark.parametrize("suite", CHANGED_BY_EVENTS)
def test_tasks_of_a_large_suite_run_into_many_different_rules(suite: str) -> None:
    drafts = [case.draft for case in cases_of(suite)]
    refused = {rule for draft in drafts for rule in draft.refused.values()}
    refused |= {path.rule for draft in drafts for path in draft.negative_trajectories.values() if path.rule}
    assert len(refused) >= 10


@pytest.mark.parametrize("suite", [name for name in SUITES if name not in ("quickstart", "hybrid-core")])
def test_a_third_of_a_large_suite_needs_four_writing_tools(suite: str) -> None:
    rows = [case.task for case in cases_of(suite)]
    estimates = [difficulty_of(task, registry.tools_of(task)) for task in rows]
    many = [estimate for estimate in estimates if estimate is not None and estimate.writing_tools >= 4]
    assert len(many) * 3 >= len(rows)


def test_twenty_tasks_of_csm_core_play_in_the_second_world() -> None:
    seeds = Counter(case.task.gym_servers_config[0].seed_database_file for case in cases_of("csm-core"))
    assert seeds["builtin:charging"] >= 20
