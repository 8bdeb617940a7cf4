"""Built-in suites leave the image as the files that a run's preflight reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsgym_api.tasks.task import Task
from opsgym_core.planning.held_out import ENV_SEED, variant_of_seed
from opsgym_domains import registry, suites
from opsgym_domains.suite_rows import load_suite


@pytest.mark.parametrize("name", registry.suites())
def test_an_exported_suite_is_the_built_in_one(name: str, tmp_path: Path) -> None:
    assert suites.main(["export", name, str(tmp_path / "suite")]) == 0
    lines = (tmp_path / "suite" / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    assert tuple(Task.model_validate(json.loads(line)) for line in lines) == load_suite(name)
    # Whatever a row needs is in it or in the image: there are no seed files to hand over.
    assert sorted(path.name for path in (tmp_path / "suite").iterdir()) == ["edition", "tasks.jsonl"]
    assert all(
        gym.seed_database_file is None or gym.seed_database_file.startswith("builtin:")
        for task in load_suite(name)
        for gym in task.gym_servers_config
    )


def test_a_variant_is_exported_with_its_seed(tmp_path: Path) -> None:
    assert suites.main(["export", "csm-core", str(tmp_path), "--variant", "7"]) == 0
    lines = (tmp_path / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    tasks = tuple(Task.model_validate(json.loads(line)) for line in lines)
    assert tasks == load_suite("csm-core", 7)
    assert {gym.seed_database_file for task in tasks for gym in task.gym_servers_config} == {
        "builtin:desk@7",
        "builtin:charging@7",
    }


def test_a_held_out_suite_is_exported_in_the_variant_of_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", "quickstart", str(tmp_path), "--held-out"]
    assert suites.main(command) == suites.EXIT_UNKNOWN
    assert "OPSGYM_HELD_OUT_SEED is not set" in capsys.readouterr().err
    monkeypatch.setenv(ENV_SEED, "a secret of thirty-two characters")
    assert suites.main(command) == 0
    lines = (tmp_path / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    number = variant_of_seed("a secret of thirty-two characters")
    assert tuple(Task.model_validate(json.loads(line)) for line in lines) == load_suite("quickstart", number)


@pytest.mark.parametrize("number", ["-1", "10000", "9223372036854775807"])
def test_the_variant_of_a_held_out_suite_cannot_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    with pytest.raises(SystemExit):
        suites.main(["export", "quickstart", str(tmp_path), f"--variant={number}"])
    assert "is not a number from 0 to 9999; larger ones are of held-out suites" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert suites.main(["list"]) == 0
    assert capsys.readouterr().out.split() == registry.suites()


def test_an_unknown_suite_is_refused_with_the_known_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert suites.main(["export", "quickstrat", str(tmp_path / "suite")]) == suites.EXIT_UNKNOWN
    err = capsys.readouterr().err
    assert "'quickstrat'" in err
    assert "quickstart" in err
    assert not (tmp_path / "suite").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "suite").write_text("a file", encoding="utf-8")
    assert suites.main(["export", "quickstart", str(tmp_path / "suite")]) == suites.EXIT_CANNOT
    assert f"{tmp_path / 'suite'}: cannot be written" in capsys.readouterr().err
