"""Raw results: what data does not show of an answer, and recordings that cannot be read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.gym import Gym
from tests.support.upstream import upstream
from tools.conformance.documents import DocumentWorld, replay_documents
from tools.conformance.raw import RawResult, raw_problems, read_raw_results
from tools.conformance.recordings import Recording, read_recordings

from opsgym_domains import registry

RECORDED = RawResult(("content", "isError"), (("type", "text"),), '{\n  "id": "1",\n  "name": "caf\\u00e9"\n}')


def result_of(text: str, **keys: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": False, **keys}


@pytest.mark.parametrize(
    ("actual", "problem"),
    [
        (result_of('{\n  "id": "2",\n  "name": "caf\\u00e9"\n}'), None),
        (result_of('{\n  "id": "2",\n  "name": "caf\\u00e9"\n}', meta=None), "keys of the result"),
        (result_of('{"id": "2", "name": "caf\\u00e9"}'), "form of the text: recorded indent 2, actual indent None"),
        (result_of('{\n  "id": "2",\n  "name": "café"\n}'), "not escaped"),
        (result_of('{\n  "name": "x",\n  "id": "2"\n}'), "order of keys: answer: recorded id, name, actual name, id"),
        (result_of("a sentence"), None),
    ],
)
def test_the_form_of_a_result_is_compared(actual: dict[str, Any], problem: str | None) -> None:
    problems = list(raw_problems(RECORDED, actual))
    assert problems == [] if problem is None else any(problem in one for one in problems)


def test_unreadable_lines_of_recordings_are_calls_that_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "trajectories" / "teams"
    folder.mkdir(parents=True)
    good = {"task_id": "a", "tool": "list_teams", "arguments": {}, "json": {"value": []}}
    lines = [
        json.dumps(good),
        "{",
        "[]",
        json.dumps({"task_id": "a", "tool": "list_users"}),
        json.dumps({"task_id": 1}),
    ]
    (folder / "runs.jsonl").write_text("\n".join(lines))
    calls = [
        (recording.task_id, call.tool, call.mute) for recording in read_recordings(folder) for call in recording.calls
    ]
    assert [(task, tool) for task, tool, mute in calls if mute is None] == [("a", "list_teams")]
    unread = {mute.partition(" of ")[0] for _, _, mute in calls if mute is not None}
    assert unread == {"line 2", "line 3", "line 4", "line 5"}


@pytest.mark.published
def test_a_recording_whose_world_cannot_be_made_is_reported(gym_servers: Callable[[str], Gym]) -> None:
    def world_of(_recording: Recording, _all: Sequence[Recording]) -> DocumentWorld:
        raise KeyError("id")

    recordings = read_recordings(upstream() / "trajectories" / "teams")[:1]
    verdicts = replay_documents(gym_servers("teams"), registry.load("teams"), recordings, world_of)
    assert len(verdicts) == len(recordings[0].calls)
    assert {problem for verdict in verdicts for problem in verdict.problems} == {
        "its world cannot be made: KeyError('id')"
    }


@pytest.mark.published
@pytest.mark.parametrize("domain", ["calendar", "teams"])
def test_result_objects_have_the_published_keys(domain: str) -> None:
    recorded = Counter((raw.envelope, raw.content) for raw in read_raw_results(upstream(), domain).values())
    made = registry.load(domain).response_style.envelope("text", False)
    assert list(recorded) == [(tuple(made), tuple(tuple(item) for item in made["content"]))]
