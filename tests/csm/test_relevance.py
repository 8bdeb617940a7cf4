"""Scores of a search: what each match is worth, and that recorded published scores are reproduced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.upstream import upstream

from opsgym_domains.csm.article_ranking import score

TITLE, BODY = "Restart the mail relay 42", "Relay 42 hangs. Drain its queue, then restart the relays"


def points(search: str, *, title: str = TITLE, body: str = BODY, state: str = "draft") -> float:
    return score(search, title=title, body=body, state=state)


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("printer", 0),
        ("the", 5 + 2 + 80 + 25),  # a single word that stands by itself is a whole phrase
        ("hang", 1),
        ("queue printer", 1),
        ("relay printer", 5 + 2),
        ("art", 5 + 1),
        ("42 printer", 6 + 3),
        ("4 printer", 0),
        ("mail printer relay", 5 + 5 + 2),
        ("mail relay printer", 5 + 5 + 2 + 15),
        ("then restart printer", 5 + (1 + 1) + 4),
        ("printer the mail relay", (5 + 5 + 5) + (2 + 2) + 15 + 15 + 20),
        ("drain its queue printer", 1 + 1 + 1 + 4 + 4 + 5),
        ("relay 42", (5 + 2) + (6 + 3) + (15 + 4) + (80 + 25)),
        ("MAIL--Relay!", 5 + 5 + 2 + 15 + 80),
    ],
)
def test_a_match_in_the_title_and_in_the_body_has_its_worth(search: str, expected: float) -> None:
    assert points(search) == expected


@pytest.mark.parametrize("search", ["", "   ", "?!", "—"])
def test_a_search_without_words_matches_nothing(search: str) -> None:
    assert points(search) == 0


@pytest.mark.parametrize(("state", "expected"), [("published", 0.5), ("draft", 0), ("retired", 0)])
def test_a_published_article_comes_before_others_with_equal_matches(state: str, expected: float) -> None:
    assert points("printer", state=state) == expected


def test_punctuation_and_case_of_an_article_do_not_matter() -> None:
    assert points("btrfs snapper", title="", body="(Btrfs/SNAPPER)") == points(
        "btrfs snapper", body="btrfs snapper", title=""
    )


@pytest.mark.published
def test_recorded_scores_are_reproduced() -> None:
    seen = list(recorded_searches())
    assert len(seen) > 50
    for search, article in seen:
        again = score(search, **{name: article[name] for name in ("title", "body", "state")})
        assert again == article["score"], (search, article["knowledge_id"])


def recorded_searches() -> Iterator[tuple[str, dict[str, Any]]]:
    folder = upstream() / "trajectories" / "csm"
    for path in sorted(folder.glob("boazdavid*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            call = json.loads(line)
            if call["tool"] == "retrieve_knowledge" and call["json"] and "search_text" in call["arguments"]:
                yield from ((call["arguments"]["search_text"], article) for article in call["json"])
