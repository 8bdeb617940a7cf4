"""Held-out suites as a user runs them: scored with the secret seed, and stored nowhere in clear."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.cli.pages import read_report
from tests.cli.world import World

from opsgym_api.kinds.variants import LAST_PUBLIC
from opsgym_api.records.attempt import TrialRecord
from opsgym_core.planning.held_out import ENV_SEED, variant_of_seed
from opsgym_domains.suite_rows import load_suite, suite_rows

SEED = "a secret of the people who run the leaderboard"
SECRET = {ENV_SEED: SEED}
SUITE = "quickstart"
shares_a_run = pytest.mark.xdist_group("held-out run")
pytestmark = shares_a_run


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, desk_url: dict[str, str]) -> World:
    """A finished run of two tasks of a held-out suite, one of which an agent that does nothing fails."""
    world = World(tmp_path_factory.mktemp("held-out"), desk_url)
    suite = {"builtin": SUITE, "heldOut": True, "ids": ids()}
    world.write_run({"gold": {"model": "replay/gold"}, "noop": {"model": "replay/noop"}}, suite=suite)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opsgym.local.record.COMPACT_FROM", 1)
        done = world.inline("run", "run.yaml", **SECRET)
    assert done.returncode == 0, done.stderr
    assert list((world.folder / "results").rglob("chunks/*.json.gz"))
    return world


def ids() -> list[str]:
    """The first two tasks that can be done."""
    return [task.task_id for task in load_suite(SUITE) if task.feasible][:2]


def held_out_rows() -> list[dict[str, Any]]:
    return [row for row in suite_rows(SUITE, variant_of_seed(SEED)) if row["task_id"] in ids()]


def contents(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file's text, also of what is compressed or in base64."""
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            if file.name.endswith(".gz"):
                content = gzip.decompress(content)
            elif file.name.endswith(".zst") and content[:4] == b"\x28\xb5\x2f\xfd":
                content = zstandard.decompress(content, max_output_size=1 << 28)
            yield file, content.decode("utf-8", "replace")


def held_out_texts() -> set[str]:
    """What only the held-out rows say: the variant's number, the prompts and the acting users."""
    prompts = {row["user_prompt"][:40] for row in held_out_rows()}
    users = {gym["user_info"]["name"] for row in held_out_rows() for gym in row["gym_servers_config"]}
    return {str(variant_of_seed(SEED)), *prompts, *users}


def test_the_variant_of_a_seed_is_none_that_a_spec_can_name_and_differs_by_seed() -> None:
    other = variant_of_seed(SEED + "!")
    assert variant_of_seed(SEED) > LAST_PUBLIC
    assert variant_of_seed(SEED) == variant_of_seed(SEED) != other
    assert held_out_rows() != [row for row in suite_rows(SUITE) if row["task_id"] in ids()]


def test_a_run_is_scored_and_none_of_its_files_has_a_text_of_its_tasks(world: World) -> None:
    assert [(trial.cell.model, trial.score) for trial in world.trials()] == [*[("gold", 1)] * 2, *[("noop", 0)] * 2]
    texts = held_out_texts()
    leaked = [
        (file.name, text) for file, content in contents(world.folder / "results") for text in texts if text in content
    ]
    assert leaked == []
    # The same texts are in the files of a run that is not sealed, so the search would find them.
    variant = {"builtin": SUITE, "variant": 7, "ids": ids()}
    plain = World(world.folder / "plain", world.gyms)
    plain.folder.mkdir()
    plain.write_run({"gold": {"model": "replay/gold"}}, suite=variant)
    assert plain.inline("run", "run.yaml").returncode == 0
    (task, *_) = [task for task in load_suite(SUITE, 7) if task.task_id in ids()]
    assert any(task.user_prompt[:40] in content for _file, content in contents(plain.folder / "results"))


