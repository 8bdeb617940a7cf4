"""The SQL of exported tasks has the verdict of the `state_difference` verifiers that it stands for."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from tests.domains.declaration import SOAK
from tests.suites.conftest import Gyms
from tests.suites.episodes import Ending, Play, play_all, tool_of
from tests.suites.forms import FORMS
from tests.suites.proofs import LARGE_SEEDS, Case, case_of, failing_plays, gold, right_plays, tasks
from tests.suites.rotation import task_rows
from tests.support.published_harness import load_as_harness

from opsgym.taskexport.published import Exported, GymSeed, exported, is_refused_there, seed_rows
from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.days import instant
from opsgym_api.tasks.published_servers import PUBLISHED_SERVERS
from opsgym_api.tasks.task import GymServer, Task
from opsgym_domains import registry

DOMAINS = ("itsm", "csm", "calendar", "hr", "email", "teams", "drive", "hybrid")
EVERY = 1 if SOAK else 60
"""One task in so many is played, all with OPSGYM_SOAK=1; neighbours are similar."""
UNJUDGED = "verifiers: an agent that does nothing passes those that are left"
REFUSED = "gold_actions: the published email server refuses create_filter with an empty criterion"
NOW = instant("2026-11-16T10:00:00")


@cache
def seed_of(domain_name: str, name: str) -> GymSeed:
    domain = registry.load(domain_name)
    return GymSeed(domain, seed_rows(domain, domain.seeds[name](), NOW), f"{name}.sql", NOW)


def export(task: Task) -> Exported:
    seeds = {
        server.mcp_server_name: seed_of(server.domain, server.seed_database_file.removeprefix("builtin:"))
        for server in task.gym_servers_config
    }
    return exported(task, seeds)


def plays(case: Case) -> list[Play]:
    """Right and wrong endings; among the wrong ones the solution without each of its first writes.

    Without other forms of the same calls: SQL compares tables, where rows of equal meaning differ. Of plays with
    the same calls, only the first: neither the SQL nor the difference reads answers.
    """
    writes = [place for place, call in enumerate(case.draft.gold) if tool_of(case.task, call).writes]
    without = [
        Play(f"without call {place}", [*case.draft.gold[:place], *case.draft.gold[place + 1 :]], case.draft.answer)
        for place in writes[:3]
    ]
    right = [play for play in right_plays(case) if play.label not in FORMS]
    by_calls: dict[str, Play] = {}
    for play in [gold(case), Play("nothing", [], ""), *right, *failing_plays(case), *without]:
        by_calls.setdefault(str([*play.calls]), play)
    return list(by_calls.values())


@cache
def sampled(domain: str) -> list[str]:
    """Tasks that can be exported; SQL has no regular expression for a column that must match one."""
    rows = (json.loads(line) for _, line in task_rows().values() if b'"matches"' not in line)
    return [row["task_id"] for row in rows if row["domain"] == domain and _is_plain(row)][::EVERY]


def _is_plain(row: Mapping[str, Any]) -> bool:
    """Whether the published form can state a task, and its seed is not large."""
    (seed, *_) = [server["seed_database_file"] for server in row["gym_servers_config"]]
    published = row.get("access", Access.PUBLISHED) == Access.PUBLISHED
    return published and row["feasible"] and not (row.get("events") or row.get("days")) and seed not in LARGE_SEEDS


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "task_id",
    [one for domain in DOMAINS for one in sampled(domain)],
)
def test_exported_sql_judges_as_the_state_difference_does(gyms: Gyms, task_id: str) -> None:
    case = case_of(task_id)
    result = export(case.task)
    if result.row is None:
        assert {UNJUDGED, REFUSED} & set(result.left_out)
        return
    row = result.row
    load_as_harness(row)
    own = {of_row["mcp_server_name"]: one.mcp_server_name for of_row, one in servers_of(row, case.task)}
    exported_verifiers = [{**one, "gym_name": own[one["gym_name"]]} for one in row["verifiers"]]
    both = [*(verifier.model_dump(mode="json") for verifier in case.task.verifiers), *exported_verifiers]
    judged = Task.model_validate({**case.task.model_dump(mode="json"), "verifiers": both})
    endings = play_all(gyms, judged, plays(case))
    assert [_passed(ending, "database_state") for ending in endings] == [
        _passed(ending, "state_difference") for ending in endings
    ], [ending.label for ending in endings]
    assert [_passed(ending, "database_state") for ending in endings[:2]] == [True, False]


def servers_of(row: Mapping[str, Any], task: Task) -> Iterator[tuple[Mapping[str, Any], GymServer]]:
    """Gym servers of an exported row, each with the task's own."""
    return zip(row["gym_servers_config"], task.gym_servers_config, strict=True)


def _passed(ending: Ending, kind: str) -> bool:
    return all(result.passed for result in ending.results if result.verifier_type == kind)


def test_what_the_published_form_cannot_say_is_named() -> None:
    task = case_of("itsm-qs-010-report-sla-breaches").task
    result = export(task)
    assert result.row is None
    assert any("regular expression" in missing for missing in result.left_out)


@pytest.mark.parametrize(
    ("of_interest", "reason"),
    [
        (lambda task: task.access is Access.STRICT, "access: a published row cannot require access strict"),
        (lambda task: not task.feasible and task.access is Access.PUBLISHED, UNJUDGED),
        (lambda task: any(map(is_refused_there, task.gold_actions or ())), REFUSED),
    ],
    ids=["strict", "infeasible", "refused there"],
)
def test_a_task_that_would_be_another_one_is_left_out(of_interest: Callable[[Task], bool], reason: str) -> None:
    plain = (task for _, _, task in tasks().values() if not (task.events or task.days) and of_interest(task))
    for task in itertools.islice(plain, 0, 60, 20):
        result = export(task)
        assert result.row is None, task.task_id
        assert reason in result.left_out


@pytest.mark.parametrize("domain", PUBLISHED_SERVERS)
def test_an_exported_row_names_the_published_server(domain: str) -> None:
    rows = (export(case_of(task_id).task).row for task_id in sampled(domain))
    row = next(row for row in rows if row is not None)
    (server,) = row["gym_servers_config"]
    published = PUBLISHED_SERVERS[domain]
    assert (server["mcp_server_name"], server["mcp_server_url"]) == (published.name, published.url)
    assert {verifier.get("gym_name", published.name) for verifier in row["verifiers"]} == {published.name}


def test_tasks_with_events_are_not_exported() -> None:
    task = next(task for _, _, task in tasks().values() if task.events)
    result = export(task)
    assert result.row is None
    assert f"events: a published row has none, and the task has {len(task.events)}" in result.left_out


def test_tasks_of_several_days_are_not_exported() -> None:
    task = next(task for _, _, task in tasks().values() if task.days and not task.events)
    result = export(task)
    assert result.row is None
    assert f"days: a published row has one day, and the task has {len(task.days) + 1}" in result.left_out
