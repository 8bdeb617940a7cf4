"""`opsgym run --metrics-port` and `--metrics-file`: what they serve and write, and what they refuse."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from tests.cli.world import World, row, until
from tests.metrics.exact import from_records, from_text, gauges, total
from tests.metrics.model import NamedModel
from tests.support.prometheus import free_port

from opsgym.local.inputs import read_inputs
from opsgym.local.metrics import Exposition, Meter, exposed
from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, Timings
from opsgym_runner.models import missing_key
from opsgym_runner.prices import known_prices

CELL = Cell(model="gold", agent="react", mode="oracle", domain="itsm")


@pytest.fixture
def model() -> Iterator[NamedModel]:
    with NamedModel.serving() as served:
        yield served


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write_suite([row("a"), row("b")])
    world.write_run({"gold": {"model": "replay/gold", "maxConcurrency": 3}}, limits={"infraRetries": 1})
    return world


def meter_of(world: World) -> Meter:
    """A meter of the run, which has begun."""
    inputs = read_inputs(world.folder / "run.yaml", os.environ, known_prices, missing_key)
    meter = Meter(inputs, world.store)
    meter.begin({CELL: 4}, ())
    return meter


def attempt(trial: int, outcome: Outcome | None, number: int = 0, reason: str = "") -> AttemptRecord:
    return AttemptRecord(
        run="demo.0", cell=CELL, task_id="a", trial=trial, attempt=number, outcome=outcome, reason=reason,
        timings=Timings(started_at="2026-11-22T00:00:00Z"),
    )  # fmt: skip


def outcomes(text: str) -> Mapping[str, float]:
    """Trials of the run by outcome, those of none left out."""
    found: dict[str, float] = {}
    for labels, value in gauges(text, "opsgym_run_trials").items():
        outcome = dict(labels)["outcome"]
        found[outcome] = found.get(outcome, 0) + value
    return {outcome: value for outcome, value in found.items() if value}


def trials_counted(text: str) -> Mapping[str, float]:
    """Counted trials by outcome."""
    values = from_text(text)
    ends = {dict(labels)["outcome"] for name, labels in values if name == "opsgym_trials_total"}
    return {outcome: total(values, "opsgym_trials_total", outcome=outcome) for outcome in ends}


def told(meter: Meter) -> str:
    return meter.text().decode()


# What a meter makes of records


def test_an_attempt_counts_once_and_when_it_has_ended(world: World) -> None:
    meter = meter_of(world)
    for record in (attempt(0, None), attempt(0, None), attempt(1, None)):
        meter.heard(record)
    [in_flight] = gauges(told(meter), "opsgym_model_in_flight").values()
    assert (in_flight, trials_counted(told(meter))) == (2, {})
    for _ in range(2):
        meter.heard(attempt(0, Outcome.FAILED, reason="verifiers"))
    [in_flight] = gauges(told(meter), "opsgym_model_in_flight").values()
    assert (in_flight, trials_counted(told(meter))) == (1, {"failed": 1})
    assert outcomes(told(meter)) == {"failed": 1, "pending": 3}


def test_a_trial_whose_attempt_is_repeated_is_not_over_until_its_last_one(world: World) -> None:
    meter = meter_of(world)
    meter.heard(attempt(0, Outcome.INFRA_ERROR, 0, "gym_lost"))
    assert (trials_counted(told(meter)), outcomes(told(meter))) == ({}, {"pending": 4})
    meter.heard(attempt(0, Outcome.INFRA_ERROR, 1, "gym_lost"))
    assert trials_counted(told(meter)) == {"infra_error": 1}
    assert outcomes(told(meter)) == {"infra_error": 1, "pending": 3}
    assert total(from_text(told(meter)), "opsgym_attempts_total", reason="gym_lost") == 2


def test_a_cancelled_trial_is_still_to_be_run(world: World) -> None:
    meter = meter_of(world)
    meter.heard(attempt(0, Outcome.CANCELLED))
    assert (trials_counted(told(meter)), outcomes(told(meter))) == ({}, {"pending": 4})


def test_gauges_of_models_are_there_from_the_start_and_of_the_end_at_the_end(world: World) -> None:
    meter = meter_of(world)
    assert gauges(told(meter), "opsgym_model_ceiling") == {
        frozenset({"namespace": "local", "model": "gold"}.items()): 3.0
    }
    assert not gauges(told(meter), "opsgym_run_finished_timestamp_seconds")
    meter.finish(datetime(2026, 11, 22, tzinfo=UTC))
    [finished] = gauges(told(meter), "opsgym_run_finished_timestamp_seconds").values()
    assert finished == datetime(2026, 11, 22, tzinfo=UTC).timestamp()


# Where they go


def test_metrics_are_served_at_one_path_of_this_machine_while_the_context_lasts(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    with exposed(meter_of(world), Exposition(port=0)):
        url = capsys.readouterr().err.removeprefix("metrics at ").strip()
        found = httpx.get(url, trust_env=False)
        assert found.headers["content-type"].startswith("text/plain; version=")
        assert 'opsgym_run_progress_ratio{namespace="local",run="demo"} 0.0' in found.text
        assert httpx.get(f"{url}?x=1", trust_env=False).status_code == 200
        assert httpx.get(f"{url}/more", trust_env=False).status_code == 404
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, trust_env=False)


def test_scrapes_may_come_at_any_time(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    meter = meter_of(world)
    errors: list[tuple[float, Mapping[str, float]]] = []
    meter.begin({CELL: 300}, ())
    with exposed(meter, Exposition(port=0)):
        url = capsys.readouterr().err.removeprefix("metrics at ").strip()

        def scrape() -> None:
            while threading.main_thread().is_alive() and not done.is_set():
                text = httpx.get(url, trust_env=False, timeout=60).text
                counted, shown = sum(trials_counted(text).values()), outcomes(text)
                if counted != shown.get("failed", 0) or sum(shown.values()) != 300:
                    errors.append((counted, shown))

        done = threading.Event()
        threads = [threading.Thread(target=scrape) for _ in range(2)]
        for thread in threads:
            thread.start()
        for trial in range(300):
            meter.heard(attempt(trial, Outcome.FAILED, reason="verifiers"))
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []


def test_the_file_is_written_whole_at_the_end_and_replaces_an_older_one(world: World) -> None:
    file = world.folder / "opsgym.prom"
    file.write_text("old")
    meter = meter_of(world)
    with exposed(meter, Exposition(file=file)):
        assert [path.name for path in world.folder.iterdir() if "prom" in path.name] == ["opsgym.prom"]
        assert file.read_text() == "old"
    assert file.read_text() == told(meter)
    assert file.stat().st_mode & 0o044
    assert [path.name for path in world.folder.iterdir() if "prom" in path.name] == ["opsgym.prom"]


def test_a_file_that_cannot_be_written_at_the_end_is_told_and_changes_nothing(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = world.folder / "collected"
    folder.mkdir()
    with exposed(meter_of(world), Exposition(file=folder / "opsgym.prom")):
        folder.rmdir()
    said = capsys.readouterr().err
    assert said == f"the metrics are not written: {folder}/opsgym.prom: No such file or directory\n"


@pytest.mark.parametrize(("name", "problem"), [("gone/opsgym.prom", "No such file"), ("suite", "it is a folder")])
def test_a_place_that_cannot_be_written_is_refused_before_anything_starts(
    world: World, name: str, problem: str
) -> None:
    ended = world.inline("run", "run.yaml", "--metrics-file", name)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"opsgym run: --metrics-file: {name}: {problem}")
    assert not (world.folder / "results").exists()


def test_a_port_in_use_is_refused_before_anything_starts(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = world.inline("run", "run.yaml", "--metrics-port", str(port))
    problem = (
        f"port {port} of 127.0.0.1 cannot be served: Address already in use; name another one, or 0 for a free one"
    )
    assert (ended.returncode, ended.stderr) == (2, f"opsgym run: --metrics-port: {problem}\n")
    assert not (world.folder / "results").exists()


def test_a_reader_that_hangs_up_is_no_trouble_of_the_run(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    meter, port = meter_of(world), free_port()
    asked, gone, content = threading.Event(), threading.Event(), meter.text()

    def text() -> bytes:
        asked.set()
        gone.wait(10)
        return content

    monkeypatch.setattr(meter, "text", text)
    with exposed(meter, Exposition(port=port)):
        threads = threading.active_count()
        with socket.create_connection(("127.0.0.1", port)) as reader:
            reader.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert asked.wait(10)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.set()
        until(lambda: threading.active_count() == threads, "the request is over")
        assert httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).content == content
    assert capfd.readouterr().err == f"metrics at http://127.0.0.1:{port}/metrics\n"


@pytest.mark.parametrize("option", [("--metrics-port", "0"), ("--metrics-file", "x.prom")])
def test_a_repeated_trial_has_no_metrics(world: World, option: tuple[str, str]) -> None:
    ended = world.inline("run", "--from", "demo", "--trial", "a", *option)
    assert ended.returncode == 2
    assert option[0] in ended.stderr
    assert "go with FILE, not with --from" in ended.stderr


# Runs


def test_a_resumed_run_counts_what_it_does_and_shows_all_of_the_run(tmp_path: Path, model: NamedModel) -> None:
    world = World(tmp_path)
    world.write_suite([row("good-1"), row("gone-1"), row("bad-1")])
    world.write_run({"named": model.inline}, limits={"infraRetries": 0}, gate={"maxInfraErrorRate": 0})

    first = world.inline("run", "run.yaml", "--metrics-file", "first.prom")
    text = (tmp_path / "first.prom").read_text()
    assert first.returncode == 3, first.stderr
    assert trials_counted(text) == outcomes(text) == {"passed": 1, "failed": 1, "infra_error": 1}
    assert [dict(labels)["verdict"] for labels in gauges(text, "opsgym_run_gate")] == ["NO-GO"]

    model.mended = True
    second = world.inline("run", "run.yaml", "--metrics-file", "second.prom")
    text = (tmp_path / "second.prom").read_text()
    assert second.returncode == 0, second.stderr
    assert trials_counted(text) == {"passed": 1}
    assert outcomes(text) == {"passed": 2, "failed": 1}
    assert total(from_text(text), "opsgym_attempts_total") == 1
    assert total(from_text(text), "opsgym_verifiers_total") == 2
    [cost] = gauges(text, "opsgym_run_cost_usd").values()
    assert cost == 3 * total(from_text(text), "opsgym_cost_usd_total") > 0
    assert [dict(labels)["verdict"] for labels in gauges(text, "opsgym_run_gate")] == ["GO"]

    world.inline("run", "run.yaml", "--metrics-file", "third.prom")
    text = (tmp_path / "third.prom").read_text()
    assert (trials_counted(text), outcomes(text)) == ({}, {"passed": 2, "failed": 1})


def test_a_suspended_run_shows_what_it_has_and_has_not_finished(world: World) -> None:
    world.write_run({"gold": {"model": "replay/gold"}}, suspend=True)
    world.inline("run", "run.yaml", "--metrics-file", "suspended.prom")
    text = (world.folder / "suspended.prom").read_text()
    assert (trials_counted(text), outcomes(text)) == ({}, {"pending": 2})
    assert not gauges(text, "opsgym_run_finished_timestamp_seconds")


def test_an_interrupted_run_writes_what_it_had_and_has_not_finished(tmp_path: Path, model: NamedModel) -> None:
    world = World(tmp_path)
    world.write_suite([row("good-1"), row("held-1")])
    world.write_run({"named": {**model.inline, "maxConcurrency": 1}})
    with world.started("run", "run.yaml", "--metrics-file", "end.prom") as process:
        until(lambda: bool(model.asked["held-1"]), "the second task is asked for", process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    text = (tmp_path / "end.prom").read_text()
    assert process.returncode == 130
    assert from_text(text) == from_records(world.trials(), world.attempts())
    assert (trials_counted(text), outcomes(text)) == ({"passed": 1}, {"passed": 1, "pending": 1})
    assert not gauges(text, "opsgym_run_finished_timestamp_seconds")
