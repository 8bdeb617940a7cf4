"""Rates with what they leave out, as whole outputs: no number is of fewer trials than its place lets a reader think."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial

from opsgym.main import invoke
from opsgym_api.records.attempt import Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.store.local import LocalStore


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    return LocalStore("results")


def play(store: LocalStore, run: str, cells: Mapping[str, Mapping[str, int]]) -> None:
    """A run of several models with the given numbers of tasks by what became of them; names are task id prefixes."""
    planned: dict[Cell, list[str]] = {}
    for model, counts in cells.items():
        cell = CELL.model_copy(update={"model": model})
        number = 0
        for kind, count in counts.items():
            for _ in range(count):
                task = f"t{number:03}"
                number += 1
                planned.setdefault(cell, []).append(task)
                _put(store, run, task, kind, cell)
    put_run(store, run, [PlannedCell(cell=cell, task_ids=tasks) for cell, tasks in planned.items()])


def _put(store: LocalStore, run: str, task: str, kind: str, cell: Cell) -> None:
    if kind == "passed":
        put_trial(store, run, task, Outcome.PASSED, cell)
    elif kind == "failed":
        put_trial(store, run, task, Outcome.FAILED, cell)
    elif kind == "timeout":
        put_trial(store, run, task, Outcome.FAILED, cell, reason="task_timeout", published_score=None)
    elif kind == "declined wrongly":
        put_trial(store, run, task, Outcome.FAILED, cell, feasible=False)
    elif kind != "pending":
        outcome, _, reason = kind.partition("/")
        put_attempt(store, run, task, Outcome(outcome), cell=cell, reason=reason)


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert invoke(arguments) == code
    return capsys.readouterr().out


def row_of(text: str, *start: str) -> list[str]:
    return next(words for line in text.splitlines() if (words := line.split())[: len(start)] == list(start))


REFUSED = {"passed": 20, "failed": 50, "config_error/conversation_refused": 30}


def test_a_run_that_lost_30_of_100_trials_is_no_go_for_whatever_reason_they_were_lost(
    store: LocalStore, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("minSuccessRate: 0.15")
    for number, reason in enumerate(
        ("config_error/conversation_refused", "budget_skipped", "cancelled", "infra_error/model_unavailable", "pending")
    ):
        play(store, f"lost{number}.1", {"m": {"passed": 20, "failed": 50, reason: 30}})
        lines = output(capsys, "gate", f"lost{number}", "--gate", str(gate), code=3).splitlines()
        assert lines[0] == "gate: NO-GO"
        name = reason.rpartition("/")[2]
        message = f"not scored 30 of 100 trials, 30.0% (30 {name}); at most 5.0% is allowed"
        assert f"  NO-GO         {message}" in lines


def test_a_gate_judges_the_worst_case_unless_it_says_that_unscored_trials_are_ignored(
    store: LocalStore, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    play(store, "lost.1", {"m": REFUSED})
    gate = tmp_path / "gate.yaml"
    gate.write_text("minSuccessRate: 0.2\nmaxUnscoredRate: 1")
    check = output(capsys, "gate", "lost", "--gate", str(gate), code=4).splitlines()[1]
    assert check.startswith("  INCONCLUSIVE  success rate 20.0% (one-sided 95% bounds 14.3% and 27.3%, 100 tasks); ")
    assert "; 30 trials without a score count as failed, 28.6% of the scored" in check
    gate.write_text("minSuccessRate: 0.2\nmaxUnscoredRate: 1\nunscored: ignored")
    verdict, check, *_ = output(capsys, "gate", "lost", "--gate", str(gate)).splitlines()
    assert verdict == "gate: GO"
    assert check.startswith("  GO            success rate 28.6% (one-sided 95% bounds ")
    assert check.endswith("; 30 trials without a score are ignored, as the gate says")


def test_published_rules_count_errors_as_0_and_say_of_how_many_trials(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    play(store, "late.1", {"m": {"passed": 10, "timeout": 20, "failed": 10}})
    row = row_of(output(capsys, "results", "late"), "m", "react", "oracle", "opsgym")[4:]
    assert (row[0], row[-6:]) == ("25.0%", ["25.0%", "of", "40", "0", "of", "40"])
    play(store, "lost.1", {"m": REFUSED | {"pending": 5}})
    row = row_of(output(capsys, "results", "lost"), "m", "react", "oracle", "opsgym")
    assert row[-6:] == ["20.0%", "of", "100", "35", "of", "105"]


def test_a_model_that_lost_its_hard_tasks_is_ranked_by_its_worst_case_and_marked(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    play(
        store,
        "race.1",
        {
            "careful": {"passed": 36, "failed": 24},
            "lucky": {"passed": 30, "failed": 5, "config_error/conversation_refused": 25},
        },
    )
    text = output(capsys, "leaderboard", "race")
    assert [line.split()[:2] for line in text.splitlines()[1:3]] == [["1", "careful"], ["2*", "lucky"]]
    assert "25 conversation_refused" in text
    assert "rows are ordered and tested by their worst case" in text
    assert (
        "run race.1: suite quickstart, digest 0, opsgym 0.1.0, started 2026-01-01T00:00:00Z, 1 trial of each task"
        in text
    )
    document = json.loads(output(capsys, "leaderboard", "race", "--format", "json"))
    assert [(row["model"], row["success_worst"], row["planned"]) for row in document["rows"]] == [
        ("careful", 0.6, 60),
        ("lucky", 0.5, 60),
    ]
    assert document["pairs"][0]["tasks"] == 60


def test_rows_with_the_same_coverage_are_ranked_by_what_they_scored(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    play(store, "race.1", {name: {"passed": 5, "failed": 4, "pending": 1} for name in ("a", "b")})
    text = output(capsys, "leaderboard", "race", "--format", "markdown")
    assert "rows are ordered by the mean over tasks" in text.splitlines()
    assert "*" not in text.splitlines()[2]


def test_runs_of_other_variants_limits_and_versions_are_not_put_side_by_side_without_a_word(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [PlannedCell(cell=CELL, task_ids=["t000"])]
    for run, suite, version in (
        ("first.1", {"builtin": "quickstart"}, "0.1.0"),
        ("second.1", {"builtin": "quickstart", "variant": 3}, "0.2.0"),
    ):
        put_run(store, run, cells, spec={"suite": suite, "models": [{"name": "m", "model": "x/y"}]}, opsgym=version)
        put_trial(store, run, "t000", Outcome.PASSED)
    text = output(capsys, "leaderboard", "first", "second", "--format", "markdown")
    assert "not alike, from first.1 to second.1: opsgym: 0.1.0 → 0.2.0; suite.variant: not set → 3" in text
    assert "suite quickstart, variant 3" in text
    assert "differs: suite.variant: not set → 3" in output(capsys, "compare", "first", "second")


def test_an_interval_of_a_change_and_its_p_value_never_contradict_each_other(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 against n discordant tasks of 42: whether the interval has 0 in it is whether p is above 0.05."""
    for won in range(9):
        play(store, "before.1", {"m": {"failed": 42}})
        play(store, "after.1", {"m": {"passed": won, "failed": 42 - won}})
        total = json.loads(output(capsys, "compare", "before", "after", "--format", "json"))["total"]
        assert (total["difference_low"] > 0) is (total["p_value"] < 0.05)
        assert (total["lost"], total["won"]) == (0, won)


