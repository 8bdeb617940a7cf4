"""What an installation has and lacks: `opsgym list`, `version`, `doctor`, and an EvalRun by `init` that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.world import World

from opsgym.exits import Exit
from opsgym_domains import registry
from opsgym_domains.suite_rows import load_suite


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_every_suite_is_listed_with_its_edition_and_tasks(world: World) -> None:
    suites = {one["suite"]: one for one in json.loads(world.inline("list", "suites", "--format", "json").stdout)}
    assert list(suites) == registry.suites()
    assert suites["quickstart"]["tasks"] == len(load_suite("quickstart"))
    assert suites["quickstart"]["edition"] == "next"
    shown = json.loads(world.inline("version", "--format", "json").stdout)["suites"]
    assert shown == {name: {"edition": one["edition"], "digest": one["digest"]} for name, one in suites.items()}
    assert f"suite quickstart@next {suites['quickstart']['digest']}" in world.inline("version").stdout.splitlines()


def test_domains_are_listed_with_their_tools_and_tables(world: World) -> None:
    (itsm,) = json.loads(world.inline("list", "domains", "itsm", "--format", "json").stdout)
    assert (itsm["tools"], itsm["tables"]) == (93, 24)


def test_a_word_chooses_lines_in_any_case(world: World) -> None:
    lines = world.inline("list", "tools", "FREEBUSY").stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["calendar", "query_freebusy"]]
    assert world.inline("list", "tools", "nowhere").stderr == "no tools with 'nowhere'\n"


def test_models_are_listed_with_their_prices(world: World) -> None:
    models = {
        one["model"]: one for one in json.loads(world.inline("list", "models", "gpt-5", "--format", "json").stdout)
    }
    assert models["gpt-5"]["input"] > 0
    assert all("gpt-5" in name for name in models)


def test_an_empty_store_has_no_runs(world: World) -> None:
    (world.folder / "results").mkdir()
    assert world.inline("list", "runs").stdout.strip() == "results has no runs"


@pytest.mark.parametrize(
    "options",
    [
        ("--model", "replay/gold"),
        ("--model", "openai/Qwen3 8B", "--url", "http://127.0.0.1:9/v1", "--suite", "itsm-core"),
        ("--model", "openai/gpt-5-mini", "--key", "MY_KEY"),
    ],
    ids=" ".join,
)
def test_what_init_writes_would_run(world: World, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-1")
    done = world.inline("init", *options)
    assert done.returncode == Exit.OK, done.stderr
    dry = world.inline("run", "evalrun.yaml", "--dry-run")
    assert dry.returncode == Exit.OK, dry.stderr
    assert "trials would run" in dry.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name a model: --model openai/gpt-5-mini"),
        (("--model", "replay/gold", "--suite", "itms-core"), "unknown suite 'itms-core'; known: calendar-core"),
        (("--model", "replay/gold", "--out", "taken.yaml"), "taken.yaml: exists; give another name with --out"),
        (("--model", "replay/gold", "--out", "no/such.yaml"), "no/such.yaml: cannot be written: No such file"),
        (("--model", "openai/x", "--key", "my key"), "credentials.env"),
    ],
)
def test_what_init_cannot_write_is_named(world: World, options: tuple[str, ...], message: str) -> None:
    (world.folder / "taken.yaml").write_text("mine")
    done = world.inline("init", *options)
    assert done.returncode == Exit.BAD_INPUT
    assert message in done.stderr
    assert (world.folder / "taken.yaml").read_text() == "mine"
    assert not (world.folder / "evalrun.yaml").exists()


def test_doctor_finds_nothing_to_correct_here_and_prints_no_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    done = world.inline("doctor")
    assert done.returncode == Exit.OK, done.stdout
    assert "OPENAI_API_KEY" in done.stdout
    assert "sk-secret" not in done.stdout + done.stderr
    assert not (world.folder / "results").exists()


def test_doctor_names_what_must_be_corrected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSGYM_POSTGRES_BIN", "/nowhere")
    (world.folder / "bad.yaml").write_text("kind: EvalRun")
    done = world.inline("doctor", "bad.yaml", "--store", "s3://")
    assert done.returncode == Exit.BAD_INPUT
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if "FAILED" in line}
    assert set(lines) == {"postgres", "store", "bad.yaml"}
    assert "OPSGYM_POSTGRES_BIN" in done.stdout
