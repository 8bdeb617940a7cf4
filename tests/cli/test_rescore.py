"""`opsgym rescore` as a user runs it: verifies the final states of a run again on real gym servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.pages import read_report
from tests.cli.world import HeldModel, World, row

from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.load import load_run
from opsgym_core.results.score import RunResults

shares_a_run = pytest.mark.xdist_group("rescored run")
MOVED = "UPDATE incident SET category = 'network' WHERE incident_id = 'INC_001'"
SAYS = {"verifier_type": "answer_match", "name": "answers", "validation_config": {"patterns": ["done"]}}


def asks(name: str, query: str, expected: Any, dialect: str = "sqlite") -> dict[str, Any]:
    """A verifier of the final state."""
    config = {"query": query, "expected_value": expected, "comparison_type": "equals"}
    return {"verifier_type": "database_state", "name": name, "validation_config": config, "dialect": dialect}


def marked(least: int) -> dict[str, Any]:
    """A verifier for which a judge marks the answer; `replay/gold` gives 10."""
    config = {"sql_query": "SELECT 1", "comparison_prompt": "Does it?", "minimum_comparison_value": least}
    return {"verifier_type": "response_check", "name": "reported", "validation_config": config}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, desk_url: dict[str, str]) -> World:
    """A finished run of a model that only says `done`; the second task fails because nothing was changed."""
    world = World(tmp_path_factory.mktemp("rescored"), desk_url)
    wrong = asks("resolved", "SELECT status FROM incident WHERE incident_id = 'INC_001'", "resolved", "postgres")
    called = {"verifier_type": "tool_execution", "name": "looked", "validation_config": {"minimum_tool_calls": 1}}
    looked = row("looked", events=[{"after_step": 0, "sql": [MOVED]}])
    world.write_suite(
        [
            looked | {"verifiers": [*looked["verifiers"], called]},
            row("changed", verifiers=[SAYS, wrong]),
            row("judged", verifiers=[marked(7), asks("one", "SELECT 1", 1)]),
        ]
    )
    world.write_run({"gold": {"model": "replay/gold"}}, judge="gold")
    done = world.inline("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    return world


def run_of(world: World) -> str:
    """The run that was run."""
    (name,) = (path.name for path in (world.folder / "results" / "runs").iterdir() if "rescored" not in path.name)
    return name


def rescore(world: World, rows: Path | None = None, *, code: int = 0) -> tuple[RunResults, str]:
    """Rescores the run; returns the new run's results and the output of the command."""
    given = ["--tasks", str(rows)] if rows else []
    done = world.inline("rescore", run_of(world), *given)
    assert done.returncode == code, done.stderr
    made = next(line for line in done.stdout.splitlines() if line.startswith("run ")).removeprefix("run ")
    return load_run(world.store, made), done.stdout + done.stderr


def with_verifiers(folder: Path, world: World, **verifiers: list[dict[str, Any]]) -> Path:
    """The suite with the verifiers of some tasks replaced."""
    rows = json.loads((world.folder / "suite" / "tasks.json").read_text())
    file = folder / "tasks-changed.json"
    file.write_text(json.dumps([row | {"verifiers": verifiers.get(row["task_id"], row["verifiers"])} for row in rows]))
    return file


def by_task(results: RunResults) -> Mapping[str, TrialRecord]:
    return {trial.task_id: trial for trial in results.trials}


@shares_a_run
def test_unchanged_rows_give_the_same_records_under_another_run_id(world: World) -> None:
    before = load_run(world.store, run_of(world))
    after, output = rescore(world)
    assert after.run.rescored_from == before.run.run
    assert after.run.name == "demo-rescored"
    assert "3 of 3 trials verified again; 0 with a different outcome" in output
    assert {task: replace(trial, run="") for task, trial in by_task(after).items()} == {
        task: replace(trial, run="") for task, trial in by_task(before).items()
    }
    (moved,) = by_task(after)["looked"].state_differences["gym-itsm-mcp"].tables
    assert (moved.table, moved.changed, moved.rows[0].after) == ("incident", 1, {"category": "network"})
    assert [attempt.cost_usd for attempt in after.attempts] == [attempt.cost_usd for attempt in before.attempts]


