"""`opsgym failures`: what it prints of a run, and how it reports what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runs import CELL, put_run, put_transcript, put_trial, verifier
from tests.failures.trials import ASSIGN, FIND, NOTIFY, REQUEST, WHO, call, gold, task

from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_api.tasks.suite import FrozenTask
from opsgym_core.store.local import LocalStore

RUN = "demo.0123456789ab"
OPENING = TranscriptEvent(kind="user", content=REQUEST)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """A run of four tasks: without its last step, as the solution has it, without a transcript, passed."""
    store = LocalStore(tmp_path / "results")
    put_run(store, RUN, [PlannedCell(cell=CELL, task_ids=["late", "odd", "silent", "fine"])])
    put_trial(store, RUN, "late", Outcome.FAILED, verifiers=[verifier(passed=False, name="customer is notified")])
    put_transcript(store, RUN, "late", OPENING, FIND, WHO, ASSIGN.model_copy(update={"step": 3}))
    put_trial(store, RUN, "odd", Outcome.FAILED)
    put_transcript(store, RUN, "odd", OPENING, FIND, WHO, ASSIGN, NOTIFY)
    put_trial(store, RUN, "silent", Outcome.FAILED)
    put_trial(store, RUN, "fine", Outcome.PASSED)
    for task_id in ("late", "odd"):
        row = task(gold(FIND, WHO, ASSIGN, NOTIFY), task_id=task_id).model_dump(mode="json")
        store.put(RunKeys(RUN).suite_task(task_id), FrozenTask(row=row, seeds={}).model_dump_json().encode())
    return store


def failures(store: LocalStore, *options: str) -> int:
    return invoke(["failures", "demo", "--store", store.name, *options])


def as_json(store: LocalStore, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert failures(store, "--format", "json", *options) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_every_failed_trial_has_a_line_and_modes_are_counted(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures(store) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["late/0", "m/react/oracle/itsm", "missed_follow_up", "send_notification:"] in [line[:4] for line in lines]
    assert ["odd/0", "m/react/oracle/itsm", "unexplained"] in lines
    assert ["silent/0", "m/react/oracle/itsm", "no", "transcript"] in lines
    assert not any(line[:1] == ["fine/0"] for line in lines)
    (counted,) = (line for line in lines if line[:1] == ["missed_follow_up"])
    assert counted == ["missed_follow_up", "50.0%", "(9.5%", "–", "90.5%)", "1", "1", "weak"]
    assert ["Triage:", "counts"] in [line[:2] for line in lines]


def test_json_holds_all_findings_with_their_evidence(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(store, capsys)
    assert document["run"] == RUN
    assert {trial["task_id"]: trial["findings"] for trial in document["trials"]}["silent"] is None
    (late,) = (trial for trial in document["trials"] if trial["task_id"] == "late")
    (finding,) = late["findings"]
    assert (finding["mode"], finding["primary"], finding["basis"]) == ("missed_follow_up", True, "gold_actions")
    assert finding["evidence"][0]["tool"] == "send_notification"
    counts = {name: (count["primary"], count["all"], count["weak"]) for name, count in document["modes"].items()}
    assert counts == {
        "missed_follow_up": (1, 1, True),
        "unexplained": (1, 1, False),
        "no transcript": (1, 1, False),
    }
    assert document["modes"]["missed_follow_up"]["share"] == 0.5
    low, high = document["modes"]["missed_follow_up"]["interval"]
    assert 0 < low < 0.5 < high < 1
    assert document["triage"].startswith("Triage:")


def test_one_trial_is_shown_with_all_its_evidence(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(store, "--trial", "late/0") == 0
    output = capsys.readouterr().out
    assert "missed_follow_up (primary, weak), by gold_actions" in output
    assert "send_notification" in output
    assert "odd" not in output


def test_a_trial_that_passed_and_a_run_without_failures_are_reported(
    store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failures(store, "--trial", "fine/0") == 0
    assert capsys.readouterr().out == "trial fine/0 did not fail\n"
    good = LocalStore(tmp_path / "good")
    put_run(good, RUN, [PlannedCell(cell=CELL, task_ids=["fine"])])
    put_trial(good, RUN, "fine", Outcome.PASSED)
    assert failures(good) == 0
    assert "no trial of run demo.0123456789ab failed" in capsys.readouterr().out


def test_a_row_that_is_not_there_any_more_makes_findings_less_reliable_and_is_reported(
    store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(store.name) / RunKeys(RUN).suite_task("late")).unlink()
    assert failures(store, "--trial", "late/0") == 0
    output = capsys.readouterr().out
    assert "the row that ran is not in the store" in output
    assert "unexplained" in output


def test_a_damaged_final_state_makes_no_analysis_fail(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = call("update_incident", {"incident_id": "INC_012", "assigned_to": "USER_009"}, {"incident_id": "INC_012"})
    put_transcript(store, RUN, "late", OPENING, FIND, WHO, wrong, NOTIFY)
    store.put(RunKeys(RUN).trial(CELL, "late", 0).state("gym-itsm-mcp"), b"damaged")
    (late,) = (trial for trial in as_json(store, capsys)["trials"] if trial["task_id"] == "late")
    (finding,) = late["findings"]
    assert finding["mode"] == "incorrect_id"


@pytest.mark.parametrize(
    ("trial", "problem"),
    [
        ("late/x", "is not of the form TASK[/N]"),
        ("late/1", "the run has no scored trial late/1"),
        ("unknown/0", "the run has no scored trial unknown/0"),
    ],
)
def test_a_trial_that_is_not_there_is_refused(
    store: LocalStore, capsys: pytest.CaptureFixture[str], trial: str, problem: str
) -> None:
    assert failures(store, "--trial", trial) == 2
    assert problem in capsys.readouterr().err


def test_a_damaged_transcript_is_named(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.put(RunKeys(RUN).trial(CELL, "late", 0).transcript, b"damaged")
    assert failures(store) == 0
    assert "transcript.json.zst: is damaged" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_is_not_there_is_refused(store: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["failures", "other", "--store", store.name]) == 2
    assert "holds no run 'other'" in capsys.readouterr().err
