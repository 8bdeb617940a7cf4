"""Runs with `gate.minTrials`: rounds, looks, early stops and what readers say of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.pages import read_report
from tests.cli.world import World, row

from opsgym_api.errors import InputError
from opsgym_api.records.gate import GateRecord, LookRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.planning.documents import load_documents

GOLD = {"gold": {"model": "replay/gold"}}
TASKS = ("a", "b", "c")


@pytest.fixture
def desk(tmp_path: Path, desk_url: dict[str, str]) -> World:
    """A folder with a suite of three tasks, beside a gym server that is running already."""
    world = World(tmp_path, desk_url)
    world.write_suite([row(task_id) for task_id in TASKS])
    return world


def play(desk: World, spec: Mapping[str, Any] | None = None, expected: int = 0) -> dict[str, Any]:
    """Runs the file, written with these fields if any are given; the JSON line, with what went to stderr."""
    if spec is not None:
        desk.write_run(GOLD, **spec)
    done = desk.inline("run", "run.yaml", "--format", "json")
    assert done.returncode == expected, done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr}


def look(desk: World, number: int) -> LookRecord | None:
    content = desk.store.get(RunKeys(desk.run).look(number))
    return None if content is None else LookRecord.model_validate_json(content)


def gate_of(desk: World) -> GateRecord:
    content = desk.store.get(RunKeys(desk.run).gate_json)
    assert content is not None
    return GateRecord.model_validate_json(content)


def played(desk: World) -> dict[str, int]:
    counts = dict.fromkeys(TASKS, 0)
    for trial in desk.trials():
        counts[trial.task_id] += 1
    return counts


EARLY: Mapping[str, Any] = {"trials": 4, "gate": {"minSuccessRate": 0.2, "minTrials": 1}}
"""Decided at the first look: three passed tasks have a lower bound of 28.6 % at its level."""
LATE: Mapping[str, Any] = {"trials": 4, "gate": {"minSuccessRate": 0.45, "minTrials": 1}}
"""Undecided at every look: three tasks are too few."""


def test_a_decided_run_stops_after_its_first_round_and_every_reader_counts_what_was_played(desk: World) -> None:
    result = play(desk, EARLY)
    assert (result["total"], result["passed"], result["pending"]) == (3, 3, 0)
    text = (
        "stopped early at look 1 of 3, after 1 of 4 trials of each task: the gate was decided, 9 trials were not played"
    )
    assert text in result["stderr"]
    assert played(desk) == {"a": 1, "b": 1, "c": 1}

    recorded = look(desk, 1)
    assert recorded is not None
    assert (recorded.stops, recorded.not_played, recorded.look.rounds) == (True, 9, (1, 2, 4))
    assert (recorded.spent, recorded.judged.verdict) == (1 / 16, "GO")
    assert recorded.confidence == pytest.approx(1 - 0.05 / 16)
    assert gate_of(desk) == recorded.judged.model_copy(update={"decided_at": gate_of(desk).decided_at})

    total = json.loads(desk.inline("results", "demo", "--format", "json").stdout)["total"]
    assert (total["total"], total["scored"], total["not_scored"]) == (3, 3, 0)
    assert (total["success_worst"], total["success_best"]) == (1.0, 1.0)
    assert text in desk.inline("results", "demo").stdout
    (listed,) = json.loads(desk.inline("results", "--format", "json").stdout)["runs"]
    assert (listed["total"], listed["scored"]) == (3, 3)
    assert text in desk.inline("gate", "demo").stdout
    assert desk.inline("report", "demo", "--out", "report").returncode == 0
    page = read_report(desk.folder / "report").page
    assert len(page.trials.cell) == 3
    assert page.run.gate is not None
    assert text in [check.message for check in page.run.gate.checks]


def test_an_undecided_run_plays_round_after_round_up_to_its_trials(desk: World) -> None:
    result = play(desk, LATE, expected=4)
    assert (result["total"], result["passed"]) == (12, 12)
    assert played(desk) == {"a": 4, "b": 4, "c": 4}
    looks = [look(desk, number) for number in (1, 2, 3)]
    assert [(one.look.trials, one.stops, one.judged.verdict) if one else None for one in looks] == [
        (1, False, "INCONCLUSIVE"),
        (2, False, "INCONCLUSIVE"),
        None,
    ]
    verdict = gate_of(desk)
    assert verdict.verdict == "INCONCLUSIVE"
    assert verdict.look is not None
    assert verdict.look.last
    assert "all 4 trials of each task were played" in result["stderr"]


def test_a_run_that_stopped_early_is_not_played_on(desk: World) -> None:
    play(desk, EARLY)
    again = play(desk)
    assert "nothing to run, all 3 trials have a score" in again["stderr"]
    assert played(desk) == {"a": 1, "b": 1, "c": 1}


def test_a_run_that_was_interrupted_before_its_look_comes_to_the_same_decision_without_a_trial(desk: World) -> None:
    play(desk, EARLY)
    before = look(desk, 1)
    forget(desk, RunKeys(desk.run).look(1), RunKeys(desk.run).gate_json)
    result = play(desk)
    after = look(desk, 1)
    assert before is not None
    assert after is not None
    at = {"decided_at": ""}
    assert after.judged.model_copy(update=at) == before.judged.model_copy(update=at)
    assert (result["total"], played(desk)) == (3, {"a": 1, "b": 1, "c": 1})


def test_the_look_in_the_store_decides_whatever_a_second_look_would_say(desk: World) -> None:
    play(desk, EARLY)
    recorded = look(desk, 1)
    assert recorded is not None
    going_on = recorded.model_copy(update={"stops": False, "not_played": 0})
    desk.store.put(RunKeys(desk.run).look(1), going_on.model_dump_json().encode())
    result = play(desk)
    assert (result["total"], played(desk)) == (12, {"a": 4, "b": 4, "c": 4})
    assert look(desk, 1) == going_on


def test_a_run_that_was_interrupted_in_a_later_round_plays_what_is_left_of_it(desk: World) -> None:
    play(desk, LATE, expected=4)
    lost = [trial for trial in desk.trials() if trial.trial >= 2 and trial.task_id != "a"]
    assert len(lost) == 4
    keys = RunKeys(desk.run)
    for trial in lost:
        of_trial = keys.trial(trial.cell, trial.task_id, trial.trial)
        forget(desk, of_trial.record, *desk.store.keys(of_trial.attempts))
    planned = desk.inline("run", "run.yaml", "--dry-run")
    assert "4 of 12 trials would run" in planned.stdout
    assert play(desk, expected=4)["total"] == 12
    assert played(desk) == {"a": 4, "b": 4, "c": 4}


def test_the_first_run_of_a_series_plays_all_trials_and_the_next_stops_against_it(desk: World) -> None:
    desk.write_suite([row(f"t{number}") for number in range(8)])
    gate = {"lastGood": True, "maxRegression": 0.9, "minTrials": 1}
    first = play(desk, {"trials": 2, "gate": gate})
    assert first["total"] == 16
    baseline = desk.run
    assert desk.inline("run", "run.yaml", "--fresh").returncode == 0
    records = json.loads(desk.inline("results", "--format", "json").stdout)["runs"]
    assert {record["run"]: record["total"] for record in records} == {baseline: 16, f"{baseline}-2": 8}
    second = LookRecord.model_validate_json(desk.store.get(RunKeys(f"{baseline}-2").look(1)) or b"")
    assert second.judged.baseline == baseline


def test_a_rescored_run_is_as_long_as_the_run_that_stopped(desk: World) -> None:
    play(desk, EARLY)
    done = desk.inline("rescore", desk.run)
    assert done.returncode == 0, done.stderr
    listed = json.loads(desk.inline("results", "--format", "json").stdout)["runs"]
    assert [(run["total"], run["scored"]) for run in listed] == [(3, 3), (3, 3)]


def test_the_record_of_a_run_names_its_rounds_and_no_looks(desk: World) -> None:
    play(desk, EARLY)
    record = RunRecord.model_validate_json(desk.store.get(RunKeys(desk.run).run_json) or b"")
    assert (record.trials, record.rounds, record.looks) == (4, (1, 2, 4), ())


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"trials": 2, "gate": {"minSuccessRate": 0.5, "minTrials": 3}}, "gate.minTrials is more than trials"),
        ({"gate": {"maxCostUsd": 1, "minTrials": 1}}, "minTrials goes with minSuccessRate or maxRegression"),
        ({"trials": 2, "gate": {"minSuccessRate": 0.5, "minTrials": 0}}, "greater than or equal to 1"),
    ],
)
def test_rounds_that_cannot_be_are_refused_with_what_to_do(
    tmp_path: Path, fields: dict[str, Any], problem: str
) -> None:
    World(tmp_path).write_run(GOLD, **fields)
    with pytest.raises(InputError, match=problem):
        load_documents(tmp_path / "run.yaml")


def forget(desk: World, *keys: str) -> None:
    """Removes objects of the store, as if they had never been written."""
    for key in keys:
        (desk.folder / "results" / key).unlink()
