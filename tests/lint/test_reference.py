"""Pages of docs/reference say what the declarations say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.reference import FOLDER, ROOT, expected, main


def test_every_field_and_command_is_on_a_page() -> None:
    pages = expected(ROOT)
    assert "| `spec.models[].inline.maxConcurrency` | integer |" in pages[FOLDER / "kinds.md"]
    assert "## opsgym tasks validate\n" in pages[FOLDER / "commands.md"]


def test_a_page_that_is_not_current_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    assert main(tmp_path, check=True) == 1
    assert "docs/reference/commands.md is not current" in capsys.readouterr().err
