"""`opsgym run` as a user runs it: the real command, real gym servers, a real model endpoint."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import httpx
import pytest
from moto.server import ThreadedMotoServer
from tests.cli.pages import read_report
from tests.cli.world import HeldModel, World, end, gone, gym_of, gyms_of, postgres_of, row, until
from tests.contracts.test_store import Faulty
from tests.support.processes import descendants

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys

shares_a_run = pytest.mark.xdist_group("finished run")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def desk(tmp_path: Path, desk_url: dict[str, str]) -> World:
    """A folder to run in, beside a gym server that is running already."""
    return World(tmp_path, desk_url)


@pytest.fixture
def model() -> Iterator[HeldModel]:
    with HeldModel.serving() as held:
        yield held


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A new bucket on an S3 server of loopback, which the environment names as a user's would."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    boto3.client("s3").create_bucket(Bucket="results")
    try:
        yield "s3://results"
    finally:
        server.stop()


def served_by(model: HeldModel, **fields: object) -> dict[str, object]:
    prices = {"inputUsd": 0, "outputUsd": 0}
    return {"model": "openai/stub", "endpoints": [{"url": model.url}], "prices": prices, "maxConcurrency": 1, **fields}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str, str]:
    """A run of two models over two tasks that has ended; its stdout and stderr."""
    world = World(tmp_path_factory.mktemp("finished"))
    world.write_suite([row("first"), row("second")])
    world.write_run(
        {"gold": {"model": "replay/gold"}, "noop": {"model": "replay/noop"}},
        gate={"minSuccessRate": 0, "maxInfraErrorRate": 0},
        queueName="later",
    )
    done = world.opsgym("run", "run.yaml", "--format", "json")
    assert done.returncode == 0, done.stderr
    return world, done.stdout, done.stderr


@shares_a_run
def test_the_json_line_is_all_of_stdout_and_counts_every_trial(finished: tuple[World, str, str]) -> None:
    world, out, _ = finished
    (line,) = out.splitlines()
    result = json.loads(line)
    counts = {name: result[name] for name in ("run", "total", "passed", "failed", "cost_usd")}
    assert counts == {"run": world.run, "total": 4, "passed": 2, "failed": 2, "cost_usd": 0.0}
    unscored = ("infra_errors", "config_errors", "budget_skipped", "cancelled", "pending")
    assert [result[name] for name in unscored] == [0, 0, 0, 0, 0]
    cells = [(cell["model"], cell["domain"], cell["total"], cell["success_rate"]) for cell in result["cells"]]
    assert cells == [("gold", "itsm", 2, 1.0), ("noop", "itsm", 2, 0.0)]


@shares_a_run
def test_progress_is_a_line_for_each_trial_on_stderr(finished: tuple[World, str, str]) -> None:
    _, _, err = finished
    assert "run demo." in err
    assert "[4/4] " in err
    assert err.count("passed  gold/react/oracle/itsm  ") == 2
    assert err.count("failed  noop/react/oracle/itsm  ") == 2


@shares_a_run
def test_fields_that_only_a_cluster_honours_are_noted_in_one_line(finished: tuple[World, str, str]) -> None:
    assert "queueName: has no effect in local mode" in finished[2].splitlines()


@shares_a_run
def test_the_gate_prints_go_with_the_deciding_figures(finished: tuple[World, str, str]) -> None:
    _, _, err = finished
    assert "gate: GO" in err
    assert "infra errors 0 of 4 trials" in err


@shares_a_run
def test_a_finished_run_is_not_run_again(finished: tuple[World, str, str]) -> None:
    world, out, _ = finished
    again = world.inline("run", "run.yaml", "--format", "json")
    assert again.returncode == 0
    assert "nothing to run, all 4 trials have a score; --fresh runs them again" in again.stderr
    assert again.stdout == out


def test_a_fresh_run_repeats_the_work_and_the_same_command_resumes_the_last(desk: World) -> None:
    desk.write_suite([row("a")])
    desk.write_run({"noop": {"model": "replay/noop"}})
    first, second, third = (
        json.loads(desk.inline("run", "run.yaml", "--format", "json", *options).stdout)["run"]
        for options in ([], ["--fresh"], [])
    )
    assert (second, third) == (f"{first}-2", f"{first}-2")


def test_a_run_takes_the_name_of_the_option(desk: World) -> None:
    desk.write_suite([row("a")])
    desk.write_run({"noop": {"model": "replay/noop"}})
    done = desk.inline("run", "run.yaml", "--name", "tuesday")
    assert done.returncode == 0, done.stderr
    assert desk.run.startswith("tuesday.")
    assert "opsgym results tuesday" in done.stdout
    refused = desk.inline("run", "run.yaml", "--name", "Tuesday evening")
    assert refused.returncode == 2
    assert "--name: name: " in refused.stderr


@shares_a_run
def test_results_and_report_name_a_run_by_its_bare_name(finished: tuple[World, str, str]) -> None:
    world, _, _ = finished
    table = world.inline("results", "demo").stdout
    assert "gold   react  oracle  itsm     100.0%" in table
    assert "mean over domains" in table
    assert world.run in world.inline("results").stdout
    done = world.inline("report", world.run[:8], "--out", "report")
    assert done.returncode == 0, done.stderr
    page = read_report(world.folder / "report")
    assert page.detail(page.row("first")).tools == ["find_incident_by_id"]
    assert "Look at incident INC_001 for first." in page.transcript(page.row("first"))


def test_rows_that_cannot_run_are_reported_beside_the_others(desk: World) -> None:
    server = row("x")["gym_servers_config"][0]
    desk.write_suite(
        [
            row("good"),
            row("no-seed", gym_servers_config=[{**server, "seed_database_file": "gone.sql"}]),
            row("no-gym", gym_servers_config=[{**server, "mcp_server_name": "gym-chess-mcp"}]),
            row("bad row", verifiers=[]),
        ]
    )
    desk.write_run({"gold": {"model": "replay/gold"}})
    done = desk.inline("run", "run.yaml")
    assert done.returncode == 1
    assert "seed_not_found: gym server gym-itsm-mcp: found neither gone.sql" in done.stderr
    installed = "calendar, csm, drive, email, hr, itsm, teams"
    assert f"unknown_gym: no gym server is installed for chess; installed: {installed}" in done.stderr
    assert "tasks.json row 4: verifiers" in done.stderr
    assert "1 seed_not_found" in done.stdout
    assert "1 invalid_row" in done.stdout
    assert [(trial.task_id, trial.outcome) for trial in desk.trials()] == [("good", Outcome.PASSED)]
    assert [attempt.outcome for attempt in desk.attempts()].count(Outcome.CONFIG_ERROR) == 3


def test_a_budget_stops_the_run_and_a_raised_one_lets_it_go_on(desk: World, model: HeldModel) -> None:
    desk.write_suite([row("a"), row("b"), row("c")])
    dollar_a_call = {"inputUsd": 1000, "outputUsd": 0}  # the stub reports 1,000 prompt tokens
    models = {"stub": served_by(model, prices=dollar_a_call, credentials={"env": "STUB_KEY"})}
    desk.write_run(models, budget={"maxUsd": 1.5})
    first = desk.inline("run", "run.yaml", "--format", "json", STUB_KEY="sk-stub-secret")
    result = json.loads(first.stdout)
    assert first.returncode == 1
    assert (result["passed"], result["budget_skipped"], result["cost_usd"]) == (2, 1, 2.0)

    desk.write_run(models, budget={"maxUsd": 10})
    second = desk.inline("run", "run.yaml", "--format", "json", STUB_KEY="sk-stub-secret")
    result = json.loads(second.stdout)
    assert second.returncode == 0, second.stderr
    assert (result["passed"], result["budget_skipped"], result["cost_usd"]) == (3, 0, 3.0)
    assert len(model.prompts) == 3
    stored = b"".join(path.read_bytes() for path in desk.folder.rglob("*") if path.is_file())
    assert b"sk-stub-secret" not in stored
    assert "sk-stub-secret" not in first.stderr + second.stderr


def test_a_killed_run_resumes_with_the_unscored_trials(world: World, desk: World, model: HeldModel) -> None:
    world.write_suite([row("a"), row("b"), row("c")])
    world.write_run({"stub": served_by(model)})
    arguments = ("run", "run.yaml", "--format", "json")
    model.hold(after=1)
    with world.started(*arguments, OPENAI_API_KEY="k") as process:
        until(lambda: len(model.prompts) == 2 and len(world.trials()) == 1, "the second task waits", process)
        started = descendants(process.pid)
        done_before = len(world.trials())
        end(process.pid)
        gone(*started)
    assert started, "the run had a gym server and a Postgres"
    interrupted = [attempt for attempt in world.attempts() if attempt.outcome is None]
    assert [attempt.attempt for attempt in interrupted] == [0]

    model.release()
    again = desk.inline(*arguments, OPENAI_API_KEY="k")
    assert again.returncode == 0, again.stderr
    assert f"{3 - done_before} of 3 trials to run" in again.stderr
    assert json.loads(again.stdout)["passed"] == 3
    assert [trial.attempt for trial in world.trials() if trial.task_id == interrupted[0].task_id] == [1]


def test_a_terminated_run_records_cancelled_trials_and_leaves_no_process(world: World, model: HeldModel) -> None:
    model.hold()
    world.write_suite([row("a"), row("b")])
    world.write_run({"stub": served_by(model)})
    with world.started("run", "run.yaml", "--format", "json", OPENAI_API_KEY="k") as process:
        until(lambda: len(model.prompts) == 1, "the first task asks the model", process)
        started = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    gone(*started)
    result = json.loads(out)
    assert (result["total"], result["cancelled"], result["pending"]) == (2, 1, 1)
    assert [attempt.outcome for attempt in world.attempts()] == [Outcome.CANCELLED]
    assert "continue with: opsgym run run.yaml" in err
    assert "Traceback" not in err


def test_repeated_ctrl_c_is_harmless_and_the_same_command_resumes(world: World, model: HeldModel) -> None:
    model.hold()
    world.write_suite([row("a")])
    world.write_run({"stub": served_by(model)})
    with world.started("run", "run.yaml", OPENAI_API_KEY="k") as process:
        until(lambda: len(model.prompts) == 1, "the task asks the model", process)
        started = descendants(process.pid)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    gone(*started)
    model.release()
    assert world.inline("run", "run.yaml", OPENAI_API_KEY="k").returncode == 0
    assert [trial.outcome for trial in world.trials()] == [Outcome.PASSED]


@pytest.mark.parametrize("victim", [gym_of, postgres_of])
def test_a_lost_gym_server_or_postgres_costs_an_attempt_and_not_the_run(
    world: World, model: HeldModel, victim: Callable[[subprocess.Popen[str]], int]
) -> None:
    model.hold()
    world.write_suite([row("a"), row("b")])
    world.write_run({"stub": served_by(model)})
    with world.started("run", "run.yaml", "--format", "json", OPENAI_API_KEY="k") as process:
        until(lambda: len(model.prompts) == 1, "the first task asks the model", process)
        gym = gym_of(process)
        end(victim(process))
        gone(gym)
        until(lambda: bool(gyms_of(process)), "another gym server is started", process)
        model.release()
        out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert json.loads(out)["passed"] == 2
    assert "gym server itsm ended" in err
    endings = [(attempt.task_id, attempt.attempt, attempt.outcome, attempt.reason) for attempt in world.attempts()]
    assert endings == [
        ("a", 0, Outcome.INFRA_ERROR, "gym_lost"),
        ("a", 1, Outcome.PASSED, ""),
        ("b", 0, Outcome.PASSED, ""),
    ]


def test_a_store_that_is_lost_in_mid_run_is_named_and_nothing_is_claimed(world: World, model: HeldModel) -> None:
    model.hold()
    world.write_suite([row("a")])
    world.write_run({"stub": served_by(model)}, limits={"infraRetries": 0})
    with world.started("run", "run.yaml", OPENAI_API_KEY="k") as process:
        until(lambda: len(model.prompts) == 1, "the task asks the model", process)
        cells = world.folder / "results" / "runs" / world.run / "cells"
        cells.rename(world.folder / "cells-elsewhere")
        cells.write_text("a file where a folder was")
        model.release()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "store_lost: results: cannot access runs/" in err
    (sentence,) = (line for line in out.splitlines() if line.startswith("no trial has a score: "))
    assert sentence.startswith("no trial has a score: 1 store_lost: results: cannot access runs/")
    assert "success" not in out, "no table of dashes"
    assert "Traceback" not in err


def test_a_gym_server_that_does_not_start_is_named_and_everything_stays_pending(world: World) -> None:
    world.write_suite([row("a")])
    world.write_run({"gold": {"model": "replay/gold"}})
    done = world.inline("run", "run.yaml", "--format", "json", OPSGYM_POSTGRES_BIN="/nowhere")
    assert done.returncode == 1
    assert "gym server itsm did not start (exit code 1)" in done.stderr
    assert "/nowhere" in done.stderr
    assert json.loads(done.stdout)["pending"] == 1


def test_a_served_domain_answers_until_it_is_stopped(world: World) -> None:
    with world.started("gym", "serve", "itsm") as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["domain"] == "itsm"
        assert httpx.get(f"{ready['url']}/health", timeout=30).json()["status"] == "healthy"
        started = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        gone(*started)


def test_a_no_go_gate_ends_with_its_own_exit_code(desk: World) -> None:
    desk.write_suite([row("a")])
    desk.write_run({"noop": {"model": "replay/noop"}}, gate={"minSuccessRate": 0.8})
    done = desk.inline("run", "run.yaml")
    assert done.returncode == 3
    assert "gate: NO-GO" in done.stdout
    message = "success rate 0.0% (one-sided 95% bounds 0.0% and 73.0%, 1 task); at least 80.0% is required"
    assert message in done.stdout


def test_an_inconclusive_gate_has_its_own_exit_code_and_names_its_baseline(desk: World) -> None:
    desk.write_suite([row("a")])
    gate = {"lastGood": True, "maxRegression": 0.1}
    desk.write_run({"gold": {"model": "replay/gold"}}, gate=gate)
    first = desk.inline("run", "run.yaml")
    assert (first.returncode, "no earlier run is good" in first.stdout) == (0, True)
    good = desk.run
    desk.write_run({"gold": {"model": "replay/gold"}}, gate=gate, limits={"taskTimeoutSeconds": 600})
    second = desk.inline("run", "run.yaml")
    assert second.returncode == 4
    assert "gate: INCONCLUSIVE" in second.stdout
    assert f"1 task) against {good}; a drop of 10.0 points is allowed" in second.stdout
    (judged,) = {run for run in desk.store.folders("runs") if run != good}
    record = GateRecord.model_validate_json(desk.store.get(RunKeys(judged).gate_json) or b"")
    assert (record.run, record.verdict, record.baseline, record.regression) == (judged, "INCONCLUSIVE", good, 0.0)


def test_a_run_counts_as_the_newest_although_an_earlier_one_was_dated_by_a_clock_that_was_ahead(desk: World) -> None:
    desk.write_suite([row("a")])
    desk.write_run({"gold": {"model": "replay/gold"}})
    first = json.loads(desk.inline("run", "run.yaml", "--format", "json").stdout)["run"]
    record = RunRecord.model_validate_json(desk.store.get(RunKeys(first).run_json) or b"")
    ahead = record.model_copy(update={"created_at": "2999-01-01T00:00:00Z"})
    desk.store.put(RunKeys(first).run_json, ahead.model_dump_json().encode())
    fresh = desk.inline("run", "run.yaml", "--format", "json", "--fresh")
    assert "dated 2999-01-01T00:00:01Z, just after the newest run of demo" in fresh.stderr
    newest = json.loads(desk.inline("results", "demo", "--format", "json").stdout)["run"]
    assert newest == json.loads(fresh.stdout)["run"] == f"{first}-2"


def test_a_bucket_whose_server_ignores_conditions_is_refused_before_anything_starts(
    desk: World, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write_suite([row("a")])
    desk.write_run({"gold": {"model": "replay/gold"}})
    with Faulty("PUT", "plain", times=1000).serving(os.environ["AWS_ENDPOINT_URL_S3"]) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", url)
        refused = desk.inline("run", "run.yaml", "--store", bucket)
    assert refused.returncode == 2
    assert "ignores conditional writes; results could be overwritten: use a store that honours" in refused.stderr
    assert "starting gym servers" not in refused.stderr


def test_results_can_go_to_a_bucket(desk: World, bucket: str) -> None:
    desk.write_suite([row("a")])
    desk.write_run({"gold": {"model": "replay/gold"}})
    first = desk.inline("run", "run.yaml", "--format", "json", "--store", f"{bucket}/team")
    assert first.returncode == 0, first.stderr
    again = desk.inline("run", "run.yaml", "--format", "json", "--store", f"{bucket}/team")
    assert again.stdout == first.stdout
    assert desk.inline("report", "demo", "--out", "report", "--store", f"{bucket}/team").returncode == 0
    missing = desk.inline("results", "--store", "s3://no-such-bucket")
    assert missing.returncode == 1
    assert "the bucket does not exist; create it or name another" in missing.stderr
