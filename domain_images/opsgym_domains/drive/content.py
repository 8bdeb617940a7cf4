"""Contents of files, which live in the database, and what follows from them: checksums, sizes and revisions.

Invariant: a text that a tool stores is a blob of the storage `DB`. Documents of Drive's own types have no size and no
checksums of their own, as in the published rows. Contents of other storages are not available.
"""

from __future__ import annotations

import hashlib
from typing import Any

from opsgym_domains.drive.forms import FOLDER, NATIVE, SHORTCUT
from opsgym_domains.drive.tables import Blob, File, Revision
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

LARGEST_TEXT = 128 * 1024
"""Largest content in bytes: the API's limit of indexable text."""
LARGEST_EXPORT = 10 * 1024 * 1024
"""Largest exported content in bytes."""
_TEXT, _PDF = "text/plain", "application/pdf"
_OFFICE = "application/vnd.openxmlformats-officedocument."
EXPORTS = {
    f"{NATIVE}document": (_TEXT, _PDF, "text/html", "text/markdown", "application/rtf", "application/epub+zip",
                          "application/vnd.oasis.opendocument.text", f"{_OFFICE}wordprocessingml.document",
                          "application/zip"),
    f"{NATIVE}spreadsheet": ("text/csv", _PDF, "text/tab-separated-values", f"{_OFFICE}spreadsheetml.sheet",
                             "application/vnd.oasis.opendocument.spreadsheet", "application/zip"),
    f"{NATIVE}presentation": (_TEXT, _PDF, f"{_OFFICE}presentationml.presentation", "image/png", "image/jpeg",
                              "application/vnd.oasis.opendocument.presentation", "image/svg+xml"),
    f"{NATIVE}drawing": (_PDF, "image/png", "image/jpeg", "image/svg+xml"),
    f"{NATIVE}script": (f"{NATIVE}script+json",),
    f"{NATIVE}vid": ("video/mp4",),
}  # fmt: skip
"""MIME types to which a document of Drive's own types is exported.
Source: developers.google.com/drive/api/guides/ref-export-formats."""


def has_content(mime_type: str | None) -> bool:
    """Whether files of a type have content; folders and shortcuts have none."""
    return mime_type not in (FOLDER, SHORTCUT)


def is_native(mime_type: str | None) -> bool:
    """Whether a type is one of Drive's own."""
    return (mime_type or "").startswith(NATIVE)


async def stored_text(gym: Gym, text: str) -> Blob:
    """A text as a new blob.

    Raises:
        ToolError: `CONTENT_TOO_LARGE`.
    """
    data = text.encode()
    if len(data) > LARGEST_TEXT:
        message = f"the text has {len(data):,} bytes; a file holds at most {LARGEST_TEXT:,}"
        raise ToolError("CONTENT_TOO_LARGE", message, "indexableText")
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return await gym.insert(Blob(digest=digest, size_bytes=len(data), storage="DB", key=text))


def checksums(mime_type: str | None, text: str | None) -> dict[str, Any]:
    """Size and checksums of a file by column."""
    if is_native(mime_type) or text is None:
        return {"size_bytes": 0, "quota_bytes_used": 0}
    data = text.encode()
    return {
        "size_bytes": len(data),
        "quota_bytes_used": len(data),
        "md5_checksum": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "sha1_checksum": hashlib.sha1(data, usedforsecurity=False).hexdigest(),
    }


async def add_revision(gym: Gym, file: File, blob_id: str | None, *, keep: bool = False) -> Revision:
    """Adds the head revision of a file; the file's row names it afterwards."""
    revision = Revision(
        file_id=file.id,
        revision_number=await gym.count(Revision, {"file_id": file.id}) + 1,
        blob_id=blob_id,
        md5_checksum=file.md5_checksum,
        size_bytes=file.size_bytes,
        mime_type=file.mime_type,
        keep_forever=keep,
        modified_time=gym.now(),
        original_filename=file.original_filename,
    )
    await gym.insert(revision)
    await gym.update(file, {"head_revision_id": revision.id})
    return revision


async def text_of(gym: Gym, revision_id: str | None) -> str | None:
    """The content of a revision; None if it has none in the database."""
    revision = await gym.get(Revision, revision_id) if revision_id else None
    blob = await gym.get(Blob, revision.blob_id) if revision and revision.blob_id else None
    return blob.key if blob is not None and blob.storage == "DB" else None
