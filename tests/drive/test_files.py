"""Files and folders: created, copied, moved, trashed and deleted, with the rows that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.drive.conftest import made
from tests.drive.seed import DOCUMENT, FOLDER, SHORTCUT, TEXT, insert
from tests.support.gym import Gym, GymDatabase


def row(database: GymDatabase, file_id: str) -> dict[str, Any]:
    (file,) = database.rows(f"SELECT * FROM files WHERE id = '{file_id}'")
    return file


def parents(database: GymDatabase, file_id: str) -> tuple[Any, Any, Any]:
    file = row(database, file_id)
    return file["parent_id"], file["parent_ids"], file["drive_id"]


def paths(database: GymDatabase, file_id: str) -> list[tuple[str, int]]:
    query = f"SELECT ancestor_id, depth FROM path_closure WHERE descendant_id = '{file_id}' ORDER BY depth"
    return [(one["ancestor_id"], one["depth"]) for one in database.rows(query)]


# --- creation --------------------------------------------------------------------------------------------------------


def test_a_new_file_has_its_owner_its_paths_its_text_and_a_change(drive: GymDatabase) -> None:
    text = "Grüße from the harbour"
    file = drive.call(
        "create_file", name="Hello.txt", mimeType=TEXT, parents=["f-plans"], contentHints={"indexableText": text},
        properties={"phase": "one"}, appProperties={"app": "x"},
    ).data  # fmt: skip
    key = file["id"]
    assert len(key) == 26
    assert (file["parents"], file["size"], file["fileExtension"]) == (["f-plans"], str(len(text.encode())), "txt")
    assert (file["properties"], file["ownedByMe"], file["shared"]) == ({"phase": "one"}, True, False)
    assert file["appProperties"] == {"app": "x"}
    listed = drive.call("list_files", q="appProperties has { key='app' and value='x' }").data["files"]
    assert [one["id"] for one in listed] == [key]
    assert drive.value(f"SELECT json_extract(app_properties, '$.app') FROM files WHERE id = '{key}'") == "x"
    assert file["md5Checksum"] == row(drive, key)["md5_checksum"]
    assert paths(drive, key) == [(key, 0), ("f-plans", 1)]
    owner = drive.rows(f"SELECT role, type, user_id FROM permissions WHERE file_id = '{key}'")
    assert owner == [{"role": "owner", "type": "user", "user_id": "u-ann"}]
    content = "SELECT b.key FROM revisions r JOIN blobs b ON b.id = r.blob_id WHERE r.id = '{}'"
    assert drive.value(content.format(file["headRevisionId"])) == text
    change = drive.value("SELECT change_type FROM changes ORDER BY token DESC LIMIT 1")
    assert change == "file_created"
    assert drive.call("get_files", fileId=key, alt="media").data["content"] == text


def test_the_end_of_a_permission_is_kept(drive: GymDatabase) -> None:
    grant = {
        "role": "reader",
        "type": "user",
        "emailAddress": "ben@acme.test",
        "expirationTime": "2026-09-01T00:00:00Z",
    }
    made = drive.call("create_permission", fileId="f-plan", **grant).data
    assert made["expirationTime"].startswith("2026-09-01T00:00:00")
    stored = f"SELECT expiration_time FROM permissions WHERE id = '{made['id']}'"
    assert drive.value(stored).startswith("2026-09-01 00:00:00")


def test_a_folder_and_a_shortcut_have_no_content(drive: GymDatabase) -> None:
    folder = drive.call("create_file", name="Archive", mimeType=FOLDER).data
    link = drive.call(
        "create_file", name="To the plan", mimeType=SHORTCUT, shortcutDetails={"targetId": "f-plan"}
    ).data  # fmt: skip
    assert folder["webViewLink"] == f"https://drive.google.com/drive/folders/{folder['id']}"
    assert {"headRevisionId", "md5Checksum", "parents"}.isdisjoint(folder)
    assert link["shortcutDetails"] == {"targetId": "f-plan", "targetMimeType": "application/msword"}


def test_a_file_in_a_shared_drive_belongs_to_the_drive(drive: GymDatabase) -> None:
    top = drive.call("create_file", name="A.txt", mimeType=TEXT, parents=["d-sales"]).data
    inner = drive.call("create_file", name="B.txt", mimeType=TEXT, parents=["f-clients"]).data
    assert parents(drive, top["id"]) == (None, "[]", "d-sales")
    assert parents(drive, inner["id"]) == ("f-clients", '["f-clients"]', "d-sales")
    assert drive.value(f"SELECT COUNT(*) FROM permissions WHERE file_id = '{top['id']}'") == 0


def test_permissions_given_with_a_new_file_share_it(drive: GymDatabase) -> None:
    given = [{"type": "user", "role": "reader", "emailAddress": "ben@acme.test"}, {"type": "anyone", "role": "reader"}]
    file = drive.call("create_file", name="C.txt", mimeType=TEXT, permissions=given).data
    query = f"SELECT type, role, user_id FROM permissions WHERE file_id = '{file['id']}' ORDER BY role, type"
    assert [tuple(one.values()) for one in drive.rows(query)] == [
        ("user", "owner", "u-ann"), ("anyone", "reader", None), ("user", "reader", "u-ben"),
    ]  # fmt: skip
    assert row(drive, file["id"])["shared"] == 1


def test_a_file_that_cannot_be_is_refused(unchanged: GymDatabase) -> None:
    new = {"name": "N.txt", "mimeType": TEXT}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("FILE_NOT_FOUND", new | {"parents": ["f-none"]}),
        ("TOO_MANY_PARENTS", new | {"parents": ["f-plans", "f-out"]}),
        ("NOT_A_FOLDER", new | {"parents": ["f-plan"]}),
        ("NAME_REQUIRED", new | {"name": "  "}),
        ("SHORTCUT_TARGET_REQUIRED", new | {"mimeType": SHORTCUT}),
        ("SHORTCUT_TARGET_INVALID", new | {"mimeType": SHORTCUT, "shortcutDetails": {"targetId": "f-link"}}),
        ("NO_CONTENT", new | {"mimeType": FOLDER, "contentHints": {"indexableText": "x"}}),
        ("CONTENT_TOO_LARGE", new | {"contentHints": {"indexableText": "x" * (128 * 1024 + 1)}}),
        ("INVALID_PROPERTY", new | {"properties": {"key": {"deep": 1}}}),
        ("INVALID_PERMISSION", new | {"permissions": [{"role": "owner", "type": "user"}]}),
        ("EMAIL_REQUIRED", new | {"permissions": [{"role": "reader", "type": "user"}]}),
    ]
    answers = [(code, unchanged.call("create_file", **arguments).codes) for code, arguments in calls]
    assert [code for code, codes in answers if codes != [code]] == []


def test_a_copy_has_the_content_and_neither_permissions_nor_labels(drive: GymDatabase) -> None:
    copy = drive.call("copy_files", fileId="f-doc").data
    assert drive.call("list_files_labels", fileId=copy["id"]).data["labels"] == []
    assert (copy["name"], copy["mimeType"], len(copy["permissionIds"])) == ("Copy of Manual", DOCUMENT, 1)
    assert drive.value(f"SELECT blob_id FROM revisions WHERE file_id = '{copy['id']}'") == "b-1"
    beside = drive.call("copy_files", fileId="f-plan", name="Second.docx").data
    assert (beside["parents"], beside["properties"]) == (["f-plans"], {"phase": "two", "team": "harbour"})
    assert drive.call("copy_files", fileId="f-plans").codes == ["NOT_COPYABLE"]


def test_generated_ids_are_reserved_those_of_the_pool_first(drive: GymDatabase) -> None:
    ids = drive.call("generate_files_Ids", count=3).data["ids"]
    assert ids[0] == "01JBQM3K8TGHZX9RNVQM5Y2P1A"
    assert len({len(key) for key in ids}) == 1
    assert drive.value("SELECT COUNT(*) FROM id_pool WHERE reserved = 1") == 4
    assert drive.call("generate_files_Ids", count=0).codes == ["INVALID_COUNT"]


# --- changes ---------------------------------------------------------------------------------------------------------


def test_a_change_of_fields_changes_no_others(drive: GymDatabase) -> None:
    before = row(drive, "f-plan")
    file = drive.call("update_files", fileId="f-plan", name="New.docx", properties={"team": None, "page": "4"}).data
    after = row(drive, "f-plan")
    assert (file["name"], file["properties"]) == ("New.docx", {"phase": "two", "page": "4"})
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"name", "properties", "modified_time", "modified_by_me"}
    drive.call("update_files", fileId="f-plan", starred=True)
    assert row(drive, "f-plan") == after | {"starred": 1}


def test_a_moved_folder_takes_its_files_along(drive: GymDatabase) -> None:
    drive.call("update_files", fileId="f-inner", addParents="f-plans", removeParents="f-spare")
    assert parents(drive, "f-inner") == ("f-plans", '["f-plans"]', None)
    assert paths(drive, "f-deep") == [("f-deep", 0), ("f-inner", 1), ("f-plans", 2)]
    drive.call("update_files", fileId="f-inner", removeParents="f-plans")
    assert parents(drive, "f-inner") == (None, "[]", None)


def test_a_file_that_moves_into_a_shared_drive_loses_its_owner_and_gets_one_on_the_way_back(drive: GymDatabase) -> None:
    owner = "SELECT user_id FROM permissions WHERE role = 'owner' AND file_id = 'f-deep'"
    drive.call("update_files", fileId="f-spare", addParents="d-sales")
    assert parents(drive, "f-deep")[2] == "d-sales"
    assert drive.rows(owner) == []
    drive.call("update_files", fileId="f-spare", addParents="root")
    assert parents(drive, "f-deep")[2] is None
    assert drive.value(owner) == "u-ann"


def test_a_move_that_cannot_be_is_refused(unchanged: GymDatabase) -> None:
    calls = {
        "CYCLE": {"fileId": "f-spare", "addParents": "f-inner"},
        "NOT_A_PARENT": {"fileId": "f-plan", "removeParents": "f-out"},
        "NOT_A_FOLDER": {"fileId": "f-plan", "addParents": "f-notes"},
        "TOO_MANY_PARENTS": {"fileId": "f-plan", "addParents": "f-out,f-spare"},
    }
    codes = [unchanged.call("update_files", **arguments).code for arguments in calls.values()]
    assert codes == list(calls)


def test_what_is_below_a_folder_goes_to_the_trash_and_back_with_it(drive: GymDatabase) -> None:
    state = "SELECT id, trashed, explicitly_trashed FROM files WHERE id IN ('f-spare', 'f-inner', 'f-deep') ORDER BY id"
    drive.call("update_files", fileId="f-deep", trashed=True)
    drive.call("update_files", fileId="f-spare", trashed=True)
    assert [tuple(one.values()) for one in drive.rows(state)] == [
        ("f-deep", 1, 1), ("f-inner", 1, 0), ("f-spare", 1, 1),
    ]  # fmt: skip
    drive.call("update_files", fileId="f-spare", trashed=False)
    assert [one["trashed"] for one in drive.rows(state)] == [1, 0, 0]


def test_a_file_taken_out_of_a_folder_in_the_trash_moves_to_the_top_level(drive: GymDatabase) -> None:
    drive.call("update_files", fileId="f-spare", trashed=True)
    drive.call("update_files", fileId="f-inner", trashed=False)
    assert parents(drive, "f-inner") == (None, "[]", None)
    assert paths(drive, "f-deep") == [("f-deep", 0), ("f-inner", 1)]
    drive.call("update_files", fileId="f-clients", trashed=True)
    drive.call("update_files", fileId="f-client", trashed=False)
    assert parents(drive, "f-client") == (None, "[]", "d-sales")
    drive.call("empty_files_trash")
    assert [drive.call("get_files", fileId=key).data["trashed"] for key in ("f-inner", "f-deep")] == [False, False]


def test_a_restored_folder_leaves_what_is_in_a_folder_that_was_trashed_before(drive: GymDatabase) -> None:
    for key in ("f-inner", "f-spare"):
        drive.call("update_files", fileId=key, trashed=True)
    drive.call("update_files", fileId="f-spare", trashed=False)
    state = "SELECT id FROM files WHERE trashed AND id IN ('f-spare', 'f-inner', 'f-deep') ORDER BY id"
    assert [one["id"] for one in drive.rows(state)] == ["f-deep", "f-inner"]


def test_a_deleted_folder_takes_its_files_and_spares_those_of_others(drive: GymDatabase) -> None:
    drive.call("update_files", fileId="f-ben", addParents="f-inner")
    drive.call("delete_files", fileId="f-spare")
    gone = "SELECT COUNT(*) FROM {} WHERE {} IN ('f-spare', 'f-inner', 'f-deep')"
    assert [drive.value(gone.format(*of)) for of in (("files", "id"), ("permissions", "file_id"))] == [0, 0]
    assert parents(drive, "f-ben") == (None, "[]", None)
    removed = drive.rows("SELECT file_id FROM changes WHERE removed = 1")
    assert removed == [{"file_id": "f-spare"}]


def test_the_emptied_trash_is_the_users_own_and_is_logged(drive: GymDatabase) -> None:
    drive.call("update_files", fileId="f-ben", trashed=True)
    drive.call("update_files", fileId="f-plans", trashed=True)
    drive.call("empty_files_trash")
    left = drive.rows("SELECT id FROM files WHERE trashed = 1")
    logged = {one["file_id"] for one in drive.rows("SELECT file_id FROM trash_log WHERE actor_id = 'u-ann'")}
    assert left == [{"id": "f-ben"}]
    assert logged == {"f-trash", "f-plans", "f-plan", "f-budget", "f-notes"}


# --- time ------------------------------------------------------------------------------------------------------------


def test_what_was_put_into_the_trash_is_deleted_after_30_days_unless_it_is_held_or_retained(
    gym_servers: Callable[[str], Gym],
) -> None:
    held = insert("file_labels", {"id": "fl-9", "file_id": "f-deep", "label_id": "l-hold", "value_boolean": True})
    with made(gym_servers("drive"), "published", held) as drive:
        for key in ("f-plans", "f-kept", "f-spare", "f-deck"):
            drive.call("update_files", fileId=key, trashed=True)
        drive.set_clock("2026-12-16T09:59:59")
        before = drive.value("SELECT COUNT(*) FROM files")
        drive.set_clock("2026-12-16T10:00:00")
        gone = {one["file_id"] for one in drive.rows("SELECT file_id FROM trash_log WHERE actor_id IS NULL")}
        assert gone == {"f-plans", "f-plan", "f-budget", "f-notes", "f-deck"}
        assert drive.value("SELECT COUNT(*) FROM files") == before - len(gone)
        left = drive.rows("SELECT id FROM files WHERE trashed ORDER BY id")
        assert [one["id"] for one in left] == ["f-deep", "f-inner", "f-kept", "f-spare", "f-trash"]
        assert drive.value("SELECT COUNT(*) FROM change_tokens WHERE scope = 'user:system'") == 0
