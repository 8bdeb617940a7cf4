"""Metrics of local runs: `opsgym run --metrics-port` and `--metrics-file`, and the options they refuse."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from prometheus_client import Metric, generate_latest
from tests.cli.world import World, row, until
from tests.metrics.exact import from_records, from_text, gauges, total
from tests.metrics.model import NamedModel
from tests.support.prometheus import free_port

from opsgym.local.inputs import read_inputs
from opsgym.local.metrics import MetricsOptions, RunMetrics, exposed
from opsgym_api.records.attempt import AttemptRecord, Cell, Timings
from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.prices import known_prices

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


def metrics_of(world: World, trials: int = 4) -> RunMetrics:
    """Metrics of a run that has begun."""
    inputs = read_inputs(world.folder / "run.yaml", os.environ, known_prices, missing_key)
    metrics = RunMetrics(inputs, world.store, AttemptLedger(inputs.spec.limits.infra_retries))
    metrics.begin({CELL: trials})
    return metrics


def attempt(trial: int, outcome: Outcome | None, number: int = 0, reason: str = "") -> AttemptRecord:
    return AttemptRecord(
        run="demo.0", cell=CELL, task_id="a", trial=trial, attempt=number, outcome=outcome, reason=reason,
        timings=Timings(started_at="2026-11-22T00:00:00Z"),
    )  # fmt: skip


def outcomes(text: str) -> Mapping[str, float]:
    """Trials of the run by outcome, those of none left out."""
    counts: dict[str, float] = {}
    for labels, value in gauges(text, "opsgym_run_trials").items():
        outcome = dict(labels)["outcome"]
        counts[outcome] = counts.get(outcome, 0) + value
    return {outcome: value for outcome, value in counts.items() if value}


def trials_counted(text: str) -> Mapping[str, float]:
    """Counted trials by outcome."""
    values = from_text(text)
    ends = {dict(labels)["outcome"] for name, labels in values if name == "opsgym_trials_total"}
    return {outcome: total(values, "opsgym_trials_total", outcome=outcome) for outcome in ends}


def exposition(metrics: RunMetrics) -> str:
    return generate_latest(metrics.registry).decode()


# From records to metrics


def test_an_attempt_counts_once_when_it_has_ended(world: World) -> None:
    metrics = metrics_of(world)
    for record in (attempt(0, None), attempt(0, None), attempt(1, None)):
        metrics.note(record)
    [in_flight] = gauges(exposition(metrics), "opsgym_model_in_flight").values()
    assert (in_flight, trials_counted(exposition(metrics))) == (2, {})
    for _ in range(2):
        metrics.note(attempt(0, Outcome.FAILED, reason="verifiers"))
    [in_flight] = gauges(exposition(metrics), "opsgym_model_in_flight").values()
    assert (in_flight, trials_counted(exposition(metrics))) == (1, {"failed": 1})
    assert outcomes(exposition(metrics)) == {"failed": 1, "pending": 3}


def test_a_retried_trial_counts_with_its_last_attempt(world: World) -> None:
    metrics = metrics_of(world)
    metrics.note(attempt(0, Outcome.INFRA_ERROR, 0, "gym_lost"))
    assert (trials_counted(exposition(metrics)), outcomes(exposition(metrics))) == ({}, {"pending": 4})
    metrics.note(attempt(0, Outcome.INFRA_ERROR, 1, "gym_lost"))
    assert trials_counted(exposition(metrics)) == {"infra_error": 1}
    assert outcomes(exposition(metrics)) == {"infra_error": 1, "pending": 3}
    assert total(from_text(exposition(metrics)), "opsgym_attempts_total", reason="gym_lost") == 2


def test_a_cancelled_trial_stays_pending(world: World) -> None:
    metrics = metrics_of(world)
    metrics.note(attempt(0, Outcome.CANCELLED))
    assert (trials_counted(exposition(metrics)), outcomes(exposition(metrics))) == ({}, {"pending": 4})


def test_model_gauges_exist_from_the_start_and_the_finish_time_from_the_end(world: World) -> None:
    metrics = metrics_of(world)
    assert gauges(exposition(metrics), "opsgym_model_ceiling") == {
        frozenset({"namespace": "local", "model": "gold"}.items()): 3.0
    }
    assert not gauges(exposition(metrics), "opsgym_run_finished_timestamp_seconds")
    metrics.finish(datetime(2026, 11, 22, tzinfo=UTC))
    [finished] = gauges(exposition(metrics), "opsgym_run_finished_timestamp_seconds").values()
    assert finished == datetime(2026, 11, 22, tzinfo=UTC).timestamp()


def test_a_run_has_no_series_while_its_ledger_is_filled(world: World) -> None:
    inputs = read_inputs(world.folder / "run.yaml", os.environ, known_prices, missing_key)
    metrics = RunMetrics(inputs, world.store, AttemptLedger(inputs.spec.limits.infra_retries))
    assert not gauges(exposition(metrics), "opsgym_run_progress_ratio")
    metrics.begin({CELL: 4})
    assert gauges(exposition(metrics), "opsgym_run_progress_ratio")


# Exposition


def test_metrics_are_served_on_this_machine_while_the_context_is_open(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    with exposed(metrics_of(world), MetricsOptions(port=0)):
        url = capsys.readouterr().err.removeprefix("metrics at ").strip()
        response = httpx.get(url, trust_env=False)
        assert response.headers["content-type"].startswith("text/plain; version=")
        assert 'opsgym_run_progress_ratio{namespace="local",run="demo"} 0.0' in response.text
        assert httpx.get(f"{url}?x=1", trust_env=False).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, trust_env=False)


def test_a_scrape_during_updates_is_consistent(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = metrics_of(world, trials=300)
    errors: list[tuple[float, Mapping[str, float]]] = []
    with exposed(metrics, MetricsOptions(port=0)):
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
            metrics.note(attempt(trial, Outcome.FAILED, reason="verifiers"))
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []


def test_the_file_is_written_atomically_at_the_end_and_replaces_an_older_one(world: World) -> None:
    file = world.folder / "opsgym.prom"
    file.write_text("old")
    metrics = metrics_of(world)
    with exposed(metrics, MetricsOptions(file=file)):
        assert [path.name for path in world.folder.iterdir() if "prom" in path.name] == ["opsgym.prom"]
        assert file.read_text() == "old"
    assert file.read_text() == exposition(metrics)
    assert file.stat().st_mode & 0o044
    assert [path.name for path in world.folder.iterdir() if "prom" in path.name] == ["opsgym.prom"]


def test_a_file_that_cannot_be_written_at_the_end_is_reported_and_changes_nothing(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = world.folder / "collected"
    folder.mkdir()
    with exposed(metrics_of(world), MetricsOptions(file=folder / "opsgym.prom")):
        folder.rmdir()
    output = capsys.readouterr().err
    assert output == f"the metrics are not written: {folder}/opsgym.prom: No such file or directory\n"


@pytest.mark.parametrize(("name", "problem"), [("gone/opsgym.prom", "No such file"), ("suite", "it is a folder")])
def test_a_file_that_cannot_be_written_is_refused_before_anything_starts(world: World, name: str, problem: str) -> None:
    ended = world.inline("run", "run.yaml", "--metrics-file", name)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"opsgym run: --metrics-file: {name}: {problem}")
    assert not (world.folder / "results").exists()


def test_a_port_in_use_is_refused_before_anything_starts(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = world.inline("run", "run.yaml", "--metrics-port", str(port))
    problem = (
        f"port {port} of 127.0.0.1 cannot be served: Address already in use; name another port, or 0 for a free one"
    )
    assert (ended.returncode, ended.stderr) == (2, f"opsgym run: --metrics-port: {problem}\n")
    assert not (world.folder / "results").exists()


def test_a_scraper_that_disconnects_does_not_affect_the_run(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    metrics, port = metrics_of(world), free_port()
    requested, disconnected = threading.Event(), threading.Event()
    collected = metrics.collect()

    def collect() -> Iterable[Metric]:
        requested.set()
        disconnected.wait(10)
        return collected

    monkeypatch.setattr(metrics, "collect", collect)
    with exposed(metrics, MetricsOptions(port=port)):
        threads = threading.active_count()
        with socket.create_connection(("127.0.0.1", port)) as reader:
            reader.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            assert requested.wait(10)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        disconnected.set()
        until(lambda: threading.active_count() == threads, "the request is over")
        assert httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).status_code == 200
    assert capfd.readouterr().err == f"metrics at http://127.0.0.1:{port}/metrics\n"


@pytest.mark.parametrize("option", [("--metrics-port", "0"), ("--metrics-file", "x.prom")])
def test_a_repeated_trial_has_no_metrics(world: World, option: tuple[str, str]) -> None:
    ended = world.inline("run", "--from", "demo", "--trial", "a", *option)
    assert ended.returncode == 2
    assert option[0] in ended.stderr
    assert "go with FILE, not with --from" in ended.stderr


# Runs


def test_a_resumed_run_counts_its_own_work_and_shows_all_trials(
    tmp_path: Path, model: NamedModel, desk_url: dict[str, str]
) -> None:
    world = World(tmp_path, desk_url)
    world.write_suite([row("good-1"), row("gone-1"), row("bad-1")])
    world.write_run({"named": model.inline}, limits={"infraRetries": 0}, gate={"maxInfraErrorRate": 0})

    first = world.inline("run", "run.yaml", "--metrics-file", "first.prom")
    text = (tmp_path / "first.prom").read_text()
    assert first.returncode == 3, first.stderr
    assert trials_counted(text) == outcomes(text) == {"passed": 1, "failed": 1, "infra_error": 1}
    assert [dict(labels)["verdict"] for labels in gauges(text, "opsgym_run_gate")] == ["NO-GO"]

    model.available = True
    second = world.inline("run", "run.yaml", "--metrics-file", "second.prom")
    text = (tmp_path / "second.prom").read_text()
    assert second.returncode == 0, second.stderr
    assert trials_counted(text) == {"passed": 1}
    assert outcomes(text) == {"passed": 2, "failed": 1}
    assert total(from_text(text), "opsgym_attempts_total") == 1
    assert total(from_text(text), "opsgym_verifiers_total") == 2
    [cost] = gauges(text, "opsgym_run_cost_usd").values()
    assert cost == 5 * total(from_text(text), "opsgym_cost_usd_total") > 0
    assert [dict(labels)["verdict"] for labels in gauges(text, "opsgym_run_gate")] == ["GO"]

    world.inline("run", "run.yaml", "--metrics-file", "third.prom")
    text = (tmp_path / "third.prom").read_text()
    assert (trials_counted(text), outcomes(text)) == ({}, {"passed": 2, "failed": 1})


def test_a_suspended_run_shows_its_trials_and_no_finish_time(world: World) -> None:
    world.write_run({"gold": {"model": "replay/gold"}}, suspend=True)
    world.inline("run", "run.yaml", "--metrics-file", "suspended.prom")
    text = (world.folder / "suspended.prom").read_text()
    assert (trials_counted(text), outcomes(text)) == ({}, {"pending": 2})
    assert not gauges(text, "opsgym_run_finished_timestamp_seconds")


def test_an_interrupted_run_writes_its_metrics_without_a_finish_time(tmp_path: Path, model: NamedModel) -> None:
    world = World(tmp_path)
    world.write_suite([row("good-1"), row("held-1")])
    world.write_run({"named": {**model.inline, "maxConcurrency": 1}})
    with world.started("run", "run.yaml", "--metrics-file", "end.prom") as process:
        until(lambda: bool(model.requests["held-1"]), "the second task is asked for", process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    text = (tmp_path / "end.prom").read_text()
    assert process.returncode == 130
    assert from_text(text) == from_records(world.trials(), world.attempts())
    assert (trials_counted(text), outcomes(text)) == ({"passed": 1}, {"passed": 1, "pending": 1})
    assert not gauges(text, "opsgym_run_finished_timestamp_seconds")
