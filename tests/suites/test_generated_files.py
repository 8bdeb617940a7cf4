"""What `python -m opsgym_suites` writes; `make lint` checks that the repository's files are current."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from opsgym_suites.itsm.authored import AUTHORED as ITSM
from opsgym_suites.kit.authoring_rules import AuthoredTask
from opsgym_suites.kit.data_files import stale, write
from opsgym_suites.kit.difficulty_table import with_table

PAGE = "Before.\n<!-- difficulty -->\n{}<!-- /difficulty -->\nAfter.\n"


def test_the_table_of_difficulty_counts_the_tasks_of_each_suite_in_each_band() -> None:
    tasks = ITSM.tasks_by_suite()["quickstart"]
    longest = max(tasks, key=lambda task: len(task.task.gold_actions or []))
    unknown = AuthoredTask(longest.domains, longest.task.model_copy(update={"gold_actions": None}), longest.draft)
    page = with_table(PAGE.format("| old |\n"), {"one": [longest, longest, unknown], "none": []})
    assert page == PAGE.format(
        "| band | points | `one` | `none` |\n"
        "| --- | --- | --- | --- |\n"
        "| easy | below 10 | 0 | 0 |\n"
        "| medium | 10–17 | 0 | 0 |\n"
        "| hard | 18–29 | 2 | 0 |\n"
        "| very hard | 30 and more | 0 | 0 |\n"
    )


@pytest.mark.parametrize("name", ["rows.jsonl.zst", "rows.jsonl"])
def test_a_file_is_stale_if_it_is_missing_or_holds_another_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / "data" / name
    assert stale(path, "one\n")
    write(path, "one\n")
    assert not stale(path, "one\n")
    assert stale(path, "two\n")


def test_a_file_of_another_compression_is_not_stale(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.zst"
    path.write_bytes(zstandard.compress(b"one\n" * 1000, 1))
    assert not stale(path, "one\n" * 1000)
