"""What differences of mailboxes mean: what a recipient reads.

Invariant: a message whose text is there in a second form, of the same words, says nothing more than in one; of an
automatic reply in two forms, the HTML is what is sent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import unescape

from opsgym_api.records.state_difference import RowDifference, StateDifference
from opsgym_domains.email.mime import Part, readable
from opsgym_domains.email.tables import MessageHeader, MessagePart, MessagePartBody, VacationSettings
from opsgym_domains.kit.state_difference import added_rows, marked, with_rows

_CONTAINER = "multipart/alternative"
_TAGS = re.compile(r"(?is)<(style|script|head)\b.*?</\1>|<[^>]*>")


def meaning(difference: StateDifference) -> StateDifference:
    """A difference with second forms of texts marked as neutral, and automatic replies with the text that is sent."""
    neutral = _second_forms(difference)

    def belongs(row: RowDifference) -> bool:
        return row.change == "added" and row.after.get("message_part_id") in neutral

    def is_second(row: RowDifference) -> bool:
        return row.change == "added" and row.after.get("id") in neutral

    rules = {MessagePart: is_second, MessagePartBody: belongs, MessageHeader: belongs}
    result = marked(difference, {kind.__tablename__: rule for kind, rule in rules.items()})
    return with_rows(result, {VacationSettings.__tablename__: _as_sent})


def words_of(text: str) -> str:
    """The words of a text or of HTML, without layout, as a reader sees them."""
    return " ".join(re.findall(r"\w+", unescape(_TAGS.sub(" ", text)).casefold()))


def _second_forms(difference: StateDifference) -> set[str]:
    """Ids of parts that repeat the text of their message in another form, and of the containers of such parts."""
    bodies = {row["message_part_id"]: row for row in added_rows(difference, MessagePartBody.__tablename__)}
    by_message: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for part in added_rows(difference, MessagePart.__tablename__):
        if not part["filename"]:
            by_message[part["message_id"]].append(part)
    return {part["id"] for parts in by_message.values() for part in _repeating(parts, bodies)}


def _repeating(
    parts: Sequence[Mapping[str, str]], bodies: Mapping[str, Mapping[str, str | int | None]]
) -> Sequence[Mapping[str, str]]:
    """The parts of a message that say what its first text says; none if some other text says something else."""
    texts = sorted((p for p in parts if p["mime_type"] in ("text/plain", "text/html")), key=lambda p: p["part_id"])
    wordings = {_words(part["mime_type"], bodies.get(part["id"])) for part in texts}
    if len(texts) < 2 or len(wordings) > 1 or len({part["mime_type"] for part in texts}) < len(texts):
        return ()
    return [*texts[1:], *(part for part in parts if part["mime_type"] == _CONTAINER)]


def _words(mime_type: str, body: Mapping[str, str | int | None] | None) -> str:
    if body is None:
        return ""
    text = readable(Part(mime_type, str(body["data"] or ""), int(body["size"] or 0)))
    return words_of(text) if mime_type == "text/html" else " ".join(re.findall(r"\w+", text.casefold()))


def _as_sent(row: RowDifference) -> RowDifference:
    """An automatic reply whose plain text is that of its HTML, if it has one: Gmail sends the HTML."""
    html = row.after.get("response_body_html")
    if row.change == "removed" or not html:
        return row
    text = " ".join(unescape(_TAGS.sub(" ", html)).split())
    return row.model_copy(update={"after": {**row.after, "response_body_plain_text": text}})
