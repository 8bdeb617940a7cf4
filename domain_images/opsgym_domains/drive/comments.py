"""Comments on files."""

from __future__ import annotations

import html
from typing import Any

from opsgym_domains.drive.forms import loaded
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import missing, principal, reach, role_on, suffices
from opsgym_domains.drive.resources import Resource, comment_resource, users_by_id
from opsgym_domains.drive.tables import Comment, File, Reply
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import parse_time
from opsgym_domains.kit.gym import Gym


@tool(row=Comment)
async def get_comments(gym: Gym, file_id: str, comment_id: str, include_deleted: bool = False) -> Resource:
    """Get a comment with its replies.

    Refused (COMMENT_NOT_FOUND) if the file has none with this id, or it was deleted and includeDeleted is not set.
    """
    await reach(gym, file_id)
    comment = await comment_of(gym, file_id, comment_id, deleted=include_deleted)
    return (await _shown(gym, [comment], deleted=include_deleted))[0]


@tool(adds=Comment)
async def create_comments(gym: Gym, file_id: str, content: str, anchor: str | None = None) -> Resource:
    """Comment on a file.

    Returns the comment. Refused (INVALID_ANCHOR) if the anchor is not a JSON object.
    """
    file = await reach(gym, file_id, "commenter")
    fields = {"content": _text(content), "html_content": as_html(content), "anchor": _anchor(anchor)}
    comment = await gym.insert(Comment(file_id=file_id, modified_time=gym.now(), **fields))
    await record_file(gym, "comment_created", file, comment_author=str(gym.actor.user_id))
    return (await _shown(gym, [comment]))[0]


@tool(changes=Comment)
async def delete_comments(gym: Gym, file_id: str, comment_id: str) -> None:
    """Delete a comment of your own, or one on a file that you own.

    The row stays without showing its content. Returns nothing.
    """
    file = await reach(gym, file_id)
    comment = await comment_of(gym, file_id, comment_id)
    await refuse_foreign(gym, file, comment, "commentId", or_role="owner")
    await gym.update(comment, {"deleted": True, "modified_time": gym.now()})
    await record_file(gym, "comment_deleted", file)


@tool(row=Comment, words={"startModifiedTime": "Only comments that changed at or after this time (RFC 3339)"})
async def list_comments(
    gym: Gym,
    file_id: str,
    include_deleted: bool = False,
    page_size: int = 100,
    page_token: str | None = None,
    start_modified_time: str | None = None,
) -> Resource:
    """List the comments on a file with their replies, the oldest first.

    Returns `comments` and the token of the next page.
    """
    await reach(gym, file_id)
    rows = await gym.all(Comment, Comment.file_id == file_id)
    since = parse_time(start_modified_time, "startModifiedTime") if start_modified_time else None
    comments = [
        row
        for row in rows
        if (include_deleted or not row.deleted)
        and (since is None or ((time := row.modified_time or row.created_time) is not None and time >= since))
    ]
    shown, more = page(comments, page_token, page_size)
    return {"kind": "drive#commentList", "comments": await _shown(gym, shown, deleted=include_deleted), **more}


@tool(changes=Comment)
async def update_comments(
    gym: Gym, file_id: str, comment_id: str, content: str | None = None, anchor: str | None = None
) -> Resource:
    """Change the text or the place of a comment of your own.

    Returns the comment.
    """
    file = await reach(gym, file_id, "commenter")
    comment = await comment_of(gym, file_id, comment_id)
    await refuse_foreign(gym, file, comment, "commentId")
    changes: dict[str, Any] = {}
    if content is not None:
        changes |= {"content": _text(content), "html_content": as_html(content)}
    if anchor is not None:
        changes["anchor"] = _anchor(anchor)
    await gym.update(comment, {**changes, "modified_time": gym.now()})
    await record_file(gym, "comment_updated", file)
    return (await _shown(gym, [comment]))[0]


# --- parts -----------------------------------------------------------------------------------------------------------


async def comment_of(gym: Gym, file_id: str, comment_id: str, *, deleted: bool = False) -> Comment:
    """A comment on a file.

    Raises:
        ToolError: `COMMENT_NOT_FOUND`.
    """
    comment = await gym.find(Comment, id=comment_id, file_id=file_id)
    if comment is None or (comment.deleted and not deleted):
        raise missing("Comment", "COMMENT_NOT_FOUND", comment_id, "commentId")
    return comment


async def refuse_foreign(gym: Gym, file: File, row: Comment | Reply, field: str, *, or_role: str | None = None) -> None:
    """Refuses, in access strict, to change what another user wrote, unless the user has a role on the file.

    Raises:
        ToolError: `INSUFFICIENT_FILE_PERMISSIONS`.
    """
    if not gym.is_strict or row.author_id == gym.actor.user_id:
        return
    role = await role_on(gym, file, await principal(gym))
    needed = "organizer" if file.drive_id and or_role else or_role
    if needed is None or not suffices(role, needed):
        message = f"{row.id} was written by {row.author_id}; only its author may do this"
        raise ToolError("INSUFFICIENT_FILE_PERMISSIONS", message, field)


def as_html(content: str) -> str:
    """A text as HTML."""
    return f"<p>{html.escape(content, quote=False)}</p>"


def _text(content: str) -> str:
    if not content.strip():
        raise ToolError("CONTENT_REQUIRED", "a comment needs a text", "content")
    return content


def _anchor(anchor: str | None) -> str | None:
    if anchor and not loaded(anchor, {}):
        raise ToolError("INVALID_ANCHOR", 'anchor is a JSON object as text, for instance {"line": 3}', "anchor")
    return anchor or None


async def _shown(gym: Gym, comments: Any, *, deleted: bool = False) -> list[Resource]:
    ids = [comment.id for comment in comments]
    replies = await gym.all(Reply, Reply.comment_id.in_(ids)) if ids else ()
    replies = [reply for reply in replies if deleted or not reply.deleted]
    users = await users_by_id(gym, {row.author_id for row in (*comments, *replies)})
    return [
        comment_resource(gym, comment, users, [reply for reply in replies if reply.comment_id == comment.id])
        for comment in comments
    ]
