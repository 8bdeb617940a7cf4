"""The suite of all domains, the tenth of it that predicts it, and its hardest quarter."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import cast

import pytest
from benchmarks.mini import ASSUMPTIONS, Place, predictions
from tests.domains.declaration import SOAK

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.difficulty import Difficulty, difficulty_of
from opsgym_domains.suite_rows import load_suite, suite_rows
from opsgym_suites.kit.authoring_rules import AuthoredTask
from opsgym_suites.kit.card import PUBLISHED, PUBLISHED_WHOLE, Section
from opsgym_suites.kit.drafts import Draft
from opsgym_suites.kit.selections import Candidate, selected

MINI, HARD = registry.SELECTIONS


def authored(task: Task) -> AuthoredTask:
    """A row as the card counts it, which reads no draft."""
    domains = {server.mcp_server_name: registry.load(server.domain) for server in task.gym_servers_config}
    return AuthoredTask(domains, task, cast("Draft", None))


@cache
def candidates() -> Mapping[str, Candidate]:
    """The tasks of the whole suite by id."""
    return {
        task.task_id: Candidate(
            task.task_id, task.domain_name, task.feasible, difficulty_of(task, registry.tools_of(task))
        )
        for task in load_suite(registry.WHOLE)
    }


def points(task: Task) -> int:
    return difficulty(candidates()[task.task_id]).points


def difficulty(task: Candidate) -> Difficulty:
    assert task.difficulty is not None
    return task.difficulty


def stratum(name: str, task: Candidate) -> tuple[str, ...]:
    """What a selection chooses within."""
    return (task.domain, str(task.feasible), *([str(difficulty(task).band)] if name == MINI else []))


def moved_too_far(few: Sequence[Candidate], more: Candidate) -> list[str]:
    """Selections of which one task more moves another stratum's id, or more than one id of its own."""
    before, after = selected(few), selected([*few, more])
    by_id = {task.task_id: task for task in [*few, more]}
    faults = []
    for name in before:
        out, came = set(before[name]) - set(after[name]), set(after[name]) - set(before[name])
        strays = [task_id for task_id in out | came if stratum(name, by_id[task_id]) != stratum(name, more)]
        if len(out) > 1 or len(came) > 1 or strays:
            faults.append(f"{name}: {more.task_id} moves {sorted(out)} out and {sorted(came)} in")
    return faults


def test_the_whole_suite_has_as_many_tasks_of_each_domain_as_the_published_benchmark() -> None:
    tasks = load_suite(registry.WHOLE)
    counts = Counter(task.domain_name for task in tasks)
    assert {domain: count for domain, count in counts.items() if count < PUBLISHED[domain]} == {}
    assert len(tasks) >= 1150
    assert len({task.task_id for task in tasks}) == len(tasks)
    assert fmean(len(task.gold_actions or []) for task in tasks) >= 9
    assert sum(not task.feasible for task in tasks) >= 30


def test_the_whole_suite_is_as_long_as_the_published_benchmark_and_asks_for_many_decisions() -> None:
    counted = Section("all", [authored(task) for task in load_suite(registry.WHOLE)]).row
    assert int(counted["longest"]) >= int(PUBLISHED_WHOLE["longest"])
    assert float(counted["conditions"]) >= float(PUBLISHED_WHOLE["verifiers"])
    assert int(counted["groups"]) >= 450


@pytest.mark.parametrize("name", [MINI, HARD])
def test_a_selection_has_rows_of_the_whole_suite_in_its_order(name: str) -> None:
    rows = suite_rows(name)
    chosen = {row["task_id"] for row in rows}
    assert rows == [row for row in suite_rows(registry.WHOLE) if row["task_id"] in chosen]


def test_a_variant_of_a_selection_has_the_tasks_of_the_selection() -> None:
    assert [row["task_id"] for row in suite_rows(MINI, 7)] == [row["task_id"] for row in suite_rows(MINI)]


def test_the_mini_suite_has_a_tenth_of_each_domain_and_of_its_infeasible_tasks() -> None:
    def shares(name: str) -> Counter[tuple[str, bool]]:
        return Counter((task.domain_name, task.feasible) for task in load_suite(name))

    mini, whole = shares(MINI), shares(registry.WHOLE)
    assert {group: count for group, count in whole.items() if abs(mini[group] - count / 10) > 1} == {}


def test_a_task_less_moves_at_most_one_id_of_its_stratum() -> None:
    tasks = list(candidates().values())
    places = random.Random(5).sample(range(len(tasks)), 120 if SOAK else 30)
    moved = [moved_too_far([*tasks[:place], *tasks[place + 1 :]], tasks[place]) for place in places]
    assert [fault for faults in moved for fault in faults] == []


def test_a_task_more_moves_at_most_one_id_of_its_stratum() -> None:
    tasks = list(candidates().values())
    more = [
        Candidate(f"new-{number}", like.domain, like.feasible, like.difficulty)
        for number, like in enumerate(random.Random(5).sample(tasks, 60 if SOAK else 20))
    ]
    assert [fault for task in more for fault in moved_too_far(tasks, task)] == []


def test_a_selection_does_not_depend_on_the_order_of_the_tasks() -> None:
    tasks = list(candidates().values())
    turned = selected(tasks[::-1])
    assert {name: sorted(ids) for name, ids in selected(tasks).items()} == {n: sorted(ids) for n, ids in turned.items()}


def test_the_hard_suite_has_the_tasks_with_the_most_points_of_each_domain() -> None:
    hard = load_suite(HARD)
    chosen = {task.task_id for task in hard}
    for group in {(task.domain_name, task.feasible) for task in hard}:
        alike = [task for task in load_suite(registry.WHOLE) if (task.domain_name, task.feasible) == group]
        inside = [points(task) for task in alike if task.task_id in chosen]
        outside = [points(task) for task in alike if task.task_id not in chosen]
        assert len(inside) == math.ceil(len(alike) / 4)
        assert min(inside) >= max(outside)


def test_a_sample_by_difficulty_predicts_better_than_chance_where_difficulty_decides() -> None:
    draw = random.Random(3)
    tasks = [Place(f"t{place:03}", "itsm", True, draw.gauss(0, 1)) for place in range(600)]
    tasks.sort(key=lambda task: task.points)
    sample, *by_chance = predictions(tasks, range(5, 600, 10), ASSUMPTIONS[2])

    def error(errors: list[float]) -> float:
        return fmean(each**2 for each in errors)

    assert error(sample.errors) < 0.9 * fmean(error(each.errors) for each in by_chance)
    assert sample.ordered_alike > 0.9


def test_a_sample_of_every_task_predicts_the_whole() -> None:
    tasks = [Place(f"t{place}", "itsm", True, 0.0) for place in range(40)]
    everything, *_ = predictions(tasks, range(40), ASSUMPTIONS[0])
    assert max(map(abs, everything.errors)) < 1e-12
    assert everything.ordered_alike == 1.0
