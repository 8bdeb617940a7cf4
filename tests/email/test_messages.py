"""Messages: RFC 2822 form, parts, threads, labels, batches."""

from __future__ import annotations

import base64
from email.message import EmailMessage

import pytest
from tests.email.mail import header, labels, note, raw, read
from tests.support.gym import GymDatabase


def rich_message() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Cc"] = "Ann Berg <ann@north.test>", "Émile <emile@paris.test>", "x@y.test"
    message["Subject"], message["Message-ID"] = "Réunion à Köln", "<rich@mail.test>"
    message.set_content("Bonjour – à demain.\n")
    message.add_alternative("<p>Bonjour</p>\n", subtype="html")
    message.add_attachment(bytes(range(256)), maintype="application", subtype="pdf", filename="façade.pdf")
    return message


def test_a_message_of_a_mail_library_comes_back_as_it_was(mail: GymDatabase) -> None:
    key = mail.call("insert_message", userId="me", raw=raw(rich_message())).data["id"]
    returned, sent = read(mail, key), rich_message()
    names = ("From", "To", "Cc", "Subject", "Message-ID")
    assert {name: returned[name] for name in names} == {name: sent[name] for name in names}
    plain, html = returned.get_body(("plain",)), returned.get_body(("html",))
    assert plain is not None
    assert html is not None
    assert plain.get_content().strip() == "Bonjour – à demain."
    assert html.get_content().strip() == "<p>Bonjour</p>"
    (attached,) = returned.iter_attachments()
    assert attached.get_filename() == "façade.pdf"
    assert attached.get_content() == bytes(range(256))


def test_the_full_form_has_the_parts_and_the_attachment_apart(mail: GymDatabase) -> None:
    stored = mail.call("insert_message", userId="me", raw=raw(rich_message())).data
    assert header(stored, "Subject") == "Réunion à Köln"
    html, pdf = stored["payload"]["parts"]
    assert (html["mimeType"], pdf["mimeType"], pdf["filename"]) == ("text/html", "application/pdf", "façade.pdf")
    assert [stored["payload"]["partId"], html["partId"], pdf["partId"]] == ["0", "0.1", "0.2"]
    attachment = mail.call("get_attachment", userId="me", messageId=stored["id"], id=pdf["body"]["attachmentId"]).data
    assert base64.urlsafe_b64decode(attachment["data"]) == bytes(range(256))
    assert attachment["size"] == 256
    assert mail.call("get_attachment", userId="me", messageId="m1", id=pdf["body"]["attachmentId"]).code == "NOT_FOUND"


def test_the_forms_of_a_message_have_the_fields_of_the_api(mail: GymDatabase) -> None:
    def form(name: str) -> dict[str, object]:
        shown: dict[str, object] = mail.call("get_message", userId="me", id="m3", format=name).data
        return shown

    always = {"id", "threadId", "labelIds", "snippet", "historyId", "internalDate", "sizeEstimate"}
    assert set(form("minimal")) == always
    assert set(form("raw")) == always | {"raw"}
    assert set(form("full")) == set(form("metadata")) == always | {"payload"}
    chosen = mail.call("get_message", userId="me", id="m3", format="metadata", metadataHeaders=["subject", "cc"]).data
    assert [one["name"] for one in chosen["payload"]["headers"]] == ["Subject", "Cc"]
    assert "body" not in chosen["payload"]


@pytest.mark.parametrize("key", ["m1", "m2"], ids=["in base64url", "as plain text"])
def test_texts_come_back_however_they_are_stored(mail: GymDatabase, key: str) -> None:
    text = {"m1": "The budget is due on Friday.", "m2": "I will send it."}[key]
    body = mail.call("get_message", userId="me", id=key).data["payload"]["body"]
    assert base64.urlsafe_b64decode(body["data"]).decode() == text
    assert read(mail, key).get_content().strip() == text


@pytest.mark.parametrize("source", [{}, {"payload": {"headers": []}}, {"raw": "%%%"}, {"raw": "aGVsbG8="}])
def test_what_is_not_a_message_is_refused(mail: GymDatabase, source: dict[str, object]) -> None:
    assert mail.call("insert_message", userId="me", **source).is_error


