"""Runs the steps of the GitHub Actions example as a GitHub runner does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from opsgym_core.planning.documents import load_documents

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "github-actions"
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""The command line that GitHub uses for `shell: bash`."""
EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}")


def workflow() -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load((EXAMPLE / "gate.yml").read_text())
    return document


@dataclass
class Runner:
    """Runs the `run` steps of a job in a folder; steps that use an action are skipped."""

    folder: Path
    outputs: dict[str, str] = field(default_factory=dict)
    """Values that steps wrote to GITHUB_OUTPUT, by the expression that reads them."""
    summary: str = ""

    def run(self) -> tuple[list[str], int]:
        """Names of the steps run up to the first failure, and the exit code of the last one."""
        job, ran, code = workflow()["jobs"]["gate"], [], 0
        for step in job["steps"]:
            if "run" not in step:
                continue
            env = {name: self._value(str(value)) for name, value in {**job["env"], **step.get("env", {})}.items()}
            ran.append(step["name"])
            code = self._step(step, env)
            if code != 0:
                break
        return ran, code

    def _value(self, text: str) -> str:
        known = {"secrets.OPENAI_API_KEY": "", **self.outputs}
        return EXPRESSION.sub(lambda match: known[match[1]], text)

    def _step(self, step: Mapping[str, Any], env: Mapping[str, str]) -> int:
        assert not EXPRESSION.search(step["run"]), "an expression in a script allows injection through a branch name"
        output, summary = self.folder / "output", self.folder / "summary"
        output.write_text("")
        summary.touch()
        # `uv pip install` is satisfied by this environment; offline, it fails for any other package.
        tools = {"VIRTUAL_ENV": str(ROOT / ".venv"), "UV_OFFLINE": "1"}
        env = {**env, "OPSGYM": "opsgym"}  # what is installed here already; the workflow names a checkout
        path = os.pathsep.join([str(ROOT / ".venv" / "bin"), str(ROOT / ".tools" / "uv" / "bin"), os.environ["PATH"]])
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        done = subprocess.run(
            [*SHELL, "-c", step["run"]],
            cwd=self.folder,
            env={**os.environ, **tools, **files, **env, "PATH": path},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        print(step["name"], done.returncode, done.stdout, done.stderr)
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[f"steps.{step['id']}.outputs.{name}"] = value
        self.summary = summary.read_text()
        return done.returncode


@pytest.fixture
def uv() -> None:
    if not (ROOT / ".tools" / "uv" / "bin" / "uv").exists() and shutil.which("uv") is None:
        pytest.skip("uv is not installed")


def evaluate(folder: Path, model: str) -> None:
    """Writes the example's evaluation about five tasks, with a model that needs no key."""
    document = yaml.safe_load((EXAMPLE / "evaluation.yaml").read_text())
    document["spec"]["models"][0]["inline"] = {"model": model}
    document["spec"]["suite"] |= {"limit": 5}
    (folder / "evaluation.yaml").write_text(yaml.safe_dump(document))


@pytest.mark.timeout(900)  # two whole runs, and each command is a process
def test_a_pull_request_is_gated_against_the_main_branch(tmp_path: Path, uv: None) -> None:
    evaluate(tmp_path, "replay/gold")
    main = Runner(tmp_path)
    assert main.run() == (["Install", "Evaluate", "Report", "Decide"], 0)
    assert main.outputs["steps.evaluate.outputs.code"] == "0"
    assert (tmp_path / "report" / "index.html").is_file()
    assert "gate: GO" in main.summary
    assert "no earlier run is good" in main.summary

    evaluate(tmp_path, "replay/noop")
    pull_request = Runner(tmp_path)
    assert pull_request.run() == (["Install", "Evaluate", "Report", "Decide"], 3)
    assert "gate: NO-GO" in pull_request.summary
    good = main.outputs["steps.evaluate.outputs.run"]
    assert f"against {good}; a drop of 20.0 points is allowed" in pull_request.summary


def test_an_evaluation_that_cannot_start_fails_the_job_at_once(tmp_path: Path, uv: None) -> None:
    (tmp_path / "evaluation.yaml").write_text("kind: EvalRun\n")
    assert Runner(tmp_path).run() == (["Install", "Evaluate"], 2)


@pytest.mark.parametrize(("code", "ends"), [("0", 0), ("1", 1), ("3", 3), ("4", 0), ("70", 70)])
def test_the_exit_code_of_the_job_follows_the_gate(code: str, ends: int) -> None:
    decide = workflow()["jobs"]["gate"]["steps"][-1]
    done = subprocess.run(
        [*SHELL, "-c", decide["run"]], env={**os.environ, "CODE": code}, capture_output=True, text=True, check=False
    )
    assert done.returncode == ends
    assert done.stdout.startswith("::warning") == (code == "4")


def test_the_workflow_has_minimal_permissions_and_pins_versions_of_actions() -> None:
    document = workflow()
    assert document["permissions"] == {"contents": "read"}
    assert sorted(document[True]) == ["pull_request", "push"], "YAML reads `on` as true"
    steps = document["jobs"]["gate"]["steps"]
    assert all(re.fullmatch(r"[a-z-]+/[a-z-]+(/[a-z]+)?@v\d+", step["uses"]) for step in steps if "uses" in step)
    assert all("run" in step or "uses" in step for step in steps)
    (cache_step,) = [step for step in steps if step.get("uses", "").startswith("actions/cache/save")]
    assert cache_step["if"] == "github.ref == 'refs/heads/main' && steps.evaluate.outputs.code == '0'"


def test_the_evaluation_of_the_example_is_valid() -> None:
    spec = load_documents(EXAMPLE / "evaluation.yaml").run.spec
    assert spec.budget is not None
    assert spec.gate is not None
    assert spec.gate.last_good
