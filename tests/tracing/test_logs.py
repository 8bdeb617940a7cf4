"""Logs of processes: JSON with ids, without content or secrets at any level."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import structlog
from tests.cli.world import HeldModel, World, row, until
from tests.pods.pod import KEY, RUN, Pod, hosted, job_spec
from tests.runner.jobs import ROW
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, calls, refuses, says
from tests.tracing.collector import Collector

from opsgym_api.jobs.exit_codes import Exit
from opsgym_core.common.logs import ENV_FILE, ENV_LEVEL, configure_logs, json_lines, send_logs, text_lines
from opsgym_domains.kit.embedded import EmbeddedPostgres

IDS = {"run": RUN, "cell": "m_react_oracle_notes", "task": "rename-first", "trial": 0, "attempt": 0}


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """What is logged at DEBUG in this process, a line an entry."""
    with sent(logging.DEBUG, json_lines()) as logged_lines:
        yield logged_lines


class sent:  # noqa: N801 - reads as a word of the tests
    """Keeps what is logged, and puts the process's logging back when it is left."""

    def __init__(self, level: int, formatter: logging.Formatter) -> None:
        self._level = level
        self._lines: list[str] = []
        self._handler = logging.Handler()
        self._handler.setFormatter(formatter)
        self._handler.emit = lambda record: self._lines.append(self._handler.format(record))  # type: ignore[method-assign]

    def __enter__(self) -> list[str]:
        root = logging.getLogger()
        self._before = root.handlers, root.level
        send_logs([self._handler], self._level)
        return self._lines

    def __exit__(self, *_: object) -> None:
        logging.getLogger().handlers, level = self._before
        logging.getLogger().setLevel(level)
        structlog.reset_defaults()


def parsed(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_every_log_line_is_json_with_the_bound_context(lines: list[str]) -> None:
    with structlog.contextvars.bound_contextvars(run="r", trial=0):
        structlog.get_logger("opsgym_runner").info("begins", steps=3)
        logging.getLogger("httpx").info("HTTP Request: %s", "GET")
    first, second = parsed(lines)
    assert {
        "level": "info",
        "logger": "opsgym_runner",
        "message": "begins",
        "run": "r",
        "trial": 0,
    }.items() <= first.items()
    assert (first["steps"], first["timestamp"][-1]) == (3, "Z")
    assert (second["logger"], second["message"], second["run"]) == ("httpx", "HTTP Request: GET", "r")


@pytest.mark.parametrize(
    ("logger", "level", "logged"),
    [
        ("opsgym_runner.episode", logging.DEBUG, True),
        ("opsgym_console.server", logging.DEBUG, True),
        ("opsgym", logging.DEBUG, True),
        ("httpx", logging.INFO, True),
        ("httpx", logging.DEBUG, False),
        ("openai._base_client", logging.DEBUG, False),
        ("openai._base_client", logging.WARNING, True),
        ("httpcore.http11", logging.DEBUG, False),
        ("mcp.server.lowlevel.server", logging.INFO, False),
        ("sqlalchemy.engine.Engine", logging.INFO, False),
        ("botocore.endpoint", logging.DEBUG, False),
        ("opentelemetry.sdk.trace", logging.ERROR, False),
        ("kopf.objects", logging.INFO, False),
        ("kopf.activities", logging.INFO, True),
    ],
)
def test_libraries_that_quote_content_are_logged_from_warnings_up(
    lines: list[str], logger: str, level: int, logged: bool
) -> None:
    library = logging.getLogger(logger)
    before = library.level
    library.setLevel(logging.DEBUG)  # as libraries do by variables of their own
    library.log(level, "output")
    library.setLevel(before)
    assert bool(lines) is logged


def test_own_log_lines_below_the_level_are_left_out() -> None:
    with sent(logging.WARNING, json_lines()) as lines:
        structlog.get_logger("opsgym_runner").info("begins")
        logging.getLogger("kopf").info("asked")
        structlog.get_logger("opsgym_runner").warning("waits")
    assert [line["message"] for line in parsed(lines)] == ["waits"]


def test_credentials_are_masked_at_any_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "4f1e9c77")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-one=collector-pass,x-two=b")
    with sent(logging.INFO, json_lines()) as lines:
        log = structlog.get_logger("opsgym_runner")
        log.info("output 4f1e9c77", deep=[{"a": "Bearer abc.def"}], sent="x-one=collector-pass")
        logging.getLogger("openai").warning("HTTP Request: POST https://m/v1?alt=json&key=AIza-1234 200")
    assert not re.search("4f1e9c77|abc.def|collector-pass|AIza", "".join(lines))
    first, second = parsed(lines)
    assert (first["message"], first["deep"]) == ("output [secret]", [{"a": "Bearer [secret]"}])
    assert second["message"] == "HTTP Request: POST https://m/v1?alt=json&key=[secret] 200"


