"""The rows of a seed of Teams, with look-ups by name.

Invariant: keys follow from what a row is, so equal descriptions give equal worlds. Users and teams have keys of version
5, which variants keep: the key of a chat of two users is made of theirs in their order, and the address of a channel of
that of its team.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid5

from opsgym_domains.kit.schema import Row
from opsgym_domains.teams.memberships import members_of
from opsgym_domains.teams.tables import (
    METADATA,
    App,
    Channel,
    ChannelMessage,
    ChannelTab,
    Chat,
    ChatMember,
    ChatMessage,
    Group,
    Tag,
    Team,
    TownHall,
    User,
    Webinar,
)
from opsgym_suites.kit import world

R = TypeVar("R", bound=Row)
NAMESPACE = UUID("5b1a1b52-5a3f-4d39-8f0e-6c2d7a9f1e44")
"""Namespace of the keys of users and teams."""


def user_key(organisation: str, name: str) -> str:
    """Key of a user or team."""
    return str(uuid5(NAMESPACE, f"{organisation} {name}"))


def row_key(organisation: str, *what: object) -> str:
    """Key of any other row."""
    text = " ".join(map(str, (organisation, *what)))
    return str(UUID(int=random.Random(text).getrandbits(128), version=4))  # noqa: S311 - no secret


@dataclass(frozen=True)
class Actor:
    """A user as the kit of suites sees people."""

    user: User

    @property
    def user_id(self) -> str:
        """Identifier."""
        return self.user.user_id

    @property
    def first_name(self) -> str:
        """First name."""
        return str(self.user.given_name)

    @property
    def last_name(self) -> str:
        """Last name."""
        return str(self.user.surname)

    @property
    def email(self) -> str:
        """Address."""
        return str(self.user.mail)

    @property
    def token(self) -> str:
        """What signs the user in."""
        return str(self.user.static_token)


class World(world.World):
    """All rows of a seed."""

    metadata = METADATA
    indexed = ("team_id", "channel_id", "chat_id", "user_id", "message_id", "display_name")

    @property
    def org(self) -> str:
        """Key of the organisation."""
        return str(self.all(User)[0].org_id)

    # --- people ------------------------------------------------------------------------------------------------------

    def user(self, name: str) -> User:
        """A user by the address before the host."""
        return self.one(User, mail_nickname=name)

    def person(self, name: str) -> Actor:
        """A user who asks for something, by the address before the host."""
        return Actor(self.user(name))

    # --- teams -------------------------------------------------------------------------------------------------------

    def team(self, name: str) -> Team:
        """A team by name."""
        return self.one(Team, display_name=name)

    def members(self, team: Team) -> list[dict[str, Any]]:
        """Members of a team."""
        return members_of(team)

    def membership(self, team: Team, user: User) -> str:
        """Key of a user's membership of a team."""
        (key,) = (one["id"] for one in members_of(team) if one["userId"] == user.user_id)
        return str(key)

    def teams_of(self, user: User) -> list[Team]:
        """The teams that a user is in."""
        return [team for team in self.all(Team) if any(one["userId"] == user.user_id for one in members_of(team))]

    def channel(self, team: Team, name: str) -> Channel:
        """A channel of a team by name."""
        return self.one(Channel, team_id=team.team_id, display_name=name)

    def channels(self, team: Team) -> list[Channel]:
        """Channels of a team."""
        return self.all(Channel, team_id=team.team_id)

    def post(self, channel: Channel, text: str) -> ChannelMessage:
        """The message of a channel that has a text.

        Raises:
            LookupError: None or several match.
        """
        return _only(
            text, [row for row in self.all(ChannelMessage, channel_id=channel.channel_id) if has_text(row, text)]
        )

    def replies(self, message: ChannelMessage) -> list[ChannelMessage]:
        """Replies to a message, oldest first."""
        rows = self.all(ChannelMessage, channel_id=message.channel_id)
        return [row for row in rows if row.reply_to_id == message.message_id]

    def tab(self, channel: Channel, name: str) -> ChannelTab:
        """A tab of a channel by name."""
        return self.one(ChannelTab, channel_id=channel.channel_id, display_name=name)

    def tag(self, team: Team, name: str) -> Tag:
        """A tag of a team by name."""
        return self.one(Tag, team_id=team.team_id, display_name=name)

    def app(self, name: str) -> App:
        """An app of the catalogue by name."""
        return self.one(App, display_name=name)

    def group(self, name: str) -> Group:
        """A group by name."""
        return self.one(Group, display_name=name)

    # --- chats -------------------------------------------------------------------------------------------------------

    def chat(self, topic: str) -> Chat:
        """A group chat by topic."""
        return self.one(Chat, topic=topic)

    def chat_of(self, one: User, other: User) -> Chat:
        """The chat of two users."""
        return self.one(Chat, chat_id="_".join(sorted((one.user_id, other.user_id))))

    def people_in(self, chat: Chat) -> list[str]:
        """Keys of the users in a chat."""
        return [row.user_id for row in self.all(ChatMember, chat_id=chat.chat_id)]

    def line(self, chat: Chat, text: str) -> ChatMessage:
        """The message of a chat that has a text.

        Raises:
            LookupError: None or several match.
        """
        return _only(text, [row for row in self.all(ChatMessage, chat_id=chat.chat_id) if has_text(row, text)])

    # --- events ------------------------------------------------------------------------------------------------------

    def webinar(self, name: str) -> Webinar:
        """A webinar by name."""
        return self.one(Webinar, display_name=name)

    def town_hall(self, name: str) -> TownHall:
        """A town hall by name."""
        return self.one(TownHall, display_name=name)


def has_text(message: ChannelMessage | ChatMessage, text: str) -> bool:
    """Whether a message has a text."""
    return text in str(json.loads(message.body_json or "{}").get("content"))


def _only(text: str, rows: list[R]) -> R:
    if len(rows) != 1:
        raise LookupError(f"{len(rows)} messages have the text {text!r}, expected one")
    return rows[0]
