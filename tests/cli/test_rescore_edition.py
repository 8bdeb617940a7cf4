"""`opsgym rescore --edition`: a stored run judged by the rows of another edition of its suite."""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World

from opsgym_core.results.load import load_run
from opsgym_domains import data_files
from opsgym_domains.editions import FOLDER
from opsgym_domains.suite_rows import load_suite, suite_rows
from opsgym_suites.kit.data_files import json_lines, write
from opsgym_suites.kit.editions import SuiteRows

CORRECTED, REWORDED, REMOVED = [task.task_id for task in load_suite("quickstart@next")][:3]
ANYTHING = {"verifier_type": "answer_match", "name": "ended", "validation_config": {"patterns": [""]}}


@pytest.fixture
def world(tmp_path: Path, desk_url: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> World:
    """A run of three tasks of the quickstart in which nothing was done, and an edition that was pinned after it."""
    world = World(tmp_path, desk_url)
    world.write_run({"idle": {"model": "replay/noop"}}, suite={"builtin": "quickstart", "ids": list(IDS)})
    done = world.inline("run", "run.yaml")
    assert done.returncode == 0, done.stderr
    rows = {row["task_id"]: row for row in suite_rows("quickstart@next") if row["task_id"] != REMOVED}
    rows[CORRECTED] = {**rows[CORRECTED], "verifiers": [ANYTHING]}
    rows[REWORDED] = {**rows[REWORDED], "user_prompt": "Something else."}
    pin(tmp_path / "opsgym_domains" / "itsm", rows)
    monkeypatch.setattr(data_files, "files", lambda package: tmp_path / package.replace(".", "/"))
    return world


IDS = (CORRECTED, REWORDED, REMOVED)


def pin(package: Path, rows: dict[str, dict[str, Any]]) -> None:
    """Writes an edition 2026-12 of the quickstart into a copy of the package's data."""
    shutil.copytree(str(files("opsgym_domains.itsm").joinpath("data")), package / "data")
    folder = package / "data" / FOLDER
    write(folder / "quickstart@2026-12.txt", SuiteRows(rows, {}).listing.text)
    write(folder / "quickstart@2026-12.jsonl.zst", json_lines(list(rows.values())))


def run_of(world: World) -> str:
    (name,) = (path.name for path in (world.folder / "results" / "runs").iterdir() if "rescored" not in path.name)
    return name


def test_a_run_is_judged_by_the_corrected_rows_of_an_edition(world: World) -> None:
    run = run_of(world)
    done = world.inline("rescore", run, "--edition", "2026-12")
    assert "1 of 2 trials verified again; 1 with a different outcome" in done.stdout
    assert f"left out, because the edition does not have them: {REMOVED}" in done.stderr
    problem = "the edition changes its user_prompt, so it is another task: run it again"
    assert re.search(f"not verified .*{REWORDED}/0: {problem}", done.stderr)
    shown = " ".join(done.stdout.split())
    assert "trials before (quickstart@next) after (quickstart@2026-12)" in shown
    assert re.search(r"itsm 1 0\.0 ?% 100\.0 ?%", shown), shown
    made = next(line for line in done.stdout.splitlines() if line.startswith("run ")).removeprefix("run ")
    before, after = load_run(world.store, run), load_run(world.store, made)
    assert (before.run.edition, after.run.edition) == ("next", "2026-12")
    assert [trial.task_id for trial in after.trials] == [CORRECTED]
    assert set(after.run.task_ids) == {CORRECTED, REWORDED}


def test_an_unknown_edition_is_refused_with_those_that_exist(world: World) -> None:
    done = world.inline("rescore", run_of(world), "--edition", "2027-01")
    assert done.returncode == 2
    assert "suite quickstart has no edition '2027-01'; editions in this release: 2026-12, next" in done.stderr


def test_rows_are_given_by_an_edition_or_by_a_path(world: World) -> None:
    done = world.inline("rescore", run_of(world), "--edition", "next", "--tasks", "quickstart")
    assert done.returncode == 2
    assert "choose one of --tasks and --edition" in done.stderr