def test_a_logged_exception_has_its_type_and_location_but_no_message(lines: list[str]) -> None:
    def fails() -> None:
        raise ValueError("the answer was MARK")

    try:
        try:
            fails()
        except ValueError as error:
            raise RuntimeError("MARK again") from error
    except RuntimeError:
        structlog.get_logger("opsgym_runner").exception("broke")
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    assert "MARK" not in "".join(lines)
    for line in parsed(lines):
        assert line["exception"].startswith("builtins.RuntimeError at test_logs.py:")
        assert " <- builtins.ValueError at test_logs.py:" in line["exception"]
        assert " fails" in line["exception"]


def test_console_log_lines_leave_out_ids_and_times() -> None:
    with sent(logging.INFO, text_lines()) as lines, structlog.contextvars.bound_contextvars(run="r", trace_id="t"):
        structlog.get_logger("opsgym_runner").warning("held back", model="gpt", allowed=2)
    assert lines == ["level=warning event=held back model=gpt allowed=2"]


def test_an_unknown_log_level_is_logged_and_does_not_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log"
    with sent(logging.INFO, json_lines()):
        configure_logs({ENV_LEVEL: "loud", ENV_FILE: str(file)})
        structlog.get_logger("opsgym_runner").info("begins")
        logging.getLogger().handlers[1].close()
    in_file, on_stderr = file.read_text().splitlines(), capsys.readouterr().err.splitlines()
    assert in_file == on_stderr
    assert [line["message"] for line in parsed(in_file)] == ["unknown log level", "begins"]
    assert parsed(in_file)[0]["value"] == "loud"


MARKS = ("MARK-policy", "MARK-request", "MARK-argument", "MARK-answer", "MARK-row", "MARK-refusal")
MARKED = (
    calls(("add_note", {"text": "MARK-argument"}), ("rename_note", {"id": "MARK-argument", "text": 1})),
    refuses(500, "MARK-refusal: you sent MARK-request"),
    says(f"MARK-answer {KEY}"),
)


def test_a_pods_log_lines_have_the_attempts_ids_and_no_content(pod: Pod, gym_url: str) -> None:
    marked = {**ROW, "system_prompt": "MARK-policy", "user_prompt": "MARK-request"}
    pod.freeze(marked, "INSERT INTO notes (text) VALUES ('MARK-row')")
    with serving(StubModel(*MARKED).app) as url:
        loud = {ENV_LEVEL: "DEBUG", "LITELLM_LOG": "DEBUG", "OPENAI_LOG": "debug"}
        ended = pod.task(job_spec(gym_url, model=hosted(url)), KEY_0=KEY, **loud)

    assert ended.code == 0
    output = (pod.folder / "stderr").read_text()
    assert [mark for mark in (*MARKS, KEY) if mark in output] == []
    own = [line for line in ended.log if line["logger"].startswith("opsgym_runner")]
    assert [line["message"] for line in own][-2:] == ["attempt ended", "attempt recorded"]
    libraries = [line for line in ended.log if line["logger"] == "httpx"]
    assert any("chat/completions" in line["message"] for line in libraries), "lines of libraries are logged too"
    during = [line for line in ended.log if line["message"] != "task pod started" and "attempt" in line]
    assert len(during) > 5
    assert all(IDS.items() <= line.items() for line in during)


