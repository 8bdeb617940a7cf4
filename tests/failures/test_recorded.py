"""Labelled recorded runs: their table in docs/failures.md, and the least precision and recall of the rules."""

from __future__ import annotations

import pytest
from tests.support.upstream import upstream
from tools.failure_docs import docs_page
from tools.failure_docs.labelled_runs import read_labels, recorded_trials
from tools.failure_docs.measure import recorded_scores

from opsgym_console.analysis.failures import Mode

LEAST = {
    Mode.PREMATURE_TERMINATION: (0.9, 0.6),
    Mode.LOOPING: (0.9, 0.9),
    Mode.STATE_CORRUPTION: (0.9, 0.8),
    Mode.INVALID_ARGUMENTS: (0.9, 0.9),
    Mode.MISSED_FOLLOW_UP: (0.5, 0.6),
}
"""Precision and recall on the held-out half below which a change of rules has made them worse."""


def test_every_label_gives_its_reason_and_every_half_has_as_many() -> None:
    labels = read_labels()
    assert len({label.task_id for label in labels}) == len(labels) >= 40
    assert all(label.reason for label in labels)
    assert [label.half for label in labels].count("held_out") == len(labels) // 2


@pytest.mark.published
def test_every_recorded_run_that_failed_is_labelled() -> None:
    trials = {task_id for domain in ("csm", "teams") for task_id in recorded_trials(upstream(), domain)}
    assert trials == {label.task_id for label in read_labels()}


@pytest.mark.published
def test_the_rules_find_as_much_in_runs_they_were_not_tuned_on() -> None:
    for score in recorded_scores(upstream(), "held_out"):
        if score.mode in LEAST:
            precision, recall = LEAST[score.mode]
            assert score.precision is not None
            assert score.recall is not None
            assert (score.precision >= precision, score.recall >= recall) == (True, True), score


@pytest.mark.published
def test_the_page_has_the_measured_scores() -> None:
    halves = [(name, recorded_scores(upstream(), half)) for name, half in docs_page.HALVES]
    assert docs_page.part("recorded", docs_page.PAGE.read_text(encoding="utf-8")) == docs_page.table(halves)
