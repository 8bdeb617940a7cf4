"""Variants of the built-in suites: what is right for a task is right in its variant, and what is wrong is wrong.

A test run plays a few tasks of each suite in a variant. Which ones follows from the suite's file, so that equal
trees play the same, and every change of a suite plays others. `make soak` plays all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from tests.domains.declaration import SOAK
from tests.suites.conftest import Gyms
from tests.suites.episodes import Play, Servers, play_all
from tests.suites.proofs import SUITES, case_of, failing_plays, gold, right_plays
from tests.suites.rotation import turn

from opsgym_api.tasks.task import Task
from opsgym_domains.suite_rows import load_suite, suite_rows
from opsgym_domains.variants.companies import rewriting_of
from opsgym_domains.variants.tasks import RowRewriting, row_rewriting

EVERY = 1 if SOAK else 100
"""One of this many tasks is played in a variant."""


@pytest.mark.timeout(3600 if SOAK else 300)
@pytest.mark.parametrize("number", [0, 1] if SOAK else [0])
@pytest.mark.parametrize("suite", SUITES)
def test_a_variant_is_proved_by_the_plays_of_the_original(gyms: Gyms, suite: str, number: int) -> None:
    chosen = _choice(suite) + number
    variant = 1 + chosen % 9999
    tasks = load_suite(suite, variant)
    played = [task for place, task in enumerate(tasks, start=chosen) if place % EVERY == 0]
    problems = [problem for task in played for problem in _unproved(gyms, task, _rewriting(task))]
    assert not problems, "\n".join([f"variant {variant}", *problems])


def _choice(suite: str) -> int:
    """A number that changes with the suite's file, so that equal trees play equal variants."""
    return turn(f"domain_images/opsgym_domains/{SUITES[suite].domain}/data/{suite}.jsonl.zst")


def _rewriting(task: Task) -> RowRewriting:
    """The rewritings that made a task."""
    return row_rewriting(_rows()[task.task_id], lambda domain, seed: rewriting_of(domain, seed, task.variant))


@cache
def _rows() -> dict[str, dict[str, Any]]:
    """Rows of all suites as they are written, by task."""
    return {row["task_id"]: row for suite in SUITES for row in suite_rows(suite)}


def _unproved(servers: Servers, task: Task, change: RowRewriting) -> Iterator[str]:
    """Plays of the original that end otherwise in the variant."""
    case = case_of(task.task_id)
    right = [gold(case), *filter(_is_rewritten_whole, right_plays(case))]
    wrong = failing_plays(case)
    endings = play_all(servers, task, [_varied(play, change) for play in (*right, *wrong)])
    for number, ending in enumerate(endings):
        if number < len(right) and ending.failed:
            yield f"{task.task_id}: {ending.label}: {', '.join(ending.failed)}: {ending.refusals}"
        if number >= len(right) and not ending.failed:
            yield f"{task.task_id}: passes although the agent {ending.label}"


def _is_rewritten_whole(play: Play) -> bool:
    """Whether a rewriting reaches every text of a play: that of raw messages is encoded."""
    return not any('"raw"' in call.model_dump_json() for call in play.calls)


def _varied(play: Play, change: RowRewriting) -> Play:
    calls = [call.model_copy(update={"arguments": change.on(call.gym).value(call.arguments)}) for call in play.calls]
    answers = [change.texts.text(answer) for answer in play.day_answers]
    return replace(play, calls=calls, answer=change.texts.text(play.answer), day_answers=answers)


@pytest.mark.parametrize("suite", SUITES)
def test_rows_of_a_variant_name_no_one_of_the_original(suite: str) -> None:
    """Neither by address, nor by given and family name, in capitals or without."""
    users = [gym["user_info"] for row in suite_rows(suite) for gym in row["gym_servers_config"]]
    names = {user[name].lower() for user in users for name in ("email", "name")}
    assert len(names) > 4
    rows = [task.model_dump_json().lower() for task in load_suite(suite, 5)]
    assert [name for name in names for row in rows if name in row] == []
