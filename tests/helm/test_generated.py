"""Files of the charts that are written from others are current, and a stale one is named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helm.charts import ROOT


def _charts(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.charts", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "crds").mkdir()
    for path in (ROOT / "crds").glob("*.yaml"):
        shutil.copy(path, tmp_path / "crds")
    shutil.copytree(ROOT / "helm", tmp_path / "helm")
    (tmp_path / "tools").mkdir()
    for module in ("charts.py", "generated.py"):
        shutil.copy(ROOT / "tools" / module, tmp_path / "tools")
    return tmp_path


def test_generated_files_are_current() -> None:
    done = _charts(ROOT, "--check")
    assert done.returncode == 0, done.stderr


def test_a_stale_file_is_named_and_written_anew(copy: Path) -> None:
    definition = copy / "crds" / "evalruns.opsgym.dev.yaml"
    definition.write_text(definition.read_text().replace("EvalRunList", "RunList"))
    (copy / "helm/opsgym-crds/definitions/gone.opsgym.dev.yaml").write_text("kind: Gone\n")
    values = copy / "helm/opsgym/values.yaml"
    values.write_text(values.read_text().replace("databaseMegabytes: 384", "databaseMegabytes: 300"))
    done = _charts(copy, "--check")
    assert done.returncode == 1
    assert set(done.stderr.splitlines()) == {
        "helm/opsgym-crds/definitions/evalruns.opsgym.dev.yaml is not current; run `make generate`",
        "helm/opsgym-crds/definitions/gone.opsgym.dev.yaml is not current; run `make generate`",
        "helm/opsgym/README.md is not current; run `make generate`",
    }
    assert _charts(copy).returncode == 0
    assert _charts(copy, "--check").returncode == 0
    assert "`300`" in (copy / "helm/opsgym/README.md").read_text()
