"""Variants of the built-in suites: what is right for a task is right in its variant, and what is wrong is wrong.

A test run plays some tasks of each domain in two variants; all tasks are played with `OPSGYM_VARIANTS=all`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.suites.conftest import Gyms
from tests.suites.episodes import Play, play_all
from tests.suites.proofs import Case, case_of, failing_plays, gold, right_plays

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.variants.rewriting import Rewriting
from opsgym_domains.variants.worlds import rewriting

EVERY = 1 if os.environ.get("OPSGYM_VARIANTS") == "all" else 40
"""One of this many tasks is played in a variant, others in the next variant."""


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("domain", ["csm", "itsm"])
def test_a_variant_is_proved_by_the_plays_of_the_original(gyms: Gyms, domain: str, variant: int) -> None:
    loaded = registry.load(domain)
    tasks = registry.load_suite(f"{domain}-core", variant)
    played = [case_of(task.task_id) for number, task in enumerate(tasks) if number % EVERY == variant % EVERY]
    changes = {
        seed: rewriting(loaded.metadata, loaded.seeds[seed](), variant) for seed in {case.part.seed for case in played}
    }
    by_id = {task.task_id: task for task in tasks}
    problems = [
        problem
        for case in played
        for problem in _unproved(gyms(domain).url, case, by_id[case.task.task_id], changes[case.part.seed])
    ]
    assert problems == []


def _unproved(url: str, case: Case, task: Task, change: Rewriting) -> Iterator[str]:
    """Plays of the original that end otherwise in the variant."""
    right, wrong = [gold(case), *right_plays(case)], failing_plays(case)
    endings = play_all(url, task, [_varied(play, change) for play in (*right, *wrong)])
    for number, ending in enumerate(endings):
        if number < len(right) and ending.failed:
            yield f"{task.task_id}: {ending.label}: {', '.join(ending.failed)}: {ending.refusals}"
        if number >= len(right) and not ending.failed:
            yield f"{task.task_id}: passes although the agent {ending.label}"


def _varied(play: Play, change: Rewriting) -> Play:
    calls = [call.model_copy(update={"arguments": change.value(call.arguments)}) for call in play.calls]
    answers = [change.text(answer) for answer in play.day_answers]
    return replace(play, calls=calls, answer=change.text(play.answer), day_answers=answers)


@pytest.mark.parametrize("domain", ["csm", "itsm"])
def test_prompts_of_a_variant_name_no_one_of_the_original(domain: str) -> None:
    emails = {
        str(gym.user_info["email"])  # type: ignore[attr-defined]
        for task in registry.load_suite(f"{domain}-core")
        for gym in task.gym_servers_config
    }
    assert emails
    rows = [task.model_dump_json() for task in registry.load_suite(f"{domain}-core", 5)]
    assert [email for email in emails for row in rows if email in row] == []