def test_a_stopped_pod_sends_its_spans(pod: Pod, gym_url: str, collector: Collector) -> None:
    pod.freeze()
    with HeldModel.serving() as model:
        model.hold()
        order = job_spec(gym_url, model=hosted(model.url.removesuffix("/v1")))
        surroundings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "JOB_COMPLETION_INDEX": "0", "KEY_0": KEY}
        with pod.started("task", order, **surroundings) as running:
            running.wait_for("attempt started")
            until(lambda: bool(model.prompts), "the model is asked")
            running.terminate()
            ended = running.end()

    assert ended.code == Exit.TERMINATED
    assert (collector.root().attributes["opsgym.outcome"], collector.root().failed) == ("cancelled", True)
    (began,) = [line for line in ended.log if line["message"] == "attempt started"]
    assert (began["trace_id"], began["span_id"]) == (collector.root().trace_id, collector.root().span_id)


def test_a_local_run_logs_to_a_file_with_its_gym_servers_and_traces(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    world.write_suite([row("one", user_prompt="MARK-request", system_prompt="MARK-policy")])
    with serving(
        StubModel(calls(("find_incident_by_id", {"incident_id": "MARK-argument"})), says("MARK-answer done")).app
    ) as url:
        credentials = {"credentials": {"env": "MODEL_PASS_KEY"}, "prices": {"inputUsd": 1, "outputUsd": 1}}
        world.write_run({"m": {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], **credentials}})
        loud = {ENV_LEVEL: "DEBUG", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "MODEL_PASS_KEY": KEY}
        done = world.opsgym("run", "run.yaml", "--log-file", "run.log", **loud)

    assert done.returncode == 0, done.stderr
    output = (tmp_path / "run.log").read_text() + done.stdout + done.stderr
    assert [mark for mark in (*MARKS, KEY) if mark in output] == []
    lines = parsed((tmp_path / "run.log").read_text().splitlines())
    (trial,) = world.trials()
    ids = {"run": world.run, "cell": trial.cell.key, "task": "one", "trial": 0, "attempt": 0}
    own = [line for line in lines if line["logger"] == "opsgym_runner.runner"]
    assert [line["message"] for line in own] == ["attempt started", "attempt ended"]
    assert all(ids.items() <= line.items() for line in own)
    assert {line["trace_id"] for line in own} == {collector.root().trace_id}
    (call,) = [line for line in lines if line["message"] == "tool called"]
    (span,) = collector.named("execute_tool ")
    assert call["logger"].startswith("opsgym_domains")
    assert (call["trace_id"], call["span_id"], call["tool"]) == (span.trace_id, span.span_id, "find_incident_by_id")
    assert trial.usage.prompt_tokens == collector.root().attributes["gen_ai.usage.input_tokens"]


def test_an_untraced_process_does_not_import_opentelemetry() -> None:
    code = (
        "import sys, opsgym_runner.pod.task, opsgym.local.run; from opsgym_runner.tracing.tracer import start_tracing"
    )
    code += "; start_tracing({}).close(); sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_an_operator_that_cannot_start_says_so_in_json(tmp_path: Path) -> None:
    environment = {**os.environ, "OPSGYM_OPERATOR_CONFIG": str(tmp_path / "gone.yaml")}
    command = [sys.executable, "-m", "opsgym_operator"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = parsed(done.stderr.splitlines())
    assert (line["level"], line["logger"], line["message"]) == ("error", "opsgym_operator.main", "cannot run")
    assert "gone.yaml" in line["problem"]


@pytest.mark.anyio
async def test_postgres_errors_do_not_quote_the_statement() -> None:
    postgres = await EmbeddedPostgres.start()
    try:
        connection = await asyncpg.connect(host=str(postgres.socket_folder), user="postgres", database="postgres")
        with pytest.raises(asyncpg.PostgresError, match="MARK"):
            await connection.execute("SELECT 'MARK'::int")
        await connection.close()
        assert "MARK" not in (postgres.folder / "log").read_text()
    finally:
        await postgres.stop()


def test_a_log_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write_suite([row("one")])
    world.write_run({"m": {"model": "replay/gold"}})
    done = world.inline("run", "run.yaml", "--log-file", "no/such/folder/log")
    assert done.returncode == 2
    assert "--log-file: no/such/folder/log cannot be written: No such file or directory" in done.stderr
