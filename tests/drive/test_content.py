"""Contents: downloads, exports, operations and revisions."""

from __future__ import annotations

from tests.support.gym import GymDatabase


def test_a_download_is_done_at_once_and_holds_the_text(drive: GymDatabase) -> None:
    done = drive.call("download_files", fileId="f-plan", revisionId="r-1").data
    assert (done["done"], done["response"]["content"], done["response"]["size"]) == (True, "First try", 9)
    assert drive.call("get_operations", name=done["name"]).data == done
    assert drive.rows("SELECT operation_type, status FROM operations WHERE response_data IS NOT NULL") == [
        {"operation_type": "download", "status": "done"}
    ]


def test_an_export_needs_a_document_and_one_of_its_types(drive: GymDatabase) -> None:
    assert drive.call("export_files", fileId="f-doc", mimeType="text/plain").data["response"]["content"] == "First try"
    assert "content" not in drive.call("export_files", fileId="f-doc", mimeType="application/pdf").data["response"]
    refused = {
        "EXPORT_TYPE": ("export_files", {"fileId": "f-doc", "mimeType": "image/png"}),
        "NOT_EXPORTABLE": ("export_files", {"fileId": "f-plan", "mimeType": "application/pdf"}),
        "NOT_DOWNLOADABLE": ("download_files", {"fileId": "f-plans"}),
        "NOT_CONVERTIBLE": ("download_files", {"fileId": "f-plan", "mimeType": "text/plain"}),
        "REVISION_NOT_FOUND": ("download_files", {"fileId": "f-plan", "revisionId": "r-doc"}),
        "CONTENT_NOT_AVAILABLE": ("get_files", {"fileId": "f-notes", "alt": "media"}),
    }
    assert [drive.call_with(tool, arguments).code for tool, arguments in refused.values()] == list(refused)


def test_an_operation_is_running_or_has_an_error_as_its_row_says(unchanged: GymDatabase) -> None:
    running = unchanged.call("get_operations", name="operations/export_plan").data
    failed = unchanged.call("get_operations", name="operations/op-2").data
    assert (running["done"], "response" in running) == (False, False)
    assert (failed["done"], failed["error"]["code"], failed["error"]["message"]) == (True, 7, "no")
    assert unchanged.call("get_operations", name="operations/none").code == "OPERATION_NOT_FOUND"
    assert unchanged.call("get_operations", name="export_plan").code == "INVALID_FORMAT"


def test_revisions_are_listed_kept_published_and_deleted(drive: GymDatabase) -> None:
    assert [one["id"] for one in drive.call("list_revisions", fileId="f-plan").data["revisions"]] == ["r-1", "r-2"]
    revision = drive.call("update_revisions", fileId="f-plan", revisionId="r-1", keepForever=True, published=True).data
    assert (revision["keepForever"], revision["published"]) == (True, True)
    assert drive.call("delete_revisions", fileId="f-plan", revisionId="r-1").code == "REVISION_PUBLISHED"
    drive.call("update_revisions", fileId="f-plan", revisionId="r-1", published=False)
    drive.call("delete_revisions", fileId="f-plan", revisionId="r-1")
    assert drive.rows("SELECT id FROM revisions WHERE file_id = 'f-plan'") == [{"id": "r-2"}]
    assert drive.call("delete_revisions", fileId="f-plan", revisionId="r-2").code == "HEAD_REVISION"
    assert drive.call("get_revisions", fileId="f-budget", revisionId="r-2").code == "REVISION_NOT_FOUND"
