"""Replies to comments."""

from __future__ import annotations

from opsgym_domains.drive.comments import as_html, comment_of, refuse_foreign
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import missing, reach
from opsgym_domains.drive.resources import Resource, reply_resource, users_by_id
from opsgym_domains.drive.tables import Reply
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool(adds=Reply)
async def create_replies(gym: Gym, file_id: str, comment_id: str, content: str) -> Resource:
    """Reply to a comment.

    Returns the reply.
    """
    file = await reach(gym, file_id, "commenter")
    comment = await comment_of(gym, file_id, comment_id)
    fields = {"content": _text(content), "html_content": as_html(content)}
    reply = await gym.insert(Reply(comment_id=comment.id, modified_time=gym.now(), **fields))
    await gym.update(comment, {"modified_time": gym.now()})
    await record_file(gym, "comment_updated", file)
    return await _shown(gym, reply)


@tool(changes=Reply)
async def delete_replies(gym: Gym, file_id: str, comment_id: str, reply_id: str) -> None:
    """Delete a reply of your own, or one on a file that you own.

    The row stays without showing its content. Returns nothing.
    """
    file = await reach(gym, file_id)
    reply = await _reply_of(gym, file_id, comment_id, reply_id)
    await refuse_foreign(gym, file, reply, "replyId", or_role="owner")
    await gym.update(reply, {"deleted": True, "modified_time": gym.now()})
    await record_file(gym, "comment_updated", file)


@tool(row=Reply)
async def get_replies(
    gym: Gym, file_id: str, comment_id: str, reply_id: str, include_deleted: bool = False
) -> Resource:
    """Get a reply to a comment.

    Refused (REPLY_NOT_FOUND) if the comment has none with this id, or it was deleted and includeDeleted is not set.
    """
    await reach(gym, file_id)
    return await _shown(gym, await _reply_of(gym, file_id, comment_id, reply_id, deleted=include_deleted))


@tool(row=Reply)
async def list_replies(
    gym: Gym,
    file_id: str,
    comment_id: str,
    include_deleted: bool = False,
    page_size: int = 10,
    page_token: str | None = None,
) -> Resource:
    """List the replies to a comment, the oldest first.

    Returns `replies` and the token of the next page, by default of ten replies.
    """
    await reach(gym, file_id)
    await comment_of(gym, file_id, comment_id, deleted=include_deleted)
    rows = [row for row in await gym.all(Reply, Reply.comment_id == comment_id) if include_deleted or not row.deleted]
    shown, more = page(rows, page_token, page_size)
    users = await users_by_id(gym, {row.author_id for row in shown})
    return {"kind": "drive#replyList", "replies": [reply_resource(gym, row, users) for row in shown], **more}


@tool(changes=Reply)
async def update_replies(gym: Gym, file_id: str, comment_id: str, reply_id: str, content: str) -> Resource:
    """Change the text of a reply of your own.

    Returns the reply.
    """
    file = await reach(gym, file_id, "commenter")
    reply = await _reply_of(gym, file_id, comment_id, reply_id)
    await refuse_foreign(gym, file, reply, "replyId")
    fields = {"content": _text(content), "html_content": as_html(content), "modified_time": gym.now()}
    await gym.update(reply, fields)
    await record_file(gym, "comment_updated", file)
    return await _shown(gym, reply)


async def _reply_of(gym: Gym, file_id: str, comment_id: str, reply_id: str, *, deleted: bool = False) -> Reply:
    await comment_of(gym, file_id, comment_id, deleted=deleted)
    reply = await gym.find(Reply, id=reply_id, comment_id=comment_id)
    if reply is None or (reply.deleted and not deleted):
        raise missing("Reply", "REPLY_NOT_FOUND", reply_id, "replyId")
    return reply


async def _shown(gym: Gym, reply: Reply) -> Resource:
    return reply_resource(gym, reply, await users_by_id(gym, {reply.author_id}))


def _text(content: str) -> str:
    if not content.strip():
        raise ToolError("CONTENT_REQUIRED", "a reply needs a text", "content")
    return content
