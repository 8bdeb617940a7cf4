"""docs/providers.md is what the tests are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import provider_matrix


def test_the_page_is_current() -> None:
    assert provider_matrix.main(provider_matrix.ROOT, check=True) == 0


def test_a_cell_without_a_test_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_matrix, "FUNCTIONS", {"flight": {"OpenAI": "test_openai_flies"}})

    with pytest.raises(ValueError, match="has no test test_openai_flies"):
        provider_matrix.expected(provider_matrix.ROOT)


def test_a_new_case_of_a_table_changes_the_page(tmp_path: Path) -> None:
    folder = tmp_path / provider_matrix.TESTS
    folder.mkdir(parents=True)
    for file in provider_matrix.FILES:
        text = (provider_matrix.ROOT / provider_matrix.TESTS / file).read_text(encoding="utf-8")
        changed = text.replace('    "Groq": (', '    "Groq, once more": (),\n    "Groq": (', 1)
        (folder / file).write_text(changed, encoding="utf-8")

    before = provider_matrix.expected(provider_matrix.ROOT)
    assert provider_matrix.expected(tmp_path) != before
