"""Domains and suites of other distributions are found by their entry points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

from opsgym_domains import registry
from opsgym_domains.suite_rows import suite_rows

ROW = {
    "task_id": "book-a-room", "domain": "diary", "system_prompt": "{{include policy.md}}", "user_prompt": "Book.",
    "gym_servers_config": [], "verifiers": [],
}  # fmt: skip


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder on `sys.path` with an installed distribution that declares a domain and a suite."""
    package = tmp_path / "diary_domains"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "domain.py").write_text("DOMAIN = 'the diary domain'\n")
    (package / "policy.md").write_text("Do not double-book.")
    (package / "data" / "diary-core.jsonl.zst").write_bytes(zstandard.compress(json.dumps(ROW).encode()))
    declare(tmp_path, "diary", "diary_domains")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def declare(folder: Path, domain: str, package: str) -> None:
    """Writes the metadata of an installed distribution."""
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        f"[{registry.DOMAINS}]\n{domain} = {package}.domain:DOMAIN\n"
        f"[{registry.SUITES}]\n{domain}-core = {package}\n"
    )  # fmt: skip


def test_a_domain_of_another_distribution_is_listed_and_loaded(diary: Path) -> None:
    assert registry.domains() == ["calendar", "csm", "diary", "drive", "email", "hr", "itsm", "teams"]
    assert str(registry.load("diary")) == "the diary domain"


def test_a_suite_of_another_distribution_is_read_from_its_package(diary: Path) -> None:
    assert "diary-core" in registry.suites()
    assert suite_rows("diary-core") == [ROW | {"system_prompt": "Do not double-book."}]


def test_two_distributions_with_the_same_domain_name_are_refused(diary: Path) -> None:
    declare(diary, "itsm", "other_service_desk")
    with pytest.raises(ValueError, match="two installed distributions declare 'itsm'"):
        registry.domains()


def test_an_unknown_domain_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        registry.load("herbarium")
