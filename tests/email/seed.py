"""Four mailboxes of two domains with few messages, written so that every rule can be broken: bodies in base64url and as
plain text, a thread, a draft, labels of one name in two mailboxes, addresses that are verified and not, a confidential
message, one in spam and one in the trash, and a user whose profile is inactive.
"""

from __future__ import annotations

import base64

TOKEN = "token-ann"
"""Of user u1, Ann."""
HEADERS = {"x-email-user-token": TOKEN}
NOW = "2026-03-02T12:00:00"
"""Time that tests stop the clock at; later than every row."""
SYSTEM = ("INBOX", "SENT", "DRAFT", "SPAM", "TRASH", "UNREAD", "STARRED", "IMPORTANT")
T = "'2026-02-01 08:00:00', '2026-02-01 08:00:00', 'system', 'system'"


def _b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def _labels() -> str:
    rows = [
        f"('{name.lower()}-{user}', '{user}', '{name}', 'show', 'labelShow', 'system', 0, 0, 0, 0, NULL, {T})"
        for user in ("u1", "u2", "u3")
        for name in SYSTEM
    ]
    rows += [
        f"""('work-u1', 'u1', 'Work/Plans', 'show', 'labelShow', 'user', 0, 0, 0, 0,
 '{{"textColor": "#000000", "backgroundColor": "#16a766"}}', {T})""",
        f"('home-u1', 'u1', 'Home', 'hide', 'labelHide', 'user', 0, 0, 0, 0, NULL, {T})",
        f"('work-u2', 'u2', 'Work', 'show', 'labelShow', 'user', 0, 0, 0, 0, NULL, {T})",
    ]
    return f"INSERT INTO labels VALUES {', '.join(rows)};"


def message_rows(
    key: str, user: str, thread: str, time: str, headers: dict[str, str], text: str, labels: str, *, plain: bool = False
) -> str:
    data = text if plain else _b64(text)
    lines = [
        f"""INSERT INTO messages VALUES
 ('{key}', '{user}', '{thread}', '{headers["Subject"]}', NULL, '{time}', 500, {T});""",
        f"INSERT INTO message_parts VALUES ('{key}-p', '{key}', NULL, '0', 'text/plain', NULL, {T});",
        f"INSERT INTO message_part_bodies VALUES ('{key}-b', '{key}-p', {len(text.encode())}, '{data}', NULL, {T});",
    ]
    lines += [
        f"INSERT INTO message_headers VALUES ('{key}-h{number}', '{key}-p', '{name}', '{value}', {T});"
        for number, (name, value) in enumerate(headers.items())
    ]
    lines += [
        f"INSERT INTO message_labels (message_id, label_id) VALUES ('{key}', '{label}');" for label in labels.split()
    ]
    return "\n".join(lines)


def _headers(sender: str, to: str, subject: str, **others: str) -> dict[str, str]:
    key = subject.replace(" ", "").lower()
    return {"From": sender, "To": to, "Subject": subject, "Message-ID": f"<{key}@mail.test>", **others}


