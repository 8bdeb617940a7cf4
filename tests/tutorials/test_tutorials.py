"""The tutorials, done literally in a new folder by the real command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.tutorials.pages import PAGES, follow

LOCAL = ("first-run", "first-task", "own-agent")
"""Tutorials on one machine; that of a cluster is done in `tests/cluster/test_helm.py`."""

pytestmark = pytest.mark.timeout(900)


def test_every_tutorial_is_done_by_a_test() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*LOCAL, "nightly"}


@pytest.mark.parametrize("name", LOCAL)
def test_what_a_tutorial_says_happens(name: str, tmp_path: Path) -> None:
    follow(PAGES / f"{name}.md", tmp_path, environment(tmp_path))


def environment(folder: Path) -> dict[str, str]:
    """Variables of a reader who has installed the command and set nothing else."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**inherited, "PATH": path, "HOME": str(folder), "COLUMNS": "200"}
