"""What a command prints ends it on no stream: ASCII, Latin-1, closed, or one that a text from outside would drive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.runs import CELL, put_attempt, put_run, put_trial, verifier
from tests.cli.world import World, row

from opsgym.exits import Exit
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell
from opsgym_core.store.local import LocalStore

HOSTILE = "refused\x1b[2J\x1b]0;owned\x07\n[1/1] passed  forged\x9b31m"
READERS = [
    ("results", "new"),
    ("results", "new", "--by", "trial"),
    ("results", "new", "--by", "trial", "--format", "csv"),
    ("results",),
    ("results", "new", "--by", "verifier"),
    ("leaderboard", "new"),
    ("items", "new"),
    ("compare", "old", "new"),
    ("report", "new", "--out", "report"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of two runs whose records hold a text that drives terminals."""
    folder = tmp_path_factory.mktemp("streams")
    store = LocalStore(str(folder / "results"))
    for run, created in (("old.1", "2026-01-01"), ("new.1", "2026-01-02")):
        put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a", "b"])], trials=1, created_at=f"{created}T00:00:00Z")
        failed = verifier(passed=False, actual=HOSTILE, name=HOSTILE)
        put_trial(store, run, "a", Outcome.FAILED, answer=HOSTILE, verifiers=[failed])
        put_attempt(store, run, "b", Outcome.INFRA_ERROR, reason="model_unavailable", message=HOSTILE)
    return folder


def printed(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "opsgym.main", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, check=False)


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_no_command_prints_a_control_character_or_a_line_from_outside(folder: Path, command: tuple[str, ...]) -> None:
    done = printed(folder, *command, PYTHONIOENCODING="utf-8")
    assert done.returncode == Exit.OK, done.stderr
    for text in (done.stdout.decode(), done.stderr.decode()):
        plain = text.replace("\r\n", "\n")
        assert [one for one in plain if (ord(one) < 32 and one not in "\t\n") or 127 <= ord(one) < 160] == []
        assert "[1/1] passed  forged" not in [line.strip()[:20] for line in plain.split("\n")]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize(
    "command", [("results", "new"), ("leaderboard", "new"), ("compare", "old", "new")], ids=" ".join
)
def test_a_stream_that_cannot_show_every_character_ends_no_command(
    folder: Path, command: tuple[str, ...], encoding: str
) -> None:
    done = printed(folder, *command, PYTHONIOENCODING=encoding)
    assert done.returncode == Exit.OK, done.stderr
    assert b"Traceback" not in done.stderr


def test_a_run_on_a_narrow_stream_ends_with_its_own_exit_code(tmp_path: Path, desk_url: dict[str, str]) -> None:
    world = World(tmp_path, desk_url)
    world.write_suite([row("one")])
    world.write_run({"gold": {"model": "replay/gold"}})
    done = world.opsgym("run", "run.yaml", PYTHONIOENCODING="ascii")
    assert done.returncode == Exit.OK, done.stderr


def test_closed_streams_end_no_command(folder: Path) -> None:
    command = f"{sys.executable} -m opsgym.main results new >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], cwd=folder, timeout=300, check=False).returncode == Exit.OK
