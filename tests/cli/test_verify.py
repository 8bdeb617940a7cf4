"""`opsgym verify` as a user runs it: finds what was changed in a stored run, and nothing in one that was not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.cli.world import World, row

shares_a_run = pytest.mark.xdist_group("verified run")
MOVED = "UPDATE incident SET category = 'network' WHERE incident_id = 'INC_001'"
Change = Callable[[Any], None]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, desk_url: dict[str, str]) -> World:
    """A finished run: one trial passes, a change in mid-task is an event, a later day has a message of its own."""
    world = World(tmp_path_factory.mktemp("verified"), desk_url)
    late = {"message": "And today?", "begins_at": "2100-01-01T09:00:00"}
    world.write_suite(
        [
            row("looked", events=[{"after_step": 0, "sql": [MOVED]}]),
            row("marked", verifiers=[marked(7)]),
            row("two-days", days=[late], gold_answers=["Nothing yet, done.", "All done."], gold_answer=None),
        ]
    )
    world.write_run({"gold": {"model": "replay/gold", "prices": {"inputUsd": 1, "outputUsd": 2}}}, judge="gold")
    done = world.inline("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    return world


def marked(least: int) -> dict[str, Any]:
    """A verifier that a judge model decides; `replay/gold` gives 10."""
    config = {"sql_query": "SELECT 1", "comparison_prompt": "Does it?", "minimum_comparison_value": least}
    return {"verifier_type": "response_check", "name": "reported", "validation_config": config}


@pytest.fixture
def world(played: World, tmp_path: Path) -> World:
    """A copy of the run that a test may change."""
    shutil.copytree(played.folder / "results", tmp_path / "results")
    return World(tmp_path, played.gyms)


def verified(world: World) -> tuple[int, str]:
    """Exit code and output of the command."""
    done = world.inline("verify", "demo")
    return done.returncode, done.stdout + done.stderr


def change(world: World, name: str, edit: Change) -> None:
    """Changes the one JSON object of the run whose key ends so."""
    (file,) = (file for file in (world.folder / "results" / "runs").rglob("*") if file.as_posix().endswith(name))
    packed = file.suffix == ".zst"
    content = json.loads(zstandard.decompress(file.read_bytes()) if packed else file.read_bytes())
    edit(content)
    text = json.dumps(content).encode()
    file.write_bytes(zstandard.compress(text) if packed else text)


@shares_a_run
def test_a_run_that_nobody_changed_has_no_contradiction(world: World) -> None:
    code, output = verified(world)
    assert "3 of 3 scored trials verified; 0 contradictions" in output
    assert code == 0


def _fails(record: Any) -> None:
    record["outcome"], record["reason"], record["score"] = "failed", "verifiers", 0


def _stops_otherwise(record: Any) -> None:
    record["stopped_by"] = "boredom"


def _judged_otherwise(record: Any) -> None:
    record["verifiers"][1]["passed"] = False


def _counts_more_calls(record: Any) -> None:
    record["tool_calls"] += 1


def _another_answer(record: Any) -> None:
    record["answer"] = "All done, and more."


def _another_result(transcript: Any) -> None:
    result = next(event for event in transcript["events"] if event["kind"] == "tool")
    result["content"] = result["content"].replace("INC_001", "INC_002")


def _another_call(transcript: Any) -> None:
    for event in transcript["events"]:
        if event["kind"] == "tool":
            event["arguments"] = {"incident_id": "INC_002"}


def _another_row(frozen: Any) -> None:
    frozen["row"]["user_prompt"] = "Look at something easier."


def _cheaper(run: Any) -> None:
    run["spec"]["models"][0]["inline"]["prices"]["outputUsd"] = 0.5


@pytest.mark.parametrize(
    ("name", "edit", "says"),
    [
        ("/looked/0.json", _fails, "verdict: recorded failed (verifiers), score 0"),
        ("/looked/0.json", _stops_otherwise, "verdict: 'boredom' is not a known end of an agent"),
        ("/looked/0.json", _judged_otherwise, "verifier 1 (untouched): recorded failed, now passed"),
        ("/looked/0.json", _counts_more_calls, "tool calls: the record counts 2, the transcript 1"),
        ("/looked/0.json", _another_answer, "the transcript does not have the recorded answer"),
        ("/looked/0/transcript.json.zst", _another_result, "call 1, find_incident_by_id: recorded"),
        ("/two-days/0/transcript.json.zst", _another_call, "call 1, find_incident_by_id: recorded"),
        ("/suite/tasks/marked.json", _another_row, "the row of the suite is not the one that the record names"),
        ("/run.json", _cheaper, "spec, suite and versions make the id demo."),
        ("/run.json", _cheaper, "prices: the record was priced by others than the run's spec gives"),
    ],
)
@shares_a_run
def test_what_was_changed_is_named(world: World, name: str, edit: Change, says: str) -> None:
    change(world, name, edit)
    code, output = verified(world)
    assert says in output
    assert code == 1


@shares_a_run
def test_a_changed_seed_is_named(world: World) -> None:
    (seed,) = (world.folder / "results" / "runs").rglob("suite/seeds/*.sql")
    seed.write_text(seed.read_text().replace("INC_002", "INC_999"))
    code, output = verified(world)
    assert f"{seed.name} has another digest than its name" in output
    assert "not verified  gold/react/oracle/itsm  looked/0:" in output
    assert code == 1


@shares_a_run
def test_a_row_that_is_none_is_named_and_the_other_trials_are_verified(world: World) -> None:
    change(world, "/suite/tasks/marked.json", lambda frozen: frozen.pop("seeds"))
    code, output = verified(world)
    assert "suite/tasks/marked.json is not a row that opsgym wrote" in output
    assert "2 of 3 scored trials verified; 1 contradictions" in output
    assert code == 1


@shares_a_run
def test_the_final_state_of_another_trial_is_no_state_of_this_one(world: World) -> None:
    states = {file.parent.parent.name: file for file in (world.folder / "results").rglob("*.state.sqlite.zst")}
    shutil.copy(states["marked"], states["looked"])
    code, output = verified(world)
    assert "final database of gym-itsm-mcp: 1 stored rows are not what the calls make" in output
    assert code == 1


@shares_a_run
def test_a_trial_without_transcript_is_not_verified(world: World) -> None:
    next((world.folder / "results").rglob("looked/0/transcript.json.zst")).unlink()
    code, output = verified(world)
    assert "not verified  gold/react/oracle/itsm  looked/0:" in output
    assert "2 of 3 scored trials verified; 0 contradictions" in output
    assert code == 1
