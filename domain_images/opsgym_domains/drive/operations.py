"""Downloads and exports as operations. Each is done at once; its row keeps the answer."""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.drive.content import EXPORTS, has_content, is_native, text_of
from opsgym_domains.drive.files import refuse_download
from opsgym_domains.drive.forms import loaded, present
from opsgym_domains.drive.reach import missing, reach
from opsgym_domains.drive.resources import Resource
from opsgym_domains.drive.tables import File, Operation, Revision
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym

PREFIX = "operations/"
_LINK = "https://drive.google.com/uc?id={}&export=download"
_NUMBERS = {"INSUFFICIENT_PERMISSIONS": 7, "NOT_FOUND": 5}
"""Numbers of errors of operations by their code; 13 is any other."""


@tool(row=Operation, words={"name": "Operation: operations/ and its id or name"})
async def get_operations(gym: Gym, name: str) -> Resource:
    """Get the state of a download, an export or another operation.

    Returns whether it is done, and its response or error. Refused (OPERATION_NOT_FOUND) if there is none of yours with
    this name.
    """
    key = name.removeprefix(PREFIX)
    operation = await gym.get(Operation, key)
    if operation is None:
        operation = await gym.first(Operation, Operation.name.in_((key, name)))
    if operation is None or not _is_visible(gym, operation):
        raise missing("Operation", "OPERATION_NOT_FOUND", name, "name")
    return _resource(operation)


@tool(adds=Operation, words={"mimeType": "MIME type of the download: that of the file, or one that it is exported to"})
async def download_files(
    gym: Gym, file_id: str, mime_type: str | None = None, revision_id: str | None = None
) -> Resource:
    """Download a file, or one of its revisions; documents of Drive are exported to mimeType.

    Returns the operation, which is done: `response` has the address and, where it is kept here, the content.
    """
    file = await reach(gym, file_id)
    if not has_content(file.mime_type):
        raise ToolError("NOT_DOWNLOADABLE", f"{file.mime_type} has no content to download", "fileId")
    await refuse_download(gym, file)
    revision = file.head_revision_id
    if revision_id is not None:
        revision = (await _revision_of(gym, file, revision_id)).id
    if is_native(file.mime_type):
        return await _export(gym, file, mime_type or "application/pdf", "download", revision)
    if mime_type not in (None, file.mime_type):
        message = f"the file is downloaded as {file.mime_type}; only documents of Drive have other types"
        raise ToolError("NOT_CONVERTIBLE", message, "mimeType")
    return await _store(gym, file, "download", file.mime_type or "", await text_of(gym, revision))


@tool(adds=Operation, words={"mimeType": "MIME type to export to, for instance application/pdf or text/csv"})
async def export_files(gym: Gym, file_id: str, mime_type: str) -> Resource:
    """Export a document of Drive's own types to another type.

    Returns the operation, which is done: `response` has the address and, for texts that are kept here, the content.
    Other files are refused (NOT_EXPORTABLE), and so are types that the document has no form in (EXPORT_TYPE).
    """
    file = await reach(gym, file_id)
    await refuse_download(gym, file)
    return await _export(gym, file, mime_type, "export", file.head_revision_id)


async def _export(gym: Gym, file: File, mime_type: str, kind: str, revision: str | None) -> Resource:
    allowed = EXPORTS.get(file.mime_type or "", ())
    if not allowed:
        message = f"files of the type {file.mime_type} are not exported; download_files returns them"
        raise ToolError("NOT_EXPORTABLE", message, "fileId")
    if mime_type not in allowed:
        message = f"{short(mime_type)} is not an export type of {file.mime_type}; types: {', '.join(allowed)}"
        raise ToolError("EXPORT_TYPE", message, "mimeType")
    text = await text_of(gym, revision) if mime_type.startswith("text/") else None
    return await _store(gym, file, kind, mime_type, text)


async def _store(gym: Gym, file: File, kind: str, mime_type: str, text: str | None) -> Resource:
    size = len(text.encode()) if text is not None else file.size_bytes or 0
    response = present({"download_url": _LINK.format(file.id), "size": size, "content": text})
    metadata = {"file_id": file.id, "format": mime_type, "user_id": str(gym.actor.user_id)}
    operation = Operation(
        operation_type=kind,
        status="done",
        operation_metadata=json.dumps(metadata),
        response_data=json.dumps(response, ensure_ascii=False),
        completed_at=gym.now(),
    )
    operation.id = str(await gym.next_id(Operation))
    operation.name = f"{kind}_{operation.id}"
    return _resource(await gym.insert(operation))


async def _revision_of(gym: Gym, file: File, revision_id: str) -> Revision:
    revision = await gym.find(Revision, id=revision_id, file_id=file.id)
    if revision is None:
        raise missing("Revision", "REVISION_NOT_FOUND", revision_id, "revisionId")
    return revision


def _is_visible(gym: Gym, operation: Operation) -> bool:
    """Whether the acting user started an operation, in access strict; those of seeds name no user."""
    owner = loaded(operation.operation_metadata, {}).get("user_id")
    return not gym.is_strict or owner in (None, gym.actor.user_id)


def _resource(operation: Operation) -> Resource:
    error = loaded(operation.error_data, {})
    shown: dict[str, Any] = {
        "name": f"{PREFIX}{operation.name or operation.id}",
        "metadata": loaded(operation.operation_metadata, {}) or None,
        "done": operation.status != "running",
    }
    if error:
        shown["error"] = {
            "code": _NUMBERS.get(str(error.get("error_code")), 13),
            "message": error.get("message"),
            "details": [error],
        }
    elif operation.status == "done":
        shown["response"] = loaded(operation.response_data, {})
    return present(shown)
