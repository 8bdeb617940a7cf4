"""Revisions: the states of a file's content.

Invariant: the head revision of a file stays. A deleted revision's row goes, since its table cannot mark it; its blob
stays.
"""

from __future__ import annotations

from typing import Any

from opsgym_domains.drive.content import is_native
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import missing, reach
from opsgym_domains.drive.resources import Resource, revision_resource, users_by_id
from opsgym_domains.drive.tables import Revision
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

MOST_KEPT = 200
"""Most revisions of a file that are kept for good."""


@tool(row=Revision)
async def list_revisions(gym: Gym, file_id: str, page_size: int = 10, page_token: str | None = None) -> Resource:
    """List the revisions of a file, the oldest first.

    Returns `revisions` and the token of the next page, by default of ten revisions.
    """
    await reach(gym, file_id, "writer")
    rows = list(await gym.all(Revision, Revision.file_id == file_id))
    rows.sort(key=lambda row: row.revision_number or 0)
    shown, more = page(rows, page_token, page_size)
    users = await users_by_id(gym, {row.last_modifying_user_id for row in shown})
    return {"kind": "drive#revisionList", "revisions": [revision_resource(gym, row, users) for row in shown], **more}


@tool(row=Revision)
async def get_revisions(gym: Gym, file_id: str, revision_id: str, **_: Any) -> Resource:
    """Get a revision of a file.

    Refused (REVISION_NOT_FOUND) if the file has none with this id.
    """
    await reach(gym, file_id, "writer")
    return await _shown(gym, await _revision_of(gym, file_id, revision_id))


@tool(removes=Revision)
async def delete_revisions(gym: Gym, file_id: str, revision_id: str) -> None:
    """Delete a revision of a file.

    The head revision stays (HEAD_REVISION), and so do published ones (REVISION_PUBLISHED). Returns nothing.
    """
    file = await reach(gym, file_id, "writer")
    revision = await _revision_of(gym, file_id, revision_id)
    others = await gym.count(Revision, {"file_id": file_id}) - 1
    if revision.id == file.head_revision_id or not others:
        raise ToolError("HEAD_REVISION", "the head revision of a file cannot be deleted", "revisionId")
    if revision.published:
        raise ToolError("REVISION_PUBLISHED", "a published revision cannot be deleted; unpublish it", "revisionId")
    await gym.delete([revision])
    await record_file(gym, "file_updated", file, action="delete_revision", revision=revision.revision_number)


@tool(changes=Revision)
async def update_revisions(
    gym: Gym,
    file_id: str,
    revision_id: str,
    keep_forever: bool | None = None,
    published: bool | None = None,
    publish_auto: bool | None = None,
) -> Resource:
    """Keep a revision for good, or publish it on the web.

    Only documents of Drive are published (NOT_PUBLISHABLE); at most 200 revisions of a file are kept
    (TOO_MANY_KEPT). Returns the revision.
    """
    file = await reach(gym, file_id, "writer")
    revision = await _revision_of(gym, file_id, revision_id)
    if published and not is_native(revision.mime_type):
        message = f"a revision of the type {revision.mime_type} cannot be published"
        raise ToolError("NOT_PUBLISHABLE", message, "published")
    if keep_forever and not revision.keep_forever:
        await _refuse_too_many(gym, file_id)
    given: dict[str, Any] = {"keep_forever": keep_forever, "published": published, "publish_auto": publish_auto}
    changes = {name: value for name, value in given.items() if value is not None}
    if published is not None:
        changes["published_link"] = f"https://docs.google.com/d/{file_id}/pub" if published else None
    await gym.update(revision, changes)
    await record_file(gym, "file_updated", file, action="update_revision", revision=revision.revision_number)
    return await _shown(gym, revision)


async def _refuse_too_many(gym: Gym, file_id: str) -> None:
    if await gym.count(Revision, {"file_id": file_id}, Revision.keep_forever.is_(True)) >= MOST_KEPT:
        message = f"{MOST_KEPT} revisions of the file are kept for good; release one first"
        raise ToolError("TOO_MANY_KEPT", message, "keepForever")


async def _revision_of(gym: Gym, file_id: str, revision_id: str) -> Revision:
    revision = await gym.find(Revision, id=revision_id, file_id=file_id)
    if revision is None:
        raise missing("Revision", "REVISION_NOT_FOUND", revision_id, "revisionId")
    return revision


async def _shown(gym: Gym, revision: Revision) -> Resource:
    return revision_resource(gym, revision, await users_by_id(gym, {revision.last_modifying_user_id}))
