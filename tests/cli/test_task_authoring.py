"""What task writers use works: the page's example, templates, the JSON schema, and the readable form of a row."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.world import World, row

from opsgym_api.tasks.json_schema import FILE, main, task_schema
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import GymServer, Task
from opsgym_api.tasks.verifiers import CONFIG_OF
from opsgym_domains import registry
from opsgym_domains.suite_rows import load_suite, suite_rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tasks.md"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_example_of_the_page_is_proved(tmp_path: Path, desk_url: dict[str, str]) -> None:
    world = World(tmp_path, desk_url)
    (example,) = (
        text for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL) if text.startswith("{")
    )
    (world.folder / "task.json").write_text(example)
    done = world.inline("tasks", "validate", "task.json", "--prove")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("task.json: 1 task, all valid and proved\n")
    assert "warning" not in done.stderr


def test_events_clock_and_days_of_the_page_are_valid(tmp_path: Path) -> None:
    (fields,) = re.findall(r'```json\n("events".*?)```', PAGE.read_text(), re.DOTALL)
    made = {**row("a"), **json.loads(f"{{{fields}}}"), "gold_actions": None, "gold_answer": None}
    (tmp_path / "task.json").write_text(json.dumps(made))
    assert read_tasks(tmp_path)[1] == []


def test_the_page_names_every_field_of_a_row() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE.read_text()))
    internal = {"user_prompts", "variant", "mcp_server_url"}
    assert {*Task.model_fields, *GymServer.model_fields} - named - internal == set()


@pytest.mark.parametrize("domain", ["itsm", "csm", "calendar"])
def test_a_new_row_is_valid_and_keeps_an_edited_policy(world: World, domain: str) -> None:
    made = world.inline("tasks", "new", "tasks/mine.json", "--domain", domain)
    assert (made.returncode, made.stdout.splitlines()[-1]) == (0, "  opsgym tasks validate tasks/mine.json --prove")
    (world.folder / "tasks" / "policy.md").write_text("Own rules.")
    assert world.inline("tasks", "new", "tasks/second.json", "--domain", domain).returncode == 0
    done = world.inline("tasks", "validate", "tasks")
    assert (done.returncode, done.stderr) == (0, "")
    (first, second), _ = read_tasks(world.folder / "tasks")
    assert (first.task_id, second.task_id, first.system_prompt) == ("mine", "second", "Own rules.")


def test_a_new_row_starts_from_the_task_that_is_named(world: World) -> None:
    task_id = "itsm-qs-004-resolve-label-driver"
    assert world.inline("tasks", "new", "mine.json", "--like", task_id).returncode == 0
    (task,), _ = read_tasks(world.folder / "mine.json")
    original = next(task for task in load_suite("quickstart") if task.task_id == task_id)
    assert (task.user_prompt, task.gold_actions) == (original.user_prompt, original.gold_actions)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--domain", "itsn"], "tasks new: --domain: unknown domain 'itsn'; did you mean itsm?"),
        (["--like", "nope"], "tasks new: --like: unknown built-in task 'nope'"),
    ],
)
def test_a_new_row_of_an_unknown_domain_or_task_is_refused(world: World, arguments: list[str], problem: str) -> None:
    done = world.inline("tasks", "new", "mine.json", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(problem)


def test_a_new_row_of_a_domain_without_built_in_tasks_is_refused(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (metadata := tmp_path / "diary-1.0.dist-info").mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: diary\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.DOMAINS}]\ndiary = diary.domain:DOMAIN\n")
    monkeypatch.syspath_prepend(tmp_path)
    done = world.inline("tasks", "new", "mine.json", "--domain", "diary")
    assert done.returncode == 2
    assert done.stderr.startswith("tasks new: --domain: no built-in task of diary can serve as a template")


def test_a_file_that_exists_is_not_replaced(world: World) -> None:
    (world.folder / "mine.json").write_text("{}")
    assert world.inline("tasks", "new", "mine.json").returncode == 2
    assert (world.folder / "mine.json").read_text() == "{}"


def test_a_row_is_shown_with_request_solution_and_verifiers(world: World) -> None:
    world.write_suite([row("a"), row("b")])
    done = world.inline("tasks", "show", "b", "--suite", "suite")
    assert done.returncode == 0, done.stderr
    for part in (
        "b  (itsm, feasible, 1 step, published)",
        "  Look at incident INC_001 for b.",
        '  find_incident_by_id {"incident_id": "INC_001"}',
        "  1  untouched  (database_state, integrity)",
    ):
        assert part in done.stdout.splitlines()
    shown = world.inline("tasks", "show", "b", "--suite", "suite", "--format", "json")
    assert Task.model_validate_json(shown.stdout) == Task.model_validate(row("b"))


def test_a_task_that_does_not_exist_is_answered_with_a_similar_one(world: World) -> None:
    done = world.inline("tasks", "show", "itsm-qs-004-resolve-label-drive")
    assert done.returncode == 2
    assert "did you mean itsm-qs-004-resolve-label-driver?" in done.stderr


def test_the_schema_is_current_and_accepts_every_built_in_row() -> None:
    assert main(["--check"]) == 0, "run `make generate`"
    validator = Draft202012Validator(json.loads(FILE.read_text()))
    rows = [made for suite in ("quickstart", "csm-core") for made in suite_rows(suite)]
    assert [made["task_id"] for made in rows if not validator.is_valid(made)] == []


def test_the_schema_refuses_what_a_type_of_verifier_cannot_have() -> None:
    validator = Draft202012Validator(task_schema())
    good = row("a")
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "feasible": "perhaps"})
    for kind in CONFIG_OF:
        bad = {"verifier_type": kind, "validation_config": {"rows": 3, "patterns": 3, "selected_tools": 3, "query": 3}}
        assert not validator.is_valid({**good, "verifiers": [bad]}), kind
