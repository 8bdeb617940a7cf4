"""Tokens of changes: their order as text is the order of changes."""

from __future__ import annotations

from opsgym_domains.drive.history import START, next_token
from opsgym_domains.drive.query import parse
from opsgym_domains.drive.search import FILE_TERMS
from opsgym_domains.kit.identifiers import ulid_of

NOW = 1_794_000_000_000


def test_a_new_token_is_later_than_the_last_one_whatever_the_clock_says() -> None:
    token, tokens = START, []
    for time in (NOW, NOW, NOW + 1, 0, -5, NOW - 10_000):
        token = next_token(token, time)
        tokens.append(token)
    assert tokens == sorted(set(tokens))
    assert {len(one) for one in tokens} == {26}


def test_a_token_after_one_that_cannot_be_counted_is_longer() -> None:
    assert [next_token(last, 0) for last in ("ZZ", "zz", "change-9", "change-Z")] == [
        "ZZ0",
        "zz0",
        "change-A",
        "change-Z0",
    ]


def test_ids_are_26_digits_of_base_32_and_differ() -> None:
    ids = [ulid_of(count) for count in range(200)]
    assert len(set(ids)) == 200
    assert set("".join(ids)) <= set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    assert {len(key) for key in ids} == {26}


def test_a_quoted_text_keeps_what_is_escaped() -> None:
    assert parse(r"name = 'It\'s a \\ sign'", FILE_TERMS).value == r"It's a \ sign"  # type: ignore[union-attr]
