"""What an organisation's description holds: people, teams with channels, apps, chats, events, and everyday talk.

Invariant: a text names people by slots or by the names of the description, so that variants of the world replace them
everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

STANDARD, PRIVATE, SHARED = "standard", "private", "shared"


@dataclass(frozen=True)
class Person:
    """A user account."""

    name: str
    """Given and family name."""
    title: str
    department: str
    city: str
    rank: str = "member"
    """What the person may do: admin, lead, member, guest or service (see `generate.RIGHTS`)."""
    voice: int = 0
    """Number of the way in which the person writes."""
    nickname: str = ""
    """The address before the host; first and last name if empty."""
    company: str = ""
    """Company of a guest; that of the organisation if empty."""
    active: bool = True

    @property
    def key(self) -> str:
        """The address before the host, by which descriptions name the person."""
        return self.nickname or self.name.lower().replace(" ", ".")


@dataclass(frozen=True)
class ChannelPlan:
    """A channel."""

    name: str
    description: str = ""
    kind: str = STANDARD
    members: Sequence[str] = ()
    """Direct members of a private or shared channel, the owner first."""
    archived: bool = False
    tabs: Sequence[tuple[str, str]] = ()
    """Name and app of each tab."""
    shared_with: Sequence[str] = ()
    """Teams that a shared channel is shared with."""
    threads: int = 13
    """Everyday threads."""
    email: bool = False


@dataclass(frozen=True)
class TeamPlan:
    """A team."""

    name: str
    description: str
    owners: Sequence[str]
    members: Sequence[str]
    guests: Sequence[str] = ()
    channels: Sequence[ChannelPlan] = ()
    """Channels besides General."""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    apps: Sequence[str] = ()
    """Names of apps that are installed."""
    visibility: str = "private"
    archived: bool = False
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Settings that differ from those of a new team, by column."""


@dataclass(frozen=True)
class ChatPlan:
    """A chat of a group, or one of two people without a topic."""

    members: Sequence[str]
    topic: str = ""
    lines: Sequence[tuple[str, str]] = ()
    """Author and text of messages that are in the chat besides everyday ones, oldest first."""
    everyday: int = 6


@dataclass(frozen=True)
class EventPlan:
    """A webinar or a town hall."""

    name: str
    text: str
    start: datetime
    minutes: int
    organizer: str
    status: str = "published"
    audience: str = "organization"
    helpers: Sequence[str] = ()
    """Co-organisers."""
    invited: Sequence[str] | None = None
    """Whom an invite-only town hall invites; None for any other event."""
    zone: str = "UTC"


@dataclass(frozen=True)
class Post:
    """A post on which tasks turn."""

    team: str
    channel: str
    author: str
    text: str
    time: datetime
    subject: str = ""
    replies: Sequence[tuple[str, str]] = ()
    reactions: Sequence[tuple[str, str]] = ()
    """Person and reaction."""
    deleted: bool = False


@dataclass(frozen=True)
class Organisation:
    """All that a seed is generated from."""

    key: str
    """Identifier of the organisation, and start of what keys are derived from."""
    name: str
    host: str
    country: tuple[str, str]
    """Name and code of the country."""
    phone: str
    """Its number in telephone numbers."""
    now: datetime
    founded: datetime
    people: Sequence[Person]
    apps: Mapping[str, str]
    """Apps of the catalogue by name, with `store` or `organization`."""
    teams: Sequence[TeamPlan]
    chats: Sequence[ChatPlan]
    webinars: Sequence[EventPlan]
    town_halls: Sequence[EventPlan]
    posts: Sequence[Post]
    talk: Sequence[Sequence[str]]
    """Everyday threads of channels: a post and its replies, with slots."""
    chatter: Sequence[str]
    """Everyday messages of chats, with slots."""
    slots: Mapping[str, Sequence[str]]
    groups: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    """Groups without a team by name: owner and members."""
    calls: int = 40
    """Call records."""
    school: str = "Ward School"
    """Provider of courses."""
