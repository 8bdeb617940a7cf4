"""Patterns find what a text states, whatever its typography, contractions and number words."""

from __future__ import annotations

import pytest

from opsgym_api.tasks.expected_difference import Condition
from opsgym_runner.verification.comparison import meets
from opsgym_runner.verification.readings import matches, readings


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("INC-004065", "It is INC\u2011004065."),
        ("INC-004065", "It is INC\u2013004065."),
        (r"\bisn't\b", "It isn\u2019t there."),
        (r"\bnot\b", "The folder wasn\u2019t moved."),
        (r"\bcannot\b", "I can't do that."),
        (r"\bwill not\b", "They won't see it."),
        ("Quay Field Team", "It is with the Quay\u00a0Field\u202fTeam."),
        ("'Late ships'", "It is \u2018Late ships\u2019."),
        (r"\b3\b", "I touched three rules."),
        (r"\b24\b", "There are twenty-four of them."),
        (r"\b60\b", "Sixty copies."),
        (r"\b1 deleted", "Two changed, one deleted."),
    ],
)
def test_a_pattern_is_found_in_every_spelling(pattern: str, text: str) -> None:
    assert matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\b1\b", "The old one is off."),
        (r"\b3\b", "Thirty-three are left."),
        (r"\bnot\b", "It is a knot."),
        (r"\b7\b", "It stays on token eight."),
    ],
)
def test_a_reading_states_nothing_new(pattern: str, text: str) -> None:
    assert not matches(pattern, text)


def test_a_plain_text_has_one_reading() -> None:
    assert readings("INC-004065 is closed.") == ["INC-004065 is closed."]


@pytest.mark.parametrize("word", ["has", "matches"])
def test_conditions_on_texts_ignore_typography(word: str) -> None:
    condition = Condition.model_validate({word: "don't call Quay-7"})
    assert meets("Please don\u2019t call Quay\u20117 today", condition)
