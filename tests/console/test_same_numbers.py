"""One run in the command line, the report, the console and its records: trials, verifiers and tasks agree."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.cli.pages import read_report
from tests.cli.runs import CELL, put_attempt, put_run, put_trial, verifier
from tests.cli.world import until
from tests.console.harness import client, showing

from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_console.report.model import PageData
from opsgym_core.results.load import load_run
from opsgym_core.results.score import Ratio
from opsgym_core.store.local import LocalStore

RUN = "demo.1"
TASKS = ["a", "b", "c", "d"]
MODELS = ("gold", "mixed")


@pytest.fixture
def stored(store: LocalStore) -> LocalStore:
    """Two models at four tasks, two trials each: some lost, one tried again, one task without a score."""
    cells = {name: CELL.model_copy(update={"model": name}) for name in MODELS}
    put_run(store, RUN, [PlannedCell(cell=cell, task_ids=TASKS) for cell in cells.values()], trials=2)
    for name, cell in cells.items():
        for place, task in enumerate(TASKS[:3]):
            for trial in range(2):
                passed = name == "gold" or (place + trial) % 3 == 0
                checks = [verifier(0), verifier(1, passed=passed), verifier(2, executed=False, passed=False)][
                    : 2 + trial
                ]
                outcome = Outcome.PASSED if passed else Outcome.FAILED
                put_trial(store, RUN, task, outcome, cell, trial=trial, verifiers=checks)
    for attempt in range(2):
        put_attempt(
            store, RUN, "d", Outcome.INFRA_ERROR, cell=cells["gold"], trial=0, attempt=attempt, reason="gym_lost"
        )
    return store


def of_records(store: LocalStore) -> dict[str, int]:
    """Numbers counted from the records themselves."""
    run = load_run(store, RUN)
    executed = [result for trial in run.trials for result in trial.verifiers if result.executed]
    planned = sum(len(plan.task_ids) for plan in run.run.cells) * run.run.trials
    return {
        "total": planned,
        "scored": len(run.trials),
        "passed": sum(trial.outcome is Outcome.PASSED for trial in run.trials),
        "not_scored": planned - len(run.trials),
        "tasks": len({(trial.cell.domain, trial.task_id) for trial in run.trials}),
        "verifiers_passed": sum(result.passed for result in executed),
        "verifiers_executed": len(executed),
    }


def of_command(store: LocalStore, capsys: pytest.CaptureFixture[str], *form: str) -> str:
    assert invoke(["results", RUN, "--store", str(store.root), *form]) == 0
    return capsys.readouterr().out


def test_numbers_of_a_run_are_the_same_wherever_it_is_shown(
    stored: LocalStore, browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = of_records(stored)
    assert counted == {
        "total": 16, "scored": 12, "passed": 8, "not_scored": 4, "tasks": 3, "verifiers_passed": 20,
        "verifiers_executed": 24,
    }  # fmt: skip
    total: dict[str, Any] = json.loads(of_command(stored, capsys, "--format", "json"))["total"]
    assert {name: total[name] for name in counted} == counted
    row = next(line for line in of_command(stored, capsys).splitlines() if line.startswith("total"))
    assert re.findall(r"\d+/\d+|\d+", row)[:2] == ["8", "4"]
    assert "20/24" in row

    assert invoke(["report", RUN, "--out", str(tmp_path / "out"), "--store", str(stored.root)]) == 0
    with showing(stored.root) as url, client(url) as console:
        page = read_report(tmp_path / "out").page
        served = PageData.model_validate_json(console.get(f"/api/runs/{RUN}/page").content)
        until(lambda: console.get("/api/runs").json()["counting"] == 0, "runs are counted")
        (listed,) = console.get("/api/runs").json()["runs"]
        screen = browser.new_page()
        screen.goto(f"{url}/runs/{RUN}/")
        cards = screen.locator(".cards").inner_text()
        screen.close()
    for score in (page.total, served.total):
        assert (score.total, score.passed) == (counted["total"], counted["passed"])
        assert score.success.trials == Ratio(counted["passed"], counted["scored"])
        assert score.verifiers == Ratio(counted["verifiers_passed"], counted["verifiers_executed"])
        assert score.success.tasks == counted["tasks"]
    assert {name: listed["numbers"][name] for name in ("total", "scored", "passed")} == {
        name: counted[name] for name in ("total", "scored", "passed")
    }
    for text in ("passed 8", "failed 4", "not scored 4", "20 of 24 passed"):
        assert text in " ".join(cards.split()), cards


def test_two_models_of_one_run_are_compared(stored: LocalStore, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["compare", RUN, RUN, "--map", "model:gold=mixed", "--store", str(stored.root), "--format", "json"]
    assert invoke(names) == 0
    document = json.loads(capsys.readouterr().out)
    assert invoke(names[:-2]) == 0
    assert "not compared" not in capsys.readouterr().out
    assert [(cell["model"], cell["tasks"], cell["trials"], cell["lost"]) for cell in document["cells"]] == [
        ("mixed", 3, 6, 4)
    ]
