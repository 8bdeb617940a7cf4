"""Chats of two users and of groups."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from sqlalchemy import Text, cast, func, select

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, bound, context, dumped, filters, reduced, shown_time
from opsgym_domains.teams.memberships import new_hex, one_role
from opsgym_domains.teams.messages import shown_message
from opsgym_domains.teams.odata import Columns, JsonList, Related, RowList, parse_expand, parse_order
from opsgym_domains.teams.people import bound_user
from opsgym_domains.teams.tables import App, Chat, ChatApp, ChatMember, ChatMessage, User
from opsgym_domains.teams.toolbox import tool

_MAIL = select(User.mail).where(User.user_id == ChatMember.user_id).scalar_subquery()
_MEMBERS = RowList(
    ChatMember.chat_id == Chat.chat_id,
    {
        "userId": ChatMember.user_id,
        "displayName": ChatMember.display_name,
        "email": _MAIL,
        "tenantId": ChatMember.tenant_id,
        "roles": JsonList(cast(func.jsonb_build_array(ChatMember.roles), Text)),
    },
)
_NEWEST = select(func.max(ChatMessage.created_datetime)).where(ChatMessage.chat_id == Chat.chat_id).scalar_subquery()
COLUMNS: Columns = {
    "id": Chat.chat_id,
    "topic": Chat.topic,
    "chatType": Chat.chat_type,
    "createdDateTime": Chat.created_at,
    "lastUpdatedDateTime": Chat.updated_at,
    "lastMessagePreview/createdDateTime": _NEWEST,
    "members": _MEMBERS,
}
_PREVIEWED = ("id", "createdDateTime", "messageType", "from", "body")
_EXPANDABLE = {
    "members": Related(("id", "roles", "displayName", "userId", "email", "tenantId")),
    "lastMessagePreview": Related((*_PREVIEWED, "isDeleted"), is_list=False),
}
ONE_ON_ONE = "oneOnOne"


def shown_chat(chat: Chat, member: ChatMember | None) -> Shown:
    """A chat, with what it is to one of its members; None for any other user."""
    read = member.last_message_read_datetime if member else None
    return {
        "id": chat.chat_id,
        "topic": chat.topic,
        "createdDateTime": shown_time(chat.created_at),
        "lastUpdatedDateTime": shown_time(chat.updated_at),
        "chatType": chat.chat_type,
        "webUrl": f"https://teams.microsoft.com/l/chat/{_escaped(chat.chat_id)}/0?tenantId={chat.org_id}",
        "tenantId": chat.org_id,
        "onlineMeetingInfo": None,
        "viewpoint": {
            "isHidden": bool(member and member.is_hidden),
            "lastMessageReadDateTime": shown_time(read),
        },
        "isHiddenForAllMembers": False,
    }


def _escaped(chat_id: str) -> str:
    """An id in an address; that of a chat of two users has a colon between their ids there."""
    return quote(chat_id.replace("_", ":"), safe="")


@tool(adds=Chat)
async def create_chat(
    gym: Gym,
    chat_type: str,
    members: list[Shown],
    topic: str | None = None,
    installed_apps: list[Shown] | None = None,
) -> Shown:
    """Create a chat of two users or of a group.

    Two users have one chat: if it exists it is returned. Refused unless a oneOnOne chat has two members
    (INVALID_MEMBERS) and for an unknown user or app (USER_NOT_FOUND, APP_NOT_FOUND).
    """
    people = await _people(gym, members)
    apps = [await _app(gym, one["teamsApp_odata_bind"]) for one in installed_apps or ()]
    key = await _key(gym, chat_type, [user for user, _ in people])
    chat = await gym.get(Chat, key)
    if chat is None:
        stored_topic = topic if chat_type != ONE_ON_ONE else None
        chat = await gym.insert(Chat(chat_id=key, chat_type=chat_type, topic=stored_topic, soft_delete=False))
        # The acting user comes first: access `strict` lets members alone add others.
        own = [_member(gym, chat, user, role) for user, role in people if user.user_id == gym.actor.user_id]
        others = [_member(gym, chat, user, role) for user, role in people if user.user_id != gym.actor.user_id]
        await gym.insert_all(own)
        await gym.insert_all(others)
        for app, given in zip(apps, installed_apps or (), strict=True):
            await gym.insert(await _installation(gym, chat, app, given))
    member = await gym.get(ChatMember, (key, gym.actor.user_id))
    return {"@odata.context": context("chats/$entity"), **shown_chat(chat, member)}


async def _people(gym: Gym, members: Sequence[Shown]) -> list[tuple[User, str]]:
    """Users of a new chat with their roles, each once."""
    people: dict[str, tuple[User, str]] = {}
    for one in members:
        user = await bound_user(gym, one["user_odata_bind"])
        (role,) = one_role(one["roles"] or ["owner"])
        people[user.user_id] = user, role
    return list(people.values())


async def _key(gym: Gym, chat_type: str, people: Sequence[User]) -> str:
    """Id of a new chat; that of two users is made of theirs."""
    if chat_type != ONE_ON_ONE:
        return await new_hex(gym)
    if len(people) != 2:
        raise ToolError("INVALID_MEMBERS", "A oneOnOne chat must have exactly two members.", "members")
    return "_".join(sorted(user.user_id for user in people))


def _member(gym: Gym, chat: Chat, user: User, role: str) -> ChatMember:
    return ChatMember(
        chat_id=chat.chat_id,
        org_id=chat.org_id,
        user_id=user.user_id,
        roles=role,
        tenant_id=chat.org_id,
        display_name=user.display_name,
        is_hidden=False,
        added_at=gym.now(),
    )


async def _app(gym: Gym, reference: str) -> App:
    key = bound(reference, ("teamsApps",), "installedApps")
    app = await gym.find(App, app_id=key)
    if app is None:
        message = f"Teams app '{key}' is not in the catalogue of the organisation."
        raise ToolError("APP_NOT_FOUND", message, "installedApps")
    return app


async def _installation(gym: Gym, chat: Chat, app: App, given: Shown) -> ChatApp:
    return ChatApp(
        installation_id=await new_hex(gym),
        chat_id=chat.chat_id,
        org_id=chat.org_id,
        app_id=app.app_id,
        app_display_name=app.display_name,
        app_external_id=app.external_id,
        app_distribution_method=app.distribution_method,
        installed_by_user_id=str(gym.actor.user_id),
        installed_at=gym.now(),
        consented_permission_set=dumped(given.get("consentedPermissionSet")),
    )


@tool(changes=Chat)
async def update_chat(gym: Gym, chat_id: str, topic: str) -> Shown:
    """Change the topic of a group chat.

    Returns the chat. Refused for a chat of two users (TOPIC_NOT_ALLOWED) and for an unknown chat (CHAT_NOT_FOUND).
    """
    chat = await gym.fetch(Chat, chat_id, field="chatId")
    if chat.chat_type == ONE_ON_ONE:
        raise ToolError("TOPIC_NOT_ALLOWED", "A oneOnOne chat has no topic; only group chats can be renamed.", "chatId")
    await gym.update(chat, {"topic": topic})
    member = await gym.get(ChatMember, (chat_id, gym.actor.user_id))
    return {"@odata.context": context("chats/$entity"), **shown_chat(chat, member)}


@tool(row=Chat)
async def list_chats(
    gym: Gym,
    expand: str | None = None,
    top: int = 50,
    filter: str | None = None,  # noqa: A002 - published name
    orderby: str | None = None,
) -> Shown:
    """List the chats that you are in.

    The chat that was changed last comes first, unless _orderby says otherwise. _expand adds members or
    lastMessagePreview. Refused with INVALID_FILTER, UNKNOWN_PROPERTY or INVALID_EXPAND where an option cannot be read.
    """
    expanded = parse_expand(expand, _EXPANDABLE)
    order = parse_order(orderby, COLUMNS) or [Chat.updated_at.desc().nulls_last()]
    memberships = {one.chat_id: one for one in await gym.all(ChatMember, ChatMember.user_id == gym.actor.user_id)}
    chats = await gym.all(Chat, Chat.chat_id.in_(memberships), *filters(filter, COLUMNS), order=order)
    shown = [shown_chat(chat, memberships[chat.chat_id]) for chat in chats[:top]]
    read = {"members": _shown_members, "lastMessagePreview": _preview}
    for chat in shown:
        chat |= {name: reduced(await read[name](gym, chat["id"]), expansion) for name, expansion in expanded.items()}
    return {"@odata.context": context("chats"), "@odata.count": len(shown), "value": shown}


async def _shown_members(gym: Gym, chat_id: str) -> list[Shown]:
    members = await gym.all(ChatMember, ChatMember.chat_id == chat_id)
    users = {user.user_id: user for user in await gym.all(User, User.user_id.in_([one.user_id for one in members]))}
    return [
        {
            "@odata.type": "#microsoft.graph.aadUserConversationMember",
            "id": f"{chat_id}_{one.user_id}",
            "roles": [one.roles],
            "displayName": one.display_name,
            "userId": one.user_id,
            "email": users[one.user_id].mail if one.user_id in users else None,
            "tenantId": one.tenant_id,
        }
        for one in members
    ]


async def _preview(gym: Gym, chat_id: str) -> Shown | None:
    """The newest message of a chat; None if it has none."""
    order = [ChatMessage.created_datetime.desc()]
    rows = await gym.all(ChatMessage, ChatMessage.chat_id == chat_id, newest_first=True, order=order)
    if not rows:
        return None
    message = shown_message(rows[0])
    return {**{name: message[name] for name in _PREVIEWED}, "isDeleted": message["deletedDateTime"] is not None}
