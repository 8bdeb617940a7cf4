"""Published verifier queries, as they are, on what our tools leave behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.email.mail import note
from tests.email.seed import T
from tests.support.gym import Gym, GymDatabase
from tests.support.upstream import upstream

pytestmark = pytest.mark.published

PEOPLE = {
    "user_001": "alice@example.com",
    "carol": "carol@university.edu",
    "05a1fa8d-35a9-4a77-a57f-fa0751e7a99e": "keys@university.edu",
    "104daf4b-2023-49f1-8def-39b4e9dcda5e": "away@university.edu",
    "bec5bb2c-807e-4f69-8358-9ddbe4ef9ca5": "totals@university.edu",
}
KEY_PAIR = "kp_79d0648aafb34921998fc540852f86ab"
LABELS = ("Intern Training", "Manager Important", "University Staff")
ADDRESSES = {"user_001": "jamie.intern@university.edu", "carol": "research.assistant@university.edu"}
"""A verified forwarding address by user."""
USERS = ", ".join(f"('{key}', 'token-{key}', '{email}', '{key}', 0, 0, NULL, {T})" for key, email in PEOPLE.items())
OWN_LABELS = ", ".join(
    f"('label_{number}', 'user_001', '{name}', 'show', 'labelShow', 'user', 0, 0, 0, 0, NULL, {T})"
    for number, name in enumerate(LABELS)
)
FORWARDING = ", ".join(f"('f-{user}', '{user}', '{one}', 'accepted', NULL, NULL)" for user, one in ADDRESSES.items())
SEED = f"""
INSERT INTO users VALUES {USERS};
INSERT INTO labels VALUES {OWN_LABELS};
INSERT INTO forwarding_addresses VALUES {FORWARDING};
INSERT INTO cse_key_pairs VALUES
    ('k', '05a1fa8d-35a9-4a77-a57f-fa0751e7a99e', '{KEY_PAIR}', '', NULL, '', 'enabled', NULL, {T});
INSERT INTO send_as_aliases (id, user_id, send_as_email, verification_status)
    VALUES ('s', 'user_001', 'alice.projects@example.com', 'pending');
"""
ME = {"userId": "me"}
CRITERIA = {
    "from": "learning@corp.com", "to": "alice", "subject": "training", "query": "training", "negatedQuery": "cancelled",
    "hasAttachment": False, "excludeChats": True, "size": 0, "sizeComparison": "unspecified",
}  # fmt: skip
FORWARD = "jamie.intern@university.edu"
VACATION = {
    "enableAutoReply": True, "responseSubject": "Away", "responseBodyPlainText": "Later", "responseBodyHtml": "",
    "restrictToContacts": True, "restrictToDomain": True, "startTime": "2026-03-01T00:00:00Z",
    "endTime": "2026-03-09T00:00:00Z",
}  # fmt: skip
IMAP = {"enabled": True, "autoExpunge": True, "expungeBehavior": "trash", "maxFolderSize": "2000"}
TRIP = note("carol@university.edu", "My university trip")["payload"]
LATE = note("boss@example.com", "Running late, will send by EOD")["payload"]
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("user_001", "create_filter", {"criteria": CRITERIA, "action": {"addLabelIds": ["label_0"], "forward": FORWARD}}),
    ("user_001", "create_filter", {"criteria": {**CRITERIA, "from": "boss"}, "action": {"addLabelIds": ["label_1"]}}),
    (
        "carol",
        "update_auto_forwarding",
        {"enabled": True, "emailAddress": "research.assistant@university.edu", "disposition": "markRead"},
    ),
    ("carol", "update_imap_settings", IMAP),
    ("05a1fa8d-35a9-4a77-a57f-fa0751e7a99e", "email_disable_cse_keypair", {"keyPairId": KEY_PAIR}),
    ("user_001", "send_message", {"payload": TRIP, "labelIds": ["label_2"]}),
    ("104daf4b-2023-49f1-8def-39b4e9dcda5e", "update_vacation_settings", VACATION),
    ("user_001", "verify_send_as_alias", {"sendAsEmail": "alice.projects@example.com"}),
    ("user_001", "create_draft", {"message": {"payload": LATE}}),
    ("user_001", "update_pop_settings", {"accessWindow": "allMail", "disposition": "archive"}),
)


@pytest.fixture
def university(email: Gym) -> Iterator[GymDatabase]:
    database = email.database(SEED)
    yield database
    email.drop(database)


def test_the_published_verifiers_pass_after_the_calls_that_they_judge(university: GymDatabase) -> None:
    for user, tool, arguments in CALLS:
        done = university.call_with(tool, {**ME, **arguments}, **{"x-email-user-token": f"token-{user}"})
        assert not done.is_error, done.text
    for number in range(6):
        thread = {"threadId": university.value("SELECT min(thread_id) FROM messages WHERE user_id LIKE 'bec5%'")}
        message = {**note("x@y.test", str(number)), **(thread if number > 1 else {})}
        header = {"x-email-user-token": "token-bec5bb2c-807e-4f69-8358-9ddbe4ef9ca5"}
        assert not university.call_with("insert_message", message, **header).is_error
    samples = json.loads((upstream() / "tasks" / "email" / "_verifier_samples.json").read_text(encoding="utf-8"))
    problems = [
        f"{one['name']}: {value!r} instead of {one['expected_value']!r}"
        for one in samples["verifiers"]
        if str(value := university.value(one["query"])) != str(one["expected_value"])
    ]
    assert len(samples["verifiers"]) == 13
    assert problems == []
