"""The layer contracts of pyproject.toml refuse a planted violation, so that `make lint` proves what it claims."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = ("crds", "core", "operator", "agent_runner", "domain_images", "suites", "console", "cli")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the packages and of the contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for member in MEMBERS:
        for package in (ROOT / member).glob("opsgym*"):
            if package.is_dir():
                code = shutil.ignore_patterns("__pycache__", "*.zst", "*.js", "*.json", "*.sql")
                shutil.copytree(package, tmp_path / member / package.name, ignore=code)
    return tmp_path


def lint(checkout: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(str(checkout / member) for member in MEMBERS)
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("file", "statement", "contract"),
    [
        ("operator/opsgym_operator/plan/jobs/slots.py", "import asyncio", "Plans are pure"),
        ("core/opsgym_core/planning/cells.py", "import boto3", "Plans are pure"),
        (
            "operator/opsgym_operator/plan/jobs/slots.py",
            "import opsgym_operator.manifests.jobs",
            "Rooms of the operator",
        ),
        ("crds/opsgym_api/kinds/evalmodel.py", "import opsgym_api.records.attempt", "Rooms of the contracts"),
        ("core/opsgym_core/store/s3.py", "import opsgym_core.gates.judge", "Rooms of core"),
        ("agent_runner/opsgym_runner/models/retry.py", "import opsgym_runner.replay.server", "Rooms of the runner"),
        ("domain_images/opsgym_domains/registry.py", "import opsgym_domains.suite_rows", "Rooms of the domain servers"),
        ("suites/opsgym_suites/hr/__init__.py", "import opsgym_suites.itsm", "Rooms of authoring"),
        ("console/opsgym_console/analysis/__init__.py", "import opsgym_console.report", "Rooms of the console"),
        ("cli/opsgym/formats/__init__.py", "import opsgym.local.inputs", "Rooms of the command"),
        ("cli/opsgym/exits.py", "import opsgym_operator.config", "The command imports nothing of the operator"),
        ("console/opsgym_console/command.py", "import opsgym_domains.registry", "Imports go one way"),
        ("domain_images/opsgym_domains/kit/clock.py", "import opsgym_domains.itsm.tables", "The kits know no domain"),
        ("crds/opsgym_api/errors.py", "import opsgym_core.common.logs", "Imports go one way"),
    ],
)
def test_a_planted_import_breaks_its_contract(checkout: Path, file: str, statement: str, contract: str) -> None:
    source = checkout / file
    source.write_text(f"{source.read_text()}\n{statement}\n")
    done = lint(checkout)
    assert done.returncode != 0
    broken = [line for line in done.stdout.splitlines() if line.endswith("BROKEN")]
    assert any(line.startswith(contract) for line in broken), done.stdout
