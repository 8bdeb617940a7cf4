"""Drafts, history and watches of a mailbox."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.email.mail import header, labels, note, raw, read, search
from tests.email.seed import HEADERS, NOW, SEED
from tests.email.test_messages import rich_message
from tests.support.gym import Gym, GymDatabase


def test_a_draft_keeps_its_id_when_its_message_is_replaced(mail: GymDatabase) -> None:
    draft = mail.call("create_draft", userId="me", message={"raw": raw(rich_message())}).data
    assert "DRAFT" in draft["message"]["labelIds"]
    payload = note("ben@north.test", "Second")["payload"]
    changed = mail.call("update_draft", userId="me", id=draft["id"], message={"id": "any", "payload": payload}).data
    assert changed["id"] == draft["id"]
    assert changed["message"]["id"] != draft["message"]["id"]
    assert changed["message"]["threadId"] == draft["message"]["threadId"]
    assert header(changed["message"], "Subject") == "Second"
    assert mail.call("get_message", userId="me", id=draft["message"]["id"]).code == "NOT_FOUND"


def test_a_sent_draft_becomes_a_sent_message_of_its_thread(mail: GymDatabase) -> None:
    sent = mail.call("send_draft", userId="me", id="dr1", message={"raw": ""}).data
    assert (sent["threadId"], sent["labelIds"]) == ("t4", ["SENT"])
    assert read(mail, sent["id"]).get_content().strip() == "A first draft"
    assert mail.call("get_draft", userId="me", id="dr1").code == "NOT_FOUND"
    assert mail.call("list_drafts").data == {"resultSizeEstimate": 0}
    assert search(mail, "in:drafts") == []


def test_a_draft_is_sent_with_the_message_that_the_call_gives(mail: GymDatabase) -> None:
    sent = mail.call("send_draft", userId="me", id="dr1", message={"raw": raw(rich_message())}).data
    assert header(sent, "Subject") == "Réunion à Köln"


def test_a_draft_without_a_recipient_is_not_sent(mail: GymDatabase) -> None:
    payload = {"headers": [{"name": "Subject", "value": "To nobody"}], "body": {"data": "x", "size": 1}}
    draft = mail.call("create_draft", userId="me", message={"payload": payload}).data["id"]
    assert mail.call("send_draft", userId="me", id=draft, message={"raw": ""}).code == "NO_RECIPIENT"
    assert mail.call("get_draft", userId="me", id=draft).data["id"] == draft


def test_a_deleted_draft_takes_its_message_along(mail: GymDatabase) -> None:
    mail.call("delete_draft", userId="me", id="dr1")
    assert mail.value("SELECT count(*) FROM messages WHERE id = 'm5'") == 0


def test_a_draft_of_another_mailbox_is_not_found(mail: GymDatabase) -> None:
    assert mail.call("get_draft", userId="ben@north.test", id="dr1").code == "NOT_FOUND"


# --- sending in access published -----------------------------------------------------------------------------------


def test_a_sent_message_has_sender_date_and_message_id_and_stays_in_the_mailbox(mail: GymDatabase) -> None:
    sent = mail.call_with("send_message", note("ben@north.test, ghost@else.test", "My trip")).data
    assert (header(sent, "From"), header(sent, "Date")) == ("ann@north.test", "Mon, 02 Mar 2026 12:00:00 GMT")
    assert header(sent, "Message-ID").endswith("@north.test>")
    assert sent["snippet"] == "My trip"
    assert mail.value("SELECT count(*) FROM messages WHERE snippet = 'My trip'") == 1


def test_labels_of_a_sent_message_are_added(mail: GymDatabase) -> None:
    sent = mail.call_with("send_message", {**note("ben@north.test"), "labelIds": ["work-u1"]}).data
    assert labels(mail, sent["id"]) == {"SENT", "work-u1"}
    assert mail.call_with("send_message", {**note("ben@north.test"), "labelIds": ["x"]}).code == "INVALID_LABEL"


def test_an_imported_message_is_new_in_the_inbox(mail: GymDatabase) -> None:
    added = mail.call("import_message", userId="me", raw=raw(rich_message()), internalDateSource="dateHeader").data
    assert added["labelIds"] == ["INBOX", "UNREAD"]


def test_a_message_can_arrive_at_the_time_of_its_date_header(mail: GymDatabase) -> None:
    dated = note("ann@north.test", Date="Tue, 10 Feb 2026 01:00:00 +0100")
    added = mail.call_with("insert_message", {**dated, "internalDateSource": "dateHeader"}).data
    assert added["internalDate"] == "1770681600000"
    assert mail.call_with("insert_message", {**dated, "internalDate": "5"}).data["internalDate"] == "5"


# --- history -------------------------------------------------------------------------------------------------------


def changes(mail: GymDatabase, start: str, **arguments: object) -> list[dict[str, object]]:
    listed = mail.call("list_history", userId="me", startHistoryId=start, **arguments).data
    return listed.get("history", [])  # type: ignore[no-any-return]


def test_history_continues_after_an_id_and_names_each_change(mail: GymDatabase) -> None:
    assert [one["id"] for one in changes(mail, "h1")] == ["h2", "h3"]
    mail.call("modify_message", userId="me", id="m1", addLabelIds=["STARRED"], removeLabelIds=["UNREAD", "SPAM"])
    added, removed = changes(mail, "h3")
    shown = {"id": "m1", "threadId": "t1"}
    assert added["labelsAdded"] == [{"message": shown, "labelIds": ["STARRED"]}]
    assert removed["labelsRemoved"] == [{"message": shown, "labelIds": ["UNREAD"]}]
    current = mail.call("get_user_profile", userId="me").data["historyId"]
    assert removed["id"] == current == mail.call("get_message", userId="me", id="m1").data["historyId"]
    assert changes(mail, current) == []


def test_history_tells_of_new_and_of_deleted_messages(mail: GymDatabase) -> None:
    key = mail.call("insert_message", userId="me", raw=raw(rich_message()), labelIds=["INBOX"]).data["id"]
    mail.call("delete_message", userId="me", id=key)
    kinds = [next(kind for kind in one if kind not in {"id", "messages"}) for one in changes(mail, "h3")]
    assert kinds == ["messagesAdded", "labelsAdded", "messagesDeleted"]
    only = changes(mail, "h3", historyTypes=["messageDeleted"])
    assert [one["messages"] for one in only] == [[{"id": key, "threadId": only[0]["messages"][0]["threadId"]}]]  # type: ignore[index]


def test_history_of_a_label_has_the_changes_of_its_messages(mail: GymDatabase) -> None:
    assert [one["id"] for one in changes(mail, "", labelId="STARRED")] == ["h3"]
    assert [one["id"] for one in changes(mail, "", labelId="work-u1")] == ["h1", "h2"]


def test_an_unknown_history_id_is_not_found(mail: GymDatabase) -> None:
    for start in ("h0", "h9", "1"):
        refused = mail.call("list_history", userId="me", startHistoryId=start)
        assert refused.code == "NOT_FOUND"
        assert '"code": 404' in refused.text


def test_history_is_cut_into_pages(mail: GymDatabase) -> None:
    first = mail.call("list_history", userId="me", startHistoryId="", maxResults=2).data
    rest = mail.call("list_history", userId="me", startHistoryId="", pageToken=first["nextPageToken"]).data
    assert [one["id"] for one in first["history"] + rest["history"]] == ["h1", "h2", "h3"]


# --- watches -------------------------------------------------------------------------------------------------------


def test_a_watch_stands_beside_the_present_one_and_lasts_a_week_and_all_are_stopped(mail: GymDatabase) -> None:
    watch = mail.call("watch_user_mailbox", userId="me", topicName="projects/a/topics/b", labelIds=["INBOX"]).data
    ends = datetime.fromisoformat(f"{NOW}+00:00") + timedelta(days=7)
    assert watch == {"historyId": "h3", "expiration": str(int(ends.timestamp() * 1000))}
    active = "SELECT count(*) FROM watch_subscriptions WHERE user_id = 'u1' AND is_active"
    assert mail.value(active) == 2
    mail.call("stop_user_watch", userId="me")
    assert mail.value(active) == 0
    assert (
        mail.call("watch_user_mailbox", userId="me", topicName="projects/a/topics/b", labelIds=["NONE"]).code
        == "INVALID_LABEL"
    )


# --- time ----------------------------------------------------------------------------------------------------------


def test_a_watch_ends_at_its_expiration(mail: GymDatabase) -> None:
    assert not mail.call("watch_user_mailbox", userId="me", topicName="projects/a/topics/b", labelIds=[]).is_error
    active = "SELECT count(*) FROM watch_subscriptions WHERE user_id = 'u1' AND is_active"
    mail.set_clock("2026-03-09T11:59:59")
    assert mail.value(active) == 2
    mail.set_clock("2026-03-09T12:00:00")
    assert mail.value(active) == 1, "the seed's has ended before the clock's time"


def test_trash_and_spam_are_emptied_after_30_days(mail: GymDatabase) -> None:
    for key, label in (("m1", "TRASH"), ("m3", "SPAM")):
        mail.call("modify_message", userId="me", id=key, addLabelIds=[label])
    mail.set_clock("2026-04-01T11:59:59")
    assert mail.value("SELECT count(*) FROM messages WHERE id IN ('m1', 'm3')") == 2
    mail.set_clock("2026-04-01T12:00:00")
    assert mail.value("SELECT count(*) FROM messages WHERE id IN ('m1', 'm3')") == 0
    assert [row["id"] for row in mail.rows("SELECT id FROM messages WHERE user_id = 'u1'")] == ["m2", "m5", "m7"]
    assert mail.call("get_user_profile", userId="me").data["messagesTotal"] == 3


def test_a_delegate_who_did_not_accept_within_a_week_is_expired(email: Gym) -> None:
    database = email.database(f"-- now: 2026-02-08T07:59:59\n{SEED}", **HEADERS)
    statuses = "SELECT group_concat(id || ' ' || verification_status, ', ') FROM delegates"
    assert database.value(statuses) == "d1 accepted, d2 pending"
    database.set_clock("2026-02-08T08:00:00")
    assert database.value(statuses) == "d1 accepted, d2 expired"
    email.drop(database)