@pytest.mark.parametrize("date", ["soon", "-1", "1" * 30])
def test_a_time_of_arrival_is_a_number(mail: GymDatabase, date: str) -> None:
    message = {**note("ben@north.test"), "internalDate": date}
    assert mail.call_with("insert_message", message).code == "INVALID_DATE"


# --- threads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["In-Reply-To", "References"])
def test_an_answer_joins_the_thread_of_the_message_that_it_names(mail: GymDatabase, name: str) -> None:
    answer = note("ben@north.test", "Re: Budget", **{name.replace("-", "_"): "<budget@mail.test>"})
    assert mail.call_with("send_message", answer).data["threadId"] == "t1"
    keys = [one["id"] for one in mail.call("get_thread", userId="me", id="t1").data["messages"]]
    assert keys[:2] == ["m1", "m2"]
    assert len(keys) == 3


def test_a_message_without_a_known_one_begins_a_thread(mail: GymDatabase) -> None:
    before = mail.call("get_user_profile", userId="me").data
    sent = mail.call_with("send_message", note("ben@north.test", "Budget", In_Reply_To="<other@mail.test>")).data
    assert sent["threadId"] not in {"t1", "t2"}
    after = mail.call("get_user_profile", userId="me").data
    assert after["messagesTotal"] - before["messagesTotal"] == after["threadsTotal"] - before["threadsTotal"] == 1


def test_a_message_id_of_another_mailbox_joins_no_thread(mail: GymDatabase) -> None:
    other = {**note("ann@north.test", In_Reply_To="<lunch@mail.test>"), "userId": "ben@north.test"}
    thread = mail.call_with("insert_message", other).data["threadId"]
    assert thread not in {"t2", "t9"}
    assert mail.call_with("send_message", {**note("ben@north.test"), "threadId": "t9"}).code == "NOT_FOUND"


def test_a_thread_without_messages_goes(mail: GymDatabase) -> None:
    mail.call("delete_message", userId="me", id="m3")
    assert mail.value("SELECT count(*) FROM threads WHERE id = 't2'") == 0
    mail.call("delete_thread", userId="me", id="t1")
    assert mail.value("SELECT count(*) FROM messages WHERE thread_id = 't1' OR id IN ('m1', 'm2')") == 0
    assert mail.value("SELECT count(*) FROM message_parts WHERE message_id IN ('m1', 'm2', 'm3')") == 0


# --- labels --------------------------------------------------------------------------------------------------------


def test_labels_are_named_by_id_and_system_labels_by_name(mail: GymDatabase) -> None:
    mail.call("modify_message", userId="me", id="m1", addLabelIds=["home-u1", "STARRED"], removeLabelIds=["UNREAD"])
    assert labels(mail, "m1") == {"INBOX", "work-u1", "home-u1", "STARRED"}
    mail.call("modify_message", userId="me", id="m1", removeLabelIds=["inbox-u1"])
    assert "INBOX" not in labels(mail, "m1")


@pytest.mark.parametrize("label", ["SENT", "DRAFT", "sent-u1", "work-u2", "Home", "inbox", "NOTHING", ""])
@pytest.mark.parametrize("argument", ["addLabelIds", "removeLabelIds"])
def test_what_no_user_applies_and_what_is_not_a_label_is_refused(mail: GymDatabase, label: str, argument: str) -> None:
    for tool, key in (("modify_message", "m1"), ("modify_thread", "t1")):
        assert mail.call_with(tool, {"userId": "me", "id": key, argument: [label]}).code == "INVALID_LABEL"
    assert mail.call_with("batch_modify_messages", {"ids": ["m1"], argument: [label]}).code == "INVALID_LABEL"


@pytest.mark.parametrize("label", ["INBOX", "SPAM", "TRASH", "UNREAD", "STARRED", "IMPORTANT", "CATEGORY_SOCIAL"])
def test_a_user_applies_these_system_labels(mail: GymDatabase, label: str) -> None:
    mail.call("modify_message", userId="me", id="m2", addLabelIds=[label])
    assert labels(mail, "m2") == {"SENT", label}


def test_the_trash_takes_a_message_from_the_inbox_and_does_not_give_it_back(mail: GymDatabase) -> None:
    mail.call("trash_message", userId="me", id="m1")
    assert labels(mail, "m1") == {"TRASH", "UNREAD", "work-u1"}
    mail.call("untrash_message", userId="me", id="m1")
    assert labels(mail, "m1") == {"UNREAD", "work-u1"}
    mail.call("trash_thread", userId="me", id="t1")
    assert "TRASH" in labels(mail, "m1") & labels(mail, "m2")
    mail.call("untrash_thread", userId="me", id="t1")
    assert "TRASH" not in labels(mail, "m1") | labels(mail, "m2")


