"""The command line: help, bad input, listings. Fast; runs are in `test_run.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial
from tests.cli.world import World, row

from opsgym.main import invoke
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.store.local import LocalStore

HEAVY = ("litellm", "rich", "uvicorn", "sqlalchemy", "pydantic", "jinja2", "boto3", "httpx", "asyncio")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.chdir(tmp_path)
    return World(tmp_path)


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from opsgym.main import invoke\n"
        f"assert invoke({arguments!r}) == 0\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.strip() == "[]"


def test_a_shell_completes_commands_as_readme_says() -> None:
    words = {"_OPSGYM_COMPLETE": "bash_complete", "COMP_WORDS": "opsgym res", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "opsgym.main"]
    done = subprocess.run(command, env={**os.environ, **words}, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["plain,rescore", "plain,results"]


def test_help_lists_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "--help"]) == 0
    out = capsys.readouterr().out
    for code in ("0 ", "1 ", "2 ", "3 ", "130 "):
        assert f"\n    {code}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["run"], "name the FILE with the EvalRun"),
        (["run", "gone.yaml"], "gone.yaml: cannot be read: No such file or directory"),
        (["run", "gone.yaml", "--concurrency", "0"], "0 is not in the range"),
        (["run", "gone.yaml", "--store", "ftp://x"], "unknown kind of store ftp://"),
        (["results", "x"], "holds no run 'x'; runs there: none"),
        (["report", "x", "--out", "o"], "holds no run 'x'"),
        (["tasks", "validate", "gone"], "gone: does not exist; expected a task file, or a folder of them"),
        (["gym", "serve", "chess"], "unknown domain 'chess'; installed: calendar, csm, drive, email, hr, itsm, teams"),
    ],
)
def test_bad_input_is_reported_in_one_line_with_exit_code_2(
    world: World, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_every_problem_of_a_document_is_on_its_own_line(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write_suite([row("a")])
    world.write_run({"m": {"model": "replay/gold", "maxConcurency": 3}}, trials=0)
    assert invoke(["run", "run.yaml"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert any("spec.trials" in line for line in lines)
    assert any("maxConcurency" in line and "maxConcurrency" in line for line in lines)


def test_valid_rows_are_counted_by_domain(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write_suite([row("a"), row("b"), row("c", domain="hr")])
    assert invoke(["tasks", "validate", "suite/tasks.json"]) == 0
    assert capsys.readouterr().out == "hr    1\nitsm  2\nsuite/tasks.json: 3 tasks, all valid\n"


def test_bad_rows_are_named_with_row_and_field(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    bad_verifier = {"verifier_type": "database_state", "validation_config": {"query": "SELECT 1"}}
    world.write_suite([row("a"), row("b", verifiers=[bad_verifier]), {"task_id": "c", "gym_servers_config": "[{"}])
    assert invoke(["tasks", "validate", "suite"]) == 2
    err = capsys.readouterr().err
    assert "tasks.json row 2: verifiers[0]" in err
    assert "expected_value" in err
    assert "tasks.json row 3: gym_servers_config" in err
    assert "suite: 2 of 3 rows are not valid" in err


def test_files_that_cannot_be_read_as_rows_are_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write_suite([row("a")])
    (world.folder / "suite" / "latin.json").write_bytes(b'{"task_id": "\xe9"}')
    assert invoke(["tasks", "validate", "suite"]) == 2
    assert "latin.json: byte 13: is not UTF-8 text" in capsys.readouterr().err


def test_runs_are_listed_newest_first_with_unscored_trials(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    store = LocalStore("results")
    put_run(store, "old.1", [PlannedCell(cell=CELL, task_ids=["t"])], created_at="2026-01-01T00:00:00Z")
    put_run(store, "new.1", [PlannedCell(cell=CELL, task_ids=["t", "u"])], created_at="2026-01-02T00:00:00Z")
    put_trial(store, "new.1", "t", Outcome.PASSED)
    put_attempt(store, "new.1", "u", Outcome.INFRA_ERROR, reason="gym_lost", cost_usd=None)
    assert invoke(["results"]) == 0
    header, new, old = capsys.readouterr().out.splitlines()
    assert header.split()[0] == "run"
    assert new.split() == [
        "new.1", "opsgym", "quickstart", "2026-01-02T00:00:00Z", "2", "1", "1", "100.0%", "50.0%", "100.0%", "1",
        "gym_lost", "2.0", "unknown",
    ]  # fmt: skip
    assert old.split() == [
        "old.1", "opsgym", "quickstart", "2026-01-01T00:00:00Z", "1", "0", "0", "–", "0.0%", "100.0%", "1", "pending",
        "–", "$0",
    ]  # fmt: skip


def test_the_list_of_runs_is_written_for_programs(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    store = LocalStore("results")
    put_run(store, "old.1", [PlannedCell(cell=CELL, task_ids=["t"])])
    assert invoke(["results", "--format", "json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["runs"]
    assert listed == {
        "run": "old.1", "name": "old", "profiles": "opsgym", "started": "2026-01-01T00:00:00Z", "total": 1, "scored": 0,
        "passed": 0, "rate": None, "success_worst": 0.0, "success_best": 1.0, "not_scored": "1 pending",
        "attempts_per_scored": None, "cost_usd": 0.0, "suite": "quickstart", "edition": "", "suite_digest": "0",
        "opsgym": "0.1.0", "trials": 1,
    }  # fmt: skip


def test_a_store_that_does_not_exist_is_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["results"], ["results", "demo"], ["report", "demo", "--out", "page"]):
        assert invoke([*arguments, "--store", "nowhere"]) == 2
        assert "nowhere: --store: does not exist" in capsys.readouterr().err


def test_an_empty_store_is_reported(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["results"]) == 0
    assert capsys.readouterr().out == "results has no runs\n"


def test_unreadable_objects_are_named_and_everything_else_is_shown(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    store = LocalStore("results")
    put_run(store, "demo.1", [PlannedCell(cell=CELL, task_ids=["a", "b"])])
    put_trial(store, "demo.1", "b", Outcome.PASSED)
    key = RunKeys("demo.1").trial(CELL, "a", 0).record
    store.put(key, b"{}")
    store.put("runs/other.1/run.json", b"{}")
    assert invoke(["results"]) == 0
    listing = capsys.readouterr()
    assert "demo.1" in listing.out
    assert "unreadable_record" in listing.out
    assert "not listed: results/runs/other.1/run.json: is not a valid RunRecord of this version" in listing.err
    assert invoke(["results", "demo"]) == 0
    assert f"warning: results/{key}: is not a valid TrialRecord of this version" in capsys.readouterr().err
    assert invoke(["report", "demo", "--out", "page"]) == 0
    assert invoke(["failures", "demo"]) == 0
    assert f"warning: results/{key}" in capsys.readouterr().err


def test_an_unexpected_failure_is_one_line_and_a_log(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(world.folder))

    def broken(location: str) -> None:
        raise ZeroDivisionError("first line\nsecond line")

    monkeypatch.setattr("opsgym.commands.run_locator.open_store", broken)
    assert invoke(["results"]) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("opsgym failed unexpectedly: ZeroDivisionError: first line (details: ")
    log = Path(line.rpartition("details: ")[2].rstrip(")"))
    assert "Traceback" in log.read_text()
    assert invoke(["--debug", "results"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_output_pipe_is_not_an_error(world: World) -> None:
    store = LocalStore("results")
    for number in range(300):
        put_run(store, f"demo.{number}", [])
    command = f"{sys.executable} -m opsgym.main results | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("run ")
    assert done.stderr == ""


def test_a_missing_store_folder_that_is_a_file_is_refused(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    (world.folder / "file").write_text("")
    assert invoke(["results", "--store", "file"]) == 2
    assert "file: store: is a file; give a folder" in capsys.readouterr().err


def test_a_store_that_cannot_be_written_ends_before_anything_starts(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.write_suite([row("a")])
    world.write_run({"gold": {"model": "replay/gold"}})
    (world.folder / "results").mkdir()
    (world.folder / "results" / "runs").write_text("in the way")
    assert invoke(["run", "run.yaml"]) == 1
    err = capsys.readouterr().err
    assert "a file stands where a folder is needed; name another store" in err
    assert "Traceback" not in err


def test_json_of_a_suspended_run_is_the_only_line(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.write_suite([row("a")])
    world.write_run({"gold": {"model": "replay/gold"}}, suspend=True)
    assert invoke(["run", "run.yaml", "--format", "json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["pending"] == 1
    assert captured.err == "demo is suspended, nothing starts; set spec.suspend to false to run it\n"


def test_what_commands_print_for_programs_is_asked_for_in_one_way() -> None:
    from opsgym.command_line.group import cli

    commands = [cli]
    for command in commands:
        commands += getattr(command, "commands", {}).values()
    options = {option for command in commands for param in command.params for option in param.opts}
    assert "--format" in options
    assert not options & {"--json", "--output", "--csv", "--markdown"}
