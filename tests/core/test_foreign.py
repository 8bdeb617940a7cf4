"""Text and JSON from outside, made storable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from opsgym_core.common.foreign import MAX_DEPTH, TooDeepError, one_line, read_json, storable, storable_text, visible

TEXT = st.text(st.characters(categories=["Cs", "Cc", "L", "N"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


class _Kept(BaseModel):
    value: Any


@given(JSON)
def test_any_value_is_written_and_read_back_unchanged(value: Any) -> None:
    stored = storable(value)

    written = _Kept(value=stored).model_dump_json()
    written.encode()
    assert _Kept.model_validate_json(written).value == stored
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored


@given(JSON)
def test_what_is_storable_already_is_not_changed(value: Any) -> None:
    assert storable(storable(value)) == storable(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a \ud83d b"', r"a \ud83d b"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'{"\udc97": 1}', {r"\udc97": 1}),
        ('"\\u0000\\u001b[2J"', "\x00\x1b[2J"),
        ("[NaN, -Infinity, 1e999]", ["NaN", "-Infinity", "1e999"]),
        ("9" * 5000, "9" * 5000),
        ("123", 123),
    ],
)
def test_what_cannot_be_stored_stays_visible(text: str, value: Any) -> None:
    assert read_json(text) == value


def test_what_nests_too_deeply_is_cut_or_refused() -> None:
    assert json.dumps(read_json("[" * 200 + "]" * 200)).count("[") == MAX_DEPTH
    with pytest.raises(TooDeepError):
        read_json("[" * 20_000 + "]" * 20_000)


def test_bytes_that_are_not_utf8_are_no_json() -> None:
    with pytest.raises(ValueError, match="decode"):
        read_json(b'"\xff"')


def test_half_a_pair_is_shown_as_its_escape() -> None:
    assert storable_text("a\ud83d\u20ac") == "a\\ud83d\u20ac"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Zoë, 事件 🐘", "plain, Zoë, 事件 🐘"),
        ("a\tb\nc\r\nd", "a\tb\nc\r\nd"),
        ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
        ("over\rwritten\b\x7f", "over␍written␈␡"),
        ("\x9b2J\u202egnp.exe", "\ufffd2J\ufffdgnp.exe"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_text_keeps_a_control_character_but_tabs_and_line_breaks(text: str) -> None:
    left = {one for one in visible(text).replace("\r\n", "\n") if ord(one) < 32 or 127 <= ord(one) < 160}
    assert left <= {"\t", "\n"}


def test_a_message_of_several_lines_is_shown_on_one() -> None:
    assert one_line("refused\n[1/1] passed  \x1b[31mred") == "refused [1/1] passed ␛[31mred"