@shares_a_run
def test_a_fixed_verifier_changes_the_outcome_and_leaves_the_original_run_unchanged(
    world: World, tmp_path: Path
) -> None:
    before = load_run(world.store, run_of(world))
    right = asks("untouched", "SELECT status FROM incident WHERE incident_id = 'INC_001'", "in_progress", "postgres")
    after, output = rescore(world, with_verifiers(tmp_path, world, changed=[SAYS, right]))
    assert by_task(before)["changed"].outcome is Outcome.FAILED
    assert by_task(after)["changed"].outcome is Outcome.PASSED
    assert by_task(after)["changed"].verifiers[1].actual == "in_progress"
    assert "1 with a different outcome" in output
    assert "failed -> passed  gold/react/oracle/itsm  changed/0" in output
    assert load_run(world.store, run_of(world)) == before


@shares_a_run
def test_trials_that_are_already_rescored_are_not_verified_again(world: World, tmp_path: Path) -> None:
    rows = with_verifiers(tmp_path, world, looked=[asks("count", "SELECT COUNT(*) FROM incident WHERE 1 = 0", 0)])
    first, output = rescore(world, rows)
    assert "verifying 3 trials again" in output
    second, output = rescore(world, rows)
    assert "verifying" not in output
    assert second == first


@shares_a_run
def test_verifiers_see_the_database_time_of_the_original_verification(world: World, tmp_path: Path) -> None:
    recorded = by_task(load_run(world.store, run_of(world)))["looked"].database_times["gym-itsm-mcp"]
    now = asks("now", "SELECT strftime('%Y-%m-%dT%H:%M:%S', 'now')", recorded[:19])
    after, _ = rescore(world, with_verifiers(tmp_path, world, looked=[now]))
    assert by_task(after)["looked"].verifiers[0].actual == recorded[:19]


@shares_a_run
def test_a_judges_verdict_is_reused_and_a_changed_judge_verifier_is_refused(world: World, tmp_path: Path) -> None:
    one = asks("one", "SELECT 1", 1)
    moved, _ = rescore(world, with_verifiers(tmp_path, world, judged=[one, marked(7)]))
    verdict = by_task(moved)["judged"].verifiers[1]
    assert (verdict.index, verdict.name, verdict.passed) == (1, "reported", True)
    other, output = rescore(world, with_verifiers(tmp_path, world, judged=[marked(8), one]), code=1)
    assert "verifiers[0] (reported): response_check differs from the run's, and rescoring calls no judge" in output
    assert "judged" not in by_task(other)


@shares_a_run
def test_the_report_of_a_rescored_run_shows_what_the_agent_did(world: World) -> None:
    after, _ = rescore(world)
    done = world.inline("report", after.run.run, "--out", "again")
    assert done.returncode == 0, done.stderr
    page = read_report(world.folder / "again")
    assert "Look at incident INC_001 for looked." in page.transcript(page.row("looked"))
    assert page.page.run.rescored_from == after.run.rescored_from != ""


@shares_a_run
def test_a_rescored_run_is_not_rescored(world: World) -> None:
    after, _ = rescore(world)
    done = world.inline("rescore", after.run.run)
    assert done.returncode == 2
    assert f"rescore {run_of(world)}" in done.stderr


@shares_a_run
def test_rows_of_another_suite_are_refused(world: World) -> None:
    done = world.inline("rescore", run_of(world), "--tasks", "quickstart")
    assert done.returncode == 2
    assert "none of the rows is a task of run" in done.stderr


@shares_a_run
def test_a_trial_without_its_final_state_is_named_and_verified_once_the_state_is_restored(
    world: World, tmp_path: Path
) -> None:
    cell = load_run(world.store, run_of(world)).trials[0].cell
    file = world.folder / "results" / RunKeys(run_of(world)).trial(cell, "looked", 0).state("gym-itsm-mcp")
    rows = with_verifiers(tmp_path, world, changed=[SAYS, asks("one", "SELECT 1", 1)])
    moved_away = file.rename(file.with_suffix(".kept"))
    try:
        after, output = rescore(world, rows, code=1)
    finally:
        moved_away.rename(file)
    assert "not verified  gold/react/oracle/itsm  looked/0: " in output
    assert "the gym server did not offer its final state" in output
    assert [trial.task_id for trial in after.trials] == ["changed", "judged"]
    again, _ = rescore(world, rows)
    assert len(again.trials) == 3


def test_rescoring_calls_no_model(tmp_path: Path, desk_url: dict[str, str]) -> None:
    with HeldModel.serving() as model:
        world = World(tmp_path, desk_url)
        world.write_suite([row("first")])
        prices = {"inputUsd": 1, "outputUsd": 1}
        world.write_run({"m": {"model": "openai/stub", "endpoints": [{"url": model.url}], "prices": prices}})
        assert world.inline("run", "run.yaml").returncode == 0
        before = len(model.prompts)
        assert before > 0
        after, _ = rescore(world)
        assert len(model.prompts) == before
    assert len(after.trials) == 1
