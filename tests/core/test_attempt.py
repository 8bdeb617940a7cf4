"""One attempt, one type: a counter is declared once and reaches every record without further mention."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from opsgym_api.records.attempt import Attempt, AttemptRecord, ScoredAttempt, TrialRecord

ROOT = Path(__file__).parents[2]
SOURCES = ("crds", "core", "agent_runner", "operator", "console", "cli")
ORIGIN = "agent_runner/opsgym_runner/models/retry.py"
"""Counts refused requests."""
STEPS = {"crds/opsgym_api/records/transcript.py", "agent_runner/opsgym_runner/recording/transcript.py"}
"""Record this counter for each step, too, which no counter has to."""


def test_records_are_attempts_with_more_fields() -> None:
    names = {part.name for part in fields(Attempt)}
    assert all(names < {part.name for part in fields(kind)} for kind in (AttemptRecord, ScoredAttempt, TrialRecord))
    assert {part.name for part in fields(AttemptRecord)} - names == {"run", "version"}


def test_a_counter_is_named_in_four_files_besides_the_one_that_counts_it() -> None:
    named = {
        path.relative_to(ROOT).as_posix()
        for source in SOURCES
        for path in (ROOT / source).rglob("*.py")
        if re.search(r"\brate_limits\b", path.read_text(encoding="utf-8"))
    }
    assert named - {ORIGIN} - STEPS == {
        "crds/opsgym_api/records/attempt.py",
        "agent_runner/opsgym_runner/recording/journal.py",
        "core/opsgym_core/metrics/registry.py",
        "core/opsgym_core/store/sealed.py",
    }
