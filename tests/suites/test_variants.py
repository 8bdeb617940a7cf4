"""Variants of the built-in suites: what is right for a task is right in its variant, and what is wrong is wrong.

A test run plays a task of each suite in a variant. Which one follows from the suite's file, so that equal
trees play the same, and every change of a suite plays others. `make soak` plays all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.domains.declaration import SOAK
from tests.suites.conftest import Gyms
from tests.suites.episodes import Play, Servers, play_all
from tests.suites.proofs import SUITES, case_of, failing_plays, gold, right_plays
from tests.suites.rotation import variant_of

from opsgym_api.tasks.task import Task
from opsgym_domains.suite_rows import load_suite, suite_rows
from opsgym_domains.variants.companies import rewriting_of
from opsgym_domains.variants.tasks import RowRewriting, row_rewriting, varied_rows


@pytest.mark.timeout(3600 if SOAK else 300)
@pytest.mark.parametrize("number", [0, 1] if SOAK else [0])
@pytest.mark.parametrize("suite", SUITES)
def test_a_variant_is_proved_by_the_plays_of_the_original(gyms: Gyms, suite: str, number: int) -> None:
    variant = variant_of(suite) + number
    rows = suite_rows(suite)
    if not SOAK:
        rows = [rows[variant % len(rows)]]
    tasks = map(Task.model_validate, varied_rows(rows, variant, rewriting_of))
    changes = [row_rewriting(row, lambda domain, seed: rewriting_of(domain, seed, variant)) for row in rows]
    pairs = zip(tasks, changes, strict=True)
    problems = [problem for task, change in pairs for problem in _unproved(gyms, task, change)]
    assert not problems, "\n".join([f"variant {variant}", *problems])


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
