"""Patterns of answers and messages accept the usual ways to say something true, and nothing false."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from opsgym_api.tasks.answer_patterns import CLAIMS_WORK, DENIES_ALL, all_of, apart, figure, paired, span, term, without

PRICE = all_of(apart((figure(71), "euros?|eur|(?:a|per) pallet"), (figure(48), "hours?")))
HOURS = all_of(span(r"\b0?9\b", r"\b11\b"))
TURNS = paired((term("Ada"), figure(9)), (term("Ben"), figure(10)))


@pytest.mark.parametrize(
    ("pattern", "true", "false"),
    [
        (
            PRICE,
            (
                "71 euros a pallet, 48 hours of notice.",
                "Notice is 48 hours. Price per pallet: 71 euros",
                "EUR 71; 48 hours",
            ),
            (
                "48 euros a pallet, 71 hours of notice.",
                "Notice 71 hours, price 48 EUR",
                "48 per pallet, and 71",
                "71 euros",
            ),
        ),
        (
            HOURS,
            ("From 9 to 11.", "9–11, thank you!", "You start at 9 and go on until 11.", "between 09 and 11"),
            ("From 11 to 9.", "11–9, thank you!", "You start at 11 and go on until 9.", "between 11 and 09", "from 9"),
        ),
        (
            TURNS,
            ("Ada has 9 and Ben 10.", "9 for Ada, 10 for Ben", "Both are in. Ben: 10. Ada: 9."),
            ("Ada has 10 and Ben 9.", "10 for Ada, 9 for Ben", "Ben: 9. Ada: 10.", "Ada has 9."),
        ),
    ],
    ids=["apart", "span", "paired"],
)
def test_values_are_accepted_in_their_places_only(pattern: str, true: Sequence[str], false: Sequence[str]) -> None:
    assert [text for text in true if not re.search(pattern, text, re.IGNORECASE)] == []
    assert [text for text in false if re.search(pattern, text, re.IGNORECASE)] == []


@pytest.mark.parametrize(
    ("claim", "is_one", "is_none"),
    [
        (
            DENIES_ALL,
            (
                "I did none of it.",
                "Nothing was changed.",
                "Sorry, no changes were made.",
                "I was unable to carry out your request.",
            ),
            (
                "INC-1 is closed. Nothing was changed in the other.",
                "Nothing else was changed.",
                "I left INC-2 as it was.",
            ),
        ),
        (
            CLAIMS_WORK,
            (
                "All set.",
                "I've successfully closed it.",
                "Your request has been carried out.",
                "It was sent as you asked.",
            ),
            (
                "It is closed, so I left it.",
                "I changed nothing.",
                "Nothing was sent as you asked for a person outside.",
            ),
        ),
    ],
    ids=["denials", "claims"],
)
def test_denials_and_claims_of_work_are_recognised(claim: str, is_one: Sequence[str], is_none: Sequence[str]) -> None:
    assert [text for text in is_one if re.search(without(claim), text, re.IGNORECASE)] == []
    assert [text for text in is_none if not re.search(without(claim), text, re.IGNORECASE)] == []
