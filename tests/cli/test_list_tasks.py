"""`opsgym tasks list` shows the difficulty of the tasks of a suite."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.world import World, row


def test_built_in_tasks_have_a_difficulty(tmp_path: Path) -> None:
    done = World(tmp_path).inline("tasks", "list", "quickstart", "--format", "json")
    assert done.returncode == 0, done.stderr
    tasks = {task["task"]: task for task in json.loads(done.stdout)}
    assert tasks["itsm-qs-001-triage-dock-printer"]["difficulty"] == "easy"
    assert {task["difficulty"] for task in tasks.values()} == {"easy", "medium", "hard"}


def test_without_a_suite_the_suites_are_named(tmp_path: Path) -> None:
    done = World(tmp_path).inline("tasks", "list")
    assert done.returncode == 2
    assert "name a SUITE: " in done.stderr
    assert "quickstart" in done.stderr


def test_a_task_without_reference_solution_has_none(tmp_path: Path) -> None:
    world = World(tmp_path)
    made = row("plain")
    made.pop("gold_actions", None)
    world.write_suite([made])
    done = world.inline("tasks", "list", "suite", "--format", "markdown")
    assert done.returncode == 0, done.stderr
    header, _, line = done.stdout.splitlines()
    assert "difficulty" in header
    assert line.startswith("| plain | itsm |")
    (task,) = json.loads(world.inline("tasks", "list", "suite", "--format", "json").stdout)
    assert task["difficulty"] is None
    assert task["points"] is None
