"""`opsgym serve` as a process: who may be let in, how it starts and how it ends."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import psutil
import pytest
from tests.cli.world import HeldModel, World, row, until
from tests.console.harness import Running, client, command

from opsgym_core.store.local import LocalStore

TOKEN = "correct-horse-battery-staple"
CONFIG = '{"stores": [{"name": "a", "url": "s3://a"}], "defaultStore": "a"}'
CPU_SECONDS = 1.5
RSS_BYTES = 150_000_000


def test_it_prints_its_address_and_ctrl_c_ends_it_at_once_with_open_streams(store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a")
    with command("--store", str(store.root)) as serve, client(serve.url) as console:
        assert console.get("/api/runs").json()["runs"][0]["run"] == run.run
        with console.stream("GET", f"/api/runs/{run.run}/events") as stream:
            assert next(line for line in stream.iter_lines() if line.startswith("data: "))
            began = time.monotonic()
            assert serve.interrupt() == 0
            assert time.monotonic() - began < 5
        assert serve.log() == ""


def test_it_starts_quickly_and_takes_little_memory(store: LocalStore) -> None:
    Running.begin(store, "demo.1", "a").end("a")
    with command("--store", str(store.root)) as serve, client(serve.url) as console:
        process = psutil.Process(serve.process.pid)
        spent = process.cpu_times()
        console.get("/api/runs").raise_for_status()
        console.get("/api/runs/demo.1/page").raise_for_status()
        # A machine on which much else runs takes up to twice as long for the same.
        assert spent.user + spent.system < CPU_SECONDS * (2 if os.getloadavg()[0] > (os.cpu_count() or 1) else 1)
        assert process.memory_info().rss < RSS_BYTES


def test_it_does_not_import_model_clients(store: LocalStore) -> None:
    Running.begin(store, "demo.1", "a").end("a")
    with command("--store", str(store.root), PYTHONVERBOSE="1") as serve, client(serve.url) as console:
        console.get("/api/runs").raise_for_status()
        console.get("/api/runs/demo.1/page").raise_for_status()
        console.get("/api/runs/demo.1/trials/gpt_react_oracle_itsm/a/0").raise_for_status()
        serve.interrupt()
        imported = serve.log()
    assert "import 'starlette'" in imported
    for heavy in ("litellm", "kopf", "sqlalchemy", "mcp"):
        assert f"import '{heavy}'" not in imported


def test_the_token_is_in_no_log(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    arguments = ("--store", str(store.root), "--host", "0.0.0.0", "--token-file", str(tmp_path / "token"))
    with command(*arguments, OPSGYM_LOG_LEVEL="DEBUG") as serve, client(serve.url) as console:
        assert console.get("/api/runs").status_code == 401
        assert console.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert console.post("/sign-in", data={"token": TOKEN}).status_code == 303
        serve.interrupt()
        assert serve.process.stdout is not None
        assert TOKEN not in serve.process.stdout.read() + serve.log()


def test_the_token_can_be_in_a_variable(store: LocalStore) -> None:
    with command("--store", str(store.root), OPSGYM_CONSOLE_TOKEN=TOKEN) as serve, client(serve.url) as console:
        assert console.get("/api/runs").status_code == 401
        assert console.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"}).json() == {
            "runs": [], "counting": 0, "stores": [str(store.root)], "problems": [],
        }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "--host: other machines can reach 0.0.0.0, and nothing would require them to sign in"),
        (["--host", "::"], "--host: other machines can reach ::"),
        (["--trusted-proxies", "10.0.0.0/8"], "--trusted-proxies: requires --trust-header"),
        (["--trust-header", "X-User"], "--trusted-proxies: required with --trust-header: addresses"),
        (["--trust-header", "X-User", "--trusted-proxies", "all"], "--trusted-proxies: 'all' does not appear to be"),
        (["--token-file", "missing"], "missing: --token-file: cannot be read"),
        (["--token-file", "short"], "short: token: needs at least 16 letters"),
        (["--store", "gs://bucket"], "unknown kind of store gs://"),
        (["--store", "short"], "is a file; give a folder"),
        (["--config", "missing"], "missing: --config: cannot be read"),
        (["--config", "config"], "--config: works only in a cluster, or with a kubeconfig: [Errno 2]"),
        (["--config", "short"], "stores (line 1): is required"),
        (["--host", "x.invalid", "--trust-header", "X", "--trusted-proxies", "::1"], "cannot listen on x.invalid:8080"),
    ],
)  # fmt: skip
def test_invalid_options_are_refused_by_name(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "short").write_text("defaultStore: x\n")
    (tmp_path / "config").write_text(CONFIG)
    done = World(tmp_path).inline("serve", *arguments, KUBECONFIG=str(tmp_path / "none"))
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_yet_is_named(tmp_path: Path) -> None:
    with command("--store", str(tmp_path / "nowhere")) as serve, client(serve.url) as console:
        assert console.get("/api/runs").json()["runs"] == []
        until(
            lambda: "nowhere does not exist yet: runs are shown when one is written there" in serve.log(), "it says so"
        )


def test_a_taken_port_is_reported(store: LocalStore, tmp_path: Path) -> None:
    with command("--store", str(store.root)) as serve:
        port = serve.url.rpartition(":")[2]
        done = World(tmp_path).inline("serve", "--port", port)
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr


def test_help_has_examples(tmp_path: Path) -> None:
    output = World(tmp_path).inline("serve", "--help").stdout
    for word in ("--token-file", "--trust-header", "oauth2-proxy", "s3://evals/opsgym", "/api/runs"):
        assert word in output


def test_a_run_in_another_terminal_is_shown_while_it_runs(tmp_path: Path) -> None:
    """The real runner writes, the real console reads."""
    world = World(tmp_path)
    world.write_suite([row("first"), row("second")])
    with HeldModel.serving() as model:
        world.write_run({"m": {"model": "openai/x", "endpoints": [{"url": model.url}], "allowUnpriced": True}})
        model.hold(after=1)
        started = world.started("run", "run.yaml", OPENAI_API_KEY="x")
        with started as process, command("--store", str(tmp_path / "results")) as serve, client(serve.url) as console:
            until(lambda: len(model.prompts) == 2, "the second trial is under way", process)
            page = f"/api/runs/{world.run}/page"
            until(lambda: console.get(page).json()["total"]["passed"] == 1, "the first trial is shown", process)
            shown = console.get(page).json()["run"]
            assert (shown["live"], shown["message"]) == (True, "1 trial running")
            with console.stream("GET", f"/api/runs/{world.run}/events") as stream:
                lines = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: "))
                assert next(lines)["total"]["passed"] == 1
                model.release()
                last = next(page for page in lines if page["total"]["passed"] == 2)
            assert last["run"]["live"] is False
