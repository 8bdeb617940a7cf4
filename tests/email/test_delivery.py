"""Access `strict`: delivery, bounces, filters, forwarding, automatic replies, delegates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.email.mail import header, labels, note, raw, read, search
from tests.email.seed import NOW, SEED, message_rows
from tests.email.test_messages import rich_message
from tests.support.gym import Gym, GymDatabase

REPLY = "from:mailer-daemon"
ANY = {
    "from": " ", "to": " ", "subject": " ", "query": " ", "negatedQuery": " ", "hasAttachment": False,
    "excludeChats": True, "size": 0, "sizeComparison": "unspecified",
}  # fmt: skip
"""Criteria that every message meets; the schema requires all of them, and texts that are not empty."""


def acting(database: GymDatabase, name: str) -> GymDatabase:
    """The same database, used by another user."""
    return GymDatabase(database.client, database.id, {"x-email-user-token": f"token-{name}"})


@pytest.fixture
def ben(office: GymDatabase) -> GymDatabase:
    """The office, used by Ben, whose automatic reply is on for contacts."""
    return acting(office, "ben")


def test_a_message_arrives_with_every_recipient_once_and_without_bcc(office: GymDatabase, ben: GymDatabase) -> None:
    assert office.call_with(
        "send_message", note("BEN@north.test, Ben <ben@north.test>", "Trip", Bcc="cat@south.test")
    ).data
    (copy,) = search(ben, "subject:trip")
    shown = ben.call("get_message", userId="me", id=copy).data
    assert set(shown["labelIds"]) == {"INBOX", "UNREAD", "work-u2"}
    assert header(shown, "Bcc") == ""
    assert len(search(acting(office, "cat"), "subject:trip")) == 1
    (sent,) = search(office, "subject:trip in:sent")
    assert header(office.call("get_message", userId="me", id=sent).data, "Bcc") == "cat@south.test"


def test_attachments_arrive(office: GymDatabase, ben: GymDatabase) -> None:
    message = rich_message()
    message.replace_header("To", "ben@north.test")
    del message["Cc"]
    assert office.call("send_message", userId="me", raw=raw(message)).data
    (copy,) = search(ben, "filename:façade.pdf")
    attachment = ben.call("get_message", userId="me", id=copy).data["payload"]["parts"][1]["body"]["attachmentId"]
    assert ben.call("get_attachment", userId="me", messageId=copy, id=attachment).data["size"] == 256


def test_an_answer_arrives_in_the_thread_of_each_mailbox(office: GymDatabase, ben: GymDatabase) -> None:
    assert office.call_with("send_message", note("ben@north.test", "Re: Budget", In_Reply_To="<budget@mail.test>")).data
    (copy,) = search(ben, 'subject:"re budget"')
    assert ben.call("get_message", userId="me", id=copy).data["threadId"] == "t9"


def test_a_message_to_oneself_is_in_the_inbox(office: GymDatabase) -> None:
    sent = office.call_with("send_message", note("ann@north.test", "To me")).data
    assert search(office, 'subject:"to me"') == [sent["id"]]
    assert labels(office, sent["id"]) == {"SENT", "INBOX", "UNREAD"}


def test_an_unknown_address_is_reported_to_the_sender(office: GymDatabase) -> None:
    sent = office.call_with("send_message", note("ghost@north.test, dan@north.test", "Hello")).data
    (bounce,) = search(office, REPLY)
    shown = office.call("get_message", userId="me", id=bounce).data
    assert shown["threadId"] == sent["threadId"]
    assert "ghost@north.test" in read(office, bounce).get_content()
    assert set(shown["labelIds"]) == {"INBOX", "UNREAD"}


def test_a_message_to_a_verified_alias_arrives_and_to_a_pending_one_does_not(office: GymDatabase) -> None:
    dan = acting(office, "ben")
    assert dan.call_with("send_message", note("sales@north.test", "Order")).data
    assert search(office, "subject:order") == []
    assert office.call("verify_send_as_alias", userId="me", sendAsEmail="sales@north.test").data
    assert dan.call_with("send_message", note("sales@north.test", "Order again")).data
    assert len(search(office, "subject:order")) == 1


def test_filters_apply_on_arrival(office: GymDatabase, ben: GymDatabase) -> None:
    assert office.call_with("send_message", note("ben@north.test", "Filed")).data
    (copy,) = search(ben, "subject:filed")
    assert "work-u2" in labels(ben, copy)


@pytest.mark.parametrize(
    ("criteria", "applies"),
    [
        ({"from": "ann@north.test"}, True),
        ({"from": "cat"}, False),
        ({"to": "ben@north.test", "subject": "quarterly report"}, True),
        ({"subject": "annual"}, False),
        ({"query": "from:ann figures"}, True),
        ({"negatedQuery": "figures"}, False),
        ({"hasAttachment": True}, False),
        ({"size": 1_000_000, "sizeComparison": "larger"}, False),
        ({"size": 1_000_000, "sizeComparison": "smaller"}, True),
    ],
)
def test_a_filter_applies_to_messages_that_meet_all_of_its_criteria(
    office: GymDatabase, ben: GymDatabase, criteria: dict[str, object], applies: bool
) -> None:
    given = {**ANY, **criteria}
    assert ben.call("create_filter", userId="me", criteria=given, action={"addLabelIds": ["STARRED"]}).data
    assert office.call_with("send_message", note("ben@north.test", "Quarterly report", "The figures")).data
    (copy,) = search(ben, "subject:report")
    assert ("STARRED" in labels(ben, copy)) is applies


def test_messages_are_forwarded_within_the_company_and_no_further(office: GymDatabase, ben: GymDatabase) -> None:
    office.call(
        "update_auto_forwarding", userId="me", enabled=True, emailAddress="ben@north.test", disposition="archive"
    )
    assert ben.call("create_forwarding_address", userId="me", forwardingEmail="ann@north.test").data
    assert ben.call(
        "update_auto_forwarding", userId="me", enabled=True, emailAddress="ann@north.test", disposition="leaveInInbox"
    ).data
    assert acting(office, "cat").call_with("send_message", note("ann@north.test", "Loop")).data
    (own,), (copy,) = search(office, "subject:loop"), search(ben, "subject:loop")
    assert labels(office, own) == {"UNREAD"}
    assert "INBOX" in labels(ben, copy)
    assert header(ben.call("get_message", userId="me", id=copy).data, "Auto-Submitted") == "auto-forwarded"


def test_a_message_that_a_filter_discards_is_neither_forwarded_nor_answered(
    office: GymDatabase, ben: GymDatabase
) -> None:
    discard = {**ANY, "from": "cat"}
    assert office.call("create_filter", userId="me", criteria=discard, action={"addLabelIds": ["TRASH"]}).data
    office.call(
        "update_auto_forwarding", userId="me", enabled=True, emailAddress="ben@north.test", disposition="archive"
    )
    assert acting(office, "cat").call_with("send_message", note("ann@north.test", "Junk")).data
    assert search(ben, "subject:junk") == []
    assert len(search(office, "subject:junk in:trash")) == 1


# --- automatic replies ---------------------------------------------------------------------------------------------


def away(database: GymDatabase, **changed: object) -> None:
    given = {
        "userId": "me", "enableAutoReply": True, "responseSubject": "Away:", "responseBodyPlainText": "Ask Ben.",
        "responseBodyHtml": "", "restrictToContacts": False, "restrictToDomain": False,
        "startTime": "2026-03-01T00:00:00Z", "endTime": "2026-03-20T00:00:00Z", **changed,
    }  # fmt: skip
    assert not database.call_with("update_vacation_settings", given).is_error


def replies(database: GymDatabase) -> int:
    return len(search(database, "subject:away"))


def test_a_sender_gets_the_automatic_reply_once_in_four_days(office: GymDatabase) -> None:
    away(office)
    cat = acting(office, "cat")
    for subject in ("One", "Two"):
        assert cat.call_with("send_message", note("ann@north.test", subject)).data
    assert replies(cat) == 1
    office.set_clock("2026-03-06T11:59:00")
    assert cat.call_with("send_message", note("ann@north.test", "Three")).data
    assert replies(cat) == 1
    office.set_clock("2026-03-06T12:01:00")
    assert cat.call_with("send_message", note("ann@north.test", "Four")).data
    assert replies(cat) == 2


def test_a_new_period_answers_again(office: GymDatabase) -> None:
    away(office)
    cat = acting(office, "cat")
    assert cat.call_with("send_message", note("ann@north.test", "One")).data
    office.set_clock("2026-03-02T13:00:00")
    away(office, startTime="2026-03-02T12:30:00Z")
    assert cat.call_with("send_message", note("ann@north.test", "Two")).data
    assert replies(cat) == 2


def test_two_users_who_are_away_answer_each_other_once(office: GymDatabase, ben: GymDatabase) -> None:
    away(office)
    away(ben)
    assert office.call_with("send_message", note("ben@north.test", "Hello")).data
    assert (replies(office), replies(ben)) == (1, 0)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"startTime": "2026-03-02T12:00:01Z"}, 0),
        ({"startTime": NOW + "Z"}, 1),
        ({"endTime": "2026-03-02T12:00:01Z"}, 1),
        ({"enableAutoReply": False}, 0),
        ({"restrictToDomain": True}, 0),
        ({"restrictToContacts": True}, 0),
    ],
    ids=str,
)
def test_the_automatic_reply_goes_to_whom_and_when_it_is_set(
    office: GymDatabase, changed: dict[str, object], expected: int
) -> None:
    away(office, **changed)
    cat = acting(office, "cat")
    assert cat.call_with("send_message", note("ann@north.test", "Hello")).data
    assert replies(cat) == expected


def test_a_contact_is_someone_whom_the_owner_has_written_to(office: GymDatabase) -> None:
    assert office.call_with("send_message", note("cat@south.test", "First")).data
    away(office, restrictToContacts=True)
    cat = acting(office, "cat")
    assert cat.call_with("send_message", note("ann@north.test", "Hello")).data
    assert replies(cat) == 1


def test_mailing_lists_and_bounces_get_no_automatic_reply(office: GymDatabase) -> None:
    away(office)
    cat = acting(office, "cat")
    assert cat.call_with("send_message", note("ann@north.test", "Issue 5", List_Id="<news.test>")).data
    assert cat.call_with("send_message", note("ann@north.test", "Robot", Auto_Submitted="auto-generated")).data
    assert replies(cat) == 0


# --- whose mailbox -------------------------------------------------------------------------------------------------


def test_a_delegate_works_in_the_mailbox_and_is_named_as_sender(office: GymDatabase, ben: GymDatabase) -> None:
    assert search(ben, "subject:lunch", userId="ann@north.test") == ["m3"]
    sent = ben.call_with("send_message", {**note("cat@south.test", "On behalf"), "userId": "ann@north.test"}).data
    assert (header(sent, "From"), header(sent, "Sender")) == ("ann@north.test", "ben@north.test")
    assert not ben.call("trash_message", userId="ann@north.test", id="m3").is_error
    assert search(office, "subject:behalf") == [sent["id"]]


@pytest.mark.parametrize("name", ["cat", "ben"], ids=["a stranger", "an owner in the mailbox of a stranger"])
def test_a_mailbox_opens_only_for_its_owner_and_delegates(office: GymDatabase, name: str) -> None:
    mailbox = {"cat": "ann@north.test", "ben": "cat@south.test"}[name]
    user, before = acting(office, name), office.digest()
    refused = user.call("list_messages", userId=mailbox)
    assert refused.code == "PERMISSION_DENIED"
    assert "rule ID-2" in refused.text
    for tool, arguments in (
        ("get_message", {"id": "m1"}),
        ("trash_message", {"id": "m1"}),
        ("get_thread", {"id": "t1"}),
    ):
        assert user.call_with(tool, {"userId": mailbox, **arguments}).code == "PERMISSION_DENIED"
        if name == "cat":
            assert user.call_with(tool, {"userId": "me", **arguments}).code == "NOT_FOUND"
    assert office.digest() == before


def test_a_delegate_whose_invitation_is_pending_stays_outside(office: GymDatabase) -> None:
    assert acting(office, "cat").call("list_messages", userId="ben@north.test").code == "PERMISSION_DENIED"


# --- confidential threads ------------------------------------------------------------------------------------------


@pytest.fixture
def marked(email: Gym) -> Iterator[GymDatabase]:
    """Ann's mailbox with a message whose header alone says that it is confidential."""
    headers = {
        "From": "ben@north.test",
        "To": "ann@north.test",
        "Subject": "Pay",
        "Sensitivity": "Company-Confidential",
    }
    extra = "INSERT INTO threads VALUES ('t8', 'u1', 'Pay', NULL, NULL, NULL, NULL, NULL);\n" + message_rows(
        "m8", "u1", "t8", "1770300000000", headers, "Figures", "inbox-u1"
    )
    database = email.database(f"{SEED}\n{extra}", access="strict", **{"x-email-user-token": "token-ann"})
    database.set_clock(NOW)
    yield database
    email.drop(database)


def test_a_thread_stays_confidential_whatever_the_subject_of_an_answer(marked: GymDatabase) -> None:
    outside = {**note("cat@south.test", "Hello"), "threadId": "t8"}
    assert marked.call_with("send_message", outside).code == "CONFIDENTIAL_OUTSIDE"
    draft = marked.call("create_draft", message={"threadId": "t8", "payload": outside["payload"]}).data["id"]
    assert marked.call("send_draft", id=draft, message={"raw": ""}).code == "CONFIDENTIAL_OUTSIDE"
    inside = {**note("ben@north.test", "Hello"), "threadId": "t8"}
    assert not marked.call_with("send_message", inside).is_error
