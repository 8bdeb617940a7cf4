"""Permissions, members of shared drives, owners and access proposals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.drive.conftest import as_user, made
from tests.drive.seed import insert, permission
from tests.support.gym import Gym, GymDatabase


def held(database: GymDatabase, file_id: str) -> dict[str, Any]:
    """Permissions of a file as tools list them, by id."""
    return {one["id"]: one for one in database.call("list_permission", fileId=file_id).data["permissions"]}


def test_a_list_shows_what_holds_from_above_and_whose_account_is_gone(unchanged: GymDatabase) -> None:
    plan, left, lab = held(unchanged, "f-plan"), held(unchanged, "f-left"), held(unchanged, "f-lab")
    assert set(plan) == {"o-f-plan", "p-plan-ben", "o-f-plans", "p-plans-ben"}
    assert plan["p-plans-ben"]["permissionDetails"] == [
        {"permissionType": "file", "role": "reader", "inherited": True, "inheritedFrom": "f-plans"}
    ]
    assert plan["o-f-plans"]["role"] == "writer"
    assert (left["o-f-left"]["deleted"], left["o-f-left"]["emailAddress"]) == (True, "cleo@acme.test")
    assert {one["permissionDetails"][0]["inheritedFrom"] for one in lab.values()} == {"d-lab"}
    assert {(one["type"], one["role"]) for one in lab.values()} == {("user", "organizer"), ("domain", "reader")}


def test_a_grantee_has_one_permission_and_gets_the_new_role(drive: GymDatabase) -> None:
    lea = {"fileId": "f-plan", "type": "user", "emailAddress": "LEA@acme.test"}
    first = drive.call("create_permission", role="reader", **lea).data
    second = drive.call("create_permission", role="writer", **lea).data
    assert (first["id"], second["role"]) == (second["id"], "writer")
    stored = drive.rows(f"SELECT user_id, role, type FROM permissions WHERE id = '{first['id']}'")
    assert stored == [{"user_id": "u-lea", "role": "writer", "type": "user"}]
    stranger = drive.call(
        "create_permission", fileId="f-plan", role="reader", type="user", emailAddress="new@far.test"
    ).data  # fmt: skip
    assert stranger["emailAddress"] == "new@far.test"


def test_of_two_permissions_of_a_grantee_the_named_one_changes(gym_servers: Callable[[str], Gym]) -> None:
    twice = insert(
        "permissions",
        permission("p-one", "reader", file_id="f-held", user_id="u-ben"),
        permission("p-two", "reader", file_id="f-held", email_address="ben@acme.test"),
    )
    with made(gym_servers("drive"), "published", twice) as drive:
        drive.call("update_permission", fileId="f-held", permissionId="p-two", role="writer")
        roles = drive.rows("SELECT id, role FROM permissions WHERE id IN ('p-one', 'p-two') ORDER BY id")
        assert [tuple(one.values()) for one in roles] == [("p-one", "reader"), ("p-two", "writer")]


def test_a_permission_that_cannot_be_is_refused(unchanged: GymDatabase) -> None:
    plan = {"fileId": "f-plan", "role": "reader"}
    ben = {"type": "user", "emailAddress": "ben@acme.test"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("EMAIL_REQUIRED", {**plan, "type": "user"}),
        ("DOMAIN_REQUIRED", {**plan, "type": "domain"}),
        ("GRANTEE_MISMATCH", {**plan, "type": "user", "emailAddress": "team@acme.test"}),
        ("GRANTEE_MISMATCH", {**plan, "type": "group", "emailAddress": "ben@acme.test"}),
        ("INVALID_ROLE", {**plan, **ben, "role": "organizer"}),
        ("INVALID_ROLE", {"fileId": "f-deck", **ben, "role": "owner", "transferOwnership": True}),
        ("INVALID_ROLE", {"fileId": "d-sales", **ben, "role": "owner"}),
        ("OWNERSHIP_NOT_CONFIRMED", {**plan, **ben, "role": "owner"}),
        ("INVALID_ROLE", {**plan, "type": "user", "emailAddress": "new@far.test", "role": "owner",
                          "transferOwnership": True}),
        ("OWNER_PERMISSION", {**plan, "type": "user", "emailAddress": "ann@acme.test"}),
        ("FILE_NOT_FOUND", {**plan, **ben, "fileId": "f-none"}),
    ]  # fmt: skip
    answers = [(code, unchanged.call("create_permission", **arguments).codes) for code, arguments in calls]
    assert [answer for answer in answers if answer[1] != [answer[0]]] == []


def test_what_holds_from_above_is_changed_there_and_the_owner_stays(unchanged: GymDatabase) -> None:
    ids = {"p-plans-ben": "INHERITED_PERMISSION", "o-f-plan": "OWNER_PERMISSION", "none": "PERMISSION_NOT_FOUND"}
    for tool, more in (("delete_permission", {}), ("update_permission", {"role": "reader"})):
        calls = {key: unchanged.call(tool, fileId="f-plan", permissionId=key, **more).code for key in ids}
        assert calls == ids, tool
    assert unchanged.call("delete_permission", fileId="f-lab", permissionId="p-lab-acme").code == "INHERITED_PERMISSION"


def test_the_owner_before_becomes_a_writer(drive: GymDatabase) -> None:
    drive.call("update_permission", fileId="f-plan", permissionId="p-plan-ben", role="owner", transferOwnership=True)
    query = "SELECT user_id, role FROM permissions WHERE file_id = 'f-plan' ORDER BY role"
    assert [tuple(one.values()) for one in drive.rows(query)] == [("u-ben", "owner"), ("u-ann", "writer")]


def test_a_file_may_move_to_the_top_level_of_its_new_owner(drive: GymDatabase) -> None:
    new = {"role": "owner", "type": "user", "emailAddress": "ben@acme.test", "transferOwnership": True}
    drive.call("create_permission", fileId="f-inner", **new, moveToNewOwnersRoot=True)
    assert drive.rows("SELECT parent_id, parent_ids FROM files WHERE id = 'f-inner'") == [
        {"parent_id": None, "parent_ids": "[]"}
    ]
    assert drive.value("SELECT COUNT(*) FROM path_closure WHERE descendant_id = 'f-deep'") == 2


def test_a_permission_on_a_shared_drive_and_the_membership_go_together(drive: GymDatabase) -> None:
    members = "SELECT role FROM drive_memberships WHERE drive_id = 'd-sales' AND user_id = 'u-lea'"
    new = drive.call(
        "create_permission", fileId="d-sales", role="writer", type="user", emailAddress="lea@acme.test"
    ).data  # fmt: skip
    assert drive.rows(members) == [{"role": "writer"}]
    drive.call("update_permission", fileId="d-sales", permissionId=new["id"], role="fileOrganizer")
    assert drive.rows(members) == [{"role": "fileOrganizer"}]
    assert new["id"] in held(drive, "f-client")
    drive.call("delete_permission", fileId="d-sales", permissionId=new["id"])
    assert drive.rows(members) == []
    assert drive.value(f"SELECT deleted FROM permissions WHERE id = '{new['id']}'") == 1
    assert new["id"] not in held(drive, "f-client")


def test_a_permission_that_is_taken_away_stays_as_a_deleted_row_that_gives_nothing(strict: GymDatabase) -> None:
    ben, lea = as_user(strict, "ben"), as_user(strict, "lea")
    to_lea = {"fileId": "f-plan", "role": "reader", "type": "user", "emailAddress": "lea@acme.test"}
    given = strict.call("create_permission", **to_lea, expirationTime="2027-01-01T00:00:00Z").data["id"]
    assert not lea.call("get_files", fileId="f-plan").is_error
    strict.call("delete_permission", fileId="f-plan", permissionId=given)
    stored = f"SELECT deleted, role, user_id FROM permissions WHERE id = '{given}'"
    assert strict.rows(stored) == [{"deleted": 1, "role": "reader", "user_id": "u-lea"}]
    assert lea.call("get_files", fileId="f-plan").code == "FILE_NOT_FOUND"
    assert lea.call("list_files", q="name contains 'Project Plan'").data["files"] == []
    assert strict.call("list_files", q="'lea@acme.test' in readers").data["files"] == []
    assert given not in held(strict, "f-plan")
    assert given not in strict.call("get_files", fileId="f-plan").data["permissionIds"]
    for tool, more in (("get_permission", {}), ("delete_permission", {}), ("update_permission", {"role": "writer"})):
        call = strict.call(tool, fileId="f-plan", permissionId=given, **more)
        assert call.code == "PERMISSION_NOT_FOUND", tool
    assert not ben.call("get_files", fileId="f-plan").is_error
    again = strict.call("create_permission", **to_lea).data
    assert (again["id"], again.get("expirationTime")) == (given, None)
    assert strict.rows(stored) == [{"deleted": 0, "role": "reader", "user_id": "u-lea"}]
    assert not lea.call("get_files", fileId="f-plan").is_error


def test_deleted_permissions_apply_to_no_one(gym_servers: Callable[[str], Gym]) -> None:
    gone = insert(
        "permissions",
        permission("p-lea", "reader", file_id="f-held", user_id="u-lea", deleted=True),
        permission("p-all", "reader", "domain", file_id="f-held", domain="acme.test", deleted=True,
                   allow_file_discovery=True),
        permission("p-lab", "organizer", drive_id="d-lab", user_id="u-lea", deleted=True),
        permission("o-old", "owner", file_id="f-held", user_id="u-lea", deleted=True),
    )  # fmt: skip
    with made(gym_servers("drive"), "strict", gone) as drive:
        lea = as_user(drive, "lea")
        assert lea.call("get_files", fileId="f-held").code == "FILE_NOT_FOUND"
        assert lea.call("list_files", q="'me' in owners", corpora="domain").data["files"] == []
        assert lea.call("hide_drives", driveId="d-lab").code == "INSUFFICIENT_FILE_PERMISSIONS"
        assert [one["emailAddress"] for one in drive.call("get_files", fileId="f-held").data["owners"]] == [
            "ann@acme.test"
        ]
        assert set(held(drive, "f-held")) == {"o-f-held"}


def test_shared_says_whether_another_one_has_a_permission(drive: GymDatabase) -> None:
    shared = "SELECT shared FROM files WHERE id = 'f-held'"
    new = drive.call(
        "create_permission", fileId="f-held", role="reader", type="user", emailAddress="ben@acme.test"
    ).data  # fmt: skip
    assert drive.value(shared) == 1
    drive.call("delete_permission", fileId="f-held", permissionId=new["id"])
    assert drive.value(shared) == 0


def test_a_proposal_is_decided_once_and_gives_the_highest_of_the_roles(drive: GymDatabase) -> None:
    def decide(proposal: str, **arguments: Any) -> Any:
        return drive.call("resolve_accessproposals", fileId="f-plan", proposalId=proposal, **arguments)

    assert decide("pr-1", action="ACCEPT").code == "ROLE_REQUIRED"
    assert decide("pr-1", action="ACTION_UNSPECIFIED").code == "ACTION_REQUIRED"
    assert not decide("pr-1", action="ACCEPT", role=["reader", "commenter"]).is_error
    assert not decide("pr-2", action="DENY").is_error
    assert decide("pr-1", action="DENY").code == "PROPOSAL_RESOLVED"
    query = "SELECT status, resolved_at, resolved_by_email FROM access_proposals WHERE id IN ('pr-1', 'pr-2')"
    assert [tuple(one.values()) for one in drive.rows(query)] == [
        ("approved", "2026-11-16T10:00:00.000Z", "ann@acme.test"),
        ("denied", "2026-11-16T10:00:00.000Z", "ann@acme.test"),
    ]
    granted = drive.rows("SELECT user_id, role FROM permissions WHERE email_address = 'dana@acme.test'")
    assert granted == [{"user_id": "u-dana", "role": "commenter"}]
    listed = drive.call("list_accessproposals", fileId="f-plan").data["accessProposals"]
    assert [one["status"] for one in listed] == ["approved", "denied", "denied"]


def test_who_has_a_higher_role_than_a_request_gets_keeps_it(drive: GymDatabase) -> None:
    dana = {"type": "user", "emailAddress": "dana@acme.test"}
    drive.call("create_permission", fileId="f-plan", role="writer", **dana)
    drive.call("resolve_accessproposals", fileId="f-plan", proposalId="pr-1", action="ACCEPT", role=["reader"])
    assert drive.value("SELECT role FROM permissions WHERE file_id = 'f-plan' AND user_id = 'u-dana'") == "writer"
    assert drive.value("SELECT status FROM access_proposals WHERE id = 'pr-1'") == "approved"


# --- access strict ---------------------------------------------------------------------------------------------------


def test_a_role_on_a_folder_holds_below_it_and_no_role_hides_the_file(strict: GymDatabase) -> None:
    ben, zoe = as_user(strict, "ben"), as_user(strict, "zoe")
    assert ben.call("get_files", fileId="f-budget").data["capabilities"]["canComment"] is False
    assert ben.call("get_files", fileId="f-plan").data["capabilities"]["canComment"] is True
    assert ben.call("update_files", fileId="f-budget", name="X").code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert zoe.call("get_files", fileId="f-budget").code == "FILE_NOT_FOUND"
    assert {one["id"] for one in zoe.call("list_files").data["files"]} == {"f-open", "f-out"}


def test_a_permission_that_changes_counts_from_the_next_call_on(strict: GymDatabase) -> None:
    zoe = as_user(strict, "zoe")
    strict.call("create_permission", fileId="f-spare", role="reader", type="user", emailAddress="zoe@other.test")
    assert zoe.call("get_files", fileId="f-deep").data["name"] == "Deep.txt"
    strict.call("update_files", fileId="f-inner", addParents="f-plans")
    assert zoe.call("get_files", fileId="f-deep").code == "FILE_NOT_FOUND"


def test_a_role_of_a_group_a_domain_or_a_drive_counts(strict: GymDatabase) -> None:
    lea, ben, zoe = (as_user(strict, name) for name in ("lea", "ben", "zoe"))
    assert ben.call("update_files", fileId="f-doc", description="By the team").data["description"] == "By the team"
    assert lea.call("get_files", fileId="f-deep").data["id"] == "f-deep"
    assert "f-deep" not in {one["id"] for one in lea.call("list_files").data["files"]}
    assert ben.call("update_files", fileId="f-client", name="Clients.csv").data["name"] == "Clients.csv"
    assert ben.call("update_files", fileId="f-client", trashed=True).code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert zoe.call("get_drive", driveId="d-sales").code == "DRIVE_NOT_FOUND"
    assert [one["id"] for one in lea.call("list_drives").data["drives"]] == ["d-lab"]


def test_users_share_with_roles_up_to_their_own(strict: GymDatabase) -> None:
    ben = as_user(strict, "ben")
    lea = {"type": "user", "emailAddress": "lea@acme.test"}
    assert ben.call("create_permission", fileId="f-plan", role="reader", **lea).code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert ben.call("create_permission", fileId="f-doc", role="writer", **lea).data["role"] == "writer"
    assert ben.call("create_permission", fileId="d-sales", role="reader", **lea).code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert not ben.call("delete_permission", fileId="f-plan", permissionId="p-plan-ben").is_error
    assert ben.call("list_accessproposals", fileId="f-plan").code == "INSUFFICIENT_FILE_PERMISSIONS"


def test_administrators_give_files_of_who_left_a_new_owner(strict: GymDatabase) -> None:
    call = {"fileId": "f-left", "role": "owner", "type": "user", "emailAddress": "ben@acme.test"}
    settings = {"transferOwnership": True, "useDomainAdminAccess": True}
    assert strict.call("create_permission", **call, **settings).code == "INSUFFICIENT_FILE_PERMISSIONS"
    dana = as_user(strict, "dana")
    assert dana.call("create_permission", **call, transferOwnership=True).code == "FILE_NOT_FOUND"
    assert dana.call("create_permission", **call, **settings).data["role"] == "owner"
    assert strict.call("get_drive", driveId="d-lab", useDomainAdminAccess=True).code == "NOT_ADMINISTRATOR"
    assert len(dana.call("list_drives", useDomainAdminAccess=True).data["drives"]) == 5


def test_comments_and_replies_are_changed_by_their_authors(strict: GymDatabase) -> None:
    ben = as_user(strict, "ben")
    at = {"fileId": "f-plan", "commentId": "c-1"}
    assert ben.call("update_comments", **at, content="Mine").code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert ben.call("delete_comments", **at).code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert ben.call("create_comments", fileId="f-budget", content="Hm").code == "INSUFFICIENT_FILE_PERMISSIONS"
    assert not ben.call("update_replies", **at, replyId="rp-2", content="Thank you").is_error
    assert not strict.call("delete_replies", **at, replyId="rp-2").is_error


def test_changes_show_what_the_user_reaches(strict: GymDatabase) -> None:
    zoe = as_user(strict, "zoe")
    start = zoe.call("get_changes_start_page_token").data["startPageToken"]
    strict.call("update_files", fileId="f-out", description="For partners")
    strict.call("update_files", fileId="f-plan", description="For us")
    seen = zoe.call("list_changes", pageToken=start).data["changes"]
    assert [one["fileId"] for one in seen] == ["f-out"]


def test_a_role_held_before_does_not_count_as_more_than_a_request_asks_for(strict: GymDatabase) -> None:
    dana = {"type": "user", "emailAddress": "dana@acme.test"}
    strict.call("create_permission", fileId="f-plan", role="writer", **dana)
    accept = {"fileId": "f-plan", "proposalId": "pr-1", "action": "ACCEPT", "role": ["reader"]}
    assert not strict.call("resolve_accessproposals", **accept).is_error
    assert strict.value("SELECT role FROM permissions WHERE file_id = 'f-plan' AND user_id = 'u-dana'") == "writer"


def test_members_of_a_shared_drive_see_what_another_one_deleted_there(strict: GymDatabase) -> None:
    ben, zoe = as_user(strict, "ben"), as_user(strict, "zoe")
    start = ben.call("get_changes_start_page_token").data["startPageToken"]
    strict.call("delete_files", fileId="f-client")
    everything = {"pageToken": start, "includeRemoved": True, "includeItemsFromAllDrives": True}
    seen = [user.call("list_changes", **everything).data["changes"] for user in (ben, zoe)]
    assert [[(one["fileId"], one["removed"]) for one in changes] for changes in seen] == [[("f-client", True)], []]