def test_scores_are_read_without_the_seed_and_the_suite_is_named(world: World) -> None:
    table = world.inline("results", "demo", "--format", "json")
    assert table.returncode == 0, table.stderr
    assert {row["success_rate"] for row in json.loads(table.stdout)["rows"]} == {0.0, 1.0}
    report = world.inline("report", "demo", "--out", "report", **SECRET)
    assert report.returncode == 0, report.stderr
    page = read_report(world.folder / "report")
    assert page.page.run.suite == f"{SUITE}@next, held out"
    details = [page.detail(row) for row in range(4)]
    assert all(not detail.transcript and not detail.texts for detail in details)
    texts = held_out_texts()
    shown = [page.page.model_dump_json(), *(detail.model_dump_json() for detail in details)]
    assert not [text for content in shown for text in texts if text in content]


def test_the_seed_opens_the_run_to_verify_it_again_and_what_that_writes_is_sealed(world: World) -> None:
    without = world.inline("rescore", "demo")
    assert without.returncode != 0
    assert f"set {ENV_SEED} to read its tasks and transcripts" in without.stderr
    again = world.inline("rescore", "demo", **SECRET)
    assert again.returncode == 0, again.stderr
    texts = held_out_texts()
    assert not [text for _file, content in contents(world.folder / "results") for text in texts if text in content]


@pytest.mark.parametrize(
    "command",
    [
        ("failures", "demo"),
        ("export", "demo", "--format", "eops", "--out", "out"),
        ("run", "--from", "demo", "--trial", "a/0"),
    ],
)
def test_a_command_that_needs_texts_is_refused_without_the_seed(world: World, command: tuple[str, ...]) -> None:
    done = world.inline(*command)
    assert done.returncode == 2
    assert f"has a held-out suite; set {ENV_SEED} to read its tasks and transcripts" in done.stderr


def test_a_record_has_no_text_in_clear_and_all_of_it_sealed(world: World) -> None:
    files = [file for file in (world.folder / "results").rglob("0.json") if "attempts" not in file.parts]
    assert all(len(base64.b64decode(json.loads(file.read_text())["sealed"])) > 500 for file in files)
    records = [TrialRecord.from_json(file.read_bytes()) for file in files]
    record = next(trial for trial in records if trial.score)
    assert (record.answer, record.state_differences, record.database_times, record.variant) == ("", {}, {}, 0)
    assert record.verifiers
    assert all((check.query, check.expected, check.actual) == (None, None, None) for check in record.verifiers)


@pytest.mark.parametrize(
    ("seed", "problem"),
    [(None, f"{ENV_SEED} is not set"), ("too short", f"{ENV_SEED} is too short")],
)
def test_a_run_without_a_usable_seed_is_refused_with_how_to_make_one(
    world: World, tmp_path: Path, seed: str | None, problem: str
) -> None:
    other = World(tmp_path, world.gyms)
    other.write_run({"gold": {"model": "replay/gold"}}, suite={"builtin": SUITE, "heldOut": True})
    done = other.inline("run", "run.yaml", **({} if seed is None else {ENV_SEED: seed}))
    assert done.returncode == 2
    assert f"spec.suite.heldOut: {problem}; set it to a secret of 32 characters or more" in done.stderr
    assert "openssl rand -hex 32" in done.stderr
    assert not (tmp_path / "results").exists()


def test_another_seed_opens_nothing(world: World) -> None:
    done = world.inline("rescore", "demo", **{ENV_SEED: "another secret of thirty-two characters"})
    assert done.returncode != 0
    assert "it is sealed with another held-out seed" in done.stderr


@pytest.mark.parametrize(
    "suite", [{"path": "tasks.json", "heldOut": True}, {"builtin": SUITE, "heldOut": True, "variant": 3}]
)
def test_only_the_seed_says_which_variant_of_a_built_in_suite_is_held_out(
    tmp_path: Path, suite: dict[str, object]
) -> None:
    world = World(tmp_path)
    world.write_run({"gold": {"model": "replay/gold"}}, suite=suite)
    done = world.inline("run", "run.yaml", **SECRET)
    assert done.returncode == 2
    assert "heldOut goes with builtin and without variant" in done.stderr


def test_the_seed_of_the_test_is_not_in_the_environment() -> None:
    assert ENV_SEED not in os.environ
