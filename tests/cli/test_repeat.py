"""`opsgym run --from`: one trial of a run again, watched step by step."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runs import CELL
from tests.cli.world import DEADLINE_S, World, row

from opsgym.local.monitor import TranscriptPrinter, transcript_text
from opsgym.local.repeat import LocalEnvironment, repeat_inputs, select_trial
from opsgym_api.errors import InputError
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import FrozenSuite, Seed
from opsgym_core.results.load import load_run
from opsgym_core.store.local import LocalStore

shares_a_run = pytest.mark.xdist_group("repeated run")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, desk_url: dict[str, str]) -> World:
    """A run of two models that has ended."""
    world = World(tmp_path_factory.mktemp("repeated"), desk_url)
    world.write_suite([row("first"), row("second")])
    world.write_run({"gold": {"model": "replay/gold"}, "noop": {"model": "replay/noop"}}, gate={"minSuccessRate": 1})
    done = world.inline("run", "run.yaml")
    assert done.returncode == 3, done.stderr
    return world


def original(world: World) -> str:
    (name,) = (path.name for path in (world.folder / "results" / "runs").iterdir() if ".again-" not in path.name)
    return name


@shares_a_run
def test_a_trial_is_repeated_as_a_separate_run_and_printed_live(world: World) -> None:
    done = world.inline("run", "--from", "demo", "--trial", "second/0", "--cell", "gold", "--store", "elsewhere",
                        "--from-store", "results")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Look at incident INC_001 for second." in done.stdout
    assert '-> find_incident_by_id {"incident_id": "INC_001"}' in done.stdout
    assert "\n--- find_incident_by_id" in done.stdout
    assert "  passed  integrity  untouched" in done.stdout
    assert "gold/react/oracle/itsm second/0: then passed, now passed" in done.stdout
    again = load_run(LocalStore(world.folder / "elsewhere"), f"{original(world)}.again-1")
    assert [(trial.task_id, trial.cell.model) for trial in again.trials] == [("second", "gold")]
    assert again.run.spec["gate"] is None, "a repeated trial is not judged"


@shares_a_run
def test_a_recorded_trial_is_replayed_without_its_model_and_failed_verifiers_are_explained(world: World) -> None:
    done = world.inline("run", "--from", "demo", "--trial", "first", "--cell", "noop", "--recorded")
    assert done.returncode == 0, done.stderr
    assert "then failed (verifiers), now failed (verifiers)" in done.stdout
    assert "  FAILED  task_completion  answers\n          the answer was “I took no action.”" in done.stdout


def test_a_trial_of_a_recording_is_repeated_from_any_folder_when_the_file_is_gone(
    tmp_path: Path, desk_url: dict[str, str]
) -> None:
    world = World(tmp_path, desk_url)
    world.write_suite([row("first")])
    world.write_run({"taped": {"model": "replay/tapes/one.jsonl"}})
    tape = tmp_path / "tapes" / "one.jsonl"
    tape.parent.mkdir()
    tape.write_text('{"task_id": "first", "answer": "Done: taped."}\n')
    assert world.inline("run", "run.yaml").returncode == 0
    tape.unlink()
    elsewhere = World(tmp_path / "elsewhere", desk_url)
    elsewhere.folder.mkdir()
    done = elsewhere.inline("run", "--from", "demo", "--trial", "first", "--from-store", str(tmp_path / "results"))
    assert done.returncode == 0, done.stderr
    assert "Done: taped." in done.stdout
    again = elsewhere.inline("run", "--from", f"{world.run}.again-1", "--trial", "first")
    assert again.returncode == 0, again.stderr


@shares_a_run
def test_a_closed_pipe_ends_the_episode_and_is_no_error_of_it(world: World) -> None:
    arguments = ("run", "--from", "demo", "--trial", "first", "--cell", "gold", "--store", "unread", "--from-store")
    with world.started(*arguments, "results") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(DEADLINE_S) == 143
    (run,) = LocalStore(world.folder / "unread").folders("runs")
    outcomes = [attempt.outcome for attempt in load_run(LocalStore(world.folder / "unread"), run).attempts]
    assert outcomes in ([], ["cancelled"])


@shares_a_run
def test_with_step_an_episode_waits_for_enter_and_q_cancels_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n\nq\n"))
    done = world.inline("run", "--from", "demo", "--trial", "first", "--cell", "gold", "--step")
    assert done.returncode == 1
    assert done.stdout.count("=== step") == 1, "Enter to start, Enter for the first step, q before the second"
    assert "now cancelled" in done.stdout
    assert "stopped by the user" in done.stdout


@shares_a_run
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--trial", "third/0"], "unknown task 'third'; tasks of the run: first, second"),
        (["--trial", "first/1"], "no trial 1; the run has trials 0 to 0 of each task"),
        (["--trial", "first/one"], "'first/one' is not of the form TASK/N"),
        (["--trial", "first"], "select one of: gold/react/oracle/itsm, noop/react/oracle/itsm"),
        (["--trial", "first", "--cell", "gold/plan"], "'gold/plan' does not run the task; cells: gold/react"),
        ([], "name it with --trial TASK/N"),
        (["run.yaml", "--trial", "first"], "give FILE or --from, not both"),
    ],
)
def test_an_unknown_trial_is_refused_with_the_known_ones(world: World, arguments: list[str], problem: str) -> None:
    done = world.inline("run", "--from", "demo", *arguments)
    assert done.returncode == 2
    assert problem in done.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "name the FILE with the EvalRun"),
        (["run.yaml", "--step"], "--step goes with --from RUN"),
        (["run.yaml", "--from-store", "x"], "--from-store goes with --from RUN"),
    ],
)
def test_options_of_repeating_are_refused_without_a_run(tmp_path: Path, arguments: list[str], problem: str) -> None:
    done = World(tmp_path).inline("run", *arguments)
    assert done.returncode == 2
    assert problem in done.stderr


def cluster_run(store: LocalStore, **model: Any) -> RunRecord:
    """A run as the operator freezes it, whose keys are in Secrets."""
    suite = FrozenSuite()
    suite.add(Task.model_validate(row("first")), {"gym-itsm-mcp": Seed(sql="SELECT 1;")})
    suite.write(store, "team.nightly.1234")
    inline = {"model": "openai/gpt", "credentials": {"secret": "keys"}, "prices": {"inputUsd": 1, "outputUsd": 1}}
    spec = {
        "suite": {"configMap": {"name": "tasks"}, "access": "strict"},
        "models": [{"name": "m", "inline": inline | model}, {"name": "other", "inline": inline}],
        "agents": [{"name": "react", "maxSteps": 7}],
        "trials": 3,
        "budget": {"maxUsd": 1},
    }
    return RunRecord(
        run="team.nightly.1234", name="nightly", spec=spec, task_ids=["first"], trials=3, suite_digest="0",
        cells=[PlannedCell(cell=CELL, task_ids=["first"])], opsgym="0", created_at="2026-01-01T00:00:00Z",
    )  # fmt: skip


NO_KEY = LocalEnvironment({}, lambda _: None, lambda _: "OPENAI_API_KEY")
"""No environment variable is set, and every hosted model needs a key."""


def test_a_run_of_a_cluster_is_repeated_with_keys_of_the_environment(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    run = cluster_run(store, endpoints=[{"url": "http://x/v1", "credentials": {"secret": "two"}}])
    inputs = repeat_inputs(store, run, select_trial(run, "first/2", None), {}, NO_KEY)
    assert list(inputs.models) == ["m"]
    assert inputs.models["m"].endpoints[0].api_key is None, "the provider's usual variable says"
    assert (inputs.spec.trials, inputs.spec.budget, inputs.spec.agents[0].max_steps) == (1, None, 7)
    assert inputs.spec.suite.access == "strict"
    assert inputs.seeds == {"first": {"gym-itsm-mcp": Seed(sql="SELECT 1;")}}


def test_a_missing_api_key_is_named(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    run = cluster_run(store)
    with pytest.raises(InputError, match="set the environment variable OPENAI_API_KEY"):
        repeat_inputs(store, run, select_trial(run, "first", "m"), {}, NO_KEY)


def test_a_deleted_row_is_named(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    run = cluster_run(store)
    (tmp_path / RunKeys(run.run).suite_task("first")).unlink()
    with pytest.raises(InputError, match=r"suite/tasks/first\.json"):
        repeat_inputs(store, run, select_trial(run, "first", None), {}, NO_KEY)


def test_every_repetition_is_a_separate_run(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    run = cluster_run(store)
    surroundings = LocalEnvironment({}, lambda _: None, lambda _: None)
    first = repeat_inputs(store, run, select_trial(run, "first", None), {}, surroundings)
    store.put(RunKeys(first.run_id).run_json, b"{}")
    second = repeat_inputs(store, run, select_trial(run, "first", None), {}, surroundings)
    assert (first.run_id, second.run_id) == ("team.nightly.1234.again-1", "team.nightly.1234.again-2")


def test_a_tool_result_is_printed_without_its_envelope_and_truncated() -> None:
    content = '{"meta": null, "content": [{"type": "text", "text": "' + "x" * 5000 + '"}], "isError": true}'
    shown = transcript_text(TranscriptEvent(kind="tool", tool_name="find", content=content, is_error=True, seconds=0.5))
    assert shown.startswith("\n--- find  error")
    assert "meta" not in shown
    assert "1000 more characters" in shown
    assert transcript_text(TranscriptEvent(kind="tool", tool_name="find", content="plain")).endswith("plain")


@pytest.mark.anyio
async def test_without_step_mode_the_printer_never_waits_for_input() -> None:
    assert await TranscriptPrinter(lambda _: None, None).may_continue()
