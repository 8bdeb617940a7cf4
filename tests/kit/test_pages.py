"""Page tokens."""

from __future__ import annotations

import pytest

from opsgym_domains.kit.pages import decode, encode, next_page, offset_of


def test_the_token_of_the_next_page_names_the_row_after_this_one() -> None:
    token = next_page(10, 5, 16)
    assert token is not None
    assert offset_of(token) == 15


@pytest.mark.parametrize("total", [0, 14, 15])
def test_the_last_page_has_no_token(total: int) -> None:
    assert next_page(10, 5, total) is None


@pytest.mark.parametrize("token", ["", "5", "not base64", encode("-5"), encode("five"), encode("9" * 5000), "/w=="])
def test_a_text_of_another_form_is_not_taken_for_an_offset(token: str) -> None:
    assert offset_of(token) is None


def test_a_text_is_read_from_its_token() -> None:
    assert decode(encode("2026-11-16T10:00:00")) == "2026-11-16T10:00:00"