def test_feasible_and_infeasible_tasks_are_shown_apart(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    play(store, "run.1", {"m": {"passed": 3, "failed": 1, "declined wrongly": 2}})
    lines = [line.split() for line in output(capsys, "results", "run").splitlines()]
    place = lines.index(["model", "agent", "mode", "domain", "feasible", "infeasible"])
    assert lines[place + 1][4:] == ["3/4", "75.0%", "0/2", "0.0%"]
    (row,) = csv.DictReader(io.StringIO(output(capsys, "leaderboard", "run", "--format", "csv")))
    assert (row["feasible_success"], row["feasible_tasks"]) == ("0.75", "4")
    assert (row["infeasible_success"], row["infeasible_tasks"]) == ("0.0", "2")


@pytest.mark.parametrize("form", ["csv", "markdown", "json", "table"])
@pytest.mark.parametrize("command", ["results", "leaderboard"])
def test_every_file_with_scores_says_of_what_they_are(
    store: LocalStore, capsys: pytest.CaptureFixture[str], command: str, form: str
) -> None:
    play(store, "run.1", {"m": {"passed": 3, "failed": 1}})
    text = output(capsys, command, "run", "--format", form)
    for part in ("run.1", "quickstart", "0.1.0", "2026-01-01T00:00:00Z"):
        assert part in text


def test_items_of_a_run_name_what_is_conspicuous_and_of_which_scores(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    play(store, "run.1", {"a": {"passed": 1, "failed": 2}, "b": {"passed": 2, "failed": 1}})
    text = output(capsys, "items", "run")
    assert "unanimous tasks: 1 passed and 1 failed by every trial, of 3" in text
    assert row_of(text, "t002", "itsm")[-1] == "failed"
    assert row_of(text, "run", "run.1:")
    assert len(output(capsys, "items", "run", "--format", "csv").splitlines()) == 4
    document = json.loads(output(capsys, "items", "run", "--format", "json"))
    assert [(row["model"], row["tasks"], row["flips"]) for row in document["agents"]] == [
        ("a", 3, None),
        ("b", 3, None),
    ]
    assert output(capsys, "items", "run", "--by", "verifier", "--format", "markdown").startswith("| task | domain |")
