"""docs/failures.md agrees with the code."""

from __future__ import annotations

import pytest
from tools.failure_docs import docs_page
from tools.failure_docs.scoring import scores

from opsgym_console.analysis.failures import Mode
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


def test_precision_and_recall_are_counted_by_trial() -> None:
    pairs = [({Mode.LOOPING}, {Mode.LOOPING}), ({Mode.LOOPING}, set()), (set(), {Mode.LOOPING}), (set(), set())]
    (looping,) = (score for score in scores(pairs) if score.mode is Mode.LOOPING)
    assert (looping.holds, looping.precision, looping.recall) == (2, 0.5, 0.5)
    (other,) = (score for score in scores(pairs) if score.mode is Mode.WRONG_REFUSAL)
    assert (other.precision, other.recall) == (None, None)
