"""What the program prints as the next command works as printed, and a dry run only shows what would run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.cli.world import World, row

from opsgym.main import invoke
from opsgym.program import program
from opsgym_core.common.extras import install_command

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_program_outside_of_the_path_is_named_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / ".venv" / "bin" / "opsgym"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(binary), "run"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == ".venv/bin/opsgym"
    monkeypatch.setenv("PATH", str(binary.parent))
    assert program() == "opsgym"


@pytest.mark.parametrize(
    ("distribution", "extra", "name"), [("opsgym", "data", "pyarrow"), ("opsgym-console", "inspect", "inspect-ai")]
)
def test_extras_are_installed_by_the_distributions_that_they_need(distribution: str, extra: str, name: str) -> None:
    command = install_command(distribution, extra)
    assert command.split("'")[1].startswith(name)
    assert sys.executable in command
    assert "opsgym[" not in command
    installer = command.split()[0]
    assert installer in {"uv", sys.executable} or Path(installer).is_file()


def test_a_dry_run_prints_cells_and_trials_and_writes_nothing(world: World) -> None:
    world.write_suite([row("a"), row("b")])
    world.write_run({"gold": {"model": "replay/gold"}}, trials=3, budget={"maxUsd": 5})
    done = world.inline("run", "run.yaml", "--dry-run")
    assert done.returncode == 0, done.stderr
    cells, total = done.stdout.splitlines()
    assert cells.endswith(": 6 of 6 trials")
    assert total.endswith("6 of 6 trials would run, at most 300 steps, with a budget of $5.00")
    assert not (world.folder / "results").exists()
    shown = json.loads(world.inline("run", "run.yaml", "--dry-run", "--format", "json").stdout)
    assert (shown["to_run"], shown["budget_usd"], len(shown["cells"])) == (6, 5.0, 1)


def test_a_dry_run_counts_only_trials_without_a_score(world: World) -> None:
    world.write_suite([row("a")])
    world.write_run({"gold": {"model": "replay/gold"}})
    assert world.inline("run", "run.yaml").returncode == 0
    done = world.inline("run", "run.yaml", "--dry-run")
    assert "0 of 1 trials would run" in done.stdout


def test_a_dry_run_expects_the_cost_of_the_last_run_for_every_trial(world: World) -> None:
    world.write_suite([row("a"), row("b")])
    model = {"model": "replay/tape.jsonl", "prices": {"inputUsd": 1000, "outputUsd": 1000}}
    (world.folder / "tape.jsonl").write_text('{"task_id": "a", "answer": "no"}\n{"task_id": "b", "answer": "no"}\n')
    world.write_run({"taped": model})
    assert "expected" not in world.inline("run", "run.yaml", "--dry-run").stdout
    assert world.inline("run", "run.yaml").returncode == 0
    spent = sum(trial.cost_usd or 0 for trial in world.trials())
    assert spent > 0
    world.write_run({"taped": model}, trials=3)
    done = world.inline("run", "run.yaml", "--dry-run", "--format", "json")
    assert json.loads(done.stdout)["expected_usd"] == pytest.approx(3 * spent)
    shown = world.inline("run", "run.yaml", "--dry-run").stdout.splitlines()[-1]
    assert shown.startswith("expected: about $")
    assert shown.endswith(f"by the cost per trial of run {world.run}")


def test_a_dry_run_misses_a_baseline_as_the_run_would(world: World) -> None:
    world.write_suite([row("a")])
    world.write_run({"gold": {"model": "replay/gold"}}, gate={"baseline": "last-week", "maxRegression": 0.1})
    for done in (world.inline("run", "run.yaml", "--dry-run"), world.inline("run", "run.yaml")):
        assert done.returncode == 2
        assert "results: holds no run 'last-week'" in done.stderr


def test_help_lists_every_command_in_a_section_and_the_domains(capsys: pytest.CaptureFixture[str]) -> None:
    from opsgym.command_line.group import SECTIONS, cli

    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(cli.commands)
    assert invoke(["gym", "explore", "--help"]) == 0
    assert "calendar, csm, drive, email, hr, itsm, teams" in capsys.readouterr().out


def test_a_port_in_use_is_named_once_before_postgres_starts(world: World) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "opsgym.main", "gym", "explore", "itsm", "--port", port],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=world.folder,
            env=dict(os.environ),
        )
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1] == (
        f"cannot serve itsm: the address 127.0.0.1:{port} is in use; choose another --port or --host"
    )
    assert len(done.stderr.splitlines()) == 1


DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
COMMAND = re.compile(r"^\s*(?:\$ )?(?:\.venv/bin/)?(?:kubectl )?opsgym (?P<arguments>[a-z].*)$", re.MULTILINE)


def commands_of(document: Path) -> Iterator[list[str]]:
    """Arguments of each command line of the program in the code blocks of a document."""
    for block in re.findall(r"^```[a-z]*\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for match in COMMAND.finditer(block.replace("\\\n", " ")):
            yield shlex.split(match["arguments"], comments=True)


def unknown_parts(arguments: list[str]) -> list[str]:
    """Names of subcommands and options in a command line that the program does not know."""
    from opsgym.command_line.group import cli

    command: click.Command = cli
    words = list(arguments)
    while isinstance(command, click.Group) and words[:1] != ["--help"]:
        if words and words[0] not in command.commands and "show" in command.commands:
            words = ["show", *words]  # the command that may be left out
        if words[:1] == [] or words[0] not in command.commands:
            return words[:1]
        command, words = command.commands[words[0]], words[1:]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    given = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [option for option in given if option not in {*options, "--help"}]


def test_command_lines_in_the_documents_name_commands_and_options_that_exist() -> None:
    lines = [(document.name, arguments) for document in DOCUMENTS for arguments in commands_of(document)]
    assert len(lines) > 50
    assert [(name, " ".join(arguments)) for name, arguments in lines if unknown_parts(arguments)] == []
