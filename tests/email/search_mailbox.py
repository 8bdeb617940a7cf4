"""A mailbox to search: 16 messages of Ann, and one of another user that no search of hers may show."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.email.seed import SYSTEM, T

CATEGORIES = tuple(f"CATEGORY_{name}" for name in ("PERSONAL", "SOCIAL", "PROMOTIONS", "UPDATES", "FORUMS"))
OWN_LABELS = {"work": "Work/Plans", "home": "Home", "todo": "To do"}
"""Names of Ann's labels by id."""


@dataclass(frozen=True)
class Mail:
    """A message.

    Attributes:
        key: Id.
        time: Time of arrival in UTC.
        sender: From header.
        to: To header.
        subject: Subject.
        text: Body.
        labels: Ids of labels; those of system labels are their names in lower case.
        headers: Further headers.
        files: Names of attached files.
        size: Size in bytes.
        user: Owner of the mailbox.
    """

    key: str
    time: str
    sender: str
    to: str
    subject: str
    text: str
    labels: str
    headers: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[str] = ()
    size: int = 500
    user: str = "u1"

    def rows(self) -> list[str]:
        """Statements that add the message."""
        key = self.key
        time = int(datetime.fromisoformat(self.time).replace(tzinfo=UTC).timestamp() * 1000)
        text = self.text.encode()
        data = base64.urlsafe_b64encode(text).decode()
        headers = {"From": self.sender, "To": self.to, "Subject": self.subject, **self.headers}
        statements = [
            f"INSERT INTO threads VALUES ('t-{key}', '{self.user}', '', NULL, {T})",
            f"INSERT INTO messages VALUES ('{key}', '{self.user}', 't-{key}', '', NULL, '{time}', {self.size}, {T})",
            f"INSERT INTO message_parts VALUES ('{key}-p', '{key}', NULL, '0', 'text/plain', NULL, {T})",
            f"INSERT INTO message_part_bodies VALUES ('{key}-b', '{key}-p', {len(text)}, '{data}', NULL, {T})",
        ]
        statements += [
            f"INSERT INTO message_headers VALUES ('{key}-h{number}', '{key}-p', '{name}', '{value}', {T})"
            for number, (name, value) in enumerate(headers.items())
        ]
        statements += [
            f"INSERT INTO attachments (id, message_id, user_id, filename, size, data) "
            f"VALUES ('{key}-a{number}', '{key}', '{self.user}', '{name}', 4, 'AAAA')"
            for number, name in enumerate(self.files)
        ]
        statements += [
            f"INSERT INTO message_labels (message_id, label_id) VALUES ('{key}', '{label}')"
            for label in self.labels.split()
        ]
        return statements


MAILS = (
    Mail(
        "budget", "2026-02-27T09:00:00", "Ben Cole <ben@north.test>", "ann@north.test", "Budget 2026",
        "The budget is due on Friday. Please review.", "inbox unread important work", {"Message-ID": "<b1@mail.test>"},
    ),
    Mail(
        "answer", "2026-02-27T10:00:00", "ann@north.test", "ben@north.test", "Re: Budget 2026",
        "I will send the figures tonight.", "sent", {"Message-ID": "<b2@mail.test>", "In-Reply-To": "<b1@mail.test>"},
    ),
    Mail(
        "lunch", "2026-02-20T12:00:00", "cat@south.test", "ann@north.test, ben@north.test", "Lunch",
        "Shall we have lunch at noon? The menu is attached.", "inbox starred", {"Cc": "dan@else.test"}, ("menu.pdf",),
        2_000_000,
    ),
    Mail("spam", "2026-02-25T08:00:00", "win@spam.test", "ann@north.test", "Offer", "You won a prize.", "spam"),
    Mail("draft", "2026-02-26T08:00:00", "ann@north.test", "cat@south.test", "Plan", "First words of it", "draft"),
    Mail("trash", "2026-01-20T08:00:00", "cat@south.test", "ann@north.test", "Old", "Out of date.", "trash"),
    Mail(
        "merger", "2025-12-24T23:30:00", "ben@north.test", "ann@north.test", "[Confidential] Merger",
        "Not to be shared with others.", "home todo",
    ),
    Mail(
        "news", "2026-03-01T08:00:00", "News <news@list.test>", "members@list.test", "Weekly news",
        "Our holiday starts in one two three days of vacation.", "inbox category_forums",
        {"Delivered-To": "ann+news@north.test", "List-Id": "News of the week <news.list.test>"},
    ),
    Mail(
        "invoice", "2026-02-10T00:00:00", "shop@store.test", "ann@north.test", "Your invoice 4711",
        "Total: 1,250.00 EUR. Pay by 15 March.", "inbox unread category_updates", {},
        ("Invoice-4711.PDF", "terms.docx"), 12_000_000,
    ),
    Mail(
        "paris", "2026-02-09T23:59:59", "Émile Zola <emile@paris.test>", "ann@north.test", "Café à Paris",
        "Où est la réunion ? ÄRGER in Köln – «rien».", "inbox",
    ),
    Mail(
        "osaka", "2026-02-15T03:00:00", "tanaka@osaka.test", "ann@north.test", "会議 議事録",
        "明日の会議、東京", "inbox",
    ),
    Mail(
        "party", "2026-02-28T22:00:00", "ann@north.test", "eve@north.test", "Secret party",
        "The secret plan for the birthday of Cat.", "sent", {"Bcc": "ben@north.test"},
    ),
    Mail(
        "social", "2025-03-01T12:00:00", "social@net.test", "ann@north.test", "Ben Cole wants to connect",
        "Say hello.", "inbox category_social",
    ),
    Mail(
        "sale", "2026-03-02T11:00:00", "sale@store.test", "ann@north.test", "50% off today",
        "Big sale: movie tickets and dinner.", "inbox unread category_promotions",
    ),
    Mail(
        "dinner", "2026-03-02T06:00:00", "dan@else.test", "ann@north.test", "Dinner", "dinner and movie tonight",
        "inbox",
    ),
    Mail(
        "movie", "2024-02-29T10:00:00", "dan@else.test", "ann@north.test", "Movie", "A movie, then dinner perhaps.",
        "inbox",
    ),
    Mail(
        "foreign", "2026-02-27T09:00:00", "ben@north.test", "ann@north.test", "Budget 2026", "The budget of Ben",
        "sent-u2", user="u2",
    ),
)  # fmt: skip


def _seed() -> str:
    users = "INSERT INTO users VALUES " + ", ".join(
        f"('u{number}', 'token-{name}', '{name}@north.test', '{name.title()}', 0, 0, NULL, {T})"
        for number, name in ((1, "ann"), (2, "ben"))
    )
    labels = [(name.lower(), "u1", name, "system") for name in (*SYSTEM, *CATEGORIES)]
    labels += [(key, "u1", name, "user") for key, name in OWN_LABELS.items()] + [("sent-u2", "u2", "SENT", "system")]
    statements = [users]
    statements += [
        f"INSERT INTO labels VALUES ('{key}', '{user}', '{name}', 'show', 'labelShow', '{kind}', 0, 0, 0, 0, NULL, {T})"
        for key, user, name, kind in labels
    ]
    return ";\n".join([*statements, *(row for mail in MAILS for row in mail.rows())]) + ";"


SEARCH_SEED = _seed()
