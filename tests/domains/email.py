"""What the email server declares to be tested. Its tools return resources of the Gmail API (`tests/email`)."""

from __future__ import annotations

from typing import Any

from tests.domains.declaration import DomainDeclaration, StrictCase, StrictDeclaration
from tests.email.examples import EXAMPLES, ME
from tests.email.seed import NOW, SEED, TOKEN

from opsgym_domains import registry

_ANN = {"userId": "ann@north.test"}
_CRITERIA = EXAMPLES["create_filter"]["criteria"]


def _message(to: str, *, thread: str | None = None, **headers: str) -> dict[str, Any]:
    """Arguments that send a message."""
    pairs = [{"name": name, "value": value} for name, value in {"To": to, "Subject": "Note", **headers}.items()]
    given = {**ME, "payload": {"headers": pairs, "body": {"data": "Hello", "size": 5}}}
    return given | ({"threadId": thread} if thread else {})


CASES = (
    StrictCase(
        "PRC-1", "NOT_THE_OWNER", "update_pop_settings", {**_ANN, "accessWindow": "allMail", "disposition": "archive"},
        ME, says="ann@north.test", role="delegate",
    ),
    StrictCase(
        "PRC-1", "NOT_THE_OWNER", "delete_filter", {**_ANN, "id": "filter_2"}, {}, role="delegate", helper="admin",
    ),
    StrictCase(
        "PRC-2", "FORWARDING_OUTSIDE", "create_forwarding_address", {**ME, "forwardingEmail": "ann@home.test"},
        {"forwardingEmail": "dan@north.test"}, says="ann@home.test",
    ),
    StrictCase(
        "PRC-2", "FORWARDING_OUTSIDE", "update_auto_forwarding",
        {**ME, "enabled": True, "emailAddress": "far@away.test", "disposition": "archive"},
        {"emailAddress": "ben@north.test"}, says="far@away.test",
        given="UPDATE forwarding_addresses SET verification_status = 'accepted';",
    ),
    StrictCase(
        "PRC-2", "FORWARDING_OUTSIDE", "create_filter",
        {**ME, "criteria": _CRITERIA, "action": {"forward": "far@away.test"}},
        {"action": {"forward": "ben@north.test"}}, says="far@away.test",
        given="UPDATE forwarding_addresses SET verification_status = 'accepted';",
    ),
    StrictCase(
        "PRC-3", "DELEGATE_OUTSIDE", "email_create_delegate", {**ME, "delegateEmail": "cat@south.test"},
        {"delegateEmail": "dan@north.test"}, says="cat@south.test",
    ),
    StrictCase(
        "PRC-4", "ALIAS_OUTSIDE", "create_send_as_alias", {"sendAsEmail": "ann@home.test"},
        {"sendAsEmail": "press@north.test"}, says="ann@home.test",
    ),
    StrictCase(
        "PRC-5", "REPLY_OVER", "update_vacation_settings",
        {**EXAMPLES["update_vacation_settings"], "endTime": "2026-03-02T11:00:00Z"},
        {"endTime": "2026-03-02T13:00:00Z"}, says="endTime",
    ),
    StrictCase(
        "PRC-6", "CERTIFICATE_EXPIRED", "set_default_smime_config",
        {**ME, "sendAsEmail": "ann@north.test", "id": "c3"}, {"id": "c2"}, says="CA Old",
    ),
    StrictCase(
        "PRC-7", "KEY_PAIR_IN_USE", "email_disable_cse_keypair", {**ME, "keyPairId": "kp_1"}, {"keyPairId": "kp_3"},
        says="ann@north.test",
    ),
    StrictCase(
        "PRC-8", "SENDER_NOT_OWNED", "send_message", _message("ben@north.test", From="Ben <ben@north.test>"),
        _message("ben@north.test", From="Ann <ann@north.test>"), says="ben@north.test",
    ),
    StrictCase(
        "PRC-9", "RECIPIENTS_EXPOSED", "send_message",
        _message(", ".join(f"p{number}@north.test" for number in range(21))),
        _message("ben@north.test", Bcc=", ".join(f"p{number}@north.test" for number in range(21))), says="Bcc",
    ),
    StrictCase(
        "PRC-10", "CONFIDENTIAL_OUTSIDE", "send_message", _message("ben@north.test, cat@south.test", thread="t7"),
        _message("ben@north.test", thread="t7"), says="cat@south.test",
    ),
    StrictCase(
        "PRC-10", "CONFIDENTIAL_OUTSIDE", "send_message",
        _message("cat@south.test", Sensitivity="Company-Confidential"), _message("cat@south.test"),
    ),
    StrictCase(
        "PRC-11", "ANSWER_TO_SPAM", "send_message", _message("win@spam.test", **{"In-Reply-To": "<offer@mail.test>"}),
        _message("ben@north.test"), says="m4",
    ),
    StrictCase("PRC-12", "NOT_IN_TRASH", "delete_message", {"id": "m1"}, {"id": "m6"}, says="m1"),
    StrictCase("PRC-12", "NOT_IN_TRASH", "batch_delete_messages", {**ME, "ids": ["m6", "m1"]}, {"ids": ["m6", "m4"]}),
)  # fmt: skip

