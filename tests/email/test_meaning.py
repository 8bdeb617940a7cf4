"""Second forms of a message's text are neutral where they say the same, and automatic replies are read as sent."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_domains.email.meaning import meaning

TEXT = "They go on board on 18 June,\n20 in all."
HTML = "<p>They go on <b>board</b> on 18&nbsp;June,<br>20 in all.</p>"


def part(place: str, kind: str, *, filename: str = "", message: str = "m1") -> dict[str, Any]:
    """A part's row, whose key is its message and place."""
    return {
        "id": f"{message} {place}",
        "message_id": message,
        "part_id": place,
        "mime_type": kind,
        "filename": filename,
    }


def body(part_id: str, data: str) -> dict[str, Any]:
    """The row of a part's text."""
    size = len(data.encode())
    return {"id": f"body of {part_id}", "message_part_id": part_id, "data": data, "size": size}


def difference(**rows: list[dict[str, Any]]) -> StateDifference:
    """A difference with these added rows, by table."""
    tables = [
        TableDifference(
            table=table, rows=[RowDifference(change="added", key={"id": row["id"]}, after=row) for row in of_table]
        )
        for table, of_table in rows.items()
    ]
    return StateDifference(tables=tables)


def neutral(judged: StateDifference) -> list[str]:
    """Keys of the rows that are neutral."""
    return [row.key["id"] for table in judged.tables for row in table.rows if row.neutral]


def two_forms(html: str, *, filename: str = "", kind: str = "text/html") -> StateDifference:
    """A message with a plain text and a second part."""
    parts = [part("0", "text/plain"), part("0.1", kind, filename=filename)]
    return difference(message_parts=parts, message_part_bodies=[body("m1 0", TEXT), body("m1 0.1", html)])


def test_html_of_the_same_words_is_neutral_with_its_body() -> None:
    assert neutral(meaning(two_forms(HTML))) == ["m1 0.1", "body of m1 0.1"]


def test_a_container_of_two_forms_is_neutral() -> None:
    parts = [part("0", "multipart/alternative"), part("0.1", "text/plain"), part("0.2", "text/html")]
    judged = meaning(difference(message_parts=parts, message_part_bodies=[body("m1 0.1", TEXT), body("m1 0.2", HTML)]))
    assert neutral(judged) == ["m1 0", "m1 0.2", "body of m1 0.2"]


@pytest.mark.parametrize(
    "judged",
    [
        two_forms("<p>They go on board on 19 June, 20 in all.</p>"),
        two_forms(f"{HTML}<p>Nothing of this is true.</p>"),
        two_forms(HTML, filename="invitation.html"),
        two_forms(TEXT, kind="text/plain"),
    ],
    ids=["another date", "more text", "a file", "the text twice"],
)
def test_what_says_something_else_is_not_neutral(judged: StateDifference) -> None:
    assert neutral(meaning(judged)) == []


def test_texts_of_two_messages_are_not_compared() -> None:
    parts = [part("0", "text/plain"), part("0", "text/html", message="m2")]
    judged = meaning(difference(message_parts=parts, message_part_bodies=[body("m1 0", TEXT), body("m2 0", HTML)]))
    assert neutral(judged) == []


@pytest.mark.parametrize(
    ("html", "sent"),
    [("", "Ask Freya."), (None, "Ask Freya."), ("<p>Ask <b>Moira</b> &amp; Dag.</p>", "Ask Moira & Dag.")],
)
def test_an_automatic_reply_is_its_html_if_it_has_one(html: str | None, sent: str) -> None:
    after = {"response_body_plain_text": "Ask Freya.", "response_body_html": html}
    row = RowDifference(change="changed", key={"id": "v1"}, after=after)
    judged = meaning(StateDifference(tables=[TableDifference(table="vacation_settings", rows=[row])]))
    assert " ".join(judged.tables[0].rows[0].after["response_body_plain_text"].split()).replace(" .", ".") == sent
