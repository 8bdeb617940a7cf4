"""Tutorials and how-to pages, done literally in a new folder by the real command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.tutorials.pages import DOCS, follow, steps

LOCAL = ("tutorials/first-run", "tutorials/first-task", "tutorials/own-agent")
"""Tutorials on one machine; that of a cluster is done in `tests/cluster/test_helm.py`."""
HOW_TO = ("how-to/bound-the-cost", "how-to/gate-in-ci", "how-to/play-again", "how-to/publish-a-number")
"""How-to pages with commands; the others point to pages."""

pytestmark = pytest.mark.timeout(900)


def test_every_page_with_commands_is_done_by_a_test() -> None:
    pages = [*DOCS.glob("tutorials/*.md"), *DOCS.glob("how-to/*.md")]
    names = {str(page.relative_to(DOCS).with_suffix("")) for page in pages if steps(page)}
    assert names == {*LOCAL, *HOW_TO, "tutorials/nightly"}


@pytest.mark.parametrize("name", [*LOCAL, *HOW_TO])
def test_what_a_page_says_happens(name: str, tmp_path: Path) -> None:
    follow(DOCS / f"{name}.md", tmp_path, environment(tmp_path))


def environment(folder: Path) -> dict[str, str]:
    """Variables of a reader who has installed the command and set nothing else."""
    inherited = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**inherited, "PATH": path, "HOME": str(folder), "COLUMNS": "200"}
