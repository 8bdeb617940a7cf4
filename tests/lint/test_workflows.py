"""Workflows call what a developer calls: `.ci/run` and targets of the Makefile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.workflows import main

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}


def commands(workflow: dict[str, Any]) -> list[str]:
    """Commands of all jobs, with every value of a matrix."""
    lines_of_all = []
    for job in workflow["jobs"].values():
        values = job.get("strategy", {}).get("matrix", {}).get("target", [""])
        lines = [step["run"] for step in job["steps"] if "run" in step]
        lines_of_all += [line.replace("${{ matrix.target }}", value) for line in lines for value in values]
    return lines_of_all


def test_a_change_must_pass_what_developers_run() -> None:
    assert commands(WORKFLOWS["ci"]) == ["sudo .ci/run"]
    assert WORKFLOWS["ci"]["jobs"]["test"]["timeout-minutes"] == 90


def test_every_night_runs_targets_of_the_makefile() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    nightly = commands(WORKFLOWS["nightly"])
    assert nightly == ["sudo make soak", "sudo make mutants", "sudo make flaky"]
    assert {command.split()[-1] for command in nightly} <= set(targets)


def test_a_tag_becomes_a_release() -> None:
    assert WORKFLOWS["release"][True] == {"push": {"tags": ["v*"]}}, "YAML reads the key `on` as true"
    build, publish = commands(WORKFLOWS["release"])
    assert build.startswith('sudo --preserve-env make release VERSION="${GITHUB_REF_NAME#v}" PUBLISH=')
    assert publish.startswith("gh release create")


def test_a_wrong_workflow_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    (tmp_path / "ci.yml").write_text(text.replace("github.ref", "github.reff"))
    assert main(tmp_path) == 1
    assert 'property "reff" is not defined' in capfd.readouterr().out
