"""Verdicts that audits have proved wrong, played again: each must have turned.

The cases are not part of the project: `tasks.jsonl` stands in `cases` beside the folder that OPSGYM_UPSTREAM names,
and without it nothing is played. `-k KIND` plays one kind. A run plays the cases of the tasks that it plays at all
(`tests.suites.rotation`), `make soak` all.

Invariant: of each kind no more verdicts are wrong than `OPEN` states; a number there is only ever lowered.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.suites.conftest import Gyms
from tests.suites.episodes import Ending, Play, play_all, postponed
from tests.suites.proofs import tasks
from tests.suites.rotation import is_played

from opsgym_api.tasks.task import Task, ToolCall

FILE = Path(os.environ.get("OPSGYM_UPSTREAM", "")).parent / "cases" / "tasks.jsonl"
_KEY = re.compile(r"\b[a-z]+_[a-z]+\b")
OPEN: Mapping[str, int] = {"refuses_right": 1}
"""Verdicts that may still be wrong, by kind: the last figures that were measured."""


@cache
def cases() -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Cases to play by kind; none where the file is missing. Answers of servers are not verdicts."""
    if "OPSGYM_UPSTREAM" not in os.environ or not FILE.exists():
        return {}
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for case in map(json.loads, FILE.read_text().splitlines()):
        if case["kind"] != "server_answer" and is_played(case["task_id"]):
            by_kind.setdefault(case["kind"], []).append(case)
    return by_kind


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", cases() or [pytest.param("none", marks=pytest.mark.skip(reason="no proven cases"))])
def test_verdicts_proved_wrong_have_turned(gyms: Gyms, kind: str) -> None:
    wrong = [problem for case in cases()[kind] if (problem := _problem(gyms, case))]
    assert len(wrong) <= OPEN.get(kind, 0), f"{len(wrong)} of {len(cases()[kind])}\n" + "\n".join(wrong)


def _problem(gyms: Gyms, case: Mapping[str, Any]) -> str | None:
    """What is wrong with today's verdict on a case; None if nothing is, or if its request has been reworded or the
    policy now names the keys that the case says were shown nowhere.
    """
    _name, _number, task = tasks()[case["task_id"]]
    if _request(task) != case["request"] or _is_shown(task, case):
        return None
    (ending,) = play_all(gyms, task, [_play(task, case)])
    verdict = "failed" if ending.failed else "passed"
    if case["right"] == "unsolvable":
        is_wrong = any(re.search(case["shows"], call.result) for call in ending.calls)
    else:
        is_wrong = verdict != case["right"]
    return f"{case['task_id']}: {verdict} {_failures(ending)}; {case['why']}" if is_wrong else None


def _is_shown(task: Task, case: Mapping[str, Any]) -> bool:
    """Whether the policy names every key that a case about unreachable knowledge misses."""
    missed = _KEY.findall(case["why"]) if case["kind"] == "needs_unreachable_knowledge" else []
    return bool(missed) and all(f"`{key}`" in task.system_prompt for key in missed)


def _failures(ending: Ending) -> str:
    return "; ".join(f"{result.name}: {str(result.actual)[:300]}" for result in ending.results if not result.passed)


def _request(task: Task) -> str:
    """Digest of what the agent is asked over all days."""
    text = "\n".join([task.user_prompt, *(day.message for day in task.days)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _play(task: Task, case: Mapping[str, Any]) -> Play:
    gold = case["calls"] == "gold"
    calls = list(task.gold_actions or []) if gold else [ToolCall.model_validate(call) for call in case["calls"]]
    dropped = case.get("drop_arguments", {})
    calls = [_without(call, dropped.get(call.name, ())) for call in calls]
    if late := case.get("late"):
        calls = postponed(task, calls, never=late == "never")
    answer = task.gold_answer if case["answer"] == "gold" else case["answer"]
    day_answers = (task.gold_answers or [])[:-1] if late else case["day_answers"]
    return Play(case["why"], calls, answer or "", day_answers or ())


def _without(call: ToolCall, names: Sequence[str]) -> ToolCall:
    remaining = {name: value for name, value in call.arguments.items() if name not in names}
    return call.model_copy(update={"arguments": remaining})