def test_system_labels_are_neither_changed_nor_deleted(mail: GymDatabase) -> None:
    assert mail.call("delete_label", userId="me", id="INBOX").code == "SYSTEM_LABEL"
    assert mail.call("patch_label", userId="me", id="INBOX", name="In").code == "SYSTEM_LABEL"
    assert mail.call("create_label", userId="me", name="inbox").code == "LABEL_EXISTS"
    assert mail.call("create_label", userId="me", name="home").code == "LABEL_EXISTS"


def test_a_deleted_label_leaves_its_messages(mail: GymDatabase) -> None:
    mail.call("delete_label", userId="me", id="work-u1")
    assert labels(mail, "m1") == {"INBOX", "UNREAD"}


def test_a_label_counts_its_messages_and_threads(mail: GymDatabase) -> None:
    counted = mail.call("get_label", userId="me", id="INBOX").data
    assert [counted[f"{kind}Total"] for kind in ("messages", "threads")] == [3, 3]
    assert [counted[f"{kind}Unread"] for kind in ("messages", "threads")] == [1, 1]
    assert counted["id"] == "INBOX"


# --- batches -------------------------------------------------------------------------------------------------------


def test_a_batch_changes_all_of_its_messages_or_none(mail: GymDatabase) -> None:
    mail.call("batch_modify_messages", ids=["m1", "m3", "m1"], addLabelIds=["home-u1"], removeLabelIds=["INBOX"])
    assert "home-u1" in labels(mail, "m1") & labels(mail, "m3")
    before = mail.digest()
    refused = mail.call("batch_modify_messages", ids=["m1", "m9"], addLabelIds=["STARRED"])
    assert refused.code == "NOT_FOUND"
    assert mail.digest() == before


def test_a_batch_deletes_what_the_mailbox_has(mail: GymDatabase) -> None:
    mail.call("batch_delete_messages", userId="me", ids=["m1", "m9", "nothing"])
    assert [row["id"] for row in mail.rows("SELECT id FROM messages WHERE id IN ('m1', 'm9')")] == ["m9"]


# --- mailboxes -----------------------------------------------------------------------------------------------------


def test_a_call_uses_the_mailbox_that_it_names(mail: GymDatabase) -> None:
    assert mail.call("get_message", userId="ben@north.test", id="m9").data["id"] == "m9"
    assert mail.call("get_message", userId="BEN@north.test", id="m9").data["id"] == "m9"
    assert mail.call("get_message", userId="me", id="m9").code == "NOT_FOUND"
    assert mail.call("list_messages", userId="ghost@north.test").code == "NOT_FOUND"
    created = mail.call("create_label", userId="ben@north.test", name="Trips").data["id"]
    assert mail.value(f"SELECT user_id FROM labels WHERE id = '{created}'") == "u2"


@pytest.mark.parametrize(
    ("data", "stored"),
    [
        ("Zur Sitzung am 9. Mai", "Zur Sitzung am 9. Mai"),
        (base64.urlsafe_b64encode("Zur Sitzung: Grüße?".encode()).decode(), "Zur Sitzung: Grüße?"),
        (base64.urlsafe_b64encode("Zur Sitzung: Grüße?".encode()).decode().rstrip("="), "Zur Sitzung: Grüße?"),
        ("Donaudampfschifffahrt", "Donaudampfschifffahrt"),
        ("Hello", "Hello"),
    ],
    ids=["text", "base64url", "without padding", "a long word", "a short word"],
)
@pytest.mark.parametrize("size", [1, 500])
def test_a_text_is_stored_as_it_reads_whatever_size_the_call_states(
    mail: GymDatabase, data: str, stored: str, size: int
) -> None:
    arguments = note("ben@north.test")
    arguments["payload"]["body"] = {"data": data, "size": size}
    key = mail.call_with("insert_message", arguments).data["id"]
    query = "SELECT data FROM message_part_bodies b JOIN message_parts p ON p.id = b.message_part_id WHERE p.message_id"
    assert mail.value(f"{query} = '{key}'") == stored