DECLARATION = DomainDeclaration(
    domain=registry.load("email"),
    tool_count=79,
    seed=SEED,
    examples=EXAMPLES,
    identity=TOKEN,
    now=NOW,
    order="rowid",
    unknown_key="none",
    lists={},
    creates={},
    updates={},
    deletes={},
    other_writes=frozenset(name for name, tool in registry.load("email").toolbox.tools.items() if tool.writes),
    refuses_no_op=False,
    references={},
    strict=StrictDeclaration(
        seed=SEED,
        identities={"admin": TOKEN, "delegate": "token-ben"},
        inactive="token-dan",
        reads=lambda _role, _resource: True,
        changes=lambda _role, _resource: True,
        tools_of_resource={
            "users": ("get_user_profile", "watch_user_mailbox"),
            "drafts": ("list_drafts", "create_draft"),
            "history": ("list_history", None),
            "labels": ("list_labels", "create_label"),
            "messages": ("list_messages", "send_message"),
            "settings": ("get_imap_settings", "update_imap_settings"),
            "encryption": ("list_cse_identities", "create_cse_identity"),
            "delegates": ("email_list_delegates", "email_create_delegate"),
            "filters": ("list_filters", "create_filter"),
            "forwarding": ("list_forwarding_addresses", "create_forwarding_address"),
            "send_as": ("list_send_as_aliases", "create_send_as_alias"),
            "smime": ("list_smime_configs", "insert_smime_config"),
            "threads": ("list_threads", "modify_thread"),
        },
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-2"}),
        transitions={},
        denial=None,
    ),
    dangling=("('dr1', 'm5'", "('dr1', 'm-none'", {"place": "drafts.message_id", "value": "m-none"}),
    column_of={
        "userId": "primary_email",
        "q": "value",
        "messageId": "message_id",
        "threadId": "thread_id",
        "ids": "message_id",
        "labelIds": "label_id",
        "labelId": "label_id",
        "addLabelIds": "label_id",
        "removeLabelIds": "label_id",
        "startHistoryId": "history_id",
        "sendAsEmail": "send_as_email",
        "delegateEmail": "primary_email",
        "forwardingEmail": "forwarding_email",
        "emailAddress": "primary_email",
        "cseEmailAddress": "primary_email",
        "keyPairId": "key_pair_id",
        "primaryKeyPairId": "key_pair_id",
    },
    argument_codes={"INVALID_ENUM_VALUE": "invalid", "MISSING_FIELD": "missing", "INVALID_TYPE": "invalid"},
)
