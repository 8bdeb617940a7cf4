"""docs/failures.md agrees with the code."""

from __future__ import annotations

import pytest
from tools.failure_docs import docs_page
from tools.failure_docs.scoring import scores

from opsgym_console.analysis.failures import Mode
from opsgym_console.analysis.failures.counts import WEAK, Detected, count_mode
from opsgym_console.analysis.failures.modes import MODULES, RULES


def test_the_page_describes_every_mode_as_its_rule_does() -> None:
    assert docs_page.part("modes", docs_page.PAGE.read_text(encoding="utf-8")) == docs_page.modes()


def test_the_page_has_a_row_for_every_mode_in_both_tables() -> None:
    text = docs_page.PAGE.read_text(encoding="utf-8")
    for name in ("mutants", "recorded"):
        assert [mode for mode in Mode if f"| `{mode.value}` |" not in docs_page.part(name, text)] == []


def test_every_mode_has_a_rule_in_the_order_in_which_one_is_primary() -> None:
    assert list(RULES) == list(Mode)


@pytest.mark.parametrize("mode", Mode)
def test_every_mode_documents_its_input_threshold_and_example(mode: Mode) -> None:
    text = MODULES[mode].__doc__ or ""
    assert all(f"\n{heading}: " in text for heading in ("Looks at", "Holds when", "Example"))


def test_every_mode_that_the_held_out_recordings_do_not_prove_is_marked_weak() -> None:
    rows = docs_page.part("recorded", docs_page.PAGE.read_text(encoding="utf-8")).splitlines()[2:]
    remarks = {row.split("|")[1].strip(" `"): row.split("|")[-2].strip() for row in rows}
    assert {mode for mode, remark in remarks.items() if remark} == {mode.value for mode in WEAK}


def test_a_share_is_a_mean_over_tasks_with_an_interval_that_more_trials_of_a_task_hardly_narrow() -> None:
    few = [Detected("a", ["looping"]), Detected("b", [])]
    many = [*few * 10]
    assert count_mode("looping", []).interval is None
    counts = [count_mode("looping", trials) for trials in (few, many)]
    assert [(one.trials, one.primary, one.share) for one in counts] == [(1, 1, 0.5), (10, 10, 0.5)]
    assert all(one.interval is not None and one.interval.high - one.interval.low > 0.7 for one in counts)


def test_precision_and_recall_are_counted_by_trial() -> None:
    pairs = [({Mode.LOOPING}, {Mode.LOOPING}), ({Mode.LOOPING}, set()), (set(), {Mode.LOOPING}), (set(), set())]
    (looping,) = (score for score in scores(pairs) if score.mode is Mode.LOOPING)
    assert (looping.holds, looping.precision, looping.recall) == (2, 0.5, 0.5)
    (other,) = (score for score in scores(pairs) if score.mode is Mode.WRONG_REFUSAL)
    assert (other.precision, other.recall) == (None, None)
