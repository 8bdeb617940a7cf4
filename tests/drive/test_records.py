"""Shared drives, comments, labels, channels, changes, applications and the acting user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.drive.conftest import made
from tests.drive.seed import insert
from tests.support.gym import Gym, GymDatabase


def test_a_request_id_creates_one_shared_drive_with_its_organizer(drive: GymDatabase) -> None:
    new = drive.call("create_drive", requestId="request-9", name="Atlas", colorRgb="#112233").data
    assert drive.call("create_drive", requestId="request-9", name="Atlas").code == "REQUEST_ID_IN_USE"
    member = drive.rows(f"SELECT user_id, role FROM drive_memberships WHERE drive_id = '{new['id']}'")
    assert member == [{"user_id": "u-ann", "role": "organizer"}]
    assert (new["colorRgb"], new["hidden"]) == ("#112233", False)


def test_a_shared_drive_with_items_is_deleted_only_by_an_administrator_who_asks_for_it(drive: GymDatabase) -> None:
    assert drive.call("delete_drive", driveId="d-sales").code == "DRIVE_NOT_EMPTY"
    assert drive.call("delete_drive", driveId="d-sales", allowItemDeletion=True).code == "ADMINISTRATOR_REQUIRED"
    both = {"allowItemDeletion": True, "useDomainAdminAccess": True}
    assert not drive.call("delete_drive", driveId="d-sales", **both).is_error
    assert drive.value("SELECT COUNT(*) FROM files WHERE drive_id = 'd-sales'") == 0


def test_restrictions_are_changed_one_by_one(drive: GymDatabase) -> None:
    drive.call("update_drives", driveId="d-sales", restrictions={"driveMembersOnly": True})
    shown = drive.call("update_drives", driveId="d-sales", restrictions={"adminManagedRestrictions": True}).data
    assert (shown["restrictions"]["driveMembersOnly"], shown["restrictions"]["domainUsersOnly"]) == (True, False)
    refused = drive.call("update_drives", driveId="d-sales", restrictions={"driveMembersOnly": False})
    assert refused.code == "ADMINISTRATOR_REQUIRED"


def test_the_old_names_show_the_same_drives(unchanged: GymDatabase) -> None:
    new = unchanged.call("list_drives").data["drives"]
    old = unchanged.call("list_teamdrives", pageSize=3).data
    assert [one["name"] for one in old["teamDrives"]] == [one["name"] for one in new[:3]]
    assert unchanged.call("list_teamdrives", pageToken=old["nextPageToken"]).data["teamDrives"][0]["id"] == new[3]["id"]
    assert unchanged.call("get_teamdrives", teamDriveId="d-lab").data["kind"] == "drive#teamDrive"


def test_deleted_comments_are_hidden_or_lose_their_content(drive: GymDatabase) -> None:
    def ids(**arguments: Any) -> list[str]:
        return [one["id"] for one in drive.call("list_comments", fileId="f-plan", **arguments).data["comments"]]

    assert ids() == ["c-1", "c-2"]
    assert ids(includeDeleted=True) == ["c-1", "c-2", "c-3"]
    assert ids(startModifiedTime="2026-05-01T08:00:01Z") == []
    assert drive.call("get_comments", fileId="f-plan", commentId="c-3").code == "COMMENT_NOT_FOUND"
    gone = drive.call("get_comments", fileId="f-plan", commentId="c-3", includeDeleted=True).data
    assert (gone["deleted"], "content" in gone) == (True, False)
    drive.call("delete_comments", fileId="f-plan", commentId="c-1")
    assert ids() == ["c-2"]
    assert drive.value("SELECT content FROM comments WHERE id = 'c-1'") == "Check the dates"


def test_a_comment_has_its_text_as_html_and_its_replies(drive: GymDatabase) -> None:
    new = drive.call("create_comments", fileId="f-plan", content="a < b").data
    assert (new["htmlContent"], new["author"]["me"], new["replies"]) == ("<p>a &lt; b</p>", True, [])
    drive.call("create_replies", fileId="f-plan", commentId=new["id"], content="Yes")
    shown = drive.call("get_comments", fileId="f-plan", commentId=new["id"]).data
    assert [one["content"] for one in shown["replies"]] == ["Yes"]
    assert drive.call("create_comments", fileId="f-plan", content="x", anchor="line 3").code == "INVALID_ANCHOR"
    assert drive.call("get_replies", fileId="f-plan", commentId="c-2", replyId="rp-1").code == "REPLY_NOT_FOUND"


def test_a_label_takes_a_value_of_its_type(drive: GymDatabase) -> None:
    def modify(label: str, **values: Any) -> Any:
        field = {"fieldId": label}
        given = [{"labelId": label, "fieldModifications": [field | values]}]
        return drive.call("modify_files_labels", fileId="f-plan", labelModifications=given)

    assert modify("l-sens", setSelectionValues=["secret"]).code == "INVALID_LABEL_VALUE"
    assert modify("l-keep", setDateValues=["soon"]).code == "INVALID_LABEL_VALUE"
    assert modify("l-none", setTextValues=["x"]).code == "LABEL_NOT_FOUND"
    assert modify("l-prio", setIntegerValues=["2", "3"]).code == "INVALID_LABEL_VALUE"
    for label, values in (
        ("l-sens", {"setSelectionValues": ["restricted"]}), ("l-keep", {"setDateValues": ["2027-01-31"]}),
        ("l-hold", {"setSelectionValues": ["true"]}), ("l-prio", {"setTextValues": ["2"]}),
        ("l-note", {"setTextValues": ["x"]}),
    ):  # fmt: skip
        assert not modify(label, **values).is_error, label
    query = (
        "SELECT label_id, value_string, value_number, value_boolean, value_date, value_enum FROM file_labels "
        "WHERE file_id = 'f-plan' ORDER BY label_id"
    )
    assert [tuple(one.values()) for one in drive.rows(query)] == [
        ("l-hold", None, None, 1, None, None), ("l-keep", None, None, None, "2027-01-31", None),
        ("l-note", "x", None, None, None, None), ("l-prio", None, 2.0, None, None, None),
        ("l-sens", None, None, None, None, "restricted"),
    ]  # fmt: skip
    assert len(drive.call("list_files_labels", fileId="f-plan").data["labels"]) == 5


def test_a_seed_may_have_a_label_with_a_number(gym_servers: Callable[[str], Gym]) -> None:
    row = insert("file_labels", {"id": "fl-9", "file_id": "f-budget", "label_id": "l-prio", "value_number": 2})
    with made(gym_servers("drive"), "published", row) as drive:
        (label,) = drive.call("list_files_labels", fileId="f-budget").data["labels"]
        assert label["fields"]["priority"]["integer"] == ["2"]


def test_a_removed_label_is_gone_and_a_file_shows_the_labels_asked_for(drive: GymDatabase) -> None:
    shown = drive.call("get_files", fileId="f-plan", includeLabels="l-sens,l-hold").data["labelInfo"]["labels"]
    assert [one["fields"]["sensitivity"]["selection"] for one in shown] == [["internal"]]
    gone = [{"labelId": "sensitivity", "removeLabel": True}]
    assert not drive.call("modify_files_labels", fileId="f-plan", labelModifications=gone).is_error
    assert drive.call("modify_files_labels", fileId="f-plan", labelModifications=gone).code == "LABEL_NOT_FOUND"


def test_a_channel_keeps_what_the_call_gives_and_is_stopped_once(drive: GymDatabase) -> None:
    hook = {
        "fileId": "f-plan",
        "address": "https://hook.test/x",
        "resourceId": "res-1",
        "resourceUri": "https://r.test",
    }
    made = drive.call("watch_files", id="ch-9", expiration="2026-12-31T00:00:00Z", **hook).data
    assert (made["resourceId"], made["expiration"]) == ("res-1", "1798675200000")
    assert drive.call("watch_files", id="ch-9", **hook).code == "CHANNEL_ID_IN_USE"
    assert drive.call("watch_files", id="ch-8", **hook, expiration="2020-01-01T00:00:00Z").code == "INVALID_EXPIRATION"
    assert drive.call("watch_files", id="ch-8", **(hook | {"address": "http://x.test"})).code == "INVALID_ADDRESS"
    assert drive.call("stop_channels", id="ch-9", resourceId="other").code == "CHANNEL_NOT_FOUND"
    assert not drive.call("stop_channels", id="ch-9", resourceId="res-1").is_error
    assert drive.call("stop_channels", id="ch-9", resourceId="res-1").code == "CHANNEL_NOT_FOUND"
    assert drive.value("SELECT active FROM channels WHERE id = 'ch-9'") == 0


def test_a_channel_ends_at_its_expiration(drive: GymDatabase) -> None:
    active = "SELECT id FROM channels WHERE active ORDER BY id"
    hook = {"address": "https://hook.test/x", "resourceId": "res-1", "resourceUri": "https://r.test"}
    drive.call("watch_files", fileId="f-plan", id="ch-9", expiration="2026-11-17T00:00:00Z", **hook)
    drive.set_clock("2026-11-16T23:59:59")
    assert [one["id"] for one in drive.rows(active)] == ["ch-1", "ch-9"]
    drive.set_clock("2026-11-17T00:00:00")
    assert [one["id"] for one in drive.rows(active)] == ["ch-1"]


def test_changes_are_listed_after_a_token_in_their_order(drive: GymDatabase) -> None:
    start = drive.call("get_changes_start_page_token").data["startPageToken"]
    assert start == "01JBQM3K8TGHZX9RNVQM5Y2P0B"
    for name in ("one", "two", "three"):
        drive.call("update_files", fileId="f-plan", description=name)
    drive.call("update_files", fileId="f-deck", description="deck")
    drive.call("delete_files", fileId="f-deep")
    first = drive.call("list_changes", pageToken=start, pageSize=2).data
    assert [one["fileId"] for one in first["changes"]] == ["f-plan", "f-plan"]
    last = drive.call("list_changes", pageToken=first["nextPageToken"], includeRemoved=True).data
    assert [(one["fileId"], one["removed"]) for one in last["changes"]] == [("f-plan", False), ("f-deep", True)]
    assert drive.call("list_changes", pageToken=last["newStartPageToken"]).data["changes"] == []
    of_drive = drive.call("list_changes", pageToken=start, driveId="d-sales").data["changes"]
    assert [one["fileId"] for one in of_drive] == ["f-deck"]
    newest = "SELECT scope, last_token FROM change_tokens WHERE last_token = (SELECT MAX(token) FROM changes)"
    assert {one["scope"] for one in drive.rows(newest)} == {"global", "user:u-ann"}


def test_a_shared_drive_lists_what_was_deleted_from_it(drive: GymDatabase) -> None:
    start = drive.call("get_changes_start_page_token").data["startPageToken"]
    drive.call("delete_files", fileId="f-client")
    drive.call("delete_files", fileId="f-deep")

    def removed(**arguments: Any) -> list[tuple[str, bool]]:
        changes = drive.call("list_changes", pageToken=start, includeRemoved=True, **arguments).data["changes"]
        return [(one["fileId"], one["removed"]) for one in changes]

    assert removed(driveId="d-sales") == [("f-client", True)]
    assert removed(driveId="d-lab") == []
    assert removed() == [("f-deep", True)]
    assert removed(includeItemsFromAllDrives=True) == [("f-client", True), ("f-deep", True)]


def test_a_token_that_no_answer_contained_is_refused(unchanged: GymDatabase) -> None:
    hook = {"address": "https://hook.test/x", "id": "ch-9"}
    for token in ("zzz", "next", "12345", "~", "01JBQM3K8TGHZX9RNVQM5Y2P0Z", "0" * 25, "x" * 300):
        assert unchanged.call("list_changes", pageToken=token).codes == ["PAGE_TOKEN_NOT_FOUND"], token
        assert unchanged.call("watch_changes", pageToken=token, **hook).codes == ["PAGE_TOKEN_NOT_FOUND"], token
    for token in ("0", "0" * 26, "01JBQM3K8TGHZX9RNVQM5Y2P0A"):
        assert not unchanged.call("list_changes", pageToken=token).is_error, token


def test_the_fields_of_the_acting_user_are_those_asked_for(unchanged: GymDatabase) -> None:
    assert set(unchanged.call("get_about").data) == {"kind", "user", "storageQuota"}
    fields = unchanged.call("get_about", fields="user.displayName, storageQuota(limit,usage)").data
    assert fields["user"] == {"displayName": "Ann Berg"}
    assert set(fields["storageQuota"]) == {"limit", "usage"}
    assert "exportFormats" in unchanged.call("get_about", fields="*").data
    assert unchanged.call("get_about", fields="nothing").code == "INVALID_FIELDS"


def test_applications_are_found_by_what_they_open(unchanged: GymDatabase) -> None:
    def ids(**arguments: str) -> list[str]:
        return [one["id"] for one in unchanged.call("list_apps", **arguments).data["items"]]

    assert ids() == ["a-docs", "a-view"]
    assert ids(appFilterExtensions=".PDF,txt") == ["a-view"]
    assert ids(appFilterMimeTypes="application/msword") == ["a-docs"]
    assert unchanged.call("get_app", appId="none").code == "APP_NOT_FOUND"
