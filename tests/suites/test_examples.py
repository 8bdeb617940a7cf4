"""The examples are read as they are, and the recording among them is of an agent that fails now and then."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.suites.episodes import Play, play_all
from tests.support.gym import Gym

from opsgym_api.tasks.task import Task
from opsgym_core.planning.documents import load_documents
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.replay.scripts import script_for

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDING = EXAMPLES / "recordings" / "mixed.jsonl"
TASKS = load_suite("quickstart")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example_is_a_valid_document_about_tasks_that_exist(file: Path) -> None:
    spec = load_documents(file).run.spec
    if spec.suite.builtin is not None:
        assert set(spec.suite.ids) <= {task.task_id for task in load_suite(spec.suite.builtin)}
    played = [model.inline.model for model in spec.models if model.inline and model.inline.model.endswith(".jsonl")]
    assert all((EXAMPLES / model.removeprefix("replay/")).is_file() for model in played)


def test_the_recorded_agent_solves_about_two_thirds_of_feasible_and_infeasible_tasks_alike(gym: Gym) -> None:
    endings = [play_all(gym.url, task, [_recorded(task)])[0] for task in TASKS]
    failed = [task for task, ending in zip(TASKS, endings, strict=True) if ending.failed]
    assert 0.25 <= len(failed) / len(TASKS) <= 0.45
    assert {task.feasible for task in failed} == {True, False}


def _recorded(task: Task) -> Play:
    script = script_for(f"replay/{RECORDING}", task)
    calls = [turn for turn in script.actions if not isinstance(turn, str)]
    return Play("recorded", calls, script.answer)