ANN, BEN, CAT = "ann@north.test", "ben@north.test", "cat@south.test"
SEED = "\n".join(
    [
        f"""INSERT INTO users VALUES
 ('u1', 'token-ann', '{ANN}', 'Ann Berg', 7, 6, 'h3', {T}),
 ('u2', 'token-ben', '{BEN}', 'Ben Cole', 1, 1, 'h9', {T}),
 ('u3', 'token-cat', '{CAT}', 'Cat Diaz', 0, 0, NULL, {T}),
 ('u4', 'token-dan', 'dan@north.test', 'Dan Ek', 0, 0, NULL, {T});""",
        f"INSERT INTO profiles VALUES ('pr1', 'u1', 'Main', 1, 1, {T}), ('pr4', 'u4', 'Main', 0, 1, {T});",
        f"INSERT INTO vacation_settings VALUES ('v2', 'u2', 1, 'Away', 'Back soon', NULL, 0, 1, NULL, NULL, {T});",
        f"INSERT INTO pop_settings VALUES ('p1', 'u1', 'disabled', 'leaveInInbox', {T});",
        f"INSERT INTO language_settings VALUES ('l1', 'u1', 'en', {T});",
        _labels(),
        f"""INSERT INTO delegates VALUES ('d1', 'u1', '{BEN}', 'accepted', {T}),
 ('d2', 'u2', '{CAT}', 'pending', {T});""",
        f"INSERT INTO imap_settings VALUES ('i1', 'u1', 1, 1, 'archive', 0, {T});",
        f"""INSERT INTO threads VALUES ('t1', 'u1', 'Budget', NULL, {T}), ('t2', 'u1', 'Lunch', NULL, {T}),
 ('t3', 'u1', 'Offer', NULL, {T}), ('t4', 'u1', 'Plan', NULL, {T}), ('t6', 'u1', 'Old', NULL, {T}),
 ('t7', 'u1', 'Merger', NULL, {T}), ('t9', 'u2', 'Budget', NULL, {T});""",
        message_rows(
            "m1",
            "u1",
            "t1",
            "1769947200000",
            _headers(BEN, ANN, "Budget"),
            "The budget is due on Friday.",
            "inbox-u1 unread-u1 work-u1",
        ),
        message_rows(
            "m2",
            "u1",
            "t1",
            "1770033600000",
            _headers(ANN, BEN, "Re: Budget", **{"In-Reply-To": "<budget@mail.test>"}),
            "I will send it.",
            "sent-u1",
            plain=True,
        ),
        message_rows(
            "m3",
            "u1",
            "t2",
            "1770120000000",
            _headers(CAT, f"{ANN}, {BEN}", "Lunch", Cc="dan@else.test"),
            "Shall we have lunch at noon?",
            "inbox-u1 starred-u1",
        ),
        message_rows("m4", "u1", "t3", "1770206400000", _headers("win@spam.test", ANN, "Offer"), "You won.", "spam-u1"),
        message_rows(
            "m5", "u1", "t4", "1770292800000", _headers(ANN, CAT, "Plan"), "A first draft", "draft-u1", plain=True
        ),
        message_rows("m6", "u1", "t6", "1768900000000", _headers(CAT, ANN, "Old"), "Out of date.", "trash-u1"),
        message_rows(
            "m7",
            "u1",
            "t7",
            "1770300000000",
            _headers(BEN, ANN, "[Confidential] Merger"),
            "Not to be shared.",
            "inbox-u1",
        ),
        message_rows(
            "m9", "u2", "t9", "1769947200000", _headers(BEN, ANN, "Budget"), "The budget is due on Friday.", "sent-u2"
        ),
        f"INSERT INTO message_parts VALUES ('m3-a', 'm3', 'm3-p', '0.1', 'application/pdf', 'menu.pdf', {T});",
        """INSERT INTO attachments VALUES ('a1', 'm3', 'u1', 'menu.pdf', 'application/pdf', 4, 'm3-a', 'bWVudQ==',
 '2026-02-01 08:00:00', '2026-02-01 08:00:00');""",
        f"INSERT INTO message_part_bodies VALUES ('m3-ab', 'm3-a', 4, NULL, 'a1', {T});",
        f"INSERT INTO drafts VALUES ('dr1', 'm5', {T});",
        f"""INSERT INTO history_events VALUES
 ('e1', 'u1', 'h1', 'messageAdded', '2026-02-01T12:00:00',
  '{{"messagesAdded": [{{"message": {{"id": "m1", "threadId": "t1", "labelIds": ["inbox-u1"]}}}}]}}', {T}),
 ('e2', 'u1', 'h2', 'labelAdded', '2026-02-01T12:00:01',
  '{{"labelsAdded": [{{"message": {{"id": "m1", "threadId": "t1"}}, "labelIds": ["work-u1"]}}]}}', {T}),
 ('e3', 'u1', 'h3', 'messageAdded', '2026-02-03T12:00:00',
  '{{"messagesAdded": [{{"message": {{"id": "m3", "threadId": "t2", "labelIds": ["inbox-u1"]}}}}]}}', {T});""",
        f"""INSERT INTO send_as_aliases VALUES
 ('s1', 'u1', '{ANN}', 'Ann Berg', NULL, NULL, 1, 1, 0, NULL, 'accepted', NULL, NULL, '2026-02-01', '2026-02-01'),
 ('s2', 'u1', 'sales@north.test', 'Sales', NULL, NULL, 0, 0, 1, NULL, 'pending', '0123', '2026-02-08', '2026-02-01',
  '2026-02-01');""",
        f"""INSERT INTO filters VALUES ('filter_2', 'u1', '{{"from": "offers", "to": "", "subject": "", "query": "",
 "negatedQuery": "", "hasAttachment": false, "excludeChats": true, "size": 0, "sizeComparison": "unspecified"}}',
 '{{"addLabelIds": ["home-u1"]}}', '{ANN}', '2026-02-01', '2026-02-01');""",
        """INSERT INTO smime_info VALUES
 ('c1', 's1', 'u1', 'ann@north.test', 'CA One', 1, '1800000000000', NULL, 'pem-one', NULL, '2026-02-01', '2026-02-01'),
 ('c3', 's1', 'u1', 'ann@north.test', 'CA Old', 0, '1700000000000', NULL, 'pem-old', NULL, NULL, NULL),
 ('c2', 's1', 'u1', 'ann@north.test', 'CA Two', 0, '1800000000000', NULL, 'pem-two', NULL, NULL, NULL);""",
        f"""INSERT INTO watch_subscriptions VALUES
 ('w1', 'u1', 'projects/p/topics/t', NULL, NULL, 'h1', '1770000000000', 1, {T});""",
        f"""INSERT INTO filters VALUES ('filter_1', 'u2', '{{"from": "ann", "to": "", "subject": "", "query": "",
 "negatedQuery": "", "hasAttachment": false, "excludeChats": true, "size": 0, "sizeComparison": "unspecified"}}',
 '{{"addLabelIds": ["work-u2"]}}', '{BEN}', '2026-02-01', '2026-02-01');""",
        """INSERT INTO forwarding_addresses VALUES
 ('f1', 'u1', 'ben@north.test', 'accepted', '2026-02-01', '2026-02-01'),
 ('f2', 'u1', 'far@away.test', 'pending', '2026-02-01', '2026-02-01');""",
        f"""INSERT INTO cse_key_pairs VALUES
 ('k1', 'u1', 'kp_1', 'pkcs7', NULL, '{ANN}', 'enabled', NULL, {T}),
 ('k3', 'u1', 'kp_3', 'pkcs7', NULL, '{ANN}', 'enabled', NULL, {T}),
 ('k2', 'u1', 'kp_2', 'pkcs7', NULL, '{ANN}', 'disabled', '2026-01-02 08:00:00', {T});""",
        f"INSERT INTO cse_private_key_metadata VALUES ('km1', 'pkm_1', 'k1', 'KMS', 'https://k.test', 'x', NULL, {T});",
        f"INSERT INTO cse_identities VALUES ('ci1', 'u1', '{ANN}', 'kp_1', NULL, NULL, {T});",
    ]
)
